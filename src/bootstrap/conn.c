/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * conn: one TCP connection to a root, from accept to reply. Never blocks; see wire.h for the
 * order of messages. All under session_lock(), on the server's thread.
 *
 * C1  Until the proof has been checked, a connection costs its struct and 68 bytes of input, and
 *     HANDSHAKE_MS of time at most; there is a bound on how many there are (server.c).
 * C2  A dropped connection stays in memory until conn_free_dropped(): events of the same round may
 *     still name it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sodium.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "bootstrap/address.h"
#include "bootstrap/server.h"

#define HANDSHAKE_MS 5000
#define SLOW_MS 1000 /* a handshake takes a millisecond */

enum step { STEP_PROOF, STEP_HEAD, STEP_HELLO, STEP_JOINED, STEP_TELL };

/* Kinds of strangers; each is logged once for a session. */
enum stranger {
    STRANGER_SILENT,
    STRANGER_LEFT,
    STRANGER_NOISE,
    STRANGER_SECRET,
    STRANGER_HELLO,
    STRANGER_HOST
};

struct conn {
    struct hc_list in_list; /* pending, joined_conns or dropped */
    struct session *session;
    int fd; /* -1: dropped */
    int epoll_fd;
    enum step step;
    bool proven;
    uint64_t deadline_ns;
    uint32_t rank, pid; /* from STEP_JOINED on */
    uint8_t nonce[NONCE_LEN];
    uint8_t key[KEY_LEN];
    uint8_t fixed[PROOF_MSG_LEN]; /* input of STEP_PROOF and STEP_HEAD */
    uint8_t *hello;               /* input of STEP_HELLO */
    uint32_t have, want;          /* of the input at hand */
    uint8_t mac[MAC_LEN];         /* of the reply */
    uint64_t sent;                /* of head, reply, mac */
    char peer[ADDRESS_TEXT_LEN];
};

_Static_assert(PROOF_MSG_LEN >= HEAD_LEN, "`fixed` holds either");

static struct hc_list dropped = {&dropped, &dropped}; /* C2 */
static uint32_t pending_num;

uint32_t
conn_pending(void)
{
    return pending_num;
}

static void
drop(struct conn *conn)
{
    if (conn->fd < 0)
        return;
    hc_fd_close(conn->fd); /* also leaves the epoll set */
    conn->fd = -1;
    if (conn->step < STEP_JOINED)
        pending_num--;
    hc_list_remove(&conn->in_list);
    hc_list_push_back(&dropped, &conn->in_list);
}

void
conn_free_dropped(void)
{
    struct hc_list *node;

    while ((node = hc_list_pop_front(&dropped)) != NULL) {
        struct conn *conn = HC_CONTAINER(node, struct conn, in_list);

        hc_free(conn->hello);
        sodium_memzero(conn->key, sizeof conn->key);
        hc_free(conn);
    }
}

/* Drops somebody who is no rank of ours; the first of each kind is worth a line. */
static void
drop_stranger(struct conn *conn, enum stranger kind, const char *what)
{
    struct session *session = conn->session;

    session->strangers++;
    if ((session->warned & (1u << kind)) == 0)
        LOG_WARN(BOOT, "%s: turned %s away: %s", session->info.id, conn->peer, what);
    session->warned |= 1u << kind;
    drop(conn);
}

static void
watch(const struct conn *conn, int op, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.u64 = (uint64_t)(uintptr_t)conn};

    (void)epoll_ctl(conn->epoll_fd, op, conn->fd, &event);
}

/* A short message into an empty socket buffer: all or nothing. */
static bool
send_short(const struct conn *conn, const uint8_t *bytes, size_t len)
{
    ssize_t n;

    do {
        n = send(conn->fd, bytes, len, MSG_NOSIGNAL);
    } while (n < 0 && errno == EINTR);
    return n == (ssize_t)len;
}

