/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of this process: a function whose code needs no looking up. */
#include "hcomm/hcomm_embedded.h"

#include "runtime/error.h"
#include "runtime/kernel.h"
#include "runtime/launch.h"
#include "runtime/stream.h"
#include "runtime/limits.h"

/* A function that is already resolved on every device, held. Its binary is closed at once, so the
 * two end with the last launch that holds them. */
static aclError
make_function(HcommKernel kernel, const char *name, struct rt_function **function)
{
    struct rt_kernel_entry entry = {
        .key = name, .so = "this process", .symbol = name, .kind = RT_KERNEL_AICPU};
    uint64_t binary_handle, handle = 0;
    struct rt_binary *binary;
    aclError rc = rt_binary_describe(&binary_handle);

    if (rc != ACL_SUCCESS)
        return rc;
    binary = rt_binary_hold(binary_handle, "HcommLaunchEmbedded");
    if (binary == NULL)
        return ACL_ERROR_RT_INVALID_HANDLE;
    rc = rt_binary_add(binary, &entry, &handle);
    if (rc == ACL_SUCCESS) {
        *function = rt_function_hold(handle, "HcommLaunchEmbedded");
        rc = *function == NULL ? ACL_ERROR_RT_INVALID_HANDLE : ACL_SUCCESS;
    }
    for (uint32_t i = 0; rc == ACL_SUCCESS && i < (*function)->entry_num; i++)
        atomic_store_explicit(&(*function)->entry[i], (void *)(uintptr_t)kernel,
                              memory_order_release);
    rt_binary_release(binary);
    (void)rt_binary_close(binary_handle, true);
    return rc;
}

static aclError
launch(const struct rt_launch_spec *spec, aclrtStream stream_handle)
{
    struct rt_launch *fresh = NULL;
    struct rt_stream *stream;
    aclError rc = rt_stream_hold(stream_handle, &stream);

    if (rc != ACL_SUCCESS)
        return rc;
    rc = rt_launch_new(spec, &fresh);
    if (rc == ACL_SUCCESS)
        rc = rt_launch_push(fresh, stream);
    rt_stream_release(stream);
    return rc;
}

aclError
HcommLaunchEmbedded(HcommKernel kernel, const char *name, uint32_t numBlocks, aclrtStream stream,
                    const void *args, size_t argsSize)
{
    struct rt_launch_spec spec = {.args = args, .args_len = argsSize, .block_num = numBlocks};
    aclError rc;

    if (!rt_enter())
        return RT_NOT_HERE;
    if (kernel == NULL || name == NULL || args == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "HcommLaunchEmbedded: %s is NULL",
                       kernel == NULL ? "kernel"
                       : name == NULL ? "name"
                                      : "args");
    if (numBlocks == 0 || argsSize == 0)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "HcommLaunchEmbedded: %s is 0",
                       numBlocks == 0 ? "numBlocks" : "argsSize");
    spec.timeout_ms = (rt_op_timeout_us() + 999u) / 1000u; /* 0: none was set, and there is none */
    rc = make_function(kernel, name, &spec.function);
    if (rc != ACL_SUCCESS)
        return rc;
    rc = launch(&spec, stream);
    rt_function_release(spec.function);
    return rc;
}
