/* SPDX-License-Identifier: BSD-3-Clause */
/* How windows come and go. */
#include "base/alloc.h"
#include "p2p/window_test.h"

/* ---- ends ---- */

/* Those who wait when the window is destroyed are told; so are queued accesses that come late. */
static void *
destroyer(void *arg)
{
    struct wrank *rank = arg;

    usleep(50000);
    CHECK(aclrtSetDevice((int32_t)(rank->threads ? rank->number : 0)) == ACL_SUCCESS);
    GOOD(HcommWindowDestroy(
        (HcommWindow)(uintptr_t)atomic_load(&rank->shared->words[rank->number])));
    return NULL;
}

static void
destroyed_in_use(struct wrank *rank)
{
    pthread_t thread;
    HcommWindow window;
    void *mem;

    GOOD(HcommWindowAllocate(rank->comm, 64, HCOMM_ACCESS_ALL, &mem, &window));
    atomic_store(&rank->shared->words[rank->number], (uint64_t)(uintptr_t)window);
    test_expect_error("the window was destroyed while notify 1 of it was waited for");
    CHECK_EQ(0, pthread_create(&thread, NULL, destroyer, rank));
    CHECK_EQ(HCCL_E_PARA, HcommWindowNotifyWait(window, 1, 1, 0, INLINE));
    CHECK_EQ(0, pthread_join(thread, NULL));
}

TEST_RANKS(who_waits_for_a_window_that_is_destroyed_is_told, 2, destroyed_in_use)

/* A task that was queued but never ran finds the window gone, and fails. */
static void
late_task(struct wrank *rank)
{
    aclrtStream stream, first;
    aclrtNotify gate;
    HcommWindow window;
    uint64_t *mem, value = 9;

    GOOD(HcommWindowAllocate(rank->comm, 64, HCOMM_ACCESS_ALL, (void **)(uintptr_t)&mem, &window));
    CHECK(aclrtCreateStream(&stream) == ACL_SUCCESS && aclrtCreateStream(&first) == ACL_SUCCESS);
    CHECK(aclrtCreateNotify(&gate, 0) == ACL_SUCCESS);
    CHECK(aclrtWaitAndResetNotify(gate, stream, 0) == ACL_SUCCESS);
    GOOD(HcommPut(&value, 1, HCCL_DATA_TYPE_INT64, window, 0, 0, stream));
    GOOD(HcommWindowNotifyWait(window, 1, 1, 100, stream));
    GOOD(HcommWindowDestroy(window));
    test_expect_error("cannot put 8 bytes to rank 0, window 0: the window has been destroyed");
    CHECK(aclrtRecordNotify(gate, first) == ACL_SUCCESS);
    CHECK(aclrtSynchronizeStream(first) == ACL_SUCCESS);
    CHECK_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeStream(stream));
    CHECK(aclrtDestroyNotify(gate) == ACL_SUCCESS);
    CHECK(aclrtDestroyStream(stream) == ACL_SUCCESS && aclrtDestroyStream(first) == ACL_SUCCESS);
}

TEST_RANKS(accesses_queued_past_the_end_of_a_window_fail, 2, late_task)

/* Else its channels would stay, and its peers wait for a rank that has gone. */
static void
communicator_first(struct wrank *rank)
{
    HcommWindow window;
    uint64_t value = 1;
    void *mem;

    GOOD(HcommWindowAllocate(rank->comm, 64, HCOMM_ACCESS_ALL, &mem, &window));
    test_expect_error("destroy its windows, then destroy it");
    CHECK_EQ(HCCL_E_AGAIN, HcclCommDestroy(rank->comm));
    wrank_barrier(rank, window);
    GOOD(HcommPut(&value, 1, HCCL_DATA_TYPE_INT64, window, 1 - rank->number, 0, INLINE));
    GOOD(HcommWindowDestroy(window));
}

TEST_RANKS(a_communicator_does_not_end_before_its_windows, 2, communicator_first)

