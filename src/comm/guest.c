/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * guest: what a layer above keeps with a communicator, and the channels it makes for that.
 *
 * U1  The guest is published (seq_cst) before its maker looks whether the communicator is closing
 *     or its fate broken, and whoever closes or breaks publishes that before it looks for a guest.
 *     So one of the two tells the guest; `cut` and `failed` see to it that only one does.
 * U2  It ends when the last hold of the communicator is gone and the fate is disowned: no call of
 *     it runs or comes.
 * U3  `making` is never taken by who cuts or breaks: make() may take long, and may break the fate
 *     itself.
 */
#include <stdio.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/thread.h"
#include "comm/comm_object.h"

#define KEY_LEN 256u
#define SWEEP 2 /* channels looked at for each new one */

/* A channel of the guest, for guest_any(): a number that may be stale. */
struct guest_link {
    struct hc_list in_guest;
    ChannelHandle handle;
};

void
guest_init(struct comm *comm)
{
    pthread_mutex_init(&comm->guest.making, NULL);
    hc_list_init(&comm->guest.links);
}

void
guest_fini(struct comm *comm)
{
    void *own = atomic_load(&comm->guest.own);
    struct hc_list *node;

    if (own != NULL)
        comm->guest.ops->fini(own); /* U2 */
    while ((node = hc_list_pop_front(&comm->guest.links)) != NULL)
        hc_free(HC_CONTAINER(node, struct guest_link, in_guest));
    pthread_mutex_destroy(&comm->guest.making);
}

bool
guest_idle(struct comm *comm)
{
    void *own = atomic_load_explicit(&comm->guest.own, memory_order_acquire);

    return own == NULL || comm->guest.ops->idle(own);
}

void
guest_cut(struct comm *comm)
{
    void *own = atomic_load(&comm->guest.own);

    if (own != NULL && !atomic_exchange(&comm->guest.cut, true))
        comm->guest.ops->cut(own);
}

void
guest_failed(struct comm *comm, const char *why)
{
    void *own = atomic_load(&comm->guest.own);

    if (own != NULL && !atomic_exchange(&comm->guest.failed, true))
        comm->guest.ops->failed(own, why);
}

/* Under `making`. */
static HcclResult
make(struct comm *comm, const struct comm_guest_ops *ops, bool quiet)
{
    char why[COMM_WHY_LEN];
    void *own = NULL;
    HcclResult rc;

    if (atomic_load(&comm->guest.own) != NULL)
        return HCCL_SUCCESS; /* somebody else was faster */
    if (atomic_load(&comm->closing)) {
        if (!quiet)
            LOG_ERROR(COMM, "%s: rank %u is being destroyed: nothing new can begin", comm->name,
                      comm->rank);
        return HCCL_E_UNAVAIL;
    }
    rc = ops->make(comm, &own);
    if (rc != HCCL_SUCCESS)
        return rc;
    comm->guest.ops = ops;
    atomic_store(&comm->guest.own, own); /* U1 */
    if (rt_fate_broken(comm->fate, why, sizeof why))
        guest_failed(comm, why);
    if (atomic_load(&comm->closing))
        guest_cut(comm);
    return HCCL_SUCCESS;
}

static HcclResult
get_or_make(struct comm *comm, const struct comm_guest_ops *ops, bool quiet, void **guest)
{
    void *own = atomic_load_explicit(&comm->guest.own, memory_order_acquire);
    HcclResult rc;
    int cancel;

    if (own != NULL) {
        *guest = own;
        return HCCL_SUCCESS;
    }
    cancel = hc_cancel_off();
    rt_block_begin();
    pthread_mutex_lock(&comm->guest.making);
    rt_block_end();
    rc = make(comm, ops, quiet);
    pthread_mutex_unlock(&comm->guest.making);
    hc_cancel_restore(cancel);
    if (rc == HCCL_SUCCESS)
        *guest = atomic_load(&comm->guest.own);
    return rc;
}

