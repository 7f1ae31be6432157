/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shm: connections between two processes of one host (inside this layer only).
 *
 * Each end owns a slot in its process' segment, and reads the slot of its peer. Memory and notify
 * words of the peer are mapped, so a transfer is a copy and a record is an add, made by the thread
 * that asked for them. Messages on the link are for what is rare: meeting and parting.
 *
 *     shm.c       the table of functions; how an end is opened and closed
 *     shm_meet.c  how ends find each other, and learn how it ended
 *     shm_end.c   how it ended
 *     shm_offer.c offers of ends in other processes that wait for one here
 *     shm_told.c  what an end tells its peer: hello text and word places
 *     shm_move.c  transfers and notifies
 *
 * C1  A call raises `inside` of its own slot, then reads the own `ended` and the peer's slot, and
 *     goes on only if the peer's end is open (all seq_cst). close() publishes `ended` and CLOSED,
 *     then waits until both `inside` are 0. So either the call sees the end, or close() sees the
 *     call: nothing of a closed end is touched.
 * C2  Leaving is a release, and who waits for `inside` acquires: bytes of a call are there when
 *     close() returns.
 * C3  `peer` is set once, by poll(), when all that a transfer needs has been filled in (release,
 *     acquire). Before, an end is met but not ready.
 * C4  A slot's state carries its generation, and is compared whole. So the next user of the peer's
 *     slot is never taken for the peer.
 * C5  A process that dies inside a call never leaves it. The end of the link tells, but a link can
 *     break while both live: so who finds a call of the peer under way asks whether it does.
 * C6  A lease ends before its owner moves on to the next turn and looks at the peers' `leased` of
 * the old one; a transfer counts itself there, under the turn it has seen, before it looks at the
 *     lease (all seq_cst). So who is counted under the old turn after that has not passed, and the
 *     wait for it to be 0 is not prolonged by those who come later.
 */
#ifndef HC_TRANSPORT_SHM_H
#define HC_TRANSPORT_SHM_H

#include <pthread.h>

#include "base/list.h"
#include "copy/copy.h"
#include "transport/link.h"

#define SHM_KEY_LEN 16u
#define SHM_NO_SLOT UINT32_MAX

/* What one end tells the other: places of its words, then its hello text. */
struct shm_told {
    uint8_t *bytes;
    uint32_t word_num, hello_len;
};

/* Which end of which process. */
struct shm_end_id {
    uint32_t slot, generation; /* slot SHM_NO_SLOT: not known */
};

enum meet_state {
    MEET_WAITING, /* side 0: for an offer; side 1: for the link, to send its own */
    MEET_OFFERED, /* side 1: for an answer */
    MEET_PAIRED,  /* side 0: has answered an offer; the other end may have gone meanwhile */
    MEET_DONE,    /* both know of each other */
};

struct shm_conn {
    struct tp_conn base;
    /* Read by every transfer; set by open(), or before `peer` is (C3). */
    struct shm_slot *own;             /* NULL: open() failed */
    _Atomic(struct shm_slot *) peer;  /* C3 */
    uint32_t peer_open;               /* its state while it is open (C4) */
    uint32_t peer_word_num;           /* of peer_words */
    atomic_bool ended;                /* with `end`; C1 */
    _Atomic uint64_t **peer_words;    /* mapped here */
    struct shm_segment *peer_segment; /* the link's */
    struct shm_link *link;            /* held */
    struct copy_habit writes, reads;  /* of mapped memory */
    pthread_mutex_t map_lock;         /* map(), and making ready; taken before no other of ours */
    struct shm_map *maps;             /* under map_lock */
    void (*on_change)(void *arg);     /* set by open() */
    void *arg;                        /* of on_change */
    atomic_bool settled;              /* told the peer that all is mapped; set under the lock */
    atomic_bool peer_settled;         /* the peer has told so; set under the lock */
    uint8_t key[SHM_KEY_LEN];         /* hash of the key text; set by open() */
    int side;                         /* set by open() */
    struct shm_end_id id;             /* of this end; set by open() */
    struct shm_told told;             /* by this end; set by open() */
    /* Under the lock of shm_meet.c. */
    struct hc_list in_all;  /* while it is open; of those that leave, until meet_left() */
    struct hc_list in_wait; /* side 0: of its bucket, until MET; side 1: unsent */
    enum meet_state state;
    struct shm_end_id peer_id; /* from PAIRED or DONE on */
    struct shm_told heard;     /* from the peer; stays once it is set */
    bool closed;               /* close() has begun: no callback from now on */
    bool aborted;              /* abort() was called */
    bool failure_told;         /* poll() has logged why there is no link */
    bool no_link;              /* it ended with the link, before it had met */
    HcclResult failure;        /* why it cannot be connected, other than by the peer */
    enum tp_end end;           /* never changes once it is not TP_OPEN */
    char end_text[SEGMENT_WHY];
};

