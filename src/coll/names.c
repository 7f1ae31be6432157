/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/coll.h"

static const char *const functions[COLL_KINDS] = {
    [COLL_ALL_REDUCE] = "HcclAllReduce",
    [COLL_BROADCAST] = "HcclBroadcast",
    [COLL_REDUCE] = "HcclReduce",
    [COLL_REDUCE_SCATTER] = "HcclReduceScatter",
    [COLL_REDUCE_SCATTER_V] = "HcclReduceScatterV",
    [COLL_ALL_GATHER] = "HcclAllGather",
    [COLL_ALL_GATHER_V] = "HcclAllGatherV",
    [COLL_SCATTER] = "HcclScatter",
    [COLL_ALL_TO_ALL] = "HcclAlltoAll",
    [COLL_ALL_TO_ALL_V] = "HcclAlltoAllV",
    [COLL_ALL_TO_ALL_VC] = "HcclAlltoAllVC",
    [COLL_BARRIER] = "HcclBarrier",
};

const char *
coll_function(enum coll_kind kind)
{
    return kind < COLL_KINDS ? functions[kind] : "an unknown operation";
}

bool
coll_reduces(enum coll_kind kind)
{
    return kind == COLL_ALL_REDUCE || kind == COLL_REDUCE || kind == COLL_REDUCE_SCATTER ||
           kind == COLL_REDUCE_SCATTER_V;
}

bool
coll_has_root(enum coll_kind kind)
{
    return kind == COLL_BROADCAST || kind == COLL_REDUCE || kind == COLL_SCATTER;
}
