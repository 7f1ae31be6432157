/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory: what lies at an address, beyond the arenas (inside this layer only).
 */
#ifndef HC_RUNTIME_MEMORY_H
#define HC_RUNTIME_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/addr_tree.h"
#include "runtime/runtime.h"

enum rt_region_kind {
    RT_REGION_MAPPED,     /* by aclrtMapMem or aclrtIpcMemImportByKey: an allocation */
    RT_REGION_REGISTERED, /* by aclrtHostRegister: somebody else's memory */
};

/* Memory that is in no arena. The owner allocates it and keeps it while it is in. */
struct rt_region {
    struct rt_node at; /* under the regions' lock */
    enum rt_region_kind kind;
    enum rt_place place;
    int32_t device;
};

/* false, and nothing is done: it overlaps another region of its kind. */
bool rt_region_add(struct rt_region *region);
void rt_region_remove(struct rt_region *region);

/* Takes out the registered region that starts at `ptr`; NULL: there is none. */
struct rt_region *rt_region_unregister(const void *ptr);

/* "memory of device 3", "pinned host memory", ...: for messages. */
void rt_mem_describe(const struct rt_range *range, char *text, size_t len);

#endif
