/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory: allocation, and who owns an address.
 *
 * An address is looked up in the arenas first, by arithmetic; then among mappings and registered
 * host memory, which have a tree each because a registration may lie on top of anything.
 *
 * I1  The trees change under `lock` held for writing; `region_num` lets a lookup skip them when
 *     both are empty. A region that is added or removed during a lookup may be missed by it: the
 *     caller of such a race has no right to either answer.
 */
#define _GNU_SOURCE
#include "runtime/memory.h"

#include <pthread.h>
#include <stdio.h>

#include "base/list.h"
#include "runtime/arena.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct rt_node *trees[2];    /* by enum rt_region_kind; under `lock` */
static _Atomic uint32_t region_num; /* in both trees; written under `lock`; I1 */
static _Atomic(rt_peer_memory_hook) peer_memory_hook;

static uint64_t
number(const void *ptr)
{
    return (uint64_t)(uintptr_t)ptr;
}

/* ---- allocation ---- */

aclError
rt_mem_alloc(int32_t device, uint64_t size, void **ptr)
{
    if (device < 0)
        return rt_fail(ACL_ERROR_RT_INVALID_DEVICEID, "there is no device %d", device);
    return rt_arena_alloc(device, size, ptr);
}

aclError
rt_mem_free(void *ptr)
{
    return ptr == NULL ? ACL_SUCCESS : rt_arena_free(ptr, false, "device memory");
}

/* ---- regions ---- */

bool
rt_region_add(struct rt_region *region)
{
    bool fits;

    pthread_rwlock_wrlock(&lock);
    fits = rt_tree_overlap(trees[region->kind], region->at.start, region->at.len) == NULL;
    if (fits) {
        rt_tree_insert(&trees[region->kind], &region->at);
        atomic_fetch_add(&region_num, 1);
    }
    pthread_rwlock_unlock(&lock);
    return fits;
}

void
rt_region_remove(struct rt_region *region)
{
    pthread_rwlock_wrlock(&lock);
    rt_tree_remove(&trees[region->kind], &region->at);
    atomic_fetch_sub(&region_num, 1);
    pthread_rwlock_unlock(&lock);
}

struct rt_region *
rt_region_unregister(const void *ptr)
{
    struct rt_node *node;

    pthread_rwlock_wrlock(&lock);
    node = rt_tree_find(trees[RT_REGION_REGISTERED], number(ptr));
    if (node != NULL && node->start != number(ptr))
        node = NULL;
    if (node != NULL) {
        rt_tree_remove(&trees[RT_REGION_REGISTERED], node);
        atomic_fetch_sub(&region_num, 1);
    }
    pthread_rwlock_unlock(&lock);
    return node == NULL ? NULL : HC_CONTAINER(node, struct rt_region, at);
}

void
rt_set_peer_memory_hook(rt_peer_memory_hook hook)
{
    atomic_store(&peer_memory_hook, hook);
}

/* What nobody here knows may be a peer's. */
static void
ask_for_peers(const void *ptr, struct rt_range *range)
{
    rt_peer_memory_hook hook = atomic_load_explicit(&peer_memory_hook, memory_order_acquire);

    if (range->place == RT_PLACE_PAGEABLE && hook != NULL)
        (void)hook(ptr, range);
}

/* Looks `ptr` up in the trees; what the arenas said stands unless they know nothing. `*last` is the
 * end of the adjacent mappings around it, 0 when it is in none. */
static void
find_region(const void *ptr, struct rt_range *range, uint64_t *last)
{
    struct rt_node *node;

    *last = 0;
    if (atomic_load_explicit(&region_num, memory_order_acquire) == 0)
        return;
    pthread_rwlock_rdlock(&lock);
    node = rt_tree_find(trees[RT_REGION_MAPPED], number(ptr));
    if (node != NULL) {
        const struct rt_region *region = HC_CONTAINER(node, struct rt_region, at);

        *range = (struct rt_range){.place = region->place,
                                   .device = region->device,
                                   .base = (void *)(uintptr_t)node->start,
                                   .size = node->len};
        for (; node != NULL; node = rt_tree_find(trees[RT_REGION_MAPPED], *last))
            *last = node->start + node->len;
    }
    node = rt_tree_find(trees[RT_REGION_REGISTERED], number(ptr));
    if (node != NULL && range->place != RT_PLACE_DEVICE) {
        range->mapped_host = true;
        if (range->place == RT_PLACE_PAGEABLE) {
            range->place = RT_PLACE_HOST;
            range->base = (void *)(uintptr_t)node->start;
            range->size = node->len;
        }
    }
    pthread_rwlock_unlock(&lock);
}

void
rt_mem_find(const void *ptr, struct rt_range *range)
{
    uint64_t last;

    if (!rt_arena_find(ptr, range))
        *range = (struct rt_range){.place = RT_PLACE_PAGEABLE};
    if (range->place != RT_PLACE_DEVICE)
        find_region(ptr, range, &last);
    ask_for_peers(ptr, range);
}

/* ---- checks ---- */

void
rt_mem_describe(const struct rt_range *range, char *text, size_t len)
{
    if (range->place == RT_PLACE_DEVICE)
        snprintf(text, len, "memory of device %d", range->device);
    else if (range->mapped_host)
        snprintf(text, len, "registered host memory");
    else
        snprintf(text, len, range->place == RT_PLACE_HOST ? "pinned host memory" : "host memory");
}

aclError
rt_mem_check(const void *ptr, uint64_t len, const char *function, const char *what,
             struct rt_range *range)
{
    bool in_arena = rt_arena_find(ptr, range);
    uint64_t last = 0, room;

    if (!in_arena)
        *range = (struct rt_range){.place = RT_PLACE_PAGEABLE};
    if (range->place != RT_PLACE_DEVICE)
        find_region(ptr, range, &last);
    ask_for_peers(ptr, range);
    if (range->place == RT_PLACE_ELSEWHERE)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "%s: %s %p stands for memory of another process that cannot be mapped (it "
                       "comes from malloc, not from a device or aclrtMallocHost): only reads and "
                       "writes over its channel reach it",
                       function, what, ptr);
    if (in_arena && range->size == 0)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "%s: %s %p is in %s, but in no allocation: freed already, or past its end?",
                       function, what, ptr,
                       range->place == RT_PLACE_DEVICE ? "device memory" : "pinned host memory");
    if (!in_arena && last == 0)
        return ACL_SUCCESS; /* whose memory it is we cannot know */
    room = in_arena ? number(range->base) + range->size - number(ptr) : last - number(ptr);
    if (len > room)
        return rt_fail(
            ACL_ERROR_RT_PARAM_INVALID,
            "%s: %s %p has %llu bytes to the end of its allocation (of %llu bytes at %p), "
            "but %llu bytes are asked",
            function, what, ptr, (unsigned long long)room, (unsigned long long)range->size,
            range->base, (unsigned long long)len);
    return ACL_SUCCESS;
}
