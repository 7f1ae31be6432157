/* SPDX-License-Identifier: BSD-3-Clause */
/* Put, get and notifies of windows. */
#include "p2p/window_test.h"

#define LEN ((uint64_t)3 << 20)

static uint8_t
pattern(uint64_t at, uint32_t seed)
{
    return (uint8_t)(at * 31 + (at >> 8) * 7 + seed * 101 + 1);
}

/* Rank 0 puts `len` bytes to `offset` of its neighbour and gets them back; nothing else changes. */
static void
there_and_back(HcommWindow window, uint32_t rank, uint8_t *own, uint8_t *back, uint64_t offset,
               uint64_t len, aclrtStream stream)
{
    uint8_t around[2];

    for (uint64_t i = 0; i < len; i++)
        own[i] = pattern(i, (uint32_t)(offset + len));
    memset(back, 0xEE, len + 2);
    GOOD(HcommGet(&around[0], 1, HCCL_DATA_TYPE_UINT8, window, rank, offset - 1, INLINE));
    GOOD(HcommGet(&around[1], 1, HCCL_DATA_TYPE_UINT8, window, rank, offset + len, INLINE));
    GOOD(HcommPut(own, len, HCCL_DATA_TYPE_UINT8, window, rank, offset, stream));
    GOOD(HcommWindowFlush(window, rank, stream));
    GOOD(HcommGet(back + 1, len, HCCL_DATA_TYPE_INT8, window, rank, offset, stream));
    if (stream != INLINE)
        CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
    CHECK(memcmp(own, back + 1, len) == 0);
    CHECK(back[0] == 0xEE && back[len + 1] == 0xEE);
    GOOD(HcommGet(back, 1, HCCL_DATA_TYPE_UINT8, window, rank, offset - 1, INLINE));
    CHECK(back[0] == around[0]);
    GOOD(HcommGet(back, 1, HCCL_DATA_TYPE_UINT8, window, rank, offset + len, INLINE));
    CHECK(back[0] == around[1]);
}

static void
puts_and_gets(struct wrank *rank, enum wkind far, enum wkind near)
{
    static const uint64_t lens[] = {33, 63, 64, 65, 4095, 4096, 4097, 70001, (1u << 20) + 3};
    uint8_t *mem = wmem_alloc(far, LEN);
    HcommWindow window = NULL;

    memset(mem, 0x55, LEN);
    GOOD(HcommWindowCreate(rank->comm, mem, LEN, HCOMM_ACCESS_READ | HCOMM_ACCESS_WRITE, &window));
    if (rank->number == 0) {
        uint8_t *own = wmem_alloc(near, LEN), *back = wmem_alloc(near, LEN);
        aclrtStream stream;

        CHECK(aclrtCreateStream(&stream) == ACL_SUCCESS);
        for (uint64_t offset = 1; offset < 10; offset++) {
            for (uint64_t len = 0; len < 18; len++)
                there_and_back(window, rank->num - 1, own + offset % 3, back + offset % 5, offset,
                               len, len % 2 == 0 ? INLINE : stream);
        }
        for (uint32_t i = 0; i < sizeof lens / sizeof lens[0]; i++) {
            there_and_back(window, rank->num - 1, own, back, 4096 + i, lens[i], INLINE);
            there_and_back(window, rank->num - 1, own, back, 64 + i, lens[i], stream);
            there_and_back(window, 0, own, back, 8 + i, lens[i], INLINE);
        }
        CHECK(aclrtDestroyStream(stream) == ACL_SUCCESS);
        wmem_free(near, own);
        wmem_free(near, back);
    }
    wrank_barrier(rank, window);
    GOOD(HcommWindowDestroy(window));
    wmem_free(far, mem);
}

static void
all_kinds(struct wrank *rank)
{
    for (int far = 0; far < W_KINDS; far++) {
        for (int near = 0; near < W_KINDS; near++)
            puts_and_gets(rank, (enum wkind)far, (enum wkind)near);
    }
}

TEST_RANKS(bytes_arrive_whatever_the_memory_the_alignment_and_the_length, 2, all_kinds)

/* ---- what peers are told ---- */

