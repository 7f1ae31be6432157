/* SPDX-License-Identifier: BSD-3-Clause */
/* What every transport must do: meeting and parting. Moving is in conformance_move_test.c. */
#include <stdio.h>

#include "transport/transport_test.h"

CONFORMS(ends_meet_whichever_opens_first)
{
    for (int first = 0; first < 2; first++) {
        struct end end;

        if (me->side == first) {
            end_open(me, &end, "k", NULL);
            EXPECT_EQ(HCCL_E_AGAIN, me->ops->poll(end.conn));
        }
        in_step(me);
        if (me->side != first)
            end_open(me, &end, "k", NULL);
        EXPECT_EQ(HCCL_SUCCESS, end_settle(&end));
        EXPECT_TRUE(atomic_load(&end.changes) > 0);
        end_expect(&end, TP_OPEN, "");
        in_step(me);
        end_destroy(&end);
    }
}

CONFORMS(each_end_learns_what_the_other_told)
{
    const char *const texts[2] = {"from 0", "from 1"};
    struct end end, silent;

    end_open(me, &end, "k", texts[me->side]);
    end_open(me, &silent, "nothing", NULL);
    EXPECT_EQ(HCCL_SUCCESS, end_settle(&end));
    EXPECT_EQ(HCCL_SUCCESS, end_settle(&silent));
    end_expect_hello(&end, texts[1 - me->side]);
    end_expect_hello(&silent, "");
    in_step(me);
    end_destroy(&end);
    end_destroy(&silent);
}

CONFORMS(an_end_may_tell_much)
{
    static const uint32_t lens[] = {800, 1000, 1024, 5000, 3000001};

    for (size_t i = 0; i < sizeof lens / sizeof lens[0]; i++) {
        uint8_t *text = malloc(lens[i]);
        const uint8_t *told;
        struct end end;
        uint32_t len;

        memset(text, 'a' + me->side, lens[i]);
        EXPECT_EQ(HCCL_SUCCESS, end_try_open_len(me, &end, "k", text, lens[i]));
        memset(text, 'a' + 1 - me->side, lens[i]); /* it has been copied */
        EXPECT_EQ(HCCL_SUCCESS, end_settle(&end));
        told = me->ops->peer_hello(end.conn, &len);
        EXPECT_EQ(lens[i], len);
        EXPECT_MEMEQ(text, told, len);
        free(text);
        in_step(me);
        end_destroy(&end);
    }
}

CONFORMS(other_keys_and_equal_sides_do_not_meet)
{
    struct end a, b;

    end_open(me, &a, me->side == 0 ? "k" : "kk", NULL);
    end_open(me, &b, me->side == 0 ? "k" : "", NULL);
    in_step(me);
    usleep(20000);
    EXPECT_EQ(HCCL_E_AGAIN, me->ops->poll(a.conn));
    EXPECT_EQ(HCCL_E_AGAIN, me->ops->poll(b.conn));
    end_destroy(&a);
    end_destroy(&b);
}

CONFORMS(an_end_learns_when_its_peer_has_all_that_it_needs)
{
    struct end end;
    bool settled = false;

    end_open(me, &end, "k", "told");
    EXPECT_EQ(HCCL_SUCCESS, end_settle(&end));
    in_step(me);
    if (me->side == 0) /* alone in it, so far */
        EXPECT_FALSE(me->ops->settled(end.conn));
    in_step(me);
    for (int tries = 0; tries < 5000 && !settled; tries++) { /* also when the peer closes at once */
        settled = me->ops->settled(end.conn);
        usleep(settled ? 0 : 1000);
    }
    EXPECT_TRUE(settled);
    if (me->side == 0)
        in_step(me);
    end_destroy(&end);
    if (me->side == 1)
        in_step(me);
}

CONFORMS(several_pairs_of_one_key_meet_in_the_order_they_came)
{
    enum { MANY = 200 };
    static struct end ends[2][MANY];
    struct end *mine = ends[me->side];
    char text[16];

    for (int i = 0; i < MANY; i++) {
        snprintf(text, sizeof text, "%d", i);
        end_open(me, &mine[i], "k", text);
    }
    for (int i = 0; i < MANY; i++) {
        snprintf(text, sizeof text, "%d", i);
        EXPECT_EQ(HCCL_SUCCESS, end_settle(&mine[i]));
        end_expect_hello(&mine[i], text);
    }
    in_step(me);
    for (int i = 0; i < MANY; i++)
        end_destroy(&mine[me->side == 0 ? i : MANY - 1 - i]);
}

