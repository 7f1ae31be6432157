/* SPDX-License-Identifier: BSD-3-Clause */
/* Primitives in captures: what a thread's stream records, and threads that follow one another. */
#define _GNU_SOURCE
#include "primitive/pair.h"

#include "hcomm/hcomm_primitives_expt.h"

#define GLOBAL ACL_MODEL_RI_CAPTURE_MODE_GLOBAL
#define TIMEOUT_S 60u

static aclrtStream
stream_of(ThreadHandle thread)
{
    aclrtStream stream = NULL;

    EXPECT_EQ(
        0, HcommThreadResGetInfo(thread, THREAD_RES_TYPE_STREAM, sizeof stream, (void **)&stream));
    return stream;
}

static void
run_once(aclmdlRI graph, aclrtStream stream)
{
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIExecuteAsync(graph, stream));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(stream));
}

/* own[0..3] to the peer, sum of both back to own[4..7], and each tells the other. */
static void
queue_exchange(struct rank pair[2], ThreadHandle thread)
{
    int32_t *own = (int32_t *)(void *)pair[0].buf, *peer = (int32_t *)(void *)pair[1].buf;

    EXPECT_EQ(0, HcommLocalCopyOnThread(thread, own + 4, own, 16));
    EXPECT_EQ(0, HcommLocalReduceOnThread(thread, own + 4, own, 4, HCOMM_DATA_TYPE_INT32,
                                          HCOMM_REDUCE_SUM));
    EXPECT_EQ(0, HcommWriteOnThread(thread, pair[0].channel, peer, own + 4, 16));
    EXPECT_EQ(0, HcommWriteReduceOnThread(thread, pair[0].channel, peer, own, 4,
                                          HCOMM_DATA_TYPE_INT32, HCOMM_REDUCE_SUM));
    EXPECT_EQ(0, HcommReadOnThread(thread, pair[0].channel, own + 8, peer, 16));
    EXPECT_EQ(0, HcommReadReduceOnThread(thread, pair[0].channel, own + 8, peer, 4,
                                         HCOMM_DATA_TYPE_INT32, HCOMM_REDUCE_SUM));
    EXPECT_EQ(0, HcommChannelFenceOnThread(thread, pair[0].channel));
    EXPECT_EQ(0, HcommChannelNotifyRecordOnThread(thread, pair[0].channel, 0));
    EXPECT_EQ(0, HcommChannelNotifyWaitOnThread(thread, pair[0].channel, 1, TIMEOUT_S));
}

static void
queue_answer(struct rank pair[2])
{
    ThreadHandle thread = pair[1].thread[0];

    EXPECT_EQ(0, HcommChannelNotifyWaitOnThread(thread, pair[1].channel, 0, TIMEOUT_S));
    EXPECT_EQ(0, HcommChannelNotifyRecordOnThread(thread, pair[1].channel, 1));
}

TEST_WITH(primitives_are_recorded_and_replayed_on_every_engine, TEST_KEEPS_MEMORY)
{
    static const CommEngine engines[] = {COMM_ENGINE_CPU_TS, COMM_ENGINE_AICPU_TS};

    for (size_t e = 0; e < sizeof engines / sizeof engines[0]; e++) {
        struct rank pair[2];
        aclrtStream stream;
        aclmdlRI graph;
        int32_t *own;

        pair_open(pair, engines[e]);
        own = (int32_t *)(void *)pair[0].buf;
        stream = stream_of(pair[0].thread[0]);
        EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(stream, GLOBAL));
        queue_exchange(pair, pair[0].thread[0]);
        EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureEnd(stream, &graph));
        EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(stream));
        for (int32_t run = 1; run <= 5; run++) {
            for (int i = 0; i < 4; i++)
                own[i] = run * 10 + i;
            queue_answer(pair);
            run_once(graph, stream);
            for (int i = 0; i < 4; i++)
                EXPECT_EQ(6 * (run * 10 + i), own[8 + i]);
        }
        EXPECT_EQ(ACL_SUCCESS, thread_sync(pair[1].thread[0]));
        EXPECT_EQ(ACL_SUCCESS, aclmdlRIDestroy(graph));
        pair_close(pair);
    }
}

/* The first thread has the second one copy a word, and waits for it; as operators of several
 * threads do. */
static void
queue_two_threads(struct rank *rank)
{
    ThreadHandle first = rank->thread[0], second = rank->thread[1];
    uint64_t *words = (uint64_t *)(void *)rank->buf;

    EXPECT_EQ(0, HcommLocalCopyOnThread(first, words + 1, words, 8));
    EXPECT_EQ(0, HcommThreadNotifyRecordOnThread(first, second, 0));
    EXPECT_EQ(0, HcommThreadNotifyWaitOnThread(second, 0, TIMEOUT_S));
    EXPECT_EQ(0, HcommLocalCopyOnThread(second, words + 2, words + 1, 8));
    EXPECT_EQ(0, HcommThreadNotifyRecordOnThread(second, first, 0));
    EXPECT_EQ(0, HcommThreadNotifyWaitOnThread(first, 0, TIMEOUT_S));
    EXPECT_EQ(0, HcommLocalCopyOnThread(first, words + 3, words + 2, 8));
}

