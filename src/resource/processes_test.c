/* SPDX-License-Identifier: BSD-3-Clause */
/* Endpoints in processes of their own: channels that meet in the lobby, memory that is passed on.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "acl/acl.h"
#include "hccl/hccl_types.h"
#include "hcomm/hcomm_primitives.h"
#include "hcomm/hcomm_primitives_expt.h"
#include "hcomm/hcomm_res.h"
#include "resource/resource.h"
#include "tests/support/procs.h"
#include "tests/support/test.h"

#define BYTES (4u << 20)
#define TAIL 4096u

struct shared {
    atomic_int turn;
    pid_t pid;
    uint8_t desc[2][1024]; /* of memory, one after the other */
    uint32_t len[2];
};

struct side {
    EndpointHandle endpoint;
    ChannelHandle channel;
    HcommMemHandle mem;
    char *bytes;  /* [BYTES], registered */
    char *theirs; /* the peer's, once connected */
    bool plain;
};

static HcommMemHandle
offer(struct side *side)
{
    const CommMem mem = {.type = side->plain ? COMM_MEM_TYPE_HOST : COMM_MEM_TYPE_DEVICE,
                         .addr = side->bytes,
                         .size = BYTES};

    EXPECT_EQ(0, HcommMemReg(side->endpoint, "bytes", &mem, &side->mem));
    return side->mem;
}

/* `plain`: memory from malloc, which cannot be mapped. */
static void
side_open(struct side *side, int rank, bool plain)
{
    EndpointDesc desc;

    EXPECT_EQ(ACL_SUCCESS, aclInit(NULL));
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(0, EndpointDescInit(&desc, 1));
    desc.protocol = COMM_PROTOCOL_ROCE;
    desc.loc.locType = ENDPOINT_LOC_TYPE_HOST;
    desc.commAddr.type = COMM_ADDR_TYPE_IP_V4;
    desc.commAddr.addr.s_addr = htonl(0x0a000001u + (uint32_t)rank);
    EXPECT_EQ(0, HcommEndpointCreate(&desc, &side->endpoint));
    side->plain = plain;
    if (plain)
        side->bytes = malloc(BYTES);
    else
        EXPECT_EQ(0, HcommMemAlloc((void **)&side->bytes, BYTES));
    memset(side->bytes, 'a' + rank, BYTES);
    (void)offer(side);
}

static void
side_connect(struct side *side, int rank)
{
    const struct res_region *regions;
    struct res_channel *held;
    HcommChannelDesc to;
    uint32_t num = 0;

    EXPECT_EQ(0, HcommChannelDescInit(&to, 1));
    EXPECT_EQ(0, EndpointDescInit(&to.remoteEndpoint, 1));
    to.remoteEndpoint.protocol = COMM_PROTOCOL_ROCE;
    to.remoteEndpoint.loc.locType = ENDPOINT_LOC_TYPE_HOST;
    to.remoteEndpoint.commAddr.type = COMM_ADDR_TYPE_IP_V4;
    to.remoteEndpoint.commAddr.addr.s_addr = htonl(0x0a000001u + (uint32_t)(1 - rank));
    to.notifyNum = 2;
    to.exchangeAllMems = true;
    EXPECT_EQ(0, HcommChannelCreate(side->endpoint, COMM_ENGINE_CPU, &to, 1, &side->channel));
    EXPECT_EQ(HCCL_SUCCESS, res_channel_wait(&side->channel, 1, 30000));
    EXPECT_EQ(HCCL_SUCCESS, res_channel_hold(side->channel, &held));
    EXPECT_EQ(HCCL_SUCCESS, res_channel_remote(held, &regions, &num));
    EXPECT_EQ(1, num);
    side->theirs = regions[0].mem.addr;
    res_channel_release(held);
}

static void
side_close(struct side *side)
{
    if (side->channel != 0)
        EXPECT_EQ(0, HcommChannelDestroy(&side->channel, 1));
    if (side->mem != NULL)
        EXPECT_EQ(0, HcommMemUnreg(side->endpoint, side->mem));
    EXPECT_EQ(0, HcommEndpointDestroy(side->endpoint));
    if (side->plain)
        free(side->bytes);
    else
        EXPECT_EQ(0, HcommMemFree(side->bytes));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceForce(0));
    EXPECT_EQ(ACL_SUCCESS, aclFinalize());
}

