/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of operators, ordered in a stream of the program: alone, and in groups. */
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "comm/comm_test.h"
#include "hccl/hccl_inner.h"
#include "hccl/hccl_res.h"
#include "hcomm/hcomm_primitives.h"
#include "tests/support/kernels.h"

#define LIBRARY "stateful_kernel.so"

static HcclComm comm;
static aclrtStream stream, unfold;
static aclrtNotify gate;
static ThreadHandle thread;
static uint64_t *memory; /* of the device, 64 words */

static void
begin(void)
{
    install();
    setenv("ASCEND_AICPU_KERNEL_PATH", HCOMM_TEST_KERNELS, 1);
    comm = init_one(NULL);
    EXPECT_EQ(HCCL_SUCCESS, HcclThreadAcquire(comm, COMM_ENGINE_AICPU_TS, 1, 2, &thread));
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateStream(&stream));
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateStream(&unfold));
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateNotify(&gate, 0));
    EXPECT_EQ(ACL_SUCCESS, aclrtMalloc((void **)&memory, 512, ACL_MEM_MALLOC_HUGE_FIRST));
}

static void
end(void)
{
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(unfold));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(stream));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comm));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyNotify(gate));
    EXPECT_EQ(ACL_SUCCESS, aclrtFree(memory));
    reset_devices(1);
}

static void
open_gate(void)
{
    aclrtStream other;

    EXPECT_EQ(ACL_SUCCESS, aclrtCreateStream(&other));
    EXPECT_EQ(ACL_SUCCESS, aclrtRecordNotify(gate, other));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(other));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(other));
}

static HcclOpDesc
make_op(void)
{
    HcclOpDesc op;

    EXPECT_EQ(HCCL_SUCCESS, HcclOpDescInit(&op));
    op.opDescType = 1;
    op.p2p.unfoldStream = unfold;
    return op;
}

static HcclKernelFuncInfo
make_function(const char *name, void *args, uint32_t len)
{
    HcclKernelFuncInfo function = {.args = args, .argSize = len};

    snprintf(function.kernelSoName, sizeof function.kernelSoName, LIBRARY);
    snprintf(function.kernelFuncName, sizeof function.kernelFuncName, "%s", name);
    return function;
}

static HcclResult
run(const char *name, void *args, uint32_t len)
{
    HcclKernelFuncInfo function = make_function(name, args, len);
    HcclKernelLaunchCfg cfg;
    HcclOpDesc op = make_op();

    EXPECT_EQ(HCCL_SUCCESS, HcclKernelLaunchCfgInit(&cfg));
    return HcclAicpuKernelLaunch(comm, &op, &function, thread, stream, &cfg);
}

/* ---- kernels: they run in the program, called by CallBack ---- */

static atomic_int kernels_run;

struct copy_args {
    uint32_t (*fn)(void *args);
    ThreadHandle thread;
    void *dst;
    const void *src;
    uint64_t len;
};

static uint32_t
queue_copy(void *args)
{
    const struct copy_args *copy = args;
    uint32_t rc = (uint32_t)HcommLocalCopyOnThread(copy->thread, copy->dst, copy->src, copy->len);

    atomic_fetch_add(&kernels_run, 1);
    return rc;
}

static HcclResult
run_copy(void *dst, const void *src, uint64_t len)
{
    struct copy_args args = {queue_copy, thread, dst, src, len};
    HcclResult rc = run("CallBack", &args, sizeof args);

    memset(&args, 0xEE, sizeof args); /* the call has a copy */
    return rc;
}

/* ---- alone ---- */

static void
await_kernels(int num)
{
    while (atomic_load(&kernels_run) < num)
        usleep(1000);
}

