/* SPDX-License-Identifier: BSD-3-Clause */
/* The links of this process: how they begin and end, and what is due. See link.h and
 * link_private.h. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/process.h"
#include "base/thread.h"
#include "transport/host.h"
#include "transport/link_private.h"
#include "transport/numbers.h"
#include "transport/sock.h"

/* Sockets of a process close before it is seen to be dead. The service thread waits that long only
 * for a peer that lives and has closed its link. */
#define DYING_MS 100

/* Taken before any link's lock. */
static pthread_mutex_t links_lock = PTHREAD_MUTEX_INITIALIZER;
static struct hc_list links = {&links, &links}; /* CONNECTING and UP; under links_lock */
static atomic_bool look;                        /* link_tend has something to do */
static uint64_t next_ns = HC_FOREVER;           /* or at this time; service thread */

static uint32_t next_heard[SEGMENT_LINKS]; /* service thread */
static struct numbers heards = {.next = next_heard, .most = SEGMENT_LINKS};

/* Under links_lock. */
static struct shm_link *
find(uint64_t process)
{
    HC_LIST_EACH (node, &links) {
        struct shm_link *link = HC_CONTAINER(node, struct shm_link, in_all);

        if (link->process == process)
            return link;
    }
    return NULL;
}

/* Gives the caller's hold to the service thread. Under links_lock. */
static void
add(struct shm_link *link)
{
    hc_keep(link); /* P4 */
    hc_list_push_back(&links, &link->in_all);
}

/* Somebody used another secret for a process that there is a link to: held, and GONE. */
static struct shm_link *
refused(const struct tp_address *address)
{
    struct shm_link *link = link_create(address->process, address->secret);

    if (link == NULL)
        return NULL;
    LOG_ERROR(SHM, "the address of process %016llx has a wrong secret: is it of another run?",
              (unsigned long long)address->process);
    link->end = LINK_REFUSED;
    link_set_state(link, LINK_GONE);
    return link;
}

static HcclResult
hold_or_dial(const struct tp_address *address, struct shm_link **out)
{
    struct shm_link *fresh = link_create(address->process, address->secret), *found;
    HcclResult rc = fresh == NULL ? HCCL_E_MEMORY : dial_socket(fresh);
    bool same = true;

    if (rc != HCCL_SUCCESS) {
        link_release(fresh);
        return rc;
    }
    pthread_mutex_lock(&links_lock);
    found = find(address->process);
    if (found != NULL) {
        link_hold_more(found);
        same = wire_equal(found->secret, address->secret, TP_SECRET_LEN);
    } else {
        link_hold_more(fresh);
        add(fresh);
        atomic_store(&look, true);
    }
    pthread_mutex_unlock(&links_lock);
    if (found == NULL) {
        service_wake();
        *out = fresh;
        return HCCL_SUCCESS;
    }
    link_release(fresh);
    if (!same) {
        link_release(found);
        found = refused(address);
    }
    *out = found;
    return found == NULL ? HCCL_E_MEMORY : HCCL_SUCCESS;
}

HcclResult
link_hold(const struct tp_address *address, struct shm_link **out)
{
    struct shm_link *found;
    struct tp_address own;
    HcclResult rc = tp_listen(&own);
    int cancel;

    if (rc != HCCL_SUCCESS)
        return rc;
    if (address->process == own.process) {
        LOG_ERROR(SHM, "a link of this process to itself was asked for");
        return HCCL_E_INTERNAL;
    }
    pthread_mutex_lock(&links_lock);
    found = find(address->process);
    if (found != NULL && wire_equal(found->secret, address->secret, TP_SECRET_LEN))
        link_hold_more(found);
    else
        found = NULL;
    pthread_mutex_unlock(&links_lock);
    if (found != NULL) {
        *out = found;
        return HCCL_SUCCESS;
    }
    cancel = hc_cancel_off();
    rc = hold_or_dial(address, out);
    hc_cancel_restore(cancel);
    return rc;
}

/* ---- the ends of a handshake; service thread ---- */

/* What to do with a process that has proven itself and whose link the table has. */
static enum wire_verdict
judge(struct shm_link *known, const uint8_t secret[TP_SECRET_LEN])
{
    if (!wire_equal(known->secret, secret, TP_SECRET_LEN))
        return WIRE_SECRET;
    if (known->step >= STEP_FILES) /* it has one with us already, or had one that broke */
        return sock_ended(known->watch.fd) ? WIRE_WELCOME : WIRE_AGAIN;
    return hc_process_id() < known->process ? WIRE_YIELD : WIRE_WELCOME; /* L1 */
}

