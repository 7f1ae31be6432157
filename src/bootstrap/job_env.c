/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "bootstrap/job_env.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"

#define ANCESTORS_MOST 64 /* shells and wrappers between a launcher and its program */
#define ENVIRON_MOST ((size_t)4 << 20)

const char *
job_env_text(const char *name)
{
    const char *text = getenv(name);

    return text == NULL ? "" : text;
}

bool
job_env_has(const char *name)
{
    return job_env_text(name)[0] != '\0';
}

HcclResult
job_env_number(const char *name, uint32_t least, uint32_t most, uint32_t *value)
{
    const char *text = getenv(name);
    unsigned long long number;
    char *end;

    if (text == NULL) {
        LOG_ERROR(JOB,
                  "%s is not set, though other variables of its launcher are: start the "
                  "program with the launcher, or unset them all",
                  name);
        return HCCL_E_PARA;
    }
    errno = 0;
    number = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || number < least ||
        number > most) {
        LOG_ERROR(JOB, "%s is \"%.64s\": it must be a number from %u to %u", name, text, least,
                  most);
        return HCCL_E_PARA;
    }
    *value = (uint32_t)number;
    return HCCL_SUCCESS;
}

/* The first bytes of a file of /proc with a NUL behind them; -1: it cannot be read. */
static ssize_t
read_proc(pid_t pid, const char *name, char *bytes, size_t room)
{
    char path[64];
    size_t len = 0;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    while (len < room - 1) {
        ssize_t n = read(fd, bytes + len, room - 1 - len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        len += (size_t)n;
    }
    close(fd);
    bytes[len] = '\0';
    return (ssize_t)len;
}

/* State, parent and begin of a process; false: there is none. */
static bool
read_stat(pid_t pid, char *state, pid_t *parent, uint64_t *began)
{
    char text[1024];
    unsigned long long ticks = 0;
    int parent_pid = 0;
    const char *at;

    if (read_proc(pid, "stat", text, sizeof text) <= 0)
        return false;
    at = strrchr(text, ')'); /* the name before it may contain anything */
    if (at == NULL ||
        sscanf(at + 1,
               " %c %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
               "%llu",
               state, &parent_pid, &ticks) != 3)
        return false;
    *parent = (pid_t)parent_pid;
    *began = ticks;
    return true;
}

uint64_t
job_began(pid_t pid)
{
    uint64_t began = 0;
    pid_t parent;
    char state;

    if (pid <= 0 || !read_stat(pid, &state, &parent, &began) || state == 'Z' || state == 'X')
        return 0;
    return began;
}

/* Whether "name=value" is one of the strings in `environ`. */
static bool
environ_has(const char *environ, size_t len, const char *name, const char *value)
{
    size_t name_len = strlen(name);

    for (const char *at = environ; at < environ + len; at += strlen(at) + 1) {
        if (strncmp(at, name, name_len) == 0 && at[name_len] == '=' &&
            strcmp(at + name_len + 1, value) == 0)
            return true;
    }
    return false;
}

/* `pid` was started for the same rank: it is a wrapper of this process. */
static bool
is_of_this_rank(pid_t pid, const char *const names[], char *bytes)
{
    ssize_t len = read_proc(pid, "environ", bytes, ENVIRON_MOST);

    if (len <= 0)
        return false; /* another user's: no wrapper of ours */
    for (size_t i = 0; names[i] != NULL; i++) {
        if (!environ_has(bytes, (size_t)len, names[i], job_env_text(names[i])))
            return false;
    }
    return true;
}

pid_t
job_starter(const char *const names[], uint64_t *began)
{
    char *bytes = hc_zalloc(ENVIRON_MOST);
    pid_t pid = getppid(), found = 0, parent;
    char state;

    if (bytes == NULL)
        return 0;
    for (int steps = 0; steps < ANCESTORS_MOST && pid > 0; steps++) {
        if (!read_stat(pid, &state, &parent, began))
            break;
        if (!is_of_this_rank(pid, names, bytes)) {
            found = pid;
            break;
        }
        pid = parent;
    }
    hc_free(bytes);
    return found;
}
