/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * prank: one rank in a process of its own (or on a thread of its own), made through the public
 * functions. Nothing here fails the test: calls return what the library said, because their peers
 * may be killed at any time.
 */
#ifndef HC_TEST_SUPPORT_PRANK_H
#define HC_TEST_SUPPORT_PRANK_H

#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"
#include "hccl/hccl_channel.h"
#include "hccl/hccl_comm.h"
#include "hccl/hccl_res.h"
#include "hcomm/hcomm_primitives.h"

#define PRANK_SLOT 64u /* bytes of a rank's buffer for each peer's message */

struct prank {
    HcclComm comm;
    uint32_t rank, num;
    ThreadHandle thread;
    aclrtStream stream;
    char *buf;
    ChannelHandle *channels; /* [num]; the own one is 0 */
    char **peer_bufs;        /* [num] */
};

/* Joins. The device is the rank's number in its process, `device`. */
static inline HcclResult
prank_open(struct prank *prank, const HcclRootInfo *info, uint32_t num, uint32_t rank,
           int32_t device)
{
    uint64_t size = 0;
    HcclResult rc;

    *prank = (struct prank){.rank = rank, .num = num};
    if (aclrtSetDevice(device) != ACL_SUCCESS)
        return HCCL_E_RUNTIME;
    rc = HcclCommInitRootInfo(num, info, rank, &prank->comm);
    if (rc == HCCL_SUCCESS)
        rc = HcclGetHcclBuffer(prank->comm, (void **)&prank->buf, &size);
    if (rc == HCCL_SUCCESS)
        rc = HcclThreadAcquire(prank->comm, COMM_ENGINE_CPU_TS, 1, 2, &prank->thread);
    if (rc == HCCL_SUCCESS)
        rc = HcclThreadResGetInfo(prank->comm, prank->thread, THREAD_RES_TYPE_STREAM,
                                  sizeof prank->stream, (void **)&prank->stream);
    return rc;
}

/* Channels to all the others (`only` UINT32_MAX), or to one more. */
static inline HcclResult
prank_link(struct prank *prank, uint32_t only)
{
    HcclChannelDesc *descs = calloc(prank->num, sizeof *descs);
    ChannelHandle *channels = calloc(prank->num, sizeof *channels);
    uint32_t count = 0, at = 0;
    HcclResult rc = HCCL_SUCCESS;

    if (prank->channels == NULL) {
        prank->channels = calloc(prank->num, sizeof *prank->channels);
        prank->peer_bufs = calloc(prank->num, sizeof *prank->peer_bufs);
    }
    for (uint32_t i = 0; i < prank->num; i++) {
        if (i == prank->rank || (only != UINT32_MAX && only != i))
            continue;
        (void)HcclChannelDescInit(&descs[count], 1);
        descs[count].remoteRank = i;
        descs[count].channelProtocol = COMM_PROTOCOL_HCCS;
        descs[count].notifyNum = 2;
        count++;
    }
    if (count > 0)
        rc = HcclChannelAcquire(prank->comm, COMM_ENGINE_CPU_TS, descs, count, channels);
    for (uint32_t i = 0; i < prank->num && rc == HCCL_SUCCESS; i++) {
        uint64_t size = 0;

        if (i == prank->rank || (only != UINT32_MAX && only != i))
            continue;
        prank->channels[i] = channels[at++];
        rc = HcclChannelGetHcclBuffer(prank->comm, prank->channels[i],
                                      (void **)&prank->peer_bufs[i], &size);
    }
    free(descs);
    free(channels);
    return rc;
}

/* Gives `value` to rank `to` and takes what rank `from` gives; *got: that. Waits for it. */
static inline HcclResult
prank_pass(struct prank *prank, uint32_t to, uint32_t from, uint64_t value, uint64_t *got)
{
    uint64_t *out = (uint64_t *)(void *)(prank->buf + PRANK_SLOT * (prank->num + to));
    const uint64_t *in = (const uint64_t *)(const void *)(prank->buf + PRANK_SLOT * from);
    int rc;

    *out = value;
    rc = HcommWriteWithNotifyOnThread(prank->thread, prank->channels[to],
                                      prank->peer_bufs[to] + PRANK_SLOT * prank->rank, out,
                                      sizeof *out, 0);
    if (rc == 0)
        rc = HcommChannelNotifyWaitOnThread(prank->thread, prank->channels[from], 0, 100);
    if (rc == 0 && aclrtSynchronizeStream(prank->stream) != ACL_SUCCESS)
        return HCCL_E_REMOTE;
    if (rc != 0)
        return (HcclResult)rc;
    *got = *in;
    /* The slot may be written again. */
    rc = HcommChannelNotifyRecordOnThread(prank->thread, prank->channels[from], 1);
    if (rc == 0)
        rc = HcommChannelNotifyWaitOnThread(prank->thread, prank->channels[to], 1, 100);
    if (rc == 0 && aclrtSynchronizeStream(prank->stream) != ACL_SUCCESS)
        return HCCL_E_REMOTE;
    return (HcclResult)rc;
}

static inline HcclResult
prank_close(struct prank *prank)
{
    HcclResult rc = prank->comm == NULL ? HCCL_SUCCESS : HcclCommDestroy(prank->comm);

    free(prank->channels);
    free(prank->peer_bufs);
    prank->comm = NULL;
    prank->channels = NULL;
    prank->peer_bufs = NULL;
    return rc;
}

#endif
