/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * one_sided_test: ranks that play a part, on threads of one process (loop) or in processes (shm).
 * A part must not use EXPECT_...: MUST() also works on a thread.
 */
#ifndef HC_TESTS_ONE_SIDED_TEST_H
#define HC_TESTS_ONE_SIDED_TEST_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "acl/acl.h"
#include "hccl/hccl.h"
#include "hccl/hccl_comm.h"
#include "hccl/hccl_one_sided_services.h"
#include "tests/support/procs.h"
#include "tests/support/test.h"

#define TEAM_MOST 8

/* What they share. */
struct team {
    HcclRootInfo info;
    atomic_int ready;
    atomic_int turn, met;
    uint64_t addr[TEAM_MOST]; /* what the application tells its ranks */
};

#define MUST_BE(want_, call_)                                                                      \
    do {                                                                                           \
        long got_ = (long)(call_);                                                                 \
        if (got_ != (long)(want_)) {                                                               \
            fprintf(stderr, "%s:%d: %s is %ld, not %ld\n", __FILE__, __LINE__, #call_, got_,       \
                    (long)(want_));                                                                \
            abort();                                                                               \
        }                                                                                          \
    } while (0)
#define MUST(call_) MUST_BE(0, call_)
#define MUST_HOLD(what_) MUST_BE(1, (what_) ? 1 : 0)

/* A rank at work. */
struct mate {
    struct team *team;
    HcclComm comm;
    uint32_t rank, num;
    aclrtStream stream;
};

static inline void
mate_open(struct mate *mate, struct team *team, int rank, int num)
{
    *mate = (struct mate){.team = team, .rank = (uint32_t)rank, .num = (uint32_t)num};
    MUST(aclrtSetDevice(rank));
    if (rank == 0) {
        MUST(HcclGetRootInfo(&team->info));
        atomic_store(&team->ready, 1);
    }
    procs_await(&team->ready, 1);
    MUST(HcclCommInitRootInfo((uint32_t)num, &team->info, (uint32_t)rank, &mate->comm));
    MUST(aclrtCreateStream(&mate->stream));
}

static inline void
mate_close(struct mate *mate)
{
    MUST(aclrtDestroyStream(mate->stream));
    MUST(HcclCommDestroy(mate->comm));
    MUST(aclrtResetDeviceForce((int32_t)mate->rank));
}

/* All ranks meet. */
static inline void
meet(const struct mate *mate)
{
    int num = (int)mate->num, me = atomic_fetch_add(&mate->team->met, 1);

    while (atomic_load(&mate->team->met) < (me / num + 1) * num)
        usleep(200);
}

/* Ranks take turns: waits for turn `turn`; the next one begins. */
static inline void
await_turn(struct mate *mate, int turn)
{
    while (atomic_load(&mate->team->turn) < turn)
        usleep(500);
}

static inline void
next_turn(struct mate *mate)
{
    atomic_fetch_add(&mate->team->turn, 1);
}

/* ---- memory ---- */

enum kind { DEVICE, PINNED, MALLOC, KINDS };

static inline void *
get_memory(enum kind kind, size_t len)
{
    void *ptr = NULL;

    if (kind == DEVICE)
        MUST(aclrtMalloc(&ptr, len, ACL_MEM_MALLOC_NORMAL_ONLY));
    else if (kind == PINNED)
        MUST(aclrtMallocHost(&ptr, len));
    else
        MUST_HOLD((ptr = malloc(len)) != NULL);
    memset(ptr, 0, len);
    return ptr;
}

static inline void
give_memory(enum kind kind, void *ptr)
{
    if (kind == DEVICE)
        MUST(aclrtFree(ptr));
    else if (kind == PINNED)
        MUST(aclrtFreeHost(ptr));
    else
        free(ptr);
}

static inline int
type_of(enum kind kind)
{
    return kind == DEVICE ? COMM_MEM_TYPE_DEVICE : COMM_MEM_TYPE_HOST;
}

static inline void
fill(void *ptr, size_t len, unsigned seed)
{
    unsigned char *bytes = ptr;

    for (size_t i = 0; i < len; i++)
        bytes[i] = (unsigned char)(i * 7 + seed + i / 251);
}

