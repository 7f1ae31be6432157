/* SPDX-License-Identifier: BSD-3-Clause */
/* Graphs: their runs, failure, end. Handle tables stay for the process' lifetime. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "runtime/graph.h"
#include "runtime/graph_test.h"

/* ---- the graph ---- */

TEST_WITH(only_a_finished_live_graph_can_be_executed_and_destroyed, TEST_KEEPS_MEMORY)
{
    char name[8] = "";
    aclmdlRI graph = NULL;
    uint32_t id = 99;

    begin();
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(a, GLOBAL));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureGetInfo(a, NULL, &graph));
    EXPECT_NOT_NULL(graph);
    test_expect_error("is still being captured");
    EXPECT_EQ(ACL_ERROR_RT_MODEL_CAPTURED, aclmdlRIDestroy(graph));
    EXPECT_EQ(ACL_ERROR_RT_MODEL_CAPTURED, aclmdlRIExecuteAsync(graph, b));
    EXPECT_EQ(graph, end_capture());
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIGetId(graph, &id));
    EXPECT_NE(99, id);
    EXPECT_EQ(ACL_SUCCESS, aclmdlRISetName(graph, "step"));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIGetName(graph, sizeof name, name));
    EXPECT_STREQ("step", name);
    test_expect_error("needs 5");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclmdlRIGetName(graph, 4, name));
    test_expect_error("was captured (timeout");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclmdlRIExecute(graph, -1));
    test_expect_error("modelRI is NULL");
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclmdlRIExecuteAsync(NULL, a));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclmdlRIDestroy(NULL));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIDestroy(graph));
    test_expect_error("is not a live graph: it is");
    EXPECT_EQ(ACL_ERROR_RT_INVALID_HANDLE, aclmdlRIExecuteAsync(graph, a));
    EXPECT_EQ(ACL_ERROR_RT_INVALID_HANDLE, aclmdlRIDestroy(graph));
    EXPECT_EQ(ACL_ERROR_RT_INVALID_HANDLE, aclmdlRIDestroy((aclmdlRI)a));
    EXPECT_EQ(ACL_ERROR_RT_INVALID_HANDLE, aclmdlRIGetId(graph, &id));
    end();
}

static void
note(void *arg)
{
    device[0] = device[0] * 10 + (uint64_t)(uintptr_t)arg;
}

static void
other_note(void *arg)
{
    note(arg);
}

TEST_WITH(the_end_of_a_graph_is_told_to_those_who_asked, TEST_KEEPS_MEMORY)
{
    aclmdlRI graph;

    begin();
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(a, GLOBAL));
    graph = end_capture();
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIDestroyRegisterCallback(graph, note, (void *)1));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIDestroyRegisterCallback(graph, other_note, (void *)2));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIDestroyRegisterCallback(graph, note, (void *)3));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIDestroyUnregisterCallback(graph, other_note));
    test_expect_error("has no such callback");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclmdlRIDestroyUnregisterCallback(graph, other_note));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIDestroy(graph));
    EXPECT_EQ(13, device[0]);
    end();
}

TEST_WITH(a_graph_that_runs_is_not_destroyed, TEST_KEEPS_MEMORY)
{
    struct rt_graph *held;
    aclrtNotify gate;
    aclmdlRI graph;

    begin();
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateNotify(&gate, 0));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(a, GLOBAL));
    EXPECT_EQ(ACL_SUCCESS, aclrtWaitAndResetNotify(gate, a, 60));
    EXPECT_EQ(ACL_SUCCESS, queue_add_one(device, a));
    graph = end_capture();
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIExecuteAsync(graph, a));
    EXPECT_EQ(ACL_SUCCESS, rt_graph_hold(graph, "test", &held));
    test_expect_error("has not ended within 20 ms");
    EXPECT_EQ(ACL_ERROR_RT_MODEL_RUNNING, rt_graph_destroy(held, 20));
    rt_graph_release(held);
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIExecuteAsync(graph, b)); /* it is as good as before */
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordNotify(gate, c));
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordNotify(gate, c));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIDestroy(graph)); /* waits for both */
    EXPECT_EQ(2, device[0]);
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeDevice());
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyNotify(gate));
    end();
}

