/* SPDX-License-Identifier: BSD-3-Clause */
/* Symmetric windows: registering, finding, reaching the others' memory, ending. */
#include <sys/wait.h>

#include "base/alloc.h"
#include "hccl/hccl_res.h"
#include "hccl/hccl_sym_win.h"
#include "hcomm/hcomm_primitives.h"
#include "p2p/window_test.h"

#define LEN (2u << 20)
#define WORDS (LEN / sizeof(uint64_t))

/* ---- memory of both kinds ---- */

struct mem {
    bool mapped; /* aclrtMapMem, else aclrtMalloc */
    aclrtDrvMemHandle physical;
    void *addr;
};

static struct mem
mem_make(bool mapped)
{
    aclrtPhysicalMemProp prop = {.handleType = ACL_MEM_HANDLE_TYPE_NONE,
                                 .allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED,
                                 .memAttr = ACL_HBM_MEM_HUGE,
                                 .location = {.type = ACL_MEM_LOCATION_TYPE_DEVICE}};
    struct mem mem = {.mapped = mapped};
    int32_t device = -1;

    CHECK(aclrtGetDevice(&device) == ACL_SUCCESS);
    prop.location.id = (uint32_t)device;
    if (!mapped) {
        mem.addr = wmem_alloc(W_DEVICE, LEN);
        return mem;
    }
    CHECK(aclrtMallocPhysical(&mem.physical, LEN, &prop, 0) == ACL_SUCCESS);
    CHECK(aclrtReserveMemAddress(&mem.addr, LEN, 0, NULL, 0) == ACL_SUCCESS);
    CHECK(aclrtMapMem(mem.addr, LEN, 0, mem.physical, 0) == ACL_SUCCESS);
    return mem;
}

static void
mem_end(const struct mem *mem)
{
    if (!mem->mapped) {
        wmem_free(W_DEVICE, mem->addr);
        return;
    }
    CHECK(aclrtUnmapMem(mem->addr) == ACL_SUCCESS);
    CHECK(aclrtFreePhysical(mem->physical) == ACL_SUCCESS);
    CHECK(aclrtReleaseMemAddress(mem->addr) == ACL_SUCCESS);
}

/* For barriers only. */
static HcommWindow
meeting(struct wrank *rank)
{
    HcommWindow window;

    GOOD(HcommWindowCreate(rank->comm, NULL, 0, 0, &window));
    return window;
}

static HcclCommSymWindow
enroll(struct wrank *rank, void *addr, uint64_t size)
{
    HcclCommSymWindow window = NULL;

    GOOD(HcclCommSymWinRegister(rank->comm, addr, size, &window, 1));
    CHECK(window != NULL);
    return window;
}

static uint64_t *
at_peer(HcclCommSymWindow window, uint32_t rank, size_t offset)
{
    void *ptr = NULL;

    GOOD(HcclSymWinGetPeerPointer(window, offset, rank, &ptr));
    CHECK(ptr != NULL);
    return ptr;
}

/* ---- reaching each other ---- */

/* Each rank stores a word at each other one; copies read it from there. */
static void
stores_and_copies(struct wrank *rank, HcommWindow meet, uint64_t *own, HcclCommSymWindow window)
{
    uint64_t *seen = wmem_alloc(W_DEVICE, 64), host = 0;
    aclrtStream stream;

    CHECK(aclrtCreateStream(&stream) == ACL_SUCCESS);
    for (uint32_t i = 0; i < rank->num; i++)
        *at_peer(window, i, rank->number * sizeof *own) = 100 * (i + 1) + rank->number;
    wrank_barrier(rank, meet);
    for (uint32_t i = 0; i < rank->num; i++)
        CHECK_EQ(100 * (rank->number + 1) + i, own[i]);
    for (uint32_t i = 0; i < rank->num; i++) {
        const uint64_t *there = at_peer(window, i, 0) + rank->number;

        CHECK(aclrtMemcpy(&host, 8, there, 8, ACL_MEMCPY_DEVICE_TO_HOST) == ACL_SUCCESS);
        CHECK_EQ(100 * (i + 1) + rank->number, host);
        CHECK(aclrtMemcpyAsync(seen, 8, there, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, stream) ==
              ACL_SUCCESS);
        CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
        CHECK_EQ(100 * (i + 1) + rank->number, *seen);
    }
    CHECK(aclrtDestroyStream(stream) == ACL_SUCCESS);
    wmem_free(W_DEVICE, seen);
}

