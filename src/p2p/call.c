/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations that are run together, and how their owner waits.
 *
 * First it looks at the one word that will change, if there is one, without a lock. Then it sleeps:
 * it says so to all peers (R3), looks once more, and goes to sleep as every thread that waits for
 * something of the runtime does, which also means that it runs the tasks of streams meanwhile.
 *
 * When the fate breaks, or a peer that an operation needs has gone, or time is up, what can still
 * come has come: the last look is made after that was noticed. Then the operations are taken back,
 * which may take a moment if bytes are on their way.
 */
#include <inttypes.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/knobs.h"
#include "base/log.h"
#include "p2p/engine.h"
#include "reduce/reduce.h"

#define LOOK_MS 100 /* longest sleep: then what a long wait may need is done */
#define OPENED_AT_A_TIME 16u
#define ROUNDS 256u    /* of looking and spinning, between two looks at the time */
#define WATCH_MOST 16u /* words that a call looks at */
#define LOOKS 256u
#define MIDDLE_NS 200000u /* longest wait for the next step of a message that moves */
#define GIVE_UP_MS 2      /* between two looks at bytes that are on their way */

void
op_failed(struct p2p_op *op, HcclResult rc, const char *fmt, ...)
{
    struct p2p_call *call = op->call;
    uint32_t at = (uint32_t)(op - call->ops);
    va_list args;

    if (call->rc != HCCL_SUCCESS && call->failed_at <= at)
        return;
    call->rc = rc;
    call->failed_at = at;
    va_start(args, fmt);
    vsnprintf(call->why, sizeof call->why, fmt, args);
    va_end(args);
}

/* ---- steps ---- */

HcclResult
op_want_pairs(struct p2p *p2p, const struct p2p_op *op)
{
    HcclResult rc = HCCL_SUCCESS;

    if (op->peer != HCOMM_ANY_RANK)
        return p2p->pairs[op->peer] != NULL ? HCCL_SUCCESS : pair_want(p2p, op->peer);
    for (uint32_t i = 0; i < p2p->rank_num && rc == HCCL_SUCCESS; i++) {
        if (p2p->pairs[i] == NULL)
            rc = pair_want(p2p, i);
    }
    return rc;
}

HcclResult
call_begin(struct p2p_call *call)
{
    struct p2p *p2p = call->p2p;
    HcclResult rc = HCCL_SUCCESS;

    for (uint32_t i = 0; i < call->num && rc == HCCL_SUCCESS; i++)
        rc = op_want_pairs(p2p, &call->ops[i]);
    if (rc != HCCL_SUCCESS)
        return rc;
    call->left = call->num;
    for (uint32_t i = 0; i < call->num; i++)
        call->ops[i].call = call;
    hc_spin_lock(&p2p->lock);
    p2p->open += call->is_task;
    p2p_unlock(p2p);
    return HCCL_SUCCESS;
}

void
call_end(struct p2p_call *call)
{
    struct p2p *p2p = call->p2p;

    hc_spin_lock(&p2p->lock);
    p2p->open -= call->is_task;
    p2p_unlock(p2p);
}

bool
call_step(struct p2p_call *call)
{
    struct p2p *p2p = call->p2p;
    bool over;

    pairs_look(p2p);
    hc_spin_lock(&p2p->lock);
    if (!call->started) {
        for (uint32_t i = 0; i < call->num; i++)
            op_start(p2p, &call->ops[i]);
        call->started = true;
    }
    do {
        p2p_progress(p2p);
    } while (call_move(call));
    over = call->left == 0;
    p2p_unlock(p2p);
    return over;
}

/* ---- waiting ---- */

void
call_describe(const struct p2p_call *call, char *text, size_t len)
{
    const struct p2p_op *op = call->ops;
    char peer[32] = "any rank", tag[32] = "any tag";

    hc_spin_lock(&call->p2p->lock);
    while (op + 1 < call->ops + call->num && op->state == P2P_OVER)
        op++;
    hc_spin_unlock(&call->p2p->lock);
    if (op->peer != HCOMM_ANY_RANK)
        snprintf(peer, sizeof peer, "rank %u", op->peer);
    if (op->tag != HCOMM_ANY_TAG)
        snprintf(tag, sizeof tag, "tag %u", op->tag);
    if (op_is_collective(op))
        snprintf(text, len, "%" PRIu64 " bytes of %s %s %s", op->len, call->function,
                 op->kind == P2P_SEND ? "to" : "from", peer);
    else if (op->context != P2P_PROGRAM)
        snprintf(text, len, "%s to make the same call (%s)", peer, call->function);
    else
        snprintf(text, len, "%s %" PRIu64 " bytes, %s, %s %s",
                 op->kind == P2P_SEND ? "a send of" : "a receive of at most", op->len, tag,
                 op->kind == P2P_SEND ? "to" : "from", peer);
}