/* The kernel runs; what it queued waits for the stream, and the stream for that. */
static void
check_order(void)
{
    uint64_t out = 0;

    memory[0] = 1;
    memory[1] = memory[2] = 0;
    atomic_store(&kernels_run, 0);
    EXPECT_EQ(ACL_SUCCESS, aclrtWaitAndResetNotify(gate, stream, 0));
    EXPECT_EQ(ACL_SUCCESS, aclrtMemsetAsync(memory, 8, 7, 8, stream));
    EXPECT_EQ(HCCL_SUCCESS, run_copy(&memory[1], &memory[0], 8));
    EXPECT_EQ(HCCL_SUCCESS, run_copy(&memory[2], &memory[1], 8));
    EXPECT_EQ(ACL_SUCCESS,
              aclrtMemcpyAsync(&memory[3], 8, &memory[2], 8, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    if (unfold != stream) { /* else the kernels wait, too */
        await_kernels(2);
        usleep(20000);
    }
    EXPECT_EQ(0, memory[1]);
    open_gate();
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    EXPECT_EQ(ACL_SUCCESS, aclrtMemcpy(&out, 8, &memory[3], 8, ACL_MEMCPY_DEVICE_TO_HOST));
    EXPECT_EQ(0x0707070707070707, out);
}

TEST(the_tasks_of_a_kernel_run_where_its_launch_stands_in_the_stream)
{
    begin();
    check_order();
    aclrtStream own = unfold;
    unfold = NULL; /* the communicator's */
    check_order();
    unfold = stream; /* the same */
    check_order();
    unfold = own;
    end();
}

TEST(launches_of_several_streams_use_one_thread_in_turn)
{
    aclrtStream streams[4], first;

    begin();
    first = stream;
    for (int i = 0; i < 4; i++)
        EXPECT_EQ(ACL_SUCCESS, aclrtCreateStream(&streams[i]));
    memory[0] = 5;
    for (int i = 0; i < 200; i++) {
        stream = streams[i % 4];
        EXPECT_EQ(HCCL_SUCCESS, run_copy(&memory[i % 4 + 1], &memory[0], 8));
    }
    for (int i = 0; i < 4; i++) {
        EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(streams[i]));
        EXPECT_EQ(5, memory[i + 1]);
        EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(streams[i]));
    }
    EXPECT_EQ(200, atomic_load(&kernels_run));
    stream = first;
    end();
}

static uint32_t
return_seven(void *args)
{
    (void)args;
    return 7;
}

TEST(a_kernel_that_fails_fails_the_stream_it_is_ordered_in)
{
    struct copy_args args = {.fn = return_seven};
    uint64_t start;

    test_expect_error("returned 7: 0 is success");
    test_expect_error("kernel CallBack of stateful_kernel.so: it, or a task it queued, failed");
    begin();
    start = hc_now_ns();
    EXPECT_EQ(HCCL_SUCCESS, run("CallBack", &args, sizeof args));
    EXPECT_EQ(ACL_ERROR_RT_STREAM_ABORT, aclrtSynchronizeStream(stream));
    EXPECT_EQ(ACL_ERROR_RT_AICPU_EXCEPTION, aclrtSynchronizeStream(unfold));
    EXPECT_TRUE(hc_now_ns() - start < 20000000000ull); /* and not after the longest wait */
    memory[0] = 3;
    EXPECT_EQ(HCCL_SUCCESS, run_copy(&memory[1], &memory[0], 8)); /* it works again */
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    EXPECT_EQ(3, memory[1]);
    end();
}

TEST(a_kernel_that_is_not_there_is_named)
{
    test_expect_error("NoSuchKernel");
    test_expect_error("kernel NoSuchKernel of stateful_kernel.so: it, or a task it queued, failed");
    begin();
    EXPECT_EQ(HCCL_SUCCESS, run("NoSuchKernel", NULL, 0));
    EXPECT_EQ(ACL_ERROR_RT_STREAM_ABORT, aclrtSynchronizeStream(stream));
    EXPECT_EQ(ACL_ERROR_RT_AICPU_EXCEPTION, aclrtSynchronizeStream(unfold));
    end();
}

TEST(a_stream_that_is_aborted_before_a_launch_fails_the_kernels_tasks)
{
    test_expect_error("the stream it is ordered in failed or was aborted");
    begin();
    atomic_store(&kernels_run, 0);
    memory[0] = 3;
    EXPECT_EQ(ACL_SUCCESS, aclrtWaitAndResetNotify(gate, stream, 0));
    EXPECT_EQ(HCCL_SUCCESS, run_copy(&memory[1], &memory[0], 8));
    await_kernels(1);
    EXPECT_EQ(ACL_SUCCESS, aclrtStreamAbort(stream));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(unfold));
    end(); /* which waits for the thread */
}