TEST_WITH(a_run_of_what_is_gone_is_refused, TEST_KEEPS_MEMORY)
{
    void *pages, *mapped;
    aclrtNotify notify;
    aclmdlRI graph;

    begin();
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateNotify(&notify, 0));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(a, GLOBAL));
    EXPECT_EQ(ACL_SUCCESS, queue_add_one(device, a));
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordNotify(notify, a));
    graph = end_capture();
    run_on(graph, a);
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyNotify(notify));
    test_expect_error("was destroyed after it had been captured");
    EXPECT_EQ(ACL_ERROR_RT_INVALID_HANDLE, aclmdlRIExecuteAsync(graph, a));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(a));
    EXPECT_EQ(1, device[0]); /* nothing of it ran */
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIDestroy(graph));

    pages = aligned_alloc(4096, 4096);
    EXPECT_EQ(ACL_SUCCESS, aclrtHostRegister(pages, 4096, ACL_HOST_REGISTER_MAPPED, &mapped));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(a, GLOBAL));
    EXPECT_EQ(ACL_SUCCESS, aclrtMemcpyAsync(device, 8, pages, 8, ACL_MEMCPY_HOST_TO_DEVICE, a));
    graph = end_capture();
    run_on(graph, a);
    EXPECT_EQ(ACL_SUCCESS, aclrtHostUnregister(pages));
    free(pages);
    test_expect_error("has been unmapped or unregistered meanwhile");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclmdlRIExecuteAsync(graph, a));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIDestroy(graph));

    EXPECT_EQ(ACL_SUCCESS, aclrtMalloc(&pages, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(a, GLOBAL));
    EXPECT_EQ(ACL_SUCCESS, aclrtMemsetAsync(pages, 64, 0, 64, a));
    graph = end_capture();
    EXPECT_EQ(ACL_SUCCESS, aclrtFree(pages));
    test_expect_error("a captured task cannot run again");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclmdlRIExecuteAsync(graph, a));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIDestroy(graph));
    end();
}

TEST_WITH(a_graph_outlives_its_streams_and_not_its_device, TEST_KEEPS_MEMORY)
{
    aclmdlRI graph, lost;
    aclrtStream stream;

    begin();
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateStream(&stream));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(stream, GLOBAL));
    EXPECT_EQ(ACL_SUCCESS, queue_add_one(device, stream));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureEnd(stream, &graph));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(stream));
    run_on(graph, a);
    EXPECT_EQ(1, device[0]);
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(a, GLOBAL));
    EXPECT_EQ(ACL_SUCCESS, queue_add_one(device, a));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureGetInfo(a, NULL, &lost));
    EXPECT_EQ(ACL_SUCCESS, aclrtFreeHost(host));
    EXPECT_EQ(ACL_SUCCESS, aclrtFree(device));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0)); /* ends the capture with its stream */
    test_expect_error("is not a live graph");
    EXPECT_EQ(ACL_ERROR_RT_INVALID_HANDLE, aclmdlRIDestroy(lost));
    begin();
    test_expect_error("the context it was captured in has been destroyed");
    EXPECT_EQ(ACL_ERROR_RT_CONTEXT_NULL, aclmdlRIExecuteAsync(graph, a));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIDestroy(graph));
    end();
}

/* ---- failure ---- */

static uint32_t
fail_if_told(void *arg)
{
    return **(uint64_t **)arg == 0 ? 0 : 5;
}

static aclError
queue_fail_if(uint64_t *word, aclrtStream stream)
{
    return HcommLaunchEmbedded(fail_if_told, "fail_if", 1, stream, &word, sizeof word);
}

TEST_WITH(a_run_that_fails_fails_its_stream_and_the_next_run_is_a_new_one, TEST_KEEPS_MEMORY)
{
    aclrtEvent fork, join;
    aclrtNotify there, back;
    aclmdlRI graph;

    begin();
    test_allow_errors();
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateEvent(&fork));
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateEvent(&join));
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateNotify(&there, 0));
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateNotify(&back, 0));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(a, GLOBAL));
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordEvent(fork, a));
    EXPECT_EQ(ACL_SUCCESS, aclrtStreamWaitEvent(b, fork));
    EXPECT_EQ(ACL_SUCCESS, queue_fail_if(device, a)); /* word 0 fails the executing stream */
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordNotify(there, a));
    EXPECT_EQ(ACL_SUCCESS, aclrtWaitAndResetNotify(there, b, 1800)); /* would wait in vain */
    EXPECT_EQ(ACL_SUCCESS, queue_fail_if(device + 1, b)); /* word 1 fails the other branch */
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordNotify(back, b));
    EXPECT_EQ(ACL_SUCCESS, aclrtWaitAndResetNotify(back, a, 1800));
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordEvent(join, b));
    EXPECT_EQ(ACL_SUCCESS, aclrtStreamWaitEvent(a, join));
    EXPECT_EQ(ACL_SUCCESS, queue_add_one(device + 2, a));
    graph = end_capture();
    for (int way = 0; way < 6; way++) {
        device[way % 2] = 1;
        EXPECT_EQ(ACL_SUCCESS, aclmdlRIExecuteAsync(graph, c));
        EXPECT_EQ(ACL_SUCCESS, aclmdlRIExecuteAsync(graph, c)); /* dropped with the first */
        EXPECT_EQ(ACL_ERROR_RT_AICPU_EXCEPTION, aclrtSynchronizeStream(c));
        EXPECT_EQ(way, device[2]);
        device[way % 2] = 0;
        run_on(graph, way < 3 ? c : a);
        EXPECT_EQ(way + 1, device[2]);
    }
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIDestroy(graph));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyEvent(fork));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyEvent(join));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyNotify(there));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyNotify(back));
    end();
}

