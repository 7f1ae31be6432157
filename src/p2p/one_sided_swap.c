/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Letters that ranks swap (one_sided.h, S3). A swap is one call of the engine: all letters go out
 * and come in together, so nobody waits in turn. One whose number is old is a repetition of what
 * this rank has had; then the swap goes on for those that are left, in the time that is left.
 */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/knobs.h"
#include "base/log.h"
#include "p2p/one_sided.h"

#define LETTER 0x4F53644Cu /* begins each */

/* One that is awaited. */
struct await {
    struct one_letter *letter;
    void *in;
    HcommRecvInfo info;
};

struct swap {
    struct one_sided *os;
    const char *function;
    uint32_t tag, num;
    uint64_t most, deadline_ns;
    struct await *awaits; /* [num] */
    struct p2p_op *ops;   /* [2 * num] */
    struct await **of;    /* [2 * num]; of each operation */
    uint32_t op_num;
};

void
one_mail_done(struct one_mail *mail)
{
    hc_free(mail->kept);
    mail->kept = NULL;
    mail->kept_len = 0;
}

static void
swap_fini(struct swap *swap)
{
    for (uint32_t i = 0; i < swap->num && swap->awaits != NULL; i++)
        hc_free(swap->awaits[i].in);
    hc_free(swap->awaits);
    hc_free(swap->ops);
    hc_free((void *)swap->of);
}

static HcclResult
swap_init(struct swap *swap, struct one_letter *letters)
{
    swap->awaits = hc_calloc(swap->num, sizeof *swap->awaits);
    swap->ops = hc_calloc(2 * (size_t)swap->num, sizeof *swap->ops);
    swap->of = hc_calloc(2 * (size_t)swap->num, sizeof(struct await *));
    if (swap->awaits == NULL || swap->ops == NULL || swap->of == NULL)
        return HCCL_E_MEMORY;
    for (uint32_t i = 0; i < swap->num; i++) {
        swap->awaits[i].letter = &letters[i];
        if (letters[i].mail->kept != NULL)
            continue;
        swap->awaits[i].in = hc_zalloc(swap->most);
        if (swap->awaits[i].in == NULL)
            return HCCL_E_MEMORY;
    }
    return HCCL_SUCCESS;
}

/* ---- one round ---- */

static HcclResult
add_op(struct swap *swap, struct await *await, enum p2p_op_kind kind)
{
    const struct one_letter *letter = await->letter;
    bool send = kind == P2P_SEND;
    struct p2p_op *op = &swap->ops[swap->op_num];

    *op = (struct p2p_op){.kind = kind,
                          .context = P2P_INTERNAL,
                          .patient = true,
                          .peer = letter->peer,
                          .tag = swap->tag,
                          .type = HCCL_DATA_TYPE_UINT8,
                          .buf = send ? (void *)(uintptr_t)letter->out : await->in,
                          .info = send ? NULL : &await->info};
    swap->of[swap->op_num++] = await;
    return op_check(swap->os->p2p, swap->function, op, send ? letter->out_len : swap->most);
}

/* What is left to send and to receive. */
static HcclResult
add_ops(struct swap *swap)
{
    HcclResult rc = HCCL_SUCCESS;

    swap->op_num = 0;
    for (uint32_t i = 0; i < swap->num && rc == HCCL_SUCCESS; i++) {
        struct await *await = &swap->awaits[i];

        if (!await->letter->mail->sent)
            rc = add_op(swap, await, P2P_SEND);
        if (rc == HCCL_SUCCESS && await->in != NULL)
            rc = add_op(swap, await, P2P_RECV);
    }
    return rc;
}

