/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel: runs on the device's AICPU and queues the tasks of one transfer on the device thread.
 * It moves no data itself and waits for nothing but the communicator's lock; its return value only
 * says whether the queueing went well.
 */
#include <hccl/hcomm_primitives.h>

#include "p2p_exec.h"

#define BATCH_TAG "custom_p2p"

static int32_t
WaitForHost(const P2pParam *param)
{
    const P2pResource *resource = param->resource;

    if (param->sync == P2P_SYNC_ACLRT)
        return HcommAclrtNotifyWaitOnThread(resource->thread, resource->startNotifyId,
                                            param->timeoutS);
    return HcommThreadNotifyWaitOnThread(resource->thread, 0, param->timeoutS);
}

static int32_t
TellHost(const P2pParam *param)
{
    const P2pResource *resource = param->resource;

    if (param->sync == P2P_SYNC_ACLRT)
        return HcommAclrtNotifyRecordOnThread(resource->thread, resource->endNotifyId);
    return HcommThreadNotifyRecordOnThread(resource->thread, param->hostThread, 0);
}

static int32_t
QueueTransfer(const P2pParam *param)
{
    int32_t rc = WaitForHost(param);

    if (rc == 0)
        rc = param->isSend ? P2pExecSend(param) : P2pExecRecv(param);
    if (rc == 0)
        rc = TellHost(param);
    return rc;
}

uint32_t HcclLaunchP2PAicpuKernel(void *args);

uint32_t
HcclLaunchP2PAicpuKernel(void *args)
{
    const P2pParam *param = args;
    int32_t rc, end;

    if (HcommAcquireComm(param->commName) != 0)
        return 1;
    rc = HcommBatchModeStart(BATCH_TAG);
    if (rc == 0) {
        rc = QueueTransfer(param);
        end = HcommBatchModeEnd(BATCH_TAG); /* on errors too: it closes the batch */
        rc = rc == 0 ? end : rc;
    }
    (void)HcommReleaseComm(param->commName); /* always, or the next kernel would wait for ever */
    return rc == 0 ? 0 : 1;
}
