/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bounce_serve: the side of a bounce whose memory it is.
 *
 * One thread, started with the first lane, serves the lanes of all peers. It is not the service
 * thread: a copy may wait for a page that is far away, and deaths and knocks must not wait for
 * that. The service thread brings it lanes and wakes it.
 *
 * The thread copies with pread and pwrite on the lane's file: the kernel does it, so memory that is
 * not there is an answer and not a fault. Lanes take turns of a few pieces each.
 *
 * V1  What is asked lies in memory that the peer writes at any time: each field is read once, then
 *     checked. Only memory that is offered under the lease is touched (offer.c).
 * V2  Who asks marks the piece ASKED, then reads `awake`; the thread clears `awake`, then looks at
 *     the pieces once more (all seq_cst). So either it sees the piece or it is sent a LOOK.
 * V3  The service thread only marks a lane as ended; the thread frees it, so it needs no lock while
 *     it copies.
 * V4  An answer is written before the state says so (seq_cst). Who asked has raised SLEEPER before
 *     it sleeps, or finds the state changed.
 * V5  What serves a lane belongs to the peer's doing: it is for the life of the process (hc_keep)
 *     until the lane ends, and is freed then.
 */
#define _GNU_SOURCE
#include "transport/bounce.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/futex.h"
#include "base/list.h"
#include "base/log.h"
#include "base/thread.h"
#include "transport/offer.h"

#define LANES_MOST 8u /* of one peer; it needs one, and two while it changes them */
#define TURN 4u       /* pieces */
#define LINGER_NS                                                                                  \
    50000u /* the thread looks that long for the next piece: waking it takes as long */

