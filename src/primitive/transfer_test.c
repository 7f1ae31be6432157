/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "primitive/pair.h"

#include "base/alloc.h"

static const CommEngine engines[] = {COMM_ENGINE_CPU, COMM_ENGINE_CPU_TS, COMM_ENGINE_AICPU,
                                     COMM_ENGINE_AICPU_TS};

static void
fill(int32_t *at, int num, int32_t first)
{
    for (int i = 0; i < num; i++)
        at[i] = first + i;
}

TEST(local_copy_and_reduce_run_in_order)
{
    for (size_t e = 0; e < sizeof engines / sizeof engines[0]; e++) {
        struct rank pair[2];
        int32_t *buf;

        pair_open(pair, engines[e]);
        buf = (int32_t *)(void *)pair[0].buf;
        fill(buf, 4, 1);
        EXPECT_EQ(0, HcommLocalCopyOnThread(pair[0].thread[0], buf + 4, buf, 16));
        EXPECT_EQ(0, HcommLocalReduceOnThread(pair[0].thread[0], buf + 4, buf, 4,
                                              HCOMM_DATA_TYPE_INT32, HCOMM_REDUCE_SUM));
        EXPECT_EQ(0, HcommLocalReduceOnThread(pair[0].thread[0], buf, buf + 4, 4,
                                              HCOMM_DATA_TYPE_INT32, HCOMM_REDUCE_MAX));
        EXPECT_EQ(ACL_SUCCESS, thread_sync(pair[0].thread[0]));
        for (int i = 0; i < 4; i++) {
            EXPECT_EQ(2 * (i + 1), buf[4 + i]);
            EXPECT_EQ(2 * (i + 1), buf[i]);
        }
        pair_close(pair);
    }
}

TEST(local_calls_that_move_nothing_succeed_and_bad_ones_are_refused)
{
    struct rank pair[2];
    char *buf;

    pair_open(pair, COMM_ENGINE_CPU_TS);
    buf = pair[0].buf;
    EXPECT_EQ(0, HcommLocalCopyOnThread(pair[0].thread[0], buf, buf + 8, 0));
    EXPECT_EQ(0, HcommLocalCopyOnThread(pair[0].thread[0], buf, buf, 8));
    EXPECT_EQ(0, HcommLocalReduceOnThread(pair[0].thread[0], buf, buf + 8, 0, HCOMM_DATA_TYPE_FP32,
                                          HCOMM_REDUCE_SUM));
    test_expect_error("HcommLocalCopyOnThread: dst is NULL");
    EXPECT_EQ(HCCL_E_PTR, HcommLocalCopyOnThread(pair[0].thread[0], NULL, buf, 8));
    test_expect_error("HcommLocalCopyOnThread: src is NULL");
    EXPECT_EQ(HCCL_E_PTR, HcommLocalCopyOnThread(pair[0].thread[0], buf, NULL, 8));
    test_expect_error("HcommLocalReduceOnThread: src is NULL");
    EXPECT_EQ(HCCL_E_PTR, HcommLocalReduceOnThread(pair[0].thread[0], buf, NULL, 8,
                                                   HCOMM_DATA_TYPE_FP32, HCOMM_REDUCE_SUM));
    test_expect_error("operator");
    EXPECT_EQ(HCCL_E_PARA, HcommLocalReduceOnThread(pair[0].thread[0], buf, buf + 8, 1,
                                                    (HcommDataType)13, HCOMM_REDUCE_SUM));
    EXPECT_EQ(HCCL_E_PARA, HcommLocalReduceOnThread(pair[0].thread[0], buf, buf + 8, 1,
                                                    HCOMM_DATA_TYPE_FP32, (HcommReduceOp)255));
    test_expect_error("more than memory has bytes");
    EXPECT_EQ(HCCL_E_PARA, HcommLocalReduceOnThread(pair[0].thread[0], buf, buf + 8, UINT64_MAX / 2,
                                                    HCOMM_DATA_TYPE_FP32, HCOMM_REDUCE_SUM));
    pair_close(pair);
}

