/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * api_coll: the collectives, under the names that operator libraries forward to; libhccl.so does.
 */
#include "base/alloc.h"
#include "base/fnv.h"
#include "base/log.h"
#include "coll/coll.h"
#include "coll/op_group.h"
#include "hccl/hccl_comm.h"
#include "hccl/hccl_inner.h"
#include "reduce/reduce.h"

static struct coll_op
op_of(enum coll_kind kind, const void *send, const void *recv, uint64_t count, HcclDataType type)
{
    return (struct coll_op){.kind = kind,
                            .type = (int)type,
                            .red = HCCL_REDUCE_RESERVED,
                            .size = reduce_type_size((int)type),
                            .count = count,
                            .send = (void *)(uintptr_t)send,
                            .recv = (void *)(uintptr_t)recv};
}

/* The rest of a call whose communicator is held. */
static HcclResult
submit(struct comm *comm, HcclComm handle, struct coll_op *op, aclrtStream stream)
{
    HcclResult rc = comm_check_running(comm, coll_function(op->kind));

    if (rc != HCCL_SUCCESS)
        return rc;
    if (comm_group_open())
        return coll_group_add(comm, handle, op, stream);
    return coll_submit(comm, handle, op, stream);
}

static HcclResult
run(struct coll_op *op, HcclComm handle, aclrtStream stream)
{
    struct comm *comm;
    HcclResult rc = comm_hold(handle, &comm);

    if (rc != HCCL_SUCCESS)
        return rc;
    rc = submit(comm, handle, op, stream);
    comm_release(comm);
    return rc;
}

HcclResult
HcclAllReduceInner(void *sendBuf, void *recvBuf, uint64_t count, HcclDataType dataType,
                   HcclReduceOp op, HcclComm comm, aclrtStream stream)
{
    struct coll_op call = op_of(COLL_ALL_REDUCE, sendBuf, recvBuf, count, dataType);

    call.red = (int)op;
    return run(&call, comm, stream);
}

HcclResult
HcclBroadcastInner(void *buf, uint64_t count, HcclDataType dataType, uint32_t root, HcclComm comm,
                   aclrtStream stream)
{
    struct coll_op call = op_of(COLL_BROADCAST, buf, buf, count, dataType);

    call.root = root;
    return run(&call, comm, stream);
}

HcclResult
HcclReduceInner(void *sendBuf, void *recvBuf, uint64_t count, HcclDataType dataType,
                HcclReduceOp op, uint32_t root, HcclComm comm, aclrtStream stream)
{
    struct coll_op call = op_of(COLL_REDUCE, sendBuf, recvBuf, count, dataType);

    call.red = (int)op;
    call.root = root;
    return run(&call, comm, stream);
}

HcclResult
HcclReduceScatterInner(void *sendBuf, void *recvBuf, uint64_t recvCount, HcclDataType dataType,
                       HcclReduceOp op, HcclComm comm, aclrtStream stream)
{
    struct coll_op call = op_of(COLL_REDUCE_SCATTER, sendBuf, recvBuf, recvCount, dataType);

    call.red = (int)op;
    return run(&call, comm, stream);
}

HcclResult
HcclScatterInner(void *sendBuf, void *recvBuf, uint64_t recvCount, HcclDataType dataType,
                 uint32_t root, HcclComm comm, aclrtStream stream)
{
    struct coll_op call = op_of(COLL_SCATTER, sendBuf, recvBuf, recvCount, dataType);

    call.root = root;
    return run(&call, comm, stream);
}

HcclResult
HcclAllGatherInner(void *sendBuf, void *recvBuf, uint64_t sendCount, HcclDataType dataType,
                   HcclComm comm, aclrtStream stream)
{
    struct coll_op call = op_of(COLL_ALL_GATHER, sendBuf, recvBuf, sendCount, dataType);

    return run(&call, comm, stream);
}

HcclResult
HcclBarrier(HcclComm comm, aclrtStream stream)
{
    struct coll_op call = op_of(COLL_BARRIER, NULL, NULL, 0, HCCL_DATA_TYPE_INT8);

    return run(&call, comm, stream);
}

/* ---- with tables ---- */

static HcclResult
need_tables(const char *function, const char *counts_name, const void *counts,
            const char *displs_name, const void *displs)
{
    HcclResult rc = comm_need(counts, function, counts_name);

    return rc == HCCL_SUCCESS ? comm_need(displs, function, displs_name) : rc;
}

/* Of a table that all ranks give alike. `comm` is held. */
static uint32_t
hash_of(const uint64_t *table, uint64_t num)
{
    uint64_t sum = hc_fnv(HC_FNV_START, table, num * sizeof *table);

    return (uint32_t)(sum ^ sum >> 32);
}

HcclResult
HcclReduceScatterVInner(void *sendBuf, const void *sendCounts, const void *sendDispls,
                        void *recvBuf, uint64_t recvCount, HcclDataType dataType, HcclReduceOp op,
                        HcclComm comm, aclrtStream stream)
{
    struct coll_op call = op_of(COLL_REDUCE_SCATTER_V, sendBuf, recvBuf, recvCount, dataType);
    struct comm *held;
    HcclResult rc =
        need_tables("HcclReduceScatterV", "sendCounts", sendCounts, "sendDispls", sendDispls);

    if (rc == HCCL_SUCCESS)
        rc = comm_hold(comm, &held);
    if (rc != HCCL_SUCCESS)
        return rc;
    call.red = (int)op;
    call.send_counts = sendCounts;
    call.send_displs = sendDispls;
    call.hash = hash_of(sendCounts, comm_rank_num(held));
    rc = submit(held, comm, &call, stream);
    comm_release(held);
    return rc;
}

