/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * context: devices and contexts, as the rest of the runtime sees them (inside this layer only).
 *
 * I1  A context is alive while its handle is open or somebody holds it; its streams hold it.
 * I2  The current context is per thread and is a handle, not a hold: a context that was destroyed
 *     or whose device was reset is found out at the next use.
 */
#ifndef HC_RUNTIME_CONTEXT_H
#define HC_RUNTIME_CONTEXT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/runtime.h"

struct rt_context {
    aclrtContext handle;
    int32_t device;             /* user id; set once */
    bool primary;               /* set once */
    aclrtStream default_stream; /* set once, closed with the context */
    atomic_bool stop_mode;         /* failure mode STOP: the first failure freezes the context */
    _Atomic aclError stop_failure; /* the failure that froze it, or 0 */
    atomic_bool closing;           /* somebody is destroying it */
};

/* The calling thread's context, held. ACL_ERROR_RT_CONTEXT_NULL (logged). On an AICPU thread: the
 * primary context of the device that runs the kernel. */
aclError rt_context_current(struct rt_context **context);
void rt_context_release(struct rt_context *context);
void rt_context_hold_more(struct rt_context *context);

/* The primary context of `device`, held; made if it is not there yet (without touching the
 * device's reference count). ACL_ERROR_RT_INVALID_DEVICEID (logged). */
aclError rt_context_primary(int32_t device, struct rt_context **context);

/* ---- for the api files ---- */

/* aclrtSetDevice: one more reference of `device`, whose primary context becomes the thread's. */
aclError rt_device_acquire(int32_t device);

/* aclrtResetDevice, or Force: the last reference ends the primary context and its streams, after
 * their work. ACL_ERROR_RT_CONTEXT_RELEASE_ERROR (logged): there is no reference. */
aclError rt_device_release(int32_t device, bool force);

/* Whether the device has a primary context now. */
bool rt_device_active(int32_t device);

/* Device of threads that never chose one (aclInit's configuration); -1: they have none. */
void rt_context_set_default_device(int32_t device);

/* A context besides the primary one, made the thread's current. */
aclError rt_context_create(int32_t device, aclrtContext *context);

/* ACL_ERROR_RT_CONTEXT_NULL (logged): no live context, or a primary one. */
aclError rt_context_destroy(aclrtContext context);

/* ACL_ERROR_RT_CONTEXT_NULL (logged): no live context. */
aclError rt_context_select(aclrtContext context);

/* ---- from stream.c ---- */

/* New stream of `context`; flags are ACL_STREAM_*. */
aclError rt_stream_new(struct rt_context *context, uint32_t priority, uint32_t flags,
                       aclrtStream *handle);

/* Waits for every stream of the context; its failure code or 0. timeout_ms < 0: for ever. */
aclError rt_stream_sync_all(struct rt_context *context, int64_t timeout_ms);

/* Closes every stream of the context, after waiting for its tasks (`wait`) or dropping them. */
void rt_stream_close_all(struct rt_context *context, bool wait);

#endif
