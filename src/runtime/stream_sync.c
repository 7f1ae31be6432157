/* SPDX-License-Identifier: BSD-3-Clause */
/* The host's side of a stream: hold, wait, abort, close. The protocol is in stream.h. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "runtime/graph.h"
#include "runtime/launch.h"
#include "runtime/sched.h"
#include "runtime/stream.h"

struct rt_stream_waiter {
    struct hc_list link; /* under stream->wait_lock */
    struct rt_stream *stream;
    uint64_t target; /* of stream->done */
    struct rt_executor *executor;
    atomic_bool aborted; /* the stream was aborted under it */
};

aclError
rt_stream_hold(aclrtStream handle, struct rt_stream **stream)
{
    uint64_t number = (uint64_t)(uintptr_t)handle;
    struct rt_context *context;
    aclError rc;

    if (number == 0) {
        rc = rt_context_current(&context);
        if (rc != ACL_SUCCESS)
            return rc;
        number = (uint64_t)(uintptr_t)context->default_stream;
        rt_context_release(context);
    }
    *stream = hc_handle_hold(&rt_stream_table, number);
    if (*stream == NULL)
        return rt_fail(ACL_ERROR_RT_INVALID_HANDLE, "stream %p is not a live stream: it is %s",
                       handle, hc_handle_guess(&rt_stream_table, number));
    return ACL_SUCCESS;
}

aclError
rt_stream_hold_mine(aclrtStream handle, struct rt_stream **stream)
{
    struct rt_context *context;
    aclError rc = rt_context_current(&context);

    if (rc != ACL_SUCCESS)
        return rc;
    rc = rt_stream_hold(handle, stream);
    if (rc == ACL_SUCCESS && (*stream)->context != context) {
        rc = rt_fail(ACL_ERROR_RT_STREAM_CONTEXT,
                     "stream %u belongs to another context (device %d): "
                     "make that one current first (aclrtSetDevice or aclrtSetCurrentContext)",
                     (*stream)->id, (*stream)->context->device);
        rt_stream_release(*stream);
    }
    rt_context_release(context);
    return rc;
}

void
rt_stream_release(struct rt_stream *stream)
{
    hc_handle_release(&rt_stream_table, (uint64_t)(uintptr_t)stream->handle);
}

bool
rt_stream_is_live(aclrtStream handle)
{
    struct rt_stream *stream = hc_handle_hold(&rt_stream_table, (uint64_t)(uintptr_t)handle);

    if (stream != NULL)
        rt_stream_release(stream);
    return stream != NULL;
}

aclError
rt_stream_first_failure(aclrtStream handle)
{
    struct rt_stream *stream = hc_handle_hold(&rt_stream_table, (uint64_t)(uintptr_t)handle);
    aclError code = ACL_SUCCESS;

    if (stream != NULL) {
        code = atomic_load(&stream->first_failure);
        rt_stream_release(stream);
    }
    return code;
}

aclrtStream
rt_stream_handle(const struct rt_stream *stream)
{
    return stream->handle;
}

int32_t
rt_stream_device(const struct rt_stream *stream)
{
    return stream->context->device;
}

uint32_t
rt_stream_id(const struct rt_stream *stream)
{
    return stream->id;
}

void
rt_stream_set_label(struct rt_stream *stream, const char *label)
{
    pthread_mutex_lock(&stream->fail_lock);
    snprintf(stream->label, sizeof stream->label, "%s", label);
    pthread_mutex_unlock(&stream->fail_lock);
}

bool
rt_stream_idle(struct rt_stream *stream)
{
    return atomic_load(&stream->done) == atomic_load(&stream->pushed);
}

/* ---- waiting ---- */

