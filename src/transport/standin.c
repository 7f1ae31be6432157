/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * standin: address ranges without access that stand for memory of peers.
 *
 * They stand in an array in the order of their addresses. Every transfer of the shm transport asks
 * whether its remote address lies in one, most of them in vain: so the ranges are put side by side
 * in a far corner of the address space where the system lets us, and two loads of the corner's
 * bounds answer nearly always.
 *
 * S1  The array changes under the write lock; the bounds only grow while there are stand-ins.
 * S2  A stand-in is used under the read lock or with `users` raised under it. Who removes one takes
 *     it out of the array, then waits for `users`; then no one can come.
 */
#define _GNU_SOURCE
#include "transport/standin.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/futex.h"
#include "base/log.h"
#include "base/thread.h"

#define REMOVING 0x80000000u                /* in `users` */
#define PAGE_BITS 4095u                     /* of the peer's address are kept, for alignment */
#define CORNER_BEGIN ((uint64_t)0x20 << 40) /* 32 TiB; a wish, nothing depends on it */
#define CORNER_END ((uint64_t)0x40 << 40)
#define GAP ((uint64_t)1 << 16) /* between two, so that an overrun of one is not in the next */

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct standin **all;              /* [num], ordered; under lock */
static uint32_t num, room;                /* under lock */
static uint64_t next_wish = CORNER_BEGIN; /* under lock */
static _Atomic uint64_t lowest, highest;  /* no stand-in lies outside; written under lock */

/* How many begin at or before `addr`. Under lock. */
static uint32_t
rank_of(uint64_t addr)
{
    uint32_t least = 0, most = num;

    while (least < most) {
        uint32_t middle = least + (most - least) / 2;

        if (all[middle]->local <= addr)
            least = middle + 1;
        else
            most = middle;
    }
    return least;
}

/* Under lock. */
static struct standin *
find(uint64_t addr)
{
    uint32_t rank = rank_of(addr);
    struct standin *standin = rank == 0 ? NULL : all[rank - 1];

    if (standin == NULL || (addr - standin->local >= standin->len && addr != standin->local))
        return NULL;
    return standin;
}

/* What is reserved begins at a page, and ends with the gap, wherever the system puts it. */
static uint64_t
reserved_len(uint64_t addr, uint64_t len)
{
    return (addr & PAGE_BITS) + len + GAP;
}

