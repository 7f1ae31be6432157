/* SPDX-License-Identifier: BSD-3-Clause */
/* When a call can only end in vain, and how it ends then. The design is in call.c. */
#include <stdio.h>

#include "base/clock.h"
#include "p2p/engine.h"

#define LOOK_MS 50 /* between two looks at other ranks */

/* The pair that `op` needs, if nothing can come of it any more. Under the lock. */
struct p2p_pair *
op_dead_pair(struct p2p *p2p, const struct p2p_op *op)
{
    struct p2p_pair *pair = op->pair;
    uint32_t gone = 0;

    if (pair == NULL && op->peer != HCOMM_ANY_RANK)
        pair = p2p->pairs[op->peer];
    if (pair == NULL && op->claims != NULL && op->claims->incoming != NULL)
        pair = op->claims->incoming->pair;
    if (pair != NULL)
        return pair->gone || pair->failed || pair->bad ? pair : NULL;
    for (uint32_t i = 0; i < p2p->rank_num; i++) {
        if (i == p2p->rank || p2p->pairs[i] == NULL ||
            !(p2p->pairs[i]->gone || p2p->pairs[i]->failed))
            continue;
        gone++;
        if (gone + 1 >= p2p->rank_num || p2p->pairs[i]->died)
            return p2p->pairs[i];
    }
    return NULL;
}

/* A pair that is not connected, and should be by now. Under the lock. */
static struct p2p_pair *
late_pair(struct p2p *p2p, const struct p2p_op *op)
{
    struct p2p_pair *pair = op->peer == HCOMM_ANY_RANK ? NULL : p2p->pairs[op->peer];

    if (pair == NULL || pair->far != NULL || op->patient ||
        hc_now_ns() < pair->since_ns + (uint64_t)p2p->connect_ms * 1000000u)
        return NULL;
    return pair;
}

enum vain { VAIN_NOT, VAIN_DEAD, VAIN_LATE, VAIN_BROKEN, VAIN_TIME };

/* Why the call can only end in vain, of which operation, and because of which pair. Under the lock.
 */
static enum vain
look_for_vain(struct p2p_call *call, struct p2p_op **vain, struct p2p_pair **pair)
{
    struct p2p *p2p = call->p2p;

    *vain = NULL;
    for (uint32_t i = 0; i < call->num; i++) {
        struct p2p_op *op = &call->ops[i];

        if (op->state == P2P_OVER)
            continue;
        if (*vain == NULL)
            *vain = op;
        *pair = op_dead_pair(p2p, op);
        if (*pair == NULL)
            *pair = late_pair(p2p, op);
        if (*pair == NULL)
            continue;
        *vain = op;
        return (*pair)->far == NULL && !(*pair)->failed ? VAIN_LATE : VAIN_DEAD;
    }
    if (p2p->broken)
        return VAIN_BROKEN;
    return call->deadline_ns != UINT64_MAX && hc_now_ns() >= call->deadline_ns ? VAIN_TIME
                                                                               : VAIN_NOT;
}

/* Takes note of why. Not under the lock, but to store it. */
static void
say_why(struct p2p_op *op, enum vain vain, struct p2p_pair *pair)
{
    struct p2p *p2p = op->call->p2p;
    char what[P2P_WHY_LEN / 2], why[P2P_WHY_LEN];
    const char *full = "";

    call_describe(op->call, what, sizeof what);
    if (vain == VAIN_DEAD)
        pair_lost(pair, why, sizeof why);
    hc_spin_lock(&p2p->lock);
    if (p2p->early_len + P2P_INLINE >= p2p->early_most / 2)
        full = "; messages that nobody has received are in the way: receive them, or raise "
               "HCOMM_P2P_UNEXPECTED";
    switch (vain) {
    case VAIN_DEAD:
        op_failed(op, HCCL_E_REMOTE, "waited in vain for %s: %s", what, why);
        break;
    case VAIN_LATE:
        op_failed(op, HCCL_E_TIMEOUT,
                  "waited in vain for %s: rank %u has not called any point-to-point function on "
                  "this communicator within %u s",
                  what, pair->peer, (unsigned)(p2p->connect_ms / 1000));
        break;
    case VAIN_BROKEN:
        op_failed(op, HCCL_E_REMOTE, "waited in vain for %s: %s", what, p2p->why);
        break;
    default:
        op_failed(op, HCCL_E_TIMEOUT, "time is up for %s, and it has not come%s", what, full);
    }
    p2p_unlock(p2p);
}

/* Takes back what is not over. true: all is. Under the lock. */
static bool
withdraw_all(struct p2p_call *call)
{
    bool all = true;

    for (uint32_t i = 0; i < call->num; i++)
        all = op_withdraw(&call->ops[i], call->rc) && all;
    return all;
}

/* Part of a collective waits for a peer that may wait for another one, which has failed, and which
 * this rank exchanges no messages with. */
static void
look_at_ranks(struct p2p_call *call)
{
    struct p2p *p2p = call->p2p;
    bool first = call->look_ns == 0;
    char why[P2P_WHY_LEN];
    uint64_t now;

    if (call->hopeless || !op_is_collective(&call->ops[0]))
        return;
    now = hc_now_ns();
    if (now < call->look_ns)
        return;
    call->look_ns = now + LOOK_MS * 1000000u;
    if (!first && comm_peer_failed(p2p->comm, why, sizeof why))
        rt_fate_break(comm_fate(p2p->comm), why);
}

bool
call_give_up(struct p2p_call *call)
{
    struct p2p *p2p = call->p2p;
    struct p2p_pair *pair = NULL;
    struct p2p_op *op = NULL;
    enum vain vain;
    bool over;

    look_at_ranks(call);
    hc_spin_lock(&p2p->lock);
    vain = call->hopeless ? VAIN_NOT : look_for_vain(call, &op, &pair);
    p2p_unlock(p2p);
    if (vain != VAIN_NOT) {
        if (call_step(call))
            return true; /* it came just in time */
        say_why(op, vain, pair);
        call->hopeless = true;
    }
    if (!call->hopeless)
        return false;
    hc_spin_lock(&p2p->lock);
    over = withdraw_all(call);
    p2p_unlock(p2p);
    return over;
}
