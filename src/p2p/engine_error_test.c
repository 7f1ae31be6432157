/* SPDX-License-Identifier: BSD-3-Clause */
/* What does not fit, what makes no sense, what never comes: the call fails, the rest goes on. */
#define _GNU_SOURCE
#include <limits.h>

#include "reduce/reduce.h"
#include "tests/support/two_sided.h"

#define MOST 300000u
#define MARK 0x5A

/* ---- messages that do not fit ---- */

static int
recv_typed(struct side *side, void *buf, uint64_t count, HcclDataType type, HcommRecvInfo *info,
           aclrtStream stream)
{
    return settle(stream, HcommRecv(buf, count, type, 1 - side->rank, 3, info, side->comm, stream));
}

/* Short, in the ring, and long: one element too many each, then a message that fits. */
static void
too_long(struct side *side, aclrtStream stream)
{
    static const uint64_t counts[] = {2, 10, 500, 2048, 2049, 30000, MOST / 4};
    uint32_t *memory = malloc(MOST);
    HcommRecvInfo info;
    char sizes[64];

    for (uint32_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        uint64_t count = counts[i];

        if (side->rank == 0) {
            fill(memory, count * 4, i);
            OK(HcommSend(memory, count, HCCL_DATA_TYPE_FP32, 1, 3, side->comm, INLINE));
            fill(memory, count * 4, i + 100);
            OK(HcommSend(memory, count, HCCL_DATA_TYPE_FP32, 1, 3, side->comm, INLINE));
            continue;
        }
        memset(memory, MARK, MOST);
        memset(&info, 0, sizeof info);
        MUST(recv_typed(side, memory, count - 1, HCCL_DATA_TYPE_INT32, &info, stream) != 0);
        MUST(is_all(memory, MOST, MARK));
        MUST_EQ(0, info.source);
        MUST_EQ(3, info.tag);
        MUST_EQ(count, info.count);
        MUST_EQ(count * 4, info.bytes);
        MUST_EQ(HCCL_DATA_TYPE_FP32, info.type);
        snprintf(sizes, sizeof sizes, "%llu bytes",
                 (unsigned long long)count * 4); /* both are named */
        MUST(test_logged(sizes) > 0);
        snprintf(sizes, sizeof sizes, "%llu bytes", (unsigned long long)(count - 1) * 4);
        MUST(test_logged(sizes) > 0);
        MUST(test_logged("fp32") > 0 && test_logged("int32") > 0 && test_logged("rank 0") > 0);
        OK(recv_typed(side, memory, count, HCCL_DATA_TYPE_FP32, &info, stream));
        MUST(is_filled(memory, count * 4, i + 100));
    }
    free(memory);
}

static void
too_long_inline(struct side *side)
{
    if (side->rank == 1)
        test_expect_error("HcommRecv: rank 1 of ");
    too_long(side, INLINE);
}

static void
too_long_queued(struct side *side)
{
    aclrtStream stream;

    if (side->rank == 1)
        test_expect_error("is longer than its receive");
    OK(aclrtCreateStream(&stream));
    too_long(side, stream);
    OK(aclrtDestroyStream(stream));
}

TEST_SIDES(a_message_too_long_is_refused_with_both_sizes, 2, too_long_inline)
TEST_SIDES(a_queued_receive_refuses_a_message_too_long, 2, too_long_queued)

static void
wrong_type(struct side *side)
{
    static const uint64_t counts[] = {1, 9, 1000, 2500, 30000};
    double *memory = malloc(MOST);
    HcommRecvInfo info;

    if (side->rank == 1) {
        test_expect_error("fp64");
        test_expect_error("int32");
    }
    for (uint32_t i = 0; i < 5; i++) {
        uint64_t count = counts[i];

        if (side->rank == 0) {
            fill(memory, count * 8, i);
            OK(HcommSend(memory, count, HCCL_DATA_TYPE_FP64, 1, 3, side->comm, INLINE));
            OK(HcommSend(memory, count, HCCL_DATA_TYPE_FP64, 1, 3, side->comm, INLINE));
            continue;
        }
        memset(memory, MARK, MOST);
        MUST_EQ(HCCL_E_PARA,
                recv_typed(side, memory, MOST / 4, HCCL_DATA_TYPE_INT32, &info, INLINE));
        MUST(is_all(memory, MOST, MARK));
        MUST_EQ(count, info.count);
        OK(recv_typed(side, memory, MOST / 8, HCCL_DATA_TYPE_INT64, &info, INLINE));
        MUST(is_filled(memory, count * 8, i));
    }
    free(memory);
}

