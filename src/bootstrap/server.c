/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "bootstrap/server.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/thread.h"
#include "bootstrap/fd_limit.h"

#define LINGER_MS 20000 /* for telling ranks the outcome */
#define EVENTS 64
#define PENDING_MOST 1024u  /* unproven connections of the process... */
#define PENDING_PART 4u     /* ...and what part of its descriptors they may take */
#define ACCEPT_PAUSE_MS 100 /* out of descriptors */
#define ACCEPT_BURST 64     /* connections taken before others get their turn */

/* All under session_lock(); the descriptors are open while `running`. */
static struct {
    bool running;
    int epoll_fd;
    int wake_fd;
    uint32_t pending_most; /* set at the start of the thread */
    struct hc_list sessions;
} server = {.sessions = {&server.sessions, &server.sessions}};

void
server_wake(void)
{
    uint64_t one = 1;

    if (server.running && write(server.wake_fd, &one, sizeof one) < 0)
        return; /* EAGAIN: it is being woken already */
}

struct session *
server_find(const char *id)
{
    HC_LIST_EACH (node, &server.sessions) {
        struct session *session = HC_CONTAINER(node, struct session, in_all);

        if (memcmp(session->info.id, id, ID_LEN) == 0)
            return session;
    }
    return NULL;
}

/* The listening socket's events carry the session, marked by the lowest bit. */
static void
watch_listener(const struct session *session, int op, bool on)
{
    struct epoll_event event = {.events = on ? EPOLLIN : 0,
                                .data.u64 = (uint64_t)(uintptr_t)session | 1};

    (void)epoll_ctl(server.epoll_fd, op, session->listen_fd, &event);
}

/* Out of descriptors or memory: makes room, and tries again soon. */
static void
pause_accepting(struct session *session, int error)
{
    char text[FD_ERROR_LEN];

    if (!session->was_short)
        LOG_WARN(BOOT, "%s: cannot take ranks in for the moment: %s", session->info.id,
                 fd_error_text(error, text));
    session->was_short = true;
    conn_drop_slow(session);
    session->accept_at_ns = hc_deadline_ms(ACCEPT_PAUSE_MS);
    watch_listener(session, EPOLL_CTL_MOD, false);
}

static void
accept_some(struct session *session)
{
    for (int i = 0; i < ACCEPT_BURST && session->listen_fd >= 0; i++) {
        struct sockaddr_storage peer = {0};
        socklen_t len = sizeof peer;
        int fd = hc_fd_accept(session->listen_fd, (struct sockaddr *)&peer, &len);

        if (fd >= 0) {
            if (conn_pending() >= server.pending_most)
                conn_drop_oldest(session, "too many unproven connections");
            conn_accept(session, server.epoll_fd, fd, &peer);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
            pause_accepting(session, errno);
            return;
        } else if (errno != EINTR && errno != ECONNABORTED) {
            return; /* nobody is left in the queue */
        }
    }
}

static void
close_listener(struct session *session)
{
    if (session->listen_fd >= 0)
        hc_fd_close(session->listen_fd);
    session->listen_fd = -1;
}

/* The end: S2. */
static void
retire(struct session *session)
{
    conn_drop_all(session);
    close_listener(session);
    hc_list_remove(&session->in_all);
    session_bury(session);
    if (session->strangers > 0)
        LOG_INFO(BOOT, "%s: %u strange connections were turned away", session->info.id,
                 session->strangers);
    if (session->state == SESSION_FAILED && session->refs == 1)
        LOG_WARN(BOOT, "%s: %s", session->info.id, session->why); /* nobody here to return it to */
    session->retired = true;
    pthread_cond_broadcast(&session->changed);
    session_release(session);
}

static void
earlier(uint64_t *next_ns, uint64_t at_ns)
{
    if (at_ns < *next_ns)
        *next_ns = at_ns;
}

