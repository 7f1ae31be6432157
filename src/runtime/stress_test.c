/* SPDX-License-Identifier: BSD-3-Clause */
/* Races between those who push, wait, wake, stop, abort and destroy, provoked by random pauses. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "acl/acl_rt.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "runtime/context.h"
#include "runtime/stream.h"
#include "tests/support/test.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ROUNDS(n) ((n) / 8)
#else
#define ROUNDS(n) (n)
#endif

static _Thread_local uint32_t seed;

static uint32_t
chance(void)
{
    if (seed == 0)
        seed = (uint32_t)(uintptr_t)&seed ^ (uint32_t)hc_now_ns() ^ 0x9E3779B9u;
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed >> 8;
}

/* Most often nothing, sometimes the other threads' turn, rarely a little sleep. */
static void
jitter(void)
{
    uint32_t what = chance() % 64;

    if (what < 12)
        sched_yield();
    else if (what < 14)
        usleep(chance() % 60);
    else if (what < 40)
        for (volatile uint32_t i = chance() % 400; i > 0; i--)
            ;
}

static aclrtStream
new_stream(void)
{
    aclrtStream stream = NULL;

    EXPECT_EQ(ACL_SUCCESS, aclrtCreateStream(&stream));
    return stream;
}

static pthread_t
spawn(void *(*fn)(void *arg), void *arg)
{
    pthread_t thread;

    EXPECT_EQ(0, pthread_create(&thread, NULL, fn, arg));
    return thread;
}

static void
join(pthread_t thread)
{
    EXPECT_EQ(0, pthread_join(thread, NULL));
}

static struct rt_stream *
hold(aclrtStream handle)
{
    struct rt_stream *stream = NULL;

    EXPECT_EQ(ACL_SUCCESS, rt_stream_hold(handle, &stream));
    return stream;
}

/* ---- tasks ---- */

static atomic_bool gate, halt;
static _Atomic uint32_t ran_num, drop_num, push_num;

static enum rt_step
count_run(struct rt_stream *stream, struct rt_task *task)
{
    (void)stream;
    (void)task;
    atomic_fetch_add(&ran_num, 1);
    return RT_STEP_DONE;
}

static enum rt_step
gate_run(struct rt_stream *stream, struct rt_task *task)
{
    (void)stream;
    if (!atomic_load_explicit(&gate, memory_order_acquire))
        return RT_STEP_PARKED;
    task->u.word[0] = 1;
    return RT_STEP_DONE;
}

static enum rt_step
shut_run(struct rt_stream *stream, struct rt_task *task)
{
    (void)stream;
    (void)task;
    return RT_STEP_PARKED;
}

static enum rt_step
fail_run(struct rt_stream *stream, struct rt_task *task)
{
    (void)task;
    return rt_stream_fail(stream, ACL_ERROR_RT_AICPU_EXCEPTION, "the test wants it");
}

static void
count_drop(struct rt_task *task, bool ran)
{
    (void)task;
    (void)ran;
    atomic_fetch_add(&drop_num, 1);
}

static void
gate_drop(struct rt_task *task, bool ran)
{
    (void)ran;
    if (task->u.word[0] == 1)
        atomic_fetch_add(&ran_num, 1);
}

static const struct rt_task_ops count_ops = {.name = "count", .run = count_run, .drop = count_drop};
static const struct rt_task_ops gate_ops = {.name = "gate", .run = gate_run, .drop = gate_drop};
static const struct rt_task_ops shut_ops = {.name = "shut", .run = shut_run, .drop = count_drop};
static const struct rt_task_ops fail_ops = {.name = "fail", .run = fail_run, .drop = count_drop};

static aclError
push(struct rt_stream *stream, const struct rt_task_ops *ops)
{
    struct rt_task task = {.ops = ops};

    return rt_stream_push(stream, &task);
}

/* ---- waking ---- */

#define RING 8u

static struct ring {
    struct rt_stream *stream[RING];
    struct rt_notify *notify[RING];
    uint32_t rounds;
} ring;

