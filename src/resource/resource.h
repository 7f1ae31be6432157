/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * resource: the door of the nouns. Threads (a stream and its notifies), channels (a connected
 * pair of endpoints and their notifies), endpoints, registered memory, engine contexts.
 *
 * Everything public is a checked handle; the functions here that take one return HCCL_E_PTR
 * (logged) for 0 and HCCL_E_NOT_FOUND (logged) for anything that is not a live handle of its kind.
 */
#ifndef HC_RESOURCE_RESOURCE_H
#define HC_RESOURCE_RESOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "hccl/hccl_types.h"
#include "hcomm/hcomm_res_defs.h"
#include "runtime/runtime.h"
#include "transport/transport.h"

/* Where this process can be reached (tp_listen), after transports were told of the runtime. */
HcclResult res_listen(struct tp_address *address);

/* "AICPU_TS": for messages. */
const char *res_engine_name(CommEngine engine);

/* HCCL_E_NOT_SUPPORT (logged, names the engine) for AIV and CCU, HCCL_E_PARA for any other
 * number. */
HcclResult res_engine_check(CommEngine engine, const char *function);

/* HCCL_E_PTR, after one message: `argument` of `function` is NULL. */
HcclResult res_null(const char *function, const char *argument);

/* HCCL_E_PARA, after one message, unless least <= number <= most. */
HcclResult res_check_number(const char *function, const char *argument, uint64_t number,
                            uint64_t least, uint64_t most);

/* AICPU and AICPU_TS are one engine: memory of its contexts is the device's. */
bool res_engine_on_device(CommEngine engine);

/* A peer's device memory [addr, addr + len), which the caller has mapped, counts as memory of its
 * `device` until it is removed: copies of the runtime take it for what it is. HCCL_E_MEMORY
 * (logged). */
HcclResult res_peer_memory_add(void *addr, uint64_t len, int32_t device);
void res_peer_memory_remove(void *addr, uint64_t len); /* as it was added */

/* ---- Threads ------------------------------------------------------------------------------- */

struct res_thread;

struct res_thread_desc {
    int32_t device;
    CommEngine engine;
    aclrtStream stream; /* wrap this one (not owned); NULL: make one */
    uint32_t notify_num;
    const char *group; /* communicator, for messages; NULL: none. Copied */
    uint32_t rank;
    struct rt_fate *fate; /* of its notifies; NULL: none. Held */
};

HcclResult res_thread_create(const struct res_thread_desc *desc, ThreadHandle *thread);

/* Grows to at least `notify_num` notifies. */
HcclResult res_thread_grow(ThreadHandle thread, uint32_t notify_num);

/* Its own stream is drained first. HCCL_E_NOT_FOUND (logged): not a live thread. */
HcclResult res_thread_destroy(ThreadHandle thread);

HcclResult res_thread_hold(ThreadHandle handle, struct res_thread **thread);
void res_thread_release(struct res_thread *thread);

struct rt_stream *res_thread_stream(struct res_thread *thread); /* NULL: its stream is destroyed */
aclrtStream res_thread_stream_handle(const struct res_thread *thread);
CommEngine res_thread_engine(const struct res_thread *thread);
bool res_thread_in_group(const struct res_thread *thread); /* it belongs to a communicator */
uint32_t res_thread_notify_num(struct res_thread *thread);

/* The thread whose tasks stream number `id` runs; 0: none. Looks at all threads. */
ThreadHandle res_thread_of_stream(uint32_t id);

/* Notify `index`, valid while the thread is held; NULL (logged): out of range, or no memory for
 * its first use. */
struct rt_notify *res_thread_notify(struct res_thread *thread, uint32_t index);

/* ---- Channels ------------------------------------------------------------------------------ */

struct res_channel;

/* One region that a channel offers to the peer. As the peer's: `mem.addr` is an address of this
 * process (see transport.h), `lease` its owner's. */
struct res_region {
    CommMem mem;
    uint64_t lease; /* tp_lease_begin's; 0: offered as long as the channel lives */
    char tag[256];
};

