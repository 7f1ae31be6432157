/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * batch: tasks that a thread stages, and publishes together.
 *
 * All state is the calling thread's own. A staged task's stream is held until it is published.
 */
#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "runtime/graph.h"
#include "runtime/stream.h"

struct staged {
    struct rt_task task;
    struct rt_stream *stream; /* held */
};

static struct batch {
    bool open;
    struct staged *tasks; /* [num of room] */
    uint32_t num, room;
} none;

static _Thread_local struct batch batch;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key;

static void
batch_end_of_thread(void *arg)
{
    (void)arg;
    (void)rt_batch_abandon();
}

static void
make_key(void)
{
    (void)pthread_key_create(&key, batch_end_of_thread);
}

bool
rt_batch_begin(void)
{
    if (batch.open)
        return false;
    (void)pthread_once(&key_once, make_key);
    (void)pthread_setspecific(key, &batch); /* a thread that ends inside a batch drops it */
    batch.open = true;
    return true;
}

static void
drop(struct staged *staged)
{
    if (staged->task.ops->drop != NULL)
        staged->task.ops->drop(&staged->task, false);
}

static aclError
stage(struct rt_stream *stream, const struct rt_task *task)
{
    struct staged fresh = {.task = *task, .stream = stream};

    if (batch.num == batch.room) {
        uint32_t room = batch.room == 0 ? 32 : batch.room * 2;
        struct staged *grown = hc_realloc(batch.tasks, room * sizeof *grown);

        if (grown == NULL) {
            drop(&fresh);
            return rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
        }
        batch.tasks = grown;
        batch.room = room;
    }
    hc_handle_hold_more(&rt_stream_table, (uint64_t)(uintptr_t)stream->handle);
    batch.tasks[batch.num++] = fresh;
    return ACL_SUCCESS;
}

aclError
rt_stream_push(struct rt_stream *stream, const struct rt_task *task)
{
    if (atomic_load_explicit(&stream->capture, memory_order_relaxed) != NULL && !rt_on_aicpu())
        return rt_capture_record(stream, task); /* graph.h, G6 */
    return batch.open ? stage(stream, task) : rt_stream_enqueue(stream, task);
}

bool
rt_batch_is_open(void)
{
    return batch.open;
}

static void
batch_close(void)
{
    hc_free(batch.tasks);
    batch = none;
}

aclError
rt_batch_end(void)
{
    aclError rc = ACL_SUCCESS;

    for (uint32_t i = 0; i < batch.num; i++) {
        struct staged *staged = &batch.tasks[i];

        if (rc == ACL_SUCCESS)
            rc = rt_stream_enqueue(staged->stream, &staged->task);
        else
            drop(staged); /* it may depend on the one that was refused */
        rt_stream_release(staged->stream);
    }
    batch_close();
    return rc;
}

uint32_t
rt_batch_abandon(void)
{
    uint32_t num = batch.num;

    for (uint32_t i = 0; i < num; i++) {
        drop(&batch.tasks[i]);
        rt_stream_release(batch.tasks[i].stream);
    }
    batch_close();
    return num;
}
