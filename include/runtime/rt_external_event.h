/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rt_external_event: where a notify lies in a device's registers. A soft NPU has none.
 */
#ifndef RUNTIME_RT_EXTERNAL_EVENT_H
#define RUNTIME_RT_EXTERNAL_EVENT_H

#include "rt_external_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Offset of a notify's register in its device, for signals written by a network card. A soft NPU
 * has no such register.
 *
 * @param notify         in   from aclrtCreateNotify
 * @param devAddrOffset  out  unchanged
 *
 * @return ACL_ERROR_RT_FEATURE_NOT_SUPPORT.
 * Threads: any.
 * Source:  spec, acl runtime, section 19.
 */
RT_FUNC_VISIBILITY rtError_t rtNotifyGetAddrOffset(rtNotify_t notify, uint64_t *devAddrOffset);

#ifdef __cplusplus
}
#endif

#endif
