/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mesh: each rank sends straight to each rank that needs its data. Does every operation; the fewest
 * steps and the fewest bytes, but as many messages as there are ranks.
 *
 * Reductions cut the buffer into a part for each rank, who reduces it. Long buffers go slice by
 * slice, so that what was just reduced is sent on while it is in the cache, and a receive buffer
 * that is the send buffer is overwritten only behind what has been sent.
 */
#include "coll/coll.h"

#define SHORT 16384u /* bytes: a root sends or takes up to this much whole, without parts */

/* ---- reductions ---- */

static void
all_reduce(struct coll_run *run)
{
    const struct coll_op *op = run->op;
    const struct coll *coll = run->coll;
    uint32_t ranks = coll->rank_num;
    uint64_t most = part_of(op, op->count, ranks, 0).len, step = coll->slot_len;

    for (uint64_t from = 0; from < most; from += step) {
        struct coll_part own = part_slice(part_of(op, op->count, ranks, coll->rank), from, step);

        for (uint32_t i = 1; i < ranks; i++) {
            uint32_t to = rank_after(coll, i);
            struct coll_part part = part_slice(part_of(op, op->count, ranks, to), from, step);

            run_send(run, to, bytes_at(op->send, part.at), part.len);
        }
        run_own(run, bytes_at(op->recv, own.at), bytes_at(op->send, own.at), own.len);
        for (uint32_t i = 1; i < ranks; i++)
            run_fold(run, rank_before(coll, i), bytes_at(op->recv, own.at), own.len);
        run_go(run);
        for (uint32_t i = 1; i < ranks; i++) {
            uint32_t peer = rank_before(coll, i);
            struct coll_part part = part_slice(part_of(op, op->count, ranks, peer), from, step);

            run_send(run, rank_after(coll, i), bytes_at(op->recv, own.at), own.len);
            run_recv(run, peer, bytes_at(op->recv, part.at), part.len);
        }
        run_go(run);
    }
}

static uint64_t
longest_sent(const struct coll_run *run)
{
    uint64_t most = 0;

    for (uint32_t i = 0; i < run->coll->rank_num; i++) {
        uint64_t len = part_sent(run->op, i).len;

        most = len > most ? len : most;
    }
    return most;
}

static void
reduce_scatter(struct coll_run *run)
{
    const struct coll_op *op = run->op;
    const struct coll *coll = run->coll;
    uint64_t most = longest_sent(run), step = coll->slot_len;

    for (uint64_t from = 0; from < most; from += step) {
        struct coll_part own = part_slice(part_sent(op, coll->rank), from, step);

        for (uint32_t i = 1; i < coll->rank_num; i++) {
            uint32_t to = rank_after(coll, i);
            struct coll_part part = part_slice(part_sent(op, to), from, step);

            run_send(run, to, bytes_at(op->send, part.at), part.len);
        }
        run_own(run, bytes_at(op->recv, from), bytes_at(op->send, own.at), own.len);
        for (uint32_t i = 1; i < coll->rank_num; i++)
            run_fold(run, rank_before(coll, i), bytes_at(op->recv, from), own.len);
        run_go(run);
    }
}

/* The root reduces it all. */
static void
reduce_at_root(struct coll_run *run)
{
    const struct coll_op *op = run->op;
    const struct coll *coll = run->coll;
    uint64_t len = op->count * op->size;

    if (coll->rank != op->root) {
        run_send(run, op->root, op->send, len);
    } else {
        run_own(run, op->recv, op->send, len);
        for (uint32_t i = 1; i < coll->rank_num; i++)
            run_fold(run, rank_before(coll, i), op->recv, len);
    }
    run_go(run);
}

