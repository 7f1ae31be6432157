/* SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <unistd.h>

#include "acl/acl_rt.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "runtime/stream.h"
#include "tests/support/test.h"

static aclrtStream
new_stream(void)
{
    aclrtStream stream = NULL;

    EXPECT_EQ(ACL_SUCCESS, aclrtCreateStream(&stream));
    return stream;
}

static void
begin(void)
{
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
}

static void
end(void)
{
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
}

/* A task that appends its number to a list; parks for ever when it is told to. */
static struct {
    int seen[4096];
    _Atomic int num;
    _Atomic int dropped;
    _Atomic bool gate;
} trace;

static enum rt_step
trace_run(struct rt_stream *stream, struct rt_task *task)
{
    (void)stream;
    trace.seen[atomic_fetch_add(&trace.num, 1)] = (int)task->u.word[0];
    return RT_STEP_DONE;
}

static enum rt_step
gate_run(struct rt_stream *stream, struct rt_task *task)
{
    (void)stream;
    (void)task;
    return atomic_load(&trace.gate) ? RT_STEP_DONE : RT_STEP_PARKED;
}

static enum rt_step
fail_run(struct rt_stream *stream, struct rt_task *task)
{
    (void)task;
    return rt_stream_fail(stream, ACL_ERROR_RT_AICPU_EXCEPTION, "the test wants it");
}

static void
trace_drop(struct rt_task *task, bool ran)
{
    (void)task;
    if (!ran)
        atomic_fetch_add(&trace.dropped, 1);
}

static const struct rt_task_ops trace_ops = {.name = "trace", .run = trace_run, .drop = trace_drop};
static const struct rt_task_ops gate_ops = {.name = "gate", .run = gate_run, .drop = trace_drop};
static const struct rt_task_ops fail_ops = {.name = "fail", .run = fail_run, .drop = trace_drop};

static void
push(aclrtStream handle, const struct rt_task_ops *ops, int number)
{
    struct rt_task task = {.ops = ops, .u.word = {(uint64_t)number}};
    struct rt_stream *stream;

    EXPECT_EQ(ACL_SUCCESS, rt_stream_hold(handle, &stream));
    EXPECT_EQ(ACL_SUCCESS, rt_stream_push(stream, &task));
    rt_stream_release(stream);
}

static void
open_gate(aclrtStream handle)
{
    struct rt_stream *stream;

    atomic_store(&trace.gate, true);
    EXPECT_EQ(ACL_SUCCESS, rt_stream_hold(handle, &stream));
    rt_stream_wake(rt_stream_id(stream));
    rt_stream_release(stream);
}

TEST(tasks_of_a_stream_run_in_the_order_they_were_queued)
{
    begin();
    aclrtStream stream = new_stream();

    for (int i = 0; i < 4000; i++)
        push(stream, &trace_ops, i);
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    EXPECT_EQ(4000, atomic_load(&trace.num));
    for (int i = 0; i < 4000; i++)
        EXPECT_EQ(i, trace.seen[i]);
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(stream));
    end();
}

TEST(tasks_run_without_anybody_waiting)
{
    begin();
    aclrtStream stream = new_stream();

    push(stream, &trace_ops, 1);
    while (atomic_load(&trace.num) == 0)
        usleep(100);
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(stream));
    end();
}

TEST(a_parked_stream_lets_the_others_run)
{
    begin();
    aclrtStream parked = new_stream(), other = new_stream();
    aclrtStreamStatus status;

    push(parked, &gate_ops, 0);
    push(parked, &trace_ops, 2);
    push(other, &trace_ops, 1);
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(other));
    EXPECT_EQ(ACL_SUCCESS, aclrtStreamQuery(parked, &status));
    EXPECT_EQ(ACL_STREAM_STATUS_NOT_READY, status);
    EXPECT_EQ(1, atomic_load(&trace.num));
    open_gate(parked);
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(parked));
    EXPECT_EQ(2, trace.seen[1]);
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(parked));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(other));
    end();
}

