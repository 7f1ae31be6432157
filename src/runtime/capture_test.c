/* SPDX-License-Identifier: BSD-3-Clause */
/* What a capture records, who takes part, and what it forbids. Handle tables stay for the process'
 * lifetime. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#include "runtime/graph.h"
#include "runtime/graph_test.h"
#include "runtime/rt_external.h"

static aclmdlRICaptureStatus
status_of(aclrtStream stream)
{
    aclmdlRICaptureStatus status = (aclmdlRICaptureStatus)99;

    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureGetInfo(stream, &status, NULL));
    return status;
}

/* The end fails with `code`, and the stream is an ordinary one afterwards. */
static void
end_fails(aclError code)
{
    aclmdlRI graph = NULL;

    EXPECT_EQ(code, aclmdlRICaptureEnd(a, &graph));
    EXPECT_NULL(graph);
    EXPECT_EQ(ACL_MODEL_RI_CAPTURE_STATUS_NONE, status_of(a));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(a));
}

/* ---- what is recorded ---- */

static atomic_int host_calls;

static void
count_host_call(void *arg)
{
    (void)arg;
    atomic_fetch_add(&host_calls, 1);
}

TEST_WITH(what_is_captured_does_not_run_until_it_is_executed_and_then_as_often, TEST_KEEPS_MEMORY)
{
    aclmdlRI graph;

    begin();
    host[0] = 5;
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(a, GLOBAL));
    EXPECT_EQ(ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE, status_of(a));
    EXPECT_EQ(ACL_MODEL_RI_CAPTURE_STATUS_NONE, status_of(b));
    EXPECT_EQ(ACL_SUCCESS, aclrtMemcpyAsync(device, 8, host, 8, ACL_MEMCPY_HOST_TO_DEVICE, a));
    EXPECT_EQ(ACL_SUCCESS, queue_add_one(device, a));
    EXPECT_EQ(ACL_SUCCESS, aclrtReduceAsync(device + 1, device, 8, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM,
                                            ACL_INT64, a, NULL));
    EXPECT_EQ(ACL_SUCCESS, aclrtMemsetAsync(device + 2, 8, 1, 8, a));
    EXPECT_EQ(ACL_SUCCESS, aclrtValueWrite(device + 3, 77, 0, a));
    EXPECT_EQ(ACL_SUCCESS, aclrtValueWait(device + 3, 77, ACL_STREAM_WAIT_VALUE_EQ, a));
    EXPECT_EQ(ACL_SUCCESS, aclrtLaunchHostFunc(a, count_host_call, NULL));
    EXPECT_EQ(ACL_SUCCESS, aclrtCmoAsync(device, 8, ACL_RT_CMO_TYPE_PREFETCH, a));
    EXPECT_EQ(ACL_SUCCESS,
              aclrtMemcpyAsync(host + 1, 8, device + 1, 8, ACL_MEMCPY_DEVICE_TO_HOST, a));
    usleep(20000);
    graph = end_capture();
    EXPECT_EQ(ACL_MODEL_RI_CAPTURE_STATUS_NONE, status_of(a));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(a));
    EXPECT_EQ(0, device[0]);
    EXPECT_EQ(0, atomic_load(&host_calls));
    run_on(graph, a);
    EXPECT_EQ(6, host[1]);
    EXPECT_EQ(0x0101010101010101, device[2]);
    EXPECT_EQ(77, device[3]);
    host[0] = 10; /* the copy reads it when it runs */
    run_on(graph, b);
    EXPECT_EQ(6 + 11, host[1]);
    for (int i = 0; i < 50; i++)
        EXPECT_EQ(ACL_SUCCESS, aclmdlRIExecuteAsync(graph, b));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(b));
    EXPECT_EQ(6 + 11 + 50 * 11, host[1]);
    EXPECT_EQ(52, atomic_load(&host_calls));
    run_on(graph, NULL);
    EXPECT_EQ(6 + 51 * 11 + 11, host[1]);
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIDestroy(graph));
    end();
}

/* [value, address of value in the copy, seen] */
struct told {
    uint64_t value;
    uint64_t *address;
    uint64_t *seen;
};

