/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "runtime/memory.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"
#include "runtime/arena.h"
#include "tests/support/test.h"

#define KIB 1024u
#define MIB (1024u * 1024u)

static bool
all_zero(const char *bytes, size_t len)
{
    return len == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, len - 1) == 0);
}

/* Resident bytes of this process, shared pages included. */
static uint64_t
resident(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");

    if (file == NULL || fscanf(file, "%*u %lu", &pages) != 1)
        fail_msg("cannot read statm");
    fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void *
alloc(int32_t device, uint64_t size)
{
    void *ptr = NULL;

    EXPECT_EQ(ACL_SUCCESS, rt_mem_alloc(device, size, &ptr));
    return ptr;
}

TEST(memory_is_aligned_zero_and_found_by_any_address_inside)
{
    struct rt_range range;
    char *ptr = alloc(3, 1000);

    EXPECT_EQ(0, (uintptr_t)ptr % 512);
    EXPECT_TRUE(all_zero(ptr, 1000));
    rt_mem_find(ptr + 999, &range);
    EXPECT_EQ(RT_PLACE_DEVICE, range.place);
    EXPECT_EQ(3, range.device);
    EXPECT_TRUE(range.base == ptr);
    EXPECT_EQ(1000, range.size);
    rt_mem_find(ptr + 1000, &range);
    EXPECT_EQ(RT_PLACE_DEVICE, range.place); /* but no allocation's */
    EXPECT_EQ(0, range.size);
    EXPECT_NULL(range.base);
    rt_mem_find(&range, &range);
    EXPECT_EQ(RT_PLACE_PAGEABLE, range.place);
    EXPECT_EQ(0, range.size);
    EXPECT_EQ(ACL_SUCCESS, rt_mem_free(ptr));
    EXPECT_EQ(ACL_SUCCESS, rt_mem_free(NULL));
}

TEST(reused_memory_is_zero_again)
{
    static const uint64_t sizes[] = {1,        512,      700,        4096,
                                     40 * KIB, 64 * KIB, 200 * 1000, 3 * MIB + 5};

    for (int round = 0; round < 20; round++) {
        char *ptrs[8];

        for (int i = 0; i < 8; i++) {
            ptrs[i] = alloc(0, sizes[i]);
            EXPECT_TRUE(all_zero(ptrs[i], sizes[i]));
            memset(ptrs[i], 0xC3, sizes[i]);
        }
        for (int i = 0; i < 8; i++)
            EXPECT_EQ(ACL_SUCCESS, rt_mem_free(ptrs[(i * 5 + round) % 8]));
    }
}

TEST(freed_pages_go_back_to_the_system)
{
    char *ptr = alloc(0, 64 * MIB);
    uint64_t touched;

    memset(ptr, 1, 64 * MIB);
    touched = resident();
    EXPECT_EQ(ACL_SUCCESS, rt_mem_free(ptr));
    EXPECT_TRUE(resident() + 60 * MIB < touched);
}

#define MANY 10000

TEST(many_allocations_stay_flat)
{
    static char *ptrs[MANY];
    uint64_t first = 0;

    test_time_limit(120);
    for (int round = 0; round < 100; round++) {
        for (int i = 0; i < MANY; i++) {
            ptrs[i] = alloc(1, 200 * 1000);
            if (i % 100 == 0)
                ptrs[i][0] = ptrs[i][200 * 1000 - 1] = 1;
        }
        for (int i = 0; i < MANY; i++)
            EXPECT_EQ(ACL_SUCCESS, rt_mem_free(ptrs[round % 2 == 0 ? i : MANY - 1 - i]));
        if (round == 1)
            first = resident();
    }
#if !defined(__SANITIZE_ADDRESS__) /* it keeps what was freed for a while */
    EXPECT_TRUE(resident() < first + 2 * MIB);
#else
    (void)first;
#endif
}

TEST(a_full_device_says_what_was_asked_and_what_is_free)
{
    void *ptr = NULL, *rest;
    uint64_t left, total;

    setenv("HCOMM_DEVICE_MEMORY", "64", 1);
    EXPECT_EQ(ACL_SUCCESS, rt_arena_usage(2, &left, &total));
    EXPECT_EQ(60 * MIB, total); /* the notify pages are not for the asking */
    EXPECT_EQ(60 * MIB, left);
    test_expect_error("out of memory on device 2: 104857600 bytes asked, 62914560 free");
    EXPECT_EQ(ACL_ERROR_RT_MEMORY_ALLOCATION, rt_mem_alloc(2, 100 * MIB, &ptr));
    test_expect_error("18446744073709551615 bytes asked");
    EXPECT_EQ(ACL_ERROR_RT_MEMORY_ALLOCATION, rt_mem_alloc(2, UINT64_MAX, &ptr));
    EXPECT_NULL(ptr);
    rest = alloc(2, 60 * MIB);
    test_expect_error("1 bytes asked, 0 free");
    EXPECT_EQ(ACL_ERROR_RT_MEMORY_ALLOCATION, rt_mem_alloc(2, 1, &ptr));
    EXPECT_EQ(ACL_SUCCESS, rt_mem_free(rest));
    test_expect_error("there is no device 8");
    EXPECT_EQ(ACL_ERROR_RT_INVALID_DEVICEID, rt_mem_alloc(8, 1, &ptr));
    test_expect_error("there is no device -1");
    EXPECT_EQ(ACL_ERROR_RT_INVALID_DEVICEID, rt_mem_alloc(-1, 1, &ptr));
    test_expect_error("cannot allocate 0 bytes");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, rt_mem_alloc(2, 0, &ptr));
}

