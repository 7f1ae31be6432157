/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * api_unsupported: functions that exist so that programs link, and say that they do nothing yet.
 *
 * Each has its whole parameter list here: the compiler compares it with the header. One that is
 * implemented leaves this file.
 */
#include "comm/comm.h"

#include "hccl/hccl_comm.h"
#include "hccl/hccl_inner.h"
#include "hccl/hccl_team.h"
#include "hcomm/hcomm_extra.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

#define UNSUPPORTED(name_, parameters_)                                                            \
    HcclResult name_ parameters_                                                                   \
    {                                                                                              \
        return comm_unsupported(#name_);                                                           \
    }

/* clang-format off */

/* Teams. */
UNSUPPORTED(HcclWorldTeamCreate, (HcclComm comm, const HcclTeamCreateDesc *desc,
                                  HcommTeamHandle *worldTeam))
UNSUPPORTED(HcclSubTeamCreate, (HcommTeamHandle worldTeam, const HcclTeamCreateDesc *desc,
                                HcommTeamHandle *team))
UNSUPPORTED(HcclTeamDestroy, (HcommTeamHandle team))
UNSUPPORTED(HcclTeamWindowRegister, (HcclComm comm, HcommTeamHandle worldTeam,
                                     const CommMem *localMem, HcommWindowHandle *window,
                                     uint32_t flag))
UNSUPPORTED(HcclTeamWindowDeregister, (HcommTeamHandle worldTeam, HcommWindowHandle window))
UNSUPPORTED(HcclTeamChannelsCreate, (HcclComm comm, HcommTeamHandle team,
                                     const HcclTeamCreateChannelsDesc *desc))

/* What fused operators prepare. */
UNSUPPORTED(HcclCreateOpResCtxInner, (HcclComm comm, uint8_t opType, HcclDataType srcDataType,
                                      HcclDataType dstDataType, HcclReduceOp reduceType,
                                      uint64_t count, char *algConfig, uint32_t commEngine,
                                      void **opResCtx))

/* clang-format on */
