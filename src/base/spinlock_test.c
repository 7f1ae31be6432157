/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/spinlock.h"

#include <pthread.h>

#include "tests/support/test.h"

#define THREADS 6
#define TURNS 50000u

static struct hc_spinlock lock = HC_SPINLOCK_INIT;
static uint64_t count; /* under `lock` */

TEST(who_has_it_keeps_others_out_until_it_gives_it_back)
{
    EXPECT_TRUE(hc_spin_trylock(&lock));
    EXPECT_FALSE(hc_spin_trylock(&lock));
    hc_spin_unlock(&lock);
    hc_spin_lock(&lock);
    EXPECT_FALSE(hc_spin_trylock(&lock));
    hc_spin_unlock(&lock);
    EXPECT_TRUE(hc_spin_trylock(&lock));
    hc_spin_unlock(&lock);
}

static void *
add(void *arg)
{
    (void)arg;
    for (uint32_t i = 0; i < TURNS; i++) {
        if (i % 3 != 0 || !hc_spin_trylock(&lock))
            hc_spin_lock(&lock);
        count++;
        hc_spin_unlock(&lock);
    }
    return NULL;
}

/* More threads than processors: holders are descheduled. */
TEST(threads_add_under_it_and_nothing_is_lost)
{
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        EXPECT_EQ(0, pthread_create(&threads[i], NULL, add, NULL));
    for (int i = 0; i < THREADS; i++)
        EXPECT_EQ(0, pthread_join(threads[i], NULL));
    EXPECT_EQ((uint64_t)THREADS * TURNS, count);
}

static void *
take(void *arg)
{
    hc_spin_lock(arg);
    count = 1;
    hc_spin_unlock(arg);
    return NULL;
}

/* Long enough for naps. */
TEST(a_holder_that_sleeps_is_waited_for_and_does_not_burn_a_processor)
{
    static const struct timespec sleep = {.tv_nsec = 300000000};
    struct timespec used;
    pthread_t thread;
    clockid_t clock;

    hc_spin_lock(&lock);
    EXPECT_EQ(0, pthread_create(&thread, NULL, take, &lock));
    EXPECT_EQ(0, pthread_getcpuclockid(thread, &clock));
    nanosleep(&sleep, NULL);
    EXPECT_EQ(0, clock_gettime(clock, &used));
    EXPECT_EQ(0, count);
    hc_spin_unlock(&lock);
    EXPECT_EQ(0, pthread_join(thread, NULL));
    EXPECT_EQ(1, count);
    EXPECT_TRUE(used.tv_sec == 0 && used.tv_nsec < 200000000); /* of 300 ms that it waited */
}
