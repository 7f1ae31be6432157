/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two threads, on a processor each, move messages that the one has just written and the other
 * reads afterwards, in every way; the least time of some rounds counts.
 *
 * M1  Both run through the same list of trials. A round: the left thread writes the source, waits
 *     until the right one is ready, takes the time and begins; it ends when the right one has all
 *     of the message. The right one then reads it, and says so (`ended`).
 * M2  Every wait ends at the deadline, or when one has given up, because others want its processor
 *     too. Then both return, and what was not measured stays as it was planned; without the large
 *     messages there is no plan. Whoever wants one waits for both threads to be gone, since they
 *     use its memory.
 * M3  Words grow from round to round and are never set back, so a late look does no harm; but
 *     chunks are claimed, and a claim that comes too late must not touch the next round: both
 *     threads have ended their claims before `ended` and the next `ready` are there.
 */
#define _GNU_SOURCE
#include "copy/plan.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/futex.h"
#include "base/spinlock.h"
#include "base/thread.h"
#include "copy/kinds.h"

#define MOST (1u << 20) /* longest message */
#define RING_LEN (128u << 10)
#define BURST 8u    /* short messages, one after another */
#define LOST_MOST 4 /* times that a thread may lose its processor to others */
#define UNKNOWN UINT64_MAX
#define CHUNK_LEAST (32u << 10)
#define CHUNK_MOST (128u << 10)

#define LARGE_NUM 4u
#define SMALL_NUM 4u
#define PIECE_NUM 4u
static const uint32_t large_lens[LARGE_NUM] = {32u << 10, 64u << 10, 256u << 10, MOST};
static const uint32_t small_lens[SMALL_NUM] = {2u << 10, 4u << 10, 8u << 10, 16u << 10};
static const uint32_t piece_lens[PIECE_NUM] = {8u << 10, 16u << 10, 32u << 10, 64u << 10};

enum way {
    WHOLE, /* one message, moved by `mover` */
    RING,  /* pieces are copied into a ring, and out of it */
    CALLS  /* pieces are pulled; the left thread waits for each before it goes on */
};

struct trial {
    enum way way;
    enum copy_mover mover; /* WHOLE */
    enum copy_kind kind;   /* WHOLE */
    uint32_t len, piece;
};

struct bench {
    _Alignas(64) _Atomic uint32_t ready; /* round, by the right thread */
    _Alignas(64) _Atomic uint32_t begun; /* by the left one: PULL, BOTH: may begin; PUSH: done */
    _Alignas(64) _Atomic uint32_t ended; /* by the right one */
    _Alignas(64) _Atomic uint32_t claimed, finished; /* chunks of this round */
    _Alignas(64) _Atomic uint32_t produced;          /* pieces since the start */
    _Alignas(64) _Atomic uint32_t consumed;
    _Alignas(64) atomic_bool stop; /* M2 */
    uint64_t deadline_ns;          /* constant, as the rest before the results */
    int cpu[2];
    uint8_t *src, *dst, *ring;
    uint64_t direct[LARGE_NUM][COPY_MOVERS];    /* least ns; by the left thread, as all results */
    uint64_t eager[SMALL_NUM], pull[SMALL_NUM]; /* of BURST messages */
    uint64_t pipe[PIECE_NUM];
    uint64_t sum; /* by the right thread: what it has read, so that it reads */
};

/* Threads that run; a futex. Not in the bench: who goes last has woken after that may be freed. */
static _Atomic uint32_t alive;

/* false: stop. */
static bool
await(struct bench *bench, _Atomic uint32_t *word, uint32_t value)
{
    for (uint32_t looks = 1;
         (int32_t)(atomic_load_explicit(word, memory_order_acquire) - value) < 0; looks++) {
        hc_spin_pause();
        if (looks % 256 != 0)
            continue;
        if (atomic_load_explicit(&bench->stop, memory_order_relaxed) ||
            hc_now_ns() > bench->deadline_ns) {
            atomic_store_explicit(&bench->stop, true, memory_order_relaxed);
            return false;
        }
        if (looks % 4096 == 0)
            (void)sched_yield();
    }
    return true;
}

