/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the operator's host files. */
#ifndef P2P_HOST_H
#define P2P_HOST_H

#include <stdint.h>

#include <acl/acl_rt.h>
#include <hccl/hccl_types.h>

#include "p2p_param.h"

/* One call, as the user made it. */
typedef struct {
    void *userBuf;
    uint64_t len; /* bytes */
    uint32_t peer;
    uint32_t isSend;
    HcclComm comm;
    aclrtStream stream;
} P2pCall;

/* What the host keeps for a pair of ranks and a direction; lives in a CPU engine context. */
typedef struct {
    P2pResource *onDevice;              /* the engine context of the AICPU engine */
    ThreadHandle deviceThread;          /* as the host knows it */
    aclrtNotify startNotify, endNotify; /* P2P_SYNC_ACLRT; NULL otherwise */
} P2pHostResource;

/* The resources of the call: made at the first one, found again at every later one. */
HcclResult P2pGetResource(const P2pCall *call, uint32_t sync, P2pHostResource **resource);

/* Queues the kernel on the stream. */
HcclResult P2pLaunchKernel(const P2pParam *param, aclrtStream stream);

/* From the environment: HCCL_CUSTOM_P2P_SYNC is "thread" (default) or "aclrt". */
HcclResult P2pSyncMode(uint32_t *sync);

/* From the environment: HCCL_CUSTOM_P2P_TIMEOUT in seconds, default 1800. */
uint32_t P2pTimeoutS(void);

/* Logs one line and returns the code. */
HcclResult P2pError(HcclResult code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
