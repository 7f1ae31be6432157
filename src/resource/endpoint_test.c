/* SPDX-License-Identifier: BSD-3-Clause */
/* Endpoints, memory and channels without a communicator, through the public calls. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <unistd.h>

#include "acl/acl.h"
#include "base/alloc.h"
#include "hcomm/hcomm_res.h"
#include "resource/resource.h"
#include "tests/support/test.h"

static EndpointDesc
host_at(const char *address)
{
    EndpointDesc desc;

    EXPECT_EQ(0, EndpointDescInit(&desc, 1));
    desc.protocol = COMM_PROTOCOL_ROCE;
    desc.loc.locType = ENDPOINT_LOC_TYPE_HOST;
    desc.commAddr.type = COMM_ADDR_TYPE_IP_V4;
    EXPECT_EQ(1, inet_pton(AF_INET, address, &desc.commAddr.addr));
    return desc;
}

static EndpointHandle
open_at(const char *address)
{
    EndpointDesc desc = host_at(address);
    EndpointHandle endpoint = NULL;

    EXPECT_EQ(0, HcommEndpointCreate(&desc, &endpoint));
    return endpoint;
}

static HcommChannelDesc
channel_to(const char *address)
{
    HcommChannelDesc desc;

    EXPECT_EQ(0, HcommChannelDescInit(&desc, 1));
    desc.remoteEndpoint = host_at(address);
    desc.notifyNum = 2;
    desc.exchangeAllMems = true;
    return desc;
}

static void
start(void)
{
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
}

static void
stop(void)
{
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceForce(0));
}

TEST(endpoints_are_checked)
{
    EndpointDesc desc = host_at("10.0.0.1");
    EndpointHandle endpoint = NULL;
    uint32_t port = 0;
    bool value = true;

    start();
    test_expect_error("is NULL");
    EXPECT_EQ(HCCL_E_PTR, HcommEndpointCreate(NULL, &endpoint));
    EXPECT_EQ(HCCL_E_PTR, HcommEndpointCreate(&desc, NULL));
    EXPECT_EQ(HCCL_E_PTR, HcommEndpointDestroy(NULL));
    desc.protocol = COMM_PROTOCOL_HCCS;
    test_expect_error("HCCS 10.0.0.1: a host endpoint speaks");
    EXPECT_EQ(HCCL_E_PARA, HcommEndpointCreate(&desc, &endpoint));
    desc.protocol = (CommProtocol)77;
    test_expect_error("77, that is no protocol");
    EXPECT_EQ(HCCL_E_PARA, HcommEndpointCreate(&desc, &endpoint));
    desc = host_at("10.0.0.1");
    desc.loc.locType = ENDPOINT_LOC_TYPE_RESERVED;
    test_expect_error("neither device (0) nor host (1)");
    EXPECT_EQ(HCCL_E_PARA, HcommEndpointCreate(&desc, &endpoint));
    desc.loc.locType = ENDPOINT_LOC_TYPE_DEVICE;
    desc.loc.device.devPhyId = 99;
    test_expect_error("endpoint of device 99");
    EXPECT_EQ(HCCL_E_PARA, HcommEndpointCreate(&desc, &endpoint));
    EXPECT_NULL(endpoint);
    endpoint = open_at("10.0.0.1");
    EXPECT_EQ(0, HcommEndpointGetListenPort(endpoint, &port));
    EXPECT_EQ(60001, port);
    EXPECT_EQ(0, HcommEndpointCheckFeature(HCOMM_ENDPOINT_FEATURE_NDA, &desc, &value));
    EXPECT_FALSE(value);
    EXPECT_EQ(0, HcommEndpointDestroy(endpoint));
    test_expect_error("already destroyed");
    EXPECT_EQ(HCCL_E_NOT_FOUND, HcommEndpointDestroy(endpoint));
    EXPECT_EQ(HCCL_E_NOT_FOUND, HcommEndpointGetListenPort(endpoint, &port));
    stop();
}

TEST(only_an_ascend950_lists_its_endpoints)
{
    EndpointDesc desc;
    uint32_t num = 7;

    test_expect_error("an Ascend950 has");
    EXPECT_EQ(HCCL_E_NOT_SUPPORT, HcommEndpointGetDescNum(0, &num));
    EXPECT_EQ(0, num);
    num = 1;
    EXPECT_EQ(HCCL_E_NOT_SUPPORT, HcommEndpointGetDescs(0, &num, &desc));
}

TEST(an_ascend950_lists_its_endpoints)
{
    EndpointDesc desc[2];
    EndpointHandle endpoint;
    uint32_t num = 7;

    setenv("HCOMM_SOC_NAME", "Ascend950PR_9599", 1);
    EXPECT_EQ(0, HcommEndpointGetDescNum(3, &num));
    EXPECT_EQ(1, num);
    num = 2;
    EXPECT_EQ(0, HcommEndpointGetDescs(3, &num, desc));
    EXPECT_EQ(1, num);
    EXPECT_EQ(COMM_PROTOCOL_UB_CTP, desc[0].protocol);
    EXPECT_EQ(3, desc[0].loc.device.devPhyId);
    EXPECT_EQ(0, HcommEndpointCreate(&desc[0], &endpoint));
    EXPECT_EQ(0, HcommEndpointDestroy(endpoint));
    test_expect_error("descNum is 0");
    num = 0;
    EXPECT_EQ(HCCL_E_PARA, HcommEndpointGetDescs(3, &num, desc));
    test_expect_error("there is no device 8");
    EXPECT_EQ(HCCL_E_PARA, HcommEndpointGetDescNum(8, &num));
    test_expect_error("there is no device -1");
    EXPECT_EQ(HCCL_E_PARA, HcommEndpointGetDescNum(-1, &num));
}

TEST(a_region_is_exported_and_imported)
{
    static char memory[64];
    CommMem mem = {.type = COMM_MEM_TYPE_HOST, .addr = memory, .size = sizeof memory}, out = {0};
    EndpointHandle a, b;
    HcommMemHandle handle = NULL, alias = NULL;
    uint32_t len = 0;
    void *desc = NULL;
    char bytes[1024];

    start();
    a = open_at("10.0.0.1");
    b = open_at("10.0.0.2");
    EXPECT_EQ(0, HcommMemReg(a, "tag", &mem, &handle));
    EXPECT_EQ(0, HcommMemReg(a, NULL, &mem, &alias));
    EXPECT_EQ(0, HcommMemUnreg(a, alias));
    EXPECT_EQ(0, HcommMemExport(a, handle, &desc, &len));
    EXPECT_EQ(0, HcommMemExport(a, handle, &desc, &len)); /* the first text is freed */
    memcpy(bytes + 1, desc, len);                         /* unaligned is fine */
    EXPECT_EQ(0, HcommMemImport(b, bytes + 1, len, &out));
    EXPECT_TRUE(out.addr == memory);
    EXPECT_EQ(sizeof memory, out.size);
    EXPECT_EQ(COMM_MEM_TYPE_HOST, out.type);
    test_expect_error("has been imported already");
    EXPECT_EQ(HCCL_E_AGAIN, HcommMemImport(b, desc, len, &out));
    EXPECT_EQ(0, HcommMemUnimport(b, desc, len));
    test_expect_error("has not been imported");
    EXPECT_EQ(HCCL_E_NOT_FOUND, HcommMemUnimport(b, desc, len));
    EXPECT_EQ(0, HcommMemUnreg(a, handle));
    test_expect_error("has been unregistered");
    EXPECT_EQ(HCCL_E_NOT_FOUND, HcommMemImport(b, bytes + 1, len, &out));
    test_expect_error("is not registered on endpoint RoCE 10.0.0.1: it is already destroyed");
    EXPECT_EQ(HCCL_E_NOT_FOUND, HcommMemUnreg(a, handle));
    EXPECT_EQ(HCCL_E_NOT_FOUND, HcommMemExport(a, handle, &desc, &len));
    EXPECT_EQ(0, HcommEndpointDestroy(a));
    EXPECT_EQ(0, HcommEndpointDestroy(b));
    stop();
}

