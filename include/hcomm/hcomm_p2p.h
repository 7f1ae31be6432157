/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hcomm_p2p: point to point. Send and receive; put, get and accumulate on windows; notifies of
 * windows. This header is ours.
 *
 *     HcommSend(buf, count, HCCL_DATA_TYPE_FP32, 1, tag, comm, HCOMM_STREAM_INLINE);   rank 0
 *     HcommRecv(buf, count, HCCL_DATA_TYPE_FP32, 0, tag, NULL, comm, HCOMM_STREAM_INLINE);   rank 1
 *
 * Memory. Any: device memory (aclrtMalloc), pinned (aclrtMallocHost), malloc, stack. Between
 * processes the first two move with one copy; if both sides pass other memory, it takes two.
 *
 * Streams. Each call either queues on `stream` (NULL: the default stream of the current context)
 * and returns at once: what is wrong with its arguments is told then, all else by
 * aclrtSynchronizeStream. Or `stream` is HCOMM_STREAM_INLINE: the calling thread does it and
 * returns when it is done, with its result. Both may be mixed on one communicator. Buffers of a
 * queued call, and `info`, belong to the call until the stream has passed it.
 *
 * Order.
 * - Calls on one stream run one after another; so do inline calls of one thread. Nothing orders
 *   calls on different streams or threads but what the program makes wait.
 * - Messages from one rank to another with the same tag are received in the order in which the
 *   sends started. A receive takes the first message that fits; of receives that fit, the one that
 *   started first gets it.
 * - A put, get or accumulate is complete at the target when HcommWindowFlush for that rank has
 *   returned (queued: when the stream has passed it). HcommPutNotify orders: who has seen the
 * notify sees the bytes of that put and of all earlier puts and accumulates of the same stream or
 * thread to that rank.
 *
 * Completion. A send is done when its buffer may be used again, which for short messages is before
 * the receive started; but the first message between two ranks needs both to have called some
 * function of this header on the communicator. How much a rank keeps for messages that nobody has
 * received yet is bounded (HCOMM_P2P_UNEXPECTED): beyond it senders wait.
 *
 * Failure. When a peer that a call waits for dies, gives up or destroys the communicator, the call
 * fails with HCCL_E_REMOTE and a message that names the rank; no byte of its buffers is written
 * after it has returned (a peer that is stopped in the middle of a message is waited for, at most
 * 10 s; then a warning says that bytes may still come). A receive from any rank fails when a rank
 * dies, or when none is left that could send. A message that does not fit or has another element
 * size than the receive is an error of the receive (HCCL_E_PARA) that names both; it is taken, its
 * bytes are not written, and the ranks go on.
 *
 * Common results, not repeated below: HCCL_SUCCESS: done, or queued; HCCL_E_PTR: a buffer is NULL
 * and its count is not 0, or a handle is NULL; HCCL_E_PARA: not a live communicator or window, no
 * such rank, data type, reduction or tag, count times element size overflows, or a buffer leaves
 * its allocation (those of up to 40 bytes are not checked for that); HCCL_E_MEMORY: no memory;
 * HCCL_E_REMOTE: see above; HCCL_E_TIMEOUT: nothing came within the time limit of execution
 * (HCCL_EXEC_TIMEOUT), or a peer has made no call of this header on the communicator within
 * HCCL_CONNECT_TIMEOUT; HCCL_E_RUNTIME: not a live stream; HCCL_E_INTERNAL: a forked child. Each
 * failure is logged in one line.
 *
 * Threads: all functions are safe from any thread; calls that are collective must come in the same
 * order on all ranks.
 */
#ifndef HCOMM_P2P_H
#define HCOMM_P2P_H

#include <stdint.h>

#include "../acl/acl_rt.h"
#include "../hccl/hccl_types.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/** In place of a stream: the calling thread does it and returns when it is done. */
#define HCOMM_STREAM_INLINE ((aclrtStream)(~(uintptr_t)0))

#define HCOMM_ANY_RANK 0xFFFFFFFFu /* receive from, or probe for, any rank */
#define HCOMM_ANY_TAG 0xFFFFFFFFu  /* any tag up to HCOMM_TAG_MOST */
#define HCOMM_TAG_MOST                                                                             \
    0x7FFFFFFFu /* tags above: for libraries built on this one,                                    \
                 * from 0xC0000000 for its own collectives */

