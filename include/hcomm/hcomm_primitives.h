/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hcomm_primitives: the verbs. Copy, reduce, write, read, notify, fence, batch.
 *
 * A "...OnThread" call appends a task to the queue of a thread and returns: HCCL_SUCCESS says that
 * the task was taken, not that it has run. Tasks of one thread run in the order of the calls;
 * tasks of different threads are ordered by notifies only. A task that fails later stops its
 * stream, and the error appears where the stream is synchronised. Buffers must stay valid, and
 * sources unchanged, until the task has run.
 *
 * Common results, not repeated below: HCCL_E_PTR for a null dst or src, a thread of 0 where one is
 * needed, a channel of 0; HCCL_E_NOT_FOUND for a handle that is not live.
 *
 * Lengths (`len`) are in bytes, counts in elements of the data type, timeouts in seconds.
 *
 * Source: spec, data plane; spec, types, sections 3.2, 3.3 and 5.3.
 */
#ifndef HCOMM_PRIMITIVES_H
#define HCOMM_PRIMITIVES_H

#include <arpa/inet.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "securec.h"

#include "acl/acl_rt.h"
#include "hcomm_res_defs.h"

/* The two calls that set a timeout take a float. */
#ifndef HCOMM_TIMEOUT_FLOAT_TYPE
#define HCOMM_TIMEOUT_FLOAT_TYPE 1
#endif

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#ifndef CHANNEL_HANDLE_DEFINED
#define CHANNEL_HANDLE_DEFINED
typedef uint64_t ChannelHandle;
#endif

#ifndef THREAD_HANDLE_DEFINED
#define THREAD_HANDLE_DEFINED
typedef uint64_t ThreadHandle;
#endif

/* The numbers of HcclReduceOp. */
typedef enum {
    HCOMM_REDUCE_SUM = 0,
    HCOMM_REDUCE_PROD = 1,
    HCOMM_REDUCE_MAX = 2,
    HCOMM_REDUCE_MIN = 3,
    HCOMM_REDUCE_RESERVED = 255
} HcommReduceOp;

/* The numbers of HcclDataType. */
typedef enum {
    HCOMM_DATA_TYPE_INT8 = 0,
    HCOMM_DATA_TYPE_INT16 = 1,
    HCOMM_DATA_TYPE_INT32 = 2,
    HCOMM_DATA_TYPE_FP16 = 3,
    HCOMM_DATA_TYPE_FP32 = 4,
    HCOMM_DATA_TYPE_INT64 = 5,
    HCOMM_DATA_TYPE_UINT64 = 6,
    HCOMM_DATA_TYPE_UINT8 = 7,
    HCOMM_DATA_TYPE_UINT16 = 8,
    HCOMM_DATA_TYPE_UINT32 = 9,
    HCOMM_DATA_TYPE_FP64 = 10,
    HCOMM_DATA_TYPE_BFP16 = 11,
    HCOMM_DATA_TYPE_INT128 = 12,
    HCOMM_DATA_TYPE_HIF8 = 14,
    HCOMM_DATA_TYPE_FP8E4M3 = 15,
    HCOMM_DATA_TYPE_FP8E5M2 = 16,
    HCOMM_DATA_TYPE_FP8E8M0 = 17,
    HCOMM_DATA_TYPE_RESERVED = 255
} HcommDataType;

/* What one entry of a batch does, and which member of transferInfo says how. */
typedef enum {
    HCOMM_TRANSFER_TYPE_INVALID = -1,
    HCOMM_TRANSFER_TYPE_WRITE = 0,                    /* write */
    HCOMM_TRANSFER_TYPE_WRITE_REDUCE = 1,             /* reduce */
    HCOMM_TRANSFER_TYPE_WRITE_WITH_NOTIFY = 2,        /* writeWithNotify */
    HCOMM_TRANSFER_TYPE_WRITE_REDUCE_WITH_NOTIFY = 3, /* writeReduceWithNotify */
    HCOMM_TRANSFER_TYPE_READ = 4,                     /* read */
    HCOMM_TRANSFER_TYPE_READ_REDUCE = 5,              /* reduce */
    HCOMM_TRANSFER_TYPE_NOTIFY_RECORD = 6             /* notifyRecord */
} HcommTransferType;

