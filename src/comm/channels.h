/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * channels: what connects a communicator's ranks (inside this layer only).
 *
 * N1  A channel is found again by its `line` (peer, engine, protocol, endpoints) and its ordinal
 *     among equal descriptors of one call. Both ends make the same key of them, so they meet.
 * N2  All channels of one call connect together; if one fails, those made in this call are undone.
 * N3  While it connects, a channel is in `connecting`; who destroys the communicator takes its
 *     handle away there (channels_cut), and the waiting call comes back with an error.
 */
#ifndef HC_COMM_CHANNELS_H
#define HC_COMM_CHANNELS_H

#include "comm/comm_object.h"
#include "hccl/hccl_channel.h"

#define LINE_LEN 96u

struct comm_channel {
    struct hc_list in_comm; /* channels or connecting; under the communicator's `lock` */
    ChannelHandle handle;   /* 0: cut; under `lock` while connecting, then set */
    uint32_t peer;
    char line[LINE_LEN]; /* N1 */
    uint32_t ordinal;
    bool single_use; /* its ends are of different places: never found again */
    uint32_t notify_num;
    CommMem *mems; /* [mem_num]: what HcclChannelGetRemoteMems hands out; under `lock` */
    char **tags;   /* [mem_num] */
    uint32_t mem_num;
};

static inline struct comm_channel *
channel_at(struct hc_list *node)
{
    return HC_CONTAINER(node, struct comm_channel, in_comm);
}

/* One that is in no list (any more). */
void channel_destroy(struct comm_channel *channel);

/* The channel of that line and ordinal, or NULL; under the lock. */
struct channel_line;
struct comm_channel *channel_find(struct comm *comm, const struct channel_line *line);

/* Checks every descriptor, as both Acquire and Query do. HCCL_E_PARA, HCCL_E_PTR,
 * HCCL_E_NOT_SUPPORT (logged). */
HcclResult channels_check(const struct comm *comm, const char *function, CommEngine engine,
                          const HcclChannelDesc *descs, uint32_t num);

HcclResult channels_acquire(struct comm *comm, CommEngine engine, const HcclChannelDesc *descs,
                            uint32_t num, ChannelHandle *channels);
HcclResult channels_query(struct comm *comm, CommEngine engine, const HcclChannelDesc *descs,
                          uint32_t num, ChannelHandle *channels);

/* HCCL_E_NOT_FOUND (logged): none of this communicator. */
HcclResult channels_remove(struct comm *comm, ChannelHandle handle);
HcclResult channels_remote_buffer(struct comm *comm, ChannelHandle handle, void **addr,
                                  uint64_t *size);
HcclResult channels_remote_mems(struct comm *comm, ChannelHandle handle, uint32_t *num,
                                CommMem **mems, char ***tags);

/* The buffer of rank `peer` through any channel to it. HCCL_E_NOT_FOUND (logged): there is none. */
HcclResult channels_peer_buffer(struct comm *comm, uint32_t peer, void **addr, uint64_t *size);

/* ---- channel_lines.c ---- */

/* Fills line and ordinal of descs[0..num): N1. `lines` is [num]. */
struct channel_line {
    char text[LINE_LEN];
    uint32_t ordinal;
    bool single_use;
};
HcclResult channel_lines(const struct comm *comm, CommEngine engine, const HcclChannelDesc *descs,
                         uint32_t num, struct channel_line **lines);

#endif
