/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * api_securec_print: the sprintf_s family.
 *
 * The formatting is libc's vsnprintf. Ours are the checks, the refusal of %n and what becomes
 * of text that does not fit: sprintf_s drops it, snprintf_s keeps it when the caller asked for
 * fewer characters than the buffer holds, the truncated forms keep it always. A refused call
 * returns -1 and leaves an empty string.
 */
#include "base/securec_impl.h"

#include <string.h>

#define LIMIT SECUREC_STRING_MAX_LEN

/* Whether the format has a %n, "%5hhn" or "%1$n" included. Only "%%" is a literal percent. */
static bool
format_has_n(const char *format)
{
    const char *at = format;

    while ((at = strchr(at, '%')) != NULL) {
        at++;
        if (*at == '%') {
            at++;
            continue;
        }
        at += strspn(at, SECUREC_SPEC_CHARS);
        if (*at == 'f' && at[-1] == 'w') /* C23: %wf32n */
            at += 1 + strspn(at + 1, SECUREC_SPEC_CHARS);
        if (*at == 'n')
            return true;
    }
    return false;
}

/*
 * Print into `room` bytes of a usable destination. Returns the length of the whole text, which
 * is >= `room` when it was cut (and then, unless `keep`, dropped); -1 when refused.
 */
static int
print_into(char *dest, size_t room, bool keep, const char *format, va_list args)
{
    int len = -1;

    if (format != NULL && !format_has_n(format))
        len = vsnprintf(dest, room, format, args);
    if (len < 0 || ((size_t)len >= room && !keep))
        dest[0] = '\0';
    return len;
}

int
vsprintf_s(char *strDest, size_t destMax, const char *format, va_list argList)
{
    if (securec_usable(strDest, destMax, LIMIT) != EOK)
        return -1;

    int len = print_into(strDest, destMax, false, format, argList);
    return len < 0 || (size_t)len >= destMax ? -1 : len;
}

/* A `count` of all ones asks for as much as fits: the text is kept, and cutting it is still
 * reported as -1. */
int
vsnprintf_s(char *strDest, size_t destMax, size_t count, const char *format, va_list argList)
{
    const bool to_fit = count == SIZE_MAX;

    if (securec_usable(strDest, destMax, LIMIT) != EOK)
        return -1;
    if (count > LIMIT - 1 && !to_fit) {
        strDest[0] = '\0';
        return -1;
    }

    size_t room = count < destMax ? count + 1 : destMax;
    int len = print_into(strDest, room, count < destMax || to_fit, format, argList);
    return len < 0 || (size_t)len >= room ? -1 : len;
}

int
vsnprintf_truncated_s(char *strDest, size_t destMax, const char *format, va_list argList)
{
    if (securec_usable(strDest, destMax, LIMIT) != EOK)
        return -1;

    int len = print_into(strDest, destMax, true, format, argList);
    return len >= 0 && (size_t)len >= destMax ? (int)destMax - 1 : len;
}

int
sprintf_s(char *strDest, size_t destMax, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int len = vsprintf_s(strDest, destMax, format, args);
    va_end(args);
    return len;
}

int
snprintf_s(char *strDest, size_t destMax, size_t count, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int len = vsnprintf_s(strDest, destMax, count, format, args);
    va_end(args);
    return len;
}

int
snprintf_truncated_s(char *strDest, size_t destMax, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int len = vsnprintf_truncated_s(strDest, destMax, format, args);
    va_end(args);
    return len;
}
