/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * compare: the same measurements through several libraries, in two processes pinned to two
 * processors. A driver fills in `struct lib` for its library; everything else, loops, clock, data,
 * and counts, is here and the same object file for all.
 *
 * Patterns. `static`: a ping-pong of buffers that nobody rewrites; half of a round trip.
 * `fresh`: the sender writes all of its buffer before each message, and the receiver reads all of
 * its own after it. Neither is timed, but caches are as they leave them. Both processes meet, the
 * receiver goes to receive, the sender 1 us later stamps and sends, the receiver stamps when it has
 * received: CLOCK_MONOTONIC is one clock for both. A sample is the mean of the two directions.
 *
 * Windows: rank 0 works on the memory of rank 1, which waits, and lets its library make progress.
 *
 * A hypervisor may move the two processors between one core and two, which changes everything. So
 * each row says how long a bare ping-pong of a flag took before and after it.
 *
 * Data are checked: of fresh messages every word of each, otherwise at the end of each row.
 */
#ifndef HC_BENCH_COMPARE_LOOPS_H
#define HC_BENCH_COMPARE_LOOPS_H

#include "ranks.h"

#define SAMPLES_MOST 1024

enum memory { MEMORY_DEVICE, MEMORY_PINNED, MEMORY_LIBRARY, MEMORY_MALLOC, MEMORY_KINDS };

/* What the two processes share without any library. Index: rank. */
struct shared {
    struct flag here[2]; /* of the barrier; written by that rank */
    struct flag ball[2]; /* of the bare ping-pong; written by that rank */
    _Alignas(LINE) size_t hello_len[2];
    char hello[2][HELLO_MOST]; /* by which the libraries find each other */
    _Alignas(LINE) struct stamp stamps[2][SAMPLES_MOST];
};

struct pair {
    int rank;
    struct shared *shared;
    const struct lib *lib;
    bool quick;
    unsigned met;   /* barriers so far */
    double flag_ns; /* the last time of the bare ping-pong; rank 0 */
};

/* A library. Calls that fail end the process with fail(). NULL only where said. */
struct lib {
    const char *name;
    const enum memory *memories; /* first the one that suits it best; ends with MEMORY_KINDS */

    void (*open)(struct pair *pair); /* pinned already; NULL, as close: main() has done it */
    void (*close)(void);
    void (*describe)(char *text, size_t len); /* version, what it uses here */
    void (*progress)(void);                   /* NULL: makes progress by itself */

    void *(*alloc)(enum memory memory, size_t len); /* MEMORY_MALLOC never comes here */
    void (*release)(enum memory memory, void *addr);

    void (*send)(const void *buf, size_t len); /* return when the buffer may be used */
    void (*recv)(void *buf, size_t len);
    /* `rounds` times, on a stream: rank 0 sends, then receives; rank 1 the other way round.
     * NULL: has no streams */
    void (*queue)(const void *src, void *dst, size_t len, unsigned rounds);

    void *(*window_open)(size_t len); /* collective; the own memory, any content */
    void (*window_close)(void);
    void (*put)(const void *src, size_t len);
    void (*get)(void *dst, size_t len);
    void (*accumulate)(const float *src, size_t count); /* sum; NULL: has none */
    void (*flush)(void); /* what was put is there; and what the peer has put here can be seen */
};

/* With a launcher: process `rank` has the shared memory and measures. Arguments: [--quick]. */
void loops_main(struct pair *pair, int argc, char **argv);

/* Without: forks two, and waits for them. Returns the exit status. */
int loops_fork(const struct lib *lib, int argc, char **argv);

/* Waits for the other process. */
void meet(struct pair *pair);

/* limits.c: what one process does alone. */
void limit_add(float *restrict dst, const float *restrict src, size_t count);

#endif
