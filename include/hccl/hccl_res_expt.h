/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hccl_res_expt: further resources of a communicator, which operator packages use.
 *
 * Source: spec, control plane, sections 6, 9, 11 and 12.
 */
#ifndef HCCL_RES_EXPT_H
#define HCCL_RES_EXPT_H

#include <stdbool.h>
#include <stdint.h>

#include "hccl_res.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Address of a copy of the message, and its length in bytes. */
typedef int32_t(Callback)(uint64_t, int32_t);

/**
 * Make threads of one engine known to another, so that it can record their notifies. Host handles
 * become device handles for AICPU and AICPU_TS; device handles become host handles for CPU, CPU_TS
 * and CCU. The same thread always gives the same handle.
 *
 * @param comm             in   communicator that owns the threads
 * @param threadNum             1 to 40
 * @param threads          in   [threadNum] handles of the other side
 * @param dstCommEngine         who shall use them
 * @param exportedThreads  out  [threadNum]; they live as long as the communicator
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL; HCCL_E_PARA: number, engine, or a thread that this
 *         communicator does not know.
 * Threads: calls on one communicator must be serial.
 * Source:  spec, control plane, section 6.
 */
HcclResult HcclThreadExportToCommEngine(HcclComm comm, uint32_t threadNum,
                                        const ThreadHandle *threads, CommEngine dstCommEngine,
                                        ThreadHandle *exportedThreads);

/**
 * Where a peer's HCCL buffer is mapped here, over a link with memory semantics.
 *
 * @param comm        in   communicator
 * @param remoteRank       the peer
 * @param addr        out  start
 * @param size        out  bytes
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL; HCCL_E_PARA: no such rank; HCCL_E_NOT_FOUND: it is not
 *         mapped.
 * Threads: calls on one communicator must be serial.
 * Source:  spec, control plane, section 9.
 */
HcclResult HcclGetRemoteIpcHcclBuf(HcclComm comm, uint64_t remoteRank, void **addr, uint64_t *size);

/**
 * Get the device memory of a tag, and make it if there is none.
 *
 * @param comm        in   communicator, which owns it
 * @param memTag      in   tag; NULL: one that all share
 * @param size        in   bytes; as made, if it exists
 * @param addr        out  start
 * @param newCreated  out  whether it was made now; may be NULL
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL; HCCL_E_PARA: another size; HCCL_E_OOM: no room.
 * Threads: calls on one communicator must be serial.
 * Source:  spec, control plane, section 9.
 */
HcclResult HcclDevMemAcquire(HcclComm comm, const char *memTag, uint64_t *size, void **addr,
                             bool *newCreated);

/**
 * Give data to every peer of the next HcclChannelAcquire; so ranks can compare their parameters.
 * A second call before it replaces the first; afterwards nothing is kept.
 *
 * @param comm    in  communicator
 * @param data    in  [length] bytes, copied
 * @param length      1 to 2048
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL; HCCL_E_PARA: length.
 * Threads: calls on one communicator must be serial.
 * Source:  spec, control plane, section 11.
 */
HcclResult HcclCommAddExchangeInfo(HcclComm comm, const void *data, uint32_t length);

/**
 * Take what a peer gave with HcclCommAddExchangeInfo, after HcclChannelAcquire; once.
 *
 * @param comm          in   communicator
 * @param remoteRank         the peer
 * @param length             bytes at `data`; as the peer gave
 * @param data          out  [length]
 * @param actualLength  out  bytes; 0 with success if it gave nothing
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL; HCCL_E_PARA: no such rank, or another length.
 * Threads: calls on one communicator must be serial.
 * Source:  spec, control plane, section 11.
 */
HcclResult HcclCommGetExchangeInfo(HcclComm comm, uint32_t remoteRank, uint32_t length, void *data,
                                   uint32_t *actualLength);

/**
 * Drop what HcclCommAddExchangeInfo was given here.
 *
 * @param comm  in  communicator
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL.
 * Threads: calls on one communicator must be serial.
 * Source:  spec, control plane, section 11.
 */
HcclResult HcclCommResetExchangeInfo(HcclComm comm);

/**
 * Have a host function called when the device sends a message with this tag.
 *
 * @param comm    in  communicator
 * @param msgTag  in  tag; one function each
 * @param cb      in  function
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL; HCCL_E_PARA: the tag has one.
 * Threads: calls on one communicator must be serial. The function runs on a thread of the library.
 * Source:  spec, control plane, section 12.
 */
int32_t HcclTaskRegister(HcclComm comm, const char *msgTag, Callback cb);

/**
 * Undo HcclTaskRegister.
 *
 * @param comm    in  communicator
 * @param msgTag  in  tag
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL; HCCL_E_NOT_FOUND: the tag has none.
 * Threads: calls on one communicator must be serial.
 * Source:  spec, control plane, section 12.
 */
int32_t HcclTaskUnRegister(HcclComm comm, const char *msgTag);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
