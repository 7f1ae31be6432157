/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/event.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "runtime/graph.h"
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

void
rt_mark_reset(struct rt_mark *mark)
{
    pthread_mutex_lock(&mark->lock);
    atomic_store(&mark->state, RT_MARK_PENDING);
    pthread_mutex_unlock(&mark->lock);
}

/* ---- record and reset tasks ---- */

enum { RECORD_STREAM, RECORD_KEPT }; /* of a record's call.arg */

static enum rt_step
record_run(struct rt_stream *stream, struct rt_task *task)
{
    (void)stream;
    mark_set(task->u.call.obj, RT_MARK_DONE);
    return RT_STEP_DONE;
}

/* What a graph's mark is for other runs of it is not this run's to say: whoever waits for it in
 * this one is told by the cut (graph.h, G5). */
static void
record_drop(struct rt_task *task, bool ran)
{
    struct rt_mark *mark = task->u.call.obj;

    if (!ran && mark->graph == 0 && !task->u.call.arg[RECORD_KEPT]) {
        aclrtStream recorder = (aclrtStream)(uintptr_t)task->u.call.arg[RECORD_STREAM];
        aclError why = rt_stream_why_dropping(recorder);

        pthread_mutex_lock(&mark->lock);
        mark->recorder = recorder;
        mark->why = why;
        pthread_mutex_unlock(&mark->lock);
        mark_set(mark, RT_MARK_FAILED); /* nobody must wait for what will not come */
    }
    rt_mark_release(mark);
}

/* Dropping it will mean nothing to those who wait. */
static aclError
record_keep(struct rt_task *task, struct rt_graph *graph)
{
    task->u.call.arg[RECORD_KEPT] = true;
    return rt_graph_post(graph, task->u.call.obj, true);
}

static aclError
record_clone(const struct rt_task *task, struct rt_task *copy)
{
    *copy = *task;
    copy->u.call.arg[RECORD_KEPT] = false;
    (void)mark_hold(copy->u.call.obj);
    return ACL_SUCCESS;
}

static const struct rt_task_ops record_ops = {.name = "event record",
                                              .run = record_run,
                                              .drop = record_drop,
                                              .keep = record_keep,
                                              .clone = record_clone};

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

static aclError
reset_clone(const struct rt_task *task, struct rt_task *copy)
{
    *copy = *task;
    (void)mark_hold(copy->u.call.obj);
    return ACL_SUCCESS;
}

static const struct rt_task_ops reset_ops = {
    .name = "event reset", .run = reset_run, .drop = reset_drop, .clone = reset_clone};

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

static aclError
wait_keep(struct rt_task *task, struct rt_graph *graph)
{
    return rt_graph_follow(graph, wait_of(task)->mark, false);
}

static aclError
wait_clone(const struct rt_task *task, struct rt_task *copy)
{
    *copy = *task; /* it never waited, and is in no list */
    (void)mark_hold(wait_of(copy)->mark);
    return ACL_SUCCESS;
}

static const struct rt_task_ops wait_ops = {.name = "wait for an event",
                                            .run = wait_run,
                                            .drop = wait_drop,
                                            .keep = wait_keep,
                                            .clone = wait_clone};

/* ---- events ---- */

