/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * submit: an operation that has been checked, onto its stream.
 *
 * Operations of one communicator must run one after another on each rank (coll.h L4). On one stream
 * they do. When the stream changes, the new one waits for an event on the old one. An operation
 * that is recorded does not run now: when it does is for the program to order, as it orders the
 * runs of its graphs.
 *
 * If queueing fails half-way the peers would wait for what never comes: then the fate of the
 * communicator is broken, and they learn why.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "coll/coll.h"
#include "hccl/hccl_res.h"
#include "hcomm/hcomm_p2p.h"
#include "runtime/runtime.h"

#define LOOK_MS 1

static bool
is_recorded(aclrtStream stream)
{
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    aclmdlRI model;

    return aclmdlRICaptureGetInfo(stream, &status, &model) == ACL_SUCCESS &&
           status != ACL_MODEL_RI_CAPTURE_STATUS_NONE;
}

static bool
is_idle(void *stream)
{
    return rt_stream_idle(stream);
}

/* If the last stream is being recorded now, an event on it would be recorded, too: so what it has
 * queued is waited for here. A failure stays for who synchronises it. */
static void
settle(struct coll *coll)
{
    struct rt_stream *stream;

    if (coll->last == NULL || !rt_stream_is_live(coll->last) || !is_recorded(coll->last) ||
        rt_stream_hold(coll->last, &stream) != ACL_SUCCESS)
        return;
    while (!rt_wait_until(is_idle, stream, hc_deadline_ms(LOOK_MS)))
        ;
    rt_stream_release(stream);
    coll->last = NULL;
}

/* L4. */
static HcclResult
follow(struct coll *coll, aclrtStream stream)
{
    aclError rc = ACL_SUCCESS;

    settle(coll);
    if (coll->last == NULL || coll->last == stream || !rt_stream_is_live(coll->last)) {
        coll->last = stream;
        return HCCL_SUCCESS;
    }
    if (coll->passed == NULL)
        rc = aclrtCreateEvent(&coll->passed);
    if (rc == ACL_SUCCESS)
        rc = aclrtRecordEvent(coll->passed, coll->last);
    if (rc == ACL_SUCCESS)
        rc = aclrtStreamWaitEvent(stream, coll->passed);
    if (rc == ACL_SUCCESS)
        coll->last = stream;
    return rt_result(rc);
}

static HcclResult
perform_queued(struct coll *coll, const struct coll_op *op, aclrtStream stream, ThreadHandle thread,
               bool direct)
{
    struct coll_run run = {
        .coll = coll, .op = op, .thread = thread, .stream = stream, .direct = direct};
    const char *name = coll_function(op->kind);
    bool inside = rt_batch_is_open(); /* a batch of the program, which publishes it all */
    HcclResult ended = HCCL_SUCCESS;
    HcclResult rc = inside ? HCCL_SUCCESS : (HcclResult)HcommBatchModeStart(name);

    if (rc != HCCL_SUCCESS)
        return rc;
    rc = coll_perform(&run);
    if (!inside)
        ended = (HcclResult)HcommBatchModeEnd(name);
    return rc == HCCL_SUCCESS ? ended : rc;
}

static HcclResult
queue(struct coll *coll, struct coll_op *op, aclrtStream stream)
{
    bool recorded = is_recorded(stream); /* what goes from buffer to buffer cannot be */
    bool direct = !recorded && coll->rank_num <= COLL_DIRECT_RANKS;
    HcclResult rc = recorded ? HCCL_SUCCESS : follow(coll, stream);
    ThreadHandle thread;

    if (rc != HCCL_SUCCESS)
        return rc;
    coll_choose(coll, op);
    rc = HcclThreadAcquireWithStream(coll->handle, COMM_ENGINE_CPU_TS, stream,
                                     coll->on_aicpu ? 1 : 0, &thread);
    if (rc == HCCL_SUCCESS)
        rc = turn_begin(coll, thread, recorded);
    if (rc == HCCL_SUCCESS)
        rc = coll->on_aicpu ? coll_launch(coll, op, stream, thread, direct)
                            : perform_queued(coll, op, stream, thread, direct);
    if (rc == HCCL_SUCCESS)
        rc = turn_end(coll, thread, recorded);
    if (rc != HCCL_SUCCESS && !recorded) /* nobody waits for what is recorded */
        coll_queue_failed(coll, op, rc);
    return rc;
}

