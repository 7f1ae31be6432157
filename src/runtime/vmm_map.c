/* SPDX-License-Identifier: BSD-3-Clause */
/* Reserved address ranges and what is mapped there. The invariants are in vmm.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/log.h"
#include "runtime/memory.h"
#include "runtime/vmm_impl.h"

struct reservation {
    struct rt_node at;
    struct rt_node *mappings; /* tree of struct mapping, by region.at */
    uint32_t mapping_num;
    bool imported;  /* what all its mappings are; set by the first */
    int32_t device; /* likewise; -1: the host */
};

struct mapping {
    struct rt_region region;      /* in the regions' tree of memory.c */
    struct rt_node in_range;      /* in its reservation's tree */
    struct rt_physical *physical; /* held */
    bool access;
};

static struct rt_node *reservations; /* tree of struct reservation; under rt_vmm_lock */

/* ---- reservations ---- */

/* No access, no memory: over `at` if that is not NULL, then in place of what is there when `force`,
 * else only if nothing is. */
static void *
no_access(void *at, uint64_t size, bool force)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

    if (at != NULL)
        flags |= force ? MAP_FIXED : MAP_FIXED_NOREPLACE;
    return mmap(at, size, PROT_NONE, flags, -1, 0);
}

/* Anywhere, aligned: reserves more and gives back both ends. */
static void *
no_access_aligned(uint64_t size, uint64_t align)
{
    char *all = size > UINT64_MAX - align ? MAP_FAILED : no_access(NULL, size + align, false);
    uint64_t skip;

    if (all == MAP_FAILED)
        return MAP_FAILED;
    skip = (align - (uint64_t)(uintptr_t)all % align) % align;
    if (skip > 0)
        munmap(all, skip);
    munmap(all + skip + size, align - skip);
    return all + skip;
}

aclError
rt_vmm_reserve(const struct rt_reserve *want, void **base)
{
    struct reservation *range = hc_zalloc(sizeof *range);
    void *got;

    if (range == NULL)
        return rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    got = want->at == NULL ? no_access_aligned(want->size, want->align)
                           : no_access(want->at, want->size, false);
    if (got == MAP_FAILED || (want->at != NULL && got != want->at)) {
        int why = got == MAP_FAILED ? errno : EEXIST; /* kernels that take the address as a hint */

        if (got != MAP_FAILED)
            munmap(got, want->size);
        hc_free(range);
        if (want->at != NULL)
            return rt_fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
                           "cannot reserve %llu bytes at %p: %s; choose "
                           "another address",
                           (unsigned long long)want->size, want->at, strerror(why));
        return rt_fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
                       "cannot reserve %llu bytes of address space: %s",
                       (unsigned long long)want->size, strerror(why));
    }
    range->at.start = (uint64_t)(uintptr_t)got;
    range->at.len = want->size;
    pthread_mutex_lock(&rt_vmm_lock);
    rt_tree_insert(&reservations, &range->at);
    pthread_mutex_unlock(&rt_vmm_lock);
    *base = got;
    return ACL_SUCCESS;
}

/* The reservation that holds `at`. Under rt_vmm_lock. */
static struct reservation *
reservation_at(const void *at)
{
    struct rt_node *node = rt_tree_find(reservations, (uint64_t)(uintptr_t)at);

    return node == NULL ? NULL : HC_CONTAINER(node, struct reservation, at);
}

aclError
rt_vmm_release(void *base)
{
    struct reservation *range;
    uint32_t left = 0;

    pthread_mutex_lock(&rt_vmm_lock);
    range = reservation_at(base);
    if (range != NULL && range->at.start != (uint64_t)(uintptr_t)base)
        range = NULL;
    if (range != NULL)
        left = range->mapping_num;
    if (range != NULL && left == 0) {
        rt_tree_remove(&reservations, &range->at);
        munmap(base, range->at.len);
    }
    pthread_mutex_unlock(&rt_vmm_lock);
    if (range == NULL)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "no reserved address range starts at %p", base);
    if (left > 0)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "the address range at %p has %u mappings left: unmap them first", base,
                       left);
    hc_free(range);
    return ACL_SUCCESS;
}

/* ---- mapping ---- */

