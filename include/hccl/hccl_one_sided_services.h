/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hccl_one_sided_services: put and get between ranks of a communicator.
 *
 * Two ways: register memory for one peer, exchange descriptions, enable them, put and get; or
 * register memory for the process, bind it to communicators, prepare those, put and get. Memory may
 * be device memory (aclrtMalloc), pinned (aclrtMallocHost) or any other.
 *
 * Either way memory of a peer is named by its addresses in the peer's process. They are for put and
 * get only; nothing else here knows them.
 *
 * Common results, not repeated below: HCCL_SUCCESS; HCCL_E_PTR for a NULL; HCCL_E_PARA for what is
 * no live communicator, and for a rank that there is not; HCCL_E_MEMORY; HCCL_E_REMOTE: a peer that
 * the call needs has died, given up or destroyed the communicator; HCCL_E_INTERNAL: a forked child.
 * A timeout is in seconds: 0 is HCCL_CONNECT_TIMEOUT, -1 for ever, less is HCCL_E_PARA.
 *
 * Source: spec, communicator, section 6; spec, types, sections 3.7, 4 and 5.9.
 */
#ifndef HCCL_ONE_SIDED_SERVICES_H
#define HCCL_ONE_SIDED_SERVICES_H

#include "hccl_types.h"
#include "base.h"
#include "hcomm_res_defs.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#ifdef __cplusplus
static const u32 HCCL_MEM_DESC_LENGTH = 511;
#else
enum { HCCL_MEM_DESC_LENGTH = 511 };
#endif

/* Opaque: u32 owner's rank, u32 peer's rank, 504 bytes of record. */
typedef struct {
    char desc[HCCL_MEM_DESC_LENGTH + 1];
} HcclMemDesc;

typedef struct {
    HcclMemDesc *array;
    u32 arrayLength; /* descriptions, or room for them */
} HcclMemDescs;

/* One piece of a put or get. */
typedef struct {
    void *localAddr;
    void *remoteAddr;
    u64 count; /* elements */
    HcclDataType dataType;
} HcclOneSideOpDesc;

typedef enum { HCCL_TOPO_FULLMESH = 0, HCCL_TOPO_NUM = 1 } HcclTopoType;

typedef struct {
    HcclTopoType topoType;
    u64 rsvd0;
    u64 rsvd1;
    u64 rsvd2;
} HcclPrepareConfig;

/**
 * Share memory with one peer. Local. For the own rank it does nothing; a range may be registered
 * several times: that is counted, and the description is the same. At most 256 ranges for a peer.
 *
 * @param comm        in   communicator
 * @param remoteRank       peer
 * @param type             0 device, 1 host
 * @param addr        in   start; valid until deregistered
 * @param size             bytes, above 0; at most 64 GiB on the device, 1 TiB on the host
 * @param desc        out  description for the peer
 *
 * @return a common result; HCCL_E_PARA: type, size or rank, or the range leaves its allocation.
 * Threads: calls on one communicator must be serial.
 * Source:  spec, communicator, section 6.
 */
HcclResult HcclRegisterMem(HcclComm comm, u32 remoteRank, int type, void *addr, u64 size,
                           HcclMemDesc *desc);

/**
 * Undo HcclRegisterMem once. After the last time no put or get of the peer reaches the memory any
 * more: those under way are waited for, later ones fail there.
 *
 * @param comm  in  communicator
 * @param desc  in  description
 *
 * @return a common result; HCCL_E_NOT_FOUND: it is not registered.
 * Threads: calls on one communicator must be serial.
 * Source:  spec, communicator, section 6.
 */
HcclResult HcclDeregisterMem(HcclComm comm, HcclMemDesc *desc);

/**
 * Swap descriptions with a peer, which must make the same call. The first call connects. All 512
 * bytes of a description are carried unchanged, also those of a program's own text; its second rank
 * must be the receiver's, or 0xFFFFFFFF.
 *
 * After HCCL_E_TIMEOUT and HCCL_E_MEMORY the call can be repeated: what the peer sent meanwhile is
 * not lost. The peer may have got the list of the first attempt.
 *
 * @param comm        in   communicator
 * @param remoteRank       peer
 * @param local       in   what to send; at most 256
 * @param timeout          see the top
 * @param remote      out  room for what the peer sends
 * @param actualNum   out  how many came
 *
 * @return a common result; HCCL_E_PARA: local and remote are empty, more than 256, remote is too
 *         small for what came (which is lost), or timeout; HCCL_E_INTERNAL: a description is for
 *         another rank (both sides get it); HCCL_E_TIMEOUT: the peer did not come.
 * Threads: calls on one communicator must be serial.
 * Source:  spec, communicator, section 6.
 */
HcclResult HcclExchangeMemDesc(HcclComm comm, u32 remoteRank, HcclMemDescs *local, int timeout,
                               HcclMemDescs *remote, u32 *actualNum);

/**
 * Make a peer's memory usable, after the exchange. Several times are counted.
 *
 * @param comm           in   communicator
 * @param remoteMemDesc  in   description from the peer
 * @param remoteMem      out  address and size to use as the remote range: see the top
 *
 * @return a common result; HCCL_E_NOT_FOUND: it was not exchanged; HCCL_E_PARA: it is a program's
 *         own text, or describes memory that the peer has not.
 * Threads: calls on one communicator must be serial.
 * Source:  spec, communicator, section 6.
 */
HcclResult HcclEnableMemAccess(HcclComm comm, HcclMemDesc *remoteMemDesc, CommMem *remoteMem);

