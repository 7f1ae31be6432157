/* SPDX-License-Identifier: BSD-3-Clause */
/* HcclSend, HcclRecv, HcclBatchSendRecv: alone, in groups, over both transports. */
#include "hcomm/hcomm_p2p.h"
#include "tests/one_sided_test.h"

#define COUNT 50000u /* of fp32: a large message */

static const size_t counts[] = {0, 1, 10, 1000, COUNT};
#define COUNTS (sizeof counts / sizeof counts[0])

/* Rank 0 to 1 to 2 to 3, all sizes, every kind of memory at both ends. */
static void
chain(int rank, void *team)
{
    struct mate mate;

    mate_open(&mate, team, rank, 4);
    for (int kind = 0; kind < KINDS; kind++) {
        float *buf = get_memory((enum kind)((kind + rank) % KINDS), COUNT * sizeof *buf);

        for (size_t i = 0; i < COUNTS; i++) {
            size_t len = counts[i] * sizeof *buf;

            if (rank == 0)
                fill(buf, len, (unsigned)i);
            else
                MUST(HcclRecv(buf, counts[i], HCCL_DATA_TYPE_FP32, mate.rank - 1, mate.comm,
                              mate.stream));
            if (rank < 3)
                MUST(HcclSend(buf, counts[i], HCCL_DATA_TYPE_FP32, mate.rank + 1, mate.comm,
                              mate.stream));
            MUST(aclrtSynchronizeStream(mate.stream));
            MUST_HOLD(is_filled(buf, len, (unsigned)i));
        }
        meet(&mate);
        give_memory((enum kind)((kind + rank) % KINDS), buf);
    }
    mate_close(&mate);
}

BOTH(messages_go_from_rank_to_rank, 4, chain)

/* The stream of a send waits for the receive, however short the message is. */
static void
synchronous(int rank, void *team)
{
    aclrtStreamStatus status = ACL_STREAM_STATUS_COMPLETE;
    struct mate mate;
    uint64_t *word;

    mate_open(&mate, team, rank, 2);
    word = get_memory(DEVICE, sizeof *word);
    if (rank == 0) {
        *word = 4711;
        MUST(HcclSend(word, 1, HCCL_DATA_TYPE_UINT64, 1, mate.comm, mate.stream));
        usleep(100000); /* the peer is there, and receives only when it has been told */
        MUST(aclrtStreamQuery(mate.stream, &status));
        MUST_BE(ACL_STREAM_STATUS_NOT_READY, status);
        next_turn(&mate);
    } else {
        await_turn(&mate, 1);
        MUST(HcclRecv(word, 1, HCCL_DATA_TYPE_UINT64, 0, mate.comm, mate.stream));
    }
    MUST(aclrtSynchronizeStream(mate.stream));
    MUST_BE(4711, *word);
    give_memory(DEVICE, word);
    mate_close(&mate);
}

BOTH(a_send_is_not_done_before_its_receive, 2, synchronous)

/* Who has sent all may leave at once: what was taken is not lost. */
static void
leaving(int rank, void *team)
{
    struct team *all = team;

    for (int round = 0; round < 10; round++) {
        size_t count = counts[1 + (size_t)round % (COUNTS - 1)];
        struct mate mate;
        float *buf;

        mate_open(&mate, team, rank, 2);
        buf = get_memory(DEVICE, count * sizeof *buf);
        if (rank == 0) {
            fill(buf, count * sizeof *buf, 1);
            MUST(HcclSend(buf, count, HCCL_DATA_TYPE_FP32, 1, mate.comm, mate.stream));
        } else {
            MUST(HcclRecv(buf, count, HCCL_DATA_TYPE_FP32, 0, mate.comm, mate.stream));
        }
        MUST(aclrtSynchronizeStream(mate.stream));
        MUST_HOLD(is_filled(buf, count * sizeof *buf, 1));
        give_memory(DEVICE, buf);
        mate_close(&mate);
        meet(&mate);
        atomic_store(&all->ready, 0);
        meet(&mate);
    }
}

BOTH(a_sender_may_leave_when_it_has_sent, 2, leaving)

/* ---- many at once ---- */

