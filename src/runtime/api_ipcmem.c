/* SPDX-License-Identifier: BSD-3-Clause */
/* aclrtIpcMem*: device memory shared between processes by a key. */
#include "acl/acl_rt.h"
#include "runtime/error.h"
#include "runtime/ipcmem.h"
#include "runtime/memory.h"
#include "runtime/share.h"

aclError
aclrtIpcMemGetExportKey(void *devPtr, size_t size, char *key, size_t len, uint64_t flags)
{
    const char *function = "aclrtIpcMemGetExportKey";
    struct rt_range range;
    aclError rc;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (devPtr == NULL || key == NULL || size == 0)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "%s: %s", function,
                       devPtr == NULL ? "devPtr is NULL"
                       : key == NULL  ? "key is NULL"
                                      : "size is 0");
    if (len != RT_SHARE_TEXT)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "%s: len is %zu; a key has %u bytes", function,
                       len, RT_SHARE_TEXT);
    if (flags > ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "%s: flags is 0x%llx; pass 0 or 1", function,
                       (unsigned long long)flags);
    rc = rt_mem_check(devPtr, size, function, "devPtr", &range);
    if (rc == ACL_SUCCESS && range.place != RT_PLACE_DEVICE)
        rc = rt_fail(ACL_ERROR_RT_PARAM_INVALID, "%s: %p is not device memory", function, devPtr);
    if (rc != ACL_SUCCESS)
        return rc;
    return rt_ipcmem_export(devPtr, size,
                            flags == ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION, key);
}

aclError
aclrtIpcMemImportByKey(void **devPtr, const char *key, uint64_t flags)
{
    int32_t device;
    aclError rc;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (devPtr == NULL || key == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtIpcMemImportByKey: %s is NULL",
                       devPtr == NULL ? "devPtr" : "key");
    if (flags > ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "aclrtIpcMemImportByKey: flags is 0x%llx; pass 0 or 1",
                       (unsigned long long)flags);
    rc = rt_current_device(&device);
    return rc != ACL_SUCCESS ? rc : rt_ipcmem_import(key, device, devPtr);
}

aclError
aclrtIpcMemClose(const char *key)
{
    if (!rt_enter())
        return RT_NOT_HERE;
    if (key == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtIpcMemClose: key is NULL");
    return rt_ipcmem_close(key);
}

aclError
aclrtIpcMemSetImportPid(const char *key, int32_t *pid, size_t num)
{
    if (!rt_enter())
        return RT_NOT_HERE;
    if (key == NULL || pid == NULL || num == 0)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtIpcMemSetImportPid: %s",
                       key == NULL   ? "key is NULL"
                       : pid == NULL ? "pid is NULL"
                                     : "num is 0");
    return rt_ipcmem_allow(key, pid, num);
}

/* There is one way between two processes of a host. */
aclError
aclrtIpcMemSetAttr(const char *key, aclrtIpcMemAttrType type, uint64_t attr)
{
    (void)key;
    (void)type;
    (void)attr;
    return rt_unsupported("aclrtIpcMemSetAttr");
}

/* Memory cannot be mapped across hosts. */
aclError
aclrtIpcMemImportPidInterServer(const char *key, aclrtServerPid *serverPids, size_t num)
{
    (void)key;
    (void)serverPids;
    (void)num;
    return rt_unsupported("aclrtIpcMemImportPidInterServer");
}
