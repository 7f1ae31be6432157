/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank that ends in order, but early, and leaves everything as it is. */
#include <unistd.h>

#include "tests/support/prank.h"
#include "tests/support/procs.h"
#include "tests/support/test.h"

#ifdef __SANITIZE_ADDRESS__
/* Leaving everything behind is what is tested here. */
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);

int
__lsan_is_turned_off(void)
{
    return 1;
}
#endif

struct meeting {
    HcclRootInfo info;
    atomic_int made;
};

static void
leave_early(int rank, void *shared)
{
    struct meeting *meeting = shared;
    uint32_t peer = 1 - (uint32_t)rank;
    struct prank prank;
    uint64_t got = 0;

    EXPECT_EQ(ACL_SUCCESS, aclInit(NULL));
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    if (rank == 0) {
        EXPECT_EQ(HCCL_SUCCESS, HcclGetRootInfo(&meeting->info));
        atomic_store(&meeting->made, 1);
    }
    procs_await(&meeting->made, 1);
    EXPECT_EQ(HCCL_SUCCESS, prank_open(&prank, &meeting->info, 2, (uint32_t)rank, 0));
    EXPECT_EQ(HCCL_SUCCESS, prank_link(&prank, UINT32_MAX));
    EXPECT_EQ(HCCL_SUCCESS, prank_pass(&prank, peer, peer, 7, &got));
    if (rank == 1) {
        usleep(20000); /* rank 0 waits */
        exit(0);
    }
    test_expect_error("rank 1 exited (process "); /* not "died" */
    EXPECT_NE(HCCL_SUCCESS, prank_pass(&prank, 1, 1, 5, &got));
    EXPECT_EQ(HCCL_SUCCESS, prank_close(&prank));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceForce(0));
    EXPECT_EQ(ACL_SUCCESS, aclFinalize());
}

TEST(a_rank_that_exits_early_is_said_to_have_exited)
{
    struct procs procs;

    procs_start(&procs, 2, leave_early, sizeof(struct meeting));
    procs_expect_success(&procs);
}
