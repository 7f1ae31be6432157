/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "bootstrap/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/knobs.h"
#include "base/log.h"
#include "bootstrap/fd_limit.h"
#include "bootstrap/ports.h"

#define BACKLOG 1024

socklen_t
address_len(const struct sockaddr_storage *addr)
{
    return addr->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}

void
address_keep_alive(int fd)
{
    const int on = 1, idle_s = 10, interval_s = 5, probes = 3;

    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof interval_s);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
}

static in_port_t *
port_of(struct sockaddr_storage *addr)
{
    return addr->ss_family == AF_INET6 ? &((struct sockaddr_in6 *)addr)->sin6_port
                                       : &((struct sockaddr_in *)addr)->sin_port;
}

void
address_text(char *text, size_t len, const struct sockaddr_storage *addr)
{
    bool six = addr->ss_family == AF_INET6;
    const void *bytes = six ? (const void *)&((const struct sockaddr_in6 *)addr)->sin6_addr
                            : (const void *)&((const struct sockaddr_in *)addr)->sin_addr;
    struct sockaddr_storage copy = *addr;
    unsigned port = ntohs(*port_of(&copy));
    char host[INET6_ADDRSTRLEN] = "?";

    (void)inet_ntop(addr->ss_family, bytes, host, sizeof host);
    if (port == 0)
        snprintf(text, len, "%s", host);
    else
        snprintf(text, len, six ? "[%s]:%u" : "%s:%u", host, port);
}

/* Which entry of the list "a,b" (prefixes, or whole names) matches `name` first; -1: none does. */
static int
list_find(const char *list, bool whole, const char *name)
{
    for (int entry = 0; *list != '\0'; entry++) {
        size_t len = strcspn(list, ",");

        if (len > 0 && strncmp(list, name, len) == 0 && (!whole || name[len] == '\0'))
            return entry;
        list += len + (list[len] == ',');
    }
    return -1;
}

/* HCCL_SOCKET_IFNAME's `spec` ("p", "^p", "=n", "^=n") lets `name` in: lower is asked for more; -1:
 * it does not. */
static int
spec_place(const char *spec, const char *name)
{
    bool exclude = spec[0] == '^';
    bool whole = spec[exclude] == '=';
    int place = list_find(spec + exclude + whole, whole, name);

    if (spec[0] == '\0')
        return 0;
    if (exclude)
        return place < 0 ? 0 : -1;
    return place;
}

/* How gladly an interface is taken: lower is better. What the user asked for comes first: the
 * family, then the place in the list. */
static int
reluctance(const struct ifaddrs *iface, int family, int place)
{
    static const char bridges[] = "docker,br-,veth,virbr,cni,flannel,cali,podman,lxc,lxd";
    const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)iface->ifa_addr;
    int cost = place * 8;

    if (iface->ifa_addr->sa_family != family)
        cost += 1 << 20;
    if (iface->ifa_addr->sa_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr))
        cost += 1;
    if (list_find(bridges, false, iface->ifa_name) >= 0)
        cost += 2;
    if ((iface->ifa_flags & IFF_LOOPBACK) != 0)
        cost += 4;
    return cost;
}

static bool
usable(const struct ifaddrs *iface)
{
    return iface->ifa_addr != NULL && (iface->ifa_flags & IFF_UP) != 0 &&
           (iface->ifa_flags & IFF_RUNNING) != 0 &&
           (iface->ifa_addr->sa_family == AF_INET || iface->ifa_addr->sa_family == AF_INET6);
}

/* "eth0 192.0.2.2, lo 127.0.0.1" */
static void
list_text(char *text, size_t len, const struct ifaddrs *all)
{
    size_t used = 0;

    text[0] = '\0';
    for (const struct ifaddrs *at = all; at != NULL && used < len; at = at->ifa_next) {
        struct sockaddr_storage addr = {0};
        char host[ADDRESS_TEXT_LEN];

        if (!usable(at))
            continue;
        memcpy(&addr, at->ifa_addr,
               at->ifa_addr->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                                   : sizeof(struct sockaddr_in));
        *port_of(&addr) = 0;
        address_text(host, sizeof host, &addr);
        used += (size_t)snprintf(text + used, len - used, "%s%s %s", used == 0 ? "" : ", ",
                                 at->ifa_name, host);
    }
}

/* HCCL_IF_IP: must be an address of this host. */
static HcclResult
choose_ip(struct sockaddr_storage *addr, const char *ip, const struct ifaddrs *all)
{
    struct sockaddr_in *in4 = (struct sockaddr_in *)addr;
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)addr;
    char list[512];

    memset(addr, 0, sizeof *addr);
    if (inet_pton(AF_INET, ip, &in4->sin_addr) == 1)
        in4->sin_family = AF_INET;
    else if (inet_pton(AF_INET6, ip, &in6->sin6_addr) == 1)
        in6->sin6_family = AF_INET6;
    for (const struct ifaddrs *at = all; at != NULL && addr->ss_family != 0; at = at->ifa_next) {
        if (at->ifa_addr == NULL || at->ifa_addr->sa_family != addr->ss_family)
            continue;
        if (addr->ss_family == AF_INET &&
            ((struct sockaddr_in *)at->ifa_addr)->sin_addr.s_addr == in4->sin_addr.s_addr)
            return HCCL_SUCCESS;
        if (addr->ss_family == AF_INET6 &&
            memcmp(&((struct sockaddr_in6 *)at->ifa_addr)->sin6_addr, &in6->sin6_addr, 16) == 0) {
            in6->sin6_scope_id = ((struct sockaddr_in6 *)at->ifa_addr)->sin6_scope_id;
            return HCCL_SUCCESS;
        }
    }
    list_text(list, sizeof list, all);
    LOG_ERROR(BOOT, "EI0001: HCCL_IF_IP is \"%s\", which is no address of this host; there are %s",
              ip, list);
    return HCCL_E_PARA;
}

