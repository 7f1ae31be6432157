/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What came in, and what may go out. Everything here is under the lock (engine.h, E1).
 *
 * A message of up to `eager_most` bytes goes through the ring. A longer one, or one whose sender
 * wants to know that it was received, is offered: its cell says where its bytes are, and a desk is
 * kept for it. The receive that takes it answers at the desk: who is to move, and where to; or that
 * the bytes are to come in pieces, because neither side can reach the other's buffer; or that it
 * does not want it.
 */
#include <string.h>

#include "p2p/engine.h"

/* What was measured: docs/performance.md; the rest is in the plan (copy/copy.h). */
#define CHUNK_LEAST 32768u /* of two */
#define CHUNK_MOST 131072u
#define CHUNK_ALONE (1024u << 10) /* when one side moves all */

void
op_wake(struct p2p_op *op)
{
    if (op->call->sleeps)
        p2p_wake(op->call);
}

void
op_over(struct p2p_op *op, HcclResult rc)
{
    hc_list_remove(&op->in_queue);
    op->state = P2P_OVER;
    op->rc = rc;
    if (op->stashed)
        stash_over(op);
    else if (op->adopts != NULL)
        adopt_over(op);
    else if (--op->call->left == 0)
        op_wake(op);
}

static inline uint64_t
clamp(uint64_t value, uint64_t least, uint64_t most)
{
    return value < least ? least : value > most ? most : value;
}

/* ---- sending ---- */

static bool
desk_claim(struct p2p_pair *pair, struct p2p_op *op)
{
    if (pair->desks_busy == UINT64_MAX)
        return false;
    op->desk = (uint32_t)__builtin_ctzll(~pair->desks_busy);
    pair->desks_busy |= 1ull << op->desk;
    pair->desk_ops[op->desk] = op;
    op->use = ++pair->desk_uses;
    p2p_desk_set(own_desk(pair, op->desk), P2P_OFFERED, op->use);
    return true;
}

void
desk_free(struct p2p_pair *pair, uint32_t desk)
{
    pair->desks_busy &= ~(1ull << desk);
    pair->desk_ops[desk] = NULL;
}

/* The longest message that goes through the far ring. */
static inline uint64_t
eager_most(const struct p2p_pair *pair)
{
    uint64_t most = pair->far_ring_len / 4;

    return pair->p2p->eager_most < most ? pair->p2p->eager_most : most;
}

/* The kind of cell a message needs. */
static enum p2p_cell_kind
kind_of(const struct p2p_op *op)
{
    if (op->sync || op->len > eager_most(op->pair))
        return P2P_CELL_OFFER;
    return op->len <= P2P_INLINE ? P2P_CELL_INLINE : P2P_CELL_EAGER;
}

/* false: there is no room now. */
static bool
publish(struct p2p_op *op)
{
    struct p2p_pair *pair = op->pair;
    struct p2p_note note = {.kind = kind_of(op),
                            .context = op->context,
                            .type = op->type,
                            .tag = op->tag,
                            .sync = op->sync,
                            .len = op->len,
                            .bytes = op->buf,
                            .region = &op->region};

    if (pair->gone || !ring_has_room(pair, note.kind == P2P_CELL_EAGER ? op->len : 0))
        return false;
    if (note.kind == P2P_CELL_OFFER && !desk_claim(pair, op))
        return false;
    if (!pair_enter(pair)) {
        if (note.kind == P2P_CELL_OFFER)
            desk_free(pair, op->desk);
        return false;
    }
    note.desk = op->desk;
    if (note.kind == P2P_CELL_OFFER)
        (void)tp_region_of(op->buf, op->len, 0, &op->region); /* no lease: cannot fail */
    ring_put(pair, &note);
    pair_nudge(pair);
    pair_leave(pair);
    if (note.kind == P2P_CELL_OFFER) {
        hc_list_remove(&op->in_queue);
        op->phase = P2P_OFFERED;
        op->state = P2P_AT_DESK;
    } else {
        op_over(op, HCCL_SUCCESS);
    }
    return true;
}

static void
publish_all(struct p2p_pair *pair)
{
    while (!hc_list_empty(&pair->sends) &&
           publish(HC_CONTAINER(pair->sends.next, struct p2p_op, in_queue)))
        ;
}

