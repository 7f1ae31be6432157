/* SPDX-License-Identifier: BSD-3-Clause */
/* Letters of one-sided services that make no sense, or come twice: rank 0 writes them by hand. */
#include "p2p/one_sided.h"

#include "tests/one_sided_test.h"

#define LETTER 0x4F53644Cu /* as one_sided_swap.c writes them */

static void
send_raw(struct mate *mate, uint32_t tag, const void *bytes, uint64_t len)
{
    struct p2p_op op = {.kind = P2P_SEND,
                        .context = P2P_INTERNAL,
                        .peer = 1,
                        .tag = tag,
                        .type = HCCL_DATA_TYPE_UINT8,
                        .buf = (void *)(uintptr_t)bytes};
    struct p2p *p2p;

    MUST(p2p_hold(mate->comm, &p2p));
    MUST(op_check(p2p, "test", &op, len));
    MUST(call_run(p2p, "test", &op, 1, 60000));
    p2p_release(p2p);
}

/* A letter for an exchange, with one description. */
struct letter {
    struct one_head head;
    struct one_desc desc;
};

/* What rank 1 sends is taken, so that both stay in step. */
static void
fetch_raw(struct mate *mate, uint32_t tag)
{
    static char bytes[1 << 18];
    struct p2p_op op = {.kind = P2P_RECV,
                        .context = P2P_INTERNAL,
                        .peer = 1,
                        .tag = tag,
                        .type = HCCL_DATA_TYPE_UINT8,
                        .buf = bytes};
    struct p2p *p2p;

    MUST(p2p_hold(mate->comm, &p2p));
    MUST(op_check(p2p, "test", &op, sizeof bytes));
    MUST(call_run(p2p, "test", &op, 1, 60000));
    p2p_release(p2p);
}

static HcclResult
exchange_one(struct mate *mate, HcclMemDesc *in, u32 *num)
{
    uint32_t ranks[2] = {1, 0};
    HcclMemDesc out = {{0}};
    HcclMemDescs local = {&out, 1}, remote = {in, 1};

    memcpy(&out, ranks, sizeof ranks);
    return HcclExchangeMemDesc(mate->comm, 0, &local, 60, &remote, num);
}

static void
nonsense(int rank, void *team)
{
    static char far_too_long[200000];
    const struct letter good = {.head = {.magic = LETTER, .count = 1}, .desc = {.peer = 1}};
    struct letter letters[7];
    struct mate mate;
    HcclMemDesc in;
    u32 num = 77;

    allow_errors();
    mate_open(&mate, team, rank, 2);
    for (int i = 0; i < 7; i++)
        letters[i] = good;
    letters[0].head.magic++;
    letters[1].head.number = 1; /* not yet */
    letters[2].head.count = 2;
    letters[3].head.count = UINT32_MAX;
    letters[4].head.refused = 1;
    letters[5].head.count = 0;
    letters[6].desc.peer = 0;
    if (rank == 0) {
        send_raw(&mate, ONE_SIDED_TAG_EXCHANGE, &good, 3);
        send_raw(&mate, ONE_SIDED_TAG_EXCHANGE, far_too_long, sizeof far_too_long);
        for (int i = 0; i < 7; i++) {
            letters[i].head.number += i < 2 ? 0 : (uint32_t)i - 2;
            send_raw(&mate, ONE_SIDED_TAG_EXCHANGE, &letters[i], sizeof letters[i]);
        }
        for (int i = 0; i < 9; i++)
            fetch_raw(&mate, ONE_SIDED_TAG_EXCHANGE);
    } else {
        MUST_BE(HCCL_E_INTERNAL, exchange_one(&mate, &in, &num)); /* short */
        MUST_BE(HCCL_E_PARA, exchange_one(&mate, &in, &num));     /* long */
        for (int i = 0; i < 7; i++)
            MUST_BE(HCCL_E_INTERNAL, exchange_one(&mate, &in, &num));
        MUST_BE(77, num);
    }
    meet(&mate);
    mate_close(&mate);
}

TEST(letters_that_make_no_sense_fail_the_exchange)
{
    play_in_processes(2, nonsense);
}

/* Old ones are skipped; and nobody waits for ever if nothing else comes. */
static void
old_letters(int rank, void *team)
{
    struct letter letter = {.head = {.magic = LETTER, .count = 1}, .desc = {.peer = 1}};
    struct mate mate;
    HcclMemDesc in;
    u32 num = 0;

    mate_open(&mate, team, rank, 2);
    if (rank == 0) {
        for (uint32_t number = 0; number < 3; number++) {
            letter.head.number = number;
            letter.desc.owner = 100 + number;
            for (int times = 0; times < 3; times++)
                send_raw(&mate, ONE_SIDED_TAG_EXCHANGE, &letter, sizeof letter);
        }
        for (int i = 0; i < 3; i++)
            fetch_raw(&mate, ONE_SIDED_TAG_EXCHANGE);
    } else {
        for (uint32_t number = 0; number < 3; number++) {
            MUST(exchange_one(&mate, &in, &num));
            MUST_BE(100 + number, ((struct one_desc *)(void *)&in)->owner);
        }
    }
    meet(&mate);
    mate_close(&mate);
}

