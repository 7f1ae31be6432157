/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HcclSend, HcclRecv: one rank sends, another receives. The stream of the sender goes on when the
 * receiver has the data.
 *
 *     rank 0 sends  0 0 0 0 0 0 0 0   ---->   rank 1
 *     rank 2 sends  2 2 2 2 2 2 2 2   ---->   rank 3
 *     ...
 *
 * Two ranks that both send first, on one stream each, wait for each other for ever: see
 * `batch_send_recv.c` and `group.c`.
 */
#include "sample.h"

#define COUNT 8

static void
Run(const Rank *me, aclrtStream stream)
{
    float values[COUNT];
    void *buf = NULL;

    for (uint32_t i = 0; i < COUNT; i++)
        values[i] = (float)me->rank;
    MUST(aclrtMalloc(&buf, sizeof values, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMemcpy(buf, sizeof values, values, sizeof values, ACL_MEMCPY_HOST_TO_DEVICE));

    if (me->rank % 2 == 1)
        MUST(HcclRecv(buf, COUNT, HCCL_DATA_TYPE_FP32, me->rank - 1, me->comm, stream));
    else if (me->rank + 1 < me->rankSize) /* a last one without a partner only looks on */
        MUST(HcclSend(buf, COUNT, HCCL_DATA_TYPE_FP32, me->rank + 1, me->comm, stream));
    MUST(aclrtSynchronizeStream(stream));

    if (me->rank % 2 == 1) {
        MUST(aclrtMemcpy(values, sizeof values, buf, sizeof values, ACL_MEMCPY_DEVICE_TO_HOST));
        for (uint32_t i = 0; i < COUNT; i++)
            Expect(me, values[i], (float)me->rank - 1);
        Output(me, values, COUNT);
    }
    MUST(aclrtFree(buf));
}

int
main(void)
{
    return RunSample(Run);
}
