/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check: what can be seen to be wrong on one rank, before anything is queued.
 *
 * A receive buffer may be the send buffer where that makes sense: all-reduce and reduce (the same
 * address); all-gather (the own part of the receive buffer is sent); reduce-scatter and scatter
 * (the own part of the send buffer, or its beginning for reduce-scatter, receives). Any other
 * overlap is refused.
 */
#include "base/log.h"
#include "coll/coll.h"
#include "reduce/reduce.h"
#include "runtime/runtime.h"

/* Whole extents of the buffers, in bytes; 0: not used on this rank. */
struct extent {
    uint64_t send, recv;
};

static bool
equal_parts(enum coll_kind kind)
{
    return kind == COLL_REDUCE_SCATTER || kind == COLL_ALL_GATHER || kind == COLL_SCATTER ||
           kind == COLL_ALL_TO_ALL;
}

static HcclResult
check_type(const struct coll_op *op)
{
    if (op->kind == COLL_BARRIER)
        return HCCL_SUCCESS;
    if (op->size == 0) {
        LOG_ERROR(COLL, "EI0003: %s: there is no data type %d", coll_function(op->kind), op->type);
        return HCCL_E_PARA;
    }
    if (!coll_reduces(op->kind) || reduce_supported(op->type, op->red))
        return HCCL_SUCCESS;
    LOG_ERROR(COLL, "EI0003: %s: operator %d (%s) does not exist for data type %d (%s)",
              coll_function(op->kind), op->red, reduce_op_name(op->red), op->type,
              reduce_type_name(op->type));
    return HCCL_E_PARA;
}

static HcclResult
too_long(const struct coll_op *op)
{
    LOG_ERROR(COLL, "EI0003: %s: counts of %s are more than memory has bytes",
              coll_function(op->kind), reduce_type_name(op->type));
    return HCCL_E_PARA;
}

/* The end of the furthest part of a table, in bytes. */
static HcclResult
table_extent(const struct coll_op *op, const uint64_t *counts, const uint64_t *displs,
             uint32_t ranks, uint64_t *extent)
{
    *extent = 0;
    for (uint32_t i = 0; i < ranks; i++) {
        uint64_t end;

        if (counts[i] == 0)
            continue;
        if (__builtin_add_overflow(displs[i], counts[i], &end) ||
            __builtin_mul_overflow(end, (uint64_t)op->size, &end))
            return too_long(op);
        *extent = end > *extent ? end : *extent;
    }
    return HCCL_SUCCESS;
}

static HcclResult
extents(const struct coll *coll, const struct coll_op *op, struct extent *extent)
{
    uint64_t bytes, all;
    HcclResult rc = HCCL_SUCCESS;

    *extent = (struct extent){0};
    if (__builtin_mul_overflow(op->count, (uint64_t)op->size, &bytes) ||
        __builtin_mul_overflow(bytes, equal_parts(op->kind) ? coll->rank_num : 1u, &all) ||
        all > INT64_MAX)
        return too_long(op);
    extent->send = all;
    extent->recv = all;
    if (op->kind == COLL_ALL_GATHER || op->kind == COLL_ALL_GATHER_V)
        extent->send = bytes;
    if (op->kind == COLL_REDUCE_SCATTER || op->kind == COLL_SCATTER ||
        op->kind == COLL_REDUCE_SCATTER_V)
        extent->recv = bytes;
    if (op->send_counts != NULL)
        rc = table_extent(op, op->send_counts, op->send_displs, coll->rank_num, &extent->send);
    if (rc == HCCL_SUCCESS && op->recv_counts != NULL)
        rc = table_extent(op, op->recv_counts, op->recv_displs, coll->rank_num, &extent->recv);
    if (op->kind == COLL_SCATTER && coll->rank != op->root)
        extent->send = 0;
    if (op->kind == COLL_REDUCE && coll->rank != op->root)
        extent->recv = 0;
    return rc;
}

static HcclResult
check_buffer(const struct coll_op *op, const char *what, const void *addr, uint64_t len)
{
    struct rt_range range;

    if (len == 0)
        return HCCL_SUCCESS;
    if (addr == NULL) {
        LOG_ERROR(COLL, "EI0003: %s: %s is NULL, and there are elements", coll_function(op->kind),
                  what);
        return HCCL_E_PTR;
    }
    if (coll_reduces(op->kind) && (uintptr_t)addr % op->size != 0) {
        LOG_ERROR(COLL,
                  "EI0003: %s: %s, %p, is not at a multiple of %u bytes, as elements of %s are",
                  coll_function(op->kind), what, addr, op->size, reduce_type_name(op->type));
        return HCCL_E_PARA;
    }
    return rt_result(rt_mem_check(addr, len, coll_function(op->kind), what, &range));
}

/* See the top. */
static bool
may_share(const struct coll *coll, const struct coll_op *op)
{
    uint64_t own = coll->rank * op->count * op->size;

    switch (op->kind) {
    case COLL_ALL_REDUCE:
    case COLL_REDUCE:
    case COLL_BROADCAST:
        return op->recv == op->send;
    case COLL_ALL_GATHER:
        return op->send == bytes_at(op->recv, own);
    case COLL_REDUCE_SCATTER:
        return op->recv == op->send || op->recv == bytes_at(op->send, own);
    case COLL_SCATTER:
        return op->recv == bytes_at(op->send, own);
    default:
        return false;
    }
}

