/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_serve: process 0 of a job offers root infos. A thread answers at the job's meeting place; it
 * is there while something is offered that not all processes have.
 *
 * V1  All state is under `lock`, which is held for moments. The thread alone closes the place,
 * under the lock, when there is nothing to offer and nobody about to offer (`begun`). V2  Only
 * processes of this user are listened to. A guest that says nothing, or nonsense, costs one
 *     descriptor for GUEST_MS at most, and at most GUESTS of them are kept: the oldest goes.
 * V3  An offer ends when every process has fetched it, or when it is so old that the communicator
 *     could not be made any more.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/list.h"
#include "base/log.h"
#include "base/thread.h"
#include "bootstrap/job_meet.h"

#define GUESTS 64
#define GUEST_MS 2000
#define TAKEN_MS 2000  /* how long a predecessor may take to give the place up */
#define CROWDED_MS 100 /* out of descriptors: how long to wait before somebody is let in */

struct offer {
    struct hc_list in_all;
    uint32_t call, processes, fetched;
    uint64_t deadline_ns;
    HcclRootInfo info;
    pid_t who[]; /* [processes]: who has fetched it; 0: nobody yet */
};

struct guest {
    int fd;
    uint64_t deadline_ns;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    bool serving; /* the thread is there, and what follows is valid */
    bool begun;   /* an offer is being made */
    int listen_fd, wake_fd;
    uint32_t offered;      /* calls below this number were offered */
    struct hc_list offers; /* of struct offer */
} place;                   /* V1 */

/* ---- the thread ---- */

static struct offer *
find_offer(uint32_t call)
{
    HC_LIST_EACH (at, &place.offers) {
        struct offer *offer = HC_CONTAINER(at, struct offer, in_all);

        if (offer->call == call)
            return offer;
    }
    return NULL;
}

static void
end_offer(struct offer *offer)
{
    hc_list_remove(&offer->in_all);
    hc_free(offer);
}

/* Fills in the answer; the offer that it is from, NULL: none. Under `lock`. */
static struct offer *
answer_to(const struct meet_question *question, pid_t pid, struct meet_answer *answer)
{
    struct offer *offer = find_offer(question->call);
    pid_t who;

    if (offer == NULL) {
        answer->verdict = question->call < place.offered ? MEET_OVER : MEET_NOT_YET;
        return NULL;
    }
    if (question->processes != offer->processes || question->process >= offer->processes) {
        answer->verdict = MEET_COUNT;
        answer->value = offer->processes;
        return NULL;
    }
    who = question->process == 0 ? getpid() : offer->who[question->process];
    if (who != 0 && who != pid) {
        answer->verdict = MEET_TWICE;
        answer->value = (uint32_t)who;
        return NULL;
    }
    answer->verdict = MEET_INFO;
    answer->info = offer->info;
    return offer;
}

