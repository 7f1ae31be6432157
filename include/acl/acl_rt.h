/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * acl_rt: the runtime: devices, contexts, streams, events, notifies, memory, kernels.
 *
 * What holds everywhere and is not said again at each function:
 *
 *  - The value returned is 0 or an error code. A NULL where a pointer is required, a size of 0 or
 *    an enumerator out of range is ACL_ERROR_INVALID_PARAM unless the comment says otherwise;
 *    such a call changes nothing and does not touch the thread's last error.
 *  - Each thread has its own current context. A function that says "current" in its comment answers
 *    ACL_ERROR_RT_CONTEXT_NULL when there is none or when it has died.
 *  - A NULL stream is the default stream of the current context. A stream runs its tasks in order;
 *    streams are not ordered among each other, the default one included.
 *  - A handle that was destroyed or is of another kind is ACL_ERROR_RT_INVALID_HANDLE.
 *  - A queued task that fails does so later: the next synchronising call on its stream tells.
 *  - "Threads: any" means that calls may overlap. Who queues to one stream from two threads
 * arranges the order himself.
 *  - Device ids are user ids: positions among the devices this process may see.
 */
#ifndef ACL_ACL_RT_H
#define ACL_ACL_RT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acl_base.h"
#include "acl_rt_allocator.h"

#define ACL_MAJOR_VERSION 1
#define ACL_MINOR_VERSION 17
#define ACL_PATCH_VERSION 0

/* Events: aclrtCreateEventWithFlag and aclrtCreateEventExWithFlag. */
#define ACL_EVENT_SYNC 0x1                    /* streams may wait for it */
#define ACL_EVENT_CAPTURE_STREAM_PROGRESS 0x2 /* follows a stream's progress */
#define ACL_EVENT_TIME_LINE 0x8               /* keeps the time of its record */
#define ACL_EVENT_DEVICE_USE_ONLY 0x10        /* used by device code alone */
#define ACL_EVENT_EXTERNAL 0x20               /* joins captured graphs to the outside; alone */
#define ACL_EVENT_IPC 0x40                    /* between processes; alone */

#define ACL_EVENT_RECORD_DEFAULT 0
#define ACL_EVENT_RECORD_EXTERNAL 1
#define ACL_EVENT_WAIT_DEFAULT 0
#define ACL_EVENT_WAIT_EXTERNAL 1
#define ACL_IPC_EVENT_HANDLE_SIZE 64 /* bytes */

/* Streams: aclrtCreateStreamWithConfig. */
#define ACL_STREAM_FAST_LAUNCH 0x1      /* resources for launches in advance */
#define ACL_STREAM_FAST_SYNC 0x2        /* synchronising polls */
#define ACL_STREAM_PERSISTENT 0x4       /* tasks stay and run with a model */
#define ACL_STREAM_HUGE 0x8             /* a longer queue; no effect */
#define ACL_STREAM_CPU_SCHEDULE 0x10    /* reserved */
#define ACL_STREAM_DEVICE_USE_ONLY 0x20 /* used by device code alone */

/* aclrtValueWait. */
#define ACL_STREAM_WAIT_VALUE_GEQ 0
#define ACL_STREAM_WAIT_VALUE_EQ 1
#define ACL_STREAM_WAIT_VALUE_AND 2
#define ACL_STREAM_WAIT_VALUE_NOR 3

/* aclrtSetStreamFailureMode. */
#define ACL_CONTINUE_ON_FAILURE 0
#define ACL_STOP_ON_FAILURE 1

/* aclrtCreateNotify. */
#define ACL_NOTIFY_DEFAULT 0
#define ACL_NOTIFY_DEVICE_USE_ONLY 1

#define ACL_DEV_FEATURE_SUPPORT 1
#define ACL_DEV_FEATURE_NOT_SUPPORT 0

/* Sharing between processes. The bit that turns the check of process ids off differs: 2 for
 * notifies, 1 for memory. */
#define ACL_RT_NOTIFY_EXPORT_FLAG_DEFAULT 0x0UL
#define ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION 0x02UL
#define ACL_RT_NOTIFY_IMPORT_FLAG_DEFAULT 0x0UL
#define ACL_RT_NOTIFY_IMPORT_FLAG_ENABLE_PEER_ACCESS 0x02UL
#define ACL_RT_IPC_MEM_EXPORT_FLAG_DEFAULT 0x0UL
#define ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION 0x1UL
#define ACL_RT_IPC_MEM_IMPORT_FLAG_DEFAULT 0x0UL
#define ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS 0x1UL
#define ACL_RT_VMM_EXPORT_FLAG_DEFAULT 0x0UL
#define ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION 0x1UL

#define ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_SIO 0
#define ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_HCCS 1
#define ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_UB_ONE_PORT_PATH 2
#define ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_UB_MULTI_PORT_PATH 3

/* aclrtHostRegisterV2. */
#define ACL_HOST_REG_MAPPED 0x2UL
#define ACL_HOST_REG_IOMEMORY 0x4UL
#define ACL_HOST_REG_READONLY 0x8UL
#define ACL_HOST_REG_PINNED 0x10000000UL

#define ACL_MDLRI_DEBUG_JSON_PRINT_SUMMARY 0x0UL
#define ACL_MDLRI_DEBUG_JSON_PRINT_VERBOSE 0x1UL

#define ACL_RT_MAX_RECORD_PA_NUM_PER_DEV 20
#define ACL_RT_MEM_ATTACH_GLOBAL 0x01

/* aclrtMemMapSelectedLink: 0 SIO, 1 HCCS. */
#define ACL_RT_MEM_LINK_IDX_0 0
#define ACL_RT_MEM_LINK_IDX_1 1

/* Values of aclrtGetDeviceInfo. */
#define ACL_HOST_DEVICE_CONNECT_TYPE_PCIE 0
#define ACL_HOST_DEVICE_CONNECT_TYPE_HCCS 1
#define ACL_HOST_DEVICE_CONNECT_TYPE_UB 2
#define ACL_DEVICE_FORM_FACTOR_POD 0
#define ACL_DEVICE_FORM_FACTOR_A_K 1
#define ACL_DEVICE_FORM_FACTOR_A_X 2
#define ACL_DEVICE_FORM_FACTOR_PCIE_CARD 3

/* aclrtGetDevicesTopo. */
#define ACL_RT_DEVS_TOPOLOGY_HCCS 0x01ULL /* direct HCCS link */
#define ACL_RT_DEVS_TOPOLOGY_PIX 0x02ULL  /* one PCIe switch */
#define ACL_RT_DEVS_TOPOLOGY_PIB 0x04ULL
#define ACL_RT_DEVS_TOPOLOGY_PHB 0x08ULL     /* a host bridge */
#define ACL_RT_DEVS_TOPOLOGY_SYS 0x10ULL     /* across sockets */
#define ACL_RT_DEVS_TOPOLOGY_SIO 0x20ULL     /* two dies of one package */
#define ACL_RT_DEVS_TOPOLOGY_HCCS_SW 0x40ULL /* an HCCS switch */

/* What a kernel object was built for. */
#define ACL_RT_BINARY_MAGIC_ELF_AICORE 0x43554245
#define ACL_RT_BINARY_MAGIC_ELF_VECTOR_CORE 0x41415246
#define ACL_RT_BINARY_MAGIC_ELF_CUBE_CORE 0x41494343

#define MAX_MEM_UCE_INFO_ARRAY_SIZE 128
#define UCE_INFO_RESERVED_SIZE 14
#define ACL_RT_MEM_UCE_INFO_MAX_NUM 20
#define ACL_RT_CMO_MAX_BARRIER_NUM 6

#define ACL_RT_MEM_TYPE_DEV 0x2
#define ACL_RT_MEM_TYPE_DVPP 0x8
#define ACL_RT_MEM_TYPE_RSVD 0x10

#define ACL_PKG_VERSION_MAX_SIZE 128
#define ACL_PKG_VERSION_PARTS_MAX_SIZE 64

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Enumerations: devices ------------------------------------------------------------------ */

typedef enum aclrtRunMode {
    ACL_DEVICE = 0,
    ACL_HOST = 1,
} aclrtRunMode;

typedef enum aclrtTsId {
    ACL_TS_ID_AICORE = 0,
    ACL_TS_ID_AIVECTOR = 1,
    ACL_TS_ID_RESERVED = 2,
} aclrtTsId;

typedef enum aclrtDevAttr {
    ACL_DEV_ATTR_AICPU_CORE_NUM = 1,
    ACL_DEV_ATTR_AICORE_CORE_NUM = 101,
    ACL_DEV_ATTR_CUBE_CORE_NUM = 102,
    ACL_DEV_ATTR_VECTOR_CORE_NUM = 201,
    ACL_DEV_ATTR_WARP_SIZE = 202,
    ACL_DEV_ATTR_MAX_THREAD_PER_VECTOR_CORE = 203,
    ACL_DEV_ATTR_LOCAL_MEM_PER_VECTOR_CORE = 204, /* old name of UBUF_PER_VECTOR_CORE */
    ACL_DEV_ATTR_UBUF_PER_VECTOR_CORE = 204,
    ACL_DEV_ATTR_MAX_GRID_DIM_X = 205,
    ACL_DEV_ATTR_MAX_GRID_DIM_Y = 206,
    ACL_DEV_ATTR_MAX_GRID_DIM_Z = 207,
    ACL_DEV_ATTR_MAX_BLOCK_PER_GRID = 208,
    ACL_DEV_ATTR_MAX_THREADS_PER_BLOCK = 209,
    ACL_DEV_ATTR_MAX_BLOCK_DIM_X = 210,
    ACL_DEV_ATTR_MAX_BLOCK_DIM_Y = 211,
    ACL_DEV_ATTR_MAX_BLOCK_DIM_Z = 212,
    ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE = 301,
    ACL_DEV_ATTR_L2_CACHE_SIZE = 302,
    ACL_DEV_ATTR_SMP_ID = 401,
    ACL_DEV_ATTR_PHY_CHIP_ID = 402,
    ACL_DEV_ATTR_SUPER_POD_DEVIDE_ID = 403, /* old, misspelt */
    ACL_DEV_ATTR_SUPER_POD_DEVICE_ID = 403,
    ACL_DEV_ATTR_SUPER_POD_SERVER_ID = 404,
    ACL_DEV_ATTR_SUPER_POD_ID = 405,
    ACL_DEV_ATTR_CUST_OP_PRIVILEGE = 406,
    ACL_DEV_ATTR_MAINBOARD_ID = 407,
    ACL_DEV_ATTR_HD_CONNECT_TYPE = 408,
    ACL_DEV_ATTR_DEVICE_FORM_FACTOR = 409,
    ACL_DEV_ATTR_IS_VIRTUAL = 501,
    ACL_DEV_ATTR_NPU_ARCH = 601,
} aclrtDevAttr;

typedef enum aclrtDevFeatureType {
    ACL_FEATURE_TSCPU_TASK_UPDATE_SUPPORT_AIC_AIV = 1,
    ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV = 21,
} aclrtDevFeatureType;

typedef enum aclrtDevResLimitType {
    ACL_RT_DEV_RES_CUBE_CORE = 0,
    ACL_RT_DEV_RES_VECTOR_CORE = 1,
} aclrtDevResLimitType;

typedef enum aclrtDeviceLimit {
    ACL_RT_DEV_LIMIT_SIMT_STACK_SIZE = 0,
    ACL_RT_DEV_LIMIT_SIMT_DVG_WARP_STACK_SIZE = 1,
    ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE = 2,
    ACL_RT_DEV_LIMIT_SIMD_PRINTF_FIFO_SIZE_PER_CORE = 3,
    ACL_RT_DEV_LIMIT_SIMT_PRINTF_FIFO_SIZE = 4,
} aclrtDeviceLimit;

typedef enum aclrtDeviceStatus {
    ACL_RT_DEVICE_STATUS_NORMAL = 0,
    ACL_RT_DEVICE_STATUS_ABNORMAL = 1,
    ACL_RT_DEVICE_STATUS_END = 0xFFFF,
} aclrtDeviceStatus;

typedef enum aclrtDeviceState {
    ACL_RT_DEVICE_STATE_SET_PRE = 0,
    ACL_RT_DEVICE_STATE_SET_POST = 1,
    ACL_RT_DEVICE_STATE_RESET_PRE = 2,
    ACL_RT_DEVICE_STATE_RESET_POST = 3,
} aclrtDeviceState;

typedef enum aclrtDeviceTaskAbortStage {
    ACL_RT_DEVICE_TASK_ABORT_PRE = 0,
    ACL_RT_DEVICE_TASK_ABORT_POST = 1,
} aclrtDeviceTaskAbortStage;

typedef enum aclrtFloatOverflowMode {
    ACL_RT_OVERFLOW_MODE_SATURATION = 0,
    ACL_RT_OVERFLOW_MODE_INFNAN = 1,
    ACL_RT_OVERFLOW_MODE_UNDEF = 2,
} aclrtFloatOverflowMode;

typedef enum aclrtGroupAttr {
    ACL_GROUP_AICORE_INT = 0,
    ACL_GROUP_AIV_INT = 1,
    ACL_GROUP_AIC_INT = 2,
    ACL_GROUP_SDMANUM_INT = 3,
    ACL_GROUP_ASQNUM_INT = 4,
    ACL_GROUP_GROUPID_INT = 5,
} aclrtGroupAttr;

typedef enum aclrtHacType {
    ACL_RT_HAC_TYPE_STARS = 0,
    ACL_RT_HAC_TYPE_AICPU = 1,
    ACL_RT_HAC_TYPE_AIC = 2,
    ACL_RT_HAC_TYPE_AIV = 3,
    ACL_RT_HAC_TYPE_PCIEDMA = 4,
    ACL_RT_HAC_TYPE_RDMA = 5,
    ACL_RT_HAC_TYPE_SDMA = 6,
    ACL_RT_HAC_TYPE_DVPP = 7,
    ACL_RT_HAC_TYPE_UDMA = 8,
    ACL_RT_HAC_TYPE_CCU = 9,
} aclrtHacType;

typedef enum aclrtHostMemMapCapability {
    ACL_RT_HOST_MEM_MAP_NOT_SUPPORTED = 0,
    ACL_RT_HOST_MEM_MAP_SUPPORTED = 1,
} aclrtHostMemMapCapability;

typedef enum aclrtAtomicOperationCapability {
    ACL_RT_ATOMIC_CAPABILITY_SIGNED = 1 << 0,
    ACL_RT_ATOMIC_CAPABILITY_UNSIGNED = 1 << 1,
    ACL_RT_ATOMIC_CAPABILITY_REDUCATION = 1 << 2, /* old, misspelt */
    ACL_RT_ATOMIC_CAPABILITY_REDUCTION = 1 << 2,
    ACL_RT_ATOMIC_CAPABILITY_SCALAR8 = 1 << 3,
    ACL_RT_ATOMIC_CAPABILITY_SCALAR16 = 1 << 4,
    ACL_RT_ATOMIC_CAPABILITY_SCALAR32 = 1 << 5,
    ACL_RT_ATOMIC_CAPABILITY_SCALAR64 = 1 << 6,
    ACL_RT_ATOMIC_CAPABILITY_SCALAR128 = 1 << 7,
    ACL_RT_ATOMIC_CAPABILITY_VECTOR32X4 = 1 << 8,
} aclrtAtomicOperationCapability;

typedef enum aclrtAtomicOperation {
    ACL_RT_ATOMIC_OPERATION_INTEGER_ADD = 0,
    ACL_RT_ATOMIC_OPERATION_INTEGER_MIN = 1,
    ACL_RT_ATOMIC_OPERATION_INTEGER_MAX = 2,
    ACL_RT_ATOMIC_OPERATION_INTEGER_INCREMENT = 3,
    ACL_RT_ATOMIC_OPERATION_INTEGER_DECREMENT = 4,
    ACL_RT_ATOMIC_OPERATION_AND = 5,
    ACL_RT_ATOMIC_OPERATION_OR = 6,
    ACL_RT_ATOMIC_OPERATION_XOR = 7,
    ACL_RT_ATOMIC_OPERATION_EXCHANGE = 8,
    ACL_RT_ATOMIC_OPERATION_CAS = 9,
    ACL_RT_ATOMIC_OPERATION_FLOAT_ADD = 10,
    ACL_RT_ATOMIC_OPERATION_FLOAT_MIN = 11,
    ACL_RT_ATOMIC_OPERATION_FLOAT_MAX = 12,
    ACL_RT_ATOMIC_OPERATION_DMA_ADD = 30,
    ACL_RT_ATOMIC_OPERATION_DMA_MIN = 31,
    ACL_RT_ATOMIC_OPERATION_DMA_MAX = 32,
    ACL_RT_ATOMIC_OPERATION_SIMD_SCALAR_ADD = 40,
    ACL_RT_ATOMIC_OPERATION_SIMD_SCALAR_MIN = 41,
    ACL_RT_ATOMIC_OPERATION_SIMD_SCALAR_MAX = 42,
    ACL_RT_ATOMIC_OPERATION_SIMD_SCALAR_CAS = 43,
    ACL_RT_ATOMIC_OPERATION_SIMD_SCALAR_EXCH = 44,
} aclrtAtomicOperation;

typedef enum aclrtErrorType {
    ACL_RT_NO_ERROR = 0,
    ACL_RT_ERROR_MEMORY = 1,
    ACL_RT_ERROR_L2 = 2,
    ACL_RT_ERROR_AICORE = 3,
    ACL_RT_ERROR_LINK = 4,
    ACL_RT_ERROR_L3_PORT = 5,
    ACL_RT_ERROR_OTHERS = 0xFFFF,
} aclrtErrorType;

typedef enum aclrtAicoreErrorType {
    ACL_RT_AICORE_ERROR_UNKNOWN = 0,
    ACL_RT_AICORE_ERROR_SW = 1,
    ACL_RT_AICORE_ERROR_HW_LOCAL = 2,
} aclrtAicoreErrorType;

typedef enum aclrtLastErrLevel {
    ACL_RT_THREAD_LEVEL = 0,
} aclrtLastErrLevel;

typedef enum aclrtProcessState {
    ACL_RT_PROCESS_STATE_RUNNING = 0,
    ACL_RT_PROCESS_STATE_LOCKED = 1,
} aclrtProcessState;

typedef enum aclrtSnapShotStage {
    ACL_RT_SNAPSHOT_LOCK_PRE = 0,
    ACL_RT_SNAPSHOT_BACKUP_PRE = 1,
    ACL_RT_SNAPSHOT_BACKUP_POST = 2,
    ACL_RT_SNAPSHOT_RESTORE_PRE = 3,
    ACL_RT_SNAPSHOT_RESTORE_POST = 4,
    ACL_RT_SNAPSHOT_UNLOCK_POST = 5,
} aclrtSnapShotStage;

typedef enum aclCANNPackageName {
    ACL_PKG_NAME_CANN = 0,
    ACL_PKG_NAME_RUNTIME = 1,
    ACL_PKG_NAME_COMPILER = 2,
    ACL_PKG_NAME_HCCL = 3,
    ACL_PKG_NAME_TOOLKIT = 4,
    ACL_PKG_NAME_OPP = 5,
    ACL_PKG_NAME_OPP_KERNEL = 6,
    ACL_PKG_NAME_DRIVER = 7,
} aclCANNPackageName;

typedef enum aclRegisterCallbackType {
    ACL_REG_TYPE_ACL_MODEL = 0,
    ACL_REG_TYPE_ACL_OP_EXECUTOR = 1,
    ACL_REG_TYPE_ACL_OP_CBLAS = 2,
    ACL_REG_TYPE_ACL_OP_COMPILER = 3,
    ACL_REG_TYPE_ACL_TDT_CHANNEL = 4,
    ACL_REG_TYPE_ACL_TDT_QUEUE = 5,
    ACL_REG_TYPE_ACL_DVPP = 6,
    ACL_REG_TYPE_ACL_RETR = 7,
    ACL_REG_TYPE_OTHER = 0xFFFF,
} aclRegisterCallbackType;

/* ---- Enumerations: streams, events, captures ------------------------------------------------ */

/* aclrtEventRecordedStatus and aclrtEventStatus have opposite values for "complete". */
typedef enum aclrtEventRecordedStatus {
    ACL_EVENT_RECORDED_STATUS_NOT_READY = 0,
    ACL_EVENT_RECORDED_STATUS_COMPLETE = 1,
} aclrtEventRecordedStatus;

typedef enum aclrtEventStatus {
    ACL_EVENT_STATUS_COMPLETE = 0,
    ACL_EVENT_STATUS_NOT_READY = 1,
    ACL_EVENT_STATUS_RESERVED = 2,
} aclrtEventStatus;

typedef enum aclrtEventWaitStatus {
    ACL_EVENT_WAIT_STATUS_COMPLETE = 0,
    ACL_EVENT_WAIT_STATUS_NOT_READY = 1,
    ACL_EVENT_WAIT_STATUS_RESERVED = 0xFFFF,
} aclrtEventWaitStatus;

typedef enum aclrtStreamStatus {
    ACL_STREAM_STATUS_COMPLETE = 0,
    ACL_STREAM_STATUS_NOT_READY = 1,
    ACL_STREAM_STATUS_RESERVED = 0xFFFF,
} aclrtStreamStatus;

typedef enum aclrtStreamState {
    ACL_RT_STREAM_STATE_CREATE_POST = 1,
    ACL_RT_STREAM_STATE_DESTROY_PRE = 2,
} aclrtStreamState;

typedef enum aclrtStreamAttr {
    ACL_STREAM_ATTR_FAILURE_MODE = 1,
    ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK = 2,
    ACL_STREAM_ATTR_USER_CUSTOM_TAG = 3,
    ACL_STREAM_ATTR_CACHE_OP_INFO = 4,
    ACL_STREAM_ATTR_PRIORITY = 5,
} aclrtStreamAttr;

typedef enum aclrtStreamConfigAttr {
    ACL_RT_STREAM_WORK_ADDR_PTR = 0,
    ACL_RT_STREAM_WORK_SIZE = 1,
    ACL_RT_STREAM_FLAG = 2,
    ACL_RT_STREAM_PRIORITY = 3,
} aclrtStreamConfigAttr;

typedef enum aclrtCallbackBlockType {
    ACL_CALLBACK_NO_BLOCK = 0,
    ACL_CALLBACK_BLOCK = 1,
} aclrtCallbackBlockType;

typedef enum aclrtCntNotifyRecordMode {
    ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE = 0,
    ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE = 1,
    ACL_RT_CNT_NOTIFY_RECORD_BIT_OR_MODE = 2,
    ACL_RT_CNT_NOTIFY_RECORD_BIT_AND_MODE = 4,
} aclrtCntNotifyRecordMode;

typedef enum aclrtCntNotifyWaitMode {
    ACL_RT_CNT_NOTIFY_WAIT_LESS_MODE = 0,
    ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE = 1,
    ACL_RT_CNT_NOTIFY_WAIT_BIGGER_MODE = 2,
    ACL_RT_CNT_NOTIFY_WAIT_BIGGER_OR_EQUAL_MODE = 3,
    ACL_RT_CNT_NOTIFY_WAIT_EQUAL_WITH_BITMASK_MODE = 4,
} aclrtCntNotifyWaitMode;

typedef enum aclrtCondition {
    ACL_RT_EQUAL = 0,
    ACL_RT_NOT_EQUAL = 1,
    ACL_RT_GREATER = 2,
    ACL_RT_GREATER_OR_EQUAL = 3,
    ACL_RT_LESS = 4,
    ACL_RT_LESS_OR_EQUAL = 5,
} aclrtCondition;

