/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "runtime/package.h"

#include <archive.h>
#include <archive_entry.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/knobs.h"
#include "base/log.h"

#define MIB ((uint64_t)1 << 20)
#define FILE_MOST (64 * MIB)
#define ENTRIES_MOST 4096
#define STREAMS_MOST 16 /* places that look like gzip and are tried */

/* One try to read the archive. */
struct reading {
    struct rt_package package;
    struct archive *archive;
    const char *path;
    const char *want;
    uint64_t most, total; /* bytes, unpacked */
    uint32_t entries;
    char *why;
    size_t why_len;
};

static aclError refuse(struct reading *reading, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static aclError
refuse(struct reading *reading, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vsnprintf(reading->why, reading->why_len, fmt, args);
    va_end(args);
    return ACL_ERROR_RT_PARAM_INVALID;
}

static aclError
refuse_archive(struct reading *reading)
{
    const char *text = archive_error_string(reading->archive);

    return refuse(reading, "package %s is damaged: %s", reading->path,
                  text == NULL ? "unknown format" : text);
}

void
rt_package_fini(struct rt_package *package)
{
    for (uint32_t i = 0; i < package->count; i++)
        hc_free(package->files[i].bytes);
    hc_free(package->files);
    package->files = NULL;
    package->count = 0;
}

struct rt_package_file *
rt_package_find(const struct rt_package *package, const char *name)
{
    for (uint32_t i = 0; i < package->count; i++) {
        if (strcmp(package->files[i].name, name) == 0)
            return &package->files[i];
    }
    return NULL;
}

/* ---- entries ---- */

static bool
has_way_up(const char *name)
{
    for (const char *at = name; at != NULL; at = strchr(at, '/')) {
        at += *at == '/';
        if (strncmp(at, "..", 2) == 0 && (at[2] == '/' || at[2] == '\0'))
            return true;
    }
    return false;
}

/* What the entry is called below the root directory ("" for that itself). */
static aclError
check_name(struct reading *reading, struct archive_entry *entry, const char **below)
{
    const char *name = archive_entry_pathname(entry);
    size_t root_len = strlen(RT_PACKAGE_ROOT);

    if (name == NULL)
        return refuse(reading, "package %s has an entry without a readable name", reading->path);
    if (name[0] == '/' || has_way_up(name))
        return refuse(reading, "package %s has the entry %.200s, which leads out of it",
                      reading->path, name);
    while (strncmp(name, "./", 2) == 0)
        name += 2;
    if (strncmp(name, RT_PACKAGE_ROOT, root_len) == 0)
        *below = name + root_len;
    else if (name[0] == '\0' || strcmp(name, ".") == 0 ||
             (strncmp(name, RT_PACKAGE_ROOT, root_len - 1) == 0 && name[root_len - 1] == '\0'))
        *below = "";
    else
        return refuse(reading, "package %s has the entry %.200s outside " RT_PACKAGE_ROOT,
                      reading->path, name);
    if (strlen(*below) >= sizeof reading->package.files->name)
        return refuse(reading, "package %s has a name that is too long", reading->path);
    return ACL_SUCCESS;
}

static aclError
check_size(struct reading *reading, struct archive_entry *entry, const char *name)
{
    int64_t size = archive_entry_size(entry);

    if (!archive_entry_size_is_set(entry) || size < 0)
        return refuse(reading, "package %s does not say how long %.200s is", reading->path, name);
    if ((uint64_t)size > FILE_MOST)
        return refuse(reading, "package %s: %.200s has %lld bytes, more than the %llu allowed",
                      reading->path, name, (long long)size, (unsigned long long)FILE_MOST);
    reading->total += (uint64_t)size;
    if (reading->total > reading->most)
        return refuse(reading, "package %s unpacks to more than %llu MiB: set %s higher",
                      reading->path, (unsigned long long)(reading->most / MIB),
                      hc_knob_info(KNOB_KERNEL_UNPACK_MAX)->env);
    return ACL_SUCCESS;
}

/* Room for one more file, zeroed and not yet counted. */
static struct rt_package_file *
next_file(struct rt_package *package)
{
    struct rt_package_file *files = package->files;

    if ((package->count & (package->count - 1)) == 0) { /* full: a power of two */
        uint32_t room = package->count == 0 ? 1 : 2 * package->count;

        files = hc_realloc(files, room * sizeof *files);
        if (files == NULL)
            return NULL;
        package->files = files;
    }
    memset(&files[package->count], 0, sizeof *files);
    return &files[package->count];
}

/* Hashes the entry's content, and keeps it in file->bytes if that is there. */
static aclError
read_content(struct reading *reading, struct rt_package_file *file)
{
    crypto_hash_sha256_state hash;
    uint8_t chunk[16384];
    uint64_t done = 0;

    crypto_hash_sha256_init(&hash);
    while (done < file->len) {
        size_t want = file->len - done < sizeof chunk ? (size_t)(file->len - done) : sizeof chunk;
        la_ssize_t got = archive_read_data(reading->archive, chunk, want);

        if (got < 0)
            return refuse_archive(reading);
        if (got == 0)
            return refuse(reading, "package %s is damaged: %s is cut off", reading->path,
                          file->name);
        crypto_hash_sha256_update(&hash, chunk, (unsigned long long)got);
        if (file->bytes != NULL)
            memcpy(file->bytes + done, chunk, (size_t)got);
        done += (uint64_t)got;
    }
    crypto_hash_sha256_final(&hash, file->sha256);
    return ACL_SUCCESS;
}

static aclError
read_file_entry(struct reading *reading, const char *name, uint64_t len)
{
    struct rt_package_file *file;

    if (rt_package_find(&reading->package, name) != NULL)
        return refuse(reading, "package %s has %.200s twice", reading->path, name);
    file = next_file(&reading->package);
    if (file == NULL)
        return rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    snprintf(file->name, sizeof file->name, "%s", name);
    file->len = len;
    if (strcmp(name, RT_PACKAGE_MANIFEST) == 0 ||
        (reading->want != NULL && strcmp(name, reading->want) == 0)) {
        file->bytes = hc_zalloc(len + 1); /* the manifest is read as a text */
        if (file->bytes == NULL)
            return rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    }
    reading->package.count++; /* from here on, fini() frees the bytes */
    return read_content(reading, file);
}

static aclError
read_entry(struct reading *reading, struct archive_entry *entry)
{
    const char *name = "";
    aclError rc;

    if (++reading->entries > ENTRIES_MOST)
        return refuse(reading, "package %s has more than %d entries", reading->path, ENTRIES_MOST);
    rc = check_name(reading, entry, &name);
    if (rc != ACL_SUCCESS)
        return rc;
    if (archive_entry_filetype(entry) == AE_IFDIR)
        return ACL_SUCCESS;
    if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry) != NULL ||
        archive_entry_symlink(entry) != NULL)
        return refuse(reading, "package %s has the entry %.200s, which is not a plain file",
                      reading->path, name);
    if (name[0] == '\0' || name[0] == '/')
        return refuse(reading, "package %s has a file in the place of its root directory",
                      reading->path);
    rc = check_size(reading, entry, name);
    if (rc == ACL_SUCCESS)
        rc = read_file_entry(reading, name, (uint64_t)archive_entry_size(entry));
    return rc;
}

