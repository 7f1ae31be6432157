/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * acl_mdl: offline models, which are no part of this library. The file exists because acl.h and
 * programs include it.
 */
#ifndef ACL_ACL_MDL_H
#define ACL_ACL_MDL_H

#include "acl_base.h"

#endif
