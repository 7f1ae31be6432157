/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided services: time limits, memory that goes, allocations that fail, peers that die. */
#include "base/alloc.h"
#include "tests/one_sided_test.h"

/* ---- time ---- */

/* Who comes late finds all as if nothing had been; who gave up can repeat the call, also with
 * another list, and the two do not get out of step. */
static void
too_late(int rank, void *team)
{
    HcclMemDesc out[3] = {0}, in[3];
    HcclMemDescs local = {out, 1}, remote = {in, 3};
    uint32_t me = (uint32_t)rank, peer = 1 - me;
    struct mate mate;
    u32 num = 0;

    if (rank == 0)
        test_expect_error("HcclExchangeMemDesc: rank 0 of");
    mate_open(&mate, team, rank, 2);
    for (int i = 0; i < 3; i++) {
        fill(&out[i], sizeof out[i], (unsigned)i);
        memcpy((char *)&out[i] + 4, &peer, 4);
    }
    if (rank == 0) {
        for (int i = 0; i < 2; i++)
            MUST_BE(HCCL_E_TIMEOUT, HcclExchangeMemDesc(mate.comm, peer, &local, 1, &remote, &num));
        next_turn(&mate);
        MUST(HcclExchangeMemDesc(mate.comm, peer, &local, -1, &remote, &num));
    } else {
        await_turn(&mate, 1);
        MUST(HcclExchangeMemDesc(mate.comm, peer, &local, 60, &remote, &num));
    }
    MUST_BE(1, num);
    local.arrayLength = 2 + me;
    MUST(HcclExchangeMemDesc(mate.comm, peer, &local, 60, &remote, &num));
    MUST_BE(2 + peer, num);
    MUST_HOLD(memcmp((char *)&in[1] + 8, (char *)&out[1] + 8, 504) == 0);
    mate_close(&mate);
}

BOTH(a_list_that_was_not_fetched_in_time_can_be_sent_again, 2, too_late)

TEST(zero_is_the_time_limit_of_connecting)
{
    HcclMemDesc desc = {{0}}, in;
    HcclMemDescs local = {&desc, 1}, remote = {&in, 1};
    const HcclPrepareConfig mesh = {0};
    int32_t devices[2] = {0, 1};
    uint32_t peer = 1;
    HcclComm comms[2];
    u32 num;

    test_allow_errors();
    setenv("HCOMM_CONNECT_TIMEOUT", "700", 1);
    EXPECT_EQ(HCCL_SUCCESS, HcclCommInitAll(2, devices, comms));
    memcpy((char *)&desc + 4, &peer, 4);
    EXPECT_EQ(HCCL_E_TIMEOUT, HcclExchangeMemDesc(comms[0], 1, &local, 0, &remote, &num));
    EXPECT_EQ(HCCL_E_TIMEOUT, HcclCommPrepare(comms[0], &mesh, 0));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comms[0]));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comms[1]));
}

/* A limit above that of connecting is honoured, too. */
static void
patient(int rank, void *team)
{
    HcclMemDesc out = {{0}}, in;
    HcclMemDescs local = {&out, 1}, remote = {&in, 1};
    uint32_t peer = 1 - (uint32_t)rank;
    struct mate mate;
    u32 num = 0;

    mate_open(&mate, team, rank, 2);
    memcpy((char *)&out + 4, &peer, 4);
    setenv("HCOMM_CONNECT_TIMEOUT", "300", 1);
    meet(&mate);
    if (rank == 1)
        usleep(1200000);
    MUST(HcclExchangeMemDesc(mate.comm, peer, &local, rank == 0 ? -1 : 60, &remote, &num));
    mate_close(&mate);
}

BOTH(a_longer_limit_than_that_of_connecting_counts, 2, patient)

/* One that waits for rank 1, which does not come. */
struct waiter {
    HcclComm comm;
    int timeout;
    HcclResult rc;
};

static void *
waiter_main(void *arg)
{
    struct waiter *waiter = arg;
    uint32_t ranks[2] = {0, 1};
    HcclMemDesc out = {{0}}, in;
    HcclMemDescs local = {&out, 1}, remote = {&in, 1};
    u32 num;

    memcpy(&out, ranks, sizeof ranks);
    waiter->rc = HcclExchangeMemDesc(waiter->comm, 1, &local, waiter->timeout, &remote, &num);
    return NULL;
}

