/* SPDX-License-Identifier: BSD-3-Clause */
/* What `hcomm perf` takes for the right result of a collective, and what it does not. */
#include "base/alloc.h"
#include "reduce/reduce.h"
#include "tests/support/test.h"
#include "tools/perf_coll.h"

#define COUNT (2 * PERF_PERIOD + 100) /* more than two periods */
#define RANKS_MOST 40u

static uint8_t *bufs[RANKS_MOST];
static struct perf_reference *reference;

static void
set_up(void)
{
    reference = perf_reference_create();
    for (uint32_t rank = 0; rank < RANKS_MOST; rank++)
        bufs[rank] = hc_zalloc((size_t)COUNT * PERF_ELEMENT_MOST);
}

static void
tear_down(void)
{
    perf_reference_destroy(reference);
    for (uint32_t rank = 0; rank < RANKS_MOST; rank++)
        hc_free(bufs[rank]);
}

static void
fill(const struct perf_pattern *pattern)
{
    for (uint32_t rank = 0; rank < pattern->ranks; rank++)
        perf_pattern_fill(pattern, reference, rank, bufs[rank], COUNT);
}

enum order { FORWARDS, BACKWARDS, AS_A_TREE, ORDERS };

/* The result is in bufs[0]. */
static void
reduce(const struct perf_pattern *pattern, enum order order)
{
    uint32_t last = pattern->ranks - 1;

    fill(pattern);
    for (uint32_t i = 1; order == FORWARDS && i <= last; i++)
        reduce_apply(bufs[0], bufs[i], COUNT, pattern->type, pattern->redop);
    for (uint32_t i = last; order == BACKWARDS && i > 0; i--)
        reduce_apply(i == 1 ? bufs[0] : bufs[last], i == 1 ? bufs[last] : bufs[i - 1], COUNT,
                     pattern->type, pattern->redop);
    for (uint32_t step = 1; order == AS_A_TREE && step <= last; step *= 2) {
        for (uint32_t i = 0; i + step <= last; i += 2 * step)
            reduce_apply(bufs[i], bufs[i + step], COUNT, pattern->type, pattern->redop);
    }
}

static uint64_t
wrong(const struct perf_pattern *pattern)
{
    return perf_pattern_reduced(pattern, reference, bufs[0], COUNT, 0);
}

/* Calls `fn` with each type and operator that exist. */
static void
for_each_reduction(void (*fn)(struct perf_pattern *pattern))
{
    set_up();
    for (int type = 0; type <= HCCL_DATA_TYPE_FP8E8M0; type++) {
        for (int redop = HCCL_REDUCE_SUM; redop <= HCCL_REDUCE_MIN; redop++) {
            struct perf_pattern pattern = {.type = type, .redop = redop, .ranks = 2, .seed = 5};

            if (reduce_supported(type, redop))
                fn(&pattern);
        }
    }
    tear_down();
}

static bool
is_real(int type)
{
    return type == HCCL_DATA_TYPE_FP16 || type == HCCL_DATA_TYPE_FP32 ||
           type == HCCL_DATA_TYPE_FP64 || type == HCCL_DATA_TYPE_BFP16 ||
           type == HCCL_DATA_TYPE_FP8E4M3 || type == HCCL_DATA_TYPE_FP8E5M2;
}

static void
right_results_are_good(struct perf_pattern *pattern)
{
    static const uint32_t ranks[] = {1, 2, 7, RANKS_MOST};

    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++) {
        for (int order = 0; order < ORDERS; order++) {
            pattern->ranks = ranks[i];
            pattern->seed = i;
            reduce(pattern, (enum order)order);
            EXPECT_EQ(0, wrong(pattern));
        }
    }
}

TEST(what_the_library_reduces_in_any_order_is_good)
{
    test_time_limit(120);
    for_each_reduction(right_results_are_good);
}

static void
wrong_values_are_counted(struct perf_pattern *pattern)
{
    static const uint32_t places[] = {0, PERF_PERIOD - 1, PERF_PERIOD, COUNT - 1};
    uint32_t len = reduce_type_size(pattern->type);

    reduce(pattern, FORWARDS);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        bufs[0][(size_t)places[i] * len + len - 1] ^= 0x40; /* of a float, the exponent */
        EXPECT_EQ(i + 1, wrong(pattern));
    }
}

TEST(each_wrong_value_is_counted)
{
    for_each_reduction(wrong_values_are_counted);
}

static void
no_number_is_near_nan(struct perf_pattern *pattern)
{
    if (!is_real(pattern->type))
        return;
    memset(bufs[0], 0xff, (size_t)COUNT * PERF_ELEMENT_MOST);
    EXPECT_EQ(COUNT, wrong(pattern));
}

TEST(nan_is_never_good)
{
    for_each_reduction(no_number_is_near_nan);
}

static void
other_inputs_are_wrong(struct perf_pattern *pattern)
{
    pattern->ranks = 12;
    reduce(pattern, FORWARDS);
    pattern->ranks--;
    EXPECT_TRUE(wrong(pattern) > COUNT / 32); /* without one rank */
    pattern->ranks++;
    pattern->seed++;
    EXPECT_TRUE(wrong(pattern) > COUNT / 8);
}

TEST(a_reduction_without_one_rank_or_of_old_data_is_wrong)
{
    for_each_reduction(other_inputs_are_wrong);
}

/* Two roundings off is too much for an addition that rounds once. */
TEST(the_bound_of_a_sum_is_narrow)
{
    struct perf_pattern pattern = {.type = HCCL_DATA_TYPE_FP32, .ranks = 2};
    float *values;

    set_up();
    reduce(&pattern, FORWARDS);
    values = (float *)(void *)bufs[0];
    for (uint32_t i = 0; i < COUNT; i++)
        values[i] += values[i] < 0 ? -6e-7f : 6e-7f; /* the sums are below 4 */
    EXPECT_EQ(COUNT, wrong(&pattern));
    tear_down();
}

TEST(a_slice_is_compared_with_its_place)
{
    struct perf_pattern pattern = {.type = HCCL_DATA_TYPE_INT64, .redop = -1, .ranks = 3};
    const uint8_t *slice;

    set_up();
    fill(&pattern);
    slice = bufs[2] + 1000 * sizeof(int64_t);
    EXPECT_EQ(0, perf_pattern_moved(&pattern, reference, 2, slice, 5000, 1000));
    EXPECT_EQ(5000, perf_pattern_moved(&pattern, reference, 2, slice, 5000, 1001));
    EXPECT_EQ(5000, perf_pattern_moved(&pattern, reference, 1, slice, 5000, 1000));
    pattern.seed++;
    EXPECT_EQ(5000, perf_pattern_moved(&pattern, reference, 2, slice, 5000, 1000));
    EXPECT_EQ(0, perf_pattern_moved(&pattern, reference, 2, slice, 0, 1000));
    pattern.redop = HCCL_REDUCE_SUM;
    reduce(&pattern, FORWARDS);
    EXPECT_EQ(0, perf_pattern_reduced(&pattern, reference, bufs[0] + 80, 5000, 10));
    EXPECT_EQ(5000, perf_pattern_reduced(&pattern, reference, bufs[0] + 80, 5000, 11));
    tear_down();
}
