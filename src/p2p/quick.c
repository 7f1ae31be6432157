/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The quick way of one short message on the calling thread: no record of the operation is made, and
 * the communicator is guarded instead of held. Whatever is not the plain case (nobody is queued
 * before it, there is room, the message is there and fits) is left to the long way, which then
 * begins from nothing.
 */
#include <string.h>

#include "p2p/engine.h"
#include "p2p/quick.h"
#include "reduce/reduce.h"

#define LOOKS_LEAST 128u

/* Whether the buffer is inside its allocation, as far as that can be known. What fits into a cell
 * is not asked: it would cost a tenth of the whole. */
static bool
is_inside(const void *buf, uint64_t len)
{
    struct rt_range range;

    if (len <= P2P_INLINE)
        return true;
    rt_mem_find(buf, &range);
    if (range.place == RT_PLACE_PAGEABLE && range.size == 0)
        return true;
    return range.place != RT_PLACE_ELSEWHERE &&
           (uintptr_t)buf - (uintptr_t)range.base <= range.size &&
           len <= range.size - ((uintptr_t)buf - (uintptr_t)range.base);
}

bool
quick_send(const struct quick *quick)
{
    uint32_t size = reduce_type_size(quick->type);
    uint64_t len = quick->count * size;
    struct p2p *p2p;
    struct p2p_pair *pair;
    bool done = false;

    if (size == 0 || quick->count > P2P_EAGER_MOST || (quick->buf == NULL && len > 0) ||
        !is_inside(quick->buf, len))
        return false;
    p2p = comm_enter_guest(quick->comm);
    if (p2p == NULL)
        return false;
    if (len <= p2p->eager_most && quick->peer < p2p->rank_num && quick->tag != HCOMM_ANY_TAG) {
        struct p2p_note note = {.kind = len <= P2P_INLINE ? P2P_CELL_INLINE : P2P_CELL_EAGER,
                                .context = P2P_PROGRAM,
                                .type = quick->type,
                                .tag = quick->tag,
                                .len = len,
                                .bytes = quick->buf};

        hc_spin_lock(&p2p->lock);
        pair = atomic_load_explicit(&p2p->pairs[quick->peer], memory_order_relaxed);
        if (pair != NULL && pair->far != NULL && hc_list_empty(&pair->sends) && !p2p->broken &&
            !pair->gone && len <= pair->far_ring_len / 4 &&
            ring_has_room(pair, len <= P2P_INLINE ? 0 : len) && pair_enter(pair)) {
            ring_put(pair, &note);
            pair_nudge(pair);
            pair_leave(pair);
            done = true;
        }
        p2p_unlock(p2p);
    }
    comm_leave_guest();
    return done;
}

enum found { FOUND_IT, FOUND_NOTHING, FOUND_OTHER };

/* Takes the next message of the pair if it is the plain case. Under the lock. */
static enum found
take(const struct quick *quick, struct p2p_pair *pair, uint64_t room, uint32_t size)
{
    struct tp_region region;
    struct p2p_note note;

    if (!hc_list_empty(&pair->early) || !hc_list_empty(&pair->p2p->posted))
        return FOUND_OTHER;
    if (!ring_peek(pair, &note, &region))
        return FOUND_NOTHING;
    if (note.kind > P2P_CELL_EAGER || note.context != P2P_PROGRAM || note.len > room ||
        (note.tag != quick->tag && (quick->tag != HCOMM_ANY_TAG || note.tag > HCOMM_TAG_MOST)) ||
        (note.len > 0 && reduce_type_size(note.type) != size))
        return FOUND_OTHER;
    if (note.len > 0)
        memcpy(quick->buf, note.bytes, note.len);
    if (quick->info != NULL)
        *quick->info = (HcommRecvInfo){.source = pair->peer,
                                       .tag = note.tag,
                                       .type = (HcclDataType)note.type,
                                       .count = note.len / size,
                                       .bytes = note.len};
    ring_take(pair, &note);
    if (pair_enter(pair)) {
        pair_nudge(pair); /* it may wait for room */
        pair_leave(pair);
    }
    return FOUND_IT;
}

/* Until the next cell has come, for a moment. The area stays, since the guest is guarded. It is
 * looked at undisturbed first: to take part in what the process waits for otherwise, and to give
 * the processor away, cost several times what a message takes. How long, is learned: where messages
 * come late, or there are more ranks than processors, it is hardly anything. */
static bool
look(struct p2p_pair *pair, uint64_t got)
{
    _Atomic uint64_t *head = &pair->own->cells[got % P2P_CELLS].head;
    uint32_t next = (uint32_t)(got + 1), seen = next - 1;
    uint32_t looks = atomic_load_explicit(&pair->looks, memory_order_relaxed);

    for (uint32_t i = 0; i < LOOKS_LEAST + looks; i++) {
        seen = (uint32_t)(atomic_load_explicit(head, memory_order_relaxed) >> 32);
        if (seen != next)
            continue;
        if (looks < P2P_LOOKS)
            atomic_store_explicit(&pair->looks, P2P_LOOKS, memory_order_relaxed);
        return true;
    }
    atomic_store_explicit(&pair->looks, looks / 2, memory_order_relaxed);
    return rt_spin_on(head, seen);
}

bool
quick_recv(const struct quick *quick)
{
    uint32_t size = reduce_type_size(quick->type);
    struct p2p *p2p;
    struct p2p_pair *pair;
    enum found found;
    uint64_t got;

    if (size == 0 || quick->count > UINT32_MAX || quick->buf == NULL ||
        !is_inside(quick->buf, quick->count * size))
        return false;
    p2p = comm_enter_guest(quick->comm);
    if (p2p == NULL)
        return false;
    do {
        found = FOUND_OTHER;
        got = 0;
        hc_spin_lock(&p2p->lock);
        pair = quick->peer < p2p->rank_num
                   ? atomic_load_explicit(&p2p->pairs[quick->peer], memory_order_relaxed)
                   : NULL;
        if (pair != NULL && pair->far != NULL && pair->desks_busy == 0 && !pair->bad) {
            found = take(quick, pair, quick->count * size, size);
            got = pair->cells_got;
            if (found == FOUND_NOTHING && (pair->gone || pair->bad))
                found = FOUND_OTHER;
        }
        p2p_unlock(p2p);
    } while (found == FOUND_NOTHING && look(pair, got));
    comm_leave_guest();
    return found == FOUND_IT;
}
