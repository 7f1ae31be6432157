/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of links share: a host with files and a counter of wakes, and strangers. */
#ifndef HC_TRANSPORT_LINK_TEST_H
#define HC_TRANSPORT_LINK_TEST_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/process.h"
#include "tests/support/procs.h"
#include "tests/support/test.h"
#include "transport/host.h"
#include "transport/link.h"
#include "transport/listen.h"
#include "transport/sock.h"
#include "transport/wire.h"

#define WAIT_MS 60000 /* generous: sanitizers, a busy machine */
#define FILES_MOST 10u
#define LINE_LEN 64

#ifdef __SANITIZE_THREAD__ /* each process ends a second later */
#define ROUNDS(num) ((num) / 10)
#else
#define ROUNDS(num) (num)
#endif

static struct {
    atomic_int fd[FILES_MOST]; /* by number; 0: there is none */
    uint64_t len[FILES_MOST];  /* before `fd` */
    atomic_int wakes;
    _Atomic uint32_t waiter; /* of the last wake */
} test_host_state;

static inline bool
test_locate(const void *addr, uint64_t len, struct tp_place *place)
{
    (void)addr;
    (void)len;
    (void)place;
    return false;
}

static inline int
test_file(uint64_t number, uint64_t *len)
{
    int fd = number < FILES_MOST ? atomic_load(&test_host_state.fd[number]) : 0;

    if (fd == 0)
        return -1;
    *len = test_host_state.len[number];
    return fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

static inline void
test_wake(uint32_t waiter)
{
    atomic_store(&test_host_state.waiter, waiter);
    atomic_fetch_add(&test_host_state.wakes, 1);
}

static inline void
test_watch(struct hc_bell *bell)
{
    (void)bell;
}

/* Before anything else in a child; once more does nothing. */
static inline void
test_host(void)
{
    static const struct tp_host host = {test_locate, test_file, test_wake, test_watch};
    static bool told;

    if (!told)
        tp_set_host(&host);
    told = true;
}

/* File `number` of this process, of `len` bytes; mapped. */
static inline uint8_t *
test_add_file(uint64_t number, uint64_t len, int seals)
{
    int fd = memfd_create("link-test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    uint8_t *mapped;

    EXPECT_TRUE(fd >= 0);
    EXPECT_EQ(0, ftruncate(fd, (off_t)len));
    EXPECT_EQ(0, fcntl(fd, F_ADD_SEALS, seals));
    mapped = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    EXPECT_TRUE(mapped != MAP_FAILED);
    test_host_state.len[number] = len;
    atomic_store(&test_host_state.fd[number], fd);
    return mapped;
}

/* A link that is up. */
static inline struct shm_link *
test_link(const struct tp_address *address)
{
    struct shm_link *link = NULL;

    EXPECT_EQ(HCCL_SUCCESS, link_hold(address, &link));
    EXPECT_EQ(HCCL_SUCCESS, link_wait(link, WAIT_MS));
    EXPECT_EQ(LINK_UP, link_state(link));
    return link;
}

/* How it ends. */
static inline enum link_end
test_await_end(struct shm_link *link, char *text, size_t len)
{
    for (int i = 0; i < WAIT_MS && link_state(link) != LINK_GONE; i++)
        usleep(1000);
    EXPECT_EQ(LINK_GONE, link_state(link));
    return link_ending(link, text, len);
}

/* Whatever this process hears comes to `wakes` sooner or later. */
static inline void
test_await_wakes(int wakes)
{
    for (int i = 0; i < WAIT_MS && atomic_load(&test_host_state.wakes) < wakes; i++)
        usleep(1000);
    EXPECT_TRUE(atomic_load(&test_host_state.wakes) >= wakes);
}

/* A connection of somebody who knows no more than the process' id. */
static inline int
test_stranger(uint64_t process)
{
    char name[SOCK_NAME_LEN];
    int fd = sock_new(), error = EAGAIN;

    EXPECT_TRUE(fd >= 0);
    wire_name(name, sizeof name, process);
    for (int i = 0; i < WAIT_MS && error == EAGAIN; i++) {
        error = sock_connect(fd, name);
        if (error == EAGAIN)
            usleep(1000);
    }
    EXPECT_EQ(0, error);
    return fd;
}

/* The next message; false: the other end hung up. */
static inline bool
test_receive(int fd, void *bytes, size_t room, size_t *len)
{
    enum sock_got got = SOCK_NOTHING;
    int pass_fd;

    for (int i = 0; i < WAIT_MS && got == SOCK_NOTHING; i++) {
        got = sock_recv(fd, bytes, room, len, &pass_fd);
        if (got == SOCK_NOTHING)
            usleep(1000);
        else
            sock_drop(pass_fd);
    }
    EXPECT_TRUE(got == SOCK_MESSAGE || got == SOCK_ENDED);
    return got == SOCK_MESSAGE;
}

static inline struct wire_hello
test_hello(uint64_t from, uint64_t to)
{
    return (struct wire_hello){.head = wire_head(WIRE_HELLO), .from = from, .to = to};
}

#endif
