/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hccl_channel: channels to the other ranks of a communicator. The communicator owns them.
 *
 * Source: spec, control plane, section 10; spec, types, sections 3.4, 5.6 and 7.
 */
#ifndef HCCL_CHANNEL_H
#define HCCL_CHANNEL_H

#include <stdint.h>

#include "hccl_types.h"
#include "hcomm_res_defs.h"
#include "hcomm_channel.h"

#ifndef LIKELY
#define LIKELY(x) (__builtin_expect(!!(x), 1))
#define UNLIKELY(x) (__builtin_expect(!!(x), 0))
#endif

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#ifdef __cplusplus
static const uint32_t HCCL_CHANNEL_MAGIC_WORD = 0x0f0f0f0f;
static const uint32_t HCCL_CHANNEL_VERSION = 1;
static const uint32_t HCCL_CHANNEL_DESC_RAW_MAX_LEN = 128;
static const uint32_t HCCL_CHANNEL_CONFIG_SHARED_QUEUE_TAG_MAX_LEN = 255;
#else
enum {
    HCCL_CHANNEL_MAGIC_WORD = 0x0f0f0f0f,
    HCCL_CHANNEL_VERSION = 1,
    HCCL_CHANNEL_DESC_RAW_MAX_LEN = 128,
    HCCL_CHANNEL_CONFIG_SHARED_QUEUE_TAG_MAX_LEN = 255
};
#endif

typedef void *HcclMemHandle;     /* memory registered on a communicator */
typedef void *HcclChannelConfig; /* options of HcclChannelAcquireWithConfig */

typedef enum {
    HCCL_CHANNEL_CONFIG_TYPE_INVALID = -1,
    HCCL_CHANNEL_CONFIG_TYPE_IS_SHARED_QUEUE = 0, /* integer, 0 at first */
    HCCL_CHANNEL_CONFIG_TYPE_SHARED_QUEUE_TAG = 1 /* string */
} HcclChannelConfigType;

/*
 * One channel to acquire. Fill with HcclChannelDescInit first. All ones: the default. Members may
 * be added inside the union; after it only together with a new version.
 */
typedef struct {
    CommAbiHeader header;
    uint32_t remoteRank;
    CommProtocol channelProtocol;
    EndpointDesc localEndpoint;  /* 950 only, from HcclRankGraphGetLinks */
    EndpointDesc remoteEndpoint; /* likewise */
    uint32_t notifyNum;          /* notifies at each end, at most 64 */
    HcclMemHandle *memHandles;   /* [memHandleNum] of HcclCommMemReg, offered to the peer */
    uint32_t memHandleNum;
    union {
        uint8_t raws[HCCL_CHANNEL_DESC_RAW_MAX_LEN];
        struct {
            uint32_t queueNum;      /* queue pairs; 1 */
            uint32_t retryCnt;      /* 0 to 7 */
            uint32_t retryInterval; /* n of 4.096 us * 2^n, 5 to 24 */
            uint8_t tc;             /* traffic class, a multiple of 4 */
            uint8_t sl;             /* service level, 0 to 7 */
        } roceAttr;
        struct {
            uint8_t pathMode; /* 0 automatic, 1 single path, 2 multiple paths */
        } ubMemAttr;
    };
} HcclChannelDesc;

/**
 * Make `descNum` descriptions ready: all bytes ones, header filled, no rank, protocol "reserved",
 * no notifies, no memory, both endpoints empty.
 *
 * @param channelDesc  out  [descNum] descriptions of the caller; may be NULL if descNum is 0
 * @param descNum           descriptions
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: channelDesc is NULL and descNum > 0; HCCL_E_INTERNAL: a fill
 *         failed.
 * Threads: safe for different descriptions.
 * Source:  spec, types, section 7.
 */
static inline HcclResult
HcclChannelDescInit(HcclChannelDesc *channelDesc, uint32_t descNum)
{
    if (channelDesc == NULL && descNum > 0)
        return HCCL_E_PTR;
    for (uint32_t i = 0; i < descNum; i++) {
        HcclChannelDesc *desc = &channelDesc[i];

        if (memset_s(desc, sizeof(*desc), 0xFF, sizeof(*desc)) != EOK)
            return HCCL_E_INTERNAL;
        desc->header.version = HCCL_CHANNEL_VERSION;
        desc->header.magicWord = HCCL_CHANNEL_MAGIC_WORD;
        desc->header.size = (uint32_t)sizeof(*desc);
        desc->header.reserved = 0;
        desc->remoteRank = 0xFFFFFFFF;
        desc->channelProtocol = COMM_PROTOCOL_RESERVED;
        desc->notifyNum = 0;
        desc->memHandles = NULL;
        desc->memHandleNum = 0;
        if (EndpointDescInit(&desc->localEndpoint, 1) != 0 ||
            EndpointDescInit(&desc->remoteEndpoint, 1) != 0)
            return HCCL_E_INTERNAL;
    }
    return HCCL_SUCCESS;
}

/**
 * Connect to other ranks. Returns when every listed channel is connected, at both ends; each peer
 * must make the matching call. List all peers in one call, or use the same order of calls on both
 * sides. A channel that exists already is returned again; k equal descriptions give k channels.
 *
 * @param comm          in   communicator
 * @param engine             who will use the channels; AICPU and AICPU_TS are one
 * @param channelDescs  in   [channelNum] from HcclChannelDescInit; not needed after the call
 * @param channelNum         1 to 1048576
 * @param channels      out  [channelNum]; they live as long as the communicator
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL; HCCL_E_PARA: a number or a description is not acceptable;
 *         HCCL_E_TIMEOUT: a peer did not come within HCCL_CONNECT_TIMEOUT; HCCL_E_REMOTE: a peer
 *         has died or ended, or the communicator has failed; HCCL_E_NOT_SUPPORT: engine AIV or
 *         CCU, or a peer on another host.
 * Threads: calls on one communicator must be serial, with HcclChannelQuery and Destroy too.
 * Source:  spec, control plane, sections 10.1 and 10.2.
 */
