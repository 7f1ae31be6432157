/* SPDX-License-Identifier: BSD-3-Clause */
/* What is asked of operations before they begin, and of messages that came. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/log.h"
#include "p2p/engine.h"
#include "reduce/reduce.h"

/* `rc`, after one message. */
__attribute__((format(printf, 4, 5))) static HcclResult
refuse(const struct p2p *p2p, const char *function, HcclResult rc, const char *fmt, ...)
{
    char text[P2P_WHY_LEN];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    LOG_ERROR(P2P, "%s: rank %u of %s: %s", function, p2p->rank, comm_name(p2p->comm), text);
    return rc;
}

HcclResult
op_check_peer(struct p2p *p2p, const char *function, const struct p2p_op *op)
{
    bool recv = op->kind == P2P_RECV;

    if (op->peer >= p2p->rank_num && !(recv && op->peer == HCOMM_ANY_RANK))
        return op->peer == HCOMM_ANY_RANK
                   ? refuse(p2p, function, HCCL_E_PARA,
                            "a send needs a rank: only receives and probes take HCOMM_ANY_RANK")
                   : refuse(p2p, function, HCCL_E_PARA,
                            "rank %u is out of range: there are ranks 0 to %u", op->peer,
                            p2p->rank_num - 1);
    if (!recv && op->tag == HCOMM_ANY_TAG)
        return refuse(p2p, function, HCCL_E_PARA, "a send needs a tag: 0 to %u", HCOMM_TAG_MOST);
    return HCCL_SUCCESS;
}

HcclResult
op_check(struct p2p *p2p, const char *function, struct p2p_op *op, uint64_t count)
{
    struct rt_range range;
    HcclResult rc = op_check_peer(p2p, function, op);

    if (rc != HCCL_SUCCESS)
        return rc;
    op->size = reduce_type_size(op->type);
    if (op->size == 0)
        return refuse(p2p, function, HCCL_E_PARA, "there is no data type %d: see HcclDataType",
                      op->type);
    if (__builtin_mul_overflow(count, (uint64_t)op->size, &op->len))
        return refuse(p2p, function, HCCL_E_PARA,
                      "%" PRIu64 " elements of %u bytes are more than an address can reach", count,
                      op->size);
    if (op->buf == NULL && op->len > 0)
        return refuse(p2p, function, HCCL_E_PTR, "the buffer is NULL, for %" PRIu64 " elements",
                      count);
    return op->len == 0 ? HCCL_SUCCESS
                        : rt_result(rt_mem_check(op->buf, op->len, function, "the buffer", &range));
}

HcclResult
call_probe(struct p2p *p2p, const char *function, uint32_t src, uint32_t tag, uint32_t *found,
           HcommRecvInfo *info)
{
    struct p2p_op op = {.kind = P2P_RECV, .peer = src, .tag = tag};
    struct p2p_early *early;
    struct p2p_pair *pair = NULL;
    char why[P2P_WHY_LEN];
    HcclResult rc = op_check_peer(p2p, function, &op);

    if (rc == HCCL_SUCCESS)
        rc = op_want_pairs(p2p, &op);
    if (rc != HCCL_SUCCESS)
        return rc;
    pairs_look(p2p);
    hc_spin_lock(&p2p->lock);
    p2p_progress(p2p);
    early = match_early(p2p, &op, &pair);
    if (early != NULL) {
        uint32_t size = reduce_type_size(early->type);

        if (info != NULL)
            *info = (HcommRecvInfo){.source = pair->peer,
                                    .tag = early->tag,
                                    .type = (HcclDataType)early->type,
                                    .count = size == 0 ? 0 : early->len / size,
                                    .bytes = early->len};
    } else {
        pair = src == HCOMM_ANY_RANK ? NULL : op_dead_pair(p2p, &op);
    }
    p2p_unlock(p2p);
    if (early == NULL && pair != NULL) {
        pair_why(pair, why, sizeof why);
        LOG_ERROR(P2P, "%s: rank %u of %s: nothing can come from rank %u any more: %s", function,
                  p2p->rank, comm_name(p2p->comm), pair->peer, why);
        return HCCL_E_REMOTE;
    }
    *found = early != NULL;
    return HCCL_SUCCESS;
}
