/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lease: which of the regions that this process registered are still offered.
 *
 * A lease is [generation:32 | index:32]. The table of generations is the process' own; the one in
 * the segment, which peers read, follows it. So a process without peers needs no segment.
 *
 * S1  A generation of an index is used once, so an old description of a region never becomes
 *     valid again.
 * S2  An index is free again only when no transfer that has seen its lease can still run: neither
 *     one that this process makes on a peer's behalf (foreign_quiesce), nor one of the peers, which
 *     look at the lease once they are counted.
 * S3  Transfers are counted under the turn in which they came in, even or odd. Each end of a lease
 *     begins a turn, and waits for those of the turn before (shm.h C6); one at a time.
 */
#include <pthread.h>
#include <unistd.h>

#include "base/clock.h"

#include "base/log.h"
#include "base/thread.h"
#include "transport/foreign.h"
#include "transport/lease.h"
#include "transport/numbers.h"

#define QUIESCE_MS 10000u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t next_free[SEGMENT_LEASES]; /* under lock */
static struct numbers indexes = {.next = next_free, .most = SEGMENT_LEASES};
static uint32_t last[SEGMENT_LEASES];             /* generation used last; under lock */
static _Atomic uint32_t now_held[SEGMENT_LEASES]; /* as in the segment; written under lock */
static _Atomic uint32_t turn;                     /* as in the segment; written under lock */
static struct shm_segment *shown;                 /* NULL: peers see none yet; under lock */

/* Under lock. */
static void
set(uint32_t index, uint32_t generation)
{
    atomic_store(&now_held[index], generation);
    if (shown != NULL)
        atomic_store(&shown->leases[index], generation);
}

HcclResult
tp_lease_begin(uint64_t *lease)
{
    uint32_t index;

    pthread_mutex_lock(&lock);
    index = numbers_take(&indexes);
    if (index != NUMBERS_NONE) {
        if (++last[index] == 0)
            last[index] = 1; /* 0 is nobody's */
        set(index, last[index]);
        *lease = ((uint64_t)last[index] << 32) | index;
    }
    pthread_mutex_unlock(&lock);
    if (index != NUMBERS_NONE)
        return HCCL_SUCCESS;
    LOG_ERROR(SHM, "%u regions are registered, and there is no room for more: release some",
              SEGMENT_LEASES);
    return HCCL_E_MEMORY;
}

uint32_t
lease_turn(void)
{
    return atomic_load(&turn);
}

static uint32_t
next_turn(void)
{
    uint32_t old;

    pthread_mutex_lock(&lock);
    old = atomic_fetch_add(&turn, 1);
    if (shown != NULL)
        atomic_store(&shown->turn, old + 1);
    pthread_mutex_unlock(&lock);
    return old % 2;
}

/* S2, S3. */
static void
quiesce(void)
{
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    uint32_t old;
    uint64_t deadline = hc_deadline_ms(QUIESCE_MS);
    int cancel = hc_cancel_off();
    unsigned nap_us = 20;

    pthread_mutex_lock(&one_at_a_time);
    old = next_turn();
    while (!loop_quiet(old) || !shm_quiet(old)) {
        if (hc_now_ns() >= deadline) {
            LOG_WARN(
                SHM,
                "a peer has been reading or writing for %u s while memory was unregistered: it "
                "may still touch that memory",
                QUIESCE_MS / 1000);
            break;
        }
        usleep(nap_us);
        nap_us = nap_us < 1000 ? 2 * nap_us : nap_us;
    }
    pthread_mutex_unlock(&one_at_a_time);
    hc_cancel_restore(cancel);
}

void
tp_lease_end(uint64_t lease)
{
    uint32_t index = (uint32_t)lease;
    bool held;

    if (lease == 0)
        return;
    pthread_mutex_lock(&lock);
    held = segment_own_leased(lease);
    if (held)
        set(index, 0);
    pthread_mutex_unlock(&lock);
    if (!held)
        return; /* ended already, or none */
    foreign_quiesce(lease);
    quiesce();
    pthread_mutex_lock(&lock);
    numbers_give(&indexes, index); /* S2 */
    pthread_mutex_unlock(&lock);
}

void
lease_show(struct shm_segment *segment)
{
    pthread_mutex_lock(&lock);
    shown = segment;
    atomic_store(&segment->turn, atomic_load(&turn));
    for (uint32_t i = 0; i < indexes.used; i++)
        atomic_store(&segment->leases[i], atomic_load(&now_held[i]));
    pthread_mutex_unlock(&lock);
}

static bool
holds(const _Atomic uint32_t *table, uint64_t lease)
{
    uint32_t index = (uint32_t)lease, generation = (uint32_t)(lease >> 32);

    if (lease == 0)
        return true;
    return index < SEGMENT_LEASES && generation != 0 && atomic_load(&table[index]) == generation;
}

bool
segment_leased(const struct shm_segment *segment, uint64_t lease)
{
    return holds(segment->leases, lease);
}

bool
segment_own_leased(uint64_t lease)
{
    return holds(now_held, lease);
}
