/* SPDX-License-Identifier: BSD-3-Clause */
/* The operator's public face: what its users include. */
#ifndef HCCL_CUSTOM_P2P_H
#define HCCL_CUSTOM_P2P_H

#include <stdint.h>

#include <acl/acl_rt.h>
#include <hccl/hccl_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Send `count` elements of device memory to rank `destRank`, which must call HcclRecvCustom with
 * the same count and type. Queues on `stream` and returns; the first call to a peer blocks until
 * the peer makes its first call too. `sendBuf` must stay unchanged until the stream has passed the
 * call.
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: sendBuf, comm or stream is NULL; HCCL_E_PARA: no such rank or
 * data type; else what the failing call returned.
 */
HcclResult HcclSendCustom(void *sendBuf, uint64_t count, HcclDataType dataType, uint32_t destRank,
                          HcclComm comm, aclrtStream stream);

/** The other side: receive `count` elements from rank `srcRank` into device memory. */
HcclResult HcclRecvCustom(void *recvBuf, uint64_t count, HcclDataType dataType, uint32_t srcRank,
                          HcclComm comm, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
