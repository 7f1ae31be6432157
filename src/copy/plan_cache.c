/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plan is kept in $XDG_CACHE_HOME/hcomm (or $HOME/.cache/hcomm), in one file for each machine:
 *
 *     hcomm plan 2
 *     library 90200
 *     kernel 6.1.0
 *     processors 2
 *     model AMD EPYC 9654
 *     eager=8192,middle=pull,large=both,large_from=65536,piece=16384
 *
 * C1  All but the last line is the key: what is not exactly ours is not used. The last line is
 *     parsed as the knob is, and must be what we would have written. Otherwise the machine is
 *     measured anew and the file replaced.
 * C2  A file appears by rename, so it is whole. Nobody can be made to wait or to write elsewhere by
 *     what lies in its place: no links, no pipes, no long files.
 * C3  Ranks start together. The first of them measures under a lock of the directory; the others
 *     wait for its file, so that they do not disturb it, but not for ever.
 * C4  Without a directory to write to, each process measures. Nothing of this is an error.
 */
#define _GNU_SOURCE
#include "copy/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fnv.h"
#include "base/log.h"
#include "base/version.h"

#define KEY_LEN 512u
#define FILE_LEN (KEY_LEN + PLAN_TEXT_LEN)
#define PATH_LEN 1024u
#define WAIT_MS 200 /* C3: some times what measuring takes */
#define NAP_NS 2000000

struct place {
    int dir; /* descriptor; -1: none */
    char name[40];
    char key[KEY_LEN];
    size_t key_len;
};

/* ---- key ---- */

static void
read_model(char *model, size_t len)
{
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[256];

    snprintf(model, len, "unknown");
    if (file == NULL)
        return;
    while (fgets(line, sizeof line, file) != NULL) {
        char *colon = strchr(line, ':');

        if (colon == NULL || strncmp(line, "model name", 10) != 0)
            continue;
        colon[strcspn(colon, "\n")] = '\0';
        snprintf(model, len, "%.100s", colon + 1 + (colon[1] == ' '));
        break;
    }
    fclose(file);
}

static void
make_key(struct place *place)
{
    struct utsname system = {0};
    char model[128];

    read_model(model, sizeof model);
    (void)uname(&system);
    snprintf(place->key, sizeof place->key,
             "hcomm plan 2\nlibrary %u\nkernel %.100s\nprocessors %ld\nmodel %s\n", HC_VERSION,
             system.release, sysconf(_SC_NPROCESSORS_ONLN), model);
    place->key_len = strlen(place->key);
    snprintf(place->name, sizeof place->name, "plan-%016llx", /* machines may share a home */
             (unsigned long long)hc_fnv(HC_FNV_START, place->key, place->key_len));
}

/* ---- directory ---- */

/* The directory, made if it is not there; -1: none. */
static int
open_dir(void)
{
    const char *cache = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
    char path[PATH_LEN];
    size_t len;
    int fd;

    if (cache != NULL && cache[0] == '/')
        len = (size_t)snprintf(path, sizeof path, "%s", cache);
    else if (home != NULL && home[0] == '/')
        len = (size_t)snprintf(path, sizeof path, "%s/.cache", home);
    else
        return -1;
    if (len + sizeof "/hcomm" > sizeof path)
        return -1;
    (void)mkdir(path, 0700); /* there, or not to be had: open() tells */
    memcpy(path + len, "/hcomm", sizeof "/hcomm");
    (void)mkdir(path, 0700);
    fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd;
}

/* ---- file ---- */

/* Reads to the end or until `most` bytes; -1: cannot be read. */
static ssize_t
read_all(int fd, char *bytes, size_t most)
{
    size_t len = 0;

    while (len < most) {
        ssize_t got = read(fd, bytes + len, most - len);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        len += (size_t)got;
    }
    return (ssize_t)len;
}

/* The plan in `text`, which begins with the key and ends with a line of its own (C1). */
static bool
parse_file(const struct place *place, char *text, size_t len, struct copy_plan *plan)
{
    struct copy_plan parsed = {0};
    char again[PLAN_TEXT_LEN], why[8];

    if (len <= place->key_len || memcmp(text, place->key, place->key_len) != 0 ||
        text[len - 1] != '\n')
        return false;
    text[len - 1] = '\0';
    if (!plan_parse(text + place->key_len, &parsed, why, sizeof why))
        return false;
    plan_format(&parsed, again);
    if (strlen(again) != len - 1 - place->key_len || strcmp(again, text + place->key_len) != 0)
        return false; /* some field is not there */
    *plan = parsed;
    return true;
}

static bool
load(const struct place *place, struct copy_plan *plan)
{
    char text[FILE_LEN + 1];
    struct stat about;
    ssize_t len = -1;
    int fd = openat(place->dir, place->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

    if (fd < 0)
        return false;
    if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode)) /* C2 */
        len = read_all(fd, text, sizeof text);
    close(fd);
    return len > 0 && (size_t)len < sizeof text && parse_file(place, text, (size_t)len, plan);
}

static bool
write_all(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t put = write(fd, bytes, len);

        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        bytes += put;
        len -= (size_t)put;
    }
    return true;
}

static void
save(const struct place *place, const struct copy_plan *plan)
{
    char text[FILE_LEN], line[PLAN_TEXT_LEN], name[64];
    bool written;
    int fd;

    plan_format(plan, line);
    snprintf(text, sizeof text, "%s%s\n", place->key, line);
    snprintf(name, sizeof name, "%s.%ld", place->name, (long)getpid());
    (void)unlinkat(place->dir, name, 0); /* of a process with our number that was killed */
    fd = openat(place->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        LOG_INFO(COPY, "plan is not kept: %s", strerror(errno)); /* C4 */
        return;
    }
    written = write_all(fd, text, strlen(text));
    close(fd);
    if (!written || renameat(place->dir, name, place->dir, place->name) != 0) {
        LOG_INFO(COPY, "plan is not kept: %s", strerror(errno));
        (void)unlinkat(place->dir, name, 0);
    }
}

/* ---- one measures, others wait (C3) ---- */

/* Another process has the lock. true: its plan is there. */
static bool
wait_for_other(const struct place *place, struct copy_plan *plan)
{
    static const struct timespec nap = {.tv_nsec = NAP_NS};
    uint64_t deadline = hc_deadline_ms(WAIT_MS);

    while (hc_now_ns() < deadline) {
        (void)nanosleep(&nap, NULL);
        if (load(place, plan))
            return true;
        if (flock(place->dir, LOCK_EX | LOCK_NB) == 0) /* it has gone without one */
            return load(place, plan);
    }
    return false;
}

static bool
find(const struct place *place, struct copy_plan *plan, bool (*measure)(struct copy_plan *plan))
{
    if (load(place, plan))
        return true;
    if (flock(place->dir, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return wait_for_other(place, plan);
    if (load(place, plan)) /* it was written before we had the lock */
        return true;
    if (!measure(plan))
        return false;
    save(place, plan);
    return true;
}

bool
plan_cached(struct copy_plan *plan, bool (*measure)(struct copy_plan *plan))
{
    struct place place;
    bool found;

    place.dir = open_dir();
    if (place.dir < 0)
        return measure(plan);
    make_key(&place);
    found = find(&place, plan, measure);
    close(place.dir); /* and with it the lock */
    return found;
}
