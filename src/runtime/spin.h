/* SPDX-License-Identifier: BSD-3-Clause */
/* spin: looks a little longer before a thread sleeps; what is in runtime.h too is not repeated here
 * (inside this layer only). */
#ifndef HC_RUNTIME_SPIN_H
#define HC_RUNTIME_SPIN_H

#include <stdbool.h>
#include <stdint.h>

/* What a thread has learned; its own memory. */
struct rt_spin {
    uint32_t budget_ns; /* how long it spins the next time */
    bool begun;         /* budget_ns is set */
    bool tired;         /* it has spun in vain since it last slept or ran something */
};

/* Until something is ready, or the thread's executor is signalled; while a bell is watched. */
bool rt_spin_idle(void);

/* The thread was tired, and has slept for `ns`. */
void rt_spin_rested(struct rt_spin *spin, uint64_t ns);

#endif
