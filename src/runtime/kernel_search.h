/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kernel_search: finds the bytes of a kernel library and decides whether they may run; see
 * kernel_lib.h for the order.
 */
#ifndef HC_RUNTIME_KERNEL_SEARCH_H
#define HC_RUNTIME_KERNEL_SEARCH_H

#include "runtime/kernel_lib.h"

struct rt_kernel_found {
    uint8_t *bytes; /* hc_free() them */
    size_t len;
    char from[512]; /* where they are from, for messages */
};

/* `verify`: take only what a trusted key has signed; `device` is for messages. The reason of a
 * failure is in why[why_len] and has not been logged: ACL_ERROR_RT_AICPU_EXCEPTION. */
aclError rt_kernel_search(const struct rt_kernel_source *source, int32_t device, bool verify,
                          struct rt_kernel_found *found, char *why, size_t why_len);

#endif
