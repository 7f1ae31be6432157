/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The collectives of hccl.h with ranks in several processes, one or more in each, against the plain
 * reference of coll.h.
 */
#include "tests/coll.h"

#define QUEUED (SIDES_SLOW ? 40u : 200u)

/* Who is where: ranks are numbered through the processes. */
static struct {
    uint32_t processes, ranks[8];
    void (*body)(struct coll_rank *me);
    void (*configure)(HcclCommConfig *config);
} job;

static void
process(int nth, void *shared)
{
    static struct coll_team team;

    team = (struct coll_team){
        .shared = shared, .here = job.ranks[nth], .body = job.body, .configure = job.configure};
    for (uint32_t i = 0; i < job.processes; i++) {
        team.num += job.ranks[i];
        team.first += i < (uint32_t)nth ? job.ranks[i] : 0;
    }
    coll_team_run(&team);
}

static void
run_job(void (*body)(struct coll_rank *me), void (*configure)(HcclCommConfig *config))
{
    struct procs procs;

    job.body = body;
    job.configure = configure;
    procs_start(&procs, (int)job.processes, process, sizeof(struct coll_shared));
    procs_expect_success(&procs);
}

#define RANKS(...)                                                                                 \
    do {                                                                                           \
        static const uint32_t ranks_[] = {__VA_ARGS__};                                            \
        job.processes = COLL_NUMBER(ranks_);                                                       \
        memcpy(job.ranks, ranks_, sizeof ranks_);                                                  \
    } while (0)

static void
types(struct coll_rank *me)
{
    coll_run_types(me, 131);
}

static void
sizes(struct coll_rank *me)
{
    static const uint64_t counts[] = {0, 1, 5, 1023, 1024, 16385};

    for (size_t i = 0; i < COLL_NUMBER(counts); i++)
        coll_run_each(me, counts[i], i);
    for (uint64_t seed = 0; seed < 6; seed++) {
        for (int kind = 0; kind < COLL_KINDS; kind++) {
            struct coll c = {.kind = (enum coll_kind)kind,
                             .type = FP32,
                             .op = (HcclReduceOp)(seed % 4),
                             .count = counts[seed],
                             .root = (uint32_t)seed % me->num,
                             .in_place = true,
                             .seed = seed};

            if (coll_may_be_in_place(c.kind))
                coll_run(me, &c);
        }
    }
}

static void
large(struct coll_rank *me)
{
    coll_run_each(me, 256u << 10, 1);
    coll_run_each(me, (SIDES_SLOW ? 200u : 500u) * 1000 + 1, 2);
}

static void
queued(struct coll_rank *me)
{
    aclrtStream streams[3];

    for (int i = 0; i < 3; i++)
        OK(aclrtCreateStream(&streams[i]));
    coll_run_mixture(me, QUEUED, &me->stream, 1);
    coll_run_mixture(me, QUEUED, streams, 3);
    for (int i = 0; i < 3; i++)
        OK(aclrtDestroyStream(streams[i]));
}

static void
on_the_calling_thread(struct coll_rank *me)
{
    MUST(me->stream == INLINE);
    sizes(me);
    coll_run_each(me, 300001, 1);
}

/* Often, with ranks that are early and late. */
static void
often(struct coll_rank *me)
{
    for (uint32_t i = 0; i < (SIDES_SLOW ? 50 : 500); i++) {
        struct coll c = coll_nth(i, me->num, 7);

        if (coll_hash(i, me->rank, 0) % 16 == 0)
            usleep((useconds_t)(coll_hash(i, me->rank, 1) % 2000));
        coll_run(me, &c);
    }
}

TEST(every_type_between_two_processes)
{
    RANKS(1, 1);
    run_job(types, NULL);
}

TEST(every_size_between_two_processes)
{
    RANKS(1, 1);
    run_job(sizes, NULL);
}

