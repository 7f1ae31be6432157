/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "runtime/report.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/list.h"

struct report {
    struct hc_list link;   /* in `queued`; I1 */
    _Atomic uint32_t refs; /* I2 */
    void (*fn)(void *arg);
    void *arg;
    bool block;
    bool submitted; /* the task's own */
    uint64_t thread;
    uint32_t stream; /* on which the callback was launched: its subscription counts */
    uint32_t waits;  /* the one that runs it; the same unless captured. Set by the task */
    atomic_bool done;
};

struct subscription {
    struct hc_list link; /* in `subscriptions`; I1 */
    uint64_t thread;
    uint32_t stream;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* I1 */
static struct hc_list subscriptions = {&subscriptions, &subscriptions};
static struct hc_list queued = {&queued, &queued};

static void
unref(struct report *report)
{
    if (atomic_fetch_sub_explicit(&report->refs, 1, memory_order_acq_rel) == 1)
        hc_free(report);
}

/* ---- subscriptions, under the lock ---- */

static struct subscription *
find_stream(uint32_t stream)
{
    HC_LIST_EACH (node, &subscriptions) {
        struct subscription *found = HC_CONTAINER(node, struct subscription, link);

        if (found->stream == stream)
            return found;
    }
    return NULL;
}

static bool
is_subscribed(uint64_t thread)
{
    HC_LIST_EACH (node, &subscriptions) {
        if (HC_CONTAINER(node, struct subscription, link)->thread == thread)
            return true;
    }
    return false;
}

/* The first queued report of the thread, and of the stream unless `any`; taken out. */
static struct report *
take(uint64_t thread, bool any, uint32_t stream)
{
    HC_LIST_EACH_SAFE (node, &queued) {
        struct report *report = HC_CONTAINER(node, struct report, link);

        if (report->thread == thread && (any || report->stream == stream)) {
            hc_list_remove(node);
            return report;
        }
    }
    return NULL;
}

static void
finish(struct report *report)
{
    atomic_store_explicit(&report->done, true, memory_order_release);
    rt_stream_wake(report->waits);
    unref(report);
}

aclError
rt_report_subscribe(uint64_t thread, uint32_t stream)
{
    struct subscription *fresh = hc_zalloc(sizeof *fresh);
    struct subscription *found;

    if (fresh == NULL)
        return rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    fresh->thread = thread;
    fresh->stream = stream;
    pthread_mutex_lock(&lock);
    found = find_stream(stream);
    if (found == NULL)
        hc_list_push_back(&subscriptions, &fresh->link);
    pthread_mutex_unlock(&lock);
    if (found == NULL)
        return ACL_SUCCESS;
    hc_free(fresh);
    return rt_fail(ACL_ERROR_RT_STREAM_SUBSCRIBE,
                   "stream %u has a thread for its callbacks already: call aclrtUnSubscribeReport "
                   "first",
                   stream);
}

aclError
rt_report_unsubscribe(uint64_t thread, uint32_t stream)
{
    struct subscription *found;
    struct report *report = NULL;

    pthread_mutex_lock(&lock);
    found = find_stream(stream);
    if (found != NULL && found->thread != thread)
        found = NULL;
    if (found != NULL)
        hc_list_remove(&found->link);
    pthread_mutex_unlock(&lock);
    if (found == NULL)
        return rt_fail(ACL_ERROR_RT_THREAD_SUBSCRIBE,
                       "stream %u is not subscribed to thread 0x%llx", stream,
                       (unsigned long long)thread);
    hc_free(found);
    do { /* I3 */
        pthread_mutex_lock(&lock);
        report = take(thread, false, stream);
        pthread_mutex_unlock(&lock);
        if (report != NULL)
            finish(report);
    } while (report != NULL);
    return ACL_SUCCESS;
}

/* ---- the task ---- */

static enum rt_step
submit(struct rt_stream *stream, struct report *report)
{
    struct subscription *found;

    report->waits = rt_stream_id(stream);
    pthread_mutex_lock(&lock);
    found = find_stream(report->stream);
    if (found != NULL) {
        report->submitted = true;
        report->thread = found->thread;
        atomic_fetch_add_explicit(&report->refs, 1, memory_order_relaxed); /* I2 */
        hc_list_push_back(&queued, &report->link);
    }
    pthread_mutex_unlock(&lock);
    if (found == NULL)
        return rt_stream_fail(stream, ACL_ERROR_RT_STREAM_NO_CB_REG,
                              "a callback has no thread to run it any more");
    rt_waiters_poke();
    return report->block ? RT_STEP_PARKED : RT_STEP_DONE;
}

static enum rt_step
run(struct rt_stream *stream, struct rt_task *task)
{
    struct report *report = task->u.call.obj;

    if (!report->submitted)
        return submit(stream, report);
    return atomic_load_explicit(&report->done, memory_order_acquire) ? RT_STEP_DONE
                                                                     : RT_STEP_PARKED;
}

static void
drop(struct rt_task *task, bool ran)
{
    (void)ran;
    unref(task->u.call.obj);
}

static void
describe(const struct rt_task *task, char *text, size_t len)
{
    const struct report *report = task->u.call.obj;

    snprintf(text, len, "callback, which thread 0x%llx runs in aclrtProcessReport",
             (unsigned long long)report->thread);
}

static struct report *
report_new(void (*fn)(void *arg), void *arg, bool block, uint32_t stream)
{
    struct report *report = hc_zalloc(sizeof *report);

    if (report == NULL)
        return NULL;
    atomic_init(&report->refs, 1);
    report->fn = fn;
    report->arg = arg;
    report->block = block;
    report->stream = stream;
    return report;
}

static aclError
report_clone(const struct rt_task *task, struct rt_task *copy)
{
    const struct report *kept = task->u.call.obj;
    struct report *report = report_new(kept->fn, kept->arg, kept->block, kept->stream);

    if (report == NULL)
        return rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    *copy = (struct rt_task){.ops = task->ops, .u.call.obj = report};
    return ACL_SUCCESS;
}

static const struct rt_task_ops report_ops = {
    .name = "callback",
    .run = run,
    .drop = drop,
    .describe = describe,
    .clone = report_clone,
};

aclError
rt_report_push(struct rt_stream *stream, void (*fn)(void *arg), void *arg, bool block)
{
    struct rt_task task = {.ops = &report_ops};
    struct report *report;
    bool subscribed;

    pthread_mutex_lock(&lock);
    subscribed = find_stream(rt_stream_id(stream)) != NULL;
    pthread_mutex_unlock(&lock);
    if (!subscribed)
        return rt_fail(ACL_ERROR_RT_STREAM_NO_CB_REG,
                       "stream %u has no thread for callbacks: call aclrtSubscribeReport first",
                       rt_stream_id(stream));
    report = report_new(fn, arg, block, rt_stream_id(stream));
    if (report == NULL)
        return rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    task.u.call.obj = report;
    return rt_stream_push(stream, &task);
}

/* ---- the thread ---- */

struct wait {
    uint64_t thread;
    struct report *report;
};

static bool
take_one(void *arg)
{
    struct wait *wait = arg;

    if (wait->report == NULL) {
        pthread_mutex_lock(&lock);
        wait->report = take(wait->thread, true, 0);
        pthread_mutex_unlock(&lock);
    }
    return wait->report != NULL;
}

aclError
rt_report_process(int64_t timeout_ms)
{
    struct wait wait = {.thread = (uint64_t)pthread_self()};
    bool subscribed;

    pthread_mutex_lock(&lock);
    subscribed = is_subscribed(wait.thread);
    pthread_mutex_unlock(&lock);
    if (!subscribed)
        return rt_fail(ACL_ERROR_RT_THREAD_SUBSCRIBE,
                       "this thread is subscribed to no stream: call aclrtSubscribeReport with its "
                       "pthread_self()");
    if (!rt_wait_until(take_one, &wait, hc_deadline_ms(timeout_ms)) && wait.report == NULL)
        return rt_set_last_error(ACL_ERROR_RT_REPORT_TIMEOUT);
    wait.report->fn(wait.report->arg);
    finish(wait.report);
    return ACL_SUCCESS;
}
