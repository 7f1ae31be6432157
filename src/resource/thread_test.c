/* SPDX-License-Identifier: BSD-3-Clause */
#include "acl/acl.h"
#include "base/alloc.h"
#include "hcomm/hcomm_res.h"
#include "resource/resource.h"
#include "tests/support/test.h"

static ThreadHandle
make_thread(uint32_t notify_num)
{
    const struct res_thread_desc desc = {.device = 0,
                                         .engine = COMM_ENGINE_AICPU_TS,
                                         .notify_num = notify_num,
                                         .group = "g",
                                         .rank = 3};
    ThreadHandle handle = 0;

    EXPECT_EQ(HCCL_SUCCESS, res_thread_create(&desc, &handle));
    return handle;
}

static void
start(void)
{
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
}

static void
stop(void)
{
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceForce(0));
}

TEST(a_thread_has_a_stream_and_the_notifies_it_was_given)
{
    struct res_thread *thread;
    ThreadHandle handle;

    start();
    handle = make_thread(2);
    EXPECT_EQ(HCCL_SUCCESS, res_thread_hold(handle, &thread));
    EXPECT_NOT_NULL(res_thread_stream(thread));
    EXPECT_EQ(COMM_ENGINE_AICPU_TS, res_thread_engine(thread));
    EXPECT_EQ(2, res_thread_notify_num(thread));
    EXPECT_NOT_NULL(res_thread_notify(thread, 1));
    EXPECT_TRUE(res_thread_notify(thread, 1) == res_thread_notify(thread, 1));
    EXPECT_TRUE(res_thread_notify(thread, 0) != res_thread_notify(thread, 1));
    test_expect_error("notify 2 does not exist: thread 0 (AICPU_TS) of rank 3 in g has 2");
    EXPECT_NULL(res_thread_notify(thread, 2));
    res_thread_release(thread);
    EXPECT_EQ(HCCL_SUCCESS, res_thread_destroy(handle));
    stop();
}

TEST(growing_keeps_the_notifies_there_are_and_never_shrinks)
{
    struct res_thread *thread;
    struct rt_notify *first;
    ThreadHandle handle;

    start();
    handle = make_thread(1);
    EXPECT_EQ(HCCL_SUCCESS, res_thread_hold(handle, &thread));
    first = res_thread_notify(thread, 0);
    EXPECT_EQ(HCCL_SUCCESS, res_thread_grow(handle, 40));
    EXPECT_EQ(HCCL_SUCCESS, res_thread_grow(handle, 3));
    EXPECT_EQ(40, res_thread_notify_num(thread));
    EXPECT_NOT_NULL(res_thread_notify(thread, 39));
    EXPECT_TRUE(first == res_thread_notify(thread, 0));
    res_thread_release(thread);
    EXPECT_EQ(HCCL_SUCCESS, res_thread_destroy(handle));
    stop();
}

TEST(a_wrapped_stream_stays_the_users_and_its_end_is_noticed)
{
    struct res_thread_desc desc = {.device = 0, .engine = COMM_ENGINE_CPU_TS};
    struct res_thread *thread;
    ThreadHandle handle;
    aclrtStream stream;

    start();
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateStream(&stream));
    desc.stream = stream;
    EXPECT_EQ(HCCL_SUCCESS, res_thread_create(&desc, &handle));
    EXPECT_EQ(HCCL_SUCCESS, res_thread_hold(handle, &thread));
    EXPECT_TRUE(res_thread_stream_handle(thread) == stream);
    EXPECT_EQ(handle, res_thread_of_stream(rt_stream_id(res_thread_stream(thread))));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(stream));
    test_expect_error("is not a live stream");
    EXPECT_NULL(res_thread_stream(thread));
    res_thread_release(thread);
    EXPECT_EQ(HCCL_SUCCESS, res_thread_destroy(handle));
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateStream(&stream));
    desc.stream = stream;
    EXPECT_EQ(HCCL_SUCCESS, res_thread_create(&desc, &handle));
    EXPECT_EQ(HCCL_SUCCESS, res_thread_destroy(handle));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(stream)); /* it lives on */
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(stream));
    stop();
}

