/* SPDX-License-Identifier: BSD-3-Clause */
/* Recording: which streams take part, and what they push. The rules are in graph.h (G2, G6). */
#include <stdio.h>

#include "base/alloc.h"
#include "runtime/graph.h"

pthread_mutex_t rt_capture_lock = PTHREAD_MUTEX_INITIALIZER;
struct hc_list rt_captures = {&rt_captures, &rt_captures};
_Atomic uint32_t rt_capture_num;

static _Atomic uint64_t threads; /* ever told apart */
static _Thread_local uint64_t own_number;

uint64_t
rt_capture_thread(void)
{
    if (own_number == 0)
        own_number = atomic_fetch_add(&threads, 1) + 1;
    return own_number;
}

/* ---- the streams of a capture, under the lock ---- */

static struct rt_graph *
capture_of(struct rt_stream *stream)
{
    return atomic_load_explicit(&stream->capture, memory_order_relaxed);
}

struct rt_graph *
rt_capture_enter(struct rt_stream *stream)
{
    pthread_mutex_lock(&rt_capture_lock);
    return rt_on_aicpu() ? NULL : capture_of(stream); /* G6 */
}

void
rt_capture_leave(void)
{
    pthread_mutex_unlock(&rt_capture_lock);
}

bool
rt_capture_is_over(const struct rt_graph *graph)
{
    bool over;

    pthread_mutex_lock(&rt_capture_lock);
    over = graph->state == RT_GRAPH_READY;
    pthread_mutex_unlock(&rt_capture_lock);
    return over;
}

struct rt_graph *
rt_capture_find(uint64_t handle)
{
    HC_LIST_EACH (node, &rt_captures) {
        struct rt_graph *graph = HC_CONTAINER(node, struct rt_graph, in_captures);

        if (graph->handle == handle)
            return graph;
    }
    return NULL;
}

void
rt_capture_invalidate(struct rt_graph *graph, const char *why)
{
    if (graph->state != RT_GRAPH_RECORDING)
        return;
    graph->state = RT_GRAPH_INVALID;
    snprintf(graph->why, sizeof graph->why, "%s", why);
}

static aclError
add_branch(struct rt_graph *graph, struct rt_stream *stream, bool must_join)
{
    struct rt_branch *grown = hc_realloc(graph->branches, (graph->branch_num + 1u) * sizeof *grown);

    if (grown == NULL)
        return rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    graph->branches = grown;
    grown[graph->branch_num] =
        (struct rt_branch){.stream = stream, .context = stream->context, .must_join = must_join};
    hc_handle_hold_more(&rt_stream_table, (uint64_t)(uintptr_t)stream->handle);
    rt_context_hold_more(stream->context);
    stream->branch = graph->branch_num++;
    atomic_store(&stream->capture, graph);
    return ACL_SUCCESS;
}

/* The streams are ordinary ones again; the graph is the caller's. */
static void
detach(struct rt_graph *graph)
{
    for (uint32_t i = 0; i < graph->branch_num; i++)
        atomic_store(&graph->branches[i].stream->capture, NULL);
    hc_list_remove(&graph->in_captures);
    atomic_fetch_sub(&rt_capture_num, 1);
}

aclError
rt_capture_join(struct rt_graph *graph, struct rt_stream *stream, bool must_join)
{
    struct rt_graph *own = capture_of(stream);
    aclError rc;

    if (own == graph)
        return ACL_SUCCESS;
    if (graph->state == RT_GRAPH_INVALID)
        return rt_fail(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED,
                       "stream %u cannot join the capture of graph %u, which is invalid: %s",
                       stream->id, graph->id, graph->why);
    if (own != NULL) {
        rt_capture_invalidate(own, "it met another capture");
        rt_capture_invalidate(graph, "it met another capture");
        return rt_fail(ACL_ERROR_STREAM_CAPTURE_CONFLICT,
                       "stream %u takes part in the capture of graph %u and cannot join that of "
                       "graph %u: begin one capture and fork the other stream from it",
                       stream->id, own->id, graph->id);
    }
    if (stream->context->default_stream == stream->handle) {
        rt_capture_invalidate(graph, "the default stream waited for something in it");
        return rt_fail(ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT,
                       "the default stream cannot take part in the capture of graph %u: use a "
                       "stream of your own",
                       graph->id);
    }
    rc = add_branch(graph, stream, must_join);
    if (rc != ACL_SUCCESS)
        rt_capture_invalidate(graph, "a stream could not join it");
    return rc;
}

