/* SPDX-License-Identifier: BSD-3-Clause */
/* stall: long waits and deadlocks (inside this layer only). */
#ifndef HC_RUNTIME_STALL_H
#define HC_RUNTIME_STALL_H

#include <stdint.h>

/* Called by the timer about once a second while any stream is parked. */
void rt_stall_look(uint64_t now_ns);

#endif
