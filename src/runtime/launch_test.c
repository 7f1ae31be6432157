/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels, host functions and callbacks as tasks of a stream, and kernel arguments. Handle tables
 * stay for the process' lifetime. */
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>

#include "runtime/kernel_lib.h"
#include "runtime/stream.h"
#include "tests/support/kernels.h"

/* ---- running ---- */

TEST_WITH(a_kernel_runs_in_stream_order, TEST_KEEPS_MEMORY)
{
    uint32_t values[3] = {0};
    aclrtFuncHandle function;
    aclrtBinHandle binary;
    aclrtStream stream;

    install();
    EXPECT_EQ(0, aclrtSetDevice(0));
    EXPECT_EQ(0, aclrtCreateStream(&stream));
    binary = load();
    function = get(binary, "CountCalls");
    for (int i = 0; i < 3; i++) {
        uint32_t *out = &values[i];

        EXPECT_EQ(0, launch(function, stream, &out, sizeof out)); /* `out` is copied */
    }
    EXPECT_EQ(0, aclrtSynchronizeStream(stream));
    for (uint32_t i = 0; i < 3; i++)
        EXPECT_EQ(i + 1, values[i]);
    EXPECT_EQ(0, aclrtDestroyStream(stream));
    EXPECT_EQ(0, aclrtBinaryUnLoad(binary));
}

TEST_WITH(a_kernel_that_fails_fails_its_stream, TEST_KEEPS_MEMORY)
{
    aclrtBinHandle binary;
    aclrtStream stream;
    uint32_t value;

    install();
    EXPECT_EQ(0, aclrtSetDevice(0));
    EXPECT_EQ(0, aclrtCreateStream(&stream));
    binary = load();
    EXPECT_EQ(0, launch(get(binary, "ReturnSeven"), stream, "x", 1));
    test_expect_error("kernel ReturnSeven in stateful_kernel.so on device 0 returned 7");
    EXPECT_EQ(ACL_ERROR_RT_AICPU_EXCEPTION, aclrtSynchronizeStream(stream));
    EXPECT_CONTAINS("returned 7", aclGetRecentErrMsg());
    EXPECT_EQ(0, aclrtDestroyStream(stream));
    EXPECT_EQ(0, run_answer(binary, &value));
    EXPECT_EQ(0, aclrtBinaryUnLoad(binary));
}

TEST_WITH(code_that_is_missing_fails_when_it_runs, TEST_KEEPS_MEMORY)
{
    static const char *const parts[] = {"it is in none of the 0 packages",
                                        "has no function Nothing",
                                        "is not a plain file name",
                                        "no opKernelLib",
                                        "no functionName",
                                        "is not a shared object for this machine"};
    static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
    aclrtBinHandle binary = NULL;
    aclrtStream stream;

    install();
    write_text("bad.so", "no elf at all");
    write_text(
        "a.json",
        "{" ENTRY("a", "none.so", "x") "," ENTRY("b", "stateless_kernel.so", "Nothing") "," ENTRY(
            "c", "../x.so", "x") ",\"d\": {\"opInfo\": {\"opKernelLib\": \"Wrong\"}},"
                                 "\"e\": {\"opInfo\": {\"opKernelLib\": \"TFKernel\"}}," ENTRY(
                                     "f", "bad.so", "x") "}");
    EXPECT_EQ(0, aclrtSetDevice(0));
    EXPECT_EQ(0, aclrtCreateStream(&stream));
    EXPECT_EQ(0, load_as("a.json", 0, &binary));
    for (int i = 0; i < 6; i++) {
        test_expect_error(parts[i]);
        EXPECT_EQ(0, launch(get(binary, names[i]), stream, "x", 1));
        EXPECT_EQ(ACL_ERROR_RT_AICPU_EXCEPTION, aclrtSynchronizeStream(stream));
    }
    EXPECT_EQ(0, aclrtDestroyStream(stream));
    EXPECT_EQ(0, aclrtBinaryUnLoad(binary));
}

