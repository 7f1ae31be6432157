/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * guard: keeps an object alive for a moment, without a locked instruction.
 *
 * A hold (base/handle.h) costs two locked instructions, and a cache line that all threads fight
 * for. A guard costs two plain stores: the thread writes down which object it uses, where whoever
 * ends objects looks.
 *
 *     obj = hc_handle_enter(table, handle);        hc_handle_close_guarded(table, handle);
 *     if (obj == NULL)                               closes, waits for guards, then lets fini run
 *         slow path: hc_handle_hold, ...
 *     use obj; never block
 *     hc_handle_leave();
 *
 * I1  Who enters publishes the object, passes a light barrier, then asks whether it is open. Who
 *     ends it closes it, passes a heavy barrier, then looks at what is published. So either the
 *     one sees it closed and leaves, or the other sees it used and waits (base/barrier.h I1).
 * I2  Leaving is a release store, and the wait acquires: fini() sees all that was done under the
 *     guard. (Also if the thread has entered something else since: that store continues the release
 *     sequence.)
 * I3  What is guarded is a slot's or an object's address, which is compared and never followed. A
 *     slot is not opened anew before the wait for its last object is over: close_guarded holds it.
 * I4  Each thread has one struct hc_guard from its first enter to its end. They are never freed and
 *     never leave the list; that of a thread that has ended is given to a new one.
 * I5  `depth` grows before the object is published and shrinks after it was taken back. So a
 *     signal handler that interrupts a thread anywhere may enter and leave as well, if the thread
 *     has entered anything before (the first time allocates).
 * I6  Only the thread that a seat names compares equal to it, and only that thread writes the seat
 *     while it does; it frees the seat when it ends. (Thread-local storage would do, but in a
 *     library that is loaded late each look costs a call.)
 * I7  While no thread has had a guard, closing costs no system call, and the process is not even
 *     registered for heavy barriers: most programs never enter anything. A thread's first guard is
 *     in the list before a full fence, after which it publishes and looks; who closes passes a full
 *     fence, then looks at the list. So either the list is seen, or the closing.
 *
 * Under a guard a thread must not block, wait for another thread, reach a point where it can be
 * cancelled, or close anything with guards: two such threads would wait for each other. A thread
 * that ends under a guard, or is cancelled, gives it back; a longjmp out of it does not. A forked
 * child waits for nobody: the threads whose guards it sees are not there.
 */
#ifndef HC_BASE_GUARD_H
#define HC_BASE_GUARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/barrier.h"
#include "base/handle.h"

#define HC_GUARD_DEPTH 4u /* guards that a thread may have at once */

struct hc_guard {
    /* Written by the thread; NULL: none. A cache line of its own: threads write it all the time. */
    _Alignas(64) _Atomic(const void *) objs[HC_GUARD_DEPTH];
    _Atomic uint32_t depth; /* the thread's and its signal handlers' */
    atomic_bool covered;    /* by heavy barriers; cleared by a waiter, once */
    atomic_bool taken;      /* a thread has it (I4) */
    struct hc_guard *next;  /* constant once it is in the list */
};

/* Where a thread finds its guard: at the place that its thread pointer hashes to, if it was free
 * (I6). */
#define HC_GUARD_SEATS 64u

struct hc_guard_seat {
    _Atomic uintptr_t thread;         /* 0: free */
    _Atomic(struct hc_guard *) guard; /* `thread`'s, and written by it */
};

extern struct hc_guard_seat hc_guard_seats[HC_GUARD_SEATS];

/* A number that no other thread that lives has; not 0. */
static inline uintptr_t
hc_guard_thread(void)
{
#if defined(__x86_64__)
    uintptr_t thread;

    __asm__("mov %%fs:0, %0" : "=r"(thread));
    return thread;
#elif defined(__aarch64__)
    return (uintptr_t)__builtin_thread_pointer();
#else
    return (uintptr_t)pthread_self();
#endif
}

static inline struct hc_guard_seat *
hc_guard_seat(uintptr_t thread)
{
    return &hc_guard_seats[(uint64_t)thread * 0x9E3779B97F4A7C15u >> 58];
}

