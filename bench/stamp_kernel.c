/* SPDX-License-Identifier: BSD-3-Clause */
/* A kernel that notes when it began: its argument is where to. */
#include <stdint.h>
#include <time.h>

uint32_t StampKernel(void *args);

uint32_t
StampKernel(void *args)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    **(uint64_t **)args = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    return 0;
}