static void
two_waiters(struct wrank *rank)
{
    aclrtStream stream;
    HcommWindow window;

    CHECK(aclrtCreateStream(&stream) == ACL_SUCCESS);
    GOOD(HcommWindowCreate(rank->comm, NULL, 0, 0, &window));
    if (rank->number == 0) {
        GOOD(HcommWindowNotifyWait(window, 1, 1, 0, stream));
        CHECK(aclrtSynchronizeStreamWithTimeout(stream, 20) != ACL_SUCCESS); /* it has begun */
        test_expect_error("one notify, one waiter");
        CHECK_EQ(HCCL_E_PARA, HcommWindowNotifyWait(window, 1, 1, 1, INLINE));
    }
    wrank_barrier(rank, window);
    if (rank->number == 1)
        GOOD(HcommPutNotify(NULL, 0, HCCL_DATA_TYPE_INT8, window, 0, 0, 1, INLINE));
    CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
    GOOD(HcommWindowDestroy(window));
    CHECK(aclrtDestroyStream(stream) == ACL_SUCCESS);
}

TEST_RANKS(a_notify_has_one_waiter, 2, two_waiters)

/* ---- many ---- */

/* Sanitizers keep what is freed for a while. */
static long
resident_kib(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return 0;
#else
    long pages = 0, ignored;
    FILE *file = fopen("/proc/self/statm", "r");

    CHECK(file != NULL && fscanf(file, "%ld %ld", &ignored, &pages) == 2);
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
#endif
}

static void
cycles(struct wrank *rank, int num)
{
    void *foreign = malloc(10000), *pinned = wmem_alloc(W_PINNED, 10000), *mem;
    HcommWindow window;
    uint64_t value = 1;

    for (int i = 0; i < num; i++) {
        if (i % 3 == 0)
            GOOD(HcommWindowAllocate(rank->comm, 10000, HCOMM_ACCESS_ALL, &mem, &window));
        else
            GOOD(HcommWindowCreate(rank->comm, i % 3 == 1 ? foreign : pinned, 10000,
                                   HCOMM_ACCESS_ALL, &window));
        GOOD(HcommPut(&value, 1, HCCL_DATA_TYPE_INT64, window, 1 - rank->number, 0, INLINE));
        GOOD(HcommWindowDestroy(window));
    }
    free(foreign);
    wmem_free(W_PINNED, pinned);
}

static void
many_windows(struct wrank *rank)
{
    long before, live;
    int fds;

    cycles(rank, 100);
    before = resident_kib();
    live = hc_alloc_live();
    fds = test_open_fds();
    cycles(rank, 1000);
    CHECK(test_open_fds() <= fds + 1);
    CHECK(hc_alloc_live() <= live + 16);
    CHECK(resident_kib() <= before + 2048);
}

TEST_RANKS(a_thousand_windows_leave_nothing_behind, 2, many_windows)

/* Several at once, destroyed in another order. */
static void
several(struct wrank *rank)
{
    HcommWindow windows[20];
    uint64_t *mem[20], value;

    for (int i = 0; i < 20; i++)
        GOOD(HcommWindowAllocate(rank->comm, 8, HCOMM_ACCESS_ALL, (void **)(uintptr_t)&mem[i],
                                 &windows[i]));
    for (int i = 0; i < 20; i++) {
        value = 100 + (uint64_t)i;
        GOOD(HcommPut(&value, 1, HCCL_DATA_TYPE_INT64, windows[i], 1 - rank->number, 0, INLINE));
    }
    wrank_barrier(rank, windows[0]);
    for (int i = 0; i < 20; i++)
        CHECK_EQ(100 + i, *mem[i]);
    for (int i = 19; i >= 0; i -= 2)
        GOOD(HcommWindowDestroy(windows[i]));
    for (int i = 0; i < 20; i += 2)
        GOOD(HcommWindowDestroy(windows[i]));
}

TEST_RANKS(windows_of_one_communicator_do_not_mix, 2, several)