static void
post(_Atomic uint32_t *word, uint32_t value)
{
    atomic_store_explicit(word, value, memory_order_release);
}

static uint32_t
chunk_len(uint32_t len)
{
    uint32_t chunk = len / 4;

    if (chunk < CHUNK_LEAST)
        return CHUNK_LEAST < len / 2 ? CHUNK_LEAST : len / 2;
    return chunk < CHUNK_MOST ? chunk : CHUNK_MOST;
}

static bool
move_chunks(struct bench *bench, const struct trial *trial)
{
    uint32_t chunk = chunk_len(trial->len), num = trial->len / chunk, at;

    while ((at = atomic_fetch_add(&bench->claimed, 1)) < num) {
        copy_by(trial->kind, bench->dst + at * chunk, bench->src + at * chunk, chunk);
        atomic_fetch_add(&bench->finished, 1);
    }
    return await(bench, &bench->finished, num);
}

/* The left thread's part of RING and CALLS. */
static bool
put_pieces(struct bench *bench, const struct trial *trial)
{
    uint32_t slots = trial->way == RING ? RING_LEN / trial->piece : 1;

    for (uint32_t at = 0; at < trial->len; at += trial->piece) {
        uint32_t piece = atomic_load_explicit(&bench->produced, memory_order_relaxed);

        if (!await(bench, &bench->consumed, piece + 1 - slots))
            return false;
        if (trial->way == RING)
            copy_bytes(bench->ring + piece % slots * trial->piece, bench->src + at, trial->piece);
        post(&bench->produced, piece + 1);
    }
    return true;
}

static bool
take_pieces(struct bench *bench, const struct trial *trial)
{
    uint32_t slots = trial->way == RING ? RING_LEN / trial->piece : 1;

    for (uint32_t at = 0; at < trial->len; at += trial->piece) {
        uint32_t piece = atomic_load_explicit(&bench->consumed, memory_order_relaxed);
        const uint8_t *from = bench->src + at;

        if (!await(bench, &bench->produced, piece + 1))
            return false;
        if (trial->way == RING)
            from = bench->ring + piece % slots * trial->piece;
        copy_bytes(bench->dst + at, from, trial->piece);
        post(&bench->consumed, piece + 1);
    }
    return true;
}

static bool
left_moves(struct bench *bench, const struct trial *trial, uint32_t round)
{
    if (trial->way != WHOLE)
        return put_pieces(bench, trial);
    if (trial->mover == COPY_PUSH)
        copy_by(trial->kind, bench->dst, bench->src, trial->len);
    post(&bench->begun, round);
    return trial->mover != COPY_BOTH || move_chunks(bench, trial);
}

static bool
right_moves(struct bench *bench, const struct trial *trial, uint32_t round)
{
    if (trial->way != WHOLE)
        return take_pieces(bench, trial);
    if (!await(bench, &bench->begun, round))
        return false;
    if (trial->mover == COPY_PULL)
        copy_by(trial->kind, bench->dst, bench->src, trial->len);
    return trial->mover != COPY_BOTH || move_chunks(bench, trial);
}

/* M1. `best`: the left thread's; lowered. */
static bool
run_round(struct bench *bench, const struct trial *trial, bool left, uint32_t round, uint64_t *best)
{
    uint64_t start, ns;

    if (left) {
        memset(bench->src, (int)round, trial->len);
        atomic_store(&bench->claimed, 0);
        atomic_store(&bench->finished, 0);
        if (!await(bench, &bench->ready, round))
            return false;
        start = hc_now_ns();
        if (!left_moves(bench, trial, round) || !await(bench, &bench->ended, round))
            return false;
        ns = hc_now_ns() - start;
        if (ns < *best)
            *best = ns;
        return await(bench, &bench->ended, round + 1);
    }
    post(&bench->ready, round);
    if (!right_moves(bench, trial, round))
        return false;
    post(&bench->ended, round);
    for (uint32_t at = 0; at < trial->len; at += sizeof(uint64_t)) {
        uint64_t eight;

        memcpy(&eight, bench->dst + at, sizeof eight);
        bench->sum += eight;
    }
    post(&bench->ended, round + 1);
    return true;
}

