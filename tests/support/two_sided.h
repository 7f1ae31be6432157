/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * two_sided: what the tests of send and receive share. A body is what every rank does; it runs with
 * the ranks as threads of this process, or as processes.
 *
 *     static void
 *     body(struct side *side)      on a thread of its own, where expectations cannot leave the
 *                                  test: MUST, MUST_EQ and OK end the process
 *
 *     TEST_SIDES(claim, 2, body)   makes claim_in_threads and claim_in_processes
 *
 * What the ranks give each other besides messages: `side->shared`, zeroed, [SIDES_SHARED] words.
 */
#ifndef HC_TEST_SUPPORT_TWO_SIDED_H
#define HC_TEST_SUPPORT_TWO_SIDED_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "acl/acl.h"
#include "hccl/hccl_comm.h"
#include "hcomm/hcomm_p2p.h"
#include "tests/support/procs.h"
#include "tests/support/test.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SIDES_SLOW 1
#else
#define SIDES_SLOW 0
#endif

#define SIDES_MOST 16u
#define SIDES_SHARED 64u
#define INLINE HCOMM_STREAM_INLINE
#define BYTES HCCL_DATA_TYPE_UINT8

#define MUST(what)                                                                                 \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what);                     \
            abort();                                                                               \
        }                                                                                          \
    } while (0)
#define MUST_EQ(want, have) must_eq((long long)(want), (long long)(have), #have, __FILE__, __LINE__)
#define OK(call) MUST_EQ(0, call)

static inline void
must_eq(long long want, long long have, const char *what, const char *file, int line)
{
    if (want == have)
        return;
    fprintf(stderr, "%s:%d: %s is %lld, expected %lld\n", file, line, what, have, want);
    abort();
}

/* Seen by all ranks. */
struct sides {
    HcclRootInfo info;
    atomic_int made;
    atomic_int turns[8];
    _Atomic uint64_t words[SIDES_SHARED];
};

/* One rank. */
struct side {
    HcclComm comm;
    uint32_t rank, num;
    bool threads; /* the others are in this process */
    struct sides *shared;
    /* of sides_in_threads */
    void (*body)(struct side *side);
    pthread_t thread;
};

static inline uint64_t
side_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

/* Until `turn` has reached `value`. */
static inline void
side_await(atomic_int *turn, int value)
{
    for (int i = 0; i < 600000 && atomic_load(turn) < value; i++)
        usleep(100);
    MUST(atomic_load(turn) >= value);
}

/* All ranks are here, without a message. `nth` of turns: each may be used again and again. */
static inline void
side_meet(struct side *side, uint32_t nth)
{
    atomic_int *turn = &side->shared->turns[nth];
    int now = atomic_fetch_add(turn, 1) + 1, num = (int)side->num;

    side_await(turn, (now + num - 1) / num * num);
}

static inline void *
side_thread(void *arg)
{
    struct side *side = arg;

    OK(aclrtSetDevice((int32_t)side->rank));
    side->body(side);
    return NULL;
}

static inline void
sides_in_threads(uint32_t num, void (*body)(struct side *side))
{
    static struct sides shared;
    struct side sides[SIDES_MOST];
    HcclComm comms[SIDES_MOST];
    int32_t devices[SIDES_MOST];

    memset(&shared, 0, sizeof shared);
    for (uint32_t i = 0; i < num; i++)
        devices[i] = (int32_t)i;
    OK(HcclCommInitAll(num, devices, comms));
    for (uint32_t i = 0; i < num; i++) {
        sides[i] = (struct side){.comm = comms[i],
                                 .rank = i,
                                 .num = num,
                                 .threads = true,
                                 .shared = &shared,
                                 .body = body};
        OK(pthread_create(&sides[i].thread, NULL, side_thread, &sides[i]));
    }
    for (uint32_t i = 0; i < num; i++)
        OK(pthread_join(sides[i].thread, NULL));
    for (uint32_t i = 0; i < num; i++) {
        if (sides[i].comm != NULL)
            OK(HcclCommDestroy(sides[i].comm));
    }
    for (uint32_t i = 0; i < num; i++)
        OK(aclrtResetDeviceForce((int32_t)i));
}

