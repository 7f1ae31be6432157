/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "acl/acl_rt.h"
#include "base/alloc.h"
#include "runtime/runtime.h"
#include "tests/support/test.h"

/* Device 0 is set; two blocks of device memory, one of device 3, one pinned, one ordinary. */
struct place {
    char *device, *device2, *other, *pinned;
    char ordinary[4096];
};

static struct place *
begin(void)
{
    static struct place place;
    void *ptr = NULL;

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(ACL_SUCCESS, aclrtMalloc((void **)&place.device, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_EQ(ACL_SUCCESS, aclrtMalloc((void **)&place.device2, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_EQ(ACL_SUCCESS, rt_mem_alloc(3, 4096, &ptr));
    place.other = ptr;
    EXPECT_EQ(ACL_SUCCESS, aclrtMallocHost((void **)&place.pinned, 4096));
    return &place;
}

static void
end(struct place *place)
{
    EXPECT_EQ(ACL_SUCCESS, aclrtFree(place->device));
    EXPECT_EQ(ACL_SUCCESS, aclrtFree(place->device2));
    EXPECT_EQ(ACL_SUCCESS, aclrtFree(place->other));
    EXPECT_EQ(ACL_SUCCESS, aclrtFreeHost(place->pinned));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
}

#define TEST_ON_DEVICE(name) TEST_WITH(name, TEST_KEEPS_MEMORY)

TEST_ON_DEVICE(copies_go_every_way)
{
    struct place *p = begin();

    memset(p->ordinary, 7, sizeof p->ordinary);
    EXPECT_EQ(ACL_SUCCESS,
              aclrtMemcpy(p->device, 4096, p->ordinary, 4096, ACL_MEMCPY_HOST_TO_DEVICE));
    EXPECT_EQ(ACL_SUCCESS,
              aclrtMemcpy(p->other, 4096, p->device, 4096, ACL_MEMCPY_DEVICE_TO_DEVICE));
    EXPECT_EQ(ACL_SUCCESS, aclrtMemcpy(p->pinned, 4096, p->other, 4096, ACL_MEMCPY_DEVICE_TO_HOST));
    EXPECT_MEMEQ(p->ordinary, p->pinned, 4096);
    memset(p->ordinary, 0, sizeof p->ordinary);
    EXPECT_EQ(ACL_SUCCESS,
              aclrtMemcpy(p->ordinary, 4096, p->pinned, 4096, ACL_MEMCPY_HOST_TO_HOST));
    EXPECT_EQ(7, p->ordinary[4095]);
    EXPECT_EQ(ACL_SUCCESS, aclrtMemcpy(p->device, 4096, p->ordinary, 1, ACL_MEMCPY_DEFAULT));
    EXPECT_EQ(ACL_SUCCESS,
              aclrtMemcpy(p->device2, 10, p->ordinary, 10, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE));
    EXPECT_EQ(7, p->device2[9]);
    EXPECT_EQ(0, p->device2[10]);
    EXPECT_EQ(ACL_SUCCESS, aclrtMemcpy(p->device, 4096, p->device, 4096, ACL_MEMCPY_DEFAULT));
    EXPECT_EQ(ACL_SUCCESS, aclrtMemset(p->device, 4096, 0x1FE, 4095));
    EXPECT_EQ((char)0xFE, p->device[4094]);
    EXPECT_EQ(7, p->device[4095]);
    end(p);
}

TEST_ON_DEVICE(arguments_are_checked_in_the_documented_order)
{
    char a[8] = "", b[8] = "";

    test_allow_errors();
    /* Nothing to copy comes before everything else; a context comes last. */
    EXPECT_EQ(ACL_SUCCESS, aclrtMemcpy(NULL, 0, NULL, 0, (aclrtMemcpyKind)99));
    EXPECT_EQ(ACL_SUCCESS, aclrtMemcpyAsync(NULL, 0, NULL, 0, (aclrtMemcpyKind)99, NULL));
    EXPECT_EQ(ACL_SUCCESS, aclrtMemset(NULL, 0, 0, 0));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtMemcpy(NULL, 8, b, 8, (aclrtMemcpyKind)99));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtMemcpy(a, 8, NULL, 8, ACL_MEMCPY_HOST_TO_HOST));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtMemcpy(a, 0, b, 8, (aclrtMemcpyKind)6));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtMemcpy(a, 0, b, 8, (aclrtMemcpyKind)-1));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpy(a, 0, b, 8, ACL_MEMCPY_HOST_TO_HOST));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpy(a, 7, b, 8, ACL_MEMCPY_HOST_TO_HOST));
    EXPECT_EQ(ACL_ERROR_RT_CONTEXT_NULL, aclrtMemcpy(a, 8, b, 8, ACL_MEMCPY_HOST_TO_HOST));
    EXPECT_EQ(ACL_ERROR_RT_CONTEXT_NULL, aclrtMemcpyAsync(a, 8, b, 8, ACL_MEMCPY_DEFAULT, NULL));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtMemset(NULL, 0, 0, 8));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtMemset(a, 7, 0, 8));
    EXPECT_EQ(ACL_ERROR_RT_CONTEXT_NULL, aclrtMemset(a, 8, 0, 8));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtMemcpy2d(NULL, 8, b, 8, 8, 1, ACL_MEMCPY_DEFAULT));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpy2d(a, 4, b, 8, 8, 1, ACL_MEMCPY_DEFAULT));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID,
              aclrtMemcpy2d(a, 8, b, 8, 8, SIZE_MAX, ACL_MEMCPY_DEFAULT));
    EXPECT_EQ(ACL_ERROR_RT_CONTEXT_NULL, aclrtMemcpy2d(a, 8, b, 8, 8, 1, ACL_MEMCPY_DEFAULT));
}