TEST(a_handle_that_is_no_thread_is_found_out)
{
    ThreadHandle handle;
    struct res_thread *thread;

    start();
    handle = make_thread(1);
    EXPECT_EQ(HCCL_SUCCESS, res_thread_destroy(handle));
    test_expect_error("thread handle is 0");
    EXPECT_EQ(HCCL_E_PTR, res_thread_hold(0, &thread));
    test_expect_error("already destroyed");
    EXPECT_EQ(HCCL_E_NOT_FOUND, res_thread_hold(handle, &thread));
    EXPECT_EQ(HCCL_E_NOT_FOUND, res_thread_destroy(handle));
    EXPECT_EQ(HCCL_E_NOT_FOUND, res_thread_grow(handle, 1));
    test_expect_error("no handle at all");
    EXPECT_EQ(HCCL_E_NOT_FOUND, res_thread_hold(0x7ffd12345678u, &thread));
    stop();
}

TEST(thread_create_survives_every_failed_allocation)
{
    const struct res_thread_desc desc = {
        .device = 0, .engine = COMM_ENGINE_CPU_TS, .notify_num = 1, .group = "g"};
    long nth = 0, live;
    HcclResult rc;

    start();
    test_allow_errors();
    live = hc_alloc_live();
    do {
        ThreadHandle handle = 0;

        hc_alloc_fail_nth(nth++);
        rc = res_thread_create(&desc, &handle);
        hc_alloc_fail_nth(-1);
        EXPECT_EQ(rc == HCCL_SUCCESS ? HCCL_SUCCESS : HCCL_E_MEMORY, rc);
        if (rc == HCCL_SUCCESS)
            EXPECT_EQ(HCCL_SUCCESS, res_thread_destroy(handle));
        else
            EXPECT_EQ(0, handle);
        EXPECT_EQ(live, hc_alloc_live());
    } while (rc != HCCL_SUCCESS);
    EXPECT_TRUE(nth > 3);
    stop();
}

TEST(the_first_use_of_a_notify_survives_every_failed_allocation)
{
    struct res_thread *thread;
    ThreadHandle handle;
    long nth = 0;

    start();
    test_allow_errors();
    handle = make_thread(4);
    EXPECT_EQ(HCCL_SUCCESS, res_thread_hold(handle, &thread));
    for (bool good = false; !good;) {
        hc_alloc_fail_nth(nth++);
        good = res_thread_notify(thread, 3) != NULL;
        hc_alloc_fail_nth(-1);
    }
    EXPECT_TRUE(nth > 2);
    res_thread_release(thread);
    EXPECT_EQ(HCCL_SUCCESS, res_thread_destroy(handle));
    stop();
}

/* ---- the public calls ---- */

TEST(public_threads_are_made_and_freed)
{
    const uint32_t nums[3] = {1, 0, 64};
    ThreadHandle threads[3];
    aclrtStream stream = NULL;

    start();
    EXPECT_EQ(0, HcommThreadAlloc(COMM_ENGINE_AICPU, 3, nums, threads));
    EXPECT_EQ(0, HcommThreadResGetInfo(threads[1], THREAD_RES_TYPE_STREAM, sizeof stream,
                                       (void **)&stream));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(stream));
    EXPECT_EQ(0, HcommThreadFree(threads, 3));
    test_expect_error("already destroyed");
    EXPECT_EQ(HCCL_E_NOT_FOUND, HcommThreadFree(threads, 1));
    stop();
}

