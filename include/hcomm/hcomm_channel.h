/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hcomm_channel: channels between two endpoints, without a communicator.
 *
 * Both sides create their end; the link comes up while each asks for the status of its own.
 *
 * Source: spec, control plane, section 3; spec, types, sections 3.4, 5.2 and 7.
 */
#ifndef HCOMM_CHANNEL_H
#define HCOMM_CHANNEL_H

#include "hcomm_res_defs.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#ifdef __cplusplus
static const uint32_t HCOMM_CHANNEL_MAGIC_WORD = 0x0fcf0f0f;
static const uint32_t HCOMM_CHANNEL_VERSION_ONE = 1;
static const uint32_t HCOMM_CHANNEL_VERSION = 4;
static const uint32_t HCOMM_CHANNEL_NAME_MAX_LEN = 191; /* bytes, without the terminator */
static const uint32_t HCOMM_CHANNEL_DESC_RAW_MAX_LEN = 128;
#else
enum {
    HCOMM_CHANNEL_MAGIC_WORD = 0x0fcf0f0f,
    HCOMM_CHANNEL_VERSION_ONE = 1,
    HCOMM_CHANNEL_VERSION = 4,
    HCOMM_CHANNEL_NAME_MAX_LEN = 191, /* bytes, without the terminator */
    HCOMM_CHANNEL_DESC_RAW_MAX_LEN = 128
};
#endif

/* Size of version 1 of HcommChannelDesc, which ends before `qos`. */
#define HCOMM_CHANNEL_DESC_ABI_V1_SIZE 344

typedef void *HcommChannelConfig; /* options of HcommChannelCreateWithConfig */

typedef enum {
    HCOMM_CHANNEL_CONFIG_TYPE_INVALID = -1,
    HCOMM_CHANNEL_CONFIG_TYPE_IS_SHARED_QUEUE = 0 /* integer, 0 at first */
} HcommChannelConfigType;

/* One channel to create. Fill with HcommChannelDescInit first. All ones: the default. */
typedef struct {
    CommAbiHeader header;
    EndpointDesc remoteEndpoint; /* must be filled in */
    uint32_t notifyNum;          /* notifies at each end */
    bool exchangeAllMems;        /* offer all memory that is registered on the local endpoint */
    HcommMemHandle *memHandles;  /* else: [memHandleNum] what is offered */
    uint32_t memHandleNum;
    HcommSocket socket;   /* NULL: the library makes one */
    HcommSocketRole role; /* of this side */
    uint16_t port;        /* to listen on or connect to; 0: a default */
    union {
        uint8_t raws[HCOMM_CHANNEL_DESC_RAW_MAX_LEN];
        struct {
            uint32_t queueNum;      /* queue pairs; 1 */
            uint32_t retryCnt;      /* 0 to 7; default 7 */
            uint32_t retryInterval; /* n of 4.096 us * 2^n, 5 to 24; default 20 */
            uint8_t tc;             /* traffic class; default 132 */
            uint8_t sl;             /* service level, 0 to 7; default 4 */
            uint32_t qpThreshold;   /* bytes each queue pair carries at least */
            uint32_t cqAttrFlags;
            uint16_t *srcPortList; /* since version 4: a UDP source port for each queue pair */
        } roceAttr;
        struct {
            uint32_t qos;
        } hccsAttr;
        struct {
            uint32_t sqDepth; /* 0: the default; rounded up to a power of two */
        } ubAttr;
        struct {
            uint8_t pathMode; /* 0 automatic, 1 single path, 2 multiple paths */
        } ubMemAttr;
    };
    uint32_t qos;            /* since version 3 */
    const char *channelName; /* since version 3: equal at both ends; NULL: anonymous */
} HcommChannelDesc;

/**
 * Make `descNum` descriptions ready: all bytes ones, header filled, no notifies, no memory, no
 * socket, role "reserved", port 0, no source ports, no name, remote endpoint empty.
 *
 * @param channelDesc  out  [descNum] descriptions of the caller; may be NULL if descNum is 0
 * @param descNum           descriptions
 *
 * @return 0; HCCL_E_PTR: channelDesc is NULL and descNum > 0; HCCL_E_INTERNAL: a fill failed.
 * Threads: safe for different descriptions.
 * Source:  spec, types, section 7.
 */