/* One entry of HcommBatchTransferOnThread. The operator comes before the data type here, and after
 * it in the function prototypes. */
typedef struct {
    HcommTransferType transType;
    uint8_t reserved[4];
    union {
        uint8_t raws[56];
        struct {
            uint64_t len; /* bytes */
            void *dst;    /* at the peer */
            void *src;
        } write;
        struct {
            uint64_t len; /* bytes */
            void *dst;
            void *src; /* at the peer */
        } read;
        struct {
            uint64_t count; /* elements */
            void *dst;
            void *src;
            HcommReduceOp reduceOp;
            HcommDataType dataType;
        } reduce;
        struct {
            uint32_t notifyIdx; /* of the peer */
        } notifyRecord;
        struct {
            uint64_t len; /* bytes */
            void *dst;    /* at the peer */
            void *src;
            uint32_t notifyIdx; /* of the peer */
        } writeWithNotify;
        struct {
            uint64_t count; /* elements */
            void *dst;      /* at the peer */
            void *src;
            HcommReduceOp reduceOp;
            HcommDataType dataType;
            uint32_t notifyIdx; /* of the peer */
        } writeReduceWithNotify;
    } transferInfo;
} HcommBatchTransferDesc;

/* ---- Inside one rank ------------------------------------------------------------------------ */

/**
 * Copy `len` bytes of device memory. Queues and returns.
 *
 * @param thread  in   queue that runs the copy
 * @param dst     out  [len] bytes; also a peer's memory as a channel has mapped it
 * @param src     in   [len] bytes; the same. Must not overlap dst in part
 * @param len          bytes; 0, or src == dst, succeeds and queues nothing
 *
 * @return HCCL_SUCCESS, or a common result.
 * Threads: safe for different `thread`s; calls that share one must be serial.
 * Source:  spec, data plane, section 3.
 */
int32_t HcommLocalCopyOnThread(ThreadHandle thread, void *dst, const void *src, uint64_t len);

/**
 * dst[i] = dst[i] op src[i], for `count` elements of device memory. Queues and returns.
 *
 * @param thread    in       queue that runs the reduction
 * @param dst       in, out  [count] elements
 * @param src       in       [count] elements; must not overlap dst
 * @param dataType           hardware knows int8, int16, int32, fp16, fp32, bfp16; here also others
 * @param reduceOp           hardware knows SUM, MAX, MIN; here also others
 *
 * @return HCCL_SUCCESS; HCCL_E_PARA: no such type or operator; or a common result.
 * Threads: safe for different `thread`s; calls that share one must be serial.
 * Source:  spec, data plane, section 3.
 */
int32_t HcommLocalReduceOnThread(ThreadHandle thread, void *dst, const void *src, uint64_t count,
                                 HcommDataType dataType, HcommReduceOp reduceOp);

/**
 * Record a notify of another thread (or of `thread` itself) of this rank. Queues and returns; the
 * notify is set when the queue of `thread` gets there, after all that was queued before.
 *
 * @param thread        in  queue that records
 * @param dstThread     in  owner of the notify; exported to the engine that makes the call
 * @param dstNotifyIdx      below the notify count of dstThread
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: dstThread has no such notify; or a common result.
 * Threads: safe for different `thread`s; calls that share one must be serial.
 * Source:  spec, data plane, section 4.
 */
int32_t HcommThreadNotifyRecordOnThread(ThreadHandle thread, ThreadHandle dstThread,
                                        uint32_t dstNotifyIdx);

/**
 * Hold the queue of `thread` until one of its own notifies is recorded, and take that record. The
 * caller is not held. A record that came earlier is remembered.
 *
 * @param thread     in  queue that waits
 * @param notifyIdx      below the notify count of `thread`
 * @param timeOut        seconds from when the wait begins to run; 0: for ever. When it passes, the
 *                       stream fails; this call has long succeeded
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: no such notify; or a common result.
 * Threads: safe for different `thread`s; calls that share one must be serial.
 * Source:  spec, data plane, section 4.
 */
