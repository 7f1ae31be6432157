/* SPDX-License-Identifier: BSD-3-Clause */
/* op_group: collectives between HcclGroupStart and HcclGroupEnd (inside this layer only). */
#ifndef HC_COLL_OP_GROUP_H
#define HC_COLL_OP_GROUP_H

#include "coll/coll.h"

/* Remembers a copy of `op` until the group ends. */
HcclResult coll_group_add(struct comm *comm, HcclComm handle, const struct coll_op *op,
                          aclrtStream stream);

#endif
