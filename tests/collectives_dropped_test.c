/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A collective that one rank has called and then dropped, because its stream failed or was aborted,
 * must not be taken for the next one: all ranks learn of it.
 */
#include "hcomm/hcomm_embedded.h"
#include "tests/coll.h"

#define DROPS 0u /* this rank does */

static uint32_t
fails(void *args)
{
    (void)args;
    return 7;
}

static void
drop_by_failure(aclrtStream stream, struct coll_rank *me, struct coll_call *call)
{
    int nothing = 0;

    OK(HcommLaunchEmbedded(fails, "a kernel that fails", 1, stream, &nothing, sizeof nothing));
    (void)coll_call(me, call, stream);
    MUST(aclrtSynchronizeStream(stream) != ACL_SUCCESS);
}

static void
drop_by_abort(aclrtStream stream, struct coll_rank *me, struct coll_call *call)
{
    OK(coll_call(me, call, stream));
    usleep(20000); /* begun, or not: both are tried */
    OK(aclrtStreamAbort(stream));
    (void)aclrtSynchronizeStream(stream);
}

static void (*drop)(aclrtStream stream, struct coll_rank *me, struct coll_call *call);

/* The dropped one is of this rank alone: as if the others were late. */
static void
dropped(struct coll_rank *me)
{
    const struct coll c = {.kind = ALL_REDUCE, .type = INT32, .op = SUM, .count = 100};
    struct coll_call first, second;
    int rc;

    coll_run(me, &c);
    coll_meet(me, 0);
    coll_prepare(me, &c, &first);
    if (me->rank == DROPS)
        drop(me->stream, me, &first);
    coll_meet(me, 1);
    coll_prepare(me, &c, &second);
    rc = coll_call(me, &second, me->stream);
    if (rc == 0)
        rc = (int)aclrtSynchronizeStream(me->stream);
    MUST(rc != 0);
    coll_meet(me, 2);
    MUST(test_logged("rank 0 has dropped a collective") > 0);
    coll_drop(&second);
    coll_drop(&first);
}

#define DROPPED(how_)                                                                              \
    TEST(dropped_##how_)                                                                           \
    {                                                                                              \
        test_allow_errors();                                                                       \
        drop = drop_##how_;                                                                        \
        coll_threads(2, dropped);                                                                  \
    }                                                                                              \
    TEST(dropped_##how_##_with_the_engine_cpu_ts)                                                  \
    {                                                                                              \
        setenv("HCOMM_COLL_ENGINE", "cpu_ts", 1);                                                  \
        test_allow_errors();                                                                       \
        drop = drop_##how_;                                                                        \
        coll_threads(2, dropped);                                                                  \
    }

DROPPED(by_failure)
DROPPED(by_abort)

static void
dropped_before_a_calling_thread(struct coll_rank *me)
{
    const struct coll c = {.kind = ALL_REDUCE, .type = INT32, .op = SUM, .count = 100};
    struct coll_call call;

    coll_run(me, &c);
    coll_prepare(me, &c, &call);
    if (me->rank == DROPS)
        drop_by_failure(me->stream, me, &call);
    coll_meet(me, 0);
    MUST(coll_call(me, &call, INLINE) != 0);
    coll_meet(me, 1);
    MUST(test_logged("rank 0 has dropped a collective") > 0);
    coll_drop(&call);
}

TEST(dropped_before_an_operation_on_the_calling_thread)
{
    test_allow_errors();
    coll_threads(2, dropped_before_a_calling_thread);
}

/* A graph of one collective; the others abort their runs of it, since this rank has made none. */
#define ABSENT 2u

static void
cut_run(struct coll_rank *me)
{
    const struct coll c = {.kind = ALL_REDUCE, .type = INT32, .op = SUM, .count = 50};
    struct coll_call call;
    aclmdlRI graph;

    coll_run(me, &c);
    coll_prepare(me, &c, &call);
    OK(aclmdlRICaptureBegin(me->stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    coll_must_call(me, &call, me->stream);
    OK(aclmdlRICaptureEnd(me->stream, &graph));
    if (me->rank != ABSENT) {
        OK(aclmdlRIExecuteAsync(graph, me->stream));
        usleep(20000);
        OK(aclmdlRIAbort(graph));
        (void)aclrtSynchronizeStream(me->stream);
    }
    coll_meet(me, 0);
    if (aclmdlRIExecuteAsync(graph, me->stream) == ACL_SUCCESS)
        MUST(aclrtSynchronizeStream(me->stream) != ACL_SUCCESS); /* never wrong values */
    coll_meet(me, 1);
    MUST(test_logged("has dropped a collective") > 0);
    OK(aclmdlRIDestroy(graph));
    coll_drop(&call);
}

TEST(cut_short_in_a_run_of_a_graph)
{
    test_allow_errors();
    coll_threads(3, cut_run);
}

TEST(cut_short_in_a_run_of_a_graph_with_the_engine_cpu_ts)
{
    setenv("HCOMM_COLL_ENGINE", "cpu_ts", 1);
    test_allow_errors();
    coll_threads(3, cut_run);
}
