/* SPDX-License-Identifier: BSD-3-Clause */
/* What only two processes can do to each other; the rest is in conformance*_test.c. */
#include <signal.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/process.h"
#include "reduce/reduce.h"
#include "transport/link.h"
#include "transport/transport_test.h"

#define INT32 2
#define SUM 0

#define TWO_PROCESSES(name_)                                                                       \
    static void name_(struct party *me);                                                           \
    TEST(name_)                                                                                    \
    {                                                                                              \
        run_in_two_processes(name_);                                                               \
    }                                                                                              \
    static void name_(struct party *me)

TEST(a_process_is_reached_by_what_fits)
{
    EXPECT_TRUE(tp_choose(hc_process_id()) == &tp_loop_ops);
    EXPECT_TRUE(tp_choose(hc_process_id() + 1) == &tp_shm_ops);
    for (const struct tp_ops *const *ops = tp_all; *ops != NULL; ops++)
        EXPECT_TRUE((*ops)->maps);
}

TWO_PROCESSES(a_record_wakes_who_waits_for_it)
{
    struct end end;

    end_connect(me, &end, "k");
    for (uint32_t round = 1; round <= 200; round++) {
        if (me->side == 1) {
            uint64_t word = atomic_load(end.words[3]);

            EXPECT_TRUE(atomic_compare_exchange_strong(end.words[3], &word, word | round));
        }
        in_step(me);
        if (me->side == 0) {
            EXPECT_EQ(HCCL_SUCCESS, me->ops->notify(end.conn, 3));
        } else {
            for (int i = 0; atomic_load(&test_woken) != round; i++) {
                EXPECT_TRUE(i < 200000);
                usleep(i < 1000 ? 0 : 100);
            }
            EXPECT_EQ((uint64_t)round << 32, atomic_load(end.words[3]));
        }
    }
    in_step(me);
    end_destroy(&end);
}

TWO_PROCESSES(a_notify_that_the_peer_has_not_is_refused)
{
    struct end end;

    test_expect_error("notify 8 does not exist");
    end_connect(me, &end, "k");
    EXPECT_EQ(HCCL_E_PARA, me->ops->notify(end.conn, WORDS));
    in_step(me);
    end_destroy(&end);
}

/* ---- finding each other ---- */

TEST_WITH(nobody_at_the_address_is_told, TEST_KEEPS_FILES)
{
    struct common *common = calloc(1, sizeof *common);
    struct party me;
    struct end end;

    party_init(&me, &tp_shm_ops, 0, common);
    common->address[1].process = 12345;
    end_open(&me, &end, "k", NULL);
    EXPECT_EQ(HCCL_E_TCP_CONNECT, end_settle(&end));
    EXPECT_EQ(HCCL_E_TCP_CONNECT, end.ops->poll(end.conn));
    end_await_change(&end, 0);
    end_destroy(&end);
    free(common);
}

TWO_PROCESSES(a_wrong_secret_is_refused)
{
    struct tp_address right = me->common->address[1];
    struct end end;

    in_step(me);
    if (me->side == 0) {
        test_allow_errors();
        me->common->address[1].secret[0] ^= 1;
        end_open(me, &end, "k", NULL);
        EXPECT_EQ(HCCL_E_TCP_CONNECT, end_settle(&end));
        end_destroy(&end);
        me->common->address[1] = right;
    }
    in_step(me);
    end_connect(me, &end, "k");
    in_step(me);
    end_destroy(&end);
}

TEST_WITH(a_notify_must_lie_in_shared_memory, TEST_KEEPS_FILES)
{
    _Atomic uint64_t word = 0, *words[1] = {&word};
    struct tp_open args = {.key = "k",
                           .peer = {.process = 1},
                           .words = words,
                           .word_num = 1,
                           .on_notify = end_notified,
                           .on_change = end_changed};
    struct tp_conn *conn = tp_create(&tp_shm_ops);

    (void)test_file_make(1, 4096);
    test_expect_error("notify 0");
    EXPECT_EQ(HCCL_E_PARA, conn->ops->open(conn, &args));
    tp_destroy(conn);
}

