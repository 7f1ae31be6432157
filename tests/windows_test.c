/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows of processes, one of which dies: whoever needs it is told soon, and the rest ends well.
 */
#include <signal.h>

#include "base/clock.h"
#include "p2p/window.h"
#include "p2p/window_test.h"

#define SOON_NS 20000000000ull /* far more than it takes, far less than any time limit */
#define VICTIM 2

/* Three processes; the last one is expected to be killed. */
static void
with_victim(void (*body)(struct wrank *rank))
{
    struct procs procs;
    int status;

    wranks_num = 3;
    wranks_body = body;
    procs_start(&procs, 3, wranks_child, sizeof(struct wshared));
    status = procs_wait(&procs, VICTIM);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    procs_expect_success(&procs);
}

static HcommWindow
open_window(struct wrank *rank, uint64_t **mem)
{
    HcommWindow window;

    test_allow_errors();
    GOOD(HcommWindowAllocate(rank->comm, 1 << 20, HCOMM_ACCESS_ALL, (void **)mem, &window));
    wrank_barrier(rank, window);
    return window;
}

/* "rank 2" was named in an error. */
static void
expect_named(void)
{
    CHECK(test_logged("rank 2") > 0);
}

static void
close_window(HcommWindow window)
{
    uint64_t start = hc_now_ns();

    CHECK_EQ(HCCL_E_REMOTE, HcommWindowDestroy(window));
    CHECK(hc_now_ns() - start < SOON_NS);
    expect_named();
}

/* ---- while others wait ---- */

static void
waits(struct wrank *rank)
{
    uint64_t *mem, start;
    HcommWindow window = open_window(rank, &mem);
    aclrtStream stream;

    if (rank->number == VICTIM) {
        usleep(100000);
        (void)raise(SIGKILL);
    }
    start = hc_now_ns();
    if (rank->number == 0) {
        CHECK_EQ(HCCL_E_REMOTE, HcommWindowNotifyWait(window, 0, 1, 0, INLINE));
    } else {
        CHECK(aclrtCreateStream(&stream) == ACL_SUCCESS);
        GOOD(HcommWindowNotifyWait(window, 0, 1, 0, stream));
        CHECK_EQ(ACL_ERROR_RT_SUSPECT_REMOTE_ERROR, aclrtSynchronizeStream(stream));
        CHECK(aclrtDestroyStream(stream) == ACL_SUCCESS);
    }
    CHECK(hc_now_ns() - start < SOON_NS);
    expect_named();
    (void)HcommWindowDestroy(window);
}

TEST(who_waits_for_a_notify_is_told_of_a_death)
{
    with_victim(waits);
}

/* Records made before the death are delivered. */
static void
late_records(struct wrank *rank)
{
    uint64_t *mem;
    HcommWindow window = open_window(rank, &mem);

    if (rank->number == VICTIM) {
        for (uint32_t i = 0; i < 2; i++)
            GOOD(HcommPutNotify(NULL, 0, HCCL_DATA_TYPE_INT8, window, i, 0, 0, INLINE));
        (void)raise(SIGKILL);
    }
    usleep(200000);
    GOOD(HcommWindowNotifyWait(window, 0, 1, 0, INLINE));
    CHECK_EQ(HCCL_E_REMOTE, HcommWindowNotifyWait(window, 0, 1, 0, INLINE));
    expect_named();
    (void)HcommWindowDestroy(window);
}

TEST(records_of_a_rank_outlive_it)
{
    with_victim(late_records);
}

/* ---- while others access ---- */

