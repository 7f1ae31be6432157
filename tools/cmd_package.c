/* SPDX-License-Identifier: BSD-3-Clause */
/* hcomm package: which kernel packages the devices may load, and who has signed them. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/allow_list.h"
#include "runtime/install.h"
#include "runtime/sign.h"
#include "tools/cmd.h"

static const char usage[] =
    "usage: hcomm package COMMAND\n\n"
    "  sign FILE                 sign a package (.tar.gz) or a kernel library (.so) with the key "
    "of\n"
    "                            this installation, which is made if there is none\n"
    "  verify FILE               tell who signed it; succeeds if a trusted key did\n"
    "  allow FILE [--path DIR]   let the devices load the package; DIR: where it is below the\n"
    "                            installation, if FILE is elsewhere\n"
    "  forbid NAME               take the package out of the list again\n"
    "  list                      the packages that are allowed\n";

static int
sign(const char *file)
{
    char written[RT_PATH_LEN];

    if (rt_sign_file(file, written) != ACL_SUCCESS)
        return CMD_FAILED;
    printf("signed: %s\n", written);
    return CMD_GOOD;
}

static int
verify(const char *file)
{
    enum rt_trust trust;

    if (rt_verify_file(file, &trust) != ACL_SUCCESS)
        return CMD_FAILED;
    printf("%s: %s\n", file, rt_trust_name(trust));
    return trust == RT_TRUST_SIGNED ? CMD_GOOD : CMD_FAILED;
}

/* Where `file` is below the installation, into dir[RT_PATH_LEN]. */
static int
find_below_root(const char *file, char *dir)
{
    char root[RT_PATH_LEN], real_root[RT_PATH_LEN], real_file[RT_PATH_LEN];
    size_t len;

    if (rt_install_path(root, ".") != ACL_SUCCESS)
        return CMD_FAILED;
    if (realpath(file, real_file) == NULL)
        return cmd_misused("cannot find %s: %s", file, strerror(errno));
    len = realpath(root, real_root) == NULL ? 0 : strlen(real_root);
    *strrchr(real_file, '/') = '\0';
    if (len == 0 || strncmp(real_file, real_root, len) != 0 || real_file[len] != '/')
        return cmd_misused(
            "%s is not below the installation %.*s: copy it to opp/vendors/<vendor>/aicpu/"
            "kernel there first, or say with --path where it will be",
            file, (int)(strlen(root) - 2), root);
    snprintf(dir, RT_PATH_LEN, "%s", real_file + len + 1);
    return CMD_GOOD;
}

static int
allow(const char *file, const char *path)
{
    const char *slash = strrchr(file, '/');
    const char *name = slash == NULL ? file : slash + 1;
    char dir[RT_PATH_LEN], full[RT_PATH_LEN];

    if (path == NULL) {
        int rc = find_below_root(file, dir);

        if (rc != CMD_GOOD)
            return rc;
        path = dir;
    }
    if (rt_allow_list_add(name, path) != ACL_SUCCESS)
        return CMD_FAILED;
    printf("allowed: %s in %s\n", name, path);
    if (rt_install_path(full, "%s/%s", path, name) == ACL_SUCCESS && access(full, R_OK) != 0)
        printf("note: there is no file %s yet\n", full);
    return CMD_GOOD;
}

static int
forbid(const char *name)
{
    if (rt_allow_list_remove(name) != ACL_SUCCESS)
        return CMD_FAILED;
    printf("forbidden: %s\n", name);
    return CMD_GOOD;
}

static int
list(void)
{
    struct rt_allow_list packages = {NULL, 0};

    if (rt_allow_list_load(&packages) != ACL_SUCCESS)
        return CMD_FAILED;
    for (uint32_t i = 0; i < packages.count; i++) {
        const struct rt_allow_record *record = &packages.records[i];
        const char *state = "missing";
        char path[RT_PATH_LEN];
        enum rt_trust trust;

        if (rt_install_path(path, "%s/%s", record->package_path, record->name) == ACL_SUCCESS &&
            access(path, R_OK) == 0 && rt_verify_file(path, &trust) == ACL_SUCCESS)
            state = rt_trust_name(trust);
        printf("%s/%s: %s\n", record->package_path, record->name, state);
    }
    rt_allow_list_fini(&packages);
    return CMD_GOOD;
}

int
cmd_package(int argc, char **argv)
{
    const char *what = argc < 2 ? "" : argv[1];

    if (strcmp(what, "help") == 0 || strcmp(what, "--help") == 0) {
        fputs(usage, stdout);
        return CMD_GOOD;
    }
    if (strcmp(what, "list") == 0 && argc == 2)
        return list();
    if (strcmp(what, "allow") == 0 && argc == 5 && strcmp(argv[3], "--path") == 0)
        return allow(argv[2], argv[4]);
    if (argc == 3 && argv[2][0] != '\0') {
        if (strcmp(what, "sign") == 0)
            return sign(argv[2]);
        if (strcmp(what, "verify") == 0)
            return verify(argv[2]);
        if (strcmp(what, "allow") == 0)
            return allow(argv[2], NULL);
        if (strcmp(what, "forbid") == 0)
            return forbid(argv[2]);
    }
    fputs(usage, stderr);
    return CMD_USAGE;
}