CONFORMS(an_end_that_left_before_its_peer_came_is_forgotten)
{
    for (int leaver = 0; leaver < 2; leaver++) {
        struct end end;

        if (me->side == leaver) {
            end_open(me, &end, "k", "old");
            end_destroy(&end);
        }
        in_step(me);
        if (me->side != leaver) {
            end_open(me, &end, "k", "there");
            usleep(1000);
            EXPECT_EQ(HCCL_E_AGAIN, me->ops->poll(end.conn));
        }
        in_step(me);
        if (me->side == leaver)
            end_open(me, &end, "k", "new");
        EXPECT_EQ(HCCL_SUCCESS, end_settle(&end));
        end_expect_hello(&end, me->side == leaver ? "there" : "new");
        in_step(me);
        end_destroy(&end);
    }
}

/* The notes say whom each end met: both must say the same, or one of them did not notice. */
CONFORMS(ends_that_come_and_go_meet_one_peer_each)
{
    enum { ROUNDS = 1500 };
    unsigned seed = (unsigned)me->side + 1;

    for (uint32_t i = 1; i <= ROUNDS; i++) {
        HcclResult rc = HCCL_E_AGAIN;
        struct end end;
        uint32_t len;

        EXPECT_EQ(HCCL_SUCCESS, end_try_open_len(me, &end, "k", &i, sizeof i));
        for (int tries = rand_r(&seed) % 60; tries > 0 && rc == HCCL_E_AGAIN; tries--) {
            rc = me->ops->poll(end.conn);
            if (rc == HCCL_E_AGAIN && tries % 2 == 0)
                usleep(1);
        }
        EXPECT_TRUE(rc == HCCL_SUCCESS || rc == HCCL_E_AGAIN || rc == HCCL_E_REMOTE);
        if (rc == HCCL_SUCCESS)
            memcpy(&me->common->note[me->side][i], me->ops->peer_hello(end.conn, &len), sizeof i);
        end_destroy(&end);
    }
    in_step(me);
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        uint32_t met = me->common->note[me->side][i];

        EXPECT_TRUE(met <= ROUNDS);
        if (met != 0 && me->common->note[1 - me->side][met] != 0)
            EXPECT_EQ(i, me->common->note[1 - me->side][met]);
    }
}

CONFORMS(calls_fail_when_the_peer_has_closed)
{
    struct end end;
    int before;

    end_connect(me, &end, "k");
    struct tp_xfer write = {.dst = end_map(&end), .src = me->data, .len = 4};
    struct tp_xfer read = {.dst = me->data, .src = write.dst, .len = 4};

    memset(me->data, me->side + 1, 64);
    before = atomic_load(&end.changes);
    in_step(me);
    if (me->side == 1)
        me->ops->close(end.conn);
    in_step(me);
    EXPECT_EQ(HCCL_E_REMOTE, me->ops->poll(end.conn));
    EXPECT_EQ(HCCL_E_REMOTE, me->ops->write(end.conn, &write));
    EXPECT_EQ(HCCL_E_REMOTE, me->ops->read(end.conn, &read));
    EXPECT_EQ(HCCL_E_REMOTE, me->ops->write_reduce(end.conn, &write));
    EXPECT_EQ(HCCL_E_REMOTE, me->ops->read_reduce(end.conn, &read));
    EXPECT_EQ(HCCL_E_REMOTE, me->ops->notify(end.conn, 0));
    EXPECT_EQ(HCCL_E_REMOTE, me->ops->flush(end.conn));
    end_expect(&end, TP_CLOSED, "");
    if (me->side == 0)
        end_await_change(&end, before);
    else
        EXPECT_EQ(before, atomic_load(&end.changes));
    EXPECT_EQ(me->side + 1, me->data[0]);
    EXPECT_EQ(0, end_notifies(&end, 0));
    in_step(me);
    end_destroy(&end);
}

CONFORMS(closing_twice_or_unmet_or_never_opened_does_no_harm)
{
    struct tp_conn *never = tp_create(me->ops);
    struct end end;

    end_open(me, &end, me->side == 0 ? "k" : "other", NULL);
    me->ops->close(end.conn);
    me->ops->close(end.conn);
    end_expect(&end, TP_CLOSED, "");
    end_destroy(&end);
    tp_destroy(never);
    tp_destroy(NULL);
}

CONFORMS(the_reason_of_an_abort_arrives)
{
    struct end end;
    int before;

    end_connect(me, &end, "k");
    struct tp_xfer write = {.dst = end_map(&end), .src = me->data, .len = 4};

    before = atomic_load(&end.changes);
    in_step(me);
    if (me->side == 0) {
        me->ops->abort(end.conn, "rank 3 has lost its head");
        me->ops->abort(end.conn, "and again");
        EXPECT_EQ(HCCL_E_REMOTE, me->ops->write(end.conn, &write));
        EXPECT_EQ(HCCL_E_REMOTE, me->ops->poll(end.conn));
        EXPECT_EQ(before, atomic_load(&end.changes));
    }
    in_step(me);
    if (me->side == 1) {
        EXPECT_EQ(HCCL_E_REMOTE, me->ops->write(end.conn, &write));
        EXPECT_EQ(HCCL_E_REMOTE, me->ops->notify(end.conn, 0));
        EXPECT_EQ(HCCL_E_REMOTE, me->ops->poll(end.conn));
        end_expect(&end, TP_ABORTED, "rank 3 has lost its head");
        end_await_change(&end, before);
    }
    in_step(me);
    end_destroy(&end);
}

