/* SPDX-License-Identifier: BSD-3-Clause */
/* perf_coll: the collectives that can be measured, their calls and their parts. */
#include "tools/perf_coll.h"

#include <string.h>

#include "hccl/hccl.h"

/* ---- the calls ---- */

static HcclDataType
type_of(const struct perf_rank *rank)
{
    return (HcclDataType)rank->options->coll.type;
}

static HcclReduceOp
redop_of(const struct perf_rank *rank)
{
    return (HcclReduceOp)rank->options->coll.redop;
}

static HcclResult
all_reduce(struct perf_rank *rank, const struct perf_coll_test *test)
{
    struct perf_coll *coll = rank->coll;

    return HcclAllReduce(coll->send, coll->recv, test->count, type_of(rank), redop_of(rank),
                         rank->comm, rank->at);
}

static HcclResult
all_gather(struct perf_rank *rank, const struct perf_coll_test *test)
{
    struct perf_coll *coll = rank->coll;

    return HcclAllGather(coll->send, coll->recv, test->count, type_of(rank), rank->comm, rank->at);
}

static HcclResult
all_gather_v(struct perf_rank *rank, const struct perf_coll_test *test)
{
    struct perf_coll *coll = rank->coll;

    (void)test;
    return HcclAllGatherV(coll->send, coll->in, coll->recv, coll->counts, coll->displs,
                          type_of(rank), rank->comm, rank->at);
}

static HcclResult
reduce_scatter(struct perf_rank *rank, const struct perf_coll_test *test)
{
    struct perf_coll *coll = rank->coll;

    return HcclReduceScatter(coll->send, coll->recv, test->count, type_of(rank), redop_of(rank),
                             rank->comm, rank->at);
}

static HcclResult
reduce_scatter_v(struct perf_rank *rank, const struct perf_coll_test *test)
{
    struct perf_coll *coll = rank->coll;

    (void)test;
    return HcclReduceScatterV(coll->send, coll->counts, coll->displs, coll->recv, coll->out,
                              type_of(rank), redop_of(rank), rank->comm, rank->at);
}

static HcclResult
broadcast(struct perf_rank *rank, const struct perf_coll_test *test)
{
    return HcclBroadcast(rank->coll->recv, test->count, type_of(rank), rank->options->coll.root,
                         rank->comm, rank->at);
}

static HcclResult
reduce(struct perf_rank *rank, const struct perf_coll_test *test)
{
    struct perf_coll *coll = rank->coll;

    return HcclReduce(coll->send, coll->recv, test->count, type_of(rank), redop_of(rank),
                      rank->options->coll.root, rank->comm, rank->at);
}

static HcclResult
scatter(struct perf_rank *rank, const struct perf_coll_test *test)
{
    struct perf_coll *coll = rank->coll;

    return HcclScatter(coll->send, coll->recv, test->count, type_of(rank), rank->options->coll.root,
                       rank->comm, rank->at);
}

static HcclResult
all_to_all(struct perf_rank *rank, const struct perf_coll_test *test)
{
    struct perf_coll *coll = rank->coll;

    return HcclAlltoAll(coll->send, test->count, type_of(rank), coll->recv, test->count,
                        type_of(rank), rank->comm, rank->at);
}

static HcclResult
all_to_all_v(struct perf_rank *rank, const struct perf_coll_test *test)
{
    struct perf_coll *coll = rank->coll;

    (void)test;
    return HcclAlltoAllV(coll->send, coll->counts, coll->displs, type_of(rank), coll->recv,
                         coll->from_counts, coll->from_displs, type_of(rank), rank->comm, rank->at);
}

static HcclResult
all_to_all_vc(struct perf_rank *rank, const struct perf_coll_test *test)
{
    struct perf_coll *coll = rank->coll;

    (void)test;
    return HcclAlltoAllVC(coll->send, coll->matrix, type_of(rank), coll->recv, type_of(rank),
                          rank->comm, rank->at);
}

static HcclResult
barrier(struct perf_rank *rank, const struct perf_coll_test *test)
{
    (void)test;
    return HcclBarrier(rank->comm, rank->at);
}

