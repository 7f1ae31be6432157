/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many more rank processes than processors: messages of 64 bytes with a notify, written at once and
 * awaited at once. In the ring everybody sends to the next rank and waits for the previous one, so
 * that all tokens go round; in all pairs, everybody exchanges one message with everybody.
 */
#include "bench/process_bench.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "hcomm/hcomm_primitives.h"

#define LEN 64u
#define TIMEOUT_S 100
#define LAPS 50
#define SAMPLES 5

static void
send_to(const struct rank *rank, const struct way *way, uint32_t notify)
{
    check(HcommWriteWithNotifyNbi(way->channel, way->peer_buf + rank->number * LEN,
                                  rank->buf + rank->world->num * LEN, LEN, notify),
          "HcommWriteWithNotifyNbi");
}

static void
await(const struct way *way, uint32_t notify)
{
    check(HcommChannelNotifyWait(way->channel, notify, TIMEOUT_S), "HcommChannelNotifyWait");
}

static void
ring(const struct rank *rank, const struct way *ways)
{
    uint32_t num = rank->world->num;
    const struct way *next = &ways[(rank->number + 1) % num];
    const struct way *previous = &ways[(rank->number + num - 1) % num];

    for (int lap = 0; lap < LAPS; lap++) {
        send_to(rank, next, 0);
        await(previous, 0);
    }
}

static void
all_pairs(const struct rank *rank, const struct way *ways)
{
    for (uint32_t k = 1; k < rank->world->num; k++) { /* a power of two */
        send_to(rank, &ways[rank->number ^ k], 1);
        await(&ways[rank->number ^ k], 1);
    }
}

static void
measure(const struct rank *rank, const struct way *ways, const char *what,
        void (*run)(const struct rank *rank, const struct way *ways), uint32_t messages)
{
    double samples[SAMPLES];
    char name[96];

    for (int i = -1; i < SAMPLES; i++) { /* the first does not count */
        uint64_t start;

        pthread_barrier_wait(&rank->world->barrier);
        start = hc_now_ns();
        run(rank, ways);
        pthread_barrier_wait(&rank->world->barrier);
        if (i >= 0)
            samples[i] = (double)(hc_now_ns() - start) / 1e3 / messages;
    }
    snprintf(name, sizeof name, "%u processes, %s, for each message", rank->world->num, what);
    if (rank->number == 0)
        world_row(rank->world, name, "us", samples, SAMPLES, 0);
}

void
crowd_part(struct world *world, uint32_t number)
{
    uint32_t *peers = calloc(world->num, sizeof *peers), num = 0;
    struct way *found = calloc(world->num, sizeof *found);
    struct way *ways = calloc(world->num, sizeof *ways); /* by rank */
    struct rank rank;
    double joined;

    if (peers == NULL || found == NULL || ways == NULL)
        exit(1);
    pthread_barrier_wait(&world->barrier);
    joined = (double)hc_now_ns();
    rank_open(&rank, world, number);
    for (uint32_t i = 0; i < world->num; i++) {
        if (i != number)
            peers[num++] = i;
    }
    rank_ways(&rank, COMM_ENGINE_CPU, peers, num, NULL, found);
    for (uint32_t i = 0; i < num; i++)
        ways[peers[i]] = found[i];
    pthread_barrier_wait(&world->barrier);
    joined = ((double)hc_now_ns() - joined) / 1e6 / (world->num * num);
    if (number == 0) {
        char name[96];

        snprintf(name, sizeof name, "%u processes, join and connect all, for each channel end",
                 world->num);
        world_row(world, name, "ms", &joined, 1, 0);
    }
    measure(&rank, ways, "ring", ring, world->num * LAPS);
    measure(&rank, ways, "all pairs", all_pairs, world->num * num);
    rank_close(&rank);
    free(peers);
    free(found);
    free(ways);
}
