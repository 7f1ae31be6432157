/* SPDX-License-Identifier: BSD-3-Clause */
/* How an operation is taken back (ring.h, R5 and R6). Everything here is under the lock. */
#include "base/clock.h"
#include "base/log.h"
#include "p2p/engine.h"

#define PATIENCE_MS 10000

/* The peer's process stands still in the middle of a chunk: it is waited for so long, no longer. */
static bool
is_stuck(struct p2p_op *op)
{
    if (hc_now_ns() - op->stopped_ns < PATIENCE_MS * 1000000ull)
        return false;
    LOG_WARN(
        P2P,
        "%s: rank %u has been moving bytes of a message of rank %u for %d s after it was given "
        "up: it may be stopped; they may still come",
        comm_name(op->pair->p2p->comm), op->pair->peer, op->pair->p2p->rank, PATIENCE_MS / 1000);
    return true;
}

/* R6. true: no byte moves any more, but for those that a dead process began. */
static bool
stop_moving(struct p2p_op *op, struct p2p_desk *at)
{
    if (!op->stopped) {
        uint64_t stop = (uint64_t)op->use << 32 | P2P_STOP;
        uint32_t next = (uint32_t)atomic_exchange(&at->next, stop);
        uint32_t all = p2p_chunk_num(p2p_chunk_len(at), op->whole);

        op->claimed = next < all ? next : next == P2P_STOP ? UINT32_MAX : all;
        op->stopped = true;
        op->stopped_ns = hc_now_ns();
    }
    if (op->pair->dead || is_stuck(op))
        return true;
    if (op->claimed == UINT32_MAX) /* the other end has stopped it, and counts */
        return p2p_phase_of(p2p_desk_word(at)) != P2P_MOVE;
    return atomic_load(&at->finished) >= op->claimed;
}

/* The sender's half of leave_desk(). */
static bool
leave_own_desk(struct p2p_op *op)
{
    struct p2p_pair *pair = op->pair;
    struct p2p_desk *at = own_desk(pair, op->desk);
    uint64_t word = p2p_desk_word(at);
    enum p2p_phase phase = p2p_phase_of(word);
    enum p2p_phase to = phase == P2P_OFFERED ? P2P_WITHDRAWN : P2P_BROKEN;

    op->whole = op->len;
    if ((uint32_t)word != op->use) {
        pair->bad = true; /* nobody but this rank begins a use */
        phase = P2P_DONE;
    }
    if (phase == P2P_MOVE && !stop_moving(op, at))
        return false;
    if (phase == P2P_OFFERED || phase == P2P_MOVE || phase == P2P_STREAM) {
        if (!p2p_desk_change(at, op->use, phase, to))
            return false;                /* the receiver was faster: look again */
        pair->desk_ops[op->desk] = NULL; /* R5: the receiver answers */
    } else {
        desk_free(pair, op->desk);
    }
    return true;
}

/* The receiver's. */
static bool
leave_far_desk(struct p2p_op *op)
{
    struct p2p_desk *at = far_desk(op->pair, op->desk);
    uint64_t word = p2p_desk_word(at);
    enum p2p_phase phase = p2p_phase_of(word);

    if ((uint32_t)word != op->use)
        return true; /* R5: it was DONE */
    if (phase == P2P_MOVE && !stop_moving(op, at))
        return false;
    if (phase == P2P_MOVE || phase == P2P_STREAM)
        return p2p_desk_change(at, op->use, phase, P2P_BROKEN); /* else look again */
    (void)p2p_desk_change(at, op->use, P2P_BROKEN, P2P_DONE);
    return true;
}

/* The desk of a send or receive that gives up. false: bytes are under way. */
static bool
leave_desk(struct p2p_op *op)
{
    struct p2p_pair *pair = op->pair;
    bool sends = op->kind == P2P_SEND, quiet = true;

    if (pair_enter(pair)) { /* else the far rank has withdrawn its part before it closed (R4) */
        quiet = sends ? leave_own_desk(op) : leave_far_desk(op);
        pair_nudge(pair);
        pair_leave(pair);
    }
    if (!quiet)
        return false;
    if (sends && pair->desk_ops[op->desk] == op)
        pair->desk_ops[op->desk] = NULL;
    if (!sends && pair->piece_ops[op->desk] == op)
        pair->piece_ops[op->desk] = NULL;
    return true;
}

bool
op_withdraw(struct p2p_op *op, HcclResult rc)
{
    if (op->state == P2P_OVER)
        return true;
    if ((op->state == P2P_AT_DESK || op->state == P2P_TO_MOVE) && !leave_desk(op))
        return false;
    if (op->claims != NULL)
        op->claims->claimed = NULL;
    op_over(op, rc);
    return true;
}
