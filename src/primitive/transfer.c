/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A queued transfer holds its channel until the task is dropped; the transport's close() is what
 * keeps a transfer away from memory of an end that is gone, not the hold.
 *
 * A transport may answer "again". The task then wakes its own stream and parks: it comes back when
 * other ready streams have had their turn. What has been moved already is not moved twice.
 *
 * The right to the peer's memory is checked when a transfer is queued, for an error at the call
 * that is wrong, and again when it runs, because the peer may have taken its memory back meanwhile.
 */
#include "primitive/transfer.h"

#include <stdio.h>

#include "base/log.h"
#include "reduce/reduce.h"

#define LONG_TRANSFER (256u << 10) /* bytes: from here on it is worth telling the scheduler */

/* In rt_task.u. */
struct packed {
    struct res_channel *channel; /* held */
    void *dst;
    const void *src;
    uint64_t len;
    uint64_t lease;
    uint32_t index;
    uint8_t kind, notify, type, op;
    bool moved; /* the notify is left to do */
    bool imported;
};

_Static_assert(sizeof(struct packed) <= sizeof(((struct rt_task *)0)->u), "fits a task");

static struct packed *
packed_in(struct rt_task *task)
{
    return (struct packed *)(void *)&task->u;
}

static bool
is_reduce(enum prim_kind kind)
{
    return kind == PRIM_WRITE_REDUCE || kind == PRIM_READ_REDUCE;
}

static bool
has_data(enum prim_kind kind)
{
    return kind != PRIM_RECORD && kind != PRIM_FENCE;
}

bool
prim_transfer_moves(const struct prim_transfer *transfer)
{
    return !has_data(transfer->kind) || transfer->notify || transfer->len > 0;
}

/* ---- check ---- */

HcclResult
prim_check_reduce(const char *function, uint64_t count, int type, int op, uint64_t *bytes)
{
    if (!reduce_supported(type, op)) {
        LOG_ERROR(PRIM, "%s: operator %d (%s) does not exist for data type %d (%s)", function, op,
                  reduce_op_name(op), type, reduce_type_name(type));
        return HCCL_E_PARA;
    }
    if (__builtin_mul_overflow(count, (uint64_t)reduce_type_size(type), bytes)) {
        LOG_ERROR(PRIM, "%s: %llu elements of %s are more than memory has bytes", function,
                  (unsigned long long)count, reduce_type_name(type));
        return HCCL_E_PARA;
    }
    return HCCL_SUCCESS;
}

HcclResult
prim_check_local(const char *function, const char *what, const void *addr, uint64_t len)
{
    struct rt_range range;

    if (tp_is_stand_in(addr, len)) {
        LOG_ERROR(
            PRIM,
            "%s: %s, %p, stands for memory of another process that cannot be mapped (it comes "
            "from malloc, not from a device or aclrtMallocHost): only reads and writes over "
            "its channel reach it",
            function, what, addr);
        return HCCL_E_PARA;
    }
    return rt_result(rt_mem_check(addr, len, function, what, &range));
}

static bool
reads(enum prim_kind kind)
{
    return kind == PRIM_READ || kind == PRIM_READ_REDUCE;
}

static HcclResult
check_data(const char *function, struct res_channel *channel, struct prim_transfer *transfer)
{
    bool from_peer = reads(transfer->kind);
    uint64_t bytes = transfer->len;
    HcclResult rc = HCCL_SUCCESS;

    if (is_reduce(transfer->kind))
        rc = prim_check_reduce(function, transfer->len, transfer->type, transfer->op, &bytes);
    if (rc != HCCL_SUCCESS || bytes == 0)
        return rc;
    rc = from_peer ? prim_check_local(function, "the destination", transfer->dst, bytes)
                   : prim_check_local(function, "the source", transfer->src, bytes);
    if (rc != HCCL_SUCCESS)
        return rc;
    return res_channel_reach(channel, from_peer ? transfer->src : transfer->dst, bytes,
                             &transfer->right);
}

HcclResult
prim_transfer_check(const char *function, struct res_channel *channel,
                    struct prim_transfer *transfer)
{
    HcclResult rc;

