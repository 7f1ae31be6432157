/* SPDX-License-Identifier: BSD-3-Clause */
/* What every transport must do: reaching memory for a moment, and waking waiters of the peer. */
#include "base/bell.h"
#include "transport/transport_test.h"

#define BYTES (MEMORY_LEN - WORDS_LEN)

/* ---- reach ---- */

CONFORMS(memory_is_reached_at_plain_addresses)
{
    struct tp_region part = me->common->region[1 - me->side];
    struct end end;
    void *there = NULL, *again = NULL;

    part.addr += 4096;
    part.place.offset += 4096;
    part.len = 8192;
    memset(me->data, 'a' + me->side, 16384);
    end_connect(me, &end, "k");
    in_step(me);
    EXPECT_EQ(HCCL_SUCCESS, me->ops->reach(end.conn, &part, &there));
    EXPECT_EQ(HCCL_SUCCESS, me->ops->reach(end.conn, &part, &again)); /* twice is fine */
    EXPECT_EQ('b' - me->side, *(uint8_t *)there);
    EXPECT_EQ('b' - me->side, ((uint8_t *)again)[8191]);
    EXPECT_FALSE(tp_is_stand_in(there, 8192));
    me->ops->unreach(end.conn, &part, again);
    in_step(me);
    memset(there, 'x' + me->side, 8192);
    me->ops->unreach(end.conn, &part, there);
    in_step(me);
    EXPECT_EQ('a' + me->side, me->data[4095]);
    EXPECT_EQ('y' - me->side, me->data[4096]);
    EXPECT_EQ('y' - me->side, me->data[4096 + 8191]);
    EXPECT_EQ('a' + me->side, me->data[4096 + 8192]);
    in_step(me);
    end_destroy(&end);
}

CONFORMS(to_reach_and_let_go_leaves_nothing_behind)
{
    const struct tp_region *region = &me->common->region[1 - me->side];
    struct end end;
    void *there;
    long live = 0;

    end_connect(me, &end, "k");
    in_step(me); /* both have done all that connecting takes */
    for (int round = 0; round < 20000; round++) {
        if (round == 1)
            live = hc_alloc_live();
        EXPECT_EQ(HCCL_SUCCESS, me->ops->reach(end.conn, region, &there));
        me->ops->unreach(end.conn, region, there);
    }
    EXPECT_TRUE(hc_alloc_live() <= live + 1); /* of the other thread's first round */
    in_step(me);
    end_destroy(&end);
}

CONFORMS(what_describes_no_memory_is_not_reached)
{
    struct tp_region region = me->common->region[1 - me->side], bad;
    struct end end;
    void *there = &end;

    if (me->side == 0 || me->ops == &tp_shm_ops) /* once for each process */
        test_allow_errors();
    end_connect(me, &end, "k");
    in_step(me);
    bad = region;
    bad.len = 0;
    EXPECT_EQ(HCCL_E_PARA, me->ops->reach(end.conn, &bad, &there));
    bad.len = UINT64_MAX;
    EXPECT_EQ(HCCL_E_PARA, me->ops->reach(end.conn, &bad, &there));
    if (me->ops == &tp_shm_ops) {
        static const struct tp_place places[] = {
            {1, UINT64_MAX},
            {1, INT64_MAX},
            {2, 1ull << 40},
            {77, 0} /* none */,
        };

        for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
            bad = region;
            bad.place = places[i];
            EXPECT_EQ(HCCL_E_PARA, me->ops->reach(end.conn, &bad, &there));
        }
        bad = region;
        bad.len += 1; /* ends behind the file */
        EXPECT_EQ(HCCL_E_PARA, me->ops->reach(end.conn, &bad, &there));
        bad = region;
        bad.place = (struct tp_place){0};
        EXPECT_EQ(HCCL_E_NOT_SUPPORT, me->ops->reach(end.conn, &bad, &there));
    }
    EXPECT_TRUE(there == (void *)&end); /* untouched */
    EXPECT_EQ(HCCL_SUCCESS, me->ops->reach(end.conn, &region, &there));
    me->ops->unreach(end.conn, &region, there);
    in_step(me);
    end_destroy(&end);
}

