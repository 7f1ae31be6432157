/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regions: describing own ones, reaching those of peers, also of processes that no connection is
 * open to. Each import holds the link to its owner, so
 * that what is mapped stays so; the table finds that link again.
 */
#include <pthread.h>

#include "base/alloc.h"
#include "base/list.h"
#include "base/log.h"
#include "base/process.h"
#include "base/thread.h"
#include "transport/foreign.h"
#include "transport/host.h"
#include "transport/shm.h"

struct import {
    struct hc_list in_imports;
    uint64_t process;
    struct shm_link *link; /* held */
    void *local;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects `imports` */
static struct hc_list imports = {&imports, &imports};

HcclResult
tp_region_of(const void *addr, uint64_t len, uint64_t lease, struct tp_region *region)
{
    *region = (struct tp_region){.addr = (uintptr_t)addr, .len = len, .lease = lease};
    if (host_get()->locate(addr, len, &region->place))
        return HCCL_SUCCESS;
    region->place = (struct tp_place){0};
    return foreign_offer(addr, len, lease);
}

HcclResult
region_check(struct shm_link *link, const struct tp_region *region)
{
    if (region->len > 0 && region->addr + region->len >= region->addr)
        return HCCL_SUCCESS;
    LOG_ERROR(SHM, "process %d describes a region of %llu bytes at 0x%llx: no such memory",
              (int)link_pid(link), (unsigned long long)region->len,
              (unsigned long long)region->addr);
    return HCCL_E_PARA;
}

HcclResult
region_map(struct shm_link *link, const struct tp_region *region, void **local)
{
    HcclResult rc = region_check(link, region);

    if (rc != HCCL_SUCCESS)
        return rc;
    if (region->place.file != 0)
        return link_map(link, &region->place, region->len, local);
    return foreign_add(link, region, local);
}

void
region_unmap(struct shm_link *link, void *local)
{
    if (foreign_is(local))
        foreign_remove(local);
    else
        link_unmap(link, local);
}

/* The link, up. */
static HcclResult
link_reach(const struct tp_address *owner, int64_t timeout_ms, struct shm_link **link)
{
    HcclResult rc = link_hold(owner, link);
    char who[64];

    if (rc != HCCL_SUCCESS)
        return rc;
    rc = link_wait(*link, timeout_ms);
    if (rc == HCCL_SUCCESS && link_state(*link) != LINK_GONE)
        return HCCL_SUCCESS;
    if (rc == HCCL_SUCCESS) {
        (void)link_ending(*link, who, sizeof who);
        LOG_ERROR(SHM,
                  "cannot import memory of %s: it has ended, refuses the link, or is not on this "
                  "host and in this network namespace",
                  who);
        rc = HCCL_E_REMOTE;
    } else if (rc == HCCL_E_TIMEOUT) {
        LOG_ERROR(SHM, "cannot import memory of process %016llx: it did not answer for %lld ms",
                  (unsigned long long)owner->process, (long long)timeout_ms);
    }
    link_release(*link);
    return rc;
}

HcclResult
tp_import(const struct tp_address *owner, const struct tp_region *region, int64_t timeout_ms,
          void **local)
{
    struct import *import;
    int cancel;
    HcclResult rc;

    if (owner->process == hc_process_id()) {
        *local = (void *)(uintptr_t)region->addr;
        return HCCL_SUCCESS;
    }
    import = hc_zalloc(sizeof *import);
    if (import == NULL)
        return HCCL_E_MEMORY;
    cancel = hc_cancel_off();
    import->process = owner->process;
    rc = link_reach(owner, timeout_ms, &import->link);
    if (rc == HCCL_SUCCESS) {
        rc = region_map(import->link, region, &import->local);
        if (rc != HCCL_SUCCESS)
            link_release(import->link);
    }
    if (rc == HCCL_SUCCESS) {
        *local = import->local;
        pthread_mutex_lock(&lock);
        hc_list_push_back(&imports, &import->in_imports);
        pthread_mutex_unlock(&lock);
    } else {
        hc_free(import);
    }
    hc_cancel_restore(cancel);
    return rc;
}

/* The first import from `process` (at `local`, unless NULL); under the lock. */
static struct import *
find(uint64_t process, const void *local)
{
    HC_LIST_EACH (node, &imports) {
        struct import *import = HC_CONTAINER(node, struct import, in_imports);

        if (import->process == process && (local == NULL || import->local == local))
            return import;
    }
    return NULL;
}

void
tp_unimport(const struct tp_address *owner, const struct tp_region *region, void *local)
{
    int cancel = hc_cancel_off();
    struct import *import;

    (void)region;
    pthread_mutex_lock(&lock);
    import = local == NULL ? NULL : find(owner->process, local);
    if (import != NULL)
        hc_list_remove(&import->in_imports);
    pthread_mutex_unlock(&lock);
    if (import != NULL) {
        region_unmap(import->link, local);
        link_release(import->link);
        hc_free(import);
    }
    hc_cancel_restore(cancel);
}

bool
tp_import_leased(const struct tp_address *owner, uint64_t lease)
{
    int cancel = hc_cancel_off();
    bool leased = false;
    struct import *import;

    if (owner->process == hc_process_id()) {
        leased = segment_own_leased(lease);
    } else {
        pthread_mutex_lock(&lock);
        import = find(owner->process, NULL);
        leased = import != NULL && link_state(import->link) == LINK_UP &&
                 segment_leased(link_segment(import->link), lease);
        pthread_mutex_unlock(&lock);
    }
    hc_cancel_restore(cancel);
    return leased;
}
