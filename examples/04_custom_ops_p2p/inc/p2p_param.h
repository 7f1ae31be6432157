/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the host tells the kernel. Two structures, by how long they hold:
 *
 *   P2pResource  made once for a pair of ranks and a direction; lives in the engine context, which
 * is device memory: the kernel reads it through the pointer in P2pParam P2pParam     the arguments
 * of one call; the launch copies it
 */
#ifndef P2P_PARAM_H
#define P2P_PARAM_H

#include <stdint.h>

#include <hccl/hcomm_res_defs.h>

#define P2P_KERNEL_NAME "HcclLaunchP2PAicpuKernel"

/* Notifies of the channel, the same numbers at both ends. */
enum {
    P2P_NOTIFY_READY = 0, /* sender to receiver: the slice is in the sender's HCCL buffer */
    P2P_NOTIFY_DONE = 1,  /* receiver to sender: the slice has been read */
    P2P_NOTIFY_NUM = 3    /* the third is kept for a final acknowledgement, by convention */
};

/* How the stream and the device's thread wait for each other. */
enum {
    P2P_SYNC_THREAD = 0, /* notifies of threads that are exported to the other side */
    P2P_SYNC_ACLRT = 1   /* two aclrt notifies, known to the kernel by their ids */
};

typedef struct {
    ThreadHandle thread;    /* of the device: its queue runs the operator's tasks */
    ChannelHandle channel;  /* to the peer */
    uint8_t *localBuf;      /* own HCCL buffer: where a sender puts a slice */
    uint8_t *peerBuf;       /* the peer's, as this rank can address it */
    uint64_t bufSize;       /* bytes; the smaller of the two */
    uint64_t startNotifyId; /* P2P_SYNC_ACLRT: host to device */
    uint64_t endNotifyId;   /* P2P_SYNC_ACLRT: device to host */
} P2pResource;

typedef struct {
    char commName[128];
    P2pResource *resource;   /* device memory */
    uint8_t *userBuf;        /* device memory: source of a send, destination of a receive */
    uint64_t len;            /* bytes */
    ThreadHandle hostThread; /* P2P_SYNC_THREAD: the user's stream, as the device knows it */
    uint32_t isSend;
    uint32_t sync;     /* P2P_SYNC_* */
    uint32_t timeoutS; /* limit of every wait of the kernel's tasks */
} P2pParam;

#endif
