/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/log.h"
#include "comm/channels.h"
#include "comm/comm_object.h"
#include "hccl/hccl_res.h"
#include "hccl/hccl_res_expt.h"

static HcclResult
get_buffer(HcclComm handle, void **buffer, uint64_t *size, const char *function, bool clear)
{
    struct comm *comm;
    HcclResult rc = comm_need(buffer, function, "buffer");

    if (rc == HCCL_SUCCESS)
        rc = comm_need(size, function, "size");
    if (rc == HCCL_SUCCESS)
        rc = comm_hold(handle, &comm);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = comm_buffer(comm, buffer, size);
    if (rc == HCCL_SUCCESS && clear)
        rc = rt_result(aclrtMemset(*buffer, *size, 0, *size));
    comm_release(comm);
    return rc;
}

HcclResult
HcclGetHcclBuffer(HcclComm handle, void **buffer, uint64_t *size)
{
    return get_buffer(handle, buffer, size, "HcclGetHcclBuffer", false);
}

HcclResult
HcclGetHcclBufferCleared(HcclComm handle, void **buffer, uint64_t *size)
{
    return get_buffer(handle, buffer, size, "HcclGetHcclBufferCleared", true);
}

static HcclResult
check_tag(const char *tag, const char *function, size_t least)
{
    static const char *const ours[] = {"__hccl_sym_win__", "__hccl_team_syncmem__",
                                       "__hccl_team_usermem__"};
    size_t len = strnlen(tag, COMM_TAG_MOST + 1);

    if (len < least || len > COMM_TAG_MOST) {
        LOG_ERROR(COMM, "%s: memTag has %zu to %u characters", function, least, COMM_TAG_MOST);
        return HCCL_E_PARA;
    }
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++) {
        if (strncmp(tag, ours[i], strlen(ours[i])) == 0) {
            LOG_ERROR(COMM, "%s: memTag may not begin with %s, which the library keeps for itself",
                      function, ours[i]);
            return HCCL_E_PARA;
        }
    }
    return HCCL_SUCCESS;
}

static HcclResult
check_memory(const CommMem *mem)
{
    HcclResult rc = comm_need(mem->addr, "HcclCommMemReg", "mem->addr");

    if (rc != HCCL_SUCCESS)
        return rc;
    if (mem->size == 0 || mem->size > UINT64_MAX - (uint64_t)(uintptr_t)mem->addr) {
        LOG_ERROR(COMM, "HcclCommMemReg: %llu bytes at %p make no region",
                  (unsigned long long)mem->size, mem->addr);
        return HCCL_E_PARA;
    }
    if (mem->type != COMM_MEM_TYPE_DEVICE && mem->type != COMM_MEM_TYPE_HOST) {
        LOG_ERROR(COMM, "HcclCommMemReg: mem->type is %d: COMM_MEM_TYPE_DEVICE (0) or _HOST (1)",
                  (int)mem->type);
        return HCCL_E_PARA;
    }
    return HCCL_SUCCESS;
}

HcclResult
HcclCommMemReg(HcclComm handle, const char *tag, const CommMem *mem, HcclMemHandle *memory)
{
    struct comm *comm;
    HcclResult rc = comm_need(tag, "HcclCommMemReg", "memTag");

    if (rc == HCCL_SUCCESS)
        rc = comm_need(mem, "HcclCommMemReg", "mem");
    if (rc == HCCL_SUCCESS)
        rc = comm_need(memory, "HcclCommMemReg", "memHandle");
    if (rc == HCCL_SUCCESS)
        rc = check_tag(tag, "HcclCommMemReg", 1);
    if (rc == HCCL_SUCCESS)
        rc = check_memory(mem);
    if (rc == HCCL_SUCCESS)
        rc = comm_hold(handle, &comm);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = memory_register(comm, tag, mem, memory);
    comm_release(comm);
    return rc;
}

HcclResult
HcclGetRemoteIpcHcclBuf(HcclComm handle, uint64_t rank, void **addr, uint64_t *size)
{
    struct comm *comm;
    HcclResult rc = comm_need(addr, "HcclGetRemoteIpcHcclBuf", "addr");

    if (rc == HCCL_SUCCESS)
        rc = comm_need(size, "HcclGetRemoteIpcHcclBuf", "size");
    if (rc == HCCL_SUCCESS)
        rc = comm_hold(handle, &comm);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = comm_rank_check(comm, rank > UINT32_MAX ? UINT32_MAX : (uint32_t)rank,
                         "HcclGetRemoteIpcHcclBuf");
    if (rc == HCCL_SUCCESS && rank == comm_rank(comm))
        rc = comm_buffer(comm, addr, size);
    else if (rc == HCCL_SUCCESS)
        rc = channels_peer_buffer(comm, (uint32_t)rank, addr, size);
    comm_release(comm);
    return rc;
}

HcclResult
HcclDevMemAcquire(HcclComm handle, const char *tag, uint64_t *size, void **addr, bool *made)
{
    struct comm *comm;
    HcclResult rc = comm_need(size, "HcclDevMemAcquire", "size");

    if (rc == HCCL_SUCCESS)
        rc = comm_need(addr, "HcclDevMemAcquire", "addr");
    if (tag == NULL)
        tag = ""; /* the one workspace that all share */
    if (rc == HCCL_SUCCESS)
        rc = check_tag(tag, "HcclDevMemAcquire", 0);
    if (rc == HCCL_SUCCESS && *size == 0) {
        LOG_ERROR(COMM, "HcclDevMemAcquire: *size is 0");
        rc = HCCL_E_PARA;
    }
    if (rc == HCCL_SUCCESS)
        rc = comm_hold(handle, &comm);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = memory_workspace(comm, tag, size, addr, made);
    comm_release(comm);
    return rc;
}