/* Neither end has closed, `peer` being C3's. */
static inline bool
shm_stands(struct shm_conn *conn, struct shm_slot *peer)
{
    return !atomic_load(&conn->ended) && atomic_load(&peer->state) == conn->peer_open;
}

/* The peer's end, whose slot has been checked, has a call in `count` of it, or may have. shm.c. */
bool shm_peer_counts(struct shm_conn *conn, const struct shm_end_id *id,
                     const _Atomic uint32_t *count);

/* ---- shm_meet.c; they take its lock ---- */

/* The end may be found from now on. */
void meet_open(struct shm_conn *conn);

/* HCCL_SUCCESS: met; HCCL_E_AGAIN; HCCL_E_REMOTE: ended; else failed (logged). */
HcclResult meet_poll(struct shm_conn *conn);

/* Tells the peer that this end, which has met, is in no need of it to become ready. */
void meet_settle(struct shm_conn *conn);

/* The end is not found any more, no callback of it runs, and the peer has been told. The peer's
 * end that may still be in a call, slot SHM_NO_SLOT: none. */
struct shm_end_id meet_close(struct shm_conn *conn);

/* After meet_close(): no call of the peer is under way any more. */
void meet_left(struct shm_conn *conn);

void meet_abort(struct shm_conn *conn, const char *why);
enum tp_end meet_ending(struct shm_conn *conn, char *text, size_t len);

/* ---- shm_told.c ---- */

/* HCCL_E_PARA (logged): a word lies in no shared file; HCCL_E_MEMORY (logged). */
HcclResult told_make(const struct tp_open *args, struct shm_told *told);
void told_free(struct shm_told *told);
const struct tp_place *told_place(const struct shm_told *told, uint32_t word);
const void *told_hello(const struct shm_told *told);
uint64_t told_len(const struct shm_told *told);

/* Sends `head` [head_len] and what is told with it. As link_send; HCCL_E_SYSCALL (logged). */
HcclResult told_send(struct shm_link *link, const void *head, uint32_t head_len,
                     const struct shm_told *told);

/* Takes what came behind a message's head: `bytes` [len], or in the file `fd`. The two numbers in
 * `told` are the peer's claim. HCCL_E_PARA (not logged): not as claimed; HCCL_E_MEMORY (logged). */
HcclResult told_take(struct shm_told *told, const void *bytes, uint32_t len, int fd);

/* ---- shm_move.c ---- */

HcclResult shm_write(struct tp_conn *base, const struct tp_xfer *xfer);
HcclResult shm_read(struct tp_conn *base, const struct tp_xfer *xfer);
HcclResult shm_write_reduce(struct tp_conn *base, const struct tp_xfer *xfer);
HcclResult shm_read_reduce(struct tp_conn *base, const struct tp_xfer *xfer);
HcclResult shm_notify(struct tp_conn *base, uint32_t index);
void shm_wake(struct tp_conn *base, uint32_t waiter);
HcclResult shm_flush(struct tp_conn *base);

/* ---- import.c ---- */

/* HCCL_E_PARA (logged): the region is no memory that a process can have. */
HcclResult region_check(struct shm_link *link, const struct tp_region *region);

/* The region of a peer as an address here: mapped, or a stand-in. As map() of struct tp_ops. */
HcclResult region_map(struct shm_link *link, const struct tp_region *region, void **local);
void region_unmap(struct shm_link *link, void *local);

#endif
