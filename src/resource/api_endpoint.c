/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/log.h"
#include "hcomm/hcomm_res.h"
#include "resource/endpoint.h"

HcommResult
HcommEndpointCreate(const EndpointDesc *endpoint, EndpointHandle *endpointHandle)
{
    if (!rt_enter())
        return HCCL_E_UNAVAIL;
    if (endpoint == NULL || endpointHandle == NULL)
        return res_null("HcommEndpointCreate", endpoint == NULL ? "endpoint" : "endpointHandle");
    return res_endpoint_create(endpoint, endpointHandle);
}

HcommResult
HcommEndpointDestroy(EndpointHandle endpointHandle)
{
    return rt_enter() ? res_endpoint_destroy(endpointHandle) : HCCL_E_UNAVAIL;
}

/* A device of this SoC has one network endpoint, over UB_CTP. */
static HcclResult
check_device(const char *function, int32_t device)
{
    if (rt_soc() != RT_SOC_950) {
        LOG_ERROR(RES, "%s: %s has no such endpoints, an Ascend950 has (HCOMM_SOC_NAME)", function,
                  rt_soc_name());
        return HCCL_E_NOT_SUPPORT;
    }
    if (device < 0 || (uint32_t)device >= rt_device_count()) {
        LOG_ERROR(RES, "%s: there is no device %d, there are %u (HCOMM_DEVICE_COUNT)", function,
                  device, rt_device_count());
        return HCCL_E_PARA;
    }
    return HCCL_SUCCESS;
}

HcommResult
HcommEndpointGetDescNum(int32_t deviceLogicId, uint32_t *descNum)
{
    HcclResult rc;

    if (descNum == NULL)
        return res_null("HcommEndpointGetDescNum", "descNum");
    rc = check_device("HcommEndpointGetDescNum", deviceLogicId);
    *descNum = rc == HCCL_SUCCESS; /* documented: 0 on failure */
    return rc;
}

HcommResult
HcommEndpointGetDescs(int32_t deviceLogicId, uint32_t *descNum, EndpointDesc *endpointDescs)
{
    HcclResult rc;

    if (descNum == NULL || endpointDescs == NULL)
        return res_null("HcommEndpointGetDescs", descNum == NULL ? "descNum" : "endpointDescs");
    rc = check_device("HcommEndpointGetDescs", deviceLogicId);
    if (rc == HCCL_SUCCESS)
        rc = res_check_number("HcommEndpointGetDescs", "descNum", *descNum, 1, UINT32_MAX);
    if (rc != HCCL_SUCCESS)
        return rc;
    res_endpoint_desc_of(deviceLogicId, COMM_PROTOCOL_UB_CTP, endpointDescs);
    *descNum = 1;
    return HCCL_SUCCESS;
}

HcommResult
HcommEndpointGetListenPort(EndpointHandle endpointHandle, uint32_t *port)
{
    struct res_endpoint *endpoint;
    HcclResult rc;

    if (!rt_enter())
        return HCCL_E_UNAVAIL;
    if (port == NULL)
        return res_null("HcommEndpointGetListenPort", "port");
    rc = res_endpoint_hold(endpointHandle, &endpoint);
    if (rc != HCCL_SUCCESS)
        return rc;
    res_endpoint_release(endpoint);
    *port = RES_DEFAULT_PORT;
    return HCCL_SUCCESS;
}

HcommResult
HcommEndpointCheckFeature(HcommEndpointFeatureType featureType, const EndpointDesc *endpointDesc,
                          bool *value)
{
    (void)featureType; /* the only one there is, NDA, needs a device that drives a network card */
    if (endpointDesc == NULL || value == NULL)
        return res_null("HcommEndpointCheckFeature", value == NULL ? "value" : "endpointDesc");
    *value = false;
    return HCCL_SUCCESS;
}
