/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Resources of the operator: made at the first call for a peer and a direction, then found again by
 * the tag of their engine contexts.
 *
 *   engine context, AICPU  device memory: a P2pResource, which the kernel reads
 *   engine context, CPU    host memory: a P2pHostResource, which the host reads
 *
 * All of it belongs to the communicator and goes with it, except the aclrt notifies, which this
 * file destroys when the communicator says that it is about to end.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <hccl/hccl_channel.h>
#include <hccl/hccl_comm.h>
#include <hccl/hccl_rank_graph.h>
#include <hccl/hccl_res.h>

#include "p2p_host.h"

#define TAG_LEN 64

static void
MakeTag(uint32_t peer, uint32_t isSend, char tag[TAG_LEN])
{
    snprintf(tag, TAG_LEN, "custom_p2p_%s_%u", isSend ? "send" : "recv", peer);
}

/* ---- the channel ---- */

/* How the two ranks are wired: the first link of the lowest layer that has one. */
static HcclResult
DescribeLink(const P2pCall *call, HcclChannelDesc *desc)
{
    uint32_t *layers = NULL, layerNum = 0, rank = 0;
    HcclResult rc = HcclGetRankId(call->comm, &rank);

    if (rc == HCCL_SUCCESS)
        rc = HcclRankGraphGetLayers(call->comm, &layers, &layerNum);
    for (uint32_t i = 0; rc == HCCL_SUCCESS && i < layerNum; i++) {
        CommLink *links = NULL;
        uint32_t linkNum = 0;

        rc = HcclRankGraphGetLinks(call->comm, layers[i], rank, call->peer, &links, &linkNum);
        if (rc != HCCL_SUCCESS || linkNum == 0)
            continue;
        desc->channelProtocol = links[0].linkAttr.linkProtocol;
        desc->localEndpoint = links[0].srcEndpointDesc;
        desc->remoteEndpoint = links[0].dstEndpointDesc;
        return HCCL_SUCCESS;
    }
    return rc != HCCL_SUCCESS
               ? rc
               : P2pError(HCCL_E_NOT_FOUND, "no link from rank %u to rank %u", rank, call->peer);
}

/* Blocks until the peer makes its end too. */
static HcclResult
MakeChannel(const P2pCall *call, P2pResource *resource)
{
    HcclChannelDesc desc;
    uint64_t localSize = 0, peerSize = 0;
    void *buffer = NULL;
    HcclResult rc = HcclChannelDescInit(&desc, 1);

    if (rc != HCCL_SUCCESS)
        return rc;
    desc.remoteRank = call->peer;
    desc.notifyNum = P2P_NOTIFY_NUM;
    rc = DescribeLink(call, &desc);
    if (rc == HCCL_SUCCESS)
        rc = HcclChannelAcquire(call->comm, COMM_ENGINE_AICPU_TS, &desc, 1, &resource->channel);
    if (rc == HCCL_SUCCESS)
        rc = HcclGetHcclBuffer(call->comm, &buffer, &localSize);
    resource->localBuf = buffer;
    if (rc == HCCL_SUCCESS)
        rc = HcclChannelGetHcclBuffer(call->comm, resource->channel, &buffer, &peerSize);
    if (rc != HCCL_SUCCESS)
        return rc;
    resource->peerBuf = buffer;
    resource->bufSize = localSize < peerSize ? localSize : peerSize;
    if (resource->bufSize == 0)
        return P2pError(HCCL_E_MEMORY, "the HCCL buffer is empty: set HCCL_BUFFSIZE");
    return HCCL_SUCCESS;
}

/* ---- notifies of the aclrt way ---- */

static HcclResult
MakeNotifies(P2pHostResource *host, P2pResource *resource)
{
    uint32_t startId = 0, endId = 0;

    if (aclrtCreateNotify(&host->startNotify, ACL_NOTIFY_DEFAULT) != ACL_SUCCESS ||
        aclrtCreateNotify(&host->endNotify, ACL_NOTIFY_DEFAULT) != ACL_SUCCESS ||
        aclrtGetNotifyId(host->startNotify, &startId) != ACL_SUCCESS ||
        aclrtGetNotifyId(host->endNotify, &endId) != ACL_SUCCESS)
        return P2pError(HCCL_E_RUNTIME, "cannot make two notifies");
    resource->startNotifyId = startId;
    resource->endNotifyId = endId;
    return HCCL_SUCCESS;
}