TEST_SIDES(a_message_of_another_element_size_is_refused_with_both_types, 2, wrong_type)

/* 100 long messages are refused in a row: more than there are desks. */
static void
many_refused(struct side *side)
{
    uint8_t *memory = malloc(MOST);
    uint8_t none;

    if (side->rank == 1)
        test_expect_error("is longer than its receive");
    for (uint64_t i = 0; i < 200; i++) {
        if (side->rank == 0)
            OK(send_to(side, memory, MOST - i, 1, 1));
        else
            MUST_EQ(HCCL_E_PARA, recv_from(side, &none, 1, 0, 1));
    }
    handshake(side, 1 - side->rank);
    free(memory);
}

TEST_SIDES(any_number_of_long_messages_can_be_refused, 2, many_refused)

/* ---- arguments ---- */

static void
bad_arguments(struct side *side)
{
    uint8_t bytes[16] = {0};
    HcclComm comm = side->comm;
    HcommBatchItem item = {.kind = (HcommBatchKind)7, .buf = bytes, .count = 1, .type = BYTES};
    HcommRecvInfo info;
    uint32_t found = 9;

    test_allow_errors();
    for (int queued = 0; queued < 2; queued++) {
        aclrtStream stream = queued == 0 ? INLINE : NULL;

        MUST_EQ(HCCL_E_PTR, HcommSend(NULL, 1, BYTES, 0, 0, comm, stream));
        MUST_EQ(HCCL_E_PTR, HcommRecv(NULL, 1, BYTES, 0, 0, &info, comm, stream));
        MUST_EQ(HCCL_E_PTR, HcommSend(bytes, 1, BYTES, 0, 0, NULL, stream));
        MUST_EQ(HCCL_E_PTR, HcommRecv(bytes, 1, BYTES, 0, 0, &info, NULL, stream));
        MUST_EQ(HCCL_E_PARA, HcommSend(bytes, 1, BYTES, 0, 0, bytes, stream));
        MUST_EQ(HCCL_E_PARA, HcommSend(bytes, 1, BYTES, side->num, 0, comm, stream));
        MUST_EQ(HCCL_E_PARA, HcommSend(bytes, 1, BYTES, HCOMM_ANY_RANK, 0, comm, stream));
        MUST_EQ(HCCL_E_PARA, HcommSend(bytes, 1, BYTES, 0, HCOMM_ANY_TAG, comm, stream));
        MUST_EQ(HCCL_E_PARA, HcommRecv(bytes, 1, BYTES, side->num, 0, &info, comm, stream));
        for (int type = -1; type < 300; type++) {
            if (reduce_type_size(type) > 0)
                continue;
            MUST_EQ(HCCL_E_PARA, HcommSend(bytes, 1, (HcclDataType)type, 0, 0, comm, stream));
            MUST_EQ(HCCL_E_PARA, HcommRecv(bytes, 1, (HcclDataType)type, 0, 0, 0, comm, stream));
        }
        MUST_EQ(HCCL_E_PARA,
                HcommSend(bytes, UINT64_MAX / 2, HCCL_DATA_TYPE_INT64, 0, 0, comm, stream));
        MUST_EQ(HCCL_E_PARA,
                HcommRecv(bytes, UINT64_MAX / 4, HCCL_DATA_TYPE_FP64, 0, 0, 0, comm, stream));
        MUST_EQ(HCCL_E_PARA, HcommSend(bytes, UINT64_MAX / 2 + 2, HCCL_DATA_TYPE_INT16, 0, 0, comm,
                                       stream)); /* 2 bytes, if one forgets to look */
        MUST_EQ(HCCL_E_PARA, HcommSendRecv(bytes, 1, BYTES, 0, 1, bytes + 8, 1, BYTES, side->num, 1,
                                           NULL, comm, stream));
        MUST_EQ(HCCL_E_PARA, HcommSendRecv(bytes, 1, BYTES, side->num, 1, bytes + 8, 1, BYTES, 0, 1,
                                           NULL, comm, stream));
        MUST_EQ(HCCL_E_PTR, HcommBatch(NULL, 1, comm, stream));
        MUST_EQ(HCCL_E_PARA, HcommBatch(&item, 1, comm, stream));
        OK(HcommBatch(NULL, 0, comm, stream));
    }
    MUST_EQ(HCCL_E_PTR, HcommProbe(0, 0, comm, NULL, &info));
    MUST_EQ(HCCL_E_PTR, HcommProbe(0, 0, NULL, &found, &info));
    MUST_EQ(HCCL_E_PARA, HcommProbe(side->num, 0, comm, &found, &info));
    MUST_EQ(9, found);
    MUST_EQ(HCCL_E_RUNTIME, HcommSend(bytes, 1, BYTES, 0, 0, comm, (aclrtStream)(uintptr_t)4711));
    /* Nothing of all that has left a trace. */
    OK(HcommProbe(HCOMM_ANY_RANK, HCOMM_ANY_TAG, comm, &found, NULL));
    MUST_EQ(0, found);
    OK(HcommSendRecv(bytes, 1, BYTES, 0, 0, bytes + 1, 1, BYTES, 0, 0, NULL, comm, INLINE));
}

