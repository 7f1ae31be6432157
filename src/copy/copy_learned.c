/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A copy of LONG bytes and more goes in pieces, each of them chosen and timed by itself: so one
 * long copy is enough to learn, and a bad trial costs a piece, not all. Below LEAST the kinds
 * differ by less than the clock costs. Short copies are timed now and then only, for the same
 * reason.
 */
#include "copy/copy.h"

#include <pthread.h>

#include "base/knobs.h"
#include "base/log.h"
#include "copy/habit.h"
#include "copy/kinds.h"

#define LEAST (32u << 10)
#define LONG (8u << 20)
#define PIECE (2u << 20)

static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Atomic uint32_t kinds; /* to choose from; one bit: nothing to learn; 0: not looked yet */
static enum copy_kind only;    /* if there is one bit; constant once `kinds` is set (release) */

static void
look(void)
{
    uint32_t have = copy_kinds();
    int choice = 0;

    (void)hc_knob_enum(KNOB_COPY, &choice); /* wrong: it has said so; the default is in `choice` */
    if (choice > 0) {
        only = (enum copy_kind)(choice - 1);
        if ((have & 1u << only) == 0)
            LOG_WARN(COPY, "HCOMM_COPY asks for stores that this processor has not, or not fast");
        have = 1u << only;
    }
    atomic_store_explicit(&kinds, have, memory_order_release);
}

static uint32_t
kinds_now(void)
{
    uint32_t now = atomic_load_explicit(&kinds, memory_order_acquire);

    if (now != 0)
        return now;
    pthread_once(&once, look);
    return atomic_load_explicit(&kinds, memory_order_acquire);
}

static uint32_t
cost_of(uint64_t ticks, uint64_t len)
{
    uint64_t cost = ticks < 1ull << 47 ? (ticks << 16) / len : UINT32_MAX;

    if (cost == 0)
        return 1;
    return cost > UINT32_MAX ? UINT32_MAX : (uint32_t)cost;
}

static void
copy_piece(struct copy_class *class, uint32_t have, uint32_t stride, void *dst, const void *src,
           uint64_t len)
{
    bool timed;
    enum copy_kind kind = habit_choose(class, stride, &timed);
    uint64_t start;

    if (!timed) {
        copy_by(kind, dst, src, len);
        return;
    }
    start = copy_ticks();
    copy_by(kind, dst, src, len);
    atomic_thread_fence(memory_order_seq_cst); /* over when the peer can see all of it */
    habit_learn(class, have, kind, cost_of(copy_ticks() - start, len));
}

void
copy_learned(struct copy_habit *habit, void *dst, const void *src, uint64_t len)
{
    /* Odd, so that they do not fall in step with a program that uses its buffers in turn. */
    static const uint8_t strides[COPY_CLASSES] = {9, 9, 7, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    uintptr_t to = (uintptr_t)dst, from = (uintptr_t)src;
    uint32_t have, number;

    if (len < LEAST || (to > from ? to - from : from - to) < len) { /* short, or they overlap */
        copy_bytes(dst, src, len);
        return;
    }
    have = kinds_now();
    if ((have & (have - 1)) == 0) { /* one */
        copy_by(only, dst, src, len);
        return;
    }
    number = 63u - (uint32_t)__builtin_clzll(len / LEAST);
    if (number >= COPY_CLASSES)
        number = COPY_CLASSES - 1;
    while (len >= LONG) {
        copy_piece(&habit->class[number], have, 1, dst, src, PIECE);
        dst = (char *)dst + PIECE;
        src = (const char *)src + PIECE;
        len -= PIECE;
    }
    copy_piece(&habit->class[number], have, strides[number], dst, src, len);
}
