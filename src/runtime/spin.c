/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * spin: a record that another process makes within microseconds is worth waiting for on the
 * processor: to sleep and be woken takes some ten times as long, for both sides.
 *
 * First a thread looks at memory alone (the word it waits for, its own signal, the ready queue). If
 * that does not help it attends the bell, so that peers need no system call to reach any waiter of
 * the process, and lets others run between its looks.
 *
 * Spinning must never cost more than it can bring:
 * - Nobody spins unless another process may record something here.
 * - HCOMM_SPIN bounds it. Each thread learns: success restores its whole budget; after a vain
 *   attempt the sleep tells whether more patience would have helped. A sleep that was short doubles
 *   the budget, a longer one halves it, down to nearly nothing.
 * - Between yields it looks undisturbed for QUIET_NS: a yield takes as long as many looks.
 * - A yield that takes long has let somebody else run: there are more threads than cores, so the
 *   thread looks once more and sleeps. A process that has one core yields sooner; where the machine
 *   has no more, at once.
 * - At most as many threads of a process attend as it has cores, and only one that waits for
 *   nothing in particular.
 *
 * S1  Who attends drains what it finds before it leaves, and hc_bell_leave does once more (B1). So
 *     no ring that saw it attend is lost, whatever it does afterwards.
 */
#include "runtime/spin.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "base/bell.h"
#include "base/clock.h"
#include "base/knobs.h"
#include "base/word.h"
#include "runtime/runtime.h"
#include "runtime/sched.h"

#define QUICK_LOOKS 32u   /* at memory alone, before the clock is asked for the first time */
#define LOOK_NS 16u       /* what one of them takes, about */
#define QUIET_NS 2000u    /* from here on others get their turn between looks */
#define LOOKS 8u          /* between two of these */
#define SWITCHED_NS 4000u /* a yield this long has let somebody else run */
#define LEAST_PART 64u    /* of the whole budget, what is left after many vain attempts */
#define SHORT_SLEEP 5u    /* budgets, and ... */
#define WAKE_NS 200000u   /* ... this: a sleep that short was hardly worth it */

static _Atomic(struct hc_bell *) bell; /* NULL: none yet; set once */
static atomic_int remote_num;          /* notifies that other processes record */
static _Atomic uint32_t attending;     /* threads that spin at length */
static pthread_once_t set_up_once = PTHREAD_ONCE_INIT;
static uint32_t whole_ns, cores; /* constant once remote_num was above 0 */
static bool lone_core;           /* likewise: of the machine, so nothing comes while we look */

static void
set_up(void)
{
    int64_t us;

    (void)hc_knob_int(KNOB_SPIN_US, &us); /* invalid: logged, the default holds */
    whole_ns = (uint32_t)us * 1000u;
    cores = rt_sched_cores();
    lone_core = sysconf(_SC_NPROCESSORS_ONLN) == 1;
}

void
rt_spin_remote_add(int delta)
{
    if (delta > 0)
        (void)pthread_once(&set_up_once, set_up); /* whoever sees remote_num above 0 sees it done */
    if (delta != 0)
        atomic_fetch_add(&remote_num, delta);
}

void
rt_shared_watch(struct hc_bell *rung)
{
    atomic_store_explicit(&bell, rung, memory_order_release);
}

static inline void
relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* What a thread that spins waits for. */
struct target {
    struct rt_executor *me;
    const struct rt_watch *words; /* [num]; none: nothing in particular */
    uint32_t num;
};

static bool
must_go_on(const struct target *target)
{
    return atomic_load_explicit(&target->me->signal, memory_order_relaxed) != 0 ||
           rt_sched_any_ready();
}

static bool
look(const struct target *target)
{
    for (uint32_t i = 0; i < target->num; i++) {
        const struct rt_watch *at = &target->words[i];

        if (hc_word_posted(atomic_load_explicit(at->word, memory_order_relaxed)) != at->seen)
            return true;
    }
    return must_go_on(target);
}