static void
run_items(struct mate *mate, HcclSendRecvItem *items, uint32_t num, bool group)
{
    if (!group)
        MUST(HcclBatchSendRecv(items, num, mate->comm, mate->stream));
    if (group)
        MUST(HcclGroupStart());
    for (uint32_t i = 0; i < num && group; i++) {
        if (items[i].sendRecvType == HCCL_SEND)
            MUST(HcclSend(items[i].buf, items[i].count, items[i].dataType, items[i].remoteRank,
                          mate->comm, mate->stream));
        else
            MUST(HcclRecv(items[i].buf, items[i].count, items[i].dataType, items[i].remoteRank,
                          mate->comm, mate->stream));
    }
    if (group)
        MUST(HcclGroupEnd());
    MUST(aclrtSynchronizeStream(mate->stream));
}

/* Everybody sends to everybody, itself too, and all send before they receive: a cycle. */
static void
cycle(int rank, void *team, int num, bool group)
{
    HcclSendRecvItem items[2 * TEAM_MOST];
    uint32_t n = (uint32_t)num;
    struct mate mate;
    int32_t *out, *in;

    mate_open(&mate, team, rank, num);
    out = get_memory(DEVICE, COUNT * sizeof *out);
    in = get_memory(DEVICE, n * COUNT * sizeof *in);
    for (int round = 0; round < 20; round++) {
        size_t count = counts[(size_t)round % COUNTS];

        fill(out, count * sizeof *out, (unsigned)(round + rank));
        for (uint32_t i = 0; i < n; i++) {
            items[i] = (HcclSendRecvItem){HCCL_SEND, out, count, HCCL_DATA_TYPE_INT32, i};
            items[n + i] = (HcclSendRecvItem){HCCL_RECV, in + i * COUNT, count,
                                              HCCL_DATA_TYPE_INT32, n - 1 - i};
        }
        run_items(&mate, items, 2 * n, group);
        for (uint32_t i = 0; i < n; i++)
            MUST_HOLD(is_filled(in + i * COUNT, count * sizeof *in, (unsigned)round + n - 1 - i));
    }
    meet(&mate);
    give_memory(DEVICE, out);
    give_memory(DEVICE, in);
    mate_close(&mate);
}

static void
batch_of_2(int rank, void *team)
{
    cycle(rank, team, 2, false);
}

static void
batch_of_4(int rank, void *team)
{
    cycle(rank, team, 4, false);
}

static void
group_of_3(int rank, void *team)
{
    cycle(rank, team, 3, true);
}

BOTH(two_ranks_send_to_each_other_in_a_batch, 2, batch_of_2)
BOTH(all_send_to_all_in_a_batch, 4, batch_of_4)
BOTH(all_send_to_all_in_a_group, 3, group_of_3)

/* ---- groups ---- */

static void
group_rules(int rank, void *team)
{
    uint32_t peer = 1 - (uint32_t)rank;
    aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
    HcclSendRecvItem item;
    struct mate mate;
    HcclComm other = NULL;
    int32_t *buf;

    allow_errors();
    mate_open(&mate, team, rank, 2);
    buf = get_memory(DEVICE, 4 * sizeof *buf);
    item = (HcclSendRecvItem){HCCL_SEND, buf, 1, HCCL_DATA_TYPE_INT32, peer};
    buf[0] = 7 + rank;
    MUST(HcclGroupStart());
    MUST(HcclGroupStart());
    MUST_BE(HCCL_E_NOT_SUPPORT, HcclBatchSendRecv(&item, 1, mate.comm, mate.stream));
    MUST(HcclSend(buf, 1, HCCL_DATA_TYPE_INT32, peer, mate.comm, mate.stream));
    MUST_BE(HCCL_E_PARA, HcclSend(buf, 1, HCCL_DATA_TYPE_INT32, 2, mate.comm, mate.stream));
    MUST_HOLD(HcclSend(buf, 1, HCCL_DATA_TYPE_INT32, peer, mate.comm, buf) != HCCL_SUCCESS);
    MUST_BE(HCCL_E_NOT_SUPPORT, HcclCommDestroy(mate.comm)); /* not both kinds in one group */
    MUST_BE(HCCL_E_NOT_SUPPORT, HcclCommInitRootInfo(2, &mate.team->info, (uint32_t)rank, &other));
    MUST(HcclGroupEnd());
    MUST(aclrtStreamQuery(mate.stream, &status)); /* nothing before the outermost end */
    MUST_BE(ACL_STREAM_STATUS_COMPLETE, status);
    MUST(HcclRecv(buf + 1, 1, HCCL_DATA_TYPE_INT32, peer, mate.comm, NULL)); /* another stream */
    MUST(HcclGroupEnd());
    MUST(aclrtSynchronizeStream(mate.stream));
    MUST(aclrtSynchronizeStream(NULL));
    MUST_BE(8 - rank, buf[1]);
    MUST(HcclGroupStart());
    MUST(HcclGroupEnd());
    give_memory(DEVICE, buf);
    mate_close(&mate);
}

