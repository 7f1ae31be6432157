/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hcomm_exception: be told when a task of a thread or channel fails.
 *
 * Source: spec, types, section 5.10.
 */
#ifndef HCOMM_EXCEPTION_H
#define HCOMM_EXCEPTION_H

#include <stdint.h>

#include "hcomm_res_defs.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef enum tagHcommExceptionExpandType {
    HCOMM_EXCEPTION_INVALID = -1,
    HCOMM_EXCEPTION_STARS = 0, /* task scheduler */
    HCOMM_EXCEPTION_ROCE = 1,
    HCOMM_EXCEPTION_URMA = 2
} HcommExceptionExpandType;

typedef struct tagStarsExDetailInfo {
    uint32_t starsErrcode;
    uint8_t sqeType;
    uint8_t statusMerged;
    uint8_t rsvd[122];
} StarsExDetailInfo;

typedef struct tagHcommExceptionExpandInfo {
    HcommExceptionExpandType type; /* says which member of detail holds */
    union {
        StarsExDetailInfo starsInfo;
    } detail;
} HcommExceptionExpandInfo;

typedef struct tagHcommExceptionInfo {
    CommAbiHeader header;
    uint64_t thread;  /* ThreadHandle */
    uint64_t channel; /* ChannelHandle; 0: none */
    uint32_t taskId;
    uint32_t retCode;
    uint8_t rsvd[40];
    HcommExceptionExpandInfo expandInfo;
} HcommExceptionInfo;

/* `exceptionInfo` lasts as long as the call. */
typedef void (*HcommExceptionCallback)(const HcommExceptionInfo *exceptionInfo, void *userData);

/**
 * Have a function called for every task that fails in this process.
 *
 * @param cb        in  function; must not call back into the failed thread
 * @param userData  in  handed to it
 *
 * @return 0; HCCL_E_PTR: cb is NULL.
 * Threads: safe. The function runs on a thread of the library.
 * Source:  spec, types, section 5.10.
 */
int32_t HcommExceptionRegisterCallback(HcommExceptionCallback cb, void *userData);

/**
 * Undo HcommExceptionRegisterCallback.
 *
 * @param cb  in  function
 *
 * @return 0; HCCL_E_PTR: cb is NULL; HCCL_E_NOT_FOUND: it is not registered.
 * Threads: safe; the function may still be running when the call returns.
 * Source:  spec, types, section 5.10.
 */
int32_t HcommExceptionUnregisterCallback(HcommExceptionCallback cb);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
