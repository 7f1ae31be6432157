/* SPDX-License-Identifier: BSD-3-Clause */
/* What a thread waits for itself: that channels are connected, that a notify is recorded. */
#include <stdio.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "resource/channel.h"

#define NAMED_MOST 8u /* missing peers in a message */

struct gather {
    struct res_channel **pending; /* [num], held */
    uint32_t num;
    struct res_channel **joined; /* [joined_num], held: connected, but the others are not yet */
    uint32_t joined_num;
    HcclResult failure;
};

static void
gather_drop(struct res_channel *channel)
{
    atomic_fetch_sub(&channel->waited, 1);
    res_channel_release(channel);
}

/* The peer's end is connected too: only then may this one be destroyed without harm to it. */
static bool
is_settled(const struct res_channel *channel)
{
    return channel->conn->ops->settled(channel->conn);
}

/* Connected once, and the peer has not ended in order: those that still connect may wait for it, or
 * for this end, in vain. */
static bool
is_lost(const struct res_channel *channel)
{
    char who[64];

    if (channel->conn->ops->poll(channel->conn) != HCCL_E_REMOTE)
        return false;
    switch (channel->conn->ops->ending(channel->conn, who, sizeof who)) {
    case TP_DIED:
    case TP_EXITED:
    case TP_LOST:
    case TP_ABORTED:
        return true;
    default:
        return false;
    }
}

static void
look_at_joined(struct gather *gather)
{
    char why[CHAN_WHY_LEN];

    for (uint32_t i = 0; i < gather->joined_num && gather->failure == HCCL_SUCCESS; i++) {
        struct res_channel *channel = gather->joined[i];

        if (!is_lost(channel))
            continue;
        res_channel_lost(channel, why, sizeof why);
        LOG_ERROR(RES, "%s waited for others to connect, but %s", channel->own_name, why);
        gather->failure = HCCL_E_REMOTE;
    }
}

HcclResult
res_channel_try(ChannelHandle handle)
{
    struct res_channel *channel;
    HcclResult rc = res_channel_hold(handle, &channel);
    int state;

    if (rc != HCCL_SUCCESS)
        return rc;
    state = atomic_load_explicit(&channel->state, memory_order_acquire);
    if (state == CHAN_CONNECTING)
        state = res_channel_step(channel, 0);
    if (state == CHAN_FAILED)
        rc = channel->failure;
    else if (state == CHAN_CONNECTING || !is_settled(channel))
        rc = HCCL_E_AGAIN;
    res_channel_release(channel);
    return rc;
}

static bool
gathered(void *arg)
{
    struct gather *gather = arg;
    uint32_t left = 0;

    for (uint32_t i = 0; i < gather->num; i++) {
        struct res_channel *channel = gather->pending[i];
        int state;

        if (atomic_exchange(&channel->changed, false)) /* channel.h I3 */
            state = res_channel_step(channel, 1);
        else
            state = atomic_load_explicit(&channel->state, memory_order_acquire);
        if (state == CHAN_CONNECTING || (state == CHAN_CONNECTED && !is_settled(channel))) {
            gather->pending[left++] = channel;
            continue;
        }
        if (state == CHAN_FAILED &&
            (gather->failure == HCCL_SUCCESS || gather->failure == HCCL_E_UNAVAIL))
            gather->failure = channel->failure; /* one that has been logged, if there is one */
        gather->joined[gather->joined_num++] = channel;
    }
    gather->num = left;
    if (left > 0)
        look_at_joined(gather);
    return left == 0 || gather->failure != HCCL_SUCCESS;
}

static void
say_missing(const struct gather *gather, int64_t timeout_ms)
{
    const struct res_channel *first = gather->pending[0];
    char names[1024] = "";
    uint32_t most = gather->num < NAMED_MOST ? gather->num : NAMED_MOST;
    size_t len = 0;
    bool far = false;

    for (uint32_t i = 0; i < gather->num; i++)
        far = far || gather->pending[i]->elsewhere != NULL;
    for (uint32_t i = 0; i < most && len < sizeof names; i++)
        len += (size_t)snprintf(names + len, sizeof names - len, "%s%s", i == 0 ? "" : ", ",
                                gather->pending[i]->peer_name);
    if (gather->num > most && len < sizeof names)
        snprintf(names + len, sizeof names - len, " and %u more", gather->num - most);
    LOG_ERROR(RES,
              "%s waited %g s for %s to create the other end of the channel: the peer must "
              "ask for the same channel (%s over %s), and both list their channels in a "
              "compatible order%s",
              first->own_name, (double)timeout_ms / 1000, names, res_engine_name(first->engine),
              res_protocol_name(first->protocol),
              far ? " (and on one host: there is no transport between hosts yet)" : "");
}

static HcclResult
gather_hold(struct gather *gather, const ChannelHandle *channels, uint32_t num)
{
    gather->pending = hc_calloc(num, sizeof(struct res_channel *));
    gather->joined = hc_calloc(num, sizeof(struct res_channel *));
    if (gather->pending == NULL || gather->joined == NULL)
        return HCCL_E_MEMORY;
    while (gather->num < num) {
        struct res_channel *channel;
        HcclResult rc = res_channel_hold(channels[gather->num], &channel);

        if (rc != HCCL_SUCCESS)
            return rc;
        atomic_fetch_add(&channel->waited, 1);
        atomic_thread_fence(memory_order_seq_cst); /* channel.h I3 */
        gather->pending[gather->num++] = channel;
    }
    return HCCL_SUCCESS;
}

HcclResult
res_channel_wait(const ChannelHandle *channels, uint32_t num, int64_t timeout_ms)
{
    struct gather gather = {.failure = HCCL_SUCCESS};
    HcclResult rc;

    if (num == 0)
        return HCCL_SUCCESS;
    rc = gather_hold(&gather, channels, num);
    if (rc == HCCL_SUCCESS) {
        if (!rt_wait_until(gathered, &gather, hc_deadline_ms(timeout_ms))) {
            say_missing(&gather, timeout_ms);
            rc = HCCL_E_TIMEOUT;
        } else {
            rc = gather.failure;
        }
    }
    for (uint32_t i = 0; i < gather.num; i++)
        gather_drop(gather.pending[i]);
    for (uint32_t i = 0; i < gather.joined_num; i++)
        gather_drop(gather.joined[i]);
    hc_free(gather.pending);
    hc_free(gather.joined);
    return rc;
}

HcclResult
res_channel_await(struct res_channel *channel, uint32_t index, uint32_t timeout_s)
{
    struct rt_notify *notify = res_channel_notify(channel, index);
    char why[CHAN_WHY_LEN] = "";
    aclError rc;

    if (notify == NULL)
        return HCCL_E_PARA;
    rc = rt_notify_await(notify, hc_deadline_ms((int64_t)timeout_s * 1000), why, sizeof why);
    if (rc == ACL_ERROR_RT_SUSPECT_REMOTE_ERROR) {
        LOG_ERROR(RES, "notify %u of %s will not be recorded: %s", index, channel->name, why);
        return HCCL_E_REMOTE;
    }
    if (rc == ACL_ERROR_RT_TASK_TIMEOUT) {
        LOG_ERROR(RES, "waited %u s for notify %u of %s, which %s should have recorded", timeout_s,
                  index, channel->name, channel->peer_name);
        return HCCL_E_TIMEOUT;
    }
    return rt_result(rc);
}
