/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/log.h"
#include "p2p/one_sided.h"

static HcclResult
need(const void *ptr, const char *function, const char *what)
{
    return comm_need(ptr, function, what);
}

static void
release(struct one_sided *os)
{
    p2p_release(os->p2p);
}

static HcclResult
check_timeout(const char *function, int timeout_s)
{
    if (timeout_s >= -1)
        return HCCL_SUCCESS;
    LOG_ERROR(P2P,
              "%s: timeout is %d: give seconds, or 0 for HCCL_CONNECT_TIMEOUT, or -1 for no limit",
              function, timeout_s);
    return HCCL_E_PARA;
}

/* ---- memory for one peer ---- */

HcclResult
HcclRegisterMem(HcclComm comm, u32 remoteRank, int type, void *addr, u64 size, HcclMemDesc *desc)
{
    const CommMem mem = {.type = (CommMemType)type, .addr = addr, .size = size};
    struct one_sided *os;
    HcclResult rc = need(addr, "HcclRegisterMem", "addr");

    if (rc == HCCL_SUCCESS)
        rc = need(desc, "HcclRegisterMem", "desc");
    if (rc == HCCL_SUCCESS)
        rc = one_sided_hold(comm, &os);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = comm_rank_check(os->p2p->comm, remoteRank, "HcclRegisterMem");
    if (rc == HCCL_SUCCESS)
        rc = one_sided_check("HcclRegisterMem", &mem);
    if (rc == HCCL_SUCCESS && remoteRank != os->p2p->rank)
        rc = one_sided_register(os, remoteRank, &mem, desc);
    release(os);
    return rc;
}

HcclResult
HcclDeregisterMem(HcclComm comm, HcclMemDesc *desc)
{
    struct one_sided *os;
    HcclResult rc = need(desc, "HcclDeregisterMem", "desc");

    if (rc == HCCL_SUCCESS)
        rc = one_sided_hold(comm, &os);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = one_sided_deregister(os, desc);
    release(os);
    return rc;
}

static HcclResult
check_list(const HcclMemDescs *list, const char *what)
{
    HcclResult rc = need(list, "HcclExchangeMemDesc", what);

    if (rc == HCCL_SUCCESS && list->arrayLength > 0)
        rc = need(list->array, "HcclExchangeMemDesc", "the array of a list");
    return rc;
}

static HcclResult
check_exchange(const HcclMemDescs *local, const HcclMemDescs *remote, const u32 *actualNum)
{
    HcclResult rc = check_list(local, "local");

    if (rc == HCCL_SUCCESS)
        rc = check_list(remote, "remote");
    if (rc == HCCL_SUCCESS)
        rc = need(actualNum, "HcclExchangeMemDesc", "actualNum");
    if (rc != HCCL_SUCCESS)
        return rc;
    if (local->arrayLength == 0 && remote->arrayLength == 0) {
        LOG_ERROR(P2P, "HcclExchangeMemDesc: both lists are empty: there is nothing to exchange");
        return HCCL_E_PARA;
    }
    return res_check_number("HcclExchangeMemDesc", "local->arrayLength", local->arrayLength, 0,
                            ONE_SIDED_MOST);
}

HcclResult
HcclExchangeMemDesc(HcclComm comm, u32 remoteRank, HcclMemDescs *local, int timeout,
                    HcclMemDescs *remote, u32 *actualNum)
{
    struct one_sided *os;
    HcclResult rc = check_exchange(local, remote, actualNum);

    if (rc == HCCL_SUCCESS)
        rc = check_timeout("HcclExchangeMemDesc", timeout);
    if (rc == HCCL_SUCCESS)
        rc = one_sided_hold(comm, &os);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = comm_check_running(os->p2p->comm, "HcclExchangeMemDesc");
    if (rc == HCCL_SUCCESS)
        rc = one_sided_rank_check(os, remoteRank, "HcclExchangeMemDesc");
    if (rc == HCCL_SUCCESS)
        rc = one_sided_exchange(os, remoteRank, local, timeout, remote, actualNum);
    release(os);
    return rc;
}

HcclResult
HcclEnableMemAccess(HcclComm comm, HcclMemDesc *remoteMemDesc, CommMem *remoteMem)
{
    struct one_sided *os;
    HcclResult rc = need(remoteMemDesc, "HcclEnableMemAccess", "remoteMemDesc");

    if (rc == HCCL_SUCCESS)
        rc = need(remoteMem, "HcclEnableMemAccess", "remoteMem");
    if (rc == HCCL_SUCCESS)
        rc = one_sided_hold(comm, &os);
    if (rc != HCCL_SUCCESS)
        return rc;
    pthread_mutex_lock(&os->lock);
    rc = one_far_enable(os, remoteMemDesc, remoteMem);
    pthread_mutex_unlock(&os->lock);
    release(os);
    return rc;
}

HcclResult
HcclDisableMemAccess(HcclComm comm, HcclMemDesc *remoteMemDesc)
{
    struct one_sided *os;
    HcclResult rc = need(remoteMemDesc, "HcclDisableMemAccess", "remoteMemDesc");

    if (rc == HCCL_SUCCESS)
        rc = one_sided_hold(comm, &os);
    if (rc != HCCL_SUCCESS)
        return rc;
    pthread_mutex_lock(&os->lock);
    rc = one_far_disable(os, remoteMemDesc);
    pthread_mutex_unlock(&os->lock);
    release(os);
    return rc;
}

/* ---- put and get ---- */

