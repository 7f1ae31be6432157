/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/limits.h"

#include <stdatomic.h>

#include "runtime/device.h"

#define TYPES 2 /* ACL_RT_DEV_RES_CUBE_CORE, ACL_RT_DEV_RES_VECTOR_CORE */

static _Atomic uint64_t op_timeout_us;
static atomic_int sat_modes[RT_DEVICE_MAX];
static _Atomic uint32_t core_limits[RT_DEVICE_MAX][TYPES]; /* 0: no limit */

uint64_t
rt_op_timeout_us(void)
{
    return atomic_load_explicit(&op_timeout_us, memory_order_relaxed);
}

uint64_t
rt_op_default_ms(void)
{
    uint64_t us = rt_op_timeout_us();

    return us == 0 ? RT_OP_TIMEOUT_DEFAULT_MS : us / 1000u + (us % 1000u != 0);
}

uint64_t
rt_op_timeout_set(uint64_t timeout_us)
{
    uint64_t most = (uint64_t)RT_OP_TIMEOUT_STEP_US * RT_OP_TIMEOUT_STEPS;
    uint64_t actual = most;

    if (timeout_us != 0 && timeout_us < most)
        actual = (timeout_us + RT_OP_TIMEOUT_STEP_US - 1) / RT_OP_TIMEOUT_STEP_US *
                 RT_OP_TIMEOUT_STEP_US;
    atomic_store_explicit(&op_timeout_us, actual, memory_order_relaxed);
    return actual;
}

void
rt_sat_mode_set(int32_t device, aclrtFloatOverflowMode mode)
{
    atomic_store_explicit(&sat_modes[device], (int)mode, memory_order_relaxed);
}

aclrtFloatOverflowMode
rt_sat_mode(int32_t device)
{
    return (aclrtFloatOverflowMode)atomic_load_explicit(&sat_modes[device], memory_order_relaxed);
}

void
rt_device_limit_set(int32_t device, aclrtDevResLimitType type, uint32_t cores)
{
    atomic_store_explicit(&core_limits[device][type], cores, memory_order_relaxed);
}

uint32_t
rt_device_limit(int32_t device, aclrtDevResLimitType type)
{
    uint32_t cores = atomic_load_explicit(&core_limits[device][type], memory_order_relaxed);

    return cores == 0 ? rt_device_cores(type) : cores;
}
