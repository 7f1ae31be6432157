/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * server: the thread that answers the sockets of every session of this process. It is there while
 * there are sessions. Everything here is called under session_lock().
 */
#ifndef HC_BOOTSTRAP_SERVER_H
#define HC_BOOTSTRAP_SERVER_H

#include "bootstrap/session.h"

/* Takes over a session with a listening socket, reference included, also on failure (logged);
 * starts the thread if there is none. */
HcclResult server_add(struct session *session);

/* A session of this process, not yet retired; NULL: none of that name. */
struct session *server_find(const char *id);

/* Something about a session changed: look again. */
void server_wake(void);

/* ---- conn.c: one connection ---- */

/* A new connection; takes over `fd`, also on failure. */
void conn_accept(struct session *session, int epoll_fd, int fd,
                 const struct sockaddr_storage *peer);

/* The socket of `conn` (struct conn *) can be read or written. */
void conn_event(void *conn);

/* Drops the oldest unproven connection of the session. */
void conn_drop_oldest(struct session *session, const char *why);

/* Drops those that have not proven themselves within a second. */
void conn_drop_slow(struct session *session);

/* When the oldest unproven connection must be done; HC_FOREVER: there is none. */
uint64_t conn_oldest_deadline(const struct session *session);

/* The session is over: drops who has not joined, starts telling the others. */
void conn_tell_all(struct session *session);

/* Drops every connection. */
void conn_drop_all(struct session *session);

/* Frees what was dropped: after the events at hand are done with. */
void conn_free_dropped(void);

/* Unproven connections of all sessions. */
uint32_t conn_pending(void);

#endif
