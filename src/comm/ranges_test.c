/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranges of addresses that are used without staging, and their active parts. */
#include <pthread.h>

#include "base/alloc.h"
#include "comm/comm_test.h"

#define PAGE ((size_t)2 << 20)

static uint8_t *base; /* of 8 pages of addresses */
static aclrtDrvMemHandle physical;
static HcclComm comm, other; /* rank 0 and 1 of one group */

static void
begin(void)
{
    aclrtPhysicalMemProp prop = {.handleType = ACL_MEM_HANDLE_TYPE_NONE,
                                 .allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED,
                                 .memAttr = ACL_HBM_MEM_HUGE,
                                 .location = {.type = ACL_MEM_LOCATION_TYPE_DEVICE}};
    int32_t devices[] = {0, 1};
    HcclComm comms[2];

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommInitAll(2, devices, comms));
    comm = comms[0];
    other = comms[1];
    EXPECT_EQ(ACL_SUCCESS, aclrtReserveMemAddress((void **)&base, 8 * PAGE, 0, NULL, 0));
    EXPECT_EQ(ACL_SUCCESS, aclrtMallocPhysical(&physical, PAGE, &prop, 0));
}

static void
end(void)
{
    if (comm != NULL)
        EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comm));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(other));
    EXPECT_EQ(ACL_SUCCESS, aclrtFreePhysical(physical));
    EXPECT_EQ(ACL_SUCCESS, aclrtReleaseMemAddress(base));
    reset_devices(1);
}

static HcclResult
set(size_t from, size_t num)
{
    return HcclCommSetMemoryRange(comm, base + from * PAGE, num * PAGE, 0, 0);
}

static HcclResult
activate(size_t from, size_t num)
{
    return HcclCommActivateCommMemory(comm, base + from * PAGE, num * PAGE, 0, physical, 0);
}

static HcclResult
deactivate(size_t from)
{
    return HcclCommDeactivateCommMemory(comm, base + from * PAGE);
}

TEST(a_range_is_set_mapped_activated_used_and_undone)
{
    begin();
    EXPECT_EQ(HCCL_SUCCESS, set(0, 8));
    EXPECT_EQ(ACL_SUCCESS, aclrtMapMem(base, PAGE, 0, physical, 0));
    EXPECT_EQ(HCCL_SUCCESS, activate(0, 1));
    base[PAGE - 1] = 1;
    EXPECT_EQ(HCCL_SUCCESS, deactivate(0));
    EXPECT_EQ(ACL_SUCCESS, aclrtUnmapMem(base));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommUnsetMemoryRange(comm, base));
    EXPECT_EQ(HCCL_SUCCESS, set(0, 8)); /* all of it is free again */
    EXPECT_EQ(HCCL_SUCCESS, HcclCommUnsetMemoryRange(comm, base));
    end();
}

TEST(ranges_of_a_process_do_not_overlap)
{
    test_expect_error("overlap the range of 8388608 bytes");
    begin();
    EXPECT_EQ(HCCL_SUCCESS, set(2, 4));
    EXPECT_EQ(HCCL_E_PARA, set(2, 4));
    EXPECT_EQ(HCCL_E_PARA, set(0, 3));
    EXPECT_EQ(HCCL_E_PARA, set(5, 1));
    EXPECT_EQ(HCCL_E_PARA, set(3, 1));
    EXPECT_EQ(HCCL_E_PARA, set(0, 8));
    EXPECT_EQ(HCCL_E_PARA, HcclCommSetMemoryRange(other, base + 5 * PAGE, PAGE, 0, 0));
    EXPECT_EQ(HCCL_SUCCESS, set(0, 2));
    EXPECT_EQ(HCCL_SUCCESS, set(6, 2));
    end();
}

TEST(active_parts_lie_inside_one_range_and_do_not_overlap)
{
    test_expect_error("do not lie inside a range: set one with HcclCommSetMemoryRange");
    test_expect_error("is active already: deactivate it first");
    test_expect_error("no active part starts at");
    begin();
    EXPECT_EQ(HCCL_E_PARA, activate(0, 1));
    EXPECT_EQ(HCCL_SUCCESS, set(0, 2));
    EXPECT_EQ(HCCL_SUCCESS, set(2, 4));
    EXPECT_EQ(HCCL_E_PARA, activate(1, 2)); /* in two of them */
    EXPECT_EQ(HCCL_E_PARA, activate(5, 2));
    EXPECT_EQ(HCCL_E_PARA, activate(0, 3));
    EXPECT_EQ(HCCL_E_PARA, activate(7, 1));
    EXPECT_EQ(HCCL_SUCCESS, activate(3, 2));
    EXPECT_EQ(HCCL_E_PARA, activate(3, 2));
    EXPECT_EQ(HCCL_E_PARA, activate(2, 2));
    EXPECT_EQ(HCCL_E_PARA, activate(4, 1));
    EXPECT_EQ(HCCL_E_PARA, activate(2, 4));
    EXPECT_EQ(HCCL_SUCCESS, activate(2, 1));
    EXPECT_EQ(HCCL_SUCCESS, activate(5, 1));
    EXPECT_EQ(HCCL_E_PARA, deactivate(4)); /* in the middle of a part */
    EXPECT_EQ(HCCL_E_PARA, deactivate(1));
    EXPECT_EQ(HCCL_SUCCESS, deactivate(3));
    EXPECT_EQ(HCCL_E_PARA, deactivate(3));
    EXPECT_EQ(HCCL_SUCCESS, activate(4, 1));
    end();
}

