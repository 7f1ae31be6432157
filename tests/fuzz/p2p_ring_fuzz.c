/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a peer may write into the memory of a pair, while sends and receives are under way: cells,
 * desks, counters. The input is a row of steps: of the peer, which writes whatever it likes, and of
 * this rank, which starts, goes on and gives up. Both areas end at a page that nobody may touch,
 * and buffers are as long as they say.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "acl/acl.h"
#include "base/alloc.h"
#include "hccl/hccl_comm.h"
#include "p2p/engine.h"
#include "tests/fuzz/fuzz.h"

#define RING P2P_RING_LEAST
#define AREA (sizeof(struct p2p_area) + RING)
#define CALLS 8u
#define OPS 4u
#define FAR 100000u /* bytes of the peer that can be reached */

struct call {
    struct p2p_call call;
    struct p2p_op ops[OPS];
    HcommRecvInfo infos[OPS];
    void *bufs[OPS];
    bool live;
};

static struct comm *comm;
static uint8_t *areas[2]; /* [AREA] each */
static uint8_t *far_memory;
static struct p2p p2p;
static struct p2p_pair *pair;
static _Atomic(struct p2p_pair *) pairs[2];
static struct call calls[CALLS];

/* ---- a connection that reaches one piece of memory ---- */

static HcclResult
fake_reach(struct tp_conn *conn, const struct tp_region *region, void **local)
{
    (void)conn;
    if (region->place.offset > FAR || region->len > FAR - region->place.offset)
        return HCCL_E_PARA;
    *local = far_memory + region->place.offset;
    return HCCL_SUCCESS;
}

static void
fake_unreach(struct tp_conn *conn, const struct tp_region *region, void *local)
{
    (void)conn;
    (void)region;
    (void)local;
}

static void
fake_wake(struct tp_conn *conn, uint32_t waiter)
{
    (void)conn;
    (void)waiter;
}

static const struct tp_ops fake_ops = {
    .name = "fake", .reach = fake_reach, .unreach = fake_unreach, .wake = fake_wake};
static struct tp_conn fake_conn = {.ops = &fake_ops};

/* ---- the pair ---- */

static uint8_t *
make_area(void)
{
    uint64_t len = (AREA + 4095) / 4096 * 4096;
    uint8_t *memory =
        mmap(NULL, len + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED || mprotect(memory + len, 4096, PROT_NONE) != 0)
        abort();
    return memory + len - AREA; /* AREA is a multiple of a line */
}

static void
set_up(void)
{
    int32_t device = 0;
    HcclComm handle;

    if (comm != NULL)
        return;
    if (aclrtSetDevice(0) != ACL_SUCCESS || HcclCommInitAll(1, &device, &handle) != HCCL_SUCCESS ||
        comm_hold(handle, &comm) != HCCL_SUCCESS)
        abort();
    areas[0] = make_area();
    areas[1] = make_area();
    far_memory = malloc(FAR);
    pair = hc_zalloc_aligned(P2P_LINE, sizeof *pair);
    if (pair == NULL || far_memory == NULL || pthread_mutex_init(&p2p.connecting, NULL) != 0)
        abort();
    hc_keep(pair);
}

static void
begin(void)
{
    memset(areas[0], 0, AREA);
    memset(areas[1], 0, AREA);
    memset(pair, 0, sizeof *pair);
    pair->p2p = &p2p;
    pair->peer = 1;
    pair->conn = &fake_conn;
    pair->own = (struct p2p_area *)(void *)areas[0];
    pair->far = (struct p2p_area *)(void *)areas[1];
    pair->far_ring_len = RING;
    pair->far_open = 4711;
    atomic_store(&pair->far->open, pair->far_open);
    hc_list_init(&pair->sends);
    hc_list_init(&pair->early);
    hc_list_init(&pair->taken);
    p2p.comm = comm;
    p2p.rank_num = 2;
    p2p.ring_len = RING;
    p2p.early_most = 1u << 20;
    p2p.eager_most = 8192;
    p2p.plan = copy_plan();
    p2p.connect_ms = 1000;
    p2p.exec_s = 1;
    p2p.early_len = 0;
    p2p.rings = 0;
    p2p.poke = p2p.broken = p2p.failed = false;
    p2p.pairs = pairs;
    hc_list_init(&p2p.live);
    hc_list_init(&p2p.posted);
    hc_list_init(&p2p.sleepers);
    hc_list_init(&p2p.wakes);
    atomic_store(&pairs[1], pair);
    hc_list_push_back(&p2p.live, &pair->in_live);
}

/* ---- this rank's steps ---- */

static const uint64_t lens[] = {0, 8, 40, 41, 8192, 8193, 70000, 200000};

static void
start(const uint8_t *with)
{
    struct call *at = NULL;

    for (uint32_t i = 0; i < CALLS && at == NULL; i++)
        at = calls[i].live ? NULL : &calls[i];
    if (at == NULL)
        return;
    memset(at, 0, sizeof *at);
    at->live = true;
    at->call = (struct p2p_call){.p2p = &p2p,
                                 .function = "fuzz",
                                 .ops = at->ops,
                                 .num = 1 + with[0] % OPS,
                                 .deadline_ns = UINT64_MAX};
    for (uint32_t i = 0; i < at->call.num; i++) {
        uint8_t how = with[1 + i];
        struct p2p_op *op = &at->ops[i];

        op->kind = how & 1 ? P2P_SEND : P2P_RECV;
        op->sync = op->kind == P2P_SEND && (how & 2) != 0;
        op->peer = op->kind == P2P_RECV && (how & 2) != 0 ? HCOMM_ANY_RANK : 1;
        op->tag = how & 4 ? 5 : op->kind == P2P_SEND ? 6 : HCOMM_ANY_TAG;
        op->type = HCCL_DATA_TYPE_UINT8;
        op->size = 1;
        op->len = lens[how >> 5];
        op->info = &at->infos[i];
        op->buf = at->bufs[i] = calloc(1, op->len == 0 ? 1 : op->len);
        if (op->buf == NULL)
            abort();
    }
    atomic_store(&pairs[0], pair); /* ANY_RANK asks for all */
    if (call_begin(&at->call) != HCCL_SUCCESS)
        abort();
    (void)call_step(&at->call);
}

