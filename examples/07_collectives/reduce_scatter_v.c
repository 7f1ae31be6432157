/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HcclReduceScatterV: what all ranks send is reduced, here added up, and each rank gets a slice of
 * that. The slices have different sizes, which all ranks know.
 *
 *     rank 0 sends  0 1 2 3 4 5 6 7                    rank 0 gets  0 8
 *     rank 1 sends  0 1 2 3 4 5 6 7   ---- sum ---->   rank 1 gets  nothing
 *     ...                                              rank 2 gets      16 24
 */
#include <stdlib.h>

#include "sample.h"

static void
Run(const Rank *me, aclrtStream stream)
{
    uint64_t len = me->rankSize * sizeof(float), count = PartOf(me->rank, me->rankSize);
    uint64_t *counts = calloc(me->rankSize, sizeof *counts);
    uint64_t *displs = calloc(me->rankSize, sizeof *displs);
    float *values = PinnedFloats(me->rankSize), mine[2] = {0};
    void *send = NULL, *recv = NULL;

    Must(counts == NULL || displs == NULL, "calloc");
    for (uint32_t rank = 0; rank < me->rankSize; rank++) {
        values[rank] = (float)rank;
        counts[rank] = PartOf(rank, me->rankSize);
        displs[rank] = rank; /* elements, not bytes */
    }
    MUST(aclrtMalloc(&send, len, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMalloc(&recv, sizeof mine, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMemcpy(send, len, values, len, ACL_MEMCPY_HOST_TO_DEVICE));
    MUST(aclrtMemset(recv, sizeof mine, 0, sizeof mine));

    /* The arrays are read before the call returns. */
    MUST(HcclReduceScatterV(send, counts, displs, recv, count, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM,
                            me->comm, stream));
    MUST(aclrtSynchronizeStream(stream));

    MUST(aclrtMemcpy(mine, sizeof mine, recv, sizeof mine, ACL_MEMCPY_DEVICE_TO_HOST));
    for (uint32_t i = 0; i < 2; i++)
        Expect(me, mine[i], i < count ? (float)((me->rank + i) * me->rankSize) : 0);
    Output(me, mine, count);
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
