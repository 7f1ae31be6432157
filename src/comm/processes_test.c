/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks in processes of their own: what they move, and what they learn of each other's end. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "acl/acl.h"
#include "base/alloc.h"
#include "comm/comm_object.h"
#include "hccl/hccl_channel.h"
#include "hccl/hccl_comm.h"
#include "hccl/hccl_res.h"
#include "hcomm/hcomm_primitives.h"
#include "tests/support/procs.h"
#include "tests/support/test.h"

#define RANKS 4u
#define SLOT 4096u           /* bytes of a rank's part of a buffer */
#define FOREIGN (300u << 10) /* bytes of memory from malloc, not a multiple of anything */

struct shared {
    HcclRootInfo info[2];
    atomic_int made[2];  /* root infos */
    atomic_int ready;    /* ranks that are where the test wants them */
    atomic_int told;     /* ranks that got their error */
    uint32_t procs, per; /* processes, ranks in each */
    CommEngine engine;
    int how; /* the way rank 0 waits */
};

struct rank {
    struct shared *shared;
    uint32_t rank, num;
    CommEngine engine;
    HcclComm comm;
    ThreadHandle thread;
    aclrtStream stream;
    char *buf, *foreign;
    HcclMemHandle foreign_mem;
    ChannelHandle channel[RANKS];
    char *peer_buf[RANKS], *peer_foreign[RANKS];
    uint32_t turn; /* which notify the next barrier uses */
    pthread_t os_thread;
    int fault; /* line that found something wrong; 0: none */
};

/* For code on threads that are not the test's own: remembers the first line that went wrong. */
#define CHECK(rank_, what_) check(rank_, what_, __LINE__)

static void
check(struct rank *rank, bool good, int line)
{
    if (rank->fault == 0 && !good)
        rank->fault = line;
}

static void
rank_join(struct rank *rank, int world, uint32_t num, uint32_t number, int32_t device)
{
    struct shared *shared = rank->shared;
    CommMem mem = {.type = COMM_MEM_TYPE_HOST, .size = FOREIGN};
    uint64_t size = 0;

    rank->num = num;
    rank->rank = number;
    rank->engine = shared->engine;
    CHECK(rank, aclrtSetDevice(device) == ACL_SUCCESS);
    if (number == 0) {
        CHECK(rank, HcclGetRootInfo(&shared->info[world]) == HCCL_SUCCESS);
        atomic_store(&shared->made[world], 1);
    }
    while (atomic_load(&shared->made[world]) == 0)
        usleep(500);
    CHECK(rank, HcclCommInitRootInfo(num, &shared->info[world], number, &rank->comm) == 0);
    CHECK(rank, HcclGetHcclBuffer(rank->comm, (void **)&rank->buf, &size) == 0);
    CHECK(rank, HcclThreadAcquire(rank->comm, COMM_ENGINE_CPU_TS, 1, 2, &rank->thread) == 0);
    CHECK(rank, HcclThreadResGetInfo(rank->comm, rank->thread, THREAD_RES_TYPE_STREAM,
                                     sizeof rank->stream, (void **)&rank->stream) == 0);
    rank->foreign = malloc(FOREIGN);
    memset(rank->foreign, 0, FOREIGN);
    mem.addr = rank->foreign;
    CHECK(rank, HcclCommMemReg(rank->comm, "malloc", &mem, &rank->foreign_mem) == 0);
}

static HcclResult
rank_link(struct rank *rank, uint32_t first, uint32_t count)
{
    HcclChannelDesc descs[RANKS];
    ChannelHandle channels[RANKS];
    uint32_t at = 0;
    HcclResult rc;

    for (uint32_t peer = first; peer < first + count; peer++) {
        if (peer == rank->rank)
            continue;
        CHECK(rank, HcclChannelDescInit(&descs[at], 1) == 0);
        descs[at].remoteRank = peer;
        descs[at].channelProtocol = COMM_PROTOCOL_HCCS;
        descs[at].notifyNum = 2;
        descs[at].memHandles = &rank->foreign_mem;
        descs[at].memHandleNum = 1;
        at++;
    }
    rc = HcclChannelAcquire(rank->comm, rank->engine, descs, at, channels);
    if (rc != HCCL_SUCCESS)
        return rc;
    while (at-- > 0) {
        uint32_t peer = descs[at].remoteRank, num = 0;
        uint64_t size = 0;
        CommMem *mems;
        char **tags;

        rank->channel[peer] = channels[at];
        CHECK(rank, HcclChannelGetHcclBuffer(rank->comm, channels[at],
                                             (void **)&rank->peer_buf[peer], &size) == 0);
        rc = HcclChannelGetRemoteMems(rank->comm, channels[at], &num, &mems, &tags);
        if (rc != HCCL_SUCCESS)
            return rc;
        CHECK(rank, num == 2 && strcmp(tags[1], "malloc") == 0 && mems[1].size == FOREIGN);
        rank->peer_foreign[peer] = mems[1].addr;
    }
    return HCCL_SUCCESS;
}

