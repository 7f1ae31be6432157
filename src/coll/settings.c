/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * settings: which engine expands operations, and which algorithms the user forces.
 *
 * The engine is as the communicator says (comm_op_expansion()).
 *
 * Algorithms: HCOMM_COLL_ALGO, else the communicator's or HCCL_ALGO: one choice for all operations,
 * "level0:NA;level1:ring", or by operation, "allreduce=level0:NA;level1:ring/allgather=...". Its
 * names of what exists here: ring; H-D_R, NHR and NB (hd); pipeline (ring); pairwise, AHC (mesh).
 */
#include <string.h>

#include "base/knobs.h"
#include "coll/coll.h"

/* ---- HCCL_ALGO ---- */

/* [text, end). */
struct span {
    const char *text, *end;
};

static bool
span_is(struct span span, const char *word)
{
    return (size_t)(span.end - span.text) == strlen(word) &&
           strncmp(span.text, word, strlen(word)) == 0;
}

/* Up to the next `mark`; *rest begins behind it. */
static struct span
span_take(struct span *rest, char mark)
{
    const char *found = memchr(rest->text, mark, (size_t)(rest->end - rest->text));
    struct span span = {rest->text, found == NULL ? rest->end : found};

    rest->text = found == NULL ? rest->end : found + 1;
    return span;
}

/* The algorithm that level1 names; COLL_AUTO: none that exists here. */
static enum coll_algo
algo_of_levels(struct span levels)
{
    static const struct {
        const char *name;
        enum coll_algo algo;
    } names[] = {{"ring", COLL_RING},     {"pipeline", COLL_RING},  {"H-D_R", COLL_HALVING},
                 {"NHR", COLL_HALVING},   {"NHR_V1", COLL_HALVING}, {"NB", COLL_HALVING},
                 {"pairwise", COLL_MESH}, {"AHC", COLL_MESH}};

    while (levels.text < levels.end) {
        struct span level = span_take(&levels, ';');
        struct span key = span_take(&level, ':');

        for (size_t i = 0; i < sizeof names / sizeof names[0] && span_is(key, "level1"); i++) {
            if (span_is(level, names[i].name))
                return names[i].algo;
        }
    }
    return COLL_AUTO;
}

static void
force(struct coll *coll, struct span operation, enum coll_algo algo)
{
    static const struct {
        const char *name;
        enum coll_kind first, last;
    } names[] = {{"allreduce", COLL_ALL_REDUCE, COLL_ALL_REDUCE},
                 {"broadcast", COLL_BROADCAST, COLL_BROADCAST},
                 {"reduce", COLL_REDUCE, COLL_REDUCE},
                 {"reducescatter", COLL_REDUCE_SCATTER, COLL_REDUCE_SCATTER_V},
                 {"allgather", COLL_ALL_GATHER, COLL_ALL_GATHER_V},
                 {"scatter", COLL_SCATTER, COLL_SCATTER},
                 {"alltoall", COLL_ALL_TO_ALL, COLL_ALL_TO_ALL_VC}};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        for (enum coll_kind kind = names[i].first;
             kind <= names[i].last && span_is(operation, names[i].name); kind++)
            coll->forced[kind] = algo;
    }
}

static void
parse_algo(struct coll *coll, const char *text)
{
    struct span rest = {text, text + strlen(text)};

    while (rest.text < rest.end) {
        struct span item = span_take(&rest, '/');
        struct span levels = item;
        struct span operation = span_take(&levels, '=');

        if (operation.end == item.end) { /* no operation: all of them */
            for (enum coll_kind kind = 0; kind < COLL_KINDS; kind++)
                coll->forced[kind] = algo_of_levels(item);
        } else {
            force(coll, operation, algo_of_levels(levels));
        }
    }
}

HcclResult
coll_settings(struct coll *coll)
{
    int algo;
    HcclResult rc = hc_knob_enum(KNOB_COLL_ALGO, &algo);

    if (rc != HCCL_SUCCESS)
        return rc;
    if (algo == COLL_AUTO)
        parse_algo(coll, comm_algo(coll->comm));
    for (enum coll_kind kind = 0; kind < COLL_KINDS && algo != COLL_AUTO; kind++)
        coll->forced[kind] = (enum coll_algo)algo;
    coll->on_aicpu = comm_op_expansion(coll->comm) == HCCL_OP_EXPANSION_MODE_AI_CPU;
    return HCCL_SUCCESS;
}
