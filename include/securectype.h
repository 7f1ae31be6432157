/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * securectype: limits and the result type of the bounds-checked functions. Include "securec.h".
 *
 * Each macro may be defined beforehand; then that definition stands.
 */
#ifndef SECURECTYPE_H
#define SECURECTYPE_H

#include <stddef.h>

/* Largest `destMax` that the string and print functions accept, in bytes. */
#ifndef SECUREC_STRING_MAX_LEN
#define SECUREC_STRING_MAX_LEN 0x7fffffffUL
#endif

/* Largest `destMax` that the memory functions accept, in bytes. */
#ifndef SECUREC_MEM_MAX_LEN
#define SECUREC_MEM_MAX_LEN 0x7fffffffUL
#endif

/* The same limits in wide characters. */
#ifndef SECUREC_WCHAR_STRING_MAX_LEN
#define SECUREC_WCHAR_STRING_MAX_LEN (SECUREC_STRING_MAX_LEN / sizeof(wchar_t))
#endif

#ifndef SECUREC_WCHAR_MEM_MAX_LEN
#define SECUREC_WCHAR_MEM_MAX_LEN (SECUREC_MEM_MAX_LEN / sizeof(wchar_t))
#endif

#ifndef SECUREC_DEFINED_ERRNO_TYPE
#define SECUREC_DEFINED_ERRNO_TYPE
typedef int errno_t;
#endif

#endif
