/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * aclInit and its opposite count, and nothing else depends on the count: devices have references
 * of their own, and most calls work without aclInit, as programs and libraries expect.
 */
#include <inttypes.h>
#include <pthread.h>

#include "base/log.h"
#include "runtime/context.h"
#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/init_config.h"

static pthread_mutex_t init_lock = PTHREAD_MUTEX_INITIALIZER; /* protects the rest */
static uint64_t init_count;
static uint64_t first_digest; /* of the configuration that counts, while init_count > 0 */
static bool finalized;        /* since the last aclInit */

static void
apply(const struct rt_init_config *config)
{
    rt_context_set_default_device(config->default_device);
    hc_errmsg_mode(config->process_wide_errmsg);
}

/* Under init_lock. */
static aclError
init_once_more(const struct rt_init_config *config)
{
    if (init_count > 0 && config->digest != first_digest)
        return rt_fail(ACL_ERROR_INVALID_PARAM,
                       "aclInit: called before with another configuration; call aclFinalize first");
    init_count++;
    if (init_count > 1) {
        LOG_INFO(RT, "aclInit: called again, %" PRIu64 " times now", init_count);
        return ACL_ERROR_REPEAT_INITIALIZE;
    }
    first_digest = config->digest;
    finalized = false;
    apply(config);
    return ACL_SUCCESS;
}

aclError
aclInit(const char *configPath)
{
    struct rt_init_config config;
    aclError rc;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (!rt_device_known())
        return ACL_ERROR_INTERNAL_ERROR; /* the knob at fault has been named */
    rc = rt_init_config_read(configPath, &config);
    if (rc != ACL_SUCCESS)
        return rc;
    pthread_mutex_lock(&init_lock);
    rc = init_once_more(&config);
    pthread_mutex_unlock(&init_lock);
    return rc;
}

/* Under init_lock. */
static void
finalize(void)
{
    static const struct rt_init_config defaults = {.default_device = -1};

    init_count = 0;
    finalized = true;
    apply(&defaults);
}

static aclError
say_repeated(const char *function)
{
    return rt_fail(ACL_ERROR_REPEAT_FINALIZE, "%s: already finalized, and no aclInit since",
                   function);
}

aclError
aclFinalize(void)
{
    bool repeated;

    if (!rt_enter())
        return RT_NOT_HERE;
    pthread_mutex_lock(&init_lock);
    repeated = finalized;
    if (!repeated)
        finalize();
    pthread_mutex_unlock(&init_lock);
    return repeated ? say_repeated("aclFinalize") : ACL_SUCCESS;
}

aclError
aclFinalizeReference(uint64_t *refCount)
{
    uint64_t left = 0;
    bool repeated;

    if (!rt_enter())
        return RT_NOT_HERE;
    pthread_mutex_lock(&init_lock);
    repeated = init_count == 0;
    if (init_count > 1)
        left = --init_count;
    else if (!repeated)
        finalize();
    pthread_mutex_unlock(&init_lock);
    if (repeated)
        return say_repeated("aclFinalizeReference");
    if (refCount != NULL)
        *refCount = left;
    return ACL_SUCCESS;
}
