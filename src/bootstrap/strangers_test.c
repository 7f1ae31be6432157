/* SPDX-License-Identifier: BSD-3-Clause */
/* Who is no rank is turned away and delays nobody. */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "bootstrap/address.h"
#include "bootstrap/bootstrap_test.h"
#include "bootstrap/rootinfo.h"
#include "tests/support/procs.h"

static int
dial(const HcclRootInfo *info)
{
    struct root_info decoded;
    int fd;

    EXPECT_EQ(HCCL_SUCCESS, root_info_decode(&decoded, info));
    fd = socket(decoded.addr.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(0, connect(fd, (struct sockaddr *)&decoded.addr, address_len(&decoded.addr)));
    return fd;
}

static void
send_all(int fd, const void *bytes, size_t len)
{
    const char *at = bytes;

    while (len > 0) {
        ssize_t n = send(fd, at, len, MSG_NOSIGNAL);

        if (n <= 0)
            return; /* thrown out: as it should be */
        at += n;
        len -= (size_t)n;
    }
}

static void
read_all(int fd, void *bytes, size_t len)
{
    EXPECT_EQ(len, recv(fd, bytes, len, MSG_WAITALL));
}

/* Goes through the handshake as a rank would; *message is the proof it sent. */
static void
shake(int fd, const struct root_info *info, uint8_t message[PROOF_MSG_LEN], uint8_t key[KEY_LEN])
{
    uint8_t greeting[GREETING_LEN], answer[ANSWER_LEN];

    read_all(fd, greeting, sizeof greeting);
    wire_put32(message, WIRE_MAGIC);
    memset(message + 4, 7, NONCE_LEN);
    wire_proof(message + 4 + NONCE_LEN, info->secret, ROLE_RANK, greeting + 8, message + 4);
    send_all(fd, message, PROOF_MSG_LEN);
    read_all(fd, answer, sizeof answer);
    EXPECT_EQ(VERDICT_WELCOME, wire_get32(answer));
    wire_key(key, info->secret, greeting + 8, message + 4);
}

TEST(strangers_are_turned_away_and_delay_nobody)
{
    int before = threads();
    struct root_info decoded;
    struct rank ranks[4];
    uint8_t proof[PROOF_MSG_LEN], key[KEY_LEN], answer[ANSWER_LEN], greeting[GREETING_LEN];
    char *noise = malloc(1 << 20);
    int silent[20], half, fd;
    uint64_t start_ns = hc_now_ns();
    HcclRootInfo info;

    memset(noise, 'x', 1 << 20);
    EXPECT_EQ(HCCL_SUCCESS, bs_root_create(&info));
    EXPECT_EQ(HCCL_SUCCESS, root_info_decode(&decoded, &info));
    for (int i = 0; i < 20; i++)
        close(dial(&info)); /* connect and close */
    while (test_logged("left during the handshake") == 0)
        usleep(1000);
    for (int i = 0; i < 20; i++)
        silent[i] = dial(&info); /* connect and be silent */
    fd = dial(&info);            /* one byte */
    send_all(fd, "x", 1);
    close(fd);
    fd = dial(&info); /* a megabyte of noise */
    send_all(fd, noise, 1 << 20);
    close(fd);
    fd = dial(&info); /* an oversize hello, then a proof seen elsewhere */
    shake(fd, &decoded, proof, key);
    uint8_t head[HEAD_LEN];
    wire_put32(head, WIRE_HELLO);
    wire_put32(head + 4, 0x7FFFFFFF);
    send_all(fd, head, sizeof head);
    EXPECT_TRUE(recv(fd, head, 1, 0) <= 0);
    close(fd);
    fd = dial(&info);
    read_all(fd, greeting, sizeof greeting);
    send_all(fd, proof, sizeof proof);
    read_all(fd, answer, sizeof answer);
    EXPECT_EQ(VERDICT_REFUSED, wire_get32(answer));
    close(fd);
    half = dial(&info); /* half a hello, and silence */
    shake(half, &decoded, proof, key);
    wire_put32(head, WIRE_HELLO);
    wire_put32(head + 4, HELLO_FIXED_LEN);
    send_all(half, head, sizeof head);
    fd = dial(&info); /* a hello without the right MAC */
    shake(fd, &decoded, proof, key);
    send_all(fd, head, sizeof head);
    send_all(fd, noise, HELLO_FIXED_LEN + MAC_LEN);
    EXPECT_TRUE(recv(fd, head, 1, 0) <= 0);
    close(fd);

    start_ranks(ranks, 4, 4, &info);
    end_ranks(ranks, 4);
    for (int i = 0; i < 4; i++)
        EXPECT_EQ(HCCL_SUCCESS, ranks[i].rc);
    EXPECT_TRUE(hc_now_ns() - start_ns < 3000000000u);
    EXPECT_EQ(1, test_logged("left during the handshake")); /* one line for twenty */
    for (int i = 0; i < 20; i++)
        close(silent[i]);
    close(half);
    free(noise);
    expect_no_server(before);
}

TEST(a_flood_of_silent_connections_keeps_no_rank_out)
{
    static struct children children;
    static int fds[1200];
    int num = 0;
    HcclRootInfo info;

    fork_children(&children, 1, child_joins);
    EXPECT_EQ(HCCL_SUCCESS, bs_root_create(&info));
    struct root_info decoded;
    EXPECT_EQ(HCCL_SUCCESS, root_info_decode(&decoded, &info));
    while (num < 400) /* both ends are descriptors of this process: up to its limit */
        fds[num++] = dial(&info);
    send_info(&children, &info);
    EXPECT_EQ(HCCL_SUCCESS, join_and_check(&info, 2, 0, 10000));
    EXPECT_EQ(HCCL_SUCCESS, wait_child(&children, 0));
    while (num > 0)
        close(fds[--num]);
}

/* ---- A job that starts under fire ---- */

#define FIRE 10000
#define SILENT 200

struct fire {
    atomic_int ready, shots, arrived;
    HcclRootInfo info;
};

/* One of many kinds of nonsense; kept open now and then. */
static void
shoot(const struct fire *fire, int number, int silent[SILENT])
{
    const struct linger at_once = {.l_onoff = 1};
    uint8_t noise[256];
    int fd = dial(&fire->info);

    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (uint8_t)(number * 31 + (int)i * 7);
    if (number % 3 == 0)
        wire_put32(noise, WIRE_MAGIC); /* what follows is no proof */
    if (number % 5 != 0)
        send_all(fd, noise, (size_t)number % sizeof noise);
    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    if (number % 7 == 0) {
        int *place = &silent[number / 7 % SILENT];

        if (*place >= 0)
            close(*place);
        *place = fd;
    } else {
        close(fd);
    }
}

static void
attack(struct fire *fire)
{
    int silent[SILENT];

    memset(silent, -1, sizeof silent);
    for (int i = 0; i < FIRE; i++) {
        shoot(fire, i, silent);
        atomic_fetch_add(&fire->shots, 1);
    }
    procs_await(&fire->arrived, 3); /* the silent ones stay until the job is complete */
    for (int i = 0; i < SILENT; i++) {
        if (silent[i] >= 0)
            close(silent[i]);
    }
}

/* Ranks 0 to 2 are there early, rank 3 comes when the last shot has fallen; 4 shoots. */
static void
start_under_fire(int rank, void *shared)
{
    struct fire *fire = shared;
    struct rank own = {.info = &fire->info, .n_ranks = 4, .timeout_ms = 50000};
    long most = 0;

    if (rank == 0) {
        EXPECT_EQ(HCCL_SUCCESS, bs_root_create(&fire->info));
        atomic_store(&fire->ready, 1);
    }
    procs_await(&fire->ready, 1);
    if (rank == 4) {
        attack(fire);
        return;
    }
    procs_await(&fire->shots, rank == 3 ? FIRE : rank * 1000);
    own.rank = (uint32_t)rank;
    EXPECT_EQ(0, pthread_create(&own.thread, NULL, rank_main, &own));
    for (int i = 0; rank == 0 && i < 60000 && atomic_load(&fire->shots) < FIRE; i++) {
        long live = hc_alloc_live();

        most = live > most ? live : most;
        usleep(1000);
    }
    EXPECT_EQ(0, pthread_join(own.thread, NULL));
    EXPECT_EQ(HCCL_SUCCESS, own.rc);
    atomic_fetch_add(&fire->arrived, 1);
    EXPECT_TRUE(most < 3000);
    EXPECT_TRUE(test_logged(" away: ") <= 4); /* once a kind */
}

TEST(ten_thousand_strangers_do_not_keep_a_job_from_starting)
{
    struct procs procs;

    procs_start(&procs, 5, start_under_fire, sizeof(struct fire));
    procs_expect_success(&procs);
}

/* A port scanner that holds on to all descriptors of the root's process. */
static int
child_comes_late(const HcclRootInfo *info, uint32_t n_ranks, uint32_t rank)
{
    usleep(100000);
    return (int)join_and_check(info, n_ranks, rank, 50000);
}

TEST(silent_connections_do_not_take_all_descriptors)
{
    static struct children children;
    struct rlimit limit;
    static int fds[100];
    uint8_t greeting[GREETING_LEN];
    int fill[16], num = 0;
    HcclRootInfo info;

    fork_children(&children, 1, child_comes_late);
    EXPECT_EQ(HCCL_SUCCESS, bs_root_create(&info));
    EXPECT_EQ(0, getrlimit(RLIMIT_NOFILE, &limit));
    for (int i = 0; i < 100; i++) /* both ends are descriptors of this process */
        fds[i] = dial(&info);
    read_all(fds[99], greeting, sizeof greeting); /* all have been taken in */
    send_info(&children, &info);
    do {
        EXPECT_TRUE(num < 16);
        fill[num] = dup(0);
    } while (fill[num++] < fds[99]); /* no number below is left */
    limit.rlim_cur = (rlim_t)fill[num - 1] + 1;
    EXPECT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
    EXPECT_EQ(HCCL_SUCCESS, join_and_check(&info, 2, 0, 50000));
    EXPECT_EQ(HCCL_SUCCESS, wait_child(&children, 0));
    EXPECT_EQ(1, test_logged("it was slow to prove itself when descriptors were short"));
    for (int i = 0; i < 100; i++)
        close(fds[i]);
    while (num > 0)
        close(fill[--num]);
}

static void
write_white_list(const char *text)
{
    char path[128];
    FILE *file;

    snprintf(path, sizeof path, "%s/white", test_tmpdir());
    file = fopen(path, "w");
    EXPECT_NOT_NULL(file);
    fputs(text, file);
    fclose(file);
    setenv("HCCL_WHITELIST_FILE", path, 1);
    setenv("HCCL_WHITELIST_DISABLE", "0", 1);
}

static int
child_joins_or_not(const HcclRootInfo *info, uint32_t n_ranks, uint32_t rank)
{
    test_allow_errors();
    return (int)join_and_check(info, n_ranks, rank, 2000);
}

TEST(hosts_that_are_not_in_the_white_list_are_turned_away)
{
    static struct children in, out;
    HcclRootInfo info;

    setenv("HCCL_IF_IP", "127.0.0.1", 1);
    fork_children(&in, 1, child_joins_or_not);
    fork_children(&out, 1, child_joins_or_not);
    write_white_list("{\"host_ip\": [\"192.0.2.1\", \"127.0.0.1\"]}");
    EXPECT_EQ(HCCL_SUCCESS, bs_root_create(&info));
    send_info(&in, &info);
    EXPECT_EQ(HCCL_SUCCESS, join_and_check(&info, 2, 0, 5000));
    EXPECT_EQ(HCCL_SUCCESS, wait_child(&in, 0));

    write_white_list("{\"host_ip\": [\"192.0.2.1\"]}");
    EXPECT_EQ(HCCL_SUCCESS, bs_root_create(&info));
    send_info(&out, &info);
    test_expect_error("rank 1 of 2 did not join");
    EXPECT_EQ(HCCL_E_TIMEOUT, join_and_check(&info, 2, 0, 500));
    EXPECT_NE(HCCL_SUCCESS, wait_child(&out, 0));
    EXPECT_EQ(1, test_logged("not in HCCL_WHITELIST_FILE"));
}

TEST(a_white_list_that_cannot_be_used_is_an_error)
{
    HcclRootInfo info;

    write_white_list("{\"host_ip\": [\"nonsense\"]}");
    test_expect_error("is no IPv4 address");
    EXPECT_EQ(HCCL_E_PARA, bs_root_create(&info));
    write_white_list("{\"host_ip\": 3}");
    test_expect_error("names no host");
    EXPECT_EQ(HCCL_E_PARA, bs_root_create(&info));
    write_white_list("{\n\"host_ip\": [");
    test_expect_error("line 2");
    EXPECT_EQ(HCCL_E_OPEN_FILE_FAILURE, bs_root_create(&info));
    setenv("HCCL_WHITELIST_FILE", "/nonexistent", 1);
    test_expect_error("/nonexistent");
    EXPECT_EQ(HCCL_E_OPEN_FILE_FAILURE, bs_root_create(&info));
}
