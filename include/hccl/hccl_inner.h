/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hccl_inner: the operators of hccl.h under second names, which libhcomm.so exports and operator
 * libraries forward to.
 *
 * HcclXInner takes what HcclX takes and does what HcclX does: see "hccl.h". Threads: calls on one
 * communicator must be serial, in one order on all ranks.
 *
 * Source: spec, types, section 5.12; spec, communicator, section 5.
 */
#ifndef HCCL_INNER_H_
#define HCCL_INNER_H_

#include "acl/acl.h"
#include "hccl_types.h"
#include "hccl_comm.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

HcclResult HcclAllReduceInner(void *sendBuf, void *recvBuf, uint64_t count, HcclDataType dataType,
                              HcclReduceOp op, HcclComm comm, aclrtStream stream);

HcclResult HcclBroadcastInner(void *buf, uint64_t count, HcclDataType dataType, uint32_t root,
                              HcclComm comm, aclrtStream stream);

HcclResult HcclReduceScatterInner(void *sendBuf, void *recvBuf, uint64_t recvCount,
                                  HcclDataType dataType, HcclReduceOp op, HcclComm comm,
                                  aclrtStream stream);

HcclResult HcclReduceScatterVInner(void *sendBuf, const void *sendCounts, const void *sendDispls,
                                   void *recvBuf, uint64_t recvCount, HcclDataType dataType,
                                   HcclReduceOp op, HcclComm comm, aclrtStream stream);

HcclResult HcclScatterInner(void *sendBuf, void *recvBuf, uint64_t recvCount, HcclDataType dataType,
                            uint32_t root, HcclComm comm, aclrtStream stream);

HcclResult HcclAllGatherInner(void *sendBuf, void *recvBuf, uint64_t sendCount,
                              HcclDataType dataType, HcclComm comm, aclrtStream stream);

HcclResult HcclAllGatherVInner(void *sendBuf, uint64_t sendCount, void *recvBuf,
                               const void *recvCounts, const void *recvDispls,
                               HcclDataType dataType, HcclComm comm, aclrtStream stream);

HcclResult HcclSendInner(void *sendBuf, uint64_t count, HcclDataType dataType, uint32_t destRank,
                         HcclComm comm, aclrtStream stream);

HcclResult HcclRecvInner(void *recvBuf, uint64_t count, HcclDataType dataType, uint32_t srcRank,
                         HcclComm comm, aclrtStream stream);

HcclResult HcclAlltoAllVCInner(const void *sendBuf, const void *sendCountMatrix,
                               HcclDataType sendType, const void *recvBuf, HcclDataType recvType,
                               HcclComm comm, aclrtStream stream);

HcclResult HcclAlltoAllVInner(const void *sendBuf, const void *sendCounts, const void *sdispls,
                              HcclDataType sendType, const void *recvBuf, const void *recvCounts,
                              const void *rdispls, HcclDataType recvType, HcclComm comm,
                              aclrtStream stream);

HcclResult HcclAlltoAllInner(const void *sendBuf, uint64_t sendCount, HcclDataType sendType,
                             const void *recvBuf, uint64_t recvCount, HcclDataType recvType,
                             HcclComm comm, aclrtStream stream);

HcclResult HcclReduceInner(void *sendBuf, void *recvBuf, uint64_t count, HcclDataType dataType,
                           HcclReduceOp op, uint32_t root, HcclComm comm, aclrtStream stream);

HcclResult HcclBatchSendRecvInner(HcclSendRecvItem *sendRecvInfo, uint32_t itemNum, HcclComm comm,
                                  aclrtStream stream);

/**
 * Prepare what a fused operator needs on the device.
 *
 * @param comm         in   communicator
 * @param opType            kind of operator (HcclCMDType)
 * @param srcDataType       type of the elements it reads
 * @param dstDataType       type of the elements it writes
 * @param reduceType        operator
 * @param count             elements
 * @param algConfig    in   choice of algorithm
 * @param commEngine        who runs it (CommEngine)
 * @param opResCtx     out  what the kernel is given
 *
 * @return HCCL_E_NOT_SUPPORT in this release.
 * Threads: calls on one communicator must be serial.
 * Source:  spec, types, section 5.12.
 */
HcclResult HcclCreateOpResCtxInner(HcclComm comm, uint8_t opType, HcclDataType srcDataType,
                                   HcclDataType dstDataType, HcclReduceOp reduceType,
                                   uint64_t count, char *algConfig, uint32_t commEngine,
                                   void **opResCtx);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
