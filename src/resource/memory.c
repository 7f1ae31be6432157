/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory: regions that peers may reach, and the descriptors that tell of them.
 *
 * A descriptor names the process it was made in. There it stands for plain addresses; a
 * descriptor of another process is refused, because there is no transport yet that could map it.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/handle.h"
#include "base/log.h"
#include "resource/endpoint.h"

#define MAGIC 0x48434d44u
#define VERSION 1u

struct text_head {
    uint32_t magic, version;
    uint64_t checksum; /* of all that follows */
    uint64_t process;
    uint64_t handle; /* of the registration */
    uint64_t addr, size;
    uint32_t len; /* of all */
    int32_t type;
    EndpointDesc endpoint;
    char tag[]; /* ends with NUL */
};

struct res_import {
    struct hc_list in_endpoint; /* under its lock */
    CommMem mem;
    uint32_t len;
    uint8_t text[]; /* [len] */
};

static void mem_fini(void *obj);

static struct hc_table mem_table = HC_TABLE("memory registration", HC_KIND_MEMORY, mem_fini);

static pthread_once_t process_once = PTHREAD_ONCE_INIT;
static uint64_t process_id; /* unlike any other process's, on any host */

static void
make_process_id(void)
{
    if (getrandom(&process_id, sizeof process_id, 0) != (ssize_t)sizeof process_id)
        process_id = hc_now_ns() ^ ((uint64_t)getpid() << 40) ^ (uint64_t)time(NULL);
}

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
    pthread_mutex_lock(&endpoint->lock);
    number = hc_handle_open(&mem_table, fresh);
    if (number != 0) {
        fresh->handle = (HcommMemHandle)(uintptr_t)number;
        hc_list_push_back(&endpoint->mems, &fresh->in_endpoint); /* endpoint.h I1 */
    }
    pthread_mutex_unlock(&endpoint->lock);
    if (number == 0) {
        hc_free(fresh);
        return HCCL_E_MEMORY;
    }
    *handle = fresh->handle;
    return HCCL_SUCCESS;
}

static void
mem_fini(void *obj)
{
    struct res_mem *mem = obj;

    hc_free(mem->text);
    hc_free(mem);
}

static void
mem_release(struct res_mem *mem)
{
    hc_handle_release(&mem_table, (uint64_t)(uintptr_t)mem->handle);
}

static HcclResult
mem_hold(struct res_endpoint *endpoint, HcommMemHandle handle, struct res_mem **mem)
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
        mem_release(*mem);
    return HCCL_E_NOT_FOUND;
}

HcclResult
res_mem_unreg(struct res_endpoint *endpoint, HcommMemHandle handle)
{
    struct res_mem *mem;
    HcclResult rc = mem_hold(endpoint, handle, &mem);

    if (rc != HCCL_SUCCESS)
        return rc;
    pthread_mutex_lock(&endpoint->lock);
    if (hc_handle_close(&mem_table, (uint64_t)(uintptr_t)handle))
        hc_list_remove(&mem->in_endpoint);
    else
        rc = HCCL_E_NOT_FOUND;
    pthread_mutex_unlock(&endpoint->lock);
    if (rc != HCCL_SUCCESS)
        LOG_ERROR(RES, "memory handle %p was unregistered twice at once", handle);
    mem_release(mem);
    return rc;
}

void
res_mem_drop_all(struct res_endpoint *endpoint)
{
    struct hc_list *node;
    uint32_t left = 0;

    while ((node = hc_list_pop_front(&endpoint->mems)) != NULL) {
        struct res_mem *mem = HC_CONTAINER(node, struct res_mem, in_endpoint);

        (void)hc_handle_close(&mem_table, (uint64_t)(uintptr_t)mem->handle);
        left++;
    }
    if (left > 0)
        LOG_WARN(RES, "%s is destroyed with %u memories registered: unregister them before",
                 endpoint->name, left);
    while ((node = hc_list_pop_front(&endpoint->imports)) != NULL)
        hc_free(HC_CONTAINER(node, struct res_import, in_endpoint));
}

