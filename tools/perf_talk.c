/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * perf_talk: the ranks wait for each other outside the timed parts.
 *
 * T1  A word is written by one side only, or counts; whoever writes it releases, whoever waits for
 *     it acquires: what was written before can be read after.
 * T2  A stamp is not overtaken: its writer posts the next one only after an operation that the
 *     reader starts, and the reader has taken the stamp by then.
 * T3  Nobody waits for the dead: who waits for long asks the library whether each rank can still
 *     send.
 */
#include <sched.h>
#include <time.h>

#include "base/clock.h"
#include "tools/perf.h"

#define SPINS 20000u        /* then give way */
#define YIELDS 2000u        /* then sleep */
#define NAP_MOST_NS 500000u /* ever longer naps, up to this */
#define ASK_NS 100000000u   /* how often to ask who is alive */

static HcclResult
ask_who_is_alive(struct perf_rank *rank)
{
    HcclResult rc = HCCL_SUCCESS;
    uint32_t found;

    for (uint32_t peer = 0; peer < rank->size && rc == HCCL_SUCCESS; peer++) {
        if (peer != rank->rank)
            rc = HcommProbe(peer, HCOMM_ANY_TAG, rank->comm, &found, NULL); /* T3 */
    }
    return rc;
}

static void
nap(uint32_t *ns)
{
    struct timespec time = {.tv_nsec = (long)*ns};

    (void)nanosleep(&time, NULL);
    *ns = *ns * 2 > NAP_MOST_NS ? NAP_MOST_NS : *ns * 2;
}

/* Until *word has left `before`. */
static HcclResult
await(struct perf_rank *rank, const atomic_uint *word, unsigned before)
{
    uint32_t spins = rank->crowded ? SPINS : 0, nap_ns = 10000;
    uint64_t ask_ns = 0;

    for (; atomic_load_explicit(word, memory_order_acquire) == before; spins++) {
        HcclResult rc = HCCL_SUCCESS;
        uint64_t now_ns;

        if (spins < SPINS)
            continue;
        if (spins < SPINS + YIELDS) {
            sched_yield();
            continue;
        }
        nap(&nap_ns);
        now_ns = hc_now_ns();
        if (ask_ns == 0)
            ask_ns = now_ns + ASK_NS;
        if (now_ns < ask_ns)
            continue;
        rc = ask_who_is_alive(rank);
        if (rc != HCCL_SUCCESS)
            return rc;
        ask_ns = now_ns + ASK_NS;
    }
    return HCCL_SUCCESS;
}

void
perf_post(struct perf_rank *rank)
{
    atomic_fetch_add_explicit(&rank->boxes[rank->partner]->posted, 1, memory_order_release);
}

void
perf_post_stamp(struct perf_rank *rank, uint64_t now_ns)
{
    struct perf_box *box = rank->boxes[rank->partner];

    atomic_store_explicit(&box->stamp_ns, now_ns, memory_order_relaxed);
    perf_post(rank); /* T2 */
}

HcclResult
perf_take(struct perf_rank *rank)
{
    HcclResult rc = await(rank, &rank->box->posted, rank->taken);

    if (rc == HCCL_SUCCESS)
        rank->taken++;
    return rc;
}

HcclResult
perf_agree(struct perf_rank *rank, uint64_t *word)
{
    HcclResult rc = HCCL_SUCCESS;
    struct perf_box *first = rank->boxes[0];
    unsigned all = (rank->barriers + 1) * (rank->size - 1), seen;

    if (rank->rank != 0) {
        atomic_fetch_add_explicit(&first->arrived, 1, memory_order_release);
        rc = await(rank, &rank->box->passed, rank->barriers);
        *word = rank->box->word;
    } else {
        seen = atomic_load_explicit(&first->arrived, memory_order_acquire);
        while (rc == HCCL_SUCCESS && seen != all) {
            rc = await(rank, &first->arrived, seen);
            seen = atomic_load_explicit(&first->arrived, memory_order_acquire);
        }
        for (uint32_t i = 1; rc == HCCL_SUCCESS && i < rank->size; i++) {
            rank->boxes[i]->word = *word;
            atomic_store_explicit(&rank->boxes[i]->passed, rank->barriers + 1,
                                  memory_order_release);
        }
    }
    rank->barriers++;
    return rc;
}

HcclResult
perf_barrier(struct perf_rank *rank)
{
    uint64_t nothing = 0;

    return perf_agree(rank, &nothing);
}
