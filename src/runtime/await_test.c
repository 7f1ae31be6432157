/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that wait for notifies themselves, and records that peers post to the bare word. */
#include <stdlib.h>

#include "base/bell.h"
#include "base/word.h"
#include "runtime/notify.h"
#include "runtime/stress.h"

static struct rt_notify *notify;
static aclrtStream a;

static void
begin_as(const struct rt_notify_origin *origin)
{
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    a = new_stream();
    EXPECT_EQ(ACL_SUCCESS, rt_notify_create(0, origin, &notify));
}

static void
begin(void)
{
    struct rt_notify_origin origin = {.what = "the notify", .queues = true};

    begin_as(&origin);
}

static void
end(void)
{
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(a));
    rt_notify_destroy(notify);
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
}

/* As a peer does, who has only the word. */
static void
post(void)
{
    uint64_t before;

    rt_shared_wake(hc_word_post(rt_notify_word(notify), &before));
}

static void
push_wait(void)
{
    struct rt_stream *stream = hold(a);
    struct rt_task task;

    rt_task_notify_wait(&task, notify, 0);
    EXPECT_EQ(ACL_SUCCESS, rt_stream_push(stream, &task));
    rt_stream_release(stream);
}

static aclError
await(int64_t timeout_ms)
{
    return rt_notify_await(notify, hc_deadline_ms(timeout_ms), NULL, 0);
}

static void *
await_one(void *arg)
{
    EXPECT_EQ(ACL_SUCCESS, await(-1));
    return arg;
}

static void
await_waiter(uint32_t waiter)
{
    while (hc_word_waiter(atomic_load(rt_notify_word(notify))) != waiter)
        usleep(100);
}

TEST(a_thread_takes_what_is_recorded_and_waits_for_what_is_not)
{
    pthread_t thread;

    begin();
    EXPECT_EQ(ACL_ERROR_RT_TASK_TIMEOUT, await(0));
    EXPECT_EQ(ACL_ERROR_RT_TASK_TIMEOUT, await(10));
    rt_notify_record(notify);
    EXPECT_EQ(ACL_SUCCESS, await(0));
    thread = spawn(await_one, NULL);
    await_waiter(HC_WORD_HOST);
    rt_notify_record(notify);
    join(thread);
    EXPECT_EQ(0, hc_word_waiter(atomic_load(rt_notify_word(notify))));
    push_wait();
    post(); /* by a thread that has waited, by a stream then: both ways */
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(a));
    end();
}

TEST(threads_share_the_wait_for_a_notify)
{
    pthread_t threads[4];

    begin();
    for (int i = 0; i < 4; i++)
        threads[i] = spawn(await_one, NULL);
    await_waiter(HC_WORD_HOST);
    for (int i = 0; i < 4; i++)
        post();
    for (int i = 0; i < 4; i++)
        join(threads[i]);
    EXPECT_FALSE(rt_notify_take(notify));
    EXPECT_EQ(0, hc_word_waiter(atomic_load(rt_notify_word(notify))));
    end();
}

TEST(a_stream_and_a_thread_do_not_wait_for_the_same_notify)
{
    pthread_t thread;

    test_expect_error("a thread cannot wait for the notify: stream");
    test_expect_error("the notify already has a waiter, a thread");
    begin();
    push_wait();
    EXPECT_EQ(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(a, 20));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, await(-1));
    post();
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(a));
    thread = spawn(await_one, NULL);
    await_waiter(HC_WORD_HOST);
    push_wait();
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeStream(a));
    post();
    join(thread);
    end();
}

TEST(two_records_of_a_peer_are_remarked_upon_when_the_first_is_taken)
{
    struct rt_notify_origin origin = {.what = "the notify"};

    begin_as(&origin);
    for (int i = 0; i < 3; i++)
        post();
    EXPECT_EQ(0, test_logged("recorded again before it was waited for"));
    for (int i = 0; i < 3; i++)
        EXPECT_TRUE(rt_notify_take(notify));
    EXPECT_FALSE(rt_notify_take(notify));
    EXPECT_EQ(1, test_logged("recorded again before it was waited for"));
    end();
}

TEST(in_strict_mode_a_take_swallows_all_that_a_peer_has_posted)
{
    struct rt_notify_origin origin = {.what = "the notify"};

    setenv("HCOMM_NOTIFY_MODE", "strict", 1);
    begin_as(&origin);
    for (int i = 0; i < 3; i++)
        post();
    EXPECT_TRUE(rt_notify_take(notify));
    EXPECT_FALSE(rt_notify_take(notify));
    post();
    EXPECT_EQ(ACL_SUCCESS, await(0));
    EXPECT_EQ(ACL_ERROR_RT_TASK_TIMEOUT, await(0));
    end();
}

