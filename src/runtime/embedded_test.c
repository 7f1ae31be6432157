/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels that are part of the program. Handle tables stay for the process' lifetime. */
#include <pthread.h>
#include <stdatomic.h>

#include "acl/acl.h"
#include "base/alloc.h"
#include "hcomm/hcomm_embedded.h"
#include "tests/support/test.h"

struct args {
    _Atomic uint32_t *calls;
    uint32_t result;
};

static uint32_t
count_call(void *arg)
{
    struct args *args = arg;

    atomic_fetch_add(args->calls, 1);
    return args->result;
}

static aclrtStream
begin(void)
{
    aclrtStream stream = NULL;

    EXPECT_EQ(0, aclrtSetDevice(0));
    EXPECT_EQ(0, aclrtCreateStream(&stream));
    return stream;
}

TEST_WITH(an_embedded_kernel_runs_once_for_each_block, TEST_KEEPS_MEMORY)
{
    _Atomic uint32_t calls = 0;
    struct args args = {.calls = &calls};
    aclrtStream stream = begin();

    EXPECT_EQ(0, HcommLaunchEmbedded(count_call, "count", 3, stream, &args, sizeof args));
    args.result = 1; /* the kernel has a copy */
    EXPECT_EQ(0, aclrtSynchronizeStream(stream));
    EXPECT_EQ(3, atomic_load(&calls));
    EXPECT_EQ(0, aclrtDestroyStream(stream));
}

TEST_WITH(an_embedded_kernel_runs_on_the_device_of_its_stream, TEST_KEEPS_MEMORY)
{
    _Atomic uint32_t calls = 0;
    struct args args = {.calls = &calls};
    aclrtStream stream = begin();

    EXPECT_EQ(0, aclrtSetDevice(1));
    EXPECT_EQ(0, HcommLaunchEmbedded(count_call, "count", 1, stream, &args, sizeof args));
    EXPECT_EQ(0, aclrtSetDevice(0));
    EXPECT_EQ(0, aclrtSynchronizeStream(stream));
    EXPECT_EQ(1, atomic_load(&calls));
    EXPECT_EQ(0, aclrtDestroyStream(stream));
}

TEST_WITH(an_embedded_kernel_that_fails_fails_its_stream, TEST_KEEPS_MEMORY)
{
    _Atomic uint32_t calls = 0;
    struct args args = {.calls = &calls, .result = 7};
    aclrtStream stream = begin();

    test_expect_error("kernel count in this process on device 0 returned 7");
    EXPECT_EQ(0, HcommLaunchEmbedded(count_call, "count", 1, stream, &args, sizeof args));
    EXPECT_EQ(ACL_ERROR_RT_AICPU_EXCEPTION, aclrtSynchronizeStream(stream));
    EXPECT_EQ(0, aclrtDestroyStream(stream));
}

static uint32_t
end_thread(void *arg)
{
    (void)arg;
    pthread_exit(NULL);
}

static uint32_t
cancel_itself(void *arg)
{
    (void)arg;
    pthread_cancel(pthread_self());
    return 0;
}

TEST_WITH(a_kernel_that_ends_its_thread_fails_its_stream_and_no_other, TEST_KEEPS_MEMORY)
{
    _Atomic uint32_t calls = 0;
    struct args args = {.calls = &calls};
    aclrtStream stream = begin();

    test_expect_error("it ended its thread: return from the function");
    for (uint32_t i = 1; i <= 8; i++) {
        EXPECT_EQ(0, HcommLaunchEmbedded(end_thread, "end", 1, stream, "x", 1));
        EXPECT_EQ(ACL_ERROR_RT_AICPU_EXCEPTION, aclrtSynchronizeStream(stream));
        EXPECT_EQ(0, HcommLaunchEmbedded(cancel_itself, "cancel", 1, stream, "x", 1));
        EXPECT_EQ(0, HcommLaunchEmbedded(count_call, "count", 1, stream, &args, sizeof args));
        EXPECT_EQ(0, aclrtSynchronizeStream(stream));
        EXPECT_EQ(i, atomic_load(&calls));
    }
    EXPECT_EQ(0, aclrtDestroyStream(stream));
}