TEST(bad_thread_and_channel_handles_are_told)
{
    struct rank pair[2];
    ThreadHandle stale;
    char *buf;

    pair_open(pair, COMM_ENGINE_CPU_TS);
    buf = pair[0].buf;
    test_expect_error("thread handle is 0");
    EXPECT_EQ(HCCL_E_PTR, HcommLocalCopyOnThread(0, buf, buf + 8, 8));
    EXPECT_EQ(HCCL_E_PTR, HcommWriteOnThread(0, pair[0].channel, pair[1].buf, buf, 8));
    test_expect_error("it is no handle at all (uninitialised?)");
    EXPECT_EQ(HCCL_E_NOT_FOUND, HcommLocalCopyOnThread(0x7f0012340000u, buf, buf + 8, 8));
    EXPECT_EQ(HCCL_E_NOT_FOUND, HcommThreadNotifyRecordOnThread(pair[0].thread[0], 77, 0));
    test_expect_error("it is a handle of another kind");
    EXPECT_EQ(HCCL_E_NOT_FOUND, HcommLocalCopyOnThread(pair[0].channel, buf, buf + 8, 8));
    EXPECT_EQ(HCCL_E_NOT_FOUND,
              HcommWriteOnThread(pair[0].thread[0], pair[0].thread[0], pair[1].buf, buf, 8));
    test_expect_error("channel handle is 0");
    EXPECT_EQ(HCCL_E_PTR, HcommReadOnThread(pair[0].thread[0], 0, buf, pair[1].buf, 8));
    EXPECT_EQ(HCCL_E_PTR, HcommWriteNbi(0, pair[1].buf, buf, 8));
    stale = pair[0].thread[1];
    EXPECT_EQ(HCCL_SUCCESS, res_thread_destroy(stale));
    test_expect_error("it is already destroyed");
    EXPECT_EQ(HCCL_E_NOT_FOUND, HcommThreadNotifyWaitOnThread(stale, 0, 1));
    EXPECT_EQ(HCCL_SUCCESS,
              res_thread_create(&(struct res_thread_desc){.engine = COMM_ENGINE_CPU_TS},
                                &pair[0].thread[1]));
    EXPECT_EQ(HCCL_E_NOT_FOUND,
              HcommThreadNotifyWaitOnThread(stale, 0, 1)); /* its slot is reused */
    pair_close(pair);
}

TEST(writes_reads_and_reductions_reach_the_peer_on_every_engine)
{
    for (size_t e = 0; e < sizeof engines / sizeof engines[0]; e++) {
        struct rank pair[2];
        int32_t *own, *peer;
        ThreadHandle thread;

        pair_open(pair, engines[e]);
        own = (int32_t *)(void *)pair[0].buf;
        peer = (int32_t *)(void *)pair[1].buf;
        thread = pair[0].thread[0];
        fill(own, 8, 1);
        EXPECT_EQ(0, HcommWriteOnThread(thread, pair[0].channel, peer, own, 32));
        EXPECT_EQ(0, HcommWriteReduceOnThread(thread, pair[0].channel, peer, own, 8,
                                              HCOMM_DATA_TYPE_INT32, HCOMM_REDUCE_SUM));
        EXPECT_EQ(0, HcommReadReduceOnThread(thread, pair[0].channel, own, peer, 4,
                                             HCOMM_DATA_TYPE_INT32, HCOMM_REDUCE_SUM));
        EXPECT_EQ(0, HcommReadOnThread(thread, pair[0].channel, own + 4, peer + 4, 16));
        EXPECT_EQ(0, HcommChannelFenceOnThread(thread, pair[0].channel));
        EXPECT_EQ(0, HcommWriteOnThread(thread, pair[0].channel, peer, own, 0));
        EXPECT_EQ(ACL_SUCCESS, thread_sync(thread));
        for (int i = 0; i < 8; i++) {
            EXPECT_EQ(2 * (i + 1), peer[i]);
            EXPECT_EQ(i < 4 ? 3 * (i + 1) : 2 * (i + 1), own[i]);
        }
        pair_close(pair);
    }
}

