/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The operator's entry: checks the call, gets its resources, and puts three things on the stream:
 *
 *   1  tell the device thread that it may start     (so it does not overtake earlier work)
 *   2  the kernel, which queues the tasks of the transfer on the device thread
 *   3  wait until the device thread has finished    (so later work does not overtake it)
 *
 * Everything is queued: nothing here waits for data.
 */
#include "hccl_custom_p2p.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <base/dlog_pub.h>
#include <hccl/hccl_comm.h>
#include <hccl/hccl_res.h>
#include <hccl/hccl_res_expt.h>
#include <hccl/hcomm_primitives.h>

#include "p2p_host.h"

#define DEFAULT_TIMEOUT_S 1800u
#define HOST_MARGIN_S 50u /* the host waits longer than the device, so the device's error wins */

HcclResult
P2pError(HcclResult code, const char *fmt, ...)
{
    char text[256];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    DlogRecord(HCCL, DLOG_ERROR, "custom p2p: %s", text);
    return code;
}

HcclResult
P2pSyncMode(uint32_t *sync)
{
    const char *text = getenv("HCCL_CUSTOM_P2P_SYNC");

    if (text == NULL || strcmp(text, "thread") == 0)
        *sync = P2P_SYNC_THREAD;
    else if (strcmp(text, "aclrt") == 0)
        *sync = P2P_SYNC_ACLRT;
    else
        return P2pError(HCCL_E_PARA, "HCCL_CUSTOM_P2P_SYNC is \"%s\"; set it to thread or aclrt",
                        text);
    return HCCL_SUCCESS;
}

uint32_t
P2pTimeoutS(void)
{
    const char *text = getenv("HCCL_CUSTOM_P2P_TIMEOUT");
    unsigned long value = text == NULL ? 0 : strtoul(text, NULL, 10);

    return value == 0 || value > UINT32_MAX / 2 ? DEFAULT_TIMEOUT_S : (uint32_t)value;
}

static uint64_t
TypeSize(HcclDataType type)
{
    switch (type) {
    case HCCL_DATA_TYPE_INT8:
    case HCCL_DATA_TYPE_UINT8:
    case HCCL_DATA_TYPE_HIF8:
    case HCCL_DATA_TYPE_FP8E4M3:
    case HCCL_DATA_TYPE_FP8E5M2:
    case HCCL_DATA_TYPE_FP8E8M0:
        return 1;
    case HCCL_DATA_TYPE_INT16:
    case HCCL_DATA_TYPE_UINT16:
    case HCCL_DATA_TYPE_FP16:
    case HCCL_DATA_TYPE_BFP16:
        return 2;
    case HCCL_DATA_TYPE_INT32:
    case HCCL_DATA_TYPE_UINT32:
    case HCCL_DATA_TYPE_FP32:
        return 4;
    case HCCL_DATA_TYPE_INT64:
    case HCCL_DATA_TYPE_UINT64:
    case HCCL_DATA_TYPE_FP64:
        return 8;
    case HCCL_DATA_TYPE_INT128:
        return 16;
    default:
        return 0;
    }
}

static HcclResult
CheckCall(const P2pCall *call, uint64_t count, uint64_t typeSize)
{
    uint32_t rankSize = 0, rank = 0;
    HcclResult rc;

    if (call->userBuf == NULL || call->comm == NULL || call->stream == NULL)
        return P2pError(HCCL_E_PTR, "buffer, comm or stream is NULL");
    if (typeSize == 0)
        return P2pError(HCCL_E_PARA, "no such data type");
    if (count > UINT64_MAX / typeSize)
        return P2pError(HCCL_E_PARA, "count %llu is too large", (unsigned long long)count);
    rc = HcclGetRankSize(call->comm, &rankSize);
    if (rc == HCCL_SUCCESS)
        rc = HcclGetRankId(call->comm, &rank);
    if (rc != HCCL_SUCCESS)
        return rc;
    if (call->peer >= rankSize || call->peer == rank)
        return P2pError(HCCL_E_PARA, "peer %u: pass another rank than %u, below %u", call->peer,
                        rank, rankSize);
    return HCCL_SUCCESS;
}

