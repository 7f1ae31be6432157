/* SPDX-License-Identifier: BSD-3-Clause */
/* Channels between the ranks of a communicator. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "acl/acl_rt.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "hccl/hccl_channel.h"
#include "hccl/hccl_comm.h"
#include "hccl/hccl_rank_graph.h"
#include "hccl/hccl_res.h"
#include "hccl/hccl_res_expt.h"
#include "hcomm/hcomm_primitives.h"
#include "tests/support/test.h"

#define RANKS 8

static HcclComm comms[RANKS];

static void
init(uint32_t num)
{
    int32_t devices[RANKS];

    setenv("HCCL_BUFFSIZE", "1", 0);
    setenv("HCOMM_CONNECT_TIMEOUT", "20000", 0);
    for (uint32_t i = 0; i < num; i++) {
        devices[i] = (int32_t)i;
        EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice((int32_t)i));
    }
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommInitAll(num, devices, comms));
}

static void
end(uint32_t num)
{
    for (uint32_t i = 0; i < num; i++) {
        if (comms[i] != NULL)
            EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comms[i]));
    }
    for (uint32_t i = 0; i < num; i++)
        EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceForce((int32_t)i));
}

/* `num` descriptors of rank `self`, to each of the others. */
static uint32_t
fill_descs(HcclChannelDesc *descs, uint32_t self, uint32_t num)
{
    uint32_t count = 0;

    EXPECT_EQ(HCCL_SUCCESS, HcclChannelDescInit(descs, num - 1));
    for (uint32_t peer = 0; peer < num; peer++) {
        if (peer == self)
            continue;
        descs[count].remoteRank = peer;
        descs[count].channelProtocol = COMM_PROTOCOL_HCCS;
        descs[count++].notifyNum = 3;
    }
    return count;
}

/* What one rank's thread does; `step` is the test's. */
struct rank {
    uint32_t rank, num;
    void (*step)(struct rank *rank);
    HcclResult rc;
    ChannelHandle channels[2 * RANKS];
    pthread_t thread;
};

static void *
rank_main(void *arg)
{
    struct rank *rank = arg;

    if (aclrtSetDevice((int32_t)rank->rank) != ACL_SUCCESS)
        abort();
    rank->step(rank);
    return NULL;
}

static void
start_ranks(struct rank *ranks, uint32_t num, void (*step)(struct rank *rank))
{
    for (uint32_t i = 0; i < num; i++) {
        ranks[i] = (struct rank){.rank = i, .num = num, .step = step};
        EXPECT_EQ(0, pthread_create(&ranks[i].thread, NULL, rank_main, &ranks[i]));
    }
}

static void
run_ranks(struct rank *ranks, uint32_t num, void (*step)(struct rank *rank))
{
    start_ranks(ranks, num, step);
    for (uint32_t i = 0; i < num; i++)
        pthread_join(ranks[i].thread, NULL);
}

static void
acquire_mesh(struct rank *rank)
{
    HcclChannelDesc descs[RANKS];
    uint32_t count = fill_descs(descs, rank->rank, rank->num);

    rank->rc =
        HcclChannelAcquire(comms[rank->rank], COMM_ENGINE_AICPU_TS, descs, count, rank->channels);
}

TEST(eight_ranks_connect_and_see_each_others_buffers)
{
    struct rank ranks[RANKS];

    init(RANKS);
    for (uint32_t i = 0; i < RANKS; i++) {
        void *buffer;
        uint64_t size;

        EXPECT_EQ(HCCL_SUCCESS, HcclGetHcclBuffer(comms[i], &buffer, &size));
        memset(buffer, (int)(10 + i), 64);
    }
    run_ranks(ranks, RANKS, acquire_mesh);
    for (uint32_t i = 0; i < RANKS; i++) {
        EXPECT_EQ(HCCL_SUCCESS, ranks[i].rc);
        for (uint32_t c = 0; c < RANKS - 1; c++) {
            uint32_t peer = c < i ? c : c + 1;
            void *remote, *own, *ipc;
            uint64_t size = 0, own_size;

            EXPECT_EQ(HCCL_SUCCESS,
                      HcclChannelGetHcclBuffer(comms[i], ranks[i].channels[c], &remote, &size));
            EXPECT_EQ(HCCL_SUCCESS, HcclGetHcclBuffer(comms[peer], &own, &own_size));
            EXPECT_EQ(own_size, size);
            EXPECT_EQ(10 + peer, *(unsigned char *)remote);
            EXPECT_EQ(HCCL_SUCCESS, HcclGetRemoteIpcHcclBuf(comms[i], peer, &ipc, &size));
            EXPECT_TRUE(ipc == remote);
        }
    }
    end(RANKS);
}

