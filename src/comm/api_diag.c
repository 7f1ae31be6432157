/* SPDX-License-Identifier: BSD-3-Clause */
/* Hooks of the profiler, which is not there: arguments are checked, nothing is recorded. */
#include <stdatomic.h>

#include "base/clock.h"
#include "base/log.h"
#include "comm/comm_object.h"
#include "hccl/hccl_diag.h"
#include "hccl/hcomm_diag.h"

static HcclResult
record_nothing(void)
{
    static atomic_bool said;

    if (!atomic_exchange(&said, true))
        LOG_INFO(COMM, "profiling reports are accepted and not recorded");
    return HCCL_SUCCESS;
}

static HcclResult
report(HcclComm handle)
{
    struct comm *comm;
    HcclResult rc = comm_hold(handle, &comm);

    if (rc != HCCL_SUCCESS)
        return rc;
    comm_release(comm);
    return record_nothing();
}

HcclResult
HcclDfxRegOpInfoByCommId(char *name, void *info)
{
    HcclResult rc = comm_need(info, "HcclDfxRegOpInfoByCommId", "hcclDfxOpInfo");

    if (rc == HCCL_SUCCESS)
        rc = comm_need(name, "HcclDfxRegOpInfoByCommId", "commId");
    if (rc != HCCL_SUCCESS)
        return rc;
    if (!rt_on_aicpu())
        ((struct HcclDfxOpInfo *)info)->beginTime = HcommGetProfilingSysCycleTime();
    return record_nothing();
}

HcclResult
HcclProfilingReportOp(HcclComm comm, uint64_t begin)
{
    (void)begin;
    return report(comm);
}

HcclResult
HcclReportAicpuKernel(HcclComm comm, uint64_t begin, char *kernel)
{
    HcclResult rc = comm_need(kernel, "HcclReportAicpuKernel", "kernelName");

    (void)begin;
    return rc == HCCL_SUCCESS ? report(comm) : rc;
}

HcclResult
HcclReportAivKernel(HcclComm comm, uint64_t begin)
{
    (void)begin;
    return report(comm);
}

uint64_t
HcommGetProfilingSysCycleTime(void)
{
    return hc_now_ns();
}

HcclResult
HcommRegOpInfo(const char *name, void *info, size_t size)
{
    HcclResult rc = comm_need(name, "HcommRegOpInfo", "commId");

    (void)size;
    if (rc == HCCL_SUCCESS)
        rc = comm_need(info, "HcommRegOpInfo", "opInfo");
    return rc == HCCL_SUCCESS ? record_nothing() : rc;
}

HcclResult
HcommRegOpTaskException(const char *name, HcommGetOpInfoCallback callback)
{
    HcclResult rc = comm_need(name, "HcommRegOpTaskException", "commId");

    if (rc == HCCL_SUCCESS && callback == NULL)
        rc = comm_need(NULL, "HcommRegOpTaskException", "callback");
    return rc == HCCL_SUCCESS ? record_nothing() : rc;
}

HcclResult
HcommProfilingReportDeviceOp(const char *name)
{
    HcclResult rc = comm_need(name, "HcommProfilingReportDeviceOp", "groupname");

    return rc == HCCL_SUCCESS ? record_nothing() : rc;
}

HcclResult
HcommProfilingReportKernelStartTask(uint64_t thread, const char *name)
{
    HcclResult rc = comm_need(name, "HcommProfilingReportKernelStartTask", "groupname");

    (void)thread;
    return rc == HCCL_SUCCESS ? record_nothing() : rc;
}

HcclResult
HcommProfilingReportKernelEndTask(uint64_t thread, const char *name)
{
    HcclResult rc = comm_need(name, "HcommProfilingReportKernelEndTask", "groupname");

    (void)thread;
    return rc == HCCL_SUCCESS ? record_nothing() : rc;
}
