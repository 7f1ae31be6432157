/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding, using, ending channels; the design is in channels.h. */
#include "comm/channels.h"

#include <string.h>

#include "base/alloc.h"
#include "base/log.h"

void
channel_destroy(struct comm_channel *channel)
{
    if (channel->handle != 0)
        (void)res_channel_destroy(channel->handle);
    hc_free(channel->mems);
    hc_free(channel->tags);
    hc_free(channel);
}

struct comm_channel *
channel_find(struct comm *comm, const struct channel_line *line)
{
    if (line->single_use)
        return NULL;
    HC_LIST_EACH (node, &comm->channels) {
        struct comm_channel *channel = channel_at(node);

        if (channel->ordinal == line->ordinal && strcmp(channel->line, line->text) == 0)
            return channel;
    }
    return NULL;
}

/* Under the lock. */
static struct comm_channel *
find_handle(struct comm *comm, ChannelHandle handle)
{
    HC_LIST_EACH (node, &comm->channels) {
        if (channel_at(node)->handle == handle)
            return channel_at(node);
    }
    return NULL;
}

static HcclResult
fail_unknown(const struct comm *comm, ChannelHandle handle)
{
    LOG_ERROR(COMM, "channel 0x%llx is none of rank %u of %s: take one from HcclChannelAcquire",
              (unsigned long long)handle, comm->rank, comm->name);
    return HCCL_E_NOT_FOUND;
}

HcclResult
channels_query(struct comm *comm, CommEngine engine, const HcclChannelDesc *descs, uint32_t num,
               ChannelHandle *channels)
{
    struct channel_line *lines = NULL;
    HcclResult rc = channel_lines(comm, engine, descs, num, &lines);

    if (rc != HCCL_SUCCESS)
        return rc;
    pthread_mutex_lock(&comm->lock);
    for (uint32_t i = 0; i < num; i++) {
        struct comm_channel *channel = channel_find(comm, &lines[i]);

        channels[i] = channel == NULL ? 0 : channel->handle;
    }
    pthread_mutex_unlock(&comm->lock);
    hc_free(lines);
    return HCCL_SUCCESS;
}

HcclResult
channels_remove(struct comm *comm, ChannelHandle handle)
{
    struct comm_channel *channel;

    rt_block_begin();
    pthread_mutex_lock(&comm->acquiring); /* an acquire may have chosen it */
    rt_block_end();
    pthread_mutex_lock(&comm->lock);
    channel = find_handle(comm, handle);
    if (channel != NULL)
        hc_list_remove(&channel->in_comm);
    pthread_mutex_unlock(&comm->lock);
    if (channel != NULL)
        channel_destroy(channel);
    pthread_mutex_unlock(&comm->acquiring);
    return channel == NULL ? fail_unknown(comm, handle) : HCCL_SUCCESS;
}

/* The peer's regions, while the channel is held. */
static HcclResult
hold_remote(struct comm *comm, ChannelHandle handle, struct res_channel **held,
            const struct res_region **regions, uint32_t *num)
{
    HcclResult rc;
    bool ours;

    pthread_mutex_lock(&comm->lock);
    ours = find_handle(comm, handle) != NULL;
    pthread_mutex_unlock(&comm->lock);
    if (!ours)
        return fail_unknown(comm, handle);
    rc = res_channel_hold(handle, held);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = res_channel_remote(*held, regions, num);
    if (rc != HCCL_SUCCESS)
        res_channel_release(*held);
    return rc;
}

HcclResult
channels_remote_buffer(struct comm *comm, ChannelHandle handle, void **addr, uint64_t *size)
{
    const struct res_region *regions = NULL;
    struct res_channel *held;
    uint32_t num = 0, i = 0;
    HcclResult rc = hold_remote(comm, handle, &held, &regions, &num);

    if (rc != HCCL_SUCCESS)
        return rc;
    while (i < num && strcmp(regions[i].tag, "HcclBuffer") != 0)
        i++;
    if (i < num) {
        *addr = regions[i].mem.addr;
        *size = regions[i].mem.size;
    } else {
        LOG_ERROR(COMM, "%s: rank %u did not offer its buffer on this channel", comm->name,
                  res_channel_peer(held));
        rc = HCCL_E_INTERNAL;
    }
    res_channel_release(held);
    return rc;
}

