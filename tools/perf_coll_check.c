/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * perf_coll_check: the buffers of a collective, before and after.
 *
 * Before, the receive buffer holds the elements of a rank that there is not, so that what nobody
 * wrote is found; behind it is a guard. After, the parts that the result is made of are compared,
 * and that the send buffer and the guard are as they were.
 */
#include <string.h>

#include "base/alloc.h"
#include "reduce/reduce.h"
#include "tools/perf_coll.h"

#define NOBODY UINT32_MAX /* the rank whose elements stand where nothing has come yet */

HcclResult
perf_coll_open(struct perf_rank *rank)
{
    struct perf_coll *coll = hc_zalloc(sizeof *coll);
    size_t size = rank->size;

    if (coll == NULL)
        return HCCL_E_MEMORY; /* said */
    rank->coll = coll;
    coll->counts = hc_calloc(size, sizeof *coll->counts);
    coll->displs = hc_calloc(size, sizeof *coll->displs);
    coll->from_counts = hc_calloc(size, sizeof *coll->from_counts);
    coll->from_displs = hc_calloc(size, sizeof *coll->from_displs);
    coll->matrix = hc_calloc(size * size, sizeof *coll->matrix);
    coll->reference = perf_reference_create();
    if (coll->counts == NULL || coll->displs == NULL || coll->from_counts == NULL ||
        coll->from_displs == NULL || coll->matrix == NULL || coll->reference == NULL)
        return HCCL_E_MEMORY;
    return HCCL_SUCCESS;
}

void
perf_coll_close(struct perf_rank *rank)
{
    struct perf_coll *coll = rank->coll;

    if (coll == NULL)
        return;
    hc_free(coll->counts);
    hc_free(coll->displs);
    hc_free(coll->from_counts);
    hc_free(coll->from_displs);
    hc_free(coll->matrix);
    perf_reference_destroy(coll->reference);
    hc_free(coll);
    rank->coll = NULL;
}

/* ---- before ---- */

/* Parts one behind the other; their sum. */
static uint64_t
displace(const uint64_t *counts, uint64_t *displs, uint32_t num)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < num; i++) {
        displs[i] = sum;
        sum += counts[i];
    }
    return sum;
}

/* What of the send buffer of rank `from` begins at place: that for rank `to`. */
static uint64_t
place_in_send(const struct perf_rank *rank, const struct perf_coll_test *test, uint32_t from,
              uint32_t to)
{
    uint64_t place = 0;

    if (test->op->shape == PERF_SLICE)
        return rank->coll->displs[to];
    for (uint32_t i = 0; i < to && test->op->shape == PERF_EXCHANGE; i++)
        place += perf_coll_part(test, rank->size, from, i);
    return place;
}

static void
divide(struct perf_rank *rank, const struct perf_coll_test *test)
{
    struct perf_coll *coll = rank->coll;
    bool exchange = test->op->shape == PERF_EXCHANGE;
    uint64_t all;

    for (uint32_t i = 0; i < rank->size; i++) {
        coll->counts[i] = perf_coll_part(test, rank->size, exchange ? rank->rank : i, i);
        coll->from_counts[i] = perf_coll_part(test, rank->size, i, rank->rank);
        for (uint32_t k = 0; k < rank->size; k++)
            coll->matrix[(size_t)i * rank->size + k] = perf_coll_part(test, rank->size, i, k);
    }
    all = displace(coll->counts, coll->displs, rank->size);
    (void)displace(coll->from_counts, coll->from_displs, rank->size);
    coll->in = coll->out = test->count;
    switch (test->op->shape) {
    case PERF_GATHER:
        coll->in = coll->counts[rank->rank];
        coll->out = all;
        break;
    case PERF_SLICE:
        coll->in = all;
        coll->out = coll->counts[rank->rank];
        break;
    case PERF_EXCHANGE:
        coll->in = coll->out = all; /* the matrix is symmetric */
        break;
    case PERF_EMPTY:
        coll->in = coll->out = 0;
        break;
    case PERF_WHOLE:
        break;
    }
}