TEST(a_failure_drops_what_is_queued_and_is_told_once)
{
    test_expect_error("the test wants it");
    begin();
    aclrtStream stream = new_stream();

    push(stream, &fail_ops, 0);
    push(stream, &trace_ops, 1);
    EXPECT_EQ(ACL_ERROR_RT_AICPU_EXCEPTION, aclrtSynchronizeStream(stream));
    EXPECT_CONTAINS("the test wants it", aclGetRecentErrMsg());
    EXPECT_EQ(ACL_ERROR_RT_AICPU_EXCEPTION, aclrtGetLastError(ACL_RT_THREAD_LEVEL));
    EXPECT_EQ(0, atomic_load(&trace.num));
    EXPECT_EQ(1, atomic_load(&trace.dropped));
    push(stream, &trace_ops, 2);
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    EXPECT_EQ(1, atomic_load(&trace.num));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(stream));
    end();
}

TEST(in_mode_continue_what_is_queued_behind_a_failure_runs)
{
    test_expect_error("the test wants it");
    begin();
    aclrtStream stream = new_stream(), other = new_stream();
    aclrtStreamAttrValue value = {.failureMode = 7};

    EXPECT_EQ(ACL_SUCCESS, aclrtSetStreamFailureMode(stream, ACL_CONTINUE_ON_FAILURE));
    EXPECT_EQ(ACL_SUCCESS, aclrtSetStreamFailureMode(stream, ACL_CONTINUE_ON_FAILURE));
    EXPECT_EQ(ACL_SUCCESS, aclrtGetStreamAttribute(stream, ACL_STREAM_ATTR_FAILURE_MODE, &value));
    EXPECT_EQ(ACL_CONTINUE_ON_FAILURE, value.failureMode);
    push(stream, &gate_ops, 0);
    push(stream, &fail_ops, 0);
    push(stream, &trace_ops, 1);
    push(stream, &fail_ops, 0);
    push(stream, &trace_ops, 2);
    open_gate(stream);
    EXPECT_EQ(ACL_ERROR_RT_AICPU_EXCEPTION, aclrtSynchronizeStream(stream));
    EXPECT_EQ(2, atomic_load(&trace.num));
    EXPECT_EQ(0, atomic_load(&trace.dropped));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(stream)); /* it was told */
    push(other, &fail_ops, 0);
    push(other, &trace_ops, 3);
    EXPECT_EQ(ACL_ERROR_RT_AICPU_EXCEPTION, aclrtSynchronizeStream(other));
    EXPECT_EQ(2, atomic_load(&trace.num)); /* it is a matter of each stream */
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(stream));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(other));
    end();
}

TEST(mode_stop_holds_for_streams_that_asked_to_continue_and_for_good)
{
    test_expect_error("the test wants it");
    test_expect_error("cannot go back from stop to continue");
    begin();
    aclrtContext context = NULL;
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateContext(&context, 0));
    aclrtStream stream = new_stream(), later;
    aclrtStreamAttrValue value = {.failureMode = ACL_CONTINUE_ON_FAILURE};

    EXPECT_EQ(ACL_SUCCESS, aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_FAILURE_MODE, &value));
    EXPECT_EQ(ACL_SUCCESS, aclrtSetStreamFailureMode(NULL, ACL_STOP_ON_FAILURE)); /* the default */
    EXPECT_EQ(ACL_SUCCESS, aclrtSetStreamFailureMode(NULL, ACL_STOP_ON_FAILURE));
    later = new_stream();
    EXPECT_EQ(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
              aclrtSetStreamFailureMode(stream, ACL_CONTINUE_ON_FAILURE));
    EXPECT_EQ(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
              aclrtSetStreamFailureMode(later, ACL_CONTINUE_ON_FAILURE));
    EXPECT_EQ(ACL_SUCCESS, aclrtGetStreamAttribute(later, ACL_STREAM_ATTR_FAILURE_MODE, &value));
    EXPECT_EQ(ACL_STOP_ON_FAILURE, value.failureMode);
    push(stream, &gate_ops, 0);
    push(stream, &fail_ops, 0);
    push(stream, &trace_ops, 1);
    open_gate(stream);
    EXPECT_EQ(ACL_ERROR_RT_AICPU_EXCEPTION, aclrtSynchronizeStream(stream));
    EXPECT_EQ(0, atomic_load(&trace.num));
    EXPECT_EQ(1, atomic_load(&trace.dropped));
    EXPECT_EQ(ACL_ERROR_RT_AICPU_EXCEPTION, aclrtSynchronizeStream(later));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(stream));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(later));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyContext(context));
    end();
}