static void
rank_leave(struct rank *rank)
{
    CHECK(rank, HcclCommDestroy(rank->comm) == HCCL_SUCCESS);
    free(rank->foreign);
}

/* The thread that tasks of this rank go to: engine CPU acts at once. */
static ThreadHandle
queue_of(const struct rank *rank)
{
    return rank->engine == COMM_ENGINE_CPU ? 0 : rank->thread;
}

static void
settle(struct rank *rank)
{
    CHECK(rank, aclrtSynchronizeStream(rank->stream) == ACL_SUCCESS);
}

static void
write_to(struct rank *rank, uint32_t peer, void *dst, const void *src, uint64_t len)
{
    CHECK(rank, rank->engine == COMM_ENGINE_CPU
                    ? HcommWriteNbi(rank->channel[peer], dst, src, len) == 0
                    : HcommWriteOnThread(rank->thread, rank->channel[peer], dst, src, len) == 0);
}

static void
read_from(struct rank *rank, uint32_t peer, void *dst, const void *src, uint64_t len)
{
    CHECK(rank, rank->engine == COMM_ENGINE_CPU
                    ? HcommReadNbi(rank->channel[peer], dst, src, len) == 0
                    : HcommReadOnThread(rank->thread, rank->channel[peer], dst, src, len) == 0);
}

/* All have come here, as each tells every other. */
static void
barrier(struct rank *rank)
{
    uint32_t notify = rank->turn++ % 2; /* a peer may be one barrier ahead */

    for (uint32_t peer = 0; peer < rank->num; peer++) {
        if (peer != rank->rank)
            CHECK(rank, HcommChannelNotifyRecordOnThread(queue_of(rank), rank->channel[peer],
                                                         notify) == 0);
    }
    for (uint32_t peer = 0; peer < rank->num; peer++) {
        if (peer != rank->rank)
            CHECK(rank, HcommChannelNotifyWaitOnThread(queue_of(rank), rank->channel[peer], notify,
                                                       60) == 0);
    }
    settle(rank);
}

/* Each writes into its part of the others' memory, and reads it back from there. */
static void
exchange(struct rank *rank, char *own, char *const *theirs, char *out, uint32_t len)
{
    for (uint32_t peer = 0; peer < rank->num; peer++) {
        if (peer == rank->rank)
            continue;
        memset(out, (int)(1 + rank->rank), len);
        write_to(rank, peer, theirs[peer] + rank->rank * len, out, len);
        settle(rank);
    }
    barrier(rank);
    for (uint32_t peer = 0; peer < rank->num; peer++) {
        for (uint32_t i = 0; i < len && peer != rank->rank; i++)
            CHECK(rank, own[peer * len + i] == (char)(1 + peer));
    }
    for (uint32_t peer = 0; peer < rank->num; peer++) {
        if (peer == rank->rank)
            continue;
        memset(out, 0, len);
        read_from(rank, peer, out, theirs[peer] + rank->rank * len, len);
        settle(rank);
        CHECK(rank, out[0] == (char)(1 + rank->rank) && out[len - 1] == out[0]);
    }
    barrier(rank);
}

/* Each adds its number to a counter of its own in the others' memory, and theirs to its own. */
static void
reduce(struct rank *rank, char *const *theirs, int32_t *out)
{
    uint64_t at = (uint64_t)rank->rank * sizeof *out;

    for (uint32_t peer = 0; peer < rank->num; peer++) {
        int32_t *remote;

        if (peer == rank->rank)
            continue;
        remote = (int32_t *)(void *)(theirs[peer] + SLOT * RANKS + at);
        *out = 0;
        write_to(rank, peer, remote, out, sizeof *out);
        settle(rank);
        *out = (int32_t)rank->rank + 10;
        for (int i = 0; i < 3; i++) {
            CHECK(rank, HcommWriteReduceOnThread(rank->thread, rank->channel[peer], remote, out, 1,
                                                 HCOMM_DATA_TYPE_INT32, HCOMM_REDUCE_SUM) == 0);
        }
        CHECK(rank, HcommReadReduceOnThread(rank->thread, rank->channel[peer], out, remote, 1,
                                            HCOMM_DATA_TYPE_INT32, HCOMM_REDUCE_MAX) == 0);
        settle(rank);
        CHECK(rank, *out == 3 * ((int32_t)rank->rank + 10));
    }
    barrier(rank);
}