TWO_PROCESSES(what_a_peer_can_leave_waiting_here_is_bounded)
{
    const uint32_t len = 60u << 20; /* two of them fit */
    struct end ends[4];
    char text[256];

    if (me->side == 1) {
        void *hello = calloc(1, len);

        for (int i = 0; i < 4; i++)
            EXPECT_EQ(HCCL_SUCCESS, end_try_open_len(me, &ends[i], "k", hello, len));
        free(hello);
        for (int i = 2; i < 4; i++) {
            EXPECT_EQ(HCCL_E_REMOTE, end_settle(&ends[i]));
            EXPECT_EQ(TP_ABORTED, me->ops->ending(ends[i].conn, text, sizeof text));
            EXPECT_CONTAINS("takes no more connections", text);
        }
    }
    in_step(me);
    if (me->side == 0) {
        EXPECT_EQ(1, test_logged("offers too many connections"));
        end_open(me, &ends[0], "k", NULL);
        end_open(me, &ends[1], "k", NULL);
    }
    for (int i = 0; i < 2; i++)
        EXPECT_EQ(HCCL_SUCCESS, end_settle(&ends[i]));
    in_step(me);
    for (int i = 0; i < (me->side == 0 ? 2 : 4); i++)
        end_destroy(&ends[i]);
}

/* ---- the peer's memory ---- */

TWO_PROCESSES(a_place_that_the_peer_has_not_is_refused)
{
    struct tp_region region = me->common->region[1 - me->side];
    struct end end;
    void *local;

    test_expect_error("cannot be reached");
    test_expect_error("without a lease");
    end_connect(me, &end, "k");
    region.place.offset = MEMORY_LEN - 10;
    region.len = 11;
    EXPECT_EQ(HCCL_E_PARA, me->ops->map(end.conn, &region, &local));
    region.place.offset = UINT64_MAX - 5;
    EXPECT_EQ(HCCL_E_PARA, me->ops->map(end.conn, &region, &local));
    region.place.offset = 0;
    region.len = UINT64_MAX - region.addr;
    EXPECT_EQ(HCCL_E_PARA, me->ops->map(end.conn, &region, &local));
    region.len = 11;
    region.place.file = 77;
    EXPECT_EQ(HCCL_E_PARA, me->ops->map(end.conn, &region, &local));
    region.place.file = 0;
    region.lease = 0;
    EXPECT_EQ(HCCL_E_PARA, me->ops->map(end.conn, &region, &local));
    in_step(me);
    end_destroy(&end);
}

TWO_PROCESSES(a_file_made_later_is_mapped_too)
{
    struct end end;
    uint8_t *later, *there;
    void *local;

    end_connect(me, &end, "k");
    later = test_file_make(4, 1 << 20);
    memset(later, me->side + 3, 1 << 20);
    tp_region_of(later, 1 << 20, 0, &me->common->region[me->side]);
    in_step(me);
    EXPECT_EQ(HCCL_SUCCESS, me->ops->map(end.conn, &me->common->region[1 - me->side], &local));
    there = local;
    EXPECT_EQ(1 - me->side + 3, there[12345]);
    in_step(me);
    end_destroy(&end);
}

/* Of memory that no file holds: transfers go through the stand-in, and end with the lease. */
static void
use_stand_in(struct party *me, struct end *end, uint8_t *there, uint32_t len)
{
    const struct tp_ops *ops = me->ops;
    uint8_t *here = malloc(len);
    struct tp_xfer write = {.dst = there, .src = here, .len = len};
    struct tp_xfer read = {.dst = here, .src = there, .len = len};
    struct tp_xfer odd = {.dst = here + 1, .src = there + 3, .len = 5};
    int32_t *ints = (int32_t *)(void *)here;

    EXPECT_EQ(HCCL_SUCCESS, ops->read(end->conn, &odd));
    EXPECT_EQ(9, here[1]);
    for (uint32_t i = 0; i < len / 4; i++)
        ints[i] = (int32_t)i;
    EXPECT_EQ(HCCL_SUCCESS, ops->write(end->conn, &write));
    write.len = read.len = len / 4;
    write.type = read.type = INT32;
    write.op = read.op = SUM;
    EXPECT_EQ(HCCL_SUCCESS, ops->write_reduce(end->conn, &write));
    EXPECT_EQ(HCCL_SUCCESS, ops->read_reduce(end->conn, &read));
    for (uint32_t i = 0; i < len / 4; i++) {
        if (ints[i] != 3 * (int32_t)i)
            EXPECT_EQ(3 * i, ints[i]);
    }
    free(here);
}