static void
DestroyNotifies(P2pHostResource *host)
{
    if (host->startNotify != NULL)
        (void)aclrtDestroyNotify(host->startNotify);
    if (host->endNotify != NULL)
        (void)aclrtDestroyNotify(host->endNotify);
    host->startNotify = host->endNotify = NULL;
}

static HcclResult
OnCommState(HcclComm comm, HcclCommStatePhase state, void *args)
{
    uint32_t rankSize = 0;

    (void)args;
    if (state != HCCL_COMM_STATE_PHASE_DESTROY_PRE ||
        HcclGetRankSize(comm, &rankSize) != HCCL_SUCCESS)
        return HCCL_SUCCESS;
    for (uint32_t i = 0; i < 2 * rankSize; i++) {
        P2pHostResource *host = NULL;
        uint64_t size = 0;
        char tag[TAG_LEN];

        MakeTag(i / 2, i % 2, tag);
        if (HcclEngineCtxGet(comm, tag, COMM_ENGINE_CPU_TS, (void **)&host, &size) == HCCL_SUCCESS)
            DestroyNotifies(host);
    }
    return HCCL_SUCCESS;
}

static void
WatchComms(void)
{
    (void)HcclCommRegCommStateCallback("custom_p2p", OnCommState, NULL);
}

/* ---- all together ---- */

static HcclResult
MakeResource(const P2pCall *call, uint32_t sync, const char *tag, P2pHostResource *host)
{
    P2pResource resource;
    HcclResult rc;

    memset(&resource, 0, sizeof resource);
    rc = HcclThreadAcquire(call->comm, COMM_ENGINE_AICPU_TS, 1, 1, &resource.thread);
    host->deviceThread = resource.thread;
    if (rc == HCCL_SUCCESS)
        rc = MakeChannel(call, &resource);
    if (rc == HCCL_SUCCESS && sync == P2P_SYNC_ACLRT)
        rc = MakeNotifies(host, &resource);
    if (rc == HCCL_SUCCESS)
        rc = HcclEngineCtxCreate(call->comm, tag, COMM_ENGINE_AICPU_TS, sizeof resource,
                                 (void **)&host->onDevice);
    if (rc == HCCL_SUCCESS)
        rc =
            HcclEngineCtxCopy(call->comm, COMM_ENGINE_AICPU_TS, tag, &resource, sizeof resource, 0);
    return rc;
}

HcclResult
P2pGetResource(const P2pCall *call, uint32_t sync, P2pHostResource **resource)
{
    static pthread_once_t watching = PTHREAD_ONCE_INIT;
    P2pHostResource *host = NULL;
    uint64_t size = 0;
    char tag[TAG_LEN];
    HcclResult rc;

    MakeTag(call->peer, call->isSend, tag);
    if (HcclEngineCtxGet(call->comm, tag, COMM_ENGINE_CPU_TS, (void **)&host, &size) ==
        HCCL_SUCCESS) {
        *resource = host; /* not the first call: nothing to make, nobody to wait for */
        return HCCL_SUCCESS;
    }
    (void)pthread_once(&watching, WatchComms);
    rc = HcclEngineCtxCreate(call->comm, tag, COMM_ENGINE_CPU_TS, sizeof *host, (void **)&host);
    if (rc != HCCL_SUCCESS)
        return rc;
    memset(host, 0, sizeof *host);
    rc = MakeResource(call, sync, tag, host);
    if (rc != HCCL_SUCCESS) { /* leave nothing half-made: the next call starts afresh */
        if (host->onDevice != NULL)
            (void)HcclEngineCtxDestroy(call->comm, tag, COMM_ENGINE_AICPU_TS);
        DestroyNotifies(host);
        (void)HcclEngineCtxDestroy(call->comm, tag, COMM_ENGINE_CPU_TS);
        return rc;
    }
    *resource = host;
    return HCCL_SUCCESS;
}