static uint32_t
synchronize_own(void *arg)
{
    return (uint32_t)aclrtSynchronizeStream(*(aclrtStream *)arg);
}

TEST_WITH(a_kernel_that_waits_for_its_own_stream_is_told_at_once, TEST_KEEPS_MEMORY)
{
    aclrtStream stream = begin();

    test_expect_error("waits for that stream, and so for its own end");
    test_expect_error("kernel own in this process on device 0 returned 207000");
    EXPECT_EQ(0, HcommLaunchEmbedded(synchronize_own, "own", 1, stream, &stream, sizeof stream));
    EXPECT_EQ(ACL_ERROR_RT_AICPU_EXCEPTION, aclrtSynchronizeStreamWithTimeout(stream, 10000));
    EXPECT_EQ(0, aclrtDestroyStream(stream));
}

static uint32_t
reset_own(void *arg)
{
    (void)arg;
    return aclrtResetDevice(0) == ACL_ERROR_RT_FEATURE_NOT_SUPPORT &&
                   aclrtResetDeviceForce(0) == ACL_ERROR_RT_FEATURE_NOT_SUPPORT
               ? 0
               : 1;
}

TEST_WITH(a_kernel_cannot_reset_its_device, TEST_KEEPS_MEMORY)
{
    aclrtStream stream = begin();

    test_expect_error("a device is reset from the host");
    EXPECT_EQ(0, HcommLaunchEmbedded(reset_own, "reset", 1, stream, &stream, sizeof stream));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStreamWithTimeout(stream, 10000));
    EXPECT_EQ(0, aclrtDestroyStream(stream));
}

TEST_WITH(an_embedded_launch_checks_its_arguments, TEST_KEEPS_MEMORY)
{
    aclrtStream stream = begin();
    int x = 0;

    test_expect_error("kernel is NULL");
    test_expect_error("name is NULL");
    test_expect_error("args is NULL");
    test_expect_error("numBlocks is 0");
    test_expect_error("argsSize is 0");
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, HcommLaunchEmbedded(NULL, "k", 1, stream, &x, 4));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, HcommLaunchEmbedded(count_call, NULL, 1, stream, &x, 4));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, HcommLaunchEmbedded(count_call, "k", 1, stream, NULL, 4));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, HcommLaunchEmbedded(count_call, "k", 0, stream, &x, 4));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, HcommLaunchEmbedded(count_call, "k", 1, stream, &x, 0));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtGetLastError(ACL_RT_THREAD_LEVEL));
    EXPECT_EQ(0, aclrtDestroyStream(stream));
    test_allow_errors();
    EXPECT_NE(0, HcommLaunchEmbedded(count_call, "k", 1, stream, &x, 4)); /* a stale handle */
}

TEST_WITH(an_embedded_launch_survives_every_failed_allocation, TEST_KEEPS_MEMORY)
{
    _Atomic uint32_t calls = 0;
    struct args args = {.calls = &calls};
    aclrtStream stream = begin();
    long nth = 0, live;
    aclError rc;

    EXPECT_EQ(0, HcommLaunchEmbedded(count_call, "count", 1, stream, &args, sizeof args));
    EXPECT_EQ(0, aclrtSynchronizeStream(stream)); /* tables and threads are there now */
    live = hc_alloc_live();
    test_allow_errors();
    do {
        hc_alloc_fail_nth(nth++);
        rc = HcommLaunchEmbedded(count_call, "count", 1, stream, &args, sizeof args);
        hc_alloc_fail_nth(-1);
        if (rc != ACL_SUCCESS)
            EXPECT_EQ(ACL_ERROR_RT_MEMORY_ALLOCATION, rc);
        EXPECT_EQ(0, aclrtSynchronizeStream(stream));
        EXPECT_EQ(live, hc_alloc_live());
    } while (rc != ACL_SUCCESS);
    EXPECT_TRUE(nth > 3);
    EXPECT_EQ(2, atomic_load(&calls));
    EXPECT_EQ(0, aclrtDestroyStream(stream));
}
