/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hccl_launch: start the AICPU kernel of a send or receive operator, alone or fused in a group.
 *
 * Source: spec, communicator, section 4; spec, types, sections 4, 5.8 and 7.
 */
#ifndef HCCL_LAUNCH_H
#define HCCL_LAUNCH_H

#include <stdint.h>

#include "acl/acl_rt.h"
#include "hccl_types.h"
#include "hcomm_res_defs.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#ifdef __cplusplus
static const uint32_t P2P_MAX_ARG_SIZE = 8192; /* bytes */
static const uint32_t HCCL_OP_DESC_OP_NAME_MAX_LEN = 256;
static const uint32_t HCCL_OPDESC_MAGIC_WORD = 0x0f0f0f0f;
static const uint32_t HCCL_OPDESC_VERSION = 1;
static const uint32_t HCCL_KERNEL_SO_NAME_MAX_LEN = 256;
static const uint32_t HCCL_KERNEL_FUNC_NAME_MAX_LEN = 256;
static const uint32_t HCCL_KERNEL_LAUNCH_CFG_MAGIC_WORD = 0x0f0f0f0f;
static const uint32_t HCCL_KERNEL_LAUNCH_CFG_VERSION = 1;
#else
enum {
    P2P_MAX_ARG_SIZE = 8192, /* bytes */
    HCCL_OP_DESC_OP_NAME_MAX_LEN = 256,
    HCCL_OPDESC_MAGIC_WORD = 0x0f0f0f0f,
    HCCL_OPDESC_VERSION = 1,
    HCCL_KERNEL_SO_NAME_MAX_LEN = 256,
    HCCL_KERNEL_FUNC_NAME_MAX_LEN = 256,
    HCCL_KERNEL_LAUNCH_CFG_MAGIC_WORD = 0x0f0f0f0f,
    HCCL_KERNEL_LAUNCH_CFG_VERSION = 1
};
#endif

/* What the kernel gets for each item of a group. */
typedef struct {
    ThreadHandle sendRecvThread; /* to use for this item */
    uint8_t opParams[P2P_MAX_ARG_SIZE];
} HcclP2pKernelParam;

/* A send or a receive. */
typedef struct {
    void *buffer;
    uint8_t reserved[8];
    HcclCMDType cmdType;
    HcclDataType dataType;
    uint64_t count; /* elements */
    uint32_t remoteRank;
    void *unfoldStream; /* the kernel is launched on it */
} HcclOpP2pDesc;

/* Fill with HcclOpDescInit first. */
typedef struct {
    CommAbiHeader header;
    uint32_t opDescType; /* 1: p2p */
    char opName[HCCL_OP_DESC_OP_NAME_MAX_LEN];
    union {
        uint8_t raws[76];
        HcclOpP2pDesc p2p;
    };
} HcclOpDesc;

/* Which function, with which arguments. */
typedef struct {
    char kernelSoName[HCCL_KERNEL_SO_NAME_MAX_LEN];
    char kernelFuncName[HCCL_KERNEL_FUNC_NAME_MAX_LEN];
    void *args; /* [argSize] bytes, copied by the call */
    uint32_t argSize;
} HcclKernelFuncInfo;

/* Fill with HcclKernelLaunchCfgInit first. */
typedef struct {
    CommAbiHeader header;
    uint64_t timeOut; /* seconds the kernel may run; all ones: the default */
    uint8_t reserved[104];
} HcclKernelLaunchCfg;

/**
 * Make an operator description ready: all bytes ones, header filled.
 *
 * @param opDesc  out  description of the caller
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL; HCCL_E_INTERNAL: the fill failed.
 * Threads: safe for different descriptions.
 * Source:  spec, types, section 7.
 */
static inline HcclResult
HcclOpDescInit(HcclOpDesc *opDesc)
{
    if (opDesc == NULL)
        return HCCL_E_PTR;
    if (memset_s(opDesc, sizeof(*opDesc), 0xFF, sizeof(*opDesc)) != EOK)
        return HCCL_E_INTERNAL;
    opDesc->header.version = HCCL_OPDESC_VERSION;
    opDesc->header.magicWord = HCCL_OPDESC_MAGIC_WORD;
    opDesc->header.size = (uint32_t)sizeof(*opDesc);
    opDesc->header.reserved = 0;
    return HCCL_SUCCESS;
}