static uint32_t
change_arguments(void *arg)
{
    struct told *told = arg;

    *told->seen = *told->seen * 10 + told->value;
    told->value = 9; /* the next run has a copy of its own */
    return 0;
}

TEST_WITH(each_run_has_a_fresh_copy_of_the_arguments, TEST_KEEPS_MEMORY)
{
    struct told told = {.value = 3, .seen = NULL};
    aclmdlRI graph;

    begin();
    told.seen = device;
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(a, GLOBAL));
    EXPECT_EQ(ACL_SUCCESS,
              HcommLaunchEmbedded(change_arguments, "change", 1, a, &told, sizeof told));
    told.value = 7;
    told.seen = NULL;
    graph = end_capture();
    for (int i = 0; i < 3; i++)
        run_on(graph, a);
    EXPECT_EQ(333, device[0]);
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIDestroy(graph));
    end();
}

TEST_WITH(a_copy_through_a_buffer_keeps_what_the_source_was, TEST_KEEPS_MEMORY)
{
    aclmdlRI graph;

    begin();
    host[0] = 5;
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(a, GLOBAL));
    EXPECT_EQ(ACL_SUCCESS,
              aclrtMemcpyAsync(device, 8, host, 8, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, a));
    graph = end_capture();
    host[0] = 6;
    for (int i = 0; i < 2; i++) {
        device[0] = 0;
        run_on(graph, a);
        EXPECT_EQ(5, device[0]);
    }
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIDestroy(graph));
    end();
}

TEST_WITH(an_empty_graph_runs, TEST_KEEPS_MEMORY)
{
    aclmdlRI graph;

    begin();
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(a, GLOBAL));
    graph = end_capture();
    run_on(graph, a);
    run_on(graph, b);
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIDestroy(graph));
    end();
}

static void
add_two(void *arg)
{
    (void)arg;
    device[0] += 2;
}

static sem_t subscribed;

static void *
serve_callbacks(void *arg)
{
    EXPECT_EQ(ACL_SUCCESS, aclrtSubscribeReport((uint64_t)pthread_self(), a));
    EXPECT_EQ(0, sem_post(&subscribed));
    for (int i = 0; i < *(int *)arg; i++)
        EXPECT_EQ(ACL_SUCCESS, aclrtProcessReport(10000));
    return NULL;
}

TEST_WITH(a_captured_callback_runs_on_the_thread_of_its_stream, TEST_KEEPS_MEMORY)
{
    aclmdlRI graph;
    pthread_t thread;
    int times = 3;

    begin();
    EXPECT_EQ(ACL_SUCCESS, aclrtSubscribeReport((uint64_t)pthread_self(), a));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(a, GLOBAL));
    EXPECT_EQ(ACL_SUCCESS, aclrtLaunchCallback(add_two, NULL, ACL_CALLBACK_BLOCK, a));
    graph = end_capture();
    EXPECT_EQ(ACL_SUCCESS, aclrtUnSubscribeReport((uint64_t)pthread_self(), a));
    EXPECT_EQ(0, sem_init(&subscribed, 0, 0));
    EXPECT_EQ(0, pthread_create(&thread, NULL, serve_callbacks, &times));
    EXPECT_EQ(0, sem_wait(&subscribed));
    run_on(graph, a);
    run_on(graph, b);
    run_on(graph, b);
    EXPECT_EQ(0, pthread_join(thread, NULL));
    EXPECT_EQ(6, device[0]);
    EXPECT_EQ(ACL_SUCCESS, aclrtUnSubscribeReport((uint64_t)thread, a));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIDestroy(graph));
    end();
}

