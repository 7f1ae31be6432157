/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/range_alloc.h"

#include <stddef.h>

#include "base/alloc.h"

/* ---- size classes ---- */

/* The class whose sizes are at most `granules`: blocks of that size belong here. */
static uint32_t
class_of(uint64_t granules)
{
    uint32_t log = 63u - (uint32_t)__builtin_clzll(granules);

    if (log < RT_CLASS_BITS)
        return (uint32_t)granules;
    return ((log - RT_CLASS_BITS + 1) << RT_CLASS_BITS) +
           (uint32_t)((granules >> (log - RT_CLASS_BITS)) & ((1u << RT_CLASS_BITS) - 1));
}

/* The lowest class all of whose blocks have at least `granules`. */
static uint32_t
class_for(uint64_t granules)
{
    uint32_t log = 63u - (uint32_t)__builtin_clzll(granules);

    if (log >= RT_CLASS_BITS)
        granules += (1ull << (log - RT_CLASS_BITS)) - 1;
    return class_of(granules);
}

static void
class_add(struct rt_ranges *ranges, struct rt_block *block)
{
    uint32_t c = class_of(block->at.len / RT_GRANULE);

    hc_list_push_front(&ranges->classes[c], &block->in_class);
    ranges->filled[c / 64] |= 1ull << (c % 64);
    ranges->free_bytes += block->at.len;
}

static void
class_remove(struct rt_ranges *ranges, struct rt_block *block)
{
    uint32_t c = class_of(block->at.len / RT_GRANULE);

    hc_list_remove(&block->in_class);
    if (hc_list_empty(&ranges->classes[c]))
        ranges->filled[c / 64] &= ~(1ull << (c % 64));
    ranges->free_bytes -= block->at.len;
}

/* The first class from `c` on that has a block; RT_CLASSES: none has. */
static uint32_t
class_filled(const struct rt_ranges *ranges, uint32_t c)
{
    for (uint32_t word = c / 64; word < sizeof ranges->filled / sizeof ranges->filled[0]; word++) {
        uint64_t bits = ranges->filled[word];

        if (word == c / 64)
            bits &= ~0ull << (c % 64);
        if (bits != 0)
            return word * 64 + (uint32_t)__builtin_ctzll(bits);
    }
    return RT_CLASSES;
}

static struct rt_block *
block_fitting(struct rt_ranges *ranges, uint64_t len)
{
    uint32_t c = class_filled(ranges, class_for(len / RT_GRANULE));

    if (c < RT_CLASSES)
        return HC_CONTAINER(ranges->classes[c].next, struct rt_block, in_class);
    /* Nearly full: a block of the class just below may fit all the same. */
    HC_LIST_EACH (node, &ranges->classes[class_of(len / RT_GRANULE)]) {
        struct rt_block *block = HC_CONTAINER(node, struct rt_block, in_class);

        if (block->at.len >= len)
            return block;
    }
    return NULL;
}

/* ---- life ---- */

void
rt_ranges_init(struct rt_ranges *ranges, uint64_t size)
{
    *ranges = (struct rt_ranges){.first = {.at = {.len = size}}};
    for (uint32_t c = 0; c < RT_CLASSES; c++)
        hc_list_init(&ranges->classes[c]);
    rt_tree_insert(&ranges->tree, &ranges->first.at);
    class_add(ranges, &ranges->first);
}

void
rt_ranges_fini(struct rt_ranges *ranges)
{
    struct rt_block *block = ranges->first.next;

    while (block != NULL) {
        struct rt_block *next = block->next;

        hc_free(block);
        block = next;
    }
    *ranges = (struct rt_ranges){0};
}

/* ---- taking ---- */