HcclResult
HcclAllGatherVInner(void *sendBuf, uint64_t sendCount, void *recvBuf, const void *recvCounts,
                    const void *recvDispls, HcclDataType dataType, HcclComm comm,
                    aclrtStream stream)
{
    struct coll_op call = op_of(COLL_ALL_GATHER_V, sendBuf, recvBuf, sendCount, dataType);
    struct comm *held;
    HcclResult rc =
        need_tables("HcclAllGatherV", "recvCounts", recvCounts, "recvDispls", recvDispls);

    if (rc == HCCL_SUCCESS)
        rc = comm_hold(comm, &held);
    if (rc != HCCL_SUCCESS)
        return rc;
    call.recv_counts = recvCounts;
    call.recv_displs = recvDispls;
    call.hash = hash_of(recvCounts, comm_rank_num(held));
    rc = submit(held, comm, &call, stream);
    comm_release(held);
    return rc;
}

/* ---- all-to-all ---- */

static HcclResult
check_types(const char *function, HcclDataType send, HcclDataType recv)
{
    if (send == recv)
        return HCCL_SUCCESS;
    LOG_ERROR(COLL, "EI0003: %s: sendType is %d (%s), recvType %d (%s): they must be the same",
              function, (int)send, reduce_type_name((int)send), (int)recv,
              reduce_type_name((int)recv));
    return HCCL_E_PARA;
}

HcclResult
HcclAlltoAllInner(const void *sendBuf, uint64_t sendCount, HcclDataType sendType,
                  const void *recvBuf, uint64_t recvCount, HcclDataType recvType, HcclComm comm,
                  aclrtStream stream)
{
    struct coll_op call = op_of(COLL_ALL_TO_ALL, sendBuf, recvBuf, sendCount, sendType);
    HcclResult rc = check_types("HcclAlltoAll", sendType, recvType);

    if (rc != HCCL_SUCCESS)
        return rc;
    if (sendCount != recvCount) {
        LOG_ERROR(COLL,
                  "EI0003: HcclAlltoAll: sendCount is %llu, recvCount %llu: they must be the "
                  "same; HcclAlltoAllV takes others",
                  (unsigned long long)sendCount, (unsigned long long)recvCount);
        return HCCL_E_PARA;
    }
    return run(&call, comm, stream);
}

HcclResult
HcclAlltoAllVInner(const void *sendBuf, const void *sendCounts, const void *sdispls,
                   HcclDataType sendType, const void *recvBuf, const void *recvCounts,
                   const void *rdispls, HcclDataType recvType, HcclComm comm, aclrtStream stream)
{
    struct coll_op call = op_of(COLL_ALL_TO_ALL_V, sendBuf, recvBuf, 0, sendType);
    HcclResult rc = need_tables("HcclAlltoAllV", "sendCounts", sendCounts, "sdispls", sdispls);

    if (rc == HCCL_SUCCESS)
        rc = need_tables("HcclAlltoAllV", "recvCounts", recvCounts, "rdispls", rdispls);
    if (rc == HCCL_SUCCESS)
        rc = check_types("HcclAlltoAllV", sendType, recvType);
    if (rc != HCCL_SUCCESS)
        return rc;
    call.send_counts = sendCounts;
    call.send_displs = sdispls;
    call.recv_counts = recvCounts;
    call.recv_displs = rdispls;
    return run(&call, comm, stream);
}

/* This rank's row and column of the matrix, with the parts one behind the other; [4][ranks]. */
static uint64_t *
tables_of(const uint64_t *matrix, uint32_t rank, uint32_t ranks)
{
    uint64_t *tables = hc_calloc(4 * (size_t)ranks, sizeof *tables);
    uint64_t send_at = 0, recv_at = 0;

    for (uint32_t i = 0; i < ranks && tables != NULL; i++) {
        tables[i] = matrix[(uint64_t)rank * ranks + i];
        tables[ranks + i] = send_at;
        tables[2 * ranks + i] = matrix[(uint64_t)i * ranks + rank];
        tables[3 * ranks + i] = recv_at;
        if (__builtin_add_overflow(send_at, tables[i], &send_at))
            send_at = UINT64_MAX; /* check.c refuses what would be there */
        if (__builtin_add_overflow(recv_at, tables[2 * ranks + i], &recv_at))
            recv_at = UINT64_MAX;
    }
    return tables;
}

HcclResult
HcclAlltoAllVCInner(const void *sendBuf, const void *sendCountMatrix, HcclDataType sendType,
                    const void *recvBuf, HcclDataType recvType, HcclComm comm, aclrtStream stream)
{
    struct coll_op call = op_of(COLL_ALL_TO_ALL_VC, sendBuf, recvBuf, 0, sendType);
    struct comm *held;
    uint64_t *tables;
    uint32_t ranks;
    HcclResult rc = comm_need(sendCountMatrix, "HcclAlltoAllVC", "sendCountMatrix");

    if (rc == HCCL_SUCCESS)
        rc = check_types("HcclAlltoAllVC", sendType, recvType);
    if (rc == HCCL_SUCCESS)
        rc = comm_hold(comm, &held);
    if (rc != HCCL_SUCCESS)
        return rc;
    ranks = comm_rank_num(held);
    tables = tables_of(sendCountMatrix, comm_rank(held), ranks);
    if (tables != NULL) {
        call.send_counts = tables;
        call.send_displs = tables + ranks;
        call.recv_counts = tables + 2 * (size_t)ranks;
        call.recv_displs = tables + 3 * (size_t)ranks;
        call.hash = hash_of(sendCountMatrix, (uint64_t)ranks * ranks);
        rc = submit(held, comm, &call, stream);
    } else {
        rc = HCCL_E_MEMORY;
    }
    hc_free(tables);
    comm_release(held);
    return rc;
}
