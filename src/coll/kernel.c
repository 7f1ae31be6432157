/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kernel: an operation as an AICPU kernel, as the programming model has it: the host tells the
 * device's thread that it may begin, launches the kernel and makes the stream wait for the device's
 * thread; the kernel, with the communicator locked, queues the tasks of the operation on that
 * thread. The kernel is part of the library, and waits for nothing but that lock.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "coll/coll.h"
#include "hccl/hccl_comm.h"
#include "hccl/hccl_res.h"
#include "hccl/hccl_res_expt.h"
#include "primitive/primitive.h"
#include "runtime/runtime.h"

#define TABLES 4u
#define HOST_MARGIN_S 1u /* the host waits longer than the device, so the device's error wins */

/* What the kernel gets; the tables of `op` follow, those that it has. */
struct job {
    struct coll_op op;
    HcclComm comm;
    struct coll *coll; /* valid while `comm` is held */
    bool direct;
    ThreadHandle host_thread; /* as the device knows it */
    char name[COMM_NAME_MAX_LENGTH];
    uint64_t tables[];
};

/* ---- on the device ---- */

static void
take_table(const uint64_t **table, uint64_t **next, uint32_t ranks)
{
    if (*table == NULL)
        return;
    *table = *next;
    *next += ranks;
}

static HcclResult
perform(struct job *job, struct coll *coll)
{
    struct coll_run run = {.coll = coll,
                           .op = &job->op,
                           .thread = coll->device_thread,
                           .stream = coll->device_stream,
                           .direct = job->direct};
    uint64_t *next = job->tables;
    HcclResult rc, ended;

    take_table(&job->op.send_counts, &next, coll->rank_num);
    take_table(&job->op.send_displs, &next, coll->rank_num);
    take_table(&job->op.recv_counts, &next, coll->rank_num);
    take_table(&job->op.recv_displs, &next, coll->rank_num);
    rc = (HcclResult)HcommBatchModeStart(coll_function(job->op.kind));
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = (HcclResult)HcommThreadNotifyWaitOnThread(coll->device_thread, 0, coll->timeout_s);
    if (rc == HCCL_SUCCESS)
        rc = coll_perform(&run);
    if (rc == HCCL_SUCCESS)
        rc = (HcclResult)HcommThreadNotifyRecordOnThread(coll->device_thread, job->host_thread, 0);
    ended = (HcclResult)HcommBatchModeEnd(coll_function(job->op.kind));
    return rc == HCCL_SUCCESS ? ended : rc;
}

static uint32_t
kernel(void *args)
{
    struct job *job = args;
    struct comm *comm;
    HcclResult rc = comm_hold(job->comm, &comm);

    if (rc != HCCL_SUCCESS)
        return (uint32_t)rc;
    rc = rt_kernel_may_block() ? (HcclResult)HcommAcquireComm(job->name)
                               : prim_comm_try_lock(comm_device(comm), job->name);
    if (rc == HCCL_E_AGAIN) {
        comm_release(comm);
        return RT_KERNEL_ELSEWHERE;
    }
    if (rc == HCCL_SUCCESS) {
        rc = perform(job, job->coll);
        (void)HcommReleaseComm(job->name);
    }
    if (rc != HCCL_SUCCESS)
        coll_queue_failed(job->coll, &job->op, rc);
    comm_release(comm);
    return (uint32_t)rc;
}

/* ---- on the host ---- */

static void
put_table(const uint64_t *table, uint64_t **next, uint32_t ranks)
{
    if (table == NULL)
        return;
    memcpy(*next, table, ranks * sizeof *table);
    *next += ranks;
}

static struct job *
job_new(struct coll *coll, const struct coll_op *op, bool direct, size_t *len)
{
    uint64_t *next;
    struct job *job;

    *len = sizeof *job + TABLES * coll->rank_num * sizeof(uint64_t);
    job = hc_zalloc(*len);
    if (job == NULL)
        return NULL;
    job->op = *op;
    job->comm = coll->handle;
    job->coll = coll;
    job->direct = direct;
    next = job->tables;
    put_table(op->send_counts, &next, coll->rank_num);
    put_table(op->send_displs, &next, coll->rank_num);
    put_table(op->recv_counts, &next, coll->rank_num);
    put_table(op->recv_displs, &next, coll->rank_num);
    *len = (size_t)((uint8_t *)next - (uint8_t *)job);
    return job;
}

static HcclResult
queue(struct coll *coll, struct job *job, size_t len, aclrtStream stream, ThreadHandle host_thread)
{
    HcclResult rc = HcclThreadExportToCommEngine(coll->handle, 1, &host_thread,
                                                 COMM_ENGINE_AICPU_TS, &job->host_thread);

    if (rc == HCCL_SUCCESS)
        rc = HcclGetCommName(coll->handle, job->name);
    if (rc == HCCL_SUCCESS)
        rc = (HcclResult)HcommThreadNotifyRecordOnThread(host_thread, coll->device_thread_on_host,
                                                         0);
    if (rc == HCCL_SUCCESS &&
        rt_launch_own(kernel, coll_function(job->op.kind), stream, job, len) != ACL_SUCCESS)
        rc = HCCL_E_RUNTIME;
    if (rc == HCCL_SUCCESS)
        rc = (HcclResult)HcommThreadNotifyWaitOnThread(
            host_thread, 0, coll->timeout_s == 0 ? 0 : coll->timeout_s + HOST_MARGIN_S);
    return rc;
}

HcclResult
coll_launch(struct coll *coll, const struct coll_op *op, aclrtStream stream, ThreadHandle thread,
            bool direct)
{
    HcclResult rc;
    size_t len;
    struct job *job = job_new(coll, op, direct, &len);

    if (job == NULL)
        return HCCL_E_MEMORY;
    rc = queue(coll, job, len, stream, thread);
    hc_free(job);
    return rc;
}