TEST(letters_that_come_again_are_skipped)
{
    play_in_processes(2, old_letters);
}

/* Descriptions that look like ours and cannot be. */
static void
forged(int rank, void *team)
{
    struct letter letter = {.head = {.magic = LETTER, .count = 1}, .desc = {.peer = 1}};
    struct one_record *record = &letter.desc.record;
    HcclMemDesc own, in;
    struct mate mate;
    CommMem mem;
    u32 num = 0;
    char *mine;

    allow_errors();
    mate_open(&mate, team, rank, 2);
    mine = get_memory(DEVICE, 4096);
    mem = (CommMem){.type = COMM_MEM_TYPE_DEVICE, .addr = mine, .size = 4096};
    MUST(HcclRegisterMem(mate.comm, 1 - mate.rank, 0, mine, 4096, &own));
    for (uint32_t i = 0; i < 9; i++) {
        MUST(one_sided_record(record, &mem, 1));
        memcpy(&record->region, (char *)&own + offsetof(struct one_desc, record.region),
               sizeof record->region);
        letter.desc.owner = 0;
        letter.head.number = i;
        if (i == 0)
            record->type = 2;
        else if (i == 1)
            record->region.len = 0;
        else if (i == 2)
            record->region.len = UINT64_MAX;
        else if (i == 3)
            record->region.addr = UINT64_MAX - 64;
        else if (i == 4)
            letter.desc.owner = 1;
        else if (i == 5)
            record->region.place.file += 1000;
        else if (i == 6)
            record->region.place.offset = UINT64_MAX - 4095;
        else if (i == 7)
            record->region.lease = 0;
        else
            record->region.place.offset += 1ull << 50;
        if (rank == 0) {
            send_raw(&mate, ONE_SIDED_TAG_EXCHANGE, &letter, sizeof letter);
            fetch_raw(&mate, ONE_SIDED_TAG_EXCHANGE);
        } else {
            MUST(exchange_one(&mate, &in, &num));
            MUST_HOLD(HcclEnableMemAccess(mate.comm, &in, &mem) != HCCL_SUCCESS);
        }
    }
    meet(&mate);
    give_memory(DEVICE, mine);
    mate_close(&mate);
}

TEST(descriptions_that_cannot_be_are_not_enabled)
{
    play_in_processes(2, forged);
}

/* A record of memory that is no longer offered, or never was, moves nothing. */
static void
no_lease(int rank, void *team)
{
    struct letter letter = {.head = {.magic = LETTER, .count = 1}, .desc = {.peer = 1}};
    HcclMemDesc own, in;
    HcclOneSideOpDesc desc;
    struct mate mate;
    CommMem mem;
    u32 num = 0;
    char *mine;

    allow_errors();
    mate_open(&mate, team, rank, 2);
    for (int kind = 0; kind < KINDS; kind++) {
        mine = get_memory((enum kind)kind, 4096);
        MUST(HcclRegisterMem(mate.comm, 1 - mate.rank, type_of((enum kind)kind), mine, 4096, &own));
        memcpy(&letter.desc, &own, sizeof own);
        letter.head.number = (uint32_t)kind;
        letter.desc.record.region.lease += 7777;
        if (rank == 0) {
            send_raw(&mate, ONE_SIDED_TAG_EXCHANGE, &letter, sizeof letter);
            fetch_raw(&mate, ONE_SIDED_TAG_EXCHANGE);
        } else {
            fill(mine, 4096, 1);
            MUST(exchange_one(&mate, &in, &num));
            if (HcclEnableMemAccess(mate.comm, &in, &mem) == HCCL_SUCCESS) {
                desc = (HcclOneSideOpDesc){mine, mem.addr, 64, HCCL_DATA_TYPE_UINT8};
                MUST(HcclBatchPut(mate.comm, 0, &desc, 1, mate.stream));
                MUST_HOLD(aclrtSynchronizeStream(mate.stream) != ACL_SUCCESS);
            }
        }
        meet(&mate);
        for (int i = 0; i < 4096 && rank == 0; i++)
            MUST_BE(0, mine[i]);
        MUST(HcclDeregisterMem(mate.comm, &own));
        meet(&mate);
        give_memory((enum kind)kind, mine);
    }
    mate_close(&mate);
}

TEST(a_record_without_a_lease_moves_nothing)
{
    play_in_processes(2, no_lease);
}

/* What ranks tell when a communicator is prepared is checked, too. */
static void
bad_announcement(int rank, void *team)
{
    struct {
        struct one_head head;
        struct one_record record;
    } letter = {.head = {.magic = LETTER, .count = 1}};
    const HcclPrepareConfig mesh = {0};
    struct mate mate;

    allow_errors();
    mate_open(&mate, team, rank, 2);
    if (rank == 0)
        send_raw(&mate, ONE_SIDED_TAG_PREPARE, &letter, sizeof letter);
    else
        MUST_BE(HCCL_E_INTERNAL, HcclCommPrepare(mate.comm, &mesh, 60));
    meet(&mate);
    mate_close(&mate);
}

TEST(a_bound_memory_that_cannot_be_fails_prepare)
{
    play_in_processes(2, bad_announcement);
}
