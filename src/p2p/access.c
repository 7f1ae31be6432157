/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accesses, at once or as tasks. On these transports an access is complete at the target when it
 * returns, so a flush finds nothing to wait for; it says whether the target is there still.
 *
 * What is mapped is moved by the copy engine; the stores of a put are ordered before those of the
 * notify that follows it (copy.h, base/word.h W3).
 */
#include "p2p/access.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "reduce/reduce.h"

#define LONG (256u << 10) /* bytes: from here on it is worth telling the scheduler */

/* ---- one step ---- */

HcclResult
access_far_failed(const struct access *access, HcclResult rc, char *why, size_t len)
{
    switch (rc) {
    case HCCL_E_REMOTE:
        window_lost(access->window, access->rank, why, len);
        return rc;
    case HCCL_E_NOT_FOUND:
        snprintf(why, len, "rank %u does not offer the memory any more", access->rank);
        return HCCL_E_REMOTE;
    default:
        snprintf(why, len, "error %d", (int)rc);
        return rc;
    }
}

/* HCCL_E_AGAIN: nothing was done. */
static HcclResult
move_far(const struct access *access, char *why, size_t len)
{
    struct window_peer *peer = &access->window->peers[access->rank];
    bool put = access->kind == ACCESS_PUT;
    uint8_t *far = peer->stand_in + access->offset;
    const struct tp_xfer xfer = {.dst = put ? far : access->local,
                                 .src = put ? access->local : far,
                                 .len = access->len,
                                 .lease = peer->lease};
    HcclResult rc =
        put ? peer->conn->ops->write(peer->conn, &xfer) : peer->conn->ops->read(peer->conn, &xfer);

    return rc == HCCL_SUCCESS || rc == HCCL_E_AGAIN ? rc : access_far_failed(access, rc, why, len);
}

static HcclResult
move(struct access *access, char *why, size_t len)
{
    struct window_peer *peer = &access->window->peers[access->rank];
    HcclResult rc = HCCL_SUCCESS;

    if (access->len > 0 && peer->stand_in != NULL)
        rc = move_far(access, why, len);
    else if (access->kind == ACCESS_PUT)
        copy_learned(&peer->puts, peer->addr + access->offset, access->local, access->len);
    else
        copy_learned(&peer->gets, access->local, peer->addr + access->offset, access->len);
    if (rc == HCCL_SUCCESS && access->notify != ACCESS_NO_NOTIFY)
        window_post(access->window, access->rank, access->notify);
    return rc;
}

/* Whether the target is there; FLUSH may name all. */
static HcclResult
look(const struct access *access, char *why, size_t len)
{
    struct window *window = access->window;
    uint32_t first = access->rank, last = access->rank;

    window_look(window);
    if (access->kind == ACCESS_FLUSH && access->rank == HCOMM_ANY_RANK) {
        first = 0;
        last = window->rank_num - 1;
    }
    for (uint32_t i = first; i <= last; i++) {
        if (atomic_load_explicit(&window->peers[i].gone, memory_order_relaxed)) {
            window_lost(window, i, why, len);
            return HCCL_E_REMOTE;
        }
    }
    return HCCL_SUCCESS;
}

/* As far as it gets. HCCL_E_AGAIN: call again; only if not `patient`, or for memory that cannot be
 * mapped. */
static HcclResult
step(struct access *access, bool patient, char *why, size_t len)
{
    HcclResult rc = look(access, why, len);

    if (rc != HCCL_SUCCESS)
        return rc;
    switch (access->kind) {
    case ACCESS_PUT:
    case ACCESS_GET:
        return move(access, why, len);
    case ACCESS_ACCUMULATE:
        return atomic_accumulate(access, patient, why, len);
    case ACCESS_FETCH:
    case ACCESS_SWAP:
        return atomic_exchange_one(access, patient, why, len);
    default:
        atomic_thread_fence(memory_order_seq_cst);
        return HCCL_SUCCESS;
    }
}

static void
describe(const struct access *access, char *text, size_t len)
{
    const struct window *window = access->window;
    unsigned long long bytes = access->len;

    switch (access->kind) {
    case ACCESS_PUT:
        if (access->notify != ACCESS_NO_NOTIFY)
            snprintf(text, len, "put %llu bytes to rank %u, window %u, and record its notify %u",
                     bytes, access->rank, window->number, access->notify);
        else
            snprintf(text, len, "put %llu bytes to rank %u, window %u", bytes, access->rank,
                     window->number);
        break;
    case ACCESS_GET:
        snprintf(text, len, "get %llu bytes from rank %u, window %u", bytes, access->rank,
                 window->number);
        break;
    case ACCESS_ACCUMULATE:
        snprintf(text, len, "accumulate %llu bytes of %s at rank %u, window %u", bytes,
                 reduce_type_name(access->type), access->rank, window->number);
        break;
    case ACCESS_FLUSH:
        snprintf(text, len, "flush window %u", window->number);
        break;
    default:
        snprintf(text, len, "%s one %s at rank %u, window %u",
                 access->kind == ACCESS_FETCH ? "fetch and combine" : "compare and swap",
                 reduce_type_name(access->type), access->rank, window->number);
        break;
    }
}

