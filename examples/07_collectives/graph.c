/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * aclmdlRICaptureBegin, aclmdlRICaptureEnd, aclmdlRIExecuteAsync: record what is queued on a stream
 * once, here an all-reduce, and run it as often as needed. The sum is written over the values that
 * are added up, so each run makes them rankSize times as large:
 *
 *     0 1 2 3 ..   -- run -->   0 8 16 24 ..   -- run -->   0 64 128 192 ..   -- run -->   ...
 */
#include "sample.h"

#define COUNT 8
#define RUNS 3

static void
Run(const Rank *me, aclrtStream stream)
{
    uint32_t factor = 1;
    aclmdlRI graph = NULL;
    float values[COUNT];
    void *buf = NULL;

    for (uint32_t i = 0; i < COUNT; i++)
        values[i] = (float)i;
    MUST(aclrtMalloc(&buf, sizeof values, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMemcpy(buf, sizeof values, values, sizeof values, ACL_MEMCPY_HOST_TO_DEVICE));

    /* From here to the end nothing runs. */
    MUST(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    MUST(HcclAllReduce(buf, buf, COUNT, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, me->comm, stream));
    MUST(aclmdlRICaptureEnd(stream, &graph));

    for (int run = 0; run < RUNS; run++) {
        MUST(aclmdlRIExecuteAsync(graph, stream));
        factor *= me->rankSize;
    }
    MUST(aclrtSynchronizeStream(stream));

    MUST(aclrtMemcpy(values, sizeof values, buf, sizeof values, ACL_MEMCPY_DEVICE_TO_HOST));
    for (uint32_t i = 0; i < COUNT; i++)
        Expect(me, values[i], (float)(i * factor));
    Output(me, values, COUNT);
    MUST(aclmdlRIDestroy(graph));
    MUST(aclrtFree(buf));
}

int
main(void)
{
    return RunSample(Run);
}
