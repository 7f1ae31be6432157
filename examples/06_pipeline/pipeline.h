/* SPDX-License-Identifier: BSD-3-Clause */
/* pipeline.h: what the variants of the pipeline share. */
#ifndef PIPELINE_H
#define PIPELINE_H

#include <stdint.h>

#include "ranks.h"

/* The command line; nobody writes it once the ranks run. */
typedef struct {
    uint64_t elements; /* of an activation, fp32 */
    uint64_t batches;  /* micro-batches of a round */
    uint64_t work;     /* passes over the activation in each stage */
    uint64_t ring;     /* buffers of variant put */
    uint64_t rounds;   /* timed ones; the table has their median */
    const char *mode;
} Options;

extern Options options;

/* One stage of the pipeline: this rank. */
typedef struct {
    const Rank *me;
    uint32_t stage, last; /* own, and that of the end */
    const float *input;   /* of the first stage: see InputOf */
    float *out, *in;      /* pinned, for variants that need them: [elements] each */
    int checkAll;         /* compare every element with the serial run, not only some */
    void *variant;        /* whatever the variant keeps between open and close */
} Stage;

/* A way to hand activations on. open and close are collective. */
typedef struct {
    const char *name;
    void (*open)(Stage *stage);
    void (*round)(Stage *stage); /* takes all batches through this stage */
    void (*close)(Stage *stage);
} Variant;

extern const Variant computeOnly, sendRecv, put, allGather;

/* What the first stage starts batch `batch` from: [elements]. */
const float *InputOf(const Stage *stage, uint64_t batch);

/* out = what stage `stage` makes of `in`. */
void Compute(float *out, const float *in, uint64_t elements, uint32_t stage);

/* At the last stage: end the process unless `out` is what a serial run makes of `batch`. */
void Check(const Stage *stage, uint64_t batch, const float *out);

#endif
