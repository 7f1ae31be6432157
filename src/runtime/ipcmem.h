/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ipcmem: pieces of device memory that other processes map by a text key (inside this layer only).
 *
 * An exported piece is a ticket (share.h) about the arena's file; an imported one is a mapping of
 * that file's pages. One lock covers both lists.
 */
#ifndef HC_RUNTIME_IPCMEM_H
#define HC_RUNTIME_IPCMEM_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/runtime.h"

/* `ptr` to `ptr` + `size` lies in one device allocation. */
aclError rt_ipcmem_export(void *ptr, uint64_t size, bool any_pid, char key[65]);
aclError rt_ipcmem_allow(const char *key, const int32_t *pids, size_t pid_num);

/* The same key again: the same address, to be closed once more. */
aclError rt_ipcmem_import(const char *key, int32_t device, void **ptr);

/* An import if this process has one of the key, else its export. */
aclError rt_ipcmem_close(const char *key);

#endif