/* The link that the descriptor of an accepted process is for. */
static enum wire_verdict
find_or_add(const struct wire_hello *hello, const uint8_t secret[TP_SECRET_LEN],
            struct shm_link **out)
{
    struct shm_link *fresh = link_create(hello->from, secret), *known;
    enum wire_verdict verdict = WIRE_WELCOME;

    if (fresh == NULL)
        return WIRE_AGAIN;
    pthread_mutex_lock(&links_lock);
    known = find(hello->from);
    if (known != NULL)
        verdict = judge(known, secret);
    if (known == NULL)
        add(fresh);
    pthread_mutex_unlock(&links_lock);
    if (known == NULL) {
        *out = fresh;
        return WIRE_WELCOME;
    }
    link_release(fresh);
    if (verdict == WIRE_WELCOME && known->step >= STEP_FILES) {
        link_end_seen(known);
        return WIRE_AGAIN;
    }
    *out = known;
    return verdict;
}

enum wire_verdict
link_accept(const struct wire_hello *hello, const uint8_t secret[TP_SECRET_LEN],
            struct service_watch *watch)
{
    struct wire_verdict_message welcome = {.head = wire_head(WIRE_VERDICT),
                                           .verdict = WIRE_WELCOME};
    struct shm_link *link = NULL;
    enum wire_verdict verdict;
    int error;

    if (sock_ended(watch->fd))
        return WIRE_AGAIN; /* it gave up meanwhile */
    verdict = find_or_add(hello, secret, &link);
    if (verdict != WIRE_WELCOME)
        return verdict;
    service_close(&link->watch); /* an own dial that yields */
    link->retry_ns = HC_FOREVER;
    link->watch.fd = service_take_fd(watch);
    error = service_watch(&link->watch, false);
    if (error == 0)
        error = sock_send(link->watch.fd, &welcome, sizeof welcome, -1);
    if (error != 0) { /* it is new and takes a short message, unless the peer has just gone */
        link_end_seen(link);
        return WIRE_WELCOME;
    }
    link_introduce(link);
    return WIRE_WELCOME;
}

void
link_introduce(struct shm_link *link)
{
    struct shm_segment *own;
    struct wire_up up = {.heard = NUMBERS_NONE};
    pid_t pid;
    uid_t uid;
    int fd;

    sock_peer(link->watch.fd, &pid, &uid);
    atomic_store(&link->pid, pid);
    link->step = STEP_FILES;
    next_ns = 0; /* its deadline counts */
    if (segment_own(&own, &fd) == HCCL_SUCCESS)
        link->heard = numbers_take(&heards);
    if (link->heard != NUMBERS_NONE)
        atomic_store(&own->heard[link->heard], 0);
    up.heard = link->heard;
    files_pass(link);
    (void)link_put(link, LINK_MSG_UP, &up, sizeof up, -1);
}

void
link_up(struct shm_link *link)
{
    link->step = STEP_OPEN;
    link_set_state(link, LINK_UP);
    conn_link_changed(link);
}

/* Frees the messages that were not sent. Under link->lock. */
static void
drop_queue(struct shm_link *link)
{
    struct hc_list *node;

    while ((node = hc_list_pop_front(&link->queue)) != NULL) {
        struct link_out *out = HC_CONTAINER(node, struct link_out, in_queue);

        sock_drop(out->fd);
        hc_unkeep(out);
        hc_free(out);
    }
    link->queue_num = link->queue_fds = 0;
}

static void
bury(struct service_watch *watch)
{
    link_release(HC_CONTAINER(watch, struct shm_link, watch)); /* P2 */
}

void
link_end(struct shm_link *link, enum link_end end)
{
    struct shm_segment *own;
    int fd;

    if (link_state(link) == LINK_GONE)
        return;
    pthread_mutex_lock(&links_lock);
    hc_list_remove(&link->in_all);
    pthread_mutex_unlock(&links_lock);
    pthread_mutex_lock(&link->lock);
    service_close(&link->watch);
    drop_queue(link);
    files_close(link); /* P4 */
    hc_unkeep(link);
    link->end = end;
    link_set_state(link, LINK_GONE);
    pthread_mutex_unlock(&link->lock);
    if (link->heard != NUMBERS_NONE)
        numbers_give(&heards, link->heard);
    if (segment_own(&own, &fd) == HCCL_SUCCESS) {
        hc_bell_ring_all(&own->bell); /* B2 */
        hc_bell_drain(&own->bell, host_get()->wake);
    }
    conn_link_changed(link);
    foreign_link_gone(link);
    link->watch.on_bury = bury;
    service_bury(&link->watch);
}

