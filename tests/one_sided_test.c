/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided services: both ways to use them, over both transports, with every kind of memory. */
#include "tests/one_sided_test.h"

#define THIRD ((100u << 10) + 24) /* bytes: some pages, no round number of anything */
#define LEN (3 * THIRD)

/* ---- register, exchange, enable ---- */

/* The first third is what the peer puts into, the second what it gets, the third where. */
static void
put_and_get_one_kind(struct mate *mate, enum kind kind)
{
    uint32_t peer = 1 - mate->rank;
    char *mine = get_memory(kind, LEN), *remote;
    HcclMemDesc own, far;
    CommMem mem;

    fill(mine + THIRD, THIRD, 10 + mate->rank);
    share(mate, peer, type_of(kind), mine, LEN, &own, &far, &mem);
    remote = mem.addr;
    MUST(get(mate, peer, mine + 2 * (size_t)THIRD, remote + THIRD, THIRD));
    MUST_HOLD(is_filled(mine + 2 * (size_t)THIRD, THIRD, 10 + peer));
    MUST(put(mate, peer, mine + THIRD, remote, THIRD));
    meet(mate);
    MUST_HOLD(is_filled(mine, THIRD, 10 + peer));
    MUST(HcclDisableMemAccess(mate->comm, &far));
    MUST(HcclDeregisterMem(mate->comm, &own));
    meet(mate);
    give_memory(kind, mine);
}

static void
every_kind(int rank, void *team)
{
    struct mate mate;

    mate_open(&mate, team, rank, 2);
    for (int kind = 0; kind < KINDS; kind++)
        put_and_get_one_kind(&mate, (enum kind)kind);
    mate_close(&mate);
}

BOTH(every_kind_of_memory_is_put_to_and_got_from, 2, every_kind)

/* Pieces of all sizes and types in one call; the longest there may be. */
static void
many_pieces(int rank, void *team)
{
    HcclOneSideOpDesc descs[256];
    uint32_t num = 256, each = 64;
    HcclMemDesc own, far;
    struct mate mate;
    CommMem mem;
    char *mine;

    mate_open(&mate, team, rank, 2);
    mine = get_memory(DEVICE, 2 * (size_t)num * each);
    fill(mine, (size_t)num * each, 3 + (unsigned)rank);
    share(&mate, 1 - mate.rank, COMM_MEM_TYPE_DEVICE, mine, 2ull * num * each, &own, &far, &mem);
    for (uint32_t i = 0; i < num; i++) /* back to front; piece 7 is empty */
        descs[i] =
            (HcclOneSideOpDesc){.localAddr = mine + (size_t)(num - 1 - i) * each,
                                .remoteAddr = (char *)mem.addr + (size_t)(2 * num - 1 - i) * each,
                                .count = i == 7 ? 0 : each / 4,
                                .dataType = HCCL_DATA_TYPE_FP32};
    MUST(HcclBatchPut(mate.comm, 1 - mate.rank, descs, num, mate.stream));
    descs[0] = descs[7];
    descs[0].count = each / 8;
    descs[0].dataType = HCCL_DATA_TYPE_INT64;
    MUST(HcclBatchPut(mate.comm, 1 - mate.rank, descs, 1, mate.stream));
    MUST(HcclBatchPut(mate.comm, 1 - mate.rank, NULL, 0, mate.stream));
    MUST(aclrtSynchronizeStream(mate.stream));
    meet(&mate);
    MUST_HOLD(is_filled(mine + (size_t)num * each, (size_t)num * each, 3 + 1 - (unsigned)rank));
    meet(&mate);
    MUST(HcclDisableMemAccess(mate.comm, &far));
    give_memory(DEVICE, mine);
    mate_close(&mate); /* ends the registration too */
}

BOTH(a_batch_moves_all_its_pieces, 2, many_pieces)