TEST(charged_memory_counts_as_used)
{
    uint64_t left, total;
    void *ptr = NULL;

    setenv("HCOMM_DEVICE_MEMORY", "64", 1);
    EXPECT_EQ(ACL_SUCCESS, rt_arena_charge(0, 50 * MIB));
    EXPECT_EQ(ACL_SUCCESS, rt_arena_usage(0, &left, &total));
    EXPECT_EQ(10 * MIB, left);
    test_expect_error("out of memory on device 0");
    EXPECT_EQ(ACL_ERROR_RT_MEMORY_ALLOCATION, rt_mem_alloc(0, 11 * MIB, &ptr));
    EXPECT_EQ(ACL_ERROR_RT_MEMORY_ALLOCATION, rt_arena_charge(0, 11 * MIB));
    rt_arena_discharge(0, 50 * MIB);
    EXPECT_EQ(ACL_SUCCESS, rt_arena_usage(0, &left, &total));
    EXPECT_EQ(total, left);
}

TEST(what_is_no_block_is_not_freed)
{
    char *ptr = alloc(0, 4096), *pinned = NULL;
    int on_stack = 0;

    EXPECT_EQ(ACL_SUCCESS, rt_arena_alloc(RT_ARENA_HOST, 100, (void **)&pinned));
    test_expect_error("was not allocated by this library");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(&on_stack));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtFree((void *)0x10));
    test_expect_error("lies inside the allocation");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(ptr + 512));
    test_expect_error("is host memory: free it with aclrtFreeHost");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(pinned));
    test_expect_error("is device memory: free it with aclrtFree");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtFreeHost(ptr));
    EXPECT_EQ(ACL_SUCCESS, aclrtFree(ptr));
    test_expect_error("freed already?");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(ptr));
    EXPECT_EQ(ACL_SUCCESS, aclrtFreeHost(pinned));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtFreeHost(pinned));
    test_expect_error("the pointer is NULL");
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtFree(NULL));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtFreeHost(NULL));
}

