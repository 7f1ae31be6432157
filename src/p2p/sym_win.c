/* SPDX-License-Identifier: BSD-3-Clause */
/* How symmetric windows come, are found, and go. The invariants are in sym_win.h. */
#include "p2p/sym_win.h"

#include <pthread.h>

#include "base/alloc.h"
#include "base/guard.h"
#include "base/log.h"
#include "p2p/window.h"

#define REGISTER "HcclCommSymWinRegister"

static void sym_win_free(void *obj);

static struct hc_table table = HC_TABLE("symmetric window", HC_KIND_SYM_WIN, sym_win_free);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* S1 */
static struct hc_list all = {&all, &all};                /* of struct sym_win; under `lock` */

/* ---- create ---- */

static void
sym_win_free(void *obj)
{
    hc_free(obj);
}

static struct sym_win *
sym_win_new(const struct p2p *p2p, const struct sym_win_desc *desc, uint32_t number)
{
    struct sym_win *window = hc_zalloc(sizeof *window + p2p->rank_num * sizeof window->peers[0]);

    if (window == NULL)
        return NULL;
    window->comm = desc->comm;
    window->p2p = p2p;
    window->rank = p2p->rank;
    window->rank_num = p2p->rank_num;
    window->number = number;
    window->uses = 1;
    window->addr = desc->addr;
    window->size = desc->size;
    window->handle = hc_handle_reserve(&table);
    if (window->handle != 0)
        return window;
    sym_win_free(window);
    return NULL;
}

static void
unmap(struct sym_win *window)
{
    for (uint32_t i = 0; i < window->rank_num; i++) {
        struct sym_peer *peer = &window->peers[i];

        if (peer->counted)
            res_peer_memory_remove(peer->addr, window->size);
        if (peer->reached)
            peer->conn->ops->unreach(peer->conn, &peer->region, peer->addr);
    }
}

/* It never came to be. */
static void
sym_win_undo(struct sym_win *window)
{
    if (window == NULL)
        return;
    unmap(window);
    hc_handle_unreserve(&table, window->handle);
    sym_win_free(window);
}

/* S2: the caller has taken it out of the list. */
static void
sym_win_end(struct sym_win *window)
{
    uint64_t handle = window->handle;

    hc_handle_hold_more(&table, handle);
    (void)hc_handle_close_guarded(&table, handle);
    unmap(window);
    hc_handle_release(&table, handle);
}

static bool
holds(const struct sym_win *window, const void *addr, uint64_t size)
{
    uint64_t offset = (uintptr_t)addr - (uintptr_t)window->addr; /* large when it is below */

    return offset < window->size && size <= window->size - offset;
}

/* The first of `comm`'s windows that holds the range. Under the lock. */
static struct sym_win *
find_locked(HcclComm comm, const void *addr, uint64_t size)
{
    HC_LIST_EACH (node, &all) {
        struct sym_win *window = HC_CONTAINER(node, struct sym_win, in_all);

        if (window->comm == comm && holds(window, addr, size))
            return window;
    }
    return NULL;
}

/* One registration less. The window if it was the last one: no longer listed, and the caller's to
 * end (S2). Under the lock. */
static struct sym_win *
use_less(struct sym_win *window)
{
    if (--window->uses > 0)
        return NULL;
    hc_list_remove(&window->in_all);
    return window;
}

static void
give_back(struct sym_win *window)
{
    struct sym_win *last;

    if (window == NULL)
        return;
    pthread_mutex_lock(&lock);
    last = use_less(window);
    pthread_mutex_unlock(&lock);
    if (last != NULL)
        sym_win_end(last);
}

/* The window that the memory lies in already, with one use more, for as long as it is not clear
 * whether the others say the same; or NULL. */
