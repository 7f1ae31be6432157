/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows, as hcomm_p2p.h declares them. */
#include "base/log.h"
#include "hcomm/hcomm_p2p.h"
#include "p2p/access.h"
#include "p2p/window.h"

/* ---- create and destroy ---- */

/* What is wrong with the own part; the others must hear of it. */
static HcclResult
check_part(const struct window_desc *desc, const void *window)
{
    struct rt_range range;

    if (window == NULL) {
        LOG_ERROR(P2P, "%s: there is no place for the handle (window is NULL)", desc->function);
        return HCCL_E_PTR;
    }
    if ((desc->access & ~HCOMM_ACCESS_ALL) != 0) {
        LOG_ERROR(P2P, "%s: access 0x%x has bits that are no HCOMM_ACCESS_...", desc->function,
                  desc->access);
        return HCCL_E_PARA;
    }
    if (desc->size == 0 || desc->allocate)
        return HCCL_SUCCESS;
    if (desc->addr == NULL) {
        LOG_ERROR(P2P, "%s: addr is NULL, for %llu bytes", desc->function,
                  (unsigned long long)desc->size);
        return HCCL_E_PTR;
    }
    if ((uintptr_t)desc->addr + desc->size < desc->size) {
        LOG_ERROR(P2P, "%s: %llu bytes at %p are more than an address can reach", desc->function,
                  (unsigned long long)desc->size, desc->addr);
        return HCCL_E_PARA;
    }
    return rt_result(rt_mem_check(desc->addr, desc->size, desc->function, "the memory", &range));
}

static HcclResult
create(HcclComm comm, struct window_desc *desc, void **addr, HcommWindow *window)
{
    struct window *made;
    struct p2p *p2p;
    HcclResult rc = p2p_hold_running(desc->function, comm, &p2p);

    if (rc != HCCL_SUCCESS)
        return rc;
    if (desc->allocate && addr == NULL) {
        LOG_ERROR(P2P, "%s: there is no place for the address (addr is NULL)", desc->function);
        desc->fault = HCCL_E_PTR;
    } else {
        desc->fault = check_part(desc, window);
    }
    rc = window_create(p2p, desc, &made);
    if (rc == HCCL_SUCCESS) {
        if (desc->allocate)
            *addr = made->owned;
        *window = (HcommWindow)(uintptr_t)made->handle;
    }
    p2p_release(p2p);
    return rc;
}

HcclResult
HcommWindowCreate(HcclComm comm, void *addr, uint64_t size, uint32_t access, HcommWindow *window)
{
    struct window_desc desc = {.function = __func__, .addr = addr, .size = size, .access = access};

    return create(comm, &desc, NULL, window);
}

HcclResult
HcommWindowAllocate(HcclComm comm, uint64_t size, uint32_t access, void **addr, HcommWindow *window)
{
    struct window_desc desc = {
        .function = __func__, .allocate = true, .size = size, .access = access};

    return create(comm, &desc, addr, window);
}

HcclResult
HcommWindowDestroy(HcommWindow handle)
{
    struct window *window;
    HcclResult rc = window_hold(handle, __func__, &window);

    if (rc != HCCL_SUCCESS)
        return rc;
    rc = window_destroy(window);
    window_release(window);
    return rc;
}

HcclResult
HcommWindowGetPeer(HcommWindow handle, uint32_t rank, void **addr, uint64_t *size, uint32_t *access)
{
    struct window *window;
    HcclResult rc = window_hold(handle, __func__, &window);

    if (rc != HCCL_SUCCESS)
        return rc;
    if (!window_enter(window)) {
        LOG_ERROR(P2P, "%s: the window is being destroyed", __func__);
        window_release(window);
        return HCCL_E_PARA;
    }
    rc = comm_rank_check(window->p2p->comm, rank, __func__);
    if (rc == HCCL_SUCCESS) {
        const struct window_peer *peer = &window->peers[rank];

        if (addr != NULL)
            *addr = peer->addr;
        if (size != NULL)
            *size = peer->size;
        if (access != NULL)
            *access = peer->access;
    }
    window_leave(window);
    window_release(window);
    return rc;
}

/* ---- accesses ---- */

HcclResult
HcommPut(const void *src, uint64_t count, HcclDataType type, HcommWindow window, uint32_t rank,
         uint64_t offset, aclrtStream stream)
{
    struct access_call call;

    if (stream == HCOMM_STREAM_INLINE &&
        access_short_put(window, rank, offset, src, count, (int)type))
        return HCCL_SUCCESS;
    call = (struct access_call){.function = __func__,
                                .window = window,
                                .access = {.kind = ACCESS_PUT,
                                           .local = (void *)(uintptr_t)src,
                                           .rank = rank,
                                           .offset = offset},
                                .count = count,
                                .type = (int)type,
                                .notify = UINT32_MAX,
                                .stream = stream};
    return access_do(&call);
}

HcclResult
HcommGet(void *dst, uint64_t count, HcclDataType type, HcommWindow window, uint32_t rank,
         uint64_t offset, aclrtStream stream)
{
    struct access_call call;

    if (stream == HCOMM_STREAM_INLINE &&
        access_short_get(window, rank, offset, dst, count, (int)type))
        return HCCL_SUCCESS;
    call = (struct access_call){
        .function = __func__,
        .window = window,
        .access = {.kind = ACCESS_GET, .local = dst, .rank = rank, .offset = offset},
        .count = count,
        .type = (int)type,
        .notify = UINT32_MAX,
        .stream = stream};
    return access_do(&call);
}

