/* SPDX-License-Identifier: BSD-3-Clause */
/* A channel's life: create, hold, destroy. The design is in channel.h. */
#include "resource/channel.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/handle.h"
#include "base/log.h"
#include "base/process.h"
#include "resource/host.h"

#define NAME_LEN 512

static void channel_fini(void *obj);

static struct hc_table channel_table = HC_TABLE("channel", HC_KIND_CHANNEL, channel_fini);

const char *
res_protocol_name(CommProtocol protocol)
{
    static const char *const names[] = {"HCCS",   "RoCE",   "PCIe", "SIO",       "UB_CTP",
                                        "UBC_TP", "UB_MEM", "UBoE", "HCCS_ONLY", "UB_RTP"};

    if ((int)protocol < 0 || (size_t)protocol >= sizeof names / sizeof names[0])
        return "no protocol";
    return names[protocol];
}

void
channel_poke(struct res_channel *channel, uint32_t own)
{
    atomic_thread_fence(memory_order_seq_cst); /* what they wait for is published first: I3 */
    if (atomic_load(&channel->waited) > own)
        rt_waiters_poke();
}

void
channel_tell(struct res_channel *channel)
{
    pthread_mutex_lock(&channel->event_lock);
    if (channel->on_event != NULL)
        channel->on_event(channel->event_arg);
    pthread_mutex_unlock(&channel->event_lock);
}

/* Nobody is told any more: I6. */
static void
channel_hush(struct res_channel *channel)
{
    pthread_mutex_lock(&channel->event_lock);
    channel->on_event = NULL;
    pthread_mutex_unlock(&channel->event_lock);
}

/* ---- create ---- */

static HcclResult
copy_texts(struct res_channel *channel, const struct res_channel_desc *desc)
{
    const char *group = desc->group == NULL ? "no group" : desc->group;
    char own[NAME_LEN], peer[NAME_LEN], name[2 * NAME_LEN + 32];

    if (desc->own_name != NULL)
        snprintf(own, sizeof own, "%s", desc->own_name);
    else
        snprintf(own, sizeof own, "rank %u of %s", desc->rank, group);
    if (desc->peer_name != NULL)
        snprintf(peer, sizeof peer, "%s", desc->peer_name);
    else
        snprintf(peer, sizeof peer, "rank %u", desc->peer);
    snprintf(name, sizeof name, "the channel of %s to %s", own, peer);
    channel->own_name = hc_strdup(own);
    channel->peer_name = hc_strdup(peer);
    channel->name = hc_strdup(name);
    channel->key = hc_strdup(desc->key);
    if (channel->own_name == NULL || channel->peer_name == NULL || channel->name == NULL ||
        channel->key == NULL)
        return HCCL_E_MEMORY;
    if (desc->elsewhere != NULL)
        channel->elsewhere = hc_strdup(desc->elsewhere);
    if (desc->terms != NULL)
        channel->terms = hc_strdup(desc->terms);
    if ((desc->elsewhere != NULL && channel->elsewhere == NULL) ||
        (desc->terms != NULL && channel->terms == NULL))
        return HCCL_E_MEMORY;
    return HCCL_SUCCESS;
}

static HcclResult
make_notifies(struct res_channel *channel, uint32_t num)
{
    char what[2 * NAME_LEN];
    struct rt_notify_origin origin = {.what = what,
                                      .expect = channel->peer_name,
                                      .queues = channel->engine == COMM_ENGINE_CPU,
                                      .remote = channel->address.process != hc_process_id(),
                                      .fate = channel->fate};

    channel->notifies = hc_calloc(num == 0 ? 1 : num, sizeof *channel->notifies);
    if (channel->notifies == NULL)
        return HCCL_E_MEMORY;
    for (channel->notify_num = 0; channel->notify_num < num; channel->notify_num++) {
        uint32_t i = channel->notify_num;
        aclError rc;

        snprintf(what, sizeof what, "notify %u of %s", i, channel->name);
        rc = rt_notify_create(channel->device, &origin, &channel->notifies[i]);
        if (rc != ACL_SUCCESS)
            return rt_result(rc);
    }
    return HCCL_SUCCESS;
}

/* What the peer will be told. */
static HcclResult
make_hello(struct res_channel *channel, const struct res_channel_desc *desc)
{
    const struct res_hello hello = {.engine = desc->engine,
                                    .protocol = desc->protocol,
                                    .notify_num = desc->notify_num,
                                    .regions = (struct res_region *)desc->regions, /* only read */
                                    .region_num = desc->region_num,
                                    .info = desc->info,
                                    .info_len = desc->info == NULL ? 0 : desc->info_len,
                                    .terms = channel->terms};

    return res_hello_write(&hello, &channel->hello, &channel->hello_len);
}