struct served {
    struct hc_list in_all;    /* under lock */
    struct shm_link *link;    /* only compared; fixed */
    uint32_t number;          /* fixed */
    int fd;                   /* fixed */
    struct bounce_lane *lane; /* fixed */
    uint32_t next;            /* the thread's */
    bool awake;               /* the thread looks at it; under lock */
    bool ended;               /* under lock; V3 */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* a leaf but for allocation */
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;   /* a lane is awake or ended */
static struct hc_list all = {&all, &all};                /* of struct served; under lock */
static bool started;                                     /* under lock */
static atomic_bool has_refused; /* so it has been said: a peer may ask without end */

/* Copies between the file and own memory; V1 has been looked after. By plain system calls: these
 * are accesses of the peer, ordered by what it does, so a sanitizer must not take them for ours. */
static enum bounce_answer
copy(int fd, off_t at, bool write, uint64_t addr, uint32_t len)
{
    char *memory = (char *)(uintptr_t)addr;
    uint32_t done = 0;

    while (done < len) {
        long got = syscall(write ? SYS_pread64 : SYS_pwrite64, fd, memory + done,
                           (size_t)(len - done), at + done);

        if (got > 0)
            done += (uint32_t)got;
        else if (got == 0 || errno != EINTR)
            return got < 0 && errno == EFAULT ? BOUNCE_NOT_THERE : BOUNCE_FAILED;
    }
    return BOUNCE_DONE;
}

static void
answer(struct bounce_lane *lane, int fd, uint32_t index)
{
    struct bounce_piece *piece = &lane->pieces[index];
    uint32_t write = atomic_load_explicit(&piece->write, memory_order_relaxed); /* V1 */
    uint32_t len = atomic_load_explicit(&piece->len, memory_order_relaxed);
    uint64_t addr = atomic_load_explicit(&piece->addr, memory_order_relaxed);
    uint64_t lease = atomic_load_explicit(&piece->lease, memory_order_relaxed);
    off_t at = (off_t)BOUNCE_HEAD_LEN + (off_t)index * BOUNCE_PIECE_LEN;
    enum bounce_answer result = BOUNCE_BAD;

    if (write <= 1 && len <= BOUNCE_PIECE_LEN) {
        result = BOUNCE_NOT_OFFERED;
        if (offer_enter(lease, addr, len)) {
            result = copy(fd, at, write != 0, addr, len);
            offer_leave();
        }
    }
    atomic_store_explicit(&piece->answer, result, memory_order_relaxed);
    if ((atomic_exchange(&piece->state, PIECE_ANSWERED) & PIECE_SLEEPER) != 0) /* V4 */
        hc_futex_wake_shared(&piece->state, 1);
}

static bool
is_asked(struct bounce_lane *lane, uint32_t index)
{
    return (atomic_load(&lane->pieces[index].state) & ~PIECE_SLEEPER) == PIECE_ASKED;
}

uint32_t
serve_pieces(struct bounce_lane *lane, int fd, uint32_t *next, uint32_t most)
{
    uint32_t done = 0, begin = *next;

    for (uint32_t i = 0; i < BOUNCE_PIECES && done < most; i++) {
        uint32_t index = (begin + i) % BOUNCE_PIECES;

        if (!is_asked(lane, index))
            continue;
        answer(lane, fd, index);
        *next = (index + 1) % BOUNCE_PIECES;
        done++;
    }
    return done;
}

/* ---- The thread ---- */

static void
served_destroy(struct served *served)
{
    if (served == NULL)
        return;
    if (served->lane != NULL)
        (void)munmap(served->lane, BOUNCE_HEAD_LEN);
    if (served->fd >= 0)
        (void)close(served->fd);
    hc_free(served);
}

/* A turn for each lane that is awake; how many pieces were done. Under lock, which it gives up
 * meanwhile. */
static uint32_t
serve_round(void)
{
    uint32_t done = 0;

    HC_LIST_EACH_SAFE (node, &all) {
        struct served *served = HC_CONTAINER(node, struct served, in_all);

        if (served->awake && !served->ended) {
            pthread_mutex_unlock(&lock);
            done += serve_pieces(served->lane, served->fd, &served->next, TURN);
            pthread_mutex_lock(&lock);
            node_next = node->next; /* lanes may have come */
        }
        if (served->ended) {
            hc_list_remove(node);
            hc_unkeep(served); /* V5 */
            served_destroy(served);
        }
    }
    return done;
}

/* Lets the lanes go that have nothing to do. true: all have. Under lock. */
static bool
let_go(void)
{
    bool none = true;

    HC_LIST_EACH (node, &all) {
        struct served *served = HC_CONTAINER(node, struct served, in_all);

        if (served->ended)
            none = false;
        if (served->ended || !served->awake)
            continue;
        atomic_store(&served->lane->awake, 0); /* V2 */
        served->awake = false;
        for (uint32_t i = 0; i < BOUNCE_PIECES; i++)
            served->awake = served->awake || is_asked(served->lane, i);
        if (served->awake) {
            atomic_store(&served->lane->awake, 1);
            none = false;
        }
    }
    return none;
}

static void *
serve(void *arg)
{
    uint64_t idle_since = hc_now_ns();

    (void)arg;
    pthread_mutex_lock(&lock);
    for (;;) {
        if (serve_round() > 0) {
            idle_since = hc_now_ns();
            continue;
        }
        if (hc_now_ns() - idle_since >= LINGER_NS && let_go()) {
            pthread_cond_wait(&work, &lock);
            idle_since = hc_now_ns();
            continue;
        }
        pthread_mutex_unlock(&lock);
        (void)sched_yield();
        pthread_mutex_lock(&lock);
    }
    return NULL;
}

/* ---- The service thread ---- */

/* Under lock. */
static struct served *
find(const struct shm_link *link, uint32_t number)
{
    HC_LIST_EACH (node, &all) {
        struct served *served = HC_CONTAINER(node, struct served, in_all);

        if (served->link == link && served->number == number && !served->ended)
            return served;
    }
    return NULL;
}

static uint32_t
lanes_of(const struct shm_link *link)
{
    uint32_t count = 0;

    pthread_mutex_lock(&lock);
    HC_LIST_EACH (node, &all)
        count += HC_CONTAINER(node, struct served, in_all)->link == link;
    pthread_mutex_unlock(&lock);
    return count;
}

/* A file that can be mapped without fear: of that length for ever. */
static bool
is_sound(int fd, uint64_t len, uint64_t piece_len)
{
    struct stat st;
    int seals;

    if (fd < 0 || len != BOUNCE_FILE_LEN || piece_len != BOUNCE_PIECE_LEN)
        return false;
    seals = fcntl(fd, F_GET_SEALS);
    return seals >= 0 && (seals & F_SEAL_SHRINK) != 0 && (seals & F_SEAL_WRITE) == 0 &&
           fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == (off_t)len;
}

/* Why it cannot be; NULL: it is served. Takes `fd` in either case. */
static const char *
take_lane(struct shm_link *link, uint32_t number, int fd)
{
    struct served *served = hc_zalloc(sizeof *served);
    const char *why = NULL;
    int error = 0;

    if (served == NULL) {
        (void)close(fd);
        return "no memory";
    }
    *served = (struct served){.link = link, .number = number, .fd = fd, .awake = true};
    served->lane = mmap(NULL, BOUNCE_HEAD_LEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (served->lane == MAP_FAILED) {
        served->lane = NULL;
        served_destroy(served);
        return strerror(errno);
    }
    hc_keep(served); /* V5 */
    pthread_mutex_lock(&lock);
    if (!started)
        error = hc_thread_start(serve, NULL);
    if (error == 0) {
        started = true;
        hc_list_push_back(&all, &served->in_all);
        pthread_cond_signal(&work);
    } else {
        why = strerror(error);
    }
    pthread_mutex_unlock(&lock);
    if (why == NULL)
        return NULL;
    hc_unkeep(served);
    served_destroy(served);
    return why;
}

void
serve_lane(struct shm_link *link, uint32_t number, int fd, uint64_t len, uint64_t piece_len)
{
    const char *why = NULL;

    if (!is_sound(fd, len, piece_len))
        why = fd < 0 ? "its file did not arrive; see `ulimit -n`" : "its file is not as agreed";
    else if (lanes_of(link) >= LANES_MOST)
        why = "it has too many";
    if (why == NULL) {
        why = take_lane(link, number, fd);
        fd = -1;
    }
    if (fd >= 0)
        (void)close(fd);
    if (why == NULL)
        return;
    if (!atomic_exchange_explicit(&has_refused, true, memory_order_relaxed))
        LOG_WARN(SHM, "process %d is refused a bounce buffer: %s", (int)link_pid(link), why);
    (void)foreign_send(link, FOREIGN_REFUSED, number, 0, 0, -1);
}

void
serve_look(struct shm_link *link, uint32_t number)
{
    struct served *served;

    pthread_mutex_lock(&lock);
    served = find(link, number);
    if (served != NULL) {
        served->awake = true;
        pthread_cond_signal(&work);
    }
    pthread_mutex_unlock(&lock);
}

void
serve_end(struct shm_link *link, uint32_t number)
{
    struct served *served;

    pthread_mutex_lock(&lock);
    served = find(link, number);
    if (served != NULL) {
        served->ended = true; /* V3 */
        pthread_cond_signal(&work);
    }
    pthread_mutex_unlock(&lock);
}

void
serve_link_gone(struct shm_link *link)
{
    pthread_mutex_lock(&lock);
    HC_LIST_EACH (node, &all) {
        struct served *served = HC_CONTAINER(node, struct served, in_all);

        if (served->link == link)
            served->ended = true; /* V3 */
    }
    pthread_cond_signal(&work);
    pthread_mutex_unlock(&lock);
}