/* The next pieces of a message, as far as there is room. */
static void
send_pieces(struct p2p_pair *pair, struct p2p_op *op)
{
    while (op->moved < op->len) {
        uint64_t left = op->len - op->moved, piece = pair->p2p->plan->piece;
        uint64_t most = clamp(op->len / 4, piece / 2, piece * 2);
        struct p2p_note note = {.kind = P2P_CELL_PIECE, .context = op->context, .desk = op->desk};

        if (most > pair->far_ring_len / 4)
            most = pair->far_ring_len / 4;
        note.len = left < most ? left : most;
        note.bytes = (const uint8_t *)op->buf + op->moved;
        if (!ring_has_room(pair, note.len) || !pair_enter(pair))
            return;
        ring_put(pair, &note);
        pair_nudge(pair);
        pair_leave(pair);
        op->moved += note.len;
    }
    desk_free(pair, op->desk); /* R5 */
    op_over(op, HCCL_SUCCESS);
}

/* What the receiver did at the desk of a send of this rank. */
static void
look_at_own_desk(struct p2p_pair *pair, uint32_t desk)
{
    struct p2p_op *op = pair->desk_ops[desk];
    struct p2p_desk *at = own_desk(pair, desk);
    enum p2p_phase phase = p2p_phase_of(p2p_desk_word(at));

    if (op == NULL) { /* given up: R5 */
        if (phase == P2P_DONE || phase == P2P_REFUSED)
            desk_free(pair, desk);
        return;
    }
    if (op->state != P2P_AT_DESK)
        return; /* its owner moves, or is to */
    op->phase = phase;
    switch (phase) {
    case P2P_MOVE:
        if ((atomic_load(&at->mover) & P2P_PUSH) == 0 || op->tried)
            break;
        op->tried = true;
        op->far = at->region;
        op->state = P2P_TO_MOVE;
        op_wake(op);
        break;
    case P2P_STREAM:
        send_pieces(pair, op);
        break;
    case P2P_DONE:
    case P2P_REFUSED:
        desk_free(pair, desk);
        op_over(op, HCCL_SUCCESS);
        break;
    case P2P_BROKEN:
        desk_free(pair, desk);
        op_failed(op, HCCL_E_REMOTE, "rank %u gave up its receive of %llu bytes, tag %u",
                  pair->peer, (unsigned long long)op->len, op->tag);
        op_over(op, HCCL_E_REMOTE);
        break;
    default:
        break;
    }
}

/* ---- receiving ---- */

/* R7 */
static bool
was_moved(struct p2p_pair *pair, const struct p2p_op *op)
{
    return atomic_load_explicit(&pair->own->done[op->desk], memory_order_acquire) == op->use;
}

/* What the sender, or the moving, did for a receive of this rank. */
static void
look_at_far_desk(struct p2p_pair *pair, struct p2p_op *op)
{
    struct p2p_desk *at = far_desk(pair, op->desk);
    uint64_t word = p2p_desk_word(at);
    bool ours = (uint32_t)word == op->use;
    enum p2p_phase phase = p2p_phase_of(word);

    op->phase = phase;
    if (!op->pieces && (!ours || phase == P2P_DONE)) { /* R5 */
        op_over(op, HCCL_SUCCESS);
    } else if (ours && phase == P2P_BROKEN) {
        (void)p2p_desk_change(at, op->use, P2P_BROKEN, P2P_DONE); /* R5 */
        if (op->pieces)
            pair->piece_ops[op->desk] = NULL;
        op_failed(op, HCCL_E_REMOTE, "rank %u gave up its send of %llu bytes, tag %u", pair->peer,
                  (unsigned long long)op->whole, op->tag);
        op_over(op, HCCL_E_REMOTE);
    }
}

/* When both sides can reach the other's buffer. */
static enum p2p_mover
planned(const struct copy_plan *plan, uint64_t len)
{
    switch (len < plan->large_from ? plan->middle : plan->large) {
    case COPY_PUSH:
        return P2P_PUSH;
    case COPY_BOTH:
        return P2P_BOTH;
    default:
        return P2P_PULL;
    }
}

