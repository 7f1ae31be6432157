/* SPDX-License-Identifier: BSD-3-Clause */
#include "comm/op_launch.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "primitive/primitive.h"

#define NAME_LEN 256u

enum gate_state { SHUT, OPEN, BROKEN };
enum gate_name { GO, DONE, GATES };

struct gate {
    enum gate_state state;
    bool waited; /* by stream number `waiter`, once it parks */
    uint32_t waiter;
};

struct op_launch {
    _Atomic uint32_t refs;    /* L2 */
    pthread_mutex_t lock;     /* leaf */
    struct gate gates[GATES]; /* under the lock */
    ThreadHandle thread;      /* the kernel's; constant, as the rest */
    uint64_t wait_ms;         /* longest wait for `done`; 0: for ever */
    char name[NAME_LEN];      /* "kernel X of Y.so" */
};

/* ---- life ---- */

static struct op_launch *
launch_new(const struct op_launch_desc *desc)
{
    struct op_launch *launch = hc_zalloc(sizeof *launch);

    if (launch == NULL)
        return NULL;
    atomic_init(&launch->refs, 1);
    pthread_mutex_init(&launch->lock, NULL);
    launch->thread = desc->thread;
    launch->wait_ms = (uint64_t)prim_default_wait_s() * 1000u;
    snprintf(launch->name, sizeof launch->name, "kernel %.100s of %.100s", desc->symbol, desc->so);
    return launch;
}

static struct op_launch *
launch_hold(struct op_launch *launch)
{
    atomic_fetch_add_explicit(&launch->refs, 1, memory_order_relaxed);
    return launch;
}

static void
launch_release(struct op_launch *launch)
{
    if (launch == NULL || atomic_fetch_sub_explicit(&launch->refs, 1, memory_order_acq_rel) != 1)
        return;
    pthread_mutex_destroy(&launch->lock);
    hc_free(launch);
}

/* The first one says what becomes of the gate. */
static void
gate_set(struct op_launch *launch, enum gate_name name, enum gate_state state)
{
    struct gate *gate = &launch->gates[name];
    bool waited = false;
    uint32_t waiter = 0;

    pthread_mutex_lock(&launch->lock);
    if (gate->state == SHUT) {
        gate->state = state;
        waited = gate->waited;
        waiter = gate->waiter;
    }
    pthread_mutex_unlock(&launch->lock);
    if (waited)
        rt_stream_wake(waiter);
}

/* ---- tasks: u.call.obj is the launch, arg[0] the gate ---- */

static enum gate_name
gate_of(const struct rt_task *task)
{
    return (enum gate_name)task->u.call.arg[0];
}

static enum rt_step
open_run(struct rt_stream *stream, struct rt_task *task)
{
    (void)stream;
    gate_set(task->u.call.obj, gate_of(task), OPEN);
    return RT_STEP_DONE;
}

static void
open_drop(struct rt_task *task, bool ran)
{
    if (!ran)
        gate_set(task->u.call.obj, gate_of(task), BROKEN); /* L1 */
    launch_release(task->u.call.obj);
}

static void
open_describe(const struct rt_task *task, char *text, size_t len)
{
    const struct op_launch *launch = task->u.call.obj;

    snprintf(text, len, "%s of %s", gate_of(task) == GO ? "start" : "end", launch->name);
}

static const struct rt_task_ops open_ops = {
    .name = "operator", .run = open_run, .drop = open_drop, .describe = open_describe};

