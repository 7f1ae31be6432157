/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * inline: short operations on the calling thread, by messages of hcomm_p2p.h: what matters is how
 * many of them follow each other, so every rank sends to every other at once. Each message begins
 * with a word that says what is called. Before other operations on the calling thread, neighbours
 * exchange words in the same way: so ranks that call a short and a long one find that out.
 *
 * All ranks reduce what they have got in the order of the ranks, so their results are bit-equal.
 *
 * Their tag is one of those that are kept for libraries: no receive of a program takes them.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "coll/coll.h"
#include "p2p/p2p.h"
#include "reduce/reduce.h"
#include "runtime/runtime.h"

#define TAG P2P_TAG_COLLECTIVE
#define RANKS_MOST 16u
#define BYTES_MOST 8192u /* of one rank's message, without its word */
#define WORD sizeof(struct coll_word)
#define PLACE (BYTES_MOST + COLL_LINE)

static bool
suits(const struct coll *coll, const struct coll_op *op)
{
    uint64_t bytes = op->count * op->size;

    switch (op->kind) {
    case COLL_BARRIER:
    case COLL_ALL_REDUCE:
    case COLL_ALL_GATHER:
        return coll->rank_num <= RANKS_MOST && bytes <= BYTES_MOST;
    default:
        return false;
    }
}

/* A place for each rank's message: word, then data; more ranks share them. */
static HcclResult
room(struct coll *coll)
{
    if (coll->scratch == NULL)
        coll->scratch = hc_zalloc((uint64_t)PLACE * least_u64(coll->rank_num, RANKS_MOST));
    return coll->scratch == NULL ? HCCL_E_MEMORY : HCCL_SUCCESS;
}

static uint8_t *
place_of(const struct coll *coll, uint32_t rank)
{
    return coll->scratch + (uint64_t)(rank % RANKS_MOST) * PLACE;
}

static HcclResult
compare(const struct coll *coll, const struct coll_word *own, uint32_t rank)
{
    struct coll_word other;
    char why[400] = "";

    memcpy(&other, place_of(coll, rank), WORD);
    if (coll_word_equal(coll, own, &other, why, sizeof why))
        return HCCL_SUCCESS;
    LOG_ERROR(COLL, "%s", why);
    rt_fate_break(comm_fate(coll->comm), why);
    return HCCL_E_PARA;
}

/* Sends `message` to the `num` ranks after this one, and receives from those before. What cannot go
 * at once goes together with the receives: the peers send, too, before they receive. */
static HcclResult
swap(const struct coll *coll, const void *message, uint64_t len, uint32_t num)
{
    HcommBatchItem items[2 * RANKS_MOST];
    uint32_t left = 0;
    HcclResult rc = HCCL_SUCCESS;

    for (uint32_t i = 1; i <= num; i++) {
        uint32_t peer = rank_after(coll, i);

        if (!p2p_send_at_once(message, len, peer, TAG, coll->handle))
            items[left++] = (HcommBatchItem){.kind = HCOMM_BATCH_SEND,
                                             .peer = peer,
                                             .tag = TAG,
                                             .type = HCCL_DATA_TYPE_INT8,
                                             .buf = (void *)(uintptr_t)message,
                                             .count = len};
    }
    for (uint32_t i = 1; i <= num && rc == HCCL_SUCCESS; i++) {
        uint32_t peer = rank_before(coll, i);

        if (left == 0)
            rc = HcommRecv(place_of(coll, peer), PLACE, HCCL_DATA_TYPE_INT8, peer, TAG, NULL,
                           coll->handle, HCOMM_STREAM_INLINE);
        else
            items[left++] = (HcommBatchItem){.kind = HCOMM_BATCH_RECV,
                                             .peer = peer,
                                             .tag = TAG,
                                             .type = HCCL_DATA_TYPE_INT8,
                                             .buf = place_of(coll, peer),
                                             .count = PLACE};
    }
    return left == 0 ? rc : HcommBatch(items, left, coll->handle, HCOMM_STREAM_INLINE);
}

/* As swap(), of messages that begin with the word; all words must be equal. */
static HcclResult
swap_words(const struct coll *coll, const struct coll_word *word, const void *message, uint64_t len,
           uint32_t num)
{
    HcclResult rc = swap(coll, message, len, num);

    for (uint32_t i = 1; i <= num && rc == HCCL_SUCCESS; i++)
        rc = compare(coll, word, rank_before(coll, i));
    return rc;
}

/* Everybody's message at everybody's. */
static HcclResult
exchange(struct coll *coll, const struct coll_op *op)
{
    uint64_t bytes = op->count * op->size;
    const struct coll_word word = coll_word_of(coll, op, true);
    uint8_t *own = place_of(coll, coll->rank);

    memcpy(own, &word, WORD);
    if (bytes > 0)
        memcpy(own + WORD, op->send, bytes);
    return swap_words(coll, &word, own, WORD + bytes, coll->rank_num - 1);
}

/* In the order of the ranks. */
static void
finish(const struct coll *coll, const struct coll_op *op)
{
    uint64_t bytes = op->count * op->size;

    for (uint32_t i = 0; i < coll->rank_num && bytes > 0; i++) {
        const uint8_t *data = place_of(coll, i) + WORD;

        if (op->kind == COLL_ALL_GATHER)
            memcpy(bytes_at(op->recv, i * bytes), data, bytes);
        else if (i == 0)
            memcpy(op->recv, data, bytes);
        else
            reduce_apply(op->recv, data, op->count, op->type, op->red);
    }
}

static HcclResult
agree(struct coll *coll, const struct coll_op *op)
{
    const struct coll_word word = coll_word_of(coll, op, true);

    return coll->rank_num < 2 ? HCCL_SUCCESS : swap_words(coll, &word, &word, WORD, 1);
}

bool
coll_inline(struct coll *coll, const struct coll_op *op, HcclResult *rc)
{
    bool all = suits(coll, op);
    const char *caller;

    *rc = room(coll);
    caller = p2p_set_caller(coll_function(op->kind));
    if (*rc == HCCL_SUCCESS)
        *rc = all ? exchange(coll, op) : agree(coll, op);
    p2p_set_caller(caller);
    if (*rc == HCCL_SUCCESS && all)
        finish(coll, op);
    return all || *rc != HCCL_SUCCESS;
}
