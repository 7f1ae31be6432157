/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hcomm_res: endpoints, registered memory and threads that the caller owns, without a
 * communicator.
 *
 * Source: spec, control plane, sections 1, 2 and 4.
 */
#ifndef HCOMM_RES_H
#define HCOMM_RES_H

#include "hcomm_channel.h"
#include "hcomm_res_defs.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/**
 * Open a local network endpoint. Does not talk to anyone.
 *
 * @param endpoint        in   protocol, address and location are needed; from EndpointDescInit
 * @param endpointHandle  out  end with HcommEndpointDestroy
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL; HCCL_E_PARA: the location is neither host nor device, or
 *         the protocol does not exist there; HCCL_E_MEMORY; HCCL_E_NETWORK: it cannot be opened.
 * Threads: safe.
 * Source:  spec, control plane, section 1.
 */
HcommResult HcommEndpointCreate(const EndpointDesc *endpoint, EndpointHandle *endpointHandle);

/**
 * Close an endpoint. Its memory and channels should be gone before.
 *
 * @param endpointHandle  in  from HcommEndpointCreate
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL; HCCL_E_NOT_FOUND: no such endpoint; another error:
 *         channels with a shared queue still use it.
 * Threads: not while another call uses it.
 * Source:  spec, control plane, section 1.
 */
HcommResult HcommEndpointDestroy(EndpointHandle endpointHandle);

/**
 * Count the network endpoints that a device has (UB_CTP, UB_RTP, UBoE; not those with memory
 * semantics).
 *
 * @param deviceLogicId       logical id of the device
 * @param descNum        out  endpoints; 0 on failure
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL; HCCL_E_PARA: no such device; HCCL_E_NOT_FOUND: it has no
 *         address; HCCL_E_NOT_SUPPORT: the SoC has none of this kind.
 * Threads: safe.
 * Source:  spec, control plane, section 1.
 */
HcommResult HcommEndpointGetDescNum(int32_t deviceLogicId, uint32_t *descNum);

/**
 * Describe the network endpoints that a device has, ready for HcommEndpointCreate.
 *
 * @param deviceLogicId           logical id of the device
 * @param descNum        in, out  room; then endpoints filled in. Unchanged if there is not enough
 * @param endpointDescs  out      [descNum] descriptions; undefined on failure
 *
 * @return as HcommEndpointGetDescNum; HCCL_E_PARA also when there is not enough room.
 * Threads: safe.
 * Source:  spec, control plane, section 1.
 */
HcommResult HcommEndpointGetDescs(int32_t deviceLogicId, uint32_t *descNum,
                                  EndpointDesc *endpointDescs);

/**
 * The port on which the endpoint listens for control connections.
 *
 * @param endpointHandle  in   endpoint
 * @param port            out  port number, host byte order
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL; HCCL_E_NOT_FOUND: no such endpoint.
 * Threads: safe.
 * Source:  spec, control plane, section 1.
 */
HcommResult HcommEndpointGetListenPort(EndpointHandle endpointHandle, uint32_t *port);

/**
 * Ask whether an endpoint would have a feature, without opening it.
 *
 * @param featureType        NDA needs protocol RoCE on the host; a feature not known is "no"
 * @param endpointDesc  in   the endpoint
 * @param value         out  the answer
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL.
 * Threads: safe.
 * Source:  spec, control plane, section 1.
 */
HcommResult HcommEndpointCheckFeature(HcommEndpointFeatureType featureType,
                                      const EndpointDesc *endpointDesc, bool *value);

/**
 * Register memory on an endpoint, so that peers can be given access. A range inside one that is
 * registered already gets a handle of its own on the same registration.
 *
 * @param endpointHandle  in   endpoint
 * @param memTag          in   a label
 * @param mem             in   the range; must stay valid until HcommMemUnreg
 * @param memHandle       out  end with HcommMemUnreg
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: mem, its address or memHandle is NULL; HCCL_E_PARA: size 0 or
 *         no such type; HCCL_E_NOT_FOUND: no such endpoint; HCCL_E_MEMORY.
 * Threads: safe for different endpoints.
 * Source:  spec, control plane, section 2.
 */
HcommResult HcommMemReg(EndpointHandle endpointHandle, const char *memTag, const CommMem *mem,
                        HcommMemHandle *memHandle);

/**
 * Drop one handle; the last one of a range ends its registration.
 *
 * @param endpointHandle  in  endpoint
 * @param memHandle       in  from HcommMemReg
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL; HCCL_E_NOT_FOUND: no such endpoint or memory.
 * Threads: not while a transfer uses the memory.
 * Source:  spec, control plane, section 2.
 */
HcommResult HcommMemUnreg(EndpointHandle endpointHandle, HcommMemHandle memHandle);

