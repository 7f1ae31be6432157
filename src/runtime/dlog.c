/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which lines pass follows the original stack's environment variables, read once. Lines that pass
 * go to the listeners and to stderr, or stdout when ASCEND_LOG_PRINT_TO_STDOUT is 1; there are no
 * log files. Run-log lines pass from INFO on and would fill the terminal, where on the original
 * stack they fill a file that nobody looks at unasked: so they are printed only if this library's
 * own log would print that level, or stdout was asked for.
 *
 * I1  Levels are single values, read and set by any thread (relaxed).
 * I2  Listeners are called under the read side of `listen_lock`; whoever removes one takes the
 *     write side. A thread in a callback neither calls listeners again nor removes any.
 */
#define _GNU_SOURCE
#include "runtime/dlog.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"

#define MODULES ((int)INVALID_MODULE_ID)
#define MODULE_MASK 0xFFFF
#define NO_LEVEL (-1)
#define EVENT 0x10 /* a level of its own, not part of the public header */
#define LISTENERS 16u

#define NAME(module) [module] = #module

static const char *const module_names[MODULES] = {
    NAME(SLOG),     NAME(IDEDD),     NAME(SCC),        NAME(HCCL),          NAME(FMK),
    NAME(CCU),      NAME(DVPP),      NAME(RUNTIME),    NAME(CCE),           NAME(HDC),
    NAME(DRV),      NAME(NET),       NAME(HIXL),       NAME(DEVMM),         NAME(KERNEL),
    NAME(LIBMEDIA), NAME(CCECPU),    NAME(ROS),        NAME(HCCP),          NAME(ROCE),
    NAME(TEFUSION), NAME(PROFILING), NAME(DP),         NAME(APP),           NAME(TS),
    NAME(TSDUMP),   NAME(AICPU),     NAME(LP),         NAME(TDT),           NAME(FE),
    NAME(MD),       NAME(MB),        NAME(ME),         NAME(IMU),           NAME(IMP),
    NAME(GE),       NAME(CAMERA),    NAME(ASCENDCL),   NAME(TEEOS),         NAME(ISP),
    NAME(SIS),      NAME(HSM),       NAME(DSS),        NAME(PROCMGR),       NAME(BBOX),
    NAME(AIVECTOR), NAME(TBE),       NAME(FV),         NAME(PYPTO),         NAME(TUNE),
    NAME(HSS),      NAME(FFTS),      NAME(OP),         NAME(UDF),           NAME(HICAID),
    NAME(TSYNC),    NAME(AUDIO),     NAME(TPRT),       NAME(ASCENDCKERNEL), NAME(ASYS),
    NAME(ATRACE),   NAME(RTC),       NAME(SYSMONITOR), NAME(AML),           NAME(ADETECT),
};

static atomic_int global_level = DLOG_ERROR; /* I1 */
static atomic_int module_levels[MODULES];    /* or NO_LEVEL; I1 */
static atomic_bool events_on = true;         /* I1 */
static bool to_stdout;                       /* written once */
static pthread_once_t once = PTHREAD_ONCE_INIT;

struct listener {
    acllogRecordCallback fn; /* NULL: a free place */
    void *arg;
    uint32_t type;
    uint32_t generation; /* tells this owner of the place from earlier ones */
};

static struct listener listeners[LISTENERS]; /* under listen_lock */
static pthread_rwlock_t listen_lock = PTHREAD_RWLOCK_INITIALIZER;
static atomic_uint listener_num;
static _Thread_local bool in_callback;

/* ---- the environment ---- */

/* The digit that `text` is, if it is one of at most `most`; else `otherwise`. */
static int
digit(const char *text, int most, int otherwise)
{
    if (text == NULL || text[0] < '0' || text[0] > '0' + most || text[1] != '\0')
        return otherwise;
    return text[0] - '0';
}

/* "NAME=level" of `len` bytes; false: no such module or level. */
static bool
read_item(const char *item, size_t len, int levels[MODULES])
{
    for (int module = 0; module < MODULES; module++) {
        size_t name_len = module_names[module] == NULL ? 0 : strlen(module_names[module]);

        if (name_len == 0 || len != name_len + 2 || item[name_len] != '=' ||
            memcmp(item, module_names[module], name_len) != 0)
            continue;
        if (item[name_len + 1] < '0' || item[name_len + 1] > '0' + DLOG_NULL)
            return false;
        levels[module] = item[name_len + 1] - '0';
        return true;
    }
    return false;
}

