/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/log.h"
#include "comm/comm_object.h"
#include "comm/comm_table.h"
#include "hccl/hccl_comm.h"
#include "hcomm/hcomm_extra.h"

/* In a group this is done at once: it waits for nobody. */
static HcclResult
init_file(const char *path, uint32_t rank, const HcclCommConfig *config, HcclComm *comm,
          const char *function)
{
    struct rank_table *table = NULL;
    HcclResult rc = comm_need(path, function, "clusterInfo");

    if (rc == HCCL_SUCCESS)
        rc = comm_need(comm, function, "comm");
    if (rc != HCCL_SUCCESS)
        return rc;
    if (!rt_enter())
        return HCCL_E_INTERNAL;
    rc = rank_table_read(path, &table);
    if (rc == HCCL_SUCCESS)
        rc = comm_from_table(table, rank, config, comm);
    rank_table_destroy(table);
    return rc;
}

HcclResult
HcclCommInitClusterInfo(const char *path, uint32_t rank, HcclComm *comm)
{
    return init_file(path, rank, NULL, comm, "HcclCommInitClusterInfo");
}

HcclResult
HcclCommInitClusterInfoConfig(const char *path, uint32_t rank, HcclCommConfig *config,
                              HcclComm *comm)
{
    HcclResult rc = comm_need(config, "HcclCommInitClusterInfoConfig", "config");

    if (rc != HCCL_SUCCESS)
        return rc;
    return init_file(path, rank, config, comm, "HcclCommInitClusterInfoConfig");
}

/* Each of these is a communicator among several, so it must say which. */
static HcclResult
check_named(const HcclCommConfig *config)
{
    HcclCommConfig full;
    HcclResult rc = config_copy(&full, config);

    if (rc != HCCL_SUCCESS || full.hcclCommName[0] != '\0')
        return rc;
    LOG_ERROR(COMM, "HcclCommInitClusterInfoMemConfig: config.hcclCommName is empty: set it to a "
                    "name of its own for each communicator");
    return HCCL_E_PARA;
}

HcclResult
HcclCommInitClusterInfoMemConfig(const char *text, uint32_t rank, HcclCommConfig *config,
                                 HcclComm *comm)
{
    static const char function[] = "HcclCommInitClusterInfoMemConfig";
    struct rank_table *table = NULL;
    HcclResult rc = comm_need(text, function, "rankTableString");

    if (rc == HCCL_SUCCESS)
        rc = comm_need(config, function, "config");
    if (rc == HCCL_SUCCESS)
        rc = comm_need(comm, function, "comm");
    if (rc != HCCL_SUCCESS)
        return rc;
    if (!rt_enter())
        return HCCL_E_INTERNAL;
    rc = check_named(config);
    if (rc == HCCL_SUCCESS)
        rc = rank_table_parse(text, strlen(text), "rankTableString", &table);
    if (rc == HCCL_SUCCESS)
        rc = comm_from_table(table, rank, config, comm);
    rank_table_destroy(table);
    return rc;
}