static void *
rank_work(void *arg)
{
    struct rank *rank = arg;
    char *out = NULL;

    rank_join(rank, 0, RANKS, rank->rank, (int32_t)(rank->rank % rank->shared->per));
    CHECK(rank, aclrtMalloc((void **)&out, FOREIGN, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
    if (rank->fault == 0)
        CHECK(rank, rank_link(rank, 0, RANKS) == HCCL_SUCCESS);
    if (rank->fault == 0) {
        exchange(rank, rank->buf, rank->peer_buf, out, SLOT);
        exchange(rank, rank->foreign, rank->peer_foreign, out, FOREIGN / RANKS);
        reduce(rank, rank->peer_buf, (int32_t *)(void *)out);
        reduce(rank, rank->peer_foreign, (int32_t *)(void *)out);
    }
    CHECK(rank, aclrtFree(out) == ACL_SUCCESS);
    rank_leave(rank);
    CHECK(rank, aclrtResetDevice((int32_t)(rank->rank % rank->shared->per)) == ACL_SUCCESS);
    return NULL;
}

static void
process_work(int process, void *arg)
{
    struct shared *shared = arg;
    struct rank ranks[RANKS] = {0};

    for (uint32_t i = 0; i < shared->per; i++) {
        ranks[i].shared = shared;
        ranks[i].rank = (uint32_t)process * shared->per + i;
        EXPECT_EQ(0, pthread_create(&ranks[i].os_thread, NULL, rank_work, &ranks[i]));
    }
    for (uint32_t i = 0; i < shared->per; i++) {
        EXPECT_EQ(0, pthread_join(ranks[i].os_thread, NULL));
        EXPECT_EQ(0, ranks[i].fault);
    }
    EXPECT_EQ(ACL_SUCCESS, aclFinalize());
}

static void
run_mix(uint32_t procs_num, CommEngine engine)
{
    struct procs procs;
    struct shared *shared = procs_prepare(&procs, sizeof *shared);

    setenv("HCCL_BUFFSIZE", "1", 1);
    shared->procs = procs_num;
    shared->per = RANKS / procs_num;
    shared->engine = engine;
    procs_fork(&procs, (int)procs_num, process_work);
    procs_expect_success(&procs);
}

TEST(four_ranks_in_four_processes_move_data)
{
    run_mix(4, COMM_ENGINE_CPU_TS);
}

TEST(four_ranks_in_two_processes_move_data)
{
    run_mix(2, COMM_ENGINE_CPU_TS);
}

TEST(four_ranks_in_one_process_move_the_same_data)
{
    run_mix(1, COMM_ENGINE_CPU_TS);
}

TEST(a_host_engine_moves_data_between_processes)
{
    run_mix(4, COMM_ENGINE_CPU);
    run_mix(2, COMM_ENGINE_CPU);
}

/* ---- Mapped memory ---- */

static void
look_at_peer(int process, void *arg)
{
    struct rank rank = {.shared = arg};
    char *own = NULL, host[64] = "";

    EXPECT_EQ(ACL_SUCCESS, aclInit(NULL));
    rank_join(&rank, 0, 2, (uint32_t)process, 0);
    strcpy(rank.buf, process == 0 ? "rank 0's" : "rank 1's");
    EXPECT_EQ(HCCL_SUCCESS, rank_link(&rank, 0, 2));
    EXPECT_EQ(0, rank.fault);
    barrier(&rank);
    EXPECT_STREQ(process == 0 ? "rank 1's" : "rank 0's", rank.peer_buf[1 - process]);
    EXPECT_EQ(ACL_SUCCESS, aclrtMalloc((void **)&own, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_EQ(0, HcommLocalCopyOnThread(rank.thread, own, rank.peer_buf[1 - process], 64));
    EXPECT_EQ(0, HcommLocalCopyOnThread(rank.thread, rank.peer_buf[1 - process] + SLOT, own, 64));
    settle(&rank);
    barrier(&rank);
    EXPECT_STREQ(process == 0 ? "rank 1's" : "rank 0's", own);
    EXPECT_STREQ(process == 0 ? "rank 0's" : "rank 1's", rank.buf + SLOT);
    EXPECT_EQ(ACL_SUCCESS,
              aclrtMemcpy(host, 64, rank.peer_buf[1 - process], 64, ACL_MEMCPY_DEFAULT));
    EXPECT_EQ(0, strcmp(host, own));
    EXPECT_EQ(ACL_SUCCESS,
              aclrtMemcpy(host, 64, rank.peer_buf[1 - process], 64, ACL_MEMCPY_DEVICE_TO_HOST));
    memset(own, 0, 64);
    EXPECT_EQ(ACL_SUCCESS, aclrtMemcpyAsync(own, 64, rank.peer_buf[1 - process] + SLOT, 64,
                                            ACL_MEMCPY_DEVICE_TO_DEVICE, rank.stream));
    settle(&rank);
    EXPECT_STREQ(host, own); /* what this rank wrote there */
    test_expect_error("stands for memory of another process that cannot be mapped");
    EXPECT_EQ(HCCL_E_PARA,
              HcommLocalCopyOnThread(rank.thread, own, rank.peer_foreign[1 - process], 64));
    test_expect_error("aclrtMemcpy: the source");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID,
              aclrtMemcpy(host, 64, rank.peer_foreign[1 - process], 64, ACL_MEMCPY_DEFAULT));
    test_expect_error("aclrtMemcpyAsync: the destination");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID,
              aclrtMemcpyAsync(rank.peer_foreign[1 - process], 64, own, 64,
                               ACL_MEMCPY_DEVICE_TO_HOST, rank.stream));
    EXPECT_EQ(ACL_SUCCESS, aclrtFree(own));
    barrier(&rank);
    rank_leave(&rank);
    EXPECT_EQ(0, rank.fault);
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceForce(0));
    EXPECT_EQ(ACL_SUCCESS, aclFinalize());
}

static void
run(int num, void (*fn)(int rank, void *shared), int how)
{
    struct procs procs;
    struct shared *shared = procs_prepare(&procs, sizeof *shared);

    setenv("HCCL_BUFFSIZE", "1", 1);
    shared->engine = COMM_ENGINE_CPU_TS;
    shared->how = how;
    procs_fork(&procs, num, fn);
    procs_expect_success(&procs);
}

TEST(memory_of_another_process_is_used_like_own_memory)
{
    run(2, look_at_peer, 0);
}

/* ---- The end of a peer ---- */

enum how { STREAM, DEPENDENT, HOST, ACQUIRE, TRANSFER, ASYNC_ERROR };

/* Waits for rank 1, which does not do what is waited for, in one way or another. */
static void
wait_for_one(struct rank *rank, int how)
{
    ThreadHandle threads[2];
    aclrtStream second = NULL;
    HcclResult state = HCCL_SUCCESS;

    switch (how) {
    case STREAM:
        EXPECT_EQ(0, HcommChannelNotifyWaitOnThread(rank->thread, rank->channel[1], 1, 0));
        EXPECT_EQ(ACL_ERROR_RT_SUSPECT_REMOTE_ERROR, aclrtSynchronizeStream(rank->stream));
        break;
    case DEPENDENT:
        EXPECT_EQ(0, HcclThreadAcquire(rank->comm, COMM_ENGINE_CPU_TS, 2, 2, threads));
        EXPECT_EQ(0, HcclThreadResGetInfo(rank->comm, threads[1], THREAD_RES_TYPE_STREAM,
                                          sizeof second, (void **)&second));
        EXPECT_EQ(0, HcommChannelNotifyWaitOnThread(threads[0], rank->channel[1], 1, 0));
        EXPECT_EQ(0, HcommThreadNotifyRecordOnThread(threads[0], threads[1], 0));
        EXPECT_EQ(0, HcommThreadNotifyWaitOnThread(threads[1], 0, 0));
        EXPECT_EQ(ACL_ERROR_RT_SUSPECT_REMOTE_ERROR, aclrtSynchronizeStream(second));
        EXPECT_EQ(ACL_ERROR_RT_SUSPECT_REMOTE_ERROR, aclrtSynchronizeStream(rank->stream));
        break;
    case HOST:
        EXPECT_EQ(HCCL_E_REMOTE, HcommChannelNotifyWait(rank->channel[1], 1, 100));
        break;
    case ACQUIRE:
        EXPECT_EQ(HCCL_E_REMOTE, rank_link(rank, 1, 1));
        break;
    case TRANSFER:
        while (HcommWriteNbi(rank->channel[1], rank->peer_buf[1], rank->buf, SLOT) == 0)
            usleep(1000);
        break;
    default:
        while (state == HCCL_SUCCESS) {
            usleep(1000);
            EXPECT_EQ(HCCL_SUCCESS, HcclGetCommAsyncError(rank->comm, &state));
        }
        EXPECT_CONTAINS("rank 1 died (process ", aclGetRecentErrMsg());
        break;
    }
}

static void
survivor_or_victim(int process, void *arg)
{
    struct shared *shared = arg;
    struct rank rank = {.shared = shared};
    HcclResult state = HCCL_SUCCESS;

    EXPECT_EQ(ACL_SUCCESS, aclInit(NULL));
    rank_join(&rank, 0, 2, (uint32_t)process, 0);
    if (shared->how != ACQUIRE)
        EXPECT_EQ(HCCL_SUCCESS, rank_link(&rank, 0, 2));
    EXPECT_EQ(0, rank.fault);
    atomic_fetch_add(&shared->ready, 1);
    while (process == 1) {
        if (atomic_load(&shared->told) != 0)
            _exit(0);
        usleep(1000);
    }
    if (shared->how != ASYNC_ERROR)
        test_expect_error("rank 1 died (process ");
    wait_for_one(&rank, shared->how);
    EXPECT_EQ(HCCL_SUCCESS, HcclGetCommAsyncError(rank.comm, &state));
    EXPECT_EQ(HCCL_E_REMOTE, state);
    if (shared->how != ASYNC_ERROR) {
        test_expect_error("makes no channels any more: rank 1 died");
        EXPECT_EQ(HCCL_E_REMOTE, rank_link(&rank, 1, 1));
    }
    rank_leave(&rank);
    rank = (struct rank){.shared = shared}; /* a new one, of who is left */
    rank_join(&rank, 1, 1, 0, 0);
    rank_leave(&rank);
    EXPECT_EQ(0, rank.fault);
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceForce(0));
    EXPECT_EQ(ACL_SUCCESS, aclFinalize());
}

