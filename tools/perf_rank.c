/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * perf_rank: a rank from its start to its end.
 *
 * A rank that fails ends its process: ranks that wait for it learn so from the library, or are
 * ended by whoever started all.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "acl/acl.h"
#include "base/alloc.h"
#include "hccl/hccl_comm.h"
#include "tools/cmd.h"
#include "tools/perf_coll.h"

#define LEN_LEAST 4096u /* of a buffer */

const char *const perf_memory_names[3] = {"device", "pinned", "malloc"};

void
perf_doing(struct perf_rank *rank, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vsnprintf(rank->doing, sizeof rank->doing, fmt, args);
    va_end(args);
}

HcclResult
perf_fail(struct perf_rank *rank, HcclResult rc, const char *fmt, ...)
{
    char text[256];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    fprintf(stderr, "hcomm perf: rank %u: %s\n", rank->rank, text);
    rank->told = true;
    return rc;
}

/* ---- where it runs ---- */

uint32_t
perf_processors(void)
{
    cpu_set_t may;

    if (sched_getaffinity(0, sizeof may, &may) != 0)
        return (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
    return (uint32_t)CPU_COUNT(&may);
}

void
perf_pin(uint32_t local)
{
    cpu_set_t may, one;
    int nth;

    if (sched_getaffinity(0, sizeof may, &may) != 0)
        return; /* more processors than a set has: let the kernel choose */
    nth = (int)(local % (uint32_t)CPU_COUNT(&may));
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &may) && nth-- == 0)
            CPU_SET(cpu, &one);
    }
    (void)sched_setaffinity(0, sizeof one, &one);
}

/* ---- memory ---- */

