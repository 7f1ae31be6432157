/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/launch.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/list.h"
#include "base/log.h"
#include "runtime/context.h"
#include "runtime/limits.h"
#include "runtime/stream.h"

#define WHY_LEN 480
#define NAME_LEN 256

struct patch {
    uint64_t at, data; /* in the arguments */
};

struct rt_launch {
    struct rt_job job;
    _Atomic uint32_t refs;        /* I1 */
    struct rt_function *function; /* held; NULL: a host function */
    void (*host_fn)(void *arg);
    rt_own_kernel kernel;
    const char *name; /* of that */
    void *arg;        /* what the kernel or the function gets */
    uint32_t block_num;
    uint64_t timeout_ms;
    bool submitted; /* the task's own */
    int32_t device; /* set by the task before it submits */
    uint32_t stream;
    aclrtStream handle; /* of the same, for rt_launch_check_outside: ids come back */
    bool resolved;      /* I2: the code was found and called */
    uint32_t result;    /* I2 */
    char why[WHY_LEN];  /* I2: if not resolved */
    size_t args_len;    /* 0: none were copied */
    uint32_t patch_num;
    struct patch *patches; /* [patch_num], behind the arguments; room for what was announced */
    _Alignas(16) uint8_t args[];
};

/* Second argument of the one kernel name that is told which block it runs. */
struct block_info {
    uint32_t block_id;
    uint32_t block_num;
};

static _Thread_local const struct rt_launch *running; /* the one this thread runs */
static _Thread_local bool runs_here;                  /* as part of a task, not as a job */

aclError
rt_launch_check_outside(const struct rt_stream *stream)
{
    if (running == NULL || running->handle != rt_stream_handle(stream))
        return ACL_SUCCESS;
    return rt_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                   "a kernel or host function of stream %u waits for that stream, and so for its "
                   "own end: return first, or use another stream",
                   rt_stream_id(stream));
}

static void
unref(struct rt_launch *launch)
{
    if (atomic_fetch_sub_explicit(&launch->refs, 1, memory_order_acq_rel) != 1)
        return;
    if (launch->function != NULL)
        rt_function_release(launch->function);
    hc_free(launch);
}

/* ---- the job ---- */

static uint32_t
call_blocks(struct rt_launch *launch, void *address)
{
    bool told = strcmp(launch->function->symbol, "RunCpuKernelWithBlockDim") == 0;
    uint32_t result = 0;

    for (uint32_t i = 0; i < launch->block_num && result == 0; i++) {
        struct block_info info = {.block_id = i, .block_num = launch->block_num};

        if (told)
            result =
                ((uint32_t(*)(void *, struct block_info *))(uintptr_t)address)(launch->arg, &info);
        else
            result = ((uint32_t(*)(void *))(uintptr_t)address)(launch->arg);
    }
    return result;
}

static _Atomic(rt_kernel_end_hook) kernel_end_hook;

void
rt_set_kernel_end_hook(rt_kernel_end_hook hook)
{
    atomic_store(&kernel_end_hook, hook);
}

/* A kernel that returns success, but left something undone, has failed: nobody would find out. */
static void
check_left_behind(struct rt_launch *launch)
{
    rt_kernel_end_hook hook = atomic_load(&kernel_end_hook);
    uint32_t dropped = rt_batch_abandon();
    char text[160];

    if (hook != NULL && hook(text, sizeof text)) {
        launch->resolved = false;
        snprintf(launch->why, sizeof launch->why, "it returned %s", text);
    } else if (dropped > 0) {
        launch->resolved = false;
        snprintf(launch->why, sizeof launch->why,
                 "it returned inside a batch: the %u tasks it had put there are dropped; call "
                 "HcommBatchModeEnd before it returns",
                 dropped);
    }
}

static void
run_kernel(struct rt_launch *launch)
{
    void *address = NULL;

    rt_context_set_aicpu(launch->device); /* a library's constructors run on the device, too */
    launch->resolved = rt_function_resolve(launch->function, launch->device, &address, launch->why,
                                           sizeof launch->why) == ACL_SUCCESS;
    if (launch->resolved) {
        launch->result = call_blocks(launch, address);
        check_left_behind(launch);
    }
    rt_context_set_aicpu(-1);
}

static void
run_own(struct rt_launch *launch)
{
    rt_context_set_aicpu(launch->device);
    launch->resolved = true;
    launch->result = launch->kernel(launch->arg);
    check_left_behind(launch);
    rt_context_set_aicpu(-1);
}

