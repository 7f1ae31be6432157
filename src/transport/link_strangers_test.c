/* SPDX-License-Identifier: BSD-3-Clause */
/* Who is no peer: strangers, noise, other versions, wrong secrets. */
#include <errno.h>
#include <signal.h>
#include <sodium.h>
#include <stdlib.h>

#include "base/fd.h"
#include "transport/link_private.h"
#include "transport/link_test.h"

#define FAKE_ID 0x1234567887654321ull /* nobody's process id */
#define OTHER_LIBRARY 80103u          /* 8.1.3 */

struct pair {
    struct tp_address address;
    atomic_int turn;
    atomic_uint strangers;
};

/* Rank 0 of all: listens until turn 2; nothing of the strangers is left then. */
static void
listens(struct pair *pair)
{
    bool settled = false;
    int fds;
    long live;

    test_host();
    EXPECT_EQ(HCCL_SUCCESS, tp_listen(&pair->address));
    fds = test_open_fds();
    live = hc_alloc_live();
    atomic_store(&pair->turn, 1);
    for (int i = 0; i < WAIT_MS && atomic_load(&pair->turn) < 2; i++) {
        atomic_store(&pair->strangers, listen_strangers());
        usleep(1000);
    }
    procs_await(&pair->turn, 2);
    for (int i = 0; i < WAIT_MS && !settled; i++) { /* besides a link to the one that is a peer */
        settled = test_open_fds() <= fds + 1 && hc_alloc_live() <= live;
        usleep(1000);
    }
    EXPECT_TRUE(settled);
}

static void
await_strangers(struct pair *pair, uint32_t num)
{
    for (int i = 0; i < WAIT_MS && atomic_load(&pair->strangers) < num; i++)
        usleep(1000);
    EXPECT_TRUE(atomic_load(&pair->strangers) >= num);
}

static void
run(void (*child)(int rank, void *shared))
{
    struct procs procs;

    procs_start(&procs, 2, child, sizeof(struct pair));
    procs_expect_success(&procs);
}

/* Starts as a peer, after strangers have done their worst. */
static void
link_anyway(struct pair *pair)
{
    link_release(test_link(&pair->address));
    atomic_store(&pair->turn, 2);
}

static void
garbage(int rank, void *shared)
{
    static uint8_t noise[60000];
    struct pair *pair = shared;
    struct wire_hello replayed;
    int fd;

    if (rank == 0) {
        listens(pair);
        EXPECT_EQ(1, test_logged("it left without a word"));
        EXPECT_EQ(1, test_logged("does not speak the protocol"));
        return;
    }
    test_host();
    procs_await(&pair->turn, 1);
    replayed = test_hello(FAKE_ID, FAKE_ID + 1); /* meant for somebody else */
    randombytes_buf(noise, sizeof noise);
    for (int i = 0; i < 50; i++) {
        fd = test_stranger(pair->address.process);
        if (i % 5 == 1)
            (void)sock_send(fd, noise, 1, -1);
        else if (i % 5 == 2)
            (void)sock_send(fd, noise, sizeof noise, fd); /* with a descriptor */
        else if (i % 5 == 3)
            (void)sock_send(fd, &replayed, sizeof replayed, -1);
        else if (i % 5 == 4)
            (void)sock_send(fd, &replayed, sizeof replayed - 1, -1);
        hc_fd_close(fd);
    }
    await_strangers(pair, 50);
    link_anyway(pair);
}

TEST(garbage_is_turned_away_and_logged_once_a_kind)
{
    run(garbage);
}

static void
crowd(int rank, void *shared)
{
    struct pair *pair = shared;
    int fd, held[200];

    if (rank == 0) {
        listens(pair);
        EXPECT_EQ(1, test_logged("too many others came"));
        return;
    }
    test_host();
    procs_await(&pair->turn, 1);
    for (int i = 0; i < 200; i++) /* half-open: they stay, and say nothing */
        held[i] = test_stranger(pair->address.process);
    for (int i = 0; i < 10000; i++) {
        struct wire_hello hello = test_hello(FAKE_ID + (uint64_t)i, pair->address.process);

        fd = test_stranger(pair->address.process);
        if (i % 2 == 1)
            (void)sock_send(fd, &hello, sizeof hello - (i % 3 == 0), -1);
        hc_fd_close(fd);
    }
    link_release(test_link(&pair->address));
    for (int i = 0; i < 200; i++)
        hc_fd_close(held[i]);
    atomic_store(&pair->turn, 2);
}

