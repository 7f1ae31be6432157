/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dlog_pub: logging as the libraries of the stack use it. All of it ends up in this library's log.
 *
 * The macros check the level first, except for errors, and put "[file:line]" in front. Their format
 * is the first of the variable arguments, which keeps ISO C and C++ content.
 */
#ifndef BASE_DLOG_PUB_H
#define BASE_DLOG_PUB_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include "log_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Write a message if its level passes the module's threshold.
 *
 * @param moduleId      module, with at most one *_LOG_MASK bit
 * @param level         DLOG_DEBUG .. DLOG_ERROR
 * @param fmt       in  as for printf; NULL: nothing is written
 *
 * Threads: any.
 * Source:  spec, acl runtime, section 22.
 */
LOG_FUNC_VISIBILITY void DlogRecord(int32_t moduleId, int32_t level, const char *fmt, ...);

/**
 * Whether DlogRecord would write a message of that level.
 *
 * @param moduleId  as for DlogRecord
 * @param logLevel  DLOG_DEBUG .. DLOG_ERROR
 *
 * @return 1: yes; 0: no, or an argument is out of range.
 * Threads: any.
 * Source:  spec, acl runtime, section 22.
 */
LOG_FUNC_VISIBILITY int32_t CheckLogLevel(int32_t moduleId, int32_t logLevel);

/**
 * The module's threshold for the debug log.
 *
 * @param moduleId          module
 * @param enableEvent  out  1: events are logged, 0: not; NULL: not asked for
 *
 * @return DLOG_DEBUG .. DLOG_NULL; -1: `moduleId` is negative.
 * Threads: any.
 * Source:  spec, acl runtime, section 22.
 */
LOG_FUNC_VISIBILITY int32_t dlog_getlevel(int32_t moduleId, int32_t *enableEvent);

/**
 * Set the module's threshold for the debug log.
 *
 * @param moduleId     module; -1: all
 * @param level        DLOG_DEBUG .. DLOG_NULL
 * @param enableEvent  1: log events, 0: do not
 *
 * @return 0; -1: an argument is out of range.
 * Threads: any.
 * Source:  spec, acl runtime, section 22.
 */
LOG_FUNC_VISIBILITY int32_t dlog_setlevel(int32_t moduleId, int32_t level, int32_t enableEvent);

/**
 * Say what kind of process is logging. Changes nothing here.
 *
 * @return 0.
 * Threads: any.
 * Source:  spec, acl runtime, section 22.
 */
LOG_FUNC_VISIBILITY int32_t DlogSetAttr(LogAttr logAttrInfo);

/**
 * DlogRecord with the arguments in `list`, which is used up.
 *
 * Threads: any.
 * Source:  spec, acl runtime, section 22.
 */
LOG_FUNC_VISIBILITY void DlogVaList(int32_t moduleId, int32_t level, const char *fmt, va_list list);

/**
 * Returns when all that was logged so far is with the operating system.
 *
 * Threads: any.
 * Source:  spec, acl runtime, section 22.
 */
LOG_FUNC_VISIBILITY void DlogFlush(void);

/**
 * CheckLogLevel for operator code: module ids are unsigned there.
 *
 * @return 1: a message of `level` would be written; 0: it would not.
 * Threads: any.
 * Source:  spec, acl runtime, section 22.
 */
LOG_FUNC_VISIBILITY int32_t AlogCheckDebugLevel(uint32_t moduleId, int32_t level);

/**
 * DlogRecord for operator code.
 *
 * @param moduleId      module, without a mask bit
 * @param logType       DLOG_TYPE_DEBUG or DLOG_TYPE_RUN
 * @param level         DLOG_DEBUG .. DLOG_ERROR
 * @param fmt       in  as for printf
 *
 * @return 0; -1: an argument is out of range.
 * Threads: any.
 * Source:  spec, acl runtime, section 22.
 */
LOG_FUNC_VISIBILITY int32_t AlogRecord(uint32_t moduleId, uint32_t logType, int32_t level,
                                       const char *fmt, ...);

/* What the macros expand to: "[file:line][submodule] message". `submodule` NULL: without it. */
static inline void
DlogRecordAt(int32_t moduleId, int32_t level, const char *file, int line, const char *submodule,
             const char *fmt, ...)
{
    char text[MSG_LENGTH];
    va_list list;

    va_start(list, fmt);
    (void)vsnprintf(text, sizeof text, fmt, list);
    va_end(list);
    if (submodule == NULL)
        DlogRecord(moduleId, level, "[%s:%d] %s", file, line, text);
    else
        DlogRecord(moduleId, level, "[%s:%d][%s] %s", file, line, submodule, text);
}

#ifdef __cplusplus
}
#endif

#define DLOG_FILE_NAME __FILE__
#ifndef __FILENAME__
#define __FILENAME__ __FILE__
#endif

#define DlogSub(moduleId, submodule, level, ...)                                                   \
    do {                                                                                           \
        if (CheckLogLevel((int32_t)(moduleId), (level)) == 1)                                      \
            DlogRecordAt((int32_t)(moduleId), (level), DLOG_FILE_NAME, __LINE__, submodule,        \
                         __VA_ARGS__);                                                             \
    } while (0)

#define Dlog(moduleId, level, ...) DlogSub(moduleId, NULL, level, __VA_ARGS__)

#define dlog_error(moduleId, ...)                                                                  \
    DlogRecordAt((int32_t)(moduleId), DLOG_ERROR, DLOG_FILE_NAME, __LINE__, NULL, __VA_ARGS__)
#define dlog_warn(moduleId, ...) Dlog(moduleId, DLOG_WARN, __VA_ARGS__)
#define dlog_info(moduleId, ...) Dlog(moduleId, DLOG_INFO, __VA_ARGS__)
#define dlog_debug(moduleId, ...) Dlog(moduleId, DLOG_DEBUG, __VA_ARGS__)

#endif
