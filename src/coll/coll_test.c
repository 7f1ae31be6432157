/* SPDX-License-Identifier: BSD-3-Clause */
/* What can be seen of one rank: settings, parts, choices. What ranks do together: tests/. */
#include "coll/coll.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"
#include "base/alloc.h"
#include "hccl/hccl_comm.h"
#include "hccl/hccl_inner.h"
#include "runtime/runtime.h"
#include "tests/support/test.h"

/* A communicator of one rank, and what it keeps. */
static struct coll *
coll_alone(const char *algo, uint32_t mode, HcclComm *handle, struct comm **comm)
{
    HcclCommConfig config;
    HcclRootInfo info;
    struct coll *coll;

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(HCCL_SUCCESS, HcclGetRootInfo(&info));
    HcclCommConfigInit(&config);
    snprintf(config.hcclAlgo, sizeof config.hcclAlgo, "%s", algo);
    config.hcclOpExpansionMode = mode;
    EXPECT_EQ(HCCL_SUCCESS, HcclCommInitRootInfoConfig(1, &info, 0, &config, handle));
    EXPECT_EQ(HCCL_SUCCESS, comm_hold(*handle, comm));
    EXPECT_EQ(HCCL_SUCCESS, coll_get(*comm, *handle, &coll));
    return coll;
}

static void
coll_end(HcclComm handle, struct comm *comm)
{
    comm_release(comm);
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(handle));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
}

TEST(algorithms_of_the_original_names_are_forced)
{
    struct comm *comm;
    HcclComm handle;
    struct coll *coll = coll_alone("level0:NA;level1:ring", 0, &handle, &comm);

    for (enum coll_kind kind = 0; kind < COLL_KINDS; kind++)
        EXPECT_EQ(COLL_RING, coll->forced[kind]);
    coll_end(handle, comm);
    coll = coll_alone("allreduce=level0:NA;level1:H-D_R/alltoall=level0:NA;level1:pairwise", 0,
                      &handle, &comm);
    EXPECT_EQ(COLL_HALVING, coll->forced[COLL_ALL_REDUCE]);
    EXPECT_EQ(COLL_MESH, coll->forced[COLL_ALL_TO_ALL]);
    EXPECT_EQ(COLL_MESH, coll->forced[COLL_ALL_TO_ALL_VC]);
    EXPECT_EQ(COLL_AUTO, coll->forced[COLL_BROADCAST]);
    coll_end(handle, comm);
}

TEST(the_knob_comes_before_the_configuration)
{
    struct comm *comm;
    HcclComm handle;
    struct coll *coll;

    setenv("HCOMM_COLL_ALGO", "tree", 1);
    coll = coll_alone("level0:NA;level1:ring", 0, &handle, &comm);
    for (enum coll_kind kind = 0; kind < COLL_KINDS; kind++)
        EXPECT_EQ(COLL_TREE, coll->forced[kind]);
    coll_end(handle, comm);
}

TEST(the_configuration_chooses_the_engine)
{
    struct comm *comm;
    HcclComm handle;

    EXPECT_TRUE(coll_alone("", 0, &handle, &comm)->on_aicpu);
    coll_end(handle, comm);
    EXPECT_FALSE(coll_alone("", 1, &handle, &comm)->on_aicpu);
    coll_end(handle, comm);
    setenv("HCOMM_COLL_ENGINE", "cpu_ts", 1);
    EXPECT_TRUE(coll_alone("", 2, &handle, &comm)->on_aicpu);
    coll_end(handle, comm);
    EXPECT_FALSE(coll_alone("", 0, &handle, &comm)->on_aicpu);
    coll_end(handle, comm);
}

TEST(a_wrong_knob_is_refused_by_the_call)
{
    struct comm *comm;
    HcclComm handle;
    HcclRootInfo info;
    struct coll *coll;

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(HCCL_SUCCESS, HcclGetRootInfo(&info));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommInitRootInfo(1, &info, 0, &handle));
    EXPECT_EQ(HCCL_SUCCESS, comm_hold(handle, &comm));
    setenv("HCOMM_COLL_ALGO", "fastest", 1);
    test_expect_error("HCOMM_COLL_ALGO");
    EXPECT_EQ(HCCL_E_PARA, coll_get(comm, handle, &coll));
    unsetenv("HCOMM_COLL_ALGO"); /* and nothing is left of the attempt */
    EXPECT_EQ(HCCL_SUCCESS, coll_get(comm, handle, &coll));
    coll_end(handle, comm);
}