static HcclResult
check_overlap(const struct coll *coll, const struct coll_op *op, const struct extent *extent)
{
    uintptr_t send = (uintptr_t)op->send, recv = (uintptr_t)op->recv;

    if (extent->send == 0 || extent->recv == 0 || send + extent->send <= recv ||
        recv + extent->recv <= send || may_share(coll, op))
        return HCCL_SUCCESS;
    LOG_ERROR(COLL,
              "EI0003: %s: the send buffer, %llu bytes at %p, and the receive buffer, %llu bytes "
              "at %p, overlap",
              coll_function(op->kind), (unsigned long long)extent->send, op->send,
              (unsigned long long)extent->recv, op->recv);
    return HCCL_E_PARA;
}

/* Parts that are received must not overlap. Quadratic in the ranks, but only for tables whose parts
 * do not ascend. */
static HcclResult
check_parts(const struct coll *coll, const struct coll_op *op)
{
    uint64_t end = 0;
    bool ascend = true;

    if (op->recv_counts == NULL)
        return HCCL_SUCCESS;
    for (uint32_t i = 0; i < coll->rank_num && ascend; i++) {
        ascend = op->recv_counts[i] == 0 || op->recv_displs[i] >= end;
        end = op->recv_counts[i] == 0 ? end : op->recv_displs[i] + op->recv_counts[i];
    }
    for (uint32_t i = 0; i < coll->rank_num && !ascend; i++) {
        for (uint32_t j = 0; j < i; j++) {
            if (op->recv_counts[i] == 0 || op->recv_counts[j] == 0 ||
                op->recv_displs[i] >= op->recv_displs[j] + op->recv_counts[j] ||
                op->recv_displs[j] >= op->recv_displs[i] + op->recv_counts[i])
                continue;
            LOG_ERROR(COLL,
                      "EI0003: %s: what comes from rank %u and from rank %u would overlap in the "
                      "receive buffer: check its displacements",
                      coll_function(op->kind), j, i);
            return HCCL_E_PARA;
        }
    }
    return HCCL_SUCCESS;
}

/* What the call says twice must agree. */
static HcclResult
check_own_count(const struct coll *coll, const struct coll_op *op)
{
    const uint64_t *counts = op->kind == COLL_REDUCE_SCATTER_V ? op->send_counts : op->recv_counts;

    if ((op->kind != COLL_REDUCE_SCATTER_V && op->kind != COLL_ALL_GATHER_V) ||
        counts[coll->rank] == op->count)
        return HCCL_SUCCESS;
    LOG_ERROR(COLL, "EI0003: %s: %s is %llu, but %s[%u], of this rank, is %llu",
              coll_function(op->kind),
              op->kind == COLL_REDUCE_SCATTER_V ? "recvCount" : "sendCount",
              (unsigned long long)op->count,
              op->kind == COLL_REDUCE_SCATTER_V ? "sendCounts" : "recvCounts", coll->rank,
              (unsigned long long)counts[coll->rank]);
    return HCCL_E_PARA;
}

/* What all-to-all-v sends to this rank itself; the other pairs compare theirs when data go. */
static HcclResult
check_own_pair(const struct coll *coll, const struct coll_op *op)
{
    if (op->kind != COLL_ALL_TO_ALL_V || op->send_counts[coll->rank] == op->recv_counts[coll->rank])
        return HCCL_SUCCESS;
    LOG_ERROR(COLL,
              "EI0003: %s: rank %u sends %llu elements to itself, and expects %llu: "
              "sendCounts[%u] and recvCounts[%u] must agree",
              coll_function(op->kind), coll->rank, (unsigned long long)op->send_counts[coll->rank],
              (unsigned long long)op->recv_counts[coll->rank], coll->rank, coll->rank);
    return HCCL_E_PARA;
}

HcclResult
coll_check(const struct coll *coll, const struct coll_op *op)
{
    struct extent extent;
    HcclResult rc = check_type(op);

    if (rc == HCCL_SUCCESS && coll_has_root(op->kind))
        rc = comm_rank_check(coll->comm, op->root, coll_function(op->kind));
    if (rc == HCCL_SUCCESS)
        rc = check_own_count(coll, op);
    if (rc == HCCL_SUCCESS)
        rc = check_own_pair(coll, op);
    if (rc == HCCL_SUCCESS)
        rc = extents(coll, op, &extent);
    if (rc == HCCL_SUCCESS)
        rc =
            check_buffer(op, op->kind == COLL_BROADCAST ? "buf" : "sendBuf", op->send, extent.send);
    if (rc == HCCL_SUCCESS && op->kind != COLL_BROADCAST)
        rc = check_buffer(op, "recvBuf", op->recv, extent.recv);
    if (rc == HCCL_SUCCESS)
        rc = check_overlap(coll, op, &extent);
    return rc == HCCL_SUCCESS ? check_parts(coll, op) : rc;
}
