/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * device: what soft NPUs there are and what they claim to be (inside this layer only).
 *
 * Three numberings: user ids, 0 to rt_device_count() - 1, are what programs pass; logical ids are
 * those of the machine, which ASCEND_RT_VISIBLE_DEVICES restricts and renumbers; physical ids are
 * the logical ones. The environment is read once, at the first question.
 */
#ifndef HC_RUNTIME_DEVICE_H
#define HC_RUNTIME_DEVICE_H

#include "runtime/runtime.h"

/* Most devices that a process may have: the most that HCOMM_DEVICE_COUNT allows. */
#define RT_DEVICE_MAX 4096

/* false: the SoC name or the device count in the environment makes no sense (logged, once). */
bool rt_device_known(void);

/* ACL_ERROR_RT_INVALID_DEVICEID (logged): `device` is no user id. ACL_ERROR_RT_NO_DEVICE (logged):
 * there is none at all. `function` is for the message. */
aclError rt_device_check(int32_t device, const char *function);

/* Logical id of a user id, and back; -1: there is none. */
int32_t rt_device_logical(int32_t device);
int32_t rt_device_user(int32_t logical);

/* Cube and vector cores of a device's SoC. */
uint32_t rt_device_cores(aclrtDevResLimitType type);

/* Value of an attribute (aclrtDevAttr). ACL_ERROR_RT_PARAM_INVALID (logged): no such attribute;
 * ACL_ERROR_RT_FEATURE_NOT_SUPPORT (logged): not one of this SoC. */
aclError rt_device_attr(int32_t device, uint32_t attr, int64_t *value);

/* The link between two devices, as ACL_RT_DEVS_TOPOLOGY_* bits; 0 from a device to itself. */
uint64_t rt_device_link(int32_t device, int32_t other);

#endif