/* Rank 1 is killed, or ends without destroying anything. */
static void
end_one(int how, bool kill)
{
    struct procs procs;
    struct shared *shared = procs_prepare(&procs, sizeof *shared);

    setenv("HCCL_BUFFSIZE", "1", 1);
    shared->engine = COMM_ENGINE_CPU_TS;
    shared->how = how;
    procs_fork(&procs, 2, survivor_or_victim);
    procs_await(&shared->ready, 2);
    usleep(50000); /* rank 0 waits, most likely; it must come out the same if it does not yet */
    if (kill)
        procs_kill(&procs, 1);
    else
        atomic_store(&shared->told, 1);
    procs_expect_success(&procs);
}

TEST(a_stream_that_waits_for_a_dead_rank_fails)
{
    end_one(STREAM, true);
    end_one(STREAM, false);
}

TEST(a_stream_that_waits_for_one_that_waits_for_a_dead_rank_fails)
{
    end_one(DEPENDENT, true);
    end_one(DEPENDENT, false);
}

TEST(a_host_wait_for_a_dead_rank_fails)
{
    end_one(HOST, true);
    end_one(HOST, false);
}

TEST(an_acquire_that_waits_for_a_dead_rank_fails)
{
    end_one(ACQUIRE, true);
    end_one(ACQUIRE, false);
}

