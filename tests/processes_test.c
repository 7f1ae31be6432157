/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks in processes: what such programs do beside communicating, and what they leave behind. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/prank.h"
#include "tests/support/procs.h"
#include "tests/support/test.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CYCLES 60
#define RESTARTS 5
#define ROUNDS 200u
#else
#define CYCLES 1000
#define RESTARTS 50
#define ROUNDS 2000u
#endif

struct meeting {
    HcclRootInfo info;
    atomic_int made; /* root infos so far */
    atomic_int turn, gone;
    atomic_int pids[8];
};

/* Joins the meeting's `nth` communicator with one rank a process. */
static void
join(struct meeting *meeting, struct prank *prank, uint32_t num, int rank, int nth)
{
    if (rank == 0) {
        EXPECT_EQ(HCCL_SUCCESS, HcclGetRootInfo(&meeting->info));
        atomic_store(&meeting->made, nth + 1);
    }
    procs_await(&meeting->made, nth + 1);
    EXPECT_EQ(HCCL_SUCCESS, prank_open(prank, &meeting->info, num, (uint32_t)rank, 0));
    EXPECT_EQ(HCCL_SUCCESS, prank_link(prank, UINT32_MAX));
}

static void
begin(void)
{
    EXPECT_EQ(ACL_SUCCESS, aclInit(NULL));
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
}

static void
end(void)
{
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceForce(0));
    EXPECT_EQ(ACL_SUCCESS, aclFinalize());
}

static void
pass_many(struct prank *prank, uint32_t rounds)
{
    uint32_t peer = 1 - prank->rank;

    for (uint64_t i = 0; i < rounds; i++) {
        uint64_t got = 0;

        EXPECT_EQ(HCCL_SUCCESS, prank_pass(prank, peer, peer, 2 * i + prank->rank, &got));
        EXPECT_EQ(2 * i + peer, got);
    }
}

/* ---- nothing piles up ---- */

static long
resident_kib(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long total = 0, resident = 0;

    EXPECT_NOT_NULL(file);
    EXPECT_EQ(2, fscanf(file, "%ld %ld", &total, &resident));
    fclose(file);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static void
make_and_destroy(int rank, void *shared)
{
    struct meeting *meeting = shared;
    int files = 0;
    long memory = 0;

    test_time_limit(240);
    begin();
    for (int i = 0; i < CYCLES; i++) {
        struct prank prank;

        if (i == 20) { /* what is made once has been made */
            files = test_open_fds();
            memory = resident_kib();
        }
        join(meeting, &prank, 2, rank, i);
        pass_many(&prank, 1);
        EXPECT_EQ(HCCL_SUCCESS, prank_close(&prank));
        /* The root info is written again only when both have used it. */
        atomic_fetch_add(&meeting->turn, 1);
        procs_await(&meeting->turn, 2 * (i + 1));
    }
    EXPECT_TRUE(test_open_fds() <= files);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    EXPECT_TRUE(resident_kib() - memory < 4096);
#else
    (void)memory;
#endif
    end();
}

TEST(a_thousand_communicators_leave_nothing_behind)
{
    struct procs procs;

    test_time_limit(240);
    procs_start(&procs, 2, make_and_destroy, sizeof(struct meeting));
    procs_expect_success(&procs);
}

/* ---- killed all at once, started again ---- */

static void
transfer_for_ever(int rank, void *shared)
{
    struct meeting *meeting = shared;
    struct prank prank;

    begin();
    join(meeting, &prank, 4, rank, 0);
    atomic_fetch_add(&meeting->turn, 1);
    for (uint64_t i = 0;; i++) {
        uint32_t next = (uint32_t)(rank + 1) % 4, previous = (uint32_t)(rank + 3) % 4;
        uint64_t got = 0;

        if (prank_pass(&prank, next, previous, i, &got) != HCCL_SUCCESS)
            pause(); /* the others were killed a moment before */
    }
}

TEST(a_job_that_was_killed_starts_again_at_once)
{
    test_time_limit(240);
    for (int i = 0; i < RESTARTS; i++) {
        struct procs procs;
        struct meeting *meeting;

        procs_start(&procs, 4, transfer_for_ever, sizeof *meeting);
        meeting = procs.shared;
        procs_await(&meeting->turn, 4);
        usleep((unsigned)(i % 10) * 300);
        for (int rank = 0; rank < 4; rank++)
            (void)kill(procs.pid[rank], SIGKILL);
        for (int rank = 0; rank < 4; rank++)
            (void)procs_wait(&procs, rank);
        procs_expect_success(&procs);
    }
}

/* ---- fork and exec ---- */

static void
fork_between_transfers(int rank, void *shared)
{
    struct meeting *meeting = shared;
    struct prank prank;
    pid_t child;
    int status = 0;

    begin();
    join(meeting, &prank, 2, rank, 0);
    pass_many(&prank, 10);
    EXPECT_EQ(0, system("true"));
    pass_many(&prank, 10);
    child = fork();
    if (child == 0) { /* it may not call in, and is told so */
        HcclComm other = NULL;

        _exit(HcclCommInitRootInfo(2, &meeting->info, 0, &other) == HCCL_SUCCESS);
    }
    EXPECT_EQ(child, waitpid(child, &status, 0));
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    pass_many(&prank, 10);
    EXPECT_EQ(HCCL_SUCCESS, prank_close(&prank));
    end();
}

TEST(programs_may_fork_and_run_others_between_transfers)
{
    struct procs procs;

    procs_start(&procs, 2, fork_between_transfers, sizeof(struct meeting));
    procs_expect_success(&procs);
}

/* Rank 1 has a forked child that lives on when rank 1 is killed: rank 0 must notice all the same.
 */
static void
outlived_by_a_child(int rank, void *shared)
{
    struct meeting *meeting = shared;
    struct prank prank;
    uint64_t got = 0;

    begin();
    join(meeting, &prank, 2, rank, 0);
    pass_many(&prank, 1);
    if (rank == 1) {
        pid_t child = fork();

        if (child == 0) {
            for (;;)
                pause();
        }
        atomic_store(&meeting->pids[1], child);
        atomic_store(&meeting->turn, 1);
        for (;;)
            pause();
    }
    test_expect_error("rank 1");
    EXPECT_NE(HCCL_SUCCESS, prank_pass(&prank, 1, 1, 5, &got));
    EXPECT_EQ(HCCL_SUCCESS, prank_close(&prank));
    end();
}

TEST(a_forked_child_does_not_hide_the_death_of_its_parent)
{
    struct procs procs;
    struct meeting *meeting;

    procs_start(&procs, 2, outlived_by_a_child, sizeof *meeting);
    meeting = procs.shared;
    procs_await(&meeting->turn, 1);
    usleep(20000); /* rank 0 waits */
    procs_kill(&procs, 1);
    EXPECT_EQ(0, procs_wait(&procs, 0));
    (void)kill(atomic_load(&meeting->pids[1]), SIGKILL);
    procs_expect_success(&procs);
}

/* ---- signals ---- */

static void
on_alarm(int number)
{
    (void)number;
}

static void
transfer_under_signals(int rank, void *shared)
{
    const struct itimerval every_ms = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = on_alarm}; /* no SA_RESTART */
    struct prank prank;

    EXPECT_EQ(0, sigaction(SIGALRM, &action, NULL));
    EXPECT_EQ(0, setitimer(ITIMER_REAL, &every_ms, NULL));
    begin();
    join(shared, &prank, 2, rank, 0);
    pass_many(&prank, ROUNDS);
    EXPECT_EQ(HCCL_SUCCESS, prank_close(&prank));
    EXPECT_EQ(0, setitimer(ITIMER_REAL, &never, NULL));
    end();
}

