/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * link_dial: the dialler's side of the handshake (wire.h).
 *
 * An acceptor that breaks off before its verdict may have been busy with a crowd of strangers, so
 * the dial is repeated until the link's deadline. If the process has ended, the next dial finds
 * nobody.
 */
#include <errno.h>
#include <sodium.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/process.h"
#include "transport/link_private.h"
#include "transport/listen.h"
#include "transport/sock.h"

#define RETRY_MOST_MS 64u
#define NS_PER_MS 1000000u

HcclResult
dial_socket(struct shm_link *link)
{
    char text[SOCK_TROUBLE_LEN];

    link->retry_ns = 0; /* at once */
    link->watch.fd = sock_new();
    if (link->watch.fd >= 0)
        return HCCL_SUCCESS;
    LOG_ERROR(SHM, "cannot open a socket to process %016llx: %s", (unsigned long long)link->process,
              sock_trouble(errno, text, sizeof text));
    return HCCL_E_SYSCALL;
}

static void
retry_later(struct shm_link *link)
{
    uint32_t ms = link->retry_ms;

    link->retry_ms = ms == 0 ? 1 : ms < RETRY_MOST_MS ? 2 * ms : ms;
    link_retry_at(link, hc_now_ns() + (uint64_t)ms * NS_PER_MS);
}

void
dial_lost(struct shm_link *link)
{
    service_close(&link->watch);
    link->step = STEP_DIAL;
    retry_later(link);
}

static void
say_hello(struct shm_link *link)
{
    pid_t pid;
    uid_t uid;

    sock_peer(link->watch.fd, &pid, &uid);
    atomic_store(&link->pid, pid);
    link->hello = (struct wire_hello){
        .head = wire_head(WIRE_HELLO), .from = hc_process_id(), .to = link->process};
    randombytes_buf(link->hello.nonce, WIRE_NONCE_LEN);
    link->step = STEP_CHALLENGE;
    if (service_watch(&link->watch, false) != 0 ||
        sock_send(link->watch.fd, &link->hello, sizeof link->hello, -1) != 0)
        dial_lost(link);
}

void
dial_try(struct shm_link *link)
{
    char name[SOCK_NAME_LEN], text[SOCK_TROUBLE_LEN];
    int error;

    if (link->step != STEP_DIAL)
        return;
    if (link->watch.fd < 0 && (link->watch.fd = sock_new()) < 0) {
        link_fail(link, LINK_REFUSED, "%s", sock_trouble(errno, text, sizeof text));
        return;
    }
    wire_name(name, sizeof name, link->process);
    error = sock_connect(link->watch.fd, name);
    if (error == 0)
        say_hello(link);
    else if (error == ECONNREFUSED)
        link_end(link, LINK_ABSENT);
    else if (error == EAGAIN)
        retry_later(link);
    else
        link_fail(link, LINK_REFUSED, "%s", sock_trouble(error, text, sizeof text));
}

static void
answer(struct shm_link *link, const struct wire_challenge *challenge)
{
    struct wire_proof proof = {.head = wire_head(WIRE_PROOF)};
    uint8_t want[WIRE_PROOF_LEN];
    struct tp_address own;

    wire_prove(want, link->secret, WIRE_ACCEPTOR, &link->hello, challenge);
    if (!wire_equal(want, challenge->proof, WIRE_PROOF_LEN)) {
        link_fail(link, LINK_REFUSED,
                  "it does not know the secret of its address: is that of another run?");
        return;
    }
    if (listen_address(&own) != HCCL_SUCCESS) { /* it listens since link_hold */
        link_end(link, LINK_REFUSED);
        return;
    }
    wire_prove(proof.proof, link->secret, WIRE_DIALLER, &link->hello, challenge);
    memcpy(proof.secret, own.secret, TP_SECRET_LEN); /* R2 */
    link->step = STEP_VERDICT;
    if (sock_send(link->watch.fd, &proof, sizeof proof, -1) != 0)
        dial_lost(link);
    sodium_memzero(&proof, sizeof proof);
}

static void
take_verdict(struct shm_link *link, const struct wire_verdict_message *verdict)
{
    char theirs[WIRE_VERSION_LEN], ours[WIRE_VERSION_LEN];
    const struct wire_head own = wire_head(WIRE_VERDICT);

    switch (verdict->verdict) {
    case WIRE_WELCOME:
        if (link->step == STEP_VERDICT)
            link_introduce(link);
        else /* it has not proven anything */
            link_fail(link, LINK_REFUSED, "it breaks the order of the handshake");
        break;
    case WIRE_VERSION:
        link_fail(link, LINK_REFUSED, "it has hcomm %s, this process has %s: use one version",
                  wire_version_text(&verdict->head, theirs), wire_version_text(&own, ours));
        break;
    case WIRE_SECRET:
        link_fail(link, LINK_REFUSED,
                  "it refuses the secret of its address, or knows another one of this process: "
                  "is it of another run?");
        break;
    case WIRE_YIELD:
        link->step = STEP_YIELDED;
        break;
    default: /* WIRE_AGAIN */
        dial_lost(link);
        break;
    }
}

void
dial_message(struct shm_link *link, const union wire_message *message, size_t len)
{
    if (wire_begins(message, len, WIRE_VERDICT) && len >= sizeof message->verdict)
        take_verdict(link, &message->verdict);
    else if (link->step == STEP_CHALLENGE && wire_is(message, len, WIRE_CHALLENGE))
        answer(link, &message->challenge);
    else
        link_fail(link, LINK_REFUSED, "it does not speak the protocol of hcomm");
}
