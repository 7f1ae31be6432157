/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/range_alloc.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "tests/support/test.h"

#define KIB 1024u

/* Blocks tile the range, no two free ones touch, and the free bytes add up. */
static void
expect_sound(struct rt_ranges *ranges, uint64_t size)
{
    struct rt_block *block = &ranges->first;
    uint64_t at = 0, free_bytes = 0;

    while (block != NULL) {
        EXPECT_EQ(at, block->at.start);
        EXPECT_TRUE(block->at.len > 0 && block->at.len % RT_GRANULE == 0);
        EXPECT_TRUE(rt_ranges_find(ranges, at) == block);
        EXPECT_TRUE(rt_ranges_find(ranges, at + block->at.len - 1) == block);
        if (block->state == RT_BLOCK_FREE) {
            free_bytes += block->at.len;
            EXPECT_TRUE(block->next == NULL || block->next->state != RT_BLOCK_FREE);
        }
        EXPECT_TRUE(block->next == NULL || block->next->prev == block);
        at += block->at.len;
        block = block->next;
    }
    EXPECT_EQ(size, at);
    EXPECT_EQ(free_bytes, ranges->free_bytes);
    EXPECT_NULL(rt_ranges_find(ranges, size));
}

static uint64_t
take(struct rt_ranges *ranges, uint64_t size)
{
    struct rt_extent dirty;
    uint64_t offset = UINT64_MAX;

    return rt_ranges_take(ranges, size, &offset, &dirty) == RT_TAKE_OK ? offset : UINT64_MAX;
}

static void
give(struct rt_ranges *ranges, uint64_t offset)
{
    struct rt_block *block = rt_ranges_give(ranges, offset);

    EXPECT_NOT_NULL(block);
    rt_ranges_given(ranges, block, true);
}

TEST(all_of_the_range_can_be_taken_in_one_piece)
{
    struct rt_ranges ranges;
    uint64_t size = 1000 * KIB + RT_GRANULE; /* no power of two */

    rt_ranges_init(&ranges, size);
    EXPECT_EQ(size, rt_ranges_largest(&ranges));
    EXPECT_EQ(0, take(&ranges, size));
    EXPECT_EQ(UINT64_MAX, take(&ranges, 1));
    EXPECT_EQ(0, rt_ranges_largest(&ranges));
    give(&ranges, 0);
    expect_sound(&ranges, size);
    EXPECT_EQ(UINT64_MAX, take(&ranges, size + 1));
    EXPECT_EQ(UINT64_MAX, take(&ranges, UINT64_MAX));
    rt_ranges_fini(&ranges);
}

TEST(pieces_are_used_up_to_the_last_granule)
{
    struct rt_ranges ranges;

    rt_ranges_init(&ranges, 64 * KIB);
    for (uint32_t i = 0; i < 64 * KIB / RT_GRANULE; i++)
        EXPECT_EQ(i * RT_GRANULE, take(&ranges, 1));
    EXPECT_EQ(UINT64_MAX, take(&ranges, 1));
    for (uint32_t i = 0; i < 64 * KIB / RT_GRANULE; i += 2)
        give(&ranges, i * RT_GRANULE);
    EXPECT_EQ(UINT64_MAX, take(&ranges, RT_GRANULE + 1)); /* free, but in pieces */
    expect_sound(&ranges, 64 * KIB);
    for (uint32_t i = 1; i < 64 * KIB / RT_GRANULE; i += 2)
        give(&ranges, i * RT_GRANULE);
    expect_sound(&ranges, 64 * KIB);
    EXPECT_EQ(0, hc_alloc_live());
}

TEST(only_the_start_of_a_used_block_is_given_back_and_once)
{
    struct rt_ranges ranges;
    struct rt_block *block;
    uint64_t offset;

    rt_ranges_init(&ranges, 64 * KIB);
    offset = take(&ranges, 3 * KIB);
    EXPECT_NULL(rt_ranges_give(&ranges, offset + RT_GRANULE));
    EXPECT_NULL(rt_ranges_give(&ranges, offset + 3 * KIB)); /* free */
    EXPECT_NULL(rt_ranges_give(&ranges, 64 * KIB));
    EXPECT_NULL(rt_ranges_give(&ranges, UINT64_MAX));
    block = rt_ranges_give(&ranges, offset);
    EXPECT_NOT_NULL(block);
    EXPECT_NULL(rt_ranges_give(&ranges, offset)); /* on its way already */
    EXPECT_TRUE(take(&ranges, KIB) != offset);    /* and not free yet */
    rt_ranges_given(&ranges, block, true);
    EXPECT_NULL(rt_ranges_give(&ranges, offset));
    rt_ranges_fini(&ranges);
}

TEST(taking_survives_a_failed_allocation)
{
    struct rt_ranges ranges;
    struct rt_extent dirty;
    uint64_t offset = 7;

    rt_ranges_init(&ranges, 64 * KIB);
    test_expect_error("out of host memory");
    hc_alloc_fail_nth(0);
    EXPECT_EQ(RT_TAKE_NO_MEMORY, rt_ranges_take(&ranges, KIB, &offset, &dirty));
    EXPECT_EQ(7, offset);
    expect_sound(&ranges, 64 * KIB);
    EXPECT_EQ(0, take(&ranges, KIB));
    rt_ranges_fini(&ranges);
}

#define LIVE 200
#define MEMORY (256u * KIB)

/* A memory is kept beside the bookkeeping: what is handed out must be zero once the bytes that are
 * called dirty are cleaned, and blocks must not overlap. */
TEST(random_use_stays_sound_and_knows_what_is_dirty)
{
    static unsigned char memory[MEMORY];
    struct {
        uint64_t offset, len;
        unsigned char mark;
    } live[LIVE] = {{0, 0, 0}};
    struct rt_ranges ranges;

    srand(7);
    rt_ranges_init(&ranges, MEMORY);
    for (int step = 0; step < 60000; step++) {
        int i = rand() % LIVE;

        if (live[i].len == 0) {
            uint64_t len = (uint64_t)(rand() % (rand() % 10 == 0 ? 40000 : 2000)) + 1, offset;
            struct rt_extent dirty;

            if (rt_ranges_take(&ranges, len, &offset, &dirty) != RT_TAKE_OK)
                continue;
            for (uint64_t at = dirty.from; at < dirty.to; at++)
                memory[at] = 0;
            for (uint64_t at = 0; at < len; at++)
                assert_int_equal(0, memory[offset + at]);
            live[i].offset = offset;
            live[i].len = len;
            live[i].mark = (unsigned char)(rand() % 255 + 1);
            memset(memory + offset, live[i].mark, len);
        } else {
            struct rt_block *block = rt_ranges_give(&ranges, live[i].offset);
            bool cleaned = rand() % 3 == 0;

            EXPECT_NOT_NULL(block);
            for (uint64_t at = 0; at < live[i].len; at++)
                assert_int_equal(live[i].mark, memory[live[i].offset + at]);
            if (cleaned)
                memset(memory + live[i].offset, 0, live[i].len);
            rt_ranges_given(&ranges, block, cleaned);
            live[i].len = 0;
        }
        if (step % 1000 == 0)
            expect_sound(&ranges, MEMORY);
    }
    for (int i = 0; i < LIVE; i++) {
        if (live[i].len != 0)
            give(&ranges, live[i].offset);
    }
    expect_sound(&ranges, MEMORY);
    EXPECT_EQ(MEMORY, rt_ranges_largest(&ranges));
    EXPECT_EQ(0, hc_alloc_live()); /* one free block is left, the one that needs no heap */
}