TEST(ten_thousand_strangers_neither_delay_a_peer_nor_cost_memory)
{
    test_time_limit(120);
    run(crowd);
}

static void
during(int rank, void *shared)
{
    struct pair *pair = shared;

    if (rank == 0) {
        listens(pair);
        return;
    }
    test_host();
    procs_await(&pair->turn, 1);
    if (rank == 1) { /* the noise, for as long as the others start */
        while (atomic_load(&pair->turn) < 2) {
            int fd = sock_new();
            char name[SOCK_NAME_LEN];

            wire_name(name, sizeof name, pair->address.process);
            (void)sock_connect(fd, name);
            hc_fd_close(fd);
        }
        return;
    }
    for (int i = 0; i < 20; i++)
        usleep(1000);
    link_anyway(pair);
}

TEST(a_peer_comes_through_while_strangers_knock)
{
    struct procs procs;

    procs_start(&procs, 3, during, sizeof(struct pair));
    procs_expect_success(&procs);
}

static void
wrong_secret(int rank, void *shared)
{
    struct pair *pair = shared;
    struct tp_address wrong;
    struct shm_link *link = NULL;
    char text[LINE_LEN];

    if (rank == 0) {
        listens(pair);
        EXPECT_EQ(1, test_logged("does not know this process' secret"));
        return;
    }
    test_host();
    procs_await(&pair->turn, 1);
    test_expect_error("does not know the secret of its address");
    wrong = pair->address;
    wrong.secret[3] ^= 1;
    EXPECT_EQ(HCCL_SUCCESS, link_hold(&wrong, &link));
    EXPECT_EQ(HCCL_SUCCESS, link_wait(link, WAIT_MS));
    EXPECT_EQ(LINK_GONE, link_state(link));
    EXPECT_EQ(LINK_REFUSED, link_ending(link, text, sizeof text));
    link_release(link);
    for (uint32_t i = 0; i < 3; i++) { /* and one that does not look whom it talks to */
        int fd = test_stranger(pair->address.process);
        struct wire_hello hello = test_hello(FAKE_ID, pair->address.process);
        struct wire_proof proof = {.head = wire_head(WIRE_PROOF)};
        union wire_message got;
        size_t len;

        EXPECT_EQ(0, sock_send(fd, &hello, sizeof hello, -1));
        EXPECT_TRUE(test_receive(fd, &got, sizeof got, &len));
        EXPECT_TRUE(wire_is(&got, len, WIRE_CHALLENGE));
        /* Reflected: the acceptor's own proof. */
        memcpy(proof.proof, got.challenge.proof, sizeof proof.proof);
        EXPECT_EQ(0, sock_send(fd, &proof, sizeof proof, -1));
        EXPECT_TRUE(test_receive(fd, &got, sizeof got, &len));
        EXPECT_TRUE(wire_is(&got, len, WIRE_VERDICT));
        EXPECT_EQ(WIRE_SECRET, got.verdict.verdict);
        EXPECT_FALSE(test_receive(fd, &got, sizeof got, &len));
        hc_fd_close(fd);
    }
    await_strangers(pair, 3);
    link_anyway(pair);
}

TEST(a_wrong_secret_is_refused_and_logged_once)
{
    run(wrong_secret);
}

static void
changed_secret(int rank, void *shared)
{
    struct pair *pair = shared;
    struct shm_link *link, *bad = NULL;
    struct tp_address wrong;
    char text[LINE_LEN];

    if (rank == 0) {
        listens(pair);
        return;
    }
    test_host();
    procs_await(&pair->turn, 1);
    link = test_link(&pair->address);
    wrong = pair->address;
    wrong.secret[0] ^= 1;
    test_expect_error("has a wrong secret");
    EXPECT_EQ(HCCL_SUCCESS, link_hold(&wrong, &bad));
    EXPECT_TRUE(bad != link);
    EXPECT_EQ(LINK_GONE, link_state(bad));
    EXPECT_EQ(LINK_REFUSED, link_ending(bad, text, sizeof text));
    EXPECT_EQ(LINK_UP, link_state(link));
    link_release(bad);
    link_release(link);
    atomic_store(&pair->turn, 2);
}

