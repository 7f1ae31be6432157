/* SPDX-License-Identifier: BSD-3-Clause */
/* Making a communicator's channels; the design is in channels.h. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "bootstrap/bootstrap.h"
#include "comm/channels.h"

/* One call of HcclChannelAcquire. */
struct acquire {
    struct comm *comm;
    CommEngine engine;
    const HcclChannelDesc *descs; /* [num] */
    uint32_t num;
    struct channel_line *lines;   /* [num] */
    struct comm_channel **chosen; /* [num]: found or started; kept alive by `acquiring` */
};

/* ---- One new channel ---- */

/* The buffer, then the memories the descriptor lists. */
static HcclResult
offered_regions(struct comm *comm, const HcclChannelDesc *desc, struct res_region **out)
{
    struct res_region *regions = hc_calloc(1 + desc->memHandleNum, sizeof *regions);
    HcclResult rc;

    if (regions == NULL)
        return HCCL_E_MEMORY;
    regions[0].mem.type = COMM_MEM_TYPE_DEVICE;
    snprintf(regions[0].tag, sizeof regions[0].tag, "HcclBuffer");
    rc = comm_buffer(comm, &regions[0].mem.addr, &regions[0].mem.size);
    for (uint32_t i = 0; i < desc->memHandleNum && rc == HCCL_SUCCESS; i++)
        rc = memory_region(comm, desc->memHandles[i], &regions[1 + i]);
    if (rc != HCCL_SUCCESS) {
        hc_free(regions);
        return rc;
    }
    *out = regions;
    return HCCL_SUCCESS;
}

/* How many of its line there are: single-use channels are told apart by their turn. */
static uint32_t
turn(struct comm *comm, const char *line)
{
    uint32_t count = 0;

    HC_LIST_EACH (node, &comm->channels)
        count += strcmp(channel_at(node)->line, line) == 0;
    HC_LIST_EACH (node, &comm->connecting)
        count += strcmp(channel_at(node)->line, line) == 0;
    return count;
}

static HcclResult
open_channel(struct comm *comm, CommEngine engine, const HcclChannelDesc *desc,
             struct comm_channel *channel)
{
    const struct comm_fact *own = comm_fact(comm, comm->rank);
    const struct comm_fact *peer = comm_fact(comm, desc->remoteRank);
    char key[WORLD_ID_LEN + LINE_LEN + 16];
    uint8_t info[EXCHANGE_MOST];
    struct res_channel_desc how = {.key = key,
                                   .side = comm->rank < desc->remoteRank ? 0 : 1,
                                   .address = peer->address,
                                   .fate = comm->fate,
                                   .elsewhere = peer->host == own->host ? NULL : peer->host_name,
                                   .device = comm->device,
                                   .engine = engine,
                                   .protocol = desc->channelProtocol,
                                   .notify_num = desc->notifyNum,
                                   .group = comm->name,
                                   .rank = comm->rank,
                                   .peer = desc->remoteRank,
                                   .region_num = 1 + desc->memHandleNum,
                                   .terms = comm->terms,
                                   .info = info,
                                   .info_len = exchange_peek(comm, info)};
    struct res_region *regions = NULL;
    HcclResult rc = offered_regions(comm, desc, &regions);

    if (rc != HCCL_SUCCESS)
        return rc;
    snprintf(key, sizeof key, "%s/%s/%u", comm->world->meet, channel->line, channel->ordinal);
    how.regions = regions;
    rc = res_channel_create(&how, &channel->handle);
    hc_free(regions);
    return rc;
}

