/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/log.h"
#include "hcomm/hcomm_res.h"
#include "resource/resource.h"

#define THREADS_MOST 1000u
#define NOTIFIES_MOST 64u

static HcclResult
check_alloc(CommEngine engine, uint32_t num, const uint32_t *notify_nums,
            const ThreadHandle *threads)
{
    HcclResult rc;

    if (notify_nums == NULL || threads == NULL)
        return res_null("HcommThreadAlloc", threads == NULL ? "threads" : "notifyNumPerThread");
    rc = res_check_number("HcommThreadAlloc", "threadNum", num, 1, THREADS_MOST);
    if (rc == HCCL_SUCCESS)
        rc = res_engine_check(engine, "HcommThreadAlloc");
    for (uint32_t i = 0; i < num && rc == HCCL_SUCCESS; i++)
        rc = res_check_number("HcommThreadAlloc", "a notifyNumPerThread", notify_nums[i], 0,
                              NOTIFIES_MOST);
    return rc;
}

HcommResult
HcommThreadAlloc(CommEngine engine, uint32_t threadNum, const uint32_t *notifyNumPerThread,
                 ThreadHandle *threads)
{
    struct res_thread_desc desc = {.engine = engine};
    uint32_t made = 0;
    HcclResult rc;

    if (!rt_enter())
        return HCCL_E_UNAVAIL;
    rc = check_alloc(engine, threadNum, notifyNumPerThread, threads);
    if (rc == HCCL_SUCCESS)
        rc = rt_result(rt_current_device(&desc.device));
    while (rc == HCCL_SUCCESS && made < threadNum) {
        desc.notify_num = notifyNumPerThread[made];
        rc = res_thread_create(&desc, &threads[made]);
        made += rc == HCCL_SUCCESS;
    }
    if (rc != HCCL_SUCCESS) {
        for (uint32_t i = 0; i < made; i++) {
            (void)res_thread_destroy(threads[i]);
            threads[i] = 0;
        }
    }
    return rc;
}

/* A thread of a communicator ends with it. */
static HcclResult
check_is_own(ThreadHandle handle)
{
    struct res_thread *thread;
    bool in_group;
    HcclResult rc = res_thread_hold(handle, &thread);

    if (rc != HCCL_SUCCESS)
        return rc;
    in_group = res_thread_in_group(thread);
    res_thread_release(thread);
    if (!in_group)
        return HCCL_SUCCESS;
    LOG_ERROR(RES, "HcommThreadFree: thread 0x%llx belongs to a communicator, which frees it",
              (unsigned long long)handle);
    return HCCL_E_PARA;
}

HcommResult
HcommThreadFree(const ThreadHandle *threads, uint32_t threadNum)
{
    HcclResult rc;

    if (!rt_enter())
        return HCCL_E_UNAVAIL;
    if (threads == NULL)
        return res_null("HcommThreadFree", "threads");
    rc = res_check_number("HcommThreadFree", "threadNum", threadNum, 1, UINT32_MAX);
    for (uint32_t i = 0; i < threadNum && rc == HCCL_SUCCESS; i++) {
        rc = check_is_own(threads[i]);
        if (rc == HCCL_SUCCESS)
            rc = res_thread_destroy(threads[i]);
    }
    return rc;
}

HcommResult
HcommThreadResGetInfo(ThreadHandle thread, ThreadResType resType, uint32_t infoLen, void **info)
{
    struct res_thread *held;
    aclrtStream stream;
    HcclResult rc;

    if (!rt_enter())
        return HCCL_E_UNAVAIL;
    if (info == NULL)
        return res_null("HcommThreadResGetInfo", "info");
    if (resType != THREAD_RES_TYPE_STREAM) {
        LOG_ERROR(RES,
                  "HcommThreadResGetInfo: %d is no kind of resource (THREAD_RES_TYPE_STREAM is 0)",
                  (int)resType);
        return HCCL_E_NOT_SUPPORT;
    }
    rc =
        res_check_number("HcommThreadResGetInfo", "infoLen", infoLen, sizeof stream, sizeof stream);
    if (rc == HCCL_SUCCESS)
        rc = res_thread_hold(thread, &held);
    if (rc != HCCL_SUCCESS)
        return rc;
    stream = res_thread_stream_handle(held);
    res_thread_release(held);
    memcpy(info, &stream, sizeof stream); /* `info` is the address of an aclrtStream */
    return HCCL_SUCCESS;
}
