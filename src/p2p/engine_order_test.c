/* SPDX-License-Identifier: BSD-3-Clause */
/* Which receive gets which message: order, tags, any rank, any tag; and probes. */
#define _GNU_SOURCE
#include "tests/support/two_sided.h"

/* ---- whom a message is for ---- */

static void
in_order(struct side *side)
{
    static const uint64_t lens[] = {8, 40, 41, 5000, 8193, 70000, 16, 8, 300000, 9};
    uint64_t most = 300000, round;
    uint8_t *memory = malloc(most);

    for (round = 0; round < (SIDES_SLOW ? 200 : 1000); round++) {
        uint64_t len = lens[mixed(round) % 10];
        HcommRecvInfo info;

        if (side->rank == 0) {
            fill(memory, len, round);
            OK(HcommSend(memory, len, BYTES, 1, 4, side->comm, INLINE));
        } else {
            OK(HcommRecv(memory, most, BYTES, HCOMM_ANY_RANK, 4, &info, side->comm, INLINE));
            MUST_EQ(len, info.bytes);
            MUST(is_filled(memory, len, round));
        }
    }
    free(memory);
}

TEST_SIDES(messages_with_one_tag_come_in_the_order_they_were_sent, 2, in_order)

/* Tags are sent 1, 2 and received 2, 1; both sizes short, then one long that nobody waits for. */
static void
crossed_tags(struct side *side)
{
    static const uint64_t lens[] = {8, 41, 5000, 8192};
    uint8_t one[8192], two[8192];

    for (uint32_t i = 0; i < 4; i++) {
        if (side->rank == 0) {
            fill(one, lens[i], 1);
            fill(two, lens[3 - i], 2);
            OK(send_to(side, one, lens[i], 1, 1));
            OK(send_to(side, two, lens[3 - i], 1, 2));
        } else {
            OK(recv_from(side, two, sizeof two, 0, 2));
            OK(recv_from(side, one, sizeof one, 0, 1));
            MUST(is_filled(one, lens[i], 1));
            MUST(is_filled(two, lens[3 - i], 2));
        }
    }
}

TEST_SIDES(tags_may_cross, 2, crossed_tags)

static void
crossed_long_tags(struct side *side)
{
    enum { LEN = 300000 };
    uint8_t *one = malloc(LEN), *two = malloc(LEN);
    aclrtStream streams[2];

    for (int i = 0; i < 2; i++)
        OK(aclrtCreateStream(&streams[i]));
    for (int i = 0; i < 50; i++) {
        if (side->rank == 0) {
            fill(one, LEN, 1);
            fill(two, LEN, 2);
            OK(HcommSend(one, LEN, BYTES, 1, 1, side->comm, streams[0]));
            OK(HcommSend(two, LEN, BYTES, 1, 2, side->comm, streams[1]));
            OK(aclrtSynchronizeStream(streams[0]));
            OK(aclrtSynchronizeStream(streams[1]));
        } else {
            OK(recv_from(side, two, LEN, 0, 2));
            OK(recv_from(side, one, LEN, 0, 1));
            MUST(is_filled(one, LEN, 1));
            MUST(is_filled(two, LEN, 2));
        }
    }
    for (int i = 0; i < 2; i++)
        OK(aclrtDestroyStream(streams[i]));
    free(one);
    free(two);
}

TEST_SIDES(tags_of_long_messages_may_cross, 2, crossed_long_tags)

/* Ranks 1 to 3 send; rank 0 takes from any, and sees each one's in its order. */
static void
from_any(struct side *side)
{
    enum { EACH = 200 };
    uint32_t next[4] = {0}, words[5000];
    HcommRecvInfo info;

    for (uint32_t i = 0; i < EACH && side->rank != 0; i++) {
        uint64_t count = i % 10 == 9 ? 5000 : 2; /* some are long */

        words[0] = side->rank;
        words[1] = i;
        OK(HcommSend(words, count, HCCL_DATA_TYPE_UINT32, 0, 10 + side->rank, side->comm, INLINE));
    }
    for (uint32_t i = 0; i < EACH * 3 && side->rank == 0; i++) {
        OK(HcommRecv(words, 5000, HCCL_DATA_TYPE_UINT32, HCOMM_ANY_RANK, HCOMM_ANY_TAG, &info,
                     side->comm, INLINE));
        MUST(info.source > 0 && info.source < 4);
        MUST_EQ(info.source, words[0]);
        MUST_EQ(next[info.source]++, words[1]);
        MUST_EQ(10 + info.source, info.tag);
    }
}

TEST_SIDES(any_rank_takes_from_all_each_in_order, 4, from_any)

