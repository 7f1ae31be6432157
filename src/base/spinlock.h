/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * spinlock: for a few loads and stores that several threads of this process make in turn.
 *
 * One locked instruction to take it when nobody has it, a plain store to give it back. Under it:
 * moments only. No system call, no allocation, no log line, no copy of a message, no other lock
 * that may be held for longer, no callback. Where that is not certain, take a mutex. Not for memory
 * that other processes see: a holder that is killed keeps it.
 *
 * On a machine with more threads than processors the holder may be asleep, so who waits looks a
 * while, then offers its processor to others between looks, then naps. It is not fair.
 */
#ifndef HC_BASE_SPINLOCK_H
#define HC_BASE_SPINLOCK_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/thread.h"

#define HC_SPIN_LOOKS 100u  /* until the first yield: about as long as the lock is held at most */
#define HC_SPIN_YIELDS 200u /* until the first nap */
#define HC_SPIN_NAP_NS 50000

/* Zeroed: free. */
struct hc_spinlock {
    _Atomic uint32_t held; /* 0 or 1 */
};

#define HC_SPINLOCK_INIT                                                                           \
    {                                                                                              \
        0                                                                                          \
    }

static inline void
hc_spin_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#endif
}

/* Waits a little for what another thread does in a moment. `round`: 0 at first; counts up. */
static inline void
hc_spin_wait(uint32_t *round)
{
    static const struct timespec nap = {.tv_nsec = HC_SPIN_NAP_NS};

    if (*round < HC_SPIN_LOOKS) {
        hc_spin_pause();
    } else if (*round < HC_SPIN_LOOKS + HC_SPIN_YIELDS) {
        (void)sched_yield();
    } else {
        int cancel = hc_cancel_off();

        (void)nanosleep(&nap, NULL);
        hc_cancel_restore(cancel);
        return;
    }
    (*round)++;
}

static inline bool
hc_spin_trylock(struct hc_spinlock *lock)
{
    return atomic_exchange_explicit(&lock->held, 1, memory_order_acquire) == 0;
}

/* Not inlined: the way to the lock must stay short where it is free. */
__attribute__((noinline, cold, unused)) static void
hc_spin_contended(struct hc_spinlock *lock)
{
    uint32_t round = 0;

    do {
        while (atomic_load_explicit(&lock->held, memory_order_relaxed) != 0)
            hc_spin_wait(&round);
    } while (!hc_spin_trylock(lock));
}

static inline void
hc_spin_lock(struct hc_spinlock *lock)
{
    if (!hc_spin_trylock(lock))
        hc_spin_contended(lock);
}

/* By who has it. */
static inline void
hc_spin_unlock(struct hc_spinlock *lock)
{
    atomic_store_explicit(&lock->held, 0, memory_order_release);
}

#endif
