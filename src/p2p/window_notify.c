/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notifies of windows: words in the control block, as base/word.h has them. Peers post there; this
 * rank takes and waits. One waiter at a time: who waits has `waited`, and alone writes `taken`.
 *
 * A wait ends in vain when there is nothing to take and some rank is gone (W5): it may be the one
 * that was to record. What it recorded before is delivered: a waiter looks whether somebody is gone
 * before it looks for records.
 */
#include <stdio.h>

#include "base/clock.h"
#include "base/knobs.h"
#include "base/log.h"
#include "base/word.h"
#include "p2p/window.h"

#define WAKES 64u /* at a time */

/* All windows of the process. */
static struct {
    struct hc_spinlock lock; /* a leaf */
    struct hc_list list;     /* of window.in_all */
} all = {.list = {&all.list, &all.list}};

void
windows_add(struct window *window)
{
    hc_spin_lock(&all.lock);
    hc_list_push_back(&all.list, &window->in_all);
    hc_spin_unlock(&all.lock);
}

void
windows_remove(struct window *window)
{
    hc_spin_lock(&all.lock);
    hc_list_remove(&window->in_all);
    hc_spin_unlock(&all.lock);
}

static _Atomic uint64_t *
word_of(const struct window *window, uint32_t notify)
{
    return &window->control->notifies[notify].word;
}

/* ---- waking ---- */

/* Who is to be woken; they are not woken under `all.lock`, because that may end a stream. */
struct wakes {
    uint32_t waiters[WAKES], num;
    uint32_t skip; /* waiters that have been woken already */
};

static void
collect(struct window *window, struct wakes *wakes, uint32_t *seen)
{
    for (uint32_t i = 0; i < HCOMM_WINDOW_NOTIFIES; i++) {
        uint32_t waiter;

        if (!atomic_load(&window->notifies[i].waited))
            continue;
        waiter = hc_word_waiter(atomic_load(word_of(window, i))); /* stays: it is no record */
        if (waiter != 0 && (*seen)++ >= wakes->skip && wakes->num < WAKES)
            wakes->waiters[wakes->num++] = waiter;
    }
}

/* Of a rank, or NULL: of `only`. */
static void
wake(const struct p2p *p2p, struct window *only)
{
    struct wakes wakes = {.num = WAKES};

    while (wakes.num == WAKES) {
        uint32_t seen = 0;

        wakes.num = 0;
        hc_spin_lock(&all.lock);
        HC_LIST_EACH (node, &all.list) {
            struct window *window = HC_CONTAINER(node, struct window, in_all);

            if (window->p2p != p2p && window != only)
                continue;
            if (only == NULL)
                atomic_store(&window->look, true);
            collect(window, &wakes, &seen);
        }
        hc_spin_unlock(&all.lock);
        wakes.skip += wakes.num;
        for (uint32_t i = 0; i < wakes.num; i++) {
            if (wakes.waiters[i] == HC_WORD_HOST)
                rt_waiters_poke();
            else
                rt_stream_wake(wakes.waiters[i] - 1);
        }
    }
}

void
windows_wake(struct p2p *p2p)
{
    wake(p2p, NULL);
}

void
window_wake(struct window *window)
{
    wake(NULL, window);
}

/* ---- who is gone ---- */

void
window_look(struct window *window)
{
    char why[P2P_WHY_LEN];
    bool fresh = false;

    if (!atomic_load(&window->look) || !atomic_exchange(&window->look, false))
        return;
    for (uint32_t i = 0; i < window->rank_num; i++) {
        struct window_peer *peer = &window->peers[i];

        if (peer->channel != NULL && !atomic_load(&peer->gone) &&
            res_channel_ended(peer->channel, why, sizeof why)) {
            atomic_store(&peer->gone, true);
            fresh = true;
        }
    }
    hc_spin_lock(&window->p2p->lock);
    fresh |= window->p2p->broken;
    p2p_unlock(window->p2p);
    if (fresh && !atomic_exchange(&window->vain, true))
        window_wake(window); /* who has looked meanwhile, and saw nothing */
}

