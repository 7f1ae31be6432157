/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * moves: what a round holds, and what is done at once. Who runs a round, slot by slot or from
 * buffer to buffer: round.c, direct.c.
 */
#include "coll/coll.h"
#include "copy/copy.h"
#include "reduce/reduce.h"

uint64_t
run_pieces(const struct coll_run *run, const struct coll_move *move)
{
    if (move->apart)
        return 0;
    if (move->signal)
        return 1;
    return (move->len + run->coll->slot_len - 1) / run->coll->slot_len;
}

uint64_t
run_piece_len(const struct coll_run *run, const struct coll_move *move, uint64_t piece)
{
    return least_u64(run->coll->slot_len, move->len - piece * run->coll->slot_len);
}

/* ---- what a round holds ---- */

static struct coll_move *
add_send(struct coll_run *run, uint32_t peer)
{
    struct coll_move *move = &run->coll->sends[run->send_num++];

    *move = (struct coll_move){.peer = peer};
    return move;
}

static struct coll_move *
add_recv(struct coll_run *run, uint32_t peer)
{
    struct coll_move *move = &run->coll->recvs[run->recv_num++];

    *move = (struct coll_move){.peer = peer};
    return move;
}

void
run_send(struct coll_run *run, uint32_t peer, const void *from, uint64_t len)
{
    struct coll_move *move = add_send(run, peer);

    move->from = from;
    move->len = len;
}

void
run_recv(struct coll_run *run, uint32_t peer, void *to, uint64_t len)
{
    struct coll_move *move = add_recv(run, peer);

    move->act = COLL_COPY;
    move->addr = to;
    move->len = len;
}

void
run_fold(struct coll_run *run, uint32_t peer, void *into, uint64_t len)
{
    struct coll_move *move = add_recv(run, peer);

    move->act = COLL_FOLD;
    move->addr = into;
    move->len = len;
}

void
run_own(struct coll_run *run, void *to, const void *from, uint64_t len)
{
    struct coll_move *move = add_recv(run, run->coll->rank);

    move->act = COLL_COPY;
    move->addr = to;
    move->from = from;
    move->len = len;
}

void
run_tell(struct coll_run *run, uint32_t peer)
{
    add_send(run, peer)->signal = true;
}

void
run_hear(struct coll_run *run, uint32_t peer)
{
    add_recv(run, peer)->signal = true;
}

/* ---- at once ---- */

void
run_copy(struct coll_run *run, void *to, const void *from, uint64_t len)
{
    if (run->rc != HCCL_SUCCESS || len == 0 || to == from)
        return;
    if (run->thread == 0)
        copy_bytes(to, from, len);
    else
        run->rc = (HcclResult)HcommLocalCopyOnThread(run->thread, to, from, len);
}

void
run_reduce(struct coll_run *run, void *into, const void *from, uint64_t len)
{
    uint64_t count = len / run->op->size;

    if (run->rc != HCCL_SUCCESS || len == 0)
        return;
    if (run->thread == 0)
        reduce_apply(into, from, count, run->op->type, run->op->red);
    else
        run->rc = (HcclResult)HcommLocalReduceOnThread(run->thread, into, from, count,
                                                       (HcommDataType)run->op->type,
                                                       (HcommReduceOp)run->op->red);
}
