/* SPDX-License-Identifier: BSD-3-Clause */
/* aclrtMalloc*, aclrtFree*, host registration, and questions about addresses. */
#include "acl/acl_rt.h"
#include "base/alloc.h"
#include "runtime/arena.h"
#include "runtime/context.h"
#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/graph.h"
#include "runtime/memory.h"

#define DEVICE_ROUND 32u /* sizes of device allocations are rounded up to it */
#define HOST_PAGE 4096u

/* ---- device memory ---- */

static aclError
device_alloc(void **ptr, size_t size, const char *function)
{
    int32_t device;
    aclError rc;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (ptr == NULL || size == 0)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "%s: %s", function,
                       ptr == NULL ? "devPtr is NULL" : "size is 0: ask for at least 1 byte");
    rc = rt_current_device(&device);
    if (rc != ACL_SUCCESS)
        return rc;
    if (size <= SIZE_MAX - DEVICE_ROUND)
        size = (size + DEVICE_ROUND - 1) / DEVICE_ROUND * DEVICE_ROUND;
    return rt_mem_alloc(device, size, ptr);
}

/* Page policies would only choose page sizes, and here the kernel does that. */
aclError
aclrtMalloc(void **devPtr, size_t size, aclrtMemMallocPolicy policy)
{
    (void)policy;
    return device_alloc(devPtr, size, "aclrtMalloc");
}

aclError
aclrtMallocAlign32(void **devPtr, size_t size, aclrtMemMallocPolicy policy)
{
    (void)policy;
    return device_alloc(devPtr, size, "aclrtMallocAlign32");
}

aclError
aclrtMallocCached(void **devPtr, size_t size, aclrtMemMallocPolicy policy)
{
    (void)policy;
    return device_alloc(devPtr, size, "aclrtMallocCached");
}

/* The attributes name modules and address kinds, which are one here. */
static aclError
check_config(const aclrtMallocConfig *cfg, const char *function)
{
    if (cfg == NULL || cfg->numAttrs == 0)
        return ACL_SUCCESS;
    if (cfg->attrs == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "%s: cfg has %zu attributes, but attrs is NULL",
                       function, (size_t)cfg->numAttrs);
    for (size_t i = 0; i < cfg->numAttrs; i++) {
        if ((uint32_t)cfg->attrs[i].attr > ACL_RT_MEM_ATTR_VA_FLAG)
            return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                           "%s: attribute %zu is %d, which there is not", function, i,
                           (int)cfg->attrs[i].attr);
    }
    return ACL_SUCCESS;
}

aclError
aclrtMallocWithCfg(void **devPtr, size_t size, aclrtMemMallocPolicy policy, aclrtMallocConfig *cfg)
{
    aclError rc = check_config(cfg, "aclrtMallocWithCfg");

    (void)policy;
    return rc != ACL_SUCCESS ? rc : device_alloc(devPtr, size, "aclrtMallocWithCfg");
}

static aclError
free_checked(void *ptr, bool host, const char *function)
{
    if (!rt_enter())
        return RT_NOT_HERE;
    if (ptr == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "%s: the pointer is NULL", function);
    return rt_arena_free(ptr, host, function);
}

aclError
aclrtFree(void *devPtr)
{
    return free_checked(devPtr, false, "aclrtFree");
}

aclError
aclrtFreeHost(void *hostPtr)
{
    return free_checked(hostPtr, true, "aclrtFreeHost");
}

/* Waits first for all streams of the current context; frees whatever they report. */
static aclError
free_after_sync(void *ptr, bool host, const char *function)
{
    struct rt_context *context;
    aclError rc, freed;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (ptr == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "%s: the pointer is NULL", function);
    rc = rt_context_current(&context);
    if (rc != ACL_SUCCESS)
        return rc;
    rc = rt_capture_check_context(context, function);
    if (rc != ACL_SUCCESS) {
        rt_context_release(context);
        return rc;
    }
    rc = rt_stream_sync_all(context, -1);
    rt_context_release(context);
    freed = rt_arena_free(ptr, host, function);
    return freed != ACL_SUCCESS ? freed : rc;
}

aclError
aclrtFreeWithDevSync(void *devPtr)
{
    return free_after_sync(devPtr, false, "aclrtFreeWithDevSync");
}

aclError
aclrtFreeHostWithDevSync(void *hostPtr)
{
    return free_after_sync(hostPtr, true, "aclrtFreeHostWithDevSync");
}

/* ---- pinned host memory ---- */

