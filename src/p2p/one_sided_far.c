/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "p2p/one_sided.h"

/* ---- known ---- */

void
one_far_release(struct one_far *far)
{
    struct tp_conn *conn = far->pair->conn;

    if (atomic_fetch_sub_explicit(&far->refs, 1, memory_order_acq_rel) > 1)
        return;
    if (far->reached)
        conn->ops->unreach(conn, &far->desc.record.region, far->local);
    hc_free(far);
}

void
one_far_forget(struct one_peer *peer, struct one_far *far)
{
    hc_list_remove(&far->in_peer);
    peer->far_num--;
    one_far_release(far);
}

static bool
far_offered(const struct one_far *far)
{
    struct tp_conn *conn = far->pair->conn;

    return conn->ops->leased(conn, far->desc.record.region.lease);
}

static struct one_far *
far_find(const struct one_peer *peer, const struct one_desc *desc)
{
    HC_LIST_EACH (node, &peer->far) {
        struct one_far *far = HC_CONTAINER(node, struct one_far, in_peer);

        if (memcmp(&far->desc, desc, sizeof *desc) == 0)
            return far;
    }
    return NULL;
}

/* Makes room: what its owner has taken back and nobody has enabled is of no use. */
static void
far_sweep(struct one_peer *peer)
{
    HC_LIST_EACH_SAFE (node, &peer->far) {
        struct one_far *far = HC_CONTAINER(node, struct one_far, in_peer);

        if (far->enabled == 0 && !far_offered(far))
            one_far_forget(peer, far);
    }
}

HcclResult
one_far_learn(struct one_peer *peer, struct p2p_pair *pair, const struct one_desc *desc, bool bound)
{
    struct one_far *far;

    if (far_find(peer, desc) != NULL)
        return HCCL_SUCCESS;
    if (peer->far_num >= 2 * ONE_SIDED_MOST)
        far_sweep(peer);
    if (peer->far_num >= 2 * ONE_SIDED_MOST) { /* exchanged and bound ones */
        LOG_ERROR(P2P,
                  "rank %u offers more than %u memories: deregister, there, what is not needed "
                  "any more, and disable it here",
                  peer->rank, ONE_SIDED_MOST);
        return HCCL_E_PARA;
    }
    far = hc_zalloc(sizeof *far);
    if (far == NULL)
        return HCCL_E_MEMORY;
    far->refs = 1;
    far->pair = pair;
    far->desc = *desc;
    far->bound = bound;
    hc_list_push_back(&peer->far, &far->in_peer);
    peer->far_num++;
    return HCCL_SUCCESS;
}

/* ---- mapped ---- */

/* A plain address where there can be one. What stands for other memory stays until the connection
 * ends, so it is made once for each registration. */
static HcclResult
far_map(struct one_far *far, const char *function)
{
    struct tp_conn *conn = far->pair->conn;
    const struct tp_region *region = &far->desc.record.region;
    char why[P2P_WHY_LEN];
    HcclResult rc;

    if (far->local != NULL)
        return HCCL_SUCCESS;
    rc = conn->ops->reach(conn, region, &far->local);
    far->reached = rc == HCCL_SUCCESS;
    if (rc == HCCL_E_NOT_SUPPORT)
        rc = conn->ops->map(conn, region, &far->local);
    if (rc != HCCL_SUCCESS)
        far->local = NULL;
    if (rc == HCCL_E_REMOTE) {
        pair_lost(far->pair, why, sizeof why);
        LOG_ERROR(P2P, "%s: cannot reach the memory of rank %u: %s", function, far->pair->peer,
                  why);
    }
    return rc;
}

/* Gives back what far_map made, when no batch uses it. */
static void
far_unmap(struct one_far *far)
{
    struct tp_conn *conn = far->pair->conn;

    if (!far->reached || atomic_load_explicit(&far->refs, memory_order_acquire) > 1)
        return;
    conn->ops->unreach(conn, &far->desc.record.region, far->local);
    far->reached = false;
    far->local = NULL;
}

/* ---- enabled ---- */

