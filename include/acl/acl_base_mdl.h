/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * acl_base_mdl: types of offline models, which are no part of this library. The file exists because
 * acl_base.h and programs include it.
 */
#ifndef ACL_ACL_BASE_MDL_H
#define ACL_ACL_BASE_MDL_H

#include "acl_base_rt.h"

#endif