typedef enum aclrtCompareDataType {
    ACL_RT_SWITCH_INT32 = 0,
    ACL_RT_SWITCH_INT64 = 1,
} aclrtCompareDataType;

typedef enum aclmdlRICaptureMode {
    ACL_MODEL_RI_CAPTURE_MODE_GLOBAL = 0,
    ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL = 1,
    ACL_MODEL_RI_CAPTURE_MODE_RELAXED = 2,
} aclmdlRICaptureMode;

typedef enum aclmdlRICaptureStatus {
    ACL_MODEL_RI_CAPTURE_STATUS_NONE = 0,
    ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE = 1,
    ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED = 2,
} aclmdlRICaptureStatus;

typedef enum aclmdlRITaskType {
    ACL_MODEL_RI_TASK_DEFAULT = 0,
    ACL_MODEL_RI_TASK_KERNEL = 1,
    ACL_MODEL_RI_TASK_EVENT_RECORD = 2,
    ACL_MODEL_RI_TASK_EVENT_WAIT = 3,
    ACL_MODEL_RI_TASK_EVENT_RESET = 4,
    ACL_MODEL_RI_TASK_VALUE_WRITE = 5,
    ACL_MODEL_RI_TASK_VALUE_WAIT = 6,
} aclmdlRITaskType;

typedef enum aclmdlRICondHandleFlag {
    ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT = 1,
} aclmdlRICondHandleFlag;

typedef enum aclmdlRICondTaskType {
    ACL_MODEL_RI_COND_TYPE_IF = 0,
    ACL_MODEL_RI_COND_TYPE_WHILE = 1,
    ACL_MODEL_RI_COND_TYPE_SWITCH = 2,
} aclmdlRICondTaskType;

typedef enum aclrtUpdateTaskAttrId {
    ACL_RT_UPDATE_RANDOM_TASK = 1,
    ACL_RT_UPDATE_AIC_AIV_TASK = 2,
} aclrtUpdateTaskAttrId;

typedef enum aclrtRandomNumFuncType {
    ACL_RT_RANDOM_NUM_FUNC_TYPE_DROPOUT_BITMASK = 0,
    ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS = 1,
    ACL_RT_RANDOM_NUM_FUNC_TYPE_NORMAL_DIS = 2,
    ACL_RT_RANDOM_NUM_FUNC_TYPE_TRUNCATED_NORMAL_DIS = 3,
} aclrtRandomNumFuncType;

/* ---- Enumerations: memory ------------------------------------------------------------------- */

typedef enum aclrtMemcpyKind {
    ACL_MEMCPY_HOST_TO_HOST = 0,
    ACL_MEMCPY_HOST_TO_DEVICE = 1,
    ACL_MEMCPY_DEVICE_TO_HOST = 2,
    ACL_MEMCPY_DEVICE_TO_DEVICE = 3,
    ACL_MEMCPY_DEFAULT = 4,                /* the addresses tell */
    ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE = 5,  /* the source may change as soon as the call returns */
    ACL_MEMCPY_INNER_DEVICE_TO_DEVICE = 6, /* descriptor calls only */
    ACL_MEMCPY_INTER_DEVICE_TO_DEVICE = 7, /* descriptor calls only */
} aclrtMemcpyKind;

typedef enum aclrtMemMallocPolicy {
    ACL_MEM_MALLOC_HUGE_FIRST = 0, /* 2 MiB pages if there are any, else normal ones */
    ACL_MEM_MALLOC_HUGE_ONLY = 1,  /* 2 MiB pages or failure */
    ACL_MEM_MALLOC_NORMAL_ONLY = 2,
    ACL_MEM_MALLOC_HUGE_FIRST_P2P = 3,
    ACL_MEM_MALLOC_HUGE_ONLY_P2P = 4,
    ACL_MEM_MALLOC_NORMAL_ONLY_P2P = 5,
    ACL_MEM_MALLOC_HUGE1G_ONLY = 6,
    ACL_MEM_MALLOC_HUGE1G_ONLY_P2P = 7,
    ACL_MEM_TYPE_LOW_BAND_WIDTH = 0x100,   /* no effect */
    ACL_MEM_TYPE_HIGH_BAND_WIDTH = 0x1000, /* no effect */
    ACL_MEM_ACCESS_USER_SPACE_READONLY = 0x100000,
} aclrtMemMallocPolicy;

/* Up to 11 they name a memory technology; from 12 on the runtime picks it. */
typedef enum aclrtMemAttr {
    ACL_DDR_MEM = 0,
    ACL_HBM_MEM = 1,
    ACL_DDR_MEM_HUGE = 2,
    ACL_DDR_MEM_NORMAL = 3,
    ACL_HBM_MEM_HUGE = 4,
    ACL_HBM_MEM_NORMAL = 5,
    ACL_DDR_MEM_P2P_HUGE = 6,
    ACL_DDR_MEM_P2P_NORMAL = 7,
    ACL_HBM_MEM_P2P_HUGE = 8,
    ACL_HBM_MEM_P2P_NORMAL = 9,
    ACL_HBM_MEM_HUGE1G = 10,
    ACL_HBM_MEM_P2P_HUGE1G = 11,
    ACL_MEM_NORMAL = 12,
    ACL_MEM_HUGE = 13,
    ACL_MEM_HUGE1G = 14,
    ACL_MEM_P2P_NORMAL = 15,
    ACL_MEM_P2P_HUGE = 16,
    ACL_MEM_P2P_HUGE1G = 17,
} aclrtMemAttr;

typedef enum aclrtMemLocationType {
    ACL_MEM_LOCATION_TYPE_HOST = 0, /* host memory this runtime gave or registered */
    ACL_MEM_LOCATION_TYPE_DEVICE = 1,
    ACL_MEM_LOCATION_TYPE_UNREGISTERED = 2, /* any other memory of the process */
    ACL_MEM_LOCATION_TYPE_MANAGED = 3,
    ACL_MEM_LOCATION_TYPE_HOST_NUMA = 4,
} aclrtMemLocationType;

typedef enum aclrtMemAllocationType {
    ACL_MEM_ALLOCATION_TYPE_PINNED = 0,
} aclrtMemAllocationType;

typedef enum aclrtMemHandleType {
    ACL_MEM_HANDLE_TYPE_NONE = 0,
    ACL_MEM_HANDLE_TYPE_POSIX = 2,
} aclrtMemHandleType;

typedef enum aclrtMemSharedHandleType {
    ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT = 1,
    ACL_MEM_SHARE_HANDLE_TYPE_FABRIC = 2,
} aclrtMemSharedHandleType;

typedef enum aclrtMemGranularityOptions {
    ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM = 0,
    ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED = 1,
    ACL_RT_MEM_ALLOC_GRANULARITY_UNDEF = 0xFFFF,
} aclrtMemGranularityOptions;

typedef enum aclrtMemAccessFlags {
    ACL_RT_MEM_ACCESS_FLAGS_NONE = 0,
    ACL_RT_MEM_ACCESS_FLAGS_READ = 1,
    ACL_RT_MEM_ACCESS_FLAGS_READWRITE = 3,
} aclrtMemAccessFlags;

typedef enum aclrtHostRegisterType {
    ACL_HOST_REGISTER_MAPPED = 0,
    ACL_HOST_REGISTER_IOMEMORY = 4,
    ACL_HOST_REGISTER_READONLY = 8,
} aclrtHostRegisterType;

typedef enum aclrtMallocAttrType {
    ACL_RT_MEM_ATTR_RSV = 0,
    ACL_RT_MEM_ATTR_MODULE_ID = 1,
    ACL_RT_MEM_ATTR_DEVICE_ID = 2,
    ACL_RT_MEM_ATTR_VA_FLAG = 3,
} aclrtMallocAttrType;

typedef enum aclrtCmoType {
    ACL_RT_CMO_TYPE_PREFETCH = 0,
    ACL_RT_CMO_TYPE_WRITEBACK = 1,
    ACL_RT_CMO_TYPE_INVALID = 2,
    ACL_RT_CMO_TYPE_FLUSH = 3,
} aclrtCmoType;

typedef enum aclrtReduceKind {
    ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM = 10,
    ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX = 11,
    ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN = 12,
    ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL = 13,
} aclrtReduceKind;

typedef enum aclrtIpcMemAttrType {
    ACL_RT_IPC_MEM_ATTR_ACCESS_LINK = 0,
} aclrtIpcMemAttrType;

typedef enum aclrtMemLinkType {
    ACL_RT_MEM_ACCESS_LINK_SIO = 0,
    ACL_RT_MEM_ACCESS_LINK_HCCS = 1,
    ACL_RT_MEM_ACCESS_UB_ONE_PORT_PATH = 2,
    ACL_RT_MEM_ACCESS_UB_MULTI_PORT_PATH = 3,
} aclrtMemLinkType;

typedef enum aclrtMemManagedAdviseType {
    ACL_MEM_ADVISE_SET_READ_MOSTLY = 0,
    ACL_MEM_ADVISE_UNSET_READ_MOSTLY = 1,
    ACL_MEM_ADVISE_SET_PREFERRED_LOCATION = 2,
    ACL_MEM_ADVISE_UNSET_PREFERRED_LOCATION = 3,
    ACL_MEM_ADVISE_SET_ACCESSED_BY = 4,
    ACL_MEM_ADVISE_UNSET_ACCESSED_BY = 5,
} aclrtMemManagedAdviseType;

typedef enum aclrtMemManagedLocationType {
    ACL_MEM_LOCATIONTYPE_INVALID = 0,
    ACL_MEM_LOCATIONTYPE_DEVICE = 1,
    ACL_MEM_LOCATIONTYPE_HOST = 2,
    ACL_MEM_LOCATIONTYPE_HOST_NUMA = 3,
    ACL_MEM_LOCATIONTYPE_HOST_NUMA_CURRENT = 4,
} aclrtMemManagedLocationType;

typedef enum aclrtMemManagedRangeAttribute {
    ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY = 1,
    ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION = 2,
    ACL_MEM_RANGE_ATTRIBUTE_ACCESSED_BY = 3,
    ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE = 4,
    ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID = 5,
    ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION = 6,
    ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE = 7,
    ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID = 8,
} aclrtMemManagedRangeAttribute;

enum aclrtMemPgType {
    NORMAL_PAGE_TYPE = 0,
    HUGE_PAGE_TYPE = 1,
    HUGE1G_PAGE_TYPE = 2,
};

enum aclrtMemType {
    HBM_TYPE = 0,
    DDR_TYPE = 1,
    P2P_HBM_TYPE = 2,
    P2P_DDR_TYPE = 3,
};

/* ---- Enumerations: kernels ------------------------------------------------------------------ */

typedef enum aclrtBinaryLoadOptionType {
    ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD = 1,
    ACL_RT_BINARY_LOAD_OPT_LAZY_MAGIC = 2, /* old name of MAGIC */
    ACL_RT_BINARY_LOAD_OPT_MAGIC = 2,
    ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE = 3,
} aclrtBinaryLoadOptionType;

typedef enum aclrtEngineType {
    ACL_RT_ENGINE_TYPE_AIC = 0,
    ACL_RT_ENGINE_TYPE_AIV = 1,
} aclrtEngineType;

typedef enum aclrtLaunchKernelAttrId {
    ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE = 1,
    ACL_RT_LAUNCH_KERNEL_ATTR_LOCAL_MEMORY_SIZE = 2, /* old name of DYN_UBUF_SIZE */
    ACL_RT_LAUNCH_KERNEL_ATTR_DYN_UBUF_SIZE = 2,
    ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE = 3,
    ACL_RT_LAUNCH_KERNEL_ATTR_NUMBLOCKS_OFFSET = 4, /* name in interface version 1.15 */
    ACL_RT_LAUNCH_KERNEL_ATTR_BLOCKDIM_OFFSET = 4,
    ACL_RT_LAUNCH_KERNEL_ATTR_BLOCK_TASK_PREFETCH = 5, /* 1 forbids it */
    ACL_RT_LAUNCH_KERNEL_ATTR_DATA_DUMP = 6,
    ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT = 7,    /* seconds */
    ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US = 8, /* microseconds */
    ACL_RT_LAUNCH_KERNEL_ATTR_ENABLE_PROFILING = 9,
} aclrtLaunchKernelAttrId;

typedef enum aclrtFuncAttribute {
    ACL_FUNC_ATTR_KERNEL_TYPE = 1,
    ACL_FUNC_ATTR_KERNEL_RATIO = 2,
    ACL_FUNC_ATTR_KERNEL_SCHED_MODE = 3,
} aclrtFuncAttribute;

typedef enum aclrtKernelType {
    ACL_KERNEL_TYPE_AICORE = 0,
    ACL_KERNEL_TYPE_CUBE = 1,
    ACL_KERNEL_TYPE_VECTOR = 2,
    ACL_KERNEL_TYPE_MIX = 3,
    ACL_KERNEL_TYPE_AICPU = 100,
} aclrtKernelType;

/* ---- Structures: memory --------------------------------------------------------------------- */

/* `id` is a device for DEVICE, a NUMA node for HOST_NUMA, and 0 for HOST. */
typedef struct aclrtMemLocation {
    uint32_t id;
    aclrtMemLocationType type;
} aclrtMemLocation;

typedef struct aclrtPtrAttributes {
    aclrtMemLocation location;
    uint32_t pageSize; /* bytes */
    uint32_t rsv[4];
} aclrtPtrAttributes;

/* A token that may travel to another host. */
typedef struct aclrtMemFabricHandle {
    uint8_t data[128];
} aclrtMemFabricHandle;

/* Today: handleType NONE, allocationType PINNED, reserve 0. */
typedef struct aclrtPhysicalMemProp {
    aclrtMemHandleType handleType;
    aclrtMemAllocationType allocationType;
    aclrtMemAttr memAttr;
    aclrtMemLocation location;
    uint64_t reserve;
} aclrtPhysicalMemProp;

/* `flags` READWRITE; `location` HOST or DEVICE. */
typedef struct {
    aclrtMemAccessFlags flags;
    aclrtMemLocation location;
    uint8_t rsv[12];
} aclrtMemAccessDesc;

typedef struct {
    aclrtMemLocation dstLoc;
    aclrtMemLocation srcLoc;
    uint8_t rsv[16];
} aclrtMemcpyBatchAttr;

typedef struct aclrtMemManagedLocation {
    aclrtMemManagedLocationType type;
    int32_t id;
} aclrtMemManagedLocation;

typedef union {
    uint16_t moduleId;
    uint32_t deviceId;
    uint32_t vaFlag;
    uint8_t rsv[8];
} aclrtMallocAttrValue;

typedef struct {
    aclrtMallocAttrType attr;
    aclrtMallocAttrValue value;
} aclrtMallocAttribute;

typedef struct {
    aclrtMallocAttribute *attrs;
    size_t numAttrs;
} aclrtMallocConfig;

/* Who may import something: the processes `pid` of the server `sdid`. */
typedef struct {
    uint32_t sdid;
    int32_t *pid;
    size_t num;
} aclrtServerPid;

typedef struct aclrtMemUsageInfo {
    char name[32];
    uint64_t curMemSize;
    uint64_t memPeakSize;
    size_t reserved[8];
} aclrtMemUsageInfo;

typedef struct aclrtMemUceInfo {
    void *addr;
    size_t len;
    size_t reserved[UCE_INFO_RESERVED_SIZE];
} aclrtMemUceInfo;

typedef struct {
    size_t arraySize;
    aclrtMemUceInfo memUceInfoArray[ACL_RT_MEM_UCE_INFO_MAX_NUM];
} aclrtMemUceInfoArray;

struct MemAttrMapping {
    uint32_t pgType;
    uint32_t memType;
    bool isHostAlloc;
    aclrtMemAttr memAttr;
};

/* ---- Structures: kernels -------------------------------------------------------------------- */

/* Read the member that the option's `type` names; all share one place. */
typedef union aclrtBinaryLoadOptionValue {
    uint32_t isLazyLoad;
    uint32_t magic;
    int32_t cpuKernelMode;
    uint32_t rsv[4];
} aclrtBinaryLoadOptionValue;

typedef struct {
    aclrtBinaryLoadOptionType type;
    aclrtBinaryLoadOptionValue value;
} aclrtBinaryLoadOption;

typedef struct aclrtBinaryLoadOptions {
    aclrtBinaryLoadOption *options;
    size_t numOpt;
} aclrtBinaryLoadOptions;

/* A time of 64 bits in two words; 0: no limit. */
typedef struct {
    uint32_t timeoutLow;
    uint32_t timeoutHigh;
} aclrtTimeoutUs;

typedef union aclrtLaunchKernelAttrValue {
    uint8_t schemMode;        /* 1: start only when all blocks can run at once */
    uint32_t localMemorySize; /* old name of dynUBufSize */
    uint32_t dynUBufSize;     /* bytes */
    aclrtEngineType engineType;
    uint32_t blockDimOffset;
    uint32_t numBlocksOffset; /* name of blockDimOffset in interface version 1.15 */
    uint8_t isBlockTaskPrefetch;
    uint8_t isDataDump;
    uint16_t timeout;         /* seconds; 0: no limit */
    aclrtTimeoutUs timeoutUs; /* microseconds; 0: no limit */
    uint8_t enableProfiling;
    uint32_t rsv[4];
} aclrtLaunchKernelAttrValue;

typedef struct aclrtLaunchKernelAttr {
    aclrtLaunchKernelAttrId id;
    aclrtLaunchKernelAttrValue value;
} aclrtLaunchKernelAttr;

typedef struct aclrtLaunchKernelCfg {
    aclrtLaunchKernelAttr *attrs;
    size_t numAttrs;
} aclrtLaunchKernelCfg;

/* The 8 bytes at addrOffset become the device address of the byte at dataOffset. */
typedef struct {
    uint32_t addrOffset;
    uint32_t dataOffset;
} aclrtPlaceHolderInfo;

/* The device compiler brings its own. */
#ifndef __BISHENG_CCEC__
#ifdef __cplusplus
struct dim3 {
    uint32_t x;
    uint32_t y;
    uint32_t z;

    constexpr dim3(uint32_t vx = 1, uint32_t vy = 1, uint32_t vz = 1) : x(vx), y(vy), z(vz)
    {
    }
};
#else
typedef struct dim3 {
    uint32_t x;
    uint32_t y;
    uint32_t z;
} dim3;
#endif
#endif

/* ---- Structures: the rest ------------------------------------------------------------------- */

typedef struct tagRtGroupInfo aclrtGroupInfo;
typedef struct aclrtUtilizationExtendInfo aclrtUtilizationExtendInfo;

/* Which task failed where, and why. runtime/rt_external_base.h shows what is inside. */
typedef struct rtExceptionInfo aclrtExceptionInfo;

typedef struct aclrtStreamConfigHandle {
    void *workptr;
    size_t workSize;
    size_t flag;
    uint32_t priority;
} aclrtStreamConfigHandle;

typedef struct aclrtUtilizationInfo {
    int32_t cubeUtilization;
    int32_t vectorUtilization;
    int32_t aicpuUtilization;
    int32_t memoryUtilization;
    aclrtUtilizationExtendInfo *utilizationExtend;
} aclrtUtilizationInfo;

typedef union aclrtErrorInfoDetail {
    aclrtMemUceInfoArray uceInfo;
    aclrtAicoreErrorType aicoreErrType;
} aclrtErrorInfoDetail;

typedef struct aclrtErrorInfo {
    uint8_t tryRepair;
    uint8_t hasDetail;
    uint8_t reserved[2];
    aclrtErrorType errorType;
    aclrtErrorInfoDetail detail;
} aclrtErrorInfo;

typedef union {
    uint64_t failureMode;
    uint32_t overflowSwitch;
    uint32_t userCustomTag;
    uint32_t cacheOpInfoSwitch;
    uint32_t streamPriority;
    uint32_t reserve[4];
} aclrtStreamAttrValue;

typedef struct {
    aclrtCmoType cmoType;
    uint32_t barrierId;
} aclrtBarrierCmoInfo;

typedef struct {
    size_t barrierNum;
    aclrtBarrierCmoInfo cmoInfo[ACL_RT_CMO_MAX_BARRIER_NUM];
} aclrtBarrierTaskInfo;

typedef struct {
    aclrtCntNotifyRecordMode mode;
    uint32_t value;
} aclrtCntNotifyRecordInfo;

typedef struct {
    aclrtCntNotifyWaitMode mode;
    uint32_t value;
    uint32_t timeout;
    uint8_t isClear;
    uint8_t rsv[3];
} aclrtCntNotifyWaitInfo;

typedef struct aclrtIpcEventHandle {
    char reserved[ACL_IPC_EVENT_HANDLE_SIZE];
} aclrtIpcEventHandle;

typedef struct aclrtUuid {
    char bytes[16];
} aclrtUuid;

typedef struct aclrtSnapShotBackupArgs {
    uint32_t backupFlags;
    char reserved[60];
} aclrtSnapShotBackupArgs;

typedef struct aclrtSnapShotRestoreArgs {
    uint32_t restoreFlags;
    char reserved[60];
} aclrtSnapShotRestoreArgs;

typedef struct aclCANNPackageVersion {
    char version[ACL_PKG_VERSION_MAX_SIZE];
    char majorVersion[ACL_PKG_VERSION_PARTS_MAX_SIZE];
    char minorVersion[ACL_PKG_VERSION_PARTS_MAX_SIZE];
    char releaseVersion[ACL_PKG_VERSION_PARTS_MAX_SIZE];
    char patchVersion[ACL_PKG_VERSION_PARTS_MAX_SIZE];
    char reserved[ACL_PKG_VERSION_MAX_SIZE];
} aclCANNPackageVersion;

typedef struct {
    uint8_t isAddr; /* 1: valueOrAddr is a device address */
    uint8_t valueOrAddr[8];
    uint8_t size;
    uint8_t rsv[6];
} aclrtRandomParaInfo;

typedef struct {
    aclrtRandomParaInfo dropoutRation;
} aclrtDropoutBitmaskInfo;

typedef struct {
    aclrtRandomParaInfo min;
    aclrtRandomParaInfo max;
} aclrtUniformDisInfo;

typedef struct {
    aclrtRandomParaInfo mean;
    aclrtRandomParaInfo stddev;
} aclrtNormalDisInfo;

typedef struct {
    aclrtRandomNumFuncType funcType;
    union {
        aclrtDropoutBitmaskInfo dropoutBitmaskInfo;
        aclrtUniformDisInfo uniformDisInfo;
        aclrtNormalDisInfo normalDisInfo;
    } paramInfo;
} aclrtRandomNumFuncParaInfo;

typedef struct {
    aclDataType dataType;
    aclrtRandomNumFuncParaInfo randomNumFuncParaInfo;
    void *randomParaAddr;
    void *randomResultAddr;
    void *randomCounterAddr;
    aclrtRandomParaInfo randomSeed;
    aclrtRandomParaInfo randomNum;
    uint8_t rsv[8];
} aclrtRandomNumTaskInfo;

typedef struct {
    void *srcAddr;
    size_t size;
    uint32_t rsv[4];
} aclrtRandomTaskUpdateAttr;

typedef struct {
    void *binHandle;
    void *funcEntryAddr;
    void *blockDimAddr;
    uint32_t rsv[4];
} aclrtAicAivTaskUpdateAttr;

typedef union {
    aclrtRandomTaskUpdateAttr randomTaskAttr;
    aclrtAicAivTaskUpdateAttr aicAivTaskAttr;
} aclrtUpdateTaskAttrVal;