TEST(a_thousand_signals_a_second_do_not_disturb)
{
    struct procs procs;

    procs_start(&procs, 2, transfer_under_signals, sizeof(struct meeting));
    procs_expect_success(&procs);
}

/* ---- two communicators of the same processes ---- */

static void
in_two_communicators(int rank, void *shared)
{
    struct meeting *meeting = shared;
    struct prank one, two;

    begin();
    join(meeting, &one, 2, rank, 0);
    atomic_fetch_add(&meeting->turn, 1);
    procs_await(&meeting->turn, 2);
    join(meeting, &two, 2, rank, 1);
    for (int i = 0; i < 20; i++) {
        pass_many(&one, 3);
        pass_many(&two, 3);
    }
    EXPECT_EQ(HCCL_SUCCESS, prank_close(&one));
    pass_many(&two, 3);
    EXPECT_EQ(HCCL_SUCCESS, prank_close(&two));
    end();
}

TEST(two_communicators_of_the_same_processes_do_not_meet)
{
    struct procs procs;

    procs_start(&procs, 2, in_two_communicators, sizeof(struct meeting));
    procs_expect_success(&procs);
}

/* ---- a peer that stands still ---- */

static void
stand_still(int rank, void *shared)
{
    struct meeting *meeting = shared;
    struct prank prank;
    aclError rc;

    begin();
    join(meeting, &prank, 2, rank, 0);
    pass_many(&prank, 1);
    if (rank == 1) {
        atomic_store(&meeting->turn, 1);
        raise(SIGSTOP);
        procs_await(&meeting->gone, 1);
        EXPECT_EQ(HCCL_SUCCESS, prank_close(&prank));
        end();
        return;
    }
    procs_await(&meeting->turn, 1);
    test_expect_error("rank 1");
    EXPECT_EQ(0, HcommChannelNotifyWaitOnThread(prank.thread, prank.channels[1], 0, 1));
    rc = aclrtSynchronizeStream(prank.stream);
    EXPECT_EQ(ACL_ERROR_RT_TASK_TIMEOUT, rc);
    EXPECT_EQ(0, kill(atomic_load(&meeting->pids[1]), SIGCONT));
    atomic_store(&meeting->gone, 1);
    EXPECT_EQ(HCCL_SUCCESS, prank_close(&prank));
    end();
}

TEST(a_wait_for_a_stopped_process_ends_by_its_own_limit)
{
    struct procs procs;
    struct meeting *meeting = procs_prepare(&procs, sizeof *meeting);

    procs_fork(&procs, 2, stand_still);
    atomic_store(&meeting->pids[1], procs.pid[1]);
    procs_expect_success(&procs);
}
