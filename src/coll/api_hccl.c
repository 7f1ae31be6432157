/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * api_hccl: libhccl.so, the operators of hccl.h. They exist so that programs link, and say that
 * they do nothing yet. This library uses public functions of libhcomm.so only.
 *
 * Each has its whole parameter list here: the compiler compares it with the header.
 */
#include "hccl/hccl.h"

#include "base/dlog_pub.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

static HcclResult
hccl_unsupported(const char *function)
{
    DlogRecord(HCCL, DLOG_ERROR, "%s: collectives are not supported by this release", function);
    return HCCL_E_NOT_SUPPORT;
}

#define UNSUPPORTED(name_, parameters_)                                                            \
    HcclResult name_ parameters_                                                                   \
    {                                                                                              \
        return hccl_unsupported(#name_);                                                           \
    }

/* clang-format off */

UNSUPPORTED(HcclAllReduce, (void *sendBuf, void *recvBuf, uint64_t count, HcclDataType dataType,
                            HcclReduceOp op, HcclComm comm, aclrtStream stream))
UNSUPPORTED(HcclBroadcast, (void *buf, uint64_t count, HcclDataType dataType, uint32_t root,
                            HcclComm comm, aclrtStream stream))
UNSUPPORTED(HcclReduceScatter, (void *sendBuf, void *recvBuf, uint64_t recvCount,
                                HcclDataType dataType, HcclReduceOp op, HcclComm comm,
                                aclrtStream stream))
UNSUPPORTED(HcclReduceScatterV, (void *sendBuf, const void *sendCounts, const void *sendDispls,
                                 void *recvBuf, uint64_t recvCount, HcclDataType dataType,
                                 HcclReduceOp op, HcclComm comm, aclrtStream stream))
UNSUPPORTED(HcclScatter, (void *sendBuf, void *recvBuf, uint64_t recvCount, HcclDataType dataType,
                          uint32_t root, HcclComm comm, aclrtStream stream))
UNSUPPORTED(HcclAllGather, (void *sendBuf, void *recvBuf, uint64_t sendCount, HcclDataType dataType,
                            HcclComm comm, aclrtStream stream))
UNSUPPORTED(HcclAllGatherV, (void *sendBuf, uint64_t sendCount, void *recvBuf,
                             const void *recvCounts, const void *recvDispls, HcclDataType dataType,
                             HcclComm comm, aclrtStream stream))
UNSUPPORTED(HcclSend, (void *sendBuf, uint64_t count, HcclDataType dataType, uint32_t destRank,
                       HcclComm comm, aclrtStream stream))
UNSUPPORTED(HcclRecv, (void *recvBuf, uint64_t count, HcclDataType dataType, uint32_t srcRank,
                       HcclComm comm, aclrtStream stream))
UNSUPPORTED(HcclAlltoAllVC, (const void *sendBuf, const void *sendCountMatrix,
                             HcclDataType sendType, const void *recvBuf, HcclDataType recvType,
                             HcclComm comm, aclrtStream stream))
UNSUPPORTED(HcclAlltoAllV, (const void *sendBuf, const void *sendCounts, const void *sdispls,
                            HcclDataType sendType, const void *recvBuf, const void *recvCounts,
                            const void *rdispls, HcclDataType recvType, HcclComm comm,
                            aclrtStream stream))
UNSUPPORTED(HcclAlltoAll, (const void *sendBuf, uint64_t sendCount, HcclDataType sendType,
                           const void *recvBuf, uint64_t recvCount, HcclDataType recvType,
                           HcclComm comm, aclrtStream stream))
UNSUPPORTED(HcclReduce, (void *sendBuf, void *recvBuf, uint64_t count, HcclDataType dataType,
                         HcclReduceOp op, uint32_t root, HcclComm comm, aclrtStream stream))
UNSUPPORTED(HcclBatchSendRecv, (HcclSendRecvItem *sendRecvInfo, uint32_t itemNum, HcclComm comm,
                                aclrtStream stream))

/* clang-format on */
