/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * choose: which algorithm does an operation. One table; the one that a simple model of time says is
 * fastest, unless the user forces one. All ranks must choose the same, so all use the numbers that
 * rank 0 has measured (state.c), and when results must not depend on measurements, fixed ones.
 */
#include "coll/coll.h"

static const struct coll_algorithm *const table[COLL_ALGOS] = {
    [COLL_MESH] = &coll_mesh, [COLL_RING] = &coll_ring,           [COLL_HALVING] = &coll_halving,
    [COLL_TREE] = &coll_tree, [COLL_TWO_PHASE] = &coll_two_phase,
};

bool
coll_algo_does(enum coll_algo algo, enum coll_kind kind, uint32_t ranks)
{
    const struct coll_algorithm *algorithm = table[algo];

    return algorithm->run[kind] != NULL &&
           (algorithm->suits == NULL || algorithm->suits(kind, ranks));
}

/* Nanoseconds. What ranks do at the same time takes longer when they are more than processors. */
static uint64_t
time_of(const struct coll_model *model, const struct coll_cost *cost, uint32_t ranks)
{
    uint64_t load = ranks > model->cores ? (ranks + model->cores - 1) / model->cores : 1;
    uint64_t tasks = cost->messages * 5 / 2;
    uint64_t moved = cost->sent / 1024 * model->mib_us * 1000 / 1024;
    uint64_t reduced = cost->reduced / 1024 * model->reduce_us * 1000 / 1024;

    return cost->steps * model->step_ns * load + (tasks * model->task_ns + moved + reduced) * load;
}

void
coll_choose(const struct coll *coll, struct coll_op *op)
{
    static const struct coll_model fixed = {
        .step_ns = 1000, .task_ns = 150, .mib_us = 150, .reduce_us = 100, .cores = 2};
    const struct coll_model *model =
        comm_deterministic(coll->comm) != 0 || !coll->connected ? &fixed : &coll->model;
    uint64_t bytes = op->count * op->size, best = UINT64_MAX;
    enum coll_algo forced = coll->forced[op->kind];

    op->algo = COLL_MESH;
    if (forced != COLL_AUTO && coll->rank_num > 1 &&
        coll_algo_does(forced, op->kind, coll->rank_num)) {
        op->algo = forced;
        return;
    }
    for (enum coll_algo algo = COLL_MESH; algo < COLL_ALGOS && coll->rank_num > 2; algo++) {
        struct coll_cost cost;
        uint64_t time;

        if (!coll_algo_does(algo, op->kind, coll->rank_num))
            continue;
        cost = table[algo]->cost(op->kind, coll->rank_num, bytes);
        time = time_of(model, &cost, coll->rank_num);
        if (time < best) {
            best = time;
            op->algo = algo;
        }
    }
}

HcclResult
coll_perform(struct coll_run *run)
{
    struct coll *coll = run->coll;

    for (uint32_t i = 0; i < coll->rank_num; i++) {
        coll->peers[i].sent = 0;
        coll->peers[i].taken = 0;
    }
    run_agree(run);
    if (run->op->kind == COLL_ALL_TO_ALL_V)
        run_agree_counts(run);
    table[run->op->algo]->run[run->op->kind](run);
    return run->rc;
}
