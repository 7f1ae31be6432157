/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided services: bad input. */
#include "tests/one_sided_test.h"

/* ---- bad input ---- */

static void
bad_register(int rank, void *team)
{
    const uint64_t gib = 1ull << 30;
    HcclMemDesc desc, same;
    struct mate mate;
    char *mine;

    allow_errors();
    mate_open(&mate, team, rank, 2);
    mine = get_memory(DEVICE, 4096);
    MUST_BE(HCCL_E_PTR, HcclRegisterMem(NULL, 1, 0, mine, 64, &desc));
    MUST_BE(HCCL_E_PTR, HcclRegisterMem(mate.comm, 1, 0, NULL, 64, &desc));
    MUST_BE(HCCL_E_PTR, HcclRegisterMem(mate.comm, 1, 0, mine, 64, NULL));
    MUST_BE(HCCL_E_PARA, HcclRegisterMem((HcclComm)mine, 1, 0, mine, 64, &desc));
    MUST_BE(HCCL_E_PARA, HcclRegisterMem(mate.comm, 2, 0, mine, 64, &desc));
    MUST_BE(HCCL_E_PARA, HcclRegisterMem(mate.comm, 1 - mate.rank, 2, mine, 64, &desc));
    MUST_BE(HCCL_E_PARA, HcclRegisterMem(mate.comm, 1 - mate.rank, -1, mine, 64, &desc));
    MUST_BE(HCCL_E_PARA, HcclRegisterMem(mate.comm, 1 - mate.rank, 0, mine, 0, &desc));
    MUST_BE(HCCL_E_PARA, HcclRegisterMem(mate.comm, 1 - mate.rank, 0, mine, 64 * gib + 1, &desc));
    MUST_BE(HCCL_E_PARA, HcclRegisterMem(mate.comm, 1 - mate.rank, 1, mine, 1024 * gib + 1, &desc));
    MUST_BE(HCCL_E_PARA, HcclRegisterMem(mate.comm, 1 - mate.rank, 0, mine, 32 * gib, &desc));
    MUST_BE(HCCL_E_PARA, HcclRegisterMem(mate.comm, 1 - mate.rank, 1, mine, UINT64_MAX, &desc));
    memset(&desc, 0x33, sizeof desc);
    memset(&same, 0x33, sizeof same);
    MUST(HcclRegisterMem(mate.comm, mate.rank, 0, mine, 64, &desc)); /* the own rank: nothing */
    MUST_HOLD(memcmp(&desc, &same, sizeof desc) == 0);
    MUST_BE(HCCL_E_NOT_FOUND, HcclDeregisterMem(mate.comm, &desc));
    MUST_BE(HCCL_E_PTR, HcclDeregisterMem(mate.comm, NULL));
    MUST_BE(HCCL_E_PTR, HcclDeregisterMem(NULL, &desc));
    MUST(HcclRegisterMem(mate.comm, 1 - mate.rank, 0, mine, 64, &desc));
    desc.desc[100] ^= 1; /* not what was given out */
    MUST_BE(HCCL_E_NOT_FOUND, HcclDeregisterMem(mate.comm, &desc));
    desc.desc[100] ^= 1;
    MUST(HcclDeregisterMem(mate.comm, &desc));
    give_memory(DEVICE, mine);
    mate_close(&mate);
}

BOTH_ALLOWING(what_cannot_be_registered_is_refused, 2, bad_register)

