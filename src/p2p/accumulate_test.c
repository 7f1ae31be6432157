/* SPDX-License-Identifier: BSD-3-Clause */
/* Accumulate, fetch-op and compare-swap: what they compute, and that they are atomic. */
#include "p2p/window_test.h"
#include "reduce/reduce.h"

#define TYPES 20
#define OPS 5 /* the last one: replace */

static int
op_at(int i)
{
    return i == OPS - 1 ? (int)HCOMM_REDUCE_REPLACE : i;
}

/* ---- one rank alone: all types and operators, against reduce_apply() ---- */

#define COUNT 5000u /* elements: several blocks */

static void
fill(uint8_t *bytes, uint64_t len, uint32_t seed)
{
    for (uint64_t i = 0; i < len; i++) {
        seed = seed * 1664525u + 1013904223u;
        bytes[i] = (uint8_t)(seed >> 24);
    }
}

static void
one_pair(struct wrank *rank, HcommWindow window, int type, int op, uint8_t *src, uint8_t *want)
{
    uint32_t size = reduce_type_size(type), target = rank->num - 1;
    uint64_t offset = 16 * size, len = COUNT * size;
    bool known = size != 0 && (op == (int)HCOMM_REDUCE_REPLACE || reduce_supported(type, op));
    uint8_t *back = want + len;

    fill(src, len, (uint32_t)(type * 10 + op));
    if (!known) {
        CHECK_EQ(HCCL_E_PARA, HcommAccumulate(src, 1, (HcclDataType)type, (HcclReduceOp)op, window,
                                              target, 0, INLINE));
        return;
    }
    GOOD(HcommGet(want, len, HCCL_DATA_TYPE_UINT8, window, target, offset, INLINE));
    if (op == (int)HCOMM_REDUCE_REPLACE)
        memcpy(want, src, len);
    else
        reduce_apply(want, src, COUNT, type, op);
    GOOD(HcommAccumulate(src, COUNT, (HcclDataType)type, (HcclReduceOp)op, window, target, offset,
                         INLINE));
    GOOD(HcommGet(back, len, HCCL_DATA_TYPE_UINT8, window, target, offset, INLINE));
    CHECK(memcmp(want, back, len) == 0);
}

static void
all_pairs(struct wrank *rank, enum wkind kind)
{
    uint64_t size = (COUNT + 32) * 16;
    uint8_t *mem = wmem_alloc(kind, size), *src = malloc(size), *want = malloc(2 * size);
    HcommWindow window;

    fill(mem, size, 7);
    GOOD(HcommWindowCreate(rank->comm, mem, size, HCOMM_ACCESS_READ | HCOMM_ACCESS_ACCUMULATE,
                           &window));
    if (rank->number == 0) {
        test_expect_error("there is no data type 13");
        test_expect_error("(hif8)");
        for (int type = -1; type < TYPES; type++) {
            for (int op = 0; op < OPS; op++)
                one_pair(rank, window, type, op_at(op), src, want);
        }
    }
    wrank_barrier(rank, window);
    GOOD(HcommWindowDestroy(window));
    free(src);
    free(want);
    wmem_free(kind, mem);
}

static void
types_and_ops(struct wrank *rank)
{
    if (rank->number == 0) {
        test_expect_error("there is no data type");
        test_expect_error("does not exist for data type");
    }
    all_pairs(rank, W_DEVICE);
    all_pairs(rank, W_MALLOC);
}

TEST_RANKS(all_types_and_operators_compute_what_reduce_does, 2, types_and_ops)

/* ---- all ranks at once ---- */

#define SPAN 300u

/* Everybody adds to the same elements of rank 0; one element is counted by fetch-op meanwhile. */
static void
exact_sum(struct wrank *rank, enum wkind kind, uint32_t rounds)
{
    uint64_t len = (SPAN + 1) * sizeof(int64_t);
    int64_t *mem = wmem_alloc(kind, len), ones[SPAN], one = 1, last = -1;
    HcommWindow window;

    memset(mem, 0, len);
    for (uint32_t i = 0; i < SPAN; i++)
        ones[i] = (int64_t)i * (rank->number + 1) - 5;
    GOOD(HcommWindowCreate(rank->comm, mem, rank->number == 0 ? len : 0, HCOMM_ACCESS_ACCUMULATE,
                           &window));
    for (uint32_t i = 0; i < rounds; i++) {
        int64_t seen = -1;

        GOOD(HcommAccumulate(ones, SPAN, HCCL_DATA_TYPE_INT64, HCCL_REDUCE_SUM, window, 0, 0,
                             INLINE));
        GOOD(HcommFetchOp(&one, &seen, HCCL_DATA_TYPE_INT64, HCCL_REDUCE_SUM, window, 0, SPAN * 8,
                          INLINE));
        CHECK(seen > last && seen < rounds * rank->num);
        last = seen;
    }
    wrank_barrier(rank, window);
    for (uint32_t i = 0; i < SPAN && rank->number == 0; i++) {
        int64_t ranks = rank->num;

        CHECK_EQ(rounds * ((int64_t)i * (ranks * (ranks + 1) / 2) - 5 * ranks), mem[i]);
    }
    if (rank->number == 0)
        CHECK_EQ(rounds * rank->num, mem[SPAN]);
    GOOD(HcommWindowDestroy(window));
    wmem_free(kind, mem);
}

static void
sum_device(struct wrank *rank)
{
    exact_sum(rank, W_DEVICE, 10000);
}

static void
sum_malloc(struct wrank *rank)
{
    exact_sum(rank, W_MALLOC, 100);
}

