/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * api_securec_mem: memset_s, memcpy_s, memmove_s and the version.
 *
 * A refused copy clears the whole destination, so that a caller who ignores the result reads
 * zeros and not what was there before. memset_s is the exception: it fills all of it with `c`.
 */
#include "base/securec_impl.h"

#include <string.h>

static errno_t
mem_reset(void *dest, size_t len, errno_t rc)
{
    memset(dest, 0, len);
    return rc;
}

errno_t
memset_s(void *dest, size_t destMax, int c, size_t count)
{
    if (destMax == 0 && count == 0 && dest != NULL)
        return EOK; /* unlike the copies: nothing into no room is fine */

    errno_t rc = securec_usable(dest, destMax, SECUREC_MEM_MAX_LEN);
    if (rc != EOK)
        return rc;
    memset(dest, c, securec_min(count, destMax));
    return count > destMax ? ERANGE_AND_RESET : EOK;
}

/* The rows that memcpy_s and memmove_s share, in their order. */
static errno_t
mem_copy(void *dest, size_t dest_max, const void *src, size_t count, bool may_overlap)
{
    errno_t rc = securec_usable(dest, dest_max, SECUREC_MEM_MAX_LEN);

    if (rc != EOK)
        return rc;
    if (src == NULL)
        return mem_reset(dest, dest_max, EINVAL_AND_RESET);
    if (count > dest_max)
        return mem_reset(dest, dest_max, ERANGE_AND_RESET);
    if (dest == src)
        return EOK;
    if (!may_overlap && securec_overlap(dest, count, src, count))
        return mem_reset(dest, dest_max, EOVERLAP_AND_RESET);
    if (may_overlap)
        memmove(dest, src, count);
    else
        memcpy(dest, src, count);
    return EOK;
}

errno_t
memcpy_s(void *dest, size_t destMax, const void *src, size_t count)
{
    return mem_copy(dest, destMax, src, count, false);
}

errno_t
memmove_s(void *dest, size_t destMax, const void *src, size_t count)
{
    return mem_copy(dest, destMax, src, count, true);
}

/* The entry points of the *_sp macros: ours need no fast path of their own. */

errno_t
memset_sOptAsm(void *dest, size_t destMax, int c, size_t count)
{
    return memset_s(dest, destMax, c, count);
}

errno_t
memset_sOptTc(void *dest, size_t destMax, int c, size_t count)
{
    return memset_s(dest, destMax, c, count);
}

errno_t
memcpy_sOptAsm(void *dest, size_t destMax, const void *src, size_t count)
{
    return memcpy_s(dest, destMax, src, count);
}

errno_t
memcpy_sOptTc(void *dest, size_t destMax, const void *src, size_t count)
{
    return memcpy_s(dest, destMax, src, count);
}

/* The version of the interface whose behaviour we follow. The number is one decimal digit, one
 * decimal digit, two decimal digits: an encoding of ours, since none is specified. */
const char *
GetHwSecureCVersion(unsigned short *verNumber)
{
    if (verNumber != NULL)
        *verNumber = 1116;
    return "1.1.16";
}