/* The best interface that the spec lets in; the first by name among equals. */
static HcclResult
choose_interface(struct sockaddr_storage *addr, const struct ifaddrs *all)
{
    const char *spec = hc_knob_str(KNOB_SOCKET_IFNAME);
    const struct ifaddrs *best = NULL;
    int family = 0, best_cost = 0;
    HcclResult rc = hc_knob_enum(KNOB_SOCKET_FAMILY, &family);
    char list[512];

    if (rc != HCCL_SUCCESS)
        return rc;
    family = family == 0 ? AF_INET : AF_INET6;
    for (const struct ifaddrs *at = all; at != NULL; at = at->ifa_next) {
        int place = spec_place(spec, at->ifa_name), cost;

        if (!usable(at) || place < 0 || (family == AF_INET6 && at->ifa_addr->sa_family != AF_INET6))
            continue;
        cost = reluctance(at, family, place);
        if (best == NULL || cost < best_cost ||
            (cost == best_cost && strcmp(at->ifa_name, best->ifa_name) < 0)) {
            best = at;
            best_cost = cost;
        }
    }
    if (best == NULL) {
        list_text(list, sizeof list, all);
        LOG_ERROR(BOOT,
                  "EI0001: no interface that is up fits HCCL_SOCKET_IFNAME \"%s\" and "
                  "HCCL_SOCKET_FAMILY %s; there are %s",
                  spec, family == AF_INET ? "AF_INET" : "AF_INET6", list);
        return HCCL_E_PARA;
    }
    memset(addr, 0, sizeof *addr);
    memcpy(addr, best->ifa_addr,
           best->ifa_addr->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                                 : sizeof(struct sockaddr_in));
    return HCCL_SUCCESS;
}

HcclResult
address_choose(struct sockaddr_storage *addr)
{
    const char *ip = hc_knob_str(KNOB_IF_IP);
    struct ifaddrs *all = NULL;
    char text[FD_ERROR_LEN];
    HcclResult rc;

    if (getifaddrs(&all) != 0) {
        LOG_ERROR(BOOT, "cannot list the network interfaces: %s", fd_error_text(errno, text));
        return HCCL_E_SYSCALL;
    }
    rc = ip[0] != '\0' ? choose_ip(addr, ip, all) : choose_interface(addr, all);
    freeifaddrs(all);
    return rc;
}

static HcclResult
fail_bind(const struct sockaddr_storage *addr, const struct ports *ports, int error)
{
    char host[ADDRESS_TEXT_LEN], text[FD_ERROR_LEN];

    address_text(host, sizeof host, addr);
    if (error == EMFILE)
        LOG_ERROR(BOOT, "EI0019: cannot listen at %s: %s", host, fd_error_text(error, text));
    else
        LOG_ERROR(BOOT,
                  "EI0019: cannot listen at %s with any port of %s: %s; choose others with %s",
                  host, ports->text, strerror(error), ports->knob);
    return HCCL_E_SYSCALL;
}

/* Binds and listens: two sockets may be bound to one port before either listens, so both count. */
static bool
try_port(int fd, const struct sockaddr_storage *addr, uint32_t port)
{
    struct sockaddr_storage at = *addr;

    *port_of(&at) = htons((uint16_t)port);
    return bind(fd, (struct sockaddr *)&at, address_len(&at)) == 0 && listen(fd, BACKLOG) == 0;
}

static int
new_socket(int family)
{
    int fd = hc_fd_socket(family, SOCK_STREAM);
    int on = 1;

    if (fd < 0)
        return -1;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (family == AF_INET6)
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    return fd;
}

/* 0, or an errno: EADDRINUSE and EACCES call for another port. */
static int
listen_at(struct sockaddr_storage *addr, uint32_t port, int *fd_out)
{
    int fd = new_socket(addr->ss_family); /* a new one each time: a bind cannot be undone */
    socklen_t len = sizeof *addr;
    int error;

    if (fd < 0)
        return errno;
    if (try_port(fd, addr, port)) {
        (void)getsockname(fd, (struct sockaddr *)addr, &len);
        *fd_out = fd;
        return 0;
    }
    error = errno;
    hc_fd_close(fd);
    return error;
}

HcclResult
address_listen(struct sockaddr_storage *addr, int *fd)
{
    struct ports ports;
    int error = EADDRINUSE;
    HcclResult rc = ports_load(&ports);

    if (rc != HCCL_SUCCESS)
        return rc;
    for (uint32_t i = 0; i < ports.num; i++) {
        for (uint32_t port = ports.ranges[i].first; port <= ports.ranges[i].last; port++) {
            error = listen_at(addr, port, fd);
            if (error == 0)
                return HCCL_SUCCESS;
            if (error != EADDRINUSE && error != EACCES)
                return fail_bind(addr, &ports, error);
        }
    }
    return fail_bind(addr, &ports, error);
}
