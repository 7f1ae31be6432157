/* SPDX-License-Identifier: BSD-3-Clause */
#include "p2p/one_sided.h"

#include <string.h>

#include "base/alloc.h"
#include "base/log.h"

#define MAGIC 0x31764445534d4348ull /* "HCMSEDv1": a description of this library */
#define DEVICE_MOST (64ull << 30)
#define HOST_MOST (1ull << 40)

/* ---- a rank's side ---- */

static struct one_sided *
state_new(struct p2p *p2p)
{
    struct one_sided *os = hc_zalloc(sizeof *os);

    if (os == NULL)
        return NULL;
    os->peers = hc_calloc(p2p->rank_num, sizeof(struct one_peer *));
    if (os->peers == NULL) {
        hc_free(os);
        return NULL;
    }
    os->p2p = p2p;
    pthread_mutex_init(&os->lock, NULL);
    hc_list_init(&os->bound);
    return os;
}

static void
own_free(struct one_own *own)
{
    tp_lease_end(own->lease);
    hc_free(own);
}

static void
peer_free(struct one_peer *peer)
{
    struct hc_list *node;

    if (peer == NULL)
        return;
    while ((node = hc_list_pop_front(&peer->own)) != NULL)
        own_free(HC_CONTAINER(node, struct one_own, in_peer));
    while ((node = peer->far.next) != &peer->far)
        one_far_forget(peer, HC_CONTAINER(node, struct one_far, in_peer));
    one_mail_done(&peer->exchange);
    one_mail_done(&peer->prepare);
    hc_free(peer);
}

static void
state_free(struct one_sided *os)
{
    global_unbind_all(os);
    for (uint32_t i = 0; i < os->p2p->rank_num; i++)
        peer_free(os->peers[i]);
    pthread_mutex_destroy(&os->lock);
    hc_free(os->announcement);
    hc_free(os->peers);
    hc_free(os);
}

HcclResult
one_sided_hold(HcclComm comm, struct one_sided **out)
{
    struct one_sided *os, *fresh;
    struct p2p *p2p;
    HcclResult rc = p2p_hold(comm, &p2p);

    if (rc != HCCL_SUCCESS)
        return rc;
    os = atomic_load_explicit(&p2p->one_sided, memory_order_acquire);
    if (os == NULL) {
        fresh = state_new(p2p);
        if (fresh == NULL) {
            p2p_release(p2p);
            return HCCL_E_MEMORY;
        }
        if (atomic_compare_exchange_strong(&p2p->one_sided, &os, fresh))
            os = fresh;
        else
            state_free(fresh); /* another thread was faster */
    }
    *out = os;
    return HCCL_SUCCESS;
}

void
one_sided_fini(struct p2p *p2p)
{
    struct one_sided *os = atomic_exchange(&p2p->one_sided, NULL);

    if (os != NULL)
        state_free(os);
}

struct one_peer *
one_sided_peer(struct one_sided *os, uint32_t rank)
{
    struct one_peer *peer = os->peers[rank];

    if (peer != NULL)
        return peer;
    peer = hc_zalloc(sizeof *peer);
    if (peer == NULL)
        return NULL;
    peer->rank = rank;
    hc_list_init(&peer->own);
    hc_list_init(&peer->far);
    os->peers[rank] = peer;
    return peer;
}

struct p2p_pair *
one_sided_pair(struct one_sided *os, uint32_t rank)
{
    struct p2p *p2p = os->p2p;
    struct p2p_pair *pair;

    hc_spin_lock(&p2p->lock);
    pair = p2p->pairs[rank];
    if (pair != NULL && pair->far == NULL) /* set last, and under the lock */
        pair = NULL;
    p2p_unlock(p2p);
    return pair;
}

HcclResult
one_sided_rank_check(const struct one_sided *os, uint32_t rank, const char *function)
{
    HcclResult rc = comm_rank_check(os->p2p->comm, rank, function);

    if (rc != HCCL_SUCCESS || rank != os->p2p->rank)
        return rc;
    LOG_ERROR(P2P, "%s: rank %u is this rank itself: give another one", function, rank);
    return HCCL_E_PARA;
}

/* ---- descriptions ---- */

