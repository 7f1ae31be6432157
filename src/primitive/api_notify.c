/* SPDX-License-Identifier: BSD-3-Clause */
/* Notifies of threads, of the acl interface and of channels. */
#include "base/log.h"
#include "hcomm/hcomm_primitives.h"
#include "primitive/primitive.h"
#include "primitive/transfer.h"

/* ---- threads ---- */

/* HCCL_E_PTR (no such notify: there is nothing to point at) or HCCL_E_MEMORY, logged. */
static HcclResult
thread_notify(struct res_thread *thread, uint32_t index, struct rt_notify **notify)
{
    *notify = res_thread_notify(thread, index);
    if (*notify != NULL)
        return HCCL_SUCCESS;
    return index < res_thread_notify_num(thread) ? HCCL_E_MEMORY : HCCL_E_PTR;
}

static HcclResult
push_record(const struct prim_queue *queue, struct rt_notify *notify)
{
    struct rt_task task;

    rt_task_notify_record(&task, notify);
    return rt_result(rt_stream_push(queue->stream, &task));
}

static HcclResult
push_wait(const struct prim_queue *queue, struct rt_notify *notify, uint32_t timeout_s)
{
    struct rt_task task;

    rt_task_notify_wait(&task, notify, timeout_s);
    return rt_result(rt_stream_push(queue->stream, &task));
}

int32_t
HcommThreadNotifyRecordOnThread(ThreadHandle thread, ThreadHandle dstThread, uint32_t dstNotifyIdx)
{
    struct res_thread *owner;
    struct rt_notify *notify;
    struct prim_queue queue;
    HcclResult rc = prim_queue_open(thread, &queue);

    if (rc != HCCL_SUCCESS)
        return rc;
    rc = res_thread_hold(dstThread, &owner);
    if (rc == HCCL_SUCCESS) {
        rc = thread_notify(owner, dstNotifyIdx, &notify);
        if (rc == HCCL_SUCCESS)
            rc = push_record(&queue, notify);
        res_thread_release(owner);
    }
    prim_queue_close(&queue);
    return rc;
}

int32_t
HcommThreadNotifyWaitOnThread(ThreadHandle thread, uint32_t notifyIdx, uint32_t timeOut)
{
    struct rt_notify *notify;
    struct prim_queue queue;
    HcclResult rc = prim_queue_open(thread, &queue);

    if (rc != HCCL_SUCCESS)
        return rc;
    rc = thread_notify(queue.thread, notifyIdx, &notify);
    if (rc == HCCL_SUCCESS)
        rc = rt_result(rt_capture_follow(queue.stream, notify));
    if (rc == HCCL_SUCCESS)
        rc = push_wait(&queue, notify, timeOut);
    prim_queue_close(&queue);
    return rc;
}

int32_t
HcommThreadNotifyWaitOnThreadWithDefaultTimeout(ThreadHandle thread, uint32_t notifyIdx)
{
    return HcommThreadNotifyWaitOnThread(thread, notifyIdx, prim_default_wait_s());
}

/* ---- acl ---- */

static HcclResult
acl_notify_hold(const struct prim_queue *queue, uint64_t id, struct rt_notify **notify)
{
    int32_t device = rt_stream_device(queue->stream);

    *notify = rt_notify_hold(device, id);
    if (*notify != NULL)
        return HCCL_SUCCESS;
    LOG_ERROR(PRIM,
              "device %d has no notify with id %llu: give the id that aclrtGetNotifyId told on "
              "this device",
              device, (unsigned long long)id);
    return HCCL_E_NOT_FOUND;
}

int32_t
HcommAclrtNotifyRecordOnThread(ThreadHandle thread, uint64_t dstNotifyId)
{
    struct rt_notify *notify;
    struct prim_queue queue;
    HcclResult rc = prim_queue_open(thread, &queue);

    if (rc != HCCL_SUCCESS)
        return rc;
    rc = acl_notify_hold(&queue, dstNotifyId, &notify);
    if (rc == HCCL_SUCCESS) {
        rc = push_record(&queue, notify);
        rt_notify_unhold(notify);
    }
    prim_queue_close(&queue);
    return rc;
}