/* The word that changes when what the operation waits for happens, and what it was when the last
 * progress was made; NULL: there is no such word. *came: it is not that any more. */
static _Atomic uint64_t *
word_to_watch(const struct p2p_call *call, const struct p2p_op *op, uint32_t *seen, bool *came)
{
    struct p2p_pair *pair;
    _Atomic uint64_t *word;
    uint32_t now;

    *came = false;
    if (op->peer == HCOMM_ANY_RANK)
        return NULL;
    pair = call->p2p->pairs[op->peer];
    if (pair->far == NULL || pair->gone || pair->bad)
        return NULL;
    if (op->kind == P2P_RECV && (op->state == P2P_POSTED || op->pieces)) {
        word = &pair->own->cells[pair->cells_got % P2P_CELLS].head;
        *seen = (uint32_t)(atomic_load_explicit(word, memory_order_relaxed) >> 32);
        *came = *seen == (uint32_t)(pair->cells_got + 1);
        return word;
    }
    if (op->state == P2P_QUEUED || (op->state == P2P_AT_DESK && op->moved > 0)) {
        word = &pair->far->cells_taken; /* for room */
        *seen = (uint32_t)pair->cells_taken;
    } else if (op->state == P2P_AT_DESK) {
        word = op->kind == P2P_SEND ? &pair->own->desks[op->desk].word
                                    : &pair->far->desks[op->desk].word;
        *seen = (uint32_t)op->phase;
    } else {
        return NULL;
    }
    now = (uint32_t)(atomic_load_explicit(word, memory_order_relaxed) >> 32);
    *came = now != *seen;
    return word;
}

static bool
has_changed(const struct rt_watch *words, uint32_t num)
{
    for (uint32_t i = 0; i < num; i++) {
        if ((uint32_t)(atomic_load_explicit(words[i].word, memory_order_relaxed) >> 32) !=
            words[i].seen)
            return true;
    }
    return false;
}

/* In the middle of a long message the peer is at work on it: to sleep would cost more than to wait
 * for its next step, as long as nobody else wants the processor. */
static bool
spin_in_the_middle(const struct rt_watch *words, uint32_t num)
{
    uint64_t start = hc_now_ns();

    do {
        for (uint32_t i = 0; i < LOOKS; i++) {
            if (has_changed(words, num))
                return true;
            hc_spin_pause();
        }
        sched_yield();
    } while (hc_now_ns() - start < MIDDLE_NS);
    return false;
}

/* Bytes of one of its operations are moving. */
static bool
is_in_the_middle(const struct p2p_call *call)
{
    for (uint32_t i = 0; i < call->num; i++) {
        const struct p2p_op *op = &call->ops[i];

        if (op->state == P2P_AT_DESK && (op->moved > 0 || op->phase == P2P_MOVE))
            return true;
    }
    return false;
}

/* What the call waits for, as far as there is room. *came: some of it has happened. Under the lock.
 */
static uint32_t
words_to_watch(const struct p2p_call *call, struct rt_watch words[WATCH_MOST], bool *came)
{
    uint32_t num = 0;

    *came = false;
    for (uint32_t i = 0; i < call->num && num < WATCH_MOST && !*came; i++) {
        const struct p2p_op *op = &call->ops[i];

        if (op->state == P2P_OVER)
            continue;
        words[num].word = word_to_watch(call, op, &words[num].seen, came);
        num += words[num].word != NULL;
    }
    return num;
}

bool
call_spin(struct p2p_call *call)
{
    struct rt_watch words[WATCH_MOST];
    bool came, middle;
    uint32_t num;

    hc_spin_lock(&call->p2p->lock);
    num = words_to_watch(call, words, &came);
    middle = is_in_the_middle(call);
    p2p_unlock(call->p2p);
    if (num == 0 || came)
        return came;
    return rt_spin_on_any(words, num) || (middle && spin_in_the_middle(words, num));
}

bool
call_try(struct p2p_call *call)
{
    for (uint32_t round = 1; !call_step(call); round++) {
        if (!call_spin(call))
            return false;
        if (round % ROUNDS == 0 && call_give_up(call))
            return true;
    }
    return true;
}

