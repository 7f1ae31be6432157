/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks in processes that join, disagree, come late and die. */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/time.h>

#include "bootstrap/members_test.h"

/* ---- Ends ---- */

static void
wait_for_the_dead(int rank, void *arg)
{
    struct shared *shared = arg;
    char text[64];

    if (rank != 2)
        test_expect_error(") ended before all had joined");
    EXPECT_EQ(HCCL_E_REMOTE, join(shared, rank, 5, LONG_MS));
    snprintf(text, sizeof text, "rank 2 (process %d) ended before all had joined",
             atomic_load(&shared->pid[2]));
    EXPECT_EQ(1, test_logged(text));
}

TEST(a_rank_that_is_killed_while_others_wait_is_named_at_once)
{
    struct procs procs;

    procs_start(&procs, 4, wait_for_the_dead, sizeof(struct shared));
    await_joining(procs.shared, 4);
    procs_kill(&procs, 2);
    procs_expect_success(&procs);
}

/* What a rank leaves running when it is killed. */
static void *
fork_soon(void *arg)
{
    struct shared *shared = arg;
    pid_t child;

    usleep(50000); /* the rank is waiting for the others */
    child = fork();
    if (child == 0) {
        for (;;)
            pause();
    }
    atomic_store(&shared->done, child);
    return NULL;
}

static void
wait_for_the_dead_parent(int rank, void *arg)
{
    pthread_t thread;

    if (rank == 2)
        EXPECT_EQ(0, pthread_create(&thread, NULL, fork_soon, arg));
    wait_for_the_dead(rank, arg);
}

TEST(a_forked_child_does_not_keep_the_place_of_its_dead_parent)
{
    struct procs procs;
    struct shared *shared;

    procs_start(&procs, 4, wait_for_the_dead_parent, sizeof *shared);
    shared = procs.shared;
    procs_await(&shared->done, 1);
    procs_kill(&procs, 2);
    for (int rank = 0; rank < 4; rank++) {
        if (rank != 2)
            EXPECT_EQ(0, procs_wait(&procs, rank));
    }
    (void)kill(atomic_load(&shared->done), SIGKILL);
    procs_expect_success(&procs);
}

static void
wait_for_the_root(int rank, void *arg)
{
    struct shared *shared = arg;
    char text[64];

    test_expect_error("the root of ");
    EXPECT_EQ(HCCL_E_REMOTE, join(shared, rank, 5, LONG_MS));
    snprintf(text, sizeof text, "(process %d) ended before all had joined",
             atomic_load(&shared->pid[0]));
    EXPECT_EQ(1, test_logged(text));
}

TEST(a_root_that_is_killed_while_others_wait_is_named_at_once)
{
    struct procs procs;

    procs_start(&procs, 4, wait_for_the_root, sizeof(struct shared));
    await_joining(procs.shared, 4);
    procs_kill(&procs, 0);
    procs_expect_success(&procs);
}

/* Before, in, or after the handshake: whatever the joiner was at, it ends with an error. */
static void
join_while_the_root_dies(int rank, void *arg)
{
    struct shared *shared = arg;
    HcclResult rc;

    if (rank == 0) {
        publish_root(shared);
        procs_await(&shared->done, 1); /* it is killed instead */
    }
    test_expect_error("the root of ");
    procs_await(&shared->go, 1);
    rc = join_and_check(&shared->info[0], 5, (uint32_t)rank, LONG_MS);
    EXPECT_TRUE(rc == HCCL_E_REMOTE || rc == HCCL_E_TCP_CONNECT);
}

TEST(a_root_that_is_killed_at_any_moment_keeps_nobody_waiting)
{
    /* A port that no other test takes over when the root is gone. */
    setenv("HCCL_HOST_SOCKET_PORT_RANGE", "auto", 1);
    for (unsigned round = 0; round < 12; round++) {
        struct procs procs;
        struct shared *shared;

        procs_start(&procs, 4, join_while_the_root_dies, sizeof(struct shared));
        shared = procs.shared;
        procs_await(&shared->info_ready, 1);
        atomic_store(&shared->go, 1);
        usleep(round * 300);
        procs_kill(&procs, 0);
        procs_expect_success(&procs);
    }
}

/* ---- Disagreement ---- */

static void
join_as_one(int rank, void *arg)
{
    struct shared *shared = arg;

    test_expect_error("two callers joined as rank 1 (processes ");
    if (rank == 2)
        await_joining(shared, 2);
    if (rank == 0) {
        EXPECT_EQ(HCCL_E_PARA, join(shared, 0, 4, LONG_MS));
        return;
    }
    procs_await(&shared->info_ready, 1);
    atomic_fetch_add(&shared->arrived, 1);
    EXPECT_EQ(HCCL_E_PARA, join_and_check(&shared->info[0], 4, 1, LONG_MS));
}

