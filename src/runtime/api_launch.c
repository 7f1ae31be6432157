/* SPDX-License-Identifier: BSD-3-Clause */
/* aclrtLaunchKernel*: queue a kernel. Mind that the variants order their parameters differently. */
#include "acl/acl_rt.h"
#include "runtime/error.h"
#include "runtime/kernel_args.h"
#include "runtime/launch.h"
#include "runtime/limits.h"
#include "runtime/stream.h"

/* ---- attributes ---- */

struct timeouts {
    bool seconds, micros;
    uint64_t ms; /* 0: none */
};

static uint64_t
ms_of_us(uint64_t us)
{
    return us / 1000u + (us % 1000u != 0);
}

static aclError
bad_flag(const char *function, const char *attribute, unsigned value)
{
    return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "%s: attribute %s is %u; pass 0 or 1", function,
                   attribute, value);
}

static aclError
read_attribute(const aclrtLaunchKernelAttr *attr, const char *function, struct timeouts *timeouts)
{
    const aclrtLaunchKernelAttrValue *value = &attr->value;

    switch ((int)attr->id) {
    case ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE:
        return value->schemMode > 1 ? bad_flag(function, "SCHEM_MODE", value->schemMode)
                                    : ACL_SUCCESS;
    case ACL_RT_LAUNCH_KERNEL_ATTR_BLOCK_TASK_PREFETCH:
        return value->isBlockTaskPrefetch > 1
                   ? bad_flag(function, "BLOCK_TASK_PREFETCH", value->isBlockTaskPrefetch)
                   : ACL_SUCCESS;
    case ACL_RT_LAUNCH_KERNEL_ATTR_DATA_DUMP:
        return value->isDataDump > 1 ? bad_flag(function, "DATA_DUMP", value->isDataDump)
                                     : ACL_SUCCESS;
    case ACL_RT_LAUNCH_KERNEL_ATTR_ENABLE_PROFILING:
        return value->enableProfiling > 1
                   ? bad_flag(function, "ENABLE_PROFILING", value->enableProfiling)
                   : ACL_SUCCESS;
    case ACL_RT_LAUNCH_KERNEL_ATTR_DYN_UBUF_SIZE:
    case ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE:
    case ACL_RT_LAUNCH_KERNEL_ATTR_BLOCKDIM_OFFSET:
        return ACL_SUCCESS; /* of AI Core kernels: nothing to an AICPU kernel */
    case ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT:
        timeouts->seconds = true;
        timeouts->ms = (uint64_t)value->timeout * 1000u;
        return ACL_SUCCESS;
    case ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US:
        timeouts->micros = true;
        timeouts->ms =
            ms_of_us((uint64_t)value->timeoutUs.timeoutHigh << 32 | value->timeoutUs.timeoutLow);
        return ACL_SUCCESS;
    default:
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "%s: launch attribute %d is none", function,
                       (int)attr->id);
    }
}

/* Timeout of the launch in ms: the attribute's, else the process', else the usual one. */
static aclError
read_config(const aclrtLaunchKernelCfg *cfg, const char *function, uint64_t *timeout_ms)
{
    struct timeouts timeouts = {.ms = rt_op_default_ms()};

    if (cfg != NULL && cfg->attrs == NULL)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "%s: cfg->attrs is NULL; pass NULL for cfg instead", function);
    for (size_t i = 0; cfg != NULL && i < cfg->numAttrs; i++) {
        aclError rc = read_attribute(&cfg->attrs[i], function, &timeouts);

        if (rc != ACL_SUCCESS)
            return rc;
    }
    if (timeouts.seconds && timeouts.micros)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "%s: attributes TIMEOUT and TIMEOUT_US exclude each "
                       "other",
                       function);
    *timeout_ms = timeouts.ms;
    return ACL_SUCCESS;
}

/* ---- what the variants share ---- */

struct request {
    const char *api; /* function name, for messages */
    aclrtFuncHandle function;
    aclrtStream stream;
    const aclrtLaunchKernelCfg *cfg;
    struct rt_launch_spec spec;
    /* Changes the copied arguments before they are queued, at most spec.patch_num times; NULL:
     * nothing to change. */
    void (*patch)(struct rt_launch *launch, const void *arg);
    const void *patch_arg;
};

static aclError
launch(struct request *request)
{
    struct rt_launch *fresh = NULL;
    struct rt_stream *stream;
    aclError rc = read_config(request->cfg, request->api, &request->spec.timeout_ms);

    if (rc != ACL_SUCCESS)
        return rc;
    request->spec.function = rt_function_hold((uint64_t)(uintptr_t)request->function, request->api);
    if (request->spec.function == NULL)
        return ACL_ERROR_RT_INVALID_HANDLE;
    rc = rt_stream_hold_mine(request->stream, &stream);
    if (rc == ACL_SUCCESS) {
        rc = rt_launch_new(&request->spec, &fresh);
        if (rc == ACL_SUCCESS && request->patch != NULL)
            request->patch(fresh, request->patch_arg);
        if (rc == ACL_SUCCESS)
            rc = rt_launch_push(fresh, stream);
        rt_stream_release(stream);
    }
    rt_function_release(request->spec.function);
    return rc;
}

/* ---- the variants ---- */

static void
patch_block(struct rt_launch *launch, const void *arg)
{
    const struct rt_args *args = arg;

    for (uint32_t i = 0; i < args->param_num; i++) {
        if (args->params[i].place_holder && args->params[i].data_offset != 0)
            rt_launch_patch(launch, args->params[i].offset, args->params[i].data_offset);
    }
}