/* Notifies of exported threads: each side records a notify that the other side's thread owns. */
static HcclResult
RunWithThreads(const P2pCall *call, const P2pHostResource *resource, P2pParam *param)
{
    ThreadHandle hostThread, deviceThreadOnHost;
    HcclResult rc;

    /* The stream may differ from call to call, so its thread is looked up each time. */
    rc = HcclThreadAcquireWithStream(call->comm, COMM_ENGINE_CPU_TS, call->stream, 1, &hostThread);
    if (rc == HCCL_SUCCESS)
        rc = HcclThreadExportToCommEngine(call->comm, 1, &hostThread, COMM_ENGINE_AICPU_TS,
                                          &param->hostThread);
    if (rc == HCCL_SUCCESS)
        rc = HcclThreadExportToCommEngine(call->comm, 1, &resource->deviceThread,
                                          COMM_ENGINE_CPU_TS, &deviceThreadOnHost);
    if (rc == HCCL_SUCCESS)
        rc = (HcclResult)HcommThreadNotifyRecordOnThread(hostThread, deviceThreadOnHost, 0);
    if (rc == HCCL_SUCCESS)
        rc = P2pLaunchKernel(param, call->stream);
    if (rc == HCCL_SUCCESS)
        rc = (HcclResult)HcommThreadNotifyWaitOnThread(hostThread, 0,
                                                       param->timeoutS + HOST_MARGIN_S);
    return rc;
}

/* Two aclrt notifies: the kernel knows them by id. */
static HcclResult
RunWithAclrt(const P2pCall *call, const P2pHostResource *resource, P2pParam *param)
{
    HcclResult rc;

    if (aclrtRecordNotify(resource->startNotify, call->stream) != ACL_SUCCESS)
        return P2pError(HCCL_E_RUNTIME, "aclrtRecordNotify failed");
    rc = P2pLaunchKernel(param, call->stream);
    if (rc != HCCL_SUCCESS)
        return rc;
    if (aclrtWaitAndResetNotify(resource->endNotify, call->stream,
                                param->timeoutS + HOST_MARGIN_S) != ACL_SUCCESS)
        return P2pError(HCCL_E_RUNTIME, "aclrtWaitAndResetNotify failed");
    return HCCL_SUCCESS;
}

static HcclResult
Run(const P2pCall *call, uint64_t count, HcclDataType dataType)
{
    uint64_t typeSize = TypeSize(dataType);
    P2pHostResource *resource = NULL;
    P2pParam param;
    P2pCall sized = *call;
    HcclResult rc = CheckCall(call, count, typeSize);

    if (rc != HCCL_SUCCESS)
        return rc;
    sized.len = count * typeSize;
    memset(&param, 0, sizeof param);
    param.userBuf = sized.userBuf;
    param.len = sized.len;
    param.isSend = sized.isSend;
    param.timeoutS = P2pTimeoutS();
    rc = HcclGetCommName(sized.comm, param.commName);
    if (rc == HCCL_SUCCESS)
        rc = P2pSyncMode(&param.sync);
    if (rc == HCCL_SUCCESS)
        rc = P2pGetResource(&sized, param.sync, &resource);
    if (rc != HCCL_SUCCESS)
        return rc;
    param.resource = resource->onDevice;
    return param.sync == P2P_SYNC_THREAD ? RunWithThreads(&sized, resource, &param)
                                         : RunWithAclrt(&sized, resource, &param);
}

HcclResult
HcclSendCustom(void *sendBuf, uint64_t count, HcclDataType dataType, uint32_t destRank,
               HcclComm comm, aclrtStream stream)
{
    P2pCall call = {
        .userBuf = sendBuf, .peer = destRank, .isSend = 1, .comm = comm, .stream = stream};

    return Run(&call, count, dataType);
}

HcclResult
HcclRecvCustom(void *recvBuf, uint64_t count, HcclDataType dataType, uint32_t srcRank,
               HcclComm comm, aclrtStream stream)
{
    P2pCall call = {
        .userBuf = recvBuf, .peer = srcRank, .isSend = 0, .comm = comm, .stream = stream};

    return Run(&call, count, dataType);
}