TEST(allocation_survives_every_failed_allocation)
{
    void *ptr = NULL;
    aclError rc;
    long nth = 0;

    test_allow_errors();
    do {
        hc_alloc_fail_nth(nth++);
        rc = rt_mem_alloc(0, 100, &ptr);
        if (rc != ACL_SUCCESS) {
            EXPECT_EQ(ACL_ERROR_RT_MEMORY_ALLOCATION, rc);
            EXPECT_NULL(ptr);
            EXPECT_EQ(0, hc_alloc_live());
        }
    } while (rc != ACL_SUCCESS);
    hc_alloc_fail_nth(-1);
    EXPECT_EQ(2, nth);
    EXPECT_EQ(ACL_SUCCESS, rt_mem_free(ptr));
}

TEST(a_thousand_devices_cost_one_descriptor)
{
    int fds = test_open_fds();
    static void *ptrs[1024];

#if defined(__SANITIZE_THREAD__)
    setenv("HCOMM_DEVICE_MEMORY", "16", 1); /* its address space is small */
#endif
    setenv("HCOMM_DEVICE_COUNT", "1024", 1);
    for (int32_t device = 0; device < 1024; device++)
        ptrs[device] = alloc(device, 100);
    EXPECT_EQ(fds + 1, test_open_fds());
    for (int32_t device = 0; device < 1024; device++) {
        struct rt_range range;

        rt_mem_find((char *)ptrs[device] + 50, &range);
        EXPECT_EQ(device, range.device);
        EXPECT_TRUE(range.base == ptrs[device]);
        EXPECT_EQ(ACL_SUCCESS, rt_mem_free(ptrs[device]));
    }
}

TEST(notify_words_are_zero_and_shared_memory)
{
    _Atomic uint64_t *words = NULL;
    struct rt_range range;
    uint64_t offset = 0, word = 0;
    uint32_t count = 0;

    EXPECT_EQ(ACL_SUCCESS, rt_arena_notify_words(1, &words, &count));
    EXPECT_EQ(65536, count);
    EXPECT_EQ(0, words[0]);
    EXPECT_EQ(0, words[(count - 1) * (RT_NOTIFY_STRIDE / sizeof *words)]);
    words[8] = 42;
    rt_mem_find(&words[8], &range);
    EXPECT_EQ(RT_PLACE_DEVICE, range.place);
    EXPECT_EQ(1, range.device);
    EXPECT_TRUE(rt_arena_fd((void *)&words[8], &offset) >= 0);
    EXPECT_EQ(8, pread(rt_arena_fd((void *)&words[8], &offset), &word, 8, (off_t)offset));
    EXPECT_EQ(42, word);
    EXPECT_EQ(-1, rt_arena_fd(&word, &offset));
    test_expect_error("there is no device 99");
    EXPECT_EQ(ACL_ERROR_RT_INVALID_DEVICEID, rt_arena_notify_words(99, &words, &count));
}

