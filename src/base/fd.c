/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/fork.h"

#define FDS_MOST (1u << 20)   /* a process can have no more (fs.nr_open) unless root raised that */
#define FORK_WAIT_NS 50000000 /* K2 */

static _Atomic uint64_t ours[FDS_MOST / 64]; /* K1: a bit for each descriptor; under lock */
static _Atomic uint32_t words_used;          /* words above are 0 */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* K2 */
static _Thread_local bool locked_for_fork;
static pthread_once_t watching = PTHREAD_ONCE_INIT;

static void
before_fork(void)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += FORK_WAIT_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    if (pthread_mutex_timedlock(&lock, &until) == 0)
        locked_for_fork = true;
}

static void
in_parent(void)
{
    if (!locked_for_fork)
        return;
    locked_for_fork = false;
    pthread_mutex_unlock(&lock);
}

/* Only what a signal handler may do: other threads' locks are held for ever here. */
static void
in_child(void)
{
    uint32_t words = atomic_load(&words_used);

    for (uint32_t i = 0; i < words; i++) {
        for (uint64_t bits = atomic_load(&ours[i]); bits != 0; bits &= bits - 1)
            close((int)(i * 64 + (uint32_t)__builtin_ctzll(bits)));
        atomic_store(&ours[i], 0);
    }
}

static void
watch(void)
{
    hc_fork_watch();
    (void)pthread_atfork(before_fork, in_parent, in_child);
}

static void
begin(void)
{
    (void)pthread_once(&watching, watch);
    pthread_mutex_lock(&lock);
}

int
hc_fd_high(int fd)
{
    int high, error;

    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    high = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    error = errno;
    close(fd);
    errno = error;
    return high;
}

/* The end of a step that made `made`, or failed: then -1, and errno stays. */
static int
keep(int made)
{
    int fd = hc_fd_high(made), error = errno;

    if (fd >= 0 && (uint32_t)fd < FDS_MOST) {
        uint32_t word = (uint32_t)fd / 64;

        atomic_fetch_or(&ours[word], 1ull << (fd % 64));
        if (atomic_load(&words_used) <= word)
            atomic_store(&words_used, word + 1);
    }
    pthread_mutex_unlock(&lock);
    errno = error;
    return fd;
}

int
hc_fd_socket(int family, int type)
{
    begin();
    return keep(socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

int
hc_fd_accept(int listen_fd, struct sockaddr *address, socklen_t *len)
{
    begin();
    return keep(accept4(listen_fd, address, len, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

int
hc_fd_epoll(void)
{
    begin();
    return keep(epoll_create1(EPOLL_CLOEXEC));
}

int
hc_fd_event(void)
{
    begin();
    return keep(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
}

void
hc_fd_close(int fd)
{
    int error = errno;

    if (fd < 0 || hc_in_forked_child())
        return;
    begin();
    if ((uint32_t)fd < FDS_MOST)
        atomic_fetch_and(&ours[(uint32_t)fd / 64], ~(1ull << (fd % 64)));
    close(fd);
    pthread_mutex_unlock(&lock);
    errno = error;
}
