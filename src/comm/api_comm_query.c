/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/log.h"
#include "comm/callbacks.h"
#include "comm/comm_object.h"
#include "hccl/hccl_comm.h"
#include "hccl/hcom.h"

HcclResult
HcclGetRankSize(HcclComm handle, uint32_t *num)
{
    struct comm *comm;
    HcclResult rc = comm_need(num, "HcclGetRankSize", "rankSize");

    if (rc == HCCL_SUCCESS)
        rc = comm_hold(handle, &comm);
    if (rc != HCCL_SUCCESS)
        return rc;
    *num = comm_rank_num(comm);
    comm_release(comm);
    return HCCL_SUCCESS;
}

HcclResult
HcclGetRankId(HcclComm handle, uint32_t *rank)
{
    struct comm *comm;
    HcclResult rc = comm_need(rank, "HcclGetRankId", "rank");

    if (rc == HCCL_SUCCESS)
        rc = comm_hold(handle, &comm);
    if (rc != HCCL_SUCCESS)
        return rc;
    *rank = comm_rank(comm);
    comm_release(comm);
    return HCCL_SUCCESS;
}

HcclResult
HcclGetCommName(HcclComm handle, char *name)
{
    struct comm *comm;
    HcclResult rc = comm_need(name, "HcclGetCommName", "commName");

    if (rc == HCCL_SUCCESS)
        rc = comm_hold(handle, &comm);
    if (rc != HCCL_SUCCESS)
        return rc;
    memcpy(name, comm_name(comm), strlen(comm_name(comm)) + 1); /* at most COMM_NAME_MAX_LENGTH */
    comm_release(comm);
    return HCCL_SUCCESS;
}

static HcclResult
find_by_name(const char *name, HcclComm *comm, const char *function, HcclResult unknown)
{
    HcclComm found;
    HcclResult rc = comm_need(name, function, "the name");

    if (rc == HCCL_SUCCESS)
        rc = comm_need(comm, function, "comm");
    if (rc != HCCL_SUCCESS)
        return rc;
    if (!rt_enter())
        return HCCL_E_INTERNAL;
    found = registry_find(name, rt_device_if_any());
    if (found == NULL) {
        LOG_ERROR(COMM, "%s: there is no communicator named \"%.127s\" in this process", function,
                  name);
        return unknown;
    }
    *comm = found;
    return HCCL_SUCCESS;
}

HcclResult
HcclCommGetHandleWithName(const char *name, HcclComm *comm)
{
    return find_by_name(name, comm, "HcclCommGetHandleWithName", HCCL_E_PARA);
}

HcclResult
HcomGetCommHandleByGroup(const char *group, HcclComm *comm)
{
    return find_by_name(group, comm, "HcomGetCommHandleByGroup", HCCL_E_NOT_FOUND);
}

HcclResult
HcclCommGetStatus(const char *name, HcclCommStatus *status)
{
    char why[COMM_WHY_LEN];
    HcclComm handle = NULL;
    struct comm *comm;
    HcclResult rc = comm_need(status, "HcclCommGetStatus", "status");

    if (rc == HCCL_SUCCESS)
        rc = find_by_name(name, &handle, "HcclCommGetStatus", HCCL_E_PTR);
    if (rc == HCCL_SUCCESS)
        rc = comm_hold(handle, &comm);
    if (rc != HCCL_SUCCESS)
        return rc;
    if (rt_fate_broken(comm->fate, why, sizeof why))
        *status = HCCL_COMM_STATUS_INVALID;
    else if (atomic_load(&comm->suspended))
        *status = HCCL_COMM_STATUS_SUSPENDING;
    else
        *status = HCCL_COMM_STATUS_READY;
    comm_release(comm);
    return HCCL_SUCCESS;
}

HcclResult
HcclGetCommAsyncError(HcclComm handle, HcclResult *error)
{
    char why[COMM_WHY_LEN];
    struct comm *comm;
    HcclResult rc = comm_need(error, "HcclGetCommAsyncError", "asyncError");

    if (rc == HCCL_SUCCESS)
        rc = comm_hold(handle, &comm);
    if (rc != HCCL_SUCCESS)
        return rc;
    if (rt_fate_broken(comm->fate, why, sizeof why) ||
        channels_any(comm, res_channel_peer_gone, why, sizeof why)) {
        *error = HCCL_E_REMOTE;
        hc_errmsg_add(why); /* for aclGetRecentErrMsg; this call has not failed */
    } else {
        *error = threads_health(comm);
    }
    comm_release(comm);
    return HCCL_SUCCESS;
}

