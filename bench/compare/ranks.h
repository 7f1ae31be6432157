/* SPDX-License-Identifier: BSD-3-Clause */
/* compare: what all drivers need of the machine: ranks, pinned, with memory in common; a clock;
 * rows. */
#ifndef HC_BENCH_COMPARE_RANKS_H
#define HC_BENCH_COMPARE_RANKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINE 128 /* two cache lines: neighbours are fetched in pairs */
#define HELLO_MOST 8192

struct flag {
    _Alignas(LINE) atomic_uint value;
};

struct stamp {
    uint64_t start, end; /* ns */
};

/* A line of what a driver prints. Times in ns. */
struct result {
    const char *row;
    size_t bytes;
    const char *pattern, *memory;
    int ranks;
    double flag_before, flag_after; /* of the bare ping-pong beside it */
};

/* One clear line, and the end. */
void fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

uint64_t now_ns(void);

/* Prints one JSON object; sorts the samples, which are in ns. */
void result_print(const struct result *result, double *samples, unsigned count);

/* A word in shared memory goes to and fro `rounds` times between two; ns for one way. */
double flag_time(atomic_uint *own, const atomic_uint *other, bool first, unsigned rounds);

/* The shortest of a few: it tells where the processors are, whatever else runs. */
double flag_check(atomic_uint *own, const atomic_uint *other, bool first);

/* Confines this thread to one of the first two processors it may use, by turns. */
void pin(int rank);

/* Shared memory between processes that were not forked here: make it and tell `path`, or open. */
void *shared_create(char *path, size_t path_len, size_t len);
void *shared_open(const char *path, size_t len);

/* Shared with processes that will be forked here. */
void *shared_inherit(size_t len);

/* Forks `ranks` processes that run `body` pinned and end, and waits for them. One that fails ends
 * all. Returns the exit status. */
int ranks_fork(const char *name, int ranks, void (*body)(int rank, void *arg), void *arg);

#endif
