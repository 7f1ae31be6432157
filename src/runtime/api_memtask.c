/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks on memory other than copies: reduce, write and wait for a word, cache hints. */
#include <stdio.h>

#include "acl/acl_rt.h"
#include "base/clock.h"
#include "reduce/reduce.h"
#include "runtime/error.h"
#include "runtime/memcpy.h"
#include "runtime/memory.h"
#include "runtime/sched.h"
#include "runtime/stream.h"

/* Queues `task` on the caller's stream, or drops it. */
static aclError
push(aclrtStream stream, const struct rt_task *task)
{
    struct rt_stream *held;
    aclError rc = rt_stream_hold_mine(stream, &held);

    if (rc != ACL_SUCCESS)
        return rc;
    rc = rt_stream_push(held, task);
    rt_stream_release(held);
    return rc;
}

/* ---- reduce ---- */

#define LONG_REDUCE (64u << 10) /* elements: from here on it is worth telling the scheduler */

static enum rt_step
reduce_run(struct rt_stream *stream, struct rt_task *task)
{
    const uint64_t *arg = task->u.call.arg;
    bool is_long = arg[1] >= LONG_REDUCE;

    (void)stream;
    if (is_long)
        rt_sched_long_begin();
    reduce_apply(task->u.call.obj, (const void *)(uintptr_t)arg[0], arg[1], (int)arg[2],
                 (int)arg[3]);
    if (is_long)
        rt_sched_long_end();
    return RT_STEP_DONE;
}

static aclError
reduce_keep(struct rt_task *task, struct rt_graph *graph)
{
    uint64_t *arg = task->u.call.arg;

    (void)graph;
    arg[4] = rt_memory_known(task->u.call.obj, (const void *)(uintptr_t)arg[0]);
    return ACL_SUCCESS;
}

static aclError
reduce_clone(const struct rt_task *task, struct rt_task *copy)
{
    const uint64_t *arg = task->u.call.arg;

    *copy = *task;
    return rt_memory_still(arg[4], task->u.call.obj, (const void *)(uintptr_t)arg[0],
                           arg[1] * reduce_type_size((int)arg[2]));
}

static const struct rt_task_ops reduce_ops = {
    .name = "reduce", .run = reduce_run, .keep = reduce_keep, .clone = reduce_clone};

/* The reduction kernels' number of an element type; -1: they have none. */
static int
reduce_type(aclDataType type)
{
    switch (type) {
    case ACL_INT8:
        return HCCL_DATA_TYPE_INT8;
    case ACL_INT16:
        return HCCL_DATA_TYPE_INT16;
    case ACL_INT32:
        return HCCL_DATA_TYPE_INT32;
    case ACL_INT64:
        return HCCL_DATA_TYPE_INT64;
    case ACL_UINT8:
        return HCCL_DATA_TYPE_UINT8;
    case ACL_UINT16:
        return HCCL_DATA_TYPE_UINT16;
    case ACL_UINT32:
        return HCCL_DATA_TYPE_UINT32;
    case ACL_UINT64:
        return HCCL_DATA_TYPE_UINT64;
    case ACL_FLOAT16:
        return HCCL_DATA_TYPE_FP16;
    case ACL_BF16:
        return HCCL_DATA_TYPE_BFP16;
    case ACL_FLOAT:
        return HCCL_DATA_TYPE_FP32;
    case ACL_DOUBLE:
        return HCCL_DATA_TYPE_FP64;
    case ACL_FLOAT8_E4M3FN:
        return HCCL_DATA_TYPE_FP8E4M3;
    case ACL_FLOAT8_E5M2:
        return HCCL_DATA_TYPE_FP8E5M2;
    default:
        return -1;
    }
}

/* Their number of a reduction; -1: no reduction at all, or one they lack. */
static int
reduce_op(aclrtReduceKind kind)
{
    switch (kind) {
    case ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM:
        return HCCL_REDUCE_SUM;
    case ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX:
        return HCCL_REDUCE_MAX;
    case ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN:
        return HCCL_REDUCE_MIN;
    default:
        return -1;
    }
}