typedef struct {
    aclrtUpdateTaskAttrId id;
    aclrtUpdateTaskAttrVal val;
} aclrtTaskUpdateInfo;

typedef struct aclmdlRIKernelTaskParams {
    aclrtFuncHandle funcHandle;
    aclrtLaunchKernelCfg *cfg;
    void *args;
    uint32_t isHostArgs;
    size_t argsSize;
    uint32_t numBlocks;
    uint32_t rsv[10];
} aclmdlRIKernelTaskParams;

typedef struct aclmdlRIEventRecordTaskParams {
    aclrtEvent event;
    uint32_t eventFlag;
    uint32_t recordFlag;
} aclmdlRIEventRecordTaskParams;

typedef struct aclmdlRIEventWaitTaskParams {
    aclrtEvent event;
    uint32_t eventFlag;
    uint32_t waitFlag;
} aclmdlRIEventWaitTaskParams;

typedef struct aclmdlRIEventResetTaskParams {
    aclrtEvent event;
    uint32_t eventFlag;
    uint32_t resetFlag;
} aclmdlRIEventResetTaskParams;

typedef struct aclmdlRIValueWriteTaskParams {
    void *devAddr;
    uint64_t value;
} aclmdlRIValueWriteTaskParams;

typedef struct aclmdlRIValueWaitTaskParams {
    void *devAddr;
    uint64_t value;
    uint32_t flag;
} aclmdlRIValueWaitTaskParams;

typedef struct aclmdlRITaskParams {
    aclmdlRITaskType type;
    uint32_t rsv0[3];
    aclrtTaskGrp taskGrp;
    void *opInfoPtr;
    size_t opInfoSize;
    uint8_t rsv1[32];
    union { /* `type` tells which */
        uint8_t rsv2[128];
        aclmdlRIKernelTaskParams kernelTaskParams;
        aclmdlRIEventRecordTaskParams eventRecordTaskParams;
        aclmdlRIEventWaitTaskParams eventWaitTaskParams;
        aclmdlRIEventResetTaskParams eventResetTaskParams;
        aclmdlRIValueWriteTaskParams valueWriteTaskParams;
        aclmdlRIValueWaitTaskParams valueWaitTaskParams;
    };
} aclmdlRITaskParams;

typedef struct tagAclmdlRICondTaskParams {
    aclmdlRICondHandle handle;
    aclmdlRICondTaskType type;
    uint32_t size;
    aclmdlRI *modelRIArray; /* [size] */
} aclmdlRICondTaskParams;

/* ---- Callbacks ------------------------------------------------------------------------------ */

typedef void (*aclrtCallback)(void *userData);
typedef void (*aclrtHostFunc)(void *args);
typedef void (*aclrtExceptionInfoCallback)(aclrtExceptionInfo *info);
typedef void (*aclrtOpExceptionCallback)(aclrtExceptionInfo *info, void *userData);
typedef void (*aclrtDeviceStateCallback)(int32_t deviceId, aclrtDeviceState state, void *args);
typedef void (*aclrtStreamStateCallback)(aclrtStream stm, aclrtStreamState state, void *args);
typedef int32_t (*aclrtDeviceTaskAbortCallback)(int32_t deviceId, aclrtDeviceTaskAbortStage stage,
                                                uint32_t timeout, void *args);
typedef uint32_t (*aclrtSnapShotCallBack)(int32_t deviceId, void *args);
typedef aclError (*aclInitCallbackFunc)(const char *configStr, size_t len, void *userData);
typedef aclError (*aclFinalizeCallbackFunc)(void *userData);

/* ---- Initialise and finalise ---------------------------------------------------------------- */

/**
 * Get the library ready. Calls are counted.
 *
 * @param configPath  in  a JSON file; NULL, "" or a file that holds {}: defaults. Only
 *                        defaultDevice.default_device and err_msg_mode have an effect.
 *
 * @return ACL_SUCCESS; ACL_ERROR_REPEAT_INITIALIZE: it was ready already, counted all the same;
 *         ACL_ERROR_INVALID_PARAM: it was ready with other contents; ACL_ERROR_INVALID_FILE or
 *         ACL_ERROR_PARSE_FILE: the file cannot be read or is no JSON; ACL_ERROR_INTERNAL_ERROR:
 *         there is no known device.
 * Threads: any.
 * Source:  spec, acl runtime, section 2.
 */
ACL_FUNC_VISIBILITY aclError aclInit(const char *configPath);

/**
 * Undo aclInit, however often it was called. Devices stay set; aclInit may follow.
 *
 * @return ACL_SUCCESS, also when aclInit was never called; ACL_ERROR_REPEAT_FINALIZE: nothing was
 *         initialised since the last aclFinalize.
 * Threads: any.
 * Source:  spec, acl runtime, section 2.
 */
ACL_FUNC_VISIBILITY aclError aclFinalize(void);

/**
 * Undo one aclInit; the last one is aclFinalize.
 *
 * @param refCount  out  how many are left; may be NULL
 *
 * @return ACL_SUCCESS; ACL_ERROR_REPEAT_FINALIZE: none was left.
 * Threads: any.
 * Source:  spec, acl runtime, section 2.
 */
ACL_FUNC_VISIBILITY aclError aclFinalizeReference(uint64_t *refCount);

/* ---- Device --------------------------------------------------------------------------------- */

/**
 * Select a device for the calling thread, and its primary context as the current one.
 *
 * The first call in the process brings the device up, which may take a while. Calls are counted for
 * the whole process: each wants its aclrtResetDevice, from whichever thread.
 *
 * @param deviceId  user id
 *
 * @return ACL_SUCCESS; ACL_ERROR_RT_INVALID_DEVICEID; ACL_ERROR_RT_NO_DEVICE: there is none.
 * Threads: any.
 * Source:  spec, acl runtime, section 3.
 */
ACL_FUNC_VISIBILITY aclError aclrtSetDevice(int32_t deviceId);

/**
 * Take back one aclrtSetDevice. The last one waits for the primary context's work and frees it.
 *
 * Works after aclFinalize. Destroy your own events, streams and contexts first.
 *
 * @param deviceId  user id
 *
 * @return ACL_SUCCESS; ACL_ERROR_RT_INVALID_DEVICEID; ACL_ERROR_RT_CONTEXT_RELEASE_ERROR: nobody
 *         has it set.
 * Threads: any.
 * Source:  spec, acl runtime, section 3.
 */
ACL_FUNC_VISIBILITY aclError aclrtResetDevice(int32_t deviceId);

/**
 * Free the device however often it is set. Of several calls one succeeds.
 *
 * @param deviceId  user id
 *
 * @return as aclrtResetDevice.
 * Threads: any.
 * Source:  spec, acl runtime, section 3.
 */
ACL_FUNC_VISIBILITY aclError aclrtResetDeviceForce(int32_t deviceId);

/**
 * Device of the current context.
 *
 * @param deviceId  out  user id
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM; ACL_ERROR_RT_CONTEXT_NULL.
 * Threads: any.
 * Source:  spec, acl runtime, section 3.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetDevice(int32_t *deviceId);

/**
 * How many devices this process may see. Needs neither aclInit nor a context.
 *
 * @param count  out  devices
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM; ACL_ERROR_RT_NO_DEVICE: 0.
 * Threads: any.
 * Source:  spec, acl runtime, section 3.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetDeviceCount(uint32_t *count);

/**
 * Which side the caller is on.
 *
 * @param runMode  out  ACL_HOST
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM.
 * Threads: any.
 * Source:  spec, acl runtime, section 3.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetRunMode(aclrtRunMode *runMode);

/**
 * Wait for all streams of the current context.
 *
 * @return ACL_SUCCESS; ACL_ERROR_RT_CONTEXT_NULL; what made a stream's task fail.
 * Threads: any.
 * Source:  spec, acl runtime, section 3.
 */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeDevice(void);

/**
 * The same with a limit. What is not done by then goes on.
 *
 * @param timeoutMs  milliseconds; -1: no limit
 *
 * @return as aclrtSynchronizeDevice; ACL_ERROR_RT_PARAM_INVALID: 0 or less than -1;
 *         ACL_ERROR_RT_STREAM_SYNC_TIMEOUT.
 * Threads: any.
 * Source:  spec, acl runtime, section 3.
 */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeoutMs);

/**
 * A fact about a device. Needs no context.
 *
 * @param deviceId       user id
 * @param attr           which fact
 * @param value     out  a count, bytes, an id or a code, as the fact demands
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_PARAM_INVALID: no such device or
 *         attribute; ACL_ERROR_RT_FEATURE_NOT_SUPPORT: only an Ascend950 has it.
 * Threads: any.
 * Source:  spec, acl runtime, section 3.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr,
                                                int64_t *value);

/**
 * How two devices are connected.
 *
 * @param deviceId            user id
 * @param otherDeviceId       user id
 * @param value          out  one of ACL_RT_DEVS_TOPOLOGY_*
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_INVALID_DEVICEID.
 * Threads: any.
 * Source:  spec, acl runtime, section 3.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetDevicesTopo(uint32_t deviceId, uint32_t otherDeviceId,
                                                 uint64_t *value);

/**
 * Convert a user id, which counts the devices this process may see, into the logical id, which
 * counts the devices of the operating system.
 *
 * @param userDevid        user id
 * @param logicDevId  out  logical id
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_INVALID_DEVICEID.
 * Threads: any.
 * Source:  spec, acl runtime, section 3.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetLogicDevIdByUserDevId(const int32_t userDevid,
                                                           int32_t *const logicDevId);

/**
 * Convert into the physical id. Despite the name it takes a user id, as programs rely on.
 *
 * @param logicDevId       user id
 * @param phyDevId    out  physical id
 *
 * @return as aclrtGetLogicDevIdByUserDevId.
 * Threads: any.
 * Source:  spec, acl runtime, section 3.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetPhyDevIdByLogicDevId(const int32_t logicDevId,
                                                          int32_t *const phyDevId);

/**
 * The way back. Despite the name it gives a user id, as programs rely on.
 *
 * @param phyDevId         physical id
 * @param logicDevId  out  user id
 *
 * @return as aclrtGetLogicDevIdByUserDevId.
 * Threads: any.
 * Source:  spec, acl runtime, section 3.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetLogicDevIdByPhyDevId(const int32_t phyDevId,
                                                          int32_t *const logicDevId);

/**
 * Convert a logical id into the user id.
 *
 * @param logicDevId       logical id
 * @param userDevid   out  user id
 *
 * @return as aclrtGetLogicDevIdByUserDevId; ACL_ERROR_RT_INVALID_DEVICEID also: this process may
 *         not see the device.
 * Threads: any.
 * Source:  spec, acl runtime, section 3.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetUserDevIdByLogicDevId(const int32_t logicDevId,
                                                           int32_t *const userDevid);

/**
 * Convert a physical id into the user id.
 *
 * @param phyDevId        physical id
 * @param userDevId  out  user id
 *
 * @return as aclrtGetUserDevIdByLogicDevId.
 * Threads: any.
 * Source:  spec, acl runtime, section 3.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetUserDevIdByPhyDevId(const int32_t phyDevId,
                                                         int32_t *const userDevId);

/**
 * Convert a user id into the physical id.
 *
 * @param userDevId       user id
 * @param phyDevId   out  physical id
 *
 * @return as aclrtGetLogicDevIdByUserDevId.
 * Threads: any.
 * Source:  spec, acl runtime, section 3.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetPhyDevIdByUserDevId(const int32_t userDevId,
                                                         int32_t *const phyDevId);

/**
 * Whether a device works.
 *
 * @param deviceId           user id
 * @param deviceStatus  out  NORMAL for soft NPUs
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_INVALID_DEVICEID.
 * Threads: any.
 * Source:  spec, acl runtime, section 3.
 */
ACL_FUNC_VISIBILITY aclError aclrtQueryDeviceStatus(int32_t deviceId,
                                                    aclrtDeviceStatus *deviceStatus);

/**
 * The process id by which other processes of the host know this one, inside a container or not.
 *
 * @param pid  out  for the lists of processes that may import something
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL.
 * Threads: any.
 * Source:  spec, acl runtime, section 3.
 */
ACL_FUNC_VISIBILITY aclError aclrtDeviceGetBareTgid(int32_t *pid);

/* ---- Context -------------------------------------------------------------------------------- */

/**
 * Make a context with a default stream of its own, and make it current. Needs no aclrtSetDevice.
 *
 * @param context   out  the caller's until aclrtDestroyContext
 * @param deviceId       user id
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_INVALID_DEVICEID.
 * Threads: any.
 * Source:  spec, acl runtime, section 4.
 */
ACL_FUNC_VISIBILITY aclError aclrtCreateContext(aclrtContext *context, int32_t deviceId);

/**
 * Wait for the context's streams, then free it. A thread whose current context it was has none.
 *
 * @param context  in  from aclrtCreateContext
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_CONTEXT_NULL: a primary context
 *         or none that lives; ACL_ERROR_RT_CONTEXT_RELEASE_ERROR: another thread is at it.
 * Threads: any; nobody may use the context any more.
 * Source:  spec, acl runtime, section 4.
 */
ACL_FUNC_VISIBILITY aclError aclrtDestroyContext(aclrtContext context);

/**
 * Make a context the calling thread's current one, and with it its device. Cheap.
 *
 * @param context  in  from aclrtCreateContext or aclrtGetCurrentContext, of any thread
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_CONTEXT_NULL: it does not live.
 * Threads: any.
 * Source:  spec, acl runtime, section 4.
 */
ACL_FUNC_VISIBILITY aclError aclrtSetCurrentContext(aclrtContext context);

/**
 * The calling thread's current context. Cheap.
 *
 * @param context  out  the library's; a primary context if aclrtSetDevice came last
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_CONTEXT_NULL.
 * Threads: any.
 * Source:  spec, acl runtime, section 4.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetCurrentContext(aclrtContext *context);

/**
 * Handle of the stream that NULL stands for.
 *
 * @param stream  out  the context's; not to be destroyed
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_CONTEXT_NULL.
 * Threads: any.
 * Source:  spec, acl runtime, section 4.
 */
ACL_FUNC_VISIBILITY aclError aclrtCtxGetCurrentDefaultStream(aclrtStream *stream);

/**
 * Whether a device has its primary context.
 *
 * @param deviceId       user id
 * @param flags     out  NULL
 * @param active    out  1: yes, 0: no
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: `active` is NULL; ACL_ERROR_RT_INVALID_DEVICEID.
 * Threads: any.
 * Source:  spec, acl runtime, section 4.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetPrimaryCtxState(int32_t deviceId, uint32_t *flags,
                                                     int32_t *active);

/* ---- Stream --------------------------------------------------------------------------------- */

/**
 * Make a stream in the current context, of the highest priority.
 *
 * @param stream  out  the caller's until aclrtDestroyStream
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_CONTEXT_NULL;
 *         ACL_ERROR_RT_MEMORY_ALLOCATION. Hardware also runs out of streams: see
 *         aclrtGetStreamAvailableNum.
 * Threads: any.
 * Source:  spec, acl runtime, section 5.
 */
ACL_FUNC_VISIBILITY aclError aclrtCreateStream(aclrtStream *stream);

/**
 * Make a stream with a priority and flags.
 *
 * @param stream    out  the caller's until aclrtDestroyStream
 * @param priority       0 (highest) .. 7; brought into range
 * @param flag           ACL_STREAM_*, ORed
 *
 * @return as aclrtCreateStream.
 * Threads: any.
 * Source:  spec, acl runtime, section 5.
 */
ACL_FUNC_VISIBILITY aclError aclrtCreateStreamWithConfig(aclrtStream *stream, uint32_t priority,
                                                         uint32_t flag);

/**
 * Wait for the stream's tasks, then free it.
 *
 * @param stream  in  of the current context, not its default stream
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_STREAM_CONTEXT: another
 *         context's; ACL_ERROR_RT_INVALID_HANDLE.
 * Threads: any; nobody may use the stream any more.
 * Source:  spec, acl runtime, section 5.
 */
ACL_FUNC_VISIBILITY aclError aclrtDestroyStream(aclrtStream stream);

/**
 * Free a stream without waiting: the running task is cut off, the others are dropped.
 *
 * @param stream  in  as for aclrtDestroyStream
 *
 * @return as aclrtDestroyStream.
 * Threads: any; waits for the stream in other threads end with an error.
 * Source:  spec, acl runtime, section 5.
 */
ACL_FUNC_VISIBILITY aclError aclrtDestroyStreamForce(aclrtStream stream);

/**
 * Wait until all that was queued so far is done.
 *
 * @param stream  in  of any context of the process; NULL: the default stream
 *
 * @return ACL_SUCCESS; what made a task fail, once; ACL_ERROR_RT_STREAM_ABORT: aborted meanwhile;
 *         ACL_ERROR_RT_CONTEXT_NULL; ACL_ERROR_RT_INVALID_HANDLE.
 * Threads: any.
 * Source:  spec, acl runtime, section 5.
 */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeStream(aclrtStream stream);

/**
 * The same with a limit. What is not done by then goes on.
 *
 * @param stream     in  as for aclrtSynchronizeStream
 * @param timeoutMs      milliseconds; -1: no limit
 *
 * @return as aclrtSynchronizeStream; ACL_ERROR_RT_PARAM_INVALID: 0 or less than -1;
 *         ACL_ERROR_RT_STREAM_SYNC_TIMEOUT.
 * Threads: any.
 * Source:  spec, acl runtime, section 5.
 */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream,
                                                               int32_t timeoutMs);

/**
 * Whether a stream has something to do. Never waits.
 *
 * @param stream  in   NULL: the default stream
 * @param status  out  COMPLETE or NOT_READY
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: `status` is NULL; ACL_ERROR_RT_CONTEXT_NULL;
 *         ACL_ERROR_RT_INVALID_HANDLE.
 * Threads: any.
 * Source:  spec, acl runtime, section 5.
 */
ACL_FUNC_VISIBILITY aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus *status);

/**
 * Number of a stream, one of its own among the living streams of the process.
 *
 * @param stream    in   NULL: the default stream
 * @param streamId  out  number
 *
 * @return as aclrtStreamQuery.
 * Threads: any.
 * Source:  spec, acl runtime, section 5.
 */
ACL_FUNC_VISIBILITY aclError aclrtStreamGetId(aclrtStream stream, int32_t *streamId);

/**
 * Cut off the running task and drop the others. The stream can be used again afterwards.
 *
 * Whoever waits for the stream on the host gets ACL_ERROR_RT_STREAM_ABORT. Streams that wait for
 * its events or notifies are not set free: abort them too.
 *
 * @param stream  in  of the current context
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_STREAM_CONTEXT;
 *         ACL_ERROR_RT_INVALID_HANDLE.
 * Threads: any.
 * Source:  spec, acl runtime, section 5.
 */
ACL_FUNC_VISIBILITY aclError aclrtStreamAbort(aclrtStream stream);

/**
 * Cut off the running task only; the others stay queued.
 *
 * @param stream  in  as for aclrtStreamAbort
 *
 * @return as aclrtStreamAbort.
 * Threads: any.
 * Source:  spec, acl runtime, section 5.
 */
ACL_FUNC_VISIBILITY aclError aclrtStreamStop(aclrtStream stream);

/**
 * Say what happens after a task failed. A stream for which nobody has said it drops what is queued
 * behind the failed task, until a synchronise has returned the error; then it works again: nothing
 * runs on the data that was not made. (On hardware continue is the default.)
 *
 * @param stream  in  NULL: the default stream
 * @param mode        ACL_CONTINUE_ON_FAILURE: what is queued behind runs, and the next synchronise
 *                    returns the first error, once; ACL_STOP_ON_FAILURE: the first failure stops
 *                    every stream of the context for good: nothing queued runs, more is refused,
 *                    and every synchronise returns the error. From stop there is no way back; all
 *                    else may be said again
 *
 * @return ACL_SUCCESS; ACL_ERROR_RT_PARAM_INVALID: another mode; ACL_ERROR_RT_FEATURE_NOT_SUPPORT:
 *         from stop back to continue, on any stream of the context; ACL_ERROR_RT_CONTEXT_NULL;
 *         ACL_ERROR_RT_INVALID_HANDLE.
 * Threads: any.
 * Source:  spec, acl runtime, sections 1.5 and 5; the default is ours.
 */
ACL_FUNC_VISIBILITY aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode);

/**
 * Priority a stream was made with.
 *
 * @param stream    in   NULL: the default stream
 * @param priority  out  0 .. 7
 *
 * @return as aclrtStreamQuery.
 * Threads: any.
 * Source:  spec, acl runtime, section 5.
 */
ACL_FUNC_VISIBILITY aclError aclrtStreamGetPriority(aclrtStream stream, uint32_t *priority);

/**
 * Flags a stream was made with.
 *
 * @param stream  in   NULL: the default stream
 * @param flags   out  ACL_STREAM_*, ORed
 *
 * @return as aclrtStreamQuery.
 * Threads: any.
 * Source:  spec, acl runtime, section 5.
 */
ACL_FUNC_VISIBILITY aclError aclrtStreamGetFlags(aclrtStream stream, uint32_t *flags);

/**
 * How many more streams the current device can have.
 *
 * @param streamCount  out  streams
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_CONTEXT_NULL.
 * Threads: any.
 * Source:  spec, acl runtime, section 5.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetStreamAvailableNum(uint32_t *streamCount);

/**
 * Set an attribute of a stream.
 *
 * @param stream  in  NULL: the default stream
 * @param type        which
 * @param value   in  the member that `type` names
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: `value` is NULL; ACL_ERROR_RT_PARAM_INVALID: no
 * such attribute or value; ACL_ERROR_RT_FEATURE_NOT_SUPPORT; ACL_ERROR_RT_CONTEXT_NULL;
 *         ACL_ERROR_RT_INVALID_HANDLE.
 * Threads: any.
 * Source:  spec, acl runtime, section 5.
 */
ACL_FUNC_VISIBILITY aclError aclrtSetStreamAttribute(aclrtStream stream, aclrtStreamAttr type,
                                                     aclrtStreamAttrValue *value);

/**
 * Read an attribute of a stream.
 *
 * @param stream  in   NULL: the default stream
 * @param type         which
 * @param value   out  the member that `type` names
 *
 * @return as aclrtSetStreamAttribute.
 * Threads: any.
 * Source:  spec, acl runtime, section 5.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetStreamAttribute(aclrtStream stream, aclrtStreamAttr type,
                                                     aclrtStreamAttrValue *value);

/**
 * The range of priorities on the current device.
 *
 * @param leastPriority     out  the lowest priority, 7
 * @param greatestPriority  out  the highest priority, 0
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_CONTEXT_NULL.
 * Threads: any.
 * Source:  spec, acl runtime, section 5.
 */
ACL_FUNC_VISIBILITY aclError aclrtDeviceGetStreamPriorityRange(int32_t *leastPriority,
                                                               int32_t *greatestPriority);

/* ---- Event ---------------------------------------------------------------------------------- */

/**
 * Make an event for waiting and for timing. It may be recorded again and again; the latest counts.
 *
 * Counts as complete until it is recorded. aclrtResetEvent is not for it.
 *
 * @param event  out  the caller's until aclrtDestroyEvent
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_CONTEXT_NULL;
 *         ACL_ERROR_RT_MEMORY_ALLOCATION.
 * Threads: any.
 * Source:  spec, acl runtime, section 6.
 */
ACL_FUNC_VISIBILITY aclError aclrtCreateEvent(aclrtEvent *event);

