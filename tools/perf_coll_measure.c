/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * perf_coll_measure: rows of collectives.
 *
 *   check    some operations whose data are compared
 *   warm up  as for point to point, by the clock of rank 0
 *   samples  groups of operations one behind the other; queued ones are all queued before the
 *            stream is synchronised once. Nobody waits for others between operations but in them
 *   check    once more: what the samples may have broken is found
 *
 * Each rank times its own samples. The row is that of the rank with the longest median.
 */
#include <unistd.h>

#include "acl/acl_rt.h"
#include "base/clock.h"
#include "tools/perf_coll.h"

#define CHECKS 2u
#define CHECKS_MORE 32u /* with --check; and as many after the samples */
#define ROW_NS 60000000ull
#define SAMPLES_LEAST 10u
#define SAMPLES_MOST 10000u
#define GROUP_NS 2000u      /* inline: reading the clock takes up to 50 ns, twice */
#define QUEUE_NS 1000000ull /* queued: synchronising takes its time too */
#define GROUP_MOST 64u
#define LATE_US 300u /* how late a rank comes to a barrier that is checked */

struct plan {
    uint64_t group; /* operations in a sample */
    uint64_t samples;
};

static HcclResult
run_group(struct perf_rank *rank, const struct perf_coll_test *test, uint64_t num)
{
    HcclResult rc = HCCL_SUCCESS;

    for (uint64_t i = 0; i < num && rc == HCCL_SUCCESS; i++)
        rc = test->op->act(rank, test);
    if (rc == HCCL_SUCCESS && test->queued && aclrtSynchronizeStream(rank->stream) != ACL_SUCCESS)
        rc = HCCL_E_RUNTIME;
    return rc;
}

/* `num` samples of `group` operations; they end up in `samples`, unless that is NULL. */
static HcclResult
run_samples(struct perf_rank *rank, const struct perf_coll_test *test, uint64_t num, uint64_t group,
            double *samples)
{
    HcclResult rc = HCCL_SUCCESS;

    for (uint64_t i = 0; i < num && rc == HCCL_SUCCESS; i++) {
        uint64_t start_ns = hc_now_ns();

        rc = run_group(rank, test, group);
        if (samples != NULL)
            samples[i] = (double)(hc_now_ns() - start_ns) / 1e3 / (double)group;
    }
    return rc;
}

/* ---- checks ---- */

/* A barrier has no data: one rank comes late, and nobody may leave before it has come. */
static HcclResult
check_barrier(struct perf_rank *rank, const struct perf_coll_test *test, uint64_t *wrong)
{
    unsigned turn = rank->barriers + 1; /* never the same again, and the same on all ranks */
    HcclResult rc;

    if (rank->seed % rank->size == rank->rank)
        (void)usleep(LATE_US);
    atomic_store_explicit(&rank->box->came, turn, memory_order_release);
    rc = run_group(rank, test, 1);
    for (uint32_t i = 0; i < rank->size && rc == HCCL_SUCCESS; i++)
        *wrong += atomic_load_explicit(&rank->boxes[i]->came, memory_order_acquire) != turn;
    return rc;
}

static HcclResult
check_data(struct perf_rank *rank, const struct perf_coll_test *test, uint64_t *wrong)
{
    HcclResult rc;

    perf_coll_fill(rank, test);
    rc = perf_barrier(rank); /* nothing comes while somebody fills */
    if (rc == HCCL_SUCCESS)
        rc = run_group(rank, test, 1);
    if (rc == HCCL_SUCCESS)
        *wrong += perf_coll_wrong(rank, test);
    return rc;
}

static HcclResult
check(struct perf_rank *rank, const struct perf_coll_test *test, uint64_t num, uint64_t *wrong)
{
    HcclResult rc = HCCL_SUCCESS;

    for (uint64_t i = 0; i < num && rc == HCCL_SUCCESS; i++) {
        rank->seed++;
        if (test->op->shape == PERF_EMPTY)
            rc = check_barrier(rank, test, wrong);
        else
            rc = check_data(rank, test, wrong);
        if (rc == HCCL_SUCCESS)
            rc = perf_barrier(rank); /* all have looked */
    }
    return rc;
}

/* ---- the row ---- */

static HcclResult
warm_samples(struct perf_rank *rank, const void *test, uint64_t num)
{
    return run_samples(rank, test, num, 1, NULL);
}

