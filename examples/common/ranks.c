/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <acl/acl.h>
#include <hccl/hccl_comm.h>

/* What one thread is told. */
typedef struct {
    Rank rank;
    int32_t device;
    const HcclRootInfo *rootInfo;
    void (*run)(const Rank *me);
    pthread_t thread;
} Share;

void
Must(int code, const char *call)
{
    if (code == 0)
        return;
    fflush(stdout);
    fprintf(stderr, "%s returned %d\n", call, code);
    _exit(1); /* not exit(): the other threads go on until the end */
}

void
Refuse(int speak, const char *format, ...)
{
    va_list args;

    if (!speak) {
        sleep(1); /* who fails first may have the others ended before they spoke */
        _exit(2);
    }
    fflush(stdout);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    _exit(2);
}

uint64_t
NumberOf(int speak, const char *name, const char *text, uint64_t least, uint64_t most)
{
    unsigned long long number = 0;
    char *end = NULL;
    int isNumber = text != NULL && text[0] >= '0' && text[0] <= '9';

    errno = 0;
    if (isNumber)
        number = strtoull(text, &end, 10);
    if (!isNumber || errno != 0 || *end != '\0' || number < least || number > most)
        Refuse(speak, "%s is \"%s\": it must be a number from %llu to %llu", name,
               text == NULL ? "" : text, (unsigned long long)least, (unsigned long long)most);
    return number;
}

float *
PinnedFloats(uint64_t count)
{
    void *floats = NULL;

    MUST(aclrtMallocHost(&floats, count * sizeof(float)));
    memset(floats, 0, count * sizeof(float));
    return floats;
}

double
Seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void *
RunShare(void *arg)
{
    Share *share = arg;
    Rank *me = &share->rank;

    MUST(aclrtSetDevice(share->device));
    MUST(HcclCommInitRootInfo(me->rankSize, share->rootInfo, me->rank, &me->comm));
    share->run(me);
    MUST(HcclCommDestroy(me->comm));
    MUST(aclrtResetDevice(share->device));
    return NULL;
}

void
RunRanks(const HcommJobInfo *job, void (*run)(const Rank *me))
{
    Share *shares = calloc(job->ranksPerProcess, sizeof *shares);
    uint32_t deviceCount = 0;
    HcclRootInfo rootInfo;

    Must(shares == NULL, "calloc");
    MUST(aclInit(NULL));
    MUST(aclrtGetDeviceCount(&deviceCount));
    MUST(aclrtSetDevice(0));
    MUST(HcommJobGetRootInfo(&rootInfo));
    for (uint32_t i = 0; i < job->ranksPerProcess; i++) {
        Share *share = &shares[i];

        share->rank.rank = job->firstRank + i;
        share->rank.rankSize = job->rankSize;
        share->device = (int32_t)((job->localProcess * job->ranksPerProcess + i) % deviceCount);
        share->rootInfo = &rootInfo;
        share->run = run;
        MUST(pthread_create(&share->thread, NULL, RunShare, share));
    }
    for (uint32_t i = 0; i < job->ranksPerProcess; i++)
        MUST(pthread_join(shares[i].thread, NULL));
    free(shares);
    MUST(aclrtResetDevice(0));
    MUST(aclFinalize());
}
