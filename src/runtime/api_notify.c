/* SPDX-License-Identifier: BSD-3-Clause */
/* aclrt*Notify*: the handle of an aclrtNotify is the notify's own. */
#include <stdio.h>

#include "acl/acl_rt.h"
#include "runtime/context.h"
#include "runtime/notify.h"

static aclError
hold(aclrtNotify handle, const char *function, struct rt_notify **notify)
{
    if (!rt_enter())
        return ACL_ERROR_INTERNAL_ERROR;
    if (handle == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "%s: notify is NULL", function);
    *notify = rt_notify_hold_handle((uint64_t)(uintptr_t)handle);
    if (*notify == NULL)
        return rt_fail(ACL_ERROR_RT_INVALID_HANDLE, "%s: %p is not a live notify", function,
                       handle);
    return ACL_SUCCESS;
}

aclError
aclrtCreateNotify(aclrtNotify *notify, uint64_t flag)
{
    struct rt_notify_origin origin = {.what = "a notify of aclrtCreateNotify"};
    struct rt_notify *fresh;
    int32_t device;
    aclError rc;

    if (!rt_enter())
        return ACL_ERROR_INTERNAL_ERROR;
    if (notify == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtCreateNotify: notify is NULL");
    if (flag != ACL_NOTIFY_DEFAULT && flag != ACL_NOTIFY_DEVICE_USE_ONLY)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "aclrtCreateNotify: flag %llu; pass "
                       "ACL_NOTIFY_DEFAULT or ACL_NOTIFY_DEVICE_USE_ONLY",
                       (unsigned long long)flag);
    rc = rt_current_device(&device);
    if (rc == ACL_SUCCESS)
        rc = rt_notify_create(device, &origin, &fresh);
    if (rc == ACL_SUCCESS)
        *notify = (aclrtNotify)(uintptr_t)rt_notify_handle(fresh);
    return rc;
}

aclError
aclrtDestroyNotify(aclrtNotify notify)
{
    struct rt_notify *held;
    aclError rc = hold(notify, "aclrtDestroyNotify", &held);
    int32_t device;

    if (rc != ACL_SUCCESS)
        return rc;
    rc = rt_current_device(&device);
    if (rc == ACL_SUCCESS)
        rt_notify_destroy(held);
    rt_notify_unhold(held);
    return rc;
}

aclError
aclrtRecordNotify(aclrtNotify notify, aclrtStream stream)
{
    struct rt_notify *held;
    struct rt_stream *on;
    struct rt_task task;
    aclError rc = hold(notify, "aclrtRecordNotify", &held);

    if (rc != ACL_SUCCESS)
        return rc;
    rc = rt_stream_hold(stream, &on);
    if (rc == ACL_SUCCESS) {
        rt_task_notify_record(&task, held);
        rc = rt_stream_push(on, &task);
        rt_stream_release(on);
    }
    rt_notify_unhold(held);
    return rc;
}

aclError
aclrtWaitAndResetNotify(aclrtNotify notify, aclrtStream stream, uint32_t timeout)
{
    struct rt_notify *held;
    struct rt_stream *on;
    struct rt_task task;
    aclError rc = hold(notify, "aclrtWaitAndResetNotify", &held);

    if (rc != ACL_SUCCESS)
        return rc;
    rc = rt_stream_hold(stream, &on);
    if (rc == ACL_SUCCESS) {
        if (rt_stream_device(on) != rt_notify_device(held)) {
            rc = rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "aclrtWaitAndResetNotify: the notify belongs to "
                         "device %d and the stream to device %d; wait on the notify's own device",
                         rt_notify_device(held), rt_stream_device(on));
        } else {
            rt_task_notify_wait(&task, held, timeout == UINT32_MAX ? 0 : timeout);
            rc = rt_stream_push(on, &task);
        }
        rt_stream_release(on);
    }
    rt_notify_unhold(held);
    return rc;
}

aclError
aclrtGetNotifyId(aclrtNotify notify, uint32_t *notifyId)
{
    struct rt_notify *held;
    aclError rc = hold(notify, "aclrtGetNotifyId", &held);

    if (rc != ACL_SUCCESS)
        return rc;
    if (notifyId == NULL)
        rc = rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetNotifyId: notifyId is NULL");
    else
        *notifyId = rt_notify_id(held);
    rt_notify_unhold(held);
    return rc;
}

aclError
aclrtNotifyBatchReset(aclrtNotify *notifies, size_t num)
{
    int32_t device;
    aclError rc;

    if (notifies == NULL || num == 0)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtNotifyBatchReset: no notifies were given");
    rc = rt_current_device(&device);
    for (size_t i = 0; i < num && rc == ACL_SUCCESS; i++) {
        struct rt_notify *held;

        rc = hold(notifies[i], "aclrtNotifyBatchReset", &held);
        if (rc != ACL_SUCCESS)
            break;
        rt_notify_reset(held);
        rt_notify_unhold(held);
    }
    return rc;
}

/* Between processes: comes with the shared-memory transport. */

aclError
aclrtNotifyGetExportKey(aclrtNotify notify, char *key, size_t len, uint64_t flags)
{
    (void)notify, (void)key, (void)len, (void)flags;
    return rt_unsupported("aclrtNotifyGetExportKey");
}

aclError
aclrtNotifyImportByKey(aclrtNotify *notify, const char *key, uint64_t flags)
{
    (void)notify, (void)key, (void)flags;
    return rt_unsupported("aclrtNotifyImportByKey");
}

aclError
aclrtNotifySetImportPid(aclrtNotify notify, int32_t *pid, size_t num)
{
    (void)notify, (void)pid, (void)num;
    return rt_unsupported("aclrtNotifySetImportPid");
}

aclError
aclrtNotifySetImportPidInterServer(aclrtNotify notify, aclrtServerPid *serverPids, size_t num)
{
    (void)notify, (void)serverPids, (void)num;
    return rt_unsupported("aclrtNotifySetImportPidInterServer");
}