/* ---- recording ---- */

/* At the end of the branch, so that keep() sees where it is; taken back if it fails. */
static aclError
keep(struct rt_graph *graph, struct rt_branch *branch, const struct rt_task *task)
{
    struct rt_task *kept = &branch->tasks[branch->num];
    aclError rc = ACL_SUCCESS;

    *kept = *task;
    if (task->ops->keep != NULL)
        rc = task->ops->keep(kept, graph);
    if (rc == ACL_SUCCESS)
        branch->num++;
    return rc;
}

aclError
rt_capture_add(struct rt_graph *graph, struct rt_stream *stream, const struct rt_task *task)
{
    struct rt_branch *branch = &graph->branches[stream->branch];
    aclError rc = ACL_SUCCESS;

    if (graph->state == RT_GRAPH_INVALID)
        return rt_fail(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED,
                       "stream %u: nothing more can be captured into graph %u: %s; call "
                       "aclmdlRICaptureEnd",
                       stream->id, graph->id, graph->why);
    if (task->ops->clone == NULL)
        rc = rt_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                     "stream %u is being captured, and this cannot be: %s", stream->id,
                     task->ops->name);
    else if (!rt_graph_grow((void **)&branch->tasks, branch->num, &branch->room, sizeof *task))
        rc = rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    graph->adding_branch = stream->branch;
    if (rc == ACL_SUCCESS)
        rc = keep(graph, branch, task);
    if (rc != ACL_SUCCESS)
        rt_capture_invalidate(graph, "a task could not be recorded");
    return rc;
}

aclError
rt_capture_record(struct rt_stream *stream, const struct rt_task *task)
{
    struct rt_graph *graph = rt_capture_enter(stream);
    struct rt_task refused = *task;
    aclError rc;

    if (graph == NULL) { /* it has ended since the caller looked */
        rt_capture_leave();
        return rt_stream_enqueue(stream, task);
    }
    rc = rt_capture_add(graph, stream, task);
    rt_capture_leave();
    if (rc != ACL_SUCCESS && refused.ops->drop != NULL)
        refused.ops->drop(&refused, false);
    return rc;
}

aclError
rt_graph_add_mark(struct rt_graph *graph, struct rt_mark *mark)
{
    if (!rt_graph_grow((void **)&graph->marks, graph->mark_num, &graph->mark_room, sizeof mark))
        return rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    graph->marks[graph->mark_num++] = mark;
    return ACL_SUCCESS;
}

aclError
rt_graph_post(struct rt_graph *graph, const void *key, bool anew)
{
    struct rt_post post = {.key = key,
                           .branch = graph->adding_branch,
                           .at = graph->branches[graph->adding_branch].num};

    for (uint32_t i = 0; anew && i < graph->post_num; i++) {
        if (graph->posts[i].key == key) {
            graph->posts[i] = post;
            return ACL_SUCCESS;
        }
    }
    if (!rt_graph_grow((void **)&graph->posts, graph->post_num, &graph->post_room, sizeof post))
        return rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    graph->posts[graph->post_num++] = post;
    return ACL_SUCCESS;
}

aclError
rt_graph_follow(struct rt_graph *graph, const void *key, bool consume)
{
    uint32_t i = 0;

    while (i < graph->post_num && graph->posts[i].key != key)
        i++;
    if (i == graph->post_num)
        return ACL_SUCCESS;
    if (!rt_graph_grow((void **)&graph->edges, graph->edge_num, &graph->edge_room,
                       sizeof *graph->edges))
        return rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    graph->edges[graph->edge_num++] =
        (struct rt_edge){.from_branch = graph->posts[i].branch,
                         .from = graph->posts[i].at,
                         .to_branch = graph->adding_branch,
                         .to = graph->branches[graph->adding_branch].num};
    if (consume) {
        graph->post_num--;
        for (; i < graph->post_num; i++)
            graph->posts[i] = graph->posts[i + 1];
    }
    return ACL_SUCCESS;
}