    if (has_data(transfer->kind) && (transfer->dst == NULL || transfer->src == NULL))
        return res_null(function, transfer->dst == NULL ? "dst" : "src");
    rc = res_channel_ready(channel);
    if (rc == HCCL_SUCCESS && has_data(transfer->kind))
        rc = check_data(function, channel, transfer);
    if (rc == HCCL_SUCCESS && transfer->notify)
        rc = res_channel_peer_notify(channel, transfer->index);
    return rc;
}

/* ---- run ---- */

static HcclResult
move_data(struct tp_conn *conn, const struct packed *packed, uint64_t lease)
{
    const struct tp_xfer xfer = {.dst = packed->dst,
                                 .src = packed->src,
                                 .len = packed->len,
                                 .type = packed->type,
                                 .op = packed->op,
                                 .lease = lease};

    switch (packed->kind) {
    case PRIM_WRITE:
        return conn->ops->write(conn, &xfer);
    case PRIM_READ:
        return conn->ops->read(conn, &xfer);
    case PRIM_WRITE_REDUCE:
        return conn->ops->write_reduce(conn, &xfer);
    case PRIM_READ_REDUCE:
        return conn->ops->read_reduce(conn, &xfer);
    default:
        return conn->ops->flush(conn);
    }
}

/* As move_data, with the right to the peer's memory. *withdrawn: there is none any more. */
static HcclResult
move_by_right(const struct packed *packed, struct tp_conn *conn, bool *withdrawn)
{
    const struct res_right right = {.lease = packed->lease, .imported = packed->imported};
    const void *remote = reads(packed->kind) ? packed->src : packed->dst;
    uint64_t bytes = packed->len, lease = 0;
    struct res_import *import;
    HcclResult rc;

    if (is_reduce(packed->kind))
        bytes *= reduce_type_size(packed->type); /* checked not to overflow */
    rc = res_channel_enter(packed->channel, remote, bytes, &right, &import, &lease);
    if (rc == HCCL_SUCCESS)
        rc = move_data(conn, packed, lease);
    res_channel_leave(import);
    *withdrawn = rc == HCCL_E_NOT_FOUND;
    return *withdrawn ? HCCL_E_PARA : rc;
}

/* Whether the scheduler must not count on this thread meanwhile. The peer's memory behind a
 * stand-in is reached by the peer's process, which may be stopped. */
static bool
takes_long(const struct packed *packed)
{
    const void *remote = reads(packed->kind) ? packed->src : packed->dst;

    return packed->len >= LONG_TRANSFER || (has_data(packed->kind) && tp_is_stand_in(remote, 1));
}

/* As far as it gets. HCCL_E_AGAIN: call again with the same `packed`. */
static HcclResult
move(struct packed *packed, bool *withdrawn)
{
    struct tp_conn *conn = res_channel_conn(packed->channel);
    HcclResult rc = HCCL_SUCCESS;

    *withdrawn = false;
    if (packed->kind == PRIM_FENCE)
        rc = move_data(conn, packed, 0);
    else if (!packed->moved && packed->len > 0)
        rc = move_by_right(packed, conn, withdrawn);
    if (rc != HCCL_SUCCESS || !packed->notify)
        return rc;
    packed->moved = true;
    return conn->ops->notify(conn, packed->index);
}

static void
describe(const struct packed *packed, char *text, size_t len)
{
    const char *name = res_channel_name(packed->channel);

    switch (packed->kind) {
    case PRIM_FENCE:
        snprintf(text, len, "fence on %s", name);
        break;
    case PRIM_RECORD:
        snprintf(text, len, "record notify %u at the other end of %s", packed->index, name);
        break;
    case PRIM_WRITE:
    case PRIM_READ:
        snprintf(text, len, "%s %llu bytes, %s", packed->kind == PRIM_READ ? "read" : "write",
                 (unsigned long long)packed->len, name);
        break;
    default:
        snprintf(text, len, "%s and reduce (%s) %llu elements of %s, %s",
                 packed->kind == PRIM_READ_REDUCE ? "read" : "write", reduce_op_name(packed->op),
                 (unsigned long long)packed->len, reduce_type_name(packed->type), name);
        break;
    }
}