TEST(a_rank_that_joins_twice_is_named_in_all_processes)
{
    struct procs procs;

    procs_start(&procs, 3, join_as_one, sizeof(struct shared));
    procs_expect_success(&procs);
}

static void
join_some_of_four(int rank, void *arg)
{
    test_expect_error("rank 3 of 4 did not join; the others waited ");
    EXPECT_EQ(HCCL_E_TIMEOUT, join(arg, rank, 4, 500));
}

TEST(a_rank_that_is_missing_is_named_in_all_processes)
{
    struct procs procs;

    procs_start(&procs, 3, join_some_of_four, sizeof(struct shared));
    procs_expect_success(&procs);
}

static void
join_with_another_size(int rank, void *arg)
{
    struct shared *shared = arg;

    test_expect_error("EI0005: rank 2 says there are 5 ranks, rank ");
    if (rank == 2)
        await_joining(shared, 2);
    EXPECT_EQ(HCCL_E_PARA, join(shared, rank, rank == 2 ? 5 : 4, LONG_MS));
}

TEST(differing_sizes_are_told_in_all_processes)
{
    struct procs procs;

    procs_start(&procs, 3, join_with_another_size, sizeof(struct shared));
    procs_expect_success(&procs);
}

/* ---- Several, many ---- */

struct twice {
    struct shared *shared;
    int which, rank;
    HcclResult rc;
    pthread_t thread;
};

static void *
join_one_of_two(void *arg)
{
    struct twice *twice = arg;

    twice->rc =
        join_and_check(&twice->shared->info[twice->which], 4, (uint32_t)twice->rank, LONG_MS);
    return NULL;
}

/* Two communicators of the same four processes, at once; ranks are counted from different ends. */
static void
join_both(int rank, void *arg)
{
    struct shared *shared = arg;
    struct twice twice[2] = {{.shared = shared, .which = 0, .rank = rank},
                             {.shared = shared, .which = 1, .rank = 3 - rank}};

    if (rank < 2) {
        EXPECT_EQ(HCCL_SUCCESS, bs_root_create(&shared->info[rank]));
        atomic_fetch_add(&shared->info_ready, 1);
    }
    procs_await(&shared->info_ready, 2);
    for (int i = 0; i < 2; i++)
        EXPECT_EQ(0, pthread_create(&twice[i].thread, NULL, join_one_of_two, &twice[i]));
    for (int i = 0; i < 2; i++) {
        EXPECT_EQ(0, pthread_join(twice[i].thread, NULL));
        EXPECT_EQ(HCCL_SUCCESS, twice[i].rc);
    }
}

TEST(two_communicators_are_made_at_once)
{
    struct procs procs;

    procs_start(&procs, 4, join_both, sizeof(struct shared));
    procs_expect_success(&procs);
}

static void
join_many(int rank, void *arg)
{
    EXPECT_EQ(HCCL_SUCCESS, join(arg, rank, MOST_RANKS, LONG_MS));
}

TEST(sixty_four_processes_join)
{
    struct procs procs;

    procs_start(&procs, MOST_RANKS, join_many, sizeof(struct shared));
    procs_expect_success(&procs);
}

static void
ignore_alarm(int signum)
{
    (void)signum;
}

static void
join_under_alarm(int rank, void *arg)
{
    struct sigaction action = {.sa_handler = ignore_alarm}; /* no SA_RESTART */
    struct itimerval often = {.it_interval = {.tv_usec = 1000}, .it_value = {.tv_usec = 1000}};
    struct itimerval never = {.it_value = {0}};

    EXPECT_EQ(0, sigaction(SIGALRM, &action, NULL));
    EXPECT_EQ(0, setitimer(ITIMER_REAL, &often, NULL));
    for (int wait = 0; rank > 1 && wait < rank * 20; wait++)
        usleep(1000); /* so that the others are interrupted while they wait */
    EXPECT_EQ(HCCL_SUCCESS, join(arg, rank, 4, LONG_MS));
    EXPECT_EQ(0, setitimer(ITIMER_REAL, &never, NULL));
}

TEST(a_storm_of_signals_interrupts_no_process)
{
    struct procs procs;

    procs_start(&procs, 4, join_under_alarm, sizeof(struct shared));
    procs_expect_success(&procs);
}
