/* SPDX-License-Identifier: BSD-3-Clause */
/* The notify itself: numbers, records, takes. The invariants are in notify.h. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/handle.h"
#include "base/knobs.h"
#include "base/log.h"
#include "runtime/arena.h"
#include "runtime/fate.h"
#include "runtime/graph.h"
#include "runtime/notify.h"
#include "runtime/spin.h"
#include "runtime/stream.h"

/* Where the notifies of one device are. */
struct pool {
    pthread_mutex_t lock;
    uint64_t *handles; /* [capacity], 0: the number is free; under `lock` */
    uint32_t capacity; /* under `lock` */
    uint32_t hint;     /* numbers below are taken; under `lock` */
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
    fresh->strict = strict && !origin->queues;
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
    fresh->fate = origin->fate;
    rt_fate_join(fresh);
    fresh->remote = origin->remote;
    rt_spin_remote_add(fresh->remote);
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

    rt_fate_part(notify); /* before the word is another's */
    rt_spin_remote_add(-(int)notify->remote);
    if (notify->id != UINT32_MAX)
        give_number(&pools[notify->device], notify->id);
    rt_notify_mend(notify);
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

_Atomic uint64_t *
rt_notify_word(const struct rt_notify *notify)
{
    return notify->word;
}

/* ---- record ---- */

static void
say_twice(struct rt_notify *notify)
{
    if (!notify->queues && !atomic_load_explicit(&notify->twice_said, memory_order_relaxed) &&
        !atomic_exchange(&notify->twice_said, true))
        LOG_WARN(RT, "%s (id %u of device %d) was recorded again before it was waited for: %s",
                 notify->what, notify->id, notify->device,
                 strict ? "one record is lost (HCOMM_NOTIFY_MODE=strict)"
                        : "counted here, lost on hardware");
}

void
rt_notify_record(struct rt_notify *notify)
{
    uint64_t before;
    uint32_t waiter = hc_word_post(notify->word, &before); /* I4 */

    if (waiter != 0)
        rt_shared_wake(waiter); /* I2 */
    else if (hc_word_waiter(before) == 0 &&
             (int32_t)(hc_word_posted(before) - atomic_load(&notify->taken)) > 0)
        say_twice(notify); /* less than 0: our record has been taken already */
}

bool
rt_notify_take(struct rt_notify *notify)
{
    uint32_t taken = atomic_load_explicit(&notify->taken, memory_order_relaxed);
    uint32_t posted;

    do {
        posted = hc_word_posted(atomic_load(notify->word)); /* I3, I4 */
        if (posted == taken)
            return false;
    } while (
        !atomic_compare_exchange_weak(&notify->taken, &taken, notify->strict ? posted : taken + 1));
    if (posted - taken > 1)
        say_twice(notify); /* by a peer, who does not say so */
    return true;
}

void
rt_notify_reset(struct rt_notify *notify)
{
    uint32_t taken = atomic_load(&notify->taken);

    while (!atomic_compare_exchange_weak(&notify->taken, &taken,
                                         hc_word_posted(atomic_load(notify->word))))
        ;
}

void
rt_notify_hold_more(struct rt_notify *notify)
{
    hc_handle_hold_more(&notify_table, notify->handle);
}

void
rt_notify_task_drop(struct rt_task *task, bool ran)
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

static aclError
record_keep(struct rt_task *task, struct rt_graph *graph)
{
    return rt_graph_post(graph, task->u.call.obj, false);
}

aclError
rt_notify_task_clone(const struct rt_task *task, struct rt_task *copy)
{
    const struct rt_notify *notify = task->u.call.obj;

    if (rt_notify_hold_handle(notify->handle) == NULL)
        return rt_fail(ACL_ERROR_RT_INVALID_HANDLE,
                       "%s (id %u of device %d) was destroyed after it had been captured",
                       notify->what, notify->id, notify->device);
    *copy = *task;
    return ACL_SUCCESS;
}

static const struct rt_task_ops record_ops = {.name = "notify record",
                                              .run = record_run,
                                              .drop = rt_notify_task_drop,
                                              .describe = record_describe,
                                              .keep = record_keep,
                                              .clone = rt_notify_task_clone};

void
rt_task_notify_record(struct rt_task *task, struct rt_notify *notify)
{
    rt_notify_hold_more(notify);
    task->ops = &record_ops;
    task->u.call.obj = notify;
}
