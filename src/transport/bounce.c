/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bounce: the side of a bounce that asks.
 *
 * The lane is a memfd of a head and BOUNCE_PIECES pieces, made here, mapped here as a whole, and
 * passed to the peer once. A thread claims a free piece, fills it (write), says in the piece's
 * header what is to be done, and marks it ASKED; the peer's thread does it and marks it ANSWERED;
 * the same thread takes the bytes out (read) and frees it. A thread keeps several pieces in flight,
 * so that both sides copy at the same time. Pieces are independent, so threads share a lane without
 * knowing of each other.
 *
 * A1  A piece belongs to who has claimed it. It is freed by its owner after the answer only: the
 *     peer writes to no piece that somebody else has meanwhile, and to own memory never.
 * A2  The lane has `ended`, for ever, when answers may fail to come: the link is gone, the peer has
 *     refused, or did not answer in time. Who waits looks at it each time it wakes.
 * A3  A thread with nothing in flight may wait for a piece, one with something may not: it waits
 *     for its own answers instead. So somebody always goes on. It claims no more while others wait.
 * A4  See V2 of bounce_serve.c: ASKED before `awake` is read.
 */
#define _GNU_SOURCE
#include "transport/bounce.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/futex.h"
#include "base/knobs.h"
#include "base/log.h"
#include "copy/copy.h"

#define ALL_FREE ((1u << BOUNCE_PIECES) - 1)
#define SPIN_NS 30000u /* about what a piece takes */
#define LOOK_MS 1000   /* a sleeper looks that often whether the link is there */
#define NO_PIECE BOUNCE_PIECES

enum bounce_end { GOES_ON, GONE, REFUSED, LATE };

struct bounce {
    struct shm_link *link;    /* borrowed; fixed */
    uint32_t number;          /* fixed */
    int fd;                   /* until it is passed */
    bool passed;              /* the peer knows of the lane */
    struct bounce_lane *lane; /* BOUNCE_FILE_LEN; the peer writes to it too */
    uint64_t patience_ns;     /* how long to wait for an answer; HC_FOREVER; fixed */
    uint64_t warn_ns;         /* a longer wait is reported; 0: never; fixed */
    _Atomic int ended;        /* enum bounce_end; A2 */
    pthread_mutex_t lock;     /* a leaf */
    pthread_cond_t freed;
    uint32_t free;    /* bit for each piece; under lock */
    uint32_t waiting; /* threads that wait for one; under lock */
};

/* A piece that a thread has in flight. */
struct flight {
    uint32_t index, len;
    char *local;
};

static atomic_uint last_number;

