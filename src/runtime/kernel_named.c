/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels that a layer above names by library and function, without a description file. */
#include <stdio.h>
#include <string.h>

#include "runtime/kernel.h"
#include "runtime/launch.h"
#include "runtime/limits.h"

#define KEY_LEN 600u

aclError
rt_kernels_open(uint64_t *kernels)
{
    return rt_binary_named(kernels);
}

void
rt_kernels_close(uint64_t kernels)
{
    if (kernels != 0)
        (void)rt_binary_close(kernels, false);
}

static uint64_t
timeout_ms(const struct rt_kernel_call *call)
{
    if (call->timeout_s == RT_KERNEL_TIMEOUT_DEFAULT)
        return rt_op_default_ms();
    return call->timeout_s > UINT64_MAX / 1000u ? 0 : call->timeout_s * 1000u;
}

/* The function of that name, held. */
static aclError
function_of(uint64_t kernels, const struct rt_kernel_call *call, struct rt_function **function)
{
    struct rt_binary *binary = rt_binary_hold(kernels, call->symbol);
    char key[KEY_LEN];
    struct rt_kernel_entry entry = {
        .key = key, .so = call->so, .symbol = call->symbol, .kind = RT_KERNEL_AICPU};
    uint64_t handle = 0;
    aclError rc;

    if (binary == NULL)
        return ACL_ERROR_RT_INVALID_HANDLE;
    snprintf(key, sizeof key, "%.280s:%.280s", call->so, call->symbol);
    rc = rt_binary_add(binary, &entry, &handle);
    rt_binary_release(binary);
    if (rc != ACL_SUCCESS)
        return rc;
    *function = rt_function_hold(handle, call->symbol);
    return *function == NULL ? ACL_ERROR_RT_INVALID_HANDLE : ACL_SUCCESS;
}

aclError
rt_kernel_push(uint64_t kernels, const struct rt_kernel_call *call, struct rt_stream *stream)
{
    struct rt_launch_spec spec = {.args = call->args_len == 0 ? NULL : call->args,
                                  .args_len = call->args_len,
                                  .block_num = 1,
                                  .timeout_ms = timeout_ms(call)};
    struct rt_launch *launch;
    aclError rc = function_of(kernels, call, &spec.function);

    if (rc != ACL_SUCCESS)
        return rc;
    rc = rt_launch_new(&spec, &launch);
    if (rc == ACL_SUCCESS)
        rc = rt_launch_push(launch, stream);
    rt_function_release(spec.function);
    return rc;
}