TEST_ON_DEVICE(a_kind_that_contradicts_the_addresses_is_refused)
{
    struct place *p = begin();

    test_expect_error("aclrtMemcpy: kind is host-to-device, but the source 0x");
    test_expect_error("is memory of device 3; pass ACL_MEMCPY_DEVICE_TO_DEVICE");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID,
              aclrtMemcpy(p->device, 4096, p->other, 8, ACL_MEMCPY_HOST_TO_DEVICE));
    test_expect_error("is pinned host memory; pass ACL_MEMCPY_HOST_TO_HOST");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID,
              aclrtMemcpy(p->pinned, 4096, p->ordinary, 8, ACL_MEMCPY_HOST_TO_DEVICE));
    test_expect_error("kind is device-to-device, but the source");
    test_expect_error("is host memory; pass ACL_MEMCPY_HOST_TO_DEVICE");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID,
              aclrtMemcpy(p->device, 4096, p->ordinary, 8, ACL_MEMCPY_DEVICE_TO_DEVICE));
    test_expect_error("kind is device-to-host, but the destination");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID,
              aclrtMemcpy(p->device, 4096, p->device2, 8, ACL_MEMCPY_DEVICE_TO_HOST));
    end(p);
}

TEST_ON_DEVICE(an_advisory_kind_is_only_advice)
{
    struct place *p;

    setenv("HCOMM_MEMCPY_KIND", "advisory", 1);
    p = begin();
    EXPECT_EQ(ACL_SUCCESS, aclrtMemcpy(p->device, 4096, p->other, 8, ACL_MEMCPY_HOST_TO_DEVICE));
    end(p);
}

