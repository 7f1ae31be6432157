/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "primitive/pair.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "hcomm/hcomm_exception.h"
#include "hcomm/hcomm_primitives_expt.h"
#include "primitive/primitive.h"

static bool
idle(ThreadHandle handle)
{
    return HcommThreadJoin(handle, 0) == 0;
}

/* ---- threads ---- */

TEST(a_wait_queued_before_the_record_is_satisfied_by_it)
{
    struct rank pair[2];

    pair_open(pair, COMM_ENGINE_CPU_TS);
    EXPECT_EQ(0, HcommThreadNotifyWaitOnThread(pair[0].thread[0], 3, 0));
    EXPECT_EQ(0, HcommThreadNotifyRecordOnThread(pair[0].thread[1], pair[0].thread[0], 3));
    EXPECT_EQ(ACL_SUCCESS, thread_sync(pair[0].thread[0]));
    EXPECT_EQ(
        0, HcommThreadNotifyRecordOnThread(pair[0].thread[0], pair[0].thread[0], 1)); /* itself */
    EXPECT_EQ(0, HcommThreadNotifyWaitOnThreadWithDefaultTimeout(pair[0].thread[0], 1));
    EXPECT_EQ(ACL_SUCCESS, thread_sync(pair[0].thread[0]));
    pair_close(pair);
}

TEST(two_records_satisfy_two_waits)
{
    struct rank pair[2];

    pair_open(pair, COMM_ENGINE_CPU_TS);
    for (int i = 0; i < 2; i++)
        EXPECT_EQ(0, HcommThreadNotifyRecordOnThread(pair[0].thread[1], pair[0].thread[0], 0));
    EXPECT_EQ(ACL_SUCCESS, thread_sync(pair[0].thread[1]));
    for (int i = 0; i < 2; i++)
        EXPECT_EQ(0, HcommThreadNotifyWaitOnThread(pair[0].thread[0], 0, 5));
    EXPECT_EQ(ACL_SUCCESS, thread_sync(pair[0].thread[0]));
    EXPECT_EQ(1, test_logged("notify 0 of thread 2 (CPU_TS) of rank 0 in g (id"));
    for (int i = 0; i < 2; i++)
        EXPECT_EQ(0, HcommChannelNotifyRecordOnThread(pair[0].thread[1], pair[0].channel, 1));
    EXPECT_EQ(ACL_SUCCESS, thread_sync(pair[0].thread[1]));
    for (int i = 0; i < 2; i++)
        EXPECT_EQ(0, HcommChannelNotifyWaitOnThread(pair[1].thread[0], pair[1].channel, 1, 5));
    EXPECT_EQ(ACL_SUCCESS, thread_sync(pair[1].thread[0]));
    pair_close(pair);
}

TEST(a_notify_out_of_range_is_refused)
{
    struct rank pair[2];

    pair_open(pair, COMM_ENGINE_AICPU_TS);
    test_expect_error("notify 4 does not exist: thread");
    EXPECT_EQ(HCCL_E_PTR, HcommThreadNotifyWaitOnThread(pair[0].thread[0], PAIR_NOTIFIES, 1));
    EXPECT_EQ(HCCL_E_PTR,
              HcommThreadNotifyRecordOnThread(pair[0].thread[0], pair[0].thread[1], PAIR_NOTIFIES));
    test_expect_error("notify 4294967295 does not exist");
    EXPECT_EQ(HCCL_E_PTR, HcommThreadNotifyWaitOnThread(pair[0].thread[0], UINT32_MAX, 1));
    test_expect_error("no notify with id 50000");
    EXPECT_EQ(HCCL_E_NOT_FOUND, HcommAclrtNotifyRecordOnThread(pair[0].thread[0], 50000));
    EXPECT_EQ(HCCL_E_NOT_FOUND, HcommAclrtNotifyWaitOnThread(pair[0].thread[0], 50000, 1));
    pair_close(pair);
}

