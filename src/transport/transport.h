/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * transport: moves bytes and notifies between the two ends of a connection.
 *
 * A transport exports one `const struct tp_ops`; every slot is filled. Who adds a transport reads
 * this file and conformance_test.c, and no other.
 *
 * The peer's memory: each end tells the other where its regions lie (struct tp_region, in the
 * hello that the layer above writes). map() makes of one an address of this process: a plain one,
 * usable by any copy or kernel, where the transport can (loop; shm for memory that lies in a shared
 * file). For memory that cannot be mapped it is a stand-in: an address range of that length that
 * nothing may touch, which read and write of the same transport know how to translate.
 *
 * Threads: every call but open() and close() may come from several threads at once. close() may
 * come while others are in a call of this connection: it waits for them, and later calls return
 * HCCL_E_REMOTE. No call may come from inside a callback.
 */
#ifndef HC_TRANSPORT_TRANSPORT_H
#define HC_TRANSPORT_TRANSPORT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hccl/hccl_types.h"

struct hc_bell;

/* ---- What the layer above tells of the process ---------------------------------------------- */

/* A place in one of the process' shared files. */
struct tp_place {
    uint64_t file; /* its number in the process that owns it; 0: memory that no file holds */
    uint64_t offset;
};

/* What transports need of the runtime, which is their sibling. Set once, before anything else. */
struct tp_host {
    /* Where [addr, addr + len) lies, in one piece; false: in no shared file. Asked only for memory
     * that is described to a peer next. */
    bool (*locate)(const void *addr, uint64_t len, struct tp_place *place);
    /* A descriptor of the file, the caller's to close, and its length; -1: there is none (any
     * more), or nothing in it has been located, so no peer has a reason to ask for it. */
    int (*file)(uint64_t number, uint64_t *len);
    /* Wakes a waiter of this process, as base/word.h and base/bell.h number them. Any thread. */
    void (*wake)(uint32_t waiter);
    /* Threads that are idle look at this bell from now on. It lives as long as the process. */
    void (*watch)(struct hc_bell *bell);
};
void tp_set_host(const struct tp_host *host);

/* ---- Finding the other process --------------------------------------------------------------- */

#define TP_SECRET_LEN 16u

/* How other processes of this host reach a process. Who has it may connect: keep it secret. */
struct tp_address {
    uint64_t process; /* hc_process_id(); 0: unknown */
    uint8_t secret[TP_SECRET_LEN];
};

/* This process'; from now on it can be reached. HCCL_E_SYSCALL, HCCL_E_MEMORY (logged). */
HcclResult tp_listen(struct tp_address *address);

/*
 * Where nobody told the addresses: two ends that know the same key meet in the lobby (an abstract
 * socket whose name is a hash of key and side) and tell each other theirs. Processes of other
 * users are turned away. Several ends may wait under one key and side: they meet in the order they
 * came.
 */
struct tp_lobby;
HcclResult tp_lobby_open(const char *key, int side, void (*on_change)(void *arg), void *arg,
                         struct tp_lobby **lobby);
/* HCCL_SUCCESS: the peer is there; HCCL_E_AGAIN: not yet; else it failed (logged). */
HcclResult tp_lobby_poll(struct tp_lobby *lobby, struct tp_address *peer);
void tp_lobby_close(struct tp_lobby *lobby); /* NULL is fine; no callback runs afterwards */

/* ---- Regions --------------------------------------------------------------------------------- */

/*
 * A lease stands for the right to reach a region. It ends when its owner says so, whatever copies
 * of the region's description are about; peers see it at once. 0: reachable for ever.
 */
HcclResult tp_lease_begin(uint64_t *lease); /* HCCL_E_MEMORY (logged) */

/* When it returns, no transfer of any connection touches the region: it waits for those that peers
 * have under way (at most 10 s for a peer that stands still; then a WARN). 0 is fine. */
void tp_lease_end(uint64_t lease);

/* A region of this process, as its owner describes it, or of a peer, as the peer did. Travels as it
 * is. */
struct tp_region {
    uint64_t addr, len;    /* in the owner's process */
    struct tp_place place; /* filled in by tp_region_of */
    uint64_t lease;
};

/* Describes own memory to peers. HCCL_E_MEMORY (logged; never without a lease): they will be
 * refused, but the description is good. */
