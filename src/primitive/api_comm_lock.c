/* SPDX-License-Identifier: BSD-3-Clause */
#include "hcomm/hcomm_primitives.h"
#include "primitive/comm_lock.h"
#include "primitive/queue.h"

int32_t
HcommAcquireComm(const char *commId)
{
    int32_t device;
    HcclResult rc;

    if (!rt_enter())
        return HCCL_E_UNAVAIL;
    if (commId == NULL)
        return res_null(__func__, "commId");
    rc = rt_result(rt_current_device(&device));
    if (rc != HCCL_SUCCESS)
        return rc;
    if (!rt_on_aicpu())
        return prim_comm_find(device, commId); /* hosts do not lock */
    rt_block_begin();
    rc = prim_comm_lock(device, commId);
    rt_block_end();
    return rc;
}

int32_t
HcommReleaseComm(const char *commId)
{
    int32_t device;
    HcclResult rc;

    if (!rt_enter())
        return HCCL_E_UNAVAIL;
    if (commId == NULL)
        return res_null(__func__, "commId");
    if (!rt_on_aicpu())
        return HCCL_SUCCESS;
    rc = rt_result(rt_current_device(&device));
    if (rc == HCCL_SUCCESS)
        prim_comm_unlock(device, commId);
    return rc;
}
