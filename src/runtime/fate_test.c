/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/fate.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/word.h"
#include "runtime/stress.h"

#define WHY "rank 3 has died"

static struct rt_fate *fate;
static struct rt_notify *one, *two;
static aclrtStream a, b;
static _Atomic uint32_t breaks;

static void
count_break(void *arg, const char *why)
{
    EXPECT_TRUE(arg == &breaks);
    EXPECT_STREQ(WHY, why);
    atomic_fetch_add(&breaks, 1);
}

static struct rt_notify *
new_notify(const char *what, struct rt_fate *under)
{
    struct rt_notify_origin origin = {
        .what = what, .expect = "rank 3", .queues = true, .remote = true, .fate = under};
    struct rt_notify *notify = NULL;

    EXPECT_EQ(ACL_SUCCESS, rt_notify_create(0, &origin, &notify));
    return notify;
}

static void
begin(void)
{
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    a = new_stream();
    b = new_stream();
    fate = rt_fate_create(count_break, &breaks);
    EXPECT_NOT_NULL(fate);
    one = new_notify("the first notify", fate);
    two = new_notify("the second notify", fate);
}

static void
end(void)
{
    rt_fate_disown(fate);
    rt_fate_release(fate); /* the notifies hold it still */
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(a));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(b));
    rt_notify_destroy(one);
    rt_notify_destroy(two);
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
}

static void
push_wait(aclrtStream handle, struct rt_notify *notify)
{
    struct rt_stream *stream = hold(handle);
    struct rt_task task;

    rt_task_notify_wait(&task, notify, 0);
    EXPECT_EQ(ACL_SUCCESS, rt_stream_push(stream, &task));
    rt_stream_release(stream);
}

static void
await_parked(aclrtStream handle)
{
    struct rt_stream *stream = hold(handle);

    while (atomic_load(&stream->state) != RT_PARKED)
        EXPECT_EQ(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, rt_stream_sync(stream, 1));
    rt_stream_release(stream);
}

static aclError
await(struct rt_notify *notify, int64_t timeout_ms)
{
    char why[RT_FATE_WHY] = "";
    aclError rc = rt_notify_await(notify, hc_deadline_ms(timeout_ms), why, sizeof why);

    if (rc == ACL_ERROR_RT_SUSPECT_REMOTE_ERROR)
        EXPECT_STREQ(WHY, why);
    return rc;
}

static void *
await_in_vain(void *notify)
{
    EXPECT_EQ(ACL_ERROR_RT_SUSPECT_REMOTE_ERROR, await(notify, -1));
    return NULL;
}

static void
await_registered(struct rt_notify *notify, uint32_t waiter)
{
    while (hc_word_waiter(atomic_load(rt_notify_word(notify))) != waiter)
        usleep(100);
}

TEST(breaking_a_fate_ends_every_vain_wait_of_its_notifies)
{
    char why[64] = "";
    pthread_t thread;

    test_expect_error("waited in vain for");
    begin();
    push_wait(a, one);
    await_parked(a);
    thread = spawn(await_in_vain, two);
    await_registered(two, HC_WORD_HOST);
    EXPECT_FALSE(rt_fate_broken(fate, why, sizeof why));
    rt_fate_break(fate, WHY);
    rt_fate_break(fate, "another reason");
    join(thread);
    EXPECT_EQ(ACL_ERROR_RT_SUSPECT_REMOTE_ERROR, aclrtSynchronizeStream(a));
    EXPECT_CONTAINS(WHY, aclGetRecentErrMsg());
    EXPECT_EQ(1, atomic_load(&breaks));
    EXPECT_TRUE(rt_fate_broken(fate, why, sizeof why));
    EXPECT_STREQ(WHY, why);
    EXPECT_EQ(ACL_ERROR_RT_SUSPECT_REMOTE_ERROR, await(one, -1)); /* and later ones */
    push_wait(b, two);
    EXPECT_EQ(ACL_ERROR_RT_SUSPECT_REMOTE_ERROR, aclrtSynchronizeStream(b));
    EXPECT_EQ(HCCL_E_REMOTE, rt_result(ACL_ERROR_RT_SUSPECT_REMOTE_ERROR));
    EXPECT_EQ(0, hc_word_waiter(atomic_load(rt_notify_word(one))));
    EXPECT_EQ(0, hc_word_waiter(atomic_load(rt_notify_word(two))));
    end();
}

