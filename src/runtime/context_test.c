/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "runtime/context.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "runtime/error.h"
#include "runtime/stream.h"
#include "tests/support/test.h"

static void
in_thread(void *(*fn)(void *arg), void *arg)
{
    pthread_t thread;

    EXPECT_EQ(0, pthread_create(&thread, NULL, fn, arg));
    EXPECT_EQ(0, pthread_join(thread, NULL));
}

static int32_t
device_now(void)
{
    int32_t device = -99;

    EXPECT_EQ(ACL_SUCCESS, aclrtGetDevice(&device));
    return device;
}

static aclrtContext
context_now(void)
{
    aclrtContext context = NULL;

    EXPECT_EQ(ACL_SUCCESS, aclrtGetCurrentContext(&context));
    EXPECT_NOT_NULL(context);
    return context;
}

static int32_t
active(int32_t device)
{
    int32_t is = -1;

    EXPECT_EQ(ACL_SUCCESS, aclrtGetPrimaryCtxState(device, NULL, &is));
    return is;
}

/* ---- the primary context ---- */

TEST(a_device_is_active_from_set_to_reset)
{
    EXPECT_EQ(0, active(2));
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(2));
    EXPECT_EQ(1, active(2));
    EXPECT_EQ(2, device_now());
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(2));
    EXPECT_EQ(0, active(2));
}

TEST(a_device_is_reset_as_often_as_it_was_set)
{
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
    EXPECT_EQ(0, device_now());
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
    test_expect_error("device 0 is not set");
    EXPECT_EQ(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, aclrtResetDevice(0));
    EXPECT_EQ(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL));
    EXPECT_EQ(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, aclrtResetDeviceForce(0));
}

TEST(force_resets_whatever_the_count)
{
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(1));
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(1));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceForce(1));
    EXPECT_EQ(0, active(1));
    test_expect_error("device 1 is not set");
    EXPECT_EQ(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, aclrtResetDeviceForce(1));
}

TEST(a_device_id_out_of_range_is_refused)
{
    test_expect_error("no device -1");
    EXPECT_EQ(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(-1));
    test_expect_error("no device 8");
    EXPECT_EQ(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(8));
    EXPECT_EQ(ACL_ERROR_RT_INVALID_DEVICEID, aclrtResetDevice(8));
    EXPECT_EQ(ACL_ERROR_RT_INVALID_DEVICEID, aclrtResetDeviceForce(-1));
}

static void *
has_no_context(void *arg)
{
    int32_t device = 42;
    aclrtContext context = NULL;
    aclrtStream stream = NULL;

    (void)arg;
    test_expect_error("this thread has no context: call aclrtSetDevice");
    EXPECT_EQ(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice(&device));
    EXPECT_EQ(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetCurrentContext(&context));
    EXPECT_EQ(ACL_ERROR_RT_CONTEXT_NULL, aclrtCtxGetCurrentDefaultStream(&stream));
    EXPECT_EQ(ACL_ERROR_RT_CONTEXT_NULL, aclrtSynchronizeDevice());
    EXPECT_EQ(42, device);
    EXPECT_NULL(context);
    EXPECT_NULL(stream);
    return NULL;
}

TEST(a_new_thread_has_no_context)
{
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    in_thread(has_no_context, NULL);
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
}

static void *
set_zero(void *arg)
{
    aclrtContext *seen = arg;

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    *seen = context_now();
    return NULL;
}

static void *
reset_zero(void *arg)
{
    (void)arg;
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
    return NULL;
}

TEST(threads_share_the_primary_context_and_any_may_reset_it)
{
    aclrtContext theirs = NULL;
    int32_t device;

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    in_thread(set_zero, &theirs);
    EXPECT_TRUE(theirs == context_now());
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
    EXPECT_TRUE(theirs == context_now());
    in_thread(reset_zero, NULL);
    test_expect_error("this thread's context is gone");
    EXPECT_EQ(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice(&device));
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_FALSE(theirs == context_now());
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
}

TEST(set_device_survives_every_failed_allocation)
{
    long nth = 0, kept;
    aclError rc;

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0)); /* what the library keeps exists from here on */
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
    kept = hc_alloc_live();
    test_allow_errors();
    do {
        hc_alloc_fail_nth(nth++);
        rc = aclrtSetDevice(0);
        if (rc != ACL_SUCCESS) {
            EXPECT_EQ(ACL_ERROR_RT_MEMORY_ALLOCATION, rc);
            EXPECT_EQ(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtGetLastError(ACL_RT_THREAD_LEVEL));
            EXPECT_EQ(0, active(0));
            EXPECT_EQ(kept, hc_alloc_live());
        }
    } while (rc != ACL_SUCCESS);
    hc_alloc_fail_nth(-1);
    EXPECT_TRUE(nth > 2);
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
    EXPECT_EQ(kept, hc_alloc_live());
}

