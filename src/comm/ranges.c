/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ranges: address ranges that operators may use without staging, and their active parts.
 *
 * They are the process': what one communicator sets, all see. A soft NPU has nothing to set up for
 * them, since peers map all device memory anyway; so no rank waits for another, and what is kept
 * here is what the interface promises about the order and the limits of the calls.
 *
 * M1  Ranges do not overlap, and neither do the active parts of one, which lie inside it.
 * M2  A range goes with the communicator that set it, an active part with the one that activated
 *     it. A range in which others have active parts then goes with the last of these.
 */
#include "base/alloc.h"
#include "base/log.h"
#include "comm/comm_object.h"

struct span {
    uint64_t start, size; /* start + size does not wrap */
};

struct part {
    struct hc_list in_range;
    struct span at;
    const struct comm *owner; /* compared, not followed */
};

struct range {
    struct hc_list in_all;
    struct span at;
    const struct comm *owner; /* as above; NULL: it has gone, M2 */
    struct hc_list parts;     /* of struct part */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* leaf */
static struct hc_list all = {&all, &all};                /* of struct range; all under `lock` */

static bool
overlap(const struct span *a, const struct span *b)
{
    return a->start < b->start + b->size && b->start < a->start + a->size;
}

static bool
inside(const struct span *inner, const struct span *outer)
{
    return inner->start >= outer->start && inner->size <= outer->size &&
           inner->start - outer->start <= outer->size - inner->size;
}

/* ---- under the lock ---- */

static struct range *
range_touching(const struct span *at)
{
    HC_LIST_EACH (node, &all) {
        struct range *range = HC_CONTAINER(node, struct range, in_all);

        if (overlap(&range->at, at))
            return range;
    }
    return NULL;
}

static struct part *
part_touching(const struct range *range, const struct span *at)
{
    HC_LIST_EACH (node, &range->parts) {
        struct part *part = HC_CONTAINER(node, struct part, in_range);

        if (overlap(&part->at, at))
            return part;
    }
    return NULL;
}

static void
part_remove(struct part *part)
{
    hc_list_remove(&part->in_range);
    hc_free(part);
}

static void
range_remove(struct range *range)
{
    hc_list_remove(&range->in_all);
    hc_free(range);
}

/* ---- set and unset ---- */

HcclResult
ranges_set(struct comm *comm, const void *base, uint64_t size)
{
    struct range *range = hc_zalloc(sizeof *range);
    const struct range *other;
    struct span taken = {0};

    if (range == NULL)
        return HCCL_E_MEMORY;
    range->at = (struct span){(uintptr_t)base, size};
    range->owner = comm;
    hc_list_init(&range->parts);
    pthread_mutex_lock(&lock);
    other = range_touching(&range->at);
    if (other == NULL)
        hc_list_push_back(&all, &range->in_all);
    else
        taken = other->at;
    pthread_mutex_unlock(&lock);
    if (taken.size == 0)
        return HCCL_SUCCESS;
    hc_free(range);
    LOG_ERROR(COMM,
              "%s: %llu bytes at %p overlap the range of %llu bytes at 0x%llx: unset that one "
              "first, or choose another",
              comm->name, (unsigned long long)size, base, (unsigned long long)taken.size,
              (unsigned long long)taken.start);
    return HCCL_E_PARA;
}

HcclResult
ranges_unset(struct comm *comm, const void *base)
{
    struct span at = {(uintptr_t)base, 1};
    bool found, active = false;
    struct range *range;

    pthread_mutex_lock(&lock);
    range = range_touching(&at);
    found = range != NULL && range->at.start == at.start;
    if (found)
        active = !hc_list_empty(&range->parts);
    if (found && !active)
        range_remove(range);
    pthread_mutex_unlock(&lock);
    if (found && !active)
        return HCCL_SUCCESS;
    if (found)
        LOG_ERROR(COMM, "%s: the range at %p has active parts: deactivate them first", comm->name,
                  base);
    else
        LOG_ERROR(COMM, "%s: no range starts at %p: set it with HcclCommSetMemoryRange first",
                  comm->name, base);
    return HCCL_E_PARA;
}

/* ---- activate and deactivate ---- */

enum verdict { GOOD, OUTSIDE, TAKEN };

static enum verdict
add_part(struct part *part)
{
    struct range *range = range_touching(&part->at);

    if (range == NULL || !inside(&part->at, &range->at))
        return OUTSIDE;
    if (part_touching(range, &part->at) != NULL)
        return TAKEN;
    hc_list_push_back(&range->parts, &part->in_range);
    return GOOD;
}

HcclResult
ranges_activate(struct comm *comm, const void *addr, uint64_t size)
{
    struct part *part = hc_zalloc(sizeof *part);
    enum verdict verdict;

    if (part == NULL)
        return HCCL_E_MEMORY;
    part->at = (struct span){(uintptr_t)addr, size};
    part->owner = comm;
    pthread_mutex_lock(&lock);
    verdict = add_part(part);
    pthread_mutex_unlock(&lock);
    if (verdict == GOOD)
        return HCCL_SUCCESS;
    hc_free(part);
    if (verdict == OUTSIDE)
        LOG_ERROR(COMM,
                  "%s: %llu bytes at %p do not lie inside a range: set one with "
                  "HcclCommSetMemoryRange first",
                  comm->name, (unsigned long long)size, addr);
    else
        LOG_ERROR(COMM,
                  "%s: something in the %llu bytes at %p is active already: deactivate it first",
                  comm->name, (unsigned long long)size, addr);
    return HCCL_E_PARA;
}

HcclResult
ranges_deactivate(struct comm *comm, const void *addr)
{
    struct span at = {(uintptr_t)addr, 1};
    struct part *part = NULL;
    struct range *range;
    bool found;

    pthread_mutex_lock(&lock);
    range = range_touching(&at);
    if (range != NULL)
        part = part_touching(range, &at);
    found = part != NULL && part->at.start == at.start;
    if (found) {
        part_remove(part);
        if (range->owner == NULL && hc_list_empty(&range->parts))
            range_remove(range); /* M2 */
    }
    pthread_mutex_unlock(&lock);
    if (found)
        return HCCL_SUCCESS;
    LOG_ERROR(COMM, "%s: no active part starts at %p: see HcclCommActivateCommMemory", comm->name,
              addr);
    return HCCL_E_PARA;
}

/* ---- the end of a communicator ---- */

static void
drop_parts(struct range *range, const struct comm *comm)
{
    struct hc_list *next;

    for (struct hc_list *node = range->parts.next; node != &range->parts; node = next) {
        struct part *part = HC_CONTAINER(node, struct part, in_range);

        next = node->next;
        if (part->owner == comm)
            part_remove(part);
    }
}

void
ranges_fini(const struct comm *comm)
{
    struct hc_list *next;

    pthread_mutex_lock(&lock);
    for (struct hc_list *node = all.next; node != &all; node = next) {
        struct range *range = HC_CONTAINER(node, struct range, in_all);

        next = node->next;
        drop_parts(range, comm);
        if (range->owner == comm)
            range->owner = NULL;
        if (range->owner == NULL && hc_list_empty(&range->parts))
            range_remove(range); /* M2 */
    }
    pthread_mutex_unlock(&lock);
}
