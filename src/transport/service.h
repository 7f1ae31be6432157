/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * service: the one thread of this process that reads all links, the listener and the lobby. It is
 * started at first need and stays; when nothing happens it sleeps in epoll_wait without a timeout.
 *
 * V1  Watches are changed, and what they watch is closed, by the service thread alone, or before
 *     it can know of them. So events of one round may name a watch that has gone in that round:
 *     its descriptor is -1 then, and its memory stays until service_bury()'s function is called,
 *     after the round.
 * V2  Who wants something of the thread puts it where one of the tend functions looks, then calls
 *     service_wake().
 * V3  What is due is judged by the time at which the last look for events began. So when the
 *     process was stopped for a while, what has come meanwhile is read before it is found late.
 */
#ifndef HC_TRANSPORT_SERVICE_H
#define HC_TRANSPORT_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "hccl/hccl_types.h"

struct service_watch {
    int fd; /* -1: none */
    /* Something came, or the peer left: reads until there is nothing more, and writes what waits.
     * Events of a descriptor that was watched before may still come: it looks for itself. */
    void (*on_event)(struct service_watch *watch);
    void (*on_bury)(struct service_watch *watch);
    struct hc_list in_buried;
};

/* HCCL_E_SYSCALL (logged). */
HcclResult service_start(void);

/* Whether the caller is the service thread. */
bool service_here(void);

/* All tend functions are called again. Any thread; nothing happens before service_start(). */
void service_wake(void);

/* From now on watch->fd, for reading and, with `writing`, for writing. 0 or the error number.
 * rewatch: any thread that keeps the descriptor from being closed. */
int service_watch(struct service_watch *watch, bool writing);
int service_rewatch(struct service_watch *watch, bool writing);

/* Stops watching until service_watch() is called again. */
void service_pause(struct service_watch *watch);

/* Stops watching and closes the descriptor. -1 is fine. */
void service_close(struct service_watch *watch);

/* Stops watching; the descriptor goes to the caller. */
int service_take_fd(struct service_watch *watch);

/* Calls on_bury when no event can name it any more. */
void service_bury(struct service_watch *watch);

/* What the thread calls in each round, no lock held: they do what was due at `now_ns` (V3), and
 * return when they want to be called next (HC_FOREVER: when woken). */
uint64_t link_tend(uint64_t now_ns);   /* link.c */
uint64_t listen_tend(uint64_t now_ns); /* listen.c */
uint64_t lobby_tend(uint64_t now_ns);  /* lobby.c */

#endif
