/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log: one line a message, for a person with grep; and the text behind aclGetRecentErrMsg.
 *
 * A line is "[LEVEL] TAG(pid,tid) file:line message" on stderr. The threshold is the knob
 * LOG_LEVEL (see knobs.def). An ERROR line is also remembered for the thread that logged it,
 * newest first, until hc_errmsg_take(). The function that turns a fact into an error logs it;
 * its callers only return the code.
 */
#ifndef HC_BASE_LOG_H
#define HC_BASE_LOG_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

enum hc_log_level { HC_LOG_DEBUG, HC_LOG_INFO, HC_LOG_WARN, HC_LOG_ERROR, HC_LOG_NONE };

#define LOG_ERROR(tag, ...) hc_log(HC_LOG_ERROR, #tag, __FILE__, __LINE__, __VA_ARGS__)
#define LOG_WARN(tag, ...) hc_log(HC_LOG_WARN, #tag, __FILE__, __LINE__, __VA_ARGS__)
#define LOG_INFO(tag, ...) hc_log(HC_LOG_INFO, #tag, __FILE__, __LINE__, __VA_ARGS__)
#define LOG_DEBUG(tag, ...) hc_log(HC_LOG_DEBUG, #tag, __FILE__, __LINE__, __VA_ARGS__)

void hc_log(enum hc_log_level level, const char *tag, const char *file, int line, const char *fmt,
            ...) __attribute__((format(printf, 5, 6)));
void hc_vlog(enum hc_log_level level, const char *tag, const char *file, int line, const char *fmt,
             va_list args) __attribute__((format(printf, 5, 0)));

/* An ERROR that is not the calling thread's: logged, but not remembered for it. */
void hc_log_elsewhere(const char *tag, const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Whether a line of `level` would be written. */
bool hc_log_on(enum hc_log_level level);

/* Remember `text` for the calling thread (or the process, see hc_errmsg_mode). */
void hc_errmsg_add(const char *text);

/* The remembered lines, newest first, and forget them; NULL if none. Valid until the next call
 * on this thread. */
const char *hc_errmsg_take(void);

/* true: one store for the whole process; false (default): one for each thread. */
void hc_errmsg_mode(bool process_wide);

/* Sees every line that passes the threshold, and every ERROR; tests count errors with it.
 * NULL removes it. Called with no lock held. */
typedef void (*hc_log_hook)(enum hc_log_level level, const char *tag, const char *message);
void hc_log_set_hook(hc_log_hook hook);

#endif
