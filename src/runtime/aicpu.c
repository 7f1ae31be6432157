/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * aicpu: threads for kernels and host functions, which may block for long.
 *
 * The pool is elastic. A job gets an idle thread; else a new one, if fewer threads are at work than
 * there are cores, not counting those that told us they block; else it waits in the queue, and if
 * no job was taken for PATIENCE_NS, times the threads at work, the timer adds a thread (a kernel
 * that polls memory does not tell). A thread that has been idle for RETIRE_NS ends. So kernels that
 * wait for each other always get their threads, and a thousand that only issue tasks share a few,
 * also when each has to load its library first and all wait for that one after the other. A job
 * that ends its thread (pthread_exit) costs that thread and nothing else.
 *
 * All fields are under `lock`. Threads are detached: they end by retiring or with the process.
 */
#include <pthread.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "runtime/aicpu.h"
#include "runtime/sched.h"
#include "runtime/timer.h"

#define PATIENCE_NS 1000000u
#define PATIENCE_MOST 50u /* times PATIENCE_NS */
#define RETIRE_NS 1000000000u
#define THREADS_MOST 8192u

static struct {
    pthread_mutex_t lock;
    pthread_cond_t work; /* CLOCK_MONOTONIC; set up with the first thread */
    struct rt_job *first, **last;
    uint64_t waits_since; /* since when no job was taken; 0: the queue is empty */
    uint32_t threads, idle, blocked;
    uint32_t cores;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .last = &pool.first};

static _Thread_local bool is_pool_thread;
static _Thread_local int block_depth;

/* The first job, under the lock; NULL: none. */
static struct rt_job *
take_job(void)
{
    struct rt_job *job = pool.first;

    if (job == NULL)
        return NULL;
    pool.first = job->next;
    if (pool.first == NULL)
        pool.last = &pool.first;
    pool.waits_since = pool.first == NULL ? 0 : hc_now_ns();
    return job;
}

/* Waits for work, under the lock; NULL: nothing came for so long that the thread retires. */
static struct rt_job *
await_job(void)
{
    uint64_t until = hc_now_ns() + RETIRE_NS;
    struct timespec at = {.tv_sec = (time_t)(until / 1000000000u),
                          .tv_nsec = (long)(until % 1000000000u)};
    struct rt_job *job;

    pool.idle++;
    rt_sched_ours_idle(true);
    while ((job = take_job()) == NULL) {
        if (pthread_cond_timedwait(&pool.work, &pool.lock, &at) != 0)
            break;
    }
    if (job == NULL)
        job = take_job();
    rt_sched_ours_idle(false);
    pool.idle--;
    return job;
}

static void
do_jobs(void)
{
    struct rt_job *job;

    pthread_mutex_lock(&pool.lock);
    while ((job = await_job()) != NULL) {
        pthread_mutex_unlock(&pool.lock);
        job->fn(job);
        pthread_mutex_lock(&pool.lock);
    }
    pthread_mutex_unlock(&pool.lock);
}

static void
thread_ends(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&pool.lock);
    pool.threads--;
    pool.blocked -= block_depth > 0;
    pthread_mutex_unlock(&pool.lock);
    rt_sched_ours_end();
}

static void *
pool_main(void *arg)
{
    (void)arg;
    (void)hc_cancel_off(); /* a kernel that cancels itself must not end us under the lock */
    is_pool_thread = true;
    rt_sched_ours_begin();
    pthread_cleanup_push(thread_ends, NULL); /* a kernel may call pthread_exit */
    do_jobs();
    pthread_cleanup_pop(1);
    return NULL;
}

static void
set_up(void)
{
    pthread_condattr_t attr;

    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&pool.work, &attr);
    pthread_condattr_destroy(&attr);
    pool.cores = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
}

/* One thread more, under the lock. false (logged): the system gives none. */
static bool
add_thread(void)
{
    int rc;

    if (pool.threads == THREADS_MOST)
        return false;
    rc = hc_thread_start(pool_main, NULL);
    if (rc != 0) {
        LOG_WARN(RT, "cannot add an AICPU thread to the %u there are (error %d)", pool.threads, rc);
        return false;
    }
    pool.threads++;
    return true;
}

/* When a thread is added, if no job is taken until then. Under the lock. */
static uint64_t
patience_ends(void)
{
    uint32_t busy = pool.threads - pool.idle;
    uint32_t times = busy < 1 ? 1 : busy;

    return pool.waits_since + PATIENCE_NS * (times < PATIENCE_MOST ? times : PATIENCE_MOST);
}

/* Under the lock, when jobs wait: wake or add a thread. */
static void
find_thread(bool patience_is_over)
{
    uint32_t busy = pool.threads - pool.idle;

    if (pool.idle > 0)
        pthread_cond_signal(&pool.work);
    else if (patience_is_over || busy - pool.blocked < pool.cores)
        (void)add_thread();
    if (pool.waits_since != 0)
        rt_timer_arm(patience_ends());
}

aclError
rt_aicpu_submit(struct rt_job *job)
{
    job->next = NULL;
    pthread_mutex_lock(&pool.lock);
    if (pool.cores == 0)
        set_up();
    if (pool.threads == 0 && !add_thread()) {
        pthread_mutex_unlock(&pool.lock);
        return rt_fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
                       "no AICPU thread can be started: raise the "
                       "limit of threads (ulimit -u)");
    }
    *pool.last = job;
    pool.last = &job->next;
    if (pool.waits_since == 0)
        pool.waits_since = hc_now_ns();
    find_thread(false);
    pthread_mutex_unlock(&pool.lock);
    return ACL_SUCCESS;
}

uint64_t
rt_aicpu_look(uint64_t now_ns)
{
    uint64_t next = HC_FOREVER;

    pthread_mutex_lock(&pool.lock);
    if (pool.first != NULL) {
        if (now_ns >= patience_ends()) {
            pool.waits_since = now_ns;
            find_thread(true);
        }
        next = patience_ends();
    }
    pthread_mutex_unlock(&pool.lock);
    return next;
}

bool
rt_aicpu_queued(void)
{
    bool queued;

    pthread_mutex_lock(&pool.lock);
    queued = pool.first != NULL;
    pthread_mutex_unlock(&pool.lock);
    return queued;
}

void
rt_block_begin(void)
{
    if (!is_pool_thread || block_depth++ > 0)
        return;
    pthread_mutex_lock(&pool.lock);
    pool.blocked++;
    if (pool.first != NULL)
        find_thread(false);
    pthread_mutex_unlock(&pool.lock);
}

void
rt_block_end(void)
{
    if (!is_pool_thread || --block_depth > 0)
        return;
    pthread_mutex_lock(&pool.lock);
    pool.blocked--;
    pthread_mutex_unlock(&pool.lock);
}
