/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives among other work: many queued at once, on several streams and communicators, each
 * after what was queued before it and before what is queued after it.
 */
#include "hcomm/hcomm_primitives.h"
#include "tests/coll.h"

#define QUEUED (SIDES_SLOW ? 60u : 300u)
#define CHAIN 40u

/* ---- many queued ---- */

static void
mixture(struct coll_rank *me)
{
    coll_run_mixture(me, QUEUED, &me->stream, 1);
}

TEST(hundreds_are_queued_without_waiting)
{
    coll_threads(3, mixture);
}

static void
mixture_on_streams(struct coll_rank *me)
{
    aclrtStream streams[4] = {NULL}; /* the first is the default stream */

    for (int i = 1; i < 4; i++)
        OK(aclrtCreateStream(&streams[i]));
    coll_run_mixture(me, QUEUED, streams, 4);
    for (int i = 1; i < 4; i++)
        OK(aclrtDestroyStream(streams[i]));
}

TEST(several_streams_share_a_communicator)
{
    coll_threads(4, mixture_on_streams);
}

TEST(several_streams_share_a_small_buffer)
{
    coll_threads_configured(3, mixture_on_streams, coll_small_buffer);
}

/* ---- one after the other ---- */

/* Each takes the result of the one before, without a wait in between. */
static void
chain(struct coll_rank *me)
{
    uint64_t want = 0, power = 1;
    uint64_t *words = (uint64_t *)(void *)me->memory, *parts = words + 8192;
    uint64_t count = 1000;

    for (uint32_t round = 0; round < 3; round++) {
        for (uint64_t i = 0; i < count; i++)
            words[i] = coll_hash(round, me->rank, i);
        power = 1;
        for (uint32_t i = 0; i < CHAIN; i++) { /* x becomes the sum, then ranks times as much */
            OK(HcclAllReduce(words, words, count, HCCL_DATA_TYPE_UINT64, SUM, me->comm,
                             me->stream));
            power *= i == 0 ? 1 : me->num;
        }
        /* Everybody gets it again from everybody, in between a copy that is not a collective. */
        OK(aclrtMemcpyAsync(parts, count * 8, words, count * 8, ACL_MEMCPY_DEVICE_TO_DEVICE,
                            me->stream));
        OK(HcclReduce(parts, parts, count, HCCL_DATA_TYPE_UINT64, SUM, round % me->num, me->comm,
                      me->stream));
        OK(HcclBroadcast(parts, count, HCCL_DATA_TYPE_UINT64, round % me->num, me->comm,
                         me->stream));
        OK(HcclAllGather(parts, parts + count, count, HCCL_DATA_TYPE_UINT64, me->comm, me->stream));
        OK(aclrtSynchronizeStream(me->stream));
        for (uint64_t i = 0; i < count * me->num; i++) {
            want = 0;
            for (uint32_t from = 0; from < me->num; from++)
                want += coll_hash(round, from, i % count);
            want *= power * me->num;
            if (parts[count + i] != want)
                fprintf(stderr, "rank %u of %u, round %u: element %llu of %llu\n", me->rank,
                        me->num, round, (unsigned long long)i,
                        (unsigned long long)(count * me->num));
            MUST_EQ(want, parts[count + i]);
        }
        coll_meet(me, 0);
    }
}

TEST(each_takes_the_result_of_the_one_before)
{
    coll_threads(2, chain);
}

TEST(each_of_five_takes_the_result_of_the_one_before)
{
    coll_threads(5, chain);
}

/* ---- nobody waits in a call, everybody waits in the stream ---- */

static bool
needs_rank_0(const struct coll_rank *me, const struct coll *c)
{
    struct coll_segment segments[COLL_MOST];
    uint32_t num = coll_expect(c, me->num, me->rank, segments);

    for (uint32_t i = 0; i < num; i++) {
        if (segments[i].count > 0 && (segments[i].from == 0 || segments[i].from == OF_ALL))
            return true;
    }
    return c->kind == BARRIER;
}

/* Rank 0 calls when all others have returned from the same call: their streams do not pass before
 * that if they need it. */
static void
calls_return(struct coll_rank *me)
{
    for (int kind = 0; kind < COLL_KINDS; kind++) {
        struct coll c = {.kind = (enum coll_kind)kind, .type = INT32, .count = 100, .seed = 3};
        atomic_int *called = &me->shared->turns[1];
        struct coll_call call;

        coll_run(me, &c); /* the first may wait for channels */
        coll_prepare(me, &c, &call);
        coll_meet(me, 0);
        if (me->rank == 0) {
            side_await(called, (kind + 1) * ((int)me->num - 1));
            usleep(1000);
            atomic_store(&me->shared->words[0], (uint64_t)kind + 1);
        }
        coll_must_call(me, &call, me->stream);
        if (me->rank != 0)
            atomic_fetch_add(called, 1);
        coll_must_end(me, &c, me->stream);
        if (needs_rank_0(me, &c))
            MUST_EQ(kind + 1, atomic_load(&me->shared->words[0]));
        coll_check(me, &call);
        coll_drop(&call);
        me->used = 0;
        coll_meet(me, 0);
    }
}

