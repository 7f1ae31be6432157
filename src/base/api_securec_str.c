/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * api_securec_str: strcpy_s, strncpy_s, strcat_s, strncat_s, strtok_s.
 *
 * A refused call empties the destination: only its first byte is written, however large it is.
 *
 * "Overlap" compares the bytes that the call would read with those it would write. A source
 * that is cut short by `count` is not read as far as its terminator; I2 cuts it, too.
 */
#define _POSIX_C_SOURCE 200809L
#include "base/securec_impl.h"

#include <string.h>

#define LIMIT SECUREC_STRING_MAX_LEN

static errno_t
str_reset(char *dest, errno_t rc)
{
    dest[0] = '\0';
    return rc;
}

/* Copy at most `count` characters. */
static errno_t
str_copy(char *dest, size_t dest_max, const char *src, size_t count)
{
    size_t len = strnlen(src, securec_min(count, dest_max));

    if (len >= dest_max)
        return str_reset(dest, ERANGE_AND_RESET);
    if (dest != src) {
        if (securec_overlap(dest, len + 1, src, securec_min(len + 1, count)))
            return str_reset(dest, EOVERLAP_AND_RESET);
        memcpy(dest, src, len);
    }
    dest[len] = '\0';
    return EOK;
}

errno_t
strcpy_s(char *strDest, size_t destMax, const char *strSrc)
{
    errno_t rc = securec_usable(strDest, destMax, LIMIT);

    if (rc != EOK)
        return rc;
    if (strSrc == NULL)
        return str_reset(strDest, EINVAL_AND_RESET);
    return str_copy(strDest, destMax, strSrc, SIZE_MAX);
}

errno_t
strncpy_s(char *strDest, size_t destMax, const char *strSrc, size_t count)
{
    errno_t rc = securec_usable(strDest, destMax, LIMIT);

    if (rc != EOK)
        return rc;
    if (strSrc == NULL)
        return str_reset(strDest, EINVAL_AND_RESET);
    if (count > LIMIT)
        return str_reset(strDest, ERANGE_AND_RESET);
    if (count == 0)
        return str_reset(strDest, EOK);
    return str_copy(strDest, destMax, strSrc, count);
}

/* Append at most `count` characters. */
static errno_t
str_append(char *dest, size_t dest_max, const char *src, size_t count)
{
    size_t old_len = strnlen(dest, dest_max);

    if (old_len == dest_max)
        return str_reset(dest, EINVAL_AND_RESET);

    size_t room = dest_max - old_len;
    size_t len = strnlen(src, securec_min(count, room));
    size_t written_len = securec_min(old_len + len + 1, dest_max);
    size_t read_len = securec_min(len + 1, securec_min(count, room));

    if (dest != src && securec_overlap(dest, written_len, src, read_len))
        return str_reset(dest, EOVERLAP_AND_RESET);
    if (len >= room || dest == src)
        return str_reset(dest, ERANGE_AND_RESET);
    memcpy(dest + old_len, src, len);
    dest[old_len + len] = '\0';
    return EOK;
}

errno_t
strcat_s(char *strDest, size_t destMax, const char *strSrc)
{
    errno_t rc = securec_usable(strDest, destMax, LIMIT);

    if (rc != EOK)
        return rc;
    if (strSrc == NULL)
        return str_reset(strDest, EINVAL_AND_RESET);
    return str_append(strDest, destMax, strSrc, SIZE_MAX);
}

errno_t
strncat_s(char *strDest, size_t destMax, const char *strSrc, size_t count)
{
    errno_t rc = securec_usable(strDest, destMax, LIMIT);

    if (rc != EOK)
        return rc;
    if (strSrc == NULL)
        return str_reset(strDest, EINVAL_AND_RESET);
    if (count > LIMIT)
        return str_reset(strDest, ERANGE_AND_RESET);
    return str_append(strDest, destMax, strSrc, count);
}

char *
strtok_s(char *strToken, const char *strDelimit, char **context)
{
    if (strDelimit == NULL || context == NULL)
        return NULL;

    char *token = strToken != NULL ? strToken : *context;
    if (token == NULL)
        return NULL;
    token += strspn(token, strDelimit);

    char *end = token + strcspn(token, strDelimit);
    *context = *end == '\0' ? end : end + 1;
    if (end == token)
        return NULL;
    *end = '\0';
    return token;
}

/* Where the *_sp macros go when their fast path does not apply. */

errno_t
strcpy_error(char *strDest, size_t destMax, const char *strSrc)
{
    return strcpy_s(strDest, destMax, strSrc);
}

errno_t
strncpy_error(char *strDest, size_t destMax, const char *strSrc, size_t count)
{
    return strncpy_s(strDest, destMax, strSrc, count);
}