TEST(a_damaged_or_foreign_descriptor_is_refused)
{
    CommMem mem = {.type = COMM_MEM_TYPE_HOST, .addr = &mem, .size = 8}, out;
    EndpointHandle a;
    HcommMemHandle handle;
    uint32_t len;
    void *desc;
    char bytes[1024];

    start();
    test_allow_errors();
    a = open_at("10.0.0.1");
    EXPECT_EQ(0, HcommMemReg(a, "tag", &mem, &handle));
    EXPECT_EQ(0, HcommMemExport(a, handle, &desc, &len));
    for (uint32_t cut = 0; cut < len; cut++) {
        char *part = malloc(cut + 1);

        memcpy(part, desc, cut);
        EXPECT_EQ(HCCL_E_INTERNAL, HcommMemImport(a, part, cut, &out));
        free(part);
    }
    for (uint32_t at = 0; at < len; at++) {
        memcpy(bytes, desc, len);
        bytes[at] ^= 1;
        EXPECT_EQ(HCCL_E_INTERNAL, HcommMemImport(a, bytes, len, &out));
    }
    EXPECT_EQ(0, HcommMemUnreg(a, handle));
    EXPECT_EQ(0, HcommEndpointDestroy(a));
    stop();
}

TEST(bad_regions_are_refused)
{
    CommMem mem = {.type = COMM_MEM_TYPE_HOST, .addr = &mem, .size = 8};
    EndpointHandle a, b;
    HcommMemHandle handle;

    start();
    a = open_at("10.0.0.1");
    b = open_at("10.0.0.2");
    test_expect_error("is NULL");
    EXPECT_EQ(HCCL_E_PTR, HcommMemReg(a, "t", NULL, &handle));
    EXPECT_EQ(HCCL_E_PTR, HcommMemReg(a, "t", &mem, NULL));
    mem.size = 0;
    test_expect_error("are not a region");
    EXPECT_EQ(HCCL_E_PARA, HcommMemReg(a, "t", &mem, &handle));
    mem.size = UINT64_MAX;
    EXPECT_EQ(HCCL_E_PARA, HcommMemReg(a, "t", &mem, &handle));
    mem.size = 8;
    mem.type = COMM_MEM_TYPE_INVALID;
    EXPECT_EQ(HCCL_E_PARA, HcommMemReg(a, "t", &mem, &handle));
    mem.type = COMM_MEM_TYPE_HOST;
    EXPECT_EQ(0, HcommMemReg(a, "t", &mem, &handle));
    test_expect_error("it is another endpoint's");
    EXPECT_EQ(HCCL_E_NOT_FOUND, HcommMemUnreg(b, handle));
    EXPECT_EQ(0, HcommEndpointDestroy(a)); /* warns, and drops the registration */
    EXPECT_EQ(1, test_logged("destroyed with 1 memories registered"));
    EXPECT_EQ(0, HcommEndpointDestroy(b));
    stop();
}

