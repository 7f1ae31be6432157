/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether an access may be made. Nothing has been touched when it may not. */
#include "base/log.h"
#include "p2p/access.h"
#include "reduce/reduce.h"

static bool
is_one(const struct access *access)
{
    return access->kind == ACCESS_FETCH || access->kind == ACCESS_SWAP;
}

static uint32_t
needed_right(enum access_kind kind)
{
    if (kind == ACCESS_PUT)
        return HCOMM_ACCESS_WRITE;
    return kind == ACCESS_GET ? HCOMM_ACCESS_READ : HCOMM_ACCESS_ACCUMULATE;
}

static const char *
right_name(uint32_t right)
{
    if (right == HCOMM_ACCESS_WRITE)
        return "HCOMM_ACCESS_WRITE";
    return right == HCOMM_ACCESS_READ ? "HCOMM_ACCESS_READ" : "HCOMM_ACCESS_ACCUMULATE";
}

/* The type and the operator. */
static HcclResult
check_kind(const struct access_call *call)
{
    const struct access *access = &call->access;
    int type = call->type, op = call->op;

    if (reduce_type_size(type) == 0) {
        LOG_ERROR(P2P, "%s: there is no data type %d: see HcclDataType", call->function, type);
        return HCCL_E_PARA;
    }
    if (is_one(access) && type != HCCL_DATA_TYPE_INT32 && type != HCCL_DATA_TYPE_UINT32 &&
        type != HCCL_DATA_TYPE_INT64 && type != HCCL_DATA_TYPE_UINT64) {
        LOG_ERROR(P2P, "%s: the data type is %s: it must be int32, uint32, int64 or uint64",
                  call->function, reduce_type_name(type));
        return HCCL_E_PARA;
    }
    if (access->kind != ACCESS_ACCUMULATE && access->kind != ACCESS_FETCH)
        return HCCL_SUCCESS;
    if (op == (int)HCOMM_REDUCE_REPLACE || reduce_supported(type, op))
        return HCCL_SUCCESS;
    LOG_ERROR(P2P, "%s: operator %d (%s) does not exist for data type %d (%s)", call->function, op,
              reduce_op_name(op), type, reduce_type_name(type));
    return HCCL_E_PARA;
}

/* Whether the target has the bytes, and grants the access. */
static HcclResult
check_target(const struct access_call *call, uint64_t len)
{
    const struct access *access = &call->access;
    const struct window_peer *peer = &access->window->peers[access->rank];
    uint32_t right = needed_right(access->kind), size = reduce_type_size(call->type);

    if ((peer->access & right) == 0) {
        LOG_ERROR(P2P, "%s: rank %u did not grant %s when it made the window", call->function,
                  access->rank, right_name(right));
        return HCCL_E_PARA;
    }
    if (len > peer->size || access->offset > peer->size - len) {
        LOG_ERROR(P2P, "%s: %llu bytes at offset %llu leave the %llu bytes that rank %u offers",
                  call->function, (unsigned long long)len, (unsigned long long)access->offset,
                  (unsigned long long)peer->size, access->rank);
        return HCCL_E_PARA;
    }
    if (right == HCOMM_ACCESS_ACCUMULATE &&
        (access->offset % size != 0 || (peer->owner_addr + access->offset) % size != 0)) {
        LOG_ERROR(P2P, "%s: offset %llu at rank %u is not aligned to the %u bytes of a %s",
                  call->function, (unsigned long long)access->offset, access->rank, size,
                  reduce_type_name(call->type));
        return HCCL_E_PARA;
    }
    return HCCL_SUCCESS;
}

static HcclResult
check_local(const struct access_call *call, const void *addr, uint64_t len, const char *what)
{
    struct rt_range range;

    if (addr == NULL) {
        LOG_ERROR(P2P, "%s: %s is NULL", call->function, what);
        return HCCL_E_PTR;
    }
    return rt_result(rt_mem_check(addr, len, call->function, what, &range));
}

static HcclResult
check_locals(const struct access_call *call, uint64_t len)
{
    const struct access *access = &call->access;
    HcclResult rc;

    if (!is_one(access))
        return check_local(call, access->local, len,
                           access->kind == ACCESS_GET ? "the destination" : "the source");
    rc = check_local(call, access->local, len,
                     access->kind == ACCESS_FETCH ? "the operand" : "the new value");
    if (rc == HCCL_SUCCESS)
        rc = check_local(call, access->result, len, "the result");
    if (rc == HCCL_SUCCESS && access->kind == ACCESS_SWAP)
        rc = check_local(call, access->compare, len, "what to compare with");
    return rc;
}

static HcclResult
check_flush(const struct access_call *call)
{
    const struct access *access = &call->access;

    if (access->rank == HCOMM_ANY_RANK)
        return HCCL_SUCCESS;
    return comm_rank_check(access->window->p2p->comm, access->rank, call->function);
}

HcclResult
access_check(struct access_call *call)
{
    struct access *access = &call->access;
    uint64_t len;
    HcclResult rc;

    if (access->kind == ACCESS_FLUSH)
        return check_flush(call);
    rc = check_kind(call);
    if (rc != HCCL_SUCCESS)
        return rc;
    if (__builtin_mul_overflow(call->count, (uint64_t)reduce_type_size(call->type), &len)) {
        LOG_ERROR(P2P, "%s: %llu elements of %s are more than memory has bytes", call->function,
                  (unsigned long long)call->count, reduce_type_name(call->type));
        return HCCL_E_PARA;
    }
    rc = comm_rank_check(access->window->p2p->comm, access->rank, call->function);
    if (rc == HCCL_SUCCESS && call->notify != UINT32_MAX && call->notify >= HCOMM_WINDOW_NOTIFIES)
        rc = res_check_number(call->function, "notify", call->notify, 0, HCOMM_WINDOW_NOTIFIES - 1);
    if (rc == HCCL_SUCCESS && len > 0)
        rc = check_target(call, len);
    if (rc == HCCL_SUCCESS && len > 0)
        rc = check_locals(call, len);
    if (rc != HCCL_SUCCESS)
        return rc;
    access->type = (uint8_t)call->type;
    access->op = (uint8_t)call->op;
    access->notify = call->notify == UINT32_MAX ? ACCESS_NO_NOTIFY : (uint8_t)call->notify;
    if (!is_one(access))
        access->len = len;
    return HCCL_SUCCESS;
}
