/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HcclAlltoAllV: each rank sends a part of its own size to each rank. A rank knows the sizes of
 * what it sends and of what it gets; nobody knows all of them.
 *
 *     rank 0 sends  0 1  to each
 *     rank 1 sends  nothing        ---->   every rank gets  0 1 2 3 4 5 6 7
 *     rank 2 sends  2 3  to each
 *     ...
 */
#include <stdlib.h>

#include "sample.h"

static void
Run(const Rank *me, aclrtStream stream)
{
    uint64_t len = me->rankSize * sizeof(float), count = PartOf(me->rank, me->rankSize);
    uint64_t *tables = calloc(4 * me->rankSize, sizeof *tables);
    uint64_t *sendCounts = tables, *sendDispls = sendCounts + me->rankSize;
    uint64_t *recvCounts = sendDispls + me->rankSize, *recvDispls = recvCounts + me->rankSize;
    float *values = PinnedFloats(2 * me->rankSize);
    void *send = NULL, *recv = NULL;

    Must(tables == NULL, "calloc");
    for (uint32_t rank = 0; rank < me->rankSize; rank++) {
        sendCounts[rank] = count;
        sendDispls[rank] = 2 * rank; /* elements, not bytes */
        values[2 * rank] = (float)me->rank;
        values[2 * rank + 1] = (float)me->rank + 1;
        recvCounts[rank] = PartOf(rank, me->rankSize);
        recvDispls[rank] = rank;
    }
    MUST(aclrtMalloc(&send, 2 * len, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMalloc(&recv, len, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMemcpy(send, 2 * len, values, 2 * len, ACL_MEMCPY_HOST_TO_DEVICE));

    /* The arrays are read before the call returns. */
    MUST(HcclAlltoAllV(send, sendCounts, sendDispls, HCCL_DATA_TYPE_FP32, recv, recvCounts,
                       recvDispls, HCCL_DATA_TYPE_FP32, me->comm, stream));
    MUST(aclrtSynchronizeStream(stream));

    MUST(aclrtMemcpy(values, len, recv, len, ACL_MEMCPY_DEVICE_TO_HOST));
    for (uint32_t i = 0; i < me->rankSize; i++)
        Expect(me, values[i], (float)i);
    Output(me, values, me->rankSize);
    MUST(aclrtFree(recv));
    MUST(aclrtFree(send));
    MUST(aclrtFreeHost(values));
    free(tables);
}

int
main(void)
{
    return RunSample(Run);
}
