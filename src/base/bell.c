/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/bell.h"

#include "base/word.h"

#define BIT(number) (1ull << ((number) % 64u))

static void
set(struct hc_bell *bell, uint32_t number)
{
    uint32_t word = number / 64;

    atomic_fetch_or(&bell->bits[word], BIT(number));
    atomic_fetch_or(&bell->summary[word / 64], BIT(word));
}

bool
hc_bell_ring(struct hc_bell *bell, uint32_t waiter)
{
    set(bell, waiter < HC_BELL_MANY ? waiter : HC_BELL_MANY);
    atomic_store(&bell->rung, 1);
    return atomic_load(&bell->attentive) == 0; /* B1 */
}

void
hc_bell_ring_all(struct hc_bell *bell)
{
    for (uint32_t i = 0; i < HC_BELL_WORDS; i++)
        atomic_store(&bell->bits[i], UINT64_MAX);
    for (uint32_t i = 0; i < HC_BELL_WORDS / 64; i++)
        atomic_store(&bell->summary[i], UINT64_MAX);
    atomic_store(&bell->rung, 1);
}

static void
drain_word(struct hc_bell *bell, uint32_t word, void (*wake)(uint32_t waiter))
{
    uint64_t bits = atomic_exchange(&bell->bits[word], 0);

    while (bits != 0) {
        uint32_t number = word * 64 + (uint32_t)__builtin_ctzll(bits);

        bits &= bits - 1;
        if (number != 0) /* 0 is nobody */
            wake(number == HC_BELL_MANY ? HC_BELL_EVERYBODY : number);
    }
}

void
hc_bell_drain(struct hc_bell *bell, void (*wake)(uint32_t waiter))
{
    if (!hc_bell_is_rung(bell) || atomic_exchange(&bell->rung, 0) == 0)
        return;
    for (uint32_t i = 0; i < HC_BELL_WORDS / 64; i++) {
        uint64_t summary = atomic_exchange(&bell->summary[i], 0);

        while (summary != 0) {
            drain_word(bell, i * 64 + (uint32_t)__builtin_ctzll(summary), wake);
            summary &= summary - 1;
        }
    }
}

void
hc_bell_attend(struct hc_bell *bell)
{
    atomic_fetch_add(&bell->attentive, 1);
}

void
hc_bell_leave(struct hc_bell *bell, void (*wake)(uint32_t waiter))
{
    atomic_fetch_sub(&bell->attentive, 1);
    if (atomic_load(&bell->rung) != 0) /* B1 */
        hc_bell_drain(bell, wake);
}
