/* SPDX-License-Identifier: BSD-3-Clause */
/* kinds: the ways to move bytes, one function each, and which of them this processor has. */
#ifndef HC_COPY_KINDS_H
#define HC_COPY_KINDS_H

#include "copy/copy.h"

/* Bit (1 << kind) is set if trying that kind can pay here. COPY_PLAIN always is. */
uint32_t copy_kinds(void);

/* dst = src, `len` bytes, no overlap, any alignment. A kind that the architecture does not have
 * moves plainly. Ordered before later stores of this thread (non-temporal ones by a fence). */
void copy_by(enum copy_kind kind, void *dst, const void *src, uint64_t len);

/* A clock for comparing copies on one processor, cheaper than the time; its unit is nobody's
 * business. */
uint64_t copy_ticks(void);

#endif