TEST_ON_DEVICE(registered_host_memory_counts_as_both)
{
    char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct place *p = begin();
    void *seen;

    EXPECT_EQ(ACL_SUCCESS, aclrtHostRegister(page, 4096, ACL_HOST_REGISTER_MAPPED, &seen));
    page[0] = 9;
    EXPECT_EQ(ACL_SUCCESS, aclrtMemcpy(p->device, 4096, page, 8, ACL_MEMCPY_DEVICE_TO_DEVICE));
    EXPECT_EQ(ACL_SUCCESS, aclrtMemcpy(page, 4096, p->device, 8, ACL_MEMCPY_DEVICE_TO_HOST));
    EXPECT_EQ(ACL_SUCCESS,
              aclrtMemcpyAsync(p->device2, 4096, page, 8, ACL_MEMCPY_HOST_TO_DEVICE, NULL));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(NULL));
    EXPECT_EQ(9, p->device2[0]);
    EXPECT_EQ(ACL_SUCCESS, aclrtHostUnregister(page));
    munmap(page, 4096);
    end(p);
}

TEST_ON_DEVICE(a_copy_past_the_end_of_its_allocation_is_refused)
{
    struct place *p = begin();
    char *gone = p->device2;

    test_expect_error("the destination 0x");
    test_expect_error("has 96 bytes to the end of its allocation (of 4096 bytes at 0x");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID,
              aclrtMemcpy(p->device + 4000, 4096, p->ordinary, 97, ACL_MEMCPY_HOST_TO_DEVICE));
    test_expect_error("but 8000 bytes are asked");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID,
              aclrtMemcpy(p->ordinary, 8000, p->pinned, 8000, ACL_MEMCPY_HOST_TO_HOST));
    test_expect_error("but 5000 bytes are asked");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtMemset(p->device, 5000, 0, 5000));
    EXPECT_EQ(ACL_SUCCESS, aclrtFree(gone));
    test_expect_error("is in device memory, but in no allocation");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpy(gone, 8, p->ordinary, 8, ACL_MEMCPY_DEFAULT));
    EXPECT_EQ(ACL_SUCCESS, aclrtMalloc((void **)&p->device2, 8, ACL_MEM_MALLOC_HUGE_FIRST));
    end(p);
}

TEST_ON_DEVICE(rows_are_copied_and_what_lies_between_is_not)
{
    struct place *p = begin();

    for (int i = 0; i < 100; i++)
        p->ordinary[i] = (char)(i + 1);
    EXPECT_EQ(ACL_SUCCESS,
              aclrtMemcpy2d(p->device, 16, p->ordinary, 10, 5, 4, ACL_MEMCPY_HOST_TO_DEVICE));
    EXPECT_EQ(1, p->device[0]);
    EXPECT_EQ(5, p->device[4]);
    EXPECT_EQ(0, p->device[5]);
    EXPECT_EQ(35, p->device[52]);
    EXPECT_EQ(ACL_SUCCESS, aclrtMemcpy2dAsync(p->device2, 10, p->device, 16, 5, 4,
                                              ACL_MEMCPY_DEVICE_TO_DEVICE, NULL));
    EXPECT_EQ(ACL_SUCCESS, aclrtMemcpy2dAsync(p->pinned, 10, p->device2, 10, 5, 4,
                                              ACL_MEMCPY_DEVICE_TO_HOST, NULL));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(NULL));
    EXPECT_EQ(35, p->pinned[34]);
    EXPECT_EQ(0, p->pinned[35]);
    EXPECT_EQ(ACL_SUCCESS, aclrtMemcpy2dAsync(p->ordinary, 5, p->device, 16, 5, 4,
                                              ACL_MEMCPY_DEVICE_TO_HOST, NULL));
    EXPECT_EQ(35, p->ordinary[19]);                          /* pageable: done already */
    test_expect_error("bytes to the end of its allocation"); /* the last row ends past it */
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID,
              aclrtMemcpy2d(p->device, 1024, p->ordinary, 1, 1, 6, ACL_MEMCPY_HOST_TO_DEVICE));
    EXPECT_EQ(ACL_SUCCESS, aclrtMemcpy2d(p->device + 4095 - 1024, 1024, p->ordinary, 1, 1, 2,
                                         ACL_MEMCPY_HOST_TO_DEVICE));
    end(p);
}

