/* SPDX-License-Identifier: BSD-3-Clause */
/* aclmdlRI*: captures, and the graphs they make. Check the arguments, turn handles into objects. */
#include <stdio.h>
#include <string.h>

#include "acl/acl_rt.h"
#include "base/alloc.h"
#include "runtime/error.h"
#include "runtime/graph.h"
#include "runtime/rt_external.h"

#define DESTROY_PATIENCE_MS 10000 /* as the original */

/* Streams that only device code uses. */
#define NEVER_CAPTURED                                                                             \
    (ACL_STREAM_PERSISTENT | ACL_STREAM_CPU_SCHEDULE | ACL_STREAM_DEVICE_USE_ONLY)

static bool
is_mode(aclmdlRICaptureMode mode)
{
    return mode == ACL_MODEL_RI_CAPTURE_MODE_GLOBAL ||
           mode == ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL ||
           mode == ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
}

static aclError
bad_mode(const char *function, aclmdlRICaptureMode mode)
{
    return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                   "%s: there is no mode %d; pass ACL_MODEL_RI_CAPTURE_MODE_GLOBAL (0), "
                   "_THREAD_LOCAL (1) or _RELAXED (2)",
                   function, (int)mode);
}

/* ---- captures ---- */

/* What can never be captured, whatever its state. */
static aclError
check_stream(const struct rt_stream *stream, const char *function)
{
    if (stream->context->default_stream == stream->handle)
        return rt_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                       "%s: the default stream cannot be captured: use one from aclrtCreateStream",
                       function);
    if ((stream->flags & NEVER_CAPTURED) != 0)
        return rt_fail(ACL_ERROR_RT_INTERNAL_ERROR,
                       "%s: stream %u was created for device code only (flags 0x%x) and cannot be "
                       "captured",
                       function, stream->id, stream->flags);
    return ACL_SUCCESS;
}

aclError
aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode)
{
    struct rt_stream *held;
    aclError rc;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (stream == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM,
                       "aclmdlRICaptureBegin: stream is NULL; the default stream cannot be "
                       "captured");
    if (!is_mode(mode))
        return bad_mode("aclmdlRICaptureBegin", mode);
    rc = rt_stream_hold_mine(stream, &held);
    if (rc != ACL_SUCCESS)
        return rc;
    rc = check_stream(held, "aclmdlRICaptureBegin");
    if (rc == ACL_SUCCESS)
        rc = rt_capture_begin(held, mode);
    rt_stream_release(held);
    return rc;
}

aclError
aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI *modelRI)
{
    struct rt_stream *held;
    aclError rc;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (stream == NULL || modelRI == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclmdlRICaptureEnd: %s is NULL",
                       stream == NULL ? "stream" : "modelRI");
    rc = rt_stream_hold(stream, &held);
    if (rc != ACL_SUCCESS)
        return rc;
    rc = rt_capture_end(held, modelRI);
    rt_stream_release(held);
    return rc;
}

/* Libraries ask this before every operation: a stream that is not captured costs one look. */
aclError
aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus *status, aclmdlRI *modelRI)
{
    aclmdlRICaptureStatus found;
    struct rt_stream *held;
    aclmdlRI graph;

    if (stream == NULL || (status == NULL && modelRI == NULL))
        return rt_fail(ACL_ERROR_INVALID_PARAM, "cannot tell about a capture: %s is NULL",
                       stream == NULL ? "stream" : "status and model");
    held = hc_handle_hold(&rt_stream_table, (uint64_t)(uintptr_t)stream);
    if (held == NULL)
        return rt_set_last_error(ACL_ERROR_RT_INVALID_HANDLE);
    rt_capture_info(held, &found, &graph);
    rt_stream_release(held);
    if (status != NULL)
        *status = found;
    if (modelRI != NULL)
        *modelRI = graph;
    return ACL_SUCCESS;
}

