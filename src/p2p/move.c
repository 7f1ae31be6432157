/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Large messages, from buffer to buffer (ring.h, R6). The owner of an operation does this without
 * the lock; the desk says how far the moving has come, to both ends.
 */
#include "p2p/engine.h"

#define LONG_LEN (256u << 10) /* from here on another executor may run what else is ready */

bool
pair_enter_move(struct p2p_pair *pair)
{
    atomic_fetch_add(&pair->own->moves, 1);
    if (pair_is_open(pair))
        return true;
    pair_leave_move(pair);
    return false;
}

void
pair_leave_move(struct p2p_pair *pair)
{
    atomic_fetch_sub_explicit(&pair->own->moves, 1, memory_order_release);
}

/* The next chunk of `num` that nobody has claimed: R6. */
static bool
claim(struct p2p_desk *desk, uint32_t use, uint32_t num, uint32_t *at)
{
    uint64_t next = atomic_load_explicit(&desk->next, memory_order_relaxed);

    do {
        if ((uint32_t)(next >> 32) != use || (uint32_t)next >= num)
            return false;
    } while (!atomic_compare_exchange_weak(&desk->next, &next, next + 1));
    *at = (uint32_t)next;
    return true;
}

/* Chunks, until there are no more to claim. true: the last one is done, and so the message. */
static bool
move_chunks(struct p2p_op *op, struct p2p_desk *desk, void *far)
{
    bool sends = op->kind == P2P_SEND, last = false;
    uint64_t len = sends ? op->len : op->whole, chunk = p2p_chunk_len(desk);
    uint32_t num = p2p_chunk_num(chunk, len), at;

    while (claim(desk, op->use, num, &at)) {
        uint64_t from = at * chunk, part = len - from < chunk ? len - from : chunk;
        uint8_t *own_at = (uint8_t *)op->buf + from, *far_at = (uint8_t *)far + from;

        copy_learned(sends ? &op->pair->out : &op->pair->in, sends ? far_at : own_at,
                     sends ? own_at : far_at, part);
        last = atomic_fetch_add(&desk->finished, 1) + 1 == num;
    }
    return last;
}

/* This end cannot reach the other's buffer: the other moves, or nobody. */
static void
step_back(struct p2p_op *op, struct p2p_desk *desk)
{
    uint32_t own = op->kind == P2P_SEND ? P2P_PUSH : P2P_PULL;

    if ((atomic_fetch_and(&desk->mover, ~own) & ~own) == 0)
        (void)p2p_desk_change(desk, op->use, P2P_MOVE, P2P_BROKEN);
}

static HcclResult
reach(struct p2p_op *op, void **far)
{
    struct p2p_pair *pair = op->pair;

    op->far.len = op->kind == P2P_SEND ? op->len : op->whole;
    if (pair->conn != NULL)
        return pair->conn->ops->reach(pair->conn, &op->far, far);
    *far = (void *)(uintptr_t)op->far.addr; /* to oneself */
    return HCCL_SUCCESS;
}

static void
unreach(struct p2p_op *op, void *far)
{
    if (op->pair->conn != NULL)
        op->pair->conn->ops->unreach(op->pair->conn, &op->far, far);
}

static void
move(struct p2p_op *op)
{
    struct p2p_pair *pair = op->pair;
    struct p2p_desk *desk =
        op->kind == P2P_SEND ? &pair->own->desks[op->desk] : &pair->far->desks[op->desk];
    bool is_long = (op->kind == P2P_SEND ? op->len : op->whole) >= LONG_LEN;
    void *far;

    if (!pair_enter_move(pair))
        return; /* it will be noticed that the peer is gone */
    if (reach(op, &far) != HCCL_SUCCESS) {
        step_back(op, desk);
    } else {
        if (is_long)
            rt_sched_long_begin();
        if (move_chunks(op, desk, far)) {
            struct p2p_area *receiver = op->kind == P2P_SEND ? pair->far : pair->own;

            atomic_store_explicit(&receiver->done[op->desk], op->use, memory_order_release);
            (void)p2p_desk_change(desk, op->use, P2P_MOVE, P2P_DONE); /* R7 */
        }
        if (is_long)
            rt_sched_long_end();
        unreach(op, far);
    }
    pair_leave_move(pair);
}

/* One that is to be moved, now MOVING; NULL: none. */
static struct p2p_op *
next_to_move(struct p2p_call *call)
{
    for (uint32_t i = 0; i < call->num; i++) {
        if (call->ops[i].state != P2P_TO_MOVE)
            continue;
        call->ops[i].state = P2P_MOVING; /* E5 */
        return &call->ops[i];
    }
    return NULL;
}

bool
call_move(struct p2p_call *call)
{
    struct p2p *p2p = call->p2p;
    struct p2p_op *op;
    bool any = false;

    while ((op = next_to_move(call)) != NULL) {
        any = true;
        p2p_unlock(p2p);
        move(op);
        hc_spin_lock(&p2p->lock);
        op->state = P2P_AT_DESK;
        if (pair_enter(op->pair)) {
            pair_nudge(op->pair);
            pair_leave(op->pair);
        }
    }
    return any;
}
