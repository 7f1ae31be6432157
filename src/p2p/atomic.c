/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accumulate, fetch-op and compare-swap: atomic among each other.
 *
 * The target's memory is cut into blocks, and each block has one of the locks in the target's
 * control block. Who updates elements takes the lock of their block, in the initiator's process;
 * nobody is needed at the target. A long accumulate takes one lock at a time.
 *
 * A1  A lock is 0, or the number of the rank that has it plus one. Elements are aligned to their
 *     size and blocks are multiples of all sizes, so each element has one lock.
 * A2  Taking acquires, giving back releases.
 * A3  Under a lock nothing waits for another rank, except that memory which cannot be mapped is
 *     moved through the connection; then the thread cannot be cancelled.
 * A4  Who finds the lock taken by a rank whose connection has ended, looks once more: if it is
 *     still that rank's, it died in the middle, and nobody knows what of the block is new. The lock
 *     stays taken, and all who need it fail.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/thread.h"
#include "p2p/access.h"
#include "reduce/reduce.h"

#define PATIENCE (HC_SPIN_LOOKS + 8u) /* rounds until a stream lets others run */

/* ---- locks ---- */

static bool
try(_Atomic uint64_t *lock, uint64_t me)
{
    uint64_t nobody = 0;

    return atomic_compare_exchange_strong_explicit(lock, &nobody, me, memory_order_acquire,
                                                   memory_order_relaxed); /* A2 */
}

/* Whether `holder` can be waited for (A4). */
static HcclResult
check_holder(const struct access *access, _Atomic uint64_t *lock, uint64_t holder, char *why,
             size_t len)
{
    struct window *window = access->window;
    struct res_channel *channel;
    char how[P2P_WHY_LEN] = "";
    uint32_t rank = (uint32_t)holder - 1;

    if (holder == 0)
        return HCCL_SUCCESS;
    if (holder > window->rank_num) {
        snprintf(why, len, "rank %u, or another one, has overwritten the locks of its memory",
                 access->rank);
        return HCCL_E_REMOTE;
    }
    channel = window->peers[rank].channel;
    if (channel == NULL || !res_channel_ended(channel, how, sizeof how) ||
        atomic_load(lock) != holder)
        return HCCL_SUCCESS;
    window_lost(window, rank, how, sizeof how);
    snprintf(why, len, "rank %u ended while it updated memory of rank %u: %s", rank, access->rank,
             how);
    return HCCL_E_REMOTE;
}

__attribute__((noinline)) static HcclResult
wait_for(const struct access *access, _Atomic uint64_t *lock, bool patient, char *why, size_t len)
{
    struct window *window = access->window;
    uint64_t me = (uint64_t)window->rank + 1, deadline = 0, holder;
    uint32_t round = 0;
    HcclResult rc = HCCL_SUCCESS;

    while (rc == HCCL_SUCCESS) {
        holder = atomic_load_explicit(lock, memory_order_relaxed);
        if (holder == 0 && try(lock, me))
            return HCCL_SUCCESS;
        hc_spin_wait(&round);
        if (round < HC_SPIN_LOOKS)
            continue;
        rc = check_holder(access, lock, holder, why, len);
        if (rc != HCCL_SUCCESS)
            return rc;
        if (atomic_load(&window->closed)) {
            snprintf(why, len, "the window is being destroyed");
            rc = HCCL_E_PARA;
        } else if (!patient && round >= PATIENCE) {
            rc = HCCL_E_AGAIN;
        } else if (deadline == 0) {
            deadline = hc_deadline_ms(window->patience_ms);
        } else if (hc_now_ns() >= deadline) {
            snprintf(why, len, "rank %u has been updating memory of rank %u for %lld ms",
                     (uint32_t)holder - 1, access->rank, (long long)window->patience_ms);
            rc = HCCL_E_TIMEOUT;
        }
    }
    return rc;
}

/* Of the block that `offset` lies in (A1). */
static inline _Atomic uint64_t *
lock_of(const struct access *access, uint64_t offset)
{
    const struct window_peer *peer = &access->window->peers[access->rank];

    return &peer->control->locks[(offset >> peer->block) % WINDOW_STRIPES].word;
}

/* As atomic_accumulate. */
static inline HcclResult
take_lock(const struct access *access, _Atomic uint64_t *lock, bool patient, char *why, size_t len)
{
    if (try(lock, (uint64_t)access->window->rank + 1))
        return HCCL_SUCCESS;
    return wait_for(access, lock, patient, why, len);
}

static inline void
unlock_block(_Atomic uint64_t *lock)
{
    atomic_store_explicit(lock, 0, memory_order_release); /* A2 */
}

/* ---- accumulate ---- */

/* Under the lock. */
static HcclResult
combine(const struct access *access, uint64_t offset, const void *src, uint64_t len)
{
    struct window_peer *peer = &access->window->peers[access->rank];
    uint64_t count = len / reduce_type_size(access->type);
    bool replace = access->op == (uint8_t)HCOMM_REDUCE_REPLACE;
    struct tp_xfer xfer = {.src = src,
                           .len = replace ? len : count,
                           .type = access->type,
                           .op = access->op,
                           .lease = peer->lease};

    if (peer->stand_in == NULL) {
        if (replace)
            copy_bytes(peer->addr + offset, src, len);
        else
            reduce_apply(peer->addr + offset, src, count, access->type, access->op);
        return HCCL_SUCCESS;
    }
    xfer.dst = peer->stand_in + offset;
    return replace ? peer->conn->ops->write(peer->conn, &xfer)
                   : peer->conn->ops->write_reduce(peer->conn, &xfer);
}

