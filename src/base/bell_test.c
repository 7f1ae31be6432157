/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/bell.h"

#include <pthread.h>
#include <sched.h>

#include "base/word.h"
#include "tests/support/test.h"

#define RINGERS 3
#define DRAINERS 2
#define RINGS 20000u
#define OWN 7000u /* numbers of each ringer */

static struct hc_bell bell;
static uint32_t woken[16];
static uint32_t woken_num;

static void
note(uint32_t waiter)
{
    EXPECT_TRUE(woken_num < 16);
    woken[woken_num++] = waiter;
}

TEST(who_is_rung_for_is_woken_once)
{
    EXPECT_TRUE(hc_bell_ring(&bell, 3));
    EXPECT_TRUE(hc_bell_ring(&bell, 3));
    EXPECT_TRUE(hc_bell_ring(&bell, HC_BELL_MANY - 1));
    EXPECT_TRUE(hc_bell_is_rung(&bell));
    hc_bell_drain(&bell, note);
    EXPECT_FALSE(hc_bell_is_rung(&bell));
    EXPECT_EQ(2, woken_num);
    EXPECT_EQ(3, woken[0]);
    EXPECT_EQ(HC_BELL_MANY - 1, woken[1]);
    hc_bell_drain(&bell, note);
    EXPECT_EQ(2, woken_num);
}

TEST(numbers_without_a_bit_of_their_own_wake_everybody_who_has_none)
{
    EXPECT_TRUE(hc_bell_ring(&bell, HC_BELL_MANY));
    EXPECT_TRUE(hc_bell_ring(&bell, 4000000));
    EXPECT_TRUE(hc_bell_ring(&bell, HC_WORD_HOST));
    hc_bell_drain(&bell, note);
    EXPECT_EQ(1, woken_num);
    EXPECT_EQ(HC_BELL_EVERYBODY, woken[0]);
}

TEST(who_attends_needs_no_knock_and_drains_before_it_goes)
{
    hc_bell_attend(&bell);
    hc_bell_attend(&bell);
    EXPECT_FALSE(hc_bell_ring(&bell, 5));
    hc_bell_leave(&bell, note);
    EXPECT_EQ(1, woken_num);
    EXPECT_FALSE(hc_bell_ring(&bell, 6));
    hc_bell_leave(&bell, note);
    EXPECT_EQ(2, woken_num);
    EXPECT_TRUE(hc_bell_ring(&bell, 7));
}

static uint64_t seen_num, everybody_num;

static void
count(uint32_t waiter)
{
    EXPECT_NE(0, waiter);
    seen_num++;
    everybody_num += waiter == HC_BELL_EVERYBODY;
}

TEST(ringing_for_all_wakes_all)
{
    hc_bell_ring_all(&bell);
    hc_bell_drain(&bell, count);
    EXPECT_EQ(HC_BELL_WORDS * 64u - 1, seen_num);
    EXPECT_EQ(1, everybody_num);
}

TEST(whatever_garbage_is_in_it_a_drain_ends)
{
    for (uint32_t i = 0; i < HC_BELL_WORDS; i++)
        atomic_store(&bell.bits[i], 0x8000000000000001u);
    for (uint32_t i = 0; i < HC_BELL_WORDS / 64; i++)
        atomic_store(&bell.summary[i], UINT64_MAX);
    atomic_store(&bell.rung, 0xDEADBEEFu);
    hc_bell_drain(&bell, count);
    EXPECT_EQ(2 * HC_BELL_WORDS - 1, seen_num);
    EXPECT_FALSE(hc_bell_is_rung(&bell));
}

/* ---- many at once ---- */

static _Atomic uint32_t asked[RINGERS * OWN + 1], answered[RINGERS * OWN + 1];
static atomic_bool over;

static void
answer(uint32_t waiter)
{
    atomic_store(&answered[waiter], atomic_load(&asked[waiter]));
}

/* Asks under a number, rings, and needs the answer before it asks under that number again. */
static void *
ring(void *arg)
{
    uint32_t base = (uint32_t)(uintptr_t)arg * OWN + 1;

    for (uint32_t i = 0; i < RINGS; i++) {
        uint32_t number = base + i * 61 % OWN;

        while (atomic_load(&answered[number]) != atomic_load(&asked[number]))
            sched_yield();
        atomic_fetch_add(&asked[number], 1);
        if (hc_bell_ring(&bell, number)) /* nobody looks: knock, as it were */
            hc_bell_drain(&bell, answer);
    }
    return NULL;
}

static void *
attend(void *arg)
{
    (void)arg;
    while (!atomic_load(&over)) {
        hc_bell_attend(&bell);
        for (int i = 0; i < 50; i++)
            hc_bell_drain(&bell, answer);
        hc_bell_leave(&bell, answer);
        sched_yield();
    }
    return NULL;
}

TEST(no_ring_is_lost_whoever_drains)
{
    pthread_t ringers[RINGERS], drainers[DRAINERS];

    for (uintptr_t i = 0; i < DRAINERS; i++)
        EXPECT_EQ(0, pthread_create(&drainers[i], NULL, attend, NULL));
    for (uintptr_t i = 0; i < RINGERS; i++)
        EXPECT_EQ(0, pthread_create(&ringers[i], NULL, ring, (void *)i));
    for (int i = 0; i < RINGERS; i++)
        EXPECT_EQ(0, pthread_join(ringers[i], NULL));
    atomic_store(&over, true);
    for (int i = 0; i < DRAINERS; i++)
        EXPECT_EQ(0, pthread_join(drainers[i], NULL));
    for (uint32_t i = 1; i <= RINGERS * OWN; i++)
        EXPECT_EQ(atomic_load(&asked[i]), atomic_load(&answered[i]));
}