/**
 * Make an event that is recorded, waited for and reset in turn. Not ready until it is recorded.
 *
 * @param event  out  the caller's until aclrtDestroyEvent
 * @param flag        ACL_EVENT_TIME_LINE, _SYNC, _CAPTURE_STREAM_PROGRESS, ORed; or
 *                    _DEVICE_USE_ONLY alone; or _EXTERNAL alone: recorded, waited for and reset as
 *                    one of _SYNC, and a run of a graph means it itself (docs/graphs.md)
 *
 * @return as aclrtCreateEvent; ACL_ERROR_RT_PARAM_INVALID: 0 or another combination.
 * Threads: any.
 * Source:  spec, acl runtime, section 6.
 */
ACL_FUNC_VISIBILITY aclError aclrtCreateEventWithFlag(aclrtEvent *event, uint32_t flag);

/**
 * Make an event as aclrtCreateEvent does, with only the abilities asked for.
 *
 * @param event  out  the caller's until aclrtDestroyEvent
 * @param flag        ACL_EVENT_TIME_LINE, _SYNC, _CAPTURE_STREAM_PROGRESS, ORed; or _IPC alone
 *
 * @return as aclrtCreateEventWithFlag.
 * Threads: any.
 * Source:  spec, acl runtime, section 6.
 */
ACL_FUNC_VISIBILITY aclError aclrtCreateEventExWithFlag(aclrtEvent *event, uint32_t flag);

/**
 * Free an event. Does not wait: tasks that are queued with it still run.
 *
 * @param event  in  from one of the three above
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_INVALID_HANDLE.
 * Threads: any; nobody may use the event any more.
 * Source:  spec, acl runtime, section 6.
 */
ACL_FUNC_VISIBILITY aclError aclrtDestroyEvent(aclrtEvent event);

/**
 * Queue a mark: the event is complete when all that was queued on the stream before it is done.
 *
 * @param event   in  an event
 * @param stream  in  NULL: the default stream
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: `event` is NULL; ACL_ERROR_RT_CONTEXT_NULL;
 *         ACL_ERROR_RT_STREAM_CONTEXT; ACL_ERROR_RT_INVALID_HANDLE; ACL_ERROR_RT_MEMORY_ALLOCATION.
 * Threads: any.
 * Source:  spec, acl runtime, section 6.
 */
ACL_FUNC_VISIBILITY aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream);

/**
 * Queue the event's way back to unrecorded, normally behind the wait for it.
 *
 * @param event   in  from aclrtCreateEventWithFlag with ACL_EVENT_SYNC
 * @param stream  in  NULL: the default stream
 *
 * @return as aclrtRecordEvent; ACL_ERROR_RT_FEATURE_NOT_SUPPORT: another kind of event.
 * Threads: any.
 * Source:  spec, acl runtime, section 6.
 */
ACL_FUNC_VISIBILITY aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream);

/**
 * Whether what the latest record covers is done. Never waits.
 *
 * @param event   in   an event
 * @param status  out  COMPLETE or NOT_READY
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_INVALID_HANDLE.
 * Threads: any.
 * Source:  spec, acl runtime, section 6.
 */
ACL_FUNC_VISIBILITY aclError aclrtQueryEventStatus(aclrtEvent event,
                                                   aclrtEventRecordedStatus *status);

/**
 * Queue a wait for the event's latest record as of now; recording it again does not change that.
 *
 * Without a record there is nothing to wait for, except for an event from aclrtCreateEventWithFlag:
 * then the stream waits for the first one.
 *
 * @param stream  in  NULL: the default stream
 * @param event   in  able to ACL_EVENT_SYNC; of any context or device of the process
 *
 * @return as aclrtRecordEvent; ACL_ERROR_RT_FEATURE_NOT_SUPPORT: the event has no ACL_EVENT_SYNC.
 * Threads: any.
 * Source:  spec, acl runtime, section 6.
 */
ACL_FUNC_VISIBILITY aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event);

/**
 * Time between two records.
 *
 * @param ms          out  milliseconds
 * @param startEvent  in   recorded and done, able to ACL_EVENT_TIME_LINE
 * @param endEvent    in   likewise
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_INTERNAL_ERROR: never recorded;
 *         ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID: not done yet, or dropped because its stream
 *         failed or was aborted; ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL: the end came first;
 *         ACL_ERROR_RT_INVALID_HANDLE.
 * Threads: any.
 * Source:  spec, acl runtime, section 6.
 */
ACL_FUNC_VISIBILITY aclError aclrtEventElapsedTime(float *ms, aclrtEvent startEvent,
                                                   aclrtEvent endEvent);

/**
 * Wait on the host until the event's latest record is done. Without a record it returns at once.
 *
 * @param event  in  an event
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; what made a task before the record fail;
 *         ACL_ERROR_RT_STREAM_ABORT: the recording stream was aborted; ACL_ERROR_RT_INVALID_HANDLE.
 * Threads: any.
 * Source:  spec, acl runtime, section 6.
 */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeEvent(aclrtEvent event);

/**
 * The same with a limit.
 *
 * @param event      in  an event
 * @param timeoutMs      milliseconds; -1: no limit
 *
 * @return as aclrtSynchronizeEvent; ACL_ERROR_RT_PARAM_INVALID: 0 or less than -1;
 *         ACL_ERROR_RT_EVENT_SYNC_TIMEOUT.
 * Threads: any.
 * Source:  spec, acl runtime, section 6.
 */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeoutMs);

/**
 * aclrtStreamWaitEvent with a limit: when it is over, the stream's task fails.
 *
 * @param stream      in  NULL: the default stream
 * @param event       in  as for aclrtStreamWaitEvent
 * @param timeoutSec      seconds; 0: no limit
 *
 * @return as aclrtStreamWaitEvent; ACL_ERROR_RT_PARAM_INVALID: negative.
 * Threads: any.
 * Source:  spec, acl runtime, section 6.
 */
ACL_FUNC_VISIBILITY aclError aclrtStreamWaitEventWithTimeout(aclrtStream stream, aclrtEvent event,
                                                             int32_t timeoutSec);

/**
 * When the event's latest record was done.
 *
 * @param event        in   able to ACL_EVENT_TIME_LINE
 * @param timestampUs  out  microseconds, on the device's clock
 *
 * @return as aclrtEventElapsedTime.
 * Threads: any.
 * Source:  spec, acl runtime, section 6.
 */
ACL_FUNC_VISIBILITY aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t *timestampUs);

/**
 * Limit for waits queued from now on that have none of their own.
 *
 * @param timeoutSec  seconds; 0: no limit
 *
 * @return ACL_SUCCESS; ACL_ERROR_RT_CONTEXT_NULL.
 * Threads: any.
 * Source:  spec, acl runtime, section 6.
 */
ACL_FUNC_VISIBILITY aclError aclrtSetOpWaitTimeout(uint32_t timeoutSec);

/**
 * Whether the waits queued for an event are over. Never waits.
 *
 * @param event   in   an event
 * @param status  out  COMPLETE or NOT_READY
 *
 * @return as aclrtQueryEventStatus.
 * Threads: any.
 * Source:  spec, acl runtime, section 6.
 */
ACL_FUNC_VISIBILITY aclError aclrtQueryEventWaitStatus(aclrtEvent event,
                                                       aclrtEventWaitStatus *status);

/**
 * Number of an event on its device.
 *
 * @param event    in   able to ACL_EVENT_SYNC
 * @param eventId  out  number
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_INVALID_HANDLE.
 * Threads: any.
 * Source:  spec, acl runtime, section 6.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetEventId(aclrtEvent event, uint32_t *eventId);

/**
 * How many more events the process is good for: 65,536 less those there are. A soft NPU does not
 * insist.
 *
 * @param eventCount  out  events
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL.
 * Threads: any.
 * Source:  spec, acl runtime, section 6.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetEventAvailNum(uint32_t *eventCount);

/* ---- Notify --------------------------------------------------------------------------------- */

/**
 * Make a notify on the current device: one stream records it, another waits for that.
 *
 * Each record satisfies one wait. With the knob NOTIFY_MODE=strict a second record before the wait
 * is lost, as on the hardware.
 *
 * @param notify  out  the caller's until aclrtDestroyNotify; nothing is recorded
 * @param flag         ACL_NOTIFY_DEFAULT or ACL_NOTIFY_DEVICE_USE_ONLY
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_PARAM_INVALID: another flag;
 *         ACL_ERROR_RT_CONTEXT_NULL; ACL_ERROR_RT_NO_NOTIFY_RESOURCE: the device has no more.
 * Threads: any.
 * Source:  spec, acl runtime, section 7.
 */
ACL_FUNC_VISIBILITY aclError aclrtCreateNotify(aclrtNotify *notify, uint64_t flag);

/**
 * Free a notify. One that several processes share goes with the last handle.
 *
 * @param notify  in  from aclrtCreateNotify or aclrtNotifyImportByKey
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_CONTEXT_NULL;
 *         ACL_ERROR_RT_INVALID_HANDLE.
 * Threads: any; no task with the notify may be queued any more.
 * Source:  spec, acl runtime, section 7.
 */
ACL_FUNC_VISIBILITY aclError aclrtDestroyNotify(aclrtNotify notify);

/**
 * Queue a record.
 *
 * @param notify  in  of any device, imported or not
 * @param stream  in  NULL: the default stream
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: `notify` is NULL; ACL_ERROR_RT_CONTEXT_NULL;
 *         ACL_ERROR_RT_STREAM_CONTEXT; ACL_ERROR_RT_INVALID_HANDLE.
 * Threads: any.
 * Source:  spec, acl runtime, section 7.
 */
ACL_FUNC_VISIBILITY aclError aclrtRecordNotify(aclrtNotify notify, aclrtStream stream);

/**
 * Queue a wait for a record, which it takes. When the time is over, the stream's task fails with
 * ACL_ERROR_RT_TASK_TIMEOUT.
 *
 * @param notify      in  made on the stream's device
 * @param stream      in  NULL: the default stream
 * @param timeoutSec      seconds; 0 or UINT32_MAX: no limit
 *
 * @return as aclrtRecordNotify; ACL_ERROR_RT_PARAM_INVALID: another device's notify.
 * Threads: any.
 * Source:  spec, acl runtime, section 7.
 */
ACL_FUNC_VISIBILITY aclError aclrtWaitAndResetNotify(aclrtNotify notify, aclrtStream stream,
                                                     uint32_t timeoutSec);

/**
 * Number of a notify on its device.
 *
 * @param notify    in   a notify
 * @param notifyId  out  number
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_INVALID_HANDLE.
 * Threads: any.
 * Source:  spec, acl runtime, section 7.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetNotifyId(aclrtNotify notify, uint32_t *notifyId);

/**
 * Forget what is recorded, one notify after the other, at once and not in stream order.
 *
 * @param notifies  in  [num] notifies; the first that fails ends it
 * @param num           how many
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL or 0; ACL_ERROR_RT_CONTEXT_NULL;
 *         ACL_ERROR_RT_INVALID_HANDLE.
 * Threads: any.
 * Source:  spec, acl runtime, section 7.
 */
ACL_FUNC_VISIBILITY aclError aclrtNotifyBatchReset(aclrtNotify *notifies, size_t num);

/**
 * Name a notify for other processes.
 *
 * @param notify  in   from aclrtCreateNotify
 * @param key     out  [len] bytes: printable text with its NUL
 * @param len          bytes, 65 or more
 * @param flags        0: only for processes named by aclrtNotifySetImportPid;
 *                     ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION: for all
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_PARAM_INVALID: `len` or `flags`;
 *         ACL_ERROR_RT_CONTEXT_NULL; ACL_ERROR_RT_INVALID_HANDLE.
 * Threads: any.
 * Source:  spec, acl runtime, section 7.
 */
ACL_FUNC_VISIBILITY aclError aclrtNotifyGetExportKey(aclrtNotify notify, char *key, size_t len,
                                                     uint64_t flags);

/**
 * Get a notify that another process named. This side may record it, not wait for it.
 *
 * @param notify  out  the caller's until aclrtDestroyNotify
 * @param key     in   from aclrtNotifyGetExportKey
 * @param flags        0, or ACL_RT_NOTIFY_IMPORT_FLAG_ENABLE_PEER_ACCESS
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_PARAM_INVALID: no such key or
 *         flag; ACL_ERROR_RT_CONTEXT_NULL.
 * Threads: any.
 * Source:  spec, acl runtime, section 7.
 */
ACL_FUNC_VISIBILITY aclError aclrtNotifyImportByKey(aclrtNotify *notify, const char *key,
                                                    uint64_t flags);

/**
 * Say which processes may import a notify.
 *
 * @param notify  in  named by aclrtNotifyGetExportKey
 * @param pid     in  [num] process ids, from aclrtDeviceGetBareTgid
 * @param num         how many
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL or 0; ACL_ERROR_RT_PARAM_INVALID: it has no
 *         name yet; ACL_ERROR_RT_INVALID_HANDLE.
 * Threads: any.
 * Source:  spec, acl runtime, section 7.
 */
ACL_FUNC_VISIBILITY aclError aclrtNotifySetImportPid(aclrtNotify notify, int32_t *pid, size_t num);

/**
 * The same for processes of other servers.
 *
 * @param notify      in  named by aclrtNotifyGetExportKey
 * @param serverPids  in  [num] servers and their processes
 * @param num             how many
 *
 * @return as aclrtNotifySetImportPid; ACL_ERROR_RT_FEATURE_NOT_SUPPORT: not across servers.
 * Threads: any.
 * Source:  spec, acl runtime, section 7.
 */
ACL_FUNC_VISIBILITY aclError aclrtNotifySetImportPidInterServer(aclrtNotify notify,
                                                                aclrtServerPid *serverPids,
                                                                size_t num);

/* ---- Memory: allocation and queries --------------------------------------------------------- */

/**
 * Get memory of the current device. It reads as zeros; pages appear when they are touched.
 *
 * @param devPtr  out  the caller's until aclrtFree; aligned to 64 bytes at least
 * @param size         bytes
 * @param policy       page size; values outside the enumeration are accepted
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL or 0; ACL_ERROR_RT_CONTEXT_NULL;
 *         ACL_ERROR_RT_MEMORY_ALLOCATION: the device is full.
 * Threads: any.
 * Source:  spec, acl runtime, section 8.
 */
ACL_FUNC_VISIBILITY aclError aclrtMalloc(void **devPtr, size_t size, aclrtMemMallocPolicy policy);

/**
 * Give device memory back, at once: it waits for nobody. Needs no context.
 *
 * @param devPtr  in  from aclrtMalloc and its like
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_PARAM_INVALID: no such memory.
 * Threads: any; no task may use the memory any more.
 * Source:  spec, acl runtime, section 8.
 */
ACL_FUNC_VISIBILITY aclError aclrtFree(void *devPtr);

/**
 * Get host memory that device code and asynchronous copies can use.
 *
 * @param hostPtr  out  the caller's until aclrtFreeHost; aligned to 64 bytes at least
 * @param size          bytes
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL or 0; ACL_ERROR_RT_CONTEXT_NULL;
 *         ACL_ERROR_RT_MEMORY_ALLOCATION: there is none.
 * Threads: any.
 * Source:  spec, acl runtime, section 8.
 */
ACL_FUNC_VISIBILITY aclError aclrtMallocHost(void **hostPtr, size_t size);

/**
 * Give host memory back, at once. Needs no context.
 *
 * @param hostPtr  in  from aclrtMallocHost and its like
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_PARAM_INVALID: no such memory.
 * Threads: any; no task may use the memory any more.
 * Source:  spec, acl runtime, section 8.
 */
ACL_FUNC_VISIBILITY aclError aclrtFreeHost(void *hostPtr);

/**
 * Let the current device use host memory of the program's own.
 *
 * @param ptr     in   [size] bytes, aligned to 4 KiB; stays the caller's
 * @param size         bytes
 * @param type         ACL_HOST_REGISTER_MAPPED
 * @param devPtr  out  its address for device code and copies
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL or 0; ACL_ERROR_RT_PARAM_INVALID: alignment;
 *         ACL_ERROR_RT_FEATURE_NOT_SUPPORT: another type; ACL_ERROR_RT_CONTEXT_NULL;
 *         ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED.
 * Threads: any.
 * Source:  spec, acl runtime, section 8.
 */
ACL_FUNC_VISIBILITY aclError aclrtHostRegister(void *ptr, uint64_t size, aclrtHostRegisterType type,
                                               void **devPtr);

/**
 * Undo aclrtHostRegister.
 *
 * @param ptr  in  the host address it was given
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_HOST_MEMORY_NOT_REGISTERED.
 * Threads: any; no task may use the memory any more.
 * Source:  spec, acl runtime, section 8.
 */
ACL_FUNC_VISIBILITY aclError aclrtHostUnregister(void *ptr);

/**
 * Where an address lies. One the runtime does not know is UNREGISTERED, which is no error.
 *
 * @param ptr         in   an address
 * @param attributes  out  location and page size in bytes
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL.
 * Threads: any.
 * Source:  spec, acl runtime, section 8.
 */
ACL_FUNC_VISIBILITY aclError aclrtPointerGetAttributes(const void *ptr,
                                                       aclrtPtrAttributes *attributes);

/**
 * The allocation or mapping that holds an address.
 *
 * @param ptr    in   an address
 * @param pbase  out  its start
 * @param psize  out  its bytes
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_PARAM_INVALID: none holds it.
 * Threads: any.
 * Source:  spec, acl runtime, section 8.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemGetAddressRange(void *ptr, void **pbase, size_t *psize);

/**
 * How much memory the current device has.
 *
 * @param attr        kind of memory; one the device lacks: both 0
 * @param free   out  bytes
 * @param total  out  bytes
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_CONTEXT_NULL.
 * Threads: any.
 * Source:  spec, acl runtime, section 8.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t *free, size_t *total);

/**
 * aclrtMalloc that rounds the size up to 32 bytes and adds nothing.
 *
 * @param devPtr  out  the caller's until aclrtFree
 * @param size         bytes
 * @param policy       as for aclrtMalloc
 *
 * @return as aclrtMalloc.
 * Threads: any.
 * Source:  spec, acl runtime, section 8.
 */
ACL_FUNC_VISIBILITY aclError aclrtMallocAlign32(void **devPtr, size_t size,
                                                aclrtMemMallocPolicy policy);

/**
 * aclrtMalloc of memory that the device caches. Nothing differs on a soft NPU.
 *
 * @param devPtr  out  the caller's until aclrtFree
 * @param size         bytes
 * @param policy       as for aclrtMalloc
 *
 * @return as aclrtMalloc.
 * Threads: any.
 * Source:  spec, acl runtime, section 8.
 */
ACL_FUNC_VISIBILITY aclError aclrtMallocCached(void **devPtr, size_t size,
                                               aclrtMemMallocPolicy policy);

/**
 * aclrtMalloc with attributes.
 *
 * @param devPtr  out  the caller's until aclrtFree
 * @param size         bytes
 * @param policy       as for aclrtMalloc
 * @param cfg     in   NULL: none
 *
 * @return as aclrtMalloc; ACL_ERROR_RT_PARAM_INVALID: no such attribute.
 * Threads: any.
 * Source:  spec, acl runtime, section 8.
 */
ACL_FUNC_VISIBILITY aclError aclrtMallocWithCfg(void **devPtr, size_t size,
                                                aclrtMemMallocPolicy policy,
                                                aclrtMallocConfig *cfg);

/**
 * aclrtMallocHost with attributes.
 *
 * @param ptr   out  the caller's until aclrtFreeHost
 * @param size       bytes
 * @param cfg   in   NULL: none
 *
 * @return as aclrtMallocHost; ACL_ERROR_RT_PARAM_INVALID: no such attribute.
 * Threads: any.
 * Source:  spec, acl runtime, section 8.
 */
ACL_FUNC_VISIBILITY aclError aclrtMallocHostWithCfg(void **ptr, uint64_t size,
                                                    aclrtMallocConfig *cfg);

/**
 * Wait for the device that owns the memory, then aclrtFree.
 *
 * @param devPtr  in  from aclrtMalloc and its like
 *
 * @return as aclrtFree and aclrtSynchronizeDevice.
 * Threads: any.
 * Source:  spec, acl runtime, section 8.
 */
ACL_FUNC_VISIBILITY aclError aclrtFreeWithDevSync(void *devPtr);

/**
 * Wait for the current device, then aclrtFreeHost.
 *
 * @param hostPtr  in  from aclrtMallocHost and its like
 *
 * @return as aclrtFreeHost and aclrtSynchronizeDevice.
 * Threads: any.
 * Source:  spec, acl runtime, section 8.
 */
ACL_FUNC_VISIBILITY aclError aclrtFreeHostWithDevSync(void *hostPtr);

/**
 * aclrtHostRegister without the address; aclrtHostGetDevicePointer tells it.
 *
 * @param ptr   in  [size] bytes; stays the caller's
 * @param size      bytes
 * @param flag      ACL_HOST_REG_*, ORed
 *
 * @return as aclrtHostRegister; ACL_ERROR_RT_PARAM_INVALID also: other bits.
 * Threads: any.
 * Source:  spec, acl runtime, section 8.
 */
ACL_FUNC_VISIBILITY aclError aclrtHostRegisterV2(void *ptr, uint64_t size, uint32_t flag);

/**
 * The device's address of registered host memory.
 *
 * @param pHost    in   inside a range from aclrtHostRegister or aclrtHostRegisterV2
 * @param pDevice  out  address for device code and copies
 * @param flag          0
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_PARAM_INVALID: another flag;
 *         ACL_ERROR_HOST_MEMORY_NOT_REGISTERED.
 * Threads: any.
 * Source:  spec, acl runtime, section 8.
 */
ACL_FUNC_VISIBILITY aclError aclrtHostGetDevicePointer(void *pHost, void **pDevice, uint32_t flag);

/**
 * Write cached device memory back. Soft NPUs are coherent: it only checks its arguments.
 *
 * @param devPtr  in  [size] bytes from aclrtMallocCached
 * @param size        bytes
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL or 0.
 * Threads: any.
 * Source:  spec, acl runtime, section 8.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemFlush(void *devPtr, size_t size);

/**
 * Drop cached device memory. Soft NPUs are coherent: it only checks its arguments.
 *
 * @param devPtr  in  [size] bytes from aclrtMallocCached
 * @param size        bytes
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL or 0.
 * Threads: any.
 * Source:  spec, acl runtime, section 8.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemInvalidate(void *devPtr, size_t size);

/* ---- Memory: copy and set ------------------------------------------------------------------- */

