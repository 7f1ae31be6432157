/* SPDX-License-Identifier: BSD-3-Clause */
/* aclrt*Event*: the kinds of event and their rules; the mechanism is event.c. */
#include "acl/acl_rt.h"
#include "base/clock.h"
#include "runtime/context.h"
#include "runtime/event.h"
#include "runtime/stream.h"

#define EVENTS_MOST 65536u
#define ORABLE (ACL_EVENT_SYNC | ACL_EVENT_CAPTURE_STREAM_PROGRESS | ACL_EVENT_TIME_LINE)

static _Atomic uint32_t default_wait_s; /* of aclrtSetOpWaitTimeout; 0: for ever */

static aclError
create(aclrtEvent *event, uint32_t flags, bool is_flag, bool starts_done, const char *function)
{
    struct rt_context *context;
    aclError rc;

    if (!rt_enter())
        return ACL_ERROR_INTERNAL_ERROR;
    if (event == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "%s: event is NULL", function);
    rc = rt_context_current(&context);
    if (rc != ACL_SUCCESS)
        return rc;
    rt_context_release(context);
    return rt_event_create(flags, is_flag, starts_done, event);
}

aclError
aclrtCreateEvent(aclrtEvent *event)
{
    return create(event, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE, false, true, "aclrtCreateEvent");
}

static bool
flags_fit(uint32_t flag, uint32_t alone)
{
    return flag != 0 &&
           ((flag & ~ORABLE) == 0 || ((flag & alone) == flag && (flag & (flag - 1)) == 0));
}

aclError
aclrtCreateEventWithFlag(aclrtEvent *event, uint32_t flag)
{
    if (!flags_fit(flag, ACL_EVENT_DEVICE_USE_ONLY | ACL_EVENT_EXTERNAL))
        return rt_fail(
            ACL_ERROR_RT_PARAM_INVALID,
            "aclrtCreateEventWithFlag: flag 0x%x; pass TIME_LINE, "
            "SYNC and CAPTURE_STREAM_PROGRESS together, or DEVICE_USE_ONLY or EXTERNAL alone",
            flag);
    return create(event, flag, (flag & (ACL_EVENT_SYNC | ACL_EVENT_EXTERNAL)) != 0, false,
                  "aclrtCreateEventWithFlag");
}

aclError
aclrtCreateEventExWithFlag(aclrtEvent *event, uint32_t flag)
{
    if (!flags_fit(flag, ACL_EVENT_IPC))
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "aclrtCreateEventExWithFlag: flag 0x%x; pass "
                       "TIME_LINE, SYNC and CAPTURE_STREAM_PROGRESS together, or IPC alone",
                       flag);
    return create(event, flag, false, true, "aclrtCreateEventExWithFlag");
}

aclError
aclrtDestroyEvent(aclrtEvent event)
{
    if (!rt_enter())
        return ACL_ERROR_INTERNAL_ERROR;
    if (event == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtDestroyEvent: event is NULL");
    if (!rt_event_destroy(event))
        return rt_fail(ACL_ERROR_RT_INVALID_HANDLE, "aclrtDestroyEvent: %p is not a live event",
                       event);
    return ACL_SUCCESS;
}

/* Both objects of a call on a stream, held. */
static aclError
hold_both(aclrtEvent event, aclrtStream stream, const char *function, struct rt_event **held,
          struct rt_stream **on)
{
    aclError rc;

    if (!rt_enter())
        return ACL_ERROR_INTERNAL_ERROR;
    if (event == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "%s: event is NULL", function);
    *held = rt_event_hold(event);
    if (*held == NULL)
        return ACL_ERROR_RT_INVALID_HANDLE;
    rc = rt_stream_hold(stream, on);
    if (rc != ACL_SUCCESS)
        rt_event_release(*held);
    return rc;
}

aclError
aclrtRecordEvent(aclrtEvent event, aclrtStream stream)
{
    struct rt_event *held;
    struct rt_stream *on;
    aclError rc = hold_both(event, stream, "aclrtRecordEvent", &held, &on);

    if (rc != ACL_SUCCESS)
        return rc;
    rc = rt_event_record(held, on);
    rt_stream_release(on);
    rt_event_release(held);
    return rc;
}

aclError
aclrtResetEvent(aclrtEvent event, aclrtStream stream)
{
    struct rt_event *held;
    struct rt_stream *on;
    aclError rc = hold_both(event, stream, "aclrtResetEvent", &held, &on);

    if (rc != ACL_SUCCESS)
        return rc;
    rc = rt_event_reset(held, on);
    rt_stream_release(on);
    rt_event_release(held);
    return rc;
}

aclError
aclrtStreamWaitEventWithTimeout(aclrtStream stream, aclrtEvent event, int32_t timeout)
{
    struct rt_event *held;
    struct rt_stream *on;
    aclError rc;

    if (timeout < 0)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "aclrtStreamWaitEventWithTimeout: timeout %d s; pass "
                       "0 (for ever) or more",
                       timeout);
    rc = hold_both(event, stream, "aclrtStreamWaitEvent", &held, &on);
    if (rc != ACL_SUCCESS)
        return rc;
    if ((held->flags & (ACL_EVENT_SYNC | ACL_EVENT_EXTERNAL | ACL_EVENT_IPC)) == 0)
        rc = rt_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                     "aclrtStreamWaitEvent: the event was not made for "
                     "waiting; create it with ACL_EVENT_SYNC");
    else
        rc = rt_event_wait(held, on, (uint32_t)timeout);
    rt_stream_release(on);
    rt_event_release(held);
    return rc;
}