/* One guest's question, if it is there; false: the guest has nothing more to say. */
static bool
serve_guest(int fd)
{
    struct meet_answer answer = {.magic = MEET_MAGIC, .version = MEET_VERSION};
    struct meet_question question;
    struct offer *offer;
    struct ucred peer;
    ssize_t n = recv(fd, &question, sizeof question, MSG_TRUNC | MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    if (n != (ssize_t)sizeof question || question.magic != MEET_MAGIC || !meet_peer(fd, &peer)) {
        if (n != 0)
            LOG_WARN(JOB, "somebody at the job's meeting place speaks another language: ignored");
        return false;
    }
    pthread_mutex_lock(&lock);
    offer = answer_to(&question, peer.pid, &answer);
    if (send(fd, &answer, sizeof answer, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof answer &&
        offer != NULL && offer->who[question.process] == 0) {
        offer->who[question.process] = peer.pid > 0 ? peer.pid : -1;
        if (++offer->fetched == offer->processes - 1)
            end_offer(offer); /* V3 */
    }
    pthread_mutex_unlock(&lock);
    return false;
}

/* The thread ends: there is nothing to offer (V1). */
static bool
close_if_idle(void)
{
    uint64_t now_ns = hc_now_ns();

    pthread_mutex_lock(&lock);
    HC_LIST_EACH_SAFE (at, &place.offers) {
        struct offer *offer = HC_CONTAINER(at, struct offer, in_all);

        if (now_ns < offer->deadline_ns)
            continue;
        LOG_WARN(JOB, "%u of %u processes of the job did not fetch root info %u in time",
                 offer->processes - 1 - offer->fetched, offer->processes, offer->call + 1);
        end_offer(offer); /* V3 */
    }
    if (!place.begun && hc_list_empty(&place.offers)) {
        hc_fd_close(place.listen_fd);
        hc_fd_close(place.wake_fd);
        place.serving = false;
    }
    bool closed = !place.serving;
    pthread_mutex_unlock(&lock);
    return closed;
}

struct guests {
    struct guest at[GUESTS]; /* oldest first */
    nfds_t num;
    uint64_t crowded_until_ns; /* out of descriptors; 0: not */
};

static void
drop_guest(struct guests *guests, nfds_t i)
{
    hc_fd_close(guests->at[i].fd);
    memmove(&guests->at[i], &guests->at[i + 1], (guests->num - i - 1) * sizeof guests->at[0]);
    guests->num--;
}

static void
let_in(struct guests *guests, int listen_fd)
{
    struct ucred peer;
    int fd;

    while ((fd = hc_fd_accept(listen_fd, NULL, NULL)) >= 0) {
        if (!meet_peer(fd, &peer) || peer.uid != geteuid() || !serve_guest(fd)) {
            hc_fd_close(fd); /* V2 */
            continue;
        }
        if (guests->num == GUESTS)
            drop_guest(guests, 0);
        guests->at[guests->num++] =
            (struct guest){.fd = fd, .deadline_ns = hc_deadline_ms(GUEST_MS)};
    }
    if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
        guests->crowded_until_ns = hc_deadline_ms(CROWDED_MS);
}

/* Waits for something to do. */
static void
wait_for_guests(struct guests *guests, int listen_fd, int wake_fd)
{
    struct pollfd fds[GUESTS + 2] = {{.fd = wake_fd, .events = POLLIN}};
    nfds_t num = guests->num;
    uint64_t wakes;

    if (guests->crowded_until_ns <= hc_now_ns())
        guests->crowded_until_ns = 0;
    fds[1] = (struct pollfd){.fd = guests->crowded_until_ns > 0 ? -1 : listen_fd, .events = POLLIN};
    for (nfds_t i = 0; i < num; i++)
        fds[i + 2] = (struct pollfd){.fd = guests->at[i].fd, .events = POLLIN};
    if (poll(fds, num + 2, num > 0 || guests->crowded_until_ns > 0 ? CROWDED_MS : 1000) < 0)
        return;
    if (fds[0].revents != 0)
        (void)!read(wake_fd, &wakes, sizeof wakes);
    for (nfds_t i = num; i-- > 0;) {
        bool late = hc_now_ns() >= guests->at[i].deadline_ns;

        if (fds[i + 2].revents != 0 ? !serve_guest(guests->at[i].fd) || late : late)
            drop_guest(guests, i);
    }
    if (fds[1].revents != 0)
        let_in(guests, listen_fd);
}

static void *
serve_main(void *arg)
{
    struct guests guests = {.num = 0};
    int listen_fd, wake_fd;

    (void)arg;
    pthread_mutex_lock(&lock);
    listen_fd = place.listen_fd;
    wake_fd = place.wake_fd;
    pthread_mutex_unlock(&lock);
    while (!close_if_idle())
        wait_for_guests(&guests, listen_fd, wake_fd);
    while (guests.num > 0)
        drop_guest(&guests, guests.num - 1);
    return NULL;
}

/* ---- who offers ---- */

static HcclResult
fail_taken(const struct job *job, const struct sockaddr_un *addr, socklen_t len)
{
    struct ucred peer = {.pid = 0};
    int fd = meet_socket();

    if (fd >= 0 && connect(fd, (const struct sockaddr *)addr, len) == 0)
        (void)meet_peer(fd, &peer);
    if (fd >= 0)
        hc_fd_close(fd);
    LOG_ERROR(JOB,
              "the meeting place of this %s job is taken by process %d: two jobs have the same "
              "HCOMM_JOB_ID, or two processes have number 0",
              job_launcher_name(job->launcher), (int)peer.pid);
    return HCCL_E_TCP_CONNECT;
}

/* A listening socket; -1 (logged). */
static HcclResult
open_place(const struct job *job, int *listen_fd)
{
    uint64_t deadline_ns = hc_deadline_ms(TAKEN_MS);
    struct sockaddr_un addr;
    socklen_t len = meet_address(&addr, job);
    int fd = meet_socket(), error = 0;

    if (fd < 0)
        return HCCL_E_SYSCALL;
    while (bind(fd, (const struct sockaddr *)&addr, len) != 0) {
        error = errno;
        if (error != EADDRINUSE || hc_now_ns() >= deadline_ns)
            break;
        error = 0;
        (void)poll(NULL, 0, 20);
    }
    if (error == 0 && listen(fd, SOMAXCONN) != 0)
        error = errno;
    if (error == 0) {
        *listen_fd = fd;
        return HCCL_SUCCESS;
    }
    hc_fd_close(fd);
    if (error == EADDRINUSE)
        return fail_taken(job, &addr, len);
    LOG_ERROR(JOB, "cannot open a place for the processes of the job to meet: %s", strerror(error));
    return HCCL_E_SYSCALL;
}

/* The place and its thread. */
static HcclResult
open_all(const struct job *job)
{
    int listen_fd = -1, wake_fd = hc_fd_event(), error;
    HcclResult rc;

    if (wake_fd < 0) {
        LOG_ERROR(JOB, "cannot make an event descriptor: %s", strerror(errno));
        return HCCL_E_SYSCALL;
    }
    rc = open_place(job, &listen_fd);
    if (rc != HCCL_SUCCESS) {
        hc_fd_close(wake_fd);
        return rc;
    }
    pthread_mutex_lock(&lock);
    place.listen_fd = listen_fd;
    place.wake_fd = wake_fd;
    hc_list_init(&place.offers);
    error = hc_thread_start(serve_main, NULL); /* it waits for the lock first */
    place.serving = place.begun = error == 0;
    pthread_mutex_unlock(&lock);
    if (error == 0)
        return HCCL_SUCCESS;
    hc_fd_close(listen_fd);
    hc_fd_close(wake_fd);
    LOG_ERROR(JOB, "cannot start the thread that answers the processes of the job: %s",
              strerror(error));
    return HCCL_E_SYSCALL;
}

HcclResult
serve_begin(const struct job *job, uint32_t call, struct offer **out)
{
    struct offer *offer = hc_zalloc(sizeof *offer + job->processes * sizeof offer->who[0]);
    HcclResult rc = HCCL_SUCCESS;
    bool open;

    if (offer == NULL)
        return HCCL_E_MEMORY;
    offer->call = call;
    offer->processes = job->processes;
    pthread_mutex_lock(&lock);
    open = place.begun = place.serving; /* V1: it stays open */
    pthread_mutex_unlock(&lock);
    if (!open)
        rc = open_all(job);
    if (rc != HCCL_SUCCESS) {
        hc_free(offer);
        return rc;
    }
    *out = offer;
    return HCCL_SUCCESS;
}

/* Under `lock`. */
static void
end_begin(void)
{
    uint64_t one = 1;

    place.begun = false;
    (void)!write(place.wake_fd, &one, sizeof one);
}

void
serve_offer(struct offer *offer, const HcclRootInfo *info, int64_t timeout_ms)
{
    offer->deadline_ns = hc_deadline_ms(timeout_ms);
    offer->info = *info;
    pthread_mutex_lock(&lock);
    hc_list_push_back(&place.offers, &offer->in_all);
    place.offered = offer->call + 1;
    end_begin();
    pthread_mutex_unlock(&lock);
}

void
serve_none(struct offer *offer)
{
    pthread_mutex_lock(&lock);
    end_begin();
    pthread_mutex_unlock(&lock);
    hc_free(offer);
}