TEST_SIDES(what_makes_no_sense_is_refused, 1, bad_arguments)

/* Short and long ones, in device and pinned memory. */
static void
past_the_end(struct side *side)
{
    test_allow_errors();
    for (enum memory kind = DEVICE; kind <= PINNED; kind++) {
        uint8_t *small = memory_get(kind, 512), *large = memory_get(kind, 1u << 20);

        MUST_EQ(HCCL_E_PARA, HcommSend(large + 1, 1u << 20, BYTES, 0, 0, side->comm, INLINE));
        MUST_EQ(HCCL_E_PARA, HcommRecv(large + 1, 1u << 20, BYTES, 0, 0, NULL, side->comm, INLINE));
        MUST_EQ(HCCL_E_PARA, HcommSend(small, 512u << 20, BYTES, 0, 0, side->comm, INLINE));
        memory_put(kind, large);
        MUST_EQ(HCCL_E_PARA, HcommRecv(large, 1u << 20, BYTES, 0, 0, NULL, side->comm, INLINE));
        memory_put(kind, small);
    }
}

TEST_SIDES(long_buffers_past_the_end_of_their_allocation_are_refused, 1, past_the_end)

/* ---- what never comes ---- */

/* In the first error that came, "words" all are. */
static void
must_say(const char *const *words)
{
    for (; *words != NULL; words++) {
        if (test_logged(*words) == 0) {
            fprintf(stderr, "nothing was logged that contains \"%s\"\n", *words);
            abort();
        }
    }
}

static void
never_comes(struct side *side)
{
    static const char *const recv_words[] = {"tag 41", "from rank 1", "at most 24 bytes", NULL};
    static const char *const send_words[] = {"tag 42", "to rank 1", "100000 bytes", NULL};
    static const char *const any_words[] = {"any tag", "any rank", NULL};
    uint8_t *memory = malloc(100000);
    aclrtStream stream;
    uint64_t began;

    handshake(side, 1 - side->rank);
    if (side->rank == 0) {
        test_allow_errors();
        OK(aclrtCreateStream(&stream));
        began = side_now_ms();
        MUST_EQ(HCCL_E_TIMEOUT,
                HcommRecv(memory, 3, HCCL_DATA_TYPE_INT64, 1, 41, NULL, side->comm, INLINE));
        MUST(side_now_ms() - began >= 990 && side_now_ms() - began < 20000);
        must_say(recv_words);
        MUST_EQ(HCCL_E_TIMEOUT, send_to(side, memory, 100000, 1, 42));
        must_say(send_words);
        MUST_EQ(HCCL_E_TIMEOUT, HcommRecv(memory, 1, BYTES, HCOMM_ANY_RANK, HCOMM_ANY_TAG, NULL,
                                          side->comm, INLINE));
        must_say(any_words);
        began = side_now_ms();
        OK(HcommRecv(memory, 3, BYTES, 1, 43, NULL, side->comm, stream));
        MUST_EQ(ACL_ERROR_RT_TASK_TIMEOUT, aclrtSynchronizeStream(stream));
        MUST(side_now_ms() - began >= 990 && side_now_ms() - began < 20000);
        MUST(test_logged("tag 43") > 0);
        OK(aclrtDestroyStream(stream));
        atomic_store(&side->shared->turns[0], 1);
    } else {
        side_await(&side->shared->turns[0], 1);
    }
    /* What was given up is gone at both ends, and the pair works. */
    if (side->rank == 1) {
        uint32_t found = 9;

        OK(send_to(side, memory, 8, 0, 41));
        OK(send_to(side, memory, 100000, 0, 44));
        OK(HcommProbe(0, 45, side->comm, &found, NULL));
        MUST_EQ(0, found);
    } else {
        OK(recv_from(side, memory, 100000, 1, 44));
        OK(recv_from(side, memory, 8, 1, 41));
    }
    handshake(side, 1 - side->rank); /* nobody leaves before the other has asked */
    free(memory);
}

