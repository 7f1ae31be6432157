/* SPDX-License-Identifier: BSD-3-Clause */
/* The queue itself: create, push, run, fail. The protocol is in stream.h. */
#define _GNU_SOURCE
#include "runtime/stream.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "runtime/exception.h"
#include "runtime/sched.h"
#include "runtime/stall.h"
#include "runtime/timer.h"

#define BATCH 128 /* tasks an executor runs before it looks at other streams */

static void stream_fini(void *obj);

struct hc_table rt_stream_table = HC_TABLE("stream", HC_KIND_STREAM, stream_fini);

static _Thread_local uint32_t last_task, last_stream;

/* ---- life ---- */

aclError
rt_stream_new(struct rt_context *context, uint32_t priority, uint32_t flags, aclrtStream *handle)
{
    struct rt_stream *stream = hc_zalloc(sizeof *stream);
    uint64_t number;

    if (stream == NULL)
        return rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    stream->priority = priority;
    stream->flags = flags;
    stream->context = context;
    pthread_mutex_init(&stream->push_lock, NULL);
    pthread_mutex_init(&stream->fail_lock, NULL);
    pthread_mutex_init(&stream->wait_lock, NULL);
    hc_list_init(&stream->waiters);
    rt_context_hold_more(context);
    number = hc_handle_reserve(&rt_stream_table);
    if (number == 0) {
        stream_fini(stream);
        return rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    }
    stream->handle = (aclrtStream)(uintptr_t)number;
    stream->id = hc_handle_index(number);
    hc_handle_publish(&rt_stream_table, number, stream);
    atomic_thread_fence(memory_order_seq_cst); /* context.c I4 */
    if (atomic_load(&context->closing)) {
        (void)hc_handle_close(&rt_stream_table, number);
        return rt_fail(ACL_ERROR_RT_CONTEXT_NULL,
                       "no stream can be made: the context is being "
                       "destroyed, or its device reset, by another thread");
    }
    *handle = (aclrtStream)(uintptr_t)number; /* what is published may be closed by others */
    return ACL_SUCCESS;
}

/* Only while claimed or when nobody holds the stream. */
const struct rt_task *
rt_stream_head(struct rt_stream *stream)
{
    if (stream->head_slot == RT_CHUNK_TASKS) {
        struct rt_chunk *used = stream->head;

        stream->head = atomic_load_explicit(&used->next, memory_order_acquire);
        stream->head_slot = 0;
        hc_free(atomic_exchange(&stream->spare, used));
    }
    return &stream->head->tasks[stream->head_slot];
}

static void
head_over(struct rt_stream *stream, struct rt_task *task, bool ran)
{
    if (task->ops->drop != NULL)
        task->ops->drop(task, ran);
    stream->head_slot++;
    stream->deadline = 0;
    stream->stall_said = false;
    stream->condemned = 0;
    atomic_store_explicit(&stream->parked_at, 0, memory_order_relaxed);
    atomic_store_explicit(&stream->done,
                          atomic_load_explicit(&stream->done, memory_order_relaxed) + 1,
                          memory_order_release);
}

static void
drop_all(struct rt_stream *stream)
{
    while (atomic_load(&stream->done) != atomic_load(&stream->pushed))
        head_over(stream, (struct rt_task *)rt_stream_head(stream), false);
}

static void
stream_fini(void *obj)
{
    struct rt_stream *stream = obj;

    drop_all(stream);
    while (stream->head != NULL) {
        struct rt_chunk *chunk = stream->head;

        stream->head = atomic_load(&chunk->next);
        hc_free(chunk);
    }
    hc_free(atomic_load(&stream->spare));
    rt_context_release(stream->context);
    pthread_mutex_destroy(&stream->push_lock);
    pthread_mutex_destroy(&stream->fail_lock);
    pthread_mutex_destroy(&stream->wait_lock);
    hc_free(stream);
}

/* ---- push ---- */

static struct rt_chunk *
chunk_take(struct rt_stream *stream)
{
    struct rt_chunk *chunk = atomic_exchange(&stream->spare, NULL);

    if (chunk == NULL)
        return hc_zalloc_aligned(64, sizeof *chunk);
    atomic_store_explicit(&chunk->next, NULL, memory_order_relaxed);
    return chunk;
}

bool
rt_room_make(struct rt_room *room, uint32_t num)
{
    room->chunks = NULL;
    for (uint32_t made = 0; made < num; made += RT_CHUNK_TASKS) {
        struct rt_chunk *chunk = hc_zalloc_aligned(64, sizeof *chunk);

        if (chunk == NULL) {
            rt_room_free(room);
            return false;
        }
        atomic_init(&chunk->next, room->chunks);
        room->chunks = chunk;
    }
    return true;
}

