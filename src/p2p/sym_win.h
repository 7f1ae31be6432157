/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sym_win: device memory of equal size on every rank, whose addresses all ranks have (inside this
 * layer only).
 *
 * Registering is an agreement of all ranks, the same as for windows (window.h, W1): each tells what
 * it offers, then whether it could map what the others offer. Nothing but addresses comes of it:
 * there are no control blocks, and ending a window is a matter of one rank. It unmaps the others'
 * memory; the others keep their mappings of its own until they end theirs.
 *
 * S1  All windows are in one list, in the order of their registration; it and `uses` are under one
 *     lock, under which nothing is called. What else a window has is constant once it is listed.
 * S2  Who takes a window out of the list ends it: closes the handle, waits for guards, unmaps. A
 *     communicator ends those that are left before its connections go.
 * S3  Who looks at a window without being in S2 has a guard, or a hold under which it reads
 *     constants only: what is mapped may be gone, the struct is not.
 */
#ifndef HC_P2P_SYM_WIN_H
#define HC_P2P_SYM_WIN_H

#include "base/handle.h"
#include "hccl/hccl_types.h"
#include "p2p/engine.h"

/* What a rank offers, and where it is here. */
struct sym_peer {
    uint8_t *addr;
    struct tp_region region; /* as its owner described it */
    struct tp_conn *conn;    /* NULL: the own rank */
    bool reached, counted;   /* as the peer's connection and the runtime know; to be undone */
};

struct sym_win {
    uint64_t handle;
    HcclComm comm;
    const struct p2p *p2p; /* compared, not followed */
    uint32_t rank, rank_num;
    uint32_t number;       /* the same on all ranks, never 0 */
    uint32_t uses;         /* registrations that have got this window; S1 */
    struct hc_list in_all; /* S1 */
    uint8_t *addr;         /* the own memory */
    uint64_t size;
    struct sym_peer peers[]; /* [rank_num] */
};

struct sym_win_desc {
    HcclComm comm;
    void *addr; /* device memory of `size` > 0, in one piece */
    uint64_t size;
    uint64_t most; /* bytes that this rank may have in windows */
};

/* As HcclCommSymWinRegister, with checked arguments. */
HcclResult sym_win_register(struct p2p *p2p, const struct sym_win_desc *desc,
                            HcclCommSymWindow *handle);

/* As HcclCommSymWinDeregister of a handle that is not NULL. */
HcclResult sym_win_deregister(HcclCommSymWindow handle);

/* The window of `comm` that was registered first of those that hold [addr, addr + size), and where
 * in it; NULL: none. */
HcclCommSymWindow sym_win_find(HcclComm comm, const void *addr, uint64_t size, size_t *offset);

/* As HcclSymWinGetPeerPointer of a handle that is not NULL. */
HcclResult sym_win_pointer(HcclCommSymWindow handle, uint64_t offset, uint32_t rank, void **ptr);

/* Ends what is left of this rank's windows. Nobody registers any more. */
void sym_wins_fini(const struct p2p *p2p);

#endif
