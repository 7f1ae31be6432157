/* SPDX-License-Identifier: BSD-3-Clause */
/* What every transport must do: each test runs for each table in tp_all. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "reduce/reduce.h"
#include "tests/support/test.h"
#include "transport/transport.h"

#define INT32 2
#define SUM 0

#define EACH_TRANSPORT(ops)                                                                        \
    for (const struct tp_ops *const *at = tp_all, *ops = *at; ops != NULL; ops = *++at)

/* One end and what its callbacks saw. */
struct end {
    struct tp_conn *conn;
    atomic_int changes, notifies;
    _Atomic uint32_t last_notify;
};

static void
saw_notify(void *arg, uint32_t index)
{
    struct end *end = arg;

    atomic_store(&end->last_notify, index);
    atomic_fetch_add(&end->notifies, 1);
}

static void
saw_change(void *arg)
{
    atomic_fetch_add(&((struct end *)arg)->changes, 1);
}

static HcclResult
try_open(const struct tp_ops *ops, struct end *end, const char *key, int side, const char *hello)
{
    struct tp_open args = {.key = key,
                           .side = side,
                           .hello = hello,
                           .hello_len = hello == NULL ? 0 : (uint32_t)strlen(hello),
                           .on_notify = saw_notify,
                           .on_change = saw_change,
                           .arg = end};

    end->conn = tp_create(ops);
    return end->conn == NULL ? HCCL_E_MEMORY : ops->open(end->conn, &args);
}

static void
open_end(const struct tp_ops *ops, struct end *end, const char *key, int side, const char *hello)
{
    *end = (struct end){0};
    EXPECT_EQ(HCCL_SUCCESS, try_open(ops, end, key, side, hello));
}

static HcclResult
poll_until_settled(struct end *end)
{
    HcclResult rc = HCCL_E_AGAIN;

    for (int i = 0; i < 10000 && rc == HCCL_E_AGAIN; i++) {
        rc = end->conn->ops->poll(end->conn);
        if (rc == HCCL_E_AGAIN)
            usleep(100);
    }
    return rc;
}

static void
open_pair(const struct tp_ops *ops, struct end *a, struct end *b, const char *key)
{
    open_end(ops, a, key, 0, "from a");
    open_end(ops, b, key, 1, "from b");
    EXPECT_EQ(HCCL_SUCCESS, poll_until_settled(a));
    EXPECT_EQ(HCCL_SUCCESS, poll_until_settled(b));
}

static void
close_pair(struct end *a, struct end *b)
{
    tp_destroy(a->conn);
    tp_destroy(b->conn);
}

static void
expect_hello(struct end *end, const char *text)
{
    uint32_t len = 77;
    const void *hello = end->conn->ops->peer_hello(end->conn, &len);

    EXPECT_EQ(strlen(text), len);
    EXPECT_MEMEQ(text, hello, len);
}

TEST(ends_meet_whichever_opens_first)
{
    EACH_TRANSPORT (ops) {
        struct end a, b;

        open_end(ops, &b, "k", 1, "from b");
        EXPECT_EQ(HCCL_E_AGAIN, ops->poll(b.conn));
        open_end(ops, &a, "k", 0, "from a");
        EXPECT_EQ(HCCL_SUCCESS, poll_until_settled(&a));
        EXPECT_EQ(HCCL_SUCCESS, poll_until_settled(&b));
        EXPECT_TRUE(atomic_load(&a.changes) > 0);
        EXPECT_TRUE(atomic_load(&b.changes) > 0);
        close_pair(&a, &b);
    }
}

TEST(each_end_learns_what_the_other_told)
{
    EACH_TRANSPORT (ops) {
        struct end a, b, c, d;

        open_pair(ops, &a, &b, "k");
        expect_hello(&a, "from b");
        expect_hello(&b, "from a");
        open_end(ops, &c, "nothing", 0, NULL);
        open_end(ops, &d, "nothing", 1, NULL);
        EXPECT_EQ(HCCL_SUCCESS, poll_until_settled(&c));
        expect_hello(&c, "");
        close_pair(&c, &d);
        close_pair(&a, &b);
    }
}

TEST(other_keys_and_equal_sides_do_not_meet)
{
    EACH_TRANSPORT (ops) {
        struct end a, b, c;

        open_end(ops, &a, "k", 0, NULL);
        open_end(ops, &b, "kk", 1, NULL);
        open_end(ops, &c, "k", 0, NULL);
        EXPECT_EQ(HCCL_E_AGAIN, ops->poll(a.conn));
        EXPECT_EQ(HCCL_E_AGAIN, ops->poll(b.conn));
        EXPECT_EQ(HCCL_E_AGAIN, ops->poll(c.conn));
        close_pair(&a, &b);
        tp_destroy(c.conn);
    }
}

