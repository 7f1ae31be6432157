/* SPDX-License-Identifier: BSD-3-Clause */
/* What is learned from costs that are made up: no clock, no copy. */
#include "copy/habit.h"

#include "tests/support/test.h"

#define ALL (1u << COPY_PLAIN | 1u << COPY_STREAM | 1u << COPY_STRING)

struct run {
    uint32_t used[COPY_KINDS]; /* copies by each kind */
    uint64_t cost;             /* of all of them */
};

/* `num` copies that cost what `costs` says. */
static struct run
copies(struct copy_class *class, const uint32_t *costs, uint32_t num)
{
    struct run run = {0};

    for (uint32_t i = 0; i < num; i++) {
        bool timed;
        enum copy_kind kind = habit_choose(class, 1, &timed);

        EXPECT_TRUE(kind < COPY_KINDS);
        run.used[kind]++;
        run.cost += costs[kind];
        if (timed)
            habit_learn(class, ALL, kind, costs[kind]);
    }
    return run;
}

/* Copies until `kind` has been used seven times in a row. */
static uint32_t
copies_until(struct copy_class *class, const uint32_t *costs, enum copy_kind kind)
{
    uint32_t num = 0, row = 0;

    while (row < 7 && num < 100000) { /* a trial is six */
        row = copies(class, costs, 1).used[kind] == 1 ? row + 1 : 0;
        num++;
    }
    return num;
}

TEST(habit_learns_the_cheapest_kind_within_a_few_dozen_copies)
{
    static const uint32_t orders[6][COPY_KINDS] = {{100, 200, 300}, {100, 300, 200},
                                                   {200, 100, 300}, {300, 100, 200},
                                                   {200, 300, 100}, {300, 200, 100}};

    for (int i = 0; i < 6; i++) {
        struct copy_class class = {0};
        enum copy_kind best = orders[i][0] == 100 ? 0 : orders[i][1] == 100 ? 1 : 2;

        copies(&class, orders[i], 24);
        EXPECT_EQ(best, atomic_load(&class.kind));
        EXPECT_TRUE(copies(&class, orders[i], 1000).used[best] > 900);
    }
}

TEST(habit_wastes_little_on_trials)
{
    static const uint32_t costs[][COPY_KINDS] = {
        {100, 110, 120}, {700, 100, 690}, {100, 5000, 299}, {298, 299, 100}};

    for (size_t i = 0; i < sizeof costs / sizeof costs[0]; i++) {
        struct copy_class class = {0};

        copies(&class, costs[i], 1000);
        EXPECT_TRUE(copies(&class, costs[i], 20000).cost < 20000u * 105);
    }
}

TEST(habit_gives_way_at_once_when_the_kind_in_use_becomes_slow)
{
    static const uint32_t still[] = {17000, 24000, 20000}, fresh[] = {138000, 24000, 140000};
    struct copy_class class = {0};

    copies(&class, still, 500);
    EXPECT_TRUE(copies_until(&class, fresh, COPY_STREAM) <= 30);
    EXPECT_TRUE(copies(&class, fresh, 1000).used[COPY_STREAM] > 900);
}

TEST(habit_finds_a_kind_that_has_become_fast)
{
    static const uint32_t still[] = {17000, 24000, 20000}, fresh[] = {138000, 24000, 140000};
    struct copy_class class = {0};

    copies(&class, fresh, 500);
    EXPECT_TRUE(copies_until(&class, still, COPY_PLAIN) < 600);
    EXPECT_TRUE(copies(&class, still, 1000).used[COPY_PLAIN] > 900);
}