/* Every stream waits for its notify and records the next one's. */
static void *
push_ring(void *arg)
{
    uint32_t own = (uint32_t)(uintptr_t)arg;
    struct rt_task task;

    for (uint32_t i = 0; i < ring.rounds; i++) {
        rt_task_notify_wait(&task, ring.notify[own], 600);
        if (rt_stream_push(ring.stream[own], &task) != ACL_SUCCESS)
            abort();
        jitter();
        rt_task_notify_record(&task, ring.notify[(own + 1) % RING]);
        if (rt_stream_push(ring.stream[own], &task) != ACL_SUCCESS)
            abort();
        if (chance() % 16 == 0 && rt_stream_sync(ring.stream[own], 0) == ACL_SUCCESS)
            jitter();
    }
    return NULL;
}

/* Wakes that mean nothing, and looks at what is parked. */
static void *
disturb(void *arg)
{
    (void)arg;
    while (!atomic_load(&halt)) {
        struct rt_stream *stream = ring.stream[chance() % RING];

        if (chance() % 4 == 0 && rt_stream_claim(stream)) {
            jitter();
            rt_stream_unclaim(stream);
        }
        rt_stream_wake(chance() % (RING + 4));
        if (chance() % 32 == 0)
            rt_waiters_poke();
        jitter();
    }
    return NULL;
}

TEST(a_ring_of_notifies_loses_no_wake)
{
    struct rt_notify_origin origin = {.what = "notify of the ring"};
    aclrtStream handles[RING];
    pthread_t threads[RING + 1];

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    ring.rounds = ROUNDS(4000);
    for (uint32_t i = 0; i < RING; i++) {
        handles[i] = new_stream();
        ring.stream[i] = hold(handles[i]);
        EXPECT_EQ(ACL_SUCCESS, rt_notify_create(0, &origin, &ring.notify[i]));
    }
    threads[RING] = spawn(disturb, NULL);
    for (uint32_t i = 0; i < RING; i++)
        threads[i] = spawn(push_ring, (void *)(uintptr_t)i);
    rt_notify_record(ring.notify[0]);
    for (uint32_t i = 0; i < RING; i++)
        join(threads[i]);
    for (uint32_t i = 0; i < RING; i++)
        EXPECT_EQ(ACL_SUCCESS, rt_stream_sync(ring.stream[i], -1));
    atomic_store(&halt, true);
    join(threads[RING]);
    for (uint32_t i = 0; i < RING; i++) {
        EXPECT_EQ(i == 0, rt_notify_take(ring.notify[i]));
        rt_notify_destroy(ring.notify[i]);
        rt_stream_release(ring.stream[i]);
        EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(handles[i]));
    }
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
}

/* A waiting thread that ends, its stack unmapped, the moment its time is over. */
static void *
wait_briefly(void *stream)
{
    (void)rt_stream_sync(stream, (int64_t)(chance() % 2));
    return NULL;
}

static void *
push_and_wait(void *stream)
{
    while (!atomic_load(&halt)) {
        if (push(stream, &count_ops) != ACL_SUCCESS)
            abort();
        atomic_fetch_add(&push_num, 1);
        jitter();
    }
    return NULL;
}

TEST(threads_may_end_while_they_are_being_woken)
{
    pthread_attr_t attr;
    pthread_t pusher[2], waiter[8];

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    aclrtStream busy = new_stream(), shut = new_stream();
    struct rt_stream *on = hold(busy), *never = hold(shut);

    EXPECT_EQ(ACL_SUCCESS, push(never, &shut_ops));
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 64u << 20);
    for (int i = 0; i < 2; i++)
        pusher[i] = spawn(push_and_wait, on);
    for (uint32_t i = 0; i < ROUNDS(400); i++) {
        for (int k = 0; k < 8; k++)
            EXPECT_EQ(0, pthread_create(&waiter[k], &attr, wait_briefly, never));
        for (int k = 0; k < 8; k++)
            join(waiter[k]);
    }
    atomic_store(&halt, true);
    for (int i = 0; i < 2; i++)
        join(pusher[i]);
    pthread_attr_destroy(&attr);
    EXPECT_EQ(ACL_SUCCESS, rt_stream_sync(on, -1));
    EXPECT_EQ(atomic_load(&push_num), atomic_load(&ran_num));
    rt_stream_release(on);
    rt_stream_release(never);
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(busy));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStreamForce(shut));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
}

