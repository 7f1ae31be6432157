/* SPDX-License-Identifier: BSD-3-Clause */
/* Timeouts, overflow mode and core limits. */
#include "runtime/context.h"
#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/limits.h"
#include "runtime/stream.h"

/* The stream whose limits count for this thread's questions; NULL: none. */
static _Thread_local aclrtStream stream_in_use;

/* ---- timeouts ---- */

aclError
aclrtGetOpTimeOutInterval(uint64_t *intervalUs)
{
    int32_t device;
    aclError rc;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (intervalUs == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetOpTimeOutInterval: interval is NULL");
    rc = rt_current_device(&device);
    if (rc == ACL_SUCCESS)
        *intervalUs = RT_OP_TIMEOUT_STEP_US;
    return rc;
}

aclError
aclrtSetOpExecuteTimeOut(uint32_t timeoutSec)
{
    (void)rt_op_timeout_set((uint64_t)timeoutSec * 1000000u);
    return ACL_SUCCESS;
}

aclError
aclrtSetOpExecuteTimeOutWithMs(uint32_t timeoutMs)
{
    (void)rt_op_timeout_set((uint64_t)timeoutMs * 1000u);
    return ACL_SUCCESS;
}

aclError
aclrtSetOpExecuteTimeOutV2(uint64_t timeoutUs, uint64_t *actualTimeoutUs)
{
    if (actualTimeoutUs == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM,
                       "aclrtSetOpExecuteTimeOutV2: actualTimeout is NULL");
    *actualTimeoutUs = rt_op_timeout_set(timeoutUs);
    return ACL_SUCCESS;
}

aclError
aclrtGetOpExecuteTimeout(uint32_t *const timeoutMs)
{
    uint64_t timeout_us = rt_op_timeout_us();

    if (timeoutMs == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetOpExecuteTimeout: timeout is NULL");
    *timeoutMs = timeout_us == 0 ? RT_OP_TIMEOUT_DEFAULT_MS : (uint32_t)(timeout_us / 1000u);
    return ACL_SUCCESS;
}

/* ---- overflow mode ---- */

aclError
aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode)
{
    int32_t device;
    aclError rc;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (mode != ACL_RT_OVERFLOW_MODE_SATURATION && mode != ACL_RT_OVERFLOW_MODE_INFNAN)
        return rt_fail(
            ACL_ERROR_RT_PARAM_INVALID,
            "aclrtSetDeviceSatMode: mode is %d; it must be 0 (saturate) or 1 (inf and nan)",
            (int)mode);
    rc = rt_current_device(&device);
    if (rc == ACL_SUCCESS)
        rt_sat_mode_set(device, mode);
    return rc;
}

aclError
aclrtGetDeviceSatMode(aclrtFloatOverflowMode *mode)
{
    int32_t device;
    aclError rc;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (mode == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetDeviceSatMode: mode is NULL");
    rc = rt_current_device(&device);
    if (rc == ACL_SUCCESS)
        *mode = rt_sat_mode(device);
    return rc;
}

/* ---- cores ---- */

static aclError
check_type(const char *function, aclrtDevResLimitType type)
{
    if (type == ACL_RT_DEV_RES_CUBE_CORE || type == ACL_RT_DEV_RES_VECTOR_CORE)
        return ACL_SUCCESS;
    return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                   "%s: resource type is %d; it must be 0 (cube cores) or 1 (vector cores)",
                   function, (int)type);
}

static aclError
check_value(const char *function, aclrtDevResLimitType type, uint32_t value)
{
    aclError rc = check_type(function, type);

    if (rc == ACL_SUCCESS && (value == 0 || value > rt_device_cores(type)))
        rc = rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                     "%s: the limit is %u; it must be from 1 to %u cores", function, value,
                     rt_device_cores(type));
    return rc;
}

static uint32_t
stream_limit(struct rt_stream *stream, aclrtDevResLimitType type)
{
    uint32_t cores = atomic_load_explicit(&stream->core_limit[type], memory_order_relaxed);

    return cores == 0 ? rt_device_limit(rt_stream_device(stream), type) : cores;
}