TEST_WITH(a_kernel_that_takes_too_long_times_out, TEST_KEEPS_MEMORY)
{
    aclrtLaunchKernelAttr attr = {.id = ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US,
                                  .value.timeoutUs.timeoutLow = 50000};
    aclrtLaunchKernelCfg cfg = {.attrs = &attr, .numAttrs = 1};
    static _Atomic uint32_t set;
    struct {
        void *out;
        uint32_t ms;
    } args = {&set, 400};
    aclrtBinHandle binary;
    aclrtStream stream;

    install();
    EXPECT_EQ(0, aclrtSetDevice(0));
    EXPECT_EQ(0, aclrtCreateStream(&stream));
    binary = load();
    EXPECT_EQ(0, aclrtLaunchKernelWithHostArgs(get(binary, "SleepThenSet"), 1, stream, &cfg, &args,
                                               sizeof args, NULL, 0));
    test_expect_error("has not returned within 50 ms");
    EXPECT_EQ(ACL_ERROR_RT_AICPU_TIMEOUT, aclrtSynchronizeStream(stream));
    EXPECT_EQ(0, set);
    EXPECT_EQ(0, aclrtDestroyStream(stream));
    EXPECT_EQ(0, aclrtBinaryUnLoad(binary)); /* the kernel still runs, and keeps its code */
    for (int i = 0; i < 300 && set == 0; i++)
        usleep(10000);
    EXPECT_EQ(1, set);
    for (int i = 0; i < 300 && rt_kernel_lib_copies() > 0; i++)
        usleep(10000);
    EXPECT_EQ(0, rt_kernel_lib_copies());
}

TEST_WITH(blocks_run_one_after_the_other, TEST_KEEPS_MEMORY)
{
    uint32_t values[4] = {0}, *out = values;
    aclrtBinHandle binary;

    install();
    EXPECT_EQ(0, aclrtSetDevice(0));
    binary = load();
    EXPECT_EQ(0, aclrtLaunchKernelWithHostArgs(get(binary, "RunCpuKernelWithBlockDim"), 3, NULL,
                                               NULL, &out, sizeof out, NULL, 0));
    EXPECT_EQ(0, aclrtSynchronizeStream(NULL));
    for (int i = 0; i < 3; i++)
        EXPECT_EQ(3, values[i]);
    EXPECT_EQ(0, values[3]);
    EXPECT_EQ(0, aclrtLaunchKernel(get(binary, "CountCalls"), 5, &out, sizeof out, NULL));
    EXPECT_EQ(0, aclrtSynchronizeStream(NULL));
    EXPECT_EQ(5, values[0]);
    EXPECT_EQ(0, aclrtBinaryUnLoad(binary));
}

static struct rt_stream *batch_stream;
static uint8_t batch_target;

static void
push_one(void)
{
    struct rt_task task;

    rt_task_set(&task, &batch_target, 1, 1);
    (void)rt_stream_push(batch_stream, &task);
}

TEST_WITH(a_kernel_that_leaves_a_batch_open_fails_and_the_batch_is_dropped, TEST_KEEPS_MEMORY)
{
    struct {
        bool (*begin)(void);
        void (*push)(void);
    } args = {rt_batch_begin, push_one};
    aclrtStream stream, other;
    aclrtBinHandle binary;

    install();
    EXPECT_EQ(0, aclrtSetDevice(0));
    EXPECT_EQ(0, aclrtCreateStream(&stream));
    EXPECT_EQ(0, aclrtCreateStream(&other));
    EXPECT_EQ(0, rt_stream_hold(other, &batch_stream));
    binary = load();
    EXPECT_EQ(0, launch(get(binary, "LeaveBatchOpen"), stream, &args, sizeof args));
    test_expect_error("it returned inside a batch: the 1 tasks it had put there are dropped");
    EXPECT_EQ(ACL_ERROR_RT_AICPU_EXCEPTION, aclrtSynchronizeStream(stream));
    EXPECT_EQ(0, aclrtSynchronizeStream(other));
    EXPECT_EQ(0, batch_target);
    rt_stream_release(batch_stream);
    EXPECT_EQ(0, aclrtDestroyStream(stream));
    EXPECT_EQ(0, aclrtDestroyStream(other));
    EXPECT_EQ(0, aclrtBinaryUnLoad(binary));
}

