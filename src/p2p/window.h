/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * window: memory that every rank of a communicator offers to all (inside this layer only).
 *
 *     window.c         creating and destroying, which all ranks do together
 *     window_agree.c   what they tell each other for it
 *     window_map.c     the memory of the others as addresses of this process
 *     window_notify.c  notifies, and waiting for them; how a window learns that a rank is gone
 *     access.c         put, get, flush: one access, at once or as a task
 *     access_check.c   whether it may be made
 *     access_short.c   the way of those that are done at once
 *     atomic.c         accumulate, fetch-op, compare-swap, and their locks
 *     api_window.c     the public functions
 *
 * Each rank has a control block for each window, in device memory, which the others map: locks,
 * notifies, and a word for each rank. So an access needs nobody at the target. What is read from
 * there is not believed: the others can write it.
 *
 * W1  All ranks make a window, or none. Each tells the others what it offers, or that it cannot;
 *     then, whether it could map what they offer. Who could not tell breaks the communicator's
 *     fate, so that nobody waits for it.
 * W2  Accesses that can be done at once are under a guard of the handle (base/guard.h); all
 *     others, queued ones while they run, raise `inside` and then look at `closed` (seq_cst). Who
 *     destroys the window closes the handle, waits for guards, sets `closed`, and waits for
 *     `inside` to be 0. So afterwards this rank touches nobody's memory, but for W3.
 * W3  Then it stores its word in the control block of every other rank, and touches that block no
 *     more. When all the others have stored theirs here, or are dead, nobody touches this rank's
 *     memory, and it can go. What is mapped goes then too.
 * W4  Tasks that are queued still keep no more than the struct: they find it closed, and fail.
 * W5  `look` says that a connection may have ended. Who finds it set asks all of them, and marks
 *     the peers that are gone; accesses to such a peer fail. It is set first, then those who wait
 *     for notifies are woken; they register first, then look (seq_cst).
 */
#ifndef HC_P2P_WINDOW_H
#define HC_P2P_WINDOW_H

#include "base/handle.h"
#include "p2p/engine.h"

#define WINDOW_STRIPES 64u /* locks of each rank */
#define WINDOW_BLOCK_LEAST 12u
#define WINDOW_BLOCK_MOST 16u

struct window_line {
    _Atomic uint64_t word;
    uint8_t pad[P2P_LINE - 8];
};

/* Of one rank. Anybody may have written anything. */
struct window_control {
    struct window_line locks[WINDOW_STRIPES];           /* see atomic.c */
    struct window_line notifies[HCOMM_WINDOW_NOTIFIES]; /* base/word.h */
    _Atomic uint32_t left[];                            /* [rank_num]: W3 */
};

/* What a rank offers, and where it is here. Constant once the window is made, but for `gone`. */
struct window_peer {
    _Alignas(P2P_LINE) uint8_t *addr; /* NULL: nothing, or no plain address */
    uint64_t size;
    uint32_t access;
    uint32_t block; /* an element at `offset` has the lock offset >> block, modulo the stripes */
    struct window_control *control;
    struct res_channel *channel; /* the pair's, as the next; NULL: the own rank */
    struct tp_conn *conn;
    atomic_bool gone;    /* its connection has ended; W5 */
    uint8_t *stand_in;   /* NULL: none is needed */
    uint64_t owner_addr; /* where its owner has it: for alignment */
    uint64_t lease;
    struct copy_habit puts, gets; /* any thread */
    /* To be undone: */
    struct tp_address owner;              /* of an import */
    struct tp_region memory, far_control; /* as the owner described them */
    bool imported, reached, has_control;
};

/* A notify of this rank. */
struct window_notify {
    atomic_bool waited;     /* somebody waits, or is about to */
    _Atomic uint32_t taken; /* of what was posted; written by who waits */
};

struct window {
    uint64_t handle;
    struct p2p *p2p; /* held; NULL: given back (W4) */
    uint32_t rank, rank_num;
    uint32_t number;     /* the same on all ranks */
    int64_t patience_ms; /* HCCL_EXEC_TIMEOUT; < 0: for ever */
    atomic_bool closed, look;
    atomic_bool vain;        /* somebody is gone: waits for anybody are in vain; W5 */
    _Atomic uint32_t inside; /* W2 */
    struct window_control *control;
    void *owned;    /* memory of HcommWindowAllocate; NULL: it is the program's */
    uint64_t lease; /* of the own memory; 0: none is needed */
    bool beyond;    /* there are ranks in other processes */
    bool spins;     /* rt_spin_remote_add(1) has been called */
    /* A rank may touch them for ever: they are never freed. */
    bool stuck_control, stuck_memory;
    struct hc_list in_all; /* window_notify.c's, under its lock */
    struct window_notify notifies[HCOMM_WINDOW_NOTIFIES];
    struct window_peer peers[]; /* [rank_num] */
};

