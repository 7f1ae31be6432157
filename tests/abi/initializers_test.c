/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * initializers_test: the inline initialisers, byte for byte.
 *
 * They are compiled into programs, so the library meets exactly these bytes. What is expected is
 * written down as bytes at offsets, without the headers' own names for them.
 */
#include <stdio.h>
#include <string.h>

#include "hccl/hccl_channel.h"
#include "hccl/hccl_comm.h"
#include "hccl/hccl_launch.h"
#include "hccl/hccl_rank_graph.h"
#include "hccl/hccl_team.h"
#include "hcomm/hcomm_channel.h"
#include "hcomm/hcomm_res_defs.h"

static int failures;

#define CHECK(what_)                                                                               \
    do {                                                                                           \
        if (!(what_)) {                                                                            \
            printf("%s:%d: not true: %s\n", __FILE__, __LINE__, #what_);                           \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

#define UNTOUCHED 0x5A

static unsigned char want[4096]; /* the bytes expected of one record */

static void
want_fill(int byte)
{
    memset(want, byte, sizeof(want));
}

static void
want_bytes(size_t at, int byte, size_t len)
{
    memset(want + at, byte, len);
}

static void
want_u32(size_t at, uint32_t value)
{
    memcpy(want + at, &value, sizeof(value));
}

static void
want_u64(size_t at, uint64_t value)
{
    memcpy(want + at, &value, sizeof(value));
}

static void
want_header(uint32_t version, uint32_t magic, uint32_t size)
{
    want_u32(0, version);
    want_u32(4, magic);
    want_u32(8, size);
    want_u32(12, 0);
}

/* Whether `count` records of `size` bytes each are as wanted, and one more is untouched. */
static int
as_wanted(const void *records, size_t size, size_t count, const char *what)
{
    const unsigned char *bytes = (const unsigned char *)records;

    for (size_t i = 0; i < (count + 1) * size; i++) {
        int expected = i < count * size ? want[i % size] : UNTOUCHED;

        if (bytes[i] != expected) {
            printf("%s: record %zu, byte %zu is 0x%02x, not 0x%02x\n", what, i / size, i % size,
                   (unsigned)bytes[i], (unsigned)expected);
            return 0;
        }
    }
    return 1;
}

#define AS_WANTED(records_, count_) as_wanted(records_, sizeof((records_)[0]), count_, __func__)

static void
thread_config(void)
{
    ThreadConfig config[3];

    memset(config, UNTOUCHED, sizeof(config));
    CHECK(ThreadConfigInit(NULL, 1) == 2);
    CHECK(ThreadConfigInit(NULL, 0) == 2);
    CHECK(ThreadConfigInit(config, 0) == 0);
    CHECK(AS_WANTED(config, 0));
    CHECK(ThreadConfigInit(config, 2) == 0);
    want_fill(0);
    want_header(1, 0x0f0f0f2f, 32);
    CHECK(AS_WANTED(config, 2));
}

static void
endpoint_desc(void)
{
    EndpointDesc endpoint[3];

    memset(endpoint, UNTOUCHED, sizeof(endpoint));
    CHECK(EndpointDescInit(NULL, 1) == 2);
    CHECK(EndpointDescInit(NULL, 0) == 0);
    CHECK(EndpointDescInit(endpoint, 0) == 0);
    CHECK(AS_WANTED(endpoint, 0));
    CHECK(EndpointDescInit(endpoint, 2) == 0);
    want_fill(0xFF); /* its three types are -1, all ones as well */
    CHECK(AS_WANTED(endpoint, 2));
    CHECK(endpoint[1].protocol == COMM_PROTOCOL_RESERVED);
    CHECK(endpoint[1].commAddr.type == COMM_ADDR_TYPE_RESERVED);
    CHECK(endpoint[1].loc.locType == ENDPOINT_LOC_TYPE_RESERVED);
}

static void
hcomm_channel_desc(void)
{
    HcommChannelDesc desc[3];

    memset(desc, UNTOUCHED, sizeof(desc));
    CHECK(HcommChannelDescInit(NULL, 1) == 2);
    CHECK(HcommChannelDescInit(NULL, 0) == 0);
    CHECK(HcommChannelDescInit(desc, 0) == 0);
    CHECK(AS_WANTED(desc, 0));
    CHECK(HcommChannelDescInit(desc, 2) == 0);
    want_fill(0xFF);
    want_header(4, 0x0fcf0f0f, 360);
    want_u32(176, 0);      /* notifyNum */
    want_bytes(180, 0, 1); /* exchangeAllMems */
    want_u64(184, 0);      /* memHandles */
    want_u32(192, 0);      /* memHandleNum */
    want_u64(200, 0);      /* socket */
    want_bytes(212, 0, 2); /* port */
    want_u64(240, 0);      /* roceAttr.srcPortList */
    want_u64(352, 0);      /* channelName */
    CHECK(AS_WANTED(desc, 2));
    CHECK(desc[1].role == HCOMM_SOCKET_ROLE_RESERVED);
    CHECK(desc[1].qos == 0xFFFFFFFF);
}

static void
hccl_channel_desc(void)
{
    HcclChannelDesc desc[3];

    memset(desc, UNTOUCHED, sizeof(desc));
    CHECK(HcclChannelDescInit(NULL, 1) == HCCL_E_PTR);
    CHECK(HcclChannelDescInit(NULL, 0) == HCCL_SUCCESS);
    CHECK(HcclChannelDescInit(desc, 0) == HCCL_SUCCESS);
    CHECK(AS_WANTED(desc, 0));
    CHECK(HcclChannelDescInit(desc, 2) == HCCL_SUCCESS);
    want_fill(0xFF);
    want_header(1, 0x0f0f0f0f, 496);
    want_u32(344, 0); /* notifyNum */
    want_u64(352, 0); /* memHandles */
    want_u32(360, 0); /* memHandleNum */
    CHECK(AS_WANTED(desc, 2));
    CHECK(desc[1].channelProtocol == COMM_PROTOCOL_RESERVED);
}

static void
comm_link(void)
{
    CommLink link[3];

    memset(link, UNTOUCHED, sizeof(link));
    CHECK(CommLinkInit(NULL, 1) == HCCL_E_PTR);
    CHECK(CommLinkInit(NULL, 0) == HCCL_SUCCESS);
    CHECK(CommLinkInit(link, 0) == HCCL_SUCCESS);
    CHECK(AS_WANTED(link, 0));
    CHECK(CommLinkInit(link, 2) == HCCL_SUCCESS);
    want_fill(0xFF);
    want_header(1, 0x0f0e0f0f, 464);
    want_bytes(340, 1, 1); /* linkAttr.hop */
    CHECK(AS_WANTED(link, 2));
    CHECK(link[1].linkAttr.linkProtocol == COMM_PROTOCOL_RESERVED);
}

static void
op_desc(void)
{
    HcclOpDesc desc[2];

    memset(desc, UNTOUCHED, sizeof(desc));
    CHECK(HcclOpDescInit(NULL) == HCCL_E_PTR);
    CHECK(HcclOpDescInit(desc) == HCCL_SUCCESS);
    want_fill(0xFF);
    want_header(1, 0x0f0f0f0f, 360);
    CHECK(AS_WANTED(desc, 1));
}

static void
kernel_launch_cfg(void)
{
    HcclKernelLaunchCfg cfg[2];

    memset(cfg, UNTOUCHED, sizeof(cfg));
    CHECK(HcclKernelLaunchCfgInit(NULL) == HCCL_E_PTR);
    CHECK(HcclKernelLaunchCfgInit(cfg) == HCCL_SUCCESS);
    want_fill(0xFF);
    want_header(1, 0x0f0f0f0f, 128);
    CHECK(AS_WANTED(cfg, 1));
}

static void
team_create_desc(void)
{
    HcclTeamCreateDesc desc[2];

    memset(desc, UNTOUCHED, sizeof(desc));
    CHECK(HcclTeamCreateDescInit(NULL) == HCCL_E_PTR);
    CHECK(HcclTeamCreateDescInit(desc) == HCCL_SUCCESS);
    want_fill(0xFF);
    want_header(1, 0x0fcf0f14, 88);
    want_bytes(16, 0, 20); /* rankIds, rankNum, selfRankId, netLayer */
    want_bytes(40, 0, 12); /* three counts; requirement.reserved stays */
    want_bytes(72, 0, 16); /* reserved */
    CHECK(AS_WANTED(desc, 1));
    CHECK(desc[0].protocol == COMM_PROTOCOL_RESERVED);
}

static void
team_create_channels_desc(void)
{
    HcclTeamCreateChannelsDesc desc[2];

    memset(desc, UNTOUCHED, sizeof(desc));
    CHECK(HcclTeamCreateChannelsDescInit(NULL) == HCCL_E_PTR);
    CHECK(HcclTeamCreateChannelsDescInit(desc) == HCCL_SUCCESS);
    want_fill(0xFF);
    want_header(1, 0x0fcf0f15, 48);
    want_u32(20, 0);       /* notifyNum */
    want_bytes(28, 0, 20); /* channelCnt, reserved */
    CHECK(AS_WANTED(desc, 1));
    CHECK(desc[0].engine == COMM_ENGINE_RESERVED);
    CHECK(desc[0].protocol == COMM_PROTOCOL_RESERVED);
}

static void
comm_config(void)
{
    HcclCommConfig config[2];

    memset(config, UNTOUCHED, sizeof(config));
    HcclCommConfigInit(NULL);
    HcclCommConfigInit(config);
    want_fill(UNTOUCHED); /* padding and the tails of strings keep their bytes */
    want_u64(0, 2248);
    want_u32(8, 0xf0f0f0f0);
    want_u32(12, 11);
    want_u64(16, 0);
    want_u32(24, 0xFFFFFFFF);   /* hcclBufferSize */
    want_u32(28, 0xFFFFFFFF);   /* hcclDeterministic */
    want_bytes(32, 0, 1);       /* hcclCommName */
    want_bytes(160, 0, 1);      /* hcclUdi */
    want_u32(288, 0);           /* hcclOpExpansionMode */
    want_u32(292, 0xFFFFFFFF);  /* hcclRdmaTrafficClass */
    want_u32(296, 0xFFFFFFFF);  /* hcclRdmaServiceLevel */
    want_u32(300, 0);           /* hcclWorldRankID */
    want_u64(304, 0);           /* hcclJobID */
    want_bytes(312, 0, 1);      /* aclGraphZeroCopyEnable */
    want_u32(316, 0xFFFFFFFF);  /* hcclExecTimeOut */
    want_bytes(320, 0, 1);      /* hcclAlgo */
    want_bytes(1920, 0, 1);     /* hcclRetryEnable */
    want_bytes(1970, 0, 1);     /* hcclRetryParams */
    want_bytes(2098, 0, 1);     /* hcclBufferName */
    want_u32(2228, 0xFFFFFFFF); /* hcclQos */
    want_u64(2232, 16);         /* hcclSymWinMaxMemSizePerRank */
    want_u32(2240, 0xFFFFFFFF); /* hcclChannelSqDepth */
    CHECK(AS_WANTED(config, 1));
}

int
main(void)
{
    thread_config();
    endpoint_desc();
    hcomm_channel_desc();
    hccl_channel_desc();
    comm_link();
    op_desc();
    kernel_launch_cfg();
    team_create_desc();
    team_create_channels_desc();
    comm_config();
    return failures == 0 ? 0 : 1;
}
