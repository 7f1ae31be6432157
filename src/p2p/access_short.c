/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accesses on the calling thread, without a locked instruction but that of a notify or of an
 * update's own lock: who looks up a window must not pay more than the stores themselves cost.
 * Whatever is not as usual is left to access.c, which finds out what, and says it.
 *
 * The connection is not asked each time: `look` is set when it changes (window.h, W5). Nothing here
 * waits or can be cancelled, as guards want it; and who destroys the window waits for the copy
 * either way.
 */
#include <string.h>

#include "base/fork.h"
#include "base/guard.h"
#include "base/word.h"
#include "p2p/access.h"
#include "reduce/reduce.h"

#define MOST (1u << 20) /* bytes: beyond, the locked instructions do not count */
#define PLAIN 4096u     /* bytes: nothing is to be learned of copies up to here */

/* The rank whose memory may be used so; NULL: not this way. Under a guard. */
static inline struct window_peer *
usable(struct window *window, uint32_t rank)
{
    struct window_peer *peer;

    if (rank >= window->rank_num || atomic_load_explicit(&window->look, memory_order_relaxed))
        return NULL;
    peer = &window->peers[rank];
    return atomic_load_explicit(&peer->gone, memory_order_relaxed) ? NULL : peer;
}

/* The address of [offset, offset + *len) there, NULL: not this way. */
static inline uint8_t *
reach(struct window_peer *peer, uint64_t offset, uint64_t count, int type, uint32_t right,
      uint64_t *len)
{
    if (__builtin_mul_overflow(count, (uint64_t)reduce_type_size(type), len) || *len == 0 ||
        *len > MOST || peer->addr == NULL || (peer->access & right) == 0 || *len > peer->size ||
        offset > peer->size - *len)
        return NULL;
    return peer->addr + offset;
}

/* Whether the program may use [addr, addr + len), as far as that can be known. What is as short as
 * a cell is not asked, as with messages: it would cost half of the whole. */
static inline bool
is_good(const void *addr, uint64_t len)
{
    struct rt_range range;

    if (len <= P2P_INLINE)
        return addr != NULL;
    rt_mem_find(addr, &range);
    if (range.place == RT_PLACE_PAGEABLE)
        return addr != NULL;
    return range.place != RT_PLACE_ELSEWHERE && range.size >= len &&
           (uintptr_t)addr - (uintptr_t)range.base <= range.size - len;
}

static inline void
move(struct copy_habit *habit, void *dst, const void *src, uint64_t len)
{
    if (len == sizeof(uint64_t))
        memcpy(dst, src, sizeof(uint64_t)); /* one load, one store */
    else if (len == sizeof(uint32_t))
        memcpy(dst, src, sizeof(uint32_t));
    else if (len <= PLAIN)
        copy_bytes(dst, src, len);
    else
        copy_learned(habit, dst, src, len);
}

static inline struct window *
find(HcommWindow handle)
{
    if (hc_in_forked_child())
        return NULL;
    return hc_handle_enter(&window_table, (uint64_t)(uintptr_t)handle);
}

static inline bool
put(struct window_peer *peer, uint64_t offset, const void *src, uint64_t count, int type)
{
    uint64_t len;
    uint8_t *far = reach(peer, offset, count, type, HCOMM_ACCESS_WRITE, &len);

    if (far == NULL || !is_good(src, len))
        return false;
    move(&peer->puts, far, src, len);
    return true;
}

bool
access_short_put(HcommWindow handle, uint32_t rank, uint64_t offset, const void *src,
                 uint64_t count, int type)
{
    struct window *window = find(handle);
    struct window_peer *peer;
    bool done;

    if (window == NULL)
        return false;
    peer = usable(window, rank);
    done = peer != NULL && put(peer, offset, src, count, type);
    hc_handle_leave();
    return done;
}

bool
access_short_get(HcommWindow handle, uint32_t rank, uint64_t offset, void *dst, uint64_t count,
                 int type)
{
    struct window *window = find(handle);
    struct window_peer *peer;
    uint64_t len;
    uint8_t *far;
    bool done = false;

    if (window == NULL)
        return false;
    peer = usable(window, rank);
    far = peer == NULL ? NULL : reach(peer, offset, count, type, HCOMM_ACCESS_READ, &len);
    if (far != NULL && is_good(dst, len)) {
        move(&peer->gets, dst, far, len);
        done = true;
    }
    hc_handle_leave();
    return done;
}

/* ---- accumulate, fetch-op, compare-swap ---- */

static inline bool
is_whole(int type)
{
    return type == HCCL_DATA_TYPE_INT32 || type == HCCL_DATA_TYPE_UINT32 ||
           type == HCCL_DATA_TYPE_INT64 || type == HCCL_DATA_TYPE_UINT64;
}

/* What access_check() asks of an update. */
static inline bool
may_update(struct window_peer *peer, struct access_call *call)
{
    struct access *access = &call->access;
    uint32_t size = reduce_type_size(call->type);
    uint64_t len;

    if (reach(peer, access->offset, call->count, call->type, HCOMM_ACCESS_ACCUMULATE, &len) ==
            NULL ||
        access->offset % size != 0 || (peer->owner_addr + access->offset) % size != 0 ||
        !is_good(access->local, len))
        return false;
    if (access->kind != ACCESS_SWAP && call->op != (int)HCOMM_REDUCE_REPLACE &&
        !reduce_supported(call->type, call->op))
        return false;
    if (access->kind == ACCESS_ACCUMULATE) {
        access->len = len;
        return true;
    }
    return is_whole(call->type) && is_good(access->result, len) &&
           (access->kind == ACCESS_FETCH || is_good(access->compare, len));
}

bool
access_short_update(struct access_call *call)
{
    struct access *access = &call->access;
    struct window *window = find(call->window);
    struct window_peer *peer;
    bool done = false;

    if (window == NULL)
        return false;
    peer = usable(window, access->rank);
    if (peer != NULL && may_update(peer, call)) {
        access->window = window;
        access->type = (uint8_t)call->type;
        access->op = (uint8_t)call->op;
        done = atomic_try(access);
    }
    hc_handle_leave();
    return done;
}

/* ---- notifies ---- */

/* A waiter is woken outside of the guard: what that leads to is not known here. If the window is
 * destroyed meanwhile, so are the waits for its notifies. */
static void
wake(HcommWindow handle, uint32_t rank, uint32_t waiter)
{
    struct window *window = hc_handle_hold(&window_table, (uint64_t)(uintptr_t)handle);

    if (window == NULL)
        return;
    if (window_enter(window)) {
        window_wake_waiter(window, rank, waiter);
        window_leave(window);
    }
    window_release(window);
}

bool
access_short_notify(HcommWindow handle, uint32_t rank, uint64_t offset, const void *src,
                    uint64_t count, int type, uint32_t notify)
{
    struct window *window = find(handle);
    struct window_peer *peer;
    uint32_t waiter = 0;
    uint64_t before;
    bool done = false;

    if (window == NULL)
        return false;
    peer = usable(window, rank);
    if (peer != NULL && notify < HCOMM_WINDOW_NOTIFIES && reduce_type_size(type) != 0 &&
        (count == 0 || put(peer, offset, src, count, type))) {
        waiter = hc_word_post(&peer->control->notifies[notify].word, &before);
        done = true;
    }
    hc_handle_leave();
    if (waiter != 0)
        wake(handle, rank, waiter);
    return done;
}
