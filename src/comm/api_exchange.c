/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/log.h"
#include "comm/comm_object.h"
#include "hccl/hccl_res_expt.h"

#define TASK_TAG_MOST 255u

HcclResult
HcclCommAddExchangeInfo(HcclComm handle, const void *data, uint32_t len)
{
    struct comm *comm;
    HcclResult rc = comm_need(data, "HcclCommAddExchangeInfo", "data");

    if (rc == HCCL_SUCCESS && (len == 0 || len > EXCHANGE_MOST)) {
        LOG_ERROR(COMM, "HcclCommAddExchangeInfo: length is %u; 1 to %u go", len, EXCHANGE_MOST);
        rc = HCCL_E_PARA;
    }
    if (rc == HCCL_SUCCESS)
        rc = comm_hold(handle, &comm);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = exchange_add(comm, data, len);
    comm_release(comm);
    return rc;
}

HcclResult
HcclCommGetExchangeInfo(HcclComm handle, uint32_t rank, uint32_t len, void *data, uint32_t *actual)
{
    struct comm *comm;
    HcclResult rc = comm_need(data, "HcclCommGetExchangeInfo", "data");

    if (rc == HCCL_SUCCESS)
        rc = comm_need(actual, "HcclCommGetExchangeInfo", "actualLength");
    if (rc == HCCL_SUCCESS)
        rc = comm_hold(handle, &comm);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = comm_rank_check(comm, rank, "HcclCommGetExchangeInfo");
    if (rc == HCCL_SUCCESS)
        rc = exchange_get(comm, rank, len, data, actual);
    comm_release(comm);
    return rc;
}

HcclResult
HcclCommResetExchangeInfo(HcclComm handle)
{
    struct comm *comm;
    HcclResult rc = comm_hold(handle, &comm);

    if (rc != HCCL_SUCCESS)
        return rc;
    exchange_reset(comm);
    comm_release(comm);
    return HCCL_SUCCESS;
}

static HcclResult
check_task_tag(const char *tag, const char *function)
{
    HcclResult rc = comm_need(tag, function, "msgTag");
    size_t len;

    if (rc != HCCL_SUCCESS)
        return rc;
    len = strnlen(tag, TASK_TAG_MOST + 1);
    if (len > 0 && len <= TASK_TAG_MOST)
        return HCCL_SUCCESS;
    LOG_ERROR(COMM, "%s: msgTag has 1 to %u characters", function, TASK_TAG_MOST);
    return HCCL_E_PARA;
}

int32_t
HcclTaskRegister(HcclComm handle, const char *tag, Callback callback)
{
    struct comm *comm;
    HcclResult rc = check_task_tag(tag, "HcclTaskRegister");

    if (rc == HCCL_SUCCESS && callback == NULL)
        rc = comm_need(NULL, "HcclTaskRegister", "cb");
    if (rc == HCCL_SUCCESS)
        rc = comm_hold(handle, &comm);
    if (rc != HCCL_SUCCESS)
        return (int32_t)rc;
    rc = exchange_task_set(comm, tag, callback);
    comm_release(comm);
    return (int32_t)rc;
}

int32_t
HcclTaskUnRegister(HcclComm handle, const char *tag)
{
    struct comm *comm;
    HcclResult rc = check_task_tag(tag, "HcclTaskUnRegister");

    if (rc == HCCL_SUCCESS)
        rc = comm_hold(handle, &comm);
    if (rc != HCCL_SUCCESS)
        return (int32_t)rc;
    rc = exchange_task_remove(comm, tag);
    comm_release(comm);
    return (int32_t)rc;
}