/* The primitives take such addresses in local copies: no channel is there. */
static void
copies_on_threads(struct wrank *rank, HcommWindow meet, uint64_t *own, HcclCommSymWindow window)
{
    uint32_t right = (rank->number + 1) % rank->num;
    aclrtStream stream;
    ThreadHandle thread;

    CHECK(aclrtCreateStream(&stream) == ACL_SUCCESS);
    GOOD(HcclThreadAcquireWithStream(rank->comm, COMM_ENGINE_CPU_TS, stream, 0, &thread));
    for (size_t i = 0; i < WORDS / 2; i++)
        own[i] = rank->number * WORDS + i;
    wrank_barrier(rank, meet);
    GOOD(HcommLocalCopyOnThread(thread, at_peer(window, right, LEN / 2), own, LEN / 2));
    CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
    wrank_barrier(rank, meet);
    for (size_t i = 0; i < WORDS / 2; i++)
        CHECK_EQ((rank->number + rank->num - 1) % rank->num * WORDS + i, own[WORDS / 2 + i]);
    CHECK(aclrtDestroyStream(stream) == ACL_SUCCESS);
}

static void
reach(struct wrank *rank)
{
    HcommWindow meet = meeting(rank);

    for (int mapped = 0; mapped < 2; mapped++) {
        struct mem mem = mem_make(mapped != 0);
        HcclCommSymWindow window = enroll(rank, mem.addr, LEN);

        CHECK(at_peer(window, rank->number, 64) == (uint64_t *)mem.addr + 8);
        stores_and_copies(rank, meet, mem.addr, window);
        wrank_barrier(rank, meet);
        copies_on_threads(rank, meet, mem.addr, window);
        GOOD(HcclCommSymWinDeregister(window));
        wrank_barrier(rank, meet); /* nobody frees what others may look at */
        mem_end(&mem);
    }
    GOOD(HcommWindowDestroy(meet));
}

TEST_RANKS(each_rank_reaches_the_memory_of_all, 3, reach)
TEST_RANKS(a_window_of_one_rank_is_its_own_memory, 1, reach)

/* ---- finding ---- */

static void
find(struct wrank *rank)
{
    struct mem mem = mem_make(false);
    uint8_t *bytes = mem.addr;
    HcclCommSymWindow window, found;
    size_t offset = 7;

    GOOD(HcclCommSymWinGet(rank->comm, bytes, 1, &found, &offset));
    CHECK(found == NULL && offset == 0);
    window = enroll(rank, bytes + 4096, 8192);
    GOOD(HcclCommSymWinGet(rank->comm, bytes + 4096, 8192, &found, &offset));
    CHECK(found == window && offset == 0);
    GOOD(HcclCommSymWinGet(rank->comm, bytes + 4096 + 8191, 1, &found, &offset));
    CHECK(found == window && offset == 8191);
    GOOD(HcclCommSymWinGet(rank->comm, bytes + 4096 + 8191, 2, &found, &offset));
    CHECK(found == NULL && offset == 0);
    GOOD(HcclCommSymWinGet(rank->comm, bytes + 4095, 1, &found, &offset));
    CHECK(found == NULL);
    GOOD(HcclCommSymWinGet(rank->comm, bytes + 4096, SIZE_MAX, &found, &offset));
    CHECK(found == NULL);
    GOOD(HcclCommSymWinDeregister(window));
    GOOD(HcclCommSymWinGet(rank->comm, bytes + 4096, 1, &found, &offset));
    CHECK(found == NULL);
    mem_end(&mem);
}

TEST_RANKS(a_pointer_tells_its_window_and_offset, 2, find)