TEST(an_address_with_another_secret_does_not_get_the_link_there_is)
{
    run(changed_secret);
}

static void
other_version(int rank, void *shared)
{
    struct pair *pair = shared;
    struct wire_hello hello;
    union wire_message got;
    size_t len;
    int fd;

    if (rank == 0) {
        listens(pair);
        EXPECT_EQ(1, test_logged("8.1.3, protocol 7"));
        EXPECT_EQ(1, test_logged("this process has 9."));
        return;
    }
    test_host();
    procs_await(&pair->turn, 1);
    hello = test_hello(FAKE_ID, pair->address.process);
    hello.head.library = OTHER_LIBRARY;
    hello.head.protocol = 7;
    fd = test_stranger(pair->address.process);
    EXPECT_EQ(0, sock_send(fd, &hello, sizeof hello.head + 5, -1)); /* its hello looks different */
    EXPECT_TRUE(test_receive(fd, &got, sizeof got, &len));
    EXPECT_TRUE(wire_is(&got, len, WIRE_VERDICT));
    EXPECT_EQ(WIRE_VERSION, got.verdict.verdict);
    hc_fd_close(fd);
    link_anyway(pair);
}

TEST(another_version_that_dials_is_refused_with_both_versions)
{
    run(other_version);
}

/* ---- something else than a peer at the address ---- */

/* A process that listens as FAKE_ID; the connection that came, its hello read. */
static int
fake_acceptor(struct pair *pair, int *listen_fd)
{
    char name[SOCK_NAME_LEN];
    union wire_message got;
    size_t len;
    int fd = -1;

    wire_name(name, sizeof name, FAKE_ID);
    *listen_fd = sock_listen(name);
    EXPECT_TRUE(*listen_fd >= 0);
    atomic_store(&pair->turn, 1);
    for (int i = 0; i < WAIT_MS && fd < 0; i++) {
        fd = sock_accept(*listen_fd);
        usleep(1000);
    }
    EXPECT_TRUE(fd >= 0);
    EXPECT_TRUE(test_receive(fd, &got, sizeof got, &len));
    EXPECT_TRUE(wire_is(&got, len, WIRE_HELLO));
    return fd;
}

/* The real dialler: its link must end as REFUSED with this error. */
static void
dial_fake(struct pair *pair, const char *error)
{
    const struct tp_address address = {.process = FAKE_ID};
    struct shm_link *link = NULL;
    char text[LINE_LEN];

    test_host();
    procs_await(&pair->turn, 1);
    test_expect_error(error);
    EXPECT_EQ(HCCL_SUCCESS, link_hold(&address, &link));
    EXPECT_EQ(HCCL_SUCCESS, link_wait(link, WAIT_MS));
    EXPECT_EQ(LINK_GONE, link_state(link));
    EXPECT_EQ(LINK_REFUSED, link_ending(link, text, sizeof text));
    EXPECT_CONTAINS("process ", text);
    link_release(link);
    atomic_store(&pair->turn, 2);
}

static void
meets_other_version(int rank, void *shared)
{
    struct wire_verdict_message verdict = {.head = wire_head(WIRE_VERDICT),
                                           .verdict = WIRE_VERSION};
    struct pair *pair = shared;
    int fd, listen_fd;

    if (rank == 1) {
        dial_fake(pair, "it has hcomm 8.1.3, protocol 7, this process has 9.");
        return;
    }
    fd = fake_acceptor(pair, &listen_fd);
    verdict.head.library = OTHER_LIBRARY;
    verdict.head.protocol = 7;
    EXPECT_EQ(0, sock_send(fd, &verdict, sizeof verdict, -1));
    procs_await(&pair->turn, 2);
    hc_fd_close(fd);
    hc_fd_close(listen_fd);
}

TEST(another_version_that_is_dialled_is_told_with_both_versions)
{
    run(meets_other_version);
}

