/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank is killed, or stopped, at a moment nobody chose: while it connects, sends, receives, in
 * the middle of a long message, whoever moves its bytes. Its peers get an error that names it,
 * nothing is written to their buffers afterwards, and they can go on without it.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <signal.h>

#include "tests/support/two_sided.h"

#define VICTIM 2
#define LONG ((SIDES_SLOW ? 16u : 64u) << 20)

/* What the victim and rank 0 do with each other. */
enum work {
    CONNECTS, /* killed before, while or after they connect */
    SENDS,    /* the victim, one long message after another, to rank 0 */
    RECEIVES, /* the victim, likewise */
    TALKS,    /* short ones to and fro */
    BATCHES,  /* both ways at once */
    WORKS
};

struct round {
    struct sides sides; /* as the first, for side_join() */
    enum work work;
    enum memory mine, theirs; /* of rank 0, of the victim */
    bool queued;
    atomic_int at_work;
    _Atomic uint64_t died_ms, late_ms;
    atomic_int failed;
};

static uint64_t
sum_of(const uint8_t *memory, uint64_t len)
{
    const uint64_t *words = (const uint64_t *)(const void *)memory;
    uint64_t sum = 0;

    for (uint64_t i = 0; i < len / 8; i++)
        sum = sum * 31 + words[i];
    return sum;
}

/* One exchange; the first failure. */
static int
exchange(struct side *side, struct round *round, uint8_t *memory, aclrtStream stream)
{
    uint32_t other = side->rank == 0 ? VICTIM : 0;
    bool sends = (round->work == SENDS) == (side->rank == VICTIM);
    uint8_t byte = 0;
    int rc;

    switch (round->work) {
    case CONNECTS:
        rc = HcommSendRecv(memory, 8, BYTES, other, 1, memory + 8, 8, BYTES, other, 1, NULL,
                           side->comm, stream);
        break;
    case SENDS:
    case RECEIVES:
        if (sends)
            rc = HcommSend(memory, LONG, BYTES, other, 1, side->comm, stream);
        else
            rc = HcommRecv(memory, LONG, BYTES, other, 1, NULL, side->comm, stream);
        break;
    case TALKS:
        rc = side->rank == 0 ? send_to(side, &byte, 1, other, 1)
                             : recv_from(side, &byte, 1, other, 1);
        if (rc == 0)
            rc = side->rank == 0 ? recv_from(side, &byte, 1, other, 1)
                                 : send_to(side, &byte, 1, other, 1);
        return rc;
    default:
        rc = HcommSendRecv(memory, LONG / 2, BYTES, other, 1, memory + LONG / 2, LONG / 2, BYTES,
                           other, 1, NULL, side->comm, stream);
    }
    return settle(stream, (HcclResult)rc);
}

static void
work_until_error(struct side *side, struct round *round, enum memory kind)
{
    uint8_t *memory = memory_get(kind, LONG);
    aclrtStream stream = INLINE;
    uint64_t sum, late;
    int rc = 0;

    memset(memory, (int)side->rank, LONG); /* pages take their time */
    if (round->queued)
        OK(aclrtCreateStream(&stream));
    atomic_fetch_add(&round->at_work, 1);
    while (rc == 0)
        rc = exchange(side, round, memory, stream);
    late = side_now_ms() - atomic_load(&round->died_ms);
    MUST(atomic_load(&round->died_ms) != 0);
    if (late > atomic_load(&round->late_ms))
        atomic_store(&round->late_ms, late);
    MUST(late < 20000);
    MUST(rc == HCCL_E_REMOTE || rc == ACL_ERROR_RT_SUSPECT_REMOTE_ERROR);
    MUST(test_logged("rank 2") > 0);
    sum = sum_of(memory, LONG);
    usleep(200000);
    MUST_EQ(sum, sum_of(memory, LONG));
    if (round->queued)
        OK(aclrtDestroyStream(stream));
    memory_put(kind, memory);
}

