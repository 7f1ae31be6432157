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

/* ---- captured tasks and their memory ---- */

#define KNOWN_DST 1u
#define KNOWN_SRC 2u

aclError
rt_task_clone(const struct rt_task *task, struct rt_task *copy)
{
    *copy = *task;
    return ACL_SUCCESS;
}

static bool
is_known(const void *ptr)
{
    struct rt_range range;

    rt_mem_find(ptr, &range);
    return range.place != RT_PLACE_PAGEABLE;
}

uint64_t
rt_memory_known(const void *dst, const void *src)
{
    return (is_known(dst) ? KNOWN_DST : 0) | (is_known(src) ? KNOWN_SRC : 0);
}

static aclError
still(bool known, const void *ptr, uint64_t len, const char *what)
{
    struct rt_range range;
    aclError rc = rt_mem_check(ptr, len, "a captured task cannot run again", what, &range);

    if (rc == ACL_SUCCESS && known && range.place == RT_PLACE_PAGEABLE)
        rc = rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                     "a captured task cannot run again: %s, %p, has been unmapped or unregistered "
                     "meanwhile",
                     what, ptr);
    return rc;
}

aclError
rt_memory_still(uint64_t known, const void *dst, const void *src, uint64_t len)
{
    aclError rc = still((known & KNOWN_DST) != 0, dst, len, "the destination");

    return rc == ACL_SUCCESS && src != dst ? still((known & KNOWN_SRC) != 0, src, len, "the source")
                                           : rc;
}

static aclError
copy_keep(struct rt_task *task, struct rt_graph *graph)
{
    (void)graph;
    task->u.copy.known = rt_memory_known(task->u.copy.dst, task->u.copy.src);
    return ACL_SUCCESS;
}

static aclError
copy_clone(const struct rt_task *task, struct rt_task *copy)
{
    *copy = *task;
    return rt_memory_still(task->u.copy.known, task->u.copy.dst, task->u.copy.src,
                           task->u.copy.len);
}

/* ---- copy ---- */

static const struct rt_task_ops copy_ops = {
    .name = "copy", .run = copy_run, .keep = copy_keep, .clone = copy_clone};

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

static aclError
snapshot_clone(const struct rt_task *task, struct rt_task *copy)
{
    void *snapshot;
    aclError rc =
        rt_memory_still(task->u.copy.known, task->u.copy.dst, task->u.copy.dst, task->u.copy.len);

    if (rc != ACL_SUCCESS)
        return rc;
    snapshot = hc_zalloc(task->u.copy.len);
    if (snapshot == NULL)
        return rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    copy_bytes(snapshot, task->u.copy.src, task->u.copy.len);
    *copy = *task;
    copy->u.copy.src = snapshot;
    return ACL_SUCCESS;
}

static const struct rt_task_ops snapshot_ops = {.name = "copy from a snapshot",
                                                .run = copy_run,
                                                .drop = snapshot_drop,
                                                .keep = copy_keep,
                                                .clone = snapshot_clone};

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

static aclError
set_keep(struct rt_task *task, struct rt_graph *graph)
{
    (void)graph;
    task->u.set.known = rt_memory_known(task->u.set.dst, task->u.set.dst);
    return ACL_SUCCESS;
}

static aclError
set_clone(const struct rt_task *task, struct rt_task *copy)
{
    *copy = *task;
    return rt_memory_still(task->u.set.known, task->u.set.dst, task->u.set.dst, task->u.set.len);
}

static const struct rt_task_ops set_ops = {
    .name = "set", .run = set_run, .keep = set_keep, .clone = set_clone};

void
rt_task_set(struct rt_task *task, void *dst, int32_t value, uint64_t len)
{
    *task = (struct rt_task){.ops = &set_ops, .u.set = {.dst = dst, .len = len, .value = value}};
}
