/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * config: the settings of one communicator. What the caller's HcclCommConfig says, else the
 * environment, else the default.
 */
#ifndef HC_COMM_CONFIG_H
#define HC_COMM_CONFIG_H

#include "hccl/hccl_types.h"

/* Of hcclOpExpansionMode; after config_load it is never 0. */
#define CONFIG_EXPANSION_HOST 1u
#define CONFIG_EXPANSION_AICPU 2u

/* Fills in every field of `full`, but hcclDeterministic may stay unset; strings are terminated.
 * `user` NULL: nothing was asked for. A record of an older or newer version is read as far as both
 * know it. HCCL_E_PARA (logged). */
HcclResult config_load(HcclCommConfig *full, const HcclCommConfig *user);

/* Copies as much of `user` as it has into a record of our version, unset where it says nothing; the
 * result may be given to config_load. HCCL_E_PARA (logged): not initialised. */
HcclResult config_copy(HcclCommConfig *copy, const HcclCommConfig *user);

/* HCCL_DETERMINISTIC for all communicators: HcclSetConfig, unless the environment has it. */
HcclResult config_set_deterministic(int32_t value);
HcclResult config_get_deterministic(int32_t *value);

/* What counts for a communicator of those settings (after config_load): 0 off, 1 on, 2 in strict
 * order. The config's, else what the environment said at init, else HcclSetConfig's, else 0; a 950
 * is always deterministic. NULL: what HcclSetConfig has set, or 0. Reads no environment. */
int32_t config_deterministic(const HcclCommConfig *full);

#endif
