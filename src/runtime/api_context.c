/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/context.h"
#include "runtime/device.h"
#include "runtime/error.h"

aclError
aclrtCreateContext(aclrtContext *context, int32_t deviceId)
{
    if (!rt_enter())
        return RT_NOT_HERE;
    if (context == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtCreateContext: context is NULL");
    return rt_context_create(deviceId, context);
}

aclError
aclrtDestroyContext(aclrtContext context)
{
    if (!rt_enter())
        return RT_NOT_HERE;
    if (context == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtDestroyContext: context is NULL");
    return rt_context_destroy(context);
}

aclError
aclrtSetCurrentContext(aclrtContext context)
{
    if (!rt_enter())
        return RT_NOT_HERE;
    if (context == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtSetCurrentContext: context is NULL");
    return rt_context_select(context);
}

aclError
aclrtGetCurrentContext(aclrtContext *context)
{
    struct rt_context *current;
    aclError rc;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (context == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetCurrentContext: context is NULL");
    rc = rt_context_current(&current);
    if (rc != ACL_SUCCESS)
        return rc;
    *context = current->handle;
    rt_context_release(current);
    return ACL_SUCCESS;
}

aclError
aclrtCtxGetCurrentDefaultStream(aclrtStream *stream)
{
    struct rt_context *current;
    aclError rc;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (stream == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtCtxGetCurrentDefaultStream: stream is NULL");
    rc = rt_context_current(&current);
    if (rc != ACL_SUCCESS)
        return rc;
    *stream = current->default_stream;
    rt_context_release(current);
    return ACL_SUCCESS;
}

aclError
aclrtGetPrimaryCtxState(int32_t deviceId, uint32_t *flags, int32_t *active)
{
    aclError rc;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (active == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetPrimaryCtxState: active is NULL");
    rc = rt_device_check(deviceId, "aclrtGetPrimaryCtxState");
    if (rc != ACL_SUCCESS)
        return rc;
    if (flags != NULL)
        *flags = 0; /* reserved */
    *active = rt_device_active(deviceId);
    return ACL_SUCCESS;
}