/* ---- one rank, and no memory ---- */

TEST(a_rank_alone_has_windows_too)
{
    HcclRootInfo info;
    HcclComm comm;
    HcommWindow window;
    uint64_t *mem, value = 5, old = 0;

    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(HCCL_SUCCESS, HcclGetRootInfo(&info));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommInitRootInfo(1, &info, 0, &comm));
    EXPECT_EQ(HCCL_SUCCESS,
              HcommWindowAllocate(comm, 64, HCOMM_ACCESS_ALL, (void **)(uintptr_t)&mem, &window));
    EXPECT_EQ(HCCL_SUCCESS,
              HcommPutNotify(&value, 1, HCCL_DATA_TYPE_INT64, window, 0, 8, 0, INLINE));
    EXPECT_EQ(HCCL_SUCCESS, HcommWindowNotifyWait(window, 0, 1, 100, INLINE));
    EXPECT_EQ(5, mem[1]);
    EXPECT_EQ(HCCL_SUCCESS, HcommFetchOp(&value, &old, HCCL_DATA_TYPE_INT64, HCCL_REDUCE_PROD,
                                         window, 0, 8, INLINE));
    EXPECT_EQ(5, old);
    EXPECT_EQ(25, mem[1]);
    EXPECT_EQ(HCCL_SUCCESS, HcommWindowDestroy(window));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comm));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceForce(0));
}

/* Whichever allocation fails, on whichever rank: all ranks have the window, or none. */
static void
no_memory(struct wrank *rank)
{
    HcommWindow window = NULL;
    int64_t *foreign = calloc(8, sizeof *foreign);
    HcclResult rc, again;
    uint64_t mine;
    void *mem;

    if (!rank->threads || rank->number == 0)
        test_allow_errors();
    GOOD(HcommWindowAllocate(rank->comm, 64, HCOMM_ACCESS_ALL, &mem, &window)); /* connects */
    GOOD(HcommWindowDestroy(window));
    for (long nth = 0;; nth++) {
        window = NULL;
        if (rank->number == 0)
            hc_alloc_fail_nth(nth);
        rc = HcommWindowCreate(rank->comm, foreign, 64, HCOMM_ACCESS_ALL, &window);
        if (rank->number == 0)
            hc_alloc_fail_nth(-1);
        CHECK((rc == HCCL_SUCCESS) == (window != NULL));
        mine = (uint64_t)(nth + 1) << 8 | (rc == HCCL_SUCCESS ? 1 : 2);
        atomic_store(&rank->shared->words[rank->number], mine);
        for (uint32_t i = 0; i < rank->num; i++) { /* they agree */
            while (atomic_load(&rank->shared->words[i]) >> 8 != (uint64_t)nth + 1)
                usleep(100);
            CHECK_EQ(mine, atomic_load(&rank->shared->words[i]));
        }
        atomic_fetch_add(&rank->shared->turn, 1);
        while (atomic_load(&rank->shared->turn) < (int)((nth + 1) * rank->num))
            usleep(100);
        if (rc == HCCL_SUCCESS) {
            /* each rank a word of its own: what one puts, the other does not read meanwhile */
            GOOD(HcommPut(foreign + rank->number, 1, HCCL_DATA_TYPE_INT64, window,
                          1 - rank->number, rank->number * sizeof *foreign, INLINE));
            break;
        }
        again = HcommWindowCreate(rank->comm, foreign, 64, HCOMM_ACCESS_ALL, &window);
        if (again == HCCL_SUCCESS)
            GOOD(HcommWindowDestroy(window));
        CHECK(again == HCCL_SUCCESS || again == HCCL_E_REMOTE);
        if (again != HCCL_SUCCESS)
            break; /* the communicator could not go on, and says so everywhere */
    }
    if (rc == HCCL_SUCCESS)
        GOOD(HcommWindowDestroy(window));
    free(foreign);
}

TEST_RANKS(without_memory_no_rank_gets_the_window, 2, no_memory)