void
perf_coll_prepare(struct perf_rank *rank, const struct perf_coll_test *test)
{
    struct perf_coll *coll = rank->coll;
    const struct perf_coll_op *op = test->op;
    bool whole = op->shape == PERF_WHOLE, moved_in = op->rooted && !op->to_root;
    uint64_t own;

    divide(rank, test);
    own = coll->displs[rank->rank] * reduce_type_size(rank->options->coll.type);
    coll->send = rank->src;
    coll->recv = rank->dst;
    if (test->in_place || (whole && moved_in)) { /* a broadcast has one buffer */
        coll->send = rank->dst + (op->shape == PERF_GATHER ? own : 0);
        coll->recv = rank->dst + (op->shape == PERF_SLICE ? own : 0);
    }
    if (moved_in && rank->rank != rank->options->coll.root) {
        coll->in = 0;
        coll->send = NULL;
    }
}

static struct perf_pattern
pattern_of(const struct perf_rank *rank, const struct perf_coll_test *test, uint64_t seed)
{
    return (struct perf_pattern){.type = rank->options->coll.type,
                                 .redop = test->op->reduces ? rank->options->coll.redop : -1,
                                 .ranks = rank->size,
                                 .seed = seed};
}

void
perf_coll_fill(struct perf_rank *rank, const struct perf_coll_test *test)
{
    struct perf_coll *coll = rank->coll;
    struct perf_pattern pattern = pattern_of(rank, test, rank->seed), nothing = pattern;
    uint64_t all = rank->len + PERF_GUARD;

    nothing.redop = -1;
    perf_pattern_fill(&nothing, coll->reference, NOBODY, rank->dst,
                      all / reduce_type_size(pattern.type));
    if (coll->in > 0)
        perf_pattern_fill(&pattern, coll->reference, rank->rank, coll->send, coll->in);
}

/* ---- after ---- */

static uint64_t
wrong_parts(struct perf_rank *rank, const struct perf_coll_test *test,
            const struct perf_pattern *pattern)
{
    struct perf_coll *coll = rank->coll;
    bool many = test->op->shape == PERF_GATHER || test->op->shape == PERF_EXCHANGE;
    const uint64_t *counts = test->op->shape == PERF_GATHER ? coll->counts : coll->from_counts;
    const uint64_t *displs = test->op->shape == PERF_GATHER ? coll->displs : coll->from_displs;
    uint64_t wrong = 0, len = reduce_type_size(pattern->type);
    uint32_t root = rank->options->coll.root;

    if (test->op->reduces)
        return perf_pattern_reduced(pattern, coll->reference, coll->recv, coll->out,
                                    place_in_send(rank, test, 0, rank->rank));
    if (!many)
        return perf_pattern_moved(pattern, coll->reference, root, coll->recv, coll->out,
                                  place_in_send(rank, test, root, rank->rank));
    for (uint32_t from = 0; from < rank->size; from++)
        wrong += perf_pattern_moved(pattern, coll->reference, from, coll->recv + displs[from] * len,
                                    counts[from], place_in_send(rank, test, from, rank->rank));
    return wrong;
}

/* Behind the longest buffer; where nothing was to be received, from its beginning. */
static uint64_t
wrong_guard(struct perf_rank *rank, const struct perf_coll_test *test,
            const struct perf_pattern *pattern)
{
    struct perf_coll *coll = rank->coll;
    struct perf_pattern nothing = *pattern;
    uint64_t len = reduce_type_size(pattern->type), end;

    nothing.redop = -1;
    end = (uint64_t)(coll->recv - rank->dst) / len + coll->out;
    if (test->in_place && test->op->shape == PERF_SLICE && coll->send != NULL)
        end = coll->in; /* what was sent may have been used for what is worked out */
    return perf_pattern_moved(&nothing, coll->reference, NOBODY, rank->dst + end * len,
                              PERF_GUARD / len, end);
}

uint64_t
perf_coll_wrong(struct perf_rank *rank, const struct perf_coll_test *test)
{
    struct perf_coll *coll = rank->coll;
    struct perf_pattern pattern = pattern_of(rank, test, rank->seed);
    bool receives = !test->op->to_root || rank->rank == rank->options->coll.root;
    uint64_t wrong = 0;

    if (test->op->shape == PERF_EMPTY)
        return 0;
    if (receives)
        wrong = wrong_parts(rank, test, &pattern);
    if (coll->send == rank->src)
        wrong += perf_pattern_moved(&pattern, coll->reference, rank->rank, coll->send, coll->in, 0);
    return wrong + wrong_guard(rank, test, &pattern);
}
