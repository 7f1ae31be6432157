/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "runtime/vmm.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "tests/support/test.h"

#define HUGE (2ull << 20)
#define GIB (1ull << 30)

static aclrtPhysicalMemProp
prop_of(uint32_t device)
{
    aclrtPhysicalMemProp prop = {.memAttr = ACL_HBM_MEM_HUGE};

    prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    prop.location.id = device;
    return prop;
}

static aclrtDrvMemHandle
physical(uint32_t device, uint64_t size)
{
    aclrtPhysicalMemProp prop = prop_of(device);
    aclrtDrvMemHandle handle = NULL;

    EXPECT_EQ(ACL_SUCCESS, aclrtMallocPhysical(&handle, size, &prop, 0));
    return handle;
}

static char *
reserve(uint64_t size)
{
    void *base = NULL;

    EXPECT_EQ(ACL_SUCCESS, aclrtReserveMemAddress(&base, size, 0, NULL, 0));
    return base;
}

/* Whether reading `ptr` ends a process. */
static bool
unreadable(const char *ptr)
{
    pid_t child = fork();
    int status = 0;

    if (child == 0) {
        signal(SIGSEGV, SIG_DFL); /* no sanitizer in between */
        _exit(*(const volatile char *)ptr == 0 ? 0 : 1);
    }
    EXPECT_EQ(child, waitpid(child, &status, 0));
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

TEST_WITH(memory_appears_and_disappears_with_its_mapping, TEST_KEEPS_MEMORY)
{
    char *base = reserve(4 * HUGE);
    aclrtDrvMemHandle handle = physical(2, HUGE);
    aclrtPtrAttributes attributes;
    void *start = NULL;
    size_t size = 0;

    EXPECT_EQ(0, (uintptr_t)base % HUGE);
    EXPECT_TRUE(unreadable(base));
    EXPECT_EQ(ACL_SUCCESS, aclrtMapMem(base + HUGE, HUGE, 0, handle, 0));
    EXPECT_EQ(ACL_SUCCESS, aclrtMapMem(base + 3 * HUGE, HUGE, 0, handle, 0));
    base[HUGE + 5] = 42;
    EXPECT_EQ(42, base[3 * HUGE + 5]);
    EXPECT_EQ(ACL_SUCCESS, aclrtMemGetAddressRange(base + HUGE + 77, &start, &size));
    EXPECT_TRUE(start == base + HUGE && size == HUGE);
    EXPECT_EQ(ACL_SUCCESS, aclrtPointerGetAttributes(base + HUGE, &attributes));
    EXPECT_EQ(ACL_MEM_LOCATION_TYPE_DEVICE, attributes.location.type);
    EXPECT_EQ(2, attributes.location.id);
    test_expect_error("has 2 mappings left");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtReleaseMemAddress(base));
    EXPECT_EQ(ACL_SUCCESS, aclrtFreePhysical(handle)); /* gone after the last unmap */
    EXPECT_EQ(ACL_SUCCESS, aclrtUnmapMem(base + HUGE));
    EXPECT_TRUE(unreadable(base + HUGE));
    EXPECT_EQ(42, base[3 * HUGE + 5]);
    EXPECT_EQ(ACL_SUCCESS, aclrtUnmapMem(base + 3 * HUGE));
    EXPECT_EQ(ACL_SUCCESS, aclrtPointerGetAttributes(base + HUGE, &attributes));
    EXPECT_EQ(ACL_MEM_LOCATION_TYPE_UNREGISTERED, attributes.location.type);
    EXPECT_EQ(ACL_SUCCESS, aclrtReleaseMemAddress(base));
}