CONFORMS(what_was_reached_stays_until_it_is_let_go)
{
    const struct tp_region *region = &me->common->region[1 - me->side];
    struct end end, lone;
    void *there = NULL, *none = NULL;

    end_open(me, &lone, me->side == 0 ? "only 0" : "only 1", NULL);
    EXPECT_EQ(HCCL_E_REMOTE, me->ops->reach(lone.conn, region, &none)); /* not connected */
    memset(me->data, 'a' + me->side, 4096);
    end_connect(me, &end, "k");
    in_step(me);
    EXPECT_EQ(HCCL_SUCCESS, me->ops->reach(end.conn, region, &there));
    in_step(me);
    me->ops->close(end.conn);
    EXPECT_EQ('b' - me->side, *(uint8_t *)there);
    EXPECT_EQ(HCCL_E_REMOTE, me->ops->reach(end.conn, region, &none));
    me->ops->unreach(end.conn, region, there);
    in_step(me);
    EXPECT_NULL(none);
    end_destroy(&lone);
    end_destroy(&end);
}

/* ---- wake ---- */

/* The last waiter that was woken here is `waiter`. */
static void
await_wake(uint32_t waiter)
{
    for (int i = 0; atomic_load(&test_woken) != waiter; i++) {
        EXPECT_TRUE(i < 200000);
        usleep(i < 1000 ? 0 : 100);
    }
}

CONFORMS(a_wake_reaches_waiters_of_the_peers_process)
{
    static const uint32_t waiters[] = {1, 2, 4711, 65534};
    bool shm = me->ops == &tp_shm_ops;
    struct end end;

    end_connect(me, &end, "k");
    in_step(me);
    for (uint32_t i = 0; i < 4 * 50; i++) {
        if (me->side == 0)
            me->ops->wake(end.conn, waiters[i % 4]);
        else
            await_wake(waiters[i % 4]);
        in_step(me);
    }
    if (me->side == 0) {
        me->ops->wake(end.conn, 0);
        me->ops->wake(end.conn, HC_WORD_HOST);
    } else {
        await_wake(shm ? HC_BELL_EVERYBODY : HC_WORD_HOST); /* as the bell tells it */
    }
    in_step(me);
    end_destroy(&end);
}

CONFORMS(a_wake_shows_what_was_stored_before)
{
    uint32_t *theirs, *mine = (uint32_t *)(void *)me->data;
    struct end end;

    end_connect(me, &end, "k");
    theirs = (uint32_t *)(void *)end_map(&end);
    in_step(me);
    for (uint32_t round = 1; round <= 200; round++) {
        if (me->side == 0) {
            __atomic_store_n(theirs, round, __ATOMIC_RELAXED);
            me->ops->wake(end.conn, round);
        } else {
            await_wake(round);
            EXPECT_EQ(round, __atomic_load_n(mine, __ATOMIC_RELAXED));
        }
        in_step(me);
    }
    end_destroy(&end);
}

CONFORMS(an_ended_connection_wakes_nobody)
{
    struct end end, lone;

    end_open(me, &lone, me->side == 0 ? "only 0" : "only 1", NULL);
    end_connect(me, &end, "k");
    in_step(me);
    me->ops->close(end.conn);
    in_step(me);
    for (int i = 0; i < 10; i++) {
        me->ops->wake(lone.conn, 4711); /* not connected */
        me->ops->wake(end.conn, 4711);
    }
    in_step(me);
    EXPECT_TRUE(atomic_load(&test_woken) != 4711);
    end_destroy(&lone);
    end_destroy(&end);
}

/* ---- while the connection ends ---- */

struct user {
    struct end *end;
    const struct tp_region *region;
    HcclResult rc;
    uint32_t sum; /* of what it has read */
};

/* Until the connection has ended. */
static void *
reach_and_wake(void *arg)
{
    struct user *user = arg;
    const struct tp_ops *ops = user->end->ops;

    while (user->rc == HCCL_SUCCESS) {
        void *there;

        user->rc = ops->reach(user->end->conn, user->region, &there);
        ops->wake(user->end->conn, 5);
        if (user->rc != HCCL_SUCCESS)
            break;
        user->sum += *(volatile uint8_t *)there;
        ops->unreach(user->end->conn, user->region, there);
    }
    return NULL;
}

CONFORMS(either_end_may_close_while_threads_reach_and_wake)
{
    for (unsigned round = 0; round < 40; round++) {
        struct user users[2];
        pthread_t threads[2];
        struct end end;

        end_connect(me, &end, "k");
        in_step(me);
        for (int i = 0; i < 2; i++) {
            users[i] = (struct user){.end = &end, .region = &me->common->region[1 - me->side]};
            EXPECT_EQ(0, pthread_create(&threads[i], NULL, reach_and_wake, &users[i]));
        }
        usleep(round * 20);
        if ((unsigned)me->side == round % 2)
            me->ops->close(end.conn);
        for (int i = 0; i < 2; i++) {
            pthread_join(threads[i], NULL);
            EXPECT_EQ(HCCL_E_REMOTE, users[i].rc);
        }
        end_destroy(&end);
        in_step(me);
    }
}
