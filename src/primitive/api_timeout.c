/* SPDX-License-Identifier: BSD-3-Clause */
/* Timeouts of the calling OS thread. */
#include <math.h>

#include "base/log.h"
#include "hcomm/hcomm_primitives.h"
#include "primitive/primitive.h"
#include "primitive/queue.h"

#define DEVICE_WAIT_S 1836u
#define HOST_WAIT_S 1886u

static _Thread_local struct {
    bool is_set;
    uint32_t seconds;
} wait_default;

uint32_t
prim_default_wait_s(void)
{
    if (wait_default.is_set)
        return wait_default.seconds;
    return rt_on_aicpu() ? DEVICE_WAIT_S : HOST_WAIT_S;
}

static HcclResult
check_seconds(const char *function, float seconds)
{
    if (!isnan(seconds) && seconds >= 0.0f && seconds < 4294967296.0f)
        return HCCL_SUCCESS;
    LOG_ERROR(PRIM, "%s: %g is no number of seconds from 0 to %u", function, (double)seconds,
              UINT32_MAX);
    return HCCL_E_PARA;
}

int32_t
HcommSetNotifyWaitTimeOut(float timeOut)
{
    HcclResult rc = check_seconds(__func__, timeOut);

    if (rc != HCCL_SUCCESS)
        return rc;
    wait_default.is_set = true;
    wait_default.seconds = (uint32_t)timeOut;
    return HCCL_SUCCESS;
}

int32_t
HcommThreadResAcquireTimeOut(float timeOut)
{
    if (!rt_on_aicpu()) {
        LOG_ERROR(PRIM, "%s: only AICPU kernels have it", __func__);
        return HCCL_E_NOT_SUPPORT;
    }
    return check_seconds(__func__, timeOut); /* a queue here is never full: nothing to remember */
}
