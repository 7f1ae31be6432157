/* SPDX-License-Identifier: BSD-3-Clause */
/* The graph itself: made by a capture, found by its handle, destroyed. The rules are in graph.h. */
#include "runtime/graph.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"

static void graph_fini(void *obj);

static struct hc_table graph_table = HC_TABLE("captured graph", HC_KIND_GRAPH, graph_fini);

static void
graph_fini(void *obj)
{
    struct rt_graph *graph = obj;

    hc_free(graph->branches);
    hc_free(graph->marks);
    hc_free(graph->posts);
    hc_free(graph->edges);
    rt_context_release(graph->context);
    pthread_mutex_destroy(&graph->push_lock);
    pthread_mutex_destroy(&graph->run_lock);
    hc_free(graph);
}

aclError
rt_graph_new(struct rt_context *context, struct rt_graph **out)
{
    struct rt_graph *graph = hc_zalloc(sizeof *graph);

    if (graph == NULL)
        return rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    pthread_mutex_init(&graph->push_lock, NULL);
    pthread_mutex_init(&graph->run_lock, NULL);
    hc_list_init(&graph->runs);
    hc_list_init(&graph->watchers);
    rt_context_hold_more(context);
    graph->context = context;
    graph->handle = hc_handle_reserve(&graph_table);
    if (graph->handle == 0) {
        graph_fini(graph);
        return rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    }
    graph->id = hc_handle_index(graph->handle);
    hc_handle_publish(&graph_table, graph->handle, graph);
    hc_handle_hold_more(&graph_table, graph->handle);
    *out = graph;
    return ACL_SUCCESS;
}

aclError
rt_graph_hold(aclmdlRI handle, const char *function, struct rt_graph **graph)
{
    uint64_t number = (uint64_t)(uintptr_t)handle;

    if (handle == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM,
                       "%s: modelRI is NULL: pass one from "
                       "aclmdlRICaptureEnd",
                       function);
    *graph = hc_handle_hold(&graph_table, number);
    if (*graph == NULL)
        return rt_fail(ACL_ERROR_RT_INVALID_HANDLE, "%s: %p is not a live graph: it is %s",
                       function, handle, hc_handle_guess(&graph_table, number));
    return ACL_SUCCESS;
}

void
rt_graph_hold_more(struct rt_graph *graph)
{
    hc_handle_hold_more(&graph_table, graph->handle);
}

void
rt_graph_release(struct rt_graph *graph)
{
    hc_handle_release(&graph_table, graph->handle);
}

bool
rt_graph_grow(void **array, uint32_t num, uint32_t *room, size_t size)
{
    uint32_t more = *room == 0 ? 16 : *room * 2;
    void *grown;

    if (num < *room)
        return true;
    grown = hc_realloc(*array, more * size);
    if (grown == NULL)
        return false;
    *array = grown;
    *room = more;
    return true;
}

aclError
rt_graph_make_runners(struct rt_graph *graph)
{
    char label[48];

    for (uint32_t i = 1; i < graph->branch_num; i++) {
        struct rt_branch *branch = &graph->branches[i];
        aclrtStream handle;
        aclError rc = rt_stream_new(branch->context, 0, 0, &handle);

        if (rc != ACL_SUCCESS)
            return rc;
        rc = rt_stream_hold(handle, &branch->runner);
        if (rc != ACL_SUCCESS) {
            branch->runner = NULL; /* its context is going, and took it along */
            return rc;
        }
        snprintf(label, sizeof label, "graph %u, branch %u", graph->id, i);
        rt_stream_set_label(branch->runner, label);
    }
    return ACL_SUCCESS;
}

/* ---- end ---- */

static void
branch_end(struct rt_branch *branch)
{
    if (branch->runner != NULL) {
        rt_stream_close(rt_stream_handle(branch->runner));
        rt_stream_release(branch->runner);
    }
    for (uint32_t i = 0; i < branch->num; i++) {
        if (branch->tasks[i].ops->drop != NULL)
            branch->tasks[i].ops->drop(&branch->tasks[i], false);
    }
    hc_free(branch->tasks);
    if (branch->stream != NULL)
        rt_stream_release(branch->stream);
    rt_context_release(branch->context);
}

/* Those who want to know are told, in the order of their registration. */
static void
tell_watchers(struct rt_graph *graph)
{
    struct hc_list *node;

    for (;;) {
        struct rt_graph_watcher *watcher;

        pthread_mutex_lock(&graph->run_lock);
        node = hc_list_pop_front(&graph->watchers);
        pthread_mutex_unlock(&graph->run_lock);
        if (node == NULL)
            return;
        watcher = HC_CONTAINER(node, struct rt_graph_watcher, link);
        watcher->fn(watcher->arg);
        hc_free(watcher);
    }
}

void
rt_graph_close(struct rt_graph *graph)
{
    (void)hc_handle_close(&graph_table, graph->handle);
    for (uint32_t i = 0; i < graph->branch_num; i++)
        branch_end(&graph->branches[i]);
    graph->branch_num = 0;
    for (uint32_t i = 0; i < graph->mark_num; i++)
        rt_mark_release(graph->marks[i]);
    graph->mark_num = 0;
    tell_watchers(graph);
}

static bool
has_no_run(void *arg)
{
    struct rt_graph *graph = arg;
    bool empty;

    pthread_mutex_lock(&graph->run_lock);
    empty = hc_list_empty(&graph->runs);
    pthread_mutex_unlock(&graph->run_lock);
    return empty;
}

static void
set_ending(struct rt_graph *graph, bool ending)
{
    pthread_mutex_lock(&graph->push_lock);
    graph->ending = ending;
    pthread_mutex_unlock(&graph->push_lock);
}

aclError
rt_graph_destroy(struct rt_graph *graph, int64_t patience_ms)
{
    bool other;

    pthread_mutex_lock(&graph->push_lock);
    other = graph->ending;
    graph->ending = true; /* from here on nobody queues a run */
    pthread_mutex_unlock(&graph->push_lock);
    if (other)
        return rt_fail(ACL_ERROR_RT_INVALID_HANDLE, "graph %u is being destroyed by another thread",
                       graph->id);
    if (!rt_wait_until(has_no_run, graph, hc_deadline_ms(patience_ms))) {
        set_ending(graph, false);
        return rt_fail(ACL_ERROR_RT_MODEL_RUNNING,
                       "graph %u cannot be destroyed: a run of it has not ended within %lld ms; "
                       "synchronise the stream that executes it first",
                       graph->id, (long long)patience_ms);
    }
    rt_graph_close(graph);
    return ACL_SUCCESS;
}
