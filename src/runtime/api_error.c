/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/log.h"
#include "runtime/error.h"

static aclError
last_error(const char *function, aclrtLastErrLevel level, bool clear)
{
    if (level != ACL_RT_THREAD_LEVEL)
        return rt_fail(ACL_ERROR_INVALID_PARAM,
                       "%s: level is %d; only 0, the calling thread, exists", function, (int)level);
    return rt_last_error(clear);
}

aclError
aclrtGetLastError(aclrtLastErrLevel level)
{
    return last_error("aclrtGetLastError", level, true);
}

aclError
aclrtPeekAtLastError(aclrtLastErrLevel level)
{
    return last_error("aclrtPeekAtLastError", level, false);
}

const char *
aclGetRecentErrMsg(void)
{
    return hc_errmsg_take();
}
