/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * perf_coll_data: what is in the buffers of collectives, and what should be.
 *
 * An element is a function of seed, rank and place modulo PERF_PERIOD, so that the reference for a
 * buffer of any length is worked out PERF_PERIOD times.
 *
 * R1  Integers are arbitrary (for products odd, or all would soon be 0) and wrap, so the order of
 *     the ranks does not matter: results are compared exactly.
 * R2  Floats are from 0.5 to 2, either sign. To a sum or product of more than MIXED ranks only
 * MIXED of them contribute at each place, others a 0 or a 1: so partial results neither overflow
 *     nor vanish in the narrowest type, and the bound stays narrow. With k roundings a result is
 *     within ((1 + u)^k - 1) times the sum of magnitudes of the true one, whatever the order.
 * R3  The reference shares no code with the library's reductions.
 */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "reduce/reduce.h"
#include "tools/perf_coll.h"

#define MIXED 6u

__extension__ typedef __int128 perf_int;
__extension__ typedef unsigned __int128 perf_uint;

struct perf_reference {
    uint8_t elements[PERF_PERIOD * PERF_ELEMENT_MOST]; /* what is expected, or was found good */
    long double real[PERF_PERIOD], bound[PERF_PERIOD];
};

struct layout {
    unsigned exponent, mantissa; /* bits; 0: an integer */
    bool is_signed;
    bool all_finite; /* its largest exponent holds numbers, but for the largest mantissa */
};

static struct layout
layout_of(int type)
{
    switch (type) {
    case HCCL_DATA_TYPE_FP16:
        return (struct layout){.exponent = 5, .mantissa = 10};
    case HCCL_DATA_TYPE_FP32:
        return (struct layout){.exponent = 8, .mantissa = 23};
    case HCCL_DATA_TYPE_FP64:
        return (struct layout){.exponent = 11, .mantissa = 52};
    case HCCL_DATA_TYPE_BFP16:
        return (struct layout){.exponent = 8, .mantissa = 7};
    case HCCL_DATA_TYPE_FP8E4M3:
        return (struct layout){.exponent = 4, .mantissa = 3, .all_finite = true};
    case HCCL_DATA_TYPE_FP8E5M2:
        return (struct layout){.exponent = 5, .mantissa = 2};
    case HCCL_DATA_TYPE_UINT8:
    case HCCL_DATA_TYPE_UINT16:
    case HCCL_DATA_TYPE_UINT32:
    case HCCL_DATA_TYPE_UINT64:
        return (struct layout){.is_signed = false};
    default:
        return (struct layout){.is_signed = true};
    }
}

/* ---- elements ---- */

static uint64_t
mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

static uint64_t
word_at(const struct perf_pattern *pattern, uint32_t rank, uint32_t place)
{
    return mix(mix(pattern->seed * 0x9E3779B97F4A7C15ull + rank + 1) + place);
}

/* R2: whether the rank contributes. */
static bool
contributes(const struct perf_pattern *pattern, uint32_t rank, uint32_t place)
{
    if (pattern->ranks <= MIXED || pattern->redop > HCCL_REDUCE_PROD)
        return true;
    return (rank + mix(pattern->seed + place)) % pattern->ranks < MIXED;
}

static perf_uint
float_at(const struct perf_pattern *pattern, struct layout layout, uint32_t rank, uint32_t place)
{
    uint64_t word = word_at(pattern, rank, place), bias = (1ull << (layout.exponent - 1)) - 1;
    uint64_t exponent = bias - (word >> 63), sign = word >> 62 & 1;

    if (!contributes(pattern, rank, place))
        return pattern->redop == HCCL_REDUCE_SUM ? 0 : (perf_uint)bias << layout.mantissa;
    return sign << (layout.exponent + layout.mantissa) | exponent << layout.mantissa |
           (word & ((1ull << layout.mantissa) - 1));
}