/* A letter has come: keeps it, unless it is an old one. */
static HcclResult
take(struct swap *swap, struct await *await)
{
    struct one_mail *mail = await->letter->mail;
    const struct one_head *head = await->in;

    if (await->info.bytes < sizeof *head || head->magic != LETTER || head->number > mail->number) {
        LOG_ERROR(P2P, "%s: what rank %u told rank %u (%" PRIu64 " bytes) makes no sense",
                  swap->function, await->letter->peer, swap->os->p2p->rank, await->info.bytes);
        return HCCL_E_INTERNAL;
    }
    if (head->number < mail->number)
        return HCCL_SUCCESS;
    mail->kept = await->in;
    mail->kept_len = await->info.bytes;
    await->in = NULL;
    return HCCL_SUCCESS;
}

/* As call_run takes it: 0 is never. HCCL_E_TIMEOUT (logged): the peers sent nothing but old ones.
 */
static HcclResult
left_ms(const struct swap *swap, int64_t *left)
{
    uint64_t now = hc_now_ns();

    if (swap->deadline_ns == UINT64_MAX) {
        *left = 0;
        return HCCL_SUCCESS;
    }
    if (now < swap->deadline_ns) {
        *left = (int64_t)((swap->deadline_ns - now) / 1000000u) + 1;
        if (*left > UINT32_MAX)
            *left = UINT32_MAX;
        return HCCL_SUCCESS;
    }
    LOG_ERROR(P2P, "%s: rank %u: time is up, and nothing new has come from rank %u", swap->function,
              swap->os->p2p->rank, swap->of[0]->letter->peer);
    return HCCL_E_TIMEOUT;
}

static HcclResult
swap_round(struct swap *swap)
{
    HcclResult rc = add_ops(swap), one;
    int64_t left = 0;

    if (rc != HCCL_SUCCESS || swap->op_num == 0)
        return rc;
    rc = left_ms(swap, &left);
    if (rc != HCCL_SUCCESS)
        return rc;
    rc = call_run(swap->os->p2p, swap->function, swap->ops, swap->op_num, left);
    for (uint32_t i = 0; i < swap->op_num; i++) {
        const struct p2p_op *op = &swap->ops[i];

        if (op->state != P2P_OVER || op->rc != HCCL_SUCCESS)
            continue;
        one = HCCL_SUCCESS;
        if (op->kind == P2P_SEND)
            swap->of[i]->letter->mail->sent = true;
        else
            one = take(swap, swap->of[i]);
        rc = rc == HCCL_SUCCESS ? one : rc;
    }
    return rc;
}

/* ---- all rounds ---- */

static bool
all_kept(const struct one_letter *letters, uint32_t num)
{
    for (uint32_t i = 0; i < num; i++) {
        if (letters[i].mail->kept == NULL)
            return false;
    }
    return true;
}

/* 0: HCCL_CONNECT_TIMEOUT; -1: never. */
static HcclResult
deadline_of(int timeout_s, uint64_t *deadline_ns)
{
    int64_t ms = (int64_t)timeout_s * 1000;
    HcclResult rc = HCCL_SUCCESS;

    if (timeout_s == 0)
        rc = hc_knob_connect_ms(&ms);
    *deadline_ns = hc_deadline_ms(ms);
    return rc;
}

HcclResult
one_sided_swap(struct one_sided *os, const char *function, uint32_t tag, struct one_letter *letters,
               uint32_t num, uint64_t most, int timeout_s)
{
    struct swap swap = {.os = os, .function = function, .tag = tag, .num = num, .most = most};
    HcclResult rc = deadline_of(timeout_s, &swap.deadline_ns);

    if (rc == HCCL_SUCCESS)
        rc = swap_init(&swap, letters);
    if (rc == HCCL_SUCCESS) {
        do {
            rc = swap_round(&swap);
        } while (rc == HCCL_SUCCESS && !all_kept(letters, num));
    }
    swap_fini(&swap);
    return rc;
}

void
one_head_fill(struct one_head *head, const struct one_mail *mail, uint32_t count, bool refused)
{
    *head = (struct one_head){
        .magic = LETTER, .number = mail->number, .count = count, .refused = refused};
}
