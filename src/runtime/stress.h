/* SPDX-License-Identifier: BSD-3-Clause */
/* stress: what the stress tests of this layer share. One test runs in a process: the counters are
 * the test's own. */
#ifndef HC_RUNTIME_STRESS_H
#define HC_RUNTIME_STRESS_H

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "acl/acl_rt.h"
#include "base/clock.h"
#include "runtime/stream.h"
#include "tests/support/test.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ROUNDS(n) ((n) / 8)
#else
#define ROUNDS(n) (n)
#endif

static _Thread_local uint32_t seed;

static inline uint32_t
chance(void)
{
    if (seed == 0)
        seed = (uint32_t)(uintptr_t)&seed ^ (uint32_t)hc_now_ns() ^ 0x9E3779B9u;
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed >> 8;
}

/* Most often nothing, sometimes the other threads' turn, rarely a little sleep. */
static inline void
jitter(void)
{
    uint32_t what = chance() % 64;

    if (what < 12)
        sched_yield();
    else if (what < 14)
        usleep(chance() % 60);
    else if (what < 40)
        for (volatile uint32_t i = chance() % 400; i > 0; i--)
            ;
}

static inline aclrtStream
new_stream(void)
{
    aclrtStream stream = NULL;

    EXPECT_EQ(ACL_SUCCESS, aclrtCreateStream(&stream));
    return stream;
}

static inline pthread_t
spawn(void *(*fn)(void *arg), void *arg)
{
    pthread_t thread;

    EXPECT_EQ(0, pthread_create(&thread, NULL, fn, arg));
    return thread;
}

static inline void
join(pthread_t thread)
{
    EXPECT_EQ(0, pthread_join(thread, NULL));
}

static inline struct rt_stream *
hold(aclrtStream handle)
{
    struct rt_stream *stream = NULL;

    EXPECT_EQ(ACL_SUCCESS, rt_stream_hold(handle, &stream));
    return stream;
}

/* ---- tasks that count ---- */

static atomic_bool halt; /* the threads of the test end */
static _Atomic uint32_t ran_num, drop_num, fail_num;

static inline enum rt_step
count_run(struct rt_stream *stream, struct rt_task *task)
{
    (void)stream;
    (void)task;
    atomic_fetch_add(&ran_num, 1);
    return RT_STEP_DONE;
}

static inline enum rt_step
shut_run(struct rt_stream *stream, struct rt_task *task)
{
    (void)stream;
    (void)task;
    return RT_STEP_PARKED;
}

static inline enum rt_step
fail_run(struct rt_stream *stream, struct rt_task *task)
{
    (void)task;
    atomic_fetch_add(&fail_num, 1);
    return rt_stream_fail(stream, ACL_ERROR_RT_AICPU_EXCEPTION, "the test wants it");
}

static inline void
count_drop(struct rt_task *task, bool ran)
{
    (void)task;
    (void)ran;
    atomic_fetch_add(&drop_num, 1);
}

static const struct rt_task_ops count_ops = {.name = "count", .run = count_run, .drop = count_drop};
static const struct rt_task_ops shut_ops = {.name = "shut", .run = shut_run, .drop = count_drop};
static const struct rt_task_ops fail_ops = {.name = "fail", .run = fail_run, .drop = count_drop};

static inline aclError
push(struct rt_stream *stream, const struct rt_task_ops *ops)
{
    struct rt_task task = {.ops = ops};

    return rt_stream_push(stream, &task);
}

/* Synchronises again and again, whatever comes of it. */
static inline void *
collect(void *stream)
{
    while (!atomic_load(&halt)) {
        (void)rt_stream_sync(stream, -1);
        jitter();
    }
    return NULL;
}

#endif
