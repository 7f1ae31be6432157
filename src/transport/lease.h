/* SPDX-License-Identifier: BSD-3-Clause */
/* lease: see lease.c (inside this layer only). */
#ifndef HC_TRANSPORT_LEASE_H
#define HC_TRANSPORT_LEASE_H

#include "transport/segment.h"

/* Peers see the leases in `segment` from now on. */
void lease_show(struct shm_segment *segment);

/* How many leases have ended: which of two counts a transfer belongs to (S3). */
uint32_t lease_turn(void);

/* No transfer to this process is counted under the turn, 0 or 1. loop.c, shm_meet.c. */
bool loop_quiet(uint32_t turn);
bool shm_quiet(uint32_t turn);

#endif
