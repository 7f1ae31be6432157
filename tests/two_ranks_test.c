/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ranks of one process exchange data with the primitives, through public functions only: the
 * thread engines queue, engine CPU acts at once.
 */
#define _GNU_SOURCE
#include <math.h>

#include "tests/support/ranks.h"

#define READY 0u
#define DONE 1u
#define TIMEOUT_S 30u

static void
fill(char *bytes, uint64_t len, unsigned seed)
{
    for (uint64_t i = 0; i < len; i++)
        bytes[i] = (char)(i * 31 + seed);
}

/* ---- send and receive, as an operator queues them ---- */

static void
queue_send(struct rank *rank, const struct link *link, const char *user, uint64_t len)
{
    for (uint64_t at = 0; at < len; at += rank->size) {
        uint64_t slice = len - at < rank->size ? len - at : rank->size;

        EXPECT_EQ(0, HcommLocalCopyOnThread(rank->thread, rank->buf, user + at, slice));
        EXPECT_EQ(0, HcommChannelNotifyRecordOnThread(rank->thread, link->channel, READY));
        EXPECT_EQ(0, HcommChannelNotifyWaitOnThread(rank->thread, link->channel, DONE, TIMEOUT_S));
    }
}

static void
queue_receive(struct rank *rank, const struct link *link, char *user, uint64_t len)
{
    for (uint64_t at = 0; at < len; at += link->peer_size) {
        uint64_t slice = len - at < link->peer_size ? len - at : link->peer_size;

        EXPECT_EQ(0, HcommChannelNotifyWaitOnThread(rank->thread, link->channel, READY, TIMEOUT_S));
        EXPECT_EQ(0,
                  HcommReadOnThread(rank->thread, link->channel, user + at, link->peer_buf, slice));
        EXPECT_EQ(0, HcommChannelNotifyRecordOnThread(rank->thread, link->channel, DONE));
    }
}

/* In slices of the HCCL buffer, which is 2 MiB here. */
static void
check_send_receive(CommEngine engine)
{
    static const uint64_t lens[] = {1, 8, 4096, 1000003, 2u << 20, (5u << 20) + 7};
    struct rank ranks[2];
    struct link links[2];

    setenv("HCCL_BUFFSIZE", "1", 1);
    ranks_open(ranks, 2, engine);
    link_ranks(&ranks[0], &ranks[1], engine, &links[0], &links[1]);
    for (size_t i = 0; i < sizeof lens / sizeof lens[0]; i++) {
        char *from, *to;

        EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(1));
        EXPECT_EQ(ACL_SUCCESS, aclrtMalloc((void **)&to, lens[i], ACL_MEM_MALLOC_HUGE_FIRST));
        EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
        EXPECT_EQ(ACL_SUCCESS, aclrtMalloc((void **)&from, lens[i], ACL_MEM_MALLOC_HUGE_FIRST));
        fill(from, lens[i], (unsigned)i);
        queue_receive(&ranks[1], &links[1], to, lens[i]);
        queue_send(&ranks[0], &links[0], from, lens[i]);
        sync_two(&ranks[0], &ranks[1]);
        EXPECT_MEMEQ(from, to, lens[i]);
        EXPECT_EQ(ACL_SUCCESS, aclrtFree(from));
        EXPECT_EQ(ACL_SUCCESS, aclrtFree(to));
    }
    ranks_close(ranks, 2);
}

TEST(send_and_receive_with_threads_of_the_host)
{
    check_send_receive(COMM_ENGINE_CPU_TS);
}

TEST(send_and_receive_with_threads_of_the_device)
{
    check_send_receive(COMM_ENGINE_AICPU_TS);
}

