/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sched: whoever waits drives.
 *
 * Ready streams stand in one queue. An executor is a thread in rt_wait_until (or in a stream's
 * synchronise), or a pool worker; it takes the first stream, runs a batch of its tasks, and so on
 * until its own condition holds or nothing is ready; then it sleeps on its own futex word.
 *
 * Who is woken when a stream becomes ready: nobody while the executors that are active can be
 * expected to take it; else a sleeping waiter, else a sleeping worker, else a new worker. A worker
 * that ran out of work naps for NAP_NS a few times before it sleeps for good, and a nap is not
 * disturbed: whoever queues many tasks and does not wait pays for no wake per task, and finds them
 * run in batches. Only tasks that nobody waits for are late by a nap. Who wakes up while others do
 * what there is naps on, longer each time (naps_on()): it would only take their turn, on one core
 * even the core, and have them wait for what they could have done themselves. Whenever it finds
 * something to do its naps are short again.
 *
 * Where other processes may make streams ready, an executor spins for a moment before it sleeps
 * (spin.c). Meanwhile it is active, and it looks at the queue again afterwards, as I1 wants.
 *
 * I1  `active` counts executors that will look at the queue again before they sleep; it changes
 *     under the lock together with the check of the queue. Who wakes an executor counts it.
 * I2  An executor clears its signal before it evaluates its condition; who makes the condition
 *     true sets the signal afterwards. So no wake is lost.
 * I3  An executor is its thread's own memory, and a thread may end as soon as its wait is over. So
 *     its signal is set under a lock that it takes before it goes: the scheduler's, by whoever
 *     takes it out of `idle`; that of its list of waiters, by others. The futex is then woken by
 *     address alone.
 * I4  A thread that waits from inside a task (a callback does) is active twice, and the outer time
 *     counts as a long task: nobody relies on it.
 */
#define _GNU_SOURCE
#include "runtime/sched.h"

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/futex.h"
#include "base/knobs.h"
#include "base/log.h"
#include "base/thread.h"
#include "runtime/stream.h"
#include "runtime/timer.h"

#define NAP_NS 50000u
#define NAP_MOST_NS 1600000u /* where others do what there is */
#define FED_NAPS 3           /* while a thread goes on queueing; then it seems not to wait soon */
#define NAPS 20              /* without work, before a worker sleeps for good */

static struct {
    pthread_mutex_t lock;         /* protects all but `progress` */
    struct hc_list ready;         /* of rt_stream.in_ready */
    _Atomic uint32_t ready_num;   /* written under the lock; read without it by those who spin */
    uint32_t active;              /* I1 */
    uint32_t long_num;            /* active ones that are inside a long task */
    struct hc_list idle;          /* of rt_executor.idle: waiters in front, workers behind */
    uint32_t naps;                /* workers in `idle` that nap */
    const struct rt_stream *head; /* the first in `ready` at the end of the last nap, or NULL ... */
    uint64_t head_pushed;         /* ... and what had been pushed on it */
    uint32_t fed_naps;            /* naps in a row that is_being_fed() made longer */
    struct hc_list registered;    /* of rt_executor.registered */
    uint32_t workers, workers_most, cores;
    bool is_set_up;
    _Atomic uint64_t progress; /* streams run so far; relaxed */
} sched = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .ready = {&sched.ready, &sched.ready},
    .idle = {&sched.idle, &sched.idle},
    .registered = {&sched.registered, &sched.registered},
};

static pthread_mutex_t poke_lock = PTHREAD_MUTEX_INITIALIZER;
static struct hc_list poke_list = {&poke_list, &poke_list}; /* of rt_executor.poked; poke_lock */

static _Thread_local struct rt_executor self;

struct rt_executor *
rt_sched_self(void)
{
    return &self;
}

void
rt_sched_signal(struct rt_executor *executor)
{
    atomic_store(&executor->signal, 1);
    hc_futex_wake(&executor->signal, 1);
}

bool
rt_sched_any_ready(void)
{
    return atomic_load_explicit(&sched.ready_num, memory_order_relaxed) != 0;
}

uint32_t
rt_sched_cores(void)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
    return (uint32_t)CPU_COUNT(&set);
}

static void
set_up(void)
{
    int64_t asked;

    (void)hc_knob_int(KNOB_WORKERS,
                      &asked); /* an invalid value has been logged; the default holds */
    sched.cores = rt_sched_cores();
    sched.workers_most = asked > 0 ? (uint32_t)asked : (sched.cores > 4 ? 4 : sched.cores);
    sched.is_set_up = true;
}

