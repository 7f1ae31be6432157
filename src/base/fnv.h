/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fnv: FNV-1a with 64 bits, to tell texts apart and to find what was cut or changed by mistake. Not
 * against those who want two texts to have the same sum.
 */
#ifndef HC_BASE_FNV_H
#define HC_BASE_FNV_H

#include <stddef.h>
#include <stdint.h>

#define HC_FNV_START 0xcbf29ce484222325ull

/* The sum of what `sum` is of, and these bytes after it. */
static inline uint64_t
hc_fnv(uint64_t sum, const void *bytes, size_t len)
{
    const unsigned char *at = bytes;

    for (size_t i = 0; i < len; i++)
        sum = (sum ^ at[i]) * 0x100000001b3ull;
    return sum;
}

#endif
