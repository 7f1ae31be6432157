/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Channels of an endpoint, without a communicator: nobody numbers their ends, so both must find
 * each other by what they both know: the two addresses, the port and the name. The lesser address
 * is side 0; ends of the same address are told apart by their role.
 */
#define _GNU_SOURCE
#include "resource/channel_desc.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"

#define NOT_SET 0xFFFFFFFFu
#define NAME_SINCE 3u /* version of the header that brought channelName */
#define KEY_LEN 512

HcclResult
res_channel_desc_read(const HcommChannelDesc *given, HcommChannelDesc *desc, uint32_t *size)
{
    CommAbiHeader header;

    memcpy(&header, given, sizeof header);
    if (header.magicWord != HCOMM_CHANNEL_MAGIC_WORD || header.size < sizeof header) {
        LOG_ERROR(RES,
                  "a channel description has magic 0x%x and size %u: start it with "
                  "HcommChannelDescInit",
                  header.magicWord, header.size);
        return HCCL_E_PARA;
    }
    if (HcommChannelDescInit(desc, 1) != 0)
        return HCCL_E_INTERNAL;
    memcpy(desc, given, header.size < sizeof *desc ? header.size : sizeof *desc);
    if (header.version < NAME_SINCE)
        desc->channelName = NULL;
    *size = header.size;
    return HCCL_SUCCESS;
}

static HcclResult
in_range(const char *what, uint32_t value, uint32_t least, uint32_t most)
{
    if (value == NOT_SET)
        return HCCL_SUCCESS;
    return res_check_number("HcommChannelCreate", what, value, least, most);
}

static HcclResult
check_roce(const HcommChannelDesc *desc)
{
    HcclResult rc = in_range("roceAttr.queueNum", desc->roceAttr.queueNum, 1, 1);

    if (rc == HCCL_SUCCESS)
        rc = in_range("roceAttr.retryCnt", desc->roceAttr.retryCnt, 0, 7);
    if (rc == HCCL_SUCCESS)
        rc = in_range("roceAttr.retryInterval", desc->roceAttr.retryInterval, 5, 24);
    if (rc == HCCL_SUCCESS && desc->roceAttr.sl != 0xFF)
        rc = in_range("roceAttr.sl", desc->roceAttr.sl, 0, 7);
    return rc;
}

static HcclResult
check_desc(const struct res_endpoint *endpoint, const HcommChannelDesc *desc)
{
    if (desc->remoteEndpoint.commAddr.type == COMM_ADDR_TYPE_RESERVED &&
        desc->remoteEndpoint.loc.locType == ENDPOINT_LOC_TYPE_RESERVED) {
        LOG_ERROR(RES, "HcommChannelCreate: remoteEndpoint is not filled in");
        return HCCL_E_PARA;
    }
    if (desc->channelName != NULL &&
        strnlen(desc->channelName, HCOMM_CHANNEL_NAME_MAX_LEN + 1) > HCOMM_CHANNEL_NAME_MAX_LEN) {
        LOG_ERROR(RES, "HcommChannelCreate: channelName \"%.32s...\" is longer than %u bytes",
                  desc->channelName, (unsigned)HCOMM_CHANNEL_NAME_MAX_LEN);
        return HCCL_E_PARA;
    }
    if (!desc->exchangeAllMems && desc->memHandles == NULL)
        return res_null("HcommChannelCreate", "memHandles (exchangeAllMems is false)");
    if (endpoint->desc.protocol == COMM_PROTOCOL_ROCE)
        return check_roce(desc);
    if (endpoint->desc.protocol == COMM_PROTOCOL_UB_MEM && desc->ubMemAttr.pathMode != 0xFF)
        return in_range("ubMemAttr.pathMode", desc->ubMemAttr.pathMode, 0, 2);
    return HCCL_SUCCESS;
}

/* The name of the pair, and which of its sides this is. */
static HcclResult
make_key(const struct res_endpoint *endpoint, const HcommChannelDesc *desc, char *key, size_t len,
         int *side)
{
    const char *name = desc->channelName == NULL ? "" : desc->channelName;
    uint32_t port = desc->port == 0 ? RES_DEFAULT_PORT : desc->port;
    char own[64], peer[64];
    int order;

    res_endpoint_key(&endpoint->desc, own, sizeof own);
    res_endpoint_key(&desc->remoteEndpoint, peer, sizeof peer);
    order = strcmp(own, peer);
    *side = order > 0;
    if (order == 0) {
        if (desc->role != HCOMM_SOCKET_ROLE_CLIENT && desc->role != HCOMM_SOCKET_ROLE_SERVER) {
            LOG_ERROR(RES,
                      "HcommChannelCreate: both ends are at %s: make one of them the SERVER and "
                      "the other the CLIENT (role)",
                      own);
            return HCCL_E_PARA;
        }
        *side = desc->role == HCOMM_SOCKET_ROLE_SERVER;
    }
    snprintf(key, len, "endpoint|%s|%s|%u|%s", order > 0 ? peer : own, order > 0 ? own : peer, port,
             name);
    return HCCL_SUCCESS;
}

HcclResult
res_channel_of_endpoint(struct res_endpoint *endpoint, CommEngine engine,
                        const HcommChannelDesc *desc, ChannelHandle *channel)
{
    struct res_region *regions = NULL;
    char key[KEY_LEN], peer[160], peer_name[192];
    struct res_channel_desc made = {.key = key,
                                    .device = endpoint->device,
                                    .engine = engine,
                                    .protocol = endpoint->desc.protocol,
                                    .notify_num = desc->notifyNum,
                                    .own_name = endpoint->name,
                                    .peer_name = peer_name,
                                    .endpoint = endpoint->handle};
    HcclResult rc = check_desc(endpoint, desc);

    if (rc == HCCL_SUCCESS)
        rc = make_key(endpoint, desc, key, sizeof key, &made.side);
    if (rc == HCCL_SUCCESS)
        rc = res_mem_regions(endpoint, desc->exchangeAllMems ? NULL : desc->memHandles,
                             desc->memHandleNum, &regions, &made.region_num);
    if (rc != HCCL_SUCCESS)
        return rc;
    made.regions = regions;
    res_endpoint_text(&desc->remoteEndpoint, peer, sizeof peer);
    snprintf(peer_name, sizeof peer_name, "endpoint %s", peer);
    rc = res_channel_create(&made, channel);
    hc_free(regions);
    return rc;
}