TEST_WITH(a_run_that_is_cut_short_harms_no_other_run, TEST_KEEPS_MEMORY)
{
    aclrtEvent fork, join;
    aclrtNotify gate;
    aclmdlRI graph;

    begin();
    test_allow_errors();
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateEvent(&fork));
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateEvent(&join));
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateNotify(&gate, 0));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(a, GLOBAL));
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordEvent(fork, a));
    EXPECT_EQ(ACL_SUCCESS, aclrtStreamWaitEvent(b, fork));
    EXPECT_EQ(ACL_SUCCESS, aclrtWaitAndResetNotify(gate, b, 1800));
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordEvent(join, b));
    EXPECT_EQ(ACL_SUCCESS, aclrtStreamWaitEvent(a, join));
    EXPECT_EQ(ACL_SUCCESS, queue_add_one(device, a));
    graph = end_capture();
    for (uint64_t i = 1; i <= 20; i++) {
        EXPECT_EQ(ACL_SUCCESS, aclmdlRIExecuteAsync(graph, a));
        EXPECT_EQ(ACL_SUCCESS, aclmdlRIExecuteAsync(graph, b));
        EXPECT_EQ(ACL_SUCCESS, aclmdlRIExecuteAsync(graph, c));
        if (i % 3 == 0)
            usleep(1000);
        switch (i % 4) { /* the first run is under way, or about to be; b's waits for it */
        case 0:
            EXPECT_EQ(ACL_SUCCESS, aclrtStreamAbort(b));
            break;
        case 1:
            EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStreamForce(b));
            EXPECT_EQ(ACL_SUCCESS, aclrtCreateStream(&b));
            break;
        case 2: /* the task that waits is left out, so the rest of the run cannot be right */
            EXPECT_EQ(ACL_SUCCESS, aclrtStreamStop(b));
            EXPECT_EQ(ACL_ERROR_RT_STREAM_ABORT, aclrtSynchronizeStream(b));
            break;
        default:
            EXPECT_EQ(ACL_SUCCESS, aclrtStreamAbort(a));
            EXPECT_EQ(ACL_SUCCESS, aclrtStreamAbort(b));
            EXPECT_EQ(ACL_SUCCESS, aclmdlRIExecuteAsync(graph, a));
            break;
        }
        EXPECT_EQ(ACL_SUCCESS, aclrtRecordNotify(gate, b));
        EXPECT_EQ(ACL_SUCCESS, aclrtRecordNotify(gate, b));
        EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(a));
        EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(c));
        EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(b));
        EXPECT_EQ(2 * i, device[0]);
    }
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIDestroy(graph));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyEvent(fork));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyEvent(join));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyNotify(gate));
    end();
}

TEST_WITH(abort_ends_all_runs_of_a_graph, TEST_KEEPS_MEMORY)
{
    aclrtNotify gate;
    aclmdlRI graph;

    begin();
    test_allow_errors();
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateNotify(&gate, 0));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(a, GLOBAL));
    EXPECT_EQ(ACL_SUCCESS, aclrtWaitAndResetNotify(gate, a, 1800));
    EXPECT_EQ(ACL_SUCCESS, queue_add_one(device, a));
    graph = end_capture();
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIAbort(graph)); /* nothing to abort */
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIExecuteAsync(graph, a));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIExecuteAsync(graph, b));
    EXPECT_EQ(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(a, 20));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIAbort(graph));
    EXPECT_EQ(ACL_ERROR_RT_MODEL_ABORT_NORMAL, aclrtSynchronizeStream(a));
    EXPECT_EQ(ACL_ERROR_RT_MODEL_ABORT_NORMAL, aclrtSynchronizeStream(b));
    EXPECT_EQ(0, device[0]);
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordNotify(gate, c));
    run_on(graph, a);
    EXPECT_EQ(1, device[0]);
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIDestroy(graph));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyNotify(gate));
    end();
}

/* ---- threads ---- */

#define RUNS 40

struct runner {
    aclmdlRI graph;
    aclrtStream stream;
};

static void *
run_often(void *arg)
{
    struct runner *runner = arg;

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    for (int i = 0; i < RUNS; i++) {
        EXPECT_EQ(ACL_SUCCESS, aclmdlRIExecuteAsync(runner->graph, runner->stream));
        if (i % 7 == 0)
            EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(runner->stream));
    }
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(runner->stream));
    return NULL;
}