static aclError
host_alloc(void **ptr, uint64_t size, const char *function)
{
    int32_t device;
    aclError rc;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (ptr == NULL || size == 0)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "%s: %s", function,
                       ptr == NULL ? "hostPtr is NULL" : "size is 0: ask for at least 1 byte");
    rc = rt_current_device(&device);
    return rc != ACL_SUCCESS ? rc : rt_arena_alloc(RT_ARENA_HOST, size, ptr);
}

aclError
aclrtMallocHost(void **hostPtr, size_t size)
{
    return host_alloc(hostPtr, size, "aclrtMallocHost");
}

aclError
aclrtMallocHostWithCfg(void **ptr, uint64_t size, aclrtMallocConfig *cfg)
{
    aclError rc = check_config(cfg, "aclrtMallocHostWithCfg");

    return rc != ACL_SUCCESS ? rc : host_alloc(ptr, size, "aclrtMallocHostWithCfg");
}

/* ---- registered host memory: device and host address are the same ---- */

static aclError
host_register(void *ptr, uint64_t size, const char *function)
{
    struct rt_region *region;
    struct rt_range range;

    if ((uintptr_t)ptr % HOST_PAGE != 0)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "%s: %p is not aligned to %u bytes", function,
                       ptr, HOST_PAGE);
    if (size > UINT64_MAX - (uintptr_t)ptr)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "%s: %llu bytes at %p run past the end of memory", function,
                       (unsigned long long)size, ptr);
    rt_mem_find(ptr, &range);
    if (range.place == RT_PLACE_DEVICE)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "%s: %p is memory of device %d, not of the host",
                       function, ptr, range.device);
    region = hc_zalloc(sizeof *region);
    if (region == NULL)
        return rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    region->at.start = (uint64_t)(uintptr_t)ptr;
    region->at.len = size;
    region->kind = RT_REGION_REGISTERED;
    region->place = RT_PLACE_HOST;
    if (!rt_region_add(region)) {
        hc_free(region);
        return rt_fail(ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
                       "%s: some of the %llu bytes at %p are registered already", function,
                       (unsigned long long)size, ptr);
    }
    return ACL_SUCCESS;
}

aclError
aclrtHostRegister(void *ptr, uint64_t size, aclrtHostRegisterType type, void **devPtr)
{
    aclError rc;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (ptr == NULL || devPtr == NULL || size == 0)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtHostRegister: %s",
                       ptr == NULL      ? "ptr is NULL"
                       : devPtr == NULL ? "devPtr is NULL"
                                        : "size is 0");
    if (type == ACL_HOST_REGISTER_IOMEMORY || type == ACL_HOST_REGISTER_READONLY)
        return rt_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                       "aclrtHostRegister: type %d is not supported by "
                       "a soft NPU: pass ACL_HOST_REGISTER_MAPPED",
                       (int)type);
    if (type != ACL_HOST_REGISTER_MAPPED)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "aclrtHostRegister: there is no type %d: pass "
                       "ACL_HOST_REGISTER_MAPPED",
                       (int)type);
    rc = host_register(ptr, size, "aclrtHostRegister");
    if (rc == ACL_SUCCESS)
        *devPtr = ptr;
    return rc;
}

aclError
aclrtHostRegisterV2(void *ptr, uint64_t size, uint32_t flag)
{
    if (!rt_enter())
        return RT_NOT_HERE;
    if (ptr == NULL || size == 0)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtHostRegisterV2: %s",
                       ptr == NULL ? "ptr is NULL" : "size is 0");
    if ((flag & (ACL_HOST_REG_IOMEMORY | ACL_HOST_REG_READONLY)) != 0)
        return rt_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                       "aclrtHostRegisterV2: I/O and read-only memory "
                       "(flag 0x%x) are not supported by a soft NPU",
                       flag);
    if (flag == 0 || (flag & ~(uint32_t)(ACL_HOST_REG_MAPPED | ACL_HOST_REG_PINNED)) != 0)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "aclrtHostRegisterV2: flag is 0x%x; pass "
                       "ACL_HOST_REG_MAPPED, ACL_HOST_REG_PINNED or both",
                       flag);
    return host_register(ptr, size, "aclrtHostRegisterV2");
}

