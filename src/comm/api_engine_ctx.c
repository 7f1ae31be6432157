/* SPDX-License-Identifier: BSD-3-Clause */
#include "comm/comm_object.h"
#include "hccl/hccl_res.h"

HcclResult
HcclEngineCtxCreate(HcclComm handle, const char *tag, CommEngine engine, uint64_t size, void **ctx)
{
    struct comm *comm;
    HcclResult rc = comm_need(ctx, "HcclEngineCtxCreate", "ctx");

    if (rc == HCCL_SUCCESS)
        rc = comm_hold(handle, &comm);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = res_ctx_create(comm->contexts, tag, engine, size, ctx);
    comm_release(comm);
    return rc;
}

HcclResult
HcclEngineCtxGet(HcclComm handle, const char *tag, CommEngine engine, void **ctx, uint64_t *size)
{
    struct comm *comm;
    HcclResult rc = comm_need(ctx, "HcclEngineCtxGet", "ctx");

    if (rc == HCCL_SUCCESS)
        rc = comm_need(size, "HcclEngineCtxGet", "size");
    if (rc == HCCL_SUCCESS)
        rc = comm_hold(handle, &comm);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = res_ctx_get(comm->contexts, tag, engine, ctx, size);
    comm_release(comm);
    return rc;
}

HcclResult
HcclEngineCtxCopy(HcclComm handle, CommEngine engine, const char *tag, const void *src,
                  uint64_t size, uint64_t offset)
{
    struct comm *comm;
    HcclResult rc = comm_need(src, "HcclEngineCtxCopy", "srcCtx");

    if (rc == HCCL_SUCCESS)
        rc = comm_hold(handle, &comm);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = res_ctx_copy(comm->contexts, tag, engine, src, size, offset);
    comm_release(comm);
    return rc;
}

HcclResult
HcclEngineCtxDestroy(HcclComm handle, const char *tag, CommEngine engine)
{
    struct comm *comm;
    HcclResult rc = comm_hold(handle, &comm);

    if (rc != HCCL_SUCCESS)
        return rc;
    rc = res_ctx_remove(comm->contexts, tag, engine);
    comm_release(comm);
    return rc;
}
