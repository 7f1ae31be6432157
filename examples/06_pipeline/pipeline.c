/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A pipeline. Each rank is a stage; micro-batches go through all stages one after the other, so
 * that every stage works on a batch of its own at any time. What is handed on is the activation.
 *
 *     input --> stage 0 ---------> stage 1 ---------> stage 2 ---------> stage 3 --> checked
 *
 * --mode put: each stage offers a window with a ring of buffers. The stage before puts into it and
 * is told, by another notify, when a buffer may be filled again:
 *
 *        stage s                                        stage s + 1
 *     +-----------+                              +----+----+----+----+
 *     |  compute  |                              | b0 | b1 | b2 | b3 |  window
 *     |     v     |  HcommPutNotify, activation  +----+----+----+----+
 *     |    out ---|----------------------------->  next one in turn, then notify FULL
 *     |           |  HcommPutNotify, 0 bytes                 |
 *     |  EMPTIED <|------------------------------  when compute has read it
 *     +-----------+
 *
 * --mode sendrecv: HcommRecv, compute, HcommSend.
 *
 * --mode allgather: as programs with nothing but collectives do it. See allgather.c.
 *
 * --mode all runs them in turn, round after round, and prints the medians. The communication time
 * of a step is what the step takes beyond the same computing without any communication ("compute"),
 * by as many ranks at once. A round of B batches through S stages has B + S - 1 steps. The last
 * stage compares with a serial run: every element of a first round that is not timed, then 256
 * elements of each batch.
 */
#include "pipeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <acl/acl.h>
#include <hcomm/hcomm_p2p.h>

#define PATTERN 1021 /* the inputs repeat after so many elements; a prime */
#define SPOTS 256    /* elements of a batch that are compared in a timed round */

enum { COMPUTE, ALL_GATHER, SEND_RECV, PUT, VARIANTS };
static const Variant *const variants[VARIANTS] = {&computeOnly, &allGather, &sendRecv, &put};

Options options = {262144, 200, 1, 4, 7, "all"};

/* ---- What a stage computes ------------------------------------------------------------------- */

const float *
InputOf(const Stage *stage, uint64_t batch)
{
    return stage->input + batch % PATTERN;
}

static float *
MakeInput(void)
{
    float *input = PinnedFloats(options.elements + PATTERN);

    for (uint64_t i = 0; i < options.elements + PATTERN; i++)
        input[i] = (float)(i % PATTERN);
    return input;
}

/* Whole numbers that stay small: exact, and no two stages or batches give the same. */
void
Compute(float *out, const float *in, uint64_t elements, uint32_t stage)
{
    float more = (float)stage + 1;

    for (uint64_t i = 0; i < elements; i++)
        out[i] = more - in[i];
    for (uint64_t pass = 1; pass < options.work; pass++) {
        for (uint64_t i = 0; i < elements; i++)
            out[i] = more - out[i];
    }
}

/* What a serial run makes of `count` elements of the input. */
static void
Serial(float *out, const float *in, uint64_t count, uint32_t last)
{
    Compute(out, in, count, 0);
    for (uint32_t stage = 1; stage <= last; stage++)
        Compute(out, out, count, stage);
}

static void
CheckSpot(const Stage *stage, uint64_t batch, const float *out, uint64_t i)
{
    float right;

    Serial(&right, InputOf(stage, batch) + i, 1, stage->last);
    if (out[i] == right)
        return;
    fprintf(stderr, "element %llu of batch %llu is %g, and %g in a serial run\n",
            (unsigned long long)i, (unsigned long long)batch, (double)out[i], (double)right);
    Must(1, "Check");
}

void
Check(const Stage *stage, uint64_t batch, const float *out)
{
    uint64_t stride = stage->checkAll ? 1 : options.elements / SPOTS + 1;

    for (uint64_t i = batch % stride; i < options.elements; i += stride)
        CheckSpot(stage, batch, out, i);
}

/* ---- Rounds and their times ------------------------------------------------------------------ */

/* Returns when every rank has called it. `control` is a window without memory. */
static void
Barrier(const Rank *me, HcommWindow control)
{
    if (me->rank == 0) {
        MUST(HcommWindowNotifyWait(control, 0, me->rankSize - 1, 0, HCOMM_STREAM_INLINE));
        for (uint32_t rank = 1; rank < me->rankSize; rank++)
            MUST(HcommPutNotify(NULL, 0, HCCL_DATA_TYPE_INT8, control, rank, 0, 0,
                                HCOMM_STREAM_INLINE));
    } else {
        MUST(HcommPutNotify(NULL, 0, HCCL_DATA_TYPE_INT8, control, 0, 0, 0, HCOMM_STREAM_INLINE));
        MUST(HcommWindowNotifyWait(control, 0, 1, 0, HCOMM_STREAM_INLINE));
    }
}

/* The microseconds of a step of one round; the same at all ranks but for the barrier. */
static double
TimedRound(const Variant *variant, Stage *stage, HcommWindow control)
{
    uint64_t steps = options.batches + stage->last;
    double start;

    Barrier(stage->me, control);
    start = Seconds();
    variant->round(stage);
    Barrier(stage->me, control);
    return (Seconds() - start) * 1e6 / (double)steps;
}

static int
Ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static int
IsAsked(int v)
{
    return v == COMPUTE || strcmp(options.mode, "all") == 0 ||
           strcmp(options.mode, variants[v]->name) == 0;
}

