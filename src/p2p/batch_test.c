/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends and receives that run together. */
#define _GNU_SOURCE
#include "tests/support/two_sided.h"

#define ITEMS 600u

static HcommBatchItem
item_of(HcommBatchKind kind, uint32_t peer, uint32_t tag, void *buf, uint64_t len)
{
    return (HcommBatchItem){
        .kind = kind, .peer = peer, .tag = tag, .type = BYTES, .buf = buf, .count = len};
}

/* Short and long ones, mixed. */
static uint64_t
len_of(uint32_t i)
{
    static const uint64_t lens[] = {8, 0, 41, 8192, 8200, 40, 20000, 3};

    return lens[mixed(i) % 8];
}

/* All to all, each with hundreds of items; receives in the opposite order of the sends. */
static void
hundreds(struct side *side, aclrtStream stream)
{
    uint32_t each = (SIDES_SLOW ? ITEMS / 4 : ITEMS) / side->num, num = 2 * each * side->num;
    HcommBatchItem *items = calloc(num, sizeof *items);
    HcommRecvInfo *infos = calloc(num, sizeof *infos);
    uint8_t *out = malloc((size_t)num * 20000), *in = malloc((size_t)num * 20000);
    uint32_t at = 0;

    for (uint32_t i = 0; i < each; i++) {
        for (uint32_t peer = 0; peer < side->num; peer++) {
            uint32_t back = each - 1 - i;
            uint8_t *from = out + (size_t)(peer * each + i) * 20000;
            uint8_t *to = in + (size_t)(peer * each + back) * 20000;

            fill(from, len_of(i), i * 256 + side->rank * 16 + peer);
            items[at++] = item_of(HCOMM_BATCH_SEND, peer, i, from, len_of(i));
            items[at] = item_of(HCOMM_BATCH_RECV, peer, back, to, 20000);
            items[at].info = &infos[peer * each + back];
            at++;
        }
    }
    OK(settle(stream, HcommBatch(items, num, side->comm, stream)));
    for (uint32_t peer = 0; peer < side->num; peer++) {
        for (uint32_t i = 0; i < each; i++) {
            MUST_EQ(len_of(i), infos[peer * each + i].bytes);
            MUST_EQ(peer, infos[peer * each + i].source);
            MUST(is_filled(in + (size_t)(peer * each + i) * 20000, len_of(i),
                           i * 256 + peer * 16 + side->rank));
        }
    }
    free(items);
    free(infos);
    free(out);
    free(in);
}

static void
hundreds_inline(struct side *side)
{
    hundreds(side, INLINE);
}

static void
hundreds_queued(struct side *side)
{
    aclrtStream stream;

    OK(aclrtCreateStream(&stream));
    hundreds(side, stream);
    OK(aclrtDestroyStream(stream));
}

TEST_SIDES(a_batch_with_oneself_ends, 1, hundreds_inline)
TEST_SIDES(a_batch_of_hundreds_in_opposite_orders_ends, 2, hundreds_inline)
TEST_SIDES(a_batch_of_four_ranks_ends, 4, hundreds_inline)
TEST_SIDES(a_queued_batch_of_hundreds_ends, 2, hundreds_queued)

/* 200 long messages under way, received in the opposite order. The sender has 64 desks for each
 * peer: the 65th waits for one, so receives of the last tags must not be the only ones posted. */
static void
more_than_desks(struct side *side)
{
    enum { NUM = 200, LEN = 10000 };
    HcommBatchItem items[NUM];
    uint8_t *memory = malloc(NUM * LEN);

    for (uint32_t i = 0; i < NUM; i++) {
        uint32_t tag = side->rank == 0 ? i : NUM - 1 - i;

        if (side->rank == 0)
            fill(memory + tag * LEN, LEN, tag);
        items[i] = item_of(side->rank == 0 ? HCOMM_BATCH_SEND : HCOMM_BATCH_RECV, 1 - side->rank,
                           tag, memory + tag * LEN, LEN);
    }
    OK(HcommBatch(items, NUM, side->comm, INLINE));
    for (uint32_t i = 0; i < NUM; i++)
        MUST(is_filled(memory + i * LEN, LEN, i));
    free(memory);
}

TEST_SIDES(more_long_messages_than_desks_in_opposite_order, 2, more_than_desks)

