/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/alloc.h"
#include "base/log.h"
#include "comm/comm_object.h"
#include "hccl/hccl_res.h"
#include "hccl/hccl_res_expt.h"

#define NOTIFIES_MOST 65535u /* of one thread */
#define DEDICATED_NOTIFIES_MOST 64u
#define EXPORT_MOST 40u
#define THREADS_MOST COMM_THREADS_MOST /* threads.c counts, this bounds the arrays */

static HcclResult
fail_range(const char *function, const char *what, unsigned long long value, unsigned least,
           unsigned most)
{
    LOG_ERROR(COMM, "%s: %s is %llu; pass %u to %u", function, what, value, least, most);
    return HCCL_E_PARA;
}

static HcclResult
check_count(const char *function, uint32_t num)
{
    if (num == 0)
        return fail_range(function, "threadNum", num, 1, THREADS_MOST);
    if (num <= THREADS_MOST)
        return HCCL_SUCCESS;
    LOG_ERROR(COMM, "EI0007: %s: %u threads are asked for, a communicator has at most %u", function,
              num, THREADS_MOST);
    return HCCL_E_UNAVAIL;
}

HcclResult
HcclThreadAcquire(HcclComm handle, CommEngine engine, uint32_t num, uint32_t notify_num,
                  ThreadHandle *threads)
{
    uint32_t notify_nums[THREADS_MOST];
    struct comm *comm;
    HcclResult rc = comm_need(threads, "HcclThreadAcquire", "threads");

    if (rc == HCCL_SUCCESS)
        rc = res_engine_check(engine, "HcclThreadAcquire");
    if (rc == HCCL_SUCCESS && notify_num > NOTIFIES_MOST)
        rc = fail_range("HcclThreadAcquire", "notifyNumPerThread", notify_num, 0, NOTIFIES_MOST);
    if (rc == HCCL_SUCCESS)
        rc = check_count("HcclThreadAcquire", num);
    if (rc == HCCL_SUCCESS)
        rc = comm_hold(handle, &comm);
    if (rc != HCCL_SUCCESS)
        return rc;
    for (uint32_t i = 0; i < num; i++)
        notify_nums[i] = notify_num;
    rc = threads_acquire(comm, engine, num, notify_nums, threads);
    comm_release(comm);
    return rc;
}

/* The engine that CPU or AICPU with a type stands for. */
static HcclResult
typed_engine(CommEngine engine, ThreadType type, CommEngine *typed)
{
    if ((engine != COMM_ENGINE_CPU && engine != COMM_ENGINE_AICPU) || type != THREAD_TYPE_TS) {
        LOG_ERROR(COMM,
                  "HcclThreadAcquireWithConfig: engine %s with type %d: give CPU or AICPU with "
                  "THREAD_TYPE_TS (0)",
                  res_engine_name(engine), (int)type);
        return HCCL_E_PARA;
    }
    *typed = engine == COMM_ENGINE_CPU ? COMM_ENGINE_CPU_TS : COMM_ENGINE_AICPU_TS;
    return HCCL_SUCCESS;
}

HcclResult
HcclThreadAcquireWithConfig(HcclComm handle, CommEngine engine, uint32_t num, ThreadType type,
                            const ThreadConfig *config, ThreadHandle *threads)
{
    uint32_t notify_nums[THREADS_MOST];
    struct comm *comm;
    HcclResult rc = comm_need(config, "HcclThreadAcquireWithConfig", "config");

    if (rc == HCCL_SUCCESS)
        rc = comm_need(threads, "HcclThreadAcquireWithConfig", "threads");
    if (rc == HCCL_SUCCESS)
        rc = typed_engine(engine, type, &engine);
    if (rc == HCCL_SUCCESS)
        rc = check_count("HcclThreadAcquireWithConfig", num);
    for (uint32_t i = 0; i < num && rc == HCCL_SUCCESS; i++) {
        if (config[i].header.magicWord != HCOMM_THREAD_CONFIG_MAGIC_WORD) {
            LOG_ERROR(COMM,
                      "HcclThreadAcquireWithConfig: config %u of %u is not initialised: call "
                      "ThreadConfigInit on all of them",
                      i, num);
            rc = HCCL_E_PARA;
        }
        notify_nums[i] = config[i].notifyNumPerThread;
    }
    if (rc == HCCL_SUCCESS)
        rc = comm_hold(handle, &comm);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = threads_acquire(comm, engine, num, notify_nums, threads);
    comm_release(comm);
    return rc;
}

HcclResult
HcclThreadAcquireWithStream(HcclComm handle, CommEngine engine, aclrtStream stream,
                            uint32_t notify_num, ThreadHandle *thread)
{
    struct comm *comm;
    HcclResult rc = comm_need(thread, "HcclThreadAcquireWithStream", "thread");

    if (rc == HCCL_SUCCESS)
        rc = comm_need(stream, "HcclThreadAcquireWithStream", "stream");
    if (rc == HCCL_SUCCESS && res_engine_on_device(engine)) {
        LOG_ERROR(COMM,
                  "HcclThreadAcquireWithStream: engine %s cannot use a host stream: give CPU_TS",
                  res_engine_name(engine));
        rc = HCCL_E_PARA;
    }
    if (rc == HCCL_SUCCESS)
        rc = res_engine_check(engine, "HcclThreadAcquireWithStream");
    if (rc == HCCL_SUCCESS && notify_num > NOTIFIES_MOST)
        rc = fail_range("HcclThreadAcquireWithStream", "notifyNum", notify_num, 0, NOTIFIES_MOST);
    if (rc == HCCL_SUCCESS)
        rc = comm_hold(handle, &comm);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = threads_wrap(comm, engine, stream, notify_num, thread);
    comm_release(comm);
    return rc;
}

