/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/log.h"
#include "hcomm/hcomm_res.h"
#include "resource/endpoint.h"

#define GRANULARITY (2ull << 20) /* as the device maps physical memory */

HcommResult
HcommMemReg(EndpointHandle endpointHandle, const char *memTag, const CommMem *mem,
            HcommMemHandle *memHandle)
{
    struct res_endpoint *endpoint;
    HcclResult rc;

    if (!rt_enter())
        return HCCL_E_UNAVAIL;
    if (mem == NULL || memHandle == NULL || mem->addr == NULL)
        return res_null("HcommMemReg", mem == NULL         ? "mem"
                                       : memHandle == NULL ? "memHandle"
                                                           : "the address");
    rc = res_endpoint_hold(endpointHandle, &endpoint);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = res_mem_reg(endpoint, memTag, mem, memHandle);
    res_endpoint_release(endpoint);
    return rc;
}

HcommResult
HcommMemUnreg(EndpointHandle endpointHandle, HcommMemHandle memHandle)
{
    struct res_endpoint *endpoint;
    HcclResult rc;

    if (!rt_enter())
        return HCCL_E_UNAVAIL;
    rc = res_endpoint_hold(endpointHandle, &endpoint);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = res_mem_unreg(endpoint, memHandle);
    res_endpoint_release(endpoint);
    return rc;
}

HcommResult
HcommMemExport(EndpointHandle endpointHandle, HcommMemHandle memHandle, void **memDesc,
               uint32_t *memDescLen)
{
    struct res_endpoint *endpoint;
    HcclResult rc;

    if (!rt_enter())
        return HCCL_E_UNAVAIL;
    if (memDesc == NULL || memDescLen == NULL)
        return res_null("HcommMemExport", memDesc == NULL ? "memDesc" : "memDescLen");
    rc = res_endpoint_hold(endpointHandle, &endpoint);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = res_mem_export(endpoint, memHandle, memDesc, memDescLen);
    res_endpoint_release(endpoint);
    return rc;
}

HcommResult
HcommMemImport(EndpointHandle endpointHandle, const void *memDesc, uint32_t descLen,
               CommMem *outMem)
{
    struct res_endpoint *endpoint;
    HcclResult rc;

    if (!rt_enter())
        return HCCL_E_UNAVAIL;
    if (memDesc == NULL || outMem == NULL)
        return res_null("HcommMemImport", memDesc == NULL ? "memDesc" : "outMem");
    rc = res_endpoint_hold(endpointHandle, &endpoint);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = res_mem_import(endpoint, memDesc, descLen, outMem);
    res_endpoint_release(endpoint);
    return rc;
}

HcommResult
HcommMemUnimport(EndpointHandle endpointHandle, const void *memDesc, uint32_t descLen)
{
    struct res_endpoint *endpoint;
    HcclResult rc;

    if (!rt_enter())
        return HCCL_E_UNAVAIL;
    if (memDesc == NULL)
        return res_null("HcommMemUnimport", "memDesc");
    rc = res_endpoint_hold(endpointHandle, &endpoint);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = res_mem_unimport(endpoint, memDesc, descLen);
    res_endpoint_release(endpoint);
    return rc;
}

HcommResult
HcommMemAlloc(void **ptr, size_t size)
{
    int32_t device;
    HcclResult rc;

    if (!rt_enter())
        return HCCL_E_UNAVAIL;
    if (ptr == NULL)
        return res_null("HcommMemAlloc", "ptr");
    rc = res_check_number("HcommMemAlloc", "size", size, 1, SIZE_MAX - GRANULARITY);
    if (rc != HCCL_SUCCESS)
        return rc;
    if (rt_current_device(&device) != ACL_SUCCESS ||
        rt_mem_alloc(device, (size + GRANULARITY - 1) / GRANULARITY * GRANULARITY, ptr) !=
            ACL_SUCCESS)
        return HCCL_E_RUNTIME; /* documented, whatever the runtime said */
    return HCCL_SUCCESS;
}

HcommResult
HcommMemFree(void *ptr)
{
    if (!rt_enter())
        return HCCL_E_UNAVAIL;
    return rt_mem_free(ptr) == ACL_SUCCESS ? HCCL_SUCCESS : HCCL_E_RUNTIME;
}
