/* SPDX-License-Identifier: BSD-3-Clause */
/* memory: what the descriptors of memory need of registrations (inside this layer only). */
#ifndef HC_RESOURCE_MEMORY_H
#define HC_RESOURCE_MEMORY_H

#include "resource/endpoint.h"

/* HCCL_E_PTR, HCCL_E_NOT_FOUND (logged): not registered on this endpoint. */
HcclResult res_mem_hold(struct res_endpoint *endpoint, HcommMemHandle handle, struct res_mem **mem);
void res_mem_release(struct res_mem *mem);

/* Whether the registration is there still, of any endpoint, and of that memory. */
bool res_mem_live(uint64_t handle, const CommMem *like);

#endif
