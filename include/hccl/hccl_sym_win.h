/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hccl_sym_win: addresses inside symmetric windows, for kernels and host.
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
 * Where an offset of a window is at a peer: a plain address of this process, for loads and stores
 * of host and kernels, local copies and reductions, and copies of the runtime. No channel is
 * needed. Valid until the window ends here. Nothing says when the peer has written there, or may be
 * written to: notifies, barriers and messages do.
 *
 * @param winHandle  in   window of HcclCommSymWinRegister
 * @param offset          bytes, below the size of the window
 * @param peerRank        rank, below the number of ranks; the own one is fine
 * @param ptr        out  address as this rank uses it
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL; HCCL_E_PARA: offset, rank, or no such window.
 * Threads: safe, on the host and in kernels.
 * Source:  spec, control plane, section 13.
 */
HcclResult HcclSymWinGetPeerPointer(HcclCommSymWindow winHandle, size_t offset, uint32_t peerRank,
                                    void **ptr);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