/* ---- the queue ---- */

static void *worker_main(void *arg);
static struct rt_executor *choose_executor(bool *start);

/* A worker more, already counted under the lock. It is not joined: it ends with the process. */
static void
worker_start(void)
{
    struct rt_executor *executor;
    int rc = hc_thread_start(worker_main, NULL);

    if (rc == 0)
        return;
    LOG_WARN(RT, "cannot start a pool worker (error %d): tasks run only while a thread waits", rc);
    pthread_mutex_lock(&sched.lock);
    sched.workers--;
    sched.active--;
    executor = choose_executor(NULL); /* who went to sleep meanwhile relied on the new one */
    pthread_mutex_unlock(&sched.lock);
    if (executor != NULL)
        hc_futex_wake(&executor->signal, 1); /* I3 */
}

/* Under the lock. */
static uint32_t
ready_num(void)
{
    return atomic_load_explicit(&sched.ready_num, memory_order_relaxed);
}

static void
count_ready(uint32_t delta)
{
    atomic_store_explicit(&sched.ready_num, ready_num() + delta, memory_order_relaxed);
}

/* Under the lock: a sleeper that may be disturbed, taken out and signalled; NULL: none. */
static struct rt_executor *
take_sleeper(void)
{
    HC_LIST_EACH (node, &sched.idle) {
        struct rt_executor *executor = HC_CONTAINER(node, struct rt_executor, idle);

        if (executor->naps)
            continue;
        if (executor->worker && sched.naps > 0 && sched.active == 0)
            return NULL; /* the one who naps will come */
        hc_list_remove(node);
        atomic_store(&executor->signal, 1); /* I3 */
        return executor;
    }
    return NULL;
}

/* Under the lock: whom to wake for what is ready; counts him active. *start: a new worker; NULL:
 * there will be none. */
static struct rt_executor *
choose_executor(bool *start)
{
    struct rt_executor *executor;
    uint32_t ready = ready_num();

    if (ready == 0 || sched.active >= sched.cores + sched.long_num)
        return NULL;
    if (sched.active > sched.long_num && ready <= sched.active - sched.long_num)
        return NULL;
    executor = take_sleeper();
    if (executor != NULL) {
        sched.active++;
        return executor;
    }
    if (start != NULL && sched.workers < sched.workers_most &&
        (sched.naps == 0 || sched.active > 0)) {
        sched.workers++;
        sched.active++;
        *start = true;
    }
    return NULL;
}

static void
unlock_and_wake(void)
{
    bool start = false;
    struct rt_executor *executor = choose_executor(&start);

    pthread_mutex_unlock(&sched.lock);
    if (executor != NULL)
        hc_futex_wake(&executor->signal, 1); /* I3 */
    else if (start)
        worker_start();
}

void
rt_sched_enqueue(struct rt_stream *stream)
{
    pthread_mutex_lock(&sched.lock);
    if (!sched.is_set_up)
        set_up();
    hc_list_push_back(&sched.ready, &stream->in_ready);
    count_ready(1);
    unlock_and_wake();
}

/* The first ready stream, ours to run; NULL: none. */
static struct rt_stream *
dequeue(void)
{
    struct rt_stream *stream = NULL;
    struct hc_list *node;

    pthread_mutex_lock(&sched.lock);
    node = hc_list_pop_front(&sched.ready);
    if (node != NULL) {
        count_ready(-1u);
        stream = HC_CONTAINER(node, struct rt_stream, in_ready);
        atomic_store(&stream->state, RT_RUNNING);
    }
    unlock_and_wake(); /* what is still ready may be worth another executor */
    return stream;
}

static bool
run_one(void)
{
    struct rt_stream *stream = dequeue();

    if (stream == NULL)
        return false;
    self.spin.tired = false;
    atomic_fetch_add_explicit(&sched.progress, 1, memory_order_relaxed);
    rt_stream_run(stream);
    rt_stream_release(stream);
    return true;
}

void
rt_sched_long_begin(void)
{
    pthread_mutex_lock(&sched.lock);
    sched.long_num++;
    unlock_and_wake();
}

void
rt_sched_long_end(void)
{
    pthread_mutex_lock(&sched.lock);
    sched.long_num--;
    pthread_mutex_unlock(&sched.lock);
}

