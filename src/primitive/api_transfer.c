/* SPDX-License-Identifier: BSD-3-Clause */
/* Transfers queued on a thread. */
#include "base/log.h"
#include "hcomm/hcomm_primitives.h"
#include "primitive/transfer.h"

static HcclResult
check_and_push(const char *function, const struct prim_queue *queue, struct res_channel *channel,
               struct prim_transfer *transfer)
{
    HcclResult rc = prim_transfer_check(function, channel, transfer);

    if (rc != HCCL_SUCCESS || !prim_transfer_moves(transfer))
        return rc;
    return prim_transfer_push(queue, channel, transfer);
}

static int32_t
queue_transfer(const char *function, ThreadHandle thread, ChannelHandle channel,
               struct prim_transfer *transfer)
{
    struct res_channel *held;
    struct prim_queue queue;
    HcclResult rc = prim_queue_open_channel(thread, channel, &queue, &held);

    if (rc != HCCL_SUCCESS)
        return rc;
    rc = check_and_push(function, &queue, held, transfer);
    prim_queue_close_channel(&queue, held);
    return rc;
}

int32_t
HcommWriteOnThread(ThreadHandle thread, ChannelHandle channel, void *dst, const void *src,
                   uint64_t len)
{
    struct prim_transfer transfer = {.kind = PRIM_WRITE, .dst = dst, .src = src, .len = len};

    return queue_transfer(__func__, thread, channel, &transfer);
}

int32_t
HcommReadOnThread(ThreadHandle thread, ChannelHandle channel, void *dst, const void *src,
                  uint64_t len)
{
    struct prim_transfer transfer = {.kind = PRIM_READ, .dst = dst, .src = src, .len = len};

    return queue_transfer(__func__, thread, channel, &transfer);
}

int32_t
HcommWriteReduceOnThread(ThreadHandle thread, ChannelHandle channel, void *dst, const void *src,
                         uint64_t count, HcommDataType dataType, HcommReduceOp reduceOp)
{
    struct prim_transfer transfer = {.kind = PRIM_WRITE_REDUCE,
                                     .dst = dst,
                                     .src = src,
                                     .len = count,
                                     .type = (int)dataType,
                                     .op = (int)reduceOp};

    return queue_transfer(__func__, thread, channel, &transfer);
}

int32_t
HcommReadReduceOnThread(ThreadHandle thread, ChannelHandle channel, void *dst, const void *src,
                        uint64_t count, HcommDataType dataType, HcommReduceOp reduceOp)
{
    struct prim_transfer transfer = {.kind = PRIM_READ_REDUCE,
                                     .dst = dst,
                                     .src = src,
                                     .len = count,
                                     .type = (int)dataType,
                                     .op = (int)reduceOp};

    return queue_transfer(__func__, thread, channel, &transfer);
}

int32_t
HcommWriteWithNotifyOnThread(ThreadHandle thread, ChannelHandle channel, void *dst, const void *src,
                             uint64_t len, uint32_t remoteNotifyIdx)
{
    struct prim_transfer transfer = {.kind = PRIM_WRITE,
                                     .dst = dst,
                                     .src = src,
                                     .len = len,
                                     .notify = true,
                                     .index = remoteNotifyIdx};

    return queue_transfer(__func__, thread, channel, &transfer);
}

int32_t
HcommWriteReduceWithNotifyOnThread(ThreadHandle thread, ChannelHandle channel, void *dst,
                                   const void *src, uint64_t count, HcommDataType dataType,
                                   HcommReduceOp reduceOp, uint32_t remoteNotifyIdx)
{
    struct prim_transfer transfer = {.kind = PRIM_WRITE_REDUCE,
                                     .dst = dst,
                                     .src = src,
                                     .len = count,
                                     .type = (int)dataType,
                                     .op = (int)reduceOp,
                                     .notify = true,
                                     .index = remoteNotifyIdx};

    return queue_transfer(__func__, thread, channel, &transfer);
}

/* ---- several ---- */