/**
 * Describe registered memory for a peer, which passes the bytes to HcommMemImport. How they get
 * there is the caller's affair.
 *
 * @param endpointHandle  in   endpoint
 * @param memHandle       in   from HcommMemReg
 * @param memDesc         out  bytes of the library, valid until the handle is exported again or
 *                             unregistered
 * @param memDescLen      out  how many
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL; HCCL_E_NOT_FOUND: no such endpoint or memory.
 * Threads: calls with one handle must be serial.
 * Source:  spec, control plane, section 2.
 */
HcommResult HcommMemExport(EndpointHandle endpointHandle, HcommMemHandle memHandle, void **memDesc,
                           uint32_t *memDescLen);

/**
 * Make a peer's memory usable.
 *
 * @param endpointHandle  in   local endpoint
 * @param memDesc         in   [descLen] bytes of the peer's HcommMemExport
 * @param descLen              bytes
 * @param outMem          out  address and size to use as the remote range; end with
 *                             HcommMemUnimport
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL; HCCL_E_NOT_FOUND: no such endpoint; HCCL_E_AGAIN: it is
 *         imported already; HCCL_E_INTERNAL: not such a description.
 * Threads: safe for different endpoints.
 * Source:  spec, control plane, section 2.
 */
HcommResult HcommMemImport(EndpointHandle endpointHandle, const void *memDesc, uint32_t descLen,
                           CommMem *outMem);

/**
 * Undo HcommMemImport.
 *
 * @param endpointHandle  in  local endpoint
 * @param memDesc         in  [descLen] the same bytes
 * @param descLen             bytes
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL; HCCL_E_NOT_FOUND: not imported; HCCL_E_AGAIN: in use.
 * Threads: not while a transfer uses the memory.
 * Source:  spec, control plane, section 2.
 */
HcommResult HcommMemUnimport(EndpointHandle endpointHandle, const void *memDesc, uint32_t descLen);

/**
 * Allocate device memory, mapped, for symmetric windows. A device must be current.
 *
 * @param ptr   out  start; end with HcommMemFree
 * @param size       bytes; rounded up to the granularity of the device
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: ptr is NULL; HCCL_E_PARA: size is 0; HCCL_E_RUNTIME: no device
 *         is current, or it has no room.
 * Threads: safe.
 * Source:  spec, control plane, section 2.
 */
HcommResult HcommMemAlloc(void **ptr, size_t size);

/**
 * Free memory of HcommMemAlloc.
 *
 * @param ptr  in  NULL does nothing
 *
 * @return HCCL_SUCCESS; HCCL_E_RUNTIME: not from HcommMemAlloc.
 * Threads: not while a transfer uses the memory.
 * Source:  spec, control plane, section 2.
 */
HcommResult HcommMemFree(void *ptr);

/**
 * Make threads: queues that run in order, each with notifies of its own.
 *
 * @param engine                   CPU, CPU_TS, AICPU or AICPU_TS
 * @param threadNum                1 to 1000
 * @param notifyNumPerThread  in   [threadNum] notifies of each, at most 64
 * @param threads             out  [threadNum] handles; end with HcommThreadFree
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL; HCCL_E_PARA: a number is out of range;
 *         HCCL_E_NOT_SUPPORT: another engine; HCCL_E_MEMORY; HCCL_E_RUNTIME: no device is current.
 * Threads: safe.
 * Source:  spec, control plane, section 4.
 */
HcommResult HcommThreadAlloc(CommEngine engine, uint32_t threadNum,
                             const uint32_t *notifyNumPerThread, ThreadHandle *threads);

/**
 * Free threads of HcommThreadAlloc.
 *
 * @param threads    in  [threadNum] handles, with nothing queued
 * @param threadNum      threads
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL; HCCL_E_PARA: threadNum; HCCL_E_NOT_FOUND: no such thread.
 * Threads: not while another call uses one of them.
 * Source:  spec, control plane, section 4.
 */
HcommResult HcommThreadFree(const ThreadHandle *threads, uint32_t threadNum);

/**
 * Ask what a thread consists of.
 *
 * @param thread        in   thread
 * @param resType            THREAD_RES_TYPE_STREAM
 * @param infoLen            bytes at `info`: sizeof(aclrtStream)
 * @param info          out  address of an aclrtStream; it belongs to the thread
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: info is NULL or thread 0; HCCL_E_PARA: infoLen;
 *         HCCL_E_NOT_FOUND: no such thread; HCCL_E_NOT_SUPPORT: another resType.
 * Threads: safe.
 * Source:  spec, control plane, section 4.
 */
HcommResult HcommThreadResGetInfo(ThreadHandle thread, ThreadResType resType, uint32_t infoLen,
                                  void **info);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
