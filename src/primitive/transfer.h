/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * transfer: one move between the two ends of a channel, at once or as a task (inside this layer).
 *
 * The same description serves the queued forms, the immediate forms and the entries of a batch.
 */
#ifndef HC_PRIMITIVE_TRANSFER_H
#define HC_PRIMITIVE_TRANSFER_H

#include "primitive/queue.h"

enum prim_kind {
    PRIM_WRITE,
    PRIM_READ,
    PRIM_WRITE_REDUCE,
    PRIM_READ_REDUCE,
    PRIM_RECORD,
    PRIM_FENCE
};

struct prim_transfer {
    enum prim_kind kind;
    bool notify;    /* record `index` at the peer afterwards */
    uint32_t index; /* of the peer's notify */
    void *dst;
    const void *src;
    uint64_t len;           /* bytes; reductions: elements */
    int type, op;           /* reductions */
    struct res_right right; /* to the peer's memory; filled in by prim_transfer_check */
};

/* Whether `transfer` can go through the channel: connected, arguments, the peer's regions, its
 * notifies. HCCL_E_PTR, HCCL_E_PARA, HCCL_E_AGAIN, HCCL_E_UNAVAIL (logged). */
HcclResult prim_transfer_check(const char *function, struct res_channel *channel,
                               struct prim_transfer *transfer);

/* Queues a checked transfer. The task holds the channel. */
HcclResult prim_transfer_push(const struct prim_queue *queue, struct res_channel *channel,
                              const struct prim_transfer *transfer);

/* Does a checked transfer on the calling thread. HCCL_E_AGAIN (not
 * logged); HCCL_E_REMOTE: the connection has ended; HCCL_E_PARA: the peer has withdrawn its memory
 * (logged). */
HcclResult prim_transfer_now(struct res_channel *channel, const struct prim_transfer *transfer);

/* Whether there is something to do at all. */
bool prim_transfer_moves(const struct prim_transfer *transfer);

/* Type and operator; HCCL_E_PARA (logged) also when `count` elements are more than 64 bits of
 * bytes. *bytes: that many. */
HcclResult prim_check_reduce(const char *function, uint64_t count, int type, int op,
                             uint64_t *bytes);

/* HCCL_E_PARA (logged): the allocation at `addr`, if one is known, ends before `len` bytes, or the
 * address is a stand-in for memory of another process; `what` is "the source" or "the destination".
 */
HcclResult prim_check_local(const char *function, const char *what, const void *addr, uint64_t len);

#endif
