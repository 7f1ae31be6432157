/* SPDX-License-Identifier: BSD-3-Clause */
/* bench: samples in, a row of the table and a JSON object out. */
#ifndef HC_BENCH_BENCH_H
#define HC_BENCH_BENCH_H

#include <stddef.h>
#include <stdint.h>

/* Prints the head of the table, or opens the JSON array (argument --json). */
void bench_begin(int argc, char **argv);
void bench_end(void);

/* One row: what was measured, how many samples, in `unit`. Sorts the samples. */
void bench_row(const char *name, const char *unit, double *samples, size_t count);

/* Confines the calling thread, and threads it starts, to processor `cpu`; -1: all again. */
void bench_pin(int cpu);

#endif
