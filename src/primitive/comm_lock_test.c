/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "acl/acl.h"
#include "base/alloc.h"
#include "hcomm/hcomm_embedded.h"
#include "hcomm/hcomm_primitives.h"
#include "primitive/primitive.h"
#include "runtime/runtime.h"
#include "tests/support/test.h"

/* What an AICPU kernel does, on one of the runtime's AICPU threads. */
struct kernel {
    struct rt_job job;
    int32_t device;
    void (*body)(struct kernel *kernel);
    int32_t result;
    atomic_int *running, *most; /* how many hold the lock */
    atomic_int *left;           /* kernels that have not ended */
};

static void
run_kernel(struct rt_job *job)
{
    struct kernel *kernel = (struct kernel *)job;

    rt_context_set_aicpu(kernel->device);
    kernel->body(kernel);
    rt_context_set_aicpu(-1);
    atomic_fetch_sub(kernel->left, 1);
}

static void
launch(struct kernel *kernel)
{
    kernel->job.fn = run_kernel;
    atomic_fetch_add(kernel->left, 1);
    EXPECT_EQ(ACL_SUCCESS, rt_aicpu_submit(&kernel->job));
}

static void
await(atomic_int *left, int num)
{
    while (atomic_load(left) > num)
        usleep(200);
}

static void
hold_for_a_while(struct kernel *kernel)
{
    int now, most;

    kernel->result = HcommAcquireComm("g");
    now = atomic_fetch_add(kernel->running, 1) + 1;
    most = atomic_load(kernel->most);
    while (now > most && !atomic_compare_exchange_weak(kernel->most, &most, now))
        ;
    usleep(2000);
    atomic_fetch_sub(kernel->running, 1);
    if (kernel->result == 0)
        kernel->result = HcommReleaseComm("g");
}

TEST(kernels_of_one_communicator_take_turns)
{
    atomic_int running = 0, most = 0, left = 0;
    struct kernel kernels[20];

    EXPECT_EQ(HCCL_SUCCESS, prim_comm_add(0, "g"));
    for (int i = 0; i < 20; i++) {
        kernels[i] = (struct kernel){.device = 0,
                                     .body = hold_for_a_while,
                                     .running = &running,
                                     .most = &most,
                                     .left = &left};
        launch(&kernels[i]);
    }
    await(&left, 0);
    EXPECT_EQ(1, atomic_load(&most));
    for (int i = 0; i < 20; i++)
        EXPECT_EQ(0, kernels[i].result);
    prim_comm_remove(0, "g");
}

static void
try_and_release(struct kernel *kernel)
{
    kernel->result = prim_comm_try_lock(0, "g");
    if (kernel->result == 0)
        kernel->result = HcommReleaseComm("g");
}

static void
hold_until_told(struct kernel *kernel)
{
    kernel->result = HcommAcquireComm("g");
    atomic_store(kernel->running, 1);
    while (atomic_load(kernel->running) == 1)
        usleep(200);
    if (kernel->result == 0)
        kernel->result = HcommReleaseComm("g");
}

TEST(a_taken_lock_is_not_waited_for_by_who_only_tries)
{
    atomic_int held = 0, left = 0, others = 0;
    struct kernel holder = {.body = hold_until_told, .running = &held, .left = &left};
    struct kernel tries = {.body = try_and_release, .left = &others};

    test_expect_error("device 0 has no communicator \"g\"");
    EXPECT_EQ(HCCL_E_PTR, prim_comm_try_lock(0, "g"));
    EXPECT_EQ(HCCL_SUCCESS, prim_comm_add(0, "g"));
    launch(&holder);
    while (atomic_load(&held) == 0)
        usleep(200);
    launch(&tries);
    await(&others, 0);
    EXPECT_EQ(HCCL_E_AGAIN, tries.result);
    atomic_store(&held, 2);
    await(&left, 0);
    EXPECT_EQ(0, holder.result);
    launch(&tries);
    await(&others, 0);
    EXPECT_EQ(0, tries.result);
    prim_comm_remove(0, "g");
}

static void
meet_the_others(struct kernel *kernel)
{
    kernel->result = HcommAcquireComm("g");
    atomic_fetch_add(kernel->running, 1);
    rt_block_begin();
    for (int i = 0; i < 20000 && atomic_load(kernel->running) < 8; i++)
        usleep(500);
    rt_block_end();
    if (kernel->result == 0)
        kernel->result = HcommReleaseComm("g");
}

TEST(one_name_on_eight_devices_is_eight_locks)
{
    atomic_int running = 0, left = 0;
    struct kernel kernels[8];

    for (int i = 0; i < 8; i++) {
        EXPECT_EQ(HCCL_SUCCESS, prim_comm_add(i, "g"));
        kernels[i] = (struct kernel){
            .device = i, .body = meet_the_others, .running = &running, .left = &left};
        launch(&kernels[i]);
    }
    await(&left, 0);
    EXPECT_EQ(8, atomic_load(&running)); /* all held theirs at the same time */
    for (int i = 0; i < 8; i++) {
        EXPECT_EQ(0, kernels[i].result);
        prim_comm_remove(i, "g");
    }
}

static void
take_it_twice(struct kernel *kernel)
{
    EXPECT_EQ(0, HcommAcquireComm("g"));
    kernel->result = HcommAcquireComm("g");
    EXPECT_EQ(0, HcommReleaseComm("g"));
    EXPECT_EQ(0, HcommReleaseComm("g"));
    EXPECT_EQ(0, HcommReleaseComm("unheard of"));
}