/* Tells the other, and waits until it has told. */
static void
meet(struct side *side)
{
    EXPECT_EQ(0, HcommChannelNotifyRecord(side->channel, 0));
    EXPECT_EQ(0, HcommChannelNotifyWait(side->channel, 0, 30));
}

static void
move(int rank, bool plain)
{
    struct side side = {0};
    char *mine = NULL;

    side_open(&side, rank, plain);
    side_connect(&side, rank);
    EXPECT_EQ(0, HcommMemAlloc((void **)&mine, BYTES));
    EXPECT_EQ(0, HcommReadNbi(side.channel, mine, side.theirs, BYTES));
    EXPECT_EQ('b' - rank, mine[0]);
    EXPECT_EQ('b' - rank, mine[BYTES - 1]);
    meet(&side);
    memset(mine, 'x' + rank, BYTES);
    EXPECT_EQ(0, HcommWriteWithNotifyNbi(side.channel, side.theirs + 1, mine, BYTES - 2, 1));
    EXPECT_EQ(0, HcommChannelNotifyWait(side.channel, 1, 30));
    EXPECT_EQ('a' + rank, side.bytes[0]);
    EXPECT_EQ('y' - rank, side.bytes[1]);
    EXPECT_EQ('y' - rank, side.bytes[BYTES - 2]);
    EXPECT_EQ('a' + rank, side.bytes[BYTES - 1]);
    EXPECT_EQ(0, HcommChannelFence(side.channel));
    meet(&side);
    EXPECT_EQ(0, HcommMemFree(mine));
    side_close(&side);
}

static void
move_mapped(int rank, void *shared)
{
    (void)shared;
    move(rank, false);
}

static void
move_plain(int rank, void *shared)
{
    (void)shared;
    move(rank, true);
}

static void
run(int num, void (*fn)(int rank, void *shared))
{
    struct procs procs;

    procs_start(&procs, num, fn, sizeof(struct shared));
    procs_expect_success(&procs);
}

TEST(endpoints_of_two_processes_find_each_other_and_move_data)
{
    run(2, move_mapped);
}

TEST(endpoints_of_two_processes_move_memory_that_cannot_be_mapped)
{
    run(2, move_plain);
}

/* ---- Separate PID namespaces, as containers have them ---- */

/* A process there has no number here, so its memory can be reached by no system call. */
static void
move_in_own_namespace(int rank, void *shared)
{
    int status = 0;
    pid_t child;

    if (unshare(CLONE_NEWPID) != 0) {
        printf("skipped: a PID namespace cannot be made (%s)\n", strerror(errno));
        return;
    }
    fflush(NULL);
    child = fork();
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        test_run_child(move_plain, rank, shared);
    }
    EXPECT_EQ(child, waitpid(child, &status, 0));
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(processes_of_separate_pid_namespaces_move_memory_that_cannot_be_mapped)
{
#ifdef __SANITIZE_ADDRESS__
    (void)move_in_own_namespace;
    printf("skipped: the leak sanitizer finds no threads when /proc is of another namespace\n");
#else
    run(2, move_in_own_namespace);
#endif
}

/* ---- Memory that is taken back ---- */

static void
export_to(struct side *side, struct shared *shared, int which)
{
    uint32_t len = 0;
    void *desc = NULL;

    EXPECT_EQ(0, HcommMemExport(side->endpoint, side->mem, &desc, &len));
    EXPECT_TRUE(len <= sizeof shared->desc[which]);
    memcpy(shared->desc[which], desc, len);
    shared->len[which] = len;
}

/*
 * Process 1 registers memory, passes it on, takes it back, and offers it again with other bytes.
 * Process 0 reaches it with each description for as long as that one stands.
 */
