/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * engine: messages between the ranks of a communicator (inside this layer only).
 *
 *     context.c   a rank's side of it, kept with its communicator
 *     pair.c      the way to one other rank: its areas, its connection, its end
 *     ring.c      cells in and out
 *     match.c     which receive takes which message
 *     progress.c  what came in, what may go out
 *     adopt.c     long messages of ranks that send to each other first
 *     stash.c     short messages to a rank that is not there yet
 *     move.c      large messages, from buffer to buffer
 *     withdraw.c  an operation is taken back
 *     check.c     arguments; what a probe finds
 *     call.c      operations that are run together, on the calling thread; how it waits
 *     give_up.c   waits in vain
 *     task.c      the same, queued on a stream
 *     quick.c     one short message on the calling thread, without any of that
 *     api_p2p.c   Send, Recv, SendRecv, Batch, Probe
 *
 * An operation is one send or one receive. A call is some of them that are done together, by one
 * thread or one stream: its owner. Everybody who waits makes progress for all calls of the rank;
 * only the bytes of large messages are moved by the owners alone.
 *
 * E1  All fields of struct p2p, its pairs, calls and operations are under p2p.lock unless they say
 *     otherwise. It is a spin lock: nothing is done under it but looking at rings and moving
 *     short messages. The transport is never called under it.
 * E2  Sends to one rank are published in the order in which they started: a pair's `sends` is a
 *     queue. Receives match in the order in which they started: `posted` is one too. Messages that
 *     found no receive wait in the pair's `early`, in the order in which they came. So tags match
 *     as the header promises.
 * E3  A ring that is full makes its senders wait, and so does one whose next message finds no
 *     receive while `early_len` has reached its limit: memory is bounded on both sides.
 * E4  Who is to ring a sleeping peer, or to wake an owner here, does so after it has let go of the
 *     lock (p2p_unlock): waking a stream may drop tasks, and the transport is not called under it.
 *     Who may hold locks of the transport himself (the hook) leaves the ringing to a job.
 * E5  While an operation is MOVING its owner works without the lock, and nobody else touches it.
 */
#ifndef HC_P2P_ENGINE_H
#define HC_P2P_ENGINE_H

#include <pthread.h>

#include "base/barrier.h"
#include "base/list.h"
#include "base/spinlock.h"
#include "comm/comm.h"
#include "copy/copy.h"
#include "hcomm/hcomm_p2p.h"
#include "p2p/p2p.h"
#include "p2p/ring.h"
#include "resource/resource.h"
#include "runtime/runtime.h"

#define P2P_WHY_LEN 320u
#define P2P_LOOKS                                                                                  \
    16384u /* at the next cell, at most, before the processor is shared: some 5 us                 \
            */

/* Messages of different contexts never match each other. */
enum p2p_context {
    P2P_PROGRAM,  /* HcommSend and its like */
    P2P_INTERNAL, /* windows and one-sided services agree with each other */
    P2P_CONTEXTS
};

enum p2p_op_kind { P2P_SEND, P2P_RECV };

enum p2p_state {
    P2P_NEW,
    P2P_QUEUED,  /* send: in the pair's `sends` */
    P2P_POSTED,  /* receive: in `posted` */
    P2P_AT_DESK, /* both: waits for what the other end does at the desk */
    P2P_TO_MOVE, /* its owner is to move bytes */
    P2P_MOVING,  /* E5 */
    P2P_OVER,    /* `rc` is set */
};

/* One send or receive. The first part is filled in by who makes the call. */
struct p2p_op {
    enum p2p_op_kind kind;
    enum p2p_context context;
    bool sync;           /* send: not done before it is received */
    bool patient;        /* the call's time limit is all that counts, also while connecting; its
                          * sends are not kept beyond the call */
    uint32_t peer, tag;  /* receives: or HCOMM_ANY_RANK, HCOMM_ANY_TAG */
    int type;            /* HcclDataType */
    uint32_t size;       /* bytes of one element */
    void *buf;           /* sends only read it */
    uint64_t len;        /* bytes */
    HcommRecvInfo *info; /* receives: what came; NULL: not wanted */
    HcclResult rc;       /* when it is OVER */