TEST_WITH(a_batch_and_a_capture_keep_the_order_of_the_calls, TEST_KEEPS_MEMORY)
{
    struct rt_stream *stream;
    struct rt_task task;
    aclmdlRI graph;

    begin();
    EXPECT_EQ(ACL_SUCCESS, rt_stream_hold(a, &stream));
    EXPECT_TRUE(rt_batch_begin());
    rt_task_set(&task, device, 1, 8);
    EXPECT_EQ(ACL_SUCCESS,
              rt_stream_push(stream, &task)); /* before the capture: an ordinary task */
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(a, GLOBAL));
    rt_task_set(&task, device + 1, 1, 8);
    EXPECT_EQ(ACL_SUCCESS, rt_stream_push(stream, &task));
    graph = end_capture();
    test_expect_error("inside a batch");
    EXPECT_EQ(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclmdlRIExecuteAsync(graph, a));
    EXPECT_EQ(ACL_SUCCESS, rt_batch_end());
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(a));
    EXPECT_EQ(0x0101010101010101, device[0]);
    EXPECT_EQ(0, device[1]);
    run_on(graph, a);
    EXPECT_EQ(0x0101010101010101, device[1]);
    rt_stream_release(stream);
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIDestroy(graph));
    end();
}

/* ---- several streams ---- */

TEST_WITH(streams_that_are_joined_by_events_take_part_in_every_run, TEST_KEEPS_MEMORY)
{
    aclrtEvent fork, join;
    aclmdlRI graph;

    begin();
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateEvent(&fork));
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateEventWithFlag(&join, ACL_EVENT_SYNC));
    graph = capture_fork(fork, join);
    EXPECT_EQ(ACL_MODEL_RI_CAPTURE_STATUS_NONE, status_of(b));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyEvent(fork)); /* the graph has what it needs */
    for (uint64_t i = 1; i <= 20; i++) {
        run_on(graph, i % 2 == 0 ? a : c);
        EXPECT_EQ(2 * i, device[0]);
    }
    for (int i = 0; i < 20; i++)
        EXPECT_EQ(ACL_SUCCESS, aclmdlRIExecuteAsync(graph, i % 2 == 0 ? a : c));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeDevice());
    EXPECT_EQ(80, device[0]);
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIDestroy(graph));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyEvent(join));
    end();
}

TEST_WITH(runs_of_one_graph_on_several_streams_do_not_overlap, TEST_KEEPS_MEMORY)
{
    aclrtEvent fork, join;
    aclrtNotify gate;
    aclmdlRI graph;

    begin();
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateNotify(&gate, 0));
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateEvent(&fork));
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateEvent(&join));
    graph = capture_fork(fork, join);
    EXPECT_EQ(ACL_SUCCESS, aclrtWaitAndResetNotify(gate, a, 60));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIExecuteAsync(graph, a));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIExecuteAsync(graph, b)); /* behind the one on a */
    EXPECT_EQ(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(b, 30));
    EXPECT_EQ(0, device[0]);
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordNotify(gate, c));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(b));
    EXPECT_EQ(4, device[0]);
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(a));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIDestroy(graph));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyEvent(fork));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyEvent(join));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyNotify(gate));
    end();
}

TEST_WITH(a_flag_event_is_reset_in_each_run_as_it_was_captured, TEST_KEEPS_MEMORY)
{
    aclrtEvent fork, back;
    aclmdlRI graph;

    begin();
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateEventWithFlag(&fork, ACL_EVENT_SYNC));
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateEventWithFlag(&back, ACL_EVENT_SYNC));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(a, GLOBAL));
    for (int i = 0; i < 3; i++) {
        EXPECT_EQ(ACL_SUCCESS, queue_add_one(device, a));
        EXPECT_EQ(ACL_SUCCESS, aclrtRecordEvent(fork, a));
        EXPECT_EQ(ACL_SUCCESS, aclrtStreamWaitEvent(b, fork));
        EXPECT_EQ(ACL_SUCCESS, aclrtResetEvent(fork, b));
        EXPECT_EQ(ACL_SUCCESS,
                  aclrtMemcpyAsync(device + 1 + i, 8, device, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, b));
        EXPECT_EQ(ACL_SUCCESS, aclrtRecordEvent(back, b));
        EXPECT_EQ(ACL_SUCCESS, aclrtStreamWaitEvent(a, back));
        EXPECT_EQ(ACL_SUCCESS, aclrtResetEvent(back, a));
    }
    graph = end_capture();
    for (uint64_t run = 0; run < 3; run++) {
        run_on(graph, a);
        for (uint64_t i = 0; i < 3; i++)
            EXPECT_EQ(run * 3 + i + 1, device[1 + i]);
    }
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIDestroy(graph));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyEvent(fork));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyEvent(back));
    end();
}