/* ---- Send and receive ------------------------------------------------------------------------ */

/** What came. */
typedef struct {
    uint32_t source; /* rank */
    uint32_t tag;
    HcclDataType type; /* as the sender gave it */
    uint32_t reserved; /* 0 */
    uint64_t count;    /* elements of `type` */
    uint64_t bytes;
} HcommRecvInfo;

/**
 * Send `count` elements to rank `dst`.
 *
 * @param buf     in  [count] elements of `type`; unchanged until the send is done
 * @param count       elements; 0 sends an empty message
 * @param type        of the elements
 * @param dst         rank; the own one is fine if something receives it: another thread or stream
 * @param tag         0 to HCOMM_TAG_MOST; from there to 0xFFFFFFFE for libraries
 * @param comm    in  communicator
 * @param stream  in  see the top
 *
 * @return a common result.
 * Source:  ours.
 */
HcclResult HcommSend(const void *buf, uint64_t count, HcclDataType type, uint32_t dst, uint32_t tag,
                     HcclComm comm, aclrtStream stream);

/**
 * Receive a message of at most `count` elements.
 *
 * @param buf     out  room for [count] elements of `type`; what the message does not fill stays
 * @param count        elements
 * @param type         its element size must be that of the message, unless the message is empty
 * @param src          rank, or HCOMM_ANY_RANK
 * @param tag          or HCOMM_ANY_TAG
 * @param info    out  what came; NULL: not wanted. Set also when the message is refused
 * @param comm    in   communicator
 * @param stream  in   see the top
 *
 * @return a common result; HCCL_E_PARA: also a message that is longer or of another element size.
 * Source:  ours.
 */
HcclResult HcommRecv(void *buf, uint64_t count, HcclDataType type, uint32_t src, uint32_t tag,
                     HcommRecvInfo *info, HcclComm comm, aclrtStream stream);

/**
 * Send and receive at once: cannot deadlock, whatever the order of the peers. The buffers must not
 * overlap. Arguments as of HcommSend and HcommRecv.
 *
 * @return a common result; if both halves fail, that of the send.
 * Source:  ours.
 */
HcclResult HcommSendRecv(const void *sendBuf, uint64_t sendCount, HcclDataType sendType,
                         uint32_t dst, uint32_t sendTag, void *recvBuf, uint64_t recvCount,
                         HcclDataType recvType, uint32_t src, uint32_t recvTag, HcommRecvInfo *info,
                         HcclComm comm, aclrtStream stream);

typedef enum {
    HCOMM_BATCH_SEND = 0,
    HCOMM_BATCH_RECV = 1,
    HCOMM_BATCH_SEND_SYNC = 2 /* is not done before its receive has taken the message */
} HcommBatchKind;

/** One send or receive of a batch: the arguments of HcommSend or HcommRecv. */
typedef struct {
    HcommBatchKind kind;
    uint32_t peer; /* rank; receives: or HCOMM_ANY_RANK */
    uint32_t tag;  /* receives: or HCOMM_ANY_TAG */
    HcclDataType type;
    void *buf;           /* sends only read it */
    uint64_t count;      /* elements */
    HcommRecvInfo *info; /* receives: NULL, or what came; sends: ignored */
} HcommBatchItem;

/**
 * Sends and receives that run together: none waits for another, so whatever the order of the items
 * they cannot deadlock. Done when all are. Sends of one batch to one rank, and receives of one
 * batch, start in the order of the items.
 *
 * @param items    in  [itemNum]; copied
 * @param itemNum      at most 65536; 0 does nothing
 * @param comm     in  communicator
 * @param stream   in  see the top
 *
 * @return a common result; if several items fail, that of the first in the array.
 * Source:  ours.
 */
HcclResult HcommBatch(const HcommBatchItem *items, uint32_t itemNum, HcclComm comm,
                      aclrtStream stream);

/**
 * Ask whether a receive with this source and tag would find a message now. Never waits, takes
 * nothing.
 *
 * @param src         rank, or HCOMM_ANY_RANK
 * @param tag         or HCOMM_ANY_TAG
 * @param comm    in  communicator
 * @param found   out 1: there is one; 0: there is not
 * @param info    out of the message, when there is one; NULL: not wanted
 *
 * @return a common result. HCCL_E_REMOTE: there is none, and rank `src` can send no more.
 * Source:  ours.
 */
