/* SPDX-License-Identifier: BSD-3-Clause */
/* A kernel package: signature, archive, manifest. */
#define _GNU_SOURCE
#include "runtime/package.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "runtime/install.h"
#include "runtime/sign.h"
#include "tests/fuzz/fuzz.h"

static void
add(struct archive *archive, const char *name, const char *content)
{
    struct archive_entry *entry = archive_entry_new();

    archive_entry_set_pathname(entry, name);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, (int64_t)strlen(content));
    archive_write_header(archive, entry);
    archive_write_data(archive, content, strlen(content));
    archive_entry_free(entry);
}

/* `compressed` false: a mutation reaches the tar reader instead of the checksum of gzip. */
static size_t
make_archive(uint8_t *into, size_t room, bool compressed)
{
    struct archive *archive = archive_write_new();
    size_t len = 0;

    if (compressed)
        archive_write_add_filter_gzip(archive);
    archive_write_set_format_pax_restricted(archive);
    archive_write_set_bytes_in_last_block(archive, 1);
    if (archive_write_open_memory(archive, into, room, &len) != ARCHIVE_OK)
        abort();
    add(archive, RT_PACKAGE_ROOT "libk.so", "not really code");
    add(archive, RT_PACKAGE_ROOT RT_PACKAGE_MANIFEST,
        "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff  libother.so\n");
    archive_write_close(archive);
    archive_write_free(archive);
    return len;
}

size_t
fuzz_seed(unsigned n, uint8_t *into, size_t room)
{
    char signed_path[RT_PATH_LEN];
    uint8_t *bytes = NULL;
    size_t len;

    if (n > 2)
        return 0;
    len = make_archive(into, room, n != 2);
    if (n != 1)
        return len;
    setenv("ASCEND_HOME_PATH", fuzz_dir(), 1);
    if (rt_sign_file(fuzz_file(into, len, ".tar.gz"), signed_path) != ACL_SUCCESS ||
        rt_file_read(signed_path, room, &bytes, &len) != 0)
        abort();
    memcpy(into, bytes, len);
    hc_free(bytes);
    return len;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct rt_package package = {0};
    size_t content_len = 0;
    char why[512] = "";

    setenv("ASCEND_HOME_PATH", fuzz_dir(), 1);
    setenv("HCOMM_KERNEL_UNPACK_MAX", "1", 1);
    (void)rt_verify(bytes, len, &content_len);
    (void)rt_verify_detached(bytes, len / 2, bytes + len / 2, len - len / 2);
    if (rt_package_read(&package, bytes, len, "input", "libk.so", why, sizeof why) == ACL_SUCCESS)
        rt_package_fini(&package);
    return 0;
}
