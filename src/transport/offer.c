/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * offer: which own memory the bounce thread may touch for peers: the ranges that were described to
 * them, by their leases.
 *
 * O1  The thread copies only between offer_enter() and offer_leave(), inside a range that was in
 *     the table when it entered.
 * O2  foreign_quiesce() takes the ranges of a lease out, then waits until the thread is not inside
 *     with that lease. So it finds them no more, and has let go of them. A range that is described
 *     too late stays in the table until the end, and is not offered: its lease has ended.
 */
#include "transport/offer.h"

#include <pthread.h>

#include "base/alloc.h"
#include "base/thread.h"

#define BUCKETS 1024u

struct offer {
    struct offer *next; /* in its bucket */
    uint64_t lease, addr, len;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for all below; a leaf */
static pthread_cond_t left = PTHREAD_COND_INITIALIZER;
static struct offer *table[BUCKETS];
static uint64_t inside; /* lease the bounce thread is inside with; 0: none */

static struct offer **
bucket_of(uint64_t lease)
{
    return &table[(lease * 0x9E3779B97F4A7C15u >> 32) % BUCKETS];
}

/* The range of that lease that covers [addr, addr + len); NULL: none. Under lock. */
static struct offer *
find(uint64_t lease, uint64_t addr, uint64_t len)
{
    for (struct offer *offer = *bucket_of(lease); offer != NULL; offer = offer->next) {
        if (offer->lease == lease && addr >= offer->addr && len <= offer->len &&
            addr - offer->addr <= offer->len - len)
            return offer;
    }
    return NULL;
}

HcclResult
foreign_offer(const void *addr, uint64_t len, uint64_t lease)
{
    struct offer *fresh, **bucket = bucket_of(lease);
    bool known;

    if (lease == 0 || !segment_own_leased(lease))
        return HCCL_SUCCESS;
    fresh = hc_zalloc(sizeof *fresh);
    if (fresh == NULL)
        return HCCL_E_MEMORY;
    *fresh = (struct offer){.lease = lease, .addr = (uint64_t)(uintptr_t)addr, .len = len};
    pthread_mutex_lock(&lock);
    known = find(lease, fresh->addr, len) != NULL;
    if (!known) {
        fresh->next = *bucket;
        *bucket = fresh;
    }
    pthread_mutex_unlock(&lock);
    if (known)
        hc_free(fresh);
    return HCCL_SUCCESS;
}

void
foreign_quiesce(uint64_t lease)
{
    struct offer *gone = NULL, **at;
    int cancel = hc_cancel_off();

    pthread_mutex_lock(&lock);
    for (at = bucket_of(lease); *at != NULL;) {
        struct offer *offer = *at;

        if (offer->lease != lease) {
            at = &offer->next;
            continue;
        }
        *at = offer->next;
        offer->next = gone;
        gone = offer;
    }
    while (lease != 0 && inside == lease) /* O2 */
        pthread_cond_wait(&left, &lock);
    pthread_mutex_unlock(&lock);
    hc_cancel_restore(cancel);
    while (gone != NULL) {
        struct offer *next = gone->next;

        hc_free(gone);
        gone = next;
    }
}

bool
offer_enter(uint64_t lease, uint64_t addr, uint64_t len)
{
    bool found;

    if (lease == 0)
        return false;
    pthread_mutex_lock(&lock);
    found = segment_own_leased(lease) && find(lease, addr, len) != NULL;
    if (found)
        inside = lease;
    pthread_mutex_unlock(&lock);
    return found;
}

void
offer_leave(void)
{
    pthread_mutex_lock(&lock);
    inside = 0;
    pthread_cond_broadcast(&left);
    pthread_mutex_unlock(&lock);
}
