/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing and reading a peer's memory against the best plain copy between the same two buffers.
 *
 * Patterns: "static": nobody touches the buffers between copies. "fresh": the sender writes its
 * buffer before each copy, the receiver reads its own after it; both outside the timed part, but
 * with what they do to the caches. The contenders take turns in blocks, of which the first copies
 * do not count: a copy finds the caches as its own kind leaves them.
 */
#include "bench/process_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl_rt.h"
#include "base/clock.h"
#include "copy/kinds.h"
#include "hcomm/hcomm_primitives.h"

#define HALF (64ull << 20)
#define BLOCKS 6
#define BARE 2 /* the first contender without the library; before it: at once, queued */
#define CONTENDERS (BARE + COPY_KINDS)

static const char *const kind_names[COPY_KINDS] = {"memmove", "non-temporal", "rep movsb"};

struct duel {
    struct rank *rank;
    struct way now, queued; /* channels of engine CPU and of engine CPU_TS */
    bool reads, fresh;
    char *own, *peer; /* the two buffers */
    uint64_t peer_offset, len;
    int times;    /* copies in one sample */
    int samples;  /* of a contender in a block */
    int settling; /* samples before them that do not count */
    int learning; /* samples before all blocks: a habit is made */
};

static void
copy_once(const struct duel *duel, int contender)
{
    void *dst = duel->reads ? duel->own : duel->peer;
    const void *src = duel->reads ? duel->peer : duel->own;

    if (contender >= BARE) {
        copy_by((enum copy_kind)(contender - BARE), dst, src, duel->len);
    } else if (contender == 0) {
        check(duel->reads ? HcommReadNbi(duel->now.channel, dst, src, duel->len)
                          : HcommWriteNbi(duel->now.channel, dst, src, duel->len),
              "a transfer at once");
    } else {
        ThreadHandle thread = duel->rank->thread;

        check(duel->reads ? HcommReadOnThread(thread, duel->queued.channel, dst, src, duel->len)
                          : HcommWriteOnThread(thread, duel->queued.channel, dst, src, duel->len),
              "a queued transfer");
        check(aclrtSynchronizeStream(duel->rank->stream), "aclrtSynchronizeStream");
    }
}

/* One sample, us for a copy. */
static double
sample(const struct duel *duel, int contender)
{
    struct world *world = duel->rank->world;
    uint64_t start, ns;

    if (duel->fresh && duel->reads)
        pair_ask(world, ASK_FILL, duel->peer_offset, duel->len);
    else if (duel->fresh)
        touch_fill(duel->own, duel->len);
    atomic_thread_fence(memory_order_seq_cst); /* those stores are not the copy's */
    start = hc_now_ns();
    for (int i = 0; i < duel->times; i++) {
        copy_once(duel, contender);
        atomic_thread_fence(memory_order_seq_cst); /* over when the peer can see all of it */
    }
    ns = hc_now_ns() - start;
    if (duel->fresh && duel->reads)
        touch_read(duel->own, duel->len);
    else if (duel->fresh)
        pair_ask(world, ASK_READ, duel->peer_offset, duel->len);
    return (double)ns / 1e3 / duel->times;
}

static void
fight(const struct duel *duel, double samples[CONTENDERS][SAMPLES_MOST])
{
    for (int contender = 0; contender < BARE; contender++) {
        for (int i = 0; i < duel->learning; i++)
            (void)sample(duel, contender);
    }
    for (int block = 0; block < BLOCKS; block++) {
        for (int contender = 0; contender < CONTENDERS; contender++) {
            for (int i = 0; i < duel->settling; i++)
                (void)sample(duel, contender);
            for (int i = 0; i < duel->samples; i++)
                samples[contender][block * duel->samples + i] = sample(duel, contender);
        }
    }
}

static void
report(const struct duel *duel, double samples[CONTENDERS][SAMPLES_MOST])
{
    const char *verb = duel->reads ? "read" : "write", *pattern = duel->fresh ? "fresh" : "static";
    size_t count = (size_t)(BLOCKS * duel->samples);
    double limit = bench_median(samples[BARE], count);
    int best = BARE;
    char name[96];

    for (int contender = BARE + 1; contender < CONTENDERS; contender++) {
        double median = bench_median(samples[contender], count);

        if (median < limit) {
            limit = median;
            best = contender;
        }
    }
    snprintf(name, sizeof name, "limit: %s, %s, %s: %s", size_name(duel->len), pattern, verb,
             kind_names[best - BARE]);
    world_row(duel->rank->world, name, "us", samples[best], count, 0);
    snprintf(name, sizeof name, "%s, %s: %s", size_name(duel->len), pattern,
             duel->reads ? "HcommReadNbi" : "HcommWriteNbi");
    world_row(duel->rank->world, name, "us", samples[0], count, limit);
    snprintf(name, sizeof name, "%s, %s: %s + synchronize", size_name(duel->len), pattern,
             duel->reads ? "HcommReadOnThread" : "HcommWriteOnThread");
    world_row(duel->rank->world, name, "us", samples[1], count, limit);
}

static void
measure(struct duel *duel, uint64_t len)
{
    static double samples[CONTENDERS][SAMPLES_MOST];

    duel->len = len;
    duel->times = !duel->fresh && len < 1u << 20 ? 10 : 1;
    duel->samples = len <= 1u << 20 ? 50 : len <= 4u << 20 ? 20 : len <= 16u << 20 ? 8 : 3;
    duel->settling = len <= 4u << 20 ? 4 : 1;
    duel->learning = len <= 1u << 20 ? 400 : len <= 4u << 20 ? 200 : 80;
    if (bench_quick())
        duel->samples = duel->learning = 2;
    fight(duel, samples);
    report(duel, samples);
}

/* The sender's buffer is in the first half of its memory, the receiver's in the second. */
static void
aim(struct duel *duel, bool reads, bool fresh)
{
    duel->reads = reads;
    duel->fresh = fresh;
    duel->own = duel->rank->buf + (reads ? HALF : 0);
    duel->peer_offset = reads ? 0 : HALF;
    duel->peer = duel->now.peer_buf + duel->peer_offset;
}

void
copy_part(struct world *world, uint32_t number)
{
    static const uint64_t lens[] = {64u << 10, 256u << 10, 1u << 20, 4u << 20, 16u << 20, HALF};
    const uint32_t peer = 1 - number;
    size_t num = bench_quick() ? 2 : sizeof lens / sizeof lens[0];
    struct rank rank;
    struct duel duel = {.rank = &rank};

    rank_open(&rank, world, number);
    rank_ways(&rank, COMM_ENGINE_CPU, &peer, 1, NULL, &duel.now);
    rank_ways(&rank, COMM_ENGINE_CPU_TS, &peer, 1, NULL, &duel.queued);
    if (!bench_quick())
        touch_fill(rank.buf, rank.size); /* no page is new */
    pthread_barrier_wait(&world->barrier);
    if (number == 1) {
        pair_serve(&rank, NULL, NULL);
    } else {
        for (int mode = 0; mode < 4; mode++) {
            aim(&duel, mode >= 2, mode % 2 == 1);
            for (size_t i = 0; i < num; i++)
                measure(&duel, lens[i]);
        }
        pair_ask(world, ASK_END, 0, 0);
    }
    rank_close(&rank);
}
