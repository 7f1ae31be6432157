/* SPDX-License-Identifier: BSD-3-Clause */
/* What windows refuse, and that nothing was touched then. */
#include <sys/wait.h>

#include "p2p/window_test.h"

#define BIG ((uint64_t)1 << 63)

/* ---- refused accesses ---- */

struct place {
    HcommWindow window;
    uint32_t rank;
    uint64_t *buf; /* plenty */
};

static HcclResult
put(const struct place *place, uint64_t count, HcclDataType type, uint64_t offset)
{
    return HcommPut(place->buf, count, type, place->window, place->rank, offset, INLINE);
}

static HcclResult
get(const struct place *place, uint64_t count, HcclDataType type, uint64_t offset)
{
    return HcommGet(place->buf, count, type, place->window, place->rank, offset, INLINE);
}

static HcclResult
add(const struct place *place, uint64_t count, HcclDataType type, uint64_t offset)
{
    return HcommAccumulate(place->buf, count, type, HCCL_REDUCE_SUM, place->window, place->rank,
                           offset, INLINE);
}

/* The window of rank 1 has 1000 bytes. */
static void
outside(const struct place *place)
{
    HcclResult (*calls[])(const struct place *, uint64_t, HcclDataType, uint64_t) = {put, get, add};

    test_expect_error("4 bytes at offset 1000 leave the 1000 bytes that rank 1 offers");
    test_expect_error("bytes that rank 1 offers");
    test_expect_error("elements of int64 are more than memory has bytes");
    test_expect_error("there is no data type 255");
    test_expect_error("there is no data type -1");
    for (int i = 0; i < 3; i++) {
        GOOD(calls[i](place, 0, HCCL_DATA_TYPE_INT32, 5000));
        GOOD(calls[i](place, 250, HCCL_DATA_TYPE_INT32, 0));
        GOOD(calls[i](place, 1, HCCL_DATA_TYPE_INT32, 996));
        CHECK_EQ(HCCL_E_PARA, calls[i](place, 1, HCCL_DATA_TYPE_INT32, 1000));
        CHECK_EQ(HCCL_E_PARA, calls[i](place, 2, HCCL_DATA_TYPE_INT32, 996));
        CHECK_EQ(HCCL_E_PARA, calls[i](place, 251, HCCL_DATA_TYPE_INT32, 0));
        CHECK_EQ(HCCL_E_PARA, calls[i](place, 1, HCCL_DATA_TYPE_INT64, UINT64_MAX - 7));
        CHECK_EQ(HCCL_E_PARA, calls[i](place, 2, HCCL_DATA_TYPE_INT64, UINT64_MAX - 7));
        CHECK_EQ(HCCL_E_PARA, calls[i](place, BIG, HCCL_DATA_TYPE_INT8, BIG));
        CHECK_EQ(HCCL_E_PARA, calls[i](place, BIG >> 2, HCCL_DATA_TYPE_INT64, 0));
        CHECK_EQ(HCCL_E_PARA, calls[i](place, (BIG >> 2) + 1, HCCL_DATA_TYPE_INT64, 0));
        CHECK_EQ(HCCL_E_PARA, calls[i](place, UINT64_MAX, HCCL_DATA_TYPE_INT64, 0));
        CHECK_EQ(HCCL_E_PARA, calls[i](place, 1, HCCL_DATA_TYPE_RESERVED, 0));
        CHECK_EQ(HCCL_E_PARA, calls[i](place, 1, (HcclDataType)-1, 0));
        CHECK_EQ(HCCL_E_PARA, calls[i](place, 0, (HcclDataType)-1, 0));
    }
}

