/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way to one other rank: an area here, one there, and a channel that told each side of the
 * other's and tells when it ends.
 *
 * P1  A pair is made once and stays until the communicator ends; `far` and what belongs to it are
 *     set when the channel is connected at both ends, and then it is in `live`.
 * P2  pair_event() may run under the transport's locks: it sets flags and has somebody look. Who
 *     then comes through pairs_look() asks the channel.
 * P3  What comes from a peer lies in memory of this rank, so messages of a peer that has gone are
 *     still received.
 * P4  All that must be known of the far area comes with the connection: its owner may have gone,
 * and the memory may be another's, before this rank looks at it the first time.
 */
#include "p2p/engine.h"
#include "p2p/window.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#define ACQUIRED(word_) __tsan_acquire((void *)(uintptr_t)(word_))
#else
#define ACQUIRED(word_) ((void)(word_))
#endif

#define PURPOSE "p2p"
#define PATIENCE_MS 10000
#define NAP_NS 20000l

static uint64_t
area_len(uint32_t ring_len)
{
    return sizeof(struct p2p_area) + ring_len;
}

static void
pair_event(void *arg)
{
    struct p2p_pair *pair = arg;

    atomic_store(&pair->event, true);
    p2p_look_soon(pair->p2p);
}

void
pair_must_ring(struct p2p_pair *pair)
{
    if (atomic_exchange(&pair->far->waiter, 0) == 0 || pair->ring)
        return;
    pair->ring = true;
    pair->p2p->rings++;
}

/* ---- making ---- */

static void
pair_free(struct p2p_pair *pair)
{
    struct hc_list *node;

    while ((node = pair->early.next) != &pair->early)
        early_free(pair, HC_CONTAINER(node, struct p2p_early, in_pair));
    if (pair->channel != NULL)
        res_channel_release(pair->channel);
    if (pair->handle != 0)
        (void)res_channel_destroy(pair->handle);
    (void)rt_mem_free(pair->own);
    hc_free(pair);
}

static HcclResult
connect_to(struct p2p *p2p, struct p2p_pair *pair)
{
    struct res_region region = {.lease = 0};
    HcclResult rc;

    snprintf(region.tag, sizeof region.tag, PURPOSE " %llx %d",
             (unsigned long long)atomic_load(&pair->own->open), !hc_barrier_heavy_works()); /* P4 */
    region.mem.type = COMM_MEM_TYPE_DEVICE;
    region.mem.addr = pair->own;
    region.mem.size = area_len(p2p->ring_len);
    pair->since_ns = hc_now_ns();
    atomic_store(&pair->event, true);
    rc = comm_connect(p2p->comm, pair->peer, PURPOSE, &region, 1, pair_event, pair, &pair->handle);
    return rc == HCCL_SUCCESS ? res_channel_hold(pair->handle, &pair->channel) : rc;
}

/* Like no other area's, of any process that may be given the same memory later. */
static uint64_t
new_number(void)
{
    uint64_t number = 0;

    while (number == 0)
        randombytes_buf(&number, sizeof number);
    return number;
}

static HcclResult
pair_new(struct p2p *p2p, uint32_t peer, struct p2p_pair **out)
{
    struct p2p_pair *pair = hc_zalloc_aligned(P2P_LINE, sizeof *pair);
    void *area = NULL;
    HcclResult rc;

    if (pair == NULL)
        return HCCL_E_MEMORY;
    pair->p2p = p2p;
    pair->peer = peer;
    atomic_store(&pair->looks, P2P_LOOKS);
    pair->near = comm_rank_is_here(p2p->comm, peer);
    atomic_store(&pair->invited, peer == p2p->rank);
    hc_list_init(&pair->sends);
    hc_list_init(&pair->early);
    hc_list_init(&pair->taken);
    rc = rt_result(rt_mem_alloc(comm_device(p2p->comm), area_len(p2p->ring_len), &area));
    if (rc == HCCL_SUCCESS) {
        pair->own = area;
        atomic_store(&pair->own->open, new_number());
        if (peer != p2p->rank)
            rc = connect_to(p2p, pair);
    }
    if (rc != HCCL_SUCCESS) {
        pair_free(pair);
        return rc;
    }
    *out = pair;
    return HCCL_SUCCESS;
}

/* What the peer told of its area. */
struct far {
    struct p2p_area *area;
    uint32_t ring_len;
    uint64_t open;
    bool fences; /* its heavy barrier reaches nobody */
};