aclError
aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode *mode)
{
    int32_t device;
    aclError rc;

    if (mode == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclmdlRICaptureThreadExchangeMode: mode is NULL");
    if (!is_mode(*mode))
        return bad_mode("aclmdlRICaptureThreadExchangeMode", *mode);
    rc = rt_current_device(&device);
    if (rc != ACL_SUCCESS)
        return rc;
    *mode = rt_capture_swap_mode(*mode);
    return ACL_SUCCESS;
}

rtError_t
rtStreamAddToModel(rtStream_t stm, rtModel_t captureMdl)
{
    struct rt_stream *stream;
    struct rt_graph *graph;
    aclError rc;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (stm == NULL || captureMdl == NULL)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "rtStreamAddToModel: %s is NULL",
                       stm == NULL ? "stm" : "captureMdl");
    rc = rt_stream_hold_mine(stm, &stream);
    if (rc != ACL_SUCCESS)
        return rc;
    rc = check_stream(stream, "rtStreamAddToModel");
    if (rc == ACL_SUCCESS)
        rc = rt_graph_hold(captureMdl, "rtStreamAddToModel", &graph);
    if (rc == ACL_SUCCESS) {
        rc = rt_capture_add_stream(graph, stream);
        rt_graph_release(graph);
    }
    rt_stream_release(stream);
    return rc;
}

/* ---- graphs ---- */

/* A graph that can be executed and destroyed, held. */
static aclError
hold(aclmdlRI handle, const char *function, struct rt_graph **graph)
{
    aclError rc;

    if (!rt_enter())
        return RT_NOT_HERE;
    rc = rt_graph_hold(handle, function, graph);
    if (rc != ACL_SUCCESS || rt_capture_is_over(*graph))
        return rc;
    rc = rt_fail(ACL_ERROR_RT_MODEL_CAPTURED,
                 "%s: graph %u is still being captured: call aclmdlRICaptureEnd first", function,
                 (*graph)->id);
    rt_graph_release(*graph);
    return rc;
}

aclError
aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream stream)
{
    struct rt_graph *graph;
    struct rt_stream *held;
    aclError rc = hold(modelRI, "aclmdlRIExecuteAsync", &graph);

    if (rc != ACL_SUCCESS)
        return rc;
    rc = rt_stream_hold_mine(stream, &held);
    if (rc == ACL_SUCCESS) {
        rc = rt_capture_check_wait(held, "aclmdlRIExecuteAsync");
        if (rc == ACL_SUCCESS)
            rc = rt_graph_execute(graph, held);
        rt_stream_release(held);
    }
    rt_graph_release(graph);
    return rc;
}

aclError
aclmdlRIExecute(aclmdlRI modelRI, int32_t timeoutMs)
{
    struct rt_graph *graph;
    aclError rc = hold(modelRI, "aclmdlRIExecute", &graph);

    if (rc != ACL_SUCCESS)
        return rc;
    rc = rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                 "aclmdlRIExecute: graph %u was captured (timeout %d ms): queue a run with "
                 "aclmdlRIExecuteAsync and synchronise its stream",
                 graph->id, timeoutMs);
    rt_graph_release(graph);
    return rc;
}

aclError
aclmdlRIDestroy(aclmdlRI modelRI)
{
    struct rt_graph *graph;
    aclError rc = hold(modelRI, "aclmdlRIDestroy", &graph);

    if (rc != ACL_SUCCESS)
        return rc;
    rc = rt_graph_destroy(graph, DESTROY_PATIENCE_MS);
    rt_graph_release(graph);
    return rc;
}

aclError
aclmdlRIAbort(aclmdlRI modelRI)
{
    struct rt_graph *graph;
    aclError rc = hold(modelRI, "aclmdlRIAbort", &graph);

    if (rc != ACL_SUCCESS)
        return rc;
    rt_graph_abort(graph);
    rt_graph_release(graph);
    return ACL_SUCCESS;
}

/* ---- what a graph is called ---- */