static void
within(struct wrank *rank)
{
    struct mem mem = mem_make(true);
    uint8_t *bytes = mem.addr;
    HcclCommSymWindow first = enroll(rank, bytes, LEN), second, third;
    HcommWindow meet = meeting(rank);

    second = enroll(rank, bytes + 512, 1024);
    CHECK(second == first);
    /* Not the same place everywhere: one offset cannot stand for all. */
    third = enroll(rank, bytes + 512 * (size_t)rank->number, 1024);
    CHECK(third != first);
    *at_peer(third, 1 - rank->number, 8) = 55 + rank->number;
    wrank_barrier(rank, meet);
    CHECK_EQ(55 + 1 - rank->number, *(uint64_t *)(void *)(bytes + 512 * (size_t)rank->number + 8));
    GOOD(HcclCommSymWinDeregister(first));
    CHECK(at_peer(first, rank->number, 0) == mem.addr); /* the second registration goes on */
    GOOD(HcclCommSymWinDeregister(second));
    GOOD(HcclCommSymWinDeregister(third));
    test_expect_error("is not a live one: it is already destroyed");
    CHECK_EQ(HCCL_E_PARA, HcclCommSymWinDeregister(first));
    wrank_barrier(rank, meet);
    GOOD(HcommWindowDestroy(meet));
    mem_end(&mem);
}

TEST_RANKS(memory_inside_a_window_is_that_window, 2, within)

/* ---- refused ---- */

/* One rank alone is told at once. */
static void
bad_registrations(HcclComm comm, uint8_t *bytes)
{
    HcclCommSymWindow window = NULL;
    uint8_t *host = wmem_alloc(W_MALLOC, LEN), *pinned = wmem_alloc(W_PINNED, LEN);

    test_expect_error("addr is NULL");
    test_expect_error("winHandle is NULL");
    test_expect_error("communicator is NULL");
    test_expect_error("is not a live one: it is no handle at all");
    test_expect_error("flag is 0: pass 1");
    test_expect_error("flag is 3: pass 1");
    test_expect_error("0 bytes at");
    test_expect_error("make no window");
    test_expect_error("to the end of its allocation");
    test_expect_error("are not device memory in one piece");
    CHECK_EQ(HCCL_E_PTR, HcclCommSymWinRegister(comm, NULL, LEN, &window, 1));
    CHECK_EQ(HCCL_E_PTR, HcclCommSymWinRegister(comm, bytes, LEN, NULL, 1));
    CHECK_EQ(HCCL_E_PTR, HcclCommSymWinRegister(NULL, bytes, LEN, &window, 1));
    CHECK_EQ(HCCL_E_PARA, HcclCommSymWinRegister((HcclComm)host, bytes, LEN, &window, 1));
    CHECK_EQ(HCCL_E_PARA, HcclCommSymWinRegister(comm, bytes, LEN, &window, 0));
    CHECK_EQ(HCCL_E_PARA, HcclCommSymWinRegister(comm, bytes, LEN, &window, 3));
    CHECK_EQ(HCCL_E_PARA, HcclCommSymWinRegister(comm, bytes, 0, &window, 1));
    CHECK_EQ(HCCL_E_PARA, HcclCommSymWinRegister(comm, bytes, UINT64_MAX, &window, 1));
    CHECK_EQ(HCCL_E_PARA, HcclCommSymWinRegister(comm, bytes, LEN + 1, &window, 1));
    CHECK_EQ(HCCL_E_PARA, HcclCommSymWinRegister(comm, host, LEN, &window, 1));
    CHECK_EQ(HCCL_E_PARA, HcclCommSymWinRegister(comm, pinned, LEN, &window, 1));
    CHECK(window == NULL);
    wmem_free(W_MALLOC, host);
    wmem_free(W_PINNED, pinned);
}