static struct rt_chunk *
room_take(struct rt_room *room)
{
    struct rt_chunk *chunk = room->chunks;

    room->chunks = atomic_load_explicit(&chunk->next, memory_order_relaxed);
    atomic_store_explicit(&chunk->next, NULL, memory_order_relaxed);
    return chunk;
}

void
rt_room_free(struct rt_room *room)
{
    while (room->chunks != NULL)
        hc_free(room_take(room));
}

/* Room for one more task at the tail, under push_lock; from `room` unless it is NULL. */
static bool
tail_ready(struct rt_stream *stream, struct rt_room *room)
{
    struct rt_chunk *chunk;

    if (stream->tail != NULL && stream->tail_slot < RT_CHUNK_TASKS)
        return true;
    chunk = room == NULL ? chunk_take(stream) : room_take(room);
    if (chunk == NULL)
        return false;
    if (stream->tail == NULL)
        stream->head = chunk; /* nobody runs a stream without tasks */
    else
        atomic_store_explicit(&stream->tail->next, chunk, memory_order_release);
    stream->tail = chunk;
    stream->tail_slot = 0;
    return true;
}

static aclError
refusal(struct rt_stream *stream)
{
    aclError frozen = atomic_load_explicit(&stream->context->stop_failure, memory_order_relaxed);

    if (frozen != 0)
        return rt_fail(frozen,
                       "stream %u: its context stopped at a failure (mode stop): destroy the "
                       "stream or reset the device",
                       stream->id);
    if (atomic_load_explicit(&stream->closed, memory_order_relaxed))
        return rt_fail(ACL_ERROR_RT_STREAM_ABORT, "stream %u was destroyed while it was used",
                       stream->id);
    if (atomic_load_explicit(&stream->aborting, memory_order_relaxed) != 0)
        return rt_fail(ACL_ERROR_RT_STREAM_ABORT, "stream %u is being aborted", stream->id);
    return ACL_SUCCESS;
}

/* `num` tasks have been put at the tail: publishes them, under push_lock. */
static void
count_pushed(struct rt_stream *stream, uint32_t num)
{
    uint64_t number = atomic_load_explicit(&stream->pushed, memory_order_relaxed) + num;

    atomic_store(&stream->pushed, number); /* I2 */
    last_task = (uint32_t)number;
    last_stream = stream->id;
}

/* After a push, without push_lock. */
static void
make_ready(struct rt_stream *stream)
{
    uint32_t idle = RT_IDLE;

    if (atomic_load(&stream->state) != RT_IDLE || /* I2 */
        !atomic_compare_exchange_strong(&stream->state, &idle, RT_READY))
        return;
    hc_handle_hold_more(&rt_stream_table, (uint64_t)(uintptr_t)stream->handle);
    rt_sched_enqueue(stream); /* I1 */
}

aclError
rt_stream_enqueue_all(struct rt_stream *stream, const struct rt_task *tasks, uint32_t num,
                      struct rt_room *room)
{
    aclError rc = refusal(stream);

    if (rc != ACL_SUCCESS)
        return rc;
    pthread_mutex_lock(&stream->push_lock);
    for (uint32_t i = 0; i < num; i++) {
        (void)tail_ready(stream, room); /* there is room */
        stream->tail->tasks[stream->tail_slot++] = tasks[i];
    }
    count_pushed(stream, num);
    pthread_mutex_unlock(&stream->push_lock);
    make_ready(stream);
    return ACL_SUCCESS;
}

aclError
rt_stream_enqueue(struct rt_stream *stream, const struct rt_task *task)
{
    aclError rc = refusal(stream);

    if (rc == ACL_SUCCESS) {
        pthread_mutex_lock(&stream->push_lock);
        if (tail_ready(stream, NULL)) {
            stream->tail->tasks[stream->tail_slot++] = *task;
            count_pushed(stream, 1);
        } else {
            rc = rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
        }
        pthread_mutex_unlock(&stream->push_lock);
    }
    if (rc != ACL_SUCCESS) {
        struct rt_task refused = *task;

        if (refused.ops->drop != NULL)
            refused.ops->drop(&refused, false);
        return rc;
    }
    make_ready(stream);
    return ACL_SUCCESS;
}

void
rt_stream_last_task(uint32_t *task, uint32_t *stream)
{
    *task = last_task;
    *stream = last_stream;
}

/* ---- run ---- */

static bool
must_drop(struct rt_stream *stream)
{
    return (atomic_load_explicit(&stream->failing, memory_order_relaxed) &&
            !atomic_load_explicit(&stream->goes_on, memory_order_relaxed)) ||
           atomic_load_explicit(&stream->aborting, memory_order_relaxed) != 0 ||
           atomic_load_explicit(&stream->closed, memory_order_relaxed) ||
           atomic_load_explicit(&stream->context->stop_failure, memory_order_relaxed) != 0;
}