/* Cuts `block`, which is in no class, after `len` bytes; the rest becomes free. */
static void
cut(struct rt_ranges *ranges, struct rt_block *block, uint64_t len, struct rt_block *rest)
{
    rest->at.start = block->at.start + len;
    rest->at.len = block->at.len - len;
    rest->dirty_from = block->dirty_from > rest->at.start ? block->dirty_from : rest->at.start;
    rest->dirty_to = block->dirty_to;
    rest->state = RT_BLOCK_FREE;
    rest->prev = block;
    rest->next = block->next;
    if (rest->next != NULL)
        rest->next->prev = rest;
    block->next = rest;
    block->at.len = len;
    rt_tree_insert(&ranges->tree, &rest->at);
    class_add(ranges, rest);
}

enum rt_take
rt_ranges_take(struct rt_ranges *ranges, uint64_t size, uint64_t *offset, struct rt_extent *dirty)
{
    uint64_t len = (size + RT_GRANULE - 1) / RT_GRANULE * RT_GRANULE;
    struct rt_block *rest = NULL;
    struct rt_block *block;
    uint64_t end;

    if (len < size || len > ranges->free_bytes) /* also keeps the class arithmetic in bounds */
        return RT_TAKE_NO_ROOM;
    block = block_fitting(ranges, len);
    if (block == NULL)
        return RT_TAKE_NO_ROOM;
    if (block->at.len > len) {
        rest = hc_zalloc(sizeof *rest);
        if (rest == NULL)
            return RT_TAKE_NO_MEMORY;
    }
    class_remove(ranges, block);
    if (rest != NULL)
        cut(ranges, block, len, rest);
    block->state = RT_BLOCK_USED;
    block->asked = size;
    end = block->at.start + block->at.len;
    *dirty = (struct rt_extent){.from = block->dirty_from,
                                .to = block->dirty_to < end ? block->dirty_to : end};
    *offset = block->at.start;
    return RT_TAKE_OK;
}

/* ---- giving back ---- */

struct rt_block *
rt_ranges_find(struct rt_ranges *ranges, uint64_t offset)
{
    struct rt_node *node = rt_tree_find(ranges->tree, offset);

    return node == NULL ? NULL : HC_CONTAINER(node, struct rt_block, at);
}

struct rt_block *
rt_ranges_give(struct rt_ranges *ranges, uint64_t offset)
{
    struct rt_block *block = rt_ranges_find(ranges, offset);

    if (block == NULL || block->at.start != offset || block->state != RT_BLOCK_USED)
        return NULL;
    block->state = RT_BLOCK_DYING;
    return block;
}

/* Joins two free neighbours that are in no class; the lower one stays (I4). */
static void
join(struct rt_ranges *ranges, struct rt_block *low, struct rt_block *high)
{
    rt_tree_remove(&ranges->tree, &high->at);
    low->at.len += high->at.len;
    low->next = high->next;
    if (low->next != NULL)
        low->next->prev = low;
    if (low->dirty_from >= low->dirty_to) {
        low->dirty_from = high->dirty_from;
        low->dirty_to = high->dirty_to;
    } else if (high->dirty_from < high->dirty_to) {
        low->dirty_to = high->dirty_to;
    }
    hc_free(high);
}

struct rt_block *
rt_ranges_given(struct rt_ranges *ranges, struct rt_block *block, bool cleaned)
{
    struct rt_block *prev = block->prev, *next = block->next;

    block->state = RT_BLOCK_FREE;
    block->dirty_from = cleaned ? 0 : block->at.start;
    block->dirty_to = cleaned ? 0 : block->at.start + block->at.len;
    if (next != NULL && next->state == RT_BLOCK_FREE) {
        class_remove(ranges, next);
        join(ranges, block, next);
    }
    if (prev != NULL && prev->state == RT_BLOCK_FREE) {
        class_remove(ranges, prev);
        join(ranges, prev, block);
        block = prev;
    }
    class_add(ranges, block);
    return block;
}

uint64_t
rt_ranges_largest(const struct rt_ranges *ranges)
{
    uint64_t most = 0;

    for (uint32_t c = RT_CLASSES; c-- > 0 && most == 0;) {
        HC_LIST_EACH (node, &ranges->classes[c]) {
            const struct rt_block *block = HC_CONTAINER(node, struct rt_block, in_class);

            most = block->at.len > most ? block->at.len : most;
        }
    }
    return most;
}
