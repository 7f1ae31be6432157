/* SPDX-License-Identifier: BSD-3-Clause */
/* aclrtLaunchHostFunc, and the callbacks that a thread of the program runs. */
#include "acl/acl_rt.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/stream.h"
#include "runtime/report.h"

aclError
aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void *args)
{
    struct rt_launch_spec spec = {.host_fn = fn, .arg = args};
    struct rt_launch *launch = NULL;
    struct rt_stream *held;
    aclError rc;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (fn == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtLaunchHostFunc: fn is NULL");
    rc = rt_stream_hold_mine(stream, &held);
    if (rc != ACL_SUCCESS)
        return rc;
    rc = rt_launch_new(&spec, &launch);
    if (rc == ACL_SUCCESS)
        rc = rt_launch_push(launch, held);
    rt_stream_release(held);
    return rc;
}

aclError
aclrtSubscribeReport(uint64_t threadId, aclrtStream stream)
{
    struct rt_stream *held;
    aclError rc;

    if (!rt_enter())
        return RT_NOT_HERE;
    rc = rt_stream_hold(stream, &held);
    if (rc != ACL_SUCCESS)
        return rc;
    rc = rt_report_subscribe(threadId, rt_stream_id(held));
    rt_stream_release(held);
    return rc;
}

aclError
aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream)
{
    struct rt_stream *held;
    aclError rc;

    if (!rt_enter())
        return RT_NOT_HERE;
    rc = rt_stream_hold(stream, &held);
    if (rc != ACL_SUCCESS)
        return rc;
    rc = rt_report_unsubscribe(threadId, rt_stream_id(held));
    rt_stream_release(held);
    return rc;
}

aclError
aclrtLaunchCallback(aclrtCallback fn, void *userData, aclrtCallbackBlockType blockType,
                    aclrtStream stream)
{
    struct rt_stream *held;
    aclError rc;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (fn == NULL || (blockType != ACL_CALLBACK_NO_BLOCK && blockType != ACL_CALLBACK_BLOCK))
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtLaunchCallback: %s",
                       fn == NULL ? "fn is NULL" : "blockType is none");
    rc = rt_stream_hold_mine(stream, &held);
    if (rc != ACL_SUCCESS)
        return rc;
    rc = rt_report_push(held, fn, userData, blockType == ACL_CALLBACK_BLOCK);
    rt_stream_release(held);
    return rc;
}

aclError
aclrtProcessReport(int32_t timeoutMs)
{
    if (!rt_enter())
        return RT_NOT_HERE;
    if (timeoutMs == 0 || timeoutMs < -1)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "aclrtProcessReport: timeout %d ms; pass -1 or more than 0", timeoutMs);
    return rt_report_process(timeoutMs);
}