TEST(bad_arguments_of_public_threads_are_refused)
{
    uint32_t nums[2] = {1, 65};
    ThreadHandle threads[2] = {0}, of_comm;
    void *info = NULL;

    test_expect_error("context"); /* no device is current */
    EXPECT_EQ(HCCL_E_RUNTIME, HcommThreadAlloc(COMM_ENGINE_CPU, 1, nums, threads));
    start();
    test_expect_error("is NULL");
    EXPECT_EQ(HCCL_E_PTR, HcommThreadAlloc(COMM_ENGINE_CPU, 1, NULL, threads));
    EXPECT_EQ(HCCL_E_PTR, HcommThreadAlloc(COMM_ENGINE_CPU, 1, nums, NULL));
    EXPECT_EQ(HCCL_E_PTR, HcommThreadFree(NULL, 1));
    test_expect_error("threadNum is");
    EXPECT_EQ(HCCL_E_PARA, HcommThreadAlloc(COMM_ENGINE_CPU, 0, nums, threads));
    EXPECT_EQ(HCCL_E_PARA, HcommThreadAlloc(COMM_ENGINE_CPU, 1001, nums, threads));
    EXPECT_EQ(HCCL_E_PARA, HcommThreadFree(threads, 0));
    test_expect_error("a notifyNumPerThread is 65, allowed are 0 to 64");
    EXPECT_EQ(HCCL_E_PARA, HcommThreadAlloc(COMM_ENGINE_CPU, 2, nums, threads));
    test_expect_error("engine AIV is not supported");
    EXPECT_EQ(HCCL_E_NOT_SUPPORT, HcommThreadAlloc(COMM_ENGINE_AIV, 1, nums, threads));
    test_expect_error("99 is no engine");
    EXPECT_EQ(HCCL_E_PARA, HcommThreadAlloc((CommEngine)99, 1, nums, threads));
    of_comm = make_thread(1);
    test_expect_error("belongs to a communicator");
    EXPECT_EQ(HCCL_E_PARA, HcommThreadFree(&of_comm, 1));
    test_expect_error("infoLen is 4");
    EXPECT_EQ(HCCL_E_PARA, HcommThreadResGetInfo(of_comm, THREAD_RES_TYPE_STREAM, 4, &info));
    test_expect_error("no kind of resource");
    EXPECT_EQ(HCCL_E_NOT_SUPPORT, HcommThreadResGetInfo(of_comm, (ThreadResType)7, 8, &info));
    EXPECT_EQ(HCCL_E_PTR, HcommThreadResGetInfo(of_comm, THREAD_RES_TYPE_STREAM, 8, NULL));
    EXPECT_EQ(HCCL_SUCCESS, res_thread_destroy(of_comm));
    stop();
}

TEST(thread_alloc_survives_every_failed_allocation)
{
    const uint32_t nums[2] = {1, 1};
    HcclResult rc;
    long nth = 0;

    start();
    test_allow_errors();
    do {
        ThreadHandle threads[2] = {0};

        hc_alloc_fail_nth(nth++);
        rc = (HcclResult)HcommThreadAlloc(COMM_ENGINE_CPU_TS, 2, nums, threads);
        hc_alloc_fail_nth(-1);
        EXPECT_EQ(rc == HCCL_SUCCESS ? HCCL_SUCCESS : HCCL_E_MEMORY, rc);
        if (rc == HCCL_SUCCESS)
            EXPECT_EQ(0, HcommThreadFree(threads, 2));
        else
            EXPECT_EQ(0, threads[0]);
    } while (rc != HCCL_SUCCESS);
    stop();
}

TEST(thousands_of_threads_are_cheap)
{
    enum { NUM = 4096 };
    static ThreadHandle threads[NUM];
    int fds;

    start();
    fds = test_open_fds();
    for (int i = 0; i < NUM; i++)
        threads[i] = make_thread(64);
    EXPECT_EQ(fds, test_open_fds());
    for (int i = 0; i < NUM; i++)
        EXPECT_EQ(HCCL_SUCCESS, res_thread_destroy(threads[i]));
    stop();
}