bool
rt_kernel_may_block(void)
{
    return !runs_here;
}

static void
end_job(struct rt_launch *launch)
{
    uint32_t stream = launch->stream;

    unref(launch); /* I2 */
    rt_stream_wake(stream);
}

/* The kernel called pthread_exit. A batch it left open is dropped with the thread. */
static void
thread_was_ended(void *arg)
{
    struct rt_launch *launch = arg;

    launch->resolved = false;
    snprintf(launch->why, sizeof launch->why,
             "it ended its thread: return from the function instead of calling pthread_exit");
    end_job(launch);
}

static void
run_job(struct rt_job *job)
{
    struct rt_launch *launch = HC_CONTAINER(job, struct rt_launch, job);

    running = launch;
    pthread_cleanup_push(thread_was_ended, launch);
    if (launch->function != NULL) {
        run_kernel(launch);
    } else if (launch->kernel != NULL) {
        run_own(launch);
    } else {
        launch->host_fn(launch->arg);
        launch->resolved = true;
    }
    pthread_cleanup_pop(0);
    running = NULL;
    end_job(launch);
}

/* ---- the task ---- */

/* "kernel Send (SendEntry) in libmine.so", for messages. */
static void
name_launch(const struct rt_launch *launch, char *text, size_t len)
{
    const struct rt_function *function = launch->function;

    if (launch->kernel != NULL)
        snprintf(text, len, "kernel %s of this library", launch->name);
    else if (function == NULL)
        snprintf(text, len, "host function");
    else if (strcmp(function->key, function->symbol) == 0)
        snprintf(text, len, "kernel %s in %s", function->key, function->so);
    else
        snprintf(text, len, "kernel %s (%s) in %s", function->key, function->symbol, function->so);
}

/* false: it must become a job. Not where it would take the calling thread's kernel or batch for its
 * own. */
static bool
run_here(struct rt_launch *launch)
{
    if (launch->kernel == NULL || running != NULL || rt_on_aicpu() || rt_batch_is_open())
        return false;
    running = launch;
    runs_here = true;
    run_own(launch);
    runs_here = false;
    running = NULL;
    return !launch->resolved || launch->result != RT_KERNEL_ELSEWHERE;
}

static enum rt_step
submit(struct rt_stream *stream, struct rt_launch *launch)
{
    char name[NAME_LEN];
    aclError rc;

    launch->submitted = true;
    launch->job.fn = run_job;
    atomic_fetch_add_explicit(&launch->refs, 1, memory_order_relaxed); /* I1 */
    rc = rt_aicpu_submit(&launch->job);
    if (rc != ACL_SUCCESS) {
        unref(launch);
        name_launch(launch, name, sizeof name);
        return rt_stream_fail(stream, rc, "%s: no AICPU thread took it", name);
    }
    return RT_STEP_PARKED;
}

static enum rt_step
finish(struct rt_stream *stream, struct rt_launch *launch)
{
    char name[NAME_LEN];

    if (launch->resolved && launch->result == 0)
        return RT_STEP_DONE;
    name_launch(launch, name, sizeof name);
    if (!launch->resolved)
        return rt_stream_fail(stream, ACL_ERROR_RT_AICPU_EXCEPTION, "%s: %s", name, launch->why);
    return rt_stream_fail(stream, ACL_ERROR_RT_AICPU_EXCEPTION,
                          "%s on device %d returned %u: 0 is success", name, launch->device,
                          launch->result);
}

static enum rt_step
run(struct rt_stream *stream, struct rt_task *task)
{
    struct rt_launch *launch = task->u.call.obj;
    char name[NAME_LEN];

    (void)rt_stream_deadline(stream, launch->timeout_ms);
    if (!launch->submitted) {
        launch->device = rt_stream_device(stream);
        launch->stream = rt_stream_id(stream);
        launch->handle = rt_stream_handle(stream);
        return run_here(launch) ? finish(stream, launch) : submit(stream, launch);
    }
    if (atomic_load_explicit(&launch->refs, memory_order_acquire) == 1) /* I2 */
        return finish(stream, launch);
    if (!rt_stream_expired(stream))
        return RT_STEP_PARKED;
    name_launch(launch, name, sizeof name);
    return rt_stream_fail(
        stream, ACL_ERROR_RT_AICPU_TIMEOUT,
        "%s on device %d has not returned within %llu ms, its timeout: it goes on "
        "running, its result is ignored",
        name, launch->device, (unsigned long long)launch->timeout_ms);
}