/* From now on messages can go out and come in (P1). */
static void
pair_live(struct p2p_pair *pair, const struct far *far)
{
    struct p2p *p2p = pair->p2p;

    bool covered = hc_barrier_ready() && !far->fences;

    hc_spin_lock(&p2p->lock);
    pair->covered = covered;
    pair->far_ring_len = far->ring_len;
    pair->far_open = far->open;
    pair->far = far->area;
    hc_list_push_back(&p2p->live, &pair->in_live);
    p2p_wake_all(p2p);
    p2p_unlock(p2p);
}

HcclResult
pair_want(struct p2p *p2p, uint32_t peer)
{
    struct p2p_pair *pair = NULL;
    HcclResult rc = HCCL_SUCCESS;
    int cancel = hc_cancel_off();

    pthread_mutex_lock(&p2p->connecting);
    if (p2p->pairs[peer] == NULL)
        rc = pair_new(p2p, peer, &pair);
    if (pair != NULL) {
        hc_spin_lock(&p2p->lock);
        p2p->pairs[peer] = pair;
        p2p_unlock(p2p);
        p2p_look_soon(p2p);
        if (peer == p2p->rank)
            pair_live(pair, &(struct far){.area = pair->own,
                                          .ring_len = p2p->ring_len,
                                          .open = atomic_load(&pair->own->open)});
    }
    pthread_mutex_unlock(&p2p->connecting);
    hc_cancel_restore(cancel);
    return rc;
}

/* ---- looking ---- */

/* Whether the region is an area, as far as it can be told without touching it: P4. */
static bool
read_offer(const struct res_region *region, struct far *far)
{
    unsigned long long open;
    uint64_t ring_len = region->mem.size - sizeof *far->area;
    int fences;

    if (sscanf(region->tag, PURPOSE " %llx %d", &open, &fences) != 2 || open == 0 ||
        region->mem.size <= sizeof *far->area || ring_len < P2P_RING_LEAST ||
        ring_len > UINT32_MAX || (ring_len & (ring_len - 1)) != 0)
        return false;
    *far = (struct far){.area = region->mem.addr,
                        .ring_len = (uint32_t)ring_len,
                        .open = open,
                        .fences = fences != 0};
    return true;
}

static HcclResult
pair_connected(struct p2p_pair *pair)
{
    const struct res_region *regions = NULL;
    uint32_t num = 0;
    struct far far;
    HcclResult rc = res_channel_remote(pair->channel, &regions, &num);

    if (rc != HCCL_SUCCESS)
        return rc;
    if (num != 1 || !read_offer(&regions[0], &far)) {
        LOG_ERROR(P2P, "%s: what rank %u offers for messages is no area: it runs another version",
                  comm_name(pair->p2p->comm), pair->peer);
        return HCCL_E_INTERNAL;
    }
    pair->conn = res_channel_conn(pair->channel);
    pair_live(pair, &far);
    return HCCL_SUCCESS;
}

/* The peer was there, and has died before it was connected. One that was not there any more may
 * have left in order: not everybody who leaves has used messages. */
static bool
died_on_the_way(struct p2p_pair *pair)
{
    struct tp_conn *conn = res_channel_conn(pair->channel);
    char text[8];

    return conn != NULL && conn->ops->poll(conn) == HCCL_E_REMOTE &&
           conn->ops->ending(conn, text, sizeof text) == TP_DIED;
}

static void
pair_look(struct p2p_pair *pair)
{
    struct p2p *p2p = pair->p2p;
    char why[P2P_WHY_LEN];
    HcclResult rc;

    if (!atomic_exchange(&pair->event, false) || pair->handle == 0)
        return;
    if (pair->far == NULL && !pair->failed) {
        rc = res_channel_try(pair->handle);
        if (rc == HCCL_SUCCESS)
            rc = pair_connected(pair);
        if (rc != HCCL_SUCCESS && rc != HCCL_E_AGAIN) {
            bool died = died_on_the_way(pair);

            hc_spin_lock(&p2p->lock);
            pair->failed = true;
            pair->died = died;
            p2p_wake_all(p2p);
            p2p_unlock(p2p);
        }
    }
    if (pair->far != NULL && res_channel_ended(pair->channel, why, sizeof why)) {
        enum tp_end end = pair->conn->ops->ending(pair->conn, why, sizeof why);

        hc_spin_lock(&p2p->lock);
        pair->gone = true;
        pair->died = end != TP_CLOSED;
        pair->dead = end == TP_DIED || end == TP_EXITED;
        p2p_wake_all(p2p);
        p2p_unlock(p2p);
        windows_wake(p2p);
    }
}

