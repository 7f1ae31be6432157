/* SPDX-License-Identifier: BSD-3-Clause */
#include "copy/habit.h"

#define TRIES 6u
#define HOPELESS 3u
#define WASTE_SHARE 32u
#define REST_LEAST 32u
#define REST_FIRST 16u
#define AGE_MOST 6u /* REST_FIRST << AGE_MOST is the longest rest */
#define HURRY 4u
#define SETTLE 2u
#define SLOW 4u

#define GET(field) atomic_load_explicit(&class->field, memory_order_relaxed)
#define SET(field, value) atomic_store_explicit(&class->field, value, memory_order_relaxed)

enum copy_kind
habit_choose(struct copy_class *class, uint32_t stride, bool *timed)
{
    uint16_t rest = GET(rest);

    if (rest == 0) {
        *timed = true;
        return GET(trial);
    }
    SET(rest, (uint16_t)(rest - 1));
    *timed = rest % stride == 0;
    return GET(kind);
}

/* By more than noise: changing back and forth has its cost in the caches. */
static bool
better(uint32_t cost, uint32_t than)
{
    return cost != 0 && cost < than - than / 32;
}

/* The kind to try after `trial`: one that nothing is known of, if there is any. */
static enum copy_kind
next_trial(struct copy_class *class, uint32_t kinds, enum copy_kind kind, enum copy_kind trial)
{
    enum copy_kind next = kind;

    for (uint32_t i = COPY_KINDS; i > 0; i--) {
        enum copy_kind candidate = (trial + i) % COPY_KINDS;

        if (candidate == kind || (kinds & 1u << candidate) == 0)
            continue;
        if (next == kind || GET(cost[next]) != 0 || GET(cost[candidate]) == 0)
            next = candidate;
    }
    return next;
}

/* After a trial of `tries` copies for `cost` each, where the best kind takes `best`. */
static uint16_t
rest_after(struct copy_class *class, uint32_t tries, uint32_t cost, uint32_t best)
{
    uint64_t waste = cost > best ? (uint64_t)tries * (cost - best) : 0;
    uint64_t rest = waste * WASTE_SHARE / best; /* H2 */
    uint8_t age = GET(age) % (AGE_MOST + 1);

    if (age < AGE_MOST)
        SET(age, (uint8_t)(age + 1));
    if (rest < REST_LEAST)
        rest = REST_LEAST;
    return rest < REST_FIRST << age ? (uint16_t)rest : (uint16_t)(REST_FIRST << age); /* H6 */
}

/* Whether a trial is over that has gone on for `tries` copies, at `cost`. */
static bool
trial_over(uint32_t tries, uint32_t cost, uint32_t known, uint32_t best)
{
    if (tries >= TRIES)
        return true;
    if (best == 0 || cost / HOPELESS <= best)
        return false;
    return tries > 1 || (known != 0 && known / HOPELESS > best && cost / 2 < known); /* H3 */
}

static uint32_t
lesser(uint32_t cost, uint32_t last)
{
    return last != 0 && last < cost ? last : cost; /* 0: another thread has come between (H5) */
}

/* `kind` is used from now on, and nothing has been seen of it yet. */
static void
begin_use(struct copy_class *class, enum copy_kind kind)
{
    SET(kind, (uint8_t)kind);
    SET(settle, SETTLE);
    SET(slow, 0);
}

static void
learn_trial(struct copy_class *class, uint32_t kinds, enum copy_kind trial, uint32_t cost)
{
    enum copy_kind kind = GET(kind), next;
    uint32_t best = GET(cost[kind]), tries = GET(tries) + 1u;

    if (tries != 1 && tries != SETTLE + 1)
        cost = lesser(cost, GET(last)); /* H1 */
    if (!trial_over(tries, cost, GET(cost[trial]), best)) {
        SET(last, cost);
        SET(tries, (uint8_t)tries);
        return;
    }
    SET(cost[trial], cost);
    if (best == 0 || better(cost, best)) {
        kind = trial;
        best = cost;
    }
    next = next_trial(class, kinds, kind, trial);
    SET(trial, (uint8_t)next);
    SET(tries, 0);
    begin_use(class, kind);
    SET(rest, GET(cost[next]) == 0 ? 0 : rest_after(class, tries, cost, best));
}

/* The kind in use takes `fresh`, and took clearly less before. */
static void
give_way(struct copy_class *class, enum copy_kind kind, uint32_t fresh)
{
    enum copy_kind best = kind;

    SET(rest, (uint16_t)(GET(rest) / HURRY)); /* H4 */
    for (uint32_t other = 0; other < COPY_KINDS; other++) {
        if (other != kind && better(GET(cost[other]), fresh)) {
            best = (enum copy_kind)other;
            fresh = GET(cost[other]);
        }
    }
    if (best != kind)
        begin_use(class, best);
}

static void
learn_use(struct copy_class *class, enum copy_kind kind, uint32_t cost)
{
    uint32_t old = GET(cost[kind]);
    uint8_t settle = GET(settle), slow = GET(slow);

    if (settle > 0) {
        SET(settle, (uint8_t)(settle - 1)); /* H1 */
        return;
    }
    if (cost <= old + old / 8) {
        SET(slow, 0);
        SET(cost[kind], cost < old ? cost : old + (cost - old) / 8);
        return;
    }
    if (slow > 0)
        cost = lesser(cost, GET(last));
    SET(last, cost);
    if (slow + 1u < SLOW) {
        SET(slow, (uint8_t)(slow + 1)); /* H3 */
        return;
    }
    cost = old + (cost - old) / 2;
    SET(cost[kind], cost);
    if (cost > old + old / 4)
        give_way(class, kind, cost);
}

void
habit_learn(struct copy_class *class, uint32_t kinds, enum copy_kind kind, uint32_t cost)
{
    if (GET(rest) == 0 && kind == GET(trial))
        learn_trial(class, kinds, kind, cost);
    else if (kind == GET(kind))
        learn_use(class, kind, cost);
}