TEST_WITH(threads_execute_one_graph_at_the_same_time, TEST_KEEPS_MEMORY)
{
    struct runner runners[3];
    aclrtEvent fork, join;
    pthread_t threads[3];
    aclmdlRI graph;

    begin();
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateEvent(&fork));
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateEvent(&join));
    graph = capture_fork(fork, join);
    for (int i = 0; i < 3; i++) {
        runners[i] = (struct runner){.graph = graph, .stream = i == 0 ? a : i == 1 ? b : c};
        EXPECT_EQ(0, pthread_create(&threads[i], NULL, run_often, &runners[i]));
    }
    for (int i = 0; i < 3; i++)
        EXPECT_EQ(0, pthread_join(threads[i], NULL));
    EXPECT_EQ(2 * 3 * RUNS, device[0]);
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIDestroy(graph));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyEvent(fork));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyEvent(join));
    for (int i = 0; i < 3; i++)
        EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
    end();
}

struct capturer {
    aclrtStream stream;
    uint64_t *word; /* its own */
};

static void *
capture_often(void *arg)
{
    struct capturer *own = arg;

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    for (int i = 0; i < RUNS; i++) {
        aclmdlRI graph;

        EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureBegin(own->stream, THREAD_LOCAL));
        EXPECT_EQ(ACL_SUCCESS, queue_add_one(own->word, own->stream));
        EXPECT_EQ(ACL_SUCCESS, aclmdlRICaptureEnd(own->stream, &graph));
        EXPECT_EQ(ACL_SUCCESS, aclmdlRIExecuteAsync(graph, own->stream));
        EXPECT_EQ(ACL_SUCCESS, aclmdlRIDestroy(graph)); /* waits for the run */
    }
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(own->stream));
    EXPECT_EQ(RUNS, *own->word);
    return NULL;
}

TEST_WITH(threads_capture_at_the_same_time, TEST_KEEPS_MEMORY)
{
    struct capturer capturers[3];
    pthread_t threads[3];

    begin();
    for (int i = 0; i < 3; i++) {
        capturers[i] = (struct capturer){.stream = i == 0   ? a
                                                   : i == 1 ? b
                                                            : c,
                                         .word = device + 8 * i};
        EXPECT_EQ(0, pthread_create(&threads[i], NULL, capture_often, &capturers[i]));
    }
    for (int i = 0; i < 3; i++)
        EXPECT_EQ(0, pthread_join(threads[i], NULL));
    for (int i = 0; i < 3; i++)
        EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
    end();
}

/* ---- memory ---- */

static aclError
try_all(aclrtEvent fork, aclrtEvent join, uint64_t *target, bool *over)
{
    aclmdlRI graph = NULL;
    aclError rc = aclmdlRICaptureBegin(a, RELAXED), ended;

    *over = false;
    if (rc != ACL_SUCCESS)
        return rc;
    rc = aclrtRecordEvent(fork, a);
    if (rc == ACL_SUCCESS)
        rc = aclrtStreamWaitEvent(b, fork);
    if (rc == ACL_SUCCESS)
        rc = HcommLaunchEmbedded(add_one, "add_one", 1, b, &target, sizeof target);
    if (rc == ACL_SUCCESS)
        rc = aclrtRecordEvent(join, b);
    if (rc == ACL_SUCCESS)
        rc = aclrtStreamWaitEvent(a, join);
    ended = aclmdlRICaptureEnd(a, &graph);
    if (ended != ACL_SUCCESS)
        return rc == ACL_SUCCESS ? ended : rc;
    EXPECT_EQ(ACL_SUCCESS, rc);
    rc = aclmdlRIExecuteAsync(graph, a);
    *over = rc == ACL_SUCCESS;
    hc_alloc_fail_nth(-1);
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(a));
    EXPECT_EQ(ACL_SUCCESS, aclmdlRIDestroy(graph));
    return rc;
}

TEST_WITH(captures_and_runs_survive_every_failed_allocation, TEST_KEEPS_MEMORY)
{
    aclrtEvent fork, join;
    uint64_t runs = 0;
    bool over = false;

    begin();
    test_allow_errors();
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateEvent(&fork));
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateEvent(&join));
    hc_alloc_fail_nth(-1);
    (void)try_all(fork, join, device, &over); /* makes what is made once */
    EXPECT_TRUE(over);
    over = false;
    for (long nth = 0; !over; nth++) {
        aclError rc;

        hc_alloc_fail_nth(nth);
        rc = try_all(fork, join, device, &over);
        hc_alloc_fail_nth(-1);
        runs = device[0];
        EXPECT_EQ(over ? 2 : 1, runs); /* all of a run or nothing */
        if (!over)
            EXPECT_NE(ACL_SUCCESS, rc);
    }
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyEvent(fork));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyEvent(join));
    end();
}