HcclResult HcommProbe(uint32_t src, uint32_t tag, HcclComm comm, uint32_t *found,
                      HcommRecvInfo *info);

/* ---- Windows --------------------------------------------------------------------------------- */

/*
 * A window is memory that each rank of a communicator offers to all. Sizes may differ from rank to
 * rank, also be 0. What other ranks may do there is what its owner granted; own accesses are
 * checked alike.
 */
typedef void *HcommWindow;

#define HCOMM_ACCESS_READ 1u       /* HcommGet */
#define HCOMM_ACCESS_WRITE 2u      /* HcommPut */
#define HCOMM_ACCESS_ACCUMULATE 4u /* HcommAccumulate, HcommFetchOp, HcommCompareSwap */
#define HCOMM_ACCESS_ALL 7u

#define HCOMM_WINDOW_NOTIFIES 64u /* of each rank: numbers 0 to 63 */

/* A reduction that HcommAccumulate and HcommFetchOp know besides those of HcclReduceOp: the operand
 * takes the place of what is there. */
#define HCOMM_REDUCE_REPLACE ((HcclReduceOp)4)

/**
 * Offer memory of the own as this rank's part of a new window. Collective: every rank calls, with
 * its own `size` and `access`; returns when the window can be used everywhere.
 *
 * @param comm    in   communicator; cannot be destroyed before the window (HCCL_E_AGAIN)
 * @param addr    in   [size] bytes, alive until HcommWindowDestroy; device or pinned memory is
 *                     reached by plain loads and stores, other memory of another process by its
 *                     help, which is slow
 * @param size         bytes; 0: this rank offers nothing
 * @param access       of HCOMM_ACCESS_...; 0: this rank is only a user of the window
 * @param window  out  handle; only on success
 *
 * @return a common result. If one rank fails, all do.
 * Source:  ours.
 */
HcclResult HcommWindowCreate(HcclComm comm, void *addr, uint64_t size, uint32_t access,
                             HcommWindow *window);

/**
 * As HcommWindowCreate, over device memory that the window owns: zeroed, 512-byte aligned, gone
 * with it.
 *
 * @param comm    in   communicator; cannot be destroyed before the window
 * @param size         bytes; 0: this rank offers nothing, and *addr becomes NULL
 * @param access       of HCOMM_ACCESS_...
 * @param addr    out  the memory; only on success
 * @param window  out  handle; only on success
 *
 * @return a common result. If one rank fails, all do.
 * Source:  ours.
 */
HcclResult HcommWindowAllocate(HcclComm comm, uint64_t size, uint32_t access, void **addr,
                               HcommWindow *window);

/**
 * End a window. Collective: returns when every rank has called it, or is dead, and then no access
 * of any rank is under way. Queued accesses of this rank must have been synchronised.
 *
 * @param window  in  handle; invalid afterwards, whatever the result
 *
 * @return a common result; HCCL_E_REMOTE: a rank died or failed before it called; the window is
 *         gone all the same.
 * Source:  ours.
 */
HcclResult HcommWindowDestroy(HcommWindow window);

/**
 * Tell what rank `rank` offers, and where it is in this process.
 *
 * @param window  in
 * @param rank
 * @param addr    out  for plain loads and stores, as `access` allows; NULL: the memory cannot be
 *                     mapped here, or there is none. NULL pointer: not wanted
 * @param size    out  bytes; NULL pointer: not wanted
 * @param access  out  of HCOMM_ACCESS_...; NULL pointer: not wanted
 *
 * @return a common result.
 * Source:  ours.
 */
HcclResult HcommWindowGetPeer(HcommWindow window, uint32_t rank, void **addr, uint64_t *size,
                              uint32_t *access);

/**
 * Write to a window. Done when `src` may be used again.
 *
 * @param src     in  [count] elements of `type`
 * @param count       elements; 0 does nothing
 * @param type        of the elements
 * @param window  in
 * @param rank        target; may be the own one
 * @param offset      bytes from the start of the target's memory; any alignment
 * @param stream  in  see the top
 *
 * @return a common result; HCCL_E_PARA: also [offset, offset + bytes) leaves the target's memory,
 *         or the target did not grant HCOMM_ACCESS_WRITE.
 * Source:  ours.
 */
HcclResult HcommPut(const void *src, uint64_t count, HcclDataType type, HcommWindow window,
                    uint32_t rank, uint64_t offset, aclrtStream stream);

