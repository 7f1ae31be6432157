/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * securec: bounds-checked memory, string, print and scan functions (`libc_sec`).
 *
 * `destMax` is the size of the destination, with room for the terminator where there is one;
 * sizes of the wide functions are in wchar_t. A call that would overrun is refused and resets the
 * destination: memory functions clear all of it, string and print functions make it "".
 *
 * Memory and string functions return EOK or one of the positive codes below, print functions the
 * number of characters written or -1, scan functions the number of items assigned or -1. `errno`
 * is not set, no handler runs, nothing is printed. All functions are safe from any thread as far
 * as their buffers are not shared.
 *
 * These are not the functions of C11 Annex K, which share names but neither parameters nor codes.
 *
 * Source: spec, securec, sections 2 to 4.
 */
#ifndef SECUREC_H
#define SECUREC_H

#include "securectype.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef EOK
#define EOK 0
#endif

/* A pointer is NULL; the destination was not touched. */
#ifndef EINVAL
#define EINVAL 22
#endif

/* `destMax` is 0 or above the limit; the destination was not touched. */
#ifndef ERANGE
#define ERANGE 34
#endif

/* The source is NULL, or the destination had no terminator; the destination was reset. */
#ifndef EINVAL_AND_RESET
#define EINVAL_AND_RESET 150
#endif

/* The result does not fit; the destination was reset. */
#ifndef ERANGE_AND_RESET
#define ERANGE_AND_RESET 162
#endif

/* Source and destination overlap; the destination was reset. */
#ifndef EOVERLAP_AND_RESET
#define EOVERLAP_AND_RESET 182
#endif

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/**
 * Version text of this library, for example "1.1.16"; never NULL, lives as long as the process.
 * @param verNumber  out  the same as a number; may be NULL
 */
const char *GetHwSecureCVersion(unsigned short *verNumber);

/**
 * Set `count` bytes of dest to `c`.
 * @return EOK; ERANGE: destMax is above the limit, or 0 while count > 0 or dest is NULL; EINVAL:
 *         dest is NULL; ERANGE_AND_RESET: count > destMax, and all destMax bytes are now `c`.
 */
errno_t memset_s(void *dest, size_t destMax, int c, size_t count);

/**
 * Copy `count` bytes. A destMax of 0 is refused, even for count 0.
 * @return EOK; ERANGE; EINVAL: dest is NULL; and with dest cleared: EINVAL_AND_RESET: src is NULL;
 *         ERANGE_AND_RESET: count > destMax; EOVERLAP_AND_RESET: the ranges overlap (dest == src
 *         is fine and copies nothing).
 */
errno_t memcpy_s(void *dest, size_t destMax, const void *src, size_t count);

/** As memcpy_s, for ranges that may overlap. */
errno_t memmove_s(void *dest, size_t destMax, const void *src, size_t count);

/**
 * Copy a string with its terminator.
 * @return EOK; ERANGE; EINVAL: strDest is NULL; and with strDest "": EINVAL_AND_RESET: strSrc is
 *         NULL; ERANGE_AND_RESET: it does not fit; EOVERLAP_AND_RESET.
 */
errno_t strcpy_s(char *strDest, size_t destMax, const char *strSrc);

/**
 * Copy at most `count` characters of a string and always terminate; the rest is not padded.
 * @return as strcpy_s; ERANGE_AND_RESET also when count is above the limit. count 0 gives "".
 */
errno_t strncpy_s(char *strDest, size_t destMax, const char *strSrc, size_t count);

/**
 * Append a string.
 * @return as strcpy_s; EINVAL_AND_RESET also when strDest has no terminator within destMax,
 *         ERANGE_AND_RESET also when strDest == strSrc.
 */
errno_t strcat_s(char *strDest, size_t destMax, const char *strSrc);

/** Append at most `count` characters of a string. @return as strcat_s. */
errno_t strncat_s(char *strDest, size_t destMax, const char *strSrc, size_t count);

/**
 * Print into a buffer; all or nothing. A format with %n is refused.
 * @return characters written, without the terminator (0 is possible); -1: a bad argument, a format
 *         error, or destMax characters or more are needed. Then a usable strDest is "".
 */
int sprintf_s(char *strDest, size_t destMax, const char *format, ...);
int vsprintf_s(char *strDest, size_t destMax, const char *format, va_list argList);

/**
 * Print at most `count` characters (without the terminator) into a buffer.
 * @return as sprintf_s; -1 also when the text was cut. Cut text survives only if count < destMax.
 */
