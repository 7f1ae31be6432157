/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * barrier: full fences of which one side pays nothing, between threads and between processes.
 *
 * Who sends often and who goes to sleep rarely must not miss each other: each stores its own word
 * and then loads the other's, with a full fence in between. Here the fast side's fence is light (it
 * only keeps the compiler from reordering), and the slow side's is heavy: a system call that makes
 * every running thread of the processes that take part pass a full fence.
 *
 *     fast: store x; hc_barrier_light(covered); load y
 *     slow: store y; hc_barrier_heavy(); load x
 *
 * I1  At least one of the two sees the other's store, if the fast side's process is ready (it
 *     registered with the kernel) and the slow side's heavy fence works; `covered` says both. A
 *     thread that does not run has passed a full fence already: the kernel switches with one.
 * I2  Otherwise (a kernel without the call, a sandbox that forbids it) the fast side fences by
 *     itself, and the slow side's fence is a plain one. So who sleeps must tell its peers whether
 *     its heavy fence works, before they use `covered`.
 * I3  What was found out at first stays true for peers that were told so. Should the call be
 *     forbidden later, hc_barrier_heavy says so, and the slow side must not sleep for long.
 */
#ifndef HC_BASE_BARRIER_H
#define HC_BASE_BARRIER_H

#include <stdatomic.h>
#include <stdbool.h>

/* Whether the threads of this process are covered by heavy fences: those of other processes, and
 * its own. Registers the process at the first call, which takes some 10 ms if it has several
 * threads (the kernel waits for all processors); afterwards it is cheap. */
bool hc_barrier_ready(void);

/* Whether heavy fences made here reach other processes: what peers have to be told (I2). */
bool hc_barrier_heavy_works(void);

/* `covered`: hc_barrier_ready() here, and hc_barrier_heavy_works() where the slow side is. */
static inline void
hc_barrier_light(bool covered)
{
    if (covered)
        atomic_signal_fence(memory_order_seq_cst);
    else
        atomic_thread_fence(memory_order_seq_cst);
}

/* A full fence here and on all threads of all processes that are ready. false: only here (I2, I3).
 * A system call of about a microsecond; more when many processors run such threads. */
bool hc_barrier_heavy(void);

/* Tests: from now on as where the system call is forbidden. */
void hc_barrier_forbid(void);

#endif
