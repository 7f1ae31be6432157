/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lobby: where two ends meet that know nothing of each other but a key.
 *
 * All ends of one key and side in a process share a room. A room binds the name of its key and
 * side; if another process has it, the room waits its turn. Side 1 calls: it dials the name of
 * side 0. Side 0 only pokes: it dials the name of side 1 and hangs up, which says "call now". So
 * whoever comes second finds the other, nobody polls, and no two calls can cross.
 *
 *   side 1 -> side 0   call    digest of the key, its address
 *   side 0 -> side 1   offer   the same of the other
 *   side 1 -> side 0   done    and both ends have met
 *
 * Y1  A room binds before it dials. Of two rooms, the one that binds later finds the other's name
 *     bound: if it is side 1 its call gets through, if it is side 0 its poke does.
 * Y2  A room dials only while it has the name, and has one call at a time; so at most one process
 *     of each side takes part, and ends meet in the order they came.
 * Y3  An end is offered to one call at a time; if the call breaks off before "done", the end is
 *     free again, and side 0 pokes. Side 1 calls again, later each time.
 * Y4  Sockets belong to the service thread (V1). The lock protects the rooms and ends; on_change
 *     runs under it, so none runs after tp_lobby_close().
 */
#include "transport/lobby.h"

#include <errno.h>
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/list.h"
#include "base/log.h"
#include "base/thread.h"
#include "transport/service.h"
#include "transport/sock.h"
#include "transport/wire.h"

#define RETRY_MOST_MS 256u
#define ACCEPT_BURST 16
#define NS_PER_MS 1000000u

pthread_mutex_t lobby_lock = PTHREAD_MUTEX_INITIALIZER;
static struct hc_list rooms = {&rooms, &rooms};
static atomic_bool look;              /* lobby_tend has something to do */
static uint64_t next_ns = HC_FOREVER; /* or at this time; service thread */
static bool said_user;                /* service thread */
static bool said_trouble;             /* service thread */

/* What both sides compare: of the key, and unlike any name. */
static void
digest_of(uint8_t digest[LOBBY_DIGEST_LEN], const char *key)
{
    crypto_generichash(digest, LOBBY_DIGEST_LEN, (const uint8_t *)key, strlen(key), NULL, 0);
}

static void
name_of(char name[SOCK_NAME_LEN], const uint8_t digest[LOBBY_DIGEST_LEN], int side)
{
    uint8_t hash[16];
    char hex[2 * sizeof hash + 1];
    struct {
        uint8_t digest[LOBBY_DIGEST_LEN];
        uint32_t side, uid;
    } of = {.side = (uint32_t)side, .uid = (uint32_t)geteuid()};

    memcpy(of.digest, digest, sizeof of.digest);
    crypto_generichash(hash, sizeof hash, (const uint8_t *)&of, sizeof of, NULL, 0);
    snprintf(name, SOCK_NAME_LEN, "hcomm-lobby-%s", sodium_bin2hex(hex, sizeof hex, hash, 16));
}

void
lobby_name(char name[SOCK_NAME_LEN], const char *key, int side)
{
    uint8_t digest[LOBBY_DIGEST_LEN];

    digest_of(digest, key);
    name_of(name, digest, side);
}

/* Processes of other users are turned away, whichever side they are. */
static bool
same_user(int fd)
{
    pid_t pid;
    uid_t uid;

    sock_peer(fd, &pid, &uid);
    if (uid == geteuid())
        return true;
    if (!said_user)
        LOG_WARN(SHM, "turned process %d of user %u away from the lobby: not the same user",
                 (int)pid, (unsigned)uid);
    said_user = true;
    return false;
}

/* ---- rooms; service thread, under the lock ---- */

struct tp_lobby *
lobby_first_waiting(const struct room *room)
{
    HC_LIST_EACH (node, &room->ends) {
        struct tp_lobby *end = HC_CONTAINER(node, struct tp_lobby, in_room);

        if (atomic_load(&end->state) == END_WAITING)
            return end;
    }
    return NULL;
}

void
lobby_look_at(uint64_t at_ns)
{
    next_ns = at_ns < next_ns ? at_ns : next_ns;
}

