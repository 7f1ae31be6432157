/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The task cache never has anything: every lookup is a miss, and an operator that misses runs as it
 * always does. Programs' mistakes in the order of the calls are told all the same.
 */
#define _GNU_SOURCE
#include <string.h>

#include "base/log.h"
#include "hcomm/hcomm_primitives.h"
#include "resource/resource.h"

#define TAG_MOST 255u

/* The calling OS thread's cache context. */
static _Thread_local struct {
    enum { CACHE_NONE, CACHE_MISSED, CACHE_RECORDING } state;
    char tag[TAG_MOST + 1];
} cache;

static HcclResult
check_tag(const char *function, const char *tag)
{
    if (tag == NULL)
        return res_null(function, "tag");
    if (rt_soc() != RT_SOC_950) {
        LOG_ERROR(PRIM, "%s: %s has no task cache, an Ascend950 has (HCOMM_SOC_NAME)", function,
                  rt_soc_name());
        return HCCL_E_NOT_SUPPORT;
    }
    return res_check_number(function, "the length of tag", strnlen(tag, TAG_MOST + 1), 0, TAG_MOST);
}

/* HCCL_E_INTERNAL, HCCL_E_PARA (logged). */
static HcclResult
check_state(const char *function, const char *tag, int state)
{
    if ((int)cache.state != state) {
        LOG_ERROR(PRIM, "%s(\"%s\"): %s", function, tag,
                  state == CACHE_MISSED ? "no lookup of this OS thread has missed before"
                                        : "no recording has been started on this OS thread");
        return HCCL_E_INTERNAL;
    }
    if (strcmp(cache.tag, tag) != 0) {
        LOG_ERROR(PRIM, "%s(\"%s\"): this OS thread has looked up \"%s\"", function, tag,
                  cache.tag);
        return HCCL_E_PARA;
    }
    return HCCL_SUCCESS;
}

HcommResult
HcommAicpuTsTaskCacheLookup(const char *tag, bool *isHit)
{
    HcclResult rc = check_tag(__func__, tag);

    if (rc != HCCL_SUCCESS)
        return rc;
    if (isHit == NULL)
        return res_null(__func__, "isHit");
    memcpy(cache.tag, tag, strlen(tag) + 1);
    cache.state = CACHE_MISSED;
    *isHit = false;
    return HCCL_SUCCESS;
}

HcommResult
HcommAicpuTsTaskCacheStart(const char *tag, void **addrs, uint64_t *sizes, uint64_t count)
{
    HcclResult rc = check_tag(__func__, tag);

    if (rc != HCCL_SUCCESS)
        return rc;
    if (count > 0 && (addrs == NULL || sizes == NULL))
        return res_null(__func__, addrs == NULL ? "addrs" : "sizes");
    rc = check_state(__func__, tag, CACHE_MISSED);
    if (rc == HCCL_SUCCESS)
        cache.state = CACHE_RECORDING;
    return rc;
}

HcommResult
HcommAicpuTsTaskCacheEnd(const char *tag)
{
    HcclResult rc = check_tag(__func__, tag);

    if (rc != HCCL_SUCCESS)
        return rc;
    rc = check_state(__func__, tag, CACHE_RECORDING);
    if (rc == HCCL_SUCCESS)
        cache.state = CACHE_NONE;
    return rc;
}

HcommResult
HcommAicpuTsTaskCacheExecute(const char *tag, void **addrs, uint64_t *sizes, uint64_t count)
{
    HcclResult rc = check_tag(__func__, tag);

    if (rc != HCCL_SUCCESS)
        return rc;
    if (count > 0 && (addrs == NULL || sizes == NULL))
        return res_null(__func__, addrs == NULL ? "addrs" : "sizes");
    LOG_ERROR(PRIM, "%s(\"%s\"): no lookup of this OS thread has hit before", __func__, tag);
    return HCCL_E_INTERNAL;
}

HcommResult
HcommAicpuTsTaskCacheClear(const char *tag)
{
    return check_tag(__func__, tag);
}
