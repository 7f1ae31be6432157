/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * acl_rt_api: C++ overloads of acl_rt.h, for shorter calls and typed pointers. In C it is acl_rt.h.
 *
 * Each forwards to the C function that its body names, whose contract holds; sizes stay bytes
 * whatever the pointer's type. The overloads for batches, managed memory and symbols are left out:
 * the specification does not record their parameters.
 *
 * Source: spec, acl types, section 12.
 */
#ifndef ACL_ACL_RT_API_H
#define ACL_ACL_RT_API_H

#include "acl_rt.h"

#ifdef __cplusplus

static inline aclError
aclrtSynchronizeDevice(int32_t timeoutMs)
{
    return aclrtSynchronizeDeviceWithTimeout(timeoutMs);
}

static inline aclError
aclrtSynchronizeStream(aclrtStream stream, int32_t timeoutMs)
{
    return aclrtSynchronizeStreamWithTimeout(stream, timeoutMs);
}

static inline aclError
aclrtSynchronizeEvent(aclrtEvent event, int32_t timeoutMs)
{
    return aclrtSynchronizeEventWithTimeout(event, timeoutMs);
}

static inline aclError
aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event, int32_t timeoutSec)
{
    return aclrtStreamWaitEventWithTimeout(stream, event, timeoutSec);
}

static inline aclError
aclrtCreateStream(aclrtStream *stream, uint32_t priority, uint32_t flag)
{
    return aclrtCreateStreamWithConfig(stream, priority, flag);
}

static inline aclError
aclrtCreateEvent(aclrtEvent *event, uint32_t flag)
{
    return aclrtCreateEventExWithFlag(event, flag);
}

static inline aclError
aclrtSetOpExecuteTimeOut(uint64_t timeoutUs, uint64_t *actualTimeoutUs)
{
    return aclrtSetOpExecuteTimeOutV2(timeoutUs, actualTimeoutUs);
}

template <typename T>
static inline aclError
aclrtMalloc(T **devPtr, size_t size, aclrtMemMallocPolicy policy, aclrtMallocConfig *cfg = nullptr)
{
    void *ptr = nullptr;
    aclError rc;

    if (devPtr == nullptr)
        return aclrtMallocWithCfg(nullptr, size, policy, cfg);
    rc = aclrtMallocWithCfg(&ptr, size, policy, cfg);
    if (rc == ACL_SUCCESS)
        *devPtr = static_cast<T *>(ptr);
    return rc;
}

template <typename T>
static inline aclError
aclrtMalloc(T **devPtr, size_t size, aclrtMallocConfig *cfg = nullptr)
{
    return aclrtMalloc<T>(devPtr, size, ACL_MEM_MALLOC_HUGE_FIRST, cfg);
}

template <typename T>
static inline aclError
aclrtMallocHost(T **hostPtr, size_t size, aclrtMallocConfig *cfg = nullptr)
{
    void *ptr = nullptr;
    aclError rc;

    if (hostPtr == nullptr)
        return aclrtMallocHostWithCfg(nullptr, size, cfg);
    rc = aclrtMallocHostWithCfg(&ptr, size, cfg);
    if (rc == ACL_SUCCESS)
        *hostPtr = static_cast<T *>(ptr);
    return rc;
}

template <typename T, typename U>
static inline aclError
aclrtMemcpy(T *dst, size_t destMax, const U *src, size_t count, aclrtMemcpyKind kind)
{
    return aclrtMemcpy(static_cast<void *>(dst), destMax, static_cast<const void *>(src), count,
                       kind);
}

template <typename T, typename U>
static inline aclError
aclrtMemcpyAsync(T *dst, size_t destMax, const U *src, size_t count, aclrtMemcpyKind kind,
                 aclrtStream stream)
{
    return aclrtMemcpyAsync(static_cast<void *>(dst), destMax, static_cast<const void *>(src),
                            count, kind, stream);
}

template <typename T, typename U>
static inline aclError
aclrtMemcpy2d(T *dst, size_t dpitch, const U *src, size_t spitch, size_t width, size_t height,
              aclrtMemcpyKind kind)
{
    return aclrtMemcpy2d(static_cast<void *>(dst), dpitch, static_cast<const void *>(src), spitch,
                         width, height, kind);
}

template <typename T, typename U>
static inline aclError
aclrtMemcpy2dAsync(T *dst, size_t dpitch, const U *src, size_t spitch, size_t width, size_t height,
                   aclrtMemcpyKind kind, aclrtStream stream)
{
    return aclrtMemcpy2dAsync(static_cast<void *>(dst), dpitch, static_cast<const void *>(src),
                              spitch, width, height, kind, stream);
}

template <typename T>
static inline aclError
aclrtPointerGetAttributes(const T *ptr, aclrtPtrAttributes *attributes)
{
    return aclrtPointerGetAttributes(static_cast<const void *>(ptr), attributes);
}

template <typename T>
static inline aclError
aclrtHostRegister(T *ptr, uint64_t size, uint32_t flag)
{
    return aclrtHostRegisterV2(static_cast<void *>(ptr), size, flag);
}

template <typename T>
static inline aclError
aclrtHostUnregister(T *ptr)
{
    return aclrtHostUnregister(static_cast<void *>(ptr));
}

template <typename T>
static inline aclError
aclrtHostGetDevicePointer(T *pHost, T **pDevice, uint32_t flag)
{
    void *ptr = nullptr;
    aclError rc;

    if (pDevice == nullptr)
        return aclrtHostGetDevicePointer(static_cast<void *>(pHost), static_cast<void **>(nullptr),
                                         flag);
    rc = aclrtHostGetDevicePointer(static_cast<void *>(pHost), &ptr, flag);
    if (rc == ACL_SUCCESS)
        *pDevice = static_cast<T *>(ptr);
    return rc;
}

#endif

#endif