static void
finish(struct call *at)
{
    call_end(&at->call);
    for (uint32_t i = 0; i < at->call.num; i++) {
        if (at->ops[i].state != P2P_OVER)
            abort();
        free(at->bufs[i]);
    }
    at->live = false;
}

static void
go_on(uint8_t which)
{
    struct call *at = &calls[which % CALLS];

    if (!at->live)
        return;
    if (call_step(&at->call)) {
        finish(at);
        return;
    }
    if (which & 0x80)
        at->call.deadline_ns = 1; /* time is up */
    if (call_give_up(&at->call))
        finish(at);
    else if (which & 0x40)
        call_adopt(&at->call);
}

static void
end(void)
{
    struct hc_list *node;

    pair->dead = pair->bad = true; /* only then a peer that moves for ever is not waited for */
    for (uint32_t i = 0; i < CALLS; i++) {
        if (!calls[i].live)
            continue;
        calls[i].call.deadline_ns = 1;
        for (int tries = 0; !call_step(&calls[i].call) && !call_give_up(&calls[i].call); tries++) {
            if (tries > 100)
                abort();
        }
        finish(&calls[i]);
    }
    hc_spin_lock(&p2p.lock);
    (void)adopt_end(pair);
    p2p_unlock(&p2p);
    while ((node = pair->early.next) != &pair->early)
        early_free(pair, HC_CONTAINER(node, struct p2p_early, in_pair));
    if (p2p.early_len != 0)
        abort();
}

/* ---- the peer's ---- */

/* A cell as the engine expects it next, but for what the input says. */
static void
put_cell(const uint8_t *with)
{
    struct p2p_cell *cell = &pair->own->cells[pair->cells_got % P2P_CELLS];
    uint32_t tag = with[0] & 1 ? 5 : with[0] & 2 ? 6 : 0xFFFFFFF0u;

    memset(cell, 0, sizeof *cell);
    cell->kind = with[1] % 6;
    cell->type = with[0] & 0x80 ? with[2] : HCCL_DATA_TYPE_UINT8;
    cell->context = with[0] & 0x40 ? with[3] : 0;
    cell->desk = with[4] % (P2P_DESKS + 2);
    cell->len = with[0] & 0x20 ? (uint64_t)with[5] << (with[6] % 64) : lens[with[5] % 8];
    if (cell->kind == P2P_CELL_OFFER) {
        cell->u.region.len = cell->len;
        cell->u.region.place.file = with[0] & 4;
        cell->u.region.place.offset = (uint64_t)with[7] << (with[0] & 8 ? 40 : 8);
    }
    atomic_store(&cell->head, (pair->cells_got + 1) << 32 | tag);
}

static void
set_desk(const uint8_t *with)
{
    struct p2p_desk *desk = &(with[0] & 1 ? pair->own : pair->far)->desks[with[1] % P2P_DESKS];
    uint32_t use = with[2] % 4 ? with[2] % 4 : pair->desk_uses;

    atomic_store(&desk->mover, with[3]);
    atomic_store(&desk->chunk_len, (uint32_t)with[4] << (with[5] % 32));
    desk->region.len = 200000;
    desk->region.place.file = with[6] & 1;
    desk->region.place.offset = (uint64_t)with[6] << (with[0] & 2 ? 30 : 6);
    atomic_store(&desk->next, (uint64_t)use << 32 | (with[0] & 4 ? P2P_STOP : with[7]));
    atomic_store(&desk->finished, with[7]);
    atomic_store(&desk->word, (uint64_t)(1 + with[0] / 16 % 9) << 32 | use);
}

static void
scribble(const uint8_t *with)
{
    uint64_t at = ((uint64_t)with[1] << 16 | (uint64_t)with[2] << 8 | with[3]) % (AREA - 4);

    memcpy(areas[with[0] & 1] + at, with + 4, 4);
}

size_t
fuzz_seed(unsigned n, uint8_t *into, size_t room)
{
    uint8_t *at = into;

    if (n >= 16 || room < 9 * 64)
        return 0;
    for (uint32_t i = 0; i < 48; i++, at += 9) {
        uint32_t dice = (n * 48 + i) * 2654435761u;

        at[0] = (uint8_t)(i % 3 == 0 ? 0 : i % 3 == 1 ? 2 + dice % 3 : 1);
        for (uint32_t k = 1; k < 9; k++)
            at[k] = (uint8_t)((dice = dice * 1103515245u + 12345u) >> 16);
    }
    return 9 * 48;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    set_up();
    begin();
    for (size_t at = 0; at + 9 <= len && at < 9 * 200; at += 9) {
        switch (bytes[at] % 6) {
        case 0:
            start(bytes + at + 1);
            break;
        case 1:
            go_on(bytes[at + 1]);
            break;
        case 2:
        case 3:
            put_cell(bytes + at + 1);
            break;
        case 4:
            set_desk(bytes + at + 1);
            break;
        default:
            scribble(bytes + at + 1);
        }
    }
    end();
    return 0;
}