TEST(a_reset_forgets_what_is_recorded_and_keeps_the_waiter)
{
    begin();
    post();
    post();
    rt_notify_reset(notify);
    EXPECT_FALSE(rt_notify_take(notify));
    push_wait();
    EXPECT_EQ(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(a, 20));
    rt_notify_reset(notify);
    post();
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(a));
    end();
}

TEST(the_count_of_records_may_wrap)
{
    begin();
    atomic_store(rt_notify_word(notify), 0xFFFFFFFEull << 32);
    atomic_store(&notify->taken, 0xFFFFFFFEu);
    for (int i = 0; i < 4; i++)
        post();
    for (int i = 0; i < 4; i++)
        EXPECT_TRUE(rt_notify_take(notify));
    EXPECT_FALSE(rt_notify_take(notify));
    end();
}

TEST(a_wake_for_nobody_does_no_harm)
{
    begin();
    rt_shared_wake(0);
    for (uint32_t i = 1; i != 0 && i < 0x80000000u; i <<= 1)
        rt_shared_wake(i);
    rt_shared_wake(UINT32_MAX - 2);
    rt_shared_wake(UINT32_MAX - 1);
    rt_shared_wake(UINT32_MAX);
    end();
}

static atomic_int hooked;
static uint32_t hooked_stream;

static void
on_wake(void)
{
    rt_waiters_poke(); /* as it may: nothing that these take is held */
    rt_stream_wake(hooked_stream);
    atomic_fetch_add(&hooked, 1);
}

TEST(the_hook_hears_of_wakes_for_the_host)
{
    struct rt_stream *stream;

    begin();
    stream = hold(a);
    hooked_stream = rt_stream_id(stream);
    rt_stream_release(stream);
    rt_shared_wake(HC_WORD_HOST); /* there is none yet */
    rt_set_wake_hook(on_wake);
    rt_shared_wake(0);
    rt_shared_wake(hooked_stream + 1);
    EXPECT_EQ(0, atomic_load(&hooked));
    rt_shared_wake(HC_WORD_HOST);
    EXPECT_EQ(1, atomic_load(&hooked));
    rt_shared_wake(HC_BELL_EVERYBODY);
    EXPECT_EQ(2, atomic_load(&hooked));
    end();
}

/* ---- many at once ---- */

static _Atomic uint32_t taken_num;

static void *
await_briefly(void *arg)
{
    while (!atomic_load(&halt)) {
        if (await(chance() % 3) == ACL_SUCCESS)
            atomic_fetch_add(&taken_num, 1);
        jitter();
    }
    return arg;
}

static void *
await_forever(void *rounds)
{
    for (uintptr_t i = 0; i < (uintptr_t)rounds; i++) {
        EXPECT_EQ(ACL_SUCCESS, await(-1));
        atomic_fetch_add(&taken_num, 1);
    }
    return NULL;
}

/* Some come and go, one stays: whoever goes must not take the registration from the others. */
TEST(threads_that_come_and_go_take_no_wake_from_one_that_stays)
{
    uintptr_t rounds = ROUNDS(4000);
    pthread_t stays, others[3];
    uint32_t posted = 0;

    begin();
    stays = spawn(await_forever, (void *)rounds);
    for (int i = 0; i < 3; i++)
        others[i] = spawn(await_briefly, NULL);
    while (pthread_tryjoin_np(stays, NULL) != 0) {
        if (posted == atomic_load(&taken_num)) {
            post();
            posted++;
        }
        jitter();
    }
    atomic_store(&halt, true);
    for (int i = 0; i < 3; i++)
        join(others[i]);
    while (rt_notify_take(notify))
        atomic_fetch_add(&taken_num, 1);
    EXPECT_EQ(posted, atomic_load(&taken_num));
    EXPECT_EQ(0, hc_word_waiter(atomic_load(rt_notify_word(notify))));
    end();
}

static _Atomic uint32_t round_begun, round_over;

static void *
await_each_round(void *rounds)
{
    for (uint32_t i = 1; i <= (uintptr_t)rounds; i++) {
        for (uint32_t k = 0; atomic_load(&round_begun) < i; k++)
            if (k > 10000)
                sched_yield();
        for (volatile uint32_t k = chance() % 400; k > 0; k--)
            ;
        EXPECT_EQ(ACL_SUCCESS, await(-1));
        atomic_store(&round_over, i);
    }
    return NULL;
}

/* One thread gives up while another comes, who may believe in the registration of the first. */
TEST(who_gives_up_does_not_deregister_who_comes)
{
    uintptr_t rounds = ROUNDS(20000);
    pthread_t comes;

    begin();
    comes = spawn(await_each_round, (void *)rounds);
    for (uint32_t i = 1; i <= rounds; i++) {
        atomic_store(&round_begun, i);
        EXPECT_EQ(ACL_ERROR_RT_TASK_TIMEOUT, await(0));
        post();
        while (atomic_load(&round_over) < i)
            sched_yield();
    }
    join(comes);
    end();
}