static HcclResult
batch(HcclComm comm, const char *function, bool put, u32 remoteRank, const HcclOneSideOpDesc *desc,
      u32 descNum, rtStream_t stream)
{
    struct one_sided *os;
    HcclResult rc = one_sided_hold(comm, &os);

    if (rc != HCCL_SUCCESS)
        return rc;
    rc = comm_check_running(os->p2p->comm, function);
    if (rc == HCCL_SUCCESS)
        rc = one_sided_rank_check(os, remoteRank, function);
    if (rc == HCCL_SUCCESS && descNum > 0) {
        rc = need(desc, function, "desc");
        if (rc == HCCL_SUCCESS)
            rc = res_check_number(function, "descNum", descNum, 0, ONE_SIDED_MOST);
        if (rc == HCCL_SUCCESS)
            rc = one_sided_batch(os, function, put, remoteRank, desc, descNum, stream);
    }
    release(os);
    return rc;
}

HcclResult
HcclBatchPut(HcclComm comm, u32 remoteRank, HcclOneSideOpDesc *desc, u32 descNum, rtStream_t stream)
{
    return batch(comm, "HcclBatchPut", true, remoteRank, desc, descNum, stream);
}

HcclResult
HcclBatchGet(HcclComm comm, u32 remoteRank, HcclOneSideOpDesc *desc, u32 descNum, rtStream_t stream)
{
    return batch(comm, "HcclBatchGet", false, remoteRank, desc, descNum, stream);
}

/* ---- memory of the process ---- */

HcclResult
HcclRegisterGlobalMem(const CommMem *mem, void **memHandle)
{
    HcclResult rc = need(mem, "HcclRegisterGlobalMem", "mem");

    if (rc == HCCL_SUCCESS)
        rc = need(memHandle, "HcclRegisterGlobalMem", "memHandle");
    if (rc != HCCL_SUCCESS)
        return rc;
    if (!rt_enter())
        return HCCL_E_INTERNAL;
    if (mem->addr == NULL) {
        LOG_ERROR(P2P, "HcclRegisterGlobalMem: mem->addr is NULL");
        return HCCL_E_PARA;
    }
    return global_register(mem, memHandle);
}

HcclResult
HcclDeregisterGlobalMem(void *memHandle)
{
    HcclResult rc = need(memHandle, "HcclDeregisterGlobalMem", "memHandle");

    if (rc != HCCL_SUCCESS)
        return rc;
    return rt_enter() ? global_deregister(memHandle) : HCCL_E_INTERNAL;
}

HcclResult
HcclCommBindMem(HcclComm comm, void *memHandle)
{
    struct one_sided *os;
    HcclResult rc = need(memHandle, "HcclCommBindMem", "memHandle");

    if (rc == HCCL_SUCCESS)
        rc = one_sided_hold(comm, &os);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = global_bind(os, memHandle);
    release(os);
    return rc;
}

HcclResult
HcclCommUnbindMem(HcclComm comm, void *memHandle)
{
    struct one_sided *os;
    HcclResult rc = need(memHandle, "HcclCommUnbindMem", "memHandle");

    if (rc == HCCL_SUCCESS)
        rc = one_sided_hold(comm, &os);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = global_unbind(os, memHandle);
    release(os);
    return rc;
}

HcclResult
HcclCommPrepare(HcclComm comm, const HcclPrepareConfig *prepareConfig, const int timeout)
{
    struct one_sided *os;
    HcclResult rc = need(prepareConfig, "HcclCommPrepare", "prepareConfig");

    if (rc == HCCL_SUCCESS)
        rc = check_timeout("HcclCommPrepare", timeout);
    if (rc != HCCL_SUCCESS)
        return rc;
    if (prepareConfig->topoType != HCCL_TOPO_FULLMESH) {
        LOG_ERROR(P2P, "HcclCommPrepare: topoType is %d: it must be HCCL_TOPO_FULLMESH (0)",
                  (int)prepareConfig->topoType);
        return HCCL_E_PARA;
    }
    rc = one_sided_hold(comm, &os);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = comm_check_running(os->p2p->comm, "HcclCommPrepare");
    if (rc == HCCL_SUCCESS)
        rc = one_sided_prepare(os, timeout);
    release(os);
    return rc;
}

/* ---- memory replaced ---- */

static HcclResult
remap_one(HcclComm comm, const CommMem *mems, u64 num)
{
    struct one_sided *os;
    HcclResult rc = one_sided_hold(comm, &os);

    if (rc != HCCL_SUCCESS)
        return rc;
    for (u64 i = 0; i < num && rc == HCCL_SUCCESS; i++)
        rc = one_sided_remapped(os, &mems[i]);
    release(os);
    return rc;
}

HcclResult
HcclRemapRegistedMemory(HcclComm *comm, CommMem *memInfoArray, u64 commSize, u64 arraySize)
{
    HcclResult rc = need(comm, "HcclRemapRegistedMemory", "comm");

    if (rc == HCCL_SUCCESS)
        rc = need(memInfoArray, "HcclRemapRegistedMemory", "memInfoArray");
    if (rc == HCCL_SUCCESS)
        rc = res_check_number("HcclRemapRegistedMemory", "commSize", commSize, 1, UINT64_MAX);
    if (rc == HCCL_SUCCESS)
        rc = res_check_number("HcclRemapRegistedMemory", "arraySize", arraySize, 1, UINT64_MAX);
    for (u64 i = 0; i < commSize && rc == HCCL_SUCCESS; i++)
        rc = need(comm[i], "HcclRemapRegistedMemory", "an element of comm");
    for (u64 i = 0; i < commSize && rc == HCCL_SUCCESS; i++)
        rc = remap_one(comm[i], memInfoArray, arraySize);
    return rc;
}
