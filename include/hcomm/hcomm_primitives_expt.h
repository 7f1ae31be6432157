/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hcomm_primitives_expt: further verbs, which operator packages use.
 *
 * Source: spec, data plane, section 8.
 */
#ifndef HCOMM_PRIMITIVES_EXPT_H
#define HCOMM_PRIMITIVES_EXPT_H

#include "hcomm_primitives.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/**
 * Hold the caller until all that is queued on a thread has run; for kernels.
 *
 * @param thread   in  thread
 * @param timeout      seconds; 0 does not wait
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: thread 0; HCCL_E_NOT_FOUND: no such thread; HCCL_E_TIMEOUT.
 * Threads: calls that share a `thread` must be serial.
 * Source:  spec, data plane, section 8.
 */
int32_t HcommThreadJoin(ThreadHandle thread, uint32_t timeout);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
