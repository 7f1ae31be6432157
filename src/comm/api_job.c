/* SPDX-License-Identifier: BSD-3-Clause */
#include "bootstrap/bootstrap.h"
#include "comm/comm.h"
#include "hcomm/hcomm_job.h"
#include "runtime/runtime.h"

HcclResult
HcommJobGetInfo(HcommJobInfo *info)
{
    HcclResult rc = comm_need(info, "HcommJobGetInfo", "info");
    struct job job;

    if (rc != HCCL_SUCCESS)
        return rc;
    if (!rt_enter())
        return HCCL_E_INTERNAL;
    rc = job_read(&job);
    if (rc != HCCL_SUCCESS)
        return rc;
    *info = (HcommJobInfo){
        .launcher = job_launcher_name(job.launcher),
        .process = job.process,
        .processes = job.processes,
        .localProcess = job.local_process,
        .localProcesses = job.local_processes,
        .ranksPerProcess = job.ranks_per_process,
        .firstRank = job.process * job.ranks_per_process,
        .rankSize = job.processes * job.ranks_per_process,
    };
    return HCCL_SUCCESS;
}

HcclResult
HcommJobGetRootInfo(HcclRootInfo *info)
{
    HcclResult rc = comm_need(info, "HcommJobGetRootInfo", "rootInfo");

    if (rc != HCCL_SUCCESS)
        return rc;
    if (!rt_enter())
        return HCCL_E_INTERNAL;
    return job_root_info(info);
}
