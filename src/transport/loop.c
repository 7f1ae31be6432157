/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * loop: both ends of a connection in this process. Addresses are what they are.
 *
 * The two ends share a link. Whoever opens first puts it into a process-wide table under the key;
 * the first opener of the other side takes it out, and so the pair is made. A link holds all that
 * one end may look at of the other, so that an end can be freed while its peer lives on.
 *
 * Each end has a gate, one word: how many of its calls are inside, and whether either end has
 * closed or aborted. A call enters the gate of its own end and thereby keeps both ends from going
 * away.
 *
 * I1  `end`, `refs`, the table, `closed`, `aborter` and `why` change only under table_lock;
 *     on_change is called under it and only for an end that has not closed.
 * I2  close() sets CLOSED in both gates, then waits until both are empty. So no call of either end
 *     touches memory or callbacks of a closed end. Entering is one add that acquires, leaving
 *     one that releases: what was written before a notify is seen after it.
 * I3  A gate that is left empty and closed wakes its futex, in which only close() sleeps.
 * I4  An end that aborts before it has met stays in the table until it closes: its peer meets it,
 *     and learns why.
 * I5  A link lives until both ends have let go of it (`refs`), which is at fini(), not at close().
 * I6  A lease ends before its owner begins the next turn and looks at `leased` of the old one; a
 *     transfer counts itself there before it looks at the lease (all seq_cst).
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/futex.h"
#include "base/list.h"
#include "base/log.h"
#include "copy/copy.h"
#include "reduce/reduce.h"
#include "transport/host.h"
#include "transport/lease.h"

#define BUCKETS 1024u
#define WHY_LEN 256u
#define NOBODY (-1)
#define CLOSED 0x80000000u /* in a gate */

struct loop_end {
    void *hello; /* set at open */
    uint32_t hello_len;
    void (*on_notify)(void *arg, uint32_t index);
    void (*on_change)(void *arg);
    void *arg;
    bool there;            /* has opened and not closed; under table_lock */
    atomic_bool settled;   /* has told so; set once under table_lock */
    _Atomic uint32_t gate; /* I2; futex word */
};

struct loop_link {
    struct loop_link *next;     /* in its bucket; under table_lock */
    struct hc_list in_paired;   /* once it is paired; under table_lock */
    _Atomic uint32_t leased[2]; /* transfers of both ends with a lease, by turn: I6 */
    char *key;
    struct loop_end end[2];
    uint32_t refs;      /* ends that hold it; under table_lock */
    atomic_bool paired; /* set once under table_lock; release, so that hellos are seen */
    atomic_bool closed; /* one end has closed or aborted; set once under table_lock */
    int aborter;        /* the side whose abort came before any close, or NOBODY */
    char why[WHY_LEN];  /* its reason */
};

struct loop_conn {
    struct tp_conn base;
    struct loop_link *link; /* NULL: open() failed; set before anyone knows of the connection */
    int side;
};

/* Under it on_change() is called, which may take the lock of the runtime's waiters. */
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct loop_link *table[BUCKETS];           /* links with one end; under table_lock */
static struct hc_list paired = {&paired, &paired}; /* links with two; under table_lock */

static uint32_t
bucket_of(const char *key)
{
    uint32_t hash = 2166136261u;

    for (; *key != '\0'; key++)
        hash = (hash ^ (uint8_t)*key) * 16777619u;
    return hash % BUCKETS;
}

static void
link_free(struct loop_link *link)
{
    if (link == NULL)
        return;
    hc_free(link->end[0].hello);
    hc_free(link->end[1].hello);
    hc_free(link->key);
    hc_free(link);
}

/* The oldest link that waits for `side` of `key`, taken out of the table; or NULL. */
static struct loop_link *
table_take(const char *key, int side)
{
    for (struct loop_link **at = &table[bucket_of(key)]; *at != NULL; at = &(*at)->next) {
        struct loop_link *link = *at;

        if (link->end[side].there || strcmp(link->key, key) != 0)
            continue;
        *at = link->next;
        return link;
    }
    return NULL;
}

static void
table_put(struct loop_link *link)
{
    struct loop_link **at = &table[bucket_of(link->key)];

    while (*at != NULL) /* last: equal keys pair in the order they came */
        at = &(*at)->next;
    link->next = NULL;
    *at = link;
}