TEST(a_transfer_to_a_dead_rank_fails)
{
    end_one(TRANSFER, true);
    end_one(TRANSFER, false);
}

TEST(the_death_of_a_rank_is_an_asynchronous_error)
{
    end_one(ASYNC_ERROR, true);
    end_one(ASYNC_ERROR, false);
}

/* Rank 2 is killed; rank 1 waits for it, and rank 0 for rank 1 alone. */
static void
chain(int process, void *arg)
{
    struct shared *shared = arg;
    struct rank rank = {.shared = shared};

    EXPECT_EQ(ACL_SUCCESS, aclInit(NULL));
    rank_join(&rank, 0, 3, (uint32_t)process, 0);
    if (process != 0) {
        EXPECT_EQ(HCCL_SUCCESS, rank_link(&rank, process == 1 ? 2 : 1, 1));
    }
    if (process != 2)
        EXPECT_EQ(HCCL_SUCCESS, rank_link(&rank, 1 - (uint32_t)process, 1));
    EXPECT_EQ(0, rank.fault);
    atomic_fetch_add(&shared->ready, 1);
    if (process == 2) {
        for (;;)
            pause();
    }
    test_expect_error(process == 1 ? "rank 2 died (process "
                                   : "rank 1 gave up: rank 2 died (process ");
    EXPECT_EQ(
        0, HcommChannelNotifyWaitOnThread(rank.thread, rank.channel[process == 1 ? 2 : 1], 0, 0));
    EXPECT_EQ(ACL_ERROR_RT_SUSPECT_REMOTE_ERROR, aclrtSynchronizeStream(rank.stream));
    atomic_fetch_add(&shared->told, 1);
    procs_await(&shared->told, 2); /* nobody learns it because the other destroys its end */
    rank_leave(&rank);
    rank = (struct rank){.shared = shared};
    rank_join(&rank, 1, 2, (uint32_t)process, 0);
    EXPECT_EQ(HCCL_SUCCESS, rank_link(&rank, 0, 2));
    barrier(&rank);
    barrier(&rank);
    rank_leave(&rank);
    EXPECT_EQ(0, rank.fault);
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceForce(0));
    EXPECT_EQ(ACL_SUCCESS, aclFinalize());
}

