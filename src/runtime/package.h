/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * package: reads a kernel package (.tar.gz) from memory into memory.
 *
 * Whoever made the archive is not trusted: nothing is unpacked to disk, only plain files below
 * aicpu_kernels_device/ are accepted, and sizes are limited before anything is read. Bytes before
 * the gzip stream (a vendor's header) and after it (a signature) are stepped over.
 *
 * The manifest bin_hash.cfg has one line a file, "<sha-256 in hexadecimal>  <file name>"; when it
 * is there, what it lists must match, and the wanted file must be listed. Lines that look
 * otherwise (another packager's format) are not ours to judge.
 */
#ifndef HC_RUNTIME_PACKAGE_H
#define HC_RUNTIME_PACKAGE_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/runtime.h"

#define RT_PACKAGE_ROOT "aicpu_kernels_device/"
#define RT_PACKAGE_MANIFEST "bin_hash.cfg"

struct rt_package_file {
    char name[256]; /* below the root directory */
    uint64_t len;
    uint8_t sha256[32];
    uint8_t *bytes; /* [len], if it was wanted; else NULL */
};

struct rt_package {
    struct rt_package_file *files;
    uint32_t count;
};

/*
 * Reads all of the archive and keeps the content of the file `want` (NULL: of none). `path` is for
 * messages. ACL_ERROR_RT_PARAM_INVALID with the reason in why[why_len], not logged: the package is
 * refused; ACL_ERROR_RT_MEMORY_ALLOCATION. *package is set only on success.
 */
aclError rt_package_read(struct rt_package *package, const uint8_t *bytes, size_t len,
                         const char *path, const char *want, char *why, size_t why_len);

/* Fine for a zeroed package. */
void rt_package_fini(struct rt_package *package);

struct rt_package_file *rt_package_find(const struct rt_package *package, const char *name);

#endif
