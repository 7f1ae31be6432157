/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * compare: the collectives of this library, through its public functions alone. Ranks are
 * processes, or threads of one. On streams, the engine that the environment chooses.
 */
#include "coll.h"

#include <acl/acl.h>
#include <hccl/hccl.h>
#include <hcomm/hcomm_p2p.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLOATS HCCL_DATA_TYPE_FP32

struct launch {
    struct coll_options options;
    struct coll_shared *shared;
    HcclComm comms[RANKS_MOST]; /* of threads */
};

struct thread {
    struct launch *launch;
    int rank;
    pthread_t id;
};

static _Thread_local int own_rank;
static _Thread_local HcclComm comm;
static _Thread_local aclrtStream stream; /* or HCOMM_STREAM_INLINE */

static void
check(int code, const char *what)
{
    if (code != 0)
        fail("own: rank %d: %s returned %d", own_rank, what, code);
}

static void
own_describe(char *text, size_t len)
{
    const char *engine = getenv("HCOMM_COLL_ENGINE");

    if (stream == HCOMM_STREAM_INLINE)
        snprintf(text, len, "hcomm, collectives on the calling thread");
    else
        snprintf(text, len, "hcomm, collectives on streams, engine %s",
                 engine != NULL ? engine : "as by default");
}

static void *
own_alloc(size_t len)
{
    void *addr = NULL;

    check(aclrtMalloc(&addr, len, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
    return addr;
}

static void
own_release(void *addr)
{
    check(aclrtFree(addr), "aclrtFree");
}

static void
own_all_reduce(const float *src, float *dst, size_t count)
{
    check(HcclAllReduce((void *)src, dst, count, FLOATS, HCCL_REDUCE_SUM, comm, stream),
          "HcclAllReduce");
}

static void
own_all_gather(const float *src, float *dst, size_t count)
{
    check(HcclAllGather((void *)src, dst, count, FLOATS, comm, stream), "HcclAllGather");
}

static void
own_reduce_scatter(const float *src, float *dst, size_t count)
{
    check(HcclReduceScatter((void *)src, dst, count, FLOATS, HCCL_REDUCE_SUM, comm, stream),
          "HcclReduceScatter");
}

static void
own_all_to_all(const float *src, float *dst, size_t count)
{
    check(HcclAlltoAll(src, count, FLOATS, dst, count, FLOATS, comm, stream), "HcclAlltoAll");
}

static void
own_broadcast(float *buf, size_t count, int root)
{
    check(HcclBroadcast(buf, count, FLOATS, (uint32_t)root, comm, stream), "HcclBroadcast");
}

static void
own_finish(void)
{
    if (stream != HCOMM_STREAM_INLINE)
        check(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
}

static const struct coll_lib own_lib = {
    .name = "own",
    .memory = "device",
    .describe = own_describe,
    .alloc = own_alloc,
    .release = own_release,
    .all_reduce = own_all_reduce,
    .all_gather = own_all_gather,
    .reduce_scatter = own_reduce_scatter,
    .all_to_all = own_all_to_all,
    .broadcast = own_broadcast,
    .finish = own_finish,
};

/* The device is set, and there is a communicator. */
static void
rank_run(const struct launch *launch)
{
    struct group group = {.rank = own_rank,
                          .ranks = launch->options.ranks,
                          .shared = launch->shared,
                          .lib = &own_lib,
                          .options = &launch->options};

    stream = HCOMM_STREAM_INLINE;
    if (!launch->options.in_line)
        check(aclrtCreateStream(&stream), "aclrtCreateStream");
    coll_main(&group);
    if (!launch->options.in_line)
        check(aclrtDestroyStream(stream), "aclrtDestroyStream");
}

/* ---- ranks as processes ---- */

static void
process_main(int rank, void *arg)
{
    const struct launch *launch = arg;
    struct group group = {
        .rank = rank, .ranks = launch->options.ranks, .shared = launch->shared, .lib = &own_lib};
    HcclRootInfo info;

    own_rank = rank;
    check(aclInit(NULL), "aclInit");
    check(aclrtSetDevice(rank), "aclrtSetDevice");
    _Static_assert(sizeof info <= HELLO_MOST, "a root info fits");
    if (rank == 0) {
        check(HcclGetRootInfo(&info), "HcclGetRootInfo");
        memcpy(launch->shared->hello, &info, sizeof info);
    }
    group_meet(&group);
    memcpy(&info, launch->shared->hello, sizeof info);
    check(HcclCommInitRootInfo((uint32_t)group.ranks, &info, (uint32_t)rank, &comm),
          "HcclCommInitRootInfo");
    rank_run(launch);
    check(HcclCommDestroy(comm), "HcclCommDestroy");
    check(aclrtResetDevice(rank), "aclrtResetDevice");
    check(aclFinalize(), "aclFinalize");
}

/* ---- ranks as threads ---- */

static void *
thread_main(void *arg)
{
    const struct thread *thread = arg;

    own_rank = thread->rank;
    comm = thread->launch->comms[own_rank];
    pin(own_rank);
    check(aclrtSetDevice(own_rank), "aclrtSetDevice");
    rank_run(thread->launch);
    return NULL;
}

/* A failed rank ends the process. */
static void
threads_run(struct launch *launch)
{
    struct thread threads[RANKS_MOST];
    int32_t devices[RANKS_MOST];
    int ranks = launch->options.ranks;
    char count[16];

    snprintf(count, sizeof count, "%d", ranks);
    setenv("HCOMM_DEVICE_COUNT", count, 1);
    check(aclInit(NULL), "aclInit");
    for (int rank = 0; rank < ranks; rank++)
        devices[rank] = rank;
    check(HcclCommInitAll((uint32_t)ranks, devices, launch->comms), "HcclCommInitAll");
    for (int rank = 0; rank < ranks; rank++) {
        threads[rank].launch = launch;
        threads[rank].rank = rank;
        if (pthread_create(&threads[rank].id, NULL, thread_main, &threads[rank]) != 0)
            fail("own: cannot start thread %d", rank);
    }
    for (int rank = 0; rank < ranks; rank++)
        pthread_join(threads[rank].id, NULL);
    for (int rank = 0; rank < ranks; rank++)
        check(HcclCommDestroy(launch->comms[rank]), "HcclCommDestroy");
    check(aclFinalize(), "aclFinalize");
}

int
main(int argc, char **argv)
{
    struct launch launch = {.options.ranks = 2, .shared = shared_inherit(sizeof *launch.shared)};

    coll_parse(&launch.options, argc, argv);
    if (!launch.options.in_threads)
        return ranks_fork("own", launch.options.ranks, process_main, &launch);
    threads_run(&launch);
    return 0;
}