void
rt_stream_tell_waiters(struct rt_stream *stream)
{
    uint64_t done = atomic_load_explicit(&stream->done, memory_order_relaxed);

    atomic_thread_fence(memory_order_seq_cst); /* I3 */
    if (atomic_load_explicit(&stream->waiter_num, memory_order_relaxed) == 0)
        return;
    pthread_mutex_lock(&stream->wait_lock);
    HC_LIST_EACH (node, &stream->waiters) {
        struct rt_stream_waiter *waiter = HC_CONTAINER(node, struct rt_stream_waiter, link);

        if (done >= waiter->target)
            rt_sched_signal(waiter->executor);
    }
    pthread_mutex_unlock(&stream->wait_lock);
}

static bool
reached(void *arg)
{
    struct rt_stream_waiter *waiter = arg;

    return atomic_load(&waiter->stream->done) >= waiter->target || atomic_load(&waiter->aborted);
}

/* true: the target is reached (or *aborted). */
static bool
wait_for(struct rt_stream *stream, uint64_t target, int64_t timeout_ms, bool *aborted)
{
    struct rt_stream_waiter waiter = {
        .stream = stream, .target = target, .executor = rt_sched_self()};
    bool good;

    pthread_mutex_lock(&stream->wait_lock);
    hc_list_push_back(&stream->waiters, &waiter.link);
    atomic_fetch_add(&stream->waiter_num, 1); /* I3 */
    pthread_mutex_unlock(&stream->wait_lock);
    good = rt_sched_drive(reached, &waiter, hc_deadline_ms(timeout_ms));
    pthread_mutex_lock(&stream->wait_lock);
    hc_list_remove(&waiter.link);
    atomic_fetch_sub(&stream->waiter_num, 1);
    pthread_mutex_unlock(&stream->wait_lock);
    *aborted = atomic_load(&waiter.aborted);
    return good;
}

/* The failure, once; in a frozen context, every time. */
static aclError
collect_failure(struct rt_stream *stream)
{
    aclError frozen = atomic_load(&stream->context->stop_failure);
    char text[sizeof stream->failure_text];
    aclError code;

    pthread_mutex_lock(&stream->fail_lock);
    code = stream->failure;
    stream->failure = 0;
    atomic_store(&stream->failing, false); /* I6 */
    snprintf(text, sizeof text, "%s", stream->failure_text);
    pthread_mutex_unlock(&stream->fail_lock);
    if (code != 0) {
        hc_errmsg_add(text);
        return rt_set_last_error(code);
    }
    return frozen == 0 ? ACL_SUCCESS : rt_set_last_error(frozen);
}

