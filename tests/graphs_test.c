/* SPDX-License-Identifier: BSD-3-Clause */
/* Communication in graphs: what ranks capture on a stream of their own, over both transports. */
#include "hccl/hccl_res.h"
#include "hcomm/hcomm_p2p.h"
#include "hcomm/hcomm_primitives.h"
#include "tests/one_sided_test.h"

#define COUNT 20000u /* of uint64: a long message */
#define RUNS 6

static aclmdlRI
captured(struct mate *mate)
{
    aclmdlRI graph = NULL;

    MUST(aclmdlRICaptureEnd(mate->stream, &graph));
    return graph;
}

static void
run_once(struct mate *mate, aclmdlRI graph)
{
    MUST(aclmdlRIExecuteAsync(graph, mate->stream));
    MUST(aclrtSynchronizeStream(mate->stream));
}

/* Each rank sends to the next, and receives from the one before, a word and many. */
static void
ring(int rank, void *team)
{
    uint32_t next, before;
    struct mate mate;
    uint64_t *own, *got;
    aclmdlRI graph;

    mate_open(&mate, team, rank, 3);
    next = (mate.rank + 1) % 3;
    before = (mate.rank + 2) % 3;
    own = get_memory(DEVICE, COUNT * sizeof *own);
    got = get_memory(DEVICE, COUNT * sizeof *got);
    MUST(aclmdlRICaptureBegin(mate.stream, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL));
    for (int i = 0; i < 2; i++) {
        uint64_t count = i == 0 ? 1 : COUNT;

        MUST(HcclGroupStart());
        MUST(HcclSend(own, count, HCCL_DATA_TYPE_UINT64, next, mate.comm, mate.stream));
        MUST(HcclRecv(got, count, HCCL_DATA_TYPE_UINT64, before, mate.comm, mate.stream));
        MUST(HcclGroupEnd());
    }
    graph = captured(&mate);
    for (uint64_t run = 1; run <= RUNS; run++) {
        for (uint64_t i = 0; i < COUNT; i++)
            own[i] = run * 1000000 + mate.rank * 100000 + i;
        run_once(&mate, graph);
        for (uint64_t i = 0; i < COUNT; i++)
            MUST_HOLD(got[i] == run * 1000000 + before * 100000 + i);
    }
    MUST(aclmdlRIDestroy(graph));
    give_memory(DEVICE, own);
    give_memory(DEVICE, got);
    meet(&mate);
    mate_close(&mate);
}

BOTH(messages_are_captured_and_replayed, 3, ring)

/* Rank 0 puts, accumulates, gets and tells; rank 1 waits for it. */
static void
one_sided(int rank, void *team)
{
    HcommWindow window;
    struct mate mate;
    uint64_t *words, *base;
    aclmdlRI graph;

    mate_open(&mate, team, rank, 2);
    MUST(HcommWindowAllocate(mate.comm, 4096, HCOMM_ACCESS_ALL, (void **)&base, &window));
    words = get_memory(DEVICE, 64);
    memset(base, 0, 64);
    meet(&mate);
    MUST(aclmdlRICaptureBegin(mate.stream, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL));
    if (rank == 0) {
        MUST(HcommAccumulate(words, 1, HCCL_DATA_TYPE_UINT64, HCCL_REDUCE_SUM, window, 1, 8,
                             mate.stream));
        MUST(HcommGet(words + 1, 1, HCCL_DATA_TYPE_UINT64, window, 1, 8, mate.stream));
        MUST(HcommPutNotify(words, 1, HCCL_DATA_TYPE_UINT64, window, 1, 0, 3, mate.stream));
    } else {
        MUST(HcommWindowNotifyWait(window, 3, 1, 30000, mate.stream));
        MUST(aclrtMemcpyAsync(words, 8, base, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, mate.stream));
    }
    graph = captured(&mate);
    for (uint64_t run = 1; run <= RUNS; run++) {
        if (rank == 0)
            words[0] = run;
        run_once(&mate, graph);
        MUST_HOLD(words[0] == run);
        if (rank == 0)
            MUST_HOLD(words[1] == run * (run + 1) / 2);
        meet(&mate);
    }
    MUST(HcommWindowDestroy(window));
    allow_errors();
    if (rank == 0) { /* a window that is gone is found out by the run */
        MUST(aclmdlRIExecuteAsync(graph, mate.stream));
        MUST_BE(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeStream(mate.stream));
    }
    MUST(aclmdlRIDestroy(graph));
    give_memory(DEVICE, words);
    meet(&mate);
    mate_close(&mate);
}

