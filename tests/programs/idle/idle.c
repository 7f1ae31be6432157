/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * idle: operations that succeed and do nothing. A program that checks its results must notice. They
 * are called through the prototypes of the public headers; arguments nobody looks at do no harm.
 */
#define IDLE(name)                                                                                 \
    int name(void);                                                                                \
    int name(void)                                                                                 \
    {                                                                                              \
        return 0;                                                                                  \
    }

IDLE(HcclBarrier)
#ifndef BARRIER_ONLY
IDLE(HcclAllGather)
IDLE(HcclAllGatherV)
IDLE(HcclAllReduce)
IDLE(HcclAlltoAll)
IDLE(HcclAlltoAllV)
IDLE(HcclAlltoAllVC)
IDLE(HcclBatchSendRecv)
IDLE(HcclBroadcast)
IDLE(HcclRecv)
IDLE(HcclReduce)
IDLE(HcclReduceScatter)
IDLE(HcclReduceScatterV)
IDLE(HcclScatter)
IDLE(HcclSend)
#endif
