/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * acl: everything a program needs to use a device. It declares nothing itself.
 */
#ifndef ACL_ACL_H
#define ACL_ACL_H

#include "acl_rt.h"
#include "acl_op.h"
#include "acl_mdl.h"

#endif