TEST_WITH(an_external_event_joins_a_graph_to_the_outside, TEST_KEEPS_MEMORY)
{
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_COMPLETE;
    aclrtEvent go, done;
    aclmdlRI graph;

    begin();
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateEventWithFlag(&go, ACL_EVENT_EXTERNAL));
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateEventWithFlag(&done, ACL_EVENT_EXTERNAL));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(a, GLOBAL));
    EXPECT_EQ(ACL_SUCCESS, aclrtStreamWaitEvent(a, go));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetEvent(go, a));
    EXPECT_EQ(ACL_SUCCESS, queue_add_one(device, a));
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordEvent(done, a));
    EXPECT_EQ(ACL_SUCCESS, aclrtQueryEventStatus(done, &status)); /* has a state all the time */
    EXPECT_EQ(ACL_EVENT_RECORDED_STATUS_NOT_READY, status);
    graph = end_capture();
    for (uint64_t run = 1; run <= 3; run++) {
        EXPECT_EQ(ACL_SUCCESS, aclmdlRIExecuteAsync(graph, a));
        EXPECT_EQ(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(a, 10));
        EXPECT_EQ(ACL_SUCCESS, aclrtRecordEvent(go, b));
        EXPECT_EQ(ACL_SUCCESS, aclrtStreamWaitEvent(c, done));
        EXPECT_EQ(ACL_SUCCESS, aclrtResetEvent(done, c));
        EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(c));
        EXPECT_EQ(run, device[0]);
    }
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(a));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIDestroy(graph));
    EXPECT_EQ(ACL_SUCCESS,
              aclrtQueryEventStatus(done, &status)); /* the graph's end changed nothing */
    EXPECT_EQ(ACL_EVENT_RECORDED_STATUS_NOT_READY, status);
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyEvent(go));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyEvent(done));
    end();
}

TEST_WITH(a_stream_can_be_added_to_a_capture_by_hand, TEST_KEEPS_MEMORY)
{
    aclmdlRICaptureStatus status;
    aclrtNotify there, back;
    aclmdlRI graph = NULL;

    begin();
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateNotify(&there, 0));
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateNotify(&back, 0));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(a, GLOBAL));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureGetInfo(a, &status, &graph));
    EXPECT_EQ(ACL_SUCCESS, rtStreamAddToModel(b, graph));
    EXPECT_EQ(ACL_SUCCESS, rtStreamAddToModel(b, graph)); /* it is in, and stays */
    EXPECT_EQ(ACL_SUCCESS, queue_add_one(device, a));
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordNotify(there, a));
    EXPECT_EQ(ACL_SUCCESS, aclrtWaitAndResetNotify(there, b, 60));
    EXPECT_EQ(ACL_SUCCESS,
              aclrtMemcpyAsync(device + 1, 8, device, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, b));
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordNotify(back, b));
    EXPECT_EQ(ACL_SUCCESS, queue_add_one(device + 2, b)); /* nobody waits for that but the run */
    EXPECT_EQ(ACL_SUCCESS, aclrtWaitAndResetNotify(back, a, 60));
    EXPECT_EQ(graph, end_capture());
    for (uint64_t run = 1; run <= 5; run++) {
        run_on(graph, a);
        EXPECT_EQ(run, device[1]);
        EXPECT_EQ(run, device[2]);
    }
    test_expect_error("the capture of graph");
    EXPECT_EQ(ACL_ERROR_RT_STREAM_NOT_CAPTURED, rtStreamAddToModel(b, graph));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIDestroy(graph));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyNotify(there));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyNotify(back));
    end();
}

