/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * channel: one end of a connected pair, with its notifies (inside this layer only).
 *
 * The transport makes the connection; each end tells the other its regions, its number of notifies
 * and its protocol (hello.h). A record by the peer comes in through on_notify and becomes an
 * rt_notify_record on the own notify of that number.
 *
 * I1  Notifies are made before the connection is opened and end after it is closed, so a record
 *     that the transport delivers always finds its notify.
 * I2  `state` leaves CONNECTING once, under `lock`; `remote` is filled in before (release store of
 *     CONNECTED, acquire load), and never changes after.
 * I3  on_change may run under the transport's locks: it sets `changed` and wakes waiters, no more.
 *     It sets `changed` before it reads `waited`, a waiter raises `waited` before it reads
 *     `changed` and `state` (seq_cst fences), so no change is missed.
 * I4  The same holds for a thread that waits for a notify without a stream (res_channel_await): it
 *     raises `waited`, then looks; the recorder records, then reads `waited`.
 */
#ifndef HC_RESOURCE_CHANNEL_H
#define HC_RESOURCE_CHANNEL_H

#include <pthread.h>
#include <stdatomic.h>

#include "resource/hello.h"
#include "resource/resource.h"
#include "transport/transport.h"

enum chan_state { CHAN_CONNECTING, CHAN_CONNECTED, CHAN_FAILED };

struct res_channel {
    uint64_t handle;
    struct tp_conn *conn; /* closed by destroy, freed with the channel */
    int32_t device;
    CommEngine engine;
    CommProtocol protocol;
    uint32_t peer;
    EndpointHandle endpoint;     /* NULL: none */
    char *own_name, *peer_name;  /* "rank 3 of g", "rank 5" */
    char *name;                  /* "the channel of rank 3 of g to rank 5" */
    struct rt_notify **notifies; /* [notify_num]; set at creation */
    uint32_t notify_num;
    pthread_mutex_t lock;    /* one step at a time; outside the transport's locks */
    _Atomic int state;       /* enum chan_state; I2 */
    HcclResult failure;      /* I2 */
    struct res_hello remote; /* I2 */
    atomic_bool info_taken;
    atomic_bool changed;     /* I3: a step is worth trying */
    _Atomic uint32_t waited; /* threads in res_channel_wait or _await; I3, I4 */
};

/* One step of the connection; the state afterwards. Logs when it fails, once. `own_waits`: how many
 * of `waited` are the caller's. */
enum chan_state res_channel_step(struct res_channel *channel, uint32_t own_waits);

/* "HCCS" */
const char *res_protocol_name(CommProtocol protocol);

#endif
