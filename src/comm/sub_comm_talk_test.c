/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks of parts of a communicator that talk: as threads of one process, and as processes. */
#define _GNU_SOURCE
#include "comm/comm_table_test.h"
#include "hccl/hccl_rank_graph.h"
#include "tests/support/prank.h"
#include "tests/support/two_sided.h"

#define RANKS 4u

/* The part of ranks[0..num), which this rank is one of. */
static HcclResult
make_part(struct side *side, const uint32_t *ranks, uint32_t num, uint64_t id, HcclComm *sub)
{
    uint32_t list[RANKS], own = 0;
    HcclCommConfig config;

    HcclCommConfigInit(&config);
    config.hcclBufferSize = 1;
    memcpy(list, ranks, num * sizeof *list);
    while (ranks[own] != side->rank)
        own++;
    return HcclCreateSubCommConfig(&side->comm, num, list, id, own, &config, sub);
}

static bool
is_member(uint32_t rank, const uint32_t *ranks, uint32_t num)
{
    for (uint32_t i = 0; i < num; i++) {
        if (ranks[i] == rank)
            return true;
    }
    return false;
}

/* As prank_open, for a communicator that is there. */
static void
prank_of(struct prank *prank, HcclComm comm)
{
    uint64_t size = 0;

    *prank = (struct prank){.comm = comm};
    OK(HcclGetRankId(comm, &prank->rank));
    OK(HcclGetRankSize(comm, &prank->num));
    OK(HcclGetHcclBuffer(comm, (void **)&prank->buf, &size));
    MUST_EQ(2u << 20, size);
    OK(HcclThreadAcquire(comm, COMM_ENGINE_CPU_TS, 1, 2, &prank->thread));
    OK(HcclThreadResGetInfo(comm, prank->thread, THREAD_RES_TYPE_STREAM, sizeof prank->stream,
                            (void **)&prank->stream));
}

/* Numbers around the ring of its members, through channels. */
static void
ring(HcclComm comm, uint64_t seed)
{
    struct prank prank;
    uint64_t got = 0;

    prank_of(&prank, comm);
    OK(prank_link(&prank, UINT32_MAX));
    for (uint64_t i = 0; i < 5 && prank.num > 1; i++) {
        uint32_t next = (prank.rank + 1) % prank.num;
        uint32_t last = (prank.rank + prank.num - 1) % prank.num;

        OK(prank_pass(&prank, next, last, seed + 10 * i + prank.rank, &got));
        MUST_EQ(seed + 10 * i + last, got);
    }
    free(prank.channels);
    free(prank.peer_bufs);
}

/* The same through messages. */
static void
messages(HcclComm comm, uint64_t seed)
{
    uint32_t rank = 0, num = 0;
    uint64_t out, in = 0;

    OK(HcclGetRankId(comm, &rank));
    OK(HcclGetRankSize(comm, &num));
    out = seed + rank;
    OK(HcommSendRecv(&out, 1, HCCL_DATA_TYPE_UINT64, (rank + 1) % num, 3, &in, 1,
                     HCCL_DATA_TYPE_UINT64, (rank + num - 1) % num, 3, NULL, comm, INLINE));
    MUST_EQ(seed + (rank + num - 1) % num, in);
}

/* ---- Several parts, overlapping ---- */

static void
overlapping(struct side *side)
{
    static const struct {
        uint32_t num, ranks[RANKS];
    } parts[] = {{3, {0, 1, 2}}, {3, {1, 2, 3}}, {2, {0, 3}}, {4, {0, 1, 2, 3}},
                 {1, {2}},       {2, {1, 2}},    {2, {2, 3}}};
    enum { NUM = sizeof parts / sizeof parts[0] };
    HcclComm subs[NUM] = {NULL};

    for (uint32_t i = 0; i < NUM; i++) {
        if (is_member(side->rank, parts[i].ranks, parts[i].num))
            OK(make_part(side, parts[i].ranks, parts[i].num, i, &subs[i]));
    }
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < NUM; i++) {
            if (subs[i] == NULL)
                continue;
            ring(subs[i], 1000 * i);
            messages(subs[i], 1000 * i);
        }
        messages(side->comm, 7);
    }
    for (uint32_t i = NUM; i-- > 0;) {
        if (subs[i] != NULL)
            OK(HcclCommDestroy(subs[i]));
    }
    side_meet(side, 0);
}

