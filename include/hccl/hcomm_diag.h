/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hcomm_diag: more of hccl_diag.h; descriptions of operators for error reports, and the profiler on
 * the device.
 *
 * Nothing is recorded here; the calls check their arguments and succeed.
 *
 * Source: spec, types, section 5.11.
 */
#ifndef HCOMM_DIAG_H
#define HCOMM_DIAG_H

#ifdef __cplusplus
#include <cstddef>
#endif
#include <stddef.h>
#include <stdint.h>

#include "hccl_types.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Puts `opInfo` into words: at most `size` bytes at `outPut`, terminator included. */
typedef void (*HcommGetOpInfoCallback)(const void *opInfo, char *outPut, size_t size);

/**
 * Say what operator comes next on a communicator, in a form of the caller's.
 *
 * @param commId  in  name of the communicator
 * @param opInfo  in  [size] bytes, copied
 * @param size        bytes
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL.
 * Threads: safe.
 * Source:  spec, types, section 5.11.
 */
HcclResult HcommRegOpInfo(const char *commId, void *opInfo, size_t size);

/**
 * Give the function that puts what HcommRegOpInfo was given into words.
 *
 * @param commId    in  name of the communicator
 * @param callback  in  function
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL.
 * Threads: safe.
 * Source:  spec, types, section 5.11.
 */
HcclResult HcommRegOpTaskException(const char *commId, HcommGetOpInfoCallback callback);

/**
 * Say that the operator is done, on the device.
 *
 * @param groupname  in  name of the communicator
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL.
 * Threads: safe.
 * Source:  spec, types, section 5.11.
 */
HcclResult HcommProfilingReportDeviceOp(const char *groupname);

/**
 * Say that a kernel begins to queue tasks, on the device.
 *
 * @param thread     in  ThreadHandle it uses
 * @param groupname  in  name of the communicator
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL.
 * Threads: safe.
 * Source:  spec, types, section 5.11.
 */
HcclResult HcommProfilingReportKernelStartTask(uint64_t thread, const char *groupname);

/**
 * Say that a kernel has queued its tasks, on the device.
 *
 * @param thread     in  ThreadHandle it uses
 * @param groupname  in  name of the communicator
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL.
 * Threads: safe.
 * Source:  spec, types, section 5.11.
 */
HcclResult HcommProfilingReportKernelEndTask(uint64_t thread, const char *groupname);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