HcclResult tp_region_of(const void *addr, uint64_t len, uint64_t lease, struct tp_region *region);

/* As map() of a connection, for a process that no connection is open to: connects to it first.
 * HCCL_E_TIMEOUT, HCCL_E_REMOTE (it has ended), HCCL_E_PARA (no such region) (logged). */
HcclResult tp_import(const struct tp_address *owner, const struct tp_region *region,
                     int64_t timeout_ms, void **local);

/* Gives back what tp_import made. `region` as it was then. */
void tp_unimport(const struct tp_address *owner, const struct tp_region *region, void *local);

/* Whether `owner` still offers the region. */
bool tp_import_leased(const struct tp_address *owner, uint64_t lease);

/* Whether [addr, addr + len) touches a stand-in, which map() or tp_import() gave. Cheap when there
 * are none. */
bool tp_is_stand_in(const void *addr, uint64_t len);

/* ---- Connections ------------------------------------------------------------------------------
 */

struct tp_conn {
    const struct tp_ops *ops;
    /* the transport's own part follows: conn_size bytes, zeroed */
};

struct tp_open {
    const char *key;   /* both ends give the same text, and no other connection does; copied */
    int side;          /* 0 or 1: the two ends give different ones */
    const void *hello; /* in, [hello_len] bytes told to the peer once connected; copied */
    uint32_t hello_len;
    struct tp_address peer; /* of the process with the other end */
    /* The words of the own notifies, in memory that locate() knows; copied. shm posts to the peer's
     * words (base/word.h); loop calls on_notify and needs no words. */
    _Atomic uint64_t *const *words; /* [word_num] */
    uint32_t word_num;
    /* The peer recorded notify `index`. Called on any thread, until close() has returned. */
    void (*on_notify)(void *arg, uint32_t index);
    /* The state of the connection changed (the peer came, or went): poll() again. May be called
     * with the transport's locks held, so it only wakes somebody. */
    void (*on_change)(void *arg);
    void *arg;
};

/* One transfer. The remote address is what map() gave. */
struct tp_xfer {
    void *dst;
    const void *src;
    uint64_t len;   /* bytes; for reductions, elements */
    int type, op;   /* reductions: see reduce/reduce.h */
    uint64_t lease; /* the peer's, of the region: without it nothing is moved. 0: none is needed */
};

/* How a connection ended. */
enum tp_end {
    TP_OPEN,    /* it has not */
    TP_CLOSED,  /* one of the ends was closed, or this one called abort() */
    TP_ABORTED, /* the peer called abort(): the text is its reason */
    TP_DIED,    /* the peer's process has ended without closing it */
    TP_EXITED,  /* likewise, but in order: it has called exit() */
    TP_LOST,    /* the peer's process lives, but is out of reach */
};

struct tp_ops {
    const char *name; /* as messages and `hcomm info` spell it */
    size_t conn_size; /* of struct tp_conn and the transport's own part */
    bool maps;        /* map() gives plain addresses for memory in shared files */

    /* Starts connecting; never blocks. Whatever it returns, close() and fini() must be safe after.
     */
    HcclResult (*open)(struct tp_conn *conn, const struct tp_open *args);

    /* One step. HCCL_SUCCESS: connected; HCCL_E_AGAIN: not yet; HCCL_E_REMOTE: it has ended, how
     * is told by ending() (not logged: the caller knows who the peer is); HCCL_E_TCP_CONNECT:
     * nobody is at the address, or refuses (only that is logged); else it failed (logged).
     */
    HcclResult (*poll)(struct tp_conn *conn);

    /* What the peer told. Only once connected; then valid until fini(). */
    const void *(*peer_hello)(struct tp_conn *conn, uint32_t *len);

    /* Only once connected and when all that is needed of the peer has been mapped: tells the peer,
     * and says whether the peer has told the same, or the connection has ended. If not, on_change
     * is called when it has. Who waits for that before it closes never ends a connection that its
     * peer is still making. */
    bool (*settled)(struct tp_conn *conn);

    /* The peer's region as an address of this process (see above), valid until fini(). Only once
     * connected; may wait some milliseconds for the peer's process. HCCL_E_PARA (logged): it does
     * not describe memory that the peer has; HCCL_E_REMOTE (not logged). */
    HcclResult (*map)(struct tp_conn *conn, const struct tp_region *region, void **local);

