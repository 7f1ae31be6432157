/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/addr_tree.h"

#include <stddef.h>

/* Scrambles the start address: a priority that needs no generator state. */
static uint32_t
priority_of(uint64_t start)
{
    start ^= start >> 33;
    start *= 0xFF51AFD7ED558CCDull;
    start ^= start >> 33;
    start *= 0xC4CEB9FE1A85EC53ull;
    return (uint32_t)(start >> 32);
}

/* Cuts `tree` into the nodes below `start` and the others. */
static void
split(struct rt_node *tree, uint64_t start, struct rt_node **below, struct rt_node **above)
{
    while (tree != NULL) {
        if (tree->start < start) {
            *below = tree;
            below = &tree->right;
            tree = tree->right;
        } else {
            *above = tree;
            above = &tree->left;
            tree = tree->left;
        }
    }
    *below = *above = NULL;
}

/* All nodes of `below` lie below those of `above`. */
static struct rt_node *
merge(struct rt_node *below, struct rt_node *above)
{
    struct rt_node *root = NULL;
    struct rt_node **at = &root;

    while (below != NULL && above != NULL) {
        if (below->priority > above->priority) {
            *at = below;
            at = &below->right;
            below = below->right;
        } else {
            *at = above;
            at = &above->left;
            above = above->left;
        }
    }
    *at = below != NULL ? below : above;
    return root;
}

void
rt_tree_insert(struct rt_node **root, struct rt_node *node)
{
    node->priority = priority_of(node->start);
    while (*root != NULL && (*root)->priority > node->priority)
        root = (*root)->start < node->start ? &(*root)->right : &(*root)->left;
    split(*root, node->start, &node->left, &node->right);
    *root = node;
}

void
rt_tree_remove(struct rt_node **root, struct rt_node *node)
{
    while (*root != NULL && *root != node)
        root = (*root)->start < node->start ? &(*root)->right : &(*root)->left;
    if (*root != NULL)
        *root = merge(node->left, node->right);
}

struct rt_node *
rt_tree_find(struct rt_node *root, uint64_t addr)
{
    while (root != NULL) {
        if (addr < root->start)
            root = root->left;
        else if (addr - root->start < root->len)
            return root;
        else
            root = root->right;
    }
    return NULL;
}

struct rt_node *
rt_tree_overlap(struct rt_node *root, uint64_t start, uint64_t len)
{
    struct rt_node *found = NULL;

    while (root != NULL) {
        if (start < root->start + root->len) {
            if (root->start < start + len)
                found = root;
            root = root->left;
        } else {
            root = root->right;
        }
    }
    return found;
}
