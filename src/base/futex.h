/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * futex: sleep on a word until somebody changes it. EINTR and spurious wakes end a sleep like a
 * wake does: the caller looks again.
 */
#ifndef HC_BASE_FUTEX_H
#define HC_BASE_FUTEX_H

#include <stdatomic.h>
#include <stdint.h>

/* Sleeps while `*word` is `seen`, until woken or `deadline_ns` (hc_now_ns time; HC_FOREVER). */
void hc_futex_wait(_Atomic uint32_t *word, uint32_t seen, uint64_t deadline_ns);

/* Wakes at most `count` sleepers of `word`. */
void hc_futex_wake(_Atomic uint32_t *word, int count);

/* The same for a word in memory that processes share. */
void hc_futex_wait_shared(_Atomic uint32_t *word, uint32_t seen, uint64_t deadline_ns);
void hc_futex_wake_shared(_Atomic uint32_t *word, int count);

#endif
