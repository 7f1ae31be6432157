/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "bootstrap/bootstrap.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "bootstrap/address.h"
#include "bootstrap/bootstrap_test.h"
#include "bootstrap/rootinfo.h"
#include "tests/support/test.h"

TEST(one_rank_joins_itself_and_leaves_nothing)
{
    int before = threads();
    HcclRootInfo info;

    EXPECT_EQ(HCCL_SUCCESS, bs_root_create(&info));
    EXPECT_EQ(HCCL_SUCCESS, join_and_check(&info, 1, 0, 5000));
    expect_no_server(before);
}

TEST(ranks_of_one_process_join_and_leave_nothing)
{
    int before = threads();
    struct rank ranks[MOST_RANKS];
    HcclRootInfo info;

    EXPECT_EQ(HCCL_SUCCESS, bs_root_create(&info));
    start_ranks(ranks, MOST_RANKS, MOST_RANKS, &info);
    end_ranks(ranks, MOST_RANKS);
    for (int i = 0; i < MOST_RANKS; i++)
        EXPECT_EQ(HCCL_SUCCESS, ranks[i].rc);
    expect_no_server(before);
}

TEST(ranks_of_many_processes_join)
{
    int before = threads();
    static struct children children;
    HcclRootInfo info;

    fork_children(&children, 8, child_joins);
    EXPECT_EQ(HCCL_SUCCESS, bs_root_create(&info));
    send_info(&children, &info);
    EXPECT_EQ(HCCL_SUCCESS, join_and_check(&info, 9, 0, 10000));
    for (uint32_t i = 0; i < 8; i++)
        EXPECT_EQ(HCCL_SUCCESS, wait_child(&children, i));
    expect_no_server(before);
}

/* The root's process need not hold a rank of its own for the others to meet. */
TEST(many_sessions_run_side_by_side)
{
    int before = threads();
    struct rank ranks[40][2];
    HcclRootInfo infos[40]; /* more than the 32 ports: any free one then */

    for (int i = 0; i < 40; i++)
        EXPECT_EQ(HCCL_SUCCESS, bs_root_create(&infos[i]));
    for (int i = 39; i >= 0; i--)
        start_ranks(ranks[i], 2, 2, &infos[i]);
    for (int i = 0; i < 40; i++) {
        end_ranks(ranks[i], 2);
        EXPECT_EQ(HCCL_SUCCESS, ranks[i][0].rc);
        EXPECT_EQ(HCCL_SUCCESS, ranks[i][1].rc);
    }
    expect_no_server(before);
}

TEST(a_base_port_that_was_chosen_is_kept_to)
{
    struct root_info decoded;
    HcclRootInfo info;

    setenv("HCCL_IF_BASE_PORT", "47000", 1);
    EXPECT_EQ(HCCL_SUCCESS, bs_root_create(&info));
    EXPECT_EQ(HCCL_SUCCESS, root_info_decode(&decoded, &info));
    char text[ADDRESS_TEXT_LEN];
    address_text(text, sizeof text, &decoded.addr);
    EXPECT_CONTAINS(":470", text);
    EXPECT_EQ(HCCL_SUCCESS, join_and_check(&info, 1, 0, 5000));
    setenv("HCCL_IF_BASE_PORT", "80", 1);
    test_expect_error("HCCL_IF_BASE_PORT");
    EXPECT_EQ(HCCL_E_PARA, bs_root_create(&info));
}

