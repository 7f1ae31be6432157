/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank is killed at a moment nobody chose: while it joins, connects, sends, receives, waits,
 * destroys. The others must come to an end, with an error or because they were done, must be able
 * to make a communicator of those that are left, and must leave nothing behind.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/support/prank.h"
#include "tests/support/procs.h"
#include "tests/support/test.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define KILLS 40
#define JOIN_MS "10000"
#define LATEST_US 60000u
#else
#define KILLS 500
#define JOIN_MS "1500"
#define LATEST_US 20000u
#endif

#define NUM 3
#define PASSES 12 /* before a rank destroys its communicator and makes it again */

struct round {
    HcclRootInfo first[4], second; /* root infos: of the ranks, of those that are left */
    atomic_int first_made, second_made;
    atomic_int victim; /* its rank plus one, once it is dead */
    atomic_int failed; /* survivors that got an error */
    atomic_int waited; /* those of them that waited for one who had never joined */
    _Atomic uint64_t died_ns, late_ns;
};

static struct round *
round_of(void *shared)
{
    return shared;
}

/* Whatever the others do, until an error comes or the work is over. */
static HcclResult
work(struct round *round, int rank)
{
    HcclResult rc = HCCL_SUCCESS;

    for (int life = 0; life < 4 && rc == HCCL_SUCCESS; life++) {
        struct prank prank = {0};
        uint64_t got = 0;

        if (rank == 0) {
            rc = HcclGetRootInfo(&round->first[life]);
            atomic_store(&round->first_made, life + 1);
        }
        while (rc == HCCL_SUCCESS && atomic_load(&round->first_made) <= life) {
            if (atomic_load(&round->victim) != 0)
                return HCCL_E_REMOTE; /* the root went before it made one */
            usleep(200);
        }
        if (rc == HCCL_SUCCESS)
            rc = prank_open(&prank, &round->first[life], NUM, (uint32_t)rank, 0);
        if (rc == HCCL_SUCCESS)
            rc = prank_link(&prank, UINT32_MAX);
        for (uint64_t i = 0; i < PASSES && rc == HCCL_SUCCESS; i++) {
            uint32_t next = (uint32_t)(rank + 1) % NUM, previous = (uint32_t)(rank + NUM - 1) % NUM;

            rc = prank_pass(&prank, next, previous, 1000 * i + (uint64_t)rank, &got);
            if (rc == HCCL_SUCCESS)
                EXPECT_EQ(1000 * i + previous, got);
        }
        EXPECT_EQ(HCCL_SUCCESS, prank_close(&prank));
    }
    return rc;
}

/* A communicator of the two that are left. */
static void
go_on(struct round *round, int rank, int victim)
{
    uint32_t now = (uint32_t)(rank > victim ? rank - 1 : rank);
    struct prank prank = {0};
    uint64_t got = 0;

    if (now == 0) {
        EXPECT_EQ(HCCL_SUCCESS, HcclGetRootInfo(&round->second));
        atomic_store(&round->second_made, 1);
    }
    procs_await(&round->second_made, 1);
    EXPECT_EQ(HCCL_SUCCESS, prank_open(&prank, &round->second, NUM - 1, now, 0));
    EXPECT_EQ(HCCL_SUCCESS, prank_link(&prank, UINT32_MAX));
    for (uint64_t i = 0; i < 3; i++) {
        EXPECT_EQ(HCCL_SUCCESS, prank_pass(&prank, 1 - now, 1 - now, i + now, &got));
        EXPECT_EQ(i + 1 - now, got);
    }
    EXPECT_EQ(HCCL_SUCCESS, prank_close(&prank));
}

static void
survive(int rank, void *shared)
{
    struct round *round = round_of(shared);
    HcclResult rc;

    test_allow_errors();
    EXPECT_EQ(ACL_SUCCESS, aclInit(NULL));
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    /* Nobody knows of a rank that is killed before it joined: the others wait as long as this. */
    setenv("HCOMM_CONNECT_TIMEOUT", JOIN_MS, 1);
    rc = work(round, rank);
    unsetenv("HCOMM_CONNECT_TIMEOUT");
    if (rc != HCCL_SUCCESS) {
        uint64_t died = atomic_load(&round->died_ns), now = hc_now_ns();

        atomic_fetch_add(&round->failed, 1);
        if (rc != HCCL_E_TIMEOUT && died != 0 && now > died &&
            now - died > atomic_load(&round->late_ns))
            atomic_store(&round->late_ns, now - died);
        atomic_fetch_add(&round->waited, rc == HCCL_E_TIMEOUT);
    }
    procs_await(&round->victim, 1);
    go_on(round, rank, atomic_load(&round->victim) - 1);
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceForce(0));
    EXPECT_EQ(ACL_SUCCESS, aclFinalize());
}

static uint32_t
random_number(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static int
entries(const char *path)
{
    DIR *dir = opendir(path);
    struct dirent *entry;
    int count = 0;

    if (dir == NULL)
        return 0;
    while ((entry = readdir(dir)) != NULL)
        count += strstr(entry->d_name, "hcomm") != NULL; /* tests of MPI may run, too */
    closedir(dir);
    return count;
}

TEST(whenever_a_rank_is_killed_the_others_go_on)
{
    uint64_t worst_ns = 0;
    uint32_t seed = 20261129;
    int noticed = 0, waited = 0, before = entries("/dev/shm");

    test_time_limit(400);
    for (int i = 0; i < KILLS; i++) {
        struct procs procs;
        struct round *round;
        int victim = (int)(random_number(&seed) % NUM);

        procs_start(&procs, NUM, survive, sizeof *round);
        round = procs.shared;
        usleep(random_number(&seed) % LATEST_US);
        atomic_store(&round->died_ns, hc_now_ns());
        procs_kill(&procs, victim);
        atomic_store(&round->victim, victim + 1);
        for (int other = 0; other < NUM; other++) {
            if (other != victim)
                EXPECT_EQ(0, procs_wait(&procs, other));
        }
        noticed += atomic_load(&round->failed);
        waited += atomic_load(&round->waited);
        if (atomic_load(&round->late_ns) > worst_ns)
            worst_ns = atomic_load(&round->late_ns);
        procs_expect_success(&procs);
    }
    EXPECT_EQ(before, entries("/dev/shm"));
    printf("%d kills; %d survivors waited in vain for one who had not joined, %d others had an "
           "error, the last %.0f ms after the kill\n",
           KILLS, waited, noticed - waited, (double)worst_ns / 1e6);
    EXPECT_TRUE(noticed > waited);
}