BOTH_ALLOWING(groups_keep_their_rules, 2, group_rules)

/* A group of sends and receives ends as its parts do: the communicator may be gone by then. */
TEST(a_group_fails_when_its_communicator_has_gone)
{
    int32_t device = 0, word = 1;
    HcclComm comm, copy;

    test_allow_errors();
    EXPECT_EQ(HCCL_SUCCESS, HcclCommInitAll(1, &device, &comm));
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    copy = comm;
    EXPECT_EQ(HCCL_SUCCESS, HcclGroupStart());
    EXPECT_EQ(HCCL_SUCCESS, HcclSend(&word, 1, HCCL_DATA_TYPE_INT32, 0, copy, NULL));
    EXPECT_EQ(HCCL_E_NOT_SUPPORT, HcclCommDestroy(comm));
    EXPECT_EQ(HCCL_SUCCESS, HcclRecv(&word, 1, HCCL_DATA_TYPE_INT32, 0, copy, NULL));
    EXPECT_EQ(HCCL_SUCCESS, HcclGroupEnd());
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(NULL));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comm));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
}

/* ---- bad input ---- */

static void
bad(int rank, void *team)
{
    uint32_t peer = 1 - (uint32_t)rank;
    HcclSendRecvItem item;
    aclrtStream dead;
    struct mate mate;
    char *buf;

    allow_errors();
    mate_open(&mate, team, rank, 2);
    buf = get_memory(DEVICE, 4096);
    MUST_BE(HCCL_E_PTR, HcclSend(buf, 1, HCCL_DATA_TYPE_INT8, peer, NULL, mate.stream));
    MUST_BE(HCCL_E_PTR, HcclRecv(buf, 1, HCCL_DATA_TYPE_INT8, peer, NULL, mate.stream));
    MUST_BE(HCCL_E_PARA, HcclSend(buf, 1, HCCL_DATA_TYPE_INT8, peer, buf, mate.stream));
    MUST_BE(HCCL_E_PTR, HcclSend(NULL, 1, HCCL_DATA_TYPE_INT8, peer, mate.comm, mate.stream));
    MUST_BE(HCCL_E_PTR, HcclRecv(NULL, 1, HCCL_DATA_TYPE_INT8, peer, mate.comm, mate.stream));
    MUST_BE(HCCL_E_PARA, HcclSend(buf, 1, HCCL_DATA_TYPE_INT8, 2, mate.comm, mate.stream));
    MUST_BE(HCCL_E_PARA, HcclRecv(buf, 1, HCCL_DATA_TYPE_INT8, 2, mate.comm, mate.stream));
    MUST_BE(HCCL_E_PARA, HcclRecv(buf, 1, HCCL_DATA_TYPE_INT8, HCOMM_ANY_RANK, mate.comm,
                                  mate.stream)); /* that is HcommRecv's */
    MUST_BE(HCCL_E_PARA, HcclSend(buf, 1, (HcclDataType)99, peer, mate.comm, mate.stream));
    MUST_BE(HCCL_E_PARA,
            HcclSend(buf, UINT64_MAX, HCCL_DATA_TYPE_INT64, peer, mate.comm, mate.stream));
    MUST_BE(HCCL_E_PARA,
            HcclRecv(buf, UINT64_MAX, HCCL_DATA_TYPE_INT64, peer, mate.comm, mate.stream));
    MUST_BE(HCCL_E_RUNTIME, HcclSend(buf, 1, HCCL_DATA_TYPE_INT8, peer, mate.comm, buf));
    MUST(HcclGroupStart());
    MUST_BE(HCCL_E_RUNTIME, HcclSend(buf, 1, HCCL_DATA_TYPE_INT8, peer, mate.comm, buf));
    MUST(HcclGroupEnd());
    MUST(aclrtCreateStream(&dead));
    MUST(aclrtDestroyStream(dead));
    MUST_BE(HCCL_E_RUNTIME, HcclRecv(buf, 1, HCCL_DATA_TYPE_INT8, peer, mate.comm, dead));
    MUST(HcclGroupStart());
    MUST_BE(HCCL_E_RUNTIME, HcclRecv(buf, 1, HCCL_DATA_TYPE_INT8, peer, mate.comm, dead));
    MUST(HcclGroupEnd());
    MUST_BE(HCCL_E_PTR, HcclBatchSendRecv(NULL, 1, mate.comm, mate.stream));
    MUST(HcclBatchSendRecv(&item, 0, mate.comm, mate.stream));
    item = (HcclSendRecvItem){HCCL_SEND_RECV_RESERVED, buf, 1, HCCL_DATA_TYPE_INT8, peer};
    MUST_BE(HCCL_E_PARA, HcclBatchSendRecv(&item, 1, mate.comm, mate.stream));
    item.sendRecvType = HCCL_RECV;
    item.remoteRank = 7;
    MUST_BE(HCCL_E_PARA, HcclBatchSendRecv(&item, 1, mate.comm, mate.stream));
    /* All that was refused left nothing behind. */
    MUST_BE(HCCL_SUCCESS,
            rank == 0 ? HcclSend(buf, 4096, HCCL_DATA_TYPE_INT8, peer, mate.comm, mate.stream)
                      : HcclRecv(buf, 4096, HCCL_DATA_TYPE_INT8, peer, mate.comm, mate.stream));
    MUST(aclrtSynchronizeStream(mate.stream));
    give_memory(DEVICE, buf);
    mate_close(&mate);
}

