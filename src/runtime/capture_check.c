/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a capture forbids. A call that is refused has done nothing. If it was about a stream or an
 * event of the capture, or came from the thread that records, the program has relied on something
 * that the recording cannot contain: the capture is invalid from then on.
 */
#include <stdio.h>

#include "runtime/graph.h"

static _Thread_local aclmdlRICaptureMode own_mode = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;

aclmdlRICaptureMode
rt_capture_swap_mode(aclmdlRICaptureMode mode)
{
    aclmdlRICaptureMode old = own_mode;

    own_mode = mode;
    return old;
}

static struct rt_graph *
capture_of(struct rt_stream *stream)
{
    return atomic_load_explicit(&stream->capture, memory_order_relaxed);
}

aclError
rt_capture_check_wait(struct rt_stream *stream, const char *function)
{
    struct rt_graph *graph;
    aclError rc = ACL_SUCCESS;
    char why[RT_GRAPH_WHY];

    if (capture_of(stream) == NULL || rt_on_aicpu())
        return ACL_SUCCESS;
    pthread_mutex_lock(&rt_capture_lock);
    graph = capture_of(stream);
    if (graph != NULL) {
        snprintf(why, sizeof why, "%s was called for a stream of it", function);
        rt_capture_invalidate(graph, why);
        rc = rt_fail(ACL_ERROR_RT_STREAM_CAPTURED,
                     "%s: stream %u is being captured into graph %u, its tasks do not run: end the "
                     "capture first; it is invalid now",
                     function, stream->id, graph->id);
    }
    pthread_mutex_unlock(&rt_capture_lock);
    return rc;
}

static bool
has_context(const struct rt_graph *graph, const struct rt_context *context)
{
    for (uint32_t i = 0; i < graph->branch_num; i++) {
        if (graph->branches[i].context == context)
            return true;
    }
    return false;
}

aclError
rt_capture_check_context(struct rt_context *context, const char *function)
{
    aclError rc = ACL_SUCCESS;
    char why[RT_GRAPH_WHY];

    if (atomic_load(&rt_capture_num) == 0 || rt_on_aicpu())
        return ACL_SUCCESS;
    snprintf(why, sizeof why, "%s was called for its device", function);
    pthread_mutex_lock(&rt_capture_lock);
    HC_LIST_EACH (node, &rt_captures) {
        struct rt_graph *graph = HC_CONTAINER(node, struct rt_graph, in_captures);

        if (rc != ACL_SUCCESS || !has_context(graph, context))
            continue;
        rt_capture_invalidate(graph, why);
        rc =
            rt_fail(ACL_ERROR_RT_STREAM_CAPTURED,
                    "%s: stream %u of the context is being captured, its tasks do not run: end the "
                    "capture first; it is invalid now",
                    function, graph->branches[0].stream->id);
    }
    pthread_mutex_unlock(&rt_capture_lock);
    return rc;
}

/* Whether the capture forbids an unsafe call to this thread, whose context is `context`. */
static bool
forbids(const struct rt_graph *graph, const struct rt_context *context)
{
    if (graph->mode == ACL_MODEL_RI_CAPTURE_MODE_RELAXED)
        return false;
    if (graph->thread == rt_capture_thread())
        return true;
    return graph->mode == ACL_MODEL_RI_CAPTURE_MODE_GLOBAL &&
           own_mode == ACL_MODEL_RI_CAPTURE_MODE_GLOBAL && has_context(graph, context);
}

aclError
rt_capture_check_unsafe(const char *function)
{
    struct rt_context *context;
    aclError rc = ACL_SUCCESS;
    char why[RT_GRAPH_WHY];

    if (atomic_load_explicit(&rt_capture_num, memory_order_relaxed) == 0 || rt_on_aicpu() ||
        own_mode == ACL_MODEL_RI_CAPTURE_MODE_RELAXED)
        return ACL_SUCCESS;
    rc = rt_context_current(&context);
    if (rc != ACL_SUCCESS)
        return rc;
    snprintf(why, sizeof why, "%s was called on the thread that records", function);
    pthread_mutex_lock(&rt_capture_lock);
    HC_LIST_EACH (node, &rt_captures) {
        struct rt_graph *graph = HC_CONTAINER(node, struct rt_graph, in_captures);

        if (rc != ACL_SUCCESS || !forbids(graph, context))
            continue;
        if (graph->thread == rt_capture_thread())
            rt_capture_invalidate(graph, why);
        rc = rt_fail(ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT,
                     "%s acts at once, which the capture of stream %u forbids to %s: end the "
                     "capture first, or exchange this thread's mode for RELAXED",
                     function, graph->branches[0].stream->id,
                     graph->thread == rt_capture_thread() ? "the thread that records"
                                                          : "all threads of its context");
    }
    pthread_mutex_unlock(&rt_capture_lock);
    rt_context_release(context);
    return rc;
}

aclError
rt_capture_check_block(struct rt_stream *stream, const char *function)
{
    struct rt_graph *graph;
    aclError rc = ACL_SUCCESS;

    if (capture_of(stream) == NULL || rt_on_aicpu())
        return rt_capture_check_unsafe(function);
    pthread_mutex_lock(&rt_capture_lock);
    graph = capture_of(stream);
    if (graph != NULL) {
        rt_capture_invalidate(graph, "a copy from or to pageable host memory was queued");
        rc = rt_fail(ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC,
                     "%s: stream %u is being captured, and a copy from or to pageable host memory "
                     "would wait for it: use memory from aclrtMallocHost",
                     function, stream->id);
    }
    pthread_mutex_unlock(&rt_capture_lock);
    return rc;
}