/* Does what is due for one session; *next_ns: when to look again. */
static void
tend(struct session *session, uint64_t now_ns, uint64_t *next_ns)
{
    if (session->state == SESSION_COLLECTING && now_ns >= session->deadline_ns)
        session_expire(session);
    if (session->state != SESSION_COLLECTING && !session->telling) {
        close_listener(session);
        session->linger_ns = hc_deadline_ms(LINGER_MS);
        conn_tell_all(session);
    }
    if (session->telling &&
        (hc_list_empty(&session->joined_conns) || now_ns >= session->linger_ns)) {
        retire(session);
        return;
    }
    while (conn_oldest_deadline(session) <= now_ns)
        conn_drop_oldest(session, "no proof in time");
    if (session->accept_at_ns != 0 && now_ns >= session->accept_at_ns && session->listen_fd >= 0) {
        session->accept_at_ns = 0;
        watch_listener(session, EPOLL_CTL_MOD, true);
    }
    earlier(next_ns, session->telling ? session->linger_ns : session->deadline_ns);
    earlier(next_ns, conn_oldest_deadline(session));
    if (session->accept_at_ns != 0)
        earlier(next_ns, session->accept_at_ns);
}

/* Milliseconds until the next thing is due; -1: for ever. */
static int
tend_all(void)
{
    uint64_t now_ns = hc_now_ns(), next_ns = HC_FOREVER, wait_ms;

    HC_LIST_EACH_SAFE (node, &server.sessions)
        tend(HC_CONTAINER(node, struct session, in_all), now_ns, &next_ns);
    conn_free_dropped();
    if (next_ns == HC_FOREVER)
        return -1;
    wait_ms = next_ns <= now_ns ? 0 : (next_ns - now_ns) / 1000000u + 1;
    return wait_ms > 60000 ? 60000 : (int)wait_ms;
}

static void
handle(const struct epoll_event *event)
{
    uint64_t word = event->data.u64;

    if (word == 0) {
        uint64_t count;

        if (read(server.wake_fd, &count, sizeof count) < 0)
            return; /* taken already */
    } else if ((word & 1) != 0) {
        accept_some((struct session *)(uintptr_t)(word & ~1ull));
    } else {
        conn_event((void *)(uintptr_t)word);
    }
}

static void
stop(void)
{
    hc_fd_close(server.epoll_fd);
    hc_fd_close(server.wake_fd);
    server.running = false;
}

static void *
serve(void *unused)
{
    struct epoll_event events[EVENTS];

    (void)unused;
    session_lock();
    for (;;) {
        int wait_ms = tend_all();
        int num, epoll_fd = server.epoll_fd;

        if (hc_list_empty(&server.sessions))
            break;
        session_unlock();
        num = epoll_wait(epoll_fd, events, EVENTS, wait_ms);
        session_lock();
        for (int i = 0; i < num; i++)
            handle(&events[i]);
    }
    stop();
    session_unlock();
    return NULL;
}

/* A detached thread that no signal is delivered to. */
static HcclResult
start_thread(void)
{
    int error = hc_thread_start(serve, NULL);

    if (error != 0) {
        LOG_ERROR(BOOT, "cannot start the thread that ranks join at: %s", strerror(error));
        return HCCL_E_SYSCALL;
    }
    return HCCL_SUCCESS;
}

static HcclResult
start(void)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = 0};
    uint64_t part = fd_limit() / PENDING_PART;
    char text[FD_ERROR_LEN];
    HcclResult rc;

    server.pending_most = part > PENDING_MOST ? PENDING_MOST : (uint32_t)part + 1;

    server.epoll_fd = hc_fd_epoll();
    server.wake_fd = hc_fd_event();
    if (server.epoll_fd < 0 || server.wake_fd < 0 ||
        epoll_ctl(server.epoll_fd, EPOLL_CTL_ADD, server.wake_fd, &event) != 0) {
        LOG_ERROR(BOOT, "cannot watch sockets: %s", fd_error_text(errno, text));
        rc = HCCL_E_SYSCALL;
    } else {
        rc = start_thread();
    }
    if (rc == HCCL_SUCCESS) {
        server.running = true;
        return rc;
    }
    if (server.epoll_fd >= 0)
        hc_fd_close(server.epoll_fd);
    if (server.wake_fd >= 0)
        hc_fd_close(server.wake_fd);
    return rc;
}

HcclResult
server_add(struct session *session)
{
    HcclResult rc = HCCL_SUCCESS;

    hc_list_push_back(&server.sessions, &session->in_all);
    if (!server.running)
        rc = start(); /* it waits for the lock, which the caller has */
    if (rc != HCCL_SUCCESS) {
        hc_list_remove(&session->in_all);
        close_listener(session);
        session_release(session);
        return rc;
    }
    watch_listener(session, EPOLL_CTL_ADD, true);
    server_wake();
    return HCCL_SUCCESS;
}