TEST(acl_notifies_and_threads_meet_on_the_same_flag)
{
    struct rank pair[2];
    aclrtNotify notify = NULL;
    aclrtStream stream = NULL;
    uint32_t id = 0;

    pair_open(pair, COMM_ENGINE_AICPU_TS);
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateStream(&stream));
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT));
    EXPECT_EQ(ACL_SUCCESS, aclrtGetNotifyId(notify, &id));
    EXPECT_EQ(0, HcommAclrtNotifyWaitOnThread(pair[0].thread[0], id, 10));
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordNotify(notify, stream));
    EXPECT_EQ(ACL_SUCCESS, thread_sync(pair[0].thread[0]));
    EXPECT_EQ(ACL_SUCCESS, aclrtWaitAndResetNotify(notify, stream, 10));
    EXPECT_EQ(0, HcommAclrtNotifyRecordOnThread(pair[0].thread[0], id));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyNotify(notify));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(stream));
    pair_close(pair);
}

TEST(a_wait_that_expires_fails_the_stream_and_names_the_recorder)
{
    struct rank pair[2];

    pair_open(pair, COMM_ENGINE_CPU_TS);
    EXPECT_EQ(0, HcommChannelNotifyWaitOnThread(pair[0].thread[0], pair[0].channel, 2, 1));
    EXPECT_EQ(0, HcommThreadNotifyWaitOnThread(pair[0].thread[1], 1, 1));
    test_expect_error("EI0002: waited 1 s for notify 2 of the channel of rank 0 of g to rank 1");
    test_expect_error("which rank 1 should have recorded");
    test_expect_error("EI0002: waited 1 s for notify 1 of thread");
    EXPECT_NE(ACL_SUCCESS, thread_sync(pair[0].thread[0]));
    EXPECT_NE(ACL_SUCCESS, thread_sync(pair[0].thread[1]));
    pair_close(pair);
}

/* ---- channels, on the calling thread ---- */

static void *
record_later(void *channel)
{
    usleep(50000);
    EXPECT_EQ(0, HcommChannelNotifyRecord(*(ChannelHandle *)channel, 1));
    return NULL;
}

TEST(an_immediate_wait_blocks_until_the_peer_records)
{
    struct rank pair[2];
    pthread_t thread;

    pair_open(pair, COMM_ENGINE_CPU);
    EXPECT_EQ(0, HcommChannelNotifyRecordOnThread(0, pair[1].channel, 0));
    EXPECT_EQ(0, HcommChannelNotifyWait(pair[0].channel, 0, 5)); /* recorded before */
    EXPECT_EQ(0, pthread_create(&thread, NULL, record_later, &pair[1].channel));
    EXPECT_EQ(0, HcommChannelNotifyWaitOnThreadWithDefaultTimeout(0, pair[0].channel, 1));
    pthread_join(thread, NULL);
    /* a wait inside a batch is not staged */
    EXPECT_EQ(0, HcommBatchModeStart("t"));
    EXPECT_EQ(0, pthread_create(&thread, NULL, record_later, &pair[1].channel));
    EXPECT_EQ(0, HcommChannelNotifyWait(pair[0].channel, 1, 5));
    EXPECT_EQ(0, HcommBatchModeEnd("t"));
    pthread_join(thread, NULL);
    pair_close(pair);
}

TEST(an_immediate_wait_ends_with_its_timeout)
{
    struct rank pair[2];
    uint64_t began;

    pair_open(pair, COMM_ENGINE_CPU);
    test_expect_error("a timeout of at least 1 s is needed");
    EXPECT_EQ(HCCL_E_PARA, HcommChannelNotifyWait(pair[0].channel, 0, 0));
    test_expect_error("notify 9 does not exist");
    EXPECT_EQ(HCCL_E_PARA, HcommChannelNotifyWait(pair[0].channel, 9, 1));
    EXPECT_EQ(HCCL_E_PARA, HcommChannelNotifyRecord(pair[0].channel, 9));
    began = hc_now_ns();
    test_expect_error(
        "waited 1 s for notify 0 of the channel of rank 0 of g to rank 1, which rank 1 "
        "should have recorded");
    EXPECT_EQ(HCCL_E_TIMEOUT, HcommChannelNotifyWait(pair[0].channel, 0, 1));
    EXPECT_TRUE(hc_now_ns() - began >= 1000000000u);
    test_expect_error("thread handle is 0");
    pair_close(pair);
    pair_open(pair, COMM_ENGINE_AICPU_TS); /* other engines need a thread, or the immediate call */
    EXPECT_EQ(HCCL_E_PTR, HcommChannelNotifyRecordOnThread(0, pair[0].channel, 0));
    EXPECT_EQ(0, HcommChannelNotifyRecord(pair[0].channel, 0));
    EXPECT_EQ(0, HcommChannelNotifyWait(pair[1].channel, 0, 1));
    pair_close(pair);
}