static HcclResult
regions_by_handle(struct res_endpoint *endpoint, const HcommMemHandle *handles, uint32_t num,
                  struct res_region *regions)
{
    for (uint32_t i = 0; i < num; i++) {
        struct res_mem *mem;
        HcclResult rc = mem_hold(endpoint, handles[i], &mem);

        if (rc != HCCL_SUCCESS)
            return rc;
        regions[i] = mem->region;
        mem_release(mem);
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

/* ---- descriptors ---- */

static uint64_t
checksum_of(const struct text_head *head)
{
    const uint8_t *at = (const uint8_t *)&head->process, *end = (const uint8_t *)head + head->len;
    uint64_t hash = 14695981039346656037ull;

    for (; at < end; at++)
        hash = (hash ^ *at) * 1099511628211ull;
    return hash;
}

HcclResult
res_mem_export(struct res_endpoint *endpoint, HcommMemHandle handle, void **text, uint32_t *len)
{
    struct text_head *head;
    struct res_mem *mem;
    size_t tag_len, size;
    HcclResult rc = mem_hold(endpoint, handle, &mem);

    if (rc != HCCL_SUCCESS)
        return rc;
    (void)pthread_once(&process_once, make_process_id);
    tag_len = strlen(mem->region.tag) + 1;
    size = sizeof *head + tag_len;
    head = hc_zalloc(size);
    if (head == NULL) {
        mem_release(mem);
        return HCCL_E_MEMORY;
    }
    head->magic = MAGIC;
    head->version = VERSION;
    head->process = process_id;
    head->handle = (uint64_t)(uintptr_t)handle;
    head->addr = (uint64_t)(uintptr_t)mem->region.mem.addr;
    head->size = mem->region.mem.size;
    head->len = (uint32_t)size;
    head->type = mem->region.mem.type;
    head->endpoint = endpoint->desc;
    memcpy(head->tag, mem->region.tag, tag_len);
    head->checksum = checksum_of(head);
    pthread_mutex_lock(&endpoint->lock);
    hc_free(mem->text);
    mem->text = head;
    pthread_mutex_unlock(&endpoint->lock);
    mem_release(mem);
    *text = head;
    *len = (uint32_t)size;
    return HCCL_SUCCESS;
}

/* Whether `text` is a descriptor whose memory can be reached. `head` gets its fixed part. */
static HcclResult
check_text(const void *text, uint32_t len, struct text_head *head)
{
    const char *fault = NULL;
    struct res_mem *mem;

    if (len < sizeof *head) {
        fault = "too short";
    } else {
        memcpy(head, text, sizeof *head);
        if (head->magic != MAGIC || head->version != VERSION)
            fault = "not one of this version of hcomm";
        else if (head->len != len)
            fault = "of another length";
    }
    if (fault == NULL) {
        struct text_head *whole = hc_zalloc(len); /* the caller's bytes need not be aligned */

        if (whole == NULL)
            return HCCL_E_MEMORY;
        memcpy(whole, text, len);
        if (checksum_of(whole) != whole->checksum)
            fault = "damaged";
        hc_free(whole);
    }
    if (fault != NULL) {
        LOG_ERROR(RES,
                  "the memory descriptor of %u bytes is %s: pass what HcommMemExport gave, "
                  "unchanged",
                  len, fault);
        return HCCL_E_INTERNAL;
    }
    (void)pthread_once(&process_once, make_process_id);
    if (head->process != process_id) {
        LOG_ERROR(RES,
                  "the memory descriptor comes from another process: reaching its memory is not "
                  "supported yet, it arrives with the shared-memory transport");
        return HCCL_E_NOT_SUPPORT;
    }
    mem = hc_handle_hold(&mem_table, head->handle);
    if (mem == NULL) {
        LOG_ERROR(RES, "the memory descriptor names a region that has been unregistered");
        return HCCL_E_NOT_FOUND;
    }
    mem_release(mem);
    return HCCL_SUCCESS;
}

/* Under the lock; NULL: it has not been imported. */
static struct res_import *
find_import(struct res_endpoint *endpoint, const void *text, uint32_t len)
{
    HC_LIST_EACH (node, &endpoint->imports) {
        struct res_import *import = HC_CONTAINER(node, struct res_import, in_endpoint);

        if (import->len == len && memcmp(import->text, text, len) == 0)
            return import;
    }
    return NULL;
}

HcclResult
res_mem_import(struct res_endpoint *endpoint, const void *text, uint32_t len, CommMem *mem)
{
    struct res_import *fresh;
    struct text_head head;
    bool twice;
    HcclResult rc = check_text(text, len, &head);

    if (rc != HCCL_SUCCESS)
        return rc;
    fresh = hc_zalloc(sizeof *fresh + len);
    if (fresh == NULL)
        return HCCL_E_MEMORY;
    fresh->mem = (CommMem){
        .type = (CommMemType)head.type, .addr = (void *)(uintptr_t)head.addr, .size = head.size};
    fresh->len = len;
    memcpy(fresh->text, text, len);
    pthread_mutex_lock(&endpoint->lock);
    twice = find_import(endpoint, text, len) != NULL;
    if (!twice)
        hc_list_push_back(&endpoint->imports, &fresh->in_endpoint);
    pthread_mutex_unlock(&endpoint->lock);
    if (twice) {
        hc_free(fresh);
        LOG_ERROR(RES, "%s: this memory descriptor has been imported already", endpoint->name);
        return HCCL_E_AGAIN;
    }
    *mem = (CommMem){
        .type = (CommMemType)head.type, .addr = (void *)(uintptr_t)head.addr, .size = head.size};
    return HCCL_SUCCESS;
}

HcclResult
res_mem_unimport(struct res_endpoint *endpoint, const void *text, uint32_t len)
{
    struct res_import *import;

    pthread_mutex_lock(&endpoint->lock);
    import = find_import(endpoint, text, len);
    if (import != NULL)
        hc_list_remove(&import->in_endpoint);
    pthread_mutex_unlock(&endpoint->lock);
    if (import == NULL) {
        LOG_ERROR(RES, "%s: this memory descriptor has not been imported", endpoint->name);
        return HCCL_E_NOT_FOUND;
    }
    hc_free(import);
    return HCCL_SUCCESS;
}

bool
res_endpoint_imported(EndpointHandle handle, const void *addr, uint64_t len)
{
    struct res_endpoint *endpoint;
    bool found = false;

    if (res_endpoint_hold(handle, &endpoint) != HCCL_SUCCESS)
        return false;
    pthread_mutex_lock(&endpoint->lock);
    HC_LIST_EACH (node, &endpoint->imports) {
        if (res_mem_contains(&HC_CONTAINER(node, struct res_import, in_endpoint)->mem, addr, len)) {
            found = true;
            break;
        }
    }
    pthread_mutex_unlock(&endpoint->lock);
    res_endpoint_release(endpoint);
    return found;
}