TEST(a_range_with_active_parts_stays)
{
    test_expect_error("has active parts: deactivate them first");
    test_expect_error("no range starts at");
    begin();
    EXPECT_EQ(HCCL_SUCCESS, set(0, 4));
    EXPECT_EQ(HCCL_SUCCESS, activate(1, 1));
    EXPECT_EQ(HCCL_E_PARA, HcclCommUnsetMemoryRange(comm, base));
    EXPECT_EQ(HCCL_E_PARA, HcclCommUnsetMemoryRange(comm, base + PAGE));
    EXPECT_EQ(HCCL_E_PARA, HcclCommUnsetMemoryRange(comm, base + 4 * PAGE));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDeactivateCommMemory(other, base + PAGE));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommUnsetMemoryRange(other, base));
    EXPECT_EQ(HCCL_E_PARA, HcclCommUnsetMemoryRange(comm, base));
    end();
}

TEST(ranges_end_with_the_communicator_and_the_last_active_part)
{
    test_expect_error("overlap the range");
    test_expect_error("no active part starts at");
    begin();
    EXPECT_EQ(HCCL_SUCCESS, set(0, 2));
    EXPECT_EQ(HCCL_SUCCESS, set(2, 2));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommSetMemoryRange(other, base + 4 * PAGE, PAGE, 0, 0));
    EXPECT_EQ(HCCL_SUCCESS, activate(0, 1));
    EXPECT_EQ(HCCL_SUCCESS, activate(4, 1));
    EXPECT_EQ(HCCL_SUCCESS,
              HcclCommActivateCommMemory(other, base + 2 * PAGE, PAGE, 0, physical, 0));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comm));
    comm = other;
    EXPECT_EQ(HCCL_SUCCESS, set(0, 2));
    EXPECT_EQ(HCCL_E_PARA, set(3, 1)); /* another communicator uses it */
    EXPECT_EQ(HCCL_E_PARA, deactivate(4));
    EXPECT_EQ(HCCL_SUCCESS, deactivate(2));
    EXPECT_EQ(HCCL_SUCCESS, set(3, 1));
    comm = NULL;
    end(); /* which ends the rest, or the test would find it */
}

