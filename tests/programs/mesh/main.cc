/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mesh KERNEL.json [garbage]: all-gather by an AICPU kernel, one rank per device, ranks are
 * threads. Written as operators of the original stack are: host part with the old string ABI, a
 * kernel argument that is a structure with a tail, links asked of the rank graph on Ascend950.
 *
 * "garbage": from the second round on, the thread handles are uninitialised, as with a cached
 * context that forgot them. The round must fail.
 */
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "hccl/hccl_comm.h"
#include "hccl/hccl_rank_graph.h"
#include "hccl/hccl_res_expt.h"
#include "mesh.h"

#define CHK(call)                                                                                  \
    do {                                                                                           \
        int chkRet = static_cast<int>(call);                                                       \
        if (chkRet != 0) {                                                                         \
            printf("line %d: %s returned %d\n", __LINE__, #call, chkRet);                          \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

/* The kernel has one of the same name, with other members. */
class Executor
{
  public:
    explicit Executor(const std::string &name) : name_(name)
    {
    }
    virtual ~Executor()
    {
    }
    virtual bool Run();

  private:
    std::string name_;
};

bool
Executor::Run()
{
    return name_ == "the host's executor";
}

constexpr uint64_t COUNT = 3000;
constexpr uint32_t ROUNDS = 3;

static const char *g_json;
static bool g_garbage;

struct Rank {
    uint32_t id, num;
    HcclComm comm;
    aclrtStream stream;
    ThreadHandle host, mainOnHost;
    aclrtFuncHandle kernel;
    std::vector<char> blob; /* MeshArgs, peers, tail */

    MeshArgs &Args()
    {
        return *reinterpret_cast<MeshArgs *>(blob.data());
    }
    MeshPeer *Peers()
    {
        return reinterpret_cast<MeshPeer *>(&Args() + 1);
    }
};

static bool
IsAscend950()
{
    return std::string(aclrtGetSocName()).find("Ascend950") != std::string::npos;
}

static int
AcquireChannels(Rank &rank)
{
    std::vector<HcclChannelDesc> descs(rank.num - 1);
    std::vector<ChannelHandle> channels(rank.num - 1);

    CHK(HcclChannelDescInit(descs.data(), rank.num - 1));
    for (uint32_t i = 0; i < rank.num - 1; i++) {
        descs[i].remoteRank = i < rank.id ? i : i + 1;
        descs[i].channelProtocol = COMM_PROTOCOL_HCCS;
        descs[i].notifyNum = 7;
        if (IsAscend950()) {
            CommLink *links = nullptr;
            uint32_t linkNum = 0;

            CHK(HcclRankGraphGetLinks(rank.comm, 0, rank.id, descs[i].remoteRank, &links,
                                      &linkNum));
            CHK(linkNum == 0);
            CHK(links[0].linkAttr.linkProtocol != COMM_PROTOCOL_UB_CTP);
            descs[i].channelProtocol = links[0].linkAttr.linkProtocol;
            descs[i].localEndpoint = links[0].srcEndpointDesc;
            descs[i].remoteEndpoint = links[0].dstEndpointDesc;
        }
    }
    CHK(HcclChannelAcquire(rank.comm, COMM_ENGINE_AICPU, descs.data(), rank.num - 1,
                           channels.data()));
    for (uint32_t i = 0; i < rank.num - 1; i++) {
        MeshPeer &peer = rank.Peers()[i];
        uint64_t size = 0;

        peer.rank = descs[i].remoteRank;
        peer.channel = channels[i];
        CHK(HcclChannelGetHcclBuffer(rank.comm, channels[i], &peer.buf, &size));
    }
    return 0;
}

/* Threads are of AICPU_TS, channels of AICPU: programs mix them. */
static int
AcquireThreads(Rank &rank)
{
    MeshArgs &args = rank.Args();

    CHK(HcclThreadAcquire(rank.comm, COMM_ENGINE_AICPU_TS, THREADS, NOTIFIES, args.threads));
    CHK(HcclThreadAcquireWithStream(rank.comm, COMM_ENGINE_CPU_TS, rank.stream, 1, &rank.host));
    CHK(HcclThreadExportToCommEngine(rank.comm, 1, &rank.host, COMM_ENGINE_AICPU_TS, &args.stream));
    CHK(HcclThreadExportToCommEngine(rank.comm, 1, args.threads, COMM_ENGINE_CPU_TS,
                                     &rank.mainOnHost));
    return 0;
}

static int
LoadKernel(Rank &rank)
{
    aclrtBinaryLoadOption option;
    aclrtBinaryLoadOptions options = {&option, 1};
    aclrtBinHandle binary = nullptr;

    option.type = ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE;
    option.value.cpuKernelMode = 0;
    CHK(aclrtBinaryLoadFromFile(g_json, &options, &binary));
    CHK(aclrtBinaryGetFunction(binary, "MeshKernel", &rank.kernel));
    return 0;
}

static int
Prepare(Rank &rank)
{
    uint32_t tailLen = 1000 + rank.id;
    uint64_t size = 0;

    rank.blob.assign(sizeof(MeshArgs) + (rank.num - 1) * sizeof(MeshPeer) + tailLen, 0);
    MeshArgs &args = rank.Args();
    args.rank = rank.id;
    args.peerNum = rank.num - 1;
    args.len = COUNT * sizeof(int);
    args.batch = !IsAscend950();
    args.tailLen = tailLen;
    CHK(HcclGetCommName(rank.comm, args.comm));
    CHK(HcclGetHcclBuffer(rank.comm, &args.local, &size));
    CHK(size != (384ull << 20));
    CHK(aclrtMalloc(&args.in, args.len, ACL_MEM_MALLOC_HUGE_FIRST));
    CHK(aclrtMalloc(&args.out, args.len * rank.num, ACL_MEM_MALLOC_HUGE_FIRST));
    CHK(AcquireThreads(rank));
    CHK(AcquireChannels(rank));
    auto tail = reinterpret_cast<unsigned char *>(rank.Peers() + args.peerNum);
    for (uint32_t i = 0; i < tailLen; i++) {
        tail[i] = static_cast<unsigned char>(i * 7 + rank.id);
        args.tailSum = args.tailSum * 31 + tail[i];
    }
    return LoadKernel(rank);
}

/* In one piece, or the structure and the rest apart: the kernel finds them without a gap. */
static int
Launch(Rank &rank, uint32_t round)
{
    aclrtLaunchKernelAttr attr;
    aclrtLaunchKernelCfg cfg = {&attr, 1};
    aclrtArgsHandle args = nullptr;
    aclrtParamHandle param = nullptr;

    attr.id = ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT;
    attr.value.timeout = 1836;
    CHK(HcommThreadNotifyRecordOnThread(rank.host, rank.mainOnHost, START));
    if (round % 2 == 0) {
        std::vector<char> copy(rank.blob);

        CHK(aclrtLaunchKernelWithHostArgs(rank.kernel, 1, rank.stream, &cfg, copy.data(),
                                          copy.size(), nullptr, 0));
    } else {
        size_t rest = rank.blob.size() - sizeof(MeshArgs);

        CHK(aclrtKernelArgsInit(rank.kernel, &args));
        CHK(aclrtKernelArgsAppend(args, rank.blob.data(), sizeof(MeshArgs), &param));
        CHK(aclrtKernelArgsAppend(args, rank.blob.data() + sizeof(MeshArgs), rest, &param));
        CHK(aclrtKernelArgsFinalize(args));
        CHK(aclrtLaunchKernelWithConfig(rank.kernel, 1, rank.stream, &cfg, args, nullptr));
    }
    CHK(HcommThreadNotifyWaitOnThread(rank.host, 0, 1900));
    return 0;
}

static int
ValueOf(uint32_t rank, uint32_t round, uint64_t i)
{
    return static_cast<int>(rank * 1000000 + round * 10000 + i);
}

static int
Round(Rank &rank, uint32_t round)
{
    MeshArgs &args = rank.Args();
    std::vector<int> in(COUNT), out(COUNT * rank.num);

    args.round = round;
    for (uint64_t i = 0; i < COUNT; i++)
        in[i] = ValueOf(rank.id, round, i);
    CHK(aclrtMemcpy(args.in, args.len, in.data(), args.len, ACL_MEMCPY_HOST_TO_DEVICE));
    if (g_garbage && round > 0)
        memset(args.threads, 0xcd, sizeof(args.threads));
    CHK(Launch(rank, round));
    if (g_garbage && round > 0) {
        CHK(aclrtSynchronizeStream(rank.stream) != 507018);
        return 0;
    }
    CHK(aclrtSynchronizeStream(rank.stream));
    CHK(aclrtMemcpy(out.data(), args.len * rank.num, args.out, args.len * rank.num,
                    ACL_MEMCPY_DEVICE_TO_HOST));
    for (uint64_t i = 0; i < COUNT * rank.num; i++)
        CHK(out[i] != ValueOf(static_cast<uint32_t>(i / COUNT), round, i % COUNT));
    return 0;
}

static int
RunRank(const HcclRootInfo &info, uint32_t num, uint32_t id)
{
    Rank rank = {};
    HcclCommConfig config;

    rank.id = id;
    rank.num = num;
    CHK(!Executor("the host's executor").Run());
    CHK(aclrtSetDevice(static_cast<int32_t>(id)));
    CHK(aclrtCreateStream(&rank.stream));
    HcclCommConfigInit(&config);
    config.hcclBufferSize = 192;
    config.hcclOpExpansionMode = 2;
    CHK(HcclCommInitRootInfoConfig(num, &info, id, &config, &rank.comm));
    CHK(Prepare(rank));
    for (uint32_t round = 0; round < (g_garbage ? 2 : ROUNDS); round++)
        CHK(Round(rank, round));
    CHK(HcclCommDestroy(rank.comm));
    CHK(aclrtFree(rank.Args().in));
    CHK(aclrtFree(rank.Args().out));
    CHK(aclrtDestroyStream(rank.stream));
    CHK(aclrtResetDevice(static_cast<int32_t>(id)));
    return 0;
}

int
main(int argc, char **argv)
{
    std::vector<std::thread> threads;
    HcclRootInfo info;
    uint32_t num = 0;
    int failed = 0;

    CHK(argc < 2);
    g_json = argv[1];
    g_garbage = argc > 2;
    CHK(aclInit(nullptr));
    CHK(aclrtGetDeviceCount(&num));
    CHK(aclrtSetDevice(0));
    CHK(HcclGetRootInfo(&info));
    std::vector<int> results(num);
    for (uint32_t id = 0; id < num; id++)
        threads.emplace_back([&, id] { results[id] = RunRank(info, num, id); });
    for (auto &thread : threads)
        thread.join();
    for (int result : results)
        failed |= result;
    CHK(aclFinalize());
    CHK(aclrtResetDevice(0)); /* also after aclFinalize */
    return failed;
}
