/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank's side of a communicator's messages. It is the communicator's guest: made with the first
 * call, ended with it.
 *
 * Peers that find this rank asleep ring for the threads of its process that wait (HC_WORD_HOST).
 * Threads then look by themselves; for tasks that sleep wake_hook() looks.
 *
 * X1  wake_hook() may run with locks of the transport, or of the communicator, held; p2p_failed()
 *     and p2p_cut() too. So none of them calls the transport: what is to be rung is left to a job.
 *     Only p2p_failed() does, which is called with no lock that aborting a channel takes.
 * X2  Who looks at one without a hold of its communicator counts in `users` meanwhile, and the end
 *     waits for that.
 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/knobs.h"
#include "base/log.h"
#include "base/thread.h"
#include "base/word.h"
#include "p2p/engine.h"
#include "p2p/one_sided.h"
#include "p2p/sym_win.h"
#include "p2p/window.h"

#define OPEN_ALL_MOST 64u /* ranks of a communicator whose pairs are all opened at once */

/* All there are. */
static struct {
    pthread_mutex_t lock; /* over p2p.lock; never held while the transport is called */
    pthread_cond_t left;  /* somebody has stopped looking at one */
    struct hc_list list;
    bool hooked;
    bool wanted;  /* somebody is to look at pairs: `job` is submitted, or `running` */
    bool running; /* one at a time: two could wait for each other's communicator to end */
    struct rt_job job;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER,
         .left = PTHREAD_COND_INITIALIZER,
         .list = {&all.list, &all.list}};

/* ---- waking (E4) ---- */

void
p2p_wake(struct p2p_call *call)
{
    struct p2p *p2p = call->p2p;

    if (!call->is_task)
        p2p->poke = true;
    else if (!hc_list_linked(&call->in_wakes))
        hc_list_push_back(&p2p->wakes, &call->in_wakes);
}

void
p2p_wake_all(struct p2p *p2p)
{
    HC_LIST_EACH (node, &p2p->sleepers)
        p2p_wake(HC_CONTAINER(node, struct p2p_call, in_sleepers));
    if (p2p->hosts > 0)
        p2p->poke = true;
}

static struct p2p_pair *
pair_to_ring(struct p2p *p2p)
{
    if (p2p->rings == 0)
        return NULL;
    HC_LIST_EACH (node, &p2p->live) {
        struct p2p_pair *pair = HC_CONTAINER(node, struct p2p_pair, in_live);

        if (!pair->ring)
            continue;
        pair->ring = false;
        p2p->rings--;
        return pair;
    }
    return NULL;
}

/* Wakes owners, and lets go of the lock. */
static void
wake_owners(struct p2p *p2p)
{
    struct hc_list *node;
    bool poke = p2p->poke;

    p2p->poke = false;
    while ((node = hc_list_pop_front(&p2p->wakes)) != NULL) {
        uint32_t stream = HC_CONTAINER(node, struct p2p_call, in_wakes)->stream;

        hc_spin_unlock(&p2p->lock);
        rt_stream_wake(stream);
        hc_spin_lock(&p2p->lock);
    }
    hc_spin_unlock(&p2p->lock);
    if (poke)
        rt_waiters_poke();
}

void
p2p_unlock_and_wake(struct p2p *p2p)
{
    struct p2p_pair *pair;

    while ((pair = pair_to_ring(p2p)) != NULL) {
        hc_spin_unlock(&p2p->lock);
        if (pair->conn != NULL)
            pair->conn->ops->wake(pair->conn, HC_WORD_HOST);
        else
            rt_shared_wake(HC_WORD_HOST);
        hc_spin_lock(&p2p->lock);
    }
    wake_owners(p2p);
}

bool
p2p_arm(struct p2p *p2p)
{
    bool fresh = false;

    HC_LIST_EACH (node, &p2p->live) {
        struct p2p_area *own = HC_CONTAINER(node, struct p2p_pair, in_live)->own;

        if (atomic_load_explicit(&own->waiter, memory_order_relaxed) != 0)
            continue;
        atomic_store(&own->waiter, 1); /* R3 */
        fresh = true;
    }
    return fresh;
}

void
p2p_disarm(struct p2p *p2p)
{
    HC_LIST_EACH (node, &p2p->live)
        atomic_store_explicit(&HC_CONTAINER(node, struct p2p_pair, in_live)->own->waiter, 0,
                              memory_order_relaxed);
}

