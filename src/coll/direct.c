/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * direct: messages of a round as messages of hcomm_p2p.h, from buffer to buffer without slots. On a
 * stream that is for long messages that are copied, not reduced, where they land: both ends know
 * both, so they agree. On the calling thread it is for all messages; what is to be reduced comes
 * into the slots, which nobody uses then.
 *
 * The tag is one of those that are kept for libraries.
 */
#include "coll/coll.h"
#include "p2p/p2p.h"

#define TAG (P2P_TAG_COLLECTIVE + 1)
#define DIRECT_FROM 32768u /* bytes: shorter ones are quicker through slots */

static void
add_item(HcommBatchItem *item, HcommBatchKind kind, uint32_t peer, const void *buf, uint64_t len)
{
    *item = (HcommBatchItem){.kind = kind,
                             .peer = peer,
                             .tag = TAG,
                             .type = HCCL_DATA_TYPE_INT8,
                             .buf = (void *)(uintptr_t)buf,
                             .count = len};
}

static void
start(struct coll_run *run, uint32_t num)
{
    const char *caller;

    if (num == 0 || run->rc != HCCL_SUCCESS)
        return;
    caller = p2p_set_caller(coll_function(run->op->kind));
    run->rc = HcommBatch(run->coll->items, num, run->coll->handle, run->stream);
    p2p_set_caller(caller);
}

static bool
is_direct(const struct coll_run *run, const struct coll_move *move)
{
    return !move->signal && move->len > 0 && move->peer != run->coll->rank &&
           (run->thread == 0 || move->len >= DIRECT_FROM);
}

void
run_direct(struct coll_run *run)
{
    struct coll *coll = run->coll;
    uint32_t num = 0;

    for (uint32_t i = 0; i < run->send_num; i++) {
        struct coll_move *move = &coll->sends[i];

        move->apart = is_direct(run, move);
        if (move->apart)
            add_item(&coll->items[num++], HCOMM_BATCH_SEND, move->peer, move->from, move->len);
    }
    for (uint32_t i = 0; i < run->recv_num; i++) {
        struct coll_move *move = &coll->recvs[i];

        move->apart = is_direct(run, move);
        if (move->apart)
            add_item(&coll->items[num++], HCOMM_BATCH_RECV, move->peer, move->addr, move->len);
    }
    start(run, num);
}

/* ---- on the calling thread ---- */

void
run_piece_here(struct coll_run *run, uint64_t piece)
{
    struct coll *coll = run->coll;
    uint64_t at = piece * coll->slot_len;
    uint32_t num = 0;

    for (uint32_t i = 0; i < run->send_num; i++) {
        const struct coll_move *move = &coll->sends[i];

        if (piece < run_pieces(run, move))
            add_item(&coll->items[num++], HCOMM_BATCH_SEND, move->peer,
                     move->signal ? NULL : move->from + at,
                     move->signal ? 0 : run_piece_len(run, move, piece));
    }
    for (uint32_t i = 0; i < run->recv_num; i++) {
        const struct coll_move *move = &coll->recvs[i];
        void *to = move->act == COLL_FOLD ? coll->peers[move->peer].here : move->addr + at;

        if (move->peer != coll->rank && piece < run_pieces(run, move))
            add_item(&coll->items[num++], HCOMM_BATCH_RECV, move->peer, move->signal ? NULL : to,
                     move->signal ? 0 : run_piece_len(run, move, piece));
    }
    start(run, num);
    for (uint32_t i = 0; i < run->recv_num; i++) { /* only now: what is sent may lie there */
        const struct coll_move *move = &coll->recvs[i];

        if (piece >= run_pieces(run, move) || move->signal)
            continue;
        if (move->peer == coll->rank)
            run_copy(run, move->addr + at, move->from + at, run_piece_len(run, move, piece));
        else if (move->act == COLL_FOLD)
            run_reduce(run, move->addr + at, coll->peers[move->peer].here,
                       run_piece_len(run, move, piece));
    }
}