TEST(ports_come_from_a_list_or_are_any)
{
    static const char *const bad[] = {"x", "60000-", "60010-60000", "60000,", "70000", "1;2", "0"};
    struct root_info decoded;
    char text[ADDRESS_TEXT_LEN];
    HcclRootInfo info;

    setenv("HCCL_HOST_SOCKET_PORT_RANGE", "47100,47110-47112", 1);
    EXPECT_EQ(HCCL_SUCCESS, bs_root_create(&info));
    EXPECT_EQ(HCCL_SUCCESS, root_info_decode(&decoded, &info));
    address_text(text, sizeof text, &decoded.addr);
    EXPECT_CONTAINS(":471", text);
    EXPECT_EQ(HCCL_SUCCESS, join_and_check(&info, 1, 0, 5000));
    setenv("HCCL_HOST_SOCKET_PORT_RANGE", "auto", 1);
    EXPECT_EQ(HCCL_SUCCESS, bs_root_create(&info));
    EXPECT_EQ(HCCL_SUCCESS, join_and_check(&info, 1, 0, 5000));
    test_expect_error("EI0001: HCCL_HOST_SOCKET_PORT_RANGE");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        setenv("HCCL_HOST_SOCKET_PORT_RANGE", bad[i], 1);
        EXPECT_EQ(HCCL_E_PARA, bs_root_create(&info));
    }
    setenv("HCCL_HOST_SOCKET_PORT_RANGE", "47120", 1);
    test_expect_error("EI0019");
    EXPECT_EQ(HCCL_SUCCESS, bs_root_create(&info));
    HcclRootInfo second;
    EXPECT_EQ(HCCL_E_SYSCALL, bs_root_create(&second));
    EXPECT_EQ(HCCL_SUCCESS, join_and_check(&info, 1, 0, 5000));
}

TEST(an_interface_that_is_not_there_is_named_with_those_that_are)
{
    HcclRootInfo info;

    setenv("HCCL_SOCKET_IFNAME", "nosuch", 1);
    test_expect_error("\"nosuch\"");
    test_expect_error("lo 127.0.0.1");
    EXPECT_EQ(HCCL_E_PARA, bs_root_create(&info));
    unsetenv("HCCL_SOCKET_IFNAME");
    setenv("HCCL_IF_IP", "203.0.113.77", 1);
    test_expect_error("203.0.113.77");
    EXPECT_EQ(HCCL_E_PARA, bs_root_create(&info));
    setenv("HCCL_IF_IP", "not an address", 1);
    test_expect_error("not an address");
    EXPECT_EQ(HCCL_E_PARA, bs_root_create(&info));
}

TEST(interfaces_are_chosen_by_prefix_name_and_exclusion)
{
    static const char *const loopback[] = {"lo", "=lo", "nosuch,lo", "=nosuch,lo",
                                           "^e,w,b,d,v,i,t"};
    struct sockaddr_storage addr;
    char text[ADDRESS_TEXT_LEN];

    for (size_t i = 0; i < sizeof loopback / sizeof loopback[0]; i++) {
        setenv("HCCL_SOCKET_IFNAME", loopback[i], 1);
        EXPECT_EQ(HCCL_SUCCESS, address_choose(&addr));
        address_text(text, sizeof text, &addr);
        EXPECT_STREQ("127.0.0.1", text);
    }
    setenv("HCCL_SOCKET_IFNAME", "^=lo", 1);
    test_allow_errors(); /* a machine may have no other */
    if (address_choose(&addr) == HCCL_SUCCESS) {
        address_text(text, sizeof text, &addr);
        assert_string_not_equal("127.0.0.1", text);
    }
    setenv("HCCL_SOCKET_IFNAME", "=lo", 1);
    setenv("HCCL_SOCKET_FAMILY", "AF_INET6", 1);
    if (address_choose(&addr) == HCCL_SUCCESS) {
        address_text(text, sizeof text, &addr);
        EXPECT_STREQ("::1", text);
    }
}

TEST(ranks_meet_over_ipv6)
{
    static struct children children;
    HcclRootInfo info;

    setenv("HCCL_IF_IP", "::1", 1);
    fork_children(&children, 2, child_joins);
    EXPECT_EQ(HCCL_SUCCESS, bs_root_create(&info));
    send_info(&children, &info);
    EXPECT_EQ(HCCL_SUCCESS, join_and_check(&info, 3, 0, 10000));
    EXPECT_EQ(HCCL_SUCCESS, wait_child(&children, 0));
    EXPECT_EQ(HCCL_SUCCESS, wait_child(&children, 1));
}

TEST(garbage_is_no_root_info)
{
    HcclRootInfo info;

    memset(&info, 0xA5, sizeof info);
    test_expect_error("not a root info");
    EXPECT_EQ(HCCL_E_PARA, join_and_check(&info, 1, 0, 100));
    EXPECT_EQ(HCCL_SUCCESS, bs_root_create(&info));
    HcclRootInfo bad = info;
    bad.internal[8]++;
    test_expect_error("version");
    EXPECT_EQ(HCCL_E_PARA, join_and_check(&bad, 1, 0, 100));
    for (size_t at = 12; at < HCCL_ROOT_INFO_BYTES; at += 97) {
        bad = info;
        bad.internal[at] ^= 1;
        test_expect_error("damaged");
        EXPECT_EQ(HCCL_E_PARA, join_and_check(&bad, 1, 0, 100));
    }
    EXPECT_EQ(HCCL_SUCCESS, join_and_check(&info, 1, 0, 5000));
}

