/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * event: a point in a stream that others can wait for (inside this layer only).
 *
 * A *mark* is one recording: pending until its record task runs, then done (or failed, when the
 * record was dropped with its failed stream). Waiters wait for a mark. Two kinds of event:
 *
 *   rerecordable  every record makes a new mark; a wait takes the newest one at the time of the
 *                 call
 *   flag          (EventWithFlag and SYNC or EXTERNAL): one mark for life; record completes it,
 * reset makes it pending
 *
 * A record that a capture takes gets a mark of that graph, which its runs reach again and again
 * (graph.h, G3); the event has no state of its own until it is recorded outside. EXTERNAL events
 * are what graphs use to talk to the outside: captured or not, their one mark is meant.
 *
 * I1  A mark lives while its event, a task or a host waiter holds it.
 * I2  All of a mark's fields but `refs` are under its lock; wakes are sent after it is let go.
 * I3  A wait that stood in `waiting` when the mark was reached is over, even if the mark is reset
 *     before its stream looks.
 */
#ifndef HC_RUNTIME_EVENT_H
#define HC_RUNTIME_EVENT_H

#include <pthread.h>

#include "base/handle.h"
#include "base/list.h"
#include "runtime/runtime.h"

enum rt_mark_state { RT_MARK_PENDING, RT_MARK_DONE, RT_MARK_FAILED };

struct rt_mark {
    _Atomic uint32_t refs;
    _Atomic uint32_t state; /* enum rt_mark_state; written under `lock` */
    pthread_mutex_t lock;
    uint64_t time_ns;       /* when it was done */
    aclrtStream recorder;   /* failed: whose record was dropped */
    aclError why;           /* failed: the failure of that stream; 0: an abort, or its end */
    struct hc_list waiting; /* of rt_mark_wait.link: parked streams */
    uint64_t graph;         /* whose it is, a handle; 0: an event's own. Set once */
};

struct rt_event {
    aclrtEvent handle;
    uint32_t id;
    uint32_t flags;   /* ACL_EVENT_* */
    bool is_flag;     /* see above */
    bool starts_done; /* status before the first record */
    pthread_mutex_t lock;
    bool recorded;        /* under `lock` */
    struct rt_mark *mark; /* the newest, held; under `lock`; NULL: never recorded, not a flag */
    _Atomic(struct rt_mark *) captured; /* held; written under `lock`; NULL: the newest record was
                                         * not captured */
};

/* The newest mark, held; NULL: never recorded. */
struct rt_mark *rt_event_mark(struct rt_event *event);
void rt_mark_release(struct rt_mark *mark);

/* Pending again; nobody waits for it. */
void rt_mark_reset(struct rt_mark *mark);

/* ACL_ERROR_RT_EVENT_CAPTURED (logged): its newest record was captured, so there is nothing to ask
 * the event. A capture that goes on is invalid from now on. */
aclError rt_event_check(struct rt_event *event, const char *function);

aclError rt_event_create(uint32_t flags, bool is_flag, bool starts_done, aclrtEvent *handle);
bool rt_event_destroy(aclrtEvent handle);
uint32_t rt_event_num(void); /* those there are */
struct rt_event *rt_event_hold(aclrtEvent handle);
void rt_event_release(struct rt_event *event);

aclError rt_event_record(struct rt_event *event, struct rt_stream *stream);
aclError rt_event_reset(struct rt_event *event, struct rt_stream *stream);
aclError rt_event_wait(struct rt_event *event, struct rt_stream *stream, uint32_t timeout_s);

#endif
