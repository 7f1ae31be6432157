/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A run of a graph: clones of its templates between four tasks of its own.
 *
 *     executing stream    begin | branch 0 ...                  | end
 *     each runner         start | branch i, after start ...     | finish
 *
 * begin waits for the runs before (G3), resets the marks and lets the starts go; end waits for the
 * finishes. A stream that fails on the way drops the rest of the run up to its last task, whose
 * drop() fails the others (G5). What a task did is what its drop() looks at, not whether it ran:
 * a task that waits can be failed or stopped from outside.
 */
#include <stdio.h>

#include "base/alloc.h"
#include "runtime/graph.h"

struct rt_run {
    _Atomic uint32_t refs;  /* its tasks, and who queues it */
    struct rt_graph *graph; /* held */
    struct rt_stream *exec; /* held */
    uint32_t number;
    struct hc_list in_runs; /* this and what follows: under graph->run_lock */
    bool begun, cut;        /* cut: what has not started will not */
    bool end_over;          /* the end has been dropped */
    uint32_t left;          /* runners on which it is not over */
    aclError why;           /* cut: what the streams fail with */
    char text[400];
    struct {
        bool started, finished, over;
    } at[]; /* [branch_num]; 0 is not used */
};

/* ---- who is told ---- */

static void
unref(struct rt_run *run)
{
    if (atomic_fetch_sub_explicit(&run->refs, 1, memory_order_acq_rel) != 1)
        return;
    rt_stream_release(run->exec);
    rt_graph_release(run->graph);
    hc_free(run);
}

/* Their tasks look again; under run_lock or not. */
static void
wake_all(struct rt_run *run)
{
    rt_stream_wake_held(run->exec);
    for (uint32_t i = 1; i < run->graph->branch_num; i++)
        rt_stream_wake_held(run->graph->branches[i].runner);
}

static void
set_cut(struct rt_run *run, aclError code, const char *text)
{
    if (run->cut)
        return;
    run->cut = true;
    run->why = code;
    snprintf(run->text, sizeof run->text, "%s", text);
}

/* Fails what is left of the run, everywhere; under run_lock. */
static void
cut(struct rt_run *run, aclError code, const char *text)
{
    struct rt_graph *graph = run->graph;

    set_cut(run, code, text);
    if (!run->end_over)
        rt_stream_cut(run->exec, run->why, run->text);
    for (uint32_t i = 1; i < graph->branch_num; i++) {
        if (run->at[i].started && !run->at[i].over) /* G5 */
            rt_stream_cut(graph->branches[i].runner, run->why, run->text);
    }
    wake_all(run);
}

/* If the run is over (G4), the next one may begin. Without the lock. */
static void
look_whether_over(struct rt_run *run)
{
    struct rt_graph *graph = run->graph;
    struct rt_stream *next = NULL;
    bool over;

    pthread_mutex_lock(&graph->run_lock);
    over = run->end_over && run->left == 0 && hc_list_linked(&run->in_runs);
    if (over) {
        hc_list_remove(&run->in_runs);
        if (!hc_list_empty(&graph->runs)) {
            next = HC_CONTAINER(graph->runs.next, struct rt_run, in_runs)->exec;
            hc_handle_hold_more(&rt_stream_table, (uint64_t)(uintptr_t)rt_stream_handle(next));
        }
    }
    pthread_mutex_unlock(&graph->run_lock);
    if (next != NULL) {
        rt_stream_wake_held(next);
        rt_stream_release(next);
    }
    if (over)
        rt_waiters_poke(); /* rt_graph_destroy */
}

static const char cut_short[] =
    "the run of the graph was cut short: its stream failed, was aborted "
    "or stopped";

/* ---- the tasks of the executing stream ---- */

static struct rt_run *
run_of(const struct rt_task *task)
{
    return task->u.call.obj;
}

