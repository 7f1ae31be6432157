/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fd_limit: messages that name the limit of descriptors, when that is what a call ran into (inside
 * this layer only).
 */
#ifndef HC_BOOTSTRAP_FD_LIMIT_H
#define HC_BOOTSTRAP_FD_LIMIT_H

#include <stdint.h>

#define FD_ERROR_LEN 160u

/* How many this process may have. */
uint64_t fd_limit(void);

/* strerror(), and what to do if `error` is EMFILE. `text` [FD_ERROR_LEN]; returned. */
const char *fd_error_text(int error, char *text);

#endif
