/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kernel_args: the block of launch arguments that a thread puts together (inside this layer only).
 *
 * Each thread has one block, made at its first aclrtKernelArgsInit and used again by every later
 * one; its handle is closed when the thread ends. Only the owner may touch the block, so it needs
 * no lock.
 *
 * Layout (AICPU): parameters follow each other without padding; the data of place-holders follow
 * the last parameter, each aligned to 8. A place-holder is 8 bytes that get the address of its
 * data in the copy that a launch makes.
 */
#ifndef HC_RUNTIME_KERNEL_ARGS_H
#define HC_RUNTIME_KERNEL_ARGS_H

#include <stddef.h>

#include "base/handle.h"
#include "runtime/runtime.h"

#define RT_ARGS_LEN 65536u
#define RT_ARGS_PARAMS 128u

struct rt_param {
    uint32_t offset, len;
    uint32_t data_offset; /* of a place-holder's data; 0: it has none */
    bool place_holder;
};

struct rt_args {
    uint64_t handle;
    uint64_t function; /* handle; for messages and later checks */
    uint32_t len, param_num;
    bool laid_out; /* place-holders got data: no more parameters */
    bool finalized;
    struct rt_param params[RT_ARGS_PARAMS];
    _Alignas(16) uint8_t block[RT_ARGS_LEN];
};

extern struct hc_table rt_args_table;

/* The calling thread's block, empty. ACL_ERROR_RT_MEMORY_ALLOCATION. */
aclError rt_args_begin(uint64_t function, struct rt_args **args);

/* The calling thread's block if `handle` is its handle. ACL_ERROR_RT_INVALID_HANDLE,
 * ACL_ERROR_RT_PARAM_INVALID: another thread's (logged in the name of `caller`). */
aclError rt_args_of(uint64_t handle, const char *caller, struct rt_args **args);

/* Each returns ACL_ERROR_RT_PARAM_INVALID (logged) beyond the limits and for a wrong `param`, and
 * ACL_ERROR_RT_FEATURE_NOT_SUPPORT (logged) in the wrong order. `param` counts from 1. */
aclError rt_args_append(struct rt_args *args, const void *value, size_t len, uintptr_t *param);
aclError rt_args_place_holder(struct rt_args *args, uintptr_t *param);
aclError rt_args_data(struct rt_args *args, uintptr_t param, size_t len, void **data);
aclError rt_args_update(struct rt_args *args, uintptr_t param, const void *value, size_t len);

#endif
