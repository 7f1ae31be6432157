/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * notify: a semaphore that a stream can park on.
 *
 * One 64-bit word in the device's shared memory: [waiter:32 | count:32]. `waiter` is the number of
 * the parked stream plus one, 0: nobody. Every change is one compare-and-swap, so recorder and
 * waiter agree on who comes first without a lock, and a recorder that finds a waiter knows exactly
 * which stream to wake.
 *
 * I1  A stream is the waiter only while its head task is the wait; drop() takes it away.
 * I2  A record clears the waiter it wakes; the stream, run again, takes the count or registers
 * anew. I3  A record releases, the wait that takes it acquires: what was written before is visible
 * after. I4  Record and take are seq_cst, for those who wait without a stream: they say that they
 * wait, then try to take; the recorder records, then asks who waits.
 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/handle.h"
#include "base/knobs.h"
#include "base/log.h"
#include "runtime/arena.h"
#include "runtime/notify.h"
#include "runtime/stream.h"

#define COUNT(word) ((uint32_t)(word))
#define WAITER(word) ((uint32_t)((word) >> 32))
#define WORD(waiter, count) (((uint64_t)(waiter) << 32) | (count))

/* Where the notifies of one device are. */
struct pool {
    pthread_mutex_t lock;
    uint64_t *handles; /* [capacity], 0: the number is free; under `lock` */
    uint32_t capacity; /* under `lock` */
    uint32_t hint;     /* numbers below are taken; under `lock` */
};

struct rt_notify {
    uint64_t handle;
    int32_t device;
    uint32_t id;
    _Atomic uint64_t *word; /* in the device's arena */
    bool queues;            /* origin: never strict, nothing to report */
    atomic_bool twice_said; /* the double record has been reported */
    char *what, *expect;    /* origin; expect may be NULL */
};

static void notify_fini(void *obj);

static struct hc_table notify_table = HC_TABLE("notify", HC_KIND_NOTIFY, notify_fini);
static struct pool pools[RT_DEVICES_MOST];
static pthread_once_t set_up_once = PTHREAD_ONCE_INIT;
static bool strict;

static void
set_up(void)
{
    int mode;

    (void)hc_knob_enum(KNOB_NOTIFY_MODE, &mode); /* invalid: logged, the default holds */
    strict = mode == 1;
    for (uint32_t i = 0; i < RT_DEVICES_MOST; i++)
        pthread_mutex_init(&pools[i].lock, NULL);
}

/* A free number of the device, taken for `handle`; UINT32_MAX: none, *full or no memory. */
static uint32_t
take_number(struct pool *pool, uint32_t most, uint64_t handle, bool *full)
{
    uint32_t id;

    pthread_mutex_lock(&pool->lock);
    for (id = pool->hint; id < pool->capacity && pool->handles[id] != 0; id++)
        ;
    if (id == pool->capacity && id < most) {
        uint32_t capacity = pool->capacity == 0 ? 64 : pool->capacity * 2;
        uint64_t *grown = hc_realloc(pool->handles, capacity * sizeof *grown);

        if (grown != NULL) {
            memset(grown + pool->capacity, 0, (capacity - pool->capacity) * sizeof *grown);
            pool->handles = grown;
            pool->capacity = capacity;
        }
    }
    if (id < pool->capacity) {
        pool->handles[id] = handle;
        pool->hint = id + 1;
    } else {
        *full = id >= most;
        id = UINT32_MAX;
    }
    pthread_mutex_unlock(&pool->lock);
    return id;
}

static void
give_number(struct pool *pool, uint32_t id)
{
    bool empty = true;

    pthread_mutex_lock(&pool->lock);
    pool->handles[id] = 0;
    if (id < pool->hint)
        pool->hint = id;
    for (uint32_t i = 0; i < pool->capacity && empty && pool->hint == 0; i++)
        empty = pool->handles[i] == 0;
    if (empty && pool->hint == 0) { /* the last one: nothing is kept for an unused device */
        hc_free(pool->handles);
        pool->handles = NULL;
        pool->capacity = 0;
    }
    pthread_mutex_unlock(&pool->lock);
}

