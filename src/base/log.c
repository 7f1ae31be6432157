/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "base/log.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/knobs.h"
#include "base/thread.h"

#define LINE_MAX_LEN 1024
#define ERRMSG_LEN 4096

struct errmsg {
    char text[ERRMSG_LEN];  /* lines, newest first, each ends in '\n' */
    char taken[ERRMSG_LEN]; /* what the last take handed out */
};

static _Thread_local struct errmsg thread_errmsg;
static struct errmsg process_errmsg; /* under errmsg_lock */
static pthread_mutex_t errmsg_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool process_wide_errmsg;
static _Atomic(hc_log_hook) log_hook;
static atomic_int threshold = -1; /* -1: not read yet */

static enum hc_log_level
read_threshold(void)
{
    int level = atomic_load_explicit(&threshold, memory_order_relaxed);

    if (level < 0) {
        level = (int)hc_knob_log_level();
        atomic_store_explicit(&threshold, level, memory_order_relaxed);
    }
    return (enum hc_log_level)level;
}

bool
hc_log_on(enum hc_log_level level)
{
    return level >= read_threshold();
}

void
hc_log_set_hook(hc_log_hook hook)
{
    atomic_store(&log_hook, hook);
}

void
hc_errmsg_mode(bool process_wide)
{
    atomic_store(&process_wide_errmsg, process_wide);
}

/* Puts `text` in front; what no longer fits falls off the old end, whole lines only. */
static void
errmsg_push(struct errmsg *store, const char *text)
{
    size_t len = strnlen(text, LINE_MAX_LEN);
    size_t room = ERRMSG_LEN - len - 2; /* for the old lines; '\n' and '\0' are ours */
    size_t old = strlen(store->text);

    while (old > room) { /* drop the oldest line */
        store->text[old - 1] = '\0';
        char *cut = strrchr(store->text, '\n');
        old = cut == NULL ? 0 : (size_t)(cut - store->text) + 1;
        store->text[old] = '\0';
    }
    memmove(store->text + len + 1, store->text, old + 1);
    memcpy(store->text, text, len);
    store->text[len] = '\n';
}

void
hc_errmsg_add(const char *text)
{
    if (!atomic_load_explicit(&process_wide_errmsg, memory_order_relaxed)) {
        errmsg_push(&thread_errmsg, text);
        return;
    }
    pthread_mutex_lock(&errmsg_lock);
    errmsg_push(&process_errmsg, text);
    pthread_mutex_unlock(&errmsg_lock);
}

const char *
hc_errmsg_take(void)
{
    struct errmsg *mine = &thread_errmsg;

    if (atomic_load_explicit(&process_wide_errmsg, memory_order_relaxed)) {
        pthread_mutex_lock(&errmsg_lock);
        memcpy(mine->taken, process_errmsg.text, ERRMSG_LEN);
        process_errmsg.text[0] = '\0';
        pthread_mutex_unlock(&errmsg_lock);
    } else {
        memcpy(mine->taken, mine->text, ERRMSG_LEN);
        mine->text[0] = '\0';
    }
    return mine->taken[0] == '\0' ? NULL : mine->taken;
}

static const char *
base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL ? path : slash + 1;
}

static void
write_line(enum hc_log_level level, bool remember, const char *tag, const char *file, int line,
           const char *fmt, va_list args)
{
    static const char *const names[] = {"DEBUG", "INFO", "WARN", "ERROR", "NONE"};
    bool shown = hc_log_on(level);
    char message[LINE_MAX_LEN];
    hc_log_hook hook;
    int cancel;

    if (!shown && level != HC_LOG_ERROR)
        return;
    vsnprintf(message, sizeof message, fmt, args);
    if (remember && level == HC_LOG_ERROR)
        hc_errmsg_add(message);
    hook = atomic_load(&log_hook);
    if (hook != NULL)
        hook(level, tag, message);
    cancel = hc_cancel_off(); /* writing is where it takes effect, and our caller may hold a lock */
    if (shown)
        fprintf(stderr, "[%s] %s(%d,%ld) %s:%d %s\n", names[level], tag, (int)getpid(),
                (long)syscall(SYS_gettid), base_name(file), line, message);
    hc_cancel_restore(cancel);
}

void
hc_vlog(enum hc_log_level level, const char *tag, const char *file, int line, const char *fmt,
        va_list args)
{
    write_line(level, true, tag, file, line, fmt, args);
}

void
hc_log_elsewhere(const char *tag, const char *file, int line, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    write_line(HC_LOG_ERROR, false, tag, file, line, fmt, args);
    va_end(args);
}

void
hc_log(enum hc_log_level level, const char *tag, const char *file, int line, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    hc_vlog(level, tag, file, line, fmt, args);
    va_end(args);
}
