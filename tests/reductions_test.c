/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions by the primitives: every data type and operator, locally, into the peer's memory and
 * out of it. 2 op 3 is exact in every type, so the bits are known.
 */
#define _GNU_SOURCE
#include "tests/support/ranks.h"

#define COUNT 1000u

/* The bits of 2, 3, 5 and 6. */
struct type {
    HcommDataType type;
    uint32_t size;
    uint64_t two, three, five, six;
};

static const struct type types[] = {
    {HCOMM_DATA_TYPE_INT8, 1, 2, 3, 5, 6},
    {HCOMM_DATA_TYPE_UINT8, 1, 2, 3, 5, 6},
    {HCOMM_DATA_TYPE_INT16, 2, 2, 3, 5, 6},
    {HCOMM_DATA_TYPE_UINT16, 2, 2, 3, 5, 6},
    {HCOMM_DATA_TYPE_INT32, 4, 2, 3, 5, 6},
    {HCOMM_DATA_TYPE_UINT32, 4, 2, 3, 5, 6},
    {HCOMM_DATA_TYPE_INT64, 8, 2, 3, 5, 6},
    {HCOMM_DATA_TYPE_UINT64, 8, 2, 3, 5, 6},
    {HCOMM_DATA_TYPE_INT128, 16, 2, 3, 5, 6},
    {HCOMM_DATA_TYPE_FP16, 2, 0x4000, 0x4200, 0x4500, 0x4600},
    {HCOMM_DATA_TYPE_BFP16, 2, 0x4000, 0x4040, 0x40A0, 0x40C0},
    {HCOMM_DATA_TYPE_FP32, 4, 0x40000000, 0x40400000, 0x40A00000, 0x40C00000},
    {HCOMM_DATA_TYPE_FP64, 8, 0x4000000000000000, 0x4008000000000000, 0x4014000000000000,
     0x4018000000000000},
    {HCOMM_DATA_TYPE_FP8E4M3, 1, 0x40, 0x44, 0x4A, 0x4C},
    {HCOMM_DATA_TYPE_FP8E5M2, 1, 0x40, 0x42, 0x45, 0x46},
};

#define TYPES (sizeof types / sizeof types[0])

static const HcommReduceOp ops[] = {HCOMM_REDUCE_SUM, HCOMM_REDUCE_PROD, HCOMM_REDUCE_MAX,
                                    HCOMM_REDUCE_MIN};

static uint64_t
result_of(const struct type *type, HcommReduceOp op)
{
    switch (op) {
    case HCOMM_REDUCE_SUM:
        return type->five;
    case HCOMM_REDUCE_PROD:
        return type->six;
    case HCOMM_REDUCE_MAX:
        return type->three;
    default:
        return type->two;
    }
}

static void
fill(char *at, const struct type *type, uint64_t bits)
{
    memset(at, 0, (size_t)COUNT * type->size);
    for (uint32_t i = 0; i < COUNT; i++) /* the least significant byte comes first */
        memcpy(at + i * type->size, &bits, type->size < 8 ? type->size : 8);
}

/* The first COUNT elements are `bits`, and what follows has not been touched. */
static void
expect_filled(const char *at, const struct type *type, uint64_t bits)
{
    static char wanted[COUNT * 16];
    static const char zeros[64];

    fill(wanted, type, bits);
    EXPECT_MEMEQ(wanted, at, (size_t)COUNT * type->size);
    EXPECT_MEMEQ(zeros, at + (size_t)COUNT * type->size, sizeof zeros);
}

/* Three areas of the HCCL buffer of each rank. */
#define A 0
#define B 65536
#define C 131072

static void
reduce_each_way(struct rank *ranks, struct link *links, const struct type *type, HcommReduceOp op)
{
    char *own = ranks[0].buf, *theirs = ranks[1].buf;
    ThreadHandle thread = ranks[0].thread;
    char *peer = links[0].peer_buf;

    memset(own, 0, 3 * 65536);
    memset(theirs, 0, 3 * 65536);
    fill(own + A, type, type->two);
    fill(own + B, type, type->three);
    fill(own + C, type, type->three);
    fill(theirs + A, type, type->two);
    fill(theirs + B, type, type->two);
    EXPECT_EQ(0, HcommLocalReduceOnThread(thread, own + A, own + B, COUNT, type->type, op));
    EXPECT_EQ(0, HcommWriteReduceOnThread(thread, links[0].channel, peer + A, own + B, COUNT,
                                          type->type, op));
    EXPECT_EQ(0, HcommReadReduceOnThread(thread, links[0].channel, own + C, peer + B, COUNT,
                                         type->type, op));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(ranks[0].stream));
    expect_filled(own + A, type, result_of(type, op));
    expect_filled(own + B, type, type->three);
    expect_filled(own + C, type, result_of(type, op));
    expect_filled(theirs + A, type, result_of(type, op));
    expect_filled(theirs + B, type, type->two);
}