/* ---- the manifest ---- */

/* One line; *ours: it has our form. */
static aclError
check_manifest_line(struct reading *reading, char *line, bool *ours, bool *lists_want)
{
    size_t hex_len = 2 * crypto_hash_sha256_BYTES, got = 0;
    uint8_t sha256[crypto_hash_sha256_BYTES];
    const struct rt_package_file *file;
    const char *name = line + hex_len;

    *ours = strlen(line) > hex_len + 1 && (*name == ' ' || *name == '\t') &&
            sodium_hex2bin(sha256, sizeof sha256, line, hex_len, NULL, &got, NULL) == 0 &&
            got == sizeof sha256;
    if (!*ours)
        return ACL_SUCCESS;
    name += strspn(name, " \t");
    file = rt_package_find(&reading->package, name);
    if (file == NULL)
        return refuse(reading, "package %s lacks %.200s, which its manifest lists", reading->path,
                      name);
    if (memcmp(file->sha256, sha256, sizeof sha256) != 0)
        return refuse(reading, "package %s: %.200s is not the file its manifest lists",
                      reading->path, name);
    *lists_want = *lists_want || (reading->want != NULL && strcmp(name, reading->want) == 0);
    return ACL_SUCCESS;
}

static aclError
check_manifest(struct reading *reading)
{
    struct rt_package_file *manifest = rt_package_find(&reading->package, RT_PACKAGE_MANIFEST);
    bool any = false, lists_want = false;
    char *save = NULL;

    if (manifest == NULL)
        return ACL_SUCCESS;
    for (char *line = strtok_r((char *)manifest->bytes, "\r\n", &save); line != NULL;
         line = strtok_r(NULL, "\r\n", &save)) {
        bool ours = false;
        aclError rc = check_manifest_line(reading, line, &ours, &lists_want);

        if (rc != ACL_SUCCESS)
            return rc;
        any = any || ours;
    }
    if (reading->want != NULL && any && !lists_want &&
        rt_package_find(&reading->package, reading->want) != NULL)
        return refuse(reading, "package %s: its manifest does not list %s", reading->path,
                      reading->want);
    return ACL_SUCCESS;
}