static struct sym_win *
outer(const struct sym_win_desc *desc, struct window_hello *own)
{
    struct sym_win *window;

    pthread_mutex_lock(&lock);
    window = find_locked(desc->comm, desc->addr, desc->size);
    if (window != NULL) {
        window->uses++;
        own->within = window->number;
        own->offset = (uint64_t)((uint8_t *)desc->addr - window->addr);
    }
    pthread_mutex_unlock(&lock);
    return window;
}

static uint64_t
bytes_of(HcclComm comm)
{
    uint64_t bytes = 0;

    pthread_mutex_lock(&lock);
    HC_LIST_EACH (node, &all) {
        const struct sym_win *window = HC_CONTAINER(node, struct sym_win, in_all);

        bytes += window->comm == comm ? window->size : 0;
    }
    pthread_mutex_unlock(&lock);
    return bytes;
}

static HcclResult
check_room(const struct p2p *p2p, const struct sym_win_desc *desc)
{
    uint64_t taken = bytes_of(desc->comm);

    if (taken <= desc->most && desc->size <= desc->most - taken)
        return HCCL_SUCCESS;
    LOG_ERROR(P2P,
              "%s: %llu bytes more than the %llu in windows of %s are above its limit of %llu: "
              "raise hcclSymWinMaxMemSizePerRank (GB) in its configuration",
              REGISTER, (unsigned long long)desc->size, (unsigned long long)taken,
              comm_name(p2p->comm), (unsigned long long)desc->most);
    return HCCL_E_PARA;
}

/* All ranks have told the same, so all find the same. */
static HcclResult
check_alike(const struct p2p *p2p, const struct window_hello *hellos)
{
    for (uint32_t i = 1; i < p2p->rank_num; i++) {
        if (hellos[i].size == hellos[0].size)
            continue;
        LOG_ERROR(P2P,
                  "%s: rank 0 of %s registers %llu bytes, rank %u %llu: give the same size on all "
                  "ranks",
                  REGISTER, comm_name(p2p->comm), (unsigned long long)hellos[0].size, i,
                  (unsigned long long)hellos[i].size);
        return HCCL_E_PARA;
    }
    return HCCL_SUCCESS;
}

/* The memory of every rank lies at the same place of the same window. */
static bool
all_within(const struct p2p *p2p, const struct window_hello *hellos)
{
    for (uint32_t i = 0; i < p2p->rank_num; i++) {
        if (hellos[i].within == 0 || hellos[i].within != hellos[0].within ||
            hellos[i].offset != hellos[0].offset)
            return false;
    }
    return true;
}

/* Memory of another process is unknown to this one's runtime; that of this process is not. */
static HcclResult
count_peer(struct sym_win *window, const struct comm *comm, uint32_t rank)
{
    struct sym_peer *peer = &window->peers[rank];
    HcclResult rc;

    if (comm_rank_is_here(comm, rank))
        return HCCL_SUCCESS;
    rc = res_peer_memory_add(peer->addr, window->size, comm_fact(comm, rank)->device);
    peer->counted = rc == HCCL_SUCCESS;
    return rc;
}

static HcclResult
map_peer(struct sym_win *window, struct p2p *p2p, uint32_t rank, const struct window_hello *hello)
{
    struct sym_peer *peer = &window->peers[rank];
    char why[P2P_WHY_LEN];
    struct p2p_pair *pair;
    void *local = NULL;
    HcclResult rc;

    if (rank == window->rank) {
        peer->addr = window->addr;
        return HCCL_SUCCESS;
    }
    hc_spin_lock(&p2p->lock);
    pair = p2p->pairs[rank]; /* connected: it has sent something */
    p2p_unlock(p2p);
    peer->conn = pair->conn;
    peer->region = hello->memory;
    if (peer->region.len != window->size) {
        LOG_ERROR(P2P, "%s: what rank %u of %s tells of its memory makes no sense", REGISTER, rank,
                  comm_name(p2p->comm));
        return HCCL_E_REMOTE;
    }
    rc = peer->conn->ops->reach(peer->conn, &peer->region, &local);
    if (rc == HCCL_SUCCESS) {
        peer->reached = true;
        peer->addr = local;
        return count_peer(window, p2p->comm, rank);
    }
    if (rc == HCCL_E_NOT_SUPPORT) {
        LOG_ERROR(P2P, "%s: the memory of rank %u of %s cannot be mapped here", REGISTER, rank,
                  comm_name(p2p->comm));
    } else if (rc == HCCL_E_REMOTE && res_channel_ended(pair->channel, why, sizeof why)) {
        LOG_ERROR(P2P, "%s: cannot reach the memory of rank %u of %s: %s", REGISTER, rank,
                  comm_name(p2p->comm), why);
    }
    return rc;
}