int snprintf_s(char *strDest, size_t destMax, size_t count, const char *format, ...);
int vsnprintf_s(char *strDest, size_t destMax, size_t count, const char *format, va_list argList);

/** As sprintf_s, but text that is too long is cut: then the result is destMax - 1. */
int snprintf_truncated_s(char *strDest, size_t destMax, const char *format, ...);
int vsnprintf_truncated_s(char *strDest, size_t destMax, const char *format, va_list argList);

/**
 * Scan. %s, %c and %[ take one more argument right after their pointer: the size of its buffer in
 * characters (size_t or unsigned int), terminator included for %s and %[.
 * @return items assigned; a string that does not fit ends the scan and becomes "". -1: a NULL
 *         buffer or format, empty input, or input above the limit.
 */
int sscanf_s(const char *buffer, const char *format, ...);
int vsscanf_s(const char *buffer, const char *format, va_list argList);
int fscanf_s(FILE *stream, const char *format, ...);
int vfscanf_s(FILE *stream, const char *format, va_list argList);
int scanf_s(const char *format, ...);
int vscanf_s(const char *format, va_list argList);

/**
 * The next token of a string, terminated in place. First call: strToken; later calls: NULL.
 * @param context  in, out  where the next call goes on
 * @return the token; NULL: none is left, or an argument is NULL that must not be.
 */
char *strtok_s(char *strToken, const char *strDelimit, char **context);

/**
 * Read a line of at most destMax - 1 characters from stdin, without its line end.
 * @return buffer; NULL: a bad argument, or the end of the input.
 */
char *gets_s(char *buffer, size_t destMax);

/* The wide namesakes. Same results; every size and count is in wchar_t. */
errno_t wmemcpy_s(wchar_t *dest, size_t destMax, const wchar_t *src, size_t count);
errno_t wmemmove_s(wchar_t *dest, size_t destMax, const wchar_t *src, size_t count);
errno_t wcscpy_s(wchar_t *strDest, size_t destMax, const wchar_t *strSrc);
errno_t wcsncpy_s(wchar_t *strDest, size_t destMax, const wchar_t *strSrc, size_t count);
errno_t wcscat_s(wchar_t *strDest, size_t destMax, const wchar_t *strSrc);
errno_t wcsncat_s(wchar_t *strDest, size_t destMax, const wchar_t *strSrc, size_t count);
wchar_t *wcstok_s(wchar_t *strToken, const wchar_t *strDelimit, wchar_t **context);
int swprintf_s(wchar_t *strDest, size_t destMax, const wchar_t *format, ...);
int vswprintf_s(wchar_t *strDest, size_t destMax, const wchar_t *format, va_list argList);
int swscanf_s(const wchar_t *buffer, const wchar_t *format, ...);
int vswscanf_s(const wchar_t *buffer, const wchar_t *format, va_list argList);
int fwscanf_s(FILE *stream, const wchar_t *format, ...);
int vfwscanf_s(FILE *stream, const wchar_t *format, va_list argList);
int wscanf_s(const wchar_t *format, ...);
int vwscanf_s(const wchar_t *format, va_list argList);

/* Entry points that objects built with other headers of this interface may refer to. Each does
 * what the function in its name does. */
errno_t strcpy_error(char *strDest, size_t destMax, const char *strSrc);
errno_t strncpy_error(char *strDest, size_t destMax, const char *strSrc, size_t count);
errno_t memset_sOptAsm(void *dest, size_t destMax, int c, size_t count);
errno_t memset_sOptTc(void *dest, size_t destMax, int c, size_t count);
errno_t memcpy_sOptAsm(void *dest, size_t destMax, const void *src, size_t count);
errno_t memcpy_sOptTc(void *dest, size_t destMax, const void *src, size_t count);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

/* Same results as the functions: compilers need no help to see through these calls. */
#define memset_sp(dest, destMax, c, count) memset_s((dest), (destMax), (c), (count))
#define memcpy_sp(dest, destMax, src, count) memcpy_s((dest), (destMax), (src), (count))
#define strcpy_sp(dest, destMax, src) strcpy_s((dest), (destMax), (src))
#define strncpy_sp(dest, destMax, src, count) strncpy_s((dest), (destMax), (src), (count))
#define strcat_sp(dest, destMax, src) strcat_s((dest), (destMax), (src))
#define strncat_sp(dest, destMax, src, count) strncat_s((dest), (destMax), (src), (count))

#endif