/* The bytes of the element, in the low ones of the word. */
static perf_uint
element_at(const struct perf_pattern *pattern, uint32_t rank, uint32_t place)
{
    struct layout layout = layout_of(pattern->type);
    uint64_t word = word_at(pattern, rank, place);

    if (pattern->redop >= 0 && layout.exponent != 0)
        return float_at(pattern, layout, rank, place);
    if (pattern->redop == HCCL_REDUCE_PROD)
        word |= 1; /* R1 */
    return (perf_uint)mix(word) << 64 | word;
}

static void
make_elements(const struct perf_pattern *pattern, struct perf_reference *reference, uint32_t rank)
{
    uint32_t len = reduce_type_size(pattern->type);

    for (uint32_t place = 0; place < PERF_PERIOD; place++) {
        perf_uint element = element_at(pattern, rank, place);

        memcpy(reference->elements + (size_t)place * len, &element, len);
    }
}

void
perf_pattern_fill(const struct perf_pattern *pattern, struct perf_reference *reference,
                  uint32_t rank, void *buf, uint64_t count)
{
    uint64_t len = count * reduce_type_size(pattern->type);
    uint64_t period = (uint64_t)PERF_PERIOD * reduce_type_size(pattern->type);

    make_elements(pattern, reference, rank);
    for (uint64_t at = 0; at < len; at += period)
        memcpy((uint8_t *)buf + at, reference->elements, len - at < period ? len - at : period);
}

/* ---- the reduction ---- */

/* The element as a number. */
static perf_uint
widen(struct layout layout, uint32_t len, perf_uint element)
{
    unsigned above = 128 - len * 8;

    if (layout.is_signed)
        return (perf_uint)((perf_int)(element << above) >> above);
    return element << above >> above;
}

static perf_uint
reduce_whole(const struct perf_pattern *pattern, perf_uint all, perf_uint more)
{
    bool is_more = layout_of(pattern->type).is_signed ? (perf_int)more > (perf_int)all : more > all;

    switch (pattern->redop) {
    case HCCL_REDUCE_SUM:
        return all + more;
    case HCCL_REDUCE_PROD:
        return all * more;
    case HCCL_REDUCE_MAX:
        return is_more ? more : all;
    default:
        return is_more ? all : more;
    }
}

static long double
decode(struct layout layout, uint64_t element)
{
    uint64_t largest = (1ull << layout.exponent) - 1;
    uint64_t mantissa = element & ((1ull << layout.mantissa) - 1);
    uint64_t exponent = element >> layout.mantissa & largest;
    bool minus = (element >> (layout.mantissa + layout.exponent) & 1) != 0;
    int scale = (int)(exponent == 0 ? 1 : exponent) - (int)(largest >> 1) - (int)layout.mantissa;
    long double value;

    if (exponent == largest && layout.all_finite && mantissa + 1 == 1ull << layout.mantissa)
        return (long double)NAN;
    if (exponent == largest && !layout.all_finite)
        return mantissa != 0 ? (long double)NAN : (long double)(minus ? -INFINITY : INFINITY);
    if (exponent != 0)
        mantissa |= 1ull << layout.mantissa;
    value = ldexpl((long double)mantissa, scale);
    return minus ? -value : value;
}

/* R2 */
static long double
bound_of(const struct perf_pattern *pattern, struct layout layout, long double magnitude)
{
    uint32_t terms = pattern->ranks < MIXED ? pattern->ranks : MIXED;
    /* The narrow types round twice: to fp32, then once more. */
    long double unit = ldexpl(1.001L, -(int)layout.mantissa - 1);
    long double least = ldexpl(1, 2 - (1 << (layout.exponent - 1)) - (int)layout.mantissa);

    if (pattern->redop > HCCL_REDUCE_PROD || terms == 1)
        return 0;
    return (powl(1 + unit, (long double)(terms - 1)) - 1) * magnitude + (long double)terms * least;
}

