/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * api_securec_wide: the wchar_t forms of all of the above.
 *
 * Sizes and counts are in wide characters; otherwise each function is its narrow namesake, and
 * the reasons are given there (api_securec_mem.c, _str.c, _print.c, _scan.c). Copies of memory
 * become copies of bytes; a count too large to multiply stays too large.
 */
#define _POSIX_C_SOURCE 200809L
#include "base/securec_impl.h"

#include <wchar.h>

#define LIMIT SECUREC_WCHAR_STRING_MAX_LEN

static size_t
wide_len(size_t count)
{
    return count > SECUREC_WCHAR_MEM_MAX_LEN ? SIZE_MAX : count * sizeof(wchar_t);
}

errno_t
wmemcpy_s(wchar_t *dest, size_t destMax, const wchar_t *src, size_t count)
{
    return memcpy_s(dest, wide_len(destMax), src, wide_len(count));
}

errno_t
wmemmove_s(wchar_t *dest, size_t destMax, const wchar_t *src, size_t count)
{
    return memmove_s(dest, wide_len(destMax), src, wide_len(count));
}

static errno_t
wcs_reset(wchar_t *dest, errno_t rc)
{
    dest[0] = L'\0';
    return rc;
}

static bool
wcs_overlap(const wchar_t *a, size_t a_count, const wchar_t *b, size_t b_count)
{
    return securec_overlap(a, a_count * sizeof *a, b, b_count * sizeof *b);
}

/* Copy at most `count` characters. */
static errno_t
wcs_copy(wchar_t *dest, size_t dest_max, const wchar_t *src, size_t count)
{
    size_t len = wcsnlen(src, securec_min(count, dest_max));

    if (len >= dest_max)
        return wcs_reset(dest, ERANGE_AND_RESET);
    if (dest != src) {
        if (wcs_overlap(dest, len + 1, src, securec_min(len + 1, count)))
            return wcs_reset(dest, EOVERLAP_AND_RESET);
        wmemcpy(dest, src, len);
    }
    dest[len] = L'\0';
    return EOK;
}

errno_t
wcscpy_s(wchar_t *strDest, size_t destMax, const wchar_t *strSrc)
{
    errno_t rc = securec_usable(strDest, destMax, LIMIT);

    if (rc != EOK)
        return rc;
    if (strSrc == NULL)
        return wcs_reset(strDest, EINVAL_AND_RESET);
    return wcs_copy(strDest, destMax, strSrc, SIZE_MAX);
}

errno_t
wcsncpy_s(wchar_t *strDest, size_t destMax, const wchar_t *strSrc, size_t count)
{
    errno_t rc = securec_usable(strDest, destMax, LIMIT);

    if (rc != EOK)
        return rc;
    if (strSrc == NULL)
        return wcs_reset(strDest, EINVAL_AND_RESET);
    if (count > LIMIT)
        return wcs_reset(strDest, ERANGE_AND_RESET);
    if (count == 0)
        return wcs_reset(strDest, EOK);
    return wcs_copy(strDest, destMax, strSrc, count);
}

/* Append at most `count` characters. */
static errno_t
wcs_append(wchar_t *dest, size_t dest_max, const wchar_t *src, size_t count)
{
    size_t old_len = wcsnlen(dest, dest_max);

    if (old_len == dest_max)
        return wcs_reset(dest, EINVAL_AND_RESET);

    size_t room = dest_max - old_len;
    size_t len = wcsnlen(src, securec_min(count, room));
    size_t written_len = securec_min(old_len + len + 1, dest_max);
    size_t read_len = securec_min(len + 1, securec_min(count, room));

    if (dest != src && wcs_overlap(dest, written_len, src, read_len))
        return wcs_reset(dest, EOVERLAP_AND_RESET);
    if (len >= room || dest == src)
        return wcs_reset(dest, ERANGE_AND_RESET);
    wmemcpy(dest + old_len, src, len);
    dest[old_len + len] = L'\0';
    return EOK;
}

errno_t
wcscat_s(wchar_t *strDest, size_t destMax, const wchar_t *strSrc)
{
    errno_t rc = securec_usable(strDest, destMax, LIMIT);

    if (rc != EOK)
        return rc;
    if (strSrc == NULL)
        return wcs_reset(strDest, EINVAL_AND_RESET);
    return wcs_append(strDest, destMax, strSrc, SIZE_MAX);
}

errno_t
wcsncat_s(wchar_t *strDest, size_t destMax, const wchar_t *strSrc, size_t count)
{
    errno_t rc = securec_usable(strDest, destMax, LIMIT);

    if (rc != EOK)
        return rc;
    if (strSrc == NULL)
        return wcs_reset(strDest, EINVAL_AND_RESET);
    if (count > LIMIT)
        return wcs_reset(strDest, ERANGE_AND_RESET);
    return wcs_append(strDest, destMax, strSrc, count);
}

