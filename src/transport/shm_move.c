/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transfers and notifies between two processes. Design: shm.h.
 *
 * What a notify costs when nobody waits: two adds on the own slot's line, which no other process
 * writes; two loads of lines that do not change; and the add on the peer's word. The first add must
 * be a full barrier (C1), the last is a release (C2).
 *
 * N1  hc_word_post() releases: whoever takes the record sees all that was stored before it. Stores
 *     that are not ordered (non-temporal) are fenced by copy_learned() itself, so nothing is to be
 *     done here, whoever copied.
 * N2  Ringing happens after the call has left: a ring that comes late or in vain does no harm, and
 *     the link keeps the peer's bell mapped until fini(). So a thread that is cancelled while it
 *     knocks is inside of nothing.
 */
#include "base/alloc.h"
#include "base/log.h"
#include "base/thread.h"
#include "base/word.h"
#include "reduce/reduce.h"
#include "transport/foreign.h"
#include "transport/shm.h"

#define PIECE ((uint64_t)256 << 10)

static inline void
leave(struct shm_conn *conn)
{
    (void)atomic_fetch_sub_explicit(&conn->own->inside, 1, memory_order_release); /* C2 */
}

/* false: one of the ends has closed, or they have not met. */
static inline bool
enter(struct shm_conn *conn)
{
    struct shm_slot *peer = atomic_load_explicit(&conn->peer, memory_order_acquire); /* C3 */

    if (peer == NULL)
        return false;
    (void)atomic_fetch_add(&conn->own->inside, 1);
    if (shm_stands(conn, peer)) /* C1 */
        return true;
    leave(conn);
    return false;
}

static inline void
transfer_leave(struct shm_conn *conn, const struct tp_xfer *xfer, uint32_t turn)
{
    if (xfer->lease != 0)
        (void)atomic_fetch_sub_explicit(&conn->own->leased[turn], 1, memory_order_release);
    leave(conn);
}

/* As enter(), for a transfer: the region must be offered still (C6). *turn: for the way out. */
static inline HcclResult
transfer_enter(struct shm_conn *conn, const struct tp_xfer *xfer, uint32_t *turn)
{
    if (!enter(conn))
        return HCCL_E_REMOTE;
    if (xfer->lease == 0)
        return HCCL_SUCCESS;
    *turn = atomic_load(&conn->peer_segment->turn) % 2;
    (void)atomic_fetch_add(&conn->own->leased[*turn], 1);
    if (segment_leased(conn->peer_segment, xfer->lease))
        return HCCL_SUCCESS;
    transfer_leave(conn, xfer, *turn);
    return HCCL_E_NOT_FOUND;
}

/* ---- memory that cannot be mapped ---- */

/* Whether the peer's memory at `addr` is a stand-in. Such transfers sleep in system calls, which
 * must not be cancelled half-way: *cancel is for hc_cancel_restore. */
static bool
foreign_begin(const void *addr, int *cancel)
{
    if (!foreign_is(addr))
        return false;
    *cancel = hc_cancel_off();
    return true;
}

/* A piece is fetched, reduced and, where the result belongs there, put back. */
static HcclResult
reduce_foreign(const struct tp_xfer *xfer, bool into_peer)
{
    uint64_t size = reduce_type_size(xfer->type), most = PIECE / size;
    uint8_t *dst = xfer->dst, *piece;
    const uint8_t *src = xfer->src;
    HcclResult rc = HCCL_SUCCESS;

    if (xfer->len == 0)
        return HCCL_SUCCESS;
    if (most > xfer->len)
        most = xfer->len;
    piece = hc_zalloc(most * size);
    if (piece == NULL)
        return HCCL_E_MEMORY;
    for (uint64_t at = 0; at < xfer->len && rc == HCCL_SUCCESS; at += most) {
        uint64_t count = xfer->len - at < most ? xfer->len - at : most, len = count * size;

        rc = foreign_read(piece, into_peer ? dst : src, len);
        if (rc == HCCL_SUCCESS && into_peer) {
            reduce_apply(piece, src, count, xfer->type, xfer->op);
            rc = foreign_write(dst, piece, len);
        } else if (rc == HCCL_SUCCESS) {
            reduce_apply(dst, piece, count, xfer->type, xfer->op);
        }
        dst += len;
        src += len;
    }
    hc_free(piece);
    return rc;
}

