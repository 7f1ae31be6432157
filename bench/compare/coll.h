/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * compare: the same measurements of collectives through several libraries, by ranks that are pinned
 * to two processors by turns. A driver fills in `struct coll_lib`; everything else, loops, clock,
 * data, and counts, is here and the same object file for all.
 *
 * A sample is the time from the first rank's start, all of them ready, to the last rank's end.
 * `static`: of several operations one after the other, divided by their number; nobody rewrites a
 * buffer. `fresh`: of one operation; each rank writes all of its source before, and reads all of
 * its result after it. Neither is timed, but caches are as they leave them. A row takes as many
 * samples as its time allows, and a few at least.
 *
 * Bytes are those of the larger buffer of a rank: what all-reduce, reduce-scatter and all-to-all
 * send, what all-gather receives, what broadcast has. Broadcasts have each rank as root by turns,
 * so that none runs ahead. Elements are FP32, sums are exact.
 *
 * `copy` is the limit: all ranks at once copy that many bytes between private buffers.
 *
 * Data are checked: of fresh results every element of each, otherwise at the end of each row.
 */
#ifndef HC_BENCH_COMPARE_COLL_H
#define HC_BENCH_COMPARE_COLL_H

#include "ranks.h"

#define RANKS_MOST 256

enum op { ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, ALL_TO_ALL, BROADCAST, COPY, OPS };

struct slot {
    _Alignas(LINE) struct stamp stamp;
};

/* What the ranks share without any library. */
struct coll_shared {
    struct flag arrived; /* at the barrier */
    struct flag turn;    /* barriers so far; written by the last to arrive */
    struct flag stop;    /* written by rank 0 before a barrier, read by all after it */
    struct flag ball[2]; /* of the bare ping-pong; written by that rank */
    _Alignas(LINE) char hello[HELLO_MOST]; /* by which the libraries find each other */
    struct slot slots[RANKS_MOST];         /* written by that rank, read by rank 0 */
};

struct coll_options {
    int ranks;
    bool quick;
    bool crowd;      /* all-reduce of 1 MiB alone */
    bool limits;     /* also what the machine itself takes */
    bool in_threads; /* of one process */
    bool in_line;    /* on the calling thread, not on a stream */
};

struct group {
    int rank, ranks;
    struct coll_shared *shared;
    const struct coll_lib *lib;
    const struct coll_options *options;
    double flag_ns; /* the last time of the bare ping-pong; rank 0 */
};

/* A library. Calls that fail end the process with fail(). `count` is in elements, and in all but
 * all-reduce and broadcast that of one rank's block. */
struct coll_lib {
    const char *name;
    const char *memory; /* what kind alloc() gives */

    void (*describe)(char *text, size_t len); /* version, what it uses here */
    void (*progress)(void);                   /* NULL: makes progress by itself */
    void *(*alloc)(size_t len);
    void (*release)(void *addr);

    void (*all_reduce)(const float *src, float *dst, size_t count);
    void (*all_gather)(const float *src, float *dst, size_t count);
    void (*reduce_scatter)(const float *src, float *dst, size_t count);
    void (*all_to_all)(const float *src, float *dst, size_t count);
    void (*broadcast)(float *buf, size_t count, int root);
    void (*finish)(void); /* all that was called; NULL: calls return when they are done */
};

/* [--quick] [--crowd] [--limits] [--ranks N] [--threads] [--inline]; the driver says which it
 * takes. */
void coll_parse(struct coll_options *options, int argc, char **argv);

/* Pinned, and its library opened: measures. */
void coll_main(struct group *group);

/* Waits for the others. */
void group_meet(const struct group *group);

#endif
