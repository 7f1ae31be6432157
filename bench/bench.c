/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/bench.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool json, quick;
static int rows;

void
bench_begin(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        json = json || strcmp(argv[i], "--json") == 0;
        quick = quick || strcmp(argv[i], "--quick") == 0;
    }
    if (json)
        printf("[");
    else
        printf("%-58s %10s %10s %10s %-9s %s\n", "what", "min", "median", "p99", "unit", "x limit");
    fflush(stdout);
}

void
bench_end(void)
{
    if (json)
        printf("\n]\n");
}

bool
bench_quick(void)
{
    return quick;
}

static int
compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double
bench_median(double *samples, size_t count)
{
    qsort(samples, count, sizeof *samples, compare);
    return samples[count / 2];
}

/* `limit` 0: there is none. */
static void
print_row(const char *name, const char *unit, double *samples, size_t count, double limit)
{
    double median = bench_median(samples, count), p99 = samples[count - 1 - count / 100];

    if (json) {
        printf(
            "%s\n  {\"what\":\"%s\",\"unit\":\"%s\",\"samples\":%zu,\"min\":%.4g,\"median\":%.4g,"
            "\"p99\":%.4g",
            rows == 0 ? "" : ",", name, unit, count, samples[0], median, p99);
        if (limit > 0)
            printf(",\"limit\":%.4g,\"times_limit\":%.4g", limit, median / limit);
        printf("}");
    } else {
        printf("%-58s %10.4g %10.4g %10.4g %-9s", name, samples[0], median, p99, unit);
        if (limit > 0)
            printf(" %.3f", median / limit);
        printf("\n");
    }
    fflush(stdout);
    rows++;
}

void
bench_row(const char *name, const char *unit, double *samples, size_t count)
{
    print_row(name, unit, samples, count, 0);
}

void
bench_row_against(const char *name, const char *unit, double *samples, size_t count, double limit)
{
    print_row(name, unit, samples, count, limit);
}

void
bench_pin(int cpu)
{
    cpu_set_t set;
    long num = sysconf(_SC_NPROCESSORS_ONLN);

    CPU_ZERO(&set);
    for (int i = 0; i < num; i++) {
        if (cpu < 0 || i == cpu)
            CPU_SET(i, &set);
    }
    (void)sched_setaffinity(0, sizeof set, &set);
}
