/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors of this layer: said once, remembered for the thread, translated for the layers above. */
#include "runtime/error.h"

#include <stdarg.h>

#include "base/fork.h"
#include "base/log.h"

static _Thread_local aclError last_error;

static bool
is_runtime_code(aclError code)
{
    int family = code / 1000;

    return family == 107 || family == 207 || family == 507;
}

aclError
rt_set_last_error(aclError code)
{
    if (is_runtime_code(code))
        last_error = code;
    return code;
}

aclError
rt_last_error(bool clear)
{
    aclError code = last_error;

    if (clear)
        last_error = ACL_SUCCESS;
    return code;
}

aclError
rt_fail_at(const char *file, int line, aclError code, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    hc_vlog(HC_LOG_ERROR, "RT", file, line, fmt, args);
    va_end(args);
    return rt_set_last_error(code);
}

aclError
rt_unsupported(const char *function)
{
    return rt_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "%s: not supported by a soft NPU", function);
}

HcclResult
rt_result(aclError code)
{
    switch (code) {
    case ACL_SUCCESS:
        return HCCL_SUCCESS;
    case ACL_ERROR_INVALID_PARAM:
    case ACL_ERROR_RT_PARAM_INVALID:
        return HCCL_E_PARA;
    case ACL_ERROR_RT_MEMORY_ALLOCATION:
    case ACL_ERROR_RT_DEVICE_OOM:
    case ACL_ERROR_BAD_ALLOC:
        return HCCL_E_MEMORY;
    case ACL_ERROR_RT_FEATURE_NOT_SUPPORT:
    case ACL_ERROR_API_NOT_SUPPORT:
    case ACL_ERROR_FEATURE_UNSUPPORTED:
        return HCCL_E_NOT_SUPPORT;
    case ACL_ERROR_RT_INVALID_HANDLE:
        return HCCL_E_NOT_FOUND;
    case ACL_ERROR_RT_STREAM_SYNC_TIMEOUT:
    case ACL_ERROR_RT_EVENT_SYNC_TIMEOUT:
    case ACL_ERROR_RT_WAIT_TIMEOUT:
    case ACL_ERROR_RT_TASK_TIMEOUT:
        return HCCL_E_TIMEOUT;
    case ACL_ERROR_RT_SUSPECT_REMOTE_ERROR:
        return HCCL_E_REMOTE;
    default:
        return HCCL_E_RUNTIME;
    }
}

bool
rt_enter(void)
{
    if (hc_forked())
        return false;
    hc_fork_watch();
    return true;
}
