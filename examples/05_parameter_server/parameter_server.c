/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A parameter server. Rank 0 keeps the parameters; every other rank is a worker, which computes a
 * gradient from its own data. In each step all gradients are added up and the parameters go one
 * step down their sum.
 *
 * --mode window: the server offers two windows. Workers put and get there by themselves, all at the
 * same time, and the server is told when all have been there:
 *
 *         worker 1..n                                     rank 0, the server
 *     +----------------+        HcommGet             +---------------------------+
 *     |   parameters <-|-----------------------------|-- window "model" (read)   |<--+
 *     |       |        |                             |                           |   |
 *     |    compute     |                             |                         Apply |
 *     |       v        |  HcommAccumulate (sum)      |                           |   |
 *     |   gradient  ---|-----------------------------|-> window "sum"            |---+
 *     |                |                             |      (accumulate)         |
 *     |                |  HcommPutNotify, 0 bytes    |                           |
 *     |        then ---|-----------------------------|-> notify ARRIVED: n times |
 *     |                |                             |                           |
 *     |  notify UPDATED|<----------------------------|-- then, to each worker    |
 *     +----------------+  HcommPutNotify, 0 bytes    +---------------------------+
 *
 * --mode sendrecv: the same with messages. The server receives every gradient into a buffer of its
 * own, adds them up alone, and sends the parameters back to each worker.
 *
 * At the end the server does all of it again in one thread, and compares the parameters bit by bit.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <acl/acl.h>
#include <hcomm/hcomm_p2p.h>

#include "model.h"
#include "ranks.h"

#define SERVER 0
#define FP32 HCCL_DATA_TYPE_FP32

enum { ARRIVED, UPDATED }; /* notifies */
enum { GRADIENT, MODEL };  /* tags */

/* The command line; nobody writes it once the ranks run. */
static struct {
    uint64_t parameters, steps;
    int window, sendrecv; /* modes to run */
} options = {262144, 200, 1, 1};

/* The first steps touch all memory and are not timed. */
static uint64_t
WarmUp(void)
{
    return options.steps / 10;
}

/* ---- With windows ---------------------------------------------------------------------------- */

/* Returns the seconds of the timed steps; the parameters stay in `p`. */
static double
ServeWindow(uint32_t workers, float *p, float *sum, HcommWindow model, HcommWindow gradients)
{
    double start = Seconds();

    for (uint64_t step = 0; step < options.steps; step++) {
        if (step == WarmUp())
            start = Seconds();
        MUST(HcommWindowNotifyWait(gradients, ARRIVED, workers, 0, HCOMM_STREAM_INLINE));
        Apply(p, sum, options.parameters, workers);
        for (uint32_t worker = 1; worker <= workers; worker++)
            MUST(HcommPutNotify(NULL, 0, FP32, model, worker, 0, UPDATED, HCOMM_STREAM_INLINE));
    }
    return Seconds() - start;
}

static void
WorkWindow(const Data *data, float *p, float *gradient, HcommWindow model, HcommWindow gradients)
{
    uint64_t n = options.parameters;

    for (uint64_t step = 0; step < options.steps; step++) {
        MUST(HcommGet(p, n, FP32, model, SERVER, 0, HCOMM_STREAM_INLINE));
        Gradient(data, p, gradient, n);
        MUST(HcommAccumulate(gradient, n, FP32, HCCL_REDUCE_SUM, gradients, SERVER, 0,
                             HCOMM_STREAM_INLINE));
        MUST(HcommPutNotify(NULL, 0, FP32, gradients, SERVER, 0, ARRIVED, HCOMM_STREAM_INLINE));
        MUST(HcommWindowNotifyWait(model, UPDATED, 1, 0, HCOMM_STREAM_INLINE));
    }
}

static double
RunWindow(const Rank *me, const Data *data, float *p, float *gradient)
{
    uint64_t len = me->rank == SERVER ? options.parameters * sizeof *p : 0; /* workers offer none */
    void *served = NULL, *sum = NULL;
    HcommWindow model = NULL, gradients = NULL;
    double seconds = 0;

    MUST(HcommWindowAllocate(me->comm, len, HCOMM_ACCESS_READ, &served, &model));
    MUST(HcommWindowAllocate(me->comm, len, HCOMM_ACCESS_ACCUMULATE, &sum, &gradients));
    if (me->rank == SERVER) {
        seconds = ServeWindow(me->rankSize - 1, served, sum, model, gradients);
        memcpy(p, served, len);
    } else {
        WorkWindow(data, p, gradient, model, gradients);
    }
    MUST(HcommWindowDestroy(gradients));
    MUST(HcommWindowDestroy(model));
    return seconds;
}

/* ---- With messages --------------------------------------------------------------------------- */

/* `arrived` has room for a gradient of each worker. */
static double
ServeMessages(const Rank *me, float *p, float *sum, float *arrived)
{
    uint32_t workers = me->rankSize - 1;
    HcommBatchItem receives[MOST_WORKERS] = {0}, sends[MOST_WORKERS] = {0};
    uint64_t n = options.parameters;
    double start = Seconds();

    for (uint32_t i = 0; i < workers; i++) {
        receives[i] = (HcommBatchItem){.kind = HCOMM_BATCH_RECV, .peer = i + 1, .tag = GRADIENT};
        sends[i] = (HcommBatchItem){.kind = HCOMM_BATCH_SEND, .peer = i + 1, .tag = MODEL};
        receives[i].type = sends[i].type = FP32;
        receives[i].count = sends[i].count = n;
        receives[i].buf = arrived + i * n;
        sends[i].buf = p;
    }
    for (uint64_t step = 0; step < options.steps; step++) {
        if (step == WarmUp())
            start = Seconds();
        MUST(HcommBatch(receives, workers, me->comm, HCOMM_STREAM_INLINE)); /* all at once */
        for (uint32_t i = 0; i < workers; i++)
            Add(sum, arrived + i * n, n);
        Apply(p, sum, n, workers);
        MUST(HcommBatch(sends, workers, me->comm, HCOMM_STREAM_INLINE));
    }
    return Seconds() - start;
}

