/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * float: small floats to fp32 and back, rounded to nearest, ties to even.
 *
 * fp16 and bf16 are branch-poor so that loops over them vectorise. fp8 is the OCP pair: e4m3 has no
 * infinity (what is too large becomes NaN), e5m2 has one.
 */
#ifndef HC_REDUCE_FLOAT_H
#define HC_REDUCE_FLOAT_H

#include <stdint.h>
#include <string.h>

static inline uint32_t
bits_of(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float
float_of(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline float
fp16_to_float(uint16_t half)
{
    uint32_t mag = (uint32_t)(half & 0x7FFFu) << 13;
    uint32_t bits = bits_of(float_of(mag) * 0x1p112f); /* moves the exponent; subnormals too */

    bits |= (half & 0x7FFFu) >= 0x7C00u ? 0x7F800000u : 0u; /* inf and NaN */
    return float_of(bits | (uint32_t)(half & 0x8000u) << 16);
}

static inline uint16_t
fp16_from_float(float value)
{
    uint32_t bits = bits_of(value);
    uint32_t mag = bits & 0x7FFFFFFFu;
    uint32_t sign = (bits >> 16) & 0x8000u;
    /* 0.5 has the unit of fp16's subnormals in its last place: adding it rounds there. */
    uint32_t small = bits_of(float_of(mag) + 0.5f) - 0x3F000000u;
    uint32_t normal = (mag - 0x38000000u + 0xFFFu + ((mag >> 13) & 1u)) >> 13;
    uint32_t special = mag > 0x7F800000u ? 0x7E00u : 0x7C00u;
    uint32_t half = mag < 0x38800000u ? small : (mag >= 0x47800000u ? special : normal);

    return (uint16_t)(half | sign);
}

static inline float
bf16_to_float(uint16_t brain)
{
    return float_of((uint32_t)brain << 16);
}

static inline uint16_t
bf16_from_float(float value)
{
    uint32_t bits = bits_of(value);
    uint32_t rounded = (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;

    return (uint16_t)((bits & 0x7FFFFFFFu) > 0x7F800000u ? (bits >> 16) | 0x40u : rounded);
}

/* `mant` mantissa bits, exponent bias `bias`; the top code means NaN (e4m3) or inf/NaN (e5m2). */
static inline float
fp8_to_float(uint8_t byte, int mant, int bias, int has_inf)
{
    uint32_t mag = byte & 0x7Fu;
    uint32_t exponent = mag >> mant, fraction = mag & ((1u << mant) - 1u);
    uint32_t sign = (uint32_t)(byte & 0x80u) << 24;
    uint32_t top = 0x7Fu >> mant;
    float value;

    if (has_inf && exponent == top)
        return float_of(sign | 0x7F800000u | fraction << (23 - mant));
    if (!has_inf && mag == 0x7Fu)
        return float_of(sign | 0x7FC00000u);
    if (exponent == 0)
        value = (float)fraction * float_of((uint32_t)(127 + 1 - bias - mant) << 23);
    else
        value = float_of((exponent + 127u - (uint32_t)bias) << 23 | fraction << (23 - mant));
    return float_of(bits_of(value) | sign);
}

static inline uint8_t
fp8_from_float(float value, int mant, int bias, int has_inf)
{
    uint32_t bits = bits_of(value), mag = bits & 0x7FFFFFFFu;
    uint8_t sign = (uint8_t)((bits >> 24) & 0x80u);
    uint8_t over = (uint8_t)(has_inf ? 0x7Cu : 0x7Fu);
    int shift = 23 - mant;
    uint32_t code;

    if (mag > 0x7F800000u)
        return (uint8_t)(sign | 0x7Fu);
    if (mag < (uint32_t)(127 + 1 - bias) << 23) { /* subnormal: in units of its last place */
        float unit = float_of((uint32_t)(127 + 1 - bias - mant) << 23);

        code = bits_of(float_of(mag) / unit + 0x1p23f) & 0xFFu;
    } else {
        uint32_t rounded = mag + ((1u << (shift - 1)) - 1u) + ((mag >> shift) & 1u);

        code = (rounded >> shift) - ((uint32_t)(127 - bias) << mant);
    }
    return (uint8_t)(sign | (code > (uint32_t)(has_inf ? 0x7B : 0x7E) ? over : code));
}

#endif