int32_t HcommThreadNotifyWaitOnThread(ThreadHandle thread, uint32_t notifyIdx, uint32_t timeOut);

/**
 * As HcommThreadNotifyWaitOnThread, with the timeout of HcommSetNotifyWaitTimeOut.
 *
 * @param thread     in  queue that waits
 * @param notifyIdx      below the notify count of `thread`
 *
 * @return as HcommThreadNotifyWaitOnThread.
 * Threads: safe for different `thread`s; calls that share one must be serial.
 * Source:  spec, data plane, sections 4 and 7.
 */
int32_t HcommThreadNotifyWaitOnThreadWithDefaultTimeout(ThreadHandle thread, uint32_t notifyIdx);

/**
 * Record a notify that aclrtCreateNotify made. Queues and returns.
 *
 * @param thread       in  queue that records
 * @param dstNotifyId      from aclrtGetNotifyId, for a notify of the same device
 *
 * @return HCCL_SUCCESS; HCCL_E_NOT_FOUND: no such notify; or a common result.
 * Threads: safe for different `thread`s; calls that share one must be serial.
 * Source:  spec, data plane, section 4.2.
 */
int32_t HcommAclrtNotifyRecordOnThread(ThreadHandle thread, uint64_t dstNotifyId);

/**
 * Hold the queue of `thread` until a notify of aclrtCreateNotify is recorded, by aclrtRecordNotify
 * or by a thread, and take that record. Queues and returns.
 *
 * @param thread    in  queue that waits
 * @param notifyId      from aclrtGetNotifyId, for a notify of the same device
 * @param timeOut       seconds; 0: for ever
 *
 * @return HCCL_SUCCESS; HCCL_E_NOT_FOUND: no such notify; or a common result.
 * Threads: safe for different `thread`s; calls that share one must be serial.
 * Source:  spec, data plane, section 4.2.
 */
int32_t HcommAclrtNotifyWaitOnThread(ThreadHandle thread, uint64_t notifyId, uint32_t timeOut);

/* ---- To and from a peer, queued on a thread ------------------------------------------------- */

/**
 * Write `len` bytes to the peer of `channel`. Queues and returns.
 *
 * The bytes have landed when the peer has seen a notify that was recorded later on the same thread
 * and channel, or when a fence has returned.
 *
 * @param thread   in   queue that runs the write
 * @param channel  in   connected
 * @param dst      out  [len] bytes inside one region the peer offers on this channel
 * @param src      in   [len] bytes of this rank, unchanged until landed; the HCCL buffer or
 *                      registered, where the protocol is RDMA (a soft NPU takes any memory)
 * @param len           bytes
 *
 * @return HCCL_SUCCESS; HCCL_E_PARA: dst leaves its region or src its allocation; or a common
 *         result.
 * Threads: safe for different `thread`s; calls that share one must be serial.
 * Source:  spec, data plane, section 5.
 */
int32_t HcommWriteOnThread(ThreadHandle thread, ChannelHandle channel, void *dst, const void *src,
                           uint64_t len);

/**
 * Read `len` bytes from the peer of `channel`. Queues and returns; the bytes are there for what is
 * queued later on the same thread.
 *
 * @param thread   in   queue that runs the read
 * @param channel  in   connected
 * @param dst      out  [len] bytes of this rank; registered where the protocol is RDMA
 * @param src      in   [len] bytes inside one region the peer offers on this channel
 * @param len           bytes
 *
 * @return as HcommWriteOnThread.
 * Threads: safe for different `thread`s; calls that share one must be serial.
 * Source:  spec, data plane, section 5.
 */
int32_t HcommReadOnThread(ThreadHandle thread, ChannelHandle channel, void *dst, const void *src,
                          uint64_t len);

