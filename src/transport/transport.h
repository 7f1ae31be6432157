/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * transport: moves bytes and notifies between the two ends of a connection.
 *
 * A transport exports one `const struct tp_ops`; every slot is filled. Who adds a transport reads
 * this file and tests/conformance, and no other.
 *
 * Addresses of the peer's regions are those that its hello told; they are plain addresses for
 * transports that map memory (`maps` true), usable by any copy or kernel.
 *
 * Threads: every call but open() and close() may come from several threads at once. close() may
 * come while others are in a call of this connection: it waits for them, and later calls return
 * HCCL_E_REMOTE. No call may come from inside a callback.
 */
#ifndef HC_TRANSPORT_TRANSPORT_H
#define HC_TRANSPORT_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hccl/hccl_types.h"

struct tp_conn {
    const struct tp_ops *ops;
    /* the transport's own part follows: conn_size bytes, zeroed */
};

struct tp_open {
    const char *key;   /* both ends give the same text, and no other connection does; copied */
    int side;          /* 0 or 1: the two ends give different ones */
    const void *hello; /* in, [hello_len] bytes told to the peer once connected; copied */
    uint32_t hello_len;
    /* The peer recorded notify `index`. Called on any thread, until close() has returned. */
    void (*on_notify)(void *arg, uint32_t index);
    /* The state of the connection changed (the peer came, or went): poll() again. May be called
     * with the transport's locks held, so it only wakes somebody. */
    void (*on_change)(void *arg);
    void *arg;
};

/* One transfer. Remote addresses are the peer's. */
struct tp_xfer {
    void *dst;
    const void *src;
    uint64_t len; /* bytes; for reductions, elements */
    int type, op; /* reductions: see reduce/reduce.h */
};

struct tp_ops {
    const char *name; /* as messages and `hcomm info` spell it */
    size_t conn_size; /* of struct tp_conn and the transport's own part */
    bool maps;        /* the peer's regions are plain addresses here */

    /* Starts connecting; never blocks. Whatever it returns, close() and fini() must be safe after.
     */
    HcclResult (*open)(struct tp_conn *conn, const struct tp_open *args);

    /* One step. HCCL_SUCCESS: connected; HCCL_E_AGAIN: not yet; HCCL_E_REMOTE: the peer was here
     * and has closed (not logged: the caller knows who it is); else it failed (logged). */
    HcclResult (*poll)(struct tp_conn *conn);

    /* What the peer told. Only once connected; then valid until fini(). */
    const void *(*peer_hello)(struct tp_conn *conn, uint32_t *len);

    /* Ends the connection, and waits until no callback of this end and no transfer of either end
     * runs. Cannot fail; a second call does nothing. Afterwards the peer's calls and late calls of
     * this end return HCCL_E_REMOTE. */
    void (*close)(struct tp_conn *conn);

    /* After close(), when nobody is in a call any more: gives back all that open() took. */
    void (*fini)(struct tp_conn *conn);

    /* Move bytes to or from the peer, or reduce there or here. On HCCL_SUCCESS the bytes have
     * landed (these transports) or are ordered before a later notify() and flush(). HCCL_E_REMOTE:
     * one of the ends has closed (not logged). HCCL_E_AGAIN: nothing was done, call again. */
    HcclResult (*write)(struct tp_conn *conn, const struct tp_xfer *xfer);
    HcclResult (*read)(struct tp_conn *conn, const struct tp_xfer *xfer);
    HcclResult (*write_reduce)(struct tp_conn *conn, const struct tp_xfer *xfer);
    HcclResult (*read_reduce)(struct tp_conn *conn, const struct tp_xfer *xfer);

    /* Records notify `index` at the peer, after all earlier writes are visible there. Returns as
     * the transfers do. */
    HcclResult (*notify)(struct tp_conn *conn, uint32_t index);

    /* HCCL_SUCCESS: all earlier transfers of this connection are complete at both ends;
     * HCCL_E_AGAIN: call again; HCCL_E_REMOTE as above. */
    HcclResult (*flush)(struct tp_conn *conn);
};

extern const struct tp_ops tp_loop_ops; /* both ends in this process */

/* The tables there are, NULL at the end. */
extern const struct tp_ops *const tp_all[];

/* A connection of `ops`, not opened; NULL: no memory (logged). Free with tp_destroy. */
struct tp_conn *tp_create(const struct tp_ops *ops);

/* close(), fini() and free. NULL is fine. */
void tp_destroy(struct tp_conn *conn);

#endif
