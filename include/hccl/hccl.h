/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hccl: the operators of libhccl.so. In this release each answers HCCL_E_NOT_SUPPORT.
 *
 * Buffers are device memory. A call queues its work on `stream` and returns; its first use may wait
 * while channels are made. Ranks call the operators of one communicator in the same order, and
 * calls on one device are serial. Counts and displacements are in elements; arrays of them are
 * uint64_t in host memory, indexed by rank, read before the call returns.
 *
 * Common results, not repeated below: HCCL_SUCCESS; HCCL_E_PTR for a NULL; HCCL_E_PARA for a type,
 * operator, rank or count that is not acceptable; HCCL_E_NOT_SUPPORT in this release.
 *
 * Source: spec, communicator, section 5.
 */
#ifndef HCCL_H_
#define HCCL_H_

#include "acl/acl.h"
#include "hccl_types.h"
#include "hccl_comm.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/**
 * Every rank gets the reduction of what all ranks send.
 *
 * @param sendBuf   in   [count]
 * @param recvBuf   out  [count]
 * @param count          elements; it, dataType and op are equal on all ranks
 * @param dataType       type of an element
 * @param op             operator
 * @param comm      in   communicator
 * @param stream    in   the work is ordered in it
 *
 * Source: spec, communicator, section 5.
 */
HcclResult HcclAllReduce(void *sendBuf, void *recvBuf, uint64_t count, HcclDataType dataType,
                         HcclReduceOp op, HcclComm comm, aclrtStream stream);

/**
 * Every rank gets what the root has.
 *
 * @param buf       in, out  [count]; read on the root, written on the others
 * @param count              elements; it, dataType and root are equal on all ranks
 * @param dataType           type of an element
 * @param root               rank that has the data
 * @param comm      in       communicator
 * @param stream    in       the work is ordered in it
 *
 * Source: spec, communicator, section 5.
 */
HcclResult HcclBroadcast(void *buf, uint64_t count, HcclDataType dataType, uint32_t root,
                         HcclComm comm, aclrtStream stream);

/**
 * Rank r gets slice r of the reduction of what all ranks send.
 *
 * @param sendBuf    in   [recvCount * ranks]
 * @param recvBuf    out  [recvCount]
 * @param recvCount       elements of a slice; it, dataType and op are equal on all ranks
 * @param dataType        type of an element
 * @param op              operator
 * @param comm       in   communicator
 * @param stream     in   the work is ordered in it
 *
 * Source: spec, communicator, section 5.
 */
HcclResult HcclReduceScatter(void *sendBuf, void *recvBuf, uint64_t recvCount,
                             HcclDataType dataType, HcclReduceOp op, HcclComm comm,
                             aclrtStream stream);

/**
 * HcclReduceScatter with slices of different sizes.
 *
 * @param sendBuf     in   all slices; not recvBuf
 * @param sendCounts  in   [ranks] elements of each slice
 * @param sendDispls  in   [ranks] where each begins
 * @param recvBuf     out  [recvCount]
 * @param recvCount        sendCounts[own rank]
 * @param dataType         type of an element; it, op and the arrays are equal on all ranks
 * @param op               operator
 * @param comm        in   communicator
 * @param stream      in   the work is ordered in it
 *
 * Source: spec, communicator, section 5.
 */
HcclResult HcclReduceScatterV(void *sendBuf, const void *sendCounts, const void *sendDispls,
                              void *recvBuf, uint64_t recvCount, HcclDataType dataType,
                              HcclReduceOp op, HcclComm comm, aclrtStream stream);

/**
 * Rank r gets slice r of what the root has.
 *
 * @param sendBuf    in   [recvCount * ranks] on the root; elsewhere not used and may be NULL
 * @param recvBuf    out  [recvCount]
 * @param recvCount       elements of a slice; it, dataType and root are equal on all ranks
 * @param dataType        type of an element
 * @param root            rank that has the data
 * @param comm       in   communicator
 * @param stream     in   the work is ordered in it
 *
 * Source: spec, communicator, section 5.
 */
HcclResult HcclScatter(void *sendBuf, void *recvBuf, uint64_t recvCount, HcclDataType dataType,
                       uint32_t root, HcclComm comm, aclrtStream stream);

/**
 * Every rank gets what all ranks send, in the order of the ranks.
 *
 * @param sendBuf    in   [sendCount]
 * @param recvBuf    out  [sendCount * ranks]
 * @param sendCount       elements of one rank; it and dataType are equal on all ranks
 * @param dataType        type of an element
 * @param comm       in   communicator
 * @param stream     in   the work is ordered in it
 *
 * Source: spec, communicator, section 5.
 */
HcclResult HcclAllGather(void *sendBuf, void *recvBuf, uint64_t sendCount, HcclDataType dataType,
                         HcclComm comm, aclrtStream stream);

/**
 * HcclAllGather with different sizes.
 *
 * @param sendBuf     in   [sendCount]; not recvBuf
 * @param sendCount        recvCounts[own rank]
 * @param recvBuf     out  all parts
 * @param recvCounts  in   [ranks] elements of each part
 * @param recvDispls  in   [ranks] where each begins
 * @param dataType         type of an element; it and the arrays are equal on all ranks
 * @param comm        in   communicator
 * @param stream      in   the work is ordered in it
 *
 * Source: spec, communicator, section 5.
 */