static enum rt_step
begin_run(struct rt_stream *stream, struct rt_task *task)
{
    struct rt_run *run = run_of(task);
    struct rt_graph *graph = run->graph;
    bool first, was_cut;

    pthread_mutex_lock(&graph->run_lock);
    first = graph->runs.next == &run->in_runs;
    was_cut = run->cut;
    pthread_mutex_unlock(&graph->run_lock);
    if (was_cut)
        return rt_stream_fail(stream, run->why, "%s", run->text);
    if (!first)
        return RT_STEP_PARKED;
    for (uint32_t i = 0; i < graph->mark_num; i++)
        rt_mark_reset(graph->marks[i]); /* G3: nobody else uses them now */
    pthread_mutex_lock(&graph->run_lock);
    run->begun = true;
    pthread_mutex_unlock(&graph->run_lock);
    wake_all(run);
    return RT_STEP_DONE;
}

static void
begin_drop(struct rt_task *task, bool ran)
{
    struct rt_run *run = run_of(task);

    (void)ran;
    pthread_mutex_lock(&run->graph->run_lock);
    if (!run->begun)
        cut(run, ACL_ERROR_RT_STREAM_ABORT, cut_short);
    pthread_mutex_unlock(&run->graph->run_lock);
    unref(run);
}

static void
begin_describe(const struct rt_task *task, char *text, size_t len)
{
    snprintf(text, len, "begin run %u of graph %u, after the runs before it", run_of(task)->number,
             run_of(task)->graph->id);
}

static const struct rt_task_ops begin_ops = {
    .name = "graph begin", .run = begin_run, .drop = begin_drop, .describe = begin_describe};

static enum rt_step
end_run(struct rt_stream *stream, struct rt_task *task)
{
    struct rt_run *run = run_of(task);
    bool all;

    (void)stream;
    pthread_mutex_lock(&run->graph->run_lock);
    all = run->left == 0;
    pthread_mutex_unlock(&run->graph->run_lock);
    return all ? RT_STEP_DONE : RT_STEP_PARKED;
}

static void
end_drop(struct rt_task *task, bool ran)
{
    struct rt_run *run = run_of(task);

    (void)ran;
    pthread_mutex_lock(&run->graph->run_lock);
    run->end_over = true;
    if (run->left > 0)
        cut(run, ACL_ERROR_RT_STREAM_ABORT, cut_short);
    pthread_mutex_unlock(&run->graph->run_lock);
    look_whether_over(run);
    unref(run);
}

static void
end_describe(const struct rt_task *task, char *text, size_t len)
{
    snprintf(text, len, "end run %u of graph %u, after its other branches", run_of(task)->number,
             run_of(task)->graph->id);
}

static const struct rt_task_ops end_ops = {
    .name = "graph end", .run = end_run, .drop = end_drop, .describe = end_describe};

/* ---- the tasks of a runner ---- */

static enum rt_step
start_run(struct rt_stream *stream, struct rt_task *task)
{
    struct rt_run *run = run_of(task);
    bool begun, was_cut;

    pthread_mutex_lock(&run->graph->run_lock);
    was_cut = run->cut;
    begun = run->begun;
    if (was_cut)
        rt_stream_cut(stream, run->why, run->text); /* G5: it is between its first and last task */
    else if (begun)
        run->at[task->u.call.arg[0]].started = true;
    pthread_mutex_unlock(&run->graph->run_lock);
    if (was_cut)
        return RT_STEP_FAILED;
    return begun ? RT_STEP_DONE : RT_STEP_PARKED;
}

static void
start_drop(struct rt_task *task, bool ran)
{
    (void)ran;
    unref(run_of(task));
}

static void
start_describe(const struct rt_task *task, char *text, size_t len)
{
    snprintf(text, len, "begin branch %u of run %u of graph %u", (unsigned)task->u.call.arg[0],
             run_of(task)->number, run_of(task)->graph->id);
}

static const struct rt_task_ops start_ops = {
    .name = "branch begin", .run = start_run, .drop = start_drop, .describe = start_describe};

static enum rt_step
finish_run(struct rt_stream *stream, struct rt_task *task)
{
    struct rt_run *run = run_of(task);

    (void)stream;
    pthread_mutex_lock(&run->graph->run_lock);
    run->at[task->u.call.arg[0]].finished = true;
    pthread_mutex_unlock(&run->graph->run_lock);
    return RT_STEP_DONE;
}