static void
bad_exchange(int rank, void *team)
{
    HcclMemDesc out[2] = {0}, in[2];
    HcclMemDescs local = {out, 2}, remote = {in, 1}, none = {NULL, 0}, no_array = {NULL, 1};
    uint32_t me = (uint32_t)rank, peer = 1 - me;
    struct mate mate;
    CommMem mem;
    u32 num = 77;

    allow_errors();
    mate_open(&mate, team, rank, 2);
    for (int i = 0; i < 2; i++) {
        memcpy(&out[i], &me, 4);
        memcpy((char *)&out[i] + 4, &peer, 4);
    }
    MUST_BE(HCCL_E_PTR, HcclExchangeMemDesc(NULL, peer, &local, 0, &remote, &num));
    MUST_BE(HCCL_E_PTR, HcclExchangeMemDesc(mate.comm, peer, NULL, 0, &remote, &num));
    MUST_BE(HCCL_E_PTR, HcclExchangeMemDesc(mate.comm, peer, &no_array, 0, &remote, &num));
    MUST_BE(HCCL_E_PTR, HcclExchangeMemDesc(mate.comm, peer, &local, 0, NULL, &num));
    MUST_BE(HCCL_E_PTR, HcclExchangeMemDesc(mate.comm, peer, &local, 0, &no_array, &num));
    MUST_BE(HCCL_E_PTR, HcclExchangeMemDesc(mate.comm, peer, &local, 0, &remote, NULL));
    MUST_BE(HCCL_E_PARA, HcclExchangeMemDesc(mate.comm, peer, &none, 0, &none, &num));
    MUST_BE(HCCL_E_PARA, HcclExchangeMemDesc(mate.comm, peer, &local, -2, &remote, &num));
    MUST_BE(HCCL_E_PARA, HcclExchangeMemDesc(mate.comm, 2, &local, 0, &remote, &num));
    MUST_BE(HCCL_E_PARA, HcclExchangeMemDesc(mate.comm, me, &local, 0, &remote, &num));
    MUST_BE(HCCL_E_PARA, HcclExchangeMemDesc((HcclComm)&num, peer, &local, 0, &remote, &num));
    /* Two come and there is room for one; that is no reason to lose step. */
    MUST_BE(HCCL_E_PARA, HcclExchangeMemDesc(mate.comm, peer, &local, 60, &remote, &num));
    MUST_BE(77, num);
    /* A description for another rank: both sides fail. */
    remote.arrayLength = 2;
    if (rank == 0)
        memcpy((char *)&out[1] + 4, &me, 4);
    MUST_BE(HCCL_E_INTERNAL, HcclExchangeMemDesc(mate.comm, peer, &local, 60, &remote, &num));
    MUST_BE(77, num);
    memset((char *)&out[1] + 4, 0xFF, 4); /* for anybody */
    MUST(HcclExchangeMemDesc(mate.comm, peer, &local, 60, &remote, &num));
    MUST_BE(2, num);
    MUST_BE(HCCL_E_PTR, HcclEnableMemAccess(NULL, &in[0], &mem));
    MUST_BE(HCCL_E_PTR, HcclEnableMemAccess(mate.comm, NULL, &mem));
    MUST_BE(HCCL_E_PTR, HcclEnableMemAccess(mate.comm, &in[0], NULL));
    MUST_BE(HCCL_E_PTR, HcclDisableMemAccess(mate.comm, NULL));
    MUST_BE(HCCL_E_PARA, HcclEnableMemAccess(mate.comm, &in[0], &mem));
    MUST_BE(HCCL_E_PARA, HcclDisableMemAccess(mate.comm, &in[0]));
    mate_close(&mate);
}

BOTH_ALLOWING(what_cannot_be_exchanged_is_refused, 2, bad_exchange)

/* A description that came some other way, or was changed, is of no use. */
static void
not_exchanged(int rank, void *team)
{
    HcclMemDesc own, far, changed;
    struct mate mate;
    CommMem mem;
    char *mine;

    test_expect_error("has no such description");
    mate_open(&mate, team, rank, 2);
    mine = get_memory(DEVICE, 4096);
    MUST(HcclRegisterMem(mate.comm, 1 - mate.rank, 0, mine, 4096, &own));
    MUST_BE(HCCL_E_NOT_FOUND, HcclEnableMemAccess(mate.comm, &own, &mem));
    share(&mate, 1 - mate.rank, 0, mine, 4096, &own, &far, &mem);
    for (int at = 16; at < 512; at += 5) { /* not the mark of ours, which is a question by itself */
        changed = far;
        changed.desc[at] ^= 4;
        MUST_HOLD(HcclEnableMemAccess(mate.comm, &changed, &mem) != HCCL_SUCCESS);
    }
    meet(&mate);
    give_memory(DEVICE, mine);
    mate_close(&mate);
}

TEST(a_description_that_was_not_exchanged_is_refused)
{
    test_allow_errors();
    play_on_threads(2, not_exchanged);
}

static HcclResult
put_once(struct mate *mate, uint32_t peer, void *here, void *there, uint64_t count, int type)
{
    HcclOneSideOpDesc desc = {here, there, count, (HcclDataType)type};

    return HcclBatchPut(mate->comm, peer, &desc, 1, mate->stream);
}

