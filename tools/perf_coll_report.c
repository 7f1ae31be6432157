/* SPDX-License-Identifier: BSD-3-Clause */
/* perf_coll_report: rows of collectives, in the form that users of their benchmarks know. */
#include <inttypes.h>
#include <stdio.h>

#include "reduce/reduce.h"
#include "tools/perf_coll.h"

#define RESULT_HEAD "   %10s %8s %8s %7s"
#define RESULT_UNITS "   %10s %8s %8s"

struct speed {
    double alg, bus; /* GB/s */
};

static struct speed
speed_of(const struct perf_rank *rank, const struct perf_coll_test *test,
         const struct perf_result *result)
{
    struct speed speed = {0, 0};

    if (result->us_median > 0)
        speed.alg = (double)test->bytes / result->us_median / 1e3;
    speed.bus = speed.alg * perf_coll_factor(test->op, rank->size);
    return speed;
}

static const char *
redop_name(const struct perf_rank *rank, const struct perf_coll_test *test)
{
    return test->op->reduces ? reduce_op_name(rank->options->coll.redop) : "none";
}

static const char *
type_name(const struct perf_rank *rank, const struct perf_coll_test *test)
{
    return test->op->shape == PERF_EMPTY ? "none" : reduce_type_name(rank->options->coll.type);
}

static int
root_of(const struct perf_rank *rank, const struct perf_coll_test *test)
{
    return test->op->rooted ? (int)rank->options->coll.root : -1;
}

void
perf_coll_print_head(const struct perf_rank *rank, const struct perf_coll_test *test)
{
    bool both = rank->options->coll.in_place && test->op->in_place;

    if (rank->options->json)
        return;
    printf("# %s, %s\n", test->op->name, test->queued ? "stream" : "inline");
    if (both)
        printf("#%51s %29s %39s\n", "", "out-of-place", "in-place");
    printf("#%11s %12s %8s %8s %7s" RESULT_HEAD, "size", "count", "type", "redop", "root", "time",
           "algbw", "busbw", "#wrong");
    if (both)
        printf(RESULT_HEAD, "time", "algbw", "busbw", "#wrong");
    printf("\n#%11s %12s %8s %8s %7s" RESULT_UNITS, "(B)", "(elements)", "", "", "", "(us)",
           "(GB/s)", "(GB/s)");
    if (both)
        printf(" %7s" RESULT_UNITS, "", "(us)", "(GB/s)", "(GB/s)");
    putchar('\n');
    (void)fflush(stdout);
}

static void
print_json(struct perf_rank *rank, const struct perf_coll_test *test,
           const struct perf_result *result, bool in_place)
{
    const struct perf_options *options = rank->options;
    struct speed speed = speed_of(rank, test, result);
    char wrong[32] = "null";

    if (options->check || options->check_more)
        snprintf(wrong, sizeof wrong, "%" PRIu64, result->wrong);
    perf_json(rank,
              "{\"op\":\"%s\",\"bytes\":%" PRIu64 ",\"count\":%" PRIu64 ",\"type\":\"%s\","
              "\"redop\":\"%s\",\"root\":%d,\"mode\":\"%s\",\"pattern\":\"static\","
              "\"in_place\":%s,\"engine\":\"%s\",\"algo\":\"%s\",\"us_min\":%.4f,"
              "\"us_median\":%.4f,\"us_p99\":%.4f,\"mb_s\":%.2f,\"msg_s\":%.0f,\"algbw\":%.5f,"
              "\"busbw\":%.5f,\"wrong\":%s,\"memory\":\"device\",\"ranks\":%u,"
              "\"samples\":%" PRIu64 "}\n",
              test->op->name, test->bytes, test->count, type_name(rank, test),
              redop_name(rank, test), root_of(rank, test), test->queued ? "stream" : "inline",
              in_place ? "true" : "false", options->coll.engine == NULL ? "" : options->coll.engine,
              options->coll.algo == NULL ? "" : options->coll.algo, result->us_min,
              result->us_median, result->us_p99, speed.alg * 1e3,
              result->us_median > 0 ? 1e6 / result->us_median : 0, speed.alg, speed.bus, wrong,
              rank->size, result->samples);
}

static void
print_result(const struct perf_rank *rank, const struct perf_coll_test *test,
             const struct perf_result *result)
{
    struct speed speed = speed_of(rank, test, result);

    printf("   %10.2f %8.4f %8.4f", result->us_median, speed.alg, speed.bus);
    if (rank->options->check || rank->options->check_more)
        printf(" %7" PRIu64, result->wrong);
    else
        printf(" %7s", "N/A");
}

HcclResult
perf_coll_print_row(struct perf_rank *rank, const struct perf_coll_test *test,
                    const struct perf_result *results, uint32_t num)
{
    struct perf_coll *coll = rank->coll;

    for (uint32_t i = 0; i < num; i++) {
        coll->bus_sum += speed_of(rank, test, &results[i]).bus;
        coll->bus_num += test->op->shape == PERF_EMPTY ? 0 : 1;
        print_json(rank, test, &results[i], i == 1);
    }
    if (!rank->options->json) {
        printf("%12" PRIu64 " %12" PRIu64 " %8s %8s %7d", test->bytes, test->count,
               type_name(rank, test), redop_name(rank, test), root_of(rank, test));
        for (uint32_t i = 0; i < num; i++)
            print_result(rank, test, &results[i]);
        putchar('\n');
    }
    return perf_flush(rank);
}

void
perf_coll_print_foot(const struct perf_rank *rank)
{
    const struct perf_coll *coll = rank->coll;
    bool checked = rank->options->check || rank->options->check_more;

    if (!rank->options->json) {
        if (checked)
            printf("# wrong values           %" PRIu64 "\n", coll->wrong);
        else
            puts("# wrong values           N/A");
        if (coll->bus_num > 0)
            printf("# average bus bandwidth  %.3f GB/s\n", coll->bus_sum / coll->bus_num);
        (void)fflush(stdout);
    }
    if (coll->wrong > 0)
        fprintf(stderr,
                "hcomm perf: %" PRIu64 " wrong values: see the column #wrong, or \"wrong\" "
                "of --json\n",
                coll->wrong);
}