TEST(bad_ranges_and_parts_are_refused)
{
    uint64_t junk[4] = {0};

    test_expect_error("the address is NULL");
    test_expect_error("baseVirPtr is NULL");
    test_expect_error("virPtr is NULL");
    test_expect_error("handle is NULL");
    test_expect_error("communicator is NULL");
    test_expect_error("is not a live one");
    test_expect_error("0 bytes at");
    test_expect_error("are no memory");
    test_expect_error("alignment is 4096: pass 0");
    test_expect_error("flags is 1: pass 0");
    test_expect_error("offset is 512: pass 0");
    test_expect_error("is not a live handle of physical memory");
    test_expect_error("to the end of its allocation");
    begin();
    EXPECT_EQ(HCCL_E_PTR, HcclCommSetMemoryRange(comm, NULL, PAGE, 0, 0));
    EXPECT_EQ(HCCL_E_PTR, HcclCommSetMemoryRange(NULL, base, PAGE, 0, 0));
    EXPECT_EQ(HCCL_E_PARA, HcclCommSetMemoryRange(junk, base, PAGE, 0, 0));
    EXPECT_EQ(HCCL_E_PARA, HcclCommSetMemoryRange(comm, base, 0, 0, 0));
    EXPECT_EQ(HCCL_E_PARA, HcclCommSetMemoryRange(comm, base, SIZE_MAX, 0, 0));
    EXPECT_EQ(HCCL_E_PARA, HcclCommSetMemoryRange(comm, base, PAGE, 4096, 0));
    EXPECT_EQ(HCCL_E_PARA, HcclCommSetMemoryRange(comm, base, PAGE, 0, 1));
    EXPECT_EQ(HCCL_E_PTR, HcclCommUnsetMemoryRange(comm, NULL));
    EXPECT_EQ(HCCL_E_PTR, HcclCommUnsetMemoryRange(NULL, base));
    EXPECT_EQ(HCCL_SUCCESS, set(0, 8));
    EXPECT_EQ(ACL_SUCCESS, aclrtMapMem(base, PAGE, 0, physical, 0));
    EXPECT_EQ(HCCL_E_PTR, HcclCommActivateCommMemory(comm, NULL, PAGE, 0, physical, 0));
    EXPECT_EQ(HCCL_E_PTR, HcclCommActivateCommMemory(NULL, base, PAGE, 0, physical, 0));
    EXPECT_EQ(HCCL_E_PTR, HcclCommActivateCommMemory(comm, base, PAGE, 0, NULL, 0));
    EXPECT_EQ(HCCL_E_PARA, HcclCommActivateCommMemory(junk, base, PAGE, 0, physical, 0));
    EXPECT_EQ(HCCL_E_PARA, HcclCommActivateCommMemory(comm, base, 0, 0, physical, 0));
    EXPECT_EQ(HCCL_E_PARA, HcclCommActivateCommMemory(comm, base, SIZE_MAX, 0, physical, 0));
    EXPECT_EQ(HCCL_E_PARA, HcclCommActivateCommMemory(comm, base, PAGE, 512, physical, 0));
    EXPECT_EQ(HCCL_E_PARA, HcclCommActivateCommMemory(comm, base, PAGE, 0, physical, 1));
    EXPECT_EQ(HCCL_E_PARA, HcclCommActivateCommMemory(comm, base, PAGE, 0, junk, 0));
    EXPECT_EQ(HCCL_E_PARA, HcclCommActivateCommMemory(comm, base, 2 * PAGE, 0, physical, 0));
    EXPECT_EQ(HCCL_E_PTR, HcclCommDeactivateCommMemory(comm, NULL));
    EXPECT_EQ(HCCL_E_PTR, HcclCommDeactivateCommMemory(NULL, base));
    EXPECT_EQ(ACL_SUCCESS, aclrtUnmapMem(base));
    end();
}

TEST(ranges_are_for_ranks_on_one_server)
{
    int32_t devices[] = {0, 64};
    HcclComm comms[2];
    char memory[64];

    test_expect_error("are on 2 servers: only where there is one");
    setenv("HCOMM_DEVICE_COUNT", "65", 1);
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommInitAll(2, devices, comms));
    EXPECT_EQ(HCCL_E_NOT_SUPPORT, HcclCommSetMemoryRange(comms[0], memory, sizeof memory, 0, 0));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comms[0]));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comms[1]));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceForce(0));
}

TEST(without_memory_no_range_and_no_part_is_made)
{
    test_expect_error("out of host memory");
    begin();
    hc_alloc_fail_nth(0);
    EXPECT_EQ(HCCL_E_MEMORY, set(0, 2));
    hc_alloc_fail_nth(-1);
    EXPECT_EQ(HCCL_SUCCESS, set(0, 2));
    hc_alloc_fail_nth(0);
    EXPECT_EQ(HCCL_E_MEMORY, activate(0, 2));
    hc_alloc_fail_nth(-1);
    EXPECT_EQ(HCCL_SUCCESS, activate(0, 2));
    end();
}

/* Each thread has pages of its own; the ranges are everybody's. */
static void *
come_and_go(void *arg)
{
    uint8_t *own = arg;

    for (int i = 0; i < 500; i++) {
        if (HcclCommSetMemoryRange(comm, own, 2 * PAGE, 0, 0) != HCCL_SUCCESS ||
            HcclCommActivateCommMemory(other, own, PAGE, 0, physical, 0) != HCCL_SUCCESS ||
            HcclCommActivateCommMemory(comm, own + PAGE, PAGE, 0, physical, 0) != HCCL_SUCCESS ||
            HcclCommDeactivateCommMemory(comm, own) != HCCL_SUCCESS ||
            HcclCommDeactivateCommMemory(comm, own + PAGE) != HCCL_SUCCESS ||
            HcclCommUnsetMemoryRange(other, own) != HCCL_SUCCESS)
            return arg;
    }
    return NULL;
}

TEST(threads_set_and_activate_at_the_same_time)
{
    pthread_t threads[4];
    void *failed;

    begin();
    for (size_t i = 0; i < 4; i++)
        EXPECT_EQ(0, pthread_create(&threads[i], NULL, come_and_go, base + 2 * i * PAGE));
    for (size_t i = 0; i < 4; i++) {
        EXPECT_EQ(0, pthread_join(threads[i], &failed));
        EXPECT_NULL(failed);
    }
    EXPECT_EQ(HCCL_SUCCESS, set(0, 8));
    end();
}