/* ---- driving ---- */

/* Active no more: joins the sleepers unless something is ready. */
static bool
go_to_sleep(struct rt_executor *me, bool naps)
{
    bool sleeps;

    pthread_mutex_lock(&sched.lock);
    sleeps = ready_num() == 0;
    if (sleeps) {
        sched.active--;
        me->naps = naps;
        sched.naps += naps;
        if (me->worker)
            hc_list_push_back(&sched.idle, &me->idle);
        else
            hc_list_push_front(&sched.idle, &me->idle);
    }
    pthread_mutex_unlock(&sched.lock);
    return sleeps;
}

/* Active again: by ourselves, or counted already by who woke us. */
static void
wake_up(struct rt_executor *me)
{
    pthread_mutex_lock(&sched.lock);
    if (hc_list_linked(&me->idle)) {
        hc_list_remove(&me->idle);
        sched.active++;
    }
    sched.naps -= me->naps;
    me->naps = false;
    pthread_mutex_unlock(&sched.lock);
}

/* Under the lock. */
static void
register_self(struct rt_executor *me)
{
    if (me->tid == 0)
        me->tid = (int)syscall(SYS_gettid);
    hc_list_push_back(&sched.registered, &me->registered);
}

static void
become_active(struct rt_executor *me)
{
    pthread_mutex_lock(&sched.lock);
    if (!sched.is_set_up)
        set_up();
    sched.active++;
    if (me->depth++ > 0)
        sched.long_num++; /* I4 */
    if (!hc_list_linked(&me->registered))
        register_self(me);
    atomic_store(&me->drives, true);
    pthread_mutex_unlock(&sched.lock);
}

/* Leaves; what is ready goes to somebody else. */
static void
become_passive(struct rt_executor *me)
{
    pthread_mutex_lock(&sched.lock);
    sched.active--;
    if (--me->depth > 0)
        sched.long_num--; /* I4 */
    else if (!me->ours)
        hc_list_remove(&me->registered);
    atomic_store(&me->drives, me->depth > me->worker);
    unlock_and_wake();
}

/* Asleep in `idle`, until signalled or `deadline_ns`. */
static void
doze(struct rt_executor *me, uint64_t deadline_ns)
{
    uint64_t until = rt_timer_stand_in();
    uint64_t since = me->spin.tired ? hc_now_ns() : 0;

    hc_futex_wait(&me->signal, 0, until < deadline_ns ? until : deadline_ns);
    if (me->spin.tired)
        rt_spin_rested(&me->spin, hc_now_ns() - since);
}

bool
rt_sched_drive(bool (*done)(void *arg), void *arg, uint64_t deadline_ns)
{
    struct rt_executor *me = &self;
    bool outer = atomic_load_explicit(&me->untimed, memory_order_relaxed), good;

    rt_block_begin();
    atomic_store(&me->untimed, deadline_ns == HC_FOREVER);
    become_active(me);
    for (;;) {
        atomic_store(&me->signal, 0); /* I2 */
        good = done(arg);
        if (good || (deadline_ns != HC_FOREVER && hc_now_ns() >= deadline_ns))
            break;
        if (run_one() || rt_spin_idle() || !go_to_sleep(me, false))
            continue;
        doze(me, deadline_ns);
        wake_up(me);
    }
    become_passive(me);
    atomic_store(&me->untimed, outer);
    rt_block_end();
    return good;
}

/* Under the lock: the only core has a thread that has queued more since the last nap. It will wait
 * before long, and drive then. */
static bool
is_being_fed(void)
{
    const struct rt_stream *head = hc_list_empty(&sched.ready)
                                       ? NULL
                                       : HC_CONTAINER(sched.ready.next, struct rt_stream, in_ready);
    uint64_t pushed = head == NULL ? 0 : atomic_load(&head->pushed);
    bool grew = head != NULL && (head != sched.head || pushed != sched.head_pushed);

    sched.head = head;
    sched.head_pushed = pushed;
    sched.fed_naps = grew && sched.fed_naps < FED_NAPS ? sched.fed_naps + 1 : 0;
    return sched.cores == 1 && sched.fed_naps > 0;
}

/* Under the lock: a thread of the program is in a wait, and so drives. */
static bool
is_driven(void)
{
    return sched.active > 0 || (!hc_list_empty(&sched.idle) &&
                                !HC_CONTAINER(sched.idle.next, struct rt_executor, idle)->worker);
}