/* Calls look(p2p) for all there are, without all.lock. */
static void
for_all(void (*look)(struct p2p *p2p))
{
    struct hc_list *node;

    pthread_mutex_lock(&all.lock);
    for (node = all.list.next; node != &all.list; node = node->next) {
        struct p2p *p2p = HC_CONTAINER(node, struct p2p, in_all);

        if (p2p->ending)
            continue;
        p2p->users++; /* so it stays in the list */
        pthread_mutex_unlock(&all.lock);
        look(p2p);
        pthread_mutex_lock(&all.lock);
        p2p->users--;
        pthread_cond_broadcast(&all.left);
    }
    pthread_mutex_unlock(&all.lock);
}

/* Something came for somebody who sleeps: tasks do not look by themselves. */
static void
look_for_tasks(struct p2p *p2p)
{
    bool armed = false, more;

    hc_spin_lock(&p2p->lock);
    if (!hc_list_empty(&p2p->sleepers)) {
        p2p_progress(p2p);
        armed = p2p_arm(p2p);
    }
    if (armed) {
        hc_spin_unlock(&p2p->lock);
        (void)hc_barrier_heavy(); /* R3 */
        hc_spin_lock(&p2p->lock);
        p2p_progress(p2p);
    }
    more = p2p->rings > 0 || p2p->stashed > 0;
    wake_owners(p2p);
    if (more)
        p2p_look_soon(p2p); /* X1 */
}

static void
wake_hook(void)
{
    for_all(look_for_tasks);
}

static const struct comm_guest_ops guest_ops;

void
p2p_invite(struct p2p *p2p)
{
    for (uint32_t i = 0; i < p2p->rank_num; i++) {
        struct p2p_pair *pair = atomic_load(&p2p->pairs[i]);
        struct comm *peer;
        void *guest;

        if (pair == NULL || !pair->near || atomic_exchange(&pair->invited, true))
            continue;
        peer = comm_hold_peer(p2p->comm, i);
        if (peer == NULL) {
            if (!comm_peer_left(p2p->comm, i))
                atomic_store(&pair->invited, false); /* when it has come */
            continue;
        }
        if (comm_guest_of_peer(peer, &guest_ops, &guest) == HCCL_SUCCESS)
            (void)pair_want(guest, p2p->rank);
        comm_release(peer);
    }
}

static void
look_at_pairs(struct p2p *p2p)
{
    bool armed;

    p2p_invite(p2p);
    pairs_look(p2p);
    hc_spin_lock(&p2p->lock);
    p2p_progress(p2p);
    p2p_wake_all(p2p);
    armed = p2p->stashed > 0 && p2p_arm(p2p); /* who takes messages makes room for the rest */
    p2p_unlock(p2p);
    if (!armed)
        return;
    (void)hc_barrier_heavy(); /* R3 */
    hc_spin_lock(&p2p->lock);
    p2p_progress(p2p);
    p2p_unlock(p2p);
}

/* On a thread that may block. So connections are made, and ends noticed, while the program does
 * something else. */
static void
job_run(struct rt_job *job)
{
    (void)job;
    pthread_mutex_lock(&all.lock);
    all.running = true;
    while (all.wanted) { /* events from here on are seen below, or want it anew */
        all.wanted = false;
        pthread_mutex_unlock(&all.lock);
        for_all(look_at_pairs);
        pthread_mutex_lock(&all.lock);
    }
    all.running = false;
    pthread_mutex_unlock(&all.lock);
}

void
p2p_look_soon(struct p2p *p2p)
{
    atomic_store(&p2p->event, true);
    pthread_mutex_lock(&all.lock);
    if (!all.wanted && !all.running) {
        all.job.fn = job_run;
        all.wanted = rt_aicpu_submit(&all.job) == ACL_SUCCESS; /* else: with the next event */
    } else {
        all.wanted = true;
    }
    pthread_mutex_unlock(&all.lock);
    rt_waiters_poke();
}

/* ---- the guest ---- */

static void
p2p_fini(void *guest)
{
    struct p2p *p2p = guest;

    int cancel = hc_cancel_off();

    pthread_mutex_lock(&all.lock);
    p2p->ending = true;
    while (p2p->users > 0)
        pthread_cond_wait(&all.left, &all.lock);
    hc_list_remove(&p2p->in_all);
    pthread_mutex_unlock(&all.lock);
    hc_cancel_restore(cancel);
    one_sided_fini(p2p);
    sym_wins_fini(p2p);
    pairs_fini(p2p);
    rt_spin_remote_add(-1);
    rt_outside_add(-1);
    pthread_mutex_destroy(&p2p->connecting);
    hc_free(p2p->pairs);
    hc_free(p2p);
}

