/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hcomm_extra: functions of the interface that no header of it declares; programs find them with
 * dlsym. This header is ours.
 *
 * Source: spec, communicator, section 1.2.
 */
#ifndef HCOMM_EXTRA_H
#define HCOMM_EXTRA_H

#include "../hccl/hccl_types.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/**
 * HcclCommInitClusterInfoConfig with the text of the rank table in place of its path.
 *
 * @param rankTableString  in   JSON
 * @param rank                  a rank_id of it
 * @param config           in   from HcclCommConfigInit; hcclCommName must be set
 * @param comm             out  end with HcclCommDestroy
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL; HCCL_E_PARA: as HcclCommInitClusterInfoConfig, and when
 *         the name is empty; HCCL_E_INTERNAL: the text cannot be used; HCCL_E_MEMORY.
 * Threads: safe for different devices; serial on one device.
 * Source:  spec, communicator, section 1.2.
 */
HcclResult HcclCommInitClusterInfoMemConfig(const char *rankTableString, uint32_t rank,
                                            HcclCommConfig *config, HcclComm *comm);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
