/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hccl_sym_win: addresses inside symmetric windows, for kernels.
 *
 * Source: spec, control plane, section 13.
 */
#ifndef HCCL_SYM_WIN_H
#define HCCL_SYM_WIN_H

#include <arpa/inet.h>
#include <stddef.h>
#include <stdint.h>

#include "securec.h"

#include "acl/acl_rt.h"
#include "hccl_types.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/**
 * Where the same offset of a window is at a peer.
 *
 * @param winHandle  in   window of HcclCommSymWinRegister
 * @param offset          bytes, below the size of the window
 * @param peerRank        rank, below the number of ranks
 * @param ptr        out  address as this rank uses it
 *
 * @return HCCL_E_NOT_SUPPORT in this release. HCCL_SUCCESS; HCCL_E_PTR: NULL; HCCL_E_PARA: offset
 *         or rank, or the peer is not ready.
 * Threads: safe.
 * Source:  spec, control plane, section 13.
 */
HcclResult HcclSymWinGetPeerPointer(HcclCommSymWindow winHandle, size_t offset, uint32_t peerRank,
                                    void **ptr);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