const char *
HcclGetErrorString(HcclResult code)
{
    static const char *const texts[] = {
        [HCCL_SUCCESS] = "no error",
        [HCCL_E_PARA] = "parameter error",
        [HCCL_E_PTR] = "null pointer",
        [HCCL_E_MEMORY] = "memory error",
        [HCCL_E_INTERNAL] = "internal error",
        [HCCL_E_NOT_SUPPORT] = "feature not supported",
        [HCCL_E_NOT_FOUND] = "resource not found",
        [HCCL_E_UNAVAIL] = "resource unavailable",
        [HCCL_E_SYSCALL] = "system call error",
        [HCCL_E_TIMEOUT] = "timeout",
        [HCCL_E_OPEN_FILE_FAILURE] = "cannot open file",
        [HCCL_E_TCP_CONNECT] = "TCP connection failed",
        [HCCL_E_ROCE_CONNECT] = "RoCE connection failed",
        [HCCL_E_TCP_TRANSFER] = "TCP transfer failed",
        [HCCL_E_ROCE_TRANSFER] = "RoCE transfer failed",
        [HCCL_E_RUNTIME] = "runtime call failed",
        [HCCL_E_DRV] = "driver call failed",
        [HCCL_E_PROFILING] = "profiling call failed",
        [HCCL_E_CCE] = "compute engine call failed",
        [HCCL_E_NETWORK] = "network error",
        [HCCL_E_AGAIN] = "try again",
        [HCCL_E_REMOTE] = "remote error",
        [HCCL_E_SUSPENDING] = "communicator suspended",
        [HCCL_E_OPRETRY_FAIL] = "operator retry failed",
        [HCCL_E_OOM] = "out of memory",
    };

    if (code == HCCL_E_IN_STATUS)
        return "see the status object";
    if ((int)code < 0 || code >= HCCL_E_RESERVED)
        return "unknown error";
    if ((size_t)code >= sizeof texts / sizeof texts[0])
        return "unknown error code";
    return texts[code];
}

HcclResult
HcclSetConfig(HcclConfig config, HcclConfigValue value)
{
    if (!rt_enter())
        return HCCL_E_INTERNAL;
    if (config != HCCL_DETERMINISTIC) {
        LOG_ERROR(COMM, "HcclSetConfig: %d cannot be set: only HCCL_DETERMINISTIC (0)",
                  (int)config);
        return HCCL_E_PARA;
    }
    return config_set_deterministic(value.value);
}

HcclResult
HcclGetConfig(HcclConfig config, HcclConfigValue *value)
{
    HcclResult rc = comm_need(value, "HcclGetConfig", "configValue");

    if (rc != HCCL_SUCCESS)
        return rc;
    if (config != HCCL_DETERMINISTIC) {
        LOG_ERROR(COMM, "HcclGetConfig: %d cannot be read: only HCCL_DETERMINISTIC (0)",
                  (int)config);
        return HCCL_E_PARA;
    }
    return config_get_deterministic(&value->value);
}

static HcclResult
tell_config(const struct comm *comm, HcclConfigType type, uint32_t len, void *info)
{
    HcclOpExpansionMode mode = comm_op_expansion(comm);

    switch (type) {
    case HCCL_CONFIG_TYPE_OP_EXPANSION_MODE:
        if (len != sizeof mode) {
            LOG_ERROR(COMM, "HcclConfigGetInfo: infoLen is %u, the expansion mode has %zu bytes",
                      len, sizeof mode);
            return HCCL_E_PARA;
        }
        memcpy(info, &mode, sizeof mode);
        return HCCL_SUCCESS;
    case HCCL_CONFIG_TYPE_HCCL_ALGO:
        if (len < HCCL_COMM_ALGO_MAX_LENGTH) {
            LOG_ERROR(COMM, "HcclConfigGetInfo: infoLen is %u, the algorithm needs %d bytes", len,
                      HCCL_COMM_ALGO_MAX_LENGTH);
            return HCCL_E_PARA;
        }
        memset(info, 0, len);
        memcpy(info, comm_algo(comm), strlen(comm_algo(comm)));
        return HCCL_SUCCESS;
    default:
        LOG_ERROR(COMM, "HcclConfigGetInfo: there is no item %d", (int)type);
        return HCCL_E_PARA;
    }
}

HcclResult
HcclConfigGetInfo(HcclComm handle, HcclConfigType type, uint32_t len, void *info)
{
    struct comm *comm;
    HcclResult rc = comm_need(info, "HcclConfigGetInfo", "info");

    if (rc == HCCL_SUCCESS)
        rc = comm_hold(handle, &comm);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = tell_config(comm, type, len, info);
    comm_release(comm);
    return rc;
}

uint32_t
HcclGetCommConfigCapability(void)
{
    return HCCL_COMM_CONFIG_RETRY; /* items below it count: as the newest generation says */
}

HcclResult
HcclCommRegCommStateCallback(const char *name, HcclCommStateCallback callback, void *arg)
{
    HcclResult rc = comm_need(name, "HcclCommRegCommStateCallback", "regName");
    size_t len;

    if (rc == HCCL_SUCCESS && callback == NULL)
        rc = comm_need(NULL, "HcclCommRegCommStateCallback", "cb");
    if (rc != HCCL_SUCCESS)
        return rc;
    len = strnlen(name, CALLBACK_NAME_MOST + 1);
    if (len == 0 || len > CALLBACK_NAME_MOST) {
        LOG_ERROR(COMM, "HcclCommRegCommStateCallback: regName has 1 to %u characters",
                  CALLBACK_NAME_MOST);
        return HCCL_E_PARA;
    }
    return callbacks_set(name, callback, arg);
}
