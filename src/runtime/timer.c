/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * timer: one thread, started when the first stream parks, asleep while nothing is parked.
 *
 * It does not keep a list of deadlines: parking and waking are far more frequent than expiring.
 * It plans one look (`next`), at which it goes through the streams, wakes those whose deadline has
 * passed and plans the next look. Parking costs one comparison unless its deadline is earlier than
 * the planned look.
 *
 * A system may refuse the thread. Then it is asked for again from time to time, and meanwhile the
 * executors stand in: those that have nothing to run look before they sleep, and sleep briefly.
 *
 * I1  Whoever parks publishes the stream's state before it reads `next`; the timer publishes `next`
 *     before it looks at the states (both seq_cst). So a parked stream is always seen in time.
 */
#include "runtime/timer.h"

#include <pthread.h>

#include "base/clock.h"
#include "base/futex.h"
#include "base/log.h"
#include "base/thread.h"
#include "runtime/aicpu.h"
#include "runtime/sched.h"
#include "runtime/stall.h"
#include "runtime/stream.h"

#define RETRY_NS 1000000000u  /* between attempts to start the thread */
#define STAND_IN_NS 50000000u /* longest sleep of who stands in */

static _Atomic uint64_t next = HC_FOREVER; /* when the next look is planned */
static _Atomic uint32_t poked;             /* futex word: 1 when `next` was moved forward */
static pthread_mutex_t look_lock = PTHREAD_MUTEX_INITIALIZER;  /* one look at a time */
static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER; /* one start at a time */
static atomic_bool runs;                                       /* written under start_lock */
static atomic_bool missing; /* it could not be started; written under start_lock */

/* One look at every stream; when the next is due. */
static uint64_t
look(uint64_t now)
{
    uint32_t num = atomic_load(&rt_stream_table.used);
    uint64_t due = HC_FOREVER;
    uint32_t parked = 0;

    rt_stall_look(now); /* before those that are due are woken: it looks at parked ones */
    for (uint32_t id = 0; id < num; id++) {
        struct rt_stream *stream = hc_handle_hold_index(&rt_stream_table, id);
        uint64_t wake_at;

        if (stream == NULL)
            continue;
        if (atomic_load(&stream->state) == RT_PARKED) {
            parked++;
            wake_at = atomic_load_explicit(&stream->wake_at, memory_order_relaxed);
            if (wake_at <= now)
                rt_stream_wake(id);
            else if (wake_at < due)
                due = wake_at;
        }
        rt_stream_release(stream);
    }
    if (parked == 0)
        return HC_FOREVER;
    return due < now + RT_STALL_LOOK_NS ? due : now + RT_STALL_LOOK_NS;
}

/* The look that is due. Under look_lock. */
static void
look_now(uint64_t now)
{
    uint64_t due, jobs;

    atomic_store(&next, HC_FOREVER); /* I1: from here on, parkers plan looks themselves */
    due = look(now);
    jobs = rt_aicpu_look(now);
    rt_timer_arm(due < jobs ? due : jobs);
}

static void *
timer_main(void *arg)
{
    (void)arg;
    rt_sched_ours_begin();
    rt_sched_ours_idle(true);
    for (;;) {
        uint64_t at = atomic_load(&next);
        uint64_t now = hc_now_ns();

        if (at > now) {
            hc_futex_wait(&poked, 0, at);
            atomic_store(&poked, 0);
            continue;
        }
        pthread_mutex_lock(&look_lock);
        look_now(now);
        pthread_mutex_unlock(&look_lock);
    }
    return NULL;
}

static void
start(void)
{
    static bool said;         /* these two under start_lock */
    static uint64_t next_try; /* ns */
    uint64_t now = hc_now_ns();
    bool say = false;

    if (pthread_mutex_trylock(&start_lock) != 0)
        return; /* somebody is at it */
    if (!atomic_load(&runs) && now >= next_try) {
        atomic_store(&runs, hc_thread_start(timer_main, NULL) == 0);
        atomic_store(&missing, !atomic_load(&runs));
        next_try = now + RETRY_NS;
        say = atomic_load(&missing) && !said;
        said = said || say;
    }
    pthread_mutex_unlock(&start_lock);
    if (say)
        LOG_WARN(RT, "cannot start the timer thread: waits time out only while a thread waits; "
                     "raise the limit of threads (ulimit -u)");
}

uint64_t
rt_timer_stand_in(void)
{
    uint64_t now, until;

    if (!atomic_load_explicit(&missing, memory_order_relaxed))
        return HC_FOREVER;
    now = hc_now_ns();
    if (atomic_load(&next) <= now && pthread_mutex_trylock(&look_lock) == 0) {
        look_now(now);
        pthread_mutex_unlock(&look_lock);
    }
    until = atomic_load(&next);
    return until < now + STAND_IN_NS ? until : now + STAND_IN_NS;
}

void
rt_timer_arm(uint64_t at_ns)
{
    uint64_t planned = atomic_load(&next); /* I1 */

    do {
        if (planned <= at_ns)
            return;
    } while (!atomic_compare_exchange_weak(&next, &planned, at_ns));
    if (!atomic_load(&runs))
        start();
    atomic_store(&poked, 1);
    hc_futex_wake(&poked, 1);
}