static HcclResult
check_fate(const struct coll *coll, const char *function)
{
    char why[320];

    if (!rt_fate_broken(comm_fate(coll->comm), why, sizeof why))
        return HCCL_SUCCESS;
    LOG_ERROR(COLL, "%s: %s cannot go on: %s", function, comm_name(coll->comm), why);
    return HCCL_E_REMOTE;
}

/* What has been queued before comes first: L4. */
static HcclResult
catch_up(struct coll *coll)
{
    aclError rc = ACL_SUCCESS;

    settle(coll);
    if (coll->last == NULL || !rt_stream_is_live(coll->last))
        return HCCL_SUCCESS;
    if (coll->passed == NULL)
        rc = aclrtCreateEvent(&coll->passed);
    if (rc == ACL_SUCCESS)
        rc = aclrtRecordEvent(coll->passed, coll->last);
    if (rc == ACL_SUCCESS)
        rc = aclrtSynchronizeEvent(coll->passed);
    coll->last = NULL;
    return rt_result(rc);
}

/* The peers wait for this rank's part: they learn what this thread has logged last. */
static void
tell_why(const struct coll *coll)
{
    const char *errors = hc_errmsg_take();
    char why[320] = "it could not go on";

    if (errors != NULL) {
        snprintf(why, sizeof why, "%.*s", (int)strcspn(errors, "\n"), errors);
        hc_errmsg_add(why);
    }
    rt_fate_break(comm_fate(coll->comm), why);
}

static HcclResult
submit_inline(struct coll *coll, struct coll_op *op)
{
    struct coll_run run = {.coll = coll, .op = op, .stream = HCOMM_STREAM_INLINE, .direct = true};
    HcclResult rc;

    if (rt_batch_is_open()) {
        LOG_ERROR(COLL,
                  "%s: not on the calling thread inside a batch: call HcommBatchModeEnd first",
                  coll_function(op->kind));
        return HCCL_E_NOT_SUPPORT;
    }
    rc = catch_up(coll);
    if (rc == HCCL_SUCCESS)
        rc = turn_check(coll, coll_function(op->kind));
    if (rc != HCCL_SUCCESS)
        return rc;
    coll_choose(coll, op);
    if (!coll_inline(coll, op, &rc)) {
        rc = coll_prepare(coll);
        rc = rc == HCCL_SUCCESS ? coll_perform(&run) : rc;
    }
    if (rc != HCCL_SUCCESS)
        tell_why(coll);
    return rc;
}

static HcclResult
submit_queued(struct coll *coll, struct coll_op *op, aclrtStream handle)
{
    struct rt_stream *stream;
    HcclResult rc;

    if (rt_stream_hold(handle, &stream) != ACL_SUCCESS)
        return HCCL_E_RUNTIME;
    rc = HCCL_SUCCESS;
    if (rt_stream_device(stream) != comm_device(coll->comm)) {
        LOG_ERROR(COLL, "%s: the stream is of device %d, %s of device %d: give one of its device",
                  coll_function(op->kind), rt_stream_device(stream), comm_name(coll->comm),
                  comm_device(coll->comm));
        rc = HCCL_E_PARA;
    }
    if (rc == HCCL_SUCCESS)
        rc = coll_connect(coll);
    if (rc == HCCL_SUCCESS)
        rc = queue(coll, op, rt_stream_handle(stream));
    rt_stream_release(stream);
    return rc;
}

HcclResult
coll_submit(struct comm *comm, HcclComm handle, struct coll_op *op, aclrtStream stream)
{
    struct coll *coll;
    HcclResult rc = coll_get(comm, handle, &coll);

    if (rc != HCCL_SUCCESS)
        return rc;
    rc = coll_check(coll, op);
    if (rc == HCCL_SUCCESS)
        rc = check_fate(coll, coll_function(op->kind));
    if (rc != HCCL_SUCCESS)
        return rc;
    pthread_mutex_lock(&coll->lock);
    if (stream == HCOMM_STREAM_INLINE)
        rc = submit_inline(coll, op);
    else
        rc = submit_queued(coll, op, stream);
    pthread_mutex_unlock(&coll->lock);
    return rc;
}