void
lobby_want(struct room *room, uint64_t at_ns)
{
    room->retry_ns = at_ns;
    lobby_look_at(at_ns);
}

void
lobby_want_later(struct room *room)
{
    uint32_t ms = room->retry_ms == 0 ? 4 : room->retry_ms;

    room->retry_ms = ms < RETRY_MOST_MS ? 2 * ms : ms;
    lobby_want(room, hc_now_ns() + (uint64_t)ms * NS_PER_MS);
}

static void
accepted(struct room *room, int fd)
{
    if (!same_user(fd)) {
        hc_fd_close(fd);
    } else if (room->side == 1) { /* a poke */
        hc_fd_close(fd);
        room->dial = true;
        lobby_want(room, 0);
    } else {
        lobby_call_accept(room, fd);
    }
}

/* What a room cannot do now for want of resources, it does later. */
static void
trouble(struct room *room, int error)
{
    char text[SOCK_TROUBLE_LEN];

    if (!said_trouble)
        LOG_WARN(SHM, "cannot look for another process for the moment: %s",
                 sock_trouble(error, text, sizeof text));
    said_trouble = true;
    lobby_want_later(room);
}

static void
room_event(struct service_watch *watch)
{
    struct room *room = HC_CONTAINER(watch, struct room, watch);

    pthread_mutex_lock(&lobby_lock);
    for (int i = 0; i < ACCEPT_BURST; i++) {
        int fd = sock_accept(watch->fd);

        if (fd >= 0) {
            accepted(room, fd);
        } else if (errno != EINTR && errno != ECONNABORTED) {
            if (errno != EAGAIN && errno != EWOULDBLOCK) {
                int error = errno;

                service_close(watch); /* binds again: callers then see nobody, not silence */
                trouble(room, error);
            }
            break;
        }
    }
    pthread_mutex_unlock(&lobby_lock);
}

static void
room_bind(struct room *room)
{
    char name[SOCK_NAME_LEN];
    int error;

    name_of(name, room->digest, room->side);
    room->watch.fd = sock_listen(name);
    error = room->watch.fd < 0 ? errno : service_watch(&room->watch, false);
    if (error == 0) {
        room->dial = true;
        room->retry_ms = 0;
        return;
    }
    hc_fd_close(room->watch.fd);
    room->watch.fd = -1;
    if (error == EADDRINUSE)
        lobby_want_later(room); /* a queue: another process' ends come first */
    else
        trouble(room, error);
}

static bool
has_outgoing(const struct room *room)
{
    HC_LIST_EACH (node, &room->calls) {
        if (HC_CONTAINER(node, struct call, in_room)->outgoing)
            return true;
    }
    return false;
}

static void
room_dial(struct room *room)
{
    char name[SOCK_NAME_LEN];
    int fd, error;

    room->dial = false;
    if (lobby_first_waiting(room) == NULL || has_outgoing(room))
        return;
    name_of(name, room->digest, 1 - room->side);
    fd = sock_new();
    error = fd < 0 ? errno : sock_connect(fd, name);
    if (error == 0 && same_user(fd) && room->side == 1) {
        lobby_call_begin(room, fd);
        return;
    }
    hc_fd_close(fd);
    if (error == 0 || error == ECONNREFUSED)
        return; /* poked, or nobody is there: who comes will dial */
    room->dial = true;
    if (error == EAGAIN)
        lobby_want_later(room);
    else
        trouble(room, error);
}

static void
room_bury(struct service_watch *watch)
{
    hc_free(HC_CONTAINER(watch, struct room, watch));
}

/* Nobody waits here any more. */
static void
room_close(struct room *room)
{
    HC_LIST_EACH_SAFE (node, &room->calls)
        lobby_call_drop(HC_CONTAINER(node, struct call, in_room));
    service_close(&room->watch);
    hc_list_remove(&room->in_all);
    service_bury(&room->watch);
}