static void
table_remove(struct loop_link *link)
{
    struct loop_link **at = &table[bucket_of(link->key)];

    while (*at != NULL && *at != link)
        at = &(*at)->next;
    if (*at != NULL)
        *at = link->next;
}

static struct loop_link *
link_create(const struct tp_open *args)
{
    struct loop_link *link = hc_zalloc(sizeof *link);

    if (link == NULL)
        return NULL;
    link->key = hc_strdup(args->key);
    if (link->key == NULL) {
        link_free(link);
        return NULL;
    }
    link->aborter = NOBODY;
    return link;
}

static void
end_set(struct loop_end *end, const struct tp_open *args, void *hello)
{
    end->hello = hello;
    end->hello_len = args->hello_len;
    end->on_notify = args->on_notify;
    end->on_change = args->on_change;
    end->arg = args->arg;
    end->there = true;
}

/* What open() needs is allocated before the lock is taken; what was not needed is freed after. */
static HcclResult
loop_open(struct tp_conn *base, const struct tp_open *args)
{
    struct loop_conn *conn = (struct loop_conn *)base;
    struct loop_link *fresh = link_create(args), *link;
    void *hello = hc_zalloc(args->hello_len);

    if (fresh == NULL || hello == NULL) {
        link_free(fresh);
        hc_free(hello);
        return HCCL_E_MEMORY;
    }
    if (args->hello_len > 0)
        memcpy(hello, args->hello, args->hello_len);
    conn->side = args->side;
    pthread_mutex_lock(&table_lock);
    link = table_take(args->key, args->side);
    conn->link = link == NULL ? fresh : link;
    conn->link->refs++;
    end_set(&conn->link->end[args->side], args, hello);
    if (link == NULL) {
        table_put(fresh);
        fresh = NULL;
    } else {
        hc_list_push_back(&paired, &link->in_paired);
        atomic_store_explicit(&link->paired, true, memory_order_release);
        link->end[0].on_change(link->end[0].arg); /* I1 */
        link->end[1].on_change(link->end[1].arg);
    }
    pthread_mutex_unlock(&table_lock);
    link_free(fresh);
    return HCCL_SUCCESS;
}

static HcclResult
loop_poll(struct tp_conn *base)
{
    struct loop_conn *conn = (struct loop_conn *)base;

    if (atomic_load_explicit(&conn->link->closed, memory_order_acquire))
        return HCCL_E_REMOTE;
    return atomic_load_explicit(&conn->link->paired, memory_order_acquire) ? HCCL_SUCCESS
                                                                           : HCCL_E_AGAIN;
}

static const void *
loop_peer_hello(struct tp_conn *base, uint32_t *len)
{
    struct loop_conn *conn = (struct loop_conn *)base;
    struct loop_end *peer = &conn->link->end[1 - conn->side];

    *len = peer->hello_len;
    return peer->hello;
}

static bool
loop_settled(struct tp_conn *base)
{
    struct loop_conn *conn = (struct loop_conn *)base;
    struct loop_link *link = conn->link;
    struct loop_end *own = &link->end[conn->side], *peer = &link->end[1 - conn->side];

    if (!atomic_load(&own->settled)) {
        pthread_mutex_lock(&table_lock);
        if (own->there && !atomic_exchange(&own->settled, true) && peer->there)
            peer->on_change(peer->arg); /* I1 */
        pthread_mutex_unlock(&table_lock);
    }
    return atomic_load(&peer->settled) || atomic_load(&link->closed);
}

/* ---- the gate ---- */

static void
gate_leave(struct loop_end *end)
{
    uint32_t before = atomic_fetch_sub_explicit(&end->gate, 1, memory_order_release);

    if (before == (CLOSED | 1))
        hc_futex_wake(&end->gate, 2); /* I3 */
}

/* false: one of the ends has closed, or they have not met. */
static bool
gate_enter(struct loop_conn *conn, struct loop_end **own, struct loop_end **peer)
{
    struct loop_link *link = conn->link;
    uint32_t before;

    if (link == NULL || !atomic_load_explicit(&link->paired, memory_order_acquire))
        return false;
    *own = &link->end[conn->side];
    *peer = &link->end[1 - conn->side];
    before = atomic_fetch_add_explicit(&(*own)->gate, 1, memory_order_acquire);
    if ((before & CLOSED) == 0)
        return true;
    gate_leave(*own);
    return false;
}