TEST(arguments_out_of_range_are_refused)
{
    struct bs_table *table = NULL;
    struct bs_join join = {
        .n_ranks = 1, .blob = "", .blob_len = BS_BLOB_MAX + 1, .timeout_ms = 100};
    HcclRootInfo info;

    EXPECT_EQ(HCCL_SUCCESS, bs_root_create(&info));
    test_expect_error("counted from 0");
    EXPECT_EQ(HCCL_E_PARA, join_and_check(&info, 0, 0, 100));
    EXPECT_EQ(HCCL_E_PARA, join_and_check(&info, 2, 2, 100));
    EXPECT_EQ(HCCL_E_PARA, join_and_check(&info, 70000, 2, 100));
    join.info = &info;
    test_expect_error("at most 4096");
    EXPECT_EQ(HCCL_E_PARA, bs_join(&join, &table));
    EXPECT_EQ(HCCL_SUCCESS, join_and_check(&info, 1, 0, 5000)); /* none of it did harm */
}

TEST(a_root_info_serves_once)
{
    HcclRootInfo info;

    EXPECT_EQ(HCCL_SUCCESS, bs_root_create(&info));
    EXPECT_EQ(HCCL_SUCCESS, join_and_check(&info, 1, 0, 5000));
    test_expect_error("all its ranks have joined");
    EXPECT_EQ(HCCL_E_PARA, join_and_check(&info, 1, 0, 5000));
}

TEST(a_duplicate_rank_is_named_to_everybody)
{
    int before = threads();
    struct rank ranks[3];
    HcclRootInfo info;

    test_expect_error("two callers joined as rank 1");
    EXPECT_EQ(HCCL_SUCCESS, bs_root_create(&info));
    start_ranks(ranks, 2, 4, &info);
    ranks[2] = (struct rank){.info = &info, .n_ranks = 4, .rank = 1, .timeout_ms = 20000};
    usleep(50000);
    rank_main(&ranks[2]);
    end_ranks(ranks, 2);
    for (int i = 0; i < 3; i++)
        EXPECT_EQ(HCCL_E_PARA, ranks[i].rc);
    expect_no_server(before);
}

TEST(differing_numbers_of_ranks_are_told_to_everybody)
{
    struct rank ranks[2];
    HcclRootInfo info;

    test_expect_error("rank 1 says there are 3 ranks, rank 0 says 2");
    EXPECT_EQ(HCCL_SUCCESS, bs_root_create(&info));
    start_ranks(ranks, 1, 2, &info);
    usleep(50000);
    ranks[1] = (struct rank){.info = &info, .n_ranks = 3, .rank = 1, .timeout_ms = 20000};
    rank_main(&ranks[1]);
    end_ranks(ranks, 1);
    EXPECT_EQ(HCCL_E_PARA, ranks[0].rc);
    EXPECT_EQ(HCCL_E_PARA, ranks[1].rc);
}

/* The reason travels to other processes. */
static int
child_says_three(const HcclRootInfo *info, uint32_t n_ranks, uint32_t rank)
{
    test_expect_error("rank 1 says there are 3 ranks");
    HcclResult rc = join_and_check(info, n_ranks + 1, rank, 10000);

    return rc == HCCL_E_PARA && test_logged("rank 1 says there are 3 ranks") == 1 ? 0 : 1;
}

TEST(a_remote_rank_learns_why_it_failed)
{
    static struct children children;
    struct rank rank[1];
    HcclRootInfo info;

    fork_children(&children, 1, child_says_three);
    test_expect_error("rank 1 says there are 3 ranks, rank 0 says 2");
    EXPECT_EQ(HCCL_SUCCESS, bs_root_create(&info));
    start_ranks(rank, 1, 2, &info);
    usleep(100000);
    send_info(&children, &info);
    end_ranks(rank, 1);
    EXPECT_EQ(HCCL_E_PARA, rank[0].rc);
    EXPECT_EQ(0, wait_child(&children, 0));
}