TEST(the_first_set_device_survives_every_failed_allocation)
{
    long nth = 0;
    aclError rc;

    test_allow_errors();
    do {
        hc_alloc_fail_nth(nth++);
        rc = aclrtSetDevice(0);
    } while (rc == ACL_ERROR_RT_MEMORY_ALLOCATION);
    hc_alloc_fail_nth(-1);
    EXPECT_EQ(ACL_SUCCESS, rc);
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
}

static void *
set_and_reset_often(void *arg)
{
    int32_t device = *(int32_t *)arg;

    for (int i = 0; i < 200; i++) {
        EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(device));
        EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeDevice());
        EXPECT_EQ(device, device_now());
        EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(device));
    }
    return NULL;
}

TEST(threads_that_set_and_reset_one_device_do_not_disturb_each_other)
{
    pthread_t threads[4];
    int32_t device = 3;

    for (int i = 0; i < 4; i++)
        EXPECT_EQ(0, pthread_create(&threads[i], NULL, set_and_reset_often, &device));
    for (int i = 0; i < 4; i++)
        EXPECT_EQ(0, pthread_join(threads[i], NULL));
    EXPECT_EQ(0, active(3));
}

/* ---- explicit contexts ---- */

TEST(a_created_context_is_current_and_needs_no_set_device)
{
    aclrtContext context = NULL;

    EXPECT_EQ(ACL_SUCCESS, aclrtCreateContext(&context, 5));
    EXPECT_TRUE(context == context_now());
    EXPECT_EQ(5, device_now());
    EXPECT_EQ(0, active(5));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyContext(context));
    test_expect_error("this thread has no context");
    EXPECT_EQ(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetCurrentContext(&context));
}

TEST(the_last_choice_of_context_counts)
{
    aclrtContext first = NULL, second = NULL;

    EXPECT_EQ(ACL_SUCCESS, aclrtCreateContext(&first, 1));
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateContext(&second, 2));
    EXPECT_EQ(2, device_now());
    EXPECT_EQ(ACL_SUCCESS, aclrtSetCurrentContext(first));
    EXPECT_EQ(1, device_now());
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(3));
    EXPECT_EQ(3, device_now());
    EXPECT_FALSE(context_now() == first);
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(3));
    EXPECT_EQ(ACL_SUCCESS, aclrtSetCurrentContext(second)); /* outlives the reset */
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyContext(first));
    EXPECT_EQ(2, device_now());
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyContext(second));
}

TEST(a_context_that_is_not_live_is_refused)
{
    aclrtContext context = NULL;
    aclrtStream stream = NULL;
    int local = 0;

    EXPECT_EQ(ACL_SUCCESS, aclrtCreateContext(&context, 0));
    EXPECT_EQ(ACL_SUCCESS, aclrtCtxGetCurrentDefaultStream(&stream));
    test_expect_error("a handle of another kind");
    EXPECT_EQ(ACL_ERROR_RT_CONTEXT_NULL, aclrtSetCurrentContext(stream));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyContext(context));
    test_expect_error("already destroyed");
    EXPECT_EQ(ACL_ERROR_RT_CONTEXT_NULL, aclrtDestroyContext(context));
    EXPECT_EQ(ACL_ERROR_RT_CONTEXT_NULL, aclrtSetCurrentContext(context));
    test_expect_error("no handle at all");
    EXPECT_EQ(ACL_ERROR_RT_CONTEXT_NULL, aclrtSetCurrentContext(&local));
    test_expect_error("is NULL");
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtSetCurrentContext(NULL));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtDestroyContext(NULL));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtCreateContext(NULL, 0));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtGetCurrentContext(NULL));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtCtxGetCurrentDefaultStream(NULL));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtGetPrimaryCtxState(0, NULL, NULL));
    test_expect_error("aclrtCreateContext: no device 8");
    EXPECT_EQ(ACL_ERROR_RT_INVALID_DEVICEID, aclrtCreateContext(&context, 8));
}

TEST(a_primary_context_is_not_destroyed_but_reset)
{
    aclrtContext primary;

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    primary = context_now();
    test_expect_error("is the primary context of device 0; aclrtResetDevice ends it");
    EXPECT_EQ(ACL_ERROR_RT_CONTEXT_NULL, aclrtDestroyContext(primary));
    EXPECT_EQ(0, device_now());
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
    test_expect_error("already destroyed");
    EXPECT_EQ(ACL_ERROR_RT_CONTEXT_NULL, aclrtSetCurrentContext(primary));
}

TEST(the_null_stream_is_the_current_contexts_default_stream)
{
    aclrtStream of_primary = NULL, of_other = NULL;
    struct rt_stream *stream = NULL;
    aclrtContext other = NULL;

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(ACL_SUCCESS, aclrtCtxGetCurrentDefaultStream(&of_primary));
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateContext(&other, 0));
    EXPECT_EQ(ACL_SUCCESS, aclrtCtxGetCurrentDefaultStream(&of_other));
    EXPECT_FALSE(of_primary == of_other);
    EXPECT_EQ(ACL_SUCCESS, rt_stream_hold(NULL, &stream));
    EXPECT_TRUE(rt_stream_handle(stream) == of_other);
    rt_stream_release(stream);
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyContext(other));
    test_expect_error("is not a live stream");
    EXPECT_EQ(ACL_ERROR_RT_INVALID_HANDLE, rt_stream_hold(of_other, &stream));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
}

