/* SPDX-License-Identifier: BSD-3-Clause */
/* Hellos that this library would not send, and roots that are not the root. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/socket.h>

#include "bootstrap/address.h"
#include "bootstrap/members_test.h"
#include "bootstrap/rootinfo.h"

/* ---- Hellos ---- */

static int
dial_root(const struct root_info *root, uint8_t key[KEY_LEN])
{
    uint8_t greeting[GREETING_LEN], proof[PROOF_MSG_LEN], answer[ANSWER_LEN];
    int fd = socket(root->addr.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    EXPECT_EQ(0, connect(fd, (const struct sockaddr *)&root->addr, address_len(&root->addr)));
    EXPECT_EQ(sizeof greeting, recv(fd, greeting, sizeof greeting, MSG_WAITALL));
    wire_put32(proof, WIRE_MAGIC);
    memset(proof + 4, 7, NONCE_LEN);
    wire_proof(proof + 4 + NONCE_LEN, root->secret, ROLE_RANK, greeting + 8, proof + 4);
    EXPECT_EQ(sizeof proof, send(fd, proof, sizeof proof, MSG_NOSIGNAL));
    EXPECT_EQ(sizeof answer, recv(fd, answer, sizeof answer, MSG_WAITALL));
    EXPECT_EQ(VERDICT_WELCOME, wire_get32(answer));
    wire_key(key, root->secret, greeting + 8, proof + 4);
    return fd;
}

static uint32_t
make_hello(uint8_t *message, const struct wire_hello *hello, const uint8_t key[KEY_LEN])
{
    uint8_t digest[MAC_LEN];
    uint32_t len = wire_put_hello(message + HEAD_LEN, hello);

    wire_put32(message, WIRE_HELLO);
    wire_put32(message + 4, len);
    wire_digest(digest, message, message + HEAD_LEN, len);
    wire_mac(message + HEAD_LEN + len, key, digest);
    return HEAD_LEN + len + MAC_LEN;
}

/* Joins by hand, and reads what the root answers. */
static uint32_t
say_hello(const HcclRootInfo *info, const struct wire_hello *hello, char *why, size_t len)
{
    uint8_t message[HEAD_LEN + HELLO_MAX_LEN + MAC_LEN], head[HEAD_LEN], key[KEY_LEN];
    struct root_info root;
    ssize_t got;
    int fd;

    EXPECT_EQ(HCCL_SUCCESS, root_info_decode(&root, info));
    fd = dial_root(&root, key);
    EXPECT_TRUE(send(fd, message, make_hello(message, hello, key), MSG_NOSIGNAL) > 0);
    EXPECT_EQ(RECEIPT_LEN, recv(fd, head, RECEIPT_LEN, MSG_WAITALL));
    EXPECT_EQ(WIRE_RECEIPT, wire_get32(head));
    EXPECT_EQ(sizeof head, recv(fd, head, sizeof head, MSG_WAITALL));
    got = recv(fd, message, sizeof message, 0);
    EXPECT_TRUE(got > 4);
    snprintf(why, len, "%.*s", (int)(wire_get32(head + 4) - 4), (const char *)message + 4);
    close(fd);
    return wire_get32(head);
}

static void
join_with_an_old_library(int rank, void *arg)
{
    const struct wire_hello hello = {
        .lib_version = 80103, .n_ranks = 3, .rank = 2, .timeout_ms = LONG_MS};
    struct shared *shared = arg;
    char why[512];

    if (rank < 2) {
        test_expect_error("EI0008: rank 2 runs library version 8.1.3, the root runs ");
        EXPECT_EQ(HCCL_E_PARA, join(shared, rank, 3, LONG_MS));
        return;
    }
    await_joining(shared, 2);
    EXPECT_EQ(WIRE_FAILURE, say_hello(&shared->info[0], &hello, why, sizeof why));
    EXPECT_CONTAINS("EI0008: rank 2 runs library version 8.1.3, the root runs ", why);
}

TEST(differing_versions_are_told_in_all_processes)
{
    struct procs procs;

    procs_start(&procs, 3, join_with_an_old_library, sizeof(struct shared));
    procs_expect_success(&procs);
}

static void
join_beyond_the_end(int rank, void *arg)
{
    const struct wire_hello hello = {
        .lib_version = LIB_VERSION, .n_ranks = 3, .rank = 3, .timeout_ms = LONG_MS};
    struct shared *shared = arg;
    char why[512];

    if (rank < 2) {
        test_expect_error("rank 3 of 3 ranks");
        EXPECT_EQ(HCCL_E_PARA, join(shared, rank, 3, LONG_MS));
        return;
    }
    await_joining(shared, 2);
    EXPECT_EQ(WIRE_FAILURE, say_hello(&shared->info[0], &hello, why, sizeof why));
}

TEST(a_rank_beyond_the_end_is_told_in_all_processes)
{
    struct procs procs;

    procs_start(&procs, 3, join_beyond_the_end, sizeof(struct shared));
    procs_expect_success(&procs);
}

static void
replay_a_hello(int rank, void *arg)
{
    const struct wire_hello hello = {
        .lib_version = LIB_VERSION, .n_ranks = 2, .rank = 1, .timeout_ms = LONG_MS};
    uint8_t message[HEAD_LEN + HELLO_MAX_LEN + MAC_LEN], key[KEY_LEN], other[KEY_LEN];
    struct shared *shared = arg;
    struct root_info root;
    int from, to;

    if (rank == 0) {
        EXPECT_EQ(HCCL_SUCCESS, join(shared, 0, 2, LONG_MS));
        EXPECT_EQ(1, test_logged("its hello was changed on the way"));
        return;
    }
    procs_await(&shared->arrived, 1);
    EXPECT_EQ(HCCL_SUCCESS, root_info_decode(&root, &shared->info[0]));
    from = dial_root(&root, key);
    to = dial_root(&root, other);
    EXPECT_TRUE(send(to, message, make_hello(message, &hello, key), MSG_NOSIGNAL) > 0);
    EXPECT_TRUE(recv(to, message, 1, 0) <= 0); /* thrown out */
    close(from);
    close(to);
    EXPECT_EQ(HCCL_SUCCESS, join(shared, 1, 2, LONG_MS));
}

TEST(a_hello_made_for_another_connection_is_refused)
{
    struct procs procs;

    procs_start(&procs, 2, replay_a_hello, sizeof(struct shared));
    procs_expect_success(&procs);
}

/* ---- Roots ---- */

static void
join_a_successor(int rank, void *arg)
{
    struct shared *shared = arg;

    setenv("HCCL_HOST_SOCKET_PORT_RANGE", "47400", 1);
    if (rank == 0) {
        publish_root(shared); /* this one is complete and gone ... */
        EXPECT_EQ(HCCL_SUCCESS, join_and_check(&shared->info[0], 1, 0, LONG_MS));
        EXPECT_EQ(HCCL_SUCCESS, bs_root_create(&shared->info[1])); /* ... when this one comes */
        atomic_store(&shared->go, 1);
        EXPECT_EQ(HCCL_SUCCESS, join_and_check(&shared->info[1], 2, 0, LONG_MS));
        return;
    }
    procs_await(&shared->go, 1);
    test_expect_error("does not know the root info of ");
    EXPECT_EQ(HCCL_E_PARA, join_and_check(&shared->info[0], 2, 1, LONG_MS));
    EXPECT_EQ(HCCL_SUCCESS, join_and_check(&shared->info[1], 2, 1, LONG_MS));
}

TEST(a_stale_root_info_is_refused_by_who_has_the_port_now)
{
    struct procs procs;

    procs_start(&procs, 2, join_a_successor, sizeof(struct shared));
    procs_expect_success(&procs);
}

/* Says `bytes` to whoever connects, `times` times. */
struct impostor {
    int fd;
    const void *bytes;
    size_t len;
    pthread_t thread;
};

static void *
pose(void *arg)
{
    struct impostor *impostor = arg;
    int fd = accept4(impostor->fd, NULL, NULL, SOCK_CLOEXEC);
    char byte;

    (void)!send(fd, impostor->bytes, impostor->len, MSG_NOSIGNAL);
    while (recv(fd, &byte, 1, 0) > 0)
        ;
    close(fd);
    return NULL;
}

static HcclResult
join_impostor(const void *bytes, size_t len, int64_t timeout_ms)
{
    struct impostor impostor = {.bytes = bytes, .len = len};
    struct root_info root = {.pid = 4711, .process = 1, .id = "nobody"};
    HcclRootInfo info;
    HcclResult rc;

    EXPECT_EQ(HCCL_SUCCESS, address_choose(&root.addr));
    EXPECT_EQ(HCCL_SUCCESS, address_listen(&root.addr, &impostor.fd));
    (void)fcntl(impostor.fd, F_SETFL, 0);
    EXPECT_EQ(0, pthread_create(&impostor.thread, NULL, pose, &impostor));
    root_info_encode(&info, &root);
    rc = join_and_check(&info, 2, 1, timeout_ms);
    EXPECT_EQ(0, pthread_join(impostor.thread, NULL));
    close(impostor.fd);
    return rc;
}

TEST(what_is_no_root_is_not_joined)
{
    uint8_t greeting[GREETING_LEN] = {0};

    test_expect_error("does not know the root info of nobody");
    EXPECT_EQ(HCCL_E_PARA,
              join_impostor("HTTP/1.1 400 Bad Request\r\n\r\n this is no root", 44, LONG_MS));
    wire_put32(greeting, WIRE_MAGIC);
    wire_put32(greeting + 4, WIRE_VERSION + 7);
    test_expect_error("EI0008: the root at 127.0.0.1:");
    EXPECT_EQ(HCCL_E_PARA, join_impostor(greeting, sizeof greeting, LONG_MS));
    test_expect_error("EI0006: cannot reach the root of nobody at 127.0.0.1:");
    EXPECT_EQ(HCCL_E_TIMEOUT, join_impostor("", 0, 300)); /* says nothing */
}

/* A root that lets a rank in twice: it throws it out before it has looked at its hello, then after
 * that. */
struct moody {
    int fd;
    struct root_info root;
    int joined; /* hellos that it took */
    pthread_t thread;
};

static void
take_in(const struct moody *moody, int fd)
{
    uint8_t greeting[GREETING_LEN], proof[PROOF_MSG_LEN], answer[ANSWER_LEN];
    uint8_t hello[HEAD_LEN + HELLO_MAX_LEN + MAC_LEN];

    wire_put32(greeting, WIRE_MAGIC);
    wire_put32(greeting + 4, WIRE_VERSION);
    memset(greeting + 8, 5, NONCE_LEN);
    EXPECT_EQ(sizeof greeting, send(fd, greeting, sizeof greeting, MSG_NOSIGNAL));
    EXPECT_EQ(sizeof proof, recv(fd, proof, sizeof proof, MSG_WAITALL));
    wire_put32(answer, VERDICT_WELCOME);
    wire_proof(answer + 4, moody->root.secret, ROLE_ROOT, greeting + 8, proof + 4);
    EXPECT_EQ(sizeof answer, send(fd, answer, sizeof answer, MSG_NOSIGNAL));
    EXPECT_EQ(HEAD_LEN, recv(fd, hello, HEAD_LEN, MSG_WAITALL));
    EXPECT_TRUE(recv(fd, hello, wire_get32(hello + 4) + MAC_LEN, MSG_WAITALL) > 0);
}

static void *
moody_main(void *arg)
{
    struct moody *moody = arg;

    for (moody->joined = 0; moody->joined < 2; moody->joined++) {
        int fd = accept4(moody->fd, NULL, NULL, SOCK_CLOEXEC);
        uint8_t receipt[RECEIPT_LEN];

        if (fd < 0)
            return NULL; /* its listener was shut down: nobody has come any more */
        take_in(moody, fd);
        wire_put32(receipt, WIRE_RECEIPT);
        if (moody->joined == 1)
            EXPECT_EQ(sizeof receipt, send(fd, receipt, sizeof receipt, MSG_NOSIGNAL));
        close(fd);
    }
    return NULL;
}

TEST(a_rank_that_is_thrown_out_before_it_is_known_tries_again)
{
    struct moody moody = {.root = {.pid = 4711, .process = 1, .id = "moody"}};
    HcclRootInfo info;

    test_expect_error("ended before all had joined");
    EXPECT_EQ(HCCL_SUCCESS, address_choose(&moody.root.addr));
    EXPECT_EQ(HCCL_SUCCESS, address_listen(&moody.root.addr, &moody.fd));
    (void)fcntl(moody.fd, F_SETFL, 0);
    EXPECT_EQ(0, pthread_create(&moody.thread, NULL, moody_main, &moody));
    root_info_encode(&info, &moody.root);
    EXPECT_EQ(HCCL_E_REMOTE, join_and_check(&info, 2, 1, LONG_MS));
    (void)shutdown(moody.fd, SHUT_RDWR);
    EXPECT_EQ(0, pthread_join(moody.thread, NULL));
    EXPECT_EQ(2, moody.joined);
    close(moody.fd);
}