static void
bad_batch(int rank, void *team)
{
    HcclOneSideOpDesc many[257] = {0};
    HcclMemDesc own, far;
    aclrtStream dead;
    struct mate mate;
    CommMem mem;
    char *mine, *there;
    uint32_t peer = 1 - (uint32_t)rank;

    allow_errors();
    mate_open(&mate, team, rank, 2);
    mine = get_memory(DEVICE, 8192);
    MUST_BE(HCCL_E_NOT_FOUND, put_once(&mate, peer, mine, mine, 1, 7)); /* not connected */
    meet(&mate);
    share(&mate, peer, 0, mine, 4096, &own, &far, &mem);
    there = mem.addr;
    MUST(HcclDisableMemAccess(mate.comm, &far));
    MUST_BE(HCCL_E_PARA, put_once(&mate, peer, mine, there, 1, 7)); /* not enabled */
    MUST(HcclEnableMemAccess(mate.comm, &far, &mem));
    MUST_BE(HCCL_E_PTR, HcclBatchPut(NULL, peer, many, 1, mate.stream));
    MUST_BE(HCCL_E_PTR, HcclBatchGet(NULL, peer, many, 1, mate.stream));
    MUST_BE(HCCL_E_PTR, HcclBatchPut(mate.comm, peer, NULL, 1, mate.stream));
    MUST_BE(HCCL_E_PARA, HcclBatchPut(mate.comm, peer, many, 257, mate.stream));
    MUST_BE(HCCL_E_PARA, HcclBatchGet(mate.comm, peer, many, 257, mate.stream));
    MUST_BE(HCCL_E_PARA, put_once(&mate, mate.rank, mine, there, 1, 7));
    MUST_BE(HCCL_E_PARA, put_once(&mate, 2, mine, there, 1, 7));
    MUST_BE(HCCL_E_PTR, put_once(&mate, peer, NULL, there, 1, 7));
    MUST_BE(HCCL_E_PTR, put_once(&mate, peer, mine, NULL, 1, 7));
    MUST_BE(HCCL_E_PARA, put_once(&mate, peer, mine, there, 1, 99));
    MUST_BE(HCCL_E_PARA, put_once(&mate, peer, mine, there, 1, -1));
    MUST_BE(HCCL_E_PARA, put_once(&mate, peer, mine, there, UINT64_MAX, HCCL_DATA_TYPE_INT64));
    MUST_BE(HCCL_E_PARA, put_once(&mate, peer, mine, there, UINT64_MAX, HCCL_DATA_TYPE_INT8));
    MUST_BE(HCCL_E_PARA, put_once(&mate, peer, mine + 1, there, 4096, HCCL_DATA_TYPE_INT8));
    MUST_BE(HCCL_E_PARA, put_once(&mate, peer, mine, there + 1, 4096, HCCL_DATA_TYPE_INT8));
    MUST_BE(HCCL_E_PARA, put_once(&mate, peer, mine + 4096, there, 1, HCCL_DATA_TYPE_INT8));
    MUST_BE(HCCL_E_PARA, put_once(&mate, peer, mine, there - 1, 1, HCCL_DATA_TYPE_INT8));
    many[0] = (HcclOneSideOpDesc){mine, there, 1, HCCL_DATA_TYPE_INT8};
    MUST(aclrtCreateStream(&dead));
    MUST(aclrtDestroyStream(dead));
    MUST_BE(HCCL_E_RUNTIME, HcclBatchPut(mate.comm, peer, many, 1, dead));
    MUST_BE(HCCL_E_RUNTIME, HcclBatchGet(mate.comm, peer, many, 1, (rtStream_t)mine));
    MUST(put_once(&mate, peer, mine, there + 2048, 2048, HCCL_DATA_TYPE_INT8));
    MUST(put_once(&mate, peer, mine, there, 0, HCCL_DATA_TYPE_INT8));
    MUST_HOLD(HcclBatchPut(mate.comm, peer, many, 0, mate.stream) == HCCL_SUCCESS);
    many[0] = (HcclOneSideOpDesc){mine, there + 4095, 1, HCCL_DATA_TYPE_INT8};
    MUST_HOLD(HcclBatchPut(mate.comm, peer, many, 1, mine) != HCCL_SUCCESS); /* no stream */
    MUST(aclrtSynchronizeStream(mate.stream));
    meet(&mate);
    give_memory(DEVICE, mine);
    mate_close(&mate);
}

BOTH_ALLOWING(what_cannot_be_put_is_refused, 2, bad_batch)

