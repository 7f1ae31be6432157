/* SPDX-License-Identifier: BSD-3-Clause */
/* Many more rank processes than cores. */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/support/prank.h"
#include "tests/support/procs.h"
#include "tests/support/test.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CROWD 16u
#define HORDE 24u
#else
#define CROWD 64u
#define HORDE 200u
#endif

#define LAPS 50u

struct crowd {
    HcclRootInfo info;
    atomic_int made, linked, done;
    uint32_t num;
};

static void
meet(struct crowd *crowd, uint32_t rank, struct prank *prank)
{
    EXPECT_EQ(ACL_SUCCESS, aclInit(NULL));
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    if (rank == 0) {
        EXPECT_EQ(HCCL_SUCCESS, HcclGetRootInfo(&crowd->info));
        atomic_store(&crowd->made, 1);
    }
    procs_await(&crowd->made, 1);
    EXPECT_EQ(HCCL_SUCCESS, prank_open(prank, &crowd->info, crowd->num, rank, 0));
}

static void
part(struct crowd *crowd, struct prank *prank)
{
    atomic_fetch_add(&crowd->done, 1);
    procs_await(&crowd->done, (int)crowd->num);
    EXPECT_EQ(HCCL_SUCCESS, prank_close(prank));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceForce(0));
    EXPECT_EQ(ACL_SUCCESS, aclFinalize());
}

static void
ring(struct prank *prank)
{
    uint32_t next = (prank->rank + 1) % prank->num;
    uint32_t previous = (prank->rank + prank->num - 1) % prank->num;
    uint64_t token = prank->rank;

    /* One acquire for both: blocking for one neighbour after the other would go round the ring. */
    EXPECT_EQ(HCCL_SUCCESS, prank_link(prank, next > previous ? previous : next));
    EXPECT_EQ(HCCL_SUCCESS, prank_link(prank, next > previous ? next : previous));
    for (uint32_t lap = 0; lap < LAPS; lap++) /* each token goes on by one rank a lap */
        EXPECT_EQ(HCCL_SUCCESS, prank_pass(prank, next, previous, token, &token));
    EXPECT_EQ((prank->rank + prank->num - LAPS % prank->num) % prank->num, token);
}

/* In round k rank r meets rank r ^ k. */
static void
all_pairs(struct prank *prank)
{
    EXPECT_EQ(HCCL_SUCCESS, prank_link(prank, UINT32_MAX));
    for (uint32_t k = 1; k < prank->num; k++) {
        uint32_t peer = prank->rank ^ k;
        uint64_t got = 0;

        EXPECT_EQ(HCCL_SUCCESS, prank_pass(prank, peer, peer, 1000 * prank->rank + peer, &got));
        EXPECT_EQ(1000 * peer + prank->rank, got);
    }
}

static void
in_a_crowd(int rank, void *shared)
{
    struct crowd *crowd = shared;
    struct prank prank;

    test_time_limit(240);
    meet(crowd, (uint32_t)rank, &prank);
    ring(&prank);
    all_pairs(&prank);
    part(crowd, &prank);
}

TEST(a_crowd_of_processes_completes_a_ring_and_all_pairs)
{
    struct procs procs;
    struct crowd *crowd = procs_prepare(&procs, sizeof *crowd);

    test_time_limit(240);
    crowd->num = CROWD; /* a power of two: see all_pairs */
    procs_fork(&procs, (int)CROWD, in_a_crowd);
    procs_expect_success(&procs);
}

/* ---- many ranks that mostly idle, with few descriptors ---- */

static uint64_t
cpu_ms(void)
{
    struct timespec used;

    EXPECT_EQ(0, clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used));
    return (uint64_t)used.tv_sec * 1000 + (uint64_t)used.tv_nsec / 1000000;
}

static void
in_a_horde(int rank, void *shared)
{
    struct rlimit limit = {512, 512};
    struct crowd *crowd = shared;
    struct prank prank;
    uint64_t before;

    test_time_limit(240);
    EXPECT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
    meet(crowd, (uint32_t)rank, &prank);
    ring(&prank);
    atomic_fetch_add(&crowd->linked, 1);
    procs_await(&crowd->linked, (int)crowd->num);
    before = cpu_ms();
    sleep(4);
    EXPECT_TRUE(cpu_ms() - before < 40); /* CPU time, not wall time: 1 % of one core */
    part(crowd, &prank);
}

TEST(two_hundred_ranks_with_few_descriptors_idle_without_using_the_cpu)
{
    struct procs procs;
    struct crowd *crowd = procs_prepare(&procs, sizeof *crowd);

    test_time_limit(240);
    crowd->num = HORDE;
    procs_fork(&procs, (int)HORDE, in_a_horde);
    procs_expect_success(&procs);
}
