/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/event.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "runtime/stream.h"

/* In a wait task's `u`. */
struct mark_wait {
    struct rt_mark *mark;
    uint64_t timeout_s;
    uint32_t stream;     /* number, once it waits */
    uint32_t reached;    /* enum rt_mark_state: what ended the wait, whatever came after it; under
                          * mark->lock */
    struct hc_list link; /* in mark->waiting, or on its way to be woken; under mark->lock */
};

static void event_fini(void *obj);

static struct hc_table event_table = HC_TABLE("event", HC_KIND_EVENT, event_fini);

/* ---- marks ---- */

static struct rt_mark *
mark_create(void)
{
    struct rt_mark *mark = hc_zalloc(sizeof *mark);

    if (mark == NULL)
        return NULL;
    atomic_store(&mark->refs, 1);
    pthread_mutex_init(&mark->lock, NULL);
    hc_list_init(&mark->waiting);
    return mark;
}

static struct rt_mark *
mark_hold(struct rt_mark *mark)
{
    atomic_fetch_add_explicit(&mark->refs, 1, memory_order_relaxed);
    return mark;
}

void
rt_mark_release(struct rt_mark *mark)
{
    if (mark == NULL || atomic_fetch_sub_explicit(&mark->refs, 1, memory_order_acq_rel) != 1)
        return;
    pthread_mutex_destroy(&mark->lock);
    hc_free(mark);
}

static struct mark_wait *
wait_of(struct rt_task *task)
{
    _Static_assert(sizeof(struct mark_wait) <= sizeof task->u, "a wait fits into a task");
    return (struct mark_wait *)(void *)&task->u;
}

/* The mark reaches `state`: whoever waits for it looks again. */
static void
mark_set(struct rt_mark *mark, enum rt_mark_state state)
{
    struct hc_list told, *node;

    hc_list_init(&told);
    pthread_mutex_lock(&mark->lock);
    mark->time_ns = hc_now_ns();
    atomic_store(&mark->state, state);
    while (state != RT_MARK_PENDING && (node = hc_list_pop_front(&mark->waiting)) != NULL) {
        HC_CONTAINER(node, struct mark_wait, link)->reached = state;
        hc_list_push_back(&told, node);
    }
    while ((node = hc_list_pop_front(&told)) != NULL) {
        uint32_t id = HC_CONTAINER(node, struct mark_wait, link)->stream;

        pthread_mutex_unlock(&mark->lock); /* I2 */
        rt_stream_wake(id);
        pthread_mutex_lock(&mark->lock);
    }
    pthread_mutex_unlock(&mark->lock);
    rt_waiters_poke();
}

/* ---- record and reset tasks ---- */

static enum rt_step
record_run(struct rt_stream *stream, struct rt_task *task)
{
    (void)stream;
    mark_set(task->u.call.obj, RT_MARK_DONE);
    return RT_STEP_DONE;
}

static void
record_drop(struct rt_task *task, bool ran)
{
    struct rt_mark *mark = task->u.call.obj;

    if (!ran) {
        aclrtStream recorder = (aclrtStream)(uintptr_t)task->u.call.arg[0];
        aclError why = rt_stream_why_dropping(recorder);

        pthread_mutex_lock(&mark->lock);
        mark->recorder = recorder;
        mark->why = why;
        pthread_mutex_unlock(&mark->lock);
        mark_set(mark, RT_MARK_FAILED); /* nobody must wait for what will not come */
    }
    rt_mark_release(mark);
}

static const struct rt_task_ops record_ops = {
    .name = "event record", .run = record_run, .drop = record_drop};

static enum rt_step
reset_run(struct rt_stream *stream, struct rt_task *task)
{
    (void)stream;
    mark_set(task->u.call.obj, RT_MARK_PENDING);
    return RT_STEP_DONE;
}

static void
reset_drop(struct rt_task *task, bool ran)
{
    (void)ran;
    rt_mark_release(task->u.call.obj);
}

static const struct rt_task_ops reset_ops = {
    .name = "event reset", .run = reset_run, .drop = reset_drop};

/* ---- wait task ---- */

static enum rt_step
wait_run(struct rt_stream *stream, struct rt_task *task)
{
    struct mark_wait *wait = wait_of(task);
    uint32_t state;

    pthread_mutex_lock(&wait->mark->lock);
    state = wait->reached != RT_MARK_PENDING ? wait->reached : atomic_load(&wait->mark->state);
    if (state == RT_MARK_PENDING && !hc_list_linked(&wait->link)) {
        wait->stream = rt_stream_id(stream);
        hc_list_push_back(&wait->mark->waiting, &wait->link);
    }
    pthread_mutex_unlock(&wait->mark->lock);
    if (state == RT_MARK_DONE)
        return RT_STEP_DONE;
    if (state == RT_MARK_FAILED)
        return rt_stream_fail(stream, ACL_ERROR_RT_STREAM_ABORT,
                              "waits for an event whose record was dropped: the recording stream "
                              "failed or was aborted");
    rt_stream_deadline(stream, wait->timeout_s * 1000u);
    if (rt_stream_expired(stream))
        return rt_stream_fail(stream, ACL_ERROR_RT_TASK_TIMEOUT,
                              "waited %llu s for an event that was not reached",
                              (unsigned long long)wait->timeout_s);
    return RT_STEP_PARKED;
}