TEST(records_on_a_channel_of_engine_cpu_queue_in_either_mode)
{
    struct rank pair[2];

    setenv("HCOMM_NOTIFY_MODE", "strict", 1);
    pair_open(pair, COMM_ENGINE_CPU);
    for (int i = 0; i < 3; i++)
        EXPECT_EQ(0, HcommChannelNotifyRecord(pair[1].channel, 0));
    for (int i = 0; i < 3; i++)
        EXPECT_EQ(0, HcommChannelNotifyWait(pair[0].channel, 0, 5));
    EXPECT_EQ(0, test_logged("recorded again"));
    pair_close(pair);
}

/* ---- timeouts ---- */

static void *
own_default(void *arg)
{
    EXPECT_EQ(1886, prim_default_wait_s());
    EXPECT_EQ(0, HcommSetNotifyWaitTimeOut(7.9f));
    EXPECT_EQ(7, prim_default_wait_s());
    return arg;
}

TEST(the_default_timeout_belongs_to_the_calling_thread)
{
    pthread_t thread;

    EXPECT_EQ(1886, prim_default_wait_s());
    EXPECT_EQ(0, HcommSetNotifyWaitTimeOut(0));
    EXPECT_EQ(0, prim_default_wait_s());
    EXPECT_EQ(0, pthread_create(&thread, NULL, own_default, NULL));
    pthread_join(thread, NULL);
    EXPECT_EQ(0, prim_default_wait_s());
    test_expect_error("is no number of seconds");
    EXPECT_EQ(HCCL_E_PARA, HcommSetNotifyWaitTimeOut(-1));
    EXPECT_EQ(HCCL_E_PARA, HcommSetNotifyWaitTimeOut(NAN));
    EXPECT_EQ(HCCL_E_PARA, HcommSetNotifyWaitTimeOut(4294967296.0f));
    EXPECT_EQ(HCCL_E_PARA, HcommSetNotifyWaitTimeOut(INFINITY));
    EXPECT_EQ(0, prim_default_wait_s());
    test_expect_error("only AICPU kernels have it");
    EXPECT_EQ(HCCL_E_NOT_SUPPORT, HcommThreadResAcquireTimeOut(1));
}

/* ---- batches, join, drain ---- */

TEST(a_batch_starts_at_its_end)
{
    struct rank pair[2];

    pair_open(pair, COMM_ENGINE_AICPU_TS);
    pair[0].buf[0] = 1;
    EXPECT_EQ(0, HcommBatchModeStart("tag"));
    EXPECT_EQ(0, HcommThreadNotifyWaitOnThread(pair[0].thread[0], 0, 10));
    EXPECT_EQ(0,
              HcommWriteOnThread(pair[0].thread[0], pair[0].channel, pair[1].buf, pair[0].buf, 1));
    EXPECT_EQ(0, HcommThreadNotifyRecordOnThread(pair[0].thread[1], pair[0].thread[0], 0));
    EXPECT_TRUE(idle(pair[0].thread[0]));
    test_expect_error("is inside a batch already");
    EXPECT_EQ(HCCL_E_PARA, HcommBatchModeStart(NULL));
    usleep(10000);
    EXPECT_EQ(0, pair[1].buf[0]);
    EXPECT_EQ(0, HcommBatchModeEnd("tag"));
    EXPECT_EQ(ACL_SUCCESS, thread_sync(pair[0].thread[0]));
    EXPECT_EQ(1, pair[1].buf[0]);
    EXPECT_EQ(0, HcommBatchModeStart(NULL)); /* an empty one */
    EXPECT_EQ(0, HcommBatchModeEnd(NULL));
    EXPECT_EQ(0, HcommBatchModeEnd(NULL));
    pair_close(pair);
}