static HcclResult
map(struct sym_win *window, struct p2p *p2p, const struct window_hello *hellos)
{
    HcclResult rc = HCCL_SUCCESS;

    for (uint32_t i = 0; i < window->rank_num && rc == HCCL_SUCCESS; i++)
        rc = map_peer(window, p2p, i, &hellos[i]);
    return rc;
}

/* What the ranks come to: *fresh says that they take `window`, not the one in which it lies. */
static HcclResult
agree(struct p2p *p2p, struct sym_win *window, uint32_t number, struct window_hello *own,
      bool *fresh)
{
    struct window_hello *hellos = hc_calloc(p2p->rank_num, sizeof *hellos);
    HcclResult rc;

    if (hellos == NULL) {
        rc = own->rc != HCCL_SUCCESS ? (HcclResult)own->rc : HCCL_E_MEMORY;
        window_excuse(p2p, REGISTER, number, rc);
        return rc;
    }
    rc = window_agree(p2p, REGISTER, number, own, hellos);
    if (rc == HCCL_SUCCESS)
        rc = check_alike(p2p, hellos);
    if (rc == HCCL_SUCCESS && !all_within(p2p, hellos)) {
        own->rc = map(window, p2p, hellos);
        rc = window_agree(p2p, REGISTER, number, own, hellos);
        *fresh = rc == HCCL_SUCCESS;
    }
    hc_free(hellos);
    return rc;
}

static void
publish(struct sym_win *window)
{
    hc_handle_publish(&table, window->handle, window);
    pthread_mutex_lock(&lock);
    hc_list_push_back(&all, &window->in_all);
    pthread_mutex_unlock(&lock);
}

HcclResult
sym_win_register(struct p2p *p2p, const struct sym_win_desc *desc, HcclCommSymWindow *handle)
{
    uint32_t number = atomic_fetch_add(&p2p->window_seq, 1);
    struct window_hello own = {.kind = WINDOW_SYMMETRIC, .size = desc->size};
    struct sym_win *window = sym_win_new(p2p, desc, number + 1);
    struct sym_win *within = outer(desc, &own);
    HcclResult rc = window == NULL ? HCCL_E_MEMORY : HCCL_SUCCESS;
    bool fresh = false;

    if (rc == HCCL_SUCCESS && within == NULL)
        rc = check_room(p2p, desc);
    if (rc == HCCL_SUCCESS)
        rc = tp_region_of(desc->addr, desc->size, 0, &own.memory);
    own.rc = rc;
    rc = agree(p2p, window, number, &own, &fresh);
    if (fresh)
        publish(window);
    else
        sym_win_undo(window);
    if (rc == HCCL_SUCCESS)
        *handle = (HcclCommSymWindow)(uintptr_t)(fresh ? window : within)->handle;
    if (rc != HCCL_SUCCESS || fresh)
        give_back(within);
    return rc;
}

/* ---- end ---- */

static HcclResult
fail_handle(const char *function, HcclCommSymWindow handle)
{
    LOG_ERROR(P2P, "%s: window 0x%llx is not a live one: it is %s", function,
              (unsigned long long)(uintptr_t)handle,
              hc_handle_guess(&table, (uint64_t)(uintptr_t)handle));
    return HCCL_E_PARA;
}

