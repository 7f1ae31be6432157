/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * comm_table: a communicator from a rank table, without talking to anybody (inside this layer
 * only).
 *
 * T1  What a rank knows of the others is what the table tells; in which process they are is unknown
 *     until a channel to them is made, also of ranks in this process: so both ends of a channel
 *     look for each other in the same way.
 * T2  Ranks meet under a name made of the table's content, the communicator's name and
 *     HCOMM_JOB_ID. Spaces and line ends do not count.
 */
#ifndef HC_COMM_COMM_TABLE_H
#define HC_COMM_COMM_TABLE_H

#include "comm/rank_table.h"
#include "hccl/hccl_types.h"

#define WORLD_GROUP "hccl_world_group" /* the name of whom nobody gave one */

/* HCCL_E_PARA (logged): `rank` is not in the table, another device than its own is current, the
 * name is taken, or a setting is wrong; HCCL_E_UNAVAIL (logged): no name was given, and the device
 * has a communicator of the default one; HCCL_E_INTERNAL (logged): the process lacks the device. */
HcclResult comm_from_table(const struct rank_table *table, uint32_t rank,
                           const HcclCommConfig *config, HcclComm *handle);

#endif
