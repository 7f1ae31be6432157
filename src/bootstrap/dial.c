/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "bootstrap/dial.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "bootstrap/address.h"
#include "bootstrap/fd_limit.h"
#include "bootstrap/session.h"

#define ATTEMPT_MS 5000 /* one connection attempt, handshake included */
#define RETRY_MS 50

/* HCCL_E_AGAIN: the root broke off or was silent (it may be busy): try again. */
struct dial {
    int fd;
    char root[ADDRESS_TEXT_LEN];
    uint64_t deadline_ns; /* for being let in */
    uint8_t key[KEY_LEN];
};

static uint64_t
sooner(uint64_t a_ns, uint64_t b_ns)
{
    return a_ns < b_ns ? a_ns : b_ns;
}

/* Waits for `events`; false: the deadline has passed. */
static bool
wait_for(int fd, short events, uint64_t deadline_ns)
{
    for (;;) {
        uint64_t now_ns = hc_now_ns();
        uint64_t left_ms = now_ns >= deadline_ns ? 0 : (deadline_ns - now_ns) / 1000000u + 1;
        struct pollfd one = {.fd = fd, .events = events};
        int n = poll(&one, 1, left_ms > 60000 ? 60000 : (int)left_ms);

        if (n > 0)
            return true;
        if (n == 0 && hc_now_ns() >= deadline_ns)
            return false;
    }
}