static void
take_back(int rank, struct shared *shared, bool plain)
{
    struct side side = {0};
    CommMem first, second, late;
    char *mine = NULL;

    side_open(&side, rank, plain);
    side_connect(&side, rank);
    EXPECT_EQ(0, HcommMemAlloc((void **)&mine, BYTES));
    if (rank == 1) {
        HcommMemUnreg(side.endpoint, side.mem); /* the one that the channel told of */
        (void)offer(&side);
        export_to(&side, shared, 0);
        atomic_store(&shared->turn, 1);
        procs_await(&shared->turn, 2);
        EXPECT_EQ(0, HcommMemUnreg(side.endpoint, side.mem));
        memset(side.bytes, 'n', BYTES);
        atomic_store(&shared->turn, 3);
        procs_await(&shared->turn, 4);
        (void)offer(&side);
        export_to(&side, shared, 1);
        atomic_store(&shared->turn, 5);
        procs_await(&shared->turn, 6);
    } else {
        procs_await(&shared->turn, 1);
        test_expect_error("the memory has been unregistered by endpoint RoCE 10.0.0.2");
        EXPECT_EQ(HCCL_E_PARA, HcommReadNbi(side.channel, mine, side.theirs, 8));
        EXPECT_EQ(0, HcommMemImport(side.endpoint, shared->desc[0], shared->len[0], &first));
        EXPECT_EQ(BYTES, first.size);
        EXPECT_EQ(0, HcommReadNbi(side.channel, mine, first.addr, BYTES));
        EXPECT_EQ('b', mine[BYTES - 1]);
        atomic_store(&shared->turn, 2);
        procs_await(&shared->turn, 3);
        EXPECT_EQ(HCCL_E_PARA, HcommReadNbi(side.channel, mine, first.addr, 8));
        EXPECT_EQ(HCCL_E_PARA, HcommWriteNbi(side.channel, first.addr, mine, 8));
        EXPECT_EQ('b', mine[0]);
        EXPECT_EQ(0, HcommMemUnimport(side.endpoint, shared->desc[0], shared->len[0]));
        test_expect_error("has unregistered");
        EXPECT_EQ(HCCL_E_NOT_FOUND,
                  HcommMemImport(side.endpoint, shared->desc[0], shared->len[0], &late));
        atomic_store(&shared->turn, 4);
        procs_await(&shared->turn, 5);
        EXPECT_EQ(0, HcommMemImport(side.endpoint, shared->desc[1], shared->len[1], &second));
        EXPECT_EQ(0, HcommReadNbi(side.channel, mine, second.addr, BYTES));
        EXPECT_EQ('n', mine[0]);
        EXPECT_EQ('n', mine[BYTES - 1]);
        EXPECT_EQ(0, HcommMemUnimport(side.endpoint, shared->desc[1], shared->len[1]));
        test_expect_error("are not inside one of the 1 regions");
        EXPECT_EQ(HCCL_E_PARA, HcommReadNbi(side.channel, mine, (char *)second.addr + BYTES, 8));
        atomic_store(&shared->turn, 6);
    }
    EXPECT_EQ(0, HcommMemFree(mine));
    side_close(&side);
}

static void
take_mapped_back(int rank, void *shared)
{
    take_back(rank, shared, false);
}

static void
take_plain_back(int rank, void *shared)
{
    take_back(rank, shared, true);
}

TEST(memory_that_was_unregistered_is_not_reached_and_the_new_one_is)
{
    run(2, take_mapped_back);
    run(2, take_plain_back);
}

/* A peer that never stops while the memory is taken back: once that has returned, the bytes are the
 * owner's alone. */
static void
take_away(int rank, void *arg)
{
    struct shared *shared = arg;
    struct side side = {0};
    char *mine = NULL;
    int rc = 0;

    side_open(&side, rank, atomic_load(&shared->turn) == 10);
    side_connect(&side, rank);
    if (rank == 1) {
        meet(&side);
        usleep(20000);
        EXPECT_EQ(0, HcommMemUnreg(side.endpoint, side.mem));
        side.mem = NULL;
        memset(side.bytes + BYTES - TAIL, 'z', TAIL); /* a transfer under way gets there last */
        usleep(20000);
        for (uint32_t i = BYTES - TAIL; i < BYTES; i++)
            EXPECT_EQ('z', side.bytes[i]);
    } else {
        EXPECT_EQ(0, HcommMemAlloc((void **)&mine, BYTES));
        test_expect_error("has been unregistered by endpoint");
        test_allow_errors();
        meet(&side);
        while (rc == 0)
            rc = HcommWriteNbi(side.channel, side.theirs, mine, BYTES);
        EXPECT_TRUE(rc == HCCL_E_PARA || rc == HCCL_E_MEMORY);
        EXPECT_EQ(HCCL_E_PARA, HcommWriteNbi(side.channel, side.theirs, mine, BYTES));
        EXPECT_EQ(0, HcommMemFree(mine));
    }
    meet(&side);
    side_close(&side);
}

