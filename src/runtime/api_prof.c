/* SPDX-License-Identifier: BSD-3-Clause */
/* Profiling succeeds and records nothing: programs start up with it, and would stop at an error. */
#include "acl/acl_prof.h"

#include <stdatomic.h>

#include "base/log.h"
#include "runtime/runtime.h"

#define PATH_LEN_MAX 4096u

struct aclprofConfig {
    int nothing;
};

/* All configurations are this one: there is nothing to tell apart, and callers never destroy it. */
static aclprofConfig the_config;

static void
say_once(void)
{
    static atomic_bool said;

    if (!atomic_exchange(&said, true))
        LOG_INFO(RT, "profiling is accepted but a soft NPU records nothing");
}

static aclError
check_config(const char *function, const aclprofConfig *config)
{
    if (config == &the_config)
        return ACL_SUCCESS;
    return rt_fail(ACL_ERROR_INVALID_PARAM, "%s: %s", function,
                   config == NULL ? "the configuration is NULL"
                                  : "the configuration is not from aclprofCreateConfig");
}

aclError
aclprofInit(const char *profilerResultPath, size_t length)
{
    if (profilerResultPath == NULL || length == 0 || length > PATH_LEN_MAX)
        return rt_fail(ACL_ERROR_INVALID_PARAM,
                       "aclprofInit: the path must be given and have 1 to %u bytes", PATH_LEN_MAX);
    say_once();
    return ACL_SUCCESS;
}

aclprofConfig *
aclprofCreateConfig(uint32_t *deviceIdList, uint32_t deviceNums, aclprofAicoreMetrics aicoreMetrics,
                    const aclprofAicoreEvents *aicoreEvents, uint64_t dataTypeConfig)
{
    (void)aicoreMetrics;
    (void)aicoreEvents;
    (void)dataTypeConfig;
    if (deviceIdList == NULL && deviceNums > 0) {
        (void)rt_fail(ACL_ERROR_INVALID_PARAM,
                      "aclprofCreateConfig: the list of %u devices is NULL", deviceNums);
        return NULL;
    }
    say_once();
    return &the_config;
}

aclError
aclprofStart(const aclprofConfig *profilerConfig)
{
    return check_config("aclprofStart", profilerConfig);
}

aclError
aclprofStop(const aclprofConfig *profilerConfig)
{
    return check_config("aclprofStop", profilerConfig);
}

aclError
aclprofFinalize(void)
{
    return ACL_SUCCESS;
}

aclError
aclprofDestroyConfig(const aclprofConfig *profilerConfig)
{
    return check_config("aclprofDestroyConfig", profilerConfig);
}