/* The mapping that starts at `at`, or NULL (logged). Under rt_vmm_lock. */
static struct mapping *
mapping_at(const void *at, struct reservation **range)
{
    struct rt_node *node = NULL;

    *range = reservation_at(at);
    if (*range != NULL)
        node = rt_tree_find((*range)->mappings, (uint64_t)(uintptr_t)at);
    if (node == NULL || node->start != (uint64_t)(uintptr_t)at) {
        (void)rt_fail(ACL_ERROR_RT_PARAM_INVALID, "no mapping starts at %p", at);
        return NULL;
    }
    return HC_CONTAINER(node, struct mapping, in_range);
}

/* Whether `physical` may be mapped at `at`. Under rt_vmm_lock. */
static aclError
check_place(void *at, uint64_t size, const struct rt_physical *physical, struct reservation **range)
{
    uint64_t start = (uint64_t)(uintptr_t)at;
    bool on_device = rt_physical_on_device(physical);
    uint64_t page = rt_vmm_granularity(physical->prop.memAttr, on_device);
    int32_t device = on_device ? (int32_t)physical->prop.location.id : -1;

    *range = reservation_at(at);
    if (*range == NULL)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "%p is in no reserved address range", at);
    if (size != physical->size)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "%llu bytes are to be mapped, but the physical memory "
                       "has %llu: map all of it",
                       (unsigned long long)size, (unsigned long long)physical->size);
    if (size > (*range)->at.start + (*range)->at.len - start)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "%llu bytes at %p run past the end of the reserved "
                       "range",
                       (unsigned long long)size, at);
    if (page != 0 && (start - (*range)->at.start) % page != 0)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "%p is not at a multiple of the granularity %llu in "
                       "its reserved range",
                       at, (unsigned long long)page);
    if (rt_tree_overlap((*range)->mappings, start, size) != NULL)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "something is mapped in the %llu bytes at %p already",
                       (unsigned long long)size, at);
    if ((*range)->mapping_num > 0 &&
        ((*range)->device != device || (*range)->imported != physical->imported))
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "one reserved range cannot mix devices, or own and "
                       "imported memory: reserve another");
    return ACL_SUCCESS;
}

/* Under rt_vmm_lock. */
static aclError
map_locked(void *at, uint64_t size, struct rt_physical *physical, bool access)
{
    struct reservation *range;
    struct mapping *mapping;
    aclError rc = check_place(at, size, physical, &range);

    if (rc != ACL_SUCCESS)
        return rc;
    mapping = hc_zalloc(sizeof *mapping);
    if (mapping == NULL)
        return rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    if (mmap(at, size, access ? PROT_READ | PROT_WRITE : PROT_NONE, MAP_SHARED | MAP_FIXED,
             physical->fd, 0) == MAP_FAILED) {
        rc = rt_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "cannot map %llu bytes at %p: %s",
                     (unsigned long long)size, at, strerror(errno));
        hc_free(mapping);
        return rc;
    }
    (void)madvise(at, size, MADV_DONTDUMP); /* a core file would create every page */
    mapping->in_range.start = mapping->region.at.start = (uint64_t)(uintptr_t)at;
    mapping->in_range.len = mapping->region.at.len = size;
    mapping->region.kind = RT_REGION_MAPPED;
    mapping->region.place = rt_physical_on_device(physical) ? RT_PLACE_DEVICE : RT_PLACE_HOST;
    mapping->region.device =
        rt_physical_on_device(physical) ? (int32_t)physical->prop.location.id : -1;
    mapping->physical = physical;
    mapping->access = access;
    rt_physical_hold(physical); /* I2 */
    range->device = mapping->region.device;
    range->imported = physical->imported;
    range->mapping_num++;
    rt_tree_insert(&range->mappings, &mapping->in_range);
    (void)rt_region_add(&mapping->region); /* in a reservation nobody else's memory can be */
    return ACL_SUCCESS;
}

aclError
rt_vmm_map(void *at, uint64_t size, aclrtDrvMemHandle handle, bool access)
{
    struct rt_physical *physical;
    aclError rc = rt_physical_get(handle, &physical);

    if (rc != ACL_SUCCESS)
        return rc;
    pthread_mutex_lock(&rt_vmm_lock);
    rc = map_locked(at, size, physical, access);
    pthread_mutex_unlock(&rt_vmm_lock);
    rt_physical_put(handle);
    return rc;
}