/* "NAME=level:NAME=level": all of it counts or nothing. */
static void
read_module_levels(const char *text)
{
    int levels[MODULES];

    for (int module = 0; module < MODULES; module++)
        levels[module] = NO_LEVEL;
    for (const char *at = text; at != NULL;) {
        size_t len = strcspn(at, ":");

        if (!read_item(at, len, levels)) {
            LOG_WARN(RT,
                     "ASCEND_MODULE_LOG_LEVEL ignored: \"%.*s\" is not NAME=level with a level "
                     "from 0 to 4",
                     (int)len, at);
            return;
        }
        at = at[len] == ':' ? at + len + 1 : NULL;
    }
    for (int module = 0; module < MODULES; module++)
        atomic_store_explicit(&module_levels[module], levels[module], memory_order_relaxed);
}

static void
read_environment(void)
{
    const char *stdout_text = getenv("ASCEND_LOG_PRINT_TO_STDOUT");
    const char *modules = getenv("ASCEND_MODULE_LOG_LEVEL");

    if (stdout_text == NULL)
        stdout_text = getenv("ASCEND_SLOG_PRINT_TO_STDOUT"); /* its older name */
    to_stdout = digit(stdout_text, 1, 0) == 1;
    atomic_store(&global_level, digit(getenv("ASCEND_GLOBAL_LOG_LEVEL"), DLOG_NULL, DLOG_ERROR));
    atomic_store(&events_on, digit(getenv("ASCEND_GLOBAL_EVENT_ENABLE"), 1, 1) == 1);
    for (int module = 0; module < MODULES; module++)
        atomic_store(&module_levels[module], NO_LEVEL);
    if (modules != NULL && modules[0] != '\0')
        read_module_levels(modules);
}

static void
need_environment(void)
{
    (void)pthread_once(&once, read_environment);
}

/* ---- levels ---- */

int32_t
rt_dlog_level(int32_t module, bool *events)
{
    int id = module & MODULE_MASK;
    int level = NO_LEVEL;

    need_environment();
    *events = atomic_load_explicit(&events_on, memory_order_relaxed);
    if (id < MODULES)
        level = atomic_load_explicit(&module_levels[id], memory_order_relaxed);
    return level == NO_LEVEL ? atomic_load_explicit(&global_level, memory_order_relaxed) : level;
}

void
rt_dlog_set_level(int32_t module, int32_t level, bool events)
{
    need_environment();
    atomic_store_explicit(&events_on, events, memory_order_relaxed);
    if (module < 0)
        atomic_store_explicit(&global_level, level, memory_order_relaxed);
    else if ((module & MODULE_MASK) < MODULES)
        atomic_store_explicit(&module_levels[module & MODULE_MASK], level, memory_order_relaxed);
}

static bool
passes(int32_t module, int32_t level)
{
    uint32_t mask = (uint32_t)module & ~(uint32_t)MODULE_MASK;
    bool events;
    int threshold = rt_dlog_level(module, &events);

    if (mask == SECURITY_LOG_MASK || mask == STDOUT_LOG_MASK)
        return true;
    if (level == EVENT)
        return events;
    if (level < DLOG_DEBUG || level >= DLOG_NULL)
        return false;
    return level >= (mask == RUN_LOG_MASK ? DLOG_INFO : threshold);
}

bool
rt_dlog_on(int32_t module, int32_t level)
{
    return module >= 0 && level >= DLOG_DEBUG && level < DLOG_NULL && passes(module, level);
}

/* ---- a line ---- */

static size_t
stamp(char *text, size_t len)
{
    struct timespec now;
    struct tm local;
    size_t used;

    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &local);
    used = strftime(text, len, "%Y-%m-%d-%H:%M:%S", &local);
    snprintf(text + used, len - used, ".%03ld.%03ld", now.tv_nsec / 1000000,
             now.tv_nsec / 1000 % 1000);
    return strlen(text);
}

