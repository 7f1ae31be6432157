/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits for notifies, by streams and by threads, and their end in vain. The invariants are in
 * notify.h. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "runtime/fate.h"
#include "runtime/graph.h"
#include "runtime/notify.h"
#include "runtime/spin.h"

static const char no_text[] = "its peer is gone (no memory was left to keep the reason)";

/* ---- breaking ---- */

void
rt_notify_break(struct rt_notify *notify, const char *why)
{
    const char *whole = NULL, *text;
    uint32_t waiter;

    if (atomic_load(&notify->broken) != NULL)
        return;
    text = hc_strdup(why);
    if (text == NULL)
        text = no_text;
    if (!atomic_compare_exchange_strong(&notify->broken, &whole, text)) { /* I5 */
        if (text != no_text)
            hc_free((void *)(uintptr_t)text);
        return;
    }
    waiter = rt_notify_pull_waiter(notify);
    if (waiter != 0)
        rt_shared_wake(waiter);
}

void
rt_notify_mend(struct rt_notify *notify)
{
    const char *text = atomic_load(&notify->broken);

    if (text != no_text)
        hc_free((void *)(uintptr_t)text);
}

/* The word's waiter, if it is `waiter`, is nobody from now on. */
static void
unregister(struct rt_notify *notify, uint32_t waiter)
{
    uint64_t word = atomic_load(notify->word);

    while (hc_word_waiter(word) == waiter) {
        if (atomic_compare_exchange_weak(notify->word, &word, word & ~0xFFFFFFFFull))
            return;
    }
}

uint32_t
rt_notify_pull_waiter(struct rt_notify *notify)
{
    uint32_t waiter = hc_word_waiter(atomic_load(notify->word)); /* I5 */

    if (waiter != 0)
        unregister(notify, waiter); /* if a record does it first, a wake too many does no harm */
    return waiter;
}

static bool
is_broken(struct rt_notify *notify)
{
    return atomic_load(&notify->broken) != NULL || rt_fate_is_broken(notify->fate);
}

/* Why the wait is in vain. A broken notify breaks its fate. */
static void
give_up(struct rt_notify *notify, char *why, size_t len)
{
    const char *own = atomic_load(&notify->broken);

    if (own == NULL) {
        (void)rt_fate_broken(notify->fate, why, len);
        return;
    }
    snprintf(why, len, "%s", own);
    rt_fate_break(notify->fate, own);
}

/* ---- registering ---- */

/* A record has come, or was found by looking a little longer, and is the caller's. */
static bool
take_soon(struct rt_notify *notify)
{
    if (rt_notify_take(notify))
        return true; /* I3 */
    return notify->remote && !is_broken(notify) &&
           rt_spin_on(notify->word, atomic_load(&notify->taken)) && rt_notify_take(notify);
}

enum look {
    LOOK_TAKEN,      /* a record is the caller's */
    LOOK_REGISTERED, /* `me` is woken by the next record, and when something breaks */
    LOOK_IN_VAIN,    /* there is nothing to take, and something is broken */
    LOOK_OTHER,      /* *other waits for it */
};

/* Takes a record, or makes `me` the waiter. */
static enum look
take_or_register(struct rt_notify *notify, uint32_t me, uint32_t *other)
{
    for (;;) {
        bool broken = is_broken(notify); /* I6: before the look at the word */
        uint64_t word;
        uint32_t waiter;

        if (rt_notify_take(notify))
            return LOOK_TAKEN;
        if (broken)
            return LOOK_IN_VAIN;
        word = atomic_load(notify->word);
        waiter = hc_word_waiter(word);
        if (hc_word_posted(word) != atomic_load(&notify->taken))
            continue; /* W1 */
        if (waiter != 0 && waiter != me) {
            *other = waiter;
            return LOOK_OTHER;
        }
        if (waiter != me && !atomic_compare_exchange_strong(notify->word, &word, word | me))
            continue;
        if (!is_broken(notify)) /* I5 */
            return LOOK_REGISTERED;
    }
}

/* ---- the wait of a stream ---- */

static enum rt_step
wait_expired(struct rt_stream *stream, const struct rt_notify *notify, uint64_t timeout_s)
{
    char doing[RT_DOING_LEN];

    rt_fate_doing(notify->fate, doing, sizeof doing);
    return rt_stream_fail(stream, ACL_ERROR_RT_TASK_TIMEOUT,
                          "EI0002: waited %llu s for %s (id %u of device %d), which %s should have "
                          "recorded%s",
                          (unsigned long long)timeout_s, notify->what, notify->id, notify->device,
                          notify->expect == NULL ? "nobody known" : notify->expect, doing);
}