    /* As map(), but plain addresses only, and for the time until unreach(): cheap enough for each
     * large transfer that is not worth a record of its own. HCCL_E_NOT_SUPPORT (not logged): the
     * region cannot be mapped; else as map(). It says nothing of the region's lease. May come while
     * the connection ends; unreach() is due all the same, before fini(). */
    HcclResult (*reach)(struct tp_conn *conn, const struct tp_region *region, void **local);

    /* Undoes one reach(), whose caller touches the memory no more. `region` as it was then. Also
     * after close(). */
    void (*unreach)(struct tp_conn *conn, const struct tp_region *region, void *local);

    /* Whether the peer still offers the region with this lease. Two loads. */
    bool (*leased)(struct tp_conn *conn, uint64_t lease);

    /* Ends the connection, and waits until no callback of this end and no transfer of either end
     * runs. Cannot fail; a second call does nothing. Afterwards the peer's calls and late calls of
     * this end return HCCL_E_REMOTE. */
    void (*close)(struct tp_conn *conn);

    /* Tells the peer that this end cannot go on, and why (at most 255 bytes are kept): its calls
     * return HCCL_E_REMOTE, ending() tells the text. Own calls return HCCL_E_REMOTE too. close() is
     * still due. */
    void (*abort)(struct tp_conn *conn, const char *why);

    /* How it ended; `text` [len] gets the peer's reason, or the process that died ("process 4711"),
     * or nothing. */
    enum tp_end (*ending)(struct tp_conn *conn, char *text, size_t len);

    /* After close(), when nobody is in a call any more: gives back all that open() took. */
    void (*fini)(struct tp_conn *conn);

    /* Move bytes to or from the peer, or reduce there or here. On HCCL_SUCCESS the bytes have
     * landed (these transports) or are ordered before a later notify() and flush(). HCCL_E_REMOTE:
     * the connection has ended (not logged). HCCL_E_AGAIN: nothing was done, call again. For a
     * stand-in they may sleep for the peer's process. HCCL_E_NOT_FOUND (not logged): the lease has
     * ended, nothing was moved. HCCL_E_MEMORY (logged): the peer's memory is
     * not there. */
    HcclResult (*write)(struct tp_conn *conn, const struct tp_xfer *xfer);
    HcclResult (*read)(struct tp_conn *conn, const struct tp_xfer *xfer);
    HcclResult (*write_reduce)(struct tp_conn *conn, const struct tp_xfer *xfer);
    HcclResult (*read_reduce)(struct tp_conn *conn, const struct tp_xfer *xfer);

    /* Records notify `index` at the peer, after all earlier writes are visible there. Returns as
     * the transfers do. */
    HcclResult (*notify)(struct tp_conn *conn, uint32_t index);

    /* Wakes a waiter of the peer's process, as base/word.h numbers them, after whatever was stored
     * before in memory of the peer; 0: nobody. Nothing if the connection has ended. Never blocks. A
     * system call, unless the peer looks at its bell: for who knows that the waiter sleeps. */
    void (*wake)(struct tp_conn *conn, uint32_t waiter);

    /* HCCL_SUCCESS: all earlier transfers of this connection are complete at both ends;
     * HCCL_E_AGAIN: call again; HCCL_E_REMOTE as above. */
    HcclResult (*flush)(struct tp_conn *conn);
};

extern const struct tp_ops tp_loop_ops; /* both ends in this process */
extern const struct tp_ops tp_shm_ops;  /* another process of this host */

/* The tables there are, NULL at the end. */
extern const struct tp_ops *const tp_all[];

/* The one that reaches a process. */
const struct tp_ops *tp_choose(uint64_t process);

/* How shm moves memory that cannot be mapped, for `hcomm info`: "bounce", "cma", or "undecided". */
const char *tp_shm_foreign_path(void);

/* A connection of `ops`, not opened; NULL: no memory (logged). Free with tp_destroy. */
struct tp_conn *tp_create(const struct tp_ops *ops);

/* close(), fini() and free. NULL is fine. */
void tp_destroy(struct tp_conn *conn);

#endif