TEST(host_registration_is_exact)
{
    char *page = mmap(NULL, 4 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct rt_range range;
    void *seen = NULL;

    EXPECT_EQ(ACL_SUCCESS, aclrtHostRegister(page, 2 * 4096, ACL_HOST_REGISTER_MAPPED, &seen));
    EXPECT_TRUE(seen == page);
    rt_mem_find(page + 5000, &range);
    EXPECT_EQ(RT_PLACE_HOST, range.place);
    EXPECT_TRUE(range.mapped_host && range.base == page && range.size == 8192);
    rt_mem_find(page + 8192, &range);
    EXPECT_EQ(RT_PLACE_PAGEABLE, range.place);
    test_expect_error("are registered already");
    EXPECT_EQ(ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
              aclrtHostRegister(page + 4096, 4096, ACL_HOST_REGISTER_MAPPED, &seen));
    EXPECT_EQ(ACL_SUCCESS, aclrtHostRegisterV2(page + 8192, 100, ACL_HOST_REG_MAPPED));
    seen = NULL;
    EXPECT_EQ(ACL_SUCCESS, aclrtHostGetDevicePointer(page + 8200, &seen, 0));
    EXPECT_TRUE(seen == page + 8200);
    test_expect_error("no registered host memory starts");
    EXPECT_EQ(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, aclrtHostUnregister(page + 4096));
    EXPECT_EQ(ACL_SUCCESS, aclrtHostUnregister(page));
    EXPECT_EQ(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, aclrtHostUnregister(page));
    EXPECT_EQ(ACL_SUCCESS, aclrtHostUnregister(page + 8192));
    munmap(page, 4 * 4096);
}

TEST(host_registration_refuses_bad_arguments)
{
    void *aligned = (void *)(uintptr_t)0x7000, *seen = NULL, *block = alloc(0, 4096 * 2);
    void *device = (void *)(((uintptr_t)block + 4095) & ~(uintptr_t)4095);

    test_allow_errors();
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtHostRegister(NULL, 1, ACL_HOST_REGISTER_MAPPED, &seen));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM,
              aclrtHostRegister(aligned, 1, ACL_HOST_REGISTER_MAPPED, NULL));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM,
              aclrtHostRegister(aligned, 0, ACL_HOST_REGISTER_MAPPED, &seen));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID,
              aclrtHostRegister((char *)aligned + 8, 1, ACL_HOST_REGISTER_MAPPED, &seen));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID,
              aclrtHostRegister(aligned, UINT64_MAX, ACL_HOST_REGISTER_MAPPED, &seen));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID,
              aclrtHostRegister(device, 4096, ACL_HOST_REGISTER_MAPPED, &seen));
    EXPECT_EQ(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
              aclrtHostRegister(aligned, 1, ACL_HOST_REGISTER_READONLY, &seen));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID,
              aclrtHostRegister(aligned, 1, (aclrtHostRegisterType)77, &seen));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtHostRegisterV2(aligned, 1, 0));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtHostRegisterV2(aligned, 1, 0x100));
    EXPECT_EQ(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
              aclrtHostRegisterV2(aligned, 1, ACL_HOST_REG_READONLY));
    EXPECT_EQ(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, aclrtHostGetDevicePointer(aligned, &seen, 0));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtHostGetDevicePointer(aligned, &seen, 1));
    hc_alloc_fail_nth(0);
    EXPECT_EQ(ACL_ERROR_RT_MEMORY_ALLOCATION,
              aclrtHostRegister(aligned, 1, ACL_HOST_REGISTER_MAPPED, &seen));
    EXPECT_NULL(seen);
    EXPECT_EQ(ACL_SUCCESS, rt_mem_free(block));
}

TEST_WITH(acl_calls_follow_the_current_context, TEST_KEEPS_MEMORY)
{
    size_t left = 0, total = 0, size = 0;
    aclrtPtrAttributes attributes;
    void *ptr = NULL, *pinned = NULL, *base = NULL;
    int ordinary = 0;

    test_allow_errors();
    EXPECT_EQ(ACL_ERROR_RT_CONTEXT_NULL, aclrtMalloc(&ptr, 10, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_EQ(ACL_ERROR_RT_CONTEXT_NULL, aclrtMallocHost(&pinned, 10));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtMalloc(NULL, 10, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtMalloc(&ptr, 0, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtMallocHost(&pinned, 0));
    EXPECT_EQ(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetMemInfo(ACL_HBM_MEM, &left, &total));
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(5));
    EXPECT_EQ(ACL_SUCCESS, aclrtMalloc(&ptr, 33, (aclrtMemMallocPolicy)9999));
    EXPECT_EQ(ACL_SUCCESS, aclrtMemGetAddressRange((char *)ptr + 40, &base, &size));
    EXPECT_TRUE(base == ptr);
    EXPECT_EQ(64, size);
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtMemGetAddressRange(&ordinary, &base, &size));
    EXPECT_EQ(ACL_SUCCESS, aclrtPointerGetAttributes(ptr, &attributes));
    EXPECT_EQ(ACL_MEM_LOCATION_TYPE_DEVICE, attributes.location.type);
    EXPECT_EQ(5, attributes.location.id);
    EXPECT_EQ(4096, attributes.pageSize);
    EXPECT_EQ(ACL_SUCCESS, aclrtMallocHost(&pinned, 100));
    EXPECT_EQ(ACL_SUCCESS, aclrtPointerGetAttributes(pinned, &attributes));
    EXPECT_EQ(ACL_MEM_LOCATION_TYPE_HOST, attributes.location.type);
    EXPECT_EQ(ACL_SUCCESS, aclrtPointerGetAttributes(&ordinary, &attributes));
    EXPECT_EQ(ACL_MEM_LOCATION_TYPE_UNREGISTERED, attributes.location.type);
    EXPECT_EQ(ACL_SUCCESS, aclrtGetMemInfo(ACL_HBM_MEM, &left, &total));
    EXPECT_EQ(16380ull * MIB, total);
    EXPECT_EQ(total - 512, left);
    EXPECT_EQ(ACL_SUCCESS, aclrtGetMemInfo(ACL_DDR_MEM, &left, &total));
    EXPECT_EQ(0, total);
    EXPECT_EQ(ACL_SUCCESS, aclrtMemFlush(ptr, 33));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtMemInvalidate(pinned, 33));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtMemInvalidate(ptr, 65));
    EXPECT_EQ(ACL_SUCCESS, aclrtFreeHostWithDevSync(pinned));
    EXPECT_EQ(ACL_SUCCESS, aclrtFreeWithDevSync(ptr));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(5));
}