TEST(create_context_survives_every_failed_allocation)
{
    aclrtContext context = NULL;
    long nth = 0, kept;
    aclError rc;

    EXPECT_EQ(ACL_SUCCESS, aclrtCreateContext(&context, 0));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyContext(context));
    context = NULL;
    kept = hc_alloc_live();
    test_allow_errors();
    do {
        hc_alloc_fail_nth(nth++);
        rc = aclrtCreateContext(&context, 0);
        if (rc != ACL_SUCCESS) {
            EXPECT_EQ(ACL_ERROR_RT_MEMORY_ALLOCATION, rc);
            EXPECT_NULL(context);
            EXPECT_EQ(kept, hc_alloc_live());
        }
    } while (rc != ACL_SUCCESS);
    hc_alloc_fail_nth(-1);
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyContext(context));
    EXPECT_EQ(kept, hc_alloc_live());
}

static void *
destroy_it(void *arg)
{
    return (void *)(intptr_t)aclrtDestroyContext(arg);
}

TEST(of_threads_that_destroy_one_context_exactly_one_succeeds)
{
    test_allow_errors();
    for (int round = 0; round < 50; round++) {
        aclrtContext context = NULL;
        pthread_t threads[4];
        int good = 0;

        EXPECT_EQ(ACL_SUCCESS, aclrtCreateContext(&context, 0));
        for (int i = 0; i < 4; i++)
            EXPECT_EQ(0, pthread_create(&threads[i], NULL, destroy_it, context));
        for (int i = 0; i < 4; i++) {
            void *rc = NULL;

            EXPECT_EQ(0, pthread_join(threads[i], &rc));
            if ((aclError)(intptr_t)rc == ACL_SUCCESS)
                good++;
            else if ((aclError)(intptr_t)rc != ACL_ERROR_RT_CONTEXT_RELEASE_ERROR)
                EXPECT_EQ(ACL_ERROR_RT_CONTEXT_NULL, (aclError)(intptr_t)rc);
        }
        EXPECT_EQ(1, good);
    }
}

/* ---- AICPU threads, and work that is under way ---- */

static void *
acts_for_device_six(void *arg)
{
    struct rt_context *context = NULL;

    (void)arg;
    rt_context_set_aicpu(6);
    EXPECT_TRUE(rt_on_aicpu());
    EXPECT_EQ(6, device_now());
    EXPECT_EQ(ACL_SUCCESS, rt_context_current(&context));
    EXPECT_EQ(6, context->device);
    EXPECT_TRUE(context->primary);
    rt_context_release(context);
    rt_context_set_aicpu(-1);
    EXPECT_FALSE(rt_on_aicpu());
    return NULL;
}

TEST(an_aicpu_thread_acts_for_its_kernels_device)
{
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(6));
    in_thread(acts_for_device_six, NULL);
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(6));
}

static atomic_int slow_runs;

static enum rt_step
run_slowly(struct rt_stream *stream, struct rt_task *task)
{
    (void)task;
    if (rt_stream_waited_ms(stream) < 50) {
        (void)rt_stream_deadline(stream, 50);
        return RT_STEP_PARKED;
    }
    atomic_fetch_add(&slow_runs, 1);
    return RT_STEP_DONE;
}

static const struct rt_task_ops slow_ops = {.name = "slow", .run = run_slowly};

static void
push_slow(void)
{
    const struct rt_task task = {.ops = &slow_ops};
    struct rt_stream *stream = NULL;

    EXPECT_EQ(ACL_SUCCESS, rt_stream_hold(NULL, &stream));
    EXPECT_EQ(ACL_SUCCESS, rt_stream_push(stream, &task));
    rt_stream_release(stream);
}

TEST(the_last_reset_waits_for_the_work)
{
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    push_slow();
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
    EXPECT_EQ(1, atomic_load(&slow_runs));
}

TEST(destroying_a_context_waits_for_the_work)
{
    aclrtContext context = NULL;

    EXPECT_EQ(ACL_SUCCESS, aclrtCreateContext(&context, 0));
    push_slow();
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyContext(context));
    EXPECT_EQ(1, atomic_load(&slow_runs));
}

TEST(synchronize_device_waits_for_the_work_or_the_timeout)
{
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    push_slow();
    EXPECT_EQ(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeDeviceWithTimeout(1));
    EXPECT_EQ(0, atomic_load(&slow_runs));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeDevice());
    EXPECT_EQ(1, atomic_load(&slow_runs));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeDeviceWithTimeout(-1));
    test_expect_error("timeout is 0 ms");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeDeviceWithTimeout(0));
    test_expect_error("timeout is -2 ms");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeDeviceWithTimeout(-2));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
}
