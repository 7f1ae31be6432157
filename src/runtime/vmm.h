/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vmm: physical memory that is mapped into reserved address ranges (inside this layer only).
 *
 * Physical memory is a memfd of its own; a reservation is a mapping without access; mapping puts
 * the file over a part of it, unmapping puts the no-access mapping back, so that no other mmap of
 * the process can slip in between.
 *
 * I1  Reservations, their mappings and `user_refs` are under one lock, vmm.c's.
 * I2  Physical memory lives while its handle is open or it is mapped somewhere: `refs` counts both.
 * I3  A handle is open while `user_refs` > 0. aclrtMemRetainAllocationHandle returns the open
 *     handle, or opens a new one when only mappings are left.
 */
#ifndef HC_RUNTIME_VMM_H
#define HC_RUNTIME_VMM_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/runtime.h"
#include "runtime/share.h"

/* How a range is reserved. */
struct rt_reserve {
    uint64_t size;
    uint64_t align;
    void *at; /* NULL: anywhere */
};

/* ACL_ERROR_RT_MEMORY_ALLOCATION (logged): the address is taken, or no room. */
aclError rt_vmm_reserve(const struct rt_reserve *want, void **base);

/* ACL_ERROR_RT_PARAM_INVALID (logged): no reservation starts there, or mappings are left. */
aclError rt_vmm_release(void *base);

/* Pages of `attr` for memory on the host or a device; 0: no such physical memory. */
uint64_t rt_vmm_granularity(aclrtMemAttr attr, bool on_device);

/* `prop` has been checked. */
aclError rt_vmm_create(uint64_t size, const aclrtPhysicalMemProp *prop, aclrtDrvMemHandle *handle);
aclError rt_vmm_free(aclrtDrvMemHandle handle);
aclError rt_vmm_prop(aclrtDrvMemHandle handle, aclrtPhysicalMemProp *prop);

aclError rt_vmm_map(void *at, uint64_t size, aclrtDrvMemHandle handle, bool access);

/* Maps what is mapped at `from` also at `at`. */
aclError rt_vmm_map_again(void *at, uint64_t size, const void *from);
aclError rt_vmm_unmap(void *at);

/* Whether the mapping that holds `at` can be accessed. */
aclError rt_vmm_access(const void *at, bool *access);

/* Exact mappings only. */
aclError rt_vmm_allow(void *at, uint64_t size);
aclError rt_vmm_retain(const void *at, aclrtDrvMemHandle *handle);

aclError rt_vmm_export(aclrtDrvMemHandle handle, bool any_pid, struct rt_share_token *token);
aclError rt_vmm_import(const struct rt_share_token *token, int32_t device,
                       aclrtDrvMemHandle *handle);

/* As rt_shared_find: in one mapping that may be accessed. */
bool rt_vmm_place(const void *at, uint64_t len, uint64_t *file, uint64_t *offset);

/* As rt_shared_file, and nothing is logged. *known: there is such a file. */
int rt_vmm_file(uint64_t file, uint64_t *len, bool *known);

/* Processes that may import what this process exported as `token`. */
aclError rt_vmm_allow_pids(const struct rt_share_token *token, const int32_t *pids, size_t pid_num);

#endif
