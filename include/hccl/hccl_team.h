/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hccl_team: teams, ranks of a communicator with windows and channels of their own. In this release
 * each function answers HCCL_E_NOT_SUPPORT.
 *
 * Common results, not repeated below: HCCL_SUCCESS; HCCL_E_PTR for a NULL; HCCL_E_NOT_SUPPORT in
 * this release.
 *
 * Source: spec, control plane, section 14; spec, types, sections 4, 5.4 and 7.
 */
#ifndef HCCL_TEAM_H
#define HCCL_TEAM_H

#include <stddef.h>
#include <stdint.h>

#include "hcomm_res_defs.h"
#include "hcomm_team_defs.h"
#include "hccl_types.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#ifdef __cplusplus
static const uint32_t HCCL_TEAM_CREATE_DESC_MAGIC_WORD = 0x0fcf0f14;
static const uint32_t HCCL_TEAM_CREATE_DESC_VERSION = 1;
static const uint32_t HCCL_TEAM_CREATE_CHANNELS_DESC_MAGIC_WORD = 0x0fcf0f15;
static const uint32_t HCCL_TEAM_CREATE_CHANNELS_DESC_VERSION = 1;
#else
enum {
    HCCL_TEAM_CREATE_DESC_MAGIC_WORD = 0x0fcf0f14,
    HCCL_TEAM_CREATE_DESC_VERSION = 1,
    HCCL_TEAM_CREATE_CHANNELS_DESC_MAGIC_WORD = 0x0fcf0f15,
    HCCL_TEAM_CREATE_CHANNELS_DESC_VERSION = 1
};
#endif

/* A team to create. Fill with HcclTeamCreateDescInit first. */
typedef struct {
    CommAbiHeader header;
    const uint32_t *rankIds; /* [rankNum] members */
    uint32_t rankNum;        /* 2 or more */
    uint32_t selfRankId;     /* the caller, one of them */
    uint32_t netLayer;       /* 0 to 2; 0: the default choice */
    CommProtocol protocol;   /* of all its channels; -1: any */
    HcommTeamSyncMemRequirement requirement;
    uint32_t reserved[4];
} HcclTeamCreateDesc;

/* The channels of a team. Fill with HcclTeamCreateChannelsDescInit first. */
typedef struct {
    CommAbiHeader header;
    CommEngine engine;
    uint32_t notifyNum; /* notifies of each channel */
    CommProtocol protocol;
    uint32_t channelCnt; /* channels to each peer, above 0 */
    uint32_t reserved[4];
} HcclTeamCreateChannelsDesc;

/**
 * Make a description ready: all bytes ones, header filled, no members, layer 0, protocol
 * "reserved", no synchronisation memory.
 *
 * @param desc  out  description of the caller
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL; HCCL_E_INTERNAL: the fill failed.
 * Threads: safe for different descriptions.
 * Source:  spec, types, section 7.
 */
static inline HcclResult
HcclTeamCreateDescInit(HcclTeamCreateDesc *desc)
{
    if (desc == NULL)
        return HCCL_E_PTR;
    if (memset_s(desc, sizeof(*desc), 0xFF, sizeof(*desc)) != EOK)
        return HCCL_E_INTERNAL;
    desc->header.version = HCCL_TEAM_CREATE_DESC_VERSION;
    desc->header.magicWord = HCCL_TEAM_CREATE_DESC_MAGIC_WORD;
    desc->header.size = (uint32_t)sizeof(*desc);
    desc->header.reserved = 0;
    desc->rankIds = NULL;
    desc->rankNum = 0;
    desc->selfRankId = 0;
    desc->netLayer = 0;
    desc->protocol = COMM_PROTOCOL_RESERVED;
    desc->requirement.signalCount = 0;
    desc->requirement.counterCount = 0;
    desc->requirement.barrierCount = 0;
    for (size_t i = 0; i < sizeof(desc->reserved) / sizeof(desc->reserved[0]); i++)
        desc->reserved[i] = 0;
    return HCCL_SUCCESS;
}

/**
 * Make a description ready: header filled, engine and protocol "reserved", everything else 0.
 *
 * @param desc  out  description of the caller
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL; HCCL_E_INTERNAL: the fill failed.
 * Threads: safe for different descriptions.
 * Source:  spec, types, section 7.
 */
