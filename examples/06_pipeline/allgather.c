/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * allgather: the pipeline of a program that has collectives only. Everybody computes at the same
 * time, then everybody gets everybody's activation, and each stage goes on with its neighbour's.
 * The all-gather is made of the primitives of hcomm/hcomm_primitives.h:
 *
 *     HCCL buffer of each rank:      bank 0                    bank 1
 *                                +----+----+----+----+     +----+----+----+----+
 *                                | s0 | s1 | s2 | s3 |     | s0 | s1 | s2 | s3 |
 *                                +----+----+----+----+     +----+----+----+----+
 *
 * Stage s computes straight into slot s of its own bank, writes it from there into slot s of every
 * peer's, with a notify, and waits for the notify of every peer. Each byte moves once to each rank,
 * which is the least that an all-gather can do.
 *
 * Two banks in turn are enough, without credits: who has everybody's activation of step t knows
 * that all have computed it, so that nobody reads the bank of step t - 1 any more. For the same
 * reason one notify a bank is enough.
 */
#include <stdlib.h>

#include <hccl/hccl_channel.h>
#include <hccl/hccl_rank_graph.h>
#include <hccl/hccl_res.h>
#include <hccl/hcomm_primitives.h>

#include "pipeline.h"

#define WAIT_S 1800

typedef struct {
    ChannelHandle *channels; /* [peers] to the ranks after this one, round to the one before it */
    float **peerBanks;       /* [peers] where their HCCL buffers begin */
    float *banks;            /* own HCCL buffer: [2][ranks][elements] */
} Gather;

static uint32_t
PeerOf(const Stage *stage, uint32_t i)
{
    return (stage->stage + 1 + i) % stage->me->rankSize;
}

static void
Connect(const Stage *stage, ChannelHandle *channels)
{
    uint32_t peers = stage->me->rankSize - 1;
    HcclChannelDesc *descs = calloc(peers, sizeof *descs);

    Must(descs == NULL, "calloc");
    MUST(HcclChannelDescInit(descs, peers));
    for (uint32_t i = 0; i < peers; i++) {
        CommLink *links = NULL;
        uint32_t linkNum = 0;

        MUST(HcclRankGraphGetLinks(stage->me->comm, 0, stage->stage, PeerOf(stage, i), &links,
                                   &linkNum));
        Must(linkNum == 0, "HcclRankGraphGetLinks");
        descs[i].remoteRank = PeerOf(stage, i);
        descs[i].notifyNum = 2;
        descs[i].channelProtocol = links[0].linkAttr.linkProtocol;
        descs[i].localEndpoint = links[0].srcEndpointDesc;
        descs[i].remoteEndpoint = links[0].dstEndpointDesc;
    }
    MUST(HcclChannelAcquire(stage->me->comm, COMM_ENGINE_CPU, descs, peers, channels));
    free(descs);
}

static void
GatherOpen(Stage *stage)
{
    uint32_t peers = stage->me->rankSize - 1;
    uint64_t needed = 2 * stage->me->rankSize * options.elements * sizeof(float), size = 0;
    Gather *gather = calloc(1, sizeof *gather);
    void *buffer = NULL;

    Must(gather == NULL, "calloc");
    gather->channels = calloc(peers, sizeof *gather->channels);
    gather->peerBanks = calloc(peers, sizeof *gather->peerBanks);
    Must(gather->channels == NULL || gather->peerBanks == NULL, "calloc");
    MUST(HcclGetHcclBuffer(stage->me->comm, &buffer, &size));
    if (size < needed)
        Refuse(stage->stage == 0,
               "the HCCL buffer has %llu bytes, the all-gather needs %llu: "
               "set HCCL_BUFFSIZE (MB), or take fewer --elements",
               (unsigned long long)size, (unsigned long long)needed);
    gather->banks = buffer;
    Connect(stage, gather->channels);
    for (uint32_t i = 0; i < peers; i++) {
        MUST(HcclChannelGetHcclBuffer(stage->me->comm, gather->channels[i], &buffer, &size));
        gather->peerBanks[i] = buffer;
    }
    stage->variant = gather;
}

/* The channels and the HCCL buffer are the communicator's. */
static void
GatherClose(Stage *stage)
{
    Gather *gather = stage->variant;

    free(gather->peerBanks);
    free(gather->channels);
    free(gather);
}

/* Slot of stage `s` for step `step`, in a bank or in a peer's. */
static float *
SlotOf(const Stage *stage, float *banks, uint64_t step, uint32_t s)
{
    return banks + ((step % 2) * stage->me->rankSize + s) * options.elements;
}

static void
AllGather(const Stage *stage, uint64_t step)
{
    const Gather *gather = stage->variant;
    const float *mine = SlotOf(stage, gather->banks, step, stage->stage);
    uint32_t peers = stage->me->rankSize - 1, bank = (uint32_t)(step % 2);

    for (uint32_t i = 0; i < peers; i++)
        MUST(HcommWriteWithNotifyNbi(gather->channels[i],
                                     SlotOf(stage, gather->peerBanks[i], step, stage->stage), mine,
                                     options.elements * sizeof *mine, bank));
    for (uint32_t i = 0; i < peers; i++)
        MUST(HcommChannelNotifyWait(gather->channels[i], bank, WAIT_S));
}

/* In step t, stage s has batch t - s. Before its first batch and after its last one it takes part
 * all the same, as collectives demand. */
static void
GatherRound(Stage *stage)
{
    const Gather *gather = stage->variant;
    uint64_t steps = options.batches + stage->last;

    for (uint64_t step = 0; step < steps; step++) {
        uint64_t batch = step - stage->stage;
        float *out = SlotOf(stage, gather->banks, step, stage->stage);

        if (step >= stage->stage && batch < options.batches) {
            const float *in = stage->stage == 0
                                  ? InputOf(stage, batch)
                                  : SlotOf(stage, gather->banks, step - 1, stage->stage - 1);

            Compute(out, in, options.elements, stage->stage);
            if (stage->stage == stage->last)
                Check(stage, batch, out);
        }
        AllGather(stage, step);
    }
}

const Variant allGather = {"allgather", GatherOpen, GatherRound, GatherClose};