/* A few looks, or somebody else's turn. *crowded: there was somebody. */
static bool
look_and_pause(const struct target *target, bool yields, bool *crowded)
{
    bool came = false;

    if (yields) {
        uint64_t before = hc_now_ns();

        sched_yield();
        *crowded = cores > 1 && hc_now_ns() - before > SWITCHED_NS;
        return look(target);
    }
    for (uint32_t i = 0; i < LOOKS && !came; i++) {
        relax();
        came = look(target);
    }
    return came;
}

/* With the bell, until `budget_ns` is over. */
static bool
spin_at_length(const struct target *target, uint32_t budget_ns)
{
    struct hc_bell *rung = atomic_load_explicit(&bell, memory_order_acquire);
    uint64_t start = hc_now_ns(), now = start, quiet_until = start + QUIET_NS;
    bool came = false, crowded = false;

    if (rung != NULL)
        hc_bell_attend(rung);
    while (!came && !crowded && now - start < budget_ns) {
        bool yields = cores == 1 || now > quiet_until;

        came = look_and_pause(target, yields, &crowded);
        if (rung != NULL && hc_bell_is_rung(rung)) {
            hc_bell_drain(rung, rt_shared_wake); /* S1 */
            came = came || must_go_on(target);
        }
        now = hc_now_ns();
        if (yields)
            quiet_until = now + QUIET_NS; /* nobody wanted the processor, or we stop */
    }
    if (rung != NULL)
        hc_bell_leave(rung, rt_shared_wake);
    return came || look(target);
}

static bool
spin(const struct target *target, uint32_t most)
{
    struct rt_spin *state = &target->me->spin;
    uint32_t looks = 0;
    bool came = false;

    if (!state->begun) {
        state->budget_ns = whole_ns;
        state->begun = true;
    }
    if (state->budget_ns == 0)
        return false;
    if (target->num > 0 && !lone_core)
        looks = state->budget_ns / LOOK_NS;
    for (uint32_t i = 0; i < looks && i < QUICK_LOOKS && !came; i++) {
        relax();
        came = look(target);
    }
    if (!came && state->budget_ns > QUICK_LOOKS * LOOK_NS) {
        if (atomic_fetch_add(&attending, 1) < most)
            came = spin_at_length(target, state->budget_ns);
        atomic_fetch_sub(&attending, 1);
    }
    state->tired = !came;
    if (came)
        state->budget_ns = whole_ns;
    return came;
}

bool
rt_spin_on_any(const struct rt_watch *words, uint32_t num)
{
    struct target target = {.me = rt_sched_self(), .words = words, .num = num};

    if (target.me->depth == 0) /* nobody can mean it: what is there is left from its last wait */
        atomic_store_explicit(&target.me->signal, 0, memory_order_relaxed);
    if (target.me->spin.tired || atomic_load_explicit(&remote_num, memory_order_acquire) == 0 ||
        must_go_on(&target))
        return false;
    return spin(&target, cores);
}

bool
rt_spin_on(_Atomic uint64_t *word, uint32_t seen)
{
    const struct rt_watch watch = {.word = word, .seen = seen};

    return rt_spin_on_any(&watch, 1);
}

bool
rt_spin_idle(void)
{
    struct target target = {.me = rt_sched_self()};

    if (atomic_load_explicit(&remote_num, memory_order_acquire) == 0 || target.me->spin.tired ||
        atomic_load_explicit(&bell, memory_order_relaxed) == NULL || must_go_on(&target))
        return false;
    return spin(&target, 1);
}

void
rt_spin_rested(struct rt_spin *state, uint64_t ns)
{
    uint32_t least = whole_ns / LEAST_PART;

    state->tired = false;
    if (ns < (uint64_t)whole_ns * SHORT_SLEEP + WAKE_NS)
        state->budget_ns = state->budget_ns < whole_ns / 2 ? state->budget_ns * 2 : whole_ns;
    else
        state->budget_ns = state->budget_ns / 2 > least ? state->budget_ns / 2 : least;
}
