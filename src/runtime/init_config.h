/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * init_config: the JSON file that aclInit takes (inside this layer only).
 */
#ifndef HC_RUNTIME_INIT_CONFIG_H
#define HC_RUNTIME_INIT_CONFIG_H

#include "runtime/runtime.h"

struct rt_init_config {
    int32_t default_device;   /* device of threads that never chose one, or -1 */
    bool process_wide_errmsg; /* aclGetRecentErrMsg: one store for all threads */
    uint64_t digest;          /* equal for equal contents, however they are laid out */
};

/* Reads the file; `path` NULL or "": all defaults. What this library does not know is ignored.
 * ACL_ERROR_INVALID_FILE: cannot be read; ACL_ERROR_PARSE_FILE: no JSON object, or nested too
 * deeply; ACL_ERROR_FILE_ATTR_INVALID: a value that makes no sense (all logged). */
aclError rt_init_config_read(const char *path, struct rt_init_config *config);

#endif
