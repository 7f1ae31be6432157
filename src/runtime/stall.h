/* SPDX-License-Identifier: BSD-3-Clause */
/* stall: long waits and deadlocks (inside this layer only). */
#ifndef HC_RUNTIME_STALL_H
#define HC_RUNTIME_STALL_H

#include <stdint.h>

#define RT_STALL_LOOK_NS 500000000u /* a deadlock is told after two looks at the earliest */

/* Called by the timer about every RT_STALL_LOOK_NS while any stream is parked. */
void rt_stall_look(uint64_t now_ns);

#endif
