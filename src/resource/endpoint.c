/* SPDX-License-Identifier: BSD-3-Clause */
#include "resource/endpoint.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/handle.h"
#include "base/log.h"
#include "resource/channel.h"

static void endpoint_fini(void *obj);

static struct hc_table endpoint_table = HC_TABLE("endpoint", HC_KIND_ENDPOINT, endpoint_fini);

/* ---- descriptors ---- */

static void
hex(const uint8_t *bytes, size_t num, char *text, size_t len)
{
    for (size_t i = 0; i < num && 2 * i + 3 <= len; i++)
        snprintf(text + 2 * i, len - 2 * i, "%02x", bytes[i]);
}

static void
address_text(const CommAddr *addr, char *text, size_t len)
{
    text[0] = '\0';
    switch (addr->type) {
    case COMM_ADDR_TYPE_IP_V4:
        (void)inet_ntop(AF_INET, &addr->addr, text, (socklen_t)len);
        break;
    case COMM_ADDR_TYPE_IP_V6:
        (void)inet_ntop(AF_INET6, &addr->addr6, text, (socklen_t)len);
        break;
    case COMM_ADDR_TYPE_ID:
        snprintf(text, len, "id %u", addr->id);
        break;
    case COMM_ADDR_TYPE_EID:
        hex(addr->eid, sizeof addr->eid, text, len);
        break;
    default:
        break;
    }
}

void
res_endpoint_key(const EndpointDesc *desc, char *text, size_t len)
{
    address_text(&desc->commAddr, text, len);
    if (text[0] != '\0')
        return;
    if (desc->loc.locType == ENDPOINT_LOC_TYPE_DEVICE)
        snprintf(text, len, "device %u", desc->loc.device.devPhyId);
    else
        snprintf(text, len, "host");
}

void
res_endpoint_text(const EndpointDesc *desc, char *text, size_t len)
{
    char key[64];

    res_endpoint_key(desc, key, sizeof key);
    snprintf(text, len, "%s %s", res_protocol_name(desc->protocol), key);
}

void
res_endpoint_desc_of(int32_t device, CommProtocol protocol, EndpointDesc *desc)
{
    static const uint8_t prefix[8] = {0x68, 0x63, 0x6f, 0x6d, 0x6d, 0x6e, 0x70, 0x75};

    (void)EndpointDescInit(desc, 1);
    desc->protocol = protocol;
    desc->commAddr.type = COMM_ADDR_TYPE_EID;
    memset(desc->commAddr.eid, 0, sizeof desc->commAddr.eid);
    memcpy(desc->commAddr.eid, prefix, sizeof prefix);
    for (int i = 0; i < 4; i++)
        desc->commAddr.eid[15 - i] = (uint8_t)((uint32_t)device >> (8 * i));
    desc->loc.locType = ENDPOINT_LOC_TYPE_DEVICE;
    desc->loc.device.devPhyId = (uint32_t)device;
}

static bool
host_has_protocol(CommProtocol protocol)
{
    return protocol == COMM_PROTOCOL_ROCE || protocol == COMM_PROTOCOL_UB_CTP ||
           protocol == COMM_PROTOCOL_UBC_TP;
}

static HcclResult
check_desc(const EndpointDesc *desc)
{
    char text[160];

    res_endpoint_text(desc, text, sizeof text);
    if (desc->loc.locType != ENDPOINT_LOC_TYPE_DEVICE &&
        desc->loc.locType != ENDPOINT_LOC_TYPE_HOST) {
        LOG_ERROR(RES, "endpoint description: loc.locType is %d, neither device (0) nor host (1)",
                  (int)desc->loc.locType);
        return HCCL_E_PARA;
    }
    if ((int)desc->protocol < COMM_PROTOCOL_HCCS || (int)desc->protocol > COMM_PROTOCOL_UB_RTP) {
        LOG_ERROR(RES, "endpoint description: protocol is %d, that is no protocol (0 to 9)",
                  (int)desc->protocol);
        return HCCL_E_PARA;
    }
    if (desc->loc.locType == ENDPOINT_LOC_TYPE_HOST && !host_has_protocol(desc->protocol)) {
        LOG_ERROR(RES, "endpoint %s: a host endpoint speaks RoCE, UB_CTP or UBC_TP", text);
        return HCCL_E_PARA;
    }
    if ((int)desc->commAddr.type < COMM_ADDR_TYPE_RESERVED ||
        (int)desc->commAddr.type > COMM_ADDR_TYPE_EID) {
        LOG_ERROR(RES, "endpoint %s: %d is no address type", text, (int)desc->commAddr.type);
        return HCCL_E_PARA;
    }
    return HCCL_SUCCESS;
}

