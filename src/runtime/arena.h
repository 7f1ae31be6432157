/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * arena: where device memory and pinned host memory live (inside this layer only).
 *
 * Descriptors are scarce, devices need not be: one memfd holds the memory of all devices of the
 * process, device d at [d * capacity, (d + 1) * capacity), and a second one holds pinned host
 * memory. Address space is reserved for all devices at once, so that an address tells its device
 * by a division; a device's part is mapped when it is first used. An unused device costs nothing.
 * A device's part begins with the notify page area: words that notifies are made of.
 *
 * I1  Both files and reservations are made at first use and stay for the process' lifetime;
 *     their addresses never change, so a reader needs no lock once it has seen `ready`.
 * I2  An arena's ranges are under its lock; memory is cleaned outside of it.
 * I3  Free memory that range_alloc calls clean is zero: large blocks give their pages back to the
 *     system when they are freed, small ones are cleared when they are handed out again.
 */
#ifndef HC_RUNTIME_ARENA_H
#define HC_RUNTIME_ARENA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/runtime.h"

#define RT_ARENA_HOST (-1) /* instead of a device: pinned host memory */
#define RT_NOTIFY_AREA (4u << 20)
#define RT_NOTIFY_STRIDE 64u /* bytes from one notify word to the next */
/* No process that has the descriptor can shrink the file and so make others fault; holes may be
 * punched. */
#define RT_ARENA_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
#define RT_ARENA_FILES 3u /* numbers of shared files below this are the arenas' */

/* Zeroed memory. ACL_ERROR_RT_MEMORY_ALLOCATION (logged); ACL_ERROR_RT_INVALID_DEVICEID (logged).
 */
aclError rt_arena_alloc(int32_t device, uint64_t size, void **ptr);

/* `ptr` is the start of a block of device memory (`host` false) or pinned memory.
 * ACL_ERROR_RT_PARAM_INVALID (logged, in the name of `function`). */
aclError rt_arena_free(void *ptr, bool host, const char *function);

/* true: `ptr` lies in an arena. The range's size is 0 when no block is there (any more). */
bool rt_arena_find(const void *ptr, struct rt_range *range);

/* Bytes of the device that are not taken, and all that can be. */
aclError rt_arena_usage(int32_t device, uint64_t *free_bytes, uint64_t *total);

/* Counts physical memory that lies elsewhere against the device's capacity, and back.
 * ACL_ERROR_RT_MEMORY_ALLOCATION (logged). */
aclError rt_arena_charge(int32_t device, uint64_t size);
void rt_arena_discharge(int32_t device, uint64_t size);

/* First of `*count` notify words of the device, RT_NOTIFY_STRIDE bytes apart; all zero at first. */
aclError rt_arena_notify_words(int32_t device, _Atomic uint64_t **base, uint32_t *count);

/* As rt_shared_find: in one mapped arena, blocks or notify words. */
bool rt_arena_place(const void *ptr, uint64_t len, uint64_t *file, uint64_t *offset);

/* As rt_shared_file, and nothing is logged. *known: there is such a file. */
int rt_arena_file(uint64_t file, uint64_t *len, bool *known);

/* The file behind an arena address and the place in it; -1: not in an arena. The descriptor stays
 * the arena's. */
int rt_arena_fd(const void *ptr, uint64_t *offset);

#endif