void
link_end_seen(struct shm_link *link)
{
    enum link_end end = LINK_LEFT;

    if (!link->left)
        end = sock_process_lives(link->pid, DYING_MS) ? LINK_LOST : LINK_DIED;
    link_end(link, end);
}

void
link_fail(struct shm_link *link, enum link_end end, const char *fmt, ...)
{
    char who[LINK_TEXT_LEN], what[256];
    va_list args;

    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    hc_log_elsewhere("SHM", __FILE__, __LINE__, "no link to %s: %s",
                     link_text(link, who, sizeof who), what);
    link_end(link, end);
}

/* ---- what is due ---- */

void
link_retry_at(struct shm_link *link, uint64_t at_ns)
{
    link->retry_ns = at_ns;
    next_ns = at_ns < next_ns ? at_ns : next_ns;
}

void
link_lost(struct shm_link *link)
{
    atomic_store(&link->lost, true);
    atomic_store(&look, true);
    service_wake();
}

static void
tend_one(struct shm_link *link, uint64_t now_ns)
{
    char who[LINK_TEXT_LEN];

    if (atomic_load(&link->lost)) {
        link_fail(link, LINK_REFUSED,
                  "a message to it is lost: it takes none (is it stopped?), or this process is out "
                  "of memory");
    } else if (link->step < STEP_OPEN && now_ns >= link->deadline_ns) {
        link_fail(link, LINK_REFUSED,
                  "it listens, but did not answer within %.1f s: is it stopped, or out of "
                  "descriptors?",
                  (double)link->patience_ms / 1000);
    } else if (link->step < STEP_OPEN && now_ns >= link->slow_ns) {
        link->slow_ns = HC_FOREVER;
        LOG_WARN(SHM,
                 "%s listens, but has not answered for %d s: is it stopped, or out of "
                 "descriptors? It is waited for",
                 link_text(link, who, sizeof who), LINK_HANDSHAKE_MS / 1000);
    } else if (link->step < STEP_FILES) {
        link->retry_ns = HC_FOREVER;
        dial_try(link);
    } else {
        link->retry_ns = HC_FOREVER;
        link_flush(link);
    }
}

/* When it wants to be looked at next. */
static uint64_t
due_ns(const struct shm_link *link)
{
    uint64_t at_ns;

    if (atomic_load(&link->lost))
        return 0;
    at_ns = link->retry_ns;
    if (link->step != STEP_OPEN && link->slow_ns < at_ns)
        at_ns = link->slow_ns;
    if (link->step != STEP_OPEN && link->deadline_ns < at_ns)
        at_ns = link->deadline_ns;
    return at_ns;
}

/* The first link with something to do, held; or NULL. */
static struct shm_link *
next_due(uint64_t now_ns)
{
    struct shm_link *due = NULL;

    pthread_mutex_lock(&links_lock);
    next_ns = HC_FOREVER;
    HC_LIST_EACH (node, &links) {
        struct shm_link *link = HC_CONTAINER(node, struct shm_link, in_all);
        uint64_t at_ns = due_ns(link);

        if (at_ns <= now_ns) {
            link_hold_more(link);
            due = link;
            break;
        }
        next_ns = at_ns < next_ns ? at_ns : next_ns;
    }
    pthread_mutex_unlock(&links_lock);
    return due;
}

uint64_t
link_tend(uint64_t now_ns)
{
    struct shm_link *link;

    if (!atomic_exchange(&look, false) && now_ns < next_ns)
        return next_ns;
    while ((link = next_due(now_ns)) != NULL) {
        tend_one(link, now_ns);
        link_release(link);
    }
    return next_ns;
}

/* L3: at exit, best effort: who has a lock may be gone already. */
__attribute__((destructor)) static void
leave(void)
{
    if (hc_in_forked_child() || pthread_mutex_trylock(&links_lock) != 0)
        return;
    HC_LIST_EACH (node, &links)
        link_say_bye(HC_CONTAINER(node, struct shm_link, in_all));
    pthread_mutex_unlock(&links_lock);
}
