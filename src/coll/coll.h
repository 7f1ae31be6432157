/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll: collectives (inside this layer only).
 *
 * A call goes: api_coll.c makes a struct coll_op of it; check.c refuses what cannot be; submit.c
 * gets the resources (state.c), chooses the algorithm (choose.c) and hands over to the engine. The
 * algorithm (algo_*.c) is a function that says, in rounds of sends and receives, what this rank
 * does; round.c makes primitives on a thread of them. The same function runs in the call (engine
 * CPU_TS) or in an AICPU kernel (kernel.c). Short operations on the calling thread go another way:
 * inline.c.
 *
 * L1  Data goes through slots in the receiver's HCCL buffer: COLL_SLOTS of slot_len bytes for each
 *     direction of each pair. Message m of an operation, counted from 0 for each direction of each
 *     pair, takes slot m modulo COLL_SLOTS.
 * L2  Before a message can be sent its receiver has said that the slot is free ("ready" of that
 *     slot, at the sender); when it is in place the sender says so ("full", at the receiver). So
 *     each notify alternates, and would do as a single flag.
 *     Long messages of what was there before go from buffer to buffer instead (direct.c).
 * L3  What an operation records or writes at a peer is waited for there by the same operation:
 *     nothing is under way to a rank that has finished. So a rank may destroy its communicator as
 *     soon as its own operation is over, and a recorded operation can be repeated.
 * L4  The operations of a communicator run one after another on each rank, in the order of the
 *     calls: by their stream, or by an event between streams (submit.c).
 *     Whether the one before has been done, and not dropped, each looks at first: turns.c.
 * L5  Each operation begins with a word to the neighbour (agree.c), which finds out ranks that do
 *     not call the same.
 */
#ifndef HC_COLL_COLL_H
#define HC_COLL_COLL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "acl/acl_rt.h"
#include "comm/comm.h"
#include "hccl/hccl_types.h"
#include "hcomm/hcomm_p2p.h"
#include "hcomm/hcomm_primitives.h"

#define COLL_SLOTS 4u /* L1 */
/* Up to so many ranks, what is long and only copied goes from buffer to buffer: who waits for a
 * message looks at all other ranks. */
#define COLL_DIRECT_RANKS 8u
#define COLL_LINE 64u /* bytes; slots and parts of buffers are multiples of it */

enum coll_kind {
    COLL_ALL_REDUCE,
    COLL_BROADCAST,
    COLL_REDUCE,
    COLL_REDUCE_SCATTER,
    COLL_REDUCE_SCATTER_V,
    COLL_ALL_GATHER,
    COLL_ALL_GATHER_V,
    COLL_SCATTER,
    COLL_ALL_TO_ALL,
    COLL_ALL_TO_ALL_V,
    COLL_ALL_TO_ALL_VC,
    COLL_BARRIER,
    COLL_KINDS
};

/* In the order of the knob's choices. */
enum coll_algo {
    COLL_AUTO,
    COLL_MESH,
    COLL_RING,
    COLL_HALVING,
    COLL_TREE,
    COLL_TWO_PHASE,
    COLL_ALGOS
};

/* One call. Counts and displacements are elements. */
struct coll_op {
    enum coll_kind kind;
    enum coll_algo algo;
    int type, red;
    uint32_t size; /* bytes of an element */
    uint32_t root;
    uint32_t hash;  /* of the tables that all ranks must give alike */
    uint64_t count; /* as the call gives it: of the buffer, or of one rank's part */
    void *send, *recv;
    const uint64_t *send_counts, *send_displs; /* [ranks]; NULL: equal parts of `count` */
    const uint64_t *recv_counts, *recv_displs;
};

/* What ranks tell each other of a call. */
struct coll_word {
    uint64_t count;
    uint32_t root, hash;
    uint8_t kind, type, red, algo;
    uint16_t direct; /* struct coll_run.direct */
    uint16_t reserved;
    uint32_t rank; /* who says it */
};

/* Measured numbers from which algorithms are chosen. All ranks use rank 0's. */
struct coll_model {
    uint32_t step_ns;   /* from one rank to another, without the bytes */
    uint32_t task_ns;   /* queueing one task and running it */
    uint32_t mib_us;    /* moving 1 MiB to a peer and from its slots to its place */
    uint32_t reduce_us; /* reducing 1 MiB */
    uint32_t cores;     /* processors that the ranks share */
};

struct coll_peer {
    ChannelHandle channel;
    uint8_t *there;       /* slots at the peer, for messages from here */
    uint8_t *here;        /* slots here, for messages from the peer */
    uint8_t *word;        /* where the peer takes a word */
    uint32_t sent, taken; /* messages of the running operation: L1 */
};

enum coll_act { COLL_COPY, COLL_FOLD };

/* One send or receive of a round; `peer` may be this rank, for a local copy or reduction. */
struct coll_move {
    uint32_t peer;
    enum coll_act act; /* of a receive */
    bool signal;       /* no bytes, but a message */
    bool apart;        /* direct.c has taken it */
    uint8_t *addr;
    const uint8_t *from; /* of a receive from this rank */
    uint64_t len;
};

