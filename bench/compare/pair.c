/* SPDX-License-Identifier: BSD-3-Clause */
/* compare: two processes that meet. */
#include "loops.h"

#include <sched.h>

#define SPINS_ALONE 2000u /* then also let the library make progress */
#define SPINS_YIELD 40000u

struct launch {
    const struct lib *lib;
    struct shared *shared;
    int argc;
    char **argv;
};

void
meet(struct pair *pair)
{
    const atomic_uint *other = &pair->shared->here[1 - pair->rank].value;
    unsigned turn = ++pair->met;

    atomic_store_explicit(&pair->shared->here[pair->rank].value, turn, memory_order_release);
    /* The other may be one turn ahead already. */
    for (unsigned spins = 0; (int)(atomic_load_explicit(other, memory_order_acquire) - turn) < 0;
         spins++) {
        /* A library may still have to push out what it has taken. */
        if (spins >= SPINS_ALONE && pair->lib->progress != NULL)
            pair->lib->progress();
        if (spins >= SPINS_YIELD)
            sched_yield();
    }
}

static void
launch_rank(int rank, void *arg)
{
    const struct launch *launch = arg;
    struct pair pair = {.rank = rank, .shared = launch->shared, .lib = launch->lib};

    pair.lib->open(&pair);
    loops_main(&pair, launch->argc, launch->argv);
    pair.lib->close();
}

int
loops_fork(const struct lib *lib, int argc, char **argv)
{
    struct launch launch = {
        .lib = lib, .shared = shared_inherit(sizeof(struct shared)), .argc = argc, .argv = argv};

    return ranks_fork(lib->name, 2, launch_rank, &launch);
}