TEST(more_than_the_buffer_between_two_processes)
{
    RANKS(1, 1);
    run_job(large, coll_small_buffer);
}

TEST(hundreds_queued_between_two_processes)
{
    RANKS(1, 1);
    run_job(queued, NULL);
}

TEST(on_the_calling_threads_of_two_processes)
{
    setenv("HCOMM_TEST_STREAM", "inline", 1);
    RANKS(1, 1);
    run_job(on_the_calling_thread, coll_small_buffer);
}

/* Whether a message goes at once or is offered is what each machine measures: when all are offered,
 * ranks that send before they receive must not wait for each other. It would show as the limit. */
static void
thousands(struct coll_rank *me)
{
    struct coll c = {.kind = ALL_REDUCE, .type = FP32, .op = HCCL_REDUCE_SUM, .count = 300};

    for (c.seed = 0; c.seed < (SIDES_SLOW ? 1000 : 2000); c.seed++)
        coll_run(me, &c);
    c.kind = REDUCE_SCATTER; /* its ranks exchange words only */
    for (c.seed = 0; c.seed < (SIDES_SLOW ? 1000 : 2000); c.seed++)
        coll_run(me, &c);
}

TEST(messages_that_are_offered_between_processes)
{
    setenv("HCOMM_TEST_STREAM", "inline", 1);
    setenv("HCOMM_P2P_PLAN", "eager=40", 1);
    RANKS(1, 1, 1);
    run_job(thousands, NULL);
}

TEST(every_size_between_four_processes)
{
    RANKS(1, 1, 1, 1);
    run_job(sizes, NULL);
}

TEST(more_than_the_buffer_between_four_processes)
{
    RANKS(1, 1, 1, 1);
    run_job(large, coll_small_buffer);
}

TEST(hundreds_queued_between_three_processes)
{
    RANKS(1, 1, 1);
    run_job(queued, coll_small_buffer);
}

TEST(early_and_late_ranks_of_three_processes)
{
    RANKS(1, 1, 1);
    run_job(often, coll_small_buffer);
}

TEST(on_the_calling_threads_of_three_processes)
{
    setenv("HCOMM_TEST_STREAM", "inline", 1);
    RANKS(1, 1, 1);
    run_job(on_the_calling_thread, coll_small_buffer);
}

/* What each engine and algorithm must do: see CMakeLists.txt. */
static void
matrix(struct coll_rank *me)
{
    sizes(me);
    coll_run_each(me, 200001, 1);
    coll_run_mixture(me, QUEUED, &me->stream, 1);
}

TEST(matrix_between_processes)
{
    RANKS(1, 1, 1);
    run_job(matrix, coll_small_buffer);
    RANKS(1, 1, 1, 1);
    run_job(matrix, coll_small_buffer);
}

/* Threads of one process that meet by way of another one: the thread sanitizer does not see it. */
#if !defined(__SANITIZE_THREAD__)

TEST(every_type_with_two_ranks_in_each_of_two_processes)
{
    RANKS(2, 2);
    run_job(types, NULL);
}

TEST(every_size_with_two_ranks_in_each_of_two_processes)
{
    RANKS(2, 2);
    run_job(sizes, NULL);
}

TEST(more_than_the_buffer_with_two_ranks_in_each_of_two_processes)
{
    RANKS(2, 2);
    run_job(large, coll_small_buffer);
}

TEST(every_size_with_one_rank_and_three)
{
    RANKS(1, 3);
    run_job(sizes, NULL);
}

TEST(hundreds_queued_with_three_ranks_and_one)
{
    RANKS(3, 1);
    run_job(queued, coll_small_buffer);
}

TEST(every_size_with_two_ranks_one_and_four)
{
    RANKS(2, 1, 4);
    run_job(sizes, coll_small_buffer);
}

TEST(early_and_late_ranks_of_two_processes)
{
    RANKS(2, 3);
    run_job(often, NULL);
}

#endif
