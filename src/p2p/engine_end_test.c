/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators that end while messages are about. */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "tests/support/two_sided.h"

#define LONG 300000u

static void
leave(struct side *side)
{
    OK(HcclCommDestroy(side->comm));
    side->comm = NULL;
}

/* ---- what was sent before ---- */

/* The sender is gone before the first receive. */
static void
received_after_the_end(struct side *side)
{
    static const uint64_t lens[] = {0, 8, 41, 8192, 3};
    uint8_t memory[8192];
    HcommRecvInfo info;

    if (side->rank == 0) {
        for (uint32_t i = 0; i < 5; i++) {
            fill(memory, lens[i], i);
            OK(send_to(side, memory, lens[i], 1, i % 2));
        }
        leave(side);
        atomic_store(&side->shared->turns[0], 1);
        return;
    }
    if (side->rank == 1) {
        uint32_t found = 0;

        OK(HcommProbe(0, 77, side->comm, &found, NULL)); /* so that rank 0 can send to this one */
        side_await(&side->shared->turns[0], 1);
        for (uint32_t i = 5; i-- > 0;) {
            if (i % 2 == 1)
                continue;
            OK(HcommRecv(memory, 8192, BYTES, 0, 0, &info, side->comm, INLINE));
            MUST(is_filled(memory, info.bytes, 4 - i));
        }
        OK(HcommRecv(memory, 8192, BYTES, HCOMM_ANY_RANK, HCOMM_ANY_TAG, &info, side->comm,
                     INLINE));
        MUST(is_filled(memory, 8, 1));
        OK(HcommProbe(0, 1, side->comm, &found, &info));
        MUST_EQ(1, found);
        MUST_EQ(8192, info.bytes);
        OK(recv_from(side, memory, 8192, 0, 1));
        MUST(is_filled(memory, 8192, 3));
    }
}

TEST_SIDES(short_messages_outlive_their_sender, 2, received_after_the_end)

/* The sender leaves as soon as its last long send is done; its receive must succeed. */
static void
left_after_long(struct side *side)
{
    uint8_t *memory = memory_get(DEVICE, LONG);

    for (int i = 0; i < (SIDES_SLOW ? 5 : 40); i++) {
        handshake(side, 1 - side->rank);
        if (side->rank == 0) {
            fill(memory, LONG, (uint64_t)i);
            OK(send_to(side, memory, LONG, 1, 1));
        } else {
            OK(recv_from(side, memory, LONG, 0, 1));
            MUST(is_filled(memory, LONG, (uint64_t)i));
        }
        leave(side);
        if (side->threads)
            break;
        OK(side_join(side, 2, side->rank, i + 2));
    }
    memory_put(DEVICE, memory);
}

TEST_SIDES(a_long_message_outlives_its_sender, 2, left_after_long)

/* The first call of the receiver comes when the sender has called everything it will. */
static void
received_after_a_late_start(struct side *side)
{
    uint64_t word = 0;

    for (int i = 0; i < (SIDES_SLOW ? 3 : 15); i++) {
        if (side->rank == 0) {
            word = 100 + (uint64_t)i;
            OK(send_to(side, &word, 8, 1, 1));
        } else {
            if (i % 3 == 1)
                usleep(1000);
            OK(recv_from(side, &word, 8, 0, 1));
            MUST_EQ(100 + i, word);
        }
        leave(side);
        if (side->threads)
            return;
        OK(side_join(side, 2, side->rank, i + 2));
    }
}

TEST_SIDES(a_message_arrives_whoever_calls_first_and_leaves_at_once, 2, received_after_a_late_start)

static void
nobody_receives(struct side *side)
{
    uint8_t byte = 1;
    HcommBatchItem item = {
        .kind = HCOMM_BATCH_SEND, .peer = 1, .tag = 3, .type = BYTES, .buf = &byte, .count = 1};

    handshake(side, 1 - side->rank);
    if (side->rank == 0) {
        for (int i = 0; i < 7; i++)
            OK(HcommBatch(&item, 1, side->comm, INLINE));
        handshake(side, 1);
        return;
    }
    handshake(side, 0);
    leave(side);
    MUST(test_logged("rank 1 never received 7 messages of rank 0") > 0);
}

TEST_SIDES(messages_nobody_receives_are_told_of_at_the_end, 2, nobody_receives)