TEST(a_write_with_notify_is_seen_with_the_notify)
{
    struct rank pair[2];
    int32_t *own, *peer;

    pair_open(pair, COMM_ENGINE_AICPU_TS);
    own = (int32_t *)(void *)pair[0].buf;
    peer = (int32_t *)(void *)pair[1].buf;
    fill(own, 4, 1);
    fill(peer + 4, 4, 1);
    EXPECT_EQ(0, HcommChannelNotifyWaitOnThread(pair[1].thread[0], pair[1].channel, 2, 10));
    EXPECT_EQ(0, HcommLocalCopyOnThread(pair[1].thread[0], peer + 8, peer, 16));
    EXPECT_EQ(0, HcommChannelNotifyWaitOnThread(pair[1].thread[0], pair[1].channel, 3, 10));
    EXPECT_EQ(0, HcommLocalCopyOnThread(pair[1].thread[0], peer + 16, peer + 4, 16));
    EXPECT_EQ(0, HcommChannelNotifyWaitOnThread(pair[1].thread[0], pair[1].channel, 0, 10));
    EXPECT_EQ(0,
              HcommWriteWithNotifyOnThread(pair[0].thread[0], pair[0].channel, peer, own, 16, 2));
    EXPECT_EQ(0,
              HcommWriteReduceWithNotifyOnThread(pair[0].thread[0], pair[0].channel, peer + 4, own,
                                                 4, HCOMM_DATA_TYPE_INT32, HCOMM_REDUCE_SUM, 3));
    EXPECT_EQ(0, HcommWriteWithNotifyOnThread(pair[0].thread[0], pair[0].channel, peer, own, 0, 0));
    EXPECT_EQ(ACL_SUCCESS, thread_sync(pair[1].thread[0]));
    EXPECT_EQ(ACL_SUCCESS, thread_sync(pair[0].thread[0]));
    for (int i = 0; i < 4; i++) {
        EXPECT_EQ(i + 1, peer[8 + i]);
        EXPECT_EQ(2 * (i + 1), peer[16 + i]);
    }
    pair_close(pair);
}

TEST(what_the_peer_does_not_offer_cannot_be_reached)
{
    struct rank pair[2];
    ThreadHandle thread;
    ChannelHandle channel;
    char *own, *peer;

    pair_open(pair, COMM_ENGINE_AICPU_TS);
    thread = pair[0].thread[0];
    channel = pair[0].channel;
    own = pair[0].buf;
    peer = pair[1].buf;
    test_expect_error("are not inside one of the 1 regions that rank 1 offers");
    EXPECT_EQ(HCCL_E_PARA, HcommWriteOnThread(thread, channel, peer + PAIR_BYTES - 7, own, 8));
    EXPECT_EQ(HCCL_E_PARA,
              HcommReadOnThread(thread, channel, own, own, 8)); /* own, not the peer's */
    EXPECT_EQ(HCCL_E_PARA, HcommWriteReduceOnThread(thread, channel, peer + PAIR_BYTES - 4, own, 2,
                                                    HCOMM_DATA_TYPE_INT32, HCOMM_REDUCE_SUM));
    EXPECT_EQ(HCCL_E_PARA, HcommReadReduceOnThread(thread, channel, own, peer - 4, 2,
                                                   HCOMM_DATA_TYPE_INT32, HCOMM_REDUCE_SUM));
    EXPECT_EQ(HCCL_E_PARA, HcommWriteWithNotifyOnThread(thread, channel, peer - 1, own, 1, 0));
    EXPECT_EQ(HCCL_E_PARA, HcommWriteNbi(channel, peer + PAIR_BYTES, own, 1));
    EXPECT_EQ(HCCL_E_PARA, HcommReadNbi(channel, own, peer - 1, 2));
    test_expect_error("HcommReadNbi: the destination"); /* the own side ends somewhere too */
    EXPECT_EQ(HCCL_E_PARA, HcommReadNbi(channel, own, peer + 1, UINT64_MAX));
    test_expect_error("HcommWriteOnThread: the source");
    EXPECT_EQ(HCCL_E_PARA, HcommWriteOnThread(thread, channel, peer, own + PAIR_BYTES - 7, 8));
    test_expect_error("dst is NULL");
    EXPECT_EQ(HCCL_E_PTR, HcommWriteOnThread(thread, channel, NULL, own, 0));
    test_expect_error("notify 4 does not exist: the other end");
    EXPECT_EQ(HCCL_E_PARA,
              HcommWriteWithNotifyOnThread(thread, channel, peer, own, 1, PAIR_NOTIFIES));
    EXPECT_EQ(HCCL_E_PARA, HcommChannelNotifyRecordOnThread(thread, channel, PAIR_NOTIFIES));
    test_expect_error("notify 4 does not exist: this end");
    EXPECT_EQ(HCCL_E_PARA, HcommChannelNotifyWaitOnThread(thread, channel, PAIR_NOTIFIES, 1));
    test_expect_error("operator");
    EXPECT_EQ(HCCL_E_PARA, HcommWriteReduceOnThread(thread, channel, peer, own, 1,
                                                    (HcommDataType)13, HCOMM_REDUCE_SUM));
    pair_close(pair);
}