static void
event_fini(void *obj)
{
    struct rt_event *event = obj;

    rt_mark_release(event->mark);
    rt_mark_release(atomic_load(&event->captured));
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

uint32_t
rt_event_num(void)
{
    return hc_handle_live(&event_table);
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

/* ---- in captures, under the capture lock ---- */

static bool
is_external(const struct rt_event *event)
{
    return (event->flags & ACL_EVENT_EXTERNAL) != 0;
}

static bool
was_captured(struct rt_event *event)
{
    return atomic_load_explicit(&event->captured, memory_order_relaxed) != NULL;
}

/* The mark of the newest record if that was captured, held; else NULL. */
static struct rt_mark *
captured_mark(struct rt_event *event)
{
    struct rt_mark *mark;

    pthread_mutex_lock(&event->lock);
    mark = atomic_load(&event->captured);
    if (mark != NULL)
        (void)mark_hold(mark);
    pthread_mutex_unlock(&event->lock);
    return mark;
}

static void
set_captured(struct rt_event *event, struct rt_mark *mark)
{
    struct rt_mark *old;

    if (mark == NULL && !was_captured(event))
        return;
    pthread_mutex_lock(&event->lock);
    old = atomic_exchange(&event->captured, mark);
    pthread_mutex_unlock(&event->lock);
    rt_mark_release(old);
}

/* The mark that a record in `graph` reaches, held: a flag keeps the one it has there. */
static struct rt_mark *
mark_in(struct rt_graph *graph, struct rt_event *event)
{
    struct rt_mark *mark = event->is_flag ? captured_mark(event) : NULL;

    if (is_external(event)) {
        rt_mark_release(mark);
        return rt_event_mark(event);
    }
    if (mark != NULL && mark->graph == graph->handle)
        return mark;
    rt_mark_release(mark);
    mark = mark_create();
    if (mark == NULL)
        return NULL;
    mark->graph = graph->handle;
    if (rt_graph_add_mark(graph, mark) == ACL_SUCCESS)
        return mark_hold(mark);
    rt_mark_release(mark);
    return NULL;
}

static aclError
add(struct rt_graph *graph, struct rt_stream *stream, struct rt_task *task, struct rt_mark *mark)
{
    aclError rc = rt_capture_add(graph, stream, task);

    if (rc != ACL_SUCCESS)
        rt_mark_release(mark); /* the task's */
    return rc;
}

static aclError
record_in(struct rt_graph *graph, struct rt_event *event, struct rt_stream *stream)
{
    struct rt_task task = {.ops = &record_ops};
    struct rt_mark *mark = mark_in(graph, event);
    aclError rc;

    if (mark == NULL) {
        rt_capture_invalidate(graph, "an event could not be recorded");
        return rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    }
    task.u.call.obj = mark;
    task.u.call.arg[RECORD_STREAM] = (uint64_t)(uintptr_t)rt_stream_handle(stream);
    rc = add(graph, stream, &task, mark);
    if (rc == ACL_SUCCESS && !is_external(event))
        set_captured(event, mark_hold(mark));
    return rc;
}

static aclError
not_in_capture(struct rt_graph *graph, const struct rt_stream *stream, const char *what)
{
    rt_capture_invalidate(graph, "it depended on an event that is not part of it");
    return rt_fail(
        ACL_ERROR_RT_CAPTURE_DEPENDENCY,
        "stream %u is being captured into graph %u, and the event to %s was not recorded "
        "in that capture: record it there, wait before the capture begins, or create "
        "the event with ACL_EVENT_EXTERNAL",
        rt_stream_id(stream), graph->id, what);
}

static aclError
reset_in(struct rt_graph *graph, struct rt_event *event, struct rt_stream *stream)
{
    struct rt_mark *mark = is_external(event) ? rt_event_mark(event) : captured_mark(event);
    struct rt_task task = {.ops = &reset_ops, .u.call.obj = mark};

    if (mark != NULL && (is_external(event) || mark->graph == graph->handle))
        return add(graph, stream, &task, mark);
    rt_mark_release(mark);
    return not_in_capture(graph, stream, "reset");
}

/* The capture to which a wait for `mark` belongs; NULL, with *rc: none, and it must not be. */
static struct rt_graph *
graph_of_wait(const struct rt_mark *mark, struct rt_graph *own, struct rt_stream *stream,
              aclError *rc)
{
    struct rt_graph *graph = rt_on_aicpu() ? NULL : rt_capture_find(mark->graph);

    *rc = ACL_SUCCESS;
    if (graph == NULL) {
        if (own != NULL)
            rt_capture_invalidate(own, "it depended on an event of another capture");
        *rc =
            rt_fail(ACL_ERROR_RT_EVENT_CAPTURED,
                    "stream %u cannot wait for an event whose newest record is part of a captured "
                    "graph: record it outside, or create it with ACL_EVENT_EXTERNAL",
                    rt_stream_id(stream));
    } else {
        *rc = rt_capture_join(graph, stream, true);
    }
    return *rc == ACL_SUCCESS ? graph : NULL;
}

/* A wait that may have to do with a capture: on one of its streams, or for one of its events.
 * *ordinary: it has not. Takes the lock itself. */
static aclError
wait_in(struct rt_event *event, struct rt_stream *stream, uint32_t timeout_s, bool *ordinary)
{
    struct rt_graph *graph = rt_capture_enter(stream);
    struct rt_mark *mark = captured_mark(event);
    struct rt_task task = {.ops = &wait_ops};
    aclError rc = ACL_SUCCESS;

    *ordinary = graph == NULL && mark == NULL;
    if (!*ordinary && mark != NULL) {
        graph = graph_of_wait(mark, graph, stream, &rc);
    } else if (!*ordinary) {
        mark = rt_event_mark(event);
        if (mark != NULL && !is_external(event))
            rc = not_in_capture(graph, stream, "wait for");
    }
    if (rc == ACL_SUCCESS && mark != NULL) { /* NULL: never recorded, nothing to wait for */
        wait_of(&task)->mark = mark;
        wait_of(&task)->timeout_s = timeout_s;
        rc = add(graph, stream, &task, mark);
    } else {
        rt_mark_release(mark);
    }
    rt_capture_leave();
    return rc;
}

aclError
rt_event_check(struct rt_event *event, const char *function)
{
    struct rt_mark *mark = was_captured(event) ? captured_mark(event) : NULL;
    struct rt_graph *graph;
    uint64_t handle;

    if (mark == NULL)
        return ACL_SUCCESS;
    handle = mark->graph;
    rt_mark_release(mark);
    pthread_mutex_lock(&rt_capture_lock);
    graph = rt_capture_find(handle);
    if (graph != NULL)
        rt_capture_invalidate(graph, "the state of an event of it was asked for");
    pthread_mutex_unlock(&rt_capture_lock);
    return rt_fail(ACL_ERROR_RT_EVENT_CAPTURED,
                   "%s: the newest record of the event was captured into a graph, so it has no "
                   "state of its own: record it outside, or create it with ACL_EVENT_EXTERNAL",
                   function);
}

/* ---- the calls ---- */

aclError
rt_event_record(struct rt_event *event, struct rt_stream *stream)
{
    struct rt_task task = {.ops = &record_ops};
    struct rt_graph *graph;
    struct rt_mark *fresh;
    aclError rc = ACL_SUCCESS;

    if (rt_capture_may(stream)) {
        graph = rt_capture_enter(stream);
        if (graph != NULL)
            rc = record_in(graph, event, stream);
        rt_capture_leave();
        if (graph != NULL)
            return rc;
    }
    fresh = event->is_flag ? NULL : mark_create();
    if (!event->is_flag && fresh == NULL)
        return rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    set_captured(event, NULL);
    pthread_mutex_lock(&event->lock);
    if (fresh != NULL) {
        rt_mark_release(event->mark); /* waits that took it hold it */
        event->mark = fresh;
    }
    event->recorded = true;
    task.u.call.obj = mark_hold(event->mark);
    pthread_mutex_unlock(&event->lock);
    task.u.call.arg[RECORD_STREAM] = (uint64_t)(uintptr_t)rt_stream_handle(stream);
    return rt_stream_push(stream, &task);
}

aclError
rt_event_reset(struct rt_event *event, struct rt_stream *stream)
{
    struct rt_task task = {.ops = &reset_ops};
    struct rt_graph *graph;
    aclError rc = ACL_SUCCESS;

    if (!event->is_flag)
        return rt_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                       "aclrtResetEvent: only for events made by "
                       "aclrtCreateEventWithFlag with ACL_EVENT_SYNC; others may be recorded again "
                       "as they are");
    if (rt_capture_may(stream)) {
        graph = rt_capture_enter(stream);
        if (graph != NULL)
            rc = reset_in(graph, event, stream);
        rt_capture_leave();
        if (graph != NULL)
            return rc;
    }
    set_captured(event, NULL);
    task.u.call.obj = rt_event_mark(event);
    return rt_stream_push(stream, &task);
}

aclError
rt_event_wait(struct rt_event *event, struct rt_stream *stream, uint32_t timeout_s)
{
    struct rt_task task = {.ops = &wait_ops};
    struct mark_wait *wait = wait_of(&task);
    bool ordinary = true;
    aclError rc = ACL_SUCCESS;

    if (rt_capture_may(stream) || was_captured(event))
        rc = wait_in(event, stream, timeout_s, &ordinary);
    if (!ordinary)
        return rc;
    wait->mark = rt_event_mark(event);
    wait->timeout_s = timeout_s;
    if (wait->mark == NULL)
        return ACL_SUCCESS; /* never recorded: nothing to wait for */
    return rt_stream_push(stream, &task);
}
