/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "hcomm/hcomm_primitives.h"
#include "primitive/transfer.h"
#include "reduce/reduce.h"

#define LONG_REDUCE (256u << 10) /* bytes: from here on it is worth telling the scheduler */

static HcclResult
check_both(const char *function, const void *dst, const void *src, uint64_t len)
{
    HcclResult rc = prim_check_local(function, "the destination", dst, len);

    return rc == HCCL_SUCCESS ? prim_check_local(function, "the source", src, len) : rc;
}

int32_t
HcommLocalCopyOnThread(ThreadHandle thread, void *dst, const void *src, uint64_t len)
{
    struct prim_queue queue;
    struct rt_task task;
    HcclResult rc = prim_queue_open(thread, &queue);

    if (rc != HCCL_SUCCESS)
        return rc;
    if (dst == NULL || src == NULL) {
        rc = res_null(__func__, dst == NULL ? "dst" : "src");
    } else if (len > 0 && dst != src) {
        rc = check_both(__func__, dst, src, len);
        if (rc == HCCL_SUCCESS) {
            rt_task_copy(&task, dst, src, len);
            rc = rt_result(rt_stream_push(queue.stream, &task));
        }
    }
    prim_queue_close(&queue);
    return rc;
}

/* In rt_task.u. */
struct reduction {
    void *dst;
    const void *src;
    uint64_t count, bytes;
    uint64_t known; /* kept: as rt_memory_known() said */
    int type, op;
};

_Static_assert(sizeof(struct reduction) <= sizeof(((struct rt_task *)0)->u), "fits a task");

static enum rt_step
reduce_run(struct rt_stream *stream, struct rt_task *task)
{
    struct reduction *reduction = (struct reduction *)(void *)&task->u;
    bool is_long = reduction->bytes >= LONG_REDUCE;

    (void)stream;
    if (is_long)
        rt_sched_long_begin();
    reduce_apply(reduction->dst, reduction->src, reduction->count, reduction->type, reduction->op);
    if (is_long)
        rt_sched_long_end();
    return RT_STEP_DONE;
}

static void
reduce_describe(const struct rt_task *task, char *text, size_t len)
{
    const struct reduction *reduction = (const struct reduction *)(const void *)&task->u;

    snprintf(text, len, "reduce (%s) %llu elements of %s", reduce_op_name(reduction->op),
             (unsigned long long)reduction->count, reduce_type_name(reduction->type));
}

static aclError
reduce_keep(struct rt_task *task, struct rt_graph *graph)
{
    struct reduction *reduction = (struct reduction *)(void *)&task->u;

    (void)graph;
    reduction->known = rt_memory_known(reduction->dst, reduction->src);
    return ACL_SUCCESS;
}

static aclError
reduce_clone(const struct rt_task *task, struct rt_task *copy)
{
    const struct reduction *reduction = (const struct reduction *)(const void *)&task->u;

    *copy = *task;
    return rt_memory_still(reduction->known, reduction->dst, reduction->src, reduction->bytes);
}

static const struct rt_task_ops reduce_ops = {.name = "reduce",
                                              .run = reduce_run,
                                              .describe = reduce_describe,
                                              .keep = reduce_keep,
                                              .clone = reduce_clone};

int32_t
HcommLocalReduceOnThread(ThreadHandle thread, void *dst, const void *src, uint64_t count,
                         HcommDataType dataType, HcommReduceOp reduceOp)
{
    struct reduction reduction = {
        .dst = dst, .src = src, .count = count, .type = (int)dataType, .op = (int)reduceOp};
    struct rt_task task = {.ops = &reduce_ops};
    struct prim_queue queue;
    HcclResult rc = prim_queue_open(thread, &queue);

    if (rc != HCCL_SUCCESS)
        return rc;
    if (dst == NULL || src == NULL)
        rc = res_null(__func__, dst == NULL ? "dst" : "src");
    else
        rc = prim_check_reduce(__func__, count, reduction.type, reduction.op, &reduction.bytes);
    if (rc == HCCL_SUCCESS && count > 0)
        rc = check_both(__func__, dst, src, reduction.bytes);
    if (rc == HCCL_SUCCESS && count > 0) {
        *(struct reduction *)(void *)&task.u = reduction;
        rc = rt_result(rt_stream_push(queue.stream, &task));
    }
    prim_queue_close(&queue);
    return rc;
}