static void
WorkMessages(const Rank *me, const Data *data, float *p, float *gradient)
{
    uint64_t n = options.parameters;

    for (uint64_t step = 0; step < options.steps; step++) {
        Gradient(data, p, gradient, n);
        MUST(HcommSend(gradient, n, FP32, SERVER, GRADIENT, me->comm, HCOMM_STREAM_INLINE));
        MUST(HcommRecv(p, n, FP32, SERVER, MODEL, NULL, me->comm, HCOMM_STREAM_INLINE));
    }
}

static double
RunMessages(const Rank *me, const Data *data, float *p, float *gradient)
{
    float *arrived;
    double seconds;

    if (me->rank != SERVER) {
        WorkMessages(me, data, p, gradient);
        return 0;
    }
    arrived = PinnedFloats(options.parameters * (me->rankSize - 1));
    seconds = ServeMessages(me, p, gradient, arrived);
    MUST(aclrtFreeHost(arrived));
    return seconds;
}

/* ---- Both ------------------------------------------------------------------------------------ */

enum { SENDRECV, WINDOW, MODES };

static int
IsAsked(int mode)
{
    return mode == SENDRECV ? options.sendrecv : options.window;
}

/* Prints what the server measured, and whether the parameters are right. */
static void
Report(const Rank *me, const double *seconds, float *const *p)
{
    uint32_t workers = me->rankSize - 1;
    uint64_t n = options.parameters;
    double bytesPerStep = 2.0 * workers * (double)n * sizeof(float); /* up and down */
    float *serial = SerialRun(n, options.steps, workers);
    int wrong = 0;

    printf("%u workers, %llu parameters, %llu steps\n", workers, (unsigned long long)n,
           (unsigned long long)options.steps);
    for (int mode = SENDRECV; mode < MODES; mode++) {
        double perSecond = (double)(options.steps - WarmUp()) / seconds[mode];
        int equal;

        if (!IsAsked(mode))
            continue;
        equal = memcmp(p[mode], serial, n * sizeof(float)) == 0;
        wrong |= !equal;
        printf("%-9s %10.1f steps/s %10.1f MB/s   mean error %.4f   %s\n",
               mode == SENDRECV ? "sendrecv" : "window", perSecond, perSecond * bytesPerStep / 1e6,
               MeanError(p[mode], n), equal ? "equals the serial run" : "NOT WHAT IT SHOULD BE");
    }
    if (options.sendrecv && options.window)
        printf("window makes %.2f times the steps of sendrecv\n",
               seconds[SENDRECV] / seconds[WINDOW]);
    free(serial);
    Must(wrong, "the comparison with a serial run");
}

static void
RunRank(const Rank *me)
{
    float *p[MODES], *gradient = PinnedFloats(options.parameters);
    double seconds[MODES] = {0};
    Data data = {NULL, NULL};

    for (int mode = SENDRECV; mode < MODES; mode++)
        p[mode] = PinnedFloats(options.parameters);
    if (me->rank != SERVER)
        data = DataOf(me->rank - 1, options.parameters);
    if (options.sendrecv)
        seconds[SENDRECV] = RunMessages(me, &data, p[SENDRECV], gradient);
    if (options.window)
        seconds[WINDOW] = RunWindow(me, &data, p[WINDOW], gradient);
    if (me->rank == SERVER)
        Report(me, seconds, p);
    DataFree(&data);
    for (int mode = SENDRECV; mode < MODES; mode++)
        MUST(aclrtFreeHost(p[mode]));
    MUST(aclrtFreeHost(gradient));
}

static void
ReadOptions(const HcommJobInfo *job, int argc, char **argv)
{
    int speak = job->process == 0;

    for (int i = 1; i < argc; i += 2) {
        const char *name = argv[i], *value = argv[i + 1]; /* argv ends with NULL */

        if (strcmp(name, "--parameters") == 0) {
            options.parameters = NumberOf(speak, name, value, 1, 1u << 28);
        } else if (strcmp(name, "--steps") == 0) {
            options.steps = NumberOf(speak, name, value, 1, 1000000000);
        } else if (strcmp(name, "--mode") == 0 && value != NULL) {
            options.window = strcmp(value, "sendrecv") != 0;
            options.sendrecv = strcmp(value, "window") != 0;
            if (options.window && options.sendrecv && strcmp(value, "both") != 0)
                Refuse(speak, "--mode is \"%s\": it must be window, sendrecv or both", value);
        } else {
            Refuse(speak,
                   "\"%s\" is not understood: parameter_server [--parameters N] [--steps N] "
                   "[--mode window|sendrecv|both]",
                   name);
        }
    }
    if (job->rankSize < 2 || job->rankSize > MOST_WORKERS + 1)
        Refuse(speak,
               "a server and 1 to %d workers are needed, not %u ranks: "
               "hcomm run -n 4 -- ./parameter_server",
               MOST_WORKERS, job->rankSize);
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