TEST(window_memory_is_allocated_and_freed)
{
    char *ptr = NULL;

    start();
    EXPECT_EQ(0, HcommMemAlloc((void **)&ptr, 5));
    ptr[(2 << 20) - 1] = 1; /* rounded up to the granularity */
    EXPECT_EQ(0, HcommMemFree(ptr));
    EXPECT_EQ(0, HcommMemFree(NULL));
    test_expect_error("is NULL");
    EXPECT_EQ(HCCL_E_PTR, HcommMemAlloc(NULL, 5));
    test_expect_error("size is 0");
    EXPECT_EQ(HCCL_E_PARA, HcommMemAlloc((void **)&ptr, 0));
    test_allow_errors();
    EXPECT_EQ(HCCL_E_RUNTIME, HcommMemFree(&ptr));
    EXPECT_EQ(HCCL_E_RUNTIME, HcommMemAlloc((void **)&ptr, 1ull << 60));
    stop();
}

/* ---- channels ---- */

static void
expect_connected(const ChannelHandle *pair, bool connected)
{
    int32_t status[2] = {9, 9};

    for (int i = 0; i < (connected ? 5000 : 50) && (status[0] != 0 || status[1] != 0); i++) {
        usleep(1000); /* they meet in the lobby */
        EXPECT_EQ(0, HcommChannelGetStatus(pair, 2, status));
    }
    EXPECT_EQ(connected ? 0 : 1, status[0]);
    EXPECT_EQ(connected ? 0 : 1, status[1]);
}

TEST(two_endpoints_find_each_other_by_address_port_and_name)
{
    HcommChannelDesc to_b = channel_to("10.0.0.2"), to_a = channel_to("10.0.0.1");
    EndpointHandle a, b;
    ChannelHandle pair[2], other[2];

    start();
    a = open_at("10.0.0.1");
    b = open_at("10.0.0.2");
    to_a.port = 60001; /* what port 0 means */
    EXPECT_EQ(0, HcommChannelCreate(a, COMM_ENGINE_CPU, &to_b, 1, &pair[0]));
    EXPECT_EQ(0, HcommChannelCreate(b, COMM_ENGINE_CPU, &to_a, 1, &pair[1]));
    expect_connected(pair, true);
    to_b.channelName = "x";
    to_a.channelName = "y";
    EXPECT_EQ(0, HcommChannelCreate(a, COMM_ENGINE_CPU, &to_b, 1, &other[0]));
    EXPECT_EQ(0, HcommChannelCreate(b, COMM_ENGINE_CPU, &to_a, 1, &other[1]));
    expect_connected(other, false);
    EXPECT_EQ(0, HcommChannelDestroy(&other[1], 1));
    to_a.channelName = "x";
    EXPECT_EQ(0, HcommChannelCreate(b, COMM_ENGINE_CPU, &to_a, 1, &other[1]));
    expect_connected(other, true);
    EXPECT_EQ(0, HcommChannelDestroy(other, 2));
    EXPECT_EQ(0, HcommChannelDestroy(pair, 2));
    EXPECT_EQ(0, HcommEndpointDestroy(a));
    EXPECT_EQ(0, HcommEndpointDestroy(b));
    stop();
}

