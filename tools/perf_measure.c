/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * perf_measure: one row.
 *
 *   check    a few rounds whose data are compared
 *   warm up  twice as many operations each time, until rank 0 has worked for WARM_NS; how long one
 *            takes then decides how often the rest is done, the same on all ranks
 *   samples  static: one operation after another; a pair sends to and fro, and half of that counts.
 *            Operations that are over in no time are timed in groups. fresh: one-way times
 *   trains   static only: many operations at once, until the last has arrived
 */
#include <stdlib.h>
#include <string.h>

#include "acl/acl_rt.h"
#include "base/clock.h"
#include "tools/perf.h"

#define CHECKS 2u
#define CHECKS_MORE 32u /* with --check; and as many after the samples */
#define WARM_NS 30000000ull
#define ROW_NS 60000000ull /* of samples */
#define TRAINS_NS 40000000ull
#define SAMPLES_LEAST 10u
#define SAMPLES_MOST 10000u
#define GROUP_NS 2000u /* reading the clock takes up to 50 ns, twice */
#define GROUP_MOST 64u
#define TRAIN_MOST 64u
#define TRAIN_BYTES (32u << 20) /* no longer than that, or two operations */
#define TRAINS_LEAST 3u
#define TRAINS_MOST 200u
#define HEAD_START_NS 1000u /* who receives is there first */

struct plan {
    uint64_t group; /* operations in a sample */
    uint64_t samples;
    uint64_t train; /* operations in a train */
    uint64_t trains;
};

static HcclResult
finish(struct perf_rank *rank, const struct perf_test *test)
{
    if (!test->queued)
        return HCCL_SUCCESS;
    return aclrtSynchronizeStream(rank->stream) == ACL_SUCCESS ? HCCL_SUCCESS : HCCL_E_RUNTIME;
}

/* ---- static: one after the other ---- */

/* To the partner and back; the leader starts. */
static HcclResult
to_and_fro(struct perf_rank *rank, const struct perf_test *test)
{
    const struct perf_op *op = test->op;
    HcclResult rc = rank->leads ? op->act(rank, test) : op->meet(rank, test);

    if (rc == HCCL_SUCCESS)
        rc = rank->leads ? op->meet(rank, test) : op->act(rank, test);
    return rc == HCCL_SUCCESS ? finish(rank, test) : rc;
}

static HcclResult
reach(struct perf_rank *rank, const struct perf_test *test)
{
    HcclResult rc = test->op->act(rank, test);

    if (rc == HCCL_SUCCESS)
        rc = test->op->flush(rank, test);
    return rc == HCCL_SUCCESS ? finish(rank, test) : rc;
}

/* `num` samples of `group` operations; they end up in `samples`, unless that is NULL. */
static HcclResult
one_by_one(struct perf_rank *rank, const struct perf_test *test, uint64_t num, uint64_t group,
           double *samples)
{
    bool pair = test->op->kind == PERF_PAIR;
    double operations = (double)group * (pair ? 2 : 1);
    HcclResult rc = HCCL_SUCCESS;

    if (!pair && !rank->leads)
        return HCCL_SUCCESS;
    for (uint64_t i = 0; i < num && rc == HCCL_SUCCESS; i++) {
        uint64_t start_ns = hc_now_ns();

        for (uint64_t k = 0; k < group && rc == HCCL_SUCCESS; k++)
            rc = pair ? to_and_fro(rank, test) : reach(rank, test);
        if (samples != NULL)
            samples[i] = (double)(hc_now_ns() - start_ns) / 1e3 / operations;
    }
    return rc;
}

/* ---- one way ---- */

