/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * threaded OPERATION [root|config|all]: a program in the way that many are written for the original
 * stack: one process, a std::thread for each device, one operation, and a line from each rank. The
 * communicators come from root info, with settings or without, or from HcclCommInitAll.
 */
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "hccl/hccl.h"
#include "hccl/hccl_types.h"

#define ACLCHECK(ret)                                                                              \
    do {                                                                                           \
        int32_t aclRet_ = static_cast<int32_t>(ret);                                               \
        if (aclRet_ != ACL_SUCCESS) {                                                              \
            printf("%s:%d: acl call failed, code %d\n", __FILE__, __LINE__, aclRet_);              \
            return aclRet_;                                                                        \
        }                                                                                          \
    } while (0)

#define HCCLCHECK(ret)                                                                             \
    do {                                                                                           \
        int32_t hcclRet_ = static_cast<int32_t>(ret);                                              \
        if (hcclRet_ != HCCL_SUCCESS) {                                                            \
            printf("%s:%d: hccl call failed, code %d\n", __FILE__, __LINE__, hcclRet_);            \
            return hcclRet_;                                                                       \
        }                                                                                          \
    } while (0)

const uint64_t COUNT = 8;
const HcclDataType FP32 = HcclDataType::HCCL_DATA_TYPE_FP32;
const HcclReduceOp SUM = HcclReduceOp::HCCL_REDUCE_SUM;

struct ThreadContext {
    HcclRootInfo *rootInfo;
    HcclComm comm; /* from HcclCommInitAll, or to be made */
    uint32_t device;
    uint32_t devCount;
    std::string operation;
    std::string how;
    int ret;
};

/* The device buffers of a rank, and what is to be printed of recvBuf. */
struct Buffers {
    void *sendBuf;
    void *recvBuf;
    uint64_t sendCount;
    uint64_t recvCount;
    bool prints;
};

/* Sizes of the v variants: two elements from even ranks, or one from a last one; none from odd
 * ranks. */
static uint64_t
PartOf(uint32_t rank, uint32_t devCount)
{
    return rank % 2 == 1 ? 0 : (rank + 1 < devCount ? 2 : 1);
}

static bool
SendsOwnRank(const std::string &operation)
{
    return operation.compare(0, 10, "all_to_all") == 0 || operation == "all_gather" ||
           operation == "send_recv" || operation == "batch_send_recv";
}

static int
PrepareBuffers(const ThreadContext *ctx, Buffers *buffers)
{
    const std::string &op = ctx->operation;
    uint32_t rank = ctx->device;
    uint64_t devCount = ctx->devCount;
    void *hostBuf = nullptr;

    buffers->sendCount = COUNT;
    buffers->recvCount = COUNT;
    buffers->prints = true;
    if (op == "all_gather" || op == "batch_send_recv") {
        buffers->sendCount = 1;
        buffers->recvCount = op == "all_gather" ? devCount : 1;
    } else if (op == "reduce_scatter" || op == "scatter") {
        buffers->sendCount = devCount;
        buffers->recvCount = 1;
    } else if (op == "all_to_all") {
        buffers->sendCount = buffers->recvCount = devCount;
    } else if (op == "all_to_all_v" || op == "all_to_all_vc") {
        buffers->sendCount = 2 * devCount;
        buffers->recvCount = devCount;
    } else if (op == "send_recv") {
        buffers->prints = rank % 2 == 1;
    }

    size_t size = buffers->sendCount * sizeof(float);
    ACLCHECK(aclrtMalloc(&buffers->sendBuf, size, ACL_MEM_MALLOC_HUGE_ONLY));
    ACLCHECK(aclrtMalloc(&buffers->recvBuf, buffers->recvCount * sizeof(float),
                         ACL_MEM_MALLOC_HUGE_ONLY));
    ACLCHECK(aclrtMallocHost(&hostBuf, size));
    float *host = static_cast<float *>(hostBuf);
    for (uint64_t i = 0; i < buffers->sendCount; ++i) {
        host[i] = static_cast<float>(SendsOwnRank(op) ? rank : i);
        if (op == "all_to_all_v")
            host[i] = static_cast<float>(rank + i % 2);
        else if (op == "all_to_all_vc")
            host[i] = static_cast<float>(rank + (PartOf(rank, ctx->devCount) == 2 ? i % 2 : 0));
        else if (op == "broadcast" && rank != 0)
            host[i] = 0;
    }
    ACLCHECK(aclrtMemcpy(buffers->sendBuf, size, hostBuf, size, ACL_MEMCPY_HOST_TO_DEVICE));
    ACLCHECK(aclrtFreeHost(hostBuf));
    return 0;
}

