/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank that leaves as soon as it has sent: its peers may still be connecting. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "acl/acl_rt.h"
#include "hccl/hccl_channel.h"
#include "hccl/hccl_comm.h"
#include "hccl/hccl_res.h"
#include "hcomm/hcomm_primitives.h"
#include "tests/support/procs.h"
#include "tests/support/test.h"

enum { RANKS = 8, ROUNDS = 10, NUMBER = 4711 };

struct shared {
    uint32_t per; /* ranks in a process */
    HcclRootInfo info[ROUNDS];
    atomic_int made[ROUNDS];
};

struct rank {
    struct shared *shared;
    uint32_t rank;
    const char *fault; /* NULL: none */
    pthread_t thread;
};

#define CHECK(rank, what)                                                                          \
    do {                                                                                           \
        if (!(what) && (rank)->fault == NULL)                                                      \
            (rank)->fault = #what;                                                                 \
    } while (0)

/* Rank 0 sends a number to each other rank; nobody waits for anybody else. */
static void
send_and_leave(struct rank *rank, HcclComm comm)
{
    uint32_t num = rank->rank == 0 ? RANKS - 1 : 1;
    HcclChannelDesc descs[RANKS];
    ChannelHandle channels[RANKS];
    uint64_t *own = NULL, *theirs, size;
    ThreadHandle thread = 0;
    aclrtStream stream = NULL;

    CHECK(rank, HcclGetHcclBuffer(comm, (void **)&own, &size) == HCCL_SUCCESS);
    CHECK(rank, HcclThreadAcquire(comm, COMM_ENGINE_CPU_TS, 1, 0, &thread) == HCCL_SUCCESS);
    CHECK(rank, HcclThreadResGetInfo(comm, thread, THREAD_RES_TYPE_STREAM, sizeof stream,
                                     (void **)&stream) == HCCL_SUCCESS);
    CHECK(rank, HcclChannelDescInit(descs, num) == HCCL_SUCCESS);
    for (uint32_t i = 0; i < num; i++) {
        descs[i].remoteRank = rank->rank == 0 ? i + 1 : 0;
        descs[i].channelProtocol = COMM_PROTOCOL_HCCS;
        descs[i].notifyNum = 1;
    }
    CHECK(rank, HcclChannelAcquire(comm, COMM_ENGINE_CPU_TS, descs, num, channels) == HCCL_SUCCESS);
    if (rank->fault != NULL)
        return;
    own[0] = rank->rank == 0 ? NUMBER : 0;
    for (uint32_t i = 0; i < num && rank->rank == 0; i++) {
        CHECK(rank, HcclChannelGetHcclBuffer(comm, channels[i], (void **)&theirs, &size) == 0);
        CHECK(rank, HcommWriteOnThread(thread, channels[i], theirs + 1, own, sizeof *own) == 0);
        CHECK(rank, HcommChannelNotifyRecordOnThread(thread, channels[i], 0) == 0);
    }
    if (rank->rank != 0)
        CHECK(rank, HcommChannelNotifyWaitOnThread(thread, channels[0], 0, 60) == 0);
    CHECK(rank, aclrtSynchronizeStream(stream) == ACL_SUCCESS);
    CHECK(rank, rank->rank == 0 || own[1] == NUMBER);
}

static void *
run_rank(void *arg)
{
    struct rank *rank = arg;
    struct shared *shared = rank->shared;
    int32_t device = (int32_t)(rank->rank % shared->per);

    CHECK(rank, aclrtSetDevice(device) == ACL_SUCCESS);
    for (int round = 0; round < ROUNDS && rank->fault == NULL; round++) {
        HcclComm comm = NULL;

        if (rank->rank == 0) {
            CHECK(rank, HcclGetRootInfo(&shared->info[round]) == HCCL_SUCCESS);
            atomic_store(&shared->made[round], 1);
        }
        while (atomic_load(&shared->made[round]) == 0)
            usleep(500);
        CHECK(rank, HcclCommInitRootInfo(RANKS, &shared->info[round], rank->rank, &comm) == 0);
        if (rank->fault == NULL)
            send_and_leave(rank, comm);
        CHECK(rank, HcclCommDestroy(comm) == HCCL_SUCCESS);
    }
    CHECK(rank, aclrtResetDevice(device) == ACL_SUCCESS);
    return NULL;
}

static void
run_process(int process, void *arg)
{
    struct shared *shared = arg;
    struct rank ranks[RANKS] = {0};

    for (uint32_t i = 0; i < shared->per; i++) {
        ranks[i].shared = shared;
        ranks[i].rank = (uint32_t)process * shared->per + i;
        EXPECT_EQ(0, pthread_create(&ranks[i].thread, NULL, run_rank, &ranks[i]));
    }
    for (uint32_t i = 0; i < shared->per; i++)
        EXPECT_EQ(0, pthread_join(ranks[i].thread, NULL));
    for (uint32_t i = 0; i < shared->per; i++)
        EXPECT_STREQ("", ranks[i].fault == NULL ? "" : ranks[i].fault);
    EXPECT_EQ(ACL_SUCCESS, aclFinalize());
}

static void
run(uint32_t num)
{
    struct procs procs;
    struct shared *shared = procs_prepare(&procs, sizeof *shared);

    setenv("HCCL_BUFFSIZE", "1", 1);
    shared->per = RANKS / num;
    procs_fork(&procs, (int)num, run_process);
    procs_expect_success(&procs);
}

TEST(a_rank_may_leave_before_its_peers_in_other_processes_have_noticed_that_it_came)
{
    run(RANKS);
}

TEST(a_rank_may_leave_before_its_peers_in_other_threads_have_noticed_that_it_came)
{
    run(1);
}