void
conn_accept(struct session *session, int epoll_fd, int fd, const struct sockaddr_storage *peer)
{
    struct conn *conn = hc_zalloc(sizeof *conn);
    uint8_t greeting[GREETING_LEN];
    int on = 1;

    if (conn == NULL) {
        hc_fd_close(fd); /* the rank tries again */
        return;
    }
    conn->session = session;
    conn->fd = fd;
    conn->epoll_fd = epoll_fd;
    conn->step = STEP_PROOF;
    conn->want = PROOF_MSG_LEN;
    conn->deadline_ns = hc_deadline_ms(HANDSHAKE_MS);
    address_text(conn->peer, sizeof conn->peer, peer);
    randombytes_buf(conn->nonce, NONCE_LEN);
    hc_list_push_back(&session->pending, &conn->in_list);
    pending_num++;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    address_keep_alive(fd);
    if (!white_list_allows(&session->hosts, peer)) {
        drop_stranger(conn, STRANGER_HOST, "its host is not in HCCL_WHITELIST_FILE");
        return;
    }
    watch(conn, EPOLL_CTL_ADD, EPOLLIN);
    wire_put32(greeting, WIRE_MAGIC);
    wire_put32(greeting + 4, WIRE_VERSION);
    memcpy(greeting + 8, conn->nonce, NONCE_LEN);
    if (!send_short(conn, greeting, sizeof greeting))
        drop_stranger(conn, STRANGER_LEFT, "it left at once");
}

/* STEP_PROOF is complete. */
static void
take_proof(struct conn *conn)
{
    const uint8_t *secret = conn->session->info.secret;
    const uint8_t *rank_nonce = conn->fixed + 4;
    uint8_t want[PROOF_LEN], answer[ANSWER_LEN] = {0};
    bool magic = wire_get32(conn->fixed) == WIRE_MAGIC;

    wire_proof(want, secret, ROLE_RANK, conn->nonce, rank_nonce);
    if (!magic || !wire_same(want, conn->fixed + 4 + NONCE_LEN, PROOF_LEN)) {
        wire_put32(answer, VERDICT_REFUSED);
        if (magic)
            (void)send_short(conn, answer, sizeof answer);
        drop_stranger(conn, magic ? STRANGER_SECRET : STRANGER_NOISE,
                      magic ? "it does not know this root info (left over from another run?)"
                            : "it sent something else than a proof");
        return;
    }
    wire_key(conn->key, secret, conn->nonce, rank_nonce);
    wire_put32(answer, VERDICT_WELCOME);
    wire_proof(answer + 4, secret, ROLE_ROOT, conn->nonce, rank_nonce);
    conn->proven = true;
    conn->step = STEP_HEAD;
    conn->have = 0;
    conn->want = HEAD_LEN;
    if (!send_short(conn, answer, sizeof answer))
        drop_stranger(conn, STRANGER_LEFT, "it left during the handshake");
}

static void
take_head(struct conn *conn)
{
    uint32_t len = wire_get32(conn->fixed + 4);

    if (wire_get32(conn->fixed) != WIRE_HELLO || len > HELLO_MAX_LEN) {
        drop_stranger(conn, STRANGER_HELLO, "its hello is malformed");
        return;
    }
    conn->hello = hc_zalloc(len + MAC_LEN);
    if (conn->hello == NULL) {
        drop(conn); /* the rank tries again */
        return;
    }
    conn->step = STEP_HELLO;
    conn->have = 0;
    conn->want = len + MAC_LEN;
}

static void
take_hello(struct conn *conn)
{
    struct session *session = conn->session;
    uint32_t len = conn->want - MAC_LEN;
    uint8_t digest[MAC_LEN], mac[MAC_LEN], receipt[RECEIPT_LEN];
    struct wire_hello hello;

    wire_digest(digest, conn->fixed, conn->hello, len);
    wire_mac(mac, conn->key, digest);
    if (!wire_same(mac, conn->hello + len, MAC_LEN) || !wire_get_hello(&hello, conn->hello, len)) {
        drop_stranger(conn, STRANGER_HELLO, "its hello was changed on the way");
        return;
    }
    pending_num--;
    conn->step = STEP_JOINED;
    conn->rank = hello.rank;
    conn->pid = hello.pid;
    conn->have = 0;
    conn->want = sizeof conn->fixed;
    hc_list_remove(&conn->in_list);
    hc_list_push_back(&session->joined_conns, &conn->in_list);
    wire_put32(receipt, WIRE_RECEIPT);
    (void)send_short(conn, receipt, sizeof receipt); /* if it left, its end comes as an event */
    session_add(session, &hello);
    hc_free(conn->hello);
    conn->hello = NULL;
}

/* What the step at hand asks for has come. */
static void
take(struct conn *conn)
{
    if (conn->step == STEP_PROOF)
        take_proof(conn);
    else if (conn->step == STEP_HEAD)
        take_head(conn);
    else
        take_hello(conn);
}