TEST(ends_of_one_address_need_roles)
{
    HcommChannelDesc desc[2] = {channel_to("10.0.0.1"), channel_to("10.0.0.1")};
    EndpointHandle a;
    ChannelHandle pair[2];

    start();
    a = open_at("10.0.0.1");
    test_expect_error("make one of them the SERVER");
    EXPECT_EQ(HCCL_E_PARA, HcommChannelCreate(a, COMM_ENGINE_CPU, desc, 2, pair));
    desc[0].role = HCOMM_SOCKET_ROLE_SERVER;
    desc[1].role = HCOMM_SOCKET_ROLE_CLIENT;
    EXPECT_EQ(0, HcommChannelCreate(a, COMM_ENGINE_CPU, desc, 2, pair));
    expect_connected(pair, true);
    EXPECT_EQ(0, HcommChannelDestroy(pair, 2));
    EXPECT_EQ(0, HcommEndpointDestroy(a));
    stop();
}

/* A program compiled with the first version of the header: shorter, no name. */
TEST(descriptions_of_an_older_header_are_understood)
{
    HcommChannelDesc to_b = channel_to("10.0.0.2"), to_a = channel_to("10.0.0.1");
    char old[2 * 344];
    EndpointHandle a, b;
    ChannelHandle pair[2], extra;

    start();
    a = open_at("10.0.0.1");
    b = open_at("10.0.0.2");
    to_b.header.version = 1;
    to_b.header.size = 344;
    memcpy(old, &to_b, 344);
    to_b.port = 7;
    memcpy(old + 344, &to_b, 344);
    EXPECT_EQ(0, HcommChannelCreate(a, COMM_ENGINE_CPU, (HcommChannelDesc *)(void *)old, 2, pair));
    extra = pair[1];
    EXPECT_EQ(0, HcommChannelCreate(b, COMM_ENGINE_CPU, &to_a, 1, &pair[1]));
    expect_connected(pair, true);
    EXPECT_EQ(0, HcommChannelDestroy(&extra, 1));
    EXPECT_EQ(0, HcommChannelDestroy(pair, 2));
    EXPECT_EQ(0, HcommEndpointDestroy(a));
    EXPECT_EQ(0, HcommEndpointDestroy(b));
    stop();
}