/* Starts a channel and puts it into `connecting`. */
static HcclResult
start_channel(struct acquire *acquire, uint32_t at)
{
    const struct channel_line *line = &acquire->lines[at];
    const HcclChannelDesc *desc = &acquire->descs[at];
    struct comm_channel *channel = hc_zalloc(sizeof *channel);
    struct comm *comm = acquire->comm;
    HcclResult rc;

    if (channel == NULL)
        return HCCL_E_MEMORY;
    channel->peer = desc->remoteRank;
    channel->notify_num = desc->notifyNum;
    memcpy(channel->line, line->text, LINE_LEN);
    channel->single_use = line->single_use;
    pthread_mutex_lock(&comm->lock);
    channel->ordinal = line->single_use ? turn(comm, line->text) : line->ordinal;
    pthread_mutex_unlock(&comm->lock);
    rc = open_channel(comm, acquire->engine, desc, channel);
    if (rc != HCCL_SUCCESS) {
        channel_destroy(channel);
        return rc;
    }
    acquire->chosen[at] = channel;
    pthread_mutex_lock(&comm->lock);
    hc_list_push_back(&comm->connecting, &channel->in_comm); /* N3 */
    pthread_mutex_unlock(&comm->lock);
    return HCCL_SUCCESS;
}

/* N2: what this call has started goes. */
static void
undo(struct comm *comm)
{
    struct hc_list *node;

    do {
        pthread_mutex_lock(&comm->lock);
        node = hc_list_pop_front(&comm->connecting);
        pthread_mutex_unlock(&comm->lock);
        if (node != NULL)
            channel_destroy(channel_at(node));
    } while (node != NULL);
}

static HcclResult
start_missing(struct acquire *acquire)
{
    struct comm *comm = acquire->comm;

    for (uint32_t i = 0; i < acquire->num; i++) {
        const HcclChannelDesc *desc = &acquire->descs[i];
        struct comm_channel *there;
        HcclResult rc;

        pthread_mutex_lock(&comm->lock);
        there = channel_find(comm, &acquire->lines[i]);
        pthread_mutex_unlock(&comm->lock);
        if (there == NULL) {
            rc = start_channel(acquire, i);
            if (rc != HCCL_SUCCESS)
                return rc;
            continue;
        }
        acquire->chosen[i] = there;
        if (desc->notifyNum > there->notify_num)
            LOG_WARN(COMM,
                     "%s: the channel of rank %u to rank %u exists with %u notifies, %u are "
                     "asked for now: the first acquire decides",
                     comm->name, comm->rank, desc->remoteRank, there->notify_num, desc->notifyNum);
    }
    return HCCL_SUCCESS;
}

/* The handles in `connecting`, allocated; *num 0: all were there already. */
static HcclResult
connecting_handles(struct comm *comm, ChannelHandle **out, uint32_t *num)
{
    ChannelHandle *handles;
    uint32_t room = 0, at = 0;

    pthread_mutex_lock(&comm->lock);
    HC_LIST_EACH (node, &comm->connecting)
        room++;
    handles = hc_calloc(room, sizeof *handles);
    HC_LIST_EACH (node, &comm->connecting) {
        if (handles != NULL && channel_at(node)->handle != 0)
            handles[at++] = channel_at(node)->handle;
    }
    pthread_mutex_unlock(&comm->lock);
    if (handles == NULL)
        return HCCL_E_MEMORY;
    *out = handles;
    *num = at;
    return HCCL_SUCCESS;
}

static HcclResult
fail_closing(const struct comm *comm)
{
    LOG_ERROR(COMM, "%s: rank %u was destroyed while it waited for its channels", comm->name,
              comm->rank);
    return HCCL_E_UNAVAIL;
}

/* HCCL_E_REMOTE (logged): the communicator has failed. */
static HcclResult
check_fate(struct comm *comm)
{
    char why[COMM_WHY_LEN];

    if (!rt_fate_broken(comm->fate, why, sizeof why))
        return HCCL_SUCCESS;
    LOG_ERROR(COMM,
              "%s: rank %u makes no channels any more: %s: destroy the communicator, and make one "
              "of the ranks that are left",
              comm->name, comm->rank, why);
    return HCCL_E_REMOTE;
}

