/* SPDX-License-Identifier: BSD-3-Clause */
/* Roots and ranks whose processes run out of descriptors. */
#include "bootstrap/members_test.h"

static void
run_short(int rank, void *arg)
{
    struct shared *shared = arg;
    struct rlimit before;

    if (rank > 0) {
        EXPECT_EQ(HCCL_SUCCESS, join(shared, rank, 12, LONG_MS));
        return;
    }
    EXPECT_EQ(HCCL_SUCCESS, bs_root_create(&shared->info[0]));
    EXPECT_EQ(0, getrlimit(RLIMIT_NOFILE, &before));
    leave_descriptors(4);
    atomic_store(&shared->info_ready, 1);
    struct rank own = {.info = &shared->info[0], .n_ranks = 12, .timeout_ms = LONG_MS};
    EXPECT_EQ(0, pthread_create(&own.thread, NULL, rank_main, &own));
    while (test_logged("cannot take ranks in for the moment: Too many open files: all ") == 0)
        usleep(1000);
    EXPECT_EQ(0, setrlimit(RLIMIT_NOFILE, &before));
    pthread_join(own.thread, NULL);
    EXPECT_EQ(HCCL_SUCCESS, own.rc);
    EXPECT_EQ(1, test_logged("cannot take ranks in")); /* once */
}

TEST(a_root_that_runs_short_of_descriptors_says_so_and_goes_on_when_there_are_more)
{
    struct procs procs;

    procs_start(&procs, 12, run_short, sizeof(struct shared));
    procs_expect_success(&procs);
}

static void
stay_short(int rank, void *arg)
{
    struct shared *shared = arg;

    if (rank == 0) {
        EXPECT_EQ(HCCL_SUCCESS, bs_root_create(&shared->info[0]));
        leave_descriptors(3);
        atomic_store(&shared->info_ready, 1);
        test_expect_error("; the root ran out of descriptors, it may have ");
        EXPECT_EQ(HCCL_E_TIMEOUT, join_and_check(&shared->info[0], 8, 0, 1000));
        return;
    }
    test_allow_errors(); /* some were let in and are told, others find nobody */
    EXPECT_NE(HCCL_SUCCESS, join(shared, rank, 8, 4000));
}

TEST(ranks_that_a_root_has_no_descriptors_for_are_missing_for_that_reason)
{
    struct procs procs;

    procs_start(&procs, 8, stay_short, sizeof(struct shared));
    procs_expect_success(&procs);
}

static void
join_without_descriptors(int rank, void *arg)
{
    struct shared *shared = arg;

    if (rank == 0) {
        publish_root(shared);
        procs_await(&shared->done, 1);
        EXPECT_EQ(HCCL_SUCCESS, join_and_check(&shared->info[0], 2, 0, LONG_MS));
        return;
    }
    struct rlimit before;
    EXPECT_EQ(0, getrlimit(RLIMIT_NOFILE, &before));
    procs_await(&shared->info_ready, 1);
    leave_descriptors(0);
    test_expect_error("EI0006: cannot dial the root of ");
    test_expect_error("raise the limit (RLIMIT_NOFILE, ulimit -n)");
    EXPECT_EQ(HCCL_E_SYSCALL, join_and_check(&shared->info[0], 2, 1, LONG_MS));
    EXPECT_EQ(0, setrlimit(RLIMIT_NOFILE, &before));
    atomic_store(&shared->done, 1);
    EXPECT_EQ(HCCL_SUCCESS, join_and_check(&shared->info[0], 2, 1, LONG_MS)); /* no harm done */
}

TEST(a_rank_without_descriptors_names_the_limit)
{
    struct procs procs;

    procs_start(&procs, 2, join_without_descriptors, sizeof(struct shared));
    procs_expect_success(&procs);
}

TEST(a_root_without_descriptors_names_the_limit)
{
    struct rlimit before;
    HcclRootInfo info;

    EXPECT_EQ(0, getrlimit(RLIMIT_NOFILE, &before));
    test_expect_error("raise the limit (RLIMIT_NOFILE, ulimit -n)");
    for (rlim_t more = 0; more < 3; more++) {
        leave_descriptors(more);
        EXPECT_EQ(HCCL_E_SYSCALL, bs_root_create(&info));
        EXPECT_EQ((int)more + 1, test_logged("(RLIMIT_NOFILE, ulimit -n)"));
        EXPECT_EQ(0, setrlimit(RLIMIT_NOFILE, &before));
    }
    leave_descriptors(3); /* for listening, and the server's two */
    EXPECT_EQ(HCCL_SUCCESS, bs_root_create(&info));
    EXPECT_EQ(0, setrlimit(RLIMIT_NOFILE, &before));
    EXPECT_EQ(HCCL_SUCCESS, join_and_check(&info, 1, 0, 5000));
}