/* The listed window of that handle. Under the lock. */
static struct sym_win *
listed(HcclCommSymWindow handle)
{
    HC_LIST_EACH (node, &all) {
        struct sym_win *window = HC_CONTAINER(node, struct sym_win, in_all);

        if (window->handle == (uint64_t)(uintptr_t)handle)
            return window;
    }
    return NULL;
}

HcclResult
sym_win_deregister(HcclCommSymWindow handle)
{
    struct sym_win *window, *last = NULL;
    struct comm *comm;
    HcclComm owner = NULL;
    bool found;

    pthread_mutex_lock(&lock);
    window = listed(handle);
    if (window != NULL)
        owner = window->comm;
    pthread_mutex_unlock(&lock);
    /* Its connections stay while the communicator is held (S2). */
    if (window == NULL || comm_hold(owner, &comm) != HCCL_SUCCESS)
        return fail_handle("HcclCommSymWinDeregister", handle);
    pthread_mutex_lock(&lock);
    window = listed(handle); /* another thread may have done the same */
    found = window != NULL;
    if (found)
        last = use_less(window);
    pthread_mutex_unlock(&lock);
    if (last != NULL)
        sym_win_end(last);
    comm_release(comm);
    return found ? HCCL_SUCCESS : fail_handle("HcclCommSymWinDeregister", handle);
}

static struct sym_win *
pop_of(const struct p2p *p2p)
{
    struct sym_win *found = NULL;

    pthread_mutex_lock(&lock);
    HC_LIST_EACH (node, &all) {
        struct sym_win *window = HC_CONTAINER(node, struct sym_win, in_all);

        if (window->p2p == p2p)
            found = window;
    }
    if (found != NULL)
        hc_list_remove(&found->in_all);
    pthread_mutex_unlock(&lock);
    return found;
}

void
sym_wins_fini(const struct p2p *p2p)
{
    struct sym_win *window;

    while ((window = pop_of(p2p)) != NULL)
        sym_win_end(window);
}

/* ---- look ---- */

HcclCommSymWindow
sym_win_find(HcclComm comm, const void *addr, uint64_t size, size_t *offset)
{
    HcclCommSymWindow handle = NULL;
    const struct sym_win *window;

    pthread_mutex_lock(&lock);
    window = find_locked(comm, addr, size);
    if (window != NULL) {
        handle = (HcclCommSymWindow)(uintptr_t)window->handle;
        *offset = (size_t)((const uint8_t *)addr - window->addr);
    }
    pthread_mutex_unlock(&lock);
    return handle;
}

static HcclResult
pointer_in(const struct sym_win *window, uint64_t offset, uint32_t rank, void **ptr)
{
    if (rank >= window->rank_num) {
        LOG_ERROR(P2P, "HcclSymWinGetPeerPointer: rank %u is out of range: there are ranks 0 to %u",
                  rank, window->rank_num - 1);
        return HCCL_E_PARA;
    }
    if (offset >= window->size) {
        LOG_ERROR(P2P,
                  "HcclSymWinGetPeerPointer: offset %llu is out of range: the window has %llu "
                  "bytes",
                  (unsigned long long)offset, (unsigned long long)window->size);
        return HCCL_E_PARA;
    }
    *ptr = window->peers[rank].addr + offset;
    return HCCL_SUCCESS;
}

HcclResult
sym_win_pointer(HcclCommSymWindow handle, uint64_t offset, uint32_t rank, void **ptr)
{
    uint64_t number = (uint64_t)(uintptr_t)handle;
    const struct sym_win *window = hc_handle_enter(&table, number);
    HcclResult rc;

    if (window != NULL) {
        rc = pointer_in(window, offset, rank, ptr);
        hc_handle_leave();
        return rc;
    }
    window = hc_handle_hold(&table, number); /* no guard was to be had, or it is not live */
    if (window == NULL)
        return fail_handle("HcclSymWinGetPeerPointer", handle);
    rc = pointer_in(window, offset, rank, ptr);
    hc_handle_release(&table, number);
    return rc;
}
