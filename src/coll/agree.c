/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * agree: finds out ranks that do not call the same operation, before any data has been touched.
 *
 * At the beginning of an operation each rank says to its right neighbour what it calls, and reads
 * what its left neighbour calls. If not all call the same there is a place in the ring where two
 * neighbours differ. Who sees that breaks the communicator's fate with a reason that names both,
 * and so all ranks learn of it. The pattern is the same for all operations: else two ranks could
 * each wait for a message that the other's operation does not send.
 *
 * What counts of all-to-all-v are right only two ranks know together; these compare them when data
 * go, in a round of their own.
 *
 * The steps between the primitives are calls on the thread (HcommCallOnThread). They get the
 * communicator as a handle: a recorded operation may be repeated when it has gone.
 */
#include <stdio.h>
#include <string.h>

#include "base/fnv.h"
#include "base/log.h"
#include "coll/coll.h"
#include "hcomm/hcomm_embedded.h"
#include "reduce/reduce.h"
#include "runtime/runtime.h"

#define READY (2 * COLL_SLOTS)
#define FULL (2 * COLL_SLOTS + 1)

struct coll_word
coll_word_of(const struct coll *coll, const struct coll_op *op, bool direct)
{
    bool own_count = op->kind == COLL_REDUCE_SCATTER_V || op->kind == COLL_ALL_GATHER_V;

    return (struct coll_word){.count = own_count ? 0 : op->count,
                              .root = op->root,
                              .hash = op->hash,
                              .kind = (uint8_t)op->kind,
                              .type = (uint8_t)op->type,
                              .red = (uint8_t)op->red,
                              .algo = (uint8_t)op->algo,
                              .direct = direct,
                              .rank = coll->rank};
}

/* "HcclReduce(count 8, int32, sum, root 1)". */
static void
describe(const struct coll_word *word, char *text, size_t len)
{
    int at = snprintf(text, len, "%s(", coll_function((enum coll_kind)word->kind));

    if (word->count > 0)
        at +=
            snprintf(text + at, len - (size_t)at, "count %llu, ", (unsigned long long)word->count);
    if (word->kind != COLL_BARRIER)
        at += snprintf(text + at, len - (size_t)at, "%s", reduce_type_name(word->type));
    if (coll_reduces((enum coll_kind)word->kind))
        at += snprintf(text + at, len - (size_t)at, ", %s", reduce_op_name(word->red));
    if (coll_has_root((enum coll_kind)word->kind))
        at += snprintf(text + at, len - (size_t)at, ", root %u", word->root);
    snprintf(text + at, len - (size_t)at, ")");
}

void
coll_doing(void *own, char *text, size_t len)
{
    struct coll *coll = own;
    struct coll_word begun;
    char what[128];

    pthread_mutex_lock(&coll->telling);
    begun = coll->begun;
    pthread_mutex_unlock(&coll->telling);
    describe(&begun, what, sizeof what);
    if (begun.kind < COLL_KINDS)
        snprintf(text, len, " (the last collective is %s)", what);
}

void
coll_begin(struct coll *coll, const struct coll_word *word)
{
    pthread_mutex_lock(&coll->telling);
    coll->begun = *word;
    pthread_mutex_unlock(&coll->telling);
}

bool
coll_word_equal(const struct coll *coll, const struct coll_word *own, const struct coll_word *other,
                char *why, size_t len)
{
    char ours[128], theirs[128];
    const char *differ = "";

    if (own->count == other->count && own->root == other->root && own->hash == other->hash &&
        own->kind == other->kind && own->type == other->type && own->red == other->red &&
        own->algo == other->algo && own->direct == other->direct)
        return true;
    describe(own, ours, sizeof ours);
    describe(other, theirs, sizeof theirs);
    if (strcmp(ours, theirs) == 0)
        differ = own->hash != other->hash   ? " with other counts in its tables"
                 : own->algo != other->algo ? " with another algorithm (HCOMM_COLL_ALGO, HCCL_ALGO)"
                                            : ", but only one of them on a stream that is recorded";
    snprintf(why, len,
             "EI0005: the ranks do not call the same: rank %u calls %s, rank %u calls %s%s",
             coll->rank, ours, other->rank, theirs, differ);
    return false;
}

void
coll_queue_failed(const struct coll *coll, const struct coll_op *op, HcclResult rc)
{
    char why[160];

    snprintf(why, sizeof why, "rank %u could not queue %s (error %d; see its messages)", coll->rank,
             coll_function(op->kind), (int)rc);
    rt_fate_break(comm_fate(coll->comm), why);
}

/* ---- calls on the thread ---- */

/* What they get; see HcommCallOnThread for how much. */
struct call {
    HcclComm comm;
    union {
        struct coll_word word;
        struct {
            uint64_t bytes;
            uint32_t peer;
        } counts;
    };
};

_Static_assert(sizeof(struct call) <= HCOMM_CALL_ARGS_MOST, "fits a call");

/* The communicator of a call, held. */
static struct coll *
call_begin(const struct call *call, struct comm **comm, char *why, size_t len)
{
    struct coll *coll;

    if (comm_hold(call->comm, comm) != HCCL_SUCCESS) {
        snprintf(why, len, "its communicator has been destroyed");
        return NULL;
    }
    coll = comm_attached(*comm);
    return coll;
}

