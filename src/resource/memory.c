/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory: regions that peers may reach.
 *
 * A registration has a lease, which ends when it is unregistered: whatever descriptors and channels
 * tell of it, transfers are refused from then on.
 */
#define _GNU_SOURCE
#include <string.h>

#include "base/alloc.h"
#include "base/handle.h"
#include "base/log.h"
#include "resource/endpoint.h"
#include "resource/memory.h"

static void mem_fini(void *obj);

static struct hc_table mem_table = HC_TABLE("memory registration", HC_KIND_MEMORY, mem_fini);

/* ---- register ---- */

HcclResult
res_mem_reg(struct res_endpoint *endpoint, const char *tag, const CommMem *mem,
            HcommMemHandle *handle)
{
    const char *label = tag == NULL ? "" : tag;
    uint64_t number, end;
    struct res_mem *fresh;

    if (strnlen(label, RES_TAG_MOST + 1) > RES_TAG_MOST) {
        LOG_ERROR(RES, "memory tag \"%.32s...\" is longer than %u bytes", label, RES_TAG_MOST);
        return HCCL_E_PARA;
    }
    if (mem->size == 0 || (mem->type != COMM_MEM_TYPE_DEVICE && mem->type != COMM_MEM_TYPE_HOST) ||
        __builtin_add_overflow((uint64_t)(uintptr_t)mem->addr, mem->size, &end)) {
        LOG_ERROR(RES,
                  "memory \"%s\" at %p: size %llu and type %d are not a region (type 0: device, "
                  "1: host)",
                  label, mem->addr, (unsigned long long)mem->size, (int)mem->type);
        return HCCL_E_PARA;
    }
    fresh = hc_zalloc(sizeof *fresh);
    if (fresh == NULL)
        return HCCL_E_MEMORY;
    fresh->endpoint = endpoint->handle;
    fresh->region.mem = *mem;
    memcpy(fresh->region.tag, label, strlen(label));
    if (tp_lease_begin(&fresh->region.lease) != HCCL_SUCCESS) {
        hc_free(fresh);
        return HCCL_E_MEMORY;
    }
    pthread_mutex_lock(&endpoint->lock);
    number = hc_handle_open(&mem_table, fresh);
    if (number != 0) {
        fresh->handle = (HcommMemHandle)(uintptr_t)number;
        hc_list_push_back(&endpoint->mems, &fresh->in_endpoint); /* endpoint.h I1 */
    }
    pthread_mutex_unlock(&endpoint->lock);
    if (number == 0) {
        mem_fini(fresh);
        return HCCL_E_MEMORY;
    }
    *handle = fresh->handle;
    return HCCL_SUCCESS;
}

static void
mem_fini(void *obj)
{
    struct res_mem *mem = obj;

    tp_lease_end(mem->region.lease); /* fine if it has ended */
    hc_free(mem->text);
    hc_free(mem);
}

void
res_mem_release(struct res_mem *mem)
{
    hc_handle_release(&mem_table, (uint64_t)(uintptr_t)mem->handle);
}

HcclResult
res_mem_hold(struct res_endpoint *endpoint, HcommMemHandle handle, struct res_mem **mem)
{
    uint64_t number = (uint64_t)(uintptr_t)handle;

    if (handle == NULL) {
        LOG_ERROR(RES, "memory handle is NULL: one from HcommMemReg is needed");
        return HCCL_E_PTR;
    }
    *mem = hc_handle_hold(&mem_table, number);
    if (*mem != NULL && (*mem)->endpoint == endpoint->handle)
        return HCCL_SUCCESS;
    LOG_ERROR(RES, "memory handle %p is not registered on %s: it is %s", handle, endpoint->name,
              *mem == NULL ? hc_handle_guess(&mem_table, number) : "another endpoint's");
    if (*mem != NULL)
        res_mem_release(*mem);
    return HCCL_E_NOT_FOUND;
}

HcclResult
res_mem_unreg(struct res_endpoint *endpoint, HcommMemHandle handle)
{
    struct res_mem *mem;
    HcclResult rc = res_mem_hold(endpoint, handle, &mem);

    if (rc != HCCL_SUCCESS)
        return rc;
    pthread_mutex_lock(&endpoint->lock);
    if (hc_handle_close(&mem_table, (uint64_t)(uintptr_t)handle))
        hc_list_remove(&mem->in_endpoint);
    else
        rc = HCCL_E_NOT_FOUND;
    pthread_mutex_unlock(&endpoint->lock);
    if (rc == HCCL_SUCCESS)
        tp_lease_end(mem->region.lease); /* now, whoever else holds it */
    else
        LOG_ERROR(RES, "memory handle %p was unregistered twice at once", handle);
    res_mem_release(mem);
    return rc;
}

void
res_mem_drop_all(struct res_endpoint *endpoint)
{
    struct hc_list *node;
    uint32_t left = 0;

    while ((node = hc_list_pop_front(&endpoint->mems)) != NULL) {
        struct res_mem *mem = HC_CONTAINER(node, struct res_mem, in_endpoint);

        tp_lease_end(mem->region.lease);
        (void)hc_handle_close(&mem_table, (uint64_t)(uintptr_t)mem->handle);
        left++;
    }
    if (left > 0)
        LOG_WARN(RES, "%s is destroyed with %u memories registered: unregister them before",
                 endpoint->name, left);
}

bool
res_mem_live(uint64_t handle, const CommMem *like)
{
    struct res_mem *mem = hc_handle_hold(&mem_table, handle);
    bool live =
        mem != NULL && mem->region.mem.addr == like->addr && mem->region.mem.size == like->size;

    if (mem != NULL)
        res_mem_release(mem);
    return live;
}

static HcclResult
regions_by_handle(struct res_endpoint *endpoint, const HcommMemHandle *handles, uint32_t num,
                  struct res_region *regions)
{
    for (uint32_t i = 0; i < num; i++) {
        struct res_mem *mem;
        HcclResult rc = res_mem_hold(endpoint, handles[i], &mem);

        if (rc != HCCL_SUCCESS)
            return rc;
        regions[i] = mem->region;
        res_mem_release(mem);
    }
    return HCCL_SUCCESS;
}

HcclResult
res_mem_regions(struct res_endpoint *endpoint, const HcommMemHandle *handles, uint32_t num,
                struct res_region **regions, uint32_t *region_num)
{
    HcclResult rc = HCCL_SUCCESS;
    struct res_region *all;
    uint32_t i = 0;

    pthread_mutex_lock(&endpoint->lock);
    if (handles == NULL) {
        num = 0;
        HC_LIST_EACH (node, &endpoint->mems)
            num++;
    }
    all = hc_calloc(num == 0 ? 1 : num, sizeof *all);
    if (all != NULL && handles == NULL) {
        HC_LIST_EACH (node, &endpoint->mems)
            all[i++] = HC_CONTAINER(node, struct res_mem, in_endpoint)->region;
    }
    pthread_mutex_unlock(&endpoint->lock);
    if (all == NULL)
        return HCCL_E_MEMORY;
    if (handles != NULL)
        rc = regions_by_handle(endpoint, handles, num, all);
    if (rc != HCCL_SUCCESS) {
        hc_free(all);
        return rc;
    }
    *regions = all;
    *region_num = num;
    return HCCL_SUCCESS;
}