/* A thread that was descheduled in the middle of a copy, and finds cold caches then. */
TEST(habit_is_not_changed_by_outliers)
{
    static const uint32_t costs[] = {100, 130, 200};
    struct copy_class class = {0};
    uint32_t others = 0;

    copies(&class, costs, 24);
    for (int i = 0; i < 100; i++) {
        static const uint32_t outlier[] = {4000000000u, 130, 200}, cold[] = {180, 240, 400};

        others += 1 - copies(&class, outlier, 1).used[COPY_PLAIN];
        others += 2 - copies(&class, cold, 2).used[COPY_PLAIN];
        others += 9 - copies(&class, costs, 9).used[COPY_PLAIN];
    }
    EXPECT_TRUE(others < 250); /* trials */
}

TEST(habit_is_not_misled_by_an_outlier_in_a_trial)
{
    static const uint32_t costs[] = {100, 50, 200}, outlier[] = {100, 4000000000u, 200};

    for (uint32_t at = 0; at < 12; at++) { /* the trial of the best kind is the second */
        struct copy_class class = {0};

        copies(&class, costs, at);
        copies(&class, outlier, 1);
        copies(&class, costs, 300);
        EXPECT_EQ(COPY_STREAM, atomic_load(&class.kind));
    }
}

/* Non-temporal stores drive the bytes out of the caches: the first plain copies after them are
 * slower than those are, all later ones faster. */
TEST(habit_sees_through_what_the_kind_before_left_in_the_caches)
{
    struct copy_class class = {0};
    enum copy_kind kind = COPY_STREAM;
    uint32_t plain = 0, since = 0;

    for (int i = 0; i < 200; i++) {
        bool timed;
        uint32_t cost;

        kind = habit_choose(&class, 1, &timed);
        since = kind == COPY_PLAIN ? since + 1 : 0;
        cost = kind != COPY_PLAIN ? 240 : since <= 2 ? 310 : 170;
        if (timed)
            habit_learn(&class, ALL, kind, cost);
        plain += i >= 100 && kind == COPY_PLAIN;
    }
    EXPECT_TRUE(plain > 85);
}

TEST(habit_times_one_copy_of_a_stride_while_nothing_is_on_trial)
{
    static const uint32_t costs[] = {100, 100, 100};
    struct copy_class class = {0};
    int times = 0;

    while (atomic_load(&class.rest) < 30)
        copies(&class, costs, 1);
    for (int i = 0; i < 28; i++) {
        bool timed;

        (void)habit_choose(&class, 7, &timed);
        times += timed;
    }
    EXPECT_EQ(4, times);
}

TEST(habit_never_tries_a_kind_that_the_processor_lacks)
{
    struct copy_class class = {0};

    for (int i = 0; i < 2000; i++) {
        bool timed;
        enum copy_kind kind = habit_choose(&class, 1, &timed);

        EXPECT_NE(COPY_STREAM, kind);
        if (timed)
            habit_learn(&class, 1u << COPY_PLAIN | 1u << COPY_STRING, kind, 100);
    }
}

/* Threads that share a class leave any mixture in its fields. */
TEST(habit_recovers_from_any_state)
{
    static const uint32_t costs[] = {300, 100, 200};
    static const uint32_t odd[] = {0, 1, 99, 4294967295u};

    for (uint32_t i = 0; i < 4 * 4 * 4 * 3 * 3; i++) {
        struct copy_class class = {.cost = {odd[i % 4], odd[i / 4 % 4], odd[i / 16 % 4]},
                                   .last = odd[i / 5 % 4],
                                   .rest = (uint16_t)(odd[i / 7 % 4] % 1025),
                                   .kind = (uint8_t)(i / 64 % 3),
                                   .trial = (uint8_t)(i / 192 % 3),
                                   .tries = (uint8_t)odd[i / 11 % 4],
                                   .age = (uint8_t)odd[i / 17 % 4],
                                   .slow = (uint8_t)odd[i / 19 % 4],
                                   .settle = (uint8_t)odd[i / 13 % 4]};

        copies(&class, costs, 3000);
        EXPECT_TRUE(copies(&class, costs, 1000).used[COPY_STREAM] > 900);
    }
}