TEST_WITH(a_branch_may_be_on_another_device, TEST_KEEPS_MEMORY)
{
    aclrtEvent fork, join;
    aclrtStream far;
    aclmdlRI graph;

    begin();
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateEvent(&fork));
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateEvent(&join));
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(1));
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateStream(&far));
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(a, GLOBAL));
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordEvent(fork, a));
    EXPECT_EQ(ACL_SUCCESS, aclrtStreamWaitEvent(far, fork));
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordEvent(join, far));
    EXPECT_EQ(ACL_SUCCESS, aclrtStreamWaitEvent(a, join));
    EXPECT_EQ(ACL_SUCCESS, queue_add_one(device, a));
    graph = end_capture();
    run_on(graph, a);
    run_on(graph, a);
    EXPECT_EQ(2, device[0]);
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(1));
    test_expect_error("runs there only");
    EXPECT_EQ(ACL_ERROR_RT_STREAM_CONTEXT, aclmdlRIExecuteAsync(graph, far));
    test_expect_error("belongs to another context");
    EXPECT_EQ(ACL_ERROR_RT_STREAM_CONTEXT, aclmdlRIExecuteAsync(graph, a));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(far));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIDestroy(graph));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(1));
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyEvent(fork));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyEvent(join));
    end();
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
}

TEST_WITH(a_stream_that_does_not_come_back_loses_the_capture, TEST_KEEPS_MEMORY)
{
    aclrtEvent fork, join;

    begin();
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateEvent(&fork));
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateEvent(&join));
    test_expect_error("has not come back");
    for (int tail = 0; tail < 2; tail++) {
        EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(a, GLOBAL));
        EXPECT_EQ(ACL_SUCCESS, aclrtRecordEvent(fork, a));
        EXPECT_EQ(ACL_SUCCESS, aclrtStreamWaitEvent(b, fork));
        if (tail) { /* it came back, and went on */
            EXPECT_EQ(ACL_SUCCESS, aclrtRecordEvent(join, b));
            EXPECT_EQ(ACL_SUCCESS, aclrtStreamWaitEvent(a, join));
            EXPECT_EQ(ACL_SUCCESS, queue_add_one(device, b));
        }
        end_fails(ACL_ERROR_RT_STREAM_UNJOINED);
        EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(b));
    }
    EXPECT_EQ(0, device[0]);
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyEvent(fork));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyEvent(join));
    end();
}

TEST_WITH(a_stream_may_come_back_by_way_of_another, TEST_KEEPS_MEMORY)
{
    aclrtEvent event;
    aclmdlRI graph;

    begin();
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateEvent(&event));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(a, GLOBAL));
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordEvent(event, a));
    EXPECT_EQ(ACL_SUCCESS, aclrtStreamWaitEvent(b, event));
    EXPECT_EQ(ACL_SUCCESS, queue_add_one(device, b));
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordEvent(event, b));
    EXPECT_EQ(ACL_SUCCESS, aclrtStreamWaitEvent(c, event));
    EXPECT_EQ(ACL_SUCCESS, queue_add_one(device, c));
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordEvent(event, c));
    EXPECT_EQ(ACL_SUCCESS, aclrtStreamWaitEvent(a, event));
    graph = end_capture();
    run_on(graph, b);
    run_on(graph, b);
    EXPECT_EQ(4, device[0]);
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIDestroy(graph));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyEvent(event));
    end();
}

TEST_WITH(the_default_stream_and_another_capture_cannot_join, TEST_KEEPS_MEMORY)
{
    aclrtEvent event;
    aclmdlRI graph = NULL;

    begin();
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateEvent(&event));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(a, GLOBAL));
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordEvent(event, a));
    test_expect_error("the default stream cannot take part");
    EXPECT_EQ(ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT, aclrtStreamWaitEvent(NULL, event));
    EXPECT_EQ(ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED, status_of(a));
    test_expect_error("became invalid: the default stream waited");
    end_fails(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);

    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(a, GLOBAL));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(b, GLOBAL));
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordEvent(event, a));
    test_expect_error("begin one capture and fork");
    EXPECT_EQ(ACL_ERROR_STREAM_CAPTURE_CONFLICT, aclrtStreamWaitEvent(b, event));
    test_expect_error("it met another capture");
    end_fails(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
    EXPECT_EQ(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, aclmdlRICaptureEnd(b, &graph));

    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(a, GLOBAL));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(b, GLOBAL));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureGetInfo(b, NULL, &graph));
    test_expect_error("takes part in the capture of graph");
    EXPECT_EQ(ACL_ERROR_RT_STREAM_MODEL, rtStreamAddToModel(a, graph));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureEnd(b, &graph));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIDestroy(graph));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIDestroy(end_capture()));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyEvent(event));
    end();
}

