/* SPDX-License-Identifier: BSD-3-Clause */
/* peer: what this process knows of a process that it has stand-ins for. Design: peer.c. */
#ifndef HC_TRANSPORT_PEER_H
#define HC_TRANSPORT_PEER_H

#include "transport/bounce.h"
#include "transport/cma.h"

struct foreign_peer;

/* The peer of that link, with one stand-in more. HCCL_E_MEMORY (logged). */
HcclResult peer_get(struct shm_link *link, struct foreign_peer **out);
void peer_release(struct foreign_peer *peer); /* one stand-in less */

struct shm_link *peer_link(const struct foreign_peer *peer);

/* The lane to the peer, made at first need. As bounce_open. */
HcclResult peer_bounce(struct foreign_peer *peer, struct bounce **out);

/* Whether the peer can be reached by cma; waits for its cookie. false: *error says why. */
bool peer_cookie(struct foreign_peer *peer, struct cma_cookie *cookie, int *error);

/* It cannot, as has been found out. */
void peer_no_cma(struct foreign_peer *peer, int error);

#endif