TEST(a_task_whose_peer_is_gone_fails_its_stream_and_says_so)
{
    struct rank pair[2];

    pair_open(pair, COMM_ENGINE_CPU_TS);
    EXPECT_EQ(HCCL_SUCCESS, res_channel_destroy(pair[1].channel));
    test_expect_error(
        "thread 2 (CPU_TS) of rank 0 in g): cannot write 8 bytes, the channel of rank 0 of "
        "g to rank 1: rank 1 destroyed its end of the channel");
    EXPECT_EQ(0,
              HcommWriteOnThread(pair[0].thread[0], pair[0].channel, pair[1].buf, pair[0].buf, 8));
    EXPECT_NE(ACL_SUCCESS, thread_sync(pair[0].thread[0]));
    test_expect_error("cannot record notify 0 at the other end of");
    EXPECT_EQ(HCCL_E_REMOTE, HcommChannelNotifyRecord(pair[0].channel, 0));
    /* and a task whose own end goes while it is queued */
    EXPECT_EQ(0, HcommThreadNotifyWaitOnThread(pair[0].thread[1], 0, 30));
    EXPECT_EQ(0,
              HcommReadOnThread(pair[0].thread[1], pair[0].channel, pair[0].buf, pair[1].buf, 8));
    EXPECT_EQ(HCCL_SUCCESS, res_channel_destroy(pair[0].channel));
    test_expect_error("cannot read 8 bytes");
    EXPECT_EQ(0, HcommThreadNotifyRecordOnThread(pair[0].thread[0], pair[0].thread[1], 0));
    EXPECT_NE(ACL_SUCCESS, thread_sync(pair[0].thread[1]));
    for (uint32_t i = 0; i < 2; i++) {
        const struct res_channel_desc unmet = {.key = "other", .side = 0};

        EXPECT_EQ(HCCL_SUCCESS, res_channel_create(&unmet, &pair[i].channel)); /* for pair_close */
    }
    test_expect_error("is not connected yet");
    EXPECT_EQ(HCCL_E_AGAIN,
              HcommWriteOnThread(pair[0].thread[0], pair[0].channel, pair[1].buf, pair[0].buf, 8));
    pair_close(pair);
}

TEST(a_batch_of_transfers_does_what_the_single_calls_do)
{
    struct rank pair[2];
    HcommBatchTransferDesc descs[7] = {{.transType = HCOMM_TRANSFER_TYPE_WRITE},
                                       {.transType = HCOMM_TRANSFER_TYPE_WRITE_REDUCE},
                                       {.transType = HCOMM_TRANSFER_TYPE_WRITE_WITH_NOTIFY},
                                       {.transType = HCOMM_TRANSFER_TYPE_WRITE_REDUCE_WITH_NOTIFY},
                                       {.transType = HCOMM_TRANSFER_TYPE_READ},
                                       {.transType = HCOMM_TRANSFER_TYPE_READ_REDUCE},
                                       {.transType = HCOMM_TRANSFER_TYPE_NOTIFY_RECORD}};
    int32_t *own, *peer;

    pair_open(pair, COMM_ENGINE_AICPU_TS);
    own = (int32_t *)(void *)pair[0].buf;
    peer = (int32_t *)(void *)pair[1].buf;
    own[0] = 5;
    descs[0].transferInfo.write.dst = descs[1].transferInfo.reduce.dst = peer;
    descs[0].transferInfo.write.src = descs[1].transferInfo.reduce.src = own;
    descs[0].transferInfo.write.len = 4;
    descs[1].transferInfo.reduce.count = 1;
    descs[1].transferInfo.reduce.dataType = HCOMM_DATA_TYPE_INT32;
    descs[2].transferInfo.writeWithNotify.dst = descs[3].transferInfo.writeReduceWithNotify.dst =
        peer + 1;
    descs[2].transferInfo.writeWithNotify.src = descs[3].transferInfo.writeReduceWithNotify.src =
        own;
    descs[2].transferInfo.writeWithNotify.len = 4;
    descs[2].transferInfo.writeWithNotify.notifyIdx = 1;
    descs[3].transferInfo.writeReduceWithNotify.count = 1;
    descs[3].transferInfo.writeReduceWithNotify.dataType = HCOMM_DATA_TYPE_INT32;
    descs[3].transferInfo.writeReduceWithNotify.reduceOp = HCOMM_REDUCE_PROD;
    descs[3].transferInfo.writeReduceWithNotify.notifyIdx = 2;
    descs[4].transferInfo.read.dst = descs[5].transferInfo.reduce.dst = own + 1;
    descs[4].transferInfo.read.src = descs[5].transferInfo.reduce.src = peer;
    descs[4].transferInfo.read.len = 4;
    descs[5].transferInfo.reduce.count = 1;
    descs[5].transferInfo.reduce.dataType = HCOMM_DATA_TYPE_INT32;
    descs[6].transferInfo.notifyRecord.notifyIdx = 3;
    EXPECT_EQ(0, HcommBatchTransferOnThread(pair[0].thread[0], pair[0].channel, descs, 7));
    for (uint32_t i = 1; i < 4; i++)
        EXPECT_EQ(0, HcommChannelNotifyWaitOnThread(pair[1].thread[0], pair[1].channel, i, 10));
    EXPECT_EQ(ACL_SUCCESS, thread_sync(pair[1].thread[0]));
    EXPECT_EQ(ACL_SUCCESS, thread_sync(pair[0].thread[0]));
    EXPECT_EQ(10, peer[0]);
    EXPECT_EQ(25, peer[1]);
    EXPECT_EQ(20, own[1]);
    test_expect_error("transferDescs is NULL");
    EXPECT_EQ(HCCL_E_PTR, HcommBatchTransferOnThread(pair[0].thread[0], pair[0].channel, NULL, 1));
    test_expect_error("transferDescNum is 0");
    EXPECT_EQ(HCCL_E_PARA,
              HcommBatchTransferOnThread(pair[0].thread[0], pair[0].channel, descs, 0));
    descs[1].transType = HCOMM_TRANSFER_TYPE_INVALID;
    test_expect_error("-1 is no transType");
    EXPECT_EQ(HCCL_E_NOT_SUPPORT,
              HcommBatchTransferOnThread(pair[0].thread[0], pair[0].channel, descs, 2));
    pair_close(pair);
}