TEST(calls_return_before_the_others_are_there)
{
    coll_threads(4, calls_return);
}

/* No stream passes a barrier that one has not reached, whoever that is. */
static void
barriers(struct coll_rank *me)
{
    for (uint32_t late = 0; late < me->num; late++) {
        for (int again = 0; again < 5; again++) {
            _Atomic uint64_t *word = &me->shared->words[0];
            uint64_t turn = late * 5u + (uint64_t)again + 1;

            if (me->rank == late) {
                usleep(2000);
                atomic_store(word, turn);
            }
            OK(HcclBarrier(me->comm, me->stream));
            coll_must_end(me, &(struct coll){.kind = BARRIER}, me->stream);
            MUST(atomic_load(word) >= turn);
            coll_meet(me, 0);
        }
    }
}

TEST(no_stream_passes_a_barrier_alone)
{
    coll_threads(5, barriers);
}

/* ---- several communicators ---- */

#define COMMS 3

static struct coll_shared others[COMMS];

/* Odd ranks take the communicators the other way round, with all queued: nothing waits in a call
 * once channels are there. */
static void
several_communicators(struct coll_rank *me)
{
    struct coll_rank in[COMMS] = {*me, *me, *me};
    struct coll_call calls[COMMS][COLL_KINDS];

    for (int i = 0; i < COMMS; i++) {
        in[i].shared = &others[i];
        in[i].memory = me->memory + (size_t)i * (8u << 20);
        in[i].room = 8u << 20;
        in[i].num = i == 0 ? me->num : me->num - 1;
        in[i].rank = i == 2 ? me->rank - 1 : me->rank; /* without the first, or the last */
        if (in[i].rank >= in[i].num)
            continue;
        if (i > 0)
            OK(coll_join(&others[i], in[i].num, in[i].rank, 1, coll_small_buffer, &in[i].comm));
        OK(aclrtCreateStream(&in[i].stream));
    }
    for (int round = 0; round < 5; round++) {
        for (int nth = 0; nth < COMMS * COLL_KINDS; nth++) {
            bool back = round > 0 && me->rank % 2 == 1;
            int i = back ? COMMS - 1 - nth % COMMS : nth % COMMS, kind = nth / COMMS;
            struct coll c = {.kind = (enum coll_kind)kind,
                             .type = INT32,
                             .count = 1000,
                             .root = 1,
                             .seed = (uint64_t)(round * 10 + i)};

            if (in[i].rank >= in[i].num)
                continue;
            coll_prepare(&in[i], &c, &calls[i][kind]);
            coll_must_call(&in[i], &calls[i][kind], in[i].stream);
        }
        for (int nth = 0; nth < COMMS * COLL_KINDS; nth++) {
            int i = nth % COMMS, kind = nth / COMMS;

            if (in[i].rank >= in[i].num)
                continue;
            coll_must_end(&in[i], &calls[i][kind].c, in[i].stream);
            coll_check(&in[i], &calls[i][kind]);
            coll_drop(&calls[i][kind]);
            in[i].used = 0;
        }
        coll_meet(me, 0);
    }
    for (int i = 0; i < COMMS; i++) {
        if (in[i].rank >= in[i].num)
            continue;
        OK(aclrtDestroyStream(in[i].stream));
        if (i > 0)
            OK(HcclCommDestroy(in[i].comm));
    }
}

TEST(several_communicators_at_once)
{
    coll_threads(4, several_communicators);
}

/* ---- groups ---- */

static void
in_a_group(struct coll_rank *me)
{
    struct coll_call calls[COLL_KINDS];

    for (uint64_t round = 0; round < 3; round++) {
        me->used = 0;
        OK(HcclGroupStart());
        for (int kind = 0; kind < BARRIER; kind++) {
            struct coll c = {
                .kind = (enum coll_kind)kind, .type = FP32, .count = 500, .root = 1, .seed = round};

            coll_prepare(me, &c, &calls[kind]);
            coll_must_call(me, &calls[kind], me->stream);
        }
        OK(HcclGroupEnd());
        for (int kind = 0; kind < BARRIER; kind++) {
            coll_must_end(me, &calls[kind].c, me->stream);
            coll_check(me, &calls[kind]);
            coll_drop(&calls[kind]);
        }
    }
}

TEST(a_group_of_collectives)
{
    coll_threads(3, in_a_group);
}

