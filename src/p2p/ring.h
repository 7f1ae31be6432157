/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ring: the memory that a pair of ranks shares, and how messages lie in it (inside this layer
 * only).
 *
 * Each rank of a pair owns one area and offers it to the other, which writes its messages there:
 * the receiver polls memory of its own, and one cache line carries a short message whole. A cell is
 * a line; what does not fit into it lies in the byte ring of the same area, in the order of the
 * cells, each piece padded to whole lines. Who receives counts where it is in both rings by itself,
 * so nothing it reads there can send it astray.
 *
 * R1  A cell is written before its `head`, with a number that its place never had (release); who
 *     sees the number (acquire) sees the cell and its bytes. Numbers are those of the messages,
 *     from 1, so no cell is ever cleared.
 * R2  `cells_taken` and `bytes_taken` are stored (release) when the cell and its bytes have been
 *     read for the last time; the writer loads them (acquire) before it writes over them.
 * R3  `waiter` of an area: its owner sleeps, or is about to. The writer publishes, passes a light
 *     barrier, and reads it; the owner sets it, passes the heavy barrier, and looks at the rings
 *     once more. So one of them sees the other (base/barrier.h).
 * R4  Who touches the other's area raises `inside` of its own (under its lock) or `moves` (a count,
 *     for what is done without the lock), passes a light barrier, and reads `open` of the other's:
 *     it must be what it was when they met. The owner that goes clears `open`, passes the heavy
 *     barrier, and waits for both to be 0, or the other process dead. So nothing is written into
 *     memory that its owner has taken back.
 * R5  A desk belongs to one large message of the area's owner, from its offer on. It is free again
 *     when the sender has seen DONE or REFUSED, or has sent the last piece. A sender that gives up
 *     stores WITHDRAWN or BROKEN, and the receiver answers DONE when it comes across that. Each use
 *     has a number, so a receiver that looks late and finds another use knows that its own is DONE.
 * R6  Who moves claims chunks in `next`, if the use is still its own, and counts them in
 *     `finished`; the last one stores DONE. Who wants to stop the moving puts P2P_STOP into `next`,
 *     waits until `finished` is what had been claimed by then, and stores BROKEN: no byte moves
 *     afterwards.
 * R7  That a message was moved is also told in the receiver's area, before the desk is DONE: the
 *     sender may take its area back then.
 */
#ifndef HC_P2P_RING_H
#define HC_P2P_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "transport/transport.h"

#define P2P_CELLS 256u
#define P2P_DESKS 64u
#define P2P_INLINE 40u /* bytes that a cell carries itself */
#define P2P_LINE 64u
#define P2P_EAGER_MOST (16u << 20) /* bytes: what a plan may ask for */
#define P2P_RING_LEAST 65536u      /* bytes */

enum p2p_cell_kind {
    P2P_CELL_INLINE = 1, /* a message: its bytes are in the cell */
    P2P_CELL_EAGER,      /* a message: its bytes are in the byte ring */
    P2P_CELL_OFFER,      /* a message: its bytes stay with the sender, at `desk` */
    P2P_CELL_PIECE,      /* the next bytes of the message at `desk`, in the byte ring */
};

struct p2p_cell {
    _Atomic uint64_t head; /* [number:32 | tag:32]; R1 */
    uint8_t kind;          /* enum p2p_cell_kind */
    uint8_t type;          /* HcclDataType */
    uint8_t context;       /* enum p2p_context */
    uint8_t sync;          /* its sender waits for the receive */
    uint32_t desk;         /* OFFER, PIECE: of the sender's area */
    uint64_t len;          /* bytes of the message; PIECE: of the piece */
    union {
        uint8_t bytes[P2P_INLINE];
        struct tp_region region; /* OFFER: the sender's memory */
    } u;
};
_Static_assert(sizeof(struct p2p_cell) == P2P_LINE, "a cell is one cache line");

/* Who moves the bytes of a large message. */
enum p2p_mover { P2P_PUSH = 1, P2P_PULL = 2, P2P_BOTH = 3 };

