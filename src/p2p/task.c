/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that are queued on a stream. Each holds its communicator until its task is dropped.
 *
 * T1  A task that is cut off may be dropped with whatever locks held, by who happened to wake its
 *     stream. It is taken back there and then, because nothing may be written to its buffers
 *     afterwards; but its hold, which may be the communicator's last, is given back by a job.
 * T2  A captured task, which never runs, does not keep its communicator: it has the handle, and
 * each clone asks for it.
 */
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "p2p/engine.h"

#define NAP_NS 100000l
#define LOOK_MS 100 /* longest sleep: then what has a time limit is looked at */
#define SOON_MS 2   /* when bytes are on their way */

struct queued {
    struct rt_job job; /* T1 */
    HcclComm comm;     /* T2; NULL: not kept */
    struct p2p_call call;
    struct p2p_op ops[];
};

aclError
p2p_task_error(HcclResult rc)
{
    switch (rc) {
    case HCCL_E_TIMEOUT:
        return ACL_ERROR_RT_TASK_TIMEOUT;
    case HCCL_E_REMOTE:
        return ACL_ERROR_RT_SUSPECT_REMOTE_ERROR;
    case HCCL_E_MEMORY:
        return ACL_ERROR_RT_MEMORY_ALLOCATION;
    case HCCL_E_NOT_SUPPORT:
        return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
    case HCCL_E_PARA:
    case HCCL_E_NOT_FOUND:
        return ACL_ERROR_RT_PARAM_INVALID;
    default:
        return ACL_ERROR_RT_INTERNAL_ERROR;
    }
}

HcclResult
p2p_stream_hold(aclrtStream handle, struct rt_stream **stream)
{
    return rt_stream_hold(handle, stream) == ACL_SUCCESS ? HCCL_SUCCESS : HCCL_E_RUNTIME;
}

static enum rt_step
finish(struct rt_stream *stream, struct p2p_call *call)
{
    call_awake(call);
    call->finished = true;
    if (call->rc == HCCL_SUCCESS)
        return RT_STEP_DONE;
    if (op_is_collective(&call->ops[0]))
        rt_fate_break(comm_fate(call->p2p->comm), call->why);
    return rt_stream_fail(stream, p2p_task_error(call->rc), "%s: rank %u of %s: %s", call->function,
                          call->p2p->rank, comm_name(call->p2p->comm), call->why);
}

static enum rt_step
queued_run(struct rt_stream *stream, struct rt_task *task)
{
    struct p2p_call *call = &((struct queued *)task->u.call.obj)->call;

    if (call->deadline_ns == 0) {
        call->stream = rt_stream_id(stream);
        call->deadline_ns = call_deadline(call->p2p, -1);
    }
    if (call_try(call))
        return finish(stream, call);
    call_adopt(call);
    if (call_sleep(call) || call_give_up(call))
        return finish(stream, call);
    rt_stream_look_again(stream, call->hopeless ? SOON_MS : LOOK_MS);
    return RT_STEP_PARKED;
}

/* The stream is cut off: the operations are taken back, however long that takes. */
static void
take_back(struct p2p_call *call)
{
    const struct timespec nap = {.tv_nsec = NAP_NS};

    hc_spin_lock(&call->p2p->lock);
    op_failed(&call->ops[0], HCCL_E_UNAVAIL, "its stream was destroyed or aborted");
    p2p_unlock(call->p2p);
    call->hopeless = true;
    while (!call_give_up(call))
        (void)nanosleep(&nap, NULL);
}

static void
queued_free(struct queued *queued)
{
    struct p2p *p2p = queued->call.p2p;

    hc_free(queued);
    p2p_release(p2p);
}

static void
job_free(struct rt_job *job)
{
    queued_free(HC_CONTAINER(job, struct queued, job));
}

static void
queued_drop(struct rt_task *task, bool ran)
{
    struct queued *queued = task->u.call.obj;
    struct p2p_call *call = &queued->call;
    bool direct = call->finished;

    (void)ran;
    if (queued->comm != NULL) { /* T2 */
        hc_free(queued);
        return;
    }
    if (call->started && !direct)
        take_back(call);
    call_awake(call);
    call_end(call);
    queued->job.fn = job_free;
    if (direct || rt_aicpu_submit(&queued->job) != ACL_SUCCESS) /* T1 */
        queued_free(queued);
}

static void
queued_describe(const struct rt_task *task, char *text, size_t len)
{
    call_describe(&((const struct queued *)task->u.call.obj)->call, text, len);
}

/* One that has begun. */
static HcclResult
queued_new(struct p2p *p2p, const char *function, const struct p2p_op *ops, uint32_t num,
           struct queued **out)
{
    struct queued *queued = hc_zalloc(sizeof *queued + num * sizeof *ops);
    HcclResult rc;

    if (queued == NULL)
        return HCCL_E_MEMORY;
    memcpy(queued->ops, ops, num * sizeof *ops);
    queued->call = (struct p2p_call){
        .p2p = p2p, .function = function, .ops = queued->ops, .num = num, .is_task = true};
    rc = call_begin(&queued->call);
    if (rc != HCCL_SUCCESS) {
        hc_free(queued);
        return rc;
    }
    p2p_hold_more(p2p);
    *out = queued;
    return HCCL_SUCCESS;
}

/* The caller of the operation holds the communicator, so the last hold does not go here. */
static aclError
queued_keep(struct rt_task *task, struct rt_graph *graph)
{
    struct queued *queued = task->u.call.obj;
    struct p2p *p2p = queued->call.p2p;

    (void)graph;
    call_end(&queued->call);
    queued->comm = comm_handle(p2p->comm);
    p2p_release(p2p);
    return ACL_SUCCESS;
}

static aclError
queued_clone(const struct rt_task *task, struct rt_task *copy)
{
    const struct queued *kept = task->u.call.obj;
    struct queued *queued = NULL;
    struct p2p *p2p;
    HcclResult rc = p2p_hold(kept->comm, &p2p); /* T2 */

    if (rc == HCCL_SUCCESS) {
        rc = queued_new(p2p, kept->call.function, kept->ops, kept->call.num, &queued);
        p2p_release(p2p);
    }
    if (rc != HCCL_SUCCESS)
        return rt_fail(p2p_task_error(rc),
                       "%s was captured, and cannot run again: its communicator is gone or does "
                       "not take it",
                       kept->call.function);
    *copy = (struct rt_task){.ops = task->ops, .u.call.obj = queued};
    return ACL_SUCCESS;
}

static const struct rt_task_ops queued_ops = {.name = "point to point",
                                              .run = queued_run,
                                              .drop = queued_drop,
                                              .describe = queued_describe,
                                              .keep = queued_keep,
                                              .clone = queued_clone};

HcclResult
call_queue(struct p2p *p2p, const char *function, const struct p2p_op *ops, uint32_t num,
           aclrtStream stream)
{
    struct rt_task task = {.ops = &queued_ops};
    struct queued *queued;
    struct rt_stream *held;
    HcclResult rc = p2p_stream_hold(stream, &held);

    if (rc != HCCL_SUCCESS)
        return rc;
    rc = queued_new(p2p, function, ops, num, &queued);
    if (rc == HCCL_SUCCESS) {
        task.u.call.obj = queued;
        rc = rt_result(rt_stream_push(held, &task)); /* else it has been dropped */
    }
    rt_stream_release(held);
    return rc;
}