HcclResult
comm_guest(struct comm *comm, const struct comm_guest_ops *ops, void **guest)
{
    return get_or_make(comm, ops, false, guest);
}

HcclResult
comm_guest_of_peer(struct comm *peer, const struct comm_guest_ops *ops, void **guest)
{
    return get_or_make(peer, ops, true, guest);
}

struct rt_fate *
comm_fate(const struct comm *comm)
{
    return comm->fate;
}

/* ---- channels ---- */

static HcclResult
make_key(const struct comm *comm, uint32_t peer, const char *purpose, char key[KEY_LEN])
{
    uint32_t least = comm_number(comm, comm->rank < peer ? comm->rank : peer);
    uint32_t most = comm_number(comm, comm->rank < peer ? peer : comm->rank);
    int len = snprintf(key, KEY_LEN, "%s|%s|%u|%u", comm->world->meet, purpose, least, most);

    if (len > 0 && (uint32_t)len < KEY_LEN)
        return HCCL_SUCCESS;
    LOG_ERROR(COMM, "%s: the purpose \"%.32s...\" of a channel is too long", comm->name, purpose);
    return HCCL_E_INTERNAL;
}

/* Forgets those that have been destroyed, a few at a time: they never become more than those that
 * live. Under the lock. */
static void
sweep(struct comm *comm)
{
    for (int i = 0; i < SWEEP; i++) {
        struct hc_list *node = hc_list_pop_front(&comm->guest.links);

        if (node == NULL)
            return;
        if (res_channel_is_live(HC_CONTAINER(node, struct guest_link, in_guest)->handle))
            hc_list_push_back(&comm->guest.links, node);
        else
            hc_free(HC_CONTAINER(node, struct guest_link, in_guest));
    }
}

HcclResult
comm_connect(struct comm *comm, uint32_t peer, const char *purpose,
             const struct res_region *regions, uint32_t region_num, void (*on_event)(void *arg),
             void *arg, ChannelHandle *channel)
{
    const struct comm_fact *own = comm_fact(comm, comm->rank), *other = comm_fact(comm, peer);
    struct guest_link *link;
    char key[KEY_LEN];
    struct res_channel_desc desc = {.key = key,
                                    .side = comm->rank < peer ? 0 : 1,
                                    .address = other->address,
                                    .fate = comm->fate,
                                    .device = comm->device,
                                    .engine = COMM_ENGINE_CPU,
                                    .protocol = COMM_PROTOCOL_HCCS,
                                    .group = comm->name,
                                    .rank = comm->rank,
                                    .peer = peer,
                                    .elsewhere = other->host == own->host ? NULL : other->host_name,
                                    .regions = regions,
                                    .region_num = region_num,
                                    .terms = comm->terms,
                                    .on_event = on_event,
                                    .event_arg = arg,
                                    .background = true};
    HcclResult rc = make_key(comm, peer, purpose, key);

    if (rc != HCCL_SUCCESS)
        return rc;
    link = hc_zalloc(sizeof *link);
    if (link == NULL)
        return HCCL_E_MEMORY;
    rc = res_channel_create(&desc, &link->handle);
    if (rc != HCCL_SUCCESS) {
        hc_free(link);
        return rc;
    }
    *channel = link->handle;
    pthread_mutex_lock(&comm->lock);
    sweep(comm);
    hc_list_push_back(&comm->guest.links, &link->in_guest);
    pthread_mutex_unlock(&comm->lock);
    return HCCL_SUCCESS;
}

bool
guest_any(struct comm *comm, comm_channel_is is, char *why, size_t len)
{
    bool found = false;

    pthread_mutex_lock(&comm->lock);
    HC_LIST_EACH (node, &comm->guest.links)
        found = found || is(HC_CONTAINER(node, struct guest_link, in_guest)->handle, why, len);
    pthread_mutex_unlock(&comm->lock);
    return found;
}