enum p2p_phase {
    P2P_OFFERED = 1, /* no receive has taken it */
    P2P_MOVE,        /* straight from buffer to buffer, by `mover` */
    P2P_STREAM,      /* in pieces, through the byte ring */
    P2P_DONE,
    P2P_REFUSED,   /* by the receive: too long, or of another type. For the sender it is done */
    P2P_WITHDRAWN, /* by the sender, which failed */
    P2P_BROKEN,    /* by either, in the middle of moving */
};

#define P2P_STOP 0x40000000u /* R6; messages have fewer chunks */
#define P2P_CHUNK_LEAST 16384u

struct p2p_desk {
    _Atomic uint64_t word;      /* [enum p2p_phase:32 | use:32] */
    _Atomic uint32_t mover;     /* enum p2p_mover; set before MOVE, by the receiver; who cannot move
                                   takes himself away */
    _Atomic uint32_t chunk_len; /* set before MOVE, as `region` */
    struct tp_region region;    /* the receiver's memory */
    uint8_t pad[8];
    _Atomic uint64_t next;     /* [use:32 | chunk to be claimed:32]; on a line that both write */
    _Atomic uint32_t finished; /* chunks that have been moved */
    uint8_t pad2[P2P_LINE - 12];
};
_Static_assert(sizeof(struct p2p_desk) == 2 * P2P_LINE, "a desk is two cache lines");

struct p2p_area {
    /* Written by the owner, seldom; read by the writer after each message. */
    _Atomic uint32_t waiter; /* R3 */
    uint32_t pad;
    _Atomic uint64_t open; /* a number of its own while it may be touched, then 0; R4 */
    uint8_t pad0[P2P_LINE - 16];
    /* Written by the owner with each message; read by the writer when it lacks room. */
    _Atomic uint64_t cells_taken; /* [cells:32 | 0], so that rt_spin_on() can wait for it; R2 */
    _Atomic uint64_t bytes_taken; /* R2 */
    uint8_t pad1[P2P_LINE - 16];
    /* Written by the owner around each message it sends; read when the other goes. */
    _Atomic uint32_t inside, moves; /* R4 */
    uint8_t pad2[P2P_LINE - 8];
    struct p2p_cell cells[P2P_CELLS]; /* written by the other; R1 */
    struct p2p_desk desks[P2P_DESKS]; /* of the owner's messages; R5 */
    _Atomic uint32_t
        done[P2P_DESKS]; /* use of the other's desk that is DONE, if it was moved; R7 */
    uint8_t bytes[];     /* [ring_len]; written by the other */
};

static inline uint64_t
p2p_desk_word(struct p2p_desk *desk)
{
    return atomic_load_explicit(&desk->word, memory_order_acquire);
}

static inline enum p2p_phase
p2p_phase_of(uint64_t word)
{
    return (enum p2p_phase)(word >> 32);
}

static inline void
p2p_desk_set(struct p2p_desk *desk, enum p2p_phase phase, uint32_t use)
{
    atomic_store_explicit(&desk->word, (uint64_t)phase << 32 | use, memory_order_release);
}

/* false: the desk is not in phase `from` of this use. */
static inline bool
p2p_desk_change(struct p2p_desk *desk, uint32_t use, enum p2p_phase from, enum p2p_phase to)
{
    uint64_t seen = (uint64_t)from << 32 | use;

    return atomic_compare_exchange_strong(&desk->word, &seen, (uint64_t)to << 32 | use);
}

/* The length of the chunks that a message is moved in: the receiver's claim, so it is read once. */
static inline uint64_t
p2p_chunk_len(struct p2p_desk *desk)
{
    uint32_t len = atomic_load_explicit(&desk->chunk_len, memory_order_relaxed);

    return len < P2P_CHUNK_LEAST ? P2P_CHUNK_LEAST : len;
}

static inline uint32_t
p2p_chunk_num(uint64_t chunk, uint64_t len)
{
    uint64_t num = (len + chunk - 1) / chunk;

    return num < P2P_STOP ? (uint32_t)num : P2P_STOP - 1;
}

static inline uint64_t
p2p_padded(uint64_t len)
{
    return (len + P2P_LINE - 1) / P2P_LINE * P2P_LINE;
}

#endif
