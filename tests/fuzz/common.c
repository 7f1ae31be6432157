/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

static char dir[64];

__attribute__((constructor)) static void
be_quiet(void)
{
    setenv("HCOMM_LOG_LEVEL", "none", 1); /* nearly every input is an error */
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    return remove(path);
}

static void
remove_dir(void)
{
    nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *
fuzz_dir(void)
{
    if (dir[0] == '\0') {
        snprintf(dir, sizeof dir, "/tmp/hcomm-fuzz-XXXXXX");
        if (mkdtemp(dir) == NULL)
            abort();
        atexit(remove_dir);
    }
    return dir;
}

const char *
fuzz_file(const uint8_t *bytes, size_t len, const char *suffix)
{
    static char path[128];
    int fd;

    snprintf(path, sizeof path, "%s/input%s", fuzz_dir(), suffix);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0 || (len > 0 && write(fd, bytes, len) != (ssize_t)len))
        abort();
    close(fd);
    return path;
}

void
fuzz_read(const void *bytes, size_t len)
{
    static volatile uint8_t sink;

    for (size_t i = 0; i < len; i++)
        sink = ((const uint8_t *)bytes)[i];
    (void)sink;
}

char *
fuzz_text(const uint8_t *bytes, size_t len)
{
    char *text = malloc(len + 1);

    if (text == NULL)
        abort();
    if (len > 0)
        memcpy(text, bytes, len);
    text[len] = '\0';
    return text;
}

size_t
fuzz_seed_text(const char *const *texts, size_t num, unsigned n, uint8_t *into, size_t room)
{
    size_t len;

    if (n >= num)
        return 0;
    len = strlen(texts[n]);
    if (len > room)
        abort();
    memcpy(into, texts[n], len);
    return len;
}
