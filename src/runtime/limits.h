/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * limits: settings that the soft NPU keeps but mostly need not obey (inside this layer only).
 * Written and read by any thread; each value stands alone, so relaxed atomics will do.
 */
#ifndef HC_RUNTIME_LIMITS_H
#define HC_RUNTIME_LIMITS_H

#include "runtime/runtime.h"

/* Timeouts are whole steps, from 1 to RT_OP_TIMEOUT_STEPS. 2^33 ns, so that the longest covers the
 * 1,836 s that operators ask for. */
#define RT_OP_TIMEOUT_STEP_US 8589934u
#define RT_OP_TIMEOUT_STEPS 254u
#define RT_OP_TIMEOUT_DEFAULT_MS 28000u /* of AICPU kernels, when nobody has said */

/* What applies to kernels whose launch names no timeout; 0: nobody has said. */
uint64_t rt_op_timeout_us(void);

/* The same in ms, rounded up; RT_OP_TIMEOUT_DEFAULT_MS when nobody has said. */
uint64_t rt_op_default_ms(void);

/* Rounds up to whole steps, 0 to the most; returns what was set. */
uint64_t rt_op_timeout_set(uint64_t timeout_us);

/* Overflow mode of a device. */
void rt_sat_mode_set(int32_t device, aclrtFloatOverflowMode mode);
aclrtFloatOverflowMode rt_sat_mode(int32_t device);

/* Cores that kernels on the device may use; 0 sets it back to what the SoC has. */
void rt_device_limit_set(int32_t device, aclrtDevResLimitType type, uint32_t cores);
uint32_t rt_device_limit(int32_t device, aclrtDevResLimitType type);

#endif
