/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rt_external_stream: the hardware queues behind a stream. A soft NPU has none that a kernel could
 * write to.
 */
#ifndef RUNTIME_RT_EXTERNAL_STREAM_H
#define RUNTIME_RT_EXTERNAL_STREAM_H

#include "rt_external_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Number of the queue into which a stream submits its tasks.
 *
 * @param stm   in   NULL: the default stream
 * @param sqid  out  unique among the device's streams, and only good for telling them apart
 *
 * @return RT_ERROR_NONE; ACL_ERROR_RT_PARAM_INVALID: NULL number; ACL_ERROR_RT_INVALID_HANDLE:
 * `stm` is not alive; ACL_ERROR_RT_CONTEXT_NULL. Threads: any. Source:  spec, acl runtime,
 * section 19.
 */
RT_FUNC_VISIBILITY rtError_t rtStreamGetSqid(const rtStream_t stm, uint32_t *sqid);

/**
 * Numbers of the queue in which a stream's tasks report their end.
 *
 * @param stm        in   NULL: the default stream
 * @param cqId       out  as `sqid` of rtStreamGetSqid
 * @param logicCqId  out  likewise
 *
 * @return as rtStreamGetSqid.
 * Threads: any.
 * Source:  spec, acl runtime, section 19.
 */
RT_FUNC_VISIBILITY rtError_t rtStreamGetCqid(const rtStream_t stm, uint32_t *cqId,
                                             uint32_t *logicCqId);

#ifdef __cplusplus
}
#endif

#endif
