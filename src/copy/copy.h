/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * copy: the copy engine. Today: which stores one copy uses. Who copies (push, pull, both) joins
 * when there are two processes.
 */
#ifndef HC_COPY_COPY_H
#define HC_COPY_COPY_H

#include <stdint.h>

/* dst = src, `len` bytes, no overlap unless equal. Pure; any thread. */
void copy_bytes(void *dst, const void *src, uint64_t len);

/* Fills `len` bytes. */
void copy_fill(void *dst, int value, uint64_t len);

#endif