static void
wrong_buffers(const struct place *place)
{
    uint64_t value = 1, *device = wmem_alloc(W_DEVICE, 64);
    HcommWindow window = place->window;

    test_expect_error("the source is NULL");
    test_expect_error("the destination is NULL");
    test_expect_error("the operand is NULL");
    test_expect_error("the result is NULL");
    test_expect_error("the new value is NULL");
    test_expect_error("what to compare with is NULL");
    test_expect_error("to the end of its allocation");
    CHECK_EQ(HCCL_E_PTR, HcommPut(NULL, 1, HCCL_DATA_TYPE_INT8, window, 1, 0, INLINE));
    CHECK_EQ(HCCL_E_PTR, HcommGet(NULL, 1, HCCL_DATA_TYPE_INT8, window, 1, 0, INLINE));
    CHECK_EQ(HCCL_E_PTR,
             HcommAccumulate(NULL, 1, HCCL_DATA_TYPE_INT8, HCCL_REDUCE_SUM, window, 1, 0, INLINE));
    CHECK_EQ(HCCL_E_PTR, HcommFetchOp(NULL, &value, HCCL_DATA_TYPE_INT64, HCCL_REDUCE_SUM, window,
                                      1, 0, INLINE));
    CHECK_EQ(HCCL_E_PTR, HcommFetchOp(&value, NULL, HCCL_DATA_TYPE_INT64, HCCL_REDUCE_SUM, window,
                                      1, 0, INLINE));
    CHECK_EQ(HCCL_E_PTR,
             HcommCompareSwap(NULL, &value, &value, HCCL_DATA_TYPE_INT64, window, 1, 0, INLINE));
    CHECK_EQ(HCCL_E_PTR,
             HcommCompareSwap(&value, NULL, &value, HCCL_DATA_TYPE_INT64, window, 1, 0, INLINE));
    CHECK_EQ(HCCL_E_PTR,
             HcommCompareSwap(&value, &value, NULL, HCCL_DATA_TYPE_INT64, window, 1, 0, INLINE));
    GOOD(HcommPut(device, 64, HCCL_DATA_TYPE_INT8, window, 1, 0, INLINE));
    CHECK_EQ(HCCL_E_PARA, HcommPut(device, 65, HCCL_DATA_TYPE_INT8, window, 1, 0, INLINE));
    CHECK_EQ(HCCL_E_PARA, HcommGet(device + 1, 64, HCCL_DATA_TYPE_INT8, window, 1, 0, INLINE));
    wmem_free(W_DEVICE, device);
}

static void
wrong_kinds(const struct place *place)
{
    HcommWindow window = place->window;
    uint64_t value = 1;
    float real = 1;

    test_expect_error("operator 5 (no operator) does not exist for data type 2 (int32)");
    test_expect_error("offset 2 at rank 1 is not aligned to the 4 bytes of a int32");
    test_expect_error("it must be int32, uint32, int64 or uint64");
    test_expect_error("rank 7 is out of range");
    test_expect_error("notify is 64");
    test_expect_error("notify is 4294967295");
    test_expect_error("count is 0");
    test_expect_error("does not exist for data type");
    test_expect_error("is not aligned");
    CHECK_EQ(HCCL_E_PARA, HcommAccumulate(&value, 1, HCCL_DATA_TYPE_INT32, (HcclReduceOp)5, window,
                                          1, 0, INLINE));
    CHECK_EQ(HCCL_E_PARA, HcommAccumulate(&value, 1, HCCL_DATA_TYPE_INT32, (HcclReduceOp)-1, window,
                                          1, 0, INLINE));
    CHECK_EQ(HCCL_E_PARA, add(place, 1, HCCL_DATA_TYPE_INT32, 2));
    CHECK_EQ(HCCL_E_PARA, HcommFetchOp(&real, &real, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, window,
                                       1, 0, INLINE));
    CHECK_EQ(HCCL_E_PARA,
             HcommCompareSwap(&value, &value, &value, HCCL_DATA_TYPE_INT16, window, 1, 0, INLINE));
    CHECK_EQ(HCCL_E_PARA, HcommFetchOp(&value, &value, HCCL_DATA_TYPE_INT64, HCCL_REDUCE_SUM,
                                       window, 1, 1000, INLINE));
    CHECK_EQ(HCCL_E_PARA, HcommPut(&value, 1, HCCL_DATA_TYPE_INT8, window, 7, 0, INLINE));
    CHECK_EQ(HCCL_E_PARA, HcommGet(&value, 0, HCCL_DATA_TYPE_INT8, window, 7, 0, INLINE));
    CHECK_EQ(HCCL_E_PARA, HcommWindowFlush(window, 7, INLINE));
    CHECK_EQ(HCCL_E_PARA, HcommWindowGetPeer(window, 7, NULL, NULL, NULL));
    GOOD(HcommWindowFlush(window, HCOMM_ANY_RANK, INLINE));
    CHECK_EQ(HCCL_E_PARA, HcommPutNotify(&value, 1, HCCL_DATA_TYPE_INT8, window, 1, 0, 64, INLINE));
    CHECK_EQ(HCCL_E_PARA,
             HcommPutNotify(&value, 1, HCCL_DATA_TYPE_INT8, window, 1, 0, UINT32_MAX, INLINE));
    CHECK_EQ(HCCL_E_PARA, HcommWindowNotifyWait(window, 64, 1, 1, INLINE));
    CHECK_EQ(HCCL_E_PARA, HcommWindowNotifyWait(window, 0, 0, 1, INLINE));
}

