/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * comm_lock: one lock for each communicator of each device (inside this layer only).
 *
 * Kernels of one communicator run one at a time. The layer above adds and removes communicators;
 * the state of the lock lives here.
 */
#ifndef HC_PRIMITIVE_COMM_LOCK_H
#define HC_PRIMITIVE_COMM_LOCK_H

#include "primitive/primitive.h"

/* HCCL_E_PTR (logged): there is no such communicator on `device`. */
HcclResult prim_comm_find(int32_t device, const char *name);

/* Blocks until the lock is free, then holds it. HCCL_E_PTR (logged): no such communicator;
 * HCCL_E_PARA (logged): this thread holds it already; HCCL_E_UNAVAIL (logged): the communicator was
 * destroyed meanwhile. */
HcclResult prim_comm_lock(int32_t device, const char *name);

/* No such communicator, or nobody holds it: nothing. */
void prim_comm_unlock(int32_t device, const char *name);

#endif
