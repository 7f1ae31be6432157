/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * threads: what a communicator hands out as threads. Pools by engine, threads that wrap a stream,
 * the launch thread. All belong to the communicator and go with it.
 *
 * Asking for N threads gives the first N of the pool, so that two askers share them; a cached
 * thread that lacks notifies is given more.
 */
#include "base/alloc.h"
#include "base/log.h"
#include "comm/comm_object.h"

#define THREADS_MOST COMM_THREADS_MOST /* quotas of one communicator */
#define NOTIFIES_MOST 65536u

static const CommEngine pool_engine[POOL_KINDS] = {
    [POOL_CPU] = COMM_ENGINE_CPU,
    [POOL_CPU_TS] = COMM_ENGINE_CPU_TS,
    [POOL_AICPU] = COMM_ENGINE_AICPU_TS, /* AICPU and AICPU_TS are one engine */
};

static struct comm_pool *
pool_of(struct comm *comm, CommEngine engine)
{
    if (res_engine_on_device(engine))
        return &comm->pools[POOL_AICPU];
    return &comm->pools[engine == COMM_ENGINE_CPU ? POOL_CPU : POOL_CPU_TS];
}

/* Whether `threads` and `notifies` more fit. */
static HcclResult
quota(const struct comm *comm, uint64_t threads, uint64_t notifies)
{
    if (comm->thread_num + threads > THREADS_MOST) {
        LOG_ERROR(COMM, "EI0007: %s: %u threads are there, %llu more are asked for: at most %u go",
                  comm->name, comm->thread_num, (unsigned long long)threads, THREADS_MOST);
        return HCCL_E_UNAVAIL;
    }
    if (comm->notify_num + notifies > NOTIFIES_MOST) {
        LOG_ERROR(COMM, "EI0007: %s: %u notifies are there, %llu more are asked for: at most %u go",
                  comm->name, comm->notify_num, (unsigned long long)notifies, NOTIFIES_MOST);
        return HCCL_E_UNAVAIL;
    }
    return HCCL_SUCCESS;
}

/* Under the lock. */
static HcclResult
make(struct comm *comm, CommEngine engine, aclrtStream stream, uint32_t notify_num,
     struct comm_thread *thread)
{
    struct res_thread_desc desc = {.device = comm->device,
                                   .engine = engine,
                                   .stream = stream,
                                   .notify_num = notify_num,
                                   .group = comm->name,
                                   .rank = comm->rank,
                                   .fate = comm->fate};
    HcclResult rc = quota(comm, 1, notify_num);

    if (rc == HCCL_SUCCESS)
        rc = res_thread_create(&desc, &thread->handle);
    if (rc != HCCL_SUCCESS)
        return rc;
    thread->notify_num = notify_num;
    comm->thread_num++;
    comm->notify_num += notify_num;
    return HCCL_SUCCESS;
}

/* Under the lock. */
static HcclResult
grow(struct comm *comm, struct comm_thread *thread, uint32_t notify_num)
{
    HcclResult rc;

    if (notify_num <= thread->notify_num)
        return HCCL_SUCCESS;
    rc = quota(comm, 0, notify_num - thread->notify_num);
    if (rc == HCCL_SUCCESS)
        rc = res_thread_grow(thread->handle, notify_num);
    if (rc != HCCL_SUCCESS)
        return rc;
    comm->notify_num += notify_num - thread->notify_num;
    thread->notify_num = notify_num;
    return HCCL_SUCCESS;
}

static void
end(struct comm *comm, struct comm_thread *thread)
{
    if (thread->handle == 0)
        return;
    (void)res_thread_destroy(thread->handle);
    comm->thread_num--;
    comm->notify_num -= thread->notify_num;
    thread->handle = 0;
}

static HcclResult
pool_room(struct comm_pool *pool, uint32_t num)
{
    struct comm_thread *threads;

    if (num <= pool->room)
        return HCCL_SUCCESS;
    threads = hc_realloc(pool->threads, num * sizeof *threads);
    if (threads == NULL)
        return HCCL_E_MEMORY;
    pool->threads = threads;
    pool->room = num;
    return HCCL_SUCCESS;
}

HcclResult
threads_acquire(struct comm *comm, CommEngine engine, uint32_t num, const uint32_t *notify_nums,
                ThreadHandle *threads)
{
    struct comm_pool *pool = pool_of(comm, engine);
    HcclResult rc;

    pthread_mutex_lock(&comm->lock);
    rc = quota(comm, num > pool->num ? num - pool->num : 0, 0);
    if (rc == HCCL_SUCCESS)
        rc = pool_room(pool, num);
    for (uint32_t i = 0; i < num && rc == HCCL_SUCCESS; i++) {
        if (i < pool->num) {
            rc = grow(comm, &pool->threads[i], notify_nums[i]);
        } else {
            rc = make(comm, pool_engine[pool - comm->pools], NULL, notify_nums[i],
                      &pool->threads[i]);
            pool->num += rc == HCCL_SUCCESS; /* kept even if a later one fails: it is ours */
        }
    }
    for (uint32_t i = 0; i < num && rc == HCCL_SUCCESS; i++)
        threads[i] = pool->threads[i].handle;
    pthread_mutex_unlock(&comm->lock);
    return rc;
}

static void
wrap_destroy(struct comm *comm, struct comm_wrap *wrap)
{
    hc_list_remove(&wrap->in_comm);
    end(comm, &wrap->thread);
    hc_free(wrap);
}

/* Drops the threads of streams that were destroyed. */
static void
sweep_wraps(struct comm *comm)
{
    HC_LIST_EACH_SAFE (node, &comm->wraps) {
        struct comm_wrap *wrap = HC_CONTAINER(node, struct comm_wrap, in_comm);

        if (!rt_stream_is_live(wrap->stream))
            wrap_destroy(comm, wrap);
    }
}

