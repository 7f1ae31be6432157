/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HcclBatchSendRecv: several sends and receives that do not hold up each other, in any order. Here
 * each rank of a ring sends its number to the next one and receives that of the previous one.
 *
 *     ---> rank 0 --- 0 ---> rank 1 --- 1 ---> rank 2 ... rank 7 --- 7 ---> to rank 0
 */
#include "sample.h"

static void
Run(const Rank *me, aclrtStream stream)
{
    uint32_t next = (me->rank + 1) % me->rankSize;
    uint32_t previous = (me->rank + me->rankSize - 1) % me->rankSize;
    void *send = NULL, *recv = NULL;
    float value = (float)me->rank;

    MUST(aclrtMalloc(&send, sizeof value, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMalloc(&recv, sizeof value, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMemcpy(send, sizeof value, &value, sizeof value, ACL_MEMCPY_HOST_TO_DEVICE));

    HcclSendRecvItem items[] = {
        {HCCL_SEND, send, 1, HCCL_DATA_TYPE_FP32, next},
        {HCCL_RECV, recv, 1, HCCL_DATA_TYPE_FP32, previous},
    };

    MUST(HcclBatchSendRecv(items, 2, me->comm, stream)); /* copies the items */
    MUST(aclrtSynchronizeStream(stream));

    MUST(aclrtMemcpy(&value, sizeof value, recv, sizeof value, ACL_MEMCPY_DEVICE_TO_HOST));
    Expect(me, value, (float)previous);
    Output(me, &value, 1);
    MUST(aclrtFree(recv));
    MUST(aclrtFree(send));
}

int
main(void)
{
    return RunSample(Run);
}
