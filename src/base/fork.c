/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/fork.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/log.h"

static atomic_bool is_child;
static pthread_once_t watching = PTHREAD_ONCE_INIT;

static void
in_child(void)
{
    atomic_store(&is_child, true);
}

static void
watch(void)
{
    (void)pthread_atfork(NULL, NULL, in_child);
}

void
hc_fork_watch(void)
{
    (void)pthread_once(&watching, watch);
}

bool
hc_in_forked_child(void)
{
    return atomic_load_explicit(&is_child, memory_order_relaxed);
}

bool
hc_forked(void)
{
    if (!hc_in_forked_child())
        return false;
    LOG_ERROR(BASE, "called in a forked child of a process that uses hcomm: exec a new program, or "
                    "fork before the first call");
    return true;
}