static aclError
check_reduce(uint64_t count, aclrtReduceKind kind, aclDataType type, const void *reserve)
{
    int number = reduce_type(type), op = reduce_op(kind);

    if (reserve != NULL)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtReduceAsync: reserve is not NULL");
    if (kind == ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL)
        return rt_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                       "aclrtReduceAsync: kind EQUAL is not supported "
                       "by a soft NPU");
    if (op < 0)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtReduceAsync: there is no kind %d",
                       (int)kind);
    if (number < 0 || !reduce_supported(number, op))
        return rt_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                       "aclrtReduceAsync: %s does not exist for "
                       "elements of aclDataType %d",
                       reduce_op_name(op), (int)type);
    if (count % reduce_type_size(number) != 0)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "aclrtReduceAsync: %llu bytes are no whole number of "
                       "%s elements",
                       (unsigned long long)count, reduce_type_name(number));
    return ACL_SUCCESS;
}

/* `count` is bytes, as in every call of the copy family. */
aclError
aclrtReduceAsync(void *dst, const void *src, uint64_t count, aclrtReduceKind kind, aclDataType type,
                 aclrtStream stream, void *reserve)
{
    struct rt_task task = {.ops = &reduce_ops, .u.call.obj = dst};
    struct rt_range range;
    aclError rc;

    if (dst == NULL || src == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtReduceAsync: %s is NULL",
                       dst == NULL ? "dst" : "src");
    rc = check_reduce(count, kind, type, reserve);
    if (rc != ACL_SUCCESS)
        return rc;
    if (!rt_enter())
        return RT_NOT_HERE;
    rc = rt_mem_check(dst, count, "aclrtReduceAsync", "the destination", &range);
    if (rc == ACL_SUCCESS)
        rc = rt_mem_check(src, count, "aclrtReduceAsync", "the source", &range);
    if (rc != ACL_SUCCESS)
        return rc;
    task.u.call.arg[0] = (uint64_t)(uintptr_t)src;
    task.u.call.arg[1] = count / reduce_type_size(reduce_type(type));
    task.u.call.arg[2] = (uint64_t)reduce_type(type);
    task.u.call.arg[3] = (uint64_t)reduce_op(kind);
    return push(stream, &task);
}

/* ---- words ---- */

/* Nobody tells when a word changes, so a wait looks again: soon at first, then every millisecond.
 */
#define FIRST_LOOK_NS 20000u
#define LAST_LOOK_NS 1000000u

enum { WORD_VALUE, WORD_FLAG, WORD_LOOK_NS, WORD_KNOWN }; /* of a task's call.arg */

static aclError
word_keep(struct rt_task *task, struct rt_graph *graph)
{
    (void)graph;
    task->u.call.arg[WORD_KNOWN] = rt_memory_known(task->u.call.obj, task->u.call.obj);
    return ACL_SUCCESS;
}

static aclError
word_clone(const struct rt_task *task, struct rt_task *copy)
{
    *copy = *task;
    return rt_memory_still(task->u.call.arg[WORD_KNOWN], task->u.call.obj, task->u.call.obj,
                           sizeof(uint64_t));
}

static enum rt_step
write_run(struct rt_stream *stream, struct rt_task *task)
{
    (void)stream;
    atomic_store_explicit((_Atomic uint64_t *)task->u.call.obj, task->u.call.arg[WORD_VALUE],
                          memory_order_release);
    return RT_STEP_DONE;
}

static void
write_describe(const struct rt_task *task, char *text, size_t len)
{
    snprintf(text, len, "write 0x%llx to the word at %p",
             (unsigned long long)task->u.call.arg[WORD_VALUE], task->u.call.obj);
}

static const struct rt_task_ops write_ops = {.name = "write a word",
                                             .run = write_run,
                                             .describe = write_describe,
                                             .keep = word_keep,
                                             .clone = word_clone};

static bool
word_fits(uint64_t mem, uint64_t value, uint64_t flag)
{
    switch (flag) {
    case ACL_STREAM_WAIT_VALUE_GEQ:
        return (int64_t)(mem - value) >= 0;
    case ACL_STREAM_WAIT_VALUE_EQ:
        return mem == value;
    case ACL_STREAM_WAIT_VALUE_AND:
        return (mem & value) != 0;
    default:
        return ~(mem | value) != 0;
    }
}