struct racer {
    aclrtBinHandle binary;
    int32_t device;
    uint32_t value;
    aclError rc;
};

static void *
race(void *arg)
{
    struct racer *racer = arg;
    uint32_t *out = &racer->value;
    aclrtFuncHandle function = NULL;

    racer->rc = aclrtSetDevice(racer->device);
    if (racer->rc == 0)
        racer->rc = aclrtBinaryGetFunction(racer->binary, "CountCalls", &function);
    if (racer->rc == 0)
        racer->rc = launch(function, NULL, &out, sizeof out);
    if (racer->rc == 0)
        racer->rc = aclrtSynchronizeStream(NULL);
    return NULL;
}

TEST_WITH(a_library_is_loaded_once_however_many_ask, TEST_KEEPS_MEMORY)
{
    struct racer racers[8];
    pthread_t threads[8];
    uint32_t sum[2] = {0};
    aclrtBinHandle binary;

    install();
    binary = load();
    for (int i = 0; i < 8; i++) {
        racers[i] = (struct racer){.binary = binary, .device = i % 2};
        EXPECT_EQ(0, pthread_create(&threads[i], NULL, race, &racers[i]));
    }
    for (int i = 0; i < 8; i++) {
        EXPECT_EQ(0, pthread_join(threads[i], NULL));
        EXPECT_EQ(0, racers[i].rc);
        sum[i % 2] += racers[i].value;
    }
    EXPECT_EQ(1 + 2 + 3 + 4, sum[0]);
    EXPECT_EQ(1 + 2 + 3 + 4, sum[1]);
    EXPECT_EQ(2, rt_kernel_lib_copies());
    EXPECT_EQ(0, aclrtBinaryUnLoad(binary));
}

/* ---- arguments ---- */

TEST_WITH(parameters_are_packed, TEST_KEEPS_MEMORY)
{
    uint8_t got[16] = {0}, one = 0xAA, *out = got;
    uint64_t len = 11, two = 0x1122334455667788;
    uint16_t three = 0x9900;
    aclrtParamHandle param, second;
    aclrtFuncHandle function;
    aclrtArgsHandle args = NULL, same = NULL;
    aclrtBinHandle binary;

    install();
    EXPECT_EQ(0, aclrtSetDevice(0));
    binary = load();
    function = get(binary, "Echo");
    EXPECT_EQ(0, aclrtKernelArgsInit(function, &args));
    EXPECT_EQ(0, aclrtKernelArgsAppend(args, &one, 1, &param));
    EXPECT_EQ(0, aclrtKernelArgsInit(function, &same)); /* starts again */
    EXPECT_TRUE(args == same);
    EXPECT_EQ(0, aclrtKernelArgsAppend(args, &out, sizeof out, &param));
    EXPECT_EQ(0, aclrtKernelArgsAppend(args, &len, sizeof len, &param));
    EXPECT_EQ(0, aclrtKernelArgsAppend(args, &one, 1, &param));
    EXPECT_EQ(0, aclrtKernelArgsAppend(args, &two, 8, &second));
    EXPECT_EQ(0, aclrtKernelArgsAppend(args, &three, 2, &param));
    test_expect_error("call aclrtKernelArgsFinalize");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID,
              aclrtLaunchKernelWithConfig(function, 1, NULL, NULL, args, NULL));
    EXPECT_EQ(0, aclrtKernelArgsFinalize(args));
    test_expect_error("no parameter can be added after aclrtKernelArgsFinalize");
    EXPECT_EQ(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtKernelArgsAppend(args, &three, 2, &param));
    EXPECT_EQ(0, aclrtLaunchKernelWithConfig(function, 1, NULL, NULL, args, NULL));
    EXPECT_EQ(0, aclrtSynchronizeStream(NULL));
    EXPECT_MEMEQ("\xAA\x88\x77\x66\x55\x44\x33\x22\x11\x00\x99", got, 11);

    two = 0;
    EXPECT_EQ(0, aclrtKernelArgsParaUpdate(args, second, &two, 8));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID,
              aclrtLaunchKernelWithConfig(function, 1, NULL, NULL, args, NULL));
    EXPECT_EQ(0, aclrtKernelArgsFinalize(args));
    EXPECT_EQ(0, aclrtLaunchKernelWithConfig(function, 1, NULL, NULL, args, NULL));
    EXPECT_EQ(0, aclrtSynchronizeStream(NULL));
    EXPECT_MEMEQ("\xAA\0\0\0\0\0\0\0\0\x00\x99", got, 11);
    EXPECT_EQ(0, aclrtBinaryUnLoad(binary));
}

