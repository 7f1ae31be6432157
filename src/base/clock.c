/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "base/clock.h"

#include <time.h>

uint64_t
hc_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t
hc_deadline_ms(int64_t timeout_ms)
{
    if (timeout_ms < 0)
        return HC_FOREVER;
    return hc_now_ns() + (uint64_t)timeout_ms * 1000000u;
}
