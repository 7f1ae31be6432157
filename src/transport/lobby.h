/* SPDX-License-Identifier: BSD-3-Clause */
/* lobby: what lobby.c and lobby_call.c share, and what travels between two ends that meet. The
 * design is on top of lobby.c (inside this layer only). */
#ifndef HC_TRANSPORT_LOBBY_H
#define HC_TRANSPORT_LOBBY_H

#include <pthread.h>

#include "base/list.h"
#include "transport/service.h"
#include "transport/sock.h"
#include "transport/wire.h"

#define LOBBY_DIGEST_LEN 32u

/* wire_head.type; unlike those of links. */
enum lobby_type { LOBBY_CALL = 65, LOBBY_OFFER, LOBBY_DONE };

struct lobby_message {
    struct wire_head head;
    uint8_t digest[LOBBY_DIGEST_LEN]; /* BLAKE2b of the key */
    struct tp_address address;
};

enum end_state { END_WAITING, END_OFFERED, END_MET, END_FAILED };

struct tp_lobby {
    struct hc_list in_room; /* while it is WAITING or OFFERED; all under the lock */
    struct room *room;
    _Atomic uint32_t state; /* enum end_state; read by anyone */
    struct tp_address peer; /* before MET */
    void (*on_change)(void *arg);
    void *arg;
};

struct call {
    struct service_watch watch;
    struct hc_list in_room;
    struct room *room;
    struct tp_lobby *end; /* offered, or that it is made for; NULL: none, or it has left */
    struct tp_address peer;
    uint64_t deadline_ns;
    bool outgoing;
};

struct room {
    struct service_watch watch; /* the listener; -1: not bound */
    struct hc_list in_all;
    uint8_t digest[LOBBY_DIGEST_LEN];
    int side;
    struct hc_list ends;  /* of struct tp_lobby, in the order they came */
    struct hc_list calls; /* of struct call */
    uint32_t call_num;
    bool dial;         /* to be done: call, or poke */
    uint64_t retry_ns; /* binds or dials not before; HC_FOREVER: nothing is to be done again */
    uint32_t retry_ms;
};

extern pthread_mutex_t lobby_lock; /* Y4; on_change may take the lock of those it wakes */

/* The name that ends of `key` and `side` wait at. */
void lobby_name(char name[SOCK_NAME_LEN], const char *key, int side);

/* ---- lobby.c; the service thread, under the lock ---- */

/* The first end that waits; NULL: none does. */
struct tp_lobby *lobby_first_waiting(const struct room *room);

/* The room binds or dials at that time, or a while from now, later each time. */
void lobby_want(struct room *room, uint64_t at_ns);
void lobby_want_later(struct room *room);

/* lobby_tend looks at that time. */
void lobby_look_at(uint64_t at_ns);

/* ---- lobby_call.c; likewise ---- */

/* A connection to the room's name; takes over `fd`. */
void lobby_call_accept(struct room *room, int fd);

/* Side 1's call, over a socket that has just been connected, and is taken over. */
void lobby_call_begin(struct room *room, int fd);

/* It broke off: Y3. */
void lobby_call_fail(struct call *call);
void lobby_call_drop(struct call *call);

#endif
