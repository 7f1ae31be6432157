/* SPDX-License-Identifier: BSD-3-Clause */
/* Races between those who push, wait and wake, provoked by random pauses. */
#define _GNU_SOURCE
#include "runtime/stress.h"

#include <stdlib.h>

static _Atomic uint32_t push_num;

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
    ring.rounds = ROUNDS(16000);
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
    for (uint32_t i = 0; i < ROUNDS(6000); i++) {
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

/* ---- no workers ---- */

static struct {
    struct rt_stream *waits, *records;
    struct rt_notify *notify;
    pthread_barrier_t turn; /* nobody queues anything more until the wait is over */
} pair;

/* Makes the scheduler try to start a worker, and fail. */
static void *
push_alone(void *stream)
{
    for (uint32_t i = 0; i < ROUNDS(4000); i++) {
        pthread_barrier_wait(&pair.turn);
        jitter();
        if (push(stream, &count_ops) != ACL_SUCCESS)
            abort();
    }
    return NULL;
}

/* Records when the other thread is about to wait; never drives. */
static void *
record_in_turn(void *arg)
{
    struct rt_task task;

    (void)arg;
    for (uint32_t i = 0; i < ROUNDS(4000); i++) {
        pthread_barrier_wait(&pair.turn);
        usleep(chance() % 100); /* the waiter sleeps by then, or does not */
        rt_task_notify_record(&task, pair.notify);
        if (rt_stream_push(pair.records, &task) != ACL_SUCCESS)
            abort();
    }
    return NULL;
}

TEST(without_workers_whoever_waits_runs_what_is_ready)
{
    struct rt_notify_origin origin = {.what = "notify of the pair"};
    pthread_attr_t usual, huge;
    pthread_t threads[2];
    struct rt_task task;

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    aclrtStream handles[3] = {new_stream(), new_stream(), new_stream()};
    struct rt_stream *alone = hold(handles[2]);

    pair.waits = hold(handles[0]);
    pair.records = hold(handles[1]);
    EXPECT_EQ(0, pthread_barrier_init(&pair.turn, NULL, 3));
    EXPECT_EQ(ACL_SUCCESS, rt_notify_create(0, &origin, &pair.notify));
    pthread_getattr_default_np(&usual);
    threads[0] = spawn(push_alone, alone);
    threads[1] = spawn(record_in_turn, NULL);
    pthread_attr_init(&huge);
    pthread_attr_setstacksize(&huge, (size_t)1 << 46); /* no thread of the library can start */
    EXPECT_EQ(0, pthread_setattr_default_np(&huge));
    for (uint32_t i = 0; i < ROUNDS(4000); i++) {
        rt_task_notify_wait(&task, pair.notify, 0);
        EXPECT_EQ(ACL_SUCCESS, rt_stream_push(pair.waits, &task));
        pthread_barrier_wait(&pair.turn);
        EXPECT_EQ(ACL_SUCCESS, rt_stream_sync(pair.waits, -1));
    }
    join(threads[0]);
    join(threads[1]);
    EXPECT_EQ(0, pthread_setattr_default_np(&usual));
    EXPECT_EQ(ACL_SUCCESS, rt_stream_sync(alone, -1));
    EXPECT_EQ(ROUNDS(4000), atomic_load(&ran_num));
    rt_notify_destroy(pair.notify);
    rt_stream_release(pair.waits);
    rt_stream_release(pair.records);
    rt_stream_release(alone);
    for (int i = 0; i < 3; i++)
        EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(handles[i]));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
}

TEST(waits_time_out_when_no_thread_can_be_started)
{
    struct rt_notify_origin origin = {.what = "notify of nobody"};
    pthread_attr_t usual, huge;
    struct rt_task task;

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    aclrtStream handle = new_stream();
    struct rt_stream *stream = hold(handle);

    EXPECT_EQ(ACL_SUCCESS, rt_notify_create(0, &origin, &pair.notify));
    pthread_getattr_default_np(&usual);
    pthread_attr_init(&huge);
    pthread_attr_setstacksize(&huge, (size_t)1 << 46);
    EXPECT_EQ(0, pthread_setattr_default_np(&huge));
    test_expect_error("waited 1 s for notify of nobody");
    for (int i = 0; i < 2; i++) {
        rt_task_notify_wait(&task, pair.notify, 1);
        EXPECT_EQ(ACL_SUCCESS, rt_stream_push(stream, &task));
        EXPECT_EQ(ACL_ERROR_RT_TASK_TIMEOUT, rt_stream_sync(stream, 10000));
    }
    EXPECT_EQ(1, test_logged("cannot start the timer thread"));
    EXPECT_EQ(0, pthread_setattr_default_np(&usual));
    rt_notify_destroy(pair.notify);
    rt_stream_release(stream);
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(handle));
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
