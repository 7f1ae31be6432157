/* SPDX-License-Identifier: BSD-3-Clause */
/* A channel's life: create, connect, destroy. The design is in channel.h. */
#include "resource/channel.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/handle.h"
#include "base/log.h"

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

/* Wakes those who wait, if they are more than `own`. */
static void
poke(struct res_channel *channel, uint32_t own)
{
    atomic_thread_fence(memory_order_seq_cst); /* what they wait for is published first: I3 */
    if (atomic_load(&channel->waited) > own)
        rt_waiters_poke();
}

/* ---- what the transport calls ---- */

static void
on_notify(void *arg, uint32_t index)
{
    struct res_channel *channel = arg;

    if (index >= channel->notify_num) {
        LOG_WARN(RES, "%s recorded notify %u of %s, which has %u: ignored", channel->peer_name,
                 index, channel->name, channel->notify_num);
        return;
    }
    rt_notify_record(channel->notifies[index]); /* I1 */
    poke(channel, 0);                           /* I4 */
}

static void
on_change(void *arg)
{
    struct res_channel *channel = arg;

    atomic_store(&channel->changed, true); /* I3 */
    poke(channel, 0);
}

/* ---- create ---- */

static HcclResult
set_names(struct res_channel *channel, const struct res_channel_desc *desc)
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
    if (channel->own_name == NULL || channel->peer_name == NULL || channel->name == NULL)
        return HCCL_E_MEMORY;
    return HCCL_SUCCESS;
}

