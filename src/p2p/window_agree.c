/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks tell each other what they have for a window: one message from each to each, so that all
 * hear the same and come to the same end (window.h, W1).
 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "p2p/window.h"

#define VERSION 2u
#define TAG 0x57000000u /* the one-sided services have other tags */
#define TAG_NUMBERS 0x00FFFFFFu

static struct p2p_op
make_op(enum p2p_op_kind kind, uint32_t peer, uint32_t number, struct window_hello *hello)
{
    return (struct p2p_op){.kind = kind,
                           .context = P2P_INTERNAL,
                           .peer = peer,
                           .tag = TAG | (number & TAG_NUMBERS),
                           .type = HCCL_DATA_TYPE_UINT8,
                           .size = 1,
                           .buf = hello,
                           .len = sizeof *hello};
}

/* Both directions with every other rank. */
static HcclResult
exchange(struct p2p *p2p, const char *function, uint32_t number, struct window_hello *own,
         struct window_hello *all)
{
    uint32_t num = 0;
    struct p2p_op *ops = hc_calloc(p2p->rank_num, 2 * sizeof *ops);
    HcclResult rc = HCCL_SUCCESS;

    if (ops == NULL) {
        window_excuse(p2p, function, number, own->rc == HCCL_SUCCESS ? HCCL_E_MEMORY : own->rc);
        return HCCL_E_MEMORY;
    }
    for (uint32_t i = 0; i < p2p->rank_num && rc == HCCL_SUCCESS; i++) {
        if (i == p2p->rank)
            continue;
        rc = pair_want(p2p, i);
        ops[num++] = make_op(P2P_SEND, i, number, own);
        ops[num++] = make_op(P2P_RECV, i, number, &all[i]);
    }
    if (rc == HCCL_SUCCESS && num > 0)
        rc = call_run(p2p, function, ops, num, -1);
    hc_free(ops);
    if (rc != HCCL_SUCCESS) {
        char why[P2P_WHY_LEN];

        /* Some may wait for what they will never hear. */
        snprintf(why, sizeof why, "rank %u failed in %s (error %d)", p2p->rank, function, (int)rc);
        rt_fate_break(comm_fate(p2p->comm), why);
    }
    return rc;
}

/* HCCL_E_PARA (logged): some ranks are in HcommWindowCreate, others in HcclCommSymWinRegister. */
static HcclResult
check_kinds(const struct p2p *p2p, const char *function, const struct window_hello *mine,
            const struct window_hello *all)
{
    for (uint32_t i = 0; i < p2p->rank_num; i++) {
        if (all[i].version != VERSION || all[i].rc != HCCL_SUCCESS || all[i].kind == mine->kind)
            continue;
        LOG_ERROR(P2P,
                  "%s: rank %u of %s makes a %s at the same time: all ranks make their windows in "
                  "one order",
                  function, i, comm_name(p2p->comm),
                  all[i].kind == WINDOW_SYMMETRIC ? "symmetric window (HcclCommSymWinRegister)"
                                                  : "window of another kind (HcommWindowCreate)");
        return HCCL_E_PARA;
    }
    return HCCL_SUCCESS;
}

HcclResult
window_agree(struct p2p *p2p, const char *function, uint32_t number, const struct window_hello *own,
             struct window_hello *all)
{
    struct window_hello mine = *own;
    HcclResult rc;

    mine.version = VERSION;
    memset(all, 0, p2p->rank_num * sizeof *all);
    rc = exchange(p2p, function, number, &mine, all);
    if (rc != HCCL_SUCCESS)
        return rc;
    all[p2p->rank] = mine;
    if (mine.rc != HCCL_SUCCESS)
        return (HcclResult)mine.rc;
    rc = check_kinds(p2p, function, &mine, all);
    if (rc != HCCL_SUCCESS)
        return rc;
    for (uint32_t i = 0; i < p2p->rank_num; i++) {
        if (all[i].version == VERSION && all[i].rc == HCCL_SUCCESS)
            continue;
        LOG_ERROR(P2P,
                  "%s: rank %u of %s could not take part (error %d; see its messages), so no "
                  "rank gets the window",
                  function, i, comm_name(p2p->comm), (int)all[i].rc);
        return HCCL_E_REMOTE;
    }
    return HCCL_SUCCESS;
}

/*
 * One rank after the other, with what the stack holds. All who do it go upwards, and those who do
 * not have sent and received everything at once, so nobody waits in a circle.
 */
void
window_excuse(struct p2p *p2p, const char *function, uint32_t number, HcclResult rc)
{
    struct window_hello own = {.version = VERSION, .rc = rc}, theirs;

    for (uint32_t i = 0; i < p2p->rank_num; i++) {
        struct p2p_op ops[] = {make_op(P2P_SEND, i, number, &own),
                               make_op(P2P_RECV, i, number, &theirs)};
        char why[P2P_WHY_LEN];

        if (i == p2p->rank)
            continue;
        if (pair_want(p2p, i) == HCCL_SUCCESS &&
            call_run(p2p, function, ops, 2, -1) == HCCL_SUCCESS)
            continue;
        snprintf(why, sizeof why, "rank %u failed in %s (error %d)", p2p->rank, function, (int)rc);
        rt_fate_break(comm_fate(p2p->comm), why);
        return;
    }
}
