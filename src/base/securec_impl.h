/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * securec_impl: what the five api_securec_*.c files share.
 *
 * The functions follow the tables of the securec specification row by row. Two rules hold in
 * all of them:
 *
 * I1  A destination is written only after securec_usable() has said EOK.
 * I2  A source is read no further than the destination has room, so a source without a
 *     terminator is refused, not overrun.
 */
#ifndef HC_BASE_SECUREC_IMPL_H
#define HC_BASE_SECUREC_IMPL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <wchar.h>

#include "securec.h"

/* The rows that leave the destination alone. All others may reset it. */
static inline errno_t
securec_usable(const void *dest, size_t dest_max, size_t limit)
{
    if (dest_max == 0 || dest_max > limit)
        return ERANGE;
    return dest == NULL ? EINVAL : EOK;
}

/* Whether [a, a + a_len) and [b, b + b_len) share a byte. Compared as integers: the two may
 * belong to different objects. */
static inline bool
securec_overlap(const void *a, size_t a_len, const void *b, size_t b_len)
{
    uintptr_t first = (uintptr_t)a;
    uintptr_t second = (uintptr_t)b;

    if (a_len == 0 || b_len == 0)
        return false;
    return first <= second ? second - first < a_len : first - second < b_len;
}

static inline size_t
securec_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

/*
 * What a printf specification may contain between '%' and its letter, in no particular order.
 * Wider than any grammar on purpose: a specification that libc would call malformed may still
 * reach a %n (glibc runs the one in "%5 %n"), and such a format is refused too.
 */
#define SECUREC_SPEC_CHARS "0123456789+-# '.*$IhljztLqZw"

/*
 * Input of a scan: a string or a stream, of char or of wchar_t. The format has characters of
 * the same type.
 */
struct securec_input {
    const struct securec_input_ops *ops;
    const void *text; /* next character; strings only */
    FILE *stream;     /* streams only; locked by the caller */
    size_t taken;     /* characters, for %n */
};

struct securec_input_ops {
    bool wide; /* characters are wchar_t */

    /* The next character, which stays where it is; WEOF at the end. */
    wint_t (*peek)(struct securec_input *in);

    /* Step over the character that peek() has just returned. */
    void (*take)(struct securec_input *in);

    /*
     * Let libc run one numeric conversion: `spec` is like "%5ld%n", or "%*5ld%n" with a NULL
     * `arg`. Steps over what was used and sets *used (else unchanged) when it has matched.
     * Returns what scanf returns.
     */
    int (*number)(struct securec_input *in, const char *spec, void *arg, int *used);
};

/* Run `format` over `in`. Returns the items assigned, or -1 when the input ended before any. */
int securec_scan(struct securec_input *in, const void *format, va_list args);

#endif
