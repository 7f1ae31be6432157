/* SPDX-License-Identifier: BSD-3-Clause */
/* compare: the loops of collectives. One JSON object a line, from rank 0. */
#include "coll.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KIB ((size_t)1024)
#define MIB (1024 * KIB)
#define PAGE 4096u
#define SPINS_ALONE 2000u /* then also let the library make progress */
#define SPINS_YIELD 40000u
#define PROCESSORS 2   /* more ranks than these give way at once */
#define REST_NS 100000 /* between looks of who must not disturb */
#define SAMPLES_MOST 60u
#define SAMPLES_LEAST 4u
#define WARM 2u
#define ROW_NS 400000000u /* then no further sample begins */
#define QUICK_ROW_NS 20000000u
#define QUICK_LEN (1 * MIB)
#define SEED_FRESH 5u

static const char *const op_names[OPS] = {"all_reduce", "all_gather", "reduce_scatter",
                                          "all_to_all", "broadcast",  "copy"};

/* How often: `rounds` operations make a sample of a static row. Small ones: all-reduce alone. */
static const struct plan {
    size_t len;
    unsigned rounds;
    bool large;
} plans[] = {
    {8, 100, false},    {64, 100, false},    {KIB, 100, false},   {64 * KIB, 10, true},
    {1 * MIB, 4, true}, {16 * MIB, 1, true}, {64 * MIB, 1, true},
};
#define PLANS (sizeof plans / sizeof plans[0])
#define CROWD_LEN (1 * MIB)

/* ---- the barrier ---- */

static bool
arrive(const struct group *group, unsigned *turn)
{
    struct coll_shared *shared = group->shared;

    *turn = atomic_load_explicit(&shared->turn.value, memory_order_relaxed);
    if (atomic_fetch_add(&shared->arrived.value, 1) + 1 != (unsigned)group->ranks)
        return false;
    atomic_store_explicit(&shared->arrived.value, 0, memory_order_relaxed);
    atomic_store_explicit(&shared->turn.value, *turn + 1, memory_order_release);
    return true;
}

void
group_meet(const struct group *group)
{
    const atomic_uint *now = &group->shared->turn.value;
    bool crowded = group->ranks > PROCESSORS;
    unsigned turn;

    if (arrive(group, &turn))
        return;
    for (unsigned spins = 0; atomic_load_explicit(now, memory_order_acquire) == turn; spins++) {
        /* A library may still have to push out what it has taken. */
        if ((crowded || spins >= SPINS_ALONE) && group->lib->progress != NULL)
            group->lib->progress();
        if (crowded || spins >= SPINS_YIELD)
            sched_yield();
    }
}

/* Waits for the others asleep, so that two of them can measure the machine. */
static void
group_rest(const struct group *group)
{
    const atomic_uint *now = &group->shared->turn.value;
    unsigned turn;

    if (arrive(group, &turn))
        return;
    while (atomic_load_explicit(now, memory_order_acquire) == turn)
        nanosleep(&(struct timespec){.tv_nsec = REST_NS}, NULL);
}

/* All ranks call it; of ranks 0 and 1 the first learns the time. */
static void
group_flag(struct group *group)
{
    struct flag *ball = group->shared->ball;

    group_meet(group); /* libraries have nothing left to push out */
    if (group->rank < 2)
        group->flag_ns =
            flag_check(&ball[group->rank].value, &ball[1 - group->rank].value, group->rank == 0);
    group_rest(group);
}

/* ---- data ---- */

/* What rank `origin` has at `index`. Sums of RANKS_MOST of them are exact. */
static inline float
value_of(unsigned origin, size_t index, unsigned seed)
{
    unsigned i = (unsigned)index;

    return (float)((i + 7 * (i >> 10) + 37 * origin + seed) & 1023);
}

static void
values_fill(float *values, size_t count, unsigned origin, unsigned seed)
{
    for (size_t i = 0; i < count; i++)
        values[i] = value_of(origin, i, seed);
}

/* Counts differences between `values` and those of `origin` from `first` on. */
static size_t
values_differ(const float *values, size_t count, unsigned origin, size_t first, unsigned seed)
{
    size_t wrong = 0;

    for (size_t i = 0; i < count; i++)
        wrong += values[i] != value_of(origin, first + i, seed);
    return wrong;
}

static size_t
sums_differ(const float *values, size_t count, unsigned ranks, size_t first, unsigned seed)
{
    size_t wrong = 0;

    for (size_t i = 0; i < count; i++) {
        float sum = 0;

        for (unsigned rank = 0; rank < ranks; rank++)
            sum += value_of(rank, first + i, seed);
        wrong += values[i] != sum;
    }
    return wrong;
}

/* ---- one row ---- */

struct row {
    enum op op;
    size_t len, count; /* bytes of the larger buffer; elements of a call */
    unsigned rounds;
    bool fresh;
    float *src, *dst; /* [len] */
};