TEST(what_does_not_come_in_time_is_named_in_threads)
{
    setenv("HCCL_EXEC_TIMEOUT", "1", 1);
    sides_in_threads(2, never_comes);
}

TEST(what_does_not_come_in_time_is_named_in_processes)
{
    setenv("HCCL_EXEC_TIMEOUT", "1", 1);
    sides_in_processes(2, never_comes);
}

/* A send that was given up is not received later, by whatever receive. */
static void
given_up(struct side *side)
{
    uint8_t *memory = malloc(MOST);
    HcommRecvInfo info;

    handshake(side, 1 - side->rank);
    if (side->rank == 0) {
        test_expect_error("tag 1");
        fill(memory, MOST, 1);
        for (int i = 0; i < (SIDES_SLOW ? 2 : 3); i++)
            MUST_EQ(HCCL_E_TIMEOUT, send_to(side, memory, MOST, 1, 1));
        atomic_store(&side->shared->turns[0], 1);
        fill(memory, MOST, 2);
        OK(send_to(side, memory, MOST - 5, 1, 1));
    } else {
        side_await(&side->shared->turns[0], 1);
        OK(HcommRecv(memory, MOST, BYTES, HCOMM_ANY_RANK, HCOMM_ANY_TAG, &info, side->comm,
                     INLINE));
        MUST_EQ(MOST - 5, info.bytes);
        MUST(is_filled(memory, MOST - 5, 2));
    }
    handshake(side, 1 - side->rank);
    free(memory);
}

TEST(a_long_send_that_was_given_up_is_never_received)
{
    setenv("HCCL_EXEC_TIMEOUT", "1", 1);
    sides_in_threads(2, given_up);
}

TEST(a_long_send_that_was_given_up_is_never_received_by_another_process)
{
    setenv("HCCL_EXEC_TIMEOUT", "1", 1);
    sides_in_processes(2, given_up);
}

/* No time limit is none, also for what is queued. */
static void
no_limit(struct side *side)
{
    uint64_t word = side->rank, came = 9;
    aclrtStream stream;

    OK(aclrtCreateStream(&stream));
    if (side->rank == 0) {
        OK(HcommRecv(&came, 1, HCCL_DATA_TYPE_UINT64, 1, 1, NULL, side->comm, stream));
        OK(aclrtSynchronizeStream(stream));
        MUST_EQ(1, came);
        OK(HcommRecv(&came, 1, HCCL_DATA_TYPE_UINT64, 1, 1, NULL, side->comm, INLINE));
    } else {
        for (int i = 0; i < 2; i++) {
            usleep(300000);
            OK(HcommSend(&word, 1, HCCL_DATA_TYPE_UINT64, 0, 1, side->comm, INLINE));
        }
    }
    OK(aclrtDestroyStream(stream));
}

TEST(no_time_limit_lets_calls_wait)
{
    setenv("HCCL_EXEC_TIMEOUT", "0", 1);
    sides_in_processes(2, no_limit);
}

