/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HcclReduce: the root gets the reduction of what all ranks send; here the sum. The others' receive
 * buffers are left as they are.
 *
 *     rank 0 sends  0 1 2 3 4 5 6 7
 *     rank 1 sends  0 1 2 3 4 5 6 7   ---- sum ---->   rank 0, the root, gets  0 8 16 24 32 ..
 *     ...
 */
#include "sample.h"

#define COUNT 8
#define ROOT 0

static void
Run(const Rank *me, aclrtStream stream)
{
    void *send = NULL, *recv = NULL;
    float values[COUNT];

    for (uint32_t i = 0; i < COUNT; i++)
        values[i] = (float)i;
    MUST(aclrtMalloc(&send, sizeof values, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMalloc(&recv, sizeof values, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMemcpy(send, sizeof values, values, sizeof values, ACL_MEMCPY_HOST_TO_DEVICE));
    MUST(aclrtMemset(recv, sizeof values, 0, sizeof values));

    MUST(HcclReduce(send, recv, COUNT, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, ROOT, me->comm,
                    stream));
    MUST(aclrtSynchronizeStream(stream));

    MUST(aclrtMemcpy(values, sizeof values, recv, sizeof values, ACL_MEMCPY_DEVICE_TO_HOST));
    for (uint32_t i = 0; i < COUNT; i++)
        Expect(me, values[i], me->rank == ROOT ? (float)(i * me->rankSize) : 0);
    Output(me, values, COUNT);
    MUST(aclrtFree(recv));
    MUST(aclrtFree(send));
}

int
main(void)
{
    return RunSample(Run);
}
