/* SPDX-License-Identifier: BSD-3-Clause */
/* Send and receive between ranks that are threads, and between ranks that are processes. */
#define _GNU_SOURCE
#include "reduce/reduce.h"
#include "tests/support/two_sided.h"

#define AROUND 64u
#define MARK 0xA5

/* ---- every size, from and to every kind of memory ---- */

struct message {
    enum memory from, to;
    uint64_t len, shift; /* bytes from an aligned address */
    uint64_t more;       /* bytes that the receive has room for besides */
    aclrtStream stream;
};

static void
give(struct side *side, const struct message *message, uint64_t seed)
{
    uint8_t *memory = memory_get(message->from, message->len + message->shift + 1);

    fill(memory + message->shift, message->len, seed);
    OK(settle(message->stream, HcommSend(memory + message->shift, message->len, BYTES,
                                         1 - side->rank, 7, side->comm, message->stream)));
    MUST(is_filled(memory + message->shift, message->len, seed));
    memory_put(message->from, memory);
}

static void
take(struct side *side, const struct message *message, uint64_t seed)
{
    uint64_t room = message->len + message->more, all = room + 2 * AROUND + message->shift;
    uint8_t *memory = memory_get(message->to, all), *at = memory + AROUND + message->shift;
    HcommRecvInfo info;

    memset(memory, MARK, all);
    memset(&info, 0xFF, sizeof info);
    OK(settle(message->stream,
              HcommRecv(at, room, BYTES, 1 - side->rank, 7, &info, side->comm, message->stream)));
    MUST(is_filled(at, message->len, seed));
    MUST(is_all(memory, AROUND + message->shift, MARK));
    MUST(is_all(at + message->len, message->more + AROUND, MARK));
    MUST_EQ(1 - side->rank, info.source);
    MUST_EQ(7, info.tag);
    MUST_EQ(BYTES, info.type);
    MUST_EQ(0, info.reserved);
    MUST_EQ(message->len, info.count);
    MUST_EQ(message->len, info.bytes);
    memory_put(message->to, memory);
}

static const uint64_t sizes[] = {0,     1,     2,     39,     40,     41,     64,
                                 100,   4095,  8191,  8192,   8193,   16384,  32769,
                                 65535, 65536, 65537, 131072, 200001, 262144, (1u << 20) + 3};

static void
every_size(struct side *side, aclrtStream stream)
{
    uint64_t seed = 0;

    for (enum memory from = 0; from < MEMORIES; from++) {
        for (enum memory to = 0; to < MEMORIES; to++) {
            for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
                struct message message = {.from = from,
                                          .to = to,
                                          .len = sizes[i],
                                          .shift = seed % 3 == 0 ? 0 : seed % 67,
                                          .more = seed % 2 == 0 ? 0 : 1 + seed % 5000,
                                          .stream = stream};

                if (side->rank == seed++ % 2)
                    give(side, &message, seed);
                else
                    take(side, &message, seed);
            }
        }
    }
}

static void
every_size_inline(struct side *side)
{
    every_size(side, INLINE);
}

static void
every_size_queued(struct side *side)
{
    aclrtStream stream;

    OK(aclrtCreateStream(&stream));
    every_size(side, stream);
    OK(aclrtDestroyStream(stream));
}

static void
one_queues(struct side *side)
{
    if (side->rank == 0)
        every_size_inline(side);
    else
        every_size_queued(side);
}

TEST_SIDES(messages_of_every_size_and_memory_arrive, 2, every_size_inline)
TEST_SIDES(queued_messages_of_every_size_and_memory_arrive, 2, every_size_queued)
TEST_SIDES(one_side_may_queue_and_the_other_not, 2, one_queues)

static void
large_ones(struct side *side)
{
    uint64_t seed = 0;

    for (enum memory from = 0; from < MEMORIES; from++) {
        for (enum memory to = 0; to < MEMORIES; to++) {
            struct message message = {.from = from,
                                      .to = to,
                                      .len = ((SIDES_SLOW      ? 2u
                                               : seed % 4 == 0 ? 64u
                                                               : 9u)
                                              << 20) +
                                             seed,
                                      .shift = seed,
                                      .stream = INLINE};

            if (side->rank == seed++ % 2)
                give(side, &message, seed);
            else
                take(side, &message, seed);
        }
    }
}

