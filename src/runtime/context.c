/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which context a thread has, and when a device's primary context begins and ends.
 *
 * A device costs nothing until it is used: its state is two words of zeroed static memory. The
 * primary context is made by whoever needs it first (aclrtSetDevice, or a stream the library
 * opens) and ended by the aclrtResetDevice that gives the last reference back.
 *
 * I1  `devices_lock` protects the references and every change of a primary handle. It is not held
 *     while anything waits. The handle alone may be read without it: hold() finds out stale ones.
 * I2  The last reset drains the primary context while it is still the device's, because kernels
 *     that run meanwhile ask for it; only then it ends, unless somebody has set the device again:
 *     then that set counts as having come before the reset.
 * I3  A context is closed once: explicit ones by whoever turns `closing`, primary ones by whoever
 *     takes the handle out of its device.
 * I4  Closing sets `closing` before it looks for streams; who makes a stream publishes it before it
 *     reads `closing` (seq_cst fences). So no stream outlives the chance to close it.
 */
#include "runtime/context.h"

#include "base/alloc.h"
#include "base/handle.h"
#include "base/log.h"
#include "runtime/device.h"

struct device {
    uint32_t refs;            /* aclrtSetDevice minus aclrtResetDevice; I1 */
    _Atomic uint64_t primary; /* handle, or 0; I1 */
};

static void context_fini(void *obj);

static struct hc_table context_table = HC_TABLE("context", HC_KIND_CONTEXT, context_fini);
static struct device devices[RT_DEVICE_MAX];
static pthread_mutex_t devices_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int32_t default_device = -1;

static _Thread_local uint64_t current;          /* handle, or 0 */
static _Thread_local int32_t aicpu_device = -1; /* -1: an ordinary thread */

static uint64_t
number_of(aclrtContext context)
{
    return (uint64_t)(uintptr_t)context;
}

/* ---- life ---- */

static void
context_fini(void *obj)
{
    struct rt_context *context = obj;

    hc_free(context);
}

/* Ends the context for everybody; the caller holds it. */
static void
context_close(struct rt_context *context)
{
    atomic_store(&context->closing, true); /* I4 */
    atomic_thread_fence(memory_order_seq_cst);
    rt_stream_close_all(context, true);
    (void)hc_handle_close(&context_table, number_of(context->handle));
}

/* *context is held. */
static aclError
context_new(int32_t device, bool primary, struct rt_context **context)
{
    struct rt_context *made = hc_zalloc(sizeof *made);
    uint64_t number;
    aclError rc;

    if (made == NULL)
        return rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    made->device = device;
    made->primary = primary;
    number = hc_handle_open(&context_table, made);
    if (number == 0) {
        context_fini(made);
        return rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    }
    made->handle = (aclrtContext)(uintptr_t)number;
    hc_handle_hold_more(&context_table, number);
    rc = rt_stream_new(made, 0, 0, &made->default_stream);
    if (rc != ACL_SUCCESS) {
        context_close(made);
        rt_context_release(made);
        return rc;
    }
    *context = made;
    return ACL_SUCCESS;
}

void
rt_context_release(struct rt_context *context)
{
    hc_handle_release(&context_table, number_of(context->handle));
}

void
rt_context_hold_more(struct rt_context *context)
{
    hc_handle_hold_more(&context_table, number_of(context->handle));
}

/* ---- devices ---- */

/* The primary context of a valid device, held; under devices_lock. */
static aclError
primary_hold(int32_t device, struct rt_context **context)
{
    struct device *state = &devices[device];
    aclError rc;

    *context = hc_handle_hold(&context_table, atomic_load(&state->primary));
    if (*context != NULL)
        return ACL_SUCCESS;
    rc = context_new(device, true, context);
    if (rc == ACL_SUCCESS)
        atomic_store(&state->primary, number_of((*context)->handle));
    return rc;
}

aclError
rt_context_primary(int32_t device, struct rt_context **context)
{
    struct rt_context *found;
    aclError rc = rt_device_check(device, "primary context");

    if (rc != ACL_SUCCESS)
        return rc;
    found = hc_handle_hold(&context_table, atomic_load(&devices[device].primary));
    if (found == NULL) {
        pthread_mutex_lock(&devices_lock);
        rc = primary_hold(device, &found);
        pthread_mutex_unlock(&devices_lock);
    }
    if (rc == ACL_SUCCESS)
        *context = found;
    return rc;
}

aclError
rt_device_acquire(int32_t device)
{
    struct rt_context *primary;
    aclError rc = rt_device_check(device, "aclrtSetDevice");

    if (rc != ACL_SUCCESS)
        return rc;
    pthread_mutex_lock(&devices_lock);
    rc = primary_hold(device, &primary);
    if (rc == ACL_SUCCESS)
        devices[device].refs++;
    pthread_mutex_unlock(&devices_lock);
    if (rc != ACL_SUCCESS)
        return rc;
    current = number_of(primary->handle);
    rt_context_release(primary);
    return ACL_SUCCESS;
}

