/* SPDX-License-Identifier: BSD-3-Clause */
/* standin: address ranges without access that stand for memory of peers. Design: standin.c. */
#ifndef HC_TRANSPORT_STANDIN_H
#define HC_TRANSPORT_STANDIN_H

#include "transport/foreign.h"

struct foreign_peer;

struct standin {
    uint64_t local, len;       /* the range here; fixed */
    uint64_t addr, lease;      /* what it stands for; fixed */
    struct foreign_peer *peer; /* whose that is; fixed. The caller's business */
    _Atomic uint32_t users;    /* transfers that use it, and a flag; futex word */
};

/* Reserves the range. HCCL_E_MEMORY (logged). */
HcclResult standin_add(struct foreign_peer *peer, const struct tp_region *region,
                       struct standin **out);

/* The one that `addr` lies in, in use until released; NULL: none. */
struct standin *standin_use(const void *addr);
void standin_unuse(struct standin *standin);

/* Takes the one that begins at `local` out, waits until nobody uses it, gives the range back. Frees
 * it; its peer. NULL: there is none. */
struct foreign_peer *standin_remove(const void *local);

#endif