TEST_SIDES(messages_of_64_mib_arrive, 2, large_ones)

static void
every_type(struct side *side)
{
    for (int type = 0; type < 256; type++) {
        uint32_t size = reduce_type_size(type);
        uint64_t counts[] = {1, 3, 1000, 100000};

        for (uint32_t i = 0; i < 4 && size != 0; i++) {
            uint64_t count = counts[i], len = count * size;
            uint8_t *memory = malloc(len);
            HcommRecvInfo info;

            if (side->rank == 0) {
                fill(memory, len, count + (uint64_t)type);
                OK(HcommSend(memory, count, (HcclDataType)type, 1, 3, side->comm, INLINE));
            } else {
                OK(HcommRecv(memory, count, (HcclDataType)type, 0, 3, &info, side->comm, INLINE));
                MUST(is_filled(memory, len, count + (uint64_t)type));
                MUST_EQ(type, info.type);
                MUST_EQ(count, info.count);
                MUST_EQ(len, info.bytes);
            }
            free(memory);
        }
    }
}

TEST_SIDES(elements_of_every_type_arrive, 2, every_type)

static void
one_size_two_types(struct side *side)
{
    float sent[20000] = {1.5f, 2.5f};
    int32_t came[20000] = {0};
    HcommRecvInfo info;

    for (uint64_t count = 2; count <= 20000; count *= 100) {
        if (side->rank == 0) {
            OK(HcommSend(sent, count, HCCL_DATA_TYPE_FP32, 1, 0, side->comm, INLINE));
        } else {
            OK(HcommRecv(came, 20000, HCCL_DATA_TYPE_INT32, 0, 0, &info, side->comm, INLINE));
            MUST(memcmp(sent, came, sizeof sent) == 0);
            MUST_EQ(HCCL_DATA_TYPE_FP32, info.type);
            MUST_EQ(count, info.count);
        }
    }
}

TEST_SIDES(types_of_one_size_fit_each_other, 2, one_size_two_types)

static void
empty_ones(struct side *side)
{
    uint8_t room[4] = {9, 9, 9, 9};
    HcommRecvInfo info;

    for (int i = 0; i < 300; i++) { /* more than there are cells */
        if (side->rank == 0) {
            OK(HcommSend(NULL, 0, HCCL_DATA_TYPE_FP64, 1, 5, side->comm, INLINE));
        } else {
            OK(HcommRecv(i % 2 == 0 ? NULL : room, i % 2 == 0 ? 0 : 4, BYTES, 0, 5, &info,
                         side->comm, INLINE));
            MUST_EQ(0, info.count);
            MUST_EQ(0, info.bytes);
            MUST_EQ(HCCL_DATA_TYPE_FP64, info.type);
        }
    }
    MUST(is_all(room, 4, 9));
}

TEST_SIDES(empty_messages_need_no_buffer_and_fit_every_type, 2, empty_ones)

/* ---- both at once ---- */

static void
cycles(struct side *side)
{
    static const uint64_t lens[] = {0, 8, 41, 8192, 8193, 100000, 1000003};
    uint8_t *out = malloc(1000003), *in = malloc(1000003);
    uint32_t next = (side->rank + 1) % side->num, last = (side->rank + side->num - 1) % side->num;

    for (uint64_t round = 0; round < 60; round++) {
        uint64_t mine = lens[mixed(round * 16 + side->rank) % 7];
        uint64_t theirs = lens[mixed(round * 16 + last) % 7];
        HcommRecvInfo info;

        fill(out, mine, round * 16 + side->rank);
        OK(HcommSendRecv(out, mine, BYTES, next, 6, in, 1000003, BYTES, last, 6, &info, side->comm,
                         INLINE));
        MUST_EQ(theirs, info.bytes);
        MUST_EQ(last, info.source);
        MUST(is_filled(in, theirs, round * 16 + last));
    }
    free(out);
    free(in);
}