static void
transfer_describe(const struct rt_task *task, char *text, size_t len)
{
    describe((const struct packed *)(const void *)&task->u, text, len);
}

/* Why it failed, for people. Breaks the fate if the connection has ended. */
static void
explain(struct packed *packed, HcclResult rc, bool withdrawn, char *text, size_t len)
{
    if (rc == HCCL_E_REMOTE)
        res_channel_lost(packed->channel, text, len);
    else if (withdrawn)
        res_channel_withdrawn(packed->channel, text, len);
    else
        snprintf(text, len, "error %d", (int)rc);
}

static enum rt_step
transfer_run(struct rt_stream *stream, struct rt_task *task)
{
    struct packed *packed = packed_in(task);
    bool is_long = takes_long(packed), withdrawn;
    char text[320], why[320];
    aclError code = ACL_ERROR_RT_INTERNAL_ERROR;
    HcclResult rc;

    if (is_long)
        rt_sched_long_begin();
    rc = move(packed, &withdrawn);
    if (is_long)
        rt_sched_long_end();
    if (rc == HCCL_SUCCESS)
        return RT_STEP_DONE;
    if (rc == HCCL_E_AGAIN) {
        rt_stream_wake(rt_stream_id(stream));
        return RT_STEP_PARKED;
    }
    describe(packed, text, sizeof text);
    explain(packed, rc, withdrawn, why, sizeof why);
    if (rc == HCCL_E_REMOTE)
        code = ACL_ERROR_RT_SUSPECT_REMOTE_ERROR;
    else if (withdrawn)
        code = ACL_ERROR_RT_PARAM_INVALID;
    return rt_stream_fail(stream, code, "cannot %s: %s", text, why);
}

static void
transfer_drop(struct rt_task *task, bool ran)
{
    (void)ran;
    res_channel_release(packed_in(task)->channel);
}

/* A captured transfer holds its channel, open or not; one that is to run needs it open. */
static aclError
transfer_clone(const struct rt_task *task, struct rt_task *copy)
{
    const struct packed *packed = (const struct packed *)(const void *)&task->u;
    char text[320];

    if (!res_channel_hold_open(packed->channel)) {
        describe(packed, text, sizeof text);
        return rt_fail(ACL_ERROR_RT_INVALID_HANDLE,
                       "cannot %s again: the channel was destroyed after this had been captured",
                       text);
    }
    *copy = *task;
    return ACL_SUCCESS;
}

static const struct rt_task_ops transfer_ops = {.name = "transfer",
                                                .run = transfer_run,
                                                .drop = transfer_drop,
                                                .describe = transfer_describe,
                                                .clone = transfer_clone};

static struct packed
pack(struct res_channel *channel, const struct prim_transfer *transfer)
{
    return (struct packed){.channel = channel,
                           .dst = transfer->dst,
                           .src = transfer->src,
                           .len = transfer->len,
                           .lease = transfer->right.lease,
                           .imported = transfer->right.imported,
                           .index = transfer->index,
                           .kind = (uint8_t)transfer->kind,
                           .notify = transfer->notify,
                           .type = (uint8_t)transfer->type,
                           .op = (uint8_t)transfer->op};
}

HcclResult
prim_transfer_push(const struct prim_queue *queue, struct res_channel *channel,
                   const struct prim_transfer *transfer)
{
    struct rt_task task = {.ops = &transfer_ops};

    *packed_in(&task) = pack(channel, transfer);
    res_channel_hold_more(channel); /* the task's, whatever becomes of the push */
    return rt_result(rt_stream_push(queue->stream, &task));
}

HcclResult
prim_transfer_now(struct res_channel *channel, const struct prim_transfer *transfer)
{
    struct packed packed = pack(channel, transfer);
    char text[320], why[320];
    bool withdrawn;
    HcclResult rc = move(&packed, &withdrawn);

    if (rc != HCCL_E_REMOTE && !withdrawn)
        return rc;
    describe(&packed, text, sizeof text);
    explain(&packed, rc, withdrawn, why, sizeof why);
    LOG_ERROR(PRIM, "cannot %s: %s", text, why);
    return rc;
}
