/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HcclReduceScatter: what all ranks send is reduced, here added up, and rank r gets slice r of
 * that.
 *
 *     rank 0 sends  0 1 2 3 4 5 6 7                    rank 0 gets  0
 *     rank 1 sends  0 1 2 3 4 5 6 7   ---- sum ---->   rank 1 gets    8
 *     ...                                              rank 2 gets      16
 */
#include "sample.h"

static void
Run(const Rank *me, aclrtStream stream)
{
    uint64_t len = me->rankSize * sizeof(float);
    float *values = PinnedFloats(me->rankSize), mine = 0;
    void *send = NULL, *recv = NULL;

    for (uint32_t i = 0; i < me->rankSize; i++)
        values[i] = (float)i;
    MUST(aclrtMalloc(&send, len, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMalloc(&recv, sizeof mine, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMemcpy(send, len, values, len, ACL_MEMCPY_HOST_TO_DEVICE));

    /* The count is that of one slice. */
    MUST(HcclReduceScatter(send, recv, 1, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, me->comm, stream));
    MUST(aclrtSynchronizeStream(stream));

    MUST(aclrtMemcpy(&mine, sizeof mine, recv, sizeof mine, ACL_MEMCPY_DEVICE_TO_HOST));
    Expect(me, mine, (float)(me->rank * me->rankSize));
    Output(me, &mine, 1);
    MUST(aclrtFree(recv));
    MUST(aclrtFree(send));
    MUST(aclrtFreeHost(values));
}

int
main(void)
{
    return RunSample(Run);
}