/**
 * Undo HcclEnableMemAccess once.
 *
 * @param comm           in  communicator
 * @param remoteMemDesc  in  description from the peer
 *
 * @return a common result; HCCL_E_NOT_FOUND: it is not enabled.
 * Threads: calls on one communicator must be serial; no put or get may use it.
 * Source:  spec, communicator, section 6.
 */
HcclResult HcclDisableMemAccess(HcclComm comm, HcclMemDesc *remoteMemDesc);

/**
 * Write pieces of local memory to a peer. Queues on `stream` and returns. The bytes are there when
 * the stream has passed it. If the peer has taken its memory back meanwhile, or is gone, the stream
 * fails.
 *
 * @param comm        in  communicator
 * @param remoteRank      another rank, connected
 * @param desc        in  [descNum] pieces; copied. localAddr: inside one memory that is registered
 * for the peer, or bound; remoteAddr: inside one memory of the peer that is enabled, or was bound
 * there when the communicator was prepared
 * @param descNum         at most 256; 0 does nothing
 * @param stream      in  the work is ordered in it; NULL: the default stream
 *
 * @return a common result; HCCL_E_PARA: a number, a data type or a range; HCCL_E_NOT_FOUND: nothing
 *         has connected the two ranks; HCCL_E_RUNTIME: not a live stream.
 * Threads: calls on one communicator must be serial.
 * Source:  spec, communicator, section 6.
 */
HcclResult HcclBatchPut(HcclComm comm, u32 remoteRank, HcclOneSideOpDesc *desc, u32 descNum,
                        rtStream_t stream);

/**
 * Read pieces of a peer's memory. Arguments, @return and all else as of HcclBatchPut.
 *
 * Source:  spec, communicator, section 6.
 */
HcclResult HcclBatchGet(HcclComm comm, u32 remoteRank, HcclOneSideOpDesc *desc, u32 descNum,
                        rtStream_t stream);

/**
 * Register ranges anew whose memory was replaced under unchanged addresses. There is nothing to do
 * for it here, because peers look the memory up when they enable it; so if it has been replaced
 * since they were told, that is an error.
 *
 * @param comm          in  [commSize] communicators
 * @param memInfoArray  in  [arraySize] ranges
 * @param commSize          above 0
 * @param arraySize         above 0
 *
 * @return a common result; HCCL_E_PTR also for a NULL communicator in the array; HCCL_E_PARA: a
 *         number is 0; HCCL_E_NOT_SUPPORT: memory that is registered or bound was replaced:
 *         deregister it, register it again and exchange that.
 * Threads: calls on one communicator must be serial; no put or get may use the ranges.
 * Source:  spec, communicator, section 6.
 */
HcclResult HcclRemapRegistedMemory(HcclComm *comm, CommMem *memInfoArray, u64 commSize,
                                   u64 arraySize);

/**
 * Register memory for all communicators of the process.
 *
 * @param mem        in   range; valid until deregistered
 * @param memHandle  out  end with HcclDeregisterGlobalMem
 *
 * @return a common result; HCCL_E_PARA: address NULL, size or type (as of HcclRegisterMem), it
 *         leaves its allocation, or it overlaps another range that is registered and is not equal.
 * Threads: safe.
 * Source:  spec, communicator, section 6.
 */
HcclResult HcclRegisterGlobalMem(const CommMem *mem, void **memHandle);

/**
 * Undo HcclRegisterGlobalMem.
 *
 * @param memHandle  in  bound to no communicator any more
 *
 * @return a common result; HCCL_E_PARA: no such memory, or it is bound.
 * Threads: safe.
 * Source:  spec, communicator, section 6.
 */
HcclResult HcclDeregisterGlobalMem(void *memHandle);

/**
 * Bind memory to a communicator, before the first HcclCommPrepare. Later it can only be the local
 * side of puts and gets, and there is a warning. At most 256.
 *
 * @param comm       in  communicator
 * @param memHandle  in  from HcclRegisterGlobalMem
 *
 * @return a common result; HCCL_E_PARA: no such memory, or it is bound already.
 * Threads: calls on one communicator must be serial.
 * Source:  spec, communicator, section 6.
 */
HcclResult HcclCommBindMem(HcclComm comm, void *memHandle);

/**
 * Undo HcclCommBindMem. Afterwards no put or get of a peer reaches the memory through this
 * communicator: see HcclDeregisterMem.
 *
 * @param comm       in  communicator
 * @param memHandle  in  bound memory
 *
 * @return a common result; HCCL_E_PARA: it is not bound.
 * Threads: calls on one communicator must be serial; no put or get may use it.
 * Source:  spec, communicator, section 6.
 */
HcclResult HcclCommUnbindMem(HcclComm comm, void *memHandle);

/**
 * Connect all ranks and exchange the memory that is bound. Returns when all ranks have called it.
 * Once it has succeeded, further calls do nothing; until then it can be repeated, and tells what
 * was bound at the first call.
 *
 * @param comm           in  communicator
 * @param prepareConfig  in  topoType HCCL_TOPO_FULLMESH
 * @param timeout            see the top
 *
 * @return a common result; HCCL_E_PARA: topoType or timeout; HCCL_E_TIMEOUT: a rank did not come.
 * Threads: calls on one communicator must be serial.
 * Source:  spec, communicator, section 6.
 */
HcclResult HcclCommPrepare(HcclComm comm, const HcclPrepareConfig *prepareConfig,
                           const int timeout);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