/* One slice: each rank reduces its part and sends it to the root. */
static void
reduce_slice(struct coll_run *run, uint64_t from)
{
    const struct coll_op *op = run->op;
    const struct coll *coll = run->coll;
    uint32_t ranks = coll->rank_num;
    uint64_t step = coll->slot_len;
    struct coll_part own = part_slice(part_of(op, op->count, ranks, coll->rank), from, step);
    uint8_t *into = coll->rank == op->root ? bytes_at(op->recv, own.at) : coll->work;

    for (uint32_t i = 1; i < ranks; i++) {
        uint32_t to = rank_after(coll, i);
        struct coll_part part = part_slice(part_of(op, op->count, ranks, to), from, step);

        run_send(run, to, bytes_at(op->send, part.at), part.len);
    }
    run_own(run, into, bytes_at(op->send, own.at), own.len);
    for (uint32_t i = 1; i < ranks; i++)
        run_fold(run, rank_before(coll, i), into, own.len);
    run_go(run);
    for (uint32_t i = 1; i < ranks && coll->rank == op->root; i++) {
        uint32_t peer = rank_before(coll, i);
        struct coll_part part = part_slice(part_of(op, op->count, ranks, peer), from, step);

        run_recv(run, peer, bytes_at(op->recv, part.at), part.len);
    }
    if (coll->rank != op->root)
        run_send(run, op->root, into, own.len);
    run_go(run);
}

static void
reduce(struct coll_run *run)
{
    const struct coll_op *op = run->op;
    uint32_t ranks = run->coll->rank_num;
    uint64_t most = part_of(op, op->count, ranks, 0).len;

    if (ranks <= 2 || op->count * op->size <= SHORT) {
        reduce_at_root(run);
        return;
    }
    for (uint64_t from = 0; from < most; from += run->coll->slot_len)
        reduce_slice(run, from);
}

/* ---- moving ---- */

static void
all_gather(struct coll_run *run)
{
    const struct coll_op *op = run->op;
    const struct coll *coll = run->coll;
    struct coll_part own = part_received(op, coll->rank);

    run_own(run, bytes_at(op->recv, own.at), op->send, own.len);
    for (uint32_t i = 1; i < coll->rank_num; i++) {
        uint32_t peer = rank_before(coll, i);
        struct coll_part part = part_received(op, peer);

        run_send(run, rank_after(coll, i), op->send, own.len);
        run_recv(run, peer, bytes_at(op->recv, part.at), part.len);
    }
    run_move(run);
}

static void
scatter(struct coll_run *run)
{
    const struct coll_op *op = run->op;
    const struct coll *coll = run->coll;
    struct coll_part part = part_sent(op, coll->rank);

    if (coll->rank != op->root) {
        run_recv(run, op->root, op->recv, part.len);
    } else {
        run_own(run, op->recv, bytes_at(op->send, part.at), part.len);
        for (uint32_t i = 1; i < coll->rank_num; i++) {
            part = part_sent(op, rank_after(coll, i));
            run_send(run, rank_after(coll, i), bytes_at(op->send, part.at), part.len);
        }
    }
    run_move(run);
}

static void
all_to_all(struct coll_run *run)
{
    const struct coll_op *op = run->op;
    const struct coll *coll = run->coll;
    struct coll_part sent = part_sent(op, coll->rank), received = part_received(op, coll->rank);

    run_own(run, bytes_at(op->recv, received.at), bytes_at(op->send, sent.at), received.len);
    for (uint32_t i = 1; i < coll->rank_num; i++) {
        uint32_t to = rank_after(coll, i), from = rank_before(coll, i);

        sent = part_sent(op, to);
        received = part_received(op, from);
        run_send(run, to, bytes_at(op->send, sent.at), sent.len);
        run_recv(run, from, bytes_at(op->recv, received.at), received.len);
    }
    run_move(run);
}

static void
broadcast_whole(struct coll_run *run)
{
    const struct coll_op *op = run->op;
    const struct coll *coll = run->coll;
    uint64_t len = op->count * op->size;

    if (coll->rank != op->root)
        run_recv(run, op->root, op->recv, len);
    for (uint32_t i = 1; i < coll->rank_num && coll->rank == op->root; i++)
        run_send(run, rank_after(coll, i), op->send, len);
    run_move(run);
}