static struct plan
make_plan(const struct perf_rank *rank, const struct perf_coll_test *test, uint64_t one_ns)
{
    uint32_t iters = rank->options->iters;
    struct plan plan = {
        .group = perf_clamp((test->queued ? QUEUE_NS : GROUP_NS) / one_ns, 1, GROUP_MOST)};

    plan.samples = iters != 0
                       ? iters
                       : perf_clamp(ROW_NS / (one_ns * plan.group), SAMPLES_LEAST, SAMPLES_MOST);
    return plan;
}

/* Into the rank's box. */
static HcclResult
measure(struct perf_rank *rank, const struct perf_coll_test *test)
{
    const struct perf_options *options = rank->options;
    uint64_t checks = options->check_more ? CHECKS_MORE : options->check ? CHECKS : 0;
    uint64_t again = options->check_more ? CHECKS_MORE : options->check ? 1 : 0;
    uint64_t one_ns, wrong = 0;
    struct plan plan;
    HcclResult rc;

    rank->at = test->queued ? rank->stream : HCOMM_STREAM_INLINE;
    rank->seed = 0;
    perf_coll_prepare(rank, test);
    rc = check(rank, test, checks, &wrong);
    if (rc == HCCL_SUCCESS)
        rc = perf_warm_up(rank, 1, warm_samples, test, &one_ns);
    if (rc != HCCL_SUCCESS)
        return rc;
    plan = make_plan(rank, test, one_ns);
    rc = run_samples(rank, test, 1, 1, NULL); /* some come late from the agreement */
    if (rc == HCCL_SUCCESS)
        rc = run_samples(rank, test, plan.samples, plan.group, rank->samples);
    if (rc == HCCL_SUCCESS)
        rc = perf_barrier(rank);
    if (rc == HCCL_SUCCESS)
        rc = check(rank, test, again, &wrong);
    if (rc != HCCL_SUCCESS)
        return rc;
    perf_sum_up(rank->samples, plan.samples, &rank->box->result);
    rank->box->result.wrong = wrong;
    return perf_barrier(rank); /* all results are there */
}

/* What all ranks measured, in one. */
static struct perf_result
join(const struct perf_rank *rank)
{
    struct perf_result all = rank->box->result;
    uint64_t wrong = 0;

    for (uint32_t i = 0; i < rank->size; i++) {
        const struct perf_result *result = &rank->boxes[i]->result;

        if (result->us_median > all.us_median)
            all = *result;
        wrong += result->wrong;
    }
    all.wrong = wrong;
    return all;
}

/* Out of place, and in place if that is asked for and exists. */
static HcclResult
measure_row(struct perf_rank *rank, const struct perf_coll_test *row)
{
    uint32_t num = rank->options->coll.in_place && row->op->in_place ? 2 : 1;
    struct perf_result results[2];
    HcclResult rc = HCCL_SUCCESS;

    for (uint32_t i = 0; i < num && rc == HCCL_SUCCESS; i++) {
        struct perf_coll_test test = *row;
        char size[32];

        test.in_place = i == 1;
        perf_doing(rank, "%s of %s, %s%s", test.op->name, perf_size(test.bytes, size),
                   test.queued ? "stream" : "inline", test.in_place ? ", in place" : "");
        rc = measure(rank, &test);
        if (rc == HCCL_SUCCESS && rank->rank == 0) {
            results[i] = join(rank);
            rank->coll->wrong += results[i].wrong;
        }
        if (rc == HCCL_SUCCESS)
            rc = perf_barrier(rank); /* the results have been read */
    }
    if (rc == HCCL_SUCCESS && rank->rank == 0)
        rc = perf_coll_print_row(rank, row, results, num);
    return rc;
}

HcclResult
perf_coll_all(struct perf_rank *rank)
{
    struct perf_coll_test test = {.op = NULL}, before = {.op = NULL};
    uint32_t all = 0, done = 0;
    uint64_t wrong;
    HcclResult rc = HCCL_SUCCESS;

    while (perf_coll_next(rank->options, rank->size, &test))
        all++;
    if (rank->rank == 0)
        perf_print_head(rank);
    test.op = NULL;
    while (rc == HCCL_SUCCESS && perf_coll_next(rank->options, rank->size, &test)) {
        if (rank->rank == 0) {
            perf_progress(rank, done, all);
            if (test.op != before.op || test.queued != before.queued)
                perf_coll_print_head(rank, &test);
        }
        rc = measure_row(rank, &test);
        before = test;
        done++;
    }
    wrong = rank->coll->wrong;
    if (rc == HCCL_SUCCESS)
        rc = perf_agree(rank, &wrong);
    if (rc != HCCL_SUCCESS)
        return rc;
    rank->wrong = wrong > 0;
    if (rank->rank == 0)
        perf_coll_print_foot(rank);
    return HCCL_SUCCESS;
}
