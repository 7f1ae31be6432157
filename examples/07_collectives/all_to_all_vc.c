/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HcclAlltoAllVC: each rank sends a part of its own size to each rank. All ranks know all sizes, as
 * one matrix; the parts lie one after the other, so there are no displacements.
 *
 *     rank 0 sends  0 1  to each
 *     rank 1 sends  nothing        ---->   every rank gets  0 1 2 3 4 5 6 7
 *     rank 2 sends  2 3  to each
 *     ...
 */
#include <stdlib.h>

#include "sample.h"

static void
Run(const Rank *me, aclrtStream stream)
{
    uint64_t len = me->rankSize * sizeof(float), count = PartOf(me->rank, me->rankSize);
    uint64_t *matrix = calloc((uint64_t)me->rankSize * me->rankSize, sizeof *matrix);
    float *values = PinnedFloats(2 * me->rankSize);
    void *send = NULL, *recv = NULL;

    Must(matrix == NULL, "calloc");
    for (uint32_t from = 0; from < me->rankSize; from++) {
        for (uint32_t to = 0; to < me->rankSize; to++)
            matrix[from * me->rankSize + to] = PartOf(from, me->rankSize);
    }
    for (uint32_t i = 0; i < count * me->rankSize; i++)
        values[i] = (float)(me->rank + i % count);
    MUST(aclrtMalloc(&send, 2 * len, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMalloc(&recv, len, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMemcpy(send, 2 * len, values, 2 * len, ACL_MEMCPY_HOST_TO_DEVICE));

    /* The matrix is read before the call returns. */
    MUST(HcclAlltoAllVC(send, matrix, HCCL_DATA_TYPE_FP32, recv, HCCL_DATA_TYPE_FP32, me->comm,
                        stream));
    MUST(aclrtSynchronizeStream(stream));

    MUST(aclrtMemcpy(values, len, recv, len, ACL_MEMCPY_DEVICE_TO_HOST));
    for (uint32_t i = 0; i < me->rankSize; i++)
        Expect(me, values[i], (float)i);
    Output(me, values, me->rankSize);
    MUST(aclrtFree(recv));
    MUST(aclrtFree(send));
    MUST(aclrtFreeHost(values));
    free(matrix);
}

int
main(void)
{
    return RunSample(Run);
}
