/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * op_group: one thread may call an operation for several ranks, one after another, inside a group.
 * What may block, connecting at the first operation, is then done for all communicators of the
 * group at the same time; after that the operations are queued in the order of the calls.
 */
#include "coll/op_group.h"

#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "hcomm/hcomm_p2p.h"
#include "runtime/runtime.h"

#define TABLES 4u

struct grouped {
    struct grouped *next;
    struct comm *comm; /* held */
    HcclComm handle;
    aclrtStream stream; /* not NULL: what the default stream was at the call */
    struct coll_op op;
    HcclResult rc;
    pthread_t thread;
    bool started;
    char *message; /* errors of its thread */
    uint64_t tables[];
};

static _Thread_local struct grouped *first, **last; /* in the order of the calls */

static void
keep_table(const uint64_t **table, uint64_t **room, uint32_t ranks)
{
    if (*table == NULL)
        return;
    memcpy(*room, *table, ranks * sizeof **table);
    *table = *room;
    *room += ranks;
}

static HcclResult
connect_one(struct grouped *grouped)
{
    struct coll *coll;
    HcclResult rc = coll_get(grouped->comm, grouped->handle, &coll);

    if (rc == HCCL_SUCCESS)
        rc = coll_check(coll, &grouped->op);
    if (rc != HCCL_SUCCESS)
        return rc;
    pthread_mutex_lock(&coll->lock);
    rc = coll_connect(coll);
    pthread_mutex_unlock(&coll->lock);
    return rc;
}

static void *
connect_main(void *arg)
{
    struct grouped *grouped = arg;
    const char *errors;

    grouped->rc = rt_result(aclrtSetDevice(comm_device(grouped->comm)));
    if (grouped->rc != HCCL_SUCCESS)
        return NULL;
    grouped->rc = connect_one(grouped);
    errors = grouped->rc == HCCL_SUCCESS ? NULL : hc_errmsg_take();
    if (errors != NULL)
        grouped->message = hc_strdup(errors);
    (void)aclrtResetDevice(comm_device(grouped->comm));
    return NULL;
}

static HcclResult
connect_all(void)
{
    HcclResult rc = HCCL_SUCCESS;

    rt_block_begin();
    for (struct grouped *one = first; one != NULL; one = one->next) {
        int error = pthread_create(&one->thread, NULL, connect_main, one);

        one->started = error == 0;
        if (one->started)
            continue;
        LOG_ERROR(COLL, "HcclGroupEnd cannot start a thread: %s", strerror(error));
        one->rc = HCCL_E_SYSCALL;
    }
    for (struct grouped *one = first; one != NULL; one = one->next) {
        if (one->started)
            pthread_join(one->thread, NULL);
        if (one->message != NULL) {
            one->message[strcspn(one->message, "\n")] = '\0'; /* the newest says it */
            hc_errmsg_add(one->message);
        }
        rc = rc == HCCL_SUCCESS ? one->rc : rc;
    }
    rt_block_end();
    return rc;
}

static HcclResult
group_end(void)
{
    HcclResult rc = connect_all();
    struct grouped *one;

    while ((one = first) != NULL) {
        first = one->next;
        if (rc == HCCL_SUCCESS)
            rc = coll_submit(one->comm, one->handle, &one->op, one->stream);
        comm_release(one->comm);
        hc_free(one->message);
        hc_free(one);
    }
    last = NULL;
    return rc;
}

static struct grouped *
grouped_new(struct comm *comm, HcclComm handle, const struct coll_op *op)
{
    uint32_t ranks = comm_rank_num(comm);
    struct grouped *one = hc_zalloc(sizeof *one + TABLES * (size_t)ranks * sizeof one->tables[0]);
    uint64_t *room;

    if (one == NULL)
        return NULL;
    room = one->tables;
    one->op = *op;
    keep_table(&one->op.send_counts, &room, ranks);
    keep_table(&one->op.send_displs, &room, ranks);
    keep_table(&one->op.recv_counts, &room, ranks);
    keep_table(&one->op.recv_displs, &room, ranks);
    comm_hold_more(comm);
    one->comm = comm;
    one->handle = handle;
    return one;
}

HcclResult
coll_group_add(struct comm *comm, HcclComm handle, const struct coll_op *op, aclrtStream handle_of)
{
    struct rt_stream *stream;
    struct grouped *one;
    HcclResult rc;

    if (handle_of == HCOMM_STREAM_INLINE) {
        LOG_ERROR(COLL, "%s: not on the calling thread inside a group: give a stream",
                  coll_function(op->kind));
        return HCCL_E_NOT_SUPPORT;
    }
    rc = comm_group_join(coll_function(op->kind), group_end);
    if (rc != HCCL_SUCCESS)
        return rc;
    if (rt_stream_hold(handle_of, &stream) != ACL_SUCCESS)
        return HCCL_E_RUNTIME;
    one = grouped_new(comm, handle, op);
    if (one != NULL) {
        one->stream = rt_stream_handle(stream);
        last = first == NULL ? &first : last;
        *last = one;
        last = &one->next;
    }
    rt_stream_release(stream);
    return one == NULL ? HCCL_E_MEMORY : HCCL_SUCCESS;
}
