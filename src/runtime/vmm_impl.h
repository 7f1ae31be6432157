/* SPDX-License-Identifier: BSD-3-Clause */
/* vmm_impl: what vmm.c and vmm_map.c share. The invariants are in vmm.h. */
#ifndef HC_RUNTIME_VMM_IMPL_H
#define HC_RUNTIME_VMM_IMPL_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/handle.h"
#include "base/list.h"
#include "runtime/vmm.h"

struct rt_physical {
    int fd;                     /* its own; set once */
    uint64_t size;              /* set once */
    uint64_t file;              /* its number (rt_shared_find); 0: not to be shared. Set once */
    bool described;             /* to another process; under rt_vmm_lock */
    struct hc_list in_all;      /* under rt_vmm_lock */
    aclrtPhysicalMemProp prop;  /* set once */
    bool imported, charged;     /* set once */
    _Atomic uint32_t refs;      /* I2 */
    uint64_t handle;            /* the open one; under rt_vmm_lock */
    uint32_t user_refs;         /* I3; under rt_vmm_lock */
    struct rt_share share;      /* under rt_vmm_lock */
    struct hc_list in_exported; /* under rt_vmm_lock */
};

/* Taken before the regions' lock, an arena's and the handle table's. */
extern pthread_mutex_t rt_vmm_lock;

void rt_physical_hold(struct rt_physical *physical);
void rt_physical_release(struct rt_physical *physical);
bool rt_physical_on_device(const struct rt_physical *physical);

/* By handle; to be put back. ACL_ERROR_RT_INVALID_HANDLE (logged). */
aclError rt_physical_get(aclrtDrvMemHandle handle, struct rt_physical **physical);
void rt_physical_put(aclrtDrvMemHandle handle);

/* One more reference for the user. Under rt_vmm_lock. */
aclError rt_physical_retain(struct rt_physical *physical, aclrtDrvMemHandle *handle);

#endif