static enum rt_step
wait_run(struct rt_stream *stream, struct rt_task *task)
{
    struct op_launch *launch = task->u.call.obj;
    enum gate_name name = gate_of(task);
    struct gate *gate = &launch->gates[name];
    enum gate_state state;

    pthread_mutex_lock(&launch->lock);
    state = gate->state;
    gate->waiter = rt_stream_id(stream);
    gate->waited = true;
    pthread_mutex_unlock(&launch->lock);
    if (state == OPEN)
        return RT_STEP_DONE;
    if (state == BROKEN)
        return rt_stream_fail(stream, ACL_ERROR_RT_STREAM_ABORT,
                              name == GO ? "%s: the stream it is ordered in failed or was aborted"
                                         : "%s: it, or a task it queued, failed or was aborted",
                              launch->name);
    if (name == GO)
        return RT_STEP_PARKED; /* its order is not its to give up */
    (void)rt_stream_deadline(stream, launch->wait_ms);
    if (rt_stream_expired(stream))
        return rt_stream_fail(stream, ACL_ERROR_RT_TASK_TIMEOUT,
                              "%s: its tasks were not over after %llu s", launch->name,
                              (unsigned long long)launch->wait_ms / 1000u);
    return RT_STEP_PARKED;
}

static void
wait_drop(struct rt_task *task, bool ran)
{
    (void)ran;
    launch_release(task->u.call.obj);
}

static void
wait_describe(const struct rt_task *task, char *text, size_t len)
{
    const struct op_launch *launch = task->u.call.obj;

    snprintf(text, len, "wait for the %s of %s", gate_of(task) == GO ? "start" : "end",
             launch->name);
}

static const struct rt_task_ops wait_ops = {
    .name = "wait for an operator", .run = wait_run, .drop = wait_drop, .describe = wait_describe};

static struct rt_task
make_task(const struct rt_task_ops *ops, struct op_launch *launch, enum gate_name gate)
{
    struct rt_task task = {.ops = ops};

    task.u.call.obj = launch_hold(launch);
    task.u.call.arg[0] = gate;
    return task;
}

/* Puts a task on the kernel's thread: the wait for `go`, or the opening of `done`. */
static enum rt_step
put_run(struct rt_stream *stream, struct rt_task *task)
{
    struct op_launch *launch = task->u.call.obj;
    enum gate_name name = gate_of(task);
    struct rt_task put = make_task(name == GO ? &wait_ops : &open_ops, launch, name);
    struct res_thread *thread;
    struct rt_stream *of_thread = NULL;
    HcclResult rc = res_thread_hold(launch->thread, &thread);

    if (rc == HCCL_SUCCESS) {
        of_thread = res_thread_stream(thread);
        rc = of_thread == NULL ? HCCL_E_NOT_FOUND : rt_result(rt_stream_enqueue(of_thread, &put));
        res_thread_release(thread);
    }
    if (of_thread == NULL)
        put.ops->drop(&put, false);
    if (rc == HCCL_SUCCESS)
        return RT_STEP_DONE;
    gate_set(launch, DONE, BROKEN); /* L1 */
    return rt_stream_fail(stream, ACL_ERROR_RT_STREAM_ABORT, "%s: its thread takes no tasks",
                          launch->name);
}

static void
put_drop(struct rt_task *task, bool ran)
{
    if (!ran)
        gate_set(task->u.call.obj, DONE, BROKEN); /* L1 */
    launch_release(task->u.call.obj);
}

static const struct rt_task_ops put_ops = {
    .name = "order an operator", .run = put_run, .drop = put_drop, .describe = open_describe};

static HcclResult
push(struct rt_stream *stream, const struct rt_task_ops *ops, struct op_launch *launch,
     enum gate_name gate)
{
    struct rt_task task = make_task(ops, launch, gate);

    return rt_result(rt_stream_push(stream, &task));
}

/* ---- one launch, in three steps ---- */

struct pending {
    struct op_launch *launch;
    struct rt_stream *user, *unfold; /* held; NULL: not yet */
};

static void
pending_fini(struct pending *pending)
{
    launch_release(pending->launch);
    if (pending->unfold != NULL)
        rt_stream_release(pending->unfold);
    if (pending->user != NULL)
        rt_stream_release(pending->user);
}

static HcclResult
check_device(const struct comm *comm, const struct rt_stream *stream, const char *which)
{
    if (rt_stream_device(stream) == comm->device)
        return HCCL_SUCCESS;
    LOG_ERROR(COMM,
              "HcclAicpuKernelLaunch: the %s is of device %d, but rank %u of %s is on device %d",
              which, rt_stream_device(stream), comm->rank, comm->name, comm->device);
    return HCCL_E_PARA;
}