TEST(who_waits_for_a_survivor_learns_who_died_and_the_survivors_go_on)
{
    struct procs procs;
    struct shared *shared = procs_prepare(&procs, sizeof *shared);

    setenv("HCCL_BUFFSIZE", "1", 1);
    shared->engine = COMM_ENGINE_CPU_TS;
    procs_fork(&procs, 3, chain);
    procs_await(&shared->ready, 3);
    procs_kill(&procs, 2);
    procs_expect_success(&procs);
}

/* Rank 1 records once and destroys its communicator: the record counts, a second wait fails. */
static void
leave_while_waited_for(int process, void *arg)
{
    struct shared *shared = arg;
    struct rank rank = {.shared = shared};

    EXPECT_EQ(ACL_SUCCESS, aclInit(NULL));
    rank_join(&rank, 0, 2, (uint32_t)process, 0);
    EXPECT_EQ(HCCL_SUCCESS, rank_link(&rank, 0, 2));
    if (process == 1) {
        EXPECT_EQ(0, HcommChannelNotifyRecord(rank.channel[0], 1));
        procs_await(&shared->ready, 1);
    } else {
        test_expect_error("rank 1 destroyed its end of the channel");
        atomic_store(&shared->ready, shared->how == 0);
        if (shared->how == 1) { /* the record is taken after the end has come */
            atomic_store(&shared->ready, 1);
            usleep(100000);
        }
        EXPECT_EQ(0, HcommChannelNotifyWaitOnThread(rank.thread, rank.channel[1], 1, 0));
        settle(&rank);
        EXPECT_EQ(0, HcommChannelNotifyWaitOnThread(rank.thread, rank.channel[1], 1, 0));
        EXPECT_EQ(ACL_ERROR_RT_SUSPECT_REMOTE_ERROR, aclrtSynchronizeStream(rank.stream));
    }
    rank_leave(&rank);
    EXPECT_EQ(0, rank.fault);
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceForce(0));
    EXPECT_EQ(ACL_SUCCESS, aclFinalize());
}

TEST(a_wait_for_a_rank_that_has_left_fails_once_its_records_are_used_up)
{
    run(2, leave_while_waited_for, 0);
    run(2, leave_while_waited_for, 1);
}

/* ---- Hosts ---- */

