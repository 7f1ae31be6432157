/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stream: a FIFO of tasks, as the scheduler sees it (inside this layer only).
 *
 * Pushers append under `push_lock`; one executor at a time, the one that moved `state` to RUNNING,
 * takes from the head without a lock.
 *
 * States:  IDLE -> READY (push) -> RUNNING (executor) -> IDLE | READY (batch used up) | PARKED
 *          PARKED -> READY (wake);  RUNNING -> WOKEN (wake while running: run the head again)
 *
 * I1  A stream in the ready queue or running is held by the scheduler.
 * I2  Push publishes `pushed` before it reads `state`; an executor publishes IDLE before it reads
 *     `pushed` again (both seq_cst). So a task never stays behind on an idle stream.
 * I3  A waiter registers before it reads `done`; an executor publishes `done` before it looks for
 *     waiters (seq_cst fence). So no waiter sleeps past its target.
 * I4  Only the owner of RUNNING touches the head, and whoever inspects a parked stream claims it
 *     by PARKED -> RUNNING first.
 * I5  Who makes a head's condition true does so before it reads `state` to wake; an owner publishes
 *     RUNNING before it looks at the condition (seq_cst fences). So a wake that finds the stream
 *     ready or running may leave it at that.
 * I6  `failing` says that `failure` is not 0; both change together, under fail_lock.
 * I7  A closed stream is not found by its number any more, so nobody could wake it: it never parks.
 *     Close publishes `closed` before it wakes; an owner reads it after RUNNING, as in I5.
 */
#ifndef HC_RUNTIME_STREAM_H
#define HC_RUNTIME_STREAM_H

#include <pthread.h>

#include "base/handle.h"
#include "base/list.h"
#include "runtime/context.h"
#include "runtime/runtime.h"

#define RT_CHUNK_TASKS 63

struct rt_chunk {
    _Atomic(struct rt_chunk *) next;
    uint64_t pad[7];
    struct rt_task tasks[RT_CHUNK_TASKS];
};

enum rt_state { RT_IDLE, RT_READY, RT_RUNNING, RT_WOKEN, RT_PARKED };

struct rt_stream {
    aclrtStream handle;
    uint32_t id; /* index in the stream table */
    uint32_t priority, flags;
    struct rt_context *context; /* held */

    pthread_mutex_t push_lock;        /* pushers; taken before no other lock */
    struct rt_chunk *tail;            /* under push_lock; NULL before the first push */
    uint32_t tail_slot;               /* under push_lock */
    _Atomic uint64_t pushed;          /* tasks queued so far; written under push_lock */
    _Atomic(struct rt_chunk *) spare; /* a used-up chunk; exchanged by both sides */

    struct rt_chunk *head;   /* I4; set by the first push while IDLE */
    uint32_t head_slot;      /* I4 */
    _Atomic uint64_t done;   /* tasks over; written by the owner, read by anyone */
    _Atomic uint32_t state;  /* enum rt_state */
    struct hc_list in_ready; /* under the scheduler's lock */

    _Atomic(struct rt_graph *) capture; /* graph.h, G2; NULL: none */
    uint32_t branch;                    /* of `capture`; as that */

    uint64_t deadline;          /* of the head task, 0: not set; I4 */
    _Atomic uint64_t wake_at;   /* parked: when the timer wakes it */
    _Atomic uint64_t parked_at; /* when the head began to wait, 0: it does not */
    bool stall_said;            /* the head's long wait has been reported; I4 */

    pthread_mutex_t fail_lock; /* protects the next three; no lock is taken under it */
    aclError failure;
    _Atomic aclError first_failure; /* of the stream's life; 0: none. Written under fail_lock */
    char failure_text[800];
    char label[96];
    atomic_bool failing; /* a failure waits to be collected: tasks are dropped, unless ...; I6 */
    atomic_bool goes_on; /* ... the program asked for failure mode continue; set once */
    _Atomic uint32_t aborting; /* aborts going on: tasks are dropped, pushes refused */
    atomic_bool closed;        /* as aborting, and for good; I7 */
    _Atomic uint64_t stop_at;  /* StreamStop: the task of this number is dropped when it waits */
    aclError condemned;        /* deadlock: fail the head with this; text in failure_text; I4 */
    _Atomic uint32_t core_limit[2]; /* aclrtSetStreamResLimit, by aclrtDevResLimitType; 0: none */

    pthread_mutex_t wait_lock; /* protects waiters; no lock is taken under it */
    struct hc_list waiters;    /* of struct rt_stream_waiter */
    _Atomic uint32_t waiter_num;
};

extern struct hc_table rt_stream_table;

/* Runs tasks of a stream this thread owns (RUNNING, held); gives up ownership. */
void rt_stream_run(struct rt_stream *stream);

/* As rt_stream_hold, for a stream of the calling thread's own context; ACL_ERROR_RT_STREAM_CONTEXT
 * (logged): it is another one's. */
aclError rt_stream_hold_mine(aclrtStream handle, struct rt_stream **stream);

/* Room for tasks, so that queueing them cannot fail for want of memory. */
struct rt_room {
    struct rt_chunk *chunks;
};
bool rt_room_make(struct rt_room *room, uint32_t num);
void rt_room_free(struct rt_room *room);

/* Queues `tasks` [num], for which there is room, together; no other task comes in between. As
 * rt_stream_enqueue, but if it fails the tasks are still the caller's. */
aclError rt_stream_enqueue_all(struct rt_stream *stream, const struct rt_task *tasks, uint32_t num,
                               struct rt_room *room);

/* Fails the stream with `code` unless it has failed, from any thread and without a message: that
 * has been logged elsewhere. Then wake it. No lock is taken but fail_lock. */
void rt_stream_cut(struct rt_stream *stream, aclError code, const char *text);

/* For drop(): the stream's failure is no more, and the tasks behind run. 0: there was none. */
aclError rt_stream_mend(struct rt_stream *stream, char *text, size_t len);

/* Wakes the waiters whose target is reached. */
void rt_stream_tell_waiters(struct rt_stream *stream);

/* Claims a parked stream for a look (true), and lets it go again. */
bool rt_stream_claim(struct rt_stream *stream);
void rt_stream_unclaim(struct rt_stream *stream);

/* Only while claimed: what the head task is. */
void rt_stream_describe_head(struct rt_stream *stream, char *text, size_t len);
const struct rt_task *rt_stream_head(struct rt_stream *stream);

/* "stream 12 (rank 3 of group)" */
void rt_stream_name(struct rt_stream *stream, char *text, size_t len);

/* As rt_stream_wake, for a stream that the caller holds, closed or not. */
void rt_stream_wake_held(struct rt_stream *stream);

/* Only while claimed: its head will fail with `code`. */
void rt_stream_condemn(struct rt_stream *stream, aclError code, const char *text);

/* The failure that makes the stream drop its tasks; 0: none (an abort, or not live). */
aclError rt_stream_why_dropping(aclrtStream handle);

/* As rt_stream_sync if a failure waits to be collected; success if none does, or it is not live. */
aclError rt_stream_collect(aclrtStream handle, int64_t timeout_ms);

/* Drops all that is queued and waits until that is done; then the stream works again. */
void rt_stream_abort(struct rt_stream *stream);

/* Drops the task that is the head now, if it waits or when it comes to wait. */
void rt_stream_stop_head(struct rt_stream *stream);

/* Ids of the last task the calling thread queued. */
void rt_stream_last_task(uint32_t *task, uint32_t *stream);

#endif