/* Which ways there are. `direct`: the peer is in this process. */
static enum p2p_mover
movers(const struct p2p_op *op, const struct p2p_note *note)
{
    bool direct = op->pair->near;
    bool push = direct || op->region.place.file != 0;
    bool pull = direct || note->region->place.file != 0;

    if (push && pull)
        return planned(op->pair->p2p->plan, note->len);
    return push ? P2P_PUSH : pull ? P2P_PULL : (enum p2p_mover)0;
}

/* The receiver's answer to an offer; inside. false: it was withdrawn. */
static bool
answer(struct p2p_op *op, struct p2p_desk *at, enum p2p_mover mover)
{
    uint64_t word = p2p_desk_word(at);

    op->use = (uint32_t)word;
    if (p2p_phase_of(word) == P2P_OFFERED) {
        enum p2p_phase next = op->whole == 0 ? P2P_DONE : op->pieces ? P2P_STREAM : P2P_MOVE;

        at->region = op->region;
        at->region.len = op->whole;
        atomic_store_explicit(&at->chunk_len,
                              mover == P2P_BOTH
                                  ? (uint32_t)clamp(op->whole / 4, CHUNK_LEAST, CHUNK_MOST)
                                  : CHUNK_ALONE,
                              memory_order_relaxed);
        atomic_store_explicit(&at->mover, mover, memory_order_relaxed);
        atomic_store_explicit(&at->next, (uint64_t)op->use << 32, memory_order_relaxed);
        atomic_store_explicit(&at->finished, 0, memory_order_relaxed);
        if (p2p_desk_change(at, op->use, P2P_OFFERED, next))
            return true;
    }
    (void)p2p_desk_change(at, op->use, P2P_WITHDRAWN, P2P_DONE); /* R5 */
    return false;
}

bool
op_take_offer(struct p2p_op *op, struct p2p_pair *pair, const struct p2p_note *note)
{
    enum p2p_mover mover;
    bool taken;

    op->pair = pair;
    op->desk = note->desk;
    op->whole = note->len;
    op->far = *note->region;
    (void)tp_region_of(op->buf, op->len, 0, &op->region); /* no lease: cannot fail */
    mover = movers(op, note);
    op->pieces = mover == 0 && note->len > 0;
    taken = pair_enter(pair);
    if (taken) {
        taken = answer(op, far_desk(pair, op->desk), mover);
        pair_nudge(pair);
        pair_leave(pair);
    }
    if (!taken) {
        op->pair = NULL;
        return false;
    }
    op->moved = 0;
    op->phase = P2P_MOVE;
    op->state = P2P_AT_DESK;
    hc_list_remove(&op->in_queue);
    hc_list_push_back(&pair->taken, &op->in_queue);
    if (op->whole == 0) {
        op_over(op, HCCL_SUCCESS);
    } else if (op->pieces) {
        pair->piece_ops[op->desk] = op;
    } else if ((mover & P2P_PULL) != 0) {
        op->state = P2P_TO_MOVE;
        op_wake(op);
    }
    return true;
}

/* A receive that does not want the message: the sender need not know. */
static void
refuse(struct p2p_pair *pair, const struct p2p_note *note)
{
    struct p2p_desk *at = far_desk(pair, note->desk);
    uint32_t use;

    if (note->kind != P2P_CELL_OFFER || !pair_enter(pair))
        return;
    use = (uint32_t)p2p_desk_word(at);
    if (!p2p_desk_change(at, use, P2P_OFFERED, P2P_REFUSED))
        (void)p2p_desk_change(at, use, P2P_WITHDRAWN, P2P_DONE); /* R5 */
    pair_nudge(pair);
    pair_leave(pair);
}

bool
op_deliver(struct p2p_op *op, struct p2p_pair *pair, const struct p2p_note *note)
{
    if (!match_fits(op, pair->peer, note)) {
        refuse(pair, note);
        op_over(op, HCCL_E_PARA);
        return true;
    }
    if (note->kind == P2P_CELL_OFFER)
        return op_take_offer(op, pair, note);
    if (note->len > 0)
        memcpy(op->buf, note->bytes, note->len);
    op_over(op, HCCL_SUCCESS);
    return true;
}