aclError
rt_stream_sync(struct rt_stream *stream, int64_t timeout_ms)
{
    uint64_t target = atomic_load(&stream->pushed);
    bool aborted = false;
    aclError rc = rt_launch_check_outside(stream);

    if (rc != ACL_SUCCESS)
        return rc;
    if (atomic_load(&stream->done) < target && !wait_for(stream, target, timeout_ms, &aborted))
        return rt_set_last_error(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    if (aborted)
        return rt_fail(ACL_ERROR_RT_STREAM_ABORT, "stream %u was aborted while it was waited for",
                       stream->id);
    return collect_failure(stream);
}

aclError
rt_stream_why_dropping(aclrtStream handle)
{
    struct rt_stream *stream = hc_handle_hold(&rt_stream_table, (uint64_t)(uintptr_t)handle);
    aclError why;

    if (stream == NULL)
        return ACL_SUCCESS;
    pthread_mutex_lock(&stream->fail_lock);
    why = stream->failure;
    pthread_mutex_unlock(&stream->fail_lock);
    if (why == 0)
        why = atomic_load(&stream->context->stop_failure);
    rt_stream_release(stream);
    return why;
}

aclError
rt_stream_collect(aclrtStream handle, int64_t timeout_ms)
{
    struct rt_stream *stream = hc_handle_hold(&rt_stream_table, (uint64_t)(uintptr_t)handle);
    aclError rc = ACL_SUCCESS;

    if (stream == NULL)
        return rc;
    if (atomic_load(&stream->failing))
        rc = rt_stream_sync(stream, timeout_ms);
    rt_stream_release(stream);
    return rc;
}

/* ---- ending ---- */

void
rt_stream_abort(struct rt_stream *stream)
{
    bool aborted;

    atomic_fetch_add(&stream->aborting, 1);
    pthread_mutex_lock(&stream->wait_lock);
    HC_LIST_EACH (node, &stream->waiters) {
        struct rt_stream_waiter *waiter = HC_CONTAINER(node, struct rt_stream_waiter, link);

        atomic_store(&waiter->aborted, true);
        rt_sched_signal(waiter->executor);
    }
    pthread_mutex_unlock(&stream->wait_lock);
    rt_stream_wake_held(stream);
    (void)wait_for(stream, atomic_load(&stream->pushed), -1, &aborted);
    pthread_mutex_lock(&stream->fail_lock);
    stream->failure = 0;                   /* what was queued is gone, and so is its failure */
    atomic_store(&stream->failing, false); /* I6 */
    pthread_mutex_unlock(&stream->fail_lock);
    atomic_fetch_sub(&stream->aborting, 1);
}

void
rt_stream_stop_head(struct rt_stream *stream)
{
    uint64_t done = atomic_load(&stream->done);

    if (done == atomic_load(&stream->pushed))
        return;
    atomic_store(&stream->stop_at, done + 1);
    rt_stream_wake_held(stream);
}

static void
close_stream(aclrtStream handle, bool now)
{
    struct rt_stream *stream = hc_handle_hold(&rt_stream_table, (uint64_t)(uintptr_t)handle);
    bool aborted;

    if (stream == NULL)
        return;
    rt_capture_forget(stream);
    if (now)
        rt_stream_abort(stream);
    else
        (void)wait_for(stream, atomic_load(&stream->pushed), -1, &aborted);
    atomic_store(&stream->closed, true); /* I7: for what others still push meanwhile */
    rt_stream_wake_held(stream);
    (void)hc_handle_close(&rt_stream_table, (uint64_t)(uintptr_t)handle);
    rt_stream_release(stream);
}

void
rt_stream_close(aclrtStream handle)
{
    close_stream(handle, false);
}

void
rt_stream_close_now(aclrtStream handle)
{
    close_stream(handle, true);
}

aclError
rt_stream_open(int32_t device, aclrtStream *handle)
{
    struct rt_context *context;
    aclError rc = rt_context_primary(device, &context);

    if (rc != ACL_SUCCESS)
        return rc;
    rc = rt_stream_new(context, 0, 0, handle);
    rt_context_release(context);
    return rc;
}

/* Calls act() for every open stream of the context, held. */
static aclError
each_stream(struct rt_context *context, aclError (*act)(struct rt_stream *stream, int64_t arg),
            int64_t arg)
{
    uint32_t num = atomic_load(&rt_stream_table.used);
    aclError first = ACL_SUCCESS;

    for (uint32_t id = 0; id < num; id++) {
        struct rt_stream *stream = hc_handle_hold_index(&rt_stream_table, id);

        if (stream == NULL)
            continue;
        if (stream->context == context) {
            aclError rc = act(stream, arg);

            first = first == ACL_SUCCESS ? rc : first;
        }
        rt_stream_release(stream);
    }
    return first;
}

static aclError
sync_one(struct rt_stream *stream, int64_t deadline_ns)
{
    int64_t left_ms = -1;

    if (deadline_ns >= 0) {
        int64_t left = deadline_ns - (int64_t)hc_now_ns();

        left_ms = left <= 0 ? 0 : (left + 999999) / 1000000;
    }
    return rt_stream_sync(stream, left_ms);
}

static aclError
close_one(struct rt_stream *stream, int64_t wait)
{
    close_stream(stream->handle, wait == 0);
    return ACL_SUCCESS;
}

aclError
rt_stream_sync_all(struct rt_context *context, int64_t timeout_ms)
{
    return each_stream(context, sync_one,
                       timeout_ms < 0 ? -1 : (int64_t)hc_deadline_ms(timeout_ms));
}

void
rt_stream_close_all(struct rt_context *context, bool wait)
{
    (void)each_stream(context, close_one, wait);
}