aclError
rt_notify_create(int32_t device, const struct rt_notify_origin *origin, struct rt_notify **notify)
{
    struct rt_notify *fresh;
    _Atomic uint64_t *words;
    bool full = false;
    uint32_t most;
    aclError rc = rt_arena_notify_words(device, &words, &most);

    if (rc != ACL_SUCCESS)
        return rc;
    (void)pthread_once(&set_up_once, set_up);
    fresh = hc_zalloc(sizeof *fresh);
    if (fresh == NULL)
        return rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    fresh->device = device;
    fresh->id = UINT32_MAX;
    fresh->queues = origin->queues;
    fresh->what = hc_strdup(origin->what);
    fresh->expect = origin->expect == NULL ? NULL : hc_strdup(origin->expect);
    fresh->handle = hc_handle_reserve(&notify_table);
    if (fresh->what == NULL || (origin->expect != NULL && fresh->expect == NULL) ||
        fresh->handle == 0)
        goto no_memory;
    fresh->id = take_number(&pools[device], most, fresh->handle, &full);
    if (fresh->id == UINT32_MAX && !full)
        goto no_memory;
    if (fresh->id == UINT32_MAX) {
        rc = rt_fail(ACL_ERROR_RT_NO_NOTIFY_RESOURCE, "device %d has no notify left: %u are in use",
                     device, most);
        goto fail;
    }
    fresh->word = words + fresh->id * (RT_NOTIFY_STRIDE / sizeof *words);
    atomic_store(fresh->word, 0);
    hc_handle_publish(&notify_table, fresh->handle, fresh);
    *notify = fresh;
    return ACL_SUCCESS;

no_memory:
    rc = rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
fail:
    if (fresh->handle != 0)
        hc_handle_unreserve(&notify_table, fresh->handle);
    notify_fini(fresh);
    return rc;
}

static void
notify_fini(void *obj)
{
    struct rt_notify *notify = obj;

    if (notify->id != UINT32_MAX)
        give_number(&pools[notify->device], notify->id);
    hc_free(notify->what);
    hc_free(notify->expect);
    hc_free(notify);
}

void
rt_notify_destroy(struct rt_notify *notify)
{
    if (notify != NULL)
        (void)hc_handle_close(&notify_table, notify->handle);
}

uint32_t
rt_notify_id(const struct rt_notify *notify)
{
    return notify->id;
}

int32_t
rt_notify_device(const struct rt_notify *notify)
{
    return notify->device;
}

uint64_t
rt_notify_handle(const struct rt_notify *notify)
{
    return notify->handle;
}

struct rt_notify *
rt_notify_hold_handle(uint64_t handle)
{
    return hc_handle_hold(&notify_table, handle);
}

struct rt_notify *
rt_notify_hold(int32_t device, uint64_t id)
{
    struct pool *pool = &pools[device];
    uint64_t handle = 0;

    (void)pthread_once(&set_up_once, set_up);
    pthread_mutex_lock(&pool->lock);
    if (id < pool->capacity)
        handle = pool->handles[id];
    pthread_mutex_unlock(&pool->lock);
    return hc_handle_hold(&notify_table, handle);
}

void
rt_notify_unhold(struct rt_notify *notify)
{
    hc_handle_release(&notify_table, notify->handle);
}

/* ---- record ---- */

static void
say_twice(struct rt_notify *notify)
{
    if (!atomic_exchange(&notify->twice_said, true))
        LOG_WARN(RT, "%s (id %u of device %d) was recorded again before it was waited for: %s",
                 notify->what, notify->id, notify->device,
                 strict ? "one record is lost (HCOMM_NOTIFY_MODE=strict)"
                        : "counted here, lost on hardware");
}

void
rt_notify_record(struct rt_notify *notify)
{
    uint64_t word = atomic_load_explicit(notify->word, memory_order_relaxed);
    uint32_t count;

    do {
        count = COUNT(word) + 1;
        if (count == 0 || (strict && !notify->queues && COUNT(word) > 0))
            count = COUNT(word);
    } while (!atomic_compare_exchange_weak_explicit(notify->word, &word, WORD(0, count),
                                                    memory_order_seq_cst, memory_order_relaxed));
    if (WAITER(word) != 0)
        rt_stream_wake(WAITER(word) - 1); /* I2 */
    else if (COUNT(word) > 0 && !notify->queues)
        say_twice(notify);
}

bool
rt_notify_take(struct rt_notify *notify)
{
    uint64_t word = atomic_load(notify->word); /* I4 */

    while (COUNT(word) > 0) {
        if (atomic_compare_exchange_weak_explicit(notify->word, &word,
                                                  WORD(WAITER(word), COUNT(word) - 1),
                                                  memory_order_acquire, memory_order_relaxed))
            return true; /* I3 */
    }
    return false;
}

