/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * link: this process and one other process of the host, joined by a unix socket (inside this layer
 * only).
 *
 * Each process listens on an abstract SOCK_SEQPACKET socket named after its process id. Who dials
 * proves that it knows the other's secret (keyed BLAKE2b over both sides' random numbers), and the
 * other proves the same back; anyone else is dropped, logged once a kind, counted, and cannot
 * delay the others. Then both pass the descriptors of their segment and of their shared files. From
 * then on the socket carries what is rare: connections that open and close, knocks for a process
 * that sleeps, bounced transfers. Its end is how the death of a process is noticed at once.
 *
 * One thread of the process (service.c) reads all links, the listener and the lobby; the callbacks
 * below run on it.
 *
 * L1  There is one link for each pair of processes. If both dial at once, the one that the lesser
 *     process id dialled stays.
 * L2  A link stays up when nobody uses it, until one of the processes ends; a dead one goes with
 *     its last hold. `state` never leaves LINK_GONE.
 * L3  A process that ends in order (exit, not a signal) says so first, from a destructor.
 * L4  A forked child closes its copies of all sockets at once (pthread_atfork), so that the death
 *     of its parent is seen.
 */
#ifndef HC_TRANSPORT_LINK_H
#define HC_TRANSPORT_LINK_H

#include <sys/types.h>

#include "transport/segment.h"

struct shm_link;

enum link_state {
    LINK_CONNECTING,
    LINK_UP,
    LINK_GONE, /* refused, timed out, left or died */
};

enum link_end {
    LINK_DIED,    /* its process has, without a word */
    LINK_LOST,    /* its process lives: it or this one could not keep the link */
    LINK_LEFT,    /* it ended in order */
    LINK_ABSENT,  /* nobody answers at the address: it has ended, or is not on this host */
    LINK_REFUSED, /* wrong secret, other version, no answer in time, no descriptors: logged */
};

/* A message on the socket: this head, then `len` bytes. At most one descriptor comes with it. */
enum link_type {
    LINK_MSG_KNOCK = 16, /* look at the bell; len 0 */
    LINK_MSG_CONN,       /* for conn_message() */
    LINK_MSG_FOREIGN,    /* for foreign_message() */
};
#define LINK_MSG_MOST 1024u

/* The link to a process, held; dials if there is none. Never blocks. HCCL_E_MEMORY, HCCL_E_SYSCALL
 * (logged). A link may be GONE already. */
HcclResult link_hold(const struct tp_address *address, struct shm_link **link);
void link_hold_more(struct shm_link *link);
void link_release(struct shm_link *link); /* NULL is fine */

enum link_state link_state(struct shm_link *link); /* acquire */

/* Only when GONE. `text` [len]: "process 4711", or what it is known by. */
enum link_end link_ending(struct shm_link *link, char *text, size_t len);

/* Blocks until it is not CONNECTING. HCCL_E_TIMEOUT (not logged). */
HcclResult link_wait(struct shm_link *link, int64_t timeout_ms);

/* ---- Only when UP (or GONE after it was) ---- */

uint64_t link_process(const struct shm_link *link); /* any time */
pid_t link_pid(const struct shm_link *link);        /* as seen here; 0: in another pid namespace */
struct shm_segment *link_segment(const struct shm_link *link); /* the peer's */

/* The peer's place, mapped here: each file in windows, each window once. HCCL_E_PARA (logged): the
 * peer passed no such file, or it is shorter; HCCL_E_MEMORY (logged); HCCL_E_REMOTE (not logged):
 * the link is gone and the place is in no window. May wait up to 2 s for the peer's process to pass
 * a file made later, but not on the service thread: there that is HCCL_E_PARA. While it is mapped,
 * the same place has the same address each time, unless `len` crosses a window. */
HcclResult link_map(struct shm_link *link, const struct tp_place *place, uint64_t len, void **addr);

/* Undoes one link_map, whose caller touches the memory no more. What is not undone goes with the
 * link. */
void link_unmap(struct shm_link *link, void *addr);

/* Sends one message, whole, in order, without blocking: what the socket does not take waits for the
 * service thread. `fd` -1: none (it stays the caller's). HCCL_E_REMOTE (not logged): the link is
 * gone, or will be since its peer takes nothing; HCCL_E_MEMORY (logged): it will be gone, too;
 * HCCL_E_SYSCALL (logged): `fd` cannot be kept, and the link stays. Any thread. */
HcclResult link_send(struct shm_link *link, enum link_type type, const void *body, uint32_t len,
                     int fd);

/* Sends a knock, unless one is on its way that the peer has not read. */
void link_knock(struct shm_link *link);

/* ---- What the rest of this layer implements; all on the service thread, no lock held ---- */

/* `body` is [len], at most LINK_MSG_MOST, aligned to 8; `fd` -1: none came, else it is theirs now.
 * Nothing in it is to be believed before it is checked. */
void conn_message(struct shm_link *link, const void *body, uint32_t len, int fd);    /* shm.c */
void foreign_message(struct shm_link *link, const void *body, uint32_t len, int fd); /* foreign.c */

/* The link came up, or is gone. */
void conn_link_changed(struct shm_link *link);
void foreign_link_gone(struct shm_link *link);

#endif
