/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An MPI program that uses hcomm the usual way: MPI_Bcast carries the root info. Every rank sends
 * a block to the next one and passes on what it receives, until each has seen the blocks of all.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <acl/acl.h>
#include <hccl/hccl_channel.h>
#include <hccl/hccl_comm.h>
#include <hccl/hccl_rank_graph.h>
#include <hccl/hccl_res.h>
#include <hccl/hcomm_primitives.h>

#define WORDS (1u << 18)
#define LEN (WORDS * sizeof(uint32_t))
#define TIMEOUT_S 60

#define CHECK(call)                                                                                \
    do {                                                                                           \
        int code_ = (int)(call);                                                                   \
        if (code_ != 0) {                                                                          \
            fprintf(stderr, "%s returned %d\n", #call, code_);                                     \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                          \
        }                                                                                          \
    } while (0)

struct ring {
    HcclComm comm;
    uint32_t rank, size;
    aclrtStream stream;
    ThreadHandle thread;
    ChannelHandle to_next, from_previous;
    char *next_buf, *buf; /* [size * LEN]: where the blocks of each step arrive */
};

static void
describe(const struct ring *ring, uint32_t peer, HcclChannelDesc *desc)
{
    uint32_t num = 0;
    CommLink *links = NULL;

    CHECK(HcclRankGraphGetLinks(ring->comm, 0, ring->rank, peer, &links, &num));
    CHECK(HcclChannelDescInit(desc, 1));
    desc->remoteRank = peer;
    desc->notifyNum = ring->size;
    desc->channelProtocol = links[0].linkAttr.linkProtocol;
    desc->localEndpoint = links[0].srcEndpointDesc;
    desc->remoteEndpoint = links[0].dstEndpointDesc;
}

static void
connect_ring(struct ring *ring)
{
    uint32_t next = (ring->rank + 1) % ring->size;
    uint32_t previous = (ring->rank + ring->size - 1) % ring->size;
    uint32_t num = next == previous ? 1 : 2; /* of two ranks, each is both to the other */
    ChannelHandle channels[2];
    HcclChannelDesc descs[2];
    uint64_t len = 0;

    describe(ring, next, &descs[0]);
    describe(ring, previous, &descs[1]);
    CHECK(HcclChannelAcquire(ring->comm, COMM_ENGINE_CPU_TS, descs, num, channels));
    ring->to_next = channels[0];
    ring->from_previous = channels[num - 1];
    CHECK(HcclGetHcclBuffer(ring->comm, (void **)&ring->buf, &len));
    CHECK(len < ring->size * LEN);
    CHECK(HcclChannelGetHcclBuffer(ring->comm, ring->to_next, (void **)&ring->next_buf, &len));
    CHECK(len < ring->size * LEN);
    CHECK(HcclThreadAcquireWithStream(ring->comm, COMM_ENGINE_CPU_TS, ring->stream, 0,
                                      &ring->thread));
}

static void
pass_around(const struct ring *ring, const void *own)
{
    const char *block = (const char *)own;

    for (uint32_t step = 0; step < ring->size; step++) {
        CHECK(HcommWriteOnThread(ring->thread, ring->to_next, ring->next_buf + step * LEN, block,
                                 LEN));
        CHECK(HcommChannelNotifyRecordOnThread(ring->thread, ring->to_next, step));
        CHECK(HcommChannelNotifyWaitOnThread(ring->thread, ring->from_previous, step, TIMEOUT_S));
        block = ring->buf + step * LEN;
    }
    CHECK(aclrtSynchronizeStream(ring->stream));
}

static uint32_t
word_of(uint32_t rank, uint32_t i)
{
    return (rank + 1) * 2654435761u + i;
}

/* How many words are wrong: in step k the block of the rank k + 1 before us arrives. */
static uint32_t
count_wrong(const struct ring *ring, uint32_t *words)
{
    uint32_t wrong = 0;

    for (uint32_t step = 0; step < ring->size; step++) {
        uint32_t from = (ring->rank + 2 * ring->size - 1 - step) % ring->size;

        CHECK(aclrtMemcpy(words, LEN, ring->buf + step * LEN, LEN, ACL_MEMCPY_DEVICE_TO_HOST));
        for (uint32_t i = 0; i < WORDS; i++)
            wrong += words[i] != word_of(from, i);
    }
    return wrong;
}

int
main(int argc, char **argv)
{
    uint32_t *words = (uint32_t *)malloc(LEN), devices = 0, wrong;
    int rank = 0, size = 0;
    HcclRootInfo root_info;
    struct ring ring;
    void *own = NULL;
    int32_t device;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    ring.rank = (uint32_t)rank;
    ring.size = (uint32_t)size;
    CHECK(words == NULL);
    CHECK(aclInit(NULL));
    CHECK(aclrtGetDeviceCount(&devices));
    device = (int32_t)(ring.rank % devices);
    CHECK(aclrtSetDevice(device));
    CHECK(aclrtCreateStream(&ring.stream));
    if (rank == 0)
        CHECK(HcclGetRootInfo(&root_info));
    MPI_Bcast(&root_info, sizeof root_info, MPI_BYTE, 0, MPI_COMM_WORLD);
    CHECK(HcclCommInitRootInfo(ring.size, &root_info, ring.rank, &ring.comm));

    connect_ring(&ring);
    for (uint32_t i = 0; i < WORDS; i++)
        words[i] = word_of(ring.rank, i);
    CHECK(aclrtMalloc(&own, LEN, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMemcpy(own, LEN, words, LEN, ACL_MEMCPY_HOST_TO_DEVICE));
    pass_around(&ring, own);
    wrong = count_wrong(&ring, words);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_UINT32_T, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d ranks, %u words wrong\n", size, wrong);

    CHECK(HcclCommDestroy(ring.comm));
    CHECK(aclrtFree(own));
    CHECK(aclrtDestroyStream(ring.stream));
    CHECK(aclrtResetDevice(device));
    CHECK(aclFinalize());
    MPI_Finalize();
    free(words);
    return wrong == 0 ? 0 : 1;
}
