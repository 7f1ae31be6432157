/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * habit: learns which kind of copy is fastest for one class of sizes on one path.
 *
 * Which kind that is depends on what nobody tells a library: whether the sender has just written
 * the bytes and the receiver reads them next, which caches the two share, how large those are. So
 * copies are timed. One kind is in use; after some `rest` copies another is on trial.
 *
 * H1  A trial is TRIES copies in a row, of which the first SETTLE do not count, since what the kind
 *     before has left in the caches distorts them; the least of the others does. A hopeless kind is
 *     not tried to the end. Nor do the first copies count of the kind that comes next.
 * H2  A trial that brings nothing wastes time; the rest after it is chosen so that at most one
 *     part in WASTE_SHARE of all time is wasted so. So what is far worse is tried rarely.
 * H3  A few samples decide nothing: a thread that has been descheduled finds cold caches too. The
 *     kind in use is believed to be slower only after SLOW slow samples in a row, and then as slow
 *     as the fastest of them. A trial ends at its first copy only if that says what was known.
 * H4  When the kind in use becomes slower (the pattern has changed), it gives way at once to what
 *     is known to be better, and the next trial is brought forward.
 * H5  All fields are relaxed atomics, and threads that share a class mix up each other's trials:
 *     a wrong estimate, no more. Kinds in the fields are below COPY_KINDS always.
 * H6  The first trials meet pages and caches that have never been used so. The first rests are
 *     short: what they say is soon asked again.
 */
#ifndef HC_COPY_HABIT_H
#define HC_COPY_HABIT_H

#include <stdbool.h>

#include "copy/copy.h"

/* The kind for the next copy. *timed: habit_learn what it costs. One of every `stride` copies of
 * the kind in use is timed. `kinds`: of copy_kinds(). */
enum copy_kind habit_choose(struct copy_class *class, uint32_t stride, bool *timed);

/* What the copy that habit_choose chose has cost; in any unit, always the same. Not 0. */
void habit_learn(struct copy_class *class, uint32_t kinds, enum copy_kind kind, uint32_t cost);

#endif