TEST(global_memory_keeps_its_rules)
{
    const HcclPrepareConfig config = {.topoType = HCCL_TOPO_NUM}, mesh = {0};
    void *one = NULL, *same = NULL, *other = NULL;
    int32_t devices[2] = {0, 1};
    HcclComm comms[2];
    CommMem mem = {.type = COMM_MEM_TYPE_HOST, .size = 1000};
    static char memory[4096];

    test_allow_errors();
    EXPECT_EQ(HCCL_SUCCESS, HcclCommInitAll(2, devices, comms));
    EXPECT_EQ(HCCL_E_PTR, HcclRegisterGlobalMem(NULL, &one));
    EXPECT_EQ(HCCL_E_PARA, HcclRegisterGlobalMem(&mem, &one)); /* no address */
    mem.addr = memory + 1000;
    EXPECT_EQ(HCCL_E_PTR, HcclRegisterGlobalMem(&mem, NULL));
    EXPECT_EQ(HCCL_SUCCESS, HcclRegisterGlobalMem(&mem, &one));
    EXPECT_EQ(HCCL_SUCCESS, HcclRegisterGlobalMem(&mem, &same)); /* equal is fine */
    mem.size = 0;
    EXPECT_EQ(HCCL_E_PARA, HcclRegisterGlobalMem(&mem, &other));
    mem.size = 999; /* in part is not */
    EXPECT_EQ(HCCL_E_PARA, HcclRegisterGlobalMem(&mem, &other));
    mem = (CommMem){.type = COMM_MEM_TYPE_HOST, .addr = memory + 1, .size = 1000};
    EXPECT_EQ(HCCL_E_PARA, HcclRegisterGlobalMem(&mem, &other));
    mem.type = COMM_MEM_TYPE_INVALID;
    EXPECT_EQ(HCCL_E_PARA, HcclRegisterGlobalMem(&mem, &other));
    mem = (CommMem){.type = COMM_MEM_TYPE_HOST, .addr = memory, .size = 1000}; /* adjacent */
    EXPECT_EQ(HCCL_SUCCESS, HcclRegisterGlobalMem(&mem, &other));

    EXPECT_EQ(HCCL_E_PTR, HcclCommBindMem(NULL, one));
    EXPECT_EQ(HCCL_E_PTR, HcclCommBindMem(comms[0], NULL));
    EXPECT_EQ(HCCL_E_PARA, HcclCommBindMem(comms[0], memory));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommBindMem(comms[0], one));
    EXPECT_EQ(HCCL_E_PARA, HcclCommBindMem(comms[0], one));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommBindMem(comms[1], one)); /* another communicator */
    EXPECT_EQ(HCCL_SUCCESS, HcclCommBindMem(comms[0], same));
    EXPECT_EQ(HCCL_E_PARA, HcclDeregisterGlobalMem(one));
    EXPECT_EQ(HCCL_E_PARA, HcclCommUnbindMem(comms[0], other));
    EXPECT_EQ(HCCL_E_PTR, HcclCommUnbindMem(comms[0], NULL));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommUnbindMem(comms[0], one));
    EXPECT_EQ(HCCL_E_PARA, HcclCommUnbindMem(comms[0], one));

    EXPECT_EQ(HCCL_E_PTR, HcclCommPrepare(NULL, &mesh, 1));
    EXPECT_EQ(HCCL_E_PTR, HcclCommPrepare(comms[0], NULL, 1));
    EXPECT_EQ(HCCL_E_PARA, HcclCommPrepare(comms[0], &config, 1));
    EXPECT_EQ(HCCL_E_PARA, HcclCommPrepare(comms[0], &mesh, -2));

    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comms[0])); /* unbinds */
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comms[1]));
    EXPECT_EQ(HCCL_SUCCESS, HcclDeregisterGlobalMem(one));
    EXPECT_EQ(HCCL_E_PARA, HcclDeregisterGlobalMem(one));
    EXPECT_EQ(HCCL_E_PTR, HcclDeregisterGlobalMem(NULL));
    EXPECT_EQ(HCCL_E_PARA, HcclDeregisterGlobalMem(memory));
    EXPECT_EQ(HCCL_SUCCESS, HcclDeregisterGlobalMem(same));
    EXPECT_EQ(HCCL_SUCCESS, HcclDeregisterGlobalMem(other));
}

/* Memory replaced under its addresses: peers know the old one, and nobody pretends otherwise. */
static void
remap(int rank, void *team)
{
    HcclComm comms[2] = {NULL, NULL};
    HcclMemDesc own;
    struct mate mate;
    CommMem mem = {.size = 4096};
    char *mine;

    allow_errors();
    mate_open(&mate, team, rank, 2);
    mine = get_memory(DEVICE, 4096);
    mem.addr = mine;
    comms[0] = mate.comm;
    MUST(HcclRegisterMem(mate.comm, 1 - mate.rank, 0, mine, 4096, &own));
    MUST(HcclRemapRegistedMemory(comms, &mem, 1, 1));
    MUST_BE(HCCL_E_PTR, HcclRemapRegistedMemory(comms, &mem, 2, 1));
    MUST_BE(HCCL_E_PTR, HcclRemapRegistedMemory(NULL, &mem, 1, 1));
    MUST_BE(HCCL_E_PTR, HcclRemapRegistedMemory(comms, NULL, 1, 1));
    MUST_BE(HCCL_E_PARA, HcclRemapRegistedMemory(comms, &mem, 0, 1));
    MUST_BE(HCCL_E_PARA, HcclRemapRegistedMemory(comms, &mem, 1, 0));
    comms[1] = (HcclComm)mine;
    MUST_BE(HCCL_E_PARA, HcclRemapRegistedMemory(comms, &mem, 2, 1));
    give_memory(DEVICE, mine);
    mate_close(&mate);
}

BOTH_ALLOWING(remapping_checks_its_arguments, 2, remap)
