/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * api_hccl: libhccl.so, the collectives of hccl.h. libhcomm.so does them under their second names;
 * this library uses public functions of it only. It is a library of its own because operator
 * packages bring their own libhccl.so, which replaces it.
 */
#include "hccl/hccl.h"

#include "hccl/hccl_inner.h"

HcclResult
HcclAllReduce(void *sendBuf, void *recvBuf, uint64_t count, HcclDataType dataType, HcclReduceOp op,
              HcclComm comm, aclrtStream stream)
{
    return HcclAllReduceInner(sendBuf, recvBuf, count, dataType, op, comm, stream);
}

HcclResult
HcclBroadcast(void *buf, uint64_t count, HcclDataType dataType, uint32_t root, HcclComm comm,
              aclrtStream stream)
{
    return HcclBroadcastInner(buf, count, dataType, root, comm, stream);
}

HcclResult
HcclReduceScatter(void *sendBuf, void *recvBuf, uint64_t recvCount, HcclDataType dataType,
                  HcclReduceOp op, HcclComm comm, aclrtStream stream)
{
    return HcclReduceScatterInner(sendBuf, recvBuf, recvCount, dataType, op, comm, stream);
}

HcclResult
HcclReduceScatterV(void *sendBuf, const void *sendCounts, const void *sendDispls, void *recvBuf,
                   uint64_t recvCount, HcclDataType dataType, HcclReduceOp op, HcclComm comm,
                   aclrtStream stream)
{
    return HcclReduceScatterVInner(sendBuf, sendCounts, sendDispls, recvBuf, recvCount, dataType,
                                   op, comm, stream);
}

HcclResult
HcclScatter(void *sendBuf, void *recvBuf, uint64_t recvCount, HcclDataType dataType, uint32_t root,
            HcclComm comm, aclrtStream stream)
{
    return HcclScatterInner(sendBuf, recvBuf, recvCount, dataType, root, comm, stream);
}

HcclResult
HcclAllGather(void *sendBuf, void *recvBuf, uint64_t sendCount, HcclDataType dataType,
              HcclComm comm, aclrtStream stream)
{
    return HcclAllGatherInner(sendBuf, recvBuf, sendCount, dataType, comm, stream);
}

HcclResult
HcclAllGatherV(void *sendBuf, uint64_t sendCount, void *recvBuf, const void *recvCounts,
               const void *recvDispls, HcclDataType dataType, HcclComm comm, aclrtStream stream)
{
    return HcclAllGatherVInner(sendBuf, sendCount, recvBuf, recvCounts, recvDispls, dataType, comm,
                               stream);
}

HcclResult
HcclAlltoAllVC(const void *sendBuf, const void *sendCountMatrix, HcclDataType sendType,
               const void *recvBuf, HcclDataType recvType, HcclComm comm, aclrtStream stream)
{
    return HcclAlltoAllVCInner(sendBuf, sendCountMatrix, sendType, recvBuf, recvType, comm, stream);
}

HcclResult
HcclAlltoAllV(const void *sendBuf, const void *sendCounts, const void *sdispls,
              HcclDataType sendType, const void *recvBuf, const void *recvCounts,
              const void *rdispls, HcclDataType recvType, HcclComm comm, aclrtStream stream)
{
    return HcclAlltoAllVInner(sendBuf, sendCounts, sdispls, sendType, recvBuf, recvCounts, rdispls,
                              recvType, comm, stream);
}

HcclResult
HcclAlltoAll(const void *sendBuf, uint64_t sendCount, HcclDataType sendType, const void *recvBuf,
             uint64_t recvCount, HcclDataType recvType, HcclComm comm, aclrtStream stream)
{
    return HcclAlltoAllInner(sendBuf, sendCount, sendType, recvBuf, recvCount, recvType, comm,
                             stream);
}

HcclResult
HcclReduce(void *sendBuf, void *recvBuf, uint64_t count, HcclDataType dataType, HcclReduceOp op,
           uint32_t root, HcclComm comm, aclrtStream stream)
{
    return HcclReduceInner(sendBuf, recvBuf, count, dataType, op, root, comm, stream);
}