TEST(several_pairs_of_one_key_meet_in_the_order_they_came)
{
    EACH_TRANSPORT (ops) {
        struct end a[3], b[3];

        open_end(ops, &a[0], "k", 0, "a0");
        open_end(ops, &a[1], "k", 0, "a1");
        open_end(ops, &b[0], "k", 1, "b0");
        open_end(ops, &b[1], "k", 1, "b1");
        open_end(ops, &b[2], "k", 1, "b2");
        open_end(ops, &a[2], "k", 0, "a2");
        for (int i = 0; i < 3; i++) {
            char text[3] = {'b', (char)('0' + i), '\0'};

            EXPECT_EQ(HCCL_SUCCESS, poll_until_settled(&a[i]));
            expect_hello(&a[i], text);
            close_pair(&a[i], &b[i]);
        }
    }
}

TEST(an_end_that_left_before_its_peer_came_is_forgotten)
{
    EACH_TRANSPORT (ops) {
        struct end a, b, c;

        open_end(ops, &a, "k", 0, "old");
        tp_destroy(a.conn);
        open_end(ops, &b, "k", 1, NULL);
        EXPECT_EQ(HCCL_E_AGAIN, ops->poll(b.conn));
        open_end(ops, &c, "k", 0, "new");
        EXPECT_EQ(HCCL_SUCCESS, poll_until_settled(&b));
        expect_hello(&b, "new");
        close_pair(&b, &c);
    }
}

TEST(bytes_land_in_both_directions)
{
    EACH_TRANSPORT (ops) {
        uint8_t *mine = malloc(1 << 20), *theirs = malloc(1 << 20);
        struct tp_xfer write = {.dst = theirs, .src = mine, .len = 1 << 20};
        struct tp_xfer read = {.dst = mine, .src = theirs, .len = 1000};
        struct end a, b;

        open_pair(ops, &a, &b, "k");
        memset(mine, 5, 1 << 20);
        EXPECT_EQ(HCCL_SUCCESS, ops->write(a.conn, &write));
        while (ops->flush(a.conn) == HCCL_E_AGAIN)
            ;
        EXPECT_MEMEQ(mine, theirs, 1 << 20);
        memset(theirs, 6, 1000);
        EXPECT_EQ(HCCL_SUCCESS, ops->read(a.conn, &read));
        while (ops->flush(a.conn) == HCCL_E_AGAIN)
            ;
        EXPECT_EQ(6, mine[0]);
        EXPECT_EQ(6, mine[999]);
        EXPECT_EQ(5, mine[1000]);
        close_pair(&a, &b);
        free(mine);
        free(theirs);
    }
}

TEST(reductions_happen_at_the_side_that_is_named)
{
    EACH_TRANSPORT (ops) {
        int32_t mine[4] = {1, 2, 3, 4}, theirs[4] = {10, 20, 30, 40};
        const int32_t after_write[4] = {11, 22, 33, 44}, after_read[4] = {12, 24, 36, 48};
        struct tp_xfer write = {.dst = theirs, .src = mine, .len = 4, .type = INT32, .op = SUM};
        struct tp_xfer read = {.dst = mine, .src = theirs, .len = 4, .type = INT32, .op = SUM};
        struct end a, b;

        open_pair(ops, &a, &b, "k");
        EXPECT_EQ(HCCL_SUCCESS, ops->write_reduce(a.conn, &write));
        while (ops->flush(a.conn) == HCCL_E_AGAIN)
            ;
        EXPECT_MEMEQ(after_write, theirs, sizeof theirs);
        EXPECT_EQ(HCCL_SUCCESS, ops->read_reduce(a.conn, &read));
        while (ops->flush(a.conn) == HCCL_E_AGAIN)
            ;
        EXPECT_MEMEQ(after_read, mine, sizeof mine);
        close_pair(&a, &b);
    }
}

TEST(a_notify_arrives_with_its_number_at_the_peer_only)
{
    EACH_TRANSPORT (ops) {
        struct end a, b;

        open_pair(ops, &a, &b, "k");
        EXPECT_EQ(HCCL_SUCCESS, ops->notify(a.conn, 7));
        for (int i = 0; i < 10000 && atomic_load(&b.notifies) == 0; i++)
            usleep(100);
        EXPECT_EQ(1, atomic_load(&b.notifies));
        EXPECT_EQ(7, atomic_load(&b.last_notify));
        EXPECT_EQ(0, atomic_load(&a.notifies));
        close_pair(&a, &b);
    }
}

