/* SPDX-License-Identifier: BSD-3-Clause */
/* What a channel offers to those who hold it: its connection, its notifies, the peer's memory. */
#include <stdio.h>

#include "base/log.h"
#include "resource/channel.h"
#include "resource/endpoint.h"

HcclResult
res_channel_ready(struct res_channel *channel)
{
    int state = atomic_load_explicit(&channel->state, memory_order_acquire);

    if (state == CHAN_CONNECTING)
        state = res_channel_step(channel, 0);
    if (state == CHAN_CONNECTED)
        return HCCL_SUCCESS;
    if (state == CHAN_FAILED) {
        LOG_ERROR(RES, "%s failed to connect (error %d): it cannot be used", channel->name,
                  channel->failure);
        return HCCL_E_UNAVAIL;
    }
    LOG_ERROR(RES,
              "%s is not connected yet: poll HcommChannelGetStatus until it says 0, at both ends",
              channel->name);
    return HCCL_E_AGAIN;
}

/* Bytes between [addr, addr + len) and the region; 0: it touches or lies in it. */
static uint64_t
distance(const CommMem *mem, uint64_t addr)
{
    uint64_t base = (uint64_t)(uintptr_t)mem->addr;

    if (addr < base)
        return base - addr;
    return addr - base < mem->size ? 0 : addr - base - mem->size;
}

static void
say_out_of_reach(const struct res_channel *channel, uint64_t addr, uint64_t len)
{
    const struct res_region *nearest = NULL;

    for (uint32_t i = 0; i < channel->remote.region_num; i++) {
        const struct res_region *region = &channel->remote.regions[i];

        if (nearest == NULL || distance(&region->mem, addr) < distance(&nearest->mem, addr))
            nearest = region;
    }
    if (nearest == NULL)
        LOG_ERROR(
            RES, "%s: %llu bytes at 0x%llx are out of reach: %s offers no memory on this channel",
            channel->name, (unsigned long long)len, (unsigned long long)addr, channel->peer_name);
    else
        LOG_ERROR(RES,
                  "%s: %llu bytes at 0x%llx are not inside one of the %u regions that %s offers; "
                  "the nearest has %llu bytes at 0x%llx (tag \"%s\")",
                  channel->name, (unsigned long long)len, (unsigned long long)addr,
                  channel->remote.region_num, channel->peer_name,
                  (unsigned long long)nearest->mem.size,
                  (unsigned long long)(uintptr_t)nearest->mem.addr, nearest->tag);
}

bool
res_mem_contains(const CommMem *mem, const void *ptr, uint64_t len)
{
    uint64_t base = (uint64_t)(uintptr_t)mem->addr, addr = (uint64_t)(uintptr_t)ptr;

    return addr >= base && addr - base <= mem->size && len <= mem->size - (addr - base);
}

HcclResult
res_channel_reach(struct res_channel *channel, const void *addr, uint64_t len,
                  struct res_right *right)
{
    bool withdrawn = false;
    char text[CHAN_WHY_LEN];

    for (uint32_t i = 0; i < channel->remote.region_num; i++) {
        const struct res_region *region = &channel->remote.regions[i];

        if (!res_mem_contains(&region->mem, addr, len))
            continue;
        *right = (struct res_right){.lease = region->lease};
        if (channel->conn->ops->leased(channel->conn, region->lease))
            return HCCL_SUCCESS;
        withdrawn = true;
    }
    if (channel->endpoint != NULL) {
        struct res_import *import =
            res_import_hold(channel->endpoint, channel->address.process, addr, len, &withdrawn);

        if (import != NULL) {
            res_channel_leave(import);
            *right = (struct res_right){.imported = true};
            return HCCL_SUCCESS;
        }
    }
    if (withdrawn) {
        res_channel_withdrawn(channel, text, sizeof text);
        LOG_ERROR(RES, "%s: %llu bytes at %p: %s", channel->name, (unsigned long long)len, addr,
                  text);
    } else {
        say_out_of_reach(channel, (uint64_t)(uintptr_t)addr, len);
    }
    return HCCL_E_PARA;
}

HcclResult
res_channel_enter(struct res_channel *channel, const void *addr, uint64_t len,
                  const struct res_right *right, struct res_import **import, uint64_t *lease)
{
    bool withdrawn;

    *import = NULL;
    *lease = right->lease;
    if (!right->imported)
        return HCCL_SUCCESS; /* the transport looks at the lease */
    *import = res_import_hold(channel->endpoint, channel->address.process, addr, len, &withdrawn);
    if (*import == NULL)
        return HCCL_E_NOT_FOUND;
    *lease = res_import_lease(*import);
    return HCCL_SUCCESS;
}

void
res_channel_withdrawn(const struct res_channel *channel, char *text, size_t len)
{
    snprintf(text, len,
             "the memory has been unregistered by %s: take what it registers now, or keep it "
             "registered until its peers are done",
             channel->peer_name);
}

struct rt_notify *
res_channel_notify(struct res_channel *channel, uint32_t index)
{
    if (index < channel->notify_num)
        return channel->notifies[index];
    LOG_ERROR(RES, "notify %u does not exist: this end of %s has %u, numbered from 0", index,
              channel->name, channel->notify_num);
    return NULL;
}

HcclResult
res_channel_peer_notify(struct res_channel *channel, uint32_t index)
{
    if (index < channel->remote.notify_num)
        return HCCL_SUCCESS;
    LOG_ERROR(RES, "notify %u does not exist: the other end of %s has %u, numbered from 0", index,
              channel->name, channel->remote.notify_num);
    return HCCL_E_PARA;
}

HcclResult
res_channel_remote(struct res_channel *channel, const struct res_region **regions,
                   uint32_t *region_num)
{
    HcclResult rc = res_channel_ready(channel);

    if (rc != HCCL_SUCCESS)
        return rc;
    *regions = channel->remote.regions;
    *region_num = channel->remote.region_num;
    return HCCL_SUCCESS;
}

void
res_channel_take_info(struct res_channel *channel, const void **info, uint32_t *len)
{
    bool there = atomic_load_explicit(&channel->state, memory_order_acquire) == CHAN_CONNECTED &&
                 !atomic_exchange(&channel->info_taken, true);

    *len = there ? channel->remote.info_len : 0;
    *info = there ? channel->remote.info : NULL;
}

struct tp_conn *
res_channel_conn(const struct res_channel *channel)
{
    return channel->conn;
}

const char *
res_channel_name(const struct res_channel *channel)
{
    return channel->name;
}

CommEngine
res_channel_engine(const struct res_channel *channel)
{
    return channel->engine;
}

CommProtocol
res_channel_protocol(const struct res_channel *channel)
{
    return channel->protocol;
}

uint32_t
res_channel_peer(const struct res_channel *channel)
{
    return channel->peer;
}
