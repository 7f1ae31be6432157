/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hccl_res: what a rank takes from its communicator: buffer, memory, threads, engine contexts.
 *
 * All of it belongs to the communicator and is freed with it. Every call is local.
 *
 * Source: spec, control plane, sections 5, 7, 8 and 9.
 */
#ifndef HCCL_RES_H
#define HCCL_RES_H

#include <stdint.h>

#include "acl/acl_rt.h"
#include "hccl_types.h"
#include "hcomm_res_defs.h"
#include "hccl_channel.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#ifdef __cplusplus
static const uint32_t HCCL_RES_TAG_MAX_LEN = 255; /* bytes, without the terminator */
#else
enum {
    HCCL_RES_TAG_MAX_LEN = 255 /* bytes, without the terminator */
};
#endif

/* What a THREAD_RES_TYPE_STREAM query stores. */
typedef aclrtStream ThreadResTypeStream;

/* Threads with a purpose. */
typedef enum {
    HCCL_DED_THREAD_TYPE_INVALID = -1,
    HCCL_DED_THREAD_TYPE_AICPU_LAUNCH = 0,                /* launches AICPU kernels */
    HCCL_DED_THREAD_TYPE_AICPU_LAUNCH_GE = 1,             /* the same, if there is one already */
    HCCL_DED_THREAD_TYPE_AICPU_ORDER_LAUNCH_OPBASE = 2,   /* keeps launches in order */
    HCCL_DED_THREAD_TYPE_AICPU_ORDER_LAUNCH_ACLGRAPH = 3, /* the same, in a captured graph */
    HCCL_DED_THREAD_TYPE_AICPU_ORDER_LAUNCH_GE = 4,       /* the same, for the graph engine */
    HCCL_DED_THREAD_TYPE_AICPU_ORDER_LAUNCH_DEVICE = 5    /* the same, on the device */
} HcclDedicatedThreadType;

/**
 * The HCCL buffer of this rank: device memory, allocated at the first call, at one address for the
 * life of the communicator.
 *
 * @param comm    in   communicator
 * @param buffer  out  start
 * @param size    out  bytes: twice the configured MB
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL; HCCL_E_PARA: no such communicator; HCCL_E_OOM: the device
 *         has no room.
 * Threads: calls on one communicator must be serial.
 * Source:  spec, control plane, section 9.
 */
HcclResult HcclGetHcclBuffer(HcclComm comm, void **buffer, uint64_t *size);

/**
 * HcclGetHcclBuffer, and clear it; every time.
 *
 * @param comm    in   communicator
 * @param buffer  out  start; all bytes are 0
 * @param size    out  bytes
 *
 * @return as HcclGetHcclBuffer.
 * Threads: calls on one communicator must be serial; no transfer may use the buffer.
 * Source:  spec, control plane, section 9.
 */
HcclResult HcclGetHcclBufferCleared(HcclComm comm, void **buffer, uint64_t *size);

/**
 * Register the caller's memory under a tag. Peers get it through channels whose description lists
 * the handle. There is no call that ends it.
 *
 * @param comm       in   communicator
 * @param memTag     in   1 to 254 bytes, new; not beginning with "__hccl_sym_win__",
 *                        "__hccl_team_syncmem__" or "__hccl_team_usermem__"
 * @param mem        in   the range; valid as long as the communicator
 * @param memHandle  out  for HcclChannelDesc
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL, or a NULL address; HCCL_E_PARA: tag, type or size is not
 *         acceptable, or the tag is taken; HCCL_E_MEMORY.
 * Threads: calls on one communicator must be serial.
 * Source:  spec, control plane, section 9.
 */
HcclResult HcclCommMemReg(HcclComm comm, const char *memTag, const CommMem *mem,
                          HcclMemHandle *memHandle);

/**
 * Get threads from the pool of the communicator: always the first ones of the pool for that engine,
 * made where missing, with notifies added where there are too few. So two callers that ask for one
 * thread get the same.
 *
 * @param comm                in   communicator
 * @param engine                   CPU, CPU_TS, AICPU or AICPU_TS
 * @param threadNum                1 or more, at most 200 in the communicator
 * @param notifyNumPerThread       notifies each shall own, at most 65535
 * @param threads             out  [threadNum]; of an AICPU engine: for use on the device only
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL; HCCL_E_PARA: a number, or no such engine;
 *         HCCL_E_NOT_SUPPORT: engine AIV or CCU; HCCL_E_UNAVAIL: the quota is used up;
 *         HCCL_E_MEMORY.
 * Threads: calls on one communicator must be serial.
 * Source:  spec, control plane, section 5.
 */
HcclResult HcclThreadAcquire(HcclComm comm, CommEngine engine, uint32_t threadNum,
                             uint32_t notifyNumPerThread, ThreadHandle *threads);

/**
 * HcclThreadAcquire with a number of notifies for each thread.
 *
 * @param comm       in   communicator
 * @param engine          CPU or AICPU
 * @param threadNum       1 or more
 * @param type            THREAD_TYPE_TS
 * @param config     in   [threadNum] from ThreadConfigInit
 * @param threads    out  [threadNum]
 *
 * @return as HcclThreadAcquire; HCCL_E_PARA also for another engine, type or magic word.
 * Threads: calls on one communicator must be serial.
 * Source:  spec, control plane, section 5.
 */
