/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Deterministic reductions: sums of random FP32 numbers, which depend on the order of the sum, are
 * bit-equal in every run, whatever rank is late, and on every rank. With each algorithm.
 */
#include "tests/coll.h"

#define RUNS (SIDES_SLOW ? 4u : 20u)
#define CASES 4u /* of each size */
#define SIZES 3u

static const uint64_t counts[SIZES] = {100, 20000, SIDES_SLOW ? 70001 : 150001};

/* What each rank got in the first run of the first communicator. */
static uint64_t first[SIZES][CASES][COLL_MOST];
static bool known;

/* Of very different sizes, so that every rounding shows. */
static float
number(uint64_t rank, uint64_t index)
{
    uint64_t hash = coll_hash(5, rank, index);

    return ldexpf((float)(hash % 0xFFFFFF) / 0xFFFFFFp0f - 0.5f, (int)(hash >> 40) % 24);
}

static uint64_t
sum_of(const float *values, uint64_t count)
{
    uint64_t sum = 0;

    for (uint64_t i = 0; i < count; i++) {
        uint32_t bits;

        memcpy(&bits, &values[i], sizeof bits);
        sum = mixed(sum + bits);
    }
    return sum;
}

/* One of the kinds that reduce; returns what this rank got. */
static uint64_t
reduce_once(struct coll_rank *me, uint32_t kind, uint64_t count, float *send, float *recv)
{
    uint64_t sizes[COLL_MOST], places[COLL_MOST], got = count;
    HcclResult rc;

    for (uint32_t i = 0; i < me->num; i++) {
        places[i] = i == 0 ? 0 : places[i - 1] + sizes[i - 1];
        sizes[i] = count / me->num + (i == 1 ? count % me->num : 0);
    }
    if (kind == 0) {
        rc = HcclAllReduce(send, recv, count, FP32, SUM, me->comm, me->stream);
    } else if (kind == 1) {
        rc = HcclReduce(send, recv, count, FP32, SUM, 1, me->comm, me->stream);
        got = me->rank == 1 ? count : 0;
    } else if (kind == 2) {
        got = count / me->num;
        rc = HcclReduceScatter(send, recv, got, FP32, SUM, me->comm, me->stream);
    } else {
        got = sizes[me->rank];
        rc = HcclReduceScatterV(send, sizes, places, recv, got, FP32, SUM, me->comm, me->stream);
    }
    OK(rc);
    OK(settle(me->stream, rc));
    return sum_of(recv, got);
}

static void
again_and_again(struct coll_rank *me)
{
    float *send = (float *)(void *)me->memory, *recv = send + counts[SIZES - 1] + 16;

    for (uint64_t i = 0; i < counts[SIZES - 1]; i++)
        send[i] = number(me->rank, i);
    for (uint32_t run = 0; run < (known ? RUNS / 4 : RUNS); run++) {
        for (uint32_t size = 0; size < SIZES; size++) {
            for (uint32_t kind = 0; kind < CASES; kind++) {
                uint64_t delay = coll_hash(run, me->rank, size * CASES + kind), got;

                if (delay % 3 == 0)
                    usleep((useconds_t)(delay >> 32) % 800);
                got = reduce_once(me, kind, counts[size], send, recv);
                if (run == 0 && !known)
                    first[size][kind][me->rank] = got;
                if (first[size][kind][me->rank] != got)
                    fprintf(stderr, "rank %u of %u, run %u, count %llu, kind %u\n", me->rank,
                            me->num, run, (unsigned long long)counts[size], kind);
                MUST_EQ(first[size][kind][me->rank], got);
            }
        }
    }
    coll_meet(me, 0);
    for (uint32_t size = 0; size < SIZES; size++) /* all-reduce: the same everywhere */
        MUST_EQ(first[size][0][0], first[size][0][me->rank]);
}

static void
by_config(HcclCommConfig *config)
{
    coll_small_buffer(config);
    config->hcclDeterministic = 1;
}

static void
strict_by_config(HcclCommConfig *config)
{
    coll_small_buffer(config);
    config->hcclDeterministic = 2;
}

/* Two communicators: the second has the results of the first. */
static void
check(uint32_t ranks, const char *algo, void (*configure)(HcclCommConfig *config))
{
    setenv("HCOMM_COLL_ALGO", algo, 1);
    known = false;
    coll_threads_configured(ranks, again_and_again, configure);
    known = true;
    coll_threads_configured(ranks, again_and_again, configure);
}

#define EQUAL(name_, algo_)                                                                        \
    TEST(results_are_bit_equal_##name_)                                                            \
    {                                                                                              \
        check(3, algo_, by_config);                                                                \
        if (!SIDES_SLOW)                                                                           \
            check(6, algo_, by_config);                                                            \
    }

EQUAL(as_chosen, "auto")
EQUAL(by_mesh, "mesh")
EQUAL(by_ring, "ring")
EQUAL(by_halving_and_doubling, "hd")
EQUAL(by_tree, "tree")
EQUAL(by_two_phases, "two-phase")

TEST(results_are_bit_equal_in_strict_order)
{
    check(5, "auto", strict_by_config);
}

TEST(results_are_bit_equal_by_environment)
{
    setenv("HCCL_DETERMINISTIC", "true", 1);
    check(5, "auto", NULL);
}

TEST(results_are_bit_equal_by_strict_environment)
{
    setenv("HCCL_DETERMINISTIC", "strict", 1);
    check(4, "auto", coll_small_buffer);
}

TEST(results_are_bit_equal_on_calling_threads)
{
    setenv("HCCL_DETERMINISTIC", "true", 1);
    setenv("HCOMM_TEST_STREAM", "inline", 1);
    check(5, "auto", coll_small_buffer);
}

TEST(results_are_bit_equal_by_the_host_engine)
{
    setenv("HCOMM_COLL_ENGINE", "cpu_ts", 1);
    check(5, "auto", by_config);
}
