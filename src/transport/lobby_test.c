/* SPDX-License-Identifier: BSD-3-Clause */
/* Ends that meet in the lobby. */
#include <pthread.h>
#include <sys/resource.h>

#include "transport/lobby_test.h"

#define QUEUE (MEMBERS_MOST / 2)

/* Meets with the others of the test, and keeps its sockets until all have. */
static void
meet(struct shared *shared, int rank, int side, int others)
{
    struct tp_lobby *lobby = open_end(shared->key, side);
    struct tp_address peer = await_peer(lobby);

    EXPECT_TRUE(atomic_load(&changes) > 0);
    shared->met[rank] = peer.process;
    tp_lobby_close(lobby);
    atomic_fetch_add(&shared->ready, 1);
    procs_await(&shared->ready, others);
}

static void
at_once(int rank, void *arg)
{
    struct shared *shared = arg;

    test_host();
    EXPECT_EQ(HCCL_SUCCESS, tp_listen(&shared->address[rank]));
    meet(shared, rank, rank, 2);
    EXPECT_EQ(shared->address[1 - rank].process, shared->met[rank]);
}

TEST(two_processes_meet)
{
    for (int i = 0; i < ROUNDS(30); i++)
        run(2, at_once);
}

static void
in_turn(int rank, void *arg)
{
    struct shared *shared = arg;
    struct tp_address none = {0};
    struct tp_lobby *lobby;

    test_host();
    EXPECT_EQ(HCCL_SUCCESS, tp_listen(&shared->address[rank]));
    for (int round = 0; round < 2; round++) { /* each is first once */
        int first = round, base = round * 4;

        if (rank == first) {
            lobby = open_end(shared->key, rank);
            usleep(20000); /* it has looked for the other one */
            EXPECT_EQ(HCCL_E_AGAIN, tp_lobby_poll(lobby, &none));
            atomic_store(&shared->turn, base + 1);
        } else {
            procs_await(&shared->turn, base + 1);
            lobby = open_end(shared->key, rank);
        }
        EXPECT_EQ(shared->address[1 - rank].process, await_peer(lobby).process);
        tp_lobby_close(lobby);
        atomic_fetch_add(&shared->ready, 1);
        procs_await(&shared->ready, 2 * (round + 1));
    }
}

TEST(whoever_comes_second_finds_the_first)
{
    run(2, in_turn);
}

static void
linked(int rank, void *arg)
{
    struct shared *shared = arg;
    struct tp_lobby *lobby;
    struct tp_address peer;
    struct shm_link *link;

    test_host();
    lobby = open_end(shared->key, rank);
    peer = await_peer(lobby);
    tp_lobby_close(lobby);
    link = test_link(&peer); /* the address serves: its secret is right */
    atomic_fetch_add(&shared->ready, 1);
    procs_await(&shared->ready, 2);
    link_release(link);
}

TEST(the_address_that_is_told_makes_a_link)
{
    run(2, linked);
}

static void
alone(int rank, void *arg)
{
    struct shared *shared = arg;
    struct tp_lobby *ends[2];
    struct tp_address own;

    (void)rank;
    test_host();
    EXPECT_EQ(HCCL_SUCCESS, tp_listen(&own));
    for (int first = 0; first < 2; first++) {
        ends[first] = open_end(shared->key, first);
        ends[1 - first] = open_end(shared->key, 1 - first);
        EXPECT_EQ(own.process, await_peer(ends[0]).process);
        EXPECT_EQ(own.process, await_peer(ends[1]).process);
        tp_lobby_close(ends[0]);
        tp_lobby_close(ends[1]);
    }
}

TEST(two_ends_in_one_process_meet)
{
    run(1, alone);
}

static void
several(int rank, void *arg)
{
    struct shared *shared = arg;
    struct tp_lobby *ends[20];
    struct tp_address own;

    test_host();
    EXPECT_EQ(HCCL_SUCCESS, tp_listen(&own));
    for (int i = 0; i < 20; i++)
        ends[i] = open_end(shared->key, rank);
    for (int i = 0; i < 20; i++) {
        EXPECT_NE(own.process, await_peer(ends[i]).process);
        tp_lobby_close(ends[i]);
    }
    atomic_fetch_add(&shared->ready, 1);
    procs_await(&shared->ready, 2);
}

TEST(several_ends_of_one_key_all_meet)
{
    run(2, several);
}

static void
queue(int rank, void *arg)
{
    struct shared *shared = arg;

    test_host();
    EXPECT_EQ(HCCL_SUCCESS, tp_listen(&shared->address[rank]));
    meet(shared, rank, rank % 2, 2 * QUEUE);
}

TEST(processes_that_use_one_key_meet_in_pairs)
{
    struct procs procs;
    struct shared *shared;
    int partner;

    prepare(&procs);
    shared = procs.shared;
    procs_fork(&procs, 2 * QUEUE, queue);
    for (int i = 0; i < 2 * QUEUE; i++)
        EXPECT_EQ(0, procs_wait(&procs, i));
    for (int i = 0; i < 2 * QUEUE; i++) {
        for (partner = 0; partner < 2 * QUEUE; partner++) {
            if (shared->address[partner].process == shared->met[i])
                break;
        }
        EXPECT_TRUE(partner < 2 * QUEUE && partner % 2 != i % 2);
        EXPECT_EQ(shared->address[i].process, shared->met[partner]);
    }
    procs_expect_success(&procs);
}

