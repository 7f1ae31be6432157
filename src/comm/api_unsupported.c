/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * api_unsupported: functions that exist so that programs link, and say that they do nothing yet.
 *
 * Each has its whole parameter list here: the compiler compares it with the header. One that is
 * implemented leaves this file.
 */
#include "comm/comm.h"

#include "hccl/hccl_comm.h"
#include "hccl/hccl_inner.h"
#include "hccl/hccl_launch.h"
#include "hccl/hccl_one_sided_services.h"
#include "hccl/hccl_sym_win.h"
#include "hccl/hccl_team.h"
#include "hcomm/hcomm_extra.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

#define UNSUPPORTED(name_, parameters_)                                                            \
    HcclResult name_ parameters_                                                                   \
    {                                                                                              \
        return comm_unsupported(#name_);                                                           \
    }

/* clang-format off */

/* Communicators other than from root info; what one does beside existing. */
UNSUPPORTED(HcclCommInitClusterInfo, (const char *clusterInfo, uint32_t rank, HcclComm *comm))
UNSUPPORTED(HcclCommInitClusterInfoConfig, (const char *clusterInfo, uint32_t rank,
                                            HcclCommConfig *config, HcclComm *comm))
UNSUPPORTED(HcclCommInitClusterInfoMemConfig, (const char *rankTableString, uint32_t rank,
                                               HcclCommConfig *config, HcclComm *comm))
UNSUPPORTED(HcclCreateSubCommConfig, (HcclComm *comm, uint32_t rankNum, uint32_t *rankIds,
                                      uint64_t subCommId, uint32_t subCommRankId,
                                      HcclCommConfig *config, HcclComm *subComm))
UNSUPPORTED(HcclCommSuspend, (HcclComm comm))
UNSUPPORTED(HcclCommResume, (HcclComm comm))
UNSUPPORTED(HcclCommWorkingDevNicSet, (HcclComm comm, uint32_t *ranks, bool *useBackup,
                                       uint32_t nRanks))
UNSUPPORTED(HcclBarrier, (HcclComm comm, aclrtStream stream))
UNSUPPORTED(HcclAicpuKernelLaunch, (HcclComm comm, const HcclOpDesc *opInfo,
                                    const HcclKernelFuncInfo *funcInfo,
                                    ThreadHandle aicpuThreadHandle, aclrtStream userStream,
                                    const HcclKernelLaunchCfg *kernelLaunchCfg))

/* Memory that is used without staging. */
UNSUPPORTED(HcclCommSetMemoryRange, (HcclComm comm, void *baseVirPtr, size_t size, size_t alignment,
                                     uint64_t flags))
UNSUPPORTED(HcclCommUnsetMemoryRange, (HcclComm comm, void *baseVirPtr))
UNSUPPORTED(HcclCommActivateCommMemory, (HcclComm comm, void *virPtr, size_t size, size_t offset,
                                         aclrtDrvMemHandle handle, uint64_t flags))
UNSUPPORTED(HcclCommDeactivateCommMemory, (HcclComm comm, void *virPtr))

/* Symmetric windows. */
UNSUPPORTED(HcclCommSymWinRegister, (HcclComm comm, void *addr, uint64_t size,
                                     HcclCommSymWindow *winHandle, uint32_t flag))
UNSUPPORTED(HcclCommSymWinDeregister, (HcclCommSymWindow winHandle))
UNSUPPORTED(HcclCommSymWinGet, (HcclComm comm, void *ptr, size_t size, HcclCommSymWindow *winHandle,
                                size_t *offset))
UNSUPPORTED(HcclSymWinGetPeerPointer, (HcclCommSymWindow winHandle, size_t offset,
                                       uint32_t peerRank, void **ptr))

/* Teams. */
UNSUPPORTED(HcclWorldTeamCreate, (HcclComm comm, const HcclTeamCreateDesc *desc,
                                  HcommTeamHandle *worldTeam))
UNSUPPORTED(HcclSubTeamCreate, (HcommTeamHandle worldTeam, const HcclTeamCreateDesc *desc,
                                HcommTeamHandle *team))
UNSUPPORTED(HcclTeamDestroy, (HcommTeamHandle team))
UNSUPPORTED(HcclTeamWindowRegister, (HcclComm comm, HcommTeamHandle worldTeam,
                                     const CommMem *localMem, HcommWindowHandle *window,
                                     uint32_t flag))
UNSUPPORTED(HcclTeamWindowDeregister, (HcommTeamHandle worldTeam, HcommWindowHandle window))
UNSUPPORTED(HcclTeamChannelsCreate, (HcclComm comm, HcommTeamHandle team,
                                     const HcclTeamCreateChannelsDesc *desc))

/* One-sided services. */
UNSUPPORTED(HcclRegisterMem, (HcclComm comm, u32 remoteRank, int type, void *addr, u64 size,
                              HcclMemDesc *desc))
UNSUPPORTED(HcclDeregisterMem, (HcclComm comm, HcclMemDesc *desc))
UNSUPPORTED(HcclExchangeMemDesc, (HcclComm comm, u32 remoteRank, HcclMemDescs *local, int timeout,
                                  HcclMemDescs *remote, u32 *actualNum))
UNSUPPORTED(HcclEnableMemAccess, (HcclComm comm, HcclMemDesc *remoteMemDesc, CommMem *remoteMem))
UNSUPPORTED(HcclDisableMemAccess, (HcclComm comm, HcclMemDesc *remoteMemDesc))
UNSUPPORTED(HcclBatchPut, (HcclComm comm, u32 remoteRank, HcclOneSideOpDesc *desc, u32 descNum,
                           rtStream_t stream))
UNSUPPORTED(HcclBatchGet, (HcclComm comm, u32 remoteRank, HcclOneSideOpDesc *desc, u32 descNum,
                           rtStream_t stream))
UNSUPPORTED(HcclRemapRegistedMemory, (HcclComm *comm, CommMem *memInfoArray, u64 commSize,
                                      u64 arraySize))
UNSUPPORTED(HcclRegisterGlobalMem, (const CommMem *mem, void **memHandle))
UNSUPPORTED(HcclDeregisterGlobalMem, (void *memHandle))
UNSUPPORTED(HcclCommBindMem, (HcclComm comm, void *memHandle))
UNSUPPORTED(HcclCommUnbindMem, (HcclComm comm, void *memHandle))
UNSUPPORTED(HcclCommPrepare, (HcclComm comm, const HcclPrepareConfig *prepareConfig,
                              const int timeout))

/* The operators under their second names. */
UNSUPPORTED(HcclAllReduceInner, (void *sendBuf, void *recvBuf, uint64_t count,
                                 HcclDataType dataType, HcclReduceOp op, HcclComm comm,
                                 aclrtStream stream))
UNSUPPORTED(HcclBroadcastInner, (void *buf, uint64_t count, HcclDataType dataType, uint32_t root,
                                 HcclComm comm, aclrtStream stream))
UNSUPPORTED(HcclReduceScatterInner, (void *sendBuf, void *recvBuf, uint64_t recvCount,
                                     HcclDataType dataType, HcclReduceOp op, HcclComm comm,
                                     aclrtStream stream))
UNSUPPORTED(HcclReduceScatterVInner, (void *sendBuf, const void *sendCounts, const void *sendDispls,
                                      void *recvBuf, uint64_t recvCount, HcclDataType dataType,
                                      HcclReduceOp op, HcclComm comm, aclrtStream stream))
UNSUPPORTED(HcclScatterInner, (void *sendBuf, void *recvBuf, uint64_t recvCount,
                               HcclDataType dataType, uint32_t root, HcclComm comm,
                               aclrtStream stream))
UNSUPPORTED(HcclAllGatherInner, (void *sendBuf, void *recvBuf, uint64_t sendCount,
                                 HcclDataType dataType, HcclComm comm, aclrtStream stream))
UNSUPPORTED(HcclAllGatherVInner, (void *sendBuf, uint64_t sendCount, void *recvBuf,
                                  const void *recvCounts, const void *recvDispls,
                                  HcclDataType dataType, HcclComm comm, aclrtStream stream))
UNSUPPORTED(HcclSendInner, (void *sendBuf, uint64_t count, HcclDataType dataType, uint32_t destRank,
                            HcclComm comm, aclrtStream stream))
UNSUPPORTED(HcclRecvInner, (void *recvBuf, uint64_t count, HcclDataType dataType, uint32_t srcRank,
                            HcclComm comm, aclrtStream stream))
UNSUPPORTED(HcclAlltoAllVCInner, (const void *sendBuf, const void *sendCountMatrix,
                                  HcclDataType sendType, const void *recvBuf, HcclDataType recvType,
                                  HcclComm comm, aclrtStream stream))
UNSUPPORTED(HcclAlltoAllVInner, (const void *sendBuf, const void *sendCounts, const void *sdispls,
                                 HcclDataType sendType, const void *recvBuf, const void *recvCounts,
                                 const void *rdispls, HcclDataType recvType, HcclComm comm,
                                 aclrtStream stream))
UNSUPPORTED(HcclAlltoAllInner, (const void *sendBuf, uint64_t sendCount, HcclDataType sendType,
                                const void *recvBuf, uint64_t recvCount, HcclDataType recvType,
                                HcclComm comm, aclrtStream stream))
UNSUPPORTED(HcclReduceInner, (void *sendBuf, void *recvBuf, uint64_t count, HcclDataType dataType,
                              HcclReduceOp op, uint32_t root, HcclComm comm, aclrtStream stream))
UNSUPPORTED(HcclBatchSendRecvInner, (HcclSendRecvItem *sendRecvInfo, uint32_t itemNum,
                                     HcclComm comm, aclrtStream stream))
UNSUPPORTED(HcclCreateOpResCtxInner, (HcclComm comm, uint8_t opType, HcclDataType srcDataType,
                                      HcclDataType dstDataType, HcclReduceOp reduceType,
                                      uint64_t count, char *algConfig, uint32_t commEngine,
                                      void **opResCtx))

/* clang-format on */