/* The calling thread's guard, by another way, made if it has none; NULL: no memory (logged). */
struct hc_guard *hc_guard_find(void);

static inline struct hc_guard *
hc_guard_mine(void)
{
    uintptr_t thread = hc_guard_thread();
    struct hc_guard_seat *seat = hc_guard_seat(thread);

    if (atomic_load_explicit(&seat->thread, memory_order_relaxed) == thread)
        return atomic_load_explicit(&seat->guard, memory_order_relaxed);
    return hc_guard_find();
}

/* Publishes `obj`. The caller then checks that it is open still (an acquire load), before it uses
 * it; and leaves in any case. false: too many guards, or no memory: nothing was done, go the slow
 * way. */
static inline bool
hc_guard_enter(const void *obj)
{
    struct hc_guard *guard = hc_guard_mine();
    uint32_t depth;

    if (guard == NULL)
        return false;
    depth = atomic_load_explicit(&guard->depth, memory_order_relaxed);
    if (depth == HC_GUARD_DEPTH)
        return false;
    atomic_store_explicit(&guard->depth, depth + 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst); /* I5 */
    atomic_store_explicit(&guard->objs[depth], obj, memory_order_relaxed);
    hc_barrier_light(atomic_load_explicit(&guard->covered, memory_order_relaxed)); /* I1 */
    return true;
}

/* Ends the guard entered last. */
static inline void
hc_guard_leave(void)
{
    struct hc_guard *guard = hc_guard_mine();
    uint32_t depth = atomic_load_explicit(&guard->depth, memory_order_relaxed) - 1;

    atomic_store_explicit(&guard->objs[depth], NULL, memory_order_release); /* I2 */
    atomic_signal_fence(memory_order_seq_cst);                              /* I5 */
    atomic_store_explicit(&guard->depth, depth, memory_order_relaxed);
}

/* Returns when no thread uses `obj` any more. By who has closed it, outside of guards and locks. */
void hc_guard_wait(const void *obj);

/* ---- checked handles ---- */

/* The slot that `handle` names, or NULL if it is no handle of this table. */
static inline struct hc_slot *
hc_guard_slot(struct hc_table *table, uint64_t handle)
{
    uint32_t index = hc_handle_index(handle);
    struct hc_slot *chunk;

    if (handle >> 48 != (0x48u << 8 | table->kind) ||
        index >= atomic_load_explicit(&table->used, memory_order_acquire))
        return NULL;
    chunk = atomic_load_explicit(&table->chunks[index / HC_HANDLE_CHUNK], memory_order_acquire);
    return &chunk[index % HC_HANDLE_CHUNK];
}

/* The object of `handle` if it is open, else NULL. Under a guard of `slot`. */
static inline void *
hc_handle_peek(struct hc_slot *slot, uint64_t handle)
{
    uint64_t word = atomic_load_explicit(&slot->word, memory_order_acquire);
    uint64_t open = 1ull << 31; /* base/handle.h I3 */

    /* The generation and the bit at once: what differs must be the holds alone. */
    if (((word ^ (handle << 4 & 0xFFFFF00000000u)) & (0xFFFFF00000000u | open)) != open)
        return NULL;
    return atomic_load_explicit(&slot->obj, memory_order_relaxed);
}

/* The object, guarded until hc_handle_leave(); NULL, and no guard: not open, or no guard is to be
 * had. hc_handle_hold tells which. */
static inline void *
hc_handle_enter(struct hc_table *table, uint64_t handle)
{
    struct hc_slot *slot = hc_guard_slot(table, handle);
    void *obj;

    if (slot == NULL || !hc_guard_enter(slot))
        return NULL;
    obj = hc_handle_peek(slot, handle);
    if (obj == NULL)
        hc_guard_leave();
    return obj;
}

static inline void
hc_handle_leave(void)
{
    hc_guard_leave();
}

/* As hc_handle_close, for tables whose handles are entered: every close must be this one. fini()
 * runs when nobody guards or holds the object. Waits for guards, so outside of them. */
bool hc_handle_close_guarded(struct hc_table *table, uint64_t handle);

#endif
