/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HcclGroupStart, HcclGroupEnd: sends and receives between the two are put aside and begin together
 * at the end, so their order does not matter. Here each rank sends its number to every rank, itself
 * too, and receives that of each: an all-to-all made of single messages.
 *
 *     send to 0, receive from 0, send to 1, receive from 1, ...   ---->   0 1 2 3 4 5 6 7
 */
#include "sample.h"

static void
Run(const Rank *me, aclrtStream stream)
{
    uint64_t len = me->rankSize * sizeof(float);
    float *values = PinnedFloats(me->rankSize), mine = (float)me->rank, *recv;
    void *send = NULL, *buf = NULL;

    MUST(aclrtMalloc(&send, sizeof mine, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMalloc(&buf, len, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMemcpy(send, sizeof mine, &mine, sizeof mine, ACL_MEMCPY_HOST_TO_DEVICE));
    recv = buf; /* only to count in elements: the host does not read it */

    MUST(HcclGroupStart());
    for (uint32_t peer = 0; peer < me->rankSize; peer++) {
        MUST(HcclSend(send, 1, HCCL_DATA_TYPE_FP32, peer, me->comm, stream));
        MUST(HcclRecv(recv + peer, 1, HCCL_DATA_TYPE_FP32, peer, me->comm, stream));
    }
    MUST(HcclGroupEnd()); /* queues all of them */
    MUST(aclrtSynchronizeStream(stream));

    MUST(aclrtMemcpy(values, len, recv, len, ACL_MEMCPY_DEVICE_TO_HOST));
    for (uint32_t i = 0; i < me->rankSize; i++)
        Expect(me, values[i], (float)i);
    Output(me, values, me->rankSize);
    MUST(aclrtFree(buf));
    MUST(aclrtFree(send));
    MUST(aclrtFreeHost(values));
}

int
main(void)
{
    return RunSample(Run);
}