TEST(in_mode_stop_a_failure_freezes_the_whole_context)
{
    test_expect_error("the test wants it");
    test_expect_error("its context stopped at a failure");
    begin();
    aclrtContext context = NULL;
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateContext(&context, 0));
    aclrtStream stream = new_stream(), other = new_stream();
    struct rt_stream *held;
    struct rt_task task = {.ops = &trace_ops};

    EXPECT_EQ(ACL_SUCCESS, aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE));
    push(other, &gate_ops, 0);
    push(stream, &fail_ops, 0);
    EXPECT_EQ(ACL_ERROR_RT_AICPU_EXCEPTION, aclrtSynchronizeStream(stream));
    EXPECT_EQ(ACL_ERROR_RT_AICPU_EXCEPTION, aclrtSynchronizeStream(stream));
    EXPECT_EQ(ACL_ERROR_RT_AICPU_EXCEPTION, aclrtSynchronizeStream(other));
    EXPECT_EQ(ACL_SUCCESS, rt_stream_hold(stream, &held));
    EXPECT_EQ(ACL_ERROR_RT_AICPU_EXCEPTION, rt_stream_push(held, &task));
    rt_stream_release(held);
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(stream));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(other));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyContext(context));
    end();
}

TEST(synchronize_gives_up_after_its_time_and_the_tasks_stay)
{
    begin();
    aclrtStream stream = new_stream();
    uint64_t start;

    push(stream, &gate_ops, 0);
    start = hc_now_ns();
    EXPECT_EQ(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(stream, 50));
    EXPECT_TRUE(hc_now_ns() - start >= 50000000u);
    open_gate(stream);
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStreamWithTimeout(stream, 10000));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(stream));
    end();
}

static void *
synchronize(void *stream)
{
    return (void *)(intptr_t)aclrtSynchronizeStream(stream);
}

TEST(abort_frees_who_waits_and_the_stream_works_again)
{
    test_expect_error("was aborted while it was waited for");
    begin();
    aclrtStream stream = new_stream();
    pthread_t waiter;
    void *rc;

    push(stream, &gate_ops, 0);
    push(stream, &trace_ops, 1);
    EXPECT_EQ(0, pthread_create(&waiter, NULL, synchronize, stream));
    usleep(20000);
    EXPECT_EQ(ACL_SUCCESS, aclrtStreamAbort(stream));
    EXPECT_EQ(0, pthread_join(waiter, &rc));
    EXPECT_EQ(ACL_ERROR_RT_STREAM_ABORT, (intptr_t)rc);
    EXPECT_EQ(2, atomic_load(&trace.dropped));
    push(stream, &trace_ops, 2);
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    EXPECT_EQ(1, atomic_load(&trace.num));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(stream));
    end();
}

TEST(stop_cuts_off_what_runs_and_keeps_what_is_queued)
{
    begin();
    aclrtStream stream = new_stream();

    push(stream, &gate_ops, 0);
    push(stream, &trace_ops, 1);
    EXPECT_EQ(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(stream, 20));
    EXPECT_EQ(ACL_SUCCESS, aclrtStreamStop(stream));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    EXPECT_EQ(1, atomic_load(&trace.num));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(stream));
    end();
}

TEST(a_forced_destroy_does_not_wait)
{
    begin();
    aclrtStream stream = new_stream();

    push(stream, &gate_ops, 0);
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStreamForce(stream));
    EXPECT_EQ(1, atomic_load(&trace.dropped));
    end();
}

