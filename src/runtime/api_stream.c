/* SPDX-License-Identifier: BSD-3-Clause */
/* aclrt*Stream*: check the arguments, turn handles into objects, call stream.c. */
#include "acl/acl_rt.h"
#include "runtime/graph.h"
#include "runtime/launch.h"
#include "runtime/stream.h"

#define KNOWN_FLAGS 0x3Fu /* ACL_STREAM_* */
#define PRIORITY_LEAST 7u

/* Streams that only device code uses: nothing of theirs can be waited for. */
#define UNSYNCED_FLAGS                                                                             \
    (ACL_STREAM_PERSISTENT | ACL_STREAM_CPU_SCHEDULE | ACL_STREAM_DEVICE_USE_ONLY)

aclError
aclrtCreateStreamWithConfig(aclrtStream *stream, uint32_t priority, uint32_t flag)
{
    struct rt_context *context;
    aclError rc;

    if (!rt_enter())
        return ACL_ERROR_INTERNAL_ERROR;
    if (stream == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtCreateStream: stream is NULL");
    if ((flag & ~KNOWN_FLAGS) != 0)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "aclrtCreateStreamWithConfig: flag 0x%x has bits "
                       "that are no ACL_STREAM_* flag",
                       flag);
    rc = rt_context_current(&context);
    if (rc != ACL_SUCCESS)
        return rc;
    rc =
        rt_stream_new(context, priority > PRIORITY_LEAST ? PRIORITY_LEAST : priority, flag, stream);
    rt_context_release(context);
    return rc;
}

aclError
aclrtCreateStream(aclrtStream *stream)
{
    return aclrtCreateStreamWithConfig(stream, 0, 0);
}

static aclError
destroy(aclrtStream handle, bool now)
{
    struct rt_stream *stream;
    aclError rc;

    if (!rt_enter())
        return ACL_ERROR_INTERNAL_ERROR;
    if (handle == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtDestroyStream: stream is NULL");
    rc = rt_stream_hold_mine(handle, &stream);
    if (rc != ACL_SUCCESS)
        return rc;
    if (stream->context->default_stream == handle) {
        rt_stream_release(stream);
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtDestroyStream: a context's default stream "
                                                   "ends with its context; do not destroy it");
    }
    rc = now ? ACL_SUCCESS : rt_launch_check_outside(stream);
    if (rc == ACL_SUCCESS)
        rc = rt_capture_check_wait(stream, "aclrtDestroyStream");
    rt_stream_release(stream);
    if (rc != ACL_SUCCESS)
        return rc;
    if (now)
        rt_stream_close_now(handle);
    else
        rt_stream_close(handle);
    return ACL_SUCCESS;
}

aclError
aclrtDestroyStream(aclrtStream stream)
{
    return destroy(stream, false);
}

aclError
aclrtDestroyStreamForce(aclrtStream stream)
{
    return destroy(stream, true);
}

static aclError
synchronize(aclrtStream handle, int64_t timeout_ms)
{
    struct rt_stream *stream;
    aclError rc;

    if (!rt_enter())
        return ACL_ERROR_INTERNAL_ERROR;
    rc = rt_stream_hold(handle, &stream);
    if (rc != ACL_SUCCESS)
        return rc;
    rc = rt_capture_check_wait(stream, "aclrtSynchronizeStream");
    if (rc == ACL_SUCCESS && (stream->flags & UNSYNCED_FLAGS) == 0)
        rc = rt_stream_sync(stream, timeout_ms);
    rt_stream_release(stream);
    return rc;
}

aclError
aclrtSynchronizeStream(aclrtStream stream)
{
    return synchronize(stream, -1);
}

aclError
aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout)
{
    if (timeout == 0 || timeout < -1)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "aclrtSynchronizeStreamWithTimeout: timeout %d ms; "
                       "pass -1 (for ever) or more than 0",
                       timeout);
    return synchronize(stream, timeout);
}

