/* SPDX-License-Identifier: BSD-3-Clause */
/* What every transport must do: moving bytes and notifies. */
#include <stdio.h>

#include "reduce/reduce.h"
#include "transport/transport_test.h"

#define FP32 4
#define INT32 2
#define INT8 0
#define SUM 0
#define MAX 2

CONFORMS(bytes_land_in_both_directions)
{
    struct end end;
    uint8_t *there, *here = malloc(1 << 20);

    end_connect(me, &end, "k");
    there = end_map(&end);
    in_step(me);
    if (me->side == 0) {
        struct tp_xfer write = {.dst = there, .src = here, .len = 1 << 20};
        struct tp_xfer read = {.dst = here, .src = there, .len = 1000};

        memset(here, 5, 1 << 20);
        EXPECT_EQ(HCCL_SUCCESS, me->ops->write(end.conn, &write));
        EXPECT_EQ(HCCL_SUCCESS, me->ops->flush(end.conn));
        memset(here, 6, 1 << 20);
        EXPECT_EQ(HCCL_SUCCESS, me->ops->read(end.conn, &read));
        EXPECT_EQ(HCCL_SUCCESS, me->ops->flush(end.conn));
        EXPECT_EQ(5, here[0]);
        EXPECT_EQ(5, here[999]);
        EXPECT_EQ(6, here[1000]);
    }
    in_step(me);
    if (me->side == 1) {
        EXPECT_EQ(5, me->data[0]);
        EXPECT_EQ(5, me->data[(1 << 20) - 1]);
        EXPECT_EQ(0, me->data[1 << 20]);
    }
    free(here);
    end_destroy(&end);
}

/* Both parties at once, each into its own half of the other's memory. */
CONFORMS(any_length_and_alignment_moves_exactly_its_bytes)
{
    static const uint32_t lens[] = {0, 1, 2, 7, 8, 63, 64, 65, 4095, 4097, 100003, 1000001};
    uint32_t half = 4 << 20, mine = (uint32_t)me->side * half;
    uint8_t *there, *here = malloc(half);
    struct end end;

    end_connect(me, &end, "k");
    there = end_map(&end) + mine;
    for (uint32_t i = 0; i < half; i++)
        here[i] = (uint8_t)(i * 31 + 7);
    for (size_t i = 0; i < sizeof lens / sizeof lens[0]; i++) {
        for (uint32_t shift = 0; shift < 5; shift++) {
            struct tp_xfer out = {.dst = there + 64 + shift, .src = here + 3 * shift};
            struct tp_xfer in = {.dst = here + half / 2 + shift, .src = there + 64 + shift};

            out.len = in.len = lens[i];
            memset(there, 0xEE, lens[i] + 200);
            memset(here + half / 2, 0xDD, lens[i] + 200);
            EXPECT_EQ(HCCL_SUCCESS, me->ops->write(end.conn, &out));
            EXPECT_MEMEQ(here + 3 * shift, there + 64 + shift, lens[i]);
            EXPECT_EQ(0xEE, there[63 + shift]);
            EXPECT_EQ(0xEE, there[64 + shift + lens[i]]);
            EXPECT_EQ(HCCL_SUCCESS, me->ops->read(end.conn, &in));
            EXPECT_MEMEQ(here + 3 * shift, here + half / 2 + shift, lens[i]);
            EXPECT_EQ(0xDD, here[half / 2 + shift + lens[i]]);
        }
    }
    in_step(me);
    end_destroy(&end);
    free(here);
}

