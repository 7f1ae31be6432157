/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sock: abstract unix SOCK_SEQPACKET sockets, one message a call, never blocking (inside this layer
 * only). Descriptors are those of base/fd.h: sock_new() and sock_accept() are closed by
 * hc_fd_close.
 */
#ifndef HC_TRANSPORT_SOCK_H
#define HC_TRANSPORT_SOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SOCK_NAME_LEN 64u /* of a name, its end included */

int sock_new(void);             /* as socket(2) */
int sock_accept(int listen_fd); /* as accept4(2) */

/* A socket that listens at the name; -1, `errno`: EADDRINUSE, or there are no resources. */
int sock_listen(const char *name);

/* 0, or the error number: ECONNREFUSED: nobody listens there; EAGAIN: its queue is full. */
int sock_connect(int fd, const char *name);

/* One message; `fd` -1: none with it. 0, or the error number: EAGAIN: it cannot take it now. */
int sock_send(int fd, const void *bytes, size_t len, int pass_fd);

enum sock_got {
    SOCK_MESSAGE,
    SOCK_NOTHING, /* no message has come yet */
    SOCK_ENDED,   /* the other end is closed, and all it sent has been read */
    SOCK_STRANGE, /* a message longer than `room`, or with more than one descriptor */
    SOCK_NO_ROOM, /* a message, but there was no free descriptor for the one it carried */
};

/* The next message; *pass_fd: the descriptor that came with it, close-on-exec, or -1. */
enum sock_got sock_recv(int fd, void *bytes, size_t room, size_t *len, int *pass_fd);

/* Closes a descriptor that a message brought; -1 is fine. */
void sock_drop(int fd);

/* The other end is closed. */
bool sock_ended(int fd);

/* Who is at the other end, as numbered here; pid 0: cannot be told. */
void sock_peer(int fd, pid_t *pid, uid_t *uid);

/* Whether the process lives, up to `patience_ms` from now: one that is dying is given the time. A
 * dead one that nobody has waited for does not, nor does one of another pid namespace (pid 0). */
bool sock_process_lives(pid_t pid, int patience_ms);

/* As strerror; for a limit, which and how high. Fills and returns `text`. */
#define SOCK_TROUBLE_LEN 160u
const char *sock_trouble(int error, char *text, size_t len);

#endif