TEST(a_rank_on_another_host_is_refused_with_the_reason)
{
    struct comm_fact facts[2];
    struct comm_world *world = NULL;
    struct comm_desc desc = {.rank = 0};
    struct shared shared = {.engine = COMM_ENGINE_CPU_TS};
    struct rank rank = {.shared = &shared, .num = 2, .engine = COMM_ENGINE_CPU_TS};
    HcclCommConfig config;
    HcclChannelDesc channel;

    setenv("HCCL_BUFFSIZE", "1", 1);
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(HCCL_SUCCESS, world_fact(&facts[0], 0));
    facts[1] = facts[0];
    facts[1].process = facts[1].address.process = 12345;
    facts[1].host++;
    snprintf(facts[1].host_name, sizeof facts[1].host_name, "elsewhere");
    EXPECT_EQ(HCCL_SUCCESS, world_from_facts(facts, 2, "two hosts", &world));
    EXPECT_EQ(HCCL_SUCCESS, config_load(&config, NULL));
    desc.world = world;
    desc.config = &config;
    EXPECT_EQ(HCCL_SUCCESS, comm_create(&desc, &rank.comm));
    EXPECT_EQ(0, HcclChannelDescInit(&channel, 1));
    channel.remoteRank = 1;
    channel.channelProtocol = COMM_PROTOCOL_HCCS;
    test_expect_error("rank 1 runs on elsewhere, and there is no transport between hosts yet");
    EXPECT_EQ(HCCL_E_NOT_SUPPORT,
              HcclChannelAcquire(rank.comm, rank.engine, &channel, 1, rank.channel));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(rank.comm));
    world_release(world);
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceForce(0));
}

/* ---- Memory ---- */

#define FAILURES 400

/* Process 0 is short of memory while the two connect; process 1 tries again and again meanwhile. */
static void
connect_short_of_memory(int process, void *arg)
{
    bool failed = true;

    EXPECT_EQ(ACL_SUCCESS, aclInit(NULL));
    test_allow_errors();
    setenv("HCOMM_CONNECT_TIMEOUT", "20000", 1);
    for (int nth = 0; failed; nth++) {
        struct shared *shared = &((struct shared *)arg)[nth];
        struct rank rank = {.shared = shared};
        HcclResult rc;

        EXPECT_TRUE(nth < FAILURES);
        shared->engine = COMM_ENGINE_CPU_TS;
        rank_join(&rank, 0, 2, (uint32_t)process, 0);
        EXPECT_EQ(0, rank.fault);
        setenv("HCOMM_CONNECT_TIMEOUT", process == 1 ? "50" : "500", 1);
        if (process == 0)
            hc_alloc_fail_nth(nth);
        rc = rank_link(&rank, 0, 2);
        if (process == 0) {
            shared->how = hc_alloc_failed() != 0;
            hc_alloc_fail_nth(-1);
        }
        while (rc != HCCL_SUCCESS &&
               (process == 1 ? atomic_load(&shared->ready) == 0 : shared->how == 0)) {
            usleep(1000);
            rc = rank_link(&rank, 0, 2);
        }
        atomic_fetch_add(&shared->ready, 1);
        procs_await(&shared->ready, 2);
        failed = shared->how != 0;
        setenv("HCOMM_CONNECT_TIMEOUT", "20000", 1);
        rank_leave(&rank);
        EXPECT_EQ(0, rank.fault);
    }
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceForce(0));
    EXPECT_EQ(ACL_SUCCESS, aclFinalize());
}

TEST(connecting_survives_every_failed_allocation)
{
    struct procs procs;

    setenv("HCCL_BUFFSIZE", "1", 1);
    procs_start(&procs, 2, connect_short_of_memory, FAILURES * sizeof(struct shared));
    procs_expect_success(&procs);
}

/* ---- Many lives ---- */

static void
live_often(int process, void *arg)
{
    int files = 0;

    EXPECT_EQ(ACL_SUCCESS, aclInit(NULL));
    for (int i = 0; i < 200; i++) {
        struct shared *shared = &((struct shared *)arg)[i];
        struct rank rank = {.shared = shared};

        shared->engine = COMM_ENGINE_CPU_TS;
        rank_join(&rank, 0, 2, (uint32_t)process, 0);
        EXPECT_EQ(HCCL_SUCCESS, rank_link(&rank, 0, 2));
        barrier(&rank);
        rank_leave(&rank);
        EXPECT_EQ(0, rank.fault);
        if (i == 20)
            files = test_open_fds();
    }
    EXPECT_TRUE(test_open_fds() <= files + 2); /* a socket of the last bootstrap may linger */
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceForce(0));
    EXPECT_EQ(ACL_SUCCESS, aclFinalize());
}

TEST(two_hundred_communicators_of_two_processes_leave_no_descriptors)
{
    struct procs procs;

    setenv("HCCL_BUFFSIZE", "1", 1);
    procs_start(&procs, 2, live_often, 200 * sizeof(struct shared));
    procs_expect_success(&procs);
}