TEST_ON_DEVICE(asynchronous_copies_behave_as_their_host_side_asks)
{
    struct place *p = begin();
    aclrtStream stream = NULL;

    EXPECT_EQ(ACL_SUCCESS, aclrtCreateStream(&stream));
    memset(p->pinned, 3, 4096);
    EXPECT_EQ(ACL_SUCCESS, aclrtMemcpyAsync(p->device, 4096, p->pinned, 4096,
                                            ACL_MEMCPY_HOST_TO_DEVICE, stream));
    EXPECT_EQ(ACL_SUCCESS, aclrtMemsetAsync(p->device, 4096, 4, 100, stream));
    EXPECT_EQ(ACL_SUCCESS, aclrtMemcpyAsync(p->ordinary, 4096, p->device, 4096,
                                            ACL_MEMCPY_DEVICE_TO_HOST, stream));
    EXPECT_EQ(4, p->ordinary[99]); /* pageable: the stream was drained first */
    EXPECT_EQ(3, p->ordinary[100]);
    test_expect_error("are both host memory");
    EXPECT_EQ(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
              aclrtMemcpyAsync(p->ordinary, 4096, p->pinned, 8, ACL_MEMCPY_HOST_TO_HOST, stream));
    EXPECT_EQ(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
              aclrtMemcpyAsync(p->ordinary, 4096, p->pinned, 8, ACL_MEMCPY_DEFAULT, stream));
    test_expect_error("not a live stream");
    EXPECT_EQ(ACL_ERROR_RT_INVALID_HANDLE,
              aclrtMemcpyAsync(p->device, 4096, p->pinned, 8, ACL_MEMCPY_DEFAULT, (aclrtStream)p));
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(1));
    test_expect_error("belongs to another context");
    EXPECT_EQ(ACL_ERROR_RT_STREAM_CONTEXT,
              aclrtMemcpyAsync(p->device, 4096, p->pinned, 8, ACL_MEMCPY_DEFAULT, stream));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(1));
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDevice(0));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(stream));
    end(p);
}

/* The stream is held up by a wait, so that nothing queued behind it can have run. */
TEST_ON_DEVICE(a_buffered_copy_takes_its_source_at_the_call)
{
    struct place *p = begin();
    long live = hc_alloc_live();

    memset(p->ordinary, 1, 100);
    memset(p->pinned, 1, 100);
    EXPECT_EQ(ACL_SUCCESS, aclrtValueWait(p->other, 1, ACL_STREAM_WAIT_VALUE_EQ, NULL));
    EXPECT_EQ(ACL_SUCCESS, aclrtMemcpyAsync(p->device, 4096, p->ordinary, 100,
                                            ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, NULL));
    EXPECT_EQ(ACL_SUCCESS,
              aclrtMemcpyAsync(p->device2, 4096, p->pinned, 100, ACL_MEMCPY_HOST_TO_DEVICE, NULL));
    memset(p->ordinary, 2, 100);
    memset(p->pinned, 2, 100);
    EXPECT_EQ(0, p->device[0]);
    atomic_store((_Atomic uint64_t *)(void *)p->other, 1);
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(NULL));
    EXPECT_EQ(1, p->device[99]);
    EXPECT_EQ(2, p->device2[99]);
    test_expect_error("out of host memory");
    hc_alloc_fail_nth(0);
    EXPECT_EQ(ACL_ERROR_RT_MEMORY_ALLOCATION,
              aclrtMemcpyAsync(p->device, 4096, p->ordinary, 100, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE,
                               NULL));
    EXPECT_TRUE(hc_alloc_live() <=
                live + 4); /* the stream's own chunks and executors, no snapshot */
    end(p);
}

