/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cells in and out. The layout and its invariants are in ring.h.
 *
 * A piece of the byte ring is never split: what does not fit before the end of the ring begins at
 * its start, and both sides count the gap.
 */
#include <string.h>

#include "base/log.h"
#include "p2p/engine.h"

/* What `len` bytes take of a ring of which `at` bytes have been used so far. */
static inline uint64_t
span(uint64_t at, uint64_t len, uint32_t ring_len)
{
    uint64_t to_end = ring_len - (at & (ring_len - 1)), padded = p2p_padded(len);

    return padded <= to_end ? padded : to_end + padded;
}

static inline uint8_t *
place(struct p2p_area *area, uint64_t at, uint64_t len, uint32_t ring_len)
{
    uint64_t from = at & (ring_len - 1);

    return area->bytes + (p2p_padded(len) <= ring_len - from ? from : 0);
}

/* The far end's counts are believed only as far as they can be true. */
static void
see_taken(struct p2p_pair *pair)
{
    uint64_t word = atomic_load_explicit(&pair->far->cells_taken, memory_order_acquire); /* R2 */
    uint64_t cells = pair->cells_taken + ((uint32_t)(word >> 32) - (uint32_t)pair->cells_taken);
    uint64_t bytes = atomic_load_explicit(&pair->far->bytes_taken, memory_order_acquire);

    if (cells - pair->cells_taken <= pair->cells_put - pair->cells_taken)
        pair->cells_taken = cells;
    if (bytes - pair->bytes_taken <= pair->bytes_put - pair->bytes_taken)
        pair->bytes_taken = bytes;
}

bool
ring_has_room(struct p2p_pair *pair, uint64_t len)
{
    uint64_t need = len == 0 ? 0 : span(pair->bytes_put, len, pair->far_ring_len);
    uint64_t most = need > pair->far_ring_len ? 0 : pair->far_ring_len - need;

    if (need > pair->far_ring_len)
        return false;
    if (pair->cells_put - pair->cells_taken < P2P_CELLS &&
        pair->bytes_put - pair->bytes_taken <= most)
        return true;
    if (!pair_enter(pair))
        return false;
    see_taken(pair);
    pair_leave(pair);
    return pair->cells_put - pair->cells_taken < P2P_CELLS &&
           pair->bytes_put - pair->bytes_taken <= most;
}

void
ring_put(struct p2p_pair *pair, const struct p2p_note *note)
{
    struct p2p_cell *cell = &pair->far->cells[pair->cells_put % P2P_CELLS];
    uint64_t number = (uint32_t)(pair->cells_put + 1);

    if (note->kind == P2P_CELL_INLINE) {
        if (note->len > 0)
            memcpy(cell->u.bytes, note->bytes, note->len);
    } else if (note->kind == P2P_CELL_OFFER) {
        cell->u.region = *note->region;
    } else {
        memcpy(place(pair->far, pair->bytes_put, note->len, pair->far_ring_len), note->bytes,
               note->len);
        pair->bytes_put += span(pair->bytes_put, note->len, pair->far_ring_len);
    }
    cell->kind = (uint8_t)note->kind;
    cell->type = (uint8_t)note->type;
    cell->context = (uint8_t)note->context;
    cell->sync = note->sync;
    cell->desk = note->desk;
    cell->len = note->len;
    atomic_store_explicit(&cell->head, number << 32 | note->tag, memory_order_release); /* R1 */
    pair->cells_put++;
}

/* Another process wrote it. */
static bool
makes_sense(const struct p2p_pair *pair, const struct p2p_note *note)
{
    if ((unsigned)note->context >= P2P_CONTEXTS)
        return false;
    switch (note->kind) {
    case P2P_CELL_INLINE:
        return note->len <= P2P_INLINE;
    case P2P_CELL_EAGER:
        return note->len <= pair->p2p->ring_len / 2;
    case P2P_CELL_OFFER:
        return note->desk < P2P_DESKS;
    case P2P_CELL_PIECE:
        return note->desk < P2P_DESKS && note->len <= pair->p2p->ring_len / 2;
    default:
        return false;
    }
}

bool
ring_peek(struct p2p_pair *pair, struct p2p_note *note, struct tp_region *region)
{
    struct p2p_cell *cell = &pair->own->cells[pair->cells_got % P2P_CELLS];
    uint64_t head = atomic_load_explicit(&cell->head, memory_order_acquire); /* R1 */

    if ((uint32_t)(head >> 32) != (uint32_t)(pair->cells_got + 1) || pair->bad)
        return false;
    note->kind = (enum p2p_cell_kind)cell->kind;
    note->context = (enum p2p_context)cell->context;
    note->type = cell->type;
    note->sync = cell->sync != 0;
    note->tag = (uint32_t)head;
    note->desk = cell->desk;
    note->len = cell->len;
    note->region = region;
    if (!makes_sense(pair, note)) {
        pair->bad = true;
        p2p_wake_all(pair->p2p);
        LOG_ERROR(P2P,
                  "%s: rank %u: a message of rank %u makes no sense: its process has "
                  "overwritten memory, or runs another version",
                  comm_name(pair->p2p->comm), pair->p2p->rank, pair->peer);
        return false;
    }
    if (note->kind == P2P_CELL_OFFER)
        *region = cell->u.region;
    note->bytes = note->kind == P2P_CELL_INLINE
                      ? cell->u.bytes
                      : place(pair->own, pair->bytes_got, note->len, pair->p2p->ring_len);
    return true;
}

void
ring_take(struct p2p_pair *pair, const struct p2p_note *note)
{
    pair->cells_got++;
    if (note->kind == P2P_CELL_EAGER || note->kind == P2P_CELL_PIECE) {
        pair->bytes_got += span(pair->bytes_got, note->len, pair->p2p->ring_len);
        atomic_store_explicit(&pair->own->bytes_taken, pair->bytes_got, memory_order_release);
    }
    atomic_store_explicit(&pair->own->cells_taken, pair->cells_got << 32, memory_order_release);
}
