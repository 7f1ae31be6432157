/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hcomm_team_defs: handles of teams and their windows, and what memory a team shall set aside.
 *
 * Source: spec, types, sections 2 and 5.4.
 */
#ifndef HCOMM_TEAM_DEFS_H
#define HCOMM_TEAM_DEFS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t *HcommTeamHandle;
typedef uint64_t *HcommWindowHandle;

/* Words of synchronisation memory a team shall have for each member. */
typedef struct {
    uint32_t signalCount;  /* 0 */
    uint32_t counterCount; /* 0 */
    uint32_t barrierCount; /* at least 1 */
    uint32_t reserved[5];
} HcommTeamSyncMemRequirement;

#ifdef __cplusplus
}
#endif

#endif
