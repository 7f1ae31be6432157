/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alloc: heap memory that tests can make fail.
 *
 * Every allocation of the library goes through here, so that a test can fail the Nth one and
 * count what is left. A failed allocation is logged here, once; callers return their layer's
 * "out of memory" code and add nothing.
 */
#ifndef HC_BASE_ALLOC_H
#define HC_BASE_ALLOC_H

#include <stddef.h>

/* Zeroed memory, or NULL. `size` 0 counts as 1. */
void *hc_zalloc(size_t size);

/* Zeroed array of `count` elements of `size` bytes; NULL also when the product overflows. */
void *hc_calloc(size_t count, size_t size);

/* Zeroed memory aligned to `align` (a power of two). Freed with hc_free. */
void *hc_zalloc_aligned(size_t align, size_t size);

/* As realloc(3): the bytes past the old size are not zeroed; on failure the old block stays. */
void *hc_realloc(void *ptr, size_t size);

char *hc_strdup(const char *text);

/* NULL is fine. */
void hc_free(void *ptr);

/* `ptr` stays for the library's lifetime: it no longer counts as live, and is never freed. */
void hc_keep(void *ptr);

/* Undoes hc_keep: it counts again, and is to be freed. */
void hc_unkeep(void *ptr);

/* Tests: fail the nth allocation from now on (0: the next one), once. Negative: never. */
void hc_alloc_fail_nth(long nth);

/* Tests: whether the failure asked for has happened. */
int hc_alloc_failed(void);

/* Blocks handed out and not yet freed. */
long hc_alloc_live(void);

#endif