/**
 * Peer's dst[i] = dst[i] op src[i]. Queues and returns; lands as HcommWriteOnThread does. Not
 * atomic against other writers of dst: order them with notifies.
 *
 * @param thread    in       queue that runs the write
 * @param channel   in       connected
 * @param dst       in, out  [count] elements at the peer
 * @param src       in       [count] elements of this rank
 * @param count              elements
 * @param dataType, reduceOp as for HcommLocalReduceOnThread
 *
 * @return HCCL_SUCCESS; HCCL_E_PARA: no such type or operator, or a range leaves its region; or a
 *         common result.
 * Threads: safe for different `thread`s; calls that share one must be serial.
 * Source:  spec, data plane, section 5.
 */
int32_t HcommWriteReduceOnThread(ThreadHandle thread, ChannelHandle channel, void *dst,
                                 const void *src, uint64_t count, HcommDataType dataType,
                                 HcommReduceOp reduceOp);

/**
 * This rank's dst[i] = dst[i] op src[i], where src is at the peer. Queues and returns.
 *
 * @param thread    in       queue that runs the read
 * @param channel   in       connected
 * @param dst       in, out  [count] elements of this rank
 * @param src       in       [count] elements at the peer
 * @param count              elements
 * @param dataType, reduceOp as for HcommLocalReduceOnThread
 *
 * @return as HcommWriteReduceOnThread.
 * Threads: safe for different `thread`s; calls that share one must be serial.
 * Source:  spec, data plane, section 5.
 */
int32_t HcommReadReduceOnThread(ThreadHandle thread, ChannelHandle channel, void *dst,
                                const void *src, uint64_t count, HcommDataType dataType,
                                HcommReduceOp reduceOp);

/**
 * HcommWriteOnThread, then record notify `remoteNotifyIdx` of the peer. Queues and returns; whoever
 * sees the notify sees the bytes. The peer waits with HcommChannelNotifyWaitOnThread.
 *
 * @param thread           in   queue that runs the write
 * @param channel          in   connected
 * @param dst              out  [len] bytes at the peer
 * @param src              in   [len] bytes of this rank
 * @param len                   bytes
 * @param remoteNotifyIdx       below the peer's notify count
 *
 * @return as HcommWriteOnThread; HCCL_E_PARA also for a bad index.
 * Threads: safe for different `thread`s; calls that share one must be serial.
 * Source:  spec, data plane, section 5.
 */
int32_t HcommWriteWithNotifyOnThread(ThreadHandle thread, ChannelHandle channel, void *dst,
                                     const void *src, uint64_t len, uint32_t remoteNotifyIdx);

/**
 * HcommWriteReduceOnThread, then record notify `remoteNotifyIdx` of the peer. Queues and returns;
 * whoever sees the notify sees the result.
 *
 * @param thread           in       queue that runs the write
 * @param channel          in       connected
 * @param dst              in, out  [count] elements at the peer
 * @param src              in       [count] elements of this rank
 * @param count                     elements
 * @param dataType, reduceOp        as for HcommLocalReduceOnThread
 * @param remoteNotifyIdx           below the peer's notify count
 *
 * @return as HcommWriteReduceOnThread; HCCL_E_PARA also for a bad index.
 * Threads: safe for different `thread`s; calls that share one must be serial.
 * Source:  spec, data plane, section 5.
 */
int32_t HcommWriteReduceWithNotifyOnThread(ThreadHandle thread, ChannelHandle channel, void *dst,
                                           const void *src, uint64_t count, HcommDataType dataType,
                                           HcommReduceOp reduceOp, uint32_t remoteNotifyIdx);

/**
 * Queue several transfers on one thread and channel, in array order. Each does what the single call
 * of its kind does. If one is refused, those before it stay queued.
 *
 * @param thread           in  queue that runs them
 * @param channel          in  connected
 * @param transferDescs    in  [transferDescNum] entries; may be reused after the call
 * @param transferDescNum      entries
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: transferDescs is NULL; HCCL_E_PARA: transferDescNum is 0;
 *         HCCL_E_NOT_SUPPORT: an unknown transType; or what the single call returns.
 * Threads: safe for different `thread`s; calls that share one must be serial.
 * Source:  spec, data plane, section 9.1.
 */
