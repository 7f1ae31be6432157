/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernel of the mesh all-gather: the main thread copies this rank's data to its buffer and
 * releases one slave per further peer; each thread reads one peer's buffer. New string ABI, and
 * a class that the host has too, with other members.
 */
#include <sched.h>

#include <map>
#include <string>

#include "mesh.h"

#define CHK(call)                                                                                  \
    do {                                                                                           \
        if ((call) != 0)                                                                           \
            return 1;                                                                              \
    } while (0)

class Executor
{
  public:
    Executor(const std::string &name, const MeshArgs &args) : args_(args), name_(name)
    {
    }
    virtual ~Executor() = default;
    virtual uint32_t Run();

  private:
    uint32_t Peer(ThreadHandle thread, const MeshPeer &peer);
    uint32_t ReleaseAndReport();

    const MeshArgs &args_;
    uint64_t padding_[7] = {};
    std::string name_;
};

/* Of a device: eight ranks in one process must not meet here. */
static int g_rank = -1;
static std::map<std::string, uint32_t> g_rounds;

static uint32_t
CheckArgs(const MeshArgs &args)
{
    auto peers = reinterpret_cast<const MeshPeer *>(&args + 1);
    auto tail = reinterpret_cast<const unsigned char *>(peers + args.peerNum);
    uint64_t sum = 0;

    for (uint32_t i = 0; i < args.tailLen; i++)
        sum = sum * 31 + tail[i];
    if (g_rank == -1)
        g_rank = static_cast<int>(args.rank);
    if (sum != args.tailSum || g_rank != static_cast<int>(args.rank))
        return 1;
    return g_rounds[args.comm]++ == args.round ? 0 : 1;
}

uint32_t
Executor::Peer(ThreadHandle thread, const MeshPeer &peer)
{
    char *out = static_cast<char *>(args_.out) + peer.rank * args_.len;

    CHK(HcommChannelNotifyRecordOnThread(thread, peer.channel, 0));
    CHK(HcommChannelNotifyWaitOnThread(thread, peer.channel, 0, 1800));
    CHK(HcommReadOnThread(thread, peer.channel, out, peer.buf, args_.len));
    CHK(HcommChannelNotifyRecordOnThread(thread, peer.channel, 1));
    CHK(HcommChannelNotifyWaitOnThread(thread, peer.channel, 1, 1800));
    return 0;
}

/* A slave's wait is queued before what it waits for. */
uint32_t
Executor::ReleaseAndReport()
{
    auto peers = reinterpret_cast<const MeshPeer *>(&args_ + 1);
    ThreadHandle main = args_.threads[0];

    for (uint32_t i = 1; i < args_.peerNum; i++) {
        CHK(HcommThreadNotifyWaitOnThread(args_.threads[i], 0, 1800));
        CHK(HcommThreadNotifyRecordOnThread(main, args_.threads[i], 0));
    }
    for (uint32_t i = 0; i < args_.peerNum; i++)
        CHK(Peer(args_.threads[i], peers[i]));
    for (uint32_t i = 1; i < args_.peerNum; i++) {
        CHK(HcommThreadNotifyRecordOnThread(args_.threads[i], main, i - 1));
        CHK(HcommThreadNotifyWaitOnThread(main, i - 1, 1800));
    }
    return 0;
}

uint32_t
Executor::Run()
{
    ThreadHandle main = args_.threads[0];
    char *out = static_cast<char *>(args_.out) + args_.rank * args_.len;

    if (name_ != "the kernel's executor")
        return 1;
    if (args_.batch)
        CHK(HcommBatchModeStart("mesh"));
    CHK(HcommThreadNotifyWaitOnThread(main, START, 1836));
    CHK(HcommLocalCopyOnThread(main, args_.local, args_.in, args_.len));
    CHK(HcommLocalCopyOnThread(main, out, args_.in, args_.len));
    CHK(ReleaseAndReport());
    CHK(HcommThreadNotifyRecordOnThread(main, args_.stream, 0));
    if (args_.batch)
        CHK(HcommBatchModeEnd("mesh"));
    return 0;
}

extern "C" uint32_t
MeshKernel(void *arg)
{
    auto &args = *static_cast<MeshArgs *>(arg);
    struct sched_param param = {};
    uint32_t failed;

    CHK(sched_setscheduler(0, SCHED_OTHER, &param));
    CHK(HcommAcquireComm(args.comm));
    failed = CheckArgs(args) != 0 || Executor("the kernel's executor", args).Run() != 0;
    CHK(HcommReleaseComm(args.comm));
    return failed;
}