/* ---- the archive ---- */

/* Reads one gzip stream; *began: it is an archive, so that no other place need be tried. */
static aclError
read_stream(struct reading *reading, const uint8_t *bytes, size_t len, bool *began)
{
    struct archive_entry *entry;
    aclError rc = ACL_SUCCESS;
    int next;

    *began = false;
    reading->archive = archive_read_new();
    if (reading->archive == NULL)
        return rt_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory");
    archive_read_support_filter_gzip(reading->archive);
    archive_read_support_format_tar(reading->archive);
    if (archive_read_open_memory(reading->archive, bytes, len) != ARCHIVE_OK)
        rc = refuse_archive(reading);
    while (rc == ACL_SUCCESS) {
        next = archive_read_next_header(reading->archive, &entry);
        if (next == ARCHIVE_EOF)
            break;
        if (next != ARCHIVE_OK && next != ARCHIVE_WARN) {
            rc = refuse_archive(reading);
            break;
        }
        *began = true;
        rc = read_entry(reading, entry);
    }
    if (rc == ACL_SUCCESS && !*began)
        rc = refuse(reading, "package %s is empty", reading->path);
    if (rc == ACL_SUCCESS)
        rc = check_manifest(reading);
    archive_read_free(reading->archive);
    return rc;
}

/* The next place from `at` on that looks like gzip, or len. */
static size_t
find_gzip(const uint8_t *bytes, size_t len, size_t at)
{
    for (; at + 2 < len; at++) {
        if (bytes[at] == 0x1f && bytes[at + 1] == 0x8b && bytes[at + 2] == 8)
            return at;
    }
    return len;
}

aclError
rt_package_read(struct rt_package *package, const uint8_t *bytes, size_t len, const char *path,
                const char *want, char *why, size_t why_len)
{
    struct reading reading = {.path = path, .want = want, .why = why, .why_len = why_len};
    aclError rc = refuse(&reading, "package %s is not a .tar.gz: it has no gzip stream", path);
    size_t at = find_gzip(bytes, len, 0);
    int64_t most_mib;
    bool began = false;

    if (hc_knob_int(KNOB_KERNEL_UNPACK_MAX, &most_mib) != HCCL_SUCCESS)
        return refuse(&reading, "%s is not a number in range",
                      hc_knob_info(KNOB_KERNEL_UNPACK_MAX)->env);
    reading.most = (uint64_t)most_mib * MIB;
    for (int i = 0; i < STREAMS_MOST && at < len && !began; i++) {
        reading.total = reading.entries = 0;
        rc = read_stream(&reading, bytes + at, len - at, &began);
        if (rc == ACL_SUCCESS) {
            *package = reading.package;
            why[0] = '\0'; /* of the places before */
            return rc;
        }
        rt_package_fini(&reading.package);
        at = find_gzip(bytes, len, at + 1);
    }
    return rc;
}
