/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hccl_diag: operators tell the profiler and the error reports what they do.
 *
 * Nothing is recorded here; the calls check their arguments and succeed.
 *
 * Source: spec, types, section 5.11.
 */
#ifndef HCCL_DIAG_H
#define HCCL_DIAG_H

#ifdef __cplusplus
#include <cstddef>
#endif
#include <stddef.h>
#include <stdint.h>

#include "base.h"
#include "hccl_types.h"
#include "hcomm_res_defs.h"

#ifdef __cplusplus
static const u32 HCOMM_ALG_TAG_LENGTH = 288;
#else
enum { HCOMM_ALG_TAG_LENGTH = 288 };
#endif

#ifdef __cplusplus
#define HCCL_DIAG_INITIAL(value) = value
#else
#define HCCL_DIAG_INITIAL(value)
#endif

/* One operator. In C++ a new object holds the values given here; in C set them yourself. */
struct HcclDfxOpInfo {
    CommAbiHeader header;
    uint64_t beginTime HCCL_DIAG_INITIAL(0); /* set by HcclDfxRegOpInfoByCommId on the host */
    uint64_t endTime HCCL_DIAG_INITIAL(0);
    uint32_t opMode HCCL_DIAG_INITIAL(0);
    uint32_t opType HCCL_DIAG_INITIAL(0);
    uint32_t reduceOp HCCL_DIAG_INITIAL(0);
    uint32_t dataType HCCL_DIAG_INITIAL(0);
    uint32_t outputType HCCL_DIAG_INITIAL(0);
    uint64_t dataCount HCCL_DIAG_INITIAL(0);
    uint32_t root HCCL_DIAG_INITIAL(0xFFFFFFFF);
    char algTag[HCOMM_ALG_TAG_LENGTH];
    CommEngine engine HCCL_DIAG_INITIAL(COMM_ENGINE_RESERVED);
    uint64_t cpuTsThread HCCL_DIAG_INITIAL(0); /* ThreadHandle of the host's main thread */
    uint32_t cpuWaitAicpuNotifyIdx HCCL_DIAG_INITIAL(0xFFFFFFFF);
    uint32_t cpuWaitAicpuNotifyId HCCL_DIAG_INITIAL(0xFFFFFFFF);
    uint64_t inputMemAddr HCCL_DIAG_INITIAL(0);
    uint64_t inputMemSize HCCL_DIAG_INITIAL(0);
    uint64_t outputMemAddr HCCL_DIAG_INITIAL(0);
    uint64_t outputMemSize HCCL_DIAG_INITIAL(0);
    int8_t reserve[96];
};

#undef HCCL_DIAG_INITIAL

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/**
 * Say what operator comes next on a communicator. Host and device.
 *
 * @param commId         in       name of the communicator
 * @param hcclDfxOpInfo  in, out  a struct HcclDfxOpInfo of the caller; the host stores beginTime
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: hcclDfxOpInfo is NULL (host).
 * Threads: safe for different objects.
 * Source:  spec, types, section 5.11.
 */
HcclResult HcclDfxRegOpInfoByCommId(char *commId, void *hcclDfxOpInfo);

/**
 * Say that the operator is done, on the host.
 *
 * @param comm       in  communicator
 * @param beginTime      from HcommGetProfilingSysCycleTime
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: comm is NULL.
 * Threads: safe.
 * Source:  spec, types, section 5.11.
 */
HcclResult HcclProfilingReportOp(HcclComm comm, uint64_t beginTime);

/**
 * Say that an AICPU kernel was launched, on the host.
 *
 * @param comm        in  communicator
 * @param beginTime       from HcommGetProfilingSysCycleTime
 * @param kernelName  in  name of the kernel
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: comm or kernelName is NULL.
 * Threads: safe.
 * Source:  spec, types, section 5.11.
 */
HcclResult HcclReportAicpuKernel(HcclComm comm, uint64_t beginTime, char *kernelName);

/**
 * Say that a vector core kernel was launched, on the host.
 *
 * @param comm       in  communicator
 * @param beginTime      from HcommGetProfilingSysCycleTime
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: comm is NULL.
 * Threads: safe.
 * Source:  spec, types, section 5.11.
 */
HcclResult HcclReportAivKernel(HcclComm comm, uint64_t beginTime);

/**
 * The clock of the profiler, on the host.
 *
 * @return ticks; they never go back.
 * Threads: safe.
 * Source:  spec, types, section 5.11.
 */
uint64_t HcommGetProfilingSysCycleTime(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
