/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kernel_elf: what must be known of a kernel library before it is loaded once for each device.
 */
#ifndef HC_RUNTIME_KERNEL_ELF_H
#define HC_RUNTIME_KERNEL_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 64-bit ELF shared object of this machine's kind, with its tables inside the file. */
bool rt_elf_loadable(const uint8_t *bytes, size_t len);

/*
 * Whether the library may keep data of its own between calls: static variables, also thread-local
 * ones. In doubt (no section table, or no symbols to tell its variables from the compiler's) yes.
 */
bool rt_elf_has_state(const uint8_t *bytes, size_t len);

/*
 * Makes the process-wide symbols that the library defines (STB_GNU_UNIQUE: C++ inline and template
 * statics) ordinary ones. Otherwise the loader would share them between all copies of the
 * library, and so between devices.
 */
void rt_elf_make_private(uint8_t *bytes, size_t len);

#endif
