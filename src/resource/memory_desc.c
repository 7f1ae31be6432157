/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Descriptors of memory, which programs pass to each other by whatever means.
 *
 * A descriptor tells how to reach the process that made it, and where the memory lies. There it
 * stands for plain addresses. Another process of the host gets an address of its own for it: a
 * mapping, or a stand-in if the memory lies in no shared file (transport.h).
 *
 * I1  An import is in its endpoint's list until it is unimported; the list's hold and those of
 *     running transfers keep it, and the last one gives the address back. So nothing is unmapped
 *     under a transfer.
 */
#define _GNU_SOURCE
#include <string.h>

#include "base/alloc.h"
#include "base/fnv.h"
#include "base/log.h"
#include "base/process.h"
#include "bootstrap/bootstrap.h"
#include "resource/endpoint.h"
#include "resource/host.h"
#include "resource/memory.h"
#include "resource/peer_memory.h"

#define MAGIC 0x48434d44u
#define VERSION 2u

struct text_head {
    uint32_t magic, version;
    uint64_t checksum;       /* of all that follows */
    struct tp_address owner; /* the process */
    struct tp_region region;
    uint64_t handle; /* of the registration */
    uint32_t len;    /* of all */
    int32_t type;
    EndpointDesc endpoint;
    char tag[]; /* ends with NUL */
};

struct res_import {
    struct hc_list in_endpoint; /* under the endpoint's lock */
    _Atomic uint32_t refs;      /* I1 */
    bool mapped;                /* by tp_import; else it is this process' own memory */
    bool counted;               /* by peer_memory_add */
    CommMem mem;                /* as reached from here */
    struct tp_address owner;
    struct tp_region region;
    uint64_t handle; /* of the registration, in the owner */
    uint32_t len;
    uint8_t text[]; /* [len] */
};

static uint64_t
checksum_of(const struct text_head *head)
{
    const uint8_t *at = (const uint8_t *)&head->owner, *end = (const uint8_t *)head + head->len;

    return hc_fnv(HC_FNV_START, at, (size_t)(end - at));
}

/* ---- export ---- */

static struct text_head *
make_text(const struct res_endpoint *endpoint, const struct res_mem *mem,
          const struct tp_address *owner)
{
    const struct res_region *region = &mem->region;
    size_t tag_len = strlen(region->tag) + 1;
    struct text_head *head = hc_zalloc(sizeof *head + tag_len);

    if (head == NULL)
        return NULL;
    head->magic = MAGIC;
    head->version = VERSION;
    head->owner = *owner;
    if (tp_region_of(region->mem.addr, region->mem.size, region->lease, &head->region) !=
        HCCL_SUCCESS) {
        hc_free(head);
        return NULL;
    }
    head->handle = (uint64_t)(uintptr_t)mem->handle;
    head->len = (uint32_t)(sizeof *head + tag_len);
    head->type = region->mem.type;
    head->endpoint = endpoint->desc;
    memcpy(head->tag, region->tag, tag_len);
    head->checksum = checksum_of(head);
    return head;
}

HcclResult
res_mem_export(struct res_endpoint *endpoint, HcommMemHandle handle, void **text, uint32_t *len)
{
    struct tp_address owner = {.process = 0};
    struct text_head *head = NULL;
    struct res_mem *mem;
    HcclResult rc = res_mem_hold(endpoint, handle, &mem);

    if (rc != HCCL_SUCCESS)
        return rc;
    rc = res_listen(&owner);
    if (rc == HCCL_SUCCESS) {
        head = make_text(endpoint, mem, &owner);
        rc = head == NULL ? HCCL_E_MEMORY : HCCL_SUCCESS;
    }
    if (rc == HCCL_SUCCESS) {
        pthread_mutex_lock(&endpoint->lock);
        hc_free(mem->text);
        mem->text = head;
        pthread_mutex_unlock(&endpoint->lock);
        *text = head;
        *len = head->len;
    }
    res_mem_release(mem);
    return rc;
}

/* ---- import ---- */

/* What is wrong with the text; NULL: nothing. `head` gets its fixed part. */
static const char *
fault_of(const void *text, uint32_t len, struct text_head *head)
{
    uint64_t end;

    if (len < sizeof *head)
        return "too short";
    memcpy(head, text, sizeof *head);
    if (head->magic != MAGIC || head->version != VERSION)
        return "not one of this version of hcomm";
    if (head->len != len)
        return "of another length";
    if (head->owner.process == 0 || head->region.len == 0 ||
        __builtin_add_overflow(head->region.addr, head->region.len, &end) ||
        __builtin_add_overflow(head->region.place.offset, head->region.len, &end) ||
        (head->type != COMM_MEM_TYPE_DEVICE && head->type != COMM_MEM_TYPE_HOST))
        return "not of a region";
    return NULL;
}