    enum p2p_state state;
    struct p2p_call *call;
    struct hc_list in_queue; /* QUEUED, POSTED, or a receive AT_DESK: in the pair's `taken` */
    struct p2p_pair *pair;   /* send: from the start; receive: when it is matched */
    uint32_t desk, use;      /* numbers; from AT_DESK on */
    struct tp_region region; /* of `buf` */
    struct tp_region far;    /* of the other end's, when there is a desk */
    enum p2p_phase phase;    /* of the desk, as last seen */
    uint64_t moved;          /* bytes that came or went in pieces */
    uint64_t whole;          /* receive: bytes of its message; from AT_DESK on */
    bool pieces;             /* receive: it comes in pieces */
    bool tried;              /* send: it has moved all that it could */
    bool stopped;            /* R6; with `claimed` */
    uint32_t claimed;
    uint64_t stopped_ns;      /* when */
    bool stashed;             /* send: a copy of the program's; stash.c */
    struct p2p_early *adopts; /* receive: fetches that message; NULL: it is a program's */
    struct p2p_early *claims; /* receive: gets that message when it is here */
};

/* See P2P_TAG_COLLECTIVE. */
static inline bool
op_is_collective(const struct p2p_op *op)
{
    return op->context == P2P_PROGRAM && op->tag >= P2P_TAG_COLLECTIVE && op->tag != HCOMM_ANY_TAG;
}

/* Operations that are done together. */
struct p2p_call {
    struct p2p *p2p;
    const char *function; /* for messages */
    struct p2p_op *ops;   /* [num] */
    uint32_t num, left;   /* `left` are not OVER */
    bool started;
    bool sleeps; /* its owner waits to be woken; under the lock */
    bool is_task;
    uint32_t stream;            /* is_task: number of the parked stream */
    struct hc_list in_sleepers; /* tasks that sleep */
    struct hc_list in_wakes;    /* E4 */
    uint64_t deadline_ns;       /* its owner's alone, as the next */
    uint64_t look_ns;           /* when other ranks are looked at next */
    bool hopeless;              /* it is being taken back */
    bool warned;                /* that it may wait for ever */
    bool finished;              /* its owner has seen that all are OVER */
    HcclResult rc;              /* the failure that is told */
    uint32_t failed_at;         /* then: of which operation, and ... */
    char why[P2P_WHY_LEN];      /* ... for the one message */
};

/* A message that came before its receive. */
struct p2p_early {
    struct hc_list in_pair;
    enum p2p_cell_kind kind; /* INLINE, EAGER: `bytes`; OFFER: `desk`, `region` */
    enum p2p_context context;
    int type;
    bool sync;
    uint32_t tag, desk;
    uint64_t len, kept; /* `kept`: of them here */
    struct tp_region region;
    struct p2p_op *incoming; /* adopt.c; NULL: none, as the next */
    struct p2p_op *claimed;
    uint8_t bytes[]; /* [kept] */
};

/* The way to one other rank, or to oneself. */
struct p2p_pair {
    struct p2p *p2p;
    uint32_t peer;
    ChannelHandle handle;        /* 0: to oneself; set at creation */
    struct res_channel *channel; /* held; NULL: not connected; set once under the lock */
    struct tp_conn *conn;        /* the channel's */
    struct p2p_area *own, *far;  /* `far` NULL: not connected */
    bool near;                   /* the peer is in this process: all addresses are good here */
    bool covered;                /* the far owner's heavy barrier reaches this process */
    bool gone;                   /* its end has been noticed */
    bool failed;                 /* it could not be connected (logged) */
    bool bad;                    /* what came makes no sense (logged) */
    uint64_t since_ns;           /* when connecting began */
    atomic_bool event;           /* look at the connection; set on any thread */
    atomic_bool invited;         /* the peer of this process has been asked to open its end */
    bool died, dead;             /* with `gone`: not by destroying its communicator; its process has
                                    ended. With `failed`: it died */
    uint64_t far_open;           /* R4 */
    uint32_t far_ring_len;       /* checked */
    bool ring;                   /* E4 */
    struct hc_list in_live;      /* of p2p.live, when it is connected */

    /* What goes out. */
    uint64_t cells_put, cells_taken; /* messages; `taken`: by the far end, as last seen */
    uint64_t bytes_put, bytes_taken;
    struct hc_list sends;               /* of struct p2p_op; E2 */
    uint64_t desks_busy;                /* one bit for each own desk */
    uint32_t desk_uses;                 /* R5 */
    struct p2p_op *desk_ops[P2P_DESKS]; /* sends there; NULL: free, or given up (R5) */

    /* What comes in. */
    uint64_t cells_got, bytes_got;
    _Atomic uint32_t looks;              /* quick.c; advice: any thread */
    struct hc_list early;                /* of struct p2p_early; E2 */
    struct hc_list taken;                /* of struct p2p_op: receives AT_DESK */
    struct p2p_op *piece_ops[P2P_DESKS]; /* receives that come in pieces; NULL: drop them */

    struct copy_habit out, in; /* of moves; any thread */
};