/* One by one: the receiver asks for the last long message first, and so on down. */
static void
last_first(struct side *side)
{
    enum { NUM = 64, LEN = 10000 };
    HcommBatchItem items[NUM];
    uint8_t *memory = malloc(NUM * LEN);

    if (side->rank == 0) {
        for (uint32_t i = 0; i < NUM; i++) {
            fill(memory + i * LEN, LEN, i);
            items[i] = item_of(HCOMM_BATCH_SEND, 1, i, memory + i * LEN, LEN);
        }
        OK(HcommBatch(items, NUM, side->comm, INLINE));
    }
    for (uint32_t i = NUM; i-- > 0 && side->rank == 1;) {
        OK(recv_from(side, memory, LEN, 0, i));
        MUST(is_filled(memory, LEN, i));
    }
    free(memory);
}

TEST_SIDES(long_messages_can_be_received_last_first, 2, last_first)

/* Sends of one batch start in the order of the items, and so do receives. */
static void
in_item_order(struct side *side)
{
    enum { NUM = 300 };
    HcommBatchItem items[NUM];
    uint64_t *words = calloc(NUM, 20000);

    for (uint32_t i = 0; i < NUM; i++) {
        uint64_t *at = words + i * 2500;

        at[0] = side->rank == 0 ? i : 0;
        items[i] =
            item_of(side->rank == 0 ? HCOMM_BATCH_SEND : HCOMM_BATCH_RECV, 1 - side->rank, 5, at,
                    side->rank == 1 ? 20000
                    : i % 7 == 3    ? 20000
                                    : 8);
    }
    OK(HcommBatch(items, NUM, side->comm, INLINE));
    for (uint64_t i = 0; i < NUM; i++)
        MUST_EQ(i, words[i * 2500]);
    free(words);
}

TEST_SIDES(items_of_one_tag_start_in_their_order, 2, in_item_order)

/* ---- sends that want to know ---- */

static void
synchronous(struct side *side)
{
    static const uint64_t lens[] = {0, 8, 5000, 100000};
    uint8_t *memory = malloc(100000);
    HcommRecvInfo info;

    for (uint32_t i = 0; i < 4; i++) {
        HcommBatchItem item = item_of(HCOMM_BATCH_SEND_SYNC, 1, 2, memory, lens[i]);

        handshake(side, 1 - side->rank);
        if (side->rank == 0) {
            fill(memory, lens[i], i);
            if (lens[i] == 0)
                item.buf = NULL;
            OK(HcommBatch(&item, 1, side->comm, INLINE));
            MUST_EQ(i + 1, atomic_load(&side->shared->words[0])); /* it has begun to receive */
        } else {
            uint32_t found = 0;

            while (found == 0)
                OK(HcommProbe(0, 2, side->comm, &found, &info));
            MUST_EQ(lens[i], info.bytes);
            usleep(20000);
            atomic_store(&side->shared->words[0], i + 1);
            OK(recv_from(side, memory, 100000, 0, 2));
            MUST(is_filled(memory, lens[i], i));
        }
    }
    free(memory);
}

TEST_SIDES(a_synchronous_send_waits_for_its_receive, 2, synchronous)

/* Also when the other one keeps long messages that came too early: this one is not kept. */
static void
synchronous_against_long(struct side *side)
{
    enum { LEN = 200000 };
    uint8_t *out = malloc(LEN), *in = malloc(LEN);
    HcommBatchItem item = item_of(HCOMM_BATCH_SEND_SYNC, 1, 2, out, LEN);

    fill(out, LEN, side->rank);
    handshake(side, 1 - side->rank);
    if (side->rank == 0) {
        OK(HcommBatch(&item, 1, side->comm, INLINE));
        MUST_EQ(1, atomic_load(&side->shared->words[0]));
        OK(recv_from(side, in, LEN, 1, 3));
        MUST(is_filled(in, LEN, 1));
    } else {
        aclrtStream stream;

        OK(aclrtCreateStream(&stream));
        OK(HcommSend(out, LEN, BYTES, 0, 3, side->comm, stream)); /* nobody receives it yet */
        usleep(600000);
        atomic_store(&side->shared->words[0], 1);
        OK(recv_from(side, in, LEN, 0, 2));
        MUST(is_filled(in, LEN, 0));
        OK(aclrtSynchronizeStream(stream));
        OK(aclrtDestroyStream(stream));
    }
    free(out);
    free(in);
}

TEST_SIDES(a_synchronous_send_is_not_done_by_being_kept, 2, synchronous_against_long)