TEST(a_wait_that_was_reached_is_over_even_if_the_event_is_reset_at_once)
{
    aclrtEvent event = NULL;

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    aclrtStream waits = new_stream(), records = new_stream();
    struct rt_stream *held = hold(records);

    EXPECT_EQ(ACL_SUCCESS, aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC));
    for (uint32_t i = 0; i < ROUNDS(200); i++) {
        EXPECT_EQ(ACL_SUCCESS, aclrtStreamWaitEvent(waits, event));
        EXPECT_EQ(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(waits, 1));
        EXPECT_EQ(ACL_SUCCESS, aclrtRecordEvent(event, records));
        EXPECT_EQ(ACL_SUCCESS, aclrtResetEvent(event, records));
        EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStreamWithTimeout(waits, 20000));
    }
    rt_stream_release(held);
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyEvent(event));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(waits));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(records));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
}

/* Events that are destroyed while streams and threads wait for them. */
static void *
use_events(void *arg)
{
    aclrtStream mine = NULL, other = NULL;
    aclrtEvent event = NULL;

    (void)arg;
    if (aclrtSetDevice(0) != 0 || aclrtCreateStream(&mine) != 0 || aclrtCreateStream(&other) != 0)
        abort();
    for (uint32_t i = 0; i < ROUNDS(1500); i++) {
        if (aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC) != 0 ||
            aclrtStreamWaitEvent(other, event) != 0)
            abort();
        jitter();
        if (aclrtRecordEvent(event, mine) != 0)
            abort();
        jitter();
        if ((chance() % 2 == 0 && aclrtSynchronizeEvent(event) != 0) ||
            aclrtDestroyEvent(event) != 0)
            abort();
    }
    if (aclrtSynchronizeStream(other) != 0 || aclrtDestroyStream(mine) != 0 ||
        aclrtDestroyStream(other) != 0 || aclrtResetDevice(0) != 0)
        abort();
    return NULL;
}

TEST(events_may_be_destroyed_while_they_are_waited_for)
{
    pthread_t threads[3];

    for (int i = 0; i < 3; i++)
        threads[i] = spawn(use_events, NULL);
    for (int i = 0; i < 3; i++)
        join(threads[i]);
}

/* ---- stop, fail, abort, destroy ---- */

static void *
stop_it(void *stream)
{
    jitter();
    rt_stream_stop_head(stream);
    return NULL;
}

TEST(a_stop_never_cuts_off_what_was_queued_after_it)
{
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    aclrtStream handle = new_stream();
    struct rt_stream *stream = hold(handle);

    for (uint32_t i = 0; i < ROUNDS(3000); i++) {
        pthread_t stopper;
        uint32_t before;

        atomic_store(&gate, false);
        EXPECT_EQ(ACL_SUCCESS, push(stream, &gate_ops));
        stopper = spawn(stop_it, stream);
        jitter();
        atomic_store(&gate, true);
        rt_stream_wake(rt_stream_id(stream));
        join(stopper);
        EXPECT_EQ(ACL_SUCCESS, rt_stream_sync(stream, -1));
        before = atomic_load(&ran_num);
        atomic_store(&gate, false);
        EXPECT_EQ(ACL_SUCCESS, push(stream, &gate_ops));
        (void)rt_stream_sync(stream, 0);
        atomic_store(&gate, true);
        rt_stream_wake(rt_stream_id(stream));
        EXPECT_EQ(ACL_SUCCESS, rt_stream_sync(stream, -1));
        EXPECT_EQ(before + 1, atomic_load(&ran_num));
    }
    rt_stream_release(stream);
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(handle));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
}

TEST(a_stop_finds_its_task_while_somebody_looks_at_it)
{
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    aclrtStream handle = new_stream();
    struct rt_stream *stream = hold(handle);

    EXPECT_EQ(ACL_SUCCESS, push(stream, &shut_ops));
    while (!rt_stream_claim(stream))
        sched_yield();
    rt_stream_stop_head(stream);
    rt_stream_unclaim(stream);
    EXPECT_EQ(ACL_SUCCESS, rt_stream_sync(stream, 20000));
    EXPECT_EQ(1, atomic_load(&drop_num));
    rt_stream_release(stream);
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(handle));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
}

