/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * acl_log: logging for programs. Module ids 0xFF00 .. 0xFFFF are theirs. All of it ends up in this
 * library's log.
 */
#ifndef BASE_ACL_LOG_H
#define BASE_ACL_LOG_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "log_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef uintptr_t acllogCallbackHandle;

/* Gets each line, [length] bytes, for the time of the call. Returns 0 for success. */
typedef int32_t (*acllogRecordCallback)(void *userData, uint32_t outputLogType,
                                        const char *logContent, size_t length);

/**
 * Whether acllogRecord would write a message of that level.
 *
 * @param moduleId  module
 * @param logLevel  DLOG_DEBUG .. DLOG_ERROR
 *
 * @return 1: yes; 0: no, or an argument is out of range.
 * Threads: any.
 * Source:  spec, acl runtime, section 22.
 */
LOG_FUNC_VISIBILITY int32_t acllogCheckDebugLevel(int32_t moduleId, int32_t logLevel);

/**
 * Write a message if its level passes the module's threshold.
 *
 * @param moduleId      module; a *_LOG_MASK bit is accepted
 * @param level         DLOG_DEBUG .. DLOG_ERROR
 * @param fmt       in  as for printf; NULL: nothing is written
 *
 * Threads: any.
 * Source:  spec, acl runtime, section 22.
 */
LOG_FUNC_VISIBILITY void acllogRecord(int32_t moduleId, int32_t level, const char *fmt, ...);

/**
 * acllogRecord with the arguments in `list`, which is used up.
 *
 * Threads: any.
 * Source:  spec, acl runtime, section 22.
 */
LOG_FUNC_VISIBILITY void acllogVaList(int32_t moduleId, int32_t level, const char *fmt,
                                      va_list list);

/**
 * Have `fn` see every line that is written.
 *
 * @param fn             in   must not log
 * @param userData       in   handed to `fn`
 * @param outputLogType       of acllogOutputLogType: which logs
 * @param handle         out  for acllogUnregisterCallback
 *
 * @return 0; -1: NULL, `outputLogType` is out of range, there are too many callbacks, or the caller
 * is one. Threads: any; calls of `fn` may overlap. Source:  spec, acl runtime, section 22.
 */
LOG_FUNC_VISIBILITY int32_t acllogRegisterCallback(acllogRecordCallback fn, void *userData,
                                                   uint32_t outputLogType,
                                                   acllogCallbackHandle *handle);

/**
 * Undo acllogRegisterCallback.
 *
 * @return 0; -1: `handle` is not registered, or the caller is a callback.
 * Threads: any.
 * Source:  spec, acl runtime, section 22.
 */
LOG_FUNC_VISIBILITY int32_t acllogUnregisterCallback(acllogCallbackHandle handle);

#ifdef __cplusplus
}
#endif

#endif
