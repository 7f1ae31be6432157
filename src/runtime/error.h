/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * error: the thread's last error (inside this layer only). Only codes of the runtime layer (107xxx,
 * 207xxx, 507xxx) are remembered; those of the acl layer above it (100xxx, ...) are not.
 */
#ifndef HC_RUNTIME_ERROR_H
#define HC_RUNTIME_ERROR_H

#include "runtime/runtime.h"

/* The calling thread's last runtime-layer error, or 0; `clear` forgets it. */
aclError rt_last_error(bool clear);

/* What a public function answers when rt_enter() said no. */
#define RT_NOT_HERE ACL_ERROR_RT_INTERNAL_ERROR

#endif