struct res_channel_desc {
    const char *key; /* names the pair of ends: see tp_open.key */
    int side;
    struct tp_address address; /* of the process with the other end; process 0: found by the key */
    struct rt_fate *fate;      /* of its notifies and transfers; NULL: none. Held */
    int32_t device;            /* where the local notifies live */
    CommEngine engine;
    CommProtocol protocol;
    uint32_t notify_num;
    const char *group; /* communicator or endpoint, for messages */
    uint32_t rank, peer;
    const char *own_name;    /* for messages; NULL: "rank R of GROUP" */
    const char *peer_name;   /* for messages; NULL: "rank PEER" */
    const char *elsewhere;   /* host the peer says it runs on, if that is not this one; NULL: is */
    EndpointHandle endpoint; /* whose imports may be reached too; NULL: none */
    const struct res_region *regions; /* in, [region_num], copied */
    uint32_t region_num;
    const void *info; /* in, [info_len], told to the peer with the regions; NULL: nothing */
    uint32_t info_len;
    const char *terms; /* a line that says whose they are, then lines that both ends must give
                          alike; else neither connects, and each says what they differ in. NULL:
                          none */
    bool background; /* nobody waits for it in particular: that it cannot connect is not logged, and
                        does not break the fate */
    /*
     * The channel may have connected, failed or ended: look again. Called on any thread, possibly
     * under the transport's locks, so it only wakes somebody; also from inside the functions here,
     * before res_channel_create() has returned, but never after res_channel_destroy() has. NULL:
     * nobody wants to know.
     */
    void (*on_event)(void *arg);
    void *event_arg;
};

/* Starts connecting; never blocks. */
HcclResult res_channel_create(const struct res_channel_desc *desc, ChannelHandle *channel);

/* One step of the connection; *status as HcommChannelGetStatus tells: 0 ready, 1 connecting, 2
 * failed. */
HcclResult res_channel_status(ChannelHandle channel, int32_t *status);

/* One step of the connection, without blocking (but it may wait some milliseconds for the peer's
 * process to pass a file). HCCL_SUCCESS: connected at both ends, as res_channel_wait() means it;
 * HCCL_E_AGAIN: not yet: on_event is called when it is worth trying again; else it failed (logged
 * once, not by every call). Try once after creating: nothing may happen later. */
HcclResult res_channel_try(ChannelHandle channel);

/* true: it has failed or ended; `why` [len] says so. Does not end anything nor break the fate: that
 * does res_channel_lost(), for an operation that was in vain. A few loads while it has not. */
bool res_channel_ended(struct res_channel *channel, char *why, size_t len);

/* true: connected once, and the peer has closed its end since, aborted, or died; `why` [len] says
 * so. */
bool res_channel_peer_gone(ChannelHandle channel, char *why, size_t len);

/* The same, but only of a peer that has aborted or died. */
bool res_channel_peer_failed(ChannelHandle channel, char *why, size_t len);

/* Tells the peer that this end cannot go on, and why; waits of this end for it fail. */
void res_channel_abort(ChannelHandle channel, const char *why);

/* A transfer of this channel found its connection ended: says why (text [len]) and breaks the
 * fate. */
void res_channel_lost(struct res_channel *channel, char *text, size_t len);

/* Blocks until all `num` are connected, at both ends. HCCL_E_TIMEOUT (logged): names the missing
 * peers. */
HcclResult res_channel_wait(const ChannelHandle *channels, uint32_t num, int64_t timeout_ms);

/* Ends the connection at once: tasks that are queued for it fail, the peer's calls too. */
HcclResult res_channel_destroy(ChannelHandle channel);

/* Whether `channel` is open still; says nothing if not. */
bool res_channel_is_live(ChannelHandle channel);

HcclResult res_channel_hold(ChannelHandle handle, struct res_channel **channel);
void res_channel_hold_more(struct res_channel *channel); /* for somebody who has a hold */

/* The same if its handle is open; false, and nothing said: it was destroyed. */
bool res_channel_hold_open(struct res_channel *channel);
void res_channel_release(struct res_channel *channel);

