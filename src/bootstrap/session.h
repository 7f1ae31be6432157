/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * session: one communicator being put together at its root. Collects the ranks' hellos, however
 * they come: in_process joiners (join.c) and TCP connections (server.c) add to the same session.
 *
 * S1  Everything here is under session_lock(), except what is set once before the session is
 *     published (`info`, `hosts`).
 * S2  A session goes from collecting to complete or failed, once. The server then tells the
 *     connected ranks, closes every socket and retires it; `retired` comes last, and a joiner in
 *     this process returns only then: whoever has joined finds no thread and no socket left.
 * S3  `refs` counts the server and the joiners; the last one out frees it.
 */
#ifndef HC_BOOTSTRAP_SESSION_H
#define HC_BOOTSTRAP_SESSION_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "bootstrap/rootinfo.h"
#include "bootstrap/white_list.h"

#define WHY_LEN 512u

enum session_state { SESSION_COLLECTING, SESSION_COMPLETE, SESSION_FAILED };

struct session_member {
    bool present;
    uint32_t pid;
    uint32_t len;
    uint8_t *blob;
};

struct session {
    struct root_info info;   /* set once */
    struct white_list hosts; /* set once */
    struct hc_list in_all;   /* of the server's sessions */
    uint32_t refs;
    enum session_state state;
    HcclResult code;     /* when failed */
    char why[WHY_LEN];   /* when failed: for people, the same on every rank */
    uint32_t n_ranks;    /* 0: nobody has joined */
    uint32_t first_rank; /* who said n_ranks */
    uint32_t joined;
    struct session_member *members; /* [n_ranks] */
    struct bs_table *table;         /* when complete */
    uint64_t began_ns;              /* the first join, or the start while nobody has joined */
    uint64_t deadline_ns;
    bool retired;
    pthread_cond_t changed; /* state or retired */

    /* The server's part (server.c). */
    int listen_fd;          /* -1: closed */
    uint64_t accept_at_ns;  /* out of descriptors: when to accept again; 0: accepting */
    bool was_short;         /* of descriptors, once */
    struct hc_list pending; /* of struct conn, not yet proven, oldest first */
    struct hc_list joined_conns;
    bool telling;       /* replies are on their way */
    uint64_t linger_ns; /* until when */
    uint8_t reply_head[HEAD_LEN];
    uint8_t reply_digest[MAC_LEN];
    uint8_t failure[4 + WHY_LEN];
    const uint8_t *reply; /* [reply_len]: the table's bytes or `failure` */
    uint32_t reply_len;
    uint32_t warned;    /* bit for each kind of stranger that was logged */
    uint32_t strangers; /* connections turned away */
};

void session_lock(void);
void session_unlock(void);

/* Not in any list; one reference. NULL: no memory (logged). `timeout_ms` until somebody joins. */
struct session *session_create(int64_t timeout_ms);

void session_release(struct session *session);

/* Takes a hello in; may complete or fail the session, and then broadcasts `changed`. */
void session_add(struct session *session, const struct wire_hello *hello);

/* Nothing when it is no longer collecting. */
void session_fail(struct session *session, HcclResult code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The deadline has passed: fails, naming who is missing. */
void session_expire(struct session *session);

/* false: `deadline_ns` has passed. */
bool session_wait(struct session *session, uint64_t deadline_ns);

/* Remembers why a session ended, for those who come late. */
void session_bury(const struct session *session);

/* Why the session of that id takes nobody in any more: from `session`, or when it is NULL, from
 * what session_bury() kept. Valid under the lock. */
const char *session_end_text(const struct session *session, const char *id);

/* ---- table.c: the reply's bytes as a table ---- */

/* n_ranks[4] id[64] then for each rank len[4] blob[len]. Takes over `bytes` (hc_), also on failure.
 * NULL: no memory (logged) or `bytes` are not a table for `n_ranks` (not logged). */
struct bs_table *table_from_bytes(uint8_t *bytes, uint32_t len, uint32_t n_ranks);

/* NULL: no memory (logged). */
struct bs_table *table_from_members(const struct session_member *members, uint32_t n_ranks,
                                    const char *id);
const uint8_t *table_bytes(const struct bs_table *table, uint32_t *len);
void table_hold(struct bs_table *table);

#endif