TEST(a_kernel_may_have_so_many_seconds)
{
    struct {
        uint32_t *out, ms;
    } args = {.ms = 1500};
    HcclKernelFuncInfo function;
    HcclKernelLaunchCfg cfg;
    HcclOpDesc op;
    uint32_t *done;

    test_expect_error("has not returned within 1000 ms, its timeout");
    test_expect_error("kernel SleepThenSet of stateful_kernel.so: it, or a task it queued, failed");
    begin();
    done = (uint32_t *)memory;
    args.out = done;
    *done = 0;
    op = make_op();
    function = make_function("SleepThenSet", &args, sizeof args);
    EXPECT_EQ(HCCL_SUCCESS, HcclKernelLaunchCfgInit(&cfg));
    cfg.timeOut = 1;
    EXPECT_EQ(HCCL_SUCCESS, HcclAicpuKernelLaunch(comm, &op, &function, thread, stream, &cfg));
    EXPECT_EQ(ACL_ERROR_RT_STREAM_ABORT, aclrtSynchronizeStream(stream));
    EXPECT_EQ(ACL_ERROR_RT_AICPU_TIMEOUT, aclrtSynchronizeStream(unfold));
    while (__atomic_load_n(done, __ATOMIC_ACQUIRE) == 0)
        usleep(1000); /* it goes on running, and writes */
    cfg.timeOut = 0;  /* as long as it takes */
    EXPECT_EQ(HCCL_SUCCESS, HcclAicpuKernelLaunch(comm, &op, &function, thread, stream, &cfg));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    end();
}

/* ---- in groups ---- */

struct talk_params {
    uint32_t (*fn)(void *args);
    ThreadHandle other;
    uint64_t *out;
};

static const struct talk_params *
params_of(void *args)
{
    return (const struct talk_params *)(const void *)((HcclP2pKernelParam *)args)->opParams;
}

/* Waits on its thread for what the other one's kernel records. */
static uint32_t
hear(void *args)
{
    ThreadHandle own = ((HcclP2pKernelParam *)args)->sendRecvThread;

    atomic_fetch_add(&kernels_run, 1);
    return (uint32_t)HcommThreadNotifyWaitOnThread(own, 0, 30);
}

static uint32_t
talk(void *args)
{
    ThreadHandle own = ((HcclP2pKernelParam *)args)->sendRecvThread;
    const struct talk_params *params = params_of(args);

    atomic_fetch_add(&kernels_run, 1);
    *params->out = own;
    return (uint32_t)HcommThreadNotifyRecordOnThread(own, params->other, 0);
}

TEST(kernels_of_a_group_have_a_thread_each_and_do_not_wait_for_each_other)
{
    struct talk_params first, second;

    begin();
    for (int i = 0; i < 3; i++) {
        first = (struct talk_params){hear, thread, memory};
        second = (struct talk_params){talk, thread, memory};
        atomic_store(&kernels_run, 0);
        EXPECT_EQ(HCCL_SUCCESS, HcclGroupStart());
        EXPECT_EQ(HCCL_SUCCESS, run("CallBackGrouped", &first, sizeof first));
        EXPECT_EQ(HCCL_SUCCESS, HcclGroupStart());
        EXPECT_EQ(HCCL_SUCCESS, run("CallBackGrouped", &second, sizeof second));
        EXPECT_EQ(HCCL_SUCCESS, HcclGroupEnd());
        memset(&first, 0xEE, sizeof first);
        memset(&second, 0xEE, sizeof second);
        EXPECT_EQ(0, atomic_load(&kernels_run)); /* nothing before the outermost end */
        EXPECT_EQ(HCCL_SUCCESS, HcclGroupEnd());
        EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(stream));
        EXPECT_EQ(2, atomic_load(&kernels_run));
        EXPECT_TRUE(*memory != 0 && *memory != thread);
    }
    end();
}

static uint32_t
tell_thread(void *args)
{
    *params_of(args)->out = ((HcclP2pKernelParam *)args)->sendRecvThread;
    return 0;
}

TEST(a_kernel_alone_in_its_group_has_the_thread_that_was_named)
{
    struct talk_params params = {tell_thread, 0, NULL};

    begin();
    params.out = memory;
    EXPECT_EQ(HCCL_SUCCESS, HcclGroupStart());
    EXPECT_EQ(HCCL_SUCCESS, run("CallBackGrouped", &params, sizeof params));
    EXPECT_EQ(HCCL_SUCCESS, HcclGroupEnd());
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    EXPECT_EQ(thread, *memory);
    end();
}