aclError
aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event)
{
    return aclrtStreamWaitEventWithTimeout(stream, event, (int32_t)atomic_load(&default_wait_s));
}

aclError
aclrtSetOpWaitTimeout(uint32_t timeout)
{
    if (timeout > INT32_MAX)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtSetOpWaitTimeout: %u s is too long",
                       timeout);
    atomic_store(&default_wait_s, timeout);
    return ACL_SUCCESS;
}

/* ---- looking at an event from the host ---- */

/* Whether all that the newest record captured is over. */
static aclError
is_over(aclrtEvent event, const char *function, bool *over)
{
    struct rt_event *held;
    struct rt_mark *mark;
    aclError rc;

    if (!rt_enter())
        return ACL_ERROR_INTERNAL_ERROR;
    if (event == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "%s: event is NULL", function);
    held = rt_event_hold(event);
    if (held == NULL)
        return ACL_ERROR_RT_INVALID_HANDLE;
    rc = rt_event_check(held, function);
    mark = rt_event_mark(held);
    *over = mark == NULL ? held->starts_done : atomic_load(&mark->state) != RT_MARK_PENDING;
    rt_mark_release(mark);
    rt_event_release(held);
    return rc;
}

aclError
aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus *status)
{
    bool over = false;
    aclError rc;

    if (status == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtQueryEventStatus: status is NULL");
    rc = is_over(event, "aclrtQueryEventStatus", &over);
    if (rc == ACL_SUCCESS)
        *status = over ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY;
    return rc;
}

aclError
aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus *status)
{
    bool over = false;
    aclError rc;

    if (status == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtQueryEventWaitStatus: status is NULL");
    rc = is_over(event, "aclrtQueryEventWaitStatus", &over);
    if (rc == ACL_SUCCESS)
        *status = over ? ACL_EVENT_WAIT_STATUS_COMPLETE : ACL_EVENT_WAIT_STATUS_NOT_READY;
    return rc;
}

static bool
mark_is_over(void *arg)
{
    return atomic_load(&((struct rt_mark *)arg)->state) != RT_MARK_PENDING;
}

static bool
was_recorded(struct rt_event *event)
{
    bool recorded;

    pthread_mutex_lock(&event->lock);
    recorded = event->recorded;
    pthread_mutex_unlock(&event->lock);
    return recorded;
}

/* The record was dropped. Tells why as a synchronise of the recording stream does, and takes the
 * failure as that does. */
static aclError
dropped(struct rt_mark *mark, int64_t timeout_ms)
{
    aclrtStream recorder;
    aclError why, rc;

    pthread_mutex_lock(&mark->lock);
    recorder = mark->recorder;
    why = mark->why;
    pthread_mutex_unlock(&mark->lock);
    if (why == 0)
        return rt_fail(ACL_ERROR_RT_STREAM_ABORT,
                       "aclrtSynchronizeEvent: the record was dropped: the recording stream was "
                       "aborted or destroyed");
    rc = rt_stream_collect(recorder, timeout_ms);
    return rc == ACL_SUCCESS ? rt_set_last_error(why) : rc; /* success: it is taken already */
}

static aclError
synchronize(aclrtEvent event, int64_t timeout_ms)
{
    struct rt_event *held;
    struct rt_mark *mark = NULL;
    aclError rc;

    if (!rt_enter())
        return ACL_ERROR_INTERNAL_ERROR;
    if (event == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtSynchronizeEvent: event is NULL");
    held = rt_event_hold(event);
    if (held == NULL)
        return ACL_ERROR_RT_INVALID_HANDLE;
    rc = rt_event_check(held, "aclrtSynchronizeEvent");
    if (rc == ACL_SUCCESS && was_recorded(held)) /* unrecorded: nothing to wait for */
        mark = rt_event_mark(held);
    if (mark != NULL && !rt_wait_until(mark_is_over, mark, hc_deadline_ms(timeout_ms)))
        rc = rt_set_last_error(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT);
    else if (mark != NULL && atomic_load(&mark->state) == RT_MARK_FAILED)
        rc = dropped(mark, timeout_ms);
    rt_mark_release(mark);
    rt_event_release(held);
    return rc;
}

aclError
aclrtSynchronizeEvent(aclrtEvent event)
{
    return synchronize(event, -1);
}

aclError
aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout)
{
    if (timeout == 0 || timeout < -1)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "aclrtSynchronizeEventWithTimeout: timeout %d ms; pass "
                       "-1 (for ever) or more than 0",
                       timeout);
    return synchronize(event, timeout);
}