/* The peer makes no call at all, and goes. The end must not wait long for it. */
static void
nobody_ever_calls(struct side *side)
{
    uint8_t byte = 1;
    uint64_t began = side_now_ms();

    if (side->rank == 0) {
        OK(send_to(side, &byte, 1, 1, 3));
        atomic_store(&side->shared->turns[0], 1);
        side_await(&side->shared->turns[0], 2);
        leave(side);
        MUST(side_now_ms() - began < 30000);
    } else {
        side_await(&side->shared->turns[0], 1);
        leave(side);
        atomic_store(&side->shared->turns[0], 2);
    }
}

TEST_SIDES(the_end_does_not_wait_for_a_peer_that_is_gone, 2, nobody_ever_calls)

/* ---- a peer that goes early ---- */

/* Waits of every kind for a rank that destroys its communicator. */
static void
peer_leaves(struct side *side, uint32_t kind)
{
    uint8_t *memory = malloc(LONG);
    uint32_t found;
    aclrtStream stream = INLINE;
    int rc = 0;

    handshake(side, 1 - side->rank);
    if (side->rank == 1) {
        usleep(100000);
        leave(side);
        free(memory);
        return;
    }
    test_expect_error("rank 1");
    if (kind >= 3)
        OK(aclrtCreateStream(&stream));
    if (kind % 3 == 0)
        rc = HcommRecv(memory, 8, BYTES, 1, 1, NULL, side->comm, stream);
    else if (kind % 3 == 1)
        rc = HcommSend(memory, LONG, BYTES, 1, 1, side->comm, stream);
    else
        rc =
            HcommRecv(memory, LONG, BYTES, HCOMM_ANY_RANK, HCOMM_ANY_TAG, NULL, side->comm, stream);
    rc = settle(stream, rc);
    MUST(rc == (stream == INLINE ? (int)HCCL_E_REMOTE : ACL_ERROR_RT_SUSPECT_REMOTE_ERROR));
    /* All later calls come to an end, and none touches what is no longer there. */
    for (int i = 0; i < 3; i++) {
        MUST_EQ(HCCL_E_REMOTE, send_to(side, memory, 8, 1, 1));
        MUST_EQ(HCCL_E_REMOTE, send_to(side, memory, LONG, 1, 1));
        MUST_EQ(HCCL_E_REMOTE, recv_from(side, memory, 8, 1, 1));
        MUST_EQ(HCCL_E_REMOTE, HcommProbe(1, 1, side->comm, &found, NULL));
    }
    if (stream != INLINE)
        OK(aclrtDestroyStream(stream));
    free(memory);
}