static HcclResult
hold_stream(aclrtStream handle, struct rt_stream **stream)
{
    return rt_stream_hold(handle, stream) == ACL_SUCCESS ? HCCL_SUCCESS : HCCL_E_RUNTIME;
}

static HcclResult
hold_unfold(struct comm *comm, aclrtStream handle, struct rt_stream **stream)
{
    struct res_thread *thread;
    ThreadHandle launcher;
    HcclResult rc;

    if (handle != NULL)
        return hold_stream(handle, stream);
    rc = threads_launch(comm, 0, &launcher);
    if (rc == HCCL_SUCCESS)
        rc = res_thread_hold(launcher, &thread);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = hold_stream(res_thread_stream_handle(thread), stream);
    res_thread_release(thread);
    return rc;
}

/* What the communicator's kernels are loaded by. */
static HcclResult
need_kernels(struct comm *comm)
{
    HcclResult rc = HCCL_SUCCESS;

    pthread_mutex_lock(&comm->lock);
    if (comm->kernels == 0)
        rc = rt_result(rt_kernels_open(&comm->kernels));
    pthread_mutex_unlock(&comm->lock);
    return rc;
}

/* The program's stream has come so far. */
static HcclResult
begin(struct comm *comm, const struct op_launch_desc *desc, struct pending *pending)
{
    HcclResult rc = need_kernels(comm);

    if (rc == HCCL_SUCCESS)
        rc = hold_stream(desc->user, &pending->user);
    if (rc == HCCL_SUCCESS)
        rc = hold_unfold(comm, desc->unfold, &pending->unfold);
    if (rc == HCCL_SUCCESS)
        rc = check_device(comm, pending->user, "stream");
    if (rc == HCCL_SUCCESS)
        rc = check_device(comm, pending->unfold, "unfold stream");
    if (rc != HCCL_SUCCESS)
        return rc;
    pending->launch = launch_new(desc);
    return pending->launch == NULL ? HCCL_E_MEMORY
                                   : push(pending->user, &open_ops, pending->launch, GO);
}

static HcclResult
unfold(struct comm *comm, const struct op_launch_desc *desc, struct pending *pending)
{
    struct rt_kernel_call call = {.so = desc->so,
                                  .symbol = desc->symbol,
                                  .args = desc->args,
                                  .args_len = desc->args_len,
                                  .timeout_s = desc->timeout_s};
    HcclResult rc = push(pending->unfold, &put_ops, pending->launch, GO);

    if (rc == HCCL_SUCCESS)
        rc = rt_result(rt_kernel_push(comm->kernels, &call, pending->unfold));
    return rc == HCCL_SUCCESS ? push(pending->unfold, &put_ops, pending->launch, DONE) : rc;
}

/* What comes later in the program's stream waits. */
static HcclResult
finish(struct pending *pending)
{
    return push(pending->user, &wait_ops, pending->launch, DONE);
}

HcclResult
op_launch(struct comm *comm, const struct op_launch_desc *desc)
{
    struct pending pending = {0};
    HcclResult rc = begin(comm, desc, &pending);

    if (rc == HCCL_SUCCESS)
        rc = unfold(comm, desc, &pending);
    if (rc == HCCL_SUCCESS)
        rc = finish(&pending);
    pending_fini(&pending);
    return rc;
}

/* ---- groups ---- */

struct item {
    struct hc_list in_group;
    struct comm *comm; /* held */
    struct op_launch_desc desc;
    char so[HCCL_KERNEL_SO_NAME_MAX_LEN];
    char symbol[HCCL_KERNEL_FUNC_NAME_MAX_LEN];
    struct pending pending;
    HcclResult rc;
    bool placed; /* it has its thread */
    HcclP2pKernelParam param;
};

static _Thread_local struct hc_list items; /* of struct item; initialised with the first one */