static void
counted(int rank, void *team)
{
    HcclMemDesc one, two, far;
    struct mate mate;
    CommMem mem;
    char *mine;

    test_expect_error("has not registered this");
    test_expect_error("has not enabled this memory");
    mate_open(&mate, team, rank, 2);
    mine = get_memory(DEVICE, 4096);
    MUST(HcclRegisterMem(mate.comm, 1 - mate.rank, 0, mine, 4096, &one));
    share(&mate, 1 - mate.rank, 0, mine, 4096, &two, &far, &mem);
    MUST_HOLD(memcmp(&one, &two, sizeof one) == 0);
    MUST(HcclEnableMemAccess(mate.comm, &far, &mem));
    meet(&mate);
    MUST(HcclDeregisterMem(mate.comm, &one));
    MUST(HcclDisableMemAccess(mate.comm, &far));
    meet(&mate);
    MUST(put(&mate, 1 - mate.rank, mine, (char *)mem.addr + 64, 64)); /* one is left of each */
    meet(&mate);
    MUST(HcclDeregisterMem(mate.comm, &one));
    MUST(HcclDisableMemAccess(mate.comm, &far));
    MUST_BE(HCCL_E_NOT_FOUND, HcclDeregisterMem(mate.comm, &one));
    MUST_BE(HCCL_E_NOT_FOUND, HcclDisableMemAccess(mate.comm, &far));
    give_memory(DEVICE, mine);
    mate_close(&mate);
}

BOTH(registrations_and_enablings_are_counted, 2, counted)

/* Programs put their own text into descriptions, all of it. */
static void
own_text(int rank, void *team)
{
    HcclMemDesc out[3], in[5];
    HcclMemDescs local = {out, 3}, remote = {in, 5};
    uint32_t ranks[2] = {(uint32_t)rank, 1 - (uint32_t)rank};
    struct mate mate;
    CommMem mem;
    u32 num = 0;

    test_expect_error("a program's own text");
    mate_open(&mate, team, rank, 2);
    memset(in, 0x55, sizeof in);
    for (unsigned i = 0; i < 3; i++) {
        fill(&out[i], sizeof out[i], i * 5 + (unsigned)rank);
        memcpy(&out[i], ranks, sizeof ranks);
    }
    local.arrayLength = rank == 0 ? 3 : 0; /* and nothing the other way */
    MUST(HcclExchangeMemDesc(mate.comm, ranks[1], &local, 60, &remote, &num));
    MUST_BE(rank == 0 ? 0 : 3, num);
    local.arrayLength = rank == 0 ? 2 : 3;
    MUST(HcclExchangeMemDesc(mate.comm, ranks[1], &local, 0, &remote, &num));
    MUST_BE(rank == 0 ? 3 : 2, num);
    for (unsigned i = 0; i < num; i++) {
        fill(&out[0], sizeof out[0], i * 5 + 1 - (unsigned)rank);
        memcpy(&out[0], &ranks[1], 4);
        memcpy((char *)&out[0] + 4, &ranks[0], 4);
        MUST_HOLD(memcmp(&out[0], &in[i], sizeof in[i]) == 0);
    }
    MUST_BE(HCCL_E_PARA, HcclEnableMemAccess(mate.comm, &in[0], &mem));
    mate_close(&mate);
}

BOTH(texts_of_programs_travel_unchanged, 2, own_text)

