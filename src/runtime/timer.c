/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * timer: one thread, started when the first stream parks, asleep while nothing is parked.
 *
 * It does not keep a list of deadlines: parking and waking are far more frequent than expiring.
 * It plans one look (`next`), at which it goes through the streams, wakes those whose deadline has
 * passed and plans the next look. Parking costs one comparison unless its deadline is earlier than
 * the planned look.
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

static _Atomic uint64_t next = HC_FOREVER; /* when the next look is planned */
static _Atomic uint32_t poked;             /* futex word: 1 when `next` was moved forward */
static pthread_once_t started = PTHREAD_ONCE_INIT;

/* One look at every stream; when the next is due. */
static uint64_t
look(uint64_t now)
{
    uint32_t num = atomic_load(&rt_stream_table.used);
    uint64_t due = HC_FOREVER;
    uint32_t parked = 0;

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
    rt_stall_look(now);
    return due < now + RT_STALL_LOOK_NS ? due : now + RT_STALL_LOOK_NS;
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
        uint64_t due, jobs;

        if (at > now) {
            hc_futex_wait(&poked, 0, at);
            atomic_store(&poked, 0);
            continue;
        }
        atomic_store(&next, HC_FOREVER); /* I1: from here on, parkers plan looks themselves */
        due = look(now);
        jobs = rt_aicpu_look(now);
        rt_timer_arm(due < jobs ? due : jobs);
    }
    return NULL;
}

static void
start(void)
{
    if (hc_thread_start(timer_main, NULL) != 0)
        LOG_ERROR(RT, "cannot start the timer thread: waits will not time out; raise the limit of "
                      "threads (ulimit -u)");
}

void
rt_timer_arm(uint64_t at_ns)
{
    uint64_t planned = atomic_load(&next); /* I1 */

    do {
        if (planned <= at_ns)
            return;
    } while (!atomic_compare_exchange_weak(&next, &planned, at_ns));
    (void)pthread_once(&started, start);
    atomic_store(&poked, 1);
    hc_futex_wake(&poked, 1);
}