/* The peer closed, or broke off. */
static void
peer_left(struct conn *conn)
{
    if (conn->step < STEP_JOINED) {
        drop_stranger(conn, STRANGER_LEFT, "it left during the handshake");
        return;
    }
    session_fail(conn->session, HCCL_E_REMOTE,
                 "rank %u (process %u) ended before all had joined; it was at %s: see its own log",
                 conn->rank, conn->pid, conn->peer);
    drop(conn);
}

static void
read_some(struct conn *conn)
{
    while (conn->fd >= 0) {
        uint8_t *into = conn->step == STEP_HELLO ? conn->hello : conn->fixed;
        ssize_t n = recv(conn->fd, into + conn->have, conn->want - conn->have, 0);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (n <= 0 || conn->step >= STEP_JOINED) { /* a joined rank has nothing more to say */
            peer_left(conn);
            return;
        }
        conn->have += (uint32_t)n;
        if (conn->have == conn->want)
            take(conn);
    }
}

/* Sends on; the connection ends when all has been taken. */
static void
tell(struct conn *conn)
{
    const struct session *session = conn->session;
    const struct iovec whole[3] = {{(void *)session->reply_head, HEAD_LEN},
                                   {(void *)session->reply, session->reply_len},
                                   {conn->mac, MAC_LEN}};

    for (;;) {
        struct iovec part[3];
        struct msghdr message = {.msg_iov = part};
        uint64_t skip = conn->sent;
        ssize_t n;

        for (int i = 0; i < 3; i++) {
            if (skip >= whole[i].iov_len) {
                skip -= whole[i].iov_len;
                continue;
            }
            part[message.msg_iovlen].iov_base = (uint8_t *)whole[i].iov_base + skip;
            part[message.msg_iovlen++].iov_len = whole[i].iov_len - skip;
            skip = 0;
        }
        if (message.msg_iovlen == 0)
            break;
        n = sendmsg(conn->fd, &message, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            watch(conn, EPOLL_CTL_MOD, EPOLLOUT);
            return;
        }
        if (n < 0)
            break; /* the rank is gone: it needs no telling */
        conn->sent += (uint64_t)n;
    }
    drop(conn);
}

void
conn_event(void *arg)
{
    struct conn *conn = arg;

    if (conn->fd < 0)
        return; /* dropped in this round: C2 */
    if (conn->step == STEP_TELL)
        tell(conn);
    else
        read_some(conn);
}

uint64_t
conn_oldest_deadline(const struct session *session)
{
    if (hc_list_empty(&session->pending))
        return HC_FOREVER;
    return HC_CONTAINER(session->pending.next, struct conn, in_list)->deadline_ns;
}

void
conn_drop_oldest(struct session *session, const char *why)
{
    if (!hc_list_empty(&session->pending))
        drop_stranger(HC_CONTAINER(session->pending.next, struct conn, in_list), STRANGER_SILENT,
                      why);
}

void
conn_drop_slow(struct session *session)
{
    uint64_t deadline_ns = hc_deadline_ms(HANDSHAKE_MS - SLOW_MS);

    while (conn_oldest_deadline(session) <= deadline_ns)
        conn_drop_oldest(session, "it was slow to prove itself when descriptors were short");
}

void
conn_tell_all(struct session *session)
{
    bool failed = session->state == SESSION_FAILED;

    session->telling = true;
    if (failed) {
        size_t len = strlen(session->why);

        wire_put32(session->failure, (uint32_t)session->code);
        memcpy(session->failure + 4, session->why, len);
        session->reply = session->failure;
        session->reply_len = (uint32_t)(4 + len);
    } else {
        session->reply = table_bytes(session->table, &session->reply_len);
    }
    wire_put32(session->reply_head, failed ? WIRE_FAILURE : WIRE_TABLE);
    wire_put32(session->reply_head + 4, session->reply_len);
    wire_digest(session->reply_digest, session->reply_head, session->reply, session->reply_len);
    HC_LIST_EACH_SAFE (node, &session->pending)
        drop(HC_CONTAINER(node, struct conn, in_list));
    HC_LIST_EACH_SAFE (node, &session->joined_conns) {
        struct conn *conn = HC_CONTAINER(node, struct conn, in_list);

        wire_mac(conn->mac, conn->key, session->reply_digest);
        conn->step = STEP_TELL;
        tell(conn);
    }
}

void
conn_drop_all(struct session *session)
{
    HC_LIST_EACH_SAFE (node, &session->pending)
        drop(HC_CONTAINER(node, struct conn, in_list));
    HC_LIST_EACH_SAFE (node, &session->joined_conns)
        drop(HC_CONTAINER(node, struct conn, in_list));
}