/* Makes the arrays that HcclChannelGetRemoteMems hands out; under the lock. */
static HcclResult
fill_mems(struct comm_channel *channel, const struct res_region *regions, uint32_t num)
{
    channel->mems = hc_calloc(num, sizeof *channel->mems);
    channel->tags = hc_calloc(num, sizeof *channel->tags);
    if (channel->mems == NULL || channel->tags == NULL) {
        hc_free(channel->mems);
        hc_free(channel->tags);
        channel->mems = NULL;
        channel->tags = NULL;
        return HCCL_E_MEMORY;
    }
    for (uint32_t i = 0; i < num; i++) {
        channel->mems[i] = regions[i].mem;
        channel->tags[i] = (char *)regions[i].tag; /* as long-lived as the channel */
    }
    channel->mem_num = num;
    return HCCL_SUCCESS;
}

HcclResult
channels_remote_mems(struct comm *comm, ChannelHandle handle, uint32_t *num, CommMem **mems,
                     char ***tags)
{
    const struct res_region *regions = NULL;
    struct comm_channel *channel;
    struct res_channel *held;
    uint32_t count = 0;
    HcclResult rc = hold_remote(comm, handle, &held, &regions, &count);

    if (rc != HCCL_SUCCESS)
        return rc;
    pthread_mutex_lock(&comm->lock);
    channel = find_handle(comm, handle);
    if (channel == NULL)
        rc = HCCL_E_NOT_FOUND; /* destroyed meanwhile */
    else if (channel->mems == NULL)
        rc = fill_mems(channel, regions, count);
    if (rc == HCCL_SUCCESS) {
        *num = channel->mem_num;
        *mems = channel->mems;
        *tags = channel->tags;
    }
    pthread_mutex_unlock(&comm->lock);
    res_channel_release(held);
    return rc;
}

HcclResult
channels_peer_buffer(struct comm *comm, uint32_t peer, void **addr, uint64_t *size)
{
    ChannelHandle handle = 0;

    pthread_mutex_lock(&comm->lock);
    HC_LIST_EACH (node, &comm->channels) {
        if (handle == 0 && channel_at(node)->peer == peer)
            handle = channel_at(node)->handle;
    }
    pthread_mutex_unlock(&comm->lock);
    if (handle != 0)
        return channels_remote_buffer(comm, handle, addr, size);
    LOG_ERROR(COMM,
              "%s: rank %u has no channel to rank %u, so its buffer is not known: call "
              "HcclChannelAcquire first",
              comm->name, comm->rank, peer);
    return HCCL_E_NOT_FOUND;
}

bool
channels_any(struct comm *comm, comm_channel_is is, char *why, size_t len)
{
    bool found = false;

    pthread_mutex_lock(&comm->lock); /* those that are connected: nothing is broken here (O4) */
    HC_LIST_EACH (node, &comm->channels)
        found = found || is(channel_at(node)->handle, why, len);
    pthread_mutex_unlock(&comm->lock);
    return found || guest_any(comm, is, why, len);
}

bool
comm_peer_failed(struct comm *comm, char *why, size_t len)
{
    return channels_any(comm, res_channel_peer_failed, why, len);
}

void
channels_abort(struct comm *comm, const char *why)
{
    pthread_mutex_lock(&comm->lock);
    HC_LIST_EACH (node, &comm->channels)
        res_channel_abort(channel_at(node)->handle, why);
    HC_LIST_EACH (node, &comm->connecting)
        res_channel_abort(channel_at(node)->handle, why);
    pthread_mutex_unlock(&comm->lock);
}

/* Takes the handle of a channel that still connects away from it; 0: there is none. */
static ChannelHandle
take_connecting(struct comm *comm)
{
    ChannelHandle handle = 0;

    pthread_mutex_lock(&comm->lock);
    HC_LIST_EACH (node, &comm->connecting) {
        if (channel_at(node)->handle == 0)
            continue;
        handle = channel_at(node)->handle;
        channel_at(node)->handle = 0; /* N3 */
        break;
    }
    pthread_mutex_unlock(&comm->lock);
    return handle;
}

/* Without the lock: res_channel_destroy waits for who looks at the channel's end, and that thread
 * may be on its way to channels_abort(). */
void
channels_cut(struct comm *comm)
{
    ChannelHandle handle;

    while ((handle = take_connecting(comm)) != 0)
        (void)res_channel_destroy(handle);
}

void
channels_fini(struct comm *comm)
{
    struct hc_list *node;

    while ((node = hc_list_pop_front(&comm->channels)) != NULL)
        channel_destroy(channel_at(node));
}