aclError
aclrtHostUnregister(void *ptr)
{
    struct rt_region *region;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (ptr == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtHostUnregister: ptr is NULL");
    region = rt_region_unregister(ptr);
    if (region == NULL)
        return rt_fail(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED,
                       "aclrtHostUnregister: no registered host "
                       "memory starts at %p",
                       ptr);
    hc_free(region);
    return ACL_SUCCESS;
}

aclError
aclrtHostGetDevicePointer(void *pHost, void **pDevice, uint32_t flag)
{
    struct rt_range range;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (pHost == NULL || pDevice == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtHostGetDevicePointer: %s is NULL",
                       pHost == NULL ? "pHost" : "pDevice");
    if (flag != 0)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "aclrtHostGetDevicePointer: flag is 0x%x; pass 0", flag);
    rt_mem_find(pHost, &range);
    if (range.place != RT_PLACE_HOST || range.size == 0)
        return rt_fail(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED,
                       "aclrtHostGetDevicePointer: %p is not "
                       "registered: call aclrtHostRegister first",
                       pHost);
    *pDevice = pHost;
    return ACL_SUCCESS;
}

/* ---- questions ---- */

aclError
aclrtPointerGetAttributes(const void *ptr, aclrtPtrAttributes *attributes)
{
    struct rt_range range;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (ptr == NULL || attributes == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtPointerGetAttributes: %s is NULL",
                       ptr == NULL ? "ptr" : "attributes");
    rt_mem_find(ptr, &range);
    *attributes = (aclrtPtrAttributes){.pageSize = HOST_PAGE};
    attributes->location.type = ACL_MEM_LOCATION_TYPE_UNREGISTERED;
    if (range.place == RT_PLACE_DEVICE) {
        attributes->location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
        attributes->location.id = (uint32_t)range.device;
    } else if (range.place == RT_PLACE_HOST) {
        attributes->location.type = ACL_MEM_LOCATION_TYPE_HOST;
    }
    return ACL_SUCCESS;
}

aclError
aclrtMemGetAddressRange(void *ptr, void **pbase, size_t *psize)
{
    struct rt_range range;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (ptr == NULL || pbase == NULL || psize == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtMemGetAddressRange: %s is NULL",
                       ptr == NULL     ? "ptr"
                       : pbase == NULL ? "pbase"
                                       : "psize");
    rt_mem_find(ptr, &range);
    if (range.size == 0)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "aclrtMemGetAddressRange: %p is in no allocation "
                       "of this library",
                       ptr);
    *pbase = range.base;
    *psize = range.size;
    return ACL_SUCCESS;
}

aclError
aclrtGetMemInfo(aclrtMemAttr attr, size_t *freeSize, size_t *total)
{
    uint64_t left, all;
    int32_t device;
    aclError rc;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (freeSize == NULL || total == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetMemInfo: %s is NULL",
                       freeSize == NULL ? "free" : "total");
    rc = rt_current_device(&device);
    if (rc == ACL_SUCCESS)
        rc = rt_arena_usage(device, &left, &all);
    if (rc != ACL_SUCCESS)
        return rc;
    switch (attr) {
    case ACL_HBM_MEM:
    case ACL_HBM_MEM_HUGE:
    case ACL_HBM_MEM_NORMAL:
    case ACL_HBM_MEM_P2P_HUGE:
    case ACL_HBM_MEM_P2P_NORMAL:
    case ACL_HBM_MEM_HUGE1G:
    case ACL_HBM_MEM_P2P_HUGE1G:
    case ACL_MEM_NORMAL:
    case ACL_MEM_HUGE:
    case ACL_MEM_HUGE1G:
    case ACL_MEM_P2P_NORMAL:
    case ACL_MEM_P2P_HUGE:
    case ACL_MEM_P2P_HUGE1G:
        *freeSize = left;
        *total = all;
        break;
    default: /* soft NPUs have high-bandwidth memory and no other */
        *freeSize = *total = 0;
        break;
    }
    return ACL_SUCCESS;
}

/* Host and soft NPU see the same caches: there is nothing to flush. */
static aclError
cache_call(const void *ptr, size_t size, const char *function)
{
    struct rt_range range;
    aclError rc;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (ptr == NULL || size == 0)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "%s: %s", function,
                       ptr == NULL ? "devPtr is NULL" : "size is 0");
    rc = rt_mem_check(ptr, size, function, "devPtr", &range);
    if (rc == ACL_SUCCESS && range.place != RT_PLACE_DEVICE)
        rc = rt_fail(ACL_ERROR_RT_PARAM_INVALID, "%s: %p is not device memory", function, ptr);
    return rc;
}

aclError
aclrtMemFlush(void *devPtr, size_t size)
{
    return cache_call(devPtr, size, "aclrtMemFlush");
}

aclError
aclrtMemInvalidate(void *devPtr, size_t size)
{
    return cache_call(devPtr, size, "aclrtMemInvalidate");
}
