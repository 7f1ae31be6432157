/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * clock: what time it is for the engine. Tasks and deadlines ask here and nowhere else, so that
 * a virtual clock can take the real one's place.
 */
#ifndef HC_BASE_CLOCK_H
#define HC_BASE_CLOCK_H

#include <stdint.h>

#define HC_FOREVER UINT64_MAX

/* Nanoseconds of a clock that never goes back. */
uint64_t hc_now_ns(void);

/* `timeout_ms` from now as a deadline; negative: HC_FOREVER. */
uint64_t hc_deadline_ms(int64_t timeout_ms);

#endif