/* The part that `rank`, not the root, gets from the root and tells the others. */
static struct coll_part
told_part(const struct coll_run *run, uint32_t rank, uint64_t from)
{
    uint32_t ranks = run->coll->rank_num;
    uint32_t i = (rank + ranks - run->op->root - 1) % ranks;

    return part_slice(part_of(run->op, run->op->count, ranks - 1, i), from, run->coll->slot_len);
}

static void
broadcast_slice(struct coll_run *run, uint64_t from)
{
    const struct coll_op *op = run->op;
    const struct coll *coll = run->coll;
    bool root = coll->rank == op->root;
    struct coll_part own = {0}, part;

    if (!root) {
        own = told_part(run, coll->rank, from);
        run_recv(run, op->root, bytes_at(op->recv, own.at), own.len);
    }
    for (uint32_t i = 1; i < coll->rank_num && root; i++) {
        part = told_part(run, rank_after(coll, i), from);
        run_send(run, rank_after(coll, i), bytes_at(op->send, part.at), part.len);
    }
    run_go(run);
    for (uint32_t i = 1; i < coll->rank_num && !root; i++) {
        uint32_t to = rank_after(coll, i), peer = rank_before(coll, i);

        if (to != op->root)
            run_send(run, to, bytes_at(op->recv, own.at), own.len);
        if (peer == op->root)
            continue;
        part = told_part(run, peer, from);
        run_recv(run, peer, bytes_at(op->recv, part.at), part.len);
    }
    run_go(run);
}

static void
broadcast(struct coll_run *run)
{
    const struct coll_op *op = run->op;
    uint32_t ranks = run->coll->rank_num;
    uint64_t most;

    if (ranks <= 2 || op->count * op->size <= SHORT) {
        broadcast_whole(run);
        return;
    }
    most = part_of(op, op->count, ranks - 1, 0).len;
    for (uint64_t from = 0; from < most; from += run->coll->slot_len)
        broadcast_slice(run, from);
}

static void
barrier(struct coll_run *run)
{
    for (uint32_t i = 1; i < run->coll->rank_num; i++) {
        run_tell(run, rank_after(run->coll, i));
        run_hear(run, rank_before(run->coll, i));
    }
    run_go(run);
}

static struct coll_cost
cost(enum coll_kind kind, uint32_t ranks, uint64_t bytes)
{
    uint64_t others = ranks - 1;
    struct coll_cost cost = {.steps = 1, .messages = 2 * others};

    switch (kind) {
    case COLL_ALL_REDUCE:
        cost = (struct coll_cost){.steps = 2,
                                  .messages = 4 * others,
                                  .sent = 2 * bytes * others / ranks,
                                  .reduced = bytes * others / ranks};
        break;
    case COLL_REDUCE:
    case COLL_BROADCAST:
        cost.steps = 2;
        cost.messages = 3 * others;
        cost.sent = bytes <= SHORT ? bytes * others : 2 * bytes;
        cost.reduced = kind == COLL_REDUCE ? bytes : 0;
        break;
    case COLL_REDUCE_SCATTER:
    case COLL_REDUCE_SCATTER_V:
        cost.sent = bytes * others;
        cost.reduced = bytes * others;
        break;
    default:
        cost.sent = bytes * others;
        break;
    }
    return cost;
}

const struct coll_algorithm coll_mesh = {
    .run = {[COLL_ALL_REDUCE] = all_reduce,
            [COLL_BROADCAST] = broadcast,
            [COLL_REDUCE] = reduce,
            [COLL_REDUCE_SCATTER] = reduce_scatter,
            [COLL_REDUCE_SCATTER_V] = reduce_scatter,
            [COLL_ALL_GATHER] = all_gather,
            [COLL_ALL_GATHER_V] = all_gather,
            [COLL_SCATTER] = scatter,
            [COLL_ALL_TO_ALL] = all_to_all,
            [COLL_ALL_TO_ALL_V] = all_to_all,
            [COLL_ALL_TO_ALL_VC] = all_to_all,
            [COLL_BARRIER] = barrier},
    .cost = cost,
};