bool
call_sleep(struct p2p_call *call)
{
    struct p2p *p2p = call->p2p;
    bool fresh;

    hc_spin_lock(&p2p->lock);
    if (!call->sleeps) {
        call->sleeps = true;
        if (call->is_task)
            hc_list_push_back(&p2p->sleepers, &call->in_sleepers);
        else
            p2p->hosts++;
    }
    fresh = p2p_arm(p2p);
    p2p_unlock(p2p);
    if (fresh)
        (void)hc_barrier_heavy(); /* R3 */
    return call_step(call);
}

void
call_awake(struct p2p_call *call)
{
    struct p2p *p2p = call->p2p;

    if (!call->sleeps) /* only its owner changes that */
        return;
    hc_spin_lock(&p2p->lock);
    call->sleeps = false;
    hc_list_remove(&call->in_wakes);
    if (call->is_task)
        hc_list_remove(&call->in_sleepers);
    else
        p2p->hosts--;
    if (p2p->hosts == 0 && hc_list_empty(&p2p->sleepers) && p2p->stashed == 0)
        p2p_disarm(p2p);
    p2p_unlock(p2p);
}

static bool
over_or_vain(void *arg)
{
    struct p2p_call *call = arg;
    bool middle;

    hc_spin_lock(&call->p2p->lock);
    middle = is_in_the_middle(call);
    p2p_unlock(call->p2p);
    if (middle && call_try(call))
        return true;
    return call_sleep(call) || call_give_up(call);
}

/* One line when a wait is long. */
static void
warn_long(struct p2p_call *call, int64_t s)
{
    char what[P2P_WHY_LEN / 2];

    call_describe(call, what, sizeof what);
    LOG_WARN(P2P, "%s: rank %u of %s has waited %d s for %s", call->function, call->p2p->rank,
             comm_name(call->p2p->comm), (int)s, what);
}

/* A peer may wait for this rank to open the way to it, and this rank for that peer's next call: so
 * who waits long opens some more ways. */
static void
open_more(struct p2p *p2p)
{
    uint32_t opened = 0;

    for (uint32_t i = 0; i < p2p->rank_num && opened < OPENED_AT_A_TIME; i++) {
        if (atomic_load(&p2p->pairs[i]) != NULL)
            continue;
        if (pair_want(p2p, i) != HCCL_SUCCESS)
            return;
        opened++;
    }
}

static void
call_wait(struct p2p_call *call)
{
    uint64_t start = hc_now_ns(), warn_ns = UINT64_MAX, until;
    int64_t warn_s = 0;

    (void)hc_knob_int(KNOB_STALL_WARN_S, &warn_s);
    if (warn_s > 0)
        warn_ns = start + (uint64_t)warn_s * 1000000000u;
    for (;;) {
        until = call->deadline_ns < warn_ns ? call->deadline_ns : warn_ns;
        if (call->hopeless || hc_now_ns() >= call->deadline_ns)
            until = hc_deadline_ms(GIVE_UP_MS);
        if (until > hc_deadline_ms(LOOK_MS))
            until = hc_deadline_ms(LOOK_MS);
        if (rt_wait_until(over_or_vain, call, until))
            break;
        call_adopt(call);
        open_more(call->p2p);
        if (hc_now_ns() >= warn_ns) {
            warn_long(call, warn_s);
            warn_ns = UINT64_MAX;
        }
    }
    call_awake(call);
}

HcclResult
call_run(struct p2p *p2p, const char *function, struct p2p_op *ops, uint32_t num,
         int64_t timeout_ms)
{
    struct p2p_call call = {.p2p = p2p, .function = function, .ops = ops, .num = num};
    HcclResult rc = call_begin(&call);

    if (rc != HCCL_SUCCESS)
        return rc;
    call.deadline_ns = call_deadline(p2p, timeout_ms);
    if (!call_try(&call))
        call_wait(&call);
    call_end(&call);
    if (call.rc != HCCL_SUCCESS)
        LOG_ERROR(P2P, "%s: rank %u of %s: %s", function, p2p->rank, comm_name(p2p->comm),
                  call.why);
    return call.rc;
}

uint64_t
call_deadline(const struct p2p *p2p, int64_t timeout_ms)
{
    int64_t ms = timeout_ms < 0 ? p2p->exec_s * 1000 : timeout_ms;

    return ms == 0 ? UINT64_MAX : hc_deadline_ms(ms);
}
