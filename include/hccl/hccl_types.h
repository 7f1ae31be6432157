/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hccl_types: result codes, data types and the records of the communicator interface.
 *
 * Constants are typed objects in C++ (programs declare local constants of the same names) and
 * enumerators or macros in C, usable as array bounds.
 *
 * Source: spec, types, sections 2, 3.1, 3.2, 3.6, 4 and 5.5.
 */
#ifndef HCCL_TYPES_H_
#define HCCL_TYPES_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What every Hccl and Hcomm call returns, the latter as HcommResult or int32_t. */
typedef enum {
    HCCL_SUCCESS = 0,              /* done, or accepted where the call only queues */
    HCCL_E_PARA = 1,               /* an argument has a value that is not acceptable */
    HCCL_E_PTR = 2,                /* a pointer or handle that is needed is null */
    HCCL_E_MEMORY = 3,             /* an allocation or a copy failed */
    HCCL_E_INTERNAL = 4,           /* a state that should not occur */
    HCCL_E_NOT_SUPPORT = 5,        /* not available here */
    HCCL_E_NOT_FOUND = 6,          /* what was named does not exist */
    HCCL_E_UNAVAIL = 7,            /* used up, or taken */
    HCCL_E_SYSCALL = 8,            /* the operating system refused */
    HCCL_E_TIMEOUT = 9,            /* a time limit passed */
    HCCL_E_OPEN_FILE_FAILURE = 10, /* a file cannot be opened */
    HCCL_E_TCP_CONNECT = 11,
    HCCL_E_ROCE_CONNECT = 12,
    HCCL_E_TCP_TRANSFER = 13,
    HCCL_E_ROCE_TRANSFER = 14,
    HCCL_E_RUNTIME = 15,   /* a runtime (acl) call failed */
    HCCL_E_DRV = 16,       /* a driver call failed */
    HCCL_E_PROFILING = 17, /* a profiling call failed */
    HCCL_E_CCE = 18,       /* a compute engine call failed */
    HCCL_E_NETWORK = 19,   /* the network layer failed */
    HCCL_E_AGAIN = 20,     /* not now; call again */
    HCCL_E_REMOTE = 21,    /* the network hardware completed an operation with an error */
    HCCL_E_SUSPENDING = 22,
    HCCL_E_OPRETRY_FAIL = 23, /* the operator cannot be retried */
    HCCL_E_OOM = 24,          /* out of memory */
    HCCL_E_IN_STATUS = 1041,  /* a status object has the details */
    HCCL_E_RESERVED           /* end marker */
} HcclResult;

typedef void *HcclComm;          /* a communicator, as one rank sees it */
typedef void *HcclConn;          /* a connection; no function here takes one */
typedef void *HcclCommSymWindow; /* a symmetric window */

/* dst = dst op src, element by element. */
typedef enum {
    HCCL_REDUCE_SUM = 0,
    HCCL_REDUCE_PROD = 1,
    HCCL_REDUCE_MAX = 2,
    HCCL_REDUCE_MIN = 3,
    HCCL_REDUCE_RESERVED = 255
} HcclReduceOp;

/* Element types. 13 is not used. */
typedef enum {
    HCCL_DATA_TYPE_INT8 = 0,
    HCCL_DATA_TYPE_INT16 = 1,
    HCCL_DATA_TYPE_INT32 = 2,
    HCCL_DATA_TYPE_FP16 = 3,
    HCCL_DATA_TYPE_FP32 = 4,
    HCCL_DATA_TYPE_INT64 = 5,
    HCCL_DATA_TYPE_UINT64 = 6,
    HCCL_DATA_TYPE_UINT8 = 7,
    HCCL_DATA_TYPE_UINT16 = 8,
    HCCL_DATA_TYPE_UINT32 = 9,
    HCCL_DATA_TYPE_FP64 = 10,
    HCCL_DATA_TYPE_BFP16 = 11,  /* bfloat16 */
    HCCL_DATA_TYPE_INT128 = 12, /* 16 bytes */
    HCCL_DATA_TYPE_HIF8 = 14,
    HCCL_DATA_TYPE_FP8E4M3 = 15,
    HCCL_DATA_TYPE_FP8E5M2 = 16,
    HCCL_DATA_TYPE_FP8E8M0 = 17,
    HCCL_DATA_TYPE_RESERVED = 255
} HcclDataType;

/* Process-wide settings of HcclSetConfig. */
typedef enum {
    HCCL_DETERMINISTIC = 0, /* 0 off, 1 deterministic, 2 strict order */
    HCCL_CONFIG_RESERVED = 1
} HcclConfig;

union HcclConfigValue {
    int32_t value;
};
typedef union HcclConfigValue HcclConfigValue;

typedef enum { HCCL_SEND = 0, HCCL_RECV = 1, HCCL_SEND_RECV_RESERVED = 2 } HcclSendRecvType;