CommEngine res_channel_engine(const struct res_channel *channel);
CommProtocol res_channel_protocol(const struct res_channel *channel);
uint32_t res_channel_peer(const struct res_channel *channel);

/* The peer's regions, in its order; valid while the channel lives. Connected channels only. */
HcclResult res_channel_remote(struct res_channel *channel, const struct res_region **regions,
                              uint32_t *region_num);

/* What the peer gave as `info`; taken once. *len 0: nothing. */
void res_channel_take_info(struct res_channel *channel, const void **info, uint32_t *len);

/* The connection, for transfers; calls on it return HCCL_E_REMOTE once an end is destroyed. */
struct tp_conn *res_channel_conn(const struct res_channel *channel);

/* "the channel of rank 3 of g to rank 5"; valid while the channel is held. */
const char *res_channel_name(const struct res_channel *channel);

/* HCCL_E_AGAIN (logged): not connected yet. HCCL_E_UNAVAIL (logged): it failed. */
HcclResult res_channel_ready(struct res_channel *channel);

/* Which right a transfer uses. */
struct res_right {
    uint64_t lease; /* of a region that the channel offers */
    bool imported;  /* through the endpoint instead */
};

/* HCCL_E_PARA (logged): [addr, addr + len) is not inside one region that the peer offers, or not
 * any more. Ready channels only. */
HcclResult res_channel_reach(struct res_channel *channel, const void *addr, uint64_t len,
                             struct res_right *right);

/* Around a transfer that was checked: it may have waited long in a queue. NULL *import: fine.
 * *lease: what the transport asks for (tp_xfer). HCCL_E_NOT_FOUND (not logged;
 * res_channel_withdrawn says what to say): the right has ended. */
struct res_import;
HcclResult res_channel_enter(struct res_channel *channel, const void *addr, uint64_t len,
                             const struct res_right *right, struct res_import **import,
                             uint64_t *lease);
void res_channel_leave(struct res_import *import);
void res_channel_withdrawn(const struct res_channel *channel, char *text, size_t len);

/* The own notify `index`, valid while the channel is held; NULL (logged): out of range. */
struct rt_notify *res_channel_notify(struct res_channel *channel, uint32_t index);

/* Blocks until the own notify `index` is recorded, and takes the record. HCCL_E_PARA (logged): out
 * of range; HCCL_E_TIMEOUT (logged): names the peer. */
HcclResult res_channel_await(struct res_channel *channel, uint32_t index, uint32_t timeout_s);

/* HCCL_E_PARA (logged): the peer has no notify `index`. Ready channels only. */
HcclResult res_channel_peer_notify(struct res_channel *channel, uint32_t index);

/* ---- Endpoints ----------------------------------------------------------------------------- */

/* The network endpoint that `device` has on an Ascend950, as HcommEndpointGetDescs tells; the rank
 * graph must tell the same. */
void res_endpoint_desc_of(int32_t device, CommProtocol protocol, EndpointDesc *desc);

/* ---- Engine contexts ----------------------------------------------------------------------- */

/* Named blocks, key (tag, engine): host memory for CPU engines (zeroed), device memory for the
 * rest. */
struct res_ctx_set;

HcclResult res_ctx_set_create(int32_t device, struct res_ctx_set **set);
void res_ctx_set_destroy(struct res_ctx_set *set);
HcclResult res_ctx_create(struct res_ctx_set *set, const char *tag, CommEngine engine,
                          uint64_t size, void **ctx);
/* HCCL_E_NOT_FOUND, not logged: a miss is the normal first use. */
HcclResult res_ctx_get(struct res_ctx_set *set, const char *tag, CommEngine engine, void **ctx,
                       uint64_t *size);
HcclResult res_ctx_copy(struct res_ctx_set *set, const char *tag, CommEngine engine,
                        const void *src, uint64_t size, uint64_t offset);
HcclResult res_ctx_remove(struct res_ctx_set *set, const char *tag, CommEngine engine);

#endif
