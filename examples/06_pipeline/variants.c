/* SPDX-License-Identifier: BSD-3-Clause */
/* variants: the pipeline with messages, with windows, and without any communication. */
#include <stdlib.h>

#include <hcomm/hcomm_p2p.h>

#include "pipeline.h"

#define FP32 HCCL_DATA_TYPE_FP32

static void
Nothing(Stage *stage)
{
    (void)stage;
}

/* ---- Without communication: what a step costs anyway ------------------------------------------
 */

static void
ComputeRound(Stage *stage)
{
    for (uint64_t batch = 0; batch < options.batches; batch++)
        Compute(stage->out, stage->stage == 0 ? InputOf(stage, batch) : stage->in, options.elements,
                stage->stage);
}

const Variant computeOnly = {"compute", Nothing, ComputeRound, Nothing};

/* ---- Send and receive -------------------------------------------------------------------------
 */

static void
SendRecvRound(Stage *stage)
{
    uint32_t from = stage->stage - 1, to = stage->stage + 1;
    HcclComm comm = stage->me->comm;

    for (uint64_t batch = 0; batch < options.batches; batch++) {
        const float *in = stage->in;

        if (stage->stage == 0)
            in = InputOf(stage, batch);
        else
            MUST(HcommRecv(stage->in, options.elements, FP32, from, 0, NULL, comm,
                           HCOMM_STREAM_INLINE));
        Compute(stage->out, in, options.elements, stage->stage);
        if (stage->stage == stage->last)
            Check(stage, batch, stage->out);
        else
            MUST(HcommSend(stage->out, options.elements, FP32, to, 0, comm, HCOMM_STREAM_INLINE));
    }
}

const Variant sendRecv = {"sendrecv", Nothing, SendRecvRound, Nothing};

/* ---- Put with notify, into a ring of buffers ----------------------------------------------------
 */

enum { FULL, EMPTIED }; /* notifies: a buffer of mine was filled; one of my next stage's is free */

typedef struct {
    HcommWindow window;
    float *buffers; /* of this stage: [ring][elements] */
} Ring;

static void
PutOpen(Stage *stage)
{
    uint64_t len = options.ring * options.elements * sizeof(float);
    Ring *ring = calloc(1, sizeof *ring);
    void *buffers = NULL;

    Must(ring == NULL, "calloc");
    if (stage->stage == 0)
        len = 0; /* nobody puts anything there */
    MUST(HcommWindowAllocate(stage->me->comm, len, HCOMM_ACCESS_WRITE, &buffers, &ring->window));
    ring->buffers = buffers;
    stage->variant = ring;
}

static void
PutClose(Stage *stage)
{
    Ring *ring = stage->variant;

    MUST(HcommWindowDestroy(ring->window));
    free(ring);
}

static void
PutRound(Stage *stage)
{
    Ring *ring = stage->variant;
    uint64_t n = options.elements, size = options.ring;
    uint64_t credits = size; /* buffers of the next stage that may be filled */

    for (uint64_t batch = 0; batch < options.batches; batch++) {
        uint64_t slot = batch % size;

        if (stage->stage == 0) {
            Compute(stage->out, InputOf(stage, batch), n, 0);
        } else {
            MUST(HcommWindowNotifyWait(ring->window, FULL, 1, 0, HCOMM_STREAM_INLINE));
            Compute(stage->out, ring->buffers + slot * n, n, stage->stage);
            MUST(HcommPutNotify(NULL, 0, FP32, ring->window, stage->stage - 1, 0, EMPTIED,
                                HCOMM_STREAM_INLINE));
        }
        if (stage->stage == stage->last) {
            Check(stage, batch, stage->out);
            continue;
        }
        if (credits == 0) {
            MUST(HcommWindowNotifyWait(ring->window, EMPTIED, 1, 0, HCOMM_STREAM_INLINE));
            credits++;
        }
        credits--;
        MUST(HcommPutNotify(stage->out, n, FP32, ring->window, stage->stage + 1,
                            slot * n * sizeof(float), FULL, HCOMM_STREAM_INLINE));
    }
    if (stage->stage < stage->last && credits < size) /* the next round begins with all of them */
        MUST(HcommWindowNotifyWait(ring->window, EMPTIED, (uint32_t)(size - credits), 0,
                                   HCOMM_STREAM_INLINE));
}

const Variant put = {"put", PutOpen, PutRound, PutClose};