void
pairs_look(struct p2p *p2p)
{
    int cancel;

    if (!atomic_load_explicit(&p2p->event, memory_order_acquire))
        return;
    cancel = hc_cancel_off();
    pthread_mutex_lock(&p2p->connecting);
    if (atomic_exchange(&p2p->event, false)) {
        for (uint32_t i = 0; i < p2p->rank_num; i++) {
            if (p2p->pairs[i] != NULL)
                pair_look(p2p->pairs[i]);
        }
    }
    pthread_mutex_unlock(&p2p->connecting);
    hc_cancel_restore(cancel);
}

void
pair_why(struct p2p_pair *pair, char *why, size_t len)
{
    bool bad;

    hc_spin_lock(&pair->p2p->lock);
    bad = pair->bad;
    p2p_unlock(pair->p2p);
    if (bad)
        snprintf(why, len, "what came from rank %u makes no sense", pair->peer);
    else if (!res_channel_ended(pair->channel, why, len))
        snprintf(why, len, "rank %u could not be reached", pair->peer);
}

void
pair_lost(struct p2p_pair *pair, char *why, size_t len)
{
    bool died;

    hc_spin_lock(&pair->p2p->lock);
    died = pair->died;
    p2p_unlock(pair->p2p);
    if (died)
        res_channel_lost(pair->channel, why, len);
    else
        pair_why(pair, why, len);
}

/* ---- ending ---- */

/* The peer cannot touch anything any more: it has ended, or closed. One that has given up may still
 * move. */
static bool
is_past(struct p2p_pair *pair)
{
    char text[8];

    switch (pair->conn->ops->ending(pair->conn, text, sizeof text)) {
    case TP_DIED:
    case TP_EXITED:
    case TP_CLOSED:
        return true;
    default:
        return false;
    }
}

/* The peer may have closed just now and given its area back: then this reads what is there since,
 * memory that stays mapped, and the caller sees at its next look that the peer is past. So the
 * thread sanitizer must not see the reads; but it must see that they acquire what the peer did
 * before it left. */
__attribute__((no_sanitize("thread"))) static bool
is_inside(const struct p2p_pair *pair)
{
    bool inside = atomic_load(&pair->far->inside) != 0 || atomic_load(&pair->far->moves) != 0;

    ACQUIRED(&pair->far->inside);
    ACQUIRED(&pair->far->moves);
    return inside;
}

/* R4: the peer touches the area no more. */
static void
wait_for_peer(struct p2p_pair *pair)
{
    const struct timespec nap = {.tv_nsec = NAP_NS};
    uint64_t deadline = hc_deadline_ms(PATIENCE_MS);

    while (!is_past(pair) && pair_is_open(pair) && is_inside(pair)) {
        if (hc_now_ns() >= deadline) {
            LOG_WARN(P2P,
                     "%s: rank %u has been in the middle of a message for %d s while rank %u "
                     "destroys the communicator: it may be stopped",
                     comm_name(pair->p2p->comm), pair->peer, PATIENCE_MS / 1000, pair->p2p->rank);
            return;
        }
        (void)nanosleep(&nap, NULL);
    }
    ACQUIRED(&pair->far->open); /* as pair_is_open() has, if that ended it */
}

static uint32_t
early_num(const struct p2p_pair *pair)
{
    uint32_t num = 0;

    HC_LIST_EACH (node, &pair->early)
        num += HC_CONTAINER(node, struct p2p_early, in_pair)->context == P2P_PROGRAM;
    return num;
}

/* It is touched by nobody any more. */
static void
pair_end(struct p2p_pair *pair)
{
    struct p2p *p2p = pair->p2p;

    if (pair->far != NULL) {
        hc_spin_lock(&p2p->lock);
        adopt_stop(pair);
        hc_list_remove(&pair->in_live);
        p2p_unlock(p2p);
        if (pair->channel != NULL)
            wait_for_peer(pair);
        adopt_end(pair);
    }
    if (early_num(pair) > 0)
        LOG_WARN(P2P, "%s: rank %u never received %u messages of rank %u", comm_name(p2p->comm),
                 p2p->rank, early_num(pair), pair->peer);
    pair_free(pair);
}

void
pairs_fini(struct p2p *p2p)
{
    for (uint32_t i = 0; i < p2p->rank_num; i++) {
        if (p2p->pairs[i] != NULL)
            stash_end(p2p->pairs[i]);
    }
    for (uint32_t i = 0; i < p2p->rank_num; i++) {
        if (p2p->pairs[i] != NULL)
            atomic_store(&p2p->pairs[i]->own->open, 0); /* R4 */
    }
    (void)hc_barrier_heavy();
    for (uint32_t i = 0; i < p2p->rank_num; i++) {
        if (p2p->pairs[i] != NULL)
            pair_end(p2p->pairs[i]);
    }
}