static void *
churn(void *arg)
{
    unsigned seed = (unsigned)(uintptr_t)arg;
    char *live[16] = {NULL};
    size_t sizes[16] = {0};

    for (int i = 0; i < 4000; i++) {
        int slot = rand_r(&seed) % 16;

        if (live[slot] != NULL) {
            EXPECT_EQ((char)(uintptr_t)arg, live[slot][sizes[slot] - 1]);
            EXPECT_EQ(ACL_SUCCESS, rt_mem_free(live[slot]));
            live[slot] = NULL;
        } else {
            sizes[slot] = (size_t)(rand_r(&seed) % (128 * 1024)) + 1;
            live[slot] = alloc((int32_t)(seed % 3), sizes[slot]);
            EXPECT_TRUE(all_zero(live[slot], sizes[slot]));
            memset(live[slot], (char)(uintptr_t)arg, sizes[slot]);
        }
    }
    for (int slot = 0; slot < 16; slot++)
        EXPECT_EQ(ACL_SUCCESS, rt_mem_free(live[slot]));
    return NULL;
}

TEST(threads_share_devices)
{
    pthread_t threads[4];

    for (uintptr_t i = 0; i < 4; i++)
        EXPECT_EQ(0, pthread_create(&threads[i], NULL, churn, (void *)(i + 1)));
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

static void *shared_block;
static atomic_int frees_that_worked;

static void *
free_it(void *arg)
{
    (void)arg;
    if (rt_mem_free(shared_block) == ACL_SUCCESS)
        atomic_fetch_add(&frees_that_worked, 1);
    return NULL;
}

TEST(of_two_threads_that_free_a_block_one_is_told)
{
    test_allow_errors();
    for (int round = 0; round < 200; round++) {
        pthread_t threads[2];

        shared_block = alloc(0, round % 2 == 0 ? 1000 : 300 * KIB);
        for (int i = 0; i < 2; i++)
            EXPECT_EQ(0, pthread_create(&threads[i], NULL, free_it, NULL));
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
        EXPECT_EQ(round + 1, atomic_load(&frees_that_worked));
    }
}

TEST(a_limit_of_file_sizes_is_an_error_that_says_so)
{
    struct rlimit limit = {.rlim_cur = 1 << 20, .rlim_max = 1 << 20};
    void *ptr = NULL;

    EXPECT_EQ(0, setrlimit(RLIMIT_FSIZE, &limit));
    test_expect_error("the limit of file sizes is 1 MiB");
    EXPECT_EQ(ACL_ERROR_RT_MEMORY_ALLOCATION, rt_mem_alloc(0, 4096, &ptr));
    EXPECT_NULL(ptr);
}
