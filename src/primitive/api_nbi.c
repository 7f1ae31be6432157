/* SPDX-License-Identifier: BSD-3-Clause */
/* Transfers at once, and what waits for transfers. */
#include "base/clock.h"
#include "base/knobs.h"
#include "base/log.h"
#include "hcomm/hcomm_primitives.h"
#include "hcomm/hcomm_primitives_expt.h"
#include "primitive/transfer.h"

#define POLL_NS 1000000u /* an idle stream tells nobody: how often to look */

static int32_t
transfer_now(const char *function, ChannelHandle channel, struct prim_transfer *transfer)
{
    struct res_channel *held;
    HcclResult rc;

    if (!rt_enter())
        return HCCL_E_UNAVAIL;
    rc = res_channel_hold(channel, &held);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = prim_transfer_check(function, held, transfer);
    if (rc == HCCL_SUCCESS)
        rc = res_check_number(function, "len", transfer->len, 1, UINT64_MAX);
    if (rc == HCCL_SUCCESS)
        rc = prim_transfer_now(held, transfer);
    res_channel_release(held);
    return rc;
}

int32_t
HcommWriteNbi(ChannelHandle channel, void *dst, const void *src, uint64_t len)
{
    struct prim_transfer transfer = {.kind = PRIM_WRITE, .dst = dst, .src = src, .len = len};

    return transfer_now(__func__, channel, &transfer);
}

int32_t
HcommReadNbi(ChannelHandle channel, void *dst, const void *src, uint64_t len)
{
    struct prim_transfer transfer = {.kind = PRIM_READ, .dst = dst, .src = src, .len = len};

    return transfer_now(__func__, channel, &transfer);
}

int32_t
HcommWriteWithNotifyNbi(ChannelHandle channel, void *dst, const void *src, uint64_t len,
                        uint32_t remoteNotifyIdx)
{
    struct prim_transfer transfer = {.kind = PRIM_WRITE,
                                     .dst = dst,
                                     .src = src,
                                     .len = len,
                                     .notify = true,
                                     .index = remoteNotifyIdx};

    return transfer_now(__func__, channel, &transfer);
}

int32_t
HcommWriteNbiOnThread(ThreadHandle thread, ChannelHandle channel, void *dst, const void *src,
                      uint64_t len)
{
    (void)thread;
    return HcommWriteNbi(channel, dst, src, len);
}

int32_t
HcommReadNbiOnThread(ThreadHandle thread, ChannelHandle channel, void *dst, const void *src,
                     uint64_t len)
{
    (void)thread;
    return HcommReadNbi(channel, dst, src, len);
}

int32_t
HcommWriteWithNotifyNbiOnThread(ThreadHandle thread, ChannelHandle channel, void *dst,
                                const void *src, uint64_t len, uint32_t remoteNotifyIdx)
{
    (void)thread;
    return HcommWriteWithNotifyNbi(channel, dst, src, len, remoteNotifyIdx);
}

/* ---- fences ---- */

struct flush {
    struct res_channel *channel;
    HcclResult rc;
};

static bool
flushed(void *arg)
{
    static const struct prim_transfer fence = {.kind = PRIM_FENCE};
    struct flush *flush = arg;

    flush->rc = prim_transfer_now(flush->channel, &fence);
    return flush->rc != HCCL_E_AGAIN;
}

static HcclResult
fence_now(struct res_channel *channel)
{
    struct flush flush = {.channel = channel};
    int64_t limit_s = 0;
    HcclResult rc = res_channel_ready(channel);

    if (rc == HCCL_SUCCESS)
        rc = hc_knob_int(KNOB_EXEC_TIMEOUT_S, &limit_s);
    if (rc != HCCL_SUCCESS || flushed(&flush))
        return rc == HCCL_SUCCESS ? flush.rc : rc;
    if (rt_wait_until(flushed, &flush, hc_deadline_ms(limit_s == 0 ? -1 : limit_s * 1000)))
        return flush.rc;
    LOG_ERROR(PRIM, "waited %lld s (HCCL_EXEC_TIMEOUT) for what was posted on %s",
              (long long)limit_s, res_channel_name(channel));
    return HCCL_E_TIMEOUT;
}

int32_t
HcommChannelFence(ChannelHandle channel)
{
    struct res_channel *held;
    HcclResult rc;

    if (!rt_enter())
        return HCCL_E_UNAVAIL;
    rc = res_channel_hold(channel, &held);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = fence_now(held);
    res_channel_release(held);
    return rc;
}

int32_t
HcommChannelFenceOnThread(ThreadHandle thread, ChannelHandle channel)
{
    struct prim_transfer fence = {.kind = PRIM_FENCE};
    struct res_channel *held;
    struct prim_queue queue;
    HcclResult rc;

    if (!rt_enter())
        return HCCL_E_UNAVAIL;
    rc = res_channel_hold(channel, &held);
    if (rc != HCCL_SUCCESS)
        return rc;
    if (thread == 0 && res_channel_engine(held) == COMM_ENGINE_CPU) {
        rc = fence_now(held);
    } else {
        rc = prim_queue_open(thread, &queue);
        if (rc == HCCL_SUCCESS) {
            rc = prim_transfer_check(__func__, held, &fence);
            if (rc == HCCL_SUCCESS)
                rc = prim_transfer_push(&queue, held, &fence);
            prim_queue_close(&queue);
        }
    }
    res_channel_release(held);
    return rc;
}

int32_t
HcommFenceOnThread(ThreadHandle thread)
{
    (void)thread; /* host and device share one memory: nothing is ever to be flushed */
    return HCCL_SUCCESS;
}

/* ---- an empty queue ---- */

static bool
is_idle(void *stream)
{
    return rt_stream_idle(stream);
}

static bool
wait_idle(struct rt_stream *stream, uint64_t deadline_ns)
{
    for (;;) {
        uint64_t now = hc_now_ns();
        uint64_t look = now + POLL_NS < deadline_ns ? now + POLL_NS : deadline_ns;

        if (rt_wait_until(is_idle, stream, look))
            return true;
        if (look == deadline_ns)
            return false;
    }
}

int32_t
HcommChannelDrainOnThread(ThreadHandle thread, ChannelHandle channel)
{
    struct res_channel *held;
    struct prim_queue queue;
    HcclResult rc = prim_queue_open_channel(thread, channel, &queue, &held);

    if (rc != HCCL_SUCCESS)
        return rc;
    rc = rt_result(rt_capture_check_wait(queue.stream, __func__));
    if (rc == HCCL_SUCCESS) {
        (void)wait_idle(queue.stream, HC_FOREVER);
        rc = fence_now(held);
    }
    prim_queue_close_channel(&queue, held);
    return rc;
}

int32_t
HcommThreadJoin(ThreadHandle thread, uint32_t timeout)
{
    struct prim_queue queue;
    HcclResult rc = prim_queue_open(thread, &queue);

    if (rc != HCCL_SUCCESS)
        return rc;
    rc = rt_result(rt_capture_check_wait(queue.stream, __func__));
    if (rc == HCCL_SUCCESS && !wait_idle(queue.stream, hc_deadline_ms((int64_t)timeout * 1000))) {
        LOG_ERROR(PRIM, "HcommThreadJoin: thread 0x%llx still has tasks after %u s",
                  (unsigned long long)thread, timeout);
        rc = HCCL_E_TIMEOUT;
    }
    prim_queue_close(&queue);
    return rc;
}
