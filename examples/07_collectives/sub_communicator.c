/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HcclCreateSubCommConfig: a communicator of some ranks of another one. Here the even ranks make
 * one, and the odd ranks another, and each gathers the numbers that its members have in the world.
 *
 *     world   0 1 2 3 4 5 6 7
 *     even    0   1   2   3       ---->   ranks 0, 2, 4, 6 get  0 2 4 6
 *     odd       0   1   2   3     ---->   ranks 1, 3, 5, 7 get  1 3 5 7
 *
 * A rank that is in none calls it with no ranks and the number 0xFFFFFFFF, and gets nothing.
 */
#include <stdlib.h>

#include "sample.h"

/* The communicator of the ranks that are odd, or even, as this one is. */
static HcclComm
SubOf(const Rank *me, uint32_t parity)
{
    uint32_t size = (me->rankSize - parity + 1) / 2;
    uint32_t *ranks = calloc(size, sizeof *ranks); /* numbers in the world, in ascending order */
    HcclComm world = me->comm, sub = NULL;
    HcclCommConfig config;

    Must(ranks == NULL, "calloc");
    for (uint32_t i = 0; i < size; i++)
        ranks[i] = 2 * i + parity;
    HcclCommConfigInit(&config);
    MUST(HcclCreateSubCommConfig(&world, size, ranks, parity, me->rank / 2, &config, &sub));
    free(ranks);
    return sub;
}

static void
Run(const Rank *me, aclrtStream stream)
{
    uint32_t parity = me->rank % 2, size = 0, rank = 0;
    float *values = PinnedFloats(me->rankSize), mine = (float)me->rank;
    void *send = NULL, *recv = NULL;
    HcclComm sub = SubOf(me, parity);

    MUST(HcclGetRankSize(sub, &size));
    MUST(HcclGetRankId(sub, &rank));
    Expect(me, (float)rank, (float)(me->rank / 2));
    MUST(aclrtMalloc(&send, sizeof mine, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMalloc(&recv, size * sizeof mine, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMemcpy(send, sizeof mine, &mine, sizeof mine, ACL_MEMCPY_HOST_TO_DEVICE));

    MUST(HcclAllGather(send, recv, 1, HCCL_DATA_TYPE_FP32, sub, stream));
    MUST(aclrtSynchronizeStream(stream));

    MUST(aclrtMemcpy(values, size * sizeof mine, recv, size * sizeof mine,
                     ACL_MEMCPY_DEVICE_TO_HOST));
    for (uint32_t i = 0; i < size; i++)
        Expect(me, values[i], (float)(2 * i + parity));
    Output(me, values, size);
    MUST(HcclCommDestroy(sub)); /* before the world's */
    MUST(aclrtFree(recv));
    MUST(aclrtFree(send));
    MUST(aclrtFreeHost(values));
}

int
main(void)
{
    return RunSample(Run);
}
