/* SPDX-License-Identifier: BSD-3-Clause */
/* Many messages of random sizes between four ranks, in random directions, by several threads and
 * streams at once: all arrive, intact and in order. */
#define _GNU_SOURCE
#include "tests/support/two_sided.h"

#define RANKS 4u
#define MOST (1u << 20)
#define BATCH 8u

/* ---- a hundred thousand ---- */

/* All ranks know the same row of messages: who sends how much to whom. */
struct plan {
    uint32_t from, to;
    uint64_t len, seed;
};

static struct plan
plan_of(uint64_t nth)
{
    uint64_t dice = mixed(nth * 977 + 13);
    struct plan plan = {.from = dice % RANKS, .to = (dice >> 8) % RANKS, .seed = nth};
    uint64_t size = mixed(dice);

    if (plan.to == plan.from)
        plan.to = (plan.to + 1) % RANKS;
    if (dice % 64 == 0)
        plan.len = size % (MOST + 1);
    else if (dice % 8 == 0)
        plan.len = size % 20000;
    else
        plan.len = size % 200;
    return plan;
}

/* Long messages are told by their ends and some words between, or the check takes longer than the
 * message. */
static void
mark(uint8_t *memory, const struct plan *plan)
{
    uint64_t head = plan->len < 256 ? plan->len : 256;

    fill(memory, head, plan->seed);
    for (uint64_t at = 4096; at + 8 <= plan->len; at += 4096)
        memcpy(memory + at, &plan->seed, 8);
    if (plan->len > 256)
        memory[plan->len - 1] = (uint8_t)~plan->seed;
}

static bool
is_marked(const uint8_t *memory, const struct plan *plan)
{
    uint64_t head = plan->len < 256 ? plan->len : 256;
    bool good = is_filled(memory, head, plan->seed);

    for (uint64_t at = 4096; at + 8 <= plan->len - (plan->len > 256); at += 4096)
        good = good && memcmp(memory + at, &plan->seed, 8) == 0;
    return good && (plan->len <= 256 || memory[plan->len - 1] == (uint8_t)~plan->seed);
}

struct worker {
    struct side *side;
    uint32_t tag;
    uint64_t num;
    bool sends, queues;
    pthread_t thread;
};

/* Each rank sends its part of the row by one thread and receives by another: none can hang, and
 * messages of one pair must come in the order of the row. */
static void *
worker_main(void *arg)
{
    struct worker *worker = arg;
    struct side *side = worker->side;
    uint8_t *memory = malloc(MOST);
    aclrtStream stream = INLINE;

    OK(aclrtSetDevice(side->threads ? (int32_t)side->rank : 0));
    if (worker->queues)
        OK(aclrtCreateStream(&stream));
    for (uint64_t i = 0; i < worker->num; i++) {
        struct plan plan = plan_of(i * 8 + worker->tag);
        HcommRecvInfo info;

        if (worker->sends && plan.from == side->rank) {
            mark(memory, &plan);
            OK(settle(stream, HcommSend(memory, plan.len, BYTES, plan.to, worker->tag, side->comm,
                                        stream)));
        } else if (!worker->sends && plan.to == side->rank) {
            OK(settle(stream, HcommRecv(memory, MOST, BYTES, plan.from, worker->tag, &info,
                                        side->comm, stream)));
            MUST_EQ(plan.len, info.bytes);
            MUST(is_marked(memory, &plan));
        }
    }
    if (worker->queues)
        OK(aclrtDestroyStream(stream));
    free(memory);
    return NULL;
}

static uint64_t total; /* messages of all ranks */

static void
stress(struct side *side, uint32_t tags, bool queues)
{
    struct worker workers[16];

    for (uint32_t i = 0; i < 2 * tags; i++) {
        workers[i] = (struct worker){.side = side,
                                     .tag = i / 2,
                                     .num = total / tags,
                                     .sends = i % 2 == 0,
                                     .queues = queues && i / 2 % 2 == 1};
        OK(pthread_create(&workers[i].thread, NULL, worker_main, &workers[i]));
    }
    for (uint32_t i = 0; i < 2 * tags; i++)
        OK(pthread_join(workers[i].thread, NULL));
}

static void
one_pair_of_threads(struct side *side)
{
    stress(side, 1, false);
}

static void
several_threads_and_streams(struct side *side)
{
    stress(side, 4, true);
}

static uint64_t
part(uint64_t num)
{
    return SIDES_SLOW ? num / 20 : num;
}

TEST(a_hundred_thousand_messages_arrive_in_order_in_processes)
{
    test_time_limit(180);
    total = part(100000);
    sides_in_processes(RANKS, one_pair_of_threads);
}

TEST(a_hundred_thousand_messages_arrive_in_order_in_threads)
{
    test_time_limit(180);
    total = part(100000);
    sides_in_threads(RANKS, one_pair_of_threads);
}