static enum rt_step
wait_run(struct rt_stream *stream, struct rt_task *task)
{
    uint64_t *arg = task->u.call.arg;
    uint64_t mem = atomic_load_explicit((_Atomic uint64_t *)task->u.call.obj, memory_order_acquire);

    if (word_fits(mem, arg[WORD_VALUE], arg[WORD_FLAG]))
        return RT_STEP_DONE;
    if (arg[WORD_LOOK_NS] == 0) {
        rt_outside_add(1); /* any thread or process may write the word */
        arg[WORD_LOOK_NS] = FIRST_LOOK_NS;
    } else if (arg[WORD_LOOK_NS] < LAST_LOOK_NS) {
        arg[WORD_LOOK_NS] *= 2;
    }
    stream->deadline = hc_now_ns() + arg[WORD_LOOK_NS]; /* not the wait's end: it has none */
    return RT_STEP_PARKED;
}

static void
wait_drop(struct rt_task *task, bool ran)
{
    (void)ran;
    if (task->u.call.arg[WORD_LOOK_NS] != 0)
        rt_outside_add(-1);
}

static void
wait_describe(const struct rt_task *task, char *text, size_t len)
{
    static const char *const words[] = {"at least", "equal to", "with bits of",
                                        "not all ones with"};

    snprintf(text, len, "wait until the word at %p is %s 0x%llx", task->u.call.obj,
             words[task->u.call.arg[WORD_FLAG]], (unsigned long long)task->u.call.arg[WORD_VALUE]);
}

static const struct rt_task_ops wait_ops = {.name = "wait for a word",
                                            .run = wait_run,
                                            .drop = wait_drop,
                                            .describe = wait_describe,
                                            .keep = word_keep,
                                            .clone = word_clone};

static aclError
check_word(const void *addr, const char *function)
{
    struct rt_range range;
    aclError rc;

    if (addr == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "%s: devAddr is NULL", function);
    if ((uintptr_t)addr % sizeof(uint64_t) != 0)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "%s: %p is not aligned to 8 bytes", function,
                       addr);
    if (!rt_enter())
        return RT_NOT_HERE;
    rc = rt_mem_check(addr, sizeof(uint64_t), function, "the word", &range);
    if (rc == ACL_SUCCESS && range.place != RT_PLACE_DEVICE && !range.mapped_host)
        rc = rt_fail(ACL_ERROR_RT_PARAM_INVALID, "%s: %p is not device memory", function, addr);
    return rc;
}

aclError
aclrtValueWrite(void *devAddr, uint64_t value, uint32_t flag, aclrtStream stream)
{
    struct rt_task task = {.ops = &write_ops, .u.call = {.obj = devAddr, .arg = {value}}};
    aclError rc;

    if (flag != 0)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtValueWrite: flag is %u; pass 0", flag);
    rc = check_word(devAddr, "aclrtValueWrite");
    return rc != ACL_SUCCESS ? rc : push(stream, &task);
}

aclError
aclrtValueWait(void *devAddr, uint64_t value, uint32_t flag, aclrtStream stream)
{
    struct rt_task task = {.ops = &wait_ops, .u.call = {.obj = devAddr, .arg = {value, flag}}};
    aclError rc;

    if (flag > ACL_STREAM_WAIT_VALUE_NOR)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "aclrtValueWait: there is no condition %u; pass "
                       "ACL_STREAM_WAIT_VALUE_GEQ (0) to _NOR (3)",
                       flag);
    rc = check_word(devAddr, "aclrtValueWait");
    return rc != ACL_SUCCESS ? rc : push(stream, &task);
}

/* ---- cache hints ---- */

static enum rt_step
prefetch_run(struct rt_stream *stream, struct rt_task *task)
{
    (void)stream;
    (void)task;
    return RT_STEP_DONE; /* the host's caches see to themselves */
}

static const struct rt_task_ops prefetch_ops = {
    .name = "prefetch", .run = prefetch_run, .clone = rt_task_clone};

aclError
aclrtCmoAsync(void *src, size_t size, aclrtCmoType cmoType, aclrtStream stream)
{
    struct rt_task task = {.ops = &prefetch_ops};

    if (src == NULL || size == 0)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtCmoAsync: %s",
                       src == NULL ? "src is NULL" : "size is 0");
    if (cmoType != ACL_RT_CMO_TYPE_PREFETCH)
        return rt_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                       "aclrtCmoAsync: type %d is not supported by a "
                       "soft NPU; only PREFETCH is",
                       (int)cmoType);
    if (!rt_enter())
        return RT_NOT_HERE;
    return push(stream, &task);
}