static void
finish_drop(struct rt_task *task, bool ran)
{
    struct rt_run *run = run_of(task);
    uint64_t i = task->u.call.arg[0];
    char text[sizeof run->text];
    aclError why;

    (void)ran;
    pthread_mutex_lock(&run->graph->run_lock);
    why = rt_stream_mend(run->graph->branches[i].runner, text, sizeof text); /* G5 */
    run->at[i].over = true;
    run->left--;
    if (!run->at[i].finished)
        cut(run, why == 0 ? ACL_ERROR_RT_STREAM_ABORT : why, why == 0 ? cut_short : text);
    pthread_mutex_unlock(&run->graph->run_lock);
    rt_stream_wake_held(run->exec); /* its end may be waiting */
    look_whether_over(run);
    unref(run);
}

static const struct rt_task_ops finish_ops = {
    .name = "branch end", .run = finish_run, .drop = finish_drop};

/* ---- queueing ---- */

/* What one stream gets: [num], first and last task included. */
struct part {
    struct rt_task *tasks;
    uint32_t num;
    struct rt_room room;
};

static struct rt_task
own_task(const struct rt_task_ops *ops, struct rt_run *run, uint32_t branch)
{
    return (struct rt_task){.ops = ops, .u.call = {.obj = run, .arg = {branch}}};
}

static void
drop_tasks(struct rt_task *tasks, uint32_t num)
{
    for (uint32_t i = 0; i < num; i++) {
        if (tasks[i].ops->drop != NULL)
            tasks[i].ops->drop(&tasks[i], false);
    }
}

/* The clones of a branch. What was made is `part`'s whatever is returned; without the run's own
 * tasks, which part_bracket() adds when nothing can fail any more. */
static aclError
part_make(struct part *part, const struct rt_branch *branch)
{
    part->tasks = hc_calloc(branch->num + 2u, sizeof *part->tasks);
    if (part->tasks == NULL || !rt_room_make(&part->room, branch->num + 2u))
        return rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    for (uint32_t i = 0; i < branch->num; i++) {
        const struct rt_task *task = &branch->tasks[i];
        aclError rc = task->ops->clone(task, &part->tasks[i + 1]);

        if (rc != ACL_SUCCESS)
            return rc;
        part->num = i + 1;
    }
    return ACL_SUCCESS;
}

static void
part_bracket(struct part *part, struct rt_run *run, uint32_t branch)
{
    part->tasks[0] = own_task(branch == 0 ? &begin_ops : &start_ops, run, branch);
    part->tasks[part->num + 1] = own_task(branch == 0 ? &end_ops : &finish_ops, run, branch);
    part->num += 2;
    atomic_fetch_add(&run->refs, 2);
}

/* Gives back what is left of it: clones that were not queued, without the run's own tasks. */
static void
parts_free(struct part *parts, uint32_t num)
{
    for (uint32_t i = 0; i < num; i++) {
        if (parts[i].tasks != NULL)
            drop_tasks(parts[i].tasks + 1, parts[i].num);
        hc_free(parts[i].tasks);
        rt_room_free(&parts[i].room);
    }
    hc_free(parts);
}

static struct rt_run *
run_new(struct rt_graph *graph, struct rt_stream *stream)
{
    struct rt_run *run = hc_zalloc(sizeof *run + graph->branch_num * sizeof run->at[0]);

    if (run == NULL)
        return NULL;
    atomic_init(&run->refs, 1);
    run->graph = graph;
    run->exec = stream;
    run->left = graph->branch_num - 1;
    hc_handle_hold_more(&rt_stream_table, (uint64_t)(uintptr_t)rt_stream_handle(stream));
    rt_graph_hold_more(graph);
    return run;
}

/* The run joins the others, and the stream gets its part of it. Nothing was queued if it fails. */
static aclError
queue_exec(struct rt_run *run, struct part *part)
{
    struct rt_graph *graph = run->graph;
    aclError rc;

    pthread_mutex_lock(&graph->run_lock);
    run->number = ++graph->run_num;
    hc_list_push_back(&graph->runs, &run->in_runs);
    pthread_mutex_unlock(&graph->run_lock);
    rc = rt_stream_enqueue_all(run->exec, part->tasks, part->num, &part->room);
    if (rc == ACL_SUCCESS)
        return rc;
    pthread_mutex_lock(&graph->run_lock);
    run->left = 0; /* nothing of it is anywhere */
    run->end_over = true;
    run->begun = true;
    pthread_mutex_unlock(&graph->run_lock);
    look_whether_over(run);
    return rc;
}

