/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tree: binomial trees. The fewest messages and steps for short data; long data pass through the
 * tree slice by slice, each rank sending the last slice on while the next one comes.
 *
 * Places are counted from the root. The parent of a place is the place without its lowest one bit;
 * its children have one more bit, below that.
 */
#include "coll/coll.h"

static uint32_t
place_of(const struct coll_run *run, uint32_t root)
{
    return rank_after(run->coll, run->coll->rank_num - root);
}

static uint32_t
rank_at(const struct coll_run *run, uint32_t root, uint32_t place)
{
    return (place + root) % run->coll->rank_num;
}

/* Children have the bits below this one; for the root, all. */
static uint32_t
lowest_bit(const struct coll_run *run, uint32_t place)
{
    return place == 0 ? 1u << log2_up(run->coll->rank_num) : place & (0u - place);
}

static void
down(struct coll_run *run, uint32_t root)
{
    const struct coll_op *op = run->op;
    struct coll_part all = {.len = op->count * op->size};
    uint32_t place = place_of(run, root), bit = lowest_bit(run, place);
    uint64_t step = run->coll->slot_len;

    for (uint64_t at = 0; at < all.len + step; at += step) {
        struct coll_part in = part_slice(all, at, step);
        struct coll_part out = at == 0 ? (struct coll_part){0} : part_slice(all, at - step, step);

        for (uint32_t child = bit / 2; child > 0; child /= 2) {
            if (place + child < run->coll->rank_num)
                run_send(run, rank_at(run, root, place + child), bytes_at(op->recv, out.at),
                         out.len);
        }
        if (place > 0)
            run_recv(run, rank_at(run, root, place - bit), bytes_at(op->recv, in.at), in.len);
        run_go(run);
    }
}

/* `gathers`: this rank has a receive buffer of the whole length to reduce into; else the work area,
 * which holds one slice. */
static void
up(struct coll_run *run, uint32_t root, bool gathers)
{
    const struct coll_op *op = run->op;
    struct coll_part all = {.len = op->count * op->size};
    uint32_t place = place_of(run, root), bit = lowest_bit(run, place), ranks = run->coll->rank_num;
    bool leaf = bit == 1 || place + 1 >= ranks;
    uint64_t step = run->coll->slot_len;

    for (uint64_t at = 0; at < all.len + step; at += step) {
        struct coll_part in = part_slice(all, at, step);
        struct coll_part out = at == 0 ? (struct coll_part){0} : part_slice(all, at - step, step);
        uint8_t *into = gathers ? bytes_at(op->recv, in.at) : run->coll->work;
        const uint8_t *ready = gathers ? bytes_at(op->recv, out.at) : run->coll->work;

        if (place > 0)
            run_send(run, rank_at(run, root, place - bit),
                     leaf ? bytes_at(op->send, out.at) : ready, out.len);
        if (!leaf)
            run_own(run, into, bytes_at(op->send, in.at), in.len);
        for (uint32_t child = 1; child < bit && place + child < ranks; child *= 2)
            run_fold(run, rank_at(run, root, place + child), into, in.len);
        run_go(run);
    }
}

static void
all_reduce(struct coll_run *run)
{
    up(run, 0, true);
    down(run, 0);
}

static void
broadcast(struct coll_run *run)
{
    down(run, run->op->root);
}

static void
reduce(struct coll_run *run)
{
    up(run, run->op->root, run->coll->rank == run->op->root);
}

/* Dissemination: after step i each rank has heard, over others, of 2^(i+1) ranks. */
static void
barrier(struct coll_run *run)
{
    for (uint32_t by = 1; by < run->coll->rank_num; by *= 2) {
        run_tell(run, rank_after(run->coll, by));
        run_hear(run, rank_before(run->coll, by));
        run_go(run);
    }
}

static struct coll_cost
cost(enum coll_kind kind, uint32_t ranks, uint64_t bytes)
{
    uint64_t steps = log2_up(ranks);
    struct coll_cost cost = {.steps = steps, .messages = steps, .sent = bytes * steps};

    if (kind == COLL_BARRIER)
        cost = (struct coll_cost){.steps = steps, .messages = 2 * steps};
    if (kind == COLL_REDUCE)
        cost.reduced = bytes * steps;
    if (kind == COLL_ALL_REDUCE)
        cost = (struct coll_cost){.steps = 2 * steps,
                                  .messages = 2 * steps,
                                  .sent = bytes * steps + bytes,
                                  .reduced = bytes * steps};
    return cost;
}

const struct coll_algorithm coll_tree = {
    .run = {[COLL_ALL_REDUCE] = all_reduce,
            [COLL_BROADCAST] = broadcast,
            [COLL_REDUCE] = reduce,
            [COLL_BARRIER] = barrier},
    .cost = cost,
};