BOTH_ALLOWING(one_sided_calls_are_captured_and_replayed, 2, one_sided)

/* The operator's way: a thread over the user's stream, a kernel's thread, records between them. */
static void
operator_like(int rank, void *team)
{
    ThreadHandle user, other;
    struct mate mate;
    uint64_t *words;
    aclmdlRI graph;

    mate_open(&mate, team, rank, 2);
    words = get_memory(DEVICE, 64);
    memset(words, 0, 64);
    MUST(HcclThreadAcquireWithStream(mate.comm, COMM_ENGINE_CPU_TS, mate.stream, 2, &user));
    MUST(HcclThreadAcquire(mate.comm, COMM_ENGINE_CPU_TS, 1, 2, &other));
    MUST(aclmdlRICaptureBegin(mate.stream, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL));
    MUST(HcommLocalCopyOnThread(user, words + 1, words, 8));
    MUST(HcommThreadNotifyRecordOnThread(user, other, 0));
    MUST(HcommThreadNotifyWaitOnThread(other, 0, 60));
    MUST(HcommLocalCopyOnThread(other, words + 2, words + 1, 8));
    MUST(HcommThreadNotifyRecordOnThread(other, user, 0));
    MUST(HcommThreadNotifyWaitOnThread(user, 0, 60));
    graph = captured(&mate);
    for (uint64_t run = 1; run <= RUNS; run++) {
        words[0] = run;
        run_once(&mate, graph);
        MUST_HOLD(words[2] == run);
    }
    meet(&mate);
    MUST(aclmdlRIDestroy(graph));
    give_memory(DEVICE, words);
    mate_close(&mate);
}

BOTH(threads_over_a_captured_stream_take_part, 2, operator_like)

static void
all_reduce(struct mate *mate, uint64_t *words, uint64_t count, aclrtStream stream)
{
    MUST(HcclAllReduce(words, words, count, HCCL_DATA_TYPE_UINT64, HCCL_REDUCE_SUM, mate->comm,
                       stream));
}

/* Recorded on one stream, with ordinary ones before, during and after on others. */
static void
collectives(int rank, void *team)
{
    aclrtStream other;
    struct mate mate;
    uint64_t *words, *plain, *out;
    aclmdlRI graph;

    mate_open(&mate, team, rank, 3);
    MUST(aclrtCreateStream(&other));
    words = get_memory(DEVICE, COUNT * sizeof *words);
    plain = get_memory(DEVICE, COUNT * sizeof *plain);
    out = get_memory(DEVICE, 3 * COUNT * sizeof *out);
    plain[0] = 1;
    all_reduce(&mate, plain, 1, other);
    all_reduce(&mate, plain, 1, mate.stream);
    MUST(aclmdlRICaptureBegin(mate.stream, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL));
    all_reduce(&mate, words, COUNT, mate.stream);
    MUST(HcclAllGather(words, out, COUNT, HCCL_DATA_TYPE_UINT64, mate.comm, mate.stream));
    all_reduce(&mate, words + 1, 1, mate.stream);
    all_reduce(&mate, plain, 1, other); /* this one runs */
    MUST(aclrtSynchronizeStream(other));
    MUST_HOLD(plain[0] == 27);
    graph = captured(&mate);
    for (uint64_t run = 1; run <= RUNS; run++) {
        for (uint64_t i = 0; i < COUNT; i++)
            words[i] = run * i + mate.rank;
        run_once(&mate, graph);
        for (uint64_t i = 0; i < 3 * COUNT; i++)
            MUST_HOLD(out[i] == 3 * run * (i % COUNT) + 3);
        MUST_HOLD(words[1] == 3 * (3 * run + 3));
        if (run % 2 == 0) {
            plain[0] = run;
            all_reduce(&mate, plain, 1, run % 4 == 0 ? other : mate.stream);
            MUST(aclrtSynchronizeDevice());
            MUST_HOLD(plain[0] == 3 * run);
        }
    }
    for (int run = 0; run < RUNS; run++)
        MUST(aclmdlRIExecuteAsync(graph, mate.stream));
    MUST(aclrtSynchronizeStream(mate.stream));
    MUST(aclmdlRIDestroy(graph));
    meet(&mate);
    give_memory(DEVICE, words);
    give_memory(DEVICE, plain);
    give_memory(DEVICE, out);
    MUST(aclrtDestroyStream(other));
    mate_close(&mate);
}