/**
 * Copy, now and without regard to streams; done when it returns.
 *
 * @param dst      out  [destMax] bytes, host or device
 * @param destMax       bytes
 * @param src      in   [count] bytes, host or device
 * @param count         bytes; 0 does nothing, whatever the pointers are
 * @param kind          must agree with the addresses, or be ACL_MEMCPY_DEFAULT. A hint only if
 *                      HCOMM_MEMCPY_KIND is "advisory"
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL or a kind that is not for this function;
 *         ACL_ERROR_RT_PARAM_INVALID: `destMax` is 0 or less than `count`, the kind contradicts the
 *         addresses, or a range leaves its allocation; ACL_ERROR_RT_CONTEXT_NULL.
 * Threads: any.
 * Source:  spec, acl runtime, section 9.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemcpy(void *dst, size_t destMax, const void *src, size_t count,
                                         aclrtMemcpyKind kind);

/**
 * Queue a copy. With ordinary host memory at one end it drains the stream, copies and only then
 * returns; with kind ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE the source is read before it returns.
 *
 * @param dst      out  [destMax] bytes, valid until the stream is past the copy
 * @param destMax       bytes
 * @param src      in   [count] bytes, likewise
 * @param count         bytes; 0 does nothing
 * @param kind          as for aclrtMemcpy
 * @param stream   in   NULL: the default stream
 *
 * @return as aclrtMemcpy; ACL_ERROR_RT_STREAM_CONTEXT; ACL_ERROR_RT_INVALID_HANDLE;
 *         ACL_ERROR_RT_FEATURE_NOT_SUPPORT: host to host.
 * Threads: any.
 * Source:  spec, acl runtime, section 9.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyAsync(void *dst, size_t destMax, const void *src,
                                              size_t count, aclrtMemcpyKind kind,
                                              aclrtStream stream);

/**
 * Fill with a byte, now and without regard to streams; done when it returns.
 *
 * @param devPtr    out  [maxCount] bytes of device memory or of the runtime's host memory
 * @param maxCount       bytes
 * @param value          its low 8 bits
 * @param count          bytes; 0 does nothing
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_PARAM_INVALID: `count` is more
 *         than `maxCount`, or the range leaves its allocation; ACL_ERROR_RT_CONTEXT_NULL.
 * Threads: any.
 * Source:  spec, acl runtime, section 9.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemset(void *devPtr, size_t maxCount, int32_t value,
                                         size_t count);

/**
 * Queue a fill.
 *
 * @param devPtr    out  [maxCount] bytes, valid until the stream is past the fill
 * @param maxCount       bytes
 * @param value          its low 8 bits
 * @param count          bytes; 0 does nothing
 * @param stream    in   NULL: the default stream
 *
 * @return as aclrtMemset; ACL_ERROR_RT_STREAM_CONTEXT; ACL_ERROR_RT_INVALID_HANDLE.
 * Threads: any.
 * Source:  spec, acl runtime, section 9.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemsetAsync(void *devPtr, size_t maxCount, int32_t value,
                                              size_t count, aclrtStream stream);

/**
 * Copy many pieces, now, in any order; all of them host to device or all device to host.
 *
 * @param dsts          out  [numBatches] destinations
 * @param destMaxs      in   [numBatches] bytes each destination has
 * @param srcs          in   [numBatches] sources
 * @param sizes         in   [numBatches] bytes to copy
 * @param numBatches         how many, 1 or more
 * @param attrs         in   [numAttrs] locations
 * @param attrsIndexes  in   [numAttrs] where attrs[k] begins to hold; 0 first, then rising
 * @param numAttrs           1 .. numBatches
 * @param failIndex     out  which piece is wrong; SIZE_MAX: no single one; may be NULL
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL or 0; ACL_ERROR_RT_PARAM_INVALID: a location,
 *         a direction, a size or an index is wrong; ACL_ERROR_RT_CONTEXT_NULL.
 * Threads: any.
 * Source:  spec, acl runtime, section 9.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyBatch(void **dsts, size_t *destMaxs, void **srcs,
                                              size_t *sizes, size_t numBatches,
                                              aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes,
                                              size_t numAttrs, size_t *failIndex);

/**
 * Queue what aclrtMemcpyBatch does. The arrays are read before it returns.
 *
 * @param stream  in  NULL: the default stream; the others as for aclrtMemcpyBatch
 *
 * @return as aclrtMemcpyBatch; ACL_ERROR_RT_STREAM_CONTEXT; ACL_ERROR_RT_INVALID_HANDLE.
 * Threads: any.
 * Source:  spec, acl runtime, section 9.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyBatchAsync(void **dsts, size_t *destMaxs, void **srcs,
                                                   size_t *sizes, size_t numBatches,
                                                   aclrtMemcpyBatchAttr *attrs,
                                                   size_t *attrsIndexes, size_t numAttrs,
                                                   size_t *failIndex, aclrtStream stream);

/**
 * aclrtMemcpyBatch that does not tell which piece is wrong.
 *
 * @return as aclrtMemcpyBatch.
 * Threads: any.
 * Source:  spec, acl runtime, section 9.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyBatchV2(void **dsts, size_t *destMaxs, void **srcs,
                                                size_t *sizes, size_t numBatches,
                                                aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes,
                                                size_t numAttrs);

/**
 * aclrtMemcpyBatchAsync that does not tell which piece is wrong.
 *
 * @return as aclrtMemcpyBatchAsync.
 * Threads: any.
 * Source:  spec, acl runtime, section 9.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyBatchAsyncV2(void **dsts, size_t *destMaxs, void **srcs,
                                                     size_t *sizes, size_t numBatches,
                                                     aclrtMemcpyBatchAttr *attrs,
                                                     size_t *attrsIndexes, size_t numAttrs,
                                                     aclrtStream stream);

/**
 * Copy rows, now; done when it returns.
 *
 * @param dst     out  [height] rows
 * @param dpitch       bytes from row to row, `width` or more
 * @param src     in   [height] rows
 * @param spitch       bytes from row to row, `width` or more
 * @param width        bytes of a row
 * @param height       rows
 * @param kind         ACL_MEMCPY_HOST_TO_DEVICE, _DEVICE_TO_HOST, _DEVICE_TO_DEVICE or _DEFAULT
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL or kind; ACL_ERROR_RT_PARAM_INVALID: `width`
 *         or a pitch; ACL_ERROR_RT_CONTEXT_NULL.
 * Threads: any.
 * Source:  spec, acl runtime, section 9.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemcpy2d(void *dst, size_t dpitch, const void *src, size_t spitch,
                                           size_t width, size_t height, aclrtMemcpyKind kind);

/**
 * Queue what aclrtMemcpy2d does.
 *
 * @param stream  in  NULL: the default stream; the others as for aclrtMemcpy2d, and the memory
 * valid until the stream is past the copy
 *
 * @return as aclrtMemcpy2d; ACL_ERROR_RT_STREAM_CONTEXT; ACL_ERROR_RT_INVALID_HANDLE.
 * Threads: any.
 * Source:  spec, acl runtime, section 9.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemcpy2dAsync(void *dst, size_t dpitch, const void *src,
                                                size_t spitch, size_t width, size_t height,
                                                aclrtMemcpyKind kind, aclrtStream stream);

/**
 * Queue dst[i] = dst[i] op src[i].
 *
 * @param dst      in/out  [count] bytes of device memory, valid until the stream is past the task
 * @param src      in      [count] bytes, likewise
 * @param count            bytes, a multiple of the element's
 * @param kind             op
 * @param type             element
 * @param stream   in      NULL: the default stream
 * @param reserve  in      NULL
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_PARAM_INVALID: `count`, `kind`
 * or `reserve`; ACL_ERROR_RT_FEATURE_NOT_SUPPORT: not for this type; ACL_ERROR_RT_CONTEXT_NULL;
 * ACL_ERROR_RT_STREAM_CONTEXT; ACL_ERROR_RT_INVALID_HANDLE.
 * Threads: any.
 * Source:  spec, acl runtime, section 9.
 */
ACL_FUNC_VISIBILITY aclError aclrtReduceAsync(void *dst, const void *src, uint64_t count,
                                              aclrtReduceKind kind, aclDataType type,
                                              aclrtStream stream, void *reserve);

/**
 * Queue the write of a 64-bit word.
 *
 * @param devAddr  out  device memory, aligned to 8 bytes
 * @param value         the word
 * @param flag          0
 * @param stream   in   NULL: the default stream
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_PARAM_INVALID: alignment, memory
 *         or flag; ACL_ERROR_RT_CONTEXT_NULL; ACL_ERROR_RT_STREAM_CONTEXT;
 *         ACL_ERROR_RT_INVALID_HANDLE.
 * Threads: any.
 * Source:  spec, acl runtime, section 9.
 */
ACL_FUNC_VISIBILITY aclError aclrtValueWrite(void *devAddr, uint64_t value, uint32_t flag,
                                             aclrtStream stream);

/**
 * Queue a wait until a 64-bit word `mem` of device memory fits.
 *
 * @param devAddr  in  device memory, aligned to 8 bytes
 * @param value        to compare with
 * @param flag         ACL_STREAM_WAIT_VALUE_GEQ: (int64_t)(mem - value) >= 0; _EQ: mem == value;
 *                     _AND: (mem & value) != 0; _NOR: ~(mem | value) != 0
 * @param stream   in  NULL: the default stream
 *
 * @return as aclrtValueWrite.
 * Threads: any.
 * Source:  spec, acl runtime, section 9.
 */
ACL_FUNC_VISIBILITY aclError aclrtValueWait(void *devAddr, uint64_t value, uint32_t flag,
                                            aclrtStream stream);

/**
 * Queue a hint to the device's cache. On a soft NPU the task does nothing.
 *
 * @param src      in  [size] bytes of device memory
 * @param size         bytes
 * @param cmoType      ACL_RT_CMO_TYPE_PREFETCH
 * @param stream   in  NULL: the default stream
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL or 0; ACL_ERROR_RT_FEATURE_NOT_SUPPORT:
 * another type; ACL_ERROR_RT_CONTEXT_NULL; ACL_ERROR_RT_STREAM_CONTEXT;
 *         ACL_ERROR_RT_INVALID_HANDLE.
 * Threads: any.
 * Source:  spec, acl runtime, section 9.
 */
ACL_FUNC_VISIBILITY aclError aclrtCmoAsync(void *src, size_t size, aclrtCmoType cmoType,
                                           aclrtStream stream);

/* ---- Memory: address ranges and physical memory --------------------------------------------- */

/**
 * Reserve addresses, which aclrtMapMem fills with memory.
 *
 * @param virPtr     out  the caller's until aclrtReleaseMemAddress; not to be touched before
 * mapping
 * @param size            bytes
 * @param alignment       0
 * @param expectPtr  in   where; NULL: anywhere
 * @param flags           0 or 1
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL or 0; ACL_ERROR_RT_PARAM_INVALID: `alignment`
 *         or `flags`; ACL_ERROR_RT_CONTEXT_NULL; ACL_ERROR_RT_MEMORY_ALLOCATION: not available.
 * Threads: any.
 * Source:  spec, acl runtime, section 10.
 */
ACL_FUNC_VISIBILITY aclError aclrtReserveMemAddress(void **virPtr, size_t size, size_t alignment,
                                                    void *expectPtr, uint64_t flags);

/**
 * Reserve addresses at a place the caller chooses.
 *
 * @param virPtr     out  the caller's until aclrtReleaseMemAddress
 * @param size            bytes, a multiple of 1 GiB
 * @param alignment       0
 * @param expectPtr  in   where, and nowhere else
 * @param flags           0 or 1
 *
 * @return as aclrtReserveMemAddress; ACL_ERROR_RT_PARAM_INVALID also: `size`.
 * Threads: any.
 * Source:  spec, acl runtime, section 10.
 */
ACL_FUNC_VISIBILITY aclError aclrtReserveMemAddressNoUCMemory(void **virPtr, size_t size,
                                                              size_t alignment, void *expectPtr,
                                                              uint64_t flags);

/**
 * Give reserved addresses back. Nothing may be mapped there any more.
 *
 * @param virPtr  in  start of a reserved range
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_PARAM_INVALID: no such range, or
 *         something is mapped.
 * Threads: any.
 * Source:  spec, acl runtime, section 10.
 */
ACL_FUNC_VISIBILITY aclError aclrtReleaseMemAddress(void *virPtr);

/**
 * Get memory without an address.
 *
 * @param handle  out  the caller's until aclrtFreePhysical
 * @param size         bytes, a multiple of aclrtMemGetAllocationGranularity
 * @param prop    in   where and of which kind
 * @param flags        0
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL, 0 or a kind that is not for this function;
 *         ACL_ERROR_RT_PARAM_INVALID: another member or flag; ACL_ERROR_RT_CONTEXT_NULL;
 *         ACL_ERROR_RT_MEMORY_ALLOCATION: there is none.
 * Threads: any.
 * Source:  spec, acl runtime, section 10.
 */
ACL_FUNC_VISIBILITY aclError aclrtMallocPhysical(aclrtDrvMemHandle *handle, size_t size,
                                                 const aclrtPhysicalMemProp *prop, uint64_t flags);

/**
 * Give one reference back. The memory goes with the last one and the last mapping.
 *
 * @param handle  in  once for each aclrtMallocPhysical, import and retain
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_INVALID_HANDLE.
 * Threads: any.
 * Source:  spec, acl runtime, section 10.
 */
ACL_FUNC_VISIBILITY aclError aclrtFreePhysical(aclrtDrvMemHandle handle);

/**
 * Put memory behind reserved addresses.
 *
 * @param virPtr  in  inside a reserved range, aligned to the granularity
 * @param size        bytes: all of the memory
 * @param offset      0
 * @param handle  in  the memory; may be mapped several times
 * @param flags       0
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL or 0; ACL_ERROR_RT_PARAM_INVALID: place, size,
 *         offset or flags; ACL_ERROR_RT_INVALID_HANDLE.
 * Threads: any.
 * Source:  spec, acl runtime, section 10.
 */
ACL_FUNC_VISIBILITY aclError aclrtMapMem(void *virPtr, size_t size, size_t offset,
                                         aclrtDrvMemHandle handle, uint64_t flags);

/**
 * Undo aclrtMapMem.
 *
 * @param virPtr  in  where the mapping starts
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_PARAM_INVALID: no mapping there.
 * Threads: any; no task may use the memory any more.
 * Source:  spec, acl runtime, section 10.
 */
ACL_FUNC_VISIBILITY aclError aclrtUnmapMem(void *virPtr);

/**
 * The size of which physical memory of a kind must be a multiple.
 *
 * @param prop         in   the kind
 * @param option            MINIMUM or RECOMMENDED
 * @param granularity  out  bytes: 4 KiB, 2 MiB or 1 GiB
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL, or another kind or option.
 * Threads: any.
 * Source:  spec, acl runtime, section 10.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp *prop,
                                                              aclrtMemGranularityOptions option,
                                                              size_t *granularity);

/**
 * Make a token by which another process can import memory. Once for each handle.
 *
 * @param handle           in   from aclrtMallocPhysical or aclrtMemRetainAllocationHandle
 * @param flags                 0: only for processes named by aclrtMemSetPidToShareableHandleV2;
 *                              ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION: for all
 * @param shareType             DEFAULT or FABRIC
 * @param shareableHandle  out  a uint64_t or an aclrtMemFabricHandle, as `shareType` says
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL or type; ACL_ERROR_RT_PARAM_INVALID: flags, a
 *         second export, or an imported handle; ACL_ERROR_RT_INVALID_HANDLE.
 * Threads: any.
 * Source:  spec, acl runtime, section 10.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemExportToShareableHandleV2(aclrtDrvMemHandle handle,
                                                               uint64_t flags,
                                                               aclrtMemSharedHandleType shareType,
                                                               void *shareableHandle);

/**
 * Import memory of another process, which must keep it, for the current device.
 *
 * @param shareableHandle  in   a uint64_t or an aclrtMemFabricHandle, as `shareType` says
 * @param shareType             DEFAULT or FABRIC
 * @param flags                 0
 * @param handle           out  the caller's until aclrtFreePhysical
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL or type; ACL_ERROR_RT_PARAM_INVALID: flags, or
 *         no such memory; ACL_ERROR_RT_NO_PERMISSION: this process is not named;
 *         ACL_ERROR_RT_CONTEXT_NULL.
 * Threads: any.
 * Source:  spec, acl runtime, section 10.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemImportFromShareableHandleV2(void *shareableHandle,
                                                                 aclrtMemSharedHandleType shareType,
                                                                 uint64_t flags,
                                                                 aclrtDrvMemHandle *handle);

/**
 * Let others than the owner use mapped memory: another device, or the host.
 *
 * @param virPtr  in  where a mapping starts
 * @param size        bytes: all of the mapping
 * @param desc    in  [count] who; READWRITE only
 * @param count       1 or more
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL or 0; ACL_ERROR_RT_PARAM_INVALID: no such
 *         mapping, or another kind of access or place.
 * Threads: any.
 * Source:  spec, acl runtime, section 10.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemSetAccess(void *virPtr, size_t size, aclrtMemAccessDesc *desc,
                                               size_t count);

/**
 * The memory behind a mapping, with a reference of the caller's own.
 *
 * @param virPtr  in   where a mapping starts
 * @param handle  out  the caller's until aclrtFreePhysical
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_PARAM_INVALID: no mapping there.
 * Threads: any.
 * Source:  spec, acl runtime, section 10.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemRetainAllocationHandle(void *virPtr,
                                                            aclrtDrvMemHandle *handle);

/**
 * Map the memory behind one range at another one too, to be reached over a link of choice.
 *
 * @param virPtrDst  in  start of a reserved range
 * @param size           bytes of both
 * @param virPtrSrc  in  where a mapping starts
 * @param linkIdx        ACL_RT_MEM_LINK_IDX_0 or _1; no difference on a soft NPU
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL or 0; ACL_ERROR_RT_PARAM_INVALID: ranges or
 *         link.
 * Threads: any.
 * Source:  spec, acl runtime, section 10.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemMapSelectedLink(void *virPtrDst, size_t size, void *virPtrSrc,
                                                     uint32_t linkIdx);

/**
 * How a place may use mapped memory.
 *
 * @param virPtr    in   inside a mapping
 * @param location  in   device or host
 * @param flag      out  an aclrtMemAccessFlags
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_PARAM_INVALID: no mapping there.
 * Threads: any.
 * Source:  spec, acl runtime, section 10.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemGetAccess(void *virPtr, aclrtMemLocation *location,
                                               uint64_t *flag);

/**
 * What physical memory was made with.
 *
 * @param handle  in   the memory
 * @param prop    out  where and of which kind
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_INVALID_HANDLE.
 * Threads: any.
 * Source:  spec, acl runtime, section 10.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemGetAllocationPropertiesFromHandle(aclrtDrvMemHandle handle,
                                                                       aclrtPhysicalMemProp *prop);

/**
 * Say which processes may import memory.
 *
 * @param shareableHandle  in  from aclrtMemExportToShareableHandleV2
 * @param shareType            DEFAULT or FABRIC
 * @param pid              in  [pidNum] process ids, from aclrtDeviceGetBareTgid
 * @param pidNum               1 or more
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL, 0 or type; ACL_ERROR_RT_PARAM_INVALID: no
 * such token.
 * Threads: any.
 * Source:  spec, acl runtime, section 10.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemSetPidToShareableHandleV2(void *shareableHandle,
                                                               aclrtMemSharedHandleType shareType,
                                                               int32_t *pid, size_t pidNum);

/**
 * Older form of aclrtMemExportToShareableHandleV2.
 *
 * @param handle           in   the memory
 * @param handleType            ACL_MEM_HANDLE_TYPE_NONE
 * @param flags                 as for the V2 form
 * @param shareableHandle  out  the token
 *
 * @return as aclrtMemExportToShareableHandleV2.
 * Threads: any.
 * Source:  spec, acl runtime, section 10.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemExportToShareableHandle(aclrtDrvMemHandle handle,
                                                             aclrtMemHandleType handleType,
                                                             uint64_t flags,
                                                             uint64_t *shareableHandle);

/**
 * Older form of aclrtMemImportFromShareableHandleV2.
 *
 * @param shareableHandle       the token
 * @param deviceId              user id of the device to import for
 * @param handle           out  the caller's until aclrtFreePhysical
 *
 * @return as aclrtMemImportFromShareableHandleV2; ACL_ERROR_RT_INVALID_DEVICEID.
 * Threads: any.
 * Source:  spec, acl runtime, section 10.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemImportFromShareableHandle(uint64_t shareableHandle,
                                                               int32_t deviceId,
                                                               aclrtDrvMemHandle *handle);

/**
 * Older form of aclrtMemSetPidToShareableHandleV2.
 *
 * @param shareableHandle      the token
 * @param pid              in  [pidNum] process ids
 * @param pidNum               1 or more
 *
 * @return as aclrtMemSetPidToShareableHandleV2.
 * Threads: any.
 * Source:  spec, acl runtime, section 10.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemSetPidToShareableHandle(uint64_t shareableHandle, int32_t *pid,
                                                             size_t pidNum);

/**
 * aclrtMapMem after which nobody may use the memory before aclrtMemSetAccess.
 *
 * @param virPtr  in  as for aclrtMapMem, and so are the others
 * @param size        bytes
 * @param offset      0
 * @param handle  in  the memory
 * @param flags       0
 *
 * @return as aclrtMapMem.
 * Threads: any.
 * Source:  spec, acl runtime, section 10.
 */
ACL_FUNC_VISIBILITY aclError aclrtMemMapNoAccess(void *virPtr, size_t size, size_t offset,
                                                 aclrtDrvMemHandle handle, uint64_t flags);

/* ---- Memory of other processes, and peer access --------------------------------------------- */

/**
 * Name device memory for other processes.
 *
 * @param devPtr  in   from aclrtMalloc
 * @param size         bytes
 * @param key     out  [len] bytes: printable text with its NUL
 * @param len          65
 * @param flags        0: only for processes named by aclrtIpcMemSetImportPid;
 *                     ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION: for all
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL or 0; ACL_ERROR_RT_PARAM_INVALID: memory,
 * `len` or `flags`; ACL_ERROR_RT_CONTEXT_NULL.
 * Threads: any.
 * Source:  spec, acl runtime, section 11.
 */
ACL_FUNC_VISIBILITY aclError aclrtIpcMemGetExportKey(void *devPtr, size_t size, char *key,
                                                     size_t len, uint64_t flags);

/**
 * Get memory that another process named.
 *
 * @param devPtr  out  its address here, until aclrtIpcMemClose
 * @param key     in   from aclrtIpcMemGetExportKey
 * @param flags        0, or ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_PARAM_INVALID: no such key or
 *         flag; ACL_ERROR_RT_NO_PERMISSION: this process is not named; ACL_ERROR_RT_CONTEXT_NULL.
 * Threads: any.
 * Source:  spec, acl runtime, section 11.
 */
ACL_FUNC_VISIBILITY aclError aclrtIpcMemImportByKey(void **devPtr, const char *key, uint64_t flags);

/**
 * Let go of a key: importers first, then the exporter, who frees the memory last.
 *
 * @param key  in  named or imported by this process
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_PARAM_INVALID: no such key.
 * Threads: any; no task may use the imported memory any more.
 * Source:  spec, acl runtime, section 11.
 */
ACL_FUNC_VISIBILITY aclError aclrtIpcMemClose(const char *key);

/**
 * Say which processes may import named memory.
 *
 * @param key  in  from aclrtIpcMemGetExportKey
 * @param pid  in  [num] process ids, from aclrtDeviceGetBareTgid
 * @param num      1 or more
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL or 0; ACL_ERROR_RT_PARAM_INVALID: no such key.
 * Threads: any.
 * Source:  spec, acl runtime, section 11.
 */
ACL_FUNC_VISIBILITY aclError aclrtIpcMemSetImportPid(const char *key, int32_t *pid, size_t num);

/**
 * Set an attribute of named memory.
 *
 * @param key   in  from aclrtIpcMemGetExportKey
 * @param type      ACL_RT_IPC_MEM_ATTR_ACCESS_LINK
 * @param attr      ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_*; no difference on a soft NPU
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL or type; ACL_ERROR_RT_PARAM_INVALID: no such
 *         key or value.
 * Threads: any.
 * Source:  spec, acl runtime, section 11.
 */
ACL_FUNC_VISIBILITY aclError aclrtIpcMemSetAttr(const char *key, aclrtIpcMemAttrType type,
                                                uint64_t attr);

