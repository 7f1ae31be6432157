/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "base/alloc.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

static atomic_long live;                 /* blocks out; any thread, relaxed: only a count */
static atomic_long countdown = LONG_MAX; /* allocations until the injected failure */
static atomic_int has_failed;

void
hc_alloc_fail_nth(long nth)
{
    atomic_store(&has_failed, 0);
    atomic_store(&countdown, nth < 0 ? LONG_MAX : nth);
}

int
hc_alloc_failed(void)
{
    return atomic_load(&has_failed);
}

long
hc_alloc_live(void)
{
    return atomic_load(&live);
}

static int
must_fail(void)
{
    if (atomic_load_explicit(&countdown, memory_order_relaxed) == LONG_MAX)
        return 0;
    if (atomic_fetch_sub(&countdown, 1) != 0)
        return 0;
    atomic_store(&countdown, LONG_MAX);
    atomic_store(&has_failed, 1);
    return 1;
}

static void *
counted(void *ptr, size_t size)
{
    if (ptr == NULL)
        LOG_ERROR(BASE, "out of host memory: cannot allocate %zu bytes", size);
    else
        atomic_fetch_add_explicit(&live, 1, memory_order_relaxed);
    return ptr;
}

void *
hc_zalloc(size_t size)
{
    return hc_calloc(1, size == 0 ? 1 : size);
}

void *
hc_calloc(size_t count, size_t size)
{
    return counted(must_fail() ? NULL : calloc(count, size), count * size);
}

void *
hc_zalloc_aligned(size_t align, size_t size)
{
    void *ptr = NULL;

    if (must_fail() || posix_memalign(&ptr, align, size) != 0)
        ptr = NULL;
    if (ptr != NULL)
        memset(ptr, 0, size);
    return counted(ptr, size);
}

void *
hc_realloc(void *ptr, size_t size)
{
    void *fresh = must_fail() ? NULL : realloc(ptr, size == 0 ? 1 : size);

    if (fresh == NULL)
        LOG_ERROR(BASE, "out of host memory: cannot grow a block to %zu bytes", size);
    else if (ptr == NULL)
        atomic_fetch_add_explicit(&live, 1, memory_order_relaxed);
    return fresh;
}

char *
hc_strdup(const char *text)
{
    size_t len = strlen(text) + 1;
    char *copy = hc_zalloc(len);

    if (copy != NULL)
        memcpy(copy, text, len);
    return copy;
}

void
hc_keep(void *ptr)
{
    if (ptr != NULL)
        atomic_fetch_sub_explicit(&live, 1, memory_order_relaxed);
}

void
hc_unkeep(void *ptr)
{
    if (ptr != NULL)
        atomic_fetch_add_explicit(&live, 1, memory_order_relaxed);
}

void
hc_free(void *ptr)
{
    if (ptr == NULL)
        return;
    atomic_fetch_sub_explicit(&live, 1, memory_order_relaxed);
    free(ptr);
}
