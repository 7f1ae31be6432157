/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls between two ends that meet: see lobby.c. Service thread, under the lock. */
#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "transport/listen.h"
#include "transport/lobby.h"
#include "transport/sock.h"

#define CALL_MS 5000   /* for the next message of a call */
#define CALLS_MOST 16u /* of a room */

static bool
send_message(const struct call *call, enum lobby_type type)
{
    struct lobby_message message = {.head = wire_head((enum wire_type)type)};

    if (listen_address(&message.address) != HCCL_SUCCESS)
        return false;
    memcpy(message.digest, call->room->digest, LOBBY_DIGEST_LEN);
    return sock_send(call->watch.fd, &message, sizeof message, -1) == 0;
}

/* It has met, or failed. Service thread. */
static void
settle(struct tp_lobby *end, enum end_state state, const struct tp_address *peer)
{
    lobby_look_at(0); /* its room may be empty now */
    if (peer != NULL)
        end->peer = *peer;
    hc_list_remove(&end->in_room);
    atomic_store(&end->state, state);
    end->on_change(end->arg);
}

static void
call_bury(struct service_watch *watch)
{
    hc_free(HC_CONTAINER(watch, struct call, watch));
}

void
lobby_call_drop(struct call *call)
{
    service_close(&call->watch);
    hc_list_remove(&call->in_room);
    call->room->call_num--;
    service_bury(&call->watch);
}

/* The call broke off: Y3. */
void
lobby_call_fail(struct call *call)
{
    struct room *room = call->room;

    if (call->end != NULL)
        atomic_store(&call->end->state, END_WAITING);
    if (call->end != NULL || call->outgoing) {
        room->dial = true;
        lobby_want_later(room);
    }
    lobby_call_drop(call);
}

static void
call_done(struct call *call)
{
    struct room *room = call->room;

    if (call->end != NULL)
        settle(call->end, END_MET, &call->peer);
    call->end = NULL;
    room->retry_ms = 0;
    if (lobby_first_waiting(room) != NULL) /* the next ones */
        room->dial = true;
    lobby_want(room, 0); /* if nobody is left, it closes */
    lobby_call_drop(call);
}

/* A process with the key, but with another version: neither end can go on. */
static void
refuse_version(struct call *call, const struct wire_head *theirs)
{
    char a[WIRE_VERSION_LEN], b[WIRE_VERSION_LEN];
    const struct wire_head ours = wire_head(WIRE_HELLO);
    struct tp_lobby *end = call->end != NULL ? call->end : lobby_first_waiting(call->room);

    if (!call->outgoing)
        (void)send_message(call, LOBBY_OFFER); /* its head says which version this is */
    hc_log_elsewhere("SHM", __FILE__, __LINE__,
                     "the other process has hcomm %s, this one has %s: use one version",
                     wire_version_text(theirs, a), wire_version_text(&ours, b));
    call->end = NULL;
    if (end != NULL)
        settle(end, END_FAILED, NULL);
    lobby_call_drop(call);
}

static void
call_take(struct call *call, const struct lobby_message *message, size_t len)
{
    bool whole = len == sizeof *message && wire_same_version(&message->head) &&
                 wire_equal(message->digest, call->room->digest, LOBBY_DIGEST_LEN) &&
                 message->address.process != 0;
    uint32_t type = len >= sizeof message->head ? message->head.type : 0;

    if (len >= sizeof message->head && message->head.magic == WIRE_MAGIC &&
        (type == LOBBY_CALL || type == LOBBY_OFFER) && !wire_same_version(&message->head)) {
        refuse_version(call, &message->head);
        return;
    }
    call->deadline_ns = hc_deadline_ms(CALL_MS);
    if (whole && type == LOBBY_OFFER && call->outgoing && call->end != NULL) {
        call->peer = message->address;
        if (send_message(call, LOBBY_DONE)) {
            call_done(call);
            return;
        }
    } else if (whole && type == LOBBY_CALL && !call->outgoing && call->end == NULL) {
        call->peer = message->address;
        call->end = lobby_first_waiting(call->room);
        if (call->end != NULL && send_message(call, LOBBY_OFFER)) {
            atomic_store(&call->end->state, END_OFFERED);
            return;
        }
    } else if (whole && type == LOBBY_DONE && !call->outgoing && call->end != NULL) {
        call_done(call);
        return;
    }
    lobby_call_fail(call);
}

static void
call_read(struct call *call)
{
    while (call->watch.fd >= 0) {
        union {
            struct lobby_message message;
            uint8_t bytes[256]; /* another version's may be longer */
        } in;
        size_t len = 0;
        int fd;

        switch (sock_recv(call->watch.fd, &in, sizeof in, &len, &fd)) {
        case SOCK_NOTHING:
            return;
        case SOCK_MESSAGE:
            sock_drop(fd);
            call_take(call, &in.message, len);
            break;
        default:
            lobby_call_fail(call);
            return;
        }
    }
}

static void
call_event(struct service_watch *watch)
{
    pthread_mutex_lock(&lobby_lock);
    call_read(HC_CONTAINER(watch, struct call, watch));
    pthread_mutex_unlock(&lobby_lock);
}

/* Takes over `fd`. NULL: it has failed. */
static struct call *
call_create(struct room *room, int fd, bool outgoing)
{
    struct call *call = hc_zalloc(sizeof *call);

    if (call == NULL) {
        hc_fd_close(fd);
        return NULL;
    }
    call->watch = (struct service_watch){.fd = fd, .on_event = call_event, .on_bury = call_bury};
    call->room = room;
    call->outgoing = outgoing;
    call->deadline_ns = hc_deadline_ms(CALL_MS);
    lobby_look_at(call->deadline_ns);
    hc_list_push_back(&room->calls, &call->in_room);
    room->call_num++;
    if (service_watch(&call->watch, false) == 0)
        return call;
    lobby_call_drop(call);
    return NULL;
}

void
lobby_call_accept(struct room *room, int fd)
{
    struct call *call;

    if (room->call_num >= CALLS_MOST)
        lobby_call_fail(HC_CONTAINER(room->calls.next, struct call, in_room));
    call = call_create(room, fd, false);
    if (call != NULL)
        call_read(call);
}

void
lobby_call_begin(struct room *room, int fd)
{
    struct call *call = call_create(room, fd, true);

    if (call == NULL) {
        room->dial = true;
        lobby_want_later(room);
        return;
    }
    call->end = lobby_first_waiting(room);
    if (!send_message(call, LOBBY_CALL))
        lobby_call_fail(call);
}
