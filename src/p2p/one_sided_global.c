/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that is registered for the process, and the communicators it is bound to.
 *
 * A binding has the lease: it ends with the binding, and nothing of other communicators does.
 *
 * G1  `all.lock` protects the list, `bound` and `gone`; it is taken last. Memory that is gone is
 *     bound no more; memory that is bound does not go.
 */
#include "base/alloc.h"
#include "base/handle.h"
#include "base/log.h"
#include "p2p/one_sided.h"

struct global_memory {
    struct hc_list in_all;
    CommMem mem;
    uint32_t bound; /* communicators; G1 */
    bool gone;      /* G1 */
};

static struct {
    pthread_mutex_t lock;
    struct hc_list list; /* of struct global_memory */
} all = {.lock = PTHREAD_MUTEX_INITIALIZER, .list = {&all.list, &all.list}};

static void
global_fini(void *obj)
{
    hc_free(obj);
}

static struct hc_table table = HC_TABLE("global memory", HC_KIND_GLOBAL_MEMORY, global_fini);

/* ---- registered ---- */

static bool
overlaps(const CommMem *one, const CommMem *other)
{
    uint64_t a = (uint64_t)(uintptr_t)one->addr, b = (uint64_t)(uintptr_t)other->addr;

    return a < b + other->size && b < a + one->size;
}

/* One that `mem` overlaps and does not equal; NULL: none. Under the lock. */
static const struct global_memory *
find_overlap(const CommMem *mem)
{
    HC_LIST_EACH (node, &all.list) {
        const struct global_memory *other = HC_CONTAINER(node, struct global_memory, in_all);

        if (overlaps(&other->mem, mem) &&
            (other->mem.addr != mem->addr || other->mem.size != mem->size ||
             other->mem.type != mem->type))
            return other;
    }
    return NULL;
}

/* Under the lock. */
static HcclResult
add(struct global_memory *memory, uint64_t *handle)
{
    const struct global_memory *other = find_overlap(&memory->mem);

    if (other != NULL) {
        LOG_ERROR(P2P,
                  "HcclRegisterGlobalMem: %llu bytes at %p overlap %llu bytes at %p, which are "
                  "registered: register ranges that are equal or apart",
                  (unsigned long long)memory->mem.size, memory->mem.addr,
                  (unsigned long long)other->mem.size, other->mem.addr);
        return HCCL_E_PARA;
    }
    *handle = hc_handle_open(&table, memory);
    if (*handle == 0)
        return HCCL_E_MEMORY;
    hc_list_push_back(&all.list, &memory->in_all);
    return HCCL_SUCCESS;
}

HcclResult
global_register(const CommMem *mem, void **handle)
{
    HcclResult rc = one_sided_check("HcclRegisterGlobalMem", mem);
    struct global_memory *memory;
    uint64_t number = 0;

    if (rc != HCCL_SUCCESS)
        return rc;
    memory = hc_zalloc(sizeof *memory);
    if (memory == NULL)
        return HCCL_E_MEMORY;
    memory->mem = *mem;
    pthread_mutex_lock(&all.lock);
    rc = add(memory, &number);
    pthread_mutex_unlock(&all.lock);
    if (rc != HCCL_SUCCESS) {
        hc_free(memory);
        return rc;
    }
    *handle = (void *)(uintptr_t)number;
    return HCCL_SUCCESS;
}

/* Held; NULL (logged): not a live handle. */
static struct global_memory *
hold(const char *function, const void *handle)
{
    uint64_t number = (uint64_t)(uintptr_t)handle;
    struct global_memory *memory = hc_handle_hold(&table, number);

    if (memory == NULL)
        LOG_ERROR(P2P, "%s: memHandle %p is %s: take it from HcclRegisterGlobalMem", function,
                  handle, hc_handle_guess(&table, number));
    return memory;
}

HcclResult
global_deregister(void *handle)
{
    struct global_memory *memory = hold("HcclDeregisterGlobalMem", handle);
    uint64_t number = (uint64_t)(uintptr_t)handle;
    uint32_t bound;
    bool gone;

    if (memory == NULL)
        return HCCL_E_PARA;
    pthread_mutex_lock(&all.lock);
    bound = memory->bound;
    gone = memory->gone;
    if (bound == 0 && !gone) {
        memory->gone = true;
        hc_list_remove(&memory->in_all);
    }
    pthread_mutex_unlock(&all.lock);
    if (bound == 0 && !gone)
        (void)hc_handle_close(&table, number);
    else if (bound > 0)
        LOG_ERROR(P2P,
                  "HcclDeregisterGlobalMem: the memory at %p is bound to %u communicator(s): "
                  "HcclCommUnbindMem comes first",
                  memory->mem.addr, bound);
    else
        LOG_ERROR(P2P, "HcclDeregisterGlobalMem: memHandle %p was deregistered twice at once",
                  handle);
    hc_handle_release(&table, number);
    return bound == 0 && !gone ? HCCL_SUCCESS : HCCL_E_PARA;
}