TWO_PROCESSES(memory_of_no_file_is_reached_through_a_stand_in)
{
    enum { LEN = 1000004 };
    uint64_t *lease = (uint64_t *)(void *)me->common->note[0];
    uint8_t *foreign = malloc(LEN);
    struct end end;
    void *there = NULL;

    memset(foreign, 9, LEN);
    if (me->side == 1) {
        EXPECT_EQ(HCCL_SUCCESS, tp_lease_begin(lease));
        tp_region_of(foreign, LEN, *lease, &me->common->region[1]);
        EXPECT_EQ(0, me->common->region[1].place.file);
    }
    end_connect(me, &end, "k");
    in_step(me);
    if (me->side == 0) {
        EXPECT_EQ(HCCL_SUCCESS, me->ops->map(end.conn, &me->common->region[1], &there));
        use_stand_in(me, &end, there, LEN);
    }
    in_step(me);
    if (me->side == 1) {
        for (uint32_t i = 0; i < LEN / 4; i++) {
            if (((int32_t *)(void *)foreign)[i] != 2 * (int32_t)i)
                EXPECT_EQ(2 * i, ((int32_t *)(void *)foreign)[i]);
        }
        tp_lease_end(*lease);
    }
    in_step(me);
    if (me->side == 0) {
        struct tp_xfer late = {.dst = there, .src = foreign, .len = 8};

        test_allow_errors();
        EXPECT_FALSE(me->ops->leased(end.conn, *lease));
        EXPECT_NE(HCCL_SUCCESS, me->ops->write(end.conn, &late));
    }
    in_step(me);
    end_destroy(&end);
    free(foreign);
}

/* ---- imports ---- */

TWO_PROCESSES(regions_are_imported_without_a_connection)
{
    const struct tp_address *peer = &me->common->address[1 - me->side];
    const struct tp_region *region = &me->common->region[1 - me->side];
    int fds = 0;
    long live = 0;

    me->data[0] = (uint8_t)(me->side + 1);
    in_step(me);
    for (int round = 0; round < 200; round++) {
        void *local = NULL, *again = NULL;

        if (round == 10) {
            fds = test_open_fds();
            live = hc_alloc_live();
        }
        EXPECT_EQ(HCCL_SUCCESS, tp_import(peer, region, 10000, &local));
        EXPECT_EQ(HCCL_SUCCESS, tp_import(peer, region, 10000, &again));
        EXPECT_EQ(1 - me->side + 1, *(uint8_t *)local);
        EXPECT_TRUE(tp_import_leased(peer, 0));
        EXPECT_FALSE(tp_import_leased(peer, 0x100000001ull << 8));
        tp_unimport(peer, region, local);
        EXPECT_EQ(1 - me->side + 1, *(uint8_t *)again);
        tp_unimport(peer, region, again);
    }
    in_step(me);
    for (int i = 0; i < 5000 && (hc_alloc_live() > live || test_open_fds() > fds); i++)
        usleep(1000); /* the service thread answers the peer, whenever that asks */
    EXPECT_TRUE(hc_alloc_live() <= live);
    EXPECT_TRUE(test_open_fds() <= fds);
    EXPECT_FALSE(tp_import_leased(peer, 0)); /* nothing is imported any more */
}

