/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "runtime/share.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

#define TICKET_MAGIC 0x31746B7463634868ull
#define FABRIC_MAGIC 0x31636266634868ull
#define PID_BITS 22 /* as many as the kernel's largest pid has */
#define FD_BITS 18
#define SECRET_BITS 24

/* ---- exporting ---- */

static aclError
ticket_failed(const char *what)
{
    return rt_fail(ACL_ERROR_RT_INTERNAL_ERROR, "cannot export memory: %s: %s", what,
                   strerror(errno));
}

/* Whole or not at all; a ticket is far smaller than what a memory file takes at once. */
static bool
put(int fd, const void *from, size_t len, size_t offset)
{
    return pwrite(fd, from, len, (off_t)offset) == (ssize_t)len;
}

aclError
rt_share_export(int fd, uint64_t offset, uint64_t size, const aclrtPhysicalMemProp *prop,
                bool any_pid, struct rt_share *share)
{
    struct rt_ticket ticket = {
        .magic = TICKET_MAGIC, .offset = offset, .size = size, .fd = fd, .any_pid = any_pid};
    int made;

    if (prop != NULL)
        ticket.prop = *prop;
    do {
        if (getrandom(&ticket.secret, sizeof ticket.secret, 0) != sizeof ticket.secret)
            return ticket_failed("no random numbers");
    } while ((ticket.secret & ((1u << SECRET_BITS) - 1)) == 0); /* 0 is what an empty token has */
    made = hc_fd_high(memfd_create("hcomm-ticket", MFD_CLOEXEC));
    if (made < 0)
        return ticket_failed("no descriptor for the ticket");
    if (!put(made, &ticket, sizeof ticket, 0)) {
        aclError rc = ticket_failed("cannot write the ticket");

        close(made);
        return rc;
    }
    *share = (struct rt_share){.fd = made, .secret = ticket.secret};
    return ACL_SUCCESS;
}

void
rt_share_close(struct rt_share *share)
{
    if (share->fd >= 0)
        close(share->fd);
    share->fd = -1;
}

aclError
rt_share_allow(struct rt_share *share, const int32_t *pids, size_t pid_num)
{
    struct rt_ticket ticket;

    if (pread(share->fd, &ticket, sizeof ticket, 0) != sizeof ticket)
        return ticket_failed("cannot read the ticket");
    if (pid_num > RT_SHARE_PIDS - ticket.pid_num)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "%zu processes more than the %u already allowed to "
                       "import; the most is %u",
                       pid_num, ticket.pid_num, RT_SHARE_PIDS);
    memcpy(&ticket.pids[ticket.pid_num], pids, pid_num * sizeof *pids);
    ticket.pid_num += (uint32_t)pid_num;
    if (!put(share->fd, &ticket, sizeof ticket, 0))
        return ticket_failed("cannot write the ticket");
    return ACL_SUCCESS;
}

bool
rt_share_is(const struct rt_share *share, const struct rt_share_token *token)
{
    return share->fd >= 0 && token->pid == (uint32_t)getpid() && token->fd == (uint32_t)share->fd &&
           ((share->secret ^ token->secret) & token->secret_mask) == 0;
}

/* ---- importing ---- */

static int
open_of_process(uint32_t pid, uint32_t fd)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%u/fd/%u", pid, fd);
    return open(path, O_RDWR | O_CLOEXEC);
}

static aclError
worthless(const struct rt_share_token *token, const char *why)
{
    return rt_fail(
        ACL_ERROR_RT_PARAM_INVALID,
        "cannot import memory of process %u: %s; is the token whole, from this host, and the "
        "exporter alive?",
        token->pid, why);
}

static bool
may_import(const struct rt_ticket *ticket)
{
    if (ticket->any_pid != 0)
        return true;
    for (uint32_t i = 0; i < ticket->pid_num && i < RT_SHARE_PIDS; i++) {
        if (ticket->pids[i] == getpid())
            return true;
    }
    return false;
}

