/* SPDX-License-Identifier: BSD-3-Clause */
/* Races between those who use a stream and those who stop, abort or destroy it, provoked by random
 * pauses. */
#define _GNU_SOURCE
#include <stdlib.h>

#include "runtime/context.h"
#include "runtime/stress.h"

static atomic_bool gate;
static _Atomic uint32_t push_num;

static enum rt_step
gate_run(struct rt_stream *stream, struct rt_task *task)
{
    (void)stream;
    if (!atomic_load_explicit(&gate, memory_order_acquire))
        return RT_STEP_PARKED;
    task->u.word[0] = 1;
    return RT_STEP_DONE;
}

static void
gate_drop(struct rt_task *task, bool ran)
{
    (void)ran;
    if (task->u.word[0] == 1)
        atomic_fetch_add(&ran_num, 1);
}

static const struct rt_task_ops gate_ops = {.name = "gate", .run = gate_run, .drop = gate_drop};

static void
await_parked(struct rt_stream *stream)
{
    while (atomic_load(&stream->state) != RT_PARKED && !rt_stream_idle(stream))
        sched_yield();
}

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

    for (uint32_t i = 0; i < ROUNDS(6000); i++) {
        pthread_t stopper;
        uint32_t before;

        atomic_store(&gate, false);
        EXPECT_EQ(ACL_SUCCESS, push(stream, &gate_ops));
        await_parked(stream);
        stopper = spawn(stop_it, stream);
        jitter();
        atomic_store(&gate, true);
        rt_stream_wake(rt_stream_id(stream));
        join(stopper);
        EXPECT_EQ(ACL_SUCCESS, rt_stream_sync(stream, -1));
        before = atomic_load(&ran_num);
        atomic_store(&gate, false);
        EXPECT_EQ(ACL_SUCCESS, push(stream, &gate_ops));
        await_parked(stream);
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
    for (; atomic_load(&fail_num) < ROUNDS(4000); pushed++) {
        EXPECT_EQ(ACL_SUCCESS, push(stream, &fail_ops));
        jitter();
    }
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

static pthread_barrier_t together;

static void *
abort_often(void *stream)
{
    for (uint32_t i = 0; i < ROUNDS(6000); i++) {
        pthread_barrier_wait(&together); /* no later abort helps one that is stuck */
        jitter();
        rt_stream_abort(stream);
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

    EXPECT_EQ(0, pthread_barrier_init(&together, NULL, 3));
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