TEST(staged_tasks_run_when_the_batch_ends)
{
    begin();
    aclrtStream stream = new_stream();

    EXPECT_TRUE(rt_batch_begin());
    EXPECT_FALSE(rt_batch_begin());
    push(stream, &trace_ops, 1);
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    EXPECT_EQ(0, atomic_load(&trace.num));
    EXPECT_EQ(ACL_SUCCESS, rt_batch_end());
    EXPECT_EQ(ACL_SUCCESS, rt_batch_end()); /* nothing is open */
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    EXPECT_EQ(1, atomic_load(&trace.num));
    EXPECT_TRUE(rt_batch_begin());
    push(stream, &trace_ops, 1);
    EXPECT_EQ(1, rt_batch_abandon());
    EXPECT_EQ(1, atomic_load(&trace.dropped));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(stream));
    end();
}

TEST(a_batch_that_cannot_be_published_is_dropped_and_says_so)
{
    begin();
    aclrtStream stream = new_stream();

    EXPECT_TRUE(rt_batch_begin());
    push(stream, &trace_ops, 1);
    push(stream, &trace_ops, 2);
    test_allow_errors();
    hc_alloc_fail_nth(0); /* room for the first task */
    EXPECT_EQ(ACL_ERROR_RT_MEMORY_ALLOCATION, rt_batch_end());
    hc_alloc_fail_nth(-1);
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    EXPECT_EQ(0, atomic_load(&trace.num));
    EXPECT_EQ(2, atomic_load(&trace.dropped));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(stream));
    end();
}

static enum rt_step
count_run(struct rt_stream *stream, struct rt_task *task)
{
    (void)stream;
    (void)task;
    atomic_fetch_add(&trace.num, 1);
    return RT_STEP_DONE;
}

static void *
count_many(void *stream)
{
    static const struct rt_task_ops ops = {.name = "count", .run = count_run};

    for (int i = 0; i < 20000; i++)
        push(stream, &ops, i);
    return NULL;
}

TEST(four_threads_share_a_stream_and_no_task_is_lost)
{
    begin();
    aclrtStream stream = new_stream();
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        EXPECT_EQ(0, pthread_create(&threads[i], NULL, count_many, stream));
    for (int i = 0; i < 4; i++)
        EXPECT_EQ(0, pthread_join(threads[i], NULL));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    EXPECT_EQ(80000, atomic_load(&trace.num));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(stream));
    end();
}

TEST(whatever_allocation_fails_a_stream_is_whole_or_not_there)
{
    begin();
    aclrtStream stream = NULL;
    aclError rc;
    long nth = 0;

    test_allow_errors();
    do {
        hc_alloc_fail_nth(nth++);
        stream = NULL;
        rc = aclrtCreateStream(&stream);
        hc_alloc_fail_nth(-1);
        if (rc != ACL_SUCCESS) {
            EXPECT_EQ(ACL_ERROR_RT_MEMORY_ALLOCATION, rc);
            EXPECT_NULL(stream);
        } else if (nth < 3) {
            EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(stream));
            stream = NULL;
        }
    } while (stream == NULL);
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(stream));
    end();
}

TEST(bad_stream_arguments_are_refused)
{
    begin();
    aclrtStream stream = new_stream();
    int32_t id;

    test_allow_errors();
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtCreateStream(NULL));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtDestroyStream(NULL));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtStreamQuery(stream, NULL));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtStreamGetId(stream, NULL));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeStreamWithTimeout(stream, 0));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeStreamWithTimeout(stream, -2));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtSetStreamFailureMode(stream, 7));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(stream));
    EXPECT_EQ(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyStream(stream));
    EXPECT_EQ(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStream(stream));
    EXPECT_EQ(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStream(&id));
    EXPECT_EQ(ACL_ERROR_RT_INVALID_HANDLE,
              aclrtSynchronizeStream((aclrtStream)(uintptr_t)0xDEADBEEFCAFEull));
    end();
}

static void *
use_without_device(void *arg)
{
    aclrtStream stream = NULL;

    (void)arg;
    return (void *)(intptr_t)(aclrtCreateStream(&stream) == ACL_ERROR_RT_CONTEXT_NULL);
}

TEST(a_thread_that_never_set_a_device_is_told_so)
{
    begin();
    pthread_t thread;
    void *good;

    test_expect_error("aclrtSetDevice");
    EXPECT_EQ(0, pthread_create(&thread, NULL, use_without_device, NULL));
    EXPECT_EQ(0, pthread_join(thread, &good));
    EXPECT_NOT_NULL(good);
    end();
}