TEST(memory_may_be_unregistered_while_a_peer_writes_to_it)
{
    struct procs procs;
    struct shared *shared;

    run(2, take_away);
    shared = procs_prepare(&procs, sizeof *shared);
    atomic_store(&shared->turn, 10);
    procs_fork(&procs, 2, take_away);
    procs_expect_success(&procs);
}

/* ---- A process that is stopped ---- */

/* The bytes of malloc's memory move with the help of its process, which sleeps. */
static void
stopped(int rank, void *arg)
{
    struct shared *shared = arg;
    struct side side = {0};
    aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
    ThreadHandle thread;
    aclrtStream stream;
    char *mine = NULL;
    uint32_t none = 0;

    EXPECT_EQ(0, setenv("HCOMM_FOREIGN", "bounce", 1));
    EXPECT_EQ(0, setenv("HCOMM_WORKERS", "2", 1));
    side_open(&side, rank, rank == 1);
    side_connect(&side, rank);
    if (rank == 1) {
        shared->pid = getpid();
        meet(&side);
        meet(&side);
        EXPECT_EQ('w', side.bytes[7]);
        side_close(&side);
        return;
    }
    EXPECT_EQ(0, HcommMemAlloc((void **)&mine, 16));
    memset(mine, 'w', 8);
    EXPECT_EQ(0, HcommThreadAlloc(COMM_ENGINE_CPU_TS, 1, &none, &thread));
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateStream(&stream));
    EXPECT_EQ(0, HcommReadNbi(side.channel, mine, side.theirs, 8)); /* all is set up */
    memset(mine, 'w', 8);
    meet(&side);
    EXPECT_EQ(0, kill(shared->pid, SIGSTOP));
    usleep(100000); /* it stands by now */
    EXPECT_EQ(0, HcommWriteOnThread(thread, side.channel, side.theirs, mine, 8));
    usleep(100000); /* somebody is at it by now */
    EXPECT_EQ(ACL_SUCCESS, aclrtMemsetAsync(mine + 8, 8, 0, 8, stream));
    for (int i = 0; i < 30000 && status != ACL_STREAM_STATUS_COMPLETE; i++) {
        usleep(1000); /* this thread does not drive */
        EXPECT_EQ(ACL_SUCCESS, aclrtStreamQuery(stream, &status));
    }
    EXPECT_EQ(ACL_STREAM_STATUS_COMPLETE, status);
    EXPECT_EQ(0, kill(shared->pid, SIGCONT));
    EXPECT_EQ(0, HcommThreadJoin(thread, 30));
    meet(&side);
    EXPECT_EQ(0, HcommThreadFree(&thread, 1));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(stream));
    EXPECT_EQ(0, HcommMemFree(mine));
    side_close(&side);
}

TEST(a_transfer_that_waits_for_a_stopped_process_delays_no_other_stream)
{
    run(2, stopped);
}

/* ---- The end of the other process ---- */

static void
outlive(int rank, void *arg)
{
    struct shared *shared = arg;
    struct side side = {0};
    CommMem mem;

    side_open(&side, rank, false);
    side_connect(&side, rank);
    if (rank == 1) {
        export_to(&side, shared, 0);
        atomic_store(&shared->turn, 1);
        for (;;)
            pause();
    }
    test_expect_error("endpoint RoCE 10.0.0.2 died (process ");
    EXPECT_EQ(HCCL_E_REMOTE, HcommChannelNotifyWait(side.channel, 1, 60));
    EXPECT_EQ(HCCL_E_REMOTE, HcommWriteNbi(side.channel, side.theirs, side.bytes, 8));
    EXPECT_EQ(HCCL_E_REMOTE, HcommChannelFence(side.channel));
    test_allow_errors();
    EXPECT_NE(0, HcommMemImport(side.endpoint, shared->desc[0], shared->len[0], &mem));
    side_close(&side);
}

TEST(a_channel_to_a_process_that_died_fails_and_says_so)
{
    struct procs procs;
    struct shared *shared = procs_prepare(&procs, sizeof *shared);

    procs_fork(&procs, 2, outlive);
    procs_await(&shared->turn, 1);
    usleep(20000);
    procs_kill(&procs, 1);
    procs_expect_success(&procs);
}