TEST_SIDES(send_recv_with_oneself_ends, 1, cycles)
TEST_SIDES(send_recv_of_two_ends, 2, cycles)
TEST_SIDES(send_recv_of_three_ends, 3, cycles)
TEST_SIDES(send_recv_of_five_ends, 5, cycles)

static void
queued_cycles(struct side *side)
{
    enum { LEN = 100000, DEEP = 20 };
    uint8_t *out = memory_get(DEVICE, LEN), *in = memory_get(DEVICE, LEN * DEEP);
    uint32_t next = (side->rank + 1) % side->num, last = (side->rank + side->num - 1) % side->num;
    HcommRecvInfo infos[DEEP];
    aclrtStream stream;

    OK(aclrtCreateStream(&stream));
    fill(out, LEN, side->rank);
    for (uint64_t i = 0; i < DEEP; i++)
        OK(HcommSendRecv(out, i * 5000, BYTES, next, 6, in + i * LEN, LEN, BYTES, last, 6,
                         &infos[i], side->comm, stream));
    OK(aclrtSynchronizeStream(stream));
    for (uint64_t i = 0; i < DEEP; i++) {
        MUST_EQ(i * 5000, infos[i].bytes);
        MUST(is_filled(in + i * LEN, i * 5000, last));
    }
    OK(aclrtDestroyStream(stream));
    memory_put(DEVICE, out);
    memory_put(DEVICE, in);
}

TEST_SIDES(queued_send_recv_of_three_ends, 3, queued_cycles)

/* ---- to oneself ---- */

static void
to_oneself(struct side *side)
{
    static const uint64_t lens[] = {0, 8, 8192, 8193, 65536, 1000003};
    uint8_t *out = malloc(1000003), *in = malloc(1000003);
    HcommRecvInfo info;
    aclrtStream stream;

    OK(aclrtCreateStream(&stream));
    for (uint64_t i = 0; i < 6; i++) {
        fill(out, lens[i], i);
        OK(HcommSend(out, lens[i], BYTES, 0, 1, side->comm, stream));
        OK(HcommRecv(in, lens[i], BYTES, 0, 1, &info, side->comm, INLINE));
        MUST_EQ(lens[i], info.bytes);
        MUST(is_filled(in, lens[i], i));
        OK(aclrtSynchronizeStream(stream));
        memset(in, 0, lens[i]);
        OK(HcommRecv(in, lens[i], BYTES, HCOMM_ANY_RANK, HCOMM_ANY_TAG, &info, side->comm, stream));
        OK(HcommSend(out, lens[i], BYTES, 0, 2, side->comm, INLINE));
        OK(aclrtSynchronizeStream(stream));
        MUST_EQ(0, info.source);
        MUST(is_filled(in, lens[i], i));
    }
    OK(aclrtDestroyStream(stream));
    free(out);
    free(in);
}

TEST_SIDES(a_rank_sends_to_itself_by_another_stream, 1, to_oneself)

static void *
takes_of_oneself(void *arg)
{
    struct side *side = arg;
    uint8_t *in = malloc(300000);

    for (uint64_t i = 0; i < 300; i++) {
        uint64_t len = i % 3 == 0 ? 300000 : i % 3 == 1 ? 8 : 5000;

        OK(recv_from(side, in, len, side->rank, 9));
        MUST(is_filled(in, len, i));
    }
    free(in);
    return NULL;
}

static void
thread_to_thread(struct side *side)
{
    uint8_t *out = malloc(300000);
    pthread_t thread;

    OK(pthread_create(&thread, NULL, takes_of_oneself, side));
    for (uint64_t i = 0; i < 300; i++) {
        uint64_t len = i % 3 == 0 ? 300000 : i % 3 == 1 ? 8 : 5000;

        fill(out, len, i);
        OK(send_to(side, out, len, side->rank, 9));
    }
    OK(pthread_join(thread, NULL));
    free(out);
}

TEST_SIDES(a_rank_sends_to_itself_by_another_thread, 2, thread_to_thread)
