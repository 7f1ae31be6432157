/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * segment: what a process shows to every process it has a link to (inside this layer only).
 *
 * One memfd, sealed against shrinking, mapped by all peers: the bell they ring, the leases of the
 * regions it offers, and one slot for each end of a connection it has. Untouched pages cost
 * nothing.
 *
 * G1  The owner alone writes everything but the bell. Peers believe nothing in it beyond that it
 *     says whether a transfer may go on.
 * G2  A slot is used again with another generation, so what was said of its last user is not taken
 *     for its present one's.
 */
#ifndef HC_TRANSPORT_SEGMENT_H
#define HC_TRANSPORT_SEGMENT_H

#include "base/bell.h"
#include "transport/transport.h"

#define SEGMENT_MAGIC 0x48434d53u
#define SEGMENT_VERSION 1u
#define SEGMENT_LEASES 65536u
#define SEGMENT_SLOTS 65536u
#define SEGMENT_LINKS 16384u
#define SEGMENT_WHY 256u

enum slot_state { SLOT_FREE, SLOT_OPEN, SLOT_CLOSED, SLOT_ABORTED };

struct shm_slot {
    /* generation << 8 | enum slot_state. Peers read it before every transfer: a line of its own. */
    _Atomic uint32_t state;
    uint32_t pad0[15];
    /* Calls of the owner that are moving bytes to or from the peer; the peer's close() waits until
     * there are none. */
    _Atomic uint32_t inside;
    /* Those of them that rest on a lease, by the peer's `turn` when they came in. */
    _Atomic uint32_t leased[2];
    uint32_t pad1[13];
    char why[SEGMENT_WHY]; /* of an abort; written before the state says so (release) */
};

struct shm_segment {
    uint32_t magic, version;
    uint64_t process;
    _Atomic uint32_t turn; /* counts the leases that have ended (lease.c) */
    uint32_t pad[11];
    struct hc_bell bell;
    _Atomic uint32_t leases[SEGMENT_LEASES]; /* generation of the lease there now; 0: none */
    _Atomic uint32_t heard[SEGMENT_LINKS];   /* knocks read from the link of that number (link.c) */
    struct shm_slot slots[SEGMENT_SLOTS];
};

/* Own segment and its descriptor; made at first use, gives the bell to the host (tp_host.watch).
 * HCCL_E_MEMORY, HCCL_E_SYSCALL (logged). */
HcclResult segment_own(struct shm_segment **segment, int *fd);

/* Maps a peer's after checking size, seals and head. HCCL_E_INTERNAL (logged), NULL. */
struct shm_segment *segment_map(int fd, uint64_t process);
void segment_unmap(struct shm_segment *segment); /* NULL is fine */

/* A slot of the own segment in state OPEN, `inside` 0. UINT32_MAX: all are taken (logged). */
uint32_t segment_slot_take(uint32_t *generation);
void segment_slot_give(uint32_t slot); /* FREE, generation moves on */

/* One load: the lease is held in `segment`. 0 always is. */
bool segment_leased(const struct shm_segment *segment, uint64_t lease);

/* The same for a lease of this process; needs no segment. */
bool segment_own_leased(uint64_t lease);

#endif