/* Waits for a rank that waits for the victim. */
static void
wait_for_others(struct side *side, struct round *round)
{
    uint8_t byte;

    atomic_fetch_add(&round->at_work, 1);
    MUST_EQ(HCCL_E_REMOTE,
            HcommRecv(&byte, 1, BYTES, HCOMM_ANY_RANK, 99, NULL, side->comm, INLINE));
    MUST(test_logged("rank 2") > 0);
}

static void
survive(int rank, void *shared)
{
    struct round *round = shared;
    struct side side = {.shared = shared};
    uint8_t *memory;

    test_allow_errors();
    OK(aclrtSetDevice(0));
    OK(side_join(&side, 3, (uint32_t)rank, 1));
    if (rank == VICTIM) {
        work_until_error(&side, round, round->theirs);
        pause();
    }
    if (rank == 0)
        work_until_error(&side, round, round->mine);
    else
        wait_for_others(&side, round);
    OK(HcclCommDestroy(side.comm));
    OK(side_join(&side, 2, (uint32_t)rank, 2)); /* without it */
    memory = memory_get(DEVICE, 1u << 20);
    handshake(&side, 1 - side.rank);
    if (rank == 0) {
        fill(memory, 1u << 20, 1);
        OK(send_to(&side, memory, 1u << 20, 1, 1));
    } else {
        OK(recv_from(&side, memory, 1u << 20, 0, 1));
        MUST(is_filled(memory, 1u << 20, 1));
    }
    memory_put(DEVICE, memory);
    OK(HcclCommDestroy(side.comm));
    OK(aclrtResetDeviceForce(0));
}

/* Things of ours in a directory for all. */
static int
left_in(const char *path)
{
    DIR *dir = opendir(path);
    struct dirent *entry;
    int num = 0;

    while (dir != NULL && (entry = readdir(dir)) != NULL)
        num += strstr(entry->d_name, "hcomm_") != NULL;
    if (dir != NULL)
        closedir(dir);
    return num;
}

static uint64_t
kill_at_random(uint64_t nth, enum work work, enum memory mine, enum memory theirs, bool queued)
{
    struct procs procs;
    struct round *round = procs_prepare(&procs, sizeof *round);
    uint64_t late;

    round->work = work;
    round->mine = mine;
    round->theirs = theirs;
    round->queued = queued;
    procs_fork(&procs, 3, survive);
    procs_await(&round->at_work, work == CONNECTS ? 1 + (int)(nth % 3) : 3);
    usleep((useconds_t)(mixed(nth + (uint64_t)work * 100) % (work == CONNECTS ? 4000 : 40000)));
    atomic_store(&round->died_ms, side_now_ms());
    procs_kill(&procs, VICTIM);
    for (int i = 0; i < 2; i++)
        MUST_EQ(0, procs_wait(&procs, i));
    late = atomic_load(&round->late_ms);
    procs_expect_success(&procs);
    return late;
}

static void
kill_in(enum work work, bool queued)
{
    uint64_t latest = 0, late;
    int before = left_in("/dev/shm");

    test_time_limit(300);
    for (enum memory mine = DEVICE; mine <= PLAIN; mine += 2) {
        for (enum memory theirs = DEVICE; theirs <= PLAIN; theirs += 2) {
            late = kill_at_random(mine * 10 + theirs, work, mine, theirs, queued);
            latest = late > latest ? late : latest;
        }
    }
    EXPECT_EQ(before, left_in("/dev/shm"));
    printf("the death was noticed within %llu ms\n", (unsigned long long)latest);
}

TEST(killed_while_connecting)
{
    kill_in(CONNECTS, false);
}

TEST(killed_while_it_sends_64_mib)
{
    kill_in(SENDS, false);
}

TEST(killed_while_it_receives_64_mib)
{
    kill_in(RECEIVES, false);
}

TEST(killed_while_a_stream_receives_64_mib)
{
    kill_in(SENDS, true);
}

TEST(killed_while_a_stream_sends_64_mib)
{
    kill_in(RECEIVES, true);
}

TEST(killed_in_the_middle_of_short_messages)
{
    kill_in(TALKS, false);
}

TEST(killed_while_both_send)
{
    kill_in(BATCHES, true);
}

