/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of functions of this process, between the primitives of a thread. */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "hcomm/hcomm_embedded.h"
#include "primitive/queue.h"

/* In rt_task.u. */
struct packed {
    HcommThreadCall call;
    const char *name;
    uint8_t args[HCOMM_CALL_ARGS_MOST];
};

_Static_assert(sizeof(struct packed) <= sizeof(((struct rt_task *)0)->u), "fits a task");

static enum rt_step
call_run(struct rt_stream *stream, struct rt_task *task)
{
    struct packed *packed = (struct packed *)(void *)&task->u;
    _Alignas(16) uint8_t args[HCOMM_CALL_ARGS_MOST];
    char why[400] = "it does not say why";
    int32_t rc;

    memcpy(args, packed->args, sizeof args);
    rc = packed->call(args, why, sizeof why);
    if (rc == HCCL_SUCCESS)
        return RT_STEP_DONE;
    return rt_stream_fail(stream, ACL_ERROR_RT_PARAM_INVALID, "cannot %s: %s", packed->name, why);
}

static void
call_describe(const struct rt_task *task, char *text, size_t len)
{
    snprintf(text, len, "%s", ((const struct packed *)(const void *)&task->u)->name);
}

static const struct rt_task_ops call_ops = {
    .name = "call", .run = call_run, .describe = call_describe, .clone = rt_task_clone};

static HcclResult
check(HcommThreadCall call, const char *name, const void *args, size_t len)
{
    if (call == NULL || name == NULL || args == NULL)
        return res_null("HcommCallOnThread", call == NULL   ? "call"
                                             : name == NULL ? "name"
                                                            : "args");
    return res_check_number("HcommCallOnThread", "argsSize", len, 0, HCOMM_CALL_ARGS_MOST);
}

int32_t
HcommCallOnThread(ThreadHandle thread, HcommThreadCall call, const char *name, const void *args,
                  size_t argsSize)
{
    struct packed packed = {.call = call, .name = name};
    struct rt_task task = {.ops = &call_ops};
    struct prim_queue queue;
    HcclResult rc = check(call, name, args, argsSize);

    if (rc == HCCL_SUCCESS)
        rc = prim_queue_open(thread, &queue);
    if (rc != HCCL_SUCCESS)
        return rc;
    memcpy(packed.args, args, argsSize);
    memcpy(&task.u, &packed, sizeof packed);
    rc = rt_result(rt_stream_push(queue.stream, &task));
    prim_queue_close(&queue);
    return rc;
}