/* 256 descriptions each way, which is the most. */
static void
most(int rank, void *team)
{
    HcclMemDesc *out = calloc(257, sizeof *out), *in = calloc(257, sizeof *in);
    HcclMemDescs local = {out, 256}, remote = {in, 256};
    struct mate mate;
    CommMem mem;
    u32 num = 0;
    char *mine;

    test_expect_error("has registered 256 memories for rank");
    test_expect_error("local->arrayLength is 257");
    mate_open(&mate, team, rank, 2);
    mine = get_memory(DEVICE, 257 * 64);
    for (int i = 0; i < 256; i++)
        MUST(HcclRegisterMem(mate.comm, 1 - mate.rank, 0, mine + (size_t)i * 64, 64, &out[i]));
    MUST_BE(HCCL_E_PARA,
            HcclRegisterMem(mate.comm, 1 - mate.rank, 0, mine + 256 * 64, 64, &out[256]));
    local.arrayLength = 257;
    MUST_BE(HCCL_E_PARA, HcclExchangeMemDesc(mate.comm, 1 - mate.rank, &local, 60, &remote, &num));
    local.arrayLength = 256;
    MUST(HcclExchangeMemDesc(mate.comm, 1 - mate.rank, &local, 60, &remote, &num));
    MUST_BE(256, num);
    for (int i = 0; i < 256; i++)
        MUST(HcclEnableMemAccess(mate.comm, &in[i], &mem));
    fill(mine, 64, 9);
    MUST(put(&mate, 1 - mate.rank, mine, mem.addr, 64)); /* the last one */
    meet(&mate);
    MUST_HOLD(is_filled(mine + 255 * 64, 64, 9));
    meet(&mate);
    give_memory(DEVICE, mine);
    mate_close(&mate);
    free(out);
    free(in);
}

BOTH(as_many_memories_as_there_may_be, 2, most)

/* Memory that comes and goes does not use up the number. */
static void
comes_and_goes(int rank, void *team)
{
    HcclMemDesc own, far;
    struct mate mate;
    CommMem mem;
    char *mine;

    mate_open(&mate, team, rank, 2);
    mine = get_memory(PINNED, 4096);
    for (int i = 0; i < 1200; i++) {
        share(&mate, 1 - mate.rank, 1, mine, 4096, &own, &far, &mem);
        if (i % 100 == 0) {
            fill(mine, 64, (unsigned)i);
            MUST(put(&mate, 1 - mate.rank, mine, (char *)mem.addr + 64, 64));
        }
        meet(&mate);
        MUST(HcclDisableMemAccess(mate.comm, &far));
        MUST(HcclDeregisterMem(mate.comm, &own));
    }
    give_memory(PINNED, mine);
    mate_close(&mate);
}

BOTH(memory_can_be_shared_again_and_again, 2, comes_and_goes)

/* ---- register for the process, bind, prepare ---- */

#define SLOT 1000u

/* Each rank puts into its slot at every other, then gets all of theirs, by their own addresses. */
static void
full_mesh(int rank, void *team)
{
    const HcclPrepareConfig config = {.topoType = HCCL_TOPO_FULLMESH};
    size_t len = 2 * TEAM_MOST * SLOT;
    struct team *told = team;
    struct mate mate;
    CommMem mem = {.size = len};
    enum kind kind = (enum kind)(rank % KINDS);
    void *handle = NULL;
    char *mine;

    mate_open(&mate, team, rank, 4);
    mine = get_memory(kind, len);
    mem.addr = mine;
    mem.type = (CommMemType)type_of(kind);
    MUST(HcclRegisterGlobalMem(&mem, &handle));
    MUST(HcclCommBindMem(mate.comm, handle));
    told->addr[rank] = (uint64_t)(uintptr_t)mine;
    MUST(HcclCommPrepare(mate.comm, &config, 60));
    MUST(HcclCommPrepare(mate.comm, &config, 60)); /* alone, and does nothing */
    fill(mine + (size_t)rank * SLOT, SLOT, 30 + (unsigned)rank);
    meet(&mate);
    for (uint32_t i = 0; i < 4; i++) {
        char *there = (char *)(uintptr_t)told->addr[i];

        if (i == mate.rank)
            continue;
        MUST(put(&mate, i, mine + mate.rank * SLOT, there + (TEAM_MOST + mate.rank) * SLOT, SLOT));
        MUST(get(&mate, i, mine + i * SLOT, there + i * SLOT, SLOT));
        MUST_HOLD(is_filled(mine + i * SLOT, SLOT, 30 + i));
    }
    meet(&mate);
    for (uint32_t i = 0; i < 4; i++)
        MUST_HOLD(i == mate.rank || is_filled(mine + (TEAM_MOST + i) * SLOT, SLOT, 30 + i));
    MUST(HcclCommUnbindMem(mate.comm, handle));
    MUST(HcclDeregisterGlobalMem(handle));
    meet(&mate);
    give_memory(kind, mine);
    mate_close(&mate);
}