static void *
collect(void *stream)
{
    while (!atomic_load(&halt))
        (void)rt_stream_sync(stream, -1);
    return NULL;
}

TEST(a_failure_is_collected_whole_or_not_at_all)
{
    pthread_t collectors[3];
    uint32_t pushed = 0;

    test_allow_errors();
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    aclrtStream handle = new_stream();
    struct rt_stream *stream = hold(handle);

    for (int i = 0; i < 3; i++)
        collectors[i] = spawn(collect, stream);
    for (; pushed < ROUNDS(30000); pushed++)
        EXPECT_EQ(ACL_SUCCESS, push(stream, &fail_ops));
    atomic_store(&halt, true);
    for (int i = 0; i < 3; i++)
        join(collectors[i]);
    while (rt_stream_sync(stream, -1) != ACL_SUCCESS)
        ;
    EXPECT_EQ(ACL_SUCCESS, push(stream, &count_ops));
    EXPECT_EQ(ACL_SUCCESS, rt_stream_sync(stream, -1));
    EXPECT_EQ(1, atomic_load(&ran_num));
    EXPECT_EQ(pushed + 1, atomic_load(&drop_num));
    rt_stream_release(stream);
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(handle));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
}

static void *
push_shut(void *stream)
{
    while (!atomic_load(&halt)) {
        (void)push(stream, &shut_ops);
        atomic_fetch_add(&push_num, 1);
        jitter();
    }
    return NULL;
}

static void *
abort_often(void *stream)
{
    for (uint32_t i = 0; i < ROUNDS(4000); i++) {
        rt_stream_abort(stream);
        jitter();
    }
    return NULL;
}

TEST(aborts_at_the_same_time_all_end)
{
    pthread_t pusher, aborters[3];

    test_allow_errors();
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    aclrtStream handle = new_stream();
    struct rt_stream *stream = hold(handle);

    pusher = spawn(push_shut, stream);
    for (int i = 0; i < 3; i++)
        aborters[i] = spawn(abort_often, stream);
    for (int i = 0; i < 3; i++)
        join(aborters[i]);
    atomic_store(&halt, true);
    join(pusher);
    rt_stream_abort(stream);
    EXPECT_EQ(atomic_load(&push_num), atomic_load(&drop_num));
    EXPECT_EQ(ACL_SUCCESS, push(stream, &count_ops));
    EXPECT_EQ(ACL_SUCCESS, rt_stream_sync(stream, -1));
    EXPECT_EQ(1, atomic_load(&ran_num));
    rt_stream_release(stream);
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(handle));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
}

static void *
push_shut_and_wait(void *stream)
{
    for (int i = 0; i < 20; i++) {
        (void)push(stream, &shut_ops);
        jitter();
    }
    (void)rt_stream_sync(stream, -1);
    return NULL;
}

TEST(a_stream_destroyed_while_it_is_used_leaves_nobody_waiting)
{
    test_allow_errors();
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    for (uint32_t i = 0; i < ROUNDS(800); i++) {
        aclrtStream handle = new_stream();
        struct rt_stream *stream = hold(handle);
        pthread_t users[2];

        for (int k = 0; k < 2; k++)
            users[k] = spawn(push_shut_and_wait, stream);
        jitter();
        EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStreamForce(handle));
        for (int k = 0; k < 2; k++)
            join(users[k]);
        rt_stream_release(stream);
    }
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
}

static void *
make_streams(void *context)
{
    aclrtStream stream = NULL;

    if (aclrtSetCurrentContext(context) != ACL_SUCCESS)
        return NULL;
    for (int i = 0; i < 50 && aclrtCreateStream(&stream) == ACL_SUCCESS; i++)
        jitter();
    return NULL;
}

