/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the record of a notify to the end of the peer's wait: half of a round trip, beside half of
 * the round trip of a bare flag that each side stores and the other spins on.
 */
#include "bench/process_bench.h"

#include <stdio.h>

#include "acl/acl_rt.h"
#include "base/clock.h"
#include "hcomm/hcomm_primitives.h"

#define ROUNDS 100 /* round trips in one sample */
#define SAMPLES 60 /* in a block */
#define BLOCKS 10
#define TIMEOUT_S 60

enum { BARE, POLITE, NOW, QUEUED, STEPS, KINDS };

static const char *const names[KINDS] = {
    "limit: bare flag, store to load", "the same with a pause between two looks",
    "notify at once (engine CPU), record to wake",
    "notify queued 100 ahead (engine CPU_TS), record to wake",
    "notify queued and synchronized one by one, record to wake"};

struct table {
    struct rank *rank;
    struct way now, queued;
};

static inline void
relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause(); /* leaves the core to the other half of it, if there is one */
#endif
}

static void
flag_pass(atomic_uint *flag, const atomic_uint *awaited, bool first, bool polite, uint64_t rounds)
{
    for (uint64_t i = 0; i < rounds; i++) {
        unsigned next = atomic_load_explicit(flag, memory_order_relaxed) + 1;

        if (first)
            atomic_store_explicit(flag, next, memory_order_release);
        while (atomic_load_explicit(awaited, memory_order_acquire) != next) {
            if (polite)
                relax();
        }
        if (!first)
            atomic_store_explicit(flag, next, memory_order_release);
    }
}

static void
record(const struct table *table, int kind)
{
    if (kind == NOW)
        check(HcommChannelNotifyRecord(table->now.channel, 0), "record");
    else
        check(HcommChannelNotifyRecordOnThread(table->rank->thread, table->queued.channel, 0),
              "record");
}

static void
await(const struct table *table, int kind)
{
    if (kind == NOW)
        check(HcommChannelNotifyWait(table->now.channel, 0, TIMEOUT_S), "wait");
    else
        check(HcommChannelNotifyWaitOnThread(table->rank->thread, table->queued.channel, 0,
                                             TIMEOUT_S),
              "wait");
}

static void
play(const struct table *table, int kind, bool first, uint64_t rounds)
{
    struct world *world = table->rank->world;

    if (kind <= POLITE) {
        flag_pass(first ? &world->ping : &world->pong, first ? &world->pong : &world->ping, first,
                  kind == POLITE, rounds);
        return;
    }
    for (uint64_t i = 0; i < rounds; i++) {
        if (first)
            record(table, kind);
        await(table, kind);
        if (!first)
            record(table, kind);
        if (kind == STEPS)
            check(aclrtSynchronizeStream(table->rank->stream), "synchronize");
    }
    if (kind == QUEUED)
        check(aclrtSynchronizeStream(table->rank->stream), "synchronize");
}

static void
echo(void *arg, int kind, uint64_t rounds)
{
    play(arg, kind, false, rounds);
}

static double
sample(const struct table *table, int kind)
{
    uint64_t start;

    pair_echo_start(table->rank->world, kind, ROUNDS + 1);
    play(table, kind, true, 1); /* both are there */
    start = hc_now_ns();
    play(table, kind, true, ROUNDS);
    start = hc_now_ns() - start;
    pair_echo_finish(table->rank->world);
    return (double)start / (2 * ROUNDS);
}

static void
measure(const struct table *table)
{
    static double samples[KINDS][BLOCKS * SAMPLES];
    int num = bench_quick() ? 2 : SAMPLES;
    size_t count = (size_t)(BLOCKS * num);
    double limit;

    for (int block = 0; block < BLOCKS; block++) {
        for (int kind = 0; kind < KINDS; kind++) {
            for (int i = 0; i < num; i++)
                samples[kind][block * num + i] = sample(table, kind);
        }
    }
    limit = bench_median(samples[BARE], count);
    for (int kind = 0; kind < KINDS; kind++)
        world_row(table->rank->world, names[kind], "ns", samples[kind], count,
                  kind == BARE ? 0 : limit);
}

void
notify_part(struct world *world, uint32_t number)
{
    const uint32_t peer = 1 - number;
    struct rank rank;
    struct table table = {.rank = &rank};

    rank_open(&rank, world, number);
    rank_ways(&rank, COMM_ENGINE_CPU, &peer, 1, NULL, &table.now);
    rank_ways(&rank, COMM_ENGINE_CPU_TS, &peer, 1, NULL, &table.queued);
    pthread_barrier_wait(&world->barrier);
    if (number == 1) {
        pair_serve(&rank, echo, &table);
    } else {
        measure(&table);
        pair_ask(world, ASK_END, 0, 0);
    }
    rank_close(&rank);
}