/* ---- at once ---- */

static HcclResult
do_now(const char *function, struct access *access)
{
    char text[128], why[ACCESS_WHY_LEN] = "";
    uint32_t round = 0;
    HcclResult rc;

    while ((rc = step(access, true, why, sizeof why)) == HCCL_E_AGAIN)
        hc_spin_wait(&round);
    if (rc == HCCL_SUCCESS)
        return rc;
    describe(access, text, sizeof text);
    LOG_ERROR(P2P, "%s: rank %u of %s cannot %s: %s", function, access->window->rank,
              comm_name(access->window->p2p->comm), text, why);
    return rc;
}

/* ---- queued ---- */

_Static_assert(sizeof(struct access) <= sizeof(((struct rt_task *)0)->u), "fits a task");

static struct access *
access_in(struct rt_task *task)
{
    return (struct access *)(void *)&task->u;
}

/* Whether the scheduler must not count on this thread meanwhile. */
static bool
takes_long(const struct access *access)
{
    if (access->kind == ACCESS_FLUSH)
        return false;
    if (access->window->peers[access->rank].stand_in != NULL)
        return true;
    return access->kind <= ACCESS_ACCUMULATE && access->len >= LONG;
}

static enum rt_step
run_entered(struct rt_stream *stream, struct access *access)
{
    bool is_long = takes_long(access);
    int64_t ms = access->window->patience_ms;
    char text[128], why[ACCESS_WHY_LEN] = "";
    HcclResult rc;

    if (is_long)
        rt_sched_long_begin();
    rc = step(access, false, why, sizeof why);
    if (is_long)
        rt_sched_long_end();
    if (rc == HCCL_SUCCESS)
        return RT_STEP_DONE;
    if (rc == HCCL_E_AGAIN) {
        (void)rt_stream_deadline(stream, ms < 0 ? 0 : (uint64_t)ms);
        if (!rt_stream_expired(stream)) {
            rt_stream_wake(rt_stream_id(stream)); /* when others have had their turn */
            return RT_STEP_PARKED;
        }
        snprintf(why, sizeof why, "others have been at it for %lld ms", (long long)ms);
        rc = HCCL_E_TIMEOUT;
    }
    describe(access, text, sizeof text);
    return rt_stream_fail(stream, p2p_task_error(rc), "cannot %s: %s", text, why);
}

static enum rt_step
access_run(struct rt_stream *stream, struct rt_task *task)
{
    struct access *access = access_in(task);
    char text[128];
    enum rt_step result;

    if (!window_enter(access->window)) { /* window.h, W4 */
        describe(access, text, sizeof text);
        return rt_stream_fail(stream, ACL_ERROR_RT_PARAM_INVALID,
                              "cannot %s: the window has been destroyed", text);
    }
    result = run_entered(stream, access);
    window_leave(access->window);
    return result;
}

static void
access_drop(struct rt_task *task, bool ran)
{
    (void)ran;
    window_release(access_in(task)->window);
}

static void
access_describe(const struct rt_task *task, char *text, size_t len)
{
    describe((const struct access *)(const void *)&task->u, text, len);
}

static aclError
access_clone(const struct rt_task *task, struct rt_task *copy)
{
    *copy = *task;
    window_hold_more(access_in(copy)->window); /* of a window that is gone, the run will tell */
    return ACL_SUCCESS;
}

static const struct rt_task_ops access_ops = {.name = "window access",
                                              .run = access_run,
                                              .drop = access_drop,
                                              .describe = access_describe,
                                              .clone = access_clone};

static HcclResult
queue(const struct access *access, aclrtStream handle)
{
    struct rt_task task = {.ops = &access_ops};
    struct rt_stream *stream;
    HcclResult rc = p2p_stream_hold(handle, &stream);

    if (rc != HCCL_SUCCESS)
        return rc;
    *access_in(&task) = *access;
    window_hold_more(access->window);
    rc = rt_result(rt_stream_push(stream, &task));
    rt_stream_release(stream);
    return rc;
}

/* ---- the call ---- */

static HcclResult
do_entered(struct access_call *call)
{
    struct access *access = &call->access;
    HcclResult rc = access_check(call);

    if (rc != HCCL_SUCCESS)
        return rc;
    if (access->kind <= ACCESS_ACCUMULATE && access->len == 0 && access->notify == ACCESS_NO_NOTIFY)
        return HCCL_SUCCESS;
    if (call->stream == HCOMM_STREAM_INLINE)
        return do_now(call->function, access);
    return queue(access, call->stream);
}

HcclResult
access_do(struct access_call *call)
{
    struct window *window;
    HcclResult rc = window_hold(call->window, call->function, &window);

    if (rc != HCCL_SUCCESS)
        return rc;
    call->access.window = window;
    if (window_enter(window)) {
        rc = do_entered(call);
        window_leave(window);
    } else {
        LOG_ERROR(P2P, "%s: the window is being destroyed", call->function);
        rc = HCCL_E_PARA;
    }
    window_release(window);
    return rc;
}