TEST(join_and_drain_wait_for_an_empty_queue)
{
    struct rank pair[2];

    pair_open(pair, COMM_ENGINE_AICPU_TS);
    EXPECT_EQ(0, HcommThreadJoin(pair[0].thread[0], 0));
    EXPECT_EQ(0, HcommThreadNotifyWaitOnThread(pair[0].thread[0], 0, 60));
    test_expect_error("still has tasks after 0 s");
    EXPECT_EQ(HCCL_E_TIMEOUT, HcommThreadJoin(pair[0].thread[0], 0));
    test_expect_error("still has tasks after 1 s");
    EXPECT_EQ(HCCL_E_TIMEOUT, HcommThreadJoin(pair[0].thread[0], 1));
    EXPECT_EQ(0,
              HcommWriteOnThread(pair[0].thread[0], pair[0].channel, pair[1].buf, pair[0].buf, 1));
    EXPECT_EQ(0, HcommThreadNotifyRecordOnThread(pair[0].thread[1], pair[0].thread[0], 0));
    EXPECT_EQ(0, HcommChannelDrainOnThread(pair[0].thread[0], pair[0].channel));
    EXPECT_EQ(0, HcommThreadJoin(pair[0].thread[0], 0));
    pair_close(pair);
}

TEST(a_forked_child_is_refused)
{
    struct rank pair[2];
    int status = -1;
    pid_t child;

    pair_open(pair, COMM_ENGINE_CPU_TS);
    child = fork();
    if (child == 0)
        _exit(HcommThreadNotifyRecordOnThread(pair[0].thread[0], pair[0].thread[0], 0) ==
                      HCCL_E_UNAVAIL
                  ? 0
                  : 1);
    EXPECT_EQ(child, waitpid(child, &status, 0));
    EXPECT_EQ(0, status);
    EXPECT_EQ(0, HcommThreadNotifyRecordOnThread(pair[0].thread[0], pair[0].thread[0], 0));
    EXPECT_EQ(ACL_SUCCESS, thread_sync(pair[0].thread[0]));
    pair_close(pair);
}

/* ---- exceptions ---- */

static HcommExceptionInfo told;
static int times_told;

static void
remember(const HcommExceptionInfo *info, void *user_data)
{
    told = *info;
    times_told += *(int *)user_data;
}

TEST(a_failed_task_of_a_thread_is_told_to_whoever_registered)
{
    struct rank pair[2];
    int step = 1;

    pair_open(pair, COMM_ENGINE_AICPU_TS);
    EXPECT_EQ(0, HcommExceptionRegisterCallback(remember, &step));
    EXPECT_EQ(0, HcommThreadNotifyWaitOnThread(pair[0].thread[1], 0, 1));
    test_expect_error("EI0002");
    EXPECT_NE(ACL_SUCCESS, thread_sync(pair[0].thread[1]));
    EXPECT_EQ(1, times_told);
    EXPECT_TRUE(told.thread == pair[0].thread[1]);
    EXPECT_EQ(ACL_ERROR_RT_TASK_TIMEOUT, told.retCode);
    EXPECT_EQ(0, HcommExceptionUnregisterCallback(remember));
    test_expect_error("is not registered");
    EXPECT_EQ(HCCL_E_NOT_FOUND, HcommExceptionUnregisterCallback(remember));
    test_expect_error("cb is NULL");
    EXPECT_EQ(HCCL_E_PTR, HcommExceptionRegisterCallback(NULL, NULL));
    pair_close(pair);
}

/* ---- the task cache ---- */

TEST(the_task_cache_is_an_ascend950s)
{
    bool hit;

    test_expect_error("has no task cache");
    EXPECT_EQ(HCCL_E_NOT_SUPPORT, HcommAicpuTsTaskCacheLookup("t", &hit));
}

TEST(the_task_cache_always_misses)
{
    uint64_t size = 8;
    void *addr = &size;
    bool hit = true;

    setenv("HCOMM_SOC_NAME", "Ascend950PR_9599", 1);
    test_expect_error("no lookup of this OS thread has missed before");
    EXPECT_EQ(HCCL_E_INTERNAL, HcommAicpuTsTaskCacheStart("t", &addr, &size, 1));
    EXPECT_EQ(0, HcommAicpuTsTaskCacheLookup("t", &hit));
    EXPECT_FALSE(hit);
    test_expect_error("this OS thread has looked up \"t\"");
    EXPECT_EQ(HCCL_E_PARA, HcommAicpuTsTaskCacheStart("u", &addr, &size, 1));
    EXPECT_EQ(0, HcommAicpuTsTaskCacheStart("t", &addr, &size, 1));
    EXPECT_EQ(0, HcommAicpuTsTaskCacheEnd("t"));
    test_expect_error("no recording has been started");
    EXPECT_EQ(HCCL_E_INTERNAL, HcommAicpuTsTaskCacheEnd("t"));
    EXPECT_EQ(0, HcommAicpuTsTaskCacheLookup("t", &hit));
    EXPECT_FALSE(hit);
    test_expect_error("has hit before");
    EXPECT_EQ(HCCL_E_INTERNAL, HcommAicpuTsTaskCacheExecute("t", &addr, &size, 1));
    EXPECT_EQ(0, HcommAicpuTsTaskCacheClear("t"));
    test_expect_error("tag is NULL");
    EXPECT_EQ(HCCL_E_PTR, HcommAicpuTsTaskCacheClear(NULL));
}

