/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ranks that send each other long messages, and only then receive, wait for each other: a long
 * message stays with its sender until a receive takes it. So a rank whose own send has waited for a
 * while fetches the long messages that came for it, and keeps them as it keeps short ones, as far
 * as HCOMM_P2P_UNEXPECTED allows. Then its peers go on, and so does it.
 *
 * A1  A message that is being fetched keeps its place among the early ones, with `incoming` set. A
 *     receive that takes it then becomes `claimed` and gets it when it is there.
 *     A message whose sender waits for its receive is left alone.
 * A2  What the sender can be relieved of at once is copied here by the thread that found it. The
 *     rest comes in pieces, whoever makes progress.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "p2p/engine.h"

/* A receive of the rank's own making. */
struct adoption {
    struct p2p_call call;
    struct p2p_op op;
};

static void
adoption_free(struct p2p_early *early)
{
    hc_free(HC_CONTAINER(early->incoming, struct adoption, op));
    early->incoming = NULL;
}

void
adopt_over(struct p2p_op *op)
{
    struct p2p_early *early = op->adopts;
    struct p2p_pair *pair = op->pair;
    struct p2p_op *claimed = early->claimed;
    HcclResult rc = op->rc;

    if (claimed != NULL && rc != HCCL_SUCCESS)
        op_failed(claimed, rc, "%s", op->call->why);
    adoption_free(early);
    early->kind = P2P_CELL_EAGER;
    if (claimed != NULL) {
        struct p2p_note note = early_note(early);

        claimed->claims = NULL;
        if (rc == HCCL_SUCCESS)
            (void)op_deliver(claimed, pair, &note);
        else
            op_over(claimed, rc);
    }
    if (claimed != NULL || rc != HCCL_SUCCESS)
        early_free(pair, early);
}

/* The long message `early`, as one whose bytes are here, or come here; NULL: no room, no memory
 * (logged). */
static struct p2p_early *
make_room(struct p2p_pair *pair, const struct p2p_early *early)
{
    struct p2p *p2p = pair->p2p;
    struct p2p_early *full;

    if (early->len > p2p->early_most - p2p->early_len)
        return NULL;
    full = hc_zalloc(sizeof *full + early->len);
    if (full == NULL)
        return NULL;
    memcpy(full, early, sizeof *full);
    full->kept = early->len;
    p2p->early_len += sizeof *full + full->kept;
    return full;
}

/* Fetches one. false: there is no room. */
static bool
adopt(struct p2p_pair *pair, struct p2p_early *early)
{
    struct adoption *adoption = hc_zalloc(sizeof *adoption);
    struct p2p_early *full = adoption == NULL ? NULL : make_room(pair, early);
    struct p2p_note note = early_note(early);

    if (full == NULL) {
        hc_free(adoption);
        return false;
    }
    hc_list_push_front(&early->in_pair, &full->in_pair); /* A1: behind it, which goes next */
    early_free(pair, early);
    note.region = &full->region;
    adoption->call =
        (struct p2p_call){.p2p = pair->p2p, .function = "a long message", .num = 1, .left = 1};
    adoption->call.ops = &adoption->op;
    adoption->call.started = true;
    adoption->op = (struct p2p_op){.kind = P2P_RECV,
                                   .peer = pair->peer,
                                   .buf = full->bytes,
                                   .len = full->len,
                                   .call = &adoption->call,
                                   .adopts = full};
    full->incoming = &adoption->op;
    if (!op_take_offer(&adoption->op, pair, &note)) { /* it was withdrawn */
        adoption_free(full);
        early_free(pair, full);
    } else if (adoption->op.state == P2P_TO_MOVE) {
        (void)call_move(&adoption->call); /* A2 */
        p2p_progress(pair->p2p);
    }
    return true;
}

/* A long send that no receive has taken. */
static bool
waits_with_offer(const struct p2p_call *call)
{
    for (uint32_t i = 0; i < call->num; i++) {
        const struct p2p_op *op = &call->ops[i];

        if (op->kind == P2P_SEND && op->state == P2P_AT_DESK && !op->sync &&
            p2p_phase_of(p2p_desk_word(&op->pair->own->desks[op->desk])) == P2P_OFFERED)
            return true;
    }
    return false;
}

/* The first long message that nobody has begun to fetch. */
static struct p2p_early *
next_offer(struct p2p *p2p, struct p2p_pair **pair)
{
    HC_LIST_EACH (node, &p2p->live) {
        *pair = HC_CONTAINER(node, struct p2p_pair, in_live);
        HC_LIST_EACH (at, &(*pair)->early) {
            struct p2p_early *early = HC_CONTAINER(at, struct p2p_early, in_pair);

            if (early->kind == P2P_CELL_OFFER && early->incoming == NULL && !early->sync &&
                early->len > 0)
                return early;
        }
    }
    return NULL;
}

void
call_adopt(struct p2p_call *call)
{
    struct p2p *p2p = call->p2p;
    char what[P2P_WHY_LEN / 2];
    struct p2p_early *early;
    struct p2p_pair *pair;
    uint64_t theirs = 0;
    uint32_t from = 0;

    hc_spin_lock(&p2p->lock);
    while (waits_with_offer(call) && (early = next_offer(p2p, &pair)) != NULL) {
        if (adopt(pair, early))
            continue;
        theirs = early->len;
        from = pair->peer;
        break;
    }
    p2p_unlock(p2p);
    if (theirs == 0 || call->warned)
        return;
    call->warned = true;
    call_describe(call, what, sizeof what);
    LOG_WARN(P2P,
             "%s: rank %u of %s waits for %s while rank %u sends it %llu bytes, more than "
             "HCOMM_P2P_UNEXPECTED lets it keep: neither goes on unless one receives: use "
             "HcommSendRecv, or receive first",
             call->function, p2p->rank, comm_name(p2p->comm), what, from,
             (unsigned long long)theirs);
}

void
adopt_stop(struct p2p_pair *pair)
{
    HC_LIST_EACH (node, &pair->early) {
        struct p2p_op *op = HC_CONTAINER(node, struct p2p_early, in_pair)->incoming;

        if (op == NULL)
            continue;
        op->adopts = NULL;                     /* nobody waits for it */
        (void)op_withdraw(op, HCCL_E_UNAVAIL); /* bytes under way are waited for next */
    }
}

void
adopt_end(struct p2p_pair *pair)
{
    HC_LIST_EACH (node, &pair->early) {
        struct p2p_early *early = HC_CONTAINER(node, struct p2p_early, in_pair);

        if (early->incoming == NULL)
            continue;
        hc_list_remove(&early->incoming->in_queue);
        adoption_free(early);
    }
}