/* What the description stands for; NULL, after one message: nothing, and *rc says which. */
static struct one_far *
far_of(struct one_sided *os, const char *function, const HcclMemDesc *raw, HcclResult *rc)
{
    const struct p2p *p2p = os->p2p;
    struct one_far *far = NULL;
    struct one_desc desc;

    memcpy(&desc, raw, sizeof desc);
    if (desc.owner < p2p->rank_num && os->peers[desc.owner] != NULL)
        far = far_find(os->peers[desc.owner], &desc);
    if (far != NULL)
        return far;
    *rc = HCCL_E_NOT_FOUND;
    if (!one_sided_record_valid(&desc.record)) {
        LOG_ERROR(P2P,
                  "%s: rank %u: the description is a program's own text: only those that "
                  "HcclRegisterMem fills in stand for memory",
                  function, p2p->rank);
        *rc = HCCL_E_PARA;
    } else {
        LOG_ERROR(P2P,
                  "%s: rank %u has no such description from rank %u: HcclExchangeMemDesc with its "
                  "owner comes first",
                  function, p2p->rank, desc.owner);
    }
    return NULL;
}

HcclResult
one_far_enable(struct one_sided *os, const HcclMemDesc *desc, CommMem *mem)
{
    HcclResult rc = HCCL_SUCCESS;
    struct one_far *far = far_of(os, "HcclEnableMemAccess", desc, &rc);

    if (far == NULL)
        return rc;
    rc = far_map(far, "HcclEnableMemAccess");
    if (rc != HCCL_SUCCESS)
        return rc;
    far->enabled++;
    *mem = (CommMem){.type = (CommMemType)far->desc.record.type,
                     .addr = (void *)(uintptr_t)far->desc.record.region.addr,
                     .size = far->desc.record.region.len};
    return HCCL_SUCCESS;
}

HcclResult
one_far_disable(struct one_sided *os, const HcclMemDesc *desc)
{
    HcclResult rc = HCCL_SUCCESS;
    struct one_far *far = far_of(os, "HcclDisableMemAccess", desc, &rc);

    if (far == NULL)
        return rc;
    if (far->enabled == 0) {
        LOG_ERROR(P2P, "HcclDisableMemAccess: rank %u has not enabled this memory of rank %u",
                  os->p2p->rank, far->pair->peer);
        return HCCL_E_NOT_FOUND;
    }
    if (--far->enabled == 0)
        far_unmap(far);
    return HCCL_SUCCESS;
}

/* ---- used ---- */

static bool
far_holds(const struct one_far *far, uint64_t addr, uint64_t len)
{
    const struct tp_region *region = &far->desc.record.region;

    if (!far->bound && far->enabled == 0)
        return false;
    return addr >= region->addr && addr - region->addr <= region->len &&
           len <= region->len - (addr - region->addr);
}

HcclResult
one_far_find(struct one_peer *peer, const char *function, const void *addr, uint64_t len,
             struct one_far **out, void **local)
{
    uint64_t at = (uint64_t)(uintptr_t)addr;
    struct one_far *best = NULL;
    HcclResult rc;

    HC_LIST_EACH (node, &peer->far) {
        struct one_far *far = HC_CONTAINER(node, struct one_far, in_peer);

        if (!far_holds(far, at, len))
            continue;
        best = far;
        if (far_offered(far)) /* the owner may have used its addresses anew */
            break;
    }
    if (best == NULL) {
        LOG_ERROR(P2P,
                  "%s: %llu bytes at %p of rank %u are not inside one memory of it that is "
                  "enabled here or was bound there when the communicator was prepared",
                  function, (unsigned long long)len, addr, peer->rank);
        return HCCL_E_PARA;
    }
    rc = far_map(best, function);
    if (rc != HCCL_SUCCESS)
        return rc;
    atomic_fetch_add_explicit(&best->refs, 1, memory_order_relaxed);
    *out = best;
    *local = (char *)best->local + (at - best->desc.record.region.addr);
    return HCCL_SUCCESS;
}
