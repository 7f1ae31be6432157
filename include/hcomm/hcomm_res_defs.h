/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hcomm_res_defs: handles, engines, protocols, addresses, endpoints and memory descriptions.
 *
 * A versioned record begins with a CommAbiHeader, which its initialiser fills; bytes an
 * initialiser leaves all ones mean "not set, use the default".
 *
 * Source: spec, types, sections 2, 3.4, 4, 5.1 and 7.
 */
#ifndef HCOMM_RES_DEFS_H
#define HCOMM_RES_DEFS_H

#include <arpa/inet.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "securec.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t HcommResult; /* the numbers of HcclResult */

typedef void *EndpointHandle; /* a local network endpoint */
typedef void *HcommMemHandle; /* memory registered on an endpoint */
typedef void *HcommSocket;    /* a control socket that the caller made; may be NULL */

#ifndef CHANNEL_HANDLE_DEFINED
#define CHANNEL_HANDLE_DEFINED
typedef uint64_t ChannelHandle; /* 0: none */
#endif

#ifndef THREAD_HANDLE_DEFINED
#define THREAD_HANDLE_DEFINED
typedef uint64_t ThreadHandle; /* 0: none */
#endif

#ifdef __cplusplus
static const uint32_t COMM_ADDR_EID_LEN = 16;
static const uint32_t HCOMM_THREAD_CONFIG_MAGIC_WORD = 0x0f0f0f2f;
static const uint32_t HCOMM_THREAD_CONFIG_VERSION = 1;
#else
enum {
    COMM_ADDR_EID_LEN = 16,
    HCOMM_THREAD_CONFIG_MAGIC_WORD = 0x0f0f0f2f,
    HCOMM_THREAD_CONFIG_VERSION = 1
};
#endif

/* First member of every versioned record. */
typedef struct {
    uint32_t version;   /* of the layout of the record */
    uint32_t magicWord; /* the kind of record; a few kinds share one */
    uint32_t size;      /* of the record as the caller compiled it, bytes */
    uint32_t reserved;  /* 0 */
} CommAbiHeader;

/* One thread of HcclThreadAcquireWithConfig. */
typedef struct {
    CommAbiHeader header;
    uint16_t notifyNumPerThread; /* notifies this thread shall own */
    uint8_t reserved[14];        /* 0 */
} ThreadConfig;

typedef enum {
    THREAD_TYPE_INVALID = -1,
    THREAD_TYPE_TS = 0 /* run by the task scheduler */
} ThreadType;

/* Who issues the tasks. */
typedef enum {
    COMM_ENGINE_RESERVED = -1,
    COMM_ENGINE_CPU = 0,      /* the host, straight to the network card */
    COMM_ENGINE_CPU_TS = 1,   /* the host, through the device's task scheduler */
    COMM_ENGINE_AICPU = 2,    /* a kernel on the device's control CPU */
    COMM_ENGINE_AICPU_TS = 3, /* the same, through the task scheduler */
    COMM_ENGINE_AIV = 4,      /* the vector cores */
    COMM_ENGINE_CCU = 5       /* the collective accelerator */
} CommEngine;

typedef enum {
    COMM_PROTOCOL_RESERVED = -1,
    COMM_PROTOCOL_HCCS = 0, /* chip to chip */
    COMM_PROTOCOL_ROCE = 1, /* RDMA over Ethernet */
    COMM_PROTOCOL_PCIE = 2,
    COMM_PROTOCOL_SIO = 3, /* die to die */
    COMM_PROTOCOL_UB_CTP = 4,
    COMM_PROTOCOL_UBC_CTP = COMM_PROTOCOL_UB_CTP,
    COMM_PROTOCOL_UBC_TP = 5,    /* old; not for new programs */
    COMM_PROTOCOL_UB_MEM = 6,    /* memory semantics */
    COMM_PROTOCOL_UBOE = 7,      /* over Ethernet */
    COMM_PROTOCOL_HCCS_ONLY = 8, /* HCCS between the dies of one card too */
    COMM_PROTOCOL_UB_RTP = 9,
    COMM_PROTOCOL_UBG = COMM_PROTOCOL_UB_RTP
} CommProtocol;

/* Says which member of CommAddr holds the address. */
typedef enum {
    COMM_ADDR_TYPE_RESERVED = -1,
    COMM_ADDR_TYPE_IP_V4 = 0,
    COMM_ADDR_TYPE_IP_V6 = 1,
    COMM_ADDR_TYPE_ID = 2,
    COMM_ADDR_TYPE_EID = 3
} CommAddrType;