static void
accesses(struct wrank *rank)
{
    uint64_t *mem, *src = calloc(1, 1 << 20), value = 1, start;
    HcommWindow window = open_window(rank, &mem);
    HcclResult rc = HCCL_SUCCESS;

    if (rank->number == VICTIM)
        atomic_store(&rank->shared->turn, 1);
    start = hc_now_ns();
    while (rc == HCCL_SUCCESS) {
        CHECK(hc_now_ns() - start < SOON_NS);
        rc = HcommAccumulate(src, 1 << 17, HCCL_DATA_TYPE_INT64, HCCL_REDUCE_SUM, window, 0, 0,
                             INLINE);
        if (rc == HCCL_SUCCESS)
            rc = HcommPut(&value, 1, HCCL_DATA_TYPE_INT64, window, VICTIM, 0, INLINE);
        if (rc == HCCL_SUCCESS)
            rc = HcommGet(&value, 1, HCCL_DATA_TYPE_INT64, window, VICTIM, 8, INLINE);
        if (rank->number == VICTIM && hc_now_ns() - start > 100000000u)
            (void)raise(SIGKILL);
    }
    CHECK_EQ(HCCL_E_REMOTE, rc);
    expect_named();
    CHECK_EQ(HCCL_E_REMOTE, HcommPut(&value, 1, HCCL_DATA_TYPE_INT64, window, VICTIM, 0, INLINE));
    CHECK_EQ(HCCL_E_REMOTE, HcommGet(&value, 1, HCCL_DATA_TYPE_INT64, window, VICTIM, 0, INLINE));
    CHECK_EQ(HCCL_E_REMOTE, HcommFetchOp(&value, &value, HCCL_DATA_TYPE_INT64, HCCL_REDUCE_SUM,
                                         window, VICTIM, 0, INLINE));
    CHECK_EQ(HCCL_E_REMOTE, HcommWindowFlush(window, VICTIM, INLINE));
    CHECK_EQ(HCCL_E_REMOTE, HcommWindowFlush(window, HCOMM_ANY_RANK, INLINE));
    (void)HcommWindowDestroy(window);
    free(src);
}

TEST(accesses_to_a_rank_that_died_fail)
{
    with_victim(accesses);
}

/* A rank dies under a lock of rank 0's memory: nobody hangs, and other blocks stay usable. */
static void
under_lock(struct wrank *rank)
{
    uint64_t *mem, value = 1, start;
    HcommWindow window = open_window(rank, &mem);
    struct window *inner = hc_handle_hold(&window_table, (uint64_t)(uintptr_t)window);
    aclrtStream stream;

    if (rank->number == VICTIM) {
        atomic_store(&inner->peers[0].control->locks[0].word, VICTIM + 1);
        for (uint32_t i = 0; i < 2; i++)
            GOOD(HcommPutNotify(NULL, 0, HCCL_DATA_TYPE_INT8, window, i, 0, 0, INLINE));
        usleep(100000);
        (void)raise(SIGKILL);
    }
    GOOD(HcommWindowNotifyWait(window, 0, 1, 0, INLINE));
    start = hc_now_ns();
    if (rank->number == 0) {
        CHECK_EQ(HCCL_E_REMOTE, HcommAccumulate(&value, 1, HCCL_DATA_TYPE_INT64, HCCL_REDUCE_SUM,
                                                window, 0, 8, INLINE));
    } else {
        CHECK(aclrtCreateStream(&stream) == ACL_SUCCESS);
        GOOD(HcommFetchOp(&value, &value, HCCL_DATA_TYPE_INT64, HCCL_REDUCE_SUM, window, 0, 0,
                          stream));
        CHECK_EQ(ACL_ERROR_RT_SUSPECT_REMOTE_ERROR, aclrtSynchronizeStream(stream));
        CHECK(aclrtDestroyStream(stream) == ACL_SUCCESS);
    }
    CHECK(hc_now_ns() - start < SOON_NS);
    expect_named();
    hc_handle_release(&window_table, (uint64_t)(uintptr_t)window);
    (void)HcommWindowDestroy(window);
}

TEST(a_death_under_a_lock_hangs_nobody)
{
    with_victim(under_lock);
}

