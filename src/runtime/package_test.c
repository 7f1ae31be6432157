/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "runtime/package.h"

#include <archive.h>
#include <archive_entry.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "tests/support/test.h"

#define MIB ((size_t)1 << 20)

/* An archive in the making. */
struct maker {
    struct archive *archive;
    uint8_t *bytes;
    size_t room, len;
};

static void
make_begin(struct maker *maker)
{
    maker->room = 4 * MIB;
    maker->bytes = calloc(1, maker->room);
    maker->len = 0;
    maker->archive = archive_write_new();
    archive_write_add_filter_gzip(maker->archive);
    archive_write_set_format_pax_restricted(maker->archive);
    archive_write_set_bytes_in_last_block(maker->archive, 1);
    EXPECT_EQ(ARCHIVE_OK,
              archive_write_open_memory(maker->archive, maker->bytes, maker->room, &maker->len));
}

static void
make_entry(struct maker *maker, const char *name, unsigned type, const char *link, size_t len,
           const void *content)
{
    struct archive_entry *entry = archive_entry_new();
    static const uint8_t zeros[65536];

    archive_entry_set_pathname(entry, name);
    archive_entry_set_filetype(entry, type);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, (int64_t)len);
    if (link != NULL && type == AE_IFLNK)
        archive_entry_set_symlink(entry, link);
    else if (link != NULL)
        archive_entry_set_hardlink(entry, link);
    EXPECT_EQ(ARCHIVE_OK, archive_write_header(maker->archive, entry));
    while (content == NULL && len > 0) {
        size_t part = len < sizeof zeros ? len : sizeof zeros;

        archive_write_data(maker->archive, zeros, part);
        len -= part;
    }
    if (len > 0)
        archive_write_data(maker->archive, content, len);
    archive_entry_free(entry);
}

static void
make_file(struct maker *maker, const char *name, const char *content)
{
    make_entry(maker, name, AE_IFREG, NULL, strlen(content), content);
}

static void
make_end(struct maker *maker)
{
    EXPECT_EQ(ARCHIVE_OK, archive_write_close(maker->archive));
    archive_write_free(maker->archive);
}

/* A manifest line for `name` with that content. */
static void
manifest_line(char *text, const char *name, const char *content)
{
    uint8_t sha256[32];
    char hex[65];

    crypto_hash_sha256(sha256, (const uint8_t *)content, strlen(content));
    sodium_bin2hex(hex, sizeof hex, sha256, sizeof sha256);
    sprintf(text + strlen(text), "%s  %s\n", hex, name);
}

static void
make_good(struct maker *maker)
{
    char manifest[256] = "";

    make_begin(maker);
    make_entry(maker, "aicpu_kernels_device/", AE_IFDIR, NULL, 0, NULL);
    make_file(maker, "aicpu_kernels_device/a.so", "code of a");
    make_file(maker, "aicpu_kernels_device/b.so", "code of b");
    manifest_line(manifest, "a.so", "code of a");
    manifest_line(manifest, "b.so", "code of b");
    make_file(maker, "aicpu_kernels_device/bin_hash.cfg", manifest);
    make_end(maker);
}

static void
expect_refused(struct maker *maker, const char *part)
{
    struct rt_package package = {NULL, 0};
    char why[512] = "";

    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, rt_package_read(&package, maker->bytes, maker->len,
                                                          "p.tar.gz", "a.so", why, sizeof why));
    EXPECT_CONTAINS(part, why);
    EXPECT_CONTAINS("p.tar.gz", why);
    EXPECT_NULL(package.files);
    free(maker->bytes);
}

/* One file below the root, or a link, is all there is. */
static void
expect_entry_refused(const char *name, unsigned type, const char *link, const char *part)
{
    struct maker maker;

    make_begin(&maker);
    make_entry(&maker, name, type, link, 0, NULL);
    make_end(&maker);
    expect_refused(&maker, part);
}

