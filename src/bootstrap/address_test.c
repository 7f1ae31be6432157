/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a root listens: interfaces, addresses, ports. */
#include "bootstrap/address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include "bootstrap/bootstrap_test.h"
#include "bootstrap/rootinfo.h"

#define PORTS 32

static const char *
chosen(void)
{
    static char text[ADDRESS_TEXT_LEN];
    struct sockaddr_storage addr;

    EXPECT_EQ(HCCL_SUCCESS, address_choose(&addr));
    address_text(text, sizeof text, &addr);
    return text;
}

/* The name and IPv4 address of an interface that is up and no loopback; false: there is none. */
static bool
find_other(char name[IF_NAMESIZE], char address[INET_ADDRSTRLEN])
{
    struct ifaddrs *all = NULL;
    bool found = false;

    EXPECT_EQ(0, getifaddrs(&all));
    for (const struct ifaddrs *at = all; at != NULL && !found; at = at->ifa_next) {
        unsigned up = IFF_UP | IFF_RUNNING;

        if (at->ifa_addr == NULL || at->ifa_addr->sa_family != AF_INET ||
            (at->ifa_flags & (up | IFF_LOOPBACK)) != up)
            continue;
        snprintf(name, IF_NAMESIZE, "%s", at->ifa_name);
        (void)inet_ntop(AF_INET, &((struct sockaddr_in *)at->ifa_addr)->sin_addr, address,
                        INET_ADDRSTRLEN);
        found = true;
    }
    freeifaddrs(all);
    return found;
}

/* This machine has an IPv6 loopback. */
static bool
has_ipv6(void)
{
    struct sockaddr_in6 addr = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool good = fd >= 0 && bind(fd, (struct sockaddr *)&addr, sizeof addr) == 0;

    if (fd >= 0)
        close(fd);
    return good;
}

/* ---- Interfaces ---- */

TEST(the_first_entry_of_the_list_that_is_there_wins)
{
    char name[IF_NAMESIZE], address[INET_ADDRSTRLEN], spec[128];

    if (!find_other(name, address))
        return; /* nothing to choose from */
    for (int whole = 0; whole < 2; whole++) {
        const char *mark = whole == 1 ? "=" : "";

        snprintf(spec, sizeof spec, "%snosuch,lo,%s", mark, name);
        setenv("HCCL_SOCKET_IFNAME", spec, 1);
        EXPECT_STREQ("127.0.0.1", chosen());
        snprintf(spec, sizeof spec, "%s%s,lo", mark, name);
        setenv("HCCL_SOCKET_IFNAME", spec, 1);
        EXPECT_STREQ(address, chosen());
    }
    unsetenv("HCCL_SOCKET_IFNAME");
    EXPECT_TRUE(strcmp("127.0.0.1", chosen()) != 0);
}

TEST(what_is_excluded_is_not_taken)
{
    char name[IF_NAMESIZE], address[INET_ADDRSTRLEN], spec[128];

    setenv("HCCL_SOCKET_IFNAME", "^l", 1);
    test_allow_errors(); /* a machine may have no other */
    if (find_other(name, address)) {
        EXPECT_TRUE(strcmp("127.0.0.1", chosen()) != 0);
        snprintf(spec, sizeof spec, "^=%s,=no", name);
        setenv("HCCL_SOCKET_IFNAME", spec, 1);
        EXPECT_TRUE(strcmp(address, chosen()) != 0);
    }
    setenv("HCCL_SOCKET_IFNAME", "^=l", 1); /* a whole name, which nobody has */
    (void)chosen();
}

TEST(an_address_comes_before_interfaces)
{
    setenv("HCCL_SOCKET_IFNAME", "nosuch", 1);
    setenv("HCCL_IF_IP", "127.0.0.1", 1);
    EXPECT_STREQ("127.0.0.1", chosen());
    if (!has_ipv6())
        return;
    setenv("HCCL_IF_IP", "::1", 1);
    EXPECT_STREQ("::1", chosen());
}

TEST(addresses_that_are_not_here_are_refused_with_those_that_are)
{
    static const char *const bad[] = {"203.0.113.77", "2001:db8::77", "127.0.0",
                                      "lo",           "::1::",        "127.0.0.1:60000"};
    struct sockaddr_storage addr;

    test_expect_error("EI0001: HCCL_IF_IP is \"");
    test_expect_error("there are ");
    test_expect_error("lo 127.0.0.1");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        setenv("HCCL_IF_IP", bad[i], 1);
        EXPECT_EQ(HCCL_E_PARA, address_choose(&addr));
        EXPECT_EQ((int)i + 1, test_logged("no address of this host"));
    }
}