static struct rt_graph *
who_recorded(const void *key)
{
    HC_LIST_EACH (node, &rt_captures) {
        struct rt_graph *graph = HC_CONTAINER(node, struct rt_graph, in_captures);

        for (uint32_t i = 0; i < graph->post_num; i++) {
            if (graph->posts[i].key == key)
                return graph;
        }
    }
    return NULL;
}

aclError
rt_capture_follow(struct rt_stream *stream, const struct rt_notify *notify)
{
    struct rt_graph *graph;
    aclError rc = ACL_SUCCESS;

    if (atomic_load_explicit(&rt_capture_num, memory_order_relaxed) == 0 || rt_on_aicpu())
        return ACL_SUCCESS; /* G6 */
    pthread_mutex_lock(&rt_capture_lock);
    graph = who_recorded(notify);
    if (graph != NULL)
        rc = rt_capture_join(graph, stream, false);
    pthread_mutex_unlock(&rt_capture_lock);
    return rc;
}

/* ---- begin and end ---- */

aclError
rt_capture_begin(struct rt_stream *stream, aclmdlRICaptureMode mode)
{
    struct rt_graph *graph, *own;
    aclError rc = rt_graph_new(stream->context, &graph);

    if (rc != ACL_SUCCESS)
        return rc;
    graph->mode = mode;
    graph->thread = rt_capture_thread();
    pthread_mutex_lock(&rt_capture_lock);
    own = capture_of(stream);
    if (own != NULL)
        rc = rt_fail(ACL_ERROR_RT_STREAM_CAPTURED,
                     "aclmdlRICaptureBegin: stream %u is being captured already, into graph %u",
                     stream->id, own->id);
    else
        rc = add_branch(graph, stream, false);
    if (rc == ACL_SUCCESS) {
        hc_list_push_back(&rt_captures, &graph->in_captures);
        atomic_fetch_add(&rt_capture_num, 1);
    }
    pthread_mutex_unlock(&rt_capture_lock);
    if (rc != ACL_SUCCESS)
        rt_graph_close(graph);
    rt_graph_release(graph);
    return rc;
}

/* How many tasks of each branch come before the end of branch 0: reached[branch_num]. */
static void
reach(const struct rt_graph *graph, uint32_t *reached)
{
    bool more = true;

    reached[0] = graph->branches[0].num;
    while (more) {
        more = false;
        for (uint32_t i = 0; i < graph->edge_num; i++) {
            const struct rt_edge *edge = &graph->edges[i];

            if (edge->to < reached[edge->to_branch] && edge->from >= reached[edge->from_branch]) {
                reached[edge->from_branch] = edge->from + 1;
                more = true;
            }
        }
    }
}

static aclError
check_joined(const struct rt_graph *graph)
{
    uint32_t *reached = hc_calloc(graph->branch_num, sizeof *reached);
    aclError rc = ACL_SUCCESS;

    if (reached == NULL)
        return rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    reach(graph, reached);
    for (uint32_t i = 1; i < graph->branch_num && rc == ACL_SUCCESS; i++) {
        if (graph->branches[i].must_join && reached[i] < graph->branches[i].num)
            rc = rt_fail(ACL_ERROR_RT_STREAM_UNJOINED,
                         "aclmdlRICaptureEnd: stream %u joined the capture and has not come back: "
                         "record an event on it after its last task and wait for that on stream %u",
                         graph->branches[i].stream->id, graph->branches[0].stream->id);
    }
    hc_free(reached);
    return rc;
}

/* Whether the caller may end the capture; *lost: if not, it is lost. Under the lock. */
static aclError
check_end(struct rt_graph *graph, struct rt_stream *stream, bool *lost)
{
    *lost = false;
    if (graph == NULL)
        return rt_fail(ACL_ERROR_RT_STREAM_NOT_CAPTURED,
                       "aclmdlRICaptureEnd: stream %u is not being captured", stream->id);
    if (graph->branches[0].stream != stream)
        return rt_fail(
            ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED,
            "aclmdlRICaptureEnd: the capture began on stream %u, not on stream %u, which "
            "only joined it",
            graph->branches[0].stream->id, stream->id);
    *lost = true;
    if (graph->mode != ACL_MODEL_RI_CAPTURE_MODE_RELAXED && graph->thread != rt_capture_thread())
        return rt_fail(
            ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD,
            "aclmdlRICaptureEnd: another thread began the capture of stream %u, which is "
            "lost: end it there, or begin it with mode RELAXED",
            stream->id);
    if (graph->state == RT_GRAPH_INVALID)
        return rt_fail(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED,
                       "aclmdlRICaptureEnd: the capture of stream %u became invalid: %s",
                       stream->id, graph->why);
    return check_joined(graph);
}

