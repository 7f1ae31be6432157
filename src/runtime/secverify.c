/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/secverify.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/device.h"
#include "runtime/install.h"

#define FILE_NAME "conf/hcomm-secverify.json"
#define TEXT_MAX 262144

uint32_t
rt_npu_chips(void)
{
    return rt_soc() == RT_SOC_A3 ? 2 : 1;
}

int32_t
rt_npu_of_device(int32_t device)
{
    return rt_device_logical(device) / (int32_t)rt_npu_chips();
}

/* The whole state, {"<npu>": {"enable": 1, "mode": 0}, ...}; an empty object if there is no file.
 */
static aclError
load(const char *path, json_t **root)
{
    char *text = malloc(TEXT_MAX);
    json_error_t error;
    int err;

    if (text == NULL)
        return rt_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory");
    err = rt_file_read_text(path, text, TEXT_MAX);
    if (err == ENOENT)
        *root = json_object();
    else
        *root = err == 0 ? json_loads(text, 0, &error) : NULL;
    free(text);
    if (err != 0 && err != ENOENT)
        return rt_fail(ACL_ERROR_RT_FILE_OPEN, "cannot read %s: %s", path, strerror(err));
    if (json_is_object(*root))
        return ACL_SUCCESS;
    json_decref(*root);
    *root = NULL;
    return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                   "%s is damaged: remove it, and set again what npu-smi had set", path);
}

static void
read_value(const json_t *npu, const char *key, int32_t *value)
{
    const json_t *number = json_object_get(npu, key);
    json_int_t given = json_integer_value(number); /* 0 if it is none */

    if (json_is_integer(number) && (given == 0 || given == 1))
        *value = (int32_t)given; /* anything else is garbage, and switches nothing off */
}

aclError
rt_secverify_get(int32_t npu, struct rt_secverify *state)
{
    struct rt_secverify found = {.enable = 0, .mode = 1};
    char path[RT_PATH_LEN], key[16];
    json_t *root = NULL;
    aclError rc = rt_install_path(path, FILE_NAME);

    if (rc == ACL_SUCCESS)
        rc = load(path, &root);
    if (rc != ACL_SUCCESS)
        return rc;
    snprintf(key, sizeof key, "%d", npu);
    read_value(json_object_get(root, key), "enable", &found.enable);
    read_value(json_object_get(root, key), "mode", &found.mode);
    json_decref(root);
    *state = found;
    return ACL_SUCCESS;
}

/* The state with one NPU's values changed, written back. */
static aclError
store(const char *path, int32_t npu, const struct rt_secverify *state)
{
    json_t *root = NULL;
    aclError rc = load(path, &root);
    char key[16], *text;
    int err;

    if (rc != ACL_SUCCESS)
        return rc;
    snprintf(key, sizeof key, "%d", npu);
    err = json_object_set_new(
        root, key, json_pack("{s:i, s:i}", "enable", state->enable, "mode", state->mode));
    text = err == 0 ? json_dumps(root, JSON_INDENT(1)) : NULL;
    err = text == NULL ? ENOMEM : rt_file_replace(path, text, strlen(text), 0644);
    free(text);
    json_decref(root);
    if (err != 0)
        return rt_fail(ACL_ERROR_RT_FILE_WRITE, "cannot write %s: %s", path, strerror(err));
    return ACL_SUCCESS;
}

aclError
rt_secverify_set(int32_t npu, const struct rt_secverify *state)
{
    char path[RT_PATH_LEN], dir[RT_PATH_LEN];
    aclError rc = rt_install_path(path, FILE_NAME);
    int lock = -1, err;

    if (rc == ACL_SUCCESS)
        rc = rt_install_path(dir, "conf");
    if (rc != ACL_SUCCESS)
        return rc;
    err = rt_dir_make(dir, 0755);
    if (err == 0)
        err = rt_dir_lock(dir, &lock);
    if (err != 0)
        return rt_fail(ACL_ERROR_RT_FILE_WRITE, "cannot lock directory %s: %s", dir, strerror(err));
    rc = store(path, npu, state);
    close(lock);
    return rc;
}

bool
rt_secverify_on(int32_t device)
{
    struct rt_secverify state;

    if (rt_secverify_get(rt_npu_of_device(device), &state) != ACL_SUCCESS)
        return true; /* in doubt, the safe side; it has been logged */
    return state.enable != 1 || state.mode != 0;
}
