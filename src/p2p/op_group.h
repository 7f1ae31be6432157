/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * op_group: sends and receives between HcclGroupStart and HcclGroupEnd (inside this layer only).
 *
 * They are put aside. At the outermost end those of one communicator and stream become one call, so
 * that none waits for another, in whatever order the ranks put them.
 *
 * Everything is the calling thread's own: no locks.
 */
#ifndef HC_P2P_OP_GROUP_H
#define HC_P2P_OP_GROUP_H

#include "p2p/engine.h"

/* `op`, checked, is copied. HCCL_E_MEMORY; HCCL_E_RUNTIME: not a live stream; as comm_group_join()
 * (logged). */
HcclResult op_group_add(const char *function, HcclComm comm, aclrtStream stream,
                        const struct p2p_op *op);

#endif
