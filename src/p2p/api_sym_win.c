/* SPDX-License-Identifier: BSD-3-Clause */
/* Symmetric windows, as hccl_comm.h and hccl_sym_win.h declare them. */
#include "base/log.h"
#include "hccl/hccl_comm.h"
#include "hccl/hccl_sym_win.h"
#include "p2p/sym_win.h"

#define FLAG 1u /* the only one there is */

/* All that can be seen without the other ranks. */
static HcclResult
check_memory(const char *function, void *addr, uint64_t size)
{
    struct rt_range range;
    uint64_t file, offset;
    HcclResult rc;

    if (size == 0 || (uintptr_t)addr + size < size) {
        LOG_ERROR(P2P, "%s: %llu bytes at %p make no window", function, (unsigned long long)size,
                  addr);
        return HCCL_E_PARA;
    }
    rc = rt_result(rt_mem_check(addr, size, function, "the memory", &range));
    if (rc != HCCL_SUCCESS)
        return rc;
    if (range.place == RT_PLACE_DEVICE && rt_shared_find(addr, size, &file, &offset))
        return HCCL_SUCCESS;
    LOG_ERROR(P2P,
              "%s: the %llu bytes at %p are not device memory in one piece: take them from "
              "aclrtMalloc, or from one aclrtMapMem",
              function, (unsigned long long)size, addr);
    return HCCL_E_PARA;
}

/* Bytes that this rank may have in windows. */
static uint64_t
most_of(const struct comm *comm)
{
    uint64_t gib = comm_config(comm)->hcclSymWinMaxMemSizePerRank;

    return rt_soc() != RT_SOC_A3 || gib > UINT64_MAX >> 30 ? UINT64_MAX : gib << 30;
}

static HcclResult
check_flag(const char *function, uint32_t flag)
{
    if (flag == FLAG)
        return HCCL_SUCCESS;
    LOG_ERROR(P2P, "%s: flag is %u: pass %u", function, flag, FLAG);
    return HCCL_E_PARA;
}

HcclResult
HcclCommSymWinRegister(HcclComm comm, void *addr, uint64_t size, HcclCommSymWindow *winHandle,
                       uint32_t flag)
{
    struct sym_win_desc desc = {.comm = comm, .addr = addr, .size = size};
    struct p2p *p2p;
    HcclResult rc = comm_need(addr, __func__, "addr");

    if (rc == HCCL_SUCCESS)
        rc = comm_need(winHandle, __func__, "winHandle");
    if (rc == HCCL_SUCCESS)
        rc = p2p_hold_running(__func__, comm, &p2p);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = check_flag(__func__, flag);
    if (rc == HCCL_SUCCESS)
        rc = check_memory(__func__, addr, size);
    desc.most = most_of(p2p->comm);
    if (rc == HCCL_SUCCESS)
        rc = sym_win_register(p2p, &desc, winHandle);
    p2p_release(p2p);
    return rc;
}

HcclResult
HcclCommSymWinDeregister(HcclCommSymWindow winHandle)
{
    HcclResult rc = comm_need(winHandle, __func__, "winHandle");

    if (rc != HCCL_SUCCESS)
        return rc;
    return rt_enter() ? sym_win_deregister(winHandle) : HCCL_E_INTERNAL;
}

HcclResult
HcclCommSymWinGet(HcclComm comm, void *ptr, size_t size, HcclCommSymWindow *winHandle,
                  size_t *offset)
{
    struct comm *held;
    HcclResult rc = comm_need(ptr, __func__, "ptr");

    if (rc == HCCL_SUCCESS)
        rc = comm_need(winHandle, __func__, "winHandle");
    if (rc == HCCL_SUCCESS)
        rc = comm_need(offset, __func__, "offset");
    if (rc == HCCL_SUCCESS)
        rc = comm_hold(comm, &held);
    if (rc != HCCL_SUCCESS)
        return rc;
    if (size == 0) {
        LOG_ERROR(P2P, "%s: size is 0", __func__);
        rc = HCCL_E_PARA;
    } else {
        *offset = 0;
        *winHandle = sym_win_find(comm, ptr, size, offset);
    }
    comm_release(held);
    return rc;
}

HcclResult
HcclSymWinGetPeerPointer(HcclCommSymWindow winHandle, size_t offset, uint32_t peerRank, void **ptr)
{
    HcclResult rc = comm_need(winHandle, __func__, "winHandle");

    if (rc == HCCL_SUCCESS)
        rc = comm_need(ptr, __func__, "ptr");
    if (rc != HCCL_SUCCESS)
        return rc;
    return rt_enter() ? sym_win_pointer(winHandle, offset, peerRank, ptr) : HCCL_E_INTERNAL;
}
