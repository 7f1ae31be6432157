/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HcclBarrier: no stream goes on before the streams of all ranks have come here.
 *
 *     rank 0  ---> barrier ...................... --->
 *     rank 1  ----------> barrier ............... --->
 *     ...
 *     rank 7  --------------------------> barrier --->
 *
 * Each rank comes a little later than the one before, and puts out which ranks had come when it got
 * through: all of them. The clock is that of the host, so all ranks must be on one.
 */
#include <stdlib.h>
#include <unistd.h>

#include "sample.h"

#define STEP_US 10000

static void
Run(const Rank *me, aclrtStream stream)
{
    uint64_t len = me->rankSize * sizeof(double);
    float *there = PinnedFloats(me->rankSize);
    double *came = calloc(me->rankSize, sizeof *came), mine, passed;
    void *send = NULL, *recv = NULL;
    uint32_t count = 0;

    Must(came == NULL, "calloc");
    MUST(aclrtMalloc(&send, sizeof mine, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMalloc(&recv, len, ACL_MEM_MALLOC_HUGE_FIRST));
    usleep(me->rank * STEP_US);
    mine = Seconds();

    MUST(HcclBarrier(me->comm, stream));
    MUST(aclrtSynchronizeStream(stream));

    passed = Seconds();
    MUST(aclrtMemcpy(send, sizeof mine, &mine, sizeof mine, ACL_MEMCPY_HOST_TO_DEVICE));
    MUST(HcclAllGather(send, recv, 1, HCCL_DATA_TYPE_FP64, me->comm, stream));
    MUST(aclrtSynchronizeStream(stream));
    MUST(aclrtMemcpy(came, len, recv, len, ACL_MEMCPY_DEVICE_TO_HOST));
    for (uint32_t rank = 0; rank < me->rankSize; rank++) {
        if (came[rank] > 0 && came[rank] <= passed)
            there[count++] = (float)rank;
    }
    Expect(me, (float)count, (float)me->rankSize);
    Output(me, there, count);
    MUST(aclrtFree(recv));
    MUST(aclrtFree(send));
    MUST(aclrtFreeHost(there));
    free(came);
}

int
main(void)
{
    return RunSample(Run);
}
