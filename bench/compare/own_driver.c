/* SPDX-License-Identifier: BSD-3-Clause */
/* compare: this library, through its public functions alone. */
#include "loops.h"

#include <acl/acl.h>
#include <hccl/hccl_comm.h>
#include <hcomm/hcomm_p2p.h>
#include <stdio.h>
#include <string.h>

#define TAG 0
#define BYTES HCCL_DATA_TYPE_UINT8

static uint32_t peer;
static HcclComm comm;
static HcommWindow window;
static aclrtStream stream;

static void
check(int code, const char *what)
{
    if (code != 0)
        fail("own: rank %u: %s returned %d", 1 - peer, what, code);
}

static void
own_open(struct pair *pair)
{
    HcclRootInfo info;

    peer = 1 - (uint32_t)pair->rank;
    check(aclInit(NULL), "aclInit");
    check(aclrtSetDevice(pair->rank), "aclrtSetDevice");
    if (pair->rank == 0) {
        check(HcclGetRootInfo(&info), "HcclGetRootInfo");
        _Static_assert(sizeof info <= HELLO_MOST, "a root info fits");
        memcpy(pair->shared->hello[0], &info, sizeof info);
    }
    meet(pair);
    memcpy(&info, pair->shared->hello[0], sizeof info);
    check(HcclCommInitRootInfo(2, &info, (uint32_t)pair->rank, &comm), "HcclCommInitRootInfo");
    check(aclrtCreateStream(&stream), "aclrtCreateStream");
}

static void
own_close(void)
{
    check(aclrtDestroyStream(stream), "aclrtDestroyStream");
    check(HcclCommDestroy(comm), "HcclCommDestroy");
    check(aclrtResetDevice(1 - (int32_t)peer), "aclrtResetDevice");
    check(aclFinalize(), "aclFinalize");
}

static void
own_describe(char *text, size_t len)
{
    snprintf(text, len, "hcomm, defaults");
}

static void *
own_alloc(enum memory memory, size_t len)
{
    void *addr = NULL;

    if (memory == MEMORY_DEVICE)
        check(aclrtMalloc(&addr, len, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
    else
        check(aclrtMallocHost(&addr, len), "aclrtMallocHost");
    return addr;
}

static void
own_release(enum memory memory, void *addr)
{
    if (memory == MEMORY_DEVICE)
        check(aclrtFree(addr), "aclrtFree");
    else
        check(aclrtFreeHost(addr), "aclrtFreeHost");
}

static void
own_send(const void *buf, size_t len)
{
    check(HcommSend(buf, len, BYTES, peer, TAG, comm, HCOMM_STREAM_INLINE), "HcommSend");
}

static void
own_recv(void *buf, size_t len)
{
    check(HcommRecv(buf, len, BYTES, peer, TAG, NULL, comm, HCOMM_STREAM_INLINE), "HcommRecv");
}

static void
own_queue(const void *src, void *dst, size_t len, unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++) {
        if (peer == 1) {
            check(HcommSend(src, len, BYTES, peer, TAG, comm, stream), "HcommSend");
            check(HcommRecv(dst, len, BYTES, peer, TAG, NULL, comm, stream), "HcommRecv");
        } else {
            check(HcommRecv(dst, len, BYTES, peer, TAG, NULL, comm, stream), "HcommRecv");
            check(HcommSend(src, len, BYTES, peer, TAG, comm, stream), "HcommSend");
        }
    }
    check(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
}

static void *
own_window_open(size_t len)
{
    void *addr = NULL;

    check(HcommWindowAllocate(comm, len, HCOMM_ACCESS_ALL, &addr, &window), "HcommWindowAllocate");
    return addr;
}

static void
own_window_close(void)
{
    check(HcommWindowDestroy(window), "HcommWindowDestroy");
}

static void
own_put(const void *src, size_t len)
{
    check(HcommPut(src, len, BYTES, window, peer, 0, HCOMM_STREAM_INLINE), "HcommPut");
}

static void
own_get(void *dst, size_t len)
{
    check(HcommGet(dst, len, BYTES, window, peer, 0, HCOMM_STREAM_INLINE), "HcommGet");
}

static void
own_accumulate(const float *src, size_t count)
{
    check(HcommAccumulate(src, count, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, window, peer, 0,
                          HCOMM_STREAM_INLINE),
          "HcommAccumulate");
}

static void
own_flush(void)
{
    check(HcommWindowFlush(window, peer, HCOMM_STREAM_INLINE), "HcommWindowFlush");
}

static const enum memory memories[] = {MEMORY_DEVICE, MEMORY_PINNED, MEMORY_MALLOC, MEMORY_KINDS};

static const struct lib own_lib = {
    .name = "own",
    .memories = memories,
    .open = own_open,
    .close = own_close,
    .describe = own_describe,
    .alloc = own_alloc,
    .release = own_release,
    .send = own_send,
    .recv = own_recv,
    .queue = own_queue,
    .window_open = own_window_open,
    .window_close = own_window_close,
    .put = own_put,
    .get = own_get,
    .accumulate = own_accumulate,
    .flush = own_flush,
};

int
main(int argc, char **argv)
{
    return loops_fork(&own_lib, argc, argv);
}
