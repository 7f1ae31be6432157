/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Launching the kernel: the description (JSON) is loaded once, the arguments are copied at each
 * launch, the kernel runs when the stream reaches it.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "p2p_host.h"

#ifndef HCOMM_OPERATOR_VENDOR /* the build says it */
#define HCOMM_OPERATOR_VENDOR "cust"
#endif
#define DESCRIPTION "opp/vendors/" HCOMM_OPERATOR_VENDOR "/aicpu/config/libp2p_aicpu_kernel.json"
#define KERNEL_TIMEOUT_S 1836

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static aclrtBinHandle binary; /* under lock; kept for the life of the process */

static HcclResult
GetBinary(aclrtBinHandle *handle)
{
    aclrtBinaryLoadOption option = {.type = ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE,
                                    .value = {.cpuKernelMode = 0}};
    aclrtBinaryLoadOptions options = {.options = &option, .numOpt = 1};
    const char *home = getenv("ASCEND_HOME_PATH");
    char path[4096];
    aclError rc = ACL_SUCCESS;

    if (home == NULL)
        return P2pError(HCCL_E_NOT_FOUND, "ASCEND_HOME_PATH is not set: source set_env.sh");
    snprintf(path, sizeof path, "%s/%s", home, DESCRIPTION);
    pthread_mutex_lock(&lock);
    if (binary == NULL)
        rc = aclrtBinaryLoadFromFile(path, &options, &binary);
    *handle = binary;
    pthread_mutex_unlock(&lock);
    if (rc != ACL_SUCCESS)
        return P2pError(HCCL_E_RUNTIME, "cannot load %s (error %d): install the operator package",
                        path, rc);
    return HCCL_SUCCESS;
}

HcclResult
P2pLaunchKernel(const P2pParam *param, aclrtStream stream)
{
    aclrtLaunchKernelAttr attr = {.id = ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT,
                                  .value = {.timeout = KERNEL_TIMEOUT_S}};
    aclrtLaunchKernelCfg cfg = {.attrs = &attr, .numAttrs = 1};
    aclrtFuncHandle function = NULL;
    aclrtArgsHandle args = NULL;
    aclrtParamHandle slot = NULL;
    aclrtBinHandle handle = NULL;
    HcclResult rc = GetBinary(&handle);

    if (rc != HCCL_SUCCESS)
        return rc;
    if (aclrtBinaryGetFunction(handle, P2P_KERNEL_NAME, &function) != ACL_SUCCESS)
        return P2pError(HCCL_E_RUNTIME, "the package has no kernel %s", P2P_KERNEL_NAME);
    if (aclrtKernelArgsInit(function, &args) != ACL_SUCCESS ||
        aclrtKernelArgsAppend(args, (void *)(uintptr_t)param, sizeof *param, &slot) !=
            ACL_SUCCESS ||
        aclrtKernelArgsFinalize(args) != ACL_SUCCESS)
        return P2pError(HCCL_E_RUNTIME, "cannot prepare the kernel's arguments");
    if (aclrtLaunchKernelWithConfig(function, 1, stream, &cfg, args, NULL) != ACL_SUCCESS)
        return P2pError(HCCL_E_RUNTIME, "cannot launch %s", P2P_KERNEL_NAME);
    return HCCL_SUCCESS;
}
