/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * install: where the installation is, and its small files (inside this layer and for the tools).
 *
 * The root is ASCEND_HOME_PATH, or the directory above the one that holds this code
 * (<prefix>/lib64/libhcomm.so, <prefix>/bin/hcomm). Nothing is cached: the environment decides at
 * every call, and a test can point each case at a directory of its own.
 */
#ifndef HC_RUNTIME_INSTALL_H
#define HC_RUNTIME_INSTALL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "runtime/runtime.h"

#define RT_PATH_LEN 4096

/* "<root>/<fmt...>" into path[RT_PATH_LEN]. ACL_ERROR_RT_PARAM_INVALID (logged): too long. */
aclError rt_install_path(char *path, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* "<dir>/<name>" into path[RT_PATH_LEN]; as rt_install_path. */
aclError rt_path_join(char *path, const char *dir, const char *name);

/*
 * Files. These return 0 or an errno value and log nothing: what a missing file means is for the
 * caller to say. EFBIG: longer than `most` bytes.
 */
int rt_file_read(const char *path, size_t most, uint8_t **bytes, size_t *len);

/* As rt_file_read into `buf`, and a final NUL; at most `size` - 1 bytes. */
int rt_file_read_text(const char *path, char *buf, size_t size);

/* Writes a new file and moves it over `path`: a reader sees the old content or the new. */
int rt_file_replace(const char *path, const void *bytes, size_t len, mode_t mode);

/* As rt_file_replace, but EEXIST when somebody made `path` first. */
int rt_file_create(const char *path, const void *bytes, size_t len, mode_t mode);

/* Makes the directory and those above it. */
int rt_dir_make(const char *path, mode_t mode);

/* Locks out other writers of the directory's files; *fd is closed to unlock. */
int rt_dir_lock(const char *path, int *fd);

#endif
