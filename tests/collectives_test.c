/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The collectives of hccl.h with ranks as threads of one process: every operation, type, reduction,
 * size class and number of ranks against the plain reference of coll.h.
 *
 * `matrix` is also run once for each engine and algorithm: see CMakeLists.txt.
 */
#include "tests/coll.h"

static const HcclDataType some_types[] = {INT32, FP32, FP16, INT8, FP64, BFP16, INT64};

/* Nothing, one, few, odd, 4 KiB and 64 KiB and one more than that of fp32. */
static const uint64_t counts[] = {0, 1, 5, 1023, 1024, 16385};

/* ---- every type and reduction ---- */

static void
all_types(struct coll_rank *me)
{
    coll_run_types(me, 257);
}

TEST(every_type_and_reduction_with_2_ranks)
{
    coll_threads(2, all_types);
}

TEST(every_type_and_reduction_with_5_ranks)
{
    coll_threads(5, all_types);
}

TEST(every_type_and_reduction_with_8_ranks)
{
    coll_threads(8, all_types);
}

/* ---- every number of ranks and size ---- */

static void
all_sizes(struct coll_rank *me)
{
    for (size_t i = 0; i < COLL_NUMBER(counts); i++)
        coll_run_each(me, counts[i], i);
}

TEST(one_rank)
{
    coll_threads(1, all_sizes);
}

TEST(two_ranks)
{
    coll_threads(2, all_sizes);
}

TEST(three_ranks)
{
    coll_threads(3, all_sizes);
}

TEST(five_ranks)
{
    coll_threads(5, all_sizes);
}

TEST(six_ranks)
{
    coll_threads(6, all_sizes);
}

TEST(seven_ranks)
{
    coll_threads(7, all_sizes);
}

TEST(eight_ranks)
{
    coll_threads(8, all_sizes);
}

static void
few_sizes(struct coll_rank *me)
{
    coll_run_each(me, 0, 1);
    coll_run_each(me, 1, 2);
    coll_run_each(me, SIDES_SLOW ? 65 : 4097, 3);
}

TEST(sixteen_ranks)
{
    coll_threads(16, few_sizes);
}

TEST(seventeen_ranks)
{
    coll_threads(17, few_sizes);
}

static void
crowd(struct coll_rank *me)
{
    coll_run_each(me, 1, 1);
    coll_run_each(me, 100, 2);
}

TEST(sixty_four_ranks)
{
    coll_threads(SIDES_SLOW ? 24 : 64, crowd);
}

/* ---- larger than the HCCL buffer ---- */

static void
large(struct coll_rank *me)
{
    coll_run_each(me, 256u << 10, 1); /* 1 MiB of fp32 */
    coll_run_each(me, (SIDES_SLOW ? 200u : 500u) * 1000 + 1, 2);
}

TEST(more_than_the_buffer_with_2_ranks)
{
    coll_threads_configured(2, large, coll_small_buffer);
}

TEST(more_than_the_buffer_with_3_ranks)
{
    coll_threads_configured(3, large, coll_small_buffer);
}

/* One rank has much, the others nothing or little. */
static void
large_and_small(struct coll_rank *me)
{
    static const enum coll_kind kinds[] = {ALL_GATHER_V, REDUCE_SCATTER_V, ALL_TO_ALL_V,
                                           ALL_TO_ALL_VC};

    for (uint64_t seed = 1; seed < 7; seed++) {
        for (size_t i = 0; i < COLL_NUMBER(kinds); i++) {
            struct coll c = {.kind = kinds[i],
                             .type = seed % 2 == 0 ? INT8 : INT64,
                             .count = seed < 4 ? 200000 : 3,
                             .seed = seed};

            coll_run(me, &c);
        }
    }
}

TEST(parts_of_very_different_sizes)
{
    coll_threads_configured(4, large_and_small, coll_small_buffer);
}

/* ---- where the buffers are ---- */

static void
in_place(struct coll_rank *me)
{
    for (size_t i = 0; i < COLL_NUMBER(counts); i++) {
        for (int kind = 0; kind < COLL_KINDS; kind++) {
            struct coll c = {.kind = (enum coll_kind)kind,
                             .type = some_types[i % COLL_NUMBER(some_types)],
                             .op = (HcclReduceOp)(i % 4),
                             .count = counts[i],
                             .root = (uint32_t)i % me->num,
                             .in_place = true,
                             .seed = i};

            if (coll_may_be_in_place(c.kind))
                coll_run(me, &c);
        }
    }
}