/* The head cannot go on. true: the stream is parked and no longer ours. */
static bool
park(struct rt_stream *stream)
{
    uint64_t now = hc_now_ns();
    uint64_t at = now + RT_STALL_LOOK_NS;
    uint32_t running = RT_RUNNING;

    if (stream->deadline != 0 && stream->deadline < at)
        at = stream->deadline;
    if (atomic_load_explicit(&stream->parked_at, memory_order_relaxed) == 0)
        atomic_store_explicit(&stream->parked_at, now, memory_order_relaxed);
    atomic_store_explicit(&stream->wake_at, stream->deadline == 0 ? HC_FOREVER : stream->deadline,
                          memory_order_relaxed);
    if (atomic_compare_exchange_strong(&stream->state, &running, RT_PARKED)) {
        rt_timer_arm(at);
        return true;
    }
    atomic_store(&stream->state, RT_RUNNING);  /* it was woken: look again */
    atomic_thread_fence(memory_order_seq_cst); /* I5 */
    return false;
}

/* Nothing is queued. true: the stream is idle and no longer ours. */
static bool
go_idle(struct rt_stream *stream)
{
    uint32_t idle = RT_IDLE;

    atomic_store(&stream->state, RT_IDLE); /* I2 */
    if (atomic_load(&stream->pushed) == atomic_load_explicit(&stream->done, memory_order_relaxed))
        return true;
    if (!atomic_compare_exchange_strong(&stream->state, &idle, RT_RUNNING))
        return true;
    atomic_thread_fence(memory_order_seq_cst); /* I5 */
    return false;
}

/* Runs or drops the head. false: it is parked and the stream no longer ours. */
static bool
run_head(struct rt_stream *stream, struct rt_task *task)
{
    enum rt_step step;

    if (must_drop(stream)) {
        head_over(stream, task, false);
        return true;
    }
    if (stream->condemned != 0) {
        char text[sizeof stream->failure_text];

        pthread_mutex_lock(&stream->fail_lock);
        memcpy(text, stream->failure_text, sizeof text);
        pthread_mutex_unlock(&stream->fail_lock);
        rt_stream_fail(stream, stream->condemned, "%s", text);
        head_over(stream, task, true);
        return true;
    }
    step = task->ops->run(stream, task);
    if (step != RT_STEP_PARKED) {
        head_over(stream, task, true);
        return true;
    }
    if (atomic_load(&stream->stop_at) == atomic_load(&stream->done) + 1) {
        head_over(stream, task, true);
        return true;
    }
    return !park(stream);
}

void
rt_stream_run(struct rt_stream *stream)
{
    atomic_thread_fence(memory_order_seq_cst); /* I5 */
    for (int i = 0; i < BATCH; i++) {
        if (atomic_load_explicit(&stream->done, memory_order_relaxed) ==
            atomic_load_explicit(&stream->pushed, memory_order_acquire)) {
            rt_stream_tell_waiters(stream);
            if (go_idle(stream))
                return;
            continue;
        }
        if (!run_head(stream, (struct rt_task *)rt_stream_head(stream))) {
            rt_stream_tell_waiters(stream);
            return;
        }
    }
    rt_stream_tell_waiters(stream);
    atomic_store(&stream->state, RT_READY);
    hc_handle_hold_more(&rt_stream_table, (uint64_t)(uintptr_t)stream->handle);
    rt_sched_enqueue(stream); /* I1 */
}

void
rt_stream_wake_held(struct rt_stream *stream)
{
    uint32_t state, next;

    atomic_thread_fence(memory_order_seq_cst); /* I5 */
    state = atomic_load(&stream->state);
    do {
        if (state != RT_PARKED && state != RT_RUNNING)
            return; /* it will look by itself */
        next = state == RT_PARKED ? RT_READY : RT_WOKEN;
    } while (!atomic_compare_exchange_weak(&stream->state, &state, next));
    if (next == RT_READY) {
        hc_handle_hold_more(&rt_stream_table, (uint64_t)(uintptr_t)stream->handle);
        rt_sched_enqueue(stream); /* I1 */
    }
}

void
rt_stream_wake(uint32_t id)
{
    struct rt_stream *stream = hc_handle_hold_index(&rt_stream_table, id);

    if (stream == NULL)
        return;
    rt_stream_wake_held(stream);
    rt_stream_release(stream);
}

/* ---- looking at a parked stream ---- */

bool
rt_stream_claim(struct rt_stream *stream)
{
    uint32_t parked = RT_PARKED;

    return atomic_compare_exchange_strong(&stream->state, &parked, RT_RUNNING);
}