/* A peer that never calls: after HCOMM_CONNECT_TIMEOUT, not after the limit of execution. */
static void
peer_never_calls(struct side *side)
{
    uint8_t byte = 0, *memory = malloc(100000);
    aclrtStream stream;
    uint64_t began;

    if (side->rank == 0) {
        test_expect_error("rank 1");
        OK(aclrtCreateStream(&stream));
        began = side_now_ms();
        MUST_EQ(HCCL_E_TIMEOUT, send_to(side, memory, 100000, 1, 1));
        MUST_EQ(HCCL_E_TIMEOUT, recv_from(side, &byte, 1, 1, 1));
        OK(HcommRecv(&byte, 1, BYTES, 1, 1, NULL, side->comm, stream));
        MUST(aclrtSynchronizeStream(stream) != 0);
        MUST(side_now_ms() - began < 30000);
        OK(aclrtDestroyStream(stream));
        atomic_store(&side->shared->turns[0], 1);
    } else {
        side_await(&side->shared->turns[0], 1);
    }
    free(memory);
}

/* Ranks of one process open the way for each other: there it is the limit of execution. */
TEST(a_peer_that_never_calls_is_named_in_threads)
{
    setenv("HCCL_EXEC_TIMEOUT", "1", 1);
    sides_in_threads(2, peer_never_calls);
}

TEST(a_peer_that_never_calls_is_named_in_processes)
{
    setenv("HCOMM_CONNECT_TIMEOUT", "700", 1);
    sides_in_processes(2, peer_never_calls);
}

/* Nobody wakes the stream but the time limit of connecting. */
static void
queued_for_nobody(struct side *side)
{
    uint8_t byte = 0;
    aclrtStream stream;

    if (side->rank == 0) {
        test_expect_error("rank 1");
        OK(aclrtCreateStream(&stream));
        OK(HcommRecv(&byte, 1, BYTES, 1, 1, NULL, side->comm, stream));
        MUST(aclrtSynchronizeStream(stream) != 0);
        OK(aclrtDestroyStream(stream));
        atomic_store(&side->shared->turns[0], 1);
    } else {
        side_await(&side->shared->turns[0], 1);
    }
}

TEST(a_queued_receive_notices_that_its_peer_never_calls)
{
    test_time_limit(30);
    setenv("HCOMM_CONNECT_TIMEOUT", "700", 1);
    sides_in_processes(2, queued_for_nobody);
}

/* ---- both send first ---- */

/* Each fetches the other's message, as far as HCOMM_P2P_UNEXPECTED allows. */
static void
both_send_first(struct side *side)
{
    enum { LEN = 1u << 20 };
    uint8_t *out = malloc(LEN), *in = malloc(LEN);
    aclrtStream stream;

    OK(aclrtCreateStream(&stream));
    for (int i = 0; i < 4; i++) {
        aclrtStream how = i % 2 == 0 ? INLINE : stream;

        fill(out, LEN, side->rank);
        memset(in, 0, LEN);
        OK(settle(how, HcommSend(out, LEN, BYTES, 1 - side->rank, 1, side->comm, how)));
        OK(settle(how, HcommRecv(in, LEN, BYTES, 1 - side->rank, 1, NULL, side->comm, how)));
        MUST(is_filled(in, LEN, 1 - side->rank));
    }
    OK(aclrtDestroyStream(stream));
    free(out);
    free(in);
}

TEST_SIDES(two_that_send_before_they_receive_end, 2, both_send_first)

/* More than may be kept: time is up, and both are told of whom they waited for. */
static void
both_send_too_much(struct side *side)
{
    enum { LEN = 3u << 20 };
    uint8_t *out = calloc(1, LEN);

    test_expect_error(side->rank == 0 ? "to rank 1" : "to rank 0");
    handshake(side, 1 - side->rank);
    MUST_EQ(HCCL_E_TIMEOUT, send_to(side, out, LEN, 1 - side->rank, 1));
    side_meet(side, 0);
    handshake(side, 1 - side->rank);
    free(out);
}

TEST(two_that_send_too_much_before_they_receive_are_told)
{
    setenv("HCOMM_P2P_UNEXPECTED", "1", 1);
    setenv("HCCL_EXEC_TIMEOUT", "2", 1);
    sides_in_processes(2, both_send_too_much);
}