static void
PrintTable(const Stage *stage, const double *stepUs)
{
    double base = stepUs[COMPUTE], gather = stepUs[ALL_GATHER] - base;
    int isAll = strcmp(options.mode, "all") == 0;
    uint64_t len = options.elements * sizeof(float);

    printf("%u stages, %llu batches of %llu elements (%.1f KiB), work %llu, ring %llu; medians of "
           "%llu rounds\n",
           stage->me->rankSize, (unsigned long long)options.batches,
           (unsigned long long)options.elements, (double)len / 1024,
           (unsigned long long)options.work, (unsigned long long)options.ring,
           (unsigned long long)options.rounds);
    printf("%-10s %12s %10s %10s %18s%s\n", "variant", "batches/s", "MB/s", "step us",
           "communication us", isAll ? "   of allgather" : "");
    for (int v = 0; v < VARIANTS; v++) {
        double perSecond = 1e6 / stepUs[v];

        if (!IsAsked(v))
            continue;
        printf("%-10s %12.0f %10.0f %10.1f %18.1f", variants[v]->name, perSecond,
               v == COMPUTE ? 0 : perSecond * (double)len * stage->last / 1e6, stepUs[v],
               stepUs[v] - base);
        if (isAll && v != COMPUTE && gather > 0) /* else it is lost in the noise of the machine */
            printf(" %14.2f", (stepUs[v] - base) / gather);
        printf("\n");
    }
    printf("all results equal those of a serial run\n"); /* else Check would have ended this */
}

static void
RunAll(Stage *stage)
{
    double *times = calloc(VARIANTS * options.rounds, sizeof *times), medians[VARIANTS] = {0};
    void *kept[VARIANTS] = {NULL};
    HcommWindow control = NULL;

    Must(times == NULL, "calloc");
    MUST(HcommWindowCreate(stage->me->comm, NULL, 0, 0, &control));
    stage->checkAll = 1;
    for (int v = 0; v < VARIANTS; v++) {
        if (!IsAsked(v))
            continue;
        variants[v]->open(stage);
        kept[v] = stage->variant;
        (void)TimedRound(variants[v], stage, control);
    }
    stage->checkAll = 0;
    for (uint64_t round = 0; round < options.rounds; round++) {
        for (int v = 0; v < VARIANTS; v++) {
            stage->variant = kept[v];
            if (IsAsked(v))
                times[v * options.rounds + round] = TimedRound(variants[v], stage, control);
        }
    }
    for (int v = 0; v < VARIANTS; v++) {
        qsort(times + v * options.rounds, options.rounds, sizeof *times, Ascending);
        medians[v] = times[v * options.rounds + options.rounds / 2];
        stage->variant = kept[v];
        if (IsAsked(v))
            variants[v]->close(stage);
    }
    MUST(HcommWindowDestroy(control));
    free(times);
    if (stage->stage == 0)
        PrintTable(stage, medians);
}

static void
RunRank(const Rank *me)
{
    float *input = MakeInput(), *in = PinnedFloats(options.elements);
    float *out = PinnedFloats(options.elements);
    Stage stage = {.me = me, .stage = me->rank, .last = me->rankSize - 1, .input = input};

    stage.in = in;
    stage.out = out;
    RunAll(&stage);
    MUST(aclrtFreeHost(out));
    MUST(aclrtFreeHost(in));
    MUST(aclrtFreeHost(input));
}

/* ---- The command line ------------------------------------------------------------------------ */

static void
ReadOptions(const HcommJobInfo *job, int argc, char **argv)
{
    int speak = job->process == 0, isKnown;

    for (int i = 1; i < argc; i += 2) {
        const char *name = argv[i], *value = argv[i + 1]; /* argv ends with NULL */

        if (strcmp(name, "--elements") == 0)
            options.elements = NumberOf(speak, name, value, 1, 1u << 28);
        else if (strcmp(name, "--batches") == 0)
            options.batches = NumberOf(speak, name, value, 1, 1000000000);
        else if (strcmp(name, "--work") == 0)
            options.work = NumberOf(speak, name, value, 1, 1000000000);
        else if (strcmp(name, "--ring") == 0)
            options.ring = NumberOf(speak, name, value, 1, 4096);
        else if (strcmp(name, "--rounds") == 0)
            options.rounds = NumberOf(speak, name, value, 1, 1000);
        else if (strcmp(name, "--mode") == 0 && value != NULL)
            options.mode = value;
        else
            Refuse(speak,
                   "\"%s\" is not understood: pipeline [--elements N] [--batches N] "
                   "[--work N] [--ring N] [--rounds N] "
                   "[--mode put|sendrecv|allgather|all]",
                   name);
    }
    isKnown = strcmp(options.mode, "all") == 0;
    for (int v = ALL_GATHER; v < VARIANTS; v++)
        isKnown |= strcmp(options.mode, variants[v]->name) == 0;
    if (!isKnown)
        Refuse(speak, "--mode is \"%s\": it must be put, sendrecv, allgather or all", options.mode);
    if (job->rankSize < 2)
        Refuse(speak,
               "a pipeline needs 2 stages or more, not %u rank: "
               "hcomm run -n 4 -- ./pipeline",
               job->rankSize);
}

int
main(int argc, char **argv)
{
    HcommJobInfo job;

    MUST(HcommJobGetInfo(&job));
    ReadOptions(&job, argc, argv);
    RunRanks(&job, RunRank);
    return 0;
}