/* The device of a device endpoint; for a host endpoint the calling thread's. */
static HcclResult
find_device(const EndpointDesc *desc, int32_t *device)
{
    if (desc->loc.locType == ENDPOINT_LOC_TYPE_HOST || desc->loc.device.devPhyId == UINT32_MAX)
        return rt_result(rt_current_device(device));
    if (desc->loc.device.devPhyId >= rt_device_count()) {
        LOG_ERROR(RES, "endpoint of device %u: there are %u devices (HCOMM_DEVICE_COUNT)",
                  desc->loc.device.devPhyId, rt_device_count());
        return HCCL_E_PARA;
    }
    *device = (int32_t)desc->loc.device.devPhyId;
    return HCCL_SUCCESS;
}

/* ---- life ---- */

HcclResult
res_endpoint_create(const EndpointDesc *desc, EndpointHandle *handle)
{
    struct res_endpoint *endpoint;
    char text[128];
    int32_t device;
    uint64_t number;
    HcclResult rc = check_desc(desc);

    if (rc == HCCL_SUCCESS)
        rc = find_device(desc, &device);
    if (rc != HCCL_SUCCESS)
        return rc;
    endpoint = hc_zalloc(sizeof *endpoint);
    if (endpoint == NULL)
        return HCCL_E_MEMORY;
    endpoint->desc = *desc;
    endpoint->device = device;
    res_endpoint_text(desc, text, sizeof text);
    snprintf(endpoint->name, sizeof endpoint->name, "endpoint %s", text);
    pthread_mutex_init(&endpoint->lock, NULL);
    hc_list_init(&endpoint->mems);
    hc_list_init(&endpoint->imports);
    number = hc_handle_open(&endpoint_table, endpoint);
    if (number == 0) {
        endpoint_fini(endpoint);
        return HCCL_E_MEMORY;
    }
    endpoint->handle = (EndpointHandle)(uintptr_t)number;
    *handle = endpoint->handle;
    return HCCL_SUCCESS;
}

static void
endpoint_fini(void *obj)
{
    struct res_endpoint *endpoint = obj;

    res_mem_drop_all(endpoint);
    res_import_drop_all(endpoint);
    pthread_mutex_destroy(&endpoint->lock);
    hc_free(endpoint);
}

HcclResult
res_endpoint_hold(EndpointHandle handle, struct res_endpoint **endpoint)
{
    uint64_t number = (uint64_t)(uintptr_t)handle;

    if (handle == NULL) {
        LOG_ERROR(RES, "endpoint handle is NULL: one from HcommEndpointCreate is needed");
        return HCCL_E_PTR;
    }
    *endpoint = hc_handle_hold(&endpoint_table, number);
    if (*endpoint == NULL) {
        LOG_ERROR(RES, "endpoint handle %p is not a live endpoint: it is %s", handle,
                  hc_handle_guess(&endpoint_table, number));
        return HCCL_E_NOT_FOUND;
    }
    return HCCL_SUCCESS;
}

struct res_endpoint *
res_endpoint_hold_quiet(EndpointHandle handle)
{
    return hc_handle_hold(&endpoint_table, (uint64_t)(uintptr_t)handle);
}

void
res_endpoint_release(struct res_endpoint *endpoint)
{
    hc_handle_release(&endpoint_table, (uint64_t)(uintptr_t)endpoint->handle);
}

HcclResult
res_endpoint_destroy(EndpointHandle handle)
{
    struct res_endpoint *endpoint;
    HcclResult rc = res_endpoint_hold(handle, &endpoint);

    if (rc != HCCL_SUCCESS)
        return rc;
    if (!hc_handle_close(&endpoint_table, (uint64_t)(uintptr_t)handle)) {
        LOG_ERROR(RES, "endpoint handle %p was destroyed twice at once", handle);
        rc = HCCL_E_NOT_FOUND;
    }
    res_endpoint_release(endpoint);
    return rc;
}