static void
sizes_differ(struct wrank *rank)
{
    uint64_t own_size = rank->number * 1000u, size = 77;
    uint32_t access = 77;
    void *addr = &size, *own = NULL;
    HcommWindow window = NULL;
    uint64_t value = 0;

    GOOD(HcommWindowAllocate(rank->comm, own_size, rank->number % 8, &own, &window));
    CHECK(own_size == 0 ? own == NULL : (uintptr_t)own % 512 == 0);
    for (uint64_t i = 0; i < own_size; i++)
        CHECK(((uint8_t *)own)[i] == 0);
    wrank_barrier(rank, window);
    for (uint32_t i = 0; i < rank->num; i++) {
        GOOD(HcommWindowGetPeer(window, i, &addr, &size, &access));
        CHECK_EQ(i * 1000u, size);
        CHECK_EQ(i % 8, access);
        CHECK((addr == NULL) == (i == 0));
        GOOD(HcommWindowGetPeer(window, i, NULL, NULL, NULL));
    }
    if (rank->number == 0) {
        GOOD(HcommPut(&size, 1, HCCL_DATA_TYPE_UINT64, window, 2, 1992, INLINE));
        GOOD(HcommWindowGetPeer(window, 2, &addr, NULL, NULL));
        memcpy(&value, (char *)addr + 1992, sizeof value);
        CHECK_EQ(size, value);
        GOOD(HcommPut(NULL, 0, HCCL_DATA_TYPE_UINT64, window, 0, 1992, INLINE));
    }
    wrank_barrier(rank, window);
    if (rank->number == 2) {
        memcpy(&value, (char *)own + 1992, sizeof value);
        CHECK_EQ((rank->num - 1) * 1000u, value);
    }
    GOOD(HcommWindowDestroy(window));
}

TEST_RANKS(each_rank_offers_what_it_likes, 4, sizes_differ)

/* ---- notifies ---- */

#define ROUNDS 300u

/* Each rank passes a number on; who sees the notify sees the bytes of that put, and of the one
 * before it, which had none. */
static void
ring(struct wrank *rank)
{
    uint32_t next = (rank->number + 1) % rank->num;
    aclrtStream stream;
    volatile uint64_t *mem;
    HcommWindow window;

    CHECK(aclrtCreateStream(&stream) == ACL_SUCCESS);
    GOOD(HcommWindowAllocate(rank->comm, 64, HCOMM_ACCESS_ALL, (void **)(uintptr_t)&mem, &window));
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        aclrtStream how = i % 3 == 0 ? stream : INLINE;
        uint64_t value[2] = {i * 10 + rank->number, i};

        GOOD(HcommPut(&value[0], 1, HCCL_DATA_TYPE_UINT64, window, next, 8, how));
        GOOD(HcommPutNotify(&value[1], 1, HCCL_DATA_TYPE_UINT64, window, next, 0, 5, how));
        GOOD(HcommWindowNotifyWait(window, 5, 1, 30000, how));
        if (how != INLINE)
            CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
        CHECK_EQ(i, mem[0]);
        CHECK_EQ(i * 10 + (rank->number + rank->num - 1) % rank->num, mem[1]);
        wrank_barrier(rank, window);
    }
    GOOD(HcommWindowDestroy(window));
    CHECK(aclrtDestroyStream(stream) == ACL_SUCCESS);
}

TEST_RANKS(who_sees_a_notify_sees_the_bytes, 3, ring)

static void
counts(struct wrank *rank)
{
    aclrtStream stream;
    HcommWindow window;

    CHECK(aclrtCreateStream(&stream) == ACL_SUCCESS);
    GOOD(HcommWindowCreate(rank->comm, NULL, 0, 0, &window));
    if (rank->number != 0) {
        for (int i = 0; i < 1000; i++)
            GOOD(HcommPutNotify(NULL, 0, HCCL_DATA_TYPE_INT8, window, 0, 0, 3,
                                i % 2 == 0 ? INLINE : stream));
        CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
    } else {
        uint32_t all = 1000 * (rank->num - 1);

        GOOD(HcommWindowNotifyWait(window, 3, all - 900, 30000, stream));
        CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
        GOOD(HcommWindowNotifyWait(window, 3, 700, 30000, INLINE));
        wrank_barrier(rank, window);
        test_expect_error(
            "notify 3 of window 0, which other ranks should have recorded: 200 of 201");
        CHECK_EQ(HCCL_E_TIMEOUT, HcommWindowNotifyWait(window, 3, 201, 50, INLINE));
        test_expect_error("waited 40 ms for notify 3 of window 0, which other ranks should have "
                          "recorded: 0 of 1 records came");
        GOOD(HcommWindowNotifyWait(window, 3, 1, 40, stream));
        CHECK_EQ(ACL_ERROR_RT_TASK_TIMEOUT, aclrtSynchronizeStream(stream));
        wrank_barrier(rank, window);
    }
    if (rank->number != 0) {
        wrank_barrier(rank, window);
        wrank_barrier(rank, window);
    }
    GOOD(HcommWindowDestroy(window));
    CHECK(aclrtDestroyStream(stream) == ACL_SUCCESS);
}

TEST_RANKS(records_count_and_those_that_came_are_taken, 3, counts)
