/* SPDX-License-Identifier: BSD-3-Clause */
#include "reduce/reduce.h"

#include <math.h>

#include "hcomm/hcomm_primitives.h"
#include "reduce/float.h"
#include "tests/support/test.h"

enum {
    SUM = HCOMM_REDUCE_SUM,
    PROD = HCOMM_REDUCE_PROD,
    MAX = HCOMM_REDUCE_MAX,
    MIN = HCOMM_REDUCE_MIN
};

TEST(every_fp16_survives_the_way_to_fp32_and_back)
{
    for (uint32_t half = 0; half <= 0xFFFF; half++) {
        float value = fp16_to_float((uint16_t)half);

        if (isnan(value))
            EXPECT_TRUE((fp16_from_float(value) & 0x7FFF) > 0x7C00);
        else
            EXPECT_EQ(half, fp16_from_float(value));
    }
}

/* The nearest of all codes, ties to the even one: what rounding means, by search. */
static uint32_t
nearest(double value, double (*decode)(uint32_t), uint32_t codes)
{
    uint32_t best = 0;

    for (uint32_t code = 1; code < codes; code++) {
        double have = fabs(decode(code) - value), least = fabs(decode(best) - value);

        if (have < least || (have == least && (code & 1) == 0))
            best = code;
    }
    return best;
}

static double
decode_fp16(uint32_t code)
{
    return fp16_to_float((uint16_t)code);
}

static double
decode_e4m3(uint32_t code)
{
    return fp8_to_float((uint8_t)code, 3, 7, 0);
}

static double
decode_e5m2(uint32_t code)
{
    return fp8_to_float((uint8_t)code, 2, 15, 1);
}

TEST(fp16_rounds_to_nearest_even)
{
    for (int i = 0; i < 400; i++) {
        float value = ldexpf(1.0f + (float)(i * 7919 % 4096) / 4096.0f, i % 40 - 26);

        if (value < 65504.0f)
            EXPECT_EQ(nearest(value, decode_fp16, 0x7C00), fp16_from_float(value));
    }
    EXPECT_EQ(0x7C00, fp16_from_float(65520.0f)); /* half way to what would come next */
    EXPECT_EQ(0x7BFF, fp16_from_float(65519.0f));
    EXPECT_EQ(0x0001, fp16_from_float(ldexpf(1.5f, -25)));
    EXPECT_EQ(0x0000, fp16_from_float(ldexpf(1.0f, -25)));
}

TEST(fp8_rounds_to_nearest_even)
{
    for (int i = 0; i < 4000; i++) {
        float value = ldexpf(1.0f + (float)(i * 7919 % 4096) / 4096.0f, i % 24 - 16);

        if (value <= 448.0f)
            EXPECT_EQ(nearest(value, decode_e4m3, 0x7F), fp8_from_float(value, 3, 7, 0));
        if (value <= 57344.0f)
            EXPECT_EQ(nearest(value, decode_e5m2, 0x7C), fp8_from_float(value, 2, 15, 1));
    }
    EXPECT_EQ(0x7F, fp8_from_float(500.0f, 3, 7, 0)); /* no infinity there */
    EXPECT_EQ(0x7C, fp8_from_float(70000.0f, 2, 15, 1));
    EXPECT_EQ(0x80, fp8_from_float(-0.0f, 3, 7, 0));
}

TEST(bf16_rounds_to_nearest_even_and_keeps_nan)
{
    EXPECT_EQ(0x3F80, bf16_from_float(1.0f));
    EXPECT_EQ(0x3F80, bf16_from_float(float_of(0x3F808000))); /* tie: the even one is below */
    EXPECT_EQ(0x3F82, bf16_from_float(float_of(0x3F818000))); /* tie: the even one is above */
    EXPECT_TRUE(isnan(bf16_to_float(bf16_from_float(float_of(0x7F800001)))));
}

/* Expected in wide integers; what a type holds is cut to its width, as wrapping does. */
static int64_t
integer_op(int64_t a, int64_t b, int op, bool is_signed)
{
    uint64_t x = (uint64_t)a, y = (uint64_t)b;

    if (op == SUM)
        return (int64_t)(x + y);
    if (op == PROD)
        return (int64_t)(x * y);
    if (is_signed)
        return op == MAX ? (a > b ? a : b) : (a < b ? a : b);
    return op == MAX ? (int64_t)(x > y ? x : y) : (int64_t)(x < y ? x : y);
}