TEST_WITH(a_capture_does_not_depend_on_events_from_outside, TEST_KEEPS_MEMORY)
{
    aclrtEvent event, never;

    begin();
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateEvent(&event));
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateEvent(&never));
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordEvent(event, b));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(a, GLOBAL));
    EXPECT_EQ(ACL_SUCCESS, aclrtStreamWaitEvent(a, never)); /* nothing to wait for */
    test_expect_error("was not recorded in that capture");
    EXPECT_EQ(ACL_ERROR_RT_CAPTURE_DEPENDENCY, aclrtStreamWaitEvent(a, event));
    test_expect_error("became invalid: it depended on an event");
    end_fails(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyEvent(event));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyEvent(never));
    end();
}

TEST_WITH(a_captured_event_has_no_state_until_it_is_recorded_outside, TEST_KEEPS_MEMORY)
{
    aclrtEventRecordedStatus status;
    aclrtEvent event;
    aclmdlRI graph;
    uint64_t us;
    float ms;

    begin();
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateEvent(&event));
    test_expect_error("the newest record of the event was captured");
    for (int way = 0; way < 3; way++) {
        EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(a, GLOBAL));
        EXPECT_EQ(ACL_SUCCESS, aclrtRecordEvent(event, a));
        EXPECT_EQ(ACL_ERROR_RT_EVENT_CAPTURED, way == 0 ? aclrtQueryEventStatus(event, &status)
                                               : way == 1
                                                   ? aclrtSynchronizeEvent(event)
                                                   : aclrtEventElapsedTime(&ms, event, event));
        EXPECT_EQ(ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED, status_of(a));
        test_expect_error("the state of an event of it was asked for");
        end_fails(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
    }
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(a, GLOBAL));
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordEvent(event, a));
    graph = end_capture();
    EXPECT_EQ(ACL_ERROR_RT_EVENT_CAPTURED, aclrtEventGetTimestamp(event, &us));
    test_expect_error("part of a captured graph");
    EXPECT_EQ(ACL_ERROR_RT_EVENT_CAPTURED, aclrtStreamWaitEvent(b, event));
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordEvent(event, b));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeEvent(event));
    EXPECT_EQ(ACL_SUCCESS, aclrtQueryEventStatus(event, &status));
    EXPECT_EQ(ACL_EVENT_RECORDED_STATUS_COMPLETE, status);
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIDestroy(graph));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyEvent(event));
    end();
}

/* ---- what is forbidden ---- */

TEST_WITH(a_capturing_stream_cannot_be_waited_for_asked_or_destroyed, TEST_KEEPS_MEMORY)
{
    aclrtStreamStatus status;
    aclmdlRI graph;

    begin();
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(a, RELAXED));
    graph = end_capture();
    test_expect_error("is being captured into graph");
    test_expect_error("of the context is being captured");
    for (int way = 0; way < 8; way++) {
        aclError rc = ACL_SUCCESS;

        EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(a, RELAXED));
        EXPECT_EQ(ACL_SUCCESS, queue_add_one(device, a));
        switch (way) {
        case 0:
            rc = aclrtSynchronizeStream(a);
            break;
        case 1:
            rc = aclrtSynchronizeStreamWithTimeout(a, 10);
            break;
        case 2:
            rc = aclrtStreamQuery(a, &status);
            break;
        case 3:
            rc = aclrtDestroyStream(a);
            break;
        case 4:
            rc = aclrtDestroyStreamForce(a);
            break;
        case 5:
            rc = aclrtStreamAbort(a);
            break;
        case 6:
            rc = aclrtSynchronizeDevice();
            break;
        default:
            rc = aclmdlRIExecuteAsync(graph, a);
            break;
        }
        EXPECT_EQ(ACL_ERROR_RT_STREAM_CAPTURED, rc);
        EXPECT_EQ(ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED, status_of(a));
        test_expect_error("nothing more can be captured");
        EXPECT_EQ(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, queue_add_one(device, a));
        test_expect_error("was called for");
        end_fails(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
    }
    EXPECT_EQ(0, device[0]);
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIDestroy(graph));
    end();
}

