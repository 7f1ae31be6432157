/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plan: how copy_plan() finds its plan (inside this layer only).
 *
 *     plan.c          the knob, the text, the choice, once in a process
 *     plan_measure.c  the machine is asked
 *     plan_cache.c    what it answered is kept in a file
 */
#ifndef HC_COPY_PLAN_H
#define HC_COPY_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "copy/copy.h"

#define PLAN_TEXT_LEN 160u /* room for any plan's text */

/* Where nothing can be measured. */
extern const struct copy_plan plan_default;

/* "eager=8192,middle=pull,large=both,large_from=65536,piece=16384": any of them, each once, in any
 * order. The others stay. false: *why, cut to `len`, says what is wrong; *plan is as it was. */
bool plan_parse(const char *text, struct copy_plan *plan, char *why, size_t len);

void plan_format(const struct copy_plan *plan, char text[PLAN_TEXT_LEN]);

/* Asks the machine, for about `budget_ns` at most; what it has no time for stays. false: there is
 * only one processor, no memory, or the machine was too busy; *plan is as it was. */
bool plan_measure(struct copy_plan *plan, uint64_t budget_ns);

/* The cached plan of this machine; if there is none, measure()s one and caches it, while other
 * processes of the user that come at the same time wait for it. false: measure() failed, or who
 * was waited for. */
bool plan_cached(struct copy_plan *plan, bool (*measure)(struct copy_plan *plan));

#endif
