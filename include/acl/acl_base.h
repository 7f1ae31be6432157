/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * acl_base: the types and error codes that every acl header shares. It declares nothing itself.
 */
#ifndef ACL_ACL_BASE_H
#define ACL_ACL_BASE_H

#include "acl_base_rt.h"
#include "acl_base_mdl.h"
#include "error_codes/rt_error_codes.h"
#include "error_codes/ge_error_codes.h"

#endif