/* Whether `text` is a descriptor as it was made. */
static HcclResult
check_text(const void *text, uint32_t len, struct text_head *head)
{
    const char *fault = fault_of(text, len, head);

    if (fault == NULL) {
        struct text_head *whole = hc_zalloc(len); /* the caller's bytes need not be aligned */

        if (whole == NULL)
            return HCCL_E_MEMORY;
        memcpy(whole, text, len);
        if (checksum_of(whole) != whole->checksum)
            fault = "damaged";
        hc_free(whole);
    }
    if (fault == NULL)
        return HCCL_SUCCESS;
    LOG_ERROR(RES,
              "the memory descriptor of %u bytes is %s: pass what HcommMemExport gave, "
              "unchanged",
              len, fault);
    return HCCL_E_INTERNAL;
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

static HcclResult
import_new(const void *text, uint32_t len, const struct text_head *head, struct res_import **out)
{
    struct res_import *import = hc_zalloc(sizeof *import + len);

    if (import == NULL)
        return HCCL_E_MEMORY;
    atomic_store(&import->refs, 1);
    import->mem = (CommMem){.type = (CommMemType)head->type,
                            .addr = (void *)(uintptr_t)head->region.addr,
                            .size = head->region.len};
    import->owner = head->owner;
    import->region = head->region;
    import->handle = head->handle;
    import->len = len;
    memcpy(import->text, text, len);
    *out = import;
    return HCCL_SUCCESS;
}

/* Gives the memory an address in this process. */
static HcclResult
reach_memory(struct res_import *import, int32_t device)
{
    int64_t timeout_ms = 0;
    HcclResult rc;

    if (import->owner.process == hc_process_id()) {
        if (res_mem_live(import->handle, &import->mem))
            return HCCL_SUCCESS;
        LOG_ERROR(RES, "the memory descriptor names a region that has been unregistered");
        return HCCL_E_NOT_FOUND;
    }
    rc = bs_connect_timeout(&timeout_ms);
    if (rc != HCCL_SUCCESS)
        return rc;
    res_host_ready();
    rt_block_begin();
    rc = tp_import(&import->owner, &import->region, timeout_ms, &import->mem.addr);
    rt_block_end();
    import->mapped = rc == HCCL_SUCCESS;
    if (rc == HCCL_SUCCESS)
        rc = peer_memory_add(&import->mem, device);
    import->counted = import->mapped && rc == HCCL_SUCCESS;
    if (rc != HCCL_SUCCESS || tp_import_leased(&import->owner, import->region.lease))
        return rc;
    LOG_ERROR(RES, "the memory descriptor names a region that its process has unregistered");
    return HCCL_E_NOT_FOUND;
}

HcclResult
res_mem_import(struct res_endpoint *endpoint, const void *text, uint32_t len, CommMem *mem)
{
    struct res_import *import = NULL;
    struct text_head head;
    bool twice;
    HcclResult rc = check_text(text, len, &head);

    if (rc == HCCL_SUCCESS)
        rc = import_new(text, len, &head, &import);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = reach_memory(import, endpoint->device);
    if (rc != HCCL_SUCCESS) {
        res_channel_leave(import);
        return rc;
    }
    pthread_mutex_lock(&endpoint->lock);
    twice = find_import(endpoint, text, len) != NULL;
    if (!twice) {
        *mem = import->mem;
        hc_list_push_back(&endpoint->imports, &import->in_endpoint);
    }
    pthread_mutex_unlock(&endpoint->lock);
    if (!twice)
        return HCCL_SUCCESS;
    res_channel_leave(import);
    LOG_ERROR(RES, "%s: this memory descriptor has been imported already", endpoint->name);
    return HCCL_E_AGAIN;
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
    res_channel_leave(import);
    return HCCL_SUCCESS;
}

void
res_import_drop_all(struct res_endpoint *endpoint)
{
    struct hc_list *node;

    while ((node = hc_list_pop_front(&endpoint->imports)) != NULL)
        res_channel_leave(HC_CONTAINER(node, struct res_import, in_endpoint));
}

/* ---- use ---- */

static bool
still_offered(const struct res_import *import)
{
    if (import->mapped)
        return tp_import_leased(&import->owner, import->region.lease);
    return res_mem_live(import->handle, &import->mem);
}

struct res_import *
res_import_hold(EndpointHandle handle, uint64_t process, const void *addr, uint64_t len,
                bool *withdrawn)
{
    struct res_endpoint *endpoint = res_endpoint_hold_quiet(handle);
    struct res_import *found = NULL;

    if (endpoint == NULL)
        return NULL;
    pthread_mutex_lock(&endpoint->lock);
    HC_LIST_EACH (node, &endpoint->imports) {
        struct res_import *import = HC_CONTAINER(node, struct res_import, in_endpoint);

        if (import->owner.process != process || !res_mem_contains(&import->mem, addr, len))
            continue;
        if (still_offered(import)) {
            atomic_fetch_add(&import->refs, 1); /* I1 */
            found = import;
            break;
        }
        *withdrawn = true;
    }
    pthread_mutex_unlock(&endpoint->lock);
    res_endpoint_release(endpoint);
    return found;
}

uint64_t
res_import_lease(const struct res_import *import)
{
    return import->region.lease;
}

void
res_channel_leave(struct res_import *import)
{
    if (import == NULL || atomic_fetch_sub(&import->refs, 1) > 1)
        return;
    if (import->counted)
        peer_memory_remove(&import->mem);
    if (import->mapped)
        tp_unimport(&import->owner, &import->region, import->mem.addr);
    hc_free(import);
}