TEST(a_group_returns_the_first_error_and_launches_the_rest)
{
    struct talk_params params = {tell_thread, 0, NULL};
    aclrtStream gone;

    test_expect_error("is not a live stream");
    begin();
    params.out = memory;
    *memory = 0;
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateStream(&gone));
    EXPECT_EQ(HCCL_SUCCESS, HcclGroupStart());
    aclrtStream good = stream;
    stream = gone;
    EXPECT_EQ(HCCL_SUCCESS, run("CallBackGrouped", &params, sizeof params));
    stream = good;
    EXPECT_EQ(HCCL_SUCCESS, run("CallBackGrouped", &params, sizeof params));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(gone));
    EXPECT_EQ(HCCL_E_RUNTIME, HcclGroupEnd());
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    EXPECT_TRUE(*memory != 0);
    end();
}

TEST(a_group_holds_one_kind_of_operation)
{
    struct talk_params params = {tell_thread, 0, NULL};

    test_expect_error("or kernels of operators, not both: end this group first");
    begin();
    params.out = memory;
    EXPECT_EQ(HCCL_SUCCESS, HcclGroupStart());
    EXPECT_EQ(HCCL_SUCCESS, run("CallBackGrouped", &params, sizeof params));
    EXPECT_EQ(HCCL_E_NOT_SUPPORT, HcclSendInner(memory, 1, HCCL_DATA_TYPE_INT64, 0, comm, stream));
    EXPECT_EQ(HCCL_SUCCESS, HcclGroupEnd());
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    EXPECT_EQ(thread, *memory);
    end();
}

/* ---- bad input ---- */

static HcclOpDesc op;
static HcclKernelFuncInfo function;
static HcclKernelLaunchCfg cfg;

static HcclResult
call(void)
{
    return HcclAicpuKernelLaunch(comm, &op, &function, thread, stream, &cfg);
}

static void
make_good(uint8_t *args, uint32_t len)
{
    op = make_op();
    function = make_function("CallBack", args, len);
    EXPECT_EQ(HCCL_SUCCESS, HcclKernelLaunchCfgInit(&cfg));
}

static void
bad_pointers(uint8_t *args)
{
    test_expect_error("opInfo is NULL");
    test_expect_error("funcInfo is NULL");
    test_expect_error("kernelLaunchCfg is NULL");
    test_expect_error("funcInfo->args is NULL");
    test_expect_error("communicator is NULL");
    make_good(args, 8);
    EXPECT_EQ(HCCL_E_PTR, HcclAicpuKernelLaunch(comm, NULL, &function, thread, stream, &cfg));
    EXPECT_EQ(HCCL_E_PTR, HcclAicpuKernelLaunch(comm, &op, NULL, thread, stream, &cfg));
    EXPECT_EQ(HCCL_E_PTR, HcclAicpuKernelLaunch(comm, &op, &function, thread, stream, NULL));
    EXPECT_EQ(HCCL_E_PTR, HcclAicpuKernelLaunch(NULL, &op, &function, thread, stream, &cfg));
    function.args = NULL;
    EXPECT_EQ(HCCL_E_PTR, call());
}

static void
bad_fields(uint8_t *args)
{
    test_expect_error("opInfo is not initialised: call HcclOpDescInit first");
    test_expect_error("kernelLaunchCfg is not initialised: call HcclKernelLaunchCfgInit first");
    test_expect_error("opInfo->opDescType is 4294967295: pass 1");
    test_expect_error("funcInfo->kernelSoName is empty");
    test_expect_error("funcInfo->kernelFuncName has no end: at most 255 characters");
    make_good(args, 8);
    op.header.magicWord = 1;
    EXPECT_EQ(HCCL_E_PARA, call());
    make_good(args, 8);
    cfg.header.magicWord = 1;
    EXPECT_EQ(HCCL_E_PARA, call());
    make_good(args, 8);
    op.opDescType = UINT32_MAX;
    EXPECT_EQ(HCCL_E_PARA, call());
    make_good(args, 8);
    function.kernelSoName[0] = '\0';
    EXPECT_EQ(HCCL_E_PARA, call());
    make_good(args, 8);
    memset(function.kernelFuncName, 'a', sizeof function.kernelFuncName);
    EXPECT_EQ(HCCL_E_PARA, call());
}