HcclResult HcclChannelAcquire(HcclComm comm, CommEngine engine, const HcclChannelDesc *channelDescs,
                              uint32_t channelNum, ChannelHandle *channels);

/**
 * Look up channels that HcclChannelAcquire would return without connecting. Does not wait.
 *
 * @param comm          in   communicator
 * @param engine             as acquired
 * @param channelDescs  in   [channelNum] as acquired
 * @param channelNum         1 to 1048576
 * @param channels      out  [channelNum]; 0: there is none
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL; HCCL_E_PARA: as HcclChannelAcquire.
 * Threads: calls on one communicator must be serial.
 * Source:  spec, control plane, section 10.3.
 */
HcclResult HcclChannelQuery(HcclComm comm, CommEngine engine, const HcclChannelDesc *channelDescs,
                            uint32_t channelNum, ChannelHandle *channels);

/**
 * Give back channels before the communicator ends. Hardware can do so for engine CCU only; a soft
 * NPU for all. Goes through the whole list.
 *
 * @param comm        in  communicator
 * @param channels    in  [channelNum] with nothing in flight
 * @param channelNum      channels
 *
 * @return HCCL_SUCCESS; or the first error: HCCL_E_PTR: NULL; HCCL_E_PARA: channelNum is 0;
 *         HCCL_E_NOT_FOUND: no such channel, or it is destroyed already.
 * Threads: calls on one communicator must be serial.
 * Source:  spec, control plane, section 10.3.
 */
HcclResult HcclChannelDestroy(HcclComm comm, const ChannelHandle *channels, uint32_t channelNum);

/**
 * Where the peer's HCCL buffer is, for use as remote address on this channel.
 *
 * @param comm     in   communicator
 * @param channel  in   of this communicator
 * @param buffer   out  start; with memory semantics the local mapping of it
 * @param size     out  bytes
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL or channel 0; HCCL_E_NOT_FOUND: no such channel;
 *         HCCL_E_INTERNAL: the peer has not offered it.
 * Threads: safe.
 * Source:  spec, control plane, section 10.4.
 */
HcclResult HcclChannelGetHcclBuffer(HcclComm comm, ChannelHandle channel, void **buffer,
                                    uint64_t *size);

/**
 * All memory that the peer offers on this channel: its HCCL buffer first, with tag "HcclBuffer",
 * then what it had registered, in its order and with its tags.
 *
 * @param comm        in   communicator
 * @param channel     in   of this communicator
 * @param memNum      out  entries
 * @param remoteMems  out  [memNum] ranges; the library's, until the channel ends
 * @param memTags     out  [memNum] strings; likewise
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL or channel 0; HCCL_E_NOT_FOUND: no such channel.
 * Threads: safe.
 * Source:  spec, control plane, section 10.4.
 */
HcclResult HcclChannelGetRemoteMems(HcclComm comm, ChannelHandle channel, uint32_t *memNum,
                                    CommMem **remoteMems, char ***memTags);

/**
 * Make an option object with everything at its default.
 *
 * @param config  out  end with HcclChannelConfigDestroy, at any time after its use
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL; HCCL_E_MEMORY.
 * Threads: safe.
 * Source:  spec, control plane, section 10.5.
 */
HcclResult HcclChannelConfigCreate(HcclChannelConfig *config);

/**
 * Free an option object. Channels made with it are not concerned.
 *
 * @param config  in  NULL does nothing
 *
 * @return HCCL_SUCCESS.
 * Threads: not while another call uses the object.
 * Source:  spec, control plane, section 10.5.
 */
HcclResult HcclChannelConfigDestroy(HcclChannelConfig config);

/**
 * Set an integer option.
 *
 * @param config  in  option object
 * @param type        HCCL_CHANNEL_CONFIG_TYPE_IS_SHARED_QUEUE
 * @param value       not 0: channels with the same tag share one send queue
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: config is NULL; HCCL_E_PARA: not an integer option.
 * Threads: calls on one object must be serial.
 * Source:  spec, control plane, section 10.5.
 */
HcclResult HcclChannelConfigSetInt(HcclChannelConfig config, HcclChannelConfigType type,
                                   uint32_t value);

/**
 * Set a string option.
 *
 * @param config  in  option object
 * @param type        HCCL_CHANNEL_CONFIG_TYPE_SHARED_QUEUE_TAG
 * @param value   in  1 to 255 bytes, copied
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL; HCCL_E_PARA: not a string option, or its length.
 * Threads: calls on one object must be serial.
 * Source:  spec, control plane, section 10.5.
 */
HcclResult HcclChannelConfigSetStr(HcclChannelConfig config, HcclChannelConfigType type,
                                   const char *value);

/**
 * HcclChannelAcquire with options. Channels that share a queue are used serially.
 *
 * @param config  in  NULL: no options; not needed after the call. The others: see there
 *
 * @return as HcclChannelAcquire; with a shared queue also HCCL_E_PARA: no tag, or local endpoints
 *         that differ; HCCL_E_NOT_SUPPORT: another engine than AIV or protocol than UB_CTP.
 * Threads: calls on one communicator must be serial.
 * Source:  spec, control plane, section 10.5.
 */
HcclResult HcclChannelAcquireWithConfig(HcclComm comm, CommEngine engine,
                                        const HcclChannelDesc *channelDescs, uint32_t channelNum,
                                        HcclChannelConfig config, ChannelHandle *channels);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
