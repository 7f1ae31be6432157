/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the soft NPU's own machinery costs: tasks through streams, notifies, kernel launches.
 *
 * Throughput rows run on one processor: the thread that queues is the one that then drives, so the
 * number is tasks issued and run per second and core. Their limit is the row above them: the same
 * work in a bare loop over an array of records, with no queue that others could touch.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl_rt.h"
#include "base/clock.h"
#include "bench/bench.h"
#include "copy/copy.h"
#include "hcomm/hcomm_primitives.h"
#include "hcomm/hcomm_res.h"
#include "runtime/runtime.h"

#define RUNS 15
#define TASKS 200000
#define STREAMS 1000
#define HOPS 20000
#define LAUNCHES 3000
#define COPY_LEN 64

static void
check(int code, const char *what)
{
    if (code == 0)
        return;
    fprintf(stderr, "bench: %s returned %d\n", what, code);
    exit(1);
}

static double
million_per_s(uint64_t count, uint64_t start_ns)
{
    return (double)count / (double)(hc_now_ns() - start_ns) * 1e3;
}

/* ---- the limit: an array of records and a loop ---- */

struct record {
    void (*run)(struct record *record);
    void *dst;
    const void *src;
    uint64_t len, pad[4];
};

static void
copy_record(struct record *record)
{
    copy_bytes(record->dst, record->src, record->len);
}

static void
bench_limit(void *dst, const void *src)
{
    struct record *records = malloc(TASKS * sizeof *records);
    double samples[RUNS];

    if (records == NULL)
        exit(1);
    memset(records, 0, TASKS * sizeof *records);
    for (int run = 0; run < RUNS; run++) {
        uint64_t start = hc_now_ns();

        for (int i = 0; i < TASKS; i++)
            records[i] = (struct record){copy_record, dst, src, COPY_LEN, {0}};
        for (int i = 0; i < TASKS; i++)
            records[i].run(&records[i]);
        samples[run] = million_per_s(TASKS, start);
    }
    bench_row("limit: 64 B copies through an array, one core", "M tasks/s", samples, RUNS);
    free(records);
}

/* ---- tasks through streams ---- */

static void
bench_tasks(const ThreadHandle *threads, const aclrtStream *streams, int num, void *dst,
            const void *src, const char *name)
{
    double samples[RUNS];

    for (int run = 0; run < RUNS; run++) {
        uint64_t start = hc_now_ns();

        for (int i = 0; i < TASKS; i++)
            check(HcommLocalCopyOnThread(threads[i % num], dst, src, COPY_LEN), "copy");
        for (int i = 0; i < num; i++)
            check(aclrtSynchronizeStream(streams[i]), "synchronize");
        samples[run] = million_per_s(TASKS, start);
    }
    bench_row(name, "M tasks/s", samples, RUNS);
}

static void
bench_throughput(void)
{
    static ThreadHandle threads[STREAMS];
    static aclrtStream streams[STREAMS];
    const uint32_t notifies[STREAMS] = {0};
    void *dst, *src;

    check(aclrtMalloc(&dst, 4096, ACL_MEM_MALLOC_HUGE_FIRST), "malloc");
    check(aclrtMalloc(&src, 4096, ACL_MEM_MALLOC_HUGE_FIRST), "malloc");
    check(HcommThreadAlloc(COMM_ENGINE_CPU_TS, STREAMS, notifies, threads), "thread alloc");
    for (int i = 0; i < STREAMS; i++)
        check(HcommThreadResGetInfo(threads[i], THREAD_RES_TYPE_STREAM, sizeof streams[i],
                                    (void **)&streams[i]),
              "stream of a thread");
    bench_limit(dst, src);
    bench_tasks(threads, streams, 1, dst, src, "64 B copies on 1 stream, issued and run, one core");
    bench_tasks(threads, streams, STREAMS, dst, src,
                "64 B copies on 1,000 streams in turn, one core");
    check(HcommThreadFree(threads, STREAMS), "thread free");
    check(aclrtFree(dst), "free");
    check(aclrtFree(src), "free");
}

/* ---- record to wake ---- */

