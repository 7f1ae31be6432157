/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stall: says who waits for what, in seconds instead of half an hour.
 *
 * A wait that is merely long (knob STALL_WARN_S) gets one line. A deadlock is reported at once and
 * fails the parked streams, but only when it is proven: nothing is ready or running, no AICPU
 * thread is at work, nothing outside the process can help, and every thread of the process either
 * is an idle thread of ours, or sleeps in an untimed futex wait (for a stream, a join, a mutex, a
 * condition variable) in memory that no other process shares, so that nobody is left who could
 * queue the record that is missing.
 *
 * Threads are looked at one after the other, and one may wake another in between. So two looks
 * half a second apart must agree, with no task run in between and each thread in the very sleep in
 * which the first look found it: then there was a time when all slept. A look sees the sleep first,
 * then how often the thread went to sleep so far.
 *
 * Everything here runs on the timer thread alone.
 */
#define _GNU_SOURCE
#include "runtime/stall.h"

#include <dirent.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fnv.h"
#include "base/knobs.h"
#include "base/log.h"
#include "runtime/aicpu.h"
#include "runtime/sched.h"
#include "runtime/stream.h"

#define SOON_NS 120000000000u /* a wait with less to go is left to its own limit */
#define DESCRIBED_MOST 32     /* streams named in a deadlock's message */

static atomic_int outside; /* reasons why somebody outside may help */

static bool knobs_read, deadlock_fails;
static int64_t warn_s;
static uint64_t last_progress, last_sleeps; /* at the last look, if it could be a deadlock */
static bool last_suspect;

void
rt_outside_add(int delta)
{
    atomic_fetch_add(&outside, delta);
}

static void
read_knobs(void)
{
    int choice;

    if (knobs_read)
        return;
    (void)hc_knob_int(KNOB_STALL_WARN_S, &warn_s);
    (void)hc_knob_enum(KNOB_DEADLOCK, &choice);
    deadlock_fails = choice == 0;
    knobs_read = true;
}

/* "stream 3 of device 1 (rank 1 of g) has waited 12 s: wait for notify ..."; while claimed. */
static void
describe(struct rt_stream *stream, char *text, size_t len)
{
    char name[160], task[400];

    rt_stream_describe_head(stream, task, sizeof task);
    rt_stream_name(stream, name, sizeof name);
    snprintf(text, len, "%s has waited %llu s: %s", name,
             (unsigned long long)rt_stream_waited_ms(stream) / 1000u, task);
}

static void
warn_if_long(struct rt_stream *stream)
{
    char text[800];
    bool say;

    if (warn_s == 0 || rt_stream_waited_ms(stream) < (uint64_t)warn_s * 1000u ||
        !rt_stream_claim(stream))
        return;
    say = !stream->stall_said && rt_stream_waited_ms(stream) >= (uint64_t)warn_s * 1000u;
    if (say) {
        stream->stall_said = true;
        describe(stream, text, sizeof text);
    }
    rt_stream_unclaim(stream);
    if (say)
        LOG_WARN(RT, "%s", text);
}

/* Whether another process may write to the address. */
static bool
in_shared_memory(unsigned long address)
{
    FILE *file = fopen("/proc/self/maps", "re");
    unsigned long from, to;
    char line[512], mode[5];
    bool shared = true;

    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "%lx-%lx %4s", &from, &to, mode) == 3 && from <= address && address < to)
            shared = mode[3] == 's';
    }
    if (file != NULL)
        fclose(file);
    return shared;
}

/* Whether the thread sleeps in a futex wait that only another thread of the process can end. */
static bool
sleeps_on_futex(const char *tid)
{
    char path[64], line[256] = "";
    unsigned long number = 0, args[4] = {0};
    FILE *file;
    bool good = false;

    snprintf(path, sizeof path, "/proc/self/task/%.16s/syscall", tid);
    file = fopen(path, "re");
    if (file == NULL)
        return false;
    if (fgets(line, sizeof line, file) != NULL &&
        sscanf(line, "%lu %lx %lx %lx %lx", &number, &args[0], &args[1], &args[2], &args[3]) == 5)
        good = number == SYS_futex && args[3] == 0; /* no time limit */
    fclose(file);
    if (good && (args[1] & FUTEX_PRIVATE_FLAG) == 0) /* a join, or something between processes */
        good = !in_shared_memory(args[0]);
    return good;
}

/* How often the thread went to sleep so far; 0: it is gone. */
static uint64_t
sleeps_of(const char *tid)
{
    static const char mark[] = "voluntary_ctxt_switches:";
    unsigned long long count = 0;
    char path[64], line[256];
    FILE *file;

    snprintf(path, sizeof path, "/proc/self/task/%.16s/status", tid);
    file = fopen(path, "re");
    if (file == NULL)
        return 0;
    while (fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, mark, sizeof mark - 1) == 0)
            count = strtoull(line + sizeof mark - 1, NULL, 10);
    }
    fclose(file);
    return count;
}

