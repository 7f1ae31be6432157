/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank is killed inside each operation, at a moment nobody chose. The others get an error that
 * names it, nothing is written to their buffers afterwards, and they can go on without it.
 */
#define _GNU_SOURCE
#include <signal.h>

#include "tests/coll.h"

#define RANKS 3
#define VICTIM 2
#define QUEUED 8

struct round {
    struct coll_shared shared; /* first */
    struct coll c;
    int queued;       /* operations at once */
    bool first_calls; /* the victim is killed when these have made their first call, */
    uint32_t callers; /* of which rank 1 is none */
    atomic_int at_work;
    _Atomic uint64_t died_ms, late_ms;
};

static uint64_t
sum_of(const uint8_t *memory, uint64_t len) /* of lines */
{
    const uint64_t *words = (const uint64_t *)(const void *)memory;
    uint64_t sum = 0;

    for (uint64_t i = 0; i < len / 8; i++)
        sum = sum * 31 + words[i];
    return sum;
}

/* Until the first error, of any of them. */
static void
work(struct coll_rank *me, struct round *round)
{
    struct coll_call calls[QUEUED];
    int rc = 0;

    for (int i = 0; i < round->queued; i++)
        coll_prepare(me, &round->c, &calls[i]);
    atomic_fetch_add(&round->at_work, 1);
    while (round->first_calls && (round->callers >> me->rank) % 2 == 0 &&
           atomic_load(&round->died_ms) == 0)
        usleep(500);
    while (rc == 0) {
        for (int i = 0; i < round->queued && rc == 0; i++)
            rc = coll_call(me, &calls[i], me->stream);
        rc = settle(me->stream, (HcclResult)rc);
    }
    for (int i = 0; i < round->queued; i++)
        coll_drop(&calls[i]);
}

static void
survive(struct coll_rank *me)
{
    struct round *round = (struct round *)(void *)me->shared;
    aclrtStream failed = me->stream;
    uint64_t late, sum;
    HcclResult rc = HCCL_E_AGAIN;

    work(me, round);
    if (me->rank == VICTIM)
        pause();
    late = side_now_ms();
    for (int i = 0; i < 20000 && atomic_load(&round->died_ms) == 0; i++)
        usleep(500); /* the test is a moment behind */
    MUST(atomic_load(&round->died_ms) != 0);
    late = late > atomic_load(&round->died_ms) ? late - atomic_load(&round->died_ms) : 0;
    if (late > atomic_load(&round->late_ms))
        atomic_store(&round->late_ms, late);
    MUST(late < 20000);
    MUST(test_logged("rank 2") > 0);
    sum = sum_of(me->memory, me->used);
    usleep(50000);
    MUST_EQ(sum, sum_of(me->memory, me->used));
    for (int tries = 0; tries < 20000 && rc == HCCL_E_AGAIN; tries++) {
        rc = HcclCommDestroy(me->comm);
        if (rc == HCCL_E_AGAIN)
            usleep(500);
    }
    MUST_EQ(HCCL_SUCCESS, rc);
    me->num = RANKS - 1;
    me->used = 0;
    OK(coll_join(me->shared, me->num, me->rank, 2, NULL, &me->comm));
    if (failed != INLINE)
        OK(aclrtCreateStream(&me->stream));
    coll_run_each(me, 1000, 1);
    if (failed != INLINE)
        OK(aclrtDestroyStream(me->stream));
    me->stream = failed;
}

static void
process(int rank, void *shared)
{
    static struct coll_team team;

    test_allow_errors();
    setenv("HCOMM_CONNECT_TIMEOUT", "30000", 1); /* if the other one has failed */
    team = (struct coll_team){.shared = shared,
                              .num = RANKS,
                              .first = (uint32_t)rank,
                              .here = 1,
                              .body = survive,
                              .configure = coll_small_buffer};
    coll_team_run(&team);
}

/* When `await` ranks are at work, and some microseconds more. Returns how late it was noticed. */
static uint64_t
kill_in_round(struct procs *procs, int await, useconds_t after)
{
    struct round *round = procs->shared;
    const struct coll *c = &round->c;
    uint64_t late;

    procs_fork(procs, RANKS, process);
    procs_await(&round->at_work, await);
    usleep(after);
    procs_kill(procs, VICTIM);
    atomic_store(&round->died_ms, side_now_ms());
    for (int i = 0; i < RANKS - 1; i++) {
        if (procs_wait(procs, i) != 0) {
            fprintf(stderr, "rank %d did not survive %s, count %llu, root %u, %d queued\n", i,
                    coll_names[c->kind], (unsigned long long)c->count, c->root, round->queued);
            MUST(false);
        }
    }
    late = atomic_load(&round->late_ms);
    procs_expect_success(procs);
    return late;
}

