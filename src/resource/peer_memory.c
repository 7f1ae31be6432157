/* SPDX-License-Identifier: BSD-3-Clause */
#include "resource/peer_memory.h"

#include "base/alloc.h"
#include "base/list.h"
#include "resource/endpoint.h"

/* The same memory comes with several channels. */
struct window {
    struct hc_list in_all;
    CommMem mem;
    int32_t device;
    uint32_t refs;
};

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER; /* leaf */
static struct hc_list windows = {&windows, &windows};      /* under `lock` */
static _Atomic uint32_t window_num;                        /* written under `lock` */
/* No window lies outside; widened under `lock`, before the window is there. Most memory that
 * programs use does, and need not be looked for. */
static _Atomic uintptr_t lowest = UINTPTR_MAX, highest;

static void
widen(const CommMem *mem)
{
    uintptr_t first = (uintptr_t)mem->addr, end = first + mem->size;

    if (first < atomic_load_explicit(&lowest, memory_order_relaxed))
        atomic_store(&lowest, first);
    if (end > atomic_load_explicit(&highest, memory_order_relaxed))
        atomic_store(&highest, end);
}

/* Under the lock. */
static struct window *
find(const CommMem *mem)
{
    HC_LIST_EACH (node, &windows) {
        struct window *window = HC_CONTAINER(node, struct window, in_all);

        if (window->mem.addr == mem->addr && window->mem.size == mem->size)
            return window;
    }
    return NULL;
}

static bool
is_mapped_device(const CommMem *mem)
{
    return mem->type == COMM_MEM_TYPE_DEVICE && !tp_is_stand_in(mem->addr, mem->size);
}

HcclResult
peer_memory_add(const CommMem *mem, int32_t device)
{
    struct window *window;

    if (!is_mapped_device(mem))
        return HCCL_SUCCESS;
    pthread_rwlock_wrlock(&lock);
    window = find(mem);
    if (window == NULL) {
        window = hc_zalloc(sizeof *window);
        if (window != NULL) {
            window->mem = *mem;
            window->device = device;
            widen(mem);
            hc_list_push_back(&windows, &window->in_all);
            atomic_fetch_add(&window_num, 1);
        }
    }
    if (window != NULL)
        window->refs++;
    pthread_rwlock_unlock(&lock);
    return window == NULL ? HCCL_E_MEMORY : HCCL_SUCCESS;
}

void
peer_memory_remove(const CommMem *mem)
{
    struct window *window;
    bool last;

    if (!is_mapped_device(mem))
        return;
    pthread_rwlock_wrlock(&lock);
    window = find(mem);
    last = window != NULL && --window->refs == 0;
    if (last) {
        hc_list_remove(&window->in_all);
        atomic_fetch_sub(&window_num, 1);
    }
    pthread_rwlock_unlock(&lock);
    if (last)
        hc_free(window);
}

HcclResult
res_peer_memory_add(void *addr, uint64_t len, int32_t device)
{
    CommMem mem = {.type = COMM_MEM_TYPE_DEVICE, .addr = addr, .size = len};

    return peer_memory_add(&mem, device);
}

void
res_peer_memory_remove(void *addr, uint64_t len)
{
    CommMem mem = {.type = COMM_MEM_TYPE_DEVICE, .addr = addr, .size = len};

    peer_memory_remove(&mem);
}

bool
peer_memory_find(const void *ptr, struct rt_range *range)
{
    bool found = false;

    if (tp_is_stand_in(ptr, 1)) {
        *range = (struct rt_range){.place = RT_PLACE_ELSEWHERE};
        return true;
    }
    if (atomic_load_explicit(&window_num, memory_order_relaxed) == 0 ||
        (uintptr_t)ptr < atomic_load_explicit(&lowest, memory_order_relaxed) ||
        (uintptr_t)ptr >= atomic_load_explicit(&highest, memory_order_relaxed))
        return false;
    pthread_rwlock_rdlock(&lock);
    HC_LIST_EACH (node, &windows) {
        const struct window *window = HC_CONTAINER(node, struct window, in_all);

        if (!res_mem_contains(&window->mem, ptr, 1))
            continue;
        *range = (struct rt_range){.place = RT_PLACE_DEVICE,
                                   .device = window->device,
                                   .base = window->mem.addr,
                                   .size = window->mem.size};
        found = true;
        break;
    }
    pthread_rwlock_unlock(&lock);
    return found;
}
