/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fate: what fails together.
 *
 * F1  `broken` is published (seq_cst) before the waiters are looked for, and a waiter registers
 *     before it looks at `broken` (notify.h I5). A notify that joins later finds it broken.
 * F2  The reason is written before `broken` is, once, and never again.
 * F3  Nobody is woken under the lock: a wake may let go of the last hold of a stream, whose tasks
 *     then let go of notifies, which part from their fate under the lock.
 * F4  `runs` says that on_break runs; it begins and ends under the lock, where disown() takes the
 *     callback away. So after disown() it neither runs nor will.
 */
#include "runtime/fate.h"

#include <pthread.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/thread.h"

#define WAKE_BATCH 64u

struct rt_fate {
    _Atomic uint32_t refs;
    atomic_bool broken;                           /* F1 */
    char why[RT_FATE_WHY];                        /* F2 */
    pthread_mutex_t lock;                         /* protects what follows; a leaf */
    pthread_cond_t over;                          /* on_break has returned */
    struct hc_list notifies;                      /* of rt_notify.in_fate */
    struct hc_list told;                          /* likewise: their waiters have been woken */
    void (*on_break)(void *arg, const char *why); /* NULL: nobody wants to know (any more) */
    void *arg;
    void (*doing)(void *arg, char *text, size_t len); /* NULL: nobody says what is done */
    void *doing_arg;
    bool runs;        /* F4 */
    pthread_t runner; /* while it runs */
};

struct rt_fate *
rt_fate_create(void (*on_break)(void *arg, const char *why), void *arg)
{
    struct rt_fate *fate = hc_zalloc(sizeof *fate);

    if (fate == NULL)
        return NULL;
    atomic_init(&fate->refs, 1);
    pthread_mutex_init(&fate->lock, NULL);
    pthread_cond_init(&fate->over, NULL);
    hc_list_init(&fate->notifies);
    hc_list_init(&fate->told);
    fate->on_break = on_break;
    fate->arg = arg;
    return fate;
}

void
rt_fate_hold(struct rt_fate *fate)
{
    atomic_fetch_add_explicit(&fate->refs, 1, memory_order_relaxed);
}

void
rt_fate_release(struct rt_fate *fate)
{
    if (fate == NULL || atomic_fetch_sub_explicit(&fate->refs, 1, memory_order_acq_rel) > 1)
        return;
    pthread_cond_destroy(&fate->over);
    pthread_mutex_destroy(&fate->lock);
    hc_free(fate);
}

void
rt_fate_join(struct rt_notify *notify)
{
    struct rt_fate *fate = notify->fate;

    if (fate == NULL)
        return;
    rt_fate_hold(fate);
    pthread_mutex_lock(&fate->lock);
    hc_list_push_back(&fate->notifies, &notify->in_fate);
    pthread_mutex_unlock(&fate->lock);
}

void
rt_fate_part(struct rt_notify *notify)
{
    struct rt_fate *fate = notify->fate;

    if (fate == NULL)
        return;
    pthread_mutex_lock(&fate->lock);
    hc_list_remove(&notify->in_fate);
    pthread_mutex_unlock(&fate->lock);
    rt_fate_release(fate);
}

void
rt_fate_disown(struct rt_fate *fate)
{
    int cancel = hc_cancel_off();

    rt_block_begin();
    pthread_mutex_lock(&fate->lock);
    fate->on_break = NULL;
    fate->doing = NULL;
    while (fate->runs && !pthread_equal(fate->runner, pthread_self())) /* F4 */
        pthread_cond_wait(&fate->over, &fate->lock);
    pthread_mutex_unlock(&fate->lock);
    rt_block_end();
    hc_cancel_restore(cancel);
}

/* ---- what is being done ---- */

void
rt_fate_set_doing(struct rt_fate *fate, void (*doing)(void *arg, char *text, size_t len), void *arg)
{
    pthread_mutex_lock(&fate->lock);
    fate->doing = doing;
    fate->doing_arg = arg;
    pthread_mutex_unlock(&fate->lock);
}

void
rt_fate_doing(struct rt_fate *fate, char *text, size_t len)
{
    text[0] = '\0';
    if (fate == NULL)
        return;
    pthread_mutex_lock(&fate->lock);
    if (fate->doing != NULL)
        fate->doing(fate->doing_arg, text, len);
    pthread_mutex_unlock(&fate->lock);
}

/* ---- breaking ---- */

bool
rt_fate_is_broken(struct rt_fate *fate)
{
    return fate != NULL && atomic_load(&fate->broken);
}

bool
rt_fate_broken(struct rt_fate *fate, char *why, size_t len)
{
    if (!rt_fate_is_broken(fate))
        return false;
    snprintf(why, len, "%s", fate->why); /* F2 */
    return true;
}

/* Takes waiters off the words of notifies that have not been told; how many. Under the lock. */
static uint32_t
pull_waiters(struct rt_fate *fate, uint32_t waiters[WAKE_BATCH])
{
    struct hc_list *node;
    uint32_t num = 0;

    while (num < WAKE_BATCH && (node = hc_list_pop_front(&fate->notifies)) != NULL) {
        uint32_t waiter = rt_notify_pull_waiter(HC_CONTAINER(node, struct rt_notify, in_fate));

        hc_list_push_back(&fate->told, node);
        if (waiter != 0)
            waiters[num++] = waiter;
    }
    return num;
}

/* Wakes all that wait. The lock is held, but not while it wakes (F3). */
static void
tell_waiters(struct rt_fate *fate)
{
    uint32_t waiters[WAKE_BATCH], num;

    while ((num = pull_waiters(fate, waiters)) > 0) {
        pthread_mutex_unlock(&fate->lock);
        for (uint32_t i = 0; i < num; i++)
            rt_shared_wake(waiters[i]);
        pthread_mutex_lock(&fate->lock);
    }
}

/* The lock is held, but not while on_break runs. */
static void
tell_owner(struct rt_fate *fate)
{
    void (*on_break)(void *arg, const char *why) = fate->on_break;
    void *arg = fate->arg;

    if (on_break == NULL)
        return;
    fate->on_break = NULL;
    fate->runs = true;
    fate->runner = pthread_self();
    pthread_mutex_unlock(&fate->lock);
    on_break(arg, fate->why);
    pthread_mutex_lock(&fate->lock);
    fate->runs = false;
    pthread_cond_broadcast(&fate->over);
}

void
rt_fate_break(struct rt_fate *fate, const char *why)
{
    if (fate == NULL || atomic_load(&fate->broken))
        return;
    rt_fate_hold(fate); /* on_break may let go of the last hold */
    pthread_mutex_lock(&fate->lock);
    if (!atomic_load(&fate->broken)) {
        snprintf(fate->why, sizeof fate->why, "%s", why); /* F2 */
        atomic_store(&fate->broken, true);                /* F1 */
        tell_waiters(fate);
        tell_owner(fate);
    }
    pthread_mutex_unlock(&fate->lock);
    rt_fate_release(fate);
}
