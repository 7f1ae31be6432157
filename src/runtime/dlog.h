/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dlog: the log that programs and operators write to through DlogRecord and its like (inside this
 * layer only). A module number carries the module in its low 16 bits and at most one mask above.
 */
#ifndef HC_RUNTIME_DLOG_H
#define HC_RUNTIME_DLOG_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/acl_log.h"
#include "base/dlog_pub.h"

/* Whether a line of one of the levels DLOG_DEBUG to DLOG_ERROR would be written. */
bool rt_dlog_on(int32_t module, int32_t level);

/* Writes the line if it passes. `fmt` NULL: nothing. */
void rt_dlog_write(int32_t module, int32_t level, const char *fmt, va_list args)
    __attribute__((format(printf, 3, 0)));

/* Threshold of the module's debug lines; *events: whether DLOG_EVENT lines are written. */
int32_t rt_dlog_level(int32_t module, bool *events);

/* Module -1: the threshold of all modules that have none of their own. */
void rt_dlog_set_level(int32_t module, int32_t level, bool events);

/* Sees every line that passes, of type OUTPUT_TYPE_DEBUG, _RUN or _BOTH. false: no room. */
bool rt_dlog_listen(acllogRecordCallback fn, void *arg, uint32_t type,
                    acllogCallbackHandle *handle);

/* The callback runs no more once this has returned. false: there is no such handle, or the
 * calling thread is in a callback. */
bool rt_dlog_unlisten(acllogCallbackHandle handle);

#endif