int32_t HcommBatchTransferOnThread(ThreadHandle thread, ChannelHandle channel,
                                   const HcommBatchTransferDesc *transferDescs,
                                   uint32_t transferDescNum);

/* ---- Channel notifies ----------------------------------------------------------------------- */

/**
 * Record notify `remoteNotifyIdx` of the peer's end of `channel`. Queues and returns. The peer sees
 * it after everything queued before on the same thread and channel.
 *
 * On a channel of engine CPU the record is posted at once and `thread` is not used: pass 0.
 *
 * @param thread           in  queue that records
 * @param channel          in  connected, with notifies
 * @param remoteNotifyIdx      below the peer's notify count
 *
 * @return HCCL_SUCCESS; HCCL_E_PARA: no such notify; HCCL_E_AGAIN: the send queue is full (engine
 *         CPU); or a common result.
 * Threads: safe for different `thread`s; calls that share one must be serial.
 * Source:  spec, data plane, section 6.
 */
int32_t HcommChannelNotifyRecordOnThread(ThreadHandle thread, ChannelHandle channel,
                                         uint32_t remoteNotifyIdx);

/**
 * Hold the queue of `thread` until the peer has recorded notify `localNotifyIdx`, and take that
 * record. Queues and returns. On a channel of engine CPU it is HcommChannelNotifyWait.
 *
 * @param thread          in  queue that waits; engine CPU: pass 0
 * @param channel         in  connected, with notifies
 * @param localNotifyIdx      below this end's notify count
 * @param timeOut             seconds from when the wait begins to run; 0: for ever
 *
 * @return HCCL_SUCCESS; HCCL_E_PARA: no such notify; or a common result. Engine CPU: as
 *         HcommChannelNotifyWait.
 * Threads: safe for different `thread`s; calls that share one must be serial.
 * Source:  spec, data plane, section 6.
 */
int32_t HcommChannelNotifyWaitOnThread(ThreadHandle thread, ChannelHandle channel,
                                       uint32_t localNotifyIdx, uint32_t timeOut);

/**
 * As HcommChannelNotifyWaitOnThread, with the timeout of HcommSetNotifyWaitTimeOut.
 *
 * @param thread          in  queue that waits
 * @param channel         in  connected, with notifies
 * @param localNotifyIdx      below this end's notify count
 *
 * @return as HcommChannelNotifyWaitOnThread.
 * Threads: safe for different `thread`s; calls that share one must be serial.
 * Source:  spec, data plane, sections 6 and 7.
 */
int32_t HcommChannelNotifyWaitOnThreadWithDefaultTimeout(ThreadHandle thread, ChannelHandle channel,
                                                         uint32_t localNotifyIdx);

/**
 * Record notify `remoteNotifyIdx` of the peer from the calling OS thread; for channels of engine
 * CPU. Returns when the record is posted, after what was posted before on the channel.
 *
 * @param channel          in  connected; made for engine CPU (a soft NPU takes any)
 * @param remoteNotifyIdx      below the peer's notify count
 *
 * @return HCCL_SUCCESS; HCCL_E_PARA: no such notify; HCCL_E_AGAIN: the send queue is full;
 *         or a common result.
 * Threads: calls on one channel must be serial.
 * Source:  spec, data plane, section 6.3.
 */
int32_t HcommChannelNotifyRecord(ChannelHandle channel, uint32_t remoteNotifyIdx);

/**
 * Hold the calling OS thread until the peer has recorded notify `localNotifyIdx`, and take that
 * record; for channels of engine CPU. Wait in the order in which the peer records.
 *
 * @param channel         in  connected; made for engine CPU (a soft NPU takes any)
 * @param localNotifyIdx      below this end's notify count
 * @param timeOut             seconds, above 0
 *
 * @return HCCL_SUCCESS; HCCL_E_PARA: no such notify; HCCL_E_TIMEOUT; HCCL_E_NETWORK: the channel
 *         broke; or a common result.
 * Threads: calls on one channel must be serial.
 * Source:  spec, data plane, section 6.3.
 */