/* Engine CPU has no queue: the sender writes, fences and records; the receiver waits. */
TEST(send_and_receive_at_once)
{
    struct rank ranks[2];
    struct link links[2];
    const uint64_t len = 100003;
    static const char zeros[16];

    ranks_open(ranks, 2, COMM_ENGINE_CPU);
    link_ranks(&ranks[0], &ranks[1], COMM_ENGINE_CPU, &links[0], &links[1]);
    fill(ranks[0].buf, len, 1);

    EXPECT_EQ(0, HcommWriteNbi(links[0].channel, links[0].peer_buf, ranks[0].buf, len));
    EXPECT_EQ(0, HcommChannelFence(links[0].channel));
    EXPECT_EQ(0, HcommChannelNotifyRecord(links[0].channel, READY));
    EXPECT_EQ(0, HcommChannelNotifyWait(links[1].channel, READY, TIMEOUT_S));
    EXPECT_MEMEQ(ranks[0].buf, ranks[1].buf, len);

    memset(ranks[1].buf, 0, len);
    EXPECT_EQ(0, HcommWriteWithNotifyNbiOnThread(0, links[0].channel, links[0].peer_buf,
                                                 ranks[0].buf, len, DONE));
    EXPECT_EQ(0, HcommChannelNotifyWaitOnThread(0, links[1].channel, DONE, TIMEOUT_S));
    EXPECT_MEMEQ(ranks[0].buf, ranks[1].buf, len);

    EXPECT_EQ(
        0, HcommReadNbiOnThread(0, links[1].channel, ranks[1].buf + len, links[1].peer_buf, len));
    EXPECT_EQ(0, HcommChannelFenceOnThread(0, links[1].channel));
    EXPECT_EQ(0, HcommFenceOnThread(0));
    EXPECT_MEMEQ(ranks[0].buf, ranks[1].buf + len, len);
    EXPECT_MEMEQ(zeros, ranks[1].buf + 2 * len, sizeof zeros);
    ranks_close(ranks, 2);
}

/* ---- every primitive of a thread, on both thread engines ---- */

static void
check_writes_and_reads(struct rank *ranks, struct link *links)
{
    ThreadHandle thread = ranks[0].thread;
    ChannelHandle channel = links[0].channel;
    char *own = ranks[0].buf, *peer = links[0].peer_buf;
    int32_t *numbers = (int32_t *)(void *)(own + 8192),
            *theirs = (int32_t *)(void *)(ranks[1].buf + 8192);
    HcommBatchTransferDesc batch[3] = {
        {.transType = HCOMM_TRANSFER_TYPE_WRITE, .transferInfo.write = {16, peer + 4096, own}},
        {.transType = HCOMM_TRANSFER_TYPE_READ, .transferInfo.read = {16, own + 4096, peer + 4096}},
        {.transType = HCOMM_TRANSFER_TYPE_NOTIFY_RECORD, .transferInfo.notifyRecord = {READY}}};

    fill(own, 1024, 9);
    numbers[0] = 5;
    theirs[0] = 7;
    EXPECT_EQ(0, HcommWriteOnThread(thread, channel, peer, own, 1024));
    EXPECT_EQ(0, HcommChannelFenceOnThread(thread, channel));
    EXPECT_EQ(0, HcommReadOnThread(thread, channel, own + 2048, peer, 1024));
    EXPECT_EQ(0, HcommWriteReduceOnThread(thread, channel, peer + 8192, numbers, 1,
                                          HCOMM_DATA_TYPE_INT32, HCOMM_REDUCE_SUM)); /* 12 there */
    EXPECT_EQ(0, HcommReadReduceOnThread(thread, channel, numbers, peer + 8192, 1,
                                         HCOMM_DATA_TYPE_INT32, HCOMM_REDUCE_SUM)); /* 17 here */
    EXPECT_EQ(0, HcommWriteReduceWithNotifyOnThread(thread, channel, peer + 8192, numbers, 1,
                                                    HCOMM_DATA_TYPE_INT32, HCOMM_REDUCE_MAX, DONE));
    EXPECT_EQ(0, HcommWriteWithNotifyOnThread(thread, channel, peer + 1024, own, 512, 2));
    EXPECT_EQ(0, HcommBatchTransferOnThread(thread, channel, batch, 3));
    EXPECT_EQ(0,
              HcommChannelNotifyWaitOnThread(ranks[1].thread, links[1].channel, DONE, TIMEOUT_S));
    EXPECT_EQ(0, HcommChannelNotifyWaitOnThread(ranks[1].thread, links[1].channel, 2, TIMEOUT_S));
    EXPECT_EQ(0, HcommChannelNotifyWaitOnThreadWithDefaultTimeout(ranks[1].thread, links[1].channel,
                                                                  READY));
    EXPECT_EQ(0, HcommChannelDrainOnThread(thread, channel));
    EXPECT_EQ(0, HcommThreadJoin(ranks[1].thread, TIMEOUT_S));
    sync_two(&ranks[0], &ranks[1]);
    EXPECT_MEMEQ(own, ranks[1].buf, 1024);
    EXPECT_MEMEQ(own, own + 2048, 1024);
    EXPECT_EQ(17, numbers[0]);
    EXPECT_EQ(17, theirs[0]);
    EXPECT_MEMEQ(own, ranks[1].buf + 1024, 512);
    EXPECT_MEMEQ(own, own + 4096, 16);
}