static aclError
unsafe(int way)
{
    static uint64_t pageable;

    switch (way) {
    case 0:
        return aclrtMemcpy(device, 8, host, 8, ACL_MEMCPY_HOST_TO_DEVICE);
    case 1:
        return aclrtMemset(device, 8, 0, 8);
    case 2:
        return aclrtMemcpy2d(device, 8, host, 8, 8, 1, ACL_MEMCPY_HOST_TO_DEVICE);
    default:
        return aclrtMemcpyAsync(device, 8, &pageable, 8, ACL_MEMCPY_HOST_TO_DEVICE, b);
    }
}

static void *
unsafe_on_thread(void *arg)
{
    aclmdlRICaptureMode mode = THREAD_LOCAL;

    (void)arg;
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    for (int way = 0; way < 4; way++)
        EXPECT_EQ(ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT, unsafe(way));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureThreadExchangeMode(&mode));
    EXPECT_EQ(GLOBAL, mode);
    EXPECT_EQ(ACL_SUCCESS, unsafe(0));
    return NULL;
}

static void *
safe_on_thread(void *arg)
{
    (void)arg;
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    for (int way = 0; way < 4; way++)
        EXPECT_EQ(ACL_SUCCESS, unsafe(way));
    return NULL;
}

static void *
safe_on_another_device(void *arg)
{
    (void)arg;
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(1));
    EXPECT_EQ(ACL_SUCCESS, unsafe(0));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(1));
    return NULL;
}

static void
on_thread(void *(*fn)(void *arg))
{
    pthread_t thread;

    EXPECT_EQ(0, pthread_create(&thread, NULL, fn, NULL));
    EXPECT_EQ(0, pthread_join(thread, NULL));
}

TEST_WITH(a_capture_forbids_unsafe_calls_as_its_mode_says, TEST_KEEPS_MEMORY)
{
    aclmdlRICaptureMode mode = RELAXED;

    begin();
    test_expect_error("acts at once, which the capture of stream");
    for (int way = 0; way < 4; way++) {
        EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(a, way % 2 == 0 ? GLOBAL : THREAD_LOCAL));
        EXPECT_EQ(ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT, unsafe(way));
        EXPECT_EQ(ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED, status_of(a));
        test_expect_error("was called on the thread that records");
        end_fails(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
    }
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(a, GLOBAL));
    on_thread(unsafe_on_thread);
    on_thread(safe_on_another_device);
    EXPECT_EQ(ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE, status_of(a)); /* others' calls do it no harm */
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureThreadExchangeMode(&mode));
    EXPECT_EQ(GLOBAL, mode);
    EXPECT_EQ(ACL_SUCCESS, unsafe(0)); /* the thread said that it knows what it does */
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureThreadExchangeMode(&mode));
    EXPECT_EQ(RELAXED, mode);
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIDestroy(end_capture()));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(a, THREAD_LOCAL));
    on_thread(safe_on_thread);
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIDestroy(end_capture()));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(a, RELAXED));
    for (int way = 0; way < 4; way++)
        EXPECT_EQ(ACL_SUCCESS, unsafe(way));
    on_thread(safe_on_thread);
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIDestroy(end_capture()));
    end();
}

TEST_WITH(a_copy_that_would_have_to_wait_cannot_be_captured, TEST_KEEPS_MEMORY)
{
    uint64_t pageable = 1;

    begin();
    test_expect_error("use memory from aclrtMallocHost");
    test_expect_error("a copy from or to pageable host memory was queued");
    for (int way = 0; way < 2; way++) {
        EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(a, RELAXED));
        EXPECT_EQ(ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC,
                  way == 0 ? aclrtMemcpyAsync(device, 8, &pageable, 8, ACL_MEMCPY_HOST_TO_DEVICE, a)
                           : aclrtMemcpy2dAsync(device, 8, &pageable, 8, 8, 1,
                                                ACL_MEMCPY_HOST_TO_DEVICE, a));
        end_fails(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
    }
    end();
}

