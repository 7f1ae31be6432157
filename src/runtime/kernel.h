/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kernel: binaries and the functions in them (inside this layer only).
 *
 * A binary is what a kernel description (JSON) said, or a library that the program brought. Its
 * functions are handles of their own: they name code, which is looked up on the device that runs
 * it, when it runs it first (kernel_lib.h).
 *
 * I1  A function holds its binary; unloading a binary closes its functions, then itself. So a
 *     launch that holds a function keeps the code it runs.
 * I2  `functions` only grows, under `lock`, and not any more once `closed`.
 * I3  entry[d] is NULL until device d has looked the function up, then never changes (release by
 *     who stores, acquire by who reads; two threads may store the same value).
 */
#ifndef HC_RUNTIME_KERNEL_H
#define HC_RUNTIME_KERNEL_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/handle.h"
#include "runtime/runtime.h"

enum rt_kernel_kind {
    RT_KERNEL_NONE,   /* no opKernelLib, or one nobody knows: cannot run */
    RT_KERNEL_AICPU,  /* AICPUKernel, KFCKernel, TFKernel */
    RT_KERNEL_CUSTOM, /* CUSTAICPUKernel, CUSTKFCKernel; AICPUKernel with userDefined "True" */
};

/* What a description says of one kernel. Strings are borrowed; NULL: absent. */
struct rt_kernel_entry {
    const char *key;
    const char *so;
    const char *symbol;
    enum rt_kernel_kind kind;
};

struct rt_function {
    uint64_t handle;
    struct rt_binary *binary; /* held (I1) */
    char *key;
    char *so; /* "" as `symbol`: the description does not say */
    char *symbol;
    enum rt_kernel_kind kind;
    uint32_t entry_num;     /* user devices */
    _Atomic(void *) *entry; /* [entry_num] (I3) */
};

struct rt_binary {
    uint64_t handle;
    bool descriptor; /* of aclrtCreateBinary: names data and has nothing loaded */
    bool from_data;  /* mode 2: functions are registered one by one */
    char *dir;       /* of the description, resolved; NULL: none */
    uint8_t *bytes;  /* modes 1 and 2: the library */
    size_t len;
    char *path;          /* of the library of mode 1 */
    bool uses_libraries; /* rt_kernel_lib_hold() was called */
    pthread_mutex_t lock;
    struct rt_function **functions; /* [function_num]; I2 */
    uint32_t function_num;
    bool closed; /* I2 */
};

extern struct hc_table rt_binary_table;
extern struct hc_table rt_function_table;

/* The JSON beside `path` (its extension is replaced), and with `with_library` the .so beside it.
 * ACL_ERROR_RT_PARAM_INVALID (logged, with file and line); ACL_ERROR_RT_MEMORY_ALLOCATION. */
aclError rt_binary_load_file(const char *path, bool with_library, uint64_t *handle);

/* A library's bytes, copied. ACL_ERROR_RT_PARAM_INVALID (logged): no ELF object. */
aclError rt_binary_load_data(const void *data, size_t len, uint64_t *handle);

/* An empty one, whose functions are added by name and looked for without a description. */
aclError rt_binary_named(uint64_t *handle);

/* The handle of aclrtCreateBinary. */
aclError rt_binary_describe(uint64_t *handle);

/* Closes the binary and its functions. false: not a live binary, or of the other sort. */
bool rt_binary_close(uint64_t handle, bool descriptor);

/* Adds a function; the first of a name stays. *handle (if not NULL) is that of the name. */
aclError rt_binary_add(struct rt_binary *binary, const struct rt_kernel_entry *entry,
                       uint64_t *handle);

/* Handle of the function, or 0. */
uint64_t rt_binary_find(struct rt_binary *binary, const char *key);

/* Held. NULL, after one logged line in the name of `caller`: ACL_ERROR_RT_INVALID_HANDLE. */
struct rt_binary *rt_binary_hold(uint64_t handle, const char *caller);
struct rt_function *rt_function_hold(uint64_t handle, const char *caller);
void rt_binary_release(struct rt_binary *binary);
void rt_function_release(struct rt_function *function);

/* Address of the function's code on the device; the reason of a failure goes to why[why_len]. */
aclError rt_function_resolve(struct rt_function *function, int32_t device, void **address,
                             char *why, size_t why_len);

/* ---- kernel_json.c ---- */

/* Adds every usable entry of the description file to the binary; odd ones are skipped with a WARN.
 * ACL_ERROR_RT_PARAM_INVALID (logged with file and line): no such file, or not JSON. */
aclError rt_kernel_read_json(struct rt_binary *binary, const char *path);

#endif
