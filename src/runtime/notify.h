/* SPDX-License-Identifier: BSD-3-Clause */
/* notify: what the acl interface needs beyond the door (inside this layer only). */
#ifndef HC_RUNTIME_NOTIFY_H
#define HC_RUNTIME_NOTIFY_H

#include "runtime/runtime.h"

#define RT_DEVICES_MOST 4096u /* as the knob DEVICE_COUNT allows */

int32_t rt_notify_device(const struct rt_notify *notify);
uint64_t rt_notify_handle(const struct rt_notify *notify);

/* Held; NULL: not a live notify. */
struct rt_notify *rt_notify_hold_handle(uint64_t handle);

#endif