/**
 * Make launch settings ready: all bytes ones, header filled.
 *
 * @param kernelLaunchCfg  out  settings of the caller
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL; HCCL_E_INTERNAL: the fill failed.
 * Threads: safe for different settings.
 * Source:  spec, types, section 7.
 */
static inline HcclResult
HcclKernelLaunchCfgInit(HcclKernelLaunchCfg *kernelLaunchCfg)
{
    if (kernelLaunchCfg == NULL)
        return HCCL_E_PTR;
    if (memset_s(kernelLaunchCfg, sizeof(*kernelLaunchCfg), 0xFF, sizeof(*kernelLaunchCfg)) != EOK)
        return HCCL_E_INTERNAL;
    kernelLaunchCfg->header.version = HCCL_KERNEL_LAUNCH_CFG_VERSION;
    kernelLaunchCfg->header.magicWord = HCCL_KERNEL_LAUNCH_CFG_MAGIC_WORD;
    kernelLaunchCfg->header.size = (uint32_t)sizeof(*kernelLaunchCfg);
    kernelLaunchCfg->header.reserved = 0;
    return HCCL_SUCCESS;
}

/**
 * Launch the kernel of a send or receive operator, ordered in a stream of the program: the tasks
 * that the kernel queues on `aicpuThreadHandle` run after what is in `userStream` so far, and what
 * comes later there after them. The kernel itself runs on the unfold stream, at any time.
 *
 * Outside a group it is queued, and the call returns; the kernel gets a copy of the arguments.
 * Inside one it is kept until the outermost HcclGroupEnd; the kernel gets a HcclP2pKernelParam with
 * the thread to use: all kernels of one communicator in the group have a thread each (the first
 * ones that HcclThreadAcquire gives, as many as there are kernels), so that none waits for another.
 * One alone has the thread that was named. Streams must live until then.
 *
 * A kernel that fails, or cannot be found, fails the unfold stream, and `userStream` where it waits
 * for the kernel's tasks. That wait ends after HcommSetNotifyWaitTimeOut's time.
 *
 * @param comm               in  communicator
 * @param opInfo             in  opDescType 1; p2p.unfoldStream: of the communicator's device; NULL,
 *                               or as HcclOpDescInit left it: a stream of the communicator. The
 *                               rest is the operator's
 * @param funcInfo           in  function and arguments; in a group at most 8192 bytes. The library
 *                               is looked for as that of a kernel description is (docs/kernels.md)
 * @param aicpuThreadHandle  in  thread the kernel uses; from HcclThreadAcquire with AICPU_TS
 * @param userStream         in  stream the operator is ordered in; NULL: the default stream
 * @param kernelLaunchCfg    in  timeOut: 0: none
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL, or no arguments while argSize > 0; HCCL_E_PARA: a
 *         structure is not initialised, opDescType, a name that is empty or has no end, too many
 *         bytes of arguments, a thread of an engine of the host, a stream of another device, or no
 *         communicator; HCCL_E_NOT_FOUND: not a thread of the communicator; HCCL_E_RUNTIME: not a
 *         live stream; HCCL_E_NOT_SUPPORT: the group holds something else; HCCL_E_UNAVAIL: more
 *         than 200 threads; HCCL_E_SUSPENDING; HCCL_E_MEMORY.
 *         In a group some of these come from HcclGroupEnd, which launches the rest all the same.
 * Threads: calls on one communicator must be serial.
 * Source:  spec, communicator, section 4.
 */
HcclResult HcclAicpuKernelLaunch(HcclComm comm, const HcclOpDesc *opInfo,
                                 const HcclKernelFuncInfo *funcInfo, ThreadHandle aicpuThreadHandle,
                                 aclrtStream userStream,
                                 const HcclKernelLaunchCfg *kernelLaunchCfg);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