TEST(two_threads_do_not_exchange_with_one_rank_at_once)
{
    struct waiter waiters[2] = {{.timeout = 2}, {.timeout = 2}};
    int32_t devices[2] = {0, 1};
    pthread_t threads[2];
    HcclComm comms[2];

    test_allow_errors();
    EXPECT_EQ(HCCL_SUCCESS, HcclCommInitAll(2, devices, comms));
    for (int i = 0; i < 2; i++) {
        waiters[i].comm = comms[0];
        EXPECT_EQ(0, pthread_create(&threads[i], NULL, waiter_main, &waiters[i]));
    }
    for (int i = 0; i < 2; i++)
        EXPECT_EQ(0, pthread_join(threads[i], NULL));
    EXPECT_EQ(HCCL_E_AGAIN + HCCL_E_TIMEOUT, waiters[0].rc + waiters[1].rc);
    for (int i = 0; i < 2; i++)
        EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comms[i]));
}

TEST(destroying_a_communicator_ends_an_exchange_that_waits)
{
    struct waiter waiter = {.timeout = -1};
    int32_t devices[2] = {0, 1};
    HcclComm comms[2];
    pthread_t thread;
    HcclResult rc;

    test_allow_errors();
    EXPECT_EQ(HCCL_SUCCESS, HcclCommInitAll(2, devices, comms));
    waiter.comm = comms[0];
    EXPECT_EQ(0, pthread_create(&thread, NULL, waiter_main, &waiter));
    usleep(200000);
    while ((rc = HcclCommDestroy(comms[0])) == HCCL_E_AGAIN)
        continue;
    EXPECT_EQ(HCCL_SUCCESS, rc);
    EXPECT_EQ(0, pthread_join(thread, NULL));
    EXPECT_NE(HCCL_SUCCESS, waiter.rc);
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comms[1]));
}

/* ---- memory that goes ---- */

/* The owner takes it back: later puts fail, and nothing else does. */
static void
taken_back(int rank, void *team)
{
    HcclMemDesc own, far;
    struct mate mate;
    CommMem mem;
    char *mine;

    if (rank == 1)
        test_expect_error("rank 0 does not offer this memory any more");
    mate_open(&mate, team, rank, 2);
    for (int kind = 0; kind < KINDS; kind++) {
        mine = get_memory((enum kind)kind, 4096);
        share(&mate, 1 - mate.rank, type_of((enum kind)kind), mine, 4096, &own, &far, &mem);
        if (rank == 0)
            MUST(HcclDeregisterMem(mate.comm, &own));
        meet(&mate);
        fill(mine, 4096, 1 + (unsigned)rank);
        meet(&mate);
        if (rank == 1) {
            MUST_BE(HCCL_E_REMOTE, put(&mate, 0, mine, mem.addr, 4096));
            MUST_BE(HCCL_E_REMOTE, get(&mate, 0, mine, mem.addr, 4096));
            MUST_HOLD(is_filled(mine, 4096, 2));
        }
        meet(&mate);
        MUST_HOLD(rank == 1 || is_filled(mine, 4096, 1));
        MUST(HcclDisableMemAccess(mate.comm, &far));
        if (rank == 1)
            MUST(HcclDeregisterMem(mate.comm, &own));
        meet(&mate);
        give_memory((enum kind)kind, mine);
    }
    mate_close(&mate);
}

BOTH(memory_that_was_taken_back_is_not_reached, 2, taken_back)

/* While the peer writes without pause, memory is taken back: from then on it stays as it is. */
static void
taken_back_in_use(int rank, void *team)
{
    size_t len = 1 << 20;
    HcclMemDesc own, far;
    struct mate mate;
    CommMem mem;
    char *mine;

    allow_errors();
    mate_open(&mate, team, rank, 2);
    mine = get_memory(DEVICE, len);
    for (int round = 0; round < 20; round++) {
        share(&mate, 1 - mate.rank, 0, mine, len, &own, &far, &mem);
        if (rank == 0) {
            usleep(2000);
            MUST(HcclDeregisterMem(mate.comm, &own));
            fill(mine, len, (unsigned)round);
            usleep(1000);
            MUST_HOLD(is_filled(mine, len, (unsigned)round));
        } else {
            while (put(&mate, 0, mine, mem.addr, len) == HCCL_SUCCESS)
                continue;
            MUST(HcclDeregisterMem(mate.comm, &own));
        }
        MUST(HcclDisableMemAccess(mate.comm, &far));
        meet(&mate);
    }
    give_memory(DEVICE, mine);
    mate_close(&mate);
}