static uint64_t
kill_at_random(const struct coll *c, int queued)
{
    struct procs procs;
    struct round *round = procs_prepare(&procs, sizeof *round);
    bool early = c->seed % 4 == 0;

    round->c = *c;
    round->queued = queued;
    return kill_in_round(&procs, early ? 1 : RANKS,
                         (useconds_t)(mixed(c->seed + c->count) % (early ? 3000 : 30000)));
}

/* Long and short, one and several queued, each rank as root. */
static void
kill_in(enum coll_kind kind)
{
    static const uint64_t counts[] = {300000, 100};
    uint64_t latest = 0, nth = 0;

    test_time_limit(120);
    for (size_t i = 0; i < (SIDES_SLOW ? 1 : COLL_NUMBER(counts)); i++) {
        for (int queued = 1; queued <= QUEUED; queued += QUEUED - 1, nth++) {
            struct coll c = {.kind = kind,
                             .type = INT32,
                             .count = counts[i],
                             .root = (uint32_t)(nth + (uint64_t)kind) % RANKS,
                             .seed = nth + 1};
            uint64_t late = kill_at_random(&c, queued);

            latest = late > latest ? late : latest;
        }
    }
    printf("the death was noticed within %llu ms\n", (unsigned long long)latest);
}

/* Who waits for rank 1 to connect is told that rank 1 cannot reach the victim. */
TEST(killed_while_others_connect)
{
    for (uint32_t callers = 0; callers < 8; callers++) {
        struct procs procs;
        struct round *round = procs_prepare(&procs, sizeof *round);

        if ((callers >> 1) % 2 == 1)
            continue;
        round->c = (struct coll){.kind = ALL_REDUCE, .type = INT32, .count = 1000};
        round->queued = 1;
        round->first_calls = true;
        round->callers = callers;
        (void)kill_in_round(&procs, RANKS, 30000);
    }
}

#if SIDES_SLOW
#define KILLED_INLINE(kind_, name_)
#else
#define KILLED_INLINE(kind_, name_)                                                                \
    TEST(killed_in_##name_##_on_calling_threads)                                                   \
    {                                                                                              \
        setenv("HCOMM_TEST_STREAM", "inline", 1);                                                  \
        kill_in(kind_);                                                                            \
    }
#endif

#define KILLED(kind_, name_)                                                                       \
    TEST(killed_in_##name_)                                                                        \
    {                                                                                              \
        kill_in(kind_);                                                                            \
    }                                                                                              \
    KILLED_INLINE(kind_, name_)

KILLED(ALL_REDUCE, all_reduce)
KILLED(REDUCE, reduce)
KILLED(REDUCE_SCATTER, reduce_scatter)
KILLED(REDUCE_SCATTER_V, reduce_scatter_v)
KILLED(BROADCAST, broadcast)
KILLED(SCATTER, scatter)
KILLED(ALL_GATHER, all_gather)
KILLED(ALL_GATHER_V, all_gather_v)
KILLED(ALL_TO_ALL, all_to_all)
KILLED(ALL_TO_ALL_V, all_to_all_v)
KILLED(ALL_TO_ALL_VC, all_to_all_vc)
KILLED(BARRIER, barrier)

/* Whoever waits for a rank that is merely late learns that another one has died. */
#define LATE 2

static void
widowed(struct coll_rank *me)
{
    struct round *round = (struct round *)(void *)me->shared;
    const struct coll c = {.kind = ALL_REDUCE, .type = INT32, .count = 1000};
    struct coll_call call;

    me->stream = INLINE;
    coll_run(me, &c);
    coll_prepare(me, &c, &call);
    coll_meet(me, 0);
    if (me->rank == 1)
        raise(SIGKILL);
    if (me->rank == LATE) { /* until the others have given up */
        for (int i = 0; i < 40000 && atomic_load(&round->at_work) < 2; i++)
            usleep(500);
        MUST_EQ(2, atomic_load(&round->at_work));
    }
    MUST(coll_call(me, &call, INLINE) != 0);
    MUST(test_logged("rank 1 died") > 0);
    atomic_fetch_add(&round->at_work, 1);
    coll_drop(&call);
}

static void
widowed_process(int rank, void *shared)
{
    static struct coll_team team;

    test_allow_errors();
    team = (struct coll_team){
        .shared = shared, .num = 4, .first = (uint32_t)rank, .here = 1, .body = widowed};
    coll_team_run(&team);
}

TEST(who_waits_for_a_late_rank_learns_of_a_dead_one)
{
    struct procs procs;

    procs_start(&procs, 4, widowed_process, sizeof(struct round));
    for (int i = 0; i < 4; i++)
        MUST_EQ(i == 1 ? SIGKILL : 0, procs_wait(&procs, i));
}