BOTH(bound_memory_is_reached_by_its_owners_addresses, 4, full_mesh)

/* A rank that is late does not spoil it: who gave up calls again, and nobody is told twice. */
static void
late_rank(int rank, void *team)
{
    const HcclPrepareConfig config = {.topoType = HCCL_TOPO_FULLMESH};
    struct team *told = team;
    struct mate mate;
    CommMem mem = {.type = COMM_MEM_TYPE_HOST, .size = 4096};
    void *handle = NULL;
    HcclResult rc;

    if (rank < 2)
        test_expect_error("HcclCommPrepare: rank");
    mate_open(&mate, team, rank, 3);
    mem.addr = get_memory(PINNED, 4096);
    MUST(HcclRegisterGlobalMem(&mem, &handle));
    MUST(HcclCommBindMem(mate.comm, handle));
    told->addr[rank] = (uint64_t)(uintptr_t)mem.addr;
    if (rank == 2)
        await_turn(&mate, 2);
    rc = HcclCommPrepare(mate.comm, &config, rank == 2 ? 60 : 1);
    MUST_BE(rank == 2 ? HCCL_SUCCESS : HCCL_E_TIMEOUT, rc);
    next_turn(&mate);
    if (rank < 2)
        MUST(HcclCommPrepare(mate.comm, &config, 60));
    for (uint32_t i = 0; i < 3; i++) {
        if (i != mate.rank)
            MUST(put(&mate, i, mem.addr, (char *)(uintptr_t)told->addr[i] + 64 * (1 + (size_t)rank),
                     64));
    }
    meet(&mate);
    MUST(HcclCommUnbindMem(mate.comm, handle));
    MUST(HcclDeregisterGlobalMem(handle));
    give_memory(PINNED, mem.addr);
    mate_close(&mate);
}

BOTH(prepare_can_be_repeated_when_a_rank_was_late, 3, late_rank)

/* Both ways at once, on the same memory. */
static void
both_ways(int rank, void *team)
{
    const HcclPrepareConfig config = {.topoType = HCCL_TOPO_FULLMESH};
    HcclMemDesc own, far;
    struct mate mate;
    CommMem mem = {.type = COMM_MEM_TYPE_DEVICE, .size = 4096}, remote;
    void *handle = NULL;

    mate_open(&mate, team, rank, 2);
    mem.addr = get_memory(DEVICE, 4096);
    MUST(HcclRegisterGlobalMem(&mem, &handle));
    MUST(HcclCommBindMem(mate.comm, handle));
    MUST(HcclCommPrepare(mate.comm, &config, -1));
    share(&mate, 1 - mate.rank, 0, mem.addr, 4096, &own, &far, &remote);
    MUST(HcclCommUnbindMem(mate.comm, handle));
    meet(&mate);
    fill(mem.addr, 64, 5);
    MUST(put(&mate, 1 - mate.rank, mem.addr, (char *)remote.addr + 1000, 64));
    meet(&mate);
    MUST_HOLD(is_filled((char *)mem.addr + 1000, 64, 5));
    MUST(HcclDeregisterGlobalMem(handle));
    meet(&mate);
    give_memory(DEVICE, mem.addr);
    mate_close(&mate);
}

BOTH(what_is_left_of_two_ways_still_serves, 2, both_ways)

TEST(a_rank_alone_is_prepared_at_once)
{
    const HcclPrepareConfig config = {.topoType = HCCL_TOPO_FULLMESH};
    int32_t device = 0;
    HcclComm comm;

    EXPECT_EQ(HCCL_SUCCESS, HcclCommInitAll(1, &device, &comm));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommPrepare(comm, &config, 1));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comm));
}