static void
gate_wait(struct loop_end *end)
{
    uint32_t seen = atomic_load_explicit(&end->gate, memory_order_acquire);

    while ((seen & ~CLOSED) != 0) { /* I2 */
        hc_futex_wait(&end->gate, seen, HC_FOREVER);
        seen = atomic_load_explicit(&end->gate, memory_order_acquire);
    }
}

/* Nobody gets in any more; under table_lock. */
static void
gates_close(struct loop_link *link)
{
    atomic_store_explicit(&link->closed, true, memory_order_release);
    atomic_fetch_or(&link->end[0].gate, CLOSED);
    atomic_fetch_or(&link->end[1].gate, CLOSED);
}

static void
loop_close(struct tp_conn *base)
{
    struct loop_conn *conn = (struct loop_conn *)base;
    struct loop_link *link = conn->link;
    struct loop_end *peer;

    if (link == NULL)
        return;
    peer = &link->end[1 - conn->side];
    pthread_mutex_lock(&table_lock);
    if (link->end[conn->side].there) {
        link->end[conn->side].there = false;
        if (!atomic_load_explicit(&link->paired, memory_order_relaxed))
            table_remove(link);
        gates_close(link);
        if (peer->there)
            peer->on_change(peer->arg); /* I1 */
    }
    pthread_mutex_unlock(&table_lock);
    gate_wait(&link->end[0]);
    gate_wait(&link->end[1]);
}

static void
loop_abort(struct tp_conn *base, const char *why)
{
    struct loop_conn *conn = (struct loop_conn *)base;
    struct loop_link *link = conn->link;
    struct loop_end *peer;

    if (link == NULL)
        return;
    peer = &link->end[1 - conn->side];
    pthread_mutex_lock(&table_lock);
    if (!atomic_load_explicit(&link->closed, memory_order_relaxed)) {
        link->aborter = conn->side;
        snprintf(link->why, sizeof link->why, "%s", why);
        gates_close(link); /* I4 */
        if (peer->there)
            peer->on_change(peer->arg); /* I1 */
    }
    pthread_mutex_unlock(&table_lock);
}

static enum tp_end
loop_ending(struct tp_conn *base, char *text, size_t len)
{
    struct loop_conn *conn = (struct loop_conn *)base;
    struct loop_link *link = conn->link;
    enum tp_end end = TP_OPEN;
    const char *why = "";

    pthread_mutex_lock(&table_lock);
    if (atomic_load_explicit(&link->closed, memory_order_relaxed))
        end = TP_CLOSED;
    if (link->aborter == 1 - conn->side) {
        end = TP_ABORTED;
        why = link->why;
    }
    if (len > 0)
        snprintf(text, len, "%s", why);
    pthread_mutex_unlock(&table_lock);
    return end;
}

static void
loop_fini(struct tp_conn *base)
{
    struct loop_conn *conn = (struct loop_conn *)base;
    struct loop_link *link = conn->link;
    bool last;

    if (link == NULL)
        return;
    conn->link = NULL;
    pthread_mutex_lock(&table_lock);
    last = --link->refs == 0; /* I5 */
    if (last)
        hc_list_remove(&link->in_paired);
    pthread_mutex_unlock(&table_lock);
    if (last)
        link_free(link);
}

/* ---- the peer's memory ---- */

/* It is this process': the region's place does not matter. Also reach(). */
static HcclResult
loop_map(struct tp_conn *base, const struct tp_region *region, void **local)
{
    if (region->len == 0 || region->addr + region->len < region->addr) {
        LOG_ERROR(LOOP, "a region of %llu bytes at 0x%llx is no memory",
                  (unsigned long long)region->len, (unsigned long long)region->addr);
        return HCCL_E_PARA;
    }
    if (loop_poll(base) != HCCL_SUCCESS)
        return HCCL_E_REMOTE;
    *local = (void *)(uintptr_t)region->addr;
    return HCCL_SUCCESS;
}

static void
loop_unreach(struct tp_conn *base, const struct tp_region *region, void *local)
{
    (void)base;
    (void)region;
    (void)local;
}

static bool
loop_leased(struct tp_conn *base, uint64_t lease)
{
    (void)base;
    return segment_own_leased(lease);
}