/* ---- making one ---- */

static void
patch(struct rt_launch *launch, const struct patch *patch)
{
    uint64_t address = (uint64_t)(uintptr_t)(launch->args + patch->data);

    memcpy(launch->args + patch->at, &address, sizeof address);
}

aclError
rt_launch_new(const struct rt_launch_spec *spec, struct rt_launch **out)
{
    size_t copied = spec->args == NULL ? 0 : spec->args_len;
    size_t patches = spec->patch_num * sizeof(struct patch);
    struct rt_launch *launch = NULL;

    if (copied <= SIZE_MAX / 2)
        launch = hc_zalloc_aligned(16, sizeof *launch + ((copied + 15u) & ~(size_t)15) + patches);
    if (launch == NULL)
        return rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    atomic_init(&launch->refs, 1);
    launch->function = spec->function;
    launch->host_fn = spec->host_fn;
    launch->kernel = spec->kernel;
    launch->name = spec->name;
    launch->arg = spec->arg;
    launch->block_num = spec->block_num;
    launch->timeout_ms = spec->timeout_ms;
    launch->args_len = copied;
    launch->patches = (void *)(launch->args + ((copied + 15u) & ~(size_t)15));
    if (spec->args != NULL) {
        memcpy(launch->args, spec->args, copied);
        launch->arg = launch->args;
    }
    if (spec->function != NULL)
        hc_handle_hold_more(&rt_function_table, spec->function->handle);
    *out = launch;
    return ACL_SUCCESS;
}

void
rt_launch_patch(struct rt_launch *launch, uint64_t at, uint64_t data)
{
    struct patch *fresh = &launch->patches[launch->patch_num++];

    *fresh = (struct patch){.at = at, .data = data};
    patch(launch, fresh);
}

/* With the arguments as they were when the launch was captured. The code is held by both. */
static aclError
launch_clone(const struct rt_task *task, struct rt_task *copy)
{
    const struct rt_launch *kept = task->u.call.obj;
    bool copied = kept->arg == kept->args;
    const struct rt_launch_spec spec = {.function = kept->function,
                                        .host_fn = kept->host_fn,
                                        .kernel = kept->kernel,
                                        .name = kept->name,
                                        .arg = kept->arg,
                                        .args = copied ? kept->args : NULL,
                                        .args_len = kept->args_len,
                                        .patch_num = kept->patch_num,
                                        .block_num = kept->block_num,
                                        .timeout_ms = kept->timeout_ms};
    struct rt_launch *launch;
    aclError rc = rt_launch_new(&spec, &launch);

    if (rc != ACL_SUCCESS)
        return rc;
    for (uint32_t i = 0; i < kept->patch_num; i++)
        rt_launch_patch(launch, kept->patches[i].at, kept->patches[i].data);
    *copy = (struct rt_task){.ops = task->ops, .u.call.obj = launch};
    return ACL_SUCCESS;
}

static void
drop(struct rt_task *task, bool ran)
{
    (void)ran;
    unref(task->u.call.obj);
}

static void
describe(const struct rt_task *task, char *text, size_t len)
{
    name_launch(task->u.call.obj, text, len);
}

static const struct rt_task_ops launch_ops = {
    .name = "kernel",
    .run = run,
    .drop = drop,
    .describe = describe,
    .clone = launch_clone,
};

aclError
rt_launch_push(struct rt_launch *launch, struct rt_stream *stream)
{
    struct rt_task task = {.ops = &launch_ops, .u.call.obj = launch};

    return rt_stream_push(stream, &task);
}

aclError
rt_launch_own(rt_own_kernel kernel, const char *name, aclrtStream handle, const void *args,
              size_t len)
{
    struct rt_launch_spec spec = {
        .kernel = kernel, .name = name, .args = args, .args_len = len, .block_num = 1};
    struct rt_launch *fresh = NULL;
    struct rt_stream *stream;
    aclError rc = rt_stream_hold(handle, &stream);

    if (rc != ACL_SUCCESS)
        return rc;
    spec.timeout_ms = (rt_op_timeout_us() + 999u) / 1000u; /* 0: none was set, and there is none */
    rc = rt_launch_new(&spec, &fresh);
    if (rc == ACL_SUCCESS)
        rc = rt_launch_push(fresh, stream);
    rt_stream_release(stream);
    return rc;
}