static void
bad_questions(HcclComm comm, uint8_t *bytes, HcclCommSymWindow window)
{
    HcclCommSymWindow found = NULL;
    size_t offset = 0;
    void *ptr = NULL;

    test_expect_error("ptr is NULL");
    test_expect_error("offset is NULL");
    test_expect_error("size is 0");
    test_expect_error("is out of range: there are ranks 0 to 1");
    test_expect_error("is out of range: the window has 2097152 bytes");
    test_expect_error("it is a handle of another kind");
    CHECK_EQ(HCCL_E_PTR, HcclCommSymWinGet(comm, NULL, 1, &found, &offset));
    CHECK_EQ(HCCL_E_PTR, HcclCommSymWinGet(comm, bytes, 1, NULL, &offset));
    CHECK_EQ(HCCL_E_PTR, HcclCommSymWinGet(comm, bytes, 1, &found, NULL));
    CHECK_EQ(HCCL_E_PTR, HcclCommSymWinGet(NULL, bytes, 1, &found, &offset));
    CHECK_EQ(HCCL_E_PARA, HcclCommSymWinGet(comm, bytes, 0, &found, &offset));
    CHECK_EQ(HCCL_E_PTR, HcclSymWinGetPeerPointer(NULL, 0, 0, &ptr));
    CHECK_EQ(HCCL_E_PTR, HcclSymWinGetPeerPointer(window, 0, 0, NULL));
    CHECK_EQ(HCCL_E_PARA, HcclSymWinGetPeerPointer(bytes, 0, 0, &ptr));
    CHECK_EQ(HCCL_E_PARA, HcclSymWinGetPeerPointer(comm, 0, 0, &ptr));
    CHECK_EQ(HCCL_E_PARA, HcclSymWinGetPeerPointer(window, 0, 2, &ptr));
    CHECK_EQ(HCCL_E_PARA, HcclSymWinGetPeerPointer(window, 0, UINT32_MAX, &ptr));
    CHECK_EQ(HCCL_E_PARA, HcclSymWinGetPeerPointer(window, LEN, 0, &ptr));
    CHECK_EQ(HCCL_E_PARA, HcclSymWinGetPeerPointer(window, SIZE_MAX, 0, &ptr));
    CHECK_EQ(HCCL_E_PTR, HcclCommSymWinDeregister(NULL));
    CHECK_EQ(HCCL_E_PARA, HcclCommSymWinDeregister(bytes));
    CHECK_EQ(HCCL_E_PARA, HcclCommSymWinDeregister(comm));
    CHECK(ptr == NULL && found == NULL);
}

static void
bad_arguments(struct wrank *rank)
{
    struct mem mem = mem_make(true);
    HcclCommSymWindow window;

    if (rank->number == 0)
        bad_registrations(rank->comm, mem.addr);
    window = enroll(rank, mem.addr, LEN);
    if (rank->number == 0)
        bad_questions(rank->comm, mem.addr, window);
    GOOD(HcclCommSymWinDeregister(window));
    mem_end(&mem);
}

TEST_RANKS(bad_arguments_are_refused_without_the_others, 2, bad_arguments)

static void
unlike(struct wrank *rank)
{
    struct mem mem = mem_make(false);
    HcclCommSymWindow window = NULL;
    HcommWindow plain = NULL;

    test_expect_error("rank 0 of ");
    test_expect_error("give the same size on all ranks");
    CHECK_EQ(HCCL_E_PARA,
             HcclCommSymWinRegister(rank->comm, mem.addr, 4096 + rank->number, &window, 1));
    test_expect_error("all ranks make their windows in one order");
    if (rank->number == 0)
        CHECK_EQ(HCCL_E_PARA, HcclCommSymWinRegister(rank->comm, mem.addr, 4096, &window, 1));
    else
        CHECK_EQ(HCCL_E_PARA, HcommWindowCreate(rank->comm, mem.addr, 4096, 0, &plain));
    CHECK(window == NULL && plain == NULL);
    window = enroll(rank, mem.addr, 4096); /* all is well again */
    GOOD(HcclCommSymWinDeregister(window));
    mem_end(&mem);
}

TEST_RANKS(ranks_that_do_not_do_the_same_are_told_so, 2, unlike)

TEST(windows_of_an_ascend910_93_keep_to_the_limit_of_the_configuration)
{
    HcclCommConfig config;
    HcclCommSymWindow half, more = NULL, again;
    HcclRootInfo info;
    HcclComm comm;
    uint8_t *mem;

    test_expect_error("above its limit of 1073741824: raise hcclSymWinMaxMemSizePerRank");
    setenv("HCOMM_SOC_NAME", "Ascend910_9382", 1);
    HcclCommConfigInit(&config);
    config.hcclSymWinMaxMemSizePerRank = 1;
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_EQ(HCCL_SUCCESS, HcclGetRootInfo(&info));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommInitRootInfoConfig(1, &info, 0, &config, &comm));
    mem = wmem_alloc(W_DEVICE, (size_t)1 << 31); /* pages appear when they are touched */
    EXPECT_EQ(HCCL_SUCCESS, HcclCommSymWinRegister(comm, mem, 1u << 29, &half, 1));
    EXPECT_EQ(HCCL_E_PARA,
              HcclCommSymWinRegister(comm, mem + (1u << 30), (1u << 29) + 1, &more, 1));
    EXPECT_NULL(more);
    EXPECT_EQ(HCCL_SUCCESS, HcclCommSymWinRegister(comm, mem + (1u << 30), 1u << 29, &more, 1));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommSymWinRegister(comm, mem + 512, 512, &again, 1));
    EXPECT_TRUE(again == half); /* needs no room */
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comm));
    wmem_free(W_DEVICE, mem);
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceForce(0));
}