static int32_t
say(void *args, char *why, size_t len)
{
    const struct call *call = args;
    struct comm *comm;
    struct coll *coll = call_begin(call, &comm, why, len);

    if (coll == NULL)
        return HCCL_E_UNAVAIL;
    memcpy(coll->word_out, &call->word, sizeof call->word);
    coll_begin(coll, &call->word);
    comm_release(comm);
    return HCCL_SUCCESS;
}

static int32_t
compare(void *args, char *why, size_t len)
{
    const struct call *call = args;
    struct coll_word other;
    struct comm *comm;
    struct coll *coll = call_begin(call, &comm, why, len);
    bool equal;

    if (coll == NULL)
        return HCCL_E_UNAVAIL;
    memcpy(&other, coll->word_in, sizeof other);
    equal = coll_word_equal(coll, &call->word, &other, why, len);
    if (!equal)
        rt_fate_break(comm_fate(comm), why);
    comm_release(comm);
    return equal ? HCCL_SUCCESS : HCCL_E_PARA;
}

static void
queue_call(struct coll_run *run, HcommThreadCall function, const char *name,
           const struct call *call)
{
    struct call own = *call;
    char why[400] = "";

    if (run->rc != HCCL_SUCCESS)
        return;
    if (run->thread != 0) {
        run->rc = (HcclResult)HcommCallOnThread(run->thread, function, name, call, sizeof *call);
        return;
    }
    run->rc = (HcclResult)function(&own, why, sizeof why);
    if (run->rc != HCCL_SUCCESS)
        LOG_ERROR(COLL, "%s", why);
}

void
run_agree(struct coll_run *run)
{
    const struct coll *coll = run->coll;
    const struct coll_peer *left = &coll->peers[rank_before(coll, 1)];
    const struct coll_peer *right = &coll->peers[rank_after(coll, 1)];
    const struct call call = {.comm = coll->handle,
                              .word = coll_word_of(coll, run->op, run->direct)};
    int32_t rc;

    if (coll->rank_num < 2 || run->thread == 0) /* inline.c has seen to it */
        return;
    rc = HcommChannelNotifyRecordOnThread(run->thread, left->channel, READY);
    run->rc = (HcclResult)rc;
    queue_call(run, say, "say what is called", &call);
    if (run->rc == HCCL_SUCCESS)
        run->rc = (HcclResult)HcommChannelNotifyWaitOnThread(run->thread, right->channel, READY,
                                                             coll->timeout_s);
    if (run->rc == HCCL_SUCCESS)
        run->rc = (HcclResult)HcommWriteWithNotifyOnThread(run->thread, right->channel, right->word,
                                                           coll->word_out, COLL_LINE, FULL);
    if (run->rc == HCCL_SUCCESS)
        run->rc = (HcclResult)HcommChannelNotifyWaitOnThread(run->thread, left->channel, FULL,
                                                             coll->timeout_s);
    queue_call(run, compare, "compare what is called", &call);
}

/* ---- counts of all-to-all-v ---- */

static int32_t
say_count(void *args, char *why, size_t len)
{
    const struct call *call = args;
    struct comm *comm;
    struct coll *coll = call_begin(call, &comm, why, len);

    if (coll == NULL)
        return HCCL_E_UNAVAIL;
    memcpy(coll->counts_out + call->counts.peer, &call->counts.bytes, sizeof call->counts.bytes);
    comm_release(comm);
    return HCCL_SUCCESS;
}

static int32_t
compare_count(void *args, char *why, size_t len)
{
    const struct call *call = args;
    struct comm *comm;
    struct coll *coll = call_begin(call, &comm, why, len);
    uint64_t told;
    bool equal;

    if (coll == NULL)
        return HCCL_E_UNAVAIL;
    memcpy(&told, coll->counts_in + call->counts.peer, sizeof told);
    equal = told == call->counts.bytes;
    if (!equal) {
        snprintf(why, len,
                 "EI0005: HcclAlltoAllV: rank %u sends %llu bytes to rank %u, which expects %llu: "
                 "sendCounts of the one and recvCounts of the other must agree",
                 call->counts.peer, (unsigned long long)told, coll->rank,
                 (unsigned long long)call->counts.bytes);
        rt_fate_break(comm_fate(comm), why);
    }
    comm_release(comm);
    return equal ? HCCL_SUCCESS : HCCL_E_PARA;
}

void
run_agree_counts(struct coll_run *run)
{
    const struct coll *coll = run->coll;

    for (uint32_t i = 1; i < coll->rank_num; i++) {
        uint32_t to = rank_after(coll, i);
        const struct call call = {.comm = coll->handle,
                                  .counts = {.bytes = part_sent(run->op, to).len, .peer = to}};

        queue_call(run, say_count, "say a count", &call);
    }
    for (uint32_t i = 1; i < coll->rank_num; i++) {
        uint32_t to = rank_after(coll, i), from = rank_before(coll, i);

        run_send(run, to, coll->counts_out + to, sizeof *coll->counts_out);
        run_recv(run, from, coll->counts_in + from, sizeof *coll->counts_in);
    }
    run_move(run);
    for (uint32_t i = 1; i < coll->rank_num; i++) {
        uint32_t from = rank_before(coll, i);
        const struct call call = {
            .comm = coll->handle,
            .counts = {.bytes = part_received(run->op, from).len, .peer = from}};

        queue_call(run, compare_count, "compare a count", &call);
    }
}