TEST_RANKS(sums_of_eight_ranks_at_once_are_exact, 8, sum_device)
TEST_RANKS(sums_in_malloc_memory_are_exact, 3, sum_malloc)

/* Long ones, from streams and threads, on several blocks at once. */
static void
long_sums(struct wrank *rank)
{
    enum { COUNT_ = 1 << 18, EACH = 20 };
    uint32_t *mem, *src = malloc(COUNT_ * sizeof *src);
    aclrtStream stream;
    HcommWindow window;

    CHECK(aclrtCreateStream(&stream) == ACL_SUCCESS);
    for (uint32_t i = 0; i < COUNT_; i++)
        src[i] = i;
    GOOD(HcommWindowAllocate(rank->comm, COUNT_ * sizeof *mem, HCOMM_ACCESS_ACCUMULATE,
                             (void **)(uintptr_t)&mem, &window));
    for (int i = 0; i < EACH; i++)
        GOOD(HcommAccumulate(src, COUNT_, HCCL_DATA_TYPE_UINT32, HCCL_REDUCE_SUM, window,
                             (rank->number + (uint32_t)i) % rank->num, 0,
                             i % 2 == 0 ? stream : INLINE));
    CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
    wrank_barrier(rank, window);
    for (uint32_t i = 0; i < COUNT_; i++)
        CHECK(mem[i] == EACH * i);
    GOOD(HcommWindowDestroy(window));
    CHECK(aclrtDestroyStream(stream) == ACL_SUCCESS);
    free(src);
}

TEST_RANKS(long_accumulates_of_streams_and_threads_are_atomic_too, 4, long_sums)

/* ---- compare-swap ---- */

/* A counter made of it, in both sizes; only who was told so has swapped. */
static void
swaps(struct wrank *rank)
{
    enum { EACH = 2000 };
    uint64_t *mem, none = 0;
    HcommWindow window;

    GOOD(HcommWindowAllocate(rank->comm, 64, HCOMM_ACCESS_ALL, (void **)(uintptr_t)&mem, &window));
    for (uint32_t done = 0, i = 0; i < EACH; i = done) {
        uint64_t seen64 = 0, next64;
        uint32_t seen = 0, next, was;

        GOOD(HcommFetchOp(&none, &seen, HCCL_DATA_TYPE_UINT32, HCCL_REDUCE_SUM, window, 1, 8,
                          INLINE));
        next = seen + 1;
        was = ~seen;
        GOOD(HcommCompareSwap(&seen, &next, &was, HCCL_DATA_TYPE_UINT32, window, 1, 8, INLINE));
        if (was != seen)
            continue;
        done++;
        do {
            GOOD(HcommFetchOp(&none, &seen64, HCCL_DATA_TYPE_UINT64, HCCL_REDUCE_SUM, window, 1, 16,
                              INLINE));
            next64 = seen64 + (1ull << 33);
            GOOD(HcommCompareSwap(&seen64, &next64, &next64, HCCL_DATA_TYPE_INT64, window, 1, 16,
                                  INLINE));
        } while (next64 != seen64);
    }
    wrank_barrier(rank, window);
    if (rank->number == 1) {
        CHECK_EQ((uint64_t)EACH * rank->num << 33, mem[2]);
        CHECK_EQ(EACH * rank->num, mem[1]);
    }
    GOOD(HcommWindowDestroy(window));
}

TEST_RANKS(compare_swap_tells_the_one_who_swapped, 3, swaps)

static void
fetches(struct wrank *rank)
{
    int32_t *mem, operand = -7, result = 0;
    uint64_t wide = 5, wide_result = 0;
    aclrtStream stream;
    HcommWindow window;

    GOOD(HcommWindowAllocate(rank->comm, 64, HCOMM_ACCESS_ALL, (void **)(uintptr_t)&mem, &window));
    mem[1] = 100;
    *(uint64_t *)(void *)&mem[2] = 1ull << 40;
    wrank_barrier(rank, window);
    if (rank->number == 1) {
        CHECK(aclrtCreateStream(&stream) == ACL_SUCCESS);
        GOOD(HcommFetchOp(&operand, &result, HCCL_DATA_TYPE_INT32, HCCL_REDUCE_PROD, window, 0, 4,
                          INLINE));
        CHECK_EQ(100, result);
        GOOD(HcommFetchOp(&operand, &result, HCCL_DATA_TYPE_INT32, HCCL_REDUCE_MAX, window, 0, 4,
                          stream));
        CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
        CHECK_EQ(-700, result);
        GOOD(HcommFetchOp(&operand, &result, HCCL_DATA_TYPE_UINT32, HCCL_REDUCE_MIN, window, 0, 4,
                          INLINE));
        CHECK_EQ(-7, result);
        GOOD(HcommFetchOp(&wide, &wide_result, HCCL_DATA_TYPE_UINT64, HCOMM_REDUCE_REPLACE, window,
                          0, 8, INLINE));
        CHECK(wide_result == 1ull << 40);
        GOOD(HcommGet(&wide_result, 1, HCCL_DATA_TYPE_UINT64, window, 0, 8, INLINE));
        CHECK_EQ(5, wide_result);
        GOOD(HcommCompareSwap(&wide, &wide_result, &wide_result, HCCL_DATA_TYPE_UINT64, window, 0,
                              8, stream));
        CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
        CHECK_EQ(5, wide_result);
        CHECK(aclrtDestroyStream(stream) == ACL_SUCCESS);
    }
    wrank_barrier(rank, window);
    if (rank->number == 0)
        CHECK_EQ(-7, mem[1]);
    GOOD(HcommWindowDestroy(window));
}

TEST_RANKS(fetch_op_gives_what_was_there_before, 2, fetches)