int32_t
HcommAclrtNotifyWaitOnThread(ThreadHandle thread, uint64_t notifyId, uint32_t timeOut)
{
    struct rt_notify *notify;
    struct prim_queue queue;
    HcclResult rc = prim_queue_open(thread, &queue);

    if (rc != HCCL_SUCCESS)
        return rc;
    rc = acl_notify_hold(&queue, notifyId, &notify);
    if (rc == HCCL_SUCCESS) {
        rc = push_wait(&queue, notify, timeOut);
        rt_notify_unhold(notify);
    }
    prim_queue_close(&queue);
    return rc;
}

/* ---- channels, on the calling thread ---- */

int32_t
HcommChannelNotifyRecord(ChannelHandle channel, uint32_t remoteNotifyIdx)
{
    struct prim_transfer record = {.kind = PRIM_RECORD, .notify = true, .index = remoteNotifyIdx};
    struct res_channel *held;
    HcclResult rc;

    if (!rt_enter())
        return HCCL_E_UNAVAIL;
    rc = res_channel_hold(channel, &held);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = prim_transfer_check(__func__, held, &record);
    if (rc == HCCL_SUCCESS)
        rc = prim_transfer_now(held, &record);
    res_channel_release(held);
    return rc;
}

int32_t
HcommChannelNotifyWait(ChannelHandle channel, uint32_t localNotifyIdx, uint32_t timeOut)
{
    struct res_channel *held;
    HcclResult rc;

    if (!rt_enter())
        return HCCL_E_UNAVAIL;
    rc = res_channel_hold(channel, &held);
    if (rc != HCCL_SUCCESS)
        return rc;
    if (timeOut == 0) {
        LOG_ERROR(PRIM, "%s: a timeout of at least 1 s is needed", __func__);
        rc = HCCL_E_PARA;
    } else {
        rc = res_channel_ready(held);
    }
    if (rc == HCCL_SUCCESS)
        rc = res_channel_await(held, localNotifyIdx, timeOut);
    res_channel_release(held);
    return rc;
}

/* ---- channels, on a thread ---- */

/* Engine CPU has no threads: its programs pass 0, and the call acts at once. */
static bool
acts_at_once(ThreadHandle thread, ChannelHandle channel)
{
    struct res_channel *held;
    bool at_once;

    if (thread != 0 || res_channel_hold(channel, &held) != HCCL_SUCCESS)
        return false;
    at_once = res_channel_engine(held) == COMM_ENGINE_CPU;
    res_channel_release(held);
    return at_once;
}

int32_t
HcommChannelNotifyRecordOnThread(ThreadHandle thread, ChannelHandle channel,
                                 uint32_t remoteNotifyIdx)
{
    struct prim_transfer record = {.kind = PRIM_RECORD, .notify = true, .index = remoteNotifyIdx};
    struct res_channel *held;
    struct prim_queue queue;
    HcclResult rc;

    if (acts_at_once(thread, channel))
        return HcommChannelNotifyRecord(channel, remoteNotifyIdx);
    rc = prim_queue_open_channel(thread, channel, &queue, &held);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = prim_transfer_check(__func__, held, &record);
    if (rc == HCCL_SUCCESS)
        rc = prim_transfer_push(&queue, held, &record);
    prim_queue_close_channel(&queue, held);
    return rc;
}

int32_t
HcommChannelNotifyWaitOnThread(ThreadHandle thread, ChannelHandle channel, uint32_t localNotifyIdx,
                               uint32_t timeOut)
{
    struct res_channel *held;
    struct rt_notify *notify;
    struct prim_queue queue;
    HcclResult rc;

    if (acts_at_once(thread, channel))
        return HcommChannelNotifyWait(channel, localNotifyIdx, timeOut);
    rc = prim_queue_open_channel(thread, channel, &queue, &held);
    if (rc != HCCL_SUCCESS)
        return rc;
    notify = res_channel_notify(held, localNotifyIdx);
    rc = notify == NULL ? HCCL_E_PARA : push_wait(&queue, notify, timeOut);
    prim_queue_close_channel(&queue, held);
    return rc;
}

int32_t
HcommChannelNotifyWaitOnThreadWithDefaultTimeout(ThreadHandle thread, ChannelHandle channel,
                                                 uint32_t localNotifyIdx)
{
    return HcommChannelNotifyWaitOnThread(thread, channel, localNotifyIdx, prim_default_wait_s());
}