/* Ends the primary context if nobody has set the device again since. I2 */
static void
primary_end(struct device *state, struct rt_context *primary)
{
    bool ours;

    (void)rt_stream_sync_all(primary, -1); /* a failure has been logged, and the work is over */
    pthread_mutex_lock(&devices_lock);
    ours = state->refs == 0 && atomic_load(&state->primary) == number_of(primary->handle);
    if (ours)
        atomic_store(&state->primary, 0);
    pthread_mutex_unlock(&devices_lock);
    if (ours)
        context_close(primary); /* I3 */
}

aclError
rt_device_release(int32_t device, bool force)
{
    struct rt_context *primary = NULL;
    struct device *state;
    bool had;
    aclError rc = rt_device_check(device, force ? "aclrtResetDeviceForce" : "aclrtResetDevice");

    if (rc != ACL_SUCCESS)
        return rc;
    state = &devices[device];
    pthread_mutex_lock(&devices_lock);
    had = state->refs > 0;
    if (had)
        state->refs = force ? 0 : state->refs - 1;
    if (had && state->refs == 0)
        primary = hc_handle_hold(&context_table, atomic_load(&state->primary));
    pthread_mutex_unlock(&devices_lock);
    if (!had)
        return rt_fail(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR,
                       "device %d is not set: reset it once for each aclrtSetDevice", device);
    if (primary != NULL) {
        primary_end(state, primary);
        rt_context_release(primary);
    }
    return ACL_SUCCESS;
}

bool
rt_device_active(int32_t device)
{
    return atomic_load(&devices[device].primary) != 0;
}

/* ---- the calling thread ---- */

void
rt_context_set_default_device(int32_t device)
{
    atomic_store(&default_device, device);
}

void
rt_context_set_aicpu(int32_t device)
{
    aicpu_device = device;
}

bool
rt_on_aicpu(void)
{
    return aicpu_device >= 0;
}

aclError
rt_context_current(struct rt_context **context)
{
    struct rt_context *found;
    int32_t fallback;

    if (aicpu_device >= 0)
        return rt_context_primary(aicpu_device, context);
    found = hc_handle_hold(&context_table, current);
    if (found != NULL) {
        *context = found;
        return ACL_SUCCESS;
    }
    fallback = atomic_load_explicit(&default_device, memory_order_relaxed);
    if (current == 0 && fallback >= 0)
        return rt_context_primary(fallback, context);
    if (current == 0)
        return rt_fail(ACL_ERROR_RT_CONTEXT_NULL,
                       "this thread has no context: call aclrtSetDevice on it first");
    return rt_fail(ACL_ERROR_RT_CONTEXT_NULL,
                   "this thread's context is gone, destroyed or reset with its device: call "
                   "aclrtSetDevice again");
}

aclError
rt_current_device(int32_t *device)
{
    struct rt_context *context;
    aclError rc;

    if (aicpu_device >= 0) {
        *device = aicpu_device;
        return ACL_SUCCESS;
    }
    rc = rt_context_current(&context);
    if (rc != ACL_SUCCESS)
        return rc;
    *device = context->device;
    rt_context_release(context);
    return ACL_SUCCESS;
}

int32_t
rt_device_if_any(void)
{
    struct rt_context *found;
    int32_t device;

    if (aicpu_device >= 0)
        return aicpu_device;
    if (current == 0)
        return atomic_load_explicit(&default_device, memory_order_relaxed);
    found = hc_handle_hold(&context_table, current);
    if (found == NULL)
        return -1;
    device = found->device;
    rt_context_release(found);
    return device;
}

/* ---- explicit contexts ---- */

aclError
rt_context_create(int32_t device, aclrtContext *context)
{
    struct rt_context *made;
    aclError rc = rt_device_check(device, "aclrtCreateContext");

    if (rc == ACL_SUCCESS)
        rc = context_new(device, false, &made);
    if (rc != ACL_SUCCESS)
        return rc;
    *context = made->handle;
    current = number_of(made->handle);
    rt_context_release(made);
    return ACL_SUCCESS;
}

static aclError
not_live(const char *function, aclrtContext handle)
{
    return rt_fail(ACL_ERROR_RT_CONTEXT_NULL, "%s: %p is not a live context: it is %s", function,
                   handle, hc_handle_guess(&context_table, number_of(handle)));
}

aclError
rt_context_destroy(aclrtContext handle)
{
    struct rt_context *context = hc_handle_hold(&context_table, number_of(handle));
    aclError rc = ACL_SUCCESS;

    if (context == NULL)
        return not_live("aclrtDestroyContext", handle);
    if (context->primary) {
        rc =
            rt_fail(ACL_ERROR_RT_CONTEXT_NULL,
                    "aclrtDestroyContext: %p is the primary context of device %d; aclrtResetDevice "
                    "ends it",
                    handle, context->device);
    } else if (atomic_exchange(&context->closing, true)) {
        rc = rt_fail(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR,
                     "aclrtDestroyContext: %p is being destroyed by another thread", handle);
    } else {
        context_close(context); /* I3 */
        if (current == number_of(handle))
            current = 0;
    }
    rt_context_release(context);
    return rc;
}

aclError
rt_context_select(aclrtContext handle)
{
    struct rt_context *context = hc_handle_hold(&context_table, number_of(handle));

    if (context == NULL)
        return not_live("aclrtSetCurrentContext", handle);
    current = number_of(handle);
    rt_context_release(context);
    return ACL_SUCCESS;
}