typedef struct {
    CommAddrType type;
    union {
        uint8_t raws[36];
        struct in_addr addr;   /* network byte order */
        struct in6_addr addr6; /* network byte order */
        uint32_t id;
        uint8_t eid[COMM_ADDR_EID_LEN];
    };
} CommAddr;

typedef enum {
    ENDPOINT_LOC_TYPE_RESERVED = -1,
    ENDPOINT_LOC_TYPE_DEVICE = 0,
    ENDPOINT_LOC_TYPE_HOST = 1
} EndpointLocType;

typedef struct {
    EndpointLocType locType;
    union {
        uint8_t raws[60];
        struct {
            uint32_t devPhyId;
            uint32_t superDevId;
            uint32_t serverIdx;
            uint32_t superPodIdx;
        } device;
        struct {
            uint32_t id;
        } host;
    };
} EndpointLoc;

/* One end of a link: what it speaks, its address, where it sits. */
typedef struct {
    CommProtocol protocol;
    CommAddr commAddr;
    EndpointLoc loc;
    union {
        uint8_t raws[52]; /* room for later members */
    };
} EndpointDesc;

typedef enum {
    COMM_MEM_TYPE_INVALID = -1,
    COMM_MEM_TYPE_DEVICE = 0,
    COMM_MEM_TYPE_HOST = 1
} CommMemType;

typedef struct {
    CommMemType type;
    void *addr;
    uint64_t size; /* bytes */
} CommMem;

/* Which side of a control connection this one is. */
typedef enum {
    HCOMM_SOCKET_ROLE_RESERVED = -1,
    HCOMM_SOCKET_ROLE_CLIENT = 0, /* connects */
    HCOMM_SOCKET_ROLE_SERVER = 1  /* listens */
} HcommSocketRole;

typedef enum {
    HCOMM_ENDPOINT_FEATURE_INVALID = -1,
    HCOMM_ENDPOINT_FEATURE_NDA = 0 /* the network card reaches device memory without the host */
} HcommEndpointFeatureType;

/* What HcommThreadResGetInfo and HcclThreadResGetInfo can tell. */
typedef enum {
    THREAD_RES_TYPE_INVALID = -1,
    THREAD_RES_TYPE_STREAM = 0 /* the aclrtStream under the thread */
} ThreadResType;

/**
 * Make `num` records ready for HcclThreadAcquireWithConfig: all zero, header filled, no notifies.
 *
 * @param config  out  [num] records of the caller
 * @param num          records; 0 does nothing
 *
 * @return 0; HCCL_E_PTR: config is NULL, even when num is 0; HCCL_E_INTERNAL: the fill failed.
 * Threads: safe for different records.
 * Source:  spec, types, section 7.
 */
static inline HcommResult
ThreadConfigInit(ThreadConfig *config, uint32_t num)
{
    if (config == NULL)
        return 2; /* HCCL_E_PTR */
    for (uint32_t i = 0; i < num; i++) {
        if (memset_s(&config[i], sizeof(config[i]), 0, sizeof(config[i])) != EOK)
            return 4; /* HCCL_E_INTERNAL */
        config[i].header.version = HCOMM_THREAD_CONFIG_VERSION;
        config[i].header.magicWord = HCOMM_THREAD_CONFIG_MAGIC_WORD;
        config[i].header.size = (uint32_t)sizeof(config[i]);
        config[i].header.reserved = 0;
        config[i].notifyNumPerThread = 0;
    }
    return 0;
}

/**
 * Make `num` endpoint descriptions empty: all bytes ones, and protocol, address type and location
 * type "reserved". Fill in these three and the members they select before use.
 *
 * @param endpoint  out  [num] descriptions of the caller; may be NULL if num is 0
 * @param num            descriptions
 *
 * @return 0; HCCL_E_PTR: endpoint is NULL and num > 0; HCCL_E_INTERNAL: the fill failed.
 * Threads: safe for different descriptions.
 * Source:  spec, types, section 7.
 */
static inline HcommResult
EndpointDescInit(EndpointDesc *endpoint, uint32_t num)
{
    if (endpoint == NULL && num > 0)
        return 2; /* HCCL_E_PTR */
    for (uint32_t i = 0; i < num; i++) {
        if (memset_s(&endpoint[i], sizeof(endpoint[i]), 0xFF, sizeof(endpoint[i])) != EOK)
            return 4; /* HCCL_E_INTERNAL */
        endpoint[i].protocol = COMM_PROTOCOL_RESERVED;
        endpoint[i].commAddr.type = COMM_ADDR_TYPE_RESERVED;
        endpoint[i].loc.locType = ENDPOINT_LOC_TYPE_RESERVED;
    }
    return 0;
}

#ifdef __cplusplus
}
#endif

#endif
