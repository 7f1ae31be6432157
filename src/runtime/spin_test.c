/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/sched.h"

#include <stdlib.h>
#include <time.h>

#include "base/bell.h"
#include "base/word.h"
#include "runtime/stress.h"

static struct hc_bell bell;
static struct rt_notify *notify;
static _Atomic uint64_t word;

static void
begin(void)
{
    struct rt_notify_origin origin = {.what = "the notify", .queues = true, .remote = true};

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(ACL_SUCCESS, rt_notify_create(0, &origin, &notify));
    rt_shared_watch(&bell);
    rt_outside_add(1);
}

static void
end(void)
{
    rt_notify_destroy(notify);
    rt_outside_add(-1);
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
}

TEST(who_spins_finds_what_has_come)
{
    begin();
    atomic_store(&word, 1ull << 32);
    EXPECT_TRUE(rt_spin_on(&word, 0));
    EXPECT_FALSE(rt_spin_on(&word, 1)); /* in vain, so that it is tired now */
    EXPECT_FALSE(rt_spin_on(&word, 0));
    EXPECT_FALSE(rt_spin_idle());
    rt_spin_rested(&rt_sched_self()->spin, 1);
    EXPECT_TRUE(rt_spin_on(&word, 0));
    end();
}

/* A poke that came when its wait was over anyway. */
TEST(what_is_left_of_an_earlier_wait_keeps_nobody_from_spinning)
{
    begin();
    atomic_store(&word, 1ull << 32);
    rt_sched_signal(rt_sched_self());
    EXPECT_TRUE(rt_spin_on(&word, 0));
    rt_sched_self()->depth = 1; /* as in a wait */
    rt_sched_signal(rt_sched_self());
    EXPECT_FALSE(rt_spin_on(&word, 0));
    rt_sched_self()->depth = 0;
    end();
}

TEST(nobody_spins_when_told_so)
{
    setenv("HCOMM_SPIN", "0", 1);
    begin();
    atomic_store(&word, 1ull << 32);
    EXPECT_FALSE(rt_spin_on(&word, 0));
    EXPECT_FALSE(rt_spin_idle());
    EXPECT_FALSE(rt_sched_self()->spin.tired);
    end();
}

TEST(nobody_spins_unless_another_process_may_record)
{
    begin();
    end();
    atomic_store(&word, 1ull << 32);
    EXPECT_FALSE(rt_spin_on(&word, 0));
    EXPECT_FALSE(rt_sched_self()->spin.begun);
}

TEST(patience_shrinks_with_long_sleeps_and_comes_back)
{
    struct rt_spin *spin = &rt_sched_self()->spin;
    uint32_t whole;

    begin();
    EXPECT_FALSE(rt_spin_on(&word, 0));
    whole = spin->budget_ns;
    for (int i = 0; i < 40; i++) {
        rt_spin_rested(spin, 1000000000u);
        EXPECT_FALSE(rt_spin_on(&word, 0));
    }
    EXPECT_TRUE(spin->budget_ns > 0 && spin->budget_ns <= whole / 32);
    for (int i = 0; i < 10; i++) {
        rt_spin_rested(spin, 1000); /* it slept for so short a time that it should not have */
        EXPECT_FALSE(rt_spin_on(&word, 0));
    }
    EXPECT_EQ(whole, spin->budget_ns);
    rt_spin_rested(spin, 1000000000u);
    atomic_store(&word, 1ull << 32);
    EXPECT_TRUE(rt_spin_on(&word, 0));
    EXPECT_EQ(whole, spin->budget_ns);
    end();
}

static _Atomic uint32_t rings;
static atomic_bool must_knock; /* for the last ring */

/* As a peer that knocks only when nobody looks; it never knocks here. */
static void *
ring_for_who_attends(void *arg)
{
    while (!atomic_load(&halt)) {
        if (atomic_load(&bell.attentive) > 0) {
            bool knock = hc_bell_ring(&bell, HC_WORD_HOST);

            atomic_store(&must_knock, knock);
            atomic_fetch_add(&rings, !knock);
        }
        sched_yield();
    }
    return arg;
}

static bool
never(void *arg)
{
    (void)arg;
    return false;
}

TEST(a_ring_that_saw_somebody_attend_is_drained_without_a_knock)
{
    pthread_t ringer;

    setenv("HCOMM_SPIN", "1000", 1);
    begin();
    ringer = spawn(ring_for_who_attends, NULL);
    while (atomic_load(&rings) < 50) {
        rt_sched_self()->spin = (struct rt_spin){.begun = false}; /* forget what is learned */
        EXPECT_FALSE(rt_wait_until(never, NULL, hc_deadline_ms(1)));
    }
    atomic_store(&halt, true);
    join(ringer);
    EXPECT_EQ(0, atomic_load(&bell.attentive));
    EXPECT_TRUE(!hc_bell_is_rung(&bell) || atomic_load(&must_knock));
    end();
}

static void *
await(void *arg)
{
    EXPECT_EQ(ACL_SUCCESS, rt_notify_await(notify, HC_FOREVER, NULL, 0));
    return arg;
}

static void *
synchronize(void *stream)
{
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    return NULL;
}

static uint64_t
cpu_ns(void)
{
    struct timespec used;

    EXPECT_EQ(0, clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used));
    return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

/* Two parked streams, a thread that waits for a stream, and one that waits for a notify. */
TEST(a_process_that_only_waits_for_others_uses_no_processor)
{
    struct rt_notify_origin origin = {.what = "a stream's notify", .remote = true};
    struct rt_notify *notifies[2];
    aclrtStream handles[2];
    pthread_t threads[2];
    uint64_t before;

    begin();
    for (int i = 0; i < 2; i++) {
        struct rt_stream *stream;
        struct rt_task task;

        EXPECT_EQ(ACL_SUCCESS, rt_notify_create(0, &origin, &notifies[i]));
        handles[i] = new_stream();
        stream = hold(handles[i]);
        rt_task_notify_wait(&task, notifies[i], 0);
        EXPECT_EQ(ACL_SUCCESS, rt_stream_push(stream, &task));
        rt_stream_release(stream);
    }
    threads[0] = spawn(await, NULL);
    threads[1] = spawn(synchronize, handles[0]);
    usleep(200000);
    before = cpu_ns();
    usleep(1000000);
    before = cpu_ns() - before;
    EXPECT_TRUE(before < 50000000u);
    rt_notify_record(notify);
    for (int i = 0; i < 2; i++)
        rt_notify_record(notifies[i]);
    for (int i = 0; i < 2; i++) {
        join(threads[i]);
        EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(handles[i]));
        EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(handles[i]));
        rt_notify_destroy(notifies[i]);
    }
    end();
}
