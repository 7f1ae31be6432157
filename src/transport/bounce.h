/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bounce: moves bytes to and from memory of another process through pieces of a shared file that
 * both map: the lane. Design: bounce.c (who asks), bounce_serve.c (whose memory it is).
 */
#ifndef HC_TRANSPORT_BOUNCE_H
#define HC_TRANSPORT_BOUNCE_H

#include <sys/types.h>

#include "transport/foreign.h"

/* One transfer between memory of this process and of a peer, by whatever path. */
struct foreign_move {
    struct shm_link *link;
    bool write; /* to the peer */
    uint64_t addr;
    char *local;
    uint64_t len;
    uint64_t lease;
};

/* Say why a move failed; for every path. */
HcclResult foreign_not_there(const struct foreign_move *move);
HcclResult foreign_not_offered(const struct foreign_move *move);

/* ---- What lies in the lane's file ---- */

#define BOUNCE_PIECES 8u
#define BOUNCE_PIECE_LEN ((uint32_t)128 << 10)
#define BOUNCE_HEAD_LEN 65536u /* whole pages on every machine */
#define BOUNCE_FILE_LEN (BOUNCE_HEAD_LEN + BOUNCE_PIECES * BOUNCE_PIECE_LEN)

/* State of a piece. */
#define PIECE_FREE 0u
#define PIECE_ASKED 1u
#define PIECE_ANSWERED 2u
#define PIECE_SLEEPER 0x100u /* flag: who asked sleeps on the state */

enum bounce_answer {
    BOUNCE_DONE,
    BOUNCE_NOT_THERE,   /* nothing is mapped at the address */
    BOUNCE_NOT_OFFERED, /* not under this lease */
    BOUNCE_BAD,         /* no such request */
    BOUNCE_FAILED,      /* the system refused the copy */
};

struct bounce_piece {
    _Atomic uint32_t state; /* futex word */
    _Atomic uint32_t write; /* 1: piece to memory; 0: memory to piece */
    _Atomic uint32_t len;
    _Atomic uint32_t answer; /* enum bounce_answer */
    _Atomic uint64_t addr, lease;
    uint64_t pad[4];
};

struct bounce_lane {
    _Atomic uint32_t awake; /* the serving thread looks at the pieces, or has been told to */
    uint32_t pad[15];
    struct bounce_piece pieces[BOUNCE_PIECES];
};

_Static_assert(sizeof(struct bounce_piece) == 64, "a cache line");
_Static_assert(sizeof(struct bounce_lane) <= BOUNCE_HEAD_LEN, "the head holds it");

/* ---- Messages on the link ---- */

enum foreign_kind {
    FOREIGN_ASK_COOKIE = 1,
    FOREIGN_COOKIE,  /* a: its address, b: its value */
    FOREIGN_LANE,    /* a: length of the file, which comes with it; b: length of a piece */
    FOREIGN_REFUSED, /* that lane is not served */
    FOREIGN_LOOK,    /* into that lane */
    FOREIGN_END,     /* of that lane */
};

struct foreign_message {
    uint32_t kind;
    uint32_t lane; /* the last four: who asks numbers its lanes */
    uint64_t a, b;
};

HcclResult foreign_send(struct shm_link *link, enum foreign_kind kind, uint32_t lane, uint64_t a,
                        uint64_t b, int fd);

/* ---- Who asks ---- */

struct bounce;

/* A lane to the peer; borrows the link. HCCL_E_MEMORY, HCCL_E_SYSCALL (logged). */
HcclResult bounce_open(struct shm_link *link, struct bounce **out);

/* Tells the peer of it; from now on bounce_end() may be due. As link_send. Once, before any move.
 */
HcclResult bounce_pass(struct bounce *bounce);
void bounce_close(struct bounce *bounce); /* nobody is in it; NULL is fine */
uint32_t bounce_number(const struct bounce *bounce);

/* Blocks until done; several threads share the lane. As foreign_write. */
HcclResult bounce_move(struct bounce *bounce, const struct foreign_move *move);

/* No answers will come: the process is gone, or it has refused the lane. */
void bounce_end(struct bounce *bounce, bool refused);

/* ---- Whose memory it is; serve_lane to serve_link_gone: on the service thread ---- */

/* Takes `fd`. */
void serve_lane(struct shm_link *link, uint32_t number, int fd, uint64_t len, uint64_t piece_len);
void serve_look(struct shm_link *link, uint32_t number);
void serve_end(struct shm_link *link, uint32_t number);
void serve_link_gone(struct shm_link *link);

/* Answers what is asked in the lane, at most `most` pieces; how many it were. `next`: where to
 * begin, and then where to go on. Nothing in the lane is believed. */
uint32_t serve_pieces(struct bounce_lane *lane, int fd, uint32_t *next, uint32_t most);

#endif