TEST_ON_DEVICE(a_batch_checks_all_before_it_copies_any)
{
    struct place *p = begin();
    void *hosts[3] = {p->ordinary, p->pinned, p->ordinary + 64};
    void *devices[3] = {p->device, p->device2, p->device + 64};
    size_t sizes[3] = {8, 16, 24}, maxs[3] = {8, 16, 24}, firsts[2] = {0, 2}, fail = 7;
    aclrtMemcpyBatchAttr attrs[2] = {0};

    attrs[0].dstLoc.type = attrs[1].dstLoc.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    memset(p->ordinary, 5, 128);
    memset(p->pinned, 6, 128);
    EXPECT_EQ(ACL_SUCCESS,
              aclrtMemcpyBatch(devices, maxs, hosts, sizes, 3, attrs, firsts, 2, &fail));
    EXPECT_EQ(SIZE_MAX, fail);
    EXPECT_EQ(5, p->device[7]);
    EXPECT_EQ(0, p->device[8]);
    EXPECT_EQ(6, p->device2[15]);
    EXPECT_EQ(5, p->device[87]);
    EXPECT_EQ(ACL_SUCCESS, aclrtMemcpyBatchV2(devices, maxs, hosts, sizes, 3, attrs, firsts, 2));
    EXPECT_EQ(ACL_SUCCESS,
              aclrtMemcpyBatchAsync(devices, maxs, hosts, sizes, 3, attrs, firsts, 2, NULL, NULL));
    EXPECT_EQ(ACL_SUCCESS, aclrtMemcpyBatchAsyncV2(devices + 1, maxs, hosts + 1, sizes, 1, attrs,
                                                   firsts, 1, NULL));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(NULL));

    test_allow_errors();
    memset(p->device, 0, 128);
    devices[2] = p->pinned; /* host to host */
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID,
              aclrtMemcpyBatch(devices, maxs, hosts, sizes, 3, attrs, firsts, 2, &fail));
    EXPECT_EQ(2, fail);
    EXPECT_EQ(0, p->device[0]);
    devices[2] = p->device + 64;
    firsts[1] = 3;
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID,
              aclrtMemcpyBatch(devices, maxs, hosts, sizes, 3, attrs, firsts, 2, &fail));
    EXPECT_EQ(1, fail);
    firsts[1] = 2;
    attrs[1].srcLoc.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    attrs[1].dstLoc.type = ACL_MEM_LOCATION_TYPE_HOST; /* the other way */
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID,
              aclrtMemcpyBatch(devices, maxs, hosts, sizes, 3, attrs, firsts, 2, &fail));
    EXPECT_EQ(1, fail);
    maxs[1] = 15;
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID,
              aclrtMemcpyBatch(devices, maxs, hosts, sizes, 3, attrs, firsts, 1, &fail));
    EXPECT_EQ(SIZE_MAX, fail);
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM,
              aclrtMemcpyBatch(devices, maxs, hosts, sizes, 0, attrs, firsts, 1, &fail));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM,
              aclrtMemcpyBatch(devices, maxs, hosts, sizes, 1, attrs, firsts, 2, &fail));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM,
              aclrtMemcpyBatch(devices, maxs, NULL, sizes, 3, attrs, firsts, 1, NULL));
    end(p);
}