TEST(every_type_and_operator_reduces_locally_and_at_both_ends)
{
    struct rank ranks[2];
    struct link links[2];

    ranks_open(ranks, 2, COMM_ENGINE_AICPU_TS);
    link_ranks(&ranks[0], &ranks[1], COMM_ENGINE_AICPU_TS, &links[0], &links[1]);
    for (size_t i = 0; i < TYPES; i++) {
        for (size_t k = 0; k < sizeof ops / sizeof ops[0]; k++)
            reduce_each_way(ranks, links, &types[i], ops[k]);
    }
    ranks_close(ranks, 2);
}

TEST(what_cannot_be_reduced_is_refused_before_anything_is_written)
{
    static const int bad_types[] = {HCOMM_DATA_TYPE_HIF8,    HCOMM_DATA_TYPE_FP8E8M0, 13, 18, -1,
                                    HCOMM_DATA_TYPE_RESERVED};
    struct rank ranks[2];
    struct link links[2];
    static const char zeros[256];

    ranks_open(ranks, 2, COMM_ENGINE_CPU_TS);
    link_ranks(&ranks[0], &ranks[1], COMM_ENGINE_CPU_TS, &links[0], &links[1]);
    memset(ranks[0].buf, 0x44, 128);
    test_expect_error("does not exist for data type");
    for (size_t i = 0; i < sizeof bad_types / sizeof bad_types[0]; i++) {
        HcommDataType type = (HcommDataType)bad_types[i];

        EXPECT_EQ(HCCL_E_PARA, HcommLocalReduceOnThread(ranks[0].thread, ranks[0].buf + 4096,
                                                        ranks[0].buf, 8, type, HCOMM_REDUCE_SUM));
        EXPECT_EQ(HCCL_E_PARA,
                  HcommWriteReduceOnThread(ranks[0].thread, links[0].channel, links[0].peer_buf,
                                           ranks[0].buf, 8, type, HCOMM_REDUCE_SUM));
    }
    EXPECT_EQ(HCCL_E_PARA, HcommReadReduceOnThread(ranks[0].thread, links[0].channel, ranks[0].buf,
                                                   links[0].peer_buf, 8, HCOMM_DATA_TYPE_INT32,
                                                   HCOMM_REDUCE_RESERVED));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(ranks[0].stream));
    EXPECT_MEMEQ(zeros, ranks[0].buf + 4096, sizeof zeros);
    EXPECT_MEMEQ(zeros, ranks[1].buf, sizeof zeros);
    ranks_close(ranks, 2);
}

/* Each takes the turn its predecessor gives it, so a float sum has one order, and one result. */
TEST(eight_ranks_accumulate_in_turn_on_the_same_elements)
{
    struct rank ranks[8];
    struct link to_root[8], from_root[8];
    float *sum;

    ranks_open(ranks, 8, COMM_ENGINE_AICPU_TS);
    sum = (float *)(void *)ranks[0].buf;
    for (uint32_t i = 1; i < 8; i++)
        link_ranks(&ranks[0], &ranks[i], COMM_ENGINE_AICPU_TS, &from_root[i], &to_root[i]);
    for (uint32_t i = 1; i < 8; i++) {
        float *mine = (float *)(void *)ranks[i].buf;
        ThreadHandle thread = ranks[i].thread;

        for (uint32_t k = 0; k < COUNT; k++)
            mine[k] = 1.0f / (float)(i + k);
        EXPECT_EQ(0, HcommChannelNotifyWaitOnThread(thread, to_root[i].channel, 0, 30));
        EXPECT_EQ(0, HcommWriteReduceWithNotifyOnThread(thread, to_root[i].channel,
                                                        to_root[i].peer_buf, mine, COUNT,
                                                        HCOMM_DATA_TYPE_FP32, HCOMM_REDUCE_SUM, 1));
        EXPECT_EQ(0, HcommChannelNotifyRecordOnThread(ranks[0].thread, from_root[i].channel, 0));
        EXPECT_EQ(0, HcommChannelNotifyWaitOnThread(ranks[0].thread, from_root[i].channel, 1, 30));
    }
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(ranks[0].stream));
    for (uint32_t k = 0; k < COUNT; k++) {
        float wanted = 0.0f;

        for (uint32_t i = 1; i < 8; i++)
            wanted += 1.0f / (float)(i + k);
        EXPECT_TRUE(sum[k] == wanted);
    }
    ranks_close(ranks, 8);
}
