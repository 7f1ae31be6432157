/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every even rank sends eight numbers, its own rank, to the next rank; every odd rank prints what
 * it received. One thread a rank, all in one process. `p2p_test ROUNDS` does it that often, each
 * time with numbers greater by one: the operator makes its resources in the first round only.
 *
 * The source is C11 and C++14.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <acl/acl.h>
#include <hccl/hccl_comm.h>

#include <hccl_custom_p2p.h>

#define COUNT 8
#define LEN (COUNT * sizeof(float))

/* One thread's part. */
typedef struct {
    uint32_t rank, rankSize;
    int rounds;
    const HcclRootInfo *rootInfo;
    float output[COUNT]; /* what an odd rank received last */
} Rank;

/* A rank that fails would keep the others waiting: all end. */
static void
Must(int code, const char *call)
{
    if (code == 0)
        return;
    fprintf(stderr, "%s returned %d\n", call, code);
    _exit(1);
}
#define MUST(call) Must((int)(call), #call)

static void
Send(const Rank *me, int round, HcclComm comm, aclrtStream stream, void *deviceBuf, float *hostBuf)
{
    for (int i = 0; i < COUNT; i++)
        hostBuf[i] = (float)me->rank + (float)round;
    MUST(aclrtMemcpy(deviceBuf, LEN, hostBuf, LEN, ACL_MEMCPY_HOST_TO_DEVICE));
    MUST(HcclSendCustom(deviceBuf, COUNT, HCCL_DATA_TYPE_FP32, me->rank + 1, comm, stream));
    MUST(aclrtSynchronizeStream(stream));
}

static void
Recv(Rank *me, HcclComm comm, aclrtStream stream, void *deviceBuf)
{
    MUST(HcclRecvCustom(deviceBuf, COUNT, HCCL_DATA_TYPE_FP32, me->rank - 1, comm, stream));
    MUST(aclrtSynchronizeStream(stream));
    MUST(aclrtMemcpy(me->output, LEN, deviceBuf, LEN, ACL_MEMCPY_DEVICE_TO_HOST));
}

static void *
RunRank(void *arg)
{
    Rank *me = (Rank *)arg;
    HcclComm comm = NULL;
    aclrtStream stream = NULL;
    void *deviceBuf = NULL, *hostBuf = NULL;

    MUST(aclrtSetDevice((int32_t)me->rank));
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtMalloc(&deviceBuf, LEN, ACL_MEM_MALLOC_HUGE_ONLY));
    MUST(aclrtMallocHost(&hostBuf, LEN));
    MUST(HcclCommInitRootInfo(me->rankSize, me->rootInfo, me->rank, &comm));

    for (int round = 0; round < me->rounds; round++) {
        if (me->rank % 2 == 0)
            Send(me, round, comm, stream, deviceBuf, (float *)hostBuf);
        else
            Recv(me, comm, stream, deviceBuf);
    }

    MUST(HcclCommDestroy(comm));
    MUST(aclrtFreeHost(hostBuf));
    MUST(aclrtFree(deviceBuf));
    MUST(aclrtDestroyStream(stream));
    MUST(aclrtResetDevice((int32_t)me->rank));
    return NULL;
}

static void
RunAll(Rank *ranks, uint32_t rankSize, int rounds, const HcclRootInfo *rootInfo)
{
    pthread_t *threads = (pthread_t *)calloc(rankSize, sizeof *threads);

    Must(threads == NULL, "calloc");
    for (uint32_t i = 0; i < rankSize; i++) {
        ranks[i].rank = i;
        ranks[i].rankSize = rankSize;
        ranks[i].rounds = rounds;
        ranks[i].rootInfo = rootInfo;
        MUST(pthread_create(&threads[i], NULL, RunRank, &ranks[i]));
    }
    for (uint32_t i = 0; i < rankSize; i++)
        pthread_join(threads[i], NULL);
    free(threads);
}

static void
Print(const Rank *rank)
{
    printf("rankId: %" PRIu32 ", output: [ ", rank->rank);
    for (int i = 0; i < COUNT; i++)
        printf("%g ", (double)rank->output[i]);
    printf("]\n");
}

int
main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    HcclRootInfo rootInfo;
    uint32_t rankSize = 0;
    Rank *ranks;

    MUST(aclInit(NULL));
    MUST(aclrtGetDeviceCount(&rankSize));
    printf("Found %" PRIu32 " NPU device(s) available\n", rankSize);
    rankSize -= rankSize % 2; /* ranks work in pairs */
    MUST(aclrtSetDevice(0));
    MUST(HcclGetRootInfo(&rootInfo));

    ranks = (Rank *)calloc(rankSize, sizeof *ranks);
    Must(ranks == NULL, "calloc");
    RunAll(ranks, rankSize, rounds, &rootInfo);
    for (uint32_t i = 1; i < rankSize; i += 2)
        Print(&ranks[i]);
    free(ranks);

    MUST(aclrtResetDevice(0));
    MUST(aclFinalize());
    return 0;
}
