/* SPDX-License-Identifier: BSD-3-Clause */
/* aclrtBinary*, aclrt*Func*: kernel binaries and the functions in them. */
#include <stdio.h>
#include <string.h>

#include "acl/acl_rt.h"
#include "base/log.h"
#include "runtime/error.h"
#include "runtime/kernel.h"

#define AICORE_HINT                                                                                \
    "AI Core code cannot run on a soft NPU: load an AICPU kernel, with the option "                \
    "ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE"

static uint64_t
number(const void *handle)
{
    return (uint64_t)(uintptr_t)handle;
}

static aclError
null_argument(const char *function, const char *argument)
{
    return rt_fail(ACL_ERROR_INVALID_PARAM, "%s: %s is NULL", function, argument);
}

/* The CPU_KERNEL_MODE of the options, -1: none. */
static aclError
read_options(const aclrtBinaryLoadOptions *options, bool from_file, const char *function,
             int32_t *mode)
{
    int32_t found = -1;

    if (options->options == NULL)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "%s: options->options is NULL", function);
    for (size_t i = 0; i < options->numOpt; i++) {
        const aclrtBinaryLoadOption *option = &options->options[i];

        switch ((int)option->type) {
        case ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD:
            if (option->value.isLazyLoad > 1)
                return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "%s: LAZY_LOAD is %u; pass 0 or 1",
                               function, option->value.isLazyLoad);
            break;
        case ACL_RT_BINARY_LOAD_OPT_MAGIC:
            if (from_file)
                return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                               "%s: option MAGIC goes with aclrtBinaryLoadFromData only", function);
            break;
        case ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE:
            found = option->value.cpuKernelMode;
            if (from_file ? found != 0 && found != 1 : found != 2)
                return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "%s: CPU_KERNEL_MODE is %d; pass %s",
                               function, found, from_file ? "0 or 1" : "2");
            break;
        default:
            return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "%s: option type %d is none", function,
                           (int)option->type);
        }
    }
    *mode = found;
    return ACL_SUCCESS;
}

aclError
aclrtBinaryLoadFromFile(const char *binPath, aclrtBinaryLoadOptions *options,
                        aclrtBinHandle *binHandle)
{
    uint64_t handle;
    int32_t mode = -1;
    aclError rc = ACL_SUCCESS;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (binPath == NULL || binHandle == NULL)
        return null_argument("aclrtBinaryLoadFromFile", binPath == NULL ? "binPath" : "binHandle");
    if (options != NULL)
        rc = read_options(options, true, "aclrtBinaryLoadFromFile", &mode);
    if (rc == ACL_SUCCESS && mode < 0)
        rc = rt_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "aclrtBinaryLoadFromFile: %s: " AICORE_HINT,
                     binPath);
    if (rc == ACL_SUCCESS)
        rc = rt_binary_load_file(binPath, mode == 1, &handle);
    if (rc == ACL_SUCCESS)
        *binHandle = (aclrtBinHandle)(uintptr_t)handle;
    return rc;
}

aclError
aclrtBinaryLoadFromData(const void *data, size_t length, const aclrtBinaryLoadOptions *options,
                        aclrtBinHandle *binHandle)
{
    uint64_t handle;
    int32_t mode = -1;
    aclError rc = ACL_SUCCESS;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (data == NULL || binHandle == NULL)
        return null_argument("aclrtBinaryLoadFromData", data == NULL ? "data" : "binHandle");
    if (length == 0)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtBinaryLoadFromData: length is 0");
    if (options != NULL)
        rc = read_options(options, false, "aclrtBinaryLoadFromData", &mode);
    if (rc == ACL_SUCCESS && mode < 0)
        rc = rt_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "aclrtBinaryLoadFromData: " AICORE_HINT);
    if (rc == ACL_SUCCESS)
        rc = rt_binary_load_data(data, length, &handle);
    if (rc == ACL_SUCCESS)
        *binHandle = (aclrtBinHandle)(uintptr_t)handle;
    return rc;
}