TEST_WITH(a_thread_that_waits_for_a_captured_record_takes_part_in_the_capture, TEST_KEEPS_MEMORY)
{
    struct rank pair[2];
    uint64_t *words;
    aclrtStream stream;
    aclmdlRI graph;

    pair_open(pair, COMM_ENGINE_CPU_TS);
    words = (uint64_t *)(void *)pair[0].buf;
    stream = stream_of(pair[0].thread[0]);
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(stream, GLOBAL));
    queue_two_threads(&pair[0]);
    queue_two_threads(&pair[0]);
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureEnd(stream, &graph));
    EXPECT_EQ(ACL_SUCCESS, thread_sync(pair[0].thread[1]));
    EXPECT_EQ(0, words[3]);
    for (uint64_t run = 1; run <= 5; run++) {
        words[0] = run;
        run_once(graph, stream);
        EXPECT_EQ(run, words[3]);
    }
    words[0] = 9; /* outside they are as they were */
    queue_two_threads(&pair[0]);
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    EXPECT_EQ(9, words[3]);
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIDestroy(graph));
    pair_close(pair);
}

TEST_WITH(a_run_over_a_channel_that_was_destroyed_is_refused, TEST_KEEPS_MEMORY)
{
    struct rank pair[2];
    aclrtStream stream;
    aclmdlRI graph;

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateStream(&stream));
    pair_open(pair, COMM_ENGINE_CPU_TS);
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(stream_of(pair[0].thread[0]), GLOBAL));
    EXPECT_EQ(0,
              HcommWriteOnThread(pair[0].thread[0], pair[0].channel, pair[1].buf, pair[0].buf, 8));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureEnd(stream_of(pair[0].thread[0]), &graph));
    run_once(graph, stream);
    for (int i = 0; i < 2; i++) {
        EXPECT_EQ(HCCL_SUCCESS, res_thread_destroy(pair[i].thread[0]));
        EXPECT_EQ(HCCL_SUCCESS, res_thread_destroy(pair[i].thread[1]));
        EXPECT_EQ(HCCL_SUCCESS, res_channel_destroy(pair[i].channel));
    }
    test_expect_error("again: the channel was destroyed after this had been captured");
    EXPECT_EQ(ACL_ERROR_RT_INVALID_HANDLE, aclmdlRIExecuteAsync(graph, stream));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIDestroy(graph));
    EXPECT_EQ(ACL_SUCCESS, rt_mem_free(pair[0].buf));
    EXPECT_EQ(ACL_SUCCESS, rt_mem_free(pair[1].buf));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(stream));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceForce(1));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceForce(0));
}

TEST_WITH(a_run_over_a_channel_whose_peer_is_gone_fails_as_its_tasks_do, TEST_KEEPS_MEMORY)
{
    struct rank pair[2];
    aclrtStream stream;
    aclmdlRI graph;

    pair_open(pair, COMM_ENGINE_CPU_TS);
    stream = stream_of(pair[0].thread[0]);
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(stream, GLOBAL));
    EXPECT_EQ(0,
              HcommWriteOnThread(pair[0].thread[0], pair[0].channel, pair[1].buf, pair[0].buf, 8));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureEnd(stream, &graph));
    EXPECT_EQ(HCCL_SUCCESS, res_channel_destroy(pair[1].channel));
    test_expect_error("cannot write 8 bytes");
    for (int i = 0; i < 2; i++) {
        EXPECT_EQ(ACL_SUCCESS, aclmdlRIExecuteAsync(graph, stream));
        EXPECT_EQ(ACL_ERROR_RT_SUSPECT_REMOTE_ERROR, aclrtSynchronizeStream(stream));
    }
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIDestroy(graph));
    EXPECT_EQ(HCCL_SUCCESS, res_channel_destroy(pair[0].channel));
    for (int i = 0; i < 2; i++) {
        EXPECT_EQ(HCCL_SUCCESS, res_thread_destroy(pair[i].thread[0]));
        EXPECT_EQ(HCCL_SUCCESS, res_thread_destroy(pair[i].thread[1]));
        EXPECT_EQ(ACL_SUCCESS, rt_mem_free(pair[i].buf));
    }
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceForce(1));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceForce(0));
}

TEST_WITH(a_thread_that_is_captured_cannot_be_drained, TEST_KEEPS_MEMORY)
{
    struct rank pair[2];
    aclmdlRI graph = NULL;
    aclrtStream stream;

    pair_open(pair, COMM_ENGINE_CPU_TS);
    stream = stream_of(pair[0].thread[0]);
    test_expect_error("is being captured into graph");
    test_expect_error("was called for a stream of it");
    for (int way = 0; way < 2; way++) {
        EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(stream, GLOBAL));
        EXPECT_NE(0, way == 0 ? HcommThreadJoin(pair[0].thread[0], 1)
                              : HcommChannelDrainOnThread(pair[0].thread[0], pair[0].channel));
        EXPECT_EQ(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, aclmdlRICaptureEnd(stream, &graph));
    }
    pair_close(pair);
}