/* HCCL_E_NOT_SUPPORT (logged): no such type. */
static HcclResult
transfer_of(const HcommBatchTransferDesc *desc, struct prim_transfer *transfer)
{
    switch (desc->transType) {
    case HCOMM_TRANSFER_TYPE_WRITE:
    case HCOMM_TRANSFER_TYPE_READ:
        *transfer = (struct prim_transfer){
            .kind = desc->transType == HCOMM_TRANSFER_TYPE_READ ? PRIM_READ : PRIM_WRITE,
            .dst = desc->transferInfo.write.dst,
            .src = desc->transferInfo.write.src,
            .len = desc->transferInfo.write.len};
        return HCCL_SUCCESS;
    case HCOMM_TRANSFER_TYPE_WRITE_REDUCE:
    case HCOMM_TRANSFER_TYPE_READ_REDUCE:
        *transfer = (struct prim_transfer){
            .kind = desc->transType == HCOMM_TRANSFER_TYPE_READ_REDUCE ? PRIM_READ_REDUCE
                                                                       : PRIM_WRITE_REDUCE,
            .dst = desc->transferInfo.reduce.dst,
            .src = desc->transferInfo.reduce.src,
            .len = desc->transferInfo.reduce.count,
            .type = (int)desc->transferInfo.reduce.dataType,
            .op = (int)desc->transferInfo.reduce.reduceOp};
        return HCCL_SUCCESS;
    case HCOMM_TRANSFER_TYPE_WRITE_WITH_NOTIFY:
        *transfer = (struct prim_transfer){.kind = PRIM_WRITE,
                                           .notify = true,
                                           .dst = desc->transferInfo.writeWithNotify.dst,
                                           .src = desc->transferInfo.writeWithNotify.src,
                                           .len = desc->transferInfo.writeWithNotify.len,
                                           .index = desc->transferInfo.writeWithNotify.notifyIdx};
        return HCCL_SUCCESS;
    case HCOMM_TRANSFER_TYPE_WRITE_REDUCE_WITH_NOTIFY:
        *transfer =
            (struct prim_transfer){.kind = PRIM_WRITE_REDUCE,
                                   .notify = true,
                                   .dst = desc->transferInfo.writeReduceWithNotify.dst,
                                   .src = desc->transferInfo.writeReduceWithNotify.src,
                                   .len = desc->transferInfo.writeReduceWithNotify.count,
                                   .type = (int)desc->transferInfo.writeReduceWithNotify.dataType,
                                   .op = (int)desc->transferInfo.writeReduceWithNotify.reduceOp,
                                   .index = desc->transferInfo.writeReduceWithNotify.notifyIdx};
        return HCCL_SUCCESS;
    case HCOMM_TRANSFER_TYPE_NOTIFY_RECORD:
        *transfer = (struct prim_transfer){.kind = PRIM_RECORD,
                                           .notify = true,
                                           .index = desc->transferInfo.notifyRecord.notifyIdx};
        return HCCL_SUCCESS;
    default:
        LOG_ERROR(PRIM, "HcommBatchTransferOnThread: %d is no transType (0 to 6)",
                  (int)desc->transType);
        return HCCL_E_NOT_SUPPORT;
    }
}

int32_t
HcommBatchTransferOnThread(ThreadHandle thread, ChannelHandle channel,
                           const HcommBatchTransferDesc *transferDescs, uint32_t transferDescNum)
{
    struct res_channel *held;
    struct prim_queue queue;
    HcclResult rc = prim_queue_open_channel(thread, channel, &queue, &held);

    if (rc != HCCL_SUCCESS)
        return rc;
    if (transferDescs == NULL)
        rc = res_null(__func__, "transferDescs");
    else
        rc = res_check_number(__func__, "transferDescNum", transferDescNum, 1, UINT32_MAX);
    for (uint32_t i = 0; i < transferDescNum && rc == HCCL_SUCCESS; i++) {
        struct prim_transfer transfer;

        rc = transfer_of(&transferDescs[i], &transfer);
        if (rc == HCCL_SUCCESS)
            rc = check_and_push(__func__, &queue, held, &transfer);
    }
    prim_queue_close_channel(&queue, held);
    return rc;
}