int32_t HcommChannelNotifyWait(ChannelHandle channel, uint32_t localNotifyIdx, uint32_t timeOut);

/* ---- Posted straight to the network; no thread, or one that is not used --------------------- */

/**
 * Post a write of `len` bytes to the peer, from the calling OS thread. Returns when posted; it has
 * landed when HcommChannelFence has returned.
 *
 * @param channel  in   connected; made for engine CPU (a soft NPU takes any)
 * @param dst      out  [len] bytes inside one region of the peer
 * @param src      in   [len] bytes of this side; unchanged until the fence. Hardware wants them
 *                      inside one registered region; a soft NPU takes any memory
 * @param len           bytes, above 0
 *
 * @return HCCL_SUCCESS; HCCL_E_PARA: len is 0, or the range leaves the peer's region or an
 *         allocation of this side; HCCL_E_AGAIN: the send queue is full, nothing was posted; or a
 *         common result.
 * Threads: calls on one channel must be serial.
 * Source:  spec, data plane, section 8.
 */
int32_t HcommWriteNbi(ChannelHandle channel, void *dst, const void *src, uint64_t len);

/**
 * Post a read of `len` bytes from the peer. Returns when posted; dst holds the bytes when
 * HcommChannelFence has returned.
 *
 * @param channel  in   connected; made for engine CPU (a soft NPU takes any)
 * @param dst      out  [len] bytes of this side; where, as for HcommWriteNbi
 * @param src      in   [len] bytes inside one region of the peer
 * @param len           bytes, above 0
 *
 * @return as HcommWriteNbi.
 * Threads: calls on one channel must be serial.
 * Source:  spec, data plane, section 8.
 */
int32_t HcommReadNbi(ChannelHandle channel, void *dst, const void *src, uint64_t len);

/**
 * HcommWriteNbi, then record notify `remoteNotifyIdx` of the peer; whoever sees it sees the bytes.
 *
 * @param channel          in   connected; made for engine CPU (a soft NPU takes any)
 * @param dst              out  [len] bytes inside one region of the peer
 * @param src              in   [len] bytes of this side, as for HcommWriteNbi
 * @param len                   bytes, above 0
 * @param remoteNotifyIdx       below the peer's notify count
 *
 * @return as HcommWriteNbi; HCCL_E_PARA also for a bad index.
 * Threads: calls on one channel must be serial.
 * Source:  spec, data plane, section 8.
 */
int32_t HcommWriteWithNotifyNbi(ChannelHandle channel, void *dst, const void *src, uint64_t len,
                                uint32_t remoteNotifyIdx);

/**
 * HcommWriteNbi. `thread` is not used: pass 0. Parameters, results and rules are those of
 * HcommWriteNbi.
 *
 * Threads: calls on one channel must be serial.
 * Source:  spec, data plane, section 8.
 */
int32_t HcommWriteNbiOnThread(ThreadHandle thread, ChannelHandle channel, void *dst,
                              const void *src, uint64_t len);

/**
 * HcommReadNbi. `thread` is not used: pass 0. Parameters, results and rules are those of
 * HcommReadNbi.
 *
 * Threads: calls on one channel must be serial.
 * Source:  spec, data plane, section 8.
 */
int32_t HcommReadNbiOnThread(ThreadHandle thread, ChannelHandle channel, void *dst, const void *src,
                             uint64_t len);

/**
 * HcommWriteWithNotifyNbi. `thread` is not used: pass 0. Parameters, results and rules are those
 * of HcommWriteWithNotifyNbi.
 *
 * Threads: calls on one channel must be serial.
 * Source:  spec, data plane, section 8.
 */
int32_t HcommWriteWithNotifyNbiOnThread(ThreadHandle thread, ChannelHandle channel, void *dst,
                                        const void *src, uint64_t len, uint32_t remoteNotifyIdx);

