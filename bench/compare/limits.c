/* SPDX-License-Identifier: BSD-3-Clause */
/* compare: the add that accumulate is held against; compiled for the processor it runs on. */
#include "loops.h"

void
limit_add(float *restrict dst, const float *restrict src, size_t count)
{
    for (size_t i = 0; i < count; i++)
        dst[i] += src[i];
}