BOTH_ALLOWING(memory_is_taken_back_from_puts_under_way, 2, taken_back_in_use)

/* The addresses of a memory that has gone are used anew: they mean the new one. */
static void
addresses_again(int rank, void *team)
{
    HcclMemDesc own, far, old;
    struct mate mate;
    CommMem mem;
    char *mine;

    mate_open(&mate, team, rank, 2);
    mine = get_memory(PINNED, 4096);
    share(&mate, 1 - mate.rank, 1, mine, 4096, &own, &old, &mem);
    meet(&mate);
    MUST(HcclDeregisterMem(mate.comm, &own));
    meet(&mate);
    share(&mate, 1 - mate.rank, 1, mine, 4096, &own, &far, &mem); /* `old` is still enabled */
    MUST(put(&mate, 1 - mate.rank, mine, (char *)mem.addr + 2048, 2048));
    meet(&mate);
    give_memory(PINNED, mine);
    mate_close(&mate);
}

BOTH(addresses_that_are_used_again_mean_the_new_memory, 2, addresses_again)

/* A batch that waits in a stream keeps the communicator, and ends when memory has gone. */
static void
waiting(int rank, void *team)
{
    HcclMemDesc own, far;
    struct mate mate;
    CommMem mem;
    char *mine;
    HcclOneSideOpDesc desc;

    allow_errors();
    mate_open(&mate, team, rank, 2);
    mine = get_memory(DEVICE, 4096);
    share(&mate, 1 - mate.rank, 0, mine, 4096, &own, &far, &mem);
    if (rank == 1) {
        aclrtNotify notify;

        MUST(aclrtCreateNotify(&notify, 0));
        MUST(aclrtWaitAndResetNotify(notify, mate.stream, 60));
        desc = (HcclOneSideOpDesc){mine, mem.addr, 64, HCCL_DATA_TYPE_UINT8};
        MUST(HcclBatchPut(mate.comm, 0, &desc, 1, mate.stream));
        MUST(HcclDisableMemAccess(mate.comm, &far)); /* the batch has what it needs */
        MUST_BE(HCCL_E_AGAIN, HcclCommDestroy(mate.comm));
        next_turn(&mate);
        await_turn(&mate, 2);
        MUST(aclrtRecordNotify(notify, NULL));
        MUST(aclrtSynchronizeStream(NULL));
        MUST_HOLD(aclrtSynchronizeStream(mate.stream) != ACL_SUCCESS);
        MUST(aclrtDestroyNotify(notify));
    } else {
        await_turn(&mate, 1);
        MUST(HcclDeregisterMem(mate.comm, &own));
        next_turn(&mate);
    }
    meet(&mate);
    give_memory(DEVICE, mine);
    mate_close(&mate);
}

BOTH_ALLOWING(a_batch_that_waits_meets_memory_that_has_gone, 2, waiting)

/* ---- allocations ---- */

#define AGAIN(call_)                                                                               \
    do {                                                                                           \
        HcclResult rc_ = (call_);                                                                  \
        if (rc_ == HCCL_E_MEMORY)                                                                  \
            rc_ = (call_); /* one allocation fails, once */                                        \
        MUST(rc_);                                                                                 \
    } while (0)

