/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/log.h"
#include "comm/op_launch.h"

#define FUNCTION "HcclAicpuKernelLaunch"
#define DESC_P2P 1u /* the only opDescType */

/* The inline initialisers leave all bytes ones in what they do not know. */
#define NOT_SAID ((uintptr_t)-1)

static HcclResult
check_name(const char *what, const char *name, size_t room)
{
    size_t len = strnlen(name, room);

    if (len > 0 && len < room)
        return HCCL_SUCCESS;
    LOG_ERROR(COMM, FUNCTION ": funcInfo->%s %s", what,
              len == 0 ? "is empty" : "has no end: at most 255 characters");
    return HCCL_E_PARA;
}

static HcclResult
check_header(const char *what, const CommAbiHeader *header, uint32_t magic, const char *init)
{
    if (header->magicWord == magic)
        return HCCL_SUCCESS;
    LOG_ERROR(COMM, FUNCTION ": %s is not initialised: call %s first", what, init);
    return HCCL_E_PARA;
}

static HcclResult
check_function(const HcclKernelFuncInfo *info)
{
    HcclResult rc = check_name("kernelSoName", info->kernelSoName, sizeof info->kernelSoName);

    if (rc == HCCL_SUCCESS)
        rc = check_name("kernelFuncName", info->kernelFuncName, sizeof info->kernelFuncName);
    if (rc == HCCL_SUCCESS && info->argSize > 0)
        rc = comm_need(info->args, FUNCTION, "funcInfo->args");
    if (rc != HCCL_SUCCESS || !comm_group_open() || info->argSize <= P2P_MAX_ARG_SIZE)
        return rc;
    LOG_ERROR(COMM, FUNCTION ": %u bytes of arguments: in a group at most %u go", info->argSize,
              (unsigned)P2P_MAX_ARG_SIZE);
    return HCCL_E_PARA;
}

static HcclResult
check_pointers(const void *op, const void *function, const void *cfg)
{
    HcclResult rc = comm_need(op, FUNCTION, "opInfo");

    if (rc == HCCL_SUCCESS)
        rc = comm_need(function, FUNCTION, "funcInfo");
    return rc == HCCL_SUCCESS ? comm_need(cfg, FUNCTION, "kernelLaunchCfg") : rc;
}

static HcclResult
check_op(const HcclOpDesc *op, const HcclKernelLaunchCfg *cfg)
{
    HcclResult rc = check_header("opInfo", &op->header, HCCL_OPDESC_MAGIC_WORD, "HcclOpDescInit");

    if (rc == HCCL_SUCCESS)
        rc = check_header("kernelLaunchCfg", &cfg->header, HCCL_KERNEL_LAUNCH_CFG_MAGIC_WORD,
                          "HcclKernelLaunchCfgInit");
    if (rc != HCCL_SUCCESS || op->opDescType == DESC_P2P)
        return rc;
    LOG_ERROR(COMM, FUNCTION ": opInfo->opDescType is %u: pass %u (send or receive)",
              op->opDescType, DESC_P2P);
    return HCCL_E_PARA;
}

static HcclResult
check_thread(struct comm *comm, ThreadHandle handle)
{
    struct res_thread *thread;
    CommEngine engine;
    HcclResult rc;

    if (!threads_know(comm, handle)) {
        LOG_ERROR(COMM, FUNCTION ": thread 0x%llx is none of rank %u of %s: acquire it first",
                  (unsigned long long)handle, comm->rank, comm->name);
        return HCCL_E_NOT_FOUND;
    }
    rc = res_thread_hold(handle, &thread);
    if (rc != HCCL_SUCCESS)
        return rc;
    engine = res_thread_engine(thread);
    res_thread_release(thread);
    if (res_engine_on_device(engine))
        return HCCL_SUCCESS;
    LOG_ERROR(COMM, FUNCTION ": the thread is of engine %s: acquire one of AICPU_TS",
              res_engine_name(engine));
    return HCCL_E_PARA;
}

HcclResult
HcclAicpuKernelLaunch(HcclComm handle, const HcclOpDesc *opInfo, const HcclKernelFuncInfo *funcInfo,
                      ThreadHandle aicpuThreadHandle, aclrtStream userStream,
                      const HcclKernelLaunchCfg *kernelLaunchCfg)
{
    struct op_launch_desc desc = {.thread = aicpuThreadHandle, .user = userStream};
    struct comm *comm;
    HcclResult rc = check_pointers(opInfo, funcInfo, kernelLaunchCfg);

    if (rc == HCCL_SUCCESS)
        rc = check_op(opInfo, kernelLaunchCfg);
    if (rc == HCCL_SUCCESS)
        rc = check_function(funcInfo);
    if (rc == HCCL_SUCCESS)
        rc = comm_hold(handle, &comm);
    if (rc != HCCL_SUCCESS)
        return rc;
    desc.so = funcInfo->kernelSoName;
    desc.symbol = funcInfo->kernelFuncName;
    desc.args = funcInfo->args;
    desc.args_len = funcInfo->argSize;
    desc.timeout_s = kernelLaunchCfg->timeOut;
    if ((uintptr_t)opInfo->p2p.unfoldStream != NOT_SAID)
        desc.unfold = opInfo->p2p.unfoldStream;
    rc = comm_check_running(comm, FUNCTION);
    if (rc == HCCL_SUCCESS)
        rc = check_thread(comm, aicpuThreadHandle);
    if (rc == HCCL_SUCCESS)
        rc = comm_group_open() ? op_launch_later(comm, &desc) : op_launch(comm, &desc);
    comm_release(comm);
    return rc;
}