static void
room_tend(struct room *room, uint64_t now_ns)
{
    HC_LIST_EACH_SAFE (node, &room->calls) {
        struct call *call = HC_CONTAINER(node, struct call, in_room);

        if (call->deadline_ns <= now_ns)
            lobby_call_fail(call);
    }
    if (hc_list_empty(&room->ends)) {
        room_close(room);
        return;
    }
    if (room->retry_ns <= now_ns) {
        room->retry_ns = HC_FOREVER;
        if (room->watch.fd < 0)
            room_bind(room); /* Y1 */
        if (room->watch.fd >= 0 && room->dial)
            room_dial(room);
    }
    lobby_want(room, room->retry_ns);
    HC_LIST_EACH (node, &room->calls)
        lobby_look_at(HC_CONTAINER(node, struct call, in_room)->deadline_ns);
}

uint64_t
lobby_tend(uint64_t now_ns)
{
    if (!atomic_exchange(&look, false) && now_ns < next_ns)
        return next_ns;
    pthread_mutex_lock(&lobby_lock);
    next_ns = HC_FOREVER;
    HC_LIST_EACH_SAFE (node, &rooms)
        room_tend(HC_CONTAINER(node, struct room, in_all), now_ns);
    pthread_mutex_unlock(&lobby_lock);
    return next_ns;
}

/* ---- the callers' side ---- */

static struct room *
room_create(const uint8_t digest[LOBBY_DIGEST_LEN], int side)
{
    struct room *room = hc_zalloc(sizeof *room);

    if (room == NULL)
        return NULL;
    room->watch = (struct service_watch){.fd = -1, .on_event = room_event, .on_bury = room_bury};
    memcpy(room->digest, digest, LOBBY_DIGEST_LEN);
    room->side = side;
    hc_list_init(&room->ends);
    hc_list_init(&room->calls);
    return room;
}

/* Under the lock. */
static struct room *
room_find(const uint8_t digest[LOBBY_DIGEST_LEN], int side)
{
    HC_LIST_EACH (node, &rooms) {
        struct room *room = HC_CONTAINER(node, struct room, in_all);

        if (room->side == side && memcmp(room->digest, digest, LOBBY_DIGEST_LEN) == 0)
            return room;
    }
    return NULL;
}

HcclResult
tp_lobby_open(const char *key, int side, void (*on_change)(void *arg), void *arg,
              struct tp_lobby **lobby)
{
    uint8_t digest[LOBBY_DIGEST_LEN];
    struct tp_address own;
    HcclResult rc = tp_listen(&own);
    struct tp_lobby *end;
    struct room *fresh, *room;

    if (rc != HCCL_SUCCESS)
        return rc;
    digest_of(digest, key);
    end = hc_zalloc(sizeof *end);
    fresh = room_create(digest, side);
    if (end == NULL || fresh == NULL) {
        hc_free(end);
        hc_free(fresh);
        return HCCL_E_MEMORY;
    }
    end->on_change = on_change;
    end->arg = arg;
    pthread_mutex_lock(&lobby_lock);
    room = room_find(digest, side);
    if (room == NULL) {
        room = fresh;
        fresh = NULL;
        hc_list_push_back(&rooms, &room->in_all);
    }
    end->room = room;
    hc_list_push_back(&room->ends, &end->in_room);
    room->dial = true;
    if (room->watch.fd >= 0)
        room->retry_ns = 0;
    atomic_store(&look, true);
    pthread_mutex_unlock(&lobby_lock);
    service_wake();
    hc_free(fresh);
    *lobby = end;
    return HCCL_SUCCESS;
}

HcclResult
tp_lobby_poll(struct tp_lobby *lobby, struct tp_address *peer)
{
    switch (atomic_load(&lobby->state)) {
    case END_MET:
        *peer = lobby->peer;
        return HCCL_SUCCESS;
    case END_FAILED:
        return HCCL_E_REMOTE;
    default:
        return HCCL_E_AGAIN;
    }
}

void
tp_lobby_close(struct tp_lobby *lobby)
{
    if (lobby == NULL)
        return;
    pthread_mutex_lock(&lobby_lock);
    if (hc_list_linked(&lobby->in_room)) {
        HC_LIST_EACH (node, &lobby->room->calls) {
            struct call *call = HC_CONTAINER(node, struct call, in_room);

            if (call->end == lobby) {
                call->end = NULL;
                call->deadline_ns = 0; /* breaks off */
            }
        }
        hc_list_remove(&lobby->in_room);
        atomic_store(&look, true);
    }
    pthread_mutex_unlock(&lobby_lock);
    service_wake();
    hc_free(lobby);
}