/* In each run of a captured launch the addresses are those of the run's own copy. */
static void
check_captured_place_holders(aclrtFuncHandle function, aclrtArgsHandle args, void *host, size_t len,
                             aclrtPlaceHolderInfo *info, char *got)
{
    aclmdlRI graphs[2];
    aclrtStream stream;

    EXPECT_EQ(0, aclrtCreateStream(&stream));
    for (int i = 0; i < 2; i++) {
        EXPECT_EQ(0, aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
        if (i == 0)
            EXPECT_EQ(0, aclrtLaunchKernelWithConfig(function, 1, stream, NULL, args, NULL));
        else
            EXPECT_EQ(0,
                      aclrtLaunchKernelWithHostArgs(function, 1, stream, NULL, host, len, info, 1));
        EXPECT_EQ(0, aclmdlRICaptureEnd(stream, &graphs[i]));
    }
    for (int i = 0; i < 4; i++) {
        memset(got, 0, 8);
        EXPECT_EQ(0, aclmdlRIExecuteAsync(graphs[i % 2], stream));
        EXPECT_EQ(0, aclrtSynchronizeStream(stream));
        EXPECT_STREQ(i % 2 == 0 ? "abcdefg" : "ghijklm", got);
    }
    for (int i = 0; i < 2; i++)
        EXPECT_EQ(0, aclmdlRIDestroy(graphs[i]));
    EXPECT_EQ(0, aclrtDestroyStream(stream));
}

TEST_WITH(place_holders_get_the_address_of_their_data, TEST_KEEPS_MEMORY)
{
    aclrtPlaceHolderInfo info = {.addrOffset = 8, .dataOffset = 16};
    uint8_t got[8] = {0}, *out = got;
    aclrtParamHandle param, holder;
    aclrtFuncHandle function;
    aclrtArgsHandle args;
    aclrtBinHandle binary;
    void *data = NULL;
    struct {
        void *out, *address;
        char text[8];
    } host = {got, NULL, "ghijklm"};

    install();
    EXPECT_EQ(0, aclrtSetDevice(0));
    binary = load();
    function = get(binary, "FollowPointer");
    EXPECT_EQ(0, aclrtKernelArgsInit(function, &args));
    EXPECT_EQ(0, aclrtKernelArgsAppend(args, &out, sizeof out, &param));
    EXPECT_EQ(0, aclrtKernelArgsAppendPlaceHolder(args, &holder));
    test_expect_error("parameter 1 is no place-holder");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID,
              aclrtKernelArgsGetPlaceHolderBuffer(args, param, 8, &data));
    EXPECT_EQ(0, aclrtKernelArgsGetPlaceHolderBuffer(args, holder, 8, &data));
    memcpy(data, "abcdefg", 8);
    test_expect_error("after aclrtKernelArgsGetPlaceHolderBuffer");
    EXPECT_EQ(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtKernelArgsAppend(args, &out, 8, &param));
    EXPECT_EQ(0, aclrtKernelArgsFinalize(args));
    EXPECT_EQ(0, aclrtLaunchKernelWithConfig(function, 1, NULL, NULL, args, NULL));
    EXPECT_EQ(0, aclrtSynchronizeStream(NULL));
    EXPECT_STREQ("abcdefg", (char *)got);
    EXPECT_EQ(0,
              aclrtLaunchKernelWithHostArgs(function, 1, NULL, NULL, &host, sizeof host, &info, 1));
    EXPECT_EQ(0, aclrtSynchronizeStream(NULL));
    EXPECT_STREQ("ghijklm", (char *)got);
    EXPECT_NULL(host.address);
    check_captured_place_holders(function, args, &host, sizeof host, &info, (char *)got);
    info.addrOffset = 17;
    test_expect_error("leaves the 24 bytes");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID,
              aclrtLaunchKernelWithHostArgs(function, 1, NULL, NULL, &host, sizeof host, &info, 1));
    EXPECT_EQ(0, aclrtBinaryUnLoad(binary));
}