/* A communicator of `num` processes; `nth`: the how manieth they make. */
static inline HcclResult
side_join(struct side *side, uint32_t num, uint32_t rank, int nth)
{
    struct sides *shared = side->shared;
    HcclResult rc = HCCL_SUCCESS;

    side->num = num;
    side->rank = rank;
    side->comm = NULL;
    if (rank == 0) {
        rc = HcclGetRootInfo(&shared->info);
        atomic_store(&shared->made, nth);
    } else {
        side_await(&shared->made, nth);
    }
    return rc == HCCL_SUCCESS ? HcclCommInitRootInfo(num, &shared->info, rank, &side->comm) : rc;
}

static uint32_t sides_num;
static void (*sides_body)(struct side *side);

static inline void
side_process(int rank, void *shared)
{
    struct side side = {.shared = shared};

    OK(aclrtSetDevice(0));
    OK(side_join(&side, sides_num, (uint32_t)rank, 1));
    sides_body(&side);
    if (side.comm != NULL)
        OK(HcclCommDestroy(side.comm));
    OK(aclrtResetDeviceForce(0));
}

static inline void
sides_in_processes(uint32_t num, void (*body)(struct side *side))
{
    struct procs procs;

    sides_num = num;
    sides_body = body;
    procs_start(&procs, (int)num, side_process, sizeof(struct sides));
    procs_expect_success(&procs);
}

#define TEST_SIDES(name_, num_, body_)                                                             \
    TEST(name_##_in_threads)                                                                       \
    {                                                                                              \
        sides_in_threads(num_, body_);                                                             \
    }                                                                                              \
    TEST(name_##_in_processes)                                                                     \
    {                                                                                              \
        sides_in_processes(num_, body_);                                                           \
    }

/* ---- messages ---- */

static inline uint64_t
mixed(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

/* Bytes that say where they belong. */
static inline void
fill(void *buf, uint64_t len, uint64_t seed)
{
    uint8_t *at = buf;

    for (uint64_t i = 0; i < len; i += 8) {
        uint64_t word = mixed(seed * 0x9E3779B97F4A7C15u + i);

        memcpy(at + i, &word, len - i < 8 ? len - i : 8);
    }
}

static inline bool
is_filled(const void *buf, uint64_t len, uint64_t seed)
{
    const uint8_t *at = buf;

    for (uint64_t i = 0; i < len; i += 8) {
        uint64_t word = mixed(seed * 0x9E3779B97F4A7C15u + i);

        if (memcmp(at + i, &word, len - i < 8 ? len - i : 8) != 0)
            return false;
    }
    return true;
}

static inline bool
is_all(const void *buf, uint64_t len, uint8_t value)
{
    const uint8_t *at = buf;

    return len == 0 || (at[0] == value && memcmp(at, at + 1, len - 1) == 0);
}

/* ---- memory ---- */

enum memory { DEVICE, PINNED, PLAIN, MEMORIES };

static inline void *
memory_get(enum memory kind, uint64_t len)
{
    void *memory = NULL;

    if (kind == DEVICE)
        OK(aclrtMalloc(&memory, len, ACL_MEM_MALLOC_NORMAL_ONLY));
    else if (kind == PINNED)
        OK(aclrtMallocHost(&memory, len));
    else
        memory = malloc(len);
    MUST(memory != NULL);
    return memory;
}

static inline void
memory_put(enum memory kind, void *memory)
{
    if (kind == DEVICE)
        OK(aclrtFree(memory));
    else if (kind == PINNED)
        OK(aclrtFreeHost(memory));
    else
        free(memory);
}

/* ---- calls ---- */

/* What became of a call: queued ones are waited for. */
static inline int
settle(aclrtStream stream, HcclResult rc)
{
    if (rc != HCCL_SUCCESS || stream == INLINE)
        return rc;
    return aclrtSynchronizeStream(stream);
}

static inline int
send_to(struct side *side, const void *buf, uint64_t len, uint32_t to, uint32_t tag)
{
    return HcommSend(buf, len, BYTES, to, tag, side->comm, INLINE);
}

static inline int
recv_from(struct side *side, void *buf, uint64_t len, uint32_t from, uint32_t tag)
{
    return HcommRecv(buf, len, BYTES, from, tag, NULL, side->comm, INLINE);
}

/* A byte to the other one and back: both have come so far. */
static inline void
handshake(struct side *side, uint32_t other)
{
    uint8_t mine = (uint8_t)side->rank, theirs = 0xFF;

    OK(HcommSendRecv(&mine, 1, BYTES, other, 77777, &theirs, 1, BYTES, other, 77777, NULL,
                     side->comm, INLINE));
    MUST_EQ(other, theirs);
}

#endif
