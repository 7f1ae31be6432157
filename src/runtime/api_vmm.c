/* SPDX-License-Identifier: BSD-3-Clause */
/* Virtual memory management: reserve, allocate physical memory, map, share. */
#include "acl/acl_rt.h"
#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/vmm.h"

#define RANGE_ALIGN (2ull << 20)
#define GIB (1ull << 30)

/* ---- address ranges ---- */

static aclError
reserve(void **virPtr, size_t size, size_t alignment, void *at, const char *function)
{
    struct rt_reserve want = {.size = size, .align = size % GIB == 0 ? GIB : RANGE_ALIGN, .at = at};

    if (!rt_enter())
        return RT_NOT_HERE;
    if (virPtr == NULL || size == 0)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "%s: %s", function,
                       virPtr == NULL ? "virPtr is NULL" : "size is 0");
    if (alignment != 0)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "%s: alignment is %zu; pass 0", function,
                       alignment);
    if ((uintptr_t)at % RANGE_ALIGN != 0)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "%s: expectPtr %p is not a multiple of 2 MiB",
                       function, at);
    return rt_vmm_reserve(&want, virPtr);
}

static aclError
check_reserve_flags(uint64_t flags, const char *function)
{
    if (flags <= 1)
        return ACL_SUCCESS;
    return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "%s: flags is 0x%llx; pass 0 or 1", function,
                   (unsigned long long)flags);
}

aclError
aclrtReserveMemAddress(void **virPtr, size_t size, size_t alignment, void *expectPtr,
                       uint64_t flags)
{
    aclError rc = check_reserve_flags(flags, "aclrtReserveMemAddress");

    return rc != ACL_SUCCESS
               ? rc
               : reserve(virPtr, size, alignment, expectPtr, "aclrtReserveMemAddress");
}

aclError
aclrtReserveMemAddressNoUCMemory(void **virPtr, size_t size, size_t alignment, void *expectPtr,
                                 uint64_t flags)
{
    const char *function = "aclrtReserveMemAddressNoUCMemory";
    aclError rc = check_reserve_flags(flags, function);

    if (rc == ACL_SUCCESS && size % GIB != 0)
        rc = rt_fail(ACL_ERROR_RT_PARAM_INVALID, "%s: %zu bytes are not a multiple of 1 GiB",
                     function, size);
    return rc != ACL_SUCCESS ? rc : reserve(virPtr, size, alignment, expectPtr, function);
}

aclError
aclrtReleaseMemAddress(void *virPtr)
{
    if (!rt_enter())
        return RT_NOT_HERE;
    if (virPtr == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtReleaseMemAddress: virPtr is NULL");
    return rt_vmm_release(virPtr);
}

/* ---- physical memory ---- */

/* Pages of such memory; 0: there is none. */
static uint64_t
granularity_of(const aclrtPhysicalMemProp *prop)
{
    switch (prop->location.type) {
    case ACL_MEM_LOCATION_TYPE_DEVICE:
        return rt_vmm_granularity(prop->memAttr, true);
    case ACL_MEM_LOCATION_TYPE_HOST:
    case ACL_MEM_LOCATION_TYPE_HOST_NUMA:
        return rt_vmm_granularity(prop->memAttr, false);
    default:
        return 0;
    }
}

static aclError
check_kind(const aclrtPhysicalMemProp *prop, const char *function)
{
    if (granularity_of(prop) != 0)
        return ACL_SUCCESS;
    return rt_fail(ACL_ERROR_INVALID_PARAM,
                   "%s: there is no physical memory with memAttr %d at location "
                   "type %d; pass ACL_MEM_HUGE, or on a device ACL_HBM_MEM_HUGE",
                   function, (int)prop->memAttr, (int)prop->location.type);
}

static aclError
check_prop(const aclrtPhysicalMemProp *prop, const char *function)
{
    aclError rc = check_kind(prop, function);

    if (rc != ACL_SUCCESS)
        return rc;
    if (prop->handleType != ACL_MEM_HANDLE_TYPE_NONE ||
        prop->allocationType != ACL_MEM_ALLOCATION_TYPE_PINNED)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "%s: handleType is %d and allocationType %d; pass NONE "
                       "and PINNED",
                       function, (int)prop->handleType, (int)prop->allocationType);
    if (prop->location.type != ACL_MEM_LOCATION_TYPE_DEVICE)
        return ACL_SUCCESS;
    return rt_device_check((int32_t)prop->location.id, function);
}

static aclError
no_flags(uint64_t flags, const char *function)
{
    if (flags == 0)
        return ACL_SUCCESS;
    return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "%s: flags is 0x%llx; pass 0", function,
                   (unsigned long long)flags);
}

aclError
aclrtMallocPhysical(aclrtDrvMemHandle *handle, size_t size, const aclrtPhysicalMemProp *prop,
                    uint64_t flags)
{
    aclError rc;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (handle == NULL || prop == NULL || size == 0)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtMallocPhysical: %s",
                       handle == NULL ? "handle is NULL"
                       : prop == NULL ? "prop is NULL"
                                      : "size is 0");
    rc = check_prop(prop, "aclrtMallocPhysical");
    if (rc == ACL_SUCCESS)
        rc = no_flags(flags, "aclrtMallocPhysical");
    return rc != ACL_SUCCESS ? rc : rt_vmm_create(size, prop, handle);
}

static aclError
check_handle(aclrtDrvMemHandle handle, const void *other, const char *function)
{
    if (!rt_enter())
        return RT_NOT_HERE;
    if (handle == NULL || other == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "%s: %s is NULL", function,
                       handle == NULL ? "handle" : "a pointer");
    return ACL_SUCCESS;
}

