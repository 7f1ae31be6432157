/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hcomm_embedded: kernels that are part of the program or of a library it links, and so need no
 * package. What `kernel<<<blocks, nullptr, stream>>>(args, size)` in an .asc source becomes.
 * This header is ours.
 */
#ifndef HCOMM_EMBEDDED_H
#define HCOMM_EMBEDDED_H

#include <stddef.h>
#include <stdint.h>

#include "../acl/acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/** Entry of a kernel: gets the copied arguments, returns 0 for success. */
typedef uint32_t (*HcommKernel)(void *args);

/**
 * Queue an AICPU kernel of this process on a stream.
 *
 * Queues and returns. The kernel runs on the AICPU of the stream's device when the stream reaches
 * it. A kernel that returns non-zero fails the stream. No package is involved, so no list and no
 * signature either: the code came with the program. Its static variables are the program's, shared
 * by all devices. It may run for ever, unless aclrtSetOpExecuteTimeOut has set a limit.
 *
 * @param kernel     in   stays loaded until the stream has passed the call
 * @param name       in   for messages; copied
 * @param numBlocks       times that the kernel is called, one after the other; at least 1
 * @param stream     in   of the calling thread's context; NULL: the default stream
 * @param args       in   [argsSize] bytes, copied at the call
 * @param argsSize        bytes; at least 1
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: kernel, name or args is NULL;
 *         ACL_ERROR_RT_PARAM_INVALID: numBlocks or argsSize is 0; ACL_ERROR_RT_CONTEXT_NULL;
 *         ACL_ERROR_RT_INVALID_HANDLE: no such stream; ACL_ERROR_RT_STREAM_CONTEXT: of another
 *         context; ACL_ERROR_RT_MEMORY_ALLOCATION. A failure is also the thread's last error.
 * Threads: any.
 * Source:  ours; kernel packages, section 8, "<<<>>>".
 */
aclError HcommLaunchEmbedded(HcommKernel kernel, const char *name, uint32_t numBlocks,
                             aclrtStream stream, const void *args, size_t argsSize);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
