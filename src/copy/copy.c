/* SPDX-License-Identifier: BSD-3-Clause */
#include "copy/copy.h"

#include <string.h>

void
copy_bytes(void *dst, const void *src, uint64_t len)
{
    /* memmove, not memcpy: on the machines we know they are the same code, and a program that
     * copies between overlapping ranges gets what it meant. */
    if (dst != src && len > 0)
        memmove(dst, src, len);
}

void
copy_fill(void *dst, int value, uint64_t len)
{
    if (len > 0)
        memset(dst, value, len);
}
