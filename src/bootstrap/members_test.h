/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks in processes of their own: what their tests share. */
#ifndef HC_BOOTSTRAP_MEMBERS_TEST_H
#define HC_BOOTSTRAP_MEMBERS_TEST_H

#include <stdatomic.h>

#include "bootstrap/bootstrap_test.h"
#include "tests/support/procs.h"

#define LONG_MS 50000 /* nobody should wait that long */

/* What the processes of a test see. */
struct shared {
    atomic_int info_ready, arrived, go, done;
    HcclRootInfo info[2];
    atomic_int pid[MOST_RANKS];
};

static inline void
publish_root(struct shared *shared)
{
    EXPECT_EQ(HCCL_SUCCESS, bs_root_create(&shared->info[0]));
    atomic_store(&shared->info_ready, 1);
}

/* Joins as one of `n_ranks`; rank 0 makes the root info. */
static inline HcclResult
join(struct shared *shared, int rank, uint32_t n_ranks, int64_t timeout_ms)
{
    if (rank == 0)
        publish_root(shared);
    else
        procs_await(&shared->info_ready, 1);
    atomic_store(&shared->pid[rank], getpid());
    atomic_fetch_add(&shared->arrived, 1);
    return join_and_check(&shared->info[0], n_ranks, (uint32_t)rank, timeout_ms);
}

/* `num` processes are in their joins, as far as one can see from outside. */
static inline void
await_joining(struct shared *shared, int num)
{
    procs_await(&shared->arrived, num);
    usleep(100000);
}

#endif