static int
AlltoAllV(const ThreadContext *ctx, const Buffers &buf, aclrtStream stream)
{
    std::vector<uint64_t> sendCounts, sdispls, recvCounts, rdispls, matrix;

    for (uint32_t i = 0; i < ctx->devCount; ++i) {
        sendCounts.push_back(PartOf(ctx->device, ctx->devCount));
        sdispls.push_back(2 * i);
        recvCounts.push_back(PartOf(i, ctx->devCount));
        rdispls.push_back(i);
        for (uint32_t j = 0; j < ctx->devCount; ++j)
            matrix.push_back(PartOf(i, ctx->devCount));
    }
    if (ctx->operation == "all_to_all_vc")
        HCCLCHECK(
            HcclAlltoAllVC(buf.sendBuf, matrix.data(), FP32, buf.recvBuf, FP32, ctx->comm, stream));
    else
        HCCLCHECK(HcclAlltoAllV(buf.sendBuf, sendCounts.data(), sdispls.data(), FP32, buf.recvBuf,
                                recvCounts.data(), rdispls.data(), FP32, ctx->comm, stream));
    return 0;
}

static int
SendRecv(const ThreadContext *ctx, const Buffers &buf, aclrtStream stream)
{
    uint32_t rank = ctx->device;
    uint32_t next = (rank + 1) % ctx->devCount;
    uint32_t previous = (rank + ctx->devCount - 1) % ctx->devCount;

    if (ctx->operation == "batch_send_recv") {
        HcclSendRecvItem items[2];
        items[0] = HcclSendRecvItem{HCCL_SEND, buf.sendBuf, buf.sendCount, FP32, next};
        items[1] = HcclSendRecvItem{HCCL_RECV, buf.recvBuf, buf.recvCount, FP32, previous};
        HCCLCHECK(HcclBatchSendRecv(items, 2, ctx->comm, stream));
    } else if (rank % 2 == 1) {
        HCCLCHECK(HcclRecv(buf.recvBuf, COUNT, FP32, rank - 1, ctx->comm, stream));
    } else if (rank + 1 < ctx->devCount) {
        HCCLCHECK(HcclSend(buf.sendBuf, COUNT, FP32, next, ctx->comm, stream));
    }
    return 0;
}

static int
RunOperation(const ThreadContext *ctx, const Buffers &buf, aclrtStream stream)
{
    const std::string &op = ctx->operation;
    HcclComm comm = ctx->comm;

    if (op == "all_reduce")
        HCCLCHECK(HcclAllReduce(buf.sendBuf, buf.recvBuf, COUNT, FP32, SUM, comm, stream));
    else if (op == "broadcast")
        HCCLCHECK(HcclBroadcast(buf.sendBuf, COUNT, FP32, 0, comm, stream));
    else if (op == "reduce")
        HCCLCHECK(HcclReduce(buf.sendBuf, buf.recvBuf, COUNT, FP32, SUM, 0, comm, stream));
    else if (op == "all_gather")
        HCCLCHECK(HcclAllGather(buf.sendBuf, buf.recvBuf, 1, FP32, comm, stream));
    else if (op == "reduce_scatter")
        HCCLCHECK(HcclReduceScatter(buf.sendBuf, buf.recvBuf, 1, FP32, SUM, comm, stream));
    else if (op == "scatter")
        HCCLCHECK(HcclScatter(buf.sendBuf, buf.recvBuf, 1, FP32, 0, comm, stream));
    else if (op == "all_to_all")
        HCCLCHECK(HcclAlltoAll(buf.sendBuf, 1, FP32, buf.recvBuf, 1, FP32, comm, stream));
    else if (op == "all_to_all_v" || op == "all_to_all_vc")
        return AlltoAllV(ctx, buf, stream);
    else if (op == "send_recv" || op == "batch_send_recv")
        return SendRecv(ctx, buf, stream);
    else
        return -1;
    return 0;
}