TEST(missing_ranks_are_named_with_how_long_they_were_waited_for)
{
    int before = threads();
    uint64_t start_ns = hc_now_ns();
    HcclRootInfo info;

    test_expect_error("ranks 0-2, 4-7 of 8 did not join; the others waited 0.3 s");
    EXPECT_EQ(HCCL_SUCCESS, bs_root_create(&info));
    EXPECT_EQ(HCCL_E_TIMEOUT, join_and_check(&info, 8, 3, 300));
    EXPECT_TRUE(hc_now_ns() - start_ns < 2000000000u);
    test_expect_error("did not join; the others waited"); /* late: told why it is too late */
    EXPECT_EQ(HCCL_E_PARA, join_and_check(&info, 8, 0, 300));
    expect_no_server(before);
}

static int
child_times_out(const HcclRootInfo *info, uint32_t n_ranks, uint32_t rank)
{
    test_expect_error("rank 0 of 2 did not join");
    HcclResult rc = join_and_check(info, n_ranks, rank, 300);

    return rc == HCCL_E_TIMEOUT && test_logged("rank 0 of 2 did not join") == 1 ? 0 : 1;
}

TEST(a_remote_rank_learns_who_is_missing)
{
    int before = threads();
    static struct children children;
    HcclRootInfo info;

    fork_children(&children, 1, child_times_out);
    EXPECT_EQ(HCCL_SUCCESS, bs_root_create(&info));
    send_info(&children, &info);
    EXPECT_EQ(0, wait_child(&children, 0));
    expect_no_server(before);
}

TEST(a_root_info_nobody_joins_ends_by_itself)
{
    int before = threads();
    HcclRootInfo info;

    setenv("HCOMM_CONNECT_TIMEOUT", "100", 1);
    EXPECT_EQ(HCCL_SUCCESS, bs_root_create(&info));
    expect_no_server(before);
}

static int
child_dies(const HcclRootInfo *info, uint32_t n_ranks, uint32_t rank)
{
    alarm(1); /* joins, then dies before the others come */
    return (int)join_and_check(info, n_ranks + 1, rank, 10000);
}

TEST(a_rank_that_dies_ends_the_wait_at_once)
{
    static struct children children;
    uint64_t start_ns;
    HcclRootInfo info;

    fork_children(&children, 1, child_dies);
    EXPECT_EQ(HCCL_SUCCESS, bs_root_create(&info));
    send_info(&children, &info);
    test_expect_error("rank 1 (");
    start_ns = hc_now_ns();
    EXPECT_EQ(HCCL_E_REMOTE, join_and_check(&info, 3, 0, 30000));
    EXPECT_TRUE(hc_now_ns() - start_ns < 5000000000u);
    EXPECT_EQ(-1, wait_child(&children, 0));
}

static int
child_finds_nobody(const HcclRootInfo *info, uint32_t n_ranks, uint32_t rank)
{
    test_expect_error("cannot reach the root");
    return join_and_check(info, n_ranks, rank, 10000) == HCCL_E_TCP_CONNECT ? 0 : 1;
}

TEST(a_stale_root_info_fails_at_once)
{
    static struct children children;
    HcclRootInfo info;

    fork_children(&children, 1, child_finds_nobody);
    EXPECT_EQ(HCCL_SUCCESS, bs_root_create(&info));
    EXPECT_EQ(HCCL_SUCCESS, join_and_check(&info, 1, 0, 5000));
    send_info(&children, &info);
    EXPECT_EQ(0, wait_child(&children, 0));
}

static int
child_is_refused(const HcclRootInfo *info, uint32_t n_ranks, uint32_t rank)
{
    test_expect_error("left over from another run");
    return join_and_check(info, n_ranks, rank, 10000) == HCCL_E_PARA ? 0 : 1;
}

TEST(a_wrong_secret_is_refused_and_harms_nobody)
{
    static struct children children;
    struct root_info wrong;
    HcclRootInfo info, forged;

    fork_children(&children, 1, child_is_refused);
    EXPECT_EQ(HCCL_SUCCESS, bs_root_create(&info));
    EXPECT_EQ(HCCL_SUCCESS, root_info_decode(&wrong, &info));
    wrong.secret[3] ^= 1;
    root_info_encode(&forged, &wrong);
    send_info(&children, &forged);
    EXPECT_EQ(0, wait_child(&children, 0));
    EXPECT_EQ(HCCL_SUCCESS, join_and_check(&info, 1, 0, 5000));
    EXPECT_EQ(1, test_logged("does not know this root info")); /* said after the refusal is sent */
}