static void
item_destroy(struct item *item)
{
    pending_fini(&item->pending);
    comm_release(item->comm);
    hc_free(item);
}

/* Gives the items of `first`'s communicator a thread each: the pool's, as many as there are items.
 * An item alone keeps the one that was named. */
static void
place(struct item *first)
{
    ThreadHandle threads[COMM_THREADS_MOST];
    uint32_t notify_nums[COMM_THREADS_MOST], num = 0;
    struct res_thread *named;
    HcclResult rc = res_thread_hold(first->desc.thread, &named);

    HC_LIST_EACH (node, &items)
        num += HC_CONTAINER(node, struct item, in_group)->comm == first->comm;
    for (uint32_t i = 0; i < COMM_THREADS_MOST && rc == HCCL_SUCCESS; i++)
        notify_nums[i] = res_thread_notify_num(named);
    if (rc == HCCL_SUCCESS)
        res_thread_release(named);
    threads[0] = first->desc.thread;
    if (rc == HCCL_SUCCESS && num > COMM_THREADS_MOST) {
        LOG_ERROR(COMM, "EI0007: HcclGroupEnd: %u kernels of %s in one group: at most %u go", num,
                  first->comm->name, COMM_THREADS_MOST);
        rc = HCCL_E_UNAVAIL;
    }
    if (rc == HCCL_SUCCESS && num > 1)
        rc = threads_acquire(first->comm, COMM_ENGINE_AICPU_TS, num, notify_nums, threads);
    num = 0;
    HC_LIST_EACH (node, &items) {
        struct item *item = HC_CONTAINER(node, struct item, in_group);

        if (item->comm != first->comm)
            continue;
        item->rc = rc;
        item->placed = true;
        if (rc == HCCL_SUCCESS)
            item->desc.thread = item->param.sendRecvThread = threads[num++];
    }
}

/* All begin, then all are unfolded, then the streams wait: so that none waits for another. */
static HcclResult
launch_all(void)
{
    struct hc_list *node;
    HcclResult rc = HCCL_SUCCESS;

    HC_LIST_EACH (at, &items) {
        struct item *item = HC_CONTAINER(at, struct item, in_group);

        if (!item->placed)
            place(item);
        if (item->rc == HCCL_SUCCESS)
            item->rc = begin(item->comm, &item->desc, &item->pending);
    }
    HC_LIST_EACH (at, &items) {
        struct item *item = HC_CONTAINER(at, struct item, in_group);

        if (item->rc == HCCL_SUCCESS)
            item->rc = unfold(item->comm, &item->desc, &item->pending);
    }
    while ((node = hc_list_pop_front(&items)) != NULL) {
        struct item *item = HC_CONTAINER(node, struct item, in_group);

        if (item->rc == HCCL_SUCCESS)
            item->rc = finish(&item->pending);
        rc = rc == HCCL_SUCCESS ? item->rc : rc;
        item_destroy(item);
    }
    return rc;
}

HcclResult
op_launch_later(struct comm *comm, const struct op_launch_desc *desc)
{
    struct item *item = hc_zalloc(sizeof *item);
    HcclResult rc;

    if (item == NULL)
        return HCCL_E_MEMORY;
    rc = comm_group_join("HcclAicpuKernelLaunch", launch_all);
    if (rc != HCCL_SUCCESS) {
        hc_free(item);
        return rc;
    }
    if (items.next == NULL)
        hc_list_init(&items);
    comm_hold_more(comm);
    item->comm = comm;
    item->desc = *desc;
    snprintf(item->so, sizeof item->so, "%s", desc->so);
    snprintf(item->symbol, sizeof item->symbol, "%s", desc->symbol);
    if (desc->args_len > 0)
        memcpy(item->param.opParams, desc->args, desc->args_len);
    item->desc.so = item->so;
    item->desc.symbol = item->symbol;
    item->desc.args = &item->param;
    item->desc.args_len = sizeof item->param;
    hc_list_push_back(&items, &item->in_group);
    return HCCL_SUCCESS;
}