static int
MakeComm(ThreadContext *ctx)
{
    if (ctx->how == "config") {
        HcclCommConfig config;
        HcclCommConfigInit(&config);
        config.hcclBufferSize = 50;
        config.hcclDeterministic = 1;
        HCCLCHECK(HcclCommInitRootInfoConfig(ctx->devCount, ctx->rootInfo, ctx->device, &config,
                                             &ctx->comm));
    } else if (ctx->how == "root") {
        HCCLCHECK(HcclCommInitRootInfo(ctx->devCount, ctx->rootInfo, ctx->device, &ctx->comm));
    }
    return 0;
}

static int
Sample(ThreadContext *ctx)
{
    Buffers buf{};
    aclrtStream stream = nullptr;
    void *resultBuf = nullptr;

    ACLCHECK(aclrtSetDevice(static_cast<int32_t>(ctx->device)));
    HCCLCHECK(PrepareBuffers(ctx, &buf));
    ACLCHECK(aclrtCreateStream(&stream));
    HCCLCHECK(MakeComm(ctx));

    HCCLCHECK(RunOperation(ctx, buf, stream));
    ACLCHECK(aclrtSynchronizeStream(stream));

    if (buf.prints) {
        void *result = ctx->operation == "broadcast" ? buf.sendBuf : buf.recvBuf;
        size_t size = buf.recvCount * sizeof(float);
        std::ostringstream line;

        ACLCHECK(aclrtMallocHost(&resultBuf, size));
        ACLCHECK(aclrtMemcpy(resultBuf, size, result, size, ACL_MEMCPY_DEVICE_TO_HOST));
        line << "rankId: " << ctx->device << ", output: [";
        for (uint64_t i = 0; i < buf.recvCount; ++i)
            line << " " << static_cast<float *>(resultBuf)[i];
        line << " ]\n";
        std::cout << line.str() << std::flush;
        ACLCHECK(aclrtFreeHost(resultBuf));
    }

    HCCLCHECK(HcclCommDestroy(ctx->comm));
    ACLCHECK(aclrtFree(buf.sendBuf));
    ACLCHECK(aclrtFree(buf.recvBuf));
    ACLCHECK(aclrtDestroyStream(stream));
    ACLCHECK(aclrtResetDevice(static_cast<int32_t>(ctx->device)));
    return 0;
}

int
main(int argc, char **argv)
{
    uint32_t devCount = 0;

    if (argc < 2) {
        printf("usage: threaded OPERATION [root|config|all]\n");
        return 1;
    }
    ACLCHECK(aclInit(nullptr));
    ACLCHECK(aclrtGetDeviceCount(&devCount));
    std::cout << "Found " << devCount << " NPU device(s) available" << std::endl;

    std::string how = argc > 2 ? argv[2] : "root";
    std::vector<HcclComm> comms(devCount, nullptr);
    void *rootInfoBuf = nullptr;
    ACLCHECK(aclrtSetDevice(0));
    ACLCHECK(aclrtMallocHost(&rootInfoBuf, sizeof(HcclRootInfo)));
    HcclRootInfo *rootInfo = static_cast<HcclRootInfo *>(rootInfoBuf);
    if (how == "all") {
        std::vector<int32_t> devices;
        for (uint32_t i = 0; i < devCount; ++i)
            devices.push_back(static_cast<int32_t>(i));
        HCCLCHECK(HcclCommInitAll(devCount, devices.data(), comms.data()));
    } else {
        HCCLCHECK(HcclGetRootInfo(rootInfo));
    }

    std::vector<std::thread> threads;
    std::vector<ThreadContext> args(devCount);
    for (uint32_t i = 0; i < devCount; ++i) {
        args[i] = ThreadContext{rootInfo, comms[i], i, devCount, argv[1], how, -1};
        threads.emplace_back([&args, i] { args[i].ret = Sample(&args[i]); });
    }
    for (std::thread &thread : threads)
        thread.join();

    ACLCHECK(aclrtFreeHost(rootInfoBuf));
    ACLCHECK(aclrtResetDevice(0));
    ACLCHECK(aclFinalize());
    for (const ThreadContext &ctx : args) {
        if (ctx.ret != 0)
            return 1;
    }
    return 0;
}
