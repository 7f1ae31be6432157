/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/error.h"
#include "runtime/exception.h"

#define NOBODY 0xFFFFFFFFu

aclError
aclrtSetExceptionInfoCallback(aclrtExceptionInfoCallback callback)
{
    rt_exception_set(callback);
    return ACL_SUCCESS;
}

aclError
aclrtExceptionInfoCallbackRegister(aclrtExceptionInfoCallback callback)
{
    if (callback == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM,
                       "aclrtExceptionInfoCallbackRegister: callback is NULL");
    return rt_exception_add(callback);
}

aclError
aclrtExceptionInfoCallbackUnregister(aclrtExceptionInfoCallback callback)
{
    if (callback == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM,
                       "aclrtExceptionInfoCallbackUnregister: callback is NULL");
    return rt_exception_remove(callback);
}

rtError_t
rtRegTaskFailCallbackByModule(const char_t *moduleName, rtTaskFailCallback callback)
{
    if (moduleName == NULL)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "rtRegTaskFailCallbackByModule: moduleName is NULL");
    return rt_exception_set_module(moduleName, callback);
}

uint32_t
aclrtGetTaskIdFromExceptionInfo(const aclrtExceptionInfo *info)
{
    return info == NULL ? NOBODY : info->taskid;
}

uint32_t
aclrtGetStreamIdFromExceptionInfo(const aclrtExceptionInfo *info)
{
    return info == NULL ? NOBODY : info->streamid;
}

uint32_t
aclrtGetThreadIdFromExceptionInfo(const aclrtExceptionInfo *info)
{
    return info == NULL ? NOBODY : info->tid;
}

uint32_t
aclrtGetDeviceIdFromExceptionInfo(const aclrtExceptionInfo *info)
{
    return info == NULL ? NOBODY : info->deviceid;
}

uint32_t
aclrtGetErrorCodeFromExceptionInfo(const aclrtExceptionInfo *info)
{
    return info == NULL ? NOBODY : info->retcode;
}