static void
reduce_reals(const struct perf_pattern *pattern, struct perf_reference *reference, uint32_t place)
{
    struct layout layout = layout_of(pattern->type);
    long double all = 0, magnitude = 0;

    for (uint32_t rank = 0; rank < pattern->ranks; rank++) {
        long double more = decode(layout, (uint64_t)element_at(pattern, rank, place));

        if (rank == 0)
            all = more;
        else if (pattern->redop == HCCL_REDUCE_SUM)
            all += more;
        else if (pattern->redop == HCCL_REDUCE_PROD)
            all *= more;
        else if (pattern->redop == HCCL_REDUCE_MAX ? more > all : more < all)
            all = more;
        magnitude += fabsl(more);
    }
    if (pattern->redop == HCCL_REDUCE_PROD)
        magnitude = fabsl(all);
    reference->real[place] = all;
    reference->bound[place] = bound_of(pattern, layout, magnitude);
}

static void
reduce_wholes(const struct perf_pattern *pattern, struct perf_reference *reference, uint32_t place)
{
    struct layout layout = layout_of(pattern->type);
    uint32_t len = reduce_type_size(pattern->type);
    perf_uint all = widen(layout, len, element_at(pattern, 0, place));

    for (uint32_t rank = 1; rank < pattern->ranks; rank++)
        all = reduce_whole(pattern, all, widen(layout, len, element_at(pattern, rank, place)));
    memcpy(reference->elements + (size_t)place * len, &all, len);
}

/* ---- comparing ---- */

/* Whether the float is good. It is then remembered in reference->elements, for at the same place of
 * other periods most likely is the same. */
static bool
is_near(const struct perf_pattern *pattern, struct perf_reference *reference, uint32_t place,
        const uint8_t *element)
{
    uint32_t len = reduce_type_size(pattern->type);
    uint64_t word = 0;
    long double off;

    memcpy(&word, element, len);
    off = fabsl(decode(layout_of(pattern->type), word) - reference->real[place]);
    if (!(off <= reference->bound[place])) /* no number is near NaN */
        return false;
    memcpy(reference->elements + (size_t)place * len, element, len);
    return true;
}

/* `real`: reference->elements are not known from the start, but those that are near. */
static uint64_t
count_wrong(const struct perf_pattern *pattern, struct perf_reference *reference, bool real,
            const uint8_t *buf, uint64_t count, uint64_t at)
{
    uint32_t len = reduce_type_size(pattern->type), place = (uint32_t)(at % PERF_PERIOD);
    uint64_t wrong = 0;

    for (uint64_t done = 0, run; done < count; done += run, place = 0) {
        bool known = !real || (done >= PERF_PERIOD && wrong == 0);

        run = PERF_PERIOD - place < count - done ? PERF_PERIOD - place : count - done;
        if (known &&
            memcmp(buf + done * len, reference->elements + (size_t)place * len, run * len) == 0)
            continue;
        for (uint32_t i = 0; i < run; i++) {
            const uint8_t *got = buf + (done + i) * len;

            if (real ? !is_near(pattern, reference, place + i, got)
                     : memcmp(got, reference->elements + (size_t)(place + i) * len, len) != 0)
                wrong++;
        }
    }
    return wrong;
}

uint64_t
perf_pattern_moved(const struct perf_pattern *pattern, struct perf_reference *reference,
                   uint32_t rank, const void *buf, uint64_t count, uint64_t at)
{
    make_elements(pattern, reference, rank);
    return count_wrong(pattern, reference, false, buf, count, at);
}

uint64_t
perf_pattern_reduced(const struct perf_pattern *pattern, struct perf_reference *reference,
                     const void *buf, uint64_t count, uint64_t at)
{
    bool real = layout_of(pattern->type).exponent != 0;

    for (uint32_t place = 0; place < PERF_PERIOD; place++) {
        if (real)
            reduce_reals(pattern, reference, place);
        else
            reduce_wholes(pattern, reference, place);
    }
    return count_wrong(pattern, reference, real, buf, count, at);
}

struct perf_reference *
perf_reference_create(void)
{
    return hc_zalloc(sizeof(struct perf_reference));
}

void
perf_reference_destroy(struct perf_reference *reference)
{
    hc_free(reference);
}