/* ---- the table ---- */

/* clang-format off */
const struct perf_coll_op perf_coll_ops[] = {
    {.name = "all-reduce", .does = "HcclAllReduce", .shape = PERF_WHOLE, .bus = PERF_BUS_TWICE,
     .reduces = true, .in_place = true, .act = all_reduce},
    {.name = "all-gather", .does = "HcclAllGather", .shape = PERF_GATHER, .bus = PERF_BUS_OTHERS,
     .in_place = true, .act = all_gather},
    {.name = "all-gather-v", .does = "HcclAllGatherV, parts of two sizes",
     .shape = PERF_GATHER, .bus = PERF_BUS_OTHERS, .uneven = true, .act = all_gather_v},
    {.name = "reduce-scatter", .does = "HcclReduceScatter",
     .shape = PERF_SLICE, .bus = PERF_BUS_OTHERS,
     .reduces = true, .in_place = true, .act = reduce_scatter},
    {.name = "reduce-scatter-v", .does = "HcclReduceScatterV, parts of two sizes",
     .shape = PERF_SLICE, .bus = PERF_BUS_OTHERS,
     .reduces = true, .uneven = true, .act = reduce_scatter_v},
    {.name = "broadcast", .does = "HcclBroadcast", .shape = PERF_WHOLE, .bus = PERF_BUS_ONE,
     .rooted = true, .act = broadcast},
    {.name = "reduce", .does = "HcclReduce", .shape = PERF_WHOLE, .bus = PERF_BUS_ONE,
     .reduces = true, .rooted = true, .to_root = true, .in_place = true, .act = reduce},
    {.name = "scatter", .does = "HcclScatter", .shape = PERF_SLICE, .bus = PERF_BUS_OTHERS,
     .rooted = true, .in_place = true, .act = scatter},
    {.name = "all-to-all", .does = "HcclAlltoAll", .shape = PERF_EXCHANGE, .bus = PERF_BUS_OTHERS,
     .act = all_to_all},
    {.name = "all-to-all-v", .does = "HcclAlltoAllV, parts of two sizes",
     .shape = PERF_EXCHANGE, .bus = PERF_BUS_OTHERS, .uneven = true, .act = all_to_all_v},
    {.name = "all-to-all-vc", .does = "HcclAlltoAllVC, parts of two sizes",
     .shape = PERF_EXCHANGE, .bus = PERF_BUS_OTHERS, .uneven = true, .act = all_to_all_vc},
    {.name = "barrier", .does = "HcclBarrier", .shape = PERF_EMPTY, .bus = PERF_BUS_ONE,
     .act = barrier},
};
/* clang-format on */

const uint32_t perf_coll_num = sizeof perf_coll_ops / sizeof perf_coll_ops[0];
_Static_assert(sizeof perf_coll_ops / sizeof perf_coll_ops[0] <= PERF_OPS_MOST, "options has room");

const struct perf_coll_op *
perf_coll_find(const char *name)
{
    for (uint32_t i = 0; i < perf_coll_num; i++) {
        if (strcmp(perf_coll_ops[i].name, name) == 0)
            return &perf_coll_ops[i];
    }
    return NULL;
}

double
perf_coll_factor(const struct perf_coll_op *op, uint32_t ranks)
{
    double others = (double)(ranks - 1) / ranks;

    switch (op->bus) {
    case PERF_BUS_OTHERS:
        return others;
    case PERF_BUS_TWICE:
        return 2 * others;
    default:
        return 1;
    }
}

/* Uneven parts are half as much again and half, in turns, so that all of them make up the same
 * sum; with an odd number of ranks, those of the last are even. */
uint64_t
perf_coll_part(const struct perf_coll_test *test, uint32_t ranks, uint32_t from, uint32_t to)
{
    bool last = ranks % 2 != 0 && (from == ranks - 1 || to == ranks - 1);
    uint32_t turn = test->op->shape == PERF_EXCHANGE ? from + to : from;

    if (!test->op->uneven || last)
        return test->count;
    return turn % 2 == 0 ? test->count + test->count / 2 : test->count - test->count / 2;
}