/* Fifty times the same job, killed as a whole. */
static void
job(int rank, void *shared)
{
    struct side side = {.shared = shared};
    struct round *round = shared;
    uint32_t next = (uint32_t)(rank + 1) % 4, last = (uint32_t)(rank + 3) % 4;
    uint8_t *memory;

    test_allow_errors();
    OK(aclrtSetDevice(0));
    OK(side_join(&side, 4, (uint32_t)rank, 1));
    memory = memory_get(DEVICE, 2u << 20);
    for (int i = 0;; i++) {
        OK(HcommSendRecv(memory, 1u << 20, BYTES, next, 1, memory + (1u << 20), 1u << 20, BYTES,
                         last, 1, NULL, side.comm, INLINE));
        if (i == 0)
            atomic_fetch_add(&round->at_work, 1);
    }
}

TEST(a_job_that_is_killed_starts_again_fifty_times)
{
    int before = left_in("/dev/shm") + left_in("/tmp");

    test_time_limit(180);
    for (int i = 0; i < (SIDES_SLOW ? 5 : 50); i++) {
        struct procs procs;
        struct round *round = procs_prepare(&procs, sizeof *round);

        procs_fork(&procs, 4, job);
        procs_await(&round->at_work, 4);
        usleep((useconds_t)(mixed((uint64_t)i) % 5000));
        for (int rank = 0; rank < 4; rank++)
            (void)kill(procs.pid[rank], SIGKILL);
        for (int rank = 0; rank < 4; rank++)
            (void)procs_wait(&procs, rank);
        procs_expect_success(&procs);
    }
    EXPECT_EQ(before, left_in("/dev/shm") + left_in("/tmp"));
}

/* ---- stopped, not dead ---- */

/* The other one stands still in the middle of a message until time is up. When the call returns,
 * no byte of its buffer is written any more, although the other one goes on. */
static void
stopped_in_the_middle(int rank, void *shared)
{
    struct round *round = shared;
    struct side side = {.shared = shared};
    enum memory kind = rank == 0 ? round->mine : round->theirs;
    uint8_t *memory;
    uint64_t sum;
    int rc = 0;

    test_allow_errors();
    OK(aclrtSetDevice(0));
    OK(side_join(&side, 2, (uint32_t)rank, 1));
    memory = memory_get(kind, LONG);
    memset(memory, rank, LONG);
    handshake(&side, 1 - side.rank);
    atomic_fetch_add(&round->at_work, 1);
    while (rc == 0) { /* it is stopped in one of them */
        if (rank == 1)
            rc = send_to(&side, memory, LONG, 0, 1);
        else
            rc = recv_from(&side, memory, LONG, 1, 1);
    }
    MUST(rc == HCCL_E_TIMEOUT || rc == HCCL_E_REMOTE);
    if (rank == 0) {
        sum = sum_of(memory, LONG);
        usleep(300000);
        MUST_EQ(sum, sum_of(memory, LONG));
    }
    OK(HcclCommDestroy(side.comm));
    memory_put(kind, memory);
    OK(aclrtResetDeviceForce(0));
}

TEST(a_receive_that_timed_out_is_not_written_to_by_a_sender_that_was_stopped)
{
    setenv("HCCL_EXEC_TIMEOUT", "1", 1);
    test_time_limit(120);
    for (enum memory mine = DEVICE; mine <= PLAIN; mine += 2) {
        for (enum memory theirs = DEVICE; theirs <= PLAIN; theirs += 2) {
            struct procs procs;
            struct round *round = procs_prepare(&procs, sizeof *round);

            round->mine = mine;
            round->theirs = theirs;
            procs_fork(&procs, 2, stopped_in_the_middle);
            procs_await(&round->at_work, 2);
            usleep(3000 + (useconds_t)(mixed(mine * 3 + theirs) % 20000));
            OK(kill(procs.pid[1], SIGSTOP));
            usleep(1500000);
            OK(kill(procs.pid[1], SIGCONT));
            procs_expect_success(&procs);
        }
    }
}