/* Whether the data are as they should be. */
static HcclResult
check(struct perf_rank *rank, const struct perf_test *test, uint64_t seed)
{
    bool is_result = test->op->content == PERF_COUNTER && rank->leads; /* what was there before */
    uint32_t leader = rank->rank & ~1u, to = leader + (test->op->gets ? 0 : 1);
    int64_t before;
    char size[32];

    memcpy(&before, rank->dst, sizeof before);
    if (is_result ? before == (int64_t)seed : perf_good(test, rank->dst, seed))
        return HCCL_SUCCESS;
    return perf_fail(rank, HCCL_E_INTERNAL, "wrong data: %s of %s from rank %u to rank %u%s",
                     test->op->name, perf_size(test->bytes, size), leader + leader + 1 - to, to,
                     is_result ? ", its result" : "");
}

/* Before the operation; `sink`: the data come here. */
static void
ready_buffers(struct perf_rank *rank, const struct perf_test *test, enum perf_care care,
              bool source, bool sink)
{
    if (care == PERF_AS_IS)
        return;
    if (care == PERF_CHECK && sink)
        perf_reset(test, rank->dst, rank->seed);
    if (source)
        perf_fill(test, test->op->gets ? rank->dst : rank->src, rank->seed);
}

static HcclResult
use_data(struct perf_rank *rank, const struct perf_test *test, enum perf_care care, bool sink)
{
    if (care == PERF_CHECK && (sink || test->op->content == PERF_COUNTER))
        return check(rank, test, rank->seed);
    if (care == PERF_FRESH && sink)
        perf_touch(rank->dst, test->bytes);
    return HCCL_SUCCESS;
}

static HcclResult
follow_one(struct perf_rank *rank, const struct perf_test *test, enum perf_care care)
{
    const struct perf_op *op = test->op;
    HcclResult rc = HCCL_SUCCESS;

    ready_buffers(rank, test, care, op->gets, !op->gets);
    perf_post(rank);
    if (op->kind == PERF_PAIR) {
        rc = op->meet(rank, test);
        if (rc == HCCL_SUCCESS)
            rc = finish(rank, test);
        perf_post_stamp(rank, hc_now_ns());
    } else {
        rc = perf_take(rank);
    }
    return rc == HCCL_SUCCESS ? use_data(rank, test, care, !op->gets) : rc;
}

static void
head_start(void)
{
    uint64_t until_ns = hc_now_ns() + HEAD_START_NS;

    while (hc_now_ns() < until_ns)
        ;
}

static HcclResult
lead_one(struct perf_rank *rank, const struct perf_test *test, enum perf_care care, double *us)
{
    const struct perf_op *op = test->op;
    bool sink = op->gets || op->kind == PERF_LOCAL;
    HcclResult rc = HCCL_SUCCESS;
    uint64_t start_ns, end_ns;

    ready_buffers(rank, test, care, !op->gets, sink);
    if (op->kind != PERF_LOCAL)
        rc = perf_take(rank);
    if (rc != HCCL_SUCCESS)
        return rc;
    head_start();
    start_ns = hc_now_ns();
    rc = reach(rank, test);
    end_ns = hc_now_ns();
    if (op->kind == PERF_ONE_SIDED)
        perf_post(rank);
    if (op->kind == PERF_PAIR && rc == HCCL_SUCCESS) {
        rc = perf_take(rank);
        end_ns = atomic_load_explicit(&rank->box->stamp_ns, memory_order_relaxed);
    }
    *us = (double)(end_ns - start_ns) / 1e3;
    return rc == HCCL_SUCCESS ? use_data(rank, test, care, sink) : rc;
}

HcclResult
perf_one_way(struct perf_rank *rank, const struct perf_test *test, uint64_t num,
             enum perf_care care, double *samples)
{
    HcclResult rc = HCCL_SUCCESS;
    double us = 0;

    if (test->op->kind == PERF_LOCAL && !rank->leads)
        return HCCL_SUCCESS;
    for (uint64_t i = 0; i < num && rc == HCCL_SUCCESS; i++) {
        rank->seed++;
        if (rank->leads)
            rc = lead_one(rank, test, care, samples == NULL ? &us : &samples[i]);
        else
            rc = follow_one(rank, test, care);
    }
    return rc;
}