TEST(a_family_that_is_no_family_is_refused)
{
    struct sockaddr_storage addr;

    setenv("HCCL_SOCKET_FAMILY", "AF_UNIX", 1);
    test_expect_error("HCCL_SOCKET_FAMILY");
    EXPECT_EQ(HCCL_E_PARA, address_choose(&addr));
}

static int
child_joins_six(const HcclRootInfo *info, uint32_t n_ranks, uint32_t rank)
{
    return (int)join_and_check(info, n_ranks, rank, 10000);
}

TEST(ranks_meet_over_ipv6_of_an_interface)
{
    static struct children children;
    HcclRootInfo info;

    if (!has_ipv6())
        return;
    setenv("HCCL_SOCKET_IFNAME", "=lo", 1);
    setenv("HCCL_SOCKET_FAMILY", "AF_INET6", 1);
    fork_children(&children, 1, child_joins_six);
    EXPECT_STREQ("::1", chosen());
    EXPECT_EQ(HCCL_SUCCESS, bs_root_create(&info));
    send_info(&children, &info);
    EXPECT_EQ(HCCL_SUCCESS, join_and_check(&info, 2, 0, 10000));
    EXPECT_EQ(HCCL_SUCCESS, wait_child(&children, 0));
}

/* ---- Ports ---- */

/* Listens at 127.0.0.1; -1: somebody else does. */
static int
take_port(uint16_t port)
{
    struct sockaddr_in addr = {.sin_family = AF_INET, .sin_port = htons(port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(fd, (struct sockaddr *)&addr, sizeof addr) == 0 && listen(fd, 1) == 0)
        return fd;
    close(fd);
    return -1;
}

static uint16_t
port_of_root(const HcclRootInfo *info)
{
    struct root_info decoded;

    EXPECT_EQ(HCCL_SUCCESS, root_info_decode(&decoded, info));
    return ntohs(((struct sockaddr_in *)&decoded.addr)->sin_port);
}

TEST(all_32_ports_are_tried_and_named_when_they_are_taken)
{
    const uint16_t base = 47200;
    int fds[PORTS];
    HcclRootInfo info;

    setenv("HCCL_IF_BASE_PORT", "47200", 1);
    for (int i = 0; i < PORTS; i++)
        fds[i] = take_port((uint16_t)(base + i));
    test_expect_error("EI0019: cannot listen at 127.0.0.1 with any port of 47200 to 47231: Address "
                      "already in use; choose others with HCCL_IF_BASE_PORT");
    EXPECT_EQ(HCCL_E_SYSCALL, bs_root_create(&info));
    if (fds[PORTS - 1] >= 0) {
        close(fds[PORTS - 1]);
        fds[PORTS - 1] = -1;
        EXPECT_EQ(HCCL_SUCCESS, bs_root_create(&info));
        EXPECT_EQ(base + PORTS - 1, port_of_root(&info));
        EXPECT_EQ(HCCL_SUCCESS, join_and_check(&info, 1, 0, 5000));
    }
    for (int i = 0; i < PORTS; i++) {
        if (fds[i] >= 0)
            close(fds[i]);
    }
}

TEST(the_list_of_ports_comes_before_the_base_port)
{
    int fds[2] = {take_port(47300), take_port(47302)};
    HcclRootInfo info;

    setenv("HCCL_IF_BASE_PORT", "47200", 1);
    setenv("HCCL_HOST_SOCKET_PORT_RANGE", "47300,47302-47303", 1);
    EXPECT_EQ(HCCL_SUCCESS, bs_root_create(&info));
    EXPECT_EQ(47303, port_of_root(&info));
    test_expect_error("EI0019: cannot listen at 127.0.0.1 with any port of 47300,47302-47303: "
                      "Address already in use; choose others with HCCL_HOST_SOCKET_PORT_RANGE");
    HcclRootInfo second;
    EXPECT_EQ(HCCL_E_SYSCALL, bs_root_create(&second));
    EXPECT_EQ(HCCL_SUCCESS, join_and_check(&info, 1, 0, 5000));
    for (int i = 0; i < 2; i++) {
        if (fds[i] >= 0)
            close(fds[i]);
    }
}

TEST(the_last_base_port_leaves_some_ports)
{
    HcclRootInfo info;

    setenv("HCCL_IF_BASE_PORT", "65520", 1);
    EXPECT_EQ(HCCL_SUCCESS, bs_root_create(&info));
    EXPECT_TRUE(port_of_root(&info) >= 65520);
    EXPECT_EQ(HCCL_SUCCESS, join_and_check(&info, 1, 0, 5000));
    setenv("HCCL_IF_BASE_PORT", "65521", 1);
    test_expect_error("HCCL_IF_BASE_PORT");
    EXPECT_EQ(HCCL_E_PARA, bs_root_create(&info));
}
