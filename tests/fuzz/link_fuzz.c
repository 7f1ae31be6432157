/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What other processes say to this one: a stranger, a peer that has proven itself, a stranger in
 * the lobby. The first byte says which; then come messages, each with two bytes of length.
 *
 * For a peer a message is type, flags, body: its head is made right (unless flag 1 says otherwise),
 * so that the input gets to the bodies; flag 2 passes a descriptor.
 */
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fd.h"
#include "tests/fuzz/fuzz.h"
#include "transport/link_private.h"
#include "transport/lobby.h"
#include "transport/sock.h"

enum { AS_STRANGER, AS_PEER, AS_CALLER, AS_NUM };

#define KEY "link fuzz"
#define MESSAGES_MOST 16
#define WAIT_MS 20000 /* then something hangs */
#define FLAG_WRONG_LEN 1u
#define FLAG_FD 2u

static struct tp_address own;
static uint64_t last_peer = 1; /* the peers' process ids */

/* ---- seeds ---- */

static size_t
add(uint8_t *into, size_t at, const void *bytes, size_t len)
{
    into[at] = (uint8_t)len;
    into[at + 1] = (uint8_t)(len >> 8);
    memcpy(into + at + 2, bytes, len);
    return at + 2 + len;
}

/* A peer's message. */
static size_t
add_typed(uint8_t *into, size_t at, uint8_t type, uint8_t flags, const void *body, size_t len)
{
    uint8_t message[2 + LINK_MSG_MOST] = {type, flags};

    if (len > 0)
        memcpy(message + 2, body, len);
    return add(into, at, message, len + 2);
}

static size_t
seed_stranger(uint8_t *into)
{
    struct wire_hello hello = {.head = wire_head(WIRE_HELLO), .from = 1, .to = own.process};
    struct wire_proof proof = {.head = wire_head(WIRE_PROOF)};

    into[0] = AS_STRANGER;
    return add(into, add(into, 1, &hello, sizeof hello), &proof, sizeof proof);
}

static size_t
seed_peer(uint8_t *into, unsigned n)
{
    const struct wire_file file = {.number = n};
    const uint64_t body[32] = {n, 1, 2, 3};
    size_t at = 1;

    into[0] = AS_PEER;
    at = add_typed(into, at, LINK_MSG_KNOCK, 0, NULL, 0);
    at = add_typed(into, at, LINK_MSG_FILE_WANT, 0, &file, sizeof file);
    at = add_typed(into, at, LINK_MSG_FILE, FLAG_FD, &file, sizeof file);
    at = add_typed(into, at, LINK_MSG_CONN, (uint8_t)(n % 4), body, 8 * n);
    at = add_typed(into, at, LINK_MSG_FOREIGN, (uint8_t)(n % 4), body, 8 * n);
    return add_typed(into, at, LINK_MSG_BYE, 0, NULL, 0);
}

static size_t
seed_caller(uint8_t *into)
{
    struct lobby_message message = {.head = wire_head((enum wire_type)LOBBY_CALL)};
    size_t at;

    into[0] = AS_CALLER;
    message.address.process = 1;
    crypto_generichash(message.digest, sizeof message.digest, (const uint8_t *)KEY, strlen(KEY),
                       NULL, 0);
    at = add(into, 1, &message, sizeof message);
    message.head.type = LOBBY_DONE;
    return add(into, at, &message, sizeof message);
}

static void
start(void)
{
    if (own.process == 0 && tp_listen(&own) != HCCL_SUCCESS)
        abort();
}

size_t
fuzz_seed(unsigned n, uint8_t *into, size_t room)
{
    start();
    if (room < 4096 || n > 10)
        return 0;
    if (n == 0)
        return seed_stranger(into);
    return n == 1 ? seed_caller(into) : seed_peer(into, 3 * (n - 2));
}

/* ---- the target ---- */

struct input {
    const uint8_t *bytes;
    size_t len;
};

/* The next message; false: there is none. */
static bool
next(struct input *input, const uint8_t **bytes, size_t *len)
{
    if (input->len < 2)
        return false;
    *len = input->bytes[0] | (size_t)input->bytes[1] << 8;
    if (*len > input->len - 2)
        *len = input->len - 2;
    *bytes = input->bytes + 2;
    input->bytes += 2 + *len;
    input->len -= 2 + *len;
    return true;
}

static int
dial(const char *name)
{
    int fd = sock_new();

    for (int i = 0; i < WAIT_MS; i++) {
        if (fd >= 0 && sock_connect(fd, name) == 0)
            return fd;
        usleep(1000);
    }
    abort();
}

/* Reads what comes until `type`, or until the other end hangs up. */
static bool
await(int fd, uint32_t type, union wire_message *got)
{
    uint8_t bytes[2048];
    uint64_t deadline_ns = hc_deadline_ms(WAIT_MS);
    size_t len = 0;
    int pass_fd;

    while (hc_now_ns() < deadline_ns) {
        switch (sock_recv(fd, bytes, sizeof bytes, &len, &pass_fd)) {
        case SOCK_MESSAGE:
            sock_drop(pass_fd);
            memcpy(got, bytes, sizeof *got < len ? sizeof *got : len);
            if (len >= sizeof got->head && got->head.magic == WIRE_MAGIC && got->head.type == type)
                return true;
            break;
        case SOCK_NOTHING:
            usleep(20);
            break;
        default:
            return false;
        }
    }
    abort();
}