static void *
append_elsewhere(void *arg)
{
    aclrtParamHandle param;

    return (void *)(intptr_t)aclrtKernelArgsAppend(arg, "x", 1, &param);
}

TEST_WITH(argument_limits_are_kept, TEST_KEEPS_MEMORY)
{
    static uint8_t block[65537];
    aclrtParamHandle param;
    aclrtFuncHandle function;
    aclrtArgsHandle args;
    aclrtBinHandle binary;
    pthread_t thread;
    void *result;

    install();
    EXPECT_EQ(0, aclrtSetDevice(0));
    binary = load();
    function = get(binary, "Echo");
    EXPECT_EQ(0, aclrtKernelArgsInit(function, &args));
    test_expect_error("65536 is the most");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtKernelArgsAppend(args, block, 65537, &param));
    EXPECT_EQ(0, aclrtKernelArgsAppend(args, block, 65536, &param));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtKernelArgsAppend(args, block, 1, &param));
    EXPECT_EQ(0, aclrtKernelArgsInit(function, &args));
    for (int i = 0; i < 128; i++)
        EXPECT_EQ(0, aclrtKernelArgsAppend(args, block, 1, &param));
    test_expect_error("128 parameters are the most");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtKernelArgsAppend(args, block, 1, &param));
    test_expect_error("belongs to another thread");
    EXPECT_EQ(0, pthread_create(&thread, NULL, append_elsewhere, args));
    EXPECT_EQ(0, pthread_join(thread, &result));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, (intptr_t)result);
    test_expect_error("is no handle at all");
    EXPECT_EQ(ACL_ERROR_RT_INVALID_HANDLE, aclrtKernelArgsAppend((void *)block, block, 1, &param));
    EXPECT_EQ(0, aclrtBinaryUnLoad(binary));
}

TEST_WITH(launch_arguments_are_checked, TEST_KEEPS_MEMORY)
{
    aclrtLaunchKernelAttr attrs[2] = {{.id = ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT, .value.timeout = 1},
                                      {.id = ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US}};
    aclrtLaunchKernelCfg cfg = {.attrs = NULL, .numAttrs = 0};
    aclrtFuncHandle function;
    aclrtBinHandle binary;
    aclrtContext context;
    aclrtStream stream;
    uint64_t arg = 0;

    install();
    test_allow_errors();
    EXPECT_EQ(0, aclrtSetDevice(0));
    binary = load();
    function = get(binary, "ReturnSeven");
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, launch(NULL, NULL, &arg, 8));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, launch(function, NULL, NULL, 8));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, launch(function, NULL, &arg, 0));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtLaunchKernelV2(function, 1, &arg, 8, &cfg, NULL));
    cfg.attrs = attrs;
    cfg.numAttrs = 2;
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtLaunchKernelV2(function, 1, &arg, 8, &cfg, NULL));
    cfg.numAttrs = 1;
    attrs[0].id = (aclrtLaunchKernelAttrId)99;
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtLaunchKernelV2(function, 1, &arg, 8, &cfg, NULL));
    attrs[0].id = ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE;
    attrs[0].value.schemMode = 2;
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtLaunchKernelV2(function, 1, &arg, 8, &cfg, NULL));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtLaunchKernel(function, 0, &arg, 8, NULL));
    EXPECT_EQ(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
              aclrtLaunchKernelWithArgsArray(function, 1, NULL, NULL, NULL));
    EXPECT_EQ(0, aclrtCreateStream(&stream));
    EXPECT_EQ(0, aclrtCreateContext(&context, 0));
    EXPECT_EQ(ACL_ERROR_RT_STREAM_CONTEXT, launch(function, stream, &arg, 8));
    EXPECT_EQ(0, aclrtDestroyContext(context));
    EXPECT_EQ(0, aclrtSetDevice(0));
    EXPECT_EQ(0, aclrtDestroyStream(stream));
    EXPECT_EQ(0, aclrtBinaryUnLoad(binary));
}