HcclResult
HcommAccumulate(const void *src, uint64_t count, HcclDataType type, HcclReduceOp op,
                HcommWindow window, uint32_t rank, uint64_t offset, aclrtStream stream)
{
    struct access_call call = {.function = __func__,
                               .window = window,
                               .access = {.kind = ACCESS_ACCUMULATE,
                                          .local = (void *)(uintptr_t)src,
                                          .rank = rank,
                                          .offset = offset},
                               .count = count,
                               .type = (int)type,
                               .op = (int)op,
                               .notify = UINT32_MAX,
                               .stream = stream};

    if (stream == HCOMM_STREAM_INLINE && access_short_update(&call))
        return HCCL_SUCCESS;
    return access_do(&call);
}

HcclResult
HcommFetchOp(const void *operand, void *result, HcclDataType type, HcclReduceOp op,
             HcommWindow window, uint32_t rank, uint64_t offset, aclrtStream stream)
{
    struct access_call call = {.function = __func__,
                               .window = window,
                               .access = {.kind = ACCESS_FETCH,
                                          .local = (void *)(uintptr_t)operand,
                                          .result = result,
                                          .rank = rank,
                                          .offset = offset},
                               .count = 1,
                               .type = (int)type,
                               .op = (int)op,
                               .notify = UINT32_MAX,
                               .stream = stream};

    if (stream == HCOMM_STREAM_INLINE && access_short_update(&call))
        return HCCL_SUCCESS;
    return access_do(&call);
}

HcclResult
HcommCompareSwap(const void *compare, const void *value, void *result, HcclDataType type,
                 HcommWindow window, uint32_t rank, uint64_t offset, aclrtStream stream)
{
    struct access_call call = {.function = __func__,
                               .window = window,
                               .access = {.kind = ACCESS_SWAP,
                                          .local = (void *)(uintptr_t)value,
                                          .result = result,
                                          .compare = compare,
                                          .rank = rank,
                                          .offset = offset},
                               .count = 1,
                               .type = (int)type,
                               .notify = UINT32_MAX,
                               .stream = stream};

    if (stream == HCOMM_STREAM_INLINE && access_short_update(&call))
        return HCCL_SUCCESS;
    return access_do(&call);
}

/* ---- notifies and completion ---- */

HcclResult
HcommPutNotify(const void *src, uint64_t count, HcclDataType type, HcommWindow window,
               uint32_t rank, uint64_t offset, uint32_t notify, aclrtStream stream)
{
    struct access_call call;

    if (stream == HCOMM_STREAM_INLINE &&
        access_short_notify(window, rank, offset, src, count, (int)type, notify))
        return HCCL_SUCCESS;
    if (notify >= HCOMM_WINDOW_NOTIFIES)
        return res_check_number(__func__, "notify", notify, 0, HCOMM_WINDOW_NOTIFIES - 1);
    call = (struct access_call){.function = __func__,
                                .window = window,
                                .access = {.kind = ACCESS_PUT,
                                           .local = (void *)(uintptr_t)src,
                                           .rank = rank,
                                           .offset = offset},
                                .count = count,
                                .type = (int)type,
                                .notify = notify,
                                .stream = stream};
    return access_do(&call);
}

static HcclResult
wait_on(const char *function, struct window_wait *wait, aclrtStream handle)
{
    struct rt_stream *stream = NULL;
    HcclResult rc =
        res_check_number(function, "notify", wait->notify, 0, HCOMM_WINDOW_NOTIFIES - 1);

    if (rc == HCCL_SUCCESS)
        rc = res_check_number(function, "count", wait->count, 1, UINT32_MAX);
    if (rc != HCCL_SUCCESS)
        return rc;
    if (handle == HCOMM_STREAM_INLINE)
        return window_wait(wait, NULL);
    rc = p2p_stream_hold(handle, &stream);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = window_wait(wait, stream);
    rt_stream_release(stream);
    return rc;
}

HcclResult
HcommWindowNotifyWait(HcommWindow handle, uint32_t notify, uint32_t count, uint32_t timeoutMs,
                      aclrtStream stream)
{
    struct window_wait wait = {
        .notify = notify, .count = count, .left = count, .timeout_ms = timeoutMs};
    HcclResult rc = window_hold(handle, __func__, &wait.window);

    if (rc != HCCL_SUCCESS)
        return rc;
    if (window_enter(wait.window)) {
        rc = wait_on(__func__, &wait, stream);
        window_leave(wait.window);
    } else {
        LOG_ERROR(P2P, "%s: the window is being destroyed", __func__);
        rc = HCCL_E_PARA;
    }
    window_release(wait.window);
    return rc;
}

HcclResult
HcommWindowFlush(HcommWindow window, uint32_t rank, aclrtStream stream)
{
    struct access_call call = {.function = __func__,
                               .window = window,
                               .access = {.kind = ACCESS_FLUSH, .rank = rank},
                               .notify = UINT32_MAX,
                               .stream = stream};

    return access_do(&call);
}