void
window_lost(struct window *window, uint32_t rank, char *why, size_t len)
{
    struct window_peer *peer = &window->peers[rank];

    if (peer->channel != NULL)
        res_channel_lost(peer->channel, why, len);
}

/* Why a wait for anybody is in vain. */
static void
why_in_vain(struct window *window, char *why, size_t len)
{
    hc_spin_lock(&window->p2p->lock);
    snprintf(why, len, "%s", window->p2p->broken ? window->p2p->why : "");
    p2p_unlock(window->p2p);
    for (uint32_t i = 0; i < window->rank_num && why[0] == '\0'; i++) {
        if (atomic_load(&window->peers[i].gone))
            window_lost(window, i, why, len);
    }
}

/* ---- records ---- */

void
window_wake_waiter(struct window *window, uint32_t rank, uint32_t waiter)
{
    struct window_peer *peer = &window->peers[rank];

    if (peer->channel == NULL)
        rt_shared_wake(waiter);
    else
        peer->conn->ops->wake(peer->conn, waiter);
}

void
window_post(struct window *window, uint32_t rank, uint32_t notify)
{
    uint64_t before;

    window_wake_waiter(window, rank,
                       hc_word_post(&window->peers[rank].control->notifies[notify].word, &before));
}

/* Takes what there is, as far as it is wanted. */
static void
take(struct window_wait *wait)
{
    _Atomic uint32_t *taken = &wait->window->notifies[wait->notify].taken;
    uint32_t before = atomic_load_explicit(taken, memory_order_relaxed);
    uint32_t there = hc_word_posted(atomic_load(word_of(wait->window, wait->notify))) - before;
    uint32_t num = there < wait->left ? there : wait->left;

    if (num == 0)
        return;
    atomic_store_explicit(taken, before + num, memory_order_relaxed);
    wait->left -= num;
}

enum look {
    LOOK_TAKEN,      /* all that was wanted */
    LOOK_REGISTERED, /* `me` is woken by the next record */
    LOOK_IN_VAIN,
    LOOK_CLOSED, /* the window is being destroyed */
};

static bool
is_vain(struct window *window)
{
    window_look(window);
    return atomic_load(&window->vain) || atomic_load(&window->closed);
}

/* Takes, or makes `me` the waiter. */
static enum look
take_or_register(struct window_wait *wait, uint32_t me)
{
    struct window *window = wait->window;
    _Atomic uint64_t *at = word_of(window, wait->notify);

    for (;;) {
        bool vain = is_vain(window);
        uint64_t word;

        take(wait);
        if (wait->left == 0)
            return LOOK_TAKEN;
        if (vain)
            return atomic_load(&window->closed) ? LOOK_CLOSED : LOOK_IN_VAIN;
        word = atomic_load(at);
        if (hc_word_posted(word) != atomic_load(&window->notifies[wait->notify].taken))
            continue; /* base/word.h W1 */
        if (hc_word_waiter(word) != me &&
            !atomic_compare_exchange_strong(at, &word, (word & ~0xFFFFFFFFull) | me))
            continue;
        if (!is_vain(window)) /* W5 */
            return LOOK_REGISTERED;
    }
}

static void
unregister(struct window_wait *wait, uint32_t me)
{
    _Atomic uint64_t *at = word_of(wait->window, wait->notify);
    uint64_t word = atomic_load(at);

    while (hc_word_waiter(word) == me &&
           !atomic_compare_exchange_weak(at, &word, word & ~0xFFFFFFFFull))
        ;
}

/* ---- what failed ---- */

static void
describe(const struct window_wait *wait, char *text, size_t len)
{
    snprintf(text, len, "wait for %u records of notify %u of window %u of rank %u, by any rank",
             wait->count, wait->notify, wait->window->number, wait->window->rank);
}

