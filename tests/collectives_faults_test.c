/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that do not do what the others do: another operation, count, type, root, reduction, order;
 * that never call, leave, or are killed. Everybody gets an error that says who and what, nothing
 * hangs, and those that are left can make a new communicator.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <signal.h>

#include "tests/coll.h"

#define RANKS 3u
#define ODD 1u /* the rank that is different */

/* ---- what was said ---- */

/* How logs may spell an operation: without blanks, dashes and capitals it is in all of them. */
static const char *const plain_names[COLL_KINDS] = {
    "allreduce", "reduce",     "reducescatter", "reducescatterv", "broadcast",  "scatter",
    "allgather", "allgatherv", "alltoall",      "alltoallv",      "alltoallvc", "barrier"};

#define PARTS 5

/* A line with all of these and one of those. */
struct wanted {
    const char *all[PARTS];
    const char *either[2];
};

static bool
is_wanted(const char *line, const void *arg)
{
    const struct wanted *wanted = arg;
    char plain[512];
    size_t len = 0;

    for (; *line != '\0' && len + 1 < sizeof plain; line++) {
        if (*line != ' ' && *line != '-' && *line != '_')
            plain[len++] = (char)tolower((unsigned char)*line);
    }
    plain[len] = '\0';
    for (int i = 0; i < PARTS; i++) {
        if (wanted->all[i] != NULL && strstr(plain, wanted->all[i]) == NULL)
            return false;
    }
    return wanted->either[0] == NULL || strstr(plain, wanted->either[0]) != NULL ||
           strstr(plain, wanted->either[1]) != NULL;
}

static bool
show(const char *line, const void *arg)
{
    (void)arg;
    fprintf(stderr, "    %s\n", line);
    return false;
}

static void
must_have_said(const struct coll_rank *me, const struct wanted *wanted)
{
    if (test_logged_line(is_wanted, wanted))
        return;
    fprintf(stderr, "rank %u: no line has all of", me->rank);
    for (int i = 0; i < PARTS && wanted->all[i] != NULL; i++)
        fprintf(stderr, " \"%s\"", wanted->all[i]);
    if (wanted->either[0] != NULL)
        fprintf(stderr, " and \"%s\" or \"%s\"", wanted->either[0], wanted->either[1]);
    fprintf(stderr, "; there are:\n");
    (void)test_logged_line(show, NULL);
    abort();
}

/* ---- going on ---- */

/* Busy is an answer, for a while. */
static void
destroy(struct coll_rank *me)
{
    HcclResult rc = HCCL_E_AGAIN;

    for (int tries = 0; tries < 20000 && rc == HCCL_E_AGAIN; tries++) {
        rc = HcclCommDestroy(me->comm);
        if (rc == HCCL_E_AGAIN)
            usleep(500);
    }
    MUST_EQ(HCCL_SUCCESS, rc);
    me->comm = NULL;
}

/* A new communicator of the first `num` ranks works. */
static void
begin_again(struct coll_rank *me, uint32_t num)
{
    aclrtStream failed = me->stream;

    destroy(me);
    me->num = num;
    me->used = 0;
    OK(coll_join(me->shared, num, me->rank, 2, NULL, &me->comm));
    if (failed != INLINE)
        OK(aclrtCreateStream(&me->stream));
    coll_run_each(me, 1000, 1);
    if (failed != INLINE) {
        OK(aclrtDestroyStream(me->stream));
        me->stream = failed;
    }
}

/* Ranks as threads; errors are logged. */
static void
in_threads(void (*body)(struct coll_rank *me))
{
    test_allow_errors();
    coll_threads(RANKS, body);
}

/* ---- ranks that differ ---- */

static struct {
    struct coll ours, theirs; /* of the odd rank */
    struct coll after;        /* next; BARRIER: only the barrier that is there anyway */
    bool swapped;             /* the odd rank calls `after` first */
    const char *what[2];      /* that the message must have, beside the operations */
} differ;

static int
call_and_wait(struct coll_rank *me, const struct coll *c, struct coll_call *call)
{
    coll_prepare(me, c, call);
    return settle(me->stream, coll_call(me, call, me->stream));
}