static void
check_local(struct rank *rank)
{
    ThreadHandle thread = rank->thread;
    uint32_t id = 0;
    aclrtNotify notify;
    float *a = (float *)(void *)(rank->buf + 16384);

    EXPECT_EQ(ACL_SUCCESS, aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT));
    EXPECT_EQ(ACL_SUCCESS, aclrtGetNotifyId(notify, &id));
    a[0] = 1.5f;
    a[1] = 2.25f;
    EXPECT_EQ(0, HcommBatchModeStart("local"));
    EXPECT_EQ(0, HcommThreadNotifyRecordOnThread(thread, thread, 3));
    EXPECT_EQ(0, HcommThreadNotifyWaitOnThread(thread, 3, TIMEOUT_S));
    EXPECT_EQ(0, HcommAclrtNotifyRecordOnThread(thread, id));
    EXPECT_EQ(0, HcommAclrtNotifyWaitOnThread(thread, id, TIMEOUT_S));
    EXPECT_EQ(0, HcommLocalReduceOnThread(thread, &a[0], &a[1], 1, HCOMM_DATA_TYPE_FP32,
                                          HCOMM_REDUCE_SUM));
    EXPECT_EQ(0, HcommLocalCopyOnThread(thread, &a[1], &a[0], sizeof a[0]));
    EXPECT_EQ(0, HcommBatchModeEnd("local"));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(rank->stream));
    EXPECT_TRUE(a[1] == 3.75f);
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyNotify(notify));
}

static void
check_every_primitive(CommEngine engine)
{
    struct rank ranks[2];
    struct link links[2];

    ranks_open(ranks, 2, engine);
    link_ranks(&ranks[0], &ranks[1], engine, &links[0], &links[1]);
    check_writes_and_reads(ranks, links);
    check_local(&ranks[0]);
    ranks_close(ranks, 2);
}

TEST(every_primitive_of_a_host_thread_works)
{
    check_every_primitive(COMM_ENGINE_CPU_TS);
}

TEST(every_primitive_of_a_device_thread_works)
{
    check_every_primitive(COMM_ENGINE_AICPU_TS);
}

/* A device's thread starts the host's and the other way round. */
TEST(threads_of_two_engines_hand_over)
{
    struct rank rank[1];
    ThreadHandle host = 0;
    aclrtStream stream;

    ranks_open(rank, 1, COMM_ENGINE_AICPU_TS);
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateStream(&stream));
    EXPECT_EQ(HCCL_SUCCESS,
              HcclThreadAcquireWithStream(rank->comm, COMM_ENGINE_CPU_TS, stream, 1, &host));
    for (char i = 0; i < 100; i++) {
        EXPECT_EQ(0, HcommThreadNotifyWaitOnThread(rank->thread, 0, TIMEOUT_S));
        EXPECT_EQ(0, HcommLocalCopyOnThread(rank->thread, rank->buf + 1, rank->buf, 1));
        EXPECT_EQ(0, HcommThreadNotifyRecordOnThread(rank->thread, host, 0));
        EXPECT_EQ(ACL_SUCCESS, aclrtMemsetAsync(rank->buf, 8, i, 1, stream));
        EXPECT_EQ(0, HcommThreadNotifyRecordOnThread(host, rank->thread, 0));
        EXPECT_EQ(0, HcommThreadNotifyWaitOnThreadWithDefaultTimeout(host, 0));
        EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(stream));
        EXPECT_EQ(i, rank->buf[1]);
    }
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(stream));
    ranks_close(rank, 1);
}