/* ---- Signals, memory ---- */

static void
ignore_alarm(int signum)
{
    (void)signum;
}

static void
ring_often(void)
{
    struct sigaction action = {.sa_handler = ignore_alarm}; /* no SA_RESTART */
    struct itimerval often = {.it_interval = {.tv_usec = 1000}, .it_value = {.tv_usec = 1000}};

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
}

static int
child_joins_under_alarm(const HcclRootInfo *info, uint32_t n_ranks, uint32_t rank)
{
    ring_often();
    return (int)join_and_check(info, n_ranks, rank, 10000);
}

TEST(signals_interrupt_nothing)
{
    static struct children children;
    HcclRootInfo info;

    fork_children(&children, 4, child_joins_under_alarm);
    EXPECT_EQ(HCCL_SUCCESS, bs_root_create(&info));
    ring_often();
    for (uint32_t i = 0; i < 4; i++) {
        while (write(children.pipes[i], &info, sizeof info) < 0)
            EXPECT_EQ(EINTR, errno);
        close(children.pipes[i]);
        usleep(30000);
    }
    EXPECT_EQ(HCCL_SUCCESS, join_and_check(&info, 5, 0, 10000));
    for (uint32_t i = 0; i < 4; i++)
        EXPECT_EQ(HCCL_SUCCESS, wait_child(&children, i));
}

TEST(every_failed_allocation_is_reported_and_leaks_nothing)
{
    int before = threads();
    bool failed = true;

    test_expect_error("out of host memory");
    test_allow_errors();
    setenv("HCOMM_CONNECT_TIMEOUT", "200", 1);
    for (long nth = 0; failed; nth++) {
        HcclRootInfo info;
        HcclResult rc;

        hc_alloc_fail_nth(nth);
        rc = bs_root_create(&info);
        if (rc == HCCL_SUCCESS)
            rc = join_and_check(&info, 1, 0, 5000);
        failed = hc_alloc_failed() != 0;
        hc_alloc_fail_nth(-1);
        EXPECT_EQ(failed ? HCCL_E_MEMORY : HCCL_SUCCESS, rc);
        expect_no_server(before);
        EXPECT_EQ(0, hc_alloc_live());
    }
}

/* A rank whose connection the root has no memory for tries again. */
TEST(a_failed_allocation_at_the_root_only_delays_a_remote_rank)
{
    static struct children children;
    HcclRootInfo info;

    test_expect_error("out of host memory");
    fork_children(&children, 1, child_joins);
    EXPECT_EQ(HCCL_SUCCESS, bs_root_create(&info));
    hc_alloc_fail_nth(0);
    send_info(&children, &info);
    while (!hc_alloc_failed())
        usleep(1000);
    EXPECT_EQ(HCCL_SUCCESS, join_and_check(&info, 2, 0, 10000));
    EXPECT_EQ(HCCL_SUCCESS, wait_child(&children, 0));
}

TEST(a_thousand_sessions_stay_flat)
{
    int before = threads();
    for (int i = 0; i < 1000; i++) {
        HcclRootInfo info;

        EXPECT_EQ(HCCL_SUCCESS, bs_root_create(&info));
        EXPECT_EQ(HCCL_SUCCESS, join_and_check(&info, 1, 0, 5000));
        EXPECT_EQ(0, hc_alloc_live());
    }
    expect_no_server(before);
}

TEST(a_rank_that_is_cancelled_while_it_joins_leaves_nothing_locked)
{
    struct rank ranks[2];
    HcclRootInfo info;

    EXPECT_EQ(HCCL_SUCCESS, bs_root_create(&info));
    start_ranks(ranks, 1, 2, &info);
    usleep(50000);
    EXPECT_EQ(0, pthread_cancel(ranks[0].thread));
    EXPECT_EQ(HCCL_SUCCESS, join_and_check(&info, 2, 1, 5000));
    end_ranks(ranks, 1);
}
