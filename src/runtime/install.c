/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "runtime/install.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

/* ---- paths ---- */

/* Cuts the last component off; "/" stays "/". */
static void
cut_component(char *path)
{
    char *slash = strrchr(path, '/');

    if (slash != NULL)
        slash[slash == path ? 1 : 0] = '\0';
}

/* The root, into root[PATH_MAX]. */
static void
find_root(char *root)
{
    const char *env = getenv("ASCEND_HOME_PATH");
    Dl_info info;
    size_t len;

    if (env != NULL && env[0] != '\0' && strlen(env) < PATH_MAX) {
        len = strlen(env);
        memcpy(root, env, len + 1);
        while (len > 1 && root[len - 1] == '/')
            root[--len] = '\0';
        return;
    }
    /* A program's own name may be relative to a directory it has left; then the kernel knows. */
    if (dladdr((const void *)&rt_install_path, &info) == 0 || info.dli_fname == NULL ||
        realpath(info.dli_fname, root) == NULL) {
        if (realpath("/proc/self/exe", root) == NULL)
            strcpy(root, "/");
    }
    cut_component(root);
    cut_component(root);
}

static aclError
path_too_long(const char *path)
{
    return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "path %.100s... is longer than %d bytes", path,
                   RT_PATH_LEN - 1);
}

aclError
rt_install_path(char *path, const char *fmt, ...)
{
    char root[PATH_MAX];
    va_list args;
    int used, more;

    find_root(root);
    used = snprintf(path, RT_PATH_LEN, "%s/", root);
    if (used >= RT_PATH_LEN)
        return path_too_long(root);
    va_start(args, fmt);
    more = vsnprintf(path + used, (size_t)(RT_PATH_LEN - used), fmt, args);
    va_end(args);
    return more < 0 || used + more >= RT_PATH_LEN ? path_too_long(path) : ACL_SUCCESS;
}

aclError
rt_path_join(char *path, const char *dir, const char *name)
{
    int len = snprintf(path, RT_PATH_LEN, "%s/%s", dir, name);

    return len < 0 || len >= RT_PATH_LEN ? path_too_long(dir) : ACL_SUCCESS;
}

/* ---- files ---- */

static int
open_regular(const char *path, struct stat *st)
{
    int fd, rc;

    do
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO must not hold us up */
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return -errno;
    rc = fstat(fd, st) != 0 ? errno : S_ISDIR(st->st_mode) ? EISDIR : 0;
    if (rc == 0 && !S_ISREG(st->st_mode))
        rc = EINVAL;
    if (rc == 0)
        return fd;
    close(fd);
    return -rc;
}

/* Reads up to `len` bytes; *got is less when the file ends. */
static int
read_all(int fd, void *buf, size_t len, size_t *got)
{
    *got = 0;
    while (*got < len) {
        ssize_t n = read(fd, (uint8_t *)buf + *got, len - *got);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno;
        if (n == 0)
            break;
        *got += (size_t)n;
    }
    return 0;
}

int
rt_file_read(const char *path, size_t most, uint8_t **bytes, size_t *len)
{
    struct stat st;
    int fd = open_regular(path, &st);
    uint8_t *buf;
    int rc;

    if (fd < 0)
        return -fd;
    if ((uint64_t)st.st_size > most) {
        close(fd);
        return EFBIG;
    }
    buf = hc_zalloc((size_t)st.st_size + 1); /* a final NUL, for texts */
    rc = buf == NULL ? ENOMEM : read_all(fd, buf, (size_t)st.st_size, len);
    close(fd);
    if (rc == 0)
        *bytes = buf;
    else
        hc_free(buf);
    return rc;
}

int
rt_file_read_text(const char *path, char *buf, size_t size)
{
    struct stat st;
    int fd = open_regular(path, &st);
    size_t got = 0;
    int rc;

    if (fd < 0)
        return -fd;
    rc = read_all(fd, buf, size, &got);
    close(fd);
    if (rc == 0 && got == size)
        rc = EFBIG;
    buf[rc == 0 ? got : 0] = '\0';
    return rc;
}

static int
write_all(int fd, const void *bytes, size_t len)
{
    size_t done = 0;

    while (done < len) {
        ssize_t n = write(fd, (const uint8_t *)bytes + done, len - done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno;
        done += (size_t)n;
    }
    return 0;
}

/* A complete file beside `path` under a name of its own, into temp[RT_PATH_LEN]. */
static int
write_beside(const char *path, const void *bytes, size_t len, mode_t mode, char *temp)
{
    int fd, rc;

    if (snprintf(temp, RT_PATH_LEN, "%s.XXXXXX", path) >= RT_PATH_LEN)
        return ENAMETOOLONG;
    fd = mkostemp(temp, O_CLOEXEC); /* mode 0600 */
    if (fd < 0)
        return errno;
    rc = write_all(fd, bytes, len);
    if (rc == 0 && (fchmod(fd, mode) != 0 || fsync(fd) != 0))
        rc = errno;
    if (close(fd) != 0 && rc == 0)
        rc = errno;
    if (rc != 0)
        unlink(temp);
    return rc;
}

int
rt_file_replace(const char *path, const void *bytes, size_t len, mode_t mode)
{
    char temp[RT_PATH_LEN];
    int rc = write_beside(path, bytes, len, mode, temp);

    if (rc == 0 && rename(temp, path) != 0) {
        rc = errno;
        unlink(temp);
    }
    return rc;
}

int
rt_file_create(const char *path, const void *bytes, size_t len, mode_t mode)
{
    char temp[RT_PATH_LEN];
    int rc = write_beside(path, bytes, len, mode, temp);

    if (rc != 0)
        return rc;
    if (link(temp, path) != 0) /* unlike rename, it never replaces */
        rc = errno;
    unlink(temp);
    return rc;
}

int
rt_dir_make(const char *path, mode_t mode)
{
    char part[RT_PATH_LEN];

    if (snprintf(part, sizeof part, "%s", path) >= (int)sizeof part)
        return ENAMETOOLONG;
    for (char *at = part + 1; *at != '\0'; at++) {
        if (*at != '/')
            continue;
        *at = '\0';
        if (mkdir(part, 0755) != 0 && errno != EEXIST)
            return errno;
        *at = '/';
    }
    return mkdir(part, mode) != 0 && errno != EEXIST ? errno : 0;
}

int
rt_dir_lock(const char *path, int *fd)
{
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc;

    if (dir < 0)
        return errno;
    do
        rc = flock(dir, LOCK_EX) == 0 ? 0 : errno;
    while (rc == EINTR);
    if (rc == 0)
        *fd = dir;
    else
        close(dir);
    return rc;
}