wchar_t *
wcstok_s(wchar_t *strToken, const wchar_t *strDelimit, wchar_t **context)
{
    if (strDelimit == NULL || context == NULL)
        return NULL;

    wchar_t *token = strToken != NULL ? strToken : *context;
    if (token == NULL)
        return NULL;
    token += wcsspn(token, strDelimit);

    wchar_t *end = token + wcscspn(token, strDelimit);
    *context = *end == L'\0' ? end : end + 1;
    if (end == token)
        return NULL;
    *end = L'\0';
    return token;
}

#define WIDE_(text) L##text
#define WIDE(text) WIDE_(text)

static bool
format_has_n(const wchar_t *format)
{
    const wchar_t *at = format;

    while ((at = wcschr(at, L'%')) != NULL) {
        at++;
        if (*at == L'%') {
            at++;
            continue;
        }
        at += wcsspn(at, WIDE(SECUREC_SPEC_CHARS));
        if (*at == L'f' && at[-1] == L'w')
            at += 1 + wcsspn(at + 1, WIDE(SECUREC_SPEC_CHARS));
        if (*at == L'n')
            return true;
    }
    return false;
}

/* libc does not tell text that is too long from text that is wrong: both are negative. */
int
vswprintf_s(wchar_t *strDest, size_t destMax, const wchar_t *format, va_list argList)
{
    int len = -1;

    if (securec_usable(strDest, destMax, LIMIT) != EOK)
        return -1;
    if (format != NULL && !format_has_n(format))
        len = vswprintf(strDest, destMax, format, argList);
    if (len < 0 || (size_t)len >= destMax) {
        strDest[0] = L'\0';
        return -1;
    }
    return len;
}

int
swprintf_s(wchar_t *strDest, size_t destMax, const wchar_t *format, ...)
{
    va_list args;

    va_start(args, format);
    int len = vswprintf_s(strDest, destMax, format, args);
    va_end(args);
    return len;
}

/* A directive is short ASCII: each character is its own wide form. */
static void
spec_widen(wchar_t wide[32], const char *spec)
{
    size_t at = 0;

    do
        wide[at] = (wchar_t)spec[at];
    while (spec[at++] != '\0' && at < 32);
}

static wint_t
string_peek(struct securec_input *in)
{
    wchar_t ch = *(const wchar_t *)in->text;

    return ch == L'\0' ? WEOF : (wint_t)ch;
}

static void
string_take(struct securec_input *in)
{
    in->text = (const wchar_t *)in->text + 1;
}

static int
string_number(struct securec_input *in, const char *spec, void *arg, int *used)
{
    wchar_t wide[32];

    spec_widen(wide, spec);
    int rc = arg == NULL ? swscanf(in->text, wide, used) : swscanf(in->text, wide, arg, used);
    if (*used > 0)
        in->text = (const wchar_t *)in->text + *used;
    return rc;
}

static const struct securec_input_ops string_ops = {
    .wide = true,
    .peek = string_peek,
    .take = string_take,
    .number = string_number,
};

static wint_t
stream_peek(struct securec_input *in)
{
    wint_t ch = getwc(in->stream);

    return ch == WEOF ? WEOF : ungetwc(ch, in->stream);
}

static void
stream_take(struct securec_input *in)
{
    (void)getwc(in->stream);
}

static int
stream_number(struct securec_input *in, const char *spec, void *arg, int *used)
{
    wchar_t wide[32];

    spec_widen(wide, spec);
    return arg == NULL ? fwscanf(in->stream, wide, used) : fwscanf(in->stream, wide, arg, used);
}

static const struct securec_input_ops stream_ops = {
    .wide = true,
    .peek = stream_peek,
    .take = stream_take,
    .number = stream_number,
};

int
vswscanf_s(const wchar_t *buffer, const wchar_t *format, va_list argList)
{
    struct securec_input in = {.ops = &string_ops, .text = buffer};

    if (buffer == NULL || format == NULL || buffer[0] == L'\0')
        return -1;
    if (wcsnlen(buffer, (size_t)LIMIT + 1) > LIMIT)
        return -1;
    return securec_scan(&in, format, argList);
}

int
vfwscanf_s(FILE *stream, const wchar_t *format, va_list argList)
{
    struct securec_input in = {.ops = &stream_ops, .stream = stream};

    if (stream == NULL || format == NULL)
        return -1;
    flockfile(stream);
    int assigned = securec_scan(&in, format, argList);
    funlockfile(stream);
    return assigned;
}

int
vwscanf_s(const wchar_t *format, va_list argList)
{
    return vfwscanf_s(stdin, format, argList);
}

int
swscanf_s(const wchar_t *buffer, const wchar_t *format, ...)
{
    va_list args;

    va_start(args, format);
    int assigned = vswscanf_s(buffer, format, args);
    va_end(args);
    return assigned;
}

int
fwscanf_s(FILE *stream, const wchar_t *format, ...)
{
    va_list args;

    va_start(args, format);
    int assigned = vfwscanf_s(stream, format, args);
    va_end(args);
    return assigned;
}

int
wscanf_s(const wchar_t *format, ...)
{
    va_list args;

    va_start(args, format);
    int assigned = vwscanf_s(format, args);
    va_end(args);
    return assigned;
}
