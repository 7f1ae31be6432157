/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * link_io: what goes over the socket of a link.
 *
 * A message goes out at once, by whoever sends it, unless the socket is full; then it waits in the
 * link's queue, in order, for the service thread. So nobody blocks on a peer that does not read,
 * and two service threads never wait for each other. A peer that takes nothing although very much
 * waits is given up.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "transport/host.h"
#include "transport/link_private.h"
#include "transport/numbers.h"
#include "transport/sock.h"

#define READ_BURST 64           /* messages of one link before the others get their turn */
#define SEND_RETRY_NS 10000000u /* the system is out of buffers */

/* ---- out ---- */

/* Whether the socket, or the system, may take it later. */
static bool
is_full(int error)
{
    return error == EAGAIN || error == ENOBUFS || error == ENOMEM || error == ETOOMANYREFS;
}

/* Under link->lock. */
static bool
is_overfull(const struct shm_link *link, bool with_fd)
{
    return link->queue_num >= LINK_QUEUE_MOST || (with_fd && link->queue_fds >= LINK_QUEUE_FDS);
}

/* Under link->lock. */
static HcclResult
put_in_queue(struct shm_link *link, const struct wire_link *message, uint32_t len, int fd)
{
    struct link_out *out = hc_zalloc(sizeof *out + len);
    char text[SOCK_TROUBLE_LEN];

    if (out == NULL)
        return HCCL_E_MEMORY;
    out->fd = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (fd >= 0 && out->fd < 0) {
        LOG_ERROR(SHM, "cannot pass a descriptor: %s", sock_trouble(errno, text, sizeof text));
        hc_free(out);
        return HCCL_E_SYSCALL;
    }
    out->len = len;
    memcpy(out->bytes, message, len);
    link->queue_fds += out->fd >= 0;
    hc_keep(out); /* P4 */
    hc_list_push_back(&link->queue, &out->in_queue);
    if (link->queue_num++ == 0)
        (void)service_rewatch(&link->watch, true);
    return HCCL_SUCCESS;
}

HcclResult
link_put(struct shm_link *link, uint32_t type, const void *body, uint32_t len, int fd)
{
    struct wire_link message = {.type = type, .len = len};
    HcclResult rc = HCCL_SUCCESS;
    int cancel = hc_cancel_off(), error = EAGAIN;

    if (len > 0)
        memcpy(message.body, body, len);
    len += WIRE_LINK_HEAD;
    pthread_mutex_lock(&link->lock);
    if (link->watch.fd < 0) {
        rc = HCCL_E_REMOTE;
    } else if (is_overfull(link, fd >= 0)) {
        rc = HCCL_E_REMOTE;
        link_lost(link);
    } else {
        if (link->queue_num == 0)
            error = sock_send(link->watch.fd, &message, len, fd);
        if (is_full(error))
            rc = put_in_queue(link, &message, len, fd);
        if (rc == HCCL_E_MEMORY)
            link_lost(link);
        if (error != 0 && !is_full(error))
            rc = HCCL_E_REMOTE; /* the service thread sees its end */
    }
    pthread_mutex_unlock(&link->lock);
    hc_cancel_restore(cancel);
    return rc;
}

HcclResult
link_send(struct shm_link *link, enum link_type type, const void *body, uint32_t len, int fd)
{
    if (len > LINK_MSG_MOST) {
        LOG_ERROR(SHM, "a message of %u bytes is longer than %u", len, LINK_MSG_MOST);
        return HCCL_E_INTERNAL;
    }
    return link_state(link) == LINK_UP ? link_put(link, type, body, len, fd) : HCCL_E_REMOTE;
}

/* The first of the queue; 0: sent. Under link->lock. */
static int
send_first(struct shm_link *link)
{
    struct link_out *out = HC_CONTAINER(link->queue.next, struct link_out, in_queue);
    int error = sock_send(link->watch.fd, out->bytes, out->len, out->fd);

    if (is_full(error))
        return error;
    hc_list_remove(&out->in_queue); /* also when the peer is gone: the reader sees that */
    link->queue_num--;
    link->queue_fds -= out->fd >= 0;
    sock_drop(out->fd);
    hc_unkeep(out);
    hc_free(out);
    return 0;
}

void
link_flush(struct shm_link *link)
{
    uint32_t before;
    int error = 0;

    pthread_mutex_lock(&link->lock);
    before = link->queue_num;
    while (link->queue_num > 0 && error == 0)
        error = send_first(link);
    if (before > 0 && error != EAGAIN) /* else, out of buffers, the socket says it is writable */
        (void)service_rewatch(&link->watch, false);
    pthread_mutex_unlock(&link->lock);
    if (error != 0 && error != EAGAIN)
        link_retry_at(link, hc_now_ns() + SEND_RETRY_NS);
}

