/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rt_external_base: types of the runtime below acl, and what concerns failed tasks.
 *
 * An rtStream_t is an aclrtStream, an rtNotify_t an aclrtNotify and so on: the same object under
 * two names. An rtError_t carries the codes of error_codes/rt_error_codes.h.
 */
#ifndef RUNTIME_RT_EXTERNAL_BASE_H
#define RUNTIME_RT_EXTERNAL_BASE_H

#include <stddef.h>
#include <stdint.h>

#define RT_FUNC_VISIBILITY __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t rtError_t;

#ifdef __cplusplus
static const int32_t RT_ERROR_NONE = 0;
#else
enum { RT_ERROR_NONE = 0 };
#endif

typedef char char_t;
typedef float float32_t;
typedef double float64_t;

typedef void *rtStream_t;
typedef void *rtNotify_t;
typedef void *rtCntNotify_t;
typedef void *rtEvent_t;
typedef void *rtModel_t;
typedef void *rtLabel_t;
typedef void *rtBinHandle;
typedef void *rtFuncHandle;

typedef enum {
    RT_EXCEPTION_INVALID = 0,
    RT_EXCEPTION_FFTS_PLUS = 1,
    RT_EXCEPTION_AICORE = 2,
    RT_EXCEPTION_UB = 3,
    RT_EXCEPTION_CCU = 4,
    RT_EXCEPTION_FUSION = 5,
    RT_EXCEPTION_AICPU = 6,
} rtExceptionExpandType_t;

typedef struct rtAicpuExDetailInfo {
    rtFuncHandle funcHandle;
    const char *soName;
    const char *functionName;
    const char *kernelName;
    void *argAddr;
    uint32_t argsize; /* bytes */
} rtAicpuExDetailInfo_t;

/* Nobody reads it; it keeps the size programs were built with. */
typedef struct rtExceptionExpandInfo {
    rtExceptionExpandType_t type;
    union {
        rtAicpuExDetailInfo_t aicpuInfo; /* RT_EXCEPTION_AICPU */
        uint64_t space[260];
    } u;
} rtExceptionExpandInfo_t;

/* Which task failed where, and why. acl calls it aclrtExceptionInfo and has accessors for it. */
typedef struct rtExceptionInfo {
    uint32_t taskid;
    uint32_t streamid;
    uint32_t tid;
    uint32_t deviceid;
    uint32_t retcode;
    rtExceptionExpandInfo_t expandInfo;
} rtExceptionInfo_t;

/* `info` lives for the call only. */
typedef void (*rtTaskFailCallback)(rtExceptionInfo_t *info);

/**
 * Numbers of the task that the calling thread queued last, and of its stream.
 *
 * @param taskId    out  number within its stream
 * @param streamId  out  as aclrtStreamGetId tells
 *
 * @return RT_ERROR_NONE; ACL_ERROR_RT_PARAM_INVALID: NULL.
 * Threads: any.
 * Source:  spec, acl runtime, section 19.
 */
RT_FUNC_VISIBILITY rtError_t rtGetTaskIdAndStreamID(uint32_t *taskId, uint32_t *streamId);

/**
 * Have `callback` told of every task that fails, on the runtime's own thread.
 *
 * One callback for each name: a second one takes the first one's place.
 *
 * @param moduleName  in  who asks; copied
 * @param callback    in  must not block, allocate from or queue to the runtime; NULL: none any more
 *
 * @return RT_ERROR_NONE; ACL_ERROR_RT_PARAM_INVALID: `moduleName` is NULL.
 * Threads: any; calls of `callback` may overlap.
 * Source:  spec, acl runtime, section 19.
 */
RT_FUNC_VISIBILITY rtError_t rtRegTaskFailCallbackByModule(const char_t *moduleName,
                                                           rtTaskFailCallback callback);

#ifdef __cplusplus
}
#endif

#endif
