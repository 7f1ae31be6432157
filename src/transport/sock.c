/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "transport/sock.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"

#define BACKLOG 4096
#define RESETS_MOST 3 /* errors of the socket that one message can hide behind */

int
sock_new(void)
{
    return hc_fd_socket(AF_UNIX, SOCK_SEQPACKET);
}

int
sock_accept(int listen_fd)
{
    return hc_fd_accept(listen_fd, NULL, NULL);
}

/* ---- names ---- */

static socklen_t
address_of(struct sockaddr_un *address, const char *name)
{
    size_t len = strlen(name);

    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(address->sun_path + 1, name, len); /* after a 0: abstract, in no file system */
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len);
}

int
sock_listen(const char *name)
{
    struct sockaddr_un address;
    socklen_t len = address_of(&address, name);
    int fd = sock_new(), error;

    if (fd >= 0 && bind(fd, (struct sockaddr *)&address, len) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    error = errno;
    hc_fd_close(fd);
    errno = error;
    return -1;
}

int
sock_connect(int fd, const char *name)
{
    struct sockaddr_un address;
    socklen_t len = address_of(&address, name);

    while (connect(fd, (struct sockaddr *)&address, len) != 0) {
        if (errno != EINTR)
            return errno;
    }
    return 0;
}

/* ---- messages ---- */

int
sock_send(int fd, const void *bytes, size_t len, int pass_fd)
{
    union {
        struct cmsghdr head; /* aligned as the kernel wants it */
        char room[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec part = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = len};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

    if (pass_fd >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof control.room;
        control.head.cmsg_level = SOL_SOCKET;
        control.head.cmsg_type = SCM_RIGHTS;
        control.head.cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(&control.head), &pass_fd, sizeof pass_fd);
    }
    while (sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
        if (errno != EINTR)
            return errno == EWOULDBLOCK ? EAGAIN : errno;
    }
    return 0;
}

static int
passed(struct msghdr *message)
{
    struct cmsghdr *head = CMSG_FIRSTHDR(message);
    int fd = -1;

    if (head != NULL && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS &&
        head->cmsg_len == CMSG_LEN(sizeof(int)))
        memcpy(&fd, CMSG_DATA(head), sizeof fd);
    return fd;
}

enum sock_got
sock_recv(int fd, void *bytes, size_t room, size_t *len, int *pass_fd)
{
    union {
        struct cmsghdr head;
        char room[CMSG_LEN(sizeof(int))]; /* for one descriptor: the kernel drops others */
    } control;
    struct iovec part = {.iov_base = bytes, .iov_len = room};
    struct msghdr message;
    ssize_t n;

    *pass_fd = -1;
    for (int resets = 0;;) {
        message = (struct msghdr){.msg_iov = &part,
                                  .msg_iovlen = 1,
                                  .msg_control = &control,
                                  .msg_controllen = CMSG_LEN(sizeof(int))};
        n = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
        if (n >= 0)
            break;
        if (errno == EAGAIN || errno == EWOULDBLOCK)
            return SOCK_NOTHING;
        /* A reset comes before what the peer had sent until then. */
        if (errno != EINTR && (errno != ECONNRESET || ++resets > RESETS_MOST))
            return SOCK_ENDED;
    }
    *pass_fd = passed(&message);
    if (*pass_fd >= 0 && (*pass_fd = hc_fd_high(*pass_fd)) < 0)
        message.msg_flags |= MSG_CTRUNC;
    *len = (size_t)n;
    if ((message.msg_flags & MSG_CTRUNC) != 0 && *pass_fd < 0)
        return SOCK_NO_ROOM;
    if ((message.msg_flags & (MSG_CTRUNC | MSG_TRUNC)) == 0 && (n > 0 || *pass_fd >= 0))
        return SOCK_MESSAGE;
    sock_drop(*pass_fd);
    *pass_fd = -1;
    return n == 0 ? SOCK_ENDED : SOCK_STRANGE;
}

void
sock_drop(int fd)
{
    if (fd >= 0)
        close(fd);
}

bool
sock_ended(int fd)
{
    struct pollfd one = {.fd = fd, .events = POLLRDHUP};

    return poll(&one, 1, 0) > 0 && (one.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

void
sock_peer(int fd, pid_t *pid, uid_t *uid)
{
    struct ucred who = {.uid = (uid_t)-1};
    socklen_t len = sizeof who;

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) != 0)
        who = (struct ucred){.uid = (uid_t)-1};
    *pid = who.pid;
    *uid = who.uid;
}

bool
sock_process_lives(pid_t pid, int patience_ms)
{
    struct pollfd process = {.events = POLLIN};
    bool lives;

    if (pid <= 0)
        return false;
    process.fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (process.fd < 0)
        return errno == EMFILE || errno == ENFILE;
    lives = poll(&process, 1, patience_ms) <= 0;
    (void)close(process.fd);
    return lives;
}

const char *
sock_trouble(int error, char *text, size_t len)
{
    struct rlimit limit = {0};

    if (error == EMFILE) {
        (void)getrlimit(RLIMIT_NOFILE, &limit);
        snprintf(text, len,
                 "all %llu descriptors that this process may have are in use: raise the limit "
                 "(ulimit -n)",
                 (unsigned long long)limit.rlim_cur);
    } else {
        snprintf(text, len, "%s", strerror(error));
    }
    return text;
}