TEST(a_broken_notify_gives_what_was_recorded_before_and_breaks_its_fate_then)
{
    char why[64];

    test_expect_error("waited in vain for");
    begin();
    for (int i = 0; i < 3; i++)
        rt_notify_record(one);
    rt_notify_break(one, WHY);
    rt_notify_break(one, "another reason");
    push_wait(a, one);
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(a));
    EXPECT_EQ(ACL_SUCCESS, await(one, -1));
    EXPECT_TRUE(rt_notify_take(one));
    EXPECT_FALSE(rt_fate_broken(fate, why, sizeof why)); /* nobody has waited in vain */
    push_wait(b, two);
    await_parked(b);
    push_wait(a, one);
    EXPECT_EQ(ACL_ERROR_RT_SUSPECT_REMOTE_ERROR, aclrtSynchronizeStream(a));
    EXPECT_EQ(ACL_ERROR_RT_SUSPECT_REMOTE_ERROR, aclrtSynchronizeStream(b));
    EXPECT_CONTAINS("the second notify", aclGetRecentErrMsg());
    EXPECT_EQ(1, atomic_load(&breaks));
    rt_notify_record(two);
    EXPECT_EQ(ACL_SUCCESS, await(two, -1)); /* what comes can be taken, still */
    end();
}

TEST(breaking_a_notify_wakes_who_waits_for_it)
{
    pthread_t threads[3];

    test_expect_error("waited in vain for");
    begin();
    push_wait(a, one);
    await_parked(a);
    for (int i = 0; i < 3; i++)
        threads[i] = spawn(await_in_vain, two);
    await_registered(two, HC_WORD_HOST);
    rt_notify_break(one, WHY);
    EXPECT_EQ(ACL_ERROR_RT_SUSPECT_REMOTE_ERROR, aclrtSynchronizeStream(a));
    for (int i = 0; i < 3; i++)
        join(threads[i]);
    end();
}

TEST(a_notify_without_a_fate_breaks_alone)
{
    struct rt_notify *lone;

    begin();
    lone = new_notify("a lone notify", NULL);
    rt_notify_break(lone, WHY);
    EXPECT_EQ(ACL_ERROR_RT_SUSPECT_REMOTE_ERROR, await(lone, -1));
    EXPECT_EQ(ACL_ERROR_RT_TASK_TIMEOUT, await(one, 1));
    EXPECT_EQ(0, atomic_load(&breaks));
    rt_fate_break(NULL, WHY);
    rt_fate_release(NULL);
    EXPECT_FALSE(rt_fate_broken(NULL, NULL, 0));
    rt_notify_destroy(lone);
    end();
}

/* ---- the owner goes ---- */

static atomic_bool inside, go_on, gone;

static void
break_slowly(void *arg, const char *why)
{
    (void)arg;
    (void)why;
    atomic_store(&inside, true);
    while (!atomic_load(&go_on))
        usleep(100);
    usleep(2000);
    EXPECT_FALSE(atomic_load(&gone));
}

static void *
break_it(void *broken)
{
    rt_fate_break(broken, WHY);
    return NULL;
}

static void *
let_it_go_on(void *arg)
{
    usleep(5000);
    atomic_store(&go_on, true);
    return arg;
}

TEST(an_owner_that_goes_waits_for_its_callback)
{
    struct rt_fate *slow = rt_fate_create(break_slowly, NULL);
    pthread_t breaker = spawn(break_it, slow), other;

    while (!atomic_load(&inside))
        usleep(100);
    other = spawn(let_it_go_on, NULL);
    rt_fate_disown(slow);
    atomic_store(&gone, true);
    join(breaker);
    join(other);
    rt_fate_release(slow);
}

static void
go_and_count(void *arg, const char *why)
{
    struct rt_fate **own = arg;

    (void)why;
    rt_fate_disown(*own); /* does not wait for itself */
    rt_fate_release(*own);
    *own = NULL;
    atomic_fetch_add(&breaks, 1);
}

TEST(an_owner_may_go_inside_its_callback)
{
    static struct rt_fate *own;

    own = rt_fate_create(go_and_count, &own);
    rt_fate_break(own, WHY);
    EXPECT_NULL(own);
    EXPECT_EQ(1, atomic_load(&breaks));
}

TEST(nobody_is_told_after_the_owner_went)
{
    begin();
    rt_fate_disown(fate);
    rt_fate_break(fate, WHY);
    EXPECT_EQ(0, atomic_load(&breaks));
    EXPECT_EQ(ACL_ERROR_RT_SUSPECT_REMOTE_ERROR, await(one, -1));
    end();
}

/* ---- many at once, and no memory ---- */

#define MANY 200

TEST(a_fate_with_many_notifies_wakes_all_of_them)
{
    static struct rt_notify *notifies[MANY];
    static aclrtStream streams[MANY];

    test_expect_error("waited in vain for");
    begin();
    for (int i = 0; i < MANY; i++) {
        notifies[i] = new_notify("one of many", fate);
        streams[i] = new_stream();
        push_wait(streams[i], notifies[i]);
    }
    for (int i = 0; i < MANY; i++)
        await_parked(streams[i]);
    rt_fate_break(fate, WHY);
    for (int i = 0; i < MANY; i++) {
        EXPECT_EQ(ACL_ERROR_RT_SUSPECT_REMOTE_ERROR, aclrtSynchronizeStream(streams[i]));
        EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(streams[i]));
        rt_notify_destroy(notifies[i]);
    }
    end();
}

