/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kernel_lib: from a shared object's name to code that runs on a device.
 *
 * A library is found once for each (name, place of the description, verified or not) and kept as
 * an image, the bytes; each device that runs it gets a copy of its own, loaded from a memory file,
 * because static variables are per device. Images and copies live until the last binary is
 * unloaded, as unloading one library under another's feet could not be made safe.
 *
 * Where a name is looked for, in this order: packages on the allow-list; a plain file in the
 * package directory of a record; the directory of the description; ASCEND_AICPU_KERNEL_PATH. On a
 * device that verifies, only signed code is taken; the first refusal is remembered, and told if
 * nothing else is found.
 *
 * I1  Everything here is under one lock, also while a library is loaded: so it is loaded once,
 *     and whoever wants it meanwhile waits.
 * I2  A function address stays good while a user (rt_kernel_lib_hold) is there.
 */
#ifndef HC_RUNTIME_KERNEL_LIB_H
#define HC_RUNTIME_KERNEL_LIB_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/runtime.h"

/* What the description, or the program that loaded it, says about the code. */
struct rt_kernel_source {
    const char *so;       /* file name without directory */
    const char *dir;      /* of the description; NULL: it came from memory */
    const uint8_t *bytes; /* the code itself, when the program brought it (modes 1 and 2) */
    size_t len;
    const char *path; /* of `bytes`, for messages and its .sig; NULL: from memory */
    bool custom;      /* CUSTAICPUKernel: has a cache directory of its own */
};

/* A user of libraries comes or goes; the last one takes all with it. */
void rt_kernel_lib_hold(void);
void rt_kernel_lib_release(void);

/*
 * The address of `symbol` for `device`, loading what is needed. May take long. On failure the
 * reason is in why[why_len], for the failure of the task, and has not been logged:
 * ACL_ERROR_RT_AICPU_EXCEPTION. Threads: any, with a hold.
 */
aclError rt_kernel_lib_symbol(const struct rt_kernel_source *source, int32_t device,
                              const char *symbol, void **address, char *why, size_t why_len);

/* Copies loaded now: for tests. */
uint32_t rt_kernel_lib_copies(void);

#endif
