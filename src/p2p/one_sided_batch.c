/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Put and get. A batch is one task: everything is checked and mapped when it is queued, moved when
 * the stream comes to it. Whether the peer still offers its memory is asked with each piece, by its
 * lease, because the batch may have waited long.
 *
 * A transport may answer "again". The task then wakes its own stream and parks: it comes back when
 * other ready streams have had their turn. What has been moved already is not moved twice.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/log.h"
#include "p2p/one_sided.h"
#include "reduce/reduce.h"

#define LONG_BATCH (256u << 10) /* bytes: from here on it is worth telling the scheduler */

struct piece {
    void *here, *there; /* the peer's memory as an address of this process */
    uint64_t len;
    struct one_far *far; /* held; NULL: nothing to move */
};

struct batch {
    struct p2p *p2p; /* held, and counted in p2p.open; NULL: neither yet */
    struct p2p_pair *pair;
    const char *function;
    bool put;
    bool slow;        /* some memory is reached by its owner's process, which may be stopped */
    uint32_t num, at; /* pieces before `at` have been moved */
    uint64_t len;     /* of all */
    struct piece pieces[];
};

/* ---- begin and end ---- */

/* The communicator is not idle while there is a batch. */
static void
batch_count(struct batch *batch, struct p2p *p2p)
{
    p2p_hold_more(p2p);
    hc_spin_lock(&p2p->lock);
    p2p->open++;
    p2p_unlock(p2p);
    batch->p2p = p2p;
}

static void
batch_free(struct batch *batch)
{
    struct p2p *p2p = batch->p2p;

    for (uint32_t i = 0; i < batch->num; i++) {
        if (batch->pieces[i].far != NULL)
            one_far_release(batch->pieces[i].far);
    }
    hc_free(batch);
    if (p2p == NULL)
        return;
    hc_spin_lock(&p2p->lock);
    p2p->open--;
    p2p_unlock(p2p);
    p2p_release(p2p);
}

/* ---- run ---- */

static HcclResult
move_piece(const struct batch *batch, const struct piece *piece)
{
    struct tp_conn *conn = batch->pair->conn;
    struct tp_xfer xfer = {.len = piece->len};

    if (piece->far == NULL)
        return HCCL_SUCCESS;
    xfer.lease = piece->far->desc.record.region.lease;
    xfer.dst = batch->put ? piece->there : piece->here;
    xfer.src = batch->put ? piece->here : piece->there;
    return batch->put ? conn->ops->write(conn, &xfer) : conn->ops->read(conn, &xfer);
}

/* As far as it gets. */
static HcclResult
batch_move(struct batch *batch)
{
    struct tp_conn *conn = batch->pair->conn;
    HcclResult rc;

    for (; batch->at < batch->num; batch->at++) {
        rc = move_piece(batch, &batch->pieces[batch->at]);
        if (rc != HCCL_SUCCESS)
            return rc;
    }
    return conn->ops->flush(conn);
}

static void
batch_describe(const struct rt_task *task, char *text, size_t len)
{
    const struct batch *batch = task->u.call.obj;

    snprintf(text, len, "%s: %s %" PRIu64 " bytes in %u pieces, rank %u of %s with rank %u",
             batch->function, batch->put ? "write" : "read", batch->len, batch->num,
             batch->p2p->rank, comm_name(batch->p2p->comm), batch->pair->peer);
}

static enum rt_step
batch_fail(struct rt_stream *stream, struct batch *batch, HcclResult rc)
{
    aclError code = p2p_task_error(rc);
    char why[P2P_WHY_LEN];

    if (rc == HCCL_E_REMOTE) {
        pair_lost(batch->pair, why, sizeof why);
    } else if (rc == HCCL_E_NOT_FOUND) {
        snprintf(why, sizeof why, "rank %u does not offer this memory any more", batch->pair->peer);
    } else {
        snprintf(why, sizeof why, "error %d", (int)rc);
    }
    if (batch->at == batch->num)
        return rt_stream_fail(stream, code, "%s: rank %u of %s cannot complete at rank %u: %s",
                              batch->function, batch->p2p->rank, comm_name(batch->p2p->comm),
                              batch->pair->peer, why);
    return rt_stream_fail(stream, code,
                          "%s: rank %u of %s cannot %s piece %u (%" PRIu64 " bytes) %s rank %u: %s",
                          batch->function, batch->p2p->rank, comm_name(batch->p2p->comm),
                          batch->put ? "write" : "read", batch->at, batch->pieces[batch->at].len,
                          batch->put ? "to" : "from", batch->pair->peer, why);
}

static enum rt_step
batch_run(struct rt_stream *stream, struct rt_task *task)
{
    struct batch *batch = task->u.call.obj;
    bool is_long = batch->slow || batch->len >= LONG_BATCH;
    HcclResult rc;

    if (is_long)
        rt_sched_long_begin();
    rc = batch_move(batch);
    if (is_long)
        rt_sched_long_end();
    if (rc == HCCL_SUCCESS)
        return RT_STEP_DONE;
    if (rc != HCCL_E_AGAIN)
        return batch_fail(stream, batch, rc);
    rt_stream_wake(rt_stream_id(stream));
    return RT_STEP_PARKED;
}

static void
batch_drop(struct rt_task *task, bool ran)
{
    (void)ran;
    batch_free(task->u.call.obj);
}

