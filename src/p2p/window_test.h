/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tests of windows share: the same test with ranks that are threads of one process, and
 * with ranks that are processes.
 *
 *     static void
 *     body(struct wrank *rank)      each rank runs it, on a thread of its own
 *
 *     TEST_RANKS(claim, 2, body)    makes claim_loop and claim_shm
 */
#ifndef HC_P2P_WINDOW_TEST_H
#define HC_P2P_WINDOW_TEST_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "acl/acl.h"
#include "hccl/hccl_comm.h"
#include "hcomm/hcomm_p2p.h"
#include "tests/support/procs.h"
#include "tests/support/test.h"

#define WRANKS_MOST 16
#define INLINE HCOMM_STREAM_INLINE

/* For threads, where an EXPECT cannot leave the test: ends the process. */
#define CHECK(what)                                                                                \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what);                     \
            abort();                                                                               \
        }                                                                                          \
    } while (0)
#define CHECK_EQ(want, have) wrank_check_eq((long long)(want), (long long)(have), #have, __LINE__)
#define GOOD(call) CHECK_EQ(HCCL_SUCCESS, call)

static inline void
wrank_check_eq(long long want, long long have, const char *what, int line)
{
    if (want == have)
        return;
    fprintf(stderr, "line %d: %s is %lld, expected %lld\n", line, what, have, want);
    abort();
}

/* Seen by all ranks. */
struct wshared {
    HcclRootInfo info;
    atomic_int made, turn;
    _Atomic uint64_t words[64];
};

struct wrank {
    HcclComm comm;
    uint32_t number, num;
    bool threads; /* the ranks are threads of one process */
    struct wshared *shared;
    uint32_t barriers;
    /* of run_threads */
    void (*body)(struct wrank *rank);
    pthread_t thread;
};

/* All ranks are there; with two notifies of a window in turn. */
static inline void
wrank_barrier(struct wrank *rank, HcommWindow window)
{
    uint32_t notify = HCOMM_WINDOW_NOTIFIES - 1 - rank->barriers++ % 2;

    for (uint32_t i = 0; i < rank->num; i++)
        GOOD(HcommPutNotify(NULL, 0, HCCL_DATA_TYPE_INT8, window, i, 0, notify, INLINE));
    GOOD(HcommWindowNotifyWait(window, notify, rank->num, 30000, INLINE));
}

static inline void *
wrank_thread(void *arg)
{
    struct wrank *rank = arg;

    CHECK(aclrtSetDevice((int32_t)rank->number) == ACL_SUCCESS);
    rank->body(rank);
    return NULL;
}

static inline void
wranks_threads(uint32_t num, void (*body)(struct wrank *rank))
{
    static struct wshared shared;
    struct wrank ranks[WRANKS_MOST];
    int32_t devices[WRANKS_MOST];
    HcclComm comms[WRANKS_MOST];

    for (uint32_t i = 0; i < num; i++)
        devices[i] = (int32_t)i;
    EXPECT_EQ(HCCL_SUCCESS, HcclCommInitAll(num, devices, comms));
    for (uint32_t i = 0; i < num; i++) {
        ranks[i] = (struct wrank){.comm = comms[i],
                                  .number = i,
                                  .num = num,
                                  .threads = true,
                                  .shared = &shared,
                                  .body = body};
        EXPECT_EQ(0, pthread_create(&ranks[i].thread, NULL, wrank_thread, &ranks[i]));
    }
    for (uint32_t i = 0; i < num; i++)
        EXPECT_EQ(0, pthread_join(ranks[i].thread, NULL));
    for (uint32_t i = 0; i < num; i++) {
        if (ranks[i].comm != NULL) /* the test has destroyed it */
            EXPECT_EQ(HCCL_SUCCESS, HcclCommDestroy(comms[i]));
    }
    for (uint32_t i = 0; i < num; i++)
        EXPECT_EQ(ACL_SUCCESS, aclrtResetDeviceForce((int32_t)i));
}

/* In the children. */
static void (*wranks_body)(struct wrank *rank);
static uint32_t wranks_num;

static inline void
wranks_join(struct wrank *rank)
{
    CHECK(aclrtSetDevice(0) == ACL_SUCCESS);
    if (rank->number == 0) {
        GOOD(HcclGetRootInfo(&rank->shared->info));
        atomic_store(&rank->shared->made, 1);
    }
    procs_await(&rank->shared->made, 1);
    GOOD(HcclCommInitRootInfo(rank->num, &rank->shared->info, rank->number, &rank->comm));
}

static inline void
wranks_child(int number, void *shared)
{
    struct wrank rank = {.number = (uint32_t)number, .num = wranks_num, .shared = shared};

    wranks_join(&rank);
    wranks_body(&rank);
    if (rank.comm != NULL) /* the test has destroyed it */
        GOOD(HcclCommDestroy(rank.comm));
    CHECK(aclrtResetDeviceForce(0) == ACL_SUCCESS);
}

static inline void
wranks_processes(uint32_t num, void (*body)(struct wrank *rank))
{
    struct procs procs;

    wranks_num = num;
    wranks_body = body;
    procs_start(&procs, (int)num, wranks_child, sizeof(struct wshared));
    procs_expect_success(&procs);
}

#define TEST_RANKS(name_, num_, body_)                                                             \
    TEST(name_##_loop)                                                                             \
    {                                                                                              \
        wranks_threads(num_, body_);                                                               \
    }                                                                                              \
    TEST(name_##_shm)                                                                              \
    {                                                                                              \
        wranks_processes(num_, body_);                                                             \
    }

/* ---- memory of all kinds ---- */

enum wkind { W_DEVICE, W_PINNED, W_MALLOC, W_KINDS };

static inline void *
wmem_alloc(enum wkind kind, size_t len)
{
    void *ptr = NULL;

    if (kind == W_DEVICE)
        CHECK(aclrtMalloc(&ptr, len, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
    else if (kind == W_PINNED)
        CHECK(aclrtMallocHost(&ptr, len) == ACL_SUCCESS);
    else
        ptr = malloc(len);
    CHECK(ptr != NULL);
    return ptr;
}

static inline void
wmem_free(enum wkind kind, void *ptr)
{
    if (kind == W_DEVICE)
        CHECK(aclrtFree(ptr) == ACL_SUCCESS);
    else if (kind == W_PINNED)
        CHECK(aclrtFreeHost(ptr) == ACL_SUCCESS);
    else
        free(ptr);
}

#endif