TEST_WITH(a_copy_may_span_adjacent_mappings, TEST_KEEPS_MEMORY)
{
    char *base = reserve(3 * HUGE), *source = calloc(1, 2 * HUGE + 1);
    aclrtDrvMemHandle one = physical(0, HUGE), two = physical(0, HUGE);

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(ACL_SUCCESS, aclrtMapMem(base, HUGE, 0, one, 0));
    EXPECT_EQ(ACL_SUCCESS, aclrtMapMem(base + HUGE, HUGE, 0, two, 0));
    EXPECT_EQ(ACL_SUCCESS,
              aclrtMemcpy(base, 3 * HUGE, source, 2 * HUGE, ACL_MEMCPY_HOST_TO_DEVICE));
    test_expect_error("to the end of its allocation");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID,
              aclrtMemcpy(base, 3 * HUGE, source, 2 * HUGE + 1, ACL_MEMCPY_HOST_TO_DEVICE));
    EXPECT_EQ(ACL_SUCCESS, aclrtUnmapMem(base));
    EXPECT_EQ(ACL_SUCCESS, aclrtUnmapMem(base + HUGE));
    EXPECT_EQ(ACL_SUCCESS, aclrtFreePhysical(one));
    EXPECT_EQ(ACL_SUCCESS, aclrtFreePhysical(two));
    EXPECT_EQ(ACL_SUCCESS, aclrtReleaseMemAddress(base));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
    free(source);
}

TEST_WITH(mapping_refuses_what_does_not_fit, TEST_KEEPS_MEMORY)
{
    char *base = reserve(4 * HUGE);
    aclrtDrvMemHandle handle = physical(0, HUGE), other = physical(1, HUGE);

    test_allow_errors();
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtMapMem(NULL, HUGE, 0, handle, 0));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtMapMem(base, HUGE, 0, NULL, 0));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtMapMem(base, 0, 0, handle, 0));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtMapMem(base, HUGE, 4096, handle, 0));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtMapMem(base, HUGE, 0, handle, 1));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtMapMem(base, HUGE / 2, 0, handle, 0));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtMapMem(base + 4096, HUGE, 0, handle, 0));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtMapMem(&base, HUGE, 0, handle, 0));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtMapMem(base + 4 * HUGE, HUGE, 0, handle, 0));
    EXPECT_EQ(ACL_ERROR_RT_INVALID_HANDLE, aclrtMapMem(base, HUGE, 0, &handle, 0));
    EXPECT_EQ(ACL_SUCCESS, aclrtMapMem(base + HUGE, HUGE, 0, handle, 0));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtMapMem(base + HUGE, HUGE, 0, handle, 0));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtMapMem(base, HUGE, 0, other, 0)); /* mixed devices */
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtUnmapMem(base));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtUnmapMem(base + HUGE + 4096));
    EXPECT_EQ(ACL_SUCCESS, aclrtUnmapMem(base + HUGE));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtUnmapMem(base + HUGE));
    EXPECT_EQ(ACL_SUCCESS, aclrtMapMem(base, HUGE, 0, other, 0));
    EXPECT_EQ(ACL_SUCCESS, aclrtUnmapMem(base));
    EXPECT_EQ(ACL_SUCCESS, aclrtFreePhysical(handle));
    EXPECT_EQ(ACL_ERROR_RT_INVALID_HANDLE, aclrtFreePhysical(handle));
    EXPECT_EQ(ACL_ERROR_RT_INVALID_HANDLE, aclrtMapMem(base, HUGE, 0, handle, 0));
    EXPECT_EQ(ACL_SUCCESS, aclrtFreePhysical(other));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtReleaseMemAddress(base + HUGE));
    EXPECT_EQ(ACL_SUCCESS, aclrtReleaseMemAddress(base));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtReleaseMemAddress(base));
}

TEST_WITH(reserving_refuses_bad_arguments_and_taken_addresses, TEST_KEEPS_MEMORY)
{
    void *base = NULL, *again = NULL;
    char *first = reserve(HUGE);

    test_allow_errors();
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtReserveMemAddress(NULL, HUGE, 0, NULL, 0));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtReserveMemAddress(&base, 0, 0, NULL, 0));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtReserveMemAddress(&base, HUGE, 4096, NULL, 0));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtReserveMemAddress(&base, HUGE, 0, NULL, 2));
    EXPECT_EQ(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtReserveMemAddress(&base, HUGE, 0, first, 0));
    EXPECT_EQ(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtReserveMemAddress(&base, SIZE_MAX, 0, NULL, 0));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID,
              aclrtReserveMemAddressNoUCMemory(&base, HUGE, 0, NULL, 0));
    EXPECT_NULL(base);
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__) /* they own most addresses */
    EXPECT_EQ(ACL_SUCCESS,
              aclrtReserveMemAddressNoUCMemory(&base, 2 * GIB, 0, (void *)(40ull << 40), 1));
    EXPECT_TRUE(base == (void *)(40ull << 40));
    EXPECT_EQ(ACL_ERROR_RT_MEMORY_ALLOCATION,
              aclrtReserveMemAddressNoUCMemory(&again, GIB, 0, (char *)base + GIB, 1));
    EXPECT_EQ(ACL_SUCCESS, aclrtReleaseMemAddress(base));