extern struct hc_table window_table;

/* ---- window.c ---- */

struct window_desc {
    const char *function;
    bool allocate; /* else it is at `addr` */
    void *addr;
    uint64_t size;
    uint32_t access;
    HcclResult fault; /* the arguments are wrong (logged): take part, but for the others only */
};

/* As HcommWindowCreate; *out: its handle is open. */
HcclResult window_create(struct p2p *p2p, const struct window_desc *desc, struct window **out);

/* As HcommWindowDestroy, of a window that is held. */
HcclResult window_destroy(struct window *window);

/* HCCL_E_PTR, HCCL_E_PARA (logged): not a live window. */
HcclResult window_hold(HcommWindow handle, const char *function, struct window **window);
void window_hold_more(struct window *window); /* for somebody who has a hold */
void window_release(struct window *window);

/* Around an access that is not short (W2). false: it is being destroyed, or has been. */
bool window_enter(struct window *window);
void window_leave(struct window *window);

/* ---- window_agree.c ---- */

enum window_kind { WINDOW_PLAIN, WINDOW_SYMMETRIC /* sym_win.h */ };

struct window_hello {
    uint32_t version;
    int32_t rc; /* HcclResult: what stops this rank; then the rest means nothing */
    uint32_t kind, access;
    uint64_t size;
    uint64_t offset; /* symmetric: where it lies in ... */
    uint32_t within; /* ... the window of that number; 0: in none */
    uint32_t reserved;
    struct tp_region memory, control;
    struct tp_address address; /* of the process; process 0: nothing needs it */
};

/* Tells all ranks `own` and hears theirs, [rank_num]. HCCL_E_REMOTE (logged): a rank is gone, or
 * has failed; HCCL_E_TIMEOUT (logged); HCCL_E_PARA (logged): they make windows of several kinds;
 * own->rc, if it is one, when all have been told. */
HcclResult window_agree(struct p2p *p2p, const char *function, uint32_t number,
                        const struct window_hello *own, struct window_hello *all);

/* As window_agree without room for what the others say: tells them `rc`. */
void window_excuse(struct p2p *p2p, const char *function, uint32_t number, HcclResult rc);

/* ---- window_map.c ---- */

/* Describes the own memory [size] and control block. HCCL_E_MEMORY (logged). */
HcclResult window_describe(struct window *window, void *addr, uint64_t size, uint32_t access,
                           struct window_hello *hello);

/* Takes over what the ranks told. HCCL_E_REMOTE, HCCL_E_MEMORY ... (logged). */
HcclResult window_map(struct window *window, const char *function, const struct window_hello *all);
void window_unmap(struct window *window);

/* ---- window_notify.c ---- */

void windows_add(struct window *window);
void windows_remove(struct window *window); /* fine when it is not in */

/* A connection of this rank may have ended, or its communicator cannot go on: those who wait for
 * notifies of its windows look (W5). Any thread, under any lock. */
void windows_wake(struct p2p *p2p);

/* Those who wait for notifies of this window look. */
void window_wake(struct window *window);

/* Asks the connections, if `look` says so (W5). */
void window_look(struct window *window);

/* One wait. */
struct window_wait {
    struct window *window;
    uint32_t notify, left; /* records */
    uint32_t timeout_ms;
    uint32_t count; /* as asked for */
};

/* HcommWindowNotifyWait with checked arguments. `stream` NULL: on the calling thread. */
HcclResult window_wait(const struct window_wait *wait, struct rt_stream *stream);

/* Records notify `notify` of rank `rank`. */
void window_post(struct window *window, uint32_t rank, uint32_t notify);

/* Wakes a waiter of that rank; 0: nobody. */
void window_wake_waiter(struct window *window, uint32_t rank, uint32_t waiter);

/* Why nothing can come of rank `rank`; breaks the fate. */
void window_lost(struct window *window, uint32_t rank, char *why, size_t len);

#endif
