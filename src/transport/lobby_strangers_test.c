/* SPDX-License-Identifier: BSD-3-Clause */
/* Who has no business in the lobby. */
#include <signal.h>
#include <sodium.h>

#include "base/fd.h"
#include "transport/lobby.h"
#include "transport/lobby_test.h"

static int
stranger_at(const char *key, int side)
{
    char name[SOCK_NAME_LEN];
    int fd = sock_new();

    lobby_name(name, key, side);
    for (int i = 0; i < WAIT_MS && sock_connect(fd, name) != 0; i++)
        usleep(1000);
    return fd;
}

/* A stranger is at the name of an end that waits, then the peer comes. */
static void
disturbed(int rank, void *arg, void (*disturb)(const char *key, int side))
{
    struct shared *shared = arg;
    struct tp_lobby *lobby;
    char key[80];

    test_host();
    EXPECT_EQ(HCCL_SUCCESS, tp_listen(&shared->address[rank]));
    for (int side = 0; side < 2; side++) {
        snprintf(key, sizeof key, "%s %d", shared->key, side);
        if (rank == 2) {
            disturb(key, side);
            atomic_store(&shared->turn, side + 1);
        } else {
            if (rank != side)
                procs_await(&shared->turn, side + 1);
            lobby = open_end(key, rank);
            EXPECT_EQ(shared->address[1 - rank].process, await_peer(lobby).process);
            tp_lobby_close(lobby);
        }
        atomic_fetch_add(&shared->ready, 1);
        procs_await(&shared->ready, 3 * (side + 1));
    }
}

static void
make_noise(const char *key, int side)
{
    union {
        struct lobby_message message;
        uint8_t bytes[300];
    } noise = {.message = {.head = wire_head((enum wire_type)LOBBY_CALL)}};

    for (int i = 0; i < 200; i++) {
        int fd = stranger_at(key, side);

        (void)sock_send(fd, &noise, i % 2 == 0 ? sizeof noise.message : (size_t)i + 1, fd);
        hc_fd_close(fd);
    }
}

static void
noisy(int rank, void *shared)
{
    disturbed(rank, shared, make_noise);
}

TEST(noise_in_the_lobby_keeps_nobody_apart)
{
    run(3, noisy);
}

static void
break_off(const char *key, int side)
{
    struct lobby_message call = {.head = wire_head((enum wire_type)LOBBY_CALL)}, offer;
    size_t len;
    int fd = stranger_at(key, side);

    crypto_generichash(call.digest, sizeof call.digest, (const uint8_t *)key, strlen(key), NULL, 0);
    call.address.process = 4711;
    (void)sock_send(fd, &call, sizeof call, -1);
    if (side == 0) {
        EXPECT_TRUE(test_receive(fd, &offer, sizeof offer, &len));
        EXPECT_EQ(LOBBY_OFFER, offer.head.type);
    }
    hc_fd_close(fd);
}

static void
broken_off(int rank, void *shared)
{
    disturbed(rank, shared, break_off);
}

TEST(an_end_whose_call_breaks_off_waits_on)
{
    run(3, broken_off);
}

static void
other_version(int rank, void *arg)
{
    struct shared *shared = arg;
    struct lobby_message call = {.head = wire_head((enum wire_type)LOBBY_CALL)}, answer;
    struct tp_lobby *lobby;
    struct tp_address peer;
    size_t len;
    int fd;

    test_host();
    if (rank == 0) {
        test_expect_error("has hcomm 8.1.3, protocol 7, this one has 9.");
        lobby = open_end(shared->key, 0);
        for (int i = 0; i < WAIT_MS && tp_lobby_poll(lobby, &peer) == HCCL_E_AGAIN; i++)
            usleep(1000);
        EXPECT_EQ(HCCL_E_REMOTE, tp_lobby_poll(lobby, &peer));
        EXPECT_EQ(1, atomic_load(&changes));
        tp_lobby_close(lobby);
        return;
    }
    fd = stranger_at(shared->key, 0);
    call.head.library = 80103;
    call.head.protocol = 7;
    EXPECT_EQ(0, sock_send(fd, &call, sizeof call.head, -1));
    EXPECT_TRUE(test_receive(fd, &answer, sizeof answer, &len));
    EXPECT_TRUE(wire_same_version(&answer.head));
    hc_fd_close(fd);
}

TEST(another_version_is_told_with_both_versions)
{
    run(2, other_version);
}

/* The end is told "done" while its process is stopped, for longer than a call may take. */
static void
stopped(int rank, void *arg)
{
    struct shared *shared = arg;
    struct lobby_message call = {.head = wire_head((enum wire_type)LOBBY_CALL)}, offer;
    struct tp_lobby *lobby;
    size_t len;
    pid_t pid;
    uid_t uid;
    int fd;

    test_host();
    if (rank == 0) {
        lobby = open_end(shared->key, 0);
        EXPECT_EQ(4711, await_peer(lobby).process);
        tp_lobby_close(lobby);
        return;
    }
    fd = stranger_at(shared->key, 0);
    crypto_generichash(call.digest, sizeof call.digest, (const uint8_t *)shared->key,
                       strlen(shared->key), NULL, 0);
    call.address.process = 4711;
    EXPECT_EQ(0, sock_send(fd, &call, sizeof call, -1));
    EXPECT_TRUE(test_receive(fd, &offer, sizeof offer, &len));
    sock_peer(fd, &pid, &uid);
    EXPECT_EQ(0, kill(pid, SIGSTOP));
    usleep(200000); /* it stands by now, asleep in epoll_wait */
    call.head = wire_head((enum wire_type)LOBBY_DONE);
    EXPECT_EQ(0, sock_send(fd, &call, sizeof call, -1));
    usleep(5500000);
    EXPECT_EQ(0, kill(pid, SIGCONT));
    hc_fd_close(fd);
}

TEST(an_end_that_has_met_while_it_was_stopped_knows_it)
{
    run(2, stopped);
}
