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

#ifndef THREAD_HANDLE_DEFINED
#define THREAD_HANDLE_DEFINED
typedef uint64_t ThreadHandle;
#endif

/** Bytes that HcommCallOnThread copies, at most. */
#define HCOMM_CALL_ARGS_MOST 40

/** A call on a thread: gets its copied arguments; returns 0, or an HcclResult and, in `why`
 * [whyLen], a line that says what is wrong. */
typedef int32_t (*HcommThreadCall)(void *args, char *why, size_t whyLen);

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
 * @param stream     in   of any context, so one thread can launch for several devices; NULL: the
 *                        default stream of the calling thread's
 * @param args       in   [argsSize] bytes, copied at the call
 * @param argsSize        bytes; at least 1
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: kernel, name or args is NULL;
 *         ACL_ERROR_RT_PARAM_INVALID: numBlocks or argsSize is 0; ACL_ERROR_RT_CONTEXT_NULL: the
 *         default stream, and there is no context; ACL_ERROR_RT_INVALID_HANDLE: no such stream;
 *         ACL_ERROR_RT_MEMORY_ALLOCATION. A failure is also the thread's last error.
 * Threads: any.
 * Source:  ours; kernel packages, section 8, "<<<>>>".
 */
aclError HcommLaunchEmbedded(HcommKernel kernel, const char *name, uint32_t numBlocks,
                             aclrtStream stream, const void *args, size_t argsSize);

/**
 * Queue a call of a function of this process on a thread, between the primitives of the thread: for
 * a decision that no primitive makes, as whether what a peer has written is what was expected.
 *
 * Queues and returns. The function runs where the thread's tasks run, so it must be short and must
 * not wait for anything. If it returns an error the thread fails, as when a primitive fails, with
 * what it wrote to `why`.
 *
 * @param thread    in  queue that runs the call; of any engine, on the host or in a kernel
 * @param call      in  stays loaded until the thread has passed the call
 * @param name      in  for messages: "compare what is called"; likewise, it is not copied
 * @param args      in  [argsSize] bytes, copied at the call
 * @param argsSize      bytes; at most HCOMM_CALL_ARGS_MOST
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: call, name or args is NULL, or thread is 0; HCCL_E_PARA:
 *         argsSize; HCCL_E_NOT_FOUND: thread is not a live handle; HCCL_E_MEMORY.
 * Threads: safe for different `thread`s; calls that share one must be serial.
 * Source:  ours.
 */
int32_t HcommCallOnThread(ThreadHandle thread, HcommThreadCall call, const char *name,
                          const void *args, size_t argsSize);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