/* Whatever another rank writes into the control block, nobody hangs or crashes. */
static void
garbage(struct wrank *rank)
{
    uint64_t *mem, value = 1;
    HcommWindow window = open_window(rank, &mem);
    struct window *inner = hc_handle_hold(&window_table, (uint64_t)(uintptr_t)window);

    if (rank->number == 1) {
        struct window_control *control = inner->peers[0].control;

        for (uint32_t i = 0; i < WINDOW_STRIPES; i++)
            atomic_store(&control->locks[i].word, 0xDEADBEEFDEADBEEF);
        for (uint32_t i = 0; i < HCOMM_WINDOW_NOTIFIES - 2; i++)
            atomic_store(&control->notifies[i].word, 0xFFFFFFF0FFFF0000u + i);
    }
    wrank_barrier(rank, window);
    CHECK_EQ(HCCL_E_REMOTE, HcommAccumulate(&value, 1, HCCL_DATA_TYPE_INT64, HCCL_REDUCE_SUM,
                                            window, 0, 8, INLINE));
    GOOD(HcommPutNotify(&value, 1, HCCL_DATA_TYPE_INT64, window, 0, 0, rank->number, INLINE));
    if (rank->number == 0)
        GOOD(HcommWindowNotifyWait(window, 1, 1000, 0, INLINE));
    wrank_barrier(rank, window);
    hc_handle_release(&window_table, (uint64_t)(uintptr_t)window);
    GOOD(HcommWindowDestroy(window));
}

TEST(garbage_in_the_control_block_hangs_nobody)
{
    wranks_processes(3, garbage);
}

/* ---- while others create or destroy ---- */

static void
in_create(struct wrank *rank)
{
    uint64_t *mem, start;
    HcommWindow window = open_window(rank, &mem), second;

    if (rank->number == VICTIM) {
        usleep(100000);
        (void)raise(SIGKILL);
    }
    start = hc_now_ns();
    CHECK_EQ(HCCL_E_REMOTE, HcommWindowCreate(rank->comm, mem, 64, 0, &second));
    CHECK(hc_now_ns() - start < SOON_NS);
    expect_named();
    (void)HcommWindowDestroy(window);
}

TEST(a_death_while_a_window_is_made_is_everybodys_error)
{
    with_victim(in_create);
}

static void
in_destroy(struct wrank *rank)
{
    uint64_t *mem;
    HcommWindow window = open_window(rank, &mem);

    if (rank->number == VICTIM) {
        usleep(100000);
        (void)raise(SIGKILL);
    }
    close_window(window);
}

TEST(a_death_while_a_window_is_destroyed_is_told_and_the_window_goes)
{
    with_victim(in_destroy);
}

/* ---- memory that cannot be mapped ---- */

static void
foreign(struct wrank *rank)
{
    uint64_t *mem = calloc(1, 1 << 20), *src = calloc(1, 1 << 20), start;
    HcommWindow window;
    HcclResult rc = HCCL_SUCCESS;

    test_allow_errors();
    GOOD(HcommWindowCreate(rank->comm, mem, 1 << 20, HCOMM_ACCESS_ALL, &window));
    wrank_barrier(rank, window);
    if (rank->number == VICTIM) {
        usleep(100000);
        (void)raise(SIGKILL);
    }
    start = hc_now_ns();
    while (rc == HCCL_SUCCESS) {
        CHECK(hc_now_ns() - start < SOON_NS);
        rc = rank->number == 0
                 ? HcommPut(src, 1 << 17, HCCL_DATA_TYPE_INT64, window, VICTIM, 0, INLINE)
                 : HcommAccumulate(src, 1 << 17, HCCL_DATA_TYPE_INT64, HCCL_REDUCE_SUM, window,
                                   VICTIM, 0, INLINE);
    }
    CHECK_EQ(HCCL_E_REMOTE, rc);
    expect_named();
    (void)HcommWindowDestroy(window);
    free(mem);
    free(src);
}

TEST(malloc_memory_of_a_rank_that_died_is_an_error)
{
    with_victim(foreign);
}
