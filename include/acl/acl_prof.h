/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * acl_prof: the profiling calls that programs make around a measurement.
 *
 * There is no profiler behind them: each call succeeds, records nothing, and the first one says so
 * in the log. Programs that check the results therefore run to their end.
 */
#ifndef ACL_ACL_PROF_H
#define ACL_ACL_PROF_H

#include "acl_base.h"

#define MSVP_PROF_API __attribute__((visibility("default")))

/* What to record: switches to be ORed into aclprofCreateConfig's `dataTypeConfig`. */
#define ACL_PROF_ACL_API 0x0001ULL
#define ACL_PROF_TASK_TIME 0x0002ULL
#define ACL_PROF_AICORE_METRICS 0x0004ULL
#define ACL_PROF_AICPU 0x0008ULL
#define ACL_PROF_L2CACHE 0x0010ULL
#define ACL_PROF_HCCL_TRACE 0x0020ULL
#define ACL_PROF_TRAINING_TRACE 0x0040ULL
#define ACL_PROF_MSPROFTX 0x0080ULL
#define ACL_PROF_RUNTIME_API 0x0100ULL
#define ACL_PROF_GE_API_L0 0x0200ULL
#define ACL_PROF_TASK_TIME_L0 0x0800ULL
#define ACL_PROF_TASK_MEMORY 0x1000ULL
#define ACL_PROF_TASK_TIME_L2 0x2000ULL
#define ACL_PROF_OP_ATTR 0x4000ULL
#define ACL_PROF_TASK_TIME_L3 0x8000ULL
#define ACL_PROF_GE_API_L1 0x1000000ULL
#define ACL_PROF_API_STATS 0x400000000ULL
#define ACL_PROF_AICORE_SHAPE 0x800000000ULL

#define ACL_PROF_MAX_OP_NAME_LEN 257
#define ACL_PROF_MAX_OP_TYPE_LEN 65
#define ACL_PROF_TENSOR_DATA_SHAPE_LEN 8
#define ACL_PROF_EVENT_ATTR_VERSION 1