/* What is in `connecting` before the fate breaks is aborted, and what comes later finds it broken.
 */
static HcclResult
wait_connected(struct comm *comm)
{
    ChannelHandle *handles = NULL;
    int64_t timeout_ms = 0;
    uint32_t num = 0;
    HcclResult rc = bs_connect_timeout(&timeout_ms);

    if (rc == HCCL_SUCCESS)
        rc = connecting_handles(comm, &handles, &num);
    if (rc == HCCL_SUCCESS)
        rc = check_fate(comm);
    if (rc == HCCL_SUCCESS && !atomic_load(&comm->closing))
        rc = res_channel_wait(handles, num, timeout_ms);
    hc_free(handles);
    if (rc != HCCL_E_MEMORY && atomic_load(&comm->closing))
        return fail_closing(comm);
    if (rc == HCCL_E_UNAVAIL) { /* aborted, by a failure elsewhere */
        HcclResult fate = check_fate(comm);

        rc = fate == HCCL_SUCCESS ? rc : fate;
    }
    return rc;
}

/* What the peers told beside their regions. */
static HcclResult
take_infos(struct comm *comm)
{
    HcclResult rc = HCCL_SUCCESS;

    HC_LIST_EACH (node, &comm->connecting) {
        struct res_channel *held;
        const void *info = NULL;
        uint32_t len = 0;

        rc = res_channel_hold(channel_at(node)->handle, &held);
        if (rc != HCCL_SUCCESS)
            return rc;
        res_channel_take_info(held, &info, &len);
        if (len > 0)
            rc = exchange_received(comm, channel_at(node)->peer, info, len);
        res_channel_release(held);
        if (rc != HCCL_SUCCESS)
            return rc;
    }
    return rc;
}

/* All are connected: they become the communicator's. */
static HcclResult
keep(struct acquire *acquire, ChannelHandle *channels)
{
    struct comm *comm = acquire->comm;
    HcclResult rc = take_infos(comm);
    bool fresh = false;
    struct hc_list *node;

    if (rc != HCCL_SUCCESS)
        return rc;
    pthread_mutex_lock(&comm->lock);
    while ((node = hc_list_pop_front(&comm->connecting)) != NULL) {
        hc_list_push_back(&comm->channels, node);
        fresh = true;
    }
    for (uint32_t i = 0; i < acquire->num; i++)
        channels[i] = acquire->chosen[i]->handle;
    pthread_mutex_unlock(&comm->lock);
    if (fresh)
        exchange_reset(comm); /* it has been told */
    return HCCL_SUCCESS;
}

static HcclResult
acquire_all(struct acquire *acquire, ChannelHandle *channels)
{
    HcclResult rc = start_missing(acquire);

    if (rc == HCCL_SUCCESS)
        rc = wait_connected(acquire->comm);
    if (rc == HCCL_SUCCESS)
        rc = keep(acquire, channels);
    if (rc != HCCL_SUCCESS)
        undo(acquire->comm);
    return rc;
}

HcclResult
channels_acquire(struct comm *comm, CommEngine engine, const HcclChannelDesc *descs, uint32_t num,
                 ChannelHandle *channels)
{
    struct acquire acquire = {.comm = comm, .engine = engine, .descs = descs, .num = num};
    HcclResult rc = channel_lines(comm, engine, descs, num, &acquire.lines);

    if (rc != HCCL_SUCCESS)
        return rc;
    acquire.chosen = hc_calloc(num, sizeof(struct comm_channel *));
    if (acquire.chosen == NULL) {
        rc = HCCL_E_MEMORY;
    } else {
        rt_block_begin(); /* another call may be waiting for peers with the lock held */
        pthread_mutex_lock(&comm->acquiring);
        rt_block_end();
        rc = acquire_all(&acquire, channels);
        pthread_mutex_unlock(&comm->acquiring);
    }
    hc_free(acquire.chosen);
    hc_free(acquire.lines);
    return rc;
}