static aclError
explain(const struct window_wait *wait, enum look look, char *text, size_t len)
{
    struct window *window = wait->window;
    char why[P2P_WHY_LEN] = "";

    switch (look) {
    case LOOK_CLOSED:
        snprintf(text, len, "the window was destroyed while notify %u of it was waited for",
                 wait->notify);
        return ACL_ERROR_RT_PARAM_INVALID;
    case LOOK_IN_VAIN:
        why_in_vain(window, why, sizeof why);
        snprintf(text, len,
                 "rank %u waited in vain for notify %u of window %u (%u of %u records came): %s",
                 window->rank, wait->notify, window->number, wait->count - wait->left, wait->count,
                 why);
        return ACL_ERROR_RT_SUSPECT_REMOTE_ERROR;
    default:
        snprintf(text, len,
                 "EI0002: rank %u waited %lld ms for notify %u of window %u, which other ranks "
                 "should have recorded: %u of %u records came",
                 window->rank,
                 wait->timeout_ms == 0 ? (long long)window->patience_ms
                                       : (long long)wait->timeout_ms,
                 wait->notify, window->number, wait->count - wait->left, wait->count);
        return ACL_ERROR_RT_TASK_TIMEOUT;
    }
}

static bool
claim(const struct window_wait *wait)
{
    return !atomic_exchange_explicit(&wait->window->notifies[wait->notify].waited, true,
                                     memory_order_acquire);
}

static void
disclaim(const struct window_wait *wait)
{
    atomic_store_explicit(&wait->window->notifies[wait->notify].waited, false,
                          memory_order_release);
}

/* ---- the wait of a thread ---- */

struct here {
    struct window_wait wait;
    enum look look;
};

static bool
look_again(void *arg)
{
    struct here *here = arg;

    here->look = take_or_register(&here->wait, HC_WORD_HOST);
    return here->look != LOOK_REGISTERED;
}

static void
take_soon(struct window_wait *wait)
{
    _Atomic uint32_t *taken = &wait->window->notifies[wait->notify].taken;
    uint32_t before;

    take(wait);
    while (wait->left > 0 && wait->window->spins && !is_vain(wait->window) &&
           rt_spin_on(word_of(wait->window, wait->notify), atomic_load(taken))) {
        before = wait->left;
        take(wait);
        if (wait->left == before)
            return; /* something else is to be done first */
    }
}

/* One line when it is long. */
static void
wait_and_warn(struct here *here, uint64_t deadline)
{
    const struct window *window = here->wait.window;
    int64_t warn_s = 0;
    uint64_t until;

    (void)hc_knob_int(KNOB_STALL_WARN_S, &warn_s);
    until = hc_deadline_ms(warn_s <= 0 ? -1 : warn_s * 1000);
    if (rt_wait_until(look_again, here, until < deadline ? until : deadline) || deadline <= until)
        return;
    LOG_WARN(P2P,
             "HcommWindowNotifyWait: rank %u of %s has waited %d s for notify %u of window %u, "
             "which other ranks should record: %u of %u records came",
             window->rank, comm_name(window->p2p->comm), (int)warn_s, here->wait.notify,
             window->number, here->wait.count - here->wait.left, here->wait.count);
    (void)rt_wait_until(look_again, here, deadline);
}

static HcclResult
wait_here(const struct window_wait *wait)
{
    struct here here = {.wait = *wait, .look = LOOK_REGISTERED};
    int64_t ms = wait->timeout_ms == 0 ? wait->window->patience_ms : (int64_t)wait->timeout_ms;
    uint64_t deadline;
    char text[P2P_WHY_LEN + 160];
    aclError code;

    if (!claim(wait)) {
        LOG_ERROR(
            P2P,
            "HcommWindowNotifyWait: another thread or stream waits for notify %u already: one "
            "notify, one waiter",
            wait->notify);
        return HCCL_E_PARA;
    }
    deadline = hc_deadline_ms(ms);
    take_soon(&here.wait);
    if (here.wait.left > 0) {
        wait_and_warn(&here, deadline);
        unregister(&here.wait, HC_WORD_HOST);
    }
    disclaim(wait);
    if (here.wait.left == 0)
        return HCCL_SUCCESS;
    code = explain(&here.wait, here.look, text, sizeof text);
    LOG_ERROR(P2P, "HcommWindowNotifyWait: %s", text);
    return rt_result(code);
}