#endif
    EXPECT_NULL(again);
    EXPECT_EQ(ACL_SUCCESS, aclrtReleaseMemAddress(first));
}

TEST_WITH(physical_memory_is_what_was_asked_for, TEST_KEEPS_MEMORY)
{
    aclrtPhysicalMemProp prop = prop_of(3), got;
    aclrtDrvMemHandle handle = NULL;
    size_t granularity = 0;

    EXPECT_EQ(ACL_SUCCESS, aclrtMemGetAllocationGranularity(
                               &prop, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &granularity));
    EXPECT_EQ(HUGE, granularity);
    handle = physical(3, HUGE);
    EXPECT_EQ(ACL_SUCCESS, aclrtMemGetAllocationPropertiesFromHandle(handle, &got));
    EXPECT_EQ(3, got.location.id);
    EXPECT_EQ(ACL_SUCCESS, aclrtFreePhysical(handle));
    handle = NULL;
    test_allow_errors();
    prop.memAttr = ACL_HBM_MEM;
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtMallocPhysical(&handle, HUGE, &prop, 0));
    prop.memAttr = ACL_DDR_MEM_HUGE; /* host only */
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtMallocPhysical(&handle, HUGE, &prop, 0));
    prop.memAttr = ACL_MEM_NORMAL;
    prop.location.id = 99;
    EXPECT_EQ(ACL_ERROR_RT_INVALID_DEVICEID, aclrtMallocPhysical(&handle, HUGE, &prop, 0));
    prop.location.type = ACL_MEM_LOCATION_TYPE_UNREGISTERED;
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtMallocPhysical(&handle, HUGE, &prop, 0));
    prop.location.type = ACL_MEM_LOCATION_TYPE_HOST;
    prop.handleType = ACL_MEM_HANDLE_TYPE_POSIX;
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtMallocPhysical(&handle, HUGE, &prop, 0));
    prop.handleType = ACL_MEM_HANDLE_TYPE_NONE;
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtMallocPhysical(&handle, 0, &prop, 0));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtMallocPhysical(&handle, HUGE, &prop, 5));
    EXPECT_EQ(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMallocPhysical(&handle, SIZE_MAX, &prop, 0));
    prop = prop_of(0);
    EXPECT_EQ(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMallocPhysical(&handle, 17 * GIB, &prop, 0));
    EXPECT_NULL(handle);
}

TEST_WITH(retaining_needs_one_more_free, TEST_KEEPS_MEMORY)
{
    char *base = reserve(HUGE);
    aclrtDrvMemHandle handle = physical(0, HUGE), same = NULL, fresh = NULL;
    long live = hc_alloc_live();

    EXPECT_EQ(ACL_SUCCESS, aclrtMapMem(base, HUGE, 0, handle, 0));
    EXPECT_EQ(ACL_SUCCESS, aclrtMemRetainAllocationHandle(base, &same));
    EXPECT_TRUE(same == handle);
    EXPECT_EQ(ACL_SUCCESS, aclrtFreePhysical(handle));
    EXPECT_EQ(ACL_SUCCESS, aclrtFreePhysical(same));
    EXPECT_EQ(ACL_SUCCESS, aclrtMemRetainAllocationHandle(base, &fresh)); /* the mapping kept it */
    EXPECT_EQ(ACL_SUCCESS, aclrtUnmapMem(base));
    EXPECT_EQ(ACL_SUCCESS, aclrtMapMem(base, HUGE, 0, fresh, 0));
    EXPECT_EQ(ACL_SUCCESS, aclrtUnmapMem(base));
    EXPECT_EQ(ACL_SUCCESS, aclrtFreePhysical(fresh));
    EXPECT_EQ(live - 1, hc_alloc_live());
    test_expect_error("no mapping starts");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtMemRetainAllocationHandle(base, &fresh));
    EXPECT_EQ(ACL_SUCCESS, aclrtReleaseMemAddress(base));
}