/* A rank's side of a communicator's messages. */
struct p2p {
    struct comm *comm; /* not held: it ends this when nobody holds it (guest) */
    uint32_t rank, rank_num;
    uint32_t ring_len;            /* constant, as the next six */
    uint64_t early_most;          /* E3 */
    uint64_t eager_most;          /* bytes; longer messages are offered */
    const struct copy_plan *plan; /* who moves those */
    int64_t connect_ms;           /* how long a peer may take to show up */
    int64_t exec_s;               /* longest wait; 0: for ever */
    struct hc_spinlock lock;
    _Atomic(struct p2p_pair *) *pairs; /* [rank_num]; NULL: not wanted yet; set under the lock */
    struct hc_list live;               /* of struct p2p_pair */
    struct hc_list posted;             /* of struct p2p_op; E2 */
    struct hc_list sleepers;           /* of struct p2p_call: tasks that sleep */
    uint32_t hosts;                    /* threads that sleep */
    struct hc_list wakes;              /* of struct p2p_call: tasks to be woken; E4 */
    bool poke;                         /* threads are to be woken; E4 */
    uint32_t open;                     /* tasks under way */
    uint32_t stashed;                  /* copies of sends; stash.c */
    uint64_t early_len;                /* bytes kept in all pairs' `early` */
    uint32_t rings;                    /* pairs with `ring` set */
    bool failed;                       /* the fate is broken */
    bool broken;                       /* the fate is, or the communicator is being destroyed */
    char why[P2P_WHY_LEN];             /* then */
    atomic_bool event;                 /* a pair has `event` */
    pthread_mutex_t connecting;  /* one thread at a time looks at connections; over the lock */
    struct hc_list in_all;       /* under context.c's lock, as the next two */
    uint32_t users;              /* who looks at it, besides calls */
    bool ending;                 /* nobody begins to */
    _Atomic uint32_t window_seq; /* windows begun, of all kinds: see window.h */
    _Atomic uint32_t windows;    /* those that are open */
    _Atomic(struct one_sided *) one_sided; /* one_sided.h; set once; NULL: nobody has used it */
};

/* ---- context.c ---- */

/* The rank's side, and its communicator held (p2p_release). As comm_hold and comm_guest. */
HcclResult p2p_hold(HcclComm handle, struct p2p **p2p);
/* The same for an operation; also as comm_check_running. */
HcclResult p2p_hold_running(const char *function, HcclComm handle, struct p2p **p2p);
void p2p_hold_more(struct p2p *p2p); /* for somebody who has a hold */
void p2p_release(struct p2p *p2p);

/* The slow half of p2p_unlock(). */
void p2p_unlock_and_wake(struct p2p *p2p);

/* Lets go of the lock; rings and wakes whom it must (E4). */
static inline void
p2p_unlock(struct p2p *p2p)
{
    if (p2p->rings > 0 || p2p->poke || !hc_list_empty(&p2p->wakes))
        p2p_unlock_and_wake(p2p);
    else
        hc_spin_unlock(&p2p->lock);
}

/* Connections have changed: somebody looks soon. Any thread, under any lock but p2p.lock. */
void p2p_look_soon(struct p2p *p2p);

/* Ranks of this process that have made no call yet are made to open the way to this one. Not under
 * the lock. */
void p2p_invite(struct p2p *p2p);

/* `call` is to be woken when the lock is let go. Under the lock. */
void p2p_wake(struct p2p_call *call);

/* ---- pair.c ---- */

/* The far owner sleeps: it is rung when the lock is let go (E4). */
void pair_must_ring(struct p2p_pair *pair);

/* The way to `peer`, made at first need; never blocks. Not under the lock. HCCL_E_MEMORY,
 * HCCL_E_REMOTE ... (logged). */
HcclResult pair_want(struct p2p *p2p, uint32_t peer);

/* Looks at the connections that have changed. Not under the lock. */
void pairs_look(struct p2p *p2p);

/* Ends all of them. Nobody is in a call any more. */
void pairs_fini(struct p2p *p2p);

/* Around touching the far area (R4), for connected pairs. false: its owner goes. Under the lock. */
static inline void
pair_leave(struct p2p_pair *pair)
{
    atomic_store_explicit(&pair->own->inside, 0, memory_order_release);
}

/* The area may be no more: then whatever its memory holds is another number. Its owner's thread, if
 * it is of this process, may be writing there without asking for more order than that. */
__attribute__((no_sanitize("thread"))) static inline bool
pair_is_open(const struct p2p_pair *pair)
{
    return atomic_load_explicit(&pair->far->open, memory_order_acquire) == pair->far_open;
}

