/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer: what this process knows of a process that it has stand-ins for: its cookie, and the lane to
 * it once one was needed. It lives from the first stand-in to the last one. And the messages about
 * foreign memory, for both sides.
 *
 * P1  A transfer uses its stand-in, and so keeps the peer and its lane.
 * P2  Messages and the end of a link find the peer in `peers` under peers_lock, under which it also
 *     goes. No message is sent under it: the peer's service thread may be waiting for its own.
 * P3  A lane is published before a transfer looks whether the link is gone; the end of a link is
 *     seen by link_state() before foreign_link_gone() looks for lanes. So no lane is forgotten.
 */
#include "transport/peer.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/futex.h"
#include "base/list.h"
#include "base/log.h"
#include "transport/path.h"

#define COOKIE_MS 2000 /* a process that lives has answered long before */

enum cma_state {
    CMA_ASKED, /* for the cookie */
    CMA_READY, /* it is there */
    CMA_NOT,   /* not to this peer: `cma_error` */
};

struct foreign_peer {
    struct hc_list in_peers;   /* under peers_lock */
    uint32_t standins;         /* under peers_lock */
    struct shm_link *link;     /* held; fixed */
    struct cma_cookie cookie;  /* written before `cma` becomes READY (release) */
    _Atomic uint32_t cma;      /* enum cma_state; futex word */
    atomic_int cma_error;      /* errno */
    pthread_mutex_t make_lock; /* making the lane; taken before the link's locks */
    struct bounce *bounce;     /* for messages and the end of the link; under peers_lock */
    _Atomic(struct bounce *)
        lane; /* the same, for transfers, once it has been passed; then fixed */
};

static pthread_mutex_t peers_lock = PTHREAD_MUTEX_INITIALIZER; /* taken before a lane's lock */
static struct hc_list peers = {&peers, &peers};                /* under peers_lock */

/* ---- Messages ---- */

HcclResult
foreign_send(struct shm_link *link, enum foreign_kind kind, uint32_t lane, uint64_t a, uint64_t b,
             int fd)
{
    struct foreign_message message = {.kind = kind, .lane = lane, .a = a, .b = b};

    return link_send(link, LINK_MSG_FOREIGN, &message, sizeof message, fd);
}

/* Under peers_lock. */
static struct foreign_peer *
find_peer(const struct shm_link *link)
{
    HC_LIST_EACH (node, &peers) {
        struct foreign_peer *peer = HC_CONTAINER(node, struct foreign_peer, in_peers);

        if (peer->link == link)
            return peer;
    }
    return NULL;
}

static void
settle_cma(struct foreign_peer *peer, enum cma_state state, int error)
{
    uint32_t asked = CMA_ASKED;

    atomic_store_explicit(&peer->cma_error, error, memory_order_relaxed);
    (void)atomic_compare_exchange_strong(&peer->cma, &asked, state);
    hc_futex_wake(&peer->cma, INT32_MAX);
}

static void
got_cookie(struct shm_link *link, const struct foreign_message *message)
{
    struct foreign_peer *peer;

    pthread_mutex_lock(&peers_lock);
    peer = find_peer(link);
    if (peer != NULL && atomic_load(&peer->cma) == CMA_ASKED) {
        peer->cookie = (struct cma_cookie){message->a, message->b};
        settle_cma(peer, message->b != 0 ? CMA_READY : CMA_NOT, ENODATA);
    }
    pthread_mutex_unlock(&peers_lock);
}

static void
got_refusal(struct shm_link *link, uint32_t lane)
{
    struct foreign_peer *peer;

    pthread_mutex_lock(&peers_lock);
    peer = find_peer(link);
    if (peer != NULL && peer->bounce != NULL && bounce_number(peer->bounce) == lane)
        bounce_end(peer->bounce, true);
    pthread_mutex_unlock(&peers_lock);
}

void
foreign_message(struct shm_link *link, const void *body, uint32_t len, int fd)
{
    struct cma_cookie own;
    struct foreign_message message;

    if (len == sizeof message)
        memcpy(&message, body, sizeof message);
    else
        message = (struct foreign_message){0};
    if (fd >= 0 && message.kind != FOREIGN_LANE)
        (void)close(fd);
    switch (message.kind) {
    case FOREIGN_ASK_COOKIE:
        if (!cma_own_cookie(&own))
            own = (struct cma_cookie){0};
        (void)foreign_send(link, FOREIGN_COOKIE, 0, own.addr, own.value, -1);
        break;
    case FOREIGN_COOKIE:
        got_cookie(link, &message);
        break;
    case FOREIGN_LANE:
        serve_lane(link, message.lane, fd, message.a, message.b);
        break;
    case FOREIGN_REFUSED:
        got_refusal(link, message.lane);
        break;
    case FOREIGN_LOOK:
        serve_look(link, message.lane);
        break;
    case FOREIGN_END:
        serve_end(link, message.lane);
        break;
    default:
        LOG_DEBUG(SHM, "a message of process %d about foreign memory is not known: kind %u",
                  (int)link_pid(link), message.kind);
        break;
    }
}

