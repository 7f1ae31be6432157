/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/alloc.h"
#include "base/handle.h"
#include "base/log.h"
#include "comm/channels.h"

/* What HcclChannelAcquireWithConfig may ask for. */
struct channel_config {
    pthread_mutex_t lock;
    bool shared_queue;                                          /* under `lock` */
    char tag[HCCL_CHANNEL_CONFIG_SHARED_QUEUE_TAG_MAX_LEN + 1]; /* under `lock` */
};

static void
config_fini(void *obj)
{
    struct channel_config *config = obj;

    pthread_mutex_destroy(&config->lock);
    hc_free(config);
}

static struct hc_table config_table =
    HC_TABLE("channel config", HC_KIND_CHANNEL_CONFIG, config_fini);

static HcclResult
acquire(HcclComm handle, CommEngine engine, const HcclChannelDesc *descs, uint32_t num,
        ChannelHandle *channels, const char *function)
{
    struct comm *comm;
    HcclResult rc = comm_need(descs, function, "channelDescs");

    if (rc == HCCL_SUCCESS)
        rc = comm_need(channels, function, "channels");
    if (rc == HCCL_SUCCESS)
        rc = comm_hold(handle, &comm);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = comm_check_running(comm, function);
    if (rc == HCCL_SUCCESS)
        rc = channels_check(comm, function, engine, descs, num);
    if (rc == HCCL_SUCCESS)
        rc = channels_acquire(comm, engine, descs, num, channels);
    comm_release(comm);
    return rc;
}

HcclResult
HcclChannelAcquire(HcclComm handle, CommEngine engine, const HcclChannelDesc *descs, uint32_t num,
                   ChannelHandle *channels)
{
    return acquire(handle, engine, descs, num, channels, "HcclChannelAcquire");
}

HcclResult
HcclChannelQuery(HcclComm handle, CommEngine engine, const HcclChannelDesc *descs, uint32_t num,
                 ChannelHandle *channels)
{
    struct comm *comm;
    HcclResult rc = comm_need(descs, "HcclChannelQuery", "channelDescs");

    if (rc == HCCL_SUCCESS)
        rc = comm_need(channels, "HcclChannelQuery", "channels");
    if (rc == HCCL_SUCCESS)
        rc = comm_hold(handle, &comm);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = channels_check(comm, "HcclChannelQuery", engine, descs, num);
    if (rc == HCCL_SUCCESS)
        rc = channels_query(comm, engine, descs, num, channels);
    comm_release(comm);
    return rc;
}

HcclResult
HcclChannelDestroy(HcclComm handle, const ChannelHandle *channels, uint32_t num)
{
    struct comm *comm;
    HcclResult rc = comm_need(channels, "HcclChannelDestroy", "channels");

    if (rc == HCCL_SUCCESS && num == 0) {
        LOG_ERROR(COMM, "HcclChannelDestroy: channelNum is 0");
        rc = HCCL_E_PARA;
    }
    if (rc == HCCL_SUCCESS)
        rc = comm_hold(handle, &comm);
    if (rc != HCCL_SUCCESS)
        return rc;
    for (uint32_t i = 0; i < num; i++) {
        HcclResult one = channels_remove(comm, channels[i]);

        if (rc == HCCL_SUCCESS)
            rc = one; /* the first error, after all have had their turn */
    }
    comm_release(comm);
    return rc;
}

static HcclResult
need_channel(ChannelHandle channel, const char *function)
{
    if (channel != 0)
        return HCCL_SUCCESS;
    LOG_ERROR(COMM, "%s: channel is 0: take one from HcclChannelAcquire", function);
    return HCCL_E_PTR;
}

HcclResult
HcclChannelGetHcclBuffer(HcclComm handle, ChannelHandle channel, void **buffer, uint64_t *size)
{
    struct comm *comm;
    HcclResult rc = comm_need(buffer, "HcclChannelGetHcclBuffer", "buffer");

    if (rc == HCCL_SUCCESS)
        rc = need_channel(channel, "HcclChannelGetHcclBuffer");
    if (rc == HCCL_SUCCESS)
        rc = comm_need(size, "HcclChannelGetHcclBuffer", "size");
    if (rc == HCCL_SUCCESS)
        rc = comm_hold(handle, &comm);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = channels_remote_buffer(comm, channel, buffer, size);
    comm_release(comm);
    return rc;
}

HcclResult
HcclChannelGetRemoteMems(HcclComm handle, ChannelHandle channel, uint32_t *num, CommMem **mems,
                         char ***tags)
{
    struct comm *comm;
    HcclResult rc = comm_need(num, "HcclChannelGetRemoteMems", "memNum");

    if (rc == HCCL_SUCCESS)
        rc = comm_need(mems, "HcclChannelGetRemoteMems", "remoteMems");
    if (rc == HCCL_SUCCESS)
        rc = comm_need(tags, "HcclChannelGetRemoteMems", "memTags");
    if (rc == HCCL_SUCCESS)
        rc = need_channel(channel, "HcclChannelGetRemoteMems");
    if (rc == HCCL_SUCCESS)
        rc = comm_hold(handle, &comm);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = channels_remote_mems(comm, channel, num, mems, tags);
    comm_release(comm);
    return rc;
}

/* ---- Config objects ---- */