/* Send and receive as operators do: notify, read, notify. */
static void
swap_with_neighbour(struct rank *rank)
{
    uint32_t peer = rank->rank ^ 1, at = peer < rank->rank ? peer : peer - 1;
    ChannelHandle channel;
    ThreadHandle thread;
    aclrtStream stream;
    void *remote, *own, *out;
    uint64_t size;

    acquire_mesh(rank);
    channel = rank->channels[at];
    rank->rc = HcclThreadAcquire(comms[rank->rank], COMM_ENGINE_CPU_TS, 1, 1, &thread);
    if (rank->rc != HCCL_SUCCESS ||
        aclrtMalloc(&out, 64, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS ||
        HcclGetHcclBuffer(comms[rank->rank], &own, &size) != HCCL_SUCCESS ||
        HcclChannelGetHcclBuffer(comms[rank->rank], channel, &remote, &size) != HCCL_SUCCESS)
        abort();
    memset(own, (int)(1 + rank->rank), 64);
    if (HcommChannelNotifyRecordOnThread(thread, channel, 0) != 0 ||
        HcommChannelNotifyWaitOnThread(thread, channel, 0, 20) != 0 ||
        HcommReadOnThread(thread, channel, out, remote, 64) != 0)
        abort();
    if (HcclThreadResGetInfo(comms[rank->rank], thread, THREAD_RES_TYPE_STREAM, sizeof stream,
                             &stream) != HCCL_SUCCESS ||
        aclrtSynchronizeStream(stream) != ACL_SUCCESS)
        rank->rc = HCCL_E_RUNTIME;
    else if (((unsigned char *)out)[63] != 1 + peer)
        rank->rc = HCCL_E_INTERNAL;
    if (aclrtFree(out) != ACL_SUCCESS)
        abort();
}

TEST(ranks_swap_data_over_their_channels)
{
    struct rank ranks[RANKS];

    init(RANKS);
    run_ranks(ranks, RANKS, swap_with_neighbour);
    for (uint32_t i = 0; i < RANKS; i++)
        EXPECT_EQ(HCCL_SUCCESS, ranks[i].rc);
    end(RANKS);
}

static void
acquire_twice_the_same(struct rank *rank)
{
    HcclChannelDesc descs[2];
    ChannelHandle again[2] = {0};

    if (HcclChannelDescInit(descs, 2) != HCCL_SUCCESS)
        abort();
    descs[0].remoteRank = descs[1].remoteRank = 1 - rank->rank;
    descs[0].channelProtocol = descs[1].channelProtocol = COMM_PROTOCOL_ROCE;
    rank->rc = HcclChannelAcquire(comms[rank->rank], COMM_ENGINE_CPU, descs, 2, rank->channels);
    if (rank->rc == HCCL_SUCCESS) /* found again, whatever the peer does */
        rank->rc = HcclChannelAcquire(comms[rank->rank], COMM_ENGINE_CPU, descs, 2, again);
    if (again[0] != rank->channels[0] || again[1] != rank->channels[1] || again[0] == again[1])
        rank->rc = HCCL_E_INTERNAL;
}

TEST(equal_descriptors_give_distinct_channels_that_are_found_again)
{
    HcclChannelDesc desc;
    ChannelHandle found[1] = {9};
    struct rank ranks[2];

    init(2);
    EXPECT_EQ(HCCL_SUCCESS, HcclChannelDescInit(&desc, 1));
    desc.remoteRank = 1;
    desc.channelProtocol = COMM_PROTOCOL_ROCE;
    EXPECT_EQ(HCCL_SUCCESS, HcclChannelQuery(comms[0], COMM_ENGINE_CPU, &desc, 1, found));
    EXPECT_EQ(0, found[0]);
    run_ranks(ranks, 2, acquire_twice_the_same);
    EXPECT_EQ(HCCL_SUCCESS, ranks[0].rc);
    EXPECT_EQ(HCCL_SUCCESS, ranks[1].rc);
    EXPECT_EQ(HCCL_SUCCESS, HcclChannelQuery(comms[0], COMM_ENGINE_CPU, &desc, 1, found));
    EXPECT_EQ(ranks[0].channels[0], found[0]);
    EXPECT_EQ(HCCL_SUCCESS, HcclChannelQuery(comms[0], COMM_ENGINE_CPU_TS, &desc, 1, found));
    EXPECT_EQ(0, found[0]);
    desc.notifyNum = 9;
    EXPECT_EQ(HCCL_SUCCESS, HcclChannelAcquire(comms[0], COMM_ENGINE_CPU, &desc, 1, found));
    EXPECT_EQ(1, test_logged("the first acquire decides"));

    EXPECT_EQ(HCCL_SUCCESS, HcclChannelDestroy(comms[0], found, 1));
    test_expect_error("is none of rank 0");
    EXPECT_EQ(HCCL_E_NOT_FOUND, HcclChannelDestroy(comms[0], found, 1));
    EXPECT_EQ(HCCL_SUCCESS, HcclChannelQuery(comms[0], COMM_ENGINE_CPU, &desc, 1, found));
    EXPECT_EQ(0, found[0]);
    end(2);
}

static HcclMemHandle memories[2][2];
static char blocks[2][2][32];

static void
acquire_with_memories(struct rank *rank)
{
    HcclChannelDesc desc;
    CommMem mem = {.type = COMM_MEM_TYPE_HOST, .size = 32};
    char tag[16];

    for (int i = 0; i < 2; i++) {
        mem.addr = blocks[rank->rank][i];
        snprintf(tag, sizeof tag, "block %d of %u", i, rank->rank);
        if (HcclCommMemReg(comms[rank->rank], tag, &mem, &memories[rank->rank][i]) != HCCL_SUCCESS)
            abort();
    }
    if (HcclChannelDescInit(&desc, 1) != HCCL_SUCCESS)
        abort();
    desc.remoteRank = 1 - rank->rank;
    desc.channelProtocol = COMM_PROTOCOL_HCCS;
    desc.memHandles = memories[rank->rank];
    desc.memHandleNum = 2;
    if (HcclCommAddExchangeInfo(comms[rank->rank], "replaced", 8) != HCCL_SUCCESS ||
        HcclCommAddExchangeInfo(comms[rank->rank], rank->rank == 0 ? "from 0" : "from 1", 7) !=
            HCCL_SUCCESS)
        abort();
    rank->rc = HcclChannelAcquire(comms[rank->rank], COMM_ENGINE_AICPU, &desc, 1, rank->channels);
}

TEST(peers_learn_regions_tags_and_exchange_info)
{
    struct rank ranks[2];
    CommMem *mems;
    char **tags, told[8];
    uint32_t num = 0, actual = 99;

    init(2);
    run_ranks(ranks, 2, acquire_with_memories);
    EXPECT_EQ(HCCL_SUCCESS, ranks[0].rc);
    EXPECT_EQ(HCCL_SUCCESS, ranks[1].rc);
    EXPECT_EQ(HCCL_SUCCESS,
              HcclChannelGetRemoteMems(comms[0], ranks[0].channels[0], &num, &mems, &tags));
    EXPECT_EQ(3, num);
    EXPECT_STREQ("HcclBuffer", tags[0]);
    EXPECT_STREQ("block 0 of 1", tags[1]);
    EXPECT_STREQ("block 1 of 1", tags[2]);
    EXPECT_TRUE(mems[2].addr == blocks[1][1]);
    EXPECT_EQ(32, mems[2].size);
    EXPECT_EQ(COMM_MEM_TYPE_HOST, mems[2].type);
    test_expect_error("told 7 bytes, not 6");
    EXPECT_EQ(HCCL_E_PARA, HcclCommGetExchangeInfo(comms[0], 1, 6, told, &actual));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommGetExchangeInfo(comms[0], 1, 7, told, &actual));
    EXPECT_EQ(7, actual);
    EXPECT_STREQ("from 1", told);
    EXPECT_EQ(HCCL_SUCCESS, HcclCommGetExchangeInfo(comms[0], 1, 7, told, &actual)); /* read once */
    EXPECT_EQ(0, actual);
    test_expect_error("length is 2049");
    EXPECT_EQ(HCCL_E_PARA, HcclCommAddExchangeInfo(comms[0], told, 2049));
    EXPECT_EQ(HCCL_SUCCESS,
              HcclCommAddExchangeInfo(comms[0], told, 7)); /* goes with the communicator */
    EXPECT_EQ(HCCL_SUCCESS, HcclCommResetExchangeInfo(comms[1]));
    end(2);
}