TEST(immediate_transfers_are_done_when_they_return)
{
    struct rank pair[2];
    char *own, *peer;

    pair_open(pair, COMM_ENGINE_CPU);
    own = pair[0].buf;
    peer = pair[1].buf;
    memset(own, 7, 100);
    EXPECT_EQ(0, HcommWriteNbi(pair[0].channel, peer, own, 100));
    EXPECT_EQ(7, peer[99]);
    peer[0] = 8;
    EXPECT_EQ(0, HcommReadNbiOnThread(0, pair[0].channel, own, peer, 1));
    EXPECT_EQ(8, own[0]);
    EXPECT_EQ(0, HcommWriteNbiOnThread(0, pair[0].channel, peer + 200, own, 1));
    EXPECT_EQ(8, peer[200]);
    EXPECT_EQ(0, HcommWriteWithNotifyNbi(pair[0].channel, peer + 300, own, 1, 1));
    EXPECT_EQ(0, HcommWriteWithNotifyNbiOnThread(0, pair[0].channel, peer + 300, own, 1, 2));
    EXPECT_EQ(0, HcommChannelFence(pair[0].channel));
    EXPECT_EQ(0, HcommChannelFenceOnThread(0, pair[0].channel));
    EXPECT_EQ(0, HcommFenceOnThread(0));
    EXPECT_EQ(0, HcommChannelNotifyWait(pair[1].channel, 1, 5));
    EXPECT_EQ(0, HcommChannelNotifyWaitOnThread(0, pair[1].channel, 2, 5));
    EXPECT_EQ(8, peer[300]);
    test_expect_error("len is 0");
    EXPECT_EQ(HCCL_E_PARA, HcommWriteNbi(pair[0].channel, peer, own, 0));
    pair_close(pair);
}

TEST(pushes_survive_every_failed_allocation)
{
    struct rank pair[2];
    int32_t rc = -1;

    pair_open(pair, COMM_ENGINE_AICPU_TS);
    test_allow_errors();
    for (long nth = 0; rc != 0; nth++) {
        hc_alloc_fail_nth(nth);
        rc = HcommWriteWithNotifyOnThread(pair[0].thread[0], pair[0].channel, pair[1].buf,
                                          pair[0].buf, 8, 0);
        if (rc == 0)
            rc = HcommThreadNotifyRecordOnThread(pair[0].thread[1], pair[0].thread[0], 0);
        hc_alloc_fail_nth(-1);
        EXPECT_TRUE(rc == 0 || rc == HCCL_E_MEMORY);
        EXPECT_TRUE(nth < 50);
    }
    EXPECT_EQ(ACL_SUCCESS, thread_sync(pair[0].thread[0]));
    EXPECT_EQ(ACL_SUCCESS, thread_sync(pair[0].thread[1]));
    pair_close(pair);
}