static void
collectives_of_kernels(int rank, void *team)
{
    if (!on_threads)
        setenv("HCOMM_COLL_ENGINE", "aicpu", 1);
    collectives(rank, team);
}

static void
collectives_of_the_host(int rank, void *team)
{
    if (!on_threads)
        setenv("HCOMM_COLL_ENGINE", "cpu_ts", 1);
    collectives(rank, team);
}

BOTH_SUCH(collectives_of_kernels_are_captured_and_replayed, 3, collectives_of_kernels,
          setenv("HCOMM_COLL_ENGINE", "aicpu", 1))
BOTH_SUCH(collectives_of_the_host_are_captured_and_replayed, 3, collectives_of_the_host,
          setenv("HCOMM_COLL_ENGINE", "cpu_ts", 1))

/* The graph keeps no communicator alive, and finds out that it is gone. */
static void
outlived(int rank, void *team)
{
    aclmdlRI messages, notifies;
    ThreadHandle user;
    struct mate mate;
    uint64_t *word;

    mate_open(&mate, team, rank, 2);
    word = get_memory(DEVICE, 8);
    MUST(HcclThreadAcquireWithStream(mate.comm, COMM_ENGINE_CPU_TS, mate.stream, 2, &user));
    MUST(aclmdlRICaptureBegin(mate.stream, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL));
    if (rank == 0)
        MUST(HcclSend(word, 1, HCCL_DATA_TYPE_UINT64, 1, mate.comm, mate.stream));
    else
        MUST(HcclRecv(word, 1, HCCL_DATA_TYPE_UINT64, 0, mate.comm, mate.stream));
    messages = captured(&mate);
    MUST(aclmdlRICaptureBegin(mate.stream, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL));
    MUST(HcommThreadNotifyRecordOnThread(user, user, 0));
    MUST(HcommThreadNotifyWaitOnThread(user, 0, 60));
    notifies = captured(&mate);
    run_once(&mate, messages);
    run_once(&mate, notifies);
    meet(&mate);
    MUST(HcclCommDestroy(mate.comm));
    allow_errors();
    MUST_BE(ACL_ERROR_RT_PARAM_INVALID, aclmdlRIExecuteAsync(messages, mate.stream));
    MUST_BE(ACL_ERROR_RT_INVALID_HANDLE, aclmdlRIExecuteAsync(notifies, mate.stream));
    MUST(aclrtSynchronizeStream(mate.stream));
    MUST(aclmdlRIDestroy(messages));
    MUST(aclmdlRIDestroy(notifies));
    give_memory(DEVICE, word);
    MUST(aclrtDestroyStream(mate.stream));
    MUST(aclrtResetDevice((int32_t)mate.rank));
}

BOTH_ALLOWING(a_graph_finds_out_that_its_communicator_is_gone, 2, outlived)
