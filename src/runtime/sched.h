/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sched: which thread runs which stream (inside this layer only).
 */
#ifndef HC_RUNTIME_SCHED_H
#define HC_RUNTIME_SCHED_H

#include "base/list.h"
#include "runtime/runtime.h"
#include "runtime/spin.h"

/* A thread that can run streams: one that waits (drives), or one of the library's own. */
struct rt_executor {
    _Atomic uint32_t signal;   /* 1: look again; futex word */
    struct hc_list idle;       /* under the scheduler's lock */
    struct hc_list registered; /* under the scheduler's lock: drivers, and our own threads */
    struct hc_list poked;      /* under the poke lock: in rt_wait_until */
    int tid;                   /* set when it registers */
    uint32_t depth;            /* only itself: times it is active; a task's callback may wait */
    bool worker;               /* only itself */
    bool naps;                 /* under the scheduler's lock: a worker that will look by itself */
    uint64_t nap_ns;           /* only itself: a worker's next nap */
    bool ours;                 /* only itself: a thread of the library */
    atomic_bool ours_idle;     /* a thread of the library that waits for work */
    atomic_bool drives;        /* in rt_sched_drive */
    atomic_bool untimed;       /* and without a deadline */
    struct rt_spin spin;       /* only itself */
};

/* Puts a READY stream, held for the queue, where an executor finds it; wakes one if need be. */
void rt_sched_enqueue(struct rt_stream *stream);

/* The calling thread's executor. It lives as long as the thread. */
struct rt_executor *rt_sched_self(void);

/* Whether some stream is ready, without the lock: a hint for those who spin. */
bool rt_sched_any_ready(void);

/* Cores that the process may run on. */
uint32_t rt_sched_cores(void);

/* Makes a sleeping executor look again. */
void rt_sched_signal(struct rt_executor *executor);

/* As rt_wait_until, for a condition whose maker signals this thread's executor itself. */
bool rt_sched_drive(bool (*done)(void *arg), void *arg, uint64_t deadline_ns);

/* Brackets the life of a thread of the library; and, inside, its waits for work. */
void rt_sched_ours_begin(void);
void rt_sched_ours_end(void);
void rt_sched_ours_idle(bool idle);

/* For the deadlock proof: nothing is ready and nothing runs. `progress` changes with every batch
 * of tasks that runs. */
bool rt_sched_quiet(uint64_t *progress);

/* For the deadlock proof: what thread `tid` does. */
enum rt_thread_state {
    RT_THREAD_STRANGE,     /* not known here */
    RT_THREAD_WAITS,       /* drives, without a deadline */
    RT_THREAD_WAITS_TIMED, /* drives, and will go on by itself */
    RT_THREAD_IDLE,        /* the library's own, waiting for work */
    RT_THREAD_BUSY,        /* the library's own, at work */
};
enum rt_thread_state rt_sched_thread_state(int tid);

#endif
