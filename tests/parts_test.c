/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives, and what HcclSend does, in parts of a communicator; a suspended one has none. */
#define _GNU_SOURCE
#include "hccl/hccl.h"
#include "tests/support/two_sided.h"

#define RANKS 4u
#define COUNT 1000u

static HcclComm
make_part(struct side *side, const uint32_t *ranks, uint64_t id)
{
    uint32_t list[] = {ranks[0], ranks[1]};
    HcclCommConfig config;
    HcclComm sub = NULL;

    HcclCommConfigInit(&config);
    config.hcclBufferSize = 1;
    OK(HcclCreateSubCommConfig(&side->comm, 2, list, id, ranks[1] == side->rank, &config, &sub));
    return sub;
}

/* The sum over the members, whose ranks in the whole add up to `ranks`. */
static void
sum_up(HcclComm comm, uint32_t own, uint32_t ranks, aclrtStream stream)
{
    int32_t *memory = memory_get(DEVICE, 2 * COUNT * sizeof *memory);

    for (uint32_t i = 0; i < COUNT; i++)
        memory[i] = (int32_t)(i * own);
    OK(HcclAllReduce(memory, memory + COUNT, COUNT, HCCL_DATA_TYPE_INT32, HCCL_REDUCE_SUM, comm,
                     stream));
    OK(aclrtSynchronizeStream(stream));
    for (uint32_t i = 0; i < COUNT; i++)
        MUST_EQ(i * ranks, memory[COUNT + i]);
    memory_put(DEVICE, memory);
}

/* A number from member 0 to member 1. */
static void
pass_on(HcclComm comm, uint64_t number, aclrtStream stream)
{
    uint64_t *memory = memory_get(DEVICE, sizeof *memory);
    uint32_t own = 0;

    OK(HcclGetRankId(comm, &own));
    *memory = own == 0 ? number : 0;
    if (own == 0)
        OK(HcclSend(memory, 1, HCCL_DATA_TYPE_UINT64, 1, comm, stream));
    else
        OK(HcclRecv(memory, 1, HCCL_DATA_TYPE_UINT64, 0, comm, stream));
    OK(aclrtSynchronizeStream(stream));
    MUST_EQ(number, *memory);
    memory_put(DEVICE, memory);
}

static void
rows_and_columns(struct side *side)
{
    const uint32_t row[] = {side->rank / 2 * 2, side->rank / 2 * 2 + 1};
    const uint32_t column[] = {side->rank % 2, side->rank % 2 + 2};
    HcclComm rows = make_part(side, row, 1), columns = make_part(side, column, 2);
    aclrtStream stream = NULL;

    OK(aclrtCreateStream(&stream));
    for (int i = 0; i < 3; i++) {
        sum_up(rows, side->rank, row[0] + row[1], stream);
        sum_up(columns, side->rank, column[0] + column[1], stream);
        sum_up(side->comm, side->rank, 6, stream);
        pass_on(rows, 100 + row[0], stream);
        pass_on(columns, 200 + column[0], stream);
    }
    OK(HcclBarrier(columns, stream));
    OK(aclrtSynchronizeStream(stream));
    OK(HcclCommDestroy(rows));
    sum_up(columns, side->rank, column[0] + column[1], stream);
    OK(aclrtDestroyStream(stream));
    OK(HcclCommDestroy(columns));
    side_meet(side, 0);
}

TEST_SIDES(rows_and_columns_of_a_grid_reduce_and_send, RANKS, rows_and_columns)

static void
suspended(struct side *side)
{
    int32_t *memory = memory_get(DEVICE, 2 * sizeof *memory);
    aclrtStream stream = NULL;

    OK(aclrtCreateStream(&stream));
    sum_up(side->comm, side->rank, 1, stream);
    OK(HcclCommSuspend(side->comm));
    MUST_EQ(HCCL_E_SUSPENDING, HcclAllReduce(memory, memory + 1, 1, HCCL_DATA_TYPE_INT32,
                                             HCCL_REDUCE_SUM, side->comm, stream));
    MUST_EQ(HCCL_E_SUSPENDING, HcclBarrier(side->comm, stream));
    MUST_EQ(HCCL_E_SUSPENDING,
            HcclSend(memory, 1, HCCL_DATA_TYPE_INT32, 1 - side->rank, side->comm, stream));
    side_meet(side, 0);
    OK(HcclCommResume(side->comm));
    sum_up(side->comm, side->rank, 1, stream);
    OK(aclrtDestroyStream(stream));
    memory_put(DEVICE, memory);
    side_meet(side, 0);
}

static void
suspended_with_errors(struct side *side)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    OK(pthread_once(&once, test_allow_errors));
    suspended(side);
    MUST(test_logged("HcclAllReduce: rank") > 0 && test_logged("HcclSend: rank") > 0);
}

TEST_SIDES(a_suspended_communicator_has_no_collectives, 2, suspended_with_errors)
