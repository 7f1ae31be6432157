/* SPDX-License-Identifier: BSD-3-Clause */
/* queue: the thread a call appends to, held for the length of the call (inside this layer only). */
#ifndef HC_PRIMITIVE_QUEUE_H
#define HC_PRIMITIVE_QUEUE_H

#include "resource/resource.h"
#include "transport/transport.h"

struct prim_queue {
    struct res_thread *thread; /* held */
    struct rt_stream *stream;
};

/* HCCL_E_PTR, HCCL_E_NOT_FOUND, HCCL_E_UNAVAIL (logged): no such thread, its stream is destroyed,
 * or the process was forked. On success prim_queue_close() it. */
HcclResult prim_queue_open(ThreadHandle handle, struct prim_queue *queue);
void prim_queue_close(struct prim_queue *queue);

/* Both the thread and the channel. */
HcclResult prim_queue_open_channel(ThreadHandle handle, ChannelHandle channel_handle,
                                   struct prim_queue *queue, struct res_channel **channel);
void prim_queue_close_channel(struct prim_queue *queue, struct res_channel *channel);

#endif
