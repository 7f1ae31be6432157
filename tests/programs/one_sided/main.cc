/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * one_sided: a transfer library's use of the base layer, without a communicator. Two threads play
 * two processes: each makes an endpoint, registers memory, swaps descriptions with the other by
 * its own means, polls until the channel stands, then writes, reads and notifies.
 */
#include <arpa/inet.h>

#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "hccl/hccl_types.h"
#include "hcomm/hcomm_primitives.h"
#include "hcomm/hcomm_res.h"

#define CHK(call)                                                                                  \
    do {                                                                                           \
        int chkRet = static_cast<int>(call);                                                       \
        if (chkRet != 0) {                                                                         \
            printf("line %d: %s returned %d\n", __LINE__, #call, chkRet);                          \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

constexpr size_t LEN = 1 << 20;
constexpr uint32_t SECONDS = 30;

/* What the two tell each other. */
class Mail
{
  public:
    std::string Swap(uint32_t side, const std::string &mine)
    {
        std::unique_lock<std::mutex> guard(lock_);
        size_t turn = sent_[side].size();

        sent_[side].push_back(mine);
        arrived_.notify_all();
        arrived_.wait(guard, [&] { return sent_[1 - side].size() > turn; });
        return sent_[1 - side][turn];
    }

  private:
    std::mutex lock_;
    std::condition_variable arrived_;
    std::vector<std::string> sent_[2];
};

struct Side {
    uint32_t id;
    bool onDevice;
    CommProtocol protocol;
    Mail *mail;
    EndpointDesc desc;
    EndpointHandle endpoint;
    std::vector<char> hostMem;
    char *mem; /* two regions of LEN bytes */
    HcommMemHandle regions[2];
    std::string peerRegions[2];
    char *peer[2];
    ChannelHandle channel;
};

static int
MakeEndpoint(Side &side)
{
    CHK(EndpointDescInit(&side.desc, 1));
    side.desc.protocol = side.protocol;
    side.desc.commAddr.type = COMM_ADDR_TYPE_IP_V4;
    CHK(inet_pton(AF_INET, "127.0.0.1", &side.desc.commAddr.addr) != 1);
    if (side.onDevice) {
        side.desc.loc.locType = ENDPOINT_LOC_TYPE_DEVICE;
        side.desc.loc.device.devPhyId = side.id;
    } else {
        side.desc.loc.locType = ENDPOINT_LOC_TYPE_HOST;
        side.desc.loc.host.id = 0;
    }
    CHK(HcommEndpointCreate(&side.desc, &side.endpoint));
    return 0;
}

static int
RegisterAndSwap(Side &side, uint32_t i)
{
    CommMem mem = {side.onDevice ? COMM_MEM_TYPE_DEVICE : COMM_MEM_TYPE_HOST, side.mem + i * LEN,
                   LEN};
    CommMem remote = {COMM_MEM_TYPE_INVALID, nullptr, 0};
    uint32_t len = 0;
    void *desc = nullptr;

    CHK(HcommMemReg(side.endpoint, i == 0 ? "first" : "second", &mem, &side.regions[i]));
    CHK(HcommMemExport(side.endpoint, side.regions[i], &desc, &len));
    side.peerRegions[i] = side.mail->Swap(side.id, std::string(static_cast<char *>(desc), len));
    CHK(HcommMemImport(side.endpoint, side.peerRegions[i].data(),
                       static_cast<uint32_t>(side.peerRegions[i].size()), &remote));
    CHK(remote.size != LEN);
    side.peer[i] = static_cast<char *>(remote.addr);
    return 0;
}

static int
Connect(Side &side, uint16_t port)
{
    HcommChannelDesc desc;
    int32_t status = 1;

    CHK(HcommChannelDescInit(&desc, 1));
    desc.remoteEndpoint = side.desc;
    if (side.onDevice)
        desc.remoteEndpoint.loc.device.devPhyId = 1 - side.id;
    desc.notifyNum = 4;
    desc.role = side.id == 0 ? HCOMM_SOCKET_ROLE_SERVER : HCOMM_SOCKET_ROLE_CLIENT;
    desc.port = port;
    desc.channelName = "blocks";
    if (side.id == 0) {
        desc.exchangeAllMems = true;
    } else {
        desc.memHandles = side.regions;
        desc.memHandleNum = 2;
    }
    CHK(HcommChannelCreate(side.endpoint, COMM_ENGINE_CPU, &desc, 1, &side.channel));
    while (status == 1) {
        CHK(HcommChannelGetStatus(&side.channel, 1, &status));
        std::this_thread::yield();
    }
    return status;
}

static int
Fill(Side &side, char value)
{
    if (side.onDevice)
        CHK(aclrtMemset(side.mem, LEN, value, LEN));
    else
        memset(side.mem, value, LEN);
    return 0;
}

/* Whether the second region holds what the peer's first one does; leaves it empty. */
static int
ExpectPeersData(Side &side)
{
    std::string found(LEN, '-');

    if (side.onDevice) {
        CHK(aclrtMemcpy(&found[0], LEN, side.mem + LEN, LEN, ACL_MEMCPY_DEVICE_TO_HOST));
        CHK(aclrtMemset(side.mem + LEN, LEN, 0, LEN));
    } else {
        found.assign(side.mem + LEN, LEN);
        memset(side.mem + LEN, 0, LEN);
    }
    CHK(found != std::string(LEN, static_cast<char>('b' - side.id)));
    return 0;
}

static int
Meet(Side &side)
{
    CHK(HcommChannelNotifyRecord(side.channel, 3));
    CHK(HcommChannelNotifyWait(side.channel, 3, SECONDS));
    return 0;
}

static int
Transfer(Side &side)
{
    CHK(Fill(side, static_cast<char>('a' + side.id)));
    CHK(HcommWriteNbi(side.channel, side.peer[1], side.mem, LEN / 2));
    CHK(HcommWriteWithNotifyNbi(side.channel, side.peer[1] + LEN / 2, side.mem + LEN / 2, LEN / 2,
                                2));
    CHK(HcommChannelFence(side.channel));
    CHK(HcommChannelNotifyWait(side.channel, 2, SECONDS));
    CHK(ExpectPeersData(side));
    CHK(Meet(side));
    CHK(HcommReadNbiOnThread(0, side.channel, side.mem + LEN, side.peer[0], LEN));
    CHK(HcommChannelFenceOnThread(0, side.channel));
    CHK(ExpectPeersData(side));
    CHK(Meet(side));
    /* Four bytes past the end of what the peer offers. */
    CHK(HcommWriteNbi(side.channel, side.peer[1] + LEN - 4, side.mem, 8) != HCCL_E_PARA);
    return Meet(side);
}

static int
Close(Side &side)
{
    CHK(HcommChannelDestroy(&side.channel, 1));
    for (uint32_t i = 0; i < 2; i++) {
        CHK(HcommMemUnimport(side.endpoint, side.peerRegions[i].data(),
                             static_cast<uint32_t>(side.peerRegions[i].size())));
        CHK(HcommMemUnreg(side.endpoint, side.regions[i]));
    }
    CHK(HcommEndpointDestroy(side.endpoint));
    if (side.onDevice)
        CHK(aclrtFree(side.mem));
    return 0;
}

static int
RunSide(Side &side, uint16_t port)
{
    CHK(aclrtSetDevice(static_cast<int32_t>(side.id)));
    if (side.onDevice) {
        void *mem = nullptr;

        CHK(aclrtMalloc(&mem, 2 * LEN, ACL_MEM_MALLOC_HUGE_FIRST));
        side.mem = static_cast<char *>(mem);
    } else {
        side.hostMem.resize(2 * LEN);
        side.mem = side.hostMem.data();
    }
    CHK(MakeEndpoint(side));
    for (uint32_t i = 0; i < 2; i++)
        CHK(RegisterAndSwap(side, i));
    CHK(Connect(side, port));
    CHK(Transfer(side));
    CHK(Close(side));
    CHK(aclrtResetDevice(static_cast<int32_t>(side.id)));
    return 0;
}

static int
RunPair(bool onDevice, CommProtocol protocol, uint16_t port)
{
    Mail mail;
    Side sides[2] = {};
    int results[2] = {1, 1};
    std::thread threads[2];

    for (uint32_t i = 0; i < 2; i++) {
        sides[i].id = i;
        sides[i].onDevice = onDevice;
        sides[i].protocol = protocol;
        sides[i].mail = &mail;
        threads[i] = std::thread([&, i] { results[i] = RunSide(sides[i], port); });
    }
    threads[0].join();
    threads[1].join();
    return results[0] | results[1];
}

int
main()
{
    CHK(aclInit(nullptr));
    CHK(RunPair(false, COMM_PROTOCOL_ROCE, 40961));
    CHK(RunPair(true, COMM_PROTOCOL_ROCE, 40962));
    CHK(RunPair(true, COMM_PROTOCOL_UB_CTP, 40963));
    CHK(RunPair(true, COMM_PROTOCOL_HCCS, 40964));
    CHK(aclFinalize());
    return 0;
}