TEST(a_suspended_communicator_registers_nothing_and_finds_what_it_has)
{
    HcclCommSymWindow window, more = NULL;
    int32_t device = 0;
    size_t offset = 0;
    HcclComm comm;
    void *mem;

    test_expect_error("HcclCommSymWinRegister: rank 0 of ");
    EXPECT_EQ(HCCL_SUCCESS, HcclCommInitAll(1, &device, &comm));
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    mem = wmem_alloc(W_DEVICE, LEN);
    EXPECT_EQ(HCCL_SUCCESS, HcclCommSymWinRegister(comm, mem, 4096, &window, 1));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommSuspend(comm));
    EXPECT_EQ(HCCL_E_SUSPENDING, HcclCommSymWinRegister(comm, mem, LEN, &more, 1));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommSymWinGet(comm, mem, 8, &more, &offset));
    EXPECT_TRUE(more == window);
    EXPECT_EQ(HCCL_SUCCESS, HcclCommResume(comm));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommSymWinRegister(comm, mem, LEN, &more, 1));
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comm));
    wmem_free(W_DEVICE, mem);
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceForce(0));
}

/* ---- ends ---- */

static void
ends_with_communicator(struct wrank *rank)
{
    struct mem mem = mem_make(true);
    HcclCommSymWindow window = enroll(rank, mem.addr, LEN);
    HcommWindow meet = meeting(rank);
    void *ptr = NULL;

    wrank_barrier(rank, meet);
    GOOD(HcommWindowDestroy(meet));
    GOOD(HcclCommDestroy(rank->comm));
    rank->comm = NULL;
    test_expect_error("it is already destroyed");
    CHECK_EQ(HCCL_E_PARA, HcclSymWinGetPeerPointer(window, 0, 0, &ptr));
    CHECK_EQ(HCCL_E_PARA, HcclCommSymWinDeregister(window));
    mem_end(&mem);
}

TEST_RANKS(windows_end_with_their_communicator, 2, ends_with_communicator)

/* Ending a window is local, in any order. */
static void
any_order(struct wrank *rank)
{
    struct mem mem = mem_make(false);
    uint8_t *bytes = mem.addr;
    HcclCommSymWindow windows[8];
    HcommWindow meet;

    for (uint32_t i = 0; i < 8; i++)
        windows[i] = enroll(rank, bytes + 4096 * (size_t)i, 4096);
    for (uint32_t i = 0; i < 8; i++) {
        uint32_t at = rank->number % 2 == 0 ? i : 7 - i;

        CHECK(at_peer(windows[at], rank->num - 1, 8) != NULL);
        GOOD(HcclCommSymWinDeregister(windows[at]));
    }
    meet = meeting(rank);
    wrank_barrier(rank, meet);
    GOOD(HcommWindowDestroy(meet));
    mem_end(&mem);
}

TEST_RANKS(ranks_end_windows_in_any_order, 3, any_order)

static atomic_bool over;
static HcclCommSymWindow looked_at;

static void *
look(void *arg)
{
    uint64_t found = 0;
    void *ptr;

    (void)arg;
    while (!atomic_load(&over))
        found += HcclSymWinGetPeerPointer(looked_at, 8, 0, &ptr) == HCCL_SUCCESS;
    CHECK(HcclSymWinGetPeerPointer(looked_at, 8, 0, &ptr) == HCCL_E_PARA);
    return NULL;
}

/* Both may say that it was another's. */
static void *
end_it(void *count)
{
    if (HcclCommSymWinDeregister(looked_at) == HCCL_SUCCESS)
        atomic_fetch_add((atomic_int *)count, 1);
    return NULL;
}

