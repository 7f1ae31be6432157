/* SPDX-License-Identifier: BSD-3-Clause */
#include "bootstrap/fd_limit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

uint64_t
fd_limit(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? (uint64_t)limit.rlim_cur : 0;
}

const char *
fd_error_text(int error, char *text)
{
    if (error == EMFILE)
        snprintf(text, FD_ERROR_LEN,
                 "%s: all %llu descriptors that this process may have are in use; raise the limit "
                 "(RLIMIT_NOFILE, ulimit -n)",
                 strerror(error), (unsigned long long)fd_limit());
    else
        snprintf(text, FD_ERROR_LEN, "%s", strerror(error));
    return text;
}