HcclResult
perf_compare(struct perf_rank *rank, const struct perf_test *test, uint64_t num)
{
    HcclResult rc = perf_barrier(rank); /* nothing comes while somebody looks */

    if (rc == HCCL_SUCCESS)
        rc = perf_one_way(rank, test, num, PERF_CHECK, NULL);
    return rc == HCCL_SUCCESS ? perf_barrier(rank) : rc;
}

HcclResult
perf_prime(struct perf_rank *rank, const struct perf_test *test)
{
    HcclResult rc;

    rank->at = test->queued ? rank->stream : HCOMM_STREAM_INLINE;
    rank->seed = 0;
    rc = one_by_one(rank, test, 1, 1, NULL);
    return rc == HCCL_SUCCESS ? perf_barrier(rank) : rc;
}

/* ---- trains ---- */

static HcclResult
lead_train(struct perf_rank *rank, const struct perf_test *test, uint64_t len, double *us)
{
    bool pair = test->op->kind == PERF_PAIR;
    HcclResult rc = pair ? perf_take(rank) : HCCL_SUCCESS;
    uint64_t start_ns = hc_now_ns();

    for (uint64_t i = 0; i < len && rc == HCCL_SUCCESS; i++)
        rc = test->op->act(rank, test);
    if (rc == HCCL_SUCCESS)
        rc = test->op->flush(rank, test);
    if (rc == HCCL_SUCCESS)
        rc = finish(rank, test);
    if (rc == HCCL_SUCCESS && pair)
        rc = perf_take(rank);
    *us = (double)(hc_now_ns() - start_ns) / 1e3 / (double)len;
    return rc;
}

static HcclResult
follow_train(struct perf_rank *rank, const struct perf_test *test, uint64_t len)
{
    HcclResult rc = HCCL_SUCCESS;

    perf_post(rank);
    for (uint64_t i = 0; i < len && rc == HCCL_SUCCESS; i++)
        rc = test->op->meet(rank, test);
    if (rc == HCCL_SUCCESS)
        rc = finish(rank, test);
    perf_post(rank);
    return rc;
}

static HcclResult
trains(struct perf_rank *rank, const struct perf_test *test, const struct plan *plan,
       struct perf_result *result)
{
    HcclResult rc = HCCL_SUCCESS;
    struct perf_result of_trains;

    for (uint64_t i = 0; i < plan->trains && rc == HCCL_SUCCESS; i++) {
        if (rank->leads)
            rc = lead_train(rank, test, plan->train, &rank->samples[i]);
        else if (test->op->kind == PERF_PAIR)
            rc = follow_train(rank, test, plan->train);
    }
    if (rc != HCCL_SUCCESS || !rank->leads || plan->trains == 0)
        return rc;
    perf_sum_up(rank->samples, plan->trains, &of_trains);
    result->train_us = of_trains.us_median;
    return HCCL_SUCCESS;
}

/* ---- the row ---- */

static HcclResult
some_samples(struct perf_rank *rank, const struct perf_test *test, uint64_t num, uint64_t group,
             double *samples)
{
    if (test->fresh)
        return perf_one_way(rank, test, num, PERF_FRESH, samples);
    return one_by_one(rank, test, num, group, samples);
}

uint64_t
perf_clamp(uint64_t value, uint64_t least, uint64_t most)
{
    return value < least ? least : value > most ? most : value;
}

HcclResult
perf_warm_up(struct perf_rank *rank, uint64_t first, perf_work work, const void *test,
             uint64_t *one_ns)
{
    uint64_t all_ns = 0, took_ns;

    for (uint64_t num = first;; num *= 2) {
        uint64_t start_ns = hc_now_ns();
        HcclResult rc = work(rank, test, num);

        took_ns = hc_now_ns() - start_ns;
        if (rc == HCCL_SUCCESS)
            rc = perf_agree(rank, &took_ns);
        if (rc != HCCL_SUCCESS)
            return rc;
        all_ns += took_ns;
        *one_ns = took_ns / num + 1;
        if (all_ns >= WARM_NS)
            return HCCL_SUCCESS;
    }
}

