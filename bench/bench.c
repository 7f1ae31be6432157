/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/bench.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int json, rows;

void
bench_begin(int argc, char **argv)
{
    json = argc > 1 && strcmp(argv[1], "--json") == 0;
    if (json)
        printf("[");
    else
        printf("%-58s %10s %10s %10s %s\n", "what", "min", "median", "p99", "unit");
}

void
bench_end(void)
{
    if (json)
        printf("\n]\n");
}

static int
compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void
bench_row(const char *name, const char *unit, double *samples, size_t count)
{
    double median, p99;

    qsort(samples, count, sizeof *samples, compare);
    median = samples[count / 2];
    p99 = samples[count - 1 - count / 100];
    if (json)
        printf(
            "%s\n  {\"what\":\"%s\",\"unit\":\"%s\",\"samples\":%zu,\"min\":%.4g,\"median\":%.4g,"
            "\"p99\":%.4g}",
            rows == 0 ? "" : ",", name, unit, count, samples[0], median, p99);
    else
        printf("%-58s %10.4g %10.4g %10.4g %s\n", name, samples[0], median, p99, unit);
    fflush(stdout);
    rows++;
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