static struct res_channel *
channel_new(const struct res_channel_desc *desc)
{
    struct res_channel *channel = hc_zalloc(sizeof *channel);

    if (channel == NULL)
        return NULL;
    pthread_mutex_init(&channel->lock, NULL);
    pthread_mutex_init(&channel->end_lock, NULL);
    pthread_mutex_init(&channel->event_lock, NULL);
    channel->on_event = desc->on_event;
    channel->event_arg = desc->event_arg;
    channel->background = desc->background;
    channel->device = desc->device;
    channel->engine = desc->engine;
    channel->protocol = desc->protocol;
    channel->peer = desc->peer;
    channel->endpoint = desc->endpoint;
    channel->address = desc->address;
    channel->side = desc->side;
    channel->fate = desc->fate;
    if (channel->fate != NULL)
        rt_fate_hold(channel->fate);
    atomic_store(&channel->changed, true);
    return channel;
}

/* on_change() may come as soon as the connection is opened, so the handle is known before. */
HcclResult
res_channel_create(const struct res_channel_desc *desc, ChannelHandle *handle)
{
    struct res_channel *channel = channel_new(desc);
    HcclResult rc;

    if (channel == NULL)
        return HCCL_E_MEMORY;
    res_host_ready();
    channel->handle = hc_handle_reserve(&channel_table);
    rc = channel->handle == 0 ? HCCL_E_MEMORY : copy_texts(channel, desc);
    if (rc == HCCL_SUCCESS)
        rc = make_notifies(channel, desc->notify_num);
    if (rc == HCCL_SUCCESS)
        rc = make_hello(channel, desc);
    if (rc == HCCL_SUCCESS)
        rc = channel_start(channel);
    if (rc != HCCL_SUCCESS) {
        if (channel->handle != 0)
            hc_handle_unreserve(&channel_table, channel->handle);
        channel_hush(channel);
        channel_fini(channel);
        return rc;
    }
    *handle = channel->handle;
    hc_handle_publish(&channel_table, channel->handle, channel);
    return HCCL_SUCCESS;
}

static void
channel_fini(void *obj)
{
    struct res_channel *channel = obj;

    tp_lobby_close(channel->lobby);
    channel_unmap(channel);
    tp_destroy(channel->conn);
    for (uint32_t i = 0; i < channel->notify_num; i++) /* I1 */
        rt_notify_destroy(channel->notifies[i]);
    hc_free(channel->notifies);
    rt_fate_release(channel->fate);
    if (channel->outside)
        rt_outside_add(-1);
    res_hello_fini(&channel->remote);
    pthread_mutex_destroy(&channel->lock);
    pthread_mutex_destroy(&channel->end_lock);
    pthread_mutex_destroy(&channel->event_lock);
    hc_free(channel->hello);
    hc_free(channel->key);
    hc_free(channel->own_name);
    hc_free(channel->peer_name);
    hc_free(channel->name);
    hc_free(channel->elsewhere);
    hc_free(channel->terms);
    hc_free(channel);
}

struct res_channel *
channel_hold_quiet(uint64_t handle)
{
    return hc_handle_hold(&channel_table, handle);
}

bool
res_channel_is_live(ChannelHandle handle)
{
    struct res_channel *channel = channel_hold_quiet(handle);

    if (channel != NULL)
        res_channel_release(channel);
    return channel != NULL;
}

HcclResult
res_channel_hold(ChannelHandle handle, struct res_channel **channel)
{
    if (handle == 0) {
        LOG_ERROR(RES,
                  "channel handle is 0: a channel from HcclChannelAcquire or HcommChannelCreate "
                  "is needed");
        return HCCL_E_PTR;
    }
    *channel = hc_handle_hold(&channel_table, handle);
    if (*channel == NULL) {
        LOG_ERROR(RES, "channel handle 0x%llx is not a live channel: it is %s",
                  (unsigned long long)handle, hc_handle_guess(&channel_table, handle));
        return HCCL_E_NOT_FOUND;
    }
    return HCCL_SUCCESS;
}

void
res_channel_hold_more(struct res_channel *channel)
{
    hc_handle_hold_more(&channel_table, channel->handle);
}

bool
res_channel_hold_open(struct res_channel *channel)
{
    return channel_hold_quiet(channel->handle) != NULL;
}

void
res_channel_release(struct res_channel *channel)
{
    hc_handle_release(&channel_table, channel->handle);
}

HcclResult
res_channel_destroy(ChannelHandle handle)
{
    struct res_channel *channel;
    char why[CHAN_WHY_LEN];
    HcclResult rc = res_channel_hold(handle, &channel);

    if (rc != HCCL_SUCCESS)
        return rc;
    if (hc_handle_close(&channel_table, handle)) {
        atomic_store(&channel->destroyed, true);
        channel_hush(channel);
        channel_cut(channel);
        channel_close(channel); /* at once, whatever is queued for it */
        snprintf(why, sizeof why, "%s destroyed its own end of the channel", channel->own_name);
        channel_ended(channel, why);
        channel_look_never(channel);
    } else {
        LOG_ERROR(RES, "channel handle 0x%llx was destroyed twice at once",
                  (unsigned long long)handle);
        rc = HCCL_E_NOT_FOUND;
    }
    res_channel_release(channel);
    return rc;
}