static void
expect_good(const uint8_t *bytes, size_t len)
{
    struct rt_package package = {NULL, 0};
    struct rt_package_file *file;
    char why[512] = "";

    EXPECT_EQ(0, rt_package_read(&package, bytes, len, "p.tar.gz", "a.so", why, sizeof why));
    EXPECT_STREQ("", why);
    EXPECT_EQ(3, package.count);
    file = rt_package_find(&package, "a.so");
    EXPECT_NOT_NULL(file);
    EXPECT_EQ(9, file->len);
    EXPECT_MEMEQ("code of a", file->bytes, 9);
    EXPECT_NULL(rt_package_find(&package, "b.so")->bytes);
    EXPECT_NULL(rt_package_find(&package, "c.so"));
    rt_package_fini(&package);
}

TEST(a_good_package_gives_its_file)
{
    struct maker maker;

    make_good(&maker);
    expect_good(maker.bytes, maker.len);
    free(maker.bytes);
}

/* The header holds the gzip magic once by accident. */
TEST(bytes_before_and_after_the_archive_are_stepped_over)
{
    const uint8_t header[] = "vendor header \x1f\x8b\x08 and more";
    struct maker maker;
    uint8_t *all;

    make_good(&maker);
    all = calloc(1, maker.len + 1000);
    memcpy(all, header, sizeof header);
    memcpy(all + sizeof header, maker.bytes, maker.len);
    memset(all + sizeof header + maker.len, 0xA5, 500);
    expect_good(all, sizeof header + maker.len + 500);
    free(all);
    free(maker.bytes);
}

TEST(a_package_without_manifest_is_fine)
{
    struct rt_package package = {NULL, 0};
    struct maker maker;
    char why[512] = "";

    make_begin(&maker);
    make_file(&maker, "./aicpu_kernels_device/a.so", "x");
    make_end(&maker);
    EXPECT_EQ(0, rt_package_read(&package, maker.bytes, maker.len, "p", "a.so", why, sizeof why));
    EXPECT_NOT_NULL(rt_package_find(&package, "a.so"));
    rt_package_fini(&package);
    free(maker.bytes);
}

TEST(a_manifest_of_another_form_is_ignored)
{
    struct rt_package package = {NULL, 0};
    struct maker maker;
    char why[512] = "";

    make_begin(&maker);
    make_file(&maker, "aicpu_kernels_device/a.so", "x");
    make_file(&maker, "aicpu_kernels_device/bin_hash.cfg", "[a.so]\nhash=123\n");
    make_end(&maker);
    EXPECT_EQ(0, rt_package_read(&package, maker.bytes, maker.len, "p", "a.so", why, sizeof why));
    rt_package_fini(&package);
    free(maker.bytes);
}

TEST(what_the_manifest_says_must_be_true)
{
    char manifest[256] = "";
    struct maker maker;

    manifest_line(manifest, "a.so", "code of a");
    make_begin(&maker);
    make_file(&maker, "aicpu_kernels_device/bin_hash.cfg", manifest);
    make_file(&maker, "aicpu_kernels_device/a.so", "c0de of a");
    make_end(&maker);
    expect_refused(&maker, "a.so is not the file its manifest lists");

    make_begin(&maker);
    make_file(&maker, "aicpu_kernels_device/bin_hash.cfg", manifest);
    make_end(&maker);
    expect_refused(&maker, "lacks a.so");

    manifest[0] = '\0';
    manifest_line(manifest, "b.so", "code of b");
    make_begin(&maker);
    make_file(&maker, "aicpu_kernels_device/bin_hash.cfg", manifest);
    make_file(&maker, "aicpu_kernels_device/a.so", "code of a");
    make_file(&maker, "aicpu_kernels_device/b.so", "code of b");
    make_end(&maker);
    expect_refused(&maker, "does not list a.so");
}

TEST(entries_that_lead_out_are_refused)
{
    expect_entry_refused("aicpu_kernels_device/../../etc/a.so", AE_IFREG, NULL, "leads out");
    expect_entry_refused("/aicpu_kernels_device/a.so", AE_IFREG, NULL, "leads out");
    expect_entry_refused("other/a.so", AE_IFREG, NULL, "outside aicpu_kernels_device/");
    expect_entry_refused("aicpu_kernels_devices/a.so", AE_IFREG, NULL, "outside");
    expect_entry_refused("aicpu_kernels_device/a.so", AE_IFLNK, "/etc/passwd", "not a plain file");
    expect_entry_refused("aicpu_kernels_device/a.so", AE_IFREG, "/etc/passwd", "not a plain file");
    expect_entry_refused("aicpu_kernels_device/a.so", AE_IFIFO, NULL, "not a plain file");
    expect_entry_refused("aicpu_kernels_device/a.so", AE_IFCHR, NULL, "not a plain file");
    expect_entry_refused("aicpu_kernels_device", AE_IFREG, NULL, "root directory");
}