static void
differing(struct coll_rank *me)
{
    const struct coll *mine = me->rank == ODD ? &differ.theirs : &differ.ours;
    const char *of_odd = plain_names[differ.swapped ? differ.after.kind : differ.theirs.kind];
    struct wanted wanted = {
        .all = {"rank1", plain_names[differ.ours.kind], of_odd, differ.what[0], differ.what[1]},
        .either = {"rank0", "rank2"}};
    struct coll_call first, second;
    int rc;

    if (differ.swapped && me->rank == ODD)
        mine = &differ.after;
    coll_prepare(me, mine, &first);
    coll_prepare(me, differ.swapped && me->rank == ODD ? &differ.ours : &differ.after, &second);
    rc = coll_call(me, &first, me->stream);
    if (rc == 0)
        rc = settle(me->stream, coll_call(me, &second, me->stream));
    MUST(rc != 0);
    must_have_said(me, &wanted);
    for (uint32_t i = 0; i < first.taken_num; i++) {
        coll_untouched(me, &first.c, "the line before a buffer", first.taken[i] - COLL_LINE,
                       COLL_LINE);
        coll_untouched(me, &first.c, "the line after a buffer", first.taken[i] + first.taken_len[i],
                       COLL_LINE);
    }
    coll_drop(&first);
    coll_drop(&second);
    MUST(call_and_wait(me, mine, &first) != 0); /* at once: it cannot go on */
    coll_drop(&first);
    coll_meet(me, 0);
    begin_again(me, me->num);
}

static void
differing_process(int rank, void *shared)
{
    static struct coll_team team;

    test_allow_errors();
    setenv("HCOMM_CONNECT_TIMEOUT", "30000", 1); /* if another one has failed */
    team = (struct coll_team){
        .shared = shared, .num = RANKS, .first = (uint32_t)rank, .here = 1, .body = differing};
    coll_team_run(&team);
}

static void
in_processes(void (*process)(int rank, void *shared))
{
    struct procs procs;

    procs_start(&procs, (int)RANKS, process, sizeof(struct coll_shared));
    procs_expect_success(&procs);
}

#define COLL(...) ((struct coll){__VA_ARGS__})

