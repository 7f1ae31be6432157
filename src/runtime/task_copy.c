/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks that move bytes on the device's own time: copy and set. */
#include "base/alloc.h"
#include "copy/copy.h"
#include "runtime/memcpy.h"
#include "runtime/sched.h"

#define LONG_TASK (256u << 10) /* bytes: from here on it is worth telling the scheduler */

static enum rt_step
copy_run(struct rt_stream *stream, struct rt_task *task)
{
    bool is_long = task->u.copy.len >= LONG_TASK;

    (void)stream;
    if (is_long)
        rt_sched_long_begin();
    copy_bytes(task->u.copy.dst, task->u.copy.src, task->u.copy.len);
    if (is_long)
        rt_sched_long_end();
    return RT_STEP_DONE;
}

static const struct rt_task_ops copy_ops = {.name = "copy", .run = copy_run};

void
rt_task_copy(struct rt_task *task, void *dst, const void *src, uint64_t len)
{
    *task = (struct rt_task){.ops = &copy_ops, .u.copy = {.dst = dst, .src = src, .len = len}};
}

/* ---- a copy that owns its source ---- */

static void
snapshot_drop(struct rt_task *task, bool ran)
{
    (void)ran;
    hc_free((void *)(uintptr_t)task->u.copy.src);
}

static const struct rt_task_ops snapshot_ops = {
    .name = "copy from a snapshot", .run = copy_run, .drop = snapshot_drop};

aclError
rt_push_snapshot(struct rt_stream *stream, void *dst, const void *src, uint64_t len)
{
    struct rt_task task = {.ops = &snapshot_ops};
    void *snapshot = hc_zalloc(len);

    if (snapshot == NULL)
        return rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    copy_bytes(snapshot, src, len);
    task.u.copy.dst = dst;
    task.u.copy.src = snapshot;
    task.u.copy.len = len;
    return rt_stream_push(stream, &task);
}

/* ---- set ---- */

static enum rt_step
set_run(struct rt_stream *stream, struct rt_task *task)
{
    bool is_long = task->u.set.len >= LONG_TASK;

    (void)stream;
    if (is_long)
        rt_sched_long_begin();
    copy_fill(task->u.set.dst, task->u.set.value, task->u.set.len);
    if (is_long)
        rt_sched_long_end();
    return RT_STEP_DONE;
}

static const struct rt_task_ops set_ops = {.name = "set", .run = set_run};

void
rt_task_set(struct rt_task *task, void *dst, int32_t value, uint64_t len)
{
    *task = (struct rt_task){.ops = &set_ops, .u.set = {.dst = dst, .len = len, .value = value}};
}
