/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * allow_list: which kernel packages the devices may load (conf/ascend_package_load.ini).
 *
 * A record is the line "name:<file>" and exactly the four lines after it, in any order:
 * install_path, optional, package_path, load_as_per_soc. Other lines between records are skipped.
 * One bad record makes the whole file bad, so that a typing error cannot quietly leave a package
 * out.
 */
#ifndef HC_RUNTIME_ALLOW_LIST_H
#define HC_RUNTIME_ALLOW_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/runtime.h"

#define RT_ALLOW_MAX 100
#define RT_ALLOW_KERNELS 2 /* install_path of AICPU kernels */

struct rt_allow_record {
    char name[256];
    char package_path[1024]; /* below the installation's root */
    uint32_t install_path;   /* 0 to 3 */
    bool optional;
    bool per_soc;  /* in a sub-directory named for the SoC */
    uint32_t line; /* of its name, from 1 */
};

struct rt_allow_list {
    struct rt_allow_record *records;
    uint32_t count;
};

/* ACL_ERROR_RT_PARAM_INVALID (logged with `path` and line): malformed; *list is then untouched. */
aclError rt_allow_list_parse(struct rt_allow_list *list, const char *text, const char *path);

/* The installation's list; no file is an empty list. As parse, and ACL_ERROR_RT_FILE_OPEN. */
aclError rt_allow_list_load(struct rt_allow_list *list);

/* Fine for a zeroed list. */
void rt_allow_list_fini(struct rt_allow_list *list);

/* The first record of that name, or NULL. */
const struct rt_allow_record *rt_allow_list_find(const struct rt_allow_list *list,
                                                 const char *name);

/*
 * Adds the record of an AICPU package to the installation's file; one that says the same already
 * is fine. ACL_ERROR_RT_PARAM_INVALID (logged): malformed file or names, or the name is listed
 * with another path; ACL_ERROR_RT_FILE_WRITE (logged).
 */
aclError rt_allow_list_add(const char *name, const char *package_path);

/* Takes the name out. ACL_ERROR_RT_PARAM_INVALID (logged): it is not listed. */
aclError rt_allow_list_remove(const char *name);

#endif