aclError
aclrtFreePhysical(aclrtDrvMemHandle handle)
{
    aclError rc = check_handle(handle, handle, "aclrtFreePhysical");

    return rc != ACL_SUCCESS ? rc : rt_vmm_free(handle);
}

aclError
aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp *prop, aclrtMemGranularityOptions option,
                                 size_t *granularity)
{
    aclError rc;

    if (prop == NULL || granularity == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtMemGetAllocationGranularity: %s is NULL",
                       prop == NULL ? "prop" : "granularity");
    if (option != ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM &&
        option != ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED)
        return rt_fail(ACL_ERROR_INVALID_PARAM,
                       "aclrtMemGetAllocationGranularity: there is no option %d", (int)option);
    rc = check_kind(prop, "aclrtMemGetAllocationGranularity");
    if (rc == ACL_SUCCESS)
        *granularity = granularity_of(prop);
    return rc;
}

aclError
aclrtMemGetAllocationPropertiesFromHandle(aclrtDrvMemHandle handle, aclrtPhysicalMemProp *prop)
{
    aclError rc = check_handle(handle, prop, "aclrtMemGetAllocationPropertiesFromHandle");

    return rc != ACL_SUCCESS ? rc : rt_vmm_prop(handle, prop);
}

/* ---- mapping ---- */

static aclError
map(void *virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle, uint64_t flags, bool access)
{
    const char *function = access ? "aclrtMapMem" : "aclrtMemMapNoAccess";
    aclError rc = check_handle(handle, virPtr, function);

    if (rc == ACL_SUCCESS && size == 0)
        rc = rt_fail(ACL_ERROR_INVALID_PARAM, "%s: size is 0", function);
    if (rc == ACL_SUCCESS && offset != 0)
        rc = rt_fail(ACL_ERROR_RT_PARAM_INVALID, "%s: offset is %zu; pass 0", function, offset);
    if (rc == ACL_SUCCESS)
        rc = no_flags(flags, function);
    return rc != ACL_SUCCESS ? rc : rt_vmm_map(virPtr, size, handle, access);
}

aclError
aclrtMapMem(void *virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle, uint64_t flags)
{
    return map(virPtr, size, offset, handle, flags, true);
}

aclError
aclrtMemMapNoAccess(void *virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle,
                    uint64_t flags)
{
    return map(virPtr, size, offset, handle, flags, false);
}

aclError
aclrtUnmapMem(void *virPtr)
{
    if (!rt_enter())
        return RT_NOT_HERE;
    if (virPtr == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtUnmapMem: virPtr is NULL");
    return rt_vmm_unmap(virPtr);
}

aclError
aclrtMemMapSelectedLink(void *virPtrDst, size_t size, void *virPtrSrc, uint32_t linkIdx)
{
    if (!rt_enter())
        return RT_NOT_HERE;
    if (virPtrDst == NULL || virPtrSrc == NULL || size == 0)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtMemMapSelectedLink: %s",
                       size == 0 ? "size is 0" : "an address is NULL");
    if (linkIdx > ACL_RT_MEM_LINK_IDX_1)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "aclrtMemMapSelectedLink: there is no link %u; pass 0 "
                       "or 1",
                       linkIdx);
    return rt_vmm_map_again(virPtrDst, size, virPtrSrc);
}

aclError
aclrtMemSetAccess(void *virPtr, size_t size, aclrtMemAccessDesc *desc, size_t count)
{
    if (!rt_enter())
        return RT_NOT_HERE;
    if (virPtr == NULL || desc == NULL || size == 0 || count == 0)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtMemSetAccess: %s",
                       virPtr == NULL ? "virPtr is NULL"
                       : desc == NULL ? "desc is NULL"
                       : size == 0    ? "size is 0"
                                      : "count is 0");
    for (size_t i = 0; i < count; i++) {
        if (desc[i].flags != ACL_RT_MEM_ACCESS_FLAGS_READWRITE)
            return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                           "aclrtMemSetAccess: flags %zu is %d; only "
                           "READWRITE is possible",
                           i, (int)desc[i].flags);
        if (desc[i].location.type != ACL_MEM_LOCATION_TYPE_HOST &&
            desc[i].location.type != ACL_MEM_LOCATION_TYPE_DEVICE)
            return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                           "aclrtMemSetAccess: location type %zu is %d; pass "
                           "HOST or DEVICE",
                           i, (int)desc[i].location.type);
    }
    return rt_vmm_allow(virPtr, size);
}

aclError
aclrtMemGetAccess(void *virPtr, aclrtMemLocation *location, uint64_t *flag)
{
    bool access = false;
    aclError rc;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (virPtr == NULL || location == NULL || flag == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtMemGetAccess: %s is NULL",
                       virPtr == NULL     ? "virPtr"
                       : location == NULL ? "location"
                                          : "flag");
    rc = rt_vmm_access(virPtr, &access);
    if (rc == ACL_SUCCESS) /* one address space: what one place may, all may */
        *flag = access ? ACL_RT_MEM_ACCESS_FLAGS_READWRITE : ACL_RT_MEM_ACCESS_FLAGS_NONE;
    return rc;
}

aclError
aclrtMemRetainAllocationHandle(void *virPtr, aclrtDrvMemHandle *handle)
{
    if (!rt_enter())
        return RT_NOT_HERE;
    if (virPtr == NULL || handle == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtMemRetainAllocationHandle: %s is NULL",
                       virPtr == NULL ? "virPtr" : "handle");
    return rt_vmm_retain(virPtr, handle);
}