/* Others want this thread's processor too: what is measured is them. */
static bool
is_crowded(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_THREAD, &usage) == 0 && usage.ru_nivcsw > LOST_MOST;
}

/* Many of what is over soon. Where caches are far apart, 1 MiB takes a millisecond. */
static uint32_t
rounds_of(uint32_t len)
{
    if (len >= MOST)
        return 3;
    if (len >= MOST / 4)
        return 4;
    return 12;
}

static bool
run_trial(struct bench *bench, const struct trial *trial, bool left, uint32_t *round,
          uint64_t *best)
{
    for (uint32_t i = rounds_of(trial->len); i > 0; i--, *round += 2) {
        if (!run_round(bench, trial, left, *round, best))
            return false;
    }
    if (is_crowded())
        atomic_store_explicit(&bench->stop, true, memory_order_relaxed);
    return !atomic_load_explicit(&bench->stop, memory_order_relaxed);
}

/* The list of trials (M1). What decides most comes first (M2). */
static void
run_all(struct bench *bench, bool left)
{
    uint32_t round = 2;

    for (uint32_t i = 0; i < LARGE_NUM * COPY_MOVERS * 2; i++) {
        struct trial trial = {.way = WHOLE,
                              .len = large_lens[i / 2 / COPY_MOVERS],
                              .mover = (enum copy_mover)(i / 2 % COPY_MOVERS),
                              .kind = i % 2 == 0 ? COPY_PLAIN : COPY_STREAM};
        uint64_t *best = &bench->direct[i / 2 / COPY_MOVERS][trial.mover];

        if (!run_trial(bench, &trial, left, &round, best))
            return;
    }
    for (uint32_t i = 0; i < SMALL_NUM * 2; i++) {
        struct trial trial = {.way = i % 2 == 0 ? RING : CALLS,
                              .len = small_lens[i / 2] * BURST,
                              .piece = small_lens[i / 2]};
        uint64_t *best = i % 2 == 0 ? &bench->eager[i / 2] : &bench->pull[i / 2];

        if (!run_trial(bench, &trial, left, &round, best))
            return;
    }
    for (uint32_t i = 0; i < PIECE_NUM; i++) {
        struct trial trial = {.way = RING, .len = MOST, .piece = piece_lens[i]};

        if (!run_trial(bench, &trial, left, &round, &bench->pipe[i]))
            return;
    }
}

static void
run_thread(struct bench *bench, bool left)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET((size_t)bench->cpu[left], &set);
    (void)sched_setaffinity(0, sizeof set, &set); /* refused: the scheduler does what it can */
    run_all(bench, left);
    atomic_fetch_sub(&alive, 1);
    hc_futex_wake(&alive, 1);
}

static void *
left_thread(void *arg)
{
    run_thread(arg, true);
    return NULL;
}

static void *
right_thread(void *arg)
{
    run_thread(arg, false);
    return NULL;
}

/* ---- what follows from it ---- */

/* By how much a way must be better than the one before: what needs both ends, or more code, or is
 * noise, is not worth less. */
static bool
clearly_better(uint64_t ns, uint64_t than)
{
    return ns < than - than / 8;
}

/*
 * A message that is moved once makes its sender wait for the receiver. Up to this length two copies
 * cost who sends many clearly less than that. (Alone, and with its receiver there already, a
 * message is faster moved once from some 1 KiB on; but to agree on that costs more than the flags
 * of these trials, as much as to copy 2 KiB.)
 */
static uint64_t
eager_of(const struct bench *bench)
{
    uint64_t eager = small_lens[0];

    for (uint32_t i = 1; i < SMALL_NUM && clearly_better(bench->eager[i], bench->pull[i]); i++)
        eager = small_lens[i];
    return eager;
}

