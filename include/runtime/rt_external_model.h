/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rt_external_model: adds streams to a capture by hand.
 */
#ifndef RUNTIME_RT_EXTERNAL_MODEL_H
#define RUNTIME_RT_EXTERNAL_MODEL_H

#include "rt_external_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Let a stream join the capture that makes `captureMdl`. It need not come back before the end: a
 * run is over when all its streams are.
 *
 * @param stm         in  a stream of the current context, not its default one
 * @param captureMdl  in  from aclmdlRICaptureGetInfo
 *
 * @return RT_ERROR_NONE, also if it has joined that capture already; ACL_ERROR_RT_PARAM_INVALID:
 *         NULL; ACL_ERROR_RT_STREAM_CONTEXT: another context's stream; ACL_ERROR_RT_STREAM_MODEL:
 * it is in another capture; ACL_ERROR_RT_STREAM_NOT_CAPTURED: that capture has ended;
 *         ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED; ACL_ERROR_RT_INVALID_HANDLE: no live graph;
 *         ACL_ERROR_RT_FEATURE_NOT_SUPPORT: the default stream.
 * Threads: any.
 * Source:  spec, acl runtime, section 19.
 */
RT_FUNC_VISIBILITY rtError_t rtStreamAddToModel(rtStream_t stm, rtModel_t captureMdl);

#ifdef __cplusplus
}
#endif

#endif
