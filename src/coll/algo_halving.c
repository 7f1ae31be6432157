/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hd: recursive halving and doubling. Ranks pair up at distances that halve; of what both have,
 * each reduces one half and sends the other. Then the other way round, halves become wholes. Few
 * steps and the fewest bytes.
 *
 * It works on a power of two of members. For all-reduce, other numbers of ranks are folded first:
 * of the first ranks every even one gives its data to the next rank and gets the result from it.
 * Reduce-scatter and all-gather are left to other algorithms then.
 */
#include "coll/coll.h"

#define SLICE 4u /* slots: how much is reduced before it is sent on */

/* ---- halving and doubling of `data`, which has a part for each member ---- */

struct halves {
    uint8_t *data;
    uint64_t each;     /* bytes of each part; 0: as part_of() cuts */
    uint64_t elements; /* these */
    uint32_t members, place;
    uint32_t folded; /* ranks below 2 * folded are in pairs */
};

/* Where part `i` begins; i may be `members`. */
static uint64_t
part_begin(const struct coll_run *run, const struct halves *halves, uint32_t i)
{
    struct coll_part last;

    if (halves->each > 0)
        return halves->each * i;
    if (i < halves->members)
        return part_of(run->op, halves->elements, halves->members, i).at;
    last = part_of(run->op, halves->elements, halves->members, i - 1);
    return last.at + last.len;
}

static uint32_t
member_rank(const struct halves *halves, uint32_t place)
{
    return place < halves->folded ? 2 * place + 1 : place + halves->folded;
}

static void
halve(struct coll_run *run, const struct halves *halves)
{
    uint32_t first = 0;

    for (uint32_t half = halves->members / 2; half > 0; half /= 2) {
        bool upper = (halves->place & half) != 0;
        uint32_t peer = member_rank(halves, halves->place ^ half);
        uint64_t low = part_begin(run, halves, first), mid = part_begin(run, halves, first + half);
        uint64_t high = part_begin(run, halves, first + 2 * half);

        run_send(run, peer, halves->data + (upper ? low : mid), upper ? mid - low : high - mid);
        run_fold(run, peer, halves->data + (upper ? mid : low), upper ? high - mid : mid - low);
        run_go(run);
        first += upper ? half : 0;
    }
}

static void
redouble(struct coll_run *run, const struct halves *halves)
{
    for (uint32_t half = 1; half < halves->members; half *= 2) {
        uint32_t peer_place = halves->place ^ half;
        uint32_t own = halves->place & ~(half - 1), other = peer_place & ~(half - 1);
        uint64_t own_at = part_begin(run, halves, own);
        uint64_t other_at = part_begin(run, halves, other);

        run_send(run, member_rank(halves, peer_place), halves->data + own_at,
                 part_begin(run, halves, own + half) - own_at);
        run_recv(run, member_rank(halves, peer_place), halves->data + other_at,
                 part_begin(run, halves, other + half) - other_at);
        run_go(run);
    }
}

/* ---- all-reduce ---- */

/* `len` bytes at `at` of both buffers. */
static void
all_reduce_slice(struct coll_run *run, uint64_t at, uint64_t len)
{
    const struct coll_op *op = run->op;
    const struct coll *coll = run->coll;
    uint32_t rank = coll->rank;
    struct halves halves = {.data = bytes_at(op->recv, at), .elements = len / op->size};
    bool gives, takes;

    halves.members = 1u << (log2_up(coll->rank_num + 1) - 1);
    halves.folded = coll->rank_num - halves.members;
    gives = rank < 2 * halves.folded && rank % 2 == 0;
    takes = rank < 2 * halves.folded && rank % 2 == 1;
    halves.place = takes ? rank / 2 : rank - halves.folded;
    if (gives) {
        run_send(run, rank + 1, bytes_at(op->send, at), len);
        run_go(run);
        run_recv(run, rank + 1, halves.data, len);
        run_go(run);
        return;
    }
    run_copy(run, halves.data, bytes_at(op->send, at), len);
    if (takes) {
        run_fold(run, rank - 1, halves.data, len);
        run_go(run);
    }
    halve(run, &halves);
    redouble(run, &halves);
    if (takes) {
        run_send(run, rank - 1, halves.data, len);
        run_go(run);
    }
}

static void
all_reduce(struct coll_run *run)
{
    uint64_t len = run->op->count * run->op->size, step = SLICE * run->coll->slot_len;

    for (uint64_t at = 0; at < len; at += step)
        all_reduce_slice(run, at, least_u64(step, len - at));
}

/* ---- powers of two only ---- */

static void
all_gather(struct coll_run *run)
{
    const struct coll_op *op = run->op;
    const struct coll *coll = run->coll;
    struct coll_part own = part_received(op, coll->rank);
    struct halves halves = {
        .data = op->recv, .each = own.len, .members = coll->rank_num, .place = coll->rank};

    run_copy(run, bytes_at(op->recv, own.at), op->send, own.len);
    if (own.len > 0)
        redouble(run, &halves);
}

/* Slices of all parts are laid side by side in the work area. */
static void
reduce_scatter(struct coll_run *run)
{
    const struct coll_op *op = run->op;
    const struct coll *coll = run->coll;
    uint64_t most =
        least_u64(coll->slot_len, coll->work_len / coll->rank_num) / COLL_LINE * COLL_LINE;
    struct halves halves = {.data = coll->work, .members = coll->rank_num, .place = coll->rank};
    uint64_t len = op->count * op->size;

    for (uint64_t from = 0; from < len; from += most) {
        halves.each = least_u64(most, len - from);
        for (uint32_t i = 0; i < coll->rank_num; i++)
            run_copy(run, coll->work + i * halves.each,
                     bytes_at(op->send, part_sent(op, i).at + from), halves.each);
        halve(run, &halves);
        run_copy(run, bytes_at(op->recv, from), coll->work + coll->rank * halves.each, halves.each);
    }
}

static bool
suits(enum coll_kind kind, uint32_t ranks)
{
    return kind == COLL_ALL_REDUCE || (ranks & (ranks - 1)) == 0;
}

static struct coll_cost
cost(enum coll_kind kind, uint32_t ranks, uint64_t bytes)
{
    bool folded = (ranks & (ranks - 1)) != 0;
    uint64_t steps = log2_up(ranks);
    struct coll_cost cost = {.steps = steps, .messages = 2 * steps, .sent = bytes * (ranks - 1)};

    if (kind == COLL_REDUCE_SCATTER) {
        cost.reduced = cost.sent;
        cost.sent += bytes * ranks / 2; /* laying side by side */
    }
    if (kind == COLL_ALL_REDUCE)
        cost = (struct coll_cost){.steps = 2 * steps + (folded ? 1 : 0),
                                  .messages = 4 * steps,
                                  .sent = (folded ? 3 : 2) * bytes + bytes / 2,
                                  .reduced = (folded ? 2 : 1) * bytes};
    return cost;
}

const struct coll_algorithm coll_halving = {
    .run = {[COLL_ALL_REDUCE] = all_reduce,
            [COLL_REDUCE_SCATTER] = reduce_scatter,
            [COLL_ALL_GATHER] = all_gather},
    .suits = suits,
    .cost = cost,
};