static HcclResult
warm_samples(struct perf_rank *rank, const void *test, uint64_t num)
{
    return some_samples(rank, test, num, 1, NULL);
}

static struct plan
make_plan(const struct perf_rank *rank, const struct perf_test *test, uint64_t one_ns)
{
    uint32_t iters = rank->options->iters;
    uint64_t operation_ns = test->op->kind == PERF_PAIR ? one_ns / 2 + 1 : one_ns;
    struct plan plan = {.group = test->fresh ? 1 : perf_clamp(GROUP_NS / one_ns, 1, GROUP_MOST)};

    plan.samples = iters != 0
                       ? iters
                       : perf_clamp(ROW_NS / (one_ns * plan.group), SAMPLES_LEAST, SAMPLES_MOST);
    if (test->fresh)
        return plan;
    plan.train = perf_clamp(TRAIN_BYTES / (test->bytes + 1), 2, TRAIN_MOST);
    plan.trains = perf_clamp(TRAINS_NS / (operation_ns * plan.train), TRAINS_LEAST, TRAINS_MOST);
    if (iters != 0)
        plan.trains = perf_clamp(plan.trains, 1, iters);
    return plan;
}

static int
compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void
perf_sum_up(double *samples, uint64_t num, struct perf_result *result)
{
    qsort(samples, num, sizeof *samples, compare);
    *result = (struct perf_result){
        .us_min = samples[0],
        .us_median = samples[num / 2],
        .us_p99 = samples[num - 1 - num / 100],
        .samples = num,
    };
}

HcclResult
perf_measure(struct perf_rank *rank, const struct perf_test *test, struct perf_result *result)
{
    uint64_t checks = rank->options->check_more ? CHECKS_MORE : rank->options->check ? CHECKS : 0;
    struct plan plan;
    uint64_t one_ns;
    HcclResult rc = perf_prime(rank, test);

    if (rc == HCCL_SUCCESS)
        rc = perf_compare(rank, test, checks);
    if (rc == HCCL_SUCCESS)
        rc = perf_warm_up(rank, 2, warm_samples, test, &one_ns);
    if (rc != HCCL_SUCCESS)
        return rc;
    plan = make_plan(rank, test, one_ns);
    rc = some_samples(rank, test, 1, 1, NULL); /* the partner may come late from the agreement */
    if (rc == HCCL_SUCCESS)
        rc = some_samples(rank, test, plan.samples, plan.group, rank->samples);
    if (rc != HCCL_SUCCESS)
        return rc;
    if (rank->leads)
        perf_sum_up(rank->samples, plan.samples, result);
    rc = perf_barrier(rank); /* trains start together too */
    if (rc == HCCL_SUCCESS)
        rc = trains(rank, test, &plan, result);
    if (rc == HCCL_SUCCESS && rank->options->check_more)
        rc = perf_compare(rank, test, checks);
    return rc;
}

HcclResult
perf_all(struct perf_rank *rank)
{
    struct perf_test test = {.op = NULL};
    uint32_t all = perf_count_tests(rank->options), done = 0;
    HcclResult rc = HCCL_SUCCESS;

    if (rank->rank == 0)
        perf_print_head(rank);
    while (rc == HCCL_SUCCESS && perf_next_test(rank->options, &test)) {
        char size[32];

        perf_doing(rank, "%s of %s, %s, %s", test.op->name, perf_size(test.bytes, size),
                   test.queued ? "stream" : "inline", test.fresh ? "fresh" : "static");
        if (rank->rank == 0)
            perf_progress(rank, done, all);
        rc = perf_measure(rank, &test, &rank->box->result);
        if (rc == HCCL_SUCCESS)
            rc = perf_barrier(rank); /* all results are there */
        if (rc == HCCL_SUCCESS && rank->rank == 0)
            rc = perf_print_row(rank, &test);
        if (rc == HCCL_SUCCESS)
            rc = perf_barrier(rank); /* and have been read */
        done++;
    }
    return rc;
}