static HcclResult
accumulate_block(struct access *access, bool patient, char *why, size_t len)
{
    const struct window_peer *peer = &access->window->peers[access->rank];
    uint64_t offset = access->offset + access->done, part = access->len - access->done;
    uint64_t room = (1ull << peer->block) - (offset & ((1ull << peer->block) - 1));
    _Atomic uint64_t *lock = lock_of(access, offset);
    HcclResult rc = take_lock(access, lock, patient, why, len);

    if (rc != HCCL_SUCCESS)
        return rc;
    part = part < room ? part : room;
    rc = combine(access, offset, (const uint8_t *)access->local + access->done, part);
    unlock_block(lock);
    if (rc == HCCL_SUCCESS)
        access->done += part;
    else if (rc != HCCL_E_AGAIN)
        rc = access_far_failed(access, rc, why, len);
    return rc;
}

HcclResult
atomic_accumulate(struct access *access, bool patient, char *why, size_t len)
{
    bool far = access->window->peers[access->rank].stand_in != NULL;
    int cancel = far ? hc_cancel_off() : 0; /* A3 */
    HcclResult rc = HCCL_SUCCESS;

    while (access->done < access->len && rc == HCCL_SUCCESS)
        rc = accumulate_block(access, patient, why, len);
    if (far)
        hc_cancel_restore(cancel);
    return rc;
}

/* ---- one element ---- */

/* `put`: writes it, else reads it. Under the lock. */
static HcclResult
move_far(const struct access *access, bool put, void *element, uint32_t size)
{
    struct window_peer *peer = &access->window->peers[access->rank];
    uint8_t *far = peer->stand_in + access->offset;
    const struct tp_xfer xfer = {
        .dst = put ? far : element, .src = put ? element : far, .len = size, .lease = peer->lease};
    uint32_t round = 0;
    HcclResult rc;

    for (;;) {
        rc = put ? peer->conn->ops->write(peer->conn, &xfer)
                 : peer->conn->ops->read(peer->conn, &xfer);
        if (rc != HCCL_E_AGAIN)
            return rc;
        hc_spin_wait(&round);
    }
}

/* One store or load each: plain loads of others see old or new, never half. */
static void
load(const struct access *access, void *element, uint32_t size)
{
    const uint8_t *at = access->window->peers[access->rank].addr + access->offset;

    if (size == 8)
        *(uint64_t *)element =
            atomic_load_explicit((const _Atomic uint64_t *)(const void *)at, memory_order_relaxed);
    else
        *(uint32_t *)element =
            atomic_load_explicit((const _Atomic uint32_t *)(const void *)at, memory_order_relaxed);
}

static void
store(const struct access *access, const void *element, uint32_t size)
{
    uint8_t *at = access->window->peers[access->rank].addr + access->offset;

    if (size == 8)
        atomic_store_explicit((_Atomic uint64_t *)(void *)at, *(const uint64_t *)element,
                              memory_order_relaxed);
    else
        atomic_store_explicit((_Atomic uint32_t *)(void *)at, *(const uint32_t *)element,
                              memory_order_relaxed);
}

/* What takes the place of `old`; false: nothing does. */
static bool
successor(const struct access *access, const uint64_t *old, uint64_t *next, uint32_t size)
{
    if (access->kind == ACCESS_SWAP && memcmp(old, access->compare, size) != 0)
        return false;
    if (access->kind == ACCESS_SWAP || access->op == (uint8_t)HCOMM_REDUCE_REPLACE) {
        memcpy(next, access->local, size);
        return true;
    }
    *next = *old;
    reduce_apply(next, access->local, 1, access->type, access->op);
    return true;
}

/* Under the lock. */
static HcclResult
exchange(const struct access *access, uint64_t *old, uint32_t size)
{
    bool far = access->window->peers[access->rank].stand_in != NULL;
    uint64_t next = 0;
    HcclResult rc = HCCL_SUCCESS;

    if (far)
        rc = move_far(access, false, old, size);
    else
        load(access, old, size);
    if (rc != HCCL_SUCCESS || !successor(access, old, &next, size))
        return rc;
    if (far)
        return move_far(access, true, &next, size);
    store(access, &next, size);
    return HCCL_SUCCESS;
}

HcclResult
atomic_exchange_one(struct access *access, bool patient, char *why, size_t len)
{
    bool far = access->window->peers[access->rank].stand_in != NULL;
    uint32_t size = reduce_type_size(access->type);
    int cancel = far ? hc_cancel_off() : 0; /* A3 */
    _Atomic uint64_t *lock = lock_of(access, access->offset);
    uint64_t old = 0;
    HcclResult rc = take_lock(access, lock, patient, why, len);

    if (rc == HCCL_SUCCESS) {
        rc = exchange(access, &old, size);
        unlock_block(lock);
        if (rc == HCCL_SUCCESS)
            memcpy(access->result, &old, size);
        else
            rc = access_far_failed(access, rc, why, len);
    }
    if (far)
        hc_cancel_restore(cancel);
    return rc;
}

/* ---- both, at once ---- */

bool
atomic_try(struct access *access)
{
    const struct window_peer *peer = &access->window->peers[access->rank];
    bool long_one = access->kind == ACCESS_ACCUMULATE;
    uint32_t size = reduce_type_size(access->type);
    uint64_t len = long_one ? access->len : size, block = 1ull << peer->block, old = 0;
    _Atomic uint64_t *lock;

    if ((access->offset & (block - 1)) + len > block)
        return false;
    lock = lock_of(access, access->offset);
    if (!try(lock, (uint64_t)access->window->rank + 1))
        return false;
    if (long_one)
        (void)combine(access, access->offset, access->local, len);
    else
        (void)exchange(access, &old, size);
    unlock_block(lock);
    if (!long_one)
        memcpy(access->result, &old, size);
    return true;
}