TEST(a_context_that_is_destroyed_keeps_no_stream)
{
    test_allow_errors();
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    for (uint32_t i = 0; i < ROUNDS(800); i++) {
        aclrtContext context = NULL;
        pthread_t makers[2];

        EXPECT_EQ(ACL_SUCCESS, aclrtCreateContext(&context, 0));
        for (int k = 0; k < 2; k++)
            makers[k] = spawn(make_streams, context);
        usleep(chance() % 200);
        EXPECT_EQ(ACL_SUCCESS, aclrtDestroyContext(context));
        for (int k = 0; k < 2; k++)
            join(makers[k]);
        EXPECT_EQ(1, hc_handle_live(&rt_stream_table)); /* the primary context's own */
    }
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceForce(0));
}

/* Streams that are made and park while the context freezes. */
static void *
park_new_streams(void *context)
{
    if (aclrtSetCurrentContext(context) != ACL_SUCCESS)
        return NULL;
    for (int i = 0; i < 200; i++) {
        aclrtStream handle = new_stream();
        struct rt_stream *stream = hold(handle);
        bool good = push(stream, &shut_ops) == ACL_SUCCESS;

        rt_stream_release(stream);
        if (!good)
            break;
        jitter();
    }
    return NULL;
}

TEST(a_context_that_freezes_leaves_no_stream_parked)
{
    test_allow_errors();
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    for (uint32_t i = 0; i < ROUNDS(400); i++) {
        aclrtContext context = NULL;
        pthread_t parker;

        EXPECT_EQ(ACL_SUCCESS, aclrtCreateContext(&context, 0));
        aclrtStream handle = new_stream();
        struct rt_stream *stream = hold(handle);

        EXPECT_EQ(ACL_SUCCESS, aclrtSetStreamFailureMode(handle, ACL_STOP_ON_FAILURE));
        parker = spawn(park_new_streams, context);
        usleep(chance() % 200);
        EXPECT_EQ(ACL_SUCCESS, push(stream, &fail_ops));
        (void)rt_stream_sync(stream, -1);
        rt_stream_release(stream);
        join(parker);
        EXPECT_EQ(ACL_SUCCESS, aclrtDestroyContext(context)); /* it waits for all */
        EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
        EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
    }
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
}

/* ---- waiting inside a task ---- */

static struct rt_stream *others[2];

static void
wait_for_others(aclrtExceptionInfo *info)
{
    (void)info;
    for (int i = 0; i < 2; i++) {
        if (push(others[i], &count_ops) != ACL_SUCCESS || rt_stream_sync(others[i], -1) != 0)
            abort();
        jitter();
    }
}

static void *
fail_often(void *stream)
{
    for (uint32_t i = 0; i < ROUNDS(400); i++) {
        if (push(stream, &fail_ops) != ACL_SUCCESS)
            abort();
        while (rt_stream_sync(stream, -1) == ACL_SUCCESS)
            ;
    }
    return NULL;
}

TEST(a_callback_may_wait_for_other_streams)
{
    pthread_t threads[2];
    aclrtStream handles[4];
    struct rt_stream *held[4];

    test_allow_errors();
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    for (int i = 0; i < 4; i++) {
        handles[i] = new_stream();
        held[i] = hold(handles[i]);
    }
    others[0] = held[2];
    others[1] = held[3];
    EXPECT_EQ(ACL_SUCCESS, aclrtSetExceptionInfoCallback(wait_for_others));
    for (int i = 0; i < 2; i++)
        threads[i] = spawn(fail_often, held[i]);
    for (int i = 0; i < 2; i++)
        join(threads[i]);
    EXPECT_EQ(4 * ROUNDS(400), atomic_load(&ran_num));
    EXPECT_EQ(ACL_SUCCESS, aclrtSetExceptionInfoCallback(NULL));
    for (int i = 0; i < 4; i++) {
        rt_stream_release(held[i]);
        EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(handles[i]));
    }
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
}

/* ---- what is no deadlock ---- */

static pthread_mutex_t turn_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn_changed = PTHREAD_COND_INITIALIZER;
static uint32_t turn, turns_most;

