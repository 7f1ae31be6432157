/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * group: what one OS thread wants done for several devices at once (inside this layer only).
 *
 * Between start and end, inits and destroys are put aside; the outermost end runs each on an OS
 * thread of its own, in the context that was current when it was put aside, and waits for all. An
 * init waits for its peers, so one after the other they would wait for ever.
 *
 * Or it holds operations of a layer above, which comm_group_join() tells of; not both.
 *
 * Everything is the calling thread's own: no locks.
 */
#ifndef HC_COMM_GROUP_H
#define HC_COMM_GROUP_H

#include <stdbool.h>

#include "hccl/hccl_types.h"

bool group_open(void);
void group_start(void);

/* HCCL_E_NOT_SUPPORT (logged): there was no start. Else the first failing job's code. */
HcclResult group_end(void);

/* Copies what it points to, but for `comm`, which must live until the end. HCCL_E_MEMORY;
 * HCCL_E_NOT_SUPPORT (logged): the group has operations. */
HcclResult group_add_init(uint32_t n_ranks, const HcclRootInfo *info, uint32_t rank,
                          const HcclCommConfig *config, HcclComm *comm);
HcclResult group_add_destroy(HcclComm comm);

#endif