static const struct rt_task_ops batch_ops = {
    .name = "one-sided batch", .run = batch_run, .drop = batch_drop, .describe = batch_describe};

/* ---- check ---- */

static HcclResult
piece_len(const char *function, uint32_t index, const HcclOneSideOpDesc *desc, uint64_t *len)
{
    uint32_t size = reduce_type_size((int)desc->dataType);

    if (desc->localAddr == NULL || desc->remoteAddr == NULL) {
        LOG_ERROR(P2P, "%s: piece %u: %s is NULL", function, index,
                  desc->localAddr == NULL ? "localAddr" : "remoteAddr");
        return HCCL_E_PTR;
    }
    if (size == 0) {
        LOG_ERROR(P2P, "%s: piece %u: there is no data type %d: see HcclDataType", function, index,
                  (int)desc->dataType);
        return HCCL_E_PARA;
    }
    if (!__builtin_mul_overflow(desc->count, (uint64_t)size, len))
        return HCCL_SUCCESS;
    LOG_ERROR(P2P, "%s: piece %u: %" PRIu64 " elements of %u bytes are more than memory has",
              function, index, (uint64_t)desc->count, size);
    return HCCL_E_PARA;
}

/* Under the lock. */
static HcclResult
add_piece(struct one_sided *os, struct one_peer *peer, struct batch *batch,
          const HcclOneSideOpDesc *desc)
{
    struct piece *piece = &batch->pieces[batch->num];
    uint64_t len;
    HcclResult rc = piece_len(batch->function, batch->num, desc, &len);

    if (rc != HCCL_SUCCESS || len == 0)
        return rc;
    if (!one_sided_is_own(os, peer, desc->localAddr, len)) {
        LOG_ERROR(P2P,
                  "%s: piece %u: %" PRIu64 " bytes at localAddr %p are not inside one memory that "
                  "is registered for rank %u (HcclRegisterMem) or bound (HcclCommBindMem)",
                  batch->function, batch->num, len, desc->localAddr, peer->rank);
        return HCCL_E_PARA;
    }
    rc = one_far_find(peer, batch->function, desc->remoteAddr, len, &piece->far, &piece->there);
    if (rc != HCCL_SUCCESS)
        return rc;
    piece->here = desc->localAddr;
    piece->len = len;
    batch->len += len; /* each is at most 1 TiB: one_sided_is_own */
    batch->slow = batch->slow || tp_is_stand_in(piece->there, 1);
    return HCCL_SUCCESS;
}

static HcclResult
add_pieces(struct one_sided *os, struct batch *batch, uint32_t rank, const HcclOneSideOpDesc *descs,
           uint32_t num)
{
    HcclResult rc = HCCL_SUCCESS;
    struct one_peer *peer;

    pthread_mutex_lock(&os->lock);
    peer = one_sided_peer(os, rank);
    if (peer == NULL)
        rc = HCCL_E_MEMORY;
    for (uint32_t i = 0; i < num && rc == HCCL_SUCCESS; i++) {
        rc = add_piece(os, peer, batch, &descs[i]);
        batch->num = rc == HCCL_SUCCESS ? i + 1 : i;
    }
    pthread_mutex_unlock(&os->lock);
    return rc;
}

static HcclResult
batch_push(struct batch *batch, struct p2p *p2p, aclrtStream handle)
{
    struct rt_task task = {.ops = &batch_ops, .u.call.obj = batch};
    struct rt_stream *stream;
    HcclResult rc = p2p_stream_hold(handle, &stream);

    if (rc != HCCL_SUCCESS) {
        batch_free(batch);
        return rc;
    }
    batch_count(batch, p2p);
    rc = rt_result(rt_stream_push(stream, &task));
    rt_stream_release(stream);
    return rc;
}

/* Messages may have connected the two; that is not what counts. */
static bool
has_met(struct one_sided *os, uint32_t rank)
{
    const struct one_peer *peer;
    bool met;

    pthread_mutex_lock(&os->lock);
    peer = os->peers[rank];
    met = os->prepared || (peer != NULL && peer->met);
    pthread_mutex_unlock(&os->lock);
    return met;
}

HcclResult
one_sided_batch(struct one_sided *os, const char *function, bool put, uint32_t rank,
                const HcclOneSideOpDesc *descs, uint32_t num, aclrtStream stream)
{
    struct p2p_pair *pair = has_met(os, rank) ? one_sided_pair(os, rank) : NULL;
    struct batch *batch;
    HcclResult rc;

    if (pair == NULL) {
        LOG_ERROR(P2P,
                  "%s: rank %u of %s has not connected to rank %u: HcclExchangeMemDesc or "
                  "HcclCommPrepare comes first",
                  function, os->p2p->rank, comm_name(os->p2p->comm), rank);
        return HCCL_E_NOT_FOUND;
    }
    batch = hc_zalloc(sizeof *batch + num * sizeof *batch->pieces);
    if (batch == NULL)
        return HCCL_E_MEMORY;
    batch->pair = pair;
    batch->function = function;
    batch->put = put;
    rc = add_pieces(os, batch, rank, descs, num);
    if (rc == HCCL_SUCCESS)
        return batch_push(batch, os->p2p, stream);
    batch_free(batch);
    return rc;
}
