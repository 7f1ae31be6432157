/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Peer access: remembered, so that the status is what was set. It is not enforced: a soft NPU that
 * refused what its address space allows would help nobody.
 */
#include <stdatomic.h>

#include "acl/acl_rt.h"
#include "runtime/device.h"
#include "runtime/error.h"

/* Bit `peer` of row `device`: device may access peer. Pages appear when touched. */
static _Atomic uint64_t enabled[RT_DEVICE_MAX][RT_DEVICE_MAX / 64];

static aclError
check_pair(int32_t device, int32_t peer, const char *function)
{
    aclError rc = rt_device_check(device, function);

    if (rc == ACL_SUCCESS)
        rc = rt_device_check(peer, function);
    if (rc == ACL_SUCCESS && device == peer)
        rc = rt_fail(ACL_ERROR_INVALID_PARAM, "%s: device %d is no peer of itself", function,
                     device);
    return rc;
}

static aclError
set_access(int32_t peer, bool on, const char *function)
{
    uint64_t bit = 1ull << ((uint32_t)peer % 64);
    int32_t device;
    aclError rc;

    if (!rt_enter())
        return RT_NOT_HERE;
    rc = rt_current_device(&device);
    if (rc == ACL_SUCCESS)
        rc = check_pair(device, peer, function);
    if (rc != ACL_SUCCESS)
        return rc;
    if (on)
        atomic_fetch_or(&enabled[device][peer / 64], bit);
    else
        atomic_fetch_and(&enabled[device][peer / 64], ~bit);
    return ACL_SUCCESS;
}

aclError
aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags)
{
    if (flags != 0)
        return rt_fail(ACL_ERROR_FEATURE_UNSUPPORTED,
                       "aclrtDeviceEnablePeerAccess: flags is 0x%x; pass 0", flags);
    return set_access(peerDeviceId, true, "aclrtDeviceEnablePeerAccess");
}

aclError
aclrtDeviceDisablePeerAccess(int32_t peerDeviceId)
{
    return set_access(peerDeviceId, false, "aclrtDeviceDisablePeerAccess");
}

aclError
aclrtDeviceCanAccessPeer(int32_t *canAccessPeer, int32_t deviceId, int32_t peerDeviceId)
{
    aclError rc;

    if (canAccessPeer == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtDeviceCanAccessPeer: canAccessPeer is NULL");
    rc = check_pair(deviceId, peerDeviceId, "aclrtDeviceCanAccessPeer");
    if (rc == ACL_SUCCESS)
        *canAccessPeer = 1;
    return rc;
}

aclError
aclrtDevicePeerAccessStatus(int32_t deviceId, int32_t peerDeviceId, int32_t *status)
{
    aclError rc;

    if (status == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtDevicePeerAccessStatus: status is NULL");
    rc = check_pair(deviceId, peerDeviceId, "aclrtDevicePeerAccessStatus");
    if (rc == ACL_SUCCESS)
        *status = (int32_t)(atomic_load(&enabled[deviceId][peerDeviceId / 64]) >>
                                ((uint32_t)peerDeviceId % 64) &
                            1);
    return rc;
}
