/* SPDX-License-Identifier: BSD-3-Clause */
/* The log entry points. acllog* take a mask like the others do, though the original drops it. */
#include <stdio.h>

#include "base/log.h"
#include "runtime/dlog.h"

int32_t
CheckLogLevel(int32_t moduleId, int32_t logLevel)
{
    return rt_dlog_on(moduleId, logLevel);
}

int32_t
acllogCheckDebugLevel(int32_t moduleId, int32_t logLevel)
{
    return rt_dlog_on(moduleId, logLevel);
}

int32_t
AlogCheckDebugLevel(uint32_t moduleId, int32_t level)
{
    return rt_dlog_on((int32_t)moduleId, level);
}

int32_t
dlog_getlevel(int32_t moduleId, int32_t *enableEvent)
{
    bool events;
    int32_t level;

    if (moduleId < 0)
        return -1;
    level = rt_dlog_level(moduleId, &events);
    if (enableEvent != NULL)
        *enableEvent = events;
    return level;
}

int32_t
dlog_setlevel(int32_t moduleId, int32_t level, int32_t enableEvent)
{
    if (moduleId < -1 || level < DLOG_DEBUG || level > DLOG_NULL)
        return -1;
    rt_dlog_set_level(moduleId, level, enableEvent != 0);
    return 0;
}

int32_t
DlogSetAttr(LogAttr logAttrInfo)
{
    (void)logAttrInfo; /* what it says is in every line already */
    return 0;
}

void
DlogVaList(int32_t moduleId, int32_t level, const char *fmt, va_list list)
{
    rt_dlog_write(moduleId, level, fmt, list);
}

void
DlogRecord(int32_t moduleId, int32_t level, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    rt_dlog_write(moduleId, level, fmt, args);
    va_end(args);
}

void
DlogFlush(void)
{
    fflush(stdout); /* stderr holds nothing back */
}

void
acllogVaList(int32_t moduleId, int32_t level, const char *fmt, va_list list)
{
    rt_dlog_write(moduleId, level, fmt, list);
}

void
acllogRecord(int32_t moduleId, int32_t level, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    rt_dlog_write(moduleId, level, fmt, args);
    va_end(args);
}

int32_t
AlogRecord(uint32_t moduleId, uint32_t logType, int32_t level, const char *fmt, ...)
{
    uint32_t mask = logType == DLOG_TYPE_RUN ? RUN_LOG_MASK : 0;
    va_list args;

    if (logType >= DLOG_TYPE_MAX || fmt == NULL)
        return -1;
    va_start(args, fmt);
    rt_dlog_write((int32_t)(moduleId | mask), level, fmt, args);
    va_end(args);
    return 0;
}

int32_t
acllogRegisterCallback(acllogRecordCallback fn, void *userData, uint32_t outputLogType,
                       acllogCallbackHandle *handle)
{
    if (fn == NULL || handle == NULL || outputLogType >= (uint32_t)OUTPUT_TYPE_MAX) {
        LOG_ERROR(RT, "acllogRegisterCallback: %s",
                  fn == NULL       ? "the callback is NULL"
                  : handle == NULL ? "handle is NULL"
                                   : "there is no such log type");
        return -1;
    }
    if (!rt_dlog_listen(fn, userData, outputLogType, handle)) {
        LOG_ERROR(RT, "acllogRegisterCallback: too many callbacks, or called from one");
        return -1;
    }
    return 0;
}

int32_t
acllogUnregisterCallback(acllogCallbackHandle handle)
{
    if (rt_dlog_unlisten(handle))
        return 0;
    LOG_ERROR(RT, "acllogUnregisterCallback: no such callback, or called from one");
    return -1;
}