TEST_WITH(access_is_given_to_a_mapping_that_has_none, TEST_KEEPS_MEMORY)
{
    char *base = reserve(2 * HUGE);
    aclrtDrvMemHandle handle = physical(0, HUGE);
    aclrtMemAccessDesc desc = {.flags = ACL_RT_MEM_ACCESS_FLAGS_READWRITE};
    aclrtMemLocation location = {0};
    uint64_t flag = 9;

    EXPECT_EQ(ACL_SUCCESS, aclrtMemMapNoAccess(base, HUGE, 0, handle, 0));
    EXPECT_EQ(ACL_SUCCESS, aclrtMemGetAccess(base, &location, &flag));
    EXPECT_EQ(ACL_RT_MEM_ACCESS_FLAGS_NONE, flag);
    EXPECT_TRUE(unreadable(base));
    EXPECT_EQ(ACL_SUCCESS, aclrtMemSetAccess(base, HUGE, &desc, 1));
    EXPECT_EQ(ACL_SUCCESS, aclrtMemGetAccess(base + HUGE - 1, &location, &flag));
    EXPECT_EQ(ACL_RT_MEM_ACCESS_FLAGS_READWRITE, flag);
    base[0] = 1;
    EXPECT_EQ(ACL_SUCCESS, aclrtMemMapSelectedLink(base + HUGE, HUGE, base, 1));
    EXPECT_EQ(1, base[HUGE]);
    test_allow_errors();
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtMemGetAccess(&base, &location, &flag));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtMemMapSelectedLink(base + HUGE, HUGE, base, 2));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtMemSetAccess(base, HUGE / 2, &desc, 1));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtMemSetAccess(base + 4096, HUGE, &desc, 1));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtMemSetAccess(base, HUGE, &desc, 0));
    desc.flags = ACL_RT_MEM_ACCESS_FLAGS_READ;
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtMemSetAccess(base, HUGE, &desc, 1));
    EXPECT_EQ(ACL_SUCCESS, aclrtUnmapMem(base));
    EXPECT_EQ(ACL_SUCCESS, aclrtUnmapMem(base + HUGE));
    EXPECT_EQ(ACL_SUCCESS, aclrtFreePhysical(handle));
    EXPECT_EQ(ACL_SUCCESS, aclrtReleaseMemAddress(base));
}

TEST_WITH(creating_survives_every_failed_allocation, TEST_KEEPS_MEMORY)
{
    aclrtPhysicalMemProp prop = prop_of(0);
    aclrtDrvMemHandle handle = NULL, warm = physical(0, HUGE);
    void *base = NULL;
    long live;
    int fds;

    EXPECT_EQ(ACL_SUCCESS, aclrtFreePhysical(warm)); /* the handle table has its first chunk */
    live = hc_alloc_live();
    fds = test_open_fds();
    test_allow_errors();
    for (long nth = 0; nth < 3; nth++) {
        hc_alloc_fail_nth(nth);
        if (aclrtReserveMemAddress(&base, HUGE, 0, NULL, 0) == ACL_SUCCESS &&
            aclrtMallocPhysical(&handle, HUGE, &prop, 0) == ACL_SUCCESS) {
            EXPECT_EQ(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMapMem(base, HUGE, 0, handle, 0));
            EXPECT_EQ(2, nth);
        }
        EXPECT_TRUE(hc_alloc_failed());
        if (handle != NULL)
            EXPECT_EQ(ACL_SUCCESS, aclrtFreePhysical(handle));
        if (base != NULL)
            EXPECT_EQ(ACL_SUCCESS, aclrtReleaseMemAddress(base));
        handle = base = NULL;
        EXPECT_EQ(live, hc_alloc_live());
        EXPECT_EQ(fds, test_open_fds());
    }
    hc_alloc_fail_nth(-1);
}