/**
 * Read from a window. Done when the bytes are in `dst`. Needs HCOMM_ACCESS_READ.
 *
 * @param dst     out  [count] elements of `type`
 *
 * Other arguments and @return as of HcommPut.
 * Source:  ours.
 */
HcclResult HcommGet(void *dst, uint64_t count, HcclDataType type, HcommWindow window, uint32_t rank,
                    uint64_t offset, aclrtStream stream);

/**
 * Combine elements with those of a window: target[i] = target[i] op src[i]. Each element is updated
 * atomically with respect to every other HcommAccumulate, HcommFetchOp and HcommCompareSwap on the
 * window, from any rank; not to puts, gets and plain loads and stores. Floats of 16 and 8 bits are
 * computed in fp32 and rounded to nearest even once; integers wrap. Needs HCOMM_ACCESS_ACCUMULATE.
 *
 * @param op  HCCL_REDUCE_SUM, PROD, MAX, MIN, or HCOMM_REDUCE_REPLACE
 *
 * Other arguments and @return as of HcommPut; HCCL_E_PARA: also `op` does not exist for `type`, or
 * `offset` is not a multiple of the element size (or the memory itself is not aligned to it).
 * Source:  ours.
 */
HcclResult HcommAccumulate(const void *src, uint64_t count, HcclDataType type, HcclReduceOp op,
                           HcommWindow window, uint32_t rank, uint64_t offset, aclrtStream stream);

/**
 * Combine one element and fetch what was there before. Atomic as HcommAccumulate.
 *
 * @param operand  in   one element
 * @param result   out  one element: the value before
 * @param type          HCCL_DATA_TYPE_INT32, UINT32, INT64 or UINT64
 * @param op            as of HcommAccumulate
 *
 * Other arguments and @return as of HcommAccumulate.
 * Source:  ours.
 */
HcclResult HcommFetchOp(const void *operand, void *result, HcclDataType type, HcclReduceOp op,
                        HcommWindow window, uint32_t rank, uint64_t offset, aclrtStream stream);

/**
 * Replace one element if it equals `compare`. Atomic as HcommAccumulate.
 *
 * @param compare  in   one element
 * @param value    in   one element: the new value
 * @param result   out  one element: the value before; equal to *compare if it was replaced
 * @param type          HCCL_DATA_TYPE_INT32, UINT32, INT64 or UINT64
 *
 * Other arguments and @return as of HcommAccumulate.
 * Source:  ours.
 */
HcclResult HcommCompareSwap(const void *compare, const void *value, void *result, HcclDataType type,
                            HcommWindow window, uint32_t rank, uint64_t offset, aclrtStream stream);

/**
 * HcommPut, then record notify `notify` of the target: see "Order" at the top.
 *
 * @param count   elements; 0 only records, and needs no right
 * @param notify  0 to HCOMM_WINDOW_NOTIFIES - 1
 *
 * Other arguments and @return as of HcommPut.
 * Source:  ours.
 */
HcclResult HcommPutNotify(const void *src, uint64_t count, HcclDataType type, HcommWindow window,
                          uint32_t rank, uint64_t offset, uint32_t notify, aclrtStream stream);

/**
 * Wait until notify `notify` of this rank has been recorded `count` times, and take those records.
 * Records count, from whatever rank they come.
 *
 * @param window     in
 * @param notify         0 to HCOMM_WINDOW_NOTIFIES - 1; one waiter at a time
 * @param count          records, at least 1
 * @param timeoutMs      of the whole wait; 0: the time limit of execution (HCCL_EXEC_TIMEOUT)
 * @param stream     in  see the top
 *
 * @return a common result; HCCL_E_TIMEOUT: they did not come; those that came are taken.
 * Source:  ours.
 */
HcclResult HcommWindowNotifyWait(HcommWindow window, uint32_t notify, uint32_t count,
                                 uint32_t timeoutMs, aclrtStream stream);

/**
 * Complete all earlier puts and accumulates of this stream, or thread, at the target.
 *
 * @param window  in
 * @param rank        target, or HCOMM_ANY_RANK: all
 * @param stream  in  see the top
 *
 * @return a common result.
 * Source:  ours.
 */
HcclResult HcommWindowFlush(HcommWindow window, uint32_t rank, aclrtStream stream);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