static uint8_t *
allocate(const struct perf_rank *rank)
{
    uint64_t len = rank->coll == NULL ? rank->len : rank->len + PERF_GUARD;
    void *memory = NULL;

    if (rank->options->memory == PERF_MALLOC)
        return hc_zalloc_aligned(4096, len);
    if (rank->options->memory == PERF_PINNED)
        return aclrtMallocHost(&memory, len) == ACL_SUCCESS ? memory : NULL;
    return aclrtMalloc(&memory, len, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS ? memory : NULL;
}

static void
give_back(const struct perf_rank *rank, uint8_t *memory)
{
    if (rank->options->memory == PERF_MALLOC)
        hc_free(memory);
    else if (rank->options->memory == PERF_PINNED)
        (void)aclrtFreeHost(memory);
    else
        (void)aclrtFree(memory);
}

static uint64_t
most_samples(const struct perf_options *options)
{
    return options->iters > 10000 ? options->iters : 10000;
}

static HcclResult
make_buffers(struct perf_rank *rank)
{
    const struct perf_test all = {.op = perf_ops, .bytes = rank->len};
    char size[32];

    rank->sample_room = most_samples(rank->options);
    rank->samples = hc_calloc(rank->sample_room, sizeof *rank->samples);
    rank->src = allocate(rank);
    rank->dst = rank->src == NULL ? NULL : allocate(rank);
    if (rank->samples == NULL || rank->dst == NULL)
        return perf_fail(rank, HCCL_E_MEMORY,
                         "no %s memory for two buffers of %s (see above): lower --max",
                         perf_memory_names[rank->options->memory], perf_size(rank->len, size));
    perf_fill(&all, rank->src, rank->rank); /* no page is new when time counts */
    perf_fill(&all, rank->dst, rank->rank);
    return HCCL_SUCCESS;
}

/* ---- the others ---- */

static HcclResult
open_boxes(struct perf_rank *rank)
{
    void *addr = NULL;
    HcclResult rc = HcommWindowAllocate(rank->comm, sizeof *rank->box, HCOMM_ACCESS_ALL, &addr,
                                        &rank->box_window);

    rank->box = addr;
    rank->boxes = hc_calloc(rank->size, sizeof *rank->boxes);
    if (rc == HCCL_SUCCESS && rank->boxes == NULL)
        rc = HCCL_E_MEMORY;
    for (uint32_t i = 0; i < rank->size && rc == HCCL_SUCCESS; i++) {
        rc = HcommWindowGetPeer(rank->box_window, i, &addr, NULL, NULL);
        rank->boxes[i] = addr;
        if (rc == HCCL_SUCCESS && addr == NULL)
            rc = perf_fail(rank, HCCL_E_NOT_SUPPORT,
                           "the memory of rank %u cannot be mapped here: start all ranks on one "
                           "host",
                           i);
    }
    return rc;
}

static HcclResult
rank_open(struct perf_rank *rank)
{
    HcclResult rc;

    perf_doing(rank, "the start of device %d", (int)rank->device);
    if (aclrtSetDevice(rank->device) != ACL_SUCCESS ||
        aclrtCreateStream(&rank->stream) != ACL_SUCCESS)
        return HCCL_E_RUNTIME;
    perf_doing(rank, "joining the other ranks");
    rc = HcclCommInitRootInfo(rank->size, &rank->job->root, rank->rank, &rank->comm);
    if (rc == HCCL_SUCCESS)
        rc = open_boxes(rank);
    if (rc != HCCL_SUCCESS)
        return rc;
    perf_doing(rank, "making the buffers");
    if (rank->options->coll.any)
        rc = perf_coll_open(rank);
    if (rc == HCCL_SUCCESS)
        rc = make_buffers(rank);
    if (rc == HCCL_SUCCESS && rank->rank == 0 && rank->options->plot != NULL &&
        (rank->rows = open_memstream(&rank->rows_text, &rank->rows_len)) == NULL)
        rc = perf_fail(rank, HCCL_E_MEMORY, "no memory for the rows of the picture");
    if (rc == HCCL_SUCCESS && rank->coll == NULL)
        rc = HcommWindowCreate(rank->comm, rank->dst, rank->len, HCOMM_ACCESS_ALL, &rank->window);
    return rc;
}

static HcclResult
rank_close(struct perf_rank *rank)
{
    HcclResult rc = perf_barrier(rank), end;

    perf_doing(rank, "the end");
    if (rank->window != NULL) {
        end = HcommWindowDestroy(rank->window);
        rc = rc == HCCL_SUCCESS ? end : rc;
    }
    end = HcommWindowDestroy(rank->box_window);
    rc = rc == HCCL_SUCCESS ? end : rc;
    end = HcclCommDestroy(rank->comm);
    rc = rc == HCCL_SUCCESS ? end : rc;
    give_back(rank, rank->src);
    give_back(rank, rank->dst);
    perf_coll_close(rank);
    hc_free(rank->samples);
    hc_free(rank->boxes);
    (void)aclrtDestroyStream(rank->stream);
    return rc;
}

static void *
rank_main(void *arg)
{
    static pthread_mutex_t last = PTHREAD_MUTEX_INITIALIZER;
    struct perf_rank *rank = arg;
    HcclResult rc;

    if (rank->pins)
        perf_pin(rank->local);
    rc = rank_open(rank);
    if (rc == HCCL_SUCCESS && rank->coll != NULL)
        rc = perf_coll_all(rank);
    else if (rc == HCCL_SUCCESS)
        rc = rank->options->routes ? perf_routes(rank) : perf_all(rank);
    if (rc == HCCL_SUCCESS)
        rc = perf_draw_rows(rank);
    if (rc == HCCL_SUCCESS)
        rc = rank_close(rank);
    if (rc == HCCL_SUCCESS)
        return NULL;
    pthread_mutex_lock(&last); /* for good: one rank ends the process */
    if (!rank->told)
        (void)perf_fail(rank, rc, "%s failed with error %d; the lines before say why", rank->doing,
                        (int)rc);
    exit(CMD_FAILED);
}

/* ---- all of this process ---- */

static uint64_t
buffer_len(const struct perf_options *options, uint32_t size)
{
    struct perf_test test = {.op = NULL};
    struct perf_coll_test coll = {.op = NULL};
    uint64_t len = options->routes ? PERF_ROUTE_BYTES : LEN_LEAST;

    while (options->coll.any && perf_coll_next(options, size, &coll))
        len = coll.bytes > len ? coll.bytes : len;
    while (!options->coll.any && perf_next_test(options, &test))
        len = test.bytes > len ? test.bytes : len;
    return len;
}

int
perf_run_ranks(const struct perf_job *job, uint32_t first, uint32_t local, uint32_t num,
               uint32_t size)
{
    struct perf_rank *ranks = hc_calloc(num, sizeof *ranks);
    pthread_t *threads = hc_calloc(num, sizeof *threads);
    uint64_t len = buffer_len(job->options, size);
    uint32_t devices = 0;
    bool wrong = false;

    if (ranks == NULL || threads == NULL || aclrtGetDeviceCount(&devices) != ACL_SUCCESS)
        exit(CMD_FAILED);
    for (uint32_t i = 0; i < num; i++) {
        int error;

        ranks[i] = (struct perf_rank){
            .job = job,
            .options = job->options,
            .rank = first + i,
            .size = size,
            .partner = (first + i) ^ 1u,
            .leads = (first + i) % 2 == 0,
            .device = (int32_t)((local + i) % devices),
            .local = local + i,
            .pins = num > 1 && job->options->pin, /* alone, its process is pinned */
            .crowded = size > job->processors,
            .len = len,
        };
        error = pthread_create(&threads[i], NULL, rank_main, &ranks[i]);
        if (error != 0) {
            fprintf(stderr, "hcomm perf: cannot start a thread for rank %u: %s\n", first + i,
                    strerror(error));
            exit(CMD_FAILED);
        }
    }
    for (uint32_t i = 0; i < num; i++) {
        (void)pthread_join(threads[i], NULL);
        wrong = wrong || ranks[i].wrong;
    }
    hc_free(ranks);
    hc_free(threads);
    return wrong ? CMD_FAILED : CMD_GOOD;
}