/* What a communicator keeps for its collectives; state.c. */
struct coll {
    struct comm *comm; /* these are set once; lives as long as the communicator */
    HcclComm handle;
    uint32_t rank, rank_num;
    uint32_t timeout_s;
    enum coll_algo forced[COLL_KINDS]; /* COLL_AUTO: choose */
    bool on_aicpu;                     /* the engine */

    pthread_mutex_t telling; /* protects `begun`; a leaf */
    struct coll_word begun;  /* the last operation whose turn has come */

    pthread_mutex_t lock;        /* one call at a time; protects these: */
    aclrtStream last;            /* stream of the last operation; NULL: none yet */
    aclrtEvent passed;           /* L4 */
    uint64_t turns;              /* operations that have been queued: turns.c */
    _Atomic uint64_t turns_over; /* the last that has passed; written by who runs the stream ... */
    atomic_bool in_run;          /* ... as this: a recorded operation is under way */
    uint8_t *scratch;            /* of inline.c */
    /* Set by coll_prepare(): places in the HCCL buffer. */
    uint64_t buffer_len; /* 0: not yet */
    uint8_t *word_in, *word_out;
    uint64_t *counts_in, *counts_out; /* [rank_num] */
    uint8_t *work;                    /* [work_len] */
    uint64_t work_len, slot_len, slots_at;
    bool connected; /* then these are set: */
    struct coll_model model;
    ThreadHandle device_thread, device_thread_on_host; /* on_aicpu */
    aclrtStream device_stream;                         /* of device_thread */

    /* Of whoever makes primitives of an operation, one at a time: in the call under `lock`, in a
     * kernel under the communicator's lock (HcommAcquireComm). [rank_num] each. */
    struct coll_peer *peers;
    struct coll_move *sends, *recvs;
    HcommBatchItem *items; /* [2 * rank_num] */
};

/* An operation on its way to primitives. */
struct coll_run {
    struct coll *coll;
    const struct coll_op *op;
    ThreadHandle thread;         /* 0: it runs on the calling thread, now */
    aclrtStream stream;          /* of `thread`; HCOMM_STREAM_INLINE */
    bool direct;                 /* long messages that are only copied go from buffer to buffer */
    uint32_t send_num, recv_num; /* of the round being made */
    HcclResult rc;               /* the first error: nothing is queued after it */
};

/* ---- names.c ---- */

const char *coll_function(enum coll_kind kind); /* "HcclAllReduce" */
bool coll_reduces(enum coll_kind kind);
bool coll_has_root(enum coll_kind kind);

/* ---- state.c ---- */

/* What `comm` keeps, made at the first call. */
HcclResult coll_get(struct comm *comm, HcclComm handle, struct coll **coll);

/* ---- connect.c ---- */

/* Where things are in the HCCL buffer, once. Under the lock. */
HcclResult coll_prepare(struct coll *coll);

/* Connects to all ranks, once; waits for them. Under the lock. */
HcclResult coll_connect(struct coll *coll);

/* ---- settings.c ---- */

/* Engine and algorithms, from the communicator's configuration and the environment. */
HcclResult coll_settings(struct coll *coll);

/* ---- model.c ---- */

/* This rank's numbers. */
void coll_measure(struct coll_model *model);

/* ---- check.c ---- */

/* Whether the call can be done at all, on this rank. HCCL_E_PTR, HCCL_E_PARA (logged). */
HcclResult coll_check(const struct coll *coll, const struct coll_op *op);

/* ---- choose.c ---- */

/* Whether the algorithm does such operations, with so many ranks. */
bool coll_algo_does(enum coll_algo algo, enum coll_kind kind, uint32_t ranks);

void coll_choose(const struct coll *coll, struct coll_op *op);

/* Does the operation with the algorithm it names. */
HcclResult coll_perform(struct coll_run *run);

/* ---- submit.c ---- */

HcclResult coll_submit(struct comm *comm, HcclComm handle, struct coll_op *op, aclrtStream stream);

/* ---- kernel.c ---- */

/* `thread` wraps the stream, and has a notify. */
HcclResult coll_launch(struct coll *coll, const struct coll_op *op, aclrtStream stream,
                       ThreadHandle thread, bool direct);

/* ---- inline.c ---- */

/* Does a short operation on the calling thread. false: it is not one, but the ranks agree on it; go
 * on. Under the lock. */
bool coll_inline(struct coll *coll, const struct coll_op *op, HcclResult *rc);

/* ---- agree.c ---- */

struct coll_word coll_word_of(const struct coll *coll, const struct coll_op *op, bool direct);

/* For messages about waits: `begun` of `own`, a struct coll. */
void coll_doing(void *own, char *text, size_t len);
void coll_begin(struct coll *coll, const struct coll_word *word);

/* true: they agree. Else `why` [len] says how they differ. */
bool coll_word_equal(const struct coll *coll, const struct coll_word *own,
                     const struct coll_word *other, char *why, size_t len);