static aclError
queue_run(struct rt_run *run, struct part *parts)
{
    struct rt_graph *graph = run->graph;
    aclError rc;

    for (uint32_t i = 0; i < graph->branch_num; i++)
        part_bracket(&parts[i], run, i);
    rc = queue_exec(run, &parts[0]);
    for (uint32_t i = 0; i < graph->branch_num; i++) {
        struct part *part = &parts[i];

        if (rc != ACL_SUCCESS) { /* the run's own tasks have nothing to give back but themselves */
            drop_tasks(part->tasks + 1, part->num - 2);
            atomic_fetch_sub(&run->refs, 2); /* ours is left */
        } else if (i > 0 && rt_stream_enqueue_all(graph->branches[i].runner, part->tasks, part->num,
                                                  &part->room) != ACL_SUCCESS) {
            drop_tasks(part->tasks, part->num); /* its context is going: the run is cut */
        }
        part->num = 0;
    }
    return rc;
}

static aclError
execute(struct rt_graph *graph, struct rt_stream *stream)
{
    struct part *parts = hc_calloc(graph->branch_num, sizeof *parts);
    struct rt_run *run = run_new(graph, stream);
    aclError rc = ACL_SUCCESS;

    if (parts == NULL || run == NULL)
        rc = rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    for (uint32_t i = 0; i < graph->branch_num && rc == ACL_SUCCESS; i++)
        rc = part_make(&parts[i], &graph->branches[i]);
    if (rc == ACL_SUCCESS)
        rc = queue_run(run, parts);
    if (parts != NULL)
        parts_free(parts, graph->branch_num);
    if (run != NULL)
        unref(run);
    return rc;
}

static aclError
check_place(struct rt_graph *graph, struct rt_stream *stream)
{
    if (atomic_load(&graph->context->closing))
        return rt_fail(ACL_ERROR_RT_CONTEXT_NULL,
                       "graph %u cannot run: the context it was captured in has been destroyed, or "
                       "its device reset; capture it again",
                       graph->id);
    if (rt_stream_device(stream) != graph->context->device)
        return rt_fail(ACL_ERROR_RT_STREAM_CONTEXT,
                       "graph %u was captured on device %d and runs there only, but stream %u is "
                       "of device %d",
                       graph->id, graph->context->device, rt_stream_id(stream),
                       rt_stream_device(stream));
    return ACL_SUCCESS;
}

aclError
rt_graph_execute(struct rt_graph *graph, struct rt_stream *stream)
{
    aclError rc = check_place(graph, stream);

    if (rc != ACL_SUCCESS)
        return rc;
    if (rt_batch_is_open())
        return rt_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                       "graph %u cannot be executed inside a batch, before what the batch holds "
                       "back: call HcommBatchModeEnd first",
                       graph->id);
    pthread_mutex_lock(&graph->push_lock); /* G4 */
    if (graph->ending)
        rc = rt_fail(ACL_ERROR_RT_INVALID_HANDLE, "graph %u is being destroyed", graph->id);
    else
        rc = execute(graph, stream);
    pthread_mutex_unlock(&graph->push_lock);
    return rc;
}

void
rt_graph_abort(struct rt_graph *graph)
{
    char text[64];

    snprintf(text, sizeof text, "graph %u was aborted", graph->id);
    pthread_mutex_lock(&graph->push_lock); /* no run comes or is half queued meanwhile */
    pthread_mutex_lock(&graph->run_lock);
    HC_LIST_EACH (node, &graph->runs) {
        struct rt_run *run = HC_CONTAINER(node, struct rt_run, in_runs);

        if (run->begun) {
            cut(run, ACL_ERROR_RT_MODEL_ABORT_NORMAL, text);
        } else {
            set_cut(run, ACL_ERROR_RT_MODEL_ABORT_NORMAL, text);
            wake_all(run); /* the begin fails its stream when that comes to it */
        }
    }
    pthread_mutex_unlock(&graph->run_lock);
    pthread_mutex_unlock(&graph->push_lock);
}
