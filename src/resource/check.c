/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments of public functions: what is wrong with them, said once. */
#include "base/log.h"
#include "resource/resource.h"

HcclResult
res_null(const char *function, const char *argument)
{
    LOG_ERROR(RES, "%s: %s is NULL", function, argument);
    return HCCL_E_PTR;
}

HcclResult
res_check_number(const char *function, const char *argument, uint64_t number, uint64_t least,
                 uint64_t most)
{
    if (number >= least && number <= most)
        return HCCL_SUCCESS;
    if (number < least && most >= UINT32_MAX) /* most is what the type holds: no news */
        LOG_ERROR(RES, "%s: %s is %llu, it must be at least %llu", function, argument,
                  (unsigned long long)number, (unsigned long long)least);
    else
        LOG_ERROR(RES, "%s: %s is %llu, allowed are %llu to %llu", function, argument,
                  (unsigned long long)number, (unsigned long long)least, (unsigned long long)most);
    return HCCL_E_PARA;
}
