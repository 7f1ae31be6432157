/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rt_external_device: addresses of a device's own registers. A soft NPU has none.
 */
#ifndef RUNTIME_RT_EXTERNAL_DEVICE_H
#define RUNTIME_RT_EXTERNAL_DEVICE_H

#include "rt_external_base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    RT_RES_TYPE_STARS_NOTIFY_RECORD = 0,
    RT_RES_TYPE_STARS_CNT_NOTIFY_RECORD = 1,
    RT_RES_TYPE_STARS_RTSQ = 2,
    RT_RES_TYPE_CCU_CKE = 3,
    RT_RES_TYPE_CCU_XN = 4,
    RT_RES_TYPE_STARS_CNT_NOTIFY_BIT_WR = 5,
    RT_RES_TYPE_STARS_CNT_NOTIFY_ADD = 6,
    RT_RES_TYPE_STARS_CNT_NOTIFY_BIT_CLR = 7,
    RT_RES_TYPE_MAX = 8,
} rtDevResType_t;

typedef enum {
    RT_PROCESS_CP1 = 0,
    RT_PROCESS_CP2 = 1,
    RT_PROCESS_DEV_ONLY = 2,
    RT_PROCESS_QS = 3,
    RT_PROCESS_HCCP = 4,
    RT_PROCESS_USER = 5,
    RT_PROCESS_CPTYPE_MAX = 6,
} rtDevResProcType_t;

typedef struct {
    uint32_t dieId;
    rtDevResProcType_t procType;
    rtDevResType_t resType;
    uint32_t resId;
    uint32_t flag;
} rtDevResInfo;

/* Both pointers are the caller's; the callee fills in what they point at. */
typedef struct {
    uint64_t *resAddress;
    uint32_t *len; /* bytes */
} rtDevResAddrInfo;

/**
 * Address at which a device's resource is mapped. Soft NPUs map none.
 *
 * @param resInfo   in   which resource
 * @param addrInfo  out  unchanged
 *
 * @return ACL_ERROR_RT_FEATURE_NOT_SUPPORT.
 * Threads: any.
 * Source:  spec, acl runtime, section 19.
 */
RT_FUNC_VISIBILITY rtError_t rtGetDevResAddress(rtDevResInfo *const resInfo,
                                                rtDevResAddrInfo *const addrInfo);

#ifdef __cplusplus
}
#endif

#endif
