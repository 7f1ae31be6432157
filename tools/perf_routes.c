/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * perf_routes: four ways for 1 MiB of FP32 from one soft NPU to another, each timed from the moment
 * when the first rank calls until the rank that gets the data has them. The routes take turns in
 * blocks, so that all see the same hours of the machine; the first operations of a block do not
 * count, because they find the caches as another route left them.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "tools/perf.h"

#define BLOCKS 10u
#define SAMPLES 200u /* unless --iters says otherwise */
#define SETTLING 5u
#define WARMING 200u /* at most as many as samples: the library finds out how to copy */
#define CHECKS 4u

static const struct route {
    char letter;
    const char *label, *op;
    bool queued;
} routes[] = {
    {'a', "custom operator through the HCCL buffer", "custom-op", true},
    {'b', "HcommSend, HcommRecv", "send", true},
    {'b', "HcommSend, HcommRecv", "send", false},
    {'c', "HcommPutNotify, HcommWindowNotifyWait", "put-notify", true},
    {'c', "HcommPutNotify, HcommWindowNotifyWait", "put-notify", false},
    {'d', "HcommGet", "get", true},
    {'d', "HcommGet", "get", false},
};

#define ROUTES (sizeof routes / sizeof routes[0])

struct race {
    struct perf_test tests[ROUTES];
    bool wanted[ROUTES];
    uint64_t block, warming;    /* samples of a route in a block; operations before all blocks */
    double *samples[ROUTES][2]; /* [BLOCKS * block] by pattern; in one piece at [0][0] */
    struct perf_result results[ROUTES][2];
};

static HcclResult
init(struct race *race, const struct perf_options *options)
{
    uint64_t num = options->iters == 0 ? SAMPLES : options->iters;
    double *all;

    race->block = (num + BLOCKS - 1) / BLOCKS;
    race->warming = num < WARMING ? num : WARMING;
    all = hc_calloc(ROUTES * 2 * BLOCKS * race->block, sizeof *all);
    if (all == NULL)
        return HCCL_E_MEMORY;
    for (size_t i = 0; i < ROUTES; i++) {
        const struct perf_op *op = perf_op_find(routes[i].op, strlen(routes[i].op));

        race->tests[i] =
            (struct perf_test){.op = op, .bytes = PERF_ROUTE_BYTES, .queued = routes[i].queued};
        race->wanted[i] =
            op->only_queued ? options->ops[op - perf_ops] : options->modes[routes[i].queued];
        for (int fresh = 0; fresh < 2; fresh++)
            race->samples[i][fresh] = all + (2 * i + (size_t)fresh) * BLOCKS * race->block;
    }
    return HCCL_SUCCESS;
}

/* One route, `num` operations. */
static HcclResult
go(struct perf_rank *rank, const struct race *race, size_t i, bool fresh, uint64_t num,
   double *samples)
{
    HcclResult rc;

    perf_doing(rank, "route %c, %s, %s, %s", routes[i].letter, routes[i].label,
               routes[i].queued ? "stream" : "inline", fresh ? "fresh" : "static");
    rc = perf_prime(rank, &race->tests[i]);
    if (rc == HCCL_SUCCESS && samples == NULL)
        rc = perf_compare(rank, &race->tests[i], CHECKS);
    if (rc == HCCL_SUCCESS)
        rc = perf_one_way(rank, &race->tests[i], num, fresh ? PERF_FRESH : PERF_AS_IS, NULL);
    if (rc == HCCL_SUCCESS && samples != NULL)
        rc = perf_one_way(rank, &race->tests[i], race->block, fresh ? PERF_FRESH : PERF_AS_IS,
                          samples);
    return rc;
}

static HcclResult
run(struct perf_rank *rank, struct race *race, bool fresh)
{
    HcclResult rc = HCCL_SUCCESS;

    for (size_t i = 0; i < ROUTES && rc == HCCL_SUCCESS; i++) {
        if (race->wanted[i])
            rc = go(rank, race, i, fresh, race->warming, NULL);
    }
    for (uint64_t block = 0; block < BLOCKS && rc == HCCL_SUCCESS; block++) {
        for (size_t i = 0; i < ROUTES && rc == HCCL_SUCCESS; i++) {
            if (race->wanted[i])
                rc = go(rank, race, i, fresh, SETTLING,
                        race->samples[i][fresh] + block * race->block);
        }
    }
    for (size_t i = 0; i < ROUTES && rc == HCCL_SUCCESS && rank->leads; i++) {
        if (race->wanted[i])
            perf_sum_up(race->samples[i][fresh], BLOCKS * race->block, &race->results[i][fresh]);
    }
    return rc;
}

/* ---- what is printed ---- */

/* As a multiple of route a; "-" without it. */
static const char *
relative(const struct race *race, size_t i, bool fresh, char text[32])
{
    double base = race->results[0][fresh].us_median;

    if (race->wanted[0])
        snprintf(text, 32, "%.3f", race->results[i][fresh].us_median / base);
    else
        strcpy(text, "-");
    return text;
}

static void
print_table(const struct race *race)
{
    char text[32];

    printf("%-44s %-6s %11s %8s %11s %8s\n", "1 MiB of FP32", "mode", "static us", "x (a)",
           "fresh us", "x (a)");
    for (size_t i = 0; i < ROUTES; i++) {
        if (!race->wanted[i])
            continue;
        printf("(%c) %-40s %-6s", routes[i].letter, routes[i].label,
               routes[i].queued ? "stream" : "inline");
        for (int fresh = 0; fresh < 2; fresh++)
            printf(" %11.2f %8s", race->results[i][fresh].us_median,
                   relative(race, i, fresh, text));
        putchar('\n');
    }
}

static void
print_json(const struct race *race)
{
    char text[32];

    for (size_t i = 0; i < ROUTES; i++) {
        for (int fresh = 0; fresh < 2 && race->wanted[i]; fresh++) {
            const struct perf_result *result = &race->results[i][fresh];

            printf("{\"route\":\"%c\",\"op\":\"%s\",\"bytes\":%u,\"mode\":\"%s\",\"pattern\":\"%s\""
                   ",\"us_min\":%.4f,\"us_median\":%.4f,\"us_p99\":%.4f,\"mb_s\":%.2f",
                   routes[i].letter, routes[i].op, PERF_ROUTE_BYTES,
                   routes[i].queued ? "stream" : "inline", fresh ? "fresh" : "static",
                   result->us_min, result->us_median, result->us_p99,
                   PERF_ROUTE_BYTES / result->us_median);
            if (race->wanted[0])
                printf(",\"relative\":%s", relative(race, i, fresh, text));
            puts("}");
        }
    }
}

HcclResult
perf_routes(struct perf_rank *rank)
{
    struct race race = {.block = 0};
    HcclResult rc = init(&race, rank->options);

    for (int fresh = 0; fresh < 2 && rc == HCCL_SUCCESS; fresh++)
        rc = run(rank, &race, fresh);
    if (rc == HCCL_SUCCESS && rank->rank == 0) {
        perf_print_head(rank);
        if (rank->options->json)
            print_json(&race);
        else
            print_table(&race);
        if (fflush(stdout) != 0)
            rc = perf_fail(rank, HCCL_E_SYSCALL, "cannot write the output: %s", strerror(errno));
    }
    hc_free(race.samples[0][0]);
    return rc;
}