/* ---- the wait of a stream ---- */

/* In rt_task.u. */
struct packed {
    struct window_wait wait; /* the window is held */
    uint32_t me;             /* registered as; 0: has not begun */
};

_Static_assert(sizeof(struct packed) <= sizeof(((struct rt_task *)0)->u), "fits a task");

static struct packed *
packed_in(struct rt_task *task)
{
    return (struct packed *)(void *)&task->u;
}

static enum rt_step
wait_fail(struct rt_stream *stream, const struct window_wait *wait, enum look look)
{
    char text[P2P_WHY_LEN + 160];
    aclError code = explain(wait, look, text, sizeof text);

    return rt_stream_fail(stream, code, "%s", text);
}

static enum rt_step
wait_step(struct rt_stream *stream, struct packed *packed)
{
    struct window_wait *wait = &packed->wait;
    int64_t ms = wait->timeout_ms == 0 ? wait->window->patience_ms : (int64_t)wait->timeout_ms;
    enum look look;

    if (packed->me == 0) {
        if (!claim(wait))
            return rt_stream_fail(stream, ACL_ERROR_RT_PARAM_INVALID,
                                  "another thread or stream waits for notify %u of window %u "
                                  "already: one notify, one waiter",
                                  wait->notify, wait->window->number);
        packed->me = rt_stream_id(stream) + 1;
        (void)rt_stream_deadline(stream, ms < 0 ? 0 : (uint64_t)ms);
        take_soon(wait);
    }
    look = take_or_register(wait, packed->me);
    if (look == LOOK_TAKEN)
        return RT_STEP_DONE;
    if (look == LOOK_REGISTERED && !rt_stream_expired(stream))
        return RT_STEP_PARKED;
    return wait_fail(stream, wait, look);
}

static enum rt_step
wait_run(struct rt_stream *stream, struct rt_task *task)
{
    struct packed *packed = packed_in(task);
    enum rt_step step;

    if (!window_enter(packed->wait.window)) /* W4 */
        return wait_fail(stream, &packed->wait, LOOK_CLOSED);
    step = wait_step(stream, packed);
    window_leave(packed->wait.window);
    return step;
}

static void
wait_drop(struct rt_task *task, bool ran)
{
    struct packed *packed = packed_in(task);
    struct window *window = packed->wait.window;

    (void)ran;
    if (packed->me != 0) {
        if (window_enter(window)) {
            unregister(&packed->wait, packed->me);
            window_leave(window);
        }
        disclaim(&packed->wait);
    }
    window_release(window);
}

static void
wait_describe(const struct rt_task *task, char *text, size_t len)
{
    describe(&((const struct packed *)(const void *)&task->u)->wait, text, len);
}

static aclError
wait_clone(const struct rt_task *task, struct rt_task *copy)
{
    *copy = *task;
    window_hold_more(packed_in(copy)->wait.window);
    return ACL_SUCCESS;
}

static const struct rt_task_ops wait_ops = {.name = "window notify wait",
                                            .run = wait_run,
                                            .drop = wait_drop,
                                            .describe = wait_describe,
                                            .clone = wait_clone};

HcclResult
window_wait(const struct window_wait *wait, struct rt_stream *stream)
{
    struct rt_task task = {.ops = &wait_ops};

    if (stream == NULL)
        return wait_here(wait);
    *packed_in(&task) = (struct packed){.wait = *wait};
    window_hold_more(wait->window);
    return rt_result(rt_stream_push(stream, &task));
}