TEST_ON_DEVICE(reductions_run_on_the_stream)
{
    struct place *p = begin();
    float *sum = (float *)(void *)p->device, *add = (float *)(void *)p->device2;
    int32_t *most = (int32_t *)(void *)(p->device + 64),
            *other = (int32_t *)(void *)(p->device2 + 64);

    for (int i = 0; i < 4; i++) {
        sum[i] = (float)i;
        add[i] = 10;
        most[i] = i * 10;
        other[i] = 15;
    }
    EXPECT_EQ(ACL_SUCCESS, aclrtReduceAsync(sum, add, 16, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM,
                                            ACL_FLOAT, NULL, NULL));
    EXPECT_EQ(ACL_SUCCESS, aclrtReduceAsync(most, other, 12, ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX,
                                            ACL_INT32, NULL, NULL));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(NULL));
    EXPECT_EQ(13, (int)sum[3]);
    EXPECT_EQ(15, most[1]);
    EXPECT_EQ(20, most[2]);
    EXPECT_EQ(30, most[3]); /* three elements only */
    test_allow_errors();
    EXPECT_EQ(
        ACL_ERROR_INVALID_PARAM,
        aclrtReduceAsync(NULL, add, 16, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_FLOAT, NULL, NULL));
    EXPECT_EQ(
        ACL_ERROR_RT_PARAM_INVALID,
        aclrtReduceAsync(sum, add, 15, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_FLOAT, NULL, NULL));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID,
              aclrtReduceAsync(sum, add, 16, (aclrtReduceKind)3, ACL_FLOAT, NULL, NULL));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID,
              aclrtReduceAsync(sum, add, 16, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_FLOAT, NULL, p));
    EXPECT_EQ(
        ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
        aclrtReduceAsync(sum, add, 16, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_STRING, NULL, NULL));
    EXPECT_EQ(
        ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
        aclrtReduceAsync(sum, add, 16, ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL, ACL_FLOAT, NULL, NULL));
    end(p);
}

TEST_ON_DEVICE(streams_wait_for_words_that_others_write)
{
    struct place *p = begin();
    _Atomic uint64_t *words = (_Atomic uint64_t *)(void *)p->device;
    aclrtStream first = NULL, second = NULL;

    EXPECT_EQ(ACL_SUCCESS, aclrtCreateStream(&first));
    EXPECT_EQ(ACL_SUCCESS, aclrtCreateStream(&second));
    words[3] = ~0ull; /* NOR fits once a bit is missing */
    EXPECT_EQ(ACL_SUCCESS, aclrtValueWait((void *)&words[0], 5, ACL_STREAM_WAIT_VALUE_GEQ, first));
    EXPECT_EQ(ACL_SUCCESS, aclrtValueWait((void *)&words[1], 6, ACL_STREAM_WAIT_VALUE_AND, first));
    EXPECT_EQ(ACL_SUCCESS, aclrtValueWait((void *)&words[3], 0, ACL_STREAM_WAIT_VALUE_NOR, first));
    EXPECT_EQ(ACL_SUCCESS, aclrtValueWrite((void *)&words[2], 77, 0, first));
    EXPECT_EQ(ACL_SUCCESS, aclrtValueWrite((void *)&words[0], 9, 0, second));
    EXPECT_EQ(ACL_SUCCESS, aclrtValueWrite((void *)&words[1], 4, 0, second));
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(second));
    EXPECT_EQ(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(first, 30));
    EXPECT_EQ(0, words[2]);
    words[3] = 1;
    EXPECT_EQ(ACL_SUCCESS, aclrtSynchronizeStream(first));
    EXPECT_EQ(77, words[2]);
    EXPECT_EQ(ACL_SUCCESS, aclrtValueWait((void *)&words[2], 78, ACL_STREAM_WAIT_VALUE_EQ, first));
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStreamForce(first)); /* cut off, not waited for */
    EXPECT_EQ(ACL_SUCCESS, aclrtDestroyStream(second));
    EXPECT_EQ(ACL_SUCCESS, aclrtCmoAsync(p->device, 64, ACL_RT_CMO_TYPE_PREFETCH, NULL));
    test_allow_errors();
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtValueWrite(p->device + 4, 1, 0, NULL));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtValueWrite(p->device, 1, 1, NULL));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtValueWrite(p->pinned, 1, 0, NULL));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtValueWait(p->device, 1, 4, NULL));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtValueWait(NULL, 1, 0, NULL));
    EXPECT_EQ(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
              aclrtCmoAsync(p->device, 64, ACL_RT_CMO_TYPE_FLUSH, NULL));
    end(p);
}