static inline HcclResult
HcclTeamCreateChannelsDescInit(HcclTeamCreateChannelsDesc *desc)
{
    if (desc == NULL)
        return HCCL_E_PTR;
    if (memset_s(desc, sizeof(*desc), 0xFF, sizeof(*desc)) != EOK)
        return HCCL_E_INTERNAL;
    desc->header.version = HCCL_TEAM_CREATE_CHANNELS_DESC_VERSION;
    desc->header.magicWord = HCCL_TEAM_CREATE_CHANNELS_DESC_MAGIC_WORD;
    desc->header.size = (uint32_t)sizeof(*desc);
    desc->header.reserved = 0;
    desc->engine = COMM_ENGINE_RESERVED;
    desc->notifyNum = 0;
    desc->protocol = COMM_PROTOCOL_RESERVED;
    desc->channelCnt = 0;
    for (size_t i = 0; i < sizeof(desc->reserved) / sizeof(desc->reserved[0]); i++)
        desc->reserved[i] = 0;
    return HCCL_SUCCESS;
}

/**
 * Make a world team, which owns its sub teams and windows. Local.
 *
 * @param comm       in   communicator
 * @param desc       in   members and needs; signalCount and counterCount 0, barrierCount 1 or more
 * @param worldTeam  out  end with HcclTeamDestroy
 *
 * @return a common result; HCCL_E_PARA: a number; HCCL_E_NOT_FOUND: the caller is no member.
 * Threads: calls on one communicator must be serial.
 * Source:  spec, control plane, section 14.
 */
HcclResult HcclWorldTeamCreate(HcclComm comm, const HcclTeamCreateDesc *desc,
                               HcommTeamHandle *worldTeam);

/**
 * Make a team of some members of a world team. Local.
 *
 * @param worldTeam  in   owner
 * @param desc       in   members, all of the world team, and needs
 * @param team       out  end with HcclTeamDestroy, or with the world team
 *
 * @return a common result; HCCL_E_PARA: a number or a member; HCCL_E_NOT_FOUND: the caller is no
 *         member.
 * Threads: calls on one communicator must be serial.
 * Source:  spec, control plane, section 14.
 */
HcclResult HcclSubTeamCreate(HcommTeamHandle worldTeam, const HcclTeamCreateDesc *desc,
                             HcommTeamHandle *team);

/**
 * End a team; a world team with its sub teams and windows.
 *
 * @param team  in  team
 *
 * @return a common result; HCCL_E_NOT_FOUND: no such team.
 * Threads: calls on one communicator must be serial; no kernel may use it.
 * Source:  spec, control plane, section 14.
 */
HcclResult HcclTeamDestroy(HcommTeamHandle team);

/**
 * Register memory as a window of a world team; every member, in the same order. It is usable after
 * HcclTeamChannelsCreate.
 *
 * @param comm       in   communicator
 * @param worldTeam  in   owner
 * @param localMem   in   device memory
 * @param window     out  end with HcclTeamWindowDeregister, or with the team
 * @param flag            0
 *
 * @return a common result; HCCL_E_PARA: memory, flag, or not a world team.
 * Threads: calls on one communicator must be serial.
 * Source:  spec, control plane, section 14.
 */
HcclResult HcclTeamWindowRegister(HcclComm comm, HcommTeamHandle worldTeam, const CommMem *localMem,
                                  HcommWindowHandle *window, uint32_t flag);

/**
 * End a window. The registration of its memory lasts as long as the communicator.
 *
 * @param worldTeam  in  owner; one that is not known succeeds
 * @param window     in  window
 *
 * @return a common result; HCCL_E_PARA: not a world team.
 * Threads: calls on one communicator must be serial; no kernel may use it.
 * Source:  spec, control plane, section 14.
 */
HcclResult HcclTeamWindowDeregister(HcommTeamHandle worldTeam, HcommWindowHandle window);

/**
 * Connect the members of a team and exchange its windows. Returns when all members have called it.
 *
 * @param comm  in  communicator
 * @param team  in  team
 * @param desc  in  the channels
 *
 * @return a common result; HCCL_E_PARA: channelCnt is 0; HCCL_E_NOT_FOUND: no link to a member;
 *         HCCL_E_TIMEOUT: a member did not come.
 * Threads: calls on one communicator must be serial.
 * Source:  spec, control plane, section 14.
 */
HcclResult HcclTeamChannelsCreate(HcclComm comm, HcommTeamHandle team,
                                  const HcclTeamCreateChannelsDesc *desc);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