static inline bool
is_filled(const void *ptr, size_t len, unsigned seed)
{
    const unsigned char *bytes = ptr;

    for (size_t i = 0; i < len; i++) {
        if (bytes[i] != (unsigned char)(i * 7 + seed + i / 251))
            return false;
    }
    return true;
}

/* ---- steps ---- */

/* Registers for the peer, exchanges one description each way, enables. */
static inline void
share(struct mate *mate, uint32_t peer, int type, void *addr, uint64_t size, HcclMemDesc *own,
      HcclMemDesc *far, CommMem *mem)
{
    HcclMemDescs local = {own, 1}, remote = {far, 1};
    u32 num = 0;

    MUST(HcclRegisterMem(mate->comm, peer, type, addr, size, own));
    MUST(HcclExchangeMemDesc(mate->comm, peer, &local, 60, &remote, &num));
    MUST_BE(1, num);
    MUST(HcclEnableMemAccess(mate->comm, far, mem));
    MUST_BE(size, mem->size);
    MUST_BE(type, mem->type);
}

static inline HcclResult
put(struct mate *mate, uint32_t peer, void *local, void *remote, uint64_t len)
{
    HcclOneSideOpDesc desc = {local, remote, len, HCCL_DATA_TYPE_UINT8};
    HcclResult rc = HcclBatchPut(mate->comm, peer, &desc, 1, mate->stream);

    if (rc != HCCL_SUCCESS)
        return rc;
    return aclrtSynchronizeStream(mate->stream) == ACL_SUCCESS ? HCCL_SUCCESS : HCCL_E_REMOTE;
}

static inline HcclResult
get(struct mate *mate, uint32_t peer, void *local, void *remote, uint64_t len)
{
    HcclOneSideOpDesc desc = {local, remote, len, HCCL_DATA_TYPE_UINT8};
    HcclResult rc = HcclBatchGet(mate->comm, peer, &desc, 1, mate->stream);

    if (rc != HCCL_SUCCESS)
        return rc;
    return aclrtSynchronizeStream(mate->stream) == ACL_SUCCESS ? HCCL_SUCCESS : HCCL_E_REMOTE;
}

/* ---- running ---- */

typedef void (*part_fn)(int rank, void *team);

struct player {
    part_fn fn;
    int rank;
    struct team *team;
    pthread_t thread;
};

static inline void *
player_main(void *arg)
{
    struct player *player = arg;

    player->fn(player->rank, player->team);
    return NULL;
}

static bool on_threads; /* set before they start */

/* Of a part that errors are expected of: as test_allow_errors(). */
static inline void
allow_errors(void)
{
    if (!on_threads)
        test_allow_errors();
}

static inline void
play_on_threads(int num, part_fn fn)
{
    static struct team team;
    struct player players[TEAM_MOST];

    on_threads = true;
    for (int i = 0; i < num; i++) {
        players[i] = (struct player){.fn = fn, .rank = i, .team = &team};
        EXPECT_EQ(0, pthread_create(&players[i].thread, NULL, player_main, &players[i]));
    }
    for (int i = 0; i < num; i++)
        EXPECT_EQ(0, pthread_join(players[i].thread, NULL));
}

static inline void
play_in_processes(int num, part_fn fn)
{
    struct procs procs;

    procs_start(&procs, num, fn, sizeof(struct team));
    procs_expect_success(&procs);
}

/* Two tests of one part. */
#define BOTH_SUCH(name_, num_, part_, before_)                                                     \
    TEST(name_##_between_threads)                                                                  \
    {                                                                                              \
        before_;                                                                                   \
        play_on_threads(num_, part_);                                                              \
    }                                                                                              \
    TEST(name_##_between_processes)                                                                \
    {                                                                                              \
        play_in_processes(num_, part_);                                                            \
    }
#define BOTH(name_, num_, part_) BOTH_SUCH(name_, num_, part_, (void)0)

/* Of one that calls allow_errors(). */
#define BOTH_ALLOWING(name_, num_, part_) BOTH_SUCH(name_, num_, part_, test_allow_errors())

#endif