static enum rt_step
wait_in_vain(struct rt_stream *stream, struct rt_notify *notify)
{
    char why[RT_FATE_WHY];

    give_up(notify, why, sizeof why);
    return rt_stream_fail(stream, ACL_ERROR_RT_SUSPECT_REMOTE_ERROR,
                          "waited in vain for %s (id %u of device %d): %s", notify->what,
                          notify->id, notify->device, why);
}

static enum rt_step
wait_refused(struct rt_stream *stream, const struct rt_notify *notify, uint32_t other)
{
    if (other == HC_WORD_HOST)
        return rt_stream_fail(stream, ACL_ERROR_RT_PARAM_INVALID,
                              "%s already has a waiter, a thread: one notify, one waiter",
                              notify->what);
    return rt_stream_fail(stream, ACL_ERROR_RT_PARAM_INVALID,
                          "%s already has a waiter, stream %u: one notify, one waiter",
                          notify->what, other - 1);
}

static enum rt_step
wait_run(struct rt_stream *stream, struct rt_task *task)
{
    struct rt_notify *notify = task->u.call.obj;
    uint32_t me = rt_stream_id(stream) + 1, other;

    if (take_soon(notify))
        return RT_STEP_DONE;
    rt_stream_deadline(stream, task->u.call.arg[0] * 1000u);
    if (rt_stream_expired(stream))
        return wait_expired(stream, notify, task->u.call.arg[0]);
    task->u.call.arg[1] = me;
    switch (take_or_register(notify, me, &other)) {
    case LOOK_TAKEN:
        return RT_STEP_DONE;
    case LOOK_IN_VAIN:
        return wait_in_vain(stream, notify);
    case LOOK_OTHER:
        return wait_refused(stream, notify, other);
    default:
        return RT_STEP_PARKED;
    }
}

static void
wait_drop(struct rt_task *task, bool ran)
{
    if (task->u.call.arg[1] != 0)
        unregister(task->u.call.obj, (uint32_t)task->u.call.arg[1]); /* I1 */
    rt_notify_task_drop(task, ran);
}

static void
wait_describe(const struct rt_task *task, char *text, size_t len)
{
    const struct rt_notify *notify = task->u.call.obj;
    char doing[RT_DOING_LEN];

    rt_fate_doing(notify->fate, doing, sizeof doing);
    snprintf(text, len, "wait for %s (id %u of device %d), to be recorded by %s%s", notify->what,
             notify->id, notify->device, notify->expect == NULL ? "nobody known" : notify->expect,
             doing);
}

static aclError
wait_keep(struct rt_task *task, struct rt_graph *graph)
{
    return rt_graph_follow(graph, task->u.call.obj, true);
}

static const struct rt_task_ops wait_ops = {.name = "notify wait",
                                            .run = wait_run,
                                            .drop = wait_drop,
                                            .describe = wait_describe,
                                            .keep = wait_keep,
                                            .clone = rt_notify_task_clone};

void
rt_task_notify_wait(struct rt_task *task, struct rt_notify *notify, uint32_t timeout_s)
{
    rt_notify_hold_more(notify);
    task->ops = &wait_ops;
    task->u.call.obj = notify;
    task->u.call.arg[0] = timeout_s;
    task->u.call.arg[1] = 0; /* not registered */
}

/* ---- the wait of a thread ---- */

struct await {
    struct rt_notify *notify;
    enum look look;
    uint32_t other;
};

static bool
look_again(void *arg)
{
    struct await *await = arg;

    await->look = take_or_register(await->notify, HC_WORD_HOST, &await->other);
    return await->look != LOOK_REGISTERED;
}

aclError
rt_notify_await(struct rt_notify *notify, uint64_t deadline_ns, char *why, size_t len)
{
    struct await await = {.notify = notify, .look = LOOK_REGISTERED};

    if (take_soon(notify))
        return ACL_SUCCESS;
    atomic_fetch_add(&notify->hosts, 1);
    (void)rt_wait_until(look_again, &await, deadline_ns);
    if (atomic_fetch_sub(&notify->hosts, 1) == 1) { /* I1 */
        unregister(notify, HC_WORD_HOST);
        if (atomic_load(&notify->hosts) > 0)
            rt_waiters_poke();
    }
    switch (await.look) {
    case LOOK_TAKEN:
        return ACL_SUCCESS;
    case LOOK_IN_VAIN:
        give_up(notify, why, len);
        return ACL_ERROR_RT_SUSPECT_REMOTE_ERROR;
    case LOOK_OTHER:
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "a thread cannot wait for %s: stream %u does; one notify, one waiter",
                       notify->what, await.other - 1);
    default:
        return ACL_ERROR_RT_TASK_TIMEOUT;
    }
}