void
rt_notify_reset(struct rt_notify *notify)
{
    uint64_t word = atomic_load(notify->word);

    while (!atomic_compare_exchange_weak(notify->word, &word, WORD(WAITER(word), 0)))
        ;
}

static void
notify_drop(struct rt_task *task, bool ran)
{
    (void)ran;
    rt_notify_unhold(task->u.call.obj);
}

static enum rt_step
record_run(struct rt_stream *stream, struct rt_task *task)
{
    (void)stream;
    rt_notify_record(task->u.call.obj);
    return RT_STEP_DONE;
}

static void
record_describe(const struct rt_task *task, char *text, size_t len)
{
    const struct rt_notify *notify = task->u.call.obj;

    snprintf(text, len, "record %s", notify->what);
}

static const struct rt_task_ops record_ops = {
    .name = "notify record", .run = record_run, .drop = notify_drop, .describe = record_describe};

void
rt_task_notify_record(struct rt_task *task, struct rt_notify *notify)
{
    hc_handle_hold_more(&notify_table, notify->handle);
    task->ops = &record_ops;
    task->u.call.obj = notify;
}

/* ---- wait ---- */

/* Takes the stream off the word, if it is there. */
static void
unregister(struct rt_notify *notify, uint32_t waiter)
{
    uint64_t word = atomic_load(notify->word);

    while (WAITER(word) == waiter) {
        if (atomic_compare_exchange_weak(notify->word, &word, WORD(0, COUNT(word))))
            return;
    }
}

static enum rt_step
wait_expired(struct rt_stream *stream, const struct rt_notify *notify, uint64_t timeout_s)
{
    return rt_stream_fail(stream, ACL_ERROR_RT_TASK_TIMEOUT,
                          "EI0002: waited %llu s for %s (id %u of device %d), which %s should have "
                          "recorded",
                          (unsigned long long)timeout_s, notify->what, notify->id, notify->device,
                          notify->expect == NULL ? "nobody known" : notify->expect);
}

static enum rt_step
wait_run(struct rt_stream *stream, struct rt_task *task)
{
    struct rt_notify *notify = task->u.call.obj;
    uint32_t me = rt_stream_id(stream) + 1;
    uint64_t word = atomic_load_explicit(notify->word, memory_order_relaxed);

    for (;;) {
        uint32_t other = WAITER(word) == me ? 0 : WAITER(word);

        if (other != 0)
            return rt_stream_fail(stream, ACL_ERROR_RT_PARAM_INVALID,
                                  "%s already has a waiter, stream %u: one notify, one waiter",
                                  notify->what, other - 1);
        if (COUNT(word) > 0) {
            if (atomic_compare_exchange_weak_explicit(notify->word, &word, WORD(0, COUNT(word) - 1),
                                                      memory_order_acquire, memory_order_relaxed))
                return RT_STEP_DONE; /* I3 */
            continue;
        }
        rt_stream_deadline(stream, task->u.call.arg[0] * 1000u);
        if (rt_stream_expired(stream))
            return wait_expired(stream, notify, task->u.call.arg[0]);
        task->u.call.arg[1] = me;
        if (WAITER(word) == me ||
            atomic_compare_exchange_weak_explicit(notify->word, &word, WORD(me, 0),
                                                  memory_order_acq_rel, memory_order_relaxed))
            return RT_STEP_PARKED;
    }
}

static void
wait_drop(struct rt_task *task, bool ran)
{
    if (task->u.call.arg[1] != 0)
        unregister(task->u.call.obj, (uint32_t)task->u.call.arg[1]); /* I1 */
    notify_drop(task, ran);
}

static void
wait_describe(const struct rt_task *task, char *text, size_t len)
{
    const struct rt_notify *notify = task->u.call.obj;

    snprintf(text, len, "wait for %s (id %u of device %d), to be recorded by %s", notify->what,
             notify->id, notify->device, notify->expect == NULL ? "nobody known" : notify->expect);
}

static const struct rt_task_ops wait_ops = {
    .name = "notify wait", .run = wait_run, .drop = wait_drop, .describe = wait_describe};

void
rt_task_notify_wait(struct rt_task *task, struct rt_notify *notify, uint32_t timeout_s)
{
    hc_handle_hold_more(&notify_table, notify->handle);
    task->ops = &wait_ops;
    task->u.call.obj = notify;
    task->u.call.arg[0] = timeout_s;
    task->u.call.arg[1] = 0; /* not registered */
}