/* ---- Fences --------------------------------------------------------------------------------- */

/**
 * Hold the caller until all that was posted on `channel` has completed; for channels of engine CPU.
 * With nothing pending it returns at once.
 *
 * @param channel  in  connected; made for engine CPU (a soft NPU takes any)
 *
 * @return HCCL_SUCCESS; HCCL_E_TIMEOUT: no progress for HCCL_EXEC_TIMEOUT; HCCL_E_NETWORK: an
 *         operation completed with an error; or a common result.
 * Threads: calls on one channel must be serial.
 * Source:  spec, data plane, section 8.
 */
int32_t HcommChannelFence(ChannelHandle channel);

/**
 * Order a channel: what is before it on (thread, channel) completes before what is after it.
 * Engines with a task scheduler: queues and returns. Engine CPU: HcommChannelFence.
 *
 * @param thread   in  queue that holds the fence; engine CPU: pass 0
 * @param channel  in  connected
 *
 * @return HCCL_SUCCESS, or a common result; engine CPU: as HcommChannelFence.
 * Threads: safe for different `thread`s; calls that share one must be serial.
 * Source:  spec, data plane, section 8.
 */
int32_t HcommChannelFenceOnThread(ThreadHandle thread, ChannelHandle channel);

/**
 * Hold the caller until what the network has written is visible to the device; host only and not
 * tied to a channel. Call the fence of the channel first. Nothing to flush: returns at once.
 *
 * @param thread  in  not used
 *
 * @return HCCL_SUCCESS.
 * Threads: safe.
 * Source:  spec, data plane, section 8.
 */
int32_t HcommFenceOnThread(ThreadHandle thread);

/**
 * Hold the caller until all reads and writes given to (thread, channel) have finished.
 *
 * @param thread   in  queue they were given to
 * @param channel  in  connected
 *
 * @return HCCL_SUCCESS, or a common result.
 * Threads: calls that share a `thread` must be serial.
 * Source:  spec, data plane, section 8.
 */
int32_t HcommChannelDrainOnThread(ThreadHandle thread, ChannelHandle channel);

/* ---- Timeouts ------------------------------------------------------------------------------- */

/**
 * Set the timeout that the two "...WithDefaultTimeout" calls use, for the calling OS thread. Host
 * and device each have their own; waits with a timeout of their own do not look at it.
 *
 * @param timeOut  seconds, the fraction is dropped; 0: for ever. At first 1886 s on the host and
 *                 1836 s on the device
 *
 * @return HCCL_SUCCESS; HCCL_E_PARA: not a number, negative, or above UINT32_MAX.
 * Threads: safe.
 * Source:  spec, data plane, section 7.
 */
int32_t HcommSetNotifyWaitTimeOut(float timeOut);

/**
 * Set how long a call waits for room in the full queue of a thread before it fails, for the calling
 * OS thread; device side.
 *
 * @param timeOut  seconds, the fraction is dropped; 0: for ever. At first 1856 s
 *
 * @return HCCL_SUCCESS; HCCL_E_PARA: not a number, negative, or above UINT32_MAX;
 *         HCCL_E_NOT_SUPPORT: called on the host.
 * Threads: safe.
 * Source:  spec, data plane, section 7.
 */
int32_t HcommThreadResAcquireTimeOut(float timeOut);

/* ---- Batches, the communicator's lock ------------------------------------------------------- */

/**
 * From now to HcommBatchModeEnd, "...OnThread" calls of this OS thread only write their tasks; none
 * starts. Do not nest. Portable kernels use batches: part of the hardware starts nothing without.
 *
 * @param batchTag  in  a label; NULL or "" for none
 *
 * @return HCCL_SUCCESS; HCCL_E_PARA: this OS thread is inside a batch already.
 * Threads: the state belongs to the calling OS thread.
 * Source:  spec, data plane, section 9.2.
 */
int32_t HcommBatchModeStart(const char *batchTag);