static void
meets_silence(int rank, void *shared)
{
    struct pair *pair = shared;
    int fd, listen_fd;

    if (rank == 1) {
        setenv("HCOMM_CONNECT_TIMEOUT", "300", 1);
        dial_fake(pair, "did not answer within 0.3 s");
        return;
    }
    fd = fake_acceptor(pair, &listen_fd);
    procs_await(&pair->turn, 2);
    hc_fd_close(fd);
    hc_fd_close(listen_fd);
}

TEST(a_process_that_listens_but_does_not_answer_is_given_up)
{
    run(meets_silence);
}

static void
meets_a_stopped_peer(int rank, void *shared)
{
    struct pair *pair = shared;
    struct shm_link *link = NULL;

    test_host();
    if (rank == 0) {
        EXPECT_EQ(HCCL_SUCCESS, tp_listen(&pair->address));
        atomic_store(&pair->turn, 1);
    } else {
        procs_await(&pair->turn, 2);
        EXPECT_EQ(HCCL_SUCCESS, link_hold(&pair->address, &link));
        EXPECT_EQ(HCCL_SUCCESS, link_wait(link, WAIT_MS));
        EXPECT_EQ(LINK_UP, link_state(link));
        EXPECT_EQ(1, test_logged("listens, but has not answered for 5 s"));
        link_release(link);
        atomic_store(&pair->turn, 3);
    }
    procs_await(&pair->turn, 3);
}

TEST(a_peer_that_is_stopped_for_a_while_is_waited_for)
{
    struct procs procs;
    struct pair *pair;

    procs_start(&procs, 2, meets_a_stopped_peer, sizeof *pair);
    pair = procs.shared;
    procs_await(&pair->turn, 1);
    EXPECT_EQ(0, kill(procs.pid[0], SIGSTOP));
    atomic_store(&pair->turn, 2);
    usleep((LINK_HANDSHAKE_MS + 500) * 1000);
    EXPECT_EQ(0, kill(procs.pid[0], SIGCONT));
    procs_expect_success(&procs);
}

static void
meets_impostor(int rank, void *shared)
{
    struct wire_challenge challenge = {.head = wire_head(WIRE_CHALLENGE)};
    struct pair *pair = shared;
    union wire_message got;
    size_t len;
    int fd, listen_fd;

    if (rank == 1) {
        dial_fake(pair, "does not know the secret of its address");
        return;
    }
    fd = fake_acceptor(pair, &listen_fd);
    EXPECT_EQ(0, sock_send(fd, &challenge, sizeof challenge, -1));
    EXPECT_FALSE(test_receive(fd, &got, sizeof got, &len)); /* the dialler's secret does not come */
    procs_await(&pair->turn, 2);
    hc_fd_close(fd);
    hc_fd_close(listen_fd);
}

TEST(an_impostor_learns_no_secret)
{
    run(meets_impostor);
}

static void
meets_nonsense(int rank, void *shared)
{
    struct wire_verdict_message welcome = {.head = wire_head(WIRE_VERDICT),
                                           .verdict = WIRE_WELCOME};
    struct pair *pair = shared;
    int fd, listen_fd;

    if (rank == 1) {
        dial_fake(pair, "breaks the order of the handshake");
        return;
    }
    fd = fake_acceptor(pair, &listen_fd);
    EXPECT_EQ(0, sock_send(fd, &welcome, sizeof welcome, -1)); /* and no proof */
    procs_await(&pair->turn, 2);
    hc_fd_close(fd);
    hc_fd_close(listen_fd);
}

TEST(who_welcomes_without_a_proof_is_refused)
{
    run(meets_nonsense);
}

static void
silent(int rank, void *shared)
{
    struct pair *pair = shared;
    union wire_message got;
    size_t len;
    int fd;

    if (rank == 0) {
        listens(pair);
        EXPECT_EQ(1, test_logged("did not prove itself in time"));
        return;
    }
    test_host();
    procs_await(&pair->turn, 1);
    fd = test_stranger(pair->address.process);
    EXPECT_FALSE(test_receive(fd, &got, sizeof got, &len));
    hc_fd_close(fd);
    link_anyway(pair);
}

TEST(who_stays_silent_is_turned_away_in_the_end)
{
    run(silent);
}
