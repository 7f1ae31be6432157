/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * foreign: memory of another process that cannot be mapped (inside this layer only).
 *
 * Such a region gets a stand-in here: address space without access, so that a program that touches
 * it finds out, and that transfers know by its address. They go through process_vm_readv/writev
 * where the system allows it and it has been measured to be faster, else through a bounce buffer
 * that both processes map: this side fills or empties pieces of it, a thread of the other side
 * does the rest, with copies that fail instead of faulting. HCOMM_FOREIGN pins the choice.
 *
 * Such memory is reached under a lease only: lease 0 has no owner that could take the memory out of
 * the table of what is offered before it is freed.
 */
#ifndef HC_TRANSPORT_FOREIGN_H
#define HC_TRANSPORT_FOREIGN_H

#include "transport/link.h"

/* ---- Of peers ---- */

/* A stand-in of region->len bytes; holds the link, which must be or have been UP. HCCL_E_MEMORY,
 * HCCL_E_PARA (logged): no such region can be, or it has no lease. */
HcclResult foreign_add(struct shm_link *link, const struct tp_region *region, void **local);

/* NULL is fine. No transfer on it runs or comes. */
void foreign_remove(void *local);

/* Whether `addr` lies in a stand-in. Cheap when there are none. */
bool foreign_is(const void *addr);

/* Move `len` bytes between the stand-in at `remote` and own memory. Block until done. HCCL_E_REMOTE
 * (not logged): the process is gone; HCCL_E_MEMORY, HCCL_E_PARA (logged): its memory is not there,
 * or no longer offered; HCCL_E_NOT_SUPPORT (logged): HCOMM_FOREIGN asks for what is forbidden
 * here. Part of the bytes may have been moved when they fail. */
HcclResult foreign_write(void *remote, const void *src, uint64_t len);
HcclResult foreign_read(void *dst, const void *remote, uint64_t len);

/* ---- Own ---- */

/* Peers may reach [addr, addr + len), which no shared file holds, under `lease`, until
 * foreign_quiesce(lease). tp_region_of calls it; again for the same range is fine, lease 0 does
 * nothing. HCCL_E_MEMORY (logged): peers will be told that it is not offered. */
HcclResult foreign_offer(const void *addr, uint64_t len, uint64_t lease);

/* No transfer that this process makes for a peer under `lease` runs when it returns, and none will;
 * the lease has ended already. */
void foreign_quiesce(uint64_t lease);

#endif