TEST(several_threads_and_streams_of_a_rank_do_not_mix_in_processes)
{
    test_time_limit(180);
    total = part(20000);
    sides_in_processes(RANKS, several_threads_and_streams);
}

TEST(several_threads_and_streams_of_a_rank_do_not_mix_in_threads)
{
    test_time_limit(180);
    total = part(20000);
    sides_in_threads(RANKS, several_threads_and_streams);
}

TEST(messages_arrive_when_nobody_spins)
{
    test_time_limit(180);
    setenv("HCOMM_SPIN", "0", 1);
    total = part(8000);
    sides_in_processes(RANKS, several_threads_and_streams);
    sides_in_threads(RANKS, several_threads_and_streams);
}

TEST(messages_arrive_when_all_spin_long)
{
    test_time_limit(180);
    setenv("HCOMM_SPIN", "1000", 1);
    total = part(4000);
    sides_in_processes(RANKS, several_threads_and_streams);
    sides_in_threads(RANKS, several_threads_and_streams);
}

TEST(messages_arrive_through_short_rings)
{
    test_time_limit(180);
    setenv("HCOMM_P2P_RING", "64", 1);
    setenv("HCOMM_P2P_UNEXPECTED", "1", 1);
    total = part(10000);
    sides_in_processes(RANKS, several_threads_and_streams);
    sides_in_threads(RANKS, several_threads_and_streams);
}

/* ---- batches in random orders ---- */

static void
batches(struct side *side)
{
    HcommBatchItem items[2 * BATCH * RANKS];
    uint8_t *memory = malloc((size_t)2 * BATCH * RANKS * 30000);
    uint64_t rounds = SIDES_SLOW ? 20 : 150;

    for (uint64_t round = 0; round < rounds; round++) {
        uint32_t num = 0;

        for (uint32_t peer = 0; peer < RANKS; peer++) {
            for (uint32_t tag = 0; tag < BATCH; tag++) {
                uint64_t out = round << 16 | tag << 8 | side->rank << 4 | peer;
                uint64_t in = round << 16 | tag << 8 | peer << 4 | side->rank;
                uint8_t *at = memory + (size_t)num * 30000;

                fill(at, mixed(out) % 30000, out);
                items[num++] = (HcommBatchItem){
                    .kind = mixed(out + 1) % 4 == 0 ? HCOMM_BATCH_SEND_SYNC : HCOMM_BATCH_SEND,
                    .peer = peer,
                    .tag = tag,
                    .type = BYTES,
                    .buf = at,
                    .count = mixed(out) % 30000};
                items[num++] = (HcommBatchItem){.kind = HCOMM_BATCH_RECV,
                                                .peer = peer,
                                                .tag = tag,
                                                .type = BYTES,
                                                .buf = at + 30000,
                                                .count = mixed(in) % 30000};
            }
        }
        for (uint32_t i = num - 1; i > 0; i--) { /* any order will do */
            uint32_t other = mixed(round * 1000 + i + side->rank) % (i + 1);
            HcommBatchItem item = items[i];

            items[i] = items[other];
            items[other] = item;
        }
        OK(HcommBatch(items, num, side->comm, INLINE));
        for (uint32_t i = 0; i < num; i++) {
            uint64_t in = round << 16 | items[i].tag << 8 | items[i].peer << 4 | side->rank;

            if (items[i].kind == HCOMM_BATCH_RECV)
                MUST(is_filled(items[i].buf, items[i].count, in));
        }
    }
    free(memory);
}

TEST_SIDES(batches_in_any_order_end, RANKS, batches)

/* ---- a ring of sixteen ---- */

static void
ring_of_sixteen(struct side *side)
{
    uint64_t out[2] = {side->rank, 0}, in[2];
    uint32_t next = (side->rank + 1) % side->num, last = (side->rank + side->num - 1) % side->num;

    for (uint64_t round = 0; round < (SIDES_SLOW ? 200 : 10000); round++) {
        out[1] = round;
        OK(HcommSend(out, 2, HCCL_DATA_TYPE_UINT64, next, 1, side->comm, INLINE));
        OK(HcommRecv(in, 2, HCCL_DATA_TYPE_UINT64, last, 1, NULL, side->comm, INLINE));
        MUST_EQ(last, in[0]);
        MUST_EQ(round, in[1]);
    }
}

TEST(a_ring_of_sixteen_ends_with_the_right_data)
{
    test_time_limit(180);
    setenv("HCOMM_DEVICE_COUNT", "16", 1);
    sides_in_threads(16, ring_of_sixteen);
}

TEST(a_ring_of_sixteen_processes_ends_with_the_right_data)
{
    test_time_limit(180);
    sides_in_processes(16, ring_of_sixteen);
}