TEST_WITH(launching_survives_every_failed_allocation, TEST_KEEPS_MEMORY)
{
    uint32_t value = 0, *out = &value;
    long nth = 0, num = 0;
    aclError rc;

    install();
    test_allow_errors();
    EXPECT_EQ(0, aclrtSetDevice(0));
    do { /* a failure shows at the launch or at the synchronisation */
        aclrtBinHandle binary = load();
        aclrtFuncHandle function = get(binary, "CountCalls");

        hc_alloc_fail_nth(nth++);
        rc = launch(function, NULL, &out, sizeof out);
        if (rc == 0)
            rc = aclrtSynchronizeStream(NULL);
        num += hc_alloc_failed();
        hc_alloc_fail_nth(-1);
        EXPECT_EQ(0, aclrtBinaryUnLoad(binary));
        EXPECT_EQ(0, rt_kernel_lib_copies());
    } while (rc != 0 || nth < 30);
    EXPECT_TRUE(num > 5);
    EXPECT_TRUE(value > 0);
}

/* ---- host functions and callbacks ---- */

static void
set_to_one(void *arg)
{
    usleep(20000);
    *(_Atomic int *)arg = 1;
}

TEST_WITH(a_host_function_runs_in_stream_order, TEST_KEEPS_MEMORY)
{
    _Atomic int ran = 0;

    EXPECT_EQ(0, aclrtSetDevice(0));
    EXPECT_EQ(0, aclrtLaunchHostFunc(NULL, set_to_one, (void *)&ran));
    EXPECT_EQ(0, aclrtSynchronizeStream(NULL));
    EXPECT_EQ(1, ran);
    test_expect_error("fn is NULL");
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtLaunchHostFunc(NULL, NULL, NULL));
}

static _Atomic int stop_reports;

static void *
process_reports(void *arg)
{
    (void)arg;
    while (!stop_reports) {
        aclError rc = aclrtProcessReport(50);

        if (rc != 0 && rc != ACL_ERROR_RT_REPORT_TIMEOUT && rc != ACL_ERROR_RT_THREAD_SUBSCRIBE)
            return (void *)1;
    }
    return NULL;
}

TEST_WITH(callbacks_run_on_the_subscribed_thread, TEST_KEEPS_MEMORY)
{
    _Atomic int ran = 0, later = 0;
    aclrtStream stream;
    pthread_t thread;
    void *result;

    test_allow_errors(); /* the thread asks before it is subscribed */
    EXPECT_EQ(0, aclrtSetDevice(0));
    EXPECT_EQ(0, aclrtCreateStream(&stream));
    EXPECT_EQ(ACL_ERROR_RT_STREAM_NO_CB_REG,
              aclrtLaunchCallback(set_to_one, (void *)&ran, ACL_CALLBACK_BLOCK, stream));
    EXPECT_EQ(0, pthread_create(&thread, NULL, process_reports, NULL));
    EXPECT_EQ(0, aclrtSubscribeReport((uint64_t)thread, stream));
    EXPECT_EQ(ACL_ERROR_RT_STREAM_SUBSCRIBE, aclrtSubscribeReport(17, stream));
    EXPECT_EQ(0, aclrtLaunchCallback(set_to_one, (void *)&ran, ACL_CALLBACK_BLOCK, stream));
    EXPECT_EQ(0, aclrtSynchronizeStream(stream));
    EXPECT_EQ(1, ran);
    EXPECT_EQ(0, aclrtLaunchCallback(set_to_one, (void *)&later, ACL_CALLBACK_NO_BLOCK, stream));
    EXPECT_EQ(0, aclrtSynchronizeStream(stream));
    for (int i = 0; i < 500 && !later; i++)
        usleep(10000);
    EXPECT_EQ(1, later);
    stop_reports = 1;
    EXPECT_EQ(0, pthread_join(thread, &result));
    EXPECT_NULL(result);
    EXPECT_EQ(ACL_ERROR_RT_THREAD_SUBSCRIBE, aclrtUnSubscribeReport(17, stream));
    EXPECT_EQ(0, aclrtUnSubscribeReport((uint64_t)thread, stream));
    EXPECT_EQ(0, aclrtDestroyStream(stream));
}