TEST(bad_channel_descriptions_are_refused)
{
    HcommChannelDesc good = channel_to("10.0.0.2"), bad = good;
    char long_name[200];
    EndpointHandle a;
    ChannelHandle channel = 0;
    int32_t status;

    start();
    a = open_at("10.0.0.1");
    memset(long_name, 'n', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    bad.header.magicWord = 1;
    test_expect_error("start it with HcommChannelDescInit");
    EXPECT_EQ(HCCL_E_PARA, HcommChannelCreate(a, COMM_ENGINE_CPU, &bad, 1, &channel));
    bad = good;
    bad.header.size = 15;
    EXPECT_EQ(HCCL_E_PARA, HcommChannelCreate(a, COMM_ENGINE_CPU, &bad, 1, &channel));
    bad = good;
    bad.channelName = long_name;
    test_expect_error("longer than 191");
    EXPECT_EQ(HCCL_E_PARA, HcommChannelCreate(a, COMM_ENGINE_CPU, &bad, 1, &channel));
    bad = good;
    bad.exchangeAllMems = false;
    test_expect_error("memHandles (exchangeAllMems is false) is NULL");
    EXPECT_EQ(HCCL_E_PTR, HcommChannelCreate(a, COMM_ENGINE_CPU, &bad, 1, &channel));
    bad = good;
    bad.roceAttr.retryInterval = 25;
    test_expect_error("roceAttr.retryInterval is 25, allowed are 5 to 24");
    EXPECT_EQ(HCCL_E_PARA, HcommChannelCreate(a, COMM_ENGINE_CPU, &bad, 1, &channel));
    bad = good;
    EXPECT_EQ(0, EndpointDescInit(&bad.remoteEndpoint, 1));
    test_expect_error("remoteEndpoint is not filled in");
    EXPECT_EQ(HCCL_E_PARA, HcommChannelCreate(a, COMM_ENGINE_CPU, &bad, 1, &channel));
    test_expect_error("engine AIV is not supported");
    EXPECT_EQ(HCCL_E_NOT_SUPPORT, HcommChannelCreate(a, COMM_ENGINE_AIV, &good, 1, &channel));
    test_expect_error("channelNum is 0");
    EXPECT_EQ(HCCL_E_PARA, HcommChannelCreate(a, COMM_ENGINE_CPU, &good, 0, &channel));
    test_expect_error("no handle at all");
    channel = 5;
    EXPECT_EQ(HCCL_E_INTERNAL, HcommChannelGetStatus(&channel, 1, &status));
    EXPECT_EQ(HCCL_E_NOT_FOUND, HcommChannelDestroy(&channel, 1));
    EXPECT_EQ(0, HcommEndpointDestroy(a));
    stop();
}

TEST(options_of_a_channel_are_checked)
{
    HcommChannelDesc to_b = channel_to("10.0.0.2");
    HcommChannelConfig config = NULL;
    EndpointHandle a;
    ChannelHandle channel;

    start();
    a = open_at("10.0.0.1");
    EXPECT_EQ(0, HcommChannelConfigCreate(&config));
    EXPECT_EQ(0, HcommChannelCreateWithConfig(a, COMM_ENGINE_CPU, &to_b, 1, config, &channel));
    EXPECT_EQ(0, HcommChannelDestroy(&channel, 1));
    EXPECT_EQ(0, HcommChannelConfigSetInt(config, HCOMM_CHANNEL_CONFIG_TYPE_IS_SHARED_QUEUE, 1));
    test_expect_error("a shared queue needs engine AIV");
    EXPECT_EQ(HCCL_E_NOT_SUPPORT,
              HcommChannelCreateWithConfig(a, COMM_ENGINE_CPU, &to_b, 1, config, &channel));
    test_expect_error("is no option");
    EXPECT_EQ(HCCL_E_PARA, HcommChannelConfigSetInt(config, (HcommChannelConfigType)5, 1));
    EXPECT_EQ(0, HcommChannelConfigDestroy(config));
    EXPECT_EQ(0, HcommChannelConfigDestroy(NULL));
    test_expect_error("already destroyed");
    EXPECT_EQ(HCCL_E_NOT_FOUND, HcommChannelConfigDestroy(config));
    test_expect_error("it is NULL");
    EXPECT_EQ(HCCL_E_PTR,
              HcommChannelConfigSetInt(NULL, HCOMM_CHANNEL_CONFIG_TYPE_IS_SHARED_QUEUE, 1));
    EXPECT_EQ(0, HcommEndpointDestroy(a));
    stop();
}

TEST(the_public_creates_survive_every_failed_allocation)
{
    static char memory[8];
    CommMem mem = {.type = COMM_MEM_TYPE_HOST, .addr = memory, .size = 8}, out;
    HcommChannelDesc to_b = channel_to("10.0.0.2");
    EndpointDesc at = host_at("10.0.0.1");
    int32_t rc = -1;
    long live;

    start();
    test_allow_errors();
    live = hc_alloc_live();
    for (long nth = 0; rc != 0; nth++) {
        EndpointHandle endpoint = NULL;
        HcommMemHandle handle = NULL;
        ChannelHandle channel = 0;
        uint32_t len;
        void *desc;

        hc_alloc_fail_nth(nth);
        rc = HcommEndpointCreate(&at, &endpoint);
        if (rc == 0)
            rc = HcommMemReg(endpoint, "t", &mem, &handle);
        if (rc == 0)
            rc = HcommMemExport(endpoint, handle, &desc, &len);
        if (rc == 0)
            rc = HcommMemImport(endpoint, desc, len, &out);
        if (rc == 0)
            rc = HcommChannelCreate(endpoint, COMM_ENGINE_CPU, &to_b, 1, &channel);
        hc_alloc_fail_nth(-1);
        if (channel != 0)
            EXPECT_EQ(0, HcommChannelDestroy(&channel, 1));
        if (handle != NULL)
            EXPECT_EQ(0, HcommMemUnreg(endpoint, handle));
        if (endpoint != NULL)
            EXPECT_EQ(0, HcommEndpointDestroy(endpoint));
        for (int i = 0; i < 2000 && hc_alloc_live() > live; i++)
            usleep(1000); /* the lobby is left on another thread */
        EXPECT_EQ(live, hc_alloc_live());
        EXPECT_TRUE(nth < 200);
    }
    stop();
}
