/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HcclAllGather: every rank gets what all ranks send, in the order of the ranks.
 *
 *     rank 0 sends  0
 *     rank 1 sends  1        ---->   every rank gets  0 1 2 3 4 5 6 7
 *     ...
 *     rank 7 sends  7
 */
#include "sample.h"

static void
Run(const Rank *me, aclrtStream stream)
{
    uint64_t len = me->rankSize * sizeof(float);
    float *values = PinnedFloats(me->rankSize), mine = (float)me->rank;
    void *send = NULL, *recv = NULL;

    MUST(aclrtMalloc(&send, sizeof mine, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMalloc(&recv, len, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMemcpy(send, sizeof mine, &mine, sizeof mine, ACL_MEMCPY_HOST_TO_DEVICE));

    MUST(HcclAllGather(send, recv, 1, HCCL_DATA_TYPE_FP32, me->comm, stream));
    MUST(aclrtSynchronizeStream(stream));

    MUST(aclrtMemcpy(values, len, recv, len, ACL_MEMCPY_DEVICE_TO_HOST));
    for (uint32_t i = 0; i < me->rankSize; i++)
        Expect(me, values[i], (float)i);
    Output(me, values, me->rankSize);
    MUST(aclrtFree(recv));
    MUST(aclrtFree(send));
    MUST(aclrtFreeHost(values));
}

int
main(void)
{
    return RunSample(Run);
}