TEST(taking_the_lock_twice_is_an_error_and_not_a_hang)
{
    atomic_int left = 0;
    struct kernel kernel = {.device = 0, .body = take_it_twice, .left = &left};

    EXPECT_EQ(HCCL_SUCCESS, prim_comm_add(0, "g"));
    test_expect_error("this thread holds it already");
    launch(&kernel);
    await(&left, 0);
    EXPECT_EQ(HCCL_E_PARA, kernel.result);
    prim_comm_remove(0, "g");
}

/* Holds the lock, and its thread, until *running says 100. */
static void
take_and_keep(struct kernel *kernel)
{
    kernel->result = HcommAcquireComm("g");
    atomic_fetch_add(kernel->running, 1);
    rt_block_begin();
    while (atomic_load(kernel->running) < 100)
        usleep(200);
    rt_block_end();
    EXPECT_EQ(0, HcommReleaseComm("g"));
}

static void
take(struct kernel *kernel)
{
    if (kernel->running != NULL)
        atomic_fetch_add(kernel->running, 1);
    kernel->result = HcommAcquireComm("g");
    if (kernel->result == 0)
        kernel->result = HcommReleaseComm("g");
}

TEST(whoever_waits_learns_that_the_communicator_is_destroyed)
{
    atomic_int left = 0, running = 0;
    struct kernel keeper = {.device = 0, .body = take_and_keep, .left = &left, .running = &running};
    struct kernel waiters[3];

    EXPECT_EQ(HCCL_SUCCESS, prim_comm_add(0, "g"));
    launch(&keeper);
    while (atomic_load(&running) == 0)
        usleep(200);
    for (int i = 0; i < 3; i++) {
        waiters[i] = (struct kernel){
            .device = 0, .body = take, .left = &left, .running = &running, .result = -1};
        launch(&waiters[i]);
    }
    while (atomic_load(&running) < 4) /* they are about to wait */
        usleep(200);
    usleep(300000);
    test_expect_error("was destroyed while it was waited for");
    prim_comm_remove(0, "g");
    await(&left, 1);
    for (int i = 0; i < 3; i++)
        EXPECT_EQ(HCCL_E_UNAVAIL, waiters[i].result);
    atomic_store(&running, 100);
    await(&left, 0);
}

TEST(a_long_wait_for_the_lock_names_its_holder_and_goes_on)
{
    atomic_int left = 0, running = 0;
    struct kernel keeper = {.device = 0, .body = take_and_keep, .left = &left, .running = &running};
    struct kernel waiter = {.device = 0, .body = take, .left = &left, .result = -1};

    setenv("HCOMM_STALL_WARN", "1", 1);
    EXPECT_EQ(HCCL_SUCCESS, prim_comm_add(0, "g"));
    launch(&keeper);
    while (atomic_load(&running) == 0)
        usleep(200);
    launch(&waiter);
    for (int i = 0; i < 50 && test_logged("has waited 1 s for communicator \"g\"") == 0; i++)
        usleep(100000);
    EXPECT_EQ(1, test_logged("has waited 1 s for communicator \"g\""));
    atomic_store(&running, 100);
    await(&left, 0);
    EXPECT_EQ(0, waiter.result);
    prim_comm_remove(0, "g");
}

TEST(a_host_checks_the_name_and_does_not_lock)
{
    test_expect_error("commId is NULL");
    EXPECT_EQ(HCCL_E_PTR, HcommAcquireComm(NULL));
    EXPECT_EQ(HCCL_E_PTR, HcommReleaseComm(NULL));
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(2));
    EXPECT_EQ(HCCL_SUCCESS, prim_comm_add(2, "g"));
    EXPECT_EQ(0, HcommAcquireComm("g"));
    EXPECT_EQ(0, HcommAcquireComm("g"));
    EXPECT_EQ(0, HcommReleaseComm("g"));
    EXPECT_EQ(HCCL_SUCCESS, prim_comm_add(2, "g"));
    prim_comm_remove(2, "g");
    EXPECT_EQ(0, HcommAcquireComm("g")); /* added twice, removed once */
    prim_comm_remove(2, "g");
    prim_comm_remove(2, "g"); /* not there: nothing */
    test_expect_error("device 2 has no communicator \"g\"");
    EXPECT_EQ(HCCL_E_PTR, HcommAcquireComm("g"));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceForce(2));
}

TEST(adding_a_communicator_survives_every_failed_allocation)
{
    HcclResult rc;
    long nth = 0;

    test_allow_errors();
    do {
        hc_alloc_fail_nth(nth++);
        rc = prim_comm_add(0, "g");
        hc_alloc_fail_nth(-1);
        EXPECT_EQ(rc == HCCL_SUCCESS, hc_alloc_live() > 0);
    } while (rc != HCCL_SUCCESS);
    EXPECT_TRUE(nth > 2);
    prim_comm_remove(0, "g");
}

static uint32_t
forget_release(void *arg)
{
    (void)arg;
    return HcommAcquireComm("g") == 0 ? 0 : 1;
}

TEST_WITH(a_kernel_that_keeps_the_lock_fails_and_the_next_one_gets_it, TEST_KEEPS_MEMORY)
{
    aclrtStream stream = NULL;
    int unused = 0;

    test_expect_error("it returned without HcommReleaseComm(\"g\"): release it on every way out");
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateStream(&stream));
    EXPECT_EQ(HCCL_SUCCESS, prim_comm_add(0, "g"));
    for (int i = 0; i < 2; i++) { /* the second one takes the lock: it was given back */
        EXPECT_EQ(ACL_SUCCESS,
                  HcommLaunchEmbedded(forget_release, "forget", 1, stream, &unused, sizeof unused));
        EXPECT_EQ(ACL_ERROR_RT_AICPU_EXCEPTION, aclrtSynchronizeStreamWithTimeout(stream, 20000));
    }
    prim_comm_remove(0, "g");
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(stream));
}
