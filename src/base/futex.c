/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "base/futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

static void
futex_wait(_Atomic uint32_t *word, int flags, uint32_t seen, uint64_t deadline_ns)
{
    struct timespec until = {.tv_sec = (time_t)(deadline_ns / 1000000000u),
                             .tv_nsec = (long)(deadline_ns % 1000000000u)};

    /* BITSET takes an absolute CLOCK_MONOTONIC time, so a late call cannot oversleep. */
    syscall(SYS_futex, word, FUTEX_WAIT_BITSET | flags, seen,
            deadline_ns == HC_FOREVER ? NULL : &until, NULL, FUTEX_BITSET_MATCH_ANY);
}

void
hc_futex_wait(_Atomic uint32_t *word, uint32_t seen, uint64_t deadline_ns)
{
    futex_wait(word, FUTEX_PRIVATE_FLAG, seen, deadline_ns);
}

void
hc_futex_wake(_Atomic uint32_t *word, int count)
{
    syscall(SYS_futex, word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, count, NULL, NULL, 0);
}

void
hc_futex_wait_shared(_Atomic uint32_t *word, uint32_t seen, uint64_t deadline_ns)
{
    futex_wait(word, 0, seen, deadline_ns);
}

void
hc_futex_wake_shared(_Atomic uint32_t *word, int count)
{
    syscall(SYS_futex, word, FUTEX_WAKE, count, NULL, NULL, 0);
}
