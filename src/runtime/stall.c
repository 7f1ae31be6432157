/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stall: says who waits for what, in seconds instead of half an hour.
 *
 * A wait that is merely long (knob STALL_WARN_S) gets one line. A deadlock is reported at once and
 * fails the parked streams, but only when it is proven: nothing is ready or running, no AICPU
 * thread is at work, nothing outside the process can help, and every thread of the process either
 * waits here without a deadline, or is an idle thread of ours, or sleeps in an untimed futex wait
 * (a join, a mutex, a condition variable), so that nobody is left who could queue the record that
 * is missing. Two looks a second apart must agree, with no task run in between.
 *
 * Everything here runs on the timer thread alone.
 */
#define _GNU_SOURCE
#include "runtime/stall.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/knobs.h"
#include "base/log.h"
#include "runtime/sched.h"
#include "runtime/stream.h"

#define DESCRIBED_MOST 8 /* streams named in a deadlock's message */

static atomic_int outside; /* reasons why somebody outside may help */

static bool knobs_read, deadlock_fails;
static int64_t warn_s;
static uint64_t last_progress; /* at the last look, if it could have been a deadlock */
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

/* "stream 3 of device 1 (rank 1 of g) has waited 12 s: wait for notify ..."; false: not parked. */
static bool
describe(struct rt_stream *stream, char *text, size_t len)
{
    char name[160], task[240];

    if (!rt_stream_claim(stream))
        return false;
    rt_stream_describe_head(stream, task, sizeof task);
    rt_stream_name(stream, name, sizeof name);
    snprintf(text, len, "%s has waited %llu s: %s", name,
             (unsigned long long)rt_stream_waited_ms(stream) / 1000u, task);
    rt_stream_unclaim(stream);
    return true;
}

static void
warn_if_long(struct rt_stream *stream)
{
    char text[800];

    if (warn_s == 0 || rt_stream_waited_ms(stream) < (uint64_t)warn_s * 1000u ||
        !rt_stream_claim(stream))
        return;
    if (!stream->stall_said) {
        stream->stall_said = true;
        rt_stream_unclaim(stream);
        if (describe(stream, text, sizeof text))
            LOG_WARN(RT, "%s", text);
        return;
    }
    rt_stream_unclaim(stream);
}

/* Whether the thread sleeps in a futex wait that only another thread can end. */
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
    return good;
}

/* Every thread but this one waits for another; *waiters: some wait here, for a stream. */
static bool
all_threads_wait(void)
{
    DIR *dir = opendir("/proc/self/task");
    bool all = true, waiters = false;
    struct dirent *entry;

    if (dir == NULL)
        return false;
    while (all && (entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        switch (rt_sched_thread_state(atoi(entry->d_name))) {
        case RT_THREAD_WAITS:
            waiters = true;
            break;
        case RT_THREAD_IDLE:
            break;
        case RT_THREAD_STRANGE:
            all = sleeps_on_futex(entry->d_name);
            break;
        default:
            all = false;
            break;
        }
    }
    closedir(dir);
    return all && waiters;
}

/* Names the parked streams, then fails them. */
static void
report_deadlock(void)
{
    uint32_t num = atomic_load(&rt_stream_table.used);
    uint32_t said = 0;

    for (uint32_t id = 0; id < num; id++) {
        struct rt_stream *stream = hc_handle_hold_index(&rt_stream_table, id);
        char waits[480], text[600];

        if (stream == NULL)
            continue;
        if (describe(stream, waits, sizeof waits)) {
            snprintf(text, sizeof text, "deadlock: every thread of the process waits and nothing is "
                     "left that could end it; %.470s", waits);
            if (said++ < DESCRIBED_MOST)
                LOG_WARN(RT, "deadlock: %s", waits);
            rt_stream_condemn(stream, ACL_ERROR_RT_TASK_TIMEOUT, text);
        }
        rt_stream_release(stream);
    }
    if (said > DESCRIBED_MOST)
        LOG_WARN(RT, "deadlock: and %u more streams wait", said - DESCRIBED_MOST);
}

static void
look_for_deadlock(void)
{
    uint64_t progress;
    bool suspect = rt_sched_quiet(&progress) && atomic_load(&outside) == 0;

    if (suspect && last_suspect && progress == last_progress && all_threads_wait() &&
        rt_sched_quiet(&last_progress) && last_progress == progress) {
        last_suspect = false;
        report_deadlock();
        return;
    }
    last_suspect = suspect;
    last_progress = progress;
}

void
rt_stall_look(uint64_t now_ns)
{
    static uint64_t last_look;
    uint32_t num = atomic_load(&rt_stream_table.used);

    if (now_ns - last_look < 900000000u)
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
        look_for_deadlock();
}
