/* SPDX-License-Identifier: BSD-3-Clause */
/* Which receive takes which message (engine.h, E2), and messages that came before theirs (E3). */
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "p2p/engine.h"
#include "reduce/reduce.h"

static bool
takes(const struct p2p_op *op, uint32_t source, enum p2p_context context, uint32_t tag)
{
    if (op->context != context || (op->peer != source && op->peer != HCOMM_ANY_RANK))
        return false;
    return op->tag == tag || (op->tag == HCOMM_ANY_TAG && tag <= HCOMM_TAG_MOST);
}

struct p2p_op *
match_posted(struct p2p *p2p, uint32_t source, const struct p2p_note *note)
{
    HC_LIST_EACH (node, &p2p->posted) {
        struct p2p_op *op = HC_CONTAINER(node, struct p2p_op, in_queue);

        if (takes(op, source, note->context, note->tag))
            return op;
    }
    return NULL;
}

static struct p2p_early *
early_of(struct p2p_pair *pair, const struct p2p_op *op)
{
    HC_LIST_EACH (node, &pair->early) {
        struct p2p_early *early = HC_CONTAINER(node, struct p2p_early, in_pair);

        if (early->claimed == NULL && takes(op, pair->peer, early->context, early->tag))
            return early;
    }
    return NULL;
}

struct p2p_early *
match_early(struct p2p *p2p, const struct p2p_op *op, struct p2p_pair **pair)
{
    HC_LIST_EACH (node, &p2p->live) {
        struct p2p_pair *at = HC_CONTAINER(node, struct p2p_pair, in_live);
        struct p2p_early *early;

        if (op->peer != HCOMM_ANY_RANK && op->peer != at->peer)
            continue;
        early = early_of(at, op);
        if (early != NULL) {
            *pair = at;
            return early;
        }
    }
    return NULL;
}

bool
match_fits(struct p2p_op *op, uint32_t source, const struct p2p_note *note)
{
    uint32_t size = reduce_type_size(note->type);

    if (op->info != NULL)
        *op->info = (HcommRecvInfo){.source = source,
                                    .tag = note->tag,
                                    .type = (HcclDataType)note->type,
                                    .count = size == 0 ? 0 : note->len / size,
                                    .bytes = note->len};
    if (note->len > 0 && size != op->size) {
        op_failed(op, HCCL_E_PARA,
                  "a message of %llu bytes of %s, tag %u, from rank %u came for a receive of %s: "
                  "give both sides types of one size",
                  (unsigned long long)note->len, reduce_type_name(note->type), note->tag, source,
                  reduce_type_name(op->type));
        return false;
    }
    if (note->len > op->len) {
        op_failed(op, HCCL_E_PARA,
                  "a message of %llu bytes (%s), tag %u, from rank %u is longer than its "
                  "receive, which has room for %llu bytes (%s)",
                  (unsigned long long)note->len, reduce_type_name(note->type), note->tag, source,
                  (unsigned long long)op->len, reduce_type_name(op->type));
        return false;
    }
    return true;
}

bool
early_keep(struct p2p_pair *pair, const struct p2p_note *note)
{
    struct p2p *p2p = pair->p2p;
    uint64_t kept = note->kind == P2P_CELL_OFFER ? 0 : note->len;
    struct p2p_early *early;

    if (p2p->early_len + kept + sizeof *early > p2p->early_most)
        return false;
    early = hc_zalloc(sizeof *early + kept);
    if (early == NULL)
        return false;
    early->kind = note->kind;
    early->context = note->context;
    early->type = note->type;
    early->sync = note->sync;
    early->tag = note->tag;
    early->desk = note->desk;
    early->len = note->len;
    early->kept = kept;
    early->region = note->kind == P2P_CELL_OFFER ? *note->region : (struct tp_region){0};
    if (kept > 0)
        memcpy(early->bytes, note->bytes, kept);
    p2p->early_len += kept + sizeof *early;
    hc_list_push_back(&pair->early, &early->in_pair);
    return true;
}

void
early_free(struct p2p_pair *pair, struct p2p_early *early)
{
    pair->p2p->early_len -= early->kept + sizeof *early;
    hc_list_remove(&early->in_pair);
    hc_free(early);
}

struct p2p_note
early_note(struct p2p_early *early)
{
    return (struct p2p_note){.kind = early->kind,
                             .context = early->context,
                             .type = early->type,
                             .sync = early->sync,
                             .tag = early->tag,
                             .desk = early->desk,
                             .len = early->len,
                             .bytes = early->bytes,
                             .region = &early->region};
}
