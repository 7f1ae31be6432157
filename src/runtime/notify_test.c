/* SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "acl/acl_rt.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "runtime/notify.h"
#include "tests/support/test.h"

static aclrtStream a, b;
static aclrtNotify notify;

static void
begin(void)
{
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateStream(&a));
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateStream(&b));
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT));
}

static void
end(void)
{
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyNotify(notify));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(a));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(b));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
}

TEST(a_record_before_the_wait_is_remembered)
{
    begin();
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordNotify(notify, a));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(a));
    EXPECT_EQ(ACL_SUCCESS, aclrtWaitAndResetNotify(notify, b, 5));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(b));
    end();
}

TEST(a_wait_queued_first_is_met_by_a_later_record)
{
    begin();
    EXPECT_EQ(ACL_SUCCESS, aclrtWaitAndResetNotify(notify, b, 5));
    EXPECT_EQ(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(b, 20));
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordNotify(notify, a));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(b));
    end();
}

TEST(two_records_satisfy_two_waits_and_are_remarked_upon_once)
{
    begin();
    for (int i = 0; i < 3; i++)
        EXPECT_EQ(ACL_SUCCESS, aclrtRecordNotify(notify, a));
    for (int i = 0; i < 3; i++)
        EXPECT_EQ(ACL_SUCCESS, aclrtWaitAndResetNotify(notify, a, 5));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(a));
    EXPECT_EQ(1, test_logged("recorded again before it was waited for"));
    end();
}

TEST(in_strict_mode_a_second_record_is_lost)
{
    setenv("HCOMM_NOTIFY_MODE", "strict", 1);
    test_expect_error("EI0002: waited 1 s for a notify of aclrtCreateNotify");
    begin();
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordNotify(notify, a));
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordNotify(notify, a));
    EXPECT_EQ(ACL_SUCCESS, aclrtWaitAndResetNotify(notify, a, 1));
    EXPECT_EQ(ACL_SUCCESS, aclrtWaitAndResetNotify(notify, a, 1));
    EXPECT_EQ(ACL_ERROR_RT_TASK_TIMEOUT, aclrtSynchronizeStreamWithTimeout(a, 20000));
    end();
}

TEST(a_wait_that_is_not_met_fails_its_stream_in_time)
{
    uint64_t took;

    test_expect_error("EI0002: waited 1 s for a notify of aclrtCreateNotify");
    begin();
    took = hc_now_ns();
    EXPECT_EQ(ACL_SUCCESS, aclrtWaitAndResetNotify(notify, b, 1));
    EXPECT_EQ(ACL_ERROR_RT_TASK_TIMEOUT, aclrtSynchronizeStreamWithTimeout(b, 20000));
    took = hc_now_ns() - took;
    EXPECT_TRUE(took >= 1000000000u);
    EXPECT_CONTAINS("which nobody known should have recorded", aclGetRecentErrMsg());
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordNotify(notify, a)); /* and the notify still works */
    EXPECT_EQ(ACL_SUCCESS, aclrtWaitAndResetNotify(notify, b, 1));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(b));
    end();
}

TEST(a_second_waiter_is_refused)
{
    test_expect_error("already has a waiter");
    begin();
    EXPECT_EQ(ACL_SUCCESS, aclrtWaitAndResetNotify(notify, a, 0));
    EXPECT_EQ(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(a, 50));
    EXPECT_EQ(ACL_SUCCESS, aclrtWaitAndResetNotify(notify, b, 0));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeStreamWithTimeout(b, 5000));
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordNotify(notify, b));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(a));
    end();
}

#ifndef __SANITIZE_THREAD__ /* its own background thread only naps, so nothing can be proven */
TEST(a_deadlock_is_reported_at_once_with_who_waits_for_what)
{
    uint64_t took;
    aclrtNotify other;

    test_expect_error("deadlock");
    begin();
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateNotify(&other, ACL_NOTIFY_DEFAULT));
    EXPECT_EQ(ACL_SUCCESS, aclrtWaitAndResetNotify(notify, a, 0)); /* each waits for the other */
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordNotify(other, a));
    EXPECT_EQ(ACL_SUCCESS, aclrtWaitAndResetNotify(other, b, 0));
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordNotify(notify, b));
    took = hc_now_ns();
    EXPECT_EQ(ACL_ERROR_RT_TASK_TIMEOUT, aclrtSynchronizeStream(a));
    EXPECT_EQ(ACL_ERROR_RT_TASK_TIMEOUT, aclrtSynchronizeStream(b));
    took = hc_now_ns() - took;
    EXPECT_TRUE(took < 20000000000u);
    EXPECT_CONTAINS("wait for a notify of aclrtCreateNotify", aclGetRecentErrMsg());
    EXPECT_EQ(2, test_logged("deadlock: stream"));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyNotify(other));
    end();
}
#endif

