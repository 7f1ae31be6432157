/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * word: what a notify is made of, in memory that processes share: [posted:32 | waiter:32].
 *
 * `posted` counts the records, for ever, and wraps; how many of them have been taken is known to
 * the owner's process alone, so a thread that polls the word only reads it, and a record costs the
 * two processes one transfer of the cache line each. `waiter` is who must be woken by the next
 * record: the number of a parked stream plus one, HC_WORD_HOST for threads, 0 for nobody.
 *
 * W1  A waiter registers with a compare-and-swap from a word in which nothing is left to take. So a
 *     record comes either before it, and is seen, or after it, and sees the waiter.
 * W2  Whoever clears the waiter wakes it. A waiter that was cleared looks, and registers anew.
 * W3  A post releases; a read of the word that sees it acquires.
 */
#ifndef HC_BASE_WORD_H
#define HC_BASE_WORD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define HC_WORD_HOST 0xFFFFFFFFu

static inline uint32_t
hc_word_posted(uint64_t word)
{
    return (uint32_t)(word >> 32);
}

static inline uint32_t
hc_word_waiter(uint64_t word)
{
    return (uint32_t)word;
}

/* One record more; whom the caller must wake (W2), 0: nobody. *before: the word as it was. */
static inline uint32_t
hc_word_post(_Atomic uint64_t *word, uint64_t *before)
{
    uint64_t seen = atomic_fetch_add(word, 1ull << 32);
    uint32_t waiter = hc_word_waiter(seen);

    *before = seen;
    if (waiter == 0)
        return 0;
    seen += 1ull << 32;
    while (hc_word_waiter(seen) == waiter) {
        if (atomic_compare_exchange_weak(word, &seen, seen & ~0xFFFFFFFFull))
            return waiter;
    }
    return 0;
}

#endif
