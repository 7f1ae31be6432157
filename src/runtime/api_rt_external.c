/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/rt_external.h"

#include "runtime/error.h"
#include "runtime/stream.h"

/* A soft NPU has no hardware queues: the numbers are unique, and that is all. */
static aclError
queue_number(rtStream_t stream, uint32_t *number)
{
    struct rt_stream *held;
    aclError rc;

    if (!rt_enter())
        return RT_NOT_HERE;
    rc = rt_stream_hold(stream, &held);
    if (rc != ACL_SUCCESS)
        return rc;
    *number = rt_stream_id(held);
    rt_stream_release(held);
    return ACL_SUCCESS;
}

rtError_t
rtStreamGetSqid(const rtStream_t stm, uint32_t *sqId)
{
    if (sqId == NULL)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "rtStreamGetSqid: sqId is NULL");
    return queue_number(stm, sqId);
}

rtError_t
rtStreamGetCqid(const rtStream_t stm, uint32_t *cqId, uint32_t *logicCqId)
{
    uint32_t number;
    aclError rc;

    if (cqId == NULL || logicCqId == NULL)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "rtStreamGetCqid: %s is NULL",
                       cqId == NULL ? "cqId" : "logicCqId");
    rc = queue_number(stm, &number);
    if (rc != ACL_SUCCESS)
        return rc;
    *cqId = number;
    *logicCqId = number;
    return ACL_SUCCESS;
}

rtError_t
rtNotifyGetAddrOffset(rtNotify_t notify, uint64_t *devAddrOffset)
{
    (void)notify;
    (void)devAddrOffset;
    return rt_unsupported("rtNotifyGetAddrOffset"); /* there is no register to tell */
}

rtError_t
rtGetDevResAddress(rtDevResInfo *const resInfo, rtDevResAddrInfo *const addrInfo)
{
    (void)resInfo;
    (void)addrInfo;
    return rt_unsupported("rtGetDevResAddress");
}

rtError_t
rtGetTaskIdAndStreamID(uint32_t *taskId, uint32_t *streamId)
{
    if (taskId == NULL || streamId == NULL)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "rtGetTaskIdAndStreamID: %s is NULL",
                       taskId == NULL ? "taskId" : "streamId");
    rt_stream_last_task(taskId, streamId);
    return ACL_SUCCESS;
}
