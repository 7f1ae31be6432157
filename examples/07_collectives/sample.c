/* SPDX-License-Identifier: BSD-3-Clause */
#include "sample.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Set before the threads of the ranks start. */
static void (*sampleRun)(const Rank *me, aclrtStream stream);
static uint32_t firstRank;
static char **lines; /* [ranks of this process] what each puts out; each writes its own only */

void
Output(const Rank *me, const float *values, uint64_t count)
{
    size_t len = 0;
    FILE *line = open_memstream(&lines[me->rank - firstRank], &len);

    Must(line == NULL, "open_memstream");
    fprintf(line, "rankId: %" PRIu32 ", output: [ ", me->rank);
    for (uint64_t i = 0; i < count; i++)
        fprintf(line, "%g ", (double)values[i]);
    fprintf(line, "]\n");
    Must(fclose(line), "fclose");
}

void
Expect(const Rank *me, float value, float expected)
{
    if (value == expected)
        return;
    fprintf(stderr, "rank %" PRIu32 " has %g where it should have %g\n", me->rank, (double)value,
            (double)expected);
    _exit(1); /* as Must() does */
}

uint64_t
PartOf(uint32_t rank, uint32_t rankSize)
{
    if (rank % 2 == 1)
        return 0;
    return rank + 1 < rankSize ? 2 : 1;
}

static void
RunWithStream(const Rank *me)
{
    aclrtStream stream = NULL;

    MUST(aclrtCreateStream(&stream));
    sampleRun(me, stream);
    MUST(aclrtDestroyStream(stream));
}

int
RunSample(void (*run)(const Rank *me, aclrtStream stream))
{
    HcommJobInfo job;
    uint32_t deviceCount = 0;

    MUST(aclrtGetDeviceCount(&deviceCount));
    MUST(HcommJobGetInfo(&job));
    if (strcmp(job.launcher, "none") == 0 && job.rankSize == 1) /* alone: all devices */
        job.rankSize = job.ranksPerProcess = deviceCount;
    if (job.process == 0)
        printf("Found %" PRIu32 " NPU device(s) available\n", deviceCount);
    fflush(stdout);
    sampleRun = run;
    firstRank = job.firstRank;
    lines = calloc(job.ranksPerProcess, sizeof *lines);
    Must(lines == NULL, "calloc");
    RunRanks(&job, RunWithStream);
    for (uint32_t i = 0; i < job.ranksPerProcess; i++) {
        if (lines[i] != NULL)
            fputs(lines[i], stdout);
        free(lines[i]);
    }
    free(lines);
    return 0;
}
