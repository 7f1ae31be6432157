/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short messages to a rank that is not connected yet, because it has made no call of its own. Their
 * sender must not wait for that: a program may send, then meet that rank somewhere else, and only
 * then have it receive. So they are copied, and go out when the rank comes. Who destroys its
 * communicator waits some seconds for that.
 */
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "p2p/engine.h"

#define NAP_NS 500000l
#define PATIENCE_MS 5000

static const struct timespec nap = {.tv_nsec = NAP_NS};

struct stash {
    struct p2p_call call;
    struct p2p_op op;
    uint8_t bytes[];
};

bool
stash_keep(struct p2p_op *op)
{
    struct p2p *p2p = op->pair->p2p;
    struct stash *stash;

    if (op->pair->far != NULL || op->pair->failed || op->sync || op->patient ||
        op->len > p2p->eager_most || sizeof *stash + op->len > p2p->early_most - p2p->early_len)
        return false;
    stash = hc_zalloc(sizeof *stash + op->len);
    if (stash == NULL)
        return false;
    if (op->len > 0)
        memcpy(stash->bytes, op->buf, op->len);
    p2p->early_len += sizeof *stash + op->len;
    p2p->stashed++;
    stash->call = (struct p2p_call){.p2p = p2p,
                                    .function = op->call->function,
                                    .ops = &stash->op,
                                    .num = 1,
                                    .left = 1,
                                    .started = true};
    stash->op = *op;
    stash->op.buf = stash->bytes;
    stash->op.call = &stash->call;
    stash->op.stashed = true;
    stash->op.state = P2P_QUEUED;
    memset(&stash->op.in_queue, 0, sizeof stash->op.in_queue);
    hc_list_push_back(&op->pair->sends, &stash->op.in_queue);
    return true;
}

void
stash_over(struct p2p_op *op)
{
    struct stash *stash = HC_CONTAINER(op, struct stash, op);

    op->pair->p2p->early_len -= sizeof *stash + op->len;
    op->pair->p2p->stashed--;
    hc_free(stash);
}

/* The far ring is so short that a copy is offered. All other sends of the rank are over. */
static bool
is_at_desk(const struct p2p_pair *pair)
{
    for (uint32_t i = 0; i < P2P_DESKS; i++) {
        if (pair->desk_ops[i] != NULL)
            return true;
    }
    return false;
}

/* Takes back what is offered still. */
static uint32_t
take_back(struct p2p_pair *pair)
{
    struct p2p *p2p = pair->p2p;
    uint32_t lost = 0;

    for (uint32_t i = 0; i < P2P_DESKS; i++) {
        struct p2p_op *op;
        bool over = true;

        do {
            hc_spin_lock(&p2p->lock);
            op = pair->desk_ops[i];
            if (op != NULL)
                over = op_withdraw(op, HCCL_E_UNAVAIL);
            p2p_unlock(p2p);
            if (!over)
                (void)nanosleep(&nap, NULL);
        } while (!over);
        lost += op != NULL;
    }
    return lost;
}

/* Whether messages of a rank that goes are still to go out, and can. */
static bool
is_waiting(struct p2p_pair *pair, uint64_t deadline)
{
    struct p2p *p2p = pair->p2p;
    bool waits;

    if (pair->far == NULL && pair->near && comm_peer_left(p2p->comm, pair->peer))
        return false;
    p2p_invite(p2p);
    pairs_look(p2p);
    hc_spin_lock(&p2p->lock);
    p2p_progress(p2p);
    waits = (!hc_list_empty(&pair->sends) || is_at_desk(pair)) && !pair->failed && !pair->gone &&
            !pair->bad && !p2p->failed && hc_now_ns() < deadline;
    p2p_unlock(p2p);
    return waits;
}

void
stash_end(struct p2p_pair *pair)
{
    struct p2p *p2p = pair->p2p;
    uint64_t deadline = hc_deadline_ms(PATIENCE_MS);
    uint32_t lost = 0;

    while (is_waiting(pair, deadline))
        (void)nanosleep(&nap, NULL);
    hc_spin_lock(&p2p->lock);
    while (!hc_list_empty(&pair->sends)) {
        op_over(HC_CONTAINER(pair->sends.next, struct p2p_op, in_queue), HCCL_E_UNAVAIL);
        lost++;
    }
    p2p_unlock(p2p);
    lost += take_back(pair);
    if (lost > 0)
        LOG_WARN(P2P,
                 "%s: %u messages of rank %u did not reach rank %u, which has made no call for "
                 "messages, or is gone",
                 comm_name(p2p->comm), lost, p2p->rank, pair->peer);
}