static enum rt_step
stamp_run(struct rt_stream *stream, struct rt_task *task)
{
    (void)stream;
    *(uint64_t *)task->u.call.obj = hc_now_ns();
    return RT_STEP_DONE;
}

static const struct rt_task_ops stamp_ops = {.name = "stamp", .run = stamp_run};

static void
push_stamp(aclrtStream handle, uint64_t *where)
{
    struct rt_task task = {.ops = &stamp_ops, .u.call.obj = where};
    struct rt_stream *stream;

    check(rt_stream_hold(handle, &stream), "hold");
    check(rt_stream_push(stream, &task), "push");
    rt_stream_release(stream);
}

static void
bench_wake(void)
{
    static uint64_t recorded[HOPS], woken[HOPS];
    static double samples[HOPS];
    aclrtStream a, b;
    aclrtNotify there, back;

    check(aclrtCreateStream(&a), "stream");
    check(aclrtCreateStream(&b), "stream");
    check(aclrtCreateNotify(&there, 0), "notify");
    check(aclrtCreateNotify(&back, 0), "notify");
    for (int i = 0; i < HOPS; i++) {
        check(aclrtWaitAndResetNotify(there, b, 60), "wait");
        push_stamp(b, &woken[i]);
        check(aclrtRecordNotify(back, b), "record");
    }
    for (int i = 0; i < HOPS; i++) {
        push_stamp(a, &recorded[i]);
        check(aclrtRecordNotify(there, a), "record");
        check(aclrtWaitAndResetNotify(back, a, 60), "wait");
    }
    check(aclrtSynchronizeStream(a), "synchronize");
    check(aclrtSynchronizeStream(b), "synchronize");
    for (int i = 0; i < HOPS; i++)
        samples[i] = (double)(woken[i] - recorded[i]);
    bench_row("notify: record on one stream to wake on another", "ns", samples, HOPS);
    for (int i = 0; i < HOPS; i++) {
        uint64_t start = hc_now_ns();

        samples[i] = (double)(hc_now_ns() - start);
    }
    bench_row("limit: reading the clock twice", "ns", samples, HOPS);
    check(aclrtDestroyNotify(there), "destroy");
    check(aclrtDestroyNotify(back), "destroy");
    check(aclrtDestroyStream(a), "destroy");
    check(aclrtDestroyStream(b), "destroy");
}

/* ---- launch to kernel ---- */

static void
bench_launch(void)
{
    aclrtBinaryLoadOption option = {.type = ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE,
                                    .value = {.cpuKernelMode = 1}};
    aclrtBinaryLoadOptions options = {.options = &option, .numOpt = 1};
    static uint64_t launched[LAUNCHES], started[LAUNCHES];
    static double samples[LAUNCHES];
    aclrtBinHandle binary;
    aclrtFuncHandle function;
    aclrtStream stream;

    check(aclrtBinaryLoadFromFile(BENCH_KERNEL_JSON, &options, &binary), "load");
    check(aclrtBinaryGetFunction(binary, "StampKernel", &function), "function");
    check(aclrtCreateStream(&stream), "stream");
    for (int i = 0; i < LAUNCHES; i++) {
        uint64_t *where = &started[i];

        launched[i] = hc_now_ns();
        check(
            aclrtLaunchKernelWithHostArgs(function, 1, stream, NULL, &where, sizeof where, NULL, 0),
            "launch");
        check(aclrtSynchronizeStream(stream), "synchronize");
        samples[i] = (double)(started[i] - launched[i]) / 1e3;
    }
    bench_row("kernel: launch call to first instruction", "us", samples, LAUNCHES);
    check(aclrtDestroyStream(stream), "destroy");
    check(aclrtBinaryUnLoad(binary), "unload");
}

int
main(int argc, char **argv)
{
    bench_pin(0);
    check(aclInit(NULL), "aclInit");
    check(aclrtSetDevice(0), "aclrtSetDevice");
    bench_begin(argc, argv);
    bench_throughput();
    bench_wake();
    bench_pin(-1);
    bench_launch();
    bench_end();
    check(aclrtResetDevice(0), "aclrtResetDevice");
    return 0;
}
