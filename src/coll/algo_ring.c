/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ring: each rank sends to the next one only. The fewest bytes and few messages, but as many steps
 * as there are ranks. Broadcast and reduce are chains, along which slices follow each other.
 */
#include "coll/coll.h"

/* Part `i` may be counted beyond either end. */
static uint32_t
wrap(const struct coll *coll, uint32_t i)
{
    return i % coll->rank_num;
}

static void
exchange(struct coll_run *run, const void *from, uint64_t send_len, void *to, uint64_t recv_len)
{
    run_send(run, rank_after(run->coll, 1), from, send_len);
    run_recv(run, rank_before(run->coll, 1), to, recv_len);
    run_go(run);
}

/* ---- all-reduce ---- */

static struct coll_part
slice_of(const struct coll_run *run, uint32_t i, uint64_t from)
{
    const struct coll_op *op = run->op;

    return part_slice(part_of(op, op->count, run->coll->rank_num, wrap(run->coll, i)), from,
                      run->coll->slot_len);
}

static void
all_reduce_slice(struct coll_run *run, uint64_t from)
{
    const struct coll_op *op = run->op;
    const struct coll *coll = run->coll;
    uint32_t ranks = coll->rank_num, place = coll->rank + 2 * ranks;

    for (uint32_t step = 1; step < ranks; step++) { /* part `rank` is the last that comes */
        struct coll_part out = slice_of(run, place - step, from);
        struct coll_part in = slice_of(run, place - step - 1, from);

        run_send(run, rank_after(coll, 1), bytes_at(step == 1 ? op->send : op->recv, out.at),
                 out.len);
        run_own(run, bytes_at(op->recv, in.at), bytes_at(op->send, in.at), in.len);
        run_fold(run, rank_before(coll, 1), bytes_at(op->recv, in.at), in.len);
        run_go(run);
    }
    for (uint32_t step = 0; step + 1 < ranks; step++) {
        struct coll_part out = slice_of(run, place - step, from);
        struct coll_part in = slice_of(run, place - step - 1, from);

        exchange(run, bytes_at(op->recv, out.at), out.len, bytes_at(op->recv, in.at), in.len);
    }
}

static void
all_reduce(struct coll_run *run)
{
    const struct coll_op *op = run->op;
    uint64_t most = part_of(op, op->count, run->coll->rank_num, 0).len;

    for (uint64_t from = 0; from < most; from += run->coll->slot_len)
        all_reduce_slice(run, from);
}

/* ---- reduce-scatter, all-gather ---- */

static struct coll_part
sent_slice(const struct coll_run *run, uint32_t i, uint64_t from)
{
    return part_slice(part_sent(run->op, wrap(run->coll, i)), from, run->coll->slot_len);
}

/* What travels is gathered in the work area; what is there has been sent before it is overwritten.
 */
static void
reduce_scatter_slice(struct coll_run *run, uint64_t from)
{
    const struct coll_op *op = run->op;
    const struct coll *coll = run->coll;
    uint32_t ranks = coll->rank_num, place = coll->rank + 2 * ranks;

    for (uint32_t step = 1; step < ranks; step++) {
        struct coll_part out = sent_slice(run, place - step, from);
        struct coll_part in = sent_slice(run, place - step - 1, from);
        bool last = step + 1 == ranks;
        uint8_t *into = last ? bytes_at(op->recv, from) : coll->work;

        run_send(run, rank_after(coll, 1), step == 1 ? bytes_at(op->send, out.at) : coll->work,
                 out.len);
        run_own(run, into, bytes_at(op->send, in.at), in.len);
        run_fold(run, rank_before(coll, 1), into, in.len);
        run_go(run);
    }
}

static void
reduce_scatter(struct coll_run *run)
{
    uint64_t most = 0;

    for (uint32_t i = 0; i < run->coll->rank_num; i++) {
        uint64_t len = part_sent(run->op, i).len;

        most = len > most ? len : most;
    }
    for (uint64_t from = 0; from < most; from += run->coll->slot_len)
        reduce_scatter_slice(run, from);
}

