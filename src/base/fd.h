/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fd: descriptors that a forked child must not keep: a copy of a socket would hide the death of its
 * owner from the peers, and hold its name.
 *
 * K1  Every descriptor made here is on a list until hc_fd_close(), and a forked child closes what
 * is on it before fork() returns there. K2  Making a descriptor and putting it on the list, and
 * taking it off and closing it, are one step for fork(): its handlers take the lock. They wait for
 * it a moment only, since a signal handler that forks may have interrupted its owner.
 *
 * K3  No descriptor of ours is 0, 1 or 2: in a program that closed its standard streams, what it or
 * the log prints would end in our memory or on our sockets.
 *
 * All are close-on-exec and never block. As the calls they stand for: -1 and errno on failure.
 */
#ifndef HC_BASE_FD_H
#define HC_BASE_FD_H

#include <sys/socket.h>

int hc_fd_socket(int family, int type);
int hc_fd_accept(int listen_fd, struct sockaddr *address, socklen_t *len);
int hc_fd_epoll(void);
int hc_fd_event(void);

/* K3 for descriptors that come from elsewhere: `fd`, or what takes its place, or -1 and errno with
 * `fd` closed; -1 for -1. On no list. */
int hc_fd_high(int fd);

/* -1 is fine. In a forked child: nothing, they are closed. */
void hc_fd_close(int fd);

#endif