/* ---- kernels of the library's own ---- */

struct own {
    _Atomic int *here, *there; /* times it was called where it may not block, where it may */
    bool blocks;
    uint32_t result;
};

static uint32_t
own_kernel(void *args)
{
    const struct own *own = args;
    int32_t device = -1;

    if (!rt_on_aicpu() || rt_current_device(&device) != ACL_SUCCESS || device != 1)
        return 99;
    atomic_fetch_add(rt_kernel_may_block() ? own->there : own->here, 1);
    return own->blocks && !rt_kernel_may_block() ? RT_KERNEL_ELSEWHERE : own->result;
}

TEST(an_own_kernel_is_a_job_only_where_it_would_block)
{
    _Atomic int here = 0, there = 0;
    struct own own = {.here = &here, .there = &there};
    aclrtStream stream;

    EXPECT_EQ(0, aclrtSetDevice(1));
    EXPECT_EQ(0, aclrtCreateStream(&stream));
    EXPECT_EQ(0, rt_launch_own(own_kernel, "Own", stream, &own, sizeof own));
    EXPECT_EQ(0, aclrtSynchronizeStream(stream));
    EXPECT_EQ(1, here);
    EXPECT_EQ(0, there);
    own.blocks = true;
    EXPECT_EQ(0, rt_launch_own(own_kernel, "Own", stream, &own, sizeof own));
    EXPECT_EQ(0, aclrtSynchronizeStream(stream));
    EXPECT_EQ(2, here);
    EXPECT_EQ(1, there);
    EXPECT_FALSE(rt_on_aicpu());
    EXPECT_EQ(0, aclrtDestroyStream(stream));
    EXPECT_EQ(0, aclrtResetDevice(1));
}

TEST(an_own_kernel_that_fails_fails_its_stream)
{
    _Atomic int here = 0, there = 0;
    struct own own = {.here = &here, .there = &there, .result = 7};
    aclrtStream stream;

    EXPECT_EQ(0, aclrtSetDevice(1));
    EXPECT_EQ(0, aclrtCreateStream(&stream));
    test_expect_error("kernel Own of this library on device 1 returned 7");
    EXPECT_EQ(0, rt_launch_own(own_kernel, "Own", stream, &own, sizeof own));
    EXPECT_EQ(ACL_ERROR_RT_AICPU_EXCEPTION, aclrtSynchronizeStream(stream));
    EXPECT_EQ(0, aclrtDestroyStream(stream));
    EXPECT_EQ(0, aclrtResetDevice(1));
}

/* Its own batch is not taken for that of the thread that drives. */
TEST(an_own_kernel_keeps_out_of_a_batch)
{
    _Atomic int here = 0, there = 0;
    struct own own = {.here = &here, .there = &there};
    aclrtStream stream;

    EXPECT_EQ(0, aclrtSetDevice(1));
    EXPECT_EQ(0, aclrtCreateStream(&stream));
    EXPECT_EQ(0, rt_launch_own(own_kernel, "Own", stream, &own, sizeof own));
    EXPECT_EQ(0, aclrtSynchronizeStream(stream));
    EXPECT_EQ(1, here + there);
    EXPECT_TRUE(rt_batch_begin());
    EXPECT_EQ(0, rt_launch_own(own_kernel, "Own", stream, &own, sizeof own));
    EXPECT_TRUE(rt_batch_is_open());
    EXPECT_EQ(0, rt_batch_end());
    EXPECT_EQ(0, aclrtSynchronizeStream(stream));
    EXPECT_EQ(2, here + there);
    EXPECT_EQ(0, aclrtDestroyStream(stream));
    EXPECT_EQ(0, aclrtResetDevice(1));
}