/* The file, sealed; mapped at *lane. Its descriptor, -1 (logged). */
static int
make_file(struct bounce_lane **lane)
{
    int fd = hc_fd_high(memfd_create("hcomm-bounce", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    void *base = MAP_FAILED;

    if (fd >= 0 && ftruncate(fd, BOUNCE_FILE_LEN) == 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        base = mmap(NULL, BOUNCE_FILE_LEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED) {
        LOG_ERROR(SHM, "cannot make a bounce buffer of %u bytes: %s", BOUNCE_FILE_LEN,
                  strerror(errno));
        if (fd >= 0)
            (void)close(fd);
        return -1;
    }
    *lane = base;
    return fd;
}

HcclResult
bounce_open(struct shm_link *link, struct bounce **out)
{
    struct bounce *bounce;
    int64_t patience_s, warn_s;
    HcclResult rc;

    rc = hc_knob_int(KNOB_EXEC_TIMEOUT_S, &patience_s);
    if (rc == HCCL_SUCCESS)
        rc = hc_knob_int(KNOB_STALL_WARN_S, &warn_s);
    if (rc != HCCL_SUCCESS)
        return rc;
    bounce = hc_zalloc(sizeof *bounce);
    if (bounce == NULL)
        return HCCL_E_MEMORY;
    bounce->link = link;
    bounce->fd = -1;
    bounce->number = atomic_fetch_add(&last_number, 1) + 1;
    bounce->patience_ns = patience_s == 0 ? HC_FOREVER : (uint64_t)patience_s * 1000000000u;
    bounce->warn_ns = (uint64_t)warn_s * 1000000000u;
    bounce->free = ALL_FREE;
    (void)pthread_mutex_init(&bounce->lock, NULL);
    (void)pthread_cond_init(&bounce->freed, NULL);
    bounce->fd = make_file(&bounce->lane);
    if (bounce->fd < 0) {
        bounce_close(bounce);
        return HCCL_E_SYSCALL;
    }
    atomic_store(&bounce->lane->awake, 1); /* a new lane is looked at when it comes */
    *out = bounce;
    return HCCL_SUCCESS;
}

HcclResult
bounce_pass(struct bounce *bounce)
{
    HcclResult rc = foreign_send(bounce->link, FOREIGN_LANE, bounce->number, BOUNCE_FILE_LEN,
                                 BOUNCE_PIECE_LEN, bounce->fd);

    if (rc != HCCL_SUCCESS)
        return rc;
    (void)close(bounce->fd);
    bounce->fd = -1;
    bounce->passed = true;
    return HCCL_SUCCESS;
}

void
bounce_close(struct bounce *bounce)
{
    if (bounce == NULL)
        return;
    if (bounce->passed)
        (void)foreign_send(bounce->link, FOREIGN_END, bounce->number, 0, 0, -1);
    if (bounce->lane != NULL)
        (void)munmap(bounce->lane, BOUNCE_FILE_LEN);
    if (bounce->fd >= 0)
        (void)close(bounce->fd);
    (void)pthread_cond_destroy(&bounce->freed);
    (void)pthread_mutex_destroy(&bounce->lock);
    hc_free(bounce);
}

uint32_t
bounce_number(const struct bounce *bounce)
{
    return bounce->number;
}

static void
end_with(struct bounce *bounce, enum bounce_end why)
{
    int expected = GOES_ON;

    (void)atomic_compare_exchange_strong(&bounce->ended, &expected, (int)why);
    pthread_mutex_lock(&bounce->lock);
    pthread_cond_broadcast(&bounce->freed);
    pthread_mutex_unlock(&bounce->lock);
    for (uint32_t i = 0; i < BOUNCE_PIECES; i++) {
        struct bounce_piece *piece = &bounce->lane->pieces[i];

        /* Any change ends a sleep, and keeps who is about to sleep from it. */
        atomic_fetch_add(&piece->state, PIECE_SLEEPER);
        hc_futex_wake_shared(&piece->state, 1);
    }
}

void
bounce_end(struct bounce *bounce, bool refused)
{
    end_with(bounce, refused ? REFUSED : GONE);
}

static bool
has_ended(struct bounce *bounce)
{
    if (atomic_load(&bounce->ended) != GOES_ON)
        return true;
    if (link_state(bounce->link) != LINK_GONE)
        return false;
    end_with(bounce, GONE);
    return true;
}

/* ---- Pieces ---- */

/* The lowest free one: what was touched last, and memory that nobody needs stays untouched. */
static uint32_t
claim(struct bounce *bounce, bool may_wait)
{
    uint32_t index = NO_PIECE;

    pthread_mutex_lock(&bounce->lock);
    if (may_wait) {
        bounce->waiting++;
        while (bounce->free == 0 && atomic_load(&bounce->ended) == GOES_ON)
            pthread_cond_wait(&bounce->freed, &bounce->lock);
        bounce->waiting--;
    }
    if (bounce->free != 0 && (may_wait || bounce->waiting == 0)) { /* A3 */
        index = (uint32_t)__builtin_ctz(bounce->free);
        bounce->free &= ~(1u << index);
    }
    pthread_mutex_unlock(&bounce->lock);
    return index;
}

static void
give_back(struct bounce *bounce, uint32_t index)
{
    pthread_mutex_lock(&bounce->lock);
    bounce->free |= 1u << index;
    if (bounce->waiting > 0)
        pthread_cond_signal(&bounce->freed);
    pthread_mutex_unlock(&bounce->lock);
}

static char *
bytes_of(const struct bounce *bounce, uint32_t index)
{
    return (char *)bounce->lane + BOUNCE_HEAD_LEN + (size_t)index * BOUNCE_PIECE_LEN;
}

/* Asks for [at, at + flight->len) of the move. HCCL_E_REMOTE: the link is gone. */
static HcclResult
ask(struct bounce *bounce, const struct foreign_move *move, uint64_t at,
    const struct flight *flight)
{
    struct bounce_piece *piece = &bounce->lane->pieces[flight->index];
    uint32_t asleep = 0;

    if (move->write)
        copy_bytes(bytes_of(bounce, flight->index), flight->local, flight->len);
    atomic_store_explicit(&piece->write, move->write ? 1u : 0u, memory_order_relaxed);
    atomic_store_explicit(&piece->len, flight->len, memory_order_relaxed);
    atomic_store_explicit(&piece->addr, move->addr + at, memory_order_relaxed);
    atomic_store_explicit(&piece->lease, move->lease, memory_order_relaxed);
    atomic_store(&piece->state, PIECE_ASKED); /* A4 */
    if (!atomic_compare_exchange_strong(&bounce->lane->awake, &asleep, 1u))
        return HCCL_SUCCESS;
    return foreign_send(bounce->link, FOREIGN_LOOK, bounce->number, 0, 0, -1);
}

static bool
is_answered_state(uint32_t state)
{
    return (state & (PIECE_SLEEPER - 1)) == PIECE_ANSWERED;
}

static bool
is_answered(const struct bounce_piece *piece)
{
    return is_answered_state(atomic_load_explicit(&piece->state, memory_order_acquire));
}

static bool
spin(const struct bounce_piece *piece)
{
    uint64_t begin = hc_now_ns();

    do {
        for (int i = 0; i < 16; i++) {
            if (is_answered(piece))
                return true;
        }
        (void)sched_yield();
    } while (hc_now_ns() - begin < SPIN_NS);
    return false;
}

/* Waited for `waited_ns` so far. */
static void
mind_patience(struct bounce *bounce, uint64_t waited_ns, bool *warned)
{
    if (bounce->patience_ns != HC_FOREVER && waited_ns > bounce->patience_ns)
        end_with(bounce, LATE);
    if (*warned || bounce->warn_ns == 0 || waited_ns <= bounce->warn_ns)
        return;
    *warned = true;
    LOG_WARN(SHM, "process %d has not answered a bounced transfer for %llu s; waiting on",
             (int)link_pid(bounce->link), (unsigned long long)(waited_ns / 1000000000u));
}

/* false: the answer will not come (A2). */
static bool
await(struct bounce *bounce, struct bounce_piece *piece)
{
    bool warned = false;
    uint64_t begin;

    if (spin(piece))
        return true;
    begin = hc_now_ns();
    while (!is_answered(piece)) {
        uint32_t seen = atomic_load(&piece->state);

        if (has_ended(bounce))
            return false;
        if (is_answered_state(seen) ||
            ((seen & PIECE_SLEEPER) == 0 &&
             !atomic_compare_exchange_strong(&piece->state, &seen, seen | PIECE_SLEEPER)))
            continue;
        hc_futex_wait_shared(&piece->state, seen | PIECE_SLEEPER, hc_deadline_ms(LOOK_MS));
        mind_patience(bounce, hc_now_ns() - begin, &warned);
    }
    return true;
}

/* ---- Moves ---- */

static HcclResult
why_ended(struct bounce *bounce)
{
    switch (atomic_load(&bounce->ended)) {
    case REFUSED:
        LOG_ERROR(SHM,
                  "process %d takes no bounce buffer, so its memory cannot be reached; its log "
                  "says why",
                  (int)link_pid(bounce->link));
        return HCCL_E_UNAVAIL;
    case LATE:
        LOG_ERROR(SHM,
                  "process %d has not answered a bounced transfer for %llu s: it is stopped or "
                  "hangs; HCCL_EXEC_TIMEOUT is how long to wait",
                  (int)link_pid(bounce->link),
                  (unsigned long long)(bounce->patience_ns / 1000000000u));
        return HCCL_E_TIMEOUT;
    default:
        return HCCL_E_REMOTE;
    }
}

static HcclResult
result_of(struct bounce *bounce, const struct foreign_move *move, uint32_t answer)
{
    switch (answer) {
    case BOUNCE_DONE:
        return HCCL_SUCCESS;
    case BOUNCE_NOT_THERE:
        return foreign_not_there(move);
    case BOUNCE_NOT_OFFERED:
        return foreign_not_offered(move);
    default:
        LOG_ERROR(SHM, "process %d could not do a bounced transfer of %llu bytes (answer %u)",
                  (int)link_pid(bounce->link), (unsigned long long)move->len, answer);
        return HCCL_E_INTERNAL;
    }
}

/* Waits for the answer to one piece, and takes it. A piece without an answer stays claimed: A1. */
static HcclResult
finish(struct bounce *bounce, const struct foreign_move *move, const struct flight *flight,
       uint32_t *answer)
{
    struct bounce_piece *piece = &bounce->lane->pieces[flight->index];

    if (!await(bounce, piece))
        return HCCL_E_REMOTE;
    *answer = atomic_load_explicit(&piece->answer, memory_order_relaxed);
    if (!move->write && *answer == BOUNCE_DONE)
        copy_bytes(flight->local, bytes_of(bounce, flight->index), flight->len);
    give_back(bounce, flight->index);
    return HCCL_SUCCESS;
}

HcclResult
bounce_move(struct bounce *bounce, const struct foreign_move *move)
{
    struct flight flights[BOUNCE_PIECES]; /* [first, asked), modulo */
    uint32_t first = 0, asked = 0, answer, bad = BOUNCE_DONE;
    uint64_t at = 0;

    while ((at < move->len && bad == BOUNCE_DONE) || first != asked) {
        struct flight *flight = &flights[asked % BOUNCE_PIECES];
        uint32_t index = NO_PIECE;

        if (atomic_load_explicit(&bounce->ended, memory_order_relaxed) != GOES_ON)
            return why_ended(bounce);
        if (at < move->len && bad == BOUNCE_DONE)
            index = claim(bounce, first == asked);
        if (index != NO_PIECE) {
            uint64_t len = move->len - at < BOUNCE_PIECE_LEN ? move->len - at : BOUNCE_PIECE_LEN;

            *flight =
                (struct flight){.index = index, .len = (uint32_t)len, .local = move->local + at};
            asked++;
            if (ask(bounce, move, at, flight) != HCCL_SUCCESS) {
                end_with(bounce, GONE);
                return HCCL_E_REMOTE;
            }
            at += len;
            continue;
        }
        if (first == asked)
            continue; /* the lane has ended */
        if (finish(bounce, move, &flights[first % BOUNCE_PIECES], &answer) != HCCL_SUCCESS)
            return why_ended(bounce);
        if (bad == BOUNCE_DONE)
            bad = answer;
        first++;
    }
    return result_of(bounce, move, bad);
}
