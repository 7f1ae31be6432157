/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/alloc.h"
#include "base/handle.h"
#include "base/log.h"
#include "hcomm/hcomm_channel.h"
#include "resource/channel_desc.h"

#define CHANNELS_MOST 1048576u

/* What HcommChannelConfig stands for. */
struct config {
    uint32_t shared_queue;
};

static void
config_fini(void *obj)
{
    hc_free(obj);
}

static struct hc_table config_table =
    HC_TABLE("channel option object", HC_KIND_CONFIG, config_fini);

static uint64_t
number_of(HcommChannelConfig config)
{
    return (uint64_t)(uintptr_t)config;
}

static HcclResult
config_hold(HcommChannelConfig handle, struct config **config)
{
    *config = hc_handle_hold(&config_table, number_of(handle));
    if (*config != NULL)
        return HCCL_SUCCESS;
    LOG_ERROR(RES, "%p is not a live channel option object: it is %s", handle,
              hc_handle_guess(&config_table, number_of(handle)));
    return handle == NULL ? HCCL_E_PTR : HCCL_E_NOT_FOUND;
}

HcommResult
HcommChannelConfigCreate(HcommChannelConfig *config)
{
    struct config *fresh;
    uint64_t number;

    if (!rt_enter())
        return HCCL_E_UNAVAIL;
    if (config == NULL)
        return res_null("HcommChannelConfigCreate", "config");
    fresh = hc_zalloc(sizeof *fresh);
    if (fresh == NULL)
        return HCCL_E_MEMORY;
    number = hc_handle_open(&config_table, fresh);
    if (number == 0) {
        hc_free(fresh);
        return HCCL_E_MEMORY;
    }
    *config = (HcommChannelConfig)(uintptr_t)number;
    return HCCL_SUCCESS;
}

HcommResult
HcommChannelConfigDestroy(HcommChannelConfig config)
{
    if (!rt_enter())
        return HCCL_E_UNAVAIL;
    if (config == NULL || hc_handle_close(&config_table, number_of(config)))
        return HCCL_SUCCESS;
    LOG_ERROR(RES, "HcommChannelConfigDestroy: %p is not a live channel option object: it is %s",
              config, hc_handle_guess(&config_table, number_of(config)));
    return HCCL_E_NOT_FOUND;
}

HcommResult
HcommChannelConfigSetInt(HcommChannelConfig config, HcommChannelConfigType type, uint32_t value)
{
    struct config *held;
    HcclResult rc;

    if (!rt_enter())
        return HCCL_E_UNAVAIL;
    rc = config_hold(config, &held);
    if (rc != HCCL_SUCCESS)
        return rc;
    if (type == HCOMM_CHANNEL_CONFIG_TYPE_IS_SHARED_QUEUE) {
        held->shared_queue = value;
    } else {
        LOG_ERROR(RES,
                  "HcommChannelConfigSetInt: %d is no option "
                  "(HCOMM_CHANNEL_CONFIG_TYPE_IS_SHARED_QUEUE is 0)",
                  (int)type);
        rc = HCCL_E_PARA;
    }
    hc_handle_release(&config_table, number_of(config));
    return rc;
}

/* Shared queues exist for AIV alone, and AIV does not exist here. */
static HcclResult
check_config(HcommChannelConfig config)
{
    struct config *held;
    bool shared;
    HcclResult rc;

    if (config == NULL)
        return HCCL_SUCCESS;
    rc = config_hold(config, &held);
    if (rc != HCCL_SUCCESS)
        return rc;
    shared = held->shared_queue != 0;
    hc_handle_release(&config_table, number_of(config));
    if (!shared)
        return HCCL_SUCCESS;
    LOG_ERROR(
        RES, "HcommChannelCreateWithConfig: a shared queue needs engine AIV, which a soft NPU does "
             "not have");
    return HCCL_E_NOT_SUPPORT;
}

static HcclResult
create_all(struct res_endpoint *endpoint, CommEngine engine, const HcommChannelDesc *descs,
           uint32_t num, ChannelHandle *channels)
{
    const char *at = (const char *)descs;
    HcclResult rc = HCCL_SUCCESS;
    uint32_t made = 0;

    while (made < num) {
        HcommChannelDesc desc;
        uint32_t size;

        rc = res_channel_desc_read((const HcommChannelDesc *)(const void *)at, &desc, &size);
        if (rc == HCCL_SUCCESS)
            rc = res_channel_of_endpoint(endpoint, engine, &desc, &channels[made]);
        if (rc != HCCL_SUCCESS)
            break;
        at += size;
        made++;
    }
    if (rc != HCCL_SUCCESS) {
        for (uint32_t i = 0; i < made; i++) {
            (void)res_channel_destroy(channels[i]);
            channels[i] = 0;
        }
    }
    return rc;
}

HcommResult
HcommChannelCreateWithConfig(EndpointHandle endpointHandle, CommEngine engine,
                             HcommChannelDesc *channelDescs, uint32_t channelNum,
                             HcommChannelConfig config, ChannelHandle *channels)
{
    struct res_endpoint *endpoint;
    HcclResult rc;

    if (!rt_enter())
        return HCCL_E_UNAVAIL;
    if (channelDescs == NULL || channels == NULL)
        return res_null("HcommChannelCreate", channels == NULL ? "channels" : "channelDescs");
    rc = res_check_number("HcommChannelCreate", "channelNum", channelNum, 1, CHANNELS_MOST);
    if (rc == HCCL_SUCCESS)
        rc = res_engine_check(engine, "HcommChannelCreate");
    if (rc == HCCL_SUCCESS)
        rc = check_config(config);
    if (rc == HCCL_SUCCESS)
        rc = res_endpoint_hold(endpointHandle, &endpoint);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = create_all(endpoint, engine, channelDescs, channelNum, channels);
    res_endpoint_release(endpoint);
    return rc;
}

HcommResult
HcommChannelCreate(EndpointHandle endpointHandle, CommEngine engine, HcommChannelDesc *channelDescs,
                   uint32_t channelNum, ChannelHandle *channels)
{
    return HcommChannelCreateWithConfig(endpointHandle, engine, channelDescs, channelNum, NULL,
                                        channels);
}

HcommResult
HcommChannelGetStatus(const ChannelHandle *channelList, uint32_t listNum, int32_t *statusList)
{
    HcclResult rc;

    if (!rt_enter())
        return HCCL_E_UNAVAIL;
    if (channelList == NULL || statusList == NULL)
        return res_null("HcommChannelGetStatus", statusList == NULL ? "statusList" : "channelList");
    rc = res_check_number("HcommChannelGetStatus", "listNum", listNum, 1, CHANNELS_MOST);
    for (uint32_t i = 0; i < listNum && rc == HCCL_SUCCESS; i++)
        rc = res_channel_status(channelList[i], &statusList[i]);
    return rc == HCCL_E_NOT_FOUND ? HCCL_E_INTERNAL : rc; /* as the original answers here */
}

HcommResult
HcommChannelDestroy(const ChannelHandle *channels, uint32_t channelNum)
{
    HcclResult rc;

    if (!rt_enter())
        return HCCL_E_UNAVAIL;
    if (channels == NULL)
        return res_null("HcommChannelDestroy", "channels");
    rc = res_check_number("HcommChannelDestroy", "channelNum", channelNum, 1, CHANNELS_MOST);
    for (uint32_t i = 0; i < channelNum && rc == HCCL_SUCCESS; i++)
        rc = res_channel_destroy(channels[i]);
    return rc;
}