static void *
end_on_thread(void *arg)
{
    aclmdlRI *graph = arg;

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD, aclmdlRICaptureEnd(a, graph));
    EXPECT_NULL(*graph);
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(a, RELAXED));
    return NULL;
}

TEST_WITH(begin_and_end_must_match, TEST_KEEPS_MEMORY)
{
    aclrtStream persistent, first;
    aclrtEvent fork;
    aclmdlRI graph = NULL;
    pthread_t thread;

    begin();
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateStreamWithConfig(&persistent, 0, ACL_STREAM_PERSISTENT));
    EXPECT_EQ(ACL_SUCCESS, aclrtCtxGetCurrentDefaultStream(&first));
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateEvent(&fork));
    test_expect_error("is NULL");
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclmdlRICaptureBegin(NULL, GLOBAL));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclmdlRICaptureEnd(NULL, &graph));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclmdlRICaptureEnd(a, NULL));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclmdlRICaptureGetInfo(a, NULL, NULL));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclmdlRICaptureThreadExchangeMode(NULL));
    test_expect_error("there is no mode 3");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclmdlRICaptureBegin(a, (aclmdlRICaptureMode)3));
    test_expect_error("the default stream cannot be captured");
    EXPECT_EQ(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclmdlRICaptureBegin(first, GLOBAL));
    test_expect_error("for device code only");
    EXPECT_EQ(ACL_ERROR_RT_INTERNAL_ERROR, aclmdlRICaptureBegin(persistent, GLOBAL));
    test_expect_error("is not being captured");
    EXPECT_EQ(ACL_ERROR_RT_STREAM_NOT_CAPTURED, aclmdlRICaptureEnd(a, &graph));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(a, GLOBAL));
    test_expect_error("is being captured already");
    EXPECT_EQ(ACL_ERROR_RT_STREAM_CAPTURED, aclmdlRICaptureBegin(a, GLOBAL));
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordEvent(fork, a));
    EXPECT_EQ(ACL_SUCCESS, aclrtStreamWaitEvent(b, fork));
    test_expect_error("which only joined it");
    EXPECT_EQ(ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED, aclmdlRICaptureEnd(b, &graph));
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordEvent(fork, b));
    EXPECT_EQ(ACL_SUCCESS, aclrtStreamWaitEvent(a, fork));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIDestroy(end_capture()));

    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(a, THREAD_LOCAL));
    test_expect_error("another thread began the capture");
    EXPECT_EQ(0, pthread_create(&thread, NULL, end_on_thread, &graph));
    EXPECT_EQ(0, pthread_join(thread, NULL));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIDestroy(end_capture())); /* RELAXED: on any thread */
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyEvent(fork));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(persistent));
    end();
}

static enum rt_step
do_nothing(struct rt_stream *stream, struct rt_task *task)
{
    (void)stream;
    (void)task;
    return RT_STEP_DONE;
}

static int drops;

static void
count_drop(struct rt_task *task, bool ran)
{
    (void)task;
    EXPECT_FALSE(ran);
    drops++;
}

TEST_WITH(a_kind_of_task_that_cannot_be_cloned_is_refused_by_name, TEST_KEEPS_MEMORY)
{
    static const struct rt_task_ops ops = {.name = "juggle", .run = do_nothing, .drop = count_drop};
    const struct rt_task task = {.ops = &ops};
    struct rt_stream *stream;

    begin();
    EXPECT_EQ(ACL_SUCCESS, rt_stream_hold(a, &stream));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(a, GLOBAL));
    test_expect_error("is being captured, and this cannot be: juggle");
    EXPECT_EQ(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, rt_stream_push(stream, &task));
    EXPECT_EQ(1, drops);
    test_expect_error("a task could not be recorded");
    end_fails(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
    rt_stream_release(stream);
    end();
}
