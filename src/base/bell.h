/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bell: how other processes tell this one which of its waiters to wake. Lives in memory that they
 * share; the process that owns it drains it.
 *
 * One bit for each waiter, so ringing twice is ringing once, and a ringer that is killed in the
 * middle blocks nobody. Who rings sets the waiter's bit, then the bit of its word in `summary`,
 * then `rung`; who drains takes them away in the opposite order. Anything may be in it: a wake that
 * nobody needed does no harm.
 *
 * B1  Who rings reads `attentive` after it has set `rung`; who stops looking lowers `attentive`,
 *     then reads `rung` (all seq_cst). So either the ringer knocks (a message that wakes the
 *     process' service thread) or somebody who still looks sees it.
 * B2  A ringer that dies between the bits and `rung` loses a wake: whoever learns of a death
 *     rings for everybody (hc_bell_ring_all).
 */
#ifndef HC_BASE_BELL_H
#define HC_BASE_BELL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define HC_BELL_WORDS 1024u
/* The bit of all waiters that have none of their own. */
#define HC_BELL_MANY (HC_BELL_WORDS * 64u - 1)

struct hc_bell {
    _Atomic uint32_t attentive; /* threads that look by themselves; written by the owner */
    uint32_t pad0[15];
    _Atomic uint32_t rung; /* something is set; written by everybody */
    uint32_t pad1[15];
    _Atomic uint64_t summary[HC_BELL_WORDS / 64];
    _Atomic uint64_t bits[HC_BELL_WORDS];
};

/* `waiter` as in base/word.h, not 0. true: nobody looks, so knock. */
bool hc_bell_ring(struct hc_bell *bell, uint32_t waiter);

/* All waiters look. By the owner: no knock is needed, it drains next. */
void hc_bell_ring_all(struct hc_bell *bell);

static inline bool
hc_bell_is_rung(struct hc_bell *bell)
{
    return atomic_load_explicit(&bell->rung, memory_order_relaxed) != 0;
}

/*
 * Wakes whom the bits name, any thread of the owner. wake(waiter, arg): a waiter's number, or
 * UINT32_MAX - 1 (HC_BELL_EVERYBODY): every waiter whose number is HC_BELL_MANY or more, and all
 * that wait on the host.
 */
#define HC_BELL_EVERYBODY (UINT32_MAX - 1)
void hc_bell_drain(struct hc_bell *bell, void (*wake)(uint32_t waiter));

/* Around looking at `rung` (B1). leave() drains once more if it must. */
void hc_bell_attend(struct hc_bell *bell);
void hc_bell_leave(struct hc_bell *bell, void (*wake)(uint32_t waiter));

#endif