aclError
aclmdlRIGetId(aclmdlRI modelRI, uint32_t *modelRIId)
{
    struct rt_graph *graph;
    aclError rc;

    if (modelRIId == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclmdlRIGetId: modelRIId is NULL");
    rc = rt_graph_hold(modelRI, "aclmdlRIGetId", &graph);
    if (rc != ACL_SUCCESS)
        return rc;
    *modelRIId = graph->id;
    rt_graph_release(graph);
    return ACL_SUCCESS;
}

aclError
aclmdlRISetName(aclmdlRI modelRI, const char *name)
{
    struct rt_graph *graph;
    aclError rc;

    if (name == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclmdlRISetName: name is NULL");
    if (strlen(name) >= RT_GRAPH_NAME)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "aclmdlRISetName: the name has %zu characters; at most %u are kept",
                       strlen(name), RT_GRAPH_NAME - 1);
    rc = rt_graph_hold(modelRI, "aclmdlRISetName", &graph);
    if (rc != ACL_SUCCESS)
        return rc;
    pthread_mutex_lock(&graph->run_lock);
    strcpy(graph->name, name);
    pthread_mutex_unlock(&graph->run_lock);
    rt_graph_release(graph);
    return ACL_SUCCESS;
}

aclError
aclmdlRIGetName(aclmdlRI modelRI, uint32_t maxLen, char *name)
{
    struct rt_graph *graph;
    aclError rc;

    if (name == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclmdlRIGetName: name is NULL");
    rc = rt_graph_hold(modelRI, "aclmdlRIGetName", &graph);
    if (rc != ACL_SUCCESS)
        return rc;
    pthread_mutex_lock(&graph->run_lock);
    if (strlen(graph->name) >= maxLen)
        rc = rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                     "aclmdlRIGetName: maxLen is %u, but the name needs %zu", maxLen,
                     strlen(graph->name) + 1);
    else
        strcpy(name, graph->name);
    pthread_mutex_unlock(&graph->run_lock);
    rt_graph_release(graph);
    return rc;
}

/* ---- callbacks at its end ---- */

aclError
aclmdlRIDestroyRegisterCallback(aclmdlRI modelRI, aclrtCallback func, void *userData)
{
    struct rt_graph_watcher *watcher;
    struct rt_graph *graph;
    aclError rc;

    if (func == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclmdlRIDestroyRegisterCallback: func is NULL");
    rc = rt_graph_hold(modelRI, "aclmdlRIDestroyRegisterCallback", &graph);
    if (rc != ACL_SUCCESS)
        return rc;
    watcher = hc_zalloc(sizeof *watcher);
    if (watcher == NULL) {
        rc = rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    } else {
        watcher->fn = func;
        watcher->arg = userData;
        pthread_mutex_lock(&graph->run_lock);
        hc_list_push_back(&graph->watchers, &watcher->link);
        pthread_mutex_unlock(&graph->run_lock);
    }
    rt_graph_release(graph);
    return rc;
}

aclError
aclmdlRIDestroyUnregisterCallback(aclmdlRI modelRI, aclrtCallback func)
{
    struct rt_graph_watcher *found = NULL;
    struct rt_graph *graph;
    aclError rc;

    if (func == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclmdlRIDestroyUnregisterCallback: func is NULL");
    rc = rt_graph_hold(modelRI, "aclmdlRIDestroyUnregisterCallback", &graph);
    if (rc != ACL_SUCCESS)
        return rc;
    pthread_mutex_lock(&graph->run_lock);
    HC_LIST_EACH_SAFE (node, &graph->watchers) {
        if (found == NULL && HC_CONTAINER(node, struct rt_graph_watcher, link)->fn == func) {
            found = HC_CONTAINER(node, struct rt_graph_watcher, link);
            hc_list_remove(node);
        }
    }
    pthread_mutex_unlock(&graph->run_lock);
    if (found == NULL)
        rc = rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                     "aclmdlRIDestroyUnregisterCallback: graph %u has no such callback", graph->id);
    hc_free(found);
    rt_graph_release(graph);
    return rc;
}
