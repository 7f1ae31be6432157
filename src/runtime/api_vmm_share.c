/* SPDX-License-Identifier: BSD-3-Clause */
/* Physical memory that crosses processes: tokens in their two forms, old and new calls. */
#include "acl/acl_rt.h"
#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/vmm.h"

static aclError
check_type(aclrtMemSharedHandleType type, const char *function)
{
    if (type == ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT || type == ACL_MEM_SHARE_HANDLE_TYPE_FABRIC)
        return ACL_SUCCESS;
    return rt_fail(ACL_ERROR_INVALID_PARAM,
                   "%s: there is no handle type %d; pass DEFAULT or FABRIC", function, (int)type);
}

static aclError
token_from(const void *shareable, aclrtMemSharedHandleType type, const char *function,
           struct rt_share_token *token)
{
    bool good = type == ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT
                    ? rt_token_from_number(*(const uint64_t *)shareable, token)
                    : rt_token_from_fabric(shareable, token);

    if (good)
        return ACL_SUCCESS;
    return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                   "%s: this is no shareable handle: pass what the exporter got, whole", function);
}

aclError
aclrtMemExportToShareableHandleV2(aclrtDrvMemHandle handle, uint64_t flags,
                                  aclrtMemSharedHandleType shareType, void *shareableHandle)
{
    const char *function = "aclrtMemExportToShareableHandle";
    struct rt_share_token token;
    aclError rc;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (handle == NULL || shareableHandle == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "%s: %s is NULL", function,
                       handle == NULL ? "handle" : "shareableHandle");
    rc = check_type(shareType, function);
    if (rc != ACL_SUCCESS)
        return rc;
    if (flags > ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "%s: flags is 0x%llx; pass 0 or 1", function,
                       (unsigned long long)flags);
    rc = rt_vmm_export(handle, flags == ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION, &token);
    if (rc != ACL_SUCCESS)
        return rc;
    if (shareType == ACL_MEM_SHARE_HANDLE_TYPE_FABRIC)
        rt_token_to_fabric(&token, shareableHandle);
    else if (!rt_token_to_number(&token, shareableHandle))
        return rt_fail(ACL_ERROR_RT_INTERNAL_ERROR,
                       "%s: descriptor %u is too large for a 64-bit handle: "
                       "use the type FABRIC, or open fewer files",
                       function, token.fd);
    return ACL_SUCCESS;
}

static aclError
import(const void *shareable, aclrtMemSharedHandleType type, int32_t device,
       aclrtDrvMemHandle *handle)
{
    struct rt_share_token token;
    aclError rc = token_from(shareable, type, "aclrtMemImportFromShareableHandle", &token);

    return rc != ACL_SUCCESS ? rc : rt_vmm_import(&token, device, handle);
}

aclError
aclrtMemImportFromShareableHandleV2(void *shareableHandle, aclrtMemSharedHandleType shareType,
                                    uint64_t flags, aclrtDrvMemHandle *handle)
{
    const char *function = "aclrtMemImportFromShareableHandleV2";
    int32_t device;
    aclError rc;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (shareableHandle == NULL || handle == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "%s: %s is NULL", function,
                       handle == NULL ? "handle" : "shareableHandle");
    rc = check_type(shareType, function);
    if (rc == ACL_SUCCESS && flags != 0)
        rc = rt_fail(ACL_ERROR_RT_PARAM_INVALID, "%s: flags is 0x%llx; pass 0", function,
                     (unsigned long long)flags);
    if (rc == ACL_SUCCESS)
        rc = rt_current_device(&device);
    return rc != ACL_SUCCESS ? rc : import(shareableHandle, shareType, device, handle);
}

static aclError
allow_pids(const void *shareable, aclrtMemSharedHandleType type, const int32_t *pids,
           size_t pid_num)
{
    const char *function = "aclrtMemSetPidToShareableHandle";
    struct rt_share_token token;
    aclError rc;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (shareable == NULL || pids == NULL || pid_num == 0)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "%s: %s", function,
                       shareable == NULL ? "shareableHandle is NULL"
                       : pids == NULL    ? "pid is NULL"
                                         : "pidNum is 0");
    rc = check_type(type, function);
    if (rc == ACL_SUCCESS)
        rc = token_from(shareable, type, function, &token);
    return rc != ACL_SUCCESS ? rc : rt_vmm_allow_pids(&token, pids, pid_num);
}

aclError
aclrtMemSetPidToShareableHandleV2(void *shareableHandle, aclrtMemSharedHandleType shareType,
                                  int32_t *pid, size_t pidNum)
{
    return allow_pids(shareableHandle, shareType, pid, pidNum);
}

aclError
aclrtMemExportToShareableHandle(aclrtDrvMemHandle handle, aclrtMemHandleType handleType,
                                uint64_t flags, uint64_t *shareableHandle)
{
    if (handleType != ACL_MEM_HANDLE_TYPE_NONE)
        return rt_fail(ACL_ERROR_INVALID_PARAM,
                       "aclrtMemExportToShareableHandle: handleType is %d; only "
                       "NONE is possible",
                       (int)handleType);
    return aclrtMemExportToShareableHandleV2(handle, flags, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT,
                                             shareableHandle);
}

aclError
aclrtMemImportFromShareableHandle(uint64_t shareableHandle, int32_t deviceId,
                                  aclrtDrvMemHandle *handle)
{
    aclError rc;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (handle == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM,
                       "aclrtMemImportFromShareableHandle: handle is NULL");
    rc = rt_device_check(deviceId, "aclrtMemImportFromShareableHandle");
    if (rc != ACL_SUCCESS)
        return rc;
    return import(&shareableHandle, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, deviceId, handle);
}

aclError
aclrtMemSetPidToShareableHandle(uint64_t shareableHandle, int32_t *pid, size_t pidNum)
{
    return allow_pids(&shareableHandle, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, pid, pidNum);
}