aclError
rt_share_open(const struct rt_share_token *token, struct rt_ticket *ticket, int *fd)
{
    int opened = open_of_process(token->pid, token->fd);
    struct stat st;
    bool whole;

    if (opened < 0)
        return worthless(token, strerror(errno));
    /* Whatever the descriptor is: only a regular file is read, so nothing blocks. */
    whole = fstat(opened, &st) == 0 && S_ISREG(st.st_mode) &&
            pread(opened, ticket, sizeof *ticket, 0) == sizeof *ticket;
    close(opened);
    if (!whole || ticket->magic != TICKET_MAGIC ||
        ((ticket->secret ^ token->secret) & token->secret_mask) != 0)
        return worthless(token, "it exports nothing under this token");
    if (!may_import(ticket))
        return rt_fail(ACL_ERROR_RT_NO_PERMISSION,
                       "process %u does not let process %d import its "
                       "memory: it must add the pid, or export without pid check",
                       token->pid, (int)getpid());
    opened = open_of_process(token->pid, (uint32_t)ticket->fd);
    if (opened < 0)
        return worthless(token, strerror(errno));
    if (fstat(opened, &st) != 0 || !S_ISREG(st.st_mode) || ticket->size > (uint64_t)st.st_size ||
        ticket->offset > (uint64_t)st.st_size - ticket->size) {
        close(opened);
        return worthless(token, "the memory is gone");
    }
    *fd = opened;
    return ACL_SUCCESS;
}

/* ---- forms ---- */

void
rt_token_of(const struct rt_share *share, struct rt_share_token *token)
{
    *token = (struct rt_share_token){.pid = (uint32_t)getpid(),
                                     .fd = (uint32_t)share->fd,
                                     .secret = share->secret,
                                     .secret_mask = ~0ull};
}

bool
rt_token_to_number(const struct rt_share_token *token, uint64_t *number)
{
    if (token->fd >> FD_BITS != 0 || token->pid >> PID_BITS != 0)
        return false;
    *number = (uint64_t)token->pid << (FD_BITS + SECRET_BITS) | (uint64_t)token->fd << SECRET_BITS |
              (token->secret & ((1u << SECRET_BITS) - 1));
    return true;
}

bool
rt_token_from_number(uint64_t number, struct rt_share_token *token)
{
    *token = (struct rt_share_token){
        .pid = (uint32_t)(number >> (FD_BITS + SECRET_BITS)),
        .fd = (uint32_t)(number >> SECRET_BITS) & ((1u << FD_BITS) - 1),
        .secret = number & ((1u << SECRET_BITS) - 1),
        .secret_mask = (1u << SECRET_BITS) - 1,
    };
    return token->pid != 0 && token->secret != 0;
}

struct fabric {
    uint64_t magic;
    uint32_t pid, fd;
    uint64_t secret;
};

void
rt_token_to_fabric(const struct rt_share_token *token, aclrtMemFabricHandle *fabric)
{
    struct fabric plain = {
        .magic = FABRIC_MAGIC, .pid = token->pid, .fd = token->fd, .secret = token->secret};

    memset(fabric, 0, sizeof *fabric);
    memcpy(fabric->data, &plain, sizeof plain);
}

bool
rt_token_from_fabric(const aclrtMemFabricHandle *fabric, struct rt_share_token *token)
{
    struct fabric plain;

    memcpy(&plain, fabric->data, sizeof plain);
    *token = (struct rt_share_token){
        .pid = plain.pid, .fd = plain.fd, .secret = plain.secret, .secret_mask = ~0ull};
    return plain.magic == FABRIC_MAGIC && plain.pid != 0;
}

void
rt_token_to_text(const struct rt_share_token *token, char text[RT_SHARE_TEXT])
{
    snprintf(text, RT_SHARE_TEXT, "hcomm-ipc-%08x-%08x-%016llx", token->pid, token->fd,
             (unsigned long long)token->secret);
}

bool
rt_token_from_text(const char *text, struct rt_share_token *token)
{
    char again[RT_SHARE_TEXT];
    unsigned long long secret = 0;
    unsigned pid = 0, fd = 0;

    if (strnlen(text, RT_SHARE_TEXT) == RT_SHARE_TEXT ||
        sscanf(text, "hcomm-ipc-%8x-%8x-%16llx", &pid, &fd, &secret) != 3)
        return false;
    *token = (struct rt_share_token){.pid = pid, .fd = fd, .secret = secret, .secret_mask = ~0ull};
    rt_token_to_text(token, again);
    return pid != 0 && strcmp(again, text) == 0; /* nothing left out, nothing added */
}