/* All `len` bytes, or false: the peer is gone or the deadline has passed (`errno` ETIMEDOUT). */
static bool
get(int fd, uint8_t *into, size_t len, uint64_t deadline_ns)
{
    while (len > 0) {
        ssize_t n = recv(fd, into, len, 0);

        if (n > 0) {
            into += n;
            len -= (size_t)n;
        } else if (n == 0) {
            errno = ECONNRESET;
            return false;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            if (!wait_for(fd, POLLIN, deadline_ns)) {
                errno = ETIMEDOUT;
                return false;
            }
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

static bool
put(int fd, const uint8_t *from, size_t len, uint64_t deadline_ns)
{
    while (len > 0) {
        ssize_t n = send(fd, from, len, MSG_NOSIGNAL);

        if (n >= 0) {
            from += n;
            len -= (size_t)n;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            if (!wait_for(fd, POLLOUT, deadline_ns)) {
                errno = ETIMEDOUT;
                return false;
            }
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

static HcclResult
fail_connect(const struct dial *dial, const struct root_info *info, int error)
{
    const char *hint = error == ECONNREFUSED
                           ? "its root info is used up, or its process has ended"
                           : "choose an address that all ranks reach with HCCL_SOCKET_IFNAME or "
                             "HCCL_IF_IP at the root";

    LOG_ERROR(BOOT, "EI0006: cannot reach the root of %s at %s (process %u): %s; %s", info->id,
              dial->root, info->pid, strerror(error), hint);
    return error == ETIMEDOUT ? HCCL_E_TIMEOUT : HCCL_E_TCP_CONNECT;
}

static HcclResult
connect_root(struct dial *dial, const struct root_info *info, uint64_t deadline_ns)
{
    int on = 1, error = 0;
    socklen_t len = sizeof error;
    char text[FD_ERROR_LEN];

    dial->fd = hc_fd_socket(info->addr.ss_family, SOCK_STREAM);
    if (dial->fd < 0) {
        LOG_ERROR(BOOT, "EI0006: cannot dial the root of %s: %s", info->id,
                  fd_error_text(errno, text));
        return HCCL_E_SYSCALL;
    }
    if (connect(dial->fd, (const struct sockaddr *)&info->addr, address_len(&info->addr)) != 0) {
        error = errno;
        if (error == EINPROGRESS || error == EINTR) { /* both: it goes on by itself */
            if (!wait_for(dial->fd, POLLOUT, deadline_ns))
                return HCCL_E_AGAIN;
            (void)getsockopt(dial->fd, SOL_SOCKET, SO_ERROR, &error, &len);
        }
    }
    if (error == ETIMEDOUT || error == EAGAIN)
        return HCCL_E_AGAIN;
    if (error != 0)
        return fail_connect(dial, info, error);
    (void)setsockopt(dial->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    address_keep_alive(dial->fd);
    return HCCL_SUCCESS;
}

static HcclResult
fail_refused(const struct dial *dial, const struct root_info *info)
{
    LOG_ERROR(BOOT,
              "who listens at %s does not know the root info of %s: it is left over from "
              "another run; make a new one with HcclGetRootInfo",
              dial->root, info->id);
    return HCCL_E_PARA;
}

/* Greeting, proof, answer. */
static HcclResult
handshake(struct dial *dial, const struct root_info *info, uint64_t deadline_ns)
{
    uint8_t greeting[GREETING_LEN], proof[PROOF_MSG_LEN], answer[ANSWER_LEN], want[PROOF_LEN];
    const uint8_t *root_nonce = greeting + 8;
    uint8_t *rank_nonce = proof + 4;

    if (!get(dial->fd, greeting, sizeof greeting, deadline_ns))
        return HCCL_E_AGAIN;
    if (wire_get32(greeting) != WIRE_MAGIC)
        return fail_refused(dial, info);
    if (wire_get32(greeting + 4) != WIRE_VERSION) {
        LOG_ERROR(BOOT,
                  "EI0008: the root at %s speaks version %u, this library version %u: install "
                  "the same library everywhere",
                  dial->root, wire_get32(greeting + 4), WIRE_VERSION);
        return HCCL_E_PARA;
    }
    wire_put32(proof, WIRE_MAGIC);
    randombytes_buf(rank_nonce, NONCE_LEN);
    wire_proof(proof + 4 + NONCE_LEN, info->secret, ROLE_RANK, root_nonce, rank_nonce);
    if (!put(dial->fd, proof, sizeof proof, deadline_ns) ||
        !get(dial->fd, answer, sizeof answer, deadline_ns))
        return HCCL_E_AGAIN;
    wire_proof(want, info->secret, ROLE_ROOT, root_nonce, rank_nonce);
    if (wire_get32(answer) != VERDICT_WELCOME || !wire_same(want, answer + 4, PROOF_LEN))
        return fail_refused(dial, info);
    wire_key(dial->key, info->secret, root_nonce, rank_nonce);
    return HCCL_SUCCESS;
}

static HcclResult
send_hello(struct dial *dial, const struct wire_hello *hello)
{
    uint8_t message[HEAD_LEN + HELLO_MAX_LEN + MAC_LEN], digest[MAC_LEN];
    uint32_t len = wire_put_hello(message + HEAD_LEN, hello);

    wire_put32(message, WIRE_HELLO);
    wire_put32(message + 4, len);
    wire_digest(digest, message, message + HEAD_LEN, len);
    wire_mac(message + HEAD_LEN + len, dial->key, digest);
    if (!put(dial->fd, message, HEAD_LEN + len + MAC_LEN, dial->deadline_ns))
        return HCCL_E_AGAIN;
    return HCCL_SUCCESS;
}

/* From here on the root knows this rank. Before, it may have thrown it out, taking it for one of
 * many strangers who say nothing. */
static HcclResult
get_receipt(struct dial *dial)
{
    uint8_t receipt[RECEIPT_LEN];

    if (!get(dial->fd, receipt, sizeof receipt, dial->deadline_ns) ||
        wire_get32(receipt) != WIRE_RECEIPT)
        return HCCL_E_AGAIN;
    return HCCL_SUCCESS;
}

static HcclResult
fail_reply(const struct dial *dial, const struct root_info *info, int error)
{
    if (error == ETIMEDOUT) {
        LOG_ERROR(BOOT,
                  "EI0015: the root of %s at %s let this rank in, but did not say in time "
                  "whether all ranks have joined",
                  info->id, dial->root);
        return HCCL_E_TIMEOUT;
    }
    LOG_ERROR(BOOT,
              "the root of %s at %s (process %u) ended before all had joined: see its own log (%s)",
              info->id, dial->root, info->pid, strerror(error));
    return HCCL_E_REMOTE;
}

/* The reply's payload, allocated; *len its length. */
static HcclResult
get_reply(struct dial *dial, const struct root_info *info, const struct wire_hello *hello,
          uint64_t deadline_ns, uint32_t *kind, uint8_t **payload, uint32_t *payload_len)
{
    uint8_t head[HEAD_LEN], digest[MAC_LEN], mac[MAC_LEN], want[MAC_LEN];
    uint64_t most = 4u + ID_LEN + (uint64_t)hello->n_ranks * (4u + BS_BLOB_MAX);
    uint8_t *bytes;
    uint32_t len;

    if (!get(dial->fd, head, sizeof head, deadline_ns))
        return fail_reply(dial, info, errno);
    len = wire_get32(head + 4);
    if (len < 4 || (len > most && len > WHY_LEN + 4)) {
        LOG_ERROR(BOOT, "the root at %s sent a reply of %u bytes, at most %llu make sense",
                  dial->root, len, (unsigned long long)most);
        return HCCL_E_TCP_TRANSFER;
    }
    bytes = hc_zalloc((size_t)len + 1); /* a failure's text wants its NUL */
    if (bytes == NULL)
        return HCCL_E_MEMORY;
    if (!get(dial->fd, bytes, len, deadline_ns) || !get(dial->fd, mac, sizeof mac, deadline_ns)) {
        int error = errno;

        hc_free(bytes);
        return fail_reply(dial, info, error);
    }
    wire_digest(digest, head, bytes, len);
    wire_mac(want, dial->key, digest);
    if (!wire_same(mac, want, MAC_LEN)) {
        hc_free(bytes);
        LOG_ERROR(BOOT, "the reply of the root at %s was changed on its way", dial->root);
        return HCCL_E_TCP_TRANSFER;
    }
    *kind = wire_get32(head);
    *payload = bytes;
    *payload_len = len;
    return HCCL_SUCCESS;
}

static HcclResult
take_reply(struct dial *dial, const struct root_info *info, const struct wire_hello *hello,
           uint64_t deadline_ns, struct bs_table **table)
{
    uint8_t *payload = NULL;
    uint32_t kind = 0, len = 0;
    HcclResult rc = get_reply(dial, info, hello, deadline_ns, &kind, &payload, &len);

    if (rc != HCCL_SUCCESS)
        return rc;
    if (kind == WIRE_FAILURE) {
        rc = (HcclResult)wire_get32(payload);
        LOG_ERROR(BOOT, "%s", (const char *)payload + 4);
        hc_free(payload);
        return rc;
    }
    *table = table_from_bytes(payload, len, hello->n_ranks);
    if (*table == NULL) {
        LOG_ERROR(BOOT, "cannot take the table of %u ranks in", hello->n_ranks);
        return HCCL_E_MEMORY;
    }
    return HCCL_SUCCESS;
}

/* One attempt at being let in. */
static HcclResult
attempt(struct dial *dial, const struct root_info *info, const struct wire_hello *hello)
{
    uint64_t deadline_ns = sooner(dial->deadline_ns, hc_deadline_ms(ATTEMPT_MS));
    HcclResult rc = connect_root(dial, info, deadline_ns);

    if (rc == HCCL_SUCCESS)
        rc = handshake(dial, info, deadline_ns);
    if (rc == HCCL_SUCCESS)
        rc = send_hello(dial, hello);
    if (rc == HCCL_SUCCESS)
        rc = get_receipt(dial);
    return rc;
}

HcclResult
dial_join(const struct root_info *info, const struct wire_hello *hello, int64_t grace_ms,
          struct bs_table **table)
{
    struct dial dial = {.fd = -1, .deadline_ns = hc_deadline_ms(hello->timeout_ms)};
    struct timespec pause = {.tv_nsec = RETRY_MS * 1000000L};
    HcclResult rc;

    address_text(dial.root, sizeof dial.root, &info->addr);
    for (;;) {
        rc = attempt(&dial, info, hello);
        if (rc != HCCL_E_AGAIN)
            break;
        hc_fd_close(dial.fd);
        dial.fd = -1;
        if (hc_now_ns() >= dial.deadline_ns) {
            rc = fail_connect(&dial, info, ETIMEDOUT);
            break;
        }
        (void)nanosleep(&pause, NULL);
    }
    if (rc == HCCL_SUCCESS)
        rc = take_reply(&dial, info, hello, hc_deadline_ms(hello->timeout_ms + grace_ms), table);
    if (dial.fd >= 0)
        hc_fd_close(dial.fd);
    sodium_memzero(dial.key, sizeof dial.key);
    return rc;
}