#define TEST_LEAVES(name_, kind_)                                                                  \
    static void body_##name_(struct side *side)                                                    \
    {                                                                                              \
        peer_leaves(side, kind_);                                                                  \
    }                                                                                              \
    TEST_SIDES(name_, 2, body_##name_)

TEST_LEAVES(a_receive_notices_that_its_peer_left, 0)
TEST_LEAVES(a_long_send_notices_that_its_peer_left, 1)
TEST_LEAVES(a_receive_from_any_notices_that_all_left, 2)
TEST_LEAVES(a_queued_receive_notices_that_its_peer_left, 3)
TEST_LEAVES(a_queued_long_send_notices_that_its_peer_left, 4)
TEST_LEAVES(a_queued_receive_from_any_notices_that_all_left, 5)

/* Rank 0 is left by rank 1, and goes on with rank 2. */
static void
two_go_on(struct side *side)
{
    uint8_t *memory = malloc(LONG);

    handshake(side, side->rank == 0 ? 1 : side->rank == 1 ? 0 : 2);
    if (side->rank == 1) {
        leave(side);
    } else if (side->rank == 0) {
        test_expect_error("rank 1");
        MUST_EQ(HCCL_E_REMOTE, send_to(side, memory, LONG, 1, 1));
        fill(memory, LONG, 3);
        OK(send_to(side, memory, LONG, 2, 1));
        OK(send_to(side, memory, 100, 2, 1));
    } else {
        OK(recv_from(side, memory, LONG, 0, 1));
        MUST(is_filled(memory, LONG, 3));
        OK(recv_from(side, memory, LONG, HCOMM_ANY_RANK, 1));
        MUST(is_filled(memory, 100, 3));
    }
    free(memory);
}

TEST_SIDES(a_rank_that_left_in_order_does_not_keep_the_others, 3, two_go_on)

/* What a peer's memory becomes after it has left is not written to by those that stayed. */
static void
memory_is_given_to_others(struct side *side)
{
    enum { NUM = 16, LEN = 400000 };
    uint8_t *memory = malloc(LONG), *others[NUM];

    handshake(side, 1 - side->rank);
    if (side->rank == 1) {
        leave(side);
        for (int i = 0; i < NUM; i++) {
            others[i] = memory_get(DEVICE, LEN);
            MUST(is_all(others[i], LEN, 0)); /* and an `open` of 0 */
        }
        atomic_store(&side->shared->turns[0], 1);
        side_await(&side->shared->turns[0], 2);
        for (int i = 0; i < NUM; i++) {
            MUST(is_all(others[i], LEN, 0));
            memory_put(DEVICE, others[i]);
        }
    } else {
        test_allow_errors();
        side_await(&side->shared->turns[0], 1);
        for (uint8_t i = 0; i < 200; i++) {
            (void)send_to(side, memory, 1000, 1, 1);
            if (i % 20 == 0)
                (void)send_to(side, memory, LONG, 1, 1);
        }
        atomic_store(&side->shared->turns[0], 2);
    }
    free(memory);
}

TEST_SIDES(memory_of_a_rank_that_left_is_not_written, 2, memory_is_given_to_others)

/* ---- destroy while calls are under way ---- */

struct waiter {
    struct side *side;
    int rc;
};

static void *
waits(void *arg)
{
    struct waiter *waiter = arg;
    uint8_t byte;

    waiter->rc = recv_from(waiter->side, &byte, 1, 1, 9);
    return NULL;
}

/* A thread waits inline: it is told. */
static void
destroyed_under_a_waiter(struct side *side)
{
    struct waiter waiter = {.side = side};
    pthread_t thread;

    handshake(side, 1 - side->rank);
    if (side->rank == 1)
        return;
    test_allow_errors();
    OK(pthread_create(&thread, NULL, waits, &waiter));
    usleep(100000);
    OK(HcclCommDestroy(side->comm));
    OK(pthread_join(thread, NULL));
    MUST(waiter.rc != 0);
    side->comm = NULL;
}

TEST_SIDES(destroy_ends_the_wait_of_another_thread, 2, destroyed_under_a_waiter)

/* Something is queued: destroy refuses, as the peer may still send. */
static void
destroyed_while_queued(struct side *side)
{
    aclrtStream stream;
    uint8_t byte = 0;

    handshake(side, 1 - side->rank);
    if (side->rank == 1) {
        side_await(&side->shared->turns[0], 1);
        byte = 5;
        OK(send_to(side, &byte, 1, 0, 9));
        return;
    }
    test_allow_errors();
    OK(aclrtCreateStream(&stream));
    OK(HcommRecv(&byte, 1, BYTES, 1, 9, NULL, side->comm, stream));
    MUST(HcclCommDestroy(side->comm) != 0);
    atomic_store(&side->shared->turns[0], 1);
    OK(aclrtSynchronizeStream(stream));
    MUST_EQ(5, byte);
    OK(aclrtDestroyStream(stream));
}

TEST_SIDES(destroy_refuses_while_something_is_queued, 2, destroyed_while_queued)

/* A stream that is aborted takes its messages back; its buffers are its owner's at once. */
static void
stream_is_aborted(struct side *side)
{
    uint8_t *memory = malloc(LONG);
    aclrtStream stream;

    handshake(side, 1 - side->rank);
    if (side->rank == 0) {
        test_allow_errors();
        for (int i = 0; i < 4; i++) {
            OK(aclrtCreateStream(&stream));
            if (i % 2 == 0)
                OK(HcommRecv(memory, LONG, BYTES, 1, 1, NULL, side->comm, stream));
            else
                OK(HcommSend(memory, LONG, BYTES, 1, 2, side->comm, stream));
            usleep(20000);
            OK(aclrtStreamAbort(stream));
            memset(memory, i, LONG);
            OK(aclrtDestroyStreamForce(stream));
        }
        handshake(side, 1);
        OK(recv_from(side, memory, LONG, 1, 1));
        MUST(is_filled(memory, LONG, 1));
    } else {
        handshake(side, 0);
        fill(memory, LONG, 1);
        OK(send_to(side, memory, LONG, 0, 1));
    }
    handshake(side, 1 - side->rank);
    free(memory);
}

TEST_SIDES(an_aborted_stream_takes_its_messages_back, 2, stream_is_aborted)

/* ---- again and again ---- */

static long
resident_kib(void)
{
    long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    MUST(file != NULL && fscanf(file, "%ld %ld", &pages, &resident) == 2);
    fclose(file);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

TEST(create_use_and_destroy_a_thousand_times_is_flat)
{
    int rounds = SIDES_SLOW ? 60 : 1000, fds = 0;
    long resident = 0, live = 0;
    int32_t devices[] = {0, 1};

    test_time_limit(120);
    OK(aclrtSetDevice(0));
    OK(aclrtSetDevice(1));
    for (int i = 0; i < rounds; i++) {
        uint64_t out = 7, in = 0;
        HcclComm comms[2];

        OK(HcclCommInitAll(2, devices, comms));
        OK(HcommSend(&out, 8, BYTES, 1, 1, comms[0], INLINE)); /* the other has not called yet */
        OK(HcommRecv(&in, 8, BYTES, 0, 1, NULL, comms[1], INLINE));
        MUST_EQ(7, in);
        OK(HcclCommDestroy(comms[i % 2]));
        OK(HcclCommDestroy(comms[1 - i % 2]));
        if (i == rounds / 4) {
            fds = test_open_fds();
            live = hc_alloc_live();
            resident = resident_kib();
        }
    }
    EXPECT_EQ(fds, test_open_fds());
    EXPECT_TRUE(hc_alloc_live() <= live + 8);
    EXPECT_TRUE(SIDES_SLOW || resident_kib() < resident + 8192);
    OK(aclrtResetDeviceForce(0));
    OK(aclrtResetDeviceForce(1));
}

/* ---- allocations that fail ---- */

static HcclResult
first_use(HcclComm *comms, aclrtStream stream)
{
    uint8_t memory[100] = {3}, came[100];
    HcommBatchItem items[] = {
        {HCOMM_BATCH_SEND, 1, 1, BYTES, memory, 100, NULL},
        {HCOMM_BATCH_SEND, 0, 1, BYTES, memory, 100, NULL},
        {HCOMM_BATCH_RECV, 0, 1, BYTES, came, 100, NULL},
    };
    HcclResult rc = HcommBatch(items, 3, comms[0], stream);

    if (rc == HCCL_SUCCESS && stream != INLINE)
        rc = aclrtSynchronizeStream(stream) == ACL_SUCCESS ? HCCL_SUCCESS : HCCL_E_MEMORY;
    if (rc == HCCL_SUCCESS)
        rc = HcommRecv(came, 100, BYTES, 0, 1, NULL, comms[1], stream);
    if (rc == HCCL_SUCCESS && stream != INLINE)
        rc = aclrtSynchronizeStream(stream) == ACL_SUCCESS ? HCCL_SUCCESS : HCCL_E_MEMORY;
    return rc;
}

/* Whichever allocation fails: the call says so or does without, and nothing is
 * left; the next try works. */
static void
each_allocation_fails(bool queued)
{
    int32_t devices[] = {0, 1};
    aclrtStream stream = INLINE;
    int failures = 0;

    setenv("HCCL_EXEC_TIMEOUT", "1", 1); /* a copy that cannot be made makes the sender wait */
    setenv("HCOMM_CONNECT_TIMEOUT", "300", 1);
    test_time_limit(120);
    test_allow_errors();
    OK(aclrtSetDevice(1));
    for (long nth = 0;; nth++) {
        HcclComm comms[2];
        HcclResult rc;
        int hit;

        OK(HcclCommInitAll(2, devices, comms));
        OK(aclrtSetDevice(0));
        if (queued) { /* over a way that is open: the other test has failures on the way there */
            OK(aclrtCreateStream(&stream));
            OK(first_use(comms, stream));
        }
        hc_alloc_fail_nth(nth);
        rc = first_use(comms, stream);
        hit = hc_alloc_failed();
        hc_alloc_fail_nth(-1);
        failures += rc != HCCL_SUCCESS;
        MUST(hit || rc == HCCL_SUCCESS);
        if (queued)
            OK(aclrtDestroyStreamForce(stream));
        OK(HcclCommDestroy(comms[0])); /* first: what it has for the other one can still go */
        OK(HcclCommDestroy(comms[1]));
        if (!hit)
            break;
    }
    EXPECT_TRUE(failures > 1);
    OK(aclrtResetDeviceForce(0));
    OK(aclrtResetDeviceForce(1));
}

TEST(each_allocation_of_the_first_use_may_fail)
{
    each_allocation_fails(false);
}

TEST(each_allocation_of_a_queued_use_may_fail)
{
    each_allocation_fails(true);
}
