/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce: one loop for each (type, operator), made by macros and found in a table.
 *
 * Elements are read through types of alignment 1, so any address will do, and plain enough for the
 * compiler to vectorise. Integers are added and multiplied unsigned, so they wrap.
 *
 * Each loop is made twice where that is possible: for every processor, and for those with wider
 * registers. The loader picks one, so a call costs no more. (Sanitizers are not ready that early.)
 */
#include "reduce/reduce.h"

#include <stddef.h>

#include "hcomm/hcomm_primitives.h"
#include "reduce/float.h"

#define UNALIGNED __attribute__((aligned(1), may_alias))

typedef int8_t i8 UNALIGNED;
typedef int16_t i16 UNALIGNED;
typedef int32_t i32 UNALIGNED;
typedef int64_t i64 UNALIGNED;
typedef uint8_t u8 UNALIGNED;
typedef uint16_t u16 UNALIGNED;
typedef uint32_t u32 UNALIGNED;
typedef uint64_t u64 UNALIGNED;
typedef float f32 UNALIGNED;
typedef double f64 UNALIGNED;
__extension__ typedef __int128 i128 UNALIGNED;
__extension__ typedef unsigned __int128 wide_unsigned;

typedef void reduce_fn(void *dst, const void *src, uint64_t count);

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) &&                            \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define TWICE __attribute__((target_clones("avx2", "default")))
#else
#define TWICE
#endif

/* The larger (smaller) one; a NaN wins, whichever side it is on. */
#define LARGER(a, b) ((a) > (b) || (a) != (a) ? (a) : (b))
#define SMALLER(a, b) ((a) < (b) || (a) != (a) ? (a) : (b))
#define ADD(a, b) ((a) + (b))
#define MULTIPLY(a, b) ((a) * (b))

/* calc: the type that is calculated in; in and out turn an element into it and back. */
#define LOOP(name, element, calc, in, out, op)                                                     \
    TWICE static void name(void *dst, const void *src, uint64_t count)                             \
    {                                                                                              \
        element *d = dst;                                                                          \
        const element *s = src;                                                                    \
                                                                                                   \
        for (uint64_t i = 0; i < count; i++) {                                                     \
            calc a = (calc)in(d[i]), b = (calc)in(s[i]);                                           \
            d[i] = (element)out(op(a, b));                                                         \
        }                                                                                          \
    }

#define SAME(x) (x)

#define INTEGER(name, element, wrap, plain)                                                        \
    LOOP(name##_sum, element, wrap, SAME, SAME, ADD)                                               \
    LOOP(name##_prod, element, wrap, SAME, SAME, MULTIPLY)                                         \
    LOOP(name##_max, element, plain, SAME, SAME, LARGER)                                           \
    LOOP(name##_min, element, plain, SAME, SAME, SMALLER)

#define REAL(name, element, calc, in, out)                                                         \
    LOOP(name##_sum, element, calc, in, out, ADD)                                                  \
    LOOP(name##_prod, element, calc, in, out, MULTIPLY)                                            \
    LOOP(name##_max, element, calc, in, out, LARGER)                                               \
    LOOP(name##_min, element, calc, in, out, SMALLER)

#define E4M3_IN(x) fp8_to_float(x, 3, 7, 0)
#define E4M3_OUT(x) fp8_from_float(x, 3, 7, 0)
#define E5M2_IN(x) fp8_to_float(x, 2, 15, 1)
#define E5M2_OUT(x) fp8_from_float(x, 2, 15, 1)

INTEGER(int8, i8, uint32_t, int8_t)
INTEGER(int16, i16, uint32_t, int16_t)
INTEGER(int32, i32, uint32_t, int32_t)
INTEGER(int64, i64, uint64_t, int64_t)
INTEGER(uint8, u8, uint32_t, uint8_t)
INTEGER(uint16, u16, uint32_t, uint16_t)
INTEGER(uint32, u32, uint32_t, uint32_t)
INTEGER(uint64, u64, uint64_t, uint64_t)
INTEGER(int128, i128, wide_unsigned, i128)
REAL(fp32, f32, float, SAME, SAME)
REAL(fp64, f64, double, SAME, SAME)
REAL(fp16, u16, float, fp16_to_float, fp16_from_float)
REAL(bf16, u16, float, bf16_to_float, bf16_from_float)
REAL(e4m3, u8, float, E4M3_IN, E4M3_OUT)
REAL(e5m2, u8, float, E5M2_IN, E5M2_OUT)

struct type_info {
    const char *name; /* NULL: no such type */
    uint32_t size;
    reduce_fn *fn[4]; /* by HcommReduceOp; NULL: not reducible */
};

#define ALL(name)                                                                                  \
    {                                                                                              \
        name##_sum, name##_prod, name##_max, name##_min                                            \
    }

static const struct type_info types[] = {
    [HCOMM_DATA_TYPE_INT8] = {"int8", 1, ALL(int8)},
    [HCOMM_DATA_TYPE_INT16] = {"int16", 2, ALL(int16)},
    [HCOMM_DATA_TYPE_INT32] = {"int32", 4, ALL(int32)},
    [HCOMM_DATA_TYPE_FP16] = {"fp16", 2, ALL(fp16)},
    [HCOMM_DATA_TYPE_FP32] = {"fp32", 4, ALL(fp32)},
    [HCOMM_DATA_TYPE_INT64] = {"int64", 8, ALL(int64)},
    [HCOMM_DATA_TYPE_UINT64] = {"uint64", 8, ALL(uint64)},
    [HCOMM_DATA_TYPE_UINT8] = {"uint8", 1, ALL(uint8)},
    [HCOMM_DATA_TYPE_UINT16] = {"uint16", 2, ALL(uint16)},
    [HCOMM_DATA_TYPE_UINT32] = {"uint32", 4, ALL(uint32)},
    [HCOMM_DATA_TYPE_FP64] = {"fp64", 8, ALL(fp64)},
    [HCOMM_DATA_TYPE_BFP16] = {"bfp16", 2, ALL(bf16)},
    [HCOMM_DATA_TYPE_INT128] = {"int128", 16, ALL(int128)},
    [HCOMM_DATA_TYPE_HIF8] = {"hif8", 1, {NULL}},
    [HCOMM_DATA_TYPE_FP8E4M3] = {"fp8e4m3", 1, ALL(e4m3)},
    [HCOMM_DATA_TYPE_FP8E5M2] = {"fp8e5m2", 1, ALL(e5m2)},
    [HCOMM_DATA_TYPE_FP8E8M0] = {"fp8e8m0", 1, {NULL}},
};

static const struct type_info *
info_of(int type)
{
    static const struct type_info unknown = {NULL, 0, {NULL}};

    if (type < 0 || (size_t)type >= sizeof types / sizeof types[0])
        return &unknown;
    return &types[type];
}

uint32_t
reduce_type_size(int type)
{
    return info_of(type)->size;
}

const char *
reduce_type_name(int type)
{
    const char *name = info_of(type)->name;

    return name == NULL ? "no data type" : name;
}

const char *
reduce_op_name(int op)
{
    static const char *const names[] = {"sum", "prod", "max", "min"};

    return op < 0 || op > HCOMM_REDUCE_MIN ? "no operator" : names[op];
}

bool
reduce_supported(int type, int op)
{
    return op >= 0 && op <= HCOMM_REDUCE_MIN && info_of(type)->fn[op] != NULL;
}

void
reduce_apply(void *dst, const void *src, uint64_t count, int type, int op)
{
    info_of(type)->fn[op](dst, src, count);
}