void
rt_stream_unclaim(struct rt_stream *stream)
{
    uint32_t running = RT_RUNNING;

    if (atomic_compare_exchange_strong(&stream->state, &running, RT_PARKED))
        return;
    atomic_store(&stream->state, RT_READY); /* woken meanwhile */
    hc_handle_hold_more(&rt_stream_table, (uint64_t)(uintptr_t)stream->handle);
    rt_sched_enqueue(stream);
}

void
rt_stream_describe_head(struct rt_stream *stream, char *text, size_t len)
{
    const struct rt_task *task = rt_stream_head(stream);

    if (task->ops->describe != NULL)
        task->ops->describe(task, text, len);
    else
        snprintf(text, len, "%s", task->ops->name);
}

/* ---- failure ---- */

void
rt_stream_name(struct rt_stream *stream, char *text, size_t len)
{
    pthread_mutex_lock(&stream->fail_lock);
    if (stream->label[0] == '\0')
        snprintf(text, len, "stream %u of device %d", stream->id, stream->context->device);
    else
        snprintf(text, len, "stream %u of device %d (%s)", stream->id, stream->context->device,
                 stream->label);
    pthread_mutex_unlock(&stream->fail_lock);
}

/* Failure mode stop: every stream of the context drops what it has. */
static void
freeze_context(struct rt_stream *stream, aclError code)
{
    struct rt_context *context = stream->context;
    aclError none = 0;
    uint32_t num;

    if (!atomic_load(&context->stop_mode) ||
        !atomic_compare_exchange_strong(&context->stop_failure, &none, code))
        return;
    num = atomic_load(&rt_stream_table.used); /* streams made later find the context frozen */
    for (uint32_t id = 0; id < num; id++)     /* of any context: a wake does no harm */
        rt_stream_wake(id);
}

void
rt_stream_cut(struct rt_stream *stream, aclError code, const char *text)
{
    pthread_mutex_lock(&stream->fail_lock);
    if (atomic_load_explicit(&stream->first_failure, memory_order_relaxed) == 0)
        atomic_store(&stream->first_failure, code);
    if (stream->failure == 0) {
        stream->failure = code;
        snprintf(stream->failure_text, sizeof stream->failure_text, "%s", text);
    }
    atomic_store(&stream->failing, true); /* I6 */
    pthread_mutex_unlock(&stream->fail_lock);
}

aclError
rt_stream_mend(struct rt_stream *stream, char *text, size_t len)
{
    aclError code;

    pthread_mutex_lock(&stream->fail_lock);
    code = stream->failure;
    snprintf(text, len, "%s", stream->failure_text);
    stream->failure = 0;
    atomic_store(&stream->failing, false); /* I6 */
    pthread_mutex_unlock(&stream->fail_lock);
    return code;
}

enum rt_step
rt_stream_fail(struct rt_stream *stream, aclError code, const char *fmt, ...)
{
    char name[160], text[640], whole[sizeof stream->failure_text];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    rt_stream_name(stream, name, sizeof name);
    hc_log_elsewhere("RT", __FILE__, __LINE__, "%s: %s", name, text);
    snprintf(whole, sizeof whole, "%.150s: %.640s", name, text);
    rt_stream_cut(stream, code, whole);
    rt_exception_report((uint32_t)stream->context->device, stream->id,
                        (uint32_t)atomic_load(&stream->done) + 1, code);
    freeze_context(stream, code);
    return RT_STEP_FAILED;
}

void
rt_stream_condemn(struct rt_stream *stream, aclError code, const char *text)
{
    pthread_mutex_lock(&stream->fail_lock);
    snprintf(stream->failure_text, sizeof stream->failure_text, "%s", text);
    pthread_mutex_unlock(&stream->fail_lock);
    stream->condemned = code;
    rt_stream_wake_held(stream);
}

uint64_t
rt_stream_deadline(struct rt_stream *stream, uint64_t timeout_ms)
{
    if (stream->deadline == 0 && timeout_ms != 0)
        stream->deadline = hc_now_ns() + timeout_ms * 1000000u;
    return stream->deadline;
}

void
rt_stream_look_again(struct rt_stream *stream, uint64_t ms)
{
    stream->deadline = hc_now_ns() + ms * 1000000u;
}

bool
rt_stream_expired(struct rt_stream *stream)
{
    return stream->deadline != 0 && hc_now_ns() >= stream->deadline;
}

uint64_t
rt_stream_waited_ms(const struct rt_stream *stream)
{
    uint64_t since = atomic_load_explicit(&stream->parked_at, memory_order_relaxed);

    return since == 0 ? 0 : (hc_now_ns() - since) / 1000000u;
}