#ifdef __cplusplus
extern "C" {
#endif

typedef enum aclprofAicoreMetrics {
    ACL_AICORE_ARITHMETIC_UTILIZATION = 0,
    ACL_AICORE_PIPE_UTILIZATION = 1,
    ACL_AICORE_MEMORY_BANDWIDTH = 2,
    ACL_AICORE_L0B_AND_WIDTH = 3,
    ACL_AICORE_RESOURCE_CONFLICT_RATIO = 4,
    ACL_AICORE_MEMORY_UB = 5,
    ACL_AICORE_L2_CACHE = 6,
    ACL_AICORE_PIPE_EXECUTE_UTILIZATION = 7,
    ACL_AICORE_MEMORY_ACCESS = 8,
    ACL_AICORE_NONE = 0xFF,
} aclprofAicoreMetrics;

typedef enum aclprofStepTag {
    ACL_STEP_START = 0,
    ACL_STEP_END = 1,
} aclprofStepTag;

typedef enum aclprofSubscribeOpFlag {
    ACL_SUBSCRIBE_OP = 0,
    ACL_SUBSCRIBE_SUBGRAPH = 1,
    ACL_SUBSCRIBE_OP_THREAD = 2,
    ACL_SUBSCRIBE_NONE = 0xFF,
} aclprofSubscribeOpFlag;

typedef enum aclprofSubscribeOpAttri {
    ACL_SUBSCRIBE_ATTRI_THREADID = 0,
    ACL_SUBSCRIBE_ATTRI_NONE = 1,
} aclprofSubscribeOpAttri;

typedef enum aclprofConfigType {
    ACL_PROF_ARGS_MIN = 0,
    ACL_PROF_STORAGE_LIMIT = 1,
    ACL_PROF_SYS_HARDWARE_MEM_FREQ = 3,
    ACL_PROF_LLC_MODE = 4,
    ACL_PROF_SYS_IO_FREQ = 5,
    ACL_PROF_SYS_INTERCONNECTION_FREQ = 6,
    ACL_PROF_DVPP_FREQ = 7,
    ACL_PROF_HOST_SYS = 8,
    ACL_PROF_HOST_SYS_USAGE = 9,
    ACL_PROF_HOST_SYS_USAGE_FREQ = 10,
    ACL_PROF_LOW_POWER_FREQ = 11,
    ACL_PROF_SYS_MEM_SERVICEFLOW = 12,
    ACL_PROF_SYS_CPU_FREQ = 13,
    ACL_PROF_OPTYPE = 14,
    ACL_PROF_NTS_METRICS = 15,
    ACL_PROF_PATH = 16,
    ACL_PROF_ARGS_MAX = 17,
} aclprofConfigType;

typedef enum aclprofMessageType {
    ACL_PROF_MESSAGE_TYPE_TENSOR_INFO = 0,
} aclprofMessageType;

typedef struct aclprofConfig aclprofConfig;
typedef struct aclprofStopConfig aclprofStopConfig;
typedef struct aclprofAicoreEvents aclprofAicoreEvents;
typedef struct aclprofSubscribeConfig aclprofSubscribeConfig;
typedef struct aclprofStepInfo aclprofStepInfo;

/**
 * Prepare profiling. Nothing is written to the path.
 *
 * @param profilerResultPath  in  directory for the results, [length] characters
 * @param length                  1..4096
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: the path is NULL or `length` out of range.
 * Threads: any.
 * Source:  spec, acl runtime, section 20.
 */
MSVP_PROF_API aclError aclprofInit(const char *profilerResultPath, size_t length);

/**
 * Describe what to record on which devices.
 *
 * @param deviceIdList    in  [deviceNums] user device ids
 * @param deviceNums          how many
 * @param metrics             which AI Core counters
 * @param events          in  NULL
 * @param dataTypeConfig      ACL_PROF_* switches, ORed
 *
 * @return the description, the caller's until aclprofDestroyConfig; NULL: an argument is wrong or
 *         there is no memory.
 * Threads: any.
 * Source:  spec, acl runtime, section 20.
 */
MSVP_PROF_API aclprofConfig *aclprofCreateConfig(uint32_t *deviceIdList, uint32_t deviceNums,
                                                 aclprofAicoreMetrics metrics,
                                                 const aclprofAicoreEvents *events,
                                                 uint64_t dataTypeConfig);

/**
 * Begin to record what `profilerConfig` describes. Records nothing.
 *
 * @param profilerConfig  in  from aclprofCreateConfig
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL, or not from aclprofCreateConfig.
 * Threads: any.
 * Source:  spec, acl runtime, section 20.
 */
MSVP_PROF_API aclError aclprofStart(const aclprofConfig *profilerConfig);

/**
 * End what aclprofStart began with the same description.
 *
 * @param profilerConfig  in  from aclprofCreateConfig
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL, or not from aclprofCreateConfig.
 * Threads: any.
 * Source:  spec, acl runtime, section 20.
 */
MSVP_PROF_API aclError aclprofStop(const aclprofConfig *profilerConfig);

/**
 * End profiling. Descriptions that have not been destroyed stay the caller's.
 *
 * @return ACL_SUCCESS.
 * Threads: any.
 * Source:  spec, acl runtime, section 20.
 */
MSVP_PROF_API aclError aclprofFinalize(void);

/**
 * Free a description. It must not be recording.
 *
 * @param profilerConfig  in  from aclprofCreateConfig
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: NULL, or not from aclprofCreateConfig.
 * Threads: any.
 * Source:  spec, acl runtime, section 20.
 */
MSVP_PROF_API aclError aclprofDestroyConfig(const aclprofConfig *profilerConfig);

#ifdef __cplusplus
}
#endif

#endif
