/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "base/barrier.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_bool works;     /* set in `once`, cleared by tests */
static atomic_bool forbidden; /* by tests */

static bool
membarrier(int command)
{
    return !atomic_load_explicit(&forbidden, memory_order_relaxed) &&
           syscall(SYS_membarrier, command, 0, 0) == 0;
}

/* Registering and fencing are allowed together or not at all, but only trying tells. */
static void
set_up(void)
{
    if (membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) &&
        membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED))
        atomic_store(&works, true);
}

bool
hc_barrier_ready(void)
{
    (void)pthread_once(&once, set_up);
    return atomic_load_explicit(&works, memory_order_relaxed);
}

bool
hc_barrier_heavy_works(void)
{
    return hc_barrier_ready();
}

bool
hc_barrier_heavy(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    return hc_barrier_ready() && membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
}

void
hc_barrier_forbid(void)
{
    atomic_store(&forbidden, true);
    atomic_store(&works, false);
}
