/* SPDX-License-Identifier: BSD-3-Clause */
#include "primitive/queue.h"

HcclResult
prim_queue_open(ThreadHandle handle, struct prim_queue *queue)
{
    HcclResult rc;

    if (!rt_enter())
        return HCCL_E_UNAVAIL;
    rc = res_thread_hold(handle, &queue->thread);
    if (rc != HCCL_SUCCESS)
        return rc;
    queue->stream = res_thread_stream(queue->thread);
    if (queue->stream != NULL)
        return HCCL_SUCCESS;
    res_thread_release(queue->thread);
    return HCCL_E_NOT_FOUND;
}

void
prim_queue_close(struct prim_queue *queue)
{
    res_thread_release(queue->thread);
}

HcclResult
prim_queue_open_channel(ThreadHandle handle, ChannelHandle channel_handle, struct prim_queue *queue,
                        struct res_channel **channel)
{
    HcclResult rc = prim_queue_open(handle, queue);

    if (rc != HCCL_SUCCESS)
        return rc;
    rc = res_channel_hold(channel_handle, channel);
    if (rc != HCCL_SUCCESS)
        prim_queue_close(queue);
    return rc;
}

void
prim_queue_close_channel(struct prim_queue *queue, struct res_channel *channel)
{
    res_channel_release(channel);
    prim_queue_close(queue);
}
