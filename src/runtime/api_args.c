/* SPDX-License-Identifier: BSD-3-Clause */
/* aclrtKernelArgs*: the calling thread's argument block. */
#include "acl/acl_rt.h"
#include "runtime/error.h"
#include "runtime/kernel.h"
#include "runtime/kernel_args.h"

static aclError
missing(const char *function)
{
    return rt_fail(ACL_ERROR_INVALID_PARAM, "%s: an argument is NULL or a size is 0", function);
}

aclError
aclrtKernelArgsInit(aclrtFuncHandle funcHandle, aclrtArgsHandle *argsHandle)
{
    struct rt_function *function;
    struct rt_args *args;
    aclError rc;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (funcHandle == NULL || argsHandle == NULL)
        return missing("aclrtKernelArgsInit");
    function = rt_function_hold((uint64_t)(uintptr_t)funcHandle, "aclrtKernelArgsInit");
    if (function == NULL)
        return ACL_ERROR_RT_INVALID_HANDLE;
    rc = rt_args_begin(function->handle, &args);
    rt_function_release(function);
    if (rc == ACL_SUCCESS)
        *argsHandle = (aclrtArgsHandle)(uintptr_t)args->handle;
    return rc;
}

aclError
aclrtKernelArgsAppend(aclrtArgsHandle argsHandle, void *param, size_t paramSize,
                      aclrtParamHandle *paramHandle)
{
    struct rt_args *args;
    uintptr_t added = 0;
    aclError rc;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (argsHandle == NULL || param == NULL || paramSize == 0 || paramHandle == NULL)
        return missing("aclrtKernelArgsAppend");
    rc = rt_args_of((uint64_t)(uintptr_t)argsHandle, "aclrtKernelArgsAppend", &args);
    if (rc == ACL_SUCCESS)
        rc = rt_args_append(args, param, paramSize, &added);
    if (rc == ACL_SUCCESS)
        *paramHandle = (aclrtParamHandle)added;
    return rc;
}

aclError
aclrtKernelArgsAppendPlaceHolder(aclrtArgsHandle argsHandle, aclrtParamHandle *paramHandle)
{
    struct rt_args *args;
    uintptr_t added = 0;
    aclError rc;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (argsHandle == NULL || paramHandle == NULL)
        return missing("aclrtKernelArgsAppendPlaceHolder");
    rc = rt_args_of((uint64_t)(uintptr_t)argsHandle, "aclrtKernelArgsAppendPlaceHolder", &args);
    if (rc == ACL_SUCCESS)
        rc = rt_args_place_holder(args, &added);
    if (rc == ACL_SUCCESS)
        *paramHandle = (aclrtParamHandle)added;
    return rc;
}

aclError
aclrtKernelArgsGetPlaceHolderBuffer(aclrtArgsHandle argsHandle, aclrtParamHandle paramHandle,
                                    size_t dataSize, void **bufferAddr)
{
    struct rt_args *args;
    aclError rc;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (argsHandle == NULL || paramHandle == NULL || dataSize == 0 || bufferAddr == NULL)
        return missing("aclrtKernelArgsGetPlaceHolderBuffer");
    rc = rt_args_of((uint64_t)(uintptr_t)argsHandle, "aclrtKernelArgsGetPlaceHolderBuffer", &args);
    if (rc == ACL_SUCCESS)
        rc = rt_args_data(args, (uintptr_t)paramHandle, dataSize, bufferAddr);
    return rc;
}

aclError
aclrtKernelArgsParaUpdate(aclrtArgsHandle argsHandle, aclrtParamHandle paramHandle, void *param,
                          size_t paramSize)
{
    struct rt_args *args;
    aclError rc;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (argsHandle == NULL || paramHandle == NULL || param == NULL || paramSize == 0)
        return missing("aclrtKernelArgsParaUpdate");
    rc = rt_args_of((uint64_t)(uintptr_t)argsHandle, "aclrtKernelArgsParaUpdate", &args);
    if (rc == ACL_SUCCESS)
        rc = rt_args_update(args, (uintptr_t)paramHandle, param, paramSize);
    return rc;
}

aclError
aclrtKernelArgsFinalize(aclrtArgsHandle argsHandle)
{
    struct rt_args *args;
    int32_t device;
    aclError rc;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (argsHandle == NULL)
        return missing("aclrtKernelArgsFinalize");
    rc = rt_args_of((uint64_t)(uintptr_t)argsHandle, "aclrtKernelArgsFinalize", &args);
    if (rc == ACL_SUCCESS)
        rc = rt_current_device(&device);
    if (rc == ACL_SUCCESS)
        args->finalized = true;
    return rc;
}

aclError
aclrtKernelArgsGetMemSize(aclrtFuncHandle funcHandle, size_t userArgsSize, size_t *actualArgsSize)
{
    (void)funcHandle;
    (void)userArgsSize;
    (void)actualArgsSize;
    return rt_unsupported("aclrtKernelArgsGetMemSize");
}

aclError
aclrtKernelArgsGetHandleMemSize(aclrtFuncHandle funcHandle, size_t *memSize)
{
    (void)funcHandle;
    (void)memSize;
    return rt_unsupported("aclrtKernelArgsGetHandleMemSize");
}

aclError
aclrtKernelArgsInitByUserMem(aclrtFuncHandle funcHandle, aclrtArgsHandle argsHandle,
                             void *userHostMem, size_t actualArgsSize)
{
    (void)funcHandle;
    (void)argsHandle;
    (void)userHostMem;
    (void)actualArgsSize;
    return rt_unsupported("aclrtKernelArgsInitByUserMem");
}