static void
all_gather(struct coll_run *run)
{
    const struct coll_op *op = run->op;
    const struct coll *coll = run->coll;
    uint32_t place = coll->rank + coll->rank_num;
    struct coll_part own = part_received(op, coll->rank);

    run_copy(run, bytes_at(op->recv, own.at), op->send, own.len);
    for (uint32_t step = 0; step + 1 < coll->rank_num; step++) {
        struct coll_part out = part_received(op, wrap(coll, place - step));
        struct coll_part in = part_received(op, wrap(coll, place - step - 1));

        exchange(run, bytes_at(op->recv, out.at), out.len, bytes_at(op->recv, in.at), in.len);
    }
}

/* ---- chains ---- */

/* Places along the chain, from the root. */
static uint32_t
chain_place(const struct coll_run *run)
{
    return rank_after(run->coll, run->coll->rank_num - run->op->root);
}

/* Slice `at` comes while the one before it goes on. */
static void
broadcast(struct coll_run *run)
{
    const struct coll_op *op = run->op;
    const struct coll *coll = run->coll;
    struct coll_part all = {.len = op->count * op->size};
    uint32_t place = chain_place(run);
    uint64_t step = coll->slot_len;

    for (uint64_t at = 0; at < all.len + step; at += step) {
        struct coll_part in = part_slice(all, at, step);

        if (at > 0 && place + 1 < coll->rank_num) {
            struct coll_part out = part_slice(all, at - step, step);

            run_send(run, rank_after(coll, 1), bytes_at(op->recv, out.at), out.len);
        }
        if (place > 0)
            run_recv(run, rank_before(coll, 1), bytes_at(op->recv, in.at), in.len);
        run_go(run);
    }
}

/* Towards the root; what is on its way is gathered in the work area, which holds one slice. */
static void
reduce(struct coll_run *run)
{
    const struct coll_op *op = run->op;
    const struct coll *coll = run->coll;
    struct coll_part all = {.len = op->count * op->size};
    uint32_t place = chain_place(run);
    uint64_t step = coll->slot_len;

    for (uint64_t at = 0; at < all.len + step; at += step) {
        struct coll_part in = part_slice(all, at, step);
        uint8_t *into = place == 0 ? bytes_at(op->recv, at) : coll->work;

        if (at > 0 && place > 0) {
            struct coll_part out = part_slice(all, at - step, step);
            bool first = place + 1 == coll->rank_num; /* of the chain: nobody comes before */

            run_send(run, rank_before(coll, 1), first ? bytes_at(op->send, out.at) : coll->work,
                     out.len);
        }
        if (place + 1 < coll->rank_num) {
            run_own(run, into, bytes_at(op->send, in.at), in.len);
            run_fold(run, rank_after(coll, 1), into, in.len);
        }
        run_go(run);
    }
}

static struct coll_cost
cost(enum coll_kind kind, uint32_t ranks, uint64_t bytes)
{
    uint64_t others = ranks - 1;
    struct coll_cost cost = {.steps = others, .messages = 2 * others, .sent = bytes * others};

    if (kind == COLL_ALL_REDUCE)
        cost = (struct coll_cost){.steps = 2 * others,
                                  .messages = 4 * others,
                                  .sent = 2 * bytes * others / ranks,
                                  .reduced = bytes * others / ranks};
    else if (kind == COLL_REDUCE_SCATTER || kind == COLL_REDUCE_SCATTER_V)
        cost.reduced = bytes * others;
    else if (kind == COLL_BROADCAST || kind == COLL_REDUCE)
        cost = (struct coll_cost){.steps = others,
                                  .messages = 2,
                                  .sent = bytes,
                                  .reduced = kind == COLL_REDUCE ? bytes : 0};
    return cost;
}

const struct coll_algorithm coll_ring = {
    .run = {[COLL_ALL_REDUCE] = all_reduce,
            [COLL_BROADCAST] = broadcast,
            [COLL_REDUCE] = reduce,
            [COLL_REDUCE_SCATTER] = reduce_scatter,
            [COLL_REDUCE_SCATTER_V] = reduce_scatter,
            [COLL_ALL_GATHER] = all_gather,
            [COLL_ALL_GATHER_V] = all_gather},
    .cost = cost,
};
