/* SPDX-License-Identifier: BSD-3-Clause */
/* Send and receive, as hcomm_p2p.h declares them. */
#include "hcomm/hcomm_p2p.h"

#include "base/alloc.h"
#include "base/log.h"
#include "p2p/engine.h"
#include "p2p/p2p.h"
#include "p2p/quick.h"

#define ITEMS_MOST 65536u

/* Checks the operations, then runs them, or queues them. */
static _Thread_local const char *caller;

const char *
p2p_set_caller(const char *function)
{
    const char *before = caller;

    caller = function;
    return before;
}

static const char *
named(const char *function)
{
    return caller == NULL ? function : caller;
}

static HcclResult
do_ops(const char *function, HcclComm comm, struct p2p_op *ops, const uint64_t *counts,
       uint32_t num, aclrtStream stream)
{
    struct p2p *p2p;
    HcclResult rc;

    /* What is queued may be expanded into messages while the communicator is suspended. */
    if (stream != HCOMM_STREAM_INLINE && op_is_collective(&ops[0]))
        rc = p2p_hold(comm, &p2p);
    else
        rc = p2p_hold_running(function, comm, &p2p);
    if (rc != HCCL_SUCCESS)
        return rc;
    for (uint32_t i = 0; i < num && rc == HCCL_SUCCESS; i++)
        rc = op_check(p2p, function, &ops[i], counts[i]);
    if (rc == HCCL_SUCCESS && stream == HCOMM_STREAM_INLINE)
        rc = call_run(p2p, function, ops, num, -1);
    else if (rc == HCCL_SUCCESS)
        rc = call_queue(p2p, function, ops, num, stream);
    p2p_release(p2p);
    return rc;
}

static struct p2p_op
send_op(const void *buf, HcclDataType type, uint32_t dst, uint32_t tag)
{
    return (struct p2p_op){.kind = P2P_SEND,
                           .peer = dst,
                           .tag = tag,
                           .type = (int)type,
                           .buf = (void *)(uintptr_t)buf};
}

static struct p2p_op
recv_op(void *buf, HcclDataType type, uint32_t src, uint32_t tag, HcommRecvInfo *info)
{
    return (struct p2p_op){
        .kind = P2P_RECV, .peer = src, .tag = tag, .type = (int)type, .buf = buf, .info = info};
}

bool
p2p_send_at_once(const void *buf, uint64_t len, uint32_t dst, uint32_t tag, HcclComm comm)
{
    struct quick quick = {.comm = comm,
                          .buf = (void *)(uintptr_t)buf,
                          .count = len,
                          .type = HCCL_DATA_TYPE_INT8,
                          .peer = dst,
                          .tag = tag};

    return quick_send(&quick);
}

HcclResult
HcommSend(const void *buf, uint64_t count, HcclDataType type, uint32_t dst, uint32_t tag,
          HcclComm comm, aclrtStream stream)
{
    struct quick quick = {.comm = comm,
                          .buf = (void *)(uintptr_t)buf,
                          .count = count,
                          .type = (int)type,
                          .peer = dst,
                          .tag = tag};
    struct p2p_op op;

    if (stream == HCOMM_STREAM_INLINE && quick_send(&quick))
        return HCCL_SUCCESS;
    op = send_op(buf, type, dst, tag);
    return do_ops(named(__func__), comm, &op, &count, 1, stream);
}

HcclResult
HcommRecv(void *buf, uint64_t count, HcclDataType type, uint32_t src, uint32_t tag,
          HcommRecvInfo *info, HcclComm comm, aclrtStream stream)
{
    struct quick quick = {.comm = comm,
                          .buf = buf,
                          .count = count,
                          .type = (int)type,
                          .peer = src,
                          .tag = tag,
                          .info = info};
    struct p2p_op op;

    if (stream == HCOMM_STREAM_INLINE && quick_recv(&quick))
        return HCCL_SUCCESS;
    op = recv_op(buf, type, src, tag, info);
    return do_ops(named(__func__), comm, &op, &count, 1, stream);
}

HcclResult
HcommSendRecv(const void *sendBuf, uint64_t sendCount, HcclDataType sendType, uint32_t dst,
              uint32_t sendTag, void *recvBuf, uint64_t recvCount, HcclDataType recvType,
              uint32_t src, uint32_t recvTag, HcommRecvInfo *info, HcclComm comm,
              aclrtStream stream)
{
    struct p2p_op ops[2] = {send_op(sendBuf, sendType, dst, sendTag),
                            recv_op(recvBuf, recvType, src, recvTag, info)};
    uint64_t counts[2] = {sendCount, recvCount};

    return do_ops(named(__func__), comm, ops, counts, 2, stream);
}

static HcclResult
batch_op(const HcommBatchItem *item, uint32_t at, struct p2p_op *op)
{
    switch (item->kind) {
    case HCOMM_BATCH_SEND:
    case HCOMM_BATCH_SEND_SYNC:
        *op = send_op(item->buf, item->type, item->peer, item->tag);
        op->sync = item->kind == HCOMM_BATCH_SEND_SYNC;
        return HCCL_SUCCESS;
    case HCOMM_BATCH_RECV:
        *op = recv_op(item->buf, item->type, item->peer, item->tag, item->info);
        return HCCL_SUCCESS;
    default:
        LOG_ERROR(P2P, "HcommBatch: item %u has kind %d: see HcommBatchKind", at, (int)item->kind);
        return HCCL_E_PARA;
    }
}

HcclResult
HcommBatch(const HcommBatchItem *items, uint32_t itemNum, HcclComm comm, aclrtStream stream)
{
    struct p2p_op *ops;
    uint64_t *counts;
    HcclResult rc = HCCL_SUCCESS;

    if (itemNum == 0)
        return HCCL_SUCCESS;
    if (items == NULL || itemNum > ITEMS_MOST) {
        LOG_ERROR(P2P, "HcommBatch: %u items at %p: pass an array of at most %u", itemNum,
                  (const void *)items, ITEMS_MOST);
        return items == NULL ? HCCL_E_PTR : HCCL_E_PARA;
    }
    ops = hc_calloc(itemNum, sizeof *ops);
    counts = hc_calloc(itemNum, sizeof *counts);
    if (ops == NULL || counts == NULL)
        rc = HCCL_E_MEMORY;
    for (uint32_t i = 0; i < itemNum && rc == HCCL_SUCCESS; i++) {
        counts[i] = items[i].count;
        rc = batch_op(&items[i], i, &ops[i]);
    }
    if (rc == HCCL_SUCCESS)
        rc = do_ops(named(__func__), comm, ops, counts, itemNum, stream);
    hc_free(counts);
    hc_free(ops);
    return rc;
}

HcclResult
HcommProbe(uint32_t src, uint32_t tag, HcclComm comm, uint32_t *found, HcommRecvInfo *info)
{
    struct p2p *p2p;
    HcclResult rc;

    if (found == NULL) {
        LOG_ERROR(P2P, "HcommProbe: found is NULL");
        return HCCL_E_PTR;
    }
    rc = p2p_hold_running(__func__, comm, &p2p);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = call_probe(p2p, __func__, src, tag, found, info);
    p2p_release(p2p);
    return rc;
}