static bool
in_blocks(enum op op)
{
    return op == ALL_GATHER || op == REDUCE_SCATTER || op == ALL_TO_ALL;
}

/* Of all-gather only the own block is sent, the rest of the source is not used. */
static void
row_fill(const struct group *group, const struct row *row, unsigned seed)
{
    if (row->op == BROADCAST)
        values_fill(row->dst, row->count, 0, seed);
    else if (row->op == ALL_GATHER)
        values_fill(row->src, row->count, (unsigned)group->rank, seed);
    else
        values_fill(row->src, row->len / sizeof(float), (unsigned)group->rank, seed);
}

static void
row_check(const struct group *group, const struct row *row, unsigned seed)
{
    unsigned ranks = (unsigned)group->ranks, me = (unsigned)group->rank;
    size_t count = row->count, wrong = 0;

    switch (row->op) {
    case ALL_REDUCE:
        wrong = sums_differ(row->dst, count, ranks, 0, seed);
        break;
    case REDUCE_SCATTER:
        wrong = sums_differ(row->dst, count, ranks, me * count, seed);
        break;
    case ALL_GATHER:
    case ALL_TO_ALL:
        for (unsigned from = 0; from < ranks; from++)
            wrong += values_differ(row->dst + from * count, count, from,
                                   row->op == ALL_TO_ALL ? me * count : 0, seed);
        break;
    case BROADCAST:
        wrong = values_differ(row->dst, count, 0, 0, seed);
        break;
    default:
        break;
    }
    if (wrong != 0)
        fail("%s: rank %d of %d: %zu wrong elements in %s of %zu bytes", group->lib->name,
             group->rank, group->ranks, wrong, op_names[row->op], row->len);
}

/* More than the buffers hold is copied in turns. */
static void
copy(const struct row *row)
{
    size_t left = row->count * sizeof(float);

    while (left > 0) {
        size_t len = left < row->len ? left : row->len;

        memcpy(row->dst, row->src, len);
        __asm__ volatile("" ::"r"(row->dst), "r"(row->src) : "memory"); /* each time */
        left -= len;
    }
}

static void
row_call(const struct group *group, const struct row *row, int root)
{
    const struct coll_lib *lib = group->lib;

    switch (row->op) {
    case ALL_REDUCE:
        lib->all_reduce(row->src, row->dst, row->count);
        break;
    case ALL_GATHER:
        lib->all_gather(row->src, row->dst, row->count);
        break;
    case REDUCE_SCATTER:
        lib->reduce_scatter(row->src, row->dst, row->count);
        break;
    case ALL_TO_ALL:
        lib->all_to_all(row->src, row->dst, row->count);
        break;
    case BROADCAST:
        lib->broadcast(row->dst, row->count, root);
        break;
    default:
        copy(row);
        break;
    }
}

/* The `nth` sample; all ranks are ready when it returns. */
static void
sample(const struct group *group, const struct row *row, unsigned nth)
{
    struct stamp *stamp = &group->shared->slots[group->rank].stamp;
    int root = (int)(nth % (unsigned)group->ranks);

    if (row->fresh && (row->op != BROADCAST || group->rank == root))
        row_fill(group, row, SEED_FRESH * nth);
    group_meet(group);
    stamp->start = now_ns();
    for (unsigned i = 0; i < row->rounds; i++)
        row_call(group, row, (int)((nth * row->rounds + i) % (unsigned)group->ranks));
    if (group->lib->finish != NULL)
        group->lib->finish();
    stamp->end = now_ns();
    group_meet(group);
    if (row->fresh)
        row_check(group, row, SEED_FRESH * nth);
}

/* What it took from the first start to the last end; rank 0, before the next barrier. */
static double
sample_time(const struct group *group, const struct row *row)
{
    struct stamp all = group->shared->slots[0].stamp;

    for (int i = 1; i < group->ranks; i++) {
        const struct stamp *one = &group->shared->slots[i].stamp;

        all.start = one->start < all.start ? one->start : all.start;
        all.end = one->end > all.end ? one->end : all.end;
    }
    return (double)(all.end - all.start) / row->rounds;
}

static void
row_run(struct group *group, const struct row *row)
{
    struct result result = {.row = op_names[row->op],
                            .bytes = row->op == COPY ? row->count * sizeof(float) : row->len,
                            .pattern = row->fresh ? "fresh" : "static",
                            .memory = row->op == COPY ? "malloc" : group->lib->memory,
                            .ranks = group->ranks,
                            .flag_before = group->flag_ns};
    bool quick = group->options->quick;
    atomic_uint *stop = &group->shared->stop.value;
    double took[SAMPLES_MOST];
    unsigned count = 0;
    uint64_t started = 0;

    memset(row->dst, 0, row->len);
    if (!row->fresh && (row->op != BROADCAST || group->rank == 0))
        row_fill(group, row, 0);
    if (group->rank == 0)
        atomic_store(stop, 0);
    for (unsigned nth = 0;; nth++) {
        group_meet(group);
        if (atomic_load(stop))
            break;
        if (nth == WARM)
            started = now_ns();
        sample(group, row, nth);
        if (group->rank != 0 || nth < WARM)
            continue;
        took[count++] = sample_time(group, row);
        if (count == SAMPLES_MOST ||
            (count >= SAMPLES_LEAST && now_ns() - started > (quick ? QUICK_ROW_NS : ROW_NS)))
            atomic_store(stop, 1);
    }
    if (!row->fresh)
        row_check(group, row, 0);
    group_flag(group);
    result.flag_after = group->flag_ns;
    if (group->rank == 0)
        result_print(&result, took, count);
}