TEST_SIDES(overlapping_parts_keep_their_traffic_apart, RANKS, overlapping)

/* Rows use one id, columns too: who is no member has nothing to do with it. */
static void
grid(struct side *side)
{
    const uint32_t row[] = {side->rank / 2 * 2, side->rank / 2 * 2 + 1};
    const uint32_t column[] = {side->rank % 2, side->rank % 2 + 2};
    HcclComm rows = NULL, columns = NULL;

    OK(make_part(side, row, 2, 1, &rows));
    OK(make_part(side, column, 2, 2, &columns));
    messages(rows, 100 + row[0]);
    messages(columns, 200 + column[0]);
    ring(rows, 300 + row[0]);
    ring(columns, 400 + column[0]);
    OK(HcclCommDestroy(rows));
    OK(HcclCommDestroy(columns));
    side_meet(side, 0);
}

TEST_SIDES(parts_without_a_common_member_may_have_the_same_id, RANKS, grid)

static void *
one_of_two(void *arg)
{
    struct side *side = arg;
    int32_t device = (int32_t)(side->rank % 2);

    OK(aclrtSetDevice(device));
    OK(side_join(side, RANKS, side->rank, 1));
    overlapping(side);
    OK(HcclCommDestroy(side->comm));
    OK(aclrtResetDevice(device));
    return NULL;
}

/* Two ranks in each of two processes. */
static void
two_and_two(int process, void *shared)
{
    struct side sides[2];

    for (int i = 0; i < 2; i++) {
        sides[i] = (struct side){.shared = shared, .rank = (uint32_t)(2 * process + i)};
        OK(pthread_create(&sides[i].thread, NULL, one_of_two, &sides[i]));
    }
    for (int i = 0; i < 2; i++)
        OK(pthread_join(sides[i].thread, NULL));
}

TEST(parts_may_have_several_ranks_in_a_process)
{
    struct procs procs;

    procs_start(&procs, 2, two_and_two, sizeof(struct sides));
    procs_expect_success(&procs);
}

/* ---- What a communicator can do ---- */

static void
everything(struct side *side)
{
    static const uint32_t ranks[] = {1, 3};
    uint64_t *memory = NULL, value = 0, size = 0;
    HcclResult error = HCCL_E_INTERNAL;
    uint32_t own, num = 0;
    HcommWindow window = 0;
    HcclComm sub = NULL;
    CommLink *links = NULL;
    void *ctx = NULL, *found = NULL;

    if (is_member(side->rank, ranks, 2)) {
        own = side->rank / 2;
        OK(make_part(side, ranks, 2, 9, &sub));
        OK(HcclEngineCtxCreate(sub, "tag", COMM_ENGINE_CPU_TS, 64, &ctx));
        MUST_EQ(HCCL_E_NOT_FOUND,
                HcclEngineCtxGet(side->comm, "tag", COMM_ENGINE_CPU_TS, &found, &size));
        OK(HcclEngineCtxGet(sub, "tag", COMM_ENGINE_CPU_TS, &found, &size));
        MUST(found == ctx && size == 64);
        OK(HcclRankGraphGetLinks(sub, 0, 0, 1, &links, &num));
        MUST(num > 0 || !side->threads);
        OK(HcommWindowAllocate(sub, sizeof value, HCOMM_ACCESS_WRITE, (void **)&memory, &window));
        value = 40 + own;
        OK(HcommPut(&value, 1, HCCL_DATA_TYPE_UINT64, window, 1 - own, 0, INLINE));
        OK(HcommWindowFlush(window, 1 - own, INLINE));
        messages(sub, 5);
        MUST_EQ(40 + 1 - own, *memory);
        OK(HcclGetCommAsyncError(sub, &error));
        OK(error);
        messages(sub, 6); /* who goes first would count as gone */
        OK(HcommWindowDestroy(window));
        OK(HcclCommDestroy(sub));
    }
    side_meet(side, 0);
}

TEST_SIDES(contexts_windows_and_messages_work_in_a_part, RANKS, everything)

/* ---- Lifetimes ---- */