/**
 * aclrtIpcMemSetImportPid for processes of other servers.
 *
 * @param key         in  from aclrtIpcMemGetExportKey
 * @param serverPids  in  [num] servers and their processes
 * @param num             1 or more
 *
 * @return as aclrtIpcMemSetImportPid; ACL_ERROR_RT_FEATURE_NOT_SUPPORT: not across servers.
 * Threads: any.
 * Source:  spec, acl runtime, section 11.
 */
ACL_FUNC_VISIBILITY aclError aclrtIpcMemImportPidInterServer(const char *key,
                                                             aclrtServerPid *serverPids,
                                                             size_t num);

/**
 * Let the current device use a peer's memory. Not the other way round. Again is no error.
 *
 * @param peerDeviceId  user id
 * @param flags         0
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: the device itself; ACL_ERROR_FEATURE_UNSUPPORTED:
 *         other flags; ACL_ERROR_RT_INVALID_DEVICEID; ACL_ERROR_RT_CONTEXT_NULL.
 * Threads: any.
 * Source:  spec, acl runtime, section 11.
 */
ACL_FUNC_VISIBILITY aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags);

/**
 * Undo aclrtDeviceEnablePeerAccess.
 *
 * @param peerDeviceId  user id
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: the device itself; ACL_ERROR_RT_INVALID_DEVICEID;
 *         ACL_ERROR_RT_CONTEXT_NULL.
 * Threads: any.
 * Source:  spec, acl runtime, section 11.
 */
ACL_FUNC_VISIBILITY aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId);

/**
 * Whether aclrtDeviceEnablePeerAccess could work.
 *
 * @param canAccessPeer  out  1: yes, 0: no
 * @param deviceId            user id
 * @param peerDeviceId        user id of another one
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL or twice the same device;
 *         ACL_ERROR_RT_INVALID_DEVICEID.
 * Threads: any.
 * Source:  spec, acl runtime, section 11.
 */
ACL_FUNC_VISIBILITY aclError aclrtDeviceCanAccessPeer(int32_t *canAccessPeer, int32_t deviceId,
                                                      int32_t peerDeviceId);

/**
 * Whether aclrtDeviceEnablePeerAccess is in force.
 *
 * @param deviceId           user id
 * @param peerDeviceId       user id
 * @param status        out  1: yes, 0: no
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_INVALID_DEVICEID.
 * Threads: any.
 * Source:  spec, acl runtime, section 11.
 */
ACL_FUNC_VISIBILITY aclError aclrtDevicePeerAccessStatus(int32_t deviceId, int32_t peerDeviceId,
                                                         int32_t *status);

/* ---- Loading kernels ------------------------------------------------------------------------ */

/**
 * Load kernels. With the option CPU_KERNEL_MODE they are AICPU kernels, described by a JSON file.
 *
 * Mode 0 registers what the JSON names, whose library is looked for when a kernel runs; mode 1 also
 * loads the library of the same name beside it. Each call gives a handle of its own.
 *
 * @param binPath    in   the JSON, or its name with another extension
 * @param options    in   NULL: an AI Core object
 * @param binHandle  out  the caller's until aclrtBinaryUnLoad
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: `binPath` or `binHandle` is NULL;
 *         ACL_ERROR_RT_PARAM_INVALID: an option, the file or its contents;
 *         ACL_ERROR_RT_FEATURE_NOT_SUPPORT: an AI Core object.
 * Threads: any.
 * Source:  spec, acl runtime, section 12.
 */
ACL_FUNC_VISIBILITY aclError aclrtBinaryLoadFromFile(const char *binPath,
                                                     aclrtBinaryLoadOptions *options,
                                                     aclrtBinHandle *binHandle);

/**
 * Find a kernel by its name: for AICPU kernels the key in the JSON. Needs a current context.
 *
 * @param binHandle   in   from one of the loading functions
 * @param kernelName  in   name
 * @param funcHandle  out  the binary's; good until it is unloaded
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_PARAM_INVALID: no such kernel,
 * or no context; ACL_ERROR_RT_INVALID_HANDLE.
 * Threads: any.
 * Source:  spec, acl runtime, section 12.
 */
ACL_FUNC_VISIBILITY aclError aclrtBinaryGetFunction(const aclrtBinHandle binHandle,
                                                    const char *kernelName,
                                                    aclrtFuncHandle *funcHandle);

/**
 * Describe a kernel object in memory. The memory is not copied.
 *
 * @param data     in  [dataLen] bytes, unchanged until aclrtBinaryLoad has returned
 * @param dataLen      bytes
 *
 * @return the description, the caller's until aclrtDestroyBinary; NULL: an argument is wrong or
 *         there is no memory.
 * Threads: any.
 * Source:  spec, acl runtime, section 12.
 */
ACL_FUNC_VISIBILITY aclrtBinary aclrtCreateBinary(const void *data, size_t dataLen);

/**
 * Free a description, not what was loaded from it.
 *
 * @param binary  in  from aclrtCreateBinary
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_INVALID_HANDLE.
 * Threads: any.
 * Source:  spec, acl runtime, section 12.
 */
ACL_FUNC_VISIBILITY aclError aclrtDestroyBinary(aclrtBinary binary);

/**
 * Load the AI Core object that a description describes.
 *
 * @param binary     in   from aclrtCreateBinary
 * @param binHandle  out  the caller's until aclrtBinaryUnLoad
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_PARAM_INVALID: not an object;
 *         ACL_ERROR_RT_FEATURE_NOT_SUPPORT: soft NPUs run AICPU kernels only.
 * Threads: any.
 * Source:  spec, acl runtime, section 12.
 */
ACL_FUNC_VISIBILITY aclError aclrtBinaryLoad(const aclrtBinary binary, aclrtBinHandle *binHandle);

/**
 * Unload kernels. Their handles are dead; launches with them answer ACL_ERROR_RT_INVALID_HANDLE.
 *
 * @param binHandle  in  from one of the loading functions
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_INVALID_HANDLE.
 * Threads: any; no kernel of it may be queued or running.
 * Source:  spec, acl runtime, section 12.
 */
ACL_FUNC_VISIBILITY aclError aclrtBinaryUnLoad(aclrtBinHandle binHandle);

/**
 * Load kernels from memory, which is copied. With CPU_KERNEL_MODE 2 it is a library of AICPU
 * kernels, each of which then wants aclrtRegisterCpuFunc.
 *
 * @param data       in   [length] bytes
 * @param length          bytes
 * @param options    in   NULL: an AI Core object
 * @param binHandle  out  the caller's until aclrtBinaryUnLoad
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_PARAM_INVALID: length, option or
 *         contents; ACL_ERROR_RT_FEATURE_NOT_SUPPORT: an AI Core object.
 * Threads: any.
 * Source:  spec, acl runtime, section 12.
 */
ACL_FUNC_VISIBILITY aclError aclrtBinaryLoadFromData(const void *data, size_t length,
                                                     const aclrtBinaryLoadOptions *options,
                                                     aclrtBinHandle *binHandle);

/**
 * Name an AICPU kernel of a library loaded from memory. A name that exists gives the same handle.
 *
 * @param handle      in   from aclrtBinaryLoadFromData with CPU_KERNEL_MODE 2
 * @param funcName    in   the library's symbol
 * @param kernelName  in   the kernel's name
 * @param funcHandle  out  the binary's; good until it is unloaded
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_PARAM_INVALID: another kind of
 *         handle; ACL_ERROR_RT_INVALID_HANDLE.
 * Threads: any.
 * Source:  spec, acl runtime, section 12.
 */
ACL_FUNC_VISIBILITY aclError aclrtRegisterCpuFunc(const aclrtBinHandle handle, const char *funcName,
                                                  const char *kernelName,
                                                  aclrtFuncHandle *funcHandle);

/**
 * Find a kernel of an AI Core object by its entry's number.
 *
 * @param binHandle   in   from one of the loading functions
 * @param funcEntry        number
 * @param funcHandle  out  the binary's
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_PARAM_INVALID: no such entry;
 *         ACL_ERROR_RT_FEATURE_NOT_SUPPORT: AICPU kernels have none; ACL_ERROR_RT_INVALID_HANDLE.
 * Threads: any.
 * Source:  spec, acl runtime, section 12.
 */
ACL_FUNC_VISIBILITY aclError aclrtBinaryGetFunctionByEntry(aclrtBinHandle binHandle,
                                                           uint64_t funcEntry,
                                                           aclrtFuncHandle *funcHandle);

/**
 * Where an AI Core object lies on the device.
 *
 * @param binHandle  in   from one of the loading functions
 * @param binAddr    out  device address
 * @param binSize    out  bytes
 *
 * @return as aclrtBinaryGetFunctionByEntry.
 * Threads: any.
 * Source:  spec, acl runtime, section 12.
 */
ACL_FUNC_VISIBILITY aclError aclrtBinaryGetDevAddress(const aclrtBinHandle binHandle,
                                                      void **binAddr, size_t *binSize);

/**
 * Name of a kernel.
 *
 * @param funcHandle  in   the kernel
 * @param maxLen           bytes of `name`
 * @param name        out  text with its NUL
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL or 0; ACL_ERROR_RT_PARAM_INVALID: too short;
 *         ACL_ERROR_RT_INVALID_HANDLE.
 * Threads: any.
 * Source:  spec, acl runtime, section 12.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetFunctionName(aclrtFuncHandle funcHandle, uint32_t maxLen,
                                                  char *name);

/**
 * A fact about a kernel.
 *
 * @param funcHandle  in   the kernel
 * @param attrType         which
 * @param attrValue   out  for ACL_FUNC_ATTR_KERNEL_TYPE an aclrtKernelType
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_PARAM_INVALID: no such fact;
 *         ACL_ERROR_RT_FEATURE_NOT_SUPPORT: not of an AICPU kernel; ACL_ERROR_RT_INVALID_HANDLE.
 * Threads: any.
 * Source:  spec, acl runtime, section 12.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetFunctionAttribute(aclrtFuncHandle funcHandle,
                                                       aclrtFuncAttribute attrType,
                                                       int64_t *attrValue);

/**
 * The binary a kernel belongs to.
 *
 * @param funcHandle  in   the kernel
 * @param binHandle   out  still its loader's
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_INVALID_HANDLE.
 * Threads: any.
 * Source:  spec, acl runtime, section 12.
 */
ACL_FUNC_VISIBILITY aclError aclrtFunctionGetBinary(const aclrtFuncHandle funcHandle,
                                                    aclrtBinHandle *binHandle);

/**
 * Device addresses of an AI Core kernel's two halves.
 *
 * @param funcHandle  in   the kernel
 * @param aicAddr     out  cube half; NULL: none
 * @param aivAddr     out  vector half; NULL: none
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_FEATURE_NOT_SUPPORT: an AICPU
 *         kernel; ACL_ERROR_RT_INVALID_HANDLE.
 * Threads: any.
 * Source:  spec, acl runtime, section 12.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetFunctionAddr(aclrtFuncHandle funcHandle, void **aicAddr,
                                                  void **aivAddr);

/* ---- Kernel arguments ----------------------------------------------------------------------- */

/**
 * Begin the arguments of a launch.
 *
 * @param funcHandle  in   the kernel
 * @param argsHandle  out  the calling thread's one block, emptied; the library's; never freed. Not
 *                         for other threads. May be used again once the launch has returned.
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_INVALID_HANDLE.
 * Threads: any.
 * Source:  spec, acl runtime, section 13.
 */
ACL_FUNC_VISIBILITY aclError aclrtKernelArgsInit(aclrtFuncHandle funcHandle,
                                                 aclrtArgsHandle *argsHandle);

/**
 * Add an argument. AICPU kernels get them packed, AI Core kernels aligned to 8 bytes.
 *
 * @param argsHandle   in   from aclrtKernelArgsInit
 * @param param        in   [paramSize] bytes, copied
 * @param paramSize         bytes
 * @param paramHandle  out  for aclrtKernelArgsParaUpdate
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL or 0; ACL_ERROR_RT_PARAM_INVALID: more than
 *         64 KiB or 128 arguments; ACL_ERROR_RT_FEATURE_NOT_SUPPORT: the block is complete.
 * Threads: the one the block belongs to.
 * Source:  spec, acl runtime, section 13.
 */
ACL_FUNC_VISIBILITY aclError aclrtKernelArgsAppend(aclrtArgsHandle argsHandle, void *param,
                                                   size_t paramSize, aclrtParamHandle *paramHandle);

/**
 * End the arguments. Needs a current context.
 *
 * @param argsHandle  in  from aclrtKernelArgsInit
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_CONTEXT_NULL.
 * Threads: the one the block belongs to.
 * Source:  spec, acl runtime, section 13.
 */
ACL_FUNC_VISIBILITY aclError aclrtKernelArgsFinalize(aclrtArgsHandle argsHandle);

/**
 * Change an argument. aclrtKernelArgsFinalize must follow.
 *
 * @param argsHandle   in  from aclrtKernelArgsInit
 * @param paramHandle  in  from aclrtKernelArgsAppend
 * @param param        in  [paramSize] bytes, copied
 * @param paramSize        bytes, as many as before
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL or 0; ACL_ERROR_RT_PARAM_INVALID: another size
 *         or block.
 * Threads: the one the block belongs to.
 * Source:  spec, acl runtime, section 13.
 */
ACL_FUNC_VISIBILITY aclError aclrtKernelArgsParaUpdate(aclrtArgsHandle argsHandle,
                                                       aclrtParamHandle paramHandle, void *param,
                                                       size_t paramSize);

/**
 * Add an argument that becomes the device address of data inside the block.
 *
 * @param argsHandle   in   from aclrtKernelArgsInit
 * @param paramHandle  out  for aclrtKernelArgsGetPlaceHolderBuffer
 *
 * @return as aclrtKernelArgsAppend.
 * Threads: the one the block belongs to.
 * Source:  spec, acl runtime, section 13.
 */
ACL_FUNC_VISIBILITY aclError aclrtKernelArgsAppendPlaceHolder(aclrtArgsHandle argsHandle,
                                                              aclrtParamHandle *paramHandle);

/**
 * Room in the block for a place holder's data. All arguments must have been added.
 *
 * @param argsHandle   in   from aclrtKernelArgsInit
 * @param paramHandle  in   from aclrtKernelArgsAppendPlaceHolder
 * @param dataSize          bytes
 * @param bufferAddr   out  [dataSize] bytes to be filled in before aclrtKernelArgsFinalize
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL or 0; ACL_ERROR_RT_PARAM_INVALID: no room, or
 *         not a place holder; ACL_ERROR_RT_FEATURE_NOT_SUPPORT: the block is complete.
 * Threads: the one the block belongs to.
 * Source:  spec, acl runtime, section 13.
 */
ACL_FUNC_VISIBILITY aclError aclrtKernelArgsGetPlaceHolderBuffer(aclrtArgsHandle argsHandle,
                                                                 aclrtParamHandle paramHandle,
                                                                 size_t dataSize,
                                                                 void **bufferAddr);

/**
 * How much memory aclrtKernelArgsInitByUserMem needs for the arguments.
 *
 * @param funcHandle      in   the kernel
 * @param userArgsSize         bytes of the caller's arguments
 * @param actualArgsSize  out  bytes
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL or 0; ACL_ERROR_RT_INVALID_HANDLE.
 * Threads: any.
 * Source:  spec, acl runtime, section 13.
 */
ACL_FUNC_VISIBILITY aclError aclrtKernelArgsGetMemSize(aclrtFuncHandle funcHandle,
                                                       size_t userArgsSize, size_t *actualArgsSize);

/**
 * How much memory aclrtKernelArgsInitByUserMem needs for the handle.
 *
 * @param funcHandle  in   the kernel
 * @param memSize     out  bytes
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_INVALID_HANDLE.
 * Threads: any.
 * Source:  spec, acl runtime, section 13.
 */
ACL_FUNC_VISIBILITY aclError aclrtKernelArgsGetHandleMemSize(aclrtFuncHandle funcHandle,
                                                             size_t *memSize);

/**
 * aclrtKernelArgsInit in memory of the caller's.
 *
 * @param funcHandle      in   the kernel
 * @param argsHandle      out  aclrtKernelArgsGetHandleMemSize bytes that become the handle
 * @param userHostMem     out  [actualArgsSize] bytes for the arguments
 * @param actualArgsSize       bytes, from aclrtKernelArgsGetMemSize
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL or 0; ACL_ERROR_RT_INVALID_HANDLE.
 * Threads: any; both pieces of memory must stay until the launch has returned.
 * Source:  spec, acl runtime, section 13.
 */
ACL_FUNC_VISIBILITY aclError aclrtKernelArgsInitByUserMem(aclrtFuncHandle funcHandle,
                                                          aclrtArgsHandle argsHandle,
                                                          void *userHostMem, size_t actualArgsSize);

/* ---- Launch --------------------------------------------------------------------------------- */

/**
 * Queue a kernel with arguments from a handle, which are copied.
 *
 * An AICPU kernel that fails makes the next synchronising call answer ACL_ERROR_RT_AICPU_EXCEPTION,
 * one that runs too long ACL_ERROR_RT_AICPU_TIMEOUT.
 *
 * @param funcHandle  in  the kernel
 * @param numBlocks       how many times it runs, 1 or more
 * @param stream      in  NULL: the default stream
 * @param cfg         in  attributes; NULL: none
 * @param argsHandle  in  after aclrtKernelArgsFinalize
 * @param reserve     in  NULL
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL, 0 blocks or `reserve`;
 *         ACL_ERROR_RT_PARAM_INVALID: attributes, or the arguments are not complete;
 *         ACL_ERROR_RT_CONTEXT_NULL; ACL_ERROR_RT_STREAM_CONTEXT; ACL_ERROR_RT_INVALID_HANDLE: the
 *         kernel is unloaded.
 * Threads: any.
 * Source:  spec, acl runtime, section 14.
 */
ACL_FUNC_VISIBILITY aclError aclrtLaunchKernelWithConfig(aclrtFuncHandle funcHandle,
                                                         uint32_t numBlocks, aclrtStream stream,
                                                         aclrtLaunchKernelCfg *cfg,
                                                         aclrtArgsHandle argsHandle, void *reserve);

/**
 * Queue a kernel with arguments from host memory, which are copied.
 *
 * @param funcHandle        in  the kernel
 * @param numBlocks             how many times it runs, 1 or more
 * @param stream            in  NULL: the default stream
 * @param cfg               in  attributes; NULL: none
 * @param hostArgs          in  [argsSize] bytes
 * @param argsSize              bytes
 * @param placeHolderArray  in  [placeHolderNum] addresses to put into the copy; NULL: none
 * @param placeHolderNum        how many
 *
 * @return as aclrtLaunchKernelWithConfig; ACL_ERROR_RT_PARAM_INVALID also: 0 blocks or bytes.
 * Threads: any.
 * Source:  spec, acl runtime, section 14.
 */
ACL_FUNC_VISIBILITY aclError aclrtLaunchKernelWithHostArgs(
    aclrtFuncHandle funcHandle, uint32_t numBlocks, aclrtStream stream, aclrtLaunchKernelCfg *cfg,
    void *hostArgs, size_t argsSize, aclrtPlaceHolderInfo *placeHolderArray, size_t placeHolderNum);

/**
 * Queue a kernel with arguments in device memory, which are not copied.
 *
 * @param funcHandle  in  the kernel
 * @param numBlocks       how many times it runs, 1 or more
 * @param argsData    in  [argsSize] bytes of device memory, unchanged until the kernel has run
 * @param argsSize        bytes
 * @param cfg         in  attributes; NULL: none
 * @param stream      in  NULL: the default stream
 *
 * @return as aclrtLaunchKernelWithHostArgs.
 * Threads: any.
 * Source:  spec, acl runtime, section 14.
 */
ACL_FUNC_VISIBILITY aclError aclrtLaunchKernelV2(aclrtFuncHandle funcHandle, uint32_t numBlocks,
                                                 const void *argsData, size_t argsSize,
                                                 aclrtLaunchKernelCfg *cfg, aclrtStream stream);

/**
 * aclrtLaunchKernelV2 without attributes.
 *
 * @param funcHandle  in  the kernel
 * @param numBlocks       how many times it runs, 1 or more
 * @param argsData    in  [argsSize] bytes of device memory, unchanged until the kernel has run
 * @param argsSize        bytes
 * @param stream      in  NULL: the default stream
 *
 * @return as aclrtLaunchKernelV2.
 * Threads: any.
 * Source:  spec, acl runtime, section 14.
 */
ACL_FUNC_VISIBILITY aclError aclrtLaunchKernel(aclrtFuncHandle funcHandle, uint32_t numBlocks,
                                               const void *argsData, size_t argsSize,
                                               aclrtStream stream);

/**
 * Queue an AI Core kernel with an array of pointers to its arguments, which are copied.
 *
 * @param func       in  the kernel
 * @param numBlocks      how many times it runs, 1 or more
 * @param stream     in  NULL: the default stream
 * @param cfg        in  attributes; NULL: none
 * @param args       in  as many pointers as the kernel has arguments
 *
 * @return as aclrtLaunchKernelWithHostArgs; ACL_ERROR_RT_FEATURE_NOT_SUPPORT: an AICPU kernel.
 * Threads: any.
 * Source:  spec, acl runtime, section 14.
 */
ACL_FUNC_VISIBILITY aclError aclrtLaunchKernelWithArgsArray(void *func, uint32_t numBlocks,
                                                            aclrtStream stream,
                                                            aclrtLaunchKernelCfg *cfg, void **args);

/* ---- Callbacks ------------------------------------------------------------------------------ */

/**
 * Queue a function of the program's. It runs on a thread of the library; later tasks wait for it.
 *
 * @param stream  in  NULL: the default stream
 * @param fn      in  must not allocate from, synchronise with, launch to or abort the runtime
 * @param args    in  handed to `fn`
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: `fn` is NULL; ACL_ERROR_RT_CONTEXT_NULL;
 *         ACL_ERROR_RT_STREAM_CONTEXT; ACL_ERROR_RT_INVALID_HANDLE.
 * Threads: any.
 * Source:  spec, acl runtime, section 15.
 */
ACL_FUNC_VISIBILITY aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void *args);

/**
 * Have a thread of the program's run a stream's callbacks.
 *
 * @param threadId      the thread, which calls aclrtProcessReport; a pthread_t
 * @param stream    in  NULL: the default stream
 *
 * @return ACL_SUCCESS; ACL_ERROR_RT_STREAM_SUBSCRIBE: another thread does;
 * ACL_ERROR_RT_CONTEXT_NULL; ACL_ERROR_RT_INVALID_HANDLE.
 * Threads: any.
 * Source:  spec, acl runtime, section 15.
 */
ACL_FUNC_VISIBILITY aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream);

/**
 * Queue a function that the subscribed thread runs.
 *
 * @param fn         in  the function
 * @param userData   in  handed to `fn`
 * @param blockType      ACL_CALLBACK_BLOCK: later tasks wait for it; ACL_CALLBACK_NO_BLOCK: not
 * @param stream     in  NULL: the default stream; not one with aclrtLaunchHostFunc
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: `fn` is NULL or the type;
 *         ACL_ERROR_RT_STREAM_NO_CB_REG; ACL_ERROR_RT_CONTEXT_NULL; ACL_ERROR_RT_STREAM_CONTEXT;
 *         ACL_ERROR_RT_INVALID_HANDLE.
 * Threads: any.
 * Source:  spec, acl runtime, section 15.
 */
