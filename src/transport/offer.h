/* SPDX-License-Identifier: BSD-3-Clause */
/* offer: which own memory the bounce thread may touch for peers. Design: offer.c. */
#ifndef HC_TRANSPORT_OFFER_H
#define HC_TRANSPORT_OFFER_H

#include "transport/foreign.h"

/* true: [addr, addr + len) is offered under `lease`, and stays so until offer_leave(). By one
 * thread, the bounce thread. */
bool offer_enter(uint64_t lease, uint64_t addr, uint64_t len);
void offer_leave(void);

#endif
