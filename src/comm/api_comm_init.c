/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/alloc.h"
#include "base/log.h"
#include "bootstrap/bootstrap.h"
#include "comm/comm_object.h"
#include "comm/group.h"
#include "hccl/hccl_comm.h"

HcclResult
HcclGetRootInfo(HcclRootInfo *info)
{
    HcclResult rc = comm_need(info, "HcclGetRootInfo", "rootInfo");

    if (rc != HCCL_SUCCESS)
        return rc;
    if (!rt_enter())
        return HCCL_E_INTERNAL;
    return bs_root_create(info);
}

static HcclResult
init_root(uint32_t n_ranks, const HcclRootInfo *info, uint32_t rank, const HcclCommConfig *config,
          HcclComm *comm, const char *function)
{
    HcclResult rc = comm_need(info, function, "rootInfo");

    if (rc == HCCL_SUCCESS)
        rc = comm_need(comm, function, "comm");
    if (rc != HCCL_SUCCESS)
        return rc;
    if (!rt_enter())
        return HCCL_E_INTERNAL;
    if (n_ranks == 0 || rank >= n_ranks) {
        LOG_ERROR(COMM, "%s: rank %u of %u ranks: ranks count from 0 and are fewer than nRanks",
                  function, rank, n_ranks);
        return HCCL_E_PARA;
    }
    if (group_open())
        return group_add_init(n_ranks, info, rank, config, comm);
    return comm_join(n_ranks, info, rank, config, comm);
}

HcclResult
HcclCommInitRootInfo(uint32_t n_ranks, const HcclRootInfo *info, uint32_t rank, HcclComm *comm)
{
    return init_root(n_ranks, info, rank, NULL, comm, "HcclCommInitRootInfo");
}

HcclResult
HcclCommInitRootInfoConfig(uint32_t n_ranks, const HcclRootInfo *info, uint32_t rank,
                           const HcclCommConfig *config, HcclComm *comm)
{
    HcclResult rc = comm_need(config, "HcclCommInitRootInfoConfig", "config");

    if (rc != HCCL_SUCCESS)
        return rc;
    return init_root(n_ranks, info, rank, config, comm, "HcclCommInitRootInfoConfig");
}

/* Each of `devices` exists and comes once. */
static HcclResult
check_devices(const int32_t *devices, uint32_t num)
{
    uint32_t count = rt_device_count();
    uint8_t *seen;
    HcclResult rc = HCCL_SUCCESS;

    if (num == 0 || num > count) {
        LOG_ERROR(COMM, "HcclCommInitAll: ndev is %u; there are %u devices", num, count);
        return HCCL_E_PARA;
    }
    seen = hc_calloc(count, 1);
    if (seen == NULL)
        return HCCL_E_MEMORY;
    for (uint32_t i = 0; i < num && rc == HCCL_SUCCESS; i++) {
        bool exists = devices[i] >= 0 && (uint32_t)devices[i] < count;

        if (!exists || seen[devices[i]]++ != 0) {
            LOG_ERROR(COMM, "HcclCommInitAll: device %d %s", devices[i],
                      exists ? "is listed twice" : "does not exist");
            rc = HCCL_E_PARA;
        }
    }
    hc_free(seen);
    return rc;
}

HcclResult
HcclCommInitAll(uint32_t num, int32_t *devices, HcclComm *comms)
{
    HcclResult rc = comm_need(devices, "HcclCommInitAll", "devices");

    if (rc == HCCL_SUCCESS)
        rc = comm_need(comms, "HcclCommInitAll", "comms");
    if (rc != HCCL_SUCCESS)
        return rc;
    if (!rt_enter())
        return HCCL_E_INTERNAL;
    rc = check_devices(devices, num);
    if (rc != HCCL_SUCCESS)
        return rc;
    return comm_create_all(devices, num, comms);
}

HcclResult
HcclCommDestroy(HcclComm comm)
{
    if (!rt_enter())
        return HCCL_E_INTERNAL;
    if (comm == NULL) {
        LOG_WARN(COMM, "HcclCommDestroy: comm is NULL: nothing to destroy");
        return HCCL_SUCCESS;
    }
    if (group_open())
        return group_add_destroy(comm);
    return comm_destroy(comm);
}

HcclResult
HcclGroupStart(void)
{
    if (!rt_enter())
        return HCCL_E_INTERNAL;
    group_start();
    return HCCL_SUCCESS;
}

HcclResult
HcclGroupEnd(void)
{
    if (!rt_enter())
        return HCCL_E_INTERNAL;
    return group_end();
}

HcclResult
HcclGroupStatusGet(bool *open)
{
    HcclResult rc = comm_need(open, "HcclGroupStatusGet", "isGroupEnabled");

    if (rc == HCCL_SUCCESS)
        *open = group_open();
    return rc;
}