/* ---- all rows ---- */

static void
op_rows(struct group *group, const struct plan *plan, enum op op, float *src, float *dst)
{
    size_t count = plan->len / sizeof(float);
    struct row row = {.op = op,
                      .len = plan->len,
                      .count = in_blocks(op) ? count / (size_t)group->ranks : count,
                      .rounds = plan->rounds,
                      .src = src,
                      .dst = dst};

    row_run(group, &row);
    if (!plan->large || group->options->crowd)
        return;
    row.fresh = true;
    row.rounds = 1;
    row_run(group, &row);
}

/* What a rank has to move at least: one buffer; all blocks but its own, once and twice. */
static void
copy_rows(struct group *group, const struct plan *plan)
{
    size_t ranks = (size_t)group->ranks, others = plan->len / ranks * (ranks - 1);
    struct row row = {.op = COPY, .len = plan->len, .rounds = plan->rounds};
    void *src, *dst;

    if (posix_memalign(&src, PAGE, plan->len) != 0 || posix_memalign(&dst, PAGE, plan->len) != 0)
        fail("no memory");
    row.src = src;
    row.dst = dst;
    row.count = others / sizeof(float);
    row_run(group, &row);
    row.count = plan->len / sizeof(float);
    row_run(group, &row);
    if (2 * others != plan->len) {
        row.count = 2 * others / sizeof(float);
        row_run(group, &row);
    }
    free(src);
    free(dst);
}

static void
plan_rows(struct group *group, const struct plan *plan)
{
    float *src = group->lib->alloc(plan->len), *dst = group->lib->alloc(plan->len);

    memset(src, 0, plan->len); /* the pages are there */
    op_rows(group, plan, ALL_REDUCE, src, dst);
    if (plan->large && !group->options->crowd) {
        for (enum op op = ALL_GATHER; op <= ALL_TO_ALL; op++)
            op_rows(group, plan, op, src, dst);
        if (plan->len == 1 * MIB)
            op_rows(group, plan, BROADCAST, src, dst);
        if (group->options->limits)
            copy_rows(group, plan);
    }
    group_meet(group);
    group->lib->release(src);
    group->lib->release(dst);
}

static void
flag_row(struct group *group)
{
    struct flag *ball = group->shared->ball;
    struct result result = {
        .row = "flag", .bytes = sizeof(uint32_t), .pattern = "static", .memory = "shared"};
    double took[SAMPLES_MOST];

    group_flag(group);
    result.ranks = group->ranks;
    result.flag_before = group->flag_ns;
    if (group->rank < 2) {
        for (unsigned i = 0; i < SAMPLES_MOST; i++)
            took[i] = flag_check(&ball[group->rank].value, &ball[1 - group->rank].value,
                                 group->rank == 0);
    }
    group_rest(group);
    group_flag(group);
    result.flag_after = group->flag_ns;
    if (group->rank == 0)
        result_print(&result, took, SAMPLES_MOST);
}

void
coll_main(struct group *group)
{
    const struct coll_options *options = group->options;
    char about[512] = "";

    group->lib->describe(about, sizeof about);
    if (group->rank == 0)
        printf("{\"about\":\"%s\"}\n", about);
    flag_row(group);
    for (size_t i = 0; i < PLANS; i++) {
        if (options->crowd ? plans[i].len == CROWD_LEN
                           : !options->quick || plans[i].len <= QUICK_LEN)
            plan_rows(group, &plans[i]);
    }
    group_meet(group);
}

void
coll_parse(struct coll_options *options, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0)
            options->quick = true;
        else if (strcmp(argv[i], "--crowd") == 0)
            options->crowd = true;
        else if (strcmp(argv[i], "--limits") == 0)
            options->limits = true;
        else if (strcmp(argv[i], "--threads") == 0)
            options->in_threads = true;
        else if (strcmp(argv[i], "--inline") == 0)
            options->in_line = true;
        else if (strcmp(argv[i], "--ranks") == 0 && i + 1 < argc)
            options->ranks = atoi(argv[++i]);
        else
            fail("unknown argument %s; there are --quick, --crowd, --limits, --threads, --inline "
                 "and "
                 "--ranks N",
                 argv[i]);
    }
    if (options->ranks < 2 || options->ranks > RANKS_MOST)
        fail("from 2 to %d ranks can be measured, not %d", RANKS_MOST, options->ranks);
}