/* ---- the calls ---- */

static inline HcclResult
copy(struct shm_conn *conn, const struct tp_xfer *xfer, bool into_peer)
{
    uint32_t turn = 0;
    HcclResult rc = transfer_enter(conn, xfer, &turn);
    int cancel;

    if (rc != HCCL_SUCCESS)
        return rc;
    if (foreign_begin(into_peer ? xfer->dst : xfer->src, &cancel)) {
        rc = into_peer ? foreign_write(xfer->dst, xfer->src, xfer->len)
                       : foreign_read(xfer->dst, xfer->src, xfer->len);
        hc_cancel_restore(cancel);
    } else {
        copy_learned(into_peer ? &conn->writes : &conn->reads, xfer->dst, xfer->src, xfer->len);
    }
    transfer_leave(conn, xfer, turn);
    return rc;
}

HcclResult
shm_write(struct tp_conn *base, const struct tp_xfer *xfer)
{
    return copy((struct shm_conn *)base, xfer, true);
}

HcclResult
shm_read(struct tp_conn *base, const struct tp_xfer *xfer)
{
    return copy((struct shm_conn *)base, xfer, false);
}

static HcclResult
reduce(struct shm_conn *conn, const struct tp_xfer *xfer, bool into_peer)
{
    uint32_t turn = 0;
    HcclResult rc = transfer_enter(conn, xfer, &turn);
    int cancel;

    if (rc != HCCL_SUCCESS)
        return rc;
    if (foreign_begin(into_peer ? xfer->dst : xfer->src, &cancel)) {
        rc = reduce_foreign(xfer, into_peer);
        hc_cancel_restore(cancel);
    } else {
        reduce_apply(xfer->dst, xfer->src, xfer->len, xfer->type, xfer->op);
    }
    transfer_leave(conn, xfer, turn);
    return rc;
}

HcclResult
shm_write_reduce(struct tp_conn *base, const struct tp_xfer *xfer)
{
    return reduce((struct shm_conn *)base, xfer, true);
}

HcclResult
shm_read_reduce(struct tp_conn *base, const struct tp_xfer *xfer)
{
    return reduce((struct shm_conn *)base, xfer, false);
}

static inline void
ring(struct shm_conn *conn, uint32_t waiter)
{
    if (hc_bell_ring(&conn->peer_segment->bell, waiter)) /* N2 */
        link_knock(conn->link);
}

HcclResult
shm_notify(struct tp_conn *base, uint32_t index)
{
    struct shm_conn *conn = (struct shm_conn *)base;
    uint32_t waiter;
    uint64_t before;

    if (!enter(conn))
        return HCCL_E_REMOTE;
    if (index >= conn->peer_word_num) {
        leave(conn);
        LOG_ERROR(SHM, "notify %u does not exist at the peer, which has %u", index,
                  conn->peer_word_num);
        return HCCL_E_PARA;
    }
    waiter = hc_word_post(conn->peer_words[index], &before); /* N1 */
    leave(conn);
    if (waiter != 0)
        ring(conn, waiter);
    return HCCL_SUCCESS;
}

void
shm_wake(struct tp_conn *base, uint32_t waiter)
{
    struct shm_conn *conn = (struct shm_conn *)base;

    if (waiter == 0 || !enter(conn))
        return;
    leave(conn);
    ring(conn, waiter);
}

HcclResult
shm_flush(struct tp_conn *base)
{
    struct shm_conn *conn = (struct shm_conn *)base;

    if (!enter(conn))
        return HCCL_E_REMOTE;
    leave(conn); /* transfers are over when they return */
    return HCCL_SUCCESS;
}
