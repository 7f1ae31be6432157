/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * timer: the one thread that looks at parked streams' deadlines (inside this layer only).
 */
#ifndef HC_RUNTIME_TIMER_H
#define HC_RUNTIME_TIMER_H

#include <stdint.h>

/* A stream parked, or AICPU work queued, that must be looked at by `at_ns`. Cheap when an earlier
 * look is planned already. */
void rt_timer_arm(uint64_t at_ns);

/* Before an executor sleeps: does the timer's work if it has no thread. Until when to sleep at
 * most; HC_FOREVER when the timer has its thread. */
uint64_t rt_timer_stand_in(void);

#endif