aclError
aclrtLaunchKernelWithConfig(aclrtFuncHandle funcHandle, uint32_t numBlocks, aclrtStream stream,
                            aclrtLaunchKernelCfg *cfg, aclrtArgsHandle argsHandle, void *reserve)
{
    struct request request = {
        .api = "aclrtLaunchKernelWithConfig", .function = funcHandle, .stream = stream, .cfg = cfg};
    struct rt_args *args;
    aclError rc;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (funcHandle == NULL || argsHandle == NULL || numBlocks == 0 || reserve != NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM,
                       "%s: a handle is NULL, numBlocks is 0, or reserve is not "
                       "NULL",
                       request.api);
    rc = rt_args_of((uint64_t)(uintptr_t)argsHandle, request.api, &args);
    if (rc == ACL_SUCCESS && !args->finalized)
        rc = rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                     "%s: the arguments are not complete: call "
                     "aclrtKernelArgsFinalize",
                     request.api);
    if (rc != ACL_SUCCESS)
        return rc;
    request.spec.args = args->block;
    request.spec.args_len = args->len;
    request.spec.block_num = numBlocks;
    request.spec.patch_num = args->param_num;
    request.patch = patch_block;
    request.patch_arg = args;
    return launch(&request);
}

struct place_holders {
    const aclrtPlaceHolderInfo *infos;
    size_t num;
};

static void
patch_host_args(struct rt_launch *launch, const void *arg)
{
    const struct place_holders *holders = arg;

    for (size_t i = 0; i < holders->num; i++)
        rt_launch_patch(launch, holders->infos[i].addrOffset, holders->infos[i].dataOffset);
}

static aclError
check_place_holders(const struct place_holders *holders, size_t args_len, const char *api)
{
    if (holders->num > 0 && holders->infos == NULL)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "%s: placeHolderArray is NULL", api);
    for (size_t i = 0; i < holders->num; i++) {
        const aclrtPlaceHolderInfo *info = &holders->infos[i];

        if (args_len < sizeof(uint64_t) || info->addrOffset > args_len - sizeof(uint64_t) ||
            info->dataOffset >= args_len)
            return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                           "%s: place-holder %zu (address at %u, data at %u) "
                           "leaves the %zu bytes of arguments",
                           api, i, info->addrOffset, info->dataOffset, args_len);
    }
    return ACL_SUCCESS;
}

aclError
aclrtLaunchKernelWithHostArgs(aclrtFuncHandle funcHandle, uint32_t numBlocks, aclrtStream stream,
                              aclrtLaunchKernelCfg *cfg, void *hostArgs, size_t argsSize,
                              aclrtPlaceHolderInfo *placeHolderArray, size_t placeHolderNum)
{
    struct place_holders holders = {.infos = placeHolderArray, .num = placeHolderNum};
    struct request request = {.api = "aclrtLaunchKernelWithHostArgs",
                              .function = funcHandle,
                              .stream = stream,
                              .cfg = cfg,
                              .patch = patch_host_args,
                              .patch_arg = &holders};
    aclError rc;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (funcHandle == NULL || hostArgs == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "%s: %s is NULL", request.api,
                       funcHandle == NULL ? "funcHandle" : "hostArgs");
    if (numBlocks == 0 || argsSize == 0)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "%s: %s is 0", request.api,
                       numBlocks == 0 ? "numBlocks" : "argsSize");
    rc = check_place_holders(&holders, argsSize, request.api);
    if (rc != ACL_SUCCESS)
        return rc;
    request.spec.patch_num = (uint32_t)placeHolderNum;
    request.spec.args = hostArgs;
    request.spec.args_len = argsSize;
    request.spec.block_num = numBlocks;
    return launch(&request);
}

/* Arguments in device memory, which the kernel gets as they are when it runs. */
static aclError
launch_in_place(struct request *request, uint32_t block_num, const void *args, size_t args_len)
{
    if (!rt_enter())
        return RT_NOT_HERE;
    if (request->function == NULL || args == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "%s: %s is NULL", request->api,
                       request->function == NULL ? "funcHandle" : "argsData");
    if (block_num == 0 || args_len == 0)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "%s: %s is 0", request->api,
                       block_num == 0 ? "numBlocks" : "argsSize");
    request->spec.arg = (void *)(uintptr_t)args;
    request->spec.block_num = block_num;
    return launch(request);
}

aclError
aclrtLaunchKernelV2(aclrtFuncHandle funcHandle, uint32_t numBlocks, const void *argsData,
                    size_t argsSize, aclrtLaunchKernelCfg *cfg, aclrtStream stream)
{
    struct request request = {
        .api = "aclrtLaunchKernelV2", .function = funcHandle, .stream = stream, .cfg = cfg};

    return launch_in_place(&request, numBlocks, argsData, argsSize);
}

aclError
aclrtLaunchKernel(aclrtFuncHandle funcHandle, uint32_t numBlocks, const void *argsData,
                  size_t argsSize, aclrtStream stream)
{
    struct request request = {.api = "aclrtLaunchKernel", .function = funcHandle, .stream = stream};

    return launch_in_place(&request, numBlocks, argsData, argsSize);
}

aclError
aclrtLaunchKernelWithArgsArray(void *func, uint32_t numBlocks, aclrtStream stream,
                               aclrtLaunchKernelCfg *cfg, void **args)
{
    (void)func;
    (void)numBlocks;
    (void)stream;
    (void)cfg;
    (void)args;
    return rt_unsupported("aclrtLaunchKernelWithArgsArray");
}