BOTH_ALLOWING(what_cannot_be_sent_is_refused, 2, bad)

/* Receives of programs with any tag do not take what HcclSend sent, nor the other way round. */
static void
apart(int rank, void *team)
{
    int32_t words[2] = {1, 2};
    HcommRecvInfo info;
    struct mate mate;

    mate_open(&mate, team, rank, 2);
    if (rank == 0) {
        MUST(HcclSend(&words[0], 1, HCCL_DATA_TYPE_INT32, 1, mate.comm, mate.stream));
        MUST(HcommSend(&words[1], 1, HCCL_DATA_TYPE_INT32, 1, 5, mate.comm, HCOMM_STREAM_INLINE));
    } else {
        words[0] = words[1] = 0;
        MUST(HcommRecv(&words[1], 1, HCCL_DATA_TYPE_INT32, HCOMM_ANY_RANK, HCOMM_ANY_TAG, &info,
                       mate.comm, HCOMM_STREAM_INLINE));
        MUST_BE(5, info.tag);
        MUST(HcclRecv(&words[0], 1, HCCL_DATA_TYPE_INT32, 0, mate.comm, mate.stream));
    }
    MUST(aclrtSynchronizeStream(mate.stream));
    MUST_BE(1, words[0]);
    MUST_BE(2, words[1]);
    mate_close(&mate);
}

BOTH(they_are_apart_from_messages_with_tags, 2, apart)

static void
dying(int rank, void *shared)
{
    struct mate mate;
    char *buf;

    if (rank == 0)
        test_expect_error("rank 1");
    mate_open(&mate, shared, rank, 2);
    buf = get_memory(DEVICE, 1 << 20);
    MUST(rank == 0 ? HcclRecv(buf, 8, HCCL_DATA_TYPE_INT8, 1, mate.comm, mate.stream)
                   : HcclSend(buf, 8, HCCL_DATA_TYPE_INT8, 0, mate.comm, mate.stream));
    MUST(aclrtSynchronizeStream(mate.stream));
    next_turn(&mate);
    while (rank == 1)
        pause();
    MUST(HcclSend(buf, 1 << 20, HCCL_DATA_TYPE_INT8, 1, mate.comm, mate.stream));
    MUST_HOLD(aclrtSynchronizeStream(mate.stream) != ACL_SUCCESS);
    give_memory(DEVICE, buf);
    mate_close(&mate);
}

TEST(a_send_to_a_rank_that_dies_fails)
{
    struct procs procs;
    struct team *team = procs_prepare(&procs, sizeof *team);

    procs_fork(&procs, 2, dying);
    procs_await(&team->turn, 2);
    procs_kill(&procs, 1);
    procs_expect_success(&procs);
}