/* One thread, which last chose another device than most of the streams are of. */
static void
one_thread(void)
{
    enum { RANKS = 4, COUNT = 1000, OPS = 3, STREAMS = 2 };
    static const int32_t devices[RANKS] = {0, 1, 2, 3};
    aclrtStream streams[RANKS][STREAMS];
    HcclComm comms[RANKS];
    int32_t *data[RANKS];

    OK(HcclCommInitAll(RANKS, (int32_t *)(uintptr_t)devices, comms));
    for (int32_t i = 0; i < RANKS; i++) {
        OK(aclrtSetDevice(i));
        data[i] = memory_get(DEVICE, COUNT * sizeof *data[i]);
        for (int32_t j = 0; j < COUNT; j++)
            data[i][j] = i + j;
        for (int k = 0; k < STREAMS; k++)
            OK(aclrtCreateStream(&streams[i][k]));
    }
    for (int op = 0; op < OPS; op++) {
        OK(HcclGroupStart());
        for (int i = 0; i < RANKS; i++)
            OK(HcclAllReduce(data[i], data[i], COUNT, INT32, op == 0 ? SUM : MAX, comms[i],
                             streams[i][op % STREAMS]));
        OK(HcclGroupEnd());
    }
    for (int32_t i = 0; i < RANKS; i++) {
        OK(aclrtSetDevice(i));
        for (int k = 0; k < STREAMS; k++)
            OK(aclrtSynchronizeStream(streams[i][k]));
        for (int32_t j = 0; j < COUNT; j++)
            MUST_EQ(6 + RANKS * j, data[i][j]);
        for (int k = 0; k < STREAMS; k++)
            OK(aclrtDestroyStream(streams[i][k]));
        memory_put(DEVICE, data[i]);
        OK(HcclCommDestroy(comms[i]));
    }
    for (int32_t i = 0; i < RANKS; i++)
        OK(aclrtResetDeviceForce(i));
}

TEST(a_group_of_one_thread_for_several_devices)
{
    one_thread();
}

TEST(a_group_of_one_thread_for_several_devices_on_cpu_ts)
{
    setenv("HCOMM_COLL_ENGINE", "cpu_ts", 1);
    one_thread();
}

/* ---- batches ---- */

static void
in_a_batch(struct coll_rank *me)
{
    const struct coll plain = {.kind = ALL_REDUCE, .type = INT32, .count = 500};
    struct coll_call calls[COLL_KINDS], refused;

    for (int kind = 0; kind < COLL_KINDS; kind++) {
        struct coll c = {.kind = (enum coll_kind)kind, .type = FP32, .count = 500, .root = 1};

        coll_prepare(me, &c, &calls[kind]);
    }
    coll_prepare(me, &plain, &refused);
    OK(HcommBatchModeStart("of the program"));
    for (int kind = 0; kind < COLL_KINDS; kind++)
        coll_must_call(me, &calls[kind], me->stream);
    MUST_EQ(HCCL_E_NOT_SUPPORT, coll_call(me, &refused, INLINE));
    OK(HcommBatchModeEnd("of the program"));
    for (int kind = 0; kind < COLL_KINDS; kind++) {
        coll_must_end(me, &calls[kind].c, me->stream);
        coll_check(me, &calls[kind]);
        coll_drop(&calls[kind]);
    }
    coll_drop(&refused);
    me->used = 0;
    coll_run(me, &plain);
}

TEST(a_batch_of_the_program_holds_collectives)
{
    test_allow_errors();
    coll_threads(3, in_a_batch);
}

TEST(a_batch_of_the_program_holds_collectives_on_cpu_ts)
{
    setenv("HCOMM_COLL_ENGINE", "cpu_ts", 1);
    test_allow_errors();
    coll_threads(3, in_a_batch);
}

/* A thread that waits in one collective runs the kernel of another, which must not disturb it. */
static void
on_two_communicators(struct coll_rank *me)
{
    const struct coll queued = {.kind = ALL_REDUCE, .type = INT32, .count = 1000, .seed = 3};
    const struct coll here = {.kind = ALL_REDUCE, .type = INT32, .count = 10, .seed = 5};
    HcclComm own = me->comm, other;
    struct coll_call first, second;

    OK(coll_join(me->shared, me->num, me->rank, 2, NULL, &other));
    coll_run(me, &queued);
    for (uint32_t i = 0; i < 100; i++) {
        coll_prepare(me, &queued, &first);
        coll_prepare(me, &here, &second);
        coll_must_call(me, &first, me->stream);
        if (me->rank == i % me->num)
            usleep(1000);
        me->comm = other;
        coll_must_call(me, &second, INLINE);
        me->comm = own;
        coll_must_end(me, &queued, me->stream);
        coll_check(me, &first);
        coll_check(me, &second);
        coll_drop(&first);
        coll_drop(&second);
        me->used = 0;
    }
    OK(HcclCommDestroy(other));
}

TEST(one_is_queued_and_another_runs_on_the_calling_thread)
{
    coll_threads(4, on_two_communicators);
}
