/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hcomm_team_entity_defs: a team as device code sees it. Layouts only.
 *
 * Channel k to peer p is at channelsBaseAddr +
 * (channelNumPerMember[0] + ... + channelNumPerMember[p - 1] + k) * sizeof(ChannelEntity).
 *
 * Source: spec, types, section 5.10.
 */
#ifndef HCOMM_TEAM_ENTITY_DEFS_H
#define HCOMM_TEAM_ENTITY_DEFS_H

#ifdef __cplusplus
#include <cstdint>
#endif
#include <stdint.h>

#include "hcomm_res_defs.h"
#include "hcomm_team_defs.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    CommAbiHeader header;
    uint32_t memsNum;
    CommMem *mems; /* [memsNum], one a member */
    HcommTeamHandle worldTeam;
    uint32_t reserved[8];
} HcommWindow;

typedef struct {
    CommMem *remoteMems; /* [remoteMemsNum] */
    uint32_t remoteMemsNum;
    CommMem shadowMem;
    HcommTeamSyncMemRequirement syncMemReq;
    uint64_t syncMemSize; /* bytes */
    uint32_t reserved[5];
} HcommTeamSyncMem;

typedef struct {
    CommAbiHeader header;
    CommEngine engine;
    uint32_t memberNum;
    uint32_t selfMemberId;
    uint64_t channelsBaseAddr;
    uint32_t *channelNumPerMember; /* [memberNum] */
    uint32_t netLayer;
    uint32_t *worldTeamIds; /* [memberNum] */
    HcommTeamSyncMem syncMem;
    uint32_t reserved[8];
} HcommTeam;

#ifdef __cplusplus
}
#endif

#endif