void
foreign_link_gone(struct shm_link *link)
{
    struct foreign_peer *peer;

    serve_link_gone(link);
    pthread_mutex_lock(&peers_lock);
    peer = find_peer(link);
    if (peer != NULL) {
        settle_cma(peer, CMA_NOT, ESRCH);
        if (peer->bounce != NULL) /* P3 */
            bounce_end(peer->bounce, false);
    }
    pthread_mutex_unlock(&peers_lock);
}

/* ---- Peers ---- */

static void
peer_free(struct foreign_peer *peer)
{
    bounce_close(peer->bounce);
    link_release(peer->link);
    (void)pthread_mutex_destroy(&peer->make_lock);
    hc_free(peer);
}

void
peer_release(struct foreign_peer *peer)
{
    bool last;

    pthread_mutex_lock(&peers_lock);
    last = --peer->standins == 0;
    if (last)
        hc_list_remove(&peer->in_peers);
    pthread_mutex_unlock(&peers_lock);
    if (last)
        peer_free(peer);
}

static struct foreign_peer *
peer_create(struct shm_link *link)
{
    struct foreign_peer *peer = hc_zalloc(sizeof *peer);

    if (peer == NULL)
        return NULL;
    link_hold_more(link);
    peer->link = link;
    (void)pthread_mutex_init(&peer->make_lock, NULL);
    if (link_pid(link) == 0 || path_forbidden() != 0) {
        peer->cma = CMA_NOT;
        peer->cma_error = link_pid(link) == 0 ? ENOTSUP : path_forbidden();
    }
    return peer;
}

HcclResult
peer_get(struct shm_link *link, struct foreign_peer **out)
{
    struct foreign_peer *peer;
    bool fresh;

    pthread_mutex_lock(&peers_lock);
    peer = find_peer(link);
    fresh = peer == NULL;
    if (fresh) {
        peer = peer_create(link);
        if (peer != NULL)
            hc_list_push_back(&peers, &peer->in_peers);
    }
    if (peer != NULL)
        peer->standins++;
    pthread_mutex_unlock(&peers_lock);
    if (peer == NULL)
        return HCCL_E_MEMORY;
    if (fresh && atomic_load(&peer->cma) == CMA_ASKED &&
        foreign_send(link, FOREIGN_ASK_COOKIE, 0, 0, 0, -1) != HCCL_SUCCESS)
        settle_cma(peer, CMA_NOT, ESRCH);
    *out = peer;
    return HCCL_SUCCESS;
}

struct shm_link *
peer_link(const struct foreign_peer *peer)
{
    return peer->link;
}

static void
set_bounce(struct foreign_peer *peer, struct bounce *bounce)
{
    pthread_mutex_lock(&peers_lock);
    peer->bounce = bounce;
    pthread_mutex_unlock(&peers_lock);
}

/* Under make_lock. */
static HcclResult
make_bounce(struct foreign_peer *peer)
{
    struct bounce *bounce;
    HcclResult rc = bounce_open(peer->link, &bounce);

    if (rc != HCCL_SUCCESS)
        return rc;
    set_bounce(peer, bounce); /* first: the answer may be a refusal, P3 */
    rc = bounce_pass(bounce);
    if (rc == HCCL_SUCCESS) {
        atomic_store(&peer->lane, bounce);
        return HCCL_SUCCESS;
    }
    set_bounce(peer, NULL);
    bounce_close(bounce);
    return rc;
}

HcclResult
peer_bounce(struct foreign_peer *peer, struct bounce **out)
{
    HcclResult rc = HCCL_SUCCESS;

    if (atomic_load(&peer->lane) == NULL) {
        pthread_mutex_lock(&peer->make_lock);
        if (atomic_load(&peer->lane) == NULL)
            rc = make_bounce(peer);
        pthread_mutex_unlock(&peer->make_lock);
    }
    *out = atomic_load(&peer->lane);
    return rc;
}

bool
peer_cookie(struct foreign_peer *peer, struct cma_cookie *cookie, int *error)
{
    uint64_t deadline = 0;

    while (atomic_load_explicit(&peer->cma, memory_order_acquire) == CMA_ASKED) {
        if (deadline == 0)
            deadline = hc_deadline_ms(COOKIE_MS);
        else if (hc_now_ns() >= deadline)
            settle_cma(peer, CMA_NOT, ETIMEDOUT);
        hc_futex_wait(&peer->cma, CMA_ASKED, deadline);
    }
    *error = atomic_load_explicit(&peer->cma_error, memory_order_relaxed);
    if (atomic_load_explicit(&peer->cma, memory_order_acquire) != CMA_READY)
        return false;
    *cookie = peer->cookie;
    return true;
}

void
peer_no_cma(struct foreign_peer *peer, int error)
{
    atomic_store_explicit(&peer->cma_error, error, memory_order_relaxed);
    atomic_store(&peer->cma, CMA_NOT);
}