TEST(a_window_that_is_looked_at_ends_once)
{
    HcclCommSymWindow window;
    int32_t device = 0;
    HcclComm comm;
    void *mem;

    test_allow_errors();
    setenv("HCOMM_LOG_LEVEL", "none", 1);
    EXPECT_EQ(HCCL_SUCCESS, HcclCommInitAll(1, &device, &comm));
    EXPECT_EQ(ACL_SUCCESS, aclrtSetDevice(0));
    mem = wmem_alloc(W_DEVICE, LEN);
    for (int i = 0; i < 50; i++) {
        pthread_t looker, enders[2];
        atomic_int ended = 0;

        EXPECT_EQ(HCCL_SUCCESS, HcclCommSymWinRegister(comm, mem, LEN, &window, 1));
        looked_at = window;
        atomic_store(&over, false);
        EXPECT_EQ(0, pthread_create(&looker, NULL, look, NULL));
        for (int j = 0; j < 2; j++)
            EXPECT_EQ(0, pthread_create(&enders[j], NULL, end_it, &ended));
        for (int j = 0; j < 2; j++)
            EXPECT_EQ(0, pthread_join(enders[j], NULL));
        EXPECT_EQ(1, atomic_load(&ended));
        atomic_store(&over, true);
        EXPECT_EQ(0, pthread_join(looker, NULL));
    }
    wmem_free(W_DEVICE, mem);
    EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comm));
    EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceForce(0));
}

/* ---- without memory, without a rank ---- */

/* All ranks are at `round`. */
static void
round_barrier(struct wrank *rank, int round)
{
    atomic_fetch_add(&rank->shared->turn, 1);
    while (atomic_load(&rank->shared->turn) < round * (int)rank->num)
        usleep(100);
}

/* Whichever allocation fails: all ranks have the window, or none. */
static void
no_memory(struct wrank *rank)
{
    struct mem mem = mem_make(true);
    HcclCommSymWindow window;
    int rounds = 0;
    HcclResult rc;

    if (!rank->threads || rank->number == 0)
        test_allow_errors();
    window = enroll(rank, mem.addr, LEN); /* connects */
    GOOD(HcclCommSymWinDeregister(window));
    for (long nth = 0;; nth++) {
        window = NULL;
        round_barrier(rank, ++rounds);
        if (rank->number == 0)
            hc_alloc_fail_nth(nth);
        rc = HcclCommSymWinRegister(rank->comm, mem.addr, LEN, &window, 1);
        round_barrier(rank, ++rounds);
        if (rank->number == 0)
            hc_alloc_fail_nth(-1);
        CHECK((rc == HCCL_SUCCESS) == (window != NULL));
        atomic_store(&rank->shared->words[rank->number], rc == HCCL_SUCCESS ? 1 : 2);
        round_barrier(rank, ++rounds);
        CHECK(atomic_load(&rank->shared->words[0]) == atomic_load(&rank->shared->words[1]));
        if (rc == HCCL_SUCCESS)
            break;
        if (HcclCommSymWinRegister(rank->comm, mem.addr, LEN, &window, 1) != HCCL_SUCCESS)
            break; /* the communicator could not go on, and says so everywhere */
        GOOD(HcclCommSymWinDeregister(window));
    }
    if (rc == HCCL_SUCCESS)
        GOOD(HcclCommSymWinDeregister(window));
    round_barrier(rank, ++rounds);
    mem_end(&mem);
}

TEST_RANKS(without_memory_no_rank_gets_the_symmetric_window, 2, no_memory)

/* The second one ends before it registers; the first one finds out, and how to go on is its own
 * business. */
static void
leaves(struct wrank *rank)
{
    struct mem mem = mem_make(false);
    HcclCommSymWindow window = enroll(rank, mem.addr, LEN), more = NULL;

    if (rank->number == 1)
        _exit(0);
    test_allow_errors();
    CHECK_EQ(HCCL_E_REMOTE, HcclCommSymWinRegister(rank->comm, mem.addr, 4096, &more, 1));
    CHECK(more == NULL && test_logged("rank 1") > 0);
    CHECK_EQ(0, *at_peer(window, 1, 4096)); /* what is mapped stays */
    GOOD(HcclCommSymWinDeregister(window));
    mem_end(&mem);
}

TEST(a_rank_that_is_gone_is_named_and_not_waited_for)
{
    wranks_processes(2, leaves);
}