CONFORMS(reductions_happen_at_the_side_that_is_named)
{
    const int32_t after_write[4] = {11, 22, 33, 44}, after_read[4] = {12, 24, 36, 48};
    int32_t mine[4] = {1, 2, 3, 4}, theirs[4] = {10, 20, 30, 40};
    struct end end;
    uint8_t *there;

    memcpy(me->data, theirs, sizeof theirs);
    end_connect(me, &end, "k");
    there = end_map(&end);
    in_step(me);
    if (me->side == 0) {
        struct tp_xfer write = {.dst = there, .src = mine, .len = 4, .type = INT32, .op = SUM};
        struct tp_xfer read = {.dst = mine, .src = there, .len = 4, .type = INT32, .op = SUM};
        struct tp_xfer odd = {
            .dst = there + 101, .src = (uint8_t *)theirs + 1, .len = 9, .type = INT8, .op = MAX};
        struct tp_xfer none = {.dst = there, .src = mine, .len = 0, .type = FP32, .op = SUM};

        EXPECT_EQ(HCCL_SUCCESS, me->ops->write_reduce(end.conn, &write));
        EXPECT_EQ(HCCL_SUCCESS, me->ops->read_reduce(end.conn, &read));
        EXPECT_EQ(HCCL_SUCCESS, me->ops->write_reduce(end.conn, &odd));
        EXPECT_EQ(HCCL_SUCCESS, me->ops->write_reduce(end.conn, &none));
        EXPECT_MEMEQ(after_read, mine, sizeof mine);
    }
    in_step(me);
    if (me->side == 1) {
        EXPECT_MEMEQ(after_write, me->data, sizeof after_write);
        EXPECT_MEMEQ((uint8_t *)theirs + 1, me->data + 101, 9);
    }
    end_destroy(&end);
}

CONFORMS(a_notify_arrives_with_its_number_at_the_peer_only)
{
    struct end end;

    end_connect(me, &end, "k");
    if (me->side == 0) {
        EXPECT_EQ(HCCL_SUCCESS, me->ops->notify(end.conn, 7));
        EXPECT_EQ(HCCL_SUCCESS, me->ops->notify(end.conn, 7));
        EXPECT_EQ(HCCL_SUCCESS, me->ops->notify(end.conn, 0));
    } else {
        end_await_notifies(&end, 0, 1);
        end_await_notifies(&end, 7, 2);
        EXPECT_EQ(2, end_notifies(&end, 7));
    }
    in_step(me);
    for (uint32_t i = 0; i < WORDS; i++)
        EXPECT_EQ(me->side == 0 ? 0 : i == 0 ? 1 : i == 7 ? 2 : 0, end_notifies(&end, i));
    end_destroy(&end);
}

CONFORMS(what_was_written_before_a_notify_is_seen_after_it)
{
    static const uint32_t lens[] = {8, 64, 4096, 70001, 8, 300000};
    enum { ROUNDS = 3000 };
    uint8_t *there, *here = malloc(300000);
    struct end end;

    end_connect(me, &end, "k");
    there = end_map(&end);
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        uint32_t len = lens[round % 6];
        struct tp_xfer write = {.dst = there, .src = here, .len = len};

        if (me->side == (int)(round % 2)) {
            memset(here, (int)(round % 251), len);
            EXPECT_EQ(HCCL_SUCCESS, me->ops->write(end.conn, &write));
            EXPECT_EQ(HCCL_SUCCESS, me->ops->notify(end.conn, 1));
        } else {
            end_await_notifies(&end, 1, (int)(round + 1) / 2);
            EXPECT_EQ(round % 251, me->data[0]);
            EXPECT_EQ(round % 251, me->data[len / 2]);
            EXPECT_EQ(round % 251, me->data[len - 1]);
        }
    }
    in_step(me);
    free(here);
    end_destroy(&end);
}

/* ---- the peer's memory ---- */

CONFORMS(a_mapped_region_is_plain_memory)
{
    struct tp_region part = me->common->region[1 - me->side];
    struct end end;
    uint8_t *there, *again;
    void *local;

    end_connect(me, &end, "k");
    there = end_map(&end);
    again = end_map(&end);
    in_step(me);
    there[me->side] = 42;
    part.addr += 4097;
    part.len -= 4097;
    part.place.offset += 4097;
    EXPECT_EQ(HCCL_SUCCESS, me->ops->map(end.conn, &part, &local));
    ((uint8_t *)local)[me->side] = 43;
    in_step(me);
    EXPECT_EQ(42, me->data[1 - me->side]);
    EXPECT_EQ(43, me->data[4097 + 1 - me->side]);
    EXPECT_EQ(42, again[me->side]);
    in_step(me);
    end_destroy(&end);
}

CONFORMS(what_is_no_region_is_refused)
{
    struct tp_region empty = me->common->region[1 - me->side], around = empty;
    struct end end;
    void *local = &end;

    test_expect_error("");
    end_connect(me, &end, "k");
    empty.len = 0;
    around.addr = UINT64_MAX - 10;
    around.len = 20;
    EXPECT_EQ(HCCL_E_PARA, me->ops->map(end.conn, &empty, &local));
    EXPECT_EQ(HCCL_E_PARA, me->ops->map(end.conn, &around, &local));
    EXPECT_TRUE(local == &end);
    in_step(me);
    end_destroy(&end);
}