TWO_PROCESSES(an_import_survives_every_failed_allocation)
{
    const struct tp_address *peer = &me->common->address[1 - me->side];
    const struct tp_region *region = &me->common->region[1 - me->side];
    HcclResult rc;
    void *local;
    long nth = 0;

    test_allow_errors();
    in_step(me);
    do {
        local = NULL;
        hc_alloc_fail_nth(nth++);
        rc = tp_import(peer, region, 10000, &local);
        hc_alloc_fail_nth(-1);
        EXPECT_TRUE(rc == HCCL_SUCCESS ? local != NULL : local == NULL);
        tp_unimport(peer, region, local);
        usleep(1000); /* who failed may have been the service thread, and the link with it */
    } while (rc != HCCL_SUCCESS && nth < 100);
    EXPECT_EQ(HCCL_SUCCESS, rc);
    EXPECT_TRUE(nth > 1);
}

TWO_PROCESSES(own_regions_are_imported_as_they_are)
{
    uint64_t lease;
    void *local;

    EXPECT_EQ(HCCL_SUCCESS, tp_lease_begin(&lease));
    EXPECT_EQ(HCCL_SUCCESS,
              tp_import(&me->common->address[me->side], &me->common->region[me->side], 0, &local));
    EXPECT_TRUE(local == me->data);
    EXPECT_TRUE(tp_import_leased(&me->common->address[me->side], lease));
    tp_lease_end(lease);
    EXPECT_FALSE(tp_import_leased(&me->common->address[me->side], lease));
    tp_unimport(&me->common->address[me->side], &me->common->region[me->side], local);
}

TWO_PROCESSES(an_import_from_nobody_is_an_error)
{
    struct tp_address nobody = me->common->address[1 - me->side];
    void *local = NULL;

    nobody.process ^= 1;
    test_expect_error("cannot import memory");
    EXPECT_EQ(HCCL_E_REMOTE, tp_import(&nobody, &me->common->region[1 - me->side], 5000, &local));
    EXPECT_NULL(local);
    EXPECT_FALSE(tp_import_leased(&nobody, 0));
}

/* ---- much ---- */

static uint64_t
memory_available(void)
{
    FILE *file = fopen("/proc/meminfo", "r");
    unsigned long long kib = 0;
    char line[128];

    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1)
            break;
    }
    if (file != NULL)
        fclose(file);
    return (uint64_t)kib << 10;
}

TWO_PROCESSES(more_than_4_gib_move_in_one_piece)
{
    const uint64_t len = (4ull << 30) + 1;
    struct end end;
    uint8_t *all = NULL;
    void *local;

    if (me->side == 0)
        atomic_store(&me->common->flag[0], memory_available() > 2 * len);
    in_step(me);
    if (atomic_load(&me->common->flag[0]) == 0) {
        print_message("skipped: it needs %llu MiB of free memory\n",
                      (unsigned long long)(2 * len >> 20));
        return;
    }
    test_time_limit(120);
    if (me->side == 1) {
        all = test_file_make(3, len + 4095);
        tp_region_of(all, len, 0, &me->common->region[1]);
    }
    end_connect(me, &end, "k");
    in_step(me);
    if (me->side == 0) {
        struct tp_xfer write = {.len = len};
        uint8_t *src = mmap(NULL, len, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

        EXPECT_TRUE(src != MAP_FAILED);
        src[0] = src[len / 2] = src[len - 1] = 7;
        EXPECT_EQ(HCCL_SUCCESS, me->ops->map(end.conn, &me->common->region[1], &local));
        write.dst = local;
        write.src = src;
        EXPECT_EQ(HCCL_SUCCESS, me->ops->write(end.conn, &write));
        munmap(src, len);
    }
    in_step(me);
    if (me->side == 1) {
        EXPECT_EQ(7, all[0]);
        EXPECT_EQ(0, all[1]);
        EXPECT_EQ(7, all[len / 2]);
        EXPECT_EQ(7, all[len - 1]);
        EXPECT_EQ(0, all[len]);
        EXPECT_EQ(0, madvise(all, len + 4095, MADV_REMOVE)); /* or the end takes seconds */
    }
    end_destroy(&end);
}