/* A worker's nap is over. true: unless it was woken, it naps on: there is nothing to do, or others
 * do it. In that case longer, so a program that always waits is hardly disturbed by it. */
static bool
naps_on(struct rt_executor *me)
{
    bool on, driven;

    pthread_mutex_lock(&sched.lock);
    on = hc_list_linked(&me->idle) &&
         (ready_num() == 0 || sched.active >= sched.cores + sched.long_num || is_being_fed());
    driven = is_driven();
    pthread_mutex_unlock(&sched.lock);
    if (!driven)
        me->nap_ns = NAP_NS;
    else if (on)
        me->nap_ns = me->nap_ns < NAP_MOST_NS ? me->nap_ns * 2 : NAP_MOST_NS;
    return on;
}

static void *
worker_main(void *arg)
{
    struct rt_executor *me = &self;
    int naps_left = NAPS;

    (void)arg;
    me->worker = true;
    me->depth = 1;
    me->nap_ns = NAP_NS;
    rt_sched_ours_begin();
    for (;;) { /* active from the start: who started us counted us */
        bool naps = naps_left > 0;

        atomic_store(&me->signal, 0);
        if (run_one()) {
            naps_left = NAPS;
            me->nap_ns = NAP_NS;
            continue;
        }
        if ((naps_left == NAPS && rt_spin_idle()) || !go_to_sleep(me, naps))
            continue;
        rt_sched_ours_idle(true);
        do {
            doze(me, naps ? hc_now_ns() + me->nap_ns : HC_FOREVER);
            naps_left = naps ? naps_left - 1 : NAPS;
        } while (naps && naps_left > 0 && naps_on(me));
        rt_sched_ours_idle(false);
        wake_up(me);
    }
    return NULL;
}

bool
rt_wait_until(bool (*done)(void *arg), void *arg, uint64_t deadline_ns)
{
    struct rt_executor *me = &self;
    bool outermost = !hc_list_linked(&me->poked), good;

    if (outermost) { /* I4 */
        pthread_mutex_lock(&poke_lock);
        hc_list_push_back(&poke_list, &me->poked);
        pthread_mutex_unlock(&poke_lock);
    }
    good = rt_sched_drive(done, arg, deadline_ns);
    if (outermost) {
        pthread_mutex_lock(&poke_lock);
        hc_list_remove(&me->poked);
        pthread_mutex_unlock(&poke_lock);
    }
    return good;
}

void
rt_waiters_poke(void)
{
    pthread_mutex_lock(&poke_lock);
    HC_LIST_EACH (node, &poke_list)
        rt_sched_signal(HC_CONTAINER(node, struct rt_executor, poked));
    pthread_mutex_unlock(&poke_lock);
}

bool
rt_sched_quiet(uint64_t *progress)
{
    bool quiet;

    pthread_mutex_lock(&sched.lock);
    quiet = sched.active == 0 && ready_num() == 0;
    *progress = atomic_load_explicit(&sched.progress, memory_order_relaxed);
    pthread_mutex_unlock(&sched.lock);
    return quiet;
}

/* ---- what threads do, for the deadlock proof ---- */

void
rt_sched_ours_begin(void)
{
    pthread_mutex_lock(&sched.lock);
    self.ours = true;
    register_self(&self);
    pthread_mutex_unlock(&sched.lock);
}

void
rt_sched_ours_end(void)
{
    pthread_mutex_lock(&sched.lock);
    hc_list_remove(&self.registered);
    pthread_mutex_unlock(&sched.lock);
}

void
rt_sched_ours_idle(bool idle)
{
    atomic_store_explicit(&self.ours_idle, idle, memory_order_relaxed);
}

enum rt_thread_state
rt_sched_thread_state(int tid)
{
    enum rt_thread_state state = RT_THREAD_STRANGE;

    pthread_mutex_lock(&sched.lock);
    HC_LIST_EACH (node, &sched.registered) {
        struct rt_executor *executor = HC_CONTAINER(node, struct rt_executor, registered);

        if (executor->tid != tid)
            continue;
        if (atomic_load(&executor->drives))
            state = atomic_load(&executor->untimed) ? RT_THREAD_WAITS : RT_THREAD_WAITS_TIMED;
        else
            state = atomic_load(&executor->ours_idle) ? RT_THREAD_IDLE : RT_THREAD_BUSY;
    }
    pthread_mutex_unlock(&sched.lock);
    return state;
}