/* Address of the range for `region`, 0: none (logged). Under the write lock. */
static uint64_t
reserve(const struct tp_region *region)
{
    uint64_t offset = region->addr & PAGE_BITS;
    uint64_t len = reserved_len(region->addr, region->len);
    void *base = mmap((void *)(uintptr_t)next_wish, len, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (base == MAP_FAILED) {
        LOG_ERROR(SHM,
                  "cannot reserve %llu bytes of address space for memory of another process: "
                  "%s; see `ulimit -v`",
                  (unsigned long long)len, strerror(errno));
        return 0;
    }
    next_wish = ((uint64_t)(uintptr_t)base + len + GAP) & ~(GAP - 1);
    if (next_wish < CORNER_BEGIN || next_wish > CORNER_END)
        next_wish = CORNER_BEGIN; /* the system goes elsewhere when that is taken */
    return (uint64_t)(uintptr_t)base + offset;
}

static void
unreserve(const struct standin *standin)
{
    uint64_t offset = standin->local & PAGE_BITS;

    (void)munmap((void *)(uintptr_t)(standin->local - offset),
                 reserved_len(standin->local, standin->len));
}

/* Room for one more. Under the write lock. */
static HcclResult
grow(void)
{
    uint32_t more = room == 0 ? 16 : 2 * room;
    struct standin **fresh;

    if (num < room)
        return HCCL_SUCCESS;
    fresh = hc_realloc(all, more * sizeof(struct standin *));
    if (fresh == NULL)
        return HCCL_E_MEMORY;
    all = fresh;
    room = more;
    return HCCL_SUCCESS;
}

/* Under the write lock, with room. */
static void
insert(struct standin *standin)
{
    uint32_t at = rank_of(standin->local);
    uint64_t end = standin->local + (standin->len == 0 ? 1 : standin->len);

    memmove(&all[at + 1], &all[at], (num - at) * sizeof(struct standin *));
    all[at] = standin;
    if (num == 0 || standin->local < atomic_load_explicit(&lowest, memory_order_relaxed))
        atomic_store_explicit(&lowest, standin->local, memory_order_relaxed);
    if (end > atomic_load_explicit(&highest, memory_order_relaxed))
        atomic_store_explicit(&highest, end, memory_order_relaxed);
    num++;
}

/* Under the write lock. */
static void
take_out(uint32_t at)
{
    num--;
    memmove(&all[at], &all[at + 1], (num - at) * sizeof(struct standin *));
    if (num > 0)
        return;
    atomic_store_explicit(&highest, 0, memory_order_relaxed);
    next_wish = CORNER_BEGIN;
    hc_free(all);
    all = NULL;
    room = 0;
}

HcclResult
standin_add(struct foreign_peer *peer, const struct tp_region *region, struct standin **out)
{
    struct standin *standin = hc_zalloc(sizeof *standin);
    HcclResult rc = HCCL_E_MEMORY;

    if (standin == NULL)
        return HCCL_E_MEMORY;
    *standin = (struct standin){
        .len = region->len, .addr = region->addr, .lease = region->lease, .peer = peer};
    pthread_rwlock_wrlock(&lock);
    rc = grow();
    if (rc == HCCL_SUCCESS) {
        standin->local = reserve(region);
        rc = standin->local == 0 ? HCCL_E_MEMORY : HCCL_SUCCESS;
    }
    if (rc == HCCL_SUCCESS) {
        insert(standin);
    } else if (num == 0) {
        hc_free(all);
        all = NULL;
        room = 0;
    }
    pthread_rwlock_unlock(&lock);
    if (rc != HCCL_SUCCESS) {
        hc_free(standin);
        return rc;
    }
    *out = standin;
    return HCCL_SUCCESS;
}

bool
foreign_is(const void *addr)
{
    uint64_t at = (uint64_t)(uintptr_t)addr;
    bool found;

    if (at >= atomic_load_explicit(&highest, memory_order_relaxed) ||
        at < atomic_load_explicit(&lowest, memory_order_relaxed))
        return false;
    pthread_rwlock_rdlock(&lock);
    found = find(at) != NULL;
    pthread_rwlock_unlock(&lock);
    return found;
}

struct standin *
standin_use(const void *addr)
{
    struct standin *standin;

    pthread_rwlock_rdlock(&lock);
    standin = find((uint64_t)(uintptr_t)addr);
    if (standin != NULL)
        atomic_fetch_add_explicit(&standin->users, 1, memory_order_relaxed);
    pthread_rwlock_unlock(&lock);
    return standin;
}

void
standin_unuse(struct standin *standin)
{
    if (atomic_fetch_sub_explicit(&standin->users, 1, memory_order_release) == (REMOVING | 1))
        hc_futex_wake(&standin->users, 1); /* it may be gone; a wake too many does no harm */
}

struct foreign_peer *
standin_remove(const void *local)
{
    struct standin *standin = NULL;
    struct foreign_peer *peer;
    uint32_t rank, users;

    pthread_rwlock_wrlock(&lock);
    rank = rank_of((uint64_t)(uintptr_t)local);
    if (rank > 0 && all[rank - 1]->local == (uint64_t)(uintptr_t)local) {
        standin = all[rank - 1];
        take_out(rank - 1);
    }
    pthread_rwlock_unlock(&lock);
    if (standin == NULL)
        return NULL;
    users = atomic_fetch_or_explicit(&standin->users, REMOVING, memory_order_acquire) | REMOVING;
    while (users != REMOVING) { /* S2 */
        hc_futex_wait(&standin->users, users, HC_FOREVER);
        users = atomic_load_explicit(&standin->users, memory_order_acquire);
    }
    peer = standin->peer;
    unreserve(standin);
    hc_free(standin);
    return peer;
}