static void
bad_accesses(struct wrank *rank)
{
    struct place place = {.rank = 1, .buf = wmem_alloc(W_MALLOC, 4096)};
    uint8_t *mem;

    memset(place.buf, 0, 4096);
    GOOD(HcommWindowAllocate(rank->comm, 1000, HCOMM_ACCESS_ALL, (void **)(uintptr_t)&mem,
                             &place.window));
    if (rank->number == 0) {
        outside(&place);
        wrong_buffers(&place);
        wrong_kinds(&place);
    }
    wrank_barrier(rank, place.window);
    for (int i = 0; i < 1000; i++)
        CHECK(mem[i] == 0);
    GOOD(HcommWindowDestroy(place.window));
    free(place.buf);
}

TEST_RANKS(what_leaves_a_window_or_makes_no_sense_is_refused, 2, bad_accesses)

static void
bad_handles(struct wrank *rank)
{
    struct place place = {.rank = 1};
    aclrtStream stream;
    uint64_t value = 1;
    void *mem;

    GOOD(HcommWindowAllocate(rank->comm, 1000, HCOMM_ACCESS_ALL, &mem, &place.window));
    if (rank->number == 0) {
        test_expect_error("the window is NULL");
        test_expect_error("it is no handle at all");
        test_expect_error("a handle of another kind");
        CHECK_EQ(HCCL_E_PTR, HcommPut(&value, 1, HCCL_DATA_TYPE_INT8, NULL, 0, 0, INLINE));
        CHECK_EQ(HCCL_E_PTR, HcommGet(&value, 1, HCCL_DATA_TYPE_INT8, NULL, 0, 0, NULL));
        CHECK_EQ(HCCL_E_PTR, HcommWindowDestroy(NULL));
        CHECK_EQ(HCCL_E_PTR, HcommWindowFlush(NULL, 0, INLINE));
        CHECK_EQ(HCCL_E_PTR, HcommWindowNotifyWait(NULL, 0, 1, 1, INLINE));
        CHECK_EQ(HCCL_E_PARA, HcommPut(&value, 1, HCCL_DATA_TYPE_INT8, &value, 0, 0, INLINE));
        CHECK_EQ(HCCL_E_PARA, HcommWindowDestroy(&value));
        CHECK(aclrtCreateStream(&stream) == ACL_SUCCESS);
        CHECK_EQ(HCCL_E_PARA, HcommPut(&value, 1, HCCL_DATA_TYPE_INT8, stream, 0, 0, INLINE));
        CHECK(aclrtDestroyStream(stream) == ACL_SUCCESS);
        test_expect_error("stream");
        CHECK_EQ(HCCL_E_RUNTIME,
                 HcommPut(&value, 1, HCCL_DATA_TYPE_INT8, place.window, 1, 0, stream));
        CHECK_EQ(HCCL_E_RUNTIME, HcommWindowNotifyWait(place.window, 0, 1, 1, stream));
    }
    GOOD(HcommWindowDestroy(place.window));
    test_expect_error("already destroyed");
    CHECK_EQ(HCCL_E_PARA, HcommPut(&value, 1, HCCL_DATA_TYPE_INT8, place.window, 1, 0, INLINE));
    CHECK_EQ(HCCL_E_PARA, HcommGet(&value, 1, HCCL_DATA_TYPE_INT8, place.window, 1, 0, INLINE));
    CHECK_EQ(HCCL_E_PARA, add(&place, 1, HCCL_DATA_TYPE_INT8, 0));
    CHECK_EQ(HCCL_E_PARA, HcommWindowNotifyWait(place.window, 0, 1, 1, INLINE));
    CHECK_EQ(HCCL_E_PARA, HcommWindowFlush(place.window, 0, INLINE));
    CHECK_EQ(HCCL_E_PARA, HcommWindowGetPeer(place.window, 0, NULL, NULL, NULL));
    CHECK_EQ(HCCL_E_PARA, HcommWindowDestroy(place.window));
}

TEST_RANKS(handles_that_are_no_live_windows_are_refused, 2, bad_handles)

/* Rank r grants what the bits of r say. Each uses a place of its own. */
static void
rights(struct wrank *rank)
{
    uint64_t value = 0, offset = 8 * rank->number, *mem;
    HcommWindow window;

    GOOD(HcommWindowAllocate(rank->comm, 64, rank->number, (void **)(uintptr_t)&mem, &window));
    test_expect_error("did not grant HCOMM_ACCESS_WRITE");
    test_expect_error("did not grant HCOMM_ACCESS_READ");
    test_expect_error("did not grant HCOMM_ACCESS_ACCUMULATE");
    for (uint32_t i = 0; i < rank->num; i++) {
        struct place place = {.window = window, .rank = i, .buf = &value};
        HcclResult reads = i & HCOMM_ACCESS_READ ? HCCL_SUCCESS : HCCL_E_PARA;
        HcclResult writes = i & HCOMM_ACCESS_WRITE ? HCCL_SUCCESS : HCCL_E_PARA;
        HcclResult adds = i & HCOMM_ACCESS_ACCUMULATE ? HCCL_SUCCESS : HCCL_E_PARA;

        CHECK_EQ(reads, get(&place, 1, HCCL_DATA_TYPE_INT64, offset));
        CHECK_EQ(writes, put(&place, 1, HCCL_DATA_TYPE_INT64, offset));
        CHECK_EQ(adds, add(&place, 1, HCCL_DATA_TYPE_INT64, offset));
        CHECK_EQ(adds, HcommFetchOp(&value, &value, HCCL_DATA_TYPE_INT64, HCCL_REDUCE_SUM, window,
                                    i, offset, INLINE));
        CHECK_EQ(adds, HcommCompareSwap(&value, &value, &value, HCCL_DATA_TYPE_INT64, window, i,
                                        offset, INLINE));
    }
    GOOD(HcommWindowDestroy(window));
}

