/* SPDX-License-Identifier: BSD-3-Clause */
/* state: what a communicator keeps for its collectives, from the first call to its end. */
#include "base/alloc.h"
#include "coll/coll.h"
#include "hccl/hccl_comm.h"
#include "runtime/runtime.h"

static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER; /* one at a time is made */

/* The communicator's threads have drained: nothing of this is in use. */
static void
coll_fini(void *own)
{
    struct coll *coll = own;

    rt_stream_close(coll->device_stream);
    if (coll->passed != NULL)
        (void)aclrtDestroyEvent(coll->passed);
    pthread_mutex_destroy(&coll->lock);
    pthread_mutex_destroy(&coll->telling);
    hc_free(coll->scratch);
    hc_free(coll->peers);
    hc_free(coll->sends);
    hc_free(coll->recvs);
    hc_free(coll->items);
    hc_free(coll);
}

static HcclResult
make(struct comm *comm, HcclComm handle, struct coll **out)
{
    int64_t timeout_s = comm_exec_timeout_s(comm);
    struct coll *coll = hc_zalloc(sizeof *coll);
    HcclResult rc;

    if (coll == NULL)
        return HCCL_E_MEMORY;
    pthread_mutex_init(&coll->lock, NULL);
    pthread_mutex_init(&coll->telling, NULL);
    coll->begun.kind = COLL_KINDS; /* none */
    coll->comm = comm;
    coll->handle = handle;
    coll->rank = comm_rank(comm);
    coll->rank_num = comm_rank_num(comm);
    coll->timeout_s = timeout_s > UINT32_MAX ? UINT32_MAX : (uint32_t)timeout_s;
    coll->peers = hc_calloc(coll->rank_num, sizeof *coll->peers);
    coll->sends = hc_calloc(coll->rank_num, sizeof *coll->sends);
    coll->recvs = hc_calloc(coll->rank_num, sizeof *coll->recvs);
    coll->items = hc_calloc(2 * (size_t)coll->rank_num, sizeof *coll->items);
    rc = coll->items == NULL || coll->peers == NULL || coll->sends == NULL || coll->recvs == NULL
             ? HCCL_E_MEMORY
             : coll_settings(coll);
    if (rc != HCCL_SUCCESS) {
        coll_fini(coll);
        return rc;
    }
    comm_attach(comm, coll, coll_fini);
    rt_fate_set_doing(comm_fate(comm), coll_doing, coll);
    *out = coll;
    return HCCL_SUCCESS;
}

HcclResult
coll_get(struct comm *comm, HcclComm handle, struct coll **coll)
{
    HcclResult rc = HCCL_SUCCESS;

    *coll = comm_attached(comm);
    if (*coll != NULL)
        return HCCL_SUCCESS;
    pthread_mutex_lock(&making);
    *coll = comm_attached(comm);
    if (*coll == NULL)
        rc = make(comm, handle, coll);
    pthread_mutex_unlock(&making);
    return rc;
}
