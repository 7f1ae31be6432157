/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * model: how long things take on this machine, measured once in a process, in some milliseconds.
 * Only how the numbers compare matters: they choose algorithms.
 */
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "coll/coll.h"
#include "copy/copy.h"
#include "reduce/reduce.h"

#define BLOCK (1u << 20)
#define ROUNDS 5

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct coll_model measured; /* set under `once` */

static const struct coll_model usual = {
    .step_ns = 1000, .task_ns = 150, .mib_us = 150, .reduce_us = 100, .cores = 2};

static uint32_t
least_us(void (*work)(uint8_t *to, const uint8_t *from), uint8_t *block)
{
    uint64_t best = UINT64_MAX;

    for (int i = 0; i < ROUNDS; i++) {
        uint64_t start = hc_now_ns();

        work(block, block + BLOCK);
        best = least_u64(best, hc_now_ns() - start);
    }
    return (uint32_t)(best / 1000) + 1;
}

static void
move_block(uint8_t *to, const uint8_t *from)
{
    copy_bytes(to, from, BLOCK);
    copy_bytes(to, from, BLOCK);
}

static void
reduce_block(uint8_t *to, const uint8_t *from)
{
    reduce_apply(to, from, BLOCK / sizeof(float), HCOMM_DATA_TYPE_FP32, HCOMM_REDUCE_SUM);
}

static void
measure(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint8_t *block = hc_zalloc(2 * (size_t)BLOCK);

    measured = usual;
    measured.cores = cores < 1 ? 1 : (uint32_t)cores;
    if (block == NULL)
        return;
    measured.mib_us = least_us(move_block, block);
    measured.reduce_us = least_us(reduce_block, block);
    hc_free(block);
}

void
coll_measure(struct coll_model *model)
{
    (void)pthread_once(&once, measure);
    *model = measured;
}
