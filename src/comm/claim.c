/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "comm/claim.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fd.h"
#include "base/log.h"

struct claim {
    int fd;
};

/* The length of the address. */
static socklen_t
make_address(struct sockaddr_un *addr, const char *world_id, uint32_t rank)
{
    int len;

    memset(addr, 0, sizeof *addr);
    addr->sun_family = AF_UNIX; /* the name begins with a NUL: it is in no file system */
    len = snprintf(addr->sun_path + 1, sizeof addr->sun_path - 1, "hcomm/claim/%u/%s/%u",
                   (unsigned)getuid(), world_id, rank);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len);
}

/* Who listens there; 0: it cannot be told. */
static int
owner_of(const struct sockaddr_un *addr, socklen_t len)
{
    int fd = hc_fd_socket(AF_UNIX, SOCK_STREAM);
    struct ucred owner = {.pid = 0};
    socklen_t owner_len = sizeof owner;

    if (fd < 0)
        return 0;
    if (connect(fd, (const struct sockaddr *)addr, len) == 0)
        (void)getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &owner, &owner_len);
    hc_fd_close(fd);
    return (int)owner.pid;
}

static HcclResult
fail_taken(const struct sockaddr_un *addr, socklen_t len, uint32_t rank, const char *table)
{
    char who[32] = "another process";
    int pid = owner_of(addr, len);

    if (pid > 0)
        snprintf(who, sizeof who, "process %d", pid);
    LOG_ERROR(COMM,
              "%s is rank %u of %s already: give each process its own rank, and each of several "
              "jobs its own HCOMM_JOB_ID",
              who, rank, table);
    return HCCL_E_PARA;
}

HcclResult
claim_create(const char *world_id, uint32_t rank, const char *table, struct claim **out)
{
    struct claim *claim = hc_zalloc(sizeof *claim);
    struct sockaddr_un addr;
    socklen_t len = make_address(&addr, world_id, rank);
    HcclResult rc = HCCL_SUCCESS;

    if (claim == NULL)
        return HCCL_E_MEMORY;
    claim->fd = hc_fd_socket(AF_UNIX, SOCK_STREAM);
    if (claim->fd < 0 || bind(claim->fd, (const struct sockaddr *)&addr, len) != 0 ||
        listen(claim->fd, 16) != 0) {
        if (claim->fd >= 0 && errno == EADDRINUSE) {
            rc = fail_taken(&addr, len, rank, table);
        } else {
            LOG_ERROR(COMM, "cannot hold the place of rank %u of %s: %s", rank, table,
                      strerror(errno));
            rc = HCCL_E_SYSCALL;
        }
        claim_destroy(claim);
        return rc;
    }
    *out = claim;
    return HCCL_SUCCESS;
}

void
claim_destroy(struct claim *claim)
{
    if (claim == NULL)
        return;
    if (claim->fd >= 0)
        hc_fd_close(claim->fd);
    hc_free(claim);
}
