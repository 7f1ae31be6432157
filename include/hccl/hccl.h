/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hccl: the operators of libhccl.so.
 *
 * Buffers are any memory this process can use: device memory, pinned, malloc. A call queues its
 * work on `stream` (NULL: the default stream of the current context) and returns; the first one on
 * a communicator connects it, and waits for all ranks to call theirs. With HCOMM_STREAM_INLINE
 * (hcomm/hcomm_p2p.h), which is ours, the collectives run on the calling thread and return when
 * they are done; then all ranks must call that way. Buffers of a queued call belong to it until the
 * stream has passed it. Counts and displacements are in elements; arrays of them are uint64_t in
 * host memory, indexed by rank, read before the call returns.
 *
 * Ranks call the operators of one communicator in the same order, and calls on one device are
 * serial. On each rank they run one after another, also on different streams. Ranks that do not
 * call the same operator with the same counts, type, reduction and root find that out before they
 * touch any data: the stream fails (HCCL_E_PARA on the calling thread), on all ranks, with a
 * message that names two of them and what each calls; the communicator is not usable after that.
 *
 * A receive buffer may be the send buffer for HcclAllReduce and HcclReduce; the own part of the
 * receive buffer may be sent by HcclAllGather; HcclReduceScatter may receive into its own part of
 * the send buffer or at its beginning, HcclScatter into the root's own part. Any other overlap is
 * refused.
 *
 * Reductions: 16- and 8-bit floats are computed in fp32 and rounded to nearest even at each step.
 * The order of the steps follows from the algorithm, the number of ranks and the count alone, so
 * equal calls have bit-equal results as long as the same algorithm is chosen. HCCL_DETERMINISTIC
 * (hcclDeterministic) makes that choice independent of what is measured on the machine.
 *
 * Inside a group (HcclGroupStart): several collectives, or several sends and receives, not both.
 *
 * Common results, not repeated below: HCCL_SUCCESS; HCCL_E_PTR: a buffer is NULL and there are
 * elements, a table or the communicator is NULL; HCCL_E_PARA: a type, reduction, root, count, table
 * or overlap that is not acceptable, a stream of another device, or what is no live communicator;
 * HCCL_E_RUNTIME: what is no live stream; HCCL_E_REMOTE: a peer has died or gone, or the
 * communicator has failed; HCCL_E_TIMEOUT: at the first call, ranks have not come within
 * HCCL_CONNECT_TIMEOUT; HCCL_E_MEMORY, HCCL_E_OOM.
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
 * Between HcclGroupStart and HcclGroupEnd, sends and receives of one communicator and stream are
 * put aside and begin together at the outermost end, as those of HcclBatchSendRecv do.
 *
 * Sends and receives here pair with each other, never with HcommSend and HcommRecv.
 *
 * @param sendBuf   in  [count]; any memory
 * @param count         elements; it and dataType are those of the receive
 * @param dataType      type of an element
 * @param destRank      rank; the own one is fine if another stream, or the same batch, receives it
 * @param comm      in  communicator
 * @param stream    in  the work is ordered in it; NULL: the default stream
 *
 * @return a common result; HCCL_E_NOT_SUPPORT: the group holds inits or destroys of communicators.
 *         What goes wrong later fails the stream.
 * Threads: calls on one communicator must be serial.
 * Source: spec, communicator, section 5.
 */
HcclResult HcclSend(void *sendBuf, uint64_t count, HcclDataType dataType, uint32_t destRank,
                    HcclComm comm, aclrtStream stream);

/**
 * Receive from one rank. See HcclSend.
 *
 * @param recvBuf   out  [count]; any memory
 * @param count          elements; it and dataType are those of the send
 * @param dataType       type of an element
 * @param srcRank        rank
 * @param comm      in   communicator
 * @param stream    in   the work is ordered in it; NULL: the default stream
 *
 * @return as of HcclSend.
 * Threads: calls on one communicator must be serial.
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
 * peer: that of HcclSend, HcclRecv, or another batch. Those between two ranks pair in the order of
 * the items.
 *
 * @param sendRecvInfo  in  [itemNum]; copied
 * @param itemNum           items; 0 does nothing
 * @param comm          in  communicator
 * @param stream        in  the work is ordered in it; NULL: the default stream
 *
 * @return a common result; HCCL_E_NOT_SUPPORT: inside a group.
 * Threads: calls on one communicator must be serial.
 * Source: spec, communicator, section 5.
 */
HcclResult HcclBatchSendRecv(HcclSendRecvItem *sendRecvInfo, uint32_t itemNum, HcclComm comm,
                             aclrtStream stream);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