static HcclResult
make_notifies(struct res_channel *channel, uint32_t num)
{
    char what[2 * NAME_LEN];
    struct rt_notify_origin origin = {
        .what = what, .expect = channel->peer_name, .queues = channel->engine == COMM_ENGINE_CPU};

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

static HcclResult
open_connection(struct res_channel *channel, const struct res_channel_desc *desc)
{
    const struct res_hello hello = {.engine = desc->engine,
                                    .protocol = desc->protocol,
                                    .notify_num = desc->notify_num,
                                    .regions = desc->regions,
                                    .region_num = desc->region_num,
                                    .info = desc->info,
                                    .info_len = desc->info == NULL ? 0 : desc->info_len};
    struct tp_open args = {.key = desc->key,
                           .side = desc->side,
                           .on_notify = on_notify,
                           .on_change = on_change,
                           .arg = channel};
    void *text = NULL;
    HcclResult rc = res_hello_write(&hello, &text, &args.hello_len);

    if (rc != HCCL_SUCCESS)
        return rc;
    args.hello = text;
    channel->conn = tp_create(&tp_loop_ops);
    rc = channel->conn == NULL ? HCCL_E_MEMORY : channel->conn->ops->open(channel->conn, &args);
    hc_free(text);
    return rc;
}

HcclResult
res_channel_create(const struct res_channel_desc *desc, ChannelHandle *handle)
{
    struct res_channel *channel = hc_zalloc(sizeof *channel);
    HcclResult rc;

    if (channel == NULL)
        return HCCL_E_MEMORY;
    pthread_mutex_init(&channel->lock, NULL);
    channel->device = desc->device;
    channel->engine = desc->engine;
    channel->protocol = desc->protocol;
    channel->peer = desc->peer;
    channel->endpoint = desc->endpoint;
    atomic_store(&channel->changed, true);
    rc = set_names(channel, desc);
    if (rc == HCCL_SUCCESS)
        rc = make_notifies(channel, desc->notify_num);
    if (rc == HCCL_SUCCESS)
        rc = open_connection(channel, desc);
    if (rc != HCCL_SUCCESS)
        goto fail;
    channel->handle = hc_handle_open(&channel_table, channel);
    if (channel->handle == 0) {
        rc = HCCL_E_MEMORY;
        goto fail;
    }
    *handle = channel->handle;
    return HCCL_SUCCESS;

fail:
    channel_fini(channel);
    return rc;
}

static void
channel_fini(void *obj)
{
    struct res_channel *channel = obj;

    tp_destroy(channel->conn);
    for (uint32_t i = 0; i < channel->notify_num; i++) /* I1 */
        rt_notify_destroy(channel->notifies[i]);
    hc_free(channel->notifies);
    hc_free((void *)channel->remote.regions);
    pthread_mutex_destroy(&channel->lock);
    hc_free(channel->own_name);
    hc_free(channel->peer_name);
    hc_free(channel->name);
    hc_free(channel);
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

void
res_channel_release(struct res_channel *channel)
{
    hc_handle_release(&channel_table, channel->handle);
}

/* Who waits for the channel to connect stops waiting. */
static void
channel_cut(struct res_channel *channel)
{
    pthread_mutex_lock(&channel->lock);
    if (atomic_load_explicit(&channel->state, memory_order_relaxed) == CHAN_CONNECTING) {
        channel->failure = HCCL_E_UNAVAIL; /* who destroys it says why */
        atomic_store_explicit(&channel->state, CHAN_FAILED, memory_order_release); /* I2 */
    }
    pthread_mutex_unlock(&channel->lock);
    poke(channel, 0);
}

HcclResult
res_channel_destroy(ChannelHandle handle)
{
    struct res_channel *channel;
    HcclResult rc = res_channel_hold(handle, &channel);

    if (rc != HCCL_SUCCESS)
        return rc;
    if (hc_handle_close(&channel_table, handle)) {
        channel->conn->ops->close(channel->conn); /* at once, whatever is queued for it */
        channel_cut(channel);
    } else {
        LOG_ERROR(RES, "channel handle 0x%llx was destroyed twice at once",
                  (unsigned long long)handle);
        rc = HCCL_E_NOT_FOUND;
    }
    res_channel_release(channel);
    return rc;
}

/* ---- connect ---- */

/* The peer is there: read what it told. Under the lock. */
static HcclResult
meet_peer(struct res_channel *channel)
{
    uint32_t len;
    const void *text = channel->conn->ops->peer_hello(channel->conn, &len);
    HcclResult rc = res_hello_parse(text, len, channel->peer_name, &channel->remote);

    if (rc != HCCL_SUCCESS)
        return rc;
    if (channel->remote.protocol != channel->protocol) {
        LOG_ERROR(RES, "%s: protocol %s at this end, %s at the other: give both ends the same",
                  channel->name, res_protocol_name(channel->protocol),
                  res_protocol_name(channel->remote.protocol));
        return HCCL_E_PARA;
    }
    return HCCL_SUCCESS;
}

enum chan_state
res_channel_step(struct res_channel *channel, uint32_t own_waits)
{
    HcclResult rc;
    int state;

    pthread_mutex_lock(&channel->lock);
    state = atomic_load_explicit(&channel->state, memory_order_relaxed);
    if (state == CHAN_CONNECTING) {
        rc = channel->conn->ops->poll(channel->conn);
        if (rc == HCCL_E_REMOTE)
            LOG_ERROR(RES, "%s: %s destroyed its end before this one was connected", channel->name,
                      channel->peer_name);
        if (rc == HCCL_SUCCESS)
            rc = meet_peer(channel);
        if (rc != HCCL_E_AGAIN) {
            state = rc == HCCL_SUCCESS ? CHAN_CONNECTED : CHAN_FAILED;
            channel->failure = rc;
            atomic_store_explicit(&channel->state, state, memory_order_release); /* I2 */
        }
    }
    pthread_mutex_unlock(&channel->lock);
    if (state != CHAN_CONNECTING)
        poke(channel, own_waits); /* they may have found `changed` taken, the state as it was */
    return (enum chan_state)state;
}

HcclResult
res_channel_status(ChannelHandle handle, int32_t *status)
{
    static const int32_t told[] = {[CHAN_CONNECTED] = 0, [CHAN_CONNECTING] = 1, [CHAN_FAILED] = 2};
    struct res_channel *channel;
    HcclResult rc = res_channel_hold(handle, &channel);

    if (rc != HCCL_SUCCESS)
        return rc;
    *status = told[res_channel_step(channel, 0)];
    res_channel_release(channel);
    return HCCL_SUCCESS;
}

bool
res_channel_peer_gone(ChannelHandle handle)
{
    struct res_channel *channel;
    bool gone;

    if (res_channel_hold(handle, &channel) != HCCL_SUCCESS)
        return false;
    gone = atomic_load_explicit(&channel->state, memory_order_acquire) == CHAN_CONNECTED &&
           channel->conn->ops->poll(channel->conn) == HCCL_E_REMOTE;
    res_channel_release(channel);
    return gone;
}
