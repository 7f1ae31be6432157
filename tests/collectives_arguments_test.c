/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arguments that no collective takes: each is refused by the call itself, with a line that begins
 * with the function, and disturbs nobody: the next operation works, although only one rank made the
 * bad calls.
 */
#include "tests/coll.h"

#define COUNT 64u
#define RANKS 3u

static const uint64_t equal[RANKS] = {COUNT, COUNT, COUNT}, places[RANKS] = {0, COUNT, 2 * COUNT};

/* Two buffers of RANKS * COUNT elements of 8 bytes. */
struct hands {
    struct coll_rank *me;
    HcclComm comm;
    aclrtStream stream;
    uint64_t *a, *b;
};

static void
refused(const struct hands *hands, HcclResult want, HcclResult got, int lines, const char *function,
        const char *call)
{
    if (want == got && test_logged(function) > lines)
        return;
    fprintf(stderr, "rank %u: %s returned %d, expected %d, and logged %d lines\n", hands->me->rank,
            call, (int)got, (int)want, test_logged(function) - lines);
    abort();
}

/* `function` is called with these arguments, and answers `want`. */
#define REFUSED(want, function, ...)                                                               \
    do {                                                                                           \
        int lines_ = test_logged(#function);                                                       \
        HcclResult rc_ = function(__VA_ARGS__);                                                    \
                                                                                                   \
        refused(hands, want, rc_, lines_, #function, #function "(" #__VA_ARGS__ ")");              \
    } while (0)

/* As REFUSED, but the line speaks of what is wrong. */
#define REFUSED_AS(word, want, function, ...)                                                      \
    do {                                                                                           \
        int lines_ = test_logged(word);                                                            \
        HcclResult rc_ = function(__VA_ARGS__);                                                    \
                                                                                                   \
        refused(hands, want, rc_, lines_, word, #function "(" #__VA_ARGS__ ")");                   \
    } while (0)

#define A hands->a
#define B hands->b
#define COMM hands->comm
#define STREAM hands->stream

static void
pointers(const struct hands *hands)
{
    REFUSED(HCCL_E_PTR, HcclAllReduce, NULL, B, COUNT, INT32, SUM, COMM, STREAM);
    REFUSED(HCCL_E_PTR, HcclAllReduce, A, NULL, COUNT, INT32, SUM, COMM, STREAM);
    REFUSED(HCCL_E_PTR, HcclBroadcast, NULL, COUNT, INT32, 0, COMM, STREAM);
    REFUSED(HCCL_E_PTR, HcclReduceScatter, NULL, B, COUNT, INT32, SUM, COMM, STREAM);
    REFUSED(HCCL_E_PTR, HcclReduceScatter, A, NULL, COUNT, INT32, SUM, COMM, STREAM);
    REFUSED(HCCL_E_PTR, HcclReduceScatterV, NULL, equal, places, B, COUNT, INT32, SUM, COMM,
            STREAM);
    REFUSED(HCCL_E_PTR, HcclReduceScatterV, A, NULL, places, B, COUNT, INT32, SUM, COMM, STREAM);
    REFUSED(HCCL_E_PTR, HcclReduceScatterV, A, equal, NULL, B, COUNT, INT32, SUM, COMM, STREAM);
    REFUSED(HCCL_E_PTR, HcclReduceScatterV, A, equal, places, NULL, COUNT, INT32, SUM, COMM,
            STREAM);
    REFUSED(HCCL_E_PTR, HcclScatter, NULL, B, COUNT, INT32, hands->me->rank, COMM, STREAM);
    REFUSED(HCCL_E_PTR, HcclScatter, A, NULL, COUNT, INT32, 0, COMM, STREAM);
    REFUSED(HCCL_E_PTR, HcclAllGather, NULL, B, COUNT, INT32, COMM, STREAM);
    REFUSED(HCCL_E_PTR, HcclAllGather, A, NULL, COUNT, INT32, COMM, STREAM);
    REFUSED(HCCL_E_PTR, HcclAllGatherV, NULL, COUNT, B, equal, places, INT32, COMM, STREAM);
    REFUSED(HCCL_E_PTR, HcclAllGatherV, A, COUNT, NULL, equal, places, INT32, COMM, STREAM);
    REFUSED(HCCL_E_PTR, HcclAllGatherV, A, COUNT, B, NULL, places, INT32, COMM, STREAM);
    REFUSED(HCCL_E_PTR, HcclAllGatherV, A, COUNT, B, equal, NULL, INT32, COMM, STREAM);
    REFUSED(HCCL_E_PTR, HcclAlltoAll, NULL, COUNT, INT32, B, COUNT, INT32, COMM, STREAM);
    REFUSED(HCCL_E_PTR, HcclAlltoAll, A, COUNT, INT32, NULL, COUNT, INT32, COMM, STREAM);
    REFUSED(HCCL_E_PTR, HcclAlltoAllV, NULL, equal, places, INT32, B, equal, places, INT32, COMM,
            STREAM);
    REFUSED(HCCL_E_PTR, HcclAlltoAllV, A, NULL, places, INT32, B, equal, places, INT32, COMM,
            STREAM);
    REFUSED(HCCL_E_PTR, HcclAlltoAllV, A, equal, NULL, INT32, B, equal, places, INT32, COMM,
            STREAM);
    REFUSED(HCCL_E_PTR, HcclAlltoAllV, A, equal, places, INT32, NULL, equal, places, INT32, COMM,
            STREAM);
    REFUSED(HCCL_E_PTR, HcclAlltoAllV, A, equal, places, INT32, B, NULL, places, INT32, COMM,
            STREAM);
    REFUSED(HCCL_E_PTR, HcclAlltoAllV, A, equal, places, INT32, B, equal, NULL, INT32, COMM,
            STREAM);
    REFUSED(HCCL_E_PTR, HcclAlltoAllVC, A, NULL, INT32, B, INT32, COMM, STREAM);
    REFUSED(HCCL_E_PTR, HcclReduce, NULL, B, COUNT, INT32, SUM, 0, COMM, STREAM);
    REFUSED(HCCL_E_PTR, HcclReduce, A, NULL, COUNT, INT32, SUM, hands->me->rank, COMM, STREAM);
}

static void
ranks_and_types(const struct hands *hands)
{
    static const int no_types[] = {-1, 13, 18, 255}, no_ops[] = {-1, 4, 255};
    static const HcclDataType bits[] = {HCCL_DATA_TYPE_HIF8, HCCL_DATA_TYPE_FP8E8M0};

    REFUSED(HCCL_E_PARA, HcclBroadcast, A, COUNT, INT32, RANKS, COMM, STREAM);
    REFUSED(HCCL_E_PARA, HcclBroadcast, A, COUNT, INT32, UINT32_MAX, COMM, STREAM);
    REFUSED(HCCL_E_PARA, HcclScatter, A, B, COUNT, INT32, RANKS, COMM, STREAM);
    REFUSED(HCCL_E_PARA, HcclReduce, A, B, COUNT, INT32, SUM, RANKS, COMM, STREAM);
    for (size_t i = 0; i < COLL_NUMBER(no_types); i++) {
        HcclDataType type = (HcclDataType)no_types[i];

        REFUSED(HCCL_E_PARA, HcclAllReduce, A, B, COUNT, type, SUM, COMM, STREAM);
        REFUSED(HCCL_E_PARA, HcclBroadcast, A, COUNT, type, 0, COMM, STREAM);
        REFUSED(HCCL_E_PARA, HcclAllGather, A, B, COUNT, type, COMM, STREAM);
        REFUSED(HCCL_E_PARA, HcclAlltoAllV, A, equal, places, type, B, equal, places, type, COMM,
                STREAM);
    }
    for (size_t i = 0; i < COLL_NUMBER(no_ops); i++) {
        HcclReduceOp op = (HcclReduceOp)no_ops[i];

        REFUSED(HCCL_E_PARA, HcclAllReduce, A, B, COUNT, INT32, op, COMM, STREAM);
        REFUSED(HCCL_E_PARA, HcclReduce, A, B, COUNT, INT32, op, 0, COMM, STREAM);
        REFUSED(HCCL_E_PARA, HcclReduceScatter, A, B, COUNT, INT32, op, COMM, STREAM);
        REFUSED(HCCL_E_PARA, HcclReduceScatterV, A, equal, places, B, COUNT, INT32, op, COMM,
                STREAM);
    }
    for (size_t i = 0; i < COLL_NUMBER(bits); i++) {
        for (int op = 0; op < 4; op++) {
            HcclReduceOp with = (HcclReduceOp)op;

            REFUSED(HCCL_E_PARA, HcclAllReduce, A, B, COUNT, bits[i], with, COMM, STREAM);
            REFUSED(HCCL_E_PARA, HcclReduce, A, B, COUNT, bits[i], with, 0, COMM, STREAM);
            REFUSED(HCCL_E_PARA, HcclReduceScatter, A, B, COUNT, bits[i], with, COMM, STREAM);
        }
    }
    REFUSED(HCCL_E_PARA, HcclAlltoAll, A, COUNT, INT32, B, COUNT, FP32, COMM, STREAM);
    REFUSED(HCCL_E_PARA, HcclAlltoAllV, A, equal, places, INT32, B, equal, places, INT8, COMM,
            STREAM);
}

/* More than memory has bytes, and what is said twice and differs. */
static void
numbers(const struct hands *hands)
{
    static const uint64_t huge[RANKS] = {COUNT, UINT64_MAX / 2, UINT64_MAX / 2};
    static const uint64_t fewer[RANKS] = {COUNT - 1, COUNT - 1, COUNT - 1};
    static const uint64_t all_huge[RANKS] = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
    static const uint64_t far[RANKS] = {0, UINT64_MAX, UINT64_MAX - COUNT / 2};
    static const uint64_t matrix[RANKS * RANKS] = {UINT64_MAX, UINT64_MAX, UINT64_MAX,
                                                   UINT64_MAX, UINT64_MAX, UINT64_MAX,
                                                   UINT64_MAX, UINT64_MAX, UINT64_MAX};

    REFUSED(HCCL_E_PARA, HcclAllReduce, A, B, UINT64_MAX, INT32, SUM, COMM, STREAM);
    REFUSED(HCCL_E_PARA, HcclAllReduce, A, B, UINT64_MAX / 4 + 2, INT32, SUM, COMM, STREAM);
    REFUSED(HCCL_E_PARA, HcclBroadcast, A, UINT64_MAX / 4 + 2, INT32, 0, COMM, STREAM);
    REFUSED(HCCL_E_PARA, HcclAllGather, A, B, UINT64_MAX / 8 + 2, INT32, COMM, STREAM);
    REFUSED(HCCL_E_PARA, HcclReduceScatter, A, B, UINT64_MAX / 8 + 2, INT32, SUM, COMM, STREAM);
    REFUSED(HCCL_E_PARA, HcclScatter, A, B, UINT64_MAX / 8 + 2, INT32, 0, COMM, STREAM);
    REFUSED(HCCL_E_PARA, HcclAlltoAll, A, UINT64_MAX / 8 + 2, INT32, B, UINT64_MAX / 8 + 2, INT32,
            COMM, STREAM);
    REFUSED(HCCL_E_PARA, HcclAlltoAll, A, COUNT, INT32, B, COUNT - 1, INT32, COMM, STREAM);
    REFUSED(HCCL_E_PARA, HcclAllGatherV, A, COUNT - 1, B, equal, places, INT32, COMM, STREAM);
    REFUSED(HCCL_E_PARA, HcclAllGatherV, A, UINT64_MAX, B, all_huge, places, INT32, COMM, STREAM);
    REFUSED(HCCL_E_PARA, HcclAllGatherV, A, COUNT, B, equal, far, INT32, COMM, STREAM);
    REFUSED(HCCL_E_PARA, HcclReduceScatterV, A, equal, places, B, COUNT + 1, INT32, SUM, COMM,
            STREAM);
    REFUSED(HCCL_E_PARA, HcclReduceScatterV, A, equal, far, B, COUNT, INT32, SUM, COMM, STREAM);
    REFUSED(HCCL_E_PARA, HcclAlltoAllV, A, huge, places, INT32, B, equal, places, INT32, COMM,
            STREAM);
    REFUSED(HCCL_E_PARA, HcclAlltoAllV, A, equal, places, INT32, B, huge, places, INT32, COMM,
            STREAM);
    REFUSED(HCCL_E_PARA, HcclAlltoAllV, A, equal, far, INT32, B, equal, places, INT32, COMM,
            STREAM);
    REFUSED(HCCL_E_PARA, HcclAlltoAllV, A, equal, places, INT32, B, equal, far, INT32, COMM,
            STREAM);
    REFUSED(HCCL_E_PARA, HcclAlltoAllVC, A, matrix, INT32, B, INT32, COMM, STREAM);
    REFUSED_AS("to itself", HCCL_E_PARA, HcclAlltoAllV, A, fewer, places, INT32, B, equal, places,
               INT32, COMM, STREAM);
    REFUSED_AS("to itself", HCCL_E_PARA, HcclAlltoAllV, A, equal, places, INT32, B, fewer, places,
               INT32, COMM, STREAM);
}

/* Results on top of each other, or of what is sent. */
static void
overlaps(const struct hands *hands)
{
    static const uint64_t same[RANKS] = {0, 0, 0}, tight[RANKS] = {0, COUNT - 1, 2 * COUNT};
    static const uint64_t inside[RANKS] = {2 * COUNT, 0, COUNT / 2};
    static const uint64_t matrix[RANKS * RANKS] = {COUNT, COUNT, COUNT, COUNT, COUNT,
                                                   COUNT, COUNT, COUNT, COUNT};
    int32_t *a = (int32_t *)(void *)hands->a;

    REFUSED(HCCL_E_PARA, HcclAllGatherV, A, COUNT, B, equal, same, INT32, COMM, STREAM);
    REFUSED(HCCL_E_PARA, HcclAllGatherV, A, COUNT, B, equal, tight, INT32, COMM, STREAM);
    REFUSED(HCCL_E_PARA, HcclAllGatherV, A, COUNT, B, equal, inside, INT32, COMM, STREAM);
    REFUSED(HCCL_E_PARA, HcclAlltoAllV, A, equal, places, INT32, B, equal, same, INT32, COMM,
            STREAM);
    REFUSED(HCCL_E_PARA, HcclAlltoAllV, A, equal, places, INT32, B, equal, tight, INT32, COMM,
            STREAM);
    REFUSED(HCCL_E_PARA, HcclAlltoAllV, A, equal, places, INT32, B, equal, inside, INT32, COMM,
            STREAM);

    REFUSED(HCCL_E_PARA, HcclAllGatherV, A, COUNT, A, equal, places, INT32, COMM, STREAM);
    REFUSED(HCCL_E_PARA, HcclReduceScatterV, A, equal, places, A, COUNT, INT32, SUM, COMM, STREAM);
    REFUSED(HCCL_E_PARA, HcclAlltoAll, A, COUNT, INT32, A, COUNT, INT32, COMM, STREAM);
    REFUSED(HCCL_E_PARA, HcclAlltoAll, A, COUNT, INT32, a + 1, COUNT, INT32, COMM, STREAM);
    REFUSED(HCCL_E_PARA, HcclAlltoAllV, A, equal, places, INT32, A, equal, places, INT32, COMM,
            STREAM);
    REFUSED(HCCL_E_PARA, HcclAlltoAllVC, A, matrix, INT32, A, INT32, COMM, STREAM);
    REFUSED(HCCL_E_PARA, HcclAlltoAllVC, A, matrix, INT32, a + RANKS * COUNT - 1, INT32, COMM,
            STREAM);

    REFUSED(HCCL_E_PARA, HcclAllReduce, a, a + 1, COUNT, INT32, SUM, COMM, STREAM);
    REFUSED(HCCL_E_PARA, HcclAllReduce, a + COUNT - 1, a, COUNT, INT32, SUM, COMM, STREAM);
    REFUSED(HCCL_E_PARA, HcclReduce, a, a + 1, COUNT, INT32, SUM, hands->me->rank, COMM, STREAM);
    REFUSED(HCCL_E_PARA, HcclAllGather, a + hands->me->rank * COUNT + 1, a, COUNT, INT32, COMM,
            STREAM);
}

static void
handles(const struct hands *hands)
{
    aclrtStream dead = NULL;
    uint64_t junk[64] = {1, 2, 3};

    OK(aclrtCreateStream(&dead));
    OK(aclrtDestroyStream(dead));
    REFUSED_AS("communicator", HCCL_E_PTR, HcclAllReduce, A, B, COUNT, INT32, SUM, NULL, STREAM);
    REFUSED_AS("communicator", HCCL_E_PTR, HcclBroadcast, A, COUNT, INT32, 0, NULL, STREAM);
    REFUSED_AS("communicator", HCCL_E_PTR, HcclReduceScatter, A, B, COUNT, INT32, SUM, NULL,
               STREAM);
    REFUSED_AS("communicator", HCCL_E_PTR, HcclReduceScatterV, A, equal, places, B, COUNT, INT32,
               SUM, NULL, STREAM);
    REFUSED_AS("communicator", HCCL_E_PTR, HcclScatter, A, B, COUNT, INT32, 0, NULL, STREAM);
    REFUSED_AS("communicator", HCCL_E_PTR, HcclAllGather, A, B, COUNT, INT32, NULL, STREAM);
    REFUSED_AS("communicator", HCCL_E_PTR, HcclAllGatherV, A, COUNT, B, equal, places, INT32, NULL,
               STREAM);
    REFUSED_AS("communicator", HCCL_E_PTR, HcclAlltoAll, A, COUNT, INT32, B, COUNT, INT32, NULL,
               STREAM);
    REFUSED_AS("communicator", HCCL_E_PTR, HcclAlltoAllV, A, equal, places, INT32, B, equal, places,
               INT32, NULL, STREAM);
    REFUSED_AS("communicator", HCCL_E_PTR, HcclAlltoAllVC, A, equal, INT32, B, INT32, NULL, STREAM);
    REFUSED_AS("communicator", HCCL_E_PTR, HcclReduce, A, B, COUNT, INT32, SUM, 0, NULL, STREAM);
    REFUSED_AS("communicator", HCCL_E_PTR, HcclBarrier, NULL, STREAM);
    REFUSED_AS("communicator", HCCL_E_PARA, HcclAllReduce, A, B, COUNT, INT32, SUM, junk, STREAM);
    REFUSED_AS("communicator", HCCL_E_PARA, HcclAlltoAllVC, A, equal, INT32, B, INT32, junk,
               STREAM);
    REFUSED_AS("communicator", HCCL_E_PARA, HcclBarrier, junk, STREAM);
    REFUSED_AS("stream", HCCL_E_RUNTIME, HcclAllReduce, A, B, COUNT, INT32, SUM, COMM, junk);
    REFUSED_AS("stream", HCCL_E_RUNTIME, HcclAllReduce, A, B, COUNT, INT32, SUM, COMM, dead);
    REFUSED_AS("stream", HCCL_E_RUNTIME, HcclBroadcast, A, COUNT, INT32, 0, COMM, dead);
    REFUSED_AS("stream", HCCL_E_RUNTIME, HcclBarrier, COMM, junk);
    REFUSED_AS("stream", HCCL_E_RUNTIME, HcclBarrier, COMM, dead);
}

static void (*bad_calls)(const struct hands *hands);

static void
one_errs(struct coll_rank *me)
{
    struct hands hands = {.me = me, .comm = me->comm, .stream = me->stream};

    coll_run_each(me, 100, 1);
    hands.a = (uint64_t *)(void *)(me->memory + me->room - (1u << 20));
    hands.b = hands.a + RANKS * COUNT;
    for (uint32_t bad = 0; bad < 2; bad++) {
        coll_meet(me, 0);
        memset(hands.a, 0x3C, 2 * RANKS * COUNT * sizeof *hands.a);
        if (me->rank == bad)
            bad_calls(&hands);
        MUST(is_all(hands.a, 2 * RANKS * COUNT * sizeof *hands.a, 0x3C));
        coll_run_each(me, 100, 2);
    }
}

static void
check(void (*calls)(const struct hands *hands))
{
    test_allow_errors();
    bad_calls = calls;
    coll_threads(RANKS, one_errs);
}

TEST(buffers_and_tables_that_are_needed_are_there)
{
    check(pointers);
}

TEST(ranks_types_and_operators_exist)
{
    check(ranks_and_types);
}

TEST(numbers_agree_and_fit_into_memory)
{
    check(numbers);
}

TEST(results_do_not_overlap)
{
    check(overlaps);
}

TEST(handles_are_live)
{
    check(handles);
}

TEST(the_same_is_refused_on_the_calling_thread)
{
    setenv("HCOMM_TEST_STREAM", "inline", 1);
    test_allow_errors();
    bad_calls = pointers;
    coll_threads(RANKS, one_errs);
    bad_calls = numbers;
    coll_threads(RANKS, one_errs);
    bad_calls = overlaps;
    coll_threads(RANKS, one_errs);
}

/* ---- what is fine ---- */

/* Nothing is moved: buffers may be missing. The default stream is a stream. */
static void
nothing(struct coll_rank *me)
{
    static const uint64_t none[RANKS] = {0}, matrix[RANKS * RANKS] = {0};
    HcclComm comm = me->comm;
    aclrtStream stream = NULL;

    OK(HcclAllReduce(NULL, NULL, 0, FP32, SUM, comm, stream));
    OK(HcclBroadcast(NULL, 0, FP32, 0, comm, stream));
    OK(HcclReduceScatter(NULL, NULL, 0, FP32, SUM, comm, stream));
    OK(HcclReduceScatterV(NULL, none, none, NULL, 0, FP32, SUM, comm, stream));
    OK(HcclScatter(NULL, NULL, 0, FP32, 1, comm, stream));
    OK(HcclAllGather(NULL, NULL, 0, FP32, comm, stream));
    OK(HcclAllGatherV(NULL, 0, NULL, none, none, FP32, comm, stream));
    OK(HcclAlltoAll(NULL, 0, FP32, NULL, 0, FP32, comm, stream));
    OK(HcclAlltoAllV(NULL, none, none, FP32, NULL, none, none, FP32, comm, stream));
    OK(HcclAlltoAllVC(NULL, matrix, FP32, NULL, FP32, comm, stream));
    OK(HcclReduce(NULL, NULL, 0, FP32, SUM, 1, comm, stream));
    OK(HcclBarrier(comm, stream));
    OK(aclrtSynchronizeStream(stream));
}

TEST(without_elements_no_buffers_are_needed)
{
    coll_threads(RANKS, nothing);
}

/* A part that is sent to several ranks need not be there several times. */
static void
shared_parts(struct coll_rank *me)
{
    static const uint64_t same[RANKS] = {0, 0, 0};
    uint64_t *a = (uint64_t *)(void *)me->memory, *b = a + COUNT;

    for (uint64_t i = 0; i < COUNT; i++)
        a[i] = me->rank * 1000 + i;
    OK(HcclAlltoAllV(a, equal, same, INT64, b, equal, places, INT64, me->comm, me->stream));
    OK(aclrtSynchronizeStream(me->stream));
    for (uint64_t i = 0; i < RANKS * COUNT; i++)
        MUST_EQ(i / COUNT * 1000 + i % COUNT, b[i]);
}

TEST(parts_that_are_sent_may_overlap)
{
    coll_threads(RANKS, shared_parts);
}