ACL_FUNC_VISIBILITY aclError aclrtLaunchCallback(aclrtCallback fn, void *userData,
                                                 aclrtCallbackBlockType blockType,
                                                 aclrtStream stream);

/**
 * Wait for a callback of a subscribed stream and run it.
 *
 * @param timeoutMs  milliseconds; -1: no limit
 *
 * @return ACL_SUCCESS; ACL_ERROR_RT_PARAM_INVALID: 0 or less than -1; ACL_ERROR_RT_REPORT_TIMEOUT;
 *         ACL_ERROR_RT_THREAD_SUBSCRIBE: the calling thread is subscribed to nothing.
 * Threads: any.
 * Source:  spec, acl runtime, section 15.
 */
ACL_FUNC_VISIBILITY aclError aclrtProcessReport(int32_t timeoutMs);

/**
 * Undo aclrtSubscribeReport.
 *
 * @param threadId      the thread
 * @param stream    in  NULL: the default stream
 *
 * @return ACL_SUCCESS; ACL_ERROR_RT_THREAD_SUBSCRIBE or ACL_ERROR_RT_STREAM_SUBSCRIBE: they do not
 *         belong together; ACL_ERROR_RT_CONTEXT_NULL; ACL_ERROR_RT_INVALID_HANDLE.
 * Threads: any.
 * Source:  spec, acl runtime, section 15.
 */
ACL_FUNC_VISIBILITY aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream);

/**
 * Have one function told of every failed task; a second one takes its place. Old form: prefer
 * aclrtExceptionInfoCallbackRegister, which this does not disturb.
 *
 * @param callback  in  as for aclrtExceptionInfoCallbackRegister; NULL: none any more
 *
 * @return ACL_SUCCESS.
 * Threads: any.
 * Source:  spec, acl runtime, section 15.
 */
ACL_FUNC_VISIBILITY aclError aclrtSetExceptionInfoCallback(aclrtExceptionInfoCallback callback);

/**
 * Have a function told of every failed task of the process. The same function again is no error.
 *
 * @param callback  in  runs on a thread of the library; its argument lives for the call; it must
 * not wait for, allocate from or queue to the runtime
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL.
 * Threads: any; calls of `callback` may overlap.
 * Source:  spec, acl runtime, section 15.
 */
ACL_FUNC_VISIBILITY aclError
aclrtExceptionInfoCallbackRegister(aclrtExceptionInfoCallback callback);

/**
 * Undo aclrtExceptionInfoCallbackRegister.
 *
 * @param callback  in  the function
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_PARAM_INVALID: not registered.
 * Threads: any.
 * Source:  spec, acl runtime, section 15.
 */
ACL_FUNC_VISIBILITY aclError
aclrtExceptionInfoCallbackUnregister(aclrtExceptionInfoCallback callback);

/**
 * Number of the failed task, as rtGetTaskIdAndStreamID tells.
 *
 * @param info  in  as the callback got it
 *
 * @return number; 0xFFFFFFFF: `info` is NULL or the whole device failed.
 * Threads: any.
 * Source:  spec, acl runtime, section 15.
 */
ACL_FUNC_VISIBILITY uint32_t aclrtGetTaskIdFromExceptionInfo(const aclrtExceptionInfo *info);

/**
 * Number of the failed task's stream, as aclrtStreamGetId tells.
 *
 * @param info  in  as the callback got it
 *
 * @return number; 0xFFFFFFFF: `info` is NULL or the whole device failed.
 * Threads: any.
 * Source:  spec, acl runtime, section 15.
 */
ACL_FUNC_VISIBILITY uint32_t aclrtGetStreamIdFromExceptionInfo(const aclrtExceptionInfo *info);

/**
 * Number of the thread that queued the failed task.
 *
 * @param info  in  as the callback got it
 *
 * @return number; 0xFFFFFFFF: `info` is NULL or the whole device failed.
 * Threads: any.
 * Source:  spec, acl runtime, section 15.
 */
ACL_FUNC_VISIBILITY uint32_t aclrtGetThreadIdFromExceptionInfo(const aclrtExceptionInfo *info);

/**
 * Device of the failed task, as aclrtGetDevice tells.
 *
 * @param info  in  as the callback got it
 *
 * @return user id; 0xFFFFFFFF: `info` is NULL.
 * Threads: any.
 * Source:  spec, acl runtime, section 15.
 */
ACL_FUNC_VISIBILITY uint32_t aclrtGetDeviceIdFromExceptionInfo(const aclrtExceptionInfo *info);

/**
 * What made the task fail.
 *
 * @param info  in  as the callback got it
 *
 * @return a code of rt_error_codes.h; 0xFFFFFFFF: `info` is NULL.
 * Threads: any.
 * Source:  spec, acl runtime, section 15.
 */
ACL_FUNC_VISIBILITY uint32_t aclrtGetErrorCodeFromExceptionInfo(const aclrtExceptionInfo *info);

/* ---- Errors --------------------------------------------------------------------------------- */

/**
 * The calling thread's last error from the runtime layer, which is then forgotten. Success in
 * between does not clear it.
 *
 * @param level  ACL_RT_THREAD_LEVEL
 *
 * @return the error; 0: none; ACL_ERROR_INVALID_PARAM: another level.
 * Threads: any.
 * Source:  spec, acl runtime, section 16.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetLastError(aclrtLastErrLevel level);

/**
 * The same, not forgotten.
 *
 * @param level  ACL_RT_THREAD_LEVEL
 *
 * @return as aclrtGetLastError.
 * Threads: any.
 * Source:  spec, acl runtime, section 16.
 */
ACL_FUNC_VISIBILITY aclError aclrtPeekAtLastError(aclrtLastErrLevel level);

/**
 * What went wrong since the last call, in words, newest first; then it is forgotten. Of the calling
 * thread, or, with err_msg_mode "1", of the process.
 *
 * @return text, valid until the thread's next call; NULL: nothing.
 * Threads: any.
 * Source:  spec, acl runtime, section 16.
 */
ACL_FUNC_VISIBILITY const char *aclGetRecentErrMsg(void);

/* ---- Timeouts, limits, versions ------------------------------------------------------------- */

/**
 * The step in which kernel timeouts are counted: 1 to 254 steps are possible.
 *
 * @param intervalUs  out  microseconds, more than 0
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_CONTEXT_NULL.
 * Threads: any.
 * Source:  spec, acl runtime, section 17.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetOpTimeOutInterval(uint64_t *intervalUs);

/**
 * Limit for kernels that have no attribute for it.
 *
 * @param timeoutSec  seconds; 0: the longest
 *
 * @return ACL_SUCCESS; ACL_ERROR_RT_CONTEXT_NULL.
 * Threads: any.
 * Source:  spec, acl runtime, section 17.
 */
ACL_FUNC_VISIBILITY aclError aclrtSetOpExecuteTimeOut(uint32_t timeoutSec);

/**
 * The same in milliseconds.
 *
 * @param timeoutMs  milliseconds; 0: the longest
 *
 * @return as aclrtSetOpExecuteTimeOut.
 * Threads: any.
 * Source:  spec, acl runtime, section 17.
 */
ACL_FUNC_VISIBILITY aclError aclrtSetOpExecuteTimeOutWithMs(uint32_t timeoutMs);

/**
 * The same in microseconds.
 *
 * @param timeoutUs             microseconds; 0: the longest
 * @param actualTimeoutUs  out  what it comes to in whole steps
 *
 * @return as aclrtSetOpExecuteTimeOut; ACL_ERROR_INVALID_PARAM: NULL.
 * Threads: any.
 * Source:  spec, acl runtime, section 17.
 */
ACL_FUNC_VISIBILITY aclError aclrtSetOpExecuteTimeOutV2(uint64_t timeoutUs,
                                                        uint64_t *actualTimeoutUs);

/**
 * The limit in force.
 *
 * @param timeoutMs  out  milliseconds
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_CONTEXT_NULL.
 * Threads: any.
 * Source:  spec, acl runtime, section 17.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetOpExecuteTimeout(uint32_t *const timeoutMs);

/**
 * What numbers too large become on the current device. Kept, and without effect on a soft NPU.
 *
 * @param mode  ACL_RT_OVERFLOW_MODE_SATURATION or _INFNAN
 *
 * @return ACL_SUCCESS; ACL_ERROR_RT_PARAM_INVALID: another mode; ACL_ERROR_RT_CONTEXT_NULL.
 * Threads: any.
 * Source:  spec, acl runtime, section 17.
 */
ACL_FUNC_VISIBILITY aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode);

/**
 * The mode set before.
 *
 * @param mode  out  the mode
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_CONTEXT_NULL.
 * Threads: any.
 * Source:  spec, acl runtime, section 17.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetDeviceSatMode(aclrtFloatOverflowMode *mode);

/**
 * How many cores the calling thread's kernels may use: the limit of the stream it took over, else
 * the device's, else all.
 *
 * @param type        which cores
 * @param value  out  how many
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_PARAM_INVALID: type;
 *         ACL_ERROR_RT_CONTEXT_NULL.
 * Threads: any.
 * Source:  spec, acl runtime, section 17.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetResInCurrentThread(aclrtDevResLimitType type, uint32_t *value);

/**
 * Limit the cores for a stream's kernels.
 *
 * @param stream  in  NULL: the default stream
 * @param type        which cores
 * @param value       how many
 *
 * @return ACL_SUCCESS; ACL_ERROR_RT_PARAM_INVALID: type or value; ACL_ERROR_RT_CONTEXT_NULL;
 *         ACL_ERROR_RT_INVALID_HANDLE.
 * Threads: any.
 * Source:  spec, acl runtime, section 17.
 */
ACL_FUNC_VISIBILITY aclError aclrtSetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type,
                                                    uint32_t value);

/**
 * The limit of a stream; without one the device's.
 *
 * @param stream  in   NULL: the default stream
 * @param type         which cores
 * @param value   out  how many
 *
 * @return as aclrtSetStreamResLimit; ACL_ERROR_INVALID_PARAM: NULL.
 * Threads: any.
 * Source:  spec, acl runtime, section 17.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type,
                                                    uint32_t *value);

/**
 * Take a stream's limits away.
 *
 * @param stream  in  NULL: the default stream
 *
 * @return ACL_SUCCESS; ACL_ERROR_RT_CONTEXT_NULL; ACL_ERROR_RT_INVALID_HANDLE.
 * Threads: any.
 * Source:  spec, acl runtime, section 17.
 */
ACL_FUNC_VISIBILITY aclError aclrtResetStreamResLimit(aclrtStream stream);

/**
 * Let the calling thread go by a stream's limits.
 *
 * @param stream  in  NULL: the default stream
 *
 * @return as aclrtResetStreamResLimit.
 * Threads: any.
 * Source:  spec, acl runtime, section 17.
 */
ACL_FUNC_VISIBILITY aclError aclrtUseStreamResInCurrentThread(aclrtStream stream);

/**
 * Undo aclrtUseStreamResInCurrentThread.
 *
 * @param stream  in  NULL: the default stream
 *
 * @return as aclrtResetStreamResLimit.
 * Threads: any.
 * Source:  spec, acl runtime, section 17.
 */
ACL_FUNC_VISIBILITY aclError aclrtUnuseStreamResInCurrentThread(aclrtStream stream);

/**
 * The process's limit of cores on a device; without one all.
 *
 * @param deviceId       user id
 * @param type           which cores
 * @param value     out  how many
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_PARAM_INVALID: type;
 *         ACL_ERROR_RT_INVALID_DEVICEID.
 * Threads: any.
 * Source:  spec, acl runtime, section 17.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type,
                                                    uint32_t *value);

/**
 * Limit the process's cores on a device.
 *
 * @param deviceId  user id
 * @param type      which cores
 * @param value     how many
 *
 * @return ACL_SUCCESS; ACL_ERROR_RT_PARAM_INVALID: type or value; ACL_ERROR_RT_INVALID_DEVICEID.
 * Threads: any.
 * Source:  spec, acl runtime, section 17.
 */
ACL_FUNC_VISIBILITY aclError aclrtSetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type,
                                                    uint32_t value);

/**
 * Take the process's limits on a device away.
 *
 * @param deviceId  user id
 *
 * @return ACL_SUCCESS; ACL_ERROR_RT_INVALID_DEVICEID.
 * Threads: any.
 * Source:  spec, acl runtime, section 17.
 */
ACL_FUNC_VISIBILITY aclError aclrtResetDeviceResLimit(int32_t deviceId);

/**
 * Version of an installed package as a number that grows with it: 9.1.0 is 90100000.
 *
 * @param pkgName     in   such as "runtime", "hcomm" or "driver"
 * @param versionNum  out  major * 10,000,000 + minor * 100,000 + patch * 1,000, a little less
 * before a release
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_INVALID_FILE: no such package.
 * Threads: any.
 * Source:  spec, acl runtime, section 17.
 */
ACL_FUNC_VISIBILITY aclError aclsysGetVersionNum(char *pkgName, int32_t *versionNum);

/**
 * Version of an installed package as text.
 *
 * @param pkgName     in   as for aclsysGetVersionNum
 * @param versionStr  out  [ACL_PKG_VERSION_MAX_SIZE] bytes: text with its NUL
 *
 * @return as aclsysGetVersionNum.
 * Threads: any.
 * Source:  spec, acl runtime, section 17.
 */
ACL_FUNC_VISIBILITY aclError aclsysGetVersionStr(char *pkgName, char *versionStr);

/**
 * Version of an installed package in parts. Old form.
 *
 * @param name          which
 * @param version  out  the version and its parts
 *
 * @return as aclsysGetVersionNum.
 * Threads: any.
 * Source:  spec, acl runtime, section 17.
 */
ACL_FUNC_VISIBILITY aclError aclsysGetCANNVersion(aclCANNPackageName name,
                                                  aclCANNPackageVersion *version);

/**
 * Version of this interface: ACL_MAJOR_VERSION and so on. Old form.
 *
 * @param majorVersion  out  major
 * @param minorVersion  out  minor
 * @param patchVersion  out  patch
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL.
 * Threads: any.
 * Source:  spec, acl runtime, section 17.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetVersion(int32_t *majorVersion, int32_t *minorVersion,
                                             int32_t *patchVersion);

/* ---- Captures ------------------------------------------------------------------------------- */

/*
 * A capture records what the host queues on a stream, and on streams that join it, instead of
 * running it; the graph it makes runs as often as wanted. docs/graphs.md tells what is recorded,
 * how streams join, and what a graph keeps. Calls that a capture forbids return
 * ACL_ERROR_RT_STREAM_CAPTURED (waiting for, asking or destroying a stream of it),
 * ACL_ERROR_RT_EVENT_CAPTURED (asking an event of it), ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT
 * (aclrtMemcpy, aclrtMemset, aclrtMemcpy2d and their like, as the mode says),
 * ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC (a copy from or to pageable memory on a stream of it),
 * ACL_ERROR_RT_CAPTURE_DEPENDENCY (waiting on a stream of it for an event from outside).
 */

/**
 * From now on record the stream's tasks instead of running them.
 *
 * @param stream  in  of the current context, not its default stream
 * @param mode        which threads may not call what acts at once meanwhile: GLOBAL: those of the
 *                    context, unless their own mode is another (aclmdlRICaptureThreadExchangeMode);
 *                    THREAD_LOCAL: this one; RELAXED: none
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_PARAM_INVALID: mode;
 *         ACL_ERROR_RT_STREAM_CAPTURED: already; ACL_ERROR_RT_STREAM_CONTEXT: of another context;
 *         ACL_ERROR_RT_FEATURE_NOT_SUPPORT: a default stream; ACL_ERROR_RT_INTERNAL_ERROR: created
 *         for device code only; ACL_ERROR_RT_MEMORY_ALLOCATION.
 * Threads: any.
 * Source:  spec, acl runtime, section 18.
 */
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode);

/**
 * End the recording; streams that joined by an event must have come back.
 *
 * @param stream   in   the one it began on
 * @param modelRI  out  what was recorded, the caller's until aclmdlRIDestroy
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_STREAM_NOT_CAPTURED;
 *         ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED: the stream only joined. The others also end the
 *         capture, and what was recorded is lost: ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD;
 *         ACL_ERROR_RT_STREAM_UNJOINED; ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED: by a forbidden
 *         call, or one that failed; ACL_ERROR_RT_MEMORY_ALLOCATION.
 * Threads: the one that began, unless the mode is RELAXED.
 * Source:  spec, acl runtime, section 18.
 */
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI *modelRI);

/**
 * Queue one run of what was recorded. Runs of one graph follow each other, on whatever streams. The
 * run is over when the stream has passed it; if a task fails in any branch, the stream fails.
 *
 * @param modelRI  in  from aclmdlRICaptureEnd
 * @param stream   in  of the current context, on the device of the capture; NULL: the default
 *                     stream
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_INVALID_HANDLE: no live graph,
 * or a notify or channel in it was destroyed; ACL_ERROR_RT_PARAM_INVALID: memory in it was freed or
 * unregistered, or a communicator destroyed; ACL_ERROR_RT_STREAM_CAPTURED;
 *         ACL_ERROR_RT_MODEL_CAPTURED: it is being captured; ACL_ERROR_RT_STREAM_CONTEXT: another
 *         context or device; ACL_ERROR_RT_CONTEXT_NULL: no context, or that of the capture is gone;
 *         ACL_ERROR_RT_FEATURE_NOT_SUPPORT: inside a batch; ACL_ERROR_RT_MEMORY_ALLOCATION. Nothing
 *         of the run has been queued then.
 * Threads: any.
 * Source:  spec, acl runtime, section 18.
 */
ACL_FUNC_VISIBILITY aclError aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream stream);

/**
 * Free what was recorded. Waits up to 10 s for its runs to end.
 *
 * @param modelRI  in  from aclmdlRICaptureEnd
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_INVALID_HANDLE: no live graph;
 *         ACL_ERROR_RT_MODEL_CAPTURED: still recording; ACL_ERROR_RT_MODEL_RUNNING: after 10 s, and
 *         the graph is as it was.
 * Threads: any.
 * Source:  spec, acl runtime, section 18.
 */
ACL_FUNC_VISIBILITY aclError aclmdlRIDestroy(aclmdlRI modelRI);

/**
 * Whether a stream is being recorded, and into what. Cheap, and not logged when the stream is none.
 *
 * @param stream   in   a stream
 * @param status   out  may be NULL
 * @param modelRI  out  NULL: the stream is not being recorded; may be NULL, but not both
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_INVALID_HANDLE: no live stream.
 * Threads: any.
 * Source:  spec, acl runtime, section 18.
 */
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureGetInfo(aclrtStream stream,
                                                    aclmdlRICaptureStatus *status,
                                                    aclmdlRI *modelRI);

/**
 * Swap the calling thread's capture mode, GLOBAL at first. With RELAXED no capture forbids the
 * thread anything that acts at once; with THREAD_LOCAL only those that it began itself.
 *
 * @param mode  in/out  the new one, then the old one
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_PARAM_INVALID: there is no such
 *         mode; ACL_ERROR_RT_CONTEXT_NULL.
 * Threads: any.
 * Source:  spec, acl runtime, section 18.
 */
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode *mode);

/**
 * Run a model and wait for it. Not for what was captured, and there are no others on a soft NPU.
 *
 * @param modelRI    in  a model
 * @param timeoutMs      milliseconds; -1: no limit
 *
 * @return ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_INVALID_HANDLE: no live graph;
 *         ACL_ERROR_RT_MODEL_CAPTURED; ACL_ERROR_RT_PARAM_INVALID: it was captured.
 * Threads: any.
 * Source:  spec, acl runtime, section 18.
 */
ACL_FUNC_VISIBILITY aclError aclmdlRIExecute(aclmdlRI modelRI, int32_t timeoutMs);

/**
 * Fail the runs of a graph: the streams that execute it return ACL_ERROR_RT_MODEL_ABORT_NORMAL,
 * runs that have not begun do so when their turn comes. The graph can be executed again.
 *
 * @param modelRI  in  from aclmdlRICaptureEnd
 *
 * @return ACL_SUCCESS, also when nothing runs; otherwise as aclmdlRIExecute.
 * Threads: any.
 * Source:  spec, acl runtime, appendix B; what it does is ours.
 */
ACL_FUNC_VISIBILITY aclError aclmdlRIAbort(aclmdlRI modelRI);

/**
 * The number of a graph, unique in the process while it lives.
 *
 * @param modelRI    in   a graph, also one that is being recorded
 * @param modelRIId  out  its number
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_INVALID_HANDLE: no live graph.
 * Threads: any.
 * Source:  spec, acl runtime, appendix B.
 */
ACL_FUNC_VISIBILITY aclError aclmdlRIGetId(aclmdlRI modelRI, uint32_t *modelRIId);

/**
 * Give a graph a name.
 *
 * @param modelRI  in  a graph, also one that is being recorded
 * @param name     in  at most 127 characters; copied
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_PARAM_INVALID: too long;
 *         ACL_ERROR_RT_INVALID_HANDLE: no live graph.
 * Threads: any.
 * Source:  spec, acl runtime, appendix B.
 */
ACL_FUNC_VISIBILITY aclError aclmdlRISetName(aclmdlRI modelRI, const char *name);

/**
 * The name of a graph; "" if it has none.
 *
 * @param modelRI  in   a graph, also one that is being recorded
 * @param maxLen        bytes at `name`
 * @param name     out  [maxLen]
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_PARAM_INVALID: maxLen is too
 *         little; ACL_ERROR_RT_INVALID_HANDLE: no live graph.
 * Threads: any.
 * Source:  spec, acl runtime, appendix B.
 */
ACL_FUNC_VISIBILITY aclError aclmdlRIGetName(aclmdlRI modelRI, uint32_t maxLen, char *name);

/**
 * Have a function called when the graph is destroyed, on the thread that does it, after those that
 * were registered before.
 *
 * @param modelRI   in  a graph, also one that is being recorded
 * @param func      in  what is called; may be registered several times
 * @param userData  in  its argument
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_INVALID_HANDLE: no live graph;
 *         ACL_ERROR_RT_MEMORY_ALLOCATION.
 * Threads: any.
 * Source:  spec, acl runtime, appendix B.
 */
ACL_FUNC_VISIBILITY aclError aclmdlRIDestroyRegisterCallback(aclmdlRI modelRI, aclrtCallback func,
                                                             void *userData);

/**
 * Undo the first aclmdlRIDestroyRegisterCallback of a function.
 *
 * @param modelRI  in  a graph, also one that is being recorded
 * @param func     in  as registered
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL; ACL_ERROR_RT_PARAM_INVALID: it is not
 *         registered; ACL_ERROR_RT_INVALID_HANDLE: no live graph.
 * Threads: any.
 * Source:  spec, acl runtime, appendix B.
 */
ACL_FUNC_VISIBILITY aclError aclmdlRIDestroyUnregisterCallback(aclmdlRI modelRI,
                                                               aclrtCallback func);

/* ---- Not supported -------------------------------------------------------------------------- */

/*
 * The rest of the interface. Each of these answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT, those that
 * return a pointer NULL, and names itself in the message that aclGetRecentErrMsg returns.
 * Threads: any. Source: spec, acl runtime, appendix B.
 */
ACL_FUNC_VISIBILITY aclError aclrtGetArgsFromExceptionInfo(const aclrtExceptionInfo *info,
                                                           void **devArgsPtr, uint32_t *devArgsLen);