void
link_knock(struct shm_link *link)
{
    struct shm_segment *peer = link->segment;
    uint32_t sent;

    if (link_state(link) != LINK_UP)
        return;
    sent = atomic_load(&link->knocks);
    if (link->peer_heard != NUMBERS_NONE && atomic_load(&peer->heard[link->peer_heard]) != sent)
        return; /* P5 */
    if (atomic_compare_exchange_strong(&link->knocks, &sent, sent + 1))
        (void)link_put(link, LINK_MSG_KNOCK, NULL, 0, -1);
}

void
link_say_bye(struct shm_link *link)
{
    const struct wire_link bye = {.type = LINK_MSG_BYE};

    if (link_state(link) != LINK_UP || pthread_mutex_trylock(&link->lock) != 0)
        return;
    if (link->watch.fd >= 0)
        (void)sock_send(link->watch.fd, &bye, WIRE_LINK_HEAD, -1);
    pthread_mutex_unlock(&link->lock);
}

/* ---- in ---- */

static void
strange(struct shm_link *link)
{
    link_fail(link, LINK_LOST, "it broke the protocol of hcomm");
}

static void
take_knock(struct shm_link *link)
{
    struct shm_segment *own;
    int fd;

    if (segment_own(&own, &fd) != HCCL_SUCCESS)
        return;
    if (link->heard != NUMBERS_NONE)
        atomic_fetch_add(&own->heard[link->heard], 1);
    atomic_thread_fence(memory_order_seq_cst); /* P5 */
    hc_bell_drain(&own->bell, host_get()->wake);
}

static void
take_up(struct shm_link *link, const struct wire_up *up)
{
    if (link->step != STEP_FILES || link->segment == NULL ||
        (up->heard >= SEGMENT_LINKS && up->heard != NUMBERS_NONE)) {
        strange(link);
        return;
    }
    link->peer_heard = up->heard;
    link_up(link);
}

/* Types of this layer part. false: not one that may come now. */
static bool
take_own(struct shm_link *link, const struct wire_link *message, int fd)
{
    const struct wire_file *file = (const void *)message->body;

    if (message->type == LINK_MSG_FILE && message->len == sizeof *file) {
        files_take(link, file->number, fd);
        return true;
    }
    sock_drop(fd); /* none should have come */
    switch (message->type) {
    case LINK_MSG_FILE_WANT:
    case LINK_MSG_FILE_NONE:
        if (message->len != sizeof *file || link->step != STEP_OPEN)
            return false;
        if (message->type == LINK_MSG_FILE_WANT)
            files_wanted(link, file->number);
        else
            files_none(link, file->number);
        return true;
    case LINK_MSG_UP:
        if (message->len != sizeof(struct wire_up))
            return false;
        take_up(link, (const void *)message->body);
        return true;
    case LINK_MSG_BYE:
        link->left = true;
        return true;
    case LINK_MSG_KNOCK:
        take_knock(link);
        return true;
    default:
        return false;
    }
}

void
link_take(struct shm_link *link, const struct wire_link *message, size_t len, int fd)
{
    if (len < WIRE_LINK_HEAD || message->len != len - WIRE_LINK_HEAD) {
        sock_drop(fd);
        strange(link);
    } else if (message->type == LINK_MSG_CONN && link->step == STEP_OPEN) {
        conn_message(link, message->body, message->len, fd);
    } else if (message->type == LINK_MSG_FOREIGN && link->step == STEP_OPEN) {
        foreign_message(link, message->body, message->len, fd);
    } else if (!take_own(link, message, fd)) {
        strange(link);
    }
}

static void
take_end(struct shm_link *link)
{
    if (link->step < STEP_FILES)
        dial_lost(link);
    else
        link_end_seen(link);
}

/* One message; false: there is none now. */
static bool
read_one(struct shm_link *link)
{
    static union {
        uint64_t align;
        union wire_message handshake;
        struct wire_link message;
    } in; /* the service thread's */
    char text[SOCK_TROUBLE_LEN];
    size_t len = 0;
    int fd;

    switch (sock_recv(link->watch.fd, &in, sizeof in, &len, &fd)) {
    case SOCK_NOTHING:
        return false;
    case SOCK_ENDED:
        take_end(link);
        return false;
    case SOCK_STRANGE:
        strange(link);
        return false;
    case SOCK_NO_ROOM:
        link_fail(link, LINK_REFUSED, "cannot take a descriptor it passed: %s",
                  sock_trouble(EMFILE, text, sizeof text));
        return false;
    case SOCK_MESSAGE:
        break;
    }
    if (link->step >= STEP_FILES) {
        link_take(link, &in.message, len, fd);
    } else {
        sock_drop(fd);
        dial_message(link, &in.handshake, len);
    }
    return true;
}

void
link_event(struct service_watch *watch)
{
    struct shm_link *link = HC_CONTAINER(watch, struct shm_link, watch);

    link_flush(link);
    for (int i = 0; i < READ_BURST && watch->fd >= 0; i++) {
        if (!read_one(link))
            return;
    }
}