static void *
take_turns(void *arg)
{
    uint32_t own = (uint32_t)(uintptr_t)arg;

    pthread_mutex_lock(&turn_lock);
    while (turn < turns_most) {
        if (turn % 2 == own) {
            turn++;
            pthread_cond_broadcast(&turn_changed);
        } else {
            pthread_cond_wait(&turn_changed, &turn_lock);
        }
    }
    pthread_mutex_unlock(&turn_lock);
    return NULL;
}

static void *
sync_stream(void *stream)
{
    return (void *)(intptr_t)rt_stream_sync(stream, -1);
}

static struct rt_notify *late;

static void *
record_after_turns(void *arg)
{
    pthread_t partner = spawn(take_turns, (void *)1);

    (void)arg;
    take_turns((void *)0);
    join(partner);
    rt_notify_record(late);
    return NULL;
}

/* A stream waits for `late`, which `recorder` records in its own time, and a thread for the stream. */
static void
expect_no_deadlock(void *(*recorder)(void *arg), void *arg)
{
    struct rt_notify_origin origin = {.what = "the late notify"};
    struct rt_task task;
    pthread_t waiter, records;
    void *rc;

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    aclrtStream handle = new_stream();
    struct rt_stream *stream = hold(handle);

    EXPECT_EQ(ACL_SUCCESS, rt_notify_create(0, &origin, &late));
    rt_task_notify_wait(&task, late, 0);
    EXPECT_EQ(ACL_SUCCESS, rt_stream_push(stream, &task));
    records = spawn(recorder, arg);
    waiter = spawn(sync_stream, stream);
    EXPECT_EQ(0, pthread_join(waiter, &rc));
    EXPECT_EQ(ACL_SUCCESS, (intptr_t)rc);
    join(records);
    rt_notify_destroy(late);
    rt_stream_release(stream);
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(handle));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
}

TEST(two_threads_that_wake_each_other_are_no_deadlock)
{
    turns_most = ROUNDS(400000);
    expect_no_deadlock(record_after_turns, NULL);
}

static void *
record_after_post(void *sem)
{
    while (sem_wait(sem) != 0 && errno == EINTR)
        ;
    rt_notify_record(late);
    return NULL;
}

TEST(a_thread_that_waits_for_another_process_is_no_deadlock)
{
    sem_t *sem = mmap(NULL, sizeof *sem, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child;

    EXPECT_EQ(0, sem_init(sem, 1, 0));
    child = fork();
    if (child == 0) {
        usleep(2600000);
        _exit(sem_post(sem));
    }
    expect_no_deadlock(record_after_post, sem);
    EXPECT_EQ(child, waitpid(child, NULL, 0));
    munmap(sem, sizeof *sem);
}

/* ---- the end ---- */

static void *
stage_and_end(void *stream)
{
    if (!rt_batch_begin() || push(stream, &count_ops) != ACL_SUCCESS)
        abort();
    return NULL;
}

TEST(a_thread_that_ends_inside_a_batch_drops_it)
{
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    aclrtStream handle = new_stream();
    struct rt_stream *stream = hold(handle);

    for (int i = 0; i < 20; i++)
        join(spawn(stage_and_end, stream));
    EXPECT_EQ(20, atomic_load(&drop_num));
    EXPECT_EQ(0, atomic_load(&ran_num));
    rt_stream_release(stream);
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(handle));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
}

static enum rt_step
again_run(struct rt_stream *stream, struct rt_task *task)
{
    (void)task;
    jitter();
    rt_stream_wake(rt_stream_id(stream));
    return RT_STEP_PARKED;
}

static void
sleep_long(void *arg)
{
    (void)arg;
    sleep(100);
}

TEST_WITH(the_process_may_end_while_tasks_run, TEST_KEEPS_MEMORY)
{
    static const struct rt_task_ops again_ops = {.name = "again", .run = again_run};

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    for (int i = 0; i < 4; i++) {
        aclrtStream handle = new_stream();
        struct rt_stream *stream = hold(handle);

        EXPECT_EQ(ACL_SUCCESS, push(stream, i == 0 ? &shut_ops : &again_ops));
        rt_stream_release(stream);
    }
    EXPECT_EQ(ACL_SUCCESS, aclrtLaunchHostFunc(new_stream(), sleep_long, NULL));
    (void)spawn(collect, hold(NULL));
    usleep(20000);
}
