/* SPDX-License-Identifier: BSD-3-Clause */
/* aicpu: what the timer asks of the elastic pool (inside this layer only). */
#ifndef HC_RUNTIME_AICPU_H
#define HC_RUNTIME_AICPU_H

#include <stdint.h>

#include "runtime/runtime.h"

/* Adds a thread when a job has waited too long; when to ask again, HC_FOREVER when none waits. */
uint64_t rt_aicpu_look(uint64_t now_ns);

/* Whether a job waits for a thread. */
bool rt_aicpu_queued(void);

#endif