static void
left(int rank, void *arg)
{
    struct shared *shared = arg;
    struct tp_lobby *gone, *lobby;
    struct tp_address peer = {0};

    test_host();
    if (rank == 2) {
        procs_await(&shared->turn, 1);
        lobby = open_end(shared->key, 1);
        EXPECT_EQ(shared->address[1].process, await_peer(lobby).process);
        tp_lobby_close(lobby);
        atomic_store(&shared->turn, 2);
        return;
    }
    EXPECT_EQ(HCCL_SUCCESS, tp_listen(&shared->address[rank]));
    if (rank == 0) {
        gone = open_end(shared->key, 0);
        lobby = open_end("another key", 0);
        usleep(10000);
        EXPECT_EQ(HCCL_E_AGAIN, tp_lobby_poll(gone, &peer));
        tp_lobby_close(gone);
        tp_lobby_close(lobby);
        tp_lobby_close(NULL);
        EXPECT_EQ(0, atomic_load(&changes));
        atomic_fetch_add(&shared->ready, 1);
        procs_await(&shared->turn, 2);
        return;
    }
    procs_await(&shared->ready, 1);
    lobby = open_end(shared->key, 0);
    atomic_store(&shared->turn, 1);
    EXPECT_NE(0, await_peer(lobby).process);
    tp_lobby_close(lobby);
    procs_await(&shared->turn, 2);
}

TEST(an_end_that_left_is_forgotten)
{
    run(3, left);
}

static void
killed(int rank, void *arg)
{
    struct shared *shared = arg;

    test_host();
    if (rank < QUEUE) { /* comes to be killed */
        (void)open_end(shared->key, rank % 2);
        atomic_fetch_add(&shared->ready, 1);
        for (;;)
            pause();
    }
    procs_await(&shared->turn, 1);
    meet(shared, rank, rank % 2, QUEUE + 2);
}

TEST(killed_processes_do_not_stay_in_the_lobby)
{
    struct procs procs;
    struct shared *shared;

    prepare(&procs);
    shared = procs.shared;
    procs_fork(&procs, QUEUE + 2, killed);
    procs_await(&shared->ready, QUEUE);
    for (int i = 0; i < QUEUE; i++)
        procs_kill(&procs, i);
    atomic_store(&shared->turn, 1);
    procs_expect_success(&procs);
}

static void
no_memory(int rank, void *arg)
{
    struct shared *shared = arg;
    struct tp_lobby *lobby = NULL, *other;
    struct tp_address own;
    HcclResult rc;
    long nth = 0;

    (void)rank;
    test_host();
    test_expect_error("out of host memory");
    EXPECT_EQ(HCCL_SUCCESS, tp_listen(&own));
    do {
        hc_alloc_fail_nth(nth++);
        rc = tp_lobby_open(shared->key, 0, on_change, NULL, &lobby);
        if (rc != HCCL_SUCCESS) {
            EXPECT_EQ(HCCL_E_MEMORY, rc);
            EXPECT_NULL(lobby);
            EXPECT_EQ(0, hc_alloc_live());
        }
    } while (rc != HCCL_SUCCESS);
    EXPECT_EQ(3, nth);
    hc_alloc_fail_nth(2);             /* after the two of open: the call's, on the service thread */
    other = open_end(shared->key, 1); /* it calls again */
    (void)await_peer(lobby);
    (void)await_peer(other);
    tp_lobby_close(lobby);
    tp_lobby_close(other);
    hc_alloc_fail_nth(-1);
}

TEST(open_survives_every_failed_allocation)
{
    run(1, no_memory);
}

static void
no_descriptors(int rank, void *arg)
{
    struct shared *shared = arg;
    struct rlimit limit, low;
    struct tp_lobby *lobby;
    struct tp_address own;

    test_host();
    EXPECT_EQ(HCCL_SUCCESS, tp_listen(&own));
    EXPECT_EQ(0, getrlimit(RLIMIT_NOFILE, &limit));
    low = (struct rlimit){.rlim_cur = 3, .rlim_max = limit.rlim_max};
    if (rank == 0)
        EXPECT_EQ(0, setrlimit(RLIMIT_NOFILE, &low));
    lobby = open_end(shared->key, rank);
    if (rank == 0) {
        for (int i = 0; i < WAIT_MS && test_logged("ulimit -n") == 0; i++)
            usleep(1000);
        EXPECT_EQ(1, test_logged("ulimit -n"));
        EXPECT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
    }
    (void)await_peer(lobby);
    tp_lobby_close(lobby);
    atomic_fetch_add(&shared->ready, 1);
    procs_await(&shared->ready, 2);
}

TEST(out_of_descriptors_they_meet_later)
{
    run(2, no_descriptors);
}

static void *
comes_and_goes(void *arg)
{
    for (int i = 0; i < 300; i++) {
        struct tp_lobby *lobby = open_end(arg, i % 2);
        struct tp_address peer;

        if (i % 3 == 0)
            usleep(100);
        (void)tp_lobby_poll(lobby, &peer);
        tp_lobby_close(lobby);
    }
    return NULL;
}

static void
threads(int rank, void *arg)
{
    struct shared *shared = arg;
    pthread_t thread[3];

    (void)rank;
    test_host();
    for (int i = 0; i < 3; i++)
        EXPECT_EQ(0, pthread_create(&thread[i], NULL, comes_and_goes, shared->key));
    for (int i = 0; i < 3; i++)
        EXPECT_EQ(0, pthread_join(thread[i], NULL));
}

TEST(ends_come_and_go_on_many_threads)
{
    run(2, threads);
}
