/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "runtime/kernel_search.h"

#include <errno.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "runtime/allow_list.h"
#include "runtime/install.h"
#include "runtime/package.h"
#include "runtime/secverify.h"
#include "runtime/sign.h"

#define FILE_MOST ((size_t)512 << 20)
#define PACKAGES "opp/vendors/*/aicpu/kernel/*.tar.gz"

struct search {
    const struct rt_kernel_source *source;
    int32_t device;
    bool verify;
    struct rt_allow_list list;
    struct rt_kernel_found *found;
    char *why; /* the first refusal, or "" */
    size_t why_len;
};

/* The first reason counts: it is about the place that comes first. */
static void refuse(struct search *search, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void
refuse(struct search *search, const char *fmt, ...)
{
    va_list args;

    if (search->why[0] != '\0')
        return;
    va_start(args, fmt);
    vsnprintf(search->why, search->why_len, fmt, args);
    va_end(args);
}

#define SWITCH_OFF                                                                                 \
    "`npu-smi set -t custom-op-secverify-enable -i %d -d 1 && npu-smi set -t "                     \
    "custom-op-secverify-mode -i %d -d 0`"

/* Whether code of that trust may run; if not, says what would make it run. No path: it came from
 * memory, where there is nothing to sign. */
static bool
may_run(struct search *search, enum rt_trust trust, const char *path)
{
    int32_t npu = rt_npu_of_device(search->device);

    if (!search->verify || trust == RT_TRUST_SIGNED)
        return true;
    if (trust == RT_TRUST_ALTERED && path != NULL) {
        refuse(search, "%s was altered after it was signed: install it again from its source",
               path);
        return false;
    }
    if (path == NULL) {
        refuse(search,
               "unsigned code, given to aclrtBinaryLoadFromData: install a package, or switch "
               "verification off with " SWITCH_OFF,
               npu, npu);
        return false;
    }
    /* The failure of a stream has room for one path and these commands, not for two. */
    refuse(search, "%s: run `hcomm package sign %s`, or, to switch verification off, " SWITCH_OFF,
           trust == RT_TRUST_UNSIGNED ? "unsigned code"
                                      : "code signed by a key that is not trusted here",
           path, npu, npu);
    return false;
}

/* Reads a file that may be missing. true: *bytes is there. */
static bool
read_candidate(struct search *search, const char *path, uint8_t **bytes, size_t *len)
{
    int err = rt_file_read(path, FILE_MOST, bytes, len);

    if (err != 0 && err != ENOENT && err != ENOTDIR)
        refuse(search, "cannot read %s: %s", path, strerror(err));
    return err == 0;
}

/* ---- packages ---- */

static const char *
soc_directory(void)
{
    switch (rt_soc()) {
    case RT_SOC_A3:
        return "/Ascend910_93";
    case RT_SOC_950:
        return "/Ascend950";
    case RT_SOC_A2:
        break;
    }
    return "/Ascend910B";
}

static bool
is_kernel_record(const struct rt_allow_record *record)
{
    return record->install_path == RT_ALLOW_KERNELS &&
           strstr(record->name, "-aicpu_legacy.tar.gz") == NULL;
}

static aclError
record_path(const struct rt_allow_record *record, const char *file, char *path)
{
    return rt_install_path(path, "%s%s/%s", record->package_path,
                           record->per_soc ? soc_directory() : "", file);
}

/* Looks for the library inside the package's bytes. */
static bool
look_inside(struct search *search, const char *path, const uint8_t *bytes, size_t len)
{
    const char *so = search->source->so;
    struct rt_package package = {NULL, 0};
    struct rt_package_file *file;
    char why[400] = "";
    bool good = false;

    if (rt_package_read(&package, bytes, len, path, so, why, sizeof why) != ACL_SUCCESS) {
        refuse(search, "%s", why[0] == '\0' ? "out of host memory" : why);
        return false;
    }
    file = rt_package_find(&package, so);
    if (file != NULL && file->bytes != NULL) {
        search->found->bytes = file->bytes;
        search->found->len = (size_t)file->len;
        snprintf(search->found->from, sizeof search->found->from, "%.511s", path);
        file->bytes = NULL; /* now the search's */
        good = true;
    }
    rt_package_fini(&package);
    return good;
}

static bool
try_package(struct search *search, const struct rt_allow_record *record)
{
    char path[RT_PATH_LEN];
    uint8_t *bytes = NULL;
    size_t len = 0, content_len;
    bool good = false;

    if (record_path(record, record->name, path) != ACL_SUCCESS)
        return false;
    if (!read_candidate(search, path, &bytes, &len)) {
        if (!record->optional)
            LOG_WARN(KERNEL, "package %s cannot be read, and its record says it is not optional",
                     path);
        return false;
    }
    /* Verified before it is opened: nobody's archive is parsed on trust. */
    if (may_run(search, rt_verify(bytes, len, &content_len), path))
        good = look_inside(search, path, bytes, content_len);
    hc_free(bytes);
    return good;
}

/* ---- plain files ---- */

static enum rt_trust
trust_of_bytes(const uint8_t *bytes, size_t len, const char *path)
{
    char sig_path[RT_PATH_LEN];
    uint8_t *sig = NULL;
    size_t sig_len = 0, content_len;
    enum rt_trust trust = rt_verify(bytes, len, &content_len);

    if (trust != RT_TRUST_UNSIGNED || path == NULL ||
        snprintf(sig_path, sizeof sig_path, "%s.sig", path) >= (int)sizeof sig_path ||
        rt_file_read(sig_path, RT_TRAILER_LEN, &sig, &sig_len) != 0)
        return trust;
    trust = rt_verify_detached(bytes, len, sig, sig_len);
    hc_free(sig);
    return trust;
}

static bool
try_plain(struct search *search, const char *path)
{
    uint8_t *bytes = NULL;
    size_t len = 0;

    if (!read_candidate(search, path, &bytes, &len))
        return false;
    if (!may_run(search, search->verify ? trust_of_bytes(bytes, len, path) : RT_TRUST_UNSIGNED,
                 path)) {
        hc_free(bytes);
        return false;
    }
    search->found->bytes = bytes;
    search->found->len = len;
    snprintf(search->found->from, sizeof search->found->from, "%.511s", path);
    return true;
}

static bool
try_directory(struct search *search, const char *dir)
{
    char path[RT_PATH_LEN];

    return dir != NULL && dir[0] != '\0' &&
           rt_path_join(path, dir, search->source->so) == ACL_SUCCESS && try_plain(search, path);
}

static bool
try_environment(struct search *search)
{
    if (search->source->custom &&
        try_directory(search, getenv("ASCEND_CUST_AICPU_KERNEL_CACHE_PATH")))
        return true;
    return try_directory(search, getenv("ASCEND_AICPU_KERNEL_PATH"));
}

static bool
try_all(struct search *search)
{
    for (uint32_t i = 0; i < search->list.count; i++) {
        if (is_kernel_record(&search->list.records[i]) &&
            try_package(search, &search->list.records[i]))
            return true;
    }
    for (uint32_t i = 0; i < search->list.count; i++) {
        char path[RT_PATH_LEN];

        if (is_kernel_record(&search->list.records[i]) &&
            record_path(&search->list.records[i], search->source->so, path) == ACL_SUCCESS &&
            try_plain(search, path))
            return true;
    }
    return try_directory(search, search->source->dir) || try_environment(search);
}

/* ---- nothing found ---- */

/* Whether the list covers this package file. */
static bool
is_listed(const struct search *search, const char *package)
{
    for (uint32_t i = 0; i < search->list.count; i++) {
        char path[RT_PATH_LEN];

        if (is_kernel_record(&search->list.records[i]) &&
            record_path(&search->list.records[i], search->list.records[i].name, path) ==
                ACL_SUCCESS &&
            strcmp(path, package) == 0)
            return true;
    }
    return false;
}

/* An installed package that nobody allowed is the likely reason. */
static void
blame_unlisted(struct search *search)
{
    char pattern[RT_PATH_LEN];
    glob_t packages;

    if (rt_install_path(pattern, PACKAGES) != ACL_SUCCESS ||
        glob(pattern, GLOB_NOSORT, NULL, &packages) != 0)
        return;
    for (size_t i = 0; i < packages.gl_pathc && search->why[0] == '\0'; i++) {
        if (!is_listed(search, packages.gl_pathv[i]))
            refuse(search,
                   "no package of conf/ascend_package_load.ini has it, and one is not listed: run "
                   "`hcomm package allow %s`",
                   packages.gl_pathv[i]);
    }
    globfree(&packages);
}

static void
blame_absence(struct search *search)
{
    char list[RT_PATH_LEN];

    if (rt_install_path(list, "conf/ascend_package_load.ini") != ACL_SUCCESS)
        return;
    refuse(search,
           "it is in none of the %u packages of %s, nor in %s, nor in "
           "ASCEND_AICPU_KERNEL_PATH: install its package, then run `hcomm package allow "
           "<file>.tar.gz`",
           search->list.count, list,
           search->source->dir == NULL ? "a directory of its own" : search->source->dir);
}

/* ---- the whole search ---- */

static bool
take_given(struct search *search)
{
    const struct rt_kernel_source *source = search->source;
    const char *name =
        source->path == NULL ? "the library given to aclrtBinaryLoadFromData" : source->path;

    if (search->verify &&
        !may_run(search, trust_of_bytes(source->bytes, source->len, source->path), source->path))
        return false;
    search->found->bytes = hc_zalloc(source->len);
    if (search->found->bytes == NULL) {
        refuse(search, "out of host memory");
        return false;
    }
    memcpy(search->found->bytes, source->bytes, source->len);
    search->found->len = source->len;
    snprintf(search->found->from, sizeof search->found->from, "%.511s", name);
    return true;
}

aclError
rt_kernel_search(const struct rt_kernel_source *source, int32_t device, bool verify,
                 struct rt_kernel_found *found, char *why, size_t why_len)
{
    struct search search = {.source = source,
                            .device = device,
                            .verify = verify,
                            .found = found,
                            .why = why,
                            .why_len = why_len};
    bool good;

    why[0] = '\0';
    if (source->bytes != NULL)
        return take_given(&search) ? ACL_SUCCESS : ACL_ERROR_RT_AICPU_EXCEPTION;
    if (rt_allow_list_load(&search.list) != ACL_SUCCESS)
        refuse(&search, "the package list conf/ascend_package_load.ini cannot be used (see the "
                        "error before)");
    good = try_all(&search);
    if (!good) {
        blame_unlisted(&search);
        blame_absence(&search);
    }
    rt_allow_list_fini(&search.list);
    return good ? ACL_SUCCESS : ACL_ERROR_RT_AICPU_EXCEPTION;
}
