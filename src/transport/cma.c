/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cma: moves bytes to and from memory of another process by process_vm_readv and process_vm_writev.
 *
 * The calls name the other process by its pid, and a pid is used again. So each process has a
 * cookie, a random number, and tells its peers where it lies:
 *
 * C1  A piece is moved only while the link is up (that process lives) and the region is offered.
 * C2  A read takes the cookie along in the same call, so the bytes are known to be that process'. A
 *     write reads the cookie first; between the two calls the process would have to end and its
 *     pid to be given to another one of the same user.
 * C3  An error that is not about the memory means "not this way": the caller goes on by another
 *     path, which also finds out if the process has ended.
 */
#define _GNU_SOURCE
#include "transport/cma.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/random.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/log.h"

#define PIECE ((uint64_t)4 << 20) /* between two looks at lease and link; far below the most */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint64_t own_cookie; /* set once; 0: there is none. Peers read it */

static void
make_cookie(void)
{
    if (getrandom(&own_cookie, sizeof own_cookie, 0) != (ssize_t)sizeof own_cookie)
        own_cookie = 0;
    if (own_cookie == 0)
        LOG_INFO(SHM, "no random numbers, so peers do not reach this process by process_vm_readv");
}

bool
cma_own_cookie(struct cma_cookie *cookie)
{
    (void)pthread_once(&once, make_cookie);
    *cookie = (struct cma_cookie){(uint64_t)(uintptr_t)&own_cookie, own_cookie};
    return own_cookie != 0;
}

int
cma_probe(void)
{
    uint64_t from = 1, into = 0;
    struct iovec local = {&into, sizeof into}, remote = {&from, sizeof from};

    if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) != (ssize_t)sizeof into)
        return errno;
    local.iov_base = &from;
    remote.iov_base = &into;
    if (process_vm_writev(getpid(), &local, 1, &remote, 1, 0) != (ssize_t)sizeof into)
        return errno;
    return 0;
}

/* `len` bytes to or from move->addr + at, after a check of the cookie. How many were moved, 0: the
 * memory is not there; -1: not this way (errno). */
static int64_t
move_some(const struct foreign_move *move, const struct cma_cookie *cookie, uint64_t at,
          uint64_t len)
{
    pid_t pid = link_pid(move->link);
    uint64_t seen = 0;
    struct iovec local[2] = {{&seen, sizeof seen}, {move->local + at, len}};
    struct iovec remote[2] = {{(void *)(uintptr_t)cookie->addr, sizeof seen},
                              {(void *)(uintptr_t)(move->addr + at), len}};
    unsigned long parts = move->write ? 1 : 2;
    ssize_t got = process_vm_readv(pid, local, parts, remote, parts, 0);

    if (got < (ssize_t)sizeof seen || seen != cookie->value) { /* C2 */
        if (got >= 0 || errno == EFAULT)
            errno = ESRCH; /* another process has the pid, or this one another program */
        return -1;
    }
    if (!move->write)
        return got - (ssize_t)sizeof seen;
    got = process_vm_writev(pid, &local[1], 1, &remote[1], 1, 0);
    if (got < 0)
        return errno == EFAULT ? 0 : -1;
    return got;
}

/* Whether own memory at `addr` can be read: the calls do not say whose memory was not there. */
static bool
own_is_there(const char *addr)
{
    char byte;
    struct iovec local = {&byte, 1}, remote = {(void *)(uintptr_t)addr, 1};

    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 1;
}

static HcclResult
why_nothing_moved(const struct foreign_move *move, uint64_t at)
{
    if (own_is_there(move->local + at))
        return foreign_not_there(move);
    LOG_ERROR(SHM, "own memory of a transfer of %llu bytes with process %d is not there: %p",
              (unsigned long long)move->len, (int)link_pid(move->link), (void *)(move->local + at));
    return HCCL_E_MEMORY;
}

HcclResult
cma_move(const struct foreign_move *move, const struct cma_cookie *cookie, uint64_t *moved,
         int *error)
{
    uint64_t at = 0;

    *moved = 0;
    *error = 0;
    while (at < move->len) {
        uint64_t len = move->len - at < PIECE ? move->len - at : PIECE;
        int64_t got;

        if (link_state(move->link) == LINK_GONE) /* C1 */
            return HCCL_E_REMOTE;
        if (!segment_leased(link_segment(move->link), move->lease))
            return foreign_not_offered(move);
        got = move_some(move, cookie, at, len);
        if (got < 0) { /* C3 */
            *error = errno;
            return HCCL_E_NOT_SUPPORT;
        }
        if (got == 0)
            return why_nothing_moved(move, at);
        at += (uint64_t)got;
        *moved = at;
    }
    return HCCL_SUCCESS;
}