aclError
rt_vmm_map_again(void *at, uint64_t size, const void *from)
{
    aclError rc = ACL_ERROR_RT_PARAM_INVALID;
    struct reservation *range;
    struct mapping *mapping;

    pthread_mutex_lock(&rt_vmm_lock);
    mapping = mapping_at(from, &range);
    if (mapping != NULL)
        rc = map_locked(at, size, mapping->physical, true);
    pthread_mutex_unlock(&rt_vmm_lock);
    return rc;
}

aclError
rt_vmm_unmap(void *at)
{
    struct reservation *range;
    struct mapping *mapping;

    pthread_mutex_lock(&rt_vmm_lock);
    mapping = mapping_at(at, &range);
    if (mapping == NULL) {
        pthread_mutex_unlock(&rt_vmm_lock);
        return ACL_ERROR_RT_PARAM_INVALID;
    }
    rt_region_remove(&mapping->region);
    rt_tree_remove(&range->mappings, &mapping->in_range);
    range->mapping_num--;
    if (no_access(at, mapping->region.at.len, true) ==
        MAP_FAILED) /* the old mapping stays readable */
        LOG_WARN(RT, "cannot take back the memory mapped at %p: %s", at, strerror(errno));
    pthread_mutex_unlock(&rt_vmm_lock);
    rt_physical_release(mapping->physical);
    hc_free(mapping);
    return ACL_SUCCESS;
}

/* ---- access, and back to the handle ---- */

aclError
rt_vmm_allow(void *at, uint64_t size)
{
    struct reservation *range;
    struct mapping *mapping;
    aclError rc = ACL_SUCCESS;

    pthread_mutex_lock(&rt_vmm_lock);
    mapping = mapping_at(at, &range);
    if (mapping == NULL) {
        rc = ACL_ERROR_RT_PARAM_INVALID;
    } else if (mapping->region.at.len != size) {
        rc = rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                     "the mapping at %p has %llu bytes, not %llu: name all of "
                     "it",
                     at, (unsigned long long)mapping->region.at.len, (unsigned long long)size);
    } else if (!mapping->access) {
        if (mprotect(at, size, PROT_READ | PROT_WRITE) != 0)
            rc = rt_fail(ACL_ERROR_RT_INTERNAL_ERROR, "cannot give access to the mapping at %p: %s",
                         at, strerror(errno));
        mapping->access = rc == ACL_SUCCESS;
    }
    pthread_mutex_unlock(&rt_vmm_lock);
    return rc;
}

aclError
rt_vmm_access(const void *at, bool *access)
{
    struct reservation *range;
    struct rt_node *node = NULL;

    pthread_mutex_lock(&rt_vmm_lock);
    range = reservation_at(at);
    if (range != NULL)
        node = rt_tree_find(range->mappings, (uint64_t)(uintptr_t)at);
    if (node != NULL)
        *access = HC_CONTAINER(node, struct mapping, in_range)->access;
    pthread_mutex_unlock(&rt_vmm_lock);
    if (node == NULL)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "nothing is mapped at %p", at);
    return ACL_SUCCESS;
}

bool
rt_vmm_place(const void *at, uint64_t len, uint64_t *file, uint64_t *offset)
{
    uint64_t address = (uint64_t)(uintptr_t)at;
    struct reservation *range;
    struct rt_node *node = NULL;
    bool good = false;

    pthread_mutex_lock(&rt_vmm_lock);
    range = reservation_at(at);
    if (range != NULL)
        node = rt_tree_find(range->mappings, address);
    if (node != NULL && len <= node->start + node->len - address) {
        const struct mapping *mapping = HC_CONTAINER(node, struct mapping, in_range);

        good = mapping->access && mapping->physical->file != 0;
        mapping->physical->described = mapping->physical->described || good;
        *file = good ? mapping->physical->file : *file;
        *offset = good ? address - node->start : *offset;
    }
    pthread_mutex_unlock(&rt_vmm_lock);
    return good;
}

aclError
rt_vmm_retain(const void *at, aclrtDrvMemHandle *handle)
{
    aclError rc = ACL_ERROR_RT_PARAM_INVALID;
    struct reservation *range;
    struct mapping *mapping;

    pthread_mutex_lock(&rt_vmm_lock);
    mapping = mapping_at(at, &range);
    if (mapping != NULL)
        rc = rt_physical_retain(mapping->physical, handle);
    pthread_mutex_unlock(&rt_vmm_lock);
    return rc;
}