static void
orphans(struct side *side)
{
    static const uint32_t ranks[] = {0, 1, 2, 3};
    HcclComm before = NULL, after = NULL;

    OK(make_part(side, ranks, RANKS, 1, &before));
    OK(make_part(side, ranks, RANKS, 2, &after));
    ring(before, 10);
    OK(HcclCommDestroy(side->comm));
    side->comm = NULL;
    ring(before, 20);
    messages(before, 30);
    ring(after, 40); /* what it meets by came from the parent */
    messages(after, 50);
    OK(HcclCommDestroy(after));
    OK(HcclCommDestroy(before));
    side_meet(side, 0);
}

TEST_SIDES(parts_work_after_their_parent_has_gone, RANKS, orphans)

/* One id again and again, nobody waits for anybody: no round meets another one. */
static void
rounds(struct side *side)
{
    static const uint32_t ranks[] = {0, 1, 2};

    for (uint32_t i = 0; i < 20 && side->rank < 3; i++) {
        HcclComm sub = NULL;

        OK(make_part(side, ranks, 3, 8, &sub));
        if (side->rank == i % 3)
            usleep(2000);
        if (i % 2 == 0)
            messages(sub, 100 * i);
        else
            ring(sub, 100 * i);
        OK(HcclCommDestroy(sub));
    }
    side_meet(side, 0);
}

TEST_SIDES(a_part_may_be_made_again_under_its_id, RANKS, rounds)

/* Rank 0 has sent, and goes, before rank 1 has made its end. */
static void
late(struct side *side)
{
    static const uint32_t ranks[] = {0, 1};
    uint32_t value = 4711;
    HcclComm sub = NULL;

    if (side->rank == 1)
        usleep(300000);
    OK(make_part(side, ranks, 2, 3, &sub));
    if (side->rank == 0)
        OK(HcommSend(&value, 1, HCCL_DATA_TYPE_UINT32, 1, 5, sub, INLINE));
    value = 0;
    if (side->rank == 1) {
        OK(HcommRecv(&value, 1, HCCL_DATA_TYPE_UINT32, 0, 5, NULL, sub, INLINE));
        MUST_EQ(4711, value);
    }
    OK(HcclCommDestroy(sub));
    side_meet(side, 0);
}

TEST_SIDES(a_rank_may_come_long_after_another_has_sent, 2, late)

static void
late_channels(struct side *side)
{
    static const uint32_t ranks[] = {0, 1};
    HcclComm sub = NULL;

    if (side->rank == 0)
        usleep(300000);
    OK(make_part(side, ranks, 2, 3, &sub));
    ring(sub, 1);
    OK(HcclCommDestroy(sub));
    side_meet(side, 0);
}

TEST_SIDES(a_rank_may_come_long_after_another_has_asked_for_channels, 2, late_channels)

/* ---- Members that disagree ---- */

/* Each rank asks for it; some are threads. */
static void
allow_errors(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    OK(pthread_once(&once, test_allow_errors));
}

static HcclResult
acquire(HcclComm comm, uint32_t peer)
{
    HcclChannelDesc desc;
    ChannelHandle channel = 0;

    OK(HcclChannelDescInit(&desc, 1));
    desc.remoteRank = peer;
    desc.channelProtocol = COMM_PROTOCOL_HCCS;
    return HcclChannelAcquire(comm, COMM_ENGINE_CPU_TS, &desc, 1, &channel);
}

/* Channels, then messages: both ends learn what each of them has said. */
static void
expect_quarrel(struct side *side, HcclComm sub, uint32_t peer, const char *mine, const char *theirs)
{
    uint32_t other = side->num == 2 ? peer : 3 - side->rank; /* as the parent counts */
    char parent[COMM_NAME_MAX_LENGTH];
    HcclResult rc = acquire(sub, peer), error = HCCL_SUCCESS;
    char text[256];
    uint8_t byte = 0;

    OK(HcclGetCommName(side->comm, parent));
    MUST(rc == HCCL_E_PARA || rc == HCCL_E_REMOTE); /* who looks first tells the other */
    snprintf(text, sizeof text, "rank %u of %s says \"%s\"", side->rank, parent, mine);
    MUST(test_logged(text) > 0);
    snprintf(text, sizeof text, "rank %u of %s says \"%s\"", other, parent, theirs);
    MUST(test_logged(text) > 0);
    OK(HcclGetCommAsyncError(sub, &error));
    MUST_EQ(HCCL_E_REMOTE, error);
    side_meet(side, 1);
    rc = side->rank == 1 ? HcommSend(&byte, 1, BYTES, peer, 1, sub, INLINE)
                         : HcommRecv(&byte, 1, BYTES, peer, 1, NULL, sub, INLINE);
    MUST(rc != HCCL_SUCCESS || side->rank == 1); /* a short one is sent when it is copied */
    side_meet(side, 1);
    OK(HcclCommDestroy(sub));
}

