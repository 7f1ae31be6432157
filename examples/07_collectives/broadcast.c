/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HcclBroadcast: every rank gets what the root has. There is one buffer, which the root's stream
 * reads and the others' write.
 *
 *     rank 0, the root, has  0 1 2 3 4 5 6 7   ---->   every rank has  0 1 2 3 4 5 6 7
 */
#include "sample.h"

#define COUNT 8
#define ROOT 0

static void
Run(const Rank *me, aclrtStream stream)
{
    float values[COUNT] = {0};
    void *buf = NULL;

    for (uint32_t i = 0; me->rank == ROOT && i < COUNT; i++)
        values[i] = (float)i;
    MUST(aclrtMalloc(&buf, sizeof values, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMemcpy(buf, sizeof values, values, sizeof values, ACL_MEMCPY_HOST_TO_DEVICE));

    MUST(HcclBroadcast(buf, COUNT, HCCL_DATA_TYPE_FP32, ROOT, me->comm, stream));
    MUST(aclrtSynchronizeStream(stream));

    MUST(aclrtMemcpy(values, sizeof values, buf, sizeof values, ACL_MEMCPY_DEVICE_TO_HOST));
    for (uint32_t i = 0; i < COUNT; i++)
        Expect(me, values[i], (float)i);
    Output(me, values, COUNT);
    MUST(aclrtFree(buf));
}

int
main(void)
{
    return RunSample(Run);
}