aclError
aclrtBinaryUnLoad(aclrtBinHandle binHandle)
{
    if (!rt_enter())
        return RT_NOT_HERE;
    if (binHandle == NULL)
        return null_argument("aclrtBinaryUnLoad", "binHandle");
    if (!rt_binary_close(number(binHandle), false))
        return rt_fail(ACL_ERROR_RT_INVALID_HANDLE, "aclrtBinaryUnLoad: binary handle %p is %s",
                       binHandle, hc_handle_guess(&rt_binary_table, number(binHandle)));
    return ACL_SUCCESS;
}

/* ---- the older path, for AI Core objects ---- */

aclrtBinary
aclrtCreateBinary(const void *data, size_t dataLen)
{
    uint64_t handle;

    if (!rt_enter())
        return NULL;
    if (data == NULL || dataLen == 0) {
        (void)rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtCreateBinary: %s",
                      data == NULL ? "data is NULL" : "dataLen is 0");
        return NULL;
    }
    return rt_binary_describe(&handle) == ACL_SUCCESS ? (aclrtBinary)(uintptr_t)handle : NULL;
}

aclError
aclrtDestroyBinary(aclrtBinary binary)
{
    if (!rt_enter())
        return RT_NOT_HERE;
    if (binary == NULL)
        return null_argument("aclrtDestroyBinary", "binary");
    if (!rt_binary_close(number(binary), true))
        return rt_fail(ACL_ERROR_RT_INVALID_HANDLE,
                       "aclrtDestroyBinary: %p is not a live aclrtBinary", binary);
    return ACL_SUCCESS;
}

aclError
aclrtBinaryLoad(const aclrtBinary binary, aclrtBinHandle *binHandle)
{
    struct rt_binary *held;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (binary == NULL || binHandle == NULL)
        return null_argument("aclrtBinaryLoad", binary == NULL ? "binary" : "binHandle");
    held = rt_binary_hold(number(binary), "aclrtBinaryLoad");
    if (held == NULL)
        return ACL_ERROR_RT_INVALID_HANDLE;
    rt_binary_release(held);
    return rt_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "aclrtBinaryLoad: " AICORE_HINT);
}

/* ---- functions ---- */

aclError
aclrtBinaryGetFunction(const aclrtBinHandle binHandle, const char *kernelName,
                       aclrtFuncHandle *funcHandle)
{
    struct rt_binary *binary;
    int32_t device;
    uint64_t found;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (binHandle == NULL || kernelName == NULL || funcHandle == NULL)
        return null_argument("aclrtBinaryGetFunction", "an argument");
    if (rt_current_device(&device) != ACL_SUCCESS)
        return rt_set_last_error(ACL_ERROR_RT_PARAM_INVALID); /* as the original answers */
    binary = rt_binary_hold(number(binHandle), "aclrtBinaryGetFunction");
    if (binary == NULL)
        return ACL_ERROR_RT_INVALID_HANDLE;
    found = rt_binary_find(binary, kernelName);
    rt_binary_release(binary);
    if (found == 0)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "aclrtBinaryGetFunction: no kernel \"%s\" in the binary; "
                       "kernels are named by the top-level keys of the JSON file",
                       kernelName);
    *funcHandle = (aclrtFuncHandle)(uintptr_t)found;
    return ACL_SUCCESS;
}

aclError
aclrtBinaryGetFunctionByEntry(aclrtBinHandle binHandle, uint64_t funcEntry,
                              aclrtFuncHandle *funcHandle)
{
    (void)binHandle;
    (void)funcEntry;
    (void)funcHandle;
    return rt_unsupported("aclrtBinaryGetFunctionByEntry");
}