aclError
aclrtGetResInCurrentThread(aclrtDevResLimitType type, uint32_t *value)
{
    struct rt_stream *stream = NULL;
    int32_t device;
    aclError rc;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (value == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetResInCurrentThread: value is NULL");
    rc = check_type("aclrtGetResInCurrentThread", type);
    if (rc == ACL_SUCCESS)
        rc = rt_current_device(&device);
    if (rc != ACL_SUCCESS)
        return rc;
    if (stream_in_use != NULL)
        stream = hc_handle_hold(&rt_stream_table, (uint64_t)(uintptr_t)stream_in_use);
    if (stream == NULL) { /* none, or it has been destroyed meanwhile */
        *value = rt_device_limit(device, type);
        return ACL_SUCCESS;
    }
    *value = stream_limit(stream, type);
    rt_stream_release(stream);
    return ACL_SUCCESS;
}

aclError
aclrtSetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t value)
{
    struct rt_stream *held;
    aclError rc;

    if (!rt_enter())
        return RT_NOT_HERE;
    rc = check_value("aclrtSetStreamResLimit", type, value);
    if (rc == ACL_SUCCESS)
        rc = rt_stream_hold(stream, &held);
    if (rc != ACL_SUCCESS)
        return rc;
    atomic_store_explicit(&held->core_limit[type], value, memory_order_relaxed);
    rt_stream_release(held);
    return ACL_SUCCESS;
}

aclError
aclrtGetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t *value)
{
    struct rt_stream *held;
    aclError rc;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (value == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetStreamResLimit: value is NULL");
    rc = check_type("aclrtGetStreamResLimit", type);
    if (rc == ACL_SUCCESS)
        rc = rt_stream_hold(stream, &held);
    if (rc != ACL_SUCCESS)
        return rc;
    *value = stream_limit(held, type);
    rt_stream_release(held);
    return ACL_SUCCESS;
}

aclError
aclrtResetStreamResLimit(aclrtStream stream)
{
    struct rt_stream *held;
    aclError rc;

    if (!rt_enter())
        return RT_NOT_HERE;
    rc = rt_stream_hold(stream, &held);
    if (rc != ACL_SUCCESS)
        return rc;
    atomic_store_explicit(&held->core_limit[ACL_RT_DEV_RES_CUBE_CORE], 0, memory_order_relaxed);
    atomic_store_explicit(&held->core_limit[ACL_RT_DEV_RES_VECTOR_CORE], 0, memory_order_relaxed);
    rt_stream_release(held);
    return ACL_SUCCESS;
}

aclError
aclrtUseStreamResInCurrentThread(aclrtStream stream)
{
    struct rt_stream *held;
    aclError rc;

    if (!rt_enter())
        return RT_NOT_HERE;
    rc = rt_stream_hold(stream, &held);
    if (rc != ACL_SUCCESS)
        return rc;
    stream_in_use = rt_stream_handle(held);
    rt_stream_release(held);
    return ACL_SUCCESS;
}

aclError
aclrtUnuseStreamResInCurrentThread(aclrtStream stream)
{
    struct rt_stream *held;
    aclError rc;

    if (!rt_enter())
        return RT_NOT_HERE;
    rc = rt_stream_hold(stream, &held);
    if (rc != ACL_SUCCESS)
        return rc;
    if (stream_in_use == rt_stream_handle(held))
        stream_in_use = NULL;
    rt_stream_release(held);
    return ACL_SUCCESS;
}

aclError
aclrtGetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t *value)
{
    aclError rc;

    if (value == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetDeviceResLimit: value is NULL");
    rc = rt_device_check(deviceId, "aclrtGetDeviceResLimit");
    if (rc == ACL_SUCCESS)
        rc = check_type("aclrtGetDeviceResLimit", type);
    if (rc == ACL_SUCCESS)
        *value = rt_device_limit(deviceId, type);
    return rc;
}

aclError
aclrtSetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t value)
{
    aclError rc = rt_device_check(deviceId, "aclrtSetDeviceResLimit");

    if (rc == ACL_SUCCESS)
        rc = check_value("aclrtSetDeviceResLimit", type, value);
    if (rc == ACL_SUCCESS)
        rt_device_limit_set(deviceId, type, value);
    return rc;
}

aclError
aclrtResetDeviceResLimit(int32_t deviceId)
{
    aclError rc = rt_device_check(deviceId, "aclrtResetDeviceResLimit");

    if (rc != ACL_SUCCESS)
        return rc;
    rt_device_limit_set(deviceId, ACL_RT_DEV_RES_CUBE_CORE, 0);
    rt_device_limit_set(deviceId, ACL_RT_DEV_RES_VECTOR_CORE, 0);
    return ACL_SUCCESS;
}