CONFORMS(the_reason_arrives_though_the_end_closes_at_once)
{
    char reason[300];

    memset(reason, 'r', sizeof reason - 1);
    reason[sizeof reason - 1] = '\0';
    for (int round = 0; round < 100; round++) {
        struct end end;

        end_connect(me, &end, "k");
        in_step(me);
        if (me->side == round % 2) {
            me->ops->abort(end.conn, reason);
            end_destroy(&end);
            continue;
        }
        while (me->ops->notify(end.conn, 0) == HCCL_SUCCESS)
            ;
        reason[255] = '\0';
        end_expect(&end, TP_ABORTED, reason);
        reason[255] = 'r';
        end_destroy(&end);
    }
}

CONFORMS(who_comes_after_an_abort_learns_of_it)
{
    for (int aborter = 0; aborter < 2; aborter++) {
        struct end end;

        if (me->side == aborter) {
            end_open(me, &end, "k", NULL);
            me->ops->abort(end.conn, "no more");
            EXPECT_EQ(HCCL_E_REMOTE, me->ops->poll(end.conn));
        }
        in_step(me);
        if (me->side != aborter) {
            end_open(me, &end, "k", NULL);
            EXPECT_EQ(HCCL_E_REMOTE, end_settle(&end));
            end_expect(&end, TP_ABORTED, "no more");
        }
        in_step(me);
        end_destroy(&end);
    }
}

CONFORMS(both_ends_may_close_at_once)
{
    for (int round = 0; round < 200; round++) {
        struct end end;

        end_connect(me, &end, "k");
        in_step(me);
        end_destroy(&end);
    }
}

CONFORMS(opening_and_closing_leaves_nothing_behind)
{
    int fds = 0;
    long live = 0;

    for (int round = 0; round < 1000; round++) {
        struct end end;

        if (round == 20) {
            fds = test_open_fds();
            live = hc_alloc_live();
        }
        end_connect(me, &end, "k");
        (void)end_map(&end);
        in_step(me);
        end_destroy(&end);
    }
    in_step(me);
    EXPECT_TRUE(test_open_fds() <= fds + 2); /* the other thread may be about to pass one */
    for (int i = 0; i < 1000 && hc_alloc_live() > live + 8; i++)
        usleep(1000);
    EXPECT_TRUE(hc_alloc_live() <= live + 8);
}

/* Settled, or the other party has given up in this round. */
static HcclResult
settle_unless(struct end *end, const atomic_int *gave_up, int round)
{
    HcclResult rc = HCCL_E_AGAIN;

    while (rc == HCCL_E_AGAIN && atomic_load(gave_up) != round) {
        rc = end->ops->poll(end->conn);
        if (rc == HCCL_E_AGAIN)
            usleep(100);
    }
    return rc;
}

/* Whichever allocation fails: its end says so, and the other learns, or waits as if nobody came. */
CONFORMS(connecting_survives_every_failed_allocation)
{
    atomic_int *gave_up = me->common->flag, *more = &me->common->flag[2];
    struct end first;
    int round = 0;

    if (me->side == 0 || me->ops == &tp_shm_ops) /* once for each process */
        test_allow_errors();
    end_connect(me, &first, "first"); /* the link of the processes is another test */
    do {
        HcclResult rc;
        struct end end;
        void *local;

        in_step(me);
        if (me->side == 0)
            hc_alloc_fail_nth(round);
        round++;
        rc = end_try_open(me, &end, "k", "text");
        if (rc == HCCL_SUCCESS)
            rc = settle_unless(&end, &gave_up[1 - me->side], round);
        if (rc == HCCL_SUCCESS)
            rc = me->ops->map(end.conn, &me->common->region[1 - me->side], &local);
        if (rc != HCCL_SUCCESS)
            atomic_store(&gave_up[me->side], round);
        EXPECT_TRUE(rc == HCCL_SUCCESS || rc == HCCL_E_MEMORY || rc == HCCL_E_REMOTE ||
                    rc == HCCL_E_AGAIN);
        in_step(me);
        if (me->side == 0) {
            atomic_store(more, hc_alloc_failed());
            hc_alloc_fail_nth(-1);
        }
        end_destroy(&end);
        in_step(me);
    } while (atomic_load(more) != 0);
    EXPECT_TRUE(round > 1);
    end_destroy(&first);
}