static void
conclude(const struct bench *bench, struct copy_plan *plan)
{
    const uint64_t *last = bench->direct[LARGE_NUM - 1];
    uint32_t piece = 1; /* what is planned without a reason for another */

    if (bench->pull[SMALL_NUM - 1] != UNKNOWN)
        plan->eager = eager_of(bench);
    plan->middle = clearly_better(bench->direct[0][COPY_PUSH], bench->direct[0][COPY_PULL])
                       ? COPY_PUSH
                       : COPY_PULL;
    plan->large = plan->middle;
    for (uint32_t mover = 0; mover < COPY_MOVERS; mover++) {
        if (clearly_better(last[mover], last[plan->large]))
            plan->large = (enum copy_mover)mover;
    }
    plan->large_from = MOST;
    for (uint32_t i = LARGE_NUM - 2;
         i > 0 && bench->direct[i][plan->large] <= bench->direct[i][plan->middle]; i--)
        plan->large_from = large_lens[i];
    for (uint32_t i = 0; i < PIECE_NUM; i++) {
        if (clearly_better(bench->pipe[i], bench->pipe[piece]))
            piece = i;
    }
    if (bench->pipe[PIECE_NUM - 1] != UNKNOWN)
        plan->piece = piece_lens[piece];
}

/* ---- two processors ---- */

/* Number in a file of `cpu`'s topology; -1: unknown. */
static int
topology(int cpu, const char *what)
{
    char path[96];
    FILE *file;
    int number = -1;

    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/%s", cpu, what);
    file = fopen(path, "re");
    if (file == NULL)
        return -1;
    if (fscanf(file, "%d", &number) != 1)
        number = -1;
    fclose(file);
    return number;
}

/* Two that the caller may use; of different cores, if there are some. false: there is only one. */
static bool
find_two(int cpu[2])
{
    cpu_set_t set;
    int num = 0;

    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return false;
    for (int at = 0; at < CPU_SETSIZE; at++) {
        if (!CPU_ISSET((size_t)at, &set))
            continue;
        if (num < 2)
            cpu[num++] = at;
        if (num == 2 &&
            (topology(at, "core_id") != topology(cpu[0], "core_id") ||
             topology(at, "physical_package_id") != topology(cpu[0], "physical_package_id"))) {
            cpu[1] = at;
            return true;
        }
    }
    return num == 2;
}

/* Runs both threads to their end. false: they could not be started. */
static bool
run_both(struct bench *bench)
{
    uint32_t left;

    atomic_store(&alive, 2);
    if (hc_thread_start(left_thread, bench) != 0)
        return false;
    if (hc_thread_start(right_thread, bench) != 0) {
        atomic_store(&bench->stop, true);
        atomic_fetch_sub(&alive, 1);
    }
    while ((left = atomic_load(&alive)) != 0)
        hc_futex_wait(&alive, left, HC_FOREVER);
    return true;
}

bool
plan_measure(struct copy_plan *plan, uint64_t budget_ns)
{
    struct bench *bench = hc_zalloc_aligned(_Alignof(struct bench), sizeof *bench);
    uint8_t *bytes = bench == NULL ? NULL : hc_zalloc_aligned(4096, 2 * MOST + RING_LEN);
    bool measured = false;

    if (bytes != NULL && find_two(bench->cpu)) {
        bench->src = bytes;
        bench->dst = bytes + MOST;
        bench->ring = bytes + 2 * MOST;
        memset(bench->direct, 0xFF, sizeof bench->direct); /* UNKNOWN */
        memset(bench->eager, 0xFF, sizeof bench->eager);
        memset(bench->pull, 0xFF, sizeof bench->pull);
        memset(bench->pipe, 0xFF, sizeof bench->pipe);
        bench->deadline_ns = hc_now_ns() + budget_ns;
        measured = run_both(bench) && bench->direct[LARGE_NUM - 1][COPY_MOVERS - 1] != UNKNOWN;
        if (measured)
            conclude(bench, plan);
    }
    hc_free(bytes);
    hc_free(bench);
    return measured;
}
