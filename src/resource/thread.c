/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thread: a stream and its notifies.
 *
 * A thread either owns a stream or wraps one of the user's, and then its tasks stand in the same
 * queue as the user's own. A soft NPU's device and host are one process, so a handle means the
 * same on both sides: exporting a thread to another engine is giving out the same number.
 *
 * Threads are many and notifies more (a thousand devices, several threads each, tens of notifies),
 * most of them never used: a notify is made when it is first asked for.
 *
 * I1  The thread holds its stream, so the pointer stays good even if the user destroys the stream;
 *     whether it is still open is asked at each use.
 * I2  `notifies` has `room` places and grows under `lock`; an rt_notify stays where it is until the
 *     thread ends, so a pointer to one is good while the thread is held.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/handle.h"
#include "base/log.h"
#include "resource/resource.h"

struct res_thread {
    uint64_t handle;
    int32_t device;
    CommEngine engine;
    uint32_t rank;
    char *group;          /* NULL: none */
    struct rt_fate *fate; /* held; NULL: none */
    bool owns_stream;
    aclrtStream stream_handle;
    struct rt_stream *stream;    /* held: I1; NULL: half made */
    pthread_mutex_t lock;        /* no other is taken under it but the runtime's */
    struct rt_notify **notifies; /* [room]; I2; under `lock` */
    uint32_t room;               /* under `lock` */
    uint32_t notify_num;         /* acquired so far; under `lock` */
};

static void thread_fini(void *obj);

static struct hc_table thread_table = HC_TABLE("thread", HC_KIND_THREAD, thread_fini);

static HcclResult
thread_open_stream(struct res_thread *thread, aclrtStream given)
{
    aclError rc;

    thread->stream_handle = given;
    if (given == NULL) {
        rc = rt_stream_open(thread->device, &thread->stream_handle);
        if (rc != ACL_SUCCESS)
            return rt_result(rc);
        thread->owns_stream = true;
    }
    return rt_result(rt_stream_hold(thread->stream_handle, &thread->stream));
}

/* "thread 5 (AICPU_TS) of rank 3 in g" */
static void
thread_name(const struct res_thread *thread, char *text, size_t len)
{
    if (thread->group == NULL)
        snprintf(text, len, "thread %u (%s)", hc_handle_index(thread->handle),
                 res_engine_name(thread->engine));
    else
        snprintf(text, len, "thread %u (%s) of rank %u in %.60s", hc_handle_index(thread->handle),
                 res_engine_name(thread->engine), thread->rank, thread->group);
}

HcclResult
res_thread_create(const struct res_thread_desc *desc, ThreadHandle *handle)
{
    struct res_thread *thread = hc_zalloc(sizeof *thread);
    HcclResult rc = HCCL_E_MEMORY;
    char name[160];

    if (thread == NULL)
        return HCCL_E_MEMORY;
    pthread_mutex_init(&thread->lock, NULL);
    thread->device = desc->device;
    thread->engine = desc->engine;
    thread->rank = desc->rank;
    thread->notify_num = desc->notify_num;
    thread->fate = desc->fate;
    if (thread->fate != NULL)
        rt_fate_hold(thread->fate);
    if (desc->group != NULL) {
        thread->group = hc_strdup(desc->group);
        if (thread->group == NULL)
            goto fail;
    }
    rc = thread_open_stream(thread, desc->stream);
    if (rc != HCCL_SUCCESS)
        goto fail;
    thread->handle = hc_handle_open(&thread_table, thread);
    if (thread->handle == 0) {
        rc = HCCL_E_MEMORY;
        goto fail;
    }
    thread_name(thread, name, sizeof name);
    rt_stream_set_label(thread->stream, name);
    *handle = thread->handle;
    return HCCL_SUCCESS;

fail:
    thread_fini(thread);
    return rc;
}

static void
thread_fini(void *obj)
{
    struct res_thread *thread = obj;

    for (uint32_t i = 0; i < thread->room; i++)
        rt_notify_destroy(thread->notifies[i]);
    hc_free(thread->notifies);
    if (thread->owns_stream)
        rt_stream_close(thread->stream_handle);
    if (thread->stream != NULL)
        rt_stream_release(thread->stream);
    rt_fate_release(thread->fate);
    pthread_mutex_destroy(&thread->lock);
    hc_free(thread->group);
    hc_free(thread);
}

HcclResult
res_thread_hold(ThreadHandle handle, struct res_thread **thread)
{
    if (handle == 0) {
        LOG_ERROR(
            RES,
            "thread handle is 0: a thread from HcclThreadAcquire or HcommThreadAlloc is needed");
        return HCCL_E_PTR;
    }
    *thread = hc_handle_hold(&thread_table, handle);
    if (*thread == NULL) {
        LOG_ERROR(RES, "thread handle 0x%llx is not a live thread: it is %s",
                  (unsigned long long)handle, hc_handle_guess(&thread_table, handle));
        return HCCL_E_NOT_FOUND;
    }
    return HCCL_SUCCESS;
}