/* All that one can do, in step with a peer that does the same. */
static void
everything(struct mate *mate, int type, char *mine)
{
    HcclMemDesc own, far;
    HcclMemDescs local = {&own, 1}, remote = {&far, 1};
    HcclOneSideOpDesc desc;
    void *handle = NULL;
    CommMem mem;
    u32 num = 0;

    AGAIN(HcclRegisterMem(mate->comm, 1 - mate->rank, type, mine, 4096, &own));
    AGAIN(HcclExchangeMemDesc(mate->comm, 1 - mate->rank, &local, 60, &remote, &num));
    AGAIN(HcclEnableMemAccess(mate->comm, &far, &mem));
    desc = (HcclOneSideOpDesc){mine, mem.addr, 64, HCCL_DATA_TYPE_UINT8};
    AGAIN(HcclBatchPut(mate->comm, 1 - mate->rank, &desc, 1, mate->stream));
    AGAIN(HcclBatchGet(mate->comm, 1 - mate->rank, &desc, 1, mate->stream));
    MUST(aclrtSynchronizeStream(mate->stream));
    mem = (CommMem){.type = (CommMemType)type, .addr = mine, .size = 4096};
    AGAIN(HcclRegisterGlobalMem(&mem, &handle));
    AGAIN(HcclCommBindMem(mate->comm, handle));
    MUST(HcclCommUnbindMem(mate->comm, handle));
    MUST(HcclDeregisterGlobalMem(handle));
    meet(mate);
    MUST(HcclDisableMemAccess(mate->comm, &far));
    MUST(HcclDeregisterMem(mate->comm, &own));
}

static void
lacking(int rank, void *shared)
{
    const HcclPrepareConfig mesh = {0};
    struct team *team = shared;
    struct mate mate;
    char *mine, *plain;

    setenv("HCOMM_FOREIGN", "bounce", 1); /* so that the owner's list of offers counts */
    allow_errors();
    mate_open(&mate, team, rank, 2);
    mine = get_memory(DEVICE, 4096);
    plain = get_memory(MALLOC, 4096);
    for (long nth = 0; team->turn == 0; nth++) {
        if (rank == 0 && nth > 0) /* connected: that is others' to test */
            hc_alloc_fail_nth(nth - 1);
        everything(&mate, COMM_MEM_TYPE_DEVICE, mine);
        everything(&mate, COMM_MEM_TYPE_HOST, plain);
        if (nth == 3)
            AGAIN(HcclCommPrepare(mate.comm, &mesh, 60));
        if (rank == 0 && nth > 0 && !hc_alloc_failed())
            next_turn(&mate);
        hc_alloc_fail_nth(-1);
        meet(&mate);
    }
    give_memory(MALLOC, plain);
    give_memory(DEVICE, mine);
    mate_close(&mate);
}

TEST(every_allocation_may_fail)
{
    play_in_processes(2, lacking);
}

/* ---- death ---- */

static void
dying(int rank, void *shared)
{
    struct team *team = shared;
    HcclMemDesc own, far;
    HcclMemDescs local = {&own, 1}, remote = {&far, 1};
    struct mate mate;
    CommMem mem;
    u32 num;
    char *mine;

    allow_errors();
    mate_open(&mate, team, rank, 2);
    mine = get_memory(MALLOC, 1 << 20);
    share(&mate, 1 - mate.rank, 1, mine, 1 << 20, &own, &far, &mem);
    next_turn(&mate);
    while (rank == 1) /* until it is killed */
        pause();
    while (put(&mate, 1, mine, mem.addr, 1 << 20) == HCCL_SUCCESS)
        continue;
    MUST_HOLD(test_logged("rank 1") > 0);
    MUST_BE(HCCL_E_REMOTE, HcclExchangeMemDesc(mate.comm, 1, &local, 60, &remote, &num));
    free(mine);
    mate_close(&mate);
}

TEST(the_death_of_a_peer_ends_what_waits_for_it)
{
    struct procs procs;
    struct team *team = procs_prepare(&procs, sizeof *team);

    procs_fork(&procs, 2, dying);
    procs_await(&team->turn, 2);
    usleep(50000);
    procs_kill(&procs, 1);
    procs_expect_success(&procs);
}

static void
dying_in_exchange(int rank, void *shared)
{
    struct team *team = shared;
    const HcclPrepareConfig mesh = {0};
    struct mate mate;

    allow_errors();
    mate_open(&mate, team, rank, 3);
    next_turn(&mate);
    while (rank == 2)
        pause();
    MUST_BE(HCCL_E_REMOTE, HcclCommPrepare(mate.comm, &mesh, 60));
    mate_close(&mate);
}

TEST(the_death_of_a_rank_ends_prepare_everywhere)
{
    struct procs procs;
    struct team *team = procs_prepare(&procs, sizeof *team);

    procs_fork(&procs, 3, dying_in_exchange);
    procs_await(&team->turn, 3);
    usleep(50000);
    procs_kill(&procs, 2);
    procs_expect_success(&procs);
}