static HcclResult
config_hold(HcclChannelConfig handle, const char *function, struct channel_config **config)
{
    uint64_t number = (uint64_t)(uintptr_t)handle;
    HcclResult rc = comm_need(handle, function, "config");

    if (rc != HCCL_SUCCESS)
        return rc;
    *config = hc_handle_hold(&config_table, number);
    if (*config != NULL)
        return HCCL_SUCCESS;
    LOG_ERROR(COMM, "%s: config %p is not a live one: it is %s", function, handle,
              hc_handle_guess(&config_table, number));
    return HCCL_E_PARA;
}

static void
config_release(HcclChannelConfig handle)
{
    hc_handle_release(&config_table, (uint64_t)(uintptr_t)handle);
}

HcclResult
HcclChannelConfigCreate(HcclChannelConfig *handle)
{
    struct channel_config *config;
    uint64_t number;
    HcclResult rc = comm_need(handle, "HcclChannelConfigCreate", "config");

    if (rc != HCCL_SUCCESS)
        return rc;
    if (!rt_enter())
        return HCCL_E_INTERNAL;
    config = hc_zalloc(sizeof *config);
    if (config == NULL)
        return HCCL_E_MEMORY;
    pthread_mutex_init(&config->lock, NULL);
    number = hc_handle_open(&config_table, config);
    if (number == 0) {
        config_fini(config);
        return HCCL_E_MEMORY;
    }
    *handle = (HcclChannelConfig)(uintptr_t)number;
    return HCCL_SUCCESS;
}

HcclResult
HcclChannelConfigDestroy(HcclChannelConfig handle)
{
    if (handle == NULL || hc_handle_close(&config_table, (uint64_t)(uintptr_t)handle))
        return HCCL_SUCCESS;
    LOG_ERROR(COMM, "HcclChannelConfigDestroy: config %p is not a live one: it is %s", handle,
              hc_handle_guess(&config_table, (uint64_t)(uintptr_t)handle));
    return HCCL_E_PARA;
}

static HcclResult
fail_type(const char *function, HcclChannelConfigType type)
{
    LOG_ERROR(COMM, "%s: item %d does not take such a value", function, (int)type);
    return HCCL_E_PARA;
}

HcclResult
HcclChannelConfigSetInt(HcclChannelConfig handle, HcclChannelConfigType type, uint32_t value)
{
    struct channel_config *config;
    HcclResult rc = config_hold(handle, "HcclChannelConfigSetInt", &config);

    if (rc != HCCL_SUCCESS)
        return rc;
    if (type == HCCL_CHANNEL_CONFIG_TYPE_IS_SHARED_QUEUE) {
        pthread_mutex_lock(&config->lock);
        config->shared_queue = value != 0;
        pthread_mutex_unlock(&config->lock);
    } else {
        rc = fail_type("HcclChannelConfigSetInt", type);
    }
    config_release(handle);
    return rc;
}

HcclResult
HcclChannelConfigSetStr(HcclChannelConfig handle, HcclChannelConfigType type, const char *value)
{
    struct channel_config *config;
    size_t len = 0;
    HcclResult rc = comm_need(value, "HcclChannelConfigSetStr", "value");

    if (rc == HCCL_SUCCESS)
        rc = config_hold(handle, "HcclChannelConfigSetStr", &config);
    if (rc != HCCL_SUCCESS)
        return rc;
    len = strnlen(value, sizeof config->tag);
    if (type != HCCL_CHANNEL_CONFIG_TYPE_SHARED_QUEUE_TAG) {
        rc = fail_type("HcclChannelConfigSetStr", type);
    } else if (len == 0 || len == sizeof config->tag) {
        LOG_ERROR(COMM, "HcclChannelConfigSetStr: a queue's tag has 1 to %zu characters",
                  sizeof config->tag - 1);
        rc = HCCL_E_PARA;
    } else {
        pthread_mutex_lock(&config->lock);
        memcpy(config->tag, value, len + 1);
        pthread_mutex_unlock(&config->lock);
    }
    config_release(handle);
    return rc;
}

HcclResult
HcclChannelAcquireWithConfig(HcclComm handle, CommEngine engine, const HcclChannelDesc *descs,
                             uint32_t num, HcclChannelConfig config_handle, ChannelHandle *channels)
{
    struct channel_config *config;
    bool shared = false, tagged = false;
    HcclResult rc;

    if (config_handle != NULL) {
        rc = config_hold(config_handle, "HcclChannelAcquireWithConfig", &config);
        if (rc != HCCL_SUCCESS)
            return rc;
        pthread_mutex_lock(&config->lock);
        shared = config->shared_queue;
        tagged = config->tag[0] != '\0';
        pthread_mutex_unlock(&config->lock);
        config_release(config_handle);
    }
    if (shared && !tagged) {
        LOG_ERROR(COMM, "HcclChannelAcquireWithConfig: a shared queue needs a tag: set "
                        "HCCL_CHANNEL_CONFIG_TYPE_SHARED_QUEUE_TAG");
        return HCCL_E_PARA;
    }
    if (shared) {
        LOG_ERROR(COMM,
                  "HcclChannelAcquireWithConfig: shared queues are for engine AIV, which a soft "
                  "NPU does not have");
        return HCCL_E_NOT_SUPPORT;
    }
    return acquire(handle, engine, descs, num, channels, "HcclChannelAcquireWithConfig");
}