TEST(calls_fail_when_the_peer_has_closed)
{
    EACH_TRANSPORT (ops) {
        int32_t x = 1, y = 2;
        struct tp_xfer xfer = {.dst = &x, .src = &y, .len = 4};
        struct end a, b;
        int before;

        open_pair(ops, &a, &b, "k");
        before = atomic_load(&a.changes);
        b.conn->ops->close(b.conn);
        EXPECT_TRUE(atomic_load(&a.changes) > before);
        EXPECT_EQ(HCCL_E_REMOTE, ops->poll(a.conn));
        EXPECT_EQ(HCCL_E_REMOTE, ops->write(a.conn, &xfer));
        EXPECT_EQ(HCCL_E_REMOTE, ops->read(a.conn, &xfer));
        EXPECT_EQ(HCCL_E_REMOTE, ops->notify(a.conn, 0));
        EXPECT_EQ(HCCL_E_REMOTE, ops->flush(a.conn));
        EXPECT_EQ(HCCL_E_REMOTE, ops->write(b.conn, &xfer)); /* its own late calls too */
        EXPECT_EQ(1, x);
        close_pair(&a, &b);
    }
}

TEST(closing_twice_or_unmet_or_after_a_failed_open_does_no_harm)
{
    EACH_TRANSPORT (ops) {
        struct tp_conn *never = tp_create(ops);
        struct end a;

        open_end(ops, &a, "k", 0, NULL);
        ops->close(a.conn);
        ops->close(a.conn);
        tp_destroy(a.conn);
        tp_destroy(never);
        tp_destroy(NULL);
    }
}

TEST(open_survives_every_failed_allocation)
{
    test_allow_errors();
    EACH_TRANSPORT (ops) {
        long nth = 0;

        for (;;) {
            struct end a = {0}, b;
            HcclResult rc;

            open_end(ops, &b, "k", 1, NULL);
            hc_alloc_fail_nth(nth++);
            rc = try_open(ops, &a, "k", 0, "text");
            hc_alloc_fail_nth(-1);
            EXPECT_EQ(rc == HCCL_SUCCESS ? HCCL_SUCCESS : HCCL_E_MEMORY, rc);
            close_pair(&a, &b);
            EXPECT_EQ(0, hc_alloc_live());
            if (rc == HCCL_SUCCESS)
                break;
        }
        EXPECT_TRUE(nth > 1);
    }
}

/* ---- close against calls ---- */

struct race {
    struct end a, b;
    uint8_t *target; /* [512], b's: freed as soon as b has closed */
    atomic_int writers;
};

static void *
write_and_notify(void *arg)
{
    struct race *race = arg;
    uint8_t bytes[256] = {1};
    uint8_t *target = race->target + 256 * atomic_fetch_add(&race->writers, 1);
    struct tp_xfer xfer = {.dst = target, .src = bytes, .len = sizeof bytes};

    while (race->a.conn->ops->write(race->a.conn, &xfer) == HCCL_SUCCESS &&
           race->a.conn->ops->notify(race->a.conn, 1) == HCCL_SUCCESS)
        ;
    return NULL;
}

TEST(nothing_of_a_closed_end_is_touched)
{
    EACH_TRANSPORT (ops) {
        for (int round = 0; round < 50; round++) {
            struct race race = {.target = malloc(512)};
            pthread_t writers[2];

            open_pair(ops, &race.a, &race.b, "k");
            for (int i = 0; i < 2; i++)
                EXPECT_EQ(0, pthread_create(&writers[i], NULL, write_and_notify, &race));
            usleep((unsigned)round * 20);
            ops->close(race.b.conn);
            free(race.target); /* a write from now on is found by the address sanitizer */
            tp_destroy(race.b.conn);
            for (int i = 0; i < 2; i++)
                pthread_join(writers[i], NULL);
            tp_destroy(race.a.conn);
        }
    }
}

static void *
close_end(void *conn)
{
    ((struct tp_conn *)conn)->ops->close(conn);
    tp_destroy(conn);
    return NULL;
}

TEST(both_ends_may_close_at_once)
{
    EACH_TRANSPORT (ops) {
        for (int round = 0; round < 200; round++) {
            struct end a, b;
            pthread_t thread;

            open_pair(ops, &a, &b, "k");
            EXPECT_EQ(0, pthread_create(&thread, NULL, close_end, a.conn));
            tp_destroy(b.conn);
            pthread_join(thread, NULL);
        }
    }
}
