/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that is used without staging: ranges of addresses and their active parts. */
#include "base/log.h"
#include "comm/comm_object.h"
#include "hccl/hccl_comm.h"

static HcclResult
check_zero(const char *function, const char *argument, uint64_t value)
{
    if (value == 0)
        return HCCL_SUCCESS;
    LOG_ERROR(COMM, "%s: %s is %llu: pass 0", function, argument, (unsigned long long)value);
    return HCCL_E_PARA;
}

static HcclResult
check_span(const char *function, const void *addr, size_t size)
{
    HcclResult rc = comm_need(addr, function, "the address");

    if (rc != HCCL_SUCCESS)
        return rc;
    if (size > 0 && size <= UINT64_MAX - (uint64_t)(uintptr_t)addr)
        return HCCL_SUCCESS;
    LOG_ERROR(COMM, "%s: %zu bytes at %p are no memory", function, size, addr);
    return HCCL_E_PARA;
}

static HcclResult
check_server(const char *function, const struct comm *comm)
{
    if (comm->world->layers[0].n_insts == 1)
        return HCCL_SUCCESS;
    LOG_ERROR(COMM, "%s: the ranks of %s are on %u servers: only where there is one", function,
              comm->name, comm->world->layers[0].n_insts);
    return HCCL_E_NOT_SUPPORT;
}

HcclResult
HcclCommSetMemoryRange(HcclComm handle, void *base, size_t size, size_t alignment, uint64_t flags)
{
    struct comm *comm;
    HcclResult rc = check_span(__func__, base, size);

    if (rc == HCCL_SUCCESS)
        rc = check_zero(__func__, "alignment", alignment);
    if (rc == HCCL_SUCCESS)
        rc = check_zero(__func__, "flags", flags);
    if (rc == HCCL_SUCCESS)
        rc = comm_hold(handle, &comm);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = check_server(__func__, comm);
    if (rc == HCCL_SUCCESS)
        rc = ranges_set(comm, base, size);
    comm_release(comm);
    return rc;
}

HcclResult
HcclCommUnsetMemoryRange(HcclComm handle, void *base)
{
    struct comm *comm;
    HcclResult rc = comm_need(base, __func__, "baseVirPtr");

    if (rc == HCCL_SUCCESS)
        rc = comm_hold(handle, &comm);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = ranges_unset(comm, base);
    comm_release(comm);
    return rc;
}

/* Live physical memory; what is mapped there already reaches far enough. */
static HcclResult
check_physical(const char *function, void *addr, size_t size, aclrtDrvMemHandle handle)
{
    aclrtPhysicalMemProp prop;
    struct rt_range range;
    HcclResult rc = comm_need(handle, function, "handle");

    if (rc != HCCL_SUCCESS)
        return rc;
    if (aclrtMemGetAllocationPropertiesFromHandle(handle, &prop) != ACL_SUCCESS)
        return HCCL_E_PARA; /* the runtime has said what it is */
    return rt_result(rt_mem_check(addr, size, function, "the memory", &range));
}

HcclResult
HcclCommActivateCommMemory(HcclComm handle, void *addr, size_t size, size_t offset,
                           aclrtDrvMemHandle memory, uint64_t flags)
{
    struct comm *comm;
    HcclResult rc = check_span(__func__, addr, size);

    if (rc == HCCL_SUCCESS)
        rc = check_zero(__func__, "offset", offset);
    if (rc == HCCL_SUCCESS)
        rc = check_zero(__func__, "flags", flags);
    if (rc == HCCL_SUCCESS)
        rc = comm_hold(handle, &comm);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = check_physical(__func__, addr, size, memory);
    if (rc == HCCL_SUCCESS)
        rc = ranges_activate(comm, addr, size);
    comm_release(comm);
    return rc;
}

HcclResult
HcclCommDeactivateCommMemory(HcclComm handle, void *addr)
{
    struct comm *comm;
    HcclResult rc = comm_need(addr, __func__, "virPtr");

    if (rc == HCCL_SUCCESS)
        rc = comm_hold(handle, &comm);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = ranges_deactivate(comm, addr);
    comm_release(comm);
    return rc;
}
