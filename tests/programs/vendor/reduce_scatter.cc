/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A vendor's own libhccl.so: one collective, all else from libhcomm.so. Each rank publishes its
 * data in its buffer and reduces everybody's slice into its result.
 */
#include <vector>

#include "acl/acl_rt.h"
#include "dlog_pub.h"
#include "hccl/hccl.h"
#include "hccl/hccl_res.h"
#include "hcomm/hcomm_primitives.h"

#define CHK(call)                                                                                  \
    do {                                                                                           \
        int chkRet = static_cast<int>(call);                                                       \
        if (chkRet != HCCL_SUCCESS)                                                                \
            return static_cast<HcclResult>(chkRet);                                                \
    } while (0)

struct Slice {
    char *own;
    void *result;
    uint64_t count, offset;
    HcclDataType type;
    HcclReduceOp op;
};

static HcclResult
AcquireChannels(HcclComm comm, uint32_t rank, std::vector<ChannelHandle> &channels)
{
    uint32_t num = static_cast<uint32_t>(channels.size());
    std::vector<HcclChannelDesc> descs(num);

    CHK(HcclChannelDescInit(descs.data(), num));
    for (uint32_t i = 0; i < num; i++) {
        descs[i].remoteRank = i < rank ? i : i + 1;
        descs[i].channelProtocol = COMM_PROTOCOL_HCCS;
        descs[i].notifyNum = 2;
    }
    return HcclChannelAcquire(comm, COMM_ENGINE_CPU_TS, descs.data(), num, channels.data());
}

static HcclResult
ReduceFrom(HcclComm comm, ThreadHandle thread, ChannelHandle channel, const Slice &slice)
{
    void *remote = nullptr;
    uint64_t size = 0;

    CHK(HcclChannelGetHcclBuffer(comm, channel, &remote, &size));
    CHK(HcommChannelNotifyWaitOnThread(thread, channel, 0, 60));
    CHK(HcommReadReduceOnThread(
        thread, channel, slice.result, static_cast<char *>(remote) + slice.offset, slice.count,
        static_cast<HcommDataType>(slice.type), static_cast<HcommReduceOp>(slice.op)));
    return HCCL_SUCCESS;
}

extern "C" HcclResult
HcclReduceScatter(void *sendBuf, void *recvBuf, uint64_t recvCount, HcclDataType dataType,
                  HcclReduceOp op, HcclComm comm, aclrtStream stream)
{
    uint64_t len = recvCount * sizeof(float), size = 0;
    uint32_t num = 0, rank = 0;
    ThreadHandle thread = 0;
    void *local = nullptr;

    if (CheckLogLevel(HCCL, DLOG_INFO) == 1)
        DlogRecord(HCCL, DLOG_INFO, "reduce-scatter of %llu", (unsigned long long)recvCount);
    CHK(HcclGetRankSize(comm, &num));
    CHK(HcclGetRankId(comm, &rank));
    CHK(HcclThreadAcquireWithStream(comm, COMM_ENGINE_CPU_TS, stream, 0, &thread));
    CHK(HcclGetHcclBuffer(comm, &local, &size));
    std::vector<ChannelHandle> channels(num - 1);
    CHK(AcquireChannels(comm, rank, channels));

    Slice slice = {
        static_cast<char *>(sendBuf) + rank * len, recvBuf, recvCount, rank * len, dataType, op};
    CHK(HcommLocalCopyOnThread(thread, local, sendBuf, len * num));
    CHK(HcommLocalCopyOnThread(thread, recvBuf, slice.own, len));
    for (ChannelHandle channel : channels)
        CHK(HcommChannelNotifyRecordOnThread(thread, channel, 0));
    for (ChannelHandle channel : channels)
        CHK(ReduceFrom(comm, thread, channel, slice));
    for (ChannelHandle channel : channels)
        CHK(HcommChannelNotifyRecordOnThread(thread, channel, 1));
    for (ChannelHandle channel : channels)
        CHK(HcommChannelNotifyWaitOnThread(thread, channel, 1, 60));
    return HCCL_SUCCESS;
}