/* Parts follow each other without gap or overlap, and all but the last ones begin at lines. */
TEST(parts_cover_the_whole)
{
    static const uint32_t sizes[] = {1, 2, 4, 8, 16};

    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        struct coll_op op = {.size = sizes[s]};

        for (uint64_t total = 0; total < 3000; total = total * 3 / 2 + 1) {
            for (uint32_t num = 1; num < 70; num += 3) {
                uint64_t at = 0, first = part_of(&op, total, num, 0).len;

                for (uint32_t i = 0; i < num; i++) {
                    struct coll_part part = part_of(&op, total, num, i);

                    EXPECT_EQ(at, part.at);
                    EXPECT_TRUE(part.len <= first);
                    at += part.len;
                }
                EXPECT_EQ(total * op.size, at);
                EXPECT_TRUE(first <= COLL_LINE || first % COLL_LINE == 0 ||
                            first == total * op.size);
            }
        }
    }
}

TEST(slices_end_where_the_part_does)
{
    const struct coll_part part = {.at = 100, .len = 50};

    EXPECT_EQ(100, part_slice(part, 0, 30).at);
    EXPECT_EQ(30, part_slice(part, 0, 30).len);
    EXPECT_EQ(130, part_slice(part, 30, 30).at);
    EXPECT_EQ(20, part_slice(part, 30, 30).len);
    EXPECT_EQ(0, part_slice(part, 60, 30).len);
}

/* Whatever the numbers, what is chosen can do it; and forced ones give way where they cannot. */
TEST(what_is_chosen_does_the_operation)
{
    struct comm *comm;
    HcclComm handle;
    struct coll *coll = coll_alone("", 0, &handle, &comm);

    for (uint32_t ranks = 1; ranks <= 64; ranks++) {
        coll->rank_num = ranks;
        for (enum coll_kind kind = 0; kind < COLL_KINDS; kind++) {
            for (uint64_t count = 0; count < 1u << 24; count = count * 16 + 1) {
                struct coll_op op = {.kind = kind, .size = 4, .count = count};

                for (enum coll_algo algo = COLL_AUTO; algo < COLL_ALGOS; algo++) {
                    coll->forced[kind] = algo;
                    coll_choose(coll, &op);
                    EXPECT_TRUE(op.algo > COLL_AUTO && op.algo < COLL_ALGOS);
                    EXPECT_TRUE(ranks > 1 || op.algo == COLL_MESH);
                    EXPECT_TRUE(coll_algo_does(op.algo, kind, ranks));
                }
            }
        }
    }
    coll->rank_num = 1;
    coll_end(handle, comm);
}

/* Whichever allocation fails in the first operation, it says so; and one that failed before it was
 * queued can be called again. */
TEST(the_first_operation_survives_every_failed_allocation)
{
    HcclResult rc = HCCL_E_MEMORY;
    struct coll_model model;
    uint32_t again = 0;

    test_allow_errors();
    coll_measure(&model); /* which does without memory, once in a process */
    for (long nth = 0; rc != HCCL_SUCCESS; nth++) {
        int32_t send[4] = {1, 2, 3, 4}, recv[4] = {0};
        aclrtStream stream;
        struct comm *comm;
        HcclComm handle;

        (void)coll_alone("", 2, &handle, &comm);
        EXPECT_EQ(ACL_SUCCESS, aclrtCreateStream(&stream));
        hc_alloc_fail_nth(nth);
        rc = HcclAllReduceInner(send, recv, 4, HCCL_DATA_TYPE_INT32, HCCL_REDUCE_SUM, handle,
                                stream);
        hc_alloc_fail_nth(-1);
        if (rc != HCCL_SUCCESS && !rt_fate_broken(comm_fate(comm), (char[400]){0}, 400)) {
            again++;
            EXPECT_EQ(HCCL_SUCCESS, HcclAllReduceInner(send, recv, 4, HCCL_DATA_TYPE_INT32,
                                                       HCCL_REDUCE_SUM, handle, stream));
            EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(stream));
            EXPECT_EQ(4, recv[3]);
        } else {
            (void)aclrtSynchronizeStream(stream);
        }
        EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(stream));
        coll_end(handle, comm);
    }
    EXPECT_TRUE(again > 3);
}
