/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HcclScatter: rank r gets slice r of what the root has.
 *
 *                                                      rank 0 gets  0
 *     rank 0, the root, has  0 1 2 3 4 5 6 7   ---->   rank 1 gets    1
 *                                                      rank 2 gets      2
 *                                                      ...
 */
#include "sample.h"

#define ROOT 0

static void
Run(const Rank *me, aclrtStream stream)
{
    uint64_t len = me->rankSize * sizeof(float);
    float *values = PinnedFloats(me->rankSize), mine = 0;
    void *send = NULL, *recv = NULL;

    if (me->rank == ROOT) { /* nobody else needs a buffer to send from */
        for (uint32_t i = 0; i < me->rankSize; i++)
            values[i] = (float)i;
        MUST(aclrtMalloc(&send, len, ACL_MEM_MALLOC_HUGE_FIRST));
        MUST(aclrtMemcpy(send, len, values, len, ACL_MEMCPY_HOST_TO_DEVICE));
    }
    MUST(aclrtMalloc(&recv, sizeof mine, ACL_MEM_MALLOC_HUGE_FIRST));

    /* The count is that of one slice. */
    MUST(HcclScatter(send, recv, 1, HCCL_DATA_TYPE_FP32, ROOT, me->comm, stream));
    MUST(aclrtSynchronizeStream(stream));

    MUST(aclrtMemcpy(&mine, sizeof mine, recv, sizeof mine, ACL_MEMCPY_DEVICE_TO_HOST));
    Expect(me, mine, (float)me->rank);
    Output(me, &mine, 1);
    MUST(aclrtFree(recv));
    if (me->rank == ROOT)
        MUST(aclrtFree(send));
    MUST(aclrtFreeHost(values));
}

int
main(void)
{
    return RunSample(Run);
}