static HcclResult
wrap_new(struct comm *comm, CommEngine engine, aclrtStream stream, uint32_t notify_num,
         struct comm_wrap **out)
{
    struct comm_wrap *wrap = hc_zalloc(sizeof *wrap);
    HcclResult rc;

    if (wrap == NULL)
        return HCCL_E_MEMORY;
    rc = make(comm, engine, stream, notify_num, &wrap->thread);
    if (rc != HCCL_SUCCESS) {
        hc_free(wrap);
        return rc;
    }
    wrap->stream = stream;
    hc_list_push_back(&comm->wraps, &wrap->in_comm);
    *out = wrap;
    return HCCL_SUCCESS;
}

HcclResult
threads_wrap(struct comm *comm, CommEngine engine, aclrtStream stream, uint32_t notify_num,
             ThreadHandle *thread)
{
    struct comm_wrap *wrap = NULL;
    HcclResult rc;

    pthread_mutex_lock(&comm->lock);
    sweep_wraps(comm);
    HC_LIST_EACH (node, &comm->wraps) {
        if (HC_CONTAINER(node, struct comm_wrap, in_comm)->stream == stream)
            wrap = HC_CONTAINER(node, struct comm_wrap, in_comm);
    }
    if (wrap != NULL)
        rc = grow(comm, &wrap->thread, notify_num);
    else
        rc = wrap_new(comm, engine, stream, notify_num, &wrap);
    if (rc == HCCL_SUCCESS)
        *thread = wrap->thread.handle;
    pthread_mutex_unlock(&comm->lock);
    return rc;
}

HcclResult
threads_launch(struct comm *comm, uint32_t notify_num, ThreadHandle *thread)
{
    HcclResult rc;

    pthread_mutex_lock(&comm->lock);
    if (comm->launch.handle == 0)
        rc = make(comm, COMM_ENGINE_CPU_TS, NULL, notify_num, &comm->launch);
    else
        rc = grow(comm, &comm->launch, notify_num);
    if (rc == HCCL_SUCCESS)
        *thread = comm->launch.handle;
    pthread_mutex_unlock(&comm->lock);
    return rc;
}

ThreadHandle
threads_launch_peek(struct comm *comm)
{
    ThreadHandle thread;

    pthread_mutex_lock(&comm->lock);
    thread = comm->launch.handle;
    pthread_mutex_unlock(&comm->lock);
    return thread;
}

/* Calls fn for each thread until it says false; whether it never did. Under the lock. */
static bool
each_thread(struct comm *comm, bool (*fn)(ThreadHandle thread, void *arg), void *arg)
{
    for (int kind = 0; kind < POOL_KINDS; kind++) {
        for (uint32_t i = 0; i < comm->pools[kind].num; i++) {
            if (!fn(comm->pools[kind].threads[i].handle, arg))
                return false;
        }
    }
    HC_LIST_EACH (node, &comm->wraps) {
        if (!fn(HC_CONTAINER(node, struct comm_wrap, in_comm)->thread.handle, arg))
            return false;
    }
    return comm->launch.handle == 0 || fn(comm->launch.handle, arg);
}

static bool
is_idle(ThreadHandle handle, void *unused)
{
    struct res_thread *thread;
    struct rt_stream *stream;
    aclrtStream stream_handle;
    bool idle = true; /* as what is destroyed is */

    (void)unused;
    if (res_thread_hold(handle, &thread) != HCCL_SUCCESS)
        return true;
    stream_handle = res_thread_stream_handle(thread);
    if (rt_stream_is_live(stream_handle) && rt_stream_hold(stream_handle, &stream) == ACL_SUCCESS) {
        idle = rt_stream_idle(stream);
        rt_stream_release(stream);
    }
    res_thread_release(thread);
    return idle;
}

static bool
is_another(ThreadHandle handle, void *wanted)
{
    return handle != *(const ThreadHandle *)wanted;
}

/* Whether the thread's stream never failed; else *result says how it did first. */
static bool
is_sound(ThreadHandle handle, void *result)
{
    struct res_thread *thread;

    if (res_thread_hold(handle, &thread) != HCCL_SUCCESS)
        return true;
    *(HcclResult *)result = rt_result(rt_stream_first_failure(res_thread_stream_handle(thread)));
    res_thread_release(thread);
    return *(HcclResult *)result == HCCL_SUCCESS;
}

HcclResult
threads_health(struct comm *comm)
{
    HcclResult rc = HCCL_SUCCESS;

    pthread_mutex_lock(&comm->lock);
    (void)each_thread(comm, is_sound, &rc);
    pthread_mutex_unlock(&comm->lock);
    return rc;
}

bool
threads_idle(struct comm *comm)
{
    bool idle;

    pthread_mutex_lock(&comm->lock);
    idle = each_thread(comm, is_idle, NULL);
    pthread_mutex_unlock(&comm->lock);
    return idle;
}

bool
threads_know(struct comm *comm, ThreadHandle thread)
{
    bool known;

    pthread_mutex_lock(&comm->lock);
    known = !each_thread(comm, is_another, &thread);
    pthread_mutex_unlock(&comm->lock);
    return known;
}

void
threads_fini(struct comm *comm)
{
    HC_LIST_EACH_SAFE (node, &comm->wraps)
        wrap_destroy(comm, HC_CONTAINER(node, struct comm_wrap, in_comm));
    for (int kind = 0; kind < POOL_KINDS; kind++) {
        for (uint32_t i = 0; i < comm->pools[kind].num; i++)
            end(comm, &comm->pools[kind].threads[i]);
        hc_free(comm->pools[kind].threads);
    }
    end(comm, &comm->launch);
}