static void
take_piece(struct p2p_pair *pair, const struct p2p_note *note)
{
    struct p2p_op *op = pair->piece_ops[note->desk];

    if (op == NULL || note->len > op->whole - op->moved)
        return; /* given up */
    memcpy((uint8_t *)op->buf + op->moved, note->bytes, note->len);
    op->moved += note->len;
    if (op->moved < op->whole)
        return;
    pair->piece_ops[note->desk] = NULL;
    op_over(op, HCCL_SUCCESS);
}

/* false: there is no place for the message (E3). */
static bool
take_cell(struct p2p_pair *pair, const struct p2p_note *note)
{
    struct p2p_op *op;

    if (note->kind == P2P_CELL_PIECE) {
        take_piece(pair, note);
        return true;
    }
    op = match_posted(pair->p2p, pair->peer, note);
    if (op == NULL) {
        if (note->kind == P2P_CELL_OFFER)
            p2p_wake_all(pair->p2p); /* tasks that send may fetch it: adopt.c */
        return early_keep(pair, note);
    }
    (void)op_deliver(op, pair, note);
    return true;
}

static void
take_cells(struct p2p_pair *pair)
{
    struct tp_region region;
    struct p2p_note note;
    bool any = false;

    while (ring_peek(pair, &note, &region) && take_cell(pair, &note)) {
        ring_take(pair, &note);
        any = true;
    }
    if (any && pair_enter(pair)) {
        pair_nudge(pair); /* it may wait for room */
        pair_leave(pair);
    }
}

/* ---- both ---- */

static void
pair_progress(struct p2p_pair *pair)
{
    struct hc_list *node, *next;

    take_cells(pair);
    for (uint64_t busy = pair->desks_busy; busy != 0; busy &= busy - 1)
        look_at_own_desk(pair, (uint32_t)__builtin_ctzll(busy));
    for (node = pair->taken.next; node != &pair->taken; node = next) {
        struct p2p_op *op = HC_CONTAINER(node, struct p2p_op, in_queue);

        next = node->next;
        if (op->state != P2P_AT_DESK)
            continue;
        if (!op->pieces && was_moved(pair, op)) {
            if (pair_enter(pair)) { /* the sender may have stopped it at the very end: R5 */
                (void)p2p_desk_change(far_desk(pair, op->desk), op->use, P2P_BROKEN, P2P_DONE);
                pair_leave(pair);
            }
            op_over(op, HCCL_SUCCESS);
        } else if (pair_enter(pair)) {
            look_at_far_desk(pair, op);
            pair_leave(pair);
        } else if (op->adopts != NULL && pair->gone) {
            if (pair->piece_ops[op->desk] == op)
                pair->piece_ops[op->desk] = NULL;
            op_failed(op, HCCL_E_REMOTE, "rank %u is gone", pair->peer);
            op_over(op, HCCL_E_REMOTE);
        }
    }
    publish_all(pair);
}

void
p2p_progress(struct p2p *p2p)
{
    HC_LIST_EACH (node, &p2p->live)
        pair_progress(HC_CONTAINER(node, struct p2p_pair, in_live));
}

/* ---- operations start and end ---- */

static void
start_recv(struct p2p *p2p, struct p2p_op *op)
{
    struct p2p_pair *pair;
    struct p2p_early *early;

    op->state = P2P_POSTED;
    while ((early = match_early(p2p, op, &pair)) != NULL) {
        struct p2p_note note = early_note(early);
        bool done;

        if (early->incoming != NULL) { /* adopt.c, A1 */
            early->claimed = op;
            op->claims = early;
            return;
        }
        done = op_deliver(op, pair, &note);
        early_free(pair, early);
        if (done)
            return;
    }
    hc_list_push_back(&p2p->posted, &op->in_queue);
}

void
op_start(struct p2p *p2p, struct p2p_op *op)
{
    if (op->kind == P2P_RECV) {
        start_recv(p2p, op);
        return;
    }
    op->pair = p2p->pairs[op->peer];
    if (stash_keep(op)) {
        op_over(op, HCCL_SUCCESS);
        return;
    }
    op->state = P2P_QUEUED;
    hc_list_push_back(&op->pair->sends, &op->in_queue);
    if (op->pair->far != NULL && op->pair->sends.next == &op->in_queue)
        (void)publish(op);
}
