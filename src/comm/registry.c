/* SPDX-License-Identifier: BSD-3-Clause */
/* Every communicator of the process, by (device, name): O3. */
#include <string.h>

#include "base/log.h"
#include "comm/comm_object.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* O3 */
static struct hc_list all = {&all, &all};                /* under `lock` */

static struct comm *
find_locked(const char *name, int32_t device, bool open_only)
{
    HC_LIST_EACH (node, &all) {
        struct comm *comm = HC_CONTAINER(node, struct comm, in_registry);

        if ((device < 0 || comm->device == device) && !(open_only && comm->reserved) &&
            strcmp(comm->name, name) == 0)
            return comm;
    }
    return NULL;
}

static HcclResult
fail_name(const char *name, int32_t device)
{
    LOG_ERROR(COMM,
              "device %d has a communicator named \"%s\" already: choose another hcclCommName",
              device, name);
    return HCCL_E_PARA;
}

HcclResult
registry_check(const char *name, int32_t device)
{
    bool taken;

    pthread_mutex_lock(&lock);
    taken = find_locked(name, device, false) != NULL;
    pthread_mutex_unlock(&lock);
    return taken ? fail_name(name, device) : HCCL_SUCCESS;
}

HcclResult
registry_add(struct comm *comm)
{
    bool taken;

    pthread_mutex_lock(&lock);
    taken = find_locked(comm->name, comm->device, false) != NULL;
    comm->reserved = true;
    if (!taken)
        hc_list_push_back(&all, &comm->in_registry);
    pthread_mutex_unlock(&lock);
    return taken ? fail_name(comm->name, comm->device) : HCCL_SUCCESS;
}

void
registry_publish(struct comm *comm)
{
    pthread_mutex_lock(&lock);
    comm->reserved = false;
    pthread_mutex_unlock(&lock);
}

void
registry_remove(struct comm *comm)
{
    pthread_mutex_lock(&lock);
    hc_list_remove(&comm->in_registry);
    pthread_mutex_unlock(&lock);
}

HcclComm
registry_peer(const struct comm *comm, uint32_t rank)
{
    HcclComm handle = NULL;

    pthread_mutex_lock(&lock);
    HC_LIST_EACH (node, &all) {
        struct comm *peer = HC_CONTAINER(node, struct comm, in_registry);

        if (!peer->reserved && peer->rank == rank && strcmp(peer->world->id, comm->world->id) == 0)
            handle = peer->handle;
    }
    pthread_mutex_unlock(&lock);
    return handle;
}

HcclComm
registry_find(const char *name, int32_t device)
{
    HcclComm handle = NULL;
    struct comm *comm;

    pthread_mutex_lock(&lock);
    comm = device < 0 ? NULL : find_locked(name, device, true);
    if (comm == NULL)
        comm = find_locked(name, -1, true);
    if (comm != NULL)
        handle = comm->handle;
    pthread_mutex_unlock(&lock);
    return handle;
}
