/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * channel: one end of a connected pair, with its notifies (inside this layer only).
 *
 * The transport makes the connection; each end tells the other its regions, its number of notifies
 * and its protocol (hello.h). Where nobody told which process has the other end, it is looked for
 * in the lobby first; then the transport is chosen and the connection opened. A record by the peer
 * comes in through on_notify, or right into the word of the notify.
 *
 * I1  Notifies are made before the connection is opened and end after it is closed, so a record
 *     that the transport delivers always finds its notify.
 * I2  `state` leaves CONNECTING once, under `lock`; `conn` and `remote` are filled in before
 *     (release store of CONNECTED, acquire load), and never change after.
 * I3  on_change may run under the transport's locks: it sets `changed`, wakes waiters and queues
 *     the channel for channel_end.c, no more. It sets `changed` before it reads `waited`, a waiter
 * raises `waited` before it reads `changed` and `state` (seq_cst fences), so no change is missed.
 * I4  An end is noticed by whoever comes first: channel_end.c, a transfer, abort. Only the first
 * one's reason counts (`end_lock`). It breaks the notifies, so that no wait for the peer is left
 *     sleeping. It does not break the fate: that does who waited or moved in vain.
 * I5  Who sets CONNECTED polls once more afterwards, and on_change reads `state` after it set
 *     `changed`: one of the two sees a connection that ended in between.
 * I6  on_event is called under `event_lock`, where the one who destroys the channel takes it away
 *     first: so it never runs afterwards. It comes after `changed`, or after `why`.
 */
#ifndef HC_RESOURCE_CHANNEL_H
#define HC_RESOURCE_CHANNEL_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/list.h"
#include "resource/hello.h"
#include "resource/resource.h"
#include "transport/transport.h"

#define CHAN_WHY_LEN 320u

enum chan_state { CHAN_CONNECTING, CHAN_CONNECTED, CHAN_FAILED };

struct res_channel {
    uint64_t handle;
    struct tp_conn *conn;      /* NULL: the peer's process is not known yet; I2; freed last */
    struct tp_lobby *lobby;    /* NULL: not looking; under `lock` */
    struct tp_address address; /* of the peer's process; as `conn` */
    char *key;
    int side;
    char *terms; /* NULL: none */
    void *hello; /* [hello_len]; NULL: has been told; under `lock` */
    uint32_t hello_len;
    int32_t device;
    CommEngine engine;
    CommProtocol protocol;
    uint32_t peer;
    EndpointHandle endpoint;     /* NULL: none */
    struct rt_fate *fate;        /* held; NULL: none */
    char *own_name, *peer_name;  /* "rank 3 of g", "rank 5" */
    char *name;                  /* "the channel of rank 3 of g to rank 5" */
    char *elsewhere;             /* the other host that the peer says it runs on; NULL: this one */
    struct rt_notify **notifies; /* [notify_num]; set at creation */
    uint32_t notify_num;
    bool background;         /* see struct res_channel_desc; set at creation */
    bool outside;            /* rt_outside_add(1) has been called; under `lock` */
    pthread_mutex_t lock;    /* one step at a time; outside the transport's locks */
    _Atomic int state;       /* enum chan_state; I2 */
    HcclResult failure;      /* I2 */
    struct res_hello remote; /* I2 */
    uint32_t mapped_num;     /* of its regions; I2 */
    atomic_bool info_taken;
    atomic_bool changed;         /* I3: a step is worth trying */
    _Atomic uint32_t waited;     /* threads in res_channel_wait; I3 */
    atomic_bool destroyed;       /* by its owner */
    pthread_mutex_t end_lock;    /* leaf */
    char why[CHAN_WHY_LEN];      /* how it ended; "": it has not; under `end_lock`; I4 */
    pthread_mutex_t event_lock;  /* under the transport's locks; only the runtime's under it */
    void (*on_event)(void *arg); /* NULL: nobody wants to know (any more); under `event_lock` */
    void *event_arg;
    struct hc_list in_ended; /* this and the next three: channel_end.c's, under its lock */
    bool queued, forgotten;
    uint32_t reaping; /* threads that look at it now */
};

/* ---- channel.c ---- */

/* Held, and nothing said; NULL: not open (any more). */
struct res_channel *channel_hold_quiet(uint64_t handle);

/* Wakes those who wait, if they are more than `own`. */
void channel_poke(struct res_channel *channel, uint32_t own);

/* Tells who wants to know that the channel is worth a look: I6. Under any lock of the transport. */
void channel_tell(struct res_channel *channel);

/* ---- channel_connect.c ---- */

/* Starts connecting, or looking. */
HcclResult channel_start(struct res_channel *channel);

/* One step of the connection; the state afterwards. Logs when it fails, once. `own_waits`: how many
 * of `waited` are the caller's. */
enum chan_state res_channel_step(struct res_channel *channel, uint32_t own_waits);

/* The peer's regions are no addresses here any more, for the runtime; before the connection goes.
 */
void channel_unmap(struct res_channel *channel);

/* Whoever waits for it to connect stops waiting; who cuts it says why. */
void channel_cut(struct res_channel *channel);

/* "HCCS" */
const char *res_protocol_name(CommProtocol protocol);

/* ---- channel_end.c ---- */

/* What came from another process, for a message: control characters are replaced. */
void channel_make_printable(char *text);

/* The peer, if it is there, learns that this end cannot go on, and why. */
void channel_abort(struct res_channel *channel, const char *why);

/* How the connection ended, as a text for people. */
void channel_ending(struct res_channel *channel, char *text, size_t len);

/* The connection has ended: remembers why unless somebody did before, and breaks the notifies. */
void channel_ended(struct res_channel *channel, const char *why);

/* Queues the channel to be looked at, because its state may have changed. Under any lock. */
void channel_look_soon(struct res_channel *channel);

/* Closes the connection. Ends of this process that it ends have noticed when this returns. */
void channel_close(struct res_channel *channel);

/* Nobody looks at the channel any more. Not under a lock that breaking a fate takes. */
void channel_look_never(struct res_channel *channel);

#endif
