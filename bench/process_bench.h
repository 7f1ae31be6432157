/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * process_bench: several rank processes, what they share, and the parts of the benchmark.
 *
 * The parent forks the ranks before it calls into the library (it never does), and prints the rows
 * that rank 0 leaves in shared memory. In a pair rank 0 measures, and rank 1 serves what it asks.
 */
#ifndef HC_BENCH_PROCESS_BENCH_H
#define HC_BENCH_PROCESS_BENCH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "bench/bench.h"
#include "hccl/hccl_channel.h"
#include "hccl/hccl_comm.h"
#include "hccl/hccl_res.h"

#define ROWS_MOST 160
#define SAMPLES_MOST 1000
#define CACHE_LINE 128 /* two: neighbours are fetched in pairs */

struct row {
    char name[96], unit[16];
    double samples[SAMPLES_MOST], limit;
    size_t count;
};

/* What rank 0 asks of rank 1. */
enum ask { ASK_FILL, ASK_READ, ASK_ECHO, ASK_END };

struct world {
    uint32_t num; /* ranks */
    HcclRootInfo info;
    atomic_int info_made;
    pthread_barrier_t barrier;

    /* One request at a time: rank 0 fills it in, then sets `asked`; rank 1 sets `done`. */
    enum ask ask;
    uint64_t offset, len; /* bytes of rank 1's buffer; ASK_ECHO: `len` rounds of kind `echo` */
    int echo;
    _Alignas(CACHE_LINE) atomic_uint asked;
    _Alignas(CACHE_LINE) atomic_uint done;

    /* The bare ping-pong. */
    _Alignas(CACHE_LINE) atomic_uint ping;
    _Alignas(CACHE_LINE) atomic_uint pong;

    _Alignas(CACHE_LINE) uint32_t row_num; /* written by rank 0, read when it has ended */
    struct row rows[ROWS_MOST];
};

/* A way to the peer: a channel and the peer's buffer. */
struct way {
    ChannelHandle channel;
    char *peer_buf;
};

struct rank {
    struct world *world;
    uint32_t number;
    HcclComm comm;
    char *buf;
    uint64_t size;
    ThreadHandle thread; /* of engine CPU_TS */
    aclrtStream stream;  /* of the thread */
};

void check(int code, const char *what);

/* For rank 0: one row more. `limit` 0: none. */
void world_row(struct world *world, const char *name, const char *unit, const double *samples,
               size_t count, double limit);

/* Joins the others, with a queue of engine CPU_TS; then closes in the same order everywhere. */
void rank_open(struct rank *rank, struct world *world, uint32_t number);
void rank_close(struct rank *rank);

/* Channels of one engine to `num` peers; both sides list theirs by rank. `mem` may be NULL. */
void rank_ways(struct rank *rank, CommEngine engine, const uint32_t *peers, uint32_t num,
               HcclMemHandle *mem, struct way *ways);

/* Rank 0 of a pair: rank 1 does it now, and has done it when this returns. */
void pair_ask(struct world *world, enum ask ask, uint64_t offset, uint64_t len);

/* ASK_ECHO in two halves: rank 0 does its own part in between. */
void pair_echo_start(struct world *world, int echo, uint64_t rounds);
void pair_echo_finish(struct world *world);

/* Rank 1: serves until ASK_END. `echo` serves ASK_ECHO, with `arg`; may be NULL. */
void pair_serve(struct rank *rank, void (*echo)(void *arg, int which, uint64_t rounds), void *arg);

/* Stores to all of the bytes; loads all of them. */
void touch_fill(void *at, uint64_t len);
void touch_read(const void *at, uint64_t len);

/* Forks `num` ranks that run `part`, waits for them, prints their rows. Any failure ends all. */
void run_ranks(uint32_t num, void (*part)(struct world *world, uint32_t rank));

/* "64 KiB" */
const char *size_name(uint64_t len);

/* The parts. */
void copy_part(struct world *world, uint32_t rank);
void foreign_part(struct world *world, uint32_t rank);
void notify_part(struct world *world, uint32_t rank);
void crowd_part(struct world *world, uint32_t rank);

#endif