/* Sanitizers are content with threads. */
#if SIDES_SLOW
#define DIFFER_MORE(name_)
#else
#define DIFFER_MORE(name_)                                                                         \
    TEST(name_##_in_processes)                                                                     \
    {                                                                                              \
        set_##name_();                                                                             \
        in_processes(differing_process);                                                           \
    }                                                                                              \
    TEST(name_##_on_calling_threads)                                                               \
    {                                                                                              \
        setenv("HCOMM_TEST_STREAM", "inline", 1);                                                  \
        set_##name_();                                                                             \
        in_threads(differing);                                                                     \
    }
#endif

/* Makes three tests. What follows `theirs_`: what else the message must have. */
#define DIFFER(name_, ours_, theirs_, ...)                                                         \
    static void set_##name_(void)                                                                  \
    {                                                                                              \
        static const char *const what_[2] = {__VA_ARGS__};                                         \
                                                                                                   \
        differ.ours = ours_;                                                                       \
        differ.theirs = theirs_;                                                                   \
        differ.after = COLL(.kind = BARRIER);                                                      \
        memcpy(differ.what, what_, sizeof what_);                                                  \
    }                                                                                              \
    TEST(name_##_in_threads)                                                                       \
    {                                                                                              \
        set_##name_();                                                                             \
        in_threads(differing);                                                                     \
    }                                                                                              \
    DIFFER_MORE(name_)

DIFFER(another_operation, COLL(.kind = ALL_REDUCE, .type = INT32, .count = 100),
       COLL(.kind = ALL_GATHER, .type = INT32, .count = 100), NULL)

DIFFER(another_long_operation, COLL(.kind = ALL_REDUCE, .type = INT32, .count = 1000000),
       COLL(.kind = REDUCE_SCATTER, .type = INT32, .count = 300000), NULL)

DIFFER(a_barrier, COLL(.kind = BROADCAST, .type = INT32, .count = 100), COLL(.kind = BARRIER), NULL)

DIFFER(another_count, COLL(.kind = ALL_REDUCE, .type = INT32, .count = 4711),
       COLL(.kind = ALL_REDUCE, .type = INT32, .count = 4712), "4711", "4712")

DIFFER(a_much_larger_count, COLL(.kind = ALL_GATHER, .type = INT8, .count = 7),
       COLL(.kind = ALL_GATHER, .type = INT8, .count = 1234567), "1234567", NULL)

DIFFER(another_block_count, COLL(.kind = ALL_TO_ALL, .type = INT8, .count = 1000),
       COLL(.kind = ALL_TO_ALL, .type = INT8, .count = 999), "1000", "999")

DIFFER(no_elements, COLL(.kind = ALL_REDUCE, .type = INT32, .count = 4711),
       COLL(.kind = ALL_REDUCE, .type = INT32, .count = 0), "4711", NULL)

DIFFER(another_type, COLL(.kind = ALL_REDUCE, .type = INT32, .count = 100),
       COLL(.kind = ALL_REDUCE, .type = FP32, .count = 100), "int32", "fp32")

DIFFER(another_type_of_another_size, COLL(.kind = BROADCAST, .type = INT64, .count = 50),
       COLL(.kind = BROADCAST, .type = INT8, .count = 50), "int64", "int8")

DIFFER(another_reduction, COLL(.kind = ALL_REDUCE, .type = INT32, .count = 100, .op = SUM),
       COLL(.kind = ALL_REDUCE, .type = INT32, .count = 100, .op = MAX), "sum", "max")

DIFFER(another_reduction_of_slices,
       COLL(.kind = REDUCE_SCATTER, .type = FP32, .count = 1000, .op = MIN),
       COLL(.kind = REDUCE_SCATTER, .type = FP32, .count = 1000, .op = PROD), "min", "prod")

DIFFER(another_root_of_a_broadcast, COLL(.kind = BROADCAST, .type = INT32, .count = 100, .root = 0),
       COLL(.kind = BROADCAST, .type = INT32, .count = 100, .root = 1), "root")

DIFFER(another_root_of_a_reduction, COLL(.kind = REDUCE, .type = INT32, .count = 100, .root = 0),
       COLL(.kind = REDUCE, .type = INT32, .count = 100, .root = 2), "root")

DIFFER(another_root_of_a_scatter, COLL(.kind = SCATTER, .type = INT32, .count = 100, .root = 2),
       COLL(.kind = SCATTER, .type = INT32, .count = 100, .root = 0), "root")

DIFFER(other_sizes_of_parts, COLL(.kind = ALL_GATHER_V, .type = INT32, .count = 100, .seed = 3),
       COLL(.kind = ALL_GATHER_V, .type = INT32, .count = 100, .seed = 4), NULL)

DIFFER(other_sizes_of_slices,
       COLL(.kind = REDUCE_SCATTER_V, .type = INT32, .count = 100, .seed = 3),
       COLL(.kind = REDUCE_SCATTER_V, .type = INT32, .count = 100, .seed = 4), NULL)

DIFFER(tables_that_contradict, COLL(.kind = ALL_TO_ALL_V, .type = INT32, .count = 100, .seed = 3),
       COLL(.kind = ALL_TO_ALL_V, .type = INT32, .count = 100, .seed = 4), NULL)

DIFFER(long_tables_that_contradict,
       COLL(.kind = ALL_TO_ALL_V, .type = INT32, .count = 300000, .seed = 3),
       COLL(.kind = ALL_TO_ALL_V, .type = INT32, .count = 300000, .seed = 4), NULL)

DIFFER(another_matrix, COLL(.kind = ALL_TO_ALL_VC, .type = INT32, .count = 100, .seed = 3),
       COLL(.kind = ALL_TO_ALL_VC, .type = INT32, .count = 100, .seed = 4), NULL)

static void
set_order(void)
{
    differ.ours = COLL(.kind = ALL_REDUCE, .type = INT32, .count = 100);
    differ.theirs = differ.ours;
    differ.after = COLL(.kind = BROADCAST, .type = INT32, .count = 100);
    differ.swapped = true;
}

TEST(another_order_in_threads)
{
    set_order();
    in_threads(differing);
}

TEST(another_order_in_processes)
{
    set_order();
    in_processes(differing_process);
}

/* ---- ranks that do not come ---- */

static enum coll_kind missed;

static struct coll
of_kind(enum coll_kind kind)
{
    return COLL(.kind = kind, .type = INT32, .count = 5000, .root = ODD, .seed = 1);
}

/* The others are told who does not come, and not before the time they asked for. */
static void
one_never_calls(struct coll_rank *me)
{
    struct coll c = of_kind(missed);
    struct wanted wanted = {.all = {"rank1", plain_names[missed]}};
    uint64_t began = side_now_ms();
    struct coll_call call;

    coll_run(me, &c);
    if (me->rank != ODD) {
        MUST(call_and_wait(me, &c, &call) != 0);
        MUST(side_now_ms() - began >= 990);
        coll_drop(&call);
    }
    coll_meet(me, 0);
    must_have_said(me, &wanted);
    begin_again(me, me->num);
}

static void
one_second(HcclCommConfig *config)
{
    config->hcclExecTimeOut = 1;
}

static void
never(enum coll_kind kind)
{
    setenv("HCCL_EXEC_TIMEOUT", "1", 1);
    missed = kind;
    in_threads(one_never_calls);
}

TEST(a_rank_that_never_calls_an_all_reduce)
{
    never(ALL_REDUCE);
}

TEST(a_rank_that_never_calls_a_broadcast)
{
    never(BROADCAST);
}

TEST(a_rank_that_never_calls_an_all_to_all)
{
    never(ALL_TO_ALL);
}

TEST(a_rank_that_never_calls_a_barrier)
{
    never(BARRIER);
}

TEST(a_limit_of_the_communicator_ends_an_all_gather)
{
    missed = ALL_GATHER;
    test_allow_errors();
    coll_threads_configured(RANKS, one_never_calls, one_second);
}

TEST(calling_threads_are_alone_in_an_all_reduce)
{
    setenv("HCOMM_TEST_STREAM", "inline", 1);
    never(ALL_REDUCE);
}

TEST(calling_threads_are_alone_in_a_reduce_scatter)
{
    setenv("HCOMM_TEST_STREAM", "inline", 1);
    never(REDUCE_SCATTER);
}

/* Who is merely late is named meanwhile, and then it works. */
static void
one_is_late(struct coll_rank *me)
{
    struct coll c = of_kind(missed);
    struct wanted wanted = {.all = {"rank1", plain_names[missed], "haswaited"}};

    coll_run(me, &c);
    if (me->rank == ODD) {
        for (int i = 0; i < 20000 && !test_logged_line(is_wanted, &wanted); i++)
            usleep(1000);
        must_have_said(me, &wanted);
    }
    coll_run(me, &c);
}

TEST(a_rank_that_is_late_is_named)
{
    setenv("HCOMM_STALL_WARN", "1", 1);
    missed = ALL_REDUCE;
    coll_threads(RANKS, one_is_late);
}

TEST(a_rank_that_is_late_for_a_barrier_is_named)
{
    setenv("HCOMM_STALL_WARN", "1", 1);
    missed = BARRIER;
    coll_threads(RANKS, one_is_late);
}

TEST(a_rank_that_is_late_for_calling_threads_is_named)
{
    setenv("HCOMM_STALL_WARN", "1", 1);
    setenv("HCOMM_TEST_STREAM", "inline", 1);
    missed = ALL_GATHER;
    coll_threads(RANKS, one_is_late);
}

/* A rank that destroys its communicator will not come any more. */
static void
one_leaves(struct coll_rank *me)
{
    struct coll c = of_kind(missed);
    struct wanted wanted = {.all = {"rank1"}};
    struct coll_call call;

    coll_run(me, &c);
    coll_meet(me, 0);
    if (me->rank == ODD) {
        destroy(me);
        return;
    }
    MUST(call_and_wait(me, &c, &call) != 0);
    must_have_said(me, &wanted);
    coll_drop(&call);
}

TEST(a_rank_that_leaves_is_not_waited_for)
{
    missed = ALL_REDUCE;
    in_threads(one_leaves);
}

TEST(a_rank_that_leaves_is_not_waited_for_at_a_barrier)
{
    missed = BARRIER;
    in_threads(one_leaves);
}

/* ---- the end of a communicator ---- */

/* Not while an operation is going on; afterwards it is as if nobody had tried. */
static void
destroyed_while_busy(struct coll_rank *me)
{
    struct coll c = of_kind(missed);
    struct coll_call call;

    coll_run(me, &c);
    coll_prepare(me, &c, &call);
    if (me->rank == ODD)
        side_await(&me->shared->turns[1], (int)me->num - 1);
    coll_must_call(me, &call, me->stream);
    if (me->rank != ODD) {
        MUST_EQ(HCCL_E_AGAIN, HcclCommDestroy(me->comm));
        atomic_fetch_add(&me->shared->turns[1], 1);
    }
    coll_must_end(me, &c, me->stream);
    coll_check(me, &call);
    coll_drop(&call);
    coll_run(me, &c);
    destroy(me);
}

TEST(a_communicator_is_not_destroyed_while_it_reduces)
{
    missed = ALL_REDUCE;
    in_threads(destroyed_while_busy);
}

TEST(a_communicator_is_not_destroyed_at_a_barrier)
{
    missed = BARRIER;
    in_threads(destroyed_while_busy);
}

TEST(a_communicator_is_not_destroyed_while_it_broadcasts)
{
    missed = BROADCAST;
    in_threads(destroyed_while_busy);
}