static inline HcommResult
HcommChannelDescInit(HcommChannelDesc *channelDesc, uint32_t descNum)
{
    if (channelDesc == NULL && descNum > 0)
        return 2; /* HCCL_E_PTR */
    for (uint32_t i = 0; i < descNum; i++) {
        HcommChannelDesc *desc = &channelDesc[i];

        if (memset_s(desc, sizeof(*desc), 0xFF, sizeof(*desc)) != EOK)
            return 4; /* HCCL_E_INTERNAL */
        desc->header.version = HCOMM_CHANNEL_VERSION;
        desc->header.magicWord = HCOMM_CHANNEL_MAGIC_WORD;
        desc->header.size = (uint32_t)sizeof(*desc);
        desc->header.reserved = 0;
        if (EndpointDescInit(&desc->remoteEndpoint, 1) != 0)
            return 4; /* HCCL_E_INTERNAL */
        desc->notifyNum = 0;
        desc->exchangeAllMems = false;
        desc->memHandles = NULL;
        desc->memHandleNum = 0;
        desc->socket = NULL;
        desc->role = HCOMM_SOCKET_ROLE_RESERVED;
        desc->port = 0;
        desc->roceAttr.srcPortList = NULL;
        desc->channelName = NULL;
    }
    return 0;
}

/**
 * Create `channelNum` channel ends on an endpoint. Returns without waiting for the peers: ask
 * HcommChannelGetStatus until each is ready.
 *
 * @param endpointHandle  in   local endpoint; must outlive the channels
 * @param engine               who will use them
 * @param channelDescs    in   [channelNum]; not needed after the call
 * @param channelNum           1 to 1048576
 * @param channels        out  [channelNum] handles; end with HcommChannelDestroy
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL; HCCL_E_PARA: a number or a description is not
 *         acceptable; HCCL_E_NOT_FOUND: no such endpoint or memory; HCCL_E_NOT_SUPPORT: engine.
 * Threads: safe for different endpoints.
 * Source:  spec, control plane, section 3.1.
 */
HcommResult HcommChannelCreate(EndpointHandle endpointHandle, CommEngine engine,
                               HcommChannelDesc *channelDescs, uint32_t channelNum,
                               ChannelHandle *channels);

/**
 * Make an option object with everything at its default.
 *
 * @param config  out  end with HcommChannelConfigDestroy, at any time after its use
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL; HCCL_E_MEMORY.
 * Threads: safe.
 * Source:  spec, control plane, section 3.2.
 */
HcommResult HcommChannelConfigCreate(HcommChannelConfig *config);

/**
 * Free an option object. Channels made with it are not concerned.
 *
 * @param config  in  NULL does nothing
 *
 * @return HCCL_SUCCESS.
 * Threads: not while another call uses the object.
 * Source:  spec, control plane, section 3.2.
 */
HcommResult HcommChannelConfigDestroy(HcommChannelConfig config);

/**
 * Set an integer option.
 *
 * @param config  in  option object
 * @param type        HCOMM_CHANNEL_CONFIG_TYPE_IS_SHARED_QUEUE
 * @param value       not 0: the channels of one endpoint share one send queue
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: config is NULL; HCCL_E_PARA: no such option.
 * Threads: calls on one object must be serial.
 * Source:  spec, control plane, section 3.2.
 */
HcommResult HcommChannelConfigSetInt(HcommChannelConfig config, HcommChannelConfigType type,
                                     uint32_t value);

/**
 * HcommChannelCreate with options. Channels that share a queue are used serially and destroyed
 * before their endpoint.
 *
 * @param config  in  NULL: no options; not needed after the call. The others: see there
 *
 * @return as HcommChannelCreate; HCCL_E_NOT_SUPPORT also for a shared queue with another engine
 *         than AIV or another protocol than UB_CTP or UBC_TP.
 * Threads: safe for different endpoints.
 * Source:  spec, control plane, section 3.2.
 */
HcommResult HcommChannelCreateWithConfig(EndpointHandle endpointHandle, CommEngine engine,
                                         HcommChannelDesc *channelDescs, uint32_t channelNum,
                                         HcommChannelConfig config, ChannelHandle *channels);

/**
 * Bring the connection of each listed channel one step forward and tell where it stands. Does not
 * wait. A success says nothing about the channels: look at the list.
 *
 * @param channelList  in   [listNum] channels
 * @param listNum           1 to 1048576
 * @param statusList   out  [listNum] 0 ready, 1 connecting, 2 failed, 3 timed out, 4 too few
 *                          resources here, 5 too few at the peer
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL; HCCL_E_PARA: listNum; HCCL_E_INTERNAL: no such channel.
 * Threads: one channel must not be in two calls at once.
 * Source:  spec, control plane, section 3.3.
 */
HcommResult HcommChannelGetStatus(const ChannelHandle *channelList, uint32_t listNum,
                                  int32_t *statusList);

/**
 * Destroy channels of HcommChannelCreate, one after the other, up to the first failure.
 *
 * @param channels    in  [channelNum] channels of any engines, with nothing in flight
 * @param channelNum      channels
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL; HCCL_E_PARA: channelNum; HCCL_E_NOT_FOUND: no such
 *         channel.
 * Threads: not while another call uses one of them.
 * Source:  spec, control plane, section 3.4.
 */
HcommResult HcommChannelDestroy(const ChannelHandle *channels, uint32_t channelNum);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