static uint64_t
reached_at(struct rt_mark *mark)
{
    uint64_t time_ns;

    pthread_mutex_lock(&mark->lock);
    time_ns = mark->time_ns;
    pthread_mutex_unlock(&mark->lock);
    return time_ns;
}

/* When the newest record was reached, in ns. `what` names function and event. */
static aclError
time_of(aclrtEvent event, const char *what, uint64_t *time_ns)
{
    struct rt_event *held;
    struct rt_mark *mark;
    aclError rc;

    if (event == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "%s is NULL", what);
    held = rt_event_hold(event);
    if (held == NULL)
        return ACL_ERROR_RT_INVALID_HANDLE;
    rc = rt_event_check(held, what);
    mark = rt_event_mark(held);
    if (rc != ACL_SUCCESS)
        ; /* nothing to tell */
    else if (mark == NULL || !was_recorded(held))
        rc = rt_fail(ACL_ERROR_RT_INTERNAL_ERROR,
                     "%s was never recorded; call "
                     "aclrtRecordEvent, then synchronise",
                     what);
    else if (!mark_is_over(mark))
        rc = rt_fail(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID,
                     "%s is recorded but not reached yet; "
                     "synchronise first",
                     what);
    else if (atomic_load(&mark->state) == RT_MARK_FAILED)
        rc = rt_fail(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID,
                     "%s was not reached: its stream failed or was aborted before; record it again",
                     what);
    else
        *time_ns = reached_at(mark);
    rt_mark_release(mark);
    rt_event_release(held);
    return rc;
}

aclError
aclrtEventElapsedTime(float *ms, aclrtEvent startEvent, aclrtEvent endEvent)
{
    uint64_t start = 0, end = 0;
    aclError rc;

    if (ms == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtEventElapsedTime: ms is NULL");
    rc = time_of(startEvent, "aclrtEventElapsedTime: the start event", &start);
    if (rc == ACL_SUCCESS)
        rc = time_of(endEvent, "aclrtEventElapsedTime: the end event", &end);
    if (rc != ACL_SUCCESS)
        return rc;
    if (end < start)
        return rt_fail(ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL,
                       "aclrtEventElapsedTime: the end event was "
                       "reached before the start event; swap the arguments");
    *ms = (float)((double)(end - start) / 1e6);
    return ACL_SUCCESS;
}

aclError
aclrtEventGetTimestamp(aclrtEvent event, uint64_t *timestamp)
{
    uint64_t time_ns = 0;
    aclError rc;

    if (timestamp == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtEventGetTimestamp: timestamp is NULL");
    rc = time_of(event, "aclrtEventGetTimestamp: the event", &time_ns);
    if (rc == ACL_SUCCESS)
        *timestamp = time_ns / 1000u;
    return rc;
}

aclError
aclrtGetEventId(aclrtEvent event, uint32_t *eventId)
{
    struct rt_event *held;

    if (event == NULL || eventId == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetEventId: event or eventId is NULL");
    held = rt_event_hold(event);
    if (held == NULL)
        return ACL_ERROR_RT_INVALID_HANDLE;
    *eventId = held->id;
    rt_event_release(held);
    return ACL_SUCCESS;
}

aclError
aclrtGetEventAvailNum(uint32_t *eventCount)
{
    uint32_t num = rt_event_num();

    if (eventCount == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetEventAvailNum: eventCount is NULL");
    *eventCount = num > EVENTS_MOST ? 0 : EVENTS_MOST - num;
    return ACL_SUCCESS;
}
