/* SPDX-License-Identifier: BSD-3-Clause */
#include <unistd.h>

#include "runtime/context.h"
#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/graph.h"

aclError
aclrtSetDevice(int32_t deviceId)
{
    if (!rt_enter())
        return RT_NOT_HERE;
    return rt_device_acquire(deviceId);
}

static aclError
reset(int32_t device, bool force)
{
    if (!rt_enter())
        return RT_NOT_HERE;
    if (rt_on_aicpu()) /* the reset would wait for the kernel, and so for itself */
        return rt_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                       "aclrtResetDevice: called by a kernel; a device is reset from the host");
    return rt_device_release(device, force);
}

aclError
aclrtResetDevice(int32_t deviceId)
{
    return reset(deviceId, false);
}

aclError
aclrtResetDeviceForce(int32_t deviceId)
{
    return reset(deviceId, true);
}

aclError
aclrtGetDevice(int32_t *deviceId)
{
    if (!rt_enter())
        return RT_NOT_HERE;
    if (deviceId == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetDevice: deviceId is NULL");
    return rt_current_device(deviceId);
}

aclError
aclrtGetDeviceCount(uint32_t *count)
{
    if (count == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetDeviceCount: count is NULL");
    *count = rt_device_count();
    if (*count == 0)
        return rt_fail(ACL_ERROR_RT_NO_DEVICE,
                       "aclrtGetDeviceCount: there is no device; see HCOMM_DEVICE_COUNT and "
                       "ASCEND_RT_VISIBLE_DEVICES");
    return ACL_SUCCESS;
}

const char *
aclrtGetSocName(void)
{
    return rt_device_known() ? rt_soc_name() : NULL;
}

aclError
aclrtGetRunMode(aclrtRunMode *runMode)
{
    if (runMode == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetRunMode: runMode is NULL");
    *runMode = rt_on_aicpu() ? ACL_DEVICE : ACL_HOST;
    return ACL_SUCCESS;
}

static aclError
synchronize(int64_t timeout_ms)
{
    struct rt_context *current;
    aclError rc = rt_context_current(&current);

    if (rc != ACL_SUCCESS)
        return rc;
    rc = rt_capture_check_context(current, "aclrtSynchronizeDevice");
    if (rc == ACL_SUCCESS)
        rc = rt_stream_sync_all(current, timeout_ms);
    rt_context_release(current);
    return rc;
}

aclError
aclrtSynchronizeDevice(void)
{
    if (!rt_enter())
        return RT_NOT_HERE;
    return synchronize(-1);
}

aclError
aclrtSynchronizeDeviceWithTimeout(int32_t timeoutMs)
{
    if (!rt_enter())
        return RT_NOT_HERE;
    if (timeoutMs < -1 || timeoutMs == 0)
        return rt_fail(
            ACL_ERROR_RT_PARAM_INVALID,
            "aclrtSynchronizeDeviceWithTimeout: timeout is %d ms; -1 waits for ever, else "
            "it must be positive",
            timeoutMs);
    return synchronize(timeoutMs);
}

aclError
aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr, int64_t *value)
{
    if (value == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetDeviceInfo: value is NULL");
    if (deviceId >= rt_device_count()) /* the one query that says so with this code */
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "aclrtGetDeviceInfo: no device %u; there are %u, from 0", deviceId,
                       rt_device_count());
    return rt_device_attr((int32_t)deviceId, (uint32_t)attr, value);
}

aclError
aclrtGetDevicesTopo(uint32_t deviceId, uint32_t otherDeviceId, uint64_t *value)
{
    aclError rc;

    if (value == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetDevicesTopo: value is NULL");
    rc = rt_device_check((int32_t)deviceId, "aclrtGetDevicesTopo");
    if (rc == ACL_SUCCESS)
        rc = rt_device_check((int32_t)otherDeviceId, "aclrtGetDevicesTopo");
    if (rc == ACL_SUCCESS)
        *value = rt_device_link((int32_t)deviceId, (int32_t)otherDeviceId);
    return rc;
}

/* ---- one numbering into another; see device.h ---- */

static aclError
to_machine(const char *function, int32_t user, int32_t *out)
{
    aclError rc;

    if (out == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "%s: the result pointer is NULL", function);
    rc = rt_device_check(user, function);
    if (rc == ACL_SUCCESS)
        *out = rt_device_logical(user);
    return rc;
}

static aclError
to_user(const char *function, int32_t machine, int32_t *out)
{
    int32_t user;

    if (out == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "%s: the result pointer is NULL", function);
    user = rt_device_user(machine);
    if (user < 0)
        return rt_fail(ACL_ERROR_RT_INVALID_DEVICEID, "%s: no visible device has the id %d",
                       function, machine);
    *out = user;
    return ACL_SUCCESS;
}

aclError
aclrtGetLogicDevIdByUserDevId(const int32_t userDevid, int32_t *const logicDevId)
{
    return to_machine("aclrtGetLogicDevIdByUserDevId", userDevid, logicDevId);
}

aclError
aclrtGetUserDevIdByLogicDevId(const int32_t logicDevId, int32_t *const userDevid)
{
    return to_user("aclrtGetUserDevIdByLogicDevId", logicDevId, userDevid);
}

/* This and the next convert user ids, whatever their names say: programs rely on it. */
aclError
aclrtGetPhyDevIdByLogicDevId(const int32_t logicDevId, int32_t *const phyDevId)
{
    return to_machine("aclrtGetPhyDevIdByLogicDevId", logicDevId, phyDevId);
}

aclError
aclrtGetLogicDevIdByPhyDevId(const int32_t phyDevId, int32_t *const logicDevId)
{
    return to_user("aclrtGetLogicDevIdByPhyDevId", phyDevId, logicDevId);
}

aclError
aclrtGetUserDevIdByPhyDevId(const int32_t phyDevId, int32_t *const userDevId)
{
    return to_user("aclrtGetUserDevIdByPhyDevId", phyDevId, userDevId);
}

aclError
aclrtGetPhyDevIdByUserDevId(const int32_t userDevId, int32_t *const phyDevId)
{
    return to_machine("aclrtGetPhyDevIdByUserDevId", userDevId, phyDevId);
}

aclError
aclrtQueryDeviceStatus(int32_t deviceId, aclrtDeviceStatus *deviceStatus)
{
    aclError rc;

    if (deviceStatus == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtQueryDeviceStatus: deviceStatus is NULL");
    rc = rt_device_check(deviceId, "aclrtQueryDeviceStatus");
    if (rc == ACL_SUCCESS)
        *deviceStatus = ACL_RT_DEVICE_STATUS_NORMAL;
    return rc;
}

aclError
aclrtDeviceGetBareTgid(int32_t *pid)
{
    if (pid == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtDeviceGetBareTgid: pid is NULL");
    *pid = (int32_t)getpid();
    return ACL_SUCCESS;
}
