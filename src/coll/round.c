/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * round: makes primitives of rounds. See coll.h L1 to L3.
 *
 * A piece of a message, at the sender: wait "ready" of its slot, write, record "full". At the
 * receiver: record "ready", wait "full", copy or reduce out of the slot. The first COLL_SLOTS
 * pieces of a message are declared ready when the round begins, each later one when the piece that
 * had its slot has been taken.
 */
#include "base/log.h"
#include "coll/coll.h"

#define READY(slot_) (slot_)
#define FULL(slot_) (COLL_SLOTS + (slot_))

static void
note(struct coll_run *run, int32_t rc)
{
    if (run->rc == HCCL_SUCCESS)
        run->rc = (HcclResult)rc;
}

/* ---- pieces ---- */

static void
ready(struct coll_run *run, const struct coll_move *move, uint64_t piece)
{
    const struct coll_peer *peer = &run->coll->peers[move->peer];
    uint32_t slot = (uint32_t)((peer->taken + piece) % COLL_SLOTS);

    if (run->rc == HCCL_SUCCESS)
        note(run, HcommChannelNotifyRecordOnThread(run->thread, peer->channel, READY(slot)));
}

static void
send_piece(struct coll_run *run, const struct coll_move *move, uint64_t piece)
{
    const struct coll_peer *peer = &run->coll->peers[move->peer];
    uint32_t slot = (uint32_t)((peer->sent + piece) % COLL_SLOTS);
    uint64_t slot_len = run->coll->slot_len;

    if (run->rc == HCCL_SUCCESS)
        note(run, HcommChannelNotifyWaitOnThread(run->thread, peer->channel, READY(slot),
                                                 run->coll->timeout_s));
    if (run->rc != HCCL_SUCCESS)
        return;
    if (move->signal)
        note(run, HcommChannelNotifyRecordOnThread(run->thread, peer->channel, FULL(slot)));
    else
        note(run, HcommWriteWithNotifyOnThread(
                      run->thread, peer->channel, peer->there + slot * slot_len,
                      move->from + piece * slot_len, run_piece_len(run, move, piece), FULL(slot)));
}

static void
take_piece(struct coll_run *run, const struct coll_move *move, uint64_t piece)
{
    const struct coll_peer *peer = &run->coll->peers[move->peer];
    uint32_t slot = (uint32_t)((peer->taken + piece) % COLL_SLOTS);
    uint64_t slot_len = run->coll->slot_len;
    uint8_t *to = move->addr + piece * slot_len;

    if (move->peer == run->coll->rank) {
        run_copy(run, to, move->from + piece * slot_len, run_piece_len(run, move, piece));
        return;
    }
    if (run->rc == HCCL_SUCCESS)
        note(run, HcommChannelNotifyWaitOnThread(run->thread, peer->channel, FULL(slot),
                                                 run->coll->timeout_s));
    if (!move->signal && move->act == COLL_COPY)
        run_copy(run, to, peer->here + slot * slot_len, run_piece_len(run, move, piece));
    else if (!move->signal)
        run_reduce(run, to, peer->here + slot * slot_len, run_piece_len(run, move, piece));
    if (piece + COLL_SLOTS < run_pieces(run, move))
        ready(run, move, piece + COLL_SLOTS);
}

/* ---- rounds ---- */

static uint64_t
most_pieces(const struct coll_run *run)
{
    uint64_t most = 0, pieces;

    for (uint32_t i = 0; i < run->send_num; i++) {
        pieces = run_pieces(run, &run->coll->sends[i]);
        most = pieces > most ? pieces : most;
    }
    for (uint32_t i = 0; i < run->recv_num; i++) {
        pieces = run_pieces(run, &run->coll->recvs[i]);
        most = pieces > most ? pieces : most;
    }
    return most;
}

static void
begin(struct coll_run *run)
{
    for (uint32_t i = 0; i < run->recv_num; i++) {
        const struct coll_move *move = &run->coll->recvs[i];
        uint64_t first = least_u64(run_pieces(run, move), COLL_SLOTS);

        for (uint64_t piece = 0; piece < first && move->peer != run->coll->rank; piece++)
            ready(run, move, piece);
    }
}

static void
queue_piece(struct coll_run *run, uint64_t piece)
{
    const struct coll *coll = run->coll;

    for (uint32_t i = 0; i < run->send_num; i++) {
        if (piece < run_pieces(run, &coll->sends[i]))
            send_piece(run, &coll->sends[i], piece);
    }
    for (uint32_t i = 0; i < run->recv_num; i++) {
        if (piece < run_pieces(run, &coll->recvs[i]))
            take_piece(run, &coll->recvs[i], piece);
    }
}

static void
end(struct coll_run *run)
{
    struct coll *coll = run->coll;

    for (uint32_t i = 0; i < run->recv_num; i++)
        coll->peers[coll->recvs[i].peer].taken += (uint32_t)run_pieces(run, &coll->recvs[i]);
    for (uint32_t i = 0; i < run->send_num; i++)
        coll->peers[coll->sends[i].peer].sent += (uint32_t)run_pieces(run, &coll->sends[i]);
    run->send_num = 0;
    run->recv_num = 0;
}

void
run_go(struct coll_run *run)
{
    uint64_t most = most_pieces(run);

    if (run->thread != 0)
        begin(run);
    for (uint64_t piece = 0; piece < most && run->rc == HCCL_SUCCESS; piece++) {
        if (run->thread != 0)
            queue_piece(run, piece);
        else
            run_piece_here(run, piece);
    }
    end(run);
}

void
run_move(struct coll_run *run)
{
    if (run->direct)
        run_direct(run);
    run_go(run);
}
