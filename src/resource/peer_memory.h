/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer_memory: memory of other processes, so that copies of the runtime take its addresses for what
 * they are: device memory that is mapped here, or stand-ins (inside this layer only).
 */
#ifndef HC_RESOURCE_PEER_MEMORY_H
#define HC_RESOURCE_PEER_MEMORY_H

#include "resource/resource.h"

/* Counts `mem` as memory of `device`, once more; host memory and stand-ins are left out.
 * HCCL_E_MEMORY (logged). */
HcclResult peer_memory_add(const CommMem *mem, int32_t device);

/* Once less. */
void peer_memory_remove(const CommMem *mem);

/* The runtime's hook (rt_set_peer_memory_hook). */
bool peer_memory_find(const void *ptr, struct rt_range *range);

#endif
