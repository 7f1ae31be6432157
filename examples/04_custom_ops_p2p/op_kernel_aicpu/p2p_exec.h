/* SPDX-License-Identifier: BSD-3-Clause */
/* The task lists of the two sides; each returns 0 or the code of the call that failed. */
#ifndef P2P_EXEC_H
#define P2P_EXEC_H

#include "p2p_param.h"

int32_t P2pExecSend(const P2pParam *param);
int32_t P2pExecRecv(const P2pParam *param);

#endif