static inline bool
pair_enter(struct p2p_pair *pair)
{
    atomic_store_explicit(&pair->own->inside, 1, memory_order_relaxed);
    hc_barrier_light(pair->covered);
    if (pair_is_open(pair))
        return true;
    pair_leave(pair);
    return false;
}

/* The same for what is done without the lock. */
bool pair_enter_move(struct p2p_pair *pair);
void pair_leave_move(struct p2p_pair *pair);

/* The far owner must look (R3). Inside. */
static inline void
pair_nudge(struct p2p_pair *pair)
{
    hc_barrier_light(pair->covered);
    if (atomic_load_explicit(&pair->far->waiter, memory_order_relaxed) != 0)
        pair_must_ring(pair);
}

/* Why no more can come of this pair. Not under the lock. */
void pair_why(struct p2p_pair *pair, char *why, size_t len);

/* The same for an operation that waits in vain: a peer that has died, or failed, breaks the fate.
 */
void pair_lost(struct p2p_pair *pair, char *why, size_t len);

/* All who sleep look again. Under the lock. */
void p2p_wake_all(struct p2p *p2p);

/* ---- ring.c; under the lock ---- */

/* Whether a message with `len` bytes in the byte ring (0: none) can go out now. */
bool ring_has_room(struct p2p_pair *pair, uint64_t len);

/* Writes one; there is room, and pair_enter() was true. `bytes`: INLINE, EAGER, PIECE: [len]. */
struct p2p_note {
    enum p2p_cell_kind kind;
    enum p2p_context context;
    int type;
    bool sync;
    uint32_t tag, desk;
    uint64_t len;
    const void *bytes;
    const struct tp_region *region; /* OFFER */
};
void ring_put(struct p2p_pair *pair, const struct p2p_note *note);

/* The next cell that came, NULL: none. Its fields are copied into *note and checked: what makes no
 * sense, since another process wrote it, is logged once and ends the pair. `note->bytes` lies in
 * the ring (INLINE: in the cell). */
bool ring_peek(struct p2p_pair *pair, struct p2p_note *note, struct tp_region *region);
void ring_take(struct p2p_pair *pair, const struct p2p_note *note);

/* ---- match.c; under the lock ---- */

/* The first posted receive that takes such a message; NULL: none. */
struct p2p_op *match_posted(struct p2p *p2p, uint32_t source, const struct p2p_note *note);

/* The first early message that `op` takes, and its pair; NULL: none. */
struct p2p_early *match_early(struct p2p *p2p, const struct p2p_op *op, struct p2p_pair **pair);

/* Whether a message may be given to this receive; if not, its call knows why. Fills in op->info
 * either way. */
bool match_fits(struct p2p_op *op, uint32_t source, const struct p2p_note *note);

/* Keeps a message that nobody takes; false: no room (E3), or no memory (logged). */
bool early_keep(struct p2p_pair *pair, const struct p2p_note *note);
void early_free(struct p2p_pair *pair, struct p2p_early *early);

/* What came, as it came. */
struct p2p_note early_note(struct p2p_early *early);

/* ---- adopt.c ---- */

/* If the call waits with a long send that no receive has taken, fetches long messages that came.
 * Not under the lock. */
void call_adopt(struct p2p_call *call);

/* Under the lock. An operation with `adopts` is OVER. Those of a pair that ends stop; when the peer
 * touches nothing any more, they are freed. */
void adopt_over(struct p2p_op *op);
void adopt_stop(struct p2p_pair *pair);
void adopt_end(struct p2p_pair *pair);

/* ---- progress.c; under the lock ---- */

static inline struct p2p_desk *
own_desk(struct p2p_pair *pair, uint32_t desk)
{
    return &pair->own->desks[desk];
}

static inline struct p2p_desk *
far_desk(struct p2p_pair *pair, uint32_t desk)
{
    return &pair->far->desks[desk];
}

/* An own desk is free. */
void desk_free(struct p2p_pair *pair, uint32_t desk);

/* All pairs: what came is given to its receives or kept, what can go out goes, desks are looked
 * at. */
void p2p_progress(struct p2p *p2p);

/* `op` ends. Wakes its owner if it was the last of its call, or must move. */
void op_over(struct p2p_op *op, HcclResult rc);
void op_wake(struct p2p_op *op);

/* A receive gets a message. false: it was withdrawn by its sender, and the receive goes on
 * waiting. */
bool op_deliver(struct p2p_op *op, struct p2p_pair *pair, const struct p2p_note *note);

/* As op_deliver, of an offer that fits. */
bool op_take_offer(struct p2p_op *op, struct p2p_pair *pair, const struct p2p_note *note);