/* Items of HcclCommConfig. One is supported if it is less than HcclGetCommConfigCapability(). */
typedef enum {
    HCCL_COMM_CONFIG_BUFFER_SIZE = 0,
    HCCL_COMM_CONFIG_DETERMINISTIC = 1,
    HCCL_COMM_CONFIG_COMM_NAME = 2,
    HCCL_COMM_CONFIG_OP_EXPANSION_MODE = 3,
    HCCL_COMM_CONFIG_SUPPORT_INIT_BY_ENV = 4,
    HCCL_COMM_CONFIG_WORLD_RANKID = 5,
    HCCL_COMM_CONFIG_JOBID = 6,
    HCCL_COMM_CONFIG_ACLGRAPH_ZEROCOPY_ENABLE = 7,
    HCCL_COMM_CONFIG_EXEC_TIMEOUT = 8,
    HCCL_COMM_CONFIG_ALGO = 9,
    HCCL_COMM_CONFIG_RETRY = 10,
    HCCL_COMM_CONFIG_BUFFER_NAME = 11,
    HCCL_COMM_CONFIG_RESERVED = 12
} HcclCommConfigCapability;

typedef enum {
    HCCL_COMM_STATUS_READY = 0,
    HCCL_COMM_STATUS_SUSPENDING = 1,
    HCCL_COMM_STATUS_INVALID = 254,
    HCCL_COMM_STATUS_RESERVED = 255
} HcclCommStatus;

/* When a HcclCommStateCallback is called. */
typedef enum {
    HCCL_COMM_STATE_PHASE_INVALID = -1,
    HCCL_COMM_STATE_PHASE_DESTROY_PRE = 0,
    HCCL_COMM_STATE_PHASE_DESTROY_POST = 1,
    HCCL_COMM_STATE_PHASE_RESUME_PRE = 2,
    HCCL_COMM_STATE_PHASE_RESUME_POST = 3
} HcclCommStatePhase;

/* Kinds of operators. 19 is not used. */
typedef enum {
    HCCL_CMD_INVALID = 0,
    HCCL_CMD_BROADCAST = 1,
    HCCL_CMD_ALLREDUCE = 2,
    HCCL_CMD_REDUCE = 3,
    HCCL_CMD_SEND = 4,
    HCCL_CMD_RECEIVE = 5,
    HCCL_CMD_ALLGATHER = 6,
    HCCL_CMD_REDUCE_SCATTER = 7,
    HCCL_CMD_ALLTOALLV = 8,
    HCCL_CMD_ALLTOALLVC = 9,
    HCCL_CMD_ALLTOALL = 10,
    HCCL_CMD_GATHER = 11,
    HCCL_CMD_SCATTER = 12,
    HCCL_CMD_BATCH_SEND_RECV = 13,
    HCCL_CMD_BATCH_PUT = 14,
    HCCL_CMD_BATCH_GET = 15,
    HCCL_CMD_ALLGATHER_V = 16,
    HCCL_CMD_REDUCE_SCATTER_V = 17,
    HCCL_CMD_BATCH_WRITE = 18,
    HCCL_CMD_HALF_ALLTOALLV = 20,
    HCCL_CMD_ALL = 21,
    HCCL_CMD_FINALIZE = 100,
    HCCL_CMD_INTER_GROUP_SYNC = 101,
    HCCL_CMD_INIT = 102,
    HCCL_CMD_BARRIER = 103,
    HCCL_CMD_MAX = 104
} HcclCMDType;