/* Ranks 1 and 2 have different numbers in the two lists. */
static void
lists(struct side *side)
{
    static const uint32_t long_list[] = {0, 1, 2}, short_list[] = {1, 2};
    HcclComm sub = NULL;

    allow_errors();
    if (side->rank == 1) {
        OK(make_part(side, long_list, 3, 6, &sub));
        expect_quarrel(side, sub, 2, "rankIds 0-2", "rankIds 1-2");
    } else if (side->rank == 2) {
        OK(make_part(side, short_list, 2, 6, &sub));
        expect_quarrel(side, sub, 0, "rankIds 1-2", "rankIds 0-2");
    } else {
        side_meet(side, 1);
        side_meet(side, 1);
    }
    side_meet(side, 0);
}

TEST_SIDES(members_with_different_lists_learn_it_when_they_meet, 3, lists)

static void
settings(struct side *side)
{
    uint32_t ranks[] = {0, 1};
    char mine[64], theirs[64];
    HcclCommConfig config;
    HcclComm sub = NULL;

    allow_errors();
    HcclCommConfigInit(&config);
    config.hcclBufferSize = 1 + side->rank;
    snprintf(mine, sizeof mine, "hcclBufferSize %u", 1 + side->rank);
    snprintf(theirs, sizeof theirs, "hcclBufferSize %u", 2 - side->rank);
    OK(HcclCreateSubCommConfig(&side->comm, 2, ranks, 1, side->rank, &config, &sub));
    expect_quarrel(side, sub, 1 - side->rank, mine, theirs);
    side_meet(side, 0);
}

TEST_SIDES(members_with_different_settings_learn_it_when_they_meet, 2, settings)

/* Messages alone. */
static void
quarrel_by_message(struct side *side)
{
    static const uint32_t all[] = {0, 1, 2}, two[] = {0, 1};
    HcclComm sub = NULL;
    uint8_t byte = 0;

    allow_errors();
    if (side->rank < 2) {
        OK(side->rank == 0 ? make_part(side, all, 3, 6, &sub) : make_part(side, two, 2, 6, &sub));
        MUST(HcommSendRecv(&byte, 1, BYTES, 1 - side->rank, 1, &byte, 1, BYTES, 1 - side->rank, 1,
                           NULL, sub, INLINE) != HCCL_SUCCESS);
        MUST(test_logged("rankIds 0-2") > 0 && test_logged("rankIds 0-1") > 0);
        OK(HcclCommDestroy(sub));
    }
    side_meet(side, 0);
}

TEST_SIDES(messages_between_members_with_different_lists_fail, 3, quarrel_by_message)

/* ---- Death ---- */

struct deaths {
    struct sides sides;
    atomic_int at_work; /* ranks that are where the test wants them */
    atomic_int died;
};

static void
join(struct side *side, int rank, void *shared, uint32_t num)
{
    *side = (struct side){.shared = shared};
    test_allow_errors();
    OK(aclrtSetDevice(0));
    OK(side_join(side, num, (uint32_t)rank, 1));
}

static void
leave(struct side *side)
{
    OK(HcclCommDestroy(side->comm));
    OK(aclrtResetDeviceForce(0));
}

/* A stream waits for a notify of rank `peer`, which will not come. */
static void
wait_in_vain(HcclComm comm, uint32_t peer, atomic_int *at_work)
{
    HcclResult error = HCCL_SUCCESS;
    struct prank prank;

    prank_of(&prank, comm);
    OK(prank_link(&prank, UINT32_MAX));
    OK(HcommChannelNotifyWaitOnThread(prank.thread, prank.channels[peer], 0, 60));
    atomic_fetch_add(at_work, 1);
    MUST_EQ(ACL_ERROR_RT_SUSPECT_REMOTE_ERROR, aclrtSynchronizeStream(prank.stream));
    MUST(test_logged("died") > 0);
    OK(HcclGetCommAsyncError(comm, &error));
    MUST_EQ(HCCL_E_REMOTE, error);
    free(prank.channels);
    free(prank.peer_bufs);
}

