/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * range_alloc: hands out pieces of a range of offsets (inside this layer only).
 *
 * Pure bookkeeping: it never touches the memory that the offsets stand for, and keeps no header
 * there. What is not zero any more is tracked instead, so that the owner cleans only that.
 *
 * I1  Blocks tile the range: each byte belongs to one block, `prev` and `next` are its neighbours
 *     by offset, no two free blocks touch.
 * I2  A free block is in exactly the list of its size class; others are in none.
 * I3  All bytes of a free block outside [dirty_from, dirty_to) are zero.
 * I4  The block at offset 0 is always `first`, which is not allocated: an empty range owns no heap.
 *
 * Allocation is good-fit with two-level size classes, so O(1); free is O(1) plus the tree. Not
 * locked: the owner's lock covers it.
 */
#ifndef HC_RUNTIME_RANGE_ALLOC_H
#define HC_RUNTIME_RANGE_ALLOC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "runtime/addr_tree.h"

#define RT_GRANULE 512u /* offsets and sizes of blocks are multiples of it */
#define RT_CLASS_BITS 3 /* 8 size classes between a power of two and the next */
#define RT_CLASSES (36u << RT_CLASS_BITS)

enum rt_block_state { RT_BLOCK_FREE, RT_BLOCK_USED, RT_BLOCK_DYING };

struct rt_block {
    struct rt_node at;             /* offsets; I1 */
    struct rt_block *prev, *next;  /* I1 */
    struct hc_list in_class;       /* I2 */
    uint64_t dirty_from, dirty_to; /* I3 */
    uint64_t asked;                /* bytes the user asked for, when used */
    enum rt_block_state state;
};

struct rt_ranges {
    struct rt_block first; /* I4 */
    struct rt_node *tree;  /* of all blocks */
    struct hc_list classes[RT_CLASSES];
    uint64_t filled[RT_CLASSES / 64 + 1]; /* bit c: classes[c] is not empty */
    uint64_t free_bytes;
};

struct rt_extent {
    uint64_t from, to; /* empty when from >= to */
};

enum rt_take { RT_TAKE_OK, RT_TAKE_NO_ROOM, RT_TAKE_NO_MEMORY /* logged */ };

/* `size` is a multiple of the granule. All of it is free and zero. */
void rt_ranges_init(struct rt_ranges *ranges, uint64_t size);

/* Gives back the records, whatever is still in use. */
void rt_ranges_fini(struct rt_ranges *ranges);

/* A block of at least `size` > 0 bytes at *offset; the bytes of *dirty must be zeroed by the
 * caller before use. */
enum rt_take rt_ranges_take(struct rt_ranges *ranges, uint64_t size, uint64_t *offset,
                            struct rt_extent *dirty);

/*
 * Giving back has two steps, so that the owner can clean the memory between them without its lock.
 * The block that begins at `offset` is neither used nor free after the first; NULL: there is no
 * used block there. The second makes it free; `cleaned` says that its bytes are zero again.
 * Returns the free block that it is now part of.
 */
struct rt_block *rt_ranges_give(struct rt_ranges *ranges, uint64_t offset);
struct rt_block *rt_ranges_given(struct rt_ranges *ranges, struct rt_block *block, bool cleaned);

/* The block that holds `offset`, in any state; NULL: outside. */
struct rt_block *rt_ranges_find(struct rt_ranges *ranges, uint64_t offset);

/* The largest size that rt_ranges_take could give now. */
uint64_t rt_ranges_largest(const struct rt_ranges *ranges);

#endif
