/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "base/guard.h"

#include <pthread.h>
#include <time.h>

#include "base/alloc.h"
#include "base/fork.h"
#include "base/spinlock.h"
#include "base/thread.h"

#define DRAIN_NS 1000000

struct hc_guard_seat hc_guard_seats[HC_GUARD_SEATS];

static _Thread_local struct hc_guard *mine;
static _Atomic(struct hc_guard *) guards; /* pushed only (I4) */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key; /* `once` */
static bool has_key;      /* `once`; without one, guards stay with threads that have ended */

/* I6 */
static void
take_seat(struct hc_guard *guard)
{
    uintptr_t thread = hc_guard_thread(), nobody = 0;
    struct hc_guard_seat *seat = hc_guard_seat(thread);

    if (atomic_load_explicit(&seat->thread, memory_order_relaxed) != 0)
        return;
    if (atomic_compare_exchange_strong_explicit(&seat->thread, &nobody, thread,
                                                memory_order_acquire, memory_order_relaxed))
        atomic_store_explicit(&seat->guard, guard, memory_order_relaxed);
}

static void
leave_seat(void)
{
    uintptr_t thread = hc_guard_thread();
    struct hc_guard_seat *seat = hc_guard_seat(thread);

    if (atomic_load_explicit(&seat->thread, memory_order_relaxed) == thread)
        atomic_store_explicit(&seat->thread, 0, memory_order_release);
}

/* The thread ends, wherever it is. */
static void
give_back(void *arg)
{
    struct hc_guard *guard = arg;

    leave_seat();
    mine = NULL;
    for (uint32_t i = 0; i < HC_GUARD_DEPTH; i++)
        atomic_store_explicit(&guard->objs[i], NULL, memory_order_release);
    atomic_store_explicit(&guard->depth, 0, memory_order_relaxed);
    atomic_store_explicit(&guard->taken, false, memory_order_release);
}

static void
set_up(void)
{
    has_key = pthread_key_create(&key, give_back) == 0;
}

static struct hc_guard *
reuse(void)
{
    struct hc_guard *guard = atomic_load_explicit(&guards, memory_order_acquire);

    for (; guard != NULL; guard = guard->next) {
        bool taken = false;

        if (!atomic_load_explicit(&guard->taken, memory_order_relaxed) &&
            atomic_compare_exchange_strong_explicit(&guard->taken, &taken, true,
                                                    memory_order_acquire, memory_order_relaxed))
            return guard;
    }
    return NULL;
}

static struct hc_guard *
add(void)
{
    struct hc_guard *guard = hc_zalloc_aligned(_Alignof(struct hc_guard), sizeof *guard);
    struct hc_guard *first = atomic_load_explicit(&guards, memory_order_relaxed);

    if (guard == NULL)
        return NULL;
    hc_keep(guard); /* I4 */
    atomic_store_explicit(&guard->covered, hc_barrier_ready(), memory_order_relaxed);
    atomic_store_explicit(&guard->taken, true, memory_order_relaxed);
    do {
        guard->next = first;
    } while (!atomic_compare_exchange_weak_explicit(&guards, &first, guard, memory_order_release,
                                                    memory_order_relaxed));
    atomic_thread_fence(memory_order_seq_cst); /* I7 */
    return guard;
}

struct hc_guard *
hc_guard_find(void)
{
    struct hc_guard *guard = mine;

    if (guard != NULL)
        return guard;
    (void)pthread_once(&once, set_up);
    guard = reuse();
    if (guard == NULL)
        guard = add();
    if (guard == NULL)
        return NULL;
    if (has_key)
        (void)pthread_setspecific(key, guard);
    mine = guard;
    take_seat(guard);
    return guard;
}

/*
 * Heavy barriers worked at first and do not any more: a sandbox has closed. From now on threads
 * fence by themselves; those that did not know yet have published by the end of the nap. That is
 * not proven, but no processor keeps a store to itself for a millisecond.
 */
static void
fence_without_help(void)
{
    static const struct timespec drain = {.tv_nsec = DRAIN_NS};
    struct hc_guard *guard = atomic_load_explicit(&guards, memory_order_acquire);
    bool waits = hc_barrier_ready();

    for (; guard != NULL; guard = guard->next)
        waits |= atomic_exchange(&guard->covered, false);
    if (waits) {
        int cancel = hc_cancel_off();

        (void)nanosleep(&drain, NULL);
        hc_cancel_restore(cancel);
    }
}

void
hc_guard_wait(const void *obj)
{
    struct hc_guard *guard;

    if (hc_in_forked_child())
        return;
    atomic_thread_fence(memory_order_seq_cst); /* I7 */
    if (atomic_load_explicit(&guards, memory_order_acquire) == NULL)
        return;
    if (!hc_barrier_heavy()) /* I1 */
        fence_without_help();
    guard = atomic_load_explicit(&guards, memory_order_acquire);
    for (; guard != NULL; guard = guard->next) {
        for (uint32_t i = 0; i < HC_GUARD_DEPTH; i++) {
            uint32_t round = 0;

            while (atomic_load_explicit(&guard->objs[i], memory_order_acquire) == obj) /* I2 */
                hc_spin_wait(&round);
        }
    }
}

bool
hc_handle_close_guarded(struct hc_table *table, uint64_t handle)
{
    bool closed;

    if (hc_handle_hold(table, handle) == NULL)
        return false;
    closed = hc_handle_close(table, handle);
    if (closed)
        hc_guard_wait(hc_guard_slot(table, handle)); /* I3 */
    hc_handle_release(table, handle);
    return closed;
}
