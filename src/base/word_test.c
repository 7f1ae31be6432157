/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/word.h"

#include <pthread.h>

#include "tests/support/test.h"

#define WORD(posted, waiter) ((uint64_t)(posted) << 32 | (waiter))

TEST(a_post_counts_and_tells_the_waiter_once)
{
    _Atomic uint64_t word = WORD(7, 0);
    uint64_t before = 0;

    EXPECT_EQ(0, hc_word_post(&word, &before));
    EXPECT_EQ(WORD(7, 0), before);
    atomic_fetch_or(&word, 5);
    EXPECT_EQ(5, hc_word_post(&word, &before));
    EXPECT_EQ(WORD(8, 5), before);
    EXPECT_EQ(0, hc_word_post(&word, &before));
    EXPECT_EQ(WORD(10, 0), atomic_load(&word));
}

TEST(the_count_wraps_and_leaves_the_waiter_alone)
{
    _Atomic uint64_t word = WORD(UINT32_MAX, 0);
    uint64_t before = 0;

    EXPECT_EQ(0, hc_word_post(&word, &before));
    EXPECT_EQ(0, atomic_load(&word));
    atomic_store(&word, WORD(UINT32_MAX, HC_WORD_HOST));
    EXPECT_EQ(HC_WORD_HOST, hc_word_post(&word, &before));
    EXPECT_EQ(0, atomic_load(&word));
}

#define POSTERS 4
#define POSTS 20000

static _Atomic uint64_t shared;
static _Atomic uint32_t woken, registered;
static atomic_bool over;

static void *
post_all(void *arg)
{
    (void)arg;
    for (int i = 0; i < POSTS; i++) {
        uint64_t before;

        if (hc_word_post(&shared, &before) != 0)
            atomic_fetch_add(&woken, 1);
    }
    return NULL;
}

/* Registers only while nothing is left to take, as a waiter does. */
static void *
wait_all(void *arg)
{
    uint32_t taken = 0;

    (void)arg;
    while (!atomic_load(&over)) {
        uint64_t word = atomic_load(&shared);

        if (hc_word_posted(word) != taken)
            taken = hc_word_posted(word);
        else if (hc_word_waiter(word) == 0 &&
                 atomic_compare_exchange_strong(&shared, &word, word | 9))
            atomic_fetch_add(&registered, 1);
    }
    return NULL;
}

TEST(no_post_is_lost_and_each_registration_is_told_by_one)
{
    pthread_t posters[POSTERS], waiter;
    uint64_t before;

    EXPECT_EQ(0, pthread_create(&waiter, NULL, wait_all, NULL));
    for (int i = 0; i < POSTERS; i++)
        EXPECT_EQ(0, pthread_create(&posters[i], NULL, post_all, NULL));
    for (int i = 0; i < POSTERS; i++)
        EXPECT_EQ(0, pthread_join(posters[i], NULL));
    atomic_store(&over, true);
    EXPECT_EQ(0, pthread_join(waiter, NULL));
    EXPECT_EQ(POSTERS * POSTS, hc_word_posted(atomic_load(&shared)));
    if (hc_word_post(&shared, &before) != 0)
        atomic_fetch_add(&woken, 1);
    EXPECT_EQ(atomic_load(&registered), atomic_load(&woken));
}