static void
read_knobs(struct p2p *p2p)
{
    int64_t ring_kib, early_mib;

    (void)hc_knob_connect_ms(&p2p->connect_ms);
    (void)hc_knob_int(KNOB_P2P_RING_KIB, &ring_kib); /* invalid: logged, the default counts */
    (void)hc_knob_int(KNOB_P2P_UNEXPECTED_MIB, &early_mib);
    p2p->ring_len = P2P_RING_LEAST;
    while (p2p->ring_len < (uint64_t)ring_kib << 10)
        p2p->ring_len *= 2;
    p2p->early_most = (uint64_t)early_mib << 20;
    p2p->exec_s = comm_exec_timeout_s(p2p->comm);
    p2p->plan = copy_plan();
    p2p->eager_most = p2p->plan->eager < p2p->ring_len / 4 ? p2p->plan->eager : p2p->ring_len / 4;
}

static HcclResult
p2p_make(struct comm *comm, void **guest)
{
    struct p2p *p2p = hc_zalloc_aligned(P2P_LINE, sizeof *p2p);
    HcclResult rc = HCCL_SUCCESS;

    if (p2p == NULL)
        return HCCL_E_MEMORY;
    p2p->comm = comm;
    p2p->rank = comm_rank(comm);
    p2p->rank_num = comm_rank_num(comm);
    p2p->pairs = hc_calloc(p2p->rank_num, sizeof *p2p->pairs);
    if (p2p->pairs == NULL) {
        hc_free(p2p);
        return HCCL_E_MEMORY;
    }
    read_knobs(p2p);
    hc_list_init(&p2p->live);
    hc_list_init(&p2p->posted);
    hc_list_init(&p2p->sleepers);
    hc_list_init(&p2p->wakes);
    pthread_mutex_init(&p2p->connecting, NULL);
    rt_spin_remote_add(1);
    rt_outside_add(1);
    pthread_mutex_lock(&all.lock);
    if (!all.hooked)
        rt_set_wake_hook(wake_hook);
    all.hooked = true;
    hc_list_push_back(&all.list, &p2p->in_all);
    pthread_mutex_unlock(&all.lock);
    for (uint32_t i = 0; i < p2p->rank_num && p2p->rank_num <= OPEN_ALL_MOST && rc == HCCL_SUCCESS;
         i++)
        rc = pair_want(p2p, i);
    if (rc != HCCL_SUCCESS) {
        p2p_fini(p2p);
        return rc;
    }
    *guest = p2p;
    return HCCL_SUCCESS;
}

static bool
p2p_idle(void *guest)
{
    struct p2p *p2p = guest;
    bool idle;

    hc_spin_lock(&p2p->lock);
    idle = p2p->open == 0 && atomic_load(&p2p->windows) == 0;
    p2p_unlock(p2p);
    return idle;
}

static void
p2p_break(struct p2p *p2p, const char *why, bool failed)
{
    hc_spin_lock(&p2p->lock);
    p2p->failed = p2p->failed || failed;
    if (!p2p->broken)
        snprintf(p2p->why, sizeof p2p->why, "%s", why);
    p2p->broken = true;
    p2p_wake_all(p2p);
    wake_owners(p2p);
    windows_wake(p2p);
}

static void
p2p_cut(void *guest)
{
    p2p_break(guest, "the communicator is being destroyed", false);
}

/* The peers learn it through the channels. */
static void
p2p_failed(void *guest, const char *why)
{
    struct p2p *p2p = guest;

    p2p_break(p2p, why, true);
    for (uint32_t i = 0; i < p2p->rank_num; i++) {
        struct p2p_pair *pair = atomic_load(&p2p->pairs[i]);

        if (pair != NULL && pair->handle != 0)
            res_channel_abort(pair->handle, why);
    }
}

static const struct comm_guest_ops guest_ops = {
    .make = p2p_make, .idle = p2p_idle, .cut = p2p_cut, .failed = p2p_failed, .fini = p2p_fini};

HcclResult
p2p_hold(HcclComm handle, struct p2p **p2p)
{
    struct comm *comm;
    void *guest = NULL;
    HcclResult rc = comm_hold(handle, &comm);

    if (rc != HCCL_SUCCESS)
        return rc;
    rc = comm_guest(comm, &guest_ops, &guest);
    if (rc != HCCL_SUCCESS) {
        comm_release(comm);
        return rc;
    }
    *p2p = guest;
    return HCCL_SUCCESS;
}

HcclResult
p2p_hold_running(const char *function, HcclComm handle, struct p2p **p2p)
{
    HcclResult rc = p2p_hold(handle, p2p);

    if (rc == HCCL_SUCCESS)
        rc = comm_check_running((*p2p)->comm, function);
    if (rc == HCCL_E_SUSPENDING)
        p2p_release(*p2p);
    return rc;
}

void
p2p_hold_more(struct p2p *p2p)
{
    comm_hold_more(p2p->comm);
}

void
p2p_release(struct p2p *p2p)
{
    comm_release(p2p->comm);
}
