/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * addr_tree: disjoint address ranges, found by any address inside (this layer only).
 *
 * A treap whose nodes live in their owners: it never allocates, and every operation is O(log n)
 * for any order of insertion. Not locked: the owner's lock covers the tree.
 */
#ifndef HC_RUNTIME_ADDR_TREE_H
#define HC_RUNTIME_ADDR_TREE_H

#include <stdint.h>

struct rt_node {
    struct rt_node *left, *right; /* the tree's */
    uint64_t start, len;          /* may shrink or grow while in a tree, never past a neighbour */
    uint32_t priority;            /* the tree's */
};

/* `node` must not overlap any other. */
void rt_tree_insert(struct rt_node **root, struct rt_node *node);
void rt_tree_remove(struct rt_node **root, struct rt_node *node);

/* The node that holds `addr`, or NULL. */
struct rt_node *rt_tree_find(struct rt_node *root, uint64_t addr);

/* The lowest node that shares a byte with [start, start + len), or NULL. */
struct rt_node *rt_tree_overlap(struct rt_node *root, uint64_t start, uint64_t len);

#endif