HcclResult
one_sided_record(struct one_record *record, const CommMem *mem, uint64_t lease)
{
    *record = (struct one_record){.magic = MAGIC, .type = (int32_t)mem->type};
    return tp_region_of(mem->addr, mem->size, lease, &record->region);
}

static bool
size_fits(int type, uint64_t size)
{
    return size > 0 && size <= (type == COMM_MEM_TYPE_DEVICE ? DEVICE_MOST : HOST_MOST);
}

bool
one_sided_record_valid(const struct one_record *record)
{
    uint64_t end;

    return record->magic == MAGIC &&
           (record->type == COMM_MEM_TYPE_DEVICE || record->type == COMM_MEM_TYPE_HOST) &&
           record->region.addr != 0 && record->region.lease != 0 &&
           size_fits(record->type, record->region.len) &&
           !__builtin_add_overflow(record->region.addr, record->region.len, &end);
}

HcclResult
one_sided_check(const char *function, const CommMem *mem)
{
    struct rt_range range;
    uint64_t end;

    if (mem->type != COMM_MEM_TYPE_DEVICE && mem->type != COMM_MEM_TYPE_HOST) {
        LOG_ERROR(P2P, "%s: memory of type %d: 0 is device memory, 1 host memory", function,
                  (int)mem->type);
        return HCCL_E_PARA;
    }
    if (!size_fits(mem->type, mem->size) ||
        __builtin_add_overflow((uint64_t)(uintptr_t)mem->addr, mem->size, &end)) {
        LOG_ERROR(P2P,
                  "%s: %llu bytes at %p cannot be registered: give 1 byte to 64 GiB of device "
                  "memory, or to 1 TiB of host memory",
                  function, (unsigned long long)mem->size, mem->addr);
        return HCCL_E_PARA;
    }
    return rt_result(rt_mem_check(mem->addr, mem->size, function, "the memory", &range));
}

/* ---- register, for one peer ---- */

static struct one_own *
own_find(const struct one_peer *peer, const CommMem *mem)
{
    HC_LIST_EACH (node, &peer->own) {
        struct one_own *own = HC_CONTAINER(node, struct one_own, in_peer);

        if (own->mem.addr == mem->addr && own->mem.size == mem->size && own->mem.type == mem->type)
            return own;
    }
    return NULL;
}

static HcclResult
own_new(struct one_sided *os, struct one_peer *peer, const CommMem *mem, struct one_own **out)
{
    struct one_own *own;
    HcclResult rc;

    if (peer->own_num == ONE_SIDED_MOST) {
        LOG_ERROR(P2P,
                  "HcclRegisterMem: rank %u has registered %u memories for rank %u, which is the "
                  "most: deregister one",
                  os->p2p->rank, ONE_SIDED_MOST, peer->rank);
        return HCCL_E_PARA;
    }
    own = hc_zalloc(sizeof *own);
    if (own == NULL)
        return HCCL_E_MEMORY;
    rc = tp_lease_begin(&own->lease);
    if (rc == HCCL_SUCCESS)
        rc = one_sided_record(&own->desc.record, mem, own->lease);
    if (rc != HCCL_SUCCESS) {
        tp_lease_end(own->lease);
        hc_free(own);
        return rc;
    }
    own->mem = *mem;
    own->desc.owner = os->p2p->rank;
    own->desc.peer = peer->rank;
    hc_list_push_back(&peer->own, &own->in_peer);
    peer->own_num++;
    *out = own;
    return HCCL_SUCCESS;
}

HcclResult
one_sided_register(struct one_sided *os, uint32_t rank, const CommMem *mem, HcclMemDesc *desc)
{
    HcclResult rc = HCCL_SUCCESS;
    struct one_own *own = NULL;
    struct one_peer *peer;

    pthread_mutex_lock(&os->lock);
    peer = one_sided_peer(os, rank);
    if (peer == NULL)
        rc = HCCL_E_MEMORY;
    else
        own = own_find(peer, mem);
    if (rc == HCCL_SUCCESS && own == NULL)
        rc = own_new(os, peer, mem, &own);
    if (rc == HCCL_SUCCESS) {
        own->registrations++;
        memcpy(desc, &own->desc, sizeof *desc);
    }
    pthread_mutex_unlock(&os->lock);
    return rc;
}