/* Tags that libraries use for themselves are not taken by a receive for any tag. */
static void
high_tags(struct side *side)
{
    uint32_t high = HCOMM_TAG_MOST + 1u, highest = HCOMM_ANY_TAG - 1u;
    uint8_t byte = 0;
    HcommRecvInfo info;
    uint32_t found = 9;

    if (side->rank == 0) {
        for (uint8_t i = 1; i <= 4; i++) {
            const uint32_t tags[] = {high, highest, HCOMM_TAG_MOST, 0};

            OK(send_to(side, &i, 1, 1, tags[i - 1]));
        }
    } else {
        OK(HcommRecv(&byte, 1, BYTES, 0, HCOMM_ANY_TAG, &info, side->comm, INLINE));
        MUST_EQ(3, byte);
        MUST_EQ(HCOMM_TAG_MOST, info.tag);
        OK(HcommRecv(&byte, 1, BYTES, HCOMM_ANY_RANK, HCOMM_ANY_TAG, &info, side->comm, INLINE));
        MUST_EQ(4, byte);
        OK(HcommProbe(HCOMM_ANY_RANK, HCOMM_ANY_TAG, side->comm, &found, NULL));
        MUST_EQ(0, found);
        OK(HcommProbe(0, highest, side->comm, &found, &info));
        MUST_EQ(1, found);
        MUST_EQ(highest, info.tag);
        OK(recv_from(side, &byte, 1, 0, highest));
        MUST_EQ(2, byte);
        OK(recv_from(side, &byte, 1, HCOMM_ANY_RANK, high));
        MUST_EQ(1, byte);
    }
}

TEST_SIDES(any_tag_leaves_the_tags_of_libraries_alone, 2, high_tags)

static void
probe_until(struct side *side, uint32_t src, uint32_t tag, HcommRecvInfo *info)
{
    uint64_t until = side_now_ms() + 30000;
    uint32_t found = 0;

    while (found == 0 && side_now_ms() < until) {
        OK(HcommProbe(src, tag, side->comm, &found, info));
        usleep(50);
    }
    MUST_EQ(1, found);
}

static void
probing(struct side *side)
{
    static const uint64_t lens[] = {0, 4, 40, 44, 8192, 8196, 400000};
    uint8_t *memory = malloc(400000);
    uint32_t found = 9;
    HcommRecvInfo info = {.bytes = 12345};

    if (side->rank == 1) {
        OK(HcommProbe(0, 2, side->comm, &found, &info));
        MUST_EQ(0, found);
        MUST_EQ(12345, info.bytes); /* nothing came: untouched */
    }
    handshake(side, 1 - side->rank);
    for (uint32_t i = 0; i < sizeof lens / sizeof *lens; i++) {
        if (side->rank == 0) {
            fill(memory, lens[i], i);
            OK(HcommSend(memory, lens[i] / 4, HCCL_DATA_TYPE_FP32, 1, i, side->comm, INLINE));
            continue;
        }
        for (int again = 0; again < 3; again++) { /* it takes nothing */
            probe_until(side, again == 0 ? 0 : HCOMM_ANY_RANK, again == 1 ? HCOMM_ANY_TAG : i,
                        &info);
            MUST_EQ(0, info.source);
            MUST_EQ(i, info.tag);
            MUST_EQ(HCCL_DATA_TYPE_FP32, info.type);
            MUST_EQ(lens[i] / 4, info.count);
            MUST_EQ(lens[i], info.bytes);
            OK(HcommProbe(0, 1000, side->comm, &found, NULL));
            MUST_EQ(0, found);
        }
        OK(HcommRecv(memory, lens[i] / 4, HCCL_DATA_TYPE_FP32, 0, i, NULL, side->comm, INLINE));
        MUST(is_filled(memory, lens[i], i));
        OK(HcommProbe(HCOMM_ANY_RANK, i, side->comm, &found, NULL));
        MUST_EQ(0, found);
    }
    handshake(side, 1 - side->rank); /* a rank that has ended can send no more */
    free(memory);
}

TEST_SIDES(a_probe_tells_of_the_message_and_leaves_it, 2, probing)

/* ---- five sends on one stream, taken by two streams ---- */

static void
two_takers(struct side *side)
{
    uint64_t *words;
    aclrtStream streams[2];

    OK(aclrtMallocHost((void **)&words, 5 * 8));
    for (int i = 0; i < 2; i++)
        OK(aclrtCreateStream(&streams[i]));
    for (uint64_t round = 0; round < 100; round++) {
        for (uint64_t i = 0; i < 5; i++) {
            words[i] = side->rank == 0 ? round * 5 + i : 0;
            if (side->rank == 0)
                OK(HcommSend(&words[i], 1, HCCL_DATA_TYPE_UINT64, 1, 1, side->comm, streams[0]));
            else /* tags are one, so each stream sees a rising part of the row */
                OK(HcommRecv(&words[i], 1, HCCL_DATA_TYPE_UINT64, 0, 1, NULL, side->comm,
                             streams[i % 2]));
        }
        OK(aclrtSynchronizeStream(streams[0]));
        OK(aclrtSynchronizeStream(streams[1]));
        if (side->rank == 1) {
            MUST(words[0] < words[2] && words[2] < words[4] && words[1] < words[3]);
            MUST_EQ(25 * round + 10, words[0] + words[1] + words[2] + words[3] + words[4]);
        }
    }
    for (int i = 0; i < 2; i++)
        OK(aclrtDestroyStream(streams[i]));
    OK(aclrtFreeHost(words));
}

TEST_SIDES(messages_of_one_stream_are_shared_by_two_in_order, 2, two_takers)