/* Tells the peers that this rank's part of the operation will not come. */
void coll_queue_failed(const struct coll *coll, const struct coll_op *op, HcclResult rc);

/* L5. */
void run_agree(struct coll_run *run);

/* All-to-all-v: whether what each peer sends is what this rank expects. */
void run_agree_counts(struct coll_run *run);

/* ---- turns.c ---- */

/* Around what is queued on `thread`, of the caller's stream. Under the lock. */
HcclResult turn_begin(struct coll *coll, ThreadHandle thread, bool recorded);
HcclResult turn_end(struct coll *coll, ThreadHandle thread, bool recorded);

/* All that has been queued has passed; once the streams are idle. HCCL_E_REMOTE (logged): an
 * operation has been dropped. Under the lock. */
HcclResult turn_check(struct coll *coll, const char *function);

/* ---- moves.c ---- */

/*
 * A round: first say what this rank sends and receives, at most one of each for a peer, then
 * run_go(). The matching receive must be in the peer's matching round, with the same length. Long
 * messages go in pieces of a slot, of all peers alternately; of each piece, the sends come first.
 */
void run_send(struct coll_run *run, uint32_t peer, const void *from, uint64_t len);
void run_recv(struct coll_run *run, uint32_t peer, void *to, uint64_t len);
/* Receives and reduces. */
void run_fold(struct coll_run *run, uint32_t peer, void *into, uint64_t len);
/* A copy inside this rank, in the place of a receive. */
void run_own(struct coll_run *run, void *to, const void *from, uint64_t len);
/* Messages without bytes. */
void run_tell(struct coll_run *run, uint32_t peer);
void run_hear(struct coll_run *run, uint32_t peer);

/* How many pieces a message has, and how long one is. */
uint64_t run_pieces(const struct coll_run *run, const struct coll_move *move);
uint64_t run_piece_len(const struct coll_run *run, const struct coll_move *move, uint64_t piece);

/* At once, between rounds. */
void run_copy(struct coll_run *run, void *to, const void *from, uint64_t len);
void run_reduce(struct coll_run *run, void *into, const void *from, uint64_t len);

/* ---- round.c ---- */

void run_go(struct coll_run *run);
/* The same, of a round that only copies what was there before the operation: long messages go from
 * buffer to buffer. What the operation has just written is in this processor's cache: to fetch it
 * from there can take several times as long as to push it on, as slots do. */
void run_move(struct coll_run *run);

/* ---- direct.c ---- */

/* Takes the long messages out of the round and sends and receives them. */
void run_direct(struct coll_run *run);

/* One piece of each message, on the calling thread. */
void run_piece_here(struct coll_run *run, uint64_t piece);

/* ---- parts.c: who has what ---- */

struct coll_part {
    uint64_t at, len; /* bytes */
};

/* Part `i` of `num` of `total` elements, cut at lines where there is enough. */
struct coll_part part_of(const struct coll_op *op, uint64_t total, uint32_t num, uint32_t i);

/* Rank `i`'s part of the send buffer, of the receive buffer. */
struct coll_part part_sent(const struct coll_op *op, uint32_t i);
struct coll_part part_received(const struct coll_op *op, uint32_t i);

/* The slice [from, from + most) of a part: what is left of it there. */
struct coll_part part_slice(struct coll_part part, uint64_t from, uint64_t most);

/* ---- algorithms ---- */

/* What one rank does, the busiest one. */
struct coll_cost {
    uint64_t steps;    /* messages that wait for each other */
    uint64_t messages; /* sent and received */
    uint64_t sent;     /* bytes */
    uint64_t reduced;  /* bytes */
};

struct coll_algorithm {
    /* What this rank does; NULL: the algorithm does not do that kind. */
    void (*run[COLL_KINDS])(struct coll_run *run);
    /* Whether it can with so many ranks; NULL: always. */
    bool (*suits)(enum coll_kind kind, uint32_t ranks);
    /* `bytes` are of the whole buffer (all-reduce, reduce, broadcast) or of one rank's part. */
    struct coll_cost (*cost)(enum coll_kind kind, uint32_t ranks, uint64_t bytes);
};

extern const struct coll_algorithm coll_mesh, coll_ring, coll_halving, coll_tree, coll_two_phase;

/* The rank `by` places after this one, before it; by < rank_num. */
static inline uint32_t
rank_after(const struct coll *coll, uint32_t by)
{
    return (coll->rank + by) % coll->rank_num;
}

static inline uint32_t
rank_before(const struct coll *coll, uint32_t by)
{
    return (coll->rank + coll->rank_num - by) % coll->rank_num;
}

/* Steps of doubling until `ranks` are reached. */
static inline uint32_t
log2_up(uint32_t ranks)
{
    uint32_t steps = 0;

    while ((1u << steps) < ranks)
        steps++;
    return steps;
}

static inline uint64_t
least_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline void *
bytes_at(const void *base, uint64_t at)
{
    return (uint8_t *)(uintptr_t)base + at;
}

#endif
