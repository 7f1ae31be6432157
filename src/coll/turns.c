/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * turns: whether the operations of this rank have all been done.
 *
 * A stream that fails drops what is queued on it, and a program may abort one. An operation that
 * was dropped here, but not at the peers, would put this rank one step behind: from then on it
 * would take each message for that of another operation. So operations have numbers; on the
 * caller's stream each begins with a look whether the one before it has passed, and ends by saying
 * that it has. If it has not, the communicator's fate is broken, and all ranks learn why.
 *
 * Recorded operations have no number: a graph may run any number of times. They say that they are
 * under way; if the next one finds that still said, a run was cut short in the middle.
 */
#include <stdio.h>

#include "base/log.h"
#include "coll/coll.h"
#include "hcomm/hcomm_embedded.h"
#include "runtime/runtime.h"

struct turn {
    HcclComm comm;
    uint64_t number;
};

_Static_assert(sizeof(struct turn) <= HCOMM_CALL_ARGS_MOST, "fits a call");

static void
dropped(const struct coll *coll, char *why, size_t len)
{
    snprintf(why, len,
             "rank %u has dropped a collective, because its stream had failed or was aborted%s",
             coll->rank,
             atomic_load_explicit(&coll->in_run, memory_order_relaxed)
                 ? ", or calls one while a run of a graph with one is under way"
                 : "");
    rt_fate_break(comm_fate(coll->comm), why);
}

/* The communicator of a turn, held. */
static struct coll *
turn_coll(const struct turn *turn, struct comm **comm, char *why, size_t len)
{
    if (comm_hold(turn->comm, comm) == HCCL_SUCCESS)
        return comm_attached(*comm);
    snprintf(why, len, "its communicator has been destroyed");
    return NULL;
}

static int32_t
begin(void *args, char *why, size_t len)
{
    const struct turn *turn = args;
    struct comm *comm;
    struct coll *coll = turn_coll(turn, &comm, why, len);
    bool next;

    if (coll == NULL)
        return HCCL_E_UNAVAIL;
    next = !atomic_load_explicit(&coll->in_run, memory_order_acquire) &&
           (turn->number == 0 ||
            atomic_load_explicit(&coll->turns_over, memory_order_acquire) + 1 == turn->number);
    if (next && turn->number == 0)
        atomic_store_explicit(&coll->in_run, true, memory_order_release);
    if (!next)
        dropped(coll, why, len);
    comm_release(comm);
    return next ? HCCL_SUCCESS : HCCL_E_REMOTE;
}

static int32_t
end(void *args, char *why, size_t len)
{
    const struct turn *turn = args;
    struct comm *comm;
    struct coll *coll = turn_coll(turn, &comm, why, len);

    if (coll == NULL)
        return HCCL_E_UNAVAIL;
    if (turn->number == 0)
        atomic_store_explicit(&coll->in_run, false, memory_order_release);
    else
        atomic_store_explicit(&coll->turns_over, turn->number, memory_order_release);
    comm_release(comm);
    return HCCL_SUCCESS;
}

static HcclResult
queue(struct coll *coll, ThreadHandle thread, bool recorded, HcommThreadCall call, const char *name)
{
    const struct turn turn = {.comm = coll->handle, .number = recorded ? 0 : coll->turns};

    return (HcclResult)HcommCallOnThread(thread, call, name, &turn, sizeof turn);
}

HcclResult
turn_begin(struct coll *coll, ThreadHandle thread, bool recorded)
{
    coll->turns += !recorded;
    return queue(coll, thread, recorded, begin, "begin a collective");
}

HcclResult
turn_end(struct coll *coll, ThreadHandle thread, bool recorded)
{
    return queue(coll, thread, recorded, end, "end a collective");
}

HcclResult
turn_check(struct coll *coll, const char *function)
{
    char why[200];

    if (atomic_load_explicit(&coll->turns_over, memory_order_acquire) == coll->turns &&
        !atomic_load_explicit(&coll->in_run, memory_order_acquire))
        return HCCL_SUCCESS;
    dropped(coll, why, sizeof why);
    LOG_ERROR(COLL, "%s: %s cannot go on: %s", function, comm_name(coll->comm), why);
    return HCCL_E_REMOTE;
}