TEST(descriptors_are_checked)
{
    HcclChannelDesc good, bad;
    HcclMemHandle garbage[1] = {(HcclMemHandle)0x1234};
    ChannelHandle channel = 7;

    init(2);
    EXPECT_EQ(HCCL_SUCCESS, HcclChannelDescInit(&good, 1));
    good.remoteRank = 1;
    good.channelProtocol = COMM_PROTOCOL_HCCS;
#define REFUSE(field, value, code, message)                                                        \
    do {                                                                                           \
        bad = good;                                                                                \
        bad.field = value;                                                                         \
        test_expect_error(message);                                                                \
        EXPECT_EQ(code, HcclChannelAcquire(comms[0], COMM_ENGINE_AICPU_TS, &bad, 1, &channel));    \
    } while (0)
    REFUSE(header.magicWord, 1, HCCL_E_PARA, "HcclChannelDescInit");
    REFUSE(header.size, 8, HCCL_E_PARA, "HcclChannelDescInit");
    REFUSE(remoteRank, 2, HCCL_E_PARA, "remoteRank is 2");
    REFUSE(remoteRank, 0, HCCL_E_PARA, "this rank itself");
    REFUSE(notifyNum, 65, HCCL_E_PARA, "notifyNum is 65");
    REFUSE(channelProtocol, COMM_PROTOCOL_RESERVED, HCCL_E_PARA, "channelProtocol is -1");
    REFUSE(memHandleNum, 257, HCCL_E_PARA, "memHandleNum is 257");
    REFUSE(memHandleNum, 1, HCCL_E_PTR, "memHandles is NULL");
    good.channelProtocol = COMM_PROTOCOL_ROCE;
    REFUSE(roceAttr.queueNum, 2, HCCL_E_PARA, "roceAttr.queueNum is 2");
    REFUSE(roceAttr.retryCnt, 8, HCCL_E_PARA, "roceAttr.retryCnt is 8");
    REFUSE(roceAttr.retryInterval, 4, HCCL_E_PARA, "roceAttr.retryInterval is 4");
    REFUSE(roceAttr.retryInterval, 25, HCCL_E_PARA, "roceAttr.retryInterval is 25");
    REFUSE(roceAttr.tc, 133, HCCL_E_PARA, "roceAttr.tc is 133");
    REFUSE(roceAttr.sl, 8, HCCL_E_PARA, "roceAttr.sl is 8");
    good.channelProtocol = COMM_PROTOCOL_HCCS;
#undef REFUSE
    bad = good;
    bad.memHandles = garbage;
    bad.memHandleNum = 1;
    test_expect_error("no memory of this communicator");
    EXPECT_EQ(HCCL_E_PARA, HcclChannelAcquire(comms[0], COMM_ENGINE_AICPU_TS, &bad, 1, &channel));
    test_expect_error("channelNum is 0");
    EXPECT_EQ(HCCL_E_PARA, HcclChannelAcquire(comms[0], COMM_ENGINE_AICPU_TS, &good, 0, &channel));
    EXPECT_EQ(HCCL_E_PARA, HcclChannelQuery(comms[0], COMM_ENGINE_AICPU_TS, &good, 0, &channel));
    test_expect_error("engine CCU");
    EXPECT_EQ(HCCL_E_NOT_SUPPORT,
              HcclChannelAcquire(comms[0], COMM_ENGINE_CCU, &good, 1, &channel));
    test_expect_error("is NULL");
    EXPECT_EQ(HCCL_E_PTR, HcclChannelAcquire(comms[0], COMM_ENGINE_AICPU_TS, NULL, 1, &channel));
    EXPECT_EQ(HCCL_E_PTR, HcclChannelAcquire(comms[0], COMM_ENGINE_AICPU_TS, &good, 1, NULL));
    EXPECT_EQ(7, channel);
    void *buffer;
    uint64_t size;
    uint32_t num;
    CommMem *mems;
    char **tags;
    test_expect_error("is none of rank 0");
    EXPECT_EQ(HCCL_E_NOT_FOUND, HcclChannelGetHcclBuffer(comms[0], 12345, &buffer, &size));
    test_expect_error("HcclChannelGetHcclBuffer: channel is 0");
    EXPECT_EQ(HCCL_E_PTR, HcclChannelGetHcclBuffer(comms[0], 0, &buffer, &size));
    test_expect_error("HcclChannelGetRemoteMems: channel is 0");
    EXPECT_EQ(HCCL_E_PTR, HcclChannelGetRemoteMems(comms[0], 0, &num, &mems, &tags));
    test_expect_error("has no channel to rank 1");
    EXPECT_EQ(HCCL_E_NOT_FOUND, HcclGetRemoteIpcHcclBuf(comms[0], 1, &buffer, &size));
    end(2);
}