static void
bad_objects(uint8_t *args)
{
    ThreadHandle good = thread, host = 0;
    aclrtStream foreign;

    test_expect_error("is none of rank 0");
    test_expect_error("the thread is of engine CPU_TS: acquire one of AICPU_TS");
    test_expect_error("the unfold stream is of device 1");
    test_expect_error("the stream is of device 1");
    test_expect_error("is not a live stream");
    make_good(args, 8);
    EXPECT_EQ(HCCL_SUCCESS, HcclThreadAcquire(comm, COMM_ENGINE_CPU_TS, 1, 1, &host));
    thread = 0;
    EXPECT_EQ(HCCL_E_NOT_FOUND, call());
    thread = 0x1234;
    EXPECT_EQ(HCCL_E_NOT_FOUND, call());
    thread = host;
    EXPECT_EQ(HCCL_E_PARA, call());
    thread = good;
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(1));
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateStream(&foreign));
    op.p2p.unfoldStream = foreign;
    EXPECT_EQ(HCCL_E_PARA, call());
    op.p2p.unfoldStream = unfold;
    EXPECT_EQ(HCCL_E_PARA, HcclAicpuKernelLaunch(comm, &op, &function, thread, foreign, &cfg));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(foreign));
    EXPECT_EQ(HCCL_E_RUNTIME, HcclAicpuKernelLaunch(comm, &op, &function, thread, foreign, &cfg));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(1));
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
}

TEST(bad_launches_are_refused)
{
    static uint8_t args[8193];

    test_expect_error("8193 bytes of arguments: in a group at most 8192 go");
    begin();
    bad_pointers(args);
    bad_fields(args);
    bad_objects(args);
    EXPECT_EQ(HCCL_SUCCESS, HcclGroupStart());
    make_good(args, sizeof args);
    EXPECT_EQ(HCCL_E_PARA, call());
    EXPECT_EQ(HCCL_SUCCESS, HcclGroupEnd());
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(unfold));
    EXPECT_EQ(0, atomic_load(&kernels_run));
    end();
}

TEST(a_suspended_communicator_launches_nothing)
{
    static uint8_t args[8];

    test_expect_error("HcclAicpuKernelLaunch: rank 0 of ");
    begin();
    make_good(args, sizeof args);
    EXPECT_EQ(HCCL_SUCCESS, HcclCommSuspend(comm));
    EXPECT_EQ(HCCL_E_SUSPENDING, call());
    EXPECT_EQ(HCCL_SUCCESS, HcclCommResume(comm));
    memory[0] = 3;
    EXPECT_EQ(HCCL_SUCCESS, run_copy(&memory[1], &memory[0], 8));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    EXPECT_EQ(3, memory[1]);
    end();
}

/* Whichever allocation fails: the launch says so, and no stream is left waiting. */
static void
without_memory(bool grouped)
{
    struct copy_args args = {queue_copy, thread, &memory[1], &memory[0], 8};
    struct talk_params params = {tell_thread, 0, memory};
    HcclResult rc = HCCL_E_MEMORY;

    for (long nth = 0; rc != HCCL_SUCCESS; nth++) {
        hc_alloc_fail_nth(nth);
        if (grouped) {
            EXPECT_EQ(HCCL_SUCCESS, HcclGroupStart());
            rc = run("CallBackGrouped", &params, sizeof params);
            if (rc == HCCL_SUCCESS)
                rc = HcclGroupEnd();
            else
                EXPECT_EQ(HCCL_SUCCESS, HcclGroupEnd());
        } else {
            rc = run("CallBack", &args, sizeof args);
        }
        hc_alloc_fail_nth(-1);
        EXPECT_TRUE(rc == HCCL_SUCCESS || rc == HCCL_E_MEMORY);
        (void)aclrtSynchronizeStream(stream);
        (void)aclrtSynchronizeStream(unfold);
    }
}

TEST(without_memory_a_launch_leaves_no_stream_waiting)
{
    test_allow_errors();
    begin();
    without_memory(false);
    without_memory(true);
    end();
}
