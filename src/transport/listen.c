/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * listen: where other processes reach this one, and the acceptor's side of the handshake (wire.h)
 * up to the dialler's proof. What follows is the link's (link_accept).
 *
 * N1  Until it has proven itself, a connection is a stranger: it costs its struct and one
 *     message of input at a time, and HANDSHAKE_MS of time. There are STRANGERS_MOST at once; when
 *     one more comes, the oldest goes that has said nothing, else the oldest of all. So noise
 *     does not push out those who speak the protocol; who is pushed out dials again.
 * N2  All but the start is the service thread's own.
 */
#include "transport/listen.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/process.h"
#include "base/thread.h"
#include "transport/link_private.h"
#include "transport/sock.h"

#define HANDSHAKE_MS LINK_HANDSHAKE_MS
#define STRANGERS_MOST 64u
#define ACCEPT_PAUSE_MS 100 /* out of descriptors */
#define ACCEPT_BURST 32     /* connections taken before others get their turn */

/* Kinds of strangers; each is logged once. */
enum kind { KIND_SILENT, KIND_LEFT, KIND_NOISE, KIND_VERSION, KIND_SECRET, KIND_CROWD };

struct stranger {
    struct service_watch watch;
    struct hc_list in_list;
    uint64_t deadline_ns;
    bool greeted; /* its hello is here, the challenge is sent */
    bool yielded; /* it has its verdict, and waits for this process' dial */
    struct wire_hello hello;
    struct wire_challenge challenge;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* starting */
static atomic_bool started;                              /* set once; what follows before it */
static struct tp_address own;

/* The service thread's */
static struct service_watch listener = {.fd = -1};
static uint64_t accept_at_ns = HC_FOREVER; /* a pause ends; HC_FOREVER: there is none */
static bool said_pause;
static struct hc_list silent = {&silent, &silent}; /* oldest first */
static struct hc_list greeted = {&greeted, &greeted};
static uint32_t stranger_num;
static uint32_t warned;           /* a bit for each kind */
static _Atomic uint32_t refusals; /* read by anyone */

uint32_t
listen_strangers(void)
{
    return atomic_load(&refusals);
}

/* ---- strangers ---- */

static void
bury(struct service_watch *watch)
{
    hc_free(HC_CONTAINER(watch, struct stranger, watch));
}

static void
drop(struct stranger *stranger)
{
    service_close(&stranger->watch);
    hc_list_remove(&stranger->in_list);
    stranger_num--;
    service_bury(&stranger->watch);
}

/* The first of each kind is worth a line. */
static void
turn_away(struct stranger *stranger, enum kind kind, const char *what)
{
    pid_t pid;
    uid_t uid;

    atomic_fetch_add(&refusals, 1);
    if ((warned & (1u << kind)) == 0) {
        sock_peer(stranger->watch.fd, &pid, &uid);
        LOG_WARN(SHM, "turned process %d of user %u away: %s (others like it go without a line)",
                 (int)pid, (unsigned)uid, what);
    }
    warned |= 1u << kind;
    drop(stranger);
}

static bool
tell(const struct stranger *stranger, enum wire_verdict verdict)
{
    const struct wire_verdict_message message = {.head = wire_head(WIRE_VERDICT),
                                                 .verdict = verdict};

    return sock_send(stranger->watch.fd, &message, sizeof message, -1) == 0;
}

static void
refuse_version(struct stranger *stranger, const struct wire_head *theirs)
{
    char text[160], a[WIRE_VERSION_LEN], b[WIRE_VERSION_LEN];
    const struct wire_head ours = wire_head(WIRE_VERDICT);

    snprintf(text, sizeof text, "it has hcomm %s, this process has %s: use one version",
             wire_version_text(theirs, a), wire_version_text(&ours, b));
    (void)tell(stranger, WIRE_VERSION);
    turn_away(stranger, KIND_VERSION, text);
}

static void
take_hello(struct stranger *stranger, const union wire_message *message, size_t len)
{
    struct wire_challenge *challenge = &stranger->challenge;

    if (wire_begins(message, len, WIRE_HELLO) && !wire_same_version(&message->head)) {
        refuse_version(stranger, &message->head);
        return;
    }
    if (!wire_is(message, len, WIRE_HELLO) || message->hello.to != own.process ||
        message->hello.from == own.process || message->hello.from == 0) {
        turn_away(stranger, KIND_NOISE, "it does not speak the protocol of hcomm");
        return;
    }
    stranger->hello = message->hello;
    stranger->greeted = true;
    hc_list_remove(&stranger->in_list);
    hc_list_push_back(&greeted, &stranger->in_list);
    challenge->head = wire_head(WIRE_CHALLENGE);
    randombytes_buf(challenge->nonce, WIRE_NONCE_LEN);
    wire_prove(challenge->proof, own.secret, WIRE_ACCEPTOR, &stranger->hello, challenge);
    if (sock_send(stranger->watch.fd, challenge, sizeof *challenge, -1) != 0)
        drop(stranger); /* it has left */
}

static void
take_proof(struct stranger *stranger, const union wire_message *message, size_t len)
{
    uint8_t want[WIRE_PROOF_LEN];
    enum wire_verdict verdict = WIRE_SECRET;

    wire_prove(want, own.secret, WIRE_DIALLER, &stranger->hello, &stranger->challenge);
    if (stranger->yielded || !wire_is(message, len, WIRE_PROOF)) {
        turn_away(stranger, KIND_NOISE, "it does not speak the protocol of hcomm");
        return;
    }
    if (wire_equal(want, message->proof.proof, WIRE_PROOF_LEN))
        verdict = link_accept(&stranger->hello, message->proof.secret, &stranger->watch);
    if (verdict == WIRE_WELCOME) {
        drop(stranger);
        return;
    }
    (void)tell(stranger, verdict);
    if (verdict == WIRE_SECRET)
        turn_away(stranger, KIND_SECRET,
                  "it does not know this process' secret, or changed its own");
    else if (verdict == WIRE_YIELD)
        stranger->yielded = true; /* sees by this socket if this process dies */
    else
        drop(stranger);
}

static void
stranger_left(struct stranger *stranger)
{
    if (stranger->greeted)
        drop(stranger); /* two processes that dial each other at once do that */
    else
        turn_away(stranger, KIND_LEFT, "it left without a word");
}

static void
stranger_event(struct service_watch *watch)
{
    struct stranger *stranger = HC_CONTAINER(watch, struct stranger, watch);

    while (watch->fd >= 0) {
        union wire_message message;
        size_t len = 0;
        int fd;

        switch (sock_recv(watch->fd, &message, sizeof message, &len, &fd)) {
        case SOCK_NOTHING:
            return;
        case SOCK_ENDED:
            stranger_left(stranger);
            return;
        case SOCK_MESSAGE:
            sock_drop(fd);
            if (stranger->greeted)
                take_proof(stranger, &message, len);
            else
                take_hello(stranger, &message, len);
            break;
        case SOCK_STRANGE:
        case SOCK_NO_ROOM: /* one that has no descriptor to pass yet */
            turn_away(stranger, KIND_NOISE, "it does not speak the protocol of hcomm");
            return;
        }
    }
}

static struct stranger *
oldest(struct hc_list *list)
{
    return hc_list_empty(list) ? NULL : HC_CONTAINER(list->next, struct stranger, in_list);
}

void
listen_take(int fd)
{
    struct stranger *stranger = hc_zalloc(sizeof *stranger), *old;

    if (stranger == NULL) {
        hc_fd_close(fd); /* it dials again */
        return;
    }
    if (stranger_num >= STRANGERS_MOST) { /* N1 */
        old = oldest(&silent);
        turn_away(old != NULL ? old : oldest(&greeted), KIND_CROWD,
                  "too many others came before it had proven itself");
    }
    stranger->watch = (struct service_watch){.fd = fd, .on_event = stranger_event, .on_bury = bury};
    stranger->deadline_ns = hc_deadline_ms(HANDSHAKE_MS);
    hc_list_push_back(&silent, &stranger->in_list);
    stranger_num++;
    if (service_watch(&stranger->watch, false) != 0)
        drop(stranger); /* no memory for it: it dials again */
    else
        stranger_event(&stranger->watch); /* mostly its hello has come with it */
}

/* ---- the listener ---- */

static void
pause_accepting(int error)
{
    char text[SOCK_TROUBLE_LEN];

    if (!said_pause)
        LOG_WARN(SHM, "cannot take other processes in for the moment: %s",
                 sock_trouble(error, text, sizeof text));
    said_pause = true;
    service_pause(&listener);
    accept_at_ns = hc_deadline_ms(ACCEPT_PAUSE_MS);
}

static void
accept_some(struct service_watch *watch)
{
    for (int i = 0; i < ACCEPT_BURST; i++) {
        int fd = sock_accept(watch->fd);

        if (fd >= 0) {
            said_pause = false;
            listen_take(fd);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
            pause_accepting(errno);
            return;
        } else if (errno != EINTR && errno != ECONNABORTED) {
            return; /* nobody is left in the queue */
        }
    }
}

static uint64_t
tend_list(struct hc_list *list, uint64_t now_ns)
{
    struct stranger *stranger;

    while ((stranger = oldest(list)) != NULL && stranger->deadline_ns <= now_ns) {
        if (stranger->yielded)
            drop(stranger);
        else
            turn_away(stranger, KIND_SILENT, "it did not prove itself in time");
    }
    return stranger == NULL ? HC_FOREVER : stranger->deadline_ns;
}

uint64_t
listen_tend(uint64_t now_ns)
{
    uint64_t silent_ns = tend_list(&silent, now_ns), greeted_ns = tend_list(&greeted, now_ns);
    uint64_t next_ns = silent_ns < greeted_ns ? silent_ns : greeted_ns;

    if (accept_at_ns <= now_ns) {
        accept_at_ns = HC_FOREVER;
        if (service_watch(&listener, false) != 0)
            accept_at_ns = hc_deadline_ms(ACCEPT_PAUSE_MS);
    }
    return next_ns < accept_at_ns ? next_ns : accept_at_ns;
}

/* Under lock. */
static HcclResult
start(void)
{
    char name[SOCK_NAME_LEN], text[SOCK_TROUBLE_LEN];
    struct shm_segment *segment;
    HcclResult rc = service_start();
    int fd, error;

    if (rc == HCCL_SUCCESS)
        rc = segment_own(&segment, &fd);
    if (rc != HCCL_SUCCESS)
        return rc;
    own.process = hc_process_id();
    randombytes_buf(own.secret, TP_SECRET_LEN);
    wire_name(name, sizeof name, own.process);
    listener.on_event = accept_some;
    listener.fd = sock_listen(name);
    error = listener.fd < 0 ? errno : service_watch(&listener, false);
    if (error == 0) {
        atomic_store(&started, true);
        return HCCL_SUCCESS;
    }
    LOG_ERROR(SHM, "cannot listen for other processes of this host: %s",
              sock_trouble(error, text, sizeof text));
    hc_fd_close(listener.fd);
    listener.fd = -1;
    return HCCL_E_SYSCALL;
}

HcclResult
listen_address(struct tp_address *address)
{
    HcclResult rc = HCCL_SUCCESS;
    int cancel;

    if (!atomic_load_explicit(&started, memory_order_acquire)) {
        cancel = hc_cancel_off();
        pthread_mutex_lock(&lock);
        if (!atomic_load(&started))
            rc = start();
        pthread_mutex_unlock(&lock);
        hc_cancel_restore(cancel);
    }
    if (rc == HCCL_SUCCESS)
        *address = own;
    return rc;
}

HcclResult
tp_listen(struct tp_address *address)
{
    link_read_patience();
    return listen_address(address);
}