#define CHECK_INTEGER(type_, code, is_signed)                                                      \
    for (int op = SUM; op <= MIN; op++) {                                                          \
        unsigned char room_d[67 * sizeof(type_) + 1], room_s[67 * sizeof(type_) + 1];              \
        unsigned char *dst = room_d + 1, *src = room_s + 1; /* not aligned */                      \
                                                                                                   \
        for (int i = 0; i < 67; i++) {                                                             \
            type_ a = (type_)(i * 0x0123456789ABCDEFll), b = (type_)(i * i * 37 - 1000);           \
            memcpy(dst + i * (int)sizeof a, &a, sizeof a);                                         \
            memcpy(src + i * (int)sizeof b, &b, sizeof b);                                         \
        }                                                                                          \
        EXPECT_TRUE(reduce_supported(code, op));                                                   \
        reduce_apply(dst, src, 67, code, op);                                                      \
        for (int i = 0; i < 67; i++) {                                                             \
            type_ a = (type_)(i * 0x0123456789ABCDEFll), b = (type_)(i * i * 37 - 1000), have;     \
            memcpy(&have, dst + i * (int)sizeof have, sizeof have);                                \
            EXPECT_EQ((type_)integer_op((int64_t)a, (int64_t)b, op, is_signed), have);             \
        }                                                                                          \
    }

TEST(integers_wrap_and_need_no_alignment){
    CHECK_INTEGER(int8_t, HCOMM_DATA_TYPE_INT8, true)
        CHECK_INTEGER(int16_t, HCOMM_DATA_TYPE_INT16, true)
            CHECK_INTEGER(int32_t, HCOMM_DATA_TYPE_INT32, true)
                CHECK_INTEGER(int64_t, HCOMM_DATA_TYPE_INT64, true)
                    CHECK_INTEGER(uint8_t, HCOMM_DATA_TYPE_UINT8, false)
                        CHECK_INTEGER(uint16_t, HCOMM_DATA_TYPE_UINT16, false)
                            CHECK_INTEGER(uint32_t, HCOMM_DATA_TYPE_UINT32, false)
                                CHECK_INTEGER(uint64_t, HCOMM_DATA_TYPE_UINT64, false)}

TEST(reals_reduce_and_nan_wins)
{
    float d[4] = {1.5f, -2.0f, NAN, 4.0f}, s[4] = {2.25f, 8.0f, 1.0f, NAN};
    double dd[2] = {1e300, -1.0}, ds[2] = {1e-300, 2.5};

    reduce_apply(d, s, 2, HCOMM_DATA_TYPE_FP32, SUM);
    EXPECT_TRUE(d[0] == 3.75f && d[1] == 6.0f);
    reduce_apply(d, s, 4, HCOMM_DATA_TYPE_FP32, MAX);
    EXPECT_TRUE(d[0] == 3.75f && d[1] == 8.0f && isnan(d[2]) && isnan(d[3]));
    reduce_apply(dd, ds, 2, HCOMM_DATA_TYPE_FP64, PROD);
    EXPECT_TRUE(dd[0] == 1e300 * 1e-300 && dd[1] == -2.5);
}

TEST(small_floats_are_rounded_once_from_fp32)
{
    uint16_t a = fp16_from_float(2048.0f), b = fp16_from_float(1.0f);
    uint16_t ba = bf16_from_float(256.0f), bb = bf16_from_float(1.0f);
    uint8_t ea = fp8_from_float(16.0f, 3, 7, 0), eb = fp8_from_float(1.0f, 3, 7, 0);

    reduce_apply(&a, &b, 1, HCOMM_DATA_TYPE_FP16, SUM);
    EXPECT_EQ(fp16_from_float(2048.0f), a); /* 2049 is a tie; the even neighbour is 2048 */
    reduce_apply(&ba, &bb, 1, HCOMM_DATA_TYPE_BFP16, SUM);
    EXPECT_EQ(bf16_from_float(256.0f), ba);
    reduce_apply(&ea, &eb, 1, HCOMM_DATA_TYPE_FP8E4M3, SUM);
    EXPECT_EQ(fp8_from_float(16.0f, 3, 7, 0), ea);
}

TEST(int128_carries_into_its_upper_half)
{
    uint64_t d[2] = {UINT64_MAX, 1}, s[2] = {1, 0};

    reduce_apply(d, s, 1, HCOMM_DATA_TYPE_INT128, SUM);
    EXPECT_EQ(0, d[0]);
    EXPECT_EQ(2, d[1]);
}

TEST(what_is_not_supported_says_so)
{
    EXPECT_FALSE(reduce_supported(HCOMM_DATA_TYPE_HIF8, SUM));
    EXPECT_FALSE(reduce_supported(HCOMM_DATA_TYPE_FP8E8M0, SUM));
    EXPECT_FALSE(reduce_supported(13, SUM));
    EXPECT_FALSE(reduce_supported(-1, SUM));
    EXPECT_FALSE(reduce_supported(255, SUM));
    EXPECT_FALSE(reduce_supported(HCOMM_DATA_TYPE_FP32, 4));
    EXPECT_FALSE(reduce_supported(HCOMM_DATA_TYPE_FP32, -1));
    EXPECT_EQ(0, reduce_type_size(13));
    EXPECT_EQ(16, reduce_type_size(HCOMM_DATA_TYPE_INT128));
    EXPECT_STREQ("bfp16", reduce_type_name(HCOMM_DATA_TYPE_BFP16));
}