TEST(a_peer_that_does_not_come_is_named_and_nothing_stays)
{
    HcclChannelDesc descs[3];
    ChannelHandle channels[3] = {0};
    long live;
    void *buffer;
    uint64_t size;

    setenv("HCOMM_CONNECT_TIMEOUT", "200", 1);
    init(4);
    EXPECT_EQ(3, fill_descs(descs, 0, 4));
    EXPECT_EQ(HCCL_SUCCESS, HcclGetHcclBuffer(comms[0], &buffer, &size));
    live = hc_alloc_live();
    test_expect_error("rank 1, rank 2, rank 3");
    EXPECT_EQ(HCCL_E_TIMEOUT,
              HcclChannelAcquire(comms[0], COMM_ENGINE_AICPU_TS, descs, 3, channels));
    EXPECT_EQ(0, channels[0]);
    EXPECT_EQ(live, hc_alloc_live());
    EXPECT_EQ(HCCL_SUCCESS, HcclChannelQuery(comms[0], COMM_ENGINE_AICPU_TS, descs, 3, channels));
    EXPECT_EQ(0, channels[0]);
    end(4);
}

static void
acquire_and_be_cut(struct rank *rank)
{
    HcclChannelDesc desc;

    if (HcclChannelDescInit(&desc, 1) != HCCL_SUCCESS)
        abort();
    desc.remoteRank = 1;
    desc.channelProtocol = COMM_PROTOCOL_HCCS;
    rank->rc = HcclChannelAcquire(comms[0], COMM_ENGINE_AICPU_TS, &desc, 1, rank->channels);
}