bool
loop_quiet(uint32_t turn)
{
    bool quiet = true;

    pthread_mutex_lock(&table_lock);
    HC_LIST_EACH (node, &paired) {
        if (atomic_load(&HC_CONTAINER(node, struct loop_link, in_paired)->leased[turn]) != 0)
            quiet = false;
    }
    pthread_mutex_unlock(&table_lock);
    return quiet;
}

/* ---- transfers ---- */

static void
transfer_leave(struct loop_end *own, struct loop_link *link, const struct tp_xfer *xfer,
               uint32_t turn)
{
    if (xfer->lease != 0)
        (void)atomic_fetch_sub_explicit(&link->leased[turn], 1, memory_order_release);
    gate_leave(own);
}

/* HCCL_SUCCESS: inside, and the region is offered (I6). *turn: for the way out. */
static HcclResult
transfer_enter(struct tp_conn *base, const struct tp_xfer *xfer, struct loop_end **own,
               uint32_t *turn)
{
    struct loop_conn *conn = (struct loop_conn *)base;
    struct loop_end *peer;

    if (!gate_enter(conn, own, &peer))
        return HCCL_E_REMOTE;
    if (xfer->lease == 0)
        return HCCL_SUCCESS;
    *turn = lease_turn() % 2;
    (void)atomic_fetch_add(&conn->link->leased[*turn], 1);
    if (segment_own_leased(xfer->lease))
        return HCCL_SUCCESS;
    transfer_leave(*own, conn->link, xfer, *turn);
    return HCCL_E_NOT_FOUND;
}

static HcclResult
loop_copy(struct tp_conn *base, const struct tp_xfer *xfer)
{
    struct loop_link *link = ((struct loop_conn *)base)->link;
    struct loop_end *own;
    uint32_t turn = 0;
    HcclResult rc = transfer_enter(base, xfer, &own, &turn);

    if (rc != HCCL_SUCCESS)
        return rc;
    copy_bytes(xfer->dst, xfer->src, xfer->len);
    transfer_leave(own, link, xfer, turn);
    return HCCL_SUCCESS;
}

static HcclResult
loop_reduce(struct tp_conn *base, const struct tp_xfer *xfer)
{
    struct loop_link *link = ((struct loop_conn *)base)->link;
    struct loop_end *own;
    uint32_t turn = 0;
    HcclResult rc = transfer_enter(base, xfer, &own, &turn);

    if (rc != HCCL_SUCCESS)
        return rc;
    reduce_apply(xfer->dst, xfer->src, xfer->len, xfer->type, xfer->op);
    transfer_leave(own, link, xfer, turn);
    return HCCL_SUCCESS;
}

static HcclResult
loop_notify(struct tp_conn *base, uint32_t index)
{
    struct loop_end *own, *peer;

    if (!gate_enter((struct loop_conn *)base, &own, &peer))
        return HCCL_E_REMOTE;
    peer->on_notify(peer->arg, index);
    gate_leave(own);
    return HCCL_SUCCESS;
}

/* The waiter is woken outside: whatever that leads to may close this end. */
static void
loop_wake(struct tp_conn *base, uint32_t waiter)
{
    struct loop_end *own, *peer;

    if (waiter == 0 || !gate_enter((struct loop_conn *)base, &own, &peer))
        return;
    gate_leave(own);
    host_get()->wake(waiter);
}

static HcclResult
loop_flush(struct tp_conn *base)
{
    struct loop_end *own, *peer;

    if (!gate_enter((struct loop_conn *)base, &own, &peer))
        return HCCL_E_REMOTE;
    gate_leave(own); /* transfers are over when they return */
    return HCCL_SUCCESS;
}

const struct tp_ops tp_loop_ops = {
    .name = "loop",
    .conn_size = sizeof(struct loop_conn),
    .maps = true,
    .open = loop_open,
    .poll = loop_poll,
    .peer_hello = loop_peer_hello,
    .settled = loop_settled,
    .map = loop_map,
    .reach = loop_map,
    .unreach = loop_unreach,
    .leased = loop_leased,
    .close = loop_close,
    .abort = loop_abort,
    .ending = loop_ending,
    .fini = loop_fini,
    .write = loop_copy,
    .read = loop_copy,
    .write_reduce = loop_reduce,
    .read_reduce = loop_reduce,
    .notify = loop_notify,
    .wake = loop_wake,
    .flush = loop_flush,
};