HcclResult HcclAllGatherV(void *sendBuf, uint64_t sendCount, void *recvBuf, const void *recvCounts,
                          const void *recvDispls, HcclDataType dataType, HcclComm comm,
                          aclrtStream stream);

/**
 * Send to one rank. The stream does not go on before the receive of the peer has taken the data.
 *
 * @param sendBuf   in  [count]
 * @param count         elements; it and dataType are those of the receive
 * @param dataType      type of an element
 * @param destRank      another rank
 * @param comm      in  communicator
 * @param stream    in  the work is ordered in it
 *
 * Source: spec, communicator, section 5.
 */
HcclResult HcclSend(void *sendBuf, uint64_t count, HcclDataType dataType, uint32_t destRank,
                    HcclComm comm, aclrtStream stream);

/**
 * Receive from one rank.
 *
 * @param recvBuf   out  [count]
 * @param count          elements; it and dataType are those of the send
 * @param dataType       type of an element
 * @param srcRank        another rank
 * @param comm      in   communicator
 * @param stream    in   the work is ordered in it
 *
 * Source: spec, communicator, section 5.
 */
HcclResult HcclRecv(void *recvBuf, uint64_t count, HcclDataType dataType, uint32_t srcRank,
                    HcclComm comm, aclrtStream stream);

/**
 * HcclAlltoAllV whose sizes are one matrix, equal on all ranks, and whose parts are adjacent.
 *
 * @param sendBuf          in   parts for each rank; not recvBuf
 * @param sendCountMatrix  in   [ranks][ranks]; entry [i][j]: elements from i to j
 * @param sendType              type of an element; recvType is the same
 * @param recvBuf          out  parts from each rank (written, whatever its type says)
 * @param comm             in   communicator
 * @param stream           in   the work is ordered in it
 *
 * Source: spec, communicator, section 5.
 */
HcclResult HcclAlltoAllVC(const void *sendBuf, const void *sendCountMatrix, HcclDataType sendType,
                          const void *recvBuf, HcclDataType recvType, HcclComm comm,
                          aclrtStream stream);

/**
 * Each rank sends a part of its own size to each rank.
 *
 * @param sendBuf     in   parts for each rank; not recvBuf
 * @param sendCounts  in   [ranks] elements for each; the peer's recvCounts agree
 * @param sdispls     in   [ranks] where each part begins
 * @param sendType         type of an element; recvType is the same
 * @param recvBuf     out  parts from each rank (written, whatever its type says)
 * @param recvCounts  in   [ranks] elements from each
 * @param rdispls     in   [ranks] where each part begins
 * @param comm        in   communicator
 * @param stream      in   the work is ordered in it
 *
 * Source: spec, communicator, section 5.
 */
HcclResult HcclAlltoAllV(const void *sendBuf, const void *sendCounts, const void *sdispls,
                         HcclDataType sendType, const void *recvBuf, const void *recvCounts,
                         const void *rdispls, HcclDataType recvType, HcclComm comm,
                         aclrtStream stream);

/**
 * Each rank sends block j to rank j.
 *
 * @param sendBuf    in   [sendCount * ranks]; not recvBuf
 * @param sendCount       elements of a block; recvCount is the same, on all ranks
 * @param sendType        type of an element; recvType is the same, on all ranks
 * @param recvBuf    out  [recvCount * ranks] (written, whatever its type says)
 * @param comm       in   communicator
 * @param stream     in   the work is ordered in it
 *
 * Source: spec, communicator, section 5.
 */
HcclResult HcclAlltoAll(const void *sendBuf, uint64_t sendCount, HcclDataType sendType,
                        const void *recvBuf, uint64_t recvCount, HcclDataType recvType,
                        HcclComm comm, aclrtStream stream);

/**
 * The root gets the reduction of what all ranks send.
 *
 * @param sendBuf   in   [count]
 * @param recvBuf   out  [count] on the root
 * @param count          elements; it, dataType, op and root are equal on all ranks
 * @param dataType       type of an element
 * @param op             operator
 * @param root           rank that gets it
 * @param comm      in   communicator
 * @param stream    in   the work is ordered in it
 *
 * Source: spec, communicator, section 5.
 */
HcclResult HcclReduce(void *sendBuf, void *recvBuf, uint64_t count, HcclDataType dataType,
                      HcclReduceOp op, uint32_t root, HcclComm comm, aclrtStream stream);

/**
 * Several sends and receives, which do not hold up each other. Each needs its counterpart at the
 * peer. Not inside a group.
 *
 * @param sendRecvInfo  in  [itemNum]
 * @param itemNum           items
 * @param comm          in  communicator
 * @param stream        in  the work is ordered in it
 *
 * Source: spec, communicator, section 5.
 */
HcclResult HcclBatchSendRecv(HcclSendRecvItem *sendRecvInfo, uint32_t itemNum, HcclComm comm,
                             aclrtStream stream);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