/* What only recording needs; after detach(), without the lock. */
static void
let_go(struct rt_graph *graph)
{
    for (uint32_t i = 0; i < graph->branch_num; i++) {
        rt_stream_release(graph->branches[i].stream);
        graph->branches[i].stream = NULL;
    }
    hc_free(graph->posts);
    hc_free(graph->edges);
    graph->posts = NULL;
    graph->edges = NULL;
}

aclError
rt_capture_end(struct rt_stream *stream, aclmdlRI *handle)
{
    struct rt_graph *graph;
    bool lost;
    aclError rc;

    pthread_mutex_lock(&rt_capture_lock);
    graph = capture_of(stream);
    rc = check_end(graph, stream, &lost);
    if (rc == ACL_SUCCESS || lost) {
        detach(graph);
        rt_graph_hold_more(graph);
    }
    pthread_mutex_unlock(&rt_capture_lock);
    if (rc != ACL_SUCCESS && !lost)
        return rc;
    let_go(graph);
    if (rc == ACL_SUCCESS)
        rc = rt_graph_make_runners(graph);
    if (rc == ACL_SUCCESS) {
        pthread_mutex_lock(&rt_capture_lock);
        graph->state = RT_GRAPH_READY;
        pthread_mutex_unlock(&rt_capture_lock);
        *handle = (aclmdlRI)(uintptr_t)graph->handle;
    } else {
        rt_graph_close(graph);
    }
    rt_graph_release(graph);
    return rc;
}

void
rt_capture_forget(struct rt_stream *stream)
{
    struct rt_graph *graph;
    bool ends = false;

    if (capture_of(stream) == NULL)
        return;
    pthread_mutex_lock(&rt_capture_lock);
    graph = capture_of(stream);
    if (graph != NULL) {
        ends = graph->branches[0].stream == stream;
        rt_capture_invalidate(graph, "a stream of it was destroyed");
    }
    if (ends) {
        detach(graph);
        rt_graph_hold_more(graph);
    }
    pthread_mutex_unlock(&rt_capture_lock);
    if (!ends)
        return;
    let_go(graph);
    rt_graph_close(graph);
    rt_graph_release(graph);
}

void
rt_capture_info(struct rt_stream *stream, aclmdlRICaptureStatus *status, aclmdlRI *handle)
{
    struct rt_graph *graph;

    *status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    *handle = NULL;
    if (capture_of(stream) == NULL)
        return;
    pthread_mutex_lock(&rt_capture_lock);
    graph = capture_of(stream);
    if (graph != NULL) {
        *status = graph->state == RT_GRAPH_INVALID ? ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED
                                                   : ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE;
        *handle = (aclmdlRI)(uintptr_t)graph->handle;
    }
    pthread_mutex_unlock(&rt_capture_lock);
}

aclError
rt_capture_add_stream(struct rt_graph *graph, struct rt_stream *stream)
{
    struct rt_graph *own;
    aclError rc;

    pthread_mutex_lock(&rt_capture_lock);
    own = capture_of(stream);
    if (graph->state == RT_GRAPH_READY)
        rc = rt_fail(ACL_ERROR_RT_STREAM_NOT_CAPTURED,
                     "rtStreamAddToModel: the capture of graph %u has ended", graph->id);
    else if (own != NULL && own != graph)
        rc = rt_fail(ACL_ERROR_RT_STREAM_MODEL,
                     "rtStreamAddToModel: stream %u takes part in the capture of graph %u",
                     stream->id, own->id);
    else
        rc = rt_capture_join(graph, stream, false);
    pthread_mutex_unlock(&rt_capture_lock);
    return rc;
}