aclError
aclrtRegisterCpuFunc(const aclrtBinHandle handle, const char *funcName, const char *kernelName,
                     aclrtFuncHandle *funcHandle)
{
    struct rt_kernel_entry entry = {
        .key = kernelName, .symbol = funcName, .so = "library", .kind = RT_KERNEL_AICPU};
    struct rt_binary *binary;
    uint64_t found = 0;
    aclError rc;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (handle == NULL || funcName == NULL || kernelName == NULL || funcHandle == NULL)
        return null_argument("aclrtRegisterCpuFunc", "an argument");
    binary = rt_binary_hold(number(handle), "aclrtRegisterCpuFunc");
    if (binary == NULL)
        return ACL_ERROR_RT_INVALID_HANDLE;
    if (binary->from_data)
        rc = rt_binary_add(binary, &entry, &found);
    else
        rc = rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                     "aclrtRegisterCpuFunc: the binary was not loaded with "
                     "CPU_KERNEL_MODE 2; get its functions with aclrtBinaryGetFunction");
    rt_binary_release(binary);
    if (rc == ACL_SUCCESS)
        *funcHandle = (aclrtFuncHandle)(uintptr_t)found;
    return rc;
}

aclError
aclrtGetFunctionName(aclrtFuncHandle funcHandle, uint32_t maxLen, char *name)
{
    struct rt_function *function;
    size_t len;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (funcHandle == NULL || name == NULL || maxLen == 0)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetFunctionName: an argument is NULL or 0");
    function = rt_function_hold(number(funcHandle), "aclrtGetFunctionName");
    if (function == NULL)
        return ACL_ERROR_RT_INVALID_HANDLE;
    len = strlen(function->key);
    if (len < maxLen)
        memcpy(name, function->key, len + 1);
    rt_function_release(function);
    if (len >= maxLen)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "aclrtGetFunctionName: the name needs %zu bytes, there "
                       "are %u",
                       len + 1, maxLen);
    return ACL_SUCCESS;
}

aclError
aclrtGetFunctionAttribute(aclrtFuncHandle funcHandle, aclrtFuncAttribute attrType,
                          int64_t *attrValue)
{
    struct rt_function *function;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (funcHandle == NULL || attrValue == NULL)
        return null_argument("aclrtGetFunctionAttribute", "an argument");
    function = rt_function_hold(number(funcHandle), "aclrtGetFunctionAttribute");
    if (function == NULL)
        return ACL_ERROR_RT_INVALID_HANDLE;
    rt_function_release(function);
    if (attrType != ACL_FUNC_ATTR_KERNEL_TYPE)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "aclrtGetFunctionAttribute: an AICPU kernel has no "
                       "attribute %d",
                       (int)attrType);
    *attrValue = ACL_KERNEL_TYPE_AICPU;
    return ACL_SUCCESS;
}

aclError
aclrtFunctionGetBinary(const aclrtFuncHandle funcHandle, aclrtBinHandle *binHandle)
{
    struct rt_function *function;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (funcHandle == NULL || binHandle == NULL)
        return null_argument("aclrtFunctionGetBinary", "an argument");
    function = rt_function_hold(number(funcHandle), "aclrtFunctionGetBinary");
    if (function == NULL)
        return ACL_ERROR_RT_INVALID_HANDLE;
    *binHandle = (aclrtBinHandle)(uintptr_t)function->binary->handle;
    rt_function_release(function);
    return ACL_SUCCESS;
}

aclError
aclrtBinaryGetDevAddress(const aclrtBinHandle binHandle, void **binAddr, size_t *binSize)
{
    (void)binHandle;
    (void)binAddr;
    (void)binSize;
    return rt_unsupported("aclrtBinaryGetDevAddress");
}

aclError
aclrtGetFunctionAddr(aclrtFuncHandle funcHandle, void **aicAddr, void **aivAddr)
{
    (void)funcHandle;
    (void)aicAddr;
    (void)aivAddr;
    return rt_unsupported("aclrtGetFunctionAddr");
}