TEST(in_place_with_2_ranks)
{
    coll_threads(2, in_place);
}

TEST(in_place_with_7_ranks)
{
    coll_threads_configured(7, in_place, coll_small_buffer);
}

static void
large_in_place(struct coll_rank *me)
{
    for (int kind = 0; kind < COLL_KINDS; kind++) {
        struct coll c = {.kind = (enum coll_kind)kind,
                         .type = INT32,
                         .count = 700001,
                         .in_place = true,
                         .seed = 3};

        if (coll_may_be_in_place(c.kind))
            coll_run(me, &c);
    }
}

TEST(in_place_and_larger_than_the_buffer)
{
    coll_threads_configured(3, large_in_place, coll_small_buffer);
}

/* What reduces needs the alignment of its elements, what moves none. */
static void
unaligned(struct coll_rank *me)
{
    static const uint32_t shifts[] = {1, 7, 8, 24, 33, 63};
    static const uint64_t odd[] = {3, 1000, 16385};

    for (size_t i = 0; i < COLL_NUMBER(shifts) * COLL_NUMBER(odd); i++) {
        for (int kind = 0; kind < BARRIER; kind++) {
            struct coll c = {.kind = (enum coll_kind)kind,
                             .type = some_types[i % COLL_NUMBER(some_types)],
                             .op = (HcclReduceOp)(i % 4),
                             .count = odd[i % COLL_NUMBER(odd)],
                             .root = (uint32_t)i % me->num,
                             .shift = shifts[i % COLL_NUMBER(shifts)],
                             .seed = i};

            if (coll_reduces(c.kind))
                c.shift = c.shift / coll_types[c.type].size * coll_types[c.type].size;
            coll_run(me, &c);
        }
    }
}

TEST(buffers_need_no_cache_line)
{
    coll_threads(3, unaligned);
}

static void
all_roots(struct coll_rank *me)
{
    for (uint32_t root = 0; root < me->num; root++) {
        for (int kind = 0; kind < COLL_KINDS; kind++) {
            for (uint64_t count = 1; count < 2000; count = count * 40 + 3) {
                struct coll c = {.kind = (enum coll_kind)kind,
                                 .type = INT16,
                                 .count = count,
                                 .root = root,
                                 .seed = root};

                if (coll_has_root(c.kind))
                    coll_run(me, &c);
            }
        }
    }
}

TEST(every_rank_is_root_of_5)
{
    coll_threads(5, all_roots);
}

TEST(every_rank_is_root_of_8)
{
    coll_threads(8, all_roots);
}

/* ---- the matrix: what each engine and algorithm must do ---- */

static void
matrix(struct coll_rank *me)
{
    static const uint64_t matrix_counts[] = {1, 1023, 16385};

    for (size_t i = 0; i < COLL_NUMBER(matrix_counts); i++)
        coll_run_each(me, matrix_counts[i], i);
    in_place(me);
    for (uint32_t i = 0; i < 4; i++)
        coll_run_each(me, 100 + i, 10 + i);
}

static void
matrix_large(struct coll_rank *me)
{
    coll_run_each(me, 300001, 1);
}

TEST(matrix)
{
    static const uint32_t ranks[] = {2, 3, 4, 1, 5, 6, 7, 8};

    for (size_t i = 0; i < (SIDES_SLOW ? 3 : COLL_NUMBER(ranks)); i++)
        coll_threads_configured(ranks[i], matrix, coll_small_buffer);
    coll_threads_configured(SIDES_SLOW ? 7 : 16, crowd, coll_small_buffer);
    coll_threads_configured(SIDES_SLOW ? 8 : 17, crowd, coll_small_buffer);
    coll_threads_configured(4, matrix_large, coll_small_buffer);
}

TEST(matrix_on_the_calling_thread)
{
    setenv("HCOMM_TEST_STREAM", "inline", 1);
    coll_threads_configured(2, all_types, NULL);
    coll_threads_configured(5, matrix, coll_small_buffer);
    coll_threads_configured(3, matrix_large, coll_small_buffer);
}
