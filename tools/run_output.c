/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * run_output: many pipes in, two descriptors out. Lines stay whole: they enter the one queue when
 * they are complete, and the queue is written strictly in order, so that standard output and
 * standard error, which are often the same terminal, do not cut into each other's lines either.
 *
 * Nothing here blocks: a target is written to only when poll() says that it takes something, and in
 * pieces that a pipe then takes at once.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "tools/run.h"

#define CHUNK_LEN ((size_t)64 << 10)
#define READ_LEN ((size_t)64 << 10)
#define LINE_MOST ((size_t)4 << 20) /* a longer line goes on as several */
#define QUEUE_MOST ((size_t)1 << 20)

struct run_chunk {
    struct run_chunk *next;
    int to;
    size_t at, len; /* [at, len) is to be written */
    char bytes[CHUNK_LEN];
};

bool
output_has_room(const struct run_output *output)
{
    return output->queued < QUEUE_MOST;
}

static bool
queue_put(struct run_output *output, int to, const char *bytes, size_t len)
{
    if (output->closed[to])
        return true;
    while (len > 0) {
        struct run_chunk *last = output->last;
        size_t n;

        if (last == NULL || last->to != to || last->len == CHUNK_LEN) {
            last = hc_zalloc(sizeof *last);
            if (last == NULL)
                return false;
            last->to = to;
            if (output->last == NULL)
                output->first = last;
            else
                output->last->next = last;
            output->last = last;
        }
        n = CHUNK_LEN - last->len;
        n = n < len ? n : len;
        memcpy(last->bytes + last->len, bytes, n);
        last->len += n;
        output->queued += n;
        bytes += n;
        len -= n;
    }
    return true;
}

/* The line that was begun, and `bytes` as its end. */
static bool
put_line(struct run_output *output, struct run_pipe *pipe, const char *bytes, size_t len)
{
    bool good = queue_put(output, pipe->to, pipe->prefix, strlen(pipe->prefix)) &&
                queue_put(output, pipe->to, pipe->line, pipe->len) &&
                queue_put(output, pipe->to, bytes, len) && queue_put(output, pipe->to, "\n", 1);

    pipe->len = 0;
    return good;
}

static bool
begin_line(struct run_pipe *pipe, const char *bytes, size_t len)
{
    size_t room = pipe->room;
    char *line;

    while (room < pipe->len + len)
        room = room == 0 ? 4096 : room * 2;
    if (room > pipe->room) {
        line = hc_realloc(pipe->line, room);
        if (line == NULL)
            return false;
        pipe->line = line;
        pipe->room = room;
    }
    if (len > 0)
        memcpy(pipe->line + pipe->len, bytes, len);
    pipe->len += len;
    return true;
}

static bool
take(struct run_output *output, struct run_pipe *pipe, const char *bytes, size_t len)
{
    while (len > 0) {
        const char *end = memchr(bytes, '\n', len);
        size_t n = end == NULL ? len : (size_t)(end - bytes);

        if (end == NULL && pipe->len + n < LINE_MOST)
            return begin_line(pipe, bytes, n);
        if (!put_line(output, pipe, bytes, n))
            return false;
        n += end != NULL;
        bytes += n;
        len -= n;
    }
    return true;
}

void
pipe_close(struct run_pipe *pipe)
{
    if (pipe->fd >= 0)
        close(pipe->fd);
    pipe->fd = -1;
    hc_free(pipe->line);
    pipe->line = NULL;
    pipe->len = pipe->room = 0;
}

bool
output_read(struct run_output *output, struct run_pipe *pipe)
{
    static char bytes[READ_LEN];
    bool good = true;
    ssize_t n;

    if (output->closed[pipe->to]) { /* so the processes learn of it too */
        pipe_close(pipe);
        return true;
    }
    n = read(pipe->fd, bytes, sizeof bytes);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    if (n > 0)
        return take(output, pipe, bytes, (size_t)n);
    if (pipe->len > 0)
        good = put_line(output, pipe, NULL, 0);
    pipe_close(pipe);
    return good;
}

bool
output_say(struct run_output *output, const char *fmt, ...)
{
    char text[1024];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text - 1, fmt, args);
    va_end(args);
    strcat(text, "\n");
    return queue_put(output, STDERR_FILENO, text, strlen(text));
}

int
output_target(const struct run_output *output)
{
    return output->first == NULL ? -1 : output->first->to;
}

static void
drop_first(struct run_output *output)
{
    struct run_chunk *first = output->first;

    output->queued -= first->len - first->at;
    output->first = first->next;
    if (output->first == NULL)
        output->last = NULL;
    hc_free(first);
}

/* How much a target takes at once when poll() says that it takes something. */
static size_t
piece_len(int to)
{
    struct stat st;

    return fstat(to, &st) == 0 && S_ISREG(st.st_mode) ? CHUNK_LEN : PIPE_BUF;
}

void
output_write(struct run_output *output)
{
    while (output->first != NULL) {
        struct run_chunk *first = output->first;
        struct pollfd one = {.fd = first->to, .events = POLLOUT};
        size_t most = piece_len(first->to), len = first->len - first->at;
        ssize_t n;

        if (output->closed[first->to] || len == 0) {
            drop_first(output);
            continue;
        }
        if (poll(&one, 1, 0) <= 0)
            return;
        n = write(first->to, first->bytes + first->at, len < most ? len : most);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n < 0) {
            output->closed[first->to] = true;
            if (errno != EPIPE)
                output->write_error = errno;
            continue;
        }
        first->at += (size_t)n;
        output->queued -= (size_t)n;
    }
}

void
output_fini(struct run_output *output)
{
    while (output->first != NULL)
        drop_first(output);
}