/* "[LEVEL] MODULE(pid,process):time message\n"; what does not fit is cut off. */
static size_t __attribute__((format(printf, 4, 0)))
compose(char line[MSG_LENGTH], int32_t module, int32_t level, const char *fmt, va_list args)
{
    static const char *const level_names[] = {"DEBUG", "INFO", "WARNING", "ERROR"};
    int id = module & MODULE_MASK;
    char level_text[16], module_text[16], when[64];
    size_t used;
    int len;

    snprintf(level_text, sizeof level_text, "%d", level);
    if (level >= DLOG_DEBUG && level <= DLOG_ERROR)
        snprintf(level_text, sizeof level_text, "%s", level_names[level]);
    else if (level == EVENT)
        snprintf(level_text, sizeof level_text, "EVENT");
    snprintf(module_text, sizeof module_text, "%d", id);
    if (id < MODULES && module_names[id] != NULL)
        snprintf(module_text, sizeof module_text, "%s", module_names[id]);
    (void)stamp(when, sizeof when);
    used = (size_t)snprintf(line, MSG_LENGTH - 1, "[%s] %s(%d,%.64s):%s ", level_text, module_text,
                            (int)getpid(), program_invocation_short_name, when);
    len = vsnprintf(line + used, MSG_LENGTH - 1 - used, fmt, args);
    if (len > 0)
        used = strlen(line);
    if (line[used - 1] != '\n')
        line[used++] = '\n';
    line[used] = '\0';
    return used;
}

static void
tell_listeners(uint32_t type, const char *line, size_t len)
{
    if (in_callback || atomic_load_explicit(&listener_num, memory_order_acquire) == 0)
        return; /* I2 */
    pthread_rwlock_rdlock(&listen_lock);
    in_callback = true;
    for (uint32_t i = 0; i < LISTENERS; i++) {
        if (listeners[i].fn != NULL &&
            (listeners[i].type == type || listeners[i].type == (uint32_t)OUTPUT_TYPE_BOTH))
            (void)listeners[i].fn(listeners[i].arg, type, line, len);
    }
    in_callback = false;
    pthread_rwlock_unlock(&listen_lock);
}

void
rt_dlog_write(int32_t module, int32_t level, const char *fmt, va_list args)
{
    uint32_t mask = (uint32_t)module & ~(uint32_t)MODULE_MASK;
    bool run = mask == RUN_LOG_MASK;
    char line[MSG_LENGTH];
    size_t len;

    if (fmt == NULL || module < 0 || !passes(module, level))
        return;
    len = compose(line, module, level, fmt, args);
    tell_listeners(run ? (uint32_t)OUTPUT_TYPE_RUN : (uint32_t)OUTPUT_TYPE_DEBUG, line, len);
    if (to_stdout || mask == STDOUT_LOG_MASK)
        fputs(line, stdout);
    else if (!run || hc_log_on(level == EVENT ? HC_LOG_INFO : (enum hc_log_level)level))
        fputs(line, stderr);
}

/* ---- listeners ---- */

bool
rt_dlog_listen(acllogRecordCallback fn, void *arg, uint32_t type, acllogCallbackHandle *handle)
{
    uint32_t i = 0;

    if (in_callback)
        return false; /* I2 */
    pthread_rwlock_wrlock(&listen_lock);
    while (i < LISTENERS && listeners[i].fn != NULL)
        i++;
    if (i < LISTENERS) {
        listeners[i] = (struct listener){fn, arg, type, listeners[i].generation + 1};
        *handle = ((acllogCallbackHandle)listeners[i].generation << 8) | (i + 1);
        atomic_fetch_add(&listener_num, 1);
    }
    pthread_rwlock_unlock(&listen_lock);
    return i < LISTENERS;
}

bool
rt_dlog_unlisten(acllogCallbackHandle handle)
{
    uint32_t place = (uint32_t)(handle & 0xFF) - 1;
    bool found;

    if (in_callback || place >= LISTENERS)
        return false; /* I2 */
    pthread_rwlock_wrlock(&listen_lock);
    found = listeners[place].fn != NULL && listeners[place].generation == (uint32_t)(handle >> 8);
    if (found) {
        listeners[place].fn = NULL;
        atomic_fetch_sub(&listener_num, 1);
    }
    pthread_rwlock_unlock(&listen_lock);
    return found;
}