TEST(destroy_frees_a_thread_that_waits_for_channels)
{
    struct rank rank[1];
    uint64_t start_ns;

    init(2);
    start_ranks(rank, 1, acquire_and_be_cut);
    usleep(200000);
    start_ns = hc_now_ns();
    test_expect_error("was destroyed while it waited");
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comms[0]));
    pthread_join(rank[0].thread, NULL);
    comms[0] = NULL;
    EXPECT_EQ(HCCL_E_UNAVAIL, rank[0].rc);
    EXPECT_TRUE(hc_now_ns() - start_ns < 5000000000u);
    end(2);
}

TEST(a_destroyed_peer_is_a_remote_error)
{
    struct rank ranks[2];
    HcclResult state = HCCL_E_RESERVED;
    ThreadHandle thread;
    aclrtStream stream;
    void *remote, *own;
    uint64_t size;

    init(2);
    run_ranks(ranks, 2, acquire_mesh);
    EXPECT_EQ(HCCL_SUCCESS, ranks[0].rc);
    EXPECT_EQ(HCCL_SUCCESS, HcclGetCommAsyncError(comms[0], &state));
    EXPECT_EQ(HCCL_SUCCESS, state);
    EXPECT_EQ(HCCL_SUCCESS, HcclThreadAcquire(comms[0], COMM_ENGINE_CPU_TS, 1, 0, &thread));
    EXPECT_EQ(HCCL_SUCCESS, HcclGetHcclBuffer(comms[0], &own, &size));
    EXPECT_EQ(HCCL_SUCCESS,
              HcclChannelGetHcclBuffer(comms[0], ranks[0].channels[0], &remote, &size));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comms[1]));
    EXPECT_EQ(HCCL_SUCCESS, HcclGetCommAsyncError(comms[0], &state));
    EXPECT_EQ(HCCL_E_REMOTE, state);
    comms[1] = NULL;
    test_allow_errors();
    if (HcommWriteOnThread(thread, ranks[0].channels[0], remote, own, 64) == 0) {
        EXPECT_EQ(HCCL_SUCCESS, HcclThreadResGetInfo(comms[0], thread, THREAD_RES_TYPE_STREAM,
                                                     sizeof stream, &stream));
        EXPECT_NE(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    }
    end(2);
}