/* Every thread but this one waits for another, and some for a stream. *sleeps: stands for which
 * threads sleep, and in which of their sleeps. */
static bool
all_threads_wait(uint64_t *sleeps)
{
    DIR *dir = opendir("/proc/self/task");
    bool all = true, waiters = false;
    struct dirent *entry;

    if (dir == NULL)
        return false;
    *sleeps = HC_FNV_START;
    while (all && (entry = readdir(dir)) != NULL) {
        enum rt_thread_state state;
        uint64_t count;

        if (entry->d_name[0] == '.')
            continue;
        state = rt_sched_thread_state(atoi(entry->d_name));
        if (state == RT_THREAD_IDLE)
            continue;
        waiters = waiters || state == RT_THREAD_WAITS;
        all = (state == RT_THREAD_WAITS || state == RT_THREAD_STRANGE) &&
              sleeps_on_futex(entry->d_name);
        count = sleeps_of(entry->d_name);
        *sleeps = hc_fnv(*sleeps, entry->d_name, strlen(entry->d_name));
        *sleeps = hc_fnv(*sleeps, &count, sizeof count);
    }
    closedir(dir);
    return all && waiters;
}

/* Calls act() for every parked stream, claimed; how many there were. */
static uint32_t
each_parked(void (*act)(struct rt_stream *stream, const char *waits, uint32_t nth))
{
    uint32_t num = atomic_load(&rt_stream_table.used);
    uint32_t count = 0;

    for (uint32_t id = 0; id < num; id++) {
        struct rt_stream *stream = hc_handle_hold_index(&rt_stream_table, id);
        char waits[480];

        if (stream == NULL)
            continue;
        if (rt_stream_claim(stream)) {
            describe(stream, waits, sizeof waits);
            act(stream, waits, count++);
            rt_stream_unclaim(stream);
        }
        rt_stream_release(stream);
    }
    return count;
}

static void
name_parked(struct rt_stream *stream, const char *waits, uint32_t nth)
{
    (void)stream;
    if (nth < DESCRIBED_MOST)
        LOG_WARN(RT, "deadlock: %s", waits);
}

static void
fail_parked(struct rt_stream *stream, const char *waits, uint32_t nth)
{
    char text[600];

    (void)nth;
    snprintf(text, sizeof text,
             "deadlock: every thread of the process waits and nothing is left that could end it; "
             "%.470s",
             waits);
    rt_stream_condemn(stream, ACL_ERROR_RT_TASK_TIMEOUT, text);
}

/* Names all, then fails them: the program may end as soon as the first one fails. */
static void
report_deadlock(void)
{
    uint32_t named = each_parked(name_parked);

    if (named > DESCRIBED_MOST)
        LOG_WARN(RT, "deadlock: and %u more streams wait", named - DESCRIBED_MOST);
    (void)each_parked(fail_parked);
}

/* Whether a wait ends by a limit that its caller set short: then things move by themselves, and the
 * limit is what was asked for. */
static bool
some_wait_ends_soon(uint64_t now_ns)
{
    uint32_t num = atomic_load(&rt_stream_table.used);
    bool soon = false;

    for (uint32_t id = 0; id < num && !soon; id++) {
        struct rt_stream *stream = hc_handle_hold_index(&rt_stream_table, id);

        if (stream == NULL)
            continue;
        soon = atomic_load(&stream->state) == RT_PARKED &&
               atomic_load_explicit(&stream->wake_at, memory_order_relaxed) < now_ns + SOON_NS;
        rt_stream_release(stream);
    }
    return soon;
}

static void
look_for_deadlock(uint64_t now_ns)
{
    uint64_t progress, after, sleeps = 0;
    bool suspect = rt_sched_quiet(&progress) && atomic_load(&outside) == 0 && !rt_aicpu_queued() &&
                   !some_wait_ends_soon(now_ns) && all_threads_wait(&sleeps) &&
                   rt_sched_quiet(&after) && after == progress;

    if (suspect && last_suspect && progress == last_progress && sleeps == last_sleeps) {
        last_suspect = false;
        report_deadlock();
        return;
    }
    last_suspect = suspect;
    last_progress = progress;
    last_sleeps = sleeps;
}

void
rt_stall_look(uint64_t now_ns)
{
    static uint64_t last_look;
    uint32_t num = atomic_load(&rt_stream_table.used);

    if (now_ns - last_look < RT_STALL_LOOK_NS / 10 * 9)
        return; /* a look for a short deadline came in between */
    last_look = now_ns;
    read_knobs();
    for (uint32_t id = 0; id < num; id++) {
        struct rt_stream *stream = hc_handle_hold_index(&rt_stream_table, id);

        if (stream == NULL)
            continue;
        warn_if_long(stream);
        rt_stream_release(stream);
    }
    if (deadlock_fails)
        look_for_deadlock(now_ns);
}