#ifdef __cplusplus
static const uint32_t HCCL_ROOT_INFO_BYTES = 4108;
static const uint32_t COMM_NAME_MAX_LENGTH = 128;
static const uint32_t BUFFER_NAME_MAX_LENGTH = 128;
static const uint32_t UDI_MAX_LENGTH = 128;
static const uint32_t HCCL_COMM_ALGO_MAX_LENGTH = 1600;
static const uint32_t HCCL_COMM_RETRY_ENABLE_MAX_LENGTH = 50;
static const uint32_t HCCL_COMM_RETRY_PARAMS_MAX_LENGTH = 128;
static const uint32_t HCCL_COMM_CONFIG_INFO_BYTES = 24;
static const uint32_t HCCL_COMM_CONFIG_MAGIC_WORD = 0xf0f0f0f0;
static const uint32_t HCCL_COMM_CONFIG_VERSION = 11;
static const uint32_t HCCL_COMM_DEFAULT_BUFFSIZE = 200; /* MB */
static const uint32_t HCCL_COMM_DEFAULT_DETERMINISTIC = 0;
static const uint32_t HCCL_COMM_DEFAULT_OP_EXPANSION_MODE = 0;
static const uint32_t HCCL_COMM_BUFFSIZE_CONFIG_NOT_SET = 0xffffffff;
static const uint32_t HCCL_COMM_DETERMINISTIC_CONFIG_NOT_SET = 0xffffffff;
static const uint32_t HCCL_COMM_TRAFFIC_CLASS_CONFIG_NOT_SET = 0xffffffff;
static const uint32_t HCCL_COMM_SERVICE_LEVEL_CONFIG_NOT_SET = 0xffffffff;
static const uint32_t HCCL_COMM_QOS_CONFIG_NOT_SET = 0xffffffff;
static const uint32_t HCCL_COMM_SQ_DEPTH_CONFIG_NOT_SET = 0xffffffff;
static const int32_t HCCL_COMM_EXECTIMEOUT_CONFIG_NOT_SET = -1;
static const uint64_t HCCL_DEFAULT_SYMMETRIC_MEMORY_STRIDE = 16; /* GB */
#else
enum {
    HCCL_ROOT_INFO_BYTES = 4108,
    COMM_NAME_MAX_LENGTH = 128,
    BUFFER_NAME_MAX_LENGTH = 128,
    UDI_MAX_LENGTH = 128,
    HCCL_COMM_ALGO_MAX_LENGTH = 1600,
    HCCL_COMM_RETRY_ENABLE_MAX_LENGTH = 50,
    HCCL_COMM_RETRY_PARAMS_MAX_LENGTH = 128,
    HCCL_COMM_CONFIG_INFO_BYTES = 24,
    HCCL_COMM_CONFIG_VERSION = 11,
    HCCL_COMM_DEFAULT_BUFFSIZE = 200, /* MB */
    HCCL_COMM_DEFAULT_DETERMINISTIC = 0,
    HCCL_COMM_DEFAULT_OP_EXPANSION_MODE = 0,
    HCCL_COMM_EXECTIMEOUT_CONFIG_NOT_SET = -1
};
#define HCCL_COMM_CONFIG_MAGIC_WORD ((uint32_t)0xf0f0f0f0)
#define HCCL_COMM_BUFFSIZE_CONFIG_NOT_SET ((uint32_t)0xffffffff)
#define HCCL_COMM_DETERMINISTIC_CONFIG_NOT_SET ((uint32_t)0xffffffff)
#define HCCL_COMM_TRAFFIC_CLASS_CONFIG_NOT_SET ((uint32_t)0xffffffff)
#define HCCL_COMM_SERVICE_LEVEL_CONFIG_NOT_SET ((uint32_t)0xffffffff)
#define HCCL_COMM_QOS_CONFIG_NOT_SET ((uint32_t)0xffffffff)
#define HCCL_COMM_SQ_DEPTH_CONFIG_NOT_SET ((uint32_t)0xffffffff)
#define HCCL_DEFAULT_SYMMETRIC_MEMORY_STRIDE ((uint64_t)16) /* GB */
#endif

/* Opaque; made by HcclGetRootInfo on one rank and carried to the others, all of it. */
typedef struct HcclRootInfoDef {
    char internal[HCCL_ROOT_INFO_BYTES];
} HcclRootInfo;

/*
 * Settings of one communicator. Fill with HcclCommConfigInit, then change what you want; strings
 * end with NUL inside their arrays, "" means not set.
 */
typedef struct HcclCommConfigDef {
    char reserved[HCCL_COMM_CONFIG_INFO_BYTES]; /* size_t size; uint32_t magic, version; 0 */
    uint32_t hcclBufferSize;                    /* MB, at least 1; twice as much is used */
    uint32_t hcclDeterministic;                 /* 0, 1, 2 as HCCL_DETERMINISTIC */
    char hcclCommName[COMM_NAME_MAX_LENGTH];    /* since version 2; unique */
    char hcclUdi[UDI_MAX_LENGTH];               /* 3; free text */
    uint32_t hcclOpExpansionMode;               /* 4; 0 default; not HcclOpExpansionMode */
    uint32_t hcclRdmaTrafficClass;              /* 5; 0 to 255, a multiple of 4 */
    uint32_t hcclRdmaServiceLevel;              /* 5; 0 to 7 */
    uint32_t hcclWorldRankID;                   /* 6; a hint */
    uint64_t hcclJobID;                         /* 6; a hint */
    uint8_t aclGraphZeroCopyEnable;             /* 7; 0 or 1 */
    int32_t hcclExecTimeOut;                    /* 8; seconds */
    char hcclAlgo[HCCL_COMM_ALGO_MAX_LENGTH];   /* 8; as HCCL_ALGO */
    char hcclRetryEnable[HCCL_COMM_RETRY_ENABLE_MAX_LENGTH]; /* 8; "L1:0, L2:0" */
    char hcclRetryParams[HCCL_COMM_RETRY_PARAMS_MAX_LENGTH]; /* 8; "MaxCnt:1, ..." */
    char hcclBufferName[BUFFER_NAME_MAX_LENGTH]; /* 9; same name: one buffer, one stream */
    uint32_t hcclQos;                            /* 10; 0 to 7 */
    uint64_t hcclSymWinMaxMemSizePerRank;        /* 10; GB, at least 1 */
    uint32_t hcclChannelSqDepth;                 /* 11; rounded up to a power of two */
} HcclCommConfig;

/* One item of HcclBatchSendRecv. */
typedef struct HcclSendRecvItemDef {
    HcclSendRecvType sendRecvType;
    void *buf;      /* device memory */
    uint64_t count; /* elements */
    HcclDataType dataType;
    uint32_t remoteRank;
} HcclSendRecvItem;

#ifdef __cplusplus
}
#endif

#endif