TEST(a_failed_task_is_an_asynchronous_error_of_its_communicator)
{
    HcclResult state = HCCL_E_RESERVED;
    ThreadHandle thread;
    aclrtStream stream;

    test_expect_error("EI0002: waited 1 s for notify 0 of thread");
    init(2);
    EXPECT_EQ(HCCL_SUCCESS, HcclThreadAcquire(comms[1], COMM_ENGINE_CPU_TS, 1, 1, &thread));
    EXPECT_EQ(0, HcommThreadNotifyWaitOnThread(thread, 0, 1));
    EXPECT_EQ(HCCL_SUCCESS, HcclThreadResGetInfo(comms[1], thread, THREAD_RES_TYPE_STREAM,
                                                 sizeof stream, &stream));
    EXPECT_EQ(ACL_ERROR_RT_TASK_TIMEOUT, aclrtSynchronizeStream(stream));
    EXPECT_EQ(HCCL_SUCCESS, HcclGetCommAsyncError(comms[1], &state));
    EXPECT_EQ(HCCL_E_TIMEOUT, state);
    EXPECT_EQ(HCCL_SUCCESS, HcclGetCommAsyncError(comms[0], &state));
    EXPECT_EQ(HCCL_SUCCESS, state);
    end(2);
}

/* ---- Config objects ---- */