static void
synchronous_to_oneself(struct side *side)
{
    uint8_t out[8] = {1, 2, 3}, in[8] = {0};
    HcommBatchItem items[] = {
        item_of(HCOMM_BATCH_SEND_SYNC, 0, 1, out, 8), item_of(HCOMM_BATCH_RECV, 0, 1, in, 8),
        item_of(HCOMM_BATCH_RECV, 0, 2, NULL, 0), item_of(HCOMM_BATCH_SEND_SYNC, 0, 2, NULL, 0)};

    OK(HcommBatch(items, 4, side->comm, INLINE));
    MUST(memcmp(out, in, 8) == 0);
}

TEST_SIDES(synchronous_sends_to_oneself_end, 1, synchronous_to_oneself)

/* Longer messages than go through the ring elsewhere, which the receive expects there. */
static void
synchronous_beside_eager(struct side *side)
{
    enum { LEN = 300000 };
    uint8_t *memory = malloc(LEN);

    for (int i = 0; i < 20; i++) {
        HcommBatchItem item = item_of(i % 2 == 0 ? HCOMM_BATCH_SEND_SYNC : HCOMM_BATCH_SEND, 1, 2,
                                      memory, LEN - (uint64_t)i);

        if (side->rank == 0) {
            fill(memory, LEN, 5);
            OK(HcommBatch(&item, 1, side->comm, INLINE));
        } else {
            memset(memory, 0, LEN);
            OK(recv_from(side, memory, LEN, 0, 2));
            MUST(is_filled(memory, LEN - 32, 5));
        }
    }
    free(memory);
}

TEST(a_synchronous_send_may_be_shorter_than_eager_ones)
{
    setenv("HCOMM_P2P_RING", "4096", 1);
    setenv("HCOMM_P2P_EAGER", "1048576", 1);
    sides_in_threads(2, synchronous_beside_eager);
}

TEST(a_synchronous_send_may_be_shorter_than_eager_ones_to_a_process)
{
    setenv("HCOMM_P2P_RING", "4096", 1);
    setenv("HCOMM_P2P_EAGER", "1048576", 1);
    sides_in_processes(2, synchronous_beside_eager);
}

/* ---- failures ---- */

/* The item that fails does not keep the others from their work. */
static void
one_does_not_fit(struct side *side)
{
    enum { NUM = 20, LEN = 9000 };
    HcommBatchItem items[NUM];
    HcommRecvInfo info = {0};
    uint8_t *memory = calloc(NUM, LEN);

    for (uint32_t i = 0; i < NUM; i++) {
        if (side->rank == 0)
            fill(memory + i * LEN, LEN, i);
        items[i] = item_of(side->rank == 0 ? HCOMM_BATCH_SEND : HCOMM_BATCH_RECV, 1 - side->rank, i,
                           memory + i * LEN, side->rank == 1 && i == 7 ? LEN - 1 : LEN);
    }
    items[7].info = &info;
    if (side->rank == 1) {
        test_expect_error("9000 bytes");
        test_expect_error("8999 bytes");
        MUST_EQ(HCCL_E_PARA, HcommBatch(items, NUM, side->comm, INLINE));
        MUST_EQ(LEN, info.bytes);
        MUST(is_all(memory + 7 * LEN, LEN, 0));
    } else {
        OK(HcommBatch(items, NUM, side->comm, INLINE));
    }
    for (uint32_t i = 0; i < NUM; i++)
        MUST(i == 7 || is_filled(memory + i * LEN, LEN, i));
    free(memory);
}

TEST_SIDES(one_item_that_fails_leaves_the_others_alone, 2, one_does_not_fit)

/* The receive fails first; then the peer goes, and the send fails too: its result counts. */
static void
both_halves_fail(struct side *side)
{
    uint8_t *memory = malloc(100000);
    uint8_t one;

    handshake(side, 1 - side->rank);
    if (side->rank == 0) {
        test_expect_error("rank 1");
        MUST_EQ(HCCL_E_REMOTE, HcommSendRecv(memory, 100000, BYTES, 1, 1, &one, 1, BYTES, 1, 2,
                                             NULL, side->comm, INLINE));
    } else {
        OK(send_to(side, memory, 100, 0, 2));
        usleep(300000);
        OK(HcclCommDestroy(side->comm));
        side->comm = NULL;
    }
    free(memory);
}

TEST_SIDES(if_both_halves_fail_the_send_counts, 2, both_halves_fail)

static void
too_many(struct side *side)
{
    HcommBatchItem *items = calloc(100000, sizeof *items);

    test_allow_errors();
    MUST_EQ(HCCL_E_PARA, HcommBatch(items, 100000, side->comm, INLINE));
    free(items);
}

TEST_SIDES(a_batch_of_far_too_many_is_refused, 1, too_many)