static void
member_dies(int rank, void *shared)
{
    static const uint32_t ranks[] = {0, 2};
    struct deaths *deaths = shared;
    HcclComm sub = NULL;
    struct side side;
    struct prank prank;

    join(&side, rank, shared, 3);
    if (rank == 1) { /* it has nothing to do with it, and lives on */
        messages(side.comm, 1);
    } else {
        OK(make_part(&side, ranks, 2, 1, &sub));
        messages(side.comm, 1);
    }
    if (rank == 2) {
        prank_of(&prank, sub);
        OK(prank_link(&prank, UINT32_MAX));
        atomic_fetch_add(&deaths->at_work, 1);
        side_await(&deaths->died, 9); /* it is killed here */
    }
    if (rank == 0) {
        wait_in_vain(sub, 1, &deaths->at_work);
        OK(HcclCommDestroy(sub));
    }
    leave(&side);
}

TEST(the_death_of_a_member_ends_what_waits_in_a_part)
{
    struct procs procs;
    struct deaths *deaths = procs_prepare(&procs, sizeof *deaths);

    procs_fork(&procs, 3, member_dies);
    procs_await(&deaths->at_work, 2);
    procs_kill(&procs, 2);
    procs_expect_success(&procs);
}

/* Those that are left go on: in a part that was there, and in one made afterwards. */
static void
stranger_dies(int rank, void *shared)
{
    static const uint32_t ranks[] = {0, 1};
    HcclComm before = NULL, after = NULL;
    struct deaths *deaths = shared;
    struct prank prank;
    struct side side;

    join(&side, rank, shared, 3);
    if (rank == 2) {
        prank_of(&prank, side.comm);
        OK(prank_link(&prank, UINT32_MAX));
        atomic_fetch_add(&deaths->at_work, 1);
        side_await(&deaths->died, 9); /* it is killed here */
    }
    OK(make_part(&side, ranks, 2, 1, &before));
    ring(before, 1);
    wait_in_vain(side.comm, 2, &deaths->at_work);
    ring(before, 2);
    messages(before, 3);
    OK(make_part(&side, ranks, 2, 2, &after));
    ring(after, 4);
    messages(after, 5);
    OK(HcclCommDestroy(after));
    OK(HcclCommDestroy(before));
    leave(&side);
}

TEST(those_who_are_left_go_on_in_a_part_without_the_dead)
{
    struct procs procs;
    struct deaths *deaths;

    setenv("HCCL_BUFFSIZE", "1", 1);
    deaths = procs_prepare(&procs, sizeof *deaths);
    procs_fork(&procs, 3, stranger_dies);
    procs_await(&deaths->at_work, 3);
    procs_kill(&procs, 2);
    procs_expect_success(&procs);
}

/* ---- From a rank table ---- */

struct table {
    struct sides sides;
    char path[256];
};

static void
from_table(int rank, void *arg)
{
    static const uint32_t odd[] = {1, 3}, most[] = {0, 1, 2};
    struct side side = {.shared = arg, .rank = (uint32_t)rank, .num = RANKS};
    HcclComm subs[2] = {NULL, NULL};
    struct table *table = arg;

    OK(aclrtSetDevice(rank));
    OK(HcclCommInitClusterInfo(table->path, side.rank, &side.comm));
    if (is_member(side.rank, odd, 2))
        OK(make_part(&side, odd, 2, 1, &subs[0]));
    if (is_member(side.rank, most, 3))
        OK(make_part(&side, most, 3, 2, &subs[1]));
    OK(HcclCommDestroy(side.comm));
    for (int i = 0; i < 2; i++) {
        if (subs[i] == NULL)
            continue;
        ring(subs[i], 10);
        messages(subs[i], 20);
        OK(HcclCommDestroy(subs[i]));
    }
    OK(aclrtResetDeviceForce(rank));
}

TEST(processes_of_a_rank_table_make_parts)
{
    struct procs procs;
    struct table *table = procs_prepare(&procs, sizeof *table);

    snprintf(table->path, sizeof table->path, "%s", table_file(2, 2));
    procs_fork(&procs, (int)RANKS, from_table);
    procs_expect_success(&procs);
}
