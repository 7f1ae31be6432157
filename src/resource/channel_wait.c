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
    HcclResult failure;
};

static void
gather_drop(struct res_channel *channel)
{
    atomic_fetch_sub(&channel->waited, 1);
    res_channel_release(channel);
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
        if (state == CHAN_CONNECTING) {
            gather->pending[left++] = channel;
            continue;
        }
        if (state == CHAN_FAILED)
            gather->failure = channel->failure;
        gather_drop(channel);
    }
    gather->num = left;
    return left == 0 || gather->failure != HCCL_SUCCESS;
}

static void
say_missing(const struct gather *gather, int64_t timeout_ms)
{
    const char *own = gather->pending[0]->own_name;
    char names[1024] = "";
    uint32_t most = gather->num < NAMED_MOST ? gather->num : NAMED_MOST;
    size_t len = 0;

    for (uint32_t i = 0; i < most && len < sizeof names; i++)
        len += (size_t)snprintf(names + len, sizeof names - len, "%s%s", i == 0 ? "" : ", ",
                                gather->pending[i]->peer_name);
    if (gather->num > most && len < sizeof names)
        snprintf(names + len, sizeof names - len, " and %u more", gather->num - most);
    LOG_ERROR(RES,
              "%s waited %g s for %s to create the other end of the channel: the peer must "
              "ask for the same channel, and both list their channels in a compatible order",
              own, (double)timeout_ms / 1000, names);
}

static HcclResult
gather_hold(struct gather *gather, const ChannelHandle *channels, uint32_t num)
{
    gather->pending = hc_calloc(num, sizeof(struct res_channel *));
    if (gather->pending == NULL)
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
    hc_free(gather.pending);
    return rc;
}

static bool
take_notify(void *notify)
{
    return rt_notify_take(notify);
}

HcclResult
res_channel_await(struct res_channel *channel, uint32_t index, uint32_t timeout_s)
{
    struct rt_notify *notify = res_channel_notify(channel, index);
    bool good;

    if (notify == NULL)
        return HCCL_E_PARA;
    atomic_fetch_add(&channel->waited, 1); /* channel.h I4 */
    good = rt_wait_until(take_notify, notify, hc_deadline_ms((int64_t)timeout_s * 1000));
    atomic_fetch_sub(&channel->waited, 1);
    if (good)
        return HCCL_SUCCESS;
    LOG_ERROR(RES, "waited %u s for notify %u of %s, which %s should have recorded", timeout_s,
              index, channel->name, channel->peer_name);
    return HCCL_E_TIMEOUT;
}