/* ---- bound ---- */

static struct one_bound *
bound_find(struct one_sided *os, const void *handle)
{
    HC_LIST_EACH (node, &os->bound) {
        struct one_bound *bound = HC_CONTAINER(node, struct one_bound, in_os);

        if (bound->handle == handle)
            return bound;
    }
    return NULL;
}

/* Counts a binding; false: the memory is gone. */
static bool
memory_bind(struct global_memory *memory)
{
    bool there;

    pthread_mutex_lock(&all.lock);
    there = !memory->gone;
    if (there)
        memory->bound++;
    pthread_mutex_unlock(&all.lock);
    return there;
}

/* Its memory is no longer reached through this communicator. */
static void
bound_free(struct one_bound *bound)
{
    tp_lease_end(bound->lease);
    pthread_mutex_lock(&all.lock);
    bound->memory->bound--;
    pthread_mutex_unlock(&all.lock);
    hc_free(bound);
}

static HcclResult
bound_new(struct global_memory *memory, const void *handle, struct one_bound **out)
{
    struct one_bound *bound = hc_zalloc(sizeof *bound);
    HcclResult rc;

    if (bound == NULL)
        return HCCL_E_MEMORY;
    rc = tp_lease_begin(&bound->lease);
    if (rc == HCCL_SUCCESS)
        rc = one_sided_record(&bound->record, &memory->mem, bound->lease);
    if (rc == HCCL_SUCCESS && !memory_bind(memory)) {
        LOG_ERROR(P2P, "HcclCommBindMem: the memory was deregistered by another thread");
        rc = HCCL_E_PARA;
    }
    if (rc != HCCL_SUCCESS) {
        tp_lease_end(bound->lease);
        hc_free(bound);
        return rc;
    }
    bound->memory = memory;
    bound->handle = handle;
    bound->mem = memory->mem;
    *out = bound;
    return HCCL_SUCCESS;
}

/* Under the lock of `os`. */
static HcclResult
check_bind(struct one_sided *os, const void *handle)
{
    const char *name = comm_name(os->p2p->comm);

    if (bound_find(os, handle) != NULL) {
        LOG_ERROR(P2P, "HcclCommBindMem: the memory is bound to %s, rank %u, already", name,
                  os->p2p->rank);
        return HCCL_E_PARA;
    }
    if (os->bound_num == ONE_SIDED_MOST) {
        LOG_ERROR(P2P, "HcclCommBindMem: %u memories are bound to %s, rank %u, which is the most",
                  ONE_SIDED_MOST, name, os->p2p->rank);
        return HCCL_E_PARA;
    }
    if (os->told)
        LOG_WARN(P2P,
                 "HcclCommBindMem: rank %u of %s has told its peers already what is bound: they "
                 "will not learn of this memory; it can be the local side only",
                 os->p2p->rank, name);
    return HCCL_SUCCESS;
}

HcclResult
global_bind(struct one_sided *os, void *handle)
{
    struct global_memory *memory = hold("HcclCommBindMem", handle);
    struct one_bound *bound;
    HcclResult rc;

    if (memory == NULL)
        return HCCL_E_PARA;
    pthread_mutex_lock(&os->lock);
    rc = check_bind(os, handle);
    if (rc == HCCL_SUCCESS)
        rc = bound_new(memory, handle, &bound);
    if (rc == HCCL_SUCCESS) {
        hc_list_push_back(&os->bound, &bound->in_os);
        os->bound_num++;
    }
    pthread_mutex_unlock(&os->lock);
    hc_handle_release(&table, (uint64_t)(uintptr_t)handle);
    return rc;
}

HcclResult
global_unbind(struct one_sided *os, void *handle)
{
    struct one_bound *bound;

    pthread_mutex_lock(&os->lock);
    bound = bound_find(os, handle);
    if (bound != NULL) {
        hc_list_remove(&bound->in_os);
        os->bound_num--;
    }
    pthread_mutex_unlock(&os->lock);
    if (bound != NULL) {
        bound_free(bound); /* S1 */
        return HCCL_SUCCESS;
    }
    LOG_ERROR(P2P, "HcclCommUnbindMem: memHandle %p is not bound to %s, rank %u", handle,
              comm_name(os->p2p->comm), os->p2p->rank);
    return HCCL_E_PARA;
}

void
global_unbind_all(struct one_sided *os)
{
    struct hc_list *node;

    while ((node = hc_list_pop_front(&os->bound)) != NULL)
        bound_free(HC_CONTAINER(node, struct one_bound, in_os));
}