/* ---- stress ---- */

TEST(a_hundred_thousand_rounds_of_ping_pong)
{
    enum { ROUNDS = 100000, AT_ONCE = 1000 };
    struct rank pair[2];

    pair_open(pair, COMM_ENGINE_AICPU_TS);
    test_time_limit(120);
    for (int round = 0; round < ROUNDS; round++) {
        EXPECT_EQ(0, HcommChannelNotifyRecordOnThread(pair[0].thread[0], pair[0].channel, 0));
        EXPECT_EQ(0, HcommChannelNotifyWaitOnThread(pair[0].thread[0], pair[0].channel, 1, 60));
        EXPECT_EQ(0, HcommChannelNotifyWaitOnThread(pair[1].thread[0], pair[1].channel, 0, 60));
        EXPECT_EQ(0, HcommChannelNotifyRecordOnThread(pair[1].thread[0], pair[1].channel, 1));
        if (round % AT_ONCE == AT_ONCE - 1)
            EXPECT_EQ(ACL_SUCCESS, thread_sync(pair[round / AT_ONCE % 2].thread[0]));
    }
    EXPECT_EQ(ACL_SUCCESS, thread_sync(pair[0].thread[0]));
    EXPECT_EQ(ACL_SUCCESS, thread_sync(pair[1].thread[0]));
    pair_close(pair);
}

enum { ISSUE_ROUNDS = 20000 };

struct issuer {
    struct rank *own, *peer;
};

/* Each round sends the peer a number, and adds up what the peer has sent. */
static void *
issue(void *arg)
{
    struct issuer *issuer = arg;
    ThreadHandle thread = issuer->own->thread[0];
    ChannelHandle channel = issuer->own->channel;
    int64_t *own = (int64_t *)(void *)issuer->own->buf,
            *peer = (int64_t *)(void *)issuer->peer->buf;
    int64_t *number = own, *one = own + 1, *sum = own + 2, *slot = own + 3;

    *one = 1;
    for (int round = 0; round < ISSUE_ROUNDS; round++) {
        EXPECT_EQ(0, HcommLocalReduceOnThread(thread, number, one, 1, HCOMM_DATA_TYPE_INT64,
                                              HCOMM_REDUCE_SUM));
        EXPECT_EQ(0, HcommWriteWithNotifyOnThread(thread, channel, peer + 3, number, 8, 0));
        EXPECT_EQ(0, HcommChannelNotifyWaitOnThread(thread, channel, 0, 60));
        EXPECT_EQ(0, HcommLocalReduceOnThread(thread, sum, slot, 1, HCOMM_DATA_TYPE_INT64,
                                              HCOMM_REDUCE_SUM));
        EXPECT_EQ(0, HcommChannelNotifyRecordOnThread(thread, channel, 1)); /* the slot is free */
        EXPECT_EQ(0, HcommChannelNotifyWaitOnThread(thread, channel, 1, 60));
        if (round % 100 == 0)
            EXPECT_EQ(ACL_SUCCESS, thread_sync(thread));
    }
    EXPECT_EQ(ACL_SUCCESS, thread_sync(thread));
    EXPECT_EQ((int64_t)ISSUE_ROUNDS * (ISSUE_ROUNDS + 1) / 2, *sum);
    return NULL;
}

TEST(two_ranks_that_issue_from_their_own_os_threads_see_each_others_data)
{
    struct rank pair[2];
    struct issuer issuers[2] = {{&pair[0], &pair[1]}, {&pair[1], &pair[0]}};
    pthread_t threads[2];

    pair_open(pair, COMM_ENGINE_CPU_TS);
    for (int i = 0; i < 2; i++)
        EXPECT_EQ(0, pthread_create(&threads[i], NULL, issue, &issuers[i]));
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    pair_close(pair);
}