TEST(channel_config_objects_are_checked)
{
    HcclChannelConfig config = NULL;
    HcclChannelDesc desc;
    ChannelHandle channel = 0;
    char tag[300];

    init(2);
    EXPECT_EQ(HCCL_SUCCESS, HcclChannelDescInit(&desc, 1));
    desc.remoteRank = 1;
    desc.channelProtocol = COMM_PROTOCOL_HCCS;
    EXPECT_EQ(HCCL_SUCCESS, HcclChannelConfigCreate(&config));
    EXPECT_EQ(HCCL_SUCCESS,
              HcclChannelConfigSetInt(config, HCCL_CHANNEL_CONFIG_TYPE_IS_SHARED_QUEUE, 1));
    test_expect_error("needs a tag");
    EXPECT_EQ(HCCL_E_PARA, HcclChannelAcquireWithConfig(comms[0], COMM_ENGINE_AICPU, &desc, 1,
                                                        config, &channel));
    test_expect_error("has 1 to 255");
    EXPECT_EQ(HCCL_E_PARA,
              HcclChannelConfigSetStr(config, HCCL_CHANNEL_CONFIG_TYPE_SHARED_QUEUE_TAG, ""));
    memset(tag, 'x', sizeof tag);
    tag[256] = '\0';
    EXPECT_EQ(HCCL_E_PARA,
              HcclChannelConfigSetStr(config, HCCL_CHANNEL_CONFIG_TYPE_SHARED_QUEUE_TAG, tag));
    tag[255] = '\0';
    EXPECT_EQ(HCCL_SUCCESS,
              HcclChannelConfigSetStr(config, HCCL_CHANNEL_CONFIG_TYPE_SHARED_QUEUE_TAG, tag));
    test_expect_error("engine AIV");
    EXPECT_EQ(HCCL_E_NOT_SUPPORT, HcclChannelAcquireWithConfig(comms[0], COMM_ENGINE_AICPU, &desc,
                                                               1, config, &channel));
    test_expect_error("does not take such a value");
    EXPECT_EQ(HCCL_E_PARA,
              HcclChannelConfigSetInt(config, HCCL_CHANNEL_CONFIG_TYPE_SHARED_QUEUE_TAG, 1));
    EXPECT_EQ(HCCL_E_PARA,
              HcclChannelConfigSetStr(config, HCCL_CHANNEL_CONFIG_TYPE_IS_SHARED_QUEUE, "1"));
    test_expect_error("is NULL");
    EXPECT_EQ(HCCL_E_PTR,
              HcclChannelConfigSetInt(NULL, HCCL_CHANNEL_CONFIG_TYPE_IS_SHARED_QUEUE, 1));
    EXPECT_EQ(HCCL_E_PTR, HcclChannelConfigCreate(NULL));
    EXPECT_EQ(HCCL_SUCCESS, HcclChannelConfigDestroy(config));
    test_expect_error("not a live one");
    EXPECT_EQ(HCCL_E_PARA, HcclChannelConfigDestroy(config));
    EXPECT_EQ(HCCL_E_PARA,
              HcclChannelConfigSetInt(config, HCCL_CHANNEL_CONFIG_TYPE_IS_SHARED_QUEUE, 1));
    EXPECT_EQ(HCCL_SUCCESS, HcclChannelConfigDestroy(NULL));
    end(2);
}

/* ---- 950: endpoints name channels ---- */

static void
acquire_by_links(struct rank *rank)
{
    HcclChannelDesc descs[2];
    CommLink *links;
    uint32_t num;

    if (HcclChannelDescInit(descs, 2) != HCCL_SUCCESS)
        abort();
    for (uint32_t layer = 0; layer < 2; layer++) { /* two endpoint pairs */
        if (HcclRankGraphGetLinks(comms[rank->rank], layer, rank->rank, 1 - rank->rank, &links,
                                  &num) != HCCL_SUCCESS ||
            num != 1)
            abort();
        descs[layer].remoteRank = 1 - rank->rank;
        descs[layer].channelProtocol = links->linkAttr.linkProtocol;
        descs[layer].localEndpoint = links->srcEndpointDesc;
        descs[layer].remoteEndpoint = links->dstEndpointDesc;
    }
    for (uint32_t layer = 0; layer < 2 && rank->rc == HCCL_SUCCESS; layer++)
        rank->rc = HcclChannelAcquire(comms[rank->rank], COMM_ENGINE_AICPU_TS, &descs[layer], 1,
                                      &rank->channels[layer]);
    if (rank->channels[0] == rank->channels[1])
        rank->rc = HCCL_E_INTERNAL;
}

TEST(on_950_each_endpoint_pair_has_its_channel)
{
    struct rank ranks[2];

    setenv("HCOMM_SOC_NAME", "Ascend950PR_9599", 1);
    init(2);
    run_ranks(ranks, 2, acquire_by_links);
    EXPECT_EQ(HCCL_SUCCESS, ranks[0].rc);
    EXPECT_EQ(HCCL_SUCCESS, ranks[1].rc);
    end(2);
}

static void
acquire_host_to_device(struct rank *rank)
{
    HcclChannelDesc desc;

    if (HcclChannelDescInit(&desc, 1) != HCCL_SUCCESS)
        abort();
    desc.remoteRank = 1 - rank->rank;
    desc.channelProtocol = COMM_PROTOCOL_ROCE;
    desc.localEndpoint.loc.locType =
        rank->rank == 0 ? ENDPOINT_LOC_TYPE_HOST : ENDPOINT_LOC_TYPE_DEVICE;
    desc.remoteEndpoint.loc.locType =
        rank->rank == 0 ? ENDPOINT_LOC_TYPE_DEVICE : ENDPOINT_LOC_TYPE_HOST;
    for (int i = 0; i < 2 && rank->rc == HCCL_SUCCESS; i++)
        rank->rc =
            HcclChannelAcquire(comms[rank->rank], COMM_ENGINE_CPU, &desc, 1, &rank->channels[i]);
    if (rank->rc == HCCL_SUCCESS)
        rank->rc =
            HcclChannelQuery(comms[rank->rank], COMM_ENGINE_CPU, &desc, 1, &rank->channels[2]);
}

