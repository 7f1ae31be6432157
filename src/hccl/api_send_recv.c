/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * api_send_recv: libhccl.so, sends and receives of hccl.h. libhcomm.so does them under their second
 * names; this library uses public functions of it only.
 */
#include "hccl/hccl.h"
#include "hccl/hccl_inner.h"

HcclResult
HcclSend(void *sendBuf, uint64_t count, HcclDataType dataType, uint32_t destRank, HcclComm comm,
         aclrtStream stream)
{
    return HcclSendInner(sendBuf, count, dataType, destRank, comm, stream);
}

HcclResult
HcclRecv(void *recvBuf, uint64_t count, HcclDataType dataType, uint32_t srcRank, HcclComm comm,
         aclrtStream stream)
{
    return HcclRecvInner(recvBuf, count, dataType, srcRank, comm, stream);
}

HcclResult
HcclBatchSendRecv(HcclSendRecvItem *sendRecvInfo, uint32_t itemNum, HcclComm comm,
                  aclrtStream stream)
{
    return HcclBatchSendRecvInner(sendRecvInfo, itemNum, comm, stream);
}
