/* SPDX-License-Identifier: BSD-3-Clause */
/* From descriptors to what names a channel at both ends: checks, lines, ordinals. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fnv.h"
#include "base/log.h"
#include "comm/channels.h"

#define NOTIFIES_MOST 64u
#define MEMORIES_MOST 256u
#define HEADER_LEAST 16u

static HcclResult
fail_desc(const char *function, uint32_t at, const char *what, long long value,
          const char *expected)
{
    LOG_ERROR(COMM, "%s: descriptor %u: %s is %lld; %s", function, at, what, value, expected);
    return HCCL_E_PARA;
}

/* All ones stand for the default. */
static HcclResult
check_roce(const char *function, const HcclChannelDesc *desc, uint32_t at)
{
    uint32_t queues = desc->roceAttr.queueNum, retries = desc->roceAttr.retryCnt;
    uint32_t interval = desc->roceAttr.retryInterval;
    uint8_t tc = desc->roceAttr.tc, sl = desc->roceAttr.sl;

    if (queues != 1 && queues != UINT32_MAX)
        return fail_desc(function, at, "roceAttr.queueNum", queues, "pass 1");
    if (retries > 7 && retries != UINT32_MAX)
        return fail_desc(function, at, "roceAttr.retryCnt", retries, "pass 0 to 7");
    if ((interval < 5 || interval > 24) && interval != UINT32_MAX)
        return fail_desc(function, at, "roceAttr.retryInterval", interval, "pass 5 to 24");
    if (tc % 4 != 0 && tc != UINT8_MAX)
        return fail_desc(function, at, "roceAttr.tc", tc, "pass a multiple of 4");
    if (sl > 7 && sl != UINT8_MAX)
        return fail_desc(function, at, "roceAttr.sl", sl, "pass 0 to 7");
    return HCCL_SUCCESS;
}

static HcclResult
check_one(const struct comm *comm, const char *function, const HcclChannelDesc *desc, uint32_t at)
{
    if (desc->header.magicWord != HCCL_CHANNEL_MAGIC_WORD || desc->header.size < HEADER_LEAST)
        return fail_desc(function, at, "header.magicWord", desc->header.magicWord,
                         "call HcclChannelDescInit on the descriptors first");
    if (desc->remoteRank >= comm->world->n_ranks) {
        LOG_ERROR(COMM, "%s: descriptor %u: remoteRank is %u; %s has ranks 0 to %u", function, at,
                  desc->remoteRank, comm->name, comm->world->n_ranks - 1);
        return HCCL_E_PARA;
    }
    if (desc->remoteRank == comm->rank)
        return fail_desc(function, at, "remoteRank", desc->remoteRank,
                         "that is this rank itself, which needs no channel: copy locally");
    if (desc->channelProtocol < COMM_PROTOCOL_HCCS || desc->channelProtocol > COMM_PROTOCOL_UB_RTP)
        return fail_desc(function, at, "channelProtocol", desc->channelProtocol,
                         "take what HcclRankGraphGetLinks says");
    if (desc->notifyNum > NOTIFIES_MOST)
        return fail_desc(function, at, "notifyNum", desc->notifyNum, "pass at most 64");
    if (desc->memHandleNum > MEMORIES_MOST)
        return fail_desc(function, at, "memHandleNum", desc->memHandleNum, "pass at most 256");
    if (desc->memHandleNum > 0 && desc->memHandles == NULL) {
        LOG_ERROR(COMM, "%s: descriptor %u: memHandles is NULL, memHandleNum is %u", function, at,
                  desc->memHandleNum);
        return HCCL_E_PTR;
    }
    if (desc->channelProtocol == COMM_PROTOCOL_ROCE) {
        HcclResult rc = check_roce(function, desc, at);

        if (rc != HCCL_SUCCESS)
            return rc;
    }
    return HCCL_SUCCESS;
}

HcclResult
channels_check(const struct comm *comm, const char *function, CommEngine engine,
               const HcclChannelDesc *descs, uint32_t num)
{
    HcclResult rc = res_engine_check(engine, function);

    if (rc == HCCL_SUCCESS && (num == 0 || num > 1048576u)) {
        LOG_ERROR(COMM, "%s: channelNum is %u; pass 1 to 1048576", function, num);
        rc = HCCL_E_PARA;
    }
    for (uint32_t i = 0; i < num && rc == HCCL_SUCCESS; i++)
        rc = check_one(comm, function, &descs[i], i);
    return rc;
}

/* What tells one endpoint from another; padding and room for later members left out. */
static uint64_t
mix_endpoint(uint64_t sum, const EndpointDesc *endpoint)
{
    static const size_t lens[] = {sizeof(struct in_addr), sizeof(struct in6_addr), sizeof(uint32_t),
                                  COMM_ADDR_EID_LEN};
    int32_t words[3] = {(int32_t)endpoint->protocol, (int32_t)endpoint->commAddr.type,
                        (int32_t)endpoint->loc.locType};

    sum = hc_fnv(sum, words, sizeof words);
    if (words[1] >= 0 && words[1] < 4)
        sum = hc_fnv(sum, endpoint->commAddr.raws, lens[words[1]]);
    return sum;
}

/* Endpoints name a channel on the 950 generation alone; the older ones ignore them. */
static uint64_t
endpoints_sum(const struct comm *comm, const HcclChannelDesc *desc)
{
    const EndpointDesc *low = &desc->localEndpoint, *high = &desc->remoteEndpoint;
    uint64_t sum = 0xcbf29ce484222325ull;

    if (rt_soc() != RT_SOC_950)
        return 0;
    if (comm->rank > desc->remoteRank) { /* both ends in one order */
        low = &desc->remoteEndpoint;
        high = &desc->localEndpoint;
    }
    return mix_endpoint(mix_endpoint(sum, low), high);
}

static void
make_line(const struct comm *comm, CommEngine engine, const HcclChannelDesc *desc,
          struct channel_line *line)
{
    const char *name = res_engine_on_device(engine) ? "AICPU" : res_engine_name(engine);
    EndpointLocType here = desc->localEndpoint.loc.locType,
                    there = desc->remoteEndpoint.loc.locType;
    bool lower = comm->rank < desc->remoteRank;
    uint32_t low = comm_number(comm, lower ? comm->rank : desc->remoteRank);
    uint32_t high = comm_number(comm, lower ? desc->remoteRank : comm->rank);

    snprintf(line->text, sizeof line->text, "%u-%u/%s/%d/%016llx", low, high, name,
             (int)desc->channelProtocol, (unsigned long long)endpoints_sum(comm, desc));
    line->single_use = rt_soc() == RT_SOC_950 && here != ENDPOINT_LOC_TYPE_RESERVED &&
                       there != ENDPOINT_LOC_TYPE_RESERVED && here != there;
}

HcclResult
channel_lines(const struct comm *comm, CommEngine engine, const HcclChannelDesc *descs,
              uint32_t num, struct channel_line **out)
{
    struct channel_line *lines = hc_calloc(num, sizeof *lines);

    if (lines == NULL)
        return HCCL_E_MEMORY;
    for (uint32_t i = 0; i < num; i++) {
        make_line(comm, engine, &descs[i], &lines[i]);
        for (uint32_t j = i; j-- > 0;) {
            if (descs[j].remoteRank == descs[i].remoteRank &&
                strcmp(lines[j].text, lines[i].text) == 0) {
                lines[i].ordinal = lines[j].ordinal + 1;
                break;
            }
        }
    }
    *out = lines;
    return HCCL_SUCCESS;
}