ACL_FUNC_VISIBILITY aclError aclrtGetFuncHandleFromExceptionInfo(const aclrtExceptionInfo *info,
                                                                 aclrtFuncHandle *func);
ACL_FUNC_VISIBILITY aclError aclrtBinarySetExceptionCallback(aclrtBinHandle binHandle,
                                                             aclrtOpExceptionCallback callback,
                                                             void *userData);
ACL_FUNC_VISIBILITY aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t *value);
ACL_FUNC_VISIBILITY aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value);
ACL_FUNC_VISIBILITY aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t *value);
ACL_FUNC_VISIBILITY aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value);
ACL_FUNC_VISIBILITY aclError aclrtSetTsDevice(aclrtTsId tsId);
ACL_FUNC_VISIBILITY aclError aclrtGetDeviceUtilizationRate(int32_t deviceId,
                                                           aclrtUtilizationInfo *utilizationInfo);
ACL_FUNC_VISIBILITY aclError aclrtRecordEventWithFlag(aclrtEvent event, aclrtStream stream,
                                                      uint32_t flag);
ACL_FUNC_VISIBILITY aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus *status);
ACL_FUNC_VISIBILITY aclError aclrtMallocForTaskScheduler(void **devPtr, size_t size,
                                                         aclrtMemMallocPolicy policy,
                                                         aclrtMallocConfig *cfg);
ACL_FUNC_VISIBILITY aclError aclrtMemManagedGetAttr(aclrtMemManagedRangeAttribute attribute,
                                                    const void *ptr, size_t size, void *data,
                                                    size_t dataSize);
ACL_FUNC_VISIBILITY aclError aclrtMemManagedGetAttrs(aclrtMemManagedRangeAttribute *attributes,
                                                     size_t numAttributes, const void *ptr,
                                                     size_t size, void **data, size_t *dataSizes);
ACL_FUNC_VISIBILITY aclError aclrtHostMemMapCapabilities(uint32_t deviceId, aclrtHacType hacType,
                                                         aclrtHostMemMapCapability *capabilities);
ACL_FUNC_VISIBILITY aclError aclrtGetThreadLastTaskId(uint32_t *taskId);
ACL_FUNC_VISIBILITY aclError aclrtMemAllocManaged(void **ptr, uint64_t size, uint32_t flag);
ACL_FUNC_VISIBILITY aclError aclrtMemsetD32(void *ptr, size_t memSize, uint32_t value, size_t N);
ACL_FUNC_VISIBILITY aclError aclrtMemsetD32Async(void *ptr, size_t memSize, uint32_t value,
                                                 size_t N, aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclrtMemcpyAsyncWithCondition(void *dst, size_t destMax,
                                                           const void *src, size_t count,
                                                           aclrtMemcpyKind kind,
                                                           aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclrtGetSymbolAddress(const void *symbol, void **devPtr);
ACL_FUNC_VISIBILITY aclError aclrtGetSymbolSize(const void *symbol, size_t *size);
ACL_FUNC_VISIBILITY aclError aclrtMemcpyFromSymbol(void *dst, size_t dstMax, const void *symbol,
                                                   size_t count, size_t offset,
                                                   aclrtMemcpyKind kind);
ACL_FUNC_VISIBILITY aclError aclrtMemcpyFromSymbolAsync(void *dst, size_t dstMax,
                                                        const void *symbol, size_t count,
                                                        size_t offset, aclrtMemcpyKind kind,
                                                        aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclrtMemcpyToSymbol(const void *symbol, const void *src, size_t count,
                                                 size_t offset, aclrtMemcpyKind kind);
ACL_FUNC_VISIBILITY aclError aclrtMemcpyToSymbolAsync(const void *symbol, const void *src,
                                                      size_t count, size_t offset,
                                                      aclrtMemcpyKind kind, aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclrtMemManagedAdvise(const void *const ptr, uint64_t size,
                                                   aclrtMemManagedAdviseType advise,
                                                   aclrtMemManagedLocation location);
ACL_FUNC_VISIBILITY aclrtStreamConfigHandle *aclrtCreateStreamConfigHandle(void);
ACL_FUNC_VISIBILITY aclError aclrtDestroyStreamConfigHandle(aclrtStreamConfigHandle *handle);
ACL_FUNC_VISIBILITY aclError aclrtSetStreamConfigOpt(aclrtStreamConfigHandle *handle,
                                                     aclrtStreamConfigAttr attr,
                                                     const void *attrValue, size_t valueSize);
ACL_FUNC_VISIBILITY aclError aclrtCreateStreamV2(aclrtStream *stream,
                                                 const aclrtStreamConfigHandle *handle);
ACL_FUNC_VISIBILITY aclError aclrtStreamWaitEventWithFlag(aclrtStream stream, aclrtEvent event,
                                                          uint32_t timeout, uint32_t flag);
ACL_FUNC_VISIBILITY aclError aclrtSetGroup(int32_t groupId);
ACL_FUNC_VISIBILITY aclError aclrtGetGroupCount(uint32_t *count);
ACL_FUNC_VISIBILITY aclrtGroupInfo *aclrtCreateGroupInfo(void);
ACL_FUNC_VISIBILITY aclError aclrtDestroyGroupInfo(aclrtGroupInfo *groupInfo);
ACL_FUNC_VISIBILITY aclError aclrtGetAllGroupInfo(aclrtGroupInfo *groupInfo);
ACL_FUNC_VISIBILITY aclError aclrtGetGroupInfoDetail(const aclrtGroupInfo *groupInfo,
                                                     int32_t groupIndex, aclrtGroupAttr attr,
                                                     void *attrValue, size_t valueLen,
                                                     size_t *paramRetSize);
ACL_FUNC_VISIBILITY aclError aclrtGetMemUsageInfo(int32_t deviceId, aclrtMemUsageInfo *memUsageInfo,
                                                  size_t inputNum, size_t *outputNum);
ACL_FUNC_VISIBILITY aclError aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag);
ACL_FUNC_VISIBILITY aclError aclrtGetStreamOverflowSwitch(aclrtStream stream, uint32_t *flag);
ACL_FUNC_VISIBILITY aclError aclrtGetOverflowStatus(void *outputAddr, size_t outputSize,
                                                    aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclrtResetOverflowStatus(aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclrtSubscribeHostFunc(uint64_t hostFuncThreadId,
                                                    aclrtStream exeStream);
ACL_FUNC_VISIBILITY aclError aclrtProcessHostFunc(int32_t timeout);
ACL_FUNC_VISIBILITY aclError aclrtUnSubscribeHostFunc(uint64_t hostFuncThreadId,
                                                      aclrtStream exeStream);
ACL_FUNC_VISIBILITY aclError aclrtGetMemUceInfo(int32_t deviceId, aclrtMemUceInfo *memUceInfoArray,
                                                size_t arraySize, size_t *retSize);
ACL_FUNC_VISIBILITY aclError aclrtDeviceTaskAbort(int32_t deviceId, uint32_t timeout);
ACL_FUNC_VISIBILITY aclError aclrtMemUceRepair(int32_t deviceId, aclrtMemUceInfo *memUceInfoArray,
                                               size_t arraySize);
ACL_FUNC_VISIBILITY aclError aclrtBinaryGetGlobal(aclrtBinHandle binHandle, const char *name,
                                                  void **dptr, size_t *size);
ACL_FUNC_VISIBILITY aclError aclrtGetFuncBySymbol(const void *symbol, aclrtFuncHandle *funcHandle);
ACL_FUNC_VISIBILITY aclError aclrtGetFunctionSize(aclrtFuncHandle funcHandle, size_t *aicSize,
                                                  size_t *aivSize);
ACL_FUNC_VISIBILITY aclError aclrtGetMemcpyDescSize(aclrtMemcpyKind kind, size_t *descSize);
ACL_FUNC_VISIBILITY aclError aclrtSetMemcpyDesc(void *desc, aclrtMemcpyKind kind, void *srcAddr,
                                                void *dstAddr, size_t count, void *config);
ACL_FUNC_VISIBILITY aclError aclrtMemcpyAsyncWithOffset(void **dst, size_t destMax,
                                                        size_t dstDataOffset, const void **src,
                                                        size_t count, size_t srcDataOffset,
                                                        aclrtMemcpyKind kind, aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclrtMemcpyAsyncWithDesc(void *desc, aclrtMemcpyKind kind,
                                                      aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclmdlRITaskGetParams(aclmdlRITask task, aclmdlRITaskParams *params);
ACL_FUNC_VISIBILITY aclError aclmdlRITaskSetParams(aclmdlRITask task, aclmdlRITaskParams *params);
ACL_FUNC_VISIBILITY aclError aclmdlRIKernelTaskGetAttribute(aclmdlRITask task,
                                                            aclrtLaunchKernelAttrId attrId,
                                                            aclrtLaunchKernelAttrValue *attrValue);
ACL_FUNC_VISIBILITY aclError aclmdlRIUpdate(aclmdlRI modelRI);
ACL_FUNC_VISIBILITY aclError aclmdlRITaskDisable(aclmdlRITask task);
ACL_FUNC_VISIBILITY aclError aclrtCntNotifyCreate(aclrtCntNotify *cntNotify, uint64_t flag);
ACL_FUNC_VISIBILITY aclError aclrtCntNotifyDestroy(aclrtCntNotify cntNotify);
ACL_FUNC_VISIBILITY aclError aclrtGetDeviceCapability(int32_t deviceId,
                                                      aclrtDevFeatureType devFeatureType,
                                                      int32_t *value);
ACL_FUNC_VISIBILITY aclError aclrtDeviceGetUuid(int32_t deviceId, aclrtUuid *uuid);
ACL_FUNC_VISIBILITY aclError aclrtDeviceSetLimit(aclrtDeviceLimit limit, size_t value);
ACL_FUNC_VISIBILITY aclError aclrtDeviceGetLimit(aclrtDeviceLimit limit, size_t *value);
ACL_FUNC_VISIBILITY aclError aclrtDeviceGetPCIBusId(int32_t deviceId, char *pciBusId, int32_t len);
ACL_FUNC_VISIBILITY aclError aclrtDeviceGetByPCIBusId(const char *pciBusId, int32_t *deviceId);
ACL_FUNC_VISIBILITY aclError
aclrtDeviceGetHostAtomicCapabilities(uint32_t *capabilities, const aclrtAtomicOperation *operations,
                                     const uint32_t count, int32_t deviceId);
ACL_FUNC_VISIBILITY aclError
aclrtDeviceGetP2PAtomicCapabilities(uint32_t *capabilities, const aclrtAtomicOperation *operations,
                                    const uint32_t count, int32_t srcDeviceId, int32_t dstDeviceId);
ACL_FUNC_VISIBILITY aclError aclrtCreateLabel(aclrtLabel *label);
ACL_FUNC_VISIBILITY aclError aclrtSetLabel(aclrtLabel label, aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclrtDestroyLabel(aclrtLabel label);
ACL_FUNC_VISIBILITY aclError aclrtCreateLabelList(aclrtLabel *labels, size_t num,
                                                  aclrtLabelList *labelList);
ACL_FUNC_VISIBILITY aclError aclrtDestroyLabelList(aclrtLabelList labelList);
ACL_FUNC_VISIBILITY aclError aclrtSwitchLabelByIndex(void *ptr, uint32_t maxValue,
                                                     aclrtLabelList labelList, aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclrtActiveStream(aclrtStream activeStream, aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclrtSwitchStream(void *leftValue, aclrtCondition cond,
                                               void *rightValue, aclrtCompareDataType dataType,
                                               aclrtStream trueStream, aclrtStream falseStream,
                                               aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclrtGetBufFromChain(aclrtMbuf headBuf, uint32_t index,
                                                  aclrtMbuf *buf);
ACL_FUNC_VISIBILITY aclError aclrtGetBufChainNum(aclrtMbuf headBuf, uint32_t *num);
ACL_FUNC_VISIBILITY aclError aclrtAppendBufChain(aclrtMbuf headBuf, aclrtMbuf buf);
ACL_FUNC_VISIBILITY aclError aclrtCopyBufRef(const aclrtMbuf buf, aclrtMbuf *newBuf);
ACL_FUNC_VISIBILITY aclError aclrtGetBufUserData(const aclrtMbuf buf, void *dataPtr, size_t size,
                                                 size_t offset);
ACL_FUNC_VISIBILITY aclError aclrtSetBufUserData(aclrtMbuf buf, const void *dataPtr, size_t size,
                                                 size_t offset);
ACL_FUNC_VISIBILITY aclError aclrtGetBufData(const aclrtMbuf buf, void **dataPtr, size_t *size);
ACL_FUNC_VISIBILITY aclError aclrtGetBufDataLen(aclrtMbuf buf, size_t *len);
ACL_FUNC_VISIBILITY aclError aclrtSetBufDataLen(aclrtMbuf buf, size_t len);
ACL_FUNC_VISIBILITY aclError aclrtFreeBuf(aclrtMbuf buf);
ACL_FUNC_VISIBILITY aclError aclrtAllocBuf(aclrtMbuf *buf, size_t size);
ACL_FUNC_VISIBILITY aclError aclrtCmoAsyncWithBarrier(void *src, size_t size, aclrtCmoType cmoType,
                                                      uint32_t barrierId, aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclrtCmoWaitBarrier(aclrtBarrierTaskInfo *taskInfo, aclrtStream stream,
                                                 uint32_t flag);
ACL_FUNC_VISIBILITY aclError aclmdlRIDebugPrint(aclmdlRI modelRI);
ACL_FUNC_VISIBILITY aclError aclmdlRIDebugJsonPrint(aclmdlRI modelRI, const char *path,
                                                    uint32_t flags);
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureTaskGrpBegin(aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureTaskGrpEnd(aclrtStream stream, aclrtTaskGrp *handle);
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureTaskUpdateBegin(aclrtStream stream,
                                                            aclrtTaskGrp handle);
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureTaskUpdateEnd(aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclmdlRIBuildBegin(aclmdlRI *modelRI, uint32_t flag);
ACL_FUNC_VISIBILITY aclError aclmdlRIBindStream(aclmdlRI modelRI, aclrtStream stream,
                                                uint32_t flag);
ACL_FUNC_VISIBILITY aclError aclmdlRIEndTask(aclmdlRI modelRI, aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclmdlRIBuildEnd(aclmdlRI modelRI, void *reserve);
ACL_FUNC_VISIBILITY aclError aclmdlRIUnbindStream(aclmdlRI modelRI, aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclmdlInitDump(void);
ACL_FUNC_VISIBILITY aclError aclmdlSetDump(const char *dumpCfgPath);
ACL_FUNC_VISIBILITY aclError aclmdlFinalizeDump(void);
ACL_FUNC_VISIBILITY aclError aclmdlRIGetStreams(aclmdlRI modelRI, aclrtStream *streams,
                                                uint32_t *numStreams);
ACL_FUNC_VISIBILITY aclError aclmdlRIGetTasksByStream(aclrtStream stream, aclmdlRITask *tasks,
                                                      uint32_t *numTasks);
ACL_FUNC_VISIBILITY aclError aclmdlRITaskGetType(aclmdlRITask task, aclmdlRITaskType *type);
ACL_FUNC_VISIBILITY aclError aclmdlRITaskGetSeqId(aclmdlRITask task, uint32_t *id);
ACL_FUNC_VISIBILITY aclError aclInitCallbackRegister(aclRegisterCallbackType type,
                                                     aclInitCallbackFunc cbFunc, void *userData);
ACL_FUNC_VISIBILITY aclError aclInitCallbackUnRegister(aclRegisterCallbackType type,
                                                       aclInitCallbackFunc cbFunc);
ACL_FUNC_VISIBILITY aclError aclFinalizeCallbackRegister(aclRegisterCallbackType type,
                                                         aclFinalizeCallbackFunc cbFunc,
                                                         void *userData);
ACL_FUNC_VISIBILITY aclError aclFinalizeCallbackUnRegister(aclRegisterCallbackType type,
                                                           aclFinalizeCallbackFunc cbFunc);
ACL_FUNC_VISIBILITY aclError aclrtCheckMemType(void **addrList, uint32_t size, uint32_t memType,
                                               uint32_t *checkResult, uint32_t reserve);
ACL_FUNC_VISIBILITY aclError aclrtProfTrace(void *userdata, int32_t length, aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclrtLaunchSIMTKernelWithArgsArray(void *func, dim3 gridDim,
                                                                dim3 blockDim, size_t dynUbufSize,
                                                                aclrtStream stream,
                                                                aclrtLaunchKernelCfg *cfg,
                                                                void **args);
ACL_FUNC_VISIBILITY aclError aclrtLaunchSIMTKernelWithHostArgs(
    void *func, dim3 gridDim, dim3 blockDim, size_t dynUbufSize, aclrtStream stream,
    aclrtLaunchKernelCfg *cfg, void *hostArgs, size_t argsSize,
    aclrtPlaceHolderInfo *placeHolderArray, size_t placeHolderNum);
ACL_FUNC_VISIBILITY aclError aclrtCtxGetFloatOverflowAddr(void **overflowAddr);
ACL_FUNC_VISIBILITY aclError aclrtGetFloatOverflowStatus(void *outputAddr, uint64_t outputSize,
                                                         aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclrtResetFloatOverflowStatus(aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclrtNpuGetFloatOverFlowStatus(void *outputAddr, uint64_t outputSize,
                                                            uint32_t checkMode, aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclrtNpuClearFloatOverFlowStatus(uint32_t checkMode,
                                                              aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclrtGetHardwareSyncAddr(void **addr);
ACL_FUNC_VISIBILITY aclError aclrtRandomNumAsync(const aclrtRandomNumTaskInfo *taskInfo,
                                                 const aclrtStream stream, void *reserve);
ACL_FUNC_VISIBILITY aclError aclrtRegStreamStateCallback(const char *regName,
                                                         aclrtStreamStateCallback callback,
                                                         void *args);
ACL_FUNC_VISIBILITY aclError aclrtRegDeviceStateCallback(const char *regName,
                                                         aclrtDeviceStateCallback callback,
                                                         void *args);
ACL_FUNC_VISIBILITY aclError aclrtSetDeviceTaskAbortCallback(const char *regName,
                                                             aclrtDeviceTaskAbortCallback callback,
                                                             void *args);
ACL_FUNC_VISIBILITY aclError aclrtTaskUpdateAsync(aclrtStream taskStream, uint32_t taskId,
                                                  aclrtTaskUpdateInfo *info,
                                                  aclrtStream execStream);
ACL_FUNC_VISIBILITY aclError aclrtCmoGetDescSize(size_t *size);
ACL_FUNC_VISIBILITY aclError aclrtCmoSetDesc(void *cmoDesc, void *src, size_t size);
ACL_FUNC_VISIBILITY aclError aclrtCmoAsyncWithDesc(void *cmoDesc, aclrtCmoType cmoType,
                                                   aclrtStream stream, const void *reserve);
ACL_FUNC_VISIBILITY aclError aclrtCheckArchCompatibility(const char *socVersion,
                                                         int32_t *canCompatible);
ACL_FUNC_VISIBILITY aclError aclmdlRICondHandleCreate(aclmdlRI modelRI, uint32_t defaultLaunchValue,
                                                      aclmdlRICondHandleFlag flag,
                                                      aclmdlRICondHandle *handle);
ACL_FUNC_VISIBILITY aclError aclmdlRICondHandleGetCondPtr(aclmdlRICondHandle handle,
                                                          uint64_t **ptr);
ACL_FUNC_VISIBILITY aclError aclmdlRIAddCondTask(aclmdlRICondTaskParams params, aclrtStream stream,
                                                 uint32_t flags);
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureToModelRIBegin(aclrtStream stream, aclmdlRI modelRI,
                                                           aclmdlRICaptureMode mode);
ACL_FUNC_VISIBILITY aclError aclrtCntNotifyRecord(aclrtCntNotify cntNotify, aclrtStream stream,
                                                  aclrtCntNotifyRecordInfo *info);
ACL_FUNC_VISIBILITY aclError aclrtCntNotifyWaitWithTimeout(aclrtCntNotify cntNotify,
                                                           aclrtStream stream,
                                                           aclrtCntNotifyWaitInfo *info);
ACL_FUNC_VISIBILITY aclError aclrtCntNotifyReset(aclrtCntNotify cntNotify, aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclrtCntNotifyGetId(aclrtCntNotify cntNotify, uint32_t *notifyId);
ACL_FUNC_VISIBILITY aclError aclrtPersistentTaskClean(aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclrtGetErrorVerbose(int32_t deviceId, aclrtErrorInfo *errorInfo);
ACL_FUNC_VISIBILITY aclError aclrtRepairError(int32_t deviceId, const aclrtErrorInfo *errorInfo);
ACL_FUNC_VISIBILITY aclError aclrtSnapShotProcessLock(int pid, void *reserve);
ACL_FUNC_VISIBILITY aclError aclrtSnapShotProcessUnlock(int pid, void *reserve);
ACL_FUNC_VISIBILITY aclError aclrtSnapShotProcessBackup(int pid, aclrtSnapShotBackupArgs *args);
ACL_FUNC_VISIBILITY aclError aclrtSnapShotProcessRestore(int pid, aclrtSnapShotRestoreArgs *args);
ACL_FUNC_VISIBILITY aclError aclrtSnapShotCallbackRegister(aclrtSnapShotStage stage,
                                                           aclrtSnapShotCallBack callback,
                                                           void *args);
ACL_FUNC_VISIBILITY aclError aclrtSnapShotCallbackUnregister(aclrtSnapShotStage stage,
                                                             aclrtSnapShotCallBack callback);
ACL_FUNC_VISIBILITY aclError aclrtCacheLastTaskOpInfo(const void *const infoPtr,
                                                      const size_t infoSize);
ACL_FUNC_VISIBILITY aclError aclrtCacheLastTaskExtendInfo(const char *const extendInfoPtr,
                                                          const size_t infoSize);
ACL_FUNC_VISIBILITY aclError aclrtFunctionGetParamCount(const void *func, size_t *paramCount);
ACL_FUNC_VISIBILITY aclError aclrtFunctionGetParamInfo(const void *func, size_t paramIndex,
                                                       size_t *paramOffset, size_t *paramSize);
ACL_FUNC_VISIBILITY aclError aclrtFunctionGetAvailDynUbufPerBlock(void *func, uint32_t flags,
                                                                  size_t *dynamicUbufSize);
ACL_FUNC_VISIBILITY aclError aclrtIpcGetEventHandle(aclrtEvent event, aclrtIpcEventHandle *handle);
ACL_FUNC_VISIBILITY aclError aclrtIpcOpenEventHandle(aclrtIpcEventHandle handle, aclrtEvent *event);
ACL_FUNC_VISIBILITY aclError aclrtMemP2PMap(void *devPtr, size_t size, int32_t dstDevId,
                                            uint64_t flags);
ACL_FUNC_VISIBILITY aclError aclrtMemManagedPrefetchAsync(const void *ptr, size_t size,
                                                          aclrtMemManagedLocation location,
                                                          uint32_t flags, aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclrtMemManagedPrefetchBatchAsync(
    const void **ptrs, size_t *sizes, size_t count, aclrtMemManagedLocation *prefetchLocs,
    size_t *prefetchLocIdxs, size_t numPrefetchLocs, uint64_t flags, aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclrtDeviceL2CacheFlush(void *rsv);
ACL_FUNC_VISIBILITY aclError aclrtMemMapSetLink(aclrtDrvMemHandle handle,
                                                aclrtMemLinkType adviceLink);

#ifdef __cplusplus
}
#endif

#endif