/**
 * Start all tasks written since HcommBatchModeStart, in the order of the calls. With none it does
 * nothing. Call it after an error inside the batch too.
 *
 * @param batchTag  in  the label given to HcommBatchModeStart
 *
 * @return HCCL_SUCCESS; HCCL_E_MEMORY, HCCL_E_RUNTIME: a task was refused, and those after it are
 *         dropped.
 * Threads: on the OS thread that called HcommBatchModeStart.
 * Source:  spec, data plane, section 9.2.
 */
int32_t HcommBatchModeEnd(const char *batchTag);

/**
 * Lock a communicator for a kernel and make it current for this OS thread. On the device the call
 * waits, without limit, until its holder has released it; it does not nest. On the host it only
 * checks the name.
 *
 * @param commId  in  name of the communicator, from HcclGetCommName
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: commId is NULL or names no communicator.
 * Threads: safe.
 * Source:  spec, data plane, section 10.
 */
int32_t HcommAcquireComm(const char *commId);

/**
 * Undo HcommAcquireComm. To be called on every path, also after an error.
 *
 * @param commId  in  the name given to HcommAcquireComm; one that is not known is no error
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: commId is NULL.
 * Threads: on the OS thread that holds the lock.
 * Source:  spec, data plane, section 10.
 */
int32_t HcommReleaseComm(const char *commId);

/* ---- Recorded tasks (device side) ----------------------------------------------------------- */

/**
 * Ask whether the tasks of an operator are recorded under `tag`, and make `tag` current for this OS
 * thread. On a miss an entry is reserved if there is room.
 *
 * @param tag    in   names the operator with its parameters
 * @param isHit  out  true: call HcommAicpuTsTaskCacheExecute; false: ...Start, queue, ...End
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL; HCCL_E_NOT_SUPPORT: not on this device.
 * Threads: one tag must not be recorded by two OS threads at once.
 * Source:  spec, data plane, section 11.
 */
HcommResult HcommAicpuTsTaskCacheLookup(const char *tag, bool *isHit);

/**
 * Begin to record, after a miss. Queue the operator's tasks, then call HcommAicpuTsTaskCacheEnd.
 *
 * @param tag    in  as in the lookup
 * @param addrs  in  [count] starts of the user's regions, which a replay may move
 * @param sizes  in  [count] their sizes, bytes
 * @param count      regions
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL; HCCL_E_PARA: another tag; HCCL_E_INTERNAL: no miss came
 *         before.
 * Threads: on the OS thread of the lookup.
 * Source:  spec, data plane, section 11.
 */
HcommResult HcommAicpuTsTaskCacheStart(const char *tag, void **addrs, uint64_t *sizes,
                                       uint64_t count);

/**
 * Stop recording and keep the entry, if there is room.
 *
 * @param tag  in  as in the lookup
 *
 * @return as HcommAicpuTsTaskCacheStart.
 * Threads: on the OS thread of the lookup.
 * Source:  spec, data plane, section 11.
 */
HcommResult HcommAicpuTsTaskCacheEnd(const char *tag);

/**
 * Queue the recorded tasks again, with the regions moved to `addrs`; after a hit.
 *
 * @param tag    in  as in the lookup
 * @param addrs  in  [count] new starts of the regions
 * @param sizes  in  [count] bytes; as recorded
 * @param count      regions; as recorded
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL; HCCL_E_PARA: count or a size is not as recorded;
 *         HCCL_E_INTERNAL: no hit came before.
 * Threads: on the OS thread of the lookup.
 * Source:  spec, data plane, section 11.
 */
HcommResult HcommAicpuTsTaskCacheExecute(const char *tag, void **addrs, uint64_t *sizes,
                                         uint64_t count);

/**
 * Forget what was recorded under `tag`. None: success.
 *
 * @param tag  in  names the entry
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL.
 * Threads: not while the entry is used.
 * Source:  spec, data plane, section 11.
 */
HcommResult HcommAicpuTsTaskCacheClear(const char *tag);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
