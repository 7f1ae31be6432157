/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A message goes in slices of the HCCL buffer's size. For each slice:
 *
 *   sender                                      receiver
 *   copy the slice into its own HCCL buffer
 *   record READY at the receiver    ------->    wait READY
 *                                               read the sender's buffer into the user's memory
 *   wait DONE                       <-------    record DONE at the sender
 *
 * READY and DONE alternate strictly, so one-bit notifies are enough.
 */
#include "p2p_exec.h"

#include <hccl/hcomm_primitives.h>

static uint64_t
SliceLen(const P2pParam *param, uint64_t offset)
{
    uint64_t left = param->len - offset;

    return left < param->resource->bufSize ? left : param->resource->bufSize;
}

int32_t
P2pExecSend(const P2pParam *param)
{
    const P2pResource *resource = param->resource;
    int32_t rc = 0;

    for (uint64_t offset = 0; rc == 0 && offset < param->len; offset += resource->bufSize) {
        rc = HcommLocalCopyOnThread(resource->thread, resource->localBuf, param->userBuf + offset,
                                    SliceLen(param, offset));
        if (rc == 0)
            rc = HcommChannelNotifyRecordOnThread(resource->thread, resource->channel,
                                                  P2P_NOTIFY_READY);
        if (rc == 0)
            rc = HcommChannelNotifyWaitOnThread(resource->thread, resource->channel,
                                                P2P_NOTIFY_DONE, param->timeoutS);
    }
    return rc;
}

int32_t
P2pExecRecv(const P2pParam *param)
{
    const P2pResource *resource = param->resource;
    int32_t rc = 0;

    for (uint64_t offset = 0; rc == 0 && offset < param->len; offset += resource->bufSize) {
        rc = HcommChannelNotifyWaitOnThread(resource->thread, resource->channel, P2P_NOTIFY_READY,
                                            param->timeoutS);
        if (rc == 0)
            rc = HcommReadOnThread(resource->thread, resource->channel, param->userBuf + offset,
                                   resource->peerBuf, SliceLen(param, offset));
        if (rc == 0)
            rc = HcommChannelNotifyRecordOnThread(resource->thread, resource->channel,
                                                  P2P_NOTIFY_DONE);
    }
    return rc;
}