static void *
await_any(void *notify)
{
    aclError rc;

    jitter();
    do
        rc = await(notify, 5);
    while (rc == ACL_ERROR_RT_TASK_TIMEOUT);
    EXPECT_TRUE(rc == ACL_SUCCESS || rc == ACL_ERROR_RT_SUSPECT_REMOTE_ERROR);
    return (void *)(intptr_t)rc;
}

static void *
record_one(void *notify)
{
    jitter();
    rt_notify_record(notify);
    return NULL;
}

static void *
break_notify(void *notify)
{
    jitter();
    rt_notify_break(notify, WHY);
    return NULL;
}

/* Waits by a stream and by threads, a record, and both kinds of break: all end, and the record is
 * taken by one of the threads or is still there. */
TEST(breaking_in_the_midst_of_waits_leaves_nobody_behind)
{
    test_allow_errors();
    for (int i = 0; i < ROUNDS(400); i++) {
        pthread_t waiters[2], others[3];
        int taken = 0;

        begin();
        push_wait(a, one);
        for (int k = 0; k < 2; k++)
            waiters[k] = spawn(await_any, two);
        others[0] = spawn(record_one, two);
        others[1] =
            spawn(i % 2 == 0 ? break_it : break_notify, i % 2 == 0 ? (void *)fate : (void *)two);
        others[2] = spawn(break_notify, one);
        EXPECT_EQ(ACL_ERROR_RT_SUSPECT_REMOTE_ERROR, aclrtSynchronizeStream(a));
        for (int k = 0; k < 2; k++) {
            void *rc;

            EXPECT_EQ(0, pthread_join(waiters[k], &rc));
            taken += (intptr_t)rc == ACL_SUCCESS;
        }
        for (int k = 0; k < 3; k++)
            join(others[k]);
        EXPECT_EQ(1, taken + rt_notify_take(two));
        EXPECT_EQ(0, atomic_load(&two->hosts));
        EXPECT_EQ(0, hc_word_waiter(atomic_load(rt_notify_word(two))));
        EXPECT_EQ(1, atomic_load(&breaks));
        atomic_store(&breaks, 0);
        end();
    }
}

/* A waiter that registers and a break that looks for it, as close to each other as can be. */
static _Atomic uint32_t round_begun, round_over;

static void *
break_each_round(void *rounds)
{
    for (uint32_t i = 1; i <= (uintptr_t)rounds; i++) {
        for (uint32_t k = 0; atomic_load(&round_begun) < i; k++)
            if (k > 10000)
                sched_yield();
        for (volatile uint32_t k = chance() % 400; k > 0; k--)
            ;
        if (i % 4 == 0)
            rt_notify_record(one); /* comes first, so it is delivered */
        if (i % 8 < 4)
            rt_fate_break(fate, WHY);
        else
            rt_notify_break(one, WHY);
        atomic_store(&round_over, i);
    }
    return NULL;
}

TEST(no_waiter_slips_past_a_break_and_no_record_before_it_is_lost)
{
    uintptr_t rounds = ROUNDS(20000);
    pthread_t breaker;

    setenv("HCOMM_SPIN", "0", 1); /* registers at once */
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    breaker = spawn(break_each_round, (void *)rounds);
    for (uint32_t i = 1; i <= rounds; i++) {
        fate = rt_fate_create(NULL, NULL);
        one = new_notify("the first notify", fate);
        atomic_store(&round_begun, i);
        if (i % 4 == 0)
            EXPECT_EQ(ACL_SUCCESS, await(one, -1));
        EXPECT_EQ(ACL_ERROR_RT_SUSPECT_REMOTE_ERROR, await(one, -1));
        while (atomic_load(&round_over) < i)
            sched_yield();
        rt_notify_destroy(one);
        rt_fate_release(fate);
    }
    join(breaker);
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
}

TEST(a_fate_needs_memory_to_begin_with_and_none_to_break)
{
    test_allow_errors();
    begin();
    hc_alloc_fail_nth(0);
    EXPECT_NULL(rt_fate_create(NULL, NULL));
    rt_fate_disown(fate); /* the reason will be another than count_break knows */
    hc_alloc_fail_nth(0);
    rt_notify_break(one, WHY);
    hc_alloc_fail_nth(-1);
    EXPECT_EQ(ACL_ERROR_RT_SUSPECT_REMOTE_ERROR, rt_notify_await(one, HC_FOREVER, (char[8]){0}, 8));
    EXPECT_TRUE(rt_fate_is_broken(fate));
    rt_fate_release(fate);
    fate = rt_fate_create(NULL, NULL); /* nobody wants to know */
    rt_fate_break(fate, WHY);
    end();
}