CONFORMS(a_lease_that_has_ended_is_seen_at_once)
{
    uint64_t *lease = (uint64_t *)(void *)me->common->note[0];
    struct end end;

    end_connect(me, &end, "k");
    if (me->side == 1)
        EXPECT_EQ(HCCL_SUCCESS, tp_lease_begin(lease));
    in_step(me);
    if (me->side == 0) {
        EXPECT_TRUE(me->ops->leased(end.conn, 0));
        EXPECT_TRUE(me->ops->leased(end.conn, *lease));
        EXPECT_FALSE(me->ops->leased(end.conn, *lease + 1));
        EXPECT_FALSE(me->ops->leased(end.conn, UINT64_MAX));
    }
    in_step(me);
    if (me->side == 1) {
        lease[1] = lease[0];
        tp_lease_end(lease[0]);
        EXPECT_EQ(HCCL_SUCCESS, tp_lease_begin(lease)); /* the same place, maybe */
    }
    in_step(me);
    if (me->side == 0) {
        EXPECT_FALSE(me->ops->leased(end.conn, lease[1]));
        EXPECT_TRUE(me->ops->leased(end.conn, lease[0]));
    }
    in_step(me);
    if (me->side == 1)
        tp_lease_end(lease[0]);
    end_destroy(&end);
}

/* ---- close against calls ---- */

struct writer {
    struct end *end;
    uint8_t *there;
    HcclResult rc;
};

static void *
write_and_notify(void *arg)
{
    struct writer *writer = arg;
    struct tp_conn *conn = writer->end->conn;
    uint8_t *bytes = malloc(64 << 10);
    struct tp_xfer xfer = {.dst = writer->there, .src = bytes, .len = 64 << 10};

    memset(bytes, 1, 64 << 10);
    do {
        xfer.len = xfer.len == 256 ? 64 << 10 : 256;
        writer->rc = writer->end->ops->write(conn, &xfer);
        if (writer->rc == HCCL_SUCCESS)
            writer->rc = writer->end->ops->notify(conn, 1);
    } while (writer->rc == HCCL_SUCCESS);
    free(bytes);
    return NULL;
}

/* The one who closes fills its memory anew at once: a late write or record would be seen. */
CONFORMS(nothing_of_a_closed_end_is_touched)
{
    for (unsigned round = 0; round < 60; round++) {
        struct end end;
        uint8_t *there;

        end_connect(me, &end, "k");
        there = end_map(&end);
        in_step(me);
        if (me->side == 0) {
            struct writer writers[2];
            pthread_t threads[2];

            for (int i = 0; i < 2; i++) {
                writers[i] = (struct writer){&end, there + (i << 17), HCCL_SUCCESS};
                EXPECT_EQ(0, pthread_create(&threads[i], NULL, write_and_notify, &writers[i]));
            }
            for (int i = 0; i < 2; i++) {
                pthread_join(threads[i], NULL);
                EXPECT_EQ(HCCL_E_REMOTE, writers[i].rc);
            }
        } else {
            int seen;

            usleep(round * 20);
            me->ops->close(end.conn);
            memset(me->data, 0x77, 1 << 18);
            seen = end_notifies(&end, 1);
            usleep(500);
            for (int i = 0; i < 1 << 18; i++) {
                if (me->data[i] != 0x77)
                    EXPECT_EQ(-1, i);
            }
            EXPECT_EQ(seen, end_notifies(&end, 1));
        }
        in_step(me);
        end_destroy(&end);
    }
}

CONFORMS(the_own_close_waits_for_own_calls)
{
    for (unsigned round = 0; round < 60; round++) {
        struct writer writer;
        pthread_t thread;
        struct end end;

        end_connect(me, &end, "k");
        writer = (struct writer){&end, end_map(&end) + (me->side << 17), HCCL_SUCCESS};
        in_step(me);
        EXPECT_EQ(0, pthread_create(&thread, NULL, write_and_notify, &writer));
        usleep(round * 10);
        me->ops->close(end.conn);
        pthread_join(thread, NULL);
        EXPECT_EQ(HCCL_E_REMOTE, writer.rc);
        end_destroy(&end);
        in_step(me);
    }
}