/* Starts: a send is published or queued; a receive takes an early message or is posted. */
void op_start(struct p2p *p2p, struct p2p_op *op);

/* ---- withdraw.c; under the lock ---- */

/* Takes an operation out of everything, because its call fails: OVER with `rc`. Not while MOVING.
 * false: bytes are under way to or from its buffer; call again later. */
bool op_withdraw(struct p2p_op *op, HcclResult rc);

/* ---- stash.c; under the lock, but the last ---- */

/* A copy of a short send, whose pair is not connected, is queued in its place. false: it is not
 * one, or there is no room, or no memory (logged). */
bool stash_keep(struct p2p_op *op);

/* The copy has gone out, or will not. */
void stash_over(struct p2p_op *op);

/* Waits until all have gone out, or cannot any more. */
void stash_end(struct p2p_pair *pair);

/* ---- move.c ---- */

/* Moves what is TO_MOVE of the call; they are AT_DESK again afterwards. false: nothing was. Under
 * the lock, which it lets go meanwhile. */
bool call_move(struct p2p_call *call);

/* ---- check.c; not under the lock ---- */

/* Checks an operation's arguments and fills in size, len. As the common results (logged). */
HcclResult op_check(struct p2p *p2p, const char *function, struct p2p_op *op, uint64_t count);

/* Its rank and tag alone. */
HcclResult op_check_peer(struct p2p *p2p, const char *function, const struct p2p_op *op);

/* HcommProbe. */
HcclResult call_probe(struct p2p *p2p, const char *function, uint32_t src, uint32_t tag,
                      uint32_t *found, HcommRecvInfo *info);

/* ---- give_up.c ---- */

/* The pair that `op` needs, if nothing can come of it any more; NULL: something may. Under the
 * lock. */
struct p2p_pair *op_dead_pair(struct p2p *p2p, const struct p2p_op *op);

/* Some operation can only end in vain, or the time is over: the operations are withdrawn, as far as
 * they can be now. true: all are OVER. Not under the lock. */
bool call_give_up(struct p2p_call *call);

/* ---- call.c ---- */

/* The ways that an operation may need are opened. Not under the lock. (Logged.) */
HcclResult op_want_pairs(struct p2p *p2p, const struct p2p_op *op);

/* Runs operations, checked, on the calling thread; returns the first failure (logged). `timeout_ms`
 * < 0: the default; 0: none. */
HcclResult call_run(struct p2p *p2p, const char *function, struct p2p_op *ops, uint32_t num,
                    int64_t timeout_ms);

/* One step of a call: progress, moves. true: all are OVER. Not under the lock. */
bool call_step(struct p2p_call *call);

/* Remembers the failure of an operation; of several, that of the first in the array. Under the
 * lock. */
void op_failed(struct p2p_op *op, HcclResult rc, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Begins a call: it is counted, and the ways to its peers are opened. Not under the lock. On
 * failure (logged) there is nothing to end. */
HcclResult call_begin(struct p2p_call *call);
void call_end(struct p2p_call *call);

/* Looks at memory for a moment, if the call waits for one thing only. true: it has happened. */
bool call_spin(struct p2p_call *call);

/* What the owner does before it sleeps, or between: steps and spins until nothing comes, or all are
 * OVER (true). */
bool call_try(struct p2p_call *call);

/* When a call that begins now must be over. < 0: the default; 0: never. */
uint64_t call_deadline(const struct p2p *p2p, int64_t timeout_ms);

/* "receive of at most 8 bytes, tag 3, from rank 2", of the first that is not over. Not
 * under the lock. */
void call_describe(const struct p2p_call *call, char *text, size_t len);

/* Its owner is about to sleep: from now on peers ring when something comes (R3). true: all are OVER
 * after a last look, so it must not sleep. Not under the lock. */
bool call_sleep(struct p2p_call *call);
void call_awake(struct p2p_call *call);

/* Peers ring from now on. true: some did not before, so pass the heavy barrier and look again.
 * Under the lock. */
bool p2p_arm(struct p2p *p2p);
void p2p_disarm(struct p2p *p2p);

/* ---- task.c ---- */

/* What a stream is told of a task that ended so. */
aclError p2p_task_error(HcclResult rc);

/* A stream, held (rt_stream_release). HCCL_E_RUNTIME (logged): it is not a live one. */
HcclResult p2p_stream_hold(aclrtStream handle, struct rt_stream **stream);

/* Queues operations, copied, on a stream. HCCL_E_RUNTIME, HCCL_E_MEMORY (logged). */
HcclResult call_queue(struct p2p *p2p, const char *function, const struct p2p_op *ops, uint32_t num,
                      aclrtStream stream);

#endif
