/* SPDX-License-Identifier: BSD-3-Clause */
/* run_typed: what is typed at the terminal goes to process 0. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "tools/run_job.h"

#define IDLE_MS 500 /* how long a terminal is left alone that is another job's */

/* Whether standard input is a terminal that is ours at the moment. */
static bool
terminal_is_ours(void)
{
    return tcgetpgrp(STDIN_FILENO) == getpgrp();
}

void
typed_read(struct run_typed *typed)
{
    ssize_t n;

    if (!terminal_is_ours()) { /* reading would stop us */
        typed->again_ns = hc_deadline_ms(IDLE_MS);
        return;
    }
    n = read(STDIN_FILENO, typed->bytes, sizeof typed->bytes);
    if (n > 0) {
        typed->len = (size_t)n;
    } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        close(typed->fd);
        typed->fd = -1;
    }
}

void
typed_pass(struct run_typed *typed)
{
    ssize_t n = write(typed->fd, typed->bytes, typed->len);

    if (n > 0) {
        typed->len -= (size_t)n;
        memmove(typed->bytes, typed->bytes + n, typed->len);
    } else if (n < 0 && errno != EAGAIN && errno != EINTR) {
        close(typed->fd); /* process 0 reads no more */
        typed->fd = -1;
    }
}

int
typed_init(struct run_typed *typed, int null_fd, int *fd)
{
    int ends[2];

    typed->fd = -1;
    *fd = STDIN_FILENO;
    if (isatty(STDIN_FILENO) == 0)
        return 0;
    if (!terminal_is_ours()) {
        *fd = null_fd;
        return 0;
    }
    if (pipe2(ends, O_CLOEXEC) != 0) {
        fprintf(stderr, "hcomm run: cannot make a pipe: %s\n", strerror(errno));
        return 1;
    }
    typed->fd = ends[1];
    (void)fcntl(typed->fd, F_SETFL, O_NONBLOCK);
    *fd = ends[0];
    return 0;
}

void
typed_fini(struct run_typed *typed)
{
    if (typed->fd >= 0)
        close(typed->fd);
    typed->fd = -1;
}

int
typed_source(const struct run_typed *typed)
{
    return typed->fd >= 0 && typed->len == 0 && typed->again_ns <= hc_now_ns() ? STDIN_FILENO : -1;
}

int
typed_target(const struct run_typed *typed)
{
    return typed->len > 0 ? typed->fd : -1;
}
