/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * exchange: bytes that operator packages tell each other while channels connect, and the
 * callbacks they leave for messages of their kernels.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "comm/comm_object.h"

/* What a peer told, until it is read. */
struct comm_info {
    struct hc_list in_comm;
    uint32_t peer;
    uint32_t len;
    uint8_t data[]; /* [len] */
};

struct comm_task {
    struct hc_list in_comm;
    comm_task_fn callback;
    char tag[]; /* with its NUL */
};

HcclResult
exchange_add(struct comm *comm, const void *data, uint32_t len)
{
    void *copy = hc_zalloc(len);

    if (copy == NULL)
        return HCCL_E_MEMORY;
    memcpy(copy, data, len);
    pthread_mutex_lock(&comm->lock);
    hc_free(comm->info);
    comm->info = copy;
    comm->info_len = len;
    pthread_mutex_unlock(&comm->lock);
    return HCCL_SUCCESS;
}

uint32_t
exchange_peek(struct comm *comm, uint8_t data[EXCHANGE_MOST])
{
    uint32_t len;

    pthread_mutex_lock(&comm->lock);
    len = comm->info_len;
    if (len > 0)
        memcpy(data, comm->info, len);
    pthread_mutex_unlock(&comm->lock);
    return len;
}

void
exchange_reset(struct comm *comm)
{
    pthread_mutex_lock(&comm->lock);
    hc_free(comm->info);
    comm->info = NULL;
    comm->info_len = 0;
    pthread_mutex_unlock(&comm->lock);
}

/* Under the lock. */
static struct comm_info *
find_info(struct comm *comm, uint32_t peer)
{
    HC_LIST_EACH (node, &comm->infos) {
        struct comm_info *info = HC_CONTAINER(node, struct comm_info, in_comm);

        if (info->peer == peer)
            return info;
    }
    return NULL;
}

static void
info_destroy(struct comm_info *info)
{
    if (info == NULL)
        return;
    hc_list_remove(&info->in_comm);
    hc_free(info);
}

HcclResult
exchange_received(struct comm *comm, uint32_t peer, const void *data, uint32_t len)
{
    struct comm_info *info = hc_zalloc(sizeof *info + len);

    if (info == NULL)
        return HCCL_E_MEMORY;
    info->peer = peer;
    info->len = len;
    memcpy(info->data, data, len);
    pthread_mutex_lock(&comm->lock);
    info_destroy(find_info(comm, peer));
    hc_list_push_back(&comm->infos, &info->in_comm);
    pthread_mutex_unlock(&comm->lock);
    return HCCL_SUCCESS;
}

HcclResult
exchange_get(struct comm *comm, uint32_t peer, uint32_t len, void *data, uint32_t *actual)
{
    struct comm_info *info;
    HcclResult rc = HCCL_SUCCESS;
    uint32_t has = 0;

    pthread_mutex_lock(&comm->lock);
    info = find_info(comm, peer);
    if (info != NULL) {
        has = info->len;
        if (has == len) {
            memcpy(data, info->data, len);
            info_destroy(info);
        } else {
            rc = HCCL_E_PARA;
        }
    }
    pthread_mutex_unlock(&comm->lock);
    if (rc == HCCL_SUCCESS)
        *actual = has;
    else
        LOG_ERROR(COMM, "%s: rank %u told %u bytes, not %u: ask for as many as it added",
                  comm->name, peer, has, len);
    return rc;
}

/* Under the lock. */
static struct comm_task *
find_task(struct comm *comm, const char *tag)
{
    HC_LIST_EACH (node, &comm->tasks) {
        struct comm_task *task = HC_CONTAINER(node, struct comm_task, in_comm);

        if (strcmp(task->tag, tag) == 0)
            return task;
    }
    return NULL;
}

HcclResult
exchange_task_set(struct comm *comm, const char *tag, comm_task_fn callback)
{
    size_t len = strlen(tag) + 1;
    HcclResult rc = HCCL_SUCCESS;
    struct comm_task *task;

    pthread_mutex_lock(&comm->lock);
    task = find_task(comm, tag);
    if (task == NULL) {
        task = hc_zalloc(sizeof *task + len);
        if (task != NULL) {
            memcpy(task->tag, tag, len);
            hc_list_push_back(&comm->tasks, &task->in_comm);
        }
    }
    if (task != NULL)
        task->callback = callback;
    else
        rc = HCCL_E_MEMORY;
    pthread_mutex_unlock(&comm->lock);
    return rc;
}

HcclResult
exchange_task_remove(struct comm *comm, const char *tag)
{
    struct comm_task *task;

    pthread_mutex_lock(&comm->lock);
    task = find_task(comm, tag);
    if (task != NULL)
        hc_list_remove(&task->in_comm);
    pthread_mutex_unlock(&comm->lock);
    if (task == NULL) {
        LOG_ERROR(COMM, "%s: no host task is registered under \"%s\"", comm->name, tag);
        return HCCL_E_NOT_FOUND;
    }
    hc_free(task);
    return HCCL_SUCCESS;
}

void
exchange_fini(struct comm *comm)
{
    struct hc_list *node;

    hc_free(comm->info);
    while ((node = hc_list_pop_front(&comm->infos)) != NULL)
        hc_free(HC_CONTAINER(node, struct comm_info, in_comm));
    while ((node = hc_list_pop_front(&comm->tasks)) != NULL)
        hc_free(HC_CONTAINER(node, struct comm_task, in_comm));
}