/* Each is one of the communicator's. */
static HcclResult
check_known(struct comm *comm, uint32_t num, const ThreadHandle *threads, const char *function,
            HcclResult unknown)
{
    for (uint32_t i = 0; i < num; i++) {
        if (threads_know(comm, threads[i]))
            continue;
        LOG_ERROR(COMM, "%s: thread 0x%llx is none of rank %u of %s: acquire it first", function,
                  (unsigned long long)threads[i], comm_rank(comm), comm_name(comm));
        return unknown;
    }
    return HCCL_SUCCESS;
}

HcclResult
HcclThreadExportToCommEngine(HcclComm handle, uint32_t num, const ThreadHandle *threads,
                             CommEngine engine, ThreadHandle *exported)
{
    struct comm *comm;
    HcclResult rc = comm_need(threads, "HcclThreadExportToCommEngine", "threads");

    if (rc == HCCL_SUCCESS)
        rc = comm_need(exported, "HcclThreadExportToCommEngine", "exportedThreads");
    if (rc == HCCL_SUCCESS && (num == 0 || num > EXPORT_MOST))
        rc = fail_range("HcclThreadExportToCommEngine", "threadNum", num, 1, EXPORT_MOST);
    if (rc == HCCL_SUCCESS && engine == COMM_ENGINE_AIV) {
        LOG_ERROR(COMM,
                  "HcclThreadExportToCommEngine: engine AIV takes no threads: export to CPU_TS or "
                  "AICPU_TS");
        rc = HCCL_E_PARA;
    }
    if (rc == HCCL_SUCCESS)
        rc = res_engine_check(engine, "HcclThreadExportToCommEngine");
    if (rc == HCCL_SUCCESS)
        rc = comm_hold(handle, &comm);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = check_known(comm, num, threads, "HcclThreadExportToCommEngine", HCCL_E_PARA);
    for (uint32_t i = 0; i < num && rc == HCCL_SUCCESS; i++)
        exported[i] = threads[i]; /* a handle is good on both sides */
    comm_release(comm);
    return rc;
}

HcclResult
HcclDedicatedThreadAcquire(HcclComm handle, HcclDedicatedThreadType type, uint32_t notify_num,
                           ThreadHandle *thread)
{
    struct comm *comm;
    HcclResult rc = comm_need(thread, "HcclDedicatedThreadAcquire", "thread");

    if (rc == HCCL_SUCCESS && type == HCCL_DED_THREAD_TYPE_INVALID) {
        LOG_ERROR(COMM, "HcclDedicatedThreadAcquire: useType is HCCL_DED_THREAD_TYPE_INVALID");
        rc = HCCL_E_PARA;
    }
    if (rc == HCCL_SUCCESS &&
        ((int)type < 0 || type > HCCL_DED_THREAD_TYPE_AICPU_ORDER_LAUNCH_DEVICE)) {
        LOG_ERROR(COMM, "HcclDedicatedThreadAcquire: there is no useType %d", (int)type);
        rc = HCCL_E_NOT_SUPPORT;
    }
    if (rc == HCCL_SUCCESS && notify_num > DEDICATED_NOTIFIES_MOST)
        rc = fail_range("HcclDedicatedThreadAcquire", "notifyNumPerThread", notify_num, 0,
                        DEDICATED_NOTIFIES_MOST);
    if (rc == HCCL_SUCCESS)
        rc = comm_hold(handle, &comm);
    if (rc != HCCL_SUCCESS)
        return rc;
    if (type == HCCL_DED_THREAD_TYPE_AICPU_LAUNCH)
        rc = threads_launch(comm, notify_num, thread);
    else if (type == HCCL_DED_THREAD_TYPE_AICPU_LAUNCH_GE)
        *thread = threads_launch_peek(comm);
    else
        *thread = 0; /* kernels never wait for a free block here, so their order needs no thread */
    comm_release(comm);
    return rc;
}

HcclResult
HcclThreadResGetInfo(HcclComm handle, ThreadHandle thread, ThreadResType type, uint32_t len,
                     void **info)
{
    struct res_thread *held;
    struct comm *comm;
    HcclResult rc = comm_need(info, "HcclThreadResGetInfo", "info");

    if (rc == HCCL_SUCCESS && thread == 0) {
        LOG_ERROR(COMM, "HcclThreadResGetInfo: thread is 0");
        rc = HCCL_E_PTR;
    }
    if (rc == HCCL_SUCCESS && type != THREAD_RES_TYPE_STREAM) {
        LOG_ERROR(COMM,
                  "HcclThreadResGetInfo: there is no resource type %d: only "
                  "THREAD_RES_TYPE_STREAM (0)",
                  (int)type);
        rc = HCCL_E_NOT_SUPPORT;
    }
    if (rc == HCCL_SUCCESS && len != sizeof(aclrtStream))
        rc = fail_range("HcclThreadResGetInfo", "infoLen", len, sizeof(aclrtStream),
                        sizeof(aclrtStream));
    if (rc == HCCL_SUCCESS)
        rc = comm_hold(handle, &comm);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = check_known(comm, 1, &thread, "HcclThreadResGetInfo", HCCL_E_NOT_FOUND);
    if (rc == HCCL_SUCCESS)
        rc = res_thread_hold(thread, &held);
    if (rc == HCCL_SUCCESS) {
        *info = res_thread_stream_handle(held);
        res_thread_release(held);
    }
    comm_release(comm);
    return rc;
}