static void *
record_late(void *arg)
{
    (void)arg;
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    usleep(3500000);
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordNotify(notify, b));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
    return NULL;
}

TEST(a_late_record_by_a_sleeping_thread_is_no_deadlock)
{
    pthread_t thread;

    begin();
    EXPECT_EQ(ACL_SUCCESS, aclrtWaitAndResetNotify(notify, a, 0));
    EXPECT_EQ(0, pthread_create(&thread, NULL, record_late, NULL));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(a));
    EXPECT_EQ(0, pthread_join(thread, NULL));
    end();
}

TEST(a_long_wait_gets_one_line)
{
    setenv("HCOMM_STALL_WARN", "1", 1);
    begin();
    EXPECT_EQ(ACL_SUCCESS, aclrtWaitAndResetNotify(notify, a, 0));
    EXPECT_EQ(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(a, 4500));
    EXPECT_EQ(1, test_logged("s: wait for a notify of aclrtCreateNotify"));
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordNotify(notify, b));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(a));
    end();
}

TEST(two_streams_hand_a_notify_back_and_forth)
{
    aclrtNotify back;

    begin();
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateNotify(&back, ACL_NOTIFY_DEFAULT));
    for (int i = 0; i < 20000; i++) {
        EXPECT_EQ(ACL_SUCCESS, aclrtRecordNotify(notify, a));
        EXPECT_EQ(ACL_SUCCESS, aclrtWaitAndResetNotify(back, a, 30));
        EXPECT_EQ(ACL_SUCCESS, aclrtWaitAndResetNotify(notify, b, 30));
        EXPECT_EQ(ACL_SUCCESS, aclrtRecordNotify(back, b));
    }
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(a));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(b));
    EXPECT_EQ(0, test_logged("recorded again"));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyNotify(back));
    end();
}

TEST(an_id_finds_its_notify_until_it_is_destroyed)
{
    struct rt_notify *held;
    uint32_t id;

    begin();
    EXPECT_EQ(ACL_SUCCESS, aclrtGetNotifyId(notify, &id));
    held = rt_notify_hold(0, id);
    EXPECT_NOT_NULL(held);
    EXPECT_EQ(id, rt_notify_id(held));
    rt_notify_unhold(held);
    EXPECT_NULL(rt_notify_hold(0, id + 1));
    EXPECT_NULL(rt_notify_hold(0, UINT64_MAX));
    end();
    EXPECT_NULL(rt_notify_hold(0, id));
}

TEST(bad_notify_arguments_are_refused)
{
    aclrtNotify none = NULL;
    uint32_t id;

    begin();
    test_allow_errors();
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtCreateNotify(NULL, 0));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtCreateNotify(&none, 2));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtRecordNotify(NULL, a));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtGetNotifyId(notify, NULL));
    EXPECT_EQ(ACL_ERROR_RT_INVALID_HANDLE, aclrtRecordNotify(&id, a));
    EXPECT_EQ(ACL_ERROR_RT_INVALID_HANDLE, aclrtWaitAndResetNotify(a, a, 1));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtNotifyBatchReset(NULL, 1));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtNotifyBatchReset(&notify, 0));
    end();
}

TEST(whatever_allocation_fails_a_notify_is_whole_or_not_there)
{
    aclrtNotify fresh = NULL;
    long nth = 0;

    begin();
    test_allow_errors();
    for (;;) {
        hc_alloc_fail_nth(nth++);
        if (aclrtCreateNotify(&fresh, 0) == ACL_SUCCESS)
            break;
        EXPECT_NULL(fresh);
    }
    hc_alloc_fail_nth(-1);
    EXPECT_TRUE(nth > 2);
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyNotify(fresh));
    end();
}
