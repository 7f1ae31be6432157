/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * secverify: whether a device verifies custom operators, as npu-smi switches it.
 *
 * Two values for each NPU, kept in the installation (conf/hcomm-secverify.json): `enable` 1 lets
 * the mode count, `mode` 0 is "no verification". Verification is on unless both say otherwise,
 * and when the file cannot be read.
 */
#ifndef HC_RUNTIME_SECVERIFY_H
#define HC_RUNTIME_SECVERIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/runtime.h"

struct rt_secverify {
    int32_t enable; /* default 0 */
    int32_t mode;   /* default 1 */
};

/* An NPU has two chips, each a device, on A3, and one otherwise. Its id is of the machine, so it
 * does not follow ASCEND_RT_VISIBLE_DEVICES. */
uint32_t rt_npu_chips(void);
int32_t rt_npu_of_device(int32_t device);

/* ACL_ERROR_RT_FILE_OPEN or ACL_ERROR_RT_PARAM_INVALID (logged): the file is not what we wrote. */
aclError rt_secverify_get(int32_t npu, struct rt_secverify *state);
aclError rt_secverify_set(int32_t npu, const struct rt_secverify *state);

bool rt_secverify_on(int32_t device);

#endif
