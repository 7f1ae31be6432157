/* SPDX-License-Identifier: BSD-3-Clause */
/* bench: samples in, a row of the table and a JSON object out. */
#ifndef HC_BENCH_BENCH_H
#define HC_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Prints the head of the table, or opens the JSON array (argument --json). */
void bench_begin(int argc, char **argv);
void bench_end(void);

/* Whether `--quick` was given: few rounds, to see that it runs. After bench_begin. */
bool bench_quick(void);

/* One row: what was measured, how many samples, in `unit`. Sorts the samples. */
void bench_row(const char *name, const char *unit, double *samples, size_t count);

/* As bench_row, with the median as a multiple of `limit`, the best there is without the library. */
void bench_row_against(const char *name, const char *unit, double *samples, size_t count,
                       double limit);

/* Sorts the samples. */
double bench_median(double *samples, size_t count);

/* Confines the calling thread, and threads it starts, to processor `cpu`; -1: all again. */
void bench_pin(int cpu);

#endif
