/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * api_hccl_p2p: HcclSend, HcclRecv and HcclBatchSendRecv under the names that operator libraries
 * forward to; libhccl.so does. They are sends and receives of the engine under a tag of their own,
 * so they never take, nor are taken for, those of HcommSend and HcommRecv. A send is not done
 * before its receive has taken the data.
 */
#include "base/alloc.h"
#include "base/log.h"
#include "hccl/hccl_inner.h"
#include "p2p/engine.h"
#include "p2p/op_group.h"

#define TAG 0x80000000u /* of all operators that hccl.h names */

static HcclResult
fill_op(struct p2p *p2p, const char *function, const HcclSendRecvItem *item, struct p2p_op *op)
{
    bool send = item->sendRecvType == HCCL_SEND;

    if (!send && item->sendRecvType != HCCL_RECV) {
        LOG_ERROR(P2P, "%s: sendRecvType is %d: HCCL_SEND (0) or HCCL_RECV (1)", function,
                  (int)item->sendRecvType);
        return HCCL_E_PARA;
    }
    *op = (struct p2p_op){.kind = send ? P2P_SEND : P2P_RECV,
                          .context = P2P_PROGRAM,
                          .sync = send,
                          .peer = item->remoteRank,
                          .tag = TAG,
                          .type = (int)item->dataType,
                          .buf = item->buf};
    if (item->remoteRank == HCOMM_ANY_RANK)
        return comm_rank_check(p2p->comm, item->remoteRank, function);
    return op_check(p2p, function, op, item->count);
}

static HcclResult
run_one(const char *function, const HcclSendRecvItem *item, HcclComm comm, aclrtStream stream)
{
    struct p2p_op op;
    struct p2p *p2p;
    HcclResult rc = p2p_hold_running(function, comm, &p2p);

    if (rc != HCCL_SUCCESS)
        return rc;
    rc = fill_op(p2p, function, item, &op);
    if (rc == HCCL_SUCCESS && comm_group_open())
        rc = op_group_add(function, comm, stream, &op);
    else if (rc == HCCL_SUCCESS)
        rc = call_queue(p2p, function, &op, 1, stream);
    p2p_release(p2p);
    return rc;
}

HcclResult
HcclSendInner(void *sendBuf, uint64_t count, HcclDataType dataType, uint32_t destRank,
              HcclComm comm, aclrtStream stream)
{
    const HcclSendRecvItem item = {.sendRecvType = HCCL_SEND,
                                   .buf = sendBuf,
                                   .count = count,
                                   .dataType = dataType,
                                   .remoteRank = destRank};

    return run_one("HcclSend", &item, comm, stream);
}

HcclResult
HcclRecvInner(void *recvBuf, uint64_t count, HcclDataType dataType, uint32_t srcRank, HcclComm comm,
              aclrtStream stream)
{
    const HcclSendRecvItem item = {.sendRecvType = HCCL_RECV,
                                   .buf = recvBuf,
                                   .count = count,
                                   .dataType = dataType,
                                   .remoteRank = srcRank};

    return run_one("HcclRecv", &item, comm, stream);
}

static HcclResult
run_batch(struct p2p *p2p, const HcclSendRecvItem *items, uint32_t num, aclrtStream stream)
{
    struct p2p_op *ops = hc_calloc(num, sizeof *ops);
    HcclResult rc = ops == NULL ? HCCL_E_MEMORY : HCCL_SUCCESS;

    for (uint32_t i = 0; i < num && rc == HCCL_SUCCESS; i++)
        rc = fill_op(p2p, "HcclBatchSendRecv", &items[i], &ops[i]);
    if (rc == HCCL_SUCCESS)
        rc = call_queue(p2p, "HcclBatchSendRecv", ops, num, stream);
    hc_free(ops);
    return rc;
}

HcclResult
HcclBatchSendRecvInner(HcclSendRecvItem *sendRecvInfo, uint32_t itemNum, HcclComm comm,
                       aclrtStream stream)
{
    struct p2p *p2p;
    HcclResult rc = comm_need(sendRecvInfo, "HcclBatchSendRecv", "sendRecvInfo");

    if (rc == HCCL_SUCCESS)
        rc = p2p_hold_running("HcclBatchSendRecv", comm, &p2p);
    if (rc != HCCL_SUCCESS)
        return rc;
    if (comm_group_open()) {
        LOG_ERROR(P2P, "HcclBatchSendRecv: not inside a group: it is one by itself");
        rc = HCCL_E_NOT_SUPPORT;
    } else if (itemNum > 0) {
        rc = run_batch(p2p, sendRecvInfo, itemNum, stream);
    }
    p2p_release(p2p);
    return rc;
}