HcclResult HcclThreadAcquireWithConfig(HcclComm comm, CommEngine engine, uint32_t threadNum,
                                       ThreadType type, const ThreadConfig *config,
                                       ThreadHandle *threads);

/**
 * Make a thread out of a stream of the caller. The same stream gives the same thread; notifies are
 * added if there are too few.
 *
 * @param comm       in   communicator
 * @param engine          CPU or CPU_TS
 * @param stream     in   must outlive the use of the thread
 * @param notifyNum       notifies the thread shall own
 * @param thread     out  handle
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL; HCCL_E_PARA: engine or number; HCCL_E_NOT_FOUND: no such
 *         stream; HCCL_E_NOT_SUPPORT: engine AIV or CCU; HCCL_E_UNAVAIL: the quota is used up;
 *         HCCL_E_MEMORY.
 * Threads: calls on one communicator must be serial.
 * Source:  spec, control plane, section 5.
 */
HcclResult HcclThreadAcquireWithStream(HcclComm comm, CommEngine engine, aclrtStream stream,
                                       uint32_t notifyNum, ThreadHandle *thread);

/**
 * Get a thread with a purpose. It may be that none is needed: then the handle is 0, with success.
 *
 * @param comm                in   communicator
 * @param useType                  purpose
 * @param notifyNumPerThread       notifies it shall own, at most 64
 * @param thread              out  handle, or 0
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL; HCCL_E_PARA: HCCL_DED_THREAD_TYPE_INVALID, or the number;
 *         HCCL_E_NOT_SUPPORT: another useType; HCCL_E_UNAVAIL: the quota is used up.
 * Threads: calls on one communicator must be serial. A device must be current.
 * Source:  spec, control plane, section 7.
 */
HcclResult HcclDedicatedThreadAcquire(HcclComm comm, HcclDedicatedThreadType useType,
                                      uint32_t notifyNumPerThread, ThreadHandle *thread);

/**
 * Ask what a thread of this communicator consists of.
 *
 * @param comm     in   communicator
 * @param thread   in   thread
 * @param resType       THREAD_RES_TYPE_STREAM
 * @param infoLen       bytes at `info`: sizeof(aclrtStream)
 * @param info     out  address of an aclrtStream; it belongs to the thread
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL or thread 0; HCCL_E_PARA: infoLen; HCCL_E_NOT_FOUND: no
 *         such thread; HCCL_E_NOT_SUPPORT: another resType.
 * Threads: safe.
 * Source:  spec, control plane, sections 4 and 5.
 */
HcclResult HcclThreadResGetInfo(HcclComm comm, ThreadHandle thread, ThreadResType resType,
                                uint32_t infoLen, void **info);

/**
 * Make a block of memory that is found again by (ctxTag, engine): host memory, cleared, for CPU and
 * CPU_TS; device memory for AICPU and AICPU_TS. Typical use: what an operator has prepared at its
 * first call.
 *
 * @param comm    in   communicator
 * @param ctxTag  in   at most 255 bytes; NULL is ""
 * @param engine       part of the key; AICPU and AICPU_TS are one
 * @param size         bytes, above 0
 * @param ctx     out  start; until HcclEngineCtxDestroy or the end of the communicator
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL; HCCL_E_PARA: size or tag, or the key exists;
 *         HCCL_E_MEMORY: no room; HCCL_E_NOT_SUPPORT: engine AIV or CCU.
 * Threads: calls on one communicator must be serial.
 * Source:  spec, control plane, section 8.
 */
HcclResult HcclEngineCtxCreate(HcclComm comm, const char *ctxTag, CommEngine engine, uint64_t size,
                               void **ctx);

/**
 * Find a block of HcclEngineCtxCreate. Not finding it is normal and logs no error.
 *
 * @param comm    in   communicator
 * @param ctxTag  in   as created
 * @param engine       as created
 * @param ctx     out  start
 * @param size    out  bytes
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL; HCCL_E_PARA: tag; HCCL_E_NOT_FOUND: there is none.
 * Threads: calls on one communicator must be serial.
 * Source:  spec, control plane, section 8.
 */
HcclResult HcclEngineCtxGet(HcclComm comm, const char *ctxTag, CommEngine engine, void **ctx,
                            uint64_t *size);

/**
 * Copy host memory into a block; done on return. The engine comes before the tag in this call.
 *
 * @param comm          in  communicator
 * @param engine            as created
 * @param ctxTag        in  as created
 * @param srcCtx        in  [size] bytes of host memory
 * @param size              bytes, above 0
 * @param dstCtxOffset      bytes from the start of the block
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL; HCCL_E_PARA: size 0, or it leaves the block;
 *         HCCL_E_NOT_FOUND: there is no such block.
 * Threads: calls on one communicator must be serial.
 * Source:  spec, control plane, section 8.
 */
HcclResult HcclEngineCtxCopy(HcclComm comm, CommEngine engine, const char *ctxTag,
                             const void *srcCtx, uint64_t size, uint64_t dstCtxOffset);

/**
 * Free a block.
 *
 * @param comm    in  communicator
 * @param ctxTag  in  as created
 * @param engine      as created
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL; HCCL_E_PARA: there is none.
 * Threads: calls on one communicator must be serial; no kernel may use it.
 * Source:  spec, control plane, section 8.
 */
HcclResult HcclEngineCtxDestroy(HcclComm comm, const char *ctxTag, CommEngine engine);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
