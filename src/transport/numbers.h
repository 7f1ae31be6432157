/* SPDX-License-Identifier: BSD-3-Clause */
/* numbers: hands out the numbers below a bound, those given back first. The user's lock protects
 * it (inside this layer only). */
#ifndef HC_TRANSPORT_NUMBERS_H
#define HC_TRANSPORT_NUMBERS_H

#include <stdint.h>

#define NUMBERS_NONE UINT32_MAX

struct numbers {
    uint32_t *next; /* [most]: of a free number, the next free one + 1 */
    uint32_t most;
    uint32_t used; /* numbers below have been handed out before */
    uint32_t free; /* first free one + 1 */
};

/* NUMBERS_NONE: all are taken. */
static inline uint32_t
numbers_take(struct numbers *numbers)
{
    uint32_t number = numbers->free;

    if (number == 0)
        return numbers->used < numbers->most ? numbers->used++ : NUMBERS_NONE;
    numbers->free = numbers->next[number - 1];
    return number - 1;
}

static inline void
numbers_give(struct numbers *numbers, uint32_t number)
{
    numbers->next[number] = numbers->free;
    numbers->free = number + 1;
}

#endif