TEST(on_950_channels_between_host_and_device_are_never_reused)
{
    struct rank ranks[2];

    setenv("HCOMM_SOC_NAME", "Ascend950PR_9599", 1);
    init(2);
    run_ranks(ranks, 2, acquire_host_to_device);
    for (int i = 0; i < 2; i++) {
        EXPECT_EQ(HCCL_SUCCESS, ranks[i].rc);
        EXPECT_NE(ranks[i].channels[0], ranks[i].channels[1]);
        EXPECT_EQ(0, ranks[i].channels[2]);
    }
    end(2);
}

/* ---- Memory, processes ---- */

TEST(acquire_survives_every_failed_allocation)
{
    HcclChannelDesc descs[1];
    ChannelHandle channel = 0;
    struct rank ranks[2];
    bool failed = true;

    test_expect_error("out of host memory");
    test_allow_errors();
    setenv("HCOMM_CONNECT_TIMEOUT", "50", 1);
    init(2);
    EXPECT_EQ(1, fill_descs(descs, 0, 2));
    for (long nth = 0; failed; nth++) { /* nobody comes: it fails one way or the other */
        long live;
        void *buffer;
        uint64_t size;
        HcclResult rc;

        EXPECT_EQ(HCCL_SUCCESS, HcclGetHcclBuffer(comms[0], &buffer, &size));
        live = hc_alloc_live();
        hc_alloc_fail_nth(nth);
        rc = HcclChannelAcquire(comms[0], COMM_ENGINE_AICPU_TS, descs, 1, &channel);
        failed = hc_alloc_failed() != 0;
        hc_alloc_fail_nth(-1);
        EXPECT_NE(HCCL_SUCCESS, rc);
        if (!failed)
            EXPECT_EQ(HCCL_E_TIMEOUT, rc);
        EXPECT_EQ(0, channel);
        EXPECT_EQ(live, hc_alloc_live());
    }
    setenv("HCOMM_CONNECT_TIMEOUT", "20000", 1);
    run_ranks(ranks, 2, acquire_mesh);
    EXPECT_EQ(HCCL_SUCCESS, ranks[0].rc);
    EXPECT_EQ(HCCL_SUCCESS, ranks[1].rc);
    end(2);
}

/* As above with the peer there, so that the failure may also come after the two have met. */
TEST(both_ends_survive_every_failed_allocation)
{
    struct rank ranks[2];
    bool failed = true;

    test_expect_error("out of host memory");
    test_allow_errors();
    setenv("HCOMM_CONNECT_TIMEOUT", "30", 1);
    for (long nth = 0; failed; nth++) {
        init(2);
        hc_alloc_fail_nth(nth);
        run_ranks(ranks, 2, acquire_mesh);
        failed = hc_alloc_failed() != 0;
        hc_alloc_fail_nth(-1);
        end(2);
    }
}

TEST(a_peer_that_does_not_come_is_named_with_what_was_asked_of_it)
{
    HcclChannelDesc descs[RANKS];
    ChannelHandle channel = 0;

    setenv("HCOMM_CONNECT_TIMEOUT", "300", 1);
    init(2);
    EXPECT_EQ(1, fill_descs(descs, 0, 2));
    test_expect_error(
        "for rank 1 to create the other end of the channel: the peer must ask for the "
        "same channel (CPU_TS over HCCS), and");
    EXPECT_EQ(HCCL_E_TIMEOUT, HcclChannelAcquire(comms[0], COMM_ENGINE_CPU_TS, descs, 1, &channel));
    EXPECT_EQ(0, channel);
    end(2);
}
