/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of HCCL_ALGO. */
#include "comm/algo.h"
#include "tests/support/test.h"

TEST(every_form_of_the_text_is_taken)
{
    static const char *const good[] = {
        "level0:NA",
        "level0:NA;level1:ring;level2:pipeline",
        "level1:H-D_R",
        "level1:NHR",
        "level1:NHR_V1",
        "level1:NB",
        "level1:AHC",
        "level1:pairwise;level0:NA",
        "level2:H-D_R;level1:pipeline",
        "allreduce=level0:NA;level1:ring",
        "allgather=level1:NHR/reducescatter=level1:NB/allreduce=level1:ring/broadcast=level1:NHR/"
        "reduce=level1:H-D_R/scatter=level1:NB/alltoall=level0:NA;level1:pairwise",
    };
    char why[ALGO_WHY_LEN] = "";

    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        EXPECT_TRUE(algo_good(good[i], why));
        EXPECT_STREQ("", why);
    }
}

static void
expect_fault(const char *text, const char *why)
{
    char told[ALGO_WHY_LEN] = "";

    EXPECT_FALSE(algo_good(text, told));
    EXPECT_CONTAINS(why, told);
}

TEST(a_fault_is_shown_with_what_to_write)
{
    expect_fault("ring", "\"ring\" is no level: write level0:NA;level1:NAME");
    expect_fault(" level1:ring", "\" level1:ring\" is no level");
    expect_fault("level3:ring", "\"level3:ring\" is no level");
    expect_fault("level1", "\"level1\" is no level");
    expect_fault("level1:", "\"level1:\" names no algorithm of that level: take one of ring|H-D_R");
    expect_fault("level1:RING", "\"level1:RING\" names no algorithm");
    expect_fault("level0:ring", "\"level0:ring\" names no algorithm of that level: take one of NA");
    expect_fault("level2:pairwise", "\"level2:pairwise\" names no algorithm");
    expect_fault("level1:ring|NB", "names no algorithm");
    expect_fault("level1:ring:NB", "names no algorithm");
    expect_fault("level1:ring;", "\"\" is no level");
    expect_fault(";", "\"\" is no level");
    expect_fault("level1:ring;level1:NB", "\"level1\" comes twice");
    expect_fault("level1:ring/level2:NB", "\"level1:ring/level2:NB\" names no algorithm");
    expect_fault("=", "\"=\" is for no operation");
    expect_fault("gather=level1:ring", "write OP=LEVELS, where OP is one of allgather|");
    expect_fault("allreduce=", "\"\" is no level");
    expect_fault("allreduce=level1:ring/", "\"\" is for no operation");
    expect_fault("allreduce=level1:ring/level1:NB", "\"level1:NB\" is for no operation");
    expect_fault("allreduce=level1:ring/allreduce=level1:NB", "\"allreduce\" comes twice");
    expect_fault("allreduce=level1=ring", "\"level1=ring\" is no level");
    expect_fault("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
                 "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\" is no level");
}
