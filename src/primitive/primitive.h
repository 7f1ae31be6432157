/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * primitive: the door of the verbs. The verbs themselves are public (api_*.c); this is what the
 * layers above must tell them.
 */
#ifndef HC_PRIMITIVE_PRIMITIVE_H
#define HC_PRIMITIVE_PRIMITIVE_H

#include <stdint.h>

#include "hccl/hccl_types.h"

/*
 * The communicator lock of (device, name), behind HcommAcquireComm. One name may be there once on
 * each device: those are different locks. Added twice on one device, it must be removed twice.
 * HCCL_E_MEMORY (logged).
 */
HcclResult prim_comm_add(int32_t device, const char *name);

/* As HcommAcquireComm does it, without waiting: HCCL_E_AGAIN: somebody has the lock. Others as of
 * HcommAcquireComm (logged). */
HcclResult prim_comm_try_lock(int32_t device, const char *name);

/* Whoever waits for the lock gets an error. A name that is not there: nothing. */
void prim_comm_remove(int32_t device, const char *name);

/* What waits without a timeout of their own use, on the calling OS thread; seconds, 0: for ever. */
uint32_t prim_default_wait_s(void);

#endif
