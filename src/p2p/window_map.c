/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory of the other ranks, as addresses of this process.
 *
 * Memory in shared files is reached for as long as the window lives. Other memory of another
 * process is imported: its address here is a stand-in (transport.h), and accesses go through the
 * connection, under the lease that its owner gave.
 */
#include <string.h>

#include "base/log.h"
#include "p2p/window.h"

#define IMPORT_MS 10000

HcclResult
window_describe(struct window *window, void *addr, uint64_t size, uint32_t access,
                struct window_hello *hello)
{
    uint64_t file, offset,
        len = sizeof *window->control + window->rank_num * sizeof window->control->left[0];
    HcclResult rc;

    hello->size = size;
    hello->access = access;
    rc = tp_region_of(window->control, len, 0, &hello->control);
    hello->memory = (struct tp_region){.addr = (uintptr_t)addr, .len = size};
    if (rc != HCCL_SUCCESS || size == 0 || !window->beyond)
        return rc; /* all ranks share the addresses */
    if (!rt_shared_find(addr, size, &file, &offset))
        rc = tp_lease_begin(&window->lease);
    if (rc == HCCL_SUCCESS && window->lease != 0)
        rc = res_listen(&hello->address);
    if (rc == HCCL_SUCCESS)
        rc = tp_region_of(addr, size, window->lease, &hello->memory);
    return rc;
}

/* Small windows get small blocks, so that ranks seldom wait for each other. */
static uint32_t
block_of(uint64_t size)
{
    uint32_t block = WINDOW_BLOCK_LEAST;

    while (block < WINDOW_BLOCK_MOST && size >> block > WINDOW_STRIPES)
        block++;
    return block;
}

/* ---- one rank ---- */

static HcclResult
nonsense(const struct window *window, const char *function, uint32_t rank, const char *what)
{
    LOG_ERROR(P2P, "%s: what rank %u of %s tells of its %s makes no sense", function, rank,
              comm_name(window->p2p->comm), what);
    return HCCL_E_REMOTE;
}

static HcclResult
map_control(struct window *window, const char *function, uint32_t rank)
{
    struct window_peer *peer = &window->peers[rank];
    void *local = NULL;
    HcclResult rc;

    if (peer->far_control.len <
        sizeof *window->control + window->rank_num * sizeof window->control->left[0])
        return nonsense(window, function, rank, "control block");
    rc = peer->conn->ops->reach(peer->conn, &peer->far_control, &local);
    if (rc == HCCL_E_NOT_SUPPORT)
        return nonsense(window, function, rank, "control block");
    if (rc != HCCL_SUCCESS)
        return rc;
    peer->control = local;
    peer->has_control = true;
    return (uintptr_t)local % P2P_LINE == 0 ? rc
                                            : nonsense(window, function, rank, "control block");
}

static HcclResult
map_memory(struct window *window, const char *function, uint32_t rank,
           const struct window_hello *hello)
{
    struct window_peer *peer = &window->peers[rank];
    void *local = NULL;
    HcclResult rc;

    if (peer->size == 0)
        return HCCL_SUCCESS;
    if (peer->memory.len != peer->size)
        return nonsense(window, function, rank, "memory");
    rc = peer->conn->ops->reach(peer->conn, &peer->memory, &local);
    if (rc == HCCL_SUCCESS) {
        peer->reached = true;
        peer->addr = local;
    }
    if (rc != HCCL_E_NOT_SUPPORT)
        return rc;
    peer->owner = hello->address;
    peer->lease = peer->memory.lease;
    rc = tp_import(&peer->owner, &peer->memory, IMPORT_MS, &local);
    if (rc == HCCL_SUCCESS) {
        peer->imported = true;
        peer->stand_in = local;
    }
    return rc;
}

static void
take_pair(struct window *window, uint32_t rank)
{
    struct p2p *p2p = window->p2p;
    struct window_peer *peer = &window->peers[rank];

    hc_spin_lock(&p2p->lock);
    peer->channel = p2p->pairs[rank]->channel; /* connected: it has sent something */
    peer->conn = p2p->pairs[rank]->conn;
    p2p_unlock(p2p);
}

static HcclResult
map_peer(struct window *window, const char *function, uint32_t rank,
         const struct window_hello *hello)
{
    struct window_peer *peer = &window->peers[rank];
    char why[P2P_WHY_LEN];
    HcclResult rc;

    peer->size = hello->size;
    peer->access = hello->access;
    peer->block = block_of(hello->size);
    peer->owner_addr = hello->memory.addr;
    if (rank == window->rank) {
        peer->control = window->control;
        peer->addr = hello->size == 0 ? NULL : (uint8_t *)(uintptr_t)hello->memory.addr;
        return HCCL_SUCCESS;
    }
    take_pair(window, rank);
    peer->memory = hello->memory;
    peer->far_control = hello->control;
    rc = map_control(window, function, rank);
    if (rc == HCCL_SUCCESS)
        rc = map_memory(window, function, rank, hello);
    if (rc == HCCL_E_REMOTE && res_channel_ended(peer->channel, why, sizeof why))
        LOG_ERROR(P2P, "%s: cannot reach the memory of rank %u of %s: %s", function, rank,
                  comm_name(window->p2p->comm), why);
    return rc;
}

HcclResult
window_map(struct window *window, const char *function, const struct window_hello *all)
{
    HcclResult rc = HCCL_SUCCESS;

    for (uint32_t i = 0; i < window->rank_num && rc == HCCL_SUCCESS; i++)
        rc = map_peer(window, function, i, &all[i]);
    return rc;
}

void
window_unmap(struct window *window)
{
    for (uint32_t i = 0; i < window->rank_num; i++) {
        struct window_peer *peer = &window->peers[i];

        if (peer->reached)
            peer->conn->ops->unreach(peer->conn, &peer->memory, peer->addr);
        if (peer->imported)
            tp_unimport(&peer->owner, &peer->memory, peer->stand_in);
        if (peer->has_control)
            peer->conn->ops->unreach(peer->conn, &peer->far_control, peer->control);
    }
}