TEST_RANKS(only_what_was_granted_can_be_done, 8, rights)

/* ---- refused windows ---- */

/* Rank `bad` gets it wrong in all ways; the others are told who. The communicator works on. */
static void
bad_windows(struct wrank *rank)
{
    HcommWindow window = (HcommWindow)1;
    void *addr = (void *)1, *device = wmem_alloc(W_DEVICE, 512);
    bool bad = rank->number == 1;

    test_expect_error(bad ? "no place for the handle" : "rank 1 of");
    CHECK_EQ(bad ? HCCL_E_PTR : HCCL_E_REMOTE,
             HcommWindowCreate(rank->comm, device, 512, 0, bad ? NULL : &window));
    test_expect_error(bad ? "no place for the address" : "could not take part");
    CHECK_EQ(bad ? HCCL_E_PTR : HCCL_E_REMOTE,
             HcommWindowAllocate(rank->comm, 512, 0, bad ? NULL : &addr, &window));
    if (bad)
        test_expect_error("access 0x8");
    CHECK_EQ(bad ? HCCL_E_PARA : HCCL_E_REMOTE,
             HcommWindowAllocate(rank->comm, 512, bad ? 8 : 0, &addr, &window));
    if (bad)
        test_expect_error("addr is NULL");
    CHECK_EQ(bad ? HCCL_E_PTR : HCCL_E_REMOTE,
             HcommWindowCreate(rank->comm, bad ? NULL : device, 512, 0, &window));
    if (bad)
        test_expect_error("to the end of its allocation");
    CHECK_EQ(bad ? HCCL_E_PARA : HCCL_E_REMOTE,
             HcommWindowCreate(rank->comm, device, bad ? 513 : 512, 0, &window));
    if (bad)
        test_expect_error("more than an address can reach");
    CHECK_EQ(bad ? HCCL_E_PARA : HCCL_E_REMOTE,
             HcommWindowCreate(rank->comm, device, bad ? UINT64_MAX : 512, 0, &window));
    if (bad)
        test_expect_error("out of memory on device");
    CHECK_EQ(bad ? HCCL_E_MEMORY : HCCL_E_REMOTE,
             HcommWindowAllocate(rank->comm, bad ? 1ull << 60 : 512, 0, &addr, &window));
    CHECK(window == (HcommWindow)1 && addr == (void *)1);
    GOOD(HcommWindowCreate(rank->comm, device, 512, 0, &window));
    wrank_barrier(rank, window);
    GOOD(HcommWindowDestroy(window));
    wmem_free(W_DEVICE, device);
}

TEST_RANKS(one_wrong_argument_is_everybodys_error_and_the_next_window_works, 3, bad_windows)

/* ---- forked children ---- */

static void
in_child(struct wrank *rank)
{
    HcommWindow window;
    uint64_t *mem, value = 1;
    int status = 0;
    pid_t pid;

    GOOD(HcommWindowAllocate(rank->comm, 64, HCOMM_ACCESS_ALL, (void **)(uintptr_t)&mem, &window));
    fflush(NULL);
    pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        bool refused =
            HcommPut(&value, 1, HCCL_DATA_TYPE_INT64, window, 0, 0, INLINE) == HCCL_E_INTERNAL &&
            HcommGet(&value, 1, HCCL_DATA_TYPE_INT64, window, 0, 0, INLINE) == HCCL_E_INTERNAL &&
            HcommWindowNotifyWait(window, 0, 1, 1, INLINE) == HCCL_E_INTERNAL &&
            HcommWindowDestroy(window) == HCCL_E_INTERNAL;

        _exit(refused ? 0 : 1);
    }
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    GOOD(HcommPut(&value, 1, HCCL_DATA_TYPE_INT64, window, 0, 0, INLINE));
    GOOD(HcommWindowDestroy(window));
}

TEST(a_forked_child_cannot_use_a_window)
{
    wranks_processes(2, in_child);
}
