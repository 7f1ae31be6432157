/* SPDX-License-Identifier: BSD-3-Clause */
/* What is done with a communicator after a fault of its machine. */
#include "base/alloc.h"
#include "base/log.h"
#include "comm/comm_object.h"
#include "hccl/hccl_comm.h"

HcclResult
HcclCommSuspend(HcclComm comm)
{
    return comm_suspend(comm);
}

HcclResult
HcclCommResume(HcclComm comm)
{
    return comm_resume(comm);
}

/* Each of `ranks` exists and comes once. */
static HcclResult
check_ranks(const struct comm *comm, const uint32_t *ranks, uint32_t num)
{
    static const char function[] = "HcclCommWorkingDevNicSet";
    HcclResult rc = HCCL_SUCCESS;
    uint8_t *seen;

    if (num == 0 || num > comm_rank_num(comm)) {
        LOG_ERROR(COMM, "%s: nRanks is %u: %s has %u ranks", function, num, comm_name(comm),
                  comm_rank_num(comm));
        return HCCL_E_PARA;
    }
    seen = hc_calloc(comm_rank_num(comm), 1);
    if (seen == NULL)
        return HCCL_E_MEMORY;
    for (uint32_t i = 0; i < num && rc == HCCL_SUCCESS; i++) {
        rc = comm_rank_check(comm, ranks[i], function);
        if (rc != HCCL_SUCCESS || seen[ranks[i]]++ == 0)
            continue;
        LOG_ERROR(COMM, "%s: rank %u is listed twice", function, ranks[i]);
        rc = HCCL_E_PARA;
    }
    hc_free(seen);
    return rc;
}

HcclResult
HcclCommWorkingDevNicSet(HcclComm handle, uint32_t *ranks, bool *backup, uint32_t num)
{
    struct comm *comm;
    HcclResult rc = comm_need(ranks, "HcclCommWorkingDevNicSet", "ranks");

    if (rc == HCCL_SUCCESS)
        rc = comm_need(backup, "HcclCommWorkingDevNicSet", "useBackup");
    if (rc == HCCL_SUCCESS)
        rc = comm_hold(handle, &comm);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = comm_check_running(comm, "HcclCommWorkingDevNicSet");
    if (rc == HCCL_SUCCESS)
        rc = check_ranks(comm, ranks, num);
    if (rc == HCCL_SUCCESS)
        LOG_WARN(COMM, "%s: soft NPUs have no spare network card: nothing was switched",
                 comm_name(comm));
    comm_release(comm);
    return rc;
}
