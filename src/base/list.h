/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * list: doubly linked, intrusive. A zeroed node is in no list; a head must be initialised.
 */
#ifndef HC_BASE_LIST_H
#define HC_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct hc_list {
    struct hc_list *next, *prev;
};

#define HC_CONTAINER(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

static inline void
hc_list_init(struct hc_list *head)
{
    head->next = head->prev = head;
}

static inline bool
hc_list_empty(const struct hc_list *head)
{
    return head->next == head;
}

static inline bool
hc_list_linked(const struct hc_list *node)
{
    return node->next != NULL;
}

static inline void
hc_list_push_back(struct hc_list *head, struct hc_list *node)
{
    node->next = head;
    node->prev = head->prev;
    head->prev->next = node;
    head->prev = node;
}

static inline void
hc_list_push_front(struct hc_list *head, struct hc_list *node)
{
    hc_list_push_back(head->next, node);
}

/* Fine for a node that is in no list. */
static inline void
hc_list_remove(struct hc_list *node)
{
    if (node->next == NULL)
        return;
    node->next->prev = node->prev;
    node->prev->next = node->next;
    node->next = node->prev = NULL;
}

/* First node, taken out; NULL when empty. */
static inline struct hc_list *
hc_list_pop_front(struct hc_list *head)
{
    struct hc_list *node = head->next;

    if (node == head)
        return NULL;
    hc_list_remove(node);
    return node;
}

#define HC_LIST_EACH(node, head)                                                                   \
    for (struct hc_list *node = (head)->next; node != (head); node = node->next)

/* The body may remove `node`. */
#define HC_LIST_EACH_SAFE(node, head)                                                              \
    for (struct hc_list *node = (head)->next, *node##_next = node->next; node != (head);           \
         node = node##_next, node##_next = node->next)

#endif
