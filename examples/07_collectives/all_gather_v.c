/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HcclAllGatherV: every rank gets what all ranks send, and each sends as much as it likes. All of
 * them know how much everybody sends, and where it is to go.
 *
 *     rank 0 sends  0 1
 *     rank 1 sends  nothing    ---->   every rank gets  0 1 2 3 4 5 6 7
 *     rank 2 sends  2 3
 *     ...
 */
#include <stdlib.h>

#include "sample.h"

static void
Run(const Rank *me, aclrtStream stream)
{
    uint64_t len = me->rankSize * sizeof(float), count = PartOf(me->rank, me->rankSize);
    uint64_t *counts = calloc(me->rankSize, sizeof *counts);
    uint64_t *displs = calloc(me->rankSize, sizeof *displs);
    float *values = PinnedFloats(me->rankSize), mine[2] = {(float)me->rank, (float)me->rank + 1};
    void *send = NULL, *recv = NULL;

    Must(counts == NULL || displs == NULL, "calloc");
    for (uint32_t rank = 0; rank < me->rankSize; rank++) {
        counts[rank] = PartOf(rank, me->rankSize);
        displs[rank] = rank; /* elements, not bytes */
    }
    MUST(aclrtMalloc(&send, sizeof mine, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMalloc(&recv, len, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMemcpy(send, sizeof mine, mine, sizeof mine, ACL_MEMCPY_HOST_TO_DEVICE));

    /* The arrays are read before the call returns. */
    MUST(HcclAllGatherV(send, count, recv, counts, displs, HCCL_DATA_TYPE_FP32, me->comm, stream));
    MUST(aclrtSynchronizeStream(stream));

    MUST(aclrtMemcpy(values, len, recv, len, ACL_MEMCPY_DEVICE_TO_HOST));
    for (uint32_t i = 0; i < me->rankSize; i++)
        Expect(me, values[i], (float)i);
    Output(me, values, me->rankSize);
    MUST(aclrtFree(recv));
    MUST(aclrtFree(send));
    MUST(aclrtFreeHost(values));
    free(displs);
    free(counts);
}

int
main(void)
{
    return RunSample(Run);
}