/* No more comes from here; until it is dealt with. */
static void
finish(int fd, long live)
{
    union wire_message got;

    (void)shutdown(fd, SHUT_WR);
    (void)await(fd, 0, &got);
    hc_fd_close(fd);
    for (int i = 0; i < WAIT_MS * 10 && hc_alloc_live() > live; i++)
        usleep(100);
}

static void
as_stranger(struct input input)
{
    char name[SOCK_NAME_LEN];
    long live = hc_alloc_live();
    const uint8_t *bytes;
    size_t len;
    int fd;

    wire_name(name, sizeof name, own.process);
    fd = dial(name);
    for (int i = 0; i < MESSAGES_MOST && next(&input, &bytes, &len); i++)
        (void)sock_send(fd, bytes, len, -1);
    finish(fd, live);
}

static void
nobody_cares(void *arg)
{
    (void)arg;
}

static void
as_caller(struct input input)
{
    char name[SOCK_NAME_LEN];
    long live = hc_alloc_live();
    struct tp_lobby *lobby = NULL;
    const uint8_t *bytes;
    size_t len;
    int fd;

    if (tp_lobby_open(KEY, 0, nobody_cares, NULL, &lobby) != HCCL_SUCCESS)
        abort();
    lobby_name(name, KEY, 0);
    fd = dial(name);
    for (int i = 0; i < MESSAGES_MOST && next(&input, &bytes, &len); i++)
        (void)sock_send(fd, bytes, len, -1);
    finish(fd, live + 2);
    tp_lobby_close(lobby);
    for (int i = 0; i < WAIT_MS * 10 && hc_alloc_live() > live; i++)
        usleep(100);
}

/* A segment as a peer has one. */
static int
make_segment(uint64_t process)
{
    struct {
        uint32_t magic, version;
        uint64_t process;
    } head = {SEGMENT_MAGIC, SEGMENT_VERSION, process};
    int fd = memfd_create("link-fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd < 0 || ftruncate(fd, sizeof(struct shm_segment)) != 0 ||
        pwrite(fd, &head, sizeof head, 0) != (ssize_t)sizeof head ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) != 0)
        abort();
    return fd;
}

static void
send_typed(int fd, uint32_t type, const void *body, uint32_t len, int pass_fd)
{
    struct wire_link message = {.type = type, .len = len};

    if (len > 0)
        memcpy(message.body, body, len);
    (void)sock_send(fd, &message, WIRE_LINK_HEAD + len, pass_fd);
}

/* The whole handshake. */
static int
become_peer(const struct tp_address *peer)
{
    struct wire_hello hello = {
        .head = wire_head(WIRE_HELLO), .from = peer->process, .to = own.process};
    struct wire_proof proof = {.head = wire_head(WIRE_PROOF)};
    const struct wire_file file = {.number = 0};
    const struct wire_up up = {.heard = 0};
    union wire_message got;
    char name[SOCK_NAME_LEN];
    int fd, segment;

    wire_name(name, sizeof name, own.process);
    fd = dial(name);
    if (sock_send(fd, &hello, sizeof hello, -1) != 0 || !await(fd, WIRE_CHALLENGE, &got))
        abort();
    wire_prove(proof.proof, own.secret, WIRE_DIALLER, &hello, &got.challenge);
    memcpy(proof.secret, peer->secret, TP_SECRET_LEN);
    if (sock_send(fd, &proof, sizeof proof, -1) != 0 || !await(fd, WIRE_VERDICT, &got) ||
        got.verdict.verdict != WIRE_WELCOME)
        abort();
    segment = make_segment(peer->process);
    send_typed(fd, LINK_MSG_FILE, &file, sizeof file, segment);
    send_typed(fd, LINK_MSG_UP, &up, sizeof up, -1);
    close(segment);
    return fd;
}

static void
as_peer(struct input input)
{
    const struct tp_address peer = {.process = ++last_peer};
    long live = hc_alloc_live();
    int fd = become_peer(&peer);
    struct shm_link *link = NULL;
    const uint8_t *bytes;
    size_t len;

    if (link_hold(&peer, &link) != HCCL_SUCCESS || link_wait(link, WAIT_MS) != HCCL_SUCCESS ||
        link_state(link) != LINK_UP)
        abort();
    for (int i = 0; i < MESSAGES_MOST && next(&input, &bytes, &len); i++) {
        uint32_t body_len = len < 2 ? 0 : (uint32_t)len - 2;

        if (len < 2)
            continue;
        body_len = body_len > LINK_MSG_MOST ? LINK_MSG_MOST : body_len;
        if ((bytes[1] & FLAG_WRONG_LEN) != 0)
            (void)sock_send(fd, bytes, len, -1);
        else
            send_typed(fd, bytes[0], bytes + 2, body_len, (bytes[1] & FLAG_FD) != 0 ? fd : -1);
    }
    (void)shutdown(fd, SHUT_WR);
    for (int i = 0; i < WAIT_MS * 10 && (link_state(link) != LINK_GONE || link->refs > 1); i++)
        usleep(100);
    if (link_state(link) != LINK_GONE || link->refs > 1)
        abort(); /* it hangs, or somebody keeps it */
    link_release(link);
    finish(fd, live);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct input input = {bytes + 1, len - 1};

    start();
    if (len < 1)
        return 0;
    if (bytes[0] % AS_NUM == AS_STRANGER)
        as_stranger(input);
    else if (bytes[0] % AS_NUM == AS_PEER)
        as_peer(input);
    else
        as_caller(input);
    return 0;
}