TEST(bombs_are_refused)
{
    struct maker maker;
    char name[64];

    make_begin(&maker);
    make_entry(&maker, "aicpu_kernels_device/a.so", AE_IFREG, NULL, 64 * MIB + 1, NULL);
    make_end(&maker);
    expect_refused(&maker, "more than the 67108864 allowed");

    setenv("HCOMM_KERNEL_UNPACK_MAX", "3", 1);
    make_begin(&maker);
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "aicpu_kernels_device/%d.so", i);
        make_entry(&maker, name, AE_IFREG, NULL, MIB, NULL);
    }
    make_end(&maker);
    expect_refused(&maker, "more than 3 MiB: set HCOMM_KERNEL_UNPACK_MAX higher");

    make_begin(&maker);
    for (int i = 0; i < 4200; i++) {
        snprintf(name, sizeof name, "aicpu_kernels_device/%d/", i);
        make_entry(&maker, name, AE_IFDIR, NULL, 0, NULL);
    }
    make_end(&maker);
    expect_refused(&maker, "more than 4096 entries");
}

TEST(one_name_twice_is_refused)
{
    struct maker maker;

    make_begin(&maker);
    make_file(&maker, "aicpu_kernels_device/a.so", "one");
    make_file(&maker, "aicpu_kernels_device/a.so", "two");
    make_end(&maker);
    expect_refused(&maker, "a.so twice");
}

TEST(damaged_archives_are_refused)
{
    struct maker maker;

    maker.bytes = calloc(1, 100);
    maker.len = 100;
    expect_refused(&maker, "no gzip stream");

    make_begin(&maker);
    make_end(&maker);
    expect_refused(&maker, "empty");

    for (size_t cut = 1; cut < 200; cut += 20) {
        struct rt_package package = {NULL, 0};
        char why[512] = "";

        make_good(&maker);
        if (rt_package_read(&package, maker.bytes, maker.len > cut + 20 ? maker.len - cut - 20 : 0,
                            "p", "a.so", why, sizeof why) == 0)
            rt_package_fini(&package);
        else
            EXPECT_NE(0, why[0]);
        free(maker.bytes);
    }
}

/* Whatever is in the file, reading it ends with success or a reason. */
TEST(random_damage_does_no_harm)
{
    struct maker maker;

    srand(1);
    make_good(&maker);
    for (int i = 0; i < 400; i++) {
        struct rt_package package = {NULL, 0};
        char why[512] = "";
        size_t at = (size_t)rand() % maker.len;
        uint8_t before = maker.bytes[at];

        maker.bytes[at] = (uint8_t)rand();
        if (rt_package_read(&package, maker.bytes, maker.len, "p", "a.so", why, sizeof why) == 0)
            rt_package_fini(&package);
        EXPECT_EQ(0, hc_alloc_live());
        maker.bytes[at] = before;
    }
    free(maker.bytes);
}

TEST(every_failed_allocation_is_survived)
{
    struct rt_package package = {NULL, 0};
    struct maker maker;
    char why[512] = "";
    long nth = 0;
    aclError rc;

    make_good(&maker);
    test_expect_error("out of host memory");
    do {
        hc_alloc_fail_nth(nth++);
        rc = rt_package_read(&package, maker.bytes, maker.len, "p", "a.so", why, sizeof why);
        hc_alloc_fail_nth(-1);
        if (rc != 0) {
            EXPECT_EQ(ACL_ERROR_RT_MEMORY_ALLOCATION, rc);
            EXPECT_EQ(0, hc_alloc_live());
        }
    } while (rc != 0);
    rt_package_fini(&package);
    free(maker.bytes);
    EXPECT_TRUE(nth > 3);
}