void
res_thread_release(struct res_thread *thread)
{
    hc_handle_release(&thread_table, thread->handle);
}

HcclResult
res_thread_destroy(ThreadHandle handle)
{
    struct res_thread *thread;
    HcclResult rc = res_thread_hold(handle, &thread);

    if (rc != HCCL_SUCCESS)
        return rc;
    if (!hc_handle_close(&thread_table, handle)) {
        LOG_ERROR(RES, "thread handle 0x%llx was destroyed twice at once",
                  (unsigned long long)handle);
        rc = HCCL_E_NOT_FOUND;
    } else if (thread->owns_stream) {
        rt_stream_close(thread->stream_handle); /* its tasks first, whoever else holds the thread */
    }
    res_thread_release(thread);
    return rc;
}

/* ---- notifies ---- */

HcclResult
res_thread_grow(ThreadHandle handle, uint32_t notify_num)
{
    struct res_thread *thread;
    HcclResult rc = res_thread_hold(handle, &thread);

    if (rc != HCCL_SUCCESS)
        return rc;
    pthread_mutex_lock(&thread->lock);
    if (notify_num > thread->notify_num)
        thread->notify_num = notify_num;
    pthread_mutex_unlock(&thread->lock);
    res_thread_release(thread);
    return HCCL_SUCCESS;
}

/* Places for all notifies that were acquired, under the lock. */
static bool
make_room(struct res_thread *thread)
{
    struct rt_notify **grown;

    if (thread->room >= thread->notify_num)
        return true;
    grown = hc_calloc(thread->notify_num, sizeof *grown);
    if (grown == NULL)
        return false;
    if (thread->room > 0)
        memcpy(grown, thread->notifies, thread->room * sizeof *grown);
    hc_free(thread->notifies);
    thread->notifies = grown;
    thread->room = thread->notify_num;
    return true;
}

/* The notify in its place, made if need be; under the lock. NULL (logged): no memory. */
static struct rt_notify *
get_notify(struct res_thread *thread, uint32_t index)
{
    char name[160], what[200], expect[48];
    struct rt_notify_origin origin = {.what = what, .expect = expect, .fate = thread->fate};

    if (!make_room(thread))
        return NULL;
    if (thread->notifies[index] == NULL) {
        thread_name(thread, name, sizeof name);
        snprintf(what, sizeof what, "notify %u of %s", index, name);
        if (thread->group != NULL)
            snprintf(expect, sizeof expect, "a thread of rank %u", thread->rank);
        else
            snprintf(expect, sizeof expect, "a thread of device %d", thread->device);
        (void)rt_notify_create(thread->device, &origin, &thread->notifies[index]); /* it logs */
    }
    return thread->notifies[index];
}

struct rt_notify *
res_thread_notify(struct res_thread *thread, uint32_t index)
{
    struct rt_notify *notify = NULL;
    char name[160];
    uint32_t num;

    pthread_mutex_lock(&thread->lock);
    num = thread->notify_num;
    if (index < num)
        notify = get_notify(thread, index);
    pthread_mutex_unlock(&thread->lock);
    if (index >= num) {
        thread_name(thread, name, sizeof name);
        LOG_ERROR(RES, "notify %u does not exist: %s has %u, numbered from 0", index, name, num);
    }
    return notify;
}

/* ---- what it is ---- */

struct rt_stream *
res_thread_stream(struct res_thread *thread)
{
    struct rt_stream *stream;

    if (rt_stream_hold(thread->stream_handle, &stream) != ACL_SUCCESS)
        return NULL;
    rt_stream_release(stream); /* I1 */
    return thread->stream;
}

aclrtStream
res_thread_stream_handle(const struct res_thread *thread)
{
    return thread->stream_handle;
}

CommEngine
res_thread_engine(const struct res_thread *thread)
{
    return thread->engine;
}

bool
res_thread_in_group(const struct res_thread *thread)
{
    return thread->group != NULL;
}

uint32_t
res_thread_notify_num(struct res_thread *thread)
{
    uint32_t num;

    pthread_mutex_lock(&thread->lock);
    num = thread->notify_num;
    pthread_mutex_unlock(&thread->lock);
    return num;
}

ThreadHandle
res_thread_of_stream(uint32_t id)
{
    uint32_t num = atomic_load(&thread_table.used);
    ThreadHandle found = 0;

    for (uint32_t i = 0; i < num && found == 0; i++) {
        struct res_thread *thread = hc_handle_hold_index(&thread_table, i);

        if (thread == NULL)
            continue;
        if (rt_stream_id(thread->stream) == id)
            found = thread->handle;
        res_thread_release(thread);
    }
    return found;
}