aclError
aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus *status)
{
    struct rt_stream *held;
    aclError rc;

    if (status == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtStreamQuery: status is NULL");
    if (!rt_enter())
        return ACL_ERROR_INTERNAL_ERROR;
    rc = rt_stream_hold(stream, &held);
    if (rc != ACL_SUCCESS)
        return rc;
    rc = rt_capture_check_wait(held, "aclrtStreamQuery");
    if (rc == ACL_SUCCESS)
        *status = rt_stream_idle(held) ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
    rt_stream_release(held);
    return rc;
}

aclError
aclrtStreamGetId(aclrtStream stream, int32_t *streamId)
{
    struct rt_stream *held;
    aclError rc;

    if (streamId == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtStreamGetId: streamId is NULL");
    rc = rt_stream_hold(stream, &held);
    if (rc != ACL_SUCCESS)
        return rc;
    *streamId = (int32_t)held->id;
    rt_stream_release(held);
    return ACL_SUCCESS;
}

aclError
aclrtStreamAbort(aclrtStream stream)
{
    struct rt_stream *held;
    aclError rc;

    if (!rt_enter())
        return ACL_ERROR_INTERNAL_ERROR;
    rc = rt_stream_hold_mine(stream, &held);
    if (rc != ACL_SUCCESS)
        return rc;
    rc = rt_capture_check_wait(held, "aclrtStreamAbort");
    if (rc == ACL_SUCCESS)
        rt_stream_abort(held);
    rt_stream_release(held);
    return rc;
}

aclError
aclrtStreamStop(aclrtStream stream)
{
    struct rt_stream *held;
    aclError rc;

    if (!rt_enter())
        return ACL_ERROR_INTERNAL_ERROR;
    if (stream == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtStreamStop: stream is NULL");
    rc = rt_stream_hold_mine(stream, &held);
    if (rc != ACL_SUCCESS)
        return rc;
    rt_stream_stop_head(held);
    rt_stream_release(held);
    return ACL_SUCCESS;
}

/* ---- attributes ---- */

aclError
aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode)
{
    struct rt_stream *held;
    aclError rc;

    if (!rt_enter())
        return ACL_ERROR_INTERNAL_ERROR;
    if (mode != ACL_CONTINUE_ON_FAILURE && mode != ACL_STOP_ON_FAILURE)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "aclrtSetStreamFailureMode: mode %llu; pass "
                       "ACL_CONTINUE_ON_FAILURE or ACL_STOP_ON_FAILURE",
                       (unsigned long long)mode);
    rc = rt_stream_hold(stream, &held);
    if (rc != ACL_SUCCESS)
        return rc;
    if (mode == ACL_STOP_ON_FAILURE)
        atomic_store(&held->context->stop_mode, true);
    else if (atomic_load(&held->context->stop_mode))
        rc = rt_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                     "aclrtSetStreamFailureMode: stream %u cannot go "
                     "back from stop to continue",
                     held->id);
    else
        atomic_store(&held->goes_on, true);
    rt_stream_release(held);
    return rc;
}

static aclError
get_u32(aclrtStream stream, uint32_t *out, const char *function, bool priority)
{
    struct rt_stream *held;
    aclError rc;

    if (out == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "%s: the output pointer is NULL", function);
    rc = rt_stream_hold(stream, &held);
    if (rc != ACL_SUCCESS)
        return rc;
    *out = priority ? held->priority : held->flags;
    rt_stream_release(held);
    return ACL_SUCCESS;
}

aclError
aclrtStreamGetPriority(aclrtStream stream, uint32_t *priority)
{
    return get_u32(stream, priority, "aclrtStreamGetPriority", true);
}

aclError
aclrtStreamGetFlags(aclrtStream stream, uint32_t *flags)
{
    return get_u32(stream, flags, "aclrtStreamGetFlags", false);
}

aclError
aclrtGetStreamAvailableNum(uint32_t *streamCount)
{
    if (streamCount == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetStreamAvailableNum: streamCount is NULL");
    *streamCount = HC_HANDLE_CHUNK * HC_HANDLE_CHUNKS - hc_handle_live(&rt_stream_table);
    return ACL_SUCCESS;
}

aclError
aclrtSetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType,
                        aclrtStreamAttrValue *value)
{
    struct rt_stream *held;
    aclError rc;

    if (value == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtSetStreamAttribute: value is NULL");
    if (stmAttrType == ACL_STREAM_ATTR_FAILURE_MODE)
        return aclrtSetStreamFailureMode(stream, value->failureMode);
    rc = rt_stream_hold(stream, &held);
    if (rc != ACL_SUCCESS)
        return rc;
    if (stmAttrType == ACL_STREAM_ATTR_PRIORITY && value->streamPriority <= PRIORITY_LEAST)
        held->priority = value->streamPriority;
    else
        rc = rt_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                     "aclrtSetStreamAttribute: attribute %d cannot be "
                     "set to that on a soft NPU",
                     (int)stmAttrType);
    rt_stream_release(held);
    return rc;
}

aclError
aclrtGetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType,
                        aclrtStreamAttrValue *value)
{
    struct rt_stream *held;
    aclError rc;

    if (value == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetStreamAttribute: value is NULL");
    rc = rt_stream_hold(stream, &held);
    if (rc != ACL_SUCCESS)
        return rc;
    if (stmAttrType == ACL_STREAM_ATTR_FAILURE_MODE)
        value->failureMode =
            atomic_load(&held->context->stop_mode) ? ACL_STOP_ON_FAILURE : ACL_CONTINUE_ON_FAILURE;
    else if (stmAttrType == ACL_STREAM_ATTR_PRIORITY)
        value->streamPriority = held->priority;
    else
        rc = rt_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                     "aclrtGetStreamAttribute: attribute %d is not "
                     "kept on a soft NPU",
                     (int)stmAttrType);
    rt_stream_release(held);
    return rc;
}

aclError
aclrtDeviceGetStreamPriorityRange(int32_t *leastPriority, int32_t *greatestPriority)
{
    if (leastPriority != NULL)
        *leastPriority = (int32_t)PRIORITY_LEAST;
    if (greatestPriority != NULL)
        *greatestPriority = 0;
    return ACL_SUCCESS;
}
