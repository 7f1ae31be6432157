/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every even rank sends eight numbers, its own rank, to the next rank; every odd rank prints what
 * it received. Started alone, one thread a rank and a rank for each device, all in this process.
 * Started several times, by `hcomm run`, mpirun or another launcher, each process runs its share of
 * the ranks, on a thread each. `p2p_test ROUNDS` does it that often, each time with numbers greater
 * by one: the operator makes its resources in the first round only.
 *
 * The source is C11 and C++14.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <acl/acl.h>
#include <hccl/hccl_comm.h>
#include <hcomm/hcomm_job.h>

#include <hccl_custom_p2p.h>

#define COUNT 8
#define LEN (COUNT * sizeof(float))

/* One thread's part. */
typedef struct {
    uint32_t rank, rankSize;
    int32_t device;
    int rounds;
    const HcclRootInfo *rootInfo;
    pthread_t thread;
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

    MUST(aclrtSetDevice(me->device));
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtMalloc(&deviceBuf, LEN, ACL_MEM_MALLOC_HUGE_ONLY));
    MUST(aclrtMallocHost(&hostBuf, LEN));
    MUST(HcclCommInitRootInfo(me->rankSize, me->rootInfo, me->rank, &comm));

    for (int round = 0; round < me->rounds; round++) {
        if (me->rank % 2 == 1)
            Recv(me, comm, stream, deviceBuf);
        else if (me->rank + 1 < me->rankSize) /* a last one without a partner only looks on */
            Send(me, round, comm, stream, deviceBuf, (float *)hostBuf);
    }

    MUST(HcclCommDestroy(comm));
    MUST(aclrtFreeHost(hostBuf));
    MUST(aclrtFree(deviceBuf));
    MUST(aclrtDestroyStream(stream));
    MUST(aclrtResetDevice(me->device));
    return NULL;
}

/* Runs this process' ranks and returns them. */
static Rank *
RunShare(const HcommJobInfo *job, uint32_t deviceCount, int rounds, const HcclRootInfo *rootInfo)
{
    Rank *ranks = (Rank *)calloc(job->ranksPerProcess, sizeof *ranks);

    Must(ranks == NULL, "calloc");
    for (uint32_t i = 0; i < job->ranksPerProcess; i++) {
        Rank *me = &ranks[i];

        me->rank = job->firstRank + i;
        me->rankSize = job->rankSize;
        me->device = (int32_t)((job->localProcess * job->ranksPerProcess + i) % deviceCount);
        me->rounds = rounds;
        me->rootInfo = rootInfo;
        MUST(pthread_create(&me->thread, NULL, RunRank, me));
    }
    for (uint32_t i = 0; i < job->ranksPerProcess; i++)
        pthread_join(ranks[i].thread, NULL);
    return ranks;
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
    HcommJobInfo job;
    uint32_t deviceCount = 0;
    Rank *ranks;

    MUST(aclInit(NULL));
    MUST(aclrtGetDeviceCount(&deviceCount));
    MUST(HcommJobGetInfo(&job));
    if (strcmp(job.launcher, "none") == 0) /* alone: a rank for each device */
        job.rankSize = job.ranksPerProcess = deviceCount;
    if (job.process == 0)
        printf("Found %" PRIu32 " NPU device(s) available\n", deviceCount);
    MUST(aclrtSetDevice(0));
    MUST(HcommJobGetRootInfo(&rootInfo));

    ranks = RunShare(&job, deviceCount, rounds, &rootInfo);
    for (uint32_t i = 0; i < job.ranksPerProcess; i++) {
        if (ranks[i].rank % 2 == 1)
            Print(&ranks[i]);
    }
    free(ranks);

    MUST(aclrtResetDevice(0));
    MUST(aclFinalize());
    return 0;
}
