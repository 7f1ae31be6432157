/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that cannot be mapped (malloc at the target), on the path that HCOMM_FOREIGN names. */
#include "bench/process_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "hcomm/hcomm_primitives.h"

#define MOST (16ull << 20)
#define TAG "foreign"

enum way_to_copy { BARE, WRITE, READ, WAYS };

static const char *const way_names[WAYS] = {"memcpy", "HcommWriteNbi", "HcommReadNbi"};

static char *
remote_memory(const struct rank *rank, ChannelHandle channel)
{
    CommMem *mems;
    char **tags;
    uint32_t num;

    check(HcclChannelGetRemoteMems(rank->comm, channel, &num, &mems, &tags), "remote memory");
    for (uint32_t i = 0; i < num; i++) {
        if (strcmp(tags[i], TAG) == 0)
            return mems[i].addr;
    }
    check(1, "the peer's memory");
    return NULL;
}

static void
copy_once(const struct rank *rank, enum way_to_copy how, ChannelHandle channel, char *foreign,
          uint64_t len)
{
    if (how == BARE)
        memcpy(rank->buf + MOST, rank->buf, len);
    else if (how == WRITE)
        check(HcommWriteNbi(channel, foreign, rank->buf, len), "HcommWriteNbi");
    else
        check(HcommReadNbi(channel, rank->buf, foreign, len), "HcommReadNbi");
}

static void
measure(const struct rank *rank, ChannelHandle channel, char *foreign, uint64_t len)
{
    static double samples[WAYS][SAMPLES_MOST];
    size_t num = bench_quick() ? 3 : len <= 1u << 20 ? 300 : 40;
    double limit = 0;
    char name[96];

    for (size_t i = 0; i < num; i++) {
        for (enum way_to_copy how = 0; how < WAYS; how++) {
            uint64_t start;

            copy_once(rank, how, channel, foreign, len); /* in the caches as it is then */
            start = hc_now_ns();
            copy_once(rank, how, channel, foreign, len);
            samples[how][i] = (double)len / (double)(hc_now_ns() - start);
        }
    }
    for (enum way_to_copy how = 0; how < WAYS; how++) {
        snprintf(name, sizeof name, "%s%s, malloc at the target, %s: %s",
                 how == BARE ? "limit: " : "", size_name(len), getenv("HCOMM_FOREIGN"),
                 way_names[how]);
        world_row(rank->world, name, "GB/s", samples[how], num, limit);
        limit = how == BARE ? bench_median(samples[BARE], num) : limit;
    }
}

void
foreign_part(struct world *world, uint32_t number)
{
    static const uint64_t lens[] = {64u << 10, 1u << 20, MOST};
    const uint32_t peer = 1 - number;
    size_t num = bench_quick() ? 1 : sizeof lens / sizeof lens[0];
    CommMem mem = {.type = COMM_MEM_TYPE_HOST, .addr = malloc(MOST), .size = MOST};
    HcclMemHandle handle;
    struct rank rank;
    struct way way;

    if (mem.addr == NULL)
        exit(1);
    touch_fill(mem.addr, MOST);
    rank_open(&rank, world, number);
    check(HcclCommMemReg(rank.comm, TAG, &mem, &handle), "HcclCommMemReg");
    rank_ways(&rank, COMM_ENGINE_CPU, &peer, 1, &handle, &way);
    pthread_barrier_wait(&world->barrier);
    if (number == 0) {
        char *foreign = remote_memory(&rank, way.channel);

        for (size_t i = 0; i < num; i++)
            measure(&rank, way.channel, foreign, lens[i]);
    }
    rank_close(&rank); /* rank 1 sleeps until then: its process serves by itself */
    free(mem.addr);
}
