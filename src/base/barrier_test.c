/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "base/barrier.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "tests/support/procs.h"
#include "tests/support/test.h"

#define ROUNDS 100000u
#define MOST_NS 3000000000u /* on a busy machine fewer rounds must do */

/* Each round both sides store their word and then load the other's. Lines of their own, so that
 * the stores take a while to be seen. */
struct litmus {
    _Alignas(64) _Atomic uint32_t x;
    _Alignas(64) _Atomic uint32_t y;
    _Alignas(64) _Atomic uint32_t fast_round; /* rounds that side has ended */
    _Alignas(64) _Atomic uint32_t slow_round;
    _Alignas(64) _Atomic uint32_t fast_saw; /* of y, in the round just ended */
    _Atomic uint32_t slow_told;             /* 1: its heavy fence does not work, 2: it does */
    _Atomic uint32_t stop;
    bool fast_forbidden, slow_forbidden; /* before the start */
    bool covered;                        /* by the fast side */
    uint32_t missed; /* rounds in which neither saw the other; by the slow side */
};

static void
await_round(_Atomic uint32_t *ended, uint32_t round)
{
    for (uint32_t looks = 0; atomic_load_explicit(ended, memory_order_acquire) != round; looks++) {
        if (looks > 200)
            sched_yield();
    }
}

/* Shifts the two sides against each other, differently in each round. */
static void
dawdle(uint32_t steps)
{
    static _Atomic uint32_t nothing;

    for (uint32_t i = 0; i < steps; i++)
        (void)atomic_load_explicit(&nothing, memory_order_relaxed);
}

static void
run_fast(struct litmus *litmus)
{
    bool covered = hc_barrier_ready();

    while (atomic_load(&litmus->slow_told) == 0)
        sched_yield();
    covered = covered && atomic_load(&litmus->slow_told) == 2;
    litmus->covered = covered;
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        await_round(&litmus->slow_round, round - 1);
        if (atomic_load_explicit(&litmus->stop, memory_order_relaxed) != 0)
            return;
        dawdle(round * 7 % 101);
        atomic_store_explicit(&litmus->x, round, memory_order_relaxed);
        hc_barrier_light(covered);
        atomic_store_explicit(&litmus->fast_saw,
                              atomic_load_explicit(&litmus->y, memory_order_relaxed),
                              memory_order_relaxed);
        atomic_store_explicit(&litmus->fast_round, round, memory_order_release);
    }
}

static void
run_slow(struct litmus *litmus)
{
    uint64_t end = hc_now_ns() + MOST_NS;

    atomic_store(&litmus->slow_told, hc_barrier_heavy_works() ? 2 : 1);
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        uint32_t saw;

        dawdle(round * 13 % 97);
        atomic_store_explicit(&litmus->y, round, memory_order_relaxed);
        (void)hc_barrier_heavy();
        saw = atomic_load_explicit(&litmus->x, memory_order_relaxed);
        await_round(&litmus->fast_round, round);
        if (saw != round && atomic_load_explicit(&litmus->fast_saw, memory_order_relaxed) != round)
            litmus->missed++;
        if (hc_now_ns() > end)
            atomic_store_explicit(&litmus->stop, 1, memory_order_relaxed);
        atomic_store_explicit(&litmus->slow_round, round, memory_order_release);
        if (atomic_load_explicit(&litmus->stop, memory_order_relaxed) != 0)
            return;
    }
}

/* ---- two threads ---- */

static void *
fast_thread(void *arg)
{
    run_fast(arg);
    return NULL;
}

static struct litmus *
run_threads(void)
{
    static struct litmus litmus;
    pthread_t thread;

    EXPECT_EQ(0, pthread_create(&thread, NULL, fast_thread, &litmus));
    run_slow(&litmus);
    EXPECT_EQ(0, pthread_join(thread, NULL));
    return &litmus;
}

TEST(of_two_threads_one_sees_the_other)
{
    EXPECT_EQ(0, run_threads()->missed);
}

TEST(of_two_threads_one_sees_the_other_where_the_call_is_forbidden)
{
    struct litmus *litmus;

    hc_barrier_forbid();
    EXPECT_FALSE(hc_barrier_ready());
    EXPECT_FALSE(hc_barrier_heavy_works());
    litmus = run_threads();
    EXPECT_FALSE(litmus->covered);
    EXPECT_EQ(0, litmus->missed);
    EXPECT_FALSE(hc_barrier_heavy());
}

/* ---- two processes ---- */

/* As a sandbox does that has never heard of the call. */
static void
forbid_by_kernel(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog prog = {.len = sizeof filter / sizeof filter[0], .filter = filter};

    EXPECT_EQ(0, prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    EXPECT_EQ(0, prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog));
}

static void
child(int rank, void *shared)
{
    struct litmus *litmus = shared;
    bool forbidden = rank == 0 ? litmus->fast_forbidden : litmus->slow_forbidden;

    if (forbidden)
        forbid_by_kernel();
    if (forbidden) {
        EXPECT_FALSE(hc_barrier_ready());
        EXPECT_FALSE(hc_barrier_heavy_works());
    }
    if (rank == 0)
        run_fast(litmus);
    else
        run_slow(litmus);
}

static void
run_processes(bool fast_forbidden, bool slow_forbidden)
{
    struct procs procs;
    struct litmus *litmus = procs_prepare(&procs, sizeof *litmus);
    uint32_t missed;
    bool covered;

    litmus->fast_forbidden = fast_forbidden;
    litmus->slow_forbidden = slow_forbidden;
    procs_fork(&procs, 2, child);
    EXPECT_EQ(0, procs_wait(&procs, 0));
    EXPECT_EQ(0, procs_wait(&procs, 1));
    missed = litmus->missed;
    covered = litmus->covered;
    procs_expect_success(&procs);
    EXPECT_EQ(0, missed);
    if (fast_forbidden || slow_forbidden)
        EXPECT_FALSE(covered);
}

TEST(of_two_processes_one_sees_the_other)
{
    run_processes(false, false);
}

TEST(of_two_processes_one_sees_the_other_if_the_sleeper_cannot_fence)
{
    run_processes(false, true);
}

TEST(of_two_processes_one_sees_the_other_if_the_sender_cannot_be_fenced)
{
    run_processes(true, false);
}

TEST(who_is_ready_has_fences_that_work)
{
    EXPECT_EQ(hc_barrier_ready(), hc_barrier_heavy_works());
    EXPECT_EQ(hc_barrier_ready(), hc_barrier_heavy());
}

TEST(a_sandbox_that_closes_later_is_told_by_the_fence)
{
    bool ready = hc_barrier_ready();

    forbid_by_kernel();
    EXPECT_EQ(ready, hc_barrier_ready());
    EXPECT_FALSE(hc_barrier_heavy());
}