static void
wait_drop(struct rt_task *task, bool ran)
{
    struct mark_wait *wait = wait_of(task);

    (void)ran;
    pthread_mutex_lock(&wait->mark->lock);
    hc_list_remove(&wait->link);
    pthread_mutex_unlock(&wait->mark->lock);
    rt_mark_release(wait->mark);
}

static const struct rt_task_ops wait_ops = {
    .name = "wait for an event", .run = wait_run, .drop = wait_drop};

/* ---- events ---- */

static void
event_fini(void *obj)
{
    struct rt_event *event = obj;

    rt_mark_release(event->mark);
    pthread_mutex_destroy(&event->lock);
    hc_free(event);
}

aclError
rt_event_create(uint32_t flags, bool is_flag, bool starts_done, aclrtEvent *handle)
{
    struct rt_event *event = hc_zalloc(sizeof *event);
    uint64_t number;

    if (event == NULL)
        return rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    event->flags = flags;
    event->is_flag = is_flag;
    event->starts_done = starts_done;
    pthread_mutex_init(&event->lock, NULL);
    event->mark = is_flag ? mark_create() : NULL;
    number = is_flag && event->mark == NULL ? 0 : hc_handle_reserve(&event_table);
    if (number == 0) {
        event_fini(event);
        return rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    }
    event->handle = (aclrtEvent)(uintptr_t)number;
    event->id = hc_handle_index(number);
    hc_handle_publish(&event_table, number, event);
    *handle = event->handle;
    return ACL_SUCCESS;
}

bool
rt_event_destroy(aclrtEvent handle)
{
    return hc_handle_close(&event_table, (uint64_t)(uintptr_t)handle);
}

struct rt_event *
rt_event_hold(aclrtEvent handle)
{
    struct rt_event *event = hc_handle_hold(&event_table, (uint64_t)(uintptr_t)handle);

    if (event == NULL)
        rt_fail(ACL_ERROR_RT_INVALID_HANDLE, "event %p is not a live event: it is %s", handle,
                hc_handle_guess(&event_table, (uint64_t)(uintptr_t)handle));
    return event;
}

void
rt_event_release(struct rt_event *event)
{
    hc_handle_release(&event_table, (uint64_t)(uintptr_t)event->handle);
}

struct rt_mark *
rt_event_mark(struct rt_event *event)
{
    struct rt_mark *mark;

    pthread_mutex_lock(&event->lock);
    mark = event->mark == NULL ? NULL : mark_hold(event->mark);
    pthread_mutex_unlock(&event->lock);
    return mark;
}

aclError
rt_event_record(struct rt_event *event, struct rt_stream *stream)
{
    struct rt_mark *fresh = event->is_flag ? NULL : mark_create();
    struct rt_task task = {.ops = &record_ops};

    if (!event->is_flag && fresh == NULL)
        return rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    pthread_mutex_lock(&event->lock);
    if (fresh != NULL) {
        rt_mark_release(event->mark); /* waits that took it hold it */
        event->mark = fresh;
    }
    event->recorded = true;
    task.u.call.obj = mark_hold(event->mark);
    pthread_mutex_unlock(&event->lock);
    task.u.call.arg[0] = (uint64_t)(uintptr_t)rt_stream_handle(stream);
    return rt_stream_push(stream, &task);
}

aclError
rt_event_reset(struct rt_event *event, struct rt_stream *stream)
{
    struct rt_task task = {.ops = &reset_ops};

    if (!event->is_flag)
        return rt_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                       "aclrtResetEvent: only for events made by "
                       "aclrtCreateEventWithFlag with ACL_EVENT_SYNC; others may be recorded again "
                       "as they are");
    task.u.call.obj = rt_event_mark(event);
    return rt_stream_push(stream, &task);
}

aclError
rt_event_wait(struct rt_event *event, struct rt_stream *stream, uint32_t timeout_s)
{
    struct rt_task task = {.ops = &wait_ops};
    struct mark_wait *wait = wait_of(&task);

    wait->mark = rt_event_mark(event);
    wait->timeout_s = timeout_s;
    if (wait->mark == NULL)
        return ACL_SUCCESS; /* never recorded: nothing to wait for */
    return rt_stream_push(stream, &task);
}