static struct one_own *
own_of(struct one_sided *os, const HcclMemDesc *raw, struct one_peer **owner)
{
    struct one_desc desc;
    struct one_peer *peer;

    memcpy(&desc, raw, sizeof desc);
    peer = desc.peer < os->p2p->rank_num ? os->peers[desc.peer] : NULL;
    if (peer == NULL)
        return NULL;
    HC_LIST_EACH (node, &peer->own) {
        struct one_own *own = HC_CONTAINER(node, struct one_own, in_peer);

        if (memcmp(&own->desc, &desc, sizeof desc) == 0) {
            *owner = peer;
            return own;
        }
    }
    return NULL;
}

HcclResult
one_sided_deregister(struct one_sided *os, const HcclMemDesc *desc)
{
    struct one_peer *peer = NULL;
    struct one_own *own;
    bool found, last;

    pthread_mutex_lock(&os->lock);
    own = own_of(os, desc, &peer);
    found = own != NULL;
    last = found && --own->registrations == 0;
    if (last) {
        hc_list_remove(&own->in_peer);
        peer->own_num--;
    }
    pthread_mutex_unlock(&os->lock);
    if (last)
        own_free(own); /* S1 */
    if (found)
        return HCCL_SUCCESS;
    LOG_ERROR(P2P,
              "HcclDeregisterMem: rank %u has not registered this: give a description that "
              "HcclRegisterMem filled in on this communicator, once for each registration",
              os->p2p->rank);
    return HCCL_E_NOT_FOUND;
}

static bool
holds(const CommMem *mem, const void *addr, uint64_t len)
{
    uint64_t start = (uint64_t)(uintptr_t)mem->addr, at = (uint64_t)(uintptr_t)addr;

    return at >= start && at - start <= mem->size && len <= mem->size - (at - start);
}

bool
one_sided_is_own(struct one_sided *os, const struct one_peer *peer, const void *addr, uint64_t len)
{
    HC_LIST_EACH (node, &peer->own) {
        if (holds(&HC_CONTAINER(node, struct one_own, in_peer)->mem, addr, len))
            return true;
    }
    HC_LIST_EACH (node, &os->bound) {
        if (holds(&HC_CONTAINER(node, struct one_bound, in_os)->mem, addr, len))
            return true;
    }
    return false;
}

/* ---- memory replaced under its addresses ---- */

/* Whether peers that have been told `record` still reach what `mem` overlaps of it. */
static bool
record_holds(const struct one_record *record, const CommMem *mem)
{
    uint64_t start = record->region.addr, at = (uint64_t)(uintptr_t)mem->addr;
    struct tp_region now; /* only its place counts, which is good also if the call fails */

    if (at >= start + record->region.len || start >= at + mem->size)
        return true;
    (void)tp_region_of((void *)(uintptr_t)start, record->region.len, record->region.lease, &now);
    return now.place.file == record->region.place.file &&
           now.place.offset == record->region.place.offset;
}

static bool
all_hold(struct one_sided *os, const CommMem *mem)
{
    HC_LIST_EACH (node, &os->bound) {
        if (!record_holds(&HC_CONTAINER(node, struct one_bound, in_os)->record, mem))
            return false;
    }
    for (uint32_t i = 0; i < os->p2p->rank_num; i++) {
        const struct one_peer *peer = os->peers[i];

        if (peer == NULL)
            continue;
        HC_LIST_EACH (node, &peer->own) {
            if (!record_holds(&HC_CONTAINER(node, struct one_own, in_peer)->desc.record, mem))
                return false;
        }
    }
    return true;
}

HcclResult
one_sided_remapped(struct one_sided *os, const CommMem *mem)
{
    bool hold;

    pthread_mutex_lock(&os->lock);
    hold = all_hold(os, mem);
    pthread_mutex_unlock(&os->lock);
    if (hold)
        return HCCL_SUCCESS;
    LOG_ERROR(P2P,
              "HcclRemapRegistedMemory: the memory at %p (%llu bytes) has been replaced, and peers "
              "know the one that was there: deregister it, register it again and exchange that",
              mem->addr, (unsigned long long)mem->size);
    return HCCL_E_NOT_SUPPORT;
}
